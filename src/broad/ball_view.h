/* The caller's balls, and the boxes around them: broad/balls.c says why a box may be a little too small. */
#ifndef GRAZE_SRC_BROAD_BALL_VIEW_H
#define GRAZE_SRC_BROAD_BALL_VIEW_H

#include <float.h>
#include <string.h>

#include "exact/ball.h"
#include "graze/broadphase.h"

typedef struct ball_view {
  const char *centers, *radii;
  size_t center_stride, radius_stride;
  graze_precision precision;
  uint32_t count;
} ball_view;

static inline ball_view ball_view_of(const graze_ball_array *balls, uint32_t count) {
  size_t number = balls->precision == GRAZE_DOUBLE ? sizeof(double) : sizeof(float);
  return (ball_view){.centers = balls->centers,
                     .radii = balls->radii,
                     .center_stride = balls->center_stride != 0 ? balls->center_stride : 3 * number,
                     .radius_stride = balls->radius_stride != 0 ? balls->radius_stride : number,
                     .precision = balls->precision,
                     .count = count};
}

static inline ball ball_at(const ball_view *view, uint32_t i) {
  ball b;
  const char *center = view->centers + i * view->center_stride, *radius = view->radii + i * view->radius_stride;
  if (view->precision == GRAZE_DOUBLE) {
    memcpy(b.center, center, sizeof b.center);
    memcpy(&b.radius, radius, sizeof b.radius);
  } else {
    float c[3], r;
    memcpy(c, center, sizeof c);
    memcpy(&r, radius, sizeof r);
    b = (ball){{(double)c[0], (double)c[1], (double)c[2]}, (double)r};
  }
  return b;
}

/* x - x is 0 only for a finite x. */
static inline bool ball_is_good(const ball *b) {
  double finite = b->radius - b->radius;
  for (int k = 0; k < 3; k++) finite += b->center[k] - b->center[k];
  return (finite == 0) & (b->radius >= 0);
}

static inline void box_of_doubles(const ball *b, double box[6]) {
  for (int k = 0; k < 3; k++) {
    double low = b->center[k] - b->radius, high = b->center[k] + b->radius;
    box[k] = low < -DBL_MAX ? -DBL_MAX : low;
    box[3 + k] = high > DBL_MAX ? DBL_MAX : high;
  }
}

/* Rounded twice, which keeps order as well. */
static inline void box_of_floats(const ball *b, float box[6]) {
  for (int k = 0; k < 3; k++) {
    float low = (float)(b->center[k] - b->radius), high = (float)(b->center[k] + b->radius);
    box[k] = low < -FLT_MAX ? -FLT_MAX : low;
    box[3 + k] = high > FLT_MAX ? FLT_MAX : high;
  }
}

#endif
