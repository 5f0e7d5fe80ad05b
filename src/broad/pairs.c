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
  if (list->count < limit / 8 || list->count > UINT32_MAX) return sort_as_keys(context, list, scratch);
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

/* The first place at or behind `at` whose pair is not below `pair`: steps that double, then halves. */
static uint64_t seek(const graze_box_pair *pairs, uint64_t at, uint64_t count, graze_box_pair pair) {
  uint64_t key = pair_order(pair), step = 1, low = at, high = at;
  while (high < count && pair_order(pairs[high]) < key) {
    low = high + 1;
    high = high + step < count ? high + step : count;
    step *= 2;
  }
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (pair_order(pairs[middle]) < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool gz_pair_list_edit(const graze_context *context, const pair_list *from, const pair_list *gone,
                       const pair_list *come, pair_list *out) {
  if (!start_list(context, out, from->count + come->count)) return false;
  const graze_box_pair *source = pair_list_data(from), *g = pair_list_data(gone), *c = pair_list_data(come);
  graze_box_pair *to = pair_list_data(out);
  uint64_t at = 0, i = 0, j = 0, count = 0;
  while (i < gone->count || j < come->count) {
    bool drop = j == come->count || (i < gone->count && pair_order(g[i]) < pair_order(c[j]));
    uint64_t end = seek(source, at, from->count, drop ? g[i] : c[j]);
    if (end > at) memcpy(to + count, source + at, (size_t)(end - at) * sizeof *to);
    count += end - at;
    at = end;
    if (drop) {
      at++;
      i++;
    } else {
      to[count++] = c[j++];
    }
  }
  if (from->count > at) memcpy(to + count, source + at, (size_t)(from->count - at) * sizeof *to);
  out->count = count + from->count - at;
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
