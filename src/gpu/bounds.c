/* Bounds of numbers that groups of a kernel found: the last step, which is short, is done here. */
#include "gpu/bounds.h"

#include <string.h>

graze_status gz_gpu_bounds_reserve(graze_gpu *gpu, gpu_bounds *b, graze_precision precision, uint32_t count,
                                   uint32_t width) {
  b->groups = gpu_groups(count, GPU_BOUNDS_TILE);
  b->width = width;
  b->precision = precision;
  size_t size = precision == GRAZE_FLOAT ? sizeof(uint32_t) : sizeof(uint64_t);
  size_t bytes = size * width * b->groups; /* more than the flags have */
  if (!gz_buffer_reserve(gpu->context, &b->answer, bytes, 0)) return gz_fail_memory(gpu->context, bytes);
  graze_status status = gz_gpu_reserve(gpu, &b->keys, bytes);
  return status != GRAZE_OK ? status : gz_gpu_reserve(gpu, &b->bad, b->groups * sizeof(uint32_t));
}

graze_status gz_gpu_bounds_check(graze_gpu *gpu, const gpu_bounds *b) {
  graze_status status = gz_gpu_read(gpu, b->answer.data, &b->bad, 0, b->groups * sizeof(uint32_t));
  const uint32_t *bad = b->answer.data;
  for (uint32_t g = 0; g < b->groups && status == GRAZE_OK; g++) {
    if (bad[g] != UINT32_MAX) status = GRAZE_ERROR_ARGUMENT;
  }
  return status;
}

/* The number that the kernels' `ordered` made key i of. */
static double number_at(const gpu_bounds *b, size_t i) {
  if (b->precision == GRAZE_FLOAT) {
    uint32_t bits = ((const uint32_t *)b->answer.data)[i];
    bits = (bits & 0x80000000u) != 0 ? bits & 0x7FFFFFFFu : ~bits;
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
  }
  uint64_t bits = ((const uint64_t *)b->answer.data)[i];
  bits = (bits >> 63) != 0 ? bits & 0x7FFFFFFFFFFFFFFFu : ~bits;
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

graze_status gz_gpu_bounds_read(graze_gpu *gpu, const gpu_bounds *b, double *bounds) {
  size_t size = b->precision == GRAZE_FLOAT ? sizeof(uint32_t) : sizeof(uint64_t);
  graze_status status = gz_gpu_read(gpu, b->answer.data, &b->keys, 0, size * b->width * b->groups);
  for (uint32_t g = 0; g < b->groups && status == GRAZE_OK; g++) {
    for (uint32_t k = 0; k < b->width; k++) {
      double x = number_at(b, (size_t)g * b->width + k);
      if (g == 0 || (k < 3 ? x < bounds[k] : x > bounds[k])) bounds[k] = x;
    }
  }
  return status;
}

void gz_gpu_bounds_release(graze_gpu *gpu, gpu_bounds *b) {
  gz_gpu_release(gpu, &b->keys);
  gz_gpu_release(gpu, &b->bad);
  gz_buffer_release(gpu->context, &b->answer);
}
