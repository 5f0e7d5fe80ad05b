/* adjacent_lanes.inc for this instruction set. */
#define LANES_ISA 1
#include "narrow/adjacent_lanes.inc"
