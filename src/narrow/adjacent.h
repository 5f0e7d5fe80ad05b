/* Triangles of two bottom nodes of one mesh: what corners they share, with quick proofs that they meet in nothing more;
 * and whether their boxes meet. */
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

/* Of the set bits 8 j + i, those for which the closed boxes of the triangles at places i of a and j of b meet: exact.
 */
typedef uint64_t box_pairs_function(const posed_node *a, const posed_node *b, uint64_t mask);
box_pairs_function box_pairs_scalar, box_pairs_avx2, box_pairs_avx512;
box_pairs_function *box_pairs_best(void);

#endif
