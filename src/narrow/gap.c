/* The distance of two meshes, and which of their triangles are nearer than a limit.
 *
 * All pairs that a search leaves (gap_search.c) are decided exactly. Rounding is monotone: the least of the rounded
 * distances is the rounded least distance, so no two exact ones are ever compared.
 */
#include "narrow/gap.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/extremes.h"
#include "base/parallel.h"
#include "exact/near.h"
#include "graze/distance.h"
#include "narrow/near.h"
#include "narrow/relate.h"

enum { OPTIONS_COOKIE = 0x67726F32 };

/* ---- the nearest pair ---- */

/* A first upper bound: the last nearest pair, where it is now. */
static void try_last(const graze_query *q, worker *w) {
  exact_sink *s = &w->sink;
  graze_triangle_pair last = q->nearest.pair;
  double a[9], b[9];
  if (q->nearest.a != s->a->mesh || q->nearest.b != s->b->mesh) return;
  if (w->gap.error > 0 || w->gap.share > 0) return; /* the answer would depend on it */
  if (last.a >= s->a->mesh->triangle_count || last.b >= s->b->mesh->triangle_count) return;
  gz_side_corners(s->a, last.a, a);
  gz_side_corners(s->b, last.b, b);
  gz_sink_put(s, last.a, last.b, a, b);
  gz_near_flush(w);
}

static int compare_numbers(const open_pair *x, const open_pair *y) {
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return (x->second > y->second) - (x->second < y->second);
}

/* The sign of the gap less d: a difference that is rounded compares as the exact one, unless it is d. */
static int compare_gap(const boxes_gap *gap, double d) {
  const double by = gap->rounded == d ? gap->rest : gap->rounded - d;
  return (by > 0) - (by < 0);
}

/* Whether the pair is known to round to more than `distance` or, where `or_same`, to as much. */
static bool is_beyond(const near_pair *pair, double distance, bool or_same) {
  if (!(distance > 0) || !(distance < 0x1p1000)) return false;
  double beside = or_same ? nextafter(distance, 0) : nextafter(distance, (double)INFINITY);
  return gz_near_beyond(pair, distance, 0.5 * (beside - distance));
}

/* The distance of the pair, rounded: of a flush one it is known. */
static double find_distance(worker *w, const open_pair *o, near_pair *pair) {
  if (gz_near_is_flush(&w->gap, o)) return o->gap.rounded;
  w->sink.work.exact_tests++;
  return gz_near_distance(pair);
}

/* Rounds the distance of the pair, unless it is of no use: above *distance, or the same where `best` comes before. The
 * gap of the boxes tells of flush faces along the axes. */
static bool improves(worker *w, const open_pair *o, const open_pair *best, double *distance) {
  double corners[18];
  near_pair pair;
  const bool first = best == NULL || compare_numbers(o, best) < 0;
  if (best != NULL && (first ? o->gap.rounded > *distance : o->gap.rounded >= *distance)) return false;
  gz_near_start_pair(w, o, corners, &pair);
  if (best != NULL && is_beyond(&pair, *distance, !first)) return false;
  const double d = find_distance(w, o, &pair);
  if (d > *distance || (d == *distance && !first)) return false;
  *distance = d;
  return true;
}

static bool is_below(worker *w, const open_pair *o, double limit) {
  return gz_near_is_flush(&w->gap, o) ? compare_gap(&o->gap, limit) < 0 : gz_near_is_nearer(w, o, limit);
}

/* Of two open pairs that which is likely to be nearest: the flush one, whose distance is known, or that with the least
 * upper bound. */
static const open_pair *choose_likely(const gap_search *g, const open_pair *a, const open_pair *b) {
  if (gz_near_is_flush(g, a) || gz_near_is_flush(g, b)) return gz_near_is_flush(g, a) ? a : b;
  return b->upper < a->upper ? b : a;
}

/* Of all open pairs the one with the least rounded distance below the limit, and the lowest numbers; NULL: none. Of
 * many pairs that are equally near the lowest is soon met if the lowest of all is asked early. */
static const open_pair *choose_nearest(worker *w, double limit, double *distance) {
  gap_search *g = &w->gap;
  gz_near_sieve(g);
  if (g->open_count == 0) return NULL;
  const open_pair *open = g->open.data, *best = NULL, *likely = open, *lowest = open;
  for (size_t i = 1; i < g->open_count; i++) {
    likely = choose_likely(g, likely, &open[i]);
    lowest = compare_numbers(&open[i], lowest) < 0 ? &open[i] : lowest;
  }
  *distance = limit;
  for (size_t i = 0; i < g->open_count + 2; i++) {
    const open_pair *o = i == 0 ? likely : i == 1 ? lowest : &open[i - 2];
    if ((i > 0 && o == likely) || (i > 1 && o == lowest)) continue;
    if (best != NULL && compare_numbers(o, best) == 0) continue;
    if (o->lower > *distance || !improves(w, o, best, distance)) continue;
    if (*distance == limit && !(isinf(limit) || is_below(w, o, limit))) continue;
    best = o;
  }
  return best;
}

/* With the points of a pair whose rounded distance is known. Returns the sign of the exact one less it. */
static int report_nearest(worker *w, const open_pair *o, double distance, graze_distance_result *r) {
  double corners[18];
  near_pair pair;
  gz_near_start_pair(w, o, corners, &pair);
  r->found = true;
  r->triangles = (graze_triangle_pair){o->first, o->second};
  if (distance > 0)
    gz_near_witness_at(&pair, distance, &r->nearest);
  else
    gz_near_witness(&pair, &r->nearest);
  if (isinf(distance)) return -1;
  return gz_near_is_flush(&w->gap, o) ? compare_gap(&o->gap, distance) : gz_near_compare(&pair, distance);
}

/* Where the pair's distance less d may have a lesser sign: its sign, else `sign`. */
static int find_lesser(worker *w, const open_pair *o, double d, int sign) {
  double corners[18];
  near_pair pair;
  if (compare_gap(&o->gap, d) >= sign) return sign;
  gz_near_start_pair(w, o, corners, &pair);
  if (is_beyond(&pair, d, false)) return sign;
  w->sink.work.exact_tests++;
  const int own = gz_near_compare(&pair, d);
  return own < sign ? own : sign;
}

/* The doubles around the least distance. That of the pair that is told has the given sign, less what it rounds to; one
 * of those that round to the same may be nearer. */
static void bracket(worker *w, const open_pair *told, int sign, graze_distance_result *r) {
  const open_pair *open = w->gap.open.data;
  const double d = r->lower = r->upper = r->nearest.distance;
  for (size_t i = 0; i < w->gap.open_count && sign >= 0; i++) {
    if (&open[i] != told && open[i].lower <= d) sign = find_lesser(w, &open[i], d, sign);
  }
  if (sign < 0) r->lower = nextafter(d, 0);
  if (sign > 0) r->upper = nextafter(d, (double)INFINITY);
}

/* ---- meshes that meet ---- */

/* The lowest pair that meets; of several distances of 0 it is the first. */
static graze_status report_meeting(graze_query *q, const job *j, graze_distance_result *r) {
  job hits = *j;
  uint32_t workers;
  const graze_triangle_pair *pairs = NULL;
  hits.near = false;
  hits.find = GRAZE_FIND_ALL;
  graze_status status = gz_query_run(q, &hits, &workers);
  if (status == GRAZE_OK) status = gz_query_gather(q, workers, &pairs);
  if (status != GRAZE_OK) return status;
  worker *w = q->workers[0];
  report_nearest(w, &(open_pair){0, (double)INFINITY, pairs[0].a, pairs[0].b, NEAR_NOWHERE, {.rounded = 0}}, 0, r);
  r->lower = r->upper = 0;
  return GRAZE_OK;
}

/* ---- queries ---- */

static graze_status out_of_memory(const graze_query *q) {
  return gz_fail(q->context, GRAZE_ERROR_MEMORY, "out of memory: results of a distance query");
}

static graze_status find_nearest(graze_query *q, const job *j, graze_distance_result *r) {
  worker *w = gz_query_worker(q, 0);
  if (w == NULL) return gz_fail_memory(q->context, sizeof *w);
  if (j->a.mesh->triangle_count == 0 || j->b.mesh->triangle_count == 0 || !(j->limit > 0)) return GRAZE_OK;
  gz_worker_start(w, j);
  try_last(q, w);
  if (!w->sink.stop && j->tree) gz_near_search(w);
  if (!w->sink.stop && !j->tree) gz_near_all(w);
  if (w->sink.failed) return out_of_memory(q);
  double distance;
  const open_pair *nearest = w->gap.meet ? NULL : choose_nearest(w, j->limit, &distance);
  if (nearest != NULL) bracket(w, nearest, report_nearest(w, nearest, distance, r), r);
  if (nearest != NULL && w->gap.relaxed)
    r->lower = smaller(r->lower, gz_near_least_wanted(&w->gap, w->gap.most) * (1 - 0x1p-50));
  r->work = w->sink.work;
  graze_status status = w->gap.meet ? report_meeting(q, j, r) : GRAZE_OK;
  if (status != GRAZE_OK || !r->found) return status;
  q->nearest.a = j->a.mesh;
  q->nearest.b = j->b.mesh;
  q->nearest.pair = r->triangles;
  return GRAZE_OK;
}

graze_status gz_query_gap(graze_query *q, const side *a, const side *b, double limit, double enough, double *least,
                          graze_work *work) {
  job j = {.a = *a, .b = *b, .near = true, .limit = limit, .find = GRAZE_FIND_ANY, .exactness = GRAZE_T1};
  worker *w = gz_query_worker(q, 0);
  *least = limit;
  if (w == NULL) return gz_fail_memory(q->context, sizeof *w);
  if (a->mesh->triangle_count == 0 || b->mesh->triangle_count == 0) return GRAZE_OK;
  gz_job_map(&j);
  gz_worker_start(w, &j);
  w->gap.lowest = false; /* all lower bounds count */
  if (j.tree) {
    const double own = enough / w->map.growth;
    if (own > 1e-15 && own < 1e15) w->gap.far2 = (float)(own * own * (1 + 0x1p-12));
    gz_near_search(w);
    const double passed = sqrt((double)w->gap.passed2) * w->map.growth * (1 - 0x1p-20);
    *least = fmin(limit, passed);
  } else {
    gz_near_all(w);
  }
  if (w->sink.failed) return out_of_memory(q);
  const open_pair *open = w->gap.open.data;
  for (size_t i = 0; i < w->gap.open_count; i++) *least = fmin(*least, open[i].lower);
  if (w->gap.meet) *least = 0;
  work_add(work, &w->sink.work);
  return GRAZE_OK;
}

void gz_query_forget_nearest(graze_query *q) {
  q->nearest.a = q->nearest.b = NULL;
}

static graze_status count_near(graze_query *q, job *j, graze_find find, graze_distance_result *r) {
  uint32_t workers;
  if (!(j->limit > 0)) return GRAZE_OK;
  j->find = find;
  graze_status status = gz_query_run(q, j, &workers);
  if (status == GRAZE_OK && find == GRAZE_FIND_ALL) status = gz_query_gather(q, workers, &r->pairs);
  for (uint32_t k = 0; k < workers && status == GRAZE_OK; k++) {
    const exact_sink *s = &q->workers[k]->sink;
    r->near_pairs += s->counts.triangle_pairs;
    r->near_hash += s->counts.hash;
    work_add(&r->work, &s->work);
  }
  return status;
}

graze_status gz_mesh_list_near(graze_query *q, const graze_mesh *a, const graze_pose *pose_a, const graze_mesh *b,
                               const graze_pose *pose_b, double limit, const graze_triangle_pair **pairs,
                               uint64_t *count) {
  job j = {.near = true, .limit = limit, .find = GRAZE_FIND_ALL, .exactness = GRAZE_T1};
  worker *w = gz_query_worker(q, 0);
  if (w == NULL) return gz_fail_memory(q->context, sizeof *w);
  graze_status status = gz_query_side(q, a, pose_a, GRAZE_T1, "a", &j.a);
  if (status == GRAZE_OK) status = gz_query_side(q, b, pose_b, GRAZE_T1, "b", &j.b);
  if (status != GRAZE_OK) return status;
  gz_job_map(&j);
  status = gz_query_run_single(q, &j, w);
  if (status == GRAZE_OK) status = gz_query_gather(q, 1, pairs);
  *count = w->sink.counts.triangle_pairs;
  return status;
}

graze_status gz_query_near(graze_query *q, const side *a, const side *b, double limit, graze_exactness exactness,
                           graze_triangle_pair **pairs, uint64_t *count, graze_work *work) {
  job j = {.a = *a, .b = *b, .near = true, .limit = limit, .exactness = exactness};
  graze_distance_result r = {.near_pairs = 0};
  gz_job_map(&j);
  graze_status status = count_near(q, &j, GRAZE_FIND_ALL, &r);
  *pairs = r.near_pairs > 0 ? q->sort.data : NULL; /* where gz_query_gather puts them */
  *count = r.near_pairs;
  work_add(work, &r.work);
  return status;
}

graze_status gz_query_nearest(graze_query *q, const side *a, const side *b, double limit, graze_exactness exactness,
                              graze_distance_result *result) {
  job j = {.a = *a, .b = *b, .near = true, .limit = limit, .find = GRAZE_FIND_ANY, .exactness = exactness};
  *result = (graze_distance_result){.lower = limit, .upper = (double)INFINITY};
  result->nearest.distance = (double)INFINITY;
  gz_job_map(&j);
  return find_nearest(q, &j, result);
}

graze_distance_options graze_default_distance_options(void) {
  return (graze_distance_options){
      .limit = (double)INFINITY, .near_pairs = GRAZE_FIND_ANY, .exactness = GRAZE_T1, .cookie = OPTIONS_COOKIE};
}

static graze_status read_options(const graze_query *q, const graze_distance_options *options, job *j,
                                 graze_find *find) {
  graze_distance_options o = options != NULL ? *options : graze_default_distance_options();
  if (o.cookie != OPTIONS_COOKIE || (unsigned)o.near_pairs > GRAZE_FIND_ANY || (unsigned)o.exactness > GRAZE_T2) {
    return gz_fail(q->context, GRAZE_ERROR_ARGUMENT, "distance options: not initialised, or a value is unknown");
  }
  if (!(o.error >= 0) || !isfinite(o.error) || !(o.share >= 0) || !(o.share < 1)) {
    return gz_fail(q->context, GRAZE_ERROR_ARGUMENT,
                   "distance options: error and share must be at least 0, share below 1");
  }
  if (!(o.limit >= 0)) return gz_fail(q->context, GRAZE_ERROR_ARGUMENT, "distance options: limit must be at least 0");
  if (o.near_pairs != GRAZE_FIND_ANY && isinf(o.limit)) {
    return gz_fail(q->context, GRAZE_ERROR_ARGUMENT, "distance options: near pairs need a finite limit");
  }
  memset(j, 0, sizeof *j);
  j->near = true;
  j->limit = o.limit;
  j->find = GRAZE_FIND_ANY;
  j->exactness = o.exactness;
  j->error = o.error;
  j->share = o.share;
  *find = o.near_pairs;
  return GRAZE_OK;
}

graze_status graze_mesh_distance(graze_query *q, const graze_mesh *a, const graze_pose *pose_a, const graze_mesh *b,
                                 const graze_pose *pose_b, const graze_distance_options *options,
                                 graze_distance_result *result) {
  if (q == NULL || a == NULL || b == NULL || result == NULL) return gz_fail_null(q != NULL ? q->context : NULL);
  job j;
  graze_find find = GRAZE_FIND_ANY;
  unsigned saved = gz_fp_enter();
  graze_status status = read_options(q, options, &j, &find);
  if (status == GRAZE_OK) status = gz_query_side(q, a, pose_a, j.exactness, "a", &j.a);
  if (status == GRAZE_OK) status = gz_query_side(q, b, pose_b, j.exactness, "b", &j.b);
  graze_distance_result r = {.lower = j.limit, .upper = (double)INFINITY};
  r.nearest.distance = (double)INFINITY;
  if (status == GRAZE_OK) {
    gz_job_map(&j);
    status = find_nearest(q, &j, &r);
  }
  if (status == GRAZE_OK && find != GRAZE_FIND_ANY && r.found) status = count_near(q, &j, find, &r);
  gz_fp_leave(saved);
  if (status == GRAZE_OK) *result = r;
  return status;
}
