/* Roots of polynomials of degree three at most, and the signs of others there: all exact, for continuous collision.
 *
 * A root is known by its number among the real roots, never by an interval that would have to be refined: Sturm's chain
 * counts the roots up to a point, and a point is a ratio or a root of a quadratic. So every number has a bound on its
 * length, and a decision one on its time.
 *
 * Lengths, as multiples of that of one factor, where coefficients of the cubic are sums of products of three factors
 * and those of what is asked at its roots of two: the links of the chain have 3, 3, 6 and 15; the simple root beside a
 * double one is a ratio of two numbers of 9, and a quadratic there 2 + 2 * 9 = 20, the most. At a root of a quadratic
 * the cubic comes to 18, the last link to 17. With differences of doubles, of 2,100 bits, that is 42,000 bits and some
 * for the sums, which BIG_LIMBS is made for.
 */
#ifndef GRAZE_SRC_EXACT_ROOTS_H
#define GRAZE_SRC_EXACT_ROOTS_H

#include <stdbool.h>

#include "exact/big.h"

/* c[0] + c[1] t + ... c[degree] t^degree, the last not zero; the polynomial zero has degree -1. */
enum { POLY_DEGREE = 6 };
typedef struct poly {
  int degree;
  big c[POLY_DEGREE + 1];
} poly;

/* from + t (to - from) */
void gz_poly_line(poly *r, double from, double to);

/* r may be a or b. */
void gz_poly_add(poly *r, const poly *a, const poly *b);
void gz_poly_sub(poly *r, const poly *a, const poly *b);
void gz_poly_mul(poly *r, const poly *a, const poly *b);

/* r = f' */
void gz_poly_derive(poly *r, const poly *f);
void gz_poly_copy(poly *r, const poly *f);

/* The distinct real roots of a polynomial that are in [0, 1], in ascending order. Some hundred kilobytes. */
typedef struct unit_roots {
  int count;
  bool rational;          /* where a root is a multiple one, all are ratios; else `first` and the chain tell them */
  big above[2], below[2]; /* of the ratios; below > 0 */
  int first, later;       /* real roots that are less than 0, and greater than 1 */
  int links;
  poly chain[4]; /* Sturm's, each link times something positive; the leading coefficient of the first is positive */
  poly work[2];
} unit_roots;

/* f is not zero and may be changed. */
void gz_roots_find(unit_roots *roots, poly *f);

/* The sign of a g of degree two at most at root i, 0 <= i < count. */
int gz_roots_sign(unit_roots *roots, int i, const poly *g);

/* The largest double not above root i and the smallest not below it. */
void gz_roots_bracket(unit_roots *roots, int i, double bracket[2]);

#endif
