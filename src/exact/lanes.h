/* Vectors of doubles and floats for kernels that are written once and compiled per instruction set.
 *
 * Define LANES_ISA to 0 (scalar), 1 (AVX2 with FMA) or 2 (AVX-512) before including. Every operation is one IEEE
 * operation per lane, so that all instruction sets give the same bits. `vm` is a mask of lanes; masks combine with
 * vm_and, vm_or, vm_andnot(a, b) = a and not b.
 */
#ifndef GRAZE_SRC_EXACT_LANES_H
#define GRAZE_SRC_EXACT_LANES_H

#include <math.h>
#include <stdint.h>

#include "exact/expansion.h"

#if LANES_ISA == 2

#include <immintrin.h>
enum { LANES = 8 };
typedef __m512d vd;
typedef __mmask8 vm;
#define LANES_NAME(x) x##_avx512
static inline vd vd_load(const double *p) {
  return _mm512_loadu_pd(p);
}
static inline void vd_store(double *p, vd a) {
  _mm512_storeu_pd(p, a);
}
static inline vd vd_set(double x) {
  return _mm512_set1_pd(x);
}
static inline vd vd_add(vd a, vd b) {
  return _mm512_add_pd(a, b);
}
static inline vd vd_sub(vd a, vd b) {
  return _mm512_sub_pd(a, b);
}
static inline vd vd_mul(vd a, vd b) {
  return _mm512_mul_pd(a, b);
}
static inline vd vd_min(vd a, vd b) {
  return _mm512_min_pd(a, b);
}
static inline vd vd_max(vd a, vd b) {
  return _mm512_max_pd(a, b);
}
static inline vd vd_abs(vd a) {
  return _mm512_abs_pd(a);
}
static inline vd vd_neg(vd a) {
  return _mm512_xor_pd(a, _mm512_set1_pd(-0.0));
}
static inline vm vd_gt(vd a, vd b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ);
}
static inline vm vd_ge(vd a, vd b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_GE_OQ);
}
static inline vm vd_eq(vd a, vd b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
}
static inline vd vd_select(vm m, vd yes, vd no) {
  return _mm512_mask_blend_pd(m, no, yes);
}
/* max(|a|, |b|) */
static inline vd vd_max_abs(vd a, vd b) {
  return _mm512_range_pd(a, b, 0x0b);
}
/* Its bits or those of the other. */
static inline vd vd_or(vd a, vd b) {
  return _mm512_or_pd(a, b);
}
/* a with its sign turned over where s is negative or -0. */
static inline vd vd_turn(vd a, vd s) {
  return _mm512_xor_pd(a, _mm512_and_pd(s, _mm512_set1_pd(-0.0)));
}
/* a * b + c, rounded once or twice: the same everywhere only where the product is a double. */
static inline vd vd_product_plus(vd a, vd b, vd c) {
  return _mm512_fmadd_pd(a, b, c);
}
/* a * b - p, for a result that is a double; p within a rounding or two of a * b. */
static inline vd vd_product_rest(vd a, vd b, vd p) {
  return _mm512_fmsub_pd(a, b, p);
}
/* A power of two at least |a| and at most 2 |a|, for finite a >= 2^-1021. */
static inline vd vd_power_above(vd a) {
  return _mm512_scalef_pd(vd_set(2), _mm512_getexp_pd(a));
}
static inline vm vm_and(vm a, vm b) {
  return (vm)(a & b);
}
static inline vm vm_or(vm a, vm b) {
  return (vm)(a | b);
}
static inline vm vm_xor(vm a, vm b) {
  return (vm)(a ^ b);
}
static inline vm vm_andnot(vm a, vm b) {
  return (vm)(a & ~b);
}
static inline vm vm_none(void) {
  return 0;
}
static inline vm vm_all(void) {
  return 0xff;
}
static inline unsigned vm_bits(vm a) {
  return a;
}
static inline vm vm_from(unsigned bits) {
  return (vm)bits;
}
/* The lanes' bits become bits at .. of a word of 64 that was zero there. */
static inline void vm_put(uint64_t *word, unsigned at, vm a) {
  ((uint8_t *)word)[at / 8] = a;
}
/* Bit i of `bits` goes to the place of the i-th bit that is set in `places`. */
static inline uint64_t bits_deposit(uint64_t bits, uint64_t places) {
  return _pdep_u64(bits, places);
}
/* The other way: the bits at the places, side by side. */
static inline uint64_t bits_extract(uint64_t bits, uint64_t places) {
  return _pext_u64(bits, places);
}
/* Moves the lanes of from[0..LANES) whose bits are set to the front of `to`, which has room for `room` numbers and may
 * be written up to there. */
static inline void lanes_pack(double *to, const double *from, unsigned bits, unsigned room) {
  __m512d packed = _mm512_maskz_compress_pd((__mmask8)bits, _mm512_loadu_pd(from));
  if (room >= LANES)
    _mm512_storeu_pd(to, packed);
  else
    _mm512_mask_storeu_pd(to, (__mmask8)((1u << room) - 1), packed);
}

#elif LANES_ISA == 1

#include <immintrin.h>
enum { LANES = 4 };
typedef __m256d vd;
typedef __m256d vm;
#define LANES_NAME(x) x##_avx2
static inline vd vd_load(const double *p) {
  return _mm256_loadu_pd(p);
}
static inline void vd_store(double *p, vd a) {
  _mm256_storeu_pd(p, a);
}
static inline vd vd_set(double x) {
  return _mm256_set1_pd(x);
}
static inline vd vd_add(vd a, vd b) {
  return _mm256_add_pd(a, b);
}
static inline vd vd_sub(vd a, vd b) {
  return _mm256_sub_pd(a, b);
}
static inline vd vd_mul(vd a, vd b) {
  return _mm256_mul_pd(a, b);
}
static inline vd vd_min(vd a, vd b) {
  return _mm256_min_pd(a, b);
}
static inline vd vd_max(vd a, vd b) {
  return _mm256_max_pd(a, b);
}
static inline vd vd_abs(vd a) {
  return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
}
static inline vd vd_neg(vd a) {
  return _mm256_xor_pd(a, _mm256_set1_pd(-0.0));
}
static inline vm vd_gt(vd a, vd b) {
  return _mm256_cmp_pd(a, b, _CMP_GT_OQ);
}
static inline vm vd_ge(vd a, vd b) {
  return _mm256_cmp_pd(a, b, _CMP_GE_OQ);
}
static inline vm vd_eq(vd a, vd b) {
  return _mm256_cmp_pd(a, b, _CMP_EQ_OQ);
}
static inline vd vd_select(vm m, vd yes, vd no) {
  return _mm256_blendv_pd(no, yes, m);
}
static inline vd vd_max_abs(vd a, vd b) {
  return _mm256_max_pd(vd_abs(a), vd_abs(b));
}
static inline vd vd_or(vd a, vd b) {
  return _mm256_or_pd(a, b);
}
static inline vd vd_turn(vd a, vd s) {
  return _mm256_xor_pd(a, _mm256_and_pd(s, _mm256_set1_pd(-0.0)));
}
static inline vd vd_product_plus(vd a, vd b, vd c) {
  return _mm256_fmadd_pd(a, b, c);
}
static inline vd vd_product_rest(vd a, vd b, vd p) {
  return _mm256_fmsub_pd(a, b, p);
}
static inline vd vd_power_above(vd a) {
  /* Keep the exponent bits: the power of two at or below; times two. */
  const __m256i exponent = _mm256_set1_epi64x(0x7ff0000000000000);
  return _mm256_mul_pd(_mm256_castsi256_pd(_mm256_and_si256(_mm256_castpd_si256(a), exponent)), vd_set(2));
}
static inline vm vm_and(vm a, vm b) {
  return _mm256_and_pd(a, b);
}
static inline vm vm_or(vm a, vm b) {
  return _mm256_or_pd(a, b);
}
static inline vm vm_xor(vm a, vm b) {
  return _mm256_xor_pd(a, b);
}
static inline vm vm_andnot(vm a, vm b) {
  return _mm256_andnot_pd(b, a);
}
static inline vm vm_none(void) {
  return _mm256_setzero_pd();
}
static inline vm vm_all(void) {
  return _mm256_castsi256_pd(_mm256_set1_epi64x(-1));
}
static inline unsigned vm_bits(vm a) {
  return (unsigned)_mm256_movemask_pd(a);
}
static inline vm vm_from(unsigned bits) {
  const __m256i lane = _mm256_set_epi64x(8, 4, 2, 1);
  return _mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(bits), lane), lane));
}
static inline void vm_put(uint64_t *word, unsigned at, vm a) {
  *word |= (uint64_t)vm_bits(a) << at;
}
static inline uint64_t bits_deposit(uint64_t bits, uint64_t places) {
  return _pdep_u64(bits, places);
}
static inline uint64_t bits_extract(uint64_t bits, uint64_t places) {
  return _pext_u64(bits, places);
}

#else

enum { LANES = 1 };
typedef double vd;
typedef unsigned vm;
#define LANES_NAME(x) x##_scalar
static inline vd vd_load(const double *p) {
  return *p;
}
static inline void vd_store(double *p, vd a) {
  *p = a;
}
static inline vd vd_set(double x) {
  return x;
}
static inline vd vd_add(vd a, vd b) {
  return a + b;
}
static inline vd vd_sub(vd a, vd b) {
  return a - b;
}
static inline vd vd_mul(vd a, vd b) {
  return a * b;
}
static inline vd vd_min(vd a, vd b) {
  return a < b ? a : b;
}
static inline vd vd_max(vd a, vd b) {
  return a > b ? a : b;
}
static inline vd vd_abs(vd a) {
  return fabs(a);
}
static inline vd vd_neg(vd a) {
  return -a;
}
static inline vm vd_gt(vd a, vd b) {
  return a > b;
}
static inline vm vd_ge(vd a, vd b) {
  return a >= b;
}
static inline vm vd_eq(vd a, vd b) {
  return a == b;
}
static inline vd vd_select(vm m, vd yes, vd no) {
  return m ? yes : no;
}
static inline vd vd_max_abs(vd a, vd b) {
  return fabs(a) > fabs(b) ? fabs(a) : fabs(b);
}
static inline vd vd_or(vd a, vd b) {
  union {
    double d;
    uint64_t u;
  } x = {a}, y = {b};
  x.u |= y.u;
  return x.d;
}
static inline vd vd_turn(vd a, vd s) {
  return signbit(s) ? -a : a;
}
static inline vd vd_product_plus(vd a, vd b, vd c) {
  return a * b + c;
}
static inline vd vd_product_rest(vd a, vd b, vd p) {
  double hi, lo;
  two_prod(a, b, &hi, &lo);
  return (hi - p) + lo;
}
static inline vd vd_power_above(vd a) {
  union {
    double d;
    uint64_t u;
  } x = {a};
  x.u &= 0x7ff0000000000000u;
  return x.d * 2;
}
static inline vm vm_and(vm a, vm b) {
  return a & b;
}
static inline vm vm_or(vm a, vm b) {
  return a | b;
}
static inline vm vm_xor(vm a, vm b) {
  return a ^ b;
}
static inline vm vm_andnot(vm a, vm b) {
  return a & (b ^ 1u);
}
static inline vm vm_none(void) {
  return 0;
}
static inline vm vm_all(void) {
  return 1;
}
static inline unsigned vm_bits(vm a) {
  return a;
}
static inline vm vm_from(unsigned bits) {
  return bits & 1u;
}
static inline void vm_put(uint64_t *word, unsigned at, vm a) {
  *word |= (uint64_t)a << at;
}
static inline uint64_t bits_deposit(uint64_t bits, uint64_t places) {
  uint64_t sum = 0;
  for (; places != 0; places &= places - 1, bits >>= 1) {
    if (bits & 1) sum |= places & -places;
  }
  return sum;
}
static inline uint64_t bits_extract(uint64_t bits, uint64_t places) {
  uint64_t sum = 0;
  for (int i = 0; places != 0; places &= places - 1, i++) {
    if (bits & places & -places) sum |= (uint64_t)1 << i;
  }
  return sum;
}

#endif

#if LANES_ISA != 2
static inline void lanes_pack(double *to, const double *from, unsigned bits, unsigned room) {
  (void)room;
  for (; bits != 0; bits &= bits - 1) *to++ = from[__builtin_ctz(bits)];
}
#endif
#endif
