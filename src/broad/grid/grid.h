/* Boxes in levels of cells, sorted: what the uniform and the hierarchical grid are made of.
 *
 * A level has cells of one shape, at least as large as its boxes. A box is kept once, in the cell of its low corner, so
 * that boxes of one level that meet are in neighbouring cells. There is no table of cells: the boxes of a level are
 * sorted by cell, layers of cells ("slabs", along z) first, then rows (along y), then along x, and the neighbours of
 * boxes taken in order are found by places that move forward in the neighbouring rows. So empty space costs nothing.
 *
 * Numbers become whole multiples of 1/4096 of a cell, by one monotone map for each axis of a level: what is in order
 * stays in order or becomes equal. 16 bits of them are kept, 32 bytes of a box become 16. Boxes of neighbouring cells
 * are less than eight cells apart, so that differences modulo 2^16 tell the order. Only when two compared numbers are
 * equal are the caller's boxes looked at again.
 */
#ifndef GRAZE_SRC_BROAD_GRID_GRID_H
#define GRAZE_SRC_BROAD_GRID_GRID_H

#include "base/cpu.h"
#include "broad/broad.h"

enum {
  GRID_CELL = 4096,    /* parts of a cell */
  GRID_CELL_BITS = 12, /* their logarithm */
  GRID_SIZES = 12,     /* most levels by size */
  GRID_CLUSTERS = 6,   /* most levels for clusters */
  GRID_LEVELS = 19,    /* and one for boxes that the sample did not foretell */
  GRID_PAD = 16,       /* places behind each unit that hold no box */
  GRID_AHEAD = 64,     /* places behind all that may be read */
  GRID_UNIT = 4096,    /* boxes that are sorted together, at least, where there are as many */
  GRID_TASKS = 32,     /* most */
  GRID_MOST_Y_CELLS = 1 << 12,
  GRID_MOST_X_CELLS = 1 << 13,
  GRID_MOST_Z_CELLS = 1 << 14
};

/* One box. The complement of the high ends turns all six comparisons into one: x + ~y is negative when x <= y. */
typedef struct grid_record {
  uint16_t low[3];
  uint16_t high[3]; /* complement */
  uint32_t slot;
} grid_record;

/* Axes are in the order x, y, z of the grid, which need not be the caller's (grid_frame). Arrays of eight have the low
 * end of each axis, the high end of each, and two of no meaning. */
typedef struct grid_level {
  double origin[8], scale[8]; /* number -> (number - origin) * scale, cut to [least, most], rounded down */
  double least[8], most[8];
  double size[3];    /* of a cell, by halves: a cell may be wider than the largest number */
  uint32_t cells[3]; /* with those at the border */
  unsigned fine;     /* a cell is 2^fine fine cells along x, by which it is sorted */
  unsigned x_bits, y_bits;
  uint32_t slab_base, slabs;
  bool strict;           /* only for boxes within the bounds: a cluster */
  uint32_t reach[3];     /* largest box, in parts */
  uint32_t count;        /* boxes */
  uint32_t begin, end;   /* places */
  const uint32_t *table; /* where the boxes of each cell begin, and each row ends; NULL: too many cells */
} grid_level;

/* The numbers of a box in parts of a level's cells: three low ends and three high ends. */
static inline void grid_parts(const grid_level *level, const int *axis, const graze_box *box, int32_t q[6]) {
  for (int k = 0; k < 3; k++) {
    double ends[2] = {box->min[axis[k]], box->max[axis[k]]};
    for (int j = 0; j < 2; j++) {
      double part = (ends[j] - level->origin[k]) * level->scale[k];
      part = part > level->least[k] ? part : level->least[k];
      q[3 * j + k] = (int32_t)(part < level->most[k] ? part : level->most[k]);
    }
  }
}

/* What all levels share. */
typedef struct grid_frame {
  int axis[3];            /* the caller's axis that is x, y, z here */
  double low[3], high[3]; /* of the low corners in the sample, in the grid's order of axes */
  double stretch[3];      /* largest extent along each axis, as part of the largest of all */
  bool cluster;           /* bounds of a cluster, not of all */
  double volume_share;    /* sampled boxes come from about this part of [low, high] */
  uint32_t sampled;
  float *sizes; /* of the sampled boxes, ascending: half the largest extent after stretching */
} grid_frame;

typedef struct grid_slab {
  uint32_t unit;
  uint32_t z_key;      /* added to the keys of its boxes */
  uint32_t begin, end; /* places */
} grid_slab;

/* Sorted together: slabs of one level. */
typedef struct grid_unit {
  uint32_t first_slab, end_slab;
  uint32_t count;
  uint32_t from;  /* where its boxes were dealt to */
  uint32_t begin; /* place of the first; GRID_PAD places behind the last are free */
  unsigned bits;  /* of keys */
} grid_unit;

typedef struct grid {
  buffer dealt, sorted, slab_memory, unit_memory, tables, counters, scratch;
  pair_lists parts;

  grid_frame frame;
  grid_level levels[GRID_LEVELS];
  uint32_t level_count;
  uint32_t slab_count, unit_count;
  uint32_t box_count; /* taken */
  /* in `sorted` */
  grid_record *records;
  uint32_t *keys;
  grid_slab *slabs;
  grid_unit *units;
} grid;

/* Chooses sizes of cells from the sample: half edges of levels, ascending, at most GRID_SIZES. Gives how many. */
typedef uint32_t grid_chooser(const grid_frame *frame, uint32_t boxes, double *sizes);

/* Sorts the boxes of the view into levels. False: no memory. */
bool gz_grid_build(grid *g, const broad_view *view, grid_chooser *choose);

/* Appends all pairs. False: no memory. */
bool gz_grid_pairs(grid *g, const broad_view *view, pair_list *out);

void gz_grid_release(const graze_context *context, grid *g);
size_t gz_grid_bytes(const grid *g);

/* ---- kernels, one for each instruction set --------------------------------------------------------------------- */

/* A stretch of boxes on the way from the caller's numbers to records. */
typedef struct grid_fill {
  const broad_view *view;
  const grid_level *levels;
  const int *axis;
  uint32_t level_count;
  bool some; /* not boxes begin .. end - 1 but those whose numbers are in keys[begin .. end - 1] */
  uint32_t begin, end;
  grid_record *records; /* written from `begin` on */
  uint32_t *keys;
  uint32_t *slabs;
  uint32_t *counts;     /* by slab */
  uint32_t (*reach)[8]; /* by level: largest extents seen, in the first three lanes */
  uint32_t filled;      /* out: boxes that are in a level, at begin .. begin + filled - 1 */
  uint32_t refused;     /* out: boxes too large for all levels, their numbers in keys[end - refused .. end - 1] */
} grid_fill;

typedef void grid_fill_function(grid_fill *f);
CPU_KERNELS(grid_fill_function, gz_grid_fill);

/* Pairs of boxes of one level that have their first box, in the order of places, in slabs [first, end). False: no
 * memory. */
typedef struct grid_search {
  const grid *g;
  const broad_view *view;
  const grid_level *level;
  const grid_level *against; /* grid_join: another level */
  uint32_t begin, end;       /* slabs of the level; places of it (grid_join) */
  bool careful;              /* no hit is certain: layers count */
  pair_list *out;
} grid_search;

typedef bool grid_search_function(const grid_search *s);
CPU_KERNELS(grid_search_function, gz_grid_search);

/* Pairs of a box at places begin .. end - 1 with one of the level `against`. False: no memory. */
CPU_KERNELS(grid_search_function, gz_grid_join);

#endif
