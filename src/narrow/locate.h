/* Where a point lies relative to the closed parts of a mesh: inside, outside, on them. */
#ifndef GRAZE_SRC_NARROW_LOCATE_H
#define GRAZE_SRC_NARROW_LOCATE_H

#include "narrow/solid.h"

typedef enum location { LOCATION_OUT, LOCATION_IN, LOCATION_ON, LOCATION_LOST } location;

/* The parts of a mesh that count: the closed ones (part_bounds) but one. */
typedef struct part_filter {
  const solid *shape;
  bool strict;
  uint32_t skip; /* or NO_PART */
} part_filter;

/* Winding number of the parts of `shape` that count around the point `local` at the pose of `from`, those that go by
 * parity left out; *where takes them in. LOST: the pose of `from` is singular, so that no ray leads out. `rays` is used
 * up. Expected O(log n + triangles along a ray). */
graze_status gz_locate(graze_query *rays, const side *from, const double local[3], const side *shape,
                       const part_filter *filter, graze_exactness exactness, location *where, int *winding);

/* A box that holds every posed coordinate of the mesh. */
graze_box gz_side_box(const side *s);

#endif
