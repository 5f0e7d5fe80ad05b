/* The survey for processors with AVX2. */
#define SURVEY_NAME gz_survey_avx2
#include "mesh/survey_lanes.inc"
