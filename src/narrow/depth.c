/* How far one object has to be moved out of another: graze_mesh_depth.
 *
 * Every way out is one because the exact relation of the moved objects says so. Convex solids have a shortest one,
 * along a direction that depth_convex.c finds. For others the ways that escape.c tries and those along which slabs part
 * are beginnings. Where b, moved so far, comes to rest against a, the nearest points give a plane; the point of that
 * plane nearest to where b was is tried next, and what lies between (C. Je, M. Tang, Y. Lee, M. Lee, Y. J. Kim,
 * "PolyDepth: Real-Time Penetration Depth Computation using Iterative Contact-Space Projection", 2012).
 *
 * A lower bound is how far a vertex of one lies inside the other: moved by less, it is still inside, and with it some
 * of the solid that it bounds.
 */
#include "narrow/depth.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/extremes.h"
#include "base/parallel.h"
#include "base/vector3.h"
#include "graze/bounds.h"
#include "narrow/locate.h"

enum { OPTIONS_COOKIE = 0x67726F34, STARTS = 3, ROUNDS = 12, HALVINGS = 10, NUDGES = 14, LOWER_MOST = 1 << 18 };

typedef struct depth_search {
  graze_query *query;
  const relate_side *a, *b;
  const graze_relate_options *options;
  double size; /* the largest coordinate */
  graze_depth_result *best;
} depth_search;

/* Of a translation; along an axis it is known. */
static double length_of(const double t[3]) {
  double most = larger(larger(fabs(t[0]), fabs(t[1])), fabs(t[2]));
  if (!(most > 0)) return 0;
  const double x[3] = {t[0] / most, t[1] / most, t[2] / most};
  return most * sqrt(dot3(x, x));
}

/* ---- ways out ---- */

/* Whether t is a way out; the shortest so far is kept. */
static graze_status try_way(depth_search *s, const double t[3], bool *out) {
  graze_relate_result result;
  *out = false;
  if (!isfinite(length_of(t))) return GRAZE_OK;
  graze_status status = gz_relate_moved(s->query->moved, s->a, s->b, s->options, t, &result);
  if (status != GRAZE_OK) return status;
  *out = relation_is_out(result.verdict.relation);
  if (!*out || (s->best->known && !(length_of(t) < s->best->depth))) return GRAZE_OK;
  s->best->known = true;
  s->best->depth = length_of(t);
  memcpy(s->best->translation, t, sizeof s->best->translation);
  s->best->relation = result.verdict.relation;
  return GRAZE_OK;
}

/* Along a direction as far as it takes; then a little farther, as rounding may ask for. */
static graze_status try_direction(depth_search *s, const overlap_width *w) {
  double more = 0;
  for (int nudge = 0; nudge < NUDGES; nudge++) {
    double t[3];
    bool out;
    for (int k = 0; k < 3; k++) t[k] = w->direction[k] * (w->width + more);
    graze_status status = try_way(s, t, &out);
    if (status != GRAZE_OK || out) return status;
    more = nudge == 0 ? 0x1p-53 * s->size : 3 * more;
  }
  return GRAZE_OK;
}

/* Between a place that is out and one that is not: the nearest to the latter that halving finds. */
static graze_status try_between(depth_search *s, const double from[3], const double to[3]) {
  double low = 0, high = 1; /* of the way from `from`, not out, to `to` */
  for (int i = 0; i < HALVINGS; i++) {
    double middle = 0.5 * (low + high), t[3];
    bool out;
    for (int k = 0; k < 3; k++) t[k] = from[k] + middle * (to[k] - from[k]);
    graze_status status = try_way(s, t, &out);
    if (status != GRAZE_OK) return status;
    if (out)
      high = middle;
    else
      low = middle;
  }
  return GRAZE_OK;
}

/* The direction from a to b, moved by t, where they are nearest; of triangles that meet the normal of a's. */
static graze_status contact_normal(depth_search *s, const double t[3], double n[3], bool *found) {
  graze_distance_options options = graze_default_distance_options();
  graze_distance_result r;
  graze_pose pose = s->b->place.pose;
  options.exactness = s->options->exactness == GRAZE_T0 ? GRAZE_T1 : s->options->exactness;
  for (int k = 0; k < 3; k++) pose.m[4 * k + 3] += t[k];
  graze_status status =
      graze_mesh_distance(s->query->moved, s->a->place.mesh, &s->a->place.pose, s->b->place.mesh, &pose, &options, &r);
  *found = false;
  if (status != GRAZE_OK || !r.found) return status;
  for (int k = 0; k < 3; k++) n[k] = r.nearest.points[1][k] - r.nearest.points[0][k];
  if (!(r.nearest.distance > 0x1p-40 * s->size)) {
    double c[9], u[3], v[3];
    gz_side_corners(&s->a->place, r.triangles.a, c);
    for (int k = 0; k < 3; k++) {
      u[k] = c[3 + k] - c[k];
      v[k] = c[6 + k] - c[k];
    }
    for (int k = 0; k < 3; k++) n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
  }
  double length = length_of(n);
  *found = length > 0 && isfinite(length);
  for (int k = 0; k < 3 && *found; k++) n[k] /= length;
  return GRAZE_OK;
}

/* From the best way on: onto the plane of contact, and between there and here. */
static graze_status shorten(depth_search *s) {
  static const double nowhere[3] = {0, 0, 0};
  double t[3], n[3], foot[3];
  memcpy(t, s->best->translation, sizeof t);
  graze_status status = try_between(s, nowhere, t);
  for (int round = 0; round < ROUNDS && status == GRAZE_OK; round++) {
    const double before = s->best->depth;
    bool found, out;
    memcpy(t, s->best->translation, sizeof t);
    status = contact_normal(s, t, n, &found);
    if (status != GRAZE_OK || !found) return status;
    double height = dot3(t, n);
    for (int k = 0; k < 3; k++) foot[k] = height * n[k];
    status = try_way(s, foot, &out);
    if (status == GRAZE_OK && !out) status = try_between(s, foot, t);
    if (status == GRAZE_OK && out) status = try_between(s, nowhere, foot);
    if (!(s->best->depth < before * (1 - 1e-6))) break;
  }
  return status;
}

/* ---- beginnings ---- */

/* Widths along the directions of slabs, both ways; the least first. */
static uint32_t slab_widths(const graze_bounds *a, const graze_bounds *b, overlap_width *widths) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < 2 * GRAZE_SLABS; i++) {
    int whole[3], sign = i % 2 == 0 ? 1 : -1;
    overlap_width w;
    graze_slab_direction(i / 2, whole);
    double length = sqrt((double)(whole[0] * whole[0] + whole[1] * whole[1] + whole[2] * whole[2]));
    const graze_kdop *x = &a->kdop, *y = &b->kdop;
    w.width = (sign > 0 ? x->max[i / 2] - y->min[i / 2] : y->max[i / 2] - x->min[i / 2]) / length;
    for (int k = 0; k < 3; k++) w.direction[k] = sign * whole[k] / length;
    uint32_t at = count++;
    for (; at > 0 && widths[at - 1].width > w.width; at--) widths[at] = widths[at - 1];
    widths[at] = w;
  }
  return count;
}

/* Posed vertices of triangles, with the middles of triangles if there is room for them; NULL: no memory. */
static double (*posed_points(const graze_context *context, const side *s, bool middles, uint32_t *count))[3] {
  const uint32_t triangles = s->mesh->triangle_count;
  double(*p)[3] = gz_memory_alloc(context, 4 * (size_t)triangles * sizeof *p);
  *count = 0;
  for (uint32_t t = 0; p != NULL && t < triangles; t++) {
    double c[9];
    gz_side_corners(s, t, c);
    for (int i = 0; i < 9; i += 3) memcpy(p[(*count)++], c + i, sizeof *p);
    if (!middles) continue;
    for (int k = 0; k < 3; k++) p[*count][k] = c[k] / 3 + c[3 + k] / 3 + c[6 + k] / 3;
    (*count)++;
  }
  return p;
}

static graze_status bound_side(graze_context *context, const side *s, graze_bounds *bounds) {
  uint32_t count;
  double(*p)[3] = posed_points(context, s, false, &count);
  if (p == NULL) return gz_fail_memory(context, 4 * (size_t)s->mesh->triangle_count * sizeof *p);
  const graze_points points = {.first = p, .count = count, .precision = GRAZE_DOUBLE};
  graze_status status = graze_bound_points(context, &points, bounds);
  gz_memory_release(context, p, 4 * (size_t)s->mesh->triangle_count * sizeof *p);
  return status;
}

static graze_status search_ways(depth_search *s, const graze_relate_result *relation) {
  graze_bounds bounds[2];
  overlap_width widths[2 * GRAZE_SLABS];
  graze_escape escape;
  bool out;
  graze_status status = bound_side(s->query->context, &s->a->place, &bounds[0]);
  if (status == GRAZE_OK) status = bound_side(s->query->context, &s->b->place, &bounds[1]);
  if (status == GRAZE_OK)
    status = gz_query_escape(s->query, s->a, s->b, s->options, relation->pairs, relation->counts.triangle_pairs,
                             (double)INFINITY, &escape);
  if (status != GRAZE_OK) return status;
  if (escape.found) status = try_way(s, escape.translation, &out);
  if (status == GRAZE_OK && s->best->known) status = shorten(s);
  slab_widths(&bounds[0], &bounds[1], widths);
  for (int i = 0; i < STARTS && status == GRAZE_OK; i++) {
    const graze_depth_result before = *s->best;
    s->best->known = false; /* a beginning of its own */
    status = try_direction(s, &widths[i]);
    if (status == GRAZE_OK && s->best->known) status = shorten(s);
    if (before.known && (!s->best->known || !(s->best->depth < before.depth))) *s->best = before;
  }
  return status;
}

/* ---- the lower bound ---- */

/* How far points of `moved` lie inside `fixed`, whatever bounds its solid. Points of a shell that does not meet itself
 * have some of its solid around them. */
static graze_status find_lower(depth_search *s, const relate_side *fixed, const relate_side *moved, double *lower) {
  graze_query *q = s->query->moved;
  const graze_mesh *mesh = moved->place.mesh;
  const graze_context *context = q->context;
  graze_collide_options how = graze_default_collide_options();
  graze_self_result self;
  uint32_t count;
  if (!mesh_is_one_shell(mesh) || mesh->triangle_count > LOWER_MOST) return GRAZE_OK;
  how.find = GRAZE_FIND_ANY;
  graze_status status = graze_collide_self(q, mesh, &how, &self);
  if (status != GRAZE_OK || self.self_pairs > 0 || self.degenerate_pairs > 0) return status;
  const size_t bytes = 4 * (size_t)mesh->triangle_count * sizeof(double[3]);
  double(*p)[3] = posed_points(context, &moved->place, true, &count);
  graze_point_distance *found = p != NULL ? gz_memory_alloc(context, count * sizeof *found) : NULL;
  if (found == NULL) {
    status = gz_fail_memory(context, count * sizeof *found);
  } else {
    graze_point_options options = graze_default_point_options();
    options.open = s->options->open;
    status = graze_mesh_point_distances(q, fixed->place.mesh, &fixed->place.pose, p[0], 0, count, &options, found);
    for (uint32_t i = 0; i < count && status == GRAZE_OK; i++) {
      if (found[i].side == GRAZE_POINT_INSIDE) *lower = larger(found[i].distance - 0x1p-46 * s->size, *lower);
    }
  }
  gz_memory_release(context, found, count * sizeof *found);
  gz_memory_release(context, p, bytes);
  return status;
}

/* ---- the call ---- */

static double size_of(const side *a, const side *b) {
  graze_box box = gz_side_box(a), other = gz_side_box(b);
  double size = 0;
  graze_box_add_box(&box, &other);
  for (int k = 0; k < 3; k++) size = larger(size, larger(fabs(box.min[k]), fabs(box.max[k])));
  return size;
}

static graze_status find_depth(depth_search *s, const graze_relate_result *relation) {
  overlap_width least;
  graze_depth_result *r = s->best;
  graze_status status = gz_depth_convex(s->query->context, &s->a->place, &s->b->place, &r->convex, &least);
  if (status == GRAZE_OK && r->convex) {
    status = try_direction(s, &least);
    r->lower = larger(least.width - 0x1p-44 * s->size, 0);
  }
  if (status != GRAZE_OK || r->known) return status;
  r->convex = false;
  r->lower = 0;
  status = search_ways(s, relation);
  if (status == GRAZE_OK) status = find_lower(s, s->a, s->b, &r->lower);
  if (status == GRAZE_OK) status = find_lower(s, s->b, s->a, &r->lower);
  return status;
}

graze_depth_options graze_default_depth_options(void) {
  return (graze_depth_options){.exactness = GRAZE_T1, .open = GRAZE_OPEN_UNKNOWN, .cookie = OPTIONS_COOKIE};
}

static graze_status relate_and_search(depth_search *s, graze_depth_result *r) {
  graze_relate_result relation;
  graze_status status = gz_query_relate(s->query, s->a, s->b, s->options, &relation);
  if (status != GRAZE_OK) return status;
  r->verdict = relation.verdict;
  r->relation = relation.verdict.relation;
  r->known = relation_is_out(r->relation);
  if (r->known || r->relation == GRAZE_UNKNOWN) return GRAZE_OK;
  if (s->query->moved == NULL) status = graze_query_create(s->query->context, &s->query->moved);
  s->size = size_of(&s->a->place, &s->b->place);
  if (status == GRAZE_OK) status = find_depth(s, &relation);
  r->lower = r->known ? fmin(r->lower, r->depth) : r->lower;
  return status;
}

graze_status graze_mesh_depth(graze_query *q, const graze_mesh *a, const graze_pose *pose_a, const graze_mesh *b,
                              const graze_pose *pose_b, const graze_depth_options *options,
                              graze_depth_result *result) {
  if (q == NULL || a == NULL || b == NULL || result == NULL) return gz_fail_null(q != NULL ? q->context : NULL);
  graze_depth_options o = options != NULL ? *options : graze_default_depth_options();
  if (o.cookie != OPTIONS_COOKIE || (unsigned)o.exactness > GRAZE_T2 || (unsigned)o.open > GRAZE_OPEN_SURFACE) {
    return gz_fail(q->context, GRAZE_ERROR_ARGUMENT, "depth options: not initialised, or a value is unknown");
  }
  graze_relate_options how = graze_default_relate_options();
  graze_depth_result r = {.known = false};
  _Atomic(solid *) made[2] = {gz_solid_kept(a), gz_solid_kept(b)};
  relate_side sides[2] = {{.slot = &made[0]}, {.slot = &made[a != b]}};
  depth_search s = {.query = q, .a = &sides[0], .b = &sides[1], .options = &how, .best = &r};
  how.exactness = o.exactness;
  how.open = o.open;
  unsigned saved = gz_fp_enter();
  graze_status status = gz_query_side(q, a, pose_a, o.exactness, "a", &sides[0].place);
  if (status == GRAZE_OK) status = gz_query_side(q, b, pose_b, o.exactness, "b", &sides[1].place);
  if (status == GRAZE_OK) status = relate_and_search(&s, &r);
  gz_solid_keep(q->context, a, atomic_load(&made[0]));
  if (a != b) gz_solid_keep(q->context, b, atomic_load(&made[1]));
  gz_fp_leave(saved);
  if (status == GRAZE_OK) *result = r;
  return status;
}
