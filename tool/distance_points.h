/* distance_points.h: `graze distance --points`. */
#ifndef TOOL_DISTANCE_POINTS_H
#define TOOL_DISTANCE_POINTS_H

#include "graze/check.h"
#include "options.h"

/* Measures the points of a file, "-" for the standard input, from the one file of `def`. Gives the exit code. */
int distance_measure_points(const char *points, const graze_check_def *def, const common_options *common);

#endif
