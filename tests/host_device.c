/* A back end that runs kernels as C (host_runner.h). Buffers are as long as was asked, so that a sanitizer sees the
 * first byte behind them, and new ones hold rubbish. */
#include "host_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_VALUES = 32, RUBBISH = 0xA5 };

typedef struct host_state {
  host_runner *runner;
  char fault[160];
} host_state;

static const host_device *device_of(const graze_gpu *gpu) {
  return (const host_device *)gpu->backend;
}

static void close_host(graze_gpu *gpu) {
  host_state *s = gpu->state;
  host_runner_destroy(s->runner);
  gz_memory_release(gpu->context, s, sizeof *s);
  gpu->state = NULL;
}

static graze_status open_host(graze_gpu *gpu, uint32_t number) {
  (void)number;
  const host_device *device = device_of(gpu);
  host_state *s = gz_memory_alloc(gpu->context, sizeof *s);
  if (s == NULL) return gz_fail_memory(gpu->context, sizeof *s);
  *s = (host_state){0};
  s->runner = host_runner_create(device->order, device->seed, device->shuffles == HOST_SHUFFLES_WRONG);
  if (s->runner == NULL) {
    gz_memory_release(gpu->context, s, sizeof *s);
    return gz_fail_memory(gpu->context, HOST_GROUP_MOST);
  }
  gpu->state = s;
  return GRAZE_OK;
}

static graze_status allocate(graze_gpu *gpu, size_t bytes, uintptr_t *memory) {
  void *made = bytes <= gpu->info.largest ? malloc(bytes) : NULL;
  if (made == NULL) return gz_gpu_failed(gpu, GRAZE_ERROR_MEMORY, "malloc", "refused");
  memset(made, RUBBISH, bytes);
  *memory = (uintptr_t)made;
  return GRAZE_OK;
}

static void release(graze_gpu *gpu, uintptr_t memory) {
  (void)gpu;
  free((void *)memory);
}

static graze_status write_memory(graze_gpu *gpu, uintptr_t to, size_t offset, const void *from, size_t bytes) {
  (void)gpu;
  memcpy((char *)to + offset, from, bytes);
  return GRAZE_OK;
}

static graze_status read_memory(graze_gpu *gpu, void *to, uintptr_t from, size_t offset, size_t bytes) {
  (void)gpu;
  memcpy(to, (const char *)from + offset, bytes);
  return GRAZE_OK;
}

/* What is kept on the disk is the name. */
static graze_status build(graze_gpu *gpu, const gpu_source *source, const void *kept, size_t size, void **module) {
  *module = NULL;
  if (kept != NULL && (size != strlen(source->name) || memcmp(kept, source->name, size) != 0)) return GRAZE_OK;
  if (gpu->shuffle && device_of(gpu)->shuffles == HOST_SHUFFLES_FAIL) {
    return gz_gpu_failed(gpu, GRAZE_ERROR_DEVICE, "build", "no shuffles");
  }
  *module = (void *)(uintptr_t)host_find_module(source->name, gpu->shuffle);
  return *module != NULL ? GRAZE_OK : gz_gpu_failed(gpu, GRAZE_ERROR_DEVICE, source->name, "no such module");
}

static void *code_of(graze_gpu *gpu, void *module, size_t *size) {
  const char *name = ((const host_module *)module)->name;
  *size = strlen(name);
  void *code = gz_memory_alloc(gpu->context, *size);
  if (code != NULL) memcpy(code, name, *size);
  return code;
}

static void drop(graze_gpu *gpu, void *module) {
  (void)gpu;
  (void)module;
}

static graze_status get_kernel(graze_gpu *gpu, void *module, const char *name, gpu_kernel *kernel) {
  const host_kernel *k = host_find_kernel(module, name);
  if (k == NULL) return gz_gpu_failed(gpu, GRAZE_ERROR_DEVICE, name, "no such kernel");
  *kernel = (gpu_kernel){(void *)(uintptr_t)k, k->group};
  return GRAZE_OK;
}

/* Addresses of the arguments; false, and the fault: not those that the kernel has. */
static bool take_arguments(host_state *s, const host_kernel *k, const gpu_argument *arguments, uint32_t count,
                           void *memories[MOST_VALUES], const void *values[MOST_VALUES]) {
  if (count != k->count || count > MOST_VALUES) {
    snprintf(s->fault, sizeof s->fault, "%u arguments, not %u", count, k->count);
    return false;
  }
  for (uint32_t i = 0; i < count; i++) {
    const gpu_argument *a = &arguments[i];
    size_t bytes = a->buffer != NULL ? 0 : a->bytes;
    if (bytes != k->sizes[i]) {
      snprintf(s->fault, sizeof s->fault, "argument %u has %zu bytes, not %zu (a buffer has 0)", i, bytes, k->sizes[i]);
      return false;
    }
    memories[i] = a->buffer != NULL ? (void *)a->buffer->memory : NULL;
    values[i] = a->buffer != NULL ? (const void *)&memories[i] : a->value;
  }
  return true;
}

static graze_status launch(graze_gpu *gpu, const gpu_kernel *kernel, uint32_t groups, const gpu_argument *arguments,
                           uint32_t count) {
  host_state *s = gpu->state;
  const host_kernel *k = kernel->handle;
  void *memories[MOST_VALUES];
  const void *values[MOST_VALUES], *fault = s->fault;
  if (take_arguments(s, k, arguments, count, memories, values)) fault = host_runner_run(s->runner, k, groups, values);
  return fault == NULL ? GRAZE_OK : gz_gpu_failed(gpu, GRAZE_ERROR_DEVICE, k->name, fault);
}

static graze_status finish(graze_gpu *gpu) {
  (void)gpu;
  return GRAZE_OK;
}

static graze_status mark(graze_gpu *gpu, void **out) {
  struct timespec *at = gz_memory_alloc(gpu->context, sizeof *at);
  if (at == NULL) return gz_fail_memory(gpu->context, sizeof *at);
  clock_gettime(CLOCK_MONOTONIC, at);
  *out = at;
  return GRAZE_OK;
}

static graze_status between(graze_gpu *gpu, void *first, void *second, double *seconds) {
  const struct timespec *a = first, *b = second;
  *seconds = (double)(b->tv_sec - a->tv_sec) + 1e-9 * (double)(b->tv_nsec - a->tv_nsec);
  gz_memory_release(gpu->context, first, sizeof *a);
  gz_memory_release(gpu->context, second, sizeof *b);
  return GRAZE_OK;
}

graze_status host_device_create(graze_context *context, host_device *device, host_order order, host_shuffles shuffles,
                                graze_gpu **gpu) {
  static const graze_gpu_info info = {.api = GRAZE_GPU_OPENCL,
                                      .id = "host:0",
                                      .name = "kernels as C",
                                      .driver = "fibers",
                                      .memory = (uint64_t)1 << 32,
                                      .largest = (uint64_t)1 << 32,
                                      .units = 1,
                                      .shared_bytes = 48 << 10,
                                      .group_most = HOST_GROUP_MOST,
                                      .doubles = true};
  *device = (host_device){.backend = {.name = "host",
                                      .shuffles = shuffles != HOST_SHUFFLES_NONE,
                                      .open = open_host,
                                      .close = close_host,
                                      .allocate = allocate,
                                      .release = release,
                                      .write = write_memory,
                                      .read = read_memory,
                                      .build = build,
                                      .code = code_of,
                                      .drop = drop,
                                      .kernel = get_kernel,
                                      .launch = launch,
                                      .finish = finish,
                                      .mark = mark,
                                      .between = between},
                          .order = order,
                          .shuffles = shuffles,
                          .seed = 1};
  return gz_gpu_open(context, &device->backend, &info, gpu);
}
