/* make_rubble.h: the fragments of `graze make rubble`. */
#ifndef TOOL_MAKE_RUBBLE_H
#define TOOL_MAKE_RUBBLE_H

#include "options.h"
#include "scenes.h"

/* Cuts a block into at least `count` fragments, writes each as NAME.obj into the folder, and adds them as bodies of
 * that hull, which fly away from a blast. */
void rubble_add(const common_options *common, uint32_t count, uint64_t seed, scenes_rigid *rigid);

#endif
