/* Boxes dealt out by place; see patches.h. */
#include "mpi/patches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- boxes in memory ---- */

typedef struct ordering {
  char *boxes;
  uint64_t *ids;
  bool narrow; /* floats */
  uint64_t total;
  uint32_t ranks;
} ordering;

static double corner_of(const ordering *o, uint64_t i, int axis) {
  return o->narrow ? (double)((const float *)(const void *)o->boxes)[6 * i + (unsigned)axis]
                   : ((const double *)(const void *)o->boxes)[6 * i + (unsigned)axis];
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

static int widest_axis(const ordering *o, uint64_t begin, uint64_t end) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  int widest = 0;
  for (uint64_t i = begin; i < end; i++) {
    for (int k = 0; k < 3; k++) {
      low[k] = fmin(low[k], corner_of(o, i, k));
      high[k] = fmax(high[k], corner_of(o, i, k));
    }
  }
  for (int k = 1; k < 3; k++) {
    if (0.5 * high[k] - 0.5 * low[k] > 0.5 * high[widest] - 0.5 * low[widest]) widest = k;
  }
  return widest;
}

/* Quickselect, three ways: boxes before `middle` are not above those from there on. */
static void part(const ordering *o, uint64_t begin, uint64_t middle, uint64_t end, int axis) {
  while (end - begin > 1) {
    const double pivot = corner_of(o, begin + (end - begin) / 2, axis);
    uint64_t low = begin, i = begin, high = end;
    while (i < high) {
      const double at = corner_of(o, i, axis);
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
      return;
  }
}

static void order_ranks(const ordering *o, uint32_t first, uint32_t last) {
  const job parts = {.ranks = (int)o->ranks};
  const uint32_t half = first + (last - first) / 2;
  const uint64_t begin = job_part(o->total, &parts, (int)first), middle = job_part(o->total, &parts, (int)half),
                 end = job_part(o->total, &parts, (int)last);
  if (last - first < 2) return;
  part(o, begin, middle, end, widest_axis(o, begin, end));
  order_ranks(o, first, half);
  order_ranks(o, half, last);
}

void patches_order(rank_boxes *boxes, uint32_t ranks) {
  const ordering o = {.boxes = boxes->memory[0],
                      .ids = boxes->memory[1],
                      .narrow = boxes->boxes.boxes.precision == GRAZE_FLOAT,
                      .total = boxes->boxes.count,
                      .ranks = ranks};
  order_ranks(&o, 0, ranks);
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
  scenes_wave_squares(count, &w.along, &w.across);
  w.total = 2 * (uint64_t)w.along * w.across;
  for (uint32_t r = 0; r < ranks; r++) {
    const patch p = patch_of(&w, r);
    if (count_of(&p) > w.capacity) w.capacity = count_of(&p);
  }
  w.boxes = job_alloc(w.capacity, 6 * sizeof *w.boxes);
  w.ids = job_alloc(w.capacity, sizeof *w.ids);
  return w;
}

void wave_patches_close(wave_patches *w) {
  free(w->boxes);
  free(w->ids);
  *w = (wave_patches){0};
}

graze_mpi_boxes wave_patch(void *user, uint32_t rank) {
  const wave_patches *w = user;
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
