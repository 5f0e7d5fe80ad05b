/* planted.h: pairs of objects whose relation is certain, as plant.c sets them beside the plant. Private to scenes. */
#ifndef SCENES_PLANTED_H
#define SCENES_PLANTED_H

#include "parts.h"
#include "random.h"

/* `count` pairs of each construction (those in which one holds the other: in both orders), in a yard at y < 0, and
 * what they are into the scene's pairs. False: out of memory. */
bool plant_clashes(parts *shelf, random_stream *random, uint32_t count);

#endif
