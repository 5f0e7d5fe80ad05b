/* Vectors of numbers of two doubles. */
#ifndef GRAZE_SRC_EXACT_WIDE_VECTOR_H
#define GRAZE_SRC_EXACT_WIDE_VECTOR_H

#include "exact/wide.h"

typedef struct wide_vector {
  wide x[3];
} wide_vector;

/* Exact. */
static inline wide_vector vector_between(const double from[3], const double to[3]) {
  wide_vector r;
  for (int k = 0; k < 3; k++) two_diff(to[k], from[k], &r.x[k].hi, &r.x[k].lo);
  return r;
}

static inline wide vector_dot(const wide_vector *a, const wide_vector *b) {
  wide sum = wide_mul(a->x[0], b->x[0]);
  for (int k = 1; k < 3; k++) sum = wide_add(sum, wide_mul(a->x[k], b->x[k]));
  return sum;
}

static inline wide_vector vector_cross(const wide_vector *a, const wide_vector *b) {
  wide_vector r;
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    r.x[k] = wide_sub(wide_mul(a->x[i], b->x[j]), wide_mul(a->x[j], b->x[i]));
  }
  return r;
}

#endif
