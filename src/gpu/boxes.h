/* All pairs of boxes that meet, on a device. */
#ifndef GRAZE_SRC_GPU_BOXES_H
#define GRAZE_SRC_GPU_BOXES_H

#include "gpu/bounds.h"
#include "gpu/pairs.h"

/* Memory that is kept from call to call; zero-initialised. */
typedef struct gpu_boxes {
  gpu_scratch scratch;
  gpu_pairs list;
  gpu_bounds bounds;
  gpu_buffer boxes, frame, keys, values, sorted, levels;
  buffer staging; /* boxes side by side */
} gpu_boxes;

/* The pairs go to b->list.result, as graze_broadphase_find would give them. Errors: DEVICE, MEMORY; ARGUMENT,
 * unreported, for a box that is not one: the processor says what is wrong with it. */
graze_status gz_gpu_boxes_find(graze_gpu *gpu, gpu_boxes *b, const graze_box_array *boxes, uint32_t count,
                               bool unsorted);

/* The first stage alone: b->boxes gets the boxes side by side, `bounds` the box around them. Same errors. */
graze_status gz_gpu_boxes_upload(graze_gpu *gpu, gpu_boxes *b, const graze_box_array *boxes, uint32_t count,
                                 double bounds[6]);

void gz_gpu_boxes_release(graze_gpu *gpu, gpu_boxes *b);

static inline size_t gpu_box_stride(const graze_box_array *boxes) {
  if (boxes->stride != 0) return boxes->stride;
  return boxes->precision == GRAZE_FLOAT ? 6 * sizeof(float) : 6 * sizeof(double);
}

#endif
