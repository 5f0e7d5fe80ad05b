/* number.c: decimal text to the nearest double.
 *
 * Method: the first 19 significant digits make a 64-bit integer w, the number is w * 10^q, and base/number.h rounds it
 * unless it is within 2^-73 of a tie. Then, or when further digits matter, decimal.c compares exact integers. Only
 * integer arithmetic is used, so neither the locale nor the rounding mode of the caller plays a part.
 */
#include "base/number.h"

#include <string.h>

#include "decimal.h"
#include "graze/io.h"

enum { MOST_DIGITS = 19 };

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
  bool certain = gz_decimal_to_bits(w, exponent, &low);
  if (certain && (!more || (gz_decimal_to_bits(w + 1, exponent, &high) && high == low))) return low;
  return gz_io_round_decimal(first, text->last, text->exponent, low);
}

static uint64_t convert_short(const number_text *text) {
  uint64_t bits;
  if (gz_decimal_to_bits(text->w, text->exponent, &bits)) return bits;
  const char *first = text->digits;
  while (first < text->last && (*first == '0' || *first == '.')) first++;
  return gz_io_round_decimal(first, text->last, text->exponent, bits);
}

const char *gz_io_parse_decimal(const char *p, const char *end, double *value, int64_t *exponent) {
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
  *exponent = text.exponent;
  return p;
}

const char *graze_parse_double(const char *p, const char *end, double *value) {
  int64_t unused;
  return gz_io_parse_decimal(p, end, value, &unused);
}

size_t graze_format_double(double value, char text[32]) {
  return gz_format_double(value, text);
}
