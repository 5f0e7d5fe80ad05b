/* The stages of an engine on a device. */
#ifndef GRAZE_SRC_GPU_STAGES_H
#define GRAZE_SRC_GPU_STAGES_H

#include "gpu/device.h"
#include "graze/engine.h"

/* Answers the question of a stage. NULL: done; lists are the device's until the next question. Else why the processor
 * has to; "": without a word, for it is its to answer or to refuse. */
const char *gz_gpu_answer(graze_gpu *gpu, graze_stage stage, void *question);

/* Releases what the stages keep, but for meshes. */
void gz_gpu_release_stages(graze_gpu *gpu);

#endif
