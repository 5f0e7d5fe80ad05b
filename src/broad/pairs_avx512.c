/* The kernel of pairs_lanes.inc for this instruction set. */
#define PAIRS_ISA  2
#define PAIRS_NAME gz_pairs_order_avx512
#include "broad/pairs_lanes.inc"
