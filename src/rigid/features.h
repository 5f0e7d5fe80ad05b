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

/* The second side in the first's coordinates: a row-major rotation, and where its origin is. */
typedef struct feature_frame {
  double rotation[9], place[3];
} feature_frame;

/* How near features have to be. */
typedef struct feature_limits {
  double margin;                /* the largest gap */
  double slight, sudden, depth; /* how far may overlap: edges that were not known, corners that were not, and others */
  const uint32_t *known;        /* features that touched before, sorted */
  uint32_t known_count;
  const feature_frame *before; /* where the second side was then, or NULL */
} feature_limits;

/* `frame`: where the second side is. `pairs`: all triangles that may be nearer to each other than margin + the radii,
 * and than `depth`. Appends what touches, in an order that depends on the pairs alone. False: memory refused. O(pairs
 * log pairs).
 *
 * A feature counts only where its neighbourhood lies on its side of the contact's plane, which is Gauss' map of each
 * surface looked up at one place: so flat floors of many triangles have no inner edges, and normals are those that
 * surfaces have there. A corner that is behind a face, and nearer to no other place of the surface, is inside; in a
 * valley it may be behind two. What has touched before, or was in front of the face, is still held by it, also when it
 * has come out on the far side of something thin. `claims` is scratch, whose room is used again. */
bool gz_features_find(const graze_context *context, const feature_side sides[2], const feature_frame *frame,
                      const graze_triangle_pair *pairs, uint64_t count, const feature_limits *limits, gz_array *claims,
                      gz_array *touches);

#endif
