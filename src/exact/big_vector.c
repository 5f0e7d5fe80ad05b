#include "exact/big_vector.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

void gz_big_cross(const big_vector *a, const big_vector *b, big_vector *r) {
  big s, t;
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    gz_big_mul(&s, &a->x[i], &b->x[j]);
    gz_big_mul(&t, &a->x[j], &b->x[i]);
    gz_big_sub(&r->x[k], &s, &t);
  }
}

void gz_big_dot(const big_vector *a, const big_vector *b, big *r) {
  big s, t;
  gz_big_mul(&s, &a->x[0], &b->x[0]);
  for (int k = 1; k < 3; k++) {
    gz_big_mul(&t, &a->x[k], &b->x[k]);
    gz_big_add(&s, &s, &t);
  }
  gz_big_copy(r, &s);
}

void gz_big_between(const big_vector *b, const big_vector *a, big_vector *r) {
  for (int k = 0; k < 3; k++) gz_big_sub(&r->x[k], &a->x[k], &b->x[k]);
}

int gz_big_compare_root(const big *above, const big *below, const big *x) {
  big square;
  gz_big_mul(&square, x, x);
  gz_big_mul(&square, &square, below);
  gz_big_sub(&square, above, &square);
  return square.sign;
}

/* Sign of the root of above / below minus the middle between q and the next double above. */
static int compare_middle(const big *above, const big *below, double q) {
  big x, half;
  double unit = q < 0x1p-1021 ? 0x1p-1074 : ldexp(1, ilogb(q) - 52);
  gz_big_from_double(&x, q);
  gz_big_from_double(&half, unit);
  half.exponent--;
  gz_big_add(&x, &x, &half);
  return gz_big_compare_root(above, below, &x);
}

static bool is_odd(double q) {
  uint64_t bits;
  memcpy(&bits, &q, sizeof bits);
  return (bits & 1) != 0;
}

double gz_big_round_root(const big *above, const big *below) {
  const double most = 0x1.fffffffffffffp1023;
  double q = fmin(gz_big_root_ratio(above, below), most);
  for (;;) {
    int sign = compare_middle(above, below, q);
    if (sign < 0 || (sign == 0 && !is_odd(q))) break;
    if (q == most) return (double)INFINITY;
    q = nextafter(q, (double)INFINITY);
  }
  while (q > 0) {
    double under = nextafter(q, 0);
    int sign = compare_middle(above, below, under);
    if (sign > 0 || (sign == 0 && is_odd(under))) break;
    q = under;
  }
  return q;
}
