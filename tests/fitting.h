/* What the tests of solids that are cut share: triangles that fit together, planes that part two sets, volumes. */
#ifndef GRAZE_TESTS_FITTING_H
#define GRAZE_TESTS_FITTING_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/orient.h"
#include "support.h"

static inline graze_hull *hull_of(uint64_t count, const double *points) {
  graze_hull *hull = NULL;
  assert_int_equal(graze_hull_create(shared_context(1), count, points, &hull), GRAZE_OK);
  return hull;
}

static inline void box_corners(const double low[3], const double high[3], double *corners) {
  for (int i = 0; i < 24; i++) corners[i] = i / 3 >> i % 3 & 1 ? high[i % 3] : low[i % 3];
}

static inline graze_hull *box_hull(const double low[3], const double high[3]) {
  double corners[24];
  box_corners(low, high, corners);
  return hull_of(8, corners);
}

/* ---- triangles -------------------------------------------------------------------------------------------------- */

typedef struct face {
  uint32_t sorted[3];
  int turn; /* of the corners, outward, against their order */
} face;

static inline int compare_faces(const void *a, const void *b) {
  return memcmp(((const face *)a)->sorted, ((const face *)b)->sorted, sizeof((const face *)a)->sorted);
}

static inline face face_of(const uint32_t corners[3]) {
  face made = {.turn = 1};
  memcpy(made.sorted, corners, sizeof made.sorted);
  for (int i = 0; i < 3; i++) {
    const int k = i % 2;
    if (made.sorted[k] <= made.sorted[k + 1]) continue;
    const uint32_t swap = made.sorted[k];
    made.sorted[k] = made.sorted[k + 1];
    made.sorted[k + 1] = swap;
    made.turn = -made.turn;
  }
  return made;
}

/* The largest distance of a corner from the plane of the nearest face of the hull that is near all three. */
static inline double distance_to_surface(const graze_hull *hull, const double *points, const face *triangle) {
  double least = (double)INFINITY;
  for (uint32_t p = 0; p < hull->face_count; p++) {
    const double *n = hull->planes + 4 * (size_t)p;
    double most = 0;
    for (int i = 0; i < 3; i++) {
      const double *x = points + 3 * (size_t)triangle->sorted[i];
      most = fmax(most, fabs(n[0] * x[0] + n[1] * x[1] + n[2] * x[2] - n[3]));
    }
    least = fmin(least, most);
  }
  return least;
}

/* Every triangle, three numbers of points, is of two pieces, which see it from opposite sides, or lies in the surface.
 */
static inline void check_triangles(const graze_hull *hull, const double *points, const uint32_t *triangles,
                                   uint32_t count, double allowed) {
  face *faces = malloc((count + (size_t)1) * sizeof *faces);
  assert_non_null(faces);
  for (uint32_t t = 0; t < count; t++) faces[t] = face_of(triangles + 3 * (size_t)t);
  qsort(faces, count, sizeof *faces, compare_faces);
  for (uint32_t t = 0; t < count; t++) {
    if (t + 1 < count && compare_faces(&faces[t], &faces[t + 1]) == 0) {
      assert_int_equal(faces[t].turn, -faces[t + 1].turn);
      t++;
      assert_true(t + 1 == count || compare_faces(&faces[t], &faces[t + 1]) != 0);
    } else {
      assert_true(distance_to_surface(hull, points, &faces[t]) <= allowed);
    }
  }
  free(faces);
}

/* ---- insides ---------------------------------------------------------------------------------------------------- */

/* Whether the plane of three points has the first counts[0] points on or below it and the rest on or above, or the
 * other way round, and not all of them in it. */
static inline bool plane_parts(const double *const plane[3], const double *const *points, const uint32_t counts[2]) {
  bool low[2] = {false, false}, high[2] = {false, false};
  for (uint32_t i = 0; i < counts[0] + counts[1]; i++) {
    const int side = gz_orient3d(plane[0], plane[1], plane[2], points[i]), set = i >= counts[0];
    low[set] |= side < 0;
    high[set] |= side > 0;
    if ((low[0] && high[0]) || (low[1] && high[1]) || (low[0] && low[1]) || (high[0] && high[1])) return false;
  }
  return (low[0] && high[1]) || (high[0] && low[1]);
}

/* Two polytopes whose insides are apart have a plane between them that goes through three of their corners: turned as
 * far as it goes, it rests on a face, or on an edge and a corner. */
static inline bool are_apart(const double *const *points, const uint32_t counts[2]) {
  const uint32_t all = counts[0] + counts[1];
  for (uint32_t a = 0; a < all; a++) {
    for (uint32_t b = a + 1; b < all; b++) {
      for (uint32_t c = b + 1; c < all; c++) {
        const double *const three[3] = {points[a], points[b], points[c]};
        if (plane_parts(three, points, counts)) return true;
      }
    }
  }
  return false;
}

/* ---- volumes ---------------------------------------------------------------------------------------------------- */

/* Six times the volume of the tetrahedron of a triangle and a point that it is seen from, clockwise. */
static inline long double volume_behind(const double *from, const double *const corners[3]) {
  long double p[3][3], sum = 0;
  for (int c = 0; c < 3; c++) {
    for (int k = 0; k < 3; k++) p[c][k] = (long double)corners[c][k] - from[k];
  }
  for (int k = 0; k < 3; k++) {
    const int l = (k + 1) % 3, m = (k + 2) % 3;
    sum += p[2][k] * (p[0][l] * p[1][m] - p[0][m] * p[1][l]);
  }
  return sum;
}

/* By the divergence theorem, of closed triangles, three numbers of points each, about the first one's first corner. */
static inline double volume_within(const double *points, const uint32_t *triangles, uint32_t count) {
  long double sum = 0;
  for (uint32_t t = 0; t < count; t++) {
    const double *corners[3];
    for (uint32_t c = 0; c < 3; c++) corners[c] = points + 3 * (size_t)triangles[3 * (size_t)t + c];
    sum += volume_behind(points + 3 * (size_t)triangles[0], corners);
  }
  return (double)(sum / 6);
}

static inline double volume_of_hull(const graze_hull *hull) {
  return volume_within(hull->points, hull->triangles, hull->triangle_count);
}

#endif
