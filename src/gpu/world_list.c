/* The neighbour list of a world on a device: balls of each cell are counted, rows go to their places, what contacts
 * remember waits, neighbours are counted, written and put in order, and contacts are taken up again. Balls that share a
 * cell stand in the order in which they came: nothing that is told depends on it. Launches: 16 with those of two scans,
 * 22 where contacts remember.
 *
 * Most memory of a world serves the list while it is made, too, so that this takes no more than steps do. Cells begin
 * in `origin`, which is written last; contacts wait where rows were before; and other facts move by way of `partners`,
 * before there are new ones. */
#include <math.h>
#include <string.h>

#include "gpu/kernels/world.h"
#include "gpu/pairs.h"
#include "gpu/worlds.h"

enum { GROUP = 64, LEAST_BITS = 2, MOST_BITS = 10, CELLS_A_BALL = 4 };

/* ---- the grids --------------------------------------------------------------------------------------------------- */

/* An axis without a period has at least four cells, so that three of them are three. */
static uint32_t bits_of_axis(double cells) {
  uint32_t bits = LEAST_BITS;
  while (bits < MOST_BITS && (double)(1u << bits) < cells) bits++;
  return bits;
}

/* A grid for so many balls up to the radius. */
static void plan_grid(const graze_world_question *q, const graze_box *box, double radius, uint32_t balls,
                      double level[LEVEL_FIELDS]) {
  const double edge = (2 * radius + q->skin) * (1 + 1e-6); /* more than roundings of places in cells */
  uint32_t bits[3];
  for (int k = 0; k < 3; k++) bits[k] = bits_of_axis((box->max[k] - box->min[k]) / edge + 1);
  while ((UINT64_C(1) << (bits[0] + bits[1] + bits[2])) > CELLS_A_BALL * (uint64_t)balls + 64) {
    int most = 0;
    for (int k = 1; k < 3; k++) most = bits[k] > bits[most] ? k : most;
    bits[most]--;
  }
  for (int k = 0; k < 3; k++) {
    const double period = q->def->bounds.max[k] - q->def->bounds.min[k];
    const bool periodic = q->def->periodic[k];
    const uint32_t cells = periodic ? (uint32_t)fmin(period / edge, (double)(1u << bits[k])) : 0;
    level[LEVEL_BITS + k] = bits[k];
    level[LEVEL_CELLS + k] = cells;
    level[LEVEL_INVERSE + k] = periodic ? cells / period : 1 / edge;
  }
  level[LEVEL_RADIUS] = radius;
}

/* Balls of like sizes: more than half of the largest of them. */
typedef struct size_range {
  uint32_t balls;
  double radius; /* the largest */
} size_range;

/* From the largest down; the last has all that are smaller. */
static void count_sizes(const graze_world_question *q, size_range ranges[GPU_MOST_LEVELS]) {
  double largest = 0;
  for (uint32_t i = 0; i < q->balls; i++) largest = fmax(largest, q->states[i].position[3]);
  memset(ranges, 0, GPU_MOST_LEVELS * sizeof *ranges);
  for (uint32_t i = 0; i < q->balls; i++) {
    const double radius = q->states[i].position[3];
    double half = 0.5 * largest;
    size_range *r = ranges;
    while (radius <= half && r + 1 < ranges + GPU_MOST_LEVELS) {
      half *= 0.5;
      r++;
    }
    r->balls++;
    r->radius = fmax(r->radius, radius);
  }
}

void gz_gpu_world_levels(gpu_worlds *w, const graze_world_question *q, const graze_box *box, double *levels) {
  size_range ranges[GPU_MOST_LEVELS];
  count_sizes(q, ranges);
  w->level_count = w->cells = 0;
  for (int r = GPU_MOST_LEVELS - 1; r >= 0; r--) {
    if (ranges[r].balls == 0) continue;
    double *level = levels + LEVEL_FIELDS * (size_t)w->level_count++;
    plan_grid(q, box, ranges[r].radius, ranges[r].balls, level);
    level[LEVEL_FIRST] = w->cells;
    w->cells += 1u << (uint32_t)(level[LEVEL_BITS] + level[LEVEL_BITS + 1] + level[LEVEL_BITS + 2]);
  }
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static graze_status launch(graze_gpu *gpu, const gpu_worlds *w, const char *kernel, const gpu_argument *arguments,
                           uint32_t count) {
  return gz_gpu_run(gpu, gpu_world_list(w), kernel, gpu_groups(w->count, GROUP), arguments, count);
}

static graze_status clear(graze_gpu *gpu, const gpu_worlds *w, const gpu_buffer *numbers, uint32_t count) {
  const gpu_argument arguments[] = {GPU_BUFFER(numbers), GPU_VALUE(count)};
  return gz_gpu_run(gpu, gpu_world_list(w), "world_clear", gpu_groups(count, GROUP), arguments, 2);
}

/* How many balls are in each cell, then where those of a cell begin. */
static graze_status count_cells(graze_gpu *gpu, gpu_worlds *w) {
  static const uint32_t zeros[FOUND_FIELDS];
  const uint32_t ends = w->cells + 1;
  const gpu_buffer *begins = &w->origin;
  const gpu_argument rank[] = {GPU_BUFFER(&w->frame), GPU_BUFFER(&w->levels),   GPU_BUFFER(&w->rows[w->side]),
                               GPU_BUFFER(begins),    GPU_BUFFER(&w->places),   GPU_BUFFER(&w->found),
                               GPU_VALUE(w->count),   GPU_VALUE(w->level_count)};
  graze_status status = gz_gpu_reserve(gpu, &w->origin, ends * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &w->places, w->count * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &w->found, sizeof zeros);
  if (status == GRAZE_OK) status = gz_gpu_write(gpu, &w->found, 0, zeros, sizeof zeros);
  if (status == GRAZE_OK) status = clear(gpu, w, begins, ends);
  if (status == GRAZE_OK) status = launch(gpu, w, "world_rank", rank, 8);
  return status != GRAZE_OK ? status : gz_gpu_scan(gpu, &w->scratch, begins, begins, w->cells);
}

static graze_status place_rows(graze_gpu *gpu, gpu_worlds *w) {
  const uint32_t from = w->side, to = 1 - from;
  const gpu_argument place[] = {GPU_BUFFER(&w->frame),  GPU_BUFFER(&w->levels),   GPU_BUFFER(&w->rows[from]),
                                GPU_BUFFER(&w->origin), GPU_BUFFER(&w->places),   GPU_BUFFER(&w->rows[to]),
                                GPU_VALUE(w->count),    GPU_VALUE(w->level_count)};
  w->side = to;
  return launch(gpu, w, "world_place", place, 8);
}

/* Contacts end, or are counted where they are to wait. */
static graze_status part_contacts(graze_gpu *gpu, gpu_worlds *w) {
  const gpu_argument part[] = {GPU_BUFFER(&w->frame),
                               GPU_BUFFER(&w->laws),
                               GPU_BUFFER(&w->kinds),
                               GPU_BUFFER(&w->walls),
                               GPU_BUFFER(&w->rows[1 - w->side]),
                               GPU_BUFFER(&w->facts),
                               GPU_BUFFER(&w->start),
                               GPU_BUFFER(&w->partners),
                               GPU_BUFFER(&w->kept),
                               GPU_BUFFER(&w->places),
                               GPU_BUFFER(&w->waits),
                               GPU_BUFFER(&w->dissipated),
                               GPU_BUFFER(&w->events),
                               GPU_BUFFER(&w->event_count),
                               GPU_VALUE(w->count),
                               GPU_VALUE(w->materials),
                               GPU_VALUE(w->features),
                               GPU_VALUE(w->event_room)};
  const graze_status status = gz_gpu_reserve(gpu, &w->waits, (w->count + (size_t)1) * sizeof(uint32_t));
  return status != GRAZE_OK ? status : launch(gpu, w, "world_part", part, 18);
}

/* Contacts wait where the rows were. */
static graze_status save_contacts(graze_gpu *gpu, gpu_worlds *w) {
  gpu_buffer *waiting = &w->rows[1 - w->side];
  uint64_t total = 0;
  if ((w->features & FEATURE_REMEMBERS) == 0) return GRAZE_OK;
  graze_status status = part_contacts(gpu, w);
  if (status == GRAZE_OK) status = gz_gpu_scan(gpu, &w->scratch, &w->waits, &w->waits, w->count);
  if (status == GRAZE_OK) status = gz_gpu_scan_total(gpu, &w->scratch, &total);
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, waiting, total * WAITING_FIELDS(w->features) * sizeof(double));
  const gpu_argument wait[] = {GPU_BUFFER(&w->facts), GPU_BUFFER(&w->start),  GPU_BUFFER(&w->partners),
                               GPU_BUFFER(&w->kept),  GPU_BUFFER(&w->places), GPU_BUFFER(&w->waits),
                               GPU_BUFFER(waiting),   GPU_VALUE(w->count),    GPU_VALUE(w->features)};
  return status != GRAZE_OK ? status : launch(gpu, w, "world_wait", wait, 9);
}

/* Facts and energies follow the rows. */
static graze_status place_facts(graze_gpu *gpu, gpu_worlds *w) {
  const gpu_argument move[] = {GPU_BUFFER(&w->places), GPU_BUFFER(&w->facts), GPU_BUFFER(&w->dissipated),
                               GPU_BUFFER(&w->partners), GPU_VALUE(w->count)},
                     moved[] = {GPU_BUFFER(&w->partners), GPU_BUFFER(&w->facts), GPU_BUFFER(&w->dissipated),
                                GPU_VALUE(w->count)};
  graze_status status = gz_gpu_reserve(gpu, &w->partners, w->count * sizeof(uint64_t[2]));
  if (status == GRAZE_OK) status = launch(gpu, w, "world_move", move, 5);
  return status != GRAZE_OK ? status : launch(gpu, w, "world_moved", moved, 4);
}

/* Counts, and makes room. The counts are where places were, which all have found by now. */
static graze_status count_neighbors(graze_gpu *gpu, gpu_worlds *w) {
  const gpu_buffer *counts = &w->places;
  uint32_t found[FOUND_FIELDS];
  uint64_t total = 0;
  graze_status status = gz_gpu_reserve(gpu, &w->start, (w->count + (size_t)1) * sizeof(uint32_t));
  const gpu_argument count[] = {GPU_BUFFER(&w->frame),  GPU_BUFFER(&w->levels),        GPU_BUFFER(&w->walls),
                                GPU_BUFFER(&w->origin), GPU_BUFFER(&w->rows[w->side]), GPU_BUFFER(counts),
                                GPU_VALUE(w->count),    GPU_VALUE(w->level_count),     GPU_VALUE(w->wall_count)};
  if (status == GRAZE_OK) status = clear(gpu, w, counts, w->count);
  if (status == GRAZE_OK) status = launch(gpu, w, "world_count", count, 9);
  if (status == GRAZE_OK) status = gz_gpu_scan(gpu, &w->scratch, counts, &w->start, w->count);
  if (status == GRAZE_OK) status = gz_gpu_scan_total(gpu, &w->scratch, &total);
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, found, &w->found, 0, sizeof found);
  if (status != GRAZE_OK) return status;
  if (found[FOUND_FAR] != 0 || total >= (uint32_t)1 << 31) return GRAZE_ERROR_UNSUPPORTED;
  w->entries = (uint32_t)total;
  status = gz_gpu_reserve(gpu, &w->partners, (size_t)total * sizeof(uint32_t) + sizeof(uint32_t));
  if (status != GRAZE_OK || (w->features & FEATURE_REMEMBERS) == 0) return status;
  return gz_gpu_reserve(gpu, &w->kept, gpu_world_kept_bytes(w, total));
}

static graze_status fill_neighbors(graze_gpu *gpu, gpu_worlds *w) {
  const gpu_argument fill[] = {GPU_BUFFER(&w->frame),     GPU_BUFFER(&w->levels),        GPU_BUFFER(&w->walls),
                               GPU_BUFFER(&w->origin),    GPU_BUFFER(&w->rows[w->side]), GPU_BUFFER(&w->places),
                               GPU_BUFFER(&w->start),     GPU_BUFFER(&w->partners),      GPU_VALUE(w->count),
                               GPU_VALUE(w->level_count), GPU_VALUE(w->wall_count)};
  return launch(gpu, w, "world_fill", fill, 11);
}

static graze_status order_neighbors(graze_gpu *gpu, gpu_worlds *w) {
  const uint32_t most = gpu_world_most(w);
  uint32_t found[FOUND_FIELDS] = {0};
  graze_status status = gz_gpu_reserve(gpu, &w->large, (w->entries / ((size_t)most + 1) + 1) * sizeof(uint32_t));
  const gpu_argument sort[] = {GPU_BUFFER(&w->facts), GPU_BUFFER(&w->start), GPU_BUFFER(&w->partners),
                               GPU_BUFFER(&w->large), GPU_BUFFER(&w->found), GPU_VALUE(w->count),
                               GPU_VALUE(most)};
  if (status == GRAZE_OK) status = launch(gpu, w, "world_order", sort, 7);
  if (status == GRAZE_OK && most < w->entries) status = gz_gpu_read(gpu, found, &w->found, 0, sizeof found);
  w->large_count = found[FOUND_LARGE];
  return status;
}

static graze_status take_contacts(graze_gpu *gpu, gpu_worlds *w) {
  const gpu_argument take[] = {GPU_BUFFER(&w->facts), GPU_BUFFER(&w->start), GPU_BUFFER(&w->partners),
                               GPU_BUFFER(&w->kept),  GPU_BUFFER(&w->waits), GPU_BUFFER(&w->rows[1 - w->side]),
                               GPU_VALUE(w->count),   GPU_VALUE(w->features)};
  return (w->features & FEATURE_REMEMBERS) != 0 ? launch(gpu, w, "world_take", take, 8) : GRAZE_OK;
}

static graze_status mark_places(graze_gpu *gpu, gpu_worlds *w) {
  const gpu_argument mark[] = {GPU_BUFFER(&w->frame), GPU_BUFFER(&w->rows[w->side]), GPU_BUFFER(&w->origin),
                               GPU_VALUE(w->count)};
  return launch(gpu, w, "world_mark", mark, 4);
}

graze_status gz_gpu_world_list(graze_gpu *gpu, gpu_worlds *w) {
  graze_status (*const parts[])(graze_gpu *, gpu_worlds *) = {
      count_cells,   place_rows,      save_contacts,  gz_gpu_world_list_surfaces,
      place_facts,   count_neighbors, fill_neighbors, order_neighbors,
      take_contacts, mark_places};
  graze_status status = GRAZE_OK;
  for (size_t i = 0; i < sizeof parts / sizeof *parts && status == GRAZE_OK; i++) status = parts[i](gpu, w);
  w->is_listed = status == GRAZE_OK;
  w->lasted = w->age;
  w->age = 0;
  return status;
}
