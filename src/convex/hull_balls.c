/* A ball inside a hull and one around it, with the same centre: most pairs of hulls are told apart, or not, by these.
 *
 * The centre is found in doubles, by steps away from the nearest plane that grow shorter. What the inner ball may have
 * for a radius is bounded from the corners, as planes are rounded: the distance of the centre q from the plane of a
 * triangle a, b, c is D / |n|, n = (b - a) x (c - a), D = n . (a - q). Differences have one rounding each, so with u =
 * 2^-53 and p the sum of the absolute values of the products, D is off by less than 9 u p, and a part of n by less than
 * 5 u of its two products.
 */
#include <math.h>

#include "base/extremes.h"
#include "base/vector3.h"
#include "convex/hull.h"

enum { STEPS = 48, MOST_FACES = 1000 }; /* of more faces it would take too long */

static const double UNIT = 0x1p-53;

/* How far the nearest plane is; which. */
static double nearest_plane(const graze_hull *hull, const double q[3], uint32_t *face) {
  double least = (double)INFINITY;
  for (uint32_t f = 0; f < hull->face_count; f++) {
    const double *plane = hull->planes + 4 * (size_t)f;
    const double distance = plane[3] - dot3(plane, q);
    if (distance >= least) continue;
    least = distance;
    *face = f;
  }
  return least;
}

static void find_center(const graze_hull *hull, double center[3]) {
  double at[3] = {0, 0, 0}, most = -(double)INFINITY, size = 0;
  for (uint32_t v = 0; v < hull->vertex_count; v++) {
    for (int k = 0; k < 3; k++) at[k] += hull->points[3 * (size_t)v + (size_t)k] / hull->vertex_count;
  }
  for (int k = 0; k < 3; k++) {
    center[k] = at[k];
    size = larger(size, hull->high[k] - hull->low[k]);
  }
  for (int step = 0; step < STEPS; step++) {
    uint32_t face = 0;
    const double least = nearest_plane(hull, at, &face), way = 0.25 * size / (step + 2);
    if (least > most) {
      most = least;
      for (int k = 0; k < 3; k++) center[k] = at[k];
    }
    for (int k = 0; k < 3; k++) at[k] -= way * hull->planes[4 * (size_t)face + (size_t)k];
  }
}

/* Not above the distance of q from the plane of a triangle, inside counting as above 0. */
static double plane_below(const double *a, const double *b, const double *c, const double q[3]) {
  double u[3], v[3], w[3], value = 0, size = 0, square = 0, turn = 0;
  sub3(b, a, u);
  sub3(c, a, v);
  sub3(a, q, w);
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const double left = u[i] * v[j], right = u[j] * v[i], n = left - right, both = fabs(left) + fabs(right);
    value += n * w[k];
    size += both * fabs(w[k]);
    square += n * n;
    turn += both;
  }
  const double length = sqrt(square) * (1 + 4 * UNIT) + 5 * UNIT * turn, below = value - 9.1 * UNIT * size;
  return below > 0 && length > 0 ? below / length * (1 - 4 * UNIT) : 0;
}

/* Of a face, from its best triangle. */
static double face_below(const graze_hull *hull, uint32_t face, const double q[3]) {
  double best = 0;
  const uint32_t first = hull->face_first[face] - 2 * face, end = hull->face_first[face + 1] - 2 * (face + 1);
  for (uint32_t t = first; t < end; t++) {
    const uint32_t *v = hull->triangles + 3 * (size_t)t;
    best = larger(best, plane_below(hull->points + 3 * (size_t)v[0], hull->points + 3 * (size_t)v[1],
                                    hull->points + 3 * (size_t)v[2], q));
  }
  return best;
}

void gz_hull_balls(graze_hull *hull) {
  double largest = 0, least = (double)INFINITY, most = 0;
  for (int k = 0; k < 3; k++) {
    largest = larger(largest, larger(fabs(hull->low[k]), fabs(hull->high[k])));
    hull->center[k] = 0;
  }
  hull->inner_radius = 0;
  hull->outer_radius = (double)INFINITY;
  if (hull->dimension < 3 || hull->face_count > MOST_FACES) return;
  if (largest > 1e30 || largest < 1e-30) return; /* products would leave the doubles */
  find_center(hull, hull->center);
  for (uint32_t f = 0; f < hull->face_count; f++) least = smaller(least, face_below(hull, f, hull->center));
  for (uint32_t v = 0; v < hull->vertex_count; v++) {
    double way[3];
    sub3(hull->points + 3 * (size_t)v, hull->center, way);
    most = larger(most, length3(way));
  }
  hull->inner_radius = least;
  hull->outer_radius = most * (1 + 8 * UNIT);
}
