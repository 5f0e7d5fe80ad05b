/* All pairs of boxes, on a device: bounds, a grid in levels for them, sorted keys, then count, scan and write. What is
 * written has its room before: no pair is ever cut off. kernels/boxes.cl says how a pair is found. */
#include "gpu/boxes.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/sort.h"

enum {
  LEVELS = 16,        /* as in the kernels */
  AXIS_BITS = 19,     /* most, of a cell's coordinate */
  BOUNDS_TILE = 4096, /* boxes of a group of box_bounds */
  GROUP = 256,
  WALK_GROUP = 128,
  SAMPLE = 512,
  PIECE = 1 << 22 /* boxes whose pairs are counted together, at most */
};

static const uint64_t MOST_PAIRS = 1u << 25; /* written together: some 32 bytes of memory each */
static const double LIKE_SIZES = 2.5;        /* 95th to 5th percentile: one level */

typedef struct grid_plan {
  double low[3], inverse[LEVELS];
  uint32_t bits[3], levels, level_bits;
  uint32_t levels_used; /* bits */
  uint32_t pack;        /* bits of a box's number */
} grid_plan;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t bits_for(uint64_t values) {
  uint32_t bits = 0;
  while (bits < 64 && (uint64_t)1 << bits < values) bits++;
  return bits;
}

/* ---- the plan -------------------------------------------------------------------------------------------------- */

static double number_at(const graze_box_array *boxes, size_t stride, uint32_t box, int which) {
  const char *at = (const char *)boxes->data + box * stride;
  if (boxes->precision == GRAZE_FLOAT) return (double)((const float *)(const void *)at)[which];
  return ((const double *)(const void *)at)[which];
}

/* Sorted longest edges of some boxes; returns how many. */
static uint32_t sample_edges(const graze_box_array *boxes, size_t stride, uint32_t count, double edges[SAMPLE]) {
  uint32_t step = count / SAMPLE + 1, n = 0;
  for (uint32_t i = 0; i < count && n < SAMPLE; i += step) {
    double edge = 0;
    for (int k = 0; k < 3; k++) {
      double e = number_at(boxes, stride, i, k + 3) - number_at(boxes, stride, i, k);
      edge = e > edge ? e : edge; /* one that is no box is found later */
    }
    uint32_t place = n++;
    for (; place > 0 && edges[place - 1] > edge; place--) edges[place] = edges[place - 1];
    edges[place] = edge;
  }
  return n;
}

/* The finest cell: of the size of the boxes when they are alike, else of the small ones. */
static double finest_cell(const graze_box_array *boxes, size_t stride, uint32_t count, double world) {
  double edges[SAMPLE];
  uint32_t n = sample_edges(boxes, stride, count, edges);
  double small = edges[n / 20], large = edges[n - 1 - n / 20];
  double cell = large <= LIKE_SIZES * small ? edges[n - 1] : edges[n / 10];
  cell *= 1.001; /* boxes of this very size must not fall into the next level by rounding */
  double least = world / (1 << AXIS_BITS) * 1.001;
  return cell > least ? cell : least;
}

/* Halves: a sum of two halves does not overflow where a difference might. */
static void make_plan(const graze_box_array *boxes, size_t stride, uint32_t count, const double bounds[6],
                      grid_plan *plan) {
  double world = 0, extent[3];
  *plan = (grid_plan){.pack = bits_for(count)};
  for (int k = 0; k < 3; k++) {
    plan->low[k] = bounds[k];
    extent[k] = bounds[k + 3] - bounds[k];
    world = fmax(world, extent[k]);
  }
  double largest = boxes->precision == GRAZE_FLOAT ? 0x1p126 : 0x1p1022;
  double least = boxes->precision == GRAZE_FLOAT ? 0x1p-120 : 0x1p-1000;
  if (!(world > least) || world > largest) { /* too small or too large for cells: one cell, all with all */
    plan->levels = 1;
    return;
  }
  double cell = finest_cell(boxes, stride, count, world);
  for (int k = 0; k < 3; k++) {
    plan->bits[k] = bits_for((uint64_t)(extent[k] / cell) + 1);
    if (plan->bits[k] > AXIS_BITS) plan->bits[k] = AXIS_BITS;
  }
  uint32_t level = 0;
  while (level < LEVELS - 1 && cell <= world) {
    plan->inverse[level++] = 1 / cell;
    cell *= 4;
  }
  plan->levels = level + 1; /* the last has one cell */
  plan->level_bits = bits_for(plan->levels);
}

/* ---- on the device --------------------------------------------------------------------------------------------- */

static size_t stride_of(const graze_box_array *boxes) {
  return boxes->stride != 0 ? boxes->stride : 6 * (boxes->precision == GRAZE_FLOAT ? sizeof(float) : sizeof(double));
}

graze_status gpu_boxes_upload(graze_gpu *gpu, gpu_boxes *b, const graze_box_array *boxes, uint32_t count) {
  size_t size = boxes->precision == GRAZE_FLOAT ? 6 * sizeof(float) : 6 * sizeof(double), stride = stride_of(boxes);
  const void *source = boxes->data;
  double start = now();
  b->found = 0;
  b->upload = b->compute = b->download = 0;
  if (stride != size) {
    if (!buffer_reserve(gpu->context, &b->staging, count * size, 0)) return report_memory(gpu->context, count * size);
    for (uint32_t i = 0; i < count; i++) {
      memcpy((char *)b->staging.data + i * size, (const char *)boxes->data + i * stride, size);
    }
    source = b->staging.data;
  }
  graze_status status = gpu_reserve(gpu, &b->boxes, count * size);
  if (status == GRAZE_OK) status = gpu_write(gpu, &b->boxes, 0, source, count * size);
  b->upload = now() - start;
  return status;
}

/* The number that the kernels' `ordered` made this of. */
static double number_of(uint64_t key, graze_precision precision) {
  if (precision == GRAZE_FLOAT) {
    uint32_t bits = (uint32_t)key;
    bits = (bits & 0x80000000u) != 0 ? bits & 0x7FFFFFFFu : ~bits;
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
  }
  uint64_t bits = (key >> 63) != 0 ? key & 0x7FFFFFFFFFFFFFFFu : ~key;
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static uint64_t key_at(const void *keys, size_t i, graze_precision precision) {
  return precision == GRAZE_FLOAT ? ((const uint32_t *)keys)[i] : ((const uint64_t *)keys)[i];
}

/* The box around all. ARGUMENT: one is no box. */
static graze_status find_bounds(graze_gpu *gpu, gpu_boxes *b, const char *module, graze_precision precision,
                                uint32_t count, double bounds[6]) {
  size_t size = precision == GRAZE_FLOAT ? sizeof(uint32_t) : sizeof(uint64_t);
  uint32_t groups = gpu_groups(count, BOUNDS_TILE);
  size_t bytes = 6 * groups * size;
  if (!buffer_reserve(gpu->context, &b->answer, bytes + groups * sizeof(uint32_t), 0)) {
    return report_memory(gpu->context, bytes + groups * sizeof(uint32_t));
  }
  uint32_t *bad = (uint32_t *)(void *)((char *)b->answer.data + bytes);
  graze_status status = gpu_reserve(gpu, &b->bounds, bytes);
  if (status == GRAZE_OK) status = gpu_reserve(gpu, &b->bad, groups * sizeof(uint32_t));
  const gpu_argument arguments[] = {GPU_BUFFER(&b->boxes), GPU_BUFFER(&b->bounds), GPU_BUFFER(&b->bad),
                                    GPU_VALUE(count)};
  if (status == GRAZE_OK) status = gpu_run(gpu, module, "box_bounds", groups, arguments, 4);
  if (status == GRAZE_OK) status = gpu_read(gpu, b->answer.data, &b->bounds, 0, bytes);
  if (status == GRAZE_OK) status = gpu_read(gpu, bad, &b->bad, 0, groups * sizeof(uint32_t));
  if (status != GRAZE_OK) return status;
  for (uint32_t g = 0; g < groups; g++) {
    if (bad[g] != UINT32_MAX) return GRAZE_ERROR_ARGUMENT;
    for (int k = 0; k < 6; k++) {
      double x = number_of(key_at(b->answer.data, 6 * (size_t)g + (size_t)k, precision), precision);
      if (g == 0 || (k < 3 ? x < bounds[k] : x > bounds[k])) bounds[k] = x;
    }
  }
  return GRAZE_OK;
}

static graze_status put_frame(graze_gpu *gpu, gpu_boxes *b, const grid_plan *plan, graze_precision precision) {
  double wide[3 + LEVELS];
  float narrow[3 + LEVELS];
  const uint32_t none = 0;
  memcpy(wide, plan->low, sizeof plan->low);
  memcpy(wide + 3, plan->inverse, sizeof plan->inverse);
  for (int i = 0; i < 3 + LEVELS; i++) narrow[i] = (float)wide[i];
  bool single = precision == GRAZE_FLOAT;
  graze_status status = gpu_reserve(gpu, &b->frame, sizeof wide);
  if (status == GRAZE_OK) {
    status = gpu_write(gpu, &b->frame, 0, single ? (const void *)narrow : wide, single ? sizeof narrow : sizeof wide);
  }
  if (status == GRAZE_OK) status = gpu_reserve(gpu, &b->levels, sizeof none);
  return status != GRAZE_OK ? status : gpu_write(gpu, &b->levels, 0, &none, sizeof none);
}

static graze_status sort_boxes(graze_gpu *gpu, gpu_boxes *b, const char *module, graze_precision precision,
                               uint32_t count, grid_plan *plan) {
  size_t sorted = (precision == GRAZE_FLOAT ? 8 * sizeof(uint32_t) : 7 * sizeof(uint64_t)) * count;
  uint32_t shift = plan->bits[0] + plan->bits[1] + plan->bits[2], groups = gpu_groups(count, GROUP);
  graze_status status = put_frame(gpu, b, plan, precision);
  if (status == GRAZE_OK) status = gpu_reserve(gpu, &b->keys, count * sizeof(uint64_t));
  if (status == GRAZE_OK) status = gpu_reserve(gpu, &b->values, count * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gpu_reserve(gpu, &b->sorted, sorted);
  const gpu_argument keys[] = {GPU_BUFFER(&b->boxes),    GPU_BUFFER(&b->frame),    GPU_BUFFER(&b->keys),
                               GPU_BUFFER(&b->values),   GPU_BUFFER(&b->levels),   GPU_VALUE(count),
                               GPU_VALUE(plan->bits[0]), GPU_VALUE(plan->bits[1]), GPU_VALUE(plan->bits[2]),
                               GPU_VALUE(plan->levels)};
  if (status == GRAZE_OK) status = gpu_run(gpu, module, "box_keys", groups, keys, 10);
  if (status == GRAZE_OK) {
    status = gpu_sort(gpu, &b->scratch, &b->keys, &b->values, count, sizeof(uint64_t), shift + plan->level_bits);
  }
  const gpu_argument gather[] = {GPU_BUFFER(&b->boxes),  GPU_BUFFER(&b->keys), GPU_BUFFER(&b->values),
                                 GPU_BUFFER(&b->sorted), GPU_VALUE(count),     GPU_VALUE(shift)};
  if (status == GRAZE_OK) status = gpu_run(gpu, module, "box_gather", groups, gather, 6);
  return status != GRAZE_OK ? status : gpu_read(gpu, &plan->levels_used, &b->levels, 0, sizeof plan->levels_used);
}

/* ---- pairs ----------------------------------------------------------------------------------------------------- */

typedef struct walk {
  const char *module;
  const grid_plan *plan;
  uint32_t count;
  bool unsorted;
} walk;

static graze_status count_pairs(graze_gpu *gpu, gpu_boxes *b, const walk *w, uint32_t begin, uint32_t some,
                                uint64_t *total) {
  const grid_plan *plan = w->plan;
  graze_status status = gpu_reserve(gpu, &b->counts, some * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gpu_reserve(gpu, &b->places, (some + (size_t)1) * sizeof(uint32_t));
  const gpu_argument arguments[] = {GPU_BUFFER(&b->boxes),    GPU_BUFFER(&b->frame),    GPU_BUFFER(&b->keys),
                                    GPU_BUFFER(&b->sorted),   GPU_BUFFER(&b->counts),   GPU_VALUE(begin),
                                    GPU_VALUE(some),          GPU_VALUE(w->count),      GPU_VALUE(plan->levels_used),
                                    GPU_VALUE(plan->bits[0]), GPU_VALUE(plan->bits[1]), GPU_VALUE(plan->bits[2])};
  if (status == GRAZE_OK) status = gpu_run(gpu, w->module, "box_count", gpu_groups(some, WALK_GROUP), arguments, 12);
  if (status == GRAZE_OK) status = gpu_scan(gpu, &b->scratch, &b->counts, &b->places, some);
  return status != GRAZE_OK ? status : gpu_scan_total(gpu, &b->scratch, total);
}

static graze_status write_pairs(graze_gpu *gpu, gpu_boxes *b, const walk *w, uint32_t begin, uint32_t some,
                                uint32_t total) {
  const grid_plan *plan = w->plan;
  graze_status status = gpu_reserve(gpu, &b->packed, total * sizeof(uint64_t));
  const gpu_argument write[] = {
      GPU_BUFFER(&b->boxes),    GPU_BUFFER(&b->frame),        GPU_BUFFER(&b->keys),     GPU_BUFFER(&b->sorted),
      GPU_BUFFER(&b->places),   GPU_BUFFER(&b->packed),       GPU_VALUE(begin),         GPU_VALUE(some),
      GPU_VALUE(w->count),      GPU_VALUE(plan->levels_used), GPU_VALUE(plan->bits[0]), GPU_VALUE(plan->bits[1]),
      GPU_VALUE(plan->bits[2]), GPU_VALUE(plan->pack)};
  return status != GRAZE_OK ? status : gpu_run(gpu, w->module, "box_write", gpu_groups(some, WALK_GROUP), write, 14);
}

static graze_status unpack_pairs(graze_gpu *gpu, gpu_boxes *b, const char *module, uint32_t total, uint32_t pack,
                                 bool unsorted) {
  graze_status status = gpu_reserve(gpu, &b->pairs, total * sizeof(graze_box_pair));
  if (status == GRAZE_OK && !unsorted) {
    status = gpu_reserve(gpu, &b->unused, total * sizeof(uint32_t));
    if (status == GRAZE_OK) {
      status = gpu_sort(gpu, &b->scratch, &b->packed, &b->unused, total, sizeof(uint64_t), 2 * pack);
    }
  }
  const gpu_argument arguments[] = {GPU_BUFFER(&b->packed), GPU_BUFFER(&b->pairs), GPU_VALUE(total), GPU_VALUE(pack)};
  return status != GRAZE_OK ? status : gpu_run(gpu, module, "box_unpack", gpu_groups(total, GROUP), arguments, 4);
}

graze_status gpu_boxes_take(graze_gpu *gpu, gpu_boxes *b, const char *module, uint32_t total, uint32_t pack,
                            bool unsorted) {
  size_t had = b->found * sizeof(graze_box_pair), more = total * sizeof(graze_box_pair);
  if (!buffer_reserve(gpu->context, &b->result, had + more, had)) return report_memory(gpu->context, had + more);
  double start = now();
  graze_status status = unpack_pairs(gpu, b, module, total, pack, unsorted);
  if (status == GRAZE_OK) status = gpu_finish(gpu);
  double unpacked = now();
  if (status == GRAZE_OK) status = gpu_read(gpu, (char *)b->result.data + had, &b->pairs, 0, more);
  b->compute += unpacked - start;
  b->download += now() - unpacked;
  if (status == GRAZE_OK) b->found += total;
  return status;
}

/* Pairs of the boxes at places [begin, begin + some), halved until what they give has room. */
static graze_status find_piece(graze_gpu *gpu, gpu_boxes *b, const walk *w, uint32_t begin, uint32_t some) {
  uint64_t total;
  double start = now();
  graze_status status = count_pairs(gpu, b, w, begin, some, &total);
  b->compute += now() - start;
  if (status != GRAZE_OK || total == 0) return status;
  if (total > MOST_PAIRS && some > 1) {
    status = find_piece(gpu, b, w, begin, some / 2);
    return status != GRAZE_OK ? status : find_piece(gpu, b, w, begin + some / 2, some - some / 2);
  }
  start = now();
  status = write_pairs(gpu, b, w, begin, some, (uint32_t)total);
  b->compute += now() - start;
  return status != GRAZE_OK ? status : gpu_boxes_take(gpu, b, w->module, (uint32_t)total, w->plan->pack, w->unsorted);
}

graze_status gpu_boxes_sort(graze_gpu *gpu, gpu_boxes *b) {
  size_t bytes = 2 * b->found * sizeof(uint64_t);
  graze_box_pair *pairs = b->result.data;
  if (!buffer_reserve(gpu->context, &b->sort_room, bytes, 0)) return report_memory(gpu->context, bytes);
  uint64_t *keys = b->sort_room.data;
  for (uint64_t i = 0; i < b->found; i++) keys[i] = (uint64_t)pairs[i].a << 32 | pairs[i].b;
  sort_keys(keys, keys + b->found, b->found);
  for (uint64_t i = 0; i < b->found; i++) pairs[i] = (graze_box_pair){(uint32_t)(keys[i] >> 32), (uint32_t)keys[i]};
  return GRAZE_OK;
}

graze_status gpu_boxes_find(graze_gpu *gpu, gpu_boxes *b, const graze_box_array *boxes, uint32_t count, bool unsorted) {
  const char *module = boxes->precision == GRAZE_FLOAT ? "boxes32" : "boxes64";
  double bounds[6] = {0};
  grid_plan plan;
  graze_status status = gpu_boxes_upload(gpu, b, boxes, count);
  if (status != GRAZE_OK || count == 0) return status;
  double uploaded = now();
  status = find_bounds(gpu, b, module, boxes->precision, count, bounds);
  if (status != GRAZE_OK) return status;
  make_plan(boxes, stride_of(boxes), count, bounds, &plan);
  status = sort_boxes(gpu, b, module, boxes->precision, count, &plan);
  b->compute = now() - uploaded;
  const walk w = {module, &plan, count, unsorted};
  uint32_t pieces = 0;
  for (uint32_t begin = 0; begin < count && status == GRAZE_OK; begin += PIECE, pieces++) {
    uint64_t before = b->found;
    status = find_piece(gpu, b, &w, begin, count - begin < PIECE ? count - begin : PIECE);
    if (b->found - before > MOST_PAIRS) pieces++; /* it was halved */
  }
  if (status == GRAZE_OK && !unsorted && pieces > 1) status = gpu_boxes_sort(gpu, b);
  return status;
}

void gpu_boxes_release(graze_gpu *gpu, gpu_boxes *b) {
  gpu_buffer *all[] = {&b->boxes,  &b->frame,  &b->bounds, &b->bad,    &b->keys,   &b->values, &b->sorted,
                       &b->levels, &b->counts, &b->places, &b->packed, &b->unused, &b->pairs};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) gpu_release(gpu, all[i]);
  gpu_scratch_release(gpu, &b->scratch);
  buffer *memory[] = {&b->staging, &b->answer, &b->result, &b->sort_room};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) buffer_release(gpu->context, memory[i]);
}
