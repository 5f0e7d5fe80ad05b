/* Fitting for any processor. */
#define FIT_NAME(x) x##_base
#include "mesh/fit_lanes.inc"
