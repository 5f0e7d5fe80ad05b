/* The survey for any processor. */
#define SURVEY_NAME survey_base
#include "mesh/survey_lanes.inc"
