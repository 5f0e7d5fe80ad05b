/* Two meshes that move nearly straight past each other: which of their triangles may come near each other at all. */
#ifndef GRAZE_SRC_NARROW_PASSING_H
#define GRAZE_SRC_NARROW_PASSING_H

#include "narrow/query.h"

typedef struct passage {
  side ends[2][2]; /* both meshes at the start, and at the end */
  passing boxes;
} passage;

/* Makes the maps between the ends, and tells from which of the meshes the way can be seen. False: the hierarchies
 * cannot be used. The bounds of what is between the ends are left to the caller. */
bool gz_passage_open(passage *way);

/* One traversal of both hierarchies: the pairs of triangles that may come near each other on the way, at most `most`.
 * *settled: these are all; else there are more, or `budget` pairs of nodes did not tell. */
graze_status gz_passage_list(graze_query *query, const passage *way, uint32_t budget, uint32_t most,
                             graze_triangle_pair *pairs, uint32_t *count, bool *settled, graze_work *work);

#endif
