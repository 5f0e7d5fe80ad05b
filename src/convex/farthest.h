/* The largest of a set of lanes, and the point farthest along a direction: for kernels. */
#ifndef GRAZE_SRC_CONVEX_FARTHEST_H
#define GRAZE_SRC_CONVEX_FARTHEST_H

#include "base/simd.h"
#include "convex/pair_kernels.h"

#if GRAZE_ISA == 2

static inline double greatest(vd v) {
  return _mm512_reduce_max_pd(v);
}

#else

static inline double greatest(vd v) {
  double lane[8]; /* of which those that there are not are like the last one */
  vd_store(lane, v);
  for (int i = VD_LANES; i < 8; i++) lane[i] = lane[VD_LANES - 1];
  for (int half = 4; half > 0; half /= 2) {
    for (int i = 0; i < half; i++) lane[i] = lane[i] > lane[i + half] ? lane[i] : lane[i + half];
  }
  return lane[0];
}

#endif

static inline vd product_lanes(const vd n[3], const double *const y[3], uint32_t i) {
  return vd_add(vd_add(vd_mul(n[0], vd_load(y[0] + i)), vd_mul(n[1], vd_load(y[1] + i))),
                vd_mul(n[2], vd_load(y[2] + i)));
}

/* Of any number. */
static inline extreme farthest_of_many(const double *const y[3], uint32_t lanes, const double n[3]) {
  double number[VD_LANES];
  for (int i = 0; i < VD_LANES; i++) number[i] = i;
  vd best = vd_set(-(double)INFINITY), at = vd_set(0), here = vd_load(number);
  const vd all[3] = {vd_set(n[0]), vd_set(n[1]), vd_set(n[2])}, step = vd_set(VD_LANES);
  for (uint32_t i = 0; i < lanes; i += VD_LANES) {
    vd product = product_lanes(all, y, i);
    vm more = vd_gt(product, best);
    best = vd_select(more, product, best);
    at = vd_select(more, here, at);
    here = vd_add(here, step);
  }
  double most = greatest(best);
  vd_store(number, at);
  unsigned equal = vm_bits(vd_eq(best, vd_set(most)));
  double which = number[__builtin_ctz(equal)];
  for (equal &= equal - 1; equal != 0; equal &= equal - 1) {
    double other = number[__builtin_ctz(equal)];
    which = other < which ? other : which;
  }
  return (extreme){most, (uint32_t)which};
}

enum { FEW_LANES = 64 };

/* Of at most FEW_LANES: the largest product, then who has it. */
static inline extreme farthest_of_few(const double *const y[3], uint32_t lanes, const double n[3]) {
  double products[FEW_LANES];
  const vd all[3] = {vd_set(n[0]), vd_set(n[1]), vd_set(n[2])};
  vd best = vd_set(-(double)INFINITY);
  for (uint32_t i = 0; i < lanes; i += VD_LANES) {
    const vd product = product_lanes(all, y, i);
    vd_store(products + i, product);
    best = vd_max(product, best);
  }
  const double most = greatest(best);
  uint64_t equal = 0;
  for (uint32_t i = 0; i < lanes; i += VD_LANES) vm_put(&equal, i, vd_eq(vd_load(products + i), vd_set(most)));
  return (extreme){most, equal != 0 ? (uint32_t)__builtin_ctzll(equal) : 0};
}

static inline extreme farthest(const double *const y[3], uint32_t lanes, const double n[3]) {
  return lanes <= FEW_LANES ? farthest_of_few(y, lanes, n) : farthest_of_many(y, lanes, n);
}

#endif
