/* Runs of worlds of balls: who has left the bounds. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "worlds.h"

/* ---- who has left ------------------------------------------------------------------------------------------------ */

enum { LEAVING = 6, LEAVING_STEPS = 4000 };

/* Thrown along x against gravity towards a side at 1: particle i comes as far as 1/2 + 0.0288 (i + 1)^2, so that 4 and
 * 5 leave, and come back. A body that drifts out on y, and a kinematic one, which does not count. */
static graze_world *make_leaving(graze_integrator integrator, bool periodic) {
  graze_world_def def = graze_default_world_def();
  graze_body_def body = graze_default_body_def();
  graze_world *world = NULL;
  graze_body_id id;
  double x[LEAVING][3], v[LEAVING][3];
  def.gravity[0] = -1;
  def.gravity[2] = 0;
  def.integrator = integrator;
  def.periodic[0] = periodic;
  for (int k = 0; k < 3; k++) def.bounds.min[k] = 0, def.bounds.max[k] = 1;
  def.bounds.min[0] = -10;
  for (int i = 0; i < LEAVING; i++) {
    const double start[3] = {0.5, 0.1 * i + 0.2, 0.1}, speed[3] = {0.24 * (i + 1), 0, 0};
    memcpy(x[i], start, sizeof start);
    memcpy(v[i], speed, sizeof speed);
  }
  assert_int_equal(graze_world_create(shared_context(2), &def, &world), GRAZE_OK);
  const graze_material m = hooke(1);
  add_material(world, &m);
  body.radius = body.mass = 0.01;
  body.position[0] = body.position[1] = body.position[2] = 0.9;
  body.velocity[1] = 0.05;
  assert_int_equal(graze_world_add_body(world, &body, &id), GRAZE_OK);
  body.type = GRAZE_BODY_KINEMATIC;
  body.position[2] = 2;
  assert_int_equal(graze_world_add_body(world, &body, &id), GRAZE_OK);
  add_balls(world, LEAVING, x[0], v[0], NULL, 0.01, 1, 0);
  return world;
}

/* Of the bodies `bodies`, then the particles from `first` on. */
static void check_left(graze_world *world, uint32_t bodies, uint32_t first) {
  const graze_member *left = NULL;
  graze_world_sums sums;
  uint64_t count = 99;
  assert_int_equal(graze_world_get_sums(world, &sums), GRAZE_OK);
  assert_int_equal(graze_world_find_left(world, &left, &count), GRAZE_OK);
  assert_int_equal(count, bodies + LEAVING - first);
  assert_int_equal(sums.left, count);
  for (uint32_t i = 0; i < count; i++) {
    assert_int_equal(left[i].kind, i < bodies ? GRAZE_MEMBER_BODY : GRAZE_MEMBER_PARTICLE);
    assert_int_equal(left[i].index, i < bodies ? 0 : first + i - bodies);
  }
}

static void test_left_and_come_back(void **unused) {
  (void)unused;
  char path[64];
  snprintf(path, sizeof path, "test_dynamics_runs.%ld", (long)getpid());
  for (int how = 0; how < 8; how++) {
    graze_world *world = make_leaving(how % 2 ? GRAZE_EULER : GRAZE_LEAPFROG, false);
    check_left(world, 0, LEAVING);
    /* All at once; step by step; in two, when 4 and 5 are back; in two, from a file. */
    if (how < 2) run_world(world, 1e-3, LEAVING_STEPS);
    for (int i = 0; how / 2 == 1 && i < LEAVING_STEPS; i++) run_world(world, 1e-3, 1);
    if (how / 2 >= 2) run_world(world, 1e-3, 2600);
    if (how / 2 == 3) {
      assert_int_equal(graze_world_save(world, path), GRAZE_OK);
      graze_world_destroy(world);
      world = make_leaving(how % 2 ? GRAZE_EULER : GRAZE_LEAPFROG, false);
      run_world(world, 1e-3, 10);
      assert_int_equal(graze_world_restore(world, path), GRAZE_OK);
    }
    if (how / 2 >= 2) check_left(world, 1, 4);
    if (how / 2 >= 2) run_world(world, 1e-3, LEAVING_STEPS - 2600);
    check_left(world, 1, 4);
    graze_world_destroy(world);
  }
  unlink(path);
}

/* Out on a periodic axis is in on the other side. */
static void test_left_with_periods(void **unused) {
  (void)unused;
  graze_world *world = make_leaving(GRAZE_LEAPFROG, true);
  run_world(world, 1e-3, LEAVING_STEPS);
  check_left(world, 1, LEAVING);
  graze_world_destroy(world);
}

/* Put outside: it counts while it is there, and stays marked only when a step has seen it. */
static void test_left_by_hand(void **unused) {
  (void)unused;
  graze_world *world = make_leaving(GRAZE_LEAPFROG, false);
  double x[LEAVING][3];
  const graze_particle_state state = {.positions = x[0]};
  assert_int_equal(graze_world_get_particles(world, 0, &state), GRAZE_OK);
  x[5][2] = -1;
  assert_int_equal(graze_world_set_particles(world, 0, &state), GRAZE_OK);
  check_left(world, 0, 5);
  x[5][2] = 0.1;
  assert_int_equal(graze_world_set_particles(world, 0, &state), GRAZE_OK);
  check_left(world, 0, LEAVING);
  x[5][2] = -1;
  assert_int_equal(graze_world_set_particles(world, 0, &state), GRAZE_OK);
  run_world(world, 1e-3, 1);
  x[5][2] = 0.1;
  assert_int_equal(graze_world_set_particles(world, 0, &state), GRAZE_OK);
  check_left(world, 0, 5);
  assert_int_equal(graze_world_find_left(world, NULL, NULL), GRAZE_ERROR_ARGUMENT);
  graze_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_left_and_come_back),
      cmocka_unit_test(test_left_with_periods),
      cmocka_unit_test(test_left_by_hand),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
