/* Where two surfaces touch, or may soon: corners on faces, edges across edges, and what is nearest of round ones. */
#ifndef GRAZE_SRC_RIGID_FEATURES_H
#define GRAZE_SRC_RIGID_FEATURES_H

#include "base/owned.h"
#include "graze/collide.h"
#include "rigid/surface.h"

/* A side of a pair: what is within `radius` of a surface. */
typedef struct feature_side {
  const rigid_surface *surface;
  double radius;
} feature_side;

/* Two features: the first's surface is at `points[0]`, the second's at `points[1]`, in the first's coordinates. */
typedef struct feature_touch {
  double points[2][3]; /* of the surfaces themselves, without radii */
  double normal[3];    /* from the second to the first */
  double gap;          /* with radii; below 0: they overlap */
  uint32_t feature;    /* a number for the two of them */
  uint32_t owner;      /* 0: the point moves with the first along the second; 1: the other way */
} feature_touch;

/* The second side is at `rotation` and `place` in the first's coordinates. `pairs`: all triangles that may be nearer to
 * each other than margin + the radii, and than `depth`. Appends to `touches` what has a gap of at most `margin` and
 * overlaps by no more than `depth`, in an order that depends on the pairs alone. False: memory refused. O(pairs log
 * pairs).
 *
 * A feature counts only where its neighbourhood lies on its side of the contact's plane, which is Gauss' map of each
 * surface looked up at one place: so flat floors of many triangles have no inner edges, and normals are those that
 * surfaces have there. A corner below several faces belongs to the nearest, but in a valley to both. */
bool gz_features_find(const graze_context *context, const feature_side sides[2], const double rotation[9],
                      const double place[3], const graze_triangle_pair *pairs, uint64_t count, double margin,
                      double depth, gz_array *touches);

#endif
