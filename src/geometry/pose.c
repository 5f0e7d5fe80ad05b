/* Poses: plain double arithmetic in the order that math.h fixes.
 *
 * The box of a posed box takes each product at the end that makes it smallest or largest. It serves the posed vertices
 * too: these and the bounds alike carry one rounding for each product and each of three additions, so each is off its
 * exact value by less than 4u times the sum of the absolute terms, u = 2^-53, plus what products lose when they
 * underflow. Widening by 16u times that sum, plus 2^-1060, covers both and its own rounding.
 */
#include "geometry/pose.h"

#include <math.h>

#include "base/extremes.h"
#include "base/parallel.h"

graze_pose graze_pose_identity(void) {
  return (graze_pose){{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
}

graze_pose graze_pose_from_quaternion(const double quaternion[4], const double translation[3]) {
  unsigned saved = gz_fp_enter();
  /* Scaled first, so that squares neither overflow nor vanish. */
  double scale = fmax(fmax(fabs(quaternion[0]), fabs(quaternion[1])), fmax(fabs(quaternion[2]), fabs(quaternion[3])));
  double q[4], square = 0;
  for (int k = 0; k < 4; k++) {
    q[k] = quaternion[k] / scale;
    square += q[k] * q[k];
  }
  double length = sqrt(square);
  for (int k = 0; k < 4; k++) q[k] /= length;
  double w = q[0], x = q[1], y = q[2], z = q[3];
  graze_pose pose = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), translation[0],
                      2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x), translation[1],
                      2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y), translation[2]}};
  gz_fp_leave(saved);
  return pose;
}

graze_pose graze_pose_multiply(const graze_pose *second, const graze_pose *first) {
  unsigned saved = gz_fp_enter();
  graze_pose product;
  for (int r = 0; r < 3; r++) {
    const double *s = second->m + 4 * r;
    for (int c = 0; c < 4; c++) {
      product.m[4 * r + c] = (s[0] * first->m[c] + s[1] * first->m[4 + c]) + s[2] * first->m[8 + c];
    }
    product.m[4 * r + 3] += s[3];
  }
  gz_fp_leave(saved);
  return product;
}

bool graze_pose_is_identity(const graze_pose *pose) {
  const graze_pose identity = graze_pose_identity();
  for (int k = 0; k < 12; k++) {
    if (pose->m[k] != identity.m[k]) return false;
  }
  return true;
}

bool graze_pose_is_rigid(const graze_pose *pose) {
  unsigned saved = gz_fp_enter();
  bool rigid = true;
  for (int r = 0; r < 3; r++) {
    for (int c = r; c < 3; c++) {
      const double *p = pose->m + 4 * r, *q = pose->m + 4 * c;
      double dot = p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
      if (!(fabs(dot - (r == c ? 1.0 : 0.0)) <= 1e-6)) rigid = false;
    }
  }
  gz_fp_leave(saved);
  return rigid;
}

void graze_pose_apply(const graze_pose *pose, const double point[3], double out[3]) {
  unsigned saved = gz_fp_enter();
  double p[3] = {pose_row(pose, 0, point), pose_row(pose, 1, point), pose_row(pose, 2, point)};
  for (int k = 0; k < 3; k++) out[k] = p[k];
  gz_fp_leave(saved);
}

int gz_pose_first_not_finite(const graze_pose *pose) {
  double zero = 0;
  for (int k = 0; k < 12; k++) zero += 0 * pose->m[k];
  if (zero == 0) return 12; /* nearly always, and soon found out */
  int k = 0;
  while (isfinite(pose->m[k])) k++;
  return k;
}

graze_box graze_pose_box(const graze_pose *pose, const graze_box *box) {
  if (graze_box_is_empty(box)) return *box;
  unsigned saved = gz_fp_enter();
  graze_box out;
  for (int r = 0; r < 3; r++) {
    const double *m = pose->m + 4 * r;
    double low = m[3], high = m[3], size = fabs(m[3]);
    for (int k = 0; k < 3; k++) {
      double x = m[k] * box->min[k], y = m[k] * box->max[k];
      low += fmin(x, y);
      high += fmax(x, y);
      size += fmax(fabs(x), fabs(y));
    }
    double slack = 0x1p-49 * size + 0x1p-1060;
    out.min[r] = low - slack;
    out.max[r] = high + slack;
  }
  gz_fp_leave(saved);
  return out;
}

bool gz_pose_invert(const double m[9], double inverse[9]) {
  double size = 0, inverse_size = 0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      int r0 = (j + 1) % 3, r1 = (j + 2) % 3, c0 = (i + 1) % 3, c1 = (i + 2) % 3;
      inverse[3 * i + j] = m[3 * r0 + c0] * m[3 * r1 + c1] - m[3 * r0 + c1] * m[3 * r1 + c0];
    }
  }
  double det = m[0] * inverse[0] + m[1] * inverse[3] + m[2] * inverse[6];
  if (!(fabs(det) > 1e-90) || !(fabs(det) < 1e90)) return false;
  for (int k = 0; k < 9; k++) {
    inverse[k] /= det;
    size = larger(size, fabs(m[k]));
    inverse_size = larger(inverse_size, fabs(inverse[k]));
  }
  return size * inverse_size < 1e4;
}
