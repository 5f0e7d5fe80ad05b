/* Where edges of one surface go through faces of another. */
#ifndef GRAZE_SRC_RIGID_PIERCINGS_H
#define GRAZE_SRC_RIGID_PIERCINGS_H

#include "rigid/features.h"

/* Where surfaces cross, and no touch with a gap below `nearly` overlaps there, adds one: features alone do not tell how
 * two that have come deep into each other part. Its normal is the sum of the normals of pierced faces, which is about
 * the way out. False: memory refused. O(pairs touches). */
bool gz_piercings_hold(const graze_context *context, const feature_side sides[2], const feature_frame *frame,
                       const graze_triangle_pair *pairs, uint64_t count, double nearly, gz_array *touches);

#endif
