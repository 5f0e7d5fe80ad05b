/* The inside of the spatial hash: its table, what looks into it, and how its cells are chosen. */
#ifndef GRAZE_SRC_BROAD_HASH_H
#define GRAZE_SRC_BROAD_HASH_H

#include <math.h>
#include <stdalign.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "broad/broad.h"

#define HASH_NONE UINT32_MAX

enum {
  HASH_LEVELS = 17,        /* of cells; each four times as wide as the one before */
  HASH_WIDE = HASH_LEVELS, /* in place of a level: in the list */
  HASH_FREE,               /* in place of a level: no box */
  HASH_MOST_CELLS = 8,     /* that a box is put in */
  HASH_BLOCK = 12,         /* entries */
  HASH_ALL_LOW = 7
};

/* Packed: the nearest floats. */
typedef struct hash_box {
  alignas(32) float min[3];
  uint32_t slot; /* of a free one: the next free one */
  float max[3];
  uint8_t level;
} hash_box;

/* Entries of a cell: which boxes, and on which axes the cell is the lowest that the box touches. */
typedef struct hash_block {
  uint32_t next;
  uint8_t low[HASH_BLOCK];
  uint32_t place[HASH_BLOCK];
} hash_block;

typedef struct hash_cell {
  int64_t at[3];
  uint32_t level;
  uint32_t next;   /* with the same hash, or free */
  uint32_t blocks; /* the first, which alone may be part empty */
  uint32_t count;  /* of entries */
} hash_cell;

typedef struct hash_state {
  double size[HASH_LEVELS], inverse[HASH_LEVELS]; /* of a cell's edge */
  buffer boxes;                                   /* hash_box by place */
  buffer places;                                  /* by slot; HASH_NONE: no box */
  buffer cells, blocks, wide;
  buffer buckets; /* first cell of each hash */
  buffer codes;   /* scratch: by slot, the coarse place; or counters of cells */
  unsigned bucket_bits;
  uint32_t slot_count, box_end, cell_end, block_end; /* that were ever in use */
  uint32_t free_box, free_cell, free_block;
  uint32_t wide_count, cell_count;
  uint32_t on_level[HASH_LEVELS + 1];
  uint32_t found;   /* boxes at the last find */
  uint64_t edited;  /* boxes since */
  pair_lists lists; /* scratch: of the pieces of a search */
} hash_state;

/* ---- cells ----------------------------------------------------------------------------------------------------- */

typedef struct hash_cell_span {
  int64_t low[3], high[3];
} hash_cell_span;

/* Monotone: numbers in order have cells in order. */
static inline int64_t hash_coordinate(double x, double inverse) {
  const double end = 0x1p60;
  double c = x * inverse;
  c = c < -end ? -end : c > end ? end : c;
  int64_t i = (int64_t)c;
  return i - ((double)i > c);
}

static inline hash_cell_span hash_span_of(const hash_state *s, const hash_box *box, uint32_t level) {
  hash_cell_span span;
  for (int k = 0; k < 3; k++) {
    span.low[k] = hash_coordinate((double)box->min[k], s->inverse[level]);
    span.high[k] = hash_coordinate((double)box->max[k], s->inverse[level]);
  }
  return span;
}

static inline double hash_cells_of(const hash_cell_span *span) {
  double cells = 1;
  for (int k = 0; k < 3; k++) cells *= (double)(span->high[k] - span->low[k] + 1);
  return cells;
}

static inline bool hash_next_cell(const hash_cell_span *span, int64_t at[3]) {
  for (int k = 0; k < 3; k++) {
    if (at[k]++ < span->high[k]) return true;
    at[k] = span->low[k];
  }
  return false;
}

/* On which axes the cell is the lowest of the span. */
static inline unsigned hash_low_of(const hash_cell_span *span, const int64_t at[3]) {
  return (unsigned)(at[0] == span->low[0]) | (unsigned)(at[1] == span->low[1]) << 1 |
         (unsigned)(at[2] == span->low[2]) << 2;
}

/* The last product brings all bits of the hash into the upper ones, which are used. */
static inline uint64_t hash_of_cell(uint32_t level, const int64_t at[3]) {
  uint64_t hash = ((uint64_t)at[0] * 73856093u) ^ ((uint64_t)at[1] * 19349669u) ^ ((uint64_t)at[2] * 83492791u);
  return (hash + level) * 0x9E3779B97F4A7C15u;
}

/* The table's size is a power of two. */
static inline uint32_t hash_bucket_of(const hash_state *s, uint32_t level, const int64_t at[3]) {
  return (uint32_t)(hash_of_cell(level, at) >> (64 - s->bucket_bits));
}

static inline uint32_t hash_find_cell(const hash_state *s, uint32_t level, const int64_t at[3]) {
  const hash_cell *cells = s->cells.data;
  uint32_t c = ((const uint32_t *)s->buckets.data)[hash_bucket_of(s, level, at)];
  while (c != HASH_NONE &&
         (cells[c].at[0] != at[0] || cells[c].at[1] != at[1] || cells[c].at[2] != at[2] || cells[c].level != level)) {
    c = cells[c].next;
  }
  return c;
}

/* Entries in the first block of a cell that has some. */
static inline uint32_t hash_in_first(const hash_cell *cell) {
  return (cell->count - 1) % HASH_BLOCK + 1;
}

static inline hash_box hash_packed(const graze_box *box, uint32_t slot) {
  hash_box b = {.slot = slot};
  for (int k = 0; k < 3; k++) {
    b.min[k] = (float)box->min[k];
    b.max[k] = (float)box->max[k];
  }
  return b;
}

/* ---- the table, hash_table.c ----------------------------------------------------------------------------------- */

/* Makes the table have 2^bits buckets, and puts the cells into them. False: no memory. */
bool gz_hash_make_buckets(const graze_context *context, hash_state *s, unsigned bits);

/* The finest level whose cells are at least 1.5 times as wide as the box, the coarsest if there is none. `span` gets
 * the cells there. */
uint8_t gz_hash_level_of(const hash_state *s, const hash_box *box, hash_cell_span *span);

/* Puts a box into its cells, or the list. False: no memory; it may be in some of them then. */
bool gz_hash_put_in(const graze_context *context, hash_state *s, uint32_t place, uint8_t level,
                    const hash_cell_span *span);
void gz_hash_take_out(hash_state *s, uint32_t place);

/* ---- which cells, hash_plan.c ---------------------------------------------------------------------------------- */

/* Chooses the cells for these boxes, and gives every box its place. False: no memory. */
bool gz_hash_plan(const broad_view *view, hash_state *s);

/* ---- pairs, hash_pairs.c --------------------------------------------------------------------------------------- */

/* What one task looks for: pairs into its own list. */
typedef struct hash_walk {
  const hash_state *s;
  const broad_view *view;
  pair_list *out;
  const broad_edits *edits; /* pairs that have an edited slot are met twice; NULL: no pair is */
  bool failed;              /* no memory */
} hash_walk;

/* Pairs of the entries of one cell. */
void gz_hash_pairs_in_cell(hash_walk *w, const hash_cell *cell);

/* Pairs of a box with larger ones: of coarser levels, and those in the list. Of two in the list, the one that comes
 * first in memory says so. */
void gz_hash_pairs_with_coarser(hash_walk *w, const hash_box *a);

/* All boxes that meet one: of coarser levels and its own through the cells that it touches; so of finer ones unless
 * these cells are more than there are boxes. */
void gz_hash_pairs_of_box(hash_walk *w, const hash_box *a);

#endif
