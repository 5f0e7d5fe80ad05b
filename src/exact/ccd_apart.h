/* Continuous collision with a separation that has to be kept: when do features first come as near as that? */
#ifndef GRAZE_SRC_EXACT_CCD_APART_H
#define GRAZE_SRC_EXACT_CCD_APART_H

#include <stdbool.h>
#include <stddef.h>

#include "graze/motion.h"

typedef struct apart_scratch apart_scratch;
size_t gz_ccd_apart_scratch_size(void);

/* Whether the swept boxes are farther from each other for certain. */
bool gz_ccd_apart_filter(const graze_ccd_query *query, double separation);

/* Whether they are at distance `separation`, above 0, or nearer for a t of [0, 1], and the doubles around the first
 * such t; exact. *too_long: numbers have become longer than they may be, and nothing is known; only where coordinates
 * and separation, taken as integers times one power of two, have more than 128 bits. */
bool gz_ccd_apart_exact(const graze_ccd_query *query, double separation, apart_scratch *scratch, double time[2],
                        bool *too_long);

#endif
