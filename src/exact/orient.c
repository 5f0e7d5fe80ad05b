/* gz_orient3d and gz_orient2d: filter, expansions, integers.
 *
 * Filter bound. Every term of the 3x3 determinant is a product of three differences. It collects at most eight
 * roundings (three differences, one product, one subtraction of the minor, one product, two additions), and with
 * mx, my, mz the largest |difference| on each axis it is at most mx*my*mz; six terms give an error below
 * 48.1 u mx my mz, u = 2^-53, and computing the bound itself three more roundings: 5.36e-15 covers it. The 2x2
 * determinant likewise: five roundings, two terms, below 10.1 u; 1.13e-15. Both hold while products do not
 * overflow, and lose next to nothing by underflow, which the windows on the magnitudes ensure.
 */
#include "exact/orient.h"

#include <math.h>

#include "base/extremes.h"
#include "exact/big.h"
#include "exact/expansion.h"

static const double FILTER_3D = 5.36e-15;
static const double FILTER_2D = 1.13e-15;

static int sign_of(double x) {
  return (x > 0) - (x < 0);
}

static bool same(const double p[3], const double q[3]) {
  return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

static double max3(double a, double b, double c) {
  return larger(larger(fabs(a), fabs(b)), fabs(c));
}

/* Expansions are exact when every coordinate is zero or within [2^-200, 2^300]: the lowest bit of a difference is then
 * at least 2^-252, of a triple product 2^-756, and the largest product stays below 2^910. */
static bool expansion_window(const double *p) {
  for (int k = 0; k < 3; k++) {
    double m = fabs(p[k]);
    if (m != 0 && !(m >= 0x1p-200 && m <= 0x1p300)) return false;
  }
  return true;
}

/* A difference of two doubles. */
typedef struct exact_difference {
  double part[2];
  int length;
} exact_difference;

static exact_difference difference(double a, double b) {
  exact_difference d;
  d.length = gz_expansion_difference(a, b, d.part);
  return d;
}

/* x1 * y2 - x2 * y1; room for 16. */
static int minor(const exact_difference *x1, const exact_difference *y2, const exact_difference *x2,
                 const exact_difference *y1, double *h) {
  double p[8], q[8];
  int np = gz_expansion_product2(x1->part, x1->length, y2->part, y2->length, p);
  int nq = gz_expansion_product2(x2->part, x2->length, y1->part, y1->length, q);
  gz_expansion_negate(q, nq);
  return gz_expansion_sum(p, np, q, nq, h);
}

/* u x v . w */
static int sign3(const exact_difference u[3], const exact_difference v[3], const exact_difference w[3]) {
  double m[16], term[3][64], sum[128], all[192];
  int length[3];
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    int n = minor(&u[i], &v[j], &u[j], &v[i], m);
    length[k] = gz_expansion_product2(m, n, w[k].part, w[k].length, term[k]);
  }
  int n = gz_expansion_sum(term[0], length[0], term[1], length[1], sum);
  return expansion_sign(all, gz_expansion_sum(sum, n, term[2], length[2], all));
}

int gz_orient3d_expansion(const double a[3], const double b[3], const double c[3], const double d[3], bool *usable) {
  *usable = expansion_window(a) && expansion_window(b) && expansion_window(c) && expansion_window(d);
  if (!*usable) return 0;
  exact_difference u[3], v[3], w[3];
  for (int k = 0; k < 3; k++) {
    u[k] = difference(b[k], a[k]);
    v[k] = difference(c[k], a[k]);
    w[k] = difference(d[k], a[k]);
  }
  return sign3(u, v, w);
}

/* Vectors in pairs of doubles as differences; false: beyond the window. */
static bool take_pairs(const wide *from, int count, exact_difference *to) {
  for (int k = 0; k < count; k++) {
    const double parts[3] = {from[k].hi, from[k].lo, 0};
    if (!expansion_window(parts)) return false;
    to[k] = (exact_difference){{from[k].lo, from[k].hi}, 2};
    if (from[k].lo == 0) to[k] = (exact_difference){{from[k].hi, 0}, 1};
  }
  return true;
}

int gz_orient3d_pairs(const wide u[3], const wide v[3], const wide w[3], bool *usable) {
  exact_difference d[3][3];
  *usable = take_pairs(u, 3, d[0]) && take_pairs(v, 3, d[1]) && take_pairs(w, 3, d[2]);
  return *usable ? sign3(d[0], d[1], d[2]) : 0;
}

int gz_orient2d_pairs(const wide u[2], const wide v[2], bool *usable) {
  exact_difference d[2][2];
  double m[16];
  *usable = take_pairs(u, 2, d[0]) && take_pairs(v, 2, d[1]);
  return *usable ? expansion_sign(m, minor(&d[0][0], &d[1][1], &d[0][1], &d[1][0], m)) : 0;
}

int gz_orient3d_integer(const double a[3], const double b[3], const double c[3], const double d[3]) {
  big u[3], v[3], w[3], base, x, y, sum;
  for (int k = 0; k < 3; k++) {
    gz_big_from_double(&base, a[k]);
    gz_big_from_double(&x, b[k]);
    gz_big_sub(&u[k], &x, &base);
    gz_big_from_double(&x, c[k]);
    gz_big_sub(&v[k], &x, &base);
    gz_big_from_double(&x, d[k]);
    gz_big_sub(&w[k], &x, &base);
  }
  gz_big_from_double(&sum, 0);
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    gz_big_mul(&x, &u[i], &v[j]);
    gz_big_mul(&y, &u[j], &v[i]);
    gz_big_sub(&x, &x, &y);
    gz_big_mul(&x, &x, &w[k]);
    gz_big_add(&sum, &sum, &x);
  }
  return sum.sign;
}

int gz_orient3d(const double a[3], const double b[3], const double c[3], const double d[3]) {
  double u[3], v[3], w[3], m[3];
  for (int k = 0; k < 3; k++) {
    u[k] = b[k] - a[k];
    v[k] = c[k] - a[k];
    w[k] = d[k] - a[k];
    m[k] = max3(u[k], v[k], w[k]);
  }
  /* A difference rounds to zero only when it is zero (subnormals are kept): a zero axis means a zero determinant. */
  if (m[0] == 0 || m[1] == 0 || m[2] == 0) return 0;
  double low = smaller(smaller(m[0], m[1]), m[2]), high = max3(m[0], m[1], m[2]);
  if (low > 1e-97 && high < 1e100) {
    double det =
        (u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] + (u[0] * v[1] - u[1] * v[0]) * w[2];
    if (fabs(det) > FILTER_3D * m[0] * m[1] * m[2]) return sign_of(det);
  }
  if (same(a, b) || same(a, c) || same(a, d) || same(b, c) || same(b, d) || same(c, d)) return 0;
  bool usable;
  int sign = gz_orient3d_expansion(a, b, c, d, &usable);
  return usable ? sign : gz_orient3d_integer(a, b, c, d);
}

int gz_orient2d_expansion(int axis, const double a[3], const double b[3], const double c[3], bool *usable) {
  *usable = expansion_window(a) && expansion_window(b) && expansion_window(c);
  if (!*usable) return 0;
  int i = (axis + 1) % 3, j = (axis + 2) % 3;
  exact_difference ui = difference(b[i], a[i]), uj = difference(b[j], a[j]);
  exact_difference vi = difference(c[i], a[i]), vj = difference(c[j], a[j]);
  double m[16];
  return expansion_sign(m, minor(&ui, &vj, &uj, &vi, m));
}

int gz_orient2d_integer(int axis, const double a[3], const double b[3], const double c[3]) {
  big u[2], v[2], base, x;
  for (int k = 0; k < 2; k++) {
    int i = (axis + 1 + k) % 3;
    gz_big_from_double(&base, a[i]);
    gz_big_from_double(&x, b[i]);
    gz_big_sub(&u[k], &x, &base);
    gz_big_from_double(&x, c[i]);
    gz_big_sub(&v[k], &x, &base);
  }
  gz_big_mul(&u[0], &u[0], &v[1]);
  gz_big_mul(&u[1], &u[1], &v[0]);
  gz_big_sub(&x, &u[0], &u[1]);
  return x.sign;
}

/* The window keeps products from overflowing, and what underflow takes from them far below the bound. */
int gz_orient2d(int axis, const double a[3], const double b[3], const double c[3]) {
  static const int next[5] = {0, 1, 2, 0, 1};
  int i = next[axis + 1], j = next[axis + 2];
  double ui = b[i] - a[i], uj = b[j] - a[j];
  double vi = c[i] - a[i], vj = c[j] - a[j];
  double mi = larger(fabs(ui), fabs(vi)), mj = larger(fabs(uj), fabs(vj));
  if (mi == 0 || mj == 0) return 0;
  double size = mi * mj;
  if (size > 1e-270 && size < 1e270) {
    double det = ui * vj - uj * vi;
    if (fabs(det) > FILTER_2D * size) return sign_of(det);
  }
  if (same(a, b) || same(a, c) || same(b, c)) return 0;
  bool usable;
  int sign = gz_orient2d_expansion(axis, a, b, c, &usable);
  return usable ? sign : gz_orient2d_integer(axis, a, b, c);
}
