/* A polytope of points of A - B around the origin, in doubles, small enough for a stack.
 *
 * It grows as that of depth.c does, but nothing is exact, and it need be neither convex nor simple. What it proves in
 * the end stands on two facts alone. Its triangles are a closed surface: in sum, every edge is there as often in one
 * direction as in the other. And each of them has the origin strictly behind its plane, at a distance of at least
 * `lower`. So the solid angles that the origin sees are all positive, and their sum, a whole multiple of 4 pi, is not
 * 0: every ray from the origin meets a triangle, at least the least `lower` away. As triangles lie in A - B, which is
 * convex, a ball of that radius about the origin does.
 */
#ifndef GRAZE_SRC_CONVEX_POLYTOPE_H
#define GRAZE_SRC_CONVEX_POLYTOPE_H

#include "convex/pair.h"

/* A set of faces, and one of points, is a word. */
enum { POLYTOPE_FACES = 64, POLYTOPE_POINTS = 64 };

typedef struct polytope {
  /* What (height - lost) / |n| - off is below the distance of a plane, if turn < |n| / 4. */
  double lost, off, turn;
  double upper;          /* on the depth: the least width along normals that were looked along */
  uint64_t there, known; /* the faces that there are, and of them those whose distance the caller has measured */
  uint32_t slots;        /* of faces that are laid out: a multiple of 8 */
  uint32_t count;        /* of points */
  uint32_t nearest;      /* face */
  double n[3][POLYTOPE_FACES], height[POLYTOPE_FACES]; /* normal, not of length 1, and n . w on the face */
  double lower[POLYTOPE_FACES];                        /* bound on the distance */
  uint8_t corners[POLYTOPE_FACES][3];
  uint64_t edges[POLYTOPE_POINTS]; /* scratch: to which points an edge of what is seen leads; else 0 */
  convex_point p[POLYTOPE_POINTS];
} polytope;

/* Grows until its nearest face is known, or nothing of A - B is beyond it by more than a quarter of the tolerance. With
 * `there` 0 it begins with the four points, of which the last is behind the first three. False: it came to an end for
 * want of room or of exact signs. */
typedef bool polytope_function(polytope *t, const convex_pair *pair);
CPU_KERNELS(polytope_function, gz_convex_polytope);

#endif
