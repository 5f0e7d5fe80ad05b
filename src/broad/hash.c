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
#include "broad/hash.h"

#include <string.h>

/* ---- from nothing ---------------------------------------------------------------------------------------------- */

static bool fill(const broad_view *view, hash_state *s) {
  s->cell_end = s->block_end = s->wide_count = s->cell_count = 0;
  s->free_box = s->free_cell = s->free_block = HASH_NONE;
  memset(s->on_level, 0, sizeof s->on_level);
  if (!gz_hash_make_buckets(view->context, s, s->bucket_bits > 6 ? s->bucket_bits : 6)) return false;
  const hash_box *boxes = s->boxes.data;
  for (uint32_t p = 0; p < s->box_end; p++) {
    hash_cell_span span;
    uint8_t level = gz_hash_level_of(s, &boxes[p], &span);
    if (!gz_hash_put_in(view->context, s, p, level, &span)) return false;
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
  for (uint64_t c = pieces_begin(&q->p, index); c < pieces_end(&q->p, index); c++) gz_hash_pairs_in_cell(&w, &cells[c]);
  q->failed[index] = w.failed;
}

static void search_coarser(void *argument, uint32_t index) {
  hash_search *q = argument;
  hash_walk w = {q->s, q->view, &q->lists->part[index], NULL, false};
  const hash_box *boxes = q->s->boxes.data;
  for (uint64_t p = pieces_begin(&q->p, index); p < pieces_end(&q->p, index) && !w.failed; p++) {
    gz_hash_pairs_with_coarser(&w, &boxes[p]);
  }
  q->failed[index] = w.failed;
}

static bool search(const broad_view *view, hash_state *s, uint64_t count, void (*body)(void *, uint32_t),
                   pair_list *out) {
  hash_search q = {.s = s, .view = view, .p = pieces_of(count, 512), .lists = &s->lists};
  gz_parallel_each(view->context, q.p.number, body, &q);
  bool good = true;
  for (uint32_t i = 0; i < q.p.number; i++) good = good && !q.failed[i];
  good = good && gz_pair_lists_join(view->context, q.lists, q.p.number, out);
  for (uint32_t i = 0; i < q.p.number; i++) q.lists->part[i].count = 0;
  return good;
}

static graze_status find(void *state, const broad_view *view, pair_list *out) {
  hash_state *s = state;
  if (!gz_hash_plan(view, s) || !fill(view, s)) return GRAZE_ERROR_MEMORY;
  s->found = s->box_end;
  s->edited = 0;
  if (!search(view, s, s->cell_end, search_cells, out)) return GRAZE_ERROR_MEMORY;
  if (s->on_level[0] == s->box_end) return GRAZE_OK;
  return search(view, s, s->box_end, search_coarser, out) ? GRAZE_OK : GRAZE_ERROR_MEMORY;
}

/* ---- edits ----------------------------------------------------------------------------------------------------- */

static uint32_t new_box(const graze_context *context, hash_state *s) {
  uint32_t p = s->free_box;
  if (p != HASH_NONE) {
    s->free_box = ((const hash_box *)s->boxes.data)[p].slot;
    return p;
  }
  size_t used = (size_t)s->box_end * sizeof(hash_box);
  return gz_buffer_reserve(context, &s->boxes, used + sizeof(hash_box), used) ? s->box_end++ : HASH_NONE;
}

static void remove_box(hash_state *s, uint32_t place) {
  hash_box *b = (hash_box *)s->boxes.data + place;
  gz_hash_take_out(s, place);
  b->level = HASH_FREE;
  b->slot = s->free_box;
  s->free_box = place;
}

/* A box that stays in its cells is only written down. */
static bool move_box(const graze_context *context, hash_state *s, uint32_t place, hash_box box) {
  hash_box *b = (hash_box *)s->boxes.data + place;
  hash_cell_span span;
  box.level = gz_hash_level_of(s, &box, &span);
  if (box.level == b->level && box.level != HASH_WIDE) {
    hash_cell_span old = hash_span_of(s, b, b->level);
    if (memcmp(&old, &span, sizeof span) == 0) {
      *b = box;
      return true;
    }
  }
  gz_hash_take_out(s, place);
  *b = box;
  return gz_hash_put_in(context, s, place, box.level, &span);
}

static bool edit_slot(const broad_view *view, hash_state *s, uint32_t slot) {
  uint32_t *place = (uint32_t *)s->places.data + slot;
  if (!view_takes(view, slot)) {
    if (*place != HASH_NONE) remove_box(s, *place);
    *place = HASH_NONE;
    return true;
  }
  graze_box box = view_box(view, slot);
  if (*place != HASH_NONE) return move_box(view->context, s, *place, hash_packed(&box, slot));
  *place = new_box(view->context, s);
  if (*place == HASH_NONE) return false;
  hash_box *b = (hash_box *)s->boxes.data + *place;
  *b = hash_packed(&box, slot);
  hash_cell_span span;
  uint8_t level = gz_hash_level_of(s, b, &span);
  return gz_hash_put_in(view->context, s, *place, level, &span);
}

static graze_status step(void *state, const broad_view *view, const broad_edits *edits, pair_list *out) {
  hash_state *s = state;
  size_t known = s->slot_count * sizeof(uint32_t);
  if (!gz_buffer_reserve(view->context, &s->places, view->count * sizeof(uint32_t), known)) return GRAZE_ERROR_MEMORY;
  uint32_t *places = s->places.data;
  for (; s->slot_count < view->count; s->slot_count++) places[s->slot_count] = HASH_NONE;
  for (uint32_t i = 0; i < edits->count; i++) {
    if (!edit_slot(view, s, edits->slots[i])) return GRAZE_ERROR_MEMORY;
  }
  hash_walk w = {s, view, out, edits, false};
  for (uint32_t i = 0; i < edits->count && !w.failed; i++) {
    uint32_t place = places[edits->slots[i]];
    if (place != HASH_NONE) gz_hash_pairs_of_box(&w, (const hash_box *)s->boxes.data + place);
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
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) gz_buffer_release(context, all[i]);
  gz_pair_lists_release(context, &s->lists);
}

static size_t bytes(const void *state) {
  const hash_state *s = state;
  size_t sum = s->boxes.bytes + s->places.bytes + s->cells.bytes + s->blocks.bytes + s->wide.bytes + s->buckets.bytes +
               s->codes.bytes;
  for (uint32_t i = 0; i < PARALLEL_PIECES; i++) sum += s->lists.part[i].memory.bytes;
  return sum;
}

const broad_method gz_broad_hash = {
    .info = {"hash", "spatial hash, cells of a power of two", "O(n + k) on common scenes; an edit: its cells", true},
    .state_bytes = sizeof(hash_state),
    .find = find,
    .step = step,
    .pays = pays,
    .release = release,
    .bytes = bytes};
