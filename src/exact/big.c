/* Dyadic big numbers. Lengths follow the bits that are really there, so that ordinary inputs use one to three limbs. */
#include "exact/big.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef unsigned __int128 wide;

static _Thread_local bool overflowed;

bool gz_big_overflowed(void) {
  return overflowed;
}

void gz_big_clear_overflow(void) {
  overflowed = false;
}

static void overflow(big *r) {
  overflowed = true;
  r->sign = r->limbs = r->exponent = 0;
}

static void normalise(big *r) {
  while (r->limbs > 0 && r->limb[r->limbs - 1] == 0) r->limbs--;
  int zeros = 0;
  while (zeros < r->limbs && r->limb[zeros] == 0) zeros++;
  if (r->limbs == 0) {
    r->sign = 0;
    r->exponent = 0;
  } else if (zeros > 0) {
    memmove(r->limb, r->limb + zeros, (size_t)(r->limbs - zeros) * sizeof r->limb[0]);
    r->limbs -= zeros;
    r->exponent += 64 * zeros;
  }
}

void gz_big_copy(big *r, const big *a) {
  if (r == a) return;
  r->sign = a->sign;
  r->exponent = a->exponent;
  r->limbs = a->limbs;
  memcpy(r->limb, a->limb, (size_t)a->limbs * sizeof a->limb[0]);
}

void gz_big_from_double(big *r, double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7ff);
  uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
  if (exponent != 0) mantissa |= UINT64_C(1) << 52; /* else subnormal, with the least exponent */
  r->sign = mantissa == 0 ? 0 : bits >> 63 != 0 ? -1 : 1;
  r->limbs = mantissa != 0;
  r->exponent = 0;
  if (mantissa == 0) return;
  int shift = __builtin_ctzll(mantissa);
  r->limb[0] = mantissa >> shift;
  r->exponent = (exponent != 0 ? exponent : 1) - 1075 + shift;
}

/* |a| with its lowest bit at 2^exponent (<= a's exponent), into limbs; returns how many. */
static int align(const big *a, int exponent, uint64_t *out) {
  int shift = a->exponent - exponent;
  int words = shift / 64;
  int bits = shift % 64;
  memset(out, 0, (size_t)words * sizeof *out);
  uint64_t carry = 0;
  for (int i = 0; i < a->limbs; i++) {
    out[words + i] = (a->limb[i] << bits) | carry;
    carry = bits != 0 ? a->limb[i] >> (64 - bits) : 0;
  }
  int n = words + a->limbs;
  if (carry != 0) out[n++] = carry;
  return n;
}

static int compare(const uint64_t *a, int n, const uint64_t *b, int m) {
  if (n != m) return n < m ? -1 : 1;
  for (int i = n - 1; i >= 0; i--) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

static int add_magnitudes(const uint64_t *a, int n, const uint64_t *b, int m, uint64_t *out) {
  wide carry = 0;
  int top = n > m ? n : m;
  for (int i = 0; i < top; i++) {
    carry += (wide)(i < n ? a[i] : 0) + (i < m ? b[i] : 0);
    out[i] = (uint64_t)carry;
    carry >>= 64;
  }
  if (carry != 0) out[top++] = (uint64_t)carry;
  return top;
}

/* a >= b */
static int subtract_magnitudes(const uint64_t *a, int n, const uint64_t *b, int m, uint64_t *out) {
  uint64_t borrow = 0;
  for (int i = 0; i < n; i++) {
    wide take = (wide)(i < m ? b[i] : 0) + borrow;
    borrow = (wide)a[i] < take;
    out[i] = (uint64_t)((wide)a[i] - take);
  }
  return n;
}

/* At least the limbs that the sum with a number of this exponent needs. */
static int limbs_above(const big *a, int exponent) {
  return a->limbs + (a->exponent - exponent) / 64 + 2;
}

static void add_signed(big *r, const big *a, const big *b, int sign_b) {
  if (b->sign == 0) {
    gz_big_copy(r, a);
    return;
  }
  if (a->sign == 0) {
    gz_big_copy(r, b);
    r->sign = sign_b;
    return;
  }
  int exponent = a->exponent < b->exponent ? a->exponent : b->exponent;
  if (limbs_above(a, exponent) >= BIG_LIMBS || limbs_above(b, exponent) >= BIG_LIMBS) {
    overflow(r);
    return;
  }
  uint64_t x[BIG_LIMBS], y[BIG_LIMBS];
  int n = align(a, exponent, x);
  int m = align(b, exponent, y);
  int sign_a = a->sign;
  r->exponent = exponent;
  if (sign_a == sign_b) {
    r->sign = sign_a;
    r->limbs = add_magnitudes(x, n, y, m, r->limb);
  } else {
    int order = compare(x, n, y, m);
    r->sign = order >= 0 ? sign_a : sign_b;
    r->limbs = order >= 0 ? subtract_magnitudes(x, n, y, m, r->limb) : subtract_magnitudes(y, m, x, n, r->limb);
  }
  normalise(r);
}

void gz_big_add(big *r, const big *a, const big *b) {
  add_signed(r, a, b, b->sign);
}

void gz_big_sub(big *r, const big *a, const big *b) {
  add_signed(r, a, b, -b->sign);
}

void gz_big_mul(big *r, const big *a, const big *b) {
  if (a->sign == 0 || b->sign == 0) {
    r->sign = 0;
    r->limbs = 0;
    r->exponent = 0;
    return;
  }
  uint64_t out[BIG_LIMBS];
  int n = a->limbs, m = b->limbs;
  if (n + m > BIG_LIMBS) {
    overflow(r);
    return;
  }
  memset(out, 0, (size_t)(n + m) * sizeof out[0]);
  for (int i = 0; i < n; i++) {
    wide carry = 0;
    for (int j = 0; j < m; j++) {
      carry += (wide)a->limb[i] * b->limb[j] + out[i + j];
      out[i + j] = (uint64_t)carry;
      carry >>= 64;
    }
    out[i + m] = (uint64_t)carry;
  }
  r->sign = a->sign * b->sign;
  r->exponent = a->exponent + b->exponent;
  r->limbs = n + m;
  memcpy(r->limb, out, (size_t)(n + m) * sizeof out[0]);
  normalise(r);
}

/* |a| = m * 2^e with m in [2^63, 2^64) truncated to 64 bits, returned as a double (one rounding). */
static double leading(const big *a, int *exponent) {
  int top = a->limbs - 1;
  int shift = __builtin_clzll(a->limb[top]);
  uint64_t word = a->limb[top] << shift;
  if (shift != 0 && top > 0) word |= a->limb[top - 1] >> (64 - shift);
  *exponent = a->exponent + 64 * top - shift;
  return (double)word;
}

double gz_big_ratio(const big *a, const big *b) {
  if (a->sign == 0) return 0;
  int ea, eb;
  double x = leading(a, &ea);
  double y = leading(b, &eb);
  return ldexp((double)(a->sign * b->sign) * (x / y), ea - eb);
}

/* Sign of 2 |a| - (x + y) |b|. */
static int compare_with_middle(const big *a, const big *b, double x, double y) {
  big middle, t;
  gz_big_from_double(&middle, x);
  gz_big_from_double(&t, y);
  gz_big_add(&middle, &middle, &t);
  gz_big_mul(&middle, &middle, b);
  gz_big_copy(&t, a);
  t.exponent++;
  t.sign = a->sign != 0;
  middle.sign = middle.sign != 0;
  gz_big_sub(&t, &t, &middle);
  return t.sign;
}

static bool is_even(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (bits & 1) == 0;
}

double gz_big_ratio_nearest(const big *a, const big *b) {
  if (a->sign == 0) return 0;
  double x = fmin(fabs(gz_big_ratio(a, b)), DBL_MAX);
  while (x < DBL_MAX) {
    const double next = nextafter(x, INFINITY);
    const int above = compare_with_middle(a, b, x, next);
    if (above < 0 || (above == 0 && is_even(x))) break;
    x = next;
  }
  while (x > 0) {
    const double next = nextafter(x, 0);
    const int above = compare_with_middle(a, b, x, next);
    if (above > 0 || (above == 0 && is_even(x))) break;
    x = next;
  }
  return a->sign * b->sign < 0 ? -x : x;
}

double gz_big_root_ratio(const big *a, const big *b) {
  if (a->sign == 0) return 0;
  int ea, eb;
  double x = leading(a, &ea);
  double y = leading(b, &eb);
  int exponent = ea - eb, odd = exponent & 1;
  return ldexp(sqrt(x / y * (1 + odd)), (exponent - odd) / 2);
}

/* |a| / 2^k for the largest k that leaves an integer, as limbs. */
static int odd_part(const big *a, uint64_t *out) {
  const int shift = __builtin_ctzll(a->limb[0]);
  for (int i = 0; i < a->limbs; i++) {
    out[i] = a->limb[i] >> shift;
    if (shift != 0 && i + 1 < a->limbs) out[i] |= a->limb[i + 1] << (64 - shift);
  }
  return a->limbs - (out[a->limbs - 1] == 0);
}

/* From the lowest limb on, each by the inverse of the divisor's lowest, which is odd (T. Jebelean, "An algorithm for
 * exact division", 1993). */
void gz_big_divide(big *r, const big *a, const big *b) {
  if (a->sign == 0) {
    gz_big_copy(r, a);
    return;
  }
  if (b->sign == 0 || a->limbs < b->limbs - 1) { /* after an overflow */
    overflow(r);
    return;
  }
  uint64_t rest[BIG_LIMBS], divisor[BIG_LIMBS], inverse;
  const int sign = a->sign * b->sign, exponent = a->exponent - b->exponent - __builtin_ctzll(b->limb[0]);
  const int m = odd_part(b, divisor), n = a->limbs - m + 1;
  memcpy(rest, a->limb, (size_t)a->limbs * sizeof rest[0]);
  inverse = divisor[0];
  for (int i = 0; i < 6; i++) inverse *= 2 - divisor[0] * inverse;
  for (int i = 0; i < n; i++) {
    const uint64_t q = rest[i] * inverse;
    wide carry = 0;
    uint64_t borrow = 0;
    for (int j = 0; i + j < n; j++) {
      if (j < m) carry += (wide)q * divisor[j];
      const wide take = (wide)(uint64_t)carry + borrow;
      borrow = (wide)rest[i + j] < take;
      rest[i + j] = (uint64_t)((wide)rest[i + j] - take);
      carry >>= 64;
    }
    r->limb[i] = q;
  }
  r->sign = sign;
  r->exponent = exponent;
  r->limbs = n;
  normalise(r);
}
