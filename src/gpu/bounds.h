/* Bounds of numbers that groups of a kernel found (kernels/bounds.h). */
#ifndef GRAZE_SRC_GPU_BOUNDS_H
#define GRAZE_SRC_GPU_BOUNDS_H

#include "gpu/device.h"
#include "graze/math.h"

enum { GPU_BOUNDS_TILE = 4096 }; /* elements that a group sees */

/* What the groups give; zero-initialised. Memory is kept from call to call. */
typedef struct gpu_bounds {
  gpu_buffer keys; /* of each group `width` numbers, ordered: three low ends, then greatest ones */
  gpu_buffer bad;  /* u32: of each group the first element that is none, else 0xFFFFFFFF, where a kernel looks */
  buffer answer;   /* either of them, from the device */
  uint32_t groups, width;
  graze_precision precision;
} gpu_bounds;

/* Makes room for what b->groups groups give, as many as `count` elements have: `width` numbers each, at least three.
 * Errors: DEVICE, MEMORY. */
graze_status gz_gpu_bounds_reserve(graze_gpu *gpu, gpu_bounds *b, graze_precision precision, uint32_t count,
                                   uint32_t width);

/* Whether all are what they should be. Errors: DEVICE; ARGUMENT, unreported: one is not. */
graze_status gz_gpu_bounds_check(graze_gpu *gpu, const gpu_bounds *b);

/* Bounds of all groups, `width` of them. Of no group nothing is written. Errors: DEVICE. */
graze_status gz_gpu_bounds_read(graze_gpu *gpu, const gpu_bounds *b, double *bounds);

void gz_gpu_bounds_release(graze_gpu *gpu, gpu_bounds *b);

#endif
