/* Stage 4 of tritri_kernels.c: proper triangles in planes across two different axes, as those of a wall and of the
 * floor that it stands on.
 *
 * On which side of a plane a corner lies is a comparison of coordinates. What is left of each triangle on the line in
 * which the planes meet is an interval of the third coordinate, t. An end of it is a corner's coordinate or where an
 * edge crosses: t + (t' - t) d / (d - d') with corners at d and d' of the plane, of opposite signs. With u = 2^-53 that
 * is off by less than 7 u |t' - t| + 2 u T where T is the largest |t| of the six: 2^-49 T covers it, and 2^-1000 what
 * underflows. Ends that differ by no more stay open, unless both are corners.
 */
#ifndef GRAZE_SRC_EXACT_TRITRI_SQUARE_H
#define GRAZE_SRC_EXACT_TRITRI_SQUARE_H

#include "exact/tritri_level.h"

/* Where all corners have one coordinate; the first such axis. */
typedef struct across {
  vm x, y, z;
} across;

static inline vm same_three(vd a, vd b, vd c) {
  return vm_and(vd_eq(a, b), vd_eq(a, c));
}

static inline across across_of(const point t[3]) {
  across w;
  w.x = same_three(t[0].x, t[1].x, t[2].x);
  w.y = vm_andnot(same_three(t[0].y, t[1].y, t[2].y), w.x);
  w.z = vm_andnot(vm_andnot(same_three(t[0].z, t[1].z, t[2].z), w.x), w.y);
  return w;
}

/* The interval of one triangle. */
typedef struct interval {
  vd low, high;
  vd low_off, high_off;     /* 0 for corners */
  vm usable, one_side, tip; /* a corner alone is on the plane */
} interval;

static inline void take_end(vm valid, vd t, vd off, interval *i) {
  const vm lower = vm_and(valid, vd_gt(i->low, t)), higher = vm_and(valid, vd_gt(t, i->high));
  i->low_off = vd_select(lower, off, i->low_off);
  i->low = vd_select(lower, t, i->low);
  i->high_off = vd_select(higher, off, i->high_off);
  i->high = vd_select(higher, t, i->high);
}

/* Of corners at t[k] along the line and d[k] from the other's plane. `off`: what a crossing may be off by. */
static inline interval interval_of(const vd d[3], const vd t[3], vd off) {
  const vd zero = vd_set(0);
  interval i = {vd_set(INFINITY), vd_set(-INFINITY), zero, zero, vm_none(), vm_none(), vm_none()};
  vm above[3], below[3], on[3], crosses = vm_none();
  for (int k = 0; k < 3; k++) {
    above[k] = vd_gt(d[k], zero);
    below[k] = vd_gt(zero, d[k]);
    on[k] = vd_eq(d[k], zero);
    take_end(on[k], t[k], zero, &i);
  }
  for (int k = 0; k < 3; k++) {
    const int next = (k + 1) % 3;
    const vm valid = vm_or(vm_and(above[k], below[next]), vm_and(below[k], above[next]));
    const vd height = vd_sub(d[k], d[next]), safe = vd_select(valid, height, vd_set(1));
    take_end(valid, vd_add(t[k], vd_mul(vd_sub(t[next], t[k]), vd_div(d[k], safe))), off, &i);
    crosses = vm_or(crosses, valid);
  }
  const vm one = vm_or(vm_or(vm_andnot(vm_andnot(on[0], on[1]), on[2]), vm_andnot(vm_andnot(on[1], on[0]), on[2])),
                       vm_andnot(vm_andnot(on[2], on[0]), on[1]));
  i.one_side = vm_or(all3(above), all3(below));
  i.tip = vm_andnot(one, crosses);
  /* Which end a crossing is must be known, and whether there is an interval: of three corners on the plane is none. */
  const vm known = vm_or(vm_andnot(vm_all(), crosses), vd_gt(vd_sub(i.high, i.low), off));
  i.usable = vm_andnot(vm_or(known, i.one_side), all3(on));
  return i;
}

/* Where one end lies beyond another one, before it, or exactly at it. */
static inline void compare_ends(vd p, vd p_off, vd q, vd q_off, vm *beyond, vm *before, vm *at) {
  const vd gap = vd_sub(p, q), off = vd_add(p_off, q_off);
  *beyond = vd_gt(gap, off);
  *before = vd_gt(vd_neg(off), gap);
  *at = vm_and(vd_eq(p, q), vd_eq(off, vd_set(0)));
}

/* A triangle has an area, seen along the axis of its plane. */
static inline vm has_area(const vd s[3], const vd t[3]) {
  const vd du = vd_sub(s[1], s[0]), dv = vd_sub(s[2], s[0]), tu = vd_sub(t[1], t[0]), tv = vd_sub(t[2], t[0]);
  const vd size = vd_mul(vd_max(vd_abs(du), vd_abs(dv)), vd_max(vd_abs(tu), vd_abs(tv)));
  const vd area = vd_sub(vd_mul(du, tv), vd_mul(tu, dv));
  const vm window = vm_and(vd_gt(size, vd_set(1e-270)), vd_gt(vd_set(1e270), size));
  return vm_and(window, vd_gt(vd_abs(area), vd_mul(vd_set(1.13e-15), size)));
}

static inline vd axis_of(vm x, vm y, point p) {
  return vd_select(x, p.x, vd_select(y, p.y, p.z));
}

typedef struct square_words {
  uint64_t usable, apart, point, segment;
} square_words;

static inline void square_lanes(const pair_source *source, unsigned at, square_words *w) {
  point a[3], b[3];
  vd sa[3], sb[3], da[3], db[3], ta[3], tb[3], most = vd_set(0);
  load_points(source->a, at, a);
  load_points(source->b, at, b);
  const across wa = across_of(a), wb = across_of(b);
  const vm square =
      vm_or(vm_or(vm_and(wa.x, vm_or(wb.y, wb.z)), vm_and(wa.y, vm_or(wb.x, wb.z))), vm_and(wa.z, vm_or(wb.x, wb.y)));
  if (vm_bits(square) == 0) return;
  const vm no_x = vm_andnot(vm_andnot(vm_all(), wa.x), wb.x), no_y = vm_andnot(vm_andnot(vm_all(), wa.y), wb.y);
  for (int k = 0; k < 3; k++) {
    sa[k] = axis_of(wb.x, wb.y, a[k]);
    sb[k] = axis_of(wa.x, wa.y, b[k]);
    da[k] = vd_sub(sa[k], axis_of(wb.x, wb.y, b[0]));
    db[k] = vd_sub(sb[k], axis_of(wa.x, wa.y, a[0]));
    ta[k] = axis_of(no_x, no_y, a[k]);
    tb[k] = axis_of(no_x, no_y, b[k]);
    most = vd_max_abs(most, vd_max_abs(ta[k], tb[k]));
  }
  const vd off = vd_add(vd_mul(vd_set(0x1p-49), most), vd_set(0x1p-1000));
  const interval i = interval_of(da, ta, off), j = interval_of(db, tb, off);
  vm i_beyond, i_before, i_at, j_beyond, j_before, j_at;
  compare_ends(i.low, i.low_off, j.high, j.high_off, &i_beyond, &i_before, &i_at);
  compare_ends(j.low, j.low_off, i.high, i.high_off, &j_beyond, &j_before, &j_at);
  const vm proper = vm_and(vm_and(has_area(sa, ta), has_area(sb, tb)), vd_gt(vd_set(0x1p1000), most));
  const vm apart = vm_or(vm_or(i.one_side, j.one_side), vm_or(i_beyond, j_beyond));
  const vm meet = vm_andnot(vm_and(vm_or(i_before, i_at), vm_or(j_before, j_at)), apart);
  const vm touch = vm_or(vm_or(i_at, j_at), vm_or(i.tip, j.tip));
  vm_put(&w->usable, at, vm_and(vm_and(square, proper), vm_and(i.usable, j.usable)));
  vm_put(&w->apart, at, apart);
  vm_put(&w->point, at, vm_and(meet, touch));
  vm_put(&w->segment, at, vm_andnot(meet, touch));
}

/* Adds the answers of the wanted pairs that this stage can decide, and returns these. */
static inline uint64_t square_block(const pair_source *source, uint64_t wanted, answer_words *answer) {
  square_words w = {0, 0, 0, 0};
  for (unsigned at = 0; at < TRITRI_BLOCK; at += VD_LANES) {
    if (lanes_of(wanted, at) != 0) square_lanes(source, at, &w);
  }
  const uint64_t mine = wanted & w.usable;
  answer->kind_low |= mine & w.point;
  answer->kind_high |= mine & w.segment;
  return mine & (w.apart | w.point | w.segment);
}

#endif
