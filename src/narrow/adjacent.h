/* Triangles of two bottom nodes of one mesh: what corners they share, with quick proofs that they meet in nothing more;
 * and whether their boxes meet. */
#ifndef GRAZE_SRC_NARROW_ADJACENT_H
#define GRAZE_SRC_NARROW_ADJACENT_H

#include "base/cpu.h"
#include "narrow/exact_sink.h"

/* Candidate pairs of one mesh waiting to be told apart, structure of arrays: a[k][i] is coordinate k (0..8) of the
 * first triangle of pair i. A whole row of places can be appended as long as ADJACENT_PAIRS have not been reached. */
enum { ADJACENT_PAIRS = 64, ADJACENT_ROOM = ADJACENT_PAIRS + NODE_WIDTH };
typedef struct adjacent_pairs {
  _Alignas(64) double a[9][ADJACENT_ROOM];
  _Alignas(64) double b[9][ADJACENT_ROOM];
  uint32_t first[ADJACENT_ROOM], second[ADJACENT_ROOM];
  unsigned count;
} adjacent_pairs;

/* Appends the coordinates (not the numbers) of the pairs of a's set places with place j of b; count is not changed. */
typedef void adjacent_append_function(adjacent_pairs *pairs, const posed_node *a, const posed_node *b, int j,
                                      unsigned places);
CPU_KERNELS(adjacent_append_function, gz_adjacent_append);

/* What is left to do for a pair: nothing, as it shares corners and was proved to meet in nothing more; an exact test,
 * sharing no position, one, or two; or nothing, as all three are shared. */
typedef enum adjacent_code {
  ADJACENT_SETTLED,
  ADJACENT_NONE,
  ADJACENT_CORNER,
  ADJACENT_EDGE,
  ADJACENT_DUPLICATE
} adjacent_code;

typedef void adjacent_judge_function(const adjacent_pairs *pairs, uint8_t codes[ADJACENT_ROOM]);
CPU_KERNELS(adjacent_judge_function, gz_adjacent_judge);

adjacent_append_function *gz_adjacent_append_best(void);
adjacent_judge_function *gz_adjacent_judge_best(void);

/* self.c: adds a pair of triangles, neither of them degenerate, and once there are enough of them tells them apart;
 * what needs an exact test goes to the sink. The second does so with what waits. */
void gz_adjacent_add(adjacent_pairs *pairs, adjacent_judge_function *judge, exact_sink *sink, uint32_t first,
                     uint32_t second, const double a[9], const double b[9]);
void gz_adjacent_settle(adjacent_pairs *pairs, adjacent_judge_function *judge, exact_sink *sink);

/* Of the set bits 8 j + i, those for which the closed boxes of the triangles at places i of a and j of b meet: exact.
 */
typedef uint64_t box_pairs_function(const posed_node *a, const posed_node *b, uint64_t mask);
CPU_KERNELS(box_pairs_function, gz_box_pairs);
box_pairs_function *gz_box_pairs_best(void);

#endif
