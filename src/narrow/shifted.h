/* For kernels: the triangles of a bottom node in lanes, counted from a common origin, and how far they reach. */
#ifndef GRAZE_SRC_NARROW_SHIFTED_H
#define GRAZE_SRC_NARROW_SHIFTED_H

#include "exact/lane_points.h"
#include "narrow/exact_sink.h"

typedef struct shifted_corners {
  _Alignas(64) double corner[9][NODE_WIDTH];
} shifted_corners;

/* Shifts the corners; returns the largest coordinate. */
static inline double shift_corners(const posed_node *node, const double origin[3], shifted_corners *s) {
  double lanes[VD_LANES], most = 0;
  vd largest = vd_set(0);
  for (int k = 0; k < 9; k++) {
    for (int at = 0; at < NODE_WIDTH; at += VD_LANES) {
      vd x = vd_sub(vd_load(node->corner[k] + at), vd_set(origin[k % 3]));
      vd_store(s->corner[k] + at, x);
      largest = vd_max(largest, vd_abs(x));
    }
  }
  vd_store(lanes, largest);
  for (int k = 0; k < VD_LANES; k++) most = lanes[k] > most ? lanes[k] : most;
  return most;
}

/* Those of two nodes, from a corner of the first. */
static inline double shift_both(const posed_node *pa, const posed_node *pb, shifted_corners *a, shifted_corners *b) {
  const double origin[3] = {pa->corner[0][0], pa->corner[1][0], pa->corner[2][0]};
  const double reach_a = shift_corners(pa, origin, a), reach_b = shift_corners(pb, origin, b);
  return reach_a > reach_b ? reach_a : reach_b;
}

/* The triangles from place `at` on, a lane each. */
static inline void load_faces(const shifted_corners *s, int at, point t[3]) {
  for (int c = 0; c < 3; c++) {
    t[c] =
        (point){vd_load(s->corner[3 * c] + at), vd_load(s->corner[3 * c + 1] + at), vd_load(s->corner[3 * c + 2] + at)};
  }
}

/* Triangle j in all lanes. */
static inline void spread_face(const shifted_corners *s, int j, point t[3]) {
  for (int c = 0; c < 3; c++)
    t[c] = (point){vd_set(s->corner[3 * c][j]), vd_set(s->corner[3 * c + 1][j]), vd_set(s->corner[3 * c + 2][j])};
}

typedef struct extent {
  vd low, high;
} extent;

static inline extent extent_along(point direction, const point t[3]) {
  vd p = point_dot(direction, t[0]), q = point_dot(direction, t[1]), r = point_dot(direction, t[2]);
  return (extent){min3(p, q, r), max3v(p, q, r)};
}

#endif
