/* sieve.h: triangles of two lists by their boxes. */
#ifndef GRAZE_SRC_VISIBILITY_SIEVE_H
#define GRAZE_SRC_VISIBILITY_SIEVE_H

#include "visibility/cull.h"

enum { SIEVE_SIDE = 64 };

typedef struct visibility_sieve {
  uint64_t rows[SIEVE_SIDE * SIEVE_SIDE]; /* a bit for each cell along x */
} visibility_sieve;

/* The cells that a triangle's box meets, closed. */
typedef struct visibility_cells {
  uint8_t low[3], high[3];
} visibility_cells;

/* Keeps of each list what has a cell in common with something of the other one, on a grid over `box`, of which all
 * triangles of the lists have something. Nothing that meets goes. False: it would be long work, and the lists are as
 * they were. `cells`: room for one of each triangle. */
bool gz_visibility_sieve(const graze_visibility *v, visibility_sieve *sieve, const visibility_box *box,
                         uint32_t *const lists[2], uint32_t counts[2], visibility_cells *cells);

#endif
