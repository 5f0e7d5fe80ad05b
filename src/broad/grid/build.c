/* From boxes to sorted levels.
 *
 * Four passes: a sample of the boxes gives the axes, the bounds and the sizes of cells; one pass over the caller's
 * boxes makes records and counts slabs; one deals the records out to units of neighbouring slabs, which fit the
 * second-level cache; each unit is sorted there by the digits of its keys. Bounds and sizes need not be right: numbers
 * outside the bounds are drawn to the border, and boxes larger than all levels get one more level.
 *
 * O(n + slabs); about 52 bytes a box.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "broad/grid/grid.h"

enum {
  SAMPLE = 1024,        /* boxes looked at, at most */
  SAMPLE_GRID = 8,      /* cells along an axis that tell how much of the bounds is full */
  DIGIT_BITS = 11,      /* most of a digit of a key */
  DIGITS = 6,           /* most of a key */
  CLUSTER_CELLS = 2048, /* of an axis, before a world is called wide */
  CLUSTER_SIDE = 16,    /* cells of an axis in which clusters are looked for, or a part of it that is a gap */
  GAP_BINS = 256,       /* of an axis, in which gaps are looked for */
  CLUSTER_GAIN = 16,    /* so many times denser than all */
  CLUSTER_SHARE = 32,   /* a cluster has at least this part of the boxes */
  TABLE_CELLS = 8,      /* of a table, for each box */
  FINE_BITS = 16,       /* of x */
  SLABS_FOR_BOXES = 16  /* a slab for so many boxes, at most */
};

/* Wider than this (by halves), all boxes go into one cell, as differences of numbers would overflow. */
static const double widest = DBL_MAX / 8;

/* ---- the sample ------------------------------------------------------------------------------------------------ */

static double half_extent(const graze_box *box, int axis) {
  return 0.5 * box->max[axis] - 0.5 * box->min[axis];
}

/* Boxes at even distances. */
static uint32_t sample_slots(const broad_view *view, uint32_t *slots) {
  uint32_t wanted = view->count / 8 < 64 ? 64 : view->count / 8, count = 0;
  if (wanted > SAMPLE) wanted = SAMPLE;
  if (wanted > view->count) wanted = view->count;
  for (uint32_t i = 0; i < wanted; i++) {
    uint32_t slot = (uint32_t)((uint64_t)i * view->count / wanted);
    if (view_takes(view, slot)) slots[count++] = slot;
  }
  return count;
}

static void sort_floats(float *values, uint32_t count) {
  for (uint32_t gap = count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11) {
    for (uint32_t i = gap; i < count; i++) {
      float value = values[i];
      uint32_t j = i;
      for (; j >= gap && values[j - gap] > value; j -= gap) values[j] = values[j - gap];
      values[j] = value;
    }
  }
}

/* The longest axis becomes x, so that rows are long; the next one z, so that slabs are many. */
static void order_axes(grid_frame *f, const double low[3], const double high[3]) {
  double range[3];
  int order[3] = {0, 1, 2};
  for (int k = 0; k < 3; k++) range[k] = (0.5 * high[k] - 0.5 * low[k]) / (f->stretch[k] > 0 ? f->stretch[k] : 1);
  for (int i = 0; i < 3; i++) {
    for (int j = i + 1; j < 3; j++) {
      if (range[order[j]] <= range[order[i]]) continue;
      int k = order[i];
      order[i] = order[j];
      order[j] = k;
    }
  }
  f->axis[0] = order[0];
  f->axis[1] = order[2];
  f->axis[2] = order[1];
}

/* The part of the bounds in which the sampled boxes are, from the share of coarse cells that have some. */
static double share_of_volume(const broad_view *view, const uint32_t *slots, uint32_t count, const double low[3],
                              const double high[3]) {
  uint8_t full[SAMPLE_GRID * SAMPLE_GRID * SAMPLE_GRID] = {0};
  uint32_t cells = 0, side = SAMPLE_GRID;
  while (side > 1 && side * side * side * 2 > count) side /= 2;
  for (uint32_t i = 0; i < count; i++) {
    graze_box box = view_box(view, slots[i]);
    uint32_t cell = 0;
    for (int k = 0; k < 3; k++) {
      double range = 0.5 * high[k] - 0.5 * low[k];
      double part = range > 0 ? (0.5 * box.min[k] - 0.5 * low[k]) / range * side : 0;
      cell = cell * side + (part < side ? (uint32_t)part : side - 1);
    }
    cells += full[cell] == 0;
    full[cell] = 1;
  }
  return (double)cells / (side * side * side);
}

static void take_sample(grid *g, const broad_view *view, uint32_t *slots, float *sizes) {
  grid_frame *f = &g->frame;
  double low[3] = {0, 0, 0}, high[3] = {0, 0, 0}, most[3] = {0, 0, 0}, largest = 0;
  f->sampled = sample_slots(view, slots);
  for (uint32_t i = 0; i < f->sampled; i++) {
    graze_box box = view_box(view, slots[i]);
    for (int k = 0; k < 3; k++) {
      if (i == 0 || box.min[k] < low[k]) low[k] = box.min[k];
      if (i == 0 || box.min[k] > high[k]) high[k] = box.min[k];
      most[k] = fmax(most[k], half_extent(&box, k));
    }
  }
  for (int k = 0; k < 3; k++) largest = fmax(largest, most[k]);
  for (int k = 0; k < 3; k++) f->stretch[k] = largest > 0 ? fmax(most[k] / largest, 1.0 / 1024) : 1;
  order_axes(f, low, high);
  for (uint32_t i = 0; i < f->sampled; i++) {
    graze_box box = view_box(view, slots[i]);
    double size = 0;
    for (int k = 0; k < 3; k++) size = fmax(size, half_extent(&box, k) / f->stretch[k]);
    sizes[i] = size < (double)FLT_MAX ? (float)size : FLT_MAX;
  }
  sort_floats(sizes, f->sampled);
  f->sizes = sizes;
  f->volume_share = share_of_volume(view, slots, f->sampled, low, high);
  double stretch[3];
  for (int k = 0; k < 3; k++) {
    f->low[k] = low[f->axis[k]];
    f->high[k] = high[f->axis[k]];
    stretch[k] = f->stretch[f->axis[k]];
  }
  memcpy(f->stretch, stretch, sizeof stretch);
}

/* ---- levels ---------------------------------------------------------------------------------------------------- */

static unsigned bits_for(uint32_t count) {
  unsigned bits = 0;
  while (bits < 31 && (UINT32_C(1) << bits) < count) bits++;
  return bits;
}

/* One axis of a level for boxes with half extents up to `half`. Around the sampled bounds there is a sixteenth of
 * their cells, and one more cell at the border: a neighbouring row always has a key. */
static void set_axis(grid_level *level, int k, const grid_frame *f, double half, uint32_t most_cells) {
  double range = 0.5 * f->high[k] - 0.5 * f->low[k], least = range / most_cells;
  double size = fmax(fmax(half * (1 + 1.0 / 256), least), DBL_MIN * 0x1p20);
  bool wide = !(range < widest) || !(size < widest) || !(fabs(f->low[k]) < widest);
  uint32_t inside = wide ? 1 : (uint32_t)(range / size) + 1, margin = 1 + inside / 16;
  level->size[k] = size;
  level->cells[k] = inside + 2 * margin + 1;
  for (int j = k; j < 6; j += 3) {
    level->scale[j] = wide ? 0 : 0.5 * GRID_CELL / size;
    level->origin[j] = wide ? 0 : f->low[k] - 2 * size * (1 + margin);
    level->least[j] = GRID_CELL;
    level->most[j] = (double)level->cells[k] * GRID_CELL - 1;
  }
}

static void set_level(grid_level *level, const grid_frame *f, double half, uint32_t boxes) {
  *level = (grid_level){.strict = f->cluster};
  uint32_t slabs = boxes / SLABS_FOR_BOXES + 1;
  set_axis(level, 0, f, half * f->stretch[0], GRID_MOST_X_CELLS);
  set_axis(level, 1, f, half * f->stretch[1], GRID_MOST_Y_CELLS);
  set_axis(level, 2, f, half * f->stretch[2], slabs < GRID_MOST_Z_CELLS ? slabs : GRID_MOST_Z_CELLS);
  unsigned x_bits = bits_for(level->cells[0] + 1);
  /* A quarter of a box is fine enough. */
  double parts = 4 * level->size[0] / fmax(half * f->stretch[0], level->size[0] * 0x1p-14);
  while (level->fine < GRID_CELL_BITS && x_bits + level->fine < FINE_BITS && (1 << level->fine) + 0.5 < parts) {
    level->fine++;
  }
  level->x_bits = x_bits + level->fine;
  level->y_bits = bits_for(level->cells[1] + 1);
}

static bool add_level(grid *g, const broad_view *view, const grid_frame *f, double half, uint32_t boxes) {
  grid_level *level = &g->levels[g->level_count];
  set_level(level, f, half, boxes);
  level->slab_base = g->slab_count;
  level->slabs = level->cells[2];
  uint32_t slabs = g->slab_count + level->slabs;
  size_t old = g->slab_count * sizeof(grid_slab);
  if (!gz_buffer_reserve(view->context, &g->slab_memory, slabs * sizeof(grid_slab), old)) return false;
  g->slabs = g->slab_memory.data;
  g->slab_count = slabs;
  g->level_count++;
  return true;
}

/* ---- clusters ---------------------------------------------------------------------------------------------------- */

/* In a world so wide that cells have to be much larger than the boxes, many boxes may lie in one cell. Such a cluster
 * gets a level of its own, with its own bounds. */

/* Whether the cells of a level for boxes up to `half` would be too large in these bounds. */
static bool is_wide(const grid_frame *f, double half) {
  for (int k = 0; k < 3; k++) {
    if (0.5 * f->high[k] - 0.5 * f->low[k] > 2 * CLUSTER_CELLS * fmax(half * f->stretch[k], DBL_MIN * 0x1p20))
      return true;
  }
  return false;
}

/* The widest gap of an axis: no sampled box of the bounds has its low corner there. */
typedef struct gap {
  int axis;
  uint32_t bins;
  double middle;
} gap;

static void widen_gap(gap *most, const grid_frame *f, int axis, const uint8_t *taken) {
  uint32_t run = 0;
  for (uint32_t bin = 0; bin < GAP_BINS; bin++) {
    run = taken[bin] != 0 ? 0 : run + 1;
    if (run <= most->bins) continue;
    const double part = (bin - 0.5 * (run - 1)) / (GAP_BINS - 1);
    *most = (gap){axis, run, (1 - part) * f->low[axis] + part * f->high[axis]};
  }
}

static gap widest_gap(const grid_frame *f, const broad_view *view, const uint32_t *slots, uint32_t count) {
  uint8_t taken[3][GAP_BINS] = {{0}};
  gap found = {0, 0, 0};
  for (uint32_t i = 0; i < count; i++) {
    graze_box box = view_box(view, slots[i]);
    for (int k = 0; k < 3; k++) {
      double range = 0.5 * f->high[k] - 0.5 * f->low[k];
      double part = range > 0 ? (0.5 * box.min[f->axis[k]] - 0.5 * f->low[k]) / range : 0;
      taken[k][(uint32_t)(part * (GAP_BINS - 1) + 0.5)] = 1;
    }
  }
  for (int k = 0; k < 3; k++) {
    if (f->high[k] > f->low[k]) widen_gap(&found, f, k, taken[k]);
  }
  return found;
}

static uint32_t cluster_cell(const grid_frame *f, const graze_box *box) {
  uint32_t cell = 0;
  for (int k = 0; k < 3; k++) {
    double range = 0.5 * f->high[k] - 0.5 * f->low[k], low = box->min[f->axis[k]];
    double part = range > 0 ? (0.5 * low - 0.5 * f->low[k]) / range : 0;
    cell = cell * CLUSTER_SIDE + (uint32_t)(part * (CLUSTER_SIDE - 1) + 0.5);
  }
  return cell;
}

static bool is_inside(const grid_frame *f, const graze_box *box) {
  for (int k = 0; k < 3; k++) {
    double low = box->min[f->axis[k]];
    if (low < f->low[k] || low > f->high[k]) return false;
  }
  return true;
}

/* Those inside the bounds, or those outside, to the front. */
static uint32_t keep_slots(const grid_frame *f, const broad_view *view, uint32_t *slots, uint32_t count, bool inside) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    graze_box box = view_box(view, slots[i]);
    slots[kept] = slots[i];
    kept += is_inside(f, &box) == inside;
  }
  return kept;
}

/* Bounds of these boxes. */
static void tighten(grid_frame *f, const broad_view *view, const uint32_t *slots, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    graze_box box = view_box(view, slots[i]);
    for (int k = 0; k < 3; k++) {
      double low = box.min[f->axis[k]];
      if (i == 0 || low < f->low[k]) f->low[k] = low;
      if (i == 0 || low > f->high[k]) f->high[k] = low;
    }
  }
}

/* To the side of the gap with more boxes. */
static uint32_t narrow_to_side(grid_frame *f, const broad_view *view, uint32_t *slots, uint32_t count, const gap *g) {
  uint32_t before = 0;
  for (uint32_t i = 0; i < count; i++) before += view_box(view, slots[i]).min[f->axis[g->axis]] < g->middle;
  *(2 * before >= count ? &f->high[g->axis] : &f->low[g->axis]) = g->middle;
  count = keep_slots(f, view, slots, count, true);
  tighten(f, view, slots, count);
  return count;
}

/* To the fullest of a few cells. The ends of an axis are in different cells: some box is left out. */
static uint32_t narrow_to_cell(grid_frame *f, const broad_view *view, uint32_t *slots, uint32_t count) {
  uint32_t counts[CLUSTER_SIDE * CLUSTER_SIDE * CLUSTER_SIDE] = {0}, fullest = 0, kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    graze_box box = view_box(view, slots[i]);
    uint32_t cell = cluster_cell(f, &box);
    if (++counts[cell] > counts[fullest]) fullest = cell;
  }
  for (uint32_t i = 0; i < count; i++) {
    graze_box box = view_box(view, slots[i]);
    slots[kept] = slots[i];
    kept += cluster_cell(f, &box) == fullest;
  }
  tighten(f, view, slots, kept);
  return kept;
}

/* Leaves some of the boxes out, the bounds of which these are. A cluster lies between gaps: cut there, it stays whole,
 * and boxes have few neighbours on another level. Where there is no gap, or numbers are too coarse to cut in it, cells
 * part what lies in them. Returns how many are left. */
static uint32_t narrow(grid_frame *f, const broad_view *view, uint32_t *slots, uint32_t count) {
  const gap cut = widest_gap(f, view, slots, count);
  uint32_t kept = count;
  if (cut.bins >= GAP_BINS / CLUSTER_SIDE) kept = narrow_to_side(f, view, slots, count, &cut);
  return kept < count ? kept : narrow_to_cell(f, view, slots, count);
}

/* Whether bounds with this share of the boxes are much narrower than the share makes one expect. */
static bool is_cluster(const grid_frame *f, const grid_frame *all, double share) {
  for (int k = 0; k < 3; k++) {
    double range = 0.5 * all->high[k] - 0.5 * all->low[k], narrowed = 0.5 * f->high[k] - 0.5 * f->low[k];
    if (narrowed * CLUSTER_GAIN < range * share) return true;
  }
  return false;
}

/* Levels for clusters of boxes up to `half`. `slots` is used up. */
static bool add_clusters(grid *g, const broad_view *view, uint32_t *slots, double half) {
  uint32_t count = 0, in_cluster[SAMPLE];
  for (uint32_t i = 0; i < g->frame.sampled; i++) {
    graze_box box = view_box(view, slots[i]);
    bool small = true;
    for (int k = 0; k < 3; k++) small &= half_extent(&box, g->frame.axis[k]) <= half * g->frame.stretch[k] * 1.001;
    slots[count] = slots[i];
    count += small;
  }
  for (int cluster = 0; cluster < GRID_CLUSTERS; cluster++) {
    grid_frame f = g->frame;
    f.cluster = true;
    uint32_t inside = count;
    memcpy(in_cluster, slots, count * sizeof *slots);
    tighten(&f, view, in_cluster, inside);
    while (inside > g->frame.sampled / CLUSTER_SHARE && is_wide(&f, half))
      inside = narrow(&f, view, in_cluster, inside);
    if (inside <= g->frame.sampled / CLUSTER_SHARE || !is_cluster(&f, &g->frame, (double)inside / count)) break;
    if (!add_level(g, view, &f, half, (uint32_t)((uint64_t)view->count * inside / g->frame.sampled))) return false;
    count = keep_slots(&f, view, slots, count, false);
  }
  return true;
}

/* ---- from boxes to records ------------------------------------------------------------------------------------- */

/* Memory of one pass: records, keys and slabs or, when sorted, what is left of them. */
typedef struct places {
  grid_record *records;
  uint32_t *keys, *slabs;
} places;

static size_t whole_lines(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

static size_t places_bytes(size_t count, bool with_slabs) {
  return whole_lines(count * sizeof(grid_record)) + whole_lines(count * 4) * (with_slabs ? 2 : 1);
}

static places places_of(const buffer *b, size_t count) {
  char *at = b->data;
  size_t records = whole_lines(count * sizeof(grid_record));
  return (places){(grid_record *)at, (uint32_t *)(at + records), (uint32_t *)(at + records + whole_lines(count * 4))};
}

typedef struct piece {
  uint32_t begin, end, filled, refused;
  uint32_t *counts; /* by slab, later by unit: the place of the next box */
  uint32_t reach[GRID_LEVELS][8];
} piece;

typedef struct building {
  grid *g;
  const broad_view *view;
  places raw, dealt, sorted;
  piece piece[GRID_TASKS];
  uint32_t pieces;
  uint32_t first_level;                /* levels before are full */
  uint32_t task_begin[GRID_TASKS + 1]; /* units of each sorting task */
  uint32_t largest_unit;
} building;

static void fill_piece(void *argument, uint32_t index) {
  building *b = argument;
  piece *p = &b->piece[index];
  bool again = b->first_level > 0;
  uint32_t begin = again ? p->end - p->refused : p->begin;
  grid_fill f = {.view = b->view,
                 .levels = b->g->levels + b->first_level,
                 .axis = b->g->frame.axis,
                 .level_count = b->g->level_count - b->first_level,
                 .some = again,
                 .begin = begin,
                 .end = p->end,
                 .records = b->raw.records,
                 .keys = b->raw.keys,
                 .slabs = b->raw.slabs,
                 .counts = p->counts,
                 .reach = p->reach + b->first_level};
  CPU_KERNEL(gz_grid_fill)(&f);
  if (again) {
    p->refused = f.filled;
  } else {
    p->filled = f.filled;
    p->refused = f.refused;
  }
}

static uint32_t task_count(const broad_view *view, uint32_t boxes) {
  int threads = gz_parallel_threads(view->context);
  uint32_t tasks = threads > 1 ? 4 * (uint32_t)threads : 1;
  if (tasks > GRID_TASKS) tasks = GRID_TASKS;
  return boxes / 2048 + 1 < tasks ? boxes / 2048 + 1 : tasks;
}

/* Counters of slabs for each piece, zero. `old` slabs have been counted. */
static bool make_counters(building *b, uint32_t old) {
  grid *g = b->g;
  size_t slabs = g->slab_count, each = whole_lines(slabs * 4), each_old = whole_lines((size_t)old * 4);
  if (!gz_buffer_reserve(b->view->context, &g->counters, each * b->pieces, each_old * b->pieces)) return false;
  for (uint32_t i = b->pieces; i-- > 0;) {
    char *to = (char *)g->counters.data + i * each;
    if (each_old > 0) memmove(to, (char *)g->counters.data + i * each_old, (size_t)old * 4);
    memset(to + (size_t)old * 4, 0, (slabs - old) * 4);
    b->piece[i].counts = (uint32_t *)to;
  }
  return true;
}

/* The level for boxes that are larger than the sample foretold. */
static bool fill_large(building *b, uint32_t refused) {
  grid *g = b->g;
  double largest = 0;
  for (uint32_t i = 0; i < b->pieces; i++) {
    const piece *p = &b->piece[i];
    for (uint32_t j = p->end - p->refused; j < p->end; j++) {
      graze_box box = view_box(b->view, b->raw.keys[j]);
      for (int k = 0; k < 3; k++) {
        largest = fmax(largest, half_extent(&box, g->frame.axis[k]) / g->frame.stretch[k]);
      }
    }
  }
  uint32_t slabs = g->slab_count;
  b->first_level = g->level_count;
  if (!add_level(g, b->view, &g->frame, largest, refused) || !make_counters(b, slabs)) return false;
  gz_parallel_each(b->view->context, b->pieces, fill_piece, b);
  return true;
}

static bool fill(building *b) {
  uint32_t refused = 0;
  if (!make_counters(b, 0)) return false;
  pieces p = pieces_of(b->view->count, b->view->count / b->pieces + 1);
  b->pieces = p.number;
  for (uint32_t i = 0; i < b->pieces; i++) {
    b->piece[i].begin = (uint32_t)pieces_begin(&p, i);
    b->piece[i].end = (uint32_t)pieces_end(&p, i);
  }
  gz_parallel_each(b->view->context, b->pieces, fill_piece, b);
  for (uint32_t i = 0; i < b->pieces; i++) refused += b->piece[i].refused;
  return refused == 0 || fill_large(b, refused);
}

/* ---- units ----------------------------------------------------------------------------------------------------- */

static uint32_t slab_total(const building *b, uint32_t slab) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < b->pieces; i++) sum += b->piece[i].counts[slab];
  return sum;
}

static void sum_level(building *b, uint32_t index) {
  grid_level *level = &b->g->levels[index];
  for (uint32_t i = 0; i < b->pieces; i++) {
    for (int k = 0; k < 3; k++) {
      uint32_t reach = b->piece[i].reach[index][k];
      if (reach > level->reach[k]) level->reach[k] = reach;
    }
  }
}

/* Slabs from `first` on that make a unit. */
static grid_unit gather_unit(building *b, const grid_level *level, uint32_t first, uint32_t begin) {
  grid *g = b->g;
  uint32_t end_slab = level->slab_base + level->slabs, i = first;
  unsigned shift = level->x_bits + level->y_bits, most = shift < 31 ? UINT32_C(1) << (32 - shift) : 2;
  grid_unit unit = {.first_slab = first, .begin = begin};
  while (i < end_slab && unit.count < GRID_UNIT && i - first < most) {
    uint32_t count = slab_total(b, i);
    if (unit.count > 0 && unit.count + count > 4 * GRID_UNIT) break;
    g->slabs[i] = (grid_slab){g->unit_count, (i - first) << shift, begin + unit.count, begin + unit.count + count};
    unit.count += count;
    i++;
  }
  unit.end_slab = i;
  unit.bits = shift + bits_for(i - first);
  return unit;
}

static bool make_units(building *b) {
  grid *g = b->g;
  uint32_t place = 0, from = 0;
  if (!gz_buffer_reserve(b->view->context, &g->unit_memory, g->slab_count * sizeof(grid_unit), 0)) return false;
  g->units = g->unit_memory.data;
  g->unit_count = b->largest_unit = 0;
  for (uint32_t l = 0; l < g->level_count; l++) {
    grid_level *level = &g->levels[l];
    sum_level(b, l);
    level->begin = place;
    for (uint32_t slab = level->slab_base; slab < level->slab_base + level->slabs;) {
      grid_unit unit = gather_unit(b, level, slab, place);
      unit.from = from;
      from += unit.count;
      place += unit.count + GRID_PAD;
      slab = unit.end_slab;
      if (unit.count > b->largest_unit) b->largest_unit = unit.count;
      level->count += unit.count;
      g->units[g->unit_count++] = unit;
    }
    level->end = place;
  }
  g->box_count = from;
  return true;
}

/* Where each piece's boxes of each unit go. The counters of slabs are overwritten: a unit has at least one slab. */
static void place_pieces(building *b) {
  const grid *g = b->g;
  for (uint32_t u = 0; u < g->unit_count; u++) {
    const grid_unit *unit = &g->units[u];
    uint32_t next = unit->from;
    for (uint32_t i = 0; i < b->pieces; i++) {
      uint32_t *counts = b->piece[i].counts, sum = 0;
      for (uint32_t slab = unit->first_slab; slab < unit->end_slab; slab++) sum += counts[slab];
      counts[u] = next;
      next += sum;
    }
  }
}

static void deal_range(const building *b, uint32_t *next, uint32_t begin, uint32_t end) {
  const grid_slab *slabs = b->g->slabs;
  for (uint32_t i = begin; i < end; i++) {
    const grid_slab *slab = &slabs[b->raw.slabs[i]];
    uint32_t to = next[slab->unit]++;
    b->dealt.records[to] = b->raw.records[i];
    b->dealt.keys[to] = b->raw.keys[i] + slab->z_key;
  }
}

static void deal_piece(void *argument, uint32_t index) {
  const building *b = argument;
  const piece *p = &b->piece[index];
  deal_range(b, p->counts, p->begin, p->begin + p->filled);
  deal_range(b, p->counts, p->end - p->refused, p->end);
}

/* ---- sorting --------------------------------------------------------------------------------------------------- */

typedef struct digits {
  unsigned bits, number;
  uint32_t starts[DIGITS][1 << DIGIT_BITS];
} digits;

static void count_digits(digits *d, const uint32_t *keys, uint32_t count) {
  uint32_t width = UINT32_C(1) << d->bits, mask = width - 1;
  for (unsigned k = 0; k < d->number; k++) memset(d->starts[k], 0, width * sizeof(uint32_t));
  for (uint32_t i = 0; i < count; i++) {
    for (unsigned k = 0; k < d->number; k++) d->starts[k][keys[i] >> (k * d->bits) & mask]++;
  }
  for (unsigned k = 0; k < d->number; k++) {
    for (uint32_t i = 0, sum = 0; i < width; i++) {
      uint32_t n = d->starts[k][i];
      d->starts[k][i] = sum;
      sum += n;
    }
  }
}

/* Sorts the boxes of a unit by key, from the lowest digit up; the records move last. `pairs`: twice the boxes of keys
 * with their numbers. */
static void sort_unit(const building *b, const grid_unit *unit, digits *d, uint64_t *pairs) {
  const uint32_t *keys = b->dealt.keys + unit->from;
  const grid_record *records = b->dealt.records + unit->from;
  uint32_t *sorted_keys = b->sorted.keys + unit->begin, count = unit->count;
  grid_record *sorted = b->sorted.records + unit->begin;
  uint64_t *from = pairs, *to = pairs + count;
  unsigned wanted = bits_for(count + 1);
  wanted = wanted < 5 ? 5 : wanted > DIGIT_BITS ? DIGIT_BITS : wanted;
  d->number = (unit->bits + wanted - 1) / wanted;
  if (d->number == 0) d->number = 1;
  if (d->number > DIGITS) d->number = DIGITS;
  d->bits = (unit->bits + d->number - 1) / d->number;
  uint32_t mask = (UINT32_C(1) << d->bits) - 1;
  count_digits(d, keys, count);
  unsigned last = d->number - 1;
  if (last == 0) {
    for (uint32_t i = 0; i < count; i++) from[i] = (uint64_t)keys[i] << 32 | i;
  } else {
    for (uint32_t i = 0; i < count; i++) from[d->starts[0][keys[i] & mask]++] = (uint64_t)keys[i] << 32 | i;
  }
  for (unsigned k = 1; k < last; k++) {
    uint32_t *next = d->starts[k];
    for (uint32_t i = 0; i < count; i++) to[next[(uint32_t)(from[i] >> 32) >> (k * d->bits) & mask]++] = from[i];
    uint64_t *swap = from;
    from = to;
    to = swap;
  }
  uint32_t *next = d->starts[last];
  for (uint32_t i = 0; i < count; i++) {
    uint32_t key = (uint32_t)(from[i] >> 32), at = next[key >> (last * d->bits) & mask]++;
    sorted_keys[at] = key;
    sorted[at] = records[(uint32_t)from[i]];
  }
  for (uint32_t i = count; i < count + GRID_PAD; i++) {
    sorted_keys[i] = UINT32_MAX;
    sorted[i] = (grid_record){{0}, {0}, 0};
  }
}

static size_t sorting_bytes(const building *b) {
  return whole_lines(sizeof(digits) + 2 * (size_t)b->largest_unit * sizeof(uint64_t));
}

static void sort_task(void *argument, uint32_t index) {
  const building *b = argument;
  digits *d = (digits *)((char *)b->g->scratch.data + index * sorting_bytes(b));
  for (uint32_t u = b->task_begin[index]; u < b->task_begin[index + 1]; u++) {
    sort_unit(b, &b->g->units[u], d, (uint64_t *)(d + 1));
  }
}

static bool sort_units(building *b) {
  grid *g = b->g;
  uint32_t tasks = task_count(b->view, g->box_count), unit = 0;
  if (!gz_buffer_reserve(b->view->context, &g->scratch, tasks * sorting_bytes(b), 0)) return false;
  for (uint32_t t = 0; t < tasks; t++) {
    uint32_t begin = (uint32_t)((uint64_t)g->box_count * t / tasks);
    while (unit < g->unit_count && g->units[unit].from < begin) unit++;
    b->task_begin[t] = t == 0 ? 0 : unit;
  }
  b->task_begin[tasks] = g->unit_count;
  gz_parallel_each(b->view->context, tasks, sort_task, b);
  return true;
}

/* ---- tables of cells ------------------------------------------------------------------------------------------- */

/* Of each row the cells and its end: behind the last row of a slab there may be padding. */
static size_t cell_count(const grid_level *level) {
  return (size_t)(level->cells[0] + 1) * level->cells[1] * level->slabs;
}

static bool has_table(const grid *g, const grid_level *level) {
  return g->level_count > 1 && level->count > 0 && cell_count(level) <= TABLE_CELLS * (size_t)level->count + 1024;
}

static void fill_table(const grid *g, const grid_level *level, uint32_t *table) {
  size_t row_cells = (size_t)level->cells[0] + 1, at = 0;
  uint32_t x_mask = (UINT32_C(1) << level->x_bits) - 1;
  for (uint32_t z = 0; z < level->slabs; z++) {
    const grid_slab *slab = &g->slabs[level->slab_base + z];
    for (uint32_t place = slab->begin; place < slab->end; place++) {
      uint32_t key = g->keys[place] - slab->z_key;
      size_t row = (size_t)z * level->cells[1] + (key >> level->x_bits);
      size_t cell = row * row_cells + ((key & x_mask) >> level->fine);
      while (at <= cell) table[at++] = place;
    }
    while (at < (size_t)(z + 1) * level->cells[1] * row_cells) table[at++] = slab->end;
  }
}

/* For looking boxes of other levels up. */
static bool make_tables(const broad_view *view, grid *g) {
  size_t need = 0;
  for (uint32_t l = 0; l < g->level_count; l++) {
    if (has_table(g, &g->levels[l])) need += cell_count(&g->levels[l]);
  }
  if (need == 0) return true;
  if (!gz_buffer_reserve(view->context, &g->tables, need * sizeof(uint32_t), 0)) return false;
  uint32_t *at = g->tables.data;
  for (uint32_t l = 0; l < g->level_count; l++) {
    grid_level *level = &g->levels[l];
    if (!has_table(g, level)) continue;
    fill_table(g, level, at);
    level->table = at;
    at += cell_count(level);
  }
  return true;
}

/* ---- all of it ------------------------------------------------------------------------------------------------- */

static bool build_levels(grid *g, const broad_view *view, grid_chooser *choose) {
  float sizes[SAMPLE];
  uint32_t slots[SAMPLE];
  double chosen[GRID_SIZES];
  take_sample(g, view, slots, sizes);
  g->level_count = g->slab_count = 0;
  uint32_t levels = choose(&g->frame, view->count, chosen);
  g->frame.sizes = NULL;
  if (!add_clusters(g, view, slots, chosen[0])) return false;
  for (uint32_t l = 0; l < levels; l++) {
    if (!add_level(g, view, &g->frame, chosen[l], view->count)) return false;
  }
  return true;
}

bool gz_grid_build(grid *g, const broad_view *view, grid_chooser *choose) {
  const graze_context *c = view->context;
  building b = {.g = g, .view = view, .pieces = task_count(view, view->count)};
  if (!build_levels(g, view, choose)) return false;
  /* The first pass writes where the sorted records come to be: by then it is no longer needed. */
  size_t count = (size_t)view->count + GRID_PAD;
  if (!gz_buffer_reserve(c, &g->sorted, places_bytes(count, true), 0)) return false;
  b.raw = places_of(&g->sorted, count);
  if (!fill(&b) || !make_units(&b)) return false;
  place_pieces(&b);
  if (!gz_buffer_reserve(c, &g->dealt, places_bytes(count, false), 0)) return false;
  b.dealt = places_of(&g->dealt, count);
  gz_parallel_each(c, b.pieces, deal_piece, &b);
  size_t with_pads = (size_t)g->box_count + (size_t)GRID_PAD * g->unit_count + GRID_AHEAD;
  if (!gz_buffer_reserve(c, &g->sorted, places_bytes(with_pads, false), 0)) return false;
  b.sorted = places_of(&g->sorted, with_pads);
  g->records = b.sorted.records;
  g->keys = b.sorted.keys;
  return sort_units(&b) && make_tables(view, g);
}

void gz_grid_release(const graze_context *context, grid *g) {
  buffer *all[] = {&g->dealt, &g->sorted, &g->slab_memory, &g->unit_memory, &g->tables, &g->counters, &g->scratch};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) gz_buffer_release(context, all[i]);
  gz_pair_lists_release(context, &g->parts);
}

size_t gz_grid_bytes(const grid *g) {
  return g->dealt.bytes + g->sorted.bytes + g->slab_memory.bytes + g->unit_memory.bytes + g->tables.bytes +
         g->counters.bytes + g->scratch.bytes + gz_pair_lists_bytes(&g->parts);
}
