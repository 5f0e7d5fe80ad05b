#include "convex/pair_kernels.h"

#include "base/simd.h"

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

static inline vd image(const double *row, const vd in[3]) {
  vd x = vd_add(vd_mul(vd_set(row[0]), in[0]), vd_mul(vd_set(row[1]), in[1]));
  return vd_add(vd_add(x, vd_mul(vd_set(row[2]), in[2])), vd_set(row[3]));
}

void KERNEL(gz_convex_pose)(posing *p) {
  vd low[3], high[3], size[3], sum = vd_set(0);
  for (int k = 0; k < 3; k++) {
    low[k] = vd_set((double)INFINITY);
    high[k] = vd_set(-(double)INFINITY);
    size[k] = vd_set(0);
  }
  for (uint32_t i = 0; i < p->lanes; i += VD_LANES) {
    const vd in[3] = {vd_load(p->in[0] + i), vd_load(p->in[1] + i), vd_load(p->in[2] + i)};
    for (int k = 0; k < 3; k++) {
      vd x = p->pose != NULL ? image(p->pose + 4 * k, in) : in[k];
      vd y = vd_sub(x, vd_set(p->center[k]));
      vd_store(p->x[k] + i, x);
      vd_store(p->y[k] + i, y);
      low[k] = vd_min(low[k], y);
      high[k] = vd_max(high[k], y);
      size[k] = vd_max(size[k], vd_abs(x));
      sum = vd_add(sum, vd_mul(x, vd_set(0)));
    }
  }
  double lane[VD_LANES];
  vd_store(lane, sum);
  for (int k = 0; k < 3; k++) {
    p->low[k] = -greatest(vd_neg(low[k]));
    p->high[k] = greatest(high[k]);
    p->size[k] = greatest(size[k]);
    for (int i = 0; i < VD_LANES; i++) p->size[k] += lane[i];
  }
}

static inline extreme farthest(const double *const y[3], uint32_t lanes, const double n[3]) {
  double number[VD_LANES];
  for (int i = 0; i < VD_LANES; i++) number[i] = i;
  vd best = vd_set(-(double)INFINITY), at = vd_set(0), here = vd_load(number);
  const vd nx = vd_set(n[0]), ny = vd_set(n[1]), nz = vd_set(n[2]), step = vd_set(VD_LANES);
  for (uint32_t i = 0; i < lanes; i += VD_LANES) {
    vd product =
        vd_add(vd_add(vd_mul(nx, vd_load(y[0] + i)), vd_mul(ny, vd_load(y[1] + i))), vd_mul(nz, vd_load(y[2] + i)));
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

void KERNEL(gz_convex_support)(const supporting *s, const double n[3], const double m[3], extreme best[2]) {
  best[0] = farthest(s->y[0], s->lanes[0], n);
  best[1] = farthest(s->y[1], s->lanes[1], m);
}
