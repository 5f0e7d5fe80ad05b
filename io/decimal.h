/* decimal.h: exact rounding of long decimal numbers; private to io. */
#ifndef GRAZE_IO_DECIMAL_H
#define GRAZE_IO_DECIMAL_H

#include <stdint.h>

/* graze_parse_double; the number's last digit counts 10^exponent. */
const char *gz_io_parse_decimal(const char *p, const char *end, double *value, int64_t *exponent);

/* Decides between the double `lower` (bits, positive or zero) and its upper neighbour for the decimal number whose
 * significant digits are the digits in [first, last) (a point among them is skipped), the last of them counting
 * 10^exponent. Returns the bits of the nearer one, ties to even. The number must lie between the two. */
uint64_t gz_io_round_decimal(const char *first, const char *last, int64_t exponent, uint64_t lower);

#endif
