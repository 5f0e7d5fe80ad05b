/* graze/math.h: poses and boxes.
 *
 * A pose is a 3x4 row-major matrix of doubles, [m00 m01 m02 m03  m10 ... m23], that maps mesh coordinates to
 * world coordinates. How it is applied is part of the specification (tier T1):
 *     x' = ((m00*x + m01*y) + m02*z) + m03
 * in double, every operation rounded once to nearest, no fused operations; y' and z' alike.
 */
#ifndef GRAZE_MATH_H
#define GRAZE_MATH_H

#include <math.h>

#include "graze/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The type of coordinates in the caller's arrays. */
typedef enum graze_precision { GRAZE_FLOAT = 0, GRAZE_DOUBLE = 1 } graze_precision;

typedef struct graze_pose {
  double m[12];
} graze_pose;

/* Closed axis-aligned box. Empty when min > max on any axis. */
typedef struct graze_box {
  double min[3];
  double max[3];
} graze_box;

GRAZE_API graze_pose graze_pose_identity(void);

/* Rotation by the quaternion (w, x, y, z), which need not be normalised, then translation (x, y, z). */
GRAZE_API graze_pose graze_pose_from_quaternion(const double quaternion[4], const double translation[3]);

/* The pose that applies `second` after `first`; rounded. */
GRAZE_API graze_pose graze_pose_multiply(const graze_pose *second, const graze_pose *first);

/* True for exactly the identity matrix (-0 counts as 0). */
GRAZE_API bool graze_pose_is_identity(const graze_pose *pose);

/* True when the 3x3 part is orthonormal to 1e-6 (mirrored included). */
GRAZE_API bool graze_pose_is_rigid(const graze_pose *pose);

/* Applies the pose to one point as specified above. `out` may be `point`. */
GRAZE_API void graze_pose_apply(const graze_pose *pose, const double point[3], double out[3]);

/* A box that contains every posed point of `box`, both the real-number image and the image rounded as specified above.
 * Wider than the smallest such box by less than 2^-47 of the largest sum of absolute terms in a row of the pose.
 * Infinite or NaN bounds where the image overflows. An empty box stays empty. */
GRAZE_API graze_box graze_pose_box(const graze_pose *pose, const graze_box *box);

/* The empty box to which points and boxes are added: +infinity to -infinity on each axis. */
static inline graze_box graze_box_empty(void) {
  const double inf = (double)INFINITY;
  const graze_box box = {{inf, inf, inf}, {-inf, -inf, -inf}};
  return box;
}

static inline bool graze_box_is_empty(const graze_box *box) {
  return !(box->min[0] <= box->max[0] && box->min[1] <= box->max[1] && box->min[2] <= box->max[2]);
}

/* Grows the box to contain the point. */
static inline void graze_box_add_point(graze_box *box, const double point[3]) {
  for (int k = 0; k < 3; k++) {
    box->min[k] = point[k] < box->min[k] ? point[k] : box->min[k];
    box->max[k] = point[k] > box->max[k] ? point[k] : box->max[k];
  }
}

/* Grows the box to contain `other`, which may be empty. */
static inline void graze_box_add_box(graze_box *box, const graze_box *other) {
  for (int k = 0; k < 3; k++) {
    box->min[k] = other->min[k] < box->min[k] ? other->min[k] : box->min[k];
    box->max[k] = other->max[k] > box->max[k] ? other->max[k] : box->max[k];
  }
}

/* Whether two closed boxes have a point in common. */
static inline bool graze_boxes_meet(const graze_box *a, const graze_box *b) {
  return a->min[0] <= b->max[0] && b->min[0] <= a->max[0] && a->min[1] <= b->max[1] && b->min[1] <= a->max[1] &&
         a->min[2] <= b->max[2] && b->min[2] <= a->max[2];
}

/* Whether `outer` contains every point of `inner`. */
static inline bool graze_box_contains(const graze_box *outer, const graze_box *inner) {
  for (int k = 0; k < 3; k++) {
    if (!(outer->min[k] <= inner->min[k] && inner->max[k] <= outer->max[k])) return false;
  }
  return true;
}

#ifdef __cplusplus
}
#endif
#endif
