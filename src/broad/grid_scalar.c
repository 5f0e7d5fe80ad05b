/* The grid's kernels, grid_lanes.inc, for this instruction set. */
#define GRID_ISA        0
#define GRID_NAME(name) name##_scalar
#include "broad/grid_lanes.inc"
