/* tests/host_kernel.h: what kernels need to run as C. It goes before the text of a module, behind which the build puts
 * a host_module: its kernels, each with a function that calls it with arguments by address (host_kernels.cmake). */
#ifndef GRAZE_TESTS_HOST_KERNEL_H
#define GRAZE_TESTS_HOST_KERNEL_H

#include <stddef.h>
#include <stdint.h>

typedef struct host_module host_module;

/* What a kernel says of a pointer. */
enum { HOST_RESTRICT = 1, HOST_WRITTEN = 2 /* it is not to constants */ };

typedef struct host_kernel {
  const host_module *module;
  const char *name;
  uint32_t group; /* items */
  void (*call)(const void *const *values);
  const size_t *sizes; /* of its arguments; 0: a buffer */
  const unsigned char *access;
  uint32_t count;
} host_kernel;

struct host_module {
  const char *name;
  const host_kernel *kernels;
  uint32_t count;
  char *shared, *shared_end; /* what its kernels share in a group; NULL: nothing */
};

/* Of the item that runs; host_runner.c runs one at a time. */
extern uint32_t host_item, host_group, host_groups;

/* Lets the others run up to the same line. */
void host_barrier(int line);

/* The value of the item n before this one of its 32. */
uint64_t host_shuffle_up(uint64_t value, uint32_t n, int line);

/* Kernels for a device with shuffles are other ones, with shared memory of their own. */
#if defined(GRAZE_SHUFFLE)
#define HOST_NAME(name) name##_shuffle
#else
#define HOST_NAME(name) name
#endif

static inline double host_as_f64(uint64_t bits) {
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

static inline float host_as_f32(uint32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint64_t host_as_u64(double x) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline uint32_t host_as_u32(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* 64 of nothing, as on devices. */
static inline uint32_t host_leading_zeros(uint64_t x) {
  return x != 0 ? (uint32_t)__builtin_clzll(x) : 64;
}

static inline uint32_t host_min(uint32_t *at, uint32_t x) {
  uint32_t old = *at;
  if (x < old) *at = x;
  return old;
}

#endif
