/* The kernels of bvh_lanes.inc for this instruction set. */
#define BVH_ISA        2
#define BVH_NAME(name) name##_avx512
#include "broad/bvh_lanes.inc"
