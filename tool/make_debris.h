/* make_debris.h: `graze make explosion --debris N`: fragments that fly, for `graze motion --particles`. */
#ifndef TOOL_MAKE_DEBRIS_H
#define TOOL_MAKE_DEBRIS_H

#include "options.h"
#include "scene_files.h"

/* Writes the equipment, debris.csv and truth.csv into the folder of --output, and tells about them on stdout. Returns
 * the exit code. */
int make_debris(uint32_t count, uint32_t size, uint64_t seed, const common_options *common);

#endif
