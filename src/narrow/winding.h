/* The winding number of closed parts around a point that lies on none of their triangles. */
#ifndef GRAZE_SRC_NARROW_WINDING_H
#define GRAZE_SRC_NARROW_WINDING_H

#include "narrow/query.h"
#include "narrow/solid.h"

/* Whether the point, in the world, is inside the closed parts of the job's mesh a: their winding number is not 0, or it
 * is within parts that count by parity. The job's map takes points of the world to the mesh, and those around the point
 * and the mesh. `box`: gz_side_box of the mesh. Memory refused: w->sink.failed. Expected O(log n + triangles along a
 * ray).
 */
bool gz_winding_inside(worker *w, const job *j, const solid *shape, const graze_box *box, const double p[3]);

#endif
