/* graze/math.h: poses and boxes.
 *
 * A pose is a 3x4 row-major matrix of doubles, [m00 m01 m02 m03  m10 ... m23], that maps mesh coordinates to
 * world coordinates. Posing is part of the specification (tier T1):
 *     x' = ((m00*x + m01*y) + m02*z) + m03
 * in double, every operation rounded once to nearest, no fused operations; y' and z' alike.
 */
#ifndef GRAZE_MATH_H
#define GRAZE_MATH_H

#include "graze/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of coordinates in the caller's arrays. */
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

/* Rotation by the quaternion (w, x, y, z), normalised here, then translation (x, y, z). */
GRAZE_API graze_pose graze_pose_from_quaternion(const double quaternion[4], const double translation[3]);

/* The pose that applies `second` after `first`; rounded. */
GRAZE_API graze_pose graze_pose_multiply(const graze_pose *second, const graze_pose *first);

/* True for exactly the identity matrix (-0 counts as 0). */
GRAZE_API bool graze_pose_is_identity(const graze_pose *pose);

/* True when the 3x3 part is orthonormal to 1e-6 (mirrored included). */
GRAZE_API bool graze_pose_is_rigid(const graze_pose *pose);

/* Applies the pose to one point as specified above. `out` may be `point`. */
GRAZE_API void graze_pose_apply(const graze_pose *pose, const double point[3], double out[3]);

#ifdef __cplusplus
}
#endif
#endif
