/* Which pairs of objects need an exact look: their boxes meet and no rule ignores them. */
#ifndef GRAZE_SRC_SCENE_CANDIDATES_H
#define GRAZE_SRC_SCENE_CANDIDATES_H

#include "scene/scene.h"

typedef enum box_state {
  BOX_MADE,
  BOX_OVERFLOWS, /* a posed coordinate does */
  BOX_NEEDS_MESH /* the box of the source overflows, and the mesh tells whether a coordinate does */
} box_state;

/* The box of an object in the world; empty for a mesh without triangles. Where only the box overflows, the object meets
 * every box. */
box_state gz_object_box(const object *o, graze_exactness exactness, graze_box *out);

/* Tier T0 takes identity poses only. Errors: POSE (names the object). */
graze_status gz_candidates_check_poses(const graze_scene *scene, graze_exactness exactness);

/* Fills the scene's `found` with the pairs of ranks, ascending. The scene is prepared. Errors: NOT_FINITE (names the
 * object), MEMORY, LIMIT. */
graze_status gz_candidates_find(graze_scene *scene, graze_exactness exactness);

#endif
