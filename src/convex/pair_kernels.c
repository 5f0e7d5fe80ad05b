#include "convex/pair_kernels.h"

#include "convex/farthest.h"

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

void KERNEL(gz_convex_support)(const supporting *s, const double n[3], const double m[3], extreme best[2]) {
  best[0] = farthest(s->y[0], s->lanes[0], n);
  best[1] = farthest(s->y[1], s->lanes[1], m);
}
