/* Deciding many candidates: an exact query for each.
 *
 * Candidates are taken heaviest first, in batches of tasks; each worker has a query and a list. Progress is told
 * between batches from the calling thread. A pair that alone is more than one thread's share of the whole is decided
 * by all threads together before the others start. What a task finds is put in its place by number, so that neither
 * the order of work nor the number of threads shows in the results.
 */
#include "scene/decide.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "graze/distance.h"
#include "narrow/corners.h"
#include "narrow/round.h"

enum {
  TASK_PAIRS = 64,         /* at most so many pairs in a task, */
  TASK_TRIANGLES = 100000, /* and not many more triangles */
  HEAVY_TRIANGLES = 50000  /* fewer are never worth all threads */
};

graze_status gz_decide_check_question(const graze_context *context, const char *call, graze_exactness exactness,
                                      graze_open_rule open) {
  if (exactness != GRAZE_T0 && exactness != GRAZE_T1 && exactness != GRAZE_T2) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: unknown exactness", call);
  }
  if (open != GRAZE_OPEN_UNKNOWN && open != GRAZE_OPEN_SURFACE) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: unknown rule for open meshes", call);
  }
  return GRAZE_OK;
}

/* ---- schedule ---- */

uint64_t gz_decide_weight(const graze_scene *scene, uint64_t key) {
  return object_triangles(scene_ranked(scene, (uint32_t)(key >> 32))) +
         object_triangles(scene_ranked(scene, (uint32_t)key));
}

static uint64_t weight(const deciding *c, uint64_t candidate) {
  return gz_decide_weight(c->scene, c->pairs[candidate]);
}

/* Heaviest first, in steps of powers of two, so that neighbours stay together. */
static graze_status make_schedule(deciding *c) {
  graze_scene *scene = c->scene;
  uint64_t count = c->count;
  size_t bytes = (2 * count + 1) * sizeof(uint64_t), more = (count + 1) * sizeof(outcome); /* never nothing */
  if (!gz_buffer_reserve(scene->context, &scene->schedule, bytes, 0) ||
      !gz_buffer_reserve(scene->context, &scene->outcomes, more, 0)) {
    return gz_fail_memory(scene->context, bytes + more);
  }
  const uint64_t numbers = ((uint64_t)1 << 58) - 1;
  uint64_t *keys = scene->schedule.data;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t step = (uint64_t)__builtin_clzll(weight(c, i) | 1);
    keys[i] = step << 58 | i;
  }
  gz_sort_keys(keys, keys + count, count);
  for (uint64_t i = 0; i < count; i++) keys[i] &= numbers;
  c->schedule = keys;
  c->outcomes = scene->outcomes.data;
  memset(c->outcomes, 0, more);
  return GRAZE_OK;
}

/* A place for the solid of each mesh that is there. The list of meshes borrows the memory of the results, which come
 * later. */
static graze_status list_shapes(const deciding *c) {
  graze_scene *scene = c->scene;
  if (scene->shapes_listed && gz_shapes_current(&scene->shapes)) return GRAZE_OK;
  size_t bytes = scene->count * sizeof(const graze_mesh *);
  if (!gz_buffer_reserve(scene->context, &scene->results, bytes, 0)) return gz_fail_memory(scene->context, bytes);
  const graze_mesh **meshes = scene->results.data;
  uint32_t count = 0;
  for (uint32_t i = 0; i < scene->count; i++) {
    const graze_mesh *mesh = scene_ranked(scene, i)->mesh;
    if (mesh != NULL) meshes[count++] = mesh;
  }
  graze_status status = gz_shapes_update(scene->context, &scene->shapes, meshes, count);
  scene->shapes_listed = status == GRAZE_OK;
  return status;
}

/* How many of the schedule's first pairs deserve all threads. */
static uint64_t count_heavy(const deciding *c) {
  uint64_t threads = (uint64_t)gz_parallel_threads(c->scene->context), total = 0, heavy = 0;
  if (threads == 1) return 0;
  for (uint64_t i = 0; i < c->count; i++) total += weight(c, i);
  while (heavy < c->count) {
    uint64_t w = weight(c, c->schedule[heavy]);
    if (w < HEAVY_TRIANGLES || w * threads <= total) break;
    heavy++;
  }
  return heavy;
}

/* ---- exact queries ---- */

static bool append(const graze_context *context, buffer *to, uint64_t *count, const void *items, uint64_t added,
                   size_t size) {
  size_t used = *count * size, bytes = added * size;
  if (added == 0) return true;
  if (!gz_buffer_reserve(context, to, used + bytes, used)) return false;
  memcpy((char *)to->data + used, items, bytes);
  *count += added;
  return true;
}

static void clear_list(task_list *list) {
  list->count = list->point_count = list->start_count = 0;
}

/* Appends the outline of a pair; its starts count from its own first point. */
static bool append_outline(const graze_context *context, task_list *list, const graze_outline *outline, outcome *o) {
  uint32_t points = outline->starts[outline->count];
  o->outline = *outline;
  o->points = list->point_count;
  o->starts = list->start_count;
  return append(context, &list->points, &list->point_count, outline->points, points, sizeof outline->points[0]) &&
         append(context, &list->starts, &list->start_count, outline->starts, outline->count + 1, sizeof(uint32_t));
}

/* The sides of a pair as relations take them. */
static graze_status open_sides(const deciding *c, const graze_query *query, const object *a, const object *b,
                               relate_side sides[2]) {
  const object *of[2] = {a, b};
  graze_status status = GRAZE_OK;
  for (int k = 0; k < 2 && status == GRAZE_OK; k++) {
    sides[k].slot = gz_shapes_slot(&c->scene->shapes, of[k]->mesh);
    status = gz_query_side(query, of[k]->mesh, &of[k]->pose, c->relate.exactness, k == 0 ? "a" : "b", &sides[k].place);
  }
  return status;
}

static bool is_round(const object *a, const object *b) {
  return a->radius > 0 || b->radius > 0;
}

/* A pair with a round object. Whether it meets is what its relation says. */
static graze_status decide_round(const deciding *c, graze_query *query, const object *a, const object *b,
                                 graze_relate_result *out, graze_outline *outline) {
  relate_side sides[2];
  round_pair p;
  graze_status status = open_sides(c, query, a, b, sides);
  if (status != GRAZE_OK) return status;
  gz_round_open(&p, query, (round_side){&sides[0], a->radius, a->flat}, (round_side){&sides[1], b->radius, b->flat},
                c->relate.exactness);
  status = gz_query_relate_round(&p, &c->relate, out);
  if (status != GRAZE_OK) return status;
  if (c->find == GRAZE_FIND_ANY) {
    const bool meet = out->counts.triangle_pairs > 0;
    out->verdict = (graze_verdict){.relation = meet ? GRAZE_UNKNOWN : GRAZE_SEPARATE,
                                   .doubt = meet ? GRAZE_DOUBT_NOT_ASKED : GRAZE_DOUBT_NONE};
    out->counts = (graze_counts){.triangle_pairs = meet, .degenerate = meet};
  }
  if (!c->outlines || out->verdict.relation == GRAZE_SEPARATE) return GRAZE_OK;
  return gz_query_outline_round(&p, &c->relate, out, outline);
}

static graze_status decide_contact(const deciding *c, graze_query *query, const object *a, const object *b,
                                   graze_relate_result *out) {
  graze_collide_options options = graze_default_collide_options();
  graze_collide_result hits;
  options.find = GRAZE_FIND_ANY;
  options.exactness = c->relate.exactness;
  graze_status status = graze_collide_meshes(query, a->mesh, &a->pose, b->mesh, &b->pose, &options, &hits);
  if (status != GRAZE_OK) return status;
  if (hits.hit) out->verdict = (graze_verdict){.relation = GRAZE_UNKNOWN, .doubt = GRAZE_DOUBT_NOT_ASKED};
  out->counts = hits.counts;
  out->work = hits.work;
  return GRAZE_OK;
}

/* Whether two that cross may be the rounding of two that do not. */
static graze_status move_corners(const deciding *c, graze_query *query, const object *a, const object *b,
                                 const relate_side sides[2], const graze_relate_result *relation,
                                 graze_outline *outline) {
  graze_rounding roundings[2] = {{0}, {0}};
  graze_moved_corners moved;
  if (c->roundings == NULL || !c->roundings(c->roundings_user, a->user_id, b->user_id, outline, roundings))
    return GRAZE_OK;
  graze_status status = gz_query_move_corners(query, &sides[0].place, &sides[1].place, &c->relate, relation->pairs,
                                              relation->counts.triangle_pairs, roundings, &moved);
  if (status == GRAZE_OK && moved.found) outline->moved_corners = moved.length;
  return status;
}

/* What the engine has left of the candidate, or all. */
static graze_status relate_left(const deciding *c, graze_query *query, uint64_t candidate, const relate_side sides[2],
                                graze_relate_result *out) {
  const graze_cull_triangles *left = c->listed != NULL ? &c->listed[candidate] : NULL;
  if (c->outcomes[candidate].apart) return gz_query_relate_apart(query, &sides[0], &sides[1], &c->relate, out);
  if (left == NULL || left->list[0] == NULL) return gz_query_relate(query, &sides[0], &sides[1], &c->relate, out);
  return gz_query_relate_listed(query, &sides[0], &sides[1], left, &c->relate, out);
}

static graze_status decide_relation(const deciding *c, graze_query *query, uint64_t candidate, const object *a,
                                    const object *b, graze_relate_result *out, graze_outline *outline) {
  relate_side sides[2];
  graze_status status = open_sides(c, query, a, b, sides);
  if (status == GRAZE_OK) status = relate_left(c, query, candidate, sides, out);
  if (status != GRAZE_OK || !c->outlines || out->verdict.relation == GRAZE_SEPARATE) return status;
  status = gz_query_outline(query, &sides[0].place, &sides[1].place, out->pairs, out->counts.triangle_pairs, outline);
  if (status != GRAZE_OK || out->verdict.relation != GRAZE_CROSS) return status;
  graze_escape way;
  status =
      gz_query_escape(query, &sides[0], &sides[1], &c->relate, out->pairs, out->counts.triangle_pairs, INFINITY, &way);
  if (status != GRAZE_OK) return status;
  if (way.found) {
    outline->depth = way.length;
    outline->proved = true;
    memcpy(outline->translation, way.translation, sizeof outline->translation);
  }
  return move_corners(c, query, a, b, sides, out, outline);
}

/* Whether two objects that do not meet, or of which little is known, are nearer than they may be. */
static graze_status measure_gap(const deciding *c, graze_query *query, const object *a, const object *b,
                                double clearance, outcome *o) {
  graze_distance_options options = graze_default_distance_options();
  graze_distance_result found;
  options.limit = o->gap.clearance = clearance;
  options.exactness = c->relate.exactness;
  if (c->find == GRAZE_FIND_ALL) options.near_pairs = GRAZE_FIND_COUNT;
  const graze_round_side sides[2] = {{a->mesh, &a->pose, a->radius, a->flat}, {b->mesh, &b->pose, b->radius, b->flat}};
  graze_status status = graze_round_distance(query, &sides[0], &sides[1], &options, &found);
  if (status != GRAZE_OK) return status;
  work_add(&o->work, &found.work);
  if (!found.found) return GRAZE_OK;
  o->gap = (graze_gap){.found = true,
                       .clearance = clearance,
                       .distance = found.nearest.distance,
                       .near_pairs = found.near_pairs,
                       .near_hash = found.near_hash};
  memcpy(o->gap.points, found.nearest.points, sizeof o->gap.points);
  if (o->verdict.relation == GRAZE_SEPARATE) o->verdict.relation = GRAZE_CLEARANCE;
  return GRAZE_OK;
}

/* Decides one candidate and appends what it lists. */
static void decide(deciding *c, graze_query *query, uint64_t candidate, task_list *list) {
  const graze_context *context = c->scene->context;
  uint64_t key = c->pairs[candidate];
  const object *a = scene_ranked(c->scene, (uint32_t)(key >> 32)), *b = scene_ranked(c->scene, (uint32_t)key);
  outcome *o = c->outcomes + candidate;
  graze_relate_result hits = {0};
  graze_outline outline = {0};
  if (is_round(a, b))
    o->status = decide_round(c, query, a, b, &hits, &outline);
  else if (c->find != GRAZE_FIND_ANY)
    o->status = decide_relation(c, query, candidate, a, b, &hits, &outline);
  else if (!o->apart)
    o->status = decide_contact(c, query, a, b, &hits);
  if (o->status != GRAZE_OK) return;
  o->verdict = hits.verdict;
  o->counts = hits.counts;
  o->work = hits.work;
  o->list = list->count;
  bool listed = c->find == GRAZE_FIND_ALL;
  if ((listed &&
       !append(context, &list->pairs, &list->count, hits.pairs, hits.counts.triangle_pairs, sizeof *hits.pairs)) ||
      (outline.starts != NULL && !append_outline(context, list, &outline, o))) {
    o->status = GRAZE_ERROR_MEMORY;
    return;
  }
  const double clearance = c->clearances != NULL ? c->clearances[candidate] : 0;
  if (clearance > 0 && (o->verdict.relation == GRAZE_SEPARATE || o->verdict.relation == GRAZE_UNKNOWN))
    o->status = measure_gap(c, query, a, b, clearance, o);
  if (o->status != GRAZE_OK) return;
  o->finished = true;
}

static void run_task(deciding *c, uint32_t index, uint32_t task) {
  graze_scene *scene = c->scene;
  scene_worker *w = scene->workers + index;
  graze_status status = GRAZE_OK;
  if (w->query == NULL) status = graze_query_create(scene->context, &w->query);
  for (uint32_t i = c->first[task]; i < c->first[task + 1]; i++) {
    uint64_t candidate = c->schedule[i];
    c->outcomes[candidate].worker = index;
    if (status == GRAZE_OK) {
      decide(c, w->query, candidate, &w->list);
    } else {
      c->outcomes[candidate].status = status;
    }
  }
}

/* Silent: the caller says which objects it was. */
static void run_tasks(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  bool before = gz_silence(true);
  for (uint32_t task = begin; task < end; task++) run_task(argument, index, task);
  gz_silence(before);
}

static graze_status outcome_error(const deciding *c, uint64_t candidate) {
  graze_status status = c->outcomes[candidate].status;
  uint64_t key = c->pairs[candidate];
  char a[96], b[96];
  if (status == GRAZE_OK) return GRAZE_OK;
  return gz_fail(c->scene->context, status, "objects %s and %s: %s",
                 gz_scene_object_label(c->scene, (uint32_t)(key >> 32), a),
                 gz_scene_object_label(c->scene, (uint32_t)key, b), graze_status_string(status));
}

static graze_status append_list(graze_scene *scene, scene_worker *w) {
  const task_list *list = &w->list;
  task_list *all = &scene->all;
  w->first = all->count;
  w->first_point = all->point_count;
  w->first_start = all->start_count;
  if (append(scene->context, &all->pairs, &all->count, list->pairs.data, list->count, sizeof(graze_triangle_pair)) &&
      append(scene->context, &all->points, &all->point_count, list->points.data, list->point_count,
             3 * sizeof(double)) &&
      append(scene->context, &all->starts, &all->start_count, list->starts.data, list->start_count, sizeof(uint32_t))) {
    return GRAZE_OK;
  }
  return gz_fail(scene->context, GRAZE_ERROR_MEMORY, "out of memory: what the pairs of objects list");
}

/* Puts the lists of a batch behind those of the batches before. */
static graze_status collect_batch(deciding *c, uint32_t tasks) {
  graze_scene *scene = c->scene;
  graze_status status = GRAZE_OK;
  for (uint32_t i = c->first[0]; i < c->first[tasks] && status == GRAZE_OK; i++) {
    status = outcome_error(c, c->schedule[i]);
  }
  for (uint32_t k = 0; k < gz_workers(scene->context) && status == GRAZE_OK; k++) {
    status = append_list(scene, scene->workers + k);
  }
  for (uint32_t i = c->first[0]; i < c->first[tasks] && status == GRAZE_OK; i++) {
    outcome *o = c->outcomes + c->schedule[i];
    const scene_worker *w = scene->workers + o->worker;
    o->list += w->first;
    o->points += w->first_point;
    o->starts += w->first_start;
  }
  return status;
}

graze_status gz_decide_workers(graze_scene *scene) {
  size_t bytes = gz_workers(scene->context) * sizeof *scene->workers;
  if (scene->workers != NULL) return GRAZE_OK;
  scene->workers = gz_memory_alloc(scene->context, bytes);
  if (scene->workers == NULL) return gz_fail_memory(scene->context, bytes);
  memset(scene->workers, 0, bytes);
  return GRAZE_OK;
}

static graze_status run_batch(deciding *c, uint32_t tasks) {
  graze_scene *scene = c->scene;
  uint32_t workers = gz_workers(scene->context);
  graze_status status = gz_decide_workers(scene);
  if (status != GRAZE_OK) return status;
  for (uint32_t k = 0; k < workers; k++) clear_list(&scene->workers[k].list);
  gz_parallel_for(scene->context, tasks, 1, run_tasks, c);
  return collect_batch(c, tasks);
}

void gz_decide_release(graze_scene *scene) {
  uint32_t workers = gz_workers(scene->context);
  for (uint32_t k = 0; k < workers && scene->workers != NULL; k++) {
    scene_worker *w = scene->workers + k;
    graze_query_destroy(w->query);
    gz_buffer_release(scene->context, &w->list.pairs);
    gz_buffer_release(scene->context, &w->list.points);
    gz_buffer_release(scene->context, &w->list.starts);
  }
  gz_memory_release(scene->context, scene->workers, workers * sizeof *scene->workers);
}

/* Cuts tasks from the schedule; returns how many. */
static uint32_t cut_tasks(deciding *c, uint64_t begin, uint32_t most) {
  uint64_t count = c->count, next = begin;
  uint32_t tasks = 0;
  c->first[0] = (uint32_t)begin;
  while (tasks < most && next < count) {
    uint64_t triangles = 0, end = next + TASK_PAIRS < count ? next + TASK_PAIRS : count;
    while (next < end && triangles < TASK_TRIANGLES) triangles += weight(c, c->schedule[next++]);
    c->first[++tasks] = (uint32_t)next;
  }
  return tasks;
}

static bool go_on(const deciding *c, uint64_t done) {
  return c->progress == NULL || c->progress(c->progress_user, done, c->count);
}

static graze_status run_heavy(deciding *c, uint64_t candidate) {
  graze_scene *scene = c->scene;
  if (scene->query == NULL) {
    graze_status status = graze_query_create(scene->context, &scene->query);
    if (status != GRAZE_OK) return status;
  }
  decide(c, scene->query, candidate, &scene->all);
  return outcome_error(c, candidate);
}

static graze_status run_all(deciding *c) {
  graze_scene *scene = c->scene;
  uint64_t done = 0, heavy = count_heavy(c);
  uint32_t most = PARALLEL_PIECES;
  /* Smaller batches when somebody watches. */
  int threads = gz_parallel_threads(scene->context);
  if (c->progress != NULL && threads < PARALLEL_PIECES / 4) most = (uint32_t)threads * 4;
  clear_list(&scene->all);
  while (done < c->count) {
    if (!go_on(c, done)) return GRAZE_CANCELLED;
    graze_status status;
    if (done < heavy) {
      status = run_heavy(c, c->schedule[done++]);
    } else {
      uint32_t tasks = cut_tasks(c, done, most);
      status = run_batch(c, tasks);
      done = c->first[tasks];
    }
    if (status != GRAZE_OK) return status;
  }
  return go_on(c, done) ? GRAZE_OK : GRAZE_CANCELLED;
}

graze_status gz_scene_decide(deciding *c) {
  if (c->count > UINT32_MAX - TASK_PAIRS) {
    return gz_fail(c->scene->context, GRAZE_ERROR_LIMIT, "more than 2^32 - 65 pairs of objects whose boxes meet");
  }
  graze_status status = make_schedule(c);
  if (status == GRAZE_OK) status = gz_sources_load_pairs(c->scene, c->pairs, c->count);
  if (status == GRAZE_OK) status = list_shapes(c);
  if (status == GRAZE_OK) status = gz_scene_cull(c);
  if (status == GRAZE_OK) status = run_all(c);
  for (uint64_t i = 0; i < c->count && (status == GRAZE_OK || status == GRAZE_CANCELLED); i++) {
    work_add(&c->work, &c->outcomes[i].work);
  }
  return status;
}
