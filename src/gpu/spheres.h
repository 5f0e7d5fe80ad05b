/* All pairs of spheres that meet, on a device. */
#ifndef GRAZE_SRC_GPU_SPHERES_H
#define GRAZE_SRC_GPU_SPHERES_H

#include "gpu/boxes.h"

/* Memory that is kept from call to call; zero-initialised. */
typedef struct gpu_spheres {
  gpu_scratch scratch;
  gpu_pairs list;
  gpu_bounds bounds;
  gpu_buffer centers, radii, frame, levels, keys, numbers, sorted, doubt, sums;
  buffer staging; /* numbers side by side, some spheres at a time */
  buffer answer;  /* sums from the device */
  buffer boxes;   /* of spheres, for a device that is not exact */
  uint64_t found, hash;
} gpu_spheres;

/* The pairs go to b->list.result, as graze_broadphase_find_spheres would give them, and their number to b->found. With
 * `only_count` there is no list: b->found and b->hash, the sum of the hashes of pairs. Errors: DEVICE, MEMORY;
 * ARGUMENT, unreported, for a sphere that is not one. */
graze_status gz_gpu_spheres_find(graze_gpu *gpu, gpu_spheres *b, const graze_sphere_array *spheres, uint32_t count,
                                 bool unsorted, bool only_count);

/* The same for a device that is not exact: boxes around the spheres are compared there, by whole numbers, and every
 * pair of them is decided here. The list is in boxes->list. */
graze_status gz_gpu_spheres_find_by_boxes(graze_gpu *gpu, gpu_spheres *b, gpu_boxes *boxes,
                                          const graze_sphere_array *spheres, uint32_t count, bool unsorted);

void gz_gpu_spheres_release(graze_gpu *gpu, gpu_spheres *b);

#endif
