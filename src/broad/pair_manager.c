/* Sets of pairs in three ways; see pair_manager.h. Robin hood hashing: Celis, Larson, Munro, "Robin Hood Hashing",
 * FOCS 1985. */
#include "broad/pair_manager.h"

#include <string.h>

/* ---- hash ------------------------------------------------------------------------------------------------------ */

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

/* ---- sorted lists ---------------------------------------------------------------------------------------------- */

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

/* ---- matrix ---------------------------------------------------------------------------------------------------- */

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

/* ---- the interface --------------------------------------------------------------------------------------------- */

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
