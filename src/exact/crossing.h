/* Where an edge pq crosses a plane or a line: (q dp - p dq) / (dp - dq), where dp and dq are the determinants of its
 * ends against it, of opposite signs. The coordinates are the exact ones, each rounded once to the nearest double.
 *
 * First in pairs of doubles with a bound on their error, which tells nearly always how the exact value rounds; else in
 * integers of any length.
 */
#ifndef GRAZE_SRC_EXACT_CROSSING_H
#define GRAZE_SRC_EXACT_CROSSING_H

#include "exact/wide.h"

struct big;

/* A determinant: off by at most `off`, which is infinite where pairs of doubles might overflow or underflow. */
typedef struct measure {
  wide value;
  double off;
} measure;

/* A plane through three points, or a line through two in the projection that drops `axis`. */
typedef struct cutter {
  const double *a, *b, *c; /* c: NULL for a line */
  int axis;
} cutter;

measure gz_cutter_measure(const cutter *cut, const double point[3]);
void gz_cutter_measure_exactly(const cutter *cut, const double point[3], struct big *value);

/* Sign of x y - z w; `sure` becomes false where the bounds do not tell. */
int gz_measure_sign_of_products(const measure *x, const measure *y, const measure *z, const measure *w, bool *sure);

/* The point where the edge p q crosses. An end that lies on the plane or line is the point itself. */
void gz_cutter_cross(const cutter *cut, const double p[3], const double q[3], double out[3]);

#endif
