/* Round objects against each other, and what all of their questions begin with.
 *
 * A core is a triangle without area, so that the search for near triangles (gap.c) finds what may meet a round object;
 * each of these is then held against the sum of the radii exactly. One round object contains another where the ends of
 * its core are within the difference of the radii of the other core: the larger is convex, and if it is the one with
 * the smaller radius, it has no room across.
 */
#include "narrow/round.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/parallel.h"
#include "exact/cylinder.h"
#include "geometry/pose.h"
#include "narrow/gap.h"
#include "narrow/locate.h"
#include "narrow/query.h"

enum { RELATE_COOKIE = 0x67727234 };

/* ---- cores ---- */

graze_status graze_round_create_core(graze_context *context, const double ends[2][3], graze_mesh **core) {
  double corners[9];
  if (context == NULL || ends == NULL || core == NULL) return gz_fail_null(context);
  memcpy(corners, ends, 6 * sizeof *corners);
  memcpy(corners + 6, ends[1], 3 * sizeof *corners);
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = corners;
  def.vertex_count = 3;
  def.precision = GRAZE_DOUBLE;
  return graze_mesh_create(context, &def, core);
}

bool graze_round_is_core(const graze_mesh *mesh) {
  double c[9];
  if (mesh == NULL || mesh->triangle_count != 1) return false;
  mesh_corners(mesh, 0, c);
  return c[3] == c[6] && c[4] == c[7] && c[5] == c[8];
}

static bool ends_differ(const graze_mesh *core) {
  double c[9];
  mesh_corners(core, 0, c);
  return c[0] != c[3] || c[1] != c[4] || c[2] != c[5];
}

graze_status gz_round_check(const graze_context *context, const graze_mesh *mesh, double radius, bool flat,
                            const char *which) {
  if (!(radius >= 0) || !(radius <= GRAZE_RADIUS_MOST))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: its radius is not a number from 0 to 2^1000", which);
  if (radius > 0 && !graze_round_is_core(mesh))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: it has a radius, and its mesh is not a core", which);
  if (flat && !(radius > 0 && ends_differ(mesh)))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: it is flat, and has no radius or no length", which);
  return GRAZE_OK;
}

void gz_round_open(round_pair *p, graze_query *query, round_side a, round_side b, graze_exactness exactness) {
  const round_side sides[2] = {a, b};
  p->query = query;
  for (int k = 0; k < 2; k++) {
    p->of[k] = sides[k].from;
    p->radius[k] = sides[k].radius;
    p->flat[k] = sides[k].flat;
  }
  p->exactness = exactness;
  gz_near_sum(&p->reach, p->radius, 2);
}

/* ---- exact questions ---- */

const graze_pose *gz_round_corners(const round_pair *p, int which, uint32_t triangle, double corners[9]) {
  const side *s = &p->of[which]->place;
  if (p->exactness == GRAZE_T2) {
    mesh_corners(s->mesh, triangle, corners);
    return &s->pose;
  }
  gz_side_corners(s, triangle, corners);
  return NULL;
}

void gz_round_start(const round_pair *p, graze_triangle_pair triangles, double corners[18], near_pair *pair) {
  const graze_pose *pose_a = gz_round_corners(p, 0, triangles.a, corners);
  const graze_pose *pose_b = gz_round_corners(p, 1, triangles.b, corners + 9);
  gz_near_start(pair, corners, pose_a, corners + 9, pose_b);
}

void gz_round_start_point(const round_pair *p, int which, const double point[3], const graze_pose *pose,
                          double corners[18], near_pair *pair) {
  for (int i = 0; i < 9; i++) corners[i] = point[i % 3];
  const graze_pose *of_core = gz_round_corners(p, which, 0, corners + 9);
  gz_near_start(pair, corners, of_core != NULL ? pose : NULL, corners + 9, of_core);
  pair->is_point = true;
}

/* A cylinder is part of a capsule. */
int gz_round_sign(const round_pair *p, near_pair *pair) {
  const int sign = gz_near_compare_sum(pair, &p->reach), flat = p->flat[0] ? 0 : 1;
  if (sign > 0 || !p->flat[flat]) return sign;
  const cylinder c = {&pair->points, 3 * flat, p->radius[flat]};
  return gz_cylinder_triangle(&c, 3 - 3 * flat, gz_near_meet(pair));
}

int gz_round_point_sign(const round_pair *p, int which, near_pair *pair) {
  near_sum radius;
  gz_near_sum(&radius, &p->radius[which], 1);
  const int sign = gz_near_compare_sum(pair, &radius);
  if (sign > 0 || !p->flat[which]) return sign;
  const cylinder c = {&pair->points, 3, p->radius[which]};
  return gz_cylinder_point(&c, 0);
}

double gz_round_extent(const round_pair *p, int which, int axis) {
  double c[9], u[3], square = 0;
  if (!p->flat[which]) return p->radius[which];
  gz_side_corners(&p->of[which]->place, 0, c);
  const double size = fmax(fmax(fabs(c[3] - c[0]), fabs(c[4] - c[1])), fabs(c[5] - c[2]));
  for (int k = 0; k < 3; k++) {
    u[k] = (c[3 + k] - c[k]) / size;
    square += u[k] * u[k];
  }
  const double across = 1 - u[axis] * u[axis] / square;
  return p->radius[which] * sqrt(fmax(across - 0x1p-40, 0));
}

graze_status gz_round_list(const round_pair *p, const near_sum *limit, graze_triangle_pair **pairs, uint64_t *count,
                           graze_work *work) {
  const double most = fmin(nextafter(limit->high, (double)INFINITY), DBL_MAX);
  return gz_query_near(p->query, &p->of[0]->place, &p->of[1]->place, most, p->exactness, pairs, count, work);
}

graze_box gz_round_box(const round_pair *p, int which) {
  graze_box box = gz_side_box(&p->of[which]->place);
  for (int k = 0; k < 3 && p->radius[which] > 0; k++) {
    box.min[k] = nextafter(box.min[k] - p->radius[which], (double)-INFINITY);
    box.max[k] = nextafter(box.max[k] + p->radius[which], (double)INFINITY);
  }
  return box;
}

/* ---- two round objects ---- */

/* Whether object `which` lies within the other. */
static bool is_within(const round_pair *p, int which) {
  const double terms[2] = {p->radius[1 - which], -p->radius[which]};
  double own[9], corners[18];
  near_sum room;
  near_pair pair;
  gz_near_sum(&room, terms, 2);
  const graze_pose *pose = gz_round_corners(p, which, 0, own);
  for (int end = 0; end < 2; end++) {
    gz_round_start_point(p, 1 - which, own + 3 * end, pose, corners, &pair);
    if (gz_near_compare_sum(&pair, &room) > 0) return false;
  }
  return true;
}

static graze_relation relate_rounds(const round_pair *p) {
  double corners[18];
  near_pair pair;
  gz_round_start(p, (graze_triangle_pair){0, 0}, corners, &pair);
  const int sign = gz_near_compare_sum(&pair, &p->reach);
  if (sign >= 0) return sign > 0 ? GRAZE_SEPARATE : GRAZE_TOUCH;
  const bool a_in_b = is_within(p, 0), b_in_a = is_within(p, 1);
  if (a_in_b && b_in_a) return GRAZE_DUPLICATE;
  return a_in_b ? GRAZE_A_IN_B : b_in_a ? GRAZE_B_IN_A : GRAZE_CROSS;
}

/* ---- the relation ---- */

/* Of an unknown relation it is not known that they meet. */
static graze_status relate_round_both(const round_pair *p, graze_relate_result *r) {
  static const graze_triangle_pair cores = {0, 0};
  graze_status status = GRAZE_OK;
  if (p->flat[0] || p->flat[1])
    status = gz_round_relate_flat(p, &r->verdict);
  else
    r->verdict.relation = relate_rounds(p);
  r->work.triangle_tests = 1;
  if (status != GRAZE_OK || r->verdict.relation == GRAZE_SEPARATE || r->verdict.relation == GRAZE_UNKNOWN)
    return status;
  r->counts = (graze_counts){.triangle_pairs = 1, .degenerate = 1, .hash = graze_pair_hash(0, 0)};
  r->pairs = &cores;
  return GRAZE_OK;
}

/* A core may have been refitted to be none. Posed ends that are the same span no planes. */
static graze_status check_ends(const round_pair *p) {
  for (int k = 0; k < 2; k++) {
    double own[9], corners[18];
    near_pair pair;
    if (p->radius[k] > 0 && !graze_round_is_core(p->of[k]->place.mesh))
      return gz_round_check(p->query->context, p->of[k]->place.mesh, p->radius[k], false, k == 0 ? "a" : "b");
    if (!p->flat[k]) continue;
    const graze_pose *pose = gz_round_corners(p, k, 0, own);
    gz_round_start_point(p, k, own, pose, corners, &pair);
    const cylinder c = {&pair.points, 3, p->radius[k]};
    if (gz_cylinder_has_length(&c)) continue;
    return gz_fail(p->query->context, GRAZE_ERROR_POSE, "pose of %s: it takes the length of a cylinder",
                   k == 0 ? "a" : "b");
  }
  return GRAZE_OK;
}

graze_status gz_query_relate_round(const round_pair *p, const graze_relate_options *options,
                                   graze_relate_result *result) {
  graze_relate_result r = {.verdict = {.relation = GRAZE_SEPARATE}};
  graze_triangle_pair *pairs = NULL;
  uint64_t count = 0;
  graze_status status = check_ends(p);
  if (status != GRAZE_OK) return status;
  if (round_both(p)) {
    status = relate_round_both(p, &r);
  } else if (p->of[1 - round_which(p)]->place.mesh->triangle_count > 0) {
    status = gz_round_list(p, &p->reach, &pairs, &count, &r.work);
    if (status == GRAZE_OK) status = gz_round_relate_mesh(p, options, pairs, &count, &r.verdict);
    r.counts.triangle_pairs = r.counts.degenerate = count;
    for (uint64_t i = 0; i < count; i++) r.counts.hash += graze_pair_hash(pairs[i].a, pairs[i].b);
    r.pairs = count > 0 ? pairs : NULL;
  }
  if (status == GRAZE_OK) *result = r;
  return status;
}

/* ---- the public call ---- */

static graze_status check_sides(const graze_query *q, const graze_round_side *a, const graze_round_side *b,
                                const graze_relate_options *o) {
  if (o->cookie != RELATE_COOKIE || (unsigned)o->exactness > GRAZE_T2 || (unsigned)o->open > GRAZE_OPEN_SURFACE)
    return gz_fail(q->context, GRAZE_ERROR_ARGUMENT, "relate options: not initialised, or a value is unknown");
  graze_status status = gz_round_check(q->context, a->mesh, a->radius, a->flat, "a");
  return status == GRAZE_OK ? gz_round_check(q->context, b->mesh, b->radius, b->flat, "b") : status;
}

graze_status graze_round_relate(graze_query *query, const graze_round_side *a, const graze_round_side *b,
                                const graze_relate_options *options, graze_relate_result *result) {
  if (query == NULL || a == NULL || b == NULL || a->mesh == NULL || b->mesh == NULL || result == NULL)
    return gz_fail_null(query != NULL ? query->context : NULL);
  const graze_relate_options o = options != NULL ? *options : graze_default_relate_options();
  graze_status status = check_sides(query, a, b, &o);
  if (status != GRAZE_OK) return status;
  if (a->radius == 0 && b->radius == 0)
    return graze_relate_meshes(query, a->mesh, a->pose, b->mesh, b->pose, &o, result);
  _Atomic(solid *) made[2] = {gz_solid_kept(a->mesh), gz_solid_kept(b->mesh)};
  relate_side sides[2] = {{.slot = &made[0]}, {.slot = &made[a->mesh != b->mesh]}};
  round_pair p;
  unsigned saved = gz_fp_enter();
  status = gz_query_side(query, a->mesh, a->pose, o.exactness, "a", &sides[0].place);
  if (status == GRAZE_OK) status = gz_query_side(query, b->mesh, b->pose, o.exactness, "b", &sides[1].place);
  if (status == GRAZE_OK) {
    gz_round_open(&p, query, (round_side){&sides[0], a->radius, a->flat}, (round_side){&sides[1], b->radius, b->flat},
                  o.exactness);
    status = gz_query_relate_round(&p, &o, result);
  }
  gz_solid_keep(query->context, a->mesh, atomic_load(&made[0]));
  if (a->mesh != b->mesh) gz_solid_keep(query->context, b->mesh, atomic_load(&made[1]));
  gz_fp_leave(saved);
  return status;
}
