/* The kernels of packed_lanes.inc for this instruction set. */
#define PACKED_ISA   0
#define PACKED_SWEEP gz_packed_sweep_scalar
#include "broad/packed_lanes.inc"
