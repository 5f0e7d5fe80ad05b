/* A hierarchy of boxes, built anew each time, against itself.
 *
 * Boxes are packed in the order of a Hilbert curve (bvh.h); then pairs of blocks whose bounds meet are descended from
 * the top, both at a time, and a box is compared with 16 others in six SIMD comparisons. Nothing is tuned to sizes or
 * density: it is the method for boxes of which nothing is known. Sources: bvh.h; simultaneous descent as in S.
 * Gottschalk, M. Lin and D. Manocha, "OBBTree", 1996. O(n) to build, O(n + k) to search when boxes are spread out,
 * O(n^2) at worst. Memory: 46 bytes a box besides the pairs.
 *
 * Building: keys of the centres along the curve, radix sort, blocks, bounds of blocks.
 * A curve through 2^14 cells an axis tells boxes apart only where they are spread out about evenly. Where many share a
 * cell (a far outlier is enough) these few get a finer curve of their own, again and again, so that any spread of boxes
 * ends in small blocks. Everything is done piece by piece and does not depend on threads.
 */
#include "broad/bvh/bvh.h"

#include <float.h>
#include <math.h>

#include "base/cpu.h"
#include "base/sort.h"

enum {
  DIGIT = 11,
  DIGITS = 1 << DIGIT,
  SORT_PIECE = 16384, /* keys, at least */
  SORT_PIECES = 32,   /* most */
  CROWD = 4 * BLOCK,  /* more boxes than that in one cell get a curve of their own */
  LEAST = 4096,       /* slots to a piece */
  AHEAD = 32          /* boxes asked for before they are needed: they lie anywhere */
};

typedef struct building {
  hierarchy *h;
  const broad_view *view;
  hierarchy_keys_function *keys;
  pieces slots;      /* of the view */
  graze_box *ranges; /* of the centres of a piece */
  uint32_t *starts;  /* keys before a piece's */
  key_frame frame;
  unsigned index_bits;  /* below the curve's bits in a key */
  uint64_t *from, *to;  /* keys */
  uint32_t *histograms; /* by piece: of one digit */
  pieces sorted;
  unsigned shift;
  uint32_t level;
} building;

/* ---- what is there --------------------------------------------------------------------------------------------- */

static bool takes_all(const broad_view *view) {
  return !view->holes && view->layers == NULL;
}

static void survey_piece(void *argument, uint32_t index) {
  const building *w = argument;
  graze_box range = graze_box_empty();
  uint32_t count = 0;
  bool all = takes_all(w->view);
  for (uint64_t i = pieces_begin(&w->slots, index); i < pieces_end(&w->slots, index); i++) {
    if (!all && !view_takes(w->view, (uint32_t)i)) continue;
    graze_box box = view_box(w->view, (uint32_t)i), centre;
    for (int k = 0; k < 3; k++) centre.min[k] = centre.max[k] = 0.5 * box.min[k] + 0.5 * box.max[k];
    graze_box_add_box(&range, &centre);
    count++;
  }
  w->ranges[index] = range;
  w->starts[index] = count;
}

/* A frame whose cells cover the range; the same length of a cell on all axes. */
static key_frame frame_of(const graze_box *range, const double origin[3], unsigned bits) {
  key_frame frame = {.bits = bits};
  double extent = 0;
  for (int k = 0; k < 3; k++) {
    double e = range->max[k] - range->min[k];
    if (e > extent) extent = e;
    frame.origin[k] = (float)(range->min[k] - origin[k]);
  }
  double scale = (double)(UINT32_C(1) << bits) / extent;
  frame.scale = scale < (double)FLT_MAX ? (float)scale : FLT_MAX;
  return frame;
}

/* Counts the boxes, puts the origin and the frame of keys. */
static void survey(building *w) {
  hierarchy *h = w->h;
  gz_parallel_each(w->view->context, w->slots.number, survey_piece, w);
  graze_box range = graze_box_empty();
  h->count = 0;
  for (uint32_t i = 0; i < w->slots.number; i++) {
    graze_box_add_box(&range, &w->ranges[i]);
    uint32_t count = w->starts[i];
    w->starts[i] = h->count;
    h->count += count;
  }
  bool shifted = w->view->precision == GRAZE_DOUBLE && h->count > 0;
  for (int k = 0; k < 3; k++) {
    h->origin[k] = shifted ? 0.5 * range.min[k] + 0.5 * range.max[k] : 0;
  }
  w->index_bits = 1;
  while (w->index_bits < 32 && w->view->count >> w->index_bits != 0) w->index_bits++;
  unsigned bits = (64 - w->index_bits) / 3;
  if (bits > 14) bits = 14;
  w->frame = frame_of(&range, h->origin, bits);
}

/* ---- keys ------------------------------------------------------------------------------------------------------ */

static inline void load_lane(const hierarchy *h, const broad_view *view, uint32_t slot, box_block *block, unsigned i) {
  if (view->precision == GRAZE_FLOAT) {
    float f[6];
    memcpy(f, view->data + (size_t)slot * view->stride, sizeof f);
    for (int k = 0; k < 6; k++) block->bound[k][i] = f[k];
    return;
  }
  graze_box box = view_box(view, slot);
  for (int k = 0; k < 3; k++) {
    block->bound[k][i] = hierarchy_float(h, box.min[k], k);
    block->bound[3 + k][i] = hierarchy_float(h, box.max[k], k);
  }
}

/* Writes keys of the slots given, with the slot in the low bits. */
static void make_keys(const building *w, const key_frame *frame, const uint32_t slots[BLOCK], unsigned count,
                      uint64_t *out) {
  box_block block;
  uint64_t keys[BLOCK];
  for (unsigned i = 0; i < BLOCK; i++) load_lane(w->h, w->view, slots[i < count ? i : 0], &block, i);
  w->keys(frame, &block, keys);
  for (unsigned i = 0; i < count; i++) out[i] = keys[i] << w->index_bits | slots[i];
}

static void keys_piece(void *argument, uint32_t index) {
  const building *w = argument;
  bool all = takes_all(w->view);
  uint64_t *out = w->from + w->starts[index];
  uint32_t slots[BLOCK];
  unsigned n = 0;
  for (uint64_t i = pieces_begin(&w->slots, index); i < pieces_end(&w->slots, index); i++) {
    if (!all && !view_takes(w->view, (uint32_t)i)) continue;
    slots[n++] = (uint32_t)i;
    if (n < BLOCK) continue;
    make_keys(w, &w->frame, slots, BLOCK, out);
    out += BLOCK;
    n = 0;
  }
  if (n > 0) make_keys(w, &w->frame, slots, n, out);
}

/* ---- sorting --------------------------------------------------------------------------------------------------- */

static void count_digits(void *argument, uint32_t index) {
  const building *w = argument;
  uint32_t *histogram = w->histograms + (size_t)index * DIGITS;
  memset(histogram, 0, DIGITS * sizeof *histogram);
  for (uint64_t i = pieces_begin(&w->sorted, index); i < pieces_end(&w->sorted, index); i++) {
    histogram[w->from[i] >> w->shift & (DIGITS - 1)]++;
  }
}

static void deal_digits(void *argument, uint32_t index) {
  const building *w = argument;
  uint32_t *next = w->histograms + (size_t)index * DIGITS;
  for (uint64_t i = pieces_begin(&w->sorted, index); i < pieces_end(&w->sorted, index); i++) {
    w->to[next[w->from[i] >> w->shift & (DIGITS - 1)]++] = w->from[i];
  }
}

/* From how often a digit is in a piece to where the piece's first one goes. False: all keys have one digit. */
static bool add_up(const building *w) {
  uint32_t sum = 0;
  for (uint32_t d = 0; d < DIGITS; d++) {
    uint32_t before = sum;
    for (uint32_t i = 0; i < w->sorted.number; i++) {
      uint32_t *at = w->histograms + (size_t)i * DIGITS + d, n = *at;
      *at = sum;
      sum += n;
    }
    if (before == 0 && sum == w->h->count) return false;
  }
  return true;
}

/* Radix sort by the curve's bits, lowest digit first. */
static void sort_all(building *w) {
  const graze_context *context = w->view->context;
  unsigned end = w->index_bits + 3 * w->frame.bits;
  for (w->shift = w->index_bits; w->shift < end; w->shift += DIGIT) {
    gz_parallel_each(context, w->sorted.number, count_digits, w);
    if (!add_up(w)) continue;
    gz_parallel_each(context, w->sorted.number, deal_digits, w);
    uint64_t *swap = w->from;
    w->from = w->to;
    w->to = swap;
  }
}

/* ---- crowds ---------------------------------------------------------------------------------------------------- */

/* Gives keys[begin, end) a curve of their own and sorts them. False: they cannot be told apart. */
static bool refine(const building *w, uint32_t begin, uint32_t end) {
  const uint64_t index_mask = (UINT64_C(1) << w->index_bits) - 1;
  graze_box range = graze_box_empty();
  for (uint32_t i = begin; i < end; i++) {
    graze_box box = view_box(w->view, (uint32_t)(w->from[i] & index_mask)), centre;
    for (int k = 0; k < 3; k++) centre.min[k] = centre.max[k] = 0.5 * box.min[k] + 0.5 * box.max[k];
    graze_box_add_box(&range, &centre);
  }
  key_frame frame = frame_of(&range, w->h->origin, w->frame.bits);
  for (uint32_t i = begin; i < end; i += BLOCK) {
    uint32_t slots[BLOCK];
    unsigned n = end - i < BLOCK ? end - i : BLOCK;
    for (unsigned j = 0; j < n; j++) slots[j] = (uint32_t)(w->from[i + j] & index_mask);
    make_keys(w, &frame, slots, n, w->from + i);
  }
  gz_sort_keys(w->from + begin, w->to + begin, end - begin);
  return w->from[begin] >> w->index_bits != w->from[end - 1] >> w->index_bits;
}

/* Splits crowds within [begin, end), which is sorted. Each level of the recursion has cells 2^10 times smaller or more,
 * so floats end it after some 30 levels. */
static void refine_crowds(const building *w, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin, j; i < end; i = j) {
    uint64_t cell = w->from[i] >> w->index_bits;
    for (j = i + 1; j < end && w->from[j] >> w->index_bits == cell; j++) continue;
    if (j - i > CROWD && refine(w, i, j)) refine_crowds(w, i, j);
  }
}

/* ---- blocks ---------------------------------------------------------------------------------------------------- */

static void fill_piece(void *argument, uint32_t index) {
  const building *w = argument;
  const hierarchy *h = w->h;
  const uint64_t index_mask = (UINT64_C(1) << w->index_bits) - 1;
  uint32_t *slots = h->slots.data;
  box_block *blocks = h->blocks.data;
  pieces p = pieces_of(h->number[0], LEAST / BLOCK);
  for (uint64_t b = pieces_begin(&p, index); b < pieces_end(&p, index); b++) {
    for (uint32_t i = 0; i < BLOCK; i++) {
      uint64_t at = BLOCK * b + i;
      if (at + AHEAD < h->count) {
        __builtin_prefetch(w->view->data + (size_t)(w->from[at + AHEAD] & index_mask) * w->view->stride);
      }
      if (at < h->count) {
        uint32_t slot = (uint32_t)(w->from[at] & index_mask);
        slots[at] = slot;
        load_lane(h, w->view, slot, &blocks[b], i);
      } else {
        slots[at] = 0;
        for (int k = 0; k < 6; k++) blocks[b].bound[k][i] = NAN;
      }
    }
  }
}

/* Lane i of `to` gets the bound of a block. */
static void bound_block(const box_block *block, box_block *to, unsigned i) {
  for (int k = 0; k < 3; k++) {
    float low = INFINITY, high = -INFINITY; /* comparisons are false for lanes that are not used */
    for (int j = 0; j < BLOCK; j++) {
      low = block->bound[k][j] < low ? block->bound[k][j] : low;
      high = block->bound[3 + k][j] > high ? block->bound[3 + k][j] : high;
    }
    to->bound[k][i] = low;
    to->bound[3 + k][i] = high;
  }
}

static void bounds_piece(void *argument, uint32_t index) {
  const building *w = argument;
  const hierarchy *h = w->h;
  box_block *blocks = h->blocks.data;
  pieces p = pieces_of(h->number[w->level], LEAST / BLOCK / BLOCK);
  for (uint64_t b = pieces_begin(&p, index); b < pieces_end(&p, index); b++) {
    box_block *to = &blocks[h->first[w->level] + b];
    for (uint32_t i = 0; i < BLOCK; i++) {
      uint64_t child = BLOCK * b + i;
      if (child < h->number[w->level - 1]) {
        bound_block(&blocks[h->first[w->level - 1] + child], to, i);
      } else {
        for (int k = 0; k < 6; k++) to->bound[k][i] = NAN;
      }
    }
  }
}

/* How many blocks each level has. Returns their sum. */
static uint64_t lay_out(hierarchy *h) {
  uint64_t sum = 0, n = h->count;
  h->levels = 0;
  while (n > 0) {
    n = (n + BLOCK - 1) / BLOCK;
    h->first[h->levels] = (uint32_t)sum;
    h->number[h->levels++] = (uint32_t)n;
    sum += n;
    if (n == 1) break;
  }
  return sum;
}

/* ---- the calls ------------------------------------------------------------------------------------------------- */

bool gz_hierarchy_build(hierarchy *h, const broad_view *view) {
  const graze_context *context = view->context;
  building w = {.h = h, .view = view, .keys = CPU_KERNEL(gz_hierarchy_keys), .slots = pieces_of(view->count, LEAST)};
  size_t surveyed = w.slots.number * (sizeof(graze_box) + sizeof(uint32_t));
  h->count = h->levels = 0;
  if (view->count == 0) return true;
  if (!gz_buffer_reserve(context, &h->pieces, surveyed, 0)) return false;
  w.ranges = h->pieces.data;
  w.starts = (uint32_t *)(w.ranges + w.slots.number);
  survey(&w);
  uint64_t blocks = lay_out(h);
  size_t places = (size_t)(h->levels > 0 ? h->number[0] : 0) * BLOCK;
  if (!gz_buffer_reserve(context, &h->blocks, (size_t)blocks * sizeof(box_block), 0) ||
      !gz_buffer_reserve(context, &h->slots, places * sizeof(uint32_t), 0) ||
      !gz_buffer_reserve(context, &h->keys, 2 * (size_t)h->count * sizeof(uint64_t), 0)) {
    h->count = h->levels = 0;
    return false;
  }
  w.from = h->keys.data;
  w.to = w.from + h->count;
  gz_parallel_each(context, w.slots.number, keys_piece, &w);
  uint64_t least = h->count / SORT_PIECES + 1;
  w.sorted = pieces_of(h->count, gz_parallel_threads(context) == 1 ? h->count
                                 : least > SORT_PIECE              ? least
                                                                   : SORT_PIECE);
  if (!gz_buffer_reserve(context, &h->pieces, (size_t)w.sorted.number * DIGITS * sizeof(uint32_t), 0)) {
    h->count = h->levels = 0;
    return false;
  }
  w.histograms = h->pieces.data;
  sort_all(&w);
  refine_crowds(&w, 0, h->count);
  if (h->levels == 0) return true;
  gz_parallel_each(context, pieces_of(h->number[0], LEAST / BLOCK).number, fill_piece, &w);
  for (w.level = 1; w.level < h->levels; w.level++) {
    gz_parallel_each(context, pieces_of(h->number[w.level], LEAST / BLOCK / BLOCK).number, bounds_piece, &w);
  }
  return true;
}

typedef struct pair_search {
  const hierarchy *h;
  const broad_view *view;
  hierarchy_task_function *task;
  uint32_t level;
  pieces blocks;
  pair_list *parts;
  bool refused[PARALLEL_PIECES];
} pair_search;

static void search_piece(void *argument, uint32_t index) {
  pair_search *s = argument;
  for (uint64_t b = pieces_begin(&s->blocks, index); b < pieces_end(&s->blocks, index); b++) {
    if (!s->task(s->h, s->view, s->level, (uint32_t)b, &s->parts[index])) s->refused[index] = true;
  }
}

bool gz_hierarchy_pairs(const hierarchy *h, const broad_view *view, pair_lists *lists, pair_list *out) {
  if (h->levels == 0) return true;
  pair_search s = {.h = h, .view = view, .task = CPU_KERNEL(gz_hierarchy_task), .level = h->levels - 1};
  if (gz_parallel_threads(view->context) == 1) { /* the order does not matter: one task, nothing to join */
    return s.task(h, view, s.level, 0, out);
  }
  /* Tasks at the lowest level of at most 4096 blocks, in pieces of no fixed size: the join costs little either way. */
  while (s.level > 0 && h->number[s.level - 1] <= 4096) s.level--;
  uint32_t number = h->number[s.level];
  uint64_t size = number / PARALLEL_PIECES + 1;
  s.blocks = (pieces){number, size, (uint32_t)((number + size - 1) / size)};
  s.parts = lists->part;
  gz_parallel_each(view->context, s.blocks.number, search_piece, &s);
  for (uint32_t i = 0; i < s.blocks.number; i++) {
    if (!s.refused[i]) continue;
    for (uint32_t j = 0; j < s.blocks.number; j++) lists->part[j].count = 0;
    return false;
  }
  return gz_pair_lists_join(view->context, lists, s.blocks.number, out);
}

void gz_hierarchy_release(const graze_context *context, hierarchy *h) {
  buffer *buffers[] = {&h->blocks, &h->slots, &h->keys, &h->pieces};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) gz_buffer_release(context, buffers[i]);
  *h = (hierarchy){0};
}

size_t gz_hierarchy_bytes(const hierarchy *h) {
  return h->blocks.bytes + h->slots.bytes + h->keys.bytes + h->pieces.bytes;
}

/* ---- the method -------------------------------------------------------------------------------------------------- */

typedef struct bvh_state {
  hierarchy h;
  pair_lists lists;
} bvh_state;

static graze_status find(void *state, const broad_view *view, pair_list *out) {
  bvh_state *s = state;
  if (!gz_hierarchy_build(&s->h, view) || !gz_hierarchy_pairs(&s->h, view, &s->lists, out)) return GRAZE_ERROR_MEMORY;
  return GRAZE_OK;
}

static void release(const graze_context *context, void *state) {
  bvh_state *s = state;
  gz_hierarchy_release(context, &s->h);
  gz_pair_lists_release(context, &s->lists);
}

static size_t bytes(const void *state) {
  const bvh_state *s = state;
  return gz_hierarchy_bytes(&s->h) + gz_pair_lists_bytes(&s->lists);
}

const broad_method gz_broad_bvh = {
    .info = {"bvh", "bounding volume hierarchy, rebuilt each time", "O(n + k), O(n^2) at worst", false},
    .state_bytes = sizeof(bvh_state),
    .find = find,
    .release = release,
    .bytes = bytes};
