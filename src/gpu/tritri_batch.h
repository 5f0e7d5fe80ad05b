/* Pairs of triangles that are given one by one, on a device. */
#ifndef GRAZE_SRC_GPU_TRITRI_BATCH_H
#define GRAZE_SRC_GPU_TRITRI_BATCH_H

#include "gpu/decide.h"

/* Memory that is kept from call to call; zero-initialised. */
typedef struct gpu_tritri_batch {
  gpu_decide decide;
  gpu_buffer corners[2];
  buffer staging; /* nine doubles a triangle */
  buffer words;
  buffer open[2]; /* columns of what stays open */
  buffer results;
} gpu_tritri_batch;

/* As graze_tritri_batch. Errors: DEVICE, MEMORY; ARGUMENT, unreported: a number is not finite. */
graze_status gz_gpu_tritri_decide(graze_gpu *gpu, gpu_tritri_batch *w, uint64_t count, const double *const a[9],
                                  const double *const b[9], graze_tritri *results);

void gz_gpu_tritri_release(graze_gpu *gpu, gpu_tritri_batch *w);

#endif
