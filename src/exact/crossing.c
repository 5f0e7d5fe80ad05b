/* Bounds, with u = 2^-53. Differences of doubles are exact in a pair of doubles; every operation of wide.h adds a
 * relative error below 2^-102.
 *
 * A determinant of three vectors is a sum of three products of two such products' difference and a third factor. With P
 * the same sum of absolute values the error is below 2^-101 P; of a line's below 2^-102 P. 2^-98 P is used. What
 * underflows is off by 2^-1074, times a difference below 2^301 and a few operations: it does not matter where P is at
 * least 2^-600.
 *
 * The crossing is p + (q - p) t with t = dp / (dp - dq) in [0, 1]. As the signs differ, |dp - dq| = |dp| + |dq|, and t
 * is off by at most 2 (off_p + off_q) / |dp - dq| and a relative 2^-98.
 */
#include "exact/crossing.h"

#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "exact/big.h"

/* ---- pairs of doubles ------------------------------------------------------------------------------------------- */

static const double DETERMINANT_OFF = 0x1p-98, LARGEST = 0x1p300, LEAST = 0x1p-600, VANISHING = 0x1p-1000;

static wide difference(double a, double b) {
  wide r;
  two_diff(a, b, &r.hi, &r.lo);
  return r;
}

static bool is_moderate(const double p[3]) {
  return fabs(p[0]) < LARGEST && fabs(p[1]) < LARGEST && fabs(p[2]) < LARGEST;
}

static measure bounded(wide value, double size) {
  return (measure){value, size >= LEAST ? DETERMINANT_OFF * size : INFINITY};
}

static measure plane_measure(const cutter *cut, const double d[3]) {
  const double *corner[3] = {cut->b, cut->c, d};
  wide e[3][3], sum = {0, 0};
  double size = 0;
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) e[i][k] = difference(corner[i][k], cut->a[k]);
  }
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const wide minor = wide_sub(wide_mul(e[0][i], e[1][j]), wide_mul(e[0][j], e[1][i]));
    sum = wide_add(sum, wide_mul(minor, e[2][k]));
    size += (fabs(e[0][i].hi * e[1][j].hi) + fabs(e[0][j].hi * e[1][i].hi)) * fabs(e[2][k].hi);
  }
  return bounded(sum, size);
}

static measure line_measure(const cutter *cut, const double c[3]) {
  const int i = (cut->axis + 1) % 3, j = (cut->axis + 2) % 3;
  const wide bi = difference(cut->b[i], cut->a[i]), bj = difference(cut->b[j], cut->a[j]);
  const wide ci = difference(c[i], cut->a[i]), cj = difference(c[j], cut->a[j]);
  return bounded(wide_sub(wide_mul(bi, cj), wide_mul(bj, ci)), fabs(bi.hi * cj.hi) + fabs(bj.hi * ci.hi));
}

measure gz_cutter_measure(const cutter *cut, const double point[3]) {
  if (!is_moderate(cut->a) || !is_moderate(cut->b) || !is_moderate(point) || (cut->c != NULL && !is_moderate(cut->c)))
    return (measure){{0, 0}, INFINITY};
  return cut->c != NULL ? plane_measure(cut, point) : line_measure(cut, point);
}

int gz_measure_sign_of_products(const measure *x, const measure *y, const measure *z, const measure *w, bool *sure) {
  const wide value = wide_sub(wide_mul(x->value, y->value), wide_mul(z->value, w->value));
  const double ax = fabs(x->value.hi), ay = fabs(y->value.hi), az = fabs(z->value.hi), aw = fabs(w->value.hi);
  const double off = 2 * ((ax + x->off) * y->off + x->off * ay + (az + z->off) * w->off + z->off * aw) +
                     DETERMINANT_OFF * (ax * ay + az * aw) + VANISHING;
  *sure = fabs(value.hi) > off && off < INFINITY;
  return value.hi > 0 ? 1 : -1;
}

static wide quotient(wide a, wide b) {
  const double first = a.hi / b.hi;
  wide rest = wide_sub(a, wide_mul(b, (wide){first, 0}));
  const double second = rest.hi / b.hi;
  rest = wide_sub(rest, wide_mul(b, (wide){second, 0}));
  return wide_add(wide_join(first, second), (wide){rest.hi / b.hi, 0});
}

/* False: the bounds do not tell how the exact coordinates round. */
static bool cross_in_pairs(const cutter *cut, const double p[3], const double q[3], double out[3]) {
  const measure dp = gz_cutter_measure(cut, p), dq = gz_cutter_measure(cut, q);
  if (!(fabs(dp.value.hi) > 2 * dp.off && fabs(dq.value.hi) > 2 * dq.off)) return false;
  const wide height = wide_sub(dp.value, dq.value), t = quotient(dp.value, height);
  const double t_off = 4 * (dp.off + dq.off) / fabs(height.hi) + 0x1p-94;
  for (int k = 0; k < 3; k++) {
    const wide way = difference(q[k], p[k]), x = wide_add((wide){p[k], 0}, wide_mul(way, t));
    const double off = fabs(way.hi) * t_off + fabs(x.hi) * 0x1p-98 + VANISHING;
    out[k] = p[k] == q[k] ? p[k] : x.hi;
    if (p[k] != q[k] && !(x.hi + (x.lo + off) == x.hi && x.hi + (x.lo - off) == x.hi)) return false;
  }
  return true;
}

/* ---- integers --------------------------------------------------------------------------------------------------- */

static void exact_difference(double a, double b, big *out) {
  big x, y;
  gz_big_from_double(&x, a);
  gz_big_from_double(&y, b);
  gz_big_sub(out, &x, &y);
}

static void exact_minor(const big *a, const big *b, const big *c, const big *d, big *out) {
  big x, y;
  gz_big_mul(&x, a, d);
  gz_big_mul(&y, b, c);
  gz_big_sub(out, &x, &y);
}

static void exact_plane(const cutter *cut, const double d[3], big *value) {
  const double *corner[3] = {cut->b, cut->c, d};
  big e[3][3], t;
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) exact_difference(corner[i][k], cut->a[k], &e[i][k]);
  }
  gz_big_from_double(value, 0);
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    exact_minor(&e[0][i], &e[0][j], &e[1][i], &e[1][j], &t);
    gz_big_mul(&t, &t, &e[2][k]);
    gz_big_add(value, value, &t);
  }
}

static void exact_line(const cutter *cut, const double c[3], big *value) {
  const int axis[2] = {(cut->axis + 1) % 3, (cut->axis + 2) % 3};
  big b[2], x[2];
  for (int k = 0; k < 2; k++) {
    exact_difference(cut->b[axis[k]], cut->a[axis[k]], &b[k]);
    exact_difference(c[axis[k]], cut->a[axis[k]], &x[k]);
  }
  exact_minor(&b[0], &b[1], &x[0], &x[1], value);
}

void gz_cutter_measure_exactly(const cutter *cut, const double point[3], struct big *value) {
  if (cut->c != NULL)
    exact_plane(cut, point, value);
  else
    exact_line(cut, point, value);
}

static void cross_in_integers(const cutter *cut, const double p[3], const double q[3], double out[3]) {
  big dp, dq, height, x, y;
  gz_cutter_measure_exactly(cut, p, &dp);
  gz_cutter_measure_exactly(cut, q, &dq);
  if (dp.sign == 0 || dq.sign == 0) {
    memcpy(out, dp.sign == 0 ? p : q, 3 * sizeof *out);
    return;
  }
  gz_big_sub(&height, &dp, &dq);
  for (int k = 0; k < 3; k++) {
    gz_big_from_double(&x, q[k]);
    gz_big_mul(&x, &x, &dp);
    gz_big_from_double(&y, p[k]);
    gz_big_mul(&y, &y, &dq);
    gz_big_sub(&x, &x, &y);
    out[k] = gz_big_ratio_nearest(&x, &height);
  }
}

void gz_cutter_cross(const cutter *cut, const double p[3], const double q[3], double out[3]) {
  if (!cross_in_pairs(cut, p, q, out)) cross_in_integers(cut, p, q, out);
}
