/* Pairs out of the spatial hash: boxes of one cell, of two levels, of an edited box. */
#include <string.h>

#include "broad/hash.h"

static void emit(hash_walk *w, uint32_t a, uint32_t b) {
  /* Two edited boxes find each other: the lower one says so. */
  if (w->edits != NULL && b < a && w->edits->edited[b] != 0) return;
  bool exact = w->view->precision == GRAZE_FLOAT; /* floats that meet are boxes that meet */
  if (!(exact ? view_counts : view_meet)(w->view, a, b)) return;
  if (!pair_list_push(w->view->context, w->out, a, b)) w->failed = true;
}

/* As floats. Boxes in a cell mostly do not meet, on no axis more than on another: one branch is better than six. */
static inline bool meet(const hash_box *a, const hash_box *b) {
  return (a->min[0] <= b->max[0]) & (b->min[0] <= a->max[0]) & (a->min[1] <= b->max[1]) & (b->min[1] <= a->max[1]) &
         (a->min[2] <= b->max[2]) & (b->min[2] <= a->max[2]);
}

/* One box and the first `filled` entries of a block. */
static inline void test_block(hash_walk *w, const hash_box *a, unsigned low, const hash_block *block, uint32_t filled) {
  const hash_box *boxes = w->s->boxes.data;
  for (uint32_t j = 0; j < filled; j++) {
    const hash_box *b = &boxes[block->place[j]];
    if (((low | block->low[j]) == HASH_ALL_LOW) & (int)meet(a, b) && a != b) emit(w, a->slot, b->slot);
  }
}

/* Pairs of the entries of a cell of any number. */
static void pairs_in_large_cell(hash_walk *w, const hash_cell *cell) {
  const hash_box *boxes = w->s->boxes.data;
  const hash_block *blocks = w->s->blocks.data;
  uint32_t filled = cell->count != 0 ? hash_in_first(cell) : 0;
  for (uint32_t x = cell->blocks; x != HASH_NONE && !w->failed; x = blocks[x].next, filled = HASH_BLOCK) {
    for (uint32_t i = 0; i < filled; i++) {
      const hash_box *a = &boxes[blocks[x].place[i]];
      test_block(w, a, blocks[x].low[i], &blocks[x], i);
      for (uint32_t y = blocks[x].next; y != HASH_NONE; y = blocks[y].next) {
        test_block(w, a, blocks[x].low[i], &blocks[y], HASH_BLOCK);
      }
    }
  }
}

enum { GATHERED = 48, LANES = 4 };
typedef float lanes __attribute__((vector_size(4 * LANES)));
typedef int32_t lanes_int __attribute__((vector_size(4 * LANES)));

/* The boxes of a cell side by side, so that one is tested against several at a time. */
typedef struct hash_gathered {
  alignas(16) float min[3][GATHERED];
  float max[3][GATHERED];
  int32_t low[GATHERED];
  uint32_t slot[GATHERED];
  uint32_t count;
} hash_gathered;

static inline lanes lanes_at(const float *at) {
  lanes v;
  memcpy(&v, at, sizeof v);
  return v;
}

static void gather(const hash_state *s, const hash_cell *cell, hash_gathered *g) {
  const hash_box *boxes = s->boxes.data;
  const hash_block *blocks = s->blocks.data;
  uint32_t filled = hash_in_first(cell);
  g->count = 0;
  for (uint32_t x = cell->blocks; x != HASH_NONE; x = blocks[x].next, filled = HASH_BLOCK) {
    for (uint32_t i = 0; i < filled; i++) {
      const hash_box *b = &boxes[blocks[x].place[i]];
      for (int k = 0; k < 3; k++) {
        g->min[k][g->count] = b->min[k];
        g->max[k][g->count] = b->max[k];
      }
      g->low[g->count] = blocks[x].low[i];
      g->slot[g->count++] = b->slot;
    }
  }
}

/* Box `i` and those before it; what stands behind them is looked at as well, and left out. Which lanes hit is not to be
 * foreseen, so that hits are gathered without a branch. */
static inline void test_gathered(hash_walk *w, const hash_gathered *g, uint32_t i) {
  uint32_t hits[GATHERED + 1], count = 0;
  for (uint32_t from = 0; from < i; from += LANES) {
    lanes_int hit;
    memcpy(&hit, &g->low[from], sizeof hit);
    hit = (hit | g->low[i]) == HASH_ALL_LOW;
    for (int k = 0; k < 3; k++) {
      hit &= (lanes_at(&g->min[k][from]) <= g->max[k][i]) & (g->min[k][i] <= lanes_at(&g->max[k][from]));
    }
    for (uint32_t l = 0; l < LANES; l++) {
      hits[count] = from + l;
      count += (uint32_t)hit[l] & 1;
    }
  }
  for (uint32_t n = 0; n < count && hits[n] < i; n++) emit(w, g->slot[i], g->slot[hits[n]]);
}

void gz_hash_pairs_in_cell(hash_walk *w, const hash_cell *cell) {
  if (cell->count > GATHERED) {
    pairs_in_large_cell(w, cell);
    return;
  }
  if (cell->count < 2) return;
  hash_gathered g;
  gather(w->s, cell, &g);
  for (uint32_t i = 1; i < g.count; i++) test_gathered(w, &g, i);
}

/* A box and all others that are of one level. */
static void pairs_on_level(hash_walk *w, const hash_box *a, uint32_t level) {
  const hash_block *blocks = w->s->blocks.data;
  hash_cell_span span = hash_span_of(w->s, a, level);
  int64_t at[3] = {span.low[0], span.low[1], span.low[2]};
  do {
    uint32_t c = hash_find_cell(w->s, level, at);
    if (c == HASH_NONE) continue;
    const hash_cell *cell = (const hash_cell *)w->s->cells.data + c;
    unsigned low = hash_low_of(&span, at);
    uint32_t filled = hash_in_first(cell);
    for (uint32_t x = cell->blocks; x != HASH_NONE; x = blocks[x].next, filled = HASH_BLOCK) {
      test_block(w, a, low, &blocks[x], filled);
    }
  } while (hash_next_cell(&span, at) && !w->failed);
}

/* A box and all others of the levels [begin, end), one by one. */
static void pairs_by_scan(hash_walk *w, const hash_box *a, uint32_t begin, uint32_t end) {
  const hash_box *boxes = w->s->boxes.data;
  for (uint32_t p = 0; p < w->s->box_end && !w->failed; p++) {
    const hash_box *b = &boxes[p];
    if (b->level >= begin && b->level < end && b != a && meet(a, b)) emit(w, a->slot, b->slot);
  }
}

void gz_hash_pairs_with_coarser(hash_walk *w, const hash_box *a) {
  const hash_state *s = w->s;
  const hash_box *boxes = s->boxes.data;
  const uint32_t *wide = s->wide.data;
  for (uint32_t level = a->level + 1u; level < HASH_LEVELS; level++) {
    if (s->on_level[level] != 0) pairs_on_level(w, a, level);
  }
  for (uint32_t i = 0; i < s->wide_count; i++) {
    const hash_box *b = &boxes[wide[i]];
    if ((a->level != HASH_WIDE || a < b) && meet(a, b)) emit(w, a->slot, b->slot);
  }
}

void gz_hash_pairs_of_box(hash_walk *w, const hash_box *a) {
  const hash_state *s = w->s;
  const hash_box *boxes = s->boxes.data;
  if (a->level == HASH_WIDE) {
    pairs_by_scan(w, a, 0, HASH_WIDE + 1);
    return;
  }
  double cells = 0;
  for (uint32_t level = 0; level < a->level; level++) {
    hash_cell_span span = hash_span_of(s, a, level);
    if (s->on_level[level] != 0) cells += hash_cells_of(&span);
  }
  bool scan = cells > s->box_end;
  if (scan) pairs_by_scan(w, a, 0, a->level);
  for (uint32_t level = scan ? a->level : 0; level < HASH_LEVELS; level++) {
    if (s->on_level[level] != 0) pairs_on_level(w, a, level);
  }
  const uint32_t *wide = s->wide.data;
  for (uint32_t i = 0; i < s->wide_count; i++) {
    const hash_box *b = &boxes[wide[i]];
    if (meet(a, b)) emit(w, a->slot, b->slot);
  }
}
