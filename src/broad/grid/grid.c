/* Two methods over sorted levels of cells (grid.h): `grid`, with one size of cells, or two, and `hgrid`, with many. */
#include "broad/grid/grid.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "broad/hash/hash.h"

/* ---- from levels to pairs ---------------------------------------------------------------------------------------- */

/* From sorted levels to pairs: each level against itself, and every two levels against each other. Tasks are stretches
 * of a level with about as many boxes each. */
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

/* ---- grid -------------------------------------------------------------------------------------------------------- */

/* Uniform grid: all boxes in cells as large as the largest, or nearly all: when sizes differ much, the largest tenth is
 * kept apart, in cells of its own, and looked up in the others.
 *
 * Source: Green, "Particle Simulation using CUDA" (2010), for sorting by cell in place of tables; Ericson, "Real-Time
 * Collision Detection" (2005), 7.1, for one cell a box and half of the neighbours. How it is done: grid.h.
 *
 * O(n + k) for boxes of like sizes that do not lie on clusters; about 52 bytes a box. */
static uint32_t choose_cell(const grid_frame *f, uint32_t boxes, double *sizes) {
  (void)boxes;
  if (f->sampled == 0) {
    sizes[0] = 0;
    return 1;
  }
  double largest = (double)f->sizes[f->sampled - 1], most = (double)f->sizes[f->sampled * 9 / 10];
  uint32_t count = 0;
  if (largest > 2 * most) sizes[count++] = most;
  sizes[count++] = largest;
  return count;
}

static graze_status grid_find(void *state, const broad_view *view, pair_list *out) {
  return gz_grid_build(state, view, choose_cell) && gz_grid_pairs(state, view, out) ? GRAZE_OK : GRAZE_ERROR_MEMORY;
}

static void grid_release(const graze_context *context, void *state) {
  gz_grid_release(context, state);
}

static size_t grid_bytes(const void *state) {
  return gz_grid_bytes(state);
}

const broad_method gz_broad_grid = {.info = {"grid", "one grid of cells, sorted", "O(n + k) for like sizes", false},
                                    .state_bytes = sizeof(grid),
                                    .find = grid_find,
                                    .release = grid_release,
                                    .bytes = grid_bytes};

/* ---- hgrid ------------------------------------------------------------------------------------------------------- */

/* Hierarchical grid: levels of cells whose edges are powers of two apart; a box is in the level whose cells are at
 * least as large as the box and, but for the finest level, less than twice as large: edge / 2 < size <= edge. The
 * finest level also has all smaller boxes: it is the one whose cells hold about one box each, as finer cells would be
 * empty for the most part. Boxes of two levels meet by looking one up in the cells of the other.
 *
 * Source: Ericson, "Real-Time Collision Detection" (2005), 7.2; Mirtich, "Impulse-based Dynamic Simulation" (1996).
 * How it is done: grid.h; for few edits: a spatial hash, hash/hash.c.
 *
 * O(n (1 + log(largest size / finest cell)) + k); about 52 bytes a box. */
/* Boxes up to `half` in one cell of that size, on average where the sample has boxes. */
static double occupancy(const grid_frame *f, uint32_t boxes, double half) {
  uint32_t fitting = 0;
  while (fitting < f->sampled && (double)f->sizes[fitting] <= half) fitting++;
  double cells = f->volume_share;
  for (int k = 0; k < 3; k++) cells *= 1 + (0.5 * f->high[k] - 0.5 * f->low[k]) / (half * f->stretch[k]);
  return (double)boxes * fitting / f->sampled / cells;
}

static uint32_t choose_levels(const grid_frame *f, uint32_t boxes, double *sizes) {
  double largest = f->sampled > 0 ? (double)f->sizes[f->sampled - 1] : 0, finest = largest;
  uint32_t halvings = 0;
  /* Nothing is won by cells that are finer than all boxes. */
  while (halvings + 2 < GRID_SIZES && finest > 2 * (double)f->sizes[0] && occupancy(f, boxes, finest) > 1) {
    finest *= 0.5;
    halvings++;
  }
  /* A world may be so wide that finer cells look empty when they are not: nine tenths of the boxes, when they are far
   * smaller, get a level of their own below. */
  uint32_t count = 0;
  double most = f->sampled > 0 ? (double)f->sizes[f->sampled * 9 / 10] : 0;
  if (most * 16 < finest) sizes[count++] = most;
  for (uint32_t i = 0; i <= halvings; i++) sizes[count++] = ldexp(largest, (int)i - (int)halvings);
  return count;
}

typedef struct hgrid {
  grid sorted;   /* from nothing */
  box_hash live; /* for few edits */
} hgrid;

static graze_status hgrid_find(void *state, const broad_view *view, pair_list *out) {
  hgrid *h = state;
  h->live.valid = false;
  bool good = gz_grid_build(&h->sorted, view, choose_levels) && gz_grid_pairs(&h->sorted, view, out);
  return good ? GRAZE_OK : GRAZE_ERROR_MEMORY;
}

static graze_status hgrid_step(void *state, const broad_view *view, const broad_edits *edits, pair_list *out) {
  hgrid *h = state;
  return gz_box_hash_step(&h->live, view, edits, out);
}

/* The table of cells costs something to begin with, and more for each edit than `find` takes for a box. */
static bool hgrid_pays(const void *state, const broad_view *view, const broad_edits *edits) {
  const hgrid *h = state;
  return edits->count < view->count / (h->live.valid ? 8 : 16);
}

static void hgrid_release(const graze_context *context, void *state) {
  hgrid *h = state;
  gz_grid_release(context, &h->sorted);
  gz_box_hash_release(context, &h->live);
}

static size_t hgrid_bytes(const void *state) {
  const hgrid *h = state;
  return gz_grid_bytes(&h->sorted) + gz_box_hash_bytes(&h->live);
}

const broad_method gz_broad_hgrid = {.info = {"hgrid", "levels of cells, sorted; a table of cells for few edits",
                                              "O(n + k); O(edits + k) for few edits", true},
                                     .state_bytes = sizeof(hgrid),
                                     .find = hgrid_find,
                                     .step = hgrid_step,
                                     .pays = hgrid_pays,
                                     .release = hgrid_release,
                                     .bytes = hgrid_bytes};
