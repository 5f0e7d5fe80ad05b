/* Balls in a grid of cells as wide as two of them reach, for the neighbour list (list.c). */
#ifndef GRAZE_SRC_DYNAMICS_CELLS_H
#define GRAZE_SRC_DYNAMICS_CELLS_H

#include "base/cpu.h"
#include "dynamics/world.h"

/* Along each axis the cell beyond the last is the first: with a period because that is so, without one because a grid
 * has no more than two cells a ball, wherever these fly. Whoever else meets in a cell is too far away and left out. */
typedef struct ball_cells {
  uint32_t n[3];
  uint32_t *cell;             /* of a place */
  uint32_t *begin;            /* of a cell and the end: in the arrays that follow, which are in the order of cells */
  uint32_t *places;           /* VD_LANES more may be read */
  double *center[3], *radius; /* likewise */
} ball_cells;

/* Makes the rows of the list, without an array of pairs on the way. Cells are as wide as the largest ball wants them:
 * O(balls) while no ball is much larger than most. Errors: NOT_FINITE, MEMORY, LIMIT. */
graze_status gz_cells_make_rows(graze_world *world, double largest_radius);

/* Writes the places of those that a ball may touch before the list is made anew, itself among them, and returns how
 * many there are. What has no room is left out; the last VD_LANES of the room are spare. */
typedef uint32_t neighbours_kernel(const graze_world *world, const ball_cells *cells, uint32_t place, uint32_t *found,
                                   uint32_t room);
CPU_KERNELS(neighbours_kernel, gz_neighbours);

#endif
