/* Boxes as packed floats, one array for each number, and the kernels that test one box against a register of others.
 *
 * Numbers are turned to the nearest float, which is monotone (see broad.h): a strict comparison of floats is certain,
 * and only where floats are equal and were rounded are the caller's own numbers looked at again.
 */
#ifndef GRAZE_SRC_BROAD_PACKED_H
#define GRAZE_SRC_BROAD_PACKED_H

#include <float.h>

#include "base/cpu.h"
#include "base/simd.h"
#include "broad/broad.h"

enum { PACKED_LANES = 16 }; /* that arrays must have room for behind their last box */

/* Arrays by place. Axis 0 is the one that is swept along. */
typedef struct packed_rows {
  float *low[3], *high[3];
  uint32_t *slots;
  uint8_t *home; /* a pair counts where the bits of both together are PACKED_HOME; NULL for packed_all */
  bool rounded;  /* some number is not the caller's */
} packed_rows;

enum { PACKED_HOME = 7 };

/* Appends the pairs of the boxes at places [begin, end) with those behind them, up to `last`. Places are in the order
 * of low[0]. The PACKED_LANES - 1 places from `last` on may be read, whatever they hold, and must not be written
 * meanwhile. False: no memory. */
typedef bool packed_sweep_function(const packed_rows *rows, uint32_t begin, uint32_t end, uint32_t last,
                                   const broad_view *view, pair_list *out);
CPU_KERNELS(packed_sweep_function, gz_packed_sweep);

/* Appends all pairs among the first `count` boxes, in any order; the places behind, up to a multiple of PACKED_LANES,
 * hold low = +inf and high = -inf. Without SIMD there is nothing to be gained, hence no such kernel. False: no
 * memory. */
typedef bool packed_all_function(const packed_rows *rows, uint32_t count, const broad_view *view, pair_list *out);
packed_all_function gz_packed_all_avx2, gz_packed_all_avx512;

/* Integers in the order of the floats, which have no -0. */
static inline uint32_t packed_key(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits >> 31 != 0 ? ~bits : bits | (uint32_t)1 << 31;
}

/* The six numbers of a slot, min x y z and max x y z, as finite floats: beyond their range the last one stands for all,
 * so that differences of two are never of infinities; -0 becomes 0, so that equal numbers differ by 0. True when one of
 * them was rounded. */
#if defined(__SSE2__)

/* In registers, which are stored whole: what reads them next would wait for numbers that were stored one by one. */
static inline bool pack_box(const broad_view *view, uint32_t slot, float to[6]) {
  const char *at = view->data + (size_t)slot * view->stride;
  __m128 first, last;
  bool rounded = false;
  if (view->precision == GRAZE_FLOAT) {
    first = _mm_loadu_ps((const float *)at);
    last = _mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(at + 4 * sizeof(float))));
  } else {
    const __m128d limit = _mm_set1_pd((double)FLT_MAX), lowest = _mm_set1_pd(-(double)FLT_MAX);
    __m128 f[3];
    __m128d differ = _mm_setzero_pd();
    for (int k = 0; k < 3; k++) {
      __m128d x = _mm_loadu_pd((const double *)at + 2 * k);
      f[k] = _mm_cvtpd_ps(_mm_max_pd(_mm_min_pd(x, limit), lowest));
      differ = _mm_or_pd(differ, _mm_cmpneq_pd(_mm_cvtps_pd(f[k]), x));
    }
    first = _mm_movelh_ps(f[0], f[1]);
    last = f[2];
    rounded = _mm_movemask_pd(differ) != 0;
  }
  _mm_storeu_ps(to, _mm_add_ps(first, _mm_setzero_ps()));
  _mm_storel_epi64((__m128i *)(to + 4), _mm_castps_si128(_mm_add_ps(last, _mm_setzero_ps())));
  return rounded;
}

#else

static inline bool pack_box(const broad_view *view, uint32_t slot, float to[6]) {
  graze_box box = view_box(view, slot);
  bool rounded = false;
  for (int k = 0; k < 6; k++) {
    double x = k < 3 ? box.min[k] : box.max[k - 3], inside = x < (double)FLT_MAX ? x : (double)FLT_MAX;
    to[k] = (float)(inside > -(double)FLT_MAX ? inside : -(double)FLT_MAX);
    to[k] += 0.0f;
    rounded |= (double)to[k] != x;
  }
  return rounded;
}

#endif

#endif
