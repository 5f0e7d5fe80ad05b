/* All pairs of spheres, on a device: bounds, a grid of centres in levels, sorted keys, then count, scan and write.
 * kernels/spheres.cl says how a pair is found. What the device is not sure of comes back marked, and is decided here,
 * exactly.
 *
 * Not the grid of boxes with a test of spheres behind it: a box is 24 bytes of floats and 32 more as sorted, a sphere
 * 16 and 16, and a grid of centres has 5 rows to look at where a grid of corners has 9. Memory: spheres as given, as
 * sorted, and 24 bytes for keys and their sorting, so 56 bytes a sphere of floats and 88 of doubles, 8 for counts and
 * their sums and 32 a pair, of at most 2^25 at a time; when pairs are only counted, none for pairs.
 */
#include "gpu/spheres.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "broad/pairs.h"
#include "broad/sphere_view.h"

enum {
  LEVELS = 16,    /* as in the kernels */
  AXIS_BITS = 19, /* most, of a cell's coordinate */
  GROUP = 256,
  WALK_GROUP = 128,
  SAMPLE = 512,
  UPLOAD = 1 << 20, /* spheres that are put side by side at a time */
  PIECE = 1 << 25,  /* spheres whose pairs are counted together, at most */
  SURE = 1,         /* kinds of pairs, as in the kernels */
  UNSURE = 2
};

static const double LIKE_SIZES = 2.5; /* 95th to 5th percentile: one level */
static const uint32_t MARK = 0x80000000u;

typedef struct sphere_plan {
  double low[3], inverse[LEVELS], reach[LEVELS]; /* as the kernels read them */
  uint32_t bits[3], levels, level_bits;
  uint32_t levels_used; /* bits */
} sphere_plan;

/* ---- the plan -------------------------------------------------------------------------------------------------- */

/* Sorted radii of some spheres; returns how many. */
static uint32_t sample_radii(const sphere_view *view, double radii[SAMPLE]) {
  uint32_t step = view->count / SAMPLE + 1, n = 0;
  for (uint32_t i = 0; i < view->count && n < SAMPLE; i += step) {
    double radius = sphere_at(view, i).radius;
    uint32_t place = n++;
    for (; place > 0 && radii[place - 1] > radius; place--) radii[place] = radii[place - 1];
    radii[place] = radius;
  }
  return n;
}

/* The finest reach: that of the largest sphere when they are alike, else of the small ones. */
static double finest_reach(const sphere_view *view, double largest, double world) {
  double radii[SAMPLE];
  uint32_t n = sample_radii(view, radii);
  double small = radii[n / 20], large = radii[n - 1 - n / 20];
  double reach = large <= LIKE_SIZES * small && largest <= LIKE_SIZES * large ? largest : radii[n / 10];
  return fmax(reach, world / (1 << AXIS_BITS)); /* half a cell: an axis has half as many cells as there are numbers */
}

/* bounds: low corner, high corner, largest radius. */
static void make_plan(const sphere_view *view, const double bounds[7], sphere_plan *plan) {
  double world = 0, extent[3], largest = bounds[6];
  *plan = (sphere_plan){.levels = 1, .levels_used = 1, .reach = {largest}};
  for (int k = 0; k < 3; k++) {
    plan->low[k] = bounds[k];
    extent[k] = bounds[k + 3] - bounds[k];
    world = fmax(world, extent[k]);
  }
  /* Too small or too large for cells: one cell, all with all. */
  if (!(world > 0x1p-1000) || world > 0x1p1020) return;
  double reach = finest_reach(view, largest, world);
  for (int k = 0; k < 3; k++) plan->bits[k] = gz_gpu_bits_for((uint64_t)(extent[k] / (2 * reach)) + 1);
  uint32_t level = 0;
  while (level < LEVELS - 1 && reach < largest) {
    plan->inverse[level] = 0.5 / reach;
    plan->reach[level++] = reach;
    reach *= 4;
  }
  plan->inverse[level] = 0.5 / fmax(reach, largest);
  plan->reach[level] = largest;
  plan->levels = level + 1;
  plan->level_bits = gz_gpu_bits_for(plan->levels);
}

/* ---- on the device --------------------------------------------------------------------------------------------- */

/* `size` bytes each, `stride` apart. */
static graze_status upload_numbers(graze_gpu *gpu, gpu_spheres *b, gpu_buffer *to, const char *from, size_t stride,
                                   size_t size, uint32_t count) {
  graze_status status = gz_gpu_reserve(gpu, to, count * size);
  if (status != GRAZE_OK || stride == size)
    return status != GRAZE_OK ? status : gz_gpu_write(gpu, to, 0, from, count * size);
  if (!gz_buffer_reserve(gpu->context, &b->staging, UPLOAD * size, 0))
    return gz_fail_memory(gpu->context, UPLOAD * size);
  for (uint32_t begin = 0, some = 0; begin < count && status == GRAZE_OK; begin += some) {
    some = count - begin < UPLOAD ? count - begin : UPLOAD;
    for (uint32_t i = 0; i < some; i++) {
      memcpy((char *)b->staging.data + i * size, from + (begin + i) * stride, size);
    }
    status = gz_gpu_write(gpu, to, begin * size, b->staging.data, some * size);
  }
  return status;
}

typedef struct sphere_call {
  const graze_context *context;
  gpu_spheres *b;
  const char *module;
  sphere_view view;
  sphere_plan plan;
  bool only_count;
  uint32_t kinds; /* of pairs that are listed */
  uint32_t doubt; /* 1: some pairs are not sure */
} sphere_call;

/* The box around the centres and the largest radius. ARGUMENT: one is no sphere. */
static graze_status find_bounds(graze_gpu *gpu, const sphere_call *c, double bounds[7]) {
  gpu_spheres *b = c->b;
  const uint32_t count = c->view.count;
  graze_status status = gz_gpu_bounds_reserve(gpu, &b->bounds, c->view.precision, count, 7);
  const gpu_argument arguments[] = {GPU_BUFFER(&b->centers), GPU_BUFFER(&b->radii), GPU_BUFFER(&b->bounds.keys),
                                    GPU_BUFFER(&b->bounds.bad), GPU_VALUE(count)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, c->module, "sphere_bounds", b->bounds.groups, arguments, 5);
  if (status == GRAZE_OK) status = gz_gpu_bounds_check(gpu, &b->bounds);
  return status != GRAZE_OK ? status : gz_gpu_bounds_read(gpu, &b->bounds, bounds);
}

static graze_status sort_spheres(graze_gpu *gpu, sphere_call *c) {
  gpu_spheres *b = c->b;
  sphere_plan *plan = &c->plan;
  double frame[3 + 2 * LEVELS];
  uint32_t count = c->view.count, groups = gpu_groups(count, GROUP);
  uint32_t bits = plan->bits[0] + plan->bits[1] + plan->bits[2] + plan->level_bits;
  memcpy(frame, plan->low, sizeof plan->low);
  memcpy(frame + 3, plan->inverse, sizeof plan->inverse);
  memcpy(frame + 3 + LEVELS, plan->reach, sizeof plan->reach);
  plan->levels_used = plan->levels == 1;
  graze_status status = gz_gpu_reserve(gpu, &b->frame, sizeof frame);
  if (status == GRAZE_OK) status = gz_gpu_write(gpu, &b->frame, 0, frame, sizeof frame);
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &b->levels, sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_write(gpu, &b->levels, 0, &plan->levels_used, sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &b->keys, count * sizeof(uint64_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &b->numbers, count * sizeof(uint32_t));
  if (status == GRAZE_OK) {
    status = gz_gpu_reserve(gpu, &b->sorted, count * (size_t)(c->view.precision == GRAZE_FLOAT ? 16 : 32));
  }
  const gpu_argument keys[] = {GPU_BUFFER(&b->centers),  GPU_BUFFER(&b->radii),    GPU_BUFFER(&b->frame),
                               GPU_BUFFER(&b->keys),     GPU_BUFFER(&b->numbers),  GPU_BUFFER(&b->levels),
                               GPU_VALUE(count),         GPU_VALUE(plan->bits[0]), GPU_VALUE(plan->bits[1]),
                               GPU_VALUE(plan->bits[2]), GPU_VALUE(plan->levels)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, c->module, "sphere_keys", groups, keys, 11);
  if (status == GRAZE_OK) {
    status = gz_gpu_sort(gpu, &b->scratch, &b->keys, &b->numbers, count, sizeof(uint64_t), bits);
  }
  const gpu_argument gather[] = {GPU_BUFFER(&b->centers), GPU_BUFFER(&b->radii), GPU_BUFFER(&b->numbers),
                                 GPU_BUFFER(&b->sorted), GPU_VALUE(count)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, c->module, "sphere_gather", groups, gather, 5);
  return status != GRAZE_OK ? status : gz_gpu_read(gpu, &plan->levels_used, &b->levels, 0, sizeof(uint32_t));
}

/* ---- what the device is not sure of ---------------------------------------------------------------------------- */

typedef struct sphere_decision {
  const sphere_view *view;
  graze_box_pair *pairs;
  bool all; /* decide all, not the marked ones only */
  pieces p;
  uint64_t kept[PARALLEL_PIECES];
} sphere_decision;

static void decide_piece(void *argument, uint32_t index) {
  sphere_decision *d = argument;
  graze_box_pair *pairs = d->pairs + pieces_begin(&d->p, index);
  uint64_t count = pieces_end(&d->p, index) - pieces_begin(&d->p, index), kept = 0;
  for (uint64_t i = 0; i < count; i++) {
    graze_box_pair pair = {pairs[i].a & ~MARK, pairs[i].b};
    bool keep = true;
    if (d->all || pair.a != pairs[i].a) {
      sphere p = sphere_at(d->view, pair.a), q = sphere_at(d->view, pair.b);
      keep = spheres_meet(&p, &q);
    }
    pairs[kept] = pair;
    kept += keep;
  }
  d->kept[index] = kept;
}

/* Keeps the pairs that meet, in their order; returns how many. */
static uint64_t decide(const graze_context *context, const sphere_view *view, graze_box_pair *pairs, uint64_t count,
                       bool all) {
  sphere_decision d = {.view = view, .pairs = pairs, .all = all, .p = pieces_of(count, 1024)};
  uint64_t kept = 0;
  gz_parallel_each(context, d.p.number, decide_piece, &d);
  for (uint32_t i = 0; i < d.p.number; i++) {
    memmove(pairs + kept, pairs + pieces_begin(&d.p, i), (size_t)d.kept[i] * sizeof *pairs);
    kept += d.kept[i];
  }
  return kept;
}

/* ---- pairs ----------------------------------------------------------------------------------------------------- */

enum { WALK_ARGUMENTS = 15 };

/* A kernel that walks from the spheres at places [begin, begin + some). */
static graze_status walk(graze_gpu *gpu, const sphere_call *c, const char *kernel, uint32_t begin, uint32_t some,
                         const gpu_buffer *flags, const gpu_argument *more, uint32_t more_count) {
  const gpu_spheres *b = c->b;
  const sphere_plan *plan = &c->plan;
  gpu_argument arguments[WALK_ARGUMENTS] = {
      GPU_BUFFER(&b->frame),    GPU_BUFFER(&b->keys),     GPU_BUFFER(&b->numbers),
      GPU_BUFFER(&b->sorted),   GPU_BUFFER(flags),        GPU_VALUE(begin),
      GPU_VALUE(some),          GPU_VALUE(c->view.count), GPU_VALUE(plan->levels_used),
      GPU_VALUE(plan->bits[0]), GPU_VALUE(plan->bits[1]), GPU_VALUE(plan->bits[2])};
  memcpy(arguments + 12, more, more_count * sizeof *more);
  return gz_gpu_run(gpu, c->module, kernel, gpu_groups(some, WALK_GROUP), arguments, 12 + more_count);
}

static graze_status count_pairs(graze_gpu *gpu, void *user, uint32_t begin, uint32_t some, const gpu_buffer *counts) {
  const sphere_call *c = user;
  const gpu_argument more[] = {GPU_BUFFER(counts), GPU_VALUE(c->kinds)};
  return walk(gpu, c, "sphere_count", begin, some, &c->b->doubt, more, 2);
}

static graze_status write_pairs(graze_gpu *gpu, void *user, uint32_t begin, uint32_t some, const gpu_buffer *places,
                                const gpu_buffer *packed) {
  sphere_call *c = user;
  const uint32_t pack = gz_gpu_bits_for(c->view.count);
  const gpu_argument more[] = {GPU_BUFFER(packed), GPU_VALUE(c->kinds), GPU_VALUE(pack)};
  graze_status status = walk(gpu, c, "sphere_write", begin, some, places, more, 3);
  return status != GRAZE_OK ? status : gz_gpu_read(gpu, &c->doubt, &c->b->doubt, 0, sizeof c->doubt);
}

/* Decides what is not sure; of pairs that are only counted nothing is left. */
static uint64_t keep_pairs(void *user, graze_box_pair *pairs, uint64_t count) {
  sphere_call *c = user;
  if (c->doubt == 0) return count;
  uint64_t kept = decide(c->context, &c->view, pairs, count, false);
  if (!c->only_count) return kept;
  c->b->found += kept;
  c->b->hash += pairs_hash(pairs, kept);
  return 0;
}

static graze_status list_pairs(graze_gpu *gpu, sphere_call *c, uint32_t kinds, bool unsorted) {
  const gpu_pair_work work = {.user = c,
                              .count = count_pairs,
                              .write = write_pairs,
                              .keep = keep_pairs,
                              .items = c->view.count,
                              .most = PIECE,
                              .pack = gz_gpu_bits_for(c->view.count),
                              .flags = 1,
                              .unsorted = unsorted};
  c->kinds = kinds;
  graze_status status = gz_gpu_pairs_find(gpu, &c->b->scratch, &c->b->list, &work);
  return status != GRAZE_OK ? status : gz_gpu_pairs_end(gpu, &c->b->list, unsorted);
}

/* Adds up what the groups found among the spheres at places [begin, begin + some). */
static graze_status sum_piece(graze_gpu *gpu, const sphere_call *c, uint32_t begin, uint32_t some) {
  gpu_spheres *b = c->b;
  uint32_t groups = gpu_groups(some, WALK_GROUP);
  size_t bytes = 2 * sizeof(uint64_t) * groups;
  if (!gz_buffer_reserve(gpu->context, &b->answer, bytes, 0)) return gz_fail_memory(gpu->context, bytes);
  graze_status status = gz_gpu_reserve(gpu, &b->sums, bytes);
  const gpu_argument more[] = {GPU_BUFFER(&b->sums)};
  if (status == GRAZE_OK) status = walk(gpu, c, "sphere_sum", begin, some, &b->doubt, more, 1);
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, b->answer.data, &b->sums, 0, bytes);
  const uint64_t *sums = b->answer.data;
  for (uint32_t g = 0; g < groups && status == GRAZE_OK; g++) {
    b->found += sums[2 * (size_t)g];
    b->hash += sums[2 * (size_t)g + 1];
  }
  return status;
}

/* The sure pairs are added up where they are found; of others there are few, if any, and these are listed. */
static graze_status sum_pairs(graze_gpu *gpu, sphere_call *c) {
  graze_status status = GRAZE_OK;
  double start = clock_now();
  for (uint32_t begin = 0, some = 0; begin < c->view.count && status == GRAZE_OK; begin += some) {
    some = c->view.count - begin < PIECE ? c->view.count - begin : PIECE;
    status = sum_piece(gpu, c, begin, some);
  }
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, &c->doubt, &c->b->doubt, 0, sizeof c->doubt);
  c->b->list.compute += clock_now() - start;
  return status != GRAZE_OK || c->doubt == 0 ? status : list_pairs(gpu, c, UNSURE, true);
}

graze_status gz_gpu_spheres_find(graze_gpu *gpu, gpu_spheres *b, const graze_sphere_array *spheres, uint32_t count,
                                 bool unsorted, bool only_count) {
  bool single = spheres->precision == GRAZE_FLOAT;
  sphere_call c = {.context = gpu->context,
                   .b = b,
                   .module = single ? "spheres32" : "spheres64",
                   .view = sphere_view_of(spheres, count),
                   .only_count = only_count};
  const size_t size = single ? sizeof(float) : sizeof(double);
  double bounds[7] = {0}, start = clock_now();
  gz_gpu_pairs_begin(&b->list);
  b->found = b->hash = 0;
  if (count == 0) return GRAZE_OK;
  graze_status status = upload_numbers(gpu, b, &b->centers, c.view.centers, c.view.center_stride, 3 * size, count);
  if (status == GRAZE_OK) {
    status = upload_numbers(gpu, b, &b->radii, c.view.radii, c.view.radius_stride, size, count);
  }
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &b->doubt, sizeof c.doubt);
  if (status == GRAZE_OK) status = gz_gpu_write(gpu, &b->doubt, 0, &c.doubt, sizeof c.doubt);
  double uploaded = clock_now();
  if (status == GRAZE_OK) status = find_bounds(gpu, &c, bounds);
  if (status == GRAZE_OK) make_plan(&c.view, bounds, &c.plan);
  if (status == GRAZE_OK) status = sort_spheres(gpu, &c);
  b->list.upload = uploaded - start;
  b->list.compute = clock_now() - uploaded;
  if (status != GRAZE_OK) return status;
  status = only_count ? sum_pairs(gpu, &c) : list_pairs(gpu, &c, SURE | UNSURE, unsorted);
  if (!only_count) b->found = b->list.found;
  return status;
}

/* ---- a device that is not exact -------------------------------------------------------------------------------- */

graze_status gz_gpu_spheres_find_by_boxes(graze_gpu *gpu, gpu_spheres *b, gpu_boxes *boxes,
                                          const graze_sphere_array *spheres, uint32_t count, bool unsorted) {
  const sphere_view view = sphere_view_of(spheres, count);
  size_t bytes = (spheres->precision == GRAZE_FLOAT ? 6 * sizeof(float) : 6 * sizeof(double)) * count;
  if (!gz_buffer_reserve(gpu->context, &b->boxes, bytes, 0)) return gz_fail_memory(gpu->context, bytes);
  for (uint32_t i = 0; i < count; i++) {
    sphere one = sphere_at(&view, i);
    if (!sphere_is_good(&one)) return GRAZE_ERROR_ARGUMENT;
    if (spheres->precision == GRAZE_FLOAT) {
      box_of_floats(&one, (float *)b->boxes.data + 6 * (size_t)i);
    } else {
      box_of_doubles(&one, (double *)b->boxes.data + 6 * (size_t)i);
    }
  }
  const graze_box_array array = {b->boxes.data, 0, spheres->precision};
  graze_status status = gz_gpu_boxes_find(gpu, boxes, &array, count, unsorted);
  if (status != GRAZE_OK) return status;
  gpu_pairs *list = &boxes->list;
  list->found = decide(gpu->context, &view, list->result.data, list->found, true);
  return GRAZE_OK;
}

void gz_gpu_spheres_release(graze_gpu *gpu, gpu_spheres *b) {
  gpu_buffer *all[] = {&b->centers, &b->radii,  &b->frame, &b->levels, &b->keys,
                       &b->numbers, &b->sorted, &b->doubt, &b->sums};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) gz_gpu_release(gpu, all[i]);
  gz_gpu_bounds_release(gpu, &b->bounds);
  gz_gpu_scratch_release(gpu, &b->scratch);
  gz_gpu_pairs_release(gpu, &b->list);
  buffer *memory[] = {&b->staging, &b->answer, &b->boxes};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) gz_buffer_release(gpu->context, memory[i]);
}
