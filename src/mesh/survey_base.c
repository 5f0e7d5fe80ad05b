/* The survey for any processor. */
#define SURVEY_NAME gz_survey_base
#include "mesh/survey_lanes.inc"
