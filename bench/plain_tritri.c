/* bench/plain_tritri.c: the inexact baselines, in double and in float from one body, and the five-edge test. */
#include "plain_tritri.h"

#define REAL    double
#define NAME(x) double_##x
#include "plain_tritri_body.h"
#undef REAL
#undef NAME
#define REAL    float
#define NAME(x) float_##x
#include "plain_tritri_body.h"
#undef REAL
#undef NAME

static void to_float(const double t[9], float out[9]) {
  for (int k = 0; k < 9; k++) out[k] = (float)t[k];
}

bool plain_moller_double(const double a[9], const double b[9]) {
  return double_moller(a, b);
}

bool plain_moller_float(const double a[9], const double b[9]) {
  float x[9], y[9];
  to_float(a, x);
  to_float(b, y);
  return float_moller(x, y);
}

bool plain_orientation_double(const double a[9], const double b[9]) {
  return double_orientation(a, b);
}

bool plain_orientation_float(const double a[9], const double b[9]) {
  float x[9], y[9];
  to_float(a, x);
  to_float(b, y);
  return float_orientation(x, y);
}

/* Segment p q against triangle t: solves for the two barycentric coordinates and the place on the segment. */
static bool segment_hits(const float *p, const float *q, const float t[9]) {
  float d[3], e[3], f[3], s[3], h[3], g[3];
  float_subtract(q, p, d);
  float_subtract(t + 3, t, e);
  float_subtract(t + 6, t, f);
  float_cross(d, f, h);
  float determinant = float_dot(e, h);
  if (determinant == 0) return false;
  float_subtract(p, t, s);
  float u = float_dot(s, h) / determinant;
  if (u < 0 || u > 1) return false;
  float_cross(s, e, g);
  float v = float_dot(d, g) / determinant;
  if (v < 0 || u + v > 1) return false;
  float place = float_dot(f, g) / determinant;
  return place >= 0 && place <= 1;
}

bool plain_five_edges_float(const double a[9], const double b[9]) {
  float x[9], y[9];
  to_float(a, x);
  to_float(b, y);
  return segment_hits(x, x + 3, y) || segment_hits(x + 3, x + 6, y) || segment_hits(x + 6, x, y) ||
         segment_hits(y, y + 3, x) || segment_hits(y + 3, y + 6, x);
}
