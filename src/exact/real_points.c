/* Signs of the real-number images of points under exact matrices (tier T2).
 *
 * Every coordinate is m0*x + m1*y + m2*z + m3 of doubles, a dyadic number, so the signs are signs of integers. Each is
 * found by the first of these that can tell:
 *
 * 1. The rounded images (T1). A coordinate is off by at most
 *        e = 4.01 u (|m0 x| + |m1 y| + |m2 z| + |m3|)
 *    (three products, three sums; u = 2^-53), so a difference of two is off by at most the sum of their e plus its own
 *    rounding. With g such an error on each axis, a 3x3 determinant of differences up to m is off by at most
 *    6 ((mx+gx)(my+gy)(mz+gz) - mx my mz) plus the rounding of its own evaluation.
 * 2. Images in pairs of doubles, off by at most 2^-100 of the sum in 1, with the same kind of bound. They tell what the
 *    pose has rounded apart, as the faces of parts that are turned and stand flush.
 * 3. Expansions, where no pair lost anything: parts that are only moved, and what lies across an axis that the pose
 *    leaves in place. And where all points have one matrix: the determinant of the images is that of the corners times
 *    that of the matrix. Most true zeros are found here.
 * 4. Integers of any length.
 */
#include "exact/real_points.h"

#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "exact/orient.h"

/* ---- images ------------------------------------------------------------------------------------------------------ */

static void without_pose(real_points *p, int i) {
  for (int k = 0; k < 3; k++) gz_big_from_double(&p->real[i][k], p->corner[i][k]);
}

void gz_real_points_compute(real_points *p, int i) {
  if (p->known[i]) return;
  p->known[i] = true;
  if (p->pose[i] == NULL) {
    without_pose(p, i);
    return;
  }
  for (int k = 0; k < 3; k++) {
    const double *row = p->pose[i]->m + 4 * k;
    big x, y;
    big *sum = &p->real[i][k];
    gz_big_from_double(sum, row[3]);
    for (int c = 0; c < 3; c++) {
      gz_big_from_double(&x, row[c]);
      gz_big_from_double(&y, p->corner[i][c]);
      gz_big_mul(&x, &x, &y);
      gz_big_add(sum, sum, &x);
    }
  }
}

void gz_real_points_set(real_points *p, int i, const double corner[3], const graze_pose *pose) {
  p->corner[i] = corner;
  p->pose[i] = pose;
  p->known[i] = p->refined[i] = false;
  if (pose == NULL) {
    memcpy(p->rounded[i], corner, sizeof p->rounded[i]);
    memset(p->error[i], 0, sizeof p->error[i]);
    return;
  }
  graze_pose_apply(pose, corner, p->rounded[i]);
  for (int k = 0; k < 3; k++) {
    const double *row = pose->m + 4 * k;
    double size = fabs(row[0] * corner[0]) + fabs(row[1] * corner[1]) + fabs(row[2] * corner[2]) + fabs(row[3]);
    /* 0x1p-1070 stands for what underflowing products lose. */
    p->error[i][k] = 0x1.02p-51 * size + 0x1p-1070;
  }
}

/* a + b; true: exactly. */
static bool add(wide a, wide b, wide *sum) {
  if (a.lo == 0 && b.lo == 0) {
    two_sum(a.hi, b.hi, &sum->hi, &sum->lo);
    return isfinite(sum->hi);
  }
  double x[4] = {a.lo, b.lo, b.hi, a.hi};
  for (int pass = 0; pass < 3; pass++) {
    for (int i = 0; i < 3; i++) two_sum(x[i + 1], x[i], &x[i + 1], &x[i]);
  }
  const bool exact = x[0] == 0 && x[1] == 0;
  *sum = exact ? (wide){x[3], x[2]} : wide_add(a, b);
  return exact;
}

/* a * b; true: exactly, for certain, as what underflows is not seen. */
static bool multiply(double a, double b, wide *product) {
  two_prod(a, b, &product->hi, &product->lo);
  return fabs(product->hi) >= 0x1p-900 || a == 0 || b == 0;
}

/* The image of a corner on one axis; true: exactly. Where something overflows it is not a number. */
static bool refine_axis(const double row[4], const double corner[3], wide *image) {
  wide term;
  bool exact = true;
  *image = (wide){row[3], 0};
  for (int c = 0; c < 3; c++) {
    if (row[c] == 0) continue;
    exact &= multiply(row[c], corner[c], &term);
    exact &= add(*image, term, image);
  }
  return exact && isfinite(image->hi);
}

/* Sees to it that fine[i] and its errors are known. */
static void refine(real_points *p, int i) {
  if (p->refined[i]) return;
  p->refined[i] = true;
  for (int k = 0; k < 3; k++) {
    p->fine[i][k] = (wide){p->rounded[i][k], 0};
    bool exact = p->pose[i] == NULL || refine_axis(p->pose[i]->m + 4 * k, p->corner[i], &p->fine[i][k]);
    p->fine_error[i][k] = exact ? 0 : p->error[i][k] * 0x1p-48 + 0x1p-1060;
  }
}

/* ---- poses ------------------------------------------------------------------------------------------------------- */

bool gz_real_same_pose(const graze_pose *a, const graze_pose *b) {
  if (a == b) return true;
  if (a == NULL || b == NULL) return false;
  for (int k = 0; k < 12; k++) {
    if (a->m[k] != b->m[k]) return false;
  }
  return true;
}

int gz_real_orientation(const graze_pose *pose) {
  static const double origin[3] = {0, 0, 0};
  return pose == NULL ? 1 : gz_orient3d(origin, pose->m, pose->m + 4, pose->m + 8);
}

static bool of_one_pose(const real_points *p, int a, const int others[3]) {
  for (int k = 0; k < 3; k++) {
    if (!gz_real_same_pose(p->pose[a], p->pose[others[k]])) return false;
  }
  return true;
}

/* ---- determinants ------------------------------------------------------------------------------------------------ */

/* What bounds a determinant of differences: the largest one on an axis, and the largest error of one. */
typedef struct spread {
  double most, off;
} spread;

static spread spread_of(const real_points *p, int axis, int a, const int *others, int count) {
  spread s = {0, 0};
  for (int k = 0; k < count; k++) {
    double d = fabs(p->rounded[others[k]][axis] - p->rounded[a][axis]);
    double e = p->error[others[k]][axis] + p->error[a][axis];
    if (d > s.most) s.most = d;
    if (e > s.off) s.off = e;
  }
  s.off = s.off * 1.0001 + s.most * 0x1p-53;
  return s;
}

/* Differences to point a on one axis in pairs of doubles. */
typedef struct steps {
  wide to[3];
  spread size;
  bool exact, level; /* all are exactly right; they are all 0 */
} steps;

static steps steps_of(const real_points *p, int axis, int a, const int *others, int count) {
  steps s = {.exact = true, .level = true};
  for (int k = 0; k < count; k++) {
    const wide x = p->fine[others[k]][axis], y = p->fine[a][axis];
    const double error = p->fine_error[others[k]][axis] + p->fine_error[a][axis];
    s.exact &= add(x, (wide){-y.hi, -y.lo}, &s.to[k]) && error == 0;
    s.level &= s.exact && s.to[k].hi == 0;
    s.size.most = larger(s.size.most, fabs(s.to[k].hi));
    s.size.off = larger(s.size.off, error);
  }
  s.size.off = s.size.off * 1.0001 + s.size.most * 0x1p-100;
  return s;
}

static void refine_all(real_points *p, int a, const int *others, int count) {
  refine(p, a);
  for (int k = 0; k < count; k++) refine(p, others[k]);
}

/* By how much the determinant of three differences may be off if evaluating it adds `rounding` of the largest that it
 * could be. */
static double bound3(const spread s[3], double rounding) {
  double x = s[0].most + s[0].off, y = s[1].most + s[1].off, z = s[2].most + s[2].off;
  double moved = s[0].off * y * z + s[0].most * s[1].off * z + s[0].most * s[1].most * s[2].off;
  return 6.001 * moved + rounding * (x * y * z);
}

static double bound2(const spread s[2], double rounding) {
  double x = s[0].most + s[0].off, y = s[1].most + s[1].off;
  return 2.001 * (s[0].off * y + s[0].most * s[1].off) + rounding * (x * y);
}

/* Whether a size is in a range in which nothing overflows, and underflow takes less than the bound allows. */
static bool in_range(const spread *s, double least, double most) {
  return s->most < most && s->most + s->off > least;
}

/* The sign if the bound tells; else 0. */
static int certain_sign(double value, double bound) {
  return fabs(value) > bound ? (value > 0) - (value < 0) : 0;
}

static int rounded_orient3d(const real_points *p, int a, const int others[3]) {
  double d[3][3]; /* [axis][point] */
  spread s[3];
  for (int k = 0; k < 3; k++) {
    s[k] = spread_of(p, k, a, others, 3);
    for (int i = 0; i < 3; i++) d[k][i] = p->rounded[others[i]][k] - p->rounded[a][k];
  }
  for (int k = 0; k < 3; k++) {
    if (!in_range(&s[k], 1e-97, 1e100)) return 0;
  }
  double det = (d[1][0] * d[2][1] - d[2][0] * d[1][1]) * d[0][2] + (d[2][0] * d[0][1] - d[0][0] * d[2][1]) * d[1][2] +
               (d[0][0] * d[1][1] - d[1][0] * d[0][1]) * d[2][2];
  return certain_sign(det, bound3(s, 5.4e-15));
}

/* Of the three products, each of a difference of two products, evaluating loses less than 2^-98 of their absolute
 * values, of which there are six. */
static int fine_orient3d(const steps d[3]) {
  wide det = {0, 0};
  for (int k = 0; k < 3; k++) {
    if (!in_range(&d[k].size, 1e-60, 1e80)) return 0;
    const wide *x = d[(k + 1) % 3].to, *y = d[(k + 2) % 3].to;
    wide minor = wide_sub(wide_mul(x[0], y[1]), wide_mul(x[1], y[0]));
    det = wide_add(det, wide_mul(minor, d[k].to[2]));
  }
  const spread s[3] = {d[0].size, d[1].size, d[2].size};
  return certain_sign(det.hi, bound3(s, 0x1p-95));
}

static int exact_orient3d(const steps d[3], bool *usable) {
  wide to[3][3];
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 3; i++) to[i][k] = d[k].to[i];
  }
  return gz_orient3d_pairs(to[0], to[1], to[2], usable);
}

static int big_orient3d(real_points *p, int a, const int others[3]) {
  big x[3][3], t, s, sum;
  gz_real_points_compute(p, a);
  for (int i = 0; i < 3; i++) {
    gz_real_points_compute(p, others[i]);
    for (int k = 0; k < 3; k++) gz_big_sub(&x[i][k], &p->real[others[i]][k], &p->real[a][k]);
  }
  gz_big_from_double(&sum, 0);
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    gz_big_mul(&t, &x[0][i], &x[1][j]);
    gz_big_mul(&s, &x[0][j], &x[1][i]);
    gz_big_sub(&t, &t, &s);
    gz_big_mul(&t, &t, &x[2][k]);
    gz_big_add(&sum, &sum, &t);
  }
  return sum.sign;
}

static int rounded_orient2d(const real_points *p, int i, int j, int a, const int others[2]) {
  const spread s[2] = {spread_of(p, i, a, others, 2), spread_of(p, j, a, others, 2)};
  const double *o = p->rounded[a], *b = p->rounded[others[0]], *c = p->rounded[others[1]];
  if (!in_range(&s[0], 1e-140, 1e140) || !in_range(&s[1], 1e-140, 1e140)) return 0;
  return certain_sign((b[i] - o[i]) * (c[j] - o[j]) - (b[j] - o[j]) * (c[i] - o[i]), bound2(s, 1.2e-15));
}

static int fine_orient2d(const steps *x, const steps *y) {
  const spread s[2] = {x->size, y->size};
  if (!in_range(&s[0], 1e-100, 1e120) || !in_range(&s[1], 1e-100, 1e120)) return 0;
  const wide det = wide_sub(wide_mul(x->to[0], y->to[1]), wide_mul(x->to[1], y->to[0]));
  return certain_sign(det.hi, bound2(s, 0x1p-97));
}

static int exact_orient2d(const steps *x, const steps *y, bool *usable) {
  const wide u[2] = {x->to[0], y->to[0]}, v[2] = {x->to[1], y->to[1]};
  return gz_orient2d_pairs(u, v, usable);
}

static int big_orient2d(real_points *p, int i, int j, int a, int b, int c) {
  big u, v, x, y;
  gz_real_points_compute(p, a);
  gz_real_points_compute(p, b);
  gz_real_points_compute(p, c);
  gz_big_sub(&u, &p->real[b][i], &p->real[a][i]);
  gz_big_sub(&v, &p->real[c][j], &p->real[a][j]);
  gz_big_mul(&x, &u, &v);
  gz_big_sub(&u, &p->real[b][j], &p->real[a][j]);
  gz_big_sub(&v, &p->real[c][i], &p->real[a][i]);
  gz_big_mul(&y, &u, &v);
  gz_big_sub(&x, &x, &y);
  return x.sign;
}

/* ---- signs ------------------------------------------------------------------------------------------------------- */

static int real_orient3d(const void *self, int a, int b, int c, int d) {
  real_points *p = (real_points *)(uintptr_t)self;
  const int others[3] = {b, c, d};
  int sign = rounded_orient3d(p, a, others);
  if (sign != 0) return sign;
  steps s[3];
  refine_all(p, a, others, 3);
  for (int k = 0; k < 3; k++) {
    s[k] = steps_of(p, k, a, others, 3);
    if (s[k].level) return 0;
  }
  sign = fine_orient3d(s);
  if (sign != 0) return sign;
  bool usable = s[0].exact && s[1].exact && s[2].exact;
  if (usable) sign = exact_orient3d(s, &usable);
  if (usable) return sign;
  if (of_one_pose(p, a, others)) {
    return gz_real_orientation(p->pose[a]) * gz_orient3d(p->corner[a], p->corner[b], p->corner[c], p->corner[d]);
  }
  return big_orient3d(p, a, others);
}

static int real_orient2d(const void *self, int axis, int a, int b, int c) {
  real_points *p = (real_points *)(uintptr_t)self;
  const int i = (axis + 1) % 3, j = (axis + 2) % 3, others[2] = {b, c};
  int sign = rounded_orient2d(p, i, j, a, others);
  if (sign != 0) return sign;
  refine_all(p, a, others, 2);
  const steps x = steps_of(p, i, a, others, 2), y = steps_of(p, j, a, others, 2);
  if (x.level || y.level) return 0;
  sign = fine_orient2d(&x, &y);
  if (sign != 0) return sign;
  bool usable = x.exact && y.exact;
  if (usable) sign = exact_orient2d(&x, &y, &usable);
  return usable ? sign : big_orient2d(p, i, j, a, b, c);
}

static int real_compare(const void *self, int axis, int a, int b) {
  real_points *p = (real_points *)(uintptr_t)self;
  int sign = certain_sign(p->rounded[a][axis] - p->rounded[b][axis], 1.001 * (p->error[a][axis] + p->error[b][axis]));
  if (sign != 0) return sign;
  refine_all(p, b, &a, 1);
  const steps s = steps_of(p, axis, b, &a, 1);
  sign = certain_sign(s.to[0].hi, s.exact ? 0 : s.size.off);
  if (sign != 0 || s.exact) return sign;
  big x;
  gz_real_points_compute(p, a);
  gz_real_points_compute(p, b);
  gz_big_sub(&x, &p->real[a][axis], &p->real[b][axis]);
  return x.sign;
}

sign_source gz_real_points_signs(real_points *points) {
  return (sign_source){real_orient3d, real_orient2d, real_compare, points};
}
