/* Whether two volumes may meet: intervals on axes on which they may lie apart, with margins for every rounding.
 *
 * S. Gottschalk, M. Lin, D. Manocha, "OBBTree", 1996, for 15 axes of two oriented boxes.
 */
#include <math.h>

#include "base/extremes.h"
#include "base/parallel.h"
#include "base/vector3.h"
#include "exact/big.h"
#include "exact/sphere.h"
#include "geometry/bounds.h"

/* Of sizes that take part: more than the rounding of sums of nine products and of axes that are of length 1 and at
 * right angles to within 2^-40. */
static const double MARGIN = 0x1p-36;

static double size_of(const double x[3]) {
  return fabs(x[0]) + fabs(x[1]) + fabs(x[2]);
}

/* Of other axes nothing is known. */
static bool axes_are_good(const graze_obb *b) {
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k <= i; k++) {
      if (!(fabs(dot3(b->axes[i], b->axes[k]) - (i == k)) <= 0x1p-40)) return false;
    }
  }
  return true;
}

static graze_obb obb_of(const graze_box *box) {
  graze_obb b = {.axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (int k = 0; k < 3; k++) {
    b.center[k] = 0.5 * box->min[k] + 0.5 * box->max[k];
    b.half[k] = larger(box->max[k] - b.center[k], b.center[k] - box->min[k]);
  }
  return b;
}

/* ---- oriented boxes ---- */

/* How far a box reaches along an axis. */
static double reach_of(const graze_obb *b, const double axis[3]) {
  double sum = 0;
  for (int k = 0; k < 3; k++) sum += b->half[k] * fabs(dot3(b->axes[k], axis));
  return sum;
}

static bool apart_on(const graze_obb *a, const graze_obb *b, const double way[3], const double axis[3], double margin) {
  return fabs(dot3(way, axis)) > reach_of(a, axis) + reach_of(b, axis) + margin;
}

static bool obbs_may_meet(const graze_obb *a, const graze_obb *b) {
  double way[3];
  if (!axes_are_good(a) || !axes_are_good(b)) return true;
  for (int k = 0; k < 3; k++) way[k] = b->center[k] - a->center[k];
  double sizes = size_of(way) + size_of(a->half) + size_of(b->half);
  double margin = MARGIN * sizes + 0x1p-1060;
  for (int i = 0; i < 3; i++) {
    if (apart_on(a, b, way, a->axes[i], margin) || apart_on(a, b, way, b->axes[i], margin)) return false;
    for (int j = 0; j < 3; j++) {
      const double *u = a->axes[i], *v = b->axes[j];
      const double cross[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
      if (apart_on(a, b, way, cross, margin)) return false;
    }
  }
  return true;
}

/* ---- spheres ---- */

/* Sign of the square of the distance of the centre from the box minus that of the radius. */
static int compare_gap(const graze_sphere *s, const graze_box *box) {
  big sum, x, y;
  gz_big_from_double(&sum, 0);
  for (int k = 0; k < 3; k++) {
    if (s->center[k] >= box->min[k] && s->center[k] <= box->max[k]) continue;
    gz_big_from_double(&x, s->center[k]);
    gz_big_from_double(&y, s->center[k] < box->min[k] ? box->min[k] : box->max[k]);
    gz_big_sub(&x, &x, &y);
    gz_big_mul(&x, &x, &x);
    gz_big_add(&sum, &sum, &x);
  }
  gz_big_from_double(&x, s->radius);
  gz_big_mul(&x, &x, &x);
  gz_big_sub(&sum, &sum, &x);
  return sum.sign;
}

static bool sphere_meets_box(const graze_sphere *s, const graze_box *box) {
  double square = 0;
  if (graze_box_is_empty(box)) return false;
  if (isinf(s->radius)) return true;
  for (int k = 0; k < 3; k++) {
    double gap = larger(larger(box->min[k] - s->center[k], s->center[k] - box->max[k]), 0);
    square += gap * gap;
  }
  double reach = s->radius * s->radius, margin = 0x1p-48 * (square + reach);
  if (square + reach > 0x1p-900 && square + reach < 0x1p1000 && fabs(square - reach) > margin) return square < reach;
  return compare_gap(s, box) <= 0;
}

static bool sphere_may_meet_obb(const graze_sphere *s, const graze_obb *b) {
  double way[3], square = 0;
  if (!axes_are_good(b)) return true;
  for (int k = 0; k < 3; k++) way[k] = s->center[k] - b->center[k];
  double margin = MARGIN * (size_of(way) + size_of(b->half)) + 0x1p-1060;
  for (int k = 0; k < 3; k++) {
    double gap = larger(fabs(dot3(way, b->axes[k])) - b->half[k] - margin, 0);
    square += gap * gap;
  }
  return !(sqrt(square) * (1 - MARGIN) > s->radius + margin);
}

/* ---- slabs ---- */

typedef struct interval {
  double min, max;
} interval;

static interval around(double middle, double reach, double size) {
  double margin = MARGIN * size + 0x1p-1060;
  return (interval){middle - reach - margin, middle + reach + margin};
}

/* Of any volume along one of the directions, outward. */
static interval extent_of(const graze_volume *v, uint32_t index) {
  int whole[3];
  graze_slab_direction(index, whole);
  const double d[3] = {whole[0], whole[1], whole[2]};
  if (v->kind == GRAZE_VOLUME_KDOP) return (interval){v->kdop.min[index], v->kdop.max[index]};
  if (v->kind == GRAZE_VOLUME_SPHERE) {
    const graze_sphere *s = &v->sphere;
    return around(dot3(s->center, d), s->radius * sqrt(dot3(d, d)), size_of(s->center) + s->radius);
  }
  if (v->kind == GRAZE_VOLUME_BOX && index < 3) return (interval){v->box.min[index], v->box.max[index]};
  graze_obb b = v->kind == GRAZE_VOLUME_BOX ? obb_of(&v->box) : v->obb;
  if (!axes_are_good(&b)) return (interval){-(double)INFINITY, (double)INFINITY};
  return around(dot3(b.center, d), reach_of(&b, d), size_of(b.center) + size_of(b.half));
}

static bool has(const graze_volume *v, uint32_t index) {
  return v->kind != GRAZE_VOLUME_KDOP || graze_kdop_has(v->kdop.k, index);
}

static bool slabs_may_meet(const graze_volume *a, const graze_volume *b) {
  for (uint32_t i = 0; i < GRAZE_SLABS; i++) {
    if (!has(a, i) || !has(b, i)) continue;
    interval x = extent_of(a, i), y = extent_of(b, i);
    if (x.max < y.min || y.max < x.min) return false;
  }
  return true;
}

/* ---- any two ---- */

static bool pair_may_meet(const graze_volume *a, const graze_volume *b) {
  if (b->kind == GRAZE_VOLUME_KDOP) return slabs_may_meet(a, b);
  if (b->kind == GRAZE_VOLUME_OBB) {
    if (a->kind == GRAZE_VOLUME_SPHERE) return sphere_may_meet_obb(&a->sphere, &b->obb);
    const graze_obb other = a->kind == GRAZE_VOLUME_BOX ? obb_of(&a->box) : a->obb;
    return obbs_may_meet(&other, &b->obb);
  }
  if (a->kind == GRAZE_VOLUME_BOX && b->kind == GRAZE_VOLUME_BOX) return graze_boxes_meet(&a->box, &b->box);
  if (a->kind == GRAZE_VOLUME_BOX) return sphere_meets_box(&b->sphere, &a->box);
  if (isinf(a->sphere.radius) || isinf(b->sphere.radius)) return true;
  const sphere x = {{a->sphere.center[0], a->sphere.center[1], a->sphere.center[2]}, a->sphere.radius};
  const sphere y = {{b->sphere.center[0], b->sphere.center[1], b->sphere.center[2]}, b->sphere.radius};
  return spheres_meet(&x, &y);
}

bool graze_volumes_may_meet(const graze_volume *a, const graze_volume *b) {
  if (a == NULL || b == NULL || (unsigned)a->kind > GRAZE_VOLUME_KDOP || (unsigned)b->kind > GRAZE_VOLUME_KDOP)
    return true;
  unsigned saved = gz_fp_enter();
  bool meet = a->kind <= b->kind ? pair_may_meet(a, b) : pair_may_meet(b, a);
  gz_fp_leave(saved);
  return meet;
}
