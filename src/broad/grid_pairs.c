/* From sorted levels to pairs: each level against itself, and every two levels against each other. Tasks are stretches
 * of a level with about as many boxes each. */
#include <string.h>

#include "base/cpu.h"
#include "broad/grid.h"

enum { JOBS = PARALLEL_PIECES };

typedef struct pairing {
  const grid *g;
  const broad_view *view;
  pair_list *out; /* NULL: each job has a list of its own */
  pair_lists *parts;
  grid_search job[JOBS];
  uint32_t jobs;
  bool good[JOBS];
} pairing;

static void run_job(void *argument, uint32_t index) {
  pairing *p = argument;
  grid_search *s = &p->job[index];
  s->out = p->out != NULL ? p->out : &p->parts->part[index];
  p->good[index] = s->against == NULL ? CPU_KERNEL(gz_grid_search)(s) : CPU_KERNEL(gz_grid_join)(s);
}

static void add_job(pairing *p, const grid_level *level, const grid_level *against, uint32_t begin, uint32_t end) {
  if (begin == end) return;
  p->job[p->jobs++] = (grid_search){.g = p->g,
                                    .view = p->view,
                                    .level = level,
                                    .against = against,
                                    .begin = begin,
                                    .end = end,
                                    .careful = p->view->layers != NULL};
}

/* A level against itself, in stretches of slabs. */
static void add_searches(pairing *p, const grid_level *level, uint32_t number) {
  uint32_t end = level->slab_base + level->slabs, from = level->slab_base;
  for (uint32_t i = 0; i < number; i++) {
    uint32_t place = level->begin + (uint32_t)((uint64_t)(level->end - level->begin) * (i + 1) / number), to = from;
    while (to < end && (i + 1 == number || p->g->slabs[to].begin < place)) to++;
    add_job(p, level, NULL, from, to);
    from = to;
  }
}

/* Rows of `to` that a box of `from` reaches, about; more than there are boxes are not looked at one by one. */
static double rows_reached(const grid_level *from, const grid_level *to) {
  double rows = 1, most = to->count;
  for (int k = 1; k < 3; k++) rows *= 2 + 0.75 * from->size[k] * from->reach[k] / GRID_CELL / to->size[k];
  return rows < most ? rows : most;
}

/* Two levels: the boxes of one of them are looked up in the other, whichever is less work. */
static void add_joins(pairing *p, const grid_level *fine, const grid_level *coarse, uint32_t number) {
  bool down = (double)coarse->count * rows_reached(coarse, fine) < (double)fine->count * rows_reached(fine, coarse);
  const grid_level *from = down ? coarse : fine, *to = down ? fine : coarse;
  for (uint32_t i = 0; i < number; i++) {
    uint64_t length = from->end - from->begin;
    add_job(p, from, to, from->begin + (uint32_t)(length * i / number),
            from->begin + (uint32_t)(length * (i + 1) / number));
  }
}

static void add_jobs(pairing *p, uint32_t number) {
  const grid *g = p->g;
  for (uint32_t i = 0; i < g->level_count; i++) {
    const grid_level *level = &g->levels[i];
    if (level->count == 0) continue;
    add_searches(p, level, number);
    for (uint32_t j = i + 1; j < g->level_count; j++) {
      if (g->levels[j].count > 0) add_joins(p, level, &g->levels[j], number);
    }
  }
}

/* How many jobs each level, or each two of them, is cut into. */
static uint32_t cuts(const grid *g, const broad_view *view) {
  int threads = gz_parallel_threads(view->context);
  if (threads == 1 || g->box_count < 4096) return 1;
  uint32_t levels = 0, most, wanted = 4 * (uint32_t)threads;
  for (uint32_t i = 0; i < g->level_count; i++) levels += g->levels[i].count > 0;
  most = JOBS / (levels * (levels + 1) / 2 + 1);
  return wanted < most ? wanted : most;
}

/* ---- one list from many ---------------------------------------------------------------------------------------- */

typedef struct joining {
  const pair_lists *parts;
  graze_box_pair *to;
  uint64_t begin[JOBS];
} joining;

static void copy_part(void *argument, uint32_t index) {
  const joining *j = argument;
  const pair_list *part = &j->parts->part[index];
  if (part->count > 0) {
    memcpy(j->to + j->begin[index], part->memory.data, (size_t)part->count * sizeof(graze_box_pair));
  }
}

static bool join_parts(const broad_view *view, pair_lists *parts, uint32_t number, pair_list *out) {
  joining j = {.parts = parts};
  uint64_t count = out->count;
  for (uint32_t i = 0; i < number; i++) {
    j.begin[i] = count;
    count += parts->part[i].count;
  }
  if (!pair_list_room(view->context, out, count - out->count)) return false;
  j.to = pair_list_data(out);
  gz_parallel_each(view->context, number, copy_part, &j);
  out->count = count;
  return true;
}

bool gz_grid_pairs(grid *g, const broad_view *view, pair_list *out) {
  pairing p = {.g = g, .view = view, .parts = &g->parts};
  uint32_t number = cuts(g, view);
  add_jobs(&p, number);
  p.out = number == 1 ? out : NULL;
  if (number == 1) {
    for (uint32_t i = 0; i < p.jobs; i++) {
      run_job(&p, i);
      if (!p.good[i]) return false;
    }
    return true;
  }
  for (uint32_t i = 0; i < p.jobs; i++) g->parts.part[i].count = 0;
  gz_parallel_each(view->context, p.jobs, run_job, &p);
  for (uint32_t i = 0; i < p.jobs; i++) {
    if (!p.good[i]) return false;
  }
  return join_parts(view, &g->parts, p.jobs, out);
}
