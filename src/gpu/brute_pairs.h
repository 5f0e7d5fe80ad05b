/* Models on a device, at poses; all pairs of triangles of two, with no hierarchy. */
#ifndef GRAZE_SRC_GPU_BRUTE_PAIRS_H
#define GRAZE_SRC_GPU_BRUTE_PAIRS_H

#include "gpu/decide.h"
#include "gpu/models.h"

/* A model at some poses, on the device. */
typedef struct posed_triangles {
  gpu_buffer poses, corners, boxes; /* boxes: six floats a triangle, rounded outward */
} posed_triangles;

/* Memory that is kept from call to call; zero-initialised. */
typedef struct gpu_brute_pairs {
  gpu_decide decide;
  posed_triangles posed[2]; /* a and b */
} gpu_brute_pairs;

/* A model at its poses, and its triangles for a decide_question. */
typedef struct placed_model {
  const gpu_model *model;
  const graze_pose *poses;
} placed_model;

void gz_placed_corners(const void *user, uint32_t triangle, double corners[9]);

/* What is asked of a at one pose and b at some. `sides` is kept. */
decide_question gz_gpu_brute_question(const gpu_brute_pairs *t, const placed_model sides[2], uint32_t poses,
                                      graze_find find);

/* Poses a model; corners that are not finite are counted in the answer. Errors: ARGUMENT, unreported: a pose is not
 * finite. */
graze_status gz_gpu_brute_pose(graze_gpu *gpu, const gpu_brute_pairs *t, posed_triangles *p, const gpu_model *m,
                               const graze_pose *poses, uint32_t count);

/* The answers to a question that is done. */
graze_status gz_gpu_brute_answer(graze_gpu *gpu, gpu_brute_pairs *t, uint32_t poses, graze_collide_result *results);

/* As graze_collide_poses for tiers T0 and T1, but that with one pose and FIND_ALL the pairs are listed. All posed
 * triangles of b together are less than 2^32. Errors: DEVICE, MEMORY; ARGUMENT, unreported: a pose or a posed corner is
 * not finite, of which the processor tells. */
graze_status gz_gpu_brute_collide(graze_gpu *gpu, gpu_brute_pairs *t, gpu_model *a, const graze_pose *pose_a,
                                  gpu_model *b, const graze_pose *poses_b, uint32_t poses, graze_find find,
                                  graze_collide_result *results);

void gz_gpu_brute_release(graze_gpu *gpu, gpu_brute_pairs *t);

#endif
