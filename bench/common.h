/* bench/common.h: what graze-bench and the peer programs share: clock, random numbers, hash, layout of the files that
 * carry inputs from one to the other. C17 and C++17.
 *
 * Files, little-endian:
 *   mesh   "GRZBMSH1", uint32 vertices, uint32 triangles, float xyz[3 * vertices], uint32 corner[3 * triangles]
 *   poses  "GRZBPOS1", uint32 count, uint32 0, double matrix[12 * count] (3x4, row-major)
 *   pairs  "GRZBTRI1", uint32 count, uint32 0, double corners[18 * count] (a0 a1 a2 b0 b1 b2 of each pair)
 */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <stdint.h>
#include <time.h>

#define BENCH_MESH_MAGIC  "GRZBMSH1"
#define BENCH_POSE_MAGIC  "GRZBPOS1"
#define BENCH_PAIRS_MAGIC "GRZBTRI1"
#define BENCH_POINT_MAGIC "GRZBPNT1"
#define BENCH_ITEMS_MAX   64 /* most timed items (poses) of one run */

static inline double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What an empty interval measures: the least of many. */
static inline double clock_overhead(void) {
  double least = 1;
  for (int i = 0; i < 1000; i++) {
    double start = seconds_now(), length = seconds_now() - start;
    if (length < least) least = length;
  }
  return least;
}

static inline uint64_t splitmix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

static inline uint64_t hash_of_pair(uint32_t first, uint32_t second) {
  return splitmix64((uint64_t)first << 32 | second);
}

/* ---- broad phases ---- */

/* What is expected to take longer than BROAD_BUILD_SECONDS is left out, and a run of steps that takes longer than
 * BROAD_STEPS_SECONDS is given up: a bench has an end. */
#define BROAD_TRIALS        3 /* of fewer boxes, to form the expectation */
#define BROAD_BUILD_SECONDS 2.0
#define BROAD_STEPS_SECONDS 8.0
#define BROAD_WARM_STEPS    8 /* of moving boxes, not timed, so that what was built has settled */

/* How long n boxes will take at least when n / 10 and n / 100 took these times: each tenfold costs as many times more
 * as the one before, and ten times at least. When the hundredth alone says that it is too long, the tenth need not be
 * tried (0). */
static inline double broad_expected(double tenth, double hundredth) {
  if (tenth == 0) return 100 * hundredth;
  double growth = hundredth > 0 ? tenth / hundredth : 10;
  return tenth * (growth > 10 ? growth : 10);
}

/* In a step every `every`-th box moves; the others stay where they were at step 0. `first` and `out`: six floats a
 * box, the boxes of step 0 and of the step. */
static inline void broad_hold(const float *first, uint32_t count, uint32_t every, float *out) {
  for (uint64_t i = 0; i < count; i++)
    for (uint64_t k = 0; k < 6 && i % every != 0; k++) out[6 * i + k] = first[6 * i + k];
}

#endif
