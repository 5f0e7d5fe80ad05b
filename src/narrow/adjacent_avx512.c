/* adjacent_lanes.inc for this instruction set. */
#define LANES_ISA 2
#include "narrow/adjacent_lanes.inc"
