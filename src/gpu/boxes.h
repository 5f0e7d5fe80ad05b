/* All pairs of boxes that meet, on a device. */
#ifndef GRAZE_SRC_GPU_BOXES_H
#define GRAZE_SRC_GPU_BOXES_H

#include "gpu/primitives.h"
#include "graze/broadphase.h"

/* Memory that is kept from call to call; zero-initialised. */
typedef struct gpu_boxes {
  gpu_scratch scratch;
  gpu_buffer boxes, frame, bounds, bad, keys, values, sorted, levels, counts, places, packed, unused, pairs;
  buffer staging;   /* boxes side by side */
  buffer answer;    /* bounds and flags from the device */
  buffer result;    /* graze_box_pair */
  buffer sort_room; /* keys, where pairs come in several pieces */
  uint64_t found;
  double upload, compute, download; /* seconds of the last call */
} gpu_boxes;

/* The pairs go to b->result, as graze_broadphase_find would give them. Errors: DEVICE, MEMORY; ARGUMENT, unreported,
 * for a box that is not one: the processor says what is wrong with it. */
graze_status gpu_boxes_find(graze_gpu *gpu, gpu_boxes *b, const graze_box_array *boxes, uint32_t count, bool unsorted);

/* ---- what other ways to find them share ------------------------------------------------------------------------- */

/* Boxes to b->boxes, side by side; nothing is found yet. */
graze_status gpu_boxes_upload(graze_gpu *gpu, gpu_boxes *b, const graze_box_array *boxes, uint32_t count);
/* Appends the pairs in b->packed, a << pack | b each, to the result; unless `unsorted` they are sorted, among
 * themselves. `module`: boxes32 or boxes64, whichever is in use. */
graze_status gpu_boxes_take(graze_gpu *gpu, gpu_boxes *b, const char *module, uint32_t total, uint32_t pack,
                            bool unsorted);
/* Sorts a result that came in several pieces. */
graze_status gpu_boxes_sort(graze_gpu *gpu, gpu_boxes *b);

void gpu_boxes_release(graze_gpu *gpu, gpu_boxes *b);

#endif
