/* Expansion arithmetic with zero elimination, so that simple inputs stay short. */
#include "exact/expansion.h"

#include <math.h>
#include <stdbool.h>

int gz_expansion_sum(const double *e, int n, const double *f, int m, double *h) {
  /* Merge by magnitude, then one pass of two_sum (Shewchuk's linear expansion sum in its growing form). */
  int i = 0, j = 0, length = 0;
  double q = 0;
  while (i < n || j < m) {
    bool take_e = j >= m || (i < n && fabs(e[i]) < fabs(f[j]));
    double next = take_e ? e[i++] : f[j++];
    double lo;
    two_sum(q, next, &q, &lo);
    if (lo != 0) h[length++] = lo;
  }
  if (q != 0 || length == 0) h[length++] = q;
  return length;
}

int gz_expansion_scale(const double *e, int n, double b, double *h) {
  int length = 0;
  double q, lo;
  two_prod(e[0], b, &q, &lo);
  if (lo != 0) h[length++] = lo;
  for (int i = 1; i < n; i++) {
    double p, p_lo, s;
    two_prod(e[i], b, &p, &p_lo);
    two_sum(q, p_lo, &s, &lo);
    if (lo != 0) h[length++] = lo;
    two_sum(p, s, &q, &lo);
    if (lo != 0) h[length++] = lo;
  }
  if (q != 0 || length == 0) h[length++] = q;
  return length;
}

int gz_expansion_product2(const double *e, int n, const double *f, int m, double *h) {
  double low[32], high[32];
  if (m == 1) return gz_expansion_scale(e, n, f[0], h);
  int nl = gz_expansion_scale(e, n, f[0], low);
  int nh = gz_expansion_scale(e, n, f[1], high);
  return gz_expansion_sum(low, nl, high, nh, h);
}

int gz_expansion_difference(double a, double b, double h[2]) {
  double hi, lo;
  two_diff(a, b, &hi, &lo);
  h[0] = lo != 0 ? lo : hi;
  h[1] = hi;
  return lo != 0 ? 2 : 1;
}

void gz_expansion_negate(double *e, int n) {
  for (int i = 0; i < n; i++) e[i] = -e[i];
}
