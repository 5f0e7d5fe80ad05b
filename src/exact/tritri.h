/* Triangle against triangle, decided from signs alone.
 *
 * The decision is written once (gz_tritri_decide) over a source of signs for six points, numbered 0..2 = the first
 * triangle's corners, 3..5 = the second's. What the points are, doubles or the real images of doubles under matrices,
 * only the source knows. Exact signs in, exact answer out; no coordinate is ever computed here.
 */
#ifndef GRAZE_SRC_EXACT_TRITRI_H
#define GRAZE_SRC_EXACT_TRITRI_H

#include "graze/collide.h"

typedef struct sign_source {
  /* As in orient.h, of points by number. */
  int (*orient3d)(const void *self, int a, int b, int c, int d);
  int (*orient2d)(const void *self, int axis, int a, int b, int c);
  /* Sign of point[a][axis] - point[b][axis]. */
  int (*compare)(const void *self, int axis, int a, int b);
  const void *self;
} sign_source;

void gz_tritri_decide(const sign_source *signs, graze_tritri *result);

/* The source for six points of doubles, points[6][3]. */
sign_source gz_tritri_doubles(const double (*points)[3]);

/* Decides six points of doubles, as integers where they lie on a common grid: the scalar reference that every faster
 * path is tested against. */
void gz_tritri_scalar(const double a[9], const double b[9], graze_tritri *result);

/* tritri_real.c: tier T2. */
void gz_tritri_real(const double a[9], const graze_pose *pose_a, const double b[9], const graze_pose *pose_b,
                    graze_tritri *result);

/* tritri_points.c: the points of graze_tritri_intersection, of six finite points that were decided. */
void gz_tritri_points(const double (*points)[3], const graze_tritri *summary, graze_intersection *result);

/* The end points of a zero-area triangle in lexicographic order; corners first, first+1, first+2. Equal: a point. */
void gz_tritri_ends(const sign_source *signs, int first, int ends[2]);

/* How the planes of two proper, non-coplanar triangles cut them, after the permutation of Guigue and Devillers: p
 * alone on its side, for each triangle; see tritri.c. */
typedef struct plane_cut {
  int p, q, r;
  int sign_p; /* of p against the other plane, before any swap */
} plane_cut;

/* `sign` of the three corners first.. against the other plane: not all equal. *flip: the other triangle must be turned
 * over so that p comes to lie on its positive side. */
plane_cut gz_tritri_cut(int first, const int sign[3], bool *flip);

#endif
