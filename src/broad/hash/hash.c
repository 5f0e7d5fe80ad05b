/* Spatial hash with levels: every box is in one cell of the level that suits its size, and cells are found by hashing
 * their coordinates.
 *
 * Level k has cells whose edge is that of level 0 times 2^k, for boxes of largest extent below that and, but for level
 * 0, not below half of it. A box is in the cell of its low corner, so that it takes constant time to add, move and
 * remove; its partners are in the few cells around it of each level in use. Boxes that reach q's cell begin there or in
 * the cell before; cells far out are one, which only makes it fuller. Boxes of other cells in the same bucket are told
 * by their cell, so that none is met twice.
 *
 * The cells of a row along x are neighbours in the table, and after a build boxes are in memory in the order of the
 * table: rows are read, not jumped through. A box takes one cache line with all that a search looks at. The table's
 * rows are hashed by splitmix64.
 *
 * Sources: M. Teschner, B. Heidelberger, M. Mueller, D. Pomerantes, M. Gross, "Optimized spatial hashing for collision
 * detection of deformable objects", 2003; C. Ericson, "Real-Time Collision Detection", 2005, 7.2, for the levels.
 * From nothing O(levels n + k) when boxes are spread as in common scenes; an edit costs what there is in the cells
 * around the box. 72 to 80 bytes a box.
 */
#include "broad/hash/hash.h"

#include <math.h>
#include <stdalign.h>

#include "base/hash.h"
#include "base/simd.h"
#include "broad/packed.h"

#define HASH_NONE UINT32_MAX

enum { FARTHEST = 1 << 29 }; /* cells from the origin */

typedef struct hash_node {
  alignas(64) float box[6]; /* as pack_box gives it */
  uint32_t slot;
  uint32_t next, previous; /* places; HASH_NONE at the ends */
  uint32_t bucket;         /* HASH_NONE: in no cell */
  int32_t cell[3];
  uint16_t level;
  bool rounded;
} hash_node;

_Static_assert(sizeof(hash_node) == 64, "a box takes one cache line");

typedef struct cells {
  int32_t low[3], high[3];
} cells;

static inline hash_node *nodes_of(const box_hash *h) {
  return h->nodes.data;
}

static inline uint32_t row_of(uint32_t level, int32_t y, int32_t z) {
  return (uint32_t)splitmix64((uint64_t)(uint32_t)y << 32 | ((uint32_t)z ^ level << 20));
}

static inline uint32_t bucket_of(const box_hash *h, uint32_t level, const int32_t cell[3]) {
  return (row_of(level, cell[1], cell[2]) + (uint32_t)cell[0]) & h->mask;
}

/* ---- levels and cells ------------------------------------------------------------------------------------------ */

static inline double extent_of(const float box[6]) {
  double extent = 0;
  for (int k = 0; k < 3; k++) {
    double e = (double)box[3 + k] - (double)box[k];
    extent = e > extent ? e : extent;
  }
  return extent;
}

static inline uint32_t level_of(const box_hash *h, const float box[6]) {
  double extent = extent_of(box);
  int exponent;
  if (extent < h->finest) return 0;
  (void)frexp(extent / h->finest, &exponent);
  return (uint32_t)exponent;
}

/* Rounded down. */
static inline int32_t cell_at(double part) {
  double cut = part > -FARTHEST ? part : -FARTHEST;
  int32_t cell = (int32_t)(cut < FARTHEST ? cut : FARTHEST);
  return cell - (cell > cut);
}

/* In which a box of the level can begin that meets this one. */
static inline cells cells_around(const box_hash *h, const float box[6], uint32_t level) {
  const double rounding = 0x1p-20; /* more than is lost within the farthest cells */
  cells c;
  double scale = h->scale[level];
  for (int k = 0; k < 3; k++) {
    c.low[k] = cell_at((double)box[k] * scale - (1 + rounding));
    c.high[k] = cell_at((double)box[3 + k] * scale);
  }
  return c;
}

/* Writes down the box of a node's slot with its level and bucket. */
static void describe(const box_hash *h, const broad_view *view, hash_node *n) {
  n->rounded = pack_box(view, n->slot, n->box);
  n->level = (uint16_t)level_of(h, n->box);
  for (int k = 0; k < 3; k++) n->cell[k] = cell_at((double)n->box[k] * h->scale[n->level]);
  n->bucket = bucket_of(h, n->level, n->cell);
}

/* ---- lists ----------------------------------------------------------------------------------------------------- */

static void know_level(box_hash *h, uint32_t level) {
  uint32_t i = h->level_count;
  while (i > 0 && h->levels[i - 1] > level) i--;
  if (i > 0 && h->levels[i - 1] == level) return;
  memmove(h->levels + i + 1, h->levels + i, (h->level_count - i) * sizeof *h->levels);
  h->levels[i] = (uint16_t)level;
  h->level_count++;
}

/* A node that was described. */
static void link_in(box_hash *h, uint32_t place) {
  uint32_t *heads = h->heads.data;
  hash_node *n = nodes_of(h) + place;
  n->previous = HASH_NONE;
  n->next = heads[n->bucket];
  if (n->next != HASH_NONE) nodes_of(h)[n->next].previous = place;
  heads[n->bucket] = place;
  h->boxes++;
  if (h->in_level[n->level]++ == 0) know_level(h, n->level);
}

static void take_out(box_hash *h, uint32_t place) {
  hash_node *n = nodes_of(h) + place;
  if (n->bucket == HASH_NONE) return;
  if (n->previous != HASH_NONE) {
    nodes_of(h)[n->previous].next = n->next;
  } else {
    ((uint32_t *)h->heads.data)[n->bucket] = n->next;
  }
  if (n->next != HASH_NONE) nodes_of(h)[n->next].previous = n->previous;
  n->bucket = HASH_NONE;
  h->boxes--;
  h->in_level[n->level]--;
}

/* ---- building -------------------------------------------------------------------------------------------------- */

static void set_finest(box_hash *h, double finest) {
  h->finest = finest;
  for (int k = 0; k < HASH_LEVELS; k++) h->scale[k] = ldexp(1 / finest, -k);
}

/* How many boxes smaller than a cell share it with a box, on average; counted in the hash table, which is empty. */
static double occupancy(box_hash *h, const broad_view *view) {
  uint32_t *counts = h->heads.data, boxes = 0;
  uint64_t sum = 0;
  memset(counts, 0, (h->mask + (size_t)1) * sizeof *counts);
  for (uint32_t i = 0; i < view->count; i++) {
    hash_node n = {.slot = i};
    if (!view_takes(view, i)) continue;
    describe(h, view, &n);
    if (n.level > 0) continue;
    sum += 2 * counts[n.bucket]++;
    boxes++;
  }
  return boxes > 0 ? (double)sum / boxes : 0;
}

/* Cells for the largest box, and finer ones as long as they are crowded and some boxes are that small. */
static void choose_finest(box_hash *h, const broad_view *view) {
  enum { CROWD = 8, HALVINGS = 40 };
  const double least = 0x1p-120; /* so that floats have fewer than HASH_LEVELS powers of two above */
  double largest = 0, smallest = (double)FLT_MAX;
  for (uint32_t i = 0; i < view->count; i++) {
    float box[6];
    if (!view_takes(view, i)) continue;
    pack_box(view, i, box);
    double extent = extent_of(box);
    largest = extent > largest ? extent : largest;
    smallest = extent < smallest ? extent : smallest;
  }
  double finest = largest * (1 + 1.0 / 256);
  set_finest(h, finest > least ? finest : least);
  for (int i = 0; i < HALVINGS && h->finest > 2 * least && h->finest > 2 * smallest; i++) {
    if (occupancy(h, view) <= CROWD) break;
    set_finest(h, h->finest / 2);
  }
}

/* Arrays for all slots of the view; new slots have no place. */
static bool reserve(box_hash *h, const broad_view *view) {
  const graze_context *context = view->context;
  size_t n = view->count;
  if (!gz_buffer_reserve(context, &h->nodes, n * sizeof(hash_node), h->places_end * sizeof(hash_node)) ||
      !gz_buffer_reserve(context, &h->places, n * sizeof(uint32_t), h->slots * sizeof(uint32_t))) {
    return false;
  }
  for (; h->slots < view->count; h->slots++) ((uint32_t *)h->places.data)[h->slots] = HASH_NONE;
  return true;
}

/* Boxes in the order of buckets: first heads get how many each has, then where each ends, and as boxes are put before
 * those ends from the last slot to the first, where each begins. One more tells where the last ends. */
static void deal(box_hash *h, const broad_view *view) {
  uint32_t *places = h->places.data, *starts = h->heads.data, sum = 0;
  memset(starts, 0, (h->mask + (size_t)1) * sizeof *starts);
  for (uint32_t i = 0; i < view->count; i++) {
    hash_node n = {.slot = i};
    places[i] = HASH_NONE;
    if (!view_takes(view, i)) continue;
    describe(h, view, &n);
    places[i] = n.bucket;
    starts[n.bucket]++;
  }
  for (uint32_t b = 0; b <= h->mask; b++) starts[b] = sum += starts[b];
  h->places_end = starts[h->mask + 1] = sum;
  for (uint32_t i = view->count; i-- > 0;) {
    if (places[i] == HASH_NONE) continue;
    hash_node *n = nodes_of(h) + (places[i] = --starts[places[i]]);
    n->slot = i;
    describe(h, view, n);
    if (h->in_level[n->level]++ == 0) know_level(h, n->level);
  }
}

/* New cells for the boxes of the view, which lie in memory in the order of buckets; heads tell where each begins. */
static bool lay_out(box_hash *h, const broad_view *view) {
  uint32_t buckets = 64;
  while (buckets < view->count && buckets < UINT32_C(1) << 31) buckets *= 2;
  h->valid = false;
  h->slots = h->places_end = h->level_count = 0;
  h->edited = 0;
  memset(h->in_level, 0, sizeof h->in_level);
  if (!reserve(h, view)) return false;
  if (!gz_buffer_reserve(view->context, &h->heads, ((size_t)buckets + 1) * sizeof(uint32_t), 0)) return false;
  h->mask = buckets - 1;
  choose_finest(h, view);
  deal(h, view);
  h->built = h->boxes = h->places_end;
  return true;
}

/* From what lies side by side to lists, which may change. */
static void make_lists(box_hash *h) {
  uint32_t *heads = h->heads.data;
  for (uint32_t b = 0; b <= h->mask; b++) {
    uint32_t first = heads[b], end = heads[b + 1];
    for (uint32_t p = first; p < end; p++) {
      nodes_of(h)[p].previous = p > first ? p - 1 : HASH_NONE;
      nodes_of(h)[p].next = p + 1 < end ? p + 1 : HASH_NONE;
    }
    heads[b] = first < end ? first : HASH_NONE;
  }
  h->valid = true;
}

bool gz_box_hash_is_stale(const box_hash *h) {
  return h->boxes > 2 * (uint64_t)h->built + 64 || h->edited > 8 * (uint64_t)h->boxes + 64;
}

/* ---- looking up ------------------------------------------------------------------------------------------------ */

typedef struct lookup {
  const box_hash *h;
  const broad_view *view;
  const uint8_t *edited; /* by slot: pairs of two of those are met twice. NULL: none is */
  pair_list *out;
  const hash_node *box;
} lookup;

/* Of this box as floats. Each vector takes a number beside it along, which does not count. */
typedef struct corners {
  v4 low, high;
} corners;

static inline corners corners_of(const hash_node *n) {
  return (corners){v4_load(n->box), v4_load(n->box + 3)};
}

static inline bool floats_meet(corners a, const hash_node *n) {
  corners b = corners_of(n);
  return (v4_bits((a.low <= b.high) & (b.low <= a.high)) & 7) == 7;
}

/* Of two edited boxes the one with the lower slot reports the pair. */
static inline bool reports(const lookup *l, const hash_node *other) {
  uint32_t slot = l->box->slot;
  if (l->edited != NULL && (other == l->box || (other->slot < slot && l->edited[other->slot] != 0))) return false;
  return l->box->rounded || other->rounded ? view_meet(l->view, slot, other->slot)
                                           : view_counts(l->view, slot, other->slot);
}

static inline bool put(const lookup *l, const hash_node *other) {
  return !reports(l, other) || pair_list_push(l->view->context, l->out, l->box->slot, other->slot);
}

/* The cells of a row, from x on. */
static inline bool meet_row(const lookup *l, uint32_t level, int32_t x, int32_t end, int32_t y, int32_t z) {
  const hash_node *nodes = nodes_of(l->h);
  const uint32_t *heads = l->h->heads.data;
  const corners own = corners_of(l->box);
  uint32_t row = row_of(level, y, z);
  for (; x <= end; x++) {
    for (uint32_t i = heads[(row + (uint32_t)x) & l->h->mask]; i != HASH_NONE; i = nodes[i].next) {
      const hash_node *n = &nodes[i];
      if (!floats_meet(own, n)) continue;
      if (n->level != level || n->cell[0] != x || n->cell[1] != y || n->cell[2] != z) continue;
      if (!put(l, n)) return false;
    }
  }
  return true;
}

static bool meet_cells(const lookup *l, uint32_t level, const cells *c) {
  for (int32_t z = c->low[2]; z <= c->high[2]; z++) {
    for (int32_t y = c->low[1]; y <= c->high[1]; y++) {
      if (!meet_row(l, level, c->low[0], c->high[0], y, z)) return false;
    }
  }
  return true;
}

/* All boxes of the level: fewer than the cells that a large box reaches. */
static bool meet_level(const lookup *l, uint32_t level) {
  const hash_node *nodes = nodes_of(l->h);
  const corners own = corners_of(l->box);
  for (uint32_t i = 0; i < l->h->places_end; i++) {
    if (nodes[i].bucket == HASH_NONE || nodes[i].level != level) continue;
    if (floats_meet(own, &nodes[i]) && !put(l, &nodes[i])) return false;
  }
  return true;
}

/* All boxes that meet one that was edited. */
static bool meet_all(const lookup *l) {
  for (uint32_t k = 0; k < l->h->level_count; k++) {
    uint32_t level = l->h->levels[k];
    if (l->h->in_level[level] == 0) continue;
    cells c = cells_around(l->h, l->box->box, level);
    double number = 1;
    for (int j = 0; j < 3; j++) number *= (double)(c.high[j] - c.low[j] + 1);
    if (!(number > l->h->places_end ? meet_level(l, level) : meet_cells(l, level, &c))) return false;
  }
  return true;
}

graze_status gz_box_hash_step(box_hash *h, const broad_view *view, const broad_edits *edits, pair_list *out) {
  if (!h->valid || view->count > 2 * (uint64_t)h->mask || gz_box_hash_is_stale(h)) {
    if (!lay_out(h, view)) return GRAZE_ERROR_MEMORY;
    make_lists(h);
  } else {
    h->valid = false; /* until all is in place */
    if (!reserve(h, view)) return GRAZE_ERROR_MEMORY;
    for (uint32_t i = 0; i < edits->count; i++) {
      uint32_t slot = edits->slots[i], *place = (uint32_t *)h->places.data + slot;
      if (*place != HASH_NONE) take_out(h, *place);
      if (!view_takes(view, slot)) continue;
      if (*place == HASH_NONE) *place = h->places_end++;
      nodes_of(h)[*place].slot = slot;
      describe(h, view, nodes_of(h) + *place);
      link_in(h, *place);
    }
    h->valid = true;
  }
  h->edited += edits->count;
  lookup l = {.h = h, .view = view, .edited = edits->edited, .out = out};
  for (uint32_t i = 0; i < edits->count; i++) {
    uint32_t place = ((const uint32_t *)h->places.data)[edits->slots[i]];
    if (place == HASH_NONE) continue;
    l.box = nodes_of(h) + place;
    if (l.box->bucket != HASH_NONE && !meet_all(&l)) return GRAZE_ERROR_MEMORY;
  }
  return GRAZE_OK;
}

void gz_box_hash_release(const graze_context *context, box_hash *h) {
  gz_buffer_release(context, &h->nodes);
  gz_buffer_release(context, &h->places);
  gz_buffer_release(context, &h->heads);
}

size_t gz_box_hash_bytes(const box_hash *h) {
  return h->nodes.bytes + h->places.bytes + h->heads.bytes;
}

/* ---- the method ------------------------------------------------------------------------------------------------ */

typedef struct hash_state {
  box_hash h;
  pair_lists lists; /* of the pieces of a search */
} hash_state;

/* Those of the boxes at places [from, end) that are in the cells [x, last] of a row. */
static inline bool meet_places(const lookup *l, uint32_t from, uint32_t end, uint32_t level, int32_t x, int32_t last,
                               int32_t y, int32_t z) {
  const hash_node *nodes = nodes_of(l->h);
  const corners own = corners_of(l->box);
  for (; from < end; from++) {
    const hash_node *n = &nodes[from];
    if (!floats_meet(own, n)) continue;
    if (n->level != level || n->cell[0] < x || n->cell[0] > last || n->cell[1] != y || n->cell[2] != z) continue;
    if (!put(l, n)) return false;
  }
  return true;
}

/* The cells [x, last] of a row lie side by side, unless the table ends between them. */
static inline bool meet_run(const lookup *l, uint32_t level, int32_t x, int32_t last, int32_t y, int32_t z) {
  if (x > last) return true;
  const uint32_t *starts = l->h->heads.data, mask = l->h->mask, row = row_of(level, y, z);
  uint32_t first = (row + (uint32_t)x) & mask, end = (row + (uint32_t)last) & mask;
  if (first <= end) return meet_places(l, starts[first], starts[end + 1], level, x, last, y, z);
  return meet_places(l, starts[first], l->h->places_end, level, x, last, y, z) &&
         meet_places(l, 0, starts[end + 1], level, x, last, y, z);
}

static bool meet_runs(const lookup *l, uint32_t level, const cells *c) {
  for (int32_t z = c->low[2]; z <= c->high[2]; z++) {
    for (int32_t y = c->low[1]; y <= c->high[1]; y++) {
      if (!meet_run(l, level, c->low[0], c->high[0], y, z)) return false;
    }
  }
  return true;
}

/* The pairs of a box with larger ones, and with those of its level that come later: behind it in memory in its own
 * cell, or in a later cell. */
static bool meet_from_here(const lookup *l) {
  const hash_node *own = l->box;
  const int32_t *at = own->cell;
  cells c = cells_around(l->h, own->box, own->level);
  uint32_t place = (uint32_t)(own - nodes_of(l->h)), end = ((const uint32_t *)l->h->heads.data)[own->bucket + 1];
  if (!meet_places(l, place + 1, end, own->level, at[0], at[0], at[1], at[2])) return false;
  if (!meet_run(l, own->level, at[0] + 1, c.high[0], at[1], at[2])) return false;
  for (int32_t y = at[1] + 1; y <= c.high[1]; y++) {
    if (!meet_run(l, own->level, c.low[0], c.high[0], y, at[2])) return false;
  }
  c.low[2] = at[2] + 1;
  if (!meet_runs(l, own->level, &c)) return false;
  for (uint32_t k = l->h->level_count; k-- > 0 && l->h->levels[k] > own->level;) {
    c = cells_around(l->h, own->box, l->h->levels[k]);
    if (!meet_runs(l, l->h->levels[k], &c)) return false;
  }
  return true;
}

typedef struct search {
  const box_hash *h;
  const broad_view *view;
  pieces p;
  pair_lists *lists;
  bool failed[PARALLEL_PIECES];
} search;

static void search_piece(void *argument, uint32_t index) {
  search *s = argument;
  lookup l = {.h = s->h, .view = s->view, .out = &s->lists->part[index]};
  for (uint64_t p = pieces_begin(&s->p, index); p < pieces_end(&s->p, index) && !s->failed[index]; p++) {
    l.box = nodes_of(s->h) + p;
    s->failed[index] = !meet_from_here(&l);
  }
}

static graze_status find(void *state, const broad_view *view, pair_list *out) {
  hash_state *s = state;
  if (!lay_out(&s->h, view)) return GRAZE_ERROR_MEMORY;
  search q = {.h = &s->h, .view = view, .p = pieces_of(s->h.places_end, 512), .lists = &s->lists};
  gz_parallel_each(view->context, q.p.number, search_piece, &q);
  bool good = true;
  for (uint32_t i = 0; i < q.p.number; i++) good = good && !q.failed[i];
  good = good && gz_pair_lists_join(view->context, q.lists, q.p.number, out);
  for (uint32_t i = 0; i < q.p.number; i++) q.lists->part[i].count = 0;
  make_lists(&s->h);
  return good ? GRAZE_OK : GRAZE_ERROR_MEMORY;
}

static graze_status step(void *state, const broad_view *view, const broad_edits *edits, pair_list *out) {
  return gz_box_hash_step(&((hash_state *)state)->h, view, edits, out);
}

/* An edit looks at twice as many cells as a box that is found from nothing. */
static bool pays(const void *state, const broad_view *view, const broad_edits *edits) {
  return edits->count < view->count / 3 && !gz_box_hash_is_stale(&((const hash_state *)state)->h);
}

static void release(const graze_context *context, void *state) {
  hash_state *s = state;
  gz_box_hash_release(context, &s->h);
  gz_pair_lists_release(context, &s->lists);
}

static size_t bytes(const void *state) {
  const hash_state *s = state;
  return gz_box_hash_bytes(&s->h) + gz_pair_lists_bytes(&s->lists);
}

const broad_method gz_broad_hash = {
    .info = {"hash", "spatial hash, levels of cells", "O(n + k) on common scenes; an edit: the cells around it", true},
    .state_bytes = sizeof(hash_state),
    .find = find,
    .step = step,
    .pays = pays,
    .release = release,
    .bytes = bytes};
