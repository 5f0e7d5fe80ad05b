/* Parallel loops over tasks, and the floating-point state that exact code needs. */
#ifndef GRAZE_SRC_BASE_PARALLEL_H
#define GRAZE_SRC_BASE_PARALLEL_H

#include "graze/base.h"

/* Threads that a loop of the context may use; at least 1. */
int gz_parallel_threads(const graze_context *context);

/* body(argument, i) for every i < count, in any order, through the context's hook or OpenMP; on the calling thread
 * when count or the thread count is 1. Every body runs under gz_fp_enter(). */
void gz_parallel_for(const graze_context *context, uint32_t count, void (*body)(void *argument, uint32_t index),
                     void *argument);

/* [0, count) cut into pieces whose bounds depend on count alone, so that what is added up piece by piece is the same
 * for any number of threads. Few enough pieces that a result for each fits on the stack; sizes are multiples of 64. */
enum { PARALLEL_PIECES = 256 };
typedef struct pieces {
  uint64_t count;
  uint64_t size;
  uint32_t number;
} pieces;

static inline pieces pieces_of(uint64_t count, uint64_t least) {
  uint64_t size = count / PARALLEL_PIECES + 1;
  if (size < least) size = least;
  size = (size + 63) / 64 * 64;
  return (pieces){count, size, (uint32_t)((count + size - 1) / size)};
}

static inline uint64_t pieces_begin(const pieces *p, uint32_t index) {
  return index * p->size;
}

static inline uint64_t pieces_end(const pieces *p, uint32_t index) {
  uint64_t end = (index + (uint64_t)1) * p->size;
  return end < p->count ? end : p->count;
}

/* Exact arithmetic needs rounding to nearest and subnormals kept, whatever the host program has set: the state is
 * set at entry of the library and given back at exit. */
unsigned gz_fp_enter(void);
void gz_fp_leave(unsigned saved);

#endif
