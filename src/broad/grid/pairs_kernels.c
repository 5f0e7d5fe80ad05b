/* From records to pairs: boxes of one level that meet (search), and those of two levels (join). The plain code is also
 * what the AVX-512 code falls back to in rare cases; what is AVX2's own is in grid_blocks.inc. */
#include "base/simd.h"
#include "broad/grid/grid.h"

#if GRAZE_ISA == 1

enum {
  ROWS = 5,      /* that a box is looked up in: its own and four ahead */
  CHUNK = 64,    /* boxes that are under way together, at most */
  BLOCKS = 768,  /* blocks */
  TOGETHER = 16, /* of which so many are tested in a row */
  SPARE = 32     /* places behind the blocks that may be written */
};

/* Boxes on their way to pairs (grid_blocks.inc). Places come doubled. */
typedef struct candidates {
  uint32_t boxes, probes, blocks;
  uint32_t begin[ROWS][CHUNK], count[ROWS][CHUNK]; /* windows */
  __m128i probe[CHUNK];                            /* what is added to records, and the slot */
  uint64_t block[BLOCKS + SPARE]; /* above the number of the probe; below the place, and 1 more for two records */
} candidates;

#endif

typedef struct sink {
  const grid_search *s;
  graze_box_pair *to, *limit; /* up to here there is room for MARGIN more */
  bool crowded;               /* most boxes of the last slab had many candidates */
  uint32_t slabs;
#if GRAZE_ISA == 1
  candidates candidates;
#endif
} sink;

enum { MARGIN = 64 };

static void sink_open(sink *k) {
  pair_list *out = k->s->out;
  k->to = pair_list_data(out) + out->count;
  k->limit = pair_list_data(out) + out->memory.bytes / sizeof(graze_box_pair) - MARGIN;
}

static void sink_close(sink *k) {
  if (k->to != NULL) k->s->out->count = (uint64_t)(k->to - pair_list_data(k->s->out));
}

/* Room for MARGIN pairs and more. */
static __attribute__((noinline)) bool sink_grow(sink *k) {
  sink_close(k);
  if (!pair_list_room(k->s->view->context, k->s->out, 4096 + MARGIN)) return false;
  sink_open(k);
  return true;
}

static inline bool sink_start(sink *k, const grid_search *s) {
#if GRAZE_ISA == 1
  k->s = s;
  k->to = NULL;
  k->candidates.boxes = k->candidates.probes = k->candidates.blocks = 0;
#else
  *k = (sink){.s = s};
#endif
  return sink_grow(k);
}

/* A box that is held against records: what is added to a record's numbers makes all six negative for boxes that
 * meet, and -1 for those that are equal. */
typedef struct probe {
  uint16_t add[8];
  uint32_t slot;
} probe;

#if GRAZE_ISA != 1

static inline probe probe_of(const grid_record *r) {
  return (probe){{r->high[0], r->high[1], r->high[2], r->low[0], r->low[1], r->low[2], 0, 0}, r->slot};
}

/* 0: apart, 1: meet, 2: not to be decided by these numbers. */
static inline int held_against(const probe *p, const grid_record *r) {
  bool equal = false;
  for (int k = 0; k < 3; k++) {
    int low = (int16_t)(r->low[k] + p->add[k]), high = (int16_t)(r->high[k] + p->add[3 + k]);
    if (low >= 0 || high >= 0) return 0;
    equal |= low == -1 || high == -1;
  }
  return equal ? 2 : 1;
}

/* The probe against places begin .. end - 1, one by one, every hit looked at again when need be. */
static __attribute__((noinline)) bool scan(sink *k, const probe *p, uint32_t begin, uint32_t end) {
  const grid_record *records = k->s->g->records;
  for (uint32_t i = begin; i < end; i++) {
    int held = held_against(p, &records[i]);
    if (held == 0) continue;
    uint32_t slot = records[i].slot;
    if ((held == 2 || k->s->careful) && !view_meet(k->s->view, p->slot, slot)) continue;
    if (k->to > k->limit && !sink_grow(k)) return false;
    *k->to++ = pair_of(p->slot, slot);
  }
  return true;
}

#endif

/* Keys of the places of a row in which boxes are that can meet. */
typedef struct window {
  uint32_t low, high;
} window;

#if GRAZE_ISA != 1
/* Moves `place` on to the first key in the window and gives the first one behind it. */
static inline uint32_t window_end(const uint32_t *keys, uint32_t *place, window w) {
  uint32_t i = *place;
  while (keys[i] < w.low) i++;
  *place = i;
  while (keys[i] <= w.high) i++;
  return i;
}
#endif

/* The slab that is searched and the one above it. */
typedef struct layers {
  uint32_t begin, end; /* places */
  uint32_t next;       /* first place of the one above */
  uint32_t up;         /* from a key to the same cell there */
} layers;

typedef struct row_rule {
  unsigned shift, x_bits; /* parts to fine cells */
  uint32_t mask, back;    /* fine cells back to where a box that reaches here can begin */
} row_rule;

static inline row_rule row_rule_of(const grid_level *level) {
  unsigned shift = GRID_CELL_BITS - level->fine;
  uint32_t mask = (UINT32_C(1) << shift) - 1;
  return (row_rule){shift, level->x_bits, mask, (level->reach[0] + mask) >> shift};
}

/* Fine cells from a box's low end to its high end. */
static inline uint32_t fine_cells(const row_rule *rule, const grid_record *r) {
  uint32_t length = (uint16_t)(~r->high[0] - r->low[0]);
  return ((r->low[0] & rule->mask) + length) >> rule->shift;
}

#if GRAZE_ISA == 2

/* Of sixteen records, four from each of four rows: bit 4 i + r for record i of row r. */
typedef struct hits {
  __m512i slots;
  __mmask16 meet;
  bool equal; /* perhaps some compared numbers are equal */
} hits;

static inline hits test_sixteen(const grid_record *const at[4], __m512i add, __mmask16 valid) {
  __m512i d[4];
  for (int r = 0; r < 4; r++) d[r] = _mm512_add_epi16(_mm512_loadu_si512(at[r]), add);
  __m512i low01 = _mm512_unpacklo_epi32(d[0], d[1]), low23 = _mm512_unpacklo_epi32(d[2], d[3]);
  __m512i high01 = _mm512_unpackhi_epi32(d[0], d[1]), high23 = _mm512_unpackhi_epi32(d[2], d[3]);
  __m512i xy = _mm512_unpacklo_epi64(low01, low23), zx = _mm512_unpackhi_epi64(low01, low23);
  __m512i yz = _mm512_unpacklo_epi64(high01, high23);
  __m512i worst = _mm512_max_epi16(_mm512_max_epi16(xy, zx), yz);
  const __m512i signs = _mm512_set1_epi32((int)0x80008000);
  return (hits){
      .slots = _mm512_unpackhi_epi64(high01, high23),
      .meet = _mm512_mask_cmpeq_epi32_mask(valid, _mm512_and_si512(worst, signs), signs),
      .equal = _mm512_cmpeq_epi16_mask(worst, _mm512_set1_epi16(-1)) != 0,
  };
}

/* Writes up to sixteen pairs, lower slots first. */
static inline graze_box_pair *write_pairs(graze_box_pair *to, __m512i slots, __mmask16 meet, __m512i own) {
  const __m512i first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i second = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  __m512i packed = _mm512_maskz_compress_epi32(meet, slots);
  __m512i a = _mm512_min_epu32(packed, own), b = _mm512_max_epu32(packed, own);
  int count = __builtin_popcount(meet);
  _mm512_storeu_si512(to, _mm512_permutex2var_epi32(a, first, b));
  if (__builtin_expect(count > 8, 0)) _mm512_storeu_si512(to + 8, _mm512_permutex2var_epi32(a, second, b));
  return to + count;
}

static inline __m512i lanes_of(const probe *p) {
  return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)p->add));
}

/* Of sixteen records, the first `left`, as bits 4 i + r for record 4 r + i. */
static inline __mmask16 first_valid(uint32_t left) {
  const __m512i number = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_cmplt_epu32_mask(number, _mm512_set1_epi32((int)left));
}

/* Sixteen records behind one another; `left` of them count. */
static inline hits test_behind(const grid_record *records, __m512i add, uint32_t left) {
  const grid_record *const at[4] = {records, records + 4, records + 8, records + 12};
  return test_sixteen(at, add, first_valid(left));
}

/* The probe against places begin .. end - 1, sixteen at a time. */
static inline bool run(sink *k, const probe *p, uint32_t begin, uint32_t end) {
  if (k->s->careful) return scan(k, p, begin, end);
  const grid_record *records = k->s->g->records;
  __m512i add = lanes_of(p), own = _mm512_set1_epi32((int)p->slot);
  for (uint32_t i = begin; i < end; i += 16) {
    hits h = test_behind(records + i, add, end - i);
    if (__builtin_expect(h.equal, 0)) {
      if (!scan(k, p, i, end - i < 16 ? end : i + 16)) return false;
      continue;
    }
    if (k->to > k->limit && !sink_grow(k)) return false;
    k->to = write_pairs(k->to, h.slots, h.meet, own);
  }
  return true;
}

/* A box and the places where its rows are read. */
typedef struct rows_ahead {
  uint32_t steps[4];  /* from a key to the same cell in the row */
  uint32_t places[4]; /* where the last box left off */
} rows_ahead;

/* A box whose candidates are too many for what follows. */
static __attribute__((noinline)) bool search_longest(sink *k, uint32_t i, rows_ahead *ahead, const row_rule *rule) {
  const uint32_t *keys = k->s->g->keys;
  const grid_record *record = &k->s->g->records[i];
  probe p = probe_of(record);
  window w = {keys[i] - rule->back, keys[i] + fine_cells(rule, record)};
  uint32_t own = i + 1;
  if (!run(k, &p, own, window_end(keys, &own, w))) return false;
  for (int r = 0; r < 4; r++) {
    window there = {w.low + ahead->steps[r], w.high + ahead->steps[r]};
    uint32_t end = window_end(keys, &ahead->places[r], there);
    if (!run(k, &p, ahead->places[r], end)) return false;
  }
  return true;
}

enum { WIDE = 64 }; /* candidates of a row that are counted at once */

/* How many of the next WIDE keys are at most `high`. */
static inline uint32_t count_window(const uint32_t *keys, uint32_t high) {
  __m512i most = _mm512_set1_epi32((int)high);
  uint64_t within = 0;
  for (int j = 0; j < WIDE / 16; j++) {
    within |= (uint64_t)_mm512_cmple_epu32_mask(_mm512_loadu_si512(keys + (size_t)16 * j), most) << (16 * j);
  }
  return ~within == 0 ? WIDE : (uint32_t)__builtin_ctzll(~within);
}

static inline uint32_t skip_window(const uint32_t *keys, uint32_t place, uint32_t low) {
  __m512i least = _mm512_set1_epi32((int)low);
  uint32_t before;
  do {
    before = _mm512_cmplt_epu32_mask(_mm512_loadu_si512(keys + place), least);
    place += (uint32_t)__builtin_popcount(before);
  } while (before == 0xffff);
  return place;
}

/* A box with some dozens of candidates: those of all rows are listed by sixteens, so that one loop goes through all. */
static inline bool search_wide(sink *k, uint32_t i, rows_ahead *ahead, const row_rule *rule) {
  const uint32_t *keys = k->s->g->keys;
  const grid_record *records = k->s->g->records;
  uint32_t begins[5 * WIDE / 16 + 16], lefts[5 * WIDE / 16 + 16], number = 0, longest = 0;
  const __m128i behind = _mm_setr_epi32(0, 16, 32, 48);
  uint32_t low = keys[i] - rule->back, high = keys[i] + fine_cells(rule, &records[i]);
  for (int r = 0; r < 5; r++) {
    uint32_t place = i + 1, most = high;
    if (r < 4) {
      most += ahead->steps[r];
      place = ahead->places[r] = skip_window(keys, ahead->places[r], low + ahead->steps[r]);
    }
    uint32_t count = count_window(keys + place, most);
    longest = count > longest ? count : longest;
    _mm_storeu_si128((__m128i *)(begins + number), _mm_add_epi32(_mm_set1_epi32((int)place), behind));
    _mm_storeu_si128((__m128i *)(lefts + number), _mm_sub_epi32(_mm_set1_epi32((int)count), behind));
    number += (count + 15) / 16;
  }
  if (__builtin_expect(longest == WIDE || k->s->careful, 0)) return search_longest(k, i, ahead, rule);
  probe p = probe_of(&records[i]);
  __m512i add = lanes_of(&p), own = _mm512_set1_epi32((int)p.slot);
  for (uint32_t j = 0; j < number; j++) {
    hits h = test_behind(records + begins[j], add, lefts[j]);
    if (__builtin_expect(h.equal, 0)) {
      if (!scan(k, &p, begins[j], begins[j] + (lefts[j] < 16 ? lefts[j] : 16))) return false;
      continue;
    }
    if (__builtin_expect(k->to > k->limit, 0) && !sink_grow(k)) return false;
    k->to = write_pairs(k->to, h.slots, h.meet, own);
  }
  return true;
}

static __attribute__((noinline)) bool search_some(sink *k, uint32_t i, rows_ahead *ahead, const row_rule *rule) {
  return search_wide(k, i, ahead, rule);
}

static inline rows_ahead ahead_of(const layers *l, const row_rule *rule) {
  const uint32_t row = UINT32_C(1) << rule->x_bits;
  return (rows_ahead){{row, l->up - row, l->up, l->up + row}, {l->begin, l->next, l->next, l->next}};
}

/* Every box of a slab where rows are crowded. */
static bool search_crowded(sink *k, const layers *l, const row_rule *rule) {
  rows_ahead ahead = ahead_of(l, rule);
  for (uint32_t i = l->begin; i < l->end; i++) {
    if (!search_wide(k, i, &ahead, rule)) return false;
  }
  return true;
}

/* Four records behind one another against the probe. */
static inline __mmask8 test_four(__m512i records, __m512i add, uint32_t count, bool *equal) {
  __m512i d = _mm512_add_epi16(records, add);
  uint32_t negative = _mm512_movepi16_mask(d) & 0x3f3f3f3f;
  *equal = (_mm512_cmpeq_epi16_mask(d, _mm512_set1_epi16(-1)) & 0x3f3f3f3f) != 0;
  return (__mmask8)_pext_u32(negative + 0x01010101, _bzhi_u32(0x40404040, 8 * count));
}

static inline graze_box_pair *write_four(graze_box_pair *to, __m512i records, __mmask8 meet, __m512i own) {
  const __m512i pick = _mm512_setr_epi32(3, 7, 11, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  __m128i slots = _mm512_castsi512_si128(_mm512_permutexvar_epi32(pick, records));
  __m128i packed = _mm_maskz_compress_epi32(meet, slots), mine = _mm512_castsi512_si128(own);
  __m128i a = _mm_min_epu32(packed, mine), b = _mm_max_epu32(packed, mine);
  _mm_storeu_si128((__m128i *)to, _mm_unpacklo_epi32(a, b));
  _mm_storeu_si128((__m128i *)(to + 2), _mm_unpackhi_epi32(a, b));
  return to + __builtin_popcount(meet);
}

/* The fifth to eighth candidate of each row. */
static inline bool search_rest(sink *k, uint32_t i, uint32_t own_count, const grid_record *const at[4],
                               uint32_t valid) {
  const grid_record *records = k->s->g->records;
  probe p = probe_of(&records[i]);
  __m512i add = lanes_of(&p), own = _mm512_set1_epi32((int)p.slot);
  const grid_record *const rest[4] = {at[0] + 4, at[1] + 4, at[2] + 4, at[3] + 4};
  hits h = test_sixteen(rest, add, (__mmask16)valid);
  if (__builtin_expect(h.equal, 0)) {
    for (uint32_t r = 0; r < 4; r++) {
      uint32_t begin = (uint32_t)(rest[r] - records), count = (uint32_t)__builtin_popcount(valid >> r & 0x1111);
      if (!scan(k, &p, begin, begin + count)) return false;
    }
  } else {
    k->to = write_pairs(k->to, h.slots, h.meet, own);
  }
  return own_count <= 4 || run(k, &p, i + 5, i + 1 + own_count);
}

/* Every box against the rest of its row and four rows ahead: the next one, and three in the slab above. The keys of a
 * row are looked at sixteen at a time from the place where the last box left off, the records of all four rows at once;
 * hardly a branch depends on the boxes. */
static bool search_sparse(sink *k, const layers *l, const row_rule *rule, uint32_t *crowded) {
  const uint32_t *keys = k->s->g->keys;
  const grid_record *records = k->s->g->records;
  rows_ahead ahead = ahead_of(l, rule);
  uint32_t *places = ahead.places;
  __m512i lows[4], highs[4];
  for (int r = 0; r < 4; r++) {
    highs[r] = _mm512_set1_epi32((int)ahead.steps[r]);
    lows[r] = _mm512_set1_epi32((int)(ahead.steps[r] - rule->back));
  }
  const __m128i turn = _mm_setr_epi8(6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, -1, -1, -1, -1);
  bool careful = k->s->careful;
  graze_box_pair *to = k->to;
  for (uint32_t i = l->begin; i < l->end; i++) {
    const grid_record *record = &records[i];
    __m512i add = _mm512_broadcast_i32x4(_mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)record), turn));
    __m512i own = _mm512_set1_epi32((int)record->slot);
    uint32_t key = keys[i];
    __m512i low = _mm512_set1_epi32((int)key), high = _mm512_set1_epi32((int)(key + fine_cells(rule, record)));
    __m256i next = _mm256_loadu_si256((const __m256i *)(keys + i + 1));
    uint32_t own_count = _mm256_cmple_epu32_mask(next, _mm512_castsi512_si256(high));
    uint32_t many = own_count & 0x80;
    own_count = (uint32_t)__builtin_popcount(own_count);
    const grid_record *at[4];
    uint32_t valid = 0;
    for (int r = 0; r < 4; r++) {
      __m512i here = _mm512_loadu_si512(keys + places[r]);
      uint32_t before = _mm512_cmplt_epu32_mask(here, _mm512_add_epi32(low, lows[r]));
      uint32_t within = _mm512_cmple_epu32_mask(here, _mm512_add_epi32(high, highs[r]));
      uint32_t skip = (uint32_t)__builtin_popcount(before), count = (uint32_t)__builtin_popcount(within) - skip;
      many |= (within & 0x8000) | ((count + 7) & 0x10); /* all sixteen, or nine and more */
      places[r] += skip;
      at[r] = records + places[r];
      valid |= _bzhi_u32(0x11111111, 4 * count) << r;
    }
    bool equal;
    __m512i behind = _mm512_loadu_si512(record + 1);
    __mmask8 meet = test_four(behind, add, own_count, &equal);
    hits h = test_sixteen(at, add, (__mmask16)valid);
    if (__builtin_expect((many != 0) | equal | h.equal | careful, 0)) {
      k->to = to;
      if (!search_some(k, i, &ahead, rule)) return false;
      to = k->to;
      ++*crowded;
    } else {
      to = write_four(to, behind, meet, own);
      to = write_pairs(to, h.slots, h.meet, own);
      if (__builtin_expect((valid >> 16 != 0) | (own_count > 4), 0)) {
        k->to = to;
        if (!search_rest(k, i, own_count, at, valid >> 16)) return false;
        to = k->to;
      }
    }
    if (__builtin_expect(to > k->limit, 0)) {
      k->to = to;
      if (!sink_grow(k)) return false;
      to = k->to;
    }
  }
  k->to = to;
  return true;
}

/* As the last slab was, so is this one, probably. */
static bool search_slab(sink *k, const layers *l, const row_rule *rule) {
  if (k->crowded) {
    k->crowded = (++k->slabs & 7) != 0; /* now and then looks whether it still is */
    return search_crowded(k, l, rule);
  }
  uint32_t crowded = 0;
  bool good = search_sparse(k, l, rule, &crowded);
  k->crowded = crowded > (l->end - l->begin) / 4;
  return good;
}

#elif GRAZE_ISA == 1

#include "broad/grid/blocks.h"

#else

static inline bool run(sink *k, const probe *p, uint32_t begin, uint32_t end) {
  return scan(k, p, begin, end);
}

/* Every box against the rest of its row and four rows ahead: the next one, and three in the slab above. The place in a
 * row is where the last box left off. */
static bool search_slab(sink *k, const layers *l, const row_rule *rule) {
  const uint32_t *keys = k->s->g->keys;
  const uint32_t row = UINT32_C(1) << rule->x_bits;
  const uint32_t steps[4] = {row, l->up - row, l->up, l->up + row};
  uint32_t places[4] = {l->begin, l->next, l->next, l->next};
  for (uint32_t i = l->begin; i < l->end; i++) {
    const grid_record *record = &k->s->g->records[i];
    probe p = probe_of(record);
    window w = {keys[i] - rule->back, keys[i] + fine_cells(rule, record)};
    uint32_t own = i + 1;
    if (!run(k, &p, own, window_end(keys, &own, w))) return false;
    for (int r = 0; r < 4; r++) {
      uint32_t end = window_end(keys, &places[r], (window){w.low + steps[r], w.high + steps[r]});
      if (!run(k, &p, places[r], end)) return false;
    }
  }
  return true;
}

#endif

/* Up to here all was good, or not. */
static inline bool sink_end(sink *k, bool good) {
#if GRAZE_ISA == 1
  good = good && take_chunk(k);
#endif
  sink_close(k);
  return good;
}

bool KERNEL(gz_grid_search)(const grid_search *s) {
#if GRAZE_ISA == 1
  if (!places_fit(s->g)) return gz_grid_search_scalar(s);
#endif
  const grid_level *level = s->level;
  const row_rule rule = row_rule_of(level);
  const uint32_t last = level->slab_base + level->slabs - 1;
  sink k;
  if (!sink_start(&k, s)) return false;
  bool good = true;
  for (uint32_t i = s->begin; i < s->end && good; i++) {
    const grid_slab *slab = &s->g->slabs[i], *next = slab + 1;
    if (slab->begin == slab->end) continue;
    layers l = {slab->begin, slab->end, slab->end, 0};
    if (i != last && next->begin != next->end) {
      l.next = next->begin;
      l.up = next->z_key - slab->z_key;
    } else {
      /* Behind a unit are keys that are too high for anything. */
      const grid_unit *unit = &s->g->units[slab->unit];
      l.next = unit->begin + unit->count;
    }
    good = search_slab(&k, &l, &rule);
  }
  return sink_end(&k, good);
}

/* ---- pairs across levels --------------------------------------------------------------------------------------- */

/* The first place of begin .. end whose key is not below `key`. */
static inline uint32_t first_place(const uint32_t *keys, uint32_t begin, uint32_t end, uint32_t key) {
  uint32_t length = end - begin;
  while (length > 0) {
    uint32_t half = (length + 1) / 2;
    begin += keys[begin + half - 1] < key ? half : 0;
    length -= half;
  }
  return begin;
}

static inline int32_t first_cell(int32_t q, uint32_t reach) {
  return q < (int32_t)reach ? 0 : (q - (int32_t)reach) >> GRID_CELL_BITS;
}

/* Where the boxes of each cell of a row begin, and where those of the last one end. */
static inline const uint32_t *table_row(const grid_level *level, int32_t y, int32_t z) {
  return level->table + ((size_t)z * level->cells[1] + (size_t)y) * (level->cells[0] + 1);
}

static inline int32_t clamp_part(int32_t q, int32_t cell, int32_t above) {
  int32_t low = (cell - 1) * GRID_CELL, high = (cell + above) * GRID_CELL;
  return q < low ? low : q > high ? high : q;
}

/* A box against one row of a level, four cells at a time: within so many, 16 bits tell the order, after ends that are
 * farther away have been drawn near; that changes no comparison. */
static inline bool join_row(sink *k, const int32_t q[6], uint32_t slot, int32_t y, int32_t z) {
  enum { CELLS = 4 };
  const grid_level *level = k->s->against;
  const grid_slab *slab = &k->s->g->slabs[level->slab_base + (uint32_t)z];
  const uint32_t *keys = k->s->g->keys;
  uint32_t place = slab->begin, end = slab->end;
  int32_t least = q[0] - (int32_t)level->reach[0], shift = GRID_CELL_BITS - (int)level->fine;
  if (level->table != NULL) {
    const uint32_t *row = table_row(level, y, z);
    place = row[first_cell(q[0], level->reach[0])];
    end = row[(q[3] >> GRID_CELL_BITS) + 1];
  }
  if (place >= end) return true;
  uint32_t base = slab->z_key | (uint32_t)y << level->x_bits;
  uint32_t low = base + (uint32_t)((least < 0 ? 0 : least) >> shift), high = base + (uint32_t)(q[3] >> shift);
  place = first_place(keys, place, end, low);
  while (place < end && keys[place] <= high) {
    int32_t cell = (int32_t)((keys[place] - base) >> level->fine);
    uint32_t last = base + ((uint32_t)(cell + CELLS) << level->fine) - 1;
    uint32_t begin = place;
    if (last > high) last = high;
    while (place < end && keys[place] <= last) place++;
    probe p = {.slot = slot};
    for (int j = 0; j < 2; j++) {
      uint16_t *add = p.add + (j == 0 ? 3 : 0);
      uint16_t flip = j == 0 ? 0 : UINT16_MAX;
      add[0] = (uint16_t)clamp_part(q[3 * j], cell, CELLS + 1) ^ flip;
      add[1] = (uint16_t)clamp_part(q[3 * j + 1], y, 3) ^ flip;
      add[2] = (uint16_t)clamp_part(q[3 * j + 2], z, 3) ^ flip;
    }
    if (!run(k, &p, begin, place)) return false;
  }
  return true;
}

/* A box against all boxes of a level, where that is less work than all rows that it reaches. */
static bool join_all(sink *k, uint32_t slot) {
  const grid_level *level = k->s->against;
  for (uint32_t i = 0; i < level->slabs; i++) {
    const grid_slab *slab = &k->s->g->slabs[level->slab_base + i];
    for (uint32_t place = slab->begin; place < slab->end; place++) {
      uint32_t other = k->s->g->records[place].slot;
      if (!view_meet(k->s->view, slot, other)) continue;
      if (k->to > k->limit && !sink_grow(k)) return false;
      *k->to++ = pair_of(slot, other);
    }
  }
  return true;
}

#if GRAZE_ISA != 0

enum { NEAR_CELLS = 4, NEAR_ROWS = NEAR_CELLS + 3 };

/* Whether 16 bits tell the order of the ends of a box and of all boxes in the cells that it reaches. */
static inline bool is_near(const sink *k, const int32_t q[6]) {
  bool small = q[3] - q[0] <= NEAR_CELLS * GRID_CELL && q[4] - q[1] <= NEAR_CELLS * GRID_CELL &&
               q[5] - q[2] <= NEAR_CELLS * GRID_CELL;
  return small && k->s->against->table != NULL && (GRAZE_ISA == 1 || !k->s->careful);
}

/* A box on its way through three steps: rows, runs of records in them, pairs. Each step asks for the memory that the
 * next one reads, and some boxes are under way at a time, as that memory is far off. */
typedef struct near_box {
  probe p;
  int32_t begin[3], end[3];
#if GRAZE_ISA == 2
  uint32_t number;
  uint32_t begins[NEAR_ROWS * NEAR_ROWS + 4], counts[NEAR_ROWS * NEAR_ROWS + 4];
#endif
} near_box;

enum { UNDER_WAY = 8 };

static inline void near_rows(const sink *k, near_box *b) {
  const grid_level *level = k->s->against;
  for (int32_t z = b->begin[2]; z <= b->end[2]; z++) {
    const uint32_t *row = table_row(level, b->begin[1], z) + b->begin[0];
    for (int32_t y = b->begin[1]; y <= b->end[1]; y++, row += level->cells[0] + 1) __builtin_prefetch(row);
  }
}

static inline void near_start(const sink *k, near_box *b, uint32_t slot, const int32_t q[6], const int32_t begin[3],
                              const int32_t end[3]) {
  b->p.slot = slot;
  for (int j = 0; j < 3; j++) {
    b->p.add[j] = (uint16_t)~q[3 + j];
    b->p.add[3 + j] = (uint16_t)q[j];
    b->begin[j] = begin[j];
    b->end[j] = end[j];
  }
  b->p.add[6] = b->p.add[7] = 0;
  near_rows(k, b);
}

#endif

#if GRAZE_ISA == 2

static inline void near_runs(const sink *k, near_box *b) {
  const grid_level *level = k->s->against;
  const grid_record *records = k->s->g->records;
  uint32_t number = 0;
  for (int32_t z = b->begin[2]; z <= b->end[2]; z++) {
    const uint32_t *row = table_row(level, b->begin[1], z);
    for (int32_t y = b->begin[1]; y <= b->end[1]; y++, row += level->cells[0] + 1) {
      uint32_t first = row[b->begin[0]], count = row[b->end[0] + 1] - first;
      __builtin_prefetch(records + first);
      __builtin_prefetch(records + first + 3);
      b->begins[number] = first;
      b->counts[number] = count;
      number += count != 0;
    }
  }
  for (int j = 0; j < 3; j++) {
    b->begins[number + j] = 0;
    b->counts[number + j] = 0;
  }
  b->number = number;
}

/* Four rows at a time, four records of each, and the few rows that have more by themselves. */
static inline bool near_pairs(sink *k, const near_box *b) {
  const grid_record *records = k->s->g->records;
  __m512i add = lanes_of(&b->p), own = _mm512_set1_epi32((int)b->p.slot);
  for (uint32_t i = 0; i < b->number; i += 4) {
    const grid_record *at[4];
    uint32_t valid = 0, more = 0;
    for (uint32_t r = 0; r < 4; r++) {
      uint32_t count = b->counts[i + r];
      at[r] = records + b->begins[i + r];
      valid |= _bzhi_u32(0x1111, 4 * (count < 4 ? count : 4)) << r;
      more |= count > 4;
    }
    hits h = test_sixteen(at, add, (__mmask16)valid);
    if (__builtin_expect(k->to > k->limit, 0) && !sink_grow(k)) return false;
    if (__builtin_expect(h.equal, 0)) {
      for (uint32_t r = i; r < i + 4; r++) {
        if (!scan(k, &b->p, b->begins[r], b->begins[r] + b->counts[r])) return false;
      }
      continue;
    }
    k->to = write_pairs(k->to, h.slots, h.meet, own);
    for (uint32_t r = i; more != 0 && r < i + 4; r++) {
      if (b->counts[r] > 4 && !run(k, &b->p, b->begins[r] + 4, b->begins[r] + b->counts[r])) return false;
    }
  }
  return true;
}

/* The boxes that are under way, to the end. */
static __attribute__((noinline)) bool near_finish(sink *k, near_box *boxes, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) near_runs(k, &boxes[i]);
  for (uint32_t i = 0; i < count; i++) {
    if (!near_pairs(k, &boxes[i])) return false;
  }
  return true;
}

#elif GRAZE_ISA == 1

static inline bool near_runs(sink *k, const near_box *b) {
  const grid_level *level = k->s->against;
  const grid_record *records = k->s->g->records;
  if (!put_probe(k, &b->p)) return false;
  for (int32_t z = b->begin[2]; z <= b->end[2]; z++) {
    const uint32_t *row = table_row(level, b->begin[1], z);
    for (int32_t y = b->begin[1]; y <= b->end[1]; y++, row += level->cells[0] + 1) {
      uint32_t first = row[b->begin[0]], end = row[b->end[0] + 1];
      __builtin_prefetch(records + first);
      __builtin_prefetch(records + first + 3);
      if (!put_run(k, first, end)) return false;
    }
  }
  return true;
}

/* The boxes that are under way, to the end. */
static __attribute__((noinline)) bool near_finish(sink *k, near_box *boxes, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (!near_runs(k, &boxes[i])) return false;
  }
  return take_blocks(k);
}

#else

/* Without lanes every box goes row by row. */
typedef struct near_box {
  char none;
} near_box;

enum { UNDER_WAY = 1 };

static inline bool is_near(const sink *k, const int32_t q[6]) {
  (void)k, (void)q;
  return false;
}

static inline void near_start(const sink *k, near_box *b, uint32_t slot, const int32_t q[6], const int32_t begin[3],
                              const int32_t end[3]) {
  (void)k, (void)b, (void)slot, (void)q, (void)begin, (void)end;
}

static inline bool near_finish(sink *k, near_box *boxes, uint32_t count) {
  (void)k, (void)boxes, (void)count;
  return true;
}

#endif

typedef struct join {
  sink k;
  uint32_t under_way;
  near_box boxes[UNDER_WAY];
} join;

static inline bool join_finish(join *j) {
  uint32_t count = j->under_way;
  j->under_way = 0;
  return near_finish(&j->k, j->boxes, count);
}

static inline bool join_one(join *all, uint32_t slot) {
  sink *k = &all->k;
  const grid_level *level = k->s->against;
  graze_box box = view_box(k->s->view, slot);
  int32_t q[6], begin[3], end[3];
  grid_parts(level, k->s->g->frame.axis, &box, q);
  for (int j = 0; j < 3; j++) {
    begin[j] = first_cell(q[j], level->reach[j]);
    end[j] = q[3 + j] >> GRID_CELL_BITS;
  }
  if (is_near(k, q)) {
    near_start(k, &all->boxes[all->under_way++], slot, q, begin, end);
    return all->under_way < UNDER_WAY || join_finish(all);
  }
  int32_t y_begin = begin[1], y_end = end[1], z_begin = begin[2], z_end = end[2];
  if ((uint64_t)(y_end - y_begin + 1) * (uint64_t)(z_end - z_begin + 1) > 16 + (uint64_t)level->count) {
    return join_all(k, slot);
  }
  for (int32_t z = z_begin; z <= z_end; z++) {
    for (int32_t y = y_begin; y <= y_end; y++) {
      if (!join_row(k, q, slot, y, z)) return false;
    }
  }
  return true;
}

bool KERNEL(gz_grid_join)(const grid_search *s) {
#if GRAZE_ISA == 1
  if (!places_fit(s->g)) return gz_grid_join_scalar(s);
#endif
  join j;
  j.under_way = 0;
  if (!sink_start(&j.k, s)) return false;
  bool good = true;
  for (uint32_t i = s->begin; i < s->end && good; i++) {
    if (s->g->keys[i] == UINT32_MAX) continue; /* padding */
    uint32_t soon = i + 16 < s->end ? i + 16 : s->end - 1;
    __builtin_prefetch(s->view->data + (size_t)s->g->records[soon].slot * s->view->stride);
    good = join_one(&j, s->g->records[i].slot);
  }
  return sink_end(&j.k, good && join_finish(&j));
}
