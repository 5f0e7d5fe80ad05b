/* All pairs of balls that meet, on a device. */
#ifndef GRAZE_SRC_GPU_BALLS_H
#define GRAZE_SRC_GPU_BALLS_H

#include "gpu/boxes.h"

/* Memory that is kept from call to call; zero-initialised. */
typedef struct gpu_balls {
  gpu_scratch scratch;
  gpu_pairs list;
  gpu_bounds bounds;
  gpu_buffer centers, radii, frame, levels, keys, numbers, sorted, doubt, sums;
  buffer staging; /* numbers side by side, some balls at a time */
  buffer answer;  /* sums from the device */
  buffer boxes;   /* of balls, for a device that is not exact */
  uint64_t found, hash;
} gpu_balls;

/* The pairs go to b->list.result, as graze_broadphase_find_balls would give them, and their number to b->found. With
 * `only_count` there is no list: b->found and b->hash, the sum of the hashes of pairs. Errors: DEVICE, MEMORY;
 * ARGUMENT, unreported, for a ball that is not one. */
graze_status gz_gpu_balls_find(graze_gpu *gpu, gpu_balls *b, const graze_ball_array *balls, uint32_t count,
                               bool unsorted, bool only_count);

/* The same for a device that is not exact: boxes around the balls are compared there, by whole numbers, and every pair
 * of them is decided here. The list is in boxes->list. */
graze_status gz_gpu_balls_find_by_boxes(graze_gpu *gpu, gpu_balls *b, gpu_boxes *boxes, const graze_ball_array *balls,
                                        uint32_t count, bool unsorted);

/* The sum of the hashes of pairs. */
uint64_t gz_gpu_hash_pairs(const graze_box_pair *pairs, uint64_t count);

void gz_gpu_balls_release(graze_gpu *gpu, gpu_balls *b);

#endif
