/* Spatial hash: a grid without end of which only the cells in use are kept, found by hashing their coordinates.
 *
 * M. Teschner, B. Heidelberger, M. Mueller, D. Pomerantes, M. Gross, "Optimized spatial hashing for collision detection
 * of deformable objects", 2003: the hash is the xor of the three cell coordinates, each times a large prime. One of the
 * three numbers printed there is no prime (19349663 = 41 * 471943); the next prime above it stands in its place. A cell
 * keeps its full coordinates, so that cells of equal hash are never taken for one another. Coordinates are floors, in
 * 64 bits: negative ones are like others, and what lies beyond 2^60 cells counts as lying there, which keeps the order.
 *
 * The cell is a power of two, 1.5 to 3 times the median edge or, when sizes are mixed, wider while that pays. A box is
 * in every cell that it touches. Boxes too large for that are in a coarser grid of the same table, cells four times as
 * wide as those of the level before, so that no box is in more than eight cells; what the coarsest grid does not bound
 * either is in a list and compared with all. Boxes of two levels are compared where the smaller one touches cells of
 * the coarser level.
 *
 * Two boxes may share several cells. The pair belongs to the one with the component-wise greatest of their two lower
 * corners (J.-P. Dittrich, B. Seeger, "Data redundancy and duplicate detection in spatial join processing", 2000). That
 * cell is for each axis the lowest cell of one of the two, so that three bits kept with every entry decide.
 *
 * From nothing: O(n + k) when boxes are spread as in common scenes; boxes are taken in the order of coarse places, so
 * that what is near in space is near in memory. An edit costs what there is in the cells that the box touches.
 * Memory: 32 bytes a box and some 70 for its entries, in blocks of 64 bytes for twelve.
 */
#include <math.h>
#include <stdalign.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "broad/broad.h"

enum {
  LEVELS = 17,    /* of cells; each four times as wide as the one before */
  WIDE = LEVELS,  /* in place of a level: in the list */
  FREE,           /* in place of a level: no box */
  MOST_CELLS = 8, /* that a box is put in */
  BLOCK = 12,     /* entries */
  ALL_LOW = 7
};

static const uint32_t NONE = UINT32_MAX;

/* Packed: the nearest floats. */
typedef struct hash_box {
  alignas(32) float min[3];
  uint32_t slot; /* of a free one: the next free one */
  float max[3];
  uint8_t level;
} hash_box;

/* Entries of a cell: which boxes, and on which axes the cell is the lowest that the box touches. */
typedef struct hash_block {
  uint32_t next;
  uint8_t low[BLOCK];
  uint32_t place[BLOCK];
} hash_block;

typedef struct hash_cell {
  int64_t at[3];
  uint32_t level;
  uint32_t next;   /* with the same hash, or free */
  uint32_t blocks; /* the first, which alone may be part empty */
  uint32_t count;  /* of entries */
} hash_cell;

typedef struct hash_state {
  double size[LEVELS], inverse[LEVELS]; /* of a cell's edge */
  buffer boxes;                         /* hash_box by place */
  buffer places;                        /* by slot; NONE: no box */
  buffer cells, blocks, wide;
  buffer buckets; /* first cell of each hash */
  buffer codes;   /* scratch: by slot, the coarse place; or counters of cells */
  unsigned bucket_bits;
  uint32_t slot_count, box_end, cell_end, block_end; /* that were ever in use */
  uint32_t free_box, free_cell, free_block;
  uint32_t wide_count, cell_count;
  uint32_t on_level[LEVELS + 1];
  uint32_t found;   /* boxes at the last find */
  uint64_t edited;  /* boxes since */
  pair_lists lists; /* scratch: of the pieces of a search */
} hash_state;

/* ---- cells ----------------------------------------------------------------------------------------------------- */

typedef struct cell_span {
  int64_t low[3], high[3];
} cell_span;

/* Monotone: numbers in order have cells in order. */
static inline int64_t coordinate(double x, double inverse) {
  const double end = 0x1p60;
  double c = x * inverse;
  c = c < -end ? -end : c > end ? end : c;
  int64_t i = (int64_t)c;
  return i - ((double)i > c);
}

static inline cell_span span_of(const hash_state *s, const hash_box *box, uint32_t level) {
  cell_span span;
  for (int k = 0; k < 3; k++) {
    span.low[k] = coordinate((double)box->min[k], s->inverse[level]);
    span.high[k] = coordinate((double)box->max[k], s->inverse[level]);
  }
  return span;
}

static double cells_of(const cell_span *span) {
  double cells = 1;
  for (int k = 0; k < 3; k++) cells *= (double)(span->high[k] - span->low[k] + 1);
  return cells;
}

static inline bool next_cell(const cell_span *span, int64_t at[3]) {
  for (int k = 0; k < 3; k++) {
    if (at[k]++ < span->high[k]) return true;
    at[k] = span->low[k];
  }
  return false;
}

/* On which axes the cell is the lowest of the span. */
static inline unsigned low_of(const cell_span *span, const int64_t at[3]) {
  return (unsigned)(at[0] == span->low[0]) | (unsigned)(at[1] == span->low[1]) << 1 |
         (unsigned)(at[2] == span->low[2]) << 2;
}

/* The last product brings all bits of the hash into the upper ones, which are used. */
static inline uint64_t hash_of(uint32_t level, const int64_t at[3]) {
  uint64_t hash = ((uint64_t)at[0] * 73856093u) ^ ((uint64_t)at[1] * 19349669u) ^ ((uint64_t)at[2] * 83492791u);
  return (hash + level) * 0x9E3779B97F4A7C15u;
}

/* The table's size is a power of two. */
static inline uint32_t bucket_of(const hash_state *s, uint32_t level, const int64_t at[3]) {
  return (uint32_t)(hash_of(level, at) >> (64 - s->bucket_bits));
}

static inline uint32_t find_cell(const hash_state *s, uint32_t level, const int64_t at[3]) {
  const hash_cell *cells = s->cells.data;
  uint32_t c = ((const uint32_t *)s->buckets.data)[bucket_of(s, level, at)];
  while (c != NONE &&
         (cells[c].at[0] != at[0] || cells[c].at[1] != at[1] || cells[c].at[2] != at[2] || cells[c].level != level)) {
    c = cells[c].next;
  }
  return c;
}

/* Makes the table have 2^bits buckets, and puts the cells into them. */
static bool make_buckets(const graze_context *context, hash_state *s, unsigned bits) {
  size_t bytes = sizeof(uint32_t) << bits;
  if (!buffer_reserve(context, &s->buckets, bytes, 0)) return false;
  s->bucket_bits = bits;
  memset(s->buckets.data, 0xff, bytes);
  uint32_t *buckets = s->buckets.data;
  hash_cell *cells = s->cells.data;
  for (uint32_t c = 0; c < s->cell_end; c++) {
    if (cells[c].count == 0) continue;
    uint32_t *bucket = &buckets[bucket_of(s, cells[c].level, cells[c].at)];
    cells[c].next = *bucket;
    *bucket = c;
  }
  return true;
}

/* An element from the free ones, or a new one. NONE: no memory. */
static uint32_t new_cell(const graze_context *context, hash_state *s) {
  uint32_t c = s->free_cell;
  if (c != NONE) {
    s->free_cell = ((const hash_cell *)s->cells.data)[c].next;
    return c;
  }
  size_t used = (size_t)s->cell_end * sizeof(hash_cell);
  return buffer_reserve(context, &s->cells, used + sizeof(hash_cell), used) ? s->cell_end++ : NONE;
}

static uint32_t new_block(const graze_context *context, hash_state *s) {
  uint32_t b = s->free_block;
  if (b != NONE) {
    s->free_block = ((const hash_block *)s->blocks.data)[b].next;
    return b;
  }
  size_t used = (size_t)s->block_end * sizeof(hash_block);
  return buffer_reserve(context, &s->blocks, used + sizeof(hash_block), used) ? s->block_end++ : NONE;
}

static uint32_t add_cell(const graze_context *context, hash_state *s, uint32_t level, const int64_t at[3]) {
  uint32_t c = new_cell(context, s);
  if (c == NONE) return NONE;
  hash_cell *cell = (hash_cell *)s->cells.data + c;
  *cell = (hash_cell){{at[0], at[1], at[2]}, level, NONE, NONE, 0};
  s->cell_count++;
  /* An empty cell is not put into a new table; so it is linked in afterwards. */
  if (s->cell_count >> s->bucket_bits != 0 && !make_buckets(context, s, s->bucket_bits + 1)) return NONE;
  uint32_t *bucket = (uint32_t *)s->buckets.data + bucket_of(s, level, at);
  cell->next = *bucket;
  *bucket = c;
  return c;
}

static void drop_cell(hash_state *s, uint32_t c) {
  hash_cell *cells = s->cells.data;
  uint32_t *link = (uint32_t *)s->buckets.data + bucket_of(s, cells[c].level, cells[c].at);
  while (*link != c) link = &cells[*link].next;
  *link = cells[c].next;
  cells[c].next = s->free_cell;
  s->free_cell = c;
  s->cell_count--;
}

/* Entries in the first block of a cell that has some. */
static inline uint32_t in_first(const hash_cell *cell) {
  return (cell->count - 1) % BLOCK + 1;
}

static bool add_entry(const graze_context *context, hash_state *s, uint32_t c, uint32_t place, unsigned low) {
  hash_cell *cell = (hash_cell *)s->cells.data + c;
  uint32_t at = cell->count % BLOCK;
  if (at == 0) {
    uint32_t b = new_block(context, s);
    if (b == NONE) return false;
    ((hash_block *)s->blocks.data)[b].next = cell->blocks;
    cell->blocks = b;
  }
  hash_block *block = (hash_block *)s->blocks.data + cell->blocks;
  block->place[at] = place;
  block->low[at] = (uint8_t)low;
  cell->count++;
  return true;
}

/* The last entry of the first block takes the place of the one that goes. */
static void drop_entry(hash_state *s, uint32_t c, uint32_t place) {
  hash_cell *cell = (hash_cell *)s->cells.data + c;
  hash_block *blocks = s->blocks.data, *first = &blocks[cell->blocks], *block = first;
  uint32_t last = in_first(cell) - 1, i = 0, filled = last + 1;
  while (block->place[i] != place) {
    if (++i < filled) continue;
    block = &blocks[block->next];
    i = 0;
    filled = BLOCK;
  }
  block->place[i] = first->place[last];
  block->low[i] = first->low[last];
  cell->count--;
  if (last == 0) {
    uint32_t empty = cell->blocks;
    cell->blocks = first->next;
    first->next = s->free_block;
    s->free_block = empty;
  }
  if (cell->count == 0) drop_cell(s, c);
}

/* ---- boxes ----------------------------------------------------------------------------------------------------- */

static inline hash_box packed(const graze_box *box, uint32_t slot) {
  hash_box b = {.slot = slot};
  for (int k = 0; k < 3; k++) {
    b.min[k] = (float)box->min[k];
    b.max[k] = (float)box->max[k];
  }
  return b;
}

static double longest_edge(const graze_box *b) {
  double longest = 0;
  for (int k = 0; k < 3; k++) {
    double edge = b->max[k] - b->min[k];
    longest = edge > longest ? edge : longest;
  }
  return longest;
}

/* The finest level whose cells are at least 1.5 times as wide as the box, the coarsest if there is none. `span` gets
 * the cells there. */
static uint8_t level_of(const hash_state *s, const hash_box *box, cell_span *span) {
  double wanted = 0;
  for (int k = 0; k < 3; k++) {
    double edge = 1.5 * ((double)box->max[k] - (double)box->min[k]);
    wanted = edge > wanted ? edge : wanted;
  }
  uint8_t level = 0;
  while (level < LEVELS - 1 && wanted > s->size[level]) level++;
  *span = span_of(s, box, level);
  return level == LEVELS - 1 && cells_of(span) > MOST_CELLS ? WIDE : level;
}

static bool put_in(const graze_context *context, hash_state *s, uint32_t place, uint8_t level, const cell_span *span) {
  ((hash_box *)s->boxes.data)[place].level = level;
  s->on_level[level]++;
  if (level == WIDE) {
    size_t used = s->wide_count * sizeof(uint32_t);
    if (!buffer_reserve(context, &s->wide, used + sizeof(uint32_t), used)) return false;
    ((uint32_t *)s->wide.data)[s->wide_count++] = place;
    return true;
  }
  int64_t at[3] = {span->low[0], span->low[1], span->low[2]};
  do {
    uint32_t c = find_cell(s, level, at);
    if (c == NONE) c = add_cell(context, s, level, at);
    if (c == NONE || !add_entry(context, s, c, place, low_of(span, at))) return false;
  } while (next_cell(span, at));
  return true;
}

static void take_out(hash_state *s, uint32_t place) {
  const hash_box *b = (const hash_box *)s->boxes.data + place;
  s->on_level[b->level]--;
  if (b->level == WIDE) {
    uint32_t *wide = s->wide.data, i = 0;
    while (wide[i] != place) i++;
    wide[i] = wide[--s->wide_count];
    return;
  }
  cell_span span = span_of(s, b, b->level);
  int64_t at[3] = {span.low[0], span.low[1], span.low[2]};
  do {
    drop_entry(s, find_cell(s, b->level, at), place);
  } while (next_cell(&span, at));
}

/* ---- pairs ----------------------------------------------------------------------------------------------------- */

/* What one task looks for: pairs into its own list. */
typedef struct hash_walk {
  const hash_state *s;
  const broad_view *view;
  pair_list *out;
  const broad_edits *edits; /* pairs that have an edited slot are met twice; NULL: no pair is */
  bool failed;              /* no memory */
} hash_walk;

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
    if (((low | block->low[j]) == ALL_LOW) & (int)meet(a, b) && a != b) emit(w, a->slot, b->slot);
  }
}

/* Pairs of the entries of a cell of any number. */
static void pairs_in_large_cell(hash_walk *w, const hash_cell *cell) {
  const hash_box *boxes = w->s->boxes.data;
  const hash_block *blocks = w->s->blocks.data;
  uint32_t filled = cell->count != 0 ? in_first(cell) : 0;
  for (uint32_t x = cell->blocks; x != NONE && !w->failed; x = blocks[x].next, filled = BLOCK) {
    for (uint32_t i = 0; i < filled; i++) {
      const hash_box *a = &boxes[blocks[x].place[i]];
      test_block(w, a, blocks[x].low[i], &blocks[x], i);
      for (uint32_t y = blocks[x].next; y != NONE; y = blocks[y].next) {
        test_block(w, a, blocks[x].low[i], &blocks[y], BLOCK);
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
  uint32_t filled = in_first(cell);
  g->count = 0;
  for (uint32_t x = cell->blocks; x != NONE; x = blocks[x].next, filled = BLOCK) {
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
    hit = (hit | g->low[i]) == ALL_LOW;
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

/* Pairs of the entries of one cell. */
static void pairs_in_cell(hash_walk *w, const hash_cell *cell) {
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
  cell_span span = span_of(w->s, a, level);
  int64_t at[3] = {span.low[0], span.low[1], span.low[2]};
  do {
    uint32_t c = find_cell(w->s, level, at);
    if (c == NONE) continue;
    const hash_cell *cell = (const hash_cell *)w->s->cells.data + c;
    unsigned low = low_of(&span, at);
    uint32_t filled = in_first(cell);
    for (uint32_t x = cell->blocks; x != NONE; x = blocks[x].next, filled = BLOCK) {
      test_block(w, a, low, &blocks[x], filled);
    }
  } while (next_cell(&span, at) && !w->failed);
}

/* A box and all others of the levels [begin, end), one by one. */
static void pairs_by_scan(hash_walk *w, const hash_box *a, uint32_t begin, uint32_t end) {
  const hash_box *boxes = w->s->boxes.data;
  for (uint32_t p = 0; p < w->s->box_end && !w->failed; p++) {
    const hash_box *b = &boxes[p];
    if (b->level >= begin && b->level < end && b != a && meet(a, b)) emit(w, a->slot, b->slot);
  }
}

/* ---- from nothing ---------------------------------------------------------------------------------------------- */

/* What the choice of the cell needs. */
typedef struct hash_survey {
  graze_box all;
  uint32_t boxes;
  uint32_t exponents[2048]; /* how many boxes have 1.5 times their edge in [2^(e - 1023), 2^(e - 1022)) */
} hash_survey;

static unsigned exponent_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (unsigned)(bits >> 52) & 2047;
}

static void survey(const broad_view *view, hash_survey *v) {
  const double inf = (double)INFINITY;
  *v = (hash_survey){.all = {{inf, inf, inf}, {-inf, -inf, -inf}}};
  for (uint32_t slot = 0; slot < view->count; slot++) {
    if (!view_takes(view, slot)) continue;
    graze_box b = view_box(view, slot);
    for (int k = 0; k < 3; k++) {
      v->all.min[k] = b.min[k] < v->all.min[k] ? b.min[k] : v->all.min[k];
      v->all.max[k] = b.max[k] > v->all.max[k] ? b.max[k] : v->all.max[k];
    }
    v->exponents[exponent_of(1.5 * longest_edge(&b))]++;
    v->boxes++;
  }
}

enum { CROWD_BITS = 16, CROWD_BOXES = 1 << 14 };

/* How many boxes there are in the cell of the lower corner of a box, in the mean, for cells of edge 2^exponent. Looks
 * at all boxes of some cells, so many that the counters are nearly all of one cell each. */
static double crowd(const broad_view *view, hash_state *s, uint32_t boxes, int exponent) {
  uint32_t *counters = s->codes.data;
  memset(counters, 0, sizeof *counters << CROWD_BITS);
  unsigned skip = 0;
  while (boxes >> skip > CROWD_BOXES) skip++;
  double inverse = ldexp(1, -exponent), squares = 0, seen = 1;
  for (uint32_t slot = 0; slot < view->count; slot++) {
    if (!view_takes(view, slot)) continue;
    graze_box b = view_box(view, slot);
    int64_t at[3];
    for (int k = 0; k < 3; k++) at[k] = coordinate(b.min[k], inverse);
    uint64_t hash = hash_of(0, at);
    if ((hash >> 24 & ((1u << skip) - 1)) != 0) continue;
    squares += 1 + 2.0 * counters[hash >> (64 - CROWD_BITS)]++;
    seen++;
  }
  return squares / seen;
}

/* How many levels above the first have boxes when the first has cells of edge 2^exponent. */
static int levels_above(const hash_survey *v, int exponent) {
  int levels = 0;
  for (int e = exponent + 1; e <= 1024; e += 2) {
    levels += v->exponents[e + 1022] != 0 || (e < 1024 && v->exponents[e + 1023] != 0);
  }
  return levels;
}

/* The finest cell. For half of the boxes it is the next power of two above 1.5 edges, so that no cell has many of the
 * rest when boxes of all sizes are spread alike; wider when the sizes are mixed and the boxes not so dense that this
 * costs more tests than it saves levels to look through. The largest number is at most 2^30 cells away, for which the
 * levels suffice. */
static int choose_exponent(const broad_view *view, hash_state *s, const hash_survey *v) {
  enum { TRIED = 8, LEVEL_COST = 10 }; /* in boxes of a crowd, roughly: 5 and 40 choose alike on common scenes */
  double farthest = 0;
  for (int k = 0; k < 3; k++) farthest = fmax(farthest, fmax(fabs(v->all.min[k]), fabs(v->all.max[k])));
  uint32_t seen = 0;
  int first = 0;
  while (first < 2047 && (seen += v->exponents[first]) < v->boxes - v->boxes / 2) first++;
  first -= 1022;
  int least = (int)exponent_of(farthest) - 1022 - 30;
  if (first < least) first = least;
  int levels = levels_above(v, first), best = first;
  double lowest = (double)INFINITY;
  for (int e = first; e < first + TRIED && e <= 1000 && levels > 0; e++) {
    levels = levels_above(v, e);
    double cost = crowd(view, s, v->boxes, e) + LEVEL_COST * levels;
    if (cost < lowest) {
      lowest = cost;
      best = e;
    }
  }
  return best;
}

static void set_cells(hash_state *s, int exponent) {
  for (int level = 0; level < LEVELS; level++) {
    int e = exponent + 2 * level;
    e = e < -1022 ? -1022 : e > 1023 ? 1023 : e;
    s->size[level] = ldexp(1, e);
    s->inverse[level] = 1 / s->size[level];
  }
}

enum { CODE_BITS = 5, CODES = 1 << 3 * CODE_BITS, NO_CODE = CODES };

/* The coarse place of a box among all: of 32 parts an axis, the bits of the three axes in turn. */
static uint16_t code_of(const graze_box *b, const graze_box *all, const double scale[3]) {
  unsigned code = 0;
  for (int k = 0; k < 3; k++) {
    unsigned part = (unsigned)((0.5 * b->min[k] - 0.5 * all->min[k]) * scale[k]);
    if (part >= 1u << CODE_BITS) part = (1u << CODE_BITS) - 1;
    for (int bit = 0; bit < CODE_BITS; bit++) code |= (part >> bit & 1) << (3 * bit + k);
  }
  return (uint16_t)code;
}

/* Gives the boxes their places, in the order of their codes: a counting sort. */
static bool place_boxes(const broad_view *view, hash_state *s, const hash_survey *v) {
  const graze_context *context = view->context;
  if (!buffer_reserve(context, &s->places, view->count * sizeof(uint32_t), 0)) return false;
  if (!buffer_reserve(context, &s->boxes, v->boxes * sizeof(hash_box), 0)) return false;
  size_t code_bytes = (view->count * sizeof(uint16_t) + 63) / 64 * 64;
  if (!buffer_reserve(context, &s->codes, code_bytes + (CODES + 1) * sizeof(uint32_t), 0)) return false;
  uint16_t *codes = s->codes.data;
  uint32_t *next = (uint32_t *)((char *)s->codes.data + code_bytes), *places = s->places.data;
  memset(next, 0, (CODES + 1) * sizeof *next);
  double scale[3];
  for (int k = 0; k < 3; k++) {
    double half = 0.5 * v->all.max[k] - 0.5 * v->all.min[k];
    scale[k] = half > 1e-290 ? (1 << CODE_BITS) / half : 0;
  }
  for (uint32_t slot = 0; slot < view->count; slot++) {
    codes[slot] = NO_CODE;
    places[slot] = NONE;
    if (!view_takes(view, slot)) continue;
    graze_box box = view_box(view, slot);
    codes[slot] = code_of(&box, &v->all, scale);
    next[codes[slot] + 1]++;
  }
  for (int code = 0; code < CODES; code++) next[code + 1] += next[code];
  hash_box *boxes = s->boxes.data;
  for (uint32_t slot = 0; slot < view->count; slot++) {
    if (codes[slot] == NO_CODE) continue;
    graze_box box = view_box(view, slot);
    places[slot] = next[codes[slot]]++;
    boxes[places[slot]] = packed(&box, slot);
  }
  s->box_end = v->boxes;
  s->slot_count = view->count;
  return true;
}

static bool fill(const broad_view *view, hash_state *s) {
  s->cell_end = s->block_end = s->wide_count = s->cell_count = 0;
  s->free_box = s->free_cell = s->free_block = NONE;
  memset(s->on_level, 0, sizeof s->on_level);
  if (!make_buckets(view->context, s, s->bucket_bits > 6 ? s->bucket_bits : 6)) return false;
  const hash_box *boxes = s->boxes.data;
  for (uint32_t p = 0; p < s->box_end; p++) {
    cell_span span;
    uint8_t level = level_of(s, &boxes[p], &span);
    if (!put_in(view->context, s, p, level, &span)) return false;
  }
  return true;
}

typedef struct hash_search {
  const hash_state *s;
  const broad_view *view;
  pieces p;
  pair_lists *lists;
  bool failed[PARALLEL_PIECES];
} hash_search;

static void search_cells(void *argument, uint32_t index) {
  hash_search *q = argument;
  hash_walk w = {q->s, q->view, &q->lists->part[index], NULL, false};
  const hash_cell *cells = q->s->cells.data;
  for (uint64_t c = pieces_begin(&q->p, index); c < pieces_end(&q->p, index); c++) pairs_in_cell(&w, &cells[c]);
  q->failed[index] = w.failed;
}

/* Pairs of boxes with larger ones: of coarser levels, and those in the list. */
static void search_coarser(void *argument, uint32_t index) {
  hash_search *q = argument;
  const hash_state *s = q->s;
  hash_walk w = {s, q->view, &q->lists->part[index], NULL, false};
  const hash_box *boxes = s->boxes.data;
  const uint32_t *wide = s->wide.data;
  for (uint64_t p = pieces_begin(&q->p, index); p < pieces_end(&q->p, index) && !w.failed; p++) {
    const hash_box *a = &boxes[p];
    for (uint32_t level = a->level + 1u; level < LEVELS; level++) {
      if (s->on_level[level] != 0) pairs_on_level(&w, a, level);
    }
    for (uint32_t i = 0; i < s->wide_count; i++) {
      const hash_box *b = &boxes[wide[i]];
      if ((a->level != WIDE || a < b) && meet(a, b)) emit(&w, a->slot, b->slot);
    }
  }
  q->failed[index] = w.failed;
}

static bool search(const broad_view *view, hash_state *s, uint64_t count, void (*body)(void *, uint32_t),
                   pair_list *out) {
  hash_search q = {.s = s, .view = view, .p = pieces_of(count, 512), .lists = &s->lists};
  parallel_for(view->context, q.p.number, body, &q);
  bool good = true;
  for (uint32_t i = 0; i < q.p.number; i++) good = good && !q.failed[i];
  good = good && pair_lists_join(view->context, q.lists, q.p.number, out);
  for (uint32_t i = 0; i < q.p.number; i++) q.lists->part[i].count = 0;
  return good;
}

static graze_status find(void *state, const broad_view *view, pair_list *out) {
  hash_state *s = state;
  hash_survey v;
  survey(view, &v);
  if (!buffer_reserve(view->context, &s->codes, sizeof(uint32_t) << CROWD_BITS, 0)) return GRAZE_ERROR_MEMORY;
  set_cells(s, choose_exponent(view, s, &v));
  if (!place_boxes(view, s, &v) || !fill(view, s)) return GRAZE_ERROR_MEMORY;
  s->found = v.boxes;
  s->edited = 0;
  if (!search(view, s, s->cell_end, search_cells, out)) return GRAZE_ERROR_MEMORY;
  if (s->on_level[0] == v.boxes) return GRAZE_OK;
  return search(view, s, s->box_end, search_coarser, out) ? GRAZE_OK : GRAZE_ERROR_MEMORY;
}

/* ---- edits ----------------------------------------------------------------------------------------------------- */

static uint32_t new_box(const graze_context *context, hash_state *s) {
  uint32_t p = s->free_box;
  if (p != NONE) {
    s->free_box = ((const hash_box *)s->boxes.data)[p].slot;
    return p;
  }
  size_t used = (size_t)s->box_end * sizeof(hash_box);
  return buffer_reserve(context, &s->boxes, used + sizeof(hash_box), used) ? s->box_end++ : NONE;
}

static void remove_box(hash_state *s, uint32_t place) {
  hash_box *b = (hash_box *)s->boxes.data + place;
  take_out(s, place);
  b->level = FREE;
  b->slot = s->free_box;
  s->free_box = place;
}

/* A box that stays in its cells is only written down. */
static bool move_box(const graze_context *context, hash_state *s, uint32_t place, hash_box box) {
  hash_box *b = (hash_box *)s->boxes.data + place;
  cell_span span;
  box.level = level_of(s, &box, &span);
  if (box.level == b->level && box.level != WIDE) {
    cell_span old = span_of(s, b, b->level);
    if (memcmp(&old, &span, sizeof span) == 0) {
      *b = box;
      return true;
    }
  }
  take_out(s, place);
  *b = box;
  return put_in(context, s, place, box.level, &span);
}

static bool edit_slot(const broad_view *view, hash_state *s, uint32_t slot) {
  uint32_t *place = (uint32_t *)s->places.data + slot;
  if (!view_takes(view, slot)) {
    if (*place != NONE) remove_box(s, *place);
    *place = NONE;
    return true;
  }
  graze_box box = view_box(view, slot);
  if (*place != NONE) return move_box(view->context, s, *place, packed(&box, slot));
  *place = new_box(view->context, s);
  if (*place == NONE) return false;
  hash_box *b = (hash_box *)s->boxes.data + *place;
  *b = packed(&box, slot);
  cell_span span;
  uint8_t level = level_of(s, b, &span);
  return put_in(view->context, s, *place, level, &span);
}

/* All boxes that meet one: of coarser levels and its own through the cells that it touches; so of finer ones unless
 * these cells are more than there are boxes. */
static void search_all(hash_walk *w, const hash_box *a) {
  const hash_state *s = w->s;
  const hash_box *boxes = s->boxes.data;
  if (a->level == WIDE) {
    pairs_by_scan(w, a, 0, WIDE + 1);
    return;
  }
  double cells = 0;
  for (uint32_t level = 0; level < a->level; level++) {
    cell_span span = span_of(s, a, level);
    if (s->on_level[level] != 0) cells += cells_of(&span);
  }
  bool scan = cells > s->box_end;
  if (scan) pairs_by_scan(w, a, 0, a->level);
  for (uint32_t level = scan ? a->level : 0; level < LEVELS; level++) {
    if (s->on_level[level] != 0) pairs_on_level(w, a, level);
  }
  const uint32_t *wide = s->wide.data;
  for (uint32_t i = 0; i < s->wide_count; i++) {
    const hash_box *b = &boxes[wide[i]];
    if (meet(a, b)) emit(w, a->slot, b->slot);
  }
}

static graze_status step(void *state, const broad_view *view, const broad_edits *edits, pair_list *out) {
  hash_state *s = state;
  size_t known = s->slot_count * sizeof(uint32_t);
  if (!buffer_reserve(view->context, &s->places, view->count * sizeof(uint32_t), known)) return GRAZE_ERROR_MEMORY;
  uint32_t *places = s->places.data;
  for (; s->slot_count < view->count; s->slot_count++) places[s->slot_count] = NONE;
  for (uint32_t i = 0; i < edits->count; i++) {
    if (!edit_slot(view, s, edits->slots[i])) return GRAZE_ERROR_MEMORY;
  }
  hash_walk w = {s, view, out, edits, false};
  for (uint32_t i = 0; i < edits->count && !w.failed; i++) {
    uint32_t place = places[edits->slots[i]];
    if (place != NONE) search_all(&w, (const hash_box *)s->boxes.data + place);
  }
  s->edited += edits->count;
  return w.failed ? GRAZE_ERROR_MEMORY : GRAZE_OK;
}

/* Cells were chosen for the boxes of the last find. When most boxes are others by now, they are chosen anew; that is
 * rare enough to cost nothing. */
static bool pays(const void *state, const broad_view *view, const broad_edits *edits) {
  const hash_state *s = state;
  bool stale = s->box_end / 2 > s->found + 64 || s->edited > 8 * (uint64_t)s->box_end + 64;
  bool bounded = s->wide_count <= 16 + s->box_end / 64;
  return edits->count < view->count / 3 && !stale && bounded;
}

static void release(const graze_context *context, void *state) {
  hash_state *s = state;
  buffer *all[] = {&s->boxes, &s->places, &s->cells, &s->blocks, &s->wide, &s->buckets, &s->codes};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) buffer_release(context, all[i]);
  pair_lists_release(context, &s->lists);
}

static size_t bytes(const void *state) {
  const hash_state *s = state;
  size_t sum = s->boxes.bytes + s->places.bytes + s->cells.bytes + s->blocks.bytes + s->wide.bytes + s->buckets.bytes +
               s->codes.bytes;
  for (uint32_t i = 0; i < PARALLEL_PIECES; i++) sum += s->lists.part[i].memory.bytes;
  return sum;
}

const broad_method broad_hash = {
    .info = {"hash", "spatial hash, cells of a power of two", "O(n + k) on common scenes; an edit: its cells", true},
    .state_bytes = sizeof(hash_state),
    .find = find,
    .step = step,
    .pays = pays,
    .release = release,
    .bytes = bytes};
