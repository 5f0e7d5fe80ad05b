/* Where the volume vanishes, to the double, and whether the features meet there.
 *
 * Inside: with y_i the points relative to the first, at a time between two neighbouring doubles, and M_k the largest
 * |y_i,k| at t = 0 and 1, each coordinate is off by less than 8 u M_k (difference, interpolation, and the next double),
 * that of a difference of two by 18 u M_k. An orientation is a difference of two products of those, of at most 4 M_i
 * M_j each: below 2 (2 * 2 * 18 + 4 * 3) u M_i M_j = 168 u M_i M_j < 2e-14 M_i M_j. If signs are right in the
 * projection in which they are certain, the plane is not a line there, and what holds in the projection holds in the
 * plane.
 *
 * The volume: pairs of doubles have a relative error below 2^-100 an operation. Its coefficients as a polynomial in t
 * are sums of at most 27 products of three differences, and their sum is at most 160 M_x M_y M_z for t in [0, 1]; with
 * less than 100 operations in a row the error is below 2^-85 M_x M_y M_z.
 */
#include "exact/ccd_crossing.h"

#include <math.h>

#include "exact/expansion.h"

static const double INSIDE_FILTER = 2e-14, VOLUME_FILTER = 0x1p-85;
enum { NEWTON_STEPS = 8 };

static double larger(double a, double b) {
  return a > b ? a : b;
}

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

/* ---- pairs of doubles ----------------------------------------------------------------------------------------- */

typedef struct twin {
  double high, low;
} twin;

static twin twin_sum(twin a, twin b) {
  double s, e, t, f;
  two_sum(a.high, b.high, &s, &e);
  two_sum(a.low, b.low, &t, &f);
  e += t;
  double h = s + e;
  e = e - (h - s) + f;
  double high = h + e;
  return (twin){high, e - (high - h)};
}

static twin twin_negative(twin a) {
  return (twin){-a.high, -a.low};
}

static twin twin_product(twin a, twin b) {
  double p, e;
  two_prod(a.high, b.high, &p, &e);
  e += a.high * b.low + a.low * b.high;
  double high = p + e;
  return (twin){high, e - (high - p)};
}

static twin twin_scaled(twin a, double factor) {
  return twin_product(a, (twin){factor, 0});
}

static twin twin_difference(double a, double b) {
  twin r;
  two_diff(a, b, &r.high, &r.low);
  return r;
}

/* ---- the volume ----------------------------------------------------------------------------------------------- */

typedef struct cubic {
  twin c[4];
  double bound; /* of its error for t in [0, 1] */
} cubic;

static twin determinant(const twin a[3], const twin b[3], const twin c[3]) {
  twin sum = {0, 0};
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    twin minor = twin_sum(twin_product(a[i], b[j]), twin_negative(twin_product(a[j], b[i])));
    sum = twin_sum(sum, twin_product(minor, c[k]));
  }
  return sum;
}

/* c[n] is the sum of the determinants with n of the three vectors at t = 1 (Bernstein), then turned to powers of t. */
static cubic find_cubic(const graze_ccd_query *query) {
  twin x[2][3][3];
  double reach[3] = {0, 0, 0};
  for (int e = 0; e < 2; e++) {
    for (int i = 0; i < 3; i++) {
      for (int k = 0; k < 3; k++) {
        x[e][i][k] = twin_difference(query->points[e][i + 1][k], query->points[e][0][k]);
        reach[k] = larger(reach[k], fabs(x[e][i][k].high));
      }
    }
  }
  twin b[4] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
  for (int which = 0; which < 8; which++) {
    int i = which & 1, j = which >> 1 & 1, k = which >> 2;
    b[i + j + k] = twin_sum(b[i + j + k], determinant(x[i][0], x[j][1], x[k][2]));
  }
  cubic f;
  f.c[0] = b[0];
  f.c[1] = twin_sum(b[1], twin_scaled(b[0], -3));
  f.c[2] = twin_sum(b[2], twin_sum(twin_scaled(b[1], -2), twin_scaled(b[0], 3)));
  f.c[3] = twin_sum(twin_sum(b[3], twin_negative(b[2])), twin_sum(b[1], twin_negative(b[0])));
  f.bound = VOLUME_FILTER * reach[0] * reach[1] * reach[2];
  double low = fmin(fmin(reach[0], reach[1]), reach[2]), high = larger(larger(reach[0], reach[1]), reach[2]);
  if (!(low > 1e-60 && high < 1e60)) f.bound = INFINITY;
  return f;
}

static double evaluate(const cubic *f, double t) {
  twin value = f->c[3];
  for (int i = 2; i >= 0; i--) value = twin_sum(twin_scaled(value, t), f->c[i]);
  return value.high;
}

static double slope(const cubic *f, double t) {
  return (3 * f->c[3].high * t + 2 * f->c[2].high) * t + f->c[1].high;
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
