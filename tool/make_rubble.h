/* make_rubble.h: the fragments of `graze make rubble`. */
#ifndef TOOL_MAKE_RUBBLE_H
#define TOOL_MAKE_RUBBLE_H

#include "options.h"
#include "scenes.h"

/* Breaks a block into at least `count` fragments, writes each as NAME.obj into the folder, and adds them as bodies of
 * that hull, which a blast throws. */
void rubble_add(const common_options *common, uint32_t count, uint64_t seed, scenes_rigid *rigid);

/* A bay of a plant around the block, to be freed; the ground sinks to where its slab stands. */
void rubble_make_plant(uint64_t seed, scenes_rigid *rigid, scenes_scene *plant);

#endif
