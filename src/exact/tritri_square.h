/* Stage 4 of tritri_kernels.c: proper triangles in planes across two different axes, as those of a wall and of the
 * floor that it stands on.
 *
 * On which side of a plane a corner lies is a comparison of coordinates. What is left of each triangle on the line in
 * which the planes meet is an interval of the third coordinate, t. An end of it is a corner's coordinate or where an
 * edge crosses: t + (t' - t) d / (d - d') with corners at d and d' of the plane, of opposite signs. With u = 2^-53 that
 * is off by less than 7 u |t' - t| + 2 u T where T is the largest |t| of the six: 2^-49 T covers it, and 2^-1000 what
 * underflows. Ends that differ by no more stay open, unless both are corners.
 *
 * Of real images (tier T2, tritri_images.h) coordinates are pairs of doubles that lack nothing. Comparisons are of
 * pairs, and where the difference of two is no pair it is taken to be off by 2^-100 T. A crossing is computed from the
 * first doubles, each off by u T, and from d and d' that are rounded: 6 u |t' - t| + 3 u T more, and 2^-47 T covers
 * all.
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

/* `rest`: what the corners lack; NULL: nothing. */
static ALWAYS_INLINE across across_of(const point t[3], const point *rest) {
  vm x = same_three(t[0].x, t[1].x, t[2].x), y = same_three(t[0].y, t[1].y, t[2].y),
     z = same_three(t[0].z, t[1].z, t[2].z);
  if (rest != NULL) {
    x = vm_and(x, same_three(rest[0].x, rest[1].x, rest[2].x));
    y = vm_and(y, same_three(rest[0].y, rest[1].y, rest[2].y));
    z = vm_and(z, same_three(rest[0].z, rest[1].z, rest[2].z));
  }
  y = vm_andnot(y, x);
  return (across){x, y, vm_andnot(vm_andnot(z, x), y)};
}

/* Coordinates of three corners on an axis, and what they lack. */
typedef struct square_axis {
  vd at[3], rest[3];
} square_axis;

/* The rounded difference of two numbers or, if they are, of two pairs; `whole` loses the lanes in which it is not of
 * their exact one. */
static ALWAYS_INLINE vd square_difference(vd p, vd p_rest, vd q, vd q_rest, bool pairs, vm *whole) {
  const vd difference = vd_sub(p, q);
  if (!pairs) return difference;
  vd rest = sum_rest(p, vd_neg(q), difference);
  *whole = vm_and(*whole, add_rests(p_rest, q_rest, &rest));
  return vd_add(difference, rest);
}

/* The interval of one triangle. */
typedef struct interval {
  vd low, high;
  vd low_rest, high_rest;   /* of corners, what these lack */
  vd low_off, high_off;     /* 0 for corners */
  vm usable, one_side, tip; /* a corner alone is on the plane */
} interval;

static ALWAYS_INLINE vm square_less(vd p, vd p_rest, vd q, vd q_rest, bool pairs) {
  const vm less = vd_gt(q, p);
  return pairs ? vm_or(less, vm_and(vd_eq(p, q), vd_gt(q_rest, p_rest))) : less;
}

static ALWAYS_INLINE void take_end(vm valid, vd t, vd rest, vd off, bool pairs, interval *i) {
  const vm lower = vm_and(valid, square_less(t, rest, i->low, i->low_rest, pairs));
  const vm higher = vm_and(valid, square_less(i->high, i->high_rest, t, rest, pairs));
  i->low_off = vd_select(lower, off, i->low_off);
  i->low_rest = vd_select(lower, rest, i->low_rest);
  i->low = vd_select(lower, t, i->low);
  i->high_off = vd_select(higher, off, i->high_off);
  i->high_rest = vd_select(higher, rest, i->high_rest);
  i->high = vd_select(higher, t, i->high);
}

/* Of corners at t->at[k] along the line and d[k] from the other's plane. `off`: what a crossing may be off by. */
static ALWAYS_INLINE interval interval_of(const vd d[3], const square_axis *line, vd off, bool pairs) {
  const vd zero = vd_set(0), *t = line->at;
  interval i = {vd_set(INFINITY), vd_set(-INFINITY), zero, zero, zero, zero, vm_none(), vm_none(), vm_none()};
  vm above[3], below[3], on[3], crosses = vm_none();
  for (int k = 0; k < 3; k++) {
    above[k] = vd_gt(d[k], zero);
    below[k] = vd_gt(zero, d[k]);
    on[k] = vd_eq(d[k], zero);
    take_end(on[k], t[k], line->rest[k], zero, pairs, &i);
  }
  for (int k = 0; k < 3; k++) {
    const int next = (k + 1) % 3;
    const vm valid = vm_or(vm_and(above[k], below[next]), vm_and(below[k], above[next]));
    const vd height = vd_sub(d[k], d[next]), safe = vd_select(valid, height, vd_set(1));
    take_end(valid, vd_add(t[k], vd_mul(vd_sub(t[next], t[k]), vd_div(d[k], safe))), zero, off, pairs, &i);
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

/* Where the low end of one lies beyond the high end of the other, before it, or exactly at it. `lost`: what the
 * difference of two pairs may be off by. */
static ALWAYS_INLINE void compare_ends(const interval *i, const interval *j, vd lost, bool pairs, vm *beyond,
                                       vm *before, vm *at) {
  vm whole = vm_all();
  const vd gap = square_difference(i->low, i->low_rest, j->high, j->high_rest, pairs, &whole), zero = vd_set(0);
  vd off = vd_add(i->low_off, j->high_off);
  if (pairs) off = vd_add(off, vd_select(whole, zero, lost));
  *beyond = vd_gt(gap, off);
  *before = vd_gt(vd_neg(off), gap);
  *at = vm_and(vd_eq(gap, zero), vd_eq(off, zero));
}

/* A triangle has an area, seen along the axis of its plane. `lack`: what differences may be off by, where pairs are cut
 * short. */
static ALWAYS_INLINE vm has_area(const square_axis *first, const square_axis *second, vd lack, bool pairs) {
  const vd *s = first->at, *t = second->at;
  const vd du = vd_sub(s[1], s[0]), dv = vd_sub(s[2], s[0]), tu = vd_sub(t[1], t[0]), tv = vd_sub(t[2], t[0]);
  const vd along_s = vd_max(vd_abs(du), vd_abs(dv)), along_t = vd_max(vd_abs(tu), vd_abs(tv));
  const vd size = vd_mul(along_s, along_t);
  const vd area = vd_sub(vd_mul(du, tv), vd_mul(tu, dv));
  vd bound = vd_mul(vd_set(1.13e-15), size);
  if (pairs) bound = vd_add(bound, vd_mul(vd_mul(vd_set(2.1), lack), vd_add(vd_add(along_s, along_t), lack)));
  const vm window = vm_and(vd_gt(size, vd_set(1e-270)), vd_gt(vd_set(1e270), size));
  return vm_and(window, vd_gt(vd_abs(area), bound));
}

static inline vd axis_of(vm x, vm y, point p) {
  return vd_select(x, p.x, vd_select(y, p.y, p.z));
}

typedef struct square_words {
  uint64_t usable, apart, point, segment;
} square_words;

static ALWAYS_INLINE square_axis square_axis_of(vm x, vm y, const point t[3], const point *rest) {
  square_axis s;
  for (int k = 0; k < 3; k++) {
    s.at[k] = axis_of(x, y, t[k]);
    s.rest[k] = rest != NULL ? axis_of(x, y, rest[k]) : vd_set(0);
  }
  return s;
}

/* How far the corners lie from a plane, in the axis across it. */
static ALWAYS_INLINE void find_heights(const square_axis *corners, const square_axis *plane, bool pairs, vd height[3],
                                       vm *whole) {
  for (int k = 0; k < 3; k++)
    height[k] = square_difference(corners->at[k], corners->rest[k], plane->at[0], plane->rest[0], pairs, whole);
}

static inline vd largest_of(const square_axis *s, vd most) {
  return vd_max_abs(vd_max_abs(vd_max_abs(most, s->at[0]), s->at[1]), s->at[2]);
}

/* `rest`: what the corners lack; NULL: nothing. */
static ALWAYS_INLINE void square_lanes(const pair_source *source, const pair_source *rest, unsigned at,
                                       square_words *w) {
  point a[3], b[3], ra[3], rb[3];
  const point *rest_a = NULL, *rest_b = NULL;
  const bool pairs = rest != NULL;
  load_points(source->a, at, a);
  load_points(source->b, at, b);
  if (pairs) {
    load_points(rest->a, at, ra);
    load_points(rest->b, at, rb);
    rest_a = ra;
    rest_b = rb;
  }
  const across wa = across_of(a, rest_a), wb = across_of(b, rest_b);
  const vm square =
      vm_or(vm_or(vm_and(wa.x, vm_or(wb.y, wb.z)), vm_and(wa.y, vm_or(wb.x, wb.z))), vm_and(wa.z, vm_or(wb.x, wb.y)));
  if (vm_bits(square) == 0) return;
  const vm no_x = vm_andnot(vm_andnot(vm_all(), wa.x), wb.x), no_y = vm_andnot(vm_andnot(vm_all(), wa.y), wb.y);
  const square_axis sa = square_axis_of(wb.x, wb.y, a, rest_a), sb = square_axis_of(wa.x, wa.y, b, rest_b);
  const square_axis ta = square_axis_of(no_x, no_y, a, rest_a), tb = square_axis_of(no_x, no_y, b, rest_b);
  const square_axis on_a = square_axis_of(wa.x, wa.y, a, rest_a), on_b = square_axis_of(wb.x, wb.y, b, rest_b);
  vd da[3], db[3];
  vm whole = vm_all();
  find_heights(&sa, &on_b, pairs, da, &whole);
  find_heights(&sb, &on_a, pairs, db, &whole);
  const vd most = largest_of(&tb, largest_of(&ta, vd_set(0))), lost = vd_mul(vd_set(0x1p-100), most);
  const vd off = vd_add(vd_mul(vd_set(pairs ? 0x1p-47 : 0x1p-49), most), vd_set(0x1p-1000));
  const vd lack = vd_mul(vd_set(0x1p-51), largest_of(&sb, largest_of(&sa, most)));
  const interval i = interval_of(da, &ta, off, pairs), j = interval_of(db, &tb, off, pairs);
  vm i_beyond, i_before, i_at, j_beyond, j_before, j_at;
  compare_ends(&i, &j, lost, pairs, &i_beyond, &i_before, &i_at);
  compare_ends(&j, &i, lost, pairs, &j_beyond, &j_before, &j_at);
  const vm proper =
      vm_and(vm_and(has_area(&sa, &ta, lack, pairs), has_area(&sb, &tb, lack, pairs)), vd_gt(vd_set(0x1p1000), most));
  const vm apart = vm_or(vm_or(i.one_side, j.one_side), vm_or(i_beyond, j_beyond));
  const vm meet = vm_andnot(vm_and(vm_or(i_before, i_at), vm_or(j_before, j_at)), apart);
  const vm touch = vm_or(vm_or(i_at, j_at), vm_or(i.tip, j.tip));
  vm_put(&w->usable, at, vm_and(vm_and(vm_and(square, proper), whole), vm_and(i.usable, j.usable)));
  vm_put(&w->apart, at, apart);
  vm_put(&w->point, at, vm_and(meet, touch));
  vm_put(&w->segment, at, vm_andnot(meet, touch));
}

/* Adds the answers of the wanted pairs that this stage can decide, and returns these. */
static ALWAYS_INLINE uint64_t square_block(const pair_source *source, const pair_source *rest, uint64_t wanted,
                                           answer_words *answer) {
  square_words w = {0, 0, 0, 0};
  for (unsigned at = 0; at < TRITRI_BLOCK; at += VD_LANES) {
    if (lanes_of(wanted, at) != 0) square_lanes(source, rest, at, &w);
  }
  const uint64_t mine = wanted & w.usable;
  answer->kind_low |= mine & w.point;
  answer->kind_high |= mine & w.segment;
  return mine & (w.apart | w.point | w.segment);
}

#endif
