/* Groups run one after the other; the items of a group are fibers, which change at barriers. So what depends on the
 * order of items comes out otherwise in another order; a barrier that some items do not reach is found; and buffers are
 * as long as was asked, so that a sanitizer sees the first byte behind them. Shared memory and new buffers hold
 * rubbish. */
#include "host_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/hash.h"
#include "host_kernel.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define __sanitizer_start_switch_fiber(save, bottom, size)  ((void)(save), (void)(bottom), (void)(size))
#define __sanitizer_finish_switch_fiber(save, bottom, size) ((void)(save), (void)(bottom), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size)               ((void)(at), (void)(size))
#endif

enum { MOST_ITEMS = 1024, STACK = 64 << 10, WARP = 32, MOST_VALUES = 32, RUBBISH = 0xA5 };

/* The modules, as the build lists them. */
#define X(name) extern const host_module host_module_##name, host_module_##name##_shuffle;
#include "host_modules.h"
#undef X
#define X(name) &host_module_##name,
static const host_module *const plain_modules[] = {
#include "host_modules.h"
};
#undef X
#define X(name) &host_module_##name##_shuffle,
static const host_module *const shuffle_modules[] = {
#include "host_modules.h"
};
#undef X

enum { MODULES = sizeof plain_modules / sizeof *plain_modules };

typedef struct fiber {
  ucontext_t context;
  void *sanitizer; /* its own, between switches */
  int line;        /* of the barrier where it waits; 0: it has ended */
} fiber;

typedef struct host_state {
  char *stacks; /* each with a page before it that cannot be touched */
  size_t pitch; /* from one to the next */
  fiber fibers[MOST_ITEMS];
  uint32_t order[MOST_ITEMS];
  uint64_t exchange[MOST_ITEMS];
  ucontext_t launcher;
  void *launcher_sanitizer;
  const void *launcher_stack;
  size_t launcher_stack_size;
  const host_kernel *kernel;
  const void *const *values;
  uint64_t random;
  bool wrong_shuffles;
  char fault[160];
} host_state;

uint32_t host_item, host_group, host_groups;
static host_state *running; /* that of the launch */

/* ---- fibers ---------------------------------------------------------------------------------------------------- */

static char *stack_of(host_state *s, uint32_t item) {
  return s->stacks + item * s->pitch + (s->pitch - STACK);
}

static void enter_item(host_state *s, uint32_t item) {
  host_item = item;
  __sanitizer_start_switch_fiber(&s->launcher_sanitizer, stack_of(s, item), STACK);
  swapcontext(&s->launcher, &s->fibers[item].context);
  __sanitizer_finish_switch_fiber(s->launcher_sanitizer, NULL, NULL);
}

/* Back to the launcher; line 0: for good. */
static void leave_item(host_state *s, int line) {
  fiber *f = &s->fibers[host_item];
  f->line = line;
  __sanitizer_start_switch_fiber(line != 0 ? &f->sanitizer : NULL, s->launcher_stack, s->launcher_stack_size);
  swapcontext(&f->context, &s->launcher);
  __sanitizer_finish_switch_fiber(f->sanitizer, NULL, NULL);
}

static void run_item(void) {
  __sanitizer_finish_switch_fiber(NULL, &running->launcher_stack, &running->launcher_stack_size);
  running->kernel->call(running->values);
  leave_item(running, 0);
}

static void begin_item(host_state *s, uint32_t item) {
  fiber *f = &s->fibers[item];
  getcontext(&f->context);
  f->context.uc_stack.ss_sp = stack_of(s, item);
  f->context.uc_stack.ss_size = STACK;
  f->context.uc_link = NULL;
  makecontext(&f->context, run_item, 0);
  f->context.uc_stack.ss_size = 0; /* else AddressSanitizer would forget at each switch what it knows of the stack */
}

void host_barrier(int line) {
  leave_item(running, line);
}

uint64_t host_shuffle_up(uint64_t value, uint32_t n, int line) {
  uint32_t item = host_item;
  running->exchange[item] = value;
  host_barrier(line);
  uint64_t got = item % WARP >= n ? running->exchange[item - n] : value;
  host_barrier(line);
  return running->wrong_shuffles ? got + 1 : got;
}

/* ---- groups ---------------------------------------------------------------------------------------------------- */

/* Numbers 0 .. count - 1 in the order that the device has. */
static void put_in_order(const host_device *device, uint64_t *random, uint32_t *numbers, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) numbers[i] = device->order == HOST_BACKWARD ? count - 1 - i : i;
  for (uint32_t i = count; device->order == HOST_RANDOM && i > 1; i--) {
    uint32_t j = (uint32_t)(splitmix64((*random)++) % i), kept = numbers[i - 1];
    numbers[i - 1] = numbers[j];
    numbers[j] = kept;
  }
}

/* Every byte, and what a sanitizer put between the arrays. */
__attribute__((no_sanitize("address"))) static void spoil(char *begin, const char *end) {
  for (volatile char *at = begin; at < end; at++) *at = (char)RUBBISH;
}

/* After a round all items wait at one barrier, or all have ended: true, else false and the fault. */
static bool judge_round(host_state *s) {
  int line = s->fibers[0].line;
  for (uint32_t i = 1; i < s->kernel->group; i++) {
    int other = s->fibers[i].line;
    if (other == line) continue;
    char where[2][48];
    snprintf(where[0], sizeof where[0], line != 0 ? "waits at the barrier of line %d" : "has ended", line);
    snprintf(where[1], sizeof where[1], other != 0 ? "waits at that of line %d" : "has ended", other);
    snprintf(s->fault, sizeof s->fault, "group %u: item 0 %s, item %u %s", host_group, where[0], i, where[1]);
    return false;
  }
  return true;
}

static bool run_group(const host_device *device, host_state *s) {
  for (uint32_t i = 0; i < s->kernel->group; i++) begin_item(s, i);
  do {
    put_in_order(device, &s->random, s->order, s->kernel->group);
    for (uint32_t i = 0; i < s->kernel->group; i++) enter_item(s, s->order[i]);
    if (!judge_round(s)) {
      ASAN_UNPOISON_MEMORY_REGION(s->stacks, MOST_ITEMS * s->pitch); /* frames that nobody returns to */
      return false;
    }
  } while (s->fibers[0].line != 0);
  return true;
}

/* ---- the back end ---------------------------------------------------------------------------------------------- */

static const host_device *device_of(const graze_gpu *gpu) {
  return (const host_device *)gpu->backend;
}

static void close_host(graze_gpu *gpu) {
  host_state *s = gpu->state;
  munmap(s->stacks, MOST_ITEMS * s->pitch);
  gz_memory_release(gpu->context, s, sizeof *s);
  gpu->state = NULL;
}

static graze_status open_host(graze_gpu *gpu, uint32_t number) {
  (void)number;
  size_t page = (size_t)sysconf(_SC_PAGESIZE), pitch = STACK + page;
  host_state *s = gz_memory_alloc(gpu->context, sizeof *s);
  if (s == NULL) return gz_fail_memory(gpu->context, sizeof *s);
  memset(s, 0, sizeof *s);
  s->pitch = pitch;
  s->random = device_of(gpu)->seed;
  s->wrong_shuffles = device_of(gpu)->shuffles == HOST_SHUFFLES_WRONG;
  s->stacks =
      mmap(NULL, MOST_ITEMS * pitch, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (s->stacks == MAP_FAILED) {
    gz_memory_release(gpu->context, s, sizeof *s);
    return gz_fail_memory(gpu->context, MOST_ITEMS * pitch);
  }
  for (uint32_t i = 0; i < MOST_ITEMS; i++) mprotect(s->stacks + i * pitch, page, PROT_NONE);
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
  for (int i = 0; i < MODULES; i++) {
    const host_module *m = gpu->shuffle ? shuffle_modules[i] : plain_modules[i];
    if (strcmp(m->name, source->name) == 0) *module = (void *)(uintptr_t)m;
  }
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
  const host_module *m = module;
  for (uint32_t i = 0; i < m->count; i++) {
    const host_kernel *k = &m->kernels[i];
    if (strcmp(k->name, name) != 0) continue;
    *kernel = (gpu_kernel){(void *)(uintptr_t)k, k->group};
    return k->group <= MOST_ITEMS ? GRAZE_OK
                                  : gz_gpu_failed(gpu, GRAZE_ERROR_DEVICE, name, "too many items in a group");
  }
  return gz_gpu_failed(gpu, GRAZE_ERROR_DEVICE, name, "no such kernel");
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

static bool run_groups(const host_device *device, host_state *s, uint32_t groups) {
  const host_module *m = s->kernel->module;
  uint32_t *order = malloc(groups * sizeof *order);
  if (order == NULL) {
    snprintf(s->fault, sizeof s->fault, "no memory for the order of %u groups", groups);
    return false;
  }
  bool good = true;
  put_in_order(device, &s->random, order, groups);
  host_groups = groups;
  for (uint32_t i = 0; good && i < groups; i++) {
    host_group = order[i];
    spoil(m->shared, m->shared_end);
    good = run_group(device, s);
  }
  free(order);
  return good;
}

static graze_status launch(graze_gpu *gpu, const gpu_kernel *kernel, uint32_t groups, const gpu_argument *arguments,
                           uint32_t count) {
  host_state *s = gpu->state;
  void *memories[MOST_VALUES];
  const void *values[MOST_VALUES];
  s->kernel = kernel->handle;
  s->values = values;
  running = s;
  if (take_arguments(s, s->kernel, arguments, count, memories, values) && run_groups(device_of(gpu), s, groups)) {
    return GRAZE_OK;
  }
  return gz_gpu_failed(gpu, GRAZE_ERROR_DEVICE, s->kernel->name, s->fault);
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
                                      .group_most = MOST_ITEMS,
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
