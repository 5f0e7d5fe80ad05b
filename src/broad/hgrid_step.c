/* Few edits in a hierarchical grid: every box is in the list of one cell, the cells are found by hashing. Adding,
 * moving and removing a box takes constant time; its partners are in the few cells around it of each level in use.
 *
 * Level k has cells whose edge is that of level 0 times 2^k, for boxes of largest extent below that and, but for level
 * 0, not below half of it. A box is in the cell of its low corner. Boxes that reach q's cell begin there or in the cell
 * before; cells far out are one, which only makes it fuller. Boxes of other cells in the same list are told by their
 * cell, so that none is met twice. The cells of a row are neighbours in the hash table.
 *
 * Source: Ericson, "Real-Time Collision Detection" (2005), 7.2. 36 bytes a box. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "broad/hgrid.h"

#define NONE UINT32_MAX

enum { FARTHEST = 1 << 29 }; /* cells from the origin */

typedef struct node {
  uint32_t next, previous; /* slots; NONE at the ends */
  uint32_t bucket;         /* NONE: in no cell */
  uint32_t level;
  int32_t cell[3];
} node;

typedef struct cells {
  int32_t low[3], high[3];
} cells;

static node *nodes_of(const hgrid_live *live) {
  return live->node_memory.data;
}

static uint32_t row_of(uint32_t level, int32_t y, int32_t z) {
  return (uint32_t)splitmix64((uint64_t)(uint32_t)y << 32 | ((uint32_t)z ^ level << 20));
}

static uint32_t bucket_of(const hgrid_live *live, uint32_t level, const int32_t cell[3]) {
  return (row_of(level, cell[1], cell[2]) + (uint32_t)cell[0]) & live->mask;
}

/* ---- levels and cells ------------------------------------------------------------------------------------------ */

static double half_size(const graze_box *box) {
  double half = 0;
  for (int k = 0; k < 3; k++) {
    double extent = 0.5 * box->max[k] - 0.5 * box->min[k];
    half = extent > half ? extent : half;
  }
  return half;
}

static uint32_t level_of(const hgrid_live *live, const graze_box *box) {
  double half = half_size(box);
  int exponent;
  if (half < live->finest) return 0;
  (void)frexp(half / live->finest, &exponent);
  return (uint32_t)exponent;
}

static double cells_a_unit(const hgrid_live *live, uint32_t level) {
  return ldexp(0.5 / live->finest, -(int)level);
}

/* Rounded down. */
static inline int32_t cell_at(double part) {
  double cut = part > -FARTHEST ? part : -FARTHEST;
  int32_t cell = (int32_t)(cut < FARTHEST ? cut : FARTHEST);
  return cell - (cell > cut);
}

/* In which a box of the level can begin that meets this one. */
static cells cells_around(const hgrid_live *live, const graze_box *box, uint32_t level) {
  const double rounding = 0x1p-20; /* more than is lost within the farthest cells */
  cells c;
  double scale = cells_a_unit(live, level);
  for (int k = 0; k < 3; k++) {
    c.low[k] = cell_at(box->min[k] * scale - (1 + rounding));
    c.high[k] = cell_at(box->max[k] * scale);
  }
  return c;
}

/* ---- lists ----------------------------------------------------------------------------------------------------- */

static void take_out(hgrid_live *live, uint32_t slot) {
  node *n = nodes_of(live) + slot;
  if (n->bucket == NONE) return;
  uint32_t *heads = live->head_memory.data;
  if (n->previous != NONE) {
    nodes_of(live)[n->previous].next = n->next;
  } else {
    heads[n->bucket] = n->next;
  }
  if (n->next != NONE) nodes_of(live)[n->next].previous = n->previous;
  n->bucket = NONE;
  live->boxes--;
  live->in_level[n->level]--;
}

static void know_level(hgrid_live *live, uint32_t level) {
  uint32_t i = live->level_count;
  while (i > 0 && live->levels[i - 1] > level) i--;
  if (i > 0 && live->levels[i - 1] == level) return;
  memmove(live->levels + i + 1, live->levels + i, (live->level_count - i) * sizeof *live->levels);
  live->levels[i] = (uint16_t)level;
  live->level_count++;
}

static void put_in(hgrid_live *live, const broad_view *view, uint32_t slot) {
  if (!view_takes(view, slot)) return;
  uint32_t *heads = live->head_memory.data;
  node *n = nodes_of(live) + slot;
  graze_box box = view_box(view, slot);
  n->level = level_of(live, &box);
  double scale = cells_a_unit(live, n->level);
  for (int k = 0; k < 3; k++) n->cell[k] = cell_at(box.min[k] * scale);
  n->bucket = bucket_of(live, n->level, n->cell);
  n->previous = NONE;
  n->next = heads[n->bucket];
  if (n->next != NONE) nodes_of(live)[n->next].previous = slot;
  heads[n->bucket] = slot;
  live->boxes++;
  if (live->in_level[n->level]++ == 0) know_level(live, n->level);
}

/* ---- building -------------------------------------------------------------------------------------------------- */

/* How many boxes smaller than a cell share it with a box, on average; counted in the hash table, which is empty. */
static double occupancy(hgrid_live *live, const broad_view *view) {
  uint32_t *counts = live->head_memory.data, boxes = 0;
  uint64_t sum = 0;
  double scale = cells_a_unit(live, 0);
  memset(counts, 0, (live->mask + (size_t)1) * sizeof *counts);
  for (uint32_t i = 0; i < view->count; i++) {
    graze_box box = view_box(view, i);
    if (!view_takes(view, i) || half_size(&box) >= live->finest) continue;
    int32_t cell[3];
    for (int k = 0; k < 3; k++) cell[k] = cell_at(box.min[k] * scale);
    sum += 2 * counts[bucket_of(live, 0, cell)]++;
    boxes++;
  }
  return boxes > 0 ? (double)sum / boxes : 0;
}

/* Cells for the largest box, and finer ones as long as they are crowded and some boxes are that small. */
static void choose_finest(hgrid_live *live, const broad_view *view) {
  enum { CROWD = 8, HALVINGS = 40 };
  double largest = 0, smallest = DBL_MAX;
  for (uint32_t i = 0; i < view->count; i++) {
    if (!view_takes(view, i)) continue;
    graze_box box = view_box(view, i);
    double half = half_size(&box);
    largest = half > largest ? half : largest;
    smallest = half < smallest ? half : smallest;
  }
  const double least = DBL_MIN * 0x1p20;
  live->finest = largest * (1 + 1.0 / 256);
  if (live->finest < least) live->finest = least;
  for (int i = 0; i < HALVINGS && live->finest > 2 * least && live->finest > 2 * smallest; i++) {
    if (occupancy(live, view) <= CROWD) break;
    live->finest *= 0.5;
  }
}

static bool make_nodes(hgrid_live *live, const broad_view *view) {
  size_t old = live->nodes * sizeof(node);
  if (!gz_buffer_reserve(view->context, &live->node_memory, view->count * sizeof(node), old)) return false;
  for (; live->nodes < view->count; live->nodes++) nodes_of(live)[live->nodes].bucket = NONE;
  return true;
}

static bool build(hgrid_live *live, const broad_view *view) {
  uint32_t buckets = 64;
  while (buckets < view->count && buckets < UINT32_C(1) << 31) buckets *= 2;
  live->nodes = live->boxes = live->level_count = 0;
  memset(live->in_level, 0, sizeof live->in_level);
  if (!make_nodes(live, view)) return false;
  if (!gz_buffer_reserve(view->context, &live->head_memory, (size_t)buckets * sizeof(uint32_t), 0)) return false;
  uint32_t *heads = live->head_memory.data;
  live->mask = buckets - 1;
  choose_finest(live, view);
  for (uint32_t i = 0; i < buckets; i++) heads[i] = NONE;
  for (uint32_t i = 0; i < view->count; i++) put_in(live, view, i);
  live->valid = true;
  return true;
}

/* ---- looking up ------------------------------------------------------------------------------------------------ */

typedef struct lookup {
  const hgrid_live *live;
  const broad_view *view;
  const broad_edits *edits;
  pair_list *out;
  uint32_t slot;
  graze_box box;
} lookup;

/* Of two edited boxes the one with the lower slot reports the pair. */
static inline bool reports(const lookup *l, uint32_t other) {
  if (other == l->slot || (other < l->slot && l->edits->edited[other] != 0)) return false;
  return view_counts(l->view, l->slot, other);
}

static inline bool meets(const lookup *l, uint32_t other) {
  graze_box box = view_box(l->view, other);
  return graze_boxes_meet(&l->box, &box);
}

static bool meet_row(const lookup *l, uint32_t level, const cells *c, int32_t y, int32_t z) {
  const node *nodes = nodes_of(l->live);
  const uint32_t *heads = l->live->head_memory.data;
  uint32_t row = row_of(level, y, z);
  for (int32_t x = c->low[0]; x <= c->high[0]; x++) {
    for (uint32_t i = heads[(row + (uint32_t)x) & l->live->mask]; i != NONE; i = nodes[i].next) {
      const node *n = &nodes[i];
      if (!meets(l, i) || n->level != level || n->cell[0] != x || n->cell[1] != y || n->cell[2] != z) continue;
      if (reports(l, i) && !pair_list_push(l->view->context, l->out, l->slot, i)) return false;
    }
  }
  return true;
}

static bool meet_cells(const lookup *l, uint32_t level, const cells *c) {
  for (int32_t z = c->low[2]; z <= c->high[2]; z++) {
    for (int32_t y = c->low[1]; y <= c->high[1]; y++) {
      if (!meet_row(l, level, c, y, z)) return false;
    }
  }
  return true;
}

/* All boxes of the level: fewer than the cells that a large box reaches. */
static bool meet_level(const lookup *l, uint32_t level) {
  const node *nodes = nodes_of(l->live);
  for (uint32_t i = 0; i < l->live->nodes; i++) {
    if (nodes[i].bucket == NONE || nodes[i].level != level || !meets(l, i)) continue;
    if (reports(l, i) && !pair_list_push(l->view->context, l->out, l->slot, i)) return false;
  }
  return true;
}

static bool meet_all(lookup *l, uint32_t slot) {
  l->slot = slot;
  l->box = view_box(l->view, slot);
  for (uint32_t k = 0; k < l->live->level_count; k++) {
    uint32_t level = l->live->levels[k];
    if (l->live->in_level[level] == 0) continue;
    cells c = cells_around(l->live, &l->box, level);
    double number = 1;
    for (int j = 0; j < 3; j++) number *= (double)(c.high[j] - c.low[j] + 1);
    bool good = number > l->live->nodes ? meet_level(l, level) : meet_cells(l, level, &c);
    if (!good) return false;
  }
  return true;
}

graze_status gz_hgrid_live_step(hgrid_live *live, const broad_view *view, const broad_edits *edits, pair_list *out) {
  bool crowded = live->valid && view->count > 2 * (uint64_t)live->mask;
  if (!live->valid || crowded) {
    live->valid = false;
    if (!build(live, view)) return GRAZE_ERROR_MEMORY;
  } else {
    if (!make_nodes(live, view)) return GRAZE_ERROR_MEMORY;
    for (uint32_t i = 0; i < edits->count; i++) {
      take_out(live, edits->slots[i]);
      put_in(live, view, edits->slots[i]);
    }
  }
  lookup l = {.live = live, .view = view, .edits = edits, .out = out};
  for (uint32_t i = 0; i < edits->count; i++) {
    uint32_t slot = edits->slots[i];
    if (nodes_of(live)[slot].bucket != NONE && !meet_all(&l, slot)) return GRAZE_ERROR_MEMORY;
  }
  return GRAZE_OK;
}

void gz_hgrid_live_release(const graze_context *context, hgrid_live *live) {
  gz_buffer_release(context, &live->node_memory);
  gz_buffer_release(context, &live->head_memory);
}

size_t gz_hgrid_live_bytes(const hgrid_live *live) {
  return live->node_memory.bytes + live->head_memory.bytes;
}
