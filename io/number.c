/* number.c: decimal text to the nearest double.
 *
 * Method: the first 19 significant digits make a 64-bit integer w, the number is w * 10^q. One multiplication of w by
 * the leading 128 bits of 5^q gives the leading 128 bits of the result, off by less than one unit of the last of them
 * (the idea of Lemire, "Number parsing at a gigabyte per second", 2021). That decides the rounding except when the
 * number is within 2^-73 of a tie, or when further digits matter: then decimal.c compares exact integers. Only integer
 * arithmetic is used, so neither the locale nor the rounding mode of the caller plays a part.
 *
 * Why the table is cut off for q >= 0 and rounded up for q < 0: ties are possible only for -27 <= q <= 23 (w has 64
 * bits and 5^28 more). For 0 <= q <= 55 the entry is exact. For -27 <= q < 0 the product is too large by less than
 * two units of its 128th bit (one before it is shifted). So a number that is exactly a tie shows less than two units
 * behind the tie, and one that is not is at least 5^-27 > 2^-63 of the tie's last bit away from it, which is more than
 * 2^10 units: less than two units mean a tie, and anything else means no tie.
 */
#include "number.h"

#include <string.h>

#include "graze/io.h"

const io_power gz_io_powers_of_five[IO_POWER_HIGHEST - IO_POWER_LOWEST + 1] = {
#include "powers_of_five.inc"
};

#define INFINITY_BITS 0x7FF0000000000000u

enum { MOST_DIGITS = 19, LAST_EXACT_POWER = 55, FIRST_TIE_POWER = -27 };

/* Can the error of the product, less than two units, move the number across the value that `rest` counts from, or to
 * the next? */
static bool is_uncertain(int q, unsigned __int128 rest, unsigned __int128 mask) {
  if (q > LAST_EXACT_POWER) return rest >= mask - 1;
  return q < FIRST_TIE_POWER && rest <= 1;
}

bool gz_io_decimal_to_bits(uint64_t w, int64_t q64, uint64_t *bits) {
  *bits = 0;
  if (w == 0 || q64 < IO_POWER_LOWEST) return true;
  *bits = INFINITY_BITS;
  if (q64 > 308) return true;
  int q = (int)q64;
  int shift = __builtin_clzll(w);
  io_product product = io_multiply_power(w << shift, q);
  int exponent = 64 + io_log2_of_power(q) - shift + q; /* of the product's first bit, if it is set */
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

/* What the text of a number says, before it is converted. */
typedef struct number_text {
  const char *digits; /* first digit or point */
  const char *last;   /* behind the last digit or point */
  uint64_t w;         /* all digits, modulo 2^64 */
  int64_t count;      /* digits */
  int64_t exponent;   /* of the last digit */
  bool negative;
} number_text;

static inline bool is_digit(char c) {
  return (unsigned char)(c - '0') < 10;
}

/* Eight characters at once: adds them to `w` when all are digits. */
static inline bool take_eight(const char *p, uint64_t *w) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  uint64_t v;
  memcpy(&v, p, 8);
  uint64_t d = v - 0x3030303030303030u;
  if (((v + 0x4646464646464646u) | d) & 0x8080808080808080u) return false;
  d = d * 10 + (d >> 8); /* pairs in bytes 0, 2, 4, 6 */
  uint64_t even = (d & 0x000000FF000000FFu) * (100 + (1000000ull << 32));
  uint64_t odd = (d >> 16 & 0x000000FF000000FFu) * (1 + (10000ull << 32));
  *w = *w * 100000000 + ((even + odd) >> 32);
  return true;
#else
  (void)p;
  (void)w;
  return false;
#endif
}

static inline const char *take_digits(const char *p, const char *end, uint64_t *w) {
  while (end - p >= 8 && take_eight(p, w)) p += 8;
  while (p < end && is_digit(*p)) *w = *w * 10 + (uint64_t)(*p++ - '0');
  return p;
}

/* The exponent after 'e', if there is one; `p` stands on the 'e'. */
static const char *take_exponent(const char *p, const char *end, int64_t *exponent) {
  const char *q = p + 1;
  bool negative = q < end && *q == '-';
  if (q < end && (*q == '-' || *q == '+')) q++;
  if (q == end || !is_digit(*q)) return p;
  int64_t value = 0;
  for (; q < end && is_digit(*q); q++) {
    if (value < INT64_C(100000000000000000)) value = value * 10 + (*q - '0');
  }
  *exponent += negative ? -value : value;
  return q;
}

/* More digits than w holds: keeps the first 19 significant ones and decides by the rest where it matters. */
static uint64_t convert_long(const number_text *text) {
  const char *p = text->digits;
  while (p < text->last && (*p == '0' || *p == '.')) p++;
  const char *first = p;
  int64_t significant = text->last - p;
  uint64_t w = 0;
  int kept = 0;
  for (; p < text->last && kept < MOST_DIGITS; p++) {
    if (*p != '.') w = w * 10 + (uint64_t)(*p - '0'), kept++;
  }
  significant -= memchr(first, '.', (size_t)(text->last - first)) != NULL;
  bool more = false;
  for (const char *rest = p; rest < text->last && !more; rest++) more = *rest != '0' && *rest != '.';
  uint64_t low, high;
  int64_t exponent = text->exponent + (significant - kept);
  bool certain = gz_io_decimal_to_bits(w, exponent, &low);
  if (certain && (!more || (gz_io_decimal_to_bits(w + 1, exponent, &high) && high == low))) return low;
  return gz_io_round_decimal(first, text->last, text->exponent, low);
}

static uint64_t convert_short(const number_text *text) {
  uint64_t bits;
  if (gz_io_decimal_to_bits(text->w, text->exponent, &bits)) return bits;
  const char *first = text->digits;
  while (first < text->last && (*first == '0' || *first == '.')) first++;
  return gz_io_round_decimal(first, text->last, text->exponent, bits);
}

const char *graze_parse_double(const char *p, const char *end, double *value) {
  number_text text = {0};
  text.negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) p++;
  text.digits = p;
  p = take_digits(p, end, &text.w);
  text.count = p - text.digits;
  if (p < end && *p == '.') {
    const char *fraction = ++p;
    p = take_digits(p, end, &text.w);
    text.exponent = fraction - p;
    text.count += p - fraction;
  }
  if (text.count == 0) return NULL;
  text.last = p;
  if (p < end && (*p | 32) == 'e') p = take_exponent(p, end, &text.exponent);
  uint64_t bits = text.count <= MOST_DIGITS ? convert_short(&text) : convert_long(&text);
  bits |= (uint64_t)text.negative << 63;
  memcpy(value, &bits, sizeof *value);
  return p;
}
