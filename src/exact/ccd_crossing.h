/* The second stage of continuous collision: a plain crossing, proved in pairs of doubles. */
#ifndef GRAZE_SRC_EXACT_CCD_CROSSING_H
#define GRAZE_SRC_EXACT_CCD_CROSSING_H

#include <stdbool.h>

#include "graze/motion.h"

/* Whether it looks so at this time: the vertex inside of the face, or the edges across each other, by more than
 * rounding can change, seen along some axis. */
bool gz_ccd_looks_inside(const graze_ccd_query *query, double t);

/* The volume of the four points has opposite signs at `from` and `to`, doubles of [0, 1], and is monotone between.
 * True: the features meet where it vanishes, strictly between the two neighbouring doubles time[0] and time[1]. False:
 * it is not known whether they meet there. */
bool gz_ccd_crosses(const graze_ccd_query *query, double from, double to, double time[2]);

#endif
