/* Bounds of the distances of triangle pairs, in lanes.
 *
 * Doubles find two points, one of each triangle, that are about nearest: nine pairs of edges, six of vertex and face.
 * However they were found, they prove two bounds. They lie in the triangles, so the length of g, which leads from one
 * to the other, is an upper bound. And all of b lies beyond all of a in the direction of g by
 *     (min g.b - max g.a) / |g|,
 * which no two points can be nearer than. Rough bounds prove the same of two corners, and of the way between the
 * middles as g.
 *
 * Rounding, u = 2^-53, E the largest extent of the box around both. A point is p + s (q - p) with 0 <= s <= 1, or with
 * two such terms; the coordinates of g are off by less than 11 u E each, its length by less than 40 u E with what
 * squares, sums and root add. In the lower bound differences to one corner take the place of coordinates, off by u E;
 * each product g.x is off by less than 11 u E |g|, the quotient by less than 40 u E. 2^-47 E = 64 u E covers both.
 * Within the window nothing that matters is subnormal or infinite: E between 2^-300 and 2^300, |g| at least 2^-48 E.
 *
 * C. Ericson, "Real-Time Collision Detection", 2005, 5.1.9, for two segments; S. Gottschalk, E. Larsen, "Fast Proximity
 * Queries with Swept Sphere Volumes", 1999, for the separating direction.
 */
#include "exact/lane_way.h"
#include "exact/near.h"

typedef struct lane_edges {
  point from[3], along[3];
  vd length2[3], inverse[3];
} lane_edges;

static inline lane_edges edges_of(const point t[3]) {
  lane_edges e;
  for (int k = 0; k < 3; k++) {
    e.from[k] = t[k];
    e.along[k] = point_sub(t[(k + 1) % 3], t[k]);
    e.length2[k] = point_dot(e.along[k], e.along[k]);
    e.inverse[k] = reciprocal(e.length2[k]);
  }
  return e;
}

/* |r + t v - s u|^2 is least for both in [0, 1]: s from the lines, the best t for it, the best s for that. */
static inline void edges_way(const lane_edges *a, int i, const lane_edges *b, int j, way *best) {
  point u = a->along[i], v = b->along[j], r = point_sub(b->from[j], a->from[i]);
  vd uv = point_dot(u, v), ur = point_dot(u, r), vr = point_dot(v, r);
  vd below = vd_sub(vd_mul(a->length2[i], b->length2[j]), vd_mul(uv, uv));
  vd s = unit_range(vd_mul(vd_sub(vd_mul(ur, b->length2[j]), vd_mul(uv, vr)), reciprocal(below)));
  vd t = unit_range(vd_mul(vd_sub(vd_mul(uv, s), vr), b->inverse[j]));
  s = unit_range(vd_mul(vd_add(vd_mul(uv, t), ur), a->inverse[i]));
  way_improve(best, vm_all(), point_sub(point_sum(r, point_scaled(v, t)), point_scaled(u, s)), 3 * i + j);
}

/* The corners p over the face of `f`; `turned`: p are corners of a. */
static inline void face_ways(const point f[3], const point p[3], bool turned, way *best) {
  lane_face face = face_of(point_sub(f[1], f[0]), point_sub(f[2], f[0]));
  for (int k = 0; k < 3; k++) {
    point g;
    vm inside = face_height(&face, point_sub(p[k], f[0]), &g);
    way_improve(best, inside, turned ? point_turned(g) : g, NEAR_EDGES + (turned ? 3 : 0) + k);
  }
}

/* How far b lies beyond a in the direction g, times |g|. */
static inline vd separation(const point a[3], const point b[3], point g) {
  vd last = vd_set(0), first = point_dot(g, point_sub(b[0], a[0]));
  for (int k = 1; k < 3; k++) {
    last = vd_max(last, point_dot(g, point_sub(a[k], a[0])));
    first = vd_min(first, point_dot(g, point_sub(b[k], a[0])));
  }
  return vd_sub(first, last);
}

/* The size of the box around both, and whether nothing that matters leaves the range of doubles. */
static inline vm find_size(const point a[3], const point b[3], vd *size) {
  lane_box box_a = box_of(a), box_b = box_of(b);
  point extent = box_extent(&box_a, &box_b);
  *size = max3v(extent.x, extent.y, extent.z);
  return vm_and(vd_gt(*size, vd_set(0x1p-300)), vd_gt(vd_set(0x1p300), *size));
}

/* What bounds may be off by. */
static inline vd slack_of(vd size) {
  return vd_mul(size, vd_set(0x1p-47));
}

/* What the direction, of this length, proves where it is usable. */
static inline vd lower_bound(const point a[3], const point b[3], point g, vd length, vm usable, vd size) {
  vm apart = vm_and(usable, vd_gt(length, vd_mul(size, vd_set(0x1p-48))));
  vd reach = vd_div(separation(a, b, g), vd_select(apart, length, vd_set(1))), zero = vd_set(0);
  return vd_select(apart, vd_max(vd_sub(reach, slack_of(size)), zero), zero);
}

static inline void near_lanes(const pair_source *source, unsigned at, double *lower, double *upper, double *place) {
  point a[3], b[3];
  vd size;
  load_points(source->a, at, a);
  load_points(source->b, at, b);
  lane_edges edges_a = edges_of(a), edges_b = edges_of(b);
  way best = {{vd_set(0), vd_set(0), vd_set(0)}, vd_set((double)INFINITY), vd_set(NEAR_NOWHERE)};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) edges_way(&edges_a, i, &edges_b, j, &best);
  }
  face_ways(a, b, false, &best);
  face_ways(b, a, true, &best);
  vm usable = find_size(a, b, &size);
  usable = vm_and(usable, vd_gt(vd_set((double)INFINITY), best.length2));
  vd length = vd_sqrt(vd_select(usable, best.length2, vd_set(0)));
  vd_store(lower + at, lower_bound(a, b, best.g, length, usable, size));
  vd_store(place + at, best.place);
  vd_store(upper + at, vd_select(usable, vd_add(length, slack_of(size)), vd_set((double)INFINITY)));
}

void KERNEL(gz_near_block)(const tritri_block *block, unsigned count, double *lower, double *upper, double *place) {
  const pair_source source = source_of(block);
  for (unsigned at = 0; at < count; at += VD_LANES) near_lanes(&source, at, lower, upper, place);
}

/* Three times the way between the middles. */
static inline point middles_way(const point a[3], const point b[3]) {
  point g = point_sub(b[0], a[0]);
  for (int k = 1; k < 3; k++) g = point_sum(g, point_sub(point_sub(b[k], a[0]), point_sub(a[k], a[0])));
  return g;
}

static inline vd nearest_corners2(const point a[3], const point b[3]) {
  vd least = vd_set((double)INFINITY);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      point g = point_sub(b[j], a[i]);
      least = vd_min(least, point_dot(g, g));
    }
  }
  return least;
}

static inline void rough_lanes(const pair_source *source, unsigned at, double *lower, double *upper) {
  point a[3], b[3];
  vd size, zero = vd_set(0);
  load_points(source->a, at, a);
  load_points(source->b, at, b);
  vm usable = find_size(a, b, &size);
  point g = middles_way(a, b);
  vd length = vd_sqrt(vd_select(usable, point_dot(g, g), zero));
  vd farthest = vd_sqrt(vd_select(usable, nearest_corners2(a, b), zero));
  vd_store(lower + at, lower_bound(a, b, g, length, usable, size));
  vd_store(upper + at, vd_select(usable, vd_add(farthest, slack_of(size)), vd_set((double)INFINITY)));
}

void KERNEL(gz_near_rough)(const tritri_block *block, unsigned count, double *lower, double *upper) {
  const pair_source source = source_of(block);
  for (unsigned at = 0; at < count; at += VD_LANES) rough_lanes(&source, at, lower, upper);
}
