/* decimal.c: the last word on rounding a decimal number, in exact integers.
 *
 * The number D * 10^E is compared with the midpoint h * 2^t of two neighbouring doubles by bringing both to integers:
 * powers of five and two with a negative exponent move to the other side, and common powers of two are dropped. A
 * midpoint has fewer than 800 significant digits, so of a longer D the first 800 digits and "is there more" suffice.
 * Both sides are nearly equal, so neither has more than about 2800 bits.
 */
#include "decimal.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

enum { LIMBS = 64, MOST_DIGITS = 800 };

typedef struct big {
  uint64_t limb[LIMBS]; /* least significant first */
  int count;
} big;

static void big_multiply_add(big *b, uint64_t factor, uint64_t add) {
  unsigned __int128 carry = add;
  for (int i = 0; i < b->count; i++) {
    carry += (unsigned __int128)b->limb[i] * factor;
    b->limb[i] = (uint64_t)carry;
    carry >>= 64;
  }
  if (carry == 0) return;
  assert(b->count < LIMBS);
  b->limb[b->count++] = (uint64_t)carry;
}

static void big_multiply_power_of_five(big *b, int64_t power) {
  const uint64_t five27 = 7450580596923828125u; /* 5^27, the largest that fits */
  for (; power >= 27; power -= 27) big_multiply_add(b, five27, 0);
  for (; power > 0; power--) big_multiply_add(b, 5, 0);
}

static void big_shift(big *b, int64_t bits) {
  int limbs = (int)(bits / 64);
  int rest = (int)(bits % 64);
  if (rest > 0) big_multiply_add(b, (uint64_t)1 << rest, 0);
  if (b->count == 0 || limbs == 0) return;
  assert(b->count + limbs <= LIMBS);
  memmove(b->limb + limbs, b->limb, (size_t)b->count * sizeof b->limb[0]);
  memset(b->limb, 0, (size_t)limbs * sizeof b->limb[0]);
  b->count += limbs;
}

static int big_compare(const big *a, const big *b) {
  if (a->count != b->count) return a->count < b->count ? -1 : 1;
  for (int i = a->count - 1; i >= 0; i--) {
    if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
  }
  return 0;
}

/* Up to MOST_DIGITS digits; `exponent` becomes that of the last one taken. Returns whether a digit other than 0 was
 * left out. */
static bool read_digits(const char *first, const char *last, big *b, int64_t *exponent) {
  int taken = 0;
  bool more = false;
  for (const char *p = first; p < last; p++) {
    if (*p == '.') continue;
    if (taken < MOST_DIGITS) {
      big_multiply_add(b, 10, (uint64_t)(*p - '0'));
      taken++;
    } else {
      more |= *p != '0';
      ++*exponent;
    }
  }
  return more;
}

uint64_t gz_io_round_decimal(const char *first, const char *last, int64_t exponent, uint64_t lower) {
  big left = {0}, right = {0};
  bool more = read_digits(first, last, &left, &exponent);
  /* midpoint above `lower`: h * 2^t */
  uint64_t field = lower >> 52;
  uint64_t mantissa = (lower & 0xFFFFFFFFFFFFFu) | (uint64_t)(field != 0) << 52;
  int64_t t = (field == 0 ? 1 : (int64_t)field) - 1076;
  big_multiply_add(&right, 1, 2 * mantissa + 1);

  big_multiply_power_of_five(&left, exponent);
  big_multiply_power_of_five(&right, -exponent);
  int64_t twos = exponent - t; /* powers of two that the left side has more than the right one */
  if (twos > 0) big_shift(&left, twos);
  if (twos < 0) big_shift(&right, -twos);
  int order = big_compare(&left, &right);
  if (order == 0 && more) order = 1;
  return lower + (order > 0 || (order == 0 && (lower & 1)));
}
