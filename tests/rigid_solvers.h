/* Tests of rigid bodies that all run with one solver, and then with the other. */
#ifndef GRAZE_TESTS_RIGID_SOLVERS_H
#define GRAZE_TESTS_RIGID_SOLVERS_H

#include "rigid_worlds.h"

static graze_rigid_solver solver;

static inline graze_rigid *make_world(graze_context *context, double friction, double restitution, double gravity) {
  graze_rigid_def def = graze_default_rigid_def();
  graze_rigid_material m = graze_default_rigid_material();
  graze_rigid *world;
  uint32_t number;
  def.gravity[2] = -gravity;
  def.events = true;
  def.solver = solver;
  assert_int_equal(graze_rigid_create(context, &def, &world), GRAZE_OK);
  m.friction = friction;
  m.restitution = restitution;
  must(graze_rigid_add_material(world, &m, &number));
  return world;
}

/* A body of a kind, with its middle at a place. */
static inline graze_rigid_body_def define(graze_rigid_shape shape, double size, double x, double y, double z) {
  graze_rigid_body_def def = graze_default_rigid_body_def();
  def.shape = shape;
  def.radius = 0.5 * size;
  def.length = size;
  for (int k = 0; k < 3; k++) def.edges[k] = size;
  def.position[0] = x;
  def.position[1] = y;
  def.position[2] = z;
  def.density = 1;
  return def;
}

#endif
