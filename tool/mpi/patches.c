/* Boxes dealt out by place; see patches.h. */
#include "mpi/patches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SOME = 2048 };

/* ---- boxes in memory ---- */

typedef struct ordering {
  char *boxes;
  uint64_t *ids;
  bool narrow;    /* floats */
  uint64_t *ends; /* by rank */
} ordering;

/* One of the six of a box. */
static double number_of(const ordering *o, uint64_t i, int k) {
  return o->narrow ? (double)((const float *)(const void *)o->boxes)[6 * i + (unsigned)k]
                   : ((const double *)(const void *)o->boxes)[6 * i + (unsigned)k];
}

static void swap_boxes(const ordering *o, uint64_t i, uint64_t k) {
  const size_t size = 6 * (o->narrow ? sizeof(float) : sizeof(double));
  double box[6];
  const uint64_t id = o->ids[i];
  memcpy(box, o->boxes + i * size, size);
  memcpy(o->boxes + i * size, o->boxes + k * size, size);
  memcpy(o->boxes + k * size, box, size);
  o->ids[i] = o->ids[k];
  o->ids[k] = id;
}

static int compare(const void *x, const void *y) {
  const double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

/* Of some of the boxes, how many a cut would go through that leaves `share` of their lower corners on its left. */
static uint32_t crossing_on(const ordering *o, uint64_t begin, uint64_t end, double share, int axis) {
  double corners[SOME];
  const uint32_t some = end - begin < SOME ? (uint32_t)(end - begin) : SOME;
  uint32_t crossing = 0;
  for (uint32_t i = 0; i < some; i++) corners[i] = number_of(o, begin + i * (end - begin) / some, axis);
  qsort(corners, some, sizeof *corners, compare);
  const double cut = corners[(uint32_t)(share * some)];
  for (uint32_t i = 0; i < some; i++) {
    const uint64_t box = begin + i * (end - begin) / some;
    crossing += number_of(o, box, axis) < cut && number_of(o, box, axis + 3) >= cut;
  }
  return corners[0] < corners[some - 1] ? crossing : UINT32_MAX;
}

static int best_axis(const ordering *o, uint64_t begin, uint64_t end, double share) {
  int best = 0;
  uint32_t least = UINT32_MAX;
  for (int axis = 0; axis < 3; axis++) {
    const uint32_t crossing = crossing_on(o, begin, end, share, axis);
    if (crossing >= least) continue;
    best = axis;
    least = crossing;
  }
  return best;
}

/* Quickselect, three ways: parts the boxes near `middle`, between different numbers if there are any, so that what is
 * left is less than what is right. Returns where the right ones begin. */
static uint64_t part(const ordering *o, uint64_t begin, uint64_t middle, uint64_t end, int axis) {
  const uint64_t first = begin, last = end;
  while (begin < end) {
    const double pivot = number_of(o, begin + (end - begin) / 2, axis);
    uint64_t low = begin, i = begin, high = end;
    while (i < high) {
      const double at = number_of(o, i, axis);
      if (at < pivot)
        swap_boxes(o, i++, low++);
      else if (at > pivot)
        swap_boxes(o, i, --high);
      else
        i++;
    }
    if (middle < low)
      end = low;
    else if (middle >= high)
      begin = high;
    else
      return low > first ? low : high < last ? high : middle;
  }
  return middle;
}

static void order_ranks(const ordering *o, uint64_t begin, uint64_t end, uint32_t first, uint32_t last) {
  const uint32_t half = first + (last - first) / 2;
  if (last - first == 1) {
    o->ends[first] = end;
    return;
  }
  uint64_t middle = begin + (end - begin) * (half - first) / (last - first);
  const double share = (double)(half - first) / (last - first);
  if (end - begin > 1) middle = part(o, begin, middle, end, best_axis(o, begin, end, share));
  order_ranks(o, begin, middle, first, half);
  order_ranks(o, middle, end, half, last);
}

void patches_order(rank_boxes *boxes, uint32_t ranks, uint64_t *ends) {
  const ordering o = {.boxes = boxes->memory[0],
                      .ids = boxes->memory[1],
                      .narrow = boxes->boxes.boxes.precision == GRAZE_FLOAT,
                      .ends = ends};
  order_ranks(&o, 0, boxes->boxes.count, 0, ranks);
}

/* ---- the wavy plane ---- */

typedef struct patch {
  uint32_t low[2], high[2]; /* squares */
} patch;

/* That of a rank: ranks are halved, and their rectangle is across its longer side. */
static patch patch_of(const wave_patches *w, uint32_t rank) {
  patch p = {{0, 0}, {w->along, w->across}};
  for (uint32_t first = 0, last = w->ranks; last - first > 1;) {
    const uint32_t half = first + (last - first) / 2;
    const int axis = p.high[0] - p.low[0] >= p.high[1] - p.low[1] ? 0 : 1;
    const uint64_t size = p.high[axis] - p.low[axis];
    const uint32_t at = p.low[axis] + (uint32_t)(size * (half - first) / (last - first));
    if (rank < half) {
      p.high[axis] = at;
      last = half;
    } else {
      p.low[axis] = at;
      first = half;
    }
  }
  return p;
}

static uint32_t count_of(const patch *p) {
  return 2 * (p->high[0] - p->low[0]) * (p->high[1] - p->low[1]);
}

wave_patches wave_patches_open(uint32_t count, uint32_t ranks) {
  wave_patches w = {.ranks = ranks};
  uint32_t most = 0;
  scenes_wave_squares(count, &w.along, &w.across);
  for (uint32_t r = 0; r < ranks; r++) {
    const patch p = patch_of(&w, r);
    if (count_of(&p) > most) most = count_of(&p);
  }
  w.boxes = job_alloc(most, 6 * sizeof *w.boxes);
  w.ids = job_alloc(most, sizeof *w.ids);
  return w;
}

void wave_patches_close(wave_patches *w) {
  free(w->boxes);
  free(w->ids);
  *w = (wave_patches){0};
}

graze_mpi_boxes wave_patch(const wave_patches *w, uint32_t rank) {
  const patch p = patch_of(w, rank);
  const uint32_t row = 2 * (p.high[0] - p.low[0]);
  float *boxes = w->boxes;
  uint64_t *ids = w->ids;
  for (uint32_t y = p.low[1]; y < p.high[1]; y++, boxes += 6 * (size_t)row, ids += row) {
    scenes_wave_row(y, p.low[0], p.high[0], boxes);
    for (uint32_t i = 0; i < row; i++) ids[i] = 2 * ((uint64_t)y * w->along + p.low[0]) + i;
  }
  return (graze_mpi_boxes){.boxes = {.data = w->boxes, .precision = GRAZE_FLOAT}, .count = count_of(&p), .ids = w->ids};
}
