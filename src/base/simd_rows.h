/* Arrays of rows of four doubles, one row for each lane, and small lists of 32-bit indices. Over base/simd.h. */
#ifndef GRAZE_SRC_BASE_SIMD_ROWS_H
#define GRAZE_SRC_BASE_SIMD_ROWS_H

#include <string.h>

#include "base/simd.h"

/* rows[index[lane]] for each lane: columns. */
static inline __attribute__((always_inline)) void vd_load_rows(vd out[4], const double (*rows)[4],
                                                               const uint32_t *index) {
#if GRAZE_ISA == 2
  __m512d r[4], low[2], high[2];
  for (int k = 0; k < 4; k++)
    r[k] = _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(rows[index[k]])),
                              _mm256_loadu_pd(rows[index[4 + k]]), 1);
  const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
  const __m512i second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
  for (int k = 0; k < 2; k++) {
    low[k] = _mm512_unpacklo_pd(r[2 * k], r[2 * k + 1]);
    high[k] = _mm512_unpackhi_pd(r[2 * k], r[2 * k + 1]);
  }
  out[0] = _mm512_permutex2var_pd(low[0], first, low[1]);
  out[1] = _mm512_permutex2var_pd(high[0], first, high[1]);
  out[2] = _mm512_permutex2var_pd(low[0], second, low[1]);
  out[3] = _mm512_permutex2var_pd(high[0], second, high[1]);
#elif GRAZE_ISA == 1
  __m256d r[4], low[2], high[2];
  for (int k = 0; k < 4; k++) r[k] = _mm256_loadu_pd(rows[index[k]]);
  for (int k = 0; k < 2; k++) {
    low[k] = _mm256_unpacklo_pd(r[2 * k], r[2 * k + 1]);
    high[k] = _mm256_unpackhi_pd(r[2 * k], r[2 * k + 1]);
  }
  out[0] = _mm256_permute2f128_pd(low[0], low[1], 0x20);
  out[1] = _mm256_permute2f128_pd(high[0], high[1], 0x20);
  out[2] = _mm256_permute2f128_pd(low[0], low[1], 0x31);
  out[3] = _mm256_permute2f128_pd(high[0], high[1], 0x31);
#elif defined(__aarch64__)
  float64x2x2_t a = vld1q_f64_x2(rows[index[0]]), b = vld1q_f64_x2(rows[index[1]]);
  out[0] = vzip1q_f64(a.val[0], b.val[0]);
  out[1] = vzip2q_f64(a.val[0], b.val[0]);
  out[2] = vzip1q_f64(a.val[1], b.val[1]);
  out[3] = vzip2q_f64(a.val[1], b.val[1]);
#else
  for (int k = 0; k < 4; k++) out[k] = rows[index[0]][k];
#endif
}

/* The other way: VD_LANES rows, side by side. */
static inline __attribute__((always_inline)) void vd_store_rows(double (*rows)[4], const vd columns[4]) {
#if GRAZE_ISA == 2
  const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
  const __m512i second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
  __m512d low[2], high[2], r[4];
  for (int k = 0; k < 2; k++) {
    low[k] = _mm512_unpacklo_pd(columns[2 * k], columns[2 * k + 1]);
    high[k] = _mm512_unpackhi_pd(columns[2 * k], columns[2 * k + 1]);
  }
  r[0] = _mm512_permutex2var_pd(low[0], first, low[1]);
  r[1] = _mm512_permutex2var_pd(high[0], first, high[1]);
  r[2] = _mm512_permutex2var_pd(low[0], second, low[1]);
  r[3] = _mm512_permutex2var_pd(high[0], second, high[1]);
  for (int k = 0; k < 4; k++) {
    _mm256_storeu_pd(rows[k], _mm512_castpd512_pd256(r[k]));
    _mm256_storeu_pd(rows[4 + k], _mm512_extractf64x4_pd(r[k], 1));
  }
#elif GRAZE_ISA == 1
  __m256d low[2], high[2];
  for (int k = 0; k < 2; k++) {
    low[k] = _mm256_unpacklo_pd(columns[2 * k], columns[2 * k + 1]);
    high[k] = _mm256_unpackhi_pd(columns[2 * k], columns[2 * k + 1]);
  }
  _mm256_storeu_pd(rows[0], _mm256_permute2f128_pd(low[0], low[1], 0x20));
  _mm256_storeu_pd(rows[1], _mm256_permute2f128_pd(high[0], high[1], 0x20));
  _mm256_storeu_pd(rows[2], _mm256_permute2f128_pd(low[0], low[1], 0x31));
  _mm256_storeu_pd(rows[3], _mm256_permute2f128_pd(high[0], high[1], 0x31));
#elif defined(__aarch64__)
  vst1q_f64(rows[0], vzip1q_f64(columns[0], columns[1]));
  vst1q_f64(rows[0] + 2, vzip1q_f64(columns[2], columns[3]));
  vst1q_f64(rows[1], vzip2q_f64(columns[0], columns[1]));
  vst1q_f64(rows[1] + 2, vzip2q_f64(columns[2], columns[3]));
#else
  for (int k = 0; k < 4; k++) rows[0][k] = columns[k];
#endif
}

/* Moves those of from[0..VD_LANES) whose bits are set to the front of `to`, of which VD_LANES are written; `rest` fills
 * them up. */
static inline void indices_pack(uint32_t *to, const uint32_t *from, unsigned bits, uint32_t rest) {
#if GRAZE_ISA == 2
  __m256i packed = _mm256_mask_compress_epi32(_mm256_set1_epi32((int)rest), (__mmask8)bits,
                                              _mm256_loadu_si256((const __m256i *)(const void *)from));
  _mm256_storeu_si256((__m256i *)(void *)to, packed);
#else
  int count = 0;
  for (int i = 0; i < VD_LANES; i++) {
    to[count] = from[i];
    count += bits >> i & 1;
  }
  for (; count < VD_LANES; count++) to[count] = rest;
#endif
}

/* Sixteen of the same. */
static inline void indices_fill(uint32_t to[16], uint32_t value) {
  typedef uint32_t u8 __attribute__((vector_size(32)));
  const u8 all = {value, value, value, value, value, value, value, value};
  memcpy(to, &all, sizeof all);
  memcpy(to + 8, &all, sizeof all);
}

/* A bit for each of x[0..VD_LANES) that is above y; numbers are below 2^31. */
static inline unsigned indices_above(const uint32_t *x, uint32_t y) {
#if GRAZE_ISA == 2
  __m256i above = _mm256_cmpgt_epi32(_mm256_loadu_si256((const __m256i *)(const void *)x), _mm256_set1_epi32((int)y));
  return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(above));
#else
  unsigned bits = 0;
  for (int i = 0; i < VD_LANES; i++) bits |= (unsigned)(x[i] > y) << i;
  return bits;
#endif
}

#endif
