/* The kernels of bvh_lanes.inc for this instruction set. */
#define BVH_ISA        0
#define BVH_NAME(name) name##_scalar
#include "broad/bvh_lanes.inc"
