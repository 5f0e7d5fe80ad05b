/* The table of the spatial hash: cells in buckets, entries in blocks. */
#include <string.h>

#include "broad/hash.h"

bool gz_hash_make_buckets(const graze_context *context, hash_state *s, unsigned bits) {
  size_t bytes = sizeof(uint32_t) << bits;
  if (!gz_buffer_reserve(context, &s->buckets, bytes, 0)) return false;
  s->bucket_bits = bits;
  memset(s->buckets.data, 0xff, bytes);
  uint32_t *buckets = s->buckets.data;
  hash_cell *cells = s->cells.data;
  for (uint32_t c = 0; c < s->cell_end; c++) {
    if (cells[c].count == 0) continue;
    uint32_t *bucket = &buckets[hash_bucket_of(s, cells[c].level, cells[c].at)];
    cells[c].next = *bucket;
    *bucket = c;
  }
  return true;
}

/* An element from the free ones, or a new one. HASH_NONE: no memory. */
static uint32_t new_cell(const graze_context *context, hash_state *s) {
  uint32_t c = s->free_cell;
  if (c != HASH_NONE) {
    s->free_cell = ((const hash_cell *)s->cells.data)[c].next;
    return c;
  }
  size_t used = (size_t)s->cell_end * sizeof(hash_cell);
  return gz_buffer_reserve(context, &s->cells, used + sizeof(hash_cell), used) ? s->cell_end++ : HASH_NONE;
}

static uint32_t new_block(const graze_context *context, hash_state *s) {
  uint32_t b = s->free_block;
  if (b != HASH_NONE) {
    s->free_block = ((const hash_block *)s->blocks.data)[b].next;
    return b;
  }
  size_t used = (size_t)s->block_end * sizeof(hash_block);
  return gz_buffer_reserve(context, &s->blocks, used + sizeof(hash_block), used) ? s->block_end++ : HASH_NONE;
}

static uint32_t add_cell(const graze_context *context, hash_state *s, uint32_t level, const int64_t at[3]) {
  uint32_t c = new_cell(context, s);
  if (c == HASH_NONE) return HASH_NONE;
  hash_cell *cell = (hash_cell *)s->cells.data + c;
  *cell = (hash_cell){{at[0], at[1], at[2]}, level, HASH_NONE, HASH_NONE, 0};
  s->cell_count++;
  /* An empty cell is not put into a new table; so it is linked in afterwards. */
  if (s->cell_count >> s->bucket_bits != 0 && !gz_hash_make_buckets(context, s, s->bucket_bits + 1)) return HASH_NONE;
  uint32_t *bucket = (uint32_t *)s->buckets.data + hash_bucket_of(s, level, at);
  cell->next = *bucket;
  *bucket = c;
  return c;
}

static void drop_cell(hash_state *s, uint32_t c) {
  hash_cell *cells = s->cells.data;
  uint32_t *link = (uint32_t *)s->buckets.data + hash_bucket_of(s, cells[c].level, cells[c].at);
  while (*link != c) link = &cells[*link].next;
  *link = cells[c].next;
  cells[c].next = s->free_cell;
  s->free_cell = c;
  s->cell_count--;
}

static bool add_entry(const graze_context *context, hash_state *s, uint32_t c, uint32_t place, unsigned low) {
  hash_cell *cell = (hash_cell *)s->cells.data + c;
  uint32_t at = cell->count % HASH_BLOCK;
  if (at == 0) {
    uint32_t b = new_block(context, s);
    if (b == HASH_NONE) return false;
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
  uint32_t last = hash_in_first(cell) - 1, i = 0, filled = last + 1;
  while (block->place[i] != place) {
    if (++i < filled) continue;
    block = &blocks[block->next];
    i = 0;
    filled = HASH_BLOCK;
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

uint8_t gz_hash_level_of(const hash_state *s, const hash_box *box, hash_cell_span *span) {
  double wanted = 0;
  for (int k = 0; k < 3; k++) {
    double edge = 1.5 * ((double)box->max[k] - (double)box->min[k]);
    wanted = edge > wanted ? edge : wanted;
  }
  uint8_t level = 0;
  while (level < HASH_LEVELS - 1 && wanted > s->size[level]) level++;
  *span = hash_span_of(s, box, level);
  return level == HASH_LEVELS - 1 && hash_cells_of(span) > HASH_MOST_CELLS ? HASH_WIDE : level;
}

bool gz_hash_put_in(const graze_context *context, hash_state *s, uint32_t place, uint8_t level,
                    const hash_cell_span *span) {
  ((hash_box *)s->boxes.data)[place].level = level;
  s->on_level[level]++;
  if (level == HASH_WIDE) {
    size_t used = s->wide_count * sizeof(uint32_t);
    if (!gz_buffer_reserve(context, &s->wide, used + sizeof(uint32_t), used)) return false;
    ((uint32_t *)s->wide.data)[s->wide_count++] = place;
    return true;
  }
  int64_t at[3] = {span->low[0], span->low[1], span->low[2]};
  do {
    uint32_t c = hash_find_cell(s, level, at);
    if (c == HASH_NONE) c = add_cell(context, s, level, at);
    if (c == HASH_NONE || !add_entry(context, s, c, place, hash_low_of(span, at))) return false;
  } while (hash_next_cell(span, at));
  return true;
}

void gz_hash_take_out(hash_state *s, uint32_t place) {
  const hash_box *b = (const hash_box *)s->boxes.data + place;
  s->on_level[b->level]--;
  if (b->level == HASH_WIDE) {
    uint32_t *wide = s->wide.data, i = 0;
    while (wide[i] != place) i++;
    wide[i] = wide[--s->wide_count];
    return;
  }
  hash_cell_span span = hash_span_of(s, b, b->level);
  int64_t at[3] = {span.low[0], span.low[1], span.low[2]};
  do {
    drop_entry(s, hash_find_cell(s, b->level, at), place);
  } while (hash_next_cell(&span, at));
}
