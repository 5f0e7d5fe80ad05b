/* Vectors of dyadic numbers, and roots of their quotients, rounded. */
#ifndef GRAZE_SRC_EXACT_BIG_VECTOR_H
#define GRAZE_SRC_EXACT_BIG_VECTOR_H

#include "exact/big.h"

typedef struct big_vector {
  big x[3];
} big_vector;

/* The result is none of the arguments. */
void gz_big_cross(const big_vector *a, const big_vector *b, big_vector *r);
void gz_big_dot(const big_vector *a, const big_vector *b, big *r);

/* r = a - b; it may be either. */
void gz_big_between(const big_vector *b, const big_vector *a, big_vector *r);

/* Sign of the root of above / below minus x, for above, x >= 0 and below > 0. */
int gz_big_compare_root(const big *above, const big *below, const big *x);

/* The double nearest to the root of above / below, to even at a tie; infinity beyond them all. */
double gz_big_round_root(const big *above, const big *below);

#endif
