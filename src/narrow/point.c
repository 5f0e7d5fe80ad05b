/* Distances of many points from one mesh.
 *
 * Each point traverses the hierarchy with lower bounds of its distances from boxes, the nearest box first, beginning at
 * the triangle that was nearest to the point before it. Bounds from doubles keep the triangles that may be the nearest;
 * their distances are rounded exactly (exact/near_point.h), once for each feature, as neighbours share the edge or the
 * vertex that is nearest. Inside and outside are told by a ray (winding.c).
 */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/context.h"
#include "base/extremes.h"
#include "base/parallel.h"
#include "exact/near_point.h"
#include "exact/orient.h"
#include "graze/distance.h"
#include "narrow/curve.h"
#include "narrow/gap.h"
#include "narrow/locate.h"
#include "narrow/point_boxes.h"
#include "narrow/relate.h"
#include "narrow/winding.h"

enum { OPTIONS_COOKIE = 0x67726F33, BLOCK = 256 };

/* What a call knows. Points are asked in blocks, each with margins of its own. */
typedef struct point_batch {
  graze_query *query;
  side mesh;
  graze_box box; /* of the posed mesh */
  solid *shape;  /* NULL: sides are not asked */
  bool doubts;   /* open parts are in doubt, in open_box */
  graze_box open_box;
  graze_doubt doubt;
  bool flat; /* the pose is singular */
  const char *points;
  size_t stride;
  uint32_t count;
  const uint64_t *order; /* the lower half: points, as they are asked */
  near_point_function *bounds;
  point_gaps_function *gaps;
  graze_point_distance *results;
  _Atomic bool failed;
} point_batch;

const char *graze_point_side_string(graze_point_side which) {
  static const char *const names[] = {"outside", "inside", "on", "unknown"};
  return (unsigned)which < 4 ? names[which] : "?";
}

/* One point. */
typedef struct point_search {
  const point_batch *batch;
  worker *w;
  const job *j;
  const double *p;
} point_search;

/* ---- triangles that may be nearest ---- */

static void take_eight(const point_search *s, const double *corners, const uint32_t *triangles, unsigned bits) {
  worker *w = s->w;
  double lower[8], upper[8], least = w->gap.most;
  s->batch->bounds(s->p, corners, lower, upper);
  for (unsigned b = bits; b != 0; b &= b - 1) least = smaller(upper[__builtin_ctz(b)], least);
  if (least < w->gap.most) gz_near_set_most(w, least);
  for (unsigned b = bits; b != 0; b &= b - 1) {
    int i = __builtin_ctz(b);
    if (lower[i] <= w->gap.most) gz_near_keep(w, &(open_pair){lower[i], upper[i], triangles[i], 0, 0, {.rounded = 0}});
  }
}

static void open_node(const point_search *s, const double local[3], uint32_t number) {
  worker *w = s->w;
  const job *j = s->j;
  const bvh_node *node = &j->a.mesh->nodes[number];
  float least2[8];
  near_nodes next[8];
  int count = 0;
  unsigned bits = s->batch->gaps(node, local, &j->map, w->gap.most2, least2);
  if (bits == 0) return;
  if (node->bottom) {
    const posed_node *posed = gz_sink_pose_node(&j->a, number, &w->sink.cache_a);
    take_eight(s, posed->corner[0], node->child, bits);
    return;
  }
  for (; bits != 0; bits &= bits - 1) {
    int i = __builtin_ctz(bits);
    prefetch_node(&j->a.mesh->nodes[node->child[i]]);
    next[count++] = (near_nodes){node->child[i], 0, least2[i]};
  }
  gz_near_push(w, next, count);
}

static void search_tree(const point_search *s) {
  worker *w = s->w;
  gap_search *g = &w->gap;
  double local[3];
  const double *p = s->p;
  const mesh_map *map = &s->j->map;
  for (int k = 0; k < 3; k++) {
    const double *row = map->linear + 3 * k;
    local[k] = ((row[0] * p[0] + row[1] * p[1]) + row[2] * p[2]) + map->shift[k];
  }
  g->node_count = 0;
  gz_near_push(w, &(near_nodes){0, 0, 0}, 1);
  while (g->node_count > 0 && !w->sink.failed) {
    near_nodes next = ((near_nodes *)g->nodes.data)[--g->node_count];
    if (next.least2 <= g->most2) open_node(s, local, next.a);
  }
}

static void search_all(const point_search *s) {
  const job *j = s->j;
  double corners[9][8], c[9];
  uint32_t triangles[8];
  for (uint32_t t = 0; t < j->a.mesh->triangle_count && !s->w->sink.failed; t += 8) {
    unsigned count = j->a.mesh->triangle_count - t < 8 ? j->a.mesh->triangle_count - t : 8;
    for (unsigned i = 0; i < 8; i++) {
      triangles[i] = t + (i < count ? i : 0);
      gz_side_corners(&j->a, triangles[i], c);
      for (int k = 0; k < 9; k++) corners[k][i] = c[k];
    }
    take_eight(s, corners[0], triangles, (1u << count) - 1);
  }
}

/* A first upper bound. */
static void try_triangle(const point_search *s, uint32_t triangle) {
  double corners[9][8], c[9], lower[8], upper[8];
  gz_side_corners(&s->j->a, triangle, c);
  for (int k = 0; k < 9; k++) {
    for (int i = 0; i < 8; i++) corners[k][i] = c[k];
  }
  s->batch->bounds(s->p, corners[0], lower, upper);
  gz_near_set_most(s->w, upper[0]);
}

/* ---- the nearest ---- */

/* Whether two triangles' nearest features, which are vertices or edges, are the same points. */
static bool same_feature(const double a[9], const point_feature *f, const double b[9], const point_feature *g) {
  if (f->count != g->count || f->count == 0 || f->count == 3) return false;
  const size_t bytes = 3 * sizeof *a;
  const double *p = a + 3 * f->corner[0], *q = b + 3 * g->corner[0];
  if (f->count == 1) return memcmp(p, q, bytes) == 0;
  const double *r = a + 3 * f->corner[1], *s = b + 3 * g->corner[1];
  return (memcmp(p, q, bytes) == 0 && memcmp(r, s, bytes) == 0) ||
         (memcmp(p, s, bytes) == 0 && memcmp(r, q, bytes) == 0);
}

/* Of the open triangles that with the least rounded distance, the lowest of several. */
static void choose_nearest(worker *w, const job *j, const double p[3], graze_point_distance *r) {
  gap_search *g = &w->gap;
  gz_near_sieve(g);
  const open_pair *open = g->open.data;
  double corners[9], best_corners[9];
  point_value best = {(double)INFINITY, false, {0, {0, 0, 0}}};
  bool on = false;
  for (size_t i = 0; i < g->open_count; i++) {
    if (open[i].lower > best.distance) continue;
    gz_side_corners(&j->a, open[i].first, corners);
    point_value value = {best.distance, false, gz_point_feature(p, corners)};
    if (!same_feature(corners, &value.feature, best_corners, &best.feature))
      value = gz_point_distance(p, corners, open[i].lower, open[i].upper, value.feature);
    w->sink.work.exact_tests++;
    on |= value.on;
    bool first = r->triangle == UINT32_MAX || open[i].first < r->triangle;
    if (value.distance > best.distance || (value.distance == best.distance && !first)) continue;
    best = value;
    memcpy(best_corners, corners, sizeof corners);
    r->triangle = open[i].first;
  }
  r->distance = best.distance;
  if (on) r->side = GRAZE_POINT_ON;
  gz_point_witness(p, best_corners, &best, r->point, &r->feature);
}

/* ---- sides ---- */

static bool strictly_within(const graze_box *box, const double p[3]) {
  for (int k = 0; k < 3; k++) {
    if (!(p[k] > box->min[k] && p[k] < box->max[k])) return false;
  }
  return true;
}

static void find_side(const point_batch *b, worker *w, const job *j, const double p[3], graze_point_distance *r) {
  r->side = GRAZE_POINT_OUTSIDE;
  if (b->flat)
    r->doubt = GRAZE_DOUBT_FLATTENED;
  else if (b->doubts && strictly_within(&b->open_box, p))
    r->doubt = b->doubt;
  else if (gz_winding_inside(w, j, b->shape, &b->box, p))
    r->side = GRAZE_POINT_INSIDE;
  if (r->doubt != GRAZE_DOUBT_NONE) r->side = GRAZE_POINT_UNKNOWN;
}

/* ---- blocks ---- */

static const double *point_at(const point_batch *b, uint32_t i) {
  return (const double *)(const void *)(b->points + (size_t)i * b->stride);
}

static void ask_point(const point_batch *b, worker *w, const job *j, uint32_t i, uint32_t hint) {
  const double *p = point_at(b, i);
  const point_search s = {b, w, j, p};
  graze_point_distance *r = &b->results[i];
  *r = (graze_point_distance){.distance = (double)INFINITY,
                              .side = b->shape != NULL ? GRAZE_POINT_OUTSIDE : GRAZE_POINT_UNKNOWN,
                              .doubt = b->shape != NULL ? GRAZE_DOUBT_NONE : GRAZE_DOUBT_NOT_ASKED,
                              .triangle = UINT32_MAX};
  if (j->a.mesh->triangle_count == 0) return;
  w->gap.open_count = 0;
  gz_near_set_most(w, (double)INFINITY);
  if (hint != UINT32_MAX) try_triangle(&s, hint);
  if (j->tree)
    search_tree(&s);
  else
    search_all(&s);
  if (w->sink.failed) return;
  choose_nearest(w, j, p, r);
  if (r->side == GRAZE_POINT_ON)
    r->doubt = GRAZE_DOUBT_NONE;
  else if (b->shape != NULL)
    find_side(b, w, j, p, r);
}

/* The points of a block count as a mesh of their size, for the margins of the map. */
static void ask_block(point_batch *b, worker *w, uint32_t begin, uint32_t end) {
  mesh_header header = {.tree_usable = 1};
  const graze_mesh points = {.header = &header};
  job j = {.a = b->mesh, .b = {&points, graze_pose_identity(), true}};
  for (uint32_t i = begin; i < end; i++) {
    const double *p = point_at(b, (uint32_t)b->order[i]);
    header.magnitude = fmax(header.magnitude, fmax(fmax(fabs(p[0]), fabs(p[1])), fabs(p[2])));
  }
  gz_job_map(&j);
  gz_worker_start(w, &j);
  w->gap.slack = 0;
  for (uint32_t i = begin, last = UINT32_MAX; i < end && !w->sink.failed; i++) {
    const uint32_t point = (uint32_t)b->order[i];
    ask_point(b, w, &j, point, last);
    last = b->results[point].triangle;
  }
  if (w->sink.failed) b->failed = true;
}

static void ask_blocks(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  point_batch *b = argument;
  for (uint32_t block = begin; block < end && !b->failed; block++) {
    uint32_t first = block * BLOCK, count = b->count - first < BLOCK ? b->count - first : BLOCK;
    ask_block(b, b->query->workers[index], first, first + count);
  }
}

/* ---- the call ---- */

graze_point_options graze_default_point_options(void) {
  return (graze_point_options){.open = GRAZE_OPEN_UNKNOWN, .cookie = OPTIONS_COOKIE};
}

static graze_status check_points(const point_batch *b) {
  for (uint32_t i = 0; i < b->count; i++) {
    const double *p = point_at(b, i);
    if (isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2])) continue;
    return gz_fail(b->query->context, GRAZE_ERROR_NOT_FINITE, "point %" PRIu32 ": a coordinate is not finite", i);
  }
  return GRAZE_OK;
}

/* What tells the sides. */
static graze_status find_solid(point_batch *b, const graze_point_options *o) {
  if (o->no_sides) return GRAZE_OK;
  graze_status status = gz_solid_create_parts(b->query->context, b->mesh.mesh, &b->shape);
  if (status != GRAZE_OK || b->shape->part_count == 0) return status;
  const double zero[3] = {0, 0, 0}, *m = b->mesh.pose.m;
  const solid *s = b->shape;
  b->flat = gz_orient3d(zero, m, m + 4, m + 8) == 0;
  b->doubts = o->open == GRAZE_OPEN_UNKNOWN && s->first_fault != NO_PART;
  if (!b->doubts) return GRAZE_OK;
  memcpy(b->open_box.min, s->open_min, sizeof s->open_min);
  memcpy(b->open_box.max, s->open_max, sizeof s->open_max);
  if (!b->mesh.identity) b->open_box = graze_pose_box(&b->mesh.pose, &b->open_box);
  b->doubt = s->parts[s->first_fault].fault;
  return GRAZE_OK;
}

static graze_status sort_points(point_batch *b) {
  graze_query *q = b->query;
  size_t bytes = b->count * sizeof(uint64_t);
  if (!gz_buffer_reserve(q->context, &q->keys, bytes, 0) || !gz_buffer_reserve(q->context, &q->sort, bytes, 0)) {
    return gz_fail_memory(q->context, bytes);
  }
  gz_curve_order(b->points, b->stride, b->count, q->keys.data, q->sort.data);
  b->order = q->keys.data;
  return GRAZE_OK;
}

static graze_status ask_all(point_batch *b) {
  const graze_context *context = b->query->context;
  for (uint32_t k = 0; k < gz_workers(context); k++) {
    if (gz_query_worker(b->query, k) == NULL) return gz_fail_memory(context, sizeof(worker));
  }
  b->box = gz_side_box(&b->mesh);
  b->bounds = gz_near_point_best();
  b->gaps = gz_point_gaps_best();
  gz_parallel_for(context, (uint32_t)(((uint64_t)b->count + BLOCK - 1) / BLOCK), 1, ask_blocks, b);
  return b->failed ? gz_fail(context, GRAZE_ERROR_MEMORY, "out of memory: distances of points") : GRAZE_OK;
}

graze_status graze_mesh_point_distances(graze_query *q, const graze_mesh *mesh, const graze_pose *pose,
                                        const double *points, size_t stride, uint64_t count,
                                        const graze_point_options *options, graze_point_distance *results) {
  if (q == NULL || mesh == NULL || ((points == NULL || results == NULL) && count > 0)) {
    return gz_fail_null(q != NULL ? q->context : NULL);
  }
  graze_point_options o = options != NULL ? *options : graze_default_point_options();
  if (o.cookie != OPTIONS_COOKIE || (unsigned)o.open > GRAZE_OPEN_SURFACE) {
    return gz_fail(q->context, GRAZE_ERROR_ARGUMENT, "point options: not initialised, or a value is unknown");
  }
  if (count > UINT32_MAX - BLOCK) return gz_fail(q->context, GRAZE_ERROR_LIMIT, "more points than one call takes");
  point_batch b = {.query = q, .points = (const char *)points, .count = (uint32_t)count, .results = results};
  b.stride = stride != 0 ? stride : 3 * sizeof *points;
  unsigned saved = gz_fp_enter();
  graze_status status = gz_query_side(q, mesh, pose, GRAZE_T1, "of the points", &b.mesh);
  if (status == GRAZE_OK) status = check_points(&b);
  if (status == GRAZE_OK && count > 0) status = sort_points(&b);
  if (status == GRAZE_OK) status = find_solid(&b, &o);
  if (status == GRAZE_OK) status = ask_all(&b);
  gz_solid_destroy(q->context, b.shape);
  gz_fp_leave(saved);
  return status;
}
