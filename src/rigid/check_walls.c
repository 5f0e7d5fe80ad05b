/* How deep convex sets are in half-spaces. The lowest point tells; heights are sums of products, which doubles bound
 * and integers know, and so does the comparison with a length, in which the length of the normal is a square root. */
#include <float.h>
#include <math.h>

#include "exact/big.h"
#include "rigid/check.h"
#include "rigid/vector.h"

/* A product of differences and a sum of three have errors of less than this part of the sum of all terms. */
static const double height_error = 8 * DBL_EPSILON;

/* A set of points at a pose over a plane. */
typedef struct wall_view {
  const graze_convex *set;
  const graze_pose *pose;
  const double *normal, *point;
} wall_view;

static void place_of(const wall_view *view, uint32_t i, double at[3]) {
  graze_pose_apply(view->pose, view->set->points + 3 * (size_t)i, at);
}

/* n . (x - w), and by how much it may be wrong. */
static double rough_height(const wall_view *view, uint32_t i, double *error) {
  double at[3], height = 0, size = 0;
  place_of(view, i, at);
  for (int k = 0; k < 3; k++) {
    height += view->normal[k] * (at[k] - view->point[k]);
    size += fabs(view->normal[k]) * (fabs(at[k]) + fabs(view->point[k]));
  }
  *error = height_error * size + DBL_MIN;
  return height;
}

static void exact_height(const wall_view *view, uint32_t i, big *height) {
  double at[3];
  big x, y;
  place_of(view, i, at);
  gz_big_from_double(height, 0);
  for (int k = 0; k < 3; k++) {
    gz_big_from_double(&x, at[k]);
    gz_big_from_double(&y, view->point[k]);
    gz_big_sub(&x, &x, &y);
    gz_big_from_double(&y, view->normal[k]);
    gz_big_mul(&x, &x, &y);
    gz_big_add(height, height, &x);
  }
}

/* At most this high is the lowest point; at least so high is every point. */
static void bound_lowest(const wall_view *view, double *least, double *most) {
  *least = *most = (double)INFINITY;
  for (uint32_t i = 0; i < view->set->count; i++) {
    double error;
    const double height = rough_height(view, i, &error);
    *least = fmin(*least, height - error);
    *most = fmin(*most, height + error);
  }
}

static void find_lowest(const wall_view *view, double most, big *lowest) {
  bool any = false;
  for (uint32_t i = 0; i < view->set->count; i++) {
    double error;
    big height, less;
    if (rough_height(view, i, &error) - error > most) continue;
    exact_height(view, i, &height);
    if (any) {
      gz_big_sub(&less, &height, lowest);
      if (less.sign >= 0) continue;
    }
    gz_big_copy(lowest, &height);
    any = true;
  }
}

static void find_square(const double n[3], big *square) {
  gz_big_from_double(square, 0);
  for (int k = 0; k < 3; k++) {
    big x;
    gz_big_from_double(&x, n[k]);
    gz_big_mul(&x, &x, &x);
    gz_big_add(square, square, &x);
  }
}

/* The sign of (radius - slop) |n| - lowest. */
static int compare(double radius, double slop, const big *square, const big *lowest) {
  big reach, low, x;
  gz_big_from_double(&reach, radius);
  gz_big_from_double(&x, slop);
  gz_big_sub(&reach, &reach, &x);
  if (reach.sign != lowest->sign) return reach.sign > lowest->sign ? 1 : -1;
  const int sign = reach.sign;
  gz_big_mul(&reach, &reach, &reach);
  gz_big_mul(&reach, &reach, square);
  gz_big_mul(&low, lowest, lowest);
  gz_big_sub(&x, &reach, &low);
  return sign * x.sign;
}

check_depth gz_check_wall(const graze_convex *set, const graze_pose *pose, const rigid_body *wall, double slop) {
  const wall_view view = {set, pose, wall->rotation, wall->position};
  const check_depth none = {0, 0, CHECK_FORGIVEN};
  double least, most;
  big lowest, square, x;
  bound_lowest(&view, &least, &most);
  if (least > 2 * set->radius) return none; /* the normal's length is 1, or nearly */
  find_lowest(&view, most, &lowest);
  find_square(view.normal, &square);
  if (compare(set->radius, 0, &square, &lowest) <= 0) return none;
  gz_big_mul(&x, &lowest, &lowest);
  const double height = lowest.sign * gz_big_root_ratio(&x, &square), value = set->radius - height;
  const double error = 2 * DBL_EPSILON * (set->radius + fabs(height)) + DBL_TRUE_MIN;
  const bool over = compare(set->radius, slop, &square, &lowest) > 0;
  return (check_depth){fmax(value - error, over ? slop : 0), over ? value + error : fmin(value + error, slop),
                       over ? CHECK_OVER : CHECK_FORGIVEN};
}
