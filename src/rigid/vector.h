/* Vectors of three, and matrices that turn them. */
#ifndef GRAZE_SRC_RIGID_VECTOR_H
#define GRAZE_SRC_RIGID_VECTOR_H

#include <math.h>

#include "base/vector3.h"

/* a + s b */
static inline void add_scaled3(const double a[3], double s, const double b[3], double out[3]) {
  for (int k = 0; k < 3; k++) out[k] = a[k] + s * b[k];
}

/* m x, of a row-major matrix */
static inline void turn3(const double m[9], const double x[3], double out[3]) {
  const double y[3] = {dot3(m, x), dot3(m + 3, x), dot3(m + 6, x)};
  for (int k = 0; k < 3; k++) out[k] = y[k];
}

/* m^T x */
static inline void turn_back3(const double m[9], const double x[3], double out[3]) {
  double y[3];
  for (int k = 0; k < 3; k++) y[k] = m[k] * x[0] + m[3 + k] * x[1] + m[6 + k] * x[2];
  for (int k = 0; k < 3; k++) out[k] = y[k];
}

/* Two unit vectors across the unit vector n, and across each other. */
static inline void span3(const double n[3], double t[3], double u[3]) {
  int least = 0;
  for (int k = 1; k < 3; k++) {
    if (fabs(n[k]) < fabs(n[least])) least = k;
  }
  double axis[3] = {0, 0, 0};
  axis[least] = 1;
  cross3(n, axis, t);
  const double length = length3(t);
  for (int k = 0; k < 3; k++) t[k] /= length;
  cross3(n, t, u);
}

#endif
