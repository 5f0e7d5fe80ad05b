/* Bounds of the distances of a point from eight triangles, in lanes: as near_kernels.c proves them for two triangles,
 * with the same error bounds, of which a point needs less.
 *
 * C. Ericson, "Real-Time Collision Detection", 2005, 5.1.
 */
#include "exact/lane_way.h"
#include "exact/near_point.h"

static inline void edge_way(point along, point w, way *best) {
  vd t = unit_range(vd_mul(point_dot(w, along), reciprocal(point_dot(along, along))));
  way_improve(best, vm_all(), point_sub(point_scaled(along, t), w), 0);
}

static inline void face_way(point u, point v, point w, way *best) {
  lane_face face = face_of(u, v);
  point g;
  vm inside = face_height(&face, w, &g);
  way_improve(best, inside, point_turned(g), 0);
}

static inline void point_lanes(const double x[3], const double *corners, unsigned at, double *lower, double *upper) {
  point p = {vd_set(x[0]), vd_set(x[1]), vd_set(x[2])}, t[3], w[3], edge[3];
  const double *columns[9];
  for (int k = 0; k < 9; k++) columns[k] = corners + 8 * k;
  load_points(columns, at, t);
  for (int i = 0; i < 3; i++) {
    w[i] = point_sub(p, t[i]);
    edge[i] = point_sub(t[(i + 1) % 3], t[i]);
  }
  way best = {{vd_set(0), vd_set(0), vd_set(0)}, vd_set((double)INFINITY), vd_set(0)};
  for (int i = 0; i < 3; i++) edge_way(edge[i], w[i], &best);
  face_way(edge[0], point_sub(t[2], t[0]), w[0], &best);
  lane_box box = box_of(t), own = {p, p};
  point extent = box_extent(&box, &own);
  vd size = max3v(extent.x, extent.y, extent.z), slack = vd_mul(size, vd_set(0x1p-47)), zero = vd_set(0);
  vm usable = vm_and(vd_gt(size, vd_set(0x1p-300)), vd_gt(vd_set(0x1p300), size));
  usable = vm_and(usable, vd_gt(vd_set((double)INFINITY), best.length2));
  vd length = vd_sqrt(vd_select(usable, best.length2, zero));
  vm apart = vm_and(usable, vd_gt(length, vd_mul(size, vd_set(0x1p-48))));
  vd reach = vd_neg(max3v(point_dot(best.g, w[0]), point_dot(best.g, w[1]), point_dot(best.g, w[2])));
  reach = vd_div(reach, vd_select(apart, length, vd_set(1)));
  vd_store(lower + at, vd_select(apart, vd_max(vd_sub(reach, slack), zero), zero));
  vd_store(upper + at, vd_select(usable, vd_add(length, slack), vd_set((double)INFINITY)));
}

void KERNEL(gz_near_point_block)(const double p[3], const double *corners, double lower[8], double upper[8]) {
  for (unsigned at = 0; at < 8; at += VD_LANES) point_lanes(p, corners, at, lower, upper);
}
