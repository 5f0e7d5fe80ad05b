/* Arrays of rows of four doubles, one row for each lane. Over base/simd.h. */
#ifndef GRAZE_SRC_BASE_SIMD_ROWS_H
#define GRAZE_SRC_BASE_SIMD_ROWS_H

#include <string.h>

#include "base/simd.h"

/* Rows of four, one for each lane, become columns. */
static inline __attribute__((always_inline)) void vd_columns(vd out[4], const d4 rows[VD_LANES]) {
#if GRAZE_ISA == 2
  __m512d r[4], low[2], high[2];
  for (int k = 0; k < 4; k++)
    r[k] = _mm512_insertf64x4(_mm512_castpd256_pd512((__m256d)rows[k]), (__m256d)rows[4 + k], 1);
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
  __m256d low[2], high[2];
  for (int k = 0; k < 2; k++) {
    low[k] = _mm256_unpacklo_pd((__m256d)rows[2 * k], (__m256d)rows[2 * k + 1]);
    high[k] = _mm256_unpackhi_pd((__m256d)rows[2 * k], (__m256d)rows[2 * k + 1]);
  }
  out[0] = _mm256_permute2f128_pd(low[0], low[1], 0x20);
  out[1] = _mm256_permute2f128_pd(high[0], high[1], 0x20);
  out[2] = _mm256_permute2f128_pd(low[0], low[1], 0x31);
  out[3] = _mm256_permute2f128_pd(high[0], high[1], 0x31);
#elif defined(__aarch64__)
  for (int k = 0; k < 4; k++) out[k] = (float64x2_t){rows[0][k], rows[1][k]};
#else
  for (int k = 0; k < 4; k++) out[k] = rows[0][k];
#endif
}

static inline d4 d4_load(const double *p) {
  d4 v;
  memcpy(&v, p, sizeof v);
  return v;
}

static inline void d4_store(double *p, d4 v) {
  memcpy(p, &v, sizeof v);
}

/* The first three of a and the last of b. */
static inline d4 d4_last(d4 a, d4 b) {
  return (d4){a[0], a[1], a[2], b[3]};
}

/* Four numbers from first + at[lane] on for each lane: columns. */
static inline __attribute__((always_inline)) void vd_load_rows(vd out[4], const double *first, const uint32_t *at) {
  d4 rows[VD_LANES];
  for (int lane = 0; lane < VD_LANES; lane++) rows[lane] = d4_load(first + at[lane]);
  vd_columns(out, rows);
}

/* The other way: rows[stride * lane]. */
static inline __attribute__((always_inline)) void vd_store_rows(double (*rows)[4], int stride, const vd columns[4]) {
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
    _mm256_storeu_pd(rows[k * stride], _mm512_castpd512_pd256(r[k]));
    _mm256_storeu_pd(rows[(4 + k) * stride], _mm512_extractf64x4_pd(r[k], 1));
  }
#elif GRAZE_ISA == 1
  __m256d low[2], high[2];
  for (int k = 0; k < 2; k++) {
    low[k] = _mm256_unpacklo_pd(columns[2 * k], columns[2 * k + 1]);
    high[k] = _mm256_unpackhi_pd(columns[2 * k], columns[2 * k + 1]);
  }
  _mm256_storeu_pd(rows[0], _mm256_permute2f128_pd(low[0], low[1], 0x20));
  _mm256_storeu_pd(rows[stride], _mm256_permute2f128_pd(high[0], high[1], 0x20));
  _mm256_storeu_pd(rows[2 * stride], _mm256_permute2f128_pd(low[0], low[1], 0x31));
  _mm256_storeu_pd(rows[3 * stride], _mm256_permute2f128_pd(high[0], high[1], 0x31));
#elif defined(__aarch64__)
  vst1q_f64(rows[0], vzip1q_f64(columns[0], columns[1]));
  vst1q_f64(rows[0] + 2, vzip1q_f64(columns[2], columns[3]));
  vst1q_f64(rows[stride], vzip2q_f64(columns[0], columns[1]));
  vst1q_f64(rows[stride] + 2, vzip2q_f64(columns[2], columns[3]));
#else
  (void)stride; /* one row */
  for (int k = 0; k < 4; k++) rows[0][k] = columns[k];
#endif
}

/* base[at[lane]] for each lane. */
static inline vd vd_gather(const double *base, const uint32_t *at) {
#if GRAZE_ISA == 2
  return _mm512_i32gather_pd(_mm256_loadu_si256((const __m256i *)(const void *)at), base, 8);
#elif GRAZE_ISA == 1
  return _mm256_i32gather_pd(base, _mm_loadu_si128((const __m128i *)(const void *)at), 8);
#else
  double x[VD_LANES];
  for (int lane = 0; lane < VD_LANES; lane++) x[lane] = base[at[lane]];
  return vd_load(x);
#endif
}

/* Those of from[0..VD_LANES) whose bits are set, side by side; VD_LANES are written. */
static inline void indices_pack(uint32_t *to, const uint32_t *from, unsigned bits) {
#if GRAZE_ISA == 2
  __m256i packed = _mm256_maskz_compress_epi32((__mmask8)bits, _mm256_loadu_si256((const __m256i *)(const void *)from));
  _mm256_storeu_si256((__m256i *)(void *)to, packed);
#else
  for (int i = 0, count = 0; i < VD_LANES; i++) {
    to[count] = from[i];
    count += bits >> i & 1;
  }
#endif
}

/* The same of shorter ones. */
static inline void shorts_pack(uint16_t *to, const uint16_t *from, unsigned bits) {
#if GRAZE_ISA == 2
  const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)from));
  const __m256i packed = _mm256_maskz_compress_epi32((__mmask8)bits, wide);
  _mm_storeu_si128((__m128i *)(void *)to, _mm256_cvtepi32_epi16(packed));
#else
  for (int i = 0, count = 0; i < VD_LANES; i++) {
    to[count] = from[i];
    count += bits >> i & 1;
  }
#endif
}

#endif
