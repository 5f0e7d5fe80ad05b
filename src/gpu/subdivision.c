/* Parallel spatial subdivision on a device, stage by stage as in broad/subdivision.c, whose head says why it is right
 * and why boxes are dealt out to classes; kernels/subdivision.cl says what is another way here.
 *
 * Ids have 31 bits and one for cells that are not there; where the world has more cells, cells are larger, which costs
 * tests and loses nothing. Boxes so unlike in place that a cell of the right size has a thousand and more of them are
 * not for this method: the tests of a class are counted before they are made. O(c (n + t)) for c classes and t tests.
 * Memory: 260 bytes a box for entries, their sorting and their runs, and some 100 for box, object, sphere and cell.
 */
#include "gpu/subdivision.h"

#include <math.h>
#include <string.h>

enum {
  CLASSES = 8,
  ID_BITS = 31,
  GROUP = 256,
  WALK_GROUP = 128,
  PIECE = 1 << 22, /* objects whose pairs are counted together, at most */
  CROWD = 1024     /* tests a box that are too many */
};

static const double MOST_CELLS = 0x1p20; /* an axis */
static const double SLACK = 0x1p-30;     /* as in the kernels */

typedef struct find_call {
  const char *module;
  const gpu_buffer *boxes;
  uint32_t count, pack;
  bool dealt; /* s->order is filled */
  bool unsorted;
} find_call;

/* ---- spheres --------------------------------------------------------------------------------------------------- */

typedef struct sphere_bounds {
  double low[3], high[3], radius;
} sphere_bounds;

/* Makes the spheres of the objects from s->begin on. */
static graze_status make_spheres(graze_gpu *gpu, gpu_subdivision *s, const find_call *f, uint32_t dimensions,
                                 sphere_bounds *bounds) {
  const uint32_t dealt = f->dealt;
  double ends[7] = {0};
  graze_status status = gz_gpu_bounds_reserve(gpu, &s->bounds, GRAZE_DOUBLE, s->count, 7);
  const gpu_argument arguments[] = {
      GPU_BUFFER(f->boxes), GPU_BUFFER(&s->order), GPU_BUFFER(&s->spheres), GPU_BUFFER(&s->bounds.keys),
      GPU_VALUE(s->begin),  GPU_VALUE(s->count),   GPU_VALUE(dealt),        GPU_VALUE(s->axis),
      GPU_VALUE(dimensions)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, f->module, "sub_spheres", s->bounds.groups, arguments, 9);
  if (status == GRAZE_OK) status = gz_gpu_bounds_read(gpu, &s->bounds, ends);
  *bounds = (sphere_bounds){{ends[0], ends[1], ends[2]}, {ends[3], ends[4], ends[5]}, ends[6]};
  return status;
}

/* Puts the objects in the order of their classes, the largest first: `starts` gets where classes begin. */
static graze_status deal_to_classes(graze_gpu *gpu, gpu_subdivision *s, find_call *f, uint32_t starts[CLASSES + 1],
                                    uint32_t *classes) {
  const uint32_t last = CLASSES - 1, groups = gpu_groups(f->count, GROUP);
  sphere_bounds bounds;
  s->begin = 0;
  s->count = f->count;
  s->axis = 0;
  graze_status status = make_spheres(gpu, s, f, 3, &bounds);
  const gpu_argument arguments[] = {GPU_BUFFER(&s->spheres), GPU_BUFFER(&s->classes),  GPU_BUFFER(&s->order),
                                    GPU_VALUE(f->count),     GPU_VALUE(bounds.radius), GPU_VALUE(last)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, f->module, "sub_classes", groups, arguments, 6);
  if (status == GRAZE_OK) {
    status =
        gz_gpu_sort(gpu, &s->scratch, &s->classes, &s->order, f->count, sizeof(uint32_t), gz_gpu_bits_for(CLASSES));
  }
  if (status == GRAZE_OK) status = gz_gpu_runs(gpu, &s->scratch, &s->classes, f->count, &s->starts, classes);
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, starts, &s->starts, 0, *classes * sizeof *starts);
  const gpu_argument gather[] = {GPU_BUFFER(f->boxes), GPU_BUFFER(&s->order), GPU_BUFFER(&s->objects),
                                 GPU_VALUE(f->count)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, f->module, "sub_gather", groups, gather, 4);
  if (status != GRAZE_OK) return status;
  starts[*classes] = f->count;
  f->dealt = true;
  return GRAZE_OK;
}

/* ---- the grid -------------------------------------------------------------------------------------------------- */

static void number_cells(subdivision_grid *grid, const sphere_bounds *bounds) {
  grid->bits = 0;
  for (int k = 0; k < grid->dimensions; k++) {
    grid->shift[k] = grid->bits;
    /* A cell more on each side, for phantoms. */
    uint32_t cells = (uint32_t)((bounds->high[k] - bounds->low[k]) / grid->cell) + 3;
    while (cells >> (grid->bits - grid->shift[k]) != 0) grid->bits++;
  }
}

/* As gz_subdivision_grid_of, with cells as large as ids need. */
static subdivision_grid grid_of(int dimensions, const sphere_bounds *bounds) {
  subdivision_grid grid = {.scale = SUBDIVISION_SCALE, .dimensions = dimensions};
  grid.cell = SUBDIVISION_CELL * (2 * grid.scale * bounds->radius) * (1 + SLACK);
  for (int k = 0; k < dimensions; k++) {
    grid.origin[k] = bounds->low[k];
    grid.cell = fmax(grid.cell, (bounds->high[k] - bounds->low[k]) / MOST_CELLS);
  }
  for (number_cells(&grid, bounds); grid.bits > ID_BITS; number_cells(&grid, bounds)) grid.cell *= 1.25;
  return grid;
}

/* Without the thinnest axis when the world is no thicker there than a cell. */
static graze_status choose_grid(graze_gpu *gpu, gpu_subdivision *s, const find_call *f) {
  sphere_bounds bounds;
  s->axis = 0;
  graze_status status = make_spheres(gpu, s, f, 3, &bounds);
  if (status != GRAZE_OK) return status;
  s->grid = grid_of(3, &bounds);
  double thickness[3];
  uint32_t thin = 0;
  for (uint32_t k = 0; k < 3; k++) {
    thickness[k] = bounds.high[k] - bounds.low[k];
    thin = thickness[k] < thickness[thin] ? k : thin;
  }
  if (thickness[thin] > s->grid.cell) return GRAZE_OK;
  s->axis = (thin + 1) % 3;
  status = make_spheres(gpu, s, f, 2, &bounds);
  if (status == GRAZE_OK) s->grid = grid_of(2, &bounds);
  return status;
}

/* ---- entries and cells ----------------------------------------------------------------------------------------- */

/* Entries, sorted by cell. */
static graze_status sort_entries(graze_gpu *gpu, gpu_subdivision *s, const find_call *f) {
  const subdivision_grid *grid = &s->grid;
  const double frame[5] = {grid->origin[0], grid->origin[1], grid->origin[2], grid->cell, grid->scale};
  s->entry_count = s->count << grid->dimensions;
  graze_status status = gz_gpu_reserve(gpu, &s->frame, sizeof frame);
  if (status == GRAZE_OK) status = gz_gpu_write(gpu, &s->frame, 0, frame, sizeof frame);
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &s->ids, s->entry_count * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &s->entries, s->entry_count * sizeof(uint32_t));
  const gpu_argument mark[] = {GPU_BUFFER(&s->spheres),   GPU_BUFFER(&s->frame),     GPU_BUFFER(&s->ids),
                               GPU_BUFFER(&s->entries),   GPU_BUFFER(&s->objects),   GPU_VALUE(s->begin),
                               GPU_VALUE(s->count),       GPU_VALUE(grid->shift[0]), GPU_VALUE(grid->shift[1]),
                               GPU_VALUE(grid->shift[2]), GPU_VALUE(grid->bits),     GPU_VALUE(grid->dimensions)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, f->module, "sub_mark", gpu_groups(s->count, GROUP), mark, 12);
  if (status != GRAZE_OK) return status;
  return gz_gpu_sort(gpu, &s->scratch, &s->ids, &s->entries, s->entry_count, sizeof(uint32_t), grid->bits + 1);
}

/* The runs of entries that are cells with pairs: s->chosen, by type. */
static graze_status choose_cells(graze_gpu *gpu, gpu_subdivision *s, const find_call *f) {
  const subdivision_grid *grid = &s->grid;
  graze_status status = gz_gpu_runs(gpu, &s->scratch, &s->ids, s->entry_count, &s->starts, &s->runs);
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &s->marks, s->runs * sizeof(uint32_t));
  const gpu_argument list[] = {GPU_BUFFER(&s->ids),       GPU_BUFFER(&s->entries),    GPU_BUFFER(&s->objects),
                               GPU_BUFFER(&s->starts),    GPU_BUFFER(&s->marks),      GPU_VALUE(s->begin),
                               GPU_VALUE(s->runs),        GPU_VALUE(s->entry_count),  GPU_VALUE(s->large),
                               GPU_VALUE(grid->shift[0]), GPU_VALUE(grid->shift[1]),  GPU_VALUE(grid->shift[2]),
                               GPU_VALUE(grid->bits),     GPU_VALUE(grid->dimensions)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, f->module, "sub_list", gpu_groups(s->runs, GROUP), list, 14);
  if (status == GRAZE_OK) status = gz_gpu_compact(gpu, &s->scratch, &s->marks, s->runs, &s->chosen, &s->cell_count);
  if (status != GRAZE_OK || s->cell_count == 0) return status;
  status = gz_gpu_reserve(gpu, &s->types, s->cell_count * sizeof(uint32_t));
  const gpu_argument types[] = {GPU_BUFFER(&s->ids),       GPU_BUFFER(&s->starts),    GPU_BUFFER(&s->chosen),
                                GPU_BUFFER(&s->types),     GPU_VALUE(s->cell_count),  GPU_VALUE(grid->shift[0]),
                                GPU_VALUE(grid->shift[1]), GPU_VALUE(grid->shift[2]), GPU_VALUE(grid->dimensions)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, f->module, "sub_types", gpu_groups(s->cell_count, GROUP), types, 9);
  if (status != GRAZE_OK) return status;
  return gz_gpu_sort(gpu, &s->scratch, &s->types, &s->chosen, s->cell_count, sizeof(uint32_t), 3);
}

/* The cells and the items in them; `tests`: how many pairs are looked at. */
static graze_status list_cells(graze_gpu *gpu, gpu_subdivision *s, const find_call *f, uint64_t *tests) {
  graze_status status = gz_gpu_reserve(gpu, &s->cells, s->cell_count * sizeof(uint32_t[6]));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &s->homes, (s->cell_count + (size_t)1) * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &s->tests, (s->cell_count + (size_t)1) * sizeof(uint32_t));
  const gpu_argument cells[] = {GPU_BUFFER(&s->entries), GPU_BUFFER(&s->objects),   GPU_BUFFER(&s->starts),
                                GPU_BUFFER(&s->chosen),  GPU_BUFFER(&s->types),     GPU_BUFFER(&s->cells),
                                GPU_BUFFER(&s->homes),   GPU_BUFFER(&s->tests),     GPU_VALUE(s->begin),
                                GPU_VALUE(s->runs),      GPU_VALUE(s->entry_count), GPU_VALUE(s->large),
                                GPU_VALUE(s->cell_count)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, f->module, "sub_cells", gpu_groups(s->cell_count, GROUP), cells, 13);
  if (status == GRAZE_OK) status = gz_gpu_scan(gpu, &s->scratch, &s->tests, &s->tests, s->cell_count);
  if (status == GRAZE_OK) status = gz_gpu_scan_total(gpu, &s->scratch, tests);
  return status != GRAZE_OK ? status : gz_gpu_scan(gpu, &s->scratch, &s->homes, &s->homes, s->cell_count);
}

/* Where the passes begin, among cells and among items. */
static graze_status list_passes(graze_gpu *gpu, gpu_subdivision *s) {
  graze_status status = gz_gpu_runs(gpu, &s->scratch, &s->types, s->cell_count, &s->passes, &s->pass_count);
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, s->pass, &s->passes, 0, s->pass_count * sizeof *s->pass);
  s->pass[s->pass_count] = s->cell_count;
  for (uint32_t p = 0; p <= s->pass_count && status == GRAZE_OK; p++) {
    status = gz_gpu_read(gpu, &s->item[p], &s->homes, s->pass[p] * sizeof(uint32_t), sizeof(uint32_t));
  }
  return status;
}

/* ---- passes ---------------------------------------------------------------------------------------------------- */

typedef struct pass_walk {
  gpu_subdivision *s;
  const find_call *f;
} pass_walk;

/* Those of the items [begin, begin + some) that are in a pass. */
typedef struct pass_part {
  uint32_t item, some, at;
} pass_part;

static pass_part part_of(const gpu_subdivision *s, uint32_t pass, uint32_t begin, uint32_t some) {
  uint32_t from = s->item[pass] > begin ? s->item[pass] : begin, to = s->item[pass + 1];
  if (to > begin + some) to = begin + some;
  return (pass_part){.item = from, .some = to > from ? to - from : 0, .at = from - begin};
}

static graze_status count_passes(graze_gpu *gpu, void *user, uint32_t begin, uint32_t some, const gpu_buffer *counts) {
  const pass_walk *w = user;
  const gpu_subdivision *s = w->s;
  graze_status status = GRAZE_OK;
  for (uint32_t p = 0; p < s->pass_count && status == GRAZE_OK; p++) {
    pass_part part = part_of(s, p, begin, some);
    const gpu_argument arguments[] = {GPU_BUFFER(&s->cells),   GPU_BUFFER(&s->homes),    GPU_BUFFER(&s->entries),
                                      GPU_BUFFER(&s->objects), GPU_BUFFER(counts),       GPU_VALUE(s->begin),
                                      GPU_VALUE(part.item),    GPU_VALUE(part.some),     GPU_VALUE(part.at),
                                      GPU_VALUE(s->pass[p]),   GPU_VALUE(s->pass[p + 1])};
    if (part.some == 0) continue;
    status = gz_gpu_run(gpu, w->f->module, "sub_count", gpu_groups(part.some, WALK_GROUP), arguments, 11);
  }
  return status;
}

static graze_status write_passes(graze_gpu *gpu, void *user, uint32_t begin, uint32_t some, const gpu_buffer *places,
                                 const gpu_buffer *packed) {
  const pass_walk *w = user;
  const gpu_subdivision *s = w->s;
  graze_status status = GRAZE_OK;
  for (uint32_t p = 0; p < s->pass_count && status == GRAZE_OK; p++) {
    pass_part part = part_of(s, p, begin, some);
    const gpu_argument arguments[] = {GPU_BUFFER(&s->cells),   GPU_BUFFER(&s->homes), GPU_BUFFER(&s->entries),
                                      GPU_BUFFER(&s->objects), GPU_BUFFER(places),    GPU_BUFFER(packed),
                                      GPU_VALUE(s->begin),     GPU_VALUE(part.item),  GPU_VALUE(part.some),
                                      GPU_VALUE(part.at),      GPU_VALUE(s->pass[p]), GPU_VALUE(s->pass[p + 1]),
                                      GPU_VALUE(w->f->pack)};
    if (part.some == 0) continue;
    status = gz_gpu_run(gpu, w->f->module, "sub_write", gpu_groups(part.some, WALK_GROUP), arguments, 13);
  }
  return status;
}

static graze_status find_in_class(graze_gpu *gpu, gpu_subdivision *s, const find_call *f, uint32_t start,
                                  uint32_t end) {
  uint64_t tests = 0;
  double begun = clock_now();
  s->begin = start;
  s->count = f->count - start;
  s->large = end - start;
  s->cell_count = 0;
  if (s->count < 2) return GRAZE_OK;
  graze_status status = choose_grid(gpu, s, f);
  if (status == GRAZE_OK) status = sort_entries(gpu, s, f);
  if (status == GRAZE_OK) status = choose_cells(gpu, s, f);
  if (status == GRAZE_OK && s->cell_count > 0) status = list_cells(gpu, s, f, &tests);
  s->crowded = tests / CROWD > s->count;
  if (status == GRAZE_OK && s->cell_count > 0 && !s->crowded) status = list_passes(gpu, s);
  s->list.compute += clock_now() - begun;
  if (status != GRAZE_OK || s->cell_count == 0 || s->crowded) return status;
  pass_walk w = {s, f};
  const gpu_pair_work work = {.user = &w,
                              .count = count_passes,
                              .write = write_passes,
                              .items = s->item[s->pass_count],
                              .most = PIECE,
                              .pack = f->pack,
                              .unsorted = f->unsorted};
  return gz_gpu_pairs_find(gpu, &s->scratch, &s->list, &work);
}

graze_status gz_gpu_subdivision_find(graze_gpu *gpu, gpu_subdivision *s, const gpu_boxes *b, graze_precision precision,
                                     uint32_t count, bool unsorted) {
  bool single = precision == GRAZE_FLOAT;
  find_call f = {.module = single ? "subdivision32" : "subdivision64",
                 .boxes = &b->boxes,
                 .count = count,
                 .pack = gz_gpu_bits_for(count),
                 .unsorted = unsorted};
  uint32_t starts[CLASSES + 1], classes = 0;
  gz_gpu_pairs_begin(&s->list);
  s->crowded = false;
  if (count < 2) return GRAZE_OK;
  double begun = clock_now();
  graze_status status = gz_gpu_reserve(gpu, &s->spheres, count * sizeof(subdivision_sphere));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &s->classes, count * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &s->order, count * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &s->objects, count * (size_t)(single ? 32 : 56));
  if (status == GRAZE_OK) status = deal_to_classes(gpu, s, &f, starts, &classes);
  s->list.compute = clock_now() - begun;
  for (uint32_t c = 0; c < classes && status == GRAZE_OK && !s->crowded; c++) {
    status = find_in_class(gpu, s, &f, starts[c], starts[c + 1]);
  }
  return status != GRAZE_OK || s->crowded ? status : gz_gpu_pairs_end(gpu, &s->list, unsorted);
}

void gz_gpu_subdivision_release(graze_gpu *gpu, gpu_subdivision *s) {
  gpu_buffer *all[] = {&s->spheres, &s->classes, &s->order, &s->objects, &s->frame, &s->ids,   &s->entries, &s->starts,
                       &s->marks,   &s->chosen,  &s->types, &s->passes,  &s->cells, &s->homes, &s->tests};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) gz_gpu_release(gpu, all[i]);
  gz_gpu_scratch_release(gpu, &s->scratch);
  gz_gpu_pairs_release(gpu, &s->list);
  gz_gpu_bounds_release(gpu, &s->bounds);
}
