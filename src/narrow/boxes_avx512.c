/* The box test of boxes_lanes.inc for this instruction set. */
#define BOXES_ISA  2
#define BOXES_NAME gz_boxes_avx512
#include "narrow/boxes_lanes.inc"
