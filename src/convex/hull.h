/* What the steps of a hull pass on: a cloud with its dimension, then faces as lists of its points.
 *
 * hull_cloud.c finds four points that span the cloud, hull_solid.c or hull_flat.c the faces, hull.c makes of them what
 * the caller gets.
 */
#ifndef GRAZE_SRC_CONVEX_HULL_H
#define GRAZE_SRC_CONVEX_HULL_H

#include "graze/convex.h"

typedef struct hull_cloud {
  const graze_context *context;
  const double *points; /* 3 each, finite */
  uint32_t count;       /* at least 1, below 2^31 */
  uint32_t dimension;
  uint32_t span[4]; /* dimension + 1 points that lie in no smaller space; of a segment the ends */
} hull_cloud;

static inline const double *hull_point(const hull_cloud *cloud, uint32_t i) {
  return cloud->points + 3 * (size_t)i;
}

/* Fills in dimension and span. */
void gz_hull_span(hull_cloud *cloud);

/* Face f has the corners first[f] <= c < first[f + 1]: numbers of points, extreme ones only, counterclockwise seen from
 * outside. Both arrays are for gz_free. */
typedef struct hull_faces {
  uint32_t *corners, *first;
  uint32_t count;
} hull_faces;

/* For a cloud of dimension 3 and of dimension 2. False: memory was refused; `faces` is for gz_free as it is. */
bool gz_hull_solid(const hull_cloud *cloud, hull_faces *faces);
bool gz_hull_flat(const hull_cloud *cloud, hull_faces *faces);

/* Fills in the two balls of a hull that is whole otherwise. */
void gz_hull_balls(graze_hull *hull);

#endif
