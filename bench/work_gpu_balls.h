/* bench/work_gpu_balls.h: pairs of particles on a device. */
#ifndef BENCH_WORK_GPU_BALLS_H
#define BENCH_WORK_GPU_BALLS_H

#include "bench.h"
#include "graze/gpu.h"

/* Rows for so many balls; without `lists` only those that count. */
void bench_gpu_balls(bench *b, graze_gpu *gpu, uint32_t count, bool lists);

#endif
