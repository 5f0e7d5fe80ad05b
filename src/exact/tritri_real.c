/* Tier T2: the real-number images of two triangles under their exact matrices.
 *
 * Every coordinate is m0*x + m1*y + m2*z + m3 of doubles, a dyadic number, so the signs are signs of integers. A filter
 * saves nearly all of that work. The rounded image (T1) of a coordinate is off by at most
 *     e = 4.01 u (|m0 x| + |m1 y| + |m2 z| + |m3|)
 * (three products, three sums; u = 2^-53), so a difference of two images is off by at most the sum of their e plus its
 * own rounding. With g the largest such error on an axis relative to nothing but itself, a 3x3 determinant of
 * differences bounded by m is off by at most 6 ((mx+gx)(my+gy)(mz+gz) - mx my mz) plus the rounding of its own
 * evaluation; the code evaluates that bound upward.
 */
#include <math.h>
#include <string.h>

#include "exact/big.h"
#include "exact/real_points.h"
#include "exact/tritri.h"
#include "graze/math.h"

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
  p->known[i] = false;
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

/* Largest |difference to point a| on an axis, and the largest error of one. */
static void spread(const real_points *p, int axis, int a, const int *others, int count, double *m, double *g) {
  *m = 0;
  *g = 0;
  for (int k = 0; k < count; k++) {
    double d = fabs(p->rounded[others[k]][axis] - p->rounded[a][axis]);
    double e = p->error[others[k]][axis] + p->error[a][axis];
    if (d > *m) *m = d;
    if (e > *g) *g = e;
  }
  *g = *g * 1.0001 + *m * 0x1p-53;
}

static int real_orient3d(const void *self, int a, int b, int c, int d) {
  real_points *p = (real_points *)(uintptr_t)self;
  double u[3], v[3], w[3], m[3], g[3];
  const int others[3] = {b, c, d};
  for (int k = 0; k < 3; k++) {
    u[k] = p->rounded[b][k] - p->rounded[a][k];
    v[k] = p->rounded[c][k] - p->rounded[a][k];
    w[k] = p->rounded[d][k] - p->rounded[a][k];
    spread(p, k, a, others, 3, &m[k], &g[k]);
  }
  double high = fmax(fmax(m[0], m[1]), m[2]), low = fmin(fmin(m[0] + g[0], m[1] + g[1]), m[2] + g[2]);
  if (high < 1e100 && low > 1e-97) {
    double det =
        (u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] + (u[0] * v[1] - u[1] * v[0]) * w[2];
    double whole = (m[0] + g[0]) * (m[1] + g[1]) * (m[2] + g[2]);
    double moved = g[0] * (m[1] + g[1]) * (m[2] + g[2]) + m[0] * g[1] * (m[2] + g[2]) + m[0] * m[1] * g[2];
    if (fabs(det) > 6.001 * moved + 5.4e-15 * whole) return (det > 0) - (det < 0);
  }
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

static int real_orient2d(const void *self, int axis, int a, int b, int c) {
  real_points *p = (real_points *)(uintptr_t)self;
  int i = (axis + 1) % 3, j = (axis + 2) % 3;
  const int others[2] = {b, c};
  double mi, mj, gi, gj;
  spread(p, i, a, others, 2, &mi, &gi);
  spread(p, j, a, others, 2, &mj, &gj);
  const double *o = p->rounded[a];
  if (fmax(mi, mj) < 1e140 && fmin(mi + gi, mj + gj) > 1e-140) {
    double det =
        (p->rounded[b][i] - o[i]) * (p->rounded[c][j] - o[j]) - (p->rounded[b][j] - o[j]) * (p->rounded[c][i] - o[i]);
    double bound = 2.001 * (gi * (mj + gj) + mi * gj) + 1.2e-15 * (mi + gi) * (mj + gj);
    if (fabs(det) > bound) return (det > 0) - (det < 0);
  }
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

static int real_compare(const void *self, int axis, int a, int b) {
  real_points *p = (real_points *)(uintptr_t)self;
  double d = p->rounded[a][axis] - p->rounded[b][axis];
  if (fabs(d) > 1.001 * (p->error[a][axis] + p->error[b][axis])) return (d > 0) - (d < 0);
  big x;
  gz_real_points_compute(p, a);
  gz_real_points_compute(p, b);
  gz_big_sub(&x, &p->real[a][axis], &p->real[b][axis]);
  return x.sign;
}

sign_source gz_real_points_signs(real_points *points) {
  return (sign_source){real_orient3d, real_orient2d, real_compare, points};
}

void gz_tritri_real(const double a[9], const graze_pose *pose_a, const double b[9], const graze_pose *pose_b,
                    graze_tritri *result) {
  real_points p;
  for (int i = 0; i < 3; i++) {
    gz_real_points_set(&p, i, a + 3 * i, pose_a);
    gz_real_points_set(&p, 3 + i, b + 3 * i, pose_b);
  }
  sign_source s = gz_real_points_signs(&p);
  gz_tritri_decide(&s, result);
}
