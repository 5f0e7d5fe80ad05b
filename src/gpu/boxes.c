/* All pairs of boxes, on a device: bounds, a grid in levels for them, sorted keys, then count, scan and write.
 * kernels/boxes.cl says how a pair is found. */
#include "gpu/boxes.h"

#include <math.h>
#include <string.h>

enum {
  LEVELS = 16,    /* as in the kernels */
  AXIS_BITS = 19, /* most, of a cell's coordinate */
  GROUP = 256,
  WALK_GROUP = 128,
  SAMPLE = 512,
  PIECE = 1 << 22 /* boxes whose pairs are counted together, at most */
};

static const double LIKE_SIZES = 2.5; /* 95th to 5th percentile: one level */

typedef struct grid_plan {
  double low[3], inverse[LEVELS];
  uint32_t bits[3], levels, level_bits;
  uint32_t levels_used; /* bits */
  uint32_t pack;        /* bits of a box's number */
} grid_plan;

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
  *plan = (grid_plan){.pack = gz_gpu_bits_for(count)};
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
    plan->bits[k] = gz_gpu_bits_for((uint64_t)(extent[k] / cell) + 1);
    if (plan->bits[k] > AXIS_BITS) plan->bits[k] = AXIS_BITS;
  }
  uint32_t level = 0;
  while (level < LEVELS - 1 && cell <= world) {
    plan->inverse[level++] = 1 / cell;
    cell *= 4;
  }
  plan->levels = level + 1; /* the last has one cell */
  plan->level_bits = gz_gpu_bits_for(plan->levels);
}

/* ---- on the device --------------------------------------------------------------------------------------------- */

static graze_status upload(graze_gpu *gpu, gpu_boxes *b, const graze_box_array *boxes, size_t stride, uint32_t count) {
  size_t size = boxes->precision == GRAZE_FLOAT ? 6 * sizeof(float) : 6 * sizeof(double);
  const void *source = boxes->data;
  if (stride != size) {
    if (!gz_buffer_reserve(gpu->context, &b->staging, count * size, 0))
      return gz_fail_memory(gpu->context, count * size);
    for (uint32_t i = 0; i < count; i++) {
      memcpy((char *)b->staging.data + i * size, (const char *)boxes->data + i * stride, size);
    }
    source = b->staging.data;
  }
  graze_status status = gz_gpu_reserve(gpu, &b->boxes, count * size);
  return status != GRAZE_OK ? status : gz_gpu_write(gpu, &b->boxes, 0, source, count * size);
}

/* The box around all. ARGUMENT: one is no box. */
static graze_status find_bounds(graze_gpu *gpu, gpu_boxes *b, const char *module, graze_precision precision,
                                uint32_t count, double bounds[6]) {
  graze_status status = gz_gpu_bounds_reserve(gpu, &b->bounds, precision, count, 6);
  const gpu_argument arguments[] = {GPU_BUFFER(&b->boxes), GPU_BUFFER(&b->bounds.keys), GPU_BUFFER(&b->bounds.bad),
                                    GPU_VALUE(count)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, module, "box_bounds", b->bounds.groups, arguments, 4);
  if (status == GRAZE_OK) status = gz_gpu_bounds_check(gpu, &b->bounds);
  return status != GRAZE_OK ? status : gz_gpu_bounds_read(gpu, &b->bounds, bounds);
}

static graze_status put_frame(graze_gpu *gpu, gpu_boxes *b, const grid_plan *plan, graze_precision precision) {
  double wide[3 + LEVELS];
  float narrow[3 + LEVELS];
  const uint32_t none = 0;
  memcpy(wide, plan->low, sizeof plan->low);
  memcpy(wide + 3, plan->inverse, sizeof plan->inverse);
  for (int i = 0; i < 3 + LEVELS; i++) narrow[i] = (float)wide[i];
  bool single = precision == GRAZE_FLOAT;
  graze_status status = gz_gpu_reserve(gpu, &b->frame, sizeof wide);
  if (status == GRAZE_OK) {
    status =
        gz_gpu_write(gpu, &b->frame, 0, single ? (const void *)narrow : wide, single ? sizeof narrow : sizeof wide);
  }
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &b->levels, sizeof none);
  return status != GRAZE_OK ? status : gz_gpu_write(gpu, &b->levels, 0, &none, sizeof none);
}

static graze_status sort_boxes(graze_gpu *gpu, gpu_boxes *b, const char *module, graze_precision precision,
                               uint32_t count, grid_plan *plan) {
  size_t sorted = (precision == GRAZE_FLOAT ? 8 * sizeof(uint32_t) : 7 * sizeof(uint64_t)) * count;
  uint32_t shift = plan->bits[0] + plan->bits[1] + plan->bits[2], groups = gpu_groups(count, GROUP);
  graze_status status = put_frame(gpu, b, plan, precision);
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &b->keys, count * sizeof(uint64_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &b->values, count * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &b->sorted, sorted);
  const gpu_argument keys[] = {GPU_BUFFER(&b->boxes),    GPU_BUFFER(&b->frame),    GPU_BUFFER(&b->keys),
                               GPU_BUFFER(&b->values),   GPU_BUFFER(&b->levels),   GPU_VALUE(count),
                               GPU_VALUE(plan->bits[0]), GPU_VALUE(plan->bits[1]), GPU_VALUE(plan->bits[2]),
                               GPU_VALUE(plan->levels)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, module, "box_keys", groups, keys, 10);
  if (status == GRAZE_OK) {
    status = gz_gpu_sort(gpu, &b->scratch, &b->keys, &b->values, count, sizeof(uint64_t), shift + plan->level_bits);
  }
  const gpu_argument gather[] = {GPU_BUFFER(&b->boxes),  GPU_BUFFER(&b->keys), GPU_BUFFER(&b->values),
                                 GPU_BUFFER(&b->sorted), GPU_VALUE(count),     GPU_VALUE(shift)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, module, "box_gather", groups, gather, 6);
  return status != GRAZE_OK ? status : gz_gpu_read(gpu, &plan->levels_used, &b->levels, 0, sizeof plan->levels_used);
}

/* ---- pairs ----------------------------------------------------------------------------------------------------- */

typedef struct walk {
  gpu_boxes *b;
  const char *module;
  const grid_plan *plan;
  uint32_t count;
} walk;

static graze_status count_pairs(graze_gpu *gpu, void *user, uint32_t begin, uint32_t some, const gpu_buffer *counts) {
  const walk *w = user;
  const gpu_boxes *b = w->b;
  const grid_plan *plan = w->plan;
  const gpu_argument arguments[] = {GPU_BUFFER(&b->boxes),    GPU_BUFFER(&b->frame),    GPU_BUFFER(&b->keys),
                                    GPU_BUFFER(&b->sorted),   GPU_BUFFER(counts),       GPU_VALUE(begin),
                                    GPU_VALUE(some),          GPU_VALUE(w->count),      GPU_VALUE(plan->levels_used),
                                    GPU_VALUE(plan->bits[0]), GPU_VALUE(plan->bits[1]), GPU_VALUE(plan->bits[2])};
  return gz_gpu_run(gpu, w->module, "box_count", gpu_groups(some, WALK_GROUP), arguments, 12);
}

static graze_status write_pairs(graze_gpu *gpu, void *user, uint32_t begin, uint32_t some, const gpu_buffer *places,
                                const gpu_buffer *packed) {
  const walk *w = user;
  const gpu_boxes *b = w->b;
  const grid_plan *plan = w->plan;
  const gpu_argument arguments[] = {
      GPU_BUFFER(&b->boxes),    GPU_BUFFER(&b->frame),        GPU_BUFFER(&b->keys),     GPU_BUFFER(&b->sorted),
      GPU_BUFFER(places),       GPU_BUFFER(packed),           GPU_VALUE(begin),         GPU_VALUE(some),
      GPU_VALUE(w->count),      GPU_VALUE(plan->levels_used), GPU_VALUE(plan->bits[0]), GPU_VALUE(plan->bits[1]),
      GPU_VALUE(plan->bits[2]), GPU_VALUE(plan->pack)};
  return gz_gpu_run(gpu, w->module, "box_write", gpu_groups(some, WALK_GROUP), arguments, 14);
}

/* Sends the boxes and finds the box around them. ARGUMENT: one is no box. */
graze_status gz_gpu_boxes_upload(graze_gpu *gpu, gpu_boxes *b, const graze_box_array *boxes, uint32_t count,
                                 double bounds[6]) {
  const char *module = boxes->precision == GRAZE_FLOAT ? "boxes32" : "boxes64";
  double start = clock_now();
  graze_status status = upload(gpu, b, boxes, gpu_box_stride(boxes), count);
  double uploaded = clock_now();
  b->list.upload = uploaded - start;
  if (status == GRAZE_OK) status = find_bounds(gpu, b, module, boxes->precision, count, bounds);
  b->list.compute += clock_now() - uploaded;
  return status;
}

graze_status gz_gpu_boxes_find(graze_gpu *gpu, gpu_boxes *b, const graze_box_array *boxes, uint32_t count,
                               bool unsorted) {
  const char *module = boxes->precision == GRAZE_FLOAT ? "boxes32" : "boxes64";
  double bounds[6] = {0};
  grid_plan plan;
  gz_gpu_pairs_begin(&b->list);
  if (count == 0) return GRAZE_OK;
  graze_status status = gz_gpu_boxes_upload(gpu, b, boxes, count, bounds);
  if (status != GRAZE_OK) return status;
  double start = clock_now();
  make_plan(boxes, gpu_box_stride(boxes), count, bounds, &plan);
  status = sort_boxes(gpu, b, module, boxes->precision, count, &plan);
  b->list.compute += clock_now() - start;
  walk w = {b, module, &plan, count};
  const gpu_pair_work work = {.user = &w,
                              .count = count_pairs,
                              .write = write_pairs,
                              .items = count,
                              .most = PIECE,
                              .pack = plan.pack,
                              .unsorted = unsorted};
  if (status == GRAZE_OK) status = gz_gpu_pairs_find(gpu, &b->scratch, &b->list, &work);
  return status != GRAZE_OK ? status : gz_gpu_pairs_end(gpu, &b->list, unsorted);
}

void gz_gpu_boxes_release(graze_gpu *gpu, gpu_boxes *b) {
  gpu_buffer *all[] = {&b->boxes, &b->frame, &b->keys, &b->values, &b->sorted, &b->levels};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) gz_gpu_release(gpu, all[i]);
  gz_gpu_bounds_release(gpu, &b->bounds);
  gz_gpu_scratch_release(gpu, &b->scratch);
  gz_gpu_pairs_release(gpu, &b->list);
  gz_buffer_release(gpu->context, &b->staging);
}
