/* The nearest point of a triangle to a point. */
#ifndef GRAZE_SRC_GEOMETRY_NEAREST_H
#define GRAZE_SRC_GEOMETRY_NEAREST_H

#include <stdbool.h>

/* Where a triangle is nearest to a point p: at p - distance normal. */
typedef struct near_point {
  double normal[3]; /* a unit vector; of p on the triangle its own normal, or z where it has none */
  double distance;
  bool inside; /* of the triangle, and not on its rim */
} near_point;

/* Rounded: to some hundred units in the last place of the largest coordinate, slivers too. Where p projects onto the
 * rim up to rounding, either answer may come. */
near_point gz_triangle_nearest(const double corners[9], const double p[3]);

/* A sliver is so narrow that few digits decide on which side of its edges a point is. */
typedef enum triangle_shape { IS_LINE, IS_SLIVER, HAS_AREA } triangle_shape;

/* The unit normal of a triangle, or z of a line. With it and the corners all else of gz_triangle_nearest is + - * / and
 * square roots, each rounded once. */
triangle_shape gz_triangle_normal(const double corners[9], double normal[3]);

#endif
