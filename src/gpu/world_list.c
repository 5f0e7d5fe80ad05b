/* The neighbour list of a world on a device: keys, a sort, rows in their new order, cells, count, scan, fill and the
 * order of partners. What contacts remember comes from the list before. Launches: 6 or 7 and those of a sort and a
 * scan. */
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

static uint32_t key_bits(const gpu_worlds *w) {
  uint32_t bits = 1;
  while ((w->cells - 1) >> bits != 0) bits++;
  return bits;
}

static graze_status sort_balls(graze_gpu *gpu, gpu_worlds *w) {
  const uint32_t zero = 0;
  graze_status status = gz_gpu_reserve(gpu, &w->keys, w->count * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &w->order, w->count * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &w->far_away, sizeof zero);
  if (status == GRAZE_OK) status = gz_gpu_write(gpu, &w->far_away, 0, &zero, sizeof zero);
  const gpu_argument keys[] = {GPU_BUFFER(&w->frame), GPU_BUFFER(&w->levels),   GPU_BUFFER(&w->position[w->side]),
                               GPU_BUFFER(&w->keys),  GPU_BUFFER(&w->order),    GPU_BUFFER(&w->far_away),
                               GPU_VALUE(w->count),   GPU_VALUE(w->level_count)};
  if (status == GRAZE_OK)
    status = gz_gpu_run(gpu, gpu_world_list(w), "world_keys", gpu_groups(w->count, GROUP), keys, 8);
  if (status != GRAZE_OK) return status;
  return gz_gpu_sort(gpu, &w->scratch, &w->keys, &w->order, w->count, sizeof(uint32_t), key_bits(w));
}

/* From the one side to the other, rows and lists. */
static graze_status put_in_order(graze_gpu *gpu, gpu_worlds *w) {
  const uint32_t from = w->side, to = 1 - from, old = w->list_side, new = 1 - old;
  const gpu_argument gather[] = {
      GPU_BUFFER(&w->frame),           GPU_BUFFER(&w->order),        GPU_BUFFER(&w->position[from]),
      GPU_BUFFER(&w->velocity[from]),  GPU_BUFFER(&w->spin[from]),   GPU_BUFFER(&w->facts[old]),
      GPU_BUFFER(&w->dissipated[old]), GPU_BUFFER(&w->position[to]), GPU_BUFFER(&w->velocity[to]),
      GPU_BUFFER(&w->spin[to]),        GPU_BUFFER(&w->facts[new]),   GPU_BUFFER(&w->dissipated[new]),
      GPU_BUFFER(&w->origin),          GPU_VALUE(w->count)};
  w->side = to;
  w->list_side = new;
  return gz_gpu_run(gpu, gpu_world_list(w), "world_gather", gpu_groups(w->count, GROUP), gather, 14);
}

/* Counts, and makes room. The counts are where the sort has left nothing. */
static graze_status count_neighbors(graze_gpu *gpu, gpu_worlds *w) {
  const uint32_t groups = gpu_groups(w->count, GROUP), list = gpu_world_entries(w);
  const gpu_buffer *counts = &w->scratch.values;
  uint32_t far_away = 0;
  uint64_t total = 0;
  gpu_buffer *start = &w->start[list];
  graze_status status = gz_gpu_reserve(gpu, &w->begins, (w->cells + (size_t)1) * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &w->scratch.values, w->count * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, start, (w->count + (size_t)1) * sizeof(uint32_t));
  const gpu_argument find[] = {GPU_BUFFER(&w->keys), GPU_BUFFER(&w->begins), GPU_BUFFER(counts), GPU_VALUE(w->count),
                               GPU_VALUE(w->cells)},
                     count[] = {GPU_BUFFER(&w->frame),
                                GPU_BUFFER(&w->levels),
                                GPU_BUFFER(&w->walls),
                                GPU_BUFFER(&w->begins),
                                GPU_BUFFER(&w->position[w->side]),
                                GPU_BUFFER(&w->velocity[w->side]),
                                GPU_BUFFER(counts),
                                GPU_VALUE(w->count),
                                GPU_VALUE(w->level_count),
                                GPU_VALUE(w->wall_count)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, gpu_world_list(w), "world_cells", groups, find, 5);
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, gpu_world_list(w), "world_count", groups, count, 10);
  if (status == GRAZE_OK) status = gz_gpu_scan(gpu, &w->scratch, counts, start, w->count);
  if (status == GRAZE_OK) status = gz_gpu_scan_total(gpu, &w->scratch, &total);
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, &far_away, &w->far_away, 0, sizeof far_away);
  if (status != GRAZE_OK) return status;
  if (far_away != 0 || total >= (uint32_t)1 << 31) return GRAZE_ERROR_UNSUPPORTED;
  w->entries = (uint32_t)total;
  return gz_gpu_reserve(gpu, &w->partners[list], (size_t)total * sizeof(uint32_t) + sizeof(uint32_t));
}

static graze_status fill_neighbors(graze_gpu *gpu, gpu_worlds *w) {
  const uint32_t groups = gpu_groups(w->count, GROUP), list = gpu_world_entries(w);
  const gpu_argument fill[] = {GPU_BUFFER(&w->frame),
                               GPU_BUFFER(&w->levels),
                               GPU_BUFFER(&w->walls),
                               GPU_BUFFER(&w->begins),
                               GPU_BUFFER(&w->position[w->side]),
                               GPU_BUFFER(&w->velocity[w->side]),
                               GPU_BUFFER(&w->scratch.values),
                               GPU_BUFFER(&w->start[list]),
                               GPU_BUFFER(&w->partners[list]),
                               GPU_VALUE(w->count),
                               GPU_VALUE(w->level_count),
                               GPU_VALUE(w->wall_count)},
                     sort[] = {GPU_BUFFER(&w->facts[w->list_side]), GPU_BUFFER(&w->start[list]),
                               GPU_BUFFER(&w->partners[list]), GPU_VALUE(w->count)};
  const graze_status status = gz_gpu_run(gpu, gpu_world_list(w), "world_fill", groups, fill, 12);
  return status != GRAZE_OK ? status : gz_gpu_run(gpu, gpu_world_list(w), "world_order", groups, sort, 4);
}

static graze_status carry_memory(graze_gpu *gpu, gpu_worlds *w) {
  const uint32_t new = w->list_side, old = 1 - new, before = 1 - w->side;
  if ((w->features & FEATURE_REMEMBERS) == 0) return GRAZE_OK;
  const graze_status status = gz_gpu_reserve(gpu, &w->kept[new], gpu_world_kept_bytes(w, w->entries));
  const gpu_argument carry[] = {GPU_BUFFER(&w->frame),
                                GPU_BUFFER(&w->laws),
                                GPU_BUFFER(&w->kinds),
                                GPU_BUFFER(&w->walls),
                                GPU_BUFFER(&w->order),
                                GPU_BUFFER(&w->position[before]),
                                GPU_BUFFER(&w->velocity[before]),
                                GPU_BUFFER(&w->facts[old]),
                                GPU_BUFFER(&w->start[old]),
                                GPU_BUFFER(&w->partners[old]),
                                GPU_BUFFER(&w->kept[old]),
                                GPU_BUFFER(&w->facts[new]),
                                GPU_BUFFER(&w->start[new]),
                                GPU_BUFFER(&w->partners[new]),
                                GPU_BUFFER(&w->kept[new]),
                                GPU_BUFFER(&w->dissipated[new]),
                                GPU_BUFFER(&w->events),
                                GPU_BUFFER(&w->event_count),
                                GPU_VALUE(w->count),
                                GPU_VALUE(w->materials),
                                GPU_VALUE(w->features),
                                GPU_VALUE(w->event_room)};
  return status != GRAZE_OK ? status
                            : gz_gpu_run(gpu, gpu_world_list(w), "world_carry", gpu_groups(w->count, GROUP), carry, 22);
}

graze_status gz_gpu_world_list(graze_gpu *gpu, gpu_worlds *w) {
  graze_status status = sort_balls(gpu, w);
  if (status == GRAZE_OK) status = put_in_order(gpu, w);
  if (status == GRAZE_OK) status = count_neighbors(gpu, w);
  if (status == GRAZE_OK) status = fill_neighbors(gpu, w);
  if (status == GRAZE_OK) status = carry_memory(gpu, w);
  w->is_listed = status == GRAZE_OK;
  w->lasted = w->age;
  w->age = 0;
  return status;
}
