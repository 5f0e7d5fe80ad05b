/* Doubles and decimal numbers, in integers alone: neither the locale nor the rounding mode plays a part. */
#ifndef GRAZE_SRC_BASE_NUMBER_H
#define GRAZE_SRC_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Nearest double of w * 10^q as bits (sign 0). False when the first 128 bits of the product can't tell: then `bits`
 * is the double below, and the number lies between it and its upper neighbour. */
bool gz_decimal_to_bits(uint64_t w, int64_t q, uint64_t *bits);

/* What graze_format_double in graze/io.h says. */
size_t gz_format_double(double value, char text[32]);

#endif
