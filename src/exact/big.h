/* Dyadic numbers of any length: sign * integer * 2^exponent, exact under +, -, *. The last stage of every predicate,
 * for inputs at the ends of the exponent range and for tier T2; schoolbook arithmetic on 64-bit limbs.
 *
 * Capacity: a T2 coordinate is a sum of products of two doubles, bits 2^-2148 to 2^2050. A distance (near.h) multiplies
 * six of them, with a few sums bits 2^-12888 to 2^12312: 25,200 bits. Continuous collision (ccd.h) multiplies twenty
 * differences of doubles, of 2,100 bits each. Only limbs in use are touched. Who cannot promise that numbers stay
 * within that asks afterwards whether they did (gz_big_overflowed).
 */
#ifndef GRAZE_SRC_EXACT_BIG_H
#define GRAZE_SRC_EXACT_BIG_H

#include <stdbool.h>
#include <stdint.h>

enum { BIG_LIMBS = 704 };

typedef struct big {
  int sign;     /* -1, 0, 1 */
  int exponent; /* of two; of the lowest bit of limb[0] */
  int limbs;    /* in use; the top one is not zero; 0 for zero */
  uint64_t limb[BIG_LIMBS];
} big;

/* r may be a or b in all of these. */
void gz_big_from_double(big *r, double x);
void gz_big_add(big *r, const big *a, const big *b);
void gz_big_sub(big *r, const big *a, const big *b);
void gz_big_mul(big *r, const big *a, const big *b);
void gz_big_copy(big *r, const big *a);

/* Whether a number of this thread has been too long since the flag was cleared; it became 0 then. */
bool gz_big_overflowed(void);
void gz_big_clear_overflow(void);

/* a / b where that is such a number; b is not zero. */
void gz_big_divide(big *r, const big *a, const big *b);

/* Nearest-ish double of a / b, b not zero: relative error below 2^-51, or 2^-1074 absolutely; overflows to an
 * infinity. */
double gz_big_ratio(const big *a, const big *b);

/* The double nearest to a / b, of two nearest ones the one whose last bit is 0; |a / b| is at most the largest double.
 */
double gz_big_ratio_nearest(const big *a, const big *b);

/* The same as gz_big_ratio of the root of a / b, which is not negative. */
double gz_big_root_ratio(const big *a, const big *b);

#endif
