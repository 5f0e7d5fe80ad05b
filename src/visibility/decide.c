/* From what pictures have left to exact pairs of triangles. Of two lists those triangles whose boxes meet are found by
 * halving space (meet.h), posed, and given to the exact kernel in blocks; no hierarchy is made or asked for.
 *
 * Tasks are runs of a pair's first list, cut by the lists alone. Each of them leaves its hits in its worker's list, and
 * in the end those of a pair are put together and sorted: the same for any number of threads. */
#include "visibility/decide.h"

#include "base/context.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "exact/tritri.h"
#include "narrow/adjacent.h"
#include "narrow/soup.h"
#include "visibility/load.h"
#include "visibility/meet.h"

enum { RUN = 1024 };

typedef struct task {
  uint32_t pair, first, end; /* of the first list */
  uint32_t worker;
  uint64_t found, count; /* hits, in the worker's list */
  graze_counts counts;
  graze_self_result self;
} task;

/* Of a worker; kept from call to call. */
struct visibility_decider {
  exact_sink sink;
  adjacent_pairs adjacent;
  buffer cells;
  bool failed; /* memory was refused */
};
typedef struct visibility_decider decider;

typedef struct deciding {
  graze_visibility *v;
  const graze_visibility_pair *pairs;
  uint64_t pair_count;
  const uint32_t *names;
  visibility_span *boxes; /* of both lists of all pairs, one behind the other */
  uint64_t *box_first;    /* by pair */
  double *corners;        /* of the same triangles, posed; not with names, which has some often */
  uint8_t *thin;          /* with names: by loaded triangle; of no area */
  task *tasks;
  uint32_t task_count;
  adjacent_judge_function *judge;
} deciding;

/* ---- candidates -------------------------------------------------------------------------------------------------- */

typedef struct taking {
  const deciding *d;
  const graze_visibility_pair *pair;
  decider *worker;
} taking;

static void take_objects(const taking *t, uint32_t first, uint32_t second) {
  const graze_visibility_pair *p = t->pair;
  const double *corners = t->d->corners + 9 * t->d->box_first[p - t->d->pairs];
  gz_sink_add(&t->worker->sink, p->triangles_a.list[first], p->triangles_b.list[second], corners + 9 * (size_t)first,
              corners + 9 * ((size_t)p->triangles_a.count + second), SHARES_NONE);
}

/* Of one mesh: neighbours are told apart from others, as narrow/self.c does it. */
static void take_parts(const taking *t, uint32_t first, uint32_t second) {
  const deciding *d = t->d;
  const uint32_t x = t->pair->triangles_a.list[first], y = t->pair->triangles_b.list[second];
  const visibility_object *part_a = &d->v->objects[t->pair->a], *part_b = &d->v->objects[t->pair->b];
  const uint32_t name_x = d->names[part_a->first + x], name_y = d->names[part_b->first + y];
  double a[9], b[9];
  gz_visibility_corners(part_a, x, a);
  gz_visibility_corners(part_b, y, b);
  if (d->thin[part_a->first + x] || d->thin[part_b->first + y])
    gz_sink_add(&t->worker->sink, name_x, name_y, a, b, SHARES_NONE);
  else
    gz_adjacent_add(&t->worker->adjacent, d->judge, &t->worker->sink, name_x, name_y, a, b);
}

static void take_candidate(void *user, uint32_t first, uint32_t second) {
  const taking *t = user;
  if (t->pair->a == t->pair->b && first >= second) return;
  if (t->d->names)
    take_parts(t, first, second);
  else
    take_objects(t, first, second);
}

/* The sink begins anew but for its list. */
static void run_task(const deciding *d, task *t, uint32_t worker) {
  decider *w = &d->v->deciders[worker];
  const graze_visibility_pair *p = &d->pairs[t->pair];
  const visibility_span *boxes = d->boxes + d->box_first[t->pair];
  const uint64_t found = w->sink.key_count;
  gz_sink_start(&w->sink, d->v->context, NULL, NULL, GRAZE_FIND_ALL, false, d->names != NULL);
  w->sink.key_count = t->found = found;
  t->worker = worker;
  const visibility_meeting meeting = {.context = d->v->context,
                                      .boxes = {boxes, boxes + p->triangles_a.count},
                                      .take = take_candidate,
                                      .user = &(taking){d, p, w},
                                      .memory = &w->cells};
  if (!gz_visibility_meet(&meeting, t->first, t->end, p->triangles_b.count)) w->failed = true;
  if (d->names) gz_adjacent_settle(&w->adjacent, d->judge, &w->sink);
  gz_sink_flush(&w->sink);
  w->failed = w->failed || w->sink.failed;
  t->counts = w->sink.counts;
  t->self = sink_self(&w->sink);
  t->count = w->sink.key_count - found;
}

static void run_tasks(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  const deciding *d = argument;
  for (uint32_t i = begin; i < end; i++) run_task(d, &d->tasks[i], worker);
}

/* ---- what is needed before --------------------------------------------------------------------------------------- */

/* Those of a list, to place `at`. */
static void box_list(const deciding *d, uint32_t object, const graze_visibility_triangles *list, uint64_t at) {
  const graze_visibility *v = d->v;
  const visibility_object *o = &v->objects[object];
  for (uint32_t i = 0; i < list->count; i++, at++) {
    const size_t number = visibility_loaded_number(v, o, list->list[i]);
    const visibility_span span = visibility_triangle_span(v->corners + 9 * number);
    d->boxes[at] = (visibility_span){span.low - VISIBILITY_WIDEN, span.high + VISIBILITY_WIDEN};
    if (!d->names) gz_visibility_corners(o, list->list[i], d->corners + 9 * at);
  }
}

static void box_pairs(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  const deciding *d = argument;
  (void)worker;
  for (uint32_t i = begin; i < end; i++) {
    const graze_visibility_pair *p = &d->pairs[i];
    box_list(d, p->a, &p->triangles_a, d->box_first[i]);
    box_list(d, p->b, &p->triangles_b, d->box_first[i] + p->triangles_a.count);
  }
}

static void find_thin(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  const deciding *d = argument;
  (void)worker;
  for (uint32_t i = begin; i < end; i++) {
    const visibility_object *o = &d->v->objects[i];
    for (uint32_t t = 0; t < o->count; t++) {
      double corners[9];
      gz_visibility_corners(o, t, corners);
      d->thin[o->first + t] = gz_soup_is_thin(corners);
    }
  }
}

static graze_status place_boxes(deciding *d) {
  graze_visibility *v = d->v;
  uint64_t boxes = 0, tasks = 0;
  d->box_first = gz_visibility_room(v, ROOM_DECIDED_FIRST, d->pair_count, sizeof *d->box_first, 0);
  if (!d->box_first) return GRAZE_ERROR_MEMORY;
  for (uint64_t i = 0; i < d->pair_count; i++) {
    const graze_visibility_pair *p = &d->pairs[i];
    d->box_first[i] = boxes;
    boxes += (uint64_t)p->triangles_a.count + p->triangles_b.count;
    tasks += ((uint64_t)p->triangles_a.count + RUN - 1) / RUN;
  }
  if (tasks > UINT32_MAX) return gz_fail(v->context, GRAZE_ERROR_LIMIT, "more than 2^32 - 1 tasks are left to decide");
  d->boxes = gz_visibility_room(v, ROOM_DECIDED_BOXES, boxes, sizeof *d->boxes, 0);
  d->corners = gz_visibility_room(v, ROOM_DECIDED_CORNERS, d->names ? 0 : 9 * boxes, sizeof *d->corners, 0);
  d->tasks = gz_visibility_room(v, ROOM_DECIDED_TASKS, tasks, sizeof *d->tasks, 0);
  d->thin = gz_visibility_room(v, ROOM_DECIDED_THIN, d->names ? v->triangle_count : 0, 1, 0);
  return d->boxes && d->corners && d->tasks && d->thin ? GRAZE_OK : GRAZE_ERROR_MEMORY;
}

static void list_tasks(deciding *d) {
  for (uint32_t i = 0; i < d->pair_count; i++) {
    const uint32_t count = d->pairs[i].triangles_a.count;
    for (uint32_t first = 0; first < count; first += RUN)
      d->tasks[d->task_count++] = (task){.pair = i, .first = first, .end = count - first < RUN ? count : first + RUN};
  }
}

static graze_status make_deciders(graze_visibility *v) {
  const size_t bytes = gz_workers(v->context) * sizeof *v->deciders;
  if (!v->deciders) {
    v->deciders = gz_memory_alloc(v->context, bytes);
    if (!v->deciders) return gz_fail_memory(v->context, bytes);
    memset(v->deciders, 0, bytes);
  }
  for (uint32_t i = 0; i < gz_workers(v->context); i++) {
    decider *w = &v->deciders[i];
    w->failed = false;
    w->sink.context = v->context;
    w->sink.key_count = 0;
    w->adjacent.count = 0;
  }
  return GRAZE_OK;
}

void gz_visibility_release_deciders(graze_visibility *v) {
  if (!v->deciders) return;
  for (uint32_t i = 0; i < gz_workers(v->context); i++) {
    gz_buffer_release(v->context, &v->deciders[i].sink.keys);
    gz_buffer_release(v->context, &v->deciders[i].cells);
  }
  gz_memory_release(v->context, v->deciders, gz_workers(v->context) * sizeof *v->deciders);
}

/* ---- what was found ---------------------------------------------------------------------------------------------- */

static graze_status gather(const deciding *d, visibility_decisions *out) {
  graze_visibility *v = d->v;
  uint64_t total = 0, at = 0;
  for (uint32_t i = 0; i < d->task_count; i++) total += d->tasks[i].count;
  out->list = gz_visibility_room(v, ROOM_DECIDED_LIST, d->pair_count, sizeof *out->list, 0);
  uint64_t *keys = gz_visibility_room(v, ROOM_DECIDED_KEYS, 2 * total, sizeof *keys, 0), *sorting = keys + total;
  if (!out->list || !keys) return GRAZE_ERROR_MEMORY;
  memset(out->list, 0, (size_t)d->pair_count * sizeof *out->list);
  for (uint32_t i = 0; i < d->task_count; i++) {
    const task *t = &d->tasks[i];
    visibility_decision *to = &out->list[t->pair];
    if (t->first == 0) to->first = at;
    if (t->count > 0)
      memcpy(keys + at, (uint64_t *)v->deciders[t->worker].sink.keys.data + t->found, t->count * sizeof *keys);
    at += t->count;
    to->count += t->count;
    counts_add(&to->counts, &t->counts);
    self_add(&out->self, &t->self);
  }
  if (d->names) gz_sort_keys(keys, sorting, total);
  for (uint64_t i = 0; i < d->pair_count && !d->names; i++)
    gz_sort_keys(keys + out->list[i].first, sorting, out->list[i].count);
  graze_triangle_pair *pairs = (graze_triangle_pair *)(void *)sorting;
  for (uint64_t i = 0; i < total; i++) pairs[i] = (graze_triangle_pair){(uint32_t)(keys[i] >> 32), (uint32_t)keys[i]};
  out->pairs = pairs;
  out->pair_count = total;
  return GRAZE_OK;
}

graze_status gz_visibility_decide(graze_visibility *v, const graze_visibility_pair *pairs, uint64_t count,
                                  const uint32_t *names, visibility_decisions *out) {
  deciding d = {.v = v, .pairs = pairs, .pair_count = count, .names = names, .judge = gz_adjacent_judge_best()};
  memset(out, 0, sizeof *out);
  if (count > UINT32_MAX) return gz_fail(v->context, GRAZE_ERROR_LIMIT, "more than 2^32 - 1 pairs are left");
  graze_status status = make_deciders(v);
  if (status == GRAZE_OK) status = place_boxes(&d);
  if (status != GRAZE_OK) return status;
  list_tasks(&d);
  if (names) gz_parallel_for(v->context, v->def->object_count, 16, find_thin, &d);
  gz_parallel_for(v->context, (uint32_t)count, 16, box_pairs, &d);
  gz_parallel_for(v->context, d.task_count, d.task_count < 1024 ? 1 : 16, run_tasks, &d);
  for (uint32_t i = 0; i < gz_workers(v->context); i++) {
    if (v->deciders[i].failed)
      return gz_fail(v->context, GRAZE_ERROR_MEMORY, "out of memory: triangle pairs that meet");
  }
  return gather(&d, out);
}
