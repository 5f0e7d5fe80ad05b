/* All pairs of triangles of two models on a device, with no hierarchy. */
#ifndef GRAZE_SRC_GPU_TRIANGLES_H
#define GRAZE_SRC_GPU_TRIANGLES_H

#include "gpu/primitives.h"
#include "graze/collide.h"

struct graze_gpu_model {
  graze_gpu *gpu;
  const graze_mesh *mesh; /* the caller's */
  uint32_t count;         /* triangles */
  gpu_buffer corners;     /* nine doubles each; none: the device has no room, or is not to be trusted */
};

/* Memory that is kept from call to call; zero-initialised. */
typedef struct gpu_triangles {
  gpu_scratch scratch;
  gpu_buffer pose, bad, posed[2]; /* of a and b */
  gpu_buffer counts, places, pairs;
  buffer left;    /* graze_triangle_pair: what the device could not tell apart */
  buffer corners; /* of a block of them, eighteen arrays */
  buffer results; /* graze_tritri */
  buffer hits;    /* graze_triangle_pair */
  uint64_t hit_count;
} gpu_triangles;

/* As graze_collide_meshes for tiers T0 and T1. Errors: DEVICE, MEMORY; ARGUMENT, unreported: a pose or a posed corner
 * is not finite, of which the processor tells. */
graze_status gpu_triangles_collide(graze_gpu *gpu, gpu_triangles *t, const graze_gpu_model *a, const graze_pose *pose_a,
                                   const graze_gpu_model *b, const graze_pose *pose_b, graze_find find,
                                   graze_collision *result);

void gpu_triangles_release(graze_gpu *gpu, gpu_triangles *t);

#endif
