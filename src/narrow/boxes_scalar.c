/* The box test of boxes_lanes.inc for this instruction set. */
#define BOXES_ISA  0
#define BOXES_NAME gz_boxes_scalar
#include "narrow/boxes_lanes.inc"
