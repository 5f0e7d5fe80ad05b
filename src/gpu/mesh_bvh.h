/* Pairs of triangles of two models, or of one with itself, by a hierarchy on the device. */
#ifndef GRAZE_SRC_GPU_MESH_BVH_H
#define GRAZE_SRC_GPU_MESH_BVH_H

#include "gpu/brute_pairs.h"

/* As gz_gpu_brute_collide. */
graze_status gz_gpu_mesh_bvh_collide(graze_gpu *gpu, gpu_brute_pairs *t, gpu_model *a, const graze_pose *pose_a,
                                     gpu_model *b, const graze_pose *poses_b, uint32_t poses, graze_find find,
                                     graze_collide_result *results);

/* As graze_collide_self. Errors: DEVICE, MEMORY. */
graze_status gz_gpu_mesh_bvh_self(graze_gpu *gpu, gpu_brute_pairs *t, gpu_model *model, graze_find find,
                                  graze_self_result *result);

#endif
