/* Fitting for processors with AVX2. */
#define FIT_NAME(x) x##_avx2
#include "mesh/fit_lanes.inc"
