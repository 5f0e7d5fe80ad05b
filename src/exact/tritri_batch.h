/* Many triangle pairs at once, structure of arrays.
 *
 * Three stages, each for what the one before left open: (1) double arithmetic with an error bound, in SIMD; (2) the
 * lattice stage, in SIMD, exact; (3) gz_tritri_scalar. All give the bytes of gz_tritri_scalar.
 */
#ifndef GRAZE_SRC_EXACT_TRITRI_BATCH_H
#define GRAZE_SRC_EXACT_TRITRI_BATCH_H

#include <math.h>
#include <stdbool.h>

#include "base/cpu.h"
#include "graze/collide.h"

enum { TRITRI_BLOCK = 64 };

/* Up to TRITRI_BLOCK pairs: a[k][i] is coordinate k of the first triangle of pair i. Places from the count up to the
 * next multiple of 8 must hold some finite numbers. */
typedef struct tritri_block {
  _Alignas(64) double a[9][TRITRI_BLOCK];
  _Alignas(64) double b[9][TRITRI_BLOCK];
} tritri_block;

/* Fills the places behind `count` pairs. */
static inline void tritri_block_fill(tritri_block *block, unsigned count) {
  for (int k = 0; k < 9; k++) {
    for (unsigned i = count; i < (count + 7) / 8 * 8; i++) {
      block->a[k][i] = block->a[k][0];
      block->b[k][i] = block->b[k][0];
    }
  }
}

/* A decision in one byte: bits 0-1 graze_kind, bit 2 coplanar, bits 3-4 degenerate (a, b). Or TRITRI_NOT_FINITE alone:
 * a coordinate is NaN or infinite. */
enum { TRITRI_KIND = 3, TRITRI_COPLANAR = 4, TRITRI_NOT_FINITE = 64, TRITRI_OPEN = 128 };

static inline graze_tritri tritri_from_code(uint8_t code) {
  return (graze_tritri){code & TRITRI_KIND, (code >> 2) & 1, (code >> 3) & 3};
}

/* Decides the first `count` pairs; codes gets one byte a pair. With `hits_only` the flags of pairs that do not meet are
 * not computed (such a code is 0), which lets boxes reject pairs. Returns how many pairs stage 1 left open. */
typedef unsigned tritri_block_function(const tritri_block *block, unsigned count, bool hits_only, uint8_t *codes);

CPU_KERNELS(tritri_block_function, gz_tritri_block);

/* The one for this machine. */
tritri_block_function *gz_tritri_block_best(void);

/* What the last pairs were like, which says what to try first. Only time depends on it. Starts as zeros. */
typedef struct tritri_trend {
  bool exact; /* most had signs that no bound decides: the lattice stage first */
  bool fine;  /* off the coarse grid */
} tritri_trend;

/* The same for TRITRI_BLOCK pairs that lie in columns, pair `from` first. Those `ahead` further on are asked for from
 * memory, unless it is 0. */
typedef void tritri_columns_function(const double *const a[9], const double *const b[9], uint64_t from, unsigned ahead,
                                     tritri_trend *trend, uint8_t *codes);
CPU_KERNELS(tritri_columns_function, gz_tritri_columns);
tritri_columns_function *gz_tritri_columns_best(void);

/* Stage 1 for points that lie near the block's coordinates: a difference of two of them is within slack[k] of the
 * block's on axis k. Codes are 0, GRAZE_KIND_SEGMENT or TRITRI_OPEN; returns how many are open. For tier T2. */
typedef unsigned tritri_near_function(const tritri_block *block, unsigned count, const double slack[3], uint8_t *codes);
CPU_KERNELS(tritri_near_function, gz_tritri_near);
tritri_near_function *gz_tritri_near_best(void);

/* Whether an image's coordinate is one of the corner's, or its opposite, and a number added. */
static inline bool row_only_moves(const double row[4]) {
  int turns = 0;
  for (int c = 0; c < 3; c++) {
    if (row[c] != 0 && fabs(row[c]) != 1) return false;
    turns += row[c] != 0;
  }
  return turns <= 1;
}

/* Triangles as they are given, which become their images under the poses: those that lie in planes across axes are
 * decided, for tier T2. A coordinate of an image is a sum of numbers whose sizes add up to reach[k] at most. Codes are
 * as those of gz_tritri_block with hits_only, or TRITRI_OPEN. */
typedef void tritri_images_function(tritri_block *block, unsigned count, const graze_pose *pose_a,
                                    const graze_pose *pose_b, const double reach[3], uint8_t *codes);
CPU_KERNELS(tritri_images_function, gz_tritri_images);
tritri_images_function *gz_tritri_images_best(void);

/* Stage 1 with plain double signs instead of bounds: inexact, for measuring what exactness costs. Not for answers. */
CPU_KERNELS(tritri_block_function, gz_tritri_plain);
tritri_block_function *gz_tritri_plain_best(void);

#endif
