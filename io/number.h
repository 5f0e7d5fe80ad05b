/* number.h: decimal text to double and back; private to io. */
#ifndef GRAZE_IO_NUMBER_H
#define GRAZE_IO_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum { IO_POWER_LOWEST = -342, IO_POWER_HIGHEST = 341 };

/* Leading 128 bits of 5^q, first bit set, at [q - IO_POWER_LOWEST]: cut off for q >= 0, rounded up for q < 0. */
typedef struct io_power {
  uint64_t high;
  uint64_t low;
} io_power;
extern const io_power gz_io_powers_of_five[IO_POWER_HIGHEST - IO_POWER_LOWEST + 1];

/* floor(log2(5^q)) for the q of the table; the script that writes the table checks it. The bias keeps the shifted
 * number positive. */
static inline int io_log2_of_power(int q) {
  return (int)(((int64_t)q * 1217359 + ((int64_t)1024 << 19)) >> 19) - 1024;
}

/* w * 2^64-scaled product with 5^q: the 192-bit product of w (first bit set) and the table's entry. */
typedef struct io_product {
  unsigned __int128 high; /* bits 64..191 */
  uint64_t low;
} io_product;

static inline io_product io_multiply_power(uint64_t w, int q) {
  io_power power = gz_io_powers_of_five[q - IO_POWER_LOWEST];
  unsigned __int128 low = (unsigned __int128)w * power.low;
  unsigned __int128 high = (unsigned __int128)w * power.high + (uint64_t)(low >> 64);
  return (io_product){high, (uint64_t)low};
}

/* Nearest double of w * 10^q as bits (sign 0). False when the first 128 bits of the product can't tell: then `bits`
 * is the double below, and the number lies between it and its upper neighbour. */
bool gz_io_decimal_to_bits(uint64_t w, int64_t q, uint64_t *bits);

/* Decides between the double `lower` (bits, positive or zero) and its upper neighbour for the decimal number whose
 * significant digits are the digits in [first, last) (a point among them is skipped), the last of them counting
 * 10^exponent. Returns the bits of the nearer one, ties to even. The number must lie between the two. */
uint64_t gz_io_round_decimal(const char *first, const char *last, int64_t exponent, uint64_t lower);

#endif
