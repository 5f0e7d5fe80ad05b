/* Meshes on a device: they go there when they are first asked about, and stay while they live and have room. */
#ifndef GRAZE_SRC_GPU_MODELS_H
#define GRAZE_SRC_GPU_MODELS_H

#include "gpu/lbvh.h"
#include "graze/mesh.h"

typedef struct gpu_model {
  graze_gpu *gpu;
  const graze_mesh *mesh;
  uint32_t count;     /* triangles */
  gpu_buffer corners; /* nine doubles each; none: the device has no room */
  gpu_lbvh tree;      /* over the boxes of its triangles, at the pose of the last question; none before the first */
  gpu_buffer thin;    /* a bit a triangle of zero area, for questions about the mesh with itself */
} gpu_model;

/* By mesh; zero-initialised. */
typedef struct gpu_models {
  gpu_model **known; /* open addressing; half empty */
  uint32_t capacity, count;
} gpu_models;

/* The models of two meshes, or of one twice. Where the device has no room for them all others have to go. Errors:
 * MEMORY, DEVICE. */
graze_status gz_gpu_models_get(graze_gpu *gpu, gpu_models *models, const graze_mesh *a, const graze_mesh *b,
                               gpu_model *both[2]);

void gz_gpu_models_forget(gpu_models *models, const graze_mesh *mesh);
void gz_gpu_models_release(graze_gpu *gpu, gpu_models *models);

#endif
