/* tests/polycubes.h: solids made of unit cells of a small grid, whose relation is known by counting cells. */
#ifndef GRAZE_TESTS_POLYCUBES_H
#define GRAZE_TESTS_POLYCUBES_H

#include <stdbool.h>
#include <stdint.h>

#include "graze/graze.h"

enum { CELLS = 10 }; /* a side of the grid */

typedef struct polycube {
  bool cell[CELLS][CELLS][CELLS]; /* x, y, z */
} polycube;

/* Cubes of `step` cells a side, each present with the given chance, on the grid from `low` to `high` cells. */
void polycube_random(polycube *p, uint64_t *state, int step, int low, int high, double chance);

/* Fills cells until no two cubes of `step` cells meet in an edge only, so that the boundary has two triangles at every
 * edge. */
void polycube_mend(polycube *p, int step);

/* Boundary triangles, outward: squares of `step` cells when the solid is made of such cubes (else of one), cut along
 * either diagonal at random, in random order. Returns their number; `corners` has room for 12 * CELLS^3 triangles. */
uint32_t polycube_surface(const polycube *p, int step, uint64_t *state, double *corners);

/* From the cells alone. */
graze_relation polycube_relation(const polycube *a, const polycube *b);

/* The relation of b to a. */
static inline graze_relation swapped(graze_relation r) {
  return r == GRAZE_A_IN_B ? GRAZE_B_IN_A : r == GRAZE_B_IN_A ? GRAZE_A_IN_B : r;
}

#endif
