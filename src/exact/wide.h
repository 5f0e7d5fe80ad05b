/* Numbers of two doubles, hi + lo, with |lo| at most half a unit in the last place of hi. Each operation is off by less
 * than 2^-102 of its result, as long as nothing overflows and what underflows does not matter.
 *
 * M. Joldes, J.-M. Muller, V. Popescu, "Tight and Rigorous Error Bounds for Basic Building Blocks of Double-Word
 * Arithmetic", 2017.
 */
#ifndef GRAZE_SRC_EXACT_WIDE_H
#define GRAZE_SRC_EXACT_WIDE_H

#include <math.h>
#include <stdbool.h>

#include "exact/expansion.h"

typedef struct wide {
  double hi, lo;
} wide;

/* hi + lo where |hi| >= |lo|. */
static inline wide wide_join(double hi, double lo) {
  double s = hi + lo;
  return (wide){s, lo - (s - hi)};
}

static inline wide wide_add(wide a, wide b) {
  double s, e, t, f;
  two_sum(a.hi, b.hi, &s, &e);
  two_sum(a.lo, b.lo, &t, &f);
  wide r = wide_join(s, e + t);
  return wide_join(r.hi, r.lo + f);
}

static inline wide wide_sub(wide a, wide b) {
  return wide_add(a, (wide){-b.hi, -b.lo});
}

static inline wide wide_mul(wide a, wide b) {
  double p, e;
  two_prod(a.hi, b.hi, &p, &e);
  return wide_join(p, e + (a.hi * b.lo + a.lo * b.hi));
}

/* Off by less than 2^-100. */
static inline wide wide_div(wide a, wide b) {
  double q = a.hi / b.hi;
  wide rest = wide_sub(a, wide_mul(b, (wide){q, 0}));
  return wide_join(q, rest.hi / b.hi);
}

/* Of what is above 0; off by less than 2^-100. */
static inline wide wide_sqrt(wide a) {
  double s = sqrt(a.hi), p, e;
  two_prod(s, s, &p, &e);
  wide rest = wide_sub(a, (wide){p, e});
  return wide_join(s, rest.hi / (2 * s));
}

static inline bool wide_less(wide a, wide b) {
  return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}

#endif
