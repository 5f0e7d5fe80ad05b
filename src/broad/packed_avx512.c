/* The kernels of packed_lanes.inc for this instruction set. */
#define PACKED_ISA   2
#define PACKED_SWEEP gz_packed_sweep_avx512
#define PACKED_ALL   gz_packed_all_avx512
#include "broad/packed_lanes.inc"
