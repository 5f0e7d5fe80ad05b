/* The distance of two meshes, and which of their triangles are nearer than a limit.
 *
 * Both traverse the two hierarchies with lower bounds of the distances of boxes. For the distance the nearest pair of
 * boxes is opened first, and pairs that are farther apart than two triangles are known to be are left out; where the
 * triangles of two bottom nodes meet them, bounds from blocks (exact/near.h) keep those that may be the nearest. All
 * that remain at the end are decided exactly. Rounding is monotone: the least of the rounded distances is the rounded
 * least distance, so no two exact ones are ever compared.
 *
 * E. Larsen, S. Gottschalk, M. Lin, D. Manocha, "Fast Proximity Queries with Swept Sphere Volumes", 1999, for search
 * and the last nearest pair as the first bound.
 */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/extremes.h"
#include "base/parallel.h"
#include "exact/near.h"
#include "exact/tritri_batch.h"
#include "graze/distance.h"
#include "narrow/query.h"
#include "narrow/relate.h"

enum { OPTIONS_COOKIE = 0x67726F32, WAITING = 16, SIEVE_FIRST = 256 };

/* ---- what is known ---- */

/* What is nearer than this matters, if the answer may be off. */
static double least_wanted(const gap_search *g, double most) {
  return larger((most - g->error) * (1 - g->share), 0);
}

/* The bounds of boxes are in floats, with an error of their own that boxes_kernels.c allows for: 2^-12 is for the
 * rounding of this, and the least float for what is below. */
void gz_near_set_most(worker *w, double most) {
  double own = (w->gap.relaxed ? least_wanted(&w->gap, most) : most) / w->map.growth;
  w->gap.most = most;
  w->gap.most2 = (float)fmin(own * own * (1 + 0x1p-12) + 1e-37, 1e38);
  if (own > 1e18) w->gap.most2 = (float)INFINITY;
}

void gz_near_start_search(worker *w, const job *j) {
  gap_search *g = &w->gap;
  g->relaxed = false;
  if (!j->near) return;
  const double *slack = w->sink.slack;
  g->slack = 1.8 * fmax(fmax(slack[0], slack[1]), slack[2]);
  g->meet = false;
  g->node_count = g->open_count = 0;
  g->sieve_at = SIEVE_FIRST;
  g->error = j->error;
  g->share = j->share;
  g->far2 = g->passed2 = (float)INFINITY;
  gz_near_set_most(w, j->limit);
}

void gz_near_release(worker *w) {
  gz_buffer_release(w->context, &w->gap.nodes);
  gz_buffer_release(w->context, &w->gap.open);
}

static void give_up(worker *w) {
  w->sink.failed = w->sink.stop = true;
}

/* ---- triangles ---- */

/* A pair, ready for exact questions. Corners are stored in `corners`. */
static void start_pair(const worker *w, const open_pair *o, double corners[18], near_pair *pair) {
  const side *a = w->sink.a, *b = w->sink.b;
  if (!w->sink.real) {
    gz_side_corners(a, o->first, corners);
    gz_side_corners(b, o->second, corners + 9);
    gz_near_start_known(pair, corners, NULL, corners + 9, NULL, o->lower, o->upper);
    pair->place = (int)o->place;
    return;
  }
  mesh_corners(a->mesh, o->first, corners);
  mesh_corners(b->mesh, o->second, corners + 9);
  gz_near_start_known(pair, corners, &a->pose, corners + 9, &b->pose, o->lower, o->upper);
}

/* How far the boxes of two triangles are apart on the axis where that is most, rounded. */
static double boxes_gap(const double *a, const double *b) {
  double most = -(double)INFINITY;
  for (int k = 0; k < 3; k++) {
    double low_a = smaller(smaller(a[k], a[3 + k]), a[6 + k]), high_a = larger(larger(a[k], a[3 + k]), a[6 + k]);
    double low_b = smaller(smaller(b[k], b[3 + k]), b[6 + k]), high_b = larger(larger(b[k], b[3 + k]), b[6 + k]);
    most = larger(larger(low_a - high_b, low_b - high_a), most);
  }
  return most;
}

static bool is_nearer(worker *w, const open_pair *o, double limit) {
  double corners[18];
  near_pair pair;
  w->sink.work.exact_tests++;
  start_pair(w, o, corners, &pair);
  return gz_near_below(&pair, limit);
}

static bool do_meet(const worker *w, const open_pair *o) {
  double corners[18];
  near_pair pair;
  start_pair(w, o, corners, &pair);
  return gz_near_meet(&pair);
}

/* Leaves out what is farther than the least upper bound. */
void gz_near_sieve(gap_search *g) {
  open_pair *open = g->open.data;
  size_t kept = 0;
  for (size_t i = 0; i < g->open_count; i++) {
    if (open[i].lower <= g->most) open[kept++] = open[i];
  }
  g->open_count = kept;
  g->sieve_at = 2 * kept + SIEVE_FIRST;
}

void gz_near_keep(worker *w, const open_pair *o) {
  gap_search *g = &w->gap;
  if (g->open_count >= g->sieve_at) gz_near_sieve(g);
  size_t bytes = (g->open_count + 1) * sizeof *o;
  if (bytes > g->open.bytes && !gz_buffer_reserve(w->context, &g->open, bytes + 4096, g->open_count * sizeof *o)) {
    give_up(w);
    return;
  }
  ((open_pair *)g->open.data)[g->open_count++] = *o;
}

/* Whether a pair of the block that bounds do not separate meets. Those that do not get the least lower bound there is:
 * their distance is above 0. */
static bool find_meeting(worker *w, double *lower) {
  exact_sink *s = &w->sink;
  uint8_t codes[TRITRI_BLOCK];
  bool asked = false;
  for (unsigned i = 0; i < s->count; i++) asked = asked || lower[i] == 0;
  if (!asked) return false;
  if (!s->real) s->decide(&s->block, s->count, true, codes);
  for (unsigned i = 0; i < s->count; i++) {
    if (lower[i] > 0) continue;
    const open_pair o = {0, (double)INFINITY, s->first[i], s->second[i], NEAR_NOWHERE};
    if (s->real ? do_meet(w, &o) : codes[i] != 0) return true;
    lower[i] = 0x1p-1074;
  }
  return false;
}

static void take_distances(worker *w, double *lower, const double *upper, const double *place) {
  exact_sink *s = &w->sink;
  gap_search *g = &w->gap;
  double least = g->most;
  if (find_meeting(w, lower)) {
    g->meet = s->stop = true;
    return;
  }
  for (unsigned i = 0; i < s->count; i++) least = fmin(least, upper[i]);
  if (least < g->most) {
    g->relaxed = g->error > 0 || g->share > 0;
    gz_near_set_most(w, least);
  }
  for (unsigned i = 0; i < s->count && !s->stop; i++) {
    if (lower[i] <= g->most) gz_near_keep(w, &(open_pair){lower[i], upper[i], s->first[i], s->second[i], place[i]});
  }
}

static void take_near(worker *w, const double *lower, const double *upper) {
  exact_sink *s = &w->sink;
  for (unsigned i = 0; i < s->count && !s->stop; i++) {
    const open_pair o = {lower[i], upper[i], s->first[i], s->second[i], NEAR_NOWHERE};
    if (lower[i] >= w->gap.most) continue;
    if (!(upper[i] < w->gap.most) && !is_nearer(w, &o, w->gap.most)) continue;
    s->counts.triangle_pairs++;
    gz_sink_hit(s, s->first[i], s->second[i]);
  }
}

void gz_near_flush(worker *w) {
  exact_sink *s = &w->sink;
  double lower[TRITRI_BLOCK], upper[TRITRI_BLOCK], place[TRITRI_BLOCK];
  if (s->count > 0 && !s->stop) {
    s->work.triangle_tests += s->count;
    gz_sink_fill(s);
    gz_near_block_best()(&s->block, s->count, lower, upper, place);
    for (unsigned i = 0; i < s->count && s->real; i++) {
      lower[i] = fmax(lower[i] * (1 - 0x1p-52) - w->gap.slack, 0);
      upper[i] = (upper[i] + w->gap.slack) * (1 + 0x1p-51);
    }
    if (s->find == GRAZE_FIND_ANY)
      take_distances(w, lower, upper, place);
    else
      take_near(w, lower, upper);
  }
  s->count = 0;
}

/* ---- nodes ---- */

static void add_triangles(worker *w, uint32_t a, uint32_t b, uint64_t mask) {
  while (mask != 0 && !w->sink.stop) {
    mask = gz_sink_put_mask(&w->sink, a, b, mask);
    if (mask != 0 || w->sink.count >= WAITING) gz_near_flush(w);
  }
}

/* Leaves out pairs of boxes that are far enough from each other. */
static uint64_t pass_far(gap_search *g, uint64_t mask, const float least2[64]) {
  for (uint64_t rest = g->far2 < (float)INFINITY ? mask : 0; rest != 0; rest &= rest - 1) {
    int bit = __builtin_ctzll(rest);
    if (!(least2[bit] >= g->far2)) continue;
    if (least2[bit] < g->passed2) g->passed2 = least2[bit];
    mask &= ~((uint64_t)1 << bit);
  }
  return mask;
}

/* The pairs of nodes to go on with below this one, each with the least of what its boxes come to; how many. Where both
 * are bottom nodes there are none: their triangles wait to be decided. */
static int near_children(worker *w, uint32_t in_a, uint32_t in_b, near_nodes next[64]) {
  const bvh_node *a = &w->sink.a->mesh->nodes[in_a], *b = &w->sink.b->mesh->nodes[in_b];
  float least2[64];
  int8_t at[64];
  int count = 0;
  w->sink.work.node_pairs++;
  uint64_t mask = pass_far(&w->gap, gz_box_gaps_best()(a, b, &w->map, w->gap.most2, least2), least2);
  if (a->bottom && b->bottom) {
    add_triangles(w, in_a, in_b, mask);
    return 0;
  }
  bool enter_a = enters_first(a, b, 1, w->size_b), enter_b = enters_first(b, a, w->size_b, 1);
  memset(at, -1, sizeof at);
  for (; mask != 0; mask &= mask - 1) {
    int bit = __builtin_ctzll(mask), i = bit & 7, j = bit >> 3, place = (enter_a ? i : 0) + (enter_b ? 8 * j : 0);
    if (at[place] < 0) {
      at[place] = (int8_t)count;
      next[count++] = (near_nodes){enter_a ? a->child[i] : in_a, enter_b ? b->child[j] : in_b, least2[bit]};
    }
    near_nodes *n = &next[at[place]];
    n->least2 = fminf(n->least2, least2[bit]);
  }
  return count;
}

void gz_near_open(worker *w, node_pair pair) {
  near_nodes next[64];
  int count = near_children(w, pair.a, pair.b, next);
  for (int i = 0; i < count; i++) {
    if (!gz_worker_push(w, next[i].a, next[i].b)) return;
  }
}

void gz_near_push(worker *w, near_nodes *next, int count) {
  gap_search *g = &w->gap;
  for (int i = 1; i < count; i++) {
    near_nodes x = next[i];
    int k = i;
    for (; k > 0 && next[k - 1].least2 < x.least2; k--) next[k] = next[k - 1];
    next[k] = x;
  }
  size_t bytes = (g->node_count + (size_t)count) * sizeof *next;
  if (bytes > g->nodes.bytes && !gz_buffer_reserve(w->context, &g->nodes, bytes + 4096, g->node_count * sizeof *next)) {
    give_up(w);
    return;
  }
  memcpy((near_nodes *)g->nodes.data + g->node_count, next, (size_t)count * sizeof *next);
  g->node_count += (size_t)count;
}

static void search_nodes(worker *w) {
  gap_search *g = &w->gap;
  gz_near_push(w, &(near_nodes){0, 0, 0}, 1);
  while (g->node_count > 0 && !w->sink.stop) {
    near_nodes pair = ((near_nodes *)g->nodes.data)[--g->node_count];
    if (pair.least2 > g->most2) continue;
    near_nodes next[64];
    gz_near_push(w, next, near_children(w, pair.a, pair.b, next));
  }
  gz_near_flush(w);
}

/* ---- without hierarchies: every pair, unless its boxes are too far from each other ---- */

void gz_near_all(worker *w) {
  exact_sink *s = &w->sink;
  double a[9], b[9];
  for (uint32_t i = 0; i < s->a->mesh->triangle_count; i++) {
    gz_side_corners(s->a, i, a);
    for (uint32_t k = 0; k < s->b->mesh->triangle_count && !s->stop; k++) {
      gz_side_corners(s->b, k, b);
      if (!s->real && boxes_gap(a, b) * (1 - 0x1p-50) > w->gap.most) continue;
      gz_sink_put(s, i, k, a, b);
      if (s->count == TRITRI_BLOCK) gz_near_flush(w);
    }
  }
  gz_near_flush(w);
}

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
  w->gap.open_count = 0; /* the search will come to it */
}

static int compare_numbers(const open_pair *x, const open_pair *y) {
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return (x->second > y->second) - (x->second < y->second);
}

/* Whether the pair is known to round to more than `distance` or, where `or_same`, to as much. The gap of the boxes,
 * which tells of flush faces along the axes, is rounded once and never more than the distance. */
static bool is_beyond(const near_pair *pair, double distance, bool or_same) {
  if (pair->points.pose[0] == NULL) {
    double gap = boxes_gap(&pair->points.rounded[0][0], &pair->points.rounded[3][0]);
    if (or_same ? gap >= distance : gap > distance) return true;
  }
  if (!(distance > 0) || !(distance < 0x1p1000)) return false;
  double beside = or_same ? nextafter(distance, 0) : nextafter(distance, (double)INFINITY);
  return gz_near_beyond(pair, distance, 0.5 * (beside - distance));
}

/* Rounds the distance of the pair, unless it is of no use: above *distance, or the same where `best` comes before. */
static bool improves(worker *w, const open_pair *o, const open_pair *best, double *distance) {
  double corners[18];
  near_pair pair;
  const bool first = best == NULL || compare_numbers(o, best) < 0;
  start_pair(w, o, corners, &pair);
  if (best != NULL && is_beyond(&pair, *distance, !first)) return false;
  w->sink.work.exact_tests++;
  double d = gz_near_distance(&pair);
  if (d > *distance || (d == *distance && !first)) return false;
  *distance = d;
  return true;
}

/* Of all open pairs the one with the least rounded distance below the limit, and the lowest numbers; NULL: none. Of
 * many pairs that are equally near the lowest is soon met if the lowest of all is asked early. */
static const open_pair *choose_nearest(worker *w, double limit, double *distance) {
  gap_search *g = &w->gap;
  gz_near_sieve(g);
  if (g->open_count == 0) return NULL;
  const open_pair *open = g->open.data, *best = NULL, *likely = open, *lowest = open;
  for (size_t i = 1; i < g->open_count; i++) {
    likely = open[i].upper < likely->upper ? &open[i] : likely;
    lowest = compare_numbers(&open[i], lowest) < 0 ? &open[i] : lowest;
  }
  *distance = limit;
  for (size_t i = 0; i < g->open_count + 2; i++) {
    const open_pair *o = i == 0 ? likely : i == 1 ? lowest : &open[i - 2];
    if ((i > 0 && o == likely) || (i > 1 && o == lowest)) continue;
    if (o->lower > *distance || !improves(w, o, best, distance)) continue;
    if (*distance == limit && !(isinf(limit) || is_nearer(w, o, limit))) continue;
    best = o;
  }
  return best;
}

static void report_nearest(worker *w, const open_pair *o, graze_distance_result *r) {
  double corners[18];
  near_pair pair;
  start_pair(w, o, corners, &pair);
  r->found = true;
  r->triangles = (graze_triangle_pair){o->first, o->second};
  gz_near_witness(&pair, &r->nearest);
  double d = r->lower = r->upper = r->nearest.distance;
  int sign = isinf(d) ? -1 : gz_near_compare(&pair, d);
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
  report_nearest(w, &(open_pair){0, (double)INFINITY, pairs[0].a, pairs[0].b, NEAR_NOWHERE}, r);
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
  if (!w->sink.stop && j->tree) search_nodes(w);
  if (!w->sink.stop && !j->tree) gz_near_all(w);
  if (w->sink.failed) return out_of_memory(q);
  double distance;
  const open_pair *nearest = w->gap.meet ? NULL : choose_nearest(w, j->limit, &distance);
  if (nearest != NULL) report_nearest(w, nearest, r);
  if (nearest != NULL && w->gap.relaxed)
    r->lower = smaller(r->lower, least_wanted(&w->gap, w->gap.most) * (1 - 0x1p-50));
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
  if (j.tree) {
    const double own = enough / w->map.growth;
    if (own > 1e-15 && own < 1e15) w->gap.far2 = (float)(own * own * (1 + 0x1p-12));
    search_nodes(w);
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
