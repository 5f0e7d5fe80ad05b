/* fans_lanes.inc for this instruction set. */
#define FANS_ISA     0
#define FANS_NAME(x) x##_scalar
#include "narrow/fans_lanes.inc"
