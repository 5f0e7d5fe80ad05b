/* Kernels of what serves all methods: whether boxes are boxes, and the order of pairs. */
#include <math.h>

#include "base/simd.h"
#include "broad/broad.h"
#include "broad/pairs.h"

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

/* Whether boxes are finite and not inside out, a block at a time. */

#if GRAZE_ISA == 2

/* Bits are set when a box is bad. */
static inline __mmask8 faults_of(const broad_view *view, uint32_t index) {
  enum { NO_NUMBER = 0x99 }; /* NaN of both kinds, both infinities */
  const void *at = view->data + (size_t)index * view->stride;
  if (view->precision == GRAZE_DOUBLE) {
    __m512d v = _mm512_maskz_loadu_pd(0x3f, at);
    __m512d high = _mm512_permutexvar_pd(_mm512_setr_epi64(3, 4, 5, 3, 4, 5, 6, 7), v);
    return _mm512_fpclass_pd_mask(v, NO_NUMBER) | _mm512_cmp_pd_mask(v, high, _CMP_GT_OQ);
  }
  __m256 v = _mm256_maskz_loadu_ps(0x3f, at);
  __m256 high = _mm256_permutevar8x32_ps(v, _mm256_setr_epi32(3, 4, 5, 3, 4, 5, 6, 7));
  return _mm256_fpclass_ps_mask(v, NO_NUMBER) | _mm256_cmp_ps_mask(v, high, _CMP_GT_OQ);
}

static inline bool block_is_good(const broad_view *view, uint32_t begin, uint32_t end) {
  __mmask8 faults = 0;
  for (uint32_t i = begin; i < end; i++) faults |= faults_of(view, i);
  return faults == 0;
}

#elif GRAZE_ISA == 1

/* A box is loaded as its first four numbers and its last four. x - x has bits set when x is no number. */
static inline bool block_is_good(const broad_view *view, uint32_t begin, uint32_t end) {
  const char *at = view->data + (size_t)begin * view->stride;
  if (view->precision == GRAZE_DOUBLE) {
    __m256d no_number = _mm256_setzero_pd(), inside_out = _mm256_setzero_pd();
    for (uint32_t i = begin; i < end; i++, at += view->stride) {
      __m256d low = _mm256_loadu_pd((const double *)at), last = _mm256_loadu_pd((const double *)at + 2);
      __m256d high = _mm256_permute4x64_pd(last, 0x39);
      inside_out = _mm256_or_pd(inside_out, _mm256_cmp_pd(low, high, _CMP_GT_OQ));
      no_number = _mm256_or_pd(no_number, _mm256_or_pd(_mm256_sub_pd(low, low), _mm256_sub_pd(last, last)));
    }
    __m256i bits = _mm256_castpd_si256(no_number);
    return (_mm256_movemask_pd(inside_out) & 7) == 0 && _mm256_testz_si256(bits, bits);
  }
  __m128 no_number = _mm_setzero_ps(), inside_out = _mm_setzero_ps();
  for (uint32_t i = begin; i < end; i++, at += view->stride) {
    __m128 low = _mm_loadu_ps((const float *)at), last = _mm_loadu_ps((const float *)at + 2);
    __m128 high = _mm_permute_ps(last, 0x39);
    inside_out = _mm_or_ps(inside_out, _mm_cmpgt_ps(low, high));
    no_number = _mm_or_ps(no_number, _mm_or_ps(_mm_sub_ps(low, low), _mm_sub_ps(last, last)));
  }
  __m128i bits = _mm_castps_si128(no_number);
  return (_mm_movemask_ps(inside_out) & 7) == 0 && _mm_testz_si128(bits, bits);
}

#else

/* Without a branch a number: x - x is 0 only for a finite x. */
static inline bool box_is_good(const graze_box *b) {
  double finite = 0;
  for (int k = 0; k < 3; k++) finite += (b->min[k] - b->min[k]) + (b->max[k] - b->max[k]);
  return (finite == 0) & (b->min[0] <= b->max[0]) & (b->min[1] <= b->max[1]) & (b->min[2] <= b->max[2]);
}

static inline bool block_is_good(const broad_view *view, uint32_t begin, uint32_t end) {
  bool good = true;
  for (uint32_t i = begin; i < end; i++) {
    graze_box box = view_box(view, i);
    good &= box_is_good(&box);
  }
  return good;
}

#endif

uint32_t KERNEL(gz_good_boxes)(const broad_view *view) {
  enum { BLOCK = 64 };
  for (uint32_t i = 0; i < view->count;) {
    uint32_t end = view->count - i < BLOCK ? view->count : i + BLOCK;
    if (!block_is_good(view, i, end)) return i;
    i = end;
  }
  return view->count;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

/* Puts the b of each a in order: many by heap sort, in place. */
static void sift(graze_box_pair *pairs, uint32_t root, uint32_t count) {
  graze_box_pair pair = pairs[root];
  for (uint32_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && pairs[child + 1].b > pairs[child].b) child++;
    if (pairs[child].b <= pair.b) break;
    pairs[root] = pairs[child];
  }
  pairs[root] = pair;
}

static void sort_many(graze_box_pair *pairs, uint32_t count) {
  for (uint32_t root = count / 2; root-- > 0;) sift(pairs, root, count);
  for (uint32_t end = count; end-- > 1;) {
    graze_box_pair last = pairs[end];
    pairs[end] = pairs[0];
    pairs[0] = last;
    sift(pairs, 0, end);
  }
}

/* When they are few: by insertion. */
static void sort_some(graze_box_pair *pairs, uint32_t count) {
  for (uint32_t i = 1; i < count; i++) {
    graze_box_pair pair = pairs[i];
    uint32_t j = i;
    for (; j > 0 && pairs[j - 1].b > pair.b; j--) pairs[j] = pairs[j - 1];
    pairs[j] = pair;
  }
}

#if GRAZE_ISA == 2

/* One step of a sorting network: lanes meet their partners, those in `high` keep the larger of the two. In memory b is
 * the upper half of a pair, and a is the same for all. */
static inline __m512i meet_lanes(__m512i v, __m512i partner, __mmask8 high) {
  __m512i other = _mm512_permutexvar_epi64(partner, v);
  return _mm512_mask_max_epu64(_mm512_min_epu64(v, other), high, v, other);
}

/* Up to eight pairs, by Batcher's bitonic network: no branch depends on them. */
static inline void sort_eight(graze_box_pair *pairs, uint32_t count) {
  const __m512i by1 = _mm512_setr_epi64(1, 0, 3, 2, 5, 4, 7, 6), by2 = _mm512_setr_epi64(2, 3, 0, 1, 6, 7, 4, 5);
  const __m512i flip4 = _mm512_setr_epi64(3, 2, 1, 0, 7, 6, 5, 4), flip8 = _mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  __mmask8 there = (__mmask8)((1u << count) - 1);
  __m512i v = _mm512_mask_loadu_epi64(_mm512_set1_epi64(-1), there, pairs);
  v = meet_lanes(v, by1, 0xaa);
  v = meet_lanes(v, flip4, 0xcc);
  v = meet_lanes(v, by1, 0xaa);
  v = meet_lanes(v, flip8, 0xf0);
  v = meet_lanes(v, by2, 0xcc);
  v = meet_lanes(v, by1, 0xaa);
  _mm512_mask_storeu_epi64(pairs, there, v);
}

enum { AT_ONCE = 8 };

#else

static inline void sort_eight(graze_box_pair *pairs, uint32_t count) {
  sort_some(pairs, count);
}

enum { AT_ONCE = 24 };

#endif

static inline void sort_group(graze_box_pair *pairs, uint32_t count) {
  enum { SOME = 24 };
  if (count <= AT_ONCE) {
    sort_eight(pairs, count);
  } else if (count <= SOME) {
    sort_some(pairs, count);
  } else {
    sort_many(pairs, count);
  }
}

/* Groups that follow one another in memory are not sorted one after the other: loading eight pairs would wait for the
 * ones just stored beside them. */
void KERNEL(gz_pairs_order)(graze_box_pair *pairs, const uint32_t *ends, uint32_t width) {
  enum { APART = 16 };
  uint32_t stretch = (width + APART - 1) / APART;
  for (uint32_t i = 0; i < stretch; i++) {
    for (uint32_t k = i; k < width; k += stretch) {
      uint32_t start = k > 0 ? ends[k - 1] : 0;
      sort_group(pairs + start, ends[k] - start);
    }
  }
}
