/* The check: boxes, candidates, an exact query for each candidate, results in the order of adding.
 *
 * Candidates are taken heaviest first, in batches of tasks that share one query per running task; progress is told
 * between batches from the calling thread. A pair that alone is more than one thread's share of the whole is decided
 * by all threads together before the others start. What a task finds is put in its place by number, so that neither
 * the order of work nor the number of threads shows in the results.
 */
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/sort.h"
#include "geometry/pose.h"
#include "scene/scene.h"

enum {
  CHECK_COOKIE = 0x67727331,
  BOXES_LEAST = 1024,
  TASK_PAIRS = 64,         /* at most so many pairs in a task, */
  TASK_TRIANGLES = 100000, /* and not many more triangles */
  HEAVY_TRIANGLES = 50000  /* fewer are never worth all threads */
};

graze_check_options graze_default_check_options(void) {
  return (graze_check_options){.find = GRAZE_FIND_COUNT, .exactness = GRAZE_T1, .cookie = CHECK_COOKIE};
}

typedef struct check {
  graze_scene *scene;
  graze_check_options options;
  graze_relate_options relate;
  graze_box *boxes;
  pieces cut;                          /* of objects */
  uint32_t bad[PARALLEL_PIECES];       /* first object of each piece whose posed coordinates overflow */
  uint32_t first[PARALLEL_PIECES + 1]; /* tasks of a batch, as ranges of the schedule */
  const uint64_t *schedule;
  outcome *outcomes;
} check;

/* ---- boxes ---- */

static bool box_finite(const graze_box *box) {
  bool finite = true;
  for (int k = 0; k < 3; k++) finite &= isfinite(box->min[k]) && isfinite(box->max[k]);
  return finite;
}

static bool posed_finite(const object *o) {
  for (uint32_t t = 0; t < o->mesh->triangle_count; t++) {
    double corners[9];
    graze_mesh_get_triangle(o->mesh, t, corners);
    for (int i = 0; i < 9; i++) {
      if (!isfinite(pose_row(&o->pose, i % 3, corners + i / 3 * 3))) return false;
    }
  }
  return true;
}

/* False: a posed coordinate overflows. Where only the box does, the object meets every box. */
static bool object_box(const object *o, graze_exactness exactness, graze_box *out) {
  graze_mesh_facts facts;
  graze_mesh_get_facts(o->mesh, &facts);
  *out = facts.box;
  if (facts.triangles == 0 || exactness == GRAZE_T0) return true;
  *out = pose_box(&o->pose, &facts.box);
  if (box_finite(out)) return true;
  for (int k = 0; k < 3; k++) {
    out->min[k] = -DBL_MAX;
    out->max[k] = DBL_MAX;
  }
  return posed_finite(o);
}

static void box_piece(void *argument, uint32_t index) {
  check *c = argument;
  uint64_t end = pieces_end(&c->cut, index);
  c->bad[index] = NO_OBJECT;
  for (uint64_t i = pieces_begin(&c->cut, index); i < end; i++) {
    bool good = object_box(scene_ranked(c->scene, (uint32_t)i), c->options.exactness, c->boxes + i);
    if (!good && c->bad[index] == NO_OBJECT) c->bad[index] = (uint32_t)i;
  }
}

static graze_status make_boxes(check *c) {
  graze_scene *scene = c->scene;
  size_t bytes = scene->count * sizeof(graze_box);
  char label[96];
  if (!buffer_reserve(scene->context, &scene->boxes, bytes, 0)) return report_memory(scene->context, bytes);
  c->boxes = scene->boxes.data;
  c->cut = pieces_of(scene->count, BOXES_LEAST);
  parallel_for(scene->context, c->cut.number, box_piece, c);
  for (uint32_t i = 0; i < c->cut.number; i++) {
    if (c->bad[i] == NO_OBJECT) continue;
    return report(scene->context, GRAZE_ERROR_NOT_FINITE, "object %s: a posed coordinate overflows",
                  scene_object_label(scene, c->bad[i], label));
  }
  return GRAZE_OK;
}

static graze_status check_identities(const check *c) {
  char label[96];
  if (c->options.exactness != GRAZE_T0) return GRAZE_OK;
  for (uint32_t i = 0; i < c->scene->count; i++) {
    if (graze_pose_is_identity(&scene_ranked(c->scene, i)->pose)) continue;
    return report(c->scene->context, GRAZE_ERROR_POSE, "object %s: tier T0 allows the identity pose only",
                  scene_object_label(c->scene, i, label));
  }
  return GRAZE_OK;
}

/* ---- the caller's filter ---- */

static bool wanted(const check *c, uint32_t a, uint32_t b) {
  return c->options.wanted(c->options.wanted_user, scene_ranked(c->scene, a)->user_id,
                           scene_ranked(c->scene, b)->user_id);
}

/* Parts the candidates; both halves stay in order. */
static graze_status ask_wanted(check *c) {
  graze_scene *scene = c->scene;
  uint64_t count = scene->found.count, kept = 0, out = 0;
  scene->unwanted_count = 0;
  if (c->options.wanted == NULL || count == 0) return GRAZE_OK;
  size_t bytes = count * sizeof(uint64_t);
  if (!buffer_reserve(scene->context, &scene->wanted, bytes, 0) ||
      !buffer_reserve(scene->context, &scene->unwanted, bytes, 0)) {
    return report_memory(scene->context, 2 * bytes);
  }
  uint64_t *in = scene->wanted.data, *aside = scene->unwanted.data;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t key = scene->found.pairs[i];
    if (wanted(c, (uint32_t)(key >> 32), (uint32_t)key))
      in[kept++] = key;
    else
      aside[out++] = key;
  }
  scene->found.pairs = in;
  scene->found.count = kept;
  scene->unwanted_count = out;
  return GRAZE_OK;
}

/* ---- schedule ---- */

static uint64_t weight(const check *c, uint64_t candidate) {
  uint64_t key = c->scene->found.pairs[candidate];
  return (uint64_t)scene_ranked(c->scene, (uint32_t)(key >> 32))->mesh->triangle_count +
         scene_ranked(c->scene, (uint32_t)key)->mesh->triangle_count;
}

/* Heaviest first, in steps of powers of two, so that neighbours stay together. */
static graze_status make_schedule(check *c) {
  graze_scene *scene = c->scene;
  uint64_t count = scene->found.count;
  size_t bytes = 2 * count * sizeof(uint64_t), more = count * sizeof(outcome);
  if (!buffer_reserve(scene->context, &scene->schedule, bytes, 0) ||
      !buffer_reserve(scene->context, &scene->outcomes, more, 0)) {
    return report_memory(scene->context, bytes + more);
  }
  const uint64_t numbers = ((uint64_t)1 << 58) - 1;
  uint64_t *keys = scene->schedule.data;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t step = (uint64_t)__builtin_clzll(weight(c, i) | 1);
    keys[i] = step << 58 | i;
  }
  sort_keys(keys, keys + count, count);
  for (uint64_t i = 0; i < count; i++) keys[i] &= numbers;
  c->schedule = keys;
  c->outcomes = scene->outcomes.data;
  if (count != 0) memset(c->outcomes, 0, more);
  return GRAZE_OK;
}

/* A place for the solid of each mesh. The list of meshes borrows the memory of the results, which come later. */
static graze_status list_shapes(check *c) {
  graze_scene *scene = c->scene;
  size_t bytes = scene->count * sizeof(const graze_mesh *);
  if (!buffer_reserve(scene->context, &scene->results, bytes, 0)) return report_memory(scene->context, bytes);
  const graze_mesh **meshes = scene->results.data;
  for (uint32_t i = 0; i < scene->count; i++) meshes[i] = scene_ranked(scene, i)->mesh;
  return shapes_update(scene->context, &scene->shapes, meshes, scene->count);
}

/* How many of the schedule's first pairs deserve all threads. */
static uint64_t count_heavy(const check *c) {
  uint64_t threads = (uint64_t)parallel_threads(c->scene->context), total = 0, heavy = 0;
  if (threads == 1) return 0;
  for (uint64_t i = 0; i < c->scene->found.count; i++) total += weight(c, i);
  while (heavy < c->scene->found.count) {
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
  if (!buffer_reserve(context, to, used + bytes, used)) return false;
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

static graze_status decide_contact(const check *c, graze_query *query, const object *a, const object *b,
                                   graze_relating *out) {
  graze_collide_options options = graze_default_collide_options();
  graze_collision hits;
  options.find = GRAZE_FIND_ANY;
  options.exactness = c->options.exactness;
  graze_status status = graze_collide_meshes(query, a->mesh, &a->pose, b->mesh, &b->pose, &options, &hits);
  if (status != GRAZE_OK) return status;
  out->relation = hits.hit ? GRAZE_UNKNOWN : GRAZE_SEPARATE;
  out->doubt = hits.hit ? GRAZE_DOUBT_NOT_ASKED : GRAZE_DOUBT_NONE;
  out->counts = hits.counts;
  out->work = hits.work;
  return GRAZE_OK;
}

static graze_status decide_relation(const check *c, graze_query *query, const object *a, const object *b,
                                    graze_relating *out, graze_outline *outline) {
  relate_side sides[2] = {{.slot = shapes_slot(&c->scene->shapes, a->mesh)},
                          {.slot = shapes_slot(&c->scene->shapes, b->mesh)}};
  graze_status status = query_side(query, a->mesh, &a->pose, c->options.exactness, "a", &sides[0].place);
  if (status == GRAZE_OK) status = query_side(query, b->mesh, &b->pose, c->options.exactness, "b", &sides[1].place);
  if (status == GRAZE_OK) status = query_relate(query, &sides[0], &sides[1], &c->relate, out);
  if (status != GRAZE_OK || !c->options.outlines || out->relation == GRAZE_SEPARATE) return status;
  return query_outline(query, &sides[0].place, &sides[1].place, out->pairs, out->counts.triangle_pairs, outline);
}

/* Decides one candidate and appends what it lists. */
static void decide(check *c, graze_query *query, uint64_t candidate, task_list *list) {
  const graze_context *context = c->scene->context;
  uint64_t key = c->scene->found.pairs[candidate];
  const object *a = scene_ranked(c->scene, (uint32_t)(key >> 32)), *b = scene_ranked(c->scene, (uint32_t)key);
  outcome *o = c->outcomes + candidate;
  graze_relating hits = {0};
  graze_outline outline = {0};
  o->status = c->options.find == GRAZE_FIND_ANY ? decide_contact(c, query, a, b, &hits)
                                                : decide_relation(c, query, a, b, &hits, &outline);
  if (o->status != GRAZE_OK) return;
  o->relation = (verdict){.relation = hits.relation, .doubt = hits.doubt, .doubt_mesh = hits.doubt_mesh};
  memcpy(o->relation.doubt_point, hits.doubt_point, sizeof hits.doubt_point);
  o->counts = hits.counts;
  o->work = hits.work;
  o->list = list->count;
  bool listed = c->options.find == GRAZE_FIND_ALL;
  if ((listed &&
       !append(context, &list->pairs, &list->count, hits.pairs, hits.counts.triangle_pairs, sizeof *hits.pairs)) ||
      (outline.starts != NULL && !append_outline(context, list, &outline, o))) {
    o->status = GRAZE_ERROR_MEMORY;
    return;
  }
  o->finished = true;
}

/* A query that no other task uses. There are as many places as tasks in a batch, so that one is always free. */
static uint32_t take_query(graze_scene *scene) {
  for (uint32_t i = 0;; i = (i + 1) % PARALLEL_PIECES) {
    bool expected = false;
    if (atomic_compare_exchange_strong(&scene->busy[i], &expected, true)) return i;
  }
}

static void run_task(void *argument, uint32_t task) {
  check *c = argument;
  graze_scene *scene = c->scene;
  task_list *list = scene->lists + task;
  clear_list(list);
  uint32_t place = take_query(scene);
  graze_status status = GRAZE_OK;
  if (scene->queries[place] == NULL) status = graze_query_create(&scene->single, &scene->queries[place]);
  for (uint32_t i = c->first[task]; i < c->first[task + 1]; i++) {
    uint64_t candidate = c->schedule[i];
    if (status == GRAZE_OK) {
      decide(c, scene->queries[place], candidate, list);
    } else {
      c->outcomes[candidate].status = status;
    }
  }
  atomic_store(&scene->busy[place], false);
}

static graze_status outcome_error(const check *c, uint64_t candidate) {
  graze_status status = c->outcomes[candidate].status;
  uint64_t key = c->scene->found.pairs[candidate];
  char a[96], b[96];
  if (status == GRAZE_OK) return GRAZE_OK;
  return report(c->scene->context, status, "objects %s and %s: %s",
                scene_object_label(c->scene, (uint32_t)(key >> 32), a), scene_object_label(c->scene, (uint32_t)key, b),
                graze_status_string(status));
}

/* Puts the lists of a batch behind those of the batches before. */
static graze_status collect_batch(check *c, uint32_t tasks) {
  graze_scene *scene = c->scene;
  task_list *all = &scene->all;
  for (uint32_t task = 0; task < tasks; task++) {
    const task_list *list = scene->lists + task;
    for (uint32_t i = c->first[task]; i < c->first[task + 1]; i++) {
      graze_status status = outcome_error(c, c->schedule[i]);
      if (status != GRAZE_OK) return status;
      c->outcomes[c->schedule[i]].list += all->count;
      c->outcomes[c->schedule[i]].points += all->point_count;
      c->outcomes[c->schedule[i]].starts += all->start_count;
    }
    if (!append(scene->context, &all->pairs, &all->count, list->pairs.data, list->count, sizeof(graze_triangle_pair)) ||
        !append(scene->context, &all->points, &all->point_count, list->points.data, list->point_count,
                3 * sizeof(double)) ||
        !append(scene->context, &all->starts, &all->start_count, list->starts.data, list->start_count,
                sizeof(uint32_t))) {
      return report(scene->context, GRAZE_ERROR_MEMORY, "out of memory: what the pairs of objects list");
    }
  }
  return GRAZE_OK;
}

/* Cuts tasks from the schedule; returns how many. */
static uint32_t cut_tasks(check *c, uint64_t begin, uint32_t most) {
  uint64_t count = c->scene->found.count, next = begin;
  uint32_t tasks = 0;
  c->first[0] = (uint32_t)begin;
  while (tasks < most && next < count) {
    uint64_t triangles = 0, end = next + TASK_PAIRS < count ? next + TASK_PAIRS : count;
    while (next < end && triangles < TASK_TRIANGLES) triangles += weight(c, c->schedule[next++]);
    c->first[++tasks] = (uint32_t)next;
  }
  return tasks;
}

static bool go_on(const check *c, uint64_t done) {
  return c->options.progress == NULL || c->options.progress(c->options.progress_user, done, c->scene->found.count);
}

static graze_status run_heavy(check *c, uint64_t candidate) {
  graze_scene *scene = c->scene;
  if (scene->query == NULL) {
    /* Creation is const in spirit: the context is only remembered. */
    graze_status status = graze_query_create((graze_context *)scene->context, &scene->query);
    if (status != GRAZE_OK) return status;
  }
  decide(c, scene->query, candidate, &scene->all);
  return outcome_error(c, candidate);
}

static graze_status run_all(check *c) {
  graze_scene *scene = c->scene;
  uint64_t done = 0, heavy = count_heavy(c);
  uint32_t most = PARALLEL_PIECES;
  /* Smaller batches when somebody watches. */
  int threads = parallel_threads(scene->context);
  if (c->options.progress != NULL && threads < PARALLEL_PIECES / 4) most = (uint32_t)threads * 4;
  clear_list(&scene->all);
  while (done < scene->found.count) {
    if (!go_on(c, done)) return GRAZE_CANCELLED;
    graze_status status;
    if (done < heavy) {
      status = run_heavy(c, c->schedule[done++]);
    } else {
      uint32_t tasks = cut_tasks(c, done, most);
      parallel_for(scene->context, tasks, run_task, c);
      status = collect_batch(c, tasks);
      done = c->first[tasks];
    }
    if (status != GRAZE_OK) return status;
  }
  return go_on(c, done) ? GRAZE_OK : GRAZE_CANCELLED;
}

/* ---- results ---- */

static graze_object_pair describe(const graze_scene *scene, uint32_t a, uint32_t b) {
  const uint32_t *order = scene->order.data;
  const object *x = scene_ranked(scene, a), *y = scene_ranked(scene, b);
  return (graze_object_pair){.a = {order[a], x->generation},
                             .b = {order[b], y->generation},
                             .user_id_a = x->user_id,
                             .user_id_b = y->user_id,
                             .relation = GRAZE_SEPARATE};
}

static graze_object_pair describe_candidate(const check *c, uint64_t candidate) {
  const graze_scene *scene = c->scene;
  const outcome *o = c->outcomes + candidate;
  uint64_t key = scene->found.pairs[candidate];
  graze_object_pair pair = describe(scene, (uint32_t)(key >> 32), (uint32_t)key);
  pair.counts = o->counts;
  pair.relation = o->relation.relation;
  pair.doubt = o->relation.doubt;
  pair.doubt_mesh = o->relation.doubt_mesh;
  memcpy(pair.doubt_point, o->relation.doubt_point, sizeof pair.doubt_point);
  if (o->counts.triangle_pairs > 0 && c->options.find == GRAZE_FIND_ALL) {
    pair.pairs = (const graze_triangle_pair *)scene->all.pairs.data + o->list;
  }
  if (c->options.outlines && o->relation.relation != GRAZE_SEPARATE) {
    pair.outline = o->outline;
    pair.outline.points = (const double(*)[3])scene->all.points.data + o->points;
    pair.outline.starts = (const uint32_t *)scene->all.starts.data + o->starts;
  }
  return pair;
}

static bool is_clash(const outcome *o) {
  return o->finished && o->relation.relation != GRAZE_SEPARATE;
}

/* Pairs that are not separate, in the order of the candidates. */
static uint64_t list_hits(const check *c, graze_object_pair *out) {
  uint64_t n = 0;
  for (uint64_t i = 0; i < c->scene->found.count; i++) {
    if (is_clash(&c->outcomes[i])) out[n++] = describe_candidate(c, i);
  }
  return n;
}

/* Every pair whose answer is known; *unwanted counts those that the caller's filter takes out on the way. */
static uint64_t list_all(const check *c, graze_object_pair *out, uint64_t *unwanted) {
  const graze_scene *scene = c->scene;
  const uint64_t *aside = scene->unwanted.data;
  uint64_t n = 0, next = 0, skipped = 0;
  for (uint32_t a = 0; a < scene->count; a++) {
    for (uint32_t b = a + 1; b < scene->count; b++) {
      if (next < scene->found.count && scene->found.pairs[next] == pair_key(a, b)) {
        if (c->outcomes[next].finished) out[n++] = describe_candidate(c, next);
        next++;
      } else if (skipped < scene->unwanted_count && aside[skipped] == pair_key(a, b)) {
        skipped++;
      } else if (filter_ignores(&scene->rules, a, b)) {
        continue;
      } else if (c->options.wanted != NULL && !wanted(c, a, b)) {
        ++*unwanted;
      } else {
        out[n++] = describe(scene, a, b);
      }
    }
  }
  return n;
}

static graze_status make_result(const check *c, graze_check_result *result) {
  graze_scene *scene = c->scene;
  graze_check_result r = {.object_pairs = scene->object_pairs, .ignored_pairs = scene->ignored_pairs};
  r.candidate_pairs = scene->found.count;
  for (uint64_t i = 0; i < scene->found.count; i++) {
    const outcome *o = c->outcomes + i;
    r.clashes += is_clash(o);
    if (o->finished) r.relations[o->relation.relation]++;
    r.work.node_pairs += o->work.node_pairs;
    r.work.triangle_tests += o->work.triangle_tests;
    r.work.exact_tests += o->work.exact_tests;
  }
  uint64_t most = c->options.all_pairs ? scene->object_pairs : r.clashes;
  if (most > SIZE_MAX / sizeof(graze_object_pair) ||
      !buffer_reserve(scene->context, &scene->results, most * sizeof(graze_object_pair), 0)) {
    return report(scene->context, GRAZE_ERROR_MEMORY, "out of memory: the list of %llu pairs of objects",
                  (unsigned long long)most);
  }
  r.unwanted_pairs = scene->unwanted_count;
  r.pair_count =
      c->options.all_pairs ? list_all(c, scene->results.data, &r.unwanted_pairs) : list_hits(c, scene->results.data);
  r.object_pairs -= r.unwanted_pairs;
  r.pairs = r.pair_count != 0 ? scene->results.data : NULL;
  *result = r;
  return GRAZE_OK;
}

static graze_status check_options(const graze_context *context, const graze_check_options *o) {
  if (o->cookie != CHECK_COOKIE)
    return report(context, GRAZE_ERROR_ARGUMENT, "check: the options were not initialised");
  if (o->find != GRAZE_FIND_ALL && o->find != GRAZE_FIND_COUNT && o->find != GRAZE_FIND_ANY) {
    return report(context, GRAZE_ERROR_ARGUMENT, "check: unknown value of find");
  }
  if (o->exactness != GRAZE_T0 && o->exactness != GRAZE_T1 && o->exactness != GRAZE_T2) {
    return report(context, GRAZE_ERROR_ARGUMENT, "check: unknown exactness");
  }
  if (o->outlines && o->find == GRAZE_FIND_ANY) {
    return report(context, GRAZE_ERROR_ARGUMENT, "check: outlines need every meeting pair, not any");
  }
  if (o->open != GRAZE_OPEN_UNKNOWN && o->open != GRAZE_OPEN_SURFACE) {
    return report(context, GRAZE_ERROR_ARGUMENT, "check: unknown rule for open meshes");
  }
  return GRAZE_OK;
}

static graze_status run_check(check *c, graze_check_result *result) {
  graze_scene *scene = c->scene;
  graze_status status = scene_prepare(scene);
  if (status == GRAZE_OK) status = check_identities(c);
  if (status == GRAZE_OK) status = make_boxes(c);
  if (status == GRAZE_OK)
    status = candidates_find(scene->context, &scene->found, c->boxes, scene->count, &scene->rules);
  if (status == GRAZE_OK) status = ask_wanted(c);
  if (status == GRAZE_OK && scene->found.count > UINT32_MAX - TASK_PAIRS) {
    status = report(scene->context, GRAZE_ERROR_LIMIT, "check: more than 2^32 - 65 pairs of objects whose boxes meet");
  }
  if (status == GRAZE_OK) status = make_schedule(c);
  if (status == GRAZE_OK) status = list_shapes(c);
  if (status != GRAZE_OK) return status;
  graze_status run = run_all(c);
  if (run != GRAZE_OK && run != GRAZE_CANCELLED) return run;
  status = make_result(c, result);
  return status == GRAZE_OK ? run : status;
}

graze_status graze_scene_check(graze_scene *scene, const graze_check_options *options, graze_check_result *result) {
  if (scene == NULL) return GRAZE_ERROR_ARGUMENT;
  if (result == NULL) return report(scene->context, GRAZE_ERROR_ARGUMENT, "check: null pointer");
  check c = {.scene = scene, .options = options != NULL ? *options : graze_default_check_options()};
  graze_status status = check_options(scene->context, &c.options);
  if (status != GRAZE_OK) return status;
  c.relate = graze_default_relate_options();
  c.relate.exactness = c.options.exactness;
  c.relate.open = c.options.open;
  unsigned saved = fp_enter();
  status = run_check(&c, result);
  fp_leave(saved);
  return status;
}
