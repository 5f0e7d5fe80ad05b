/* A ball that moves straight past a triangle that stands still. */
#ifndef GRAZE_SRC_MOTION_FLIGHT_H
#define GRAZE_SRC_MOTION_FLIGHT_H

#include <stdbool.h>

typedef struct flight {
  double from[3], to[3]; /* its centre at t = 0 and at t = 1 */
  double radius;         /* above 0 */
} flight;

/* Whether the closed ball ever meets the triangle: exact for all finite doubles. Then the first time is in [time[0],
 * time[1]]. A ball that first meets it after `limit` may be told to miss it. */
bool gz_flight_meets(const flight *f, const double corners[9], double limit, double time[2]);

#endif
