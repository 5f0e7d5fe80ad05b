/* graze/gpu.h: devices that compute beside the processor: what there is, and what they can be trusted with.
 *
 * A device makes answers come sooner, never others: every call gives the bytes that the processor gives. Drivers are
 * loaded when devices are first asked for (OpenCL by the ICD loader libOpenCL.so.1, CUDA by libcuda.so.1), so that one
 * binary serves machines with and without them. A device is named API:NUMBER, as "opencl:0"; numbers count the devices
 * of an API in the order in which its driver lists them.
 *
 * A device may be used by one thread at a time. When a call of the driver fails the device is lost: the processor
 * answers whatever is asked from then on, until the device is destroyed and another one made.
 */
#ifndef GRAZE_GPU_H
#define GRAZE_GPU_H

#include "graze/broadphase.h"
#include "graze/collide.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graze_gpu graze_gpu;

typedef enum graze_gpu_api { GRAZE_GPU_OPENCL, GRAZE_GPU_CUDA } graze_gpu_api;

typedef struct graze_gpu_info {
  graze_gpu_api api;
  uint32_t number;       /* within the API */
  char id[24];           /* "opencl:0" */
  char name[128];        /* as the driver says */
  char driver[128];      /* platform and version */
  uint64_t memory;       /* bytes */
  uint64_t largest;      /* of one buffer, bytes */
  uint32_t units;        /* compute units, multiprocessors */
  uint32_t shared_bytes; /* of a work-group */
  uint32_t group_most;   /* work-items of a work-group */
  bool doubles;          /* it has them at all */
} graze_gpu_info;

/* What a device was found to compute: an arithmetic self-test runs when it is made. */
typedef struct graze_gpu_arithmetic {
  bool exact;     /* doubles are rounded as the processor rounds them, subnormals included: what it finds sure is
                     believed. Else it is asked only what whole numbers decide */
  char flaw[128]; /* what was wrong; "" when exact */
} graze_gpu_arithmetic;

/* Lists the devices of this machine, those of OpenCL first. The list is the caller's: release it with
 * graze_gpu_list_free. No device is no error: the count is 0, and `why` (room for 256 bytes, or NULL) gets the reasons,
 * a sentence for each API, as "no OpenCL: libOpenCL.so.1: cannot open ...". GRAZE_DISABLE=opencl,cuda in the
 * environment hides an API. Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_gpu_list(const graze_context *context, graze_gpu_info **list, uint32_t *count, char *why);
GRAZE_API void graze_gpu_list_free(const graze_context *context, graze_gpu_info *list, uint32_t count);

/* Makes ready the device of this name; NULL: the first of CUDA, else the first of OpenCL. Kernels are compiled when
 * they are first needed and kept on the disk, in $GRAZE_CACHE, else $XDG_CACHE_HOME/graze, else ~/.cache/graze; a
 * folder that cannot be written is no error. Errors: ARGUMENT (no such name), UNSUPPORTED (no such device, with what
 * there is), MEMORY, DEVICE. */
GRAZE_API graze_status graze_gpu_create(graze_context *context, const char *device, graze_gpu **gpu);
GRAZE_API void graze_gpu_destroy(graze_gpu *gpu);

GRAZE_API const graze_gpu_info *graze_gpu_get_info(const graze_gpu *gpu);
GRAZE_API const graze_gpu_arithmetic *graze_gpu_get_arithmetic(const graze_gpu *gpu);

/* ---- boxes ----------------------------------------------------------------------------------------------------- */

typedef enum graze_gpu_method {
  GRAZE_GPU_AUTO,        /* the grid in levels */
  GRAZE_GPU_GRID,        /* a grid in levels for sizes of all kinds, sorted by cell: O(n) with common sizes and places;
                            memory some 150 bytes a box and 32 a pair */
  GRAZE_GPU_SUBDIVISION, /* home and phantom cells with control bits (S. Le Grand, GPU Gems 3, chapter 32, 2007): for
                            boxes of like sizes; some 400 bytes a box and 32 a pair */
  GRAZE_GPU_TREE /* a hierarchy along a space-filling curve: for sizes and places of all kinds; some 200 bytes a box
                    and 32 a pair */
} graze_gpu_method;

/* What became of the last call. */
typedef struct graze_gpu_report {
  bool on_device;                   /* else the processor did it all */
  graze_gpu_method method;          /* of a search for boxes on the device: the one that was used */
  char reason[128];                 /* why the processor did it, or why another method than the one asked for; or "" */
  double upload, compute, download; /* seconds; 0 on the processor */
  uint64_t bytes;                   /* that the device's buffers take now */
} graze_gpu_report;

/* As graze_broadphase_find: the pairs of boxes that meet, the same bytes. Boxes that the method is not for are done by
 * the grid in levels, and the report says why: more than 2^28 of them, so many in a cell that more than 1,024 pairs a
 * box would have to be looked at, a device whose arithmetic is not exact. Whatever the device cannot do, for want of
 * memory, of doubles, or because it was lost, the processor does, and a warning goes to the logger. The list is valid
 * until the next call. Errors: those of graze_broadphase_find; ARGUMENT for an unknown method. */
GRAZE_API graze_status graze_gpu_find(graze_gpu *gpu, graze_gpu_method method, const graze_box_array *boxes,
                                      uint32_t count, bool unsorted, const graze_box_pair **pairs,
                                      uint64_t *pair_count);

/* As graze_broadphase_find_spheres: the pairs of spheres that meet, the same bytes. The list is valid until the next
 * call. Errors: those of graze_broadphase_find_spheres.
 *
 * On the device: a grid of centres, in levels where radii are not alike; squares are compared in doubles, and what is
 * within their error the processor decides. O(n) with common sizes and places; memory 64 bytes a sphere of floats, 96
 * of doubles, and 32 a pair, of at most 2^25 pairs at a time. A device whose arithmetic is not exact compares boxes
 * around the spheres, and the processor decides every pair of these. */
GRAZE_API graze_status graze_gpu_find_spheres(graze_gpu *gpu, const graze_sphere_array *spheres, uint32_t count,
                                              bool unsorted, const graze_box_pair **pairs, uint64_t *pair_count);

/* How many pairs there are, and the sum of their graze_pair_hash, without a list of them: for numbers of spheres whose
 * pairs would take gigabytes. Where the processor has to do it, it makes the list. Errors: the same. */
GRAZE_API graze_status graze_gpu_count_spheres(graze_gpu *gpu, const graze_sphere_array *spheres, uint32_t count,
                                               uint64_t *pair_count, uint64_t *hash);

GRAZE_API const graze_gpu_report *graze_gpu_get_report(const graze_gpu *gpu);

/* ---- pairs of triangles, one by one ------------------------------------------------------------------------------ */

/* As graze_tritri_batch, the same results. Errors: those of graze_tritri_batch. */
GRAZE_API graze_status graze_gpu_tritri(graze_gpu *gpu, uint64_t count, const double *const a[9],
                                        const double *const b[9], graze_tritri *results);

/* ---- triangles of models ----------------------------------------------------------------------------------------- */

/* A mesh's triangles on a device. */
typedef struct graze_gpu_model graze_gpu_model;

/* The mesh must outlive the model. A device that has no room for it, or whose arithmetic is not exact, is no error:
 * questions about the model are then answered by the processor. 72 bytes a triangle, and 150 more when it is first
 * asked about with a hierarchy. Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_gpu_model_create(graze_gpu *gpu, const graze_mesh *mesh, graze_gpu_model **model);
GRAZE_API void graze_gpu_model_destroy(graze_gpu_model *model);

/* The mesh was refitted: its triangles go to the device again. */
GRAZE_API void graze_gpu_model_refresh(graze_gpu_model *model);

/* How pairs of triangles whose boxes meet are found. Every triangle with every other, O(n m), in tiles, needs nothing
 * built: for soups that change at every step, and for models of up to some ten thousand triangles, of which a repeated
 * question sends two poses and reads one answer. A hierarchy (LBVH) is built when a model is first asked about, and
 * refitted for each pose: O(n + m log n + pairs). */
typedef enum graze_gpu_search {
  GRAZE_GPU_AUTO_SEARCH, /* a hierarchy for more than 2^28 pairs of triangles */
  GRAZE_GPU_EACH_SEARCH,
  GRAZE_GPU_TREE_SEARCH
} graze_gpu_search;

GRAZE_API graze_status graze_gpu_set_search(graze_gpu *gpu, graze_gpu_search search);

/* As graze_collide_meshes: the same counts, hash and list, which is valid until the next call. With GRAZE_FIND_ANY
 * the pair that is found, and how many were seen till then, may be others. The device decides, and the processor what
 * the device's digits do not reach. Tier T2, and whatever the device cannot do, the processor does. work.triangle_tests
 * counts pairs whose boxes meet, work.exact_tests those of them that needed more than one filter. Errors: those of
 * graze_collide_meshes. */
GRAZE_API graze_status graze_gpu_collide(graze_gpu *gpu, const graze_gpu_model *a, const graze_pose *pose_a,
                                         const graze_gpu_model *b, const graze_pose *pose_b,
                                         const graze_collide_options *options, graze_collide_result *result);

/* As graze_collide_poses: b at `count` poses, all in one go. Work is told for the first of the poses that were taken
 * together. Errors: those of graze_collide_poses. */
GRAZE_API graze_status graze_gpu_collide_poses(graze_gpu *gpu, const graze_gpu_model *a, const graze_pose *pose_a,
                                               const graze_gpu_model *b, const graze_pose *poses_b, uint32_t count,
                                               const graze_collide_options *options, graze_collide_result *results);

/* As graze_collide_self, with a hierarchy. Errors: those of graze_collide_self. */
GRAZE_API graze_status graze_gpu_collide_self(graze_gpu *gpu, const graze_gpu_model *model,
                                              const graze_collide_options *options, graze_self_result *result);

/* ---- as the engine of a context ---------------------------------------------------------------------------------- */

typedef enum graze_gpu_use {
  GRAZE_GPU_ALWAYS,
  GRAZE_GPU_WHERE_FASTER /* the first work of each size is done by both and timed, the ways to the device and back
                            included; what comes of it goes to the logger */
} graze_gpu_use;

/* From now on calls with the device's context, and what is made with it, ask the device: pairs of triangles, pairs of
 * meshes (also for relations and scenes), meshes with themselves. Answers stay what they are. Any thread may call; one
 * at a time has the device, the others wait, or, with WHERE_FASTER, go on by themselves. A parallel function of the
 * context's own must not run other work of the context on a thread that waits in it. The device keeps the meshes
 * that it was asked about while they live and it has room. Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_gpu_attach(graze_gpu *gpu, graze_gpu_use use);

/* No longer. Nothing may be at work with the context. graze_gpu_destroy does it too. */
GRAZE_API void graze_gpu_detach(graze_gpu *gpu);

/* How many calls the device has answered since it was attached, those that were only tried not counted. */
GRAZE_API uint64_t graze_gpu_answered(const graze_gpu *gpu);

#ifdef __cplusplus
}
#endif
#endif
