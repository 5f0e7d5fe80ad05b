/* tree.h: a tree in the wind, whose leaves deform: what no hierarchy can be kept for. 151 meshes: a tree of 10,000
 * triangles, which stands still, and 150 leaves of 200 each, which move, bend and flutter through each other and
 * against the branches. Lengths are metres, z is up. */
#ifndef SCENES_TREE_H
#define SCENES_TREE_H

#include "scenes.h"

/* At rest; false: no memory. Free it with scenes_free. The tree is mesh 0. */
bool tree_make(scenes_scene *scene);

/* The leaves at a time, in seconds: only their vertices change. */
void tree_move(scenes_scene *scene, double time);

#endif
