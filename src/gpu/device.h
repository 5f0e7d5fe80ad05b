/* The device layer: one small interface, with a back end for each API.
 *
 * Work goes to one queue and is done in order; a call returns when it is queued, gz_gpu_read when the bytes are there.
 * Kernels are one-dimensional. Every function reports: "opencl:0 (NAME): clFinish: out of resources". Apart from a
 * refused allocation, a failed call means that the device is lost.
 */
#ifndef GRAZE_SRC_GPU_DEVICE_H
#define GRAZE_SRC_GPU_DEVICE_H

#include "base/context.h"
#include "base/memory.h"
#include "graze/gpu.h"

typedef struct gpu_backend gpu_backend;
typedef struct gpu_module gpu_module;

/* Memory of the device. Zero-initialised: none. */
typedef struct gpu_buffer {
  uintptr_t memory; /* cl_mem or CUdeviceptr */
  size_t bytes;
} gpu_buffer;

/* An argument of a kernel: a buffer, or a value of up to 64 bytes. */
typedef struct gpu_argument {
  const gpu_buffer *buffer; /* NULL: the value */
  const void *value;
  size_t bytes;
} gpu_argument;

#define GPU_BUFFER(b) ((gpu_argument){.buffer = (b)})
#define GPU_VALUE(v)  ((gpu_argument){.value = &(v), .bytes = sizeof(v)})

/* What can be compiled: the texts of kernels/, in sources.c, which the build makes. */
typedef struct gpu_source {
  const char *name; /* "sort32" */
  const char *text;
  size_t size;
  const unsigned char *ptx; /* made by nvcc; NULL where it was not there */
  size_t ptx_size;
  const unsigned char *ptx_shuffle; /* with shuffles; NULL: it uses none, `ptx` is the same */
  size_t ptx_shuffle_size;
} gpu_source;

extern const gpu_source gz_gpu_sources[];
extern const uint32_t gz_gpu_source_count;

/* A kernel, by the module that has it. Looked up once and kept. */
typedef struct gpu_kernel {
  void *handle;
  uint32_t group; /* work-items of a work-group: as it was written */
} gpu_kernel;

/* How pairs of triangles whose boxes meet are found: every triangle with every other, or by a hierarchy, of which AUTO
 * takes the one that is sooner done. */
typedef enum gpu_search { GPU_SEARCH_AUTO, GPU_SEARCH_EACH, GPU_SEARCH_TREE } gpu_search;

struct graze_gpu {
  graze_context *context;
  graze_context processor; /* the same, for what the processor is to do */
  const gpu_backend *backend;
  void *state; /* the back end's */
  graze_gpu_info info;
  _Atomic(bool) lost;
  _Atomic(bool) told_lost, told_compiling; /* the logger knows */
  bool shuffle;                            /* kernels are built with the vendor's shuffles */
  gpu_module *modules;                     /* by number of the source */
  uint64_t bytes;                          /* of all buffers */

  struct gpu_stages *stages;         /* stages.h: what they keep; */
  struct gpu_attachment *attachment; /* attach.c; both NULL: not attached */
  gpu_search search;
  graze_gpu_report report; /* of the last question */
};

/* How many groups of `size` have room for `count` items. */
static inline uint32_t gpu_groups(uint64_t count, uint32_t size) {
  return (uint32_t)((count + size - 1) / size);
}

/* Makes room for at least `bytes`, half more than before when it grows; what was in it is lost. */
graze_status gz_gpu_reserve(graze_gpu *gpu, gpu_buffer *room, size_t bytes);
void gz_gpu_release(graze_gpu *gpu, gpu_buffer *room);

/* `offset` and `bytes` within the buffer. gz_gpu_write has taken the bytes when it returns. */
graze_status gz_gpu_write(graze_gpu *gpu, const gpu_buffer *to, size_t offset, const void *from, size_t bytes);
graze_status gz_gpu_read(graze_gpu *gpu, void *to, const gpu_buffer *from, size_t offset, size_t bytes);

/* The kernel of a module; both are compiled, or read from the disk, when they are first asked for. */
graze_status gz_gpu_get_kernel(graze_gpu *gpu, const char *module, const char *name, gpu_kernel *kernel);

/* The same for kernels that are not of the library, as those of a benchmark: `source` is compiled, or read from the
 * disk, at once, and is dropped before the device is destroyed. */
graze_status gz_gpu_module_create(graze_gpu *gpu, const gpu_source *source, gpu_module **module);
void gz_gpu_module_destroy(graze_gpu *gpu, gpu_module *module);
graze_status gz_gpu_module_kernel(graze_gpu *gpu, gpu_module *module, const char *name, gpu_kernel *kernel);

graze_status gz_gpu_launch(graze_gpu *gpu, const gpu_kernel *kernel, uint32_t groups, const gpu_argument *arguments,
                           uint32_t count);
/* Both. */
graze_status gz_gpu_run(graze_gpu *gpu, const char *module, const char *name, uint32_t groups,
                        const gpu_argument *arguments, uint32_t count);
graze_status gz_gpu_finish(graze_gpu *gpu);

/* Times on the device: a mark is a place in the queue. */
graze_status gz_gpu_mark(graze_gpu *gpu, void **mark);
/* Seconds between two marks, which it waits for and releases. */
graze_status gz_gpu_between(graze_gpu *gpu, void *first, void *second, double *seconds);

/* To the logger, with the device's name before it. */
void gz_gpu_tell(const graze_gpu *gpu, graze_log_level level, const char *text);

/* Reports a failed call of the driver, and writes the device off unless `status` is MEMORY. */
graze_status gz_gpu_failed(graze_gpu *gpu, graze_status status, const char *call, const char *reason);

/* Makes a device of a back end ready, whether it is listed or not; both outlive it. What is wrong with the device's
 * arithmetic or its shuffles is found out here. */
graze_status gz_gpu_open(graze_context *context, const gpu_backend *backend, const graze_gpu_info *info,
                         graze_gpu **gpu);

/* Runs known numbers through the device's arithmetic; fills that of gpu->info. */
graze_status gz_gpu_test_arithmetic(graze_gpu *gpu);

/* Whether group scans, as kernels are built now, give known sums. */
graze_status gz_gpu_test_scans(graze_gpu *gpu, bool *right);

/* ---- back ends ------------------------------------------------------------------------------------------------- */

struct gpu_backend {
  const char *name; /* "opencl" */
  bool shuffles;    /* it can build kernels with shuffles (kernels/group.h), as gpu->shuffle says */

  /* Devices, at most `room`, into `list`; returns how many there are. `why` gets the reason when there is none. */
  uint32_t (*list)(graze_gpu_info *list, uint32_t room, char why[128]);

  /* Fills the state. Errors: MEMORY, DEVICE, reported. */
  graze_status (*open)(graze_gpu *gpu, uint32_t number);
  void (*close)(graze_gpu *gpu);

  graze_status (*allocate)(graze_gpu *gpu, size_t bytes, uintptr_t *memory);
  void (*release)(graze_gpu *gpu, uintptr_t memory);
  graze_status (*write)(graze_gpu *gpu, uintptr_t to, size_t offset, const void *from, size_t bytes);
  graze_status (*read)(graze_gpu *gpu, void *to, uintptr_t from, size_t offset, size_t bytes);

  /* A module from what `code` gave earlier, or (NULL, 0) from its source. With `kept` a failure is no error: it gives
   * OK and a NULL module, for that code may be of another driver. */
  graze_status (*build)(graze_gpu *gpu, const gpu_source *source, const void *kept, size_t size, void **module);
  /* What a module was compiled to, in memory of the context; NULL: nothing that could be kept. */
  void *(*code)(graze_gpu *gpu, void *module, size_t *size);
  void (*drop)(graze_gpu *gpu, void *module);
  graze_status (*kernel)(graze_gpu *gpu, void *module, const char *name, gpu_kernel *kernel);

  graze_status (*launch)(graze_gpu *gpu, const gpu_kernel *kernel, uint32_t groups, const gpu_argument *arguments,
                         uint32_t count);
  graze_status (*finish)(graze_gpu *gpu);
  graze_status (*mark)(graze_gpu *gpu, void **mark);
  graze_status (*between)(graze_gpu *gpu, void *first, void *second, double *seconds);
};

extern const gpu_backend gz_gpu_opencl, gz_gpu_cuda;

/* cache.c: compiled code on the disk. Reading gives NULL when there is none, or none that is whole. */
void *gz_gpu_cache_read(const graze_gpu *gpu, const gpu_source *source, size_t *size);
void gz_gpu_cache_write(const graze_gpu *gpu, const gpu_source *source, const void *code, size_t size);

#endif
