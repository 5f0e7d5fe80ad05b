/* A point and a triangle: how far apart, exactly.
 *
 * The nearest point of the triangle lies in the inside of one of its features. Which one, signs of polynomials of
 * degree 2 and 4 tell: doubles with error bounds for nearly all points, and then numbers of two doubles give the
 * distance, proved to round as it does. What they leave open is decided as that of two triangles (near.h), one a point.
 */
#ifndef GRAZE_SRC_EXACT_NEAR_POINT_H
#define GRAZE_SRC_EXACT_NEAR_POINT_H

#include "base/cpu.h"
#include "graze/distance.h"

/* lower[i] <= distance of p from triangle i <= upper[i], proved, of eight triangles; coordinate k (x0 y0 z0 x1 .. z2)
 * of triangle i is corners[8 k + i]. 0 and infinity where doubles cannot tell. */
typedef void near_point_function(const double p[3], const double *corners, double lower[8], double upper[8]);
CPU_KERNELS(near_point_function, gz_near_point_block);
near_point_function *gz_near_point_best(void);

/* The feature of a triangle that is proved to be nearest, by its corners: 1 a vertex, 2 an edge, 3 the face; 0: not
 * known. */
typedef struct point_feature {
  int count;
  int corner[3];
} point_feature;

/* A distance of a point, as it rounds. */
typedef struct point_value {
  double distance;
  bool on; /* it is 0 */
  point_feature feature;
} point_value;

point_feature gz_point_feature(const double p[3], const double corners[9]);

/* The distance from a triangle, of which bounds are known; `feature` is gz_point_feature's. */
point_value gz_point_distance(const double p[3], const double corners[9], double lower, double upper,
                              point_feature feature);

/* The nearest point and what it lies on, of the same. */
void gz_point_witness(const double p[3], const double corners[9], const point_value *value, double nearest[3],
                      graze_feature *feature);

#endif
