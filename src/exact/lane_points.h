/* Points, signs and boxes in lanes: what the stages of tritri_lanes.inc share. */
#ifndef GRAZE_SRC_EXACT_LANE_POINTS_H
#define GRAZE_SRC_EXACT_LANE_POINTS_H

#include "exact/lanes.h"

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

/* Three signs at once: masks of the positive and of the negative. */
typedef struct signs3 {
  vm p[3], n[3];
} signs3;

static inline vm all3(const vm m[3]) {
  return vm_and(vm_and(m[0], m[1]), m[2]);
}

static inline vm any3(const vm m[3]) {
  return vm_or(vm_or(m[0], m[1]), m[2]);
}

/* The corner that lies alone on its side (tritri_cut): masks of the first and of the second; of lanes whose corner
 * alone is on the plane; and of those where the other triangle must be turned over. For lanes whose signs are not all
 * equal. */
typedef struct alone3 {
  vm first, second, tip, flip;
} alone3;

static inline vm choose(vm m, vm yes, vm no) {
  return vm_or(vm_and(m, yes), vm_andnot(no, m));
}

static inline alone3 find_alone(const signs3 *s) {
  alone3 a;
  /* Of three that are not all set, an odd number is one. */
  vm one_p = vm_xor(vm_xor(s->p[0], s->p[1]), s->p[2]);
  vm one_n = vm_xor(vm_xor(s->n[0], s->n[1]), s->n[2]);
  vm other_0 = choose(one_n, s->n[0], vm_andnot(vm_andnot(vm_all(), s->p[0]), s->n[0]));
  vm other_1 = choose(one_n, s->n[1], vm_andnot(vm_andnot(vm_all(), s->p[1]), s->n[1]));
  a.first = choose(one_p, s->p[0], other_0);
  a.second = choose(one_p, s->p[1], other_1);
  a.tip = vm_andnot(vm_andnot(vm_all(), one_p), one_n);
  a.flip = vm_andnot(vm_or(one_n, any3(s->p)), one_p);
  return a;
}

/* p, q, r = the triangle's corners rotated so that p is the one alone; q and r swapped where `turned`. */
static inline void rotate(const point t[3], const alone3 *alone, vm turned, point out[3]) {
  vm third = vm_andnot(vm_andnot(vm_all(), alone->first), alone->second);
  /* first: t1 t2, second: t2 t0, third: t0 t1 */
  vm q_is_1 = choose(turned, third, alone->first), q_is_2 = choose(turned, alone->first, alone->second);
  vm r_is_1 = choose(turned, alone->first, third), r_is_2 = choose(turned, alone->second, alone->first);
  out[0] = point_select(alone->first, t[0], point_select(alone->second, t[1], t[2]));
  out[1] = point_select(q_is_1, t[1], point_select(q_is_2, t[2], t[0]));
  out[2] = point_select(r_is_1, t[1], point_select(r_is_2, t[2], t[0]));
}

/* Where the coordinates of the pairs are: a[k][i] as in tritri_block. */
typedef struct pair_source {
  const double *a[9], *b[9];
} pair_source;

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

#endif
