/* Expansions: sums of doubles that do not overlap, smallest first, whose exact sum is the value.
 *
 * J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates", 1997. Exact as
 * long as nothing overflows and no product falls below the smallest double; the caller guards that window.
 */
#ifndef GRAZE_SRC_EXACT_EXPANSION_H
#define GRAZE_SRC_EXACT_EXPANSION_H

/* hi + lo = a + b exactly, hi = the rounded sum. */
static inline void two_sum(double a, double b, double *hi, double *lo) {
  double s = a + b;
  double bb = s - a;
  *lo = (a - (s - bb)) + (b - bb);
  *hi = s;
}

static inline void two_diff(double a, double b, double *hi, double *lo) {
  two_sum(a, -b, hi, lo);
}

/* hi + lo = a * b exactly; Veltkamp's splitting and Dekker's product, for machines without a fused operation. */
static inline void two_prod(double a, double b, double *hi, double *lo) {
  const double splitter = 134217729.0; /* 2^27 + 1 */
  double p = a * b;
  double t = splitter * a;
  double ah = t - (t - a);
  double al = a - ah;
  t = splitter * b;
  double bh = t - (t - b);
  double bl = b - bh;
  *lo = al * bl - (((p - ah * bh) - al * bh) - ah * bl);
  *hi = p;
}

/* h = e + f without zero components; h must not be e or f and has room for n + m. Returns its length, at least 1. */
int gz_expansion_sum(const double *e, int n, const double *f, int m, double *h);

/* h = b * e; room for 2 n. */
int gz_expansion_scale(const double *e, int n, double b, double *h);

/* h = e * f for an e of at most 16 components and an f of m = 1 or 2; room for 4 n. */
int gz_expansion_product2(const double *e, int n, const double *f, int m, double *h);

/* Writes a - b as one or two components, without zeros unless it is zero; returns the length. */
int gz_expansion_difference(double a, double b, double h[2]);

void gz_expansion_negate(double *e, int n);

/* The sign of an expansion is that of its last component. */
static inline int expansion_sign(const double *e, int n) {
  return (e[n - 1] > 0) - (e[n - 1] < 0);
}

#endif
