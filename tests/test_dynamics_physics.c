/* What physics says of worlds of balls: momenta, energies, free fall, restitution, and how long a step may be. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "worlds.h"

/* A cloud that falls onto itself: no gravity, no walls. */
static graze_world *make_cloud(const graze_material *m, uint32_t count, double speed) {
  graze_world *world = make_world(0);
  uint64_t state = 3;
  double *x = calloc(6 * (size_t)count, sizeof *x), *v = x + 3 * (size_t)count;
  assert_non_null(x);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t cell[3] = {i % 5, i / 5 % 5, i / 25};
    for (int k = 0; k < 3; k++) {
      x[3 * i + (uint32_t)k] = 2.1 * cell[k] + 0.1 * random_signed(&state);
      v[3 * i + (uint32_t)k] = speed * (random_signed(&state) - 0.4 * ((double)cell[k] - 2));
    }
  }
  add_material(world, m);
  add_balls(world, count, x, v, NULL, 1, 1, 0);
  free(x);
  return world;
}

static void test_momentum_and_energy(void **unused) {
  (void)unused;
  for (int across = 0; across < GRAZE_TANGENTIAL_FULL; across++) {
    for (int rolls = 0; rolls < 2; rolls++) {
      graze_material m = hooke(1000);
      graze_world_sums first, last;
      m.eta_n = 1;
      m.tangential = (graze_tangential_law)across;
      m.friction = 0.5;
      if (rolls != 0) m.rolling = m.spinning = 0.1;
      graze_world *world = make_cloud(&m, 125, 1);
      assert_int_equal(graze_world_get_sums(world, &first), GRAZE_OK);
      run_world(world, 2e-4, 10000);
      assert_int_equal(graze_world_get_sums(world, &last), GRAZE_OK);
      for (int k = 0; k < 3; k++) {
        assert_near(last.momentum[k], first.momentum[k], 1e-11 * 125);
        assert_near(last.angular_momentum[k], first.angular_momentum[k], 1e-11 * 125 * 10);
      }
      assert_true(last.dissipated > 0.05 * first.energy);
      double off = fabs(last.energy + last.dissipated - first.energy) / first.energy;
      if (off > 2e-4) fail_msg("tangential %d: the energy is off by %g", across, off);
      graze_world_destroy(world);
    }
  }
}

/* A ball that hits a wall at a slant: what is in its springs, what has gone, and, where it slides all the time, what
 * friction takes. */
static void check_slanting_hit(double eta_t, double speed) {
  graze_world *world = make_world(0);
  graze_material m = graze_default_material();
  graze_world_sums first, now;
  m.law = GRAZE_HERTZ;
  m.young = 1e6;
  m.poisson = 0.25;
  m.gamma_n = 60;
  m.ends = GRAZE_END_FORCE;
  m.tangential = GRAZE_TANGENTIAL_SPRING;
  m.friction = 0.5;
  m.eta_t = eta_t;
  add_material(world, &m);
  const double at[3] = {0, 0, 0.5001}, velocity[3] = {speed, 0, -1}, floor[3] = {0}, up[3] = {0, 0, 1};
  add_balls(world, 1, at, velocity, NULL, 0.5, 1, 0);
  assert_int_equal(graze_world_add_wall(world, floor, up, 0), GRAZE_OK);
  assert_int_equal(graze_world_get_sums(world, &first), GRAZE_OK);
  for (int i = 0; i < 100; i++) {
    run_world(world, 1e-4, 5);
    assert_int_equal(graze_world_get_sums(world, &now), GRAZE_OK);
    assert_true(now.elastic < 0.6 + 0.05 * speed * speed); /* 0.5 of which is along the normal */
    double off = fabs(now.energy + now.dissipated - first.energy) / first.energy;
    if (off > 1e-2) fail_msg("eta_t %g, speed %g: the energy is off by %g at step %d", eta_t, speed, off, 5 * i + 5);
  }
  assert_int_equal(now.contacts, 0);
  assert_near(now.energy + now.dissipated, first.energy, 3e-4 * first.energy);
  assert_true(now.dissipated > 0);
  if (speed == 6) assert_near(first.momentum[0] - now.momentum[0], 0.5 * (now.momentum[2] + 1), 0.02);
  graze_world_destroy(world);
}

static void test_spring_that_stiffens(void **unused) {
  (void)unused;
  for (double eta_t = 0; eta_t < 4000; eta_t = 10 * eta_t + 3) {
    check_slanting_hit(eta_t, 0.5);
    check_slanting_hit(eta_t, 2);
    check_slanting_hit(eta_t, 6);
  }
}

static void test_elastic_gas(void **unused) {
  (void)unused;
  const graze_material m = hooke(1000);
  graze_world *world = make_cloud(&m, 100, 1);
  graze_world_sums first, now;
  graze_step_limits limits;
  for (int k = 0; k < 6; k++) {
    double normal[3] = {0, 0, 0}, point[3] = {-8, -8, -8};
    normal[k % 3] = k < 3 ? 1 : -1;
    if (k >= 3) point[k % 3] = 16;
    assert_int_equal(graze_world_add_wall(world, point, normal, 0), GRAZE_OK);
  }
  assert_int_equal(graze_world_get_limits(world, &limits), GRAZE_OK);
  assert_int_equal(graze_world_get_sums(world, &first), GRAZE_OK);
  for (int run = 0; run < 10; run++) {
    run_world(world, limits.duration / 50, 1000);
    assert_int_equal(graze_world_get_sums(world, &now), GRAZE_OK);
    assert_near(now.energy, first.energy, 1e-4 * first.energy);
    assert_true(now.dissipated == 0);
  }
  graze_world_destroy(world);
}

static void test_free_fall(void **unused) {
  (void)unused;
  graze_world *world = make_world(-9.81);
  const graze_material m = hooke(1000);
  const double x[3] = {1, 2, 3}, v[3] = {0.5, -0.25, 4};
  double at[3];
  graze_particle_state state = {.positions = at};
  add_material(world, &m);
  add_balls(world, 1, x, v, NULL, 1, 1, 0);
  run_world(world, 1e-3, 2000);
  assert_int_equal(graze_world_get_particles(world, 0, &state), GRAZE_OK);
  assert_near(at[0], 2, 1e-10);
  assert_near(at[1], 1.5, 1e-10);
  assert_near(at[2], 3 + 8 - 9.81 * 2, 1e-10);
  graze_world_destroy(world);
}

static void test_restitution(void **unused) {
  (void)unused;
  static const double wanted[] = {1, 0.9, 0.5, 0.2, 0.05};
  for (int kind = 0; kind < 3; kind++) { /* Hooke's by overlap, by force; Hertz */
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
      graze_world *world = make_world(0);
      graze_material m = graze_default_material();
      double x[6] = {0, 0, 0, 2.0000001, 0, 0}, v[6] = {0.1, 0, 0, -0.1, 0, 0};
      graze_particle_state state = {.velocities = v};
      graze_step_limits limits;
      m.law = kind == 2 ? GRAZE_HERTZ : GRAZE_HOOKE;
      if (kind == 2) m.young = 1e4, m.poisson = 0.3;
      if (kind < 2) m.k_n = 1e4;
      if (kind == 1) m.ends = GRAZE_END_FORCE;
      m.restitution = wanted[i];
      add_material(world, &m);
      add_balls(world, 2, x, v, NULL, 1, 1, 0);
      assert_int_equal(graze_world_get_limits(world, &limits), GRAZE_OK);
      run_world(world, limits.duration / 2000, 12000);
      assert_int_equal(graze_world_get_particles(world, 0, &state), GRAZE_OK);
      assert_near((v[3] - v[0]) / 0.2, wanted[i], 2e-3);
      graze_world_destroy(world);
    }
  }
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

static void test_limits(void **unused) {
  (void)unused;
  graze_world *world = make_world(0);
  const double x[3][3] = {{0}, {9, 0, 0}, {18, 0, 0}}, radii[3] = {1, 1, 2};
  const double floor[3] = {0, 0, -9}, up[3] = {0, 0, 1};
  graze_material soft = hooke(100), hard = hooke(400);
  graze_step_limits limits;
  add_material(world, &soft);
  add_material(world, &hard);
  assert_int_equal(graze_world_get_limits(world, &limits), GRAZE_OK);
  assert_true(isinf(limits.longest));
  add_balls(world, 1, x[0], NULL, radii, 0, 4, 0);
  assert_int_equal(graze_world_get_limits(world, &limits), GRAZE_OK);
  assert_true(isinf(limits.longest)); /* one ball touches nothing */
  run_world(world, 1e6, 0);
  add_balls(world, 1, x[1], NULL, radii, 0, 1, 0);
  assert_int_equal(graze_world_get_limits(world, &limits), GRAZE_OK);
  assert_near(limits.longest, 2 / sqrt(100 / 0.8), 1e-14);
  add_balls(world, 1, x[2], NULL, radii, 1, 2, 1); /* 1 and 2 between the materials: k 160, m 2/3 */
  assert_int_equal(graze_world_get_limits(world, &limits), GRAZE_OK);
  assert_near(limits.longest, 2 / sqrt(160 * 1.5), 1e-14);
  assert_int_equal(graze_world_add_wall(world, floor, up, 1), GRAZE_OK); /* m 2: k 400; m 1: k 160 */
  assert_int_equal(graze_world_get_limits(world, &limits), GRAZE_OK);
  assert_near(limits.longest, 2 / sqrt(160 * 1.5), 1e-14);
  assert_near(limits.duration, acos(-1) / sqrt(160 * 1.5), 1e-14);
  assert_int_equal(graze_world_step(world, limits.longest * (1 + 1e-12), 1, NULL, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_world_get_step(world), 0);
  run_world(world, limits.longest, 1);
  graze_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_momentum_and_energy), cmocka_unit_test(test_spring_that_stiffens),
      cmocka_unit_test(test_elastic_gas),         cmocka_unit_test(test_free_fall),
      cmocka_unit_test(test_restitution),         cmocka_unit_test(test_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
