/* A ray and boxes, decided exactly. */
#ifndef GRAZE_SRC_GEOMETRY_RAY_H
#define GRAZE_SRC_GEOMETRY_RAY_H

#include "graze/math.h"

/* Points origin + t direction with t in [0, length]; length may be infinite. */
typedef struct ray {
  double origin[3], direction[3], length;
} ray;

/* Whether the ray has a point of the closed box: exact for finite numbers of any size. */
bool gz_ray_meets(const ray *r, const graze_box *box);

/* Parameter at which the ray enters a box that it meets; at most the length, 0 when it starts inside. A quotient of a
 * rounded difference: relative error at most 2^-52. */
double gz_ray_enter(const ray *r, const graze_box *box);

/* Whether rounded quotients can be trusted within 2^-50 of themselves and 2^-1000: no number is so large or so small
 * that they overflow. */
bool gz_ray_is_tame(const ray *r);

/* False only when a tame ray does not meet the box; for bounds, which need no exact answer. */
bool gz_ray_may_meet(const ray *r, const graze_box *box);

#endif
