/* forklift.h: one forklift, as forklifts.c and explosion.c use it. */
#ifndef SCENES_FORKLIFT_H
#define SCENES_FORKLIFT_H

#include "builder.h"

/* Forks point along +x, wheels stand on z = 0. Closed parts that do not touch each other. `level` scales the edges'
 * subdivision. */
void forklift_build(builder *build, uint32_t level);

/* Where the forks are, all multiples of 2^-8: width of a fork, distance of its middle from y = 0, tip, and the face
 * of the upright shank behind the blade. */
extern const double forklift_fork_width, forklift_fork_middle, forklift_fork_tip, forklift_fork_shank;

#endif
