/* place.h: corners of objects as they are posed, and in the space of the pictures: kernels for each instruction set,
 * all with the same bytes. What is read is the caller's: an index and a point for each corner. */
#ifndef GRAZE_SRC_VISIBILITY_PLACE_H
#define GRAZE_SRC_VISIBILITY_PLACE_H

#include "base/cpu.h"
#include "visibility/cull.h"
#include "visibility/sieve.h"

/* Triangles first <= t < end of an object. */
typedef struct visibility_run {
  const visibility_object *object;
  uint32_t first, end;
} visibility_run;

/* Their posed box; and whether all of their coordinates are finite. */
typedef bool visibility_bound_kernel(const visibility_run *run, graze_box *box);
CPU_KERNELS(visibility_bound_kernel, gz_visibility_bound);

/* The boxes of their blocks, of which the first one begins with the run. */
typedef void visibility_block_kernel(const visibility_run *run, const visibility_space *space, visibility_box *blocks);
CPU_KERNELS(visibility_block_kernel, gz_visibility_block);

/* Those that meet `box`, and their cells on the grid over it: so many. Room for all of the run. `rows` grows by the
 * rows of those cells. */
typedef uint32_t visibility_list_kernel(const visibility_run *run, const visibility_space *space,
                                        const visibility_box *box, uint32_t *list, visibility_cells *cells,
                                        uint64_t *rows);
CPU_KERNELS(visibility_list_kernel, gz_visibility_list);

/* Of a block that begins with the run, those with a bit in `marks`: nine floats for each, and its number. */
typedef void visibility_place_kernel(const visibility_run *run, const visibility_space *space, uint64_t marks,
                                     float *corners, uint32_t *numbers);
CPU_KERNELS(visibility_place_kernel, gz_visibility_place);

#endif
