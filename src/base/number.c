/* Decimal numbers and doubles, with the leading 128 bits of powers of five.
 *
 * To a double: one multiplication of w by the leading 128 bits of 5^q gives the leading 128 bits of the result, off by
 * less than one unit of the last of them (the idea of Lemire, "Number parsing at a gigabyte per second", 2021). That
 * decides the rounding except when the number is within 2^-73 of a tie.
 *
 * Why the table is cut off for q >= 0 and rounded up for q < 0: ties are possible only for -27 <= q <= 23 (w has 64
 * bits and 5^28 more). For 0 <= q <= 55 the entry is exact. For -27 <= q < 0 the product is too large by less than
 * two units of its 128th bit (one before it is shifted). So a number that is exactly a tie shows less than two units
 * behind the tie, and one that is not is at least 5^-27 > 2^-63 of the tie's last bit away from it, which is more than
 * 2^10 units: less than two units mean a tie, and anything else means no tie.
 *
 * To the shortest decimal: the number is scaled by a power of ten to an integer of 17 digits and a 64-bit fraction (one
 * 64 x 128 bit multiplication, error below 2^-60 of the last digit). It is rounded to 15, then 16, then 17 digits, and
 * the first that gz_decimal_to_bits turns into the same bits is taken; trailing zeros go. That is shortest: a decimal
 * of up to 15 digits is always the 15-digit rounding of its double, and among the decimals of 16 digits the nearest
 * reads back if any does, except above a power of two, where the gap below is half as wide and both neighbours are
 * tried. Subnormal numbers carry fewer digits and are tried from one digit on.
 */
#include "base/number.h"

#include <string.h>

enum { POWER_LOWEST = -342, POWER_HIGHEST = 341 };

/* Leading 128 bits of 5^q, first bit set, at [q - POWER_LOWEST]: cut off for q >= 0, rounded up for q < 0. */
typedef struct power_of_five {
  uint64_t high;
  uint64_t low;
} power_of_five;
static const power_of_five powers_of_five[POWER_HIGHEST - POWER_LOWEST + 1] = {
#include "powers_of_five.inc"
};

/* floor(log2(5^q)) for the q of the table; the script that writes the table checks it. The bias keeps the shifted
 * number positive. */
static int log2_of_power(int q) {
  return (int)(((int64_t)q * 1217359 + ((int64_t)1024 << 19)) >> 19) - 1024;
}

/* w * 2^64-scaled product with 5^q: the 192-bit product of w (first bit set) and the table's entry. */
typedef struct power_product {
  unsigned __int128 high; /* bits 64..191 */
  uint64_t low;
} power_product;

static power_product multiply_power(uint64_t w, int q) {
  power_of_five power = powers_of_five[q - POWER_LOWEST];
  unsigned __int128 low = (unsigned __int128)w * power.low;
  unsigned __int128 high = (unsigned __int128)w * power.high + (uint64_t)(low >> 64);
  return (power_product){high, (uint64_t)low};
}

#define INFINITY_BITS 0x7FF0000000000000u

enum { LAST_EXACT_POWER = 55, FIRST_TIE_POWER = -27 };

/* Can the error of the product, less than two units, move the number across the value that `rest` counts from, or to
 * the next? */
static bool is_uncertain(int q, unsigned __int128 rest, unsigned __int128 mask) {
  if (q > LAST_EXACT_POWER) return rest >= mask - 1;
  return q < FIRST_TIE_POWER && rest <= 1;
}

bool gz_decimal_to_bits(uint64_t w, int64_t q64, uint64_t *bits) {
  *bits = 0;
  if (w == 0 || q64 < POWER_LOWEST) return true;
  *bits = INFINITY_BITS;
  if (q64 > 308) return true;
  int q = (int)q64;
  int shift = __builtin_clzll(w);
  power_product product = multiply_power(w << shift, q);
  int exponent = 64 + log2_of_power(q) - shift + q; /* of the product's first bit, if it is set */
  if (!(product.high >> 127)) {
    product.high = product.high << 1 | product.low >> 63;
    product.low <<= 1;
    exponent--;
  }
  if (exponent > 1023) return true;
  int kept = exponent >= -1022 ? 54 : 54 + 1022 + exponent; /* mantissa and one bit for rounding */
  *bits = 0;
  if (kept < 0) return true;
  unsigned __int128 mask = ~(unsigned __int128)0 >> kept;
  unsigned __int128 rest = product.high & mask;
  uint64_t mantissa = kept == 0 ? 0 : (uint64_t)(product.high >> (128 - kept));
  uint64_t base = exponent >= -1022 ? (uint64_t)(exponent + 1022) << 52 : 0;
  if (is_uncertain(q, rest, mask)) {
    if (rest <= 1) mantissa--; /* the product is too large: the number may lie below */
    *bits = base + (mantissa >> 1);
    return false;
  }
  bool sticky = q >= 0 ? rest != 0 || product.low != 0 : rest > 1;
  bool up = (mantissa & 1) && (sticky || (mantissa & 2));
  *bits = base + (mantissa >> 1) + up; /* a carry runs into the exponent, as it should */
  return true;
}

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
    power_product product = multiply_power(mantissa << shift, q);
    int right = -(exponent + q + log2_of_power(q) - 127 + 64); /* of product.high; 64..127 */
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
  return gz_decimal_to_bits(w, exponent, &back) && back == bits;
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

size_t gz_format_double(double value, char text[32]) {
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
