/* Two spheres: the stages behind the filter. */
#include "exact/sphere.h"

#include <math.h>

#include "exact/big.h"
#include "exact/expansion.h"

/* Expansions are exact when every number is zero or within [2^-200, 2^300]: the lowest bit of a difference is then at
 * least 2^-252 and of its square 2^-504. */
static bool in_window(const sphere *b) {
  const double numbers[4] = {b->center[0], b->center[1], b->center[2], b->radius};
  for (int k = 0; k < 4; k++) {
    double m = fabs(numbers[k]);
    if (m != 0 && !(m >= 0x1p-200 && m <= 0x1p300)) return false;
  }
  return true;
}

/* h = (a - b)^2; room for 8. */
static int squared_difference(double a, double b, double *h) {
  double d[2];
  int n = gz_expansion_difference(a, b, d);
  return gz_expansion_product2(d, n, d, n, h);
}

bool gz_spheres_meet_expansion(const sphere *a, const sphere *b, bool *usable) {
  *usable = in_window(a) && in_window(b);
  if (!*usable) return false;
  double square[3][8], reach[8], two[16], three[24], all[32];
  int n[3];
  for (int k = 0; k < 3; k++) n[k] = squared_difference(a->center[k], b->center[k], square[k]);
  int n_reach = squared_difference(a->radius, -b->radius, reach);
  gz_expansion_negate(reach, n_reach);
  int n_two = gz_expansion_sum(square[0], n[0], square[1], n[1], two);
  int n_three = gz_expansion_sum(two, n_two, square[2], n[2], three);
  return expansion_sign(all, gz_expansion_sum(three, n_three, reach, n_reach, all)) <= 0;
}

/* r = (a - b)^2 */
static void squared_big(double a, double b, big *r) {
  big x, y;
  gz_big_from_double(&x, a);
  gz_big_from_double(&y, b);
  gz_big_sub(&x, &x, &y);
  gz_big_mul(r, &x, &x);
}

bool gz_spheres_meet_integer(const sphere *a, const sphere *b) {
  big sum, square;
  squared_big(a->radius, -b->radius, &sum);
  for (int k = 0; k < 3; k++) {
    squared_big(a->center[k], b->center[k], &square);
    gz_big_sub(&sum, &sum, &square);
  }
  return sum.sign >= 0;
}

bool gz_spheres_meet_exactly(const sphere *a, const sphere *b) {
  bool usable;
  bool meet = gz_spheres_meet_expansion(a, b, &usable);
  return usable ? meet : gz_spheres_meet_integer(a, b);
}
