/* tests/convex.h: convex solids with small integer corners, and their relation by separating planes.
 *
 * Two convex solids share no inner point when a plane parts them, and one of the planes to try is normal to a face of
 * either or to an edge of each (the faces of their Minkowski difference). One is in the other when its corners are.
 * Both are a few integer products, nothing that the library does.
 */
#ifndef GRAZE_TESTS_CONVEX_H
#define GRAZE_TESTS_CONVEX_H

#include <stdbool.h>
#include <stdint.h>

#include "graze/graze.h"

enum { CONVEX_POINTS = 10, CONVEX_FACES = 2 * CONVEX_POINTS, CONVEX_TRIANGLES = 2 * CONVEX_POINTS };

/* n . x <= offset, and the points that lie on it. */
typedef struct convex_face {
  int64_t n[3], offset;
  uint32_t points;
} convex_face;

/* The hull of its points; |coordinates| below 2^16. */
typedef struct convex {
  int count;
  int64_t at[CONVEX_POINTS][3];
  int face_count;
  convex_face face[CONVEX_FACES];
} convex;

/* Finds the faces; false: the points lie in a plane. */
bool convex_make(convex *c);

/* Outward triangles: each face a fan from a corner that is chosen at random. Returns their number. */
uint32_t convex_surface(const convex *c, uint64_t *state, double *corners);

graze_relation convex_relation(const convex *a, const convex *b);

#endif
