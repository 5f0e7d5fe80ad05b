/* The first stage of continuous collision: bounds in floating-point numbers prove most misses and most hits. */
#ifndef GRAZE_SRC_EXACT_CCD_FILTER_H
#define GRAZE_SRC_EXACT_CCD_FILTER_H

#include "graze/motion.h"

typedef enum ccd_verdict {
  CCD_OPEN, /* it is not known */
  CCD_APART,
  CCD_HIT /* for the first time at time[0] = time[1], or strictly between these, which are then neighbours */
} ccd_verdict;

ccd_verdict gz_ccd_filter(const graze_ccd_query *query, double time[2]);

#endif
