/* bench/tutorial.h: the tutorial's kernels (kernels/tutorial.cl) on a device. */
#ifndef BENCH_TUTORIAL_H
#define BENCH_TUTORIAL_H

#include "gpu/device.h"
#include "models.h"

/* A model whose corners stay on the device; its triangles share none, as those of an explosion do not. */
typedef struct tutorial_model {
  gpu_buffer corners, turned, posed;
  uint32_t count; /* triangles */
} tutorial_model;

typedef struct tutorial {
  graze_gpu *gpu;
  gpu_module *module;
  gpu_kernel turn, move, collide, judge;
  gpu_buffer matrix, shift, found, verdicts;
} tutorial;

void tutorial_begin(tutorial *t, graze_gpu *gpu);
void tutorial_end(tutorial *t);
void tutorial_load(tutorial *t, tutorial_model *m, const model *triangles);
void tutorial_unload(tutorial *t, tutorial_model *m);

/* What it asks and answers: whether the models collide, the second one at a pose. */
bool tutorial_collide(tutorial *t, const tutorial_model *a, tutorial_model *b, const double pose[12]);

/* How many pairs it holds for meeting. The verdicts stay on the device: a byte a pair, row by row of b. */
uint32_t tutorial_judge(tutorial *t, const tutorial_model *a, tutorial_model *b, const double pose[12]);

/* Whether the device has room for the verdicts. */
bool tutorial_can_judge(const tutorial *t, uint64_t pairs);

#endif
