/* Symmetric positive definite matrices of 6 x 6 blocks, one row of blocks for each body of an island: factored whole
 * where that is cheap, and otherwise without fill, as the preconditioner of conjugate gradients. */
#ifndef GRAZE_SRC_RIGID_FACTOR_H
#define GRAZE_SRC_RIGID_FACTOR_H

#include "base/memory.h"

typedef double block[36]; /* row-major */

/* Rows and columns are in the order of elimination. */
typedef struct factor_pattern {
  uint32_t count;   /* of bodies */
  uint64_t entries; /* blocks below the diagonal */
  uint32_t *place;  /* of each body in the order */
  uint64_t *first;  /* count + 1: entries of each column, by row */
  uint32_t *rows;
  bool whole; /* no fill is left out */
} factor_pattern;

/* The pattern for bodies and the pairs of them that are coupled (`pairs`, the lower first, any order, repeats allowed).
 * It lives in `memory`. False: memory refused. */
bool gz_factor_plan(const graze_context *context, uint32_t count, const uint32_t (*pairs)[2], uint64_t pair_count,
                    buffer *memory, factor_pattern *pattern);

/* The entry of row `row` in column `column`, which must be there. */
uint64_t gz_factor_find(const factor_pattern *p, uint32_t row, uint32_t column);

/* L L^T = the matrix of `diagonal` and `entries`, which L replaces. False: it is not positive definite. */
bool gz_factor_make(const factor_pattern *p, block *diagonal, block *entries);

/* x = (L L^T)^-1 x, in the order of elimination. */
void gz_factor_solve(const factor_pattern *p, const block *diagonal, const block *entries, double *x);

/* y = H x */
void gz_factor_multiply(const factor_pattern *p, const block *diagonal, const block *entries, const double *x,
                        double *y);

#endif
