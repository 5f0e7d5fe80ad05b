/* Hierarchical grid: levels of cells whose edges are powers of two apart; a box is in the level whose cells are at
 * least as large as the box and, but for the finest level, less than twice as large: edge / 2 < size <= edge. The
 * finest level also has all smaller boxes: it is the one whose cells hold about one box each, as finer cells would be
 * empty for the most part. Boxes of two levels meet by looking one up in the cells of the other.
 *
 * Source: Ericson, "Real-Time Collision Detection" (2005), 7.2; Mirtich, "Impulse-based Dynamic Simulation" (1996).
 * How it is done: grid.h; for few edits: a spatial hash, hash/hash.c.
 *
 * O(n (1 + log(largest size / finest cell)) + k); about 52 bytes a box. */
#include <math.h>

#include "broad/grid.h"
#include "broad/hash/hash.h"

/* Boxes up to `half` in one cell of that size, on average where the sample has boxes. */
static double occupancy(const grid_frame *f, uint32_t boxes, double half) {
  uint32_t fitting = 0;
  while (fitting < f->sampled && (double)f->sizes[fitting] <= half) fitting++;
  double cells = f->volume_share;
  for (int k = 0; k < 3; k++) cells *= 1 + (0.5 * f->high[k] - 0.5 * f->low[k]) / (half * f->stretch[k]);
  return (double)boxes * fitting / f->sampled / cells;
}

static uint32_t choose_levels(const grid_frame *f, uint32_t boxes, double *sizes) {
  double largest = f->sampled > 0 ? (double)f->sizes[f->sampled - 1] : 0, finest = largest;
  uint32_t halvings = 0;
  /* Nothing is won by cells that are finer than all boxes. */
  while (halvings + 2 < GRID_SIZES && finest > 2 * (double)f->sizes[0] && occupancy(f, boxes, finest) > 1) {
    finest *= 0.5;
    halvings++;
  }
  /* A world may be so wide that finer cells look empty when they are not: nine tenths of the boxes, when they are far
   * smaller, get a level of their own below. */
  uint32_t count = 0;
  double most = f->sampled > 0 ? (double)f->sizes[f->sampled * 9 / 10] : 0;
  if (most * 16 < finest) sizes[count++] = most;
  for (uint32_t i = 0; i <= halvings; i++) sizes[count++] = ldexp(largest, (int)i - (int)halvings);
  return count;
}

typedef struct hgrid {
  grid sorted;   /* from nothing */
  box_hash live; /* for few edits */
} hgrid;

static graze_status find(void *state, const broad_view *view, pair_list *out) {
  hgrid *h = state;
  h->live.valid = false;
  bool good = gz_grid_build(&h->sorted, view, choose_levels) && gz_grid_pairs(&h->sorted, view, out);
  return good ? GRAZE_OK : GRAZE_ERROR_MEMORY;
}

static graze_status step(void *state, const broad_view *view, const broad_edits *edits, pair_list *out) {
  hgrid *h = state;
  return gz_box_hash_step(&h->live, view, edits, out);
}

/* The table of cells costs something to begin with, and more for each edit than `find` takes for a box. */
static bool pays(const void *state, const broad_view *view, const broad_edits *edits) {
  const hgrid *h = state;
  return edits->count < view->count / (h->live.valid ? 8 : 16);
}

static void release(const graze_context *context, void *state) {
  hgrid *h = state;
  gz_grid_release(context, &h->sorted);
  gz_box_hash_release(context, &h->live);
}

static size_t bytes(const void *state) {
  const hgrid *h = state;
  return gz_grid_bytes(&h->sorted) + gz_box_hash_bytes(&h->live);
}

const broad_method gz_broad_hgrid = {.info = {"hgrid", "levels of cells, sorted; a table of cells for few edits",
                                              "O(n + k); O(edits + k) for few edits", true},
                                     .state_bytes = sizeof(hgrid),
                                     .find = find,
                                     .step = step,
                                     .pays = pays,
                                     .release = release,
                                     .bytes = bytes};
