/* The neighbour list of a world on a device: keys, a sort, rows in their new order, cells, count, scan and fill. What
 * contacts remember comes from the list before. Launches: 9 or 10 and those of a sort and a scan. */
#include <math.h>

#include "gpu/kernels/world.h"
#include "gpu/pairs.h"
#include "gpu/worlds.h"

enum { GROUP = 64, LEAST_BITS = 2, MOST_BITS = 10, CELLS_A_BALL = 8 };

/* ---- the grid ---------------------------------------------------------------------------------------------------- */

/* An axis without a period has at least four cells, so that three of them are three. */
static uint32_t bits_of_axis(double cells) {
  uint32_t bits = LEAST_BITS;
  while (bits < MOST_BITS && (double)(1u << bits) < cells) bits++;
  return bits;
}

void gz_gpu_world_grid(gpu_worlds *w, const graze_world_def *def, const graze_box *box, double reach, double corner[3],
                       double inverse[3]) {
  const double edge = reach * (1 + 1e-6); /* more than roundings of places in cells */
  for (int k = 0; k < 3; k++) w->bits[k] = bits_of_axis((box->max[k] - box->min[k]) / edge + 1);
  while ((UINT64_C(1) << (w->bits[0] + w->bits[1] + w->bits[2])) > CELLS_A_BALL * (uint64_t)w->count + 64) {
    int most = 0;
    for (int k = 1; k < 3; k++) most = w->bits[k] > w->bits[most] ? k : most;
    w->bits[most]--;
  }
  for (int k = 0; k < 3; k++) {
    const double period = def->bounds.max[k] - def->bounds.min[k];
    corner[k] = def->periodic[k] ? def->bounds.min[k] : box->min[k];
    w->cells[k] = def->periodic[k] ? (uint32_t)fmin(period / edge, (double)(1u << w->bits[k])) : 0;
    inverse[k] = def->periodic[k] ? w->cells[k] / period : 1 / edge;
  }
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

#define GRID                                                                                                           \
  GPU_VALUE(w->bits[0]), GPU_VALUE(w->bits[1]), GPU_VALUE(w->bits[2]), GPU_VALUE(w->cells[0]), GPU_VALUE(w->cells[1]), \
      GPU_VALUE(w->cells[2])

static graze_status sort_balls(graze_gpu *gpu, gpu_worlds *w) {
  const uint32_t zero = 0, bits = w->bits[0] + w->bits[1] + w->bits[2];
  graze_status status = gz_gpu_reserve(gpu, &w->keys, w->count * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &w->order, w->count * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &w->far_away, sizeof zero);
  if (status == GRAZE_OK) status = gz_gpu_write(gpu, &w->far_away, 0, &zero, sizeof zero);
  const gpu_argument keys[] = {GPU_BUFFER(&w->frame),
                               GPU_BUFFER(&w->position[w->side]),
                               GPU_BUFFER(&w->keys),
                               GPU_BUFFER(&w->order),
                               GPU_BUFFER(&w->far_away),
                               GPU_VALUE(w->count),
                               GRID};
  if (status == GRAZE_OK)
    status = gz_gpu_run(gpu, gpu_world_list(w), "world_keys", gpu_groups(w->count, GROUP), keys, 12);
  if (status != GRAZE_OK) return status;
  return gz_gpu_sort(gpu, &w->scratch, &w->keys, &w->order, w->count, sizeof(uint32_t), bits);
}

/* From the one side to the other, rows and lists. */
static graze_status put_in_order(graze_gpu *gpu, gpu_worlds *w) {
  const uint32_t from = w->side, to = 1 - from, old = w->list_side, new = 1 - old;
  const gpu_argument gather[] = {
      GPU_BUFFER(&w->order),        GPU_BUFFER(&w->position[from]),  GPU_BUFFER(&w->velocity[from]),
      GPU_BUFFER(&w->spin[from]),   GPU_BUFFER(&w->facts[old]),      GPU_BUFFER(&w->dissipated[old]),
      GPU_BUFFER(&w->position[to]), GPU_BUFFER(&w->velocity[to]),    GPU_BUFFER(&w->spin[to]),
      GPU_BUFFER(&w->facts[new]),   GPU_BUFFER(&w->dissipated[new]), GPU_BUFFER(&w->origin),
      GPU_VALUE(w->count)};
  w->side = to;
  w->list_side = new;
  return gz_gpu_run(gpu, gpu_world_list(w), "world_gather", gpu_groups(w->count, GROUP), gather, 13);
}

/* Counts, and makes room. */
static graze_status count_neighbors(graze_gpu *gpu, gpu_worlds *w) {
  const uint32_t cells = 1u << (w->bits[0] + w->bits[1] + w->bits[2]), groups = gpu_groups(w->count, GROUP);
  uint32_t far_away = 0;
  uint64_t total = 0;
  gpu_buffer *start = &w->start[w->list_side];
  graze_status status = gz_gpu_reserve(gpu, &w->begins, (cells + (size_t)1) * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &w->counts, w->count * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, start, (w->count + (size_t)1) * sizeof(uint32_t));
  const gpu_argument find[] = {GPU_BUFFER(&w->keys), GPU_BUFFER(&w->begins), GPU_VALUE(w->count), GPU_VALUE(cells)},
                     count[] = {GPU_BUFFER(&w->frame),
                                GPU_BUFFER(&w->keys),
                                GPU_BUFFER(&w->begins),
                                GPU_BUFFER(&w->position[w->side]),
                                GPU_BUFFER(&w->velocity[w->side]),
                                GPU_BUFFER(&w->counts),
                                GPU_VALUE(w->count),
                                GRID};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, gpu_world_list(w), "world_cells", groups, find, 4);
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, gpu_world_list(w), "world_count", groups, count, 13);
  if (status == GRAZE_OK) status = gz_gpu_scan(gpu, &w->scratch, &w->counts, start, w->count);
  if (status == GRAZE_OK) status = gz_gpu_scan_total(gpu, &w->scratch, &total);
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, &far_away, &w->far_away, 0, sizeof far_away);
  if (status != GRAZE_OK) return status;
  if (far_away != 0 || total + (uint64_t)w->count * w->wall_count >= (uint32_t)1 << 31) return GRAZE_ERROR_UNSUPPORTED;
  w->entries[w->list_side] = (uint32_t)total;
  return gz_gpu_reserve(gpu, &w->partners[w->list_side], (size_t)total * sizeof(uint32_t) + sizeof(uint32_t));
}

static graze_status fill_neighbors(graze_gpu *gpu, gpu_worlds *w) {
  const gpu_argument fill[] = {GPU_BUFFER(&w->frame),
                               GPU_BUFFER(&w->keys),
                               GPU_BUFFER(&w->begins),
                               GPU_BUFFER(&w->position[w->side]),
                               GPU_BUFFER(&w->velocity[w->side]),
                               GPU_BUFFER(&w->facts[w->list_side]),
                               GPU_BUFFER(&w->start[w->list_side]),
                               GPU_BUFFER(&w->partners[w->list_side]),
                               GPU_VALUE(w->count),
                               GRID};
  return gz_gpu_run(gpu, gpu_world_list(w), "world_fill", gpu_groups(w->count, GROUP), fill, 15);
}

static graze_status carry_memory(graze_gpu *gpu, gpu_worlds *w) {
  const uint32_t new = w->list_side, old = 1 - new, before = 1 - w->side;
  const size_t rooms = w->entries[new] + (size_t)w->count * w->wall_count + 1;
  if ((w->features & FEATURE_REMEMBERS) == 0) return GRAZE_OK;
  graze_status status = gz_gpu_reserve(gpu, &w->touching[new], rooms * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &w->kept[new], rooms * KEPT_FIELDS * sizeof(double));
  const gpu_argument carry[] = {GPU_BUFFER(&w->frame),
                                GPU_BUFFER(&w->laws),
                                GPU_BUFFER(&w->walls),
                                GPU_BUFFER(&w->order),
                                GPU_BUFFER(&w->position[before]),
                                GPU_BUFFER(&w->velocity[before]),
                                GPU_BUFFER(&w->facts[old]),
                                GPU_BUFFER(&w->start[old]),
                                GPU_BUFFER(&w->partners[old]),
                                GPU_BUFFER(&w->touching[old]),
                                GPU_BUFFER(&w->kept[old]),
                                GPU_BUFFER(&w->facts[new]),
                                GPU_BUFFER(&w->start[new]),
                                GPU_BUFFER(&w->partners[new]),
                                GPU_BUFFER(&w->touching[new]),
                                GPU_BUFFER(&w->kept[new]),
                                GPU_BUFFER(&w->dissipated[new]),
                                GPU_BUFFER(&w->events),
                                GPU_BUFFER(&w->event_count),
                                GPU_VALUE(w->count),
                                GPU_VALUE(w->wall_count),
                                GPU_VALUE(w->materials),
                                GPU_VALUE(w->features),
                                GPU_VALUE(w->entries[old]),
                                GPU_VALUE(w->entries[new]),
                                GPU_VALUE(w->event_room)};
  return status != GRAZE_OK ? status
                            : gz_gpu_run(gpu, gpu_world_list(w), "world_carry", gpu_groups(w->count, GROUP), carry, 26);
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
