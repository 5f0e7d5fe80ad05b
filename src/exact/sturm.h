/* Real roots of polynomials of degree six at most, in (0, 1), and the signs of others there: exact, for separations.
 *
 * Roots are parted by Descartes' rule of signs or, where that does not tell, by Sturm's chain. Whether another
 * polynomial vanishes at a root is told by their greatest common divisor, and its sign otherwise by halving the root's
 * interval until it has none of the other's roots. Chains are of subresultants, whose lengths stay linear: with B bits
 * a factor and polynomials of 6 and 4 factors no number in a chain, or on the way to it, is longer than 150 B; roots of
 * the two, if they are not the same, differ by more than 2^-(50 B). So numbers have less than 350 B bits, and B up to
 * 128 always fits a `big`. Most questions need no chain, and are answered for any B; others overflow (big.h), and then
 * what is returned means nothing.
 */
#ifndef GRAZE_SRC_EXACT_STURM_H
#define GRAZE_SRC_EXACT_STURM_H

#include "exact/roots.h"

/* A chain of signed remainders; the last is the greatest common divisor, times something. */
typedef struct sturm_chain {
  int links;
  poly link[POLY_DEGREE + 2];
} sturm_chain;

/* A root, alone between two dyadic numbers at which f does not vanish; or known, when they are the same. */
typedef struct lone_root {
  big low, high;
} lone_root;

typedef struct root_finder {
  poly f;            /* without its roots at 0 and 1 */
  bool has_one;      /* 1 is a root */
  bool chained;      /* `own` is made */
  sturm_chain own;   /* of f and its derivative */
  sturm_chain other; /* of f and what is asked */
  sturm_chain last;  /* of their divisor and its derivative */
  poly work[3];
  lone_root found[POLY_DEGREE];
  int count; /* in (0, 1), ascending */
} root_finder;

/* f is not zero. */
void gz_sturm_find(root_finder *finder, const poly *f);

/* The sign of g, of degree four at most, at root i; the root's interval may become smaller. */
int gz_sturm_sign(root_finder *finder, int i, const poly *g);

/* As gz_roots_bracket. */
void gz_sturm_bracket(root_finder *finder, int i, double bracket[2]);

int gz_poly_sign_at(const poly *f, const big *x);

#endif
