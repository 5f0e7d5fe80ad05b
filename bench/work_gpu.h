/* bench/work_gpu.h: rows of one device. */
#ifndef BENCH_WORK_GPU_H
#define BENCH_WORK_GPU_H

#include "contest.h"
#include "graze/gpu.h"
#include "reference.h"

/* The device is the engine of a context of its own, which has nothing but what is asked of the device. */
void work_gpu_triangles(bench *b, graze_gpu *gpu);
void work_gpu_tree(bench *b, graze_gpu *gpu);

/* The row has given up when another one than the device answered, or another method than the one that was asked for. */
void check_device(const graze_gpu *gpu, const graze_broadphase *broadphase, sample *out);

/* The row tells what the device is called. */
void note_device(entry *e, const graze_gpu *gpu);

/* The pairs of boxes that meet, by the sweep of reference.h. It takes minutes for many boxes; of those it is the
 * processor's answer, to which the rows of broad phases hold the same sweep for fewer. */
reference expected_pairs(const bench *b, const float *boxes, uint32_t count);

/* So many spheres; without `lists` only rows that count. */
void work_gpu_spheres(bench *b, graze_gpu *gpu, uint32_t count, bool lists);

/* Beds that fall and settle: the rows of work_bed.c beside those of the device. */
void work_gpu_bed(bench *b, graze_gpu *gpu);

#endif
