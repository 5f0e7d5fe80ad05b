/* The grid's kernels, grid_lanes.inc, for this instruction set. */
#include "base/cpu.h"
#define GRID_ISA        GRAZE_ISA
#define GRID_NAME(name) KERNEL(name)
#include "broad/grid_lanes.inc"
