/* The compiler's vectors of four and eight floats, with the few operations that it does not spell well itself. One IEEE
 * operation per lane each, so that every instruction set gives the same bits. No NaN comes here. */
#ifndef GRAZE_SRC_MESH_VECTORS_H
#define GRAZE_SRC_MESH_VECTORS_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

typedef float v4 __attribute__((vector_size(16)));
typedef int32_t i4 __attribute__((vector_size(16)));
typedef float v8 __attribute__((vector_size(32)));
typedef int32_t i8 __attribute__((vector_size(32)));
typedef int16_t s16 __attribute__((vector_size(32)));

static inline v4 v4_load(const float *p) {
  v4 v;
  memcpy(&v, p, sizeof v);
  return v;
}

static inline v4 v4_set(float x) {
  return (v4){x, x, x, x};
}

static inline v4 v4_min(v4 a, v4 b) {
#if defined(__SSE2__)
  return (v4)_mm_min_ps((__m128)a, (__m128)b);
#else
  i4 m = a < b;
  return (v4)(((i4)a & m) | ((i4)b & ~m));
#endif
}

static inline v4 v4_max(v4 a, v4 b) {
#if defined(__SSE2__)
  return (v4)_mm_max_ps((__m128)a, (__m128)b);
#else
  i4 m = a > b;
  return (v4)(((i4)a & m) | ((i4)b & ~m));
#endif
}

/* Of a comparison: whether all lanes are true. */
static inline int v4_all(i4 mask) {
#if defined(__SSE2__)
  return _mm_movemask_ps((__m128)mask) == 15;
#else
  return mask[0] & mask[1] & mask[2] & mask[3];
#endif
}

static inline v8 v8_load(const float *p) {
  v8 v;
  memcpy(&v, p, sizeof v);
  return v;
}

static inline v8 v8_set(float x) {
  return (v8){x, x, x, x, x, x, x, x};
}

static inline v8 v8_pick(i8 mask, v8 yes, v8 no) {
  return (v8)(((i8)yes & mask) | ((i8)no & ~mask));
}

static inline v8 v8_min(v8 a, v8 b) {
#if defined(__AVX__)
  return (v8)_mm256_min_ps((__m256)a, (__m256)b);
#else
  return v8_pick(a < b, a, b);
#endif
}

static inline v8 v8_max(v8 a, v8 b) {
#if defined(__AVX__)
  return (v8)_mm256_max_ps((__m256)a, (__m256)b);
#else
  return v8_pick(a > b, a, b);
#endif
}

static inline v8 v8_join(v4 lower, v4 upper) {
  return (v8){lower[0], lower[1], lower[2], lower[3], upper[0], upper[1], upper[2], upper[3]};
}

static inline v4 v8_lower(v8 a) {
  return (v4){a[0], a[1], a[2], a[3]};
}

static inline v4 v8_upper(v8 a) {
  return (v4){a[4], a[5], a[6], a[7]};
}

static inline float v8_sum(v8 a) {
  v4 s = v8_lower(a) + v8_upper(a);
  return (s[0] + s[2]) + (s[1] + s[3]);
}

/* Rows of four become columns. */
static inline void v4_transpose(v4 r[4]) {
#if defined(__SSE2__)
  __m128 a = (__m128)r[0], b = (__m128)r[1], c = (__m128)r[2], d = (__m128)r[3];
  _MM_TRANSPOSE4_PS(a, b, c, d);
  r[0] = (v4)a;
  r[1] = (v4)b;
  r[2] = (v4)c;
  r[3] = (v4)d;
#else
  v4 t[4];
  for (int i = 0; i < 4; i++) t[i] = (v4){r[0][i], r[1][i], r[2][i], r[3][i]};
  memcpy(r, t, sizeof t);
#endif
}

/* v8_sum of each. */
static inline v4 v8_sums(v8 a, v8 b, v8 c, v8 d) {
  v4 r[4] = {v8_lower(a) + v8_upper(a), v8_lower(b) + v8_upper(b), v8_lower(c) + v8_upper(c),
             v8_lower(d) + v8_upper(d)};
  v4_transpose(r);
  return (r[0] + r[2]) + (r[1] + r[3]);
}

/* The lowest number in each of three vectors; the fourth component means nothing. */
static inline v4 v8_lowests(const v8 a[3]) {
  v4 r[4] = {v4_min(v8_lower(a[0]), v8_upper(a[0])), v4_min(v8_lower(a[1]), v8_upper(a[1])),
             v4_min(v8_lower(a[2]), v8_upper(a[2])), v4_set(0)};
  v4_transpose(r);
  return v4_min(v4_min(r[0], r[1]), v4_min(r[2], r[3]));
}

static inline v4 v8_highests(const v8 a[3]) {
  v4 r[4] = {v4_max(v8_lower(a[0]), v8_upper(a[0])), v4_max(v8_lower(a[1]), v8_upper(a[1])),
             v4_max(v8_lower(a[2]), v8_upper(a[2])), v4_set(0)};
  v4_transpose(r);
  return v4_max(v4_max(r[0], r[1]), v4_max(r[2], r[3]));
}

static inline float v8_lowest(v8 a) {
  v4 m = v4_min(v8_lower(a), v8_upper(a));
  m = v4_min(m, (v4){m[2], m[3], m[2], m[3]});
  return m[0] < m[1] ? m[0] : m[1];
}

#endif
