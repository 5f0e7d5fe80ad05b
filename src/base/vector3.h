/* Vectors of three doubles. Sums go from the left, so that results are the same bits everywhere. */
#ifndef GRAZE_SRC_BASE_VECTOR3_H
#define GRAZE_SRC_BASE_VECTOR3_H

#include <math.h>

static inline double dot3(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double length3(const double a[3]) {
  return sqrt(dot3(a, a));
}

/* `out` may be a or b, here and below. */
static inline void cross3(const double a[3], const double b[3], double out[3]) {
  const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
  out[0] = x;
  out[1] = y;
  out[2] = z;
}

/* a - b */
static inline void sub3(const double a[3], const double b[3], double out[3]) {
  for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}

#endif
