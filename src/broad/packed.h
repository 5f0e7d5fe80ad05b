/* Boxes as packed floats, one array for each number, and the kernels that test one box against a register of others.
 *
 * Numbers are turned to the nearest float, which is monotone (see broad.h): a strict comparison of floats is certain,
 * and only where floats are equal and were rounded are the caller's own numbers looked at again.
 */
#ifndef GRAZE_SRC_BROAD_PACKED_H
#define GRAZE_SRC_BROAD_PACKED_H

#include <float.h>

#include "broad/broad.h"

enum { PACKED_LANES = 16 }; /* that arrays must have room for behind their last box */

/* Arrays by place. Axis 0 is the one that is swept along. */
typedef struct packed_rows {
  float *low[3], *high[3];
  uint32_t *slots;
  uint8_t *home; /* a pair counts where the bits of both together are PACKED_HOME; NULL for packed_all */
  bool rounded;  /* some number is not the caller's */
} packed_rows;

enum { PACKED_HOME = 7 };

/* Appends the pairs of the boxes at places [begin, end) with those behind them, up to `last`. Places are in the order
 * of low[0]. False: no memory. */
typedef bool packed_sweep_function(const packed_rows *rows, uint32_t begin, uint32_t end, uint32_t last,
                                   const broad_view *view, pair_list *out);
packed_sweep_function packed_sweep_scalar, packed_sweep_avx2, packed_sweep_avx512;

/* Appends all pairs among the first `count` boxes, in any order. Without SIMD there is nothing to be
 * gained, hence no such kernel. False: no memory. */
typedef bool packed_all_function(const packed_rows *rows, uint32_t count, const broad_view *view, pair_list *out);
packed_all_function packed_all_avx2, packed_all_avx512;

/* Integers in the order of the floats, which have no -0. */
static inline uint32_t packed_key(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits >> 31 != 0 ? ~bits : bits | (uint32_t)1 << 31;
}

/* The six numbers of a slot, min x y z and max x y z, as finite floats: beyond their range the last one stands for all,
 * so that differences of two are never of infinities; -0 becomes 0, so that equal numbers differ by 0. True when one of
 * them was rounded. */
static inline bool pack_box(const broad_view *view, uint32_t slot, float to[6]) {
  const char *at = view->data + (size_t)slot * view->stride;
  if (view->precision == GRAZE_FLOAT) {
    memcpy(to, at, 6 * sizeof *to);
    for (int k = 0; k < 6; k++) to[k] += 0.0f;
    return false;
  }
  double from[6];
  bool rounded = false;
  memcpy(from, at, sizeof from);
  for (int k = 0; k < 6; k++) {
    double inside = from[k] < (double)FLT_MAX ? from[k] : (double)FLT_MAX;
    to[k] = (float)(inside > -(double)FLT_MAX ? inside : -(double)FLT_MAX);
    to[k] += 0.0f;
    rounded |= (double)to[k] != from[k];
  }
  return rounded;
}

#endif
