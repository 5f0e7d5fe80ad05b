/* The inside of sort and sweep, for methods that start from all pairs. */
#ifndef GRAZE_SRC_BROAD_SWEEP_SWEEP_H
#define GRAZE_SRC_BROAD_SWEEP_SWEEP_H

#include "broad/packed.h"

enum {
  SWEEP_CELLS = 2048, /* an axis is cut into these, which strips are made of */
  SWEEP_STRIPS = 192, /* most strips of an axis */
  SWEEP_BINS = 4096   /* most bins */
};

/* How boxes are dealt out. A strip is a range of cells of an axis; a bin is a strip of each axis. */
typedef struct sweep_plan {
  int axis;           /* swept along */
  uint32_t strips[3]; /* 1: the axis is not cut */
  uint32_t bins;
  uint32_t bin_step[3];             /* from a bin to the next one along the axis */
  float start[3], scale[3];         /* cell of x: (x - start) * scale */
  uint8_t strip_of[3][SWEEP_CELLS]; /* never falls */
} sweep_plan;

/* Chooses the plan from a sample of the boxes; a bin has `crowding` times as many boxes as they alone make expect.
 * False: no memory. */
bool gz_sweep_choose(const broad_view *view, double crowding, buffer *scratch, sweep_plan *plan);

/* Half as many strips on the axis that has the most. */
void gz_sweep_coarsen(sweep_plan *plan);

/* The strip of a number: monotone, whatever the number. */
static inline uint32_t sweep_strip(const sweep_plan *plan, int axis, float x) {
  float cell = (x - plan->start[axis]) * plan->scale[axis];
  cell = cell > 0 ? cell : 0; /* NaN too: infinite times zero on an axis that is not cut */
  cell = cell < SWEEP_CELLS - 1 ? cell : SWEEP_CELLS - 1;
  return plan->strip_of[axis][(uint32_t)cell];
}

typedef struct sweep_state {
  sweep_plan plan;
  buffer ranges, starts, entries, rows, scratch;
  pair_lists parts;
} sweep_state;

graze_status gz_sweep_find(sweep_state *s, const broad_view *view, pair_list *out);
void gz_sweep_release(const graze_context *context, sweep_state *s);
size_t gz_sweep_bytes(const sweep_state *s);

#endif
