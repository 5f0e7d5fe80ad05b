/* graze/gpu.h: devices that compute in place of the CPU: which there are, whether their arithmetic is exact, and how
 * one becomes the engine of a context.
 *
 * A device makes answers faster, never different: the calls of the context stay the same, and so do the bytes that they
 * return. Drivers are loaded when devices are first used (OpenCL through the loader libOpenCL.so.1, CUDA through
 * libcuda.so.1), so one binary runs on machines with and without them. A device is named API:NUMBER, as "opencl:0", by
 * its index in the list of the driver.
 *
 * If a driver call fails, the device is lost: from then on the CPU does all work until the device is destroyed and
 * another one is created. The logger is told of this, and of all other work that the device cannot do.
 */
#ifndef GRAZE_GPU_H
#define GRAZE_GPU_H

#include "graze/base.h"

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
  /* Result of the arithmetic self-test that runs when a device is created; not known in a list. */
  bool exact;     /* rounds doubles as the CPU does, subnormals included. If not, it only does work on integers */
  char flaw[128]; /* what was wrong; "" if exact */
} graze_gpu_info;

/* Lists the devices of this machine, those of OpenCL first. The list is the caller's: release it with
 * graze_gpu_list_free. No device is no error: the count is 0, and graze_gpu_create tells why an API has none.
 * GRAZE_DISABLE=opencl,cuda in the environment hides an API. Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_gpu_list(const graze_context *context, graze_gpu_info **list, uint32_t *count);
GRAZE_API void graze_gpu_list_free(const graze_context *context, graze_gpu_info *list, uint32_t count);

/* Opens the device of this name; NULL: the first of CUDA, else the first of OpenCL. Kernels are compiled when they are
 * first used and cached on disk, in $GRAZE_CACHE, else $XDG_CACHE_HOME/graze, else ~/.cache/graze; a folder that cannot
 * be written is no error. Errors: ARGUMENT (not a name), UNSUPPORTED (no such device: the message tells which there
 * are, or why the API has none, as "no CUDA: libcuda.so.1: cannot open ..."), MEMORY, DEVICE. */
GRAZE_API graze_status graze_gpu_create(graze_context *context, const char *device, graze_gpu **gpu);
GRAZE_API void graze_gpu_destroy(graze_gpu *gpu);

GRAZE_API const graze_gpu_info *graze_gpu_get_info(const graze_gpu *gpu);

/* ---- as the engine of a context ---------------------------------------------------------------------------------- */

typedef enum graze_gpu_use {
  GRAZE_GPU_ALWAYS,
  GRAZE_GPU_WHERE_FASTER /* the first work of each kind and size is done and timed on both, transfers included; the
                            logger is told the outcome */
} graze_gpu_use;

/* Makes the device the engine of its context (graze/engine.h), for all stages: pairs of triangles, pairs of meshes
 * (also for relations and scenes), many poses, a mesh with itself, boxes, spheres, and, with ALWAYS, steps of worlds.
 * Any thread may call. One thread at a time uses the device; the others wait or, with WHERE_FASTER, use the CPU. If the
 * context has a parallel function of its own, a thread that waits in it must not run other work of the context.
 *
 * Meshes are uploaded when they are first queried and stay on the device while they exist and fit: 72 bytes per
 * triangle, and 150 more once a hierarchy is needed. Meshes that were refitted are uploaded again.
 *
 * Methods of broad phases on a device; the CPU does the others, and spheres by any but the first:
 * - AUTO, GRID, HGRID: hierarchical grid, sorted by cell, for boxes of any sizes. O(n) for common distributions. 150
 *   bytes per box and 32 per pair.
 * - SUBDIVISION: home and phantom cells with control bits (S. Le Grand, GPU Gems 3, chapter 32, 2007), for boxes of
 *   similar sizes. 400 bytes per box and 32 per pair. HGRID replaces it for more than 2^28 boxes, if cells are so
 *   crowded that more than 1,024 pairs per box would be examined, and if the device is not exact.
 * - TREE, BVH: hierarchy along a space-filling curve, for boxes of any sizes. 200 bytes per box and 32 per pair.
 *
 * Spheres are put into a grid by their centres, with levels if radii differ. Squares are compared in doubles; pairs
 * within the rounding error are left to the CPU. 64 bytes per sphere in floats, 96 in doubles, and 32 per pair, at most
 * 2^25 pairs at a time; none if pairs are only counted. A device that is not exact compares bounding boxes, and the CPU
 * decides each pair of these.
 *
 * Up to 2^28 pairs of triangles of two meshes are compared each with each. For more, and for a mesh with itself, a
 * hierarchy (LBVH), built at the first query and refitted for each pose, finds the pairs whose boxes meet, in
 * O(n + m log n + pairs). Pairs that the device's precision does not decide are left to the CPU. work.triangle_tests
 * counts pairs whose boxes meet, work.exact_tests those that needed more than one filter; of poses that were queried
 * together the first one has the sum.
 *
 * Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_gpu_attach(graze_gpu *gpu, graze_gpu_use use);

/* Undoes it, as graze_gpu_destroy does. No call may be running in the context. */
GRAZE_API void graze_gpu_detach(graze_gpu *gpu);

typedef struct graze_gpu_report {
  /* of the last query that the device was given */
  bool on_device;                   /* it answered; if not, the CPU did, */
  char reason[128];                 /* because of this; may be "" */
  double upload, compute, download; /* seconds, of boxes and spheres */
  uint64_t bytes;                   /* of the device's buffers now */
  uint64_t answered;                /* queries that it answered since it was attached, trials excluded */
} graze_gpu_report;

/* All zero if `gpu` is NULL. No call may be running in the context. */
GRAZE_API graze_gpu_report graze_gpu_get_report(const graze_gpu *gpu);

#ifdef __cplusplus
}
#endif
#endif
