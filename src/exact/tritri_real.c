/* Tier T2: the real-number images of two triangles under their exact matrices. */
#include "exact/real_points.h"
#include "exact/tritri.h"

/* A matrix of both triangles that keeps volumes apart from 0 keeps what they have in common. */
void gz_tritri_real(const double a[9], const graze_pose *pose_a, const double b[9], const graze_pose *pose_b,
                    graze_tritri *result) {
  if (gz_real_same_pose(pose_a, pose_b) && gz_real_orientation(pose_a) != 0) {
    gz_tritri_scalar(a, b, result);
    return;
  }
  real_points p;
  for (int i = 0; i < 3; i++) {
    gz_real_points_set(&p, i, a + 3 * i, pose_a);
    gz_real_points_set(&p, 3 + i, b + 3 * i, pose_b);
  }
  sign_source s = gz_real_points_signs(&p);
  gz_tritri_decide(&s, result);
}
