/* Before the first picture of a pair: the boxes of the triangles of one mark the cells of a grid of bits that they
 * meet, and triangles of the other without a marked cell go. Where there are many small triangles this costs a tenth of
 * what setting them up for a picture does, and leaves as few as the first pictures would.
 *
 * A common point of two triangles is in the boxes of both, which are widened by more than coordinates are wrong. The
 * cell of a coordinate rises with it, rounding included, so that the point's own cell is within the ranges of both. */
#include "visibility/sieve.h"

#include <math.h>

enum { LEAST = 2048, MOST_ROWS = 16 }; /* triangles in all; rows of cells a triangle, in the mean */

typedef struct grid {
  float low[3], scale[3];
} grid;

static uint32_t cell_of(const grid *g, int k, float x) {
  float at = (x - g->low[k]) * g->scale[k];
  return at > 0 ? at < SIEVE_SIDE - 1 ? (uint32_t)at : SIEVE_SIDE - 1 : 0;
}

static visibility_cells cells_of(const graze_visibility *v, const grid *g, uint32_t triangle) {
  visibility_box box = visibility_triangle_box(v->corners + 9 * (size_t)triangle);
  visibility_cells c;
  for (int k = 0; k < 3; k++) {
    c.low[k] = (uint8_t)cell_of(g, k, box.low[k] - VISIBILITY_WIDEN);
    c.high[k] = (uint8_t)cell_of(g, k, box.high[k] + VISIBILITY_WIDEN);
  }
  return c;
}

static uint64_t bits_of(const visibility_cells *c) {
  return ~(uint64_t)0 >> (SIEVE_SIDE - 1 - (c->high[0] - c->low[0])) << c->low[0];
}

static void mark(visibility_sieve *s, const visibility_cells *c) {
  const uint64_t bits = bits_of(c);
  for (uint32_t z = c->low[2]; z <= c->high[2]; z++) {
    for (uint32_t y = c->low[1]; y <= c->high[1]; y++) s->rows[z * SIEVE_SIDE + y] |= bits;
  }
}

static bool is_marked(const visibility_sieve *s, const visibility_cells *c) {
  const uint64_t bits = bits_of(c);
  for (uint32_t z = c->low[2]; z <= c->high[2]; z++) {
    for (uint32_t y = c->low[1]; y <= c->high[1]; y++) {
      if (s->rows[z * SIEVE_SIDE + y] & bits) return true;
    }
  }
  return false;
}

/* Fills the cells of a list, and counts their rows. */
static uint64_t find_cells(const graze_visibility *v, const grid *g, const uint32_t *list, uint32_t count,
                           visibility_cells *cells) {
  uint64_t rows = 0;
  for (uint32_t i = 0; i < count; i++) {
    const visibility_cells c = cells[i] = cells_of(v, g, list[i]);
    rows += (uint64_t)(c.high[1] - c.low[1] + 1) * (uint64_t)(c.high[2] - c.low[2] + 1);
  }
  return rows;
}

/* Keeps what has a marked cell, cells beside it. */
static uint32_t keep_marked(const visibility_sieve *sieve, uint32_t *list, visibility_cells *cells, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (!is_marked(sieve, &cells[i])) continue;
    list[kept] = list[i];
    cells[kept++] = cells[i];
  }
  return kept;
}

bool gz_visibility_sieve(const graze_visibility *v, visibility_sieve *sieve, const visibility_box *box,
                         uint32_t *const lists[2], uint32_t counts[2], visibility_cells *cells) {
  const uint64_t count = (uint64_t)counts[0] + counts[1];
  visibility_cells *const of[2] = {cells, cells + counts[0]};
  uint64_t rows = 0;
  grid g;
  if (count < LEAST) return false;
  for (int k = 0; k < 3; k++) {
    g.low[k] = box->low[k];
    g.scale[k] = SIEVE_SIDE / (box->high[k] - box->low[k]); /* sides are at least as wide as boxes are widened by */
  }
  for (int s = 0; s < 2; s++) rows += find_cells(v, &g, lists[s], counts[s], of[s]);
  if (rows > MOST_ROWS * count) return false;
  for (int s = 0; s < 2; s++) {
    memset(sieve, 0, sizeof *sieve);
    for (uint32_t i = 0; i < counts[s]; i++) mark(sieve, &of[s][i]);
    counts[!s] = keep_marked(sieve, lists[!s], of[!s], counts[!s]);
  }
  return true;
}
