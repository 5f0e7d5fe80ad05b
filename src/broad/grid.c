/* Uniform grid: all boxes in cells as large as the largest, or nearly all: when sizes differ much, the largest tenth is
 * kept apart, in cells of its own, and looked up in the others.
 *
 * Source: Green, "Particle Simulation using CUDA" (2010), for sorting by cell in place of tables; Ericson, "Real-Time
 * Collision Detection" (2005), 7.1, for one cell a box and half of the neighbours. How it is done: grid.h.
 *
 * O(n + k) for boxes of like sizes that do not lie on heaps; about 52 bytes a box. */
#include "broad/grid.h"

static uint32_t choose_cell(const grid_frame *f, uint32_t boxes, double *sizes) {
  (void)boxes;
  if (f->sampled == 0) {
    sizes[0] = 0;
    return 1;
  }
  double largest = (double)f->sizes[f->sampled - 1], most = (double)f->sizes[f->sampled * 9 / 10];
  uint32_t count = 0;
  if (largest > 2 * most) sizes[count++] = most;
  sizes[count++] = largest;
  return count;
}

static graze_status find(void *state, const broad_view *view, pair_list *out) {
  return gz_grid_build(state, view, choose_cell) && gz_grid_pairs(state, view, out) ? GRAZE_OK : GRAZE_ERROR_MEMORY;
}

static void release(const graze_context *context, void *state) {
  gz_grid_release(context, state);
}

static size_t bytes(const void *state) {
  return gz_grid_bytes(state);
}

const broad_method gz_broad_grid = {.info = {"grid", "one grid of cells, sorted", "O(n + k) for like sizes", false},
                                    .state_bytes = sizeof(grid),
                                    .find = find,
                                    .release = release,
                                    .bytes = bytes};
