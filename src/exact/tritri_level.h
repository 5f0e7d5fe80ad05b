/* Stage 3 of tritri_kernels.c: proper triangles that have all six corners at one value on some axis, as faces that
 * stand flush in buildings and machines do, on a common grid or not.
 *
 * The signs of gz_orient2d in lanes, with its bound: with ru and rv the extents of the six corners, a determinant is
 * off by less than 1.13e-15 ru rv. A zero is certain where each product has a factor that is zero, since a difference
 * rounds to zero only where it is zero; so it is for corners in one place and for edges along an axis, which is what
 * flush faces have. What is not certain stays open, unless the answer does without: triangles are apart where one edge
 * has the other's corners strictly outside, and have an area in common where each of the six has one of them inside.
 *
 * Corners next to a line, as those of regular grids are to the diagonals, need more. In the fine form differences and
 * their products are kept with what was rounded off them. With r = ru rv and u = 2^-53, the products of those rests are
 * left out, 2 u^2 r; four products of a difference and a rest, each at most u r, are rounded, 4 u^2 r, and added to two
 * rests of products and one of a sum, 24 u^2 r: 2^-101 r in all. A zero is certain if nothing was rounded off the
 * differences, as the rest is exact then.
 *
 * Of real images (tier T2, tritri_images.h) corners are pairs of doubles, off by up to 2^-100 M on an axis where M is
 * the sum of what an image is made of. With S = r + M on each axis a rest is at most 2^-52 S and, being a sum of two,
 * off by 2^-104 S. What is said above comes to less than 2^-98 S S' then, and the images are off by 2^-99 M for a
 * difference, 2^-97 S S' for a determinant: 2^-96 S S' covers both. A zero is certain on axes on which no pair lost
 * anything.
 */
#ifndef GRAZE_SRC_EXACT_TRITRI_LEVEL_H
#define GRAZE_SRC_EXACT_TRITRI_LEVEL_H

#include <string.h>

#include "exact/tritri_lattice.h"

/* Signs of corner k of one against edge e of the other, as the coordinates turn: positive, negative, certainly zero. */
typedef struct edge_signs {
  uint64_t p[3][3], n[3][3], z[3][3];
} edge_signs;

typedef struct level_words {
  edge_signs a, b;           /* against edges of a, and of b */
  uint64_t turn_a, turn_b;   /* counterclockwise */
  uint64_t round_a, round_b; /* clockwise */
  uint64_t usable;           /* level, and neither overflow nor underflow */
} level_words;

/* Differences of two corners, in the coordinates that are left. */
typedef struct level_step {
  vd u, v;
  vd rest_u, rest_v; /* fine: what was rounded off */
  vm no_u, no_v;     /* zero */
  vm whole, rounded; /* fine: both rests are exact; they are not both zero, or not exact */
} level_step;

/* How differences are made: rounded; kept with their rests; of pairs of doubles. */
typedef enum level_form { LEVEL_ROUGH, LEVEL_FINE, LEVEL_PAIRS } level_form;

/* The corners of one triangle. */
typedef struct level_face {
  flat at;
  flat rest; /* LEVEL_PAIRS: what `at` lacks */
} level_face;

/* What was rounded off sum = a + b. */
static inline vd sum_rest(vd a, vd b, vd sum) {
  const vd part = vd_sub(sum, a);
  return vd_add(vd_sub(a, vd_sub(sum, part)), vd_sub(b, part));
}

/* Adds what the corners lack to the rest of their difference; returns where that loses nothing. */
static ALWAYS_INLINE vm add_rests(vd to, vd from, vd *rest) {
  const vd zero = vd_set(0), difference = vd_sub(to, from), sum = vd_add(*rest, difference);
  const vd lost = vd_or(sum_rest(to, vd_neg(from), difference), sum_rest(*rest, difference, sum));
  *rest = sum;
  return vd_eq(lost, zero);
}

/* `exact`: of pairs, where nothing is lost on the axes. */
static ALWAYS_INLINE level_step step_between(const level_face *from, int i, const level_face *to, int j,
                                             level_form form, vm exact) {
  const vd zero = vd_set(0), u = vd_sub(to->at.u[j], from->at.u[i]), v = vd_sub(to->at.v[j], from->at.v[i]);
  level_step s = {u, v, zero, zero, vd_eq(u, zero), vd_eq(v, zero), vm_all(), vm_none()};
  if (form == LEVEL_ROUGH) return s;
  s.rest_u = sum_rest(to->at.u[j], vd_neg(from->at.u[i]), u);
  s.rest_v = sum_rest(to->at.v[j], vd_neg(from->at.v[i]), v);
  if (form == LEVEL_PAIRS) {
    const vm whole_u = vm_and(exact, add_rests(to->rest.u[j], from->rest.u[i], &s.rest_u));
    const vm whole_v = vm_and(exact, add_rests(to->rest.v[j], from->rest.v[i], &s.rest_v));
    s.no_u = vm_and(vm_and(s.no_u, vd_eq(s.rest_u, zero)), whole_u);
    s.no_v = vm_and(vm_and(s.no_v, vd_eq(s.rest_v, zero)), whole_v);
    s.whole = vm_and(whole_u, whole_v);
  }
  s.rounded = vm_andnot(vm_all(), vm_and(s.whole, vd_eq(vd_or(s.rest_u, s.rest_v), zero)));
  return s;
}

/* Where both are the same vector, or one is the other's opposite. */
static ALWAYS_INLINE vm same_step(const level_step *s, const level_step *t) {
  const vm u = vm_and(vd_eq(s->u, t->u), vd_eq(s->rest_u, t->rest_u));
  const vm v = vm_and(vd_eq(s->v, t->v), vd_eq(s->rest_v, t->rest_v));
  const vm back_u = vm_and(vd_eq(s->u, vd_neg(t->u)), vd_eq(s->rest_u, vd_neg(t->rest_u)));
  const vm back_v = vm_and(vd_eq(s->v, vd_neg(t->v)), vd_eq(s->rest_v, vd_neg(t->rest_v)));
  return vm_and(vm_or(vm_and(u, v), vm_and(back_u, back_v)), vm_and(s->whole, t->whole));
}

/* Positive where t lies counterclockwise of s; *zero: it certainly is. */
static ALWAYS_INLINE vd step_turn(const level_step *s, const level_step *t, level_form form, vm *zero) {
  const vd p = vd_mul(s->u, t->v), q = vd_mul(s->v, t->u), turn = vd_sub(p, q);
  *zero = vm_and(vm_or(s->no_u, t->no_v), vm_or(s->no_v, t->no_u));
  if (form == LEVEL_ROUGH) return turn;
  const vd rest_p = vd_product_rest(s->u, t->v, p), rest_q = vd_product_rest(s->v, t->u, q);
  const vd of_p = vd_add(vd_mul(s->u, t->rest_v), vd_mul(s->rest_u, t->v));
  const vd of_q = vd_add(vd_mul(s->v, t->rest_u), vd_mul(s->rest_v, t->u));
  const vd rest = vd_add(vd_sub(rest_p, rest_q), vd_sub(of_p, of_q));
  const vm exact = vd_gt(vd_abs(p), vd_set(0x1p-900)); /* rests do not underflow */
  const vm same = vm_and(exact, vm_and(vd_eq(p, q), vd_eq(rest_p, rest_q)));
  *zero = vm_or(*zero, vm_andnot(same, vm_or(s->rounded, t->rounded)));
  if (form == LEVEL_PAIRS) *zero = vm_or(*zero, same_step(s, t));
  return vd_add(turn, vd_add(sum_rest(p, vd_neg(q), turn), rest));
}

static ALWAYS_INLINE void put_edge_sign(const level_step *edge, const level_step *to, bool backwards, level_form form,
                                        vd bound, edge_signs *s, int e, int k, unsigned at) {
  vm zero;
  const vd turn = step_turn(edge, to, form, &zero);
  const vm left = vd_gt(turn, bound), right = vd_gt(vd_neg(bound), turn);
  vm_put(&s->p[e][k], at, backwards ? right : left);
  vm_put(&s->n[e][k], at, backwards ? left : right);
  vm_put(&s->z[e][k], at, zero);
}

/* The signs of two triangles in one plane. */
static ALWAYS_INLINE void put_level_signs(const level_face *f, const level_face *g, level_form form, vm exact, vd bound,
                                          unsigned at, level_words *w) {
  level_step edge_a[3], edge_b[3];
  for (int e = 0; e < 3; e++) {
    edge_a[e] = step_between(f, e, f, (e + 1) % 3, form, exact);
    edge_b[e] = step_between(g, e, g, (e + 1) % 3, form, exact);
  }
  vm thin;
  const vd turn_a = step_turn(&edge_a[0], &edge_a[1], form, &thin),
           turn_b = step_turn(&edge_b[0], &edge_b[1], form, &thin);
  vm_put(&w->turn_a, at, vd_gt(turn_a, bound));
  vm_put(&w->round_a, at, vd_gt(vd_neg(bound), turn_a));
  vm_put(&w->turn_b, at, vd_gt(turn_b, bound));
  vm_put(&w->round_b, at, vd_gt(vd_neg(bound), turn_b));
  for (int e = 0; e < 3; e++) {
    for (int k = 0; k < 3; k++) {
      const level_step to = step_between(f, e, g, k, form, exact);
      put_edge_sign(&edge_a[e], &to, false, form, bound, &w->a, e, k, at);
      put_edge_sign(&edge_b[k], &to, true, form, bound, &w->b, k, e, at);
    }
  }
}

/* Of the three axes, the one that is left first and the one that is left last where one is dropped. */
static inline vd first_left(const dropped *drop, point p) {
  return vd_select(drop->x, p.y, vd_select(drop->y, p.z, p.x));
}

static inline vd last_left(const dropped *drop, point p) {
  return vd_select(drop->x, p.z, vd_select(drop->y, p.x, p.y));
}

static ALWAYS_INLINE void level_lanes(const pair_source *source, unsigned at, bool fine, level_words *w) {
  const vd zero = vd_set(0);
  point a[3], b[3];
  load_points(source->a, at, a);
  load_points(source->b, at, b);
  const lane_box box_a = box_of(a), box_b = box_of(b);
  const point r = box_extent(&box_a, &box_b);
  const vm no_x = vd_eq(r.x, zero), no_y = vm_andnot(vd_eq(r.y, zero), no_x);
  const dropped drop = {no_x, no_y};
  const level_face f = {.at = flatten(drop, a)}, g = {.at = flatten(drop, b)};
  const vd height = dropped_of(drop, a[0]);
  vm level = vd_eq(dropped_of(drop, b[0]), height); /* not of what is no number, which extents may hide */
  for (int k = 1; k < 3; k++)
    level = vm_and(level, vm_and(vd_eq(dropped_of(drop, a[k]), height), vd_eq(dropped_of(drop, b[k]), height)));
  const vd size = vd_mul(first_left(&drop, r), last_left(&drop, r));
  vm_put(&w->usable, at, vm_and(level, vm_and(vd_gt(size, vd_set(1e-270)), vd_gt(vd_set(1e270), size))));
  put_level_signs(&f, &g, fine ? LEVEL_FINE : LEVEL_ROUGH, vm_all(), vd_mul(vd_set(fine ? 0x1p-100 : 1.13e-15), size),
                  at, w);
}

/* From here on left of an edge is inside. */
static inline void turn_signs(edge_signs *s, uint64_t round) {
  for (int e = 0; e < 3; e++) {
    for (int k = 0; k < 3; k++) {
      const uint64_t p = s->p[e][k], n = s->n[e][k];
      s->p[e][k] = choose(round, n, p);
      s->n[e][k] = choose(round, p, n);
    }
  }
}

/* Some edge has all corners outside; each edge has some inside; all signs are known. */
static inline void sum_up(const edge_signs *s, uint64_t *apart, uint64_t *inside, uint64_t *known) {
  for (int e = 0; e < 3; e++) {
    *apart |= s->n[e][0] & s->n[e][1] & s->n[e][2];
    *inside &= s->p[e][0] | s->p[e][1] | s->p[e][2];
    for (int k = 0; k < 3; k++) *known &= s->p[e][k] | s->n[e][k] | s->z[e][k];
  }
}

/* As touch_along of the lattice stage: where the other has nothing inside an edge, and two corners on its line that
 * reach past its start and past its end. */
static inline uint64_t along_edges(const edge_signs *s) {
  uint64_t along = 0;
  for (int e = 0; e < 3; e++) {
    const uint64_t *on = s->z[e], *before = s->p[(e + 2) % 3], *after = s->p[(e + 1) % 3];
    const uint64_t two = (on[0] & on[1]) | (on[1] & on[2]) | (on[2] & on[0]);
    const uint64_t past_start = (on[0] & before[0]) | (on[1] & before[1]) | (on[2] & before[2]);
    const uint64_t before_end = (on[0] & after[0]) | (on[1] & after[1]) | (on[2] & after[2]);
    along |= two & ~(s->p[e][0] | s->p[e][1] | s->p[e][2]) & past_start & before_end;
  }
  return along;
}

/* What the signs say: adds the answers of the wanted pairs that are decided, and returns these. */
static inline uint64_t level_answers(level_words *w, uint64_t wanted, answer_words *answer) {
  uint64_t apart = 0, inside = ~(uint64_t)0, known = ~(uint64_t)0;
  turn_signs(&w->a, w->round_a);
  turn_signs(&w->b, w->round_b);
  sum_up(&w->a, &apart, &inside, &known);
  sum_up(&w->b, &apart, &inside, &known);
  const uint64_t mine = wanted & w->usable & (w->turn_a | w->round_a) & (w->turn_b | w->round_b);
  const uint64_t decided = mine & (apart | inside | known), touch = decided & ~apart & ~inside;
  const uint64_t segment = touch & along_edges(&w->a);
  answer->kind_low |= decided & ~apart & ~segment;
  answer->kind_high |= decided & ~apart & (inside | segment);
  answer->coplanar |= decided;
  return decided;
}

/* Adds the answers of the wanted pairs that this stage can decide, and returns these. */
static ALWAYS_INLINE uint64_t level_block(const pair_source *source, uint64_t wanted, bool fine, answer_words *answer) {
  level_words w;
  memset(&w, 0, sizeof w);
  for (unsigned at = 0; at < TRITRI_BLOCK; at += VD_LANES) {
    if (lanes_of(wanted, at) != 0) level_lanes(source, at, fine, &w);
  }
  return level_answers(&w, wanted, answer);
}

#endif
