/* Poses inside the library. */
#ifndef GRAZE_SRC_GEOMETRY_POSE_H
#define GRAZE_SRC_GEOMETRY_POSE_H

#include "graze/math.h"

/* Number of the first matrix entry that is NaN or infinite, or 12. */
int gz_pose_first_not_finite(const graze_pose *pose);

/* Inverse of a 3x3 matrix by cofactors; false when it is singular or too skew to trust in double. */
bool gz_pose_invert(const double m[9], double inverse[9]);

/* One posed coordinate: row `row` of the matrix. This is the specification's formula; whoever vectorises it must round
 * alike. */
static inline double pose_row(const graze_pose *pose, int row, const double p[3]) {
  const double *m = pose->m + 4 * row;
  return ((m[0] * p[0] + m[1] * p[1]) + m[2] * p[2]) + m[3];
}

#endif
