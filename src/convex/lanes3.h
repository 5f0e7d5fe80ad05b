/* Vectors of three, in lanes: for kernels. Sums go from the left, as those of base/vector3.h. */
#ifndef GRAZE_SRC_CONVEX_LANES3_H
#define GRAZE_SRC_CONVEX_LANES3_H

#include "base/simd.h"

typedef struct vd3 {
  vd x[3];
} vd3;

static inline vd3 lanes_sub(vd3 a, vd3 b) {
  return (vd3){{vd_sub(a.x[0], b.x[0]), vd_sub(a.x[1], b.x[1]), vd_sub(a.x[2], b.x[2])}};
}

static inline vd3 lanes_neg(vd3 a) {
  return (vd3){{vd_neg(a.x[0]), vd_neg(a.x[1]), vd_neg(a.x[2])}};
}

static inline vd3 lanes_select(vm m, vd3 yes, vd3 no) {
  return (vd3){{vd_select(m, yes.x[0], no.x[0]), vd_select(m, yes.x[1], no.x[1]), vd_select(m, yes.x[2], no.x[2])}};
}

static inline vd lanes_dot(vd3 a, vd3 b) {
  return vd_add(vd_add(vd_mul(a.x[0], b.x[0]), vd_mul(a.x[1], b.x[1])), vd_mul(a.x[2], b.x[2]));
}

static inline vd3 lanes_cross(vd3 a, vd3 b) {
  return (vd3){{vd_sub(vd_mul(a.x[1], b.x[2]), vd_mul(a.x[2], b.x[1])),
                vd_sub(vd_mul(a.x[2], b.x[0]), vd_mul(a.x[0], b.x[2])),
                vd_sub(vd_mul(a.x[0], b.x[1]), vd_mul(a.x[1], b.x[0]))}};
}

static inline vm lanes_equal(vd3 a, vd3 b) {
  return vm_and(vm_and(vd_eq(a.x[0], b.x[0]), vd_eq(a.x[1], b.x[1])), vd_eq(a.x[2], b.x[2]));
}

/* A vector for each lane, in memory. */
typedef double lane_vectors[3][VD_LANES];

static inline vd3 lanes_load(lane_vectors from) {
  return (vd3){{vd_load(from[0]), vd_load(from[1]), vd_load(from[2])}};
}

static inline void lanes_store(lane_vectors to, vd3 a) {
  for (int k = 0; k < 3; k++) vd_store(to[k], a.x[k]);
}

#endif
