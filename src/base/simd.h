/* Vectors: what kernels are written in once, for every instruction set.
 *
 * vd and vf are as many doubles and floats as a register of GRAZE_ISA holds (base/cpu.h), on ARM one of NEON, which all
 * its processors of 64 bits have, and elsewhere one number; `vm` is a mask of lanes of
 * doubles. v4, v8, d4 and their integers are the compiler's vectors, of the same width everywhere, with the few
 * operations that it does not spell well itself. Every operation is one IEEE operation per lane, so that all
 * instruction sets give the same bits.
 */
#ifndef GRAZE_SRC_BASE_SIMD_H
#define GRAZE_SRC_BASE_SIMD_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/cpu.h"

#if GRAZE_ISA != 0
#include <immintrin.h> /* takes longer to read than most files of this tree to compile */
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* ---- doubles and floats, a register of them ---------------------------------------------------------------------- */

#if GRAZE_ISA == 2

enum { VD_LANES = 8 };
#define VD_FUSED 1
typedef __m512d vd;
typedef __mmask8 vm;
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
static inline vd vd_div(vd a, vd b) {
  return _mm512_div_pd(a, b);
}
static inline vd vd_sqrt(vd a) {
  return _mm512_sqrt_pd(a);
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
/* a * b - p, rounded once. Where VD_FUSED is 0 there is no such operation. */
static inline vd vd_fused_minus(vd a, vd b, vd p) {
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

enum { VF_LANES = 16 };
typedef __m512 vf;
static inline vf vf_load(const float *p) {
  return _mm512_loadu_ps(p);
}
static inline vf vf_set(float x) {
  return _mm512_set1_ps(x);
}
static inline vf vf_min(vf a, vf b) {
  return _mm512_min_ps(a, b);
}
static inline vf vf_max(vf a, vf b) {
  return _mm512_max_ps(a, b);
}
static inline vf vf_add(vf a, vf b) {
  return _mm512_add_ps(a, b);
}
static inline vf vf_sub(vf a, vf b) {
  return _mm512_sub_ps(a, b);
}
static inline void vf_store(float *p, vf a) {
  _mm512_storeu_ps(p, a);
}
/* Negative where one of the two is. Costs less than the lesser of them. */
static inline vf vf_either_negative(vf a, vf b) {
  return _mm512_or_ps(a, b);
}
/* A bit for each lane. */
static inline uint32_t vf_not_negative(vf a) {
  return (uint16_t)~_mm512_movepi32_mask(_mm512_castps_si512(a));
}
static inline uint32_t vf_positive(vf a) {
  return _mm512_cmp_ps_mask(a, _mm512_setzero_ps(), _CMP_GT_OQ);
}

#elif GRAZE_ISA == 1

enum { VD_LANES = 4 };
#define VD_FUSED 1
typedef __m256d vd;
typedef __m256d vm;
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
static inline vd vd_div(vd a, vd b) {
  return _mm256_div_pd(a, b);
}
static inline vd vd_sqrt(vd a) {
  return _mm256_sqrt_pd(a);
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
static inline vd vd_fused_minus(vd a, vd b, vd p) {
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

enum { VF_LANES = 8 };
typedef __m256 vf;
static inline vf vf_load(const float *p) {
  return _mm256_loadu_ps(p);
}
static inline vf vf_set(float x) {
  return _mm256_set1_ps(x);
}
static inline vf vf_min(vf a, vf b) {
  return _mm256_min_ps(a, b);
}
static inline vf vf_max(vf a, vf b) {
  return _mm256_max_ps(a, b);
}
static inline vf vf_add(vf a, vf b) {
  return _mm256_add_ps(a, b);
}
static inline vf vf_sub(vf a, vf b) {
  return _mm256_sub_ps(a, b);
}
static inline void vf_store(float *p, vf a) {
  _mm256_storeu_ps(p, a);
}
static inline vf vf_either_negative(vf a, vf b) {
  return _mm256_or_ps(a, b);
}
static inline uint32_t vf_not_negative(vf a) {
  return ~(uint32_t)_mm256_movemask_ps(a) & 0xff;
}
static inline uint32_t vf_positive(vf a) {
  return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, _mm256_setzero_ps(), _CMP_GT_OQ));
}

#elif defined(__aarch64__)

enum { VD_LANES = 2 };
#define VD_FUSED 1
typedef float64x2_t vd;
typedef uint64x2_t vm;
static inline vd vd_load(const double *p) {
  return vld1q_f64(p);
}
static inline void vd_store(double *p, vd a) {
  vst1q_f64(p, a);
}
static inline vd vd_set(double x) {
  return vdupq_n_f64(x);
}
static inline vd vd_add(vd a, vd b) {
  return vaddq_f64(a, b);
}
static inline vd vd_sub(vd a, vd b) {
  return vsubq_f64(a, b);
}
static inline vd vd_mul(vd a, vd b) {
  return vmulq_f64(a, b);
}
static inline vd vd_div(vd a, vd b) {
  return vdivq_f64(a, b);
}
static inline vd vd_sqrt(vd a) {
  return vsqrtq_f64(a);
}
/* The processor's own least of +0 and -0 is another than that of the others. */
static inline vd vd_min(vd a, vd b) {
  return vbslq_f64(vcltq_f64(a, b), a, b);
}
static inline vd vd_max(vd a, vd b) {
  return vbslq_f64(vcgtq_f64(a, b), a, b);
}
static inline vd vd_abs(vd a) {
  return vabsq_f64(a);
}
static inline vd vd_neg(vd a) {
  return vnegq_f64(a);
}
static inline vm vd_gt(vd a, vd b) {
  return vcgtq_f64(a, b);
}
static inline vm vd_ge(vd a, vd b) {
  return vcgeq_f64(a, b);
}
static inline vm vd_eq(vd a, vd b) {
  return vceqq_f64(a, b);
}
static inline vd vd_select(vm m, vd yes, vd no) {
  return vbslq_f64(m, yes, no);
}
static inline vd vd_max_abs(vd a, vd b) {
  return vd_max(vabsq_f64(a), vabsq_f64(b));
}
static inline vd vd_or(vd a, vd b) {
  return vreinterpretq_f64_u64(vorrq_u64(vreinterpretq_u64_f64(a), vreinterpretq_u64_f64(b)));
}
static inline vd vd_turn(vd a, vd s) {
  uint64x2_t sign = vandq_u64(vreinterpretq_u64_f64(s), vdupq_n_u64(UINT64_C(1) << 63));
  return vreinterpretq_f64_u64(veorq_u64(vreinterpretq_u64_f64(a), sign));
}
static inline vd vd_product_plus(vd a, vd b, vd c) {
  return vfmaq_f64(c, a, b);
}
static inline vd vd_fused_minus(vd a, vd b, vd p) {
  return vfmaq_f64(vnegq_f64(p), a, b);
}
static inline vd vd_power_above(vd a) {
  uint64x2_t exponent = vandq_u64(vreinterpretq_u64_f64(a), vdupq_n_u64(UINT64_C(0x7ff0000000000000)));
  return vmulq_f64(vreinterpretq_f64_u64(exponent), vd_set(2));
}
static inline vm vm_and(vm a, vm b) {
  return vandq_u64(a, b);
}
static inline vm vm_or(vm a, vm b) {
  return vorrq_u64(a, b);
}
static inline vm vm_xor(vm a, vm b) {
  return veorq_u64(a, b);
}
static inline vm vm_andnot(vm a, vm b) {
  return vbicq_u64(a, b);
}
static inline vm vm_none(void) {
  return vdupq_n_u64(0);
}
static inline vm vm_all(void) {
  return vdupq_n_u64(UINT64_MAX);
}
static inline unsigned vm_bits(vm a) {
  return (unsigned)((vgetq_lane_u64(a, 0) & 1) | (vgetq_lane_u64(a, 1) & 2));
}
static inline vm vm_from(unsigned bits) {
  const uint64x2_t lane = {1, 2};
  return vtstq_u64(vdupq_n_u64(bits), lane);
}
static inline void vm_put(uint64_t *word, unsigned at, vm a) {
  *word |= (uint64_t)vm_bits(a) << at;
}

enum { VF_LANES = 4 };
typedef float32x4_t vf;
static inline vf vf_load(const float *p) {
  return vld1q_f32(p);
}
static inline vf vf_set(float x) {
  return vdupq_n_f32(x);
}
static inline vf vf_min(vf a, vf b) {
  return vbslq_f32(vcltq_f32(a, b), a, b);
}
static inline vf vf_max(vf a, vf b) {
  return vbslq_f32(vcgtq_f32(a, b), a, b);
}
static inline vf vf_add(vf a, vf b) {
  return vaddq_f32(a, b);
}
static inline vf vf_sub(vf a, vf b) {
  return vsubq_f32(a, b);
}
static inline void vf_store(float *p, vf a) {
  vst1q_f32(p, a);
}
static inline vf vf_either_negative(vf a, vf b) {
  return vreinterpretq_f32_u32(vorrq_u32(vreinterpretq_u32_f32(a), vreinterpretq_u32_f32(b)));
}
/* The upper bits of the lanes. */
static inline uint32_t vf_upper_bits(uint32x4_t a) {
  const int32x4_t lane = {0, 1, 2, 3};
  return vaddvq_u32(vshlq_u32(vshrq_n_u32(a, 31), lane));
}
static inline uint32_t vf_not_negative(vf a) {
  return vf_upper_bits(vmvnq_u32(vreinterpretq_u32_f32(a)));
}
static inline uint32_t vf_positive(vf a) {
  return vf_upper_bits(vcgtzq_f32(a));
}

#else

enum { VD_LANES = 1 };
#define VD_FUSED 0
typedef double vd;
typedef unsigned vm;
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
static inline vd vd_div(vd a, vd b) {
  return a / b;
}
static inline vd vd_sqrt(vd a) {
  return sqrt(a);
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

enum { VF_LANES = 1 };
typedef float vf;
static inline vf vf_load(const float *p) {
  return *p;
}
static inline vf vf_set(float x) {
  return x;
}
static inline vf vf_min(vf a, vf b) {
  return a < b ? a : b;
}
static inline vf vf_max(vf a, vf b) {
  return a > b ? a : b;
}
static inline vf vf_add(vf a, vf b) {
  return a + b;
}
static inline vf vf_sub(vf a, vf b) {
  return a - b;
}
static inline void vf_store(float *p, vf a) {
  *p = a;
}
static inline vf vf_either_negative(vf a, vf b) {
  return a < 0 ? a : b;
}
static inline uint32_t vf_not_negative(vf a) {
  return !(a < 0);
}
static inline uint32_t vf_positive(vf a) {
  return a > 0;
}

#endif

/* ---- bits and lanes -------------------------------------------------------------------------------------------- */

/* Bit i of `bits` goes to the place of the i-th bit that is set in `places`. */
static inline uint64_t bits_deposit(uint64_t bits, uint64_t places) {
#if GRAZE_ISA > 0
  return _pdep_u64(bits, places);
#else
  uint64_t sum = 0;
  for (; places != 0; places &= places - 1, bits >>= 1) {
    if (bits & 1) sum |= places & -places;
  }
  return sum;
#endif
}

/* The other way: the bits at the places, side by side. */
static inline uint64_t bits_extract(uint64_t bits, uint64_t places) {
#if GRAZE_ISA > 0
  return _pext_u64(bits, places);
#else
  uint64_t sum = 0;
  for (int i = 0; places != 0; places &= places - 1, i++) {
    if (bits & places & -places) sum |= (uint64_t)1 << i;
  }
  return sum;
#endif
}

/* Moves the lanes of from[0..VD_LANES) whose bits are set to the front of `to`, which has room for `room` numbers and
 * may be written up to there. */
static inline void lanes_pack(double *to, const double *from, unsigned bits, unsigned room) {
#if GRAZE_ISA == 2
  __m512d packed = _mm512_maskz_compress_pd((__mmask8)bits, _mm512_loadu_pd(from));
  if (room >= VD_LANES)
    _mm512_storeu_pd(to, packed);
  else
    _mm512_mask_storeu_pd(to, (__mmask8)((1u << room) - 1), packed);
#else
  (void)room;
  for (; bits != 0; bits &= bits - 1) *to++ = from[__builtin_ctz(bits)];
#endif
}

/* ---- four and eight, as the compiler has them; no NaN comes here ------------------------------------------------- */

typedef float v4 __attribute__((vector_size(16)));
typedef int32_t i4 __attribute__((vector_size(16)));
typedef float v8 __attribute__((vector_size(32)));
typedef int32_t i8 __attribute__((vector_size(32)));
typedef int16_t s16 __attribute__((vector_size(32)));
typedef double d4 __attribute__((vector_size(32)));
typedef int64_t l4 __attribute__((vector_size(32)));

static inline v4 v4_load(const float *p) {
  v4 v;
  memcpy(&v, p, sizeof v);
  return v;
}

static inline v4 v4_set(float x) {
  return (v4){x, x, x, x};
}

static inline v4 v4_of(float x, float y, float z) {
  return (v4){x, y, z, 0};
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

/* Of a comparison: a bit for each lane. */
static inline uint32_t v4_bits(i4 mask) {
#if defined(__SSE2__)
  return (uint32_t)_mm_movemask_ps((__m128)mask);
#else
  return (uint32_t)((mask[0] & 1) | (mask[1] & 2) | (mask[2] & 4) | (mask[3] & 8));
#endif
}

/* Of a comparison: whether all lanes are true. */
static inline bool v4_all(i4 mask) {
  return v4_bits(mask) == 15;
}

/* Numbers from 0 to 127 as bytes, those of `a` first. */
static inline void i4_bytes(i4 a, i4 b, uint8_t to[8]) {
#if defined(__SSE2__)
  const __m128i words = _mm_packs_epi32((__m128i)a, (__m128i)b);
  _mm_storel_epi64((__m128i *)(void *)to, _mm_packus_epi16(words, words));
#else
  for (int i = 0; i < 4; i++) {
    to[i] = (uint8_t)a[i];
    to[4 + i] = (uint8_t)b[i];
  }
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

/* Of a comparison: a bit for each lane. */
static inline uint32_t v8_bits(i8 mask) {
#if defined(__AVX__)
  return (uint32_t)_mm256_movemask_ps((__m256)mask);
#else
  uint32_t bits = 0;
  for (int i = 0; i < 8; i++) bits |= (uint32_t)(mask[i] & 1) << i;
  return bits;
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

/* The same of doubles. */
static inline void d4_transpose(d4 r[4]) {
#if defined(__AVX__)
  const __m256d a = (__m256d)r[0], b = (__m256d)r[1], c = (__m256d)r[2], d = (__m256d)r[3];
  const __m256d ab0 = _mm256_unpacklo_pd(a, b), ab1 = _mm256_unpackhi_pd(a, b);
  const __m256d cd0 = _mm256_unpacklo_pd(c, d), cd1 = _mm256_unpackhi_pd(c, d);
  r[0] = (d4)_mm256_permute2f128_pd(ab0, cd0, 0x20);
  r[1] = (d4)_mm256_permute2f128_pd(ab1, cd1, 0x20);
  r[2] = (d4)_mm256_permute2f128_pd(ab0, cd0, 0x31);
  r[3] = (d4)_mm256_permute2f128_pd(ab1, cd1, 0x31);
#else
  d4 t[4];
  for (int i = 0; i < 4; i++) t[i] = (d4){r[0][i], r[1][i], r[2][i], r[3][i]};
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

/* Of a comparison of doubles: a bit for each lane. */
static inline uint32_t d4_bits(l4 mask) {
#if defined(__AVX__)
  return (uint32_t)_mm256_movemask_pd((__m256d)mask);
#else
  return (uint32_t)((mask[0] & 1) | (mask[1] & 2) | (mask[2] & 4) | (mask[3] & 8));
#endif
}

#endif
