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

static inline graze_rigid *make_default_world(graze_context *context) {
  const graze_rigid_def def = graze_default_rigid_def();
  const graze_rigid_material m = graze_default_rigid_material();
  graze_rigid *world;
  uint32_t number;
  must(graze_rigid_create(context, &def, &world));
  must(graze_rigid_add_material(world, &m, &number));
  return world;
}

static inline uint32_t add(graze_rigid *world, const graze_rigid_body_def *def) {
  uint32_t body;
  must(graze_rigid_add_body(world, def, &body));
  return body;
}

/* A half-space below z = 0. */
static inline void add_floor(graze_rigid *world) {
  static const double point[3] = {0, 0, 0}, up[3] = {0, 0, 1};
  must(graze_rigid_add_wall(world, point, up, 0));
}

/* A cube with edges of 2 about the origin. */
static const double cube_corners[8][3] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                                          {-1, -1, 1},  {1, -1, 1},  {-1, 1, 1},  {1, 1, 1}};
static const uint32_t cube_triangles[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                               {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};

static inline graze_mesh *make_cube(void) {
  graze_mesh_def def = graze_default_mesh_def();
  graze_mesh *mesh;
  def.vertices = cube_corners[0];
  def.vertex_count = 8;
  def.indices = cube_triangles[0];
  def.triangle_count = 12;
  def.precision = GRAZE_DOUBLE;
  must(graze_mesh_create(shared_context(1), &def, &mesh));
  return mesh;
}

#endif
