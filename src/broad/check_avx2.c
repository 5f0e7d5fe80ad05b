/* The kernel of check_lanes.inc for this instruction set. */
#define CHECK_ISA  1
#define CHECK_NAME gz_good_boxes_avx2
#include "broad/check_lanes.inc"
