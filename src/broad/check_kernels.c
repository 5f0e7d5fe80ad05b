/* Whether boxes are finite and not inside out, a block at a time. */
#include <math.h>

#include "base/simd.h"
#include "broad/check.h"

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
