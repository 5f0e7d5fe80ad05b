/* One packed box against a register of others.
 *
 * Whether boxes meet comes from the signs of six differences, what meets for certain from the least of them. Where
 * numbers were rounded or layers matter, hits that are not certain take a way of their own.
 */
#include "base/simd.h"
#include "broad/packed.h"

/* Which of the boxes together with this one are at home in this cell: a bit for each lane. */
static inline uint32_t at_home(const uint8_t *home, uint8_t own) {
#if GRAZE_ISA == 2
  __m128i bits = _mm_or_si128(_mm_loadu_si128((const __m128i *)home), _mm_set1_epi8((char)own));
  return _mm_cmpeq_epi8_mask(bits, _mm_set1_epi8(PACKED_HOME));
#elif GRAZE_ISA == 1
  __m128i bits = _mm_or_si128(_mm_loadl_epi64((const __m128i *)home), _mm_set1_epi8((char)own));
  return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bits, _mm_set1_epi8(PACKED_HOME))) & 0xff;
#else
  uint32_t bits = 0;
  for (int i = 0; i < VF_LANES; i++) bits |= (uint32_t)((home[i] | own) == PACKED_HOME) << i;
  return bits;
#endif
}

/* Bits of the first `count` lanes. */
static inline uint32_t first_lanes(uint32_t count) {
  return count >= VF_LANES ? ((uint32_t)1 << VF_LANES) - 1 : ((uint32_t)1 << count) - 1;
}

/* ---- pairs out ------------------------------------------------------------------------------------------------- */

/* Handed on by value, so that it stays in registers. */
typedef struct sink {
  const broad_view *view;
  pair_list *list;
  graze_box_pair *at, *limit; /* `at` is NULL when there was no memory */
} sink;

enum { MORE = 2048 };

static __attribute__((noinline)) sink sink_grow(sink s) {
  if (s.at != NULL) s.list->count = (uint64_t)(s.at - pair_list_data(s.list));
  s.at = NULL;
  if (!pair_list_room(s.view->context, s.list, MORE)) return s;
  s.at = pair_list_data(s.list) + s.list->count;
  s.limit = pair_list_data(s.list) + s.list->memory.bytes / sizeof *s.at;
  return s;
}

static inline sink sink_open(const broad_view *view, pair_list *list) {
  return sink_grow((sink){view, list, NULL, NULL});
}

static inline bool sink_close(sink s) {
  if (s.at != NULL) s.list->count = (uint64_t)(s.at - pair_list_data(s.list));
  return s.at != NULL;
}

/* Writes the pairs of `slot` with those of slots[0 .. VF_LANES) whose bit is set; room for VF_LANES pairs is there.
 * Gives the place behind them. */
#if GRAZE_ISA == 2
static inline graze_box_pair *put_pairs(graze_box_pair *at, uint32_t bits, uint32_t slot, const uint32_t *slots) {
  const __m512i first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i second = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  __m512i own = _mm512_set1_epi32((int)slot);
  __m512i others = _mm512_maskz_compress_epi32((__mmask16)bits, _mm512_loadu_si512(slots));
  __m512i a = _mm512_min_epu32(own, others), b = _mm512_max_epu32(own, others);
  int count = __builtin_popcount(bits);
  _mm512_storeu_si512(at, _mm512_permutex2var_epi32(a, first, b));
  if (__builtin_expect(count > 8, 0)) _mm512_storeu_si512(at + 8, _mm512_permutex2var_epi32(a, second, b));
  return at + count;
}
#else
static inline graze_box_pair *put_pairs(graze_box_pair *at, uint32_t bits, uint32_t slot, const uint32_t *slots) {
  for (; bits != 0; bits &= bits - 1) *at++ = pair_of(slot, slots[__builtin_ctz(bits)]);
  return at;
}
#endif

/* The same for hits of which some may be none: only `sure` were decided by floats alone, and layers have not been
 * looked at. */
static __attribute__((noinline)) graze_box_pair *decide_pairs(const broad_view *view, graze_box_pair *at, uint32_t hits,
                                                              uint32_t sure, uint32_t slot, const uint32_t *slots) {
  for (; hits != 0; hits &= hits - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(hits), other = slots[lane];
    bool meet = sure >> lane & 1 ? view_counts(view, slot, other) : view_meet(view, slot, other);
    if (meet) *at++ = pair_of(slot, other);
  }
  return at;
}

/* ---- tests ----------------------------------------------------------------------------------------------------- */

typedef struct probe { /* one box in all lanes */
  vf low[3], high[3];
} probe;

static inline probe probe_of(const packed_rows *rows, uint32_t place) {
  probe p;
  for (int k = 0; k < 3; k++) {
    p.low[k] = vf_set(rows->low[k][place]);
    p.high[k] = vf_set(rows->high[k][place]);
  }
  return p;
}

/* Room between boxes, negative where they miss each other as floats. With subnormal numbers kept, as gz_fp_enter() has
 * them, a difference of two has the sign of their comparison; and a sign costs less than a comparison, of which the
 * processors do one a cycle. `careful`: 0 where any two are equal, that is where the floats alone do not tell. */
static inline __attribute__((always_inline)) vf less_room(vf x, vf y, bool careful) {
  return careful ? vf_min(x, y) : vf_either_negative(x, y);
}

static inline __attribute__((always_inline)) vf room_on(const probe *p, const packed_rows *rows, uint32_t place,
                                                        int axis, bool careful) {
  return less_room(p->high[axis] - vf_load(rows->low[axis] + place), vf_load(rows->high[axis] + place) - p->low[axis],
                   careful);
}

#if GRAZE_ISA != 0
static inline __attribute__((always_inline)) vf room_within(const probe *p, const packed_rows *rows, uint32_t place,
                                                            bool careful) {
  vf across = less_room(room_on(p, rows, place, 1, careful), room_on(p, rows, place, 2, careful), careful);
  return less_room(across, room_on(p, rows, place, 0, careful), careful);
}
#endif

/* Hands over the hits of one register, of which those where there is `room` are certain. The probe is made again after
 * a call, so that the loops keep it in registers and need not save them for the sake of calls that are rare. */
static inline __attribute__((always_inline)) sink put_hits(sink s, const packed_rows *rows, probe *p, uint32_t hits,
                                                           vf room, uint32_t own, uint32_t place, bool careful) {
  uint32_t sure = careful && rows->rounded ? hits & vf_positive(room) : hits;
  if (__builtin_expect(s.limit - s.at < PACKED_LANES, 0)) {
    s = sink_grow(s);
    if (s.at == NULL) return s;
    *p = probe_of(rows, own);
  }
  const uint32_t *slots = rows->slots + place;
  if (careful && __builtin_expect(s.view->layers != NULL || sure != hits, 0)) {
    s.at = decide_pairs(s.view, s.at, hits, sure, rows->slots[own], slots);
    *p = probe_of(rows, own);
    return s;
  }
  s.at = put_pairs(s.at, hits, rows->slots[own], slots);
  return s;
}

/* ---- the loops ------------------------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) sink sweep(sink s, packed_rows rows, uint32_t begin, uint32_t end,
                                                        uint32_t last, bool careful) {
  for (uint32_t i = begin; i < end; i++) {
    probe p = probe_of(&rows, i);
    uint8_t home = rows.home[i];
    for (uint32_t j = i + 1; j < last; j += VF_LANES) {
      vf ahead = p.high[0] - vf_load(rows.low[0] + j);
      vf room = less_room(room_on(&p, &rows, j, 1, careful), room_on(&p, &rows, j, 2, careful), careful);
      uint32_t within = vf_not_negative(ahead) & first_lanes(last - j);
      uint32_t hits = within & vf_not_negative(room) & at_home(rows.home + j, home);
      if (VF_LANES == 16 || hits != 0) { /* half of the registers have hits: a branch would be a guess */
        if (careful) room = vf_min(room, room_on(&p, &rows, j, 0, careful));
        s = put_hits(s, &rows, &p, hits, room, i, j, careful);
        if (s.at == NULL) return s;
      }
      if ((within >> (VF_LANES - 1)) == 0) break;
    }
  }
  return s;
}

bool KERNEL(gz_packed_sweep)(const packed_rows *rows, uint32_t begin, uint32_t end, uint32_t last,
                             const broad_view *view, pair_list *out) {
  sink s = sink_open(view, out);
  if (s.at == NULL) return false;
  bool careful = rows->rounded || view->layers != NULL;
  return sink_close(careful ? sweep(s, *rows, begin, end, last, true) : sweep(s, *rows, begin, end, last, false));
}

#if GRAZE_ISA != 0

/* Registers begin at multiples of VF_LANES, so that no load crosses a cache line. */
static inline __attribute__((always_inline)) sink all(sink s, packed_rows rows, uint32_t count, bool careful) {
  for (uint32_t i = 0; i + 1 < count; i++) {
    probe p = probe_of(&rows, i);
    uint32_t j = (i + 1) / VF_LANES * VF_LANES, wanted = ~first_lanes(i + 1 - j);
    for (; j < count; j += VF_LANES, wanted = UINT32_MAX) {
      uint32_t hits = vf_not_negative(room_within(&p, &rows, j, false)) & wanted;
      if (hits == 0) continue;
      vf room = room_within(&p, &rows, j, careful);
      s = put_hits(s, &rows, &p, hits, room, i, j, careful);
      if (s.at == NULL) return s;
    }
  }
  return s;
}

bool KERNEL(gz_packed_all)(const packed_rows *rows, uint32_t count, const broad_view *view, pair_list *out) {
  sink s = sink_open(view, out);
  if (s.at == NULL) return false;
  bool careful = rows->rounded || view->layers != NULL;
  return sink_close(careful ? all(s, *rows, count, true) : all(s, *rows, count, false));
}

#endif
