/* All pairs of triangles of two models on a device, with no hierarchy. */
#ifndef GRAZE_SRC_GPU_TRIANGLES_H
#define GRAZE_SRC_GPU_TRIANGLES_H

#include "gpu/decide.h"

struct graze_gpu_model {
  graze_gpu *gpu;
  const graze_mesh *mesh; /* the caller's */
  uint32_t count;         /* triangles */
  gpu_buffer corners;     /* nine doubles each; none: the device has no room, or is not to be trusted */
};

/* A model at some poses, on the device. */
typedef struct posed_triangles {
  gpu_buffer poses, corners, boxes; /* boxes: six floats a triangle, rounded outward */
} posed_triangles;

/* Memory that is kept from call to call; zero-initialised. */
typedef struct gpu_triangles {
  gpu_decide decide;
  posed_triangles posed[2]; /* a and b */
} gpu_triangles;

/* As graze_collide_poses for tiers T0 and T1, but that with one pose and FIND_ALL the pairs are listed. All posed
 * triangles of b together are less than 2^32. Errors: DEVICE, MEMORY; ARGUMENT, unreported: a pose or a posed corner is
 * not finite, of which the processor tells. */
graze_status gpu_triangles_collide(graze_gpu *gpu, gpu_triangles *t, const graze_gpu_model *a, const graze_pose *pose_a,
                                   const graze_gpu_model *b, const graze_pose *poses_b, uint32_t poses, graze_find find,
                                   graze_collision *results);

void gpu_triangles_release(graze_gpu *gpu, gpu_triangles *t);

#endif
