/* A few named points of two posed meshes and the exact signs of their determinants, in the tier of the query.
 *
 * Points of drawings mostly lie on a common grid, the multiples of a power of two, and many signs asked for are zero:
 * faces in one plane, edges on one line. Floating-point filters never settle those. So tier T1 keeps each point as
 * integers as well where it lies on a grid that the caller sets up once; a sign among such points takes one
 * determinant of integers. Any other point leaves the doubles to decide, and many in a row end the grid.
 */
#ifndef GRAZE_SRC_NARROW_PREDICATE_POINTS_H
#define GRAZE_SRC_NARROW_PREDICATE_POINTS_H

#include "exact/real_points.h"
#include "geometry/pose.h"
#include "narrow/exact_sink.h"

typedef struct predicate_points {
  bool real;        /* T2 */
  double unit;      /* grid steps for each unit of length, a power of two; 0: no grid */
  double origin[3]; /* of the grid */
  unsigned off;     /* bit i: point i is not on the grid */
  unsigned missed;  /* points in a row that were not */
  double local[REAL_POINTS][3];
  double posed[REAL_POINTS][3]; /* T1 images */
  int64_t grid[REAL_POINTS][3]; /* the same in steps from the origin, less than 2^29 */
  real_points exact;            /* T2 */
} predicate_points;

/* An empty set, without a grid. */
void gz_predicate_points_clear(predicate_points *set, bool real);

/* Lays the finest grid that holds everything within `reach` of the origin on each axis. */
void gz_predicate_points_lay_grid(predicate_points *set, const double origin[3], double reach);

/* Point i = `local` at the pose of `s`; `s` must stay valid. */
void gz_predicate_points_set(predicate_points *set, int i, const side *s, const double local[3]);

void gz_predicate_points_set_triangle(predicate_points *set, int first, const side *s, uint32_t triangle);

sign_source gz_predicate_points_signs(predicate_points *set);

static inline int sign3(const sign_source *s, int a, int b, int c, int d) {
  return s->orient3d(s->self, a, b, c, d);
}

static inline int sign2(const sign_source *s, int axis, int a, int b, int c) {
  return s->orient2d(s->self, axis, a, b, c);
}

/* An axis along which the projection of a, b, c keeps an area; -1: the points are collinear. */
static inline int proper_axis(const sign_source *s, int a, int b, int c) {
  for (int axis = 0; axis < 3; axis++) {
    if (sign2(s, axis, a, b, c) != 0) return axis;
  }
  return -1;
}

#endif
