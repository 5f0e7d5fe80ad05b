/* Puts the b of each a in order. */
#include "base/simd.h"
#include "broad/pairs.h"

/* When they are many: heap sort, in place. */
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
