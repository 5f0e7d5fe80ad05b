/* The kernel of pairs_lanes.inc for this instruction set. */
#define PAIRS_ISA  0
#define PAIRS_NAME gz_pairs_order_scalar
#include "broad/pairs_lanes.inc"
