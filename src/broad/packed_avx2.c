/* The kernels of packed_lanes.inc for this instruction set. */
#define PACKED_ISA   1
#define PACKED_SWEEP gz_packed_sweep_avx2
#define PACKED_ALL   gz_packed_all_avx2
#include "broad/packed_lanes.inc"
