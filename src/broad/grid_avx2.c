/* The grid's kernels, grid_lanes.inc, for this instruction set. */
#define GRID_ISA        1
#define GRID_NAME(name) name##_avx2
#include "broad/grid_lanes.inc"
