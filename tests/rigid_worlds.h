/* What the tests of rigid bodies share: steps of a sixtieth of a second, and what a world tells. */
#ifndef GRAZE_TESTS_RIGID_WORLDS_H
#define GRAZE_TESTS_RIGID_WORLDS_H

#include <math.h>

#include "graze/rigid.h"
#include "support.h"

static const double step = 1.0 / 60;

static inline void must(graze_status status) {
  if (status != GRAZE_OK) fail_msg("%s", shared_error()->message);
}

static inline void assert_near(double got, double want, double off) {
  if (!(fabs(got - want) <= off)) fail_msg("%.17g is not %.17g to %g", got, want, off);
}

static inline double distance(const double a[3], const double b[3]) {
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static inline void run(graze_rigid *world, uint64_t steps) {
  must(graze_rigid_step(world, step, steps, NULL, NULL));
}

static inline graze_rigid_body_def get(const graze_rigid *world, uint32_t body) {
  graze_rigid_body_def def;
  must(graze_rigid_get_body(world, body, &def));
  return def;
}

static inline graze_world_sums sums_of(graze_rigid *world) {
  graze_world_sums sums;
  must(graze_rigid_get_sums(world, &sums));
  return sums;
}

/* A half-space below z = 0. */
static inline void add_floor(graze_rigid *world) {
  static const double point[3] = {0, 0, 0}, up[3] = {0, 0, 1};
  must(graze_rigid_add_wall(world, point, up, 0));
}

#endif
