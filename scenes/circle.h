/* circle.h: sine, cosine and points of a circle, the same bits on every machine. */
#ifndef SCENES_CIRCLE_H
#define SCENES_CIRCLE_H

#include <stdint.h>

/* Sine of an angle in radians, |angle| up to a few thousand; the error stays below 2 units in the last place of 1. */
double circle_sine(double angle);

/* Corner `index` (taken modulo `count`) of a regular polygon in the unit circle. The points are mirror images of each
 * other to the last bit, and those on the axes are exact. */
void circle_point(uint32_t index, uint32_t count, double *cosine, double *sine);

#endif
