/* The kernels of bvh_lanes.inc for this instruction set. */
#define BVH_ISA        1
#define BVH_NAME(name) name##_avx2
#include "broad/bvh_lanes.inc"
