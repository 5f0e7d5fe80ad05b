/* Few edits in a hierarchical grid: every box is in the list of one cell, the cells are found by hashing. Adding,
 * moving and removing a box takes constant time; its partners are in the few cells around it of each level in use.
 *
 * Level e has cells of edge 2^e for boxes of largest extent below that, and not below half of it but for the finest
 * level. A box is in the cell of its low corner. Scaling by a power of two is exact, so that a box that reaches q's
 * cell begins there or in the cell before; cells far out are one, which only makes it fuller. Boxes of other cells in
 * the same list are told by their cell, so that none is met twice.
 *
 * Source: Ericson, "Real-Time Collision Detection" (2005), 7.2. 36 bytes a box. */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "broad/hgrid.h"

enum { NONE = UINT32_MAX - 1, FARTHEST = 1 << 29 };

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

static uint32_t bucket_of(const hgrid_live *live, uint32_t level, const int32_t cell[3]) {
  uint64_t xy = (uint64_t)(uint32_t)cell[0] << 32 | (uint32_t)cell[1];
  return (uint32_t)splitmix64(xy ^ splitmix64((uint64_t)level << 32 | (uint32_t)cell[2])) & live->mask;
}

/* ---- levels and cells ------------------------------------------------------------------------------------------ */

static uint32_t level_of_extent(double half) {
  int exponent;
  if (half == 0) return 0;
  (void)frexp(half, &exponent);
  return (uint32_t)(exponent + 1 + HGRID_ZERO);
}

static uint32_t level_of(const graze_box *box) {
  double half = 0;
  for (int k = 0; k < 3; k++) half = fmax(half, 0.5 * box->max[k] - 0.5 * box->min[k]);
  return level_of_extent(half);
}

/* Multiplies by 2^-e: in two steps, as 2^-e itself may be no double. */
typedef struct scale {
  double first, second;
} scale;

static scale scale_of(uint32_t level) {
  int power = HGRID_ZERO - (int)level;
  return (scale){ldexp(1, power / 2), ldexp(1, power - power / 2)};
}

static int32_t cell_at(double x, scale by) {
  double cell = floor(x * by.first * by.second);
  return cell < -FARTHEST ? -FARTHEST : cell > FARTHEST ? FARTHEST : (int32_t)cell;
}

/* In which a box of the level can begin that meets this one. */
static cells cells_around(const graze_box *box, uint32_t level) {
  cells c;
  scale by = scale_of(level);
  for (int k = 0; k < 3; k++) {
    c.low[k] = cell_at(box->min[k], by) - 1;
    c.high[k] = cell_at(box->max[k], by);
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
  uint32_t level = level_of(&box);
  n->level = level < live->finest ? live->finest : level;
  scale by = scale_of(n->level);
  for (int k = 0; k < 3; k++) n->cell[k] = cell_at(box.min[k], by);
  n->bucket = bucket_of(live, n->level, n->cell);
  n->previous = NONE;
  n->next = heads[n->bucket];
  if (n->next != NONE) nodes_of(live)[n->next].previous = slot;
  heads[n->bucket] = slot;
  live->boxes++;
  if (live->in_level[n->level]++ == 0) know_level(live, n->level);
}

/* ---- building -------------------------------------------------------------------------------------------------- */

/* The level of half the mean distance of boxes, or of the median box when that is less: cells with hardly more than a
 * box each. Boxes without size have but eight cells to look at, however small these are. */
static uint32_t finest_level(const broad_view *view) {
  uint32_t histogram[HGRID_EXPONENTS] = {0}, count = 0, axes = 0, median = 0;
  double low[3] = {0}, high[3] = {0}, logarithm = 0;
  for (uint32_t i = 0; i < view->count; i++) {
    if (!view_takes(view, i)) continue;
    graze_box box = view_box(view, i);
    for (int k = 0; k < 3; k++) {
      if (count == 0 || box.min[k] < low[k]) low[k] = box.min[k];
      if (count == 0 || box.min[k] > high[k]) high[k] = box.min[k];
    }
    histogram[level_of(&box)]++;
    count++;
  }
  for (int k = 0; k < 3; k++) {
    double range = 0.5 * high[k] - 0.5 * low[k];
    if (range <= 0) continue;
    logarithm += log2(range) + 1;
    axes++;
  }
  if (count == 0 || axes == 0) return 0;
  for (uint32_t sum = histogram[0]; sum < count / 2; sum += histogram[++median]) {
  }
  double spacing = (logarithm - log2(count)) / axes - (median == 0 ? 10 : 1);
  int level = (int)floor(spacing) + 1 + HGRID_ZERO;
  if (level < 0) level = 0;
  return median > 0 && median < (uint32_t)level ? median : (uint32_t)level;
}

static bool make_nodes(hgrid_live *live, const broad_view *view) {
  size_t old = live->nodes * sizeof(node);
  if (!buffer_reserve(view->context, &live->node_memory, view->count * sizeof(node), old)) return false;
  for (; live->nodes < view->count; live->nodes++) nodes_of(live)[live->nodes].bucket = NONE;
  return true;
}

static bool build(hgrid_live *live, const broad_view *view) {
  uint32_t buckets = 64;
  while (buckets < view->count && buckets < UINT32_C(1) << 31) buckets *= 2;
  live->nodes = live->boxes = live->level_count = 0;
  memset(live->in_level, 0, sizeof live->in_level);
  if (!make_nodes(live, view)) return false;
  if (!buffer_reserve(view->context, &live->head_memory, (size_t)buckets * sizeof(uint32_t), 0)) return false;
  uint32_t *heads = live->head_memory.data;
  for (uint32_t i = 0; i < buckets; i++) heads[i] = NONE;
  live->mask = buckets - 1;
  live->finest = finest_level(view);
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
} lookup;

/* Of two edited boxes the one with the lower slot reports the pair. */
static inline bool meet(const lookup *l, uint32_t other) {
  if (other == l->slot || (other < l->slot && l->edits->edited[other] != 0)) return true;
  return !view_meet(l->view, l->slot, other) || pair_list_push(l->view->context, l->out, l->slot, other);
}

static bool meet_cell(const lookup *l, uint32_t level, const int32_t cell[3]) {
  const node *nodes = nodes_of(l->live);
  const uint32_t *heads = l->live->head_memory.data;
  for (uint32_t i = heads[bucket_of(l->live, level, cell)]; i != NONE; i = nodes[i].next) {
    const node *n = &nodes[i];
    if (n->level != level || n->cell[0] != cell[0] || n->cell[1] != cell[1] || n->cell[2] != cell[2]) continue;
    if (!meet(l, i)) return false;
  }
  return true;
}

static bool meet_cells(const lookup *l, uint32_t level, const cells *c) {
  int32_t cell[3];
  for (cell[2] = c->low[2]; cell[2] <= c->high[2]; cell[2]++) {
    for (cell[1] = c->low[1]; cell[1] <= c->high[1]; cell[1]++) {
      for (cell[0] = c->low[0]; cell[0] <= c->high[0]; cell[0]++) {
        if (!meet_cell(l, level, cell)) return false;
      }
    }
  }
  return true;
}

static bool meet_level(const lookup *l, uint32_t level) {
  const node *nodes = nodes_of(l->live);
  for (uint32_t i = 0; i < l->live->nodes; i++) {
    if (nodes[i].bucket != NONE && nodes[i].level == level && !meet(l, i)) return false;
  }
  return true;
}

static bool meet_all(const lookup *l) {
  graze_box box = view_box(l->view, l->slot);
  for (uint32_t k = 0; k < l->live->level_count; k++) {
    uint32_t level = l->live->levels[k];
    if (l->live->in_level[level] == 0) continue;
    cells c = cells_around(&box, level);
    double number = 1;
    for (int j = 0; j < 3; j++) number *= (double)(c.high[j] - c.low[j] + 1);
    /* A large box has more small cells around it than there are boxes. */
    bool good = number > l->live->nodes ? meet_level(l, level) : meet_cells(l, level, &c);
    if (!good) return false;
  }
  return true;
}

graze_status hgrid_live_step(hgrid_live *live, const broad_view *view, const broad_edits *edits, pair_list *out) {
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
  lookup l = {live, view, edits, out, 0};
  for (uint32_t i = 0; i < edits->count; i++) {
    l.slot = edits->slots[i];
    if (nodes_of(live)[l.slot].bucket != NONE && !meet_all(&l)) return GRAZE_ERROR_MEMORY;
  }
  return GRAZE_OK;
}

void hgrid_live_release(const graze_context *context, hgrid_live *live) {
  buffer_release(context, &live->node_memory);
  buffer_release(context, &live->head_memory);
}

size_t hgrid_live_bytes(const hgrid_live *live) {
  return live->node_memory.bytes + live->head_memory.bytes;
}
