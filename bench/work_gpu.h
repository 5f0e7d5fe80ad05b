/* bench/work_gpu.h: rows of one device. */
#ifndef BENCH_WORK_GPU_H
#define BENCH_WORK_GPU_H

#include "bench.h"
#include "graze/gpu.h"

void work_gpu_tree(bench *b, graze_gpu *gpu);

#endif
