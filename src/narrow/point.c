/* Distances of many points from one mesh.
 *
 * Each point traverses the hierarchy with lower bounds of its distances from boxes, the nearest box first, beginning
 * with its distance from the point of the mesh that was nearest to the one before it. Bounds from doubles keep the
 * triangles that may be the nearest; their distances are rounded exactly (exact/near_point.h), once for each feature,
 * as neighbours share the edge or the vertex that is nearest. Inside and outside are told by a ray (winding.c).
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

/* One point, and triangles that wait until there are eight: three or four of a bottom node are worth a look. */
typedef struct point_search {
  const point_batch *batch;
  worker *w;
  const job *j;
  const double *p;
  unsigned waiting;
  uint32_t triangles[8];
  _Alignas(64) double corners[9][8];
} point_search;

/* ---- triangles that may be nearest ---- */

static void take_waiting(point_search *s) {
  worker *w = s->w;
  double lower[8], upper[8], least = w->gap.most;
  s->batch->bounds(s->p, s->corners[0], lower, upper);
  for (unsigned i = 0; i < s->waiting; i++) least = smaller(upper[i], least);
  if (least < w->gap.most) gz_near_set_most(w, least);
  for (unsigned i = 0; i < s->waiting; i++) {
    if (lower[i] <= w->gap.most)
      gz_near_keep(w, &(open_pair){lower[i], upper[i], s->triangles[i], 0, 0, {.rounded = 0}});
  }
  s->waiting = 0;
}

static void add_triangles(point_search *s, const bvh_node *node, const posed_node *posed, unsigned bits) {
  for (; bits != 0; bits &= bits - 1) {
    const int i = __builtin_ctz(bits);
    for (int k = 0; k < 9; k++) s->corners[k][s->waiting] = posed->corner[k][i];
    s->triangles[s->waiting++] = node->child[i];
    if (s->waiting == 8) take_waiting(s);
  }
}

/* The nearest child comes last, and is fetched ahead with the one that follows it. */
static void push_children(worker *w, const bvh_node *nodes, const bvh_node *node, unsigned bits,
                          const float least2[8]) {
  near_nodes *to = gz_near_room(w, NODE_WIDTH);
  int count = 0;
  if (to == NULL) return;
  for (; bits != 0; bits &= bits - 1) {
    const int i = __builtin_ctz(bits);
    int k = count++;
    for (; k > 0 && to[k - 1].least2 < least2[i]; k--) to[k] = to[k - 1];
    to[k] = (near_nodes){node->child[i], 0, least2[i]};
  }
  w->gap.node_count -= (size_t)(NODE_WIDTH - count);
  prefetch_node(&nodes[to[count - 1].a]);
  if (count > 1) prefetch_node(&nodes[to[count - 2].a]);
}

static void open_node(point_search *s, const double local[3], uint32_t number) {
  worker *w = s->w;
  const job *j = s->j;
  const bvh_node *node = &j->a.mesh->nodes[number];
  float least2[8];
  const unsigned bits = s->batch->gaps(node, local, &j->map, w->gap.most2, least2);
  if (bits == 0) return;
  if (node->bottom)
    add_triangles(s, node, gz_sink_pose_node(&j->a, number, &w->sink.cache_a), bits);
  else
    push_children(w, j->a.mesh->nodes, node, bits, least2);
}

static void search_tree(point_search *s) {
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
  near_nodes *root = gz_near_room(w, 1);
  if (root != NULL) *root = (near_nodes){0, 0, 0};
  while (g->node_count > 0 && !w->sink.failed) {
    near_nodes next = ((near_nodes *)g->nodes.data)[--g->node_count];
    if (next.least2 <= g->most2) open_node(s, local, next.a);
  }
  if (s->waiting > 0) take_waiting(s);
}

static void search_all(point_search *s) {
  const job *j = s->j;
  double c[9];
  for (uint32_t t = 0; t < j->a.mesh->triangle_count && !s->w->sink.failed; t++) {
    gz_side_corners(&j->a, t, c);
    for (int k = 0; k < 9; k++) s->corners[k][s->waiting] = c[k];
    s->triangles[s->waiting++] = t;
    if (s->waiting == 8) take_waiting(s);
  }
  if (s->waiting > 0) take_waiting(s);
}

/* A first upper bound: the distance of what was nearest to the point before, a point within 2^-48 of the largest
 * coordinate of the mesh. */
static void try_nearest(const point_search *s, const double nearest[3]) {
  double square = 0, largest = 0;
  for (int k = 0; k < 3; k++) {
    const double d = s->p[k] - nearest[k];
    square += d * d;
    largest = larger(largest, larger(fabs(s->p[k]), larger(fabs(s->batch->box.min[k]), fabs(s->batch->box.max[k]))));
  }
  const double upper = sqrt(square) * (1 + 0x1p-48) + 0x1p-46 * largest;
  if (square > 0x1p-900 && square < 0x1p900) gz_near_set_most(s->w, upper);
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

static void ask_point(const point_batch *b, worker *w, const job *j, uint32_t i, const double *hint) {
  const double *p = point_at(b, i);
  point_search s;
  s.batch = b, s.w = w, s.j = j, s.p = p, s.waiting = 0;
  graze_point_distance *r = &b->results[i];
  *r = (graze_point_distance){.distance = (double)INFINITY,
                              .side = b->shape != NULL ? GRAZE_POINT_OUTSIDE : GRAZE_POINT_UNKNOWN,
                              .doubt = b->shape != NULL ? GRAZE_DOUBT_NONE : GRAZE_DOUBT_NOT_ASKED,
                              .triangle = UINT32_MAX};
  if (j->a.mesh->triangle_count == 0) return;
  w->gap.open_count = 0;
  gz_near_set_most(w, (double)INFINITY);
  if (hint != NULL) try_nearest(&s, hint);
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
  const double *last = NULL;
  for (uint32_t i = begin; i < end && !w->sink.failed; i++) {
    graze_point_distance *r = &b->results[(uint32_t)b->order[i]];
    ask_point(b, w, &j, (uint32_t)b->order[i], last);
    last = r->triangle != UINT32_MAX ? r->point : NULL;
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
