/* Parallel loops, and the floating-point state that exact code needs. */
#ifndef GRAZE_SRC_BASE_PARALLEL_H
#define GRAZE_SRC_BASE_PARALLEL_H

#include <stdatomic.h>

#include "graze/base.h"

/* Workers that a loop of the context can have: their indices are below it, so that scratch is an array of so many. */
uint32_t gz_workers(const graze_context *context);

/* Threads that a loop begun here may use; at least 1, and 1 inside a loop's body. */
int gz_parallel_threads(const graze_context *context);

/* body(argument, begin, end, worker) for ranges that together are [0, count), each of at most `grain` unless one thread
 * does it all; ranges are taken in order as workers get free. No two run with the same worker index at a time. Runs on
 * the context's pool or through its hooks, and on the calling thread, which is worker 0, when there is one range or one
 * thread. A loop inside a body runs on the body's thread, under its worker index. Bodies run under gz_fp_enter().
 * Of the errors that bodies report, the caller's last error becomes that of the first range that has one. */
void gz_parallel_for(const graze_context *context, uint32_t count, uint32_t grain, graze_task_function body,
                     void *argument);

/* body(argument, i) for every i < count, each on its own: for loops over pieces, whose results are kept by piece. */
void gz_parallel_each(const graze_context *context, uint32_t count, void (*body)(void *argument, uint32_t index),
                      void *argument);

/* Which loop of which pool the thread is in. */
typedef struct parallel_place {
  const void *pool;
  uint32_t worker;
} parallel_place;

/* With `serial`, from here to the end loops that this thread begins run on it alone: for work that is less than waking
 * threads. */
parallel_place gz_serial_begin(const graze_context *context, bool serial);
void gz_serial_end(parallel_place before);

/* For the first of what fails in a loop, whatever thread comes to it when. */
static inline void note_least(_Atomic uint64_t *least, uint64_t value) {
  uint64_t known = atomic_load(least);
  while (value < known && !atomic_compare_exchange_weak(least, &known, value)) continue;
}

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
