/* A few named points of two posed meshes and the exact signs of their determinants, in the tier of the query. */
#ifndef GRAZE_SRC_NARROW_SPOTS_H
#define GRAZE_SRC_NARROW_SPOTS_H

#include "exact/real_points.h"
#include "geometry/pose.h"
#include "narrow/exact_sink.h"

typedef struct spots {
  bool real; /* T2 */
  double local[REAL_POINTS][3];
  double posed[REAL_POINTS][3]; /* T1 images */
  real_points exact;            /* T2 */
} spots;

/* Point i = `local` at the pose of `s`; `s` must stay valid. */
static inline void spots_set(spots *set, int i, const side *s, const double local[3]) {
  for (int k = 0; k < 3; k++) set->local[i][k] = local[k];
  if (set->real)
    real_points_set(&set->exact, i, set->local[i], &s->pose);
  else if (s->identity)
    for (int k = 0; k < 3; k++) set->posed[i][k] = local[k];
  else
    for (int k = 0; k < 3; k++) set->posed[i][k] = pose_row(&s->pose, k, local);
}

static inline void spots_set_triangle(spots *set, int first, const side *s, uint32_t triangle) {
  double corners[9];
  mesh_corners(s->mesh, triangle, corners);
  for (int c = 0; c < 3; c++) spots_set(set, first + c, s, corners + 3 * c);
}

static inline sign_source spots_signs(spots *set) {
  return set->real ? real_points_signs(&set->exact) : tritri_doubles((const double(*)[3])set->posed);
}

static inline int sign3(const sign_source *s, int a, int b, int c, int d) {
  return s->orient3d(s->self, a, b, c, d);
}

static inline int sign2(const sign_source *s, int axis, int a, int b, int c) {
  return s->orient2d(s->self, axis, a, b, c);
}

/* An axis along which the projection of a, b, c keeps an area; -1: the points are collinear. */
static inline int spots_axis(const sign_source *s, int a, int b, int c) {
  for (int axis = 0; axis < 3; axis++) {
    if (sign2(s, axis, a, b, c) != 0) return axis;
  }
  return -1;
}

#endif
