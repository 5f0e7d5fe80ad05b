/* format_number.c: the shortest decimal text that reads back to the same double.
 *
 * Method: the number is scaled by a power of ten to an integer of 17 digits and a 64-bit fraction (one 64 x 128 bit
 * multiplication, error below 2^-60 of the last digit). It is rounded to 15, then 16, then 17 digits, and the first
 * that the reader of number.c turns into the same bits is taken; trailing zeros go. That is shortest: a decimal of up
 * to 15 digits is always the 15-digit rounding of its double, and among the decimals of 16 digits the nearest reads
 * back if any does, except above a power of two, where the gap below is half as wide and both neighbours are tried.
 * Subnormal numbers carry fewer digits and are tried from one digit on.
 */
#include <string.h>

#include "graze/io.h"
#include "number.h"

enum { DIGITS = 17 };

typedef struct scaled {
  uint64_t digits;   /* 17 of them */
  uint64_t fraction; /* of 2^64 */
  int exponent;      /* of the first digit */
} scaled;

static const uint64_t powers_of_ten[] = {1u,
                                         10u,
                                         100u,
                                         1000u,
                                         10000u,
                                         100000u,
                                         1000000u,
                                         10000000u,
                                         100000000u,
                                         1000000000u,
                                         10000000000u,
                                         100000000000u,
                                         1000000000000u,
                                         10000000000000u,
                                         100000000000000u,
                                         1000000000000000u,
                                         10000000000000000u,
                                         100000000000000000u};

/* mantissa * 2^exponent, 10^16 <= result.digits < 10^17. */
static scaled scale(uint64_t mantissa, int exponent) {
  int shift = __builtin_clzll(mantissa);
  exponent -= shift;
  scaled s;
  /* floor(log10(2^(63 + exponent))), at most one less than the number's own; the bias keeps the sum positive */
  s.exponent = (int)((((int64_t)63 + exponent) * 1292913986 + ((int64_t)512 << 32)) >> 32) - 512;
  for (;; s.exponent++) {
    int q = DIGITS - 1 - s.exponent;
    io_product product = io_multiply_power(mantissa << shift, q);
    int right = -(exponent + q + io_log2_of_power(q) - 127 + 64); /* of product.high; 64..127 */
    s.digits = (uint64_t)(product.high >> right);
    s.fraction = (uint64_t)(product.high >> (right - 64));
    if (s.digits < powers_of_ten[DIGITS]) return s;
  }
}

/* Rounds to `count` digits, to the nearest or, on request, to the other side. */
static uint64_t rounded(const scaled *s, int count, bool other_side) {
  uint64_t unit = powers_of_ten[DIGITS - count];
  uint64_t head = s->digits / unit;
  uint64_t rest = s->digits % unit;
  bool up = unit == 1 ? s->fraction >> 63 : rest > unit / 2 || (rest == unit / 2 && (s->fraction != 0 || (head & 1)));
  return head + (up != other_side);
}

static bool reads_back(uint64_t w, int exponent, uint64_t bits) {
  uint64_t back;
  return gz_io_decimal_to_bits(w, exponent, &back) && back == bits;
}

/* The shortest digits for the positive finite number `bits`; `exponent` is that of the last digit. */
static uint64_t shortest(uint64_t bits, int *exponent) {
  int field = (int)(bits >> 52);
  uint64_t fraction = bits & 0xFFFFFFFFFFFFFu;
  scaled s = scale(field == 0 ? fraction : fraction | (uint64_t)1 << 52, (field == 0 ? 1 : field) - 1075);
  bool uneven = fraction == 0 && field > 1;
  for (int count = field == 0 ? 1 : 15; count < DIGITS; count++) {
    *exponent = s.exponent - count + 1;
    uint64_t w = rounded(&s, count, false);
    if (reads_back(w, *exponent, bits)) return w;
    if (!uneven) continue;
    w = rounded(&s, count, true);
    if (reads_back(w, *exponent, bits)) return w;
  }
  *exponent = s.exponent - DIGITS + 1;
  return rounded(&s, DIGITS, false);
}

static size_t put_zeros(char *out, int count) {
  memset(out, '0', (size_t)count);
  return (size_t)count;
}

/* digits with a point behind the first, and e-notation. */
static size_t put_scientific(char *out, const char *digits, int count, int exponent) {
  size_t n = 0;
  out[n++] = digits[0];
  if (count > 1) {
    out[n++] = '.';
    memcpy(out + n, digits + 1, (size_t)count - 1);
    n += (size_t)count - 1;
  }
  out[n++] = 'e';
  out[n++] = exponent < 0 ? '-' : '+';
  unsigned value = (unsigned)(exponent < 0 ? -exponent : exponent);
  if (value >= 100) out[n++] = (char)('0' + value / 100);
  out[n++] = (char)('0' + value / 10 % 10);
  out[n++] = (char)('0' + value % 10);
  return n;
}

/* `first` is the exponent of the first digit, -5 .. 16. */
static size_t put_plain(char *out, const char *digits, int count, int first) {
  size_t n = 0;
  if (first < 0) {
    out[n++] = '0';
    out[n++] = '.';
    n += put_zeros(out + n, -first - 1);
  }
  int whole = first < 0 ? 0 : first + 1;
  int before = whole < count ? whole : count;
  memcpy(out + n, digits, (size_t)before);
  n += (size_t)before;
  n += put_zeros(out + n, whole - before);
  if (before < count) {
    if (whole > 0) out[n++] = '.';
    memcpy(out + n, digits + before, (size_t)(count - before));
    n += (size_t)(count - before);
  }
  return n;
}

static size_t put_word(char *out, const char *word) {
  strcpy(out, word);
  return strlen(word);
}

size_t graze_format_double(double value, char text[32]) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  size_t n = 0;
  if (bits >> 63) text[n++] = '-';
  bits &= ~((uint64_t)1 << 63);
  if (bits >= (uint64_t)0x7FF << 52) {
    return bits == (uint64_t)0x7FF << 52 ? n + put_word(text + n, "inf") : put_word(text, "nan");
  }
  if (bits == 0) return n + put_word(text + n, "0");
  int exponent;
  uint64_t w = shortest(bits, &exponent);
  while (w % 10 == 0) w /= 10, exponent++;
  char digits[20];
  int count = 0;
  for (uint64_t rest = w; rest > 0; rest /= 10) count++;
  for (int i = count - 1; i >= 0; i--, w /= 10) digits[i] = (char)('0' + w % 10);
  int first = exponent + count - 1;
  n += first >= -5 && first < DIGITS ? put_plain(text + n, digits, count, first)
                                     : put_scientific(text + n, digits, count, first);
  text[n] = 0;
  return n;
}
