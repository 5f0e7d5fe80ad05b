/* Where the volume vanishes, to the double, and whether the features meet there.
 *
 * Inside: with y_i the points relative to the first, at a time between two neighbouring doubles, and M_k the largest
 * |y_i,k| at t = 0 and 1, each coordinate is off by less than 8 u M_k (difference, interpolation, and the next double),
 * that of a difference of two by 18 u M_k. An orientation is a difference of two products of those, of at most 4 M_i
 * M_j each: below 2 (2 * 2 * 18 + 4 * 3) u M_i M_j = 168 u M_i M_j < 2e-14 M_i M_j. If signs are right in the
 * projection in which they are certain, the plane is not a line there, and what holds in the projection holds in the
 * plane.
 *
 * The volume: pairs of doubles (wide.h) have a relative error below 2^-102 an operation. Its coefficients as a
 * polynomial in t are sums of at most 27 products of three differences, and their sum is at most 160 M_x M_y M_z for t
 * in [0, 1]; with less than 100 operations in a row the error is below 2^-85 M_x M_y M_z.
 */
#include "exact/ccd_crossing.h"

#include <math.h>

#include "base/extremes.h"
#include "exact/wide.h"

static const double INSIDE_FILTER = 2e-14, VOLUME_FILTER = 0x1p-85;
enum { NEWTON_STEPS = 8 };

/* ---- inside --------------------------------------------------------------------------------------------------- */

/* Twice the area of a, b, c in the plane of axes i and j; 0 where its sign is not certain. */
static double area(const double *a, const double *b, const double *c, int i, int j, double bound) {
  double s = (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
  return fabs(s) > bound ? s : 0;
}

static bool is_inside_along(const double y[4][3], uint8_t kind, int i, int j, double bound) {
  if (kind == GRAZE_CCD_VERTEX_FACE) {
    double s = area(y[0], y[1], y[2], i, j, bound);
    return s != 0 && s * area(y[0], y[2], y[3], i, j, bound) > 0 && s * area(y[0], y[3], y[1], i, j, bound) > 0;
  }
  return area(y[0], y[1], y[2], i, j, bound) * area(y[0], y[1], y[3], i, j, bound) < 0 &&
         area(y[2], y[3], y[0], i, j, bound) * area(y[2], y[3], y[1], i, j, bound) < 0;
}

bool gz_ccd_looks_inside(const graze_ccd_query *query, double t) {
  double y[4][3] = {{0, 0, 0}}, reach[3] = {0, 0, 0};
  for (int i = 1; i < 4; i++) {
    for (int k = 0; k < 3; k++) {
      double from = query->points[0][i][k] - query->points[0][0][k];
      double to = query->points[1][i][k] - query->points[1][0][k];
      y[i][k] = (1 - t) * from + t * to;
      reach[k] = larger(reach[k], larger(fabs(from), fabs(to)));
    }
  }
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    double size = reach[i] * reach[j];
    if (!(size > 1e-130 && size < 1e130)) continue; /* products of areas neither vanish nor overflow */
    if (is_inside_along(y, query->kind, i, j, INSIDE_FILTER * size)) return true;
  }
  return false;
}

/* ---- the volume ----------------------------------------------------------------------------------------------- */

typedef struct cubic {
  wide c[4];
  double bound; /* of its error for t in [0, 1] */
} cubic;

static wide difference(double a, double b) {
  wide r;
  two_diff(a, b, &r.hi, &r.lo);
  return r;
}

static wide scaled(wide a, double factor) {
  return wide_mul(a, (wide){factor, 0});
}

static wide determinant(const wide a[3], const wide b[3], const wide c[3]) {
  wide sum = {0, 0};
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    wide minor = wide_sub(wide_mul(a[i], b[j]), wide_mul(a[j], b[i]));
    sum = wide_add(sum, wide_mul(minor, c[k]));
  }
  return sum;
}

/* c[n] is the sum of the determinants with n of the three vectors at t = 1 (Bernstein), then turned to powers of t. */
static cubic find_cubic(const graze_ccd_query *query) {
  wide x[2][3][3];
  double reach[3] = {0, 0, 0};
  for (int e = 0; e < 2; e++) {
    for (int i = 0; i < 3; i++) {
      for (int k = 0; k < 3; k++) {
        x[e][i][k] = difference(query->points[e][i + 1][k], query->points[e][0][k]);
        reach[k] = larger(reach[k], fabs(x[e][i][k].hi));
      }
    }
  }
  wide b[4] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
  for (int which = 0; which < 8; which++) {
    int i = which & 1, j = which >> 1 & 1, k = which >> 2;
    b[i + j + k] = wide_add(b[i + j + k], determinant(x[i][0], x[j][1], x[k][2]));
  }
  cubic f;
  f.c[0] = b[0];
  f.c[1] = wide_add(b[1], scaled(b[0], -3));
  f.c[2] = wide_add(b[2], wide_add(scaled(b[1], -2), scaled(b[0], 3)));
  f.c[3] = wide_add(wide_sub(b[3], b[2]), wide_sub(b[1], b[0]));
  f.bound = VOLUME_FILTER * reach[0] * reach[1] * reach[2];
  double low = fmin(fmin(reach[0], reach[1]), reach[2]), high = larger(larger(reach[0], reach[1]), reach[2]);
  if (!(low > 1e-60 && high < 1e60)) f.bound = INFINITY;
  return f;
}

static double evaluate(const cubic *f, double t) {
  wide value = f->c[3];
  for (int i = 2; i >= 0; i--) value = wide_add(scaled(value, t), f->c[i]);
  return value.hi;
}

static double slope(const cubic *f, double t) {
  return (3 * f->c[3].hi * t + 2 * f->c[2].hi) * t + f->c[1].hi;
}

/* ---- the crossing --------------------------------------------------------------------------------------------- */

/* Newton's method between two times of opposite signs, which close in; to the double next to the root. */
static double refine(const cubic *f, double from, double to) {
  const bool rises = evaluate(f, to) > 0;
  double t = 0.5 * (from + to);
  for (int step = 0; step < NEWTON_STEPS; step++) {
    double value = evaluate(f, t);
    if ((value > 0) == rises) to = t;
    if ((value < 0) == rises) from = t;
    double next = t - value / slope(f, t);
    if (next == t) break;
    if (!(next > from && next < to)) next = 0.5 * (from + to);
    t = next;
  }
  return t;
}

bool gz_ccd_crosses(const graze_ccd_query *query, double from, double to, double time[2]) {
  cubic f = find_cubic(query);
  double t = refine(&f, from, to), value = evaluate(&f, t), begin = evaluate(&f, from);
  if (!(fabs(value) > f.bound) || !(fabs(begin) > f.bound)) return false;
  double other = nextafter(t, (value > 0) == (begin > 0) ? 1 : 0), beyond = evaluate(&f, other);
  if (!(fabs(beyond) > f.bound) || (beyond > 0) == (value > 0)) return false;
  time[0] = fmin(t, other);
  time[1] = larger(t, other);
  return time[0] >= from && time[1] <= to && gz_ccd_looks_inside(query, time[0]);
}
