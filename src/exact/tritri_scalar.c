/* The block kernel of tritri_lanes.inc for this instruction set. */
#define LANES_ISA 0
#include "exact/tritri_lanes.inc"
