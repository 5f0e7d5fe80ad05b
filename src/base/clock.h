/* How long things take. */
#ifndef GRAZE_SRC_BASE_CLOCK_H
#define GRAZE_SRC_BASE_CLOCK_H

#include <time.h>

/* Seconds of a monotonic clock, since some moment. */
static inline double clock_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
