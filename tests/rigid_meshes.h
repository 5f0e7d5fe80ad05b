/* What the tests of meshes as rigid bodies share: meshes, worlds, and bodies that are meshes. */
#ifndef GRAZE_TESTS_RIGID_MESHES_H
#define GRAZE_TESTS_RIGID_MESHES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rigid_worlds.h"

static inline graze_mesh *make_mesh(const double *points, uint32_t point_count, const uint32_t *triangles,
                                    uint32_t count) {
  graze_mesh_def def = graze_default_mesh_def();
  graze_mesh *mesh;
  def.vertices = points;
  def.vertex_count = point_count;
  def.indices = triangles;
  def.triangle_count = count;
  def.precision = GRAZE_DOUBLE;
  must(graze_mesh_create(shared_context(1), &def, &mesh));
  return mesh;
}

/* Around z; its innermost corners are R - r from the axis. */
static inline graze_mesh *make_ring(double large, double small, uint32_t around, uint32_t across) {
  double *points = malloc(3 * around * across * sizeof *points);
  uint32_t *triangles = malloc(6 * around * across * sizeof *triangles), *next = triangles;
  assert_true(points != NULL && triangles != NULL);
  for (uint32_t i = 0; i < around * across; i++) {
    const double a = 2 * M_PI * (i / across) / around, b = 2 * M_PI * (i % across) / across;
    points[3 * i] = (large + small * cos(b)) * cos(a);
    points[3 * i + 1] = (large + small * cos(b)) * sin(a);
    points[3 * i + 2] = small * sin(b);
    const uint32_t right = (i / across + 1) % around * across, up = (i % across + 1) % across;
    const uint32_t square[6] = {i, right + i % across, right + up, i, right + up, i / across * across + up};
    memcpy(next, square, sizeof square);
    next += 6;
  }
  graze_mesh *mesh = make_mesh(points, around * across, triangles, 2 * around * across);
  free(points);
  free(triangles);
  return mesh;
}

static inline graze_rigid *make_world(uint32_t threads, graze_rigid_solver solver, double gravity, double friction) {
  graze_rigid_def def = graze_default_rigid_def();
  graze_rigid_material m = graze_default_rigid_material();
  graze_rigid *world;
  uint32_t number;
  def.gravity[2] = -gravity;
  def.solver = solver;
  def.events = true;
  must(graze_rigid_create(shared_context(threads), &def, &world));
  m.friction = friction;
  must(graze_rigid_add_material(world, &m, &number));
  return world;
}

static inline graze_rigid_body_def define(const graze_mesh *mesh, double x, double y, double z) {
  graze_rigid_body_def def = graze_default_rigid_body_def();
  def.shape = GRAZE_RIGID_MESH;
  def.mesh = mesh;
  def.density = 1000;
  def.position[0] = x;
  def.position[1] = y;
  def.position[2] = z;
  return def;
}

#endif
