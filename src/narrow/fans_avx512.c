/* fans_lanes.inc for this instruction set. */
#define FANS_ISA     2
#define FANS_NAME(x) x##_avx512
#include "narrow/fans_lanes.inc"
