/* Contact points of two convex sets, for solvers: the face of one that looks along the normal most, onto which the face
 * of the other that looks against it is cut (Sutherland and Hodgman, 1974). Where no face looks along the normal, an
 * edge on an edge or a corner on a ball, it is one point.
 */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/owned.h"
#include "base/parallel.h"
#include "base/vector3.h"
#include "convex/answer.h"
#include "graze/convex.h"

/* A face looks along the normal if the cosine between them is above this: two and a half degrees. */
static const double FACING = 0.999;
/* By how much the other side has to look better, so that neither small motion nor rounding changes it. */
static const double PREFERENCE = 0.001;

enum { ON_STACK = 96, CUT = 1u << 31, RIM_POINTS = 8 };
#define NO_EDGE 0x7fffffffu

/* A corner of the incident polygon while it is cut. */
typedef struct cut_point {
  double x[3];
  uint32_t own;  /* the vertex, or the side (of this polygon) that was cut */
  uint32_t by;   /* the edge of the reference face that cut it; NO_EDGE: a vertex */
  uint32_t side; /* that leaves it: an edge of its hull, or CUT and one of the reference face */
} cut_point;

typedef struct cut_polygon {
  cut_point *p;
  uint32_t count;
  bool is_open; /* a segment */
} cut_polygon;

/* The reference face, posed: corners, edges by number, outward normal. */
typedef struct reference {
  const graze_hull *hull;
  const graze_pose *pose;
  uint32_t face;
  double normal[3], origin[3];
} reference;

static void place(const graze_pose *pose, const double p[3], double out[3]) {
  memcpy(out, p, 3 * sizeof *out);
  if (pose != NULL) graze_pose_apply(pose, p, out);
}

/* The direction before the pose, which is rigid. */
static void turn_back(const graze_pose *pose, const double n[3], double sign, double out[3]) {
  for (int k = 0; k < 3; k++) {
    out[k] = sign * (pose == NULL ? n[k] : pose->m[k] * n[0] + pose->m[4 + k] * n[1] + pose->m[8 + k] * n[2]);
  }
}

/* ---- faces ------------------------------------------------------------------------------------------------------ */

/* The face that looks along d most, and the cosine; a polygon looks both ways. */
static uint32_t facing(const graze_hull *hull, const double d[3], double *cosine) {
  uint32_t best = 0;
  *cosine = -2;
  for (uint32_t f = 0; f < hull->face_count; f++) {
    double at = dot3(hull->planes + 4 * (size_t)f, d);
    if (hull->dimension == 2) at = fabs(at);
    if (!(at > *cosine)) continue;
    *cosine = at;
    best = f;
  }
  return best;
}

static void set_reference(reference *r, const graze_hull *hull, const graze_pose *pose, uint32_t face,
                          const double outward[3]) {
  const double zero[3] = {0, 0, 0}, *plane = hull->planes + 4 * (size_t)face;
  double from[3], to[3];
  *r = (reference){.hull = hull, .pose = pose, .face = face};
  place(pose, zero, from);
  place(pose, plane, to);
  sub3(to, from, r->normal);
  double sign = dot3(r->normal, outward) < 0 ? -1 : 1; /* the other side of a polygon */
  double length = sqrt(dot3(r->normal, r->normal));
  for (int k = 0; k < 3; k++) r->normal[k] *= sign / length;
  place(pose, hull->points + 3 * (size_t)hull->face_corners[hull->face_first[face]], r->origin);
}

static void set_points(cut_polygon *out, uint32_t count) {
  out->count = count;
  for (uint32_t i = 0; i < count; i++) {
    out->p[i].own = i;
    out->p[i].by = NO_EDGE;
    out->p[i].side = 0;
  }
}

/* Eight points of the disc at an end, which stay on the body; v is across the axis u, before the pose. */
static void set_rim(const graze_convex *set, const graze_pose *pose, int end, const double u[3], cut_polygon *out) {
  static const double cosines[RIM_POINTS] = {1,  0x1.6a09e667f3bcdp-1,  0, -0x1.6a09e667f3bcdp-1,
                                             -1, -0x1.6a09e667f3bcdp-1, 0, 0x1.6a09e667f3bcdp-1};
  const int least = fabs(u[0]) < fabs(u[1]) ? (fabs(u[0]) < fabs(u[2]) ? 0 : 2) : (fabs(u[1]) < fabs(u[2]) ? 1 : 2);
  const double unit[3] = {least == 0, least == 1, least == 2};
  double v[3], w[3], at[3];
  cross3(u, unit, v);
  const double length = length3(v), r = set->discs[end];
  for (int k = 0; k < 3; k++) v[k] /= length;
  cross3(u, v, w);
  set_points(out, RIM_POINTS);
  for (int i = 0; i < RIM_POINTS; i++) {
    const double x = r * cosines[i], y = r * cosines[(i + 6) % RIM_POINTS];
    for (int k = 0; k < 3; k++) at[k] = set->points[3 * end + k] + x * v[k] + y * w[k];
    place(pose, at, out->p[i].x);
    out->p[i].side = (uint32_t)i;
  }
  out->is_open = false;
}

/* Of a set with discs: one of them, if it looks that way, or the line on its side. */
static void set_round_incident(const graze_convex *set, const graze_pose *pose, const double against[3],
                               cut_polygon *out) {
  double d[3], u[3], at[3];
  turn_back(pose, against, 1, d);
  sub3(set->points + 3, set->points, u);
  const double length = length3(u);
  for (int k = 0; k < 3; k++) u[k] /= length;
  const double along = dot3(d, u);
  const int end = along > 0;
  if (fabs(along) > FACING && set->discs[end] > 0) {
    set_rim(set, pose, end, u, out);
    return;
  }
  for (int k = 0; k < 3; k++) d[k] -= along * u[k];
  const double across = length3(d);
  set_points(out, 2);
  for (int e = 0; e < 2; e++) {
    for (int k = 0; k < 3; k++) at[k] = set->points[3 * e + k] + (across > 0 ? set->discs[e] * (d[k] / across) : 0);
    place(pose, at, out->p[e].x);
  }
  out->is_open = true;
}

/* What may lie on the reference face: a face of a hull, or all points of what is a segment or a point. */
static void set_incident(const graze_convex *set, const graze_pose *pose, const double against[3], cut_polygon *out) {
  const graze_hull *hull = set->hull;
  double d[3], cosine;
  if (has_discs(set)) {
    set_round_incident(set, pose, against, out);
    return;
  }
  if (hull == NULL || hull->dimension < 2) {
    set_points(out, set->count);
    for (uint32_t i = 0; i < set->count; i++) place(pose, set->points + 3 * (size_t)i, out->p[i].x);
    out->is_open = true;
    return;
  }
  turn_back(pose, against, 1, d);
  uint32_t face = facing(hull, d, &cosine), first = hull->face_first[face];
  out->count = hull->face_first[face + 1] - first;
  out->is_open = false;
  for (uint32_t i = 0; i < out->count; i++) {
    uint32_t v = hull->face_corners[first + i];
    place(pose, hull->points + 3 * (size_t)v, out->p[i].x);
    out->p[i].own = v;
    out->p[i].by = NO_EDGE;
    out->p[i].side = hull->face_edges[first + i];
  }
}

/* ---- cutting ---------------------------------------------------------------------------------------------------- */

static cut_point cut_between(const cut_point *p, const cut_point *q, double at_p, double at_q, uint32_t edge) {
  cut_point c = {.own = p->side, .by = edge, .side = p->side};
  double t = at_p / (at_p - at_q);
  for (int k = 0; k < 3; k++) c.x[k] = p->x[k] + t * (q->x[k] - p->x[k]);
  return c;
}

/* What lies behind the plane through a corner with this outward normal. */
static void cut_by(cut_polygon *polygon, cut_point *scratch, const double corner[3], const double outward[3],
                   uint32_t edge) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < polygon->count; i++) {
    const cut_point *p = &polygon->p[i], *q = &polygon->p[(i + 1) % polygon->count];
    double way[3];
    sub3(p->x, corner, way);
    double at_p = dot3(way, outward);
    sub3(q->x, corner, way);
    double at_q = dot3(way, outward);
    bool is_side = !polygon->is_open || i + 1 < polygon->count;
    if (at_p <= 0) scratch[count++] = *p;
    if (!is_side || (at_p <= 0) == (at_q <= 0)) continue;
    scratch[count] = cut_between(p, q, at_p, at_q, edge);
    if (at_p <= 0) scratch[count].side = CUT | edge; /* from here along the edge */
    count++;
  }
  memcpy(polygon->p, scratch, count * sizeof *scratch);
  polygon->count = count;
}

static void cut_by_face(const reference *r, cut_polygon *polygon, cut_point *scratch) {
  const graze_hull *hull = r->hull;
  uint32_t first = hull->face_first[r->face], count = hull->face_first[r->face + 1] - first;
  double inside[3] = {0, 0, 0}, corner[3], next[3], edge[3], outward[3], way[3];
  for (uint32_t i = 0; i < count; i++) {
    place(r->pose, hull->points + 3 * (size_t)hull->face_corners[first + i], corner);
    for (int k = 0; k < 3; k++) inside[k] += corner[k] / count;
  }
  for (uint32_t i = 0; i < count && polygon->count > 0; i++) {
    place(r->pose, hull->points + 3 * (size_t)hull->face_corners[first + i], corner);
    place(r->pose, hull->points + 3 * (size_t)hull->face_corners[first + (i + 1) % count], next);
    sub3(next, corner, edge);
    cross3(edge, r->normal, outward);
    sub3(inside, corner, way);
    if (dot3(outward, way) > 0) {
      for (int k = 0; k < 3; k++) outward[k] = -outward[k];
    }
    cut_by(polygon, scratch, corner, outward, hull->face_edges[first + i]);
  }
}

/* ---- four of them ----------------------------------------------------------------------------------------------- */

static void take(graze_manifold_point *points, uint32_t to, uint32_t from) {
  graze_manifold_point p = points[to];
  points[to] = points[from];
  points[from] = p;
}

/* The one of points[first .. count) with the greatest value. */
static uint32_t best_of(const graze_manifold_point *points, uint32_t first, uint32_t count, const double normal[3],
                        double value(const graze_manifold_point *points, uint32_t i, const double normal[3])) {
  uint32_t best = first;
  double most = value(points, first, normal);
  for (uint32_t i = first + 1; i < count; i++) {
    double at = value(points, i, normal);
    if (!(at > most)) continue;
    most = at;
    best = i;
  }
  return best;
}

static double depth_of(const graze_manifold_point *points, uint32_t i, const double normal[3]) {
  (void)normal;
  return -points[i].gap;
}

static double distance_of(const graze_manifold_point *points, uint32_t i, const double normal[3]) {
  double way[3];
  (void)normal;
  sub3(points[i].at, points[0].at, way);
  return dot3(way, way);
}

/* Twice the area of a triangle, seen along the normal. */
static double area(const double a[3], const double b[3], const double c[3], const double normal[3]) {
  double u[3], v[3], n[3];
  sub3(b, a, u);
  sub3(c, a, v);
  cross3(u, v, n);
  return dot3(n, normal);
}

static double area_of(const graze_manifold_point *points, uint32_t i, const double normal[3]) {
  return fabs(area(points[0].at, points[1].at, points[i].at, normal));
}

/* By how much the point lies outside of the first three. */
static double outside_of(const graze_manifold_point *points, uint32_t i, const double normal[3]) {
  double turn = area(points[0].at, points[1].at, points[2].at, normal) < 0 ? -1 : 1, most = 0;
  for (int e = 0; e < 3; e++) {
    most = fmax(most, -turn * area(points[e].at, points[(e + 1) % 3].at, points[i].at, normal));
  }
  return most;
}

/* The deepest, the one farthest from it, and two that make the area large. */
static uint32_t choose(graze_manifold_point *points, uint32_t count, const double normal[3]) {
  if (count <= GRAZE_MANIFOLD_POINTS) return count;
  take(points, 0, best_of(points, 0, count, normal, depth_of));
  take(points, 1, best_of(points, 1, count, normal, distance_of));
  take(points, 2, best_of(points, 2, count, normal, area_of));
  take(points, 3, best_of(points, 3, count, normal, outside_of));
  return GRAZE_MANIFOLD_POINTS;
}

/* ---- one pair --------------------------------------------------------------------------------------------------- */

typedef struct touching {
  const graze_context *context;
  const graze_convex_pair *pairs;
  const graze_convex_result *results;
  double margin;
  graze_manifold *manifolds;
  bool *refused; /* by worker */
} touching;

static bool has_faces(const graze_convex *set) {
  return set->hull != NULL && set->hull->dimension >= 2;
}

/* Points that can lie on a face: a hull's, a segment's or a point, those of a disc or a line on a round side. */
static bool has_polygon(const graze_convex *set) {
  return has_faces(set) || set->count <= 2;
}

static void one_point(const graze_convex_result *r, graze_manifold *out) {
  out->count = 1;
  out->reference = 0;
  memcpy(out->normal, r->normal, sizeof out->normal);
  out->points[0] = (graze_manifold_point){.gap = r->distance, .feature = 0};
  for (int k = 0; k < 3; k++) out->points[0].at[k] = r->points[0][k] / 2 + r->points[1][k] / 2;
}

/* Which side has the reference face: 0, 1, or 2 if there is none. The one that had it is preferred, else the first. */
static int find_reference(const graze_convex_pair *pair, const double normal[3], uint32_t before, reference *r) {
  const graze_convex *sets[2] = {pair->a, pair->b};
  const graze_pose *poses[2] = {pair->pose_a, pair->pose_b};
  double cosine[2] = {-2, -2}, d[3], bonus = before == 2 ? -PREFERENCE : PREFERENCE;
  uint32_t face[2] = {0, 0};
  for (int s = 0; s < 2; s++) {
    if (!has_faces(sets[s]) || !has_polygon(sets[1 - s])) continue;
    turn_back(poses[s], normal, s == 0 ? 1 : -1, d);
    face[s] = facing(sets[s]->hull, d, &cosine[s]);
  }
  int side = cosine[0] + bonus >= cosine[1] ? 0 : 1;
  if (!(cosine[side] > FACING)) return 2;
  const double outward[3] = {side == 0 ? normal[0] : -normal[0], side == 0 ? normal[1] : -normal[1],
                             side == 0 ? normal[2] : -normal[2]};
  set_reference(r, sets[side]->hull, poses[side], face[side], outward);
  return side;
}

/* Points near enough to the reference face, from the polygon that was cut to it. */
static uint32_t list_points(const reference *r, const cut_polygon *polygon, double own, double other, double margin,
                            graze_manifold_point *points) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < polygon->count; i++) {
    const cut_point *p = &polygon->p[i];
    double way[3];
    sub3(p->x, r->origin, way);
    double height = dot3(way, r->normal), gap = height - own - other;
    if (!(gap <= margin)) continue;
    points[count].gap = gap;
    points[count].feature = (uint64_t)p->by << 32 | p->own;
    for (int k = 0; k < 3; k++) points[count].at[k] = p->x[k] - r->normal[k] * (height - own + other) / 2;
    count++;
  }
  return count;
}

static size_t most_corners(const graze_convex *set) {
  if (has_discs(set)) return RIM_POINTS;
  return set->hull != NULL ? set->hull->vertex_count : set->count;
}

static bool touch(const touching *t, uint32_t i) {
  const graze_convex_pair *pair = &t->pairs[i];
  const graze_convex_result *result = &t->results[i];
  graze_manifold *out = &t->manifolds[i];
  uint32_t before = out->reference;
  reference r;
  *out = (graze_manifold){0};
  if (!(result->distance <= t->margin)) return true;
  int side = find_reference(pair, result->normal, before, &r);
  one_point(result, out);
  if (side == 2) return true;
  const graze_convex *own = side == 0 ? pair->a : pair->b, *other = side == 0 ? pair->b : pair->a;
  size_t most = most_corners(pair->a) + most_corners(pair->b) + 1;
  cut_point on_stack[2 * ON_STACK], *memory = most > ON_STACK ? gz_new(t->context, 2 * most, sizeof *memory) : on_stack;
  graze_manifold_point few[ON_STACK], *points = most > ON_STACK ? gz_new(t->context, most, sizeof *points) : few;
  if (memory != NULL && points != NULL) {
    cut_polygon polygon = {.p = memory};
    const double against[3] = {-r.normal[0], -r.normal[1], -r.normal[2]};
    set_incident(other, side == 0 ? pair->pose_b : pair->pose_a, against, &polygon);
    cut_by_face(&r, &polygon, memory + most);
    uint32_t count = list_points(&r, &polygon, own->radius, other->radius, t->margin, points);
    if (count > 0) {
      out->count = choose(points, count, r.normal);
      out->reference = (uint32_t)side + 1;
      memcpy(out->points, points, out->count * sizeof *points);
      for (int k = 0; k < 3; k++) out->normal[k] = side == 0 ? r.normal[k] : -r.normal[k];
    }
  }
  bool ready = memory != NULL && points != NULL;
  if (memory != on_stack) gz_free(memory);
  if (points != few) gz_free(points);
  return ready;
}

static void touch_range(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  const touching *t = argument;
  for (uint32_t i = begin; i < end; i++) {
    if (!touch(t, i)) t->refused[worker] = true;
  }
}

static graze_status touch_all(touching *t, uint32_t count) {
  uint32_t workers = gz_workers(t->context);
  t->refused = gz_new_zeroed(t->context, workers, sizeof *t->refused);
  if (t->refused == NULL) return gz_fail_memory(t->context, workers);
  gz_parallel_for(t->context, count, 64, touch_range, t);
  bool refused = false;
  for (uint32_t i = 0; i < workers; i++) refused |= t->refused[i];
  gz_free(t->refused);
  return refused ? gz_fail_memory(t->context, sizeof(cut_point)) : GRAZE_OK;
}

graze_status graze_convex_touch(graze_context *context, uint32_t count, const graze_convex_pair *pairs, double margin,
                                graze_manifold *manifolds) {
  if (context == NULL || (count > 0 && (pairs == NULL || manifolds == NULL))) return gz_fail_null(context);
  if (!isfinite(margin)) return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "the margin is not finite");
  graze_convex_result *results = gz_new(context, count, sizeof *results);
  if (results == NULL) return gz_fail_memory(context, count * sizeof *results);
  graze_status status = graze_convex_batch(context, count, pairs, GRAZE_T1, GRAZE_CONVEX_MEASURE, results);
  touching t = {context, pairs, results, margin, manifolds, NULL};
  if (status == GRAZE_OK) status = touch_all(&t, count);
  gz_free(results);
  return status;
}
