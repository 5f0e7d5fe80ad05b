/* Which pairs of objects need an exact look: their boxes meet and no rule ignores them. */
#ifndef GRAZE_SRC_SCENE_CANDIDATES_H
#define GRAZE_SRC_SCENE_CANDIDATES_H

#include "scene/scene.h"

/* The box of an object in the world; empty for a mesh without triangles. False: a posed coordinate overflows. Where
 * only the box does, the object meets every box. */
bool gz_object_box(const object *o, graze_exactness exactness, graze_box *out);

/* Tier T0 takes identity poses only. Errors: POSE (names the object). */
graze_status gz_candidates_check_poses(const graze_scene *scene, graze_exactness exactness);

/* Fills the scene's `found` with the pairs of ranks, ascending. The scene is prepared. Errors: NOT_FINITE (names the
 * object), MEMORY, LIMIT. */
graze_status gz_candidates_find(graze_scene *scene, graze_exactness exactness);

#endif
