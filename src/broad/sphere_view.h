/* The caller's spheres, and the boxes around them: broad/spheres.c says why a box may be a little too small. */
#ifndef GRAZE_SRC_BROAD_SPHERE_VIEW_H
#define GRAZE_SRC_BROAD_SPHERE_VIEW_H

#include <float.h>
#include <string.h>

#include "exact/sphere.h"
#include "graze/broadphase.h"

typedef struct sphere_view {
  const char *centers, *radii;
  size_t center_stride, radius_stride;
  graze_precision precision;
  uint32_t count;
} sphere_view;

static inline sphere_view sphere_view_of(const graze_sphere_array *spheres, uint32_t count) {
  size_t number = spheres->precision == GRAZE_DOUBLE ? sizeof(double) : sizeof(float);
  return (sphere_view){.centers = spheres->centers,
                       .radii = spheres->radii,
                       .center_stride = spheres->center_stride != 0 ? spheres->center_stride : 3 * number,
                       .radius_stride = spheres->radius_stride != 0 ? spheres->radius_stride : number,
                       .precision = spheres->precision,
                       .count = count};
}

static inline sphere sphere_at(const sphere_view *view, uint32_t i) {
  sphere b;
  const char *center = view->centers + i * view->center_stride, *radius = view->radii + i * view->radius_stride;
  if (view->precision == GRAZE_DOUBLE) {
    memcpy(b.center, center, sizeof b.center);
    memcpy(&b.radius, radius, sizeof b.radius);
  } else {
    float c[3], r;
    memcpy(c, center, sizeof c);
    memcpy(&r, radius, sizeof r);
    b = (sphere){{(double)c[0], (double)c[1], (double)c[2]}, (double)r};
  }
  return b;
}

/* x - x is 0 only for a finite x. */
static inline bool sphere_is_good(const sphere *b) {
  double finite = b->radius - b->radius;
  for (int k = 0; k < 3; k++) finite += b->center[k] - b->center[k];
  return (finite == 0) & (b->radius >= 0);
}

static inline void box_of_doubles(const sphere *b, double box[6]) {
  for (int k = 0; k < 3; k++) {
    double low = b->center[k] - b->radius, high = b->center[k] + b->radius;
    box[k] = low < -DBL_MAX ? -DBL_MAX : low;
    box[3 + k] = high > DBL_MAX ? DBL_MAX : high;
  }
}

/* Rounded twice, which keeps order as well. */
static inline void box_of_floats(const sphere *b, float box[6]) {
  for (int k = 0; k < 3; k++) {
    float low = (float)(b->center[k] - b->radius), high = (float)(b->center[k] + b->radius);
    box[k] = low < -FLT_MAX ? -FLT_MAX : low;
    box[3 + k] = high > FLT_MAX ? FLT_MAX : high;
  }
}

#endif
