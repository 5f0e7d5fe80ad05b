/* How far does a sum of two discs reach along all directions of a cone, at least?
 *
 * Written as n + x, with x at right angles to the unit vector n, a direction of the cone lies in the triangle between
 * its corners. With w the part of n across the axis of a disc, of length h, and y that of x, |w + s y| has the second
 * derivative |w x y|^2 / |w + s y|^3. So with d the largest |x| and e the unit vector across the axis and w,
 *
 *     |w + y| >= h + y . w / h + k (x . e)^2 / 2,  k = h^2 / (h + d)^3,
 *
 * and how far the sum reaches is at least a quadratic function of x, which is right to the second order where d is
 * small. It reaches t |n + x| if it reaches t + T |x|^2 / 2 with T >= t, as the root of 1 + |x|^2 is at most
 * 1 + |x|^2 / 2. So the bound is the least of the quadratic function with T taken off its second part. Along the axes
 * of that part it is a sum: what is concave is least in a corner, and what is convex is above any of its tangents.
 *
 * A direction of a computed vector that is off by u is as good as that of a w which is off by that, so nothing here is
 * off by more than `off`.
 */
#include <math.h>

#include "base/extremes.h"
#include "base/vector3.h"
#include "convex/discs.h"

/* The directions of n, seen by one disc: the unit vector in its plane, the one across, and how much of n is in it. */
typedef struct disc_view {
  double out[3], across[3], height;
} disc_view;

static void take_across(const double axis[3], double v[3]) {
  const double along = dot3(v, axis);
  for (int k = 0; k < 3; k++) v[k] -= along * axis[k];
}

/* Of a direction next to the axis nothing is taken but the middle of the disc. The difference of what is nearly along
 * it has to be made across it again, or it would leave the disc. */
static disc_view view_of(const double axis[3], const double n[3]) {
  disc_view v = {{n[0], n[1], n[2]}, {0}, 0};
  take_across(axis, v.out);
  v.height = length3(v.out);
  if (v.height < 0x1p-40) return (disc_view){{0}, {0}, 0};
  for (int k = 0; k < 3; k++) v.out[k] /= v.height;
  take_across(axis, v.out);
  const double length = length3(v.out);
  for (int k = 0; k < 3; k++) v.out[k] /= length;
  cross3(axis, v.out, v.across);
  return v;
}

void gz_discs_sum_support(const disc_pair *discs, const disc_sum *sum, const double n[3], double point[3]) {
  for (int k = 0; k < 3; k++) point[k] = sum->middle[k];
  for (int s = 0; s < 2; s++) {
    if (!(sum->radii[s] > 0)) continue;
    const disc_view v = view_of(discs->axis[s], n);
    for (int k = 0; k < 3; k++) point[k] += sum->radii[s] * v.out[k];
  }
}

/* The symmetric matrix (xx, xy; xy, yy) as axes: the first unit vector and both values. */
typedef struct principal {
  double axis[2], values[2];
} principal;

static principal principal_of(double xx, double xy, double yy) {
  const double middle = 0.5 * (xx + yy), half = 0.5 * (xx - yy), around = sqrt(half * half + xy * xy);
  principal p = {{1, 0}, {middle + around, middle - around}};
  const double x = half >= 0 ? around + half : xy, y = half >= 0 ? xy : around - half, length = sqrt(x * x + y * y);
  if (length > 0) {
    p.axis[0] = x / length;
    p.axis[1] = y / length;
  }
  return p;
}

/* The corners in the plane across n; false: they are too far. *far: the largest distance. */
static bool project(const double n[3], const double *const corners[3], double across[2][3], double x[3][2],
                    double *far) {
  const int least = fabs(n[0]) < fabs(n[1]) ? (fabs(n[0]) < fabs(n[2]) ? 0 : 2) : (fabs(n[1]) < fabs(n[2]) ? 1 : 2);
  const double unit[3] = {least == 0, least == 1, least == 2};
  double square = 0;
  cross3(n, unit, across[0]);
  const double length = length3(across[0]);
  for (int k = 0; k < 3; k++) across[0][k] /= length;
  cross3(n, across[0], across[1]);
  for (int i = 0; i < 3; i++) {
    const double along = dot3(corners[i], n);
    if (!(along > 0.5)) return false;
    for (int j = 0; j < 2; j++) x[i][j] = dot3(corners[i], across[j]) / along;
    square = larger(square, x[i][0] * x[i][0] + x[i][1] * x[i][1]);
  }
  *far = 1.0001 * sqrt(square);
  return true;
}

/* The least of the sum, along both axes, of slope x + value x^2 / 2. */
static double least_of(const double slopes[2], const double values[2], const double x[3][2]) {
  double least = (double)INFINITY, touch[2] = {0, 0};
  for (int j = 0; j < 2; j++) {
    if (!(values[j] > 0)) continue;
    const double low = smaller(smaller(x[0][j], x[1][j]), x[2][j]), high = larger(larger(x[0][j], x[1][j]), x[2][j]);
    touch[j] = smaller(larger(-slopes[j] / values[j], low), high);
  }
  for (int i = 0; i < 3; i++) {
    double sum = 0;
    for (int j = 0; j < 2; j++) {
      const double at = x[i][j], tangent = values[j] * touch[j] * (at - 0.5 * touch[j]);
      sum += slopes[j] * at + (values[j] > 0 ? tangent : 0.5 * values[j] * at * at);
    }
    least = smaller(least, sum);
  }
  return least;
}

double gz_discs_bound(const disc_pair *discs, const disc_sum *sum, const double n[3], const double *const corners[3],
                      double most) {
  double across[2][3], x[3][2], turned[3][2], far, point[3], form[3] = {0, 0, 0};
  if (!project(n, corners, across, x, &far)) return -(double)INFINITY;
  for (int k = 0; k < 3; k++) point[k] = sum->middle[k];
  for (int s = 0; s < 2; s++) {
    if (!(sum->radii[s] > 0)) continue;
    const disc_view v = view_of(discs->axis[s], n);
    const double wide = v.height + far, k = wide > 0 ? v.height / wide * (v.height / wide) / wide : 0;
    const double p = dot3(v.across, across[0]), q = dot3(v.across, across[1]), bend = sum->radii[s] * k;
    for (int i = 0; i < 3; i++) point[i] += sum->radii[s] * v.out[i];
    form[0] += bend * p * p;
    form[1] += bend * p * q;
    form[2] += bend * q * q;
  }
  const principal axes = principal_of(form[0] - most, form[1], form[2] - most);
  const double c = axes.axis[0], d = axes.axis[1], g = dot3(point, across[0]), h = dot3(point, across[1]);
  const double slopes[2] = {c * g + d * h, c * h - d * g};
  for (int i = 0; i < 3; i++) {
    turned[i][0] = c * x[i][0] + d * x[i][1];
    turned[i][1] = c * x[i][1] - d * x[i][0];
  }
  return smaller(dot3(point, n) + least_of(slopes, axes.values, (const double(*)[2])turned), most);
}
