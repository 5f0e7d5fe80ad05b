/* parts.h: solids that are built once and shared, and how they are turned. Private to scenes. */
#ifndef SCENES_PARTS_H
#define SCENES_PARTS_H

#include "solids.h"

typedef struct parts {
  scenes_scene *scene;
  uint32_t detail;
  solid *known; /* mesh i of the scene is known[i] */
  uint32_t room;
} parts;

/* The mesh of a solid, built when it is asked for first. False: out of memory. */
bool parts_find(parts *shelf, const solid *what, uint32_t *mesh);
void parts_free(parts *shelf);

/* Where x, y and z go: 1, 2, 3 for x, y, z, negative for the other way. Such a turn is exact. */
typedef struct turn {
  int8_t to[3];
} turn;

extern const turn turn_none;    /* along x */
extern const turn turn_quarter; /* about z: what lay along x lies along y, what stood still stands */
extern const turn turn_cycle;   /* x to y, y to z, z to x */
extern const turn turn_upright; /* x to z, y to x, z to y: what lay along x stands */

/* Number `index` of the 24 turns that map axes to axes without mirroring; 0 is turn_none. */
turn turn_numbered(uint32_t index);

void turn_pose(turn how, const double at[3], double pose[12]);

#endif
