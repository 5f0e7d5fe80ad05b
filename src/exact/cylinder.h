/* A cylinder against a triangle, a point and a ball, exactly.
 *
 * The cylinder is what is within a radius of an axis and between the planes across it at the axis' ends. Nearest points
 * of a triangle's part between the planes are rational: seen along the axis that part is a polygon, whose point nearest
 * to the axis is one of its corners, a foot on one of its sides, or the axis itself. A ball meets a cylinder at its
 * round side, at an end or at a rim; there the root of a rational number remains, and is squared away.
 */
#ifndef GRAZE_SRC_EXACT_CYLINDER_H
#define GRAZE_SRC_EXACT_CYLINDER_H

#include "exact/near.h"

/* The ends of the axis are points `axis` and axis + 1 of the set, and differ. */
typedef struct cylinder {
  real_points *points;
  int axis;
  double radius; /* above 0 */
} cylinder;

/* Whether the ends differ, as the rest takes for granted. */
bool gz_cylinder_has_length(const cylinder *c);

/* 1: apart; 0: they have a point in common, and the triangle none with the cylinder's inside; -1: it has. `meets_axis`:
 * the triangle, points `first` and on, meets the axis between its ends. */
int gz_cylinder_triangle(const cylinder *c, int first, bool meets_axis);

/* 1: outside, 0: on the surface, -1: inside. */
int gz_cylinder_point(const cylinder *c, int point);

/* A ball around a point: 1: apart; 0: they touch; -1: they share volume. */
int gz_cylinder_ball(const cylinder *c, int center, double radius);

/* Whether the ball lies in the cylinder, and the cylinder in the ball. */
bool gz_cylinder_holds_ball(const cylinder *c, int center, double radius);
bool gz_ball_holds_cylinder(const cylinder *c, int center, double radius);

/* Two whose axes are exactly parallel, of the same set of points; else *parallel is false and the rest not valid. 1:
 * apart; 0: they touch; -1: they share volume, and whether one lies in the other. */
int gz_cylinders_parallel(const cylinder *a, const cylinder *b, bool *parallel, bool *a_in_b, bool *b_in_a);

#endif
