/* The kernel of check_lanes.inc for this instruction set. */
#define CHECK_ISA  0
#define CHECK_NAME gz_good_boxes_scalar
#include "broad/check_lanes.inc"
