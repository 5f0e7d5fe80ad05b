/* Queries: checks, sharing the work out to threads, and results in canonical order. */
#include "narrow/query.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/context.h"
#include "base/cpu.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "narrow/adjacent.h"
#include "narrow/gap.h"
#include "narrow/relate.h"

enum { OPTIONS_COOKIE = 0x67726F31, PAIRS_PER_THREAD = 64, SERIAL_TRIANGLES = 20000 };

boxes_function *gz_boxes_best(void) {
  return CPU_KERNEL(gz_boxes);
}

gaps_function *gz_box_gaps_best(void) {
  return CPU_KERNEL(gz_box_gaps);
}

adjacent_append_function *gz_adjacent_append_best(void) {
  return CPU_KERNEL(gz_adjacent_append);
}

adjacent_judge_function *gz_adjacent_judge_best(void) {
  return CPU_KERNEL(gz_adjacent_judge);
}

box_pairs_function *gz_box_pairs_best(void) {
  return CPU_KERNEL(gz_box_pairs);
}

graze_collide_options graze_default_collide_options(void) {
  return (graze_collide_options){.exactness = GRAZE_T1, .cookie = OPTIONS_COOKIE};
}

graze_status graze_query_create(graze_context *context, graze_query **query) {
  if (context == NULL || query == NULL) return gz_fail_null(context);
  graze_query *q = gz_memory_alloc(context, sizeof *q);
  if (q == NULL) return gz_fail_memory(context, sizeof *q);
  memset(q, 0, sizeof *q);
  q->context = context;
  *query = q;
  return GRAZE_OK;
}

void graze_query_destroy(graze_query *q) {
  if (q == NULL) return;
  for (uint32_t k = 0; k < q->worker_capacity; k++) {
    if (q->workers[k] == NULL) continue;
    gz_sink_release(&q->workers[k]->sink);
    gz_buffer_release(q->context, &q->workers[k]->stack);
    gz_near_release(q->workers[k]);
    gz_memory_release(q->context, q->workers[k], sizeof(worker));
  }
  gz_memory_release(q->context, q->workers, q->worker_capacity * sizeof(worker *));
  gz_buffer_release(q->context, &q->keys);
  gz_buffer_release(q->context, &q->sort);
  gz_buffer_release(q->context, &q->codes);
  gz_buffer_release(q->context, &q->sweep);
  graze_query_destroy(q->rays);
  graze_query_destroy(q->moved);
  graze_mesh_destroy(q->ray);
  gz_buffer_release(q->context, &q->met[0]);
  gz_buffer_release(q->context, &q->met[1]);
  for (int k = 0; k < 2; k++) {
    gz_buffer_release(q->context, &q->facts[k]);
    gz_buffer_release(q->context, &q->corners[k]);
  }
  for (int k = 0; k < 4; k++) gz_buffer_release(q->context, &q->outline[k]);
  gz_buffer_release(q->context, &q->fans);
  gz_ccd_release(q->context, q->crossing);
  gz_memory_release(q->context, q, sizeof *q);
}

worker *gz_query_worker(graze_query *q, uint32_t number) {
  if (number >= q->worker_capacity) {
    uint32_t capacity = number + 1 > 8 ? number + 1 : 8;
    worker **list = gz_memory_alloc(q->context, capacity * sizeof *list);
    if (list == NULL) return NULL;
    memset(list, 0, capacity * sizeof *list);
    if (q->worker_capacity > 0) memcpy(list, q->workers, q->worker_capacity * sizeof *list);
    gz_memory_release(q->context, q->workers, q->worker_capacity * sizeof *list);
    q->workers = list;
    q->worker_capacity = capacity;
  }
  if (q->workers[number] == NULL) {
    worker *w = gz_memory_alloc(q->context, sizeof *w);
    if (w == NULL) return NULL;
    memset(w, 0, sizeof *w);
    w->context = w->sink.context = q->context;
    q->workers[number] = w;
  }
  return q->workers[number];
}

void gz_worker_start(worker *w, const job *j) {
  gz_sink_start(&w->sink, w->context, &j->a, &j->b, j->find, j->exactness == GRAZE_T2, j->self);
  w->sink.coded = !j->self && !j->near && j->b.mesh->triangle_count <= CODED_TRIANGLES;
  w->map = j->map;
  w->boxes = gz_boxes_best();
  w->append = gz_adjacent_append_best();
  w->judge = gz_adjacent_judge_best();
  w->share = gz_fan_share_best();
  w->apart = CPU_KERNEL(gz_apart);
  w->names = j->names;
  w->adjacent.count = 0;
  w->unsettled.count = 0;
  w->depth = 0;
  gz_near_start_search(w, j);
  double scale = 0;
  for (int k = 0; k < 9; k++) scale += j->map.linear[k] * j->map.linear[k];
  w->size_b = (float)sqrt(scale / 3);
}

static void open_one(worker *w, const job *j, node_pair pair) {
  if (j->near)
    gz_near_open(w, pair);
  else if (j->boxes_only)
    gz_self_box_open(w, pair);
  else if (j->self)
    gz_self_open(w, pair);
  else
    gz_traverse_open(w, pair);
}

/* Decides what still waits. */
static void finish(worker *w, const job *j) {
  if (j->near) {
    gz_near_flush(w);
    return;
  }
  if (j->self) gz_self_flush(w);
  gz_sink_flush(&w->sink);
}

static void run_stack(worker *w, const job *j) {
  while (w->depth > 0 && !w->sink.stop) open_one(w, j, ((node_pair *)w->stack.data)[--w->depth]);
  finish(w, j);
}

static bool empty_job(const job *j) {
  return j->a.mesh->triangle_count == 0 || j->b.mesh->triangle_count == 0;
}

graze_status gz_query_run_single(graze_query *q, const job *j, worker *w) {
  gz_worker_start(w, j);
  if (empty_job(j)) return GRAZE_OK;
  if (!j->tree && j->near) {
    gz_near_all(w);
  } else if (!j->tree) {
    graze_status status = gz_sweep_run(q, j, w);
    if (status != GRAZE_OK) return status;
  } else if (gz_worker_push(w, 0, 0)) {
    run_stack(w, j);
  }
  return w->sink.failed ? gz_fail(q->context, GRAZE_ERROR_MEMORY, "out of memory: results of a query") : GRAZE_OK;
}

/* ---- one job on many threads ---- */

typedef struct shared_job {
  graze_query *query;
  const job *j;
  node_pair *pairs;
  uint32_t count, tasks;
} shared_job;

/* Task t takes pairs t, t + tasks, ...: neighbours in the list cost alike. */
static void run_share(shared_job *s, worker *w, uint32_t task) {
  for (uint32_t k = task; k < s->count && !w->sink.stop; k += s->tasks) {
    if (!gz_worker_push(w, s->pairs[k].a, s->pairs[k].b)) return;
    run_stack(w, s->j);
  }
}

static void run_shares(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  shared_job *s = argument;
  for (uint32_t task = begin; task < end; task++) run_share(s, s->query->workers[index + 1], task);
}

/* Opens pairs in breadth until there are enough to share; the first of the query's workers keeps what it decides on the
 * way, the others belong to the loop's. */
static void spread_pairs(worker *w, const job *j, size_t wanted) {
  size_t first = 0;
  while (first < w->depth && w->depth - first < wanted && !w->sink.stop) {
    open_one(w, j, ((node_pair *)w->stack.data)[first++]);
  }
  memmove(w->stack.data, (node_pair *)w->stack.data + first, (w->depth - first) * sizeof(node_pair));
  w->depth -= first;
}

static graze_status run_shared(graze_query *q, const job *j, uint32_t threads, uint32_t *workers) {
  worker *first = gz_query_worker(q, 0);
  if (first == NULL) return gz_fail_memory(q->context, sizeof *first);
  gz_worker_start(first, j);
  if (!gz_worker_push(first, 0, 0)) return gz_fail(q->context, GRAZE_ERROR_MEMORY, "out of memory: results of a query");
  spread_pairs(first, j, (size_t)threads * PAIRS_PER_THREAD);
  finish(first, j);
  uint32_t tasks = threads * 4 < first->depth ? threads * 4 : (uint32_t)first->depth;
  *workers = 1 + gz_workers(q->context);
  for (uint32_t k = 1; k < *workers; k++) {
    worker *w = gz_query_worker(q, k);
    if (w == NULL) return gz_fail_memory(q->context, sizeof *w);
    gz_worker_start(w, j);
  }
  shared_job s = {q, j, first->stack.data, (uint32_t)first->depth, tasks};
  gz_parallel_for(q->context, tasks, 1, run_shares, &s);
  for (uint32_t k = 0; k < *workers; k++) {
    if (q->workers[k]->sink.failed) return gz_fail(q->context, GRAZE_ERROR_MEMORY, "out of memory: results of a query");
  }
  return GRAZE_OK;
}

graze_status gz_query_run(graze_query *q, const job *j, uint32_t *workers) {
  uint32_t threads = (uint32_t)gz_parallel_threads(q->context);
  uint64_t size = (uint64_t)j->a.mesh->triangle_count + j->b.mesh->triangle_count;
  *workers = 1;
  if (threads > 1 && j->tree && j->find != GRAZE_FIND_ANY && size >= SERIAL_TRIANGLES && !empty_job(j)) {
    return run_shared(q, j, threads, workers);
  }
  worker *w = gz_query_worker(q, 0);
  return w == NULL ? gz_fail_memory(q->context, sizeof *w) : gz_query_run_single(q, j, w);
}

/* ---- checks ---- */

static graze_status check_pose(const graze_context *context, const graze_pose *pose, const char *which) {
  for (int k = 0; k < 12; k++) {
    if (!isfinite(pose->m[k])) {
      return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "pose of mesh %s: entry %d is not finite", which, k);
    }
  }
  return GRAZE_OK;
}

/* Posed coordinates must be finite; only poses of enormous entries need a look at every vertex. */
static graze_status check_range(const graze_context *context, const side *s, const char *which) {
  double most = 0;
  if (s->identity) return GRAZE_OK;
  for (int k = 0; k < 3; k++) {
    const double *r = s->pose.m + 4 * k;
    double m = s->mesh->header->magnitude;
    most = fmax(most, fabs(r[0]) * m + fabs(r[1]) * m + fabs(r[2]) * m + fabs(r[3]));
  }
  if (most < 0x1p1022) return GRAZE_OK;
  for (uint32_t t = 0; t < s->mesh->triangle_count; t++) {
    double c[9];
    gz_side_corners(s, t, c);
    for (int k = 0; k < 9; k++) {
      if (isfinite(c[k])) continue;
      return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "mesh %s, vertex %u: the posed coordinate overflows", which,
                     s->mesh->triangles[3 * (size_t)t + (size_t)(k / 3)]);
    }
  }
  return GRAZE_OK;
}

graze_status gz_query_side(const graze_query *q, const graze_mesh *mesh, const graze_pose *pose,
                           graze_exactness exactness, const char *which, side *out) {
  const graze_context *context = q->context;
  out->mesh = mesh;
  out->pose = pose != NULL ? *pose : graze_pose_identity();
  out->identity = true;
  if (pose == NULL) return GRAZE_OK;
  graze_status status = check_pose(context, &out->pose, which);
  if (status != GRAZE_OK) return status;
  out->identity = graze_pose_is_identity(&out->pose);
  if (exactness == GRAZE_T0 && !out->identity) {
    return gz_fail(context, GRAZE_ERROR_POSE, "pose of mesh %s: tier T0 takes the identity only", which);
  }
  return check_range(context, out, which);
}

static graze_status read_options(const graze_query *q, const graze_collide_options *options, job *j) {
  graze_collide_options o = options != NULL ? *options : graze_default_collide_options();
  if (o.cookie != OPTIONS_COOKIE || (unsigned)o.find > GRAZE_FIND_ANY || (unsigned)o.exactness > GRAZE_T2) {
    return gz_fail(q->context, GRAZE_ERROR_ARGUMENT, "collide options: not initialised, or a value is unknown");
  }
  memset(j, 0, sizeof *j);
  j->find = o.find;
  j->exactness = o.exactness;
  return GRAZE_OK;
}

/* ---- results ---- */

/* Keys, sorted, become pairs in the same memory, and codes. */
static graze_status decode(graze_query *q, bool coded, uint64_t count) {
  uint64_t *keys = q->keys.data;
  graze_triangle_pair *out = q->sort.data;
  if (coded && !gz_buffer_reserve(q->context, &q->codes, count, 0)) return gz_fail_memory(q->context, count);
  uint8_t *codes = q->codes.data;
  gz_sort_keys(keys, q->sort.data, count);
  for (uint64_t k = 0; k < count && !coded; k++)
    out[k] = (graze_triangle_pair){(uint32_t)(keys[k] >> 32), (uint32_t)keys[k]};
  for (uint64_t k = 0; k < count && coded; k++) {
    out[k] = (graze_triangle_pair){(uint32_t)(keys[k] >> 32), (uint32_t)keys[k] >> CODE_BITS};
    codes[k] = keys[k] & ((1u << CODE_BITS) - 1);
  }
  q->coded = coded;
  return GRAZE_OK;
}

/* All workers' keys, sorted, as public pairs. */
graze_status gz_query_gather(graze_query *q, uint32_t workers, const graze_triangle_pair **pairs) {
  uint64_t count = 0;
  *pairs = NULL;
  q->coded = false;
  for (uint32_t k = 0; k < workers; k++) count += q->workers[k]->sink.key_count;
  if (count == 0) return GRAZE_OK;
  size_t bytes = count * sizeof(uint64_t);
  if (!gz_buffer_reserve(q->context, &q->keys, bytes, 0) || !gz_buffer_reserve(q->context, &q->sort, bytes, 0)) {
    return gz_fail_memory(q->context, bytes);
  }
  uint64_t *keys = q->keys.data;
  count = 0;
  for (uint32_t k = 0; k < workers; k++) {
    const exact_sink *s = &q->workers[k]->sink;
    if (s->key_count > 0) memcpy(keys + count, s->keys.data, s->key_count * sizeof *keys);
    count += s->key_count;
  }
  graze_status status = decode(q, q->workers[0]->sink.coded, count);
  if (status == GRAZE_OK) *pairs = q->sort.data;
  return status;
}

static void collect(graze_query *q, uint32_t workers, graze_collide_result *result) {
  for (uint32_t k = 0; k < workers; k++) {
    counts_add(&result->counts, &q->workers[k]->sink.counts);
    work_add(&result->work, &q->workers[k]->sink.work);
  }
  result->hit = result->counts.triangle_pairs > 0;
}

/* Result of a job of two meshes, or of candidate boxes. */
static graze_status run_collision(graze_query *q, const job *j, graze_collide_result *result) {
  uint32_t workers;
  graze_collide_result r = {0};
  unsigned saved = gz_fp_enter();
  graze_status status = gz_query_run(q, j, &workers);
  if (status == GRAZE_OK && j->find != GRAZE_FIND_COUNT) status = gz_query_gather(q, workers, &r.pairs);
  gz_fp_leave(saved);
  if (status != GRAZE_OK) return status;
  collect(q, workers, &r);
  *result = r;
  return GRAZE_OK;
}

/* ---- with an engine ---- */

/* Of meshes that tell the engine when they change; not for the one triangle of a ray, nor where any hit will do: which
 * one that is, and what was seen before it, is to be the same with every engine. */
static bool ask_engine(const graze_query *q, graze_stage stage, const job *j, uint64_t b, void *question) {
  const graze_engine *engine = q->context->engine;
  if (j->exactness == GRAZE_T2 || j->a.mesh == q->ray || j->find == GRAZE_FIND_ANY) return false;
  if (j->a.mesh->context->engine != engine || j->b.mesh->context->engine != engine) return false;
  return gz_engine_ask(q->context, stage, j->a.mesh->triangle_count, b, question);
}

/* A list of the engine's becomes one of the query's. */
static graze_status copy_pairs(graze_query *q, uint64_t count, const graze_triangle_pair **pairs) {
  size_t bytes = count * sizeof **pairs;
  q->coded = false;
  if (*pairs == NULL || count == 0) return GRAZE_OK;
  if (!gz_buffer_reserve(q->context, &q->sort, bytes, 0)) return gz_fail_memory(q->context, bytes);
  memcpy(q->sort.data, *pairs, bytes);
  *pairs = q->sort.data;
  return GRAZE_OK;
}

/* False: the processor is to do it. */
static bool collide_by_engine(graze_query *q, const job *j, graze_collide_result *result, graze_status *status) {
  graze_collide_result r = {0};
  graze_mesh_question question = {.a = j->a.mesh,
                                  .b = j->b.mesh,
                                  .pose_a = &j->a.pose,
                                  .poses_b = &j->b.pose,
                                  .count = 1,
                                  .find = j->find,
                                  .results = &r};
  if (!ask_engine(q, GRAZE_STAGE_COLLIDE, j, j->b.mesh->triangle_count, &question)) return false;
  *status = copy_pairs(q, r.counts.triangle_pairs, &r.pairs);
  gz_engine_give(q->context);
  if (*status == GRAZE_OK) *result = r;
  return true;
}

static bool poses_by_engine(graze_query *q, const job *j, const graze_pose *poses, uint32_t count,
                            graze_collide_result *results) {
  graze_mesh_question question = {.a = j->a.mesh,
                                  .b = j->b.mesh,
                                  .pose_a = &j->a.pose,
                                  .poses_b = poses,
                                  .count = count,
                                  .find = j->find,
                                  .results = results};
  if (count == 0 || j->exactness != GRAZE_T1) return false; /* T0: they must all be the identity */
  memset(results, 0, count * sizeof *results);
  if (!ask_engine(q, GRAZE_STAGE_POSES, j, (uint64_t)count * j->b.mesh->triangle_count, &question)) return false;
  gz_engine_give(q->context);
  return true;
}

static bool self_by_engine(graze_query *q, const job *j, graze_self_result *result, graze_status *status) {
  graze_self_question question = {.mesh = j->a.mesh, .find = j->find};
  if (!ask_engine(q, GRAZE_STAGE_SELF, j, 0, &question)) return false;
  *status = copy_pairs(q, question.result.self_pairs, &question.result.pairs);
  gz_engine_give(q->context);
  if (*status == GRAZE_OK) *result = question.result;
  return true;
}

graze_status graze_collide_meshes(graze_query *q, const graze_mesh *a, const graze_pose *pose_a, const graze_mesh *b,
                                  const graze_pose *pose_b, const graze_collide_options *options,
                                  graze_collide_result *result) {
  if (q == NULL || a == NULL || b == NULL || result == NULL) return gz_fail_null(q != NULL ? q->context : NULL);
  job j;
  unsigned saved = gz_fp_enter();
  graze_status status = read_options(q, options, &j);
  if (status == GRAZE_OK) status = gz_query_side(q, a, pose_a, j.exactness, "a", &j.a);
  if (status == GRAZE_OK) status = gz_query_side(q, b, pose_b, j.exactness, "b", &j.b);
  if (status == GRAZE_OK && !collide_by_engine(q, &j, result, &status)) {
    gz_job_map(&j);
    status = run_collision(q, &j, result);
  }
  gz_fp_leave(saved);
  return status;
}

/* ---- many poses ---- */

typedef struct pose_batch {
  graze_query *query;
  const job *job;
  const graze_pose *poses;
  uint32_t count;
  bool shared; /* among threads */
  graze_collide_result *results;
  _Atomic int status;
} pose_batch;

static void run_poses(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  pose_batch *p = argument;
  worker *w = p->query->workers[p->shared ? index : 0];
  for (uint32_t k = begin; k < end && p->status == GRAZE_OK; k++) {
    job j = *p->job;
    graze_status status = gz_query_side(p->query, j.b.mesh, &p->poses[k], j.exactness, "b", &j.b);
    if (status == GRAZE_OK) {
      gz_job_map(&j);
      /* The sweep's memory is the query's: such a job is left to the calling thread. */
      if (!j.tree && p->shared) continue;
      status = gz_query_run_single(p->query, &j, w);
    }
    if (status != GRAZE_OK) {
      p->status = (int)status;
      return;
    }
    graze_collide_result *r = &p->results[k];
    memset(r, 0, sizeof *r);
    r->counts = w->sink.counts;
    r->work = w->sink.work;
    r->hit = r->counts.triangle_pairs > 0;
  }
}

/* The poses that the tasks left because they need a sweep. */
static graze_status run_sweeps(pose_batch *p) {
  for (uint32_t k = 0; k < p->count; k++) {
    job j = *p->job;
    graze_status status = gz_query_side(p->query, j.b.mesh, &p->poses[k], j.exactness, "b", &j.b);
    if (status != GRAZE_OK) return status;
    gz_job_map(&j);
    if (j.tree) continue;
    worker *w = p->query->workers[0];
    status = gz_query_run_single(p->query, &j, w);
    if (status != GRAZE_OK) return status;
    memset(&p->results[k], 0, sizeof p->results[k]);
    p->results[k].counts = w->sink.counts;
    p->results[k].work = w->sink.work;
    p->results[k].hit = w->sink.counts.triangle_pairs > 0;
  }
  return GRAZE_OK;
}

graze_status graze_collide_poses(graze_query *q, const graze_mesh *a, const graze_pose *pose_a, const graze_mesh *b,
                                 const graze_pose *poses_b, uint32_t count, const graze_collide_options *options,
                                 graze_collide_result *results) {
  if (q == NULL || a == NULL || b == NULL || (count > 0 && (poses_b == NULL || results == NULL))) {
    return gz_fail_null(q != NULL ? q->context : NULL);
  }
  job j;
  unsigned saved = gz_fp_enter();
  graze_status status = read_options(q, options, &j);
  if (status == GRAZE_OK && j.find == GRAZE_FIND_ALL) j.find = GRAZE_FIND_COUNT;
  if (status == GRAZE_OK) status = gz_query_side(q, a, pose_a, j.exactness, "a", &j.a);
  j.b.mesh = b;
  if (status == GRAZE_OK && poses_by_engine(q, &j, poses_b, count, results)) {
    gz_fp_leave(saved);
    return GRAZE_OK;
  }
  uint32_t threads = (uint32_t)gz_parallel_threads(q->context), grain = count / (threads * 16) + 1;
  uint32_t workers = threads > 1 ? gz_workers(q->context) : 1;
  for (uint32_t k = 0; k < workers && status == GRAZE_OK; k++) {
    if (gz_query_worker(q, k) == NULL) status = gz_fail_memory(q->context, sizeof(worker));
  }
  if (status == GRAZE_OK && count > 0) {
    pose_batch p = {.query = q, .job = &j, .poses = poses_b, .count = count, .shared = threads > 1, .results = results};
    gz_parallel_for(q->context, count, grain, run_poses, &p);
    status = (graze_status)p.status;
    if (status == GRAZE_OK && p.shared) status = run_sweeps(&p);
  }
  gz_fp_leave(saved);
  return status;
}

/* ---- a mesh against itself ---- */

static graze_status self_job(const graze_query *q, const graze_mesh *mesh, const graze_collide_options *options,
                             job *j) {
  graze_status status = read_options(q, options, j);
  if (status != GRAZE_OK) return status;
  j->self = true;
  j->exactness = GRAZE_T0;
  status = gz_query_side(q, mesh, NULL, GRAZE_T0, "a", &j->a);
  j->b = j->a;
  gz_job_map(j);
  return status;
}

graze_status graze_collide_self(graze_query *q, const graze_mesh *mesh, const graze_collide_options *options,
                                graze_self_result *result) {
  if (q == NULL || mesh == NULL || result == NULL) return gz_fail_null(q != NULL ? q->context : NULL);
  job j;
  uint32_t workers = 0;
  graze_self_result r = {0};
  unsigned saved = gz_fp_enter();
  graze_status status = self_job(q, mesh, options, &j);
  if (status == GRAZE_OK && self_by_engine(q, &j, result, &status)) {
    gz_fp_leave(saved);
    return status;
  }
  /* The search for any hit may end at once: it does without fans. */
  if (status == GRAZE_OK && j.tree && j.find != GRAZE_FIND_ANY && !gz_fans_find(q->context, mesh, &q->fans, &j.names)) {
    status = gz_fail(q->context, GRAZE_ERROR_MEMORY, "out of memory: fans of a self query");
  }
  if (status == GRAZE_OK) status = gz_query_run(q, &j, &workers);
  if (status == GRAZE_OK && j.find != GRAZE_FIND_COUNT) status = gz_query_gather(q, workers, &r.pairs);
  gz_fp_leave(saved);
  if (status != GRAZE_OK) return status;
  for (uint32_t k = 0; k < workers; k++) {
    const graze_self_result found = sink_self(&q->workers[k]->sink);
    self_add(&r, &found);
  }
  *result = r;
  return GRAZE_OK;
}

graze_status graze_collide_self_boxes(graze_query *q, const graze_mesh *mesh, const graze_collide_options *options,
                                      graze_collide_result *result) {
  if (q == NULL || mesh == NULL || result == NULL) return gz_fail_null(q != NULL ? q->context : NULL);
  job j;
  unsigned saved = gz_fp_enter();
  graze_status status = self_job(q, mesh, options, &j);
  gz_fp_leave(saved);
  if (status != GRAZE_OK) return status;
  if (mesh->header->volumes != GRAZE_VOLUMES_ALIGNED) {
    return gz_fail(q->context, GRAZE_ERROR_UNSUPPORTED, "candidate boxes need a mesh with aligned volumes");
  }
  j.boxes_only = true;
  return run_collision(q, &j, result);
}
