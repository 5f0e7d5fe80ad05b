/* sieve.h: triangles of two lists by their boxes, on a grid of bits. */
#ifndef GRAZE_SRC_VISIBILITY_SIEVE_H
#define GRAZE_SRC_VISIBILITY_SIEVE_H

#include "visibility/cull.h"

enum { SIEVE_SIDE = 64 };

typedef struct visibility_sieve {
  uint64_t rows[SIEVE_SIDE * SIEVE_SIDE]; /* a bit for each cell along x */
} visibility_sieve;

/* Cells over a box: (x - low) scale. */
typedef struct visibility_grid {
  v4 low, scale;
} visibility_grid;

/* The cells that a triangle's box meets, closed; the fourth numbers mean nothing. */
typedef struct visibility_cells {
  uint8_t low[4], high[4];
} visibility_cells;

/* Sides of the box are at least as wide as boxes are widened by. */
static inline visibility_grid visibility_grid_over(const visibility_box *box) {
  visibility_grid g = {.low = v4_set(0), .scale = v4_set(0)};
  for (int k = 0; k < 3; k++) {
    g.low[k] = box->low[k];
    g.scale[k] = SIEVE_SIDE / (box->high[k] - box->low[k]);
  }
  return g;
}

/* The cell of a coordinate rises with it, rounding included. */
static inline i4 visibility_cell(const visibility_grid *g, v4 x) {
  return __builtin_convertvector(v4_min(v4_max((x - g->low) * g->scale, v4_set(0)), v4_set(SIEVE_SIDE - 1)), i4);
}

static inline visibility_cells visibility_cells_of(const visibility_grid *g, visibility_span span) {
  uint8_t bytes[8];
  visibility_cells c;
  i4_bytes(visibility_cell(g, span.low - VISIBILITY_WIDEN), visibility_cell(g, span.high + VISIBILITY_WIDEN), bytes);
  memcpy(&c, bytes, sizeof c);
  return c;
}

static inline uint32_t visibility_cell_rows(const visibility_cells *c) {
  return (uint32_t)(c->high[1] - c->low[1] + 1) * (uint32_t)(c->high[2] - c->low[2] + 1);
}

/* Whether it is worth the work: lists of so many triangles, whose cells have so many rows. */
bool gz_visibility_is_sieved(uint64_t triangles, uint64_t rows);

/* Keeps of each list what has a cell in common with something of the other one, cells beside it; all cells are of one
 * grid. Nothing that meets goes. Runs on the context's threads. */
void gz_visibility_sieve(const graze_context *context, visibility_sieve *sieve, uint32_t *const lists[2],
                         visibility_cells *const cells[2], uint32_t counts[2]);

#endif
