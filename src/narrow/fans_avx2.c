/* fans_lanes.inc for this instruction set. */
#define FANS_ISA     1
#define FANS_NAME(x) x##_avx2
#include "narrow/fans_lanes.inc"
