/* load.h: the objects of a cull made ready. */
#ifndef GRAZE_SRC_VISIBILITY_LOAD_H
#define GRAZE_SRC_VISIBILITY_LOAD_H

#include "visibility/cull.h"

/* Fills objects but for what pairs say of them: checked, with boxes and whether they can be judged. */
graze_status gz_visibility_take(graze_visibility *v);

/* Posed corners of a triangle (tier T1). */
void gz_visibility_corners(const visibility_object *object, uint32_t triangle, double corners[9]);

/* Fills objects, pairs, space and blocks from the definition; nothing is marked. */
graze_status gz_visibility_load(graze_visibility *v);

/* Marks all triangles that are numbered. */
void gz_visibility_mark_all(graze_visibility *v);

/* Fills ranks, and corners of what is marked: loaded triangles are in the order of objects and triangles. */
graze_status gz_visibility_place_marked(graze_visibility *v);

/* Of one object alone, loaded: pairs of triangles whose boxes meet and that have no corner in common, by position. They
 * stay until the next load. */
graze_status gz_visibility_pair_triangles(graze_visibility *v, const graze_box_pair **pairs, uint64_t *count);

#endif
