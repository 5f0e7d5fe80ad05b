/* The stages of an engine on a device. */
#ifndef GRAZE_SRC_GPU_STAGES_H
#define GRAZE_SRC_GPU_STAGES_H

#include "gpu/box_bvh.h"
#include "gpu/brute_pairs.h"
#include "gpu/models.h"
#include "gpu/spheres.h"
#include "gpu/subdivision.h"
#include "gpu/tritri_batch.h"
#include "gpu/worlds.h"
#include "graze/engine.h"

/* What they keep from question to question; zero-initialised. */
typedef struct gpu_stages {
  gpu_models models;
  gpu_boxes boxes;
  gpu_subdivision subdivision;
  gpu_box_bvh tree;
  gpu_spheres spheres;
  gpu_brute_pairs triangles;
  gpu_tritri_batch tritri;
  gpu_worlds worlds;
} gpu_stages;

/* Answers the question of a stage. NULL: done; lists are the device's until the next question. Else why the processor
 * has to; "": without a word, for it is its to answer or to refuse. */
const char *gz_gpu_answer(graze_gpu *gpu, graze_stage stage, void *question);

void gz_gpu_stages_release(graze_gpu *gpu, gpu_stages *stages);

#endif
