/* Stage 1 of tritri_kernels.c: plain doubles with an error bound.
 *
 * Computes the six plane determinants and, where planes do not decide, the two edge-edge determinants of Guigue and
 * Devillers, all with one error bound: with rx, ry, rz the extents of the six points' box, every difference on an axis
 * is at most its extent, and every determinant is off by less than 5.4e-15 rx ry rz (orient.c has the count of
 * roundings; the extents' own rounding is inside the slack). A sign beyond the bound is right. A zero is never
 * certified here.
 */
#ifndef GRAZE_SRC_EXACT_TRITRI_FILTER_H
#define GRAZE_SRC_EXACT_TRITRI_FILTER_H

#include <stddef.h>
#include <string.h>

#include "exact/lane_points.h"
#include "exact/tritri_batch.h"

/* What the bound of a determinant is made of. */
typedef enum filter_kind {
  FILTER_EXACT, /* the coordinates are the points */
  FILTER_REAL,  /* the points lie within `slack` of them, axis by axis */
  FILTER_PLAIN  /* no bound: not for answers */
} filter_kind;

/* With extents r the determinant of the points moved by up to half of g on each axis, so that differences move by up to
 * g, changes by at most 6 ((rx + gx)(ry + gy)(rz + gz) - rx ry rz); what evaluating it rounds is added. */
static inline vd determinant_bound(point r, const double slack[3], filter_kind kind) {
  if (kind == FILTER_PLAIN) return vd_set(0);
  vd product = vd_mul(vd_mul(r.x, r.y), r.z);
  if (kind == FILTER_EXACT) return vd_mul(vd_set(5.4e-15), product);
  vd whole =
      vd_mul(vd_mul(vd_add(r.x, vd_set(slack[0])), vd_add(r.y, vd_set(slack[1]))), vd_add(r.z, vd_set(slack[2])));
  return vd_add(vd_mul(vd_set(6.001), vd_sub(whole, product)), vd_mul(vd_set(1.5e-14), whole));
}

static inline lane_box box_widened(lane_box b, const double slack[3]) {
  b.low.x = vd_sub(b.low.x, vd_set(slack[0]));
  b.low.y = vd_sub(b.low.y, vd_set(slack[1]));
  b.low.z = vd_sub(b.low.z, vd_set(slack[2]));
  b.high.x = vd_add(b.high.x, vd_set(slack[0]));
  b.high.y = vd_add(b.high.y, vd_set(slack[1]));
  b.high.z = vd_add(b.high.z, vd_set(slack[2]));
  return b;
}

/* What the six signs and the boxes of a block's pairs say. */
typedef struct filter_words {
  sign_words a, b;
  uint64_t usable; /* neither overflow nor underflow */
  uint64_t apart;  /* boxes */
  uint64_t level;  /* all six corners have the same coordinate on some axis */
  double bound[TRITRI_BLOCK];
} filter_words;

static inline void put_filter_signs(vd det, vd bound, sign_words *s, int k, unsigned at) {
  vm_put(&s->p[k], at, vd_gt(det, bound));
  vm_put(&s->n[k], at, vd_gt(vd_neg(bound), det));
}

static inline void filter_signs(const pair_source *source, unsigned at, bool hits_only, const double slack[3],
                                filter_kind kind, filter_words *w) {
  point a[3], b[3];
  load_points(source->a, at, a);
  load_points(source->b, at, b);
  lane_box box_a = box_of(a), box_b = box_of(b);
  lane_box reach_b = kind == FILTER_REAL ? box_widened(box_b, slack) : box_b;
  vm apart = boxes_apart(&box_a, &reach_b);
  vm_put(&w->apart, at, apart);
  if (hits_only && vm_bits(apart) == vm_bits(vm_all())) return;
  point r = box_extent(&box_a, &box_b);
  vd largest = max3v(r.x, r.y, r.z), least = min3(r.x, r.y, r.z);
  vm_put(&w->usable, at, vm_and(vd_gt(vd_set(1e100), largest), vd_gt(least, vd_set(1e-97))));
  vm_put(&w->level, at, vd_eq(least, vd_set(0)));
  vd bound = determinant_bound(r, slack, kind);
  vd_store(w->bound + at, bound);
  point normal_a = point_cross(point_sub(a[1], a[0]), point_sub(a[2], a[0]));
  point normal_b = point_cross(point_sub(b[1], b[0]), point_sub(b[2], b[0]));
  for (int k = 0; k < 3; k++) {
    put_filter_signs(point_dot(normal_a, point_sub(b[k], a[0])), bound, &w->b, k, at);
    put_filter_signs(point_dot(normal_b, point_sub(a[k], b[0])), bound, &w->a, k, at);
  }
}

/* The two signs for pairs whose six are certain. */
static inline void filter_crossing(const pair_source *source, unsigned at, const filter_words *w, const order_words *oa,
                                   const order_words *ob, uint64_t *no, uint64_t *yes) {
  point a[3], b[3], pa[3], pb[3];
  load_points(source->a, at, a);
  load_points(source->b, at, b);
  reorder(a, oa, at, pa);
  reorder(b, ob, at, pb);
  vd bound = vd_load(w->bound + at), below = vd_neg(bound);
  point u = point_sub(pb[0], pa[0]);
  vd ik = point_dot(point_cross(point_sub(pa[1], pa[0]), u), point_sub(pb[1], pa[0]));
  vd lj = point_dot(point_cross(point_sub(pa[2], pa[0]), point_sub(pb[2], pa[0])), u);
  vm_put(no, at, vm_or(vd_gt(ik, bound), vd_gt(lj, bound)));
  vm_put(yes, at, vm_and(vd_gt(below, ik), vd_gt(below, lj)));
}

/* Returns the wanted pairs that stay open; of the others those in *segments meet in a segment, the rest do not meet.
 * What is open and in *level lies in one plane across an axis. */
static inline uint64_t filter_block(const pair_source *source, uint64_t wanted, bool hits_only, const double slack[3],
                                    filter_kind kind, unsigned ahead, uint64_t *segments, uint64_t *level) {
  filter_words w;
  memset(&w, 0, offsetof(filter_words, bound));
  for (unsigned at = 0; at < TRITRI_BLOCK; at += VD_LANES) {
    if (lanes_of(wanted, at) == 0) continue;
    ask_ahead(source, at, ahead);
    filter_signs(source, at, hits_only, slack, kind, &w);
  }
  /* One certain sign against a plane proves that plane's triangle proper, and the pair not coplanar. */
  uint64_t proper = any_sign(&w.a) & any_sign(&w.b), apart = one_side(&w.a) | one_side(&w.b) | w.apart;
  uint64_t none = w.usable & (hits_only ? apart : apart & proper);
  if (hits_only) none |= w.apart;
  uint64_t ask = wanted & w.usable & all_signs(&w.a) & all_signs(&w.b) & ~none, no = 0, yes = 0;
  alone_words alone_a = find_alone(&w.a), alone_b = find_alone(&w.b);
  order_words oa = find_order(&alone_a, alone_b.flip), ob = find_order(&alone_b, alone_a.flip);
  for (unsigned at = 0; at < TRITRI_BLOCK; at += VD_LANES) {
    if (lanes_of(ask, at) != 0) filter_crossing(source, at, &w, &oa, &ob, &no, &yes);
  }
  *segments = ask & yes;
  *level = w.level;
  return wanted & ~(none | (ask & (no | yes)));
}

#endif
