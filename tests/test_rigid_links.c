/* Meshes as rigid bodies that hold each other: rings in a chain, a nut on its bolt, gears. */
#include <math.h>
#include <string.h>

#include "rigid_meshes.h"
#include "scenes.h"

/* Rings of 2,304 triangles that hang in each other: centres are 2 (R - r) apart. */
static void test_rings(void **unused) {
  (void)unused;
  enum { RINGS = 5 };
  graze_mesh *ring = make_ring(1, 0.2, 48, 24);
  for (int solver = GRAZE_RIGID_AUTO; solver <= GRAZE_RIGID_NEWTON; solver++) {
    graze_rigid *world = make_world(1, (graze_rigid_solver)solver, 9.81, 0.3);
    const double half = sqrt(0.5), flat[4] = {half, half, 0, 0}, turned[4] = {0.5, 0.5, 0.5, 0.5};
    for (int i = 0; i < RINGS; i++) {
      graze_rigid_body_def def = define(ring, 0, 0, -1.57 * i);
      memcpy(def.orientation, i % 2 == 0 ? flat : turned, sizeof flat);
      if (i == 0) def.type = GRAZE_BODY_STATIC;
      add(world, &def);
    }
    run(world, 600);
    for (uint32_t i = 1; i < RINGS; i++)
      assert_near(get(world, i - 1).position[2] - get(world, i).position[2], 1.6, 0.0015);
    assert_true(sums_of(world).contacts == RINGS - 1);
    graze_rigid_destroy(world);
  }
  graze_mesh_destroy(ring);
}

/* A chain of a hundred links falls straight and holds. */
static void test_long_chain(void **unused) {
  (void)unused;
  const uint32_t links = test_thinned() ? 31 : 101;
  graze_mesh *ring = make_ring(1, 0.2, 24, 12);
  graze_rigid *world = make_world(1, GRAZE_RIGID_AUTO, 9.81, 0.3);
  const double half = sqrt(0.5), flat[4] = {half, half, 0, 0}, turned[4] = {0.5, 0.5, 0.5, 0.5};
  for (uint32_t i = 0; i < links; i++) {
    graze_rigid_body_def def = define(ring, 0, 0, -1.59 * i);
    memcpy(def.orientation, i % 2 == 0 ? flat : turned, sizeof flat);
    if (i == 0) def.type = GRAZE_BODY_STATIC;
    add(world, &def);
  }
  run(world, 400);
  assert_near(get(world, links - 1).position[2], -1.6 * (links - 1), 0.01 * links);
  assert_true(sums_of(world).max_overlap < 1e-3);
  graze_rigid_destroy(world);
  graze_mesh_destroy(ring);
}

static graze_mesh *take_mesh(const scenes_scene *scene, uint32_t object) {
  const scenes_mesh *m = &scene->meshes[scene->objects[object].mesh];
  return make_mesh(m->vertices, (uint32_t)m->vertex_count, m->indices, (uint32_t)m->triangle_count);
}

static void make_scene(const char *name, scenes_scene *scene) {
  const scenes_kind *kind = scenes_find_kind(name);
  const char *reason;
  const scenes_request request = scenes_default_request(kind);
  if (!scenes_make(kind, &request, scene, &reason)) fail_msg("%s: %s", name, reason);
}

/* The angle about z, which goes on from the one before. */
static double follow(const graze_rigid_body_def *b, double before) {
  const double angle = 2 * atan2(b->orientation[3], b->orientation[0]);
  return angle + 2 * M_PI * floor((before - angle) / (2 * M_PI) + 0.5);
}

/* A nut that is spun turns down the bolt by its pitch, 2 mm a turn, within the play of its thread. */
static void turn_nut(graze_rigid_solver solver) {
  static const double pitch = 0.002, play = 1e-4;
  scenes_scene scene;
  double centers[2][3], before = 0;
  make_scene("bolt", &scene);
  graze_rigid *world = make_world(1, solver, 9.81, 0.02);
  graze_mesh *meshes[2];
  for (uint32_t i = 0; i < 2; i++) {
    meshes[i] = take_mesh(&scene, i);
    must(graze_rigid_find_mesh_center(shared_context(1), meshes[i], centers[i]));
    graze_rigid_body_def def = define(meshes[i], centers[i][0], centers[i][1], centers[i][2]);
    def.type = i == 0 ? GRAZE_BODY_STATIC : GRAZE_BODY_DYNAMIC;
    if (i == 1) def.spin[2] = -20;
    add(world, &def);
  }
  const uint32_t steps = test_long() ? 400 : test_thinned() ? 30 : 100;
  for (uint32_t i = 0; i < steps; i++) {
    must(graze_rigid_step(world, 0.001, 1, NULL, NULL));
    const graze_rigid_body_def nut = get(world, 1);
    before = follow(&nut, before);
    assert_near(nut.position[2] - centers[1][2], before / (2 * M_PI) * pitch, play);
    assert_true(hypot(nut.position[0], nut.position[1]) < play);
  }
  assert_true(before < (steps == 400 ? -2.5 : steps == 100 ? -1.3 : -0.4));
  graze_rigid_destroy(world);
  for (int i = 0; i < 2; i++) graze_mesh_destroy(meshes[i]);
  scenes_free(&scene);
}

static void test_nut(void **unused) {
  (void)unused;
  turn_nut(GRAZE_RIGID_SOFT);
  if (test_long()) turn_nut(GRAZE_RIGID_AUTO);
}

/* One of two gears with 20 teeth is driven: the other goes at its speed, within the play of a tooth. */
static void test_gears(void **unused) {
  (void)unused;
  scenes_scene scene;
  double angles[2], first[2];
  make_scene("gears", &scene);
  graze_rigid *world = make_world(1, GRAZE_RIGID_AUTO, 0, 0.1);
  graze_mesh *gear = take_mesh(&scene, 0);
  double center[3];
  must(graze_rigid_find_mesh_center(shared_context(1), gear, center));
  for (uint32_t i = 0; i < 2; i++) {
    const double *m = scene.objects[i].pose;
    graze_rigid_body_def def = define(gear, m[3] + center[0], m[7] + center[1], center[2]);
    def.orientation[0] = sqrt(0.5 * (1 + m[0]));
    def.orientation[3] = sqrt(0.5 * (1 - m[0]));
    def.type = i == 0 ? GRAZE_BODY_KINEMATIC : GRAZE_BODY_DYNAMIC;
    if (i == 0) def.spin[2] = 2;
    add(world, &def);
    const graze_rigid_body_def now = get(world, i);
    angles[i] = first[i] = follow(&now, 0);
  }
  graze_joint_def joint = graze_default_joint_def();
  uint32_t number;
  joint.type = GRAZE_JOINT_HINGE;
  joint.a = 1;
  joint.b = GRAZE_NO_BODY;
  for (int k = 0; k < 3; k++) joint.point[k] = scene.objects[1].pose[4 * k + 3];
  must(graze_rigid_add_joint(world, &joint, &number));
  const int steps = test_thinned() ? 120 : 600;
  for (int i = 0; i < steps; i++) {
    run(world, 1);
    for (uint32_t k = 0; k < 2; k++) {
      const graze_rigid_body_def now = get(world, k);
      angles[k] = follow(&now, angles[k]);
    }
    assert_near(angles[1] - first[1], -(angles[0] - first[0]), 0.01);
  }
  assert_near(angles[0] - first[0], 2 * step * steps, 0.01);
  graze_rigid_destroy(world);
  graze_mesh_destroy(gear);
  scenes_free(&scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rings), cmocka_unit_test(test_long_chain),
                                     cmocka_unit_test(test_nut), cmocka_unit_test(test_gears)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
