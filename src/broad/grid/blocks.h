/* Pairs of boxes of sorted levels for AVX2: part of pairs_kernels.c.
 *
 * The boxes go through three steps, some dozens at a time. A window is the records of a row that a box may meet; it is
 * found by comparing eight keys at once. A block is one record of a window, or two that follow one another, as many as
 * fill a register; windows are cut into blocks by comparing counts and moving the blocks that exist to the front. Four
 * blocks, of whatever boxes, are tested together. So hardly a branch depends on the boxes, and little of a register
 * goes to waste: rows have one or two candidates each. Each step stores where the next one will read much later, since
 * a processor that does not know yet where it stores does not like to read ahead.
 *
 * Of a uniform world with 2.4 pairs a box there are 6 candidates in 4.1 blocks a box. Per box the steps take about 100,
 * 60 and 75 instructions. */
#ifndef GRAZE_SRC_BROAD_GRID_BLOCKS_H
#define GRAZE_SRC_BROAD_GRID_BLOCKS_H

static inline uint32_t signs_of(__m256i x) {
  return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(x));
}

static inline uint32_t signs_of_four(__m128i x) {
  return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(x));
}

/* Moves those of four numbers of 64 bits whose bit is set to the front. */
static inline __m256i compress_four(__m256i four, uint32_t bits) {
  static const uint32_t order[16][8] = {{0},
                                        {0, 1},
                                        {2, 3},
                                        {0, 1, 2, 3},
                                        {4, 5},
                                        {0, 1, 4, 5},
                                        {2, 3, 4, 5},
                                        {0, 1, 2, 3, 4, 5},
                                        {6, 7},
                                        {0, 1, 6, 7},
                                        {2, 3, 6, 7},
                                        {0, 1, 2, 3, 6, 7},
                                        {4, 5, 6, 7},
                                        {0, 1, 4, 5, 6, 7},
                                        {2, 3, 4, 5, 6, 7},
                                        {0, 1, 2, 3, 4, 5, 6, 7}};
  return _mm256_permutevar8x32_epi32(four, _mm256_loadu_si256((const __m256i *)order[bits]));
}

/* Whether places can be doubled. */
static inline bool places_fit(const grid *g) {
  return g->levels[g->level_count - 1].end < INT32_MAX - GRID_AHEAD;
}

/* ---- blocks to pairs ------------------------------------------------------------------------------------------- */

/* Of the eight pairs that four blocks make: bit 4 i + r for record i of block r. */
typedef struct hits {
  __m256i slots, own;
  uint32_t meet, sure; /* elsewhere than where it is sure some compared numbers may be equal */
} hits;

/* Which lanes are negative in both halves. */
static inline uint32_t both_negative(__m256i x) {
  return signs_of(_mm256_and_si256(x, _mm256_slli_epi32(x, 16)));
}

static inline hits test_blocks(const candidates *c, const grid_record *records, uint32_t at) {
  __m256i p[4], d[4];
  for (uint32_t r = 0; r < 4; r++) {
    uint64_t block = c->block[at + r];
    p[r] = _mm256_broadcastsi128_si256(c->probe[block >> 32]);
    d[r] = _mm256_add_epi16(_mm256_loadu_si256((const __m256i *)(records + ((uint32_t)block >> 1))), p[r]);
  }
  __m256i low01 = _mm256_unpacklo_epi32(d[0], d[1]), low23 = _mm256_unpacklo_epi32(d[2], d[3]);
  __m256i high01 = _mm256_unpackhi_epi32(d[0], d[1]), high23 = _mm256_unpackhi_epi32(d[2], d[3]);
  __m256i xy = _mm256_unpacklo_epi64(low01, low23), zx = _mm256_unpackhi_epi64(low01, low23);
  __m256i yz = _mm256_unpacklo_epi64(high01, high23), slots = _mm256_unpackhi_epi64(high01, high23);
  __m256i own = _mm256_unpackhi_epi64(_mm256_unpackhi_epi32(p[0], p[1]), _mm256_unpackhi_epi32(p[2], p[3]));
  __m256i worst = _mm256_max_epi16(_mm256_max_epi16(xy, zx), yz);
  __m256i two = _mm256_slli_epi64(_mm256_loadu_si256((const __m256i *)(c->block + at)), 63);
  uint32_t there = (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(two)) << 4 | 0x0f;
  return (hits){.slots = _mm256_sub_epi16(slots, own), /* what was added to them */
                .own = own,
                .meet = both_negative(worst) & there,
                .sure = both_negative(_mm256_add_epi16(worst, _mm256_set1_epi16(1)))};
}

/* The hits that remain when equal numbers and layers have been looked at. */
static __attribute__((noinline)) uint32_t settle(const broad_view *view, const hits *h) {
  uint32_t slots[8], own[8], kept = h->meet;
  _mm256_storeu_si256((__m256i *)slots, h->slots);
  _mm256_storeu_si256((__m256i *)own, h->own);
  for (uint32_t left = h->meet; left != 0; left &= left - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(left);
    graze_box a = view_box(view, own[lane]), b = view_box(view, slots[lane]);
    bool meet = view_counts(view, own[lane], slots[lane]) & (boxes_meet_branchless(&a, &b) | (h->sure >> lane & 1));
    kept ^= (uint32_t)!meet << lane;
  }
  return kept;
}

/* Bits 0, 1, 4 and 5, side by side. */
static inline uint32_t close_up(uint32_t bits) {
  return (bits & 3) | (bits >> 2 & 0xc);
}

/* Writes up to eight pairs, lower slots first. */
static inline graze_box_pair *write_pairs(graze_box_pair *to, const hits *h) {
  __m256i a = _mm256_min_epu32(h->slots, h->own), b = _mm256_max_epu32(h->slots, h->own);
  __m256i first = compress_four(_mm256_unpacklo_epi32(a, b), close_up(h->meet));
  __m256i second = compress_four(_mm256_unpackhi_epi32(a, b), close_up(h->meet >> 2));
  _mm256_storeu_si256((__m256i *)to, first);
  _mm256_storeu_si256((__m256i *)(to + __builtin_popcount(h->meet & 0x33)), second);
  return to + __builtin_popcount(h->meet);
}

enum { GROUPS = TOGETHER / 4 };

/* Behind so many blocks there are none. */
static __attribute__((noinline)) void leave_out(hits h[GROUPS], uint32_t blocks) {
  for (uint32_t j = 0; j < GROUPS; j++) {
    uint32_t left = 4 * j < blocks ? blocks - 4 * j : 0;
    if (left < 4) h[j].meet &= 0x11 * ((UINT32_C(1) << left) - 1);
  }
}

/* Writes the pairs of all blocks: sixteen are read before pairs are stored where the number of hits says. */
static __attribute__((noinline)) bool take_blocks(sink *k) {
  candidates *c = &k->candidates;
  const grid_record *records = k->s->g->records;
  const broad_view *view = k->s->view;
  uint32_t count = c->blocks, careful = k->s->careful ? UINT32_MAX : 0;
  if (k->to + 2 * (BLOCKS + SPARE) > k->limit && !sink_grow(k)) return false;
  graze_box_pair *to = k->to;
  memset(c->block + count, 0, TOGETHER * sizeof *c->block);
  for (uint32_t i = 0; i < count; i += TOGETHER) {
    hits h[GROUPS];
    uint32_t doubt = 0;
#pragma GCC unroll 4
    for (uint32_t j = 0; j < GROUPS; j++) {
      h[j] = test_blocks(c, records, i + 4 * j);
      doubt |= h[j].meet & (~h[j].sure | careful);
    }
    if (__builtin_expect(count - i < TOGETHER, 0)) leave_out(h, count - i);
    for (uint32_t j = 0; j < GROUPS && __builtin_expect(doubt != 0, 0); j++) h[j].meet = settle(view, &h[j]);
#pragma GCC unroll 4
    for (uint32_t j = 0; j < GROUPS; j++) to = write_pairs(to, &h[j]);
  }
  k->to = to;
  c->blocks = 0;
  return true;
}

/* ---- windows to blocks ----------------------------------------------------------------------------------------- */

/* The first block of each of four windows, whose places come doubled. */
static inline uint64_t *put_blocks(uint64_t *to, __m128i begin, __m128i count, __m128i one, __m256i number) {
  __m128i block = _mm_sub_epi32(begin, _mm_cmpgt_epi32(count, one));
  uint32_t bits = signs_of_four(_mm_sub_epi32(_mm_setzero_si128(), count));
  __m256i four = compress_four(_mm256_or_si256(_mm256_cvtepu32_epi64(block), number), bits);
  _mm256_storeu_si256((__m256i *)to, four);
  return to + __builtin_popcount(bits);
}

/* The further blocks of windows of which some have more than two. NULL: no memory. */
static __attribute__((noinline)) uint64_t *cut_long(sink *k, uint64_t *to, __m128i begin, __m128i count,
                                                    __m256i number) {
  const __m128i one = _mm_set1_epi32(1), two = _mm_set1_epi32(2), four = _mm_set1_epi32(4);
  candidates *c = &k->candidates;
  begin = _mm_add_epi32(begin, four);
  do {
    if (to > c->block + BLOCKS - 2 * ROWS * CHUNK) {
      c->blocks = (uint32_t)(to - c->block);
      if (!take_blocks(k)) return NULL;
      to = c->block;
    }
    begin = _mm_add_epi32(begin, four);
    count = _mm_sub_epi32(count, two);
    to = put_blocks(to, begin, _mm_sub_epi32(count, two), one, number);
  } while (signs_of_four(_mm_sub_epi32(four, count)) != 0);
  return to;
}

/* Hides from the compiler what is in a register: rather than keep a constant there it would make it anew each time. */
static inline __m128i kept(int32_t x) {
  __m128i all = _mm_set1_epi32(x);
  __asm__("" : "+x"(all));
  return all;
}

/* Cuts the windows of all boxes, four boxes at a time, and takes the blocks. */
static __attribute__((noinline)) bool take_chunk(sink *k) {
  const __m128i one = kept(1), two = kept(2), four = kept(4);
  candidates *c = &k->candidates;
  uint32_t boxes = c->boxes;
  uint64_t *to = c->block + c->blocks;
  for (uint32_t r = 0; r < ROWS; r++) {
    for (uint32_t i = boxes; i % 4 != 0; i++) c->count[r][i] = 0;
    __m256i number = _mm256_setr_epi32(0, 0, 0, 1, 0, 2, 0, 3);
    for (uint32_t i = 0; i < boxes; i += 4) {
      __m128i begin = _mm_loadu_si128((const __m128i *)(c->begin[r] + i));
      __m128i count = _mm_loadu_si128((const __m128i *)(c->count[r] + i));
      to = put_blocks(to, begin, count, one, number);
      to = put_blocks(to, _mm_add_epi32(begin, four), _mm_sub_epi32(count, two), one, number);
      if (signs_of_four(_mm_sub_epi32(four, count)) != 0) {
        to = cut_long(k, to, begin, count, number);
        if (to == NULL) return false;
      }
      number = _mm256_add_epi32(number, _mm256_setr_epi32(0, 4, 0, 4, 0, 4, 0, 4));
    }
  }
  c->blocks = (uint32_t)(to - c->block);
  c->boxes = 0;
  return take_blocks(k);
}

/* ---- boxes to windows ------------------------------------------------------------------------------------------ */

/* Eight keys from a doubled place on, as signed numbers in the same order. */
static inline __m256i load_keys(const uint32_t *keys, uint32_t place) {
  const void *at = (const char *)keys + 2 * (size_t)place;
  return _mm256_xor_si256(_mm256_loadu_si256(at), _mm256_set1_epi32(INT32_MIN));
}

/* Twice the number of keys below `low` from a doubled place on; they come before all others. */
static inline uint32_t keys_below(const uint32_t *keys, uint32_t place, __m256i low) {
  uint32_t first = place, below;
  do {
    below = signs_of(_mm256_cmpgt_epi32(low, load_keys(keys, place)));
    place += 2 * (uint32_t)__builtin_popcount(below);
  } while (below == 0xff);
  return place - first;
}

typedef struct row_places {
  uint32_t row[4]; /* doubled; where the last box left off */
} row_places;

typedef struct key_range {
  __m256i low, high, step[4]; /* of the box's own row; from there to the other rows */
} key_range;

/* A box one of whose windows is not within eight keys. */
static __attribute__((noinline)) row_places find_far(sink *k, uint32_t at, row_places p, const key_range *range) {
  candidates *c = &k->candidates;
  const uint32_t *keys = k->s->g->keys;
  __m256i above = _mm256_sub_epi32(range->high, _mm256_set1_epi32(-1));
  for (uint32_t r = 0; r < 4; r++) {
    p.row[r] += keys_below(keys, p.row[r], _mm256_add_epi32(range->low, range->step[r]));
    c->begin[r][at] = p.row[r];
    c->count[r][at] = keys_below(keys, p.row[r], _mm256_add_epi32(above, range->step[r])) / 2;
  }
  c->count[4][at] = keys_below(keys, c->begin[4][at], above) / 2;
  return p;
}

/* Every box against the rest of its row and four rows ahead: the next one, and three in the slab above. */
static bool search_slab(sink *k, const layers *l, const row_rule *rule) {
  const uint32_t *keys = k->s->g->keys;
  const grid_record *records = k->s->g->records;
  const uint32_t row = UINT32_C(1) << rule->x_bits, sign = UINT32_C(1) << 31;
  const __m128i turn = _mm_setr_epi8(6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 12, 13, 14, 15);
  const row_rule own = *rule;
  candidates *c = &k->candidates;
  key_range range = {.step = {_mm256_set1_epi32((int)row), _mm256_set1_epi32((int)(l->up - row)),
                              _mm256_set1_epi32((int)l->up), _mm256_set1_epi32((int)(l->up + row))}};
  row_places p = {{2 * l->begin, 2 * l->next, 2 * l->next, 2 * l->next}};
  uint32_t at = c->boxes;
  for (uint32_t i = l->begin; i < l->end; i++) {
    uint32_t key = keys[i] + sign;
    range.low = _mm256_set1_epi32((int)(key - own.back));
    range.high = _mm256_set1_epi32((int)(key + fine_cells(&own, &records[i])));
    uint32_t most = _tzcnt_u32(signs_of(_mm256_cmpgt_epi32(load_keys(keys, 2 * i + 2), range.high)));
    c->begin[4][at] = 2 * i + 2;
    c->count[4][at] = most;
#pragma GCC unroll 4
    for (uint32_t r = 0; r < 4; r++) {
      __m256i here = load_keys(keys, p.row[r]);
      uint32_t below = signs_of(_mm256_cmpgt_epi32(_mm256_add_epi32(range.low, range.step[r]), here));
      uint32_t above = signs_of(_mm256_cmpgt_epi32(here, _mm256_add_epi32(range.high, range.step[r])));
      uint32_t skip = (uint32_t)__builtin_popcount(below), count = _tzcnt_u32(above) - skip;
      c->begin[r][at] = p.row[r] += 2 * skip;
      c->count[r][at] = count;
      most |= count;
    }
    /* Where no key is above, 32 were counted, and at most 8 of them skipped. */
    if (__builtin_expect(most > 15, 0)) p = find_far(k, at, p, &range);
    c->probe[at] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)&records[i]), turn);
    if (++at == CHUNK) {
      c->boxes = CHUNK;
      if (!take_chunk(k)) return false;
      at = 0;
    }
  }
  c->boxes = at;
  return true;
}

/* ---- boxes that are looked up ---------------------------------------------------------------------------------- */

/* A probe whose blocks come next. */
static inline bool put_probe(sink *k, const probe *p) {
  candidates *c = &k->candidates;
  const uint16_t *a = p->add;
  if (++c->probes >= CHUNK) {
    c->probes = 0;
    if (!take_blocks(k)) return false;
  }
  uint32_t low = a[0] | (uint32_t)a[1] << 16, middle = a[2] | (uint32_t)a[3] << 16, high = a[4] | (uint32_t)a[5] << 16;
  c->probe[c->probes] = _mm_setr_epi32((int)low, (int)middle, (int)high, (int)p->slot);
  return true;
}

/* Places begin .. end - 1 for the last probe. */
static inline bool put_run(sink *k, uint32_t begin, uint32_t end) {
  const __m128i before = _mm_setr_epi32(0, 2, 4, 6), one = _mm_set1_epi32(1);
  candidates *c = &k->candidates;
  __m256i number = _mm256_set1_epi64x((long long)((uint64_t)c->probes << 32));
  do {
    if (c->blocks > BLOCKS && !take_blocks(k)) return false;
    uint64_t *to = c->block + c->blocks;
    __m128i place = _mm_add_epi32(_mm_set1_epi32((int)begin), before);
    __m128i count = _mm_sub_epi32(_mm_set1_epi32((int)(end - begin)), before);
    c->blocks += (uint32_t)(put_blocks(to, _mm_add_epi32(place, place), count, one, number) - to);
    begin += 8;
  } while (__builtin_expect(begin < end, 0));
  return true;
}

/* The probe against places begin .. end - 1. */
static inline bool run(sink *k, const probe *p, uint32_t begin, uint32_t end) {
  return put_probe(k, p) && put_run(k, begin, end);
}

#endif
