/* Two round objects, one of them a cylinder.
 *
 * With a ball, and with a cylinder of parallel axis, signs tell everything (exact/cylinder.h), and that sides touch
 * where the way between the axes stands on both. Otherwise nearest points are roots of polynomials of high degree. They
 * are told by prisms: one of the two cylinders has one within it and one around it, and the other object, which is
 * taken as it is, has exact relations to both.
 *
 *     common    the other shares volume with the inner prism
 *     only one  it is not within the outer one; in the cylinder: within the inner one
 *     apart     it is separate from the outer prism
 *
 * Where neither a set nor its absence is proved so, the relation is unknown.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "exact/cylinder.h"
#include "narrow/round.h"

/* Sides of a prism, a power of two: they are within 1 - cos(pi / 64) = 0.12 % of the radius. */
enum { SIDES = 64, PRISM_TRIANGLES = 4 * SIDES - 4 };

/* ---- signs ---- */

/* The core of a ball, posed: its ends are the same. */
static bool is_ball(const round_pair *p, int which) {
  double c[9];
  gz_round_corners(p, which, 0, c);
  return !p->flat[which] && c[0] == c[3] && c[1] == c[4] && c[2] == c[5];
}

static graze_relation relation_of(int sign, bool a_in_b, bool b_in_a) {
  if (sign >= 0) return sign > 0 ? GRAZE_SEPARATE : GRAZE_TOUCH;
  if (a_in_b && b_in_a) return GRAZE_DUPLICATE;
  return a_in_b ? GRAZE_A_IN_B : b_in_a ? GRAZE_B_IN_A : GRAZE_CROSS;
}

static graze_relation relate_ball(const round_pair *p, int ball, near_pair *pair) {
  const cylinder c = {&pair->points, 3 - 3 * ball, p->radius[1 - ball]};
  const int sign = gz_cylinder_ball(&c, 3 * ball, p->radius[ball]);
  const bool held = sign < 0 && gz_cylinder_holds_ball(&c, 3 * ball, p->radius[ball]);
  const bool holds = sign < 0 && gz_ball_holds_cylinder(&c, 3 * ball, p->radius[ball]);
  return relation_of(sign, ball == 0 ? held : holds, ball == 0 ? holds : held);
}

/* Whether capsules that touch do so at the sides of the cylinders in them: the way between the cores stands on both. It
 * does where it stands on one of two that are parallel. */
static bool touches_at_sides(const round_pair *p, near_pair *pair) {
  const cylinder a = {&pair->points, 0, 1}, b = {&pair->points, 3, 1};
  graze_nearest nearest;
  bool parallel, within[2], stands = false;
  gz_near_witness(pair, &nearest);
  gz_cylinders_parallel(&a, &b, &parallel, &within[0], &within[1]);
  for (int k = 0; k < 2; k++) stands |= nearest.features[k] == GRAZE_FEATURE_EDGE;
  for (int k = 0; k < 2 && !(parallel && stands); k++) {
    if (p->flat[k] && nearest.features[k] != GRAZE_FEATURE_EDGE) return false;
  }
  return true;
}

/* ---- prisms ---- */

typedef struct prism {
  double axis[2][3];                                   /* its ends */
  double along[3], across[2][3];                       /* unit vectors */
  double radius, slack, corner;                        /* the slack is more than all that is rounded, */
  double ring[SIDES][2], corners[9 * PRISM_TRIANGLES]; /* and the corner 1 / cos of half a side */
} prism;

/* Directions around a circle: halves of halves of quarters, by square roots alone, which are rounded alike everywhere.
 */
static void make_ring(prism *p) {
  static const double quarters[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  double half = 1;
  for (int i = 0; i < 4; i++) memcpy(p->ring[i * (SIDES / 4)], quarters[i], sizeof quarters[i]);
  for (int step = SIDES / 4; step > 1; step /= 2) {
    for (int i = 0; i < SIDES; i += step) {
      const double *a = p->ring[i], *b = p->ring[(i + step) % SIDES];
      const double x = a[0] + b[0], y = a[1] + b[1], length = sqrt(x * x + y * y);
      p->ring[i + step / 2][0] = x / length;
      p->ring[i + step / 2][1] = y / length;
    }
  }
  for (int i = 0; i < SIDES; i++) {
    const double *a = p->ring[i], *b = p->ring[(i + 1) % SIDES];
    half = fmin(half, 0.5 * sqrt((a[0] + b[0]) * (a[0] + b[0]) + (a[1] + b[1]) * (a[1] + b[1])));
  }
  p->corner = (1 + 0x1p-40) / half;
}

static double scale_to_one(double v[3]) {
  double size = fmax(fmax(fabs(v[0]), fabs(v[1])), fabs(v[2])), square = 0;
  for (int k = 0; k < 3; k++) {
    v[k] /= size;
    square += v[k] * v[k];
  }
  for (int k = 0; k < 3; k++) v[k] /= sqrt(square);
  return size * sqrt(square);
}

/* False: the numbers are too far apart for doubles. */
static bool open_prism(const round_pair *p, int which, prism *out) {
  const side *s = &p->of[which]->place;
  double c[9], own[9], size = p->radius[which];
  gz_side_corners(s, 0, c);
  mesh_corners(s->mesh, 0, own);
  memcpy(out->axis, c, sizeof out->axis);
  for (int i = 0; i < 6; i++) { /* as the pose rounds them, and its image before */
    const double *row = s->pose.m + 4 * (i % 3), *x = own + i / 3 * 3;
    size = fmax(size, fabs(row[0] * x[0]) + fabs(row[1] * x[1]) + fabs(row[2] * x[2]) + fabs(row[3]));
  }
  for (int k = 0; k < 3; k++) out->along[k] = c[3 + k] - c[k];
  const double length = scale_to_one(out->along);
  out->radius = p->radius[which];
  out->slack = 0x1p-36 * size;
  const double *u = out->along;
  const int flat = fabs(u[0]) <= fabs(u[1]) && fabs(u[0]) <= fabs(u[2]) ? 0 : fabs(u[1]) <= fabs(u[2]) ? 1 : 2;
  double other[3] = {0, 0, 0};
  other[flat] = 1;
  for (int n = 0; n < 2; n++) {
    for (int k = 0; k < 3; k++) {
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      out->across[n][k] = u[i] * other[j] - u[j] * other[i];
    }
    scale_to_one(out->across[n]);
    memcpy(other, out->across[n], sizeof other);
  }
  make_ring(out);
  return size < 0x1p900 && out->radius > 8 * out->slack && length > 8 * out->slack && out->slack > 0x1p-900;
}

/* Corner i of an end. */
static void place_corner(const prism *p, double radius, double out, int end, int i, double corner[3]) {
  for (int k = 0; k < 3; k++) {
    const double ring = p->ring[i % SIDES][0] * p->across[0][k] + p->ring[i % SIDES][1] * p->across[1][k];
    corner[k] = p->axis[end][k] + (end == 0 ? -out : out) * p->along[k] + radius * ring;
  }
}

/* The prism within, or around. */
static graze_status make_prism(graze_context *context, prism *p, bool outer, graze_mesh **mesh) {
  const double out = outer ? p->slack : -p->slack,
               radius = outer ? (p->radius + p->slack) * p->corner : p->radius - p->slack;
  double *next = p->corners;
  for (int i = 0; i < SIDES; i++) {
    static const int quad[6][2] = {{0, 0}, {0, 1}, {1, 1}, {0, 0}, {1, 1}, {1, 0}};
    for (int k = 0; k < 6; k++, next += 3) place_corner(p, radius, out, quad[k][0], i + quad[k][1], next);
  }
  for (int end = 0; end < 2; end++) {
    for (int i = 1; i + 1 < SIDES; i++) {
      const int fan[3] = {0, end == 0 ? i + 1 : i, end == 0 ? i : i + 1};
      for (int k = 0; k < 3; k++, next += 3) place_corner(p, radius, out, end, fan[k], next);
    }
  }
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = p->corners;
  def.vertex_count = 3 * PRISM_TRIANGLES;
  def.precision = GRAZE_DOUBLE;
  return graze_mesh_create(context, &def, mesh);
}

/* ---- by prisms ---- */

/* The relation of object `other`, as it is, to a prism of the other one: as that of a to b. */
static graze_status relate_to(const round_pair *p, int other, prism *of, bool outer, graze_relation *relation) {
  graze_mesh *mesh = NULL;
  _Atomic(solid *) made = NULL;
  round_pair pair;
  graze_relate_options options = graze_default_relate_options();
  graze_relate_result r;
  graze_query *query = p->query->moved;
  graze_status status = make_prism(query->context, of, outer, &mesh);
  if (status != GRAZE_OK) return status;
  const relate_side around = {{mesh, graze_pose_identity(), true}, &made};
  options.exactness = p->exactness;
  gz_round_open(&pair, query, (round_side){p->of[other], p->radius[other], p->flat[other]},
                (round_side){&around, 0, false}, p->exactness);
  status = gz_query_relate_round(&pair, &options, &r);
  *relation = r.verdict.relation;
  gz_solid_destroy(query->context, atomic_load(&made));
  graze_mesh_destroy(mesh);
  return status;
}

/* Of the other object, a here, and the cylinder b between its prisms. */
static graze_relation between_prisms(graze_relation inner, graze_relation outer) {
  const bool common = inner == GRAZE_CROSS || inner == GRAZE_A_IN_B || inner == GRAZE_B_IN_A;
  const bool only_a = outer == GRAZE_CROSS || outer == GRAZE_B_IN_A;
  const bool only_b = inner == GRAZE_CROSS || inner == GRAZE_A_IN_B;
  if (outer == GRAZE_SEPARATE) return GRAZE_SEPARATE;
  if (inner == GRAZE_A_IN_B) return GRAZE_A_IN_B;
  if (outer == GRAZE_B_IN_A) return GRAZE_B_IN_A;
  return common && only_a && only_b ? GRAZE_CROSS : GRAZE_UNKNOWN;
}

/* By prisms of the one that is said. */
static graze_status relate_by_prisms(const round_pair *p, int flat, graze_verdict *verdict) {
  const int other = 1 - flat;
  graze_query *q = p->query;
  prism *made = gz_memory_alloc(q->context, sizeof *made);
  if (made == NULL) return gz_fail_memory(q->context, sizeof *made);
  graze_relation inner = GRAZE_UNKNOWN, outer = GRAZE_UNKNOWN;
  graze_status status = q->moved == NULL ? graze_query_create(q->context, &q->moved) : GRAZE_OK;
  if (open_prism(p, flat, made)) {
    if (status == GRAZE_OK) status = relate_to(p, other, made, true, &outer);
    if (status == GRAZE_OK && outer != GRAZE_SEPARATE) status = relate_to(p, other, made, false, &inner);
  }
  graze_relation found = between_prisms(inner, outer);
  if (other == 1) found = found == GRAZE_A_IN_B ? GRAZE_B_IN_A : found == GRAZE_B_IN_A ? GRAZE_A_IN_B : found;
  *verdict = (graze_verdict){.relation = found};
  if (found == GRAZE_UNKNOWN) {
    verdict->doubt = GRAZE_DOUBT_ROUND;
    verdict->doubt_mesh = (uint8_t)flat;
    for (int k = 0; k < 3; k++) verdict->doubt_point[k] = 0.5 * made->axis[0][k] + 0.5 * made->axis[1][k];
  }
  gz_memory_release(q->context, made, sizeof *made);
  return status;
}

/* ---- the relation ---- */

graze_status gz_round_relate_flat(const round_pair *p, graze_verdict *verdict) {
  double corners[18];
  near_pair pair;
  *verdict = (graze_verdict){.relation = GRAZE_SEPARATE};
  gz_round_start(p, (graze_triangle_pair){0, 0}, corners, &pair);
  const int around = gz_near_compare_sum(&pair, &p->reach); /* of the capsules around them */
  if (around > 0) return GRAZE_OK;
  for (int k = 0; k < 2; k++) {
    if (!is_ball(p, k)) continue;
    verdict->relation = relate_ball(p, k, &pair);
    return GRAZE_OK;
  }
  if (p->flat[0] && p->flat[1]) {
    const cylinder a = {&pair.points, 0, p->radius[0]}, b = {&pair.points, 3, p->radius[1]};
    bool parallel, a_in_b, b_in_a;
    const int sign = gz_cylinders_parallel(&a, &b, &parallel, &a_in_b, &b_in_a);
    if (parallel) verdict->relation = relation_of(sign, a_in_b, b_in_a);
    if (parallel) return GRAZE_OK;
  }
  if (around == 0 && touches_at_sides(p, &pair)) {
    verdict->relation = GRAZE_TOUCH;
    return GRAZE_OK;
  }
  graze_status status = GRAZE_OK;
  verdict->relation = GRAZE_UNKNOWN;
  for (int k = 0; k < 2 && status == GRAZE_OK && verdict->relation == GRAZE_UNKNOWN; k++) {
    if (p->flat[k]) status = relate_by_prisms(p, k, verdict); /* those of b may tell what those of a do not */
  }
  return status;
}
