/* Lists of pairs.
 *
 * Sorting: pairs are dealt out by the high bits of a, so that what follows stays in the second-level cache, then
 * counted by a; the few b of one a are put in order by themselves. Dealing out is done piece by piece and every bucket
 * by itself, side by side; the result does not depend on the order of what came in, nor on threads.
 */
#include "broad/pairs.h"

#include <string.h>

#include "base/cpu.h"
#include "base/sort.h"

enum {
  BUCKET_BITS = 13, /* slots of a bucket: 32 kB of counters, the first-level cache */
  BUCKETS = 512     /* most; they get wider then */
};

void gz_pair_list_release(const graze_context *context, pair_list *list) {
  gz_buffer_release(context, &list->memory);
  list->count = 0;
}

bool gz_pair_lists_join(const graze_context *context, pair_lists *lists, uint32_t number, pair_list *out) {
  uint64_t more = 0;
  for (uint32_t i = 0; i < number; i++) more += lists->part[i].count;
  if (!pair_list_room(context, out, more)) return false;
  for (uint32_t i = 0; i < number; i++) {
    pair_list *part = &lists->part[i];
    if (part->count > 0) {
      memcpy(pair_list_data(out) + out->count, part->memory.data, (size_t)part->count * sizeof(graze_box_pair));
    }
    out->count += part->count;
    part->count = 0;
  }
  return true;
}

void gz_pair_lists_release(const graze_context *context, pair_lists *lists) {
  for (uint32_t i = 0; i < PARALLEL_PIECES; i++) gz_pair_list_release(context, &lists->part[i]);
}

size_t gz_pair_lists_bytes(const pair_lists *lists) {
  size_t sum = 0;
  for (uint32_t i = 0; i < PARALLEL_PIECES; i++) sum += lists->part[i].memory.bytes;
  return sum;
}

/* ---- sorting --------------------------------------------------------------------------------------------------- */

typedef struct sorting {
  graze_box_pair *pairs;
  graze_box_pair *dealt; /* by bucket */
  uint64_t *starts;      /* of bucket k of piece i at [k * number + i]; then of the buckets as a whole */
  uint32_t *counters;    /* a bucket's width + 1 for each task that runs at a time: one stretch for each bucket */
  uint32_t limit;
  unsigned shift;
  uint32_t buckets;
  pieces p;
} sorting;

static void count_piece(void *argument, uint32_t index) {
  const sorting *s = argument;
  uint64_t counts[BUCKETS] = {0};
  for (uint64_t i = pieces_begin(&s->p, index); i < pieces_end(&s->p, index); i++) counts[s->pairs[i].a >> s->shift]++;
  for (uint32_t k = 0; k < s->buckets; k++) s->starts[(size_t)k * s->p.number + index] = counts[k];
}

static void deal_piece(void *argument, uint32_t index) {
  const sorting *s = argument;
  uint64_t next[BUCKETS];
  for (uint32_t k = 0; k < s->buckets; k++) next[k] = s->starts[(size_t)k * s->p.number + index];
  for (uint64_t i = pieces_begin(&s->p, index); i < pieces_end(&s->p, index); i++) {
    s->dealt[next[s->pairs[i].a >> s->shift]++] = s->pairs[i];
  }
}

static void sort_bucket(void *argument, uint32_t index) {
  const sorting *s = argument;
  uint64_t begin = s->starts[(size_t)index * s->p.number];
  uint64_t end = index + 1 < s->buckets ? s->starts[(size_t)(index + 1) * s->p.number] : s->p.count;
  const graze_box_pair *from = s->dealt + begin;
  graze_box_pair *to = s->pairs + begin;
  uint32_t low = index << s->shift, width = (uint32_t)1 << s->shift;
  if (width > s->limit - low) width = s->limit - low;
  uint32_t *next = s->counters + low + index; /* width + 1 of them */
  memset(next, 0, ((size_t)width + 1) * sizeof *next);
  for (uint64_t i = 0; i < end - begin; i++) next[from[i].a - low + 1]++;
  for (uint32_t k = 0; k < width; k++) next[k + 1] += next[k];
  for (uint64_t i = 0; i < end - begin; i++) to[next[from[i].a - low]++] = from[i];
  /* Every counter has moved to where the next one began. */
  CPU_KERNEL(gz_pairs_order)(to, next, width);
}

/* Few pairs among many slots, or more than 32-bit counters count: as keys. */
static bool sort_as_keys(const graze_context *context, pair_list *list, buffer *scratch) {
  size_t count = (size_t)list->count;
  if (!gz_buffer_reserve(context, scratch, 2 * count * sizeof(uint64_t), 0)) return false;
  graze_box_pair *pairs = pair_list_data(list);
  uint64_t *keys = scratch->data;
  for (size_t i = 0; i < count; i++) keys[i] = pair_order(pairs[i]);
  gz_sort_keys(keys, keys + count, count);
  for (size_t i = 0; i < count; i++) pairs[i] = (graze_box_pair){(uint32_t)(keys[i] >> 32), (uint32_t)keys[i]};
  return true;
}

bool gz_pair_list_sort(const graze_context *context, pair_list *list, uint32_t limit, buffer *scratch) {
  if (list->count < 2) return true;
  if (list->count < limit / 2 || list->count > UINT32_MAX) return sort_as_keys(context, list, scratch);
  sorting s = {.limit = limit, .shift = BUCKET_BITS, .p = pieces_of(list->count, 1 << 15)};
  while ((limit - 1) >> s.shift >= BUCKETS) s.shift++;
  s.buckets = ((limit - 1) >> s.shift) + 1;

  size_t dealt = (size_t)list->count * sizeof(graze_box_pair);
  size_t starts = ((size_t)s.buckets * s.p.number * sizeof(uint64_t) + 63) / 64 * 64;
  size_t counters = ((size_t)limit + s.buckets) * sizeof(uint32_t);
  if (!gz_buffer_reserve(context, scratch, starts + counters + dealt + 64, 0)) return false;
  s.pairs = pair_list_data(list);
  s.starts = scratch->data;
  s.counters = (uint32_t *)((char *)scratch->data + starts);
  s.dealt = (graze_box_pair *)((char *)scratch->data + starts + (counters + 63) / 64 * 64);

  gz_parallel_each(context, s.p.number, count_piece, &s);
  uint64_t sum = 0;
  for (size_t i = 0; i < (size_t)s.buckets * s.p.number; i++) {
    uint64_t count = s.starts[i];
    s.starts[i] = sum;
    sum += count;
  }
  gz_parallel_each(context, s.p.number, deal_piece, &s);
  gz_parallel_each(context, s.buckets, sort_bucket, &s);
  return true;
}

/* ---- comparing ------------------------------------------------------------------------------------------------- */

enum { BLOCK = 8 }; /* pairs that are compared at once */

typedef struct comparison {
  const graze_box_pair *then, *now;
  graze_box_pair *began, *persist, *ended;
  uint64_t then_count, now_count, began_count, persist_count, ended_count;
} comparison;

/* Steps without branches that depend on the pairs: each looks at one pair of either list, writes it to all three ends
 * and moves on the one where it belongs. Both lists have pairs for all steps. */
static inline void compare_block(comparison *c, uint64_t *i, uint64_t *j) {
  for (int k = 0; k < BLOCK; k++) {
    graze_box_pair then = c->then[*i], now = c->now[*j];
    uint64_t p = pair_order(then), q = pair_order(now);
    c->persist[c->persist_count] = now;
    c->ended[c->ended_count] = then;
    c->began[c->began_count] = now;
    c->persist_count += p == q;
    c->ended_count += p < q;
    c->began_count += q < p;
    *i += p <= q;
    *j += q <= p;
  }
}

static void compare(comparison *c) {
  uint64_t i = 0, j = 0;
  while (i + BLOCK <= c->then_count && j + BLOCK <= c->now_count) {
    if (memcmp(c->then + i, c->now + j, BLOCK * sizeof *c->now) == 0) {
      memcpy(c->persist + c->persist_count, c->now + j, BLOCK * sizeof *c->now);
      c->persist_count += BLOCK;
      i += BLOCK;
      j += BLOCK;
    } else {
      compare_block(c, &i, &j);
    }
  }
  while (i < c->then_count && j < c->now_count) {
    uint64_t p = pair_order(c->then[i]), q = pair_order(c->now[j]);
    if (p == q) c->persist[c->persist_count++] = c->now[j];
    if (p < q) c->ended[c->ended_count++] = c->then[i];
    if (q < p) c->began[c->began_count++] = c->now[j];
    i += p <= q;
    j += q <= p;
  }
  while (i < c->then_count) c->ended[c->ended_count++] = c->then[i++];
  while (j < c->now_count) c->began[c->began_count++] = c->now[j++];
}

/* Makes a list empty with room for `count` pairs. */
static bool start_list(const graze_context *context, pair_list *list, uint64_t count) {
  list->count = 0;
  return pair_list_room(context, list, count);
}

bool gz_pair_lists_compare(const graze_context *context, const pair_list *then, const pair_list *now, pair_list *began,
                           pair_list *persist, pair_list *ended) {
  /* One more than can be written to stay: every step writes to all three. */
  uint64_t both = (then->count < now->count ? then->count : now->count) + 1;
  if (!start_list(context, began, now->count + 1) || !start_list(context, persist, both) ||
      !start_list(context, ended, then->count + 1)) {
    return false;
  }
  comparison c = {.then = pair_list_data(then),
                  .now = pair_list_data(now),
                  .began = pair_list_data(began),
                  .persist = pair_list_data(persist),
                  .ended = pair_list_data(ended),
                  .then_count = then->count,
                  .now_count = now->count};
  compare(&c);
  began->count = c.began_count;
  persist->count = c.persist_count;
  ended->count = c.ended_count;
  return true;
}

/* ---- editing --------------------------------------------------------------------------------------------------- */

enum { RUN = 8, LONG_RUN = 256 }; /* pairs that are copied at once */

typedef struct edit {
  const graze_box_pair *from, *end;
  graze_box_pair *to;
} edit;

static inline void copy_runs(edit *e, uint64_t key, size_t run) {
  while ((size_t)(e->end - e->from) >= run && pair_order(e->from[run - 1]) < key) {
    memcpy(e->to, e->from, run * sizeof *e->to);
    e->to += run;
    e->from += run;
  }
}

/* Copies the pairs below a key: whole runs first, which costs little more than copying alone. The next run is copied
 * whole, too, and then it is counted, without a branch for each, how many of it are below. */
static inline void copy_below(edit *e, uint64_t key) {
  copy_runs(e, key, LONG_RUN);
  copy_runs(e, key, RUN);
  size_t below = 0;
  if (e->end - e->from >= RUN) {
    for (int k = 0; k < RUN; k++) below += pair_order(e->from[k]) < key;
    memcpy(e->to, e->from, RUN * sizeof *e->to);
  } else {
    for (; e->from + below < e->end && pair_order(e->from[below]) < key; below++) e->to[below] = e->from[below];
  }
  e->to += below;
  e->from += below;
}

bool gz_pair_list_edit(const graze_context *context, const pair_list *from, const pair_list *gone,
                       const pair_list *come, pair_list *out) {
  if (!start_list(context, out, from->count + come->count + RUN)) return false;
  const graze_box_pair *g = pair_list_data(gone), *c = pair_list_data(come);
  const graze_box_pair *source = from->count > 0 ? pair_list_data(from) : pair_list_data(out); /* never NULL */
  edit e = {source, source + from->count, pair_list_data(out)};
  uint64_t i = 0, j = 0;
  while (i < gone->count || j < come->count) {
    const bool drop = j == come->count || (i < gone->count && pair_order(g[i]) < pair_order(c[j]));
    const graze_box_pair pair = drop ? g[i] : c[j];
    copy_below(&e, pair_order(pair));
    *e.to = pair;
    e.to += !drop;
    e.from += drop;
    i += drop;
    j += !drop;
  }
  if (e.end > e.from) memcpy(e.to, e.from, (size_t)(e.end - e.from) * sizeof *e.to);
  out->count = from->count + come->count - gone->count;
  return true;
}

bool gz_pair_list_marked(const graze_context *context, const pair_list *from, const uint8_t *marked, pair_list *out) {
  enum { STRETCH = 4096 }; /* so that the room asked for stays near what is needed */
  const graze_box_pair *source = pair_list_data(from);
  for (uint64_t begin = 0; begin < from->count; begin += STRETCH) {
    uint64_t end = from->count - begin < STRETCH ? from->count : begin + STRETCH;
    if (!pair_list_room(context, out, STRETCH)) return false;
    graze_box_pair *to = pair_list_data(out);
    uint64_t count = out->count;
    for (uint64_t i = begin; i < end; i++) {
      to[count] = source[i];
      count += marked[source[i].a] | marked[source[i].b];
    }
    out->count = count;
  }
  return true;
}

/* ---- pair managers ----------------------------------------------------------------------------------------------- */

/* Sets of pairs in three ways; see pairs.h. Robin hood hashing: Celis, Larson, Munro, "Robin Hood Hashing",
 * FOCS 1985. */
/* -- hash ------------------------------------------------------------------------------------------------------ */

enum { HASH_LEAST_BITS = 6 };
static const uint64_t no_key = UINT64_MAX; /* of no pair: a is below b */

static inline uint64_t hash_places(const pair_manager *m) {
  return (uint64_t)1 << (64 - m->shift);
}

static inline uint64_t hash_home(const pair_manager *m, uint64_t key) {
  return (key ^ key >> 32) * 0x9E3779B97F4A7C15u >> m->shift;
}

/* How far the key at a place is from its home. */
static inline uint64_t hash_distance(const pair_manager *m, uint64_t key, uint64_t place) {
  return (place - hash_home(m, key)) & (hash_places(m) - 1);
}

/* Room for `pairs` at four fifths full. */
static unsigned hash_shift(uint64_t pairs) {
  unsigned bits = HASH_LEAST_BITS;
  while (((uint64_t)1 << bits) / 5 * 4 < pairs) bits++;
  return 64 - bits;
}

static bool hash_clear(const graze_context *context, pair_manager *m, unsigned shift) {
  size_t bytes = sizeof(uint64_t) << (64 - shift);
  if (!gz_buffer_reserve(context, &m->table, bytes, 0)) return false;
  m->shift = shift;
  memset(m->table.data, 0xff, bytes); /* no_key everywhere */
  return true;
}

/* The place of a key, or hash_places() when it is not there. */
static uint64_t hash_find(const pair_manager *m, uint64_t key) {
  const uint64_t *table = m->table.data;
  uint64_t mask = hash_places(m) - 1, place = hash_home(m, key);
  for (uint64_t distance = 0;; distance++, place = (place + 1) & mask) {
    if (table[place] == key) return place;
    if (table[place] == no_key || hash_distance(m, table[place], place) < distance) return mask + 1;
  }
}

/* Of a key that is not there. */
static void hash_insert(pair_manager *m, uint64_t key) {
  uint64_t *table = m->table.data;
  uint64_t mask = hash_places(m) - 1, place = hash_home(m, key);
  for (uint64_t distance = 0; table[place] != no_key; distance++, place = (place + 1) & mask) {
    uint64_t other = table[place], others = hash_distance(m, other, place);
    if (others >= distance) continue;
    table[place] = key; /* the one nearer to its home moves on */
    key = other;
    distance = others;
  }
  table[place] = key;
}

static bool hash_widen(const graze_context *context, pair_manager *m) {
  pair_manager wide = *m;
  wide.table = (buffer){0};
  if (!hash_clear(context, &wide, m->shift - 1)) return false;
  const uint64_t *table = m->table.data;
  for (uint64_t i = 0; i < hash_places(m); i++) {
    if (table[i] != no_key) hash_insert(&wide, table[i]);
  }
  gz_buffer_release(context, &m->table);
  m->table = wide.table;
  m->shift = wide.shift;
  return true;
}

static bool hash_reset(const graze_context *context, pair_manager *m, uint64_t pairs) {
  return hash_clear(context, m, hash_shift(pairs));
}

static bool hash_grow(const graze_context *context, pair_manager *m, uint32_t slots) {
  (void)context;
  (void)m;
  (void)slots;
  return true;
}

static bool hash_has(const pair_manager *m, graze_box_pair pair) {
  return hash_find(m, pair_order(pair)) < hash_places(m);
}

static bool hash_add(const graze_context *context, pair_manager *m, graze_box_pair pair, bool *fresh) {
  *fresh = !hash_has(m, pair);
  if (!*fresh) return true;
  if (m->count + 1 > hash_places(m) / 5 * 4 && !hash_widen(context, m)) return false;
  hash_insert(m, pair_order(pair));
  return true;
}

static bool hash_remove(pair_manager *m, graze_box_pair pair) {
  uint64_t *table = m->table.data;
  uint64_t mask = hash_places(m) - 1, place = hash_find(m, pair_order(pair));
  if (place > mask) return false;
  for (uint64_t next = (place + 1) & mask; table[next] != no_key && hash_distance(m, table[next], next) > 0;
       place = next, next = (next + 1) & mask) {
    table[place] = table[next];
  }
  table[place] = no_key;
  return true;
}

static void hash_list(const pair_manager *m, graze_box_pair *to) {
  const uint64_t *table = m->table.data;
  for (uint64_t i = 0; i < hash_places(m); i++) {
    if (table[i] != no_key) *to++ = (graze_box_pair){(uint32_t)(table[i] >> 32), (uint32_t)table[i]};
  }
}

/* -- sorted lists ---------------------------------------------------------------------------------------------- */

typedef struct slot_list {
  uint64_t start; /* in `numbers` */
  uint32_t count;
  uint32_t size; /* room is 2 << size, from 1; 0: none */
} slot_list;

static bool sorted_grow(const graze_context *context, pair_manager *m, uint32_t slots) {
  size_t old = (size_t)m->slots * sizeof(slot_list), bytes = (size_t)slots * sizeof(slot_list);
  if (!gz_buffer_reserve(context, &m->table, bytes, old)) return false;
  if (bytes > old) memset((char *)m->table.data + old, 0, bytes - old);
  return true;
}

static bool sorted_reset(const graze_context *context, pair_manager *m, uint64_t pairs) {
  (void)pairs;
  m->numbers_used = 0;
  memset(m->free, 0, sizeof m->free);
  uint32_t slots = m->slots;
  m->slots = 0;
  bool done = sorted_grow(context, m, slots);
  m->slots = slots;
  return done;
}

/* The first place of a list whose number is at least b. */
static uint32_t sorted_seek(const uint32_t *numbers, uint32_t count, uint32_t b) {
  uint32_t low = 0;
  while (low < count) {
    uint32_t middle = low + (count - low) / 2;
    if (numbers[middle] < b) {
      low = middle + 1;
    } else {
      count = middle;
    }
  }
  return low;
}

static bool sorted_has(const pair_manager *m, graze_box_pair pair) {
  const slot_list *list = (const slot_list *)m->table.data + pair.a;
  if (list->count == 0) return false;
  const uint32_t *numbers = (const uint32_t *)m->numbers.data + list->start;
  uint32_t at = sorted_seek(numbers, list->count, pair.b);
  return at < list->count && numbers[at] == pair.b;
}

/* A list of this size: one that was given back, or a new one. False: no memory. */
static bool sorted_take(const graze_context *context, pair_manager *m, uint32_t size, uint64_t *start) {
  uint64_t room = (uint64_t)2 << size;
  if (m->free[size] != 0) {
    *start = m->free[size] - 1;
    memcpy(&m->free[size], (uint32_t *)m->numbers.data + *start, sizeof m->free[size]);
    return true;
  }
  size_t used = (size_t)m->numbers_used * sizeof(uint32_t);
  if (!gz_buffer_reserve(context, &m->numbers, used + (size_t)room * sizeof(uint32_t), used)) return false;
  *start = m->numbers_used;
  m->numbers_used += room;
  return true;
}

static void sorted_give(pair_manager *m, const slot_list *list) {
  memcpy((uint32_t *)m->numbers.data + list->start, &m->free[list->size], sizeof m->free[list->size]);
  m->free[list->size] = list->start + 1;
}

/* The next size, contents kept. */
static bool sorted_enlarge(const graze_context *context, pair_manager *m, slot_list *list) {
  slot_list larger = {0, list->count, list->size + 1};
  if (!sorted_take(context, m, larger.size, &larger.start)) return false;
  uint32_t *numbers = m->numbers.data;
  if (list->size > 0) {
    memcpy(numbers + larger.start, numbers + list->start, list->count * sizeof *numbers);
    sorted_give(m, list);
  }
  *list = larger;
  return true;
}

static bool sorted_add(const graze_context *context, pair_manager *m, graze_box_pair pair, bool *fresh) {
  slot_list *list = (slot_list *)m->table.data + pair.a;
  *fresh = !sorted_has(m, pair);
  if (!*fresh) return true;
  bool full = list->size == 0 || list->count == (uint32_t)2 << list->size;
  if (full && !sorted_enlarge(context, m, list)) return false;
  uint32_t *numbers = (uint32_t *)m->numbers.data + list->start;
  uint32_t at = sorted_seek(numbers, list->count, pair.b);
  memmove(numbers + at + 1, numbers + at, (list->count - at) * sizeof *numbers);
  numbers[at] = pair.b;
  list->count++;
  return true;
}

static bool sorted_remove(pair_manager *m, graze_box_pair pair) {
  slot_list *list = (slot_list *)m->table.data + pair.a;
  if (!sorted_has(m, pair)) return false;
  uint32_t *numbers = (uint32_t *)m->numbers.data + list->start;
  uint32_t at = sorted_seek(numbers, list->count, pair.b);
  list->count--;
  memmove(numbers + at, numbers + at + 1, (list->count - at) * sizeof *numbers);
  if (list->count == 0) {
    sorted_give(m, list);
    *list = (slot_list){0};
  }
  return true;
}

static void sorted_list(const pair_manager *m, graze_box_pair *to) {
  const slot_list *lists = m->table.data;
  for (uint32_t a = 0; a < m->slots; a++) {
    const uint32_t *numbers = (const uint32_t *)m->numbers.data + lists[a].start;
    for (uint32_t i = 0; i < lists[a].count; i++) *to++ = (graze_box_pair){a, numbers[i]};
  }
}

/* -- matrix ---------------------------------------------------------------------------------------------------- */

/* Row by row, so that more slots are more rows at the end. */
static inline uint64_t matrix_bit(graze_box_pair pair) {
  return (uint64_t)pair.b * (pair.b - 1u) / 2 + pair.a;
}

static size_t matrix_bytes(uint32_t slots) {
  return slots < 2 ? 0 : ((size_t)slots * (slots - 1) / 2 + 63) / 64 * sizeof(uint64_t);
}

static bool matrix_grow(const graze_context *context, pair_manager *m, uint32_t slots) {
  size_t old = matrix_bytes(m->slots), bytes = matrix_bytes(slots);
  if (!gz_buffer_reserve(context, &m->table, bytes, old)) return false;
  if (bytes > old) memset((char *)m->table.data + old, 0, bytes - old);
  return true;
}

static bool matrix_reset(const graze_context *context, pair_manager *m, uint64_t pairs) {
  (void)pairs;
  uint32_t slots = m->slots;
  m->slots = 0;
  bool done = matrix_grow(context, m, slots);
  m->slots = slots;
  return done;
}

static bool matrix_has(const pair_manager *m, graze_box_pair pair) {
  uint64_t bit = matrix_bit(pair);
  return (((const uint64_t *)m->table.data)[bit / 64] >> bit % 64 & 1) != 0;
}

static bool matrix_add(const graze_context *context, pair_manager *m, graze_box_pair pair, bool *fresh) {
  (void)context;
  uint64_t bit = matrix_bit(pair);
  *fresh = !matrix_has(m, pair);
  ((uint64_t *)m->table.data)[bit / 64] |= (uint64_t)1 << bit % 64;
  return true;
}

static bool matrix_remove(pair_manager *m, graze_box_pair pair) {
  uint64_t bit = matrix_bit(pair);
  bool there = matrix_has(m, pair);
  ((uint64_t *)m->table.data)[bit / 64] &= ~((uint64_t)1 << bit % 64);
  return there;
}

static void matrix_list(const pair_manager *m, graze_box_pair *to) {
  const uint64_t *words = m->table.data;
  uint64_t end = matrix_bytes(m->slots) / sizeof(uint64_t), row = 0; /* first bit of row b */
  uint32_t b = 1;
  for (uint64_t i = 0; i < end; i++) {
    for (uint64_t word = words[i]; word != 0; word &= word - 1) {
      uint64_t bit = 64 * i + (unsigned)__builtin_ctzll(word);
      while (bit >= row + b) row += b++;
      *to++ = (graze_box_pair){(uint32_t)(bit - row), b};
    }
  }
}

/* -- the interface --------------------------------------------------------------------------------------------- */

typedef struct manager_kind {
  bool (*reset)(const graze_context *context, pair_manager *m, uint64_t pairs);
  bool (*grow)(const graze_context *context, pair_manager *m, uint32_t slots);
  bool (*add)(const graze_context *context, pair_manager *m, graze_box_pair pair, bool *fresh);
  bool (*remove)(pair_manager *m, graze_box_pair pair);
  bool (*has)(const pair_manager *m, graze_box_pair pair);
  void (*list)(const pair_manager *m, graze_box_pair *to); /* `count` of them */
} manager_kind;

static const manager_kind kinds[] = {
    [GRAZE_PAIRS_HASH] = {hash_reset, hash_grow, hash_add, hash_remove, hash_has, hash_list},
    [GRAZE_PAIRS_SORTED] = {sorted_reset, sorted_grow, sorted_add, sorted_remove, sorted_has, sorted_list},
    [GRAZE_PAIRS_MATRIX] = {matrix_reset, matrix_grow, matrix_add, matrix_remove, matrix_has, matrix_list}};

bool gz_pair_manager_reset(const graze_context *context, pair_manager *m, graze_pair_manager kind, uint32_t slots,
                           uint64_t pairs) {
  m->kind = kind;
  m->slots = slots;
  m->count = 0;
  return kinds[kind].reset(context, m, pairs);
}

bool gz_pair_manager_grow(const graze_context *context, pair_manager *m, uint32_t slots) {
  if (slots <= m->slots) return true;
  if (!kinds[m->kind].grow(context, m, slots)) return false;
  m->slots = slots;
  return true;
}

bool gz_pair_manager_add(const graze_context *context, pair_manager *m, graze_box_pair pair, bool *fresh) {
  if (!kinds[m->kind].add(context, m, pair, fresh)) return false;
  m->count += *fresh;
  return true;
}

bool gz_pair_manager_remove(pair_manager *m, graze_box_pair pair) {
  bool there = kinds[m->kind].remove(m, pair);
  m->count -= there;
  return there;
}

bool gz_pair_manager_has(const pair_manager *m, graze_box_pair pair) {
  return kinds[m->kind].has(m, pair);
}

bool gz_pair_manager_list(const graze_context *context, const pair_manager *m, pair_list *out) {
  if (m->count == 0) return true;
  if (!pair_list_room(context, out, m->count)) return false;
  kinds[m->kind].list(m, pair_list_data(out) + out->count);
  out->count += m->count;
  return true;
}

bool gz_pair_manager_drop(const graze_context *context, pair_manager *m, const uint8_t *marks, uint8_t mark,
                          pair_list *out) {
  uint64_t start = out->count, count = start;
  if (!gz_pair_manager_list(context, m, out)) return false;
  graze_box_pair *pairs = pair_list_data(out);
  for (uint64_t i = start; i < out->count; i++) {
    graze_box_pair pair = pairs[i];
    if (marks[pair.a] != mark && marks[pair.b] != mark) continue;
    pairs[count++] = pair;
    gz_pair_manager_remove(m, pair);
  }
  out->count = count;
  return true;
}

void gz_pair_manager_release(const graze_context *context, pair_manager *m) {
  gz_buffer_release(context, &m->table);
  gz_buffer_release(context, &m->numbers);
  *m = (pair_manager){0};
}

size_t gz_pair_manager_bytes(const pair_manager *m) {
  return m->table.bytes + m->numbers.bytes;
}
