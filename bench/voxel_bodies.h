/* bench/voxel_bodies.h: many moving bodies by the method of a report on a GPU, as it is written, on one thread.
 *
 * Its grid has cubes as wide as the *radius* of the largest body, each with room for four; a fifth is dropped. A body
 * looks for others in the 27 cubes around its own, so that every pair is seen from both sides, and two bodies two cubes
 * apart do not see each other although they may overlap. A spring pushes and a dashpot takes the whole relative
 * velocity; velocity is stepped first, then place. The report fills its cubes in four passes of drawing, with colour
 * masks and a stencil: what these store is what is stored here, a body in the first free place of its cube.
 */
#ifndef BENCH_VOXEL_BODIES_H
#define BENCH_VOXEL_BODIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VOXEL_PLACES = 4 };

/* Bodies of one radius and mass, in an open box from 0 to `high`. */
typedef struct voxel_bodies {
  uint32_t count;
  double (*positions)[3], (*velocities)[3], (*forces)[3];
  double radius, mass, stiffness, damping, gravity, high[3]; /* damping: of a pair; twice that of a wall */
  uint32_t cells[3];
  uint32_t (*places)[VOXEL_PLACES];
} voxel_bodies;

/* Makes room for the grid and the forces; false: no memory. */
bool voxel_bodies_begin(voxel_bodies *v);
void voxel_bodies_end(voxel_bodies *v);

void voxel_bodies_step(voxel_bodies *v, double dt);

/* Contacts of bodies that it finds in the present state: each pair once. */
uint64_t voxel_bodies_count(voxel_bodies *v);

#endif
