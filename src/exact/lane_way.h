/* The shortest of many ways from one shape to another, in lanes. */
#ifndef GRAZE_SRC_EXACT_LANE_WAY_H
#define GRAZE_SRC_EXACT_LANE_WAY_H

#include "exact/lane_points.h"

/* The shortest way from a to b so far. */
typedef struct way {
  point g;
  vd length2, place;
} way;

static inline void way_improve(way *best, vm valid, point g, int place) {
  vd length2 = point_dot(g, g);
  vm shorter = vm_and(valid, vd_gt(best->length2, length2));
  best->g = point_select(shorter, g, best->g);
  best->place = vd_select(shorter, vd_set(place), best->place);
  best->length2 = vd_select(shorter, length2, best->length2);
}

static inline vd unit_range(vd x) {
  return vd_min(vd_max(x, vd_set(0)), vd_set(1));
}

static inline point point_scaled(point p, vd s) {
  return (point){vd_mul(p.x, s), vd_mul(p.y, s), vd_mul(p.z, s)};
}

static inline point point_sum(point a, point b) {
  return (point){vd_add(a.x, b.x), vd_add(a.y, b.y), vd_add(a.z, b.z)};
}

/* 1 / x, and 0 for 0. */
static inline vd reciprocal(vd x) {
  vm positive = vd_gt(x, vd_set(0));
  return vd_select(positive, vd_div(vd_set(1), vd_select(positive, x, vd_set(1))), vd_set(0));
}

/* A face with two edges from one corner. */
typedef struct lane_face {
  point u, v;
  vd uu, uv, vv, inverse;
} lane_face;

static inline lane_face face_of(point u, point v) {
  lane_face f = {u, v, point_dot(u, u), point_dot(u, v), point_dot(v, v), vd_set(0)};
  f.inverse = reciprocal(vd_sub(vd_mul(f.uu, f.vv), vd_mul(f.uv, f.uv)));
  return f;
}

/* From the foot of corner + w in the face to it, where it lies inside. */
static inline vm face_height(const lane_face *f, point w, point *g) {
  vd uw = point_dot(f->u, w), vw = point_dot(f->v, w), zero = vd_set(0);
  vd s = vd_mul(vd_sub(vd_mul(f->vv, uw), vd_mul(f->uv, vw)), f->inverse);
  vd t = vd_mul(vd_sub(vd_mul(f->uu, vw), vd_mul(f->uv, uw)), f->inverse);
  *g = point_sub(point_sub(w, point_scaled(f->u, s)), point_scaled(f->v, t));
  return vm_and(vm_and(vd_ge(s, zero), vd_ge(t, zero)), vd_ge(vd_set(1), vd_add(s, t)));
}

static inline point point_turned(point p) {
  return (point){vd_neg(p.x), vd_neg(p.y), vd_neg(p.z)};
}

#endif
