/* Triangles of one mesh that share corners: what they share, and quick proofs that they meet in nothing more. */
#ifndef GRAZE_SRC_NARROW_ADJACENT_H
#define GRAZE_SRC_NARROW_ADJACENT_H

#include "narrow/exact_sink.h"

/* Of the triangles at the places of `a` whose bits are set in `mask`, against the triangle at place j of `b`: bits of
 * those that share one, two, three positions with it, less (one, two) those proved to meet in nothing more. */
typedef struct adjacent_masks {
  uint8_t corner, edge, all; /* still open, still open, equal */
  uint8_t shared;            /* any shared position, open or not */
} adjacent_masks;

typedef adjacent_masks adjacent_function(const posed_node *a, const posed_node *b, int j, unsigned mask);
adjacent_function adjacent_scalar, adjacent_avx2, adjacent_avx512;
adjacent_function *adjacent_best(void);

#endif
