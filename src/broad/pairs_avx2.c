/* The kernel of pairs_lanes.inc for this instruction set. */
#define PAIRS_ISA  1
#define PAIRS_NAME gz_pairs_order_avx2
#include "broad/pairs_lanes.inc"
