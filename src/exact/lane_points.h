/* Points, signs and boxes in lanes: what the stages of tritri_kernels.c and the pairs of one mesh share. */
#ifndef GRAZE_SRC_EXACT_LANE_POINTS_H
#define GRAZE_SRC_EXACT_LANE_POINTS_H

#include "base/simd.h"
#include "exact/expansion.h"
#include "exact/tritri_batch.h"

/* a * b - p, for a result that is a double; p within a rounding or two of a * b. */
static inline vd vd_product_rest(vd a, vd b, vd p) {
#if VD_FUSED
  return vd_fused_minus(a, b, p);
#else
  double hi, lo;
  two_prod(a, b, &hi, &lo);
  return (hi - p) + lo;
#endif
}

typedef struct point {
  vd x, y, z;
} point;

static inline point point_sub(point a, point b) {
  return (point){vd_sub(a.x, b.x), vd_sub(a.y, b.y), vd_sub(a.z, b.z)};
}

static inline point point_select(vm m, point yes, point no) {
  return (point){vd_select(m, yes.x, no.x), vd_select(m, yes.y, no.y), vd_select(m, yes.z, no.z)};
}

static inline point point_cross(point a, point b) {
  return (point){vd_sub(vd_mul(a.y, b.z), vd_mul(a.z, b.y)), vd_sub(vd_mul(a.z, b.x), vd_mul(a.x, b.z)),
                 vd_sub(vd_mul(a.x, b.y), vd_mul(a.y, b.x))};
}

static inline vd point_dot(point a, point b) {
  return vd_add(vd_add(vd_mul(a.x, b.x), vd_mul(a.y, b.y)), vd_mul(a.z, b.z));
}

static inline vm all3(const vm m[3]) {
  return vm_and(vm_and(m[0], m[1]), m[2]);
}

static inline vm any3(const vm m[3]) {
  return vm_or(vm_or(m[0], m[1]), m[2]);
}

/* Where the coordinates of the pairs are: a[k][i] as in tritri_block. */
typedef struct pair_source {
  const double *a[9], *b[9];
} pair_source;

static inline pair_source source_of(const tritri_block *block) {
  pair_source s;
  for (int k = 0; k < 9; k++) {
    s.a[k] = block->a[k];
    s.b[k] = block->b[k];
  }
  return s;
}

static inline void load_points(const double *const from[9], unsigned at, point t[3]) {
  for (int k = 0; k < 3; k++) {
    t[k] = (point){vd_load(from[3 * k] + at), vd_load(from[3 * k + 1] + at), vd_load(from[3 * k + 2] + at)};
  }
}

/* Lowest and highest of three. */
static inline vd min3(vd a, vd b, vd c) {
  return vd_min(vd_min(a, b), c);
}

static inline vd max3v(vd a, vd b, vd c) {
  return vd_max(vd_max(a, b), c);
}

typedef struct lane_box {
  point low, high;
} lane_box;

static inline lane_box box_of(const point t[3]) {
  return (lane_box){{min3(t[0].x, t[1].x, t[2].x), min3(t[0].y, t[1].y, t[2].y), min3(t[0].z, t[1].z, t[2].z)},
                    {max3v(t[0].x, t[1].x, t[2].x), max3v(t[0].y, t[1].y, t[2].y), max3v(t[0].z, t[1].z, t[2].z)}};
}

static inline vm boxes_apart(const lane_box *a, const lane_box *b) {
  vm x = vm_or(vd_gt(a->low.x, b->high.x), vd_gt(b->low.x, a->high.x));
  vm y = vm_or(vd_gt(a->low.y, b->high.y), vd_gt(b->low.y, a->high.y));
  vm z = vm_or(vd_gt(a->low.z, b->high.z), vd_gt(b->low.z, a->high.z));
  return vm_or(vm_or(x, y), z);
}

/* Extents of the box around both. */
static inline point box_extent(const lane_box *a, const lane_box *b) {
  return (point){vd_sub(vd_max(a->high.x, b->high.x), vd_min(a->low.x, b->low.x)),
                 vd_sub(vd_max(a->high.y, b->high.y), vd_min(a->low.y, b->low.y)),
                 vd_sub(vd_max(a->high.z, b->high.z), vd_min(a->low.z, b->low.z))};
}

/* ---- a block's masks as words: bit i is pair i, so that logic is done for all pairs at once ---- */

static inline unsigned lanes_of(uint64_t word, unsigned at) {
  return (unsigned)(word >> at) & ((1u << VD_LANES) - 1);
}

static inline vm mask_of(uint64_t word, unsigned at) {
  return vm_from(lanes_of(word, at));
}

static inline uint64_t first_bits(unsigned count) {
  return count == 64 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1;
}

static inline uint64_t choose(uint64_t m, uint64_t yes, uint64_t no) {
  return (m & yes) | (~m & no);
}

/* Where the signs of a triangle's corners against the other plane are positive, and negative. */
typedef struct sign_words {
  uint64_t p[3], n[3];
} sign_words;

static inline uint64_t one_side(const sign_words *s) {
  return (s->p[0] & s->p[1] & s->p[2]) | (s->n[0] & s->n[1] & s->n[2]);
}

static inline uint64_t any_sign(const sign_words *s) {
  return s->p[0] | s->p[1] | s->p[2] | s->n[0] | s->n[1] | s->n[2];
}

static inline uint64_t all_signs(const sign_words *s) {
  return (s->p[0] | s->n[0]) & (s->p[1] | s->n[1]) & (s->p[2] | s->n[2]);
}

/* The corner that lies alone on its side (gz_tritri_cut): whether it is the first or the second; whether it alone is on
 * the plane; and whether the other triangle must be turned over. For signs that are not all equal. */
typedef struct alone_words {
  uint64_t first, second, tip, flip;
} alone_words;

static inline alone_words find_alone(const sign_words *s) {
  /* Of three bits that are not all set, an odd number is one. */
  uint64_t one_p = s->p[0] ^ s->p[1] ^ s->p[2], one_n = s->n[0] ^ s->n[1] ^ s->n[2];
  alone_words a;
  a.first = choose(one_p, s->p[0], choose(one_n, s->n[0], ~(s->p[0] | s->n[0])));
  a.second = choose(one_p, s->p[1], choose(one_n, s->n[1], ~(s->p[1] | s->n[1])));
  a.tip = ~(one_p | one_n);
  a.flip = (one_n | s->p[0] | s->p[1] | s->p[2]) & ~one_p;
  return a;
}

/* Which corner becomes p, the one alone, and which q and r, in turn: the second or the third, else the first. */
typedef struct order_words {
  uint64_t p_second, p_third, q_second, q_third, r_second, r_third;
} order_words;

/* q and r are swapped where `turned`. */
static inline order_words find_order(const alone_words *alone, uint64_t turned) {
  uint64_t first = alone->first, second = alone->second, third = ~(first | second);
  return (order_words){second,
                       third,
                       choose(turned, third, first),
                       choose(turned, first, second),
                       choose(turned, first, third),
                       choose(turned, second, first)};
}

static inline void reorder(const point t[3], const order_words *order, unsigned at, point out[3]) {
  const uint64_t seconds[3] = {order->p_second, order->q_second, order->r_second};
  const uint64_t thirds[3] = {order->p_third, order->q_third, order->r_third};
  for (int k = 0; k < 3; k++) {
    out[k] = point_select(mask_of(seconds[k], at), t[1], point_select(mask_of(thirds[k], at), t[2], t[0]));
  }
}

/* Eighteen columns are more streams than the processor follows by itself: asks for pairs `ahead` further on. */
static inline void ask_ahead(const pair_source *source, unsigned at, unsigned ahead) {
  if (ahead == 0 || at % 8 != 0) return;
  for (int k = 0; k < 9; k++) {
    __builtin_prefetch(source->a[k] + at + ahead);
    __builtin_prefetch(source->b[k] + at + ahead);
  }
}

#endif
