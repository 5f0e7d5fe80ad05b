/* Worlds in single precision: what is kept is a float after every step, by an integration of its own; one hash for
 * every way to run them; no contact is missed where places are coarse. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "worlds.h"

static double as_float(double x) {
  const float nearest = (float)x;
  return fabs(x) < 0x1p-126 ? 0 : (double)nearest;
}

static graze_world *new_world(graze_precision precision, bool periodic, graze_integrator integrator) {
  graze_world_def def = graze_default_world_def();
  graze_world *world = NULL;
  def.precision = precision;
  def.integrator = integrator;
  if (periodic) def.bounds = (graze_box){{0, 0, -1000}, {7, 7, 1000}};
  def.periodic[0] = def.periodic[1] = periodic;
  assert_int_equal(graze_world_create(shared_context(1), &def, &world), GRAZE_OK);
  return world;
}

/* ---- an integration of its own ----------------------------------------------------------------------------------- */

enum { FALLING_STEPS = 3000 };

typedef struct falling {
  double x[3], v[3], inverse_mass, radius;
} falling;

/* A ball over the plane z = 0: a spring of stiffness k. */
static double acceleration(const falling *b, int axis, double k) {
  const double overlap = b->radius - b->x[2];
  if (axis < 2) return 0;
  return as_float((overlap > 0 ? k * overlap : 0) * b->inverse_mass + -9.81);
}

static void kick(falling *b, double h, double k) {
  for (int i = 0; i < 3; i++) b->v[i] = as_float(b->v[i] + h * acceleration(b, i, k));
}

static void drift(falling *b, double dt, bool periodic) {
  for (int i = 0; i < 3; i++) {
    double x = b->x[i] + dt * b->v[i];
    if (periodic && i < 2) x = x < 0 ? x + 7 : x >= 7 ? x - 7 : x;
    b->x[i] = as_float(x);
  }
}

static void step_falling(falling *b, graze_integrator integrator, bool periodic, double dt, double k) {
  if (integrator == GRAZE_EULER) {
    kick(b, dt, k);
    drift(b, dt, periodic);
    return;
  }
  kick(b, 0.5 * dt, k);
  drift(b, dt, periodic);
  kick(b, 0.5 * dt, k);
}

/* Runs are split at random: each split is a state that is kept. */
static void test_own_integration(void **unused) {
  const double dt = 0.00071, k = 900, radius = 0.3, mass = 0.7;
  uint64_t random = test_seed(0);
  (void)unused;
  for (int which = 0; which < 4; which++) {
    const graze_integrator integrator = which % 2 == 0 ? GRAZE_LEAPFROG : GRAZE_EULER;
    const bool periodic = which >= 2;
    const double at[3] = {1.1, 2.3, 0.7}, velocity[3] = {3.3, -1.7, 0.1};
    graze_world *world = new_world(GRAZE_FLOAT, periodic, integrator);
    graze_material m = hooke(k);
    uint32_t set = add_balls(world, 1, at, velocity, NULL, radius, mass, add_material(world, &m));
    assert_int_equal(graze_world_add_wall(world, (const double[3]){0}, (const double[3]){0, 0, 1}, 0), GRAZE_OK);
    falling b = {.inverse_mass = as_float(1 / mass), .radius = as_float(radius)};
    for (int i = 0; i < 3; i++) b.x[i] = as_float(at[i]), b.v[i] = as_float(velocity[i]);
    for (int done = 0; done < FALLING_STEPS;) {
      const uint64_t some = 1 + random_below(&random, 40);
      double x[3], v[3];
      run_world(world, dt, some);
      for (uint64_t i = 0; i < some; i++) step_falling(&b, integrator, periodic, dt, k);
      assert_int_equal(graze_world_get_particles(world, set, &(graze_particle_state){x, v, NULL}), GRAZE_OK);
      assert_memory_equal(x, b.x, sizeof x);
      assert_memory_equal(v, b.v, sizeof v);
      done += (int)some;
    }
    graze_world_destroy(world);
  }
}

/* ---- one hash ---------------------------------------------------------------------------------------------------- */

/* Made by this library, the same on every instruction set. */
static const uint64_t golden[BED_KINDS] = {0xdaca1c0e9a1511f0, 0x620982418810b6ef, 0x452b90709902bc28,
                                           0x867539a5a66a9b43};

static void assert_floats(graze_world *world) {
  enum { MOST = 400 };
  static double numbers[3][3 * MOST];
  for (uint32_t set = 0; set < 2; set++) {
    const graze_particle_state state = {numbers[0], numbers[1], numbers[2]};
    memset(numbers, 0, sizeof numbers);
    if (graze_world_get_particles(world, set, &state) != GRAZE_OK) return;
    for (int what = 0; what < 3; what++) {
      for (int i = 0; i < 3 * MOST; i++) assert_true(numbers[what][i] == as_float(numbers[what][i]));
    }
  }
}

static void test_golden(void **unused) {
  (void)unused;
  for (int i = 0; i < 4 * BED_KINDS; i++) {
    const bed b = {.kind = (bed_kind)(i / 4), .threads = 1 + i % 2, .events = i / 2 % 2 != 0, .single = true};
    graze_world *world = make_bed(&b, 300);
    for (int k = 0; k < 4; k++) run_world(world, bed_dt(&b), k == 2 ? 1 : 133);
    assert_floats(world);
    assert_true(graze_world_get_hash(world) == golden[b.kind]);
    graze_world_destroy(world);
  }
}

static void check_record(uint64_t steps, uint64_t hash) {
  graze_world_replay *replay = NULL;
  graze_world_replay_step step;
  assert_int_equal(graze_world_replay_open(shared_context(1), "test_precision.record", &replay), GRAZE_OK);
  for (uint64_t i = 0; i < steps; i++) {
    assert_int_equal(graze_world_replay_next(replay, &step), GRAZE_OK);
    assert_true(step.same);
  }
  assert_true(step.hash == hash);
  graze_world_replay_close(replay);
}

/* Saved in the middle, restored into another world; a state of the other precision is that of another world. */
static void test_saved_and_recorded(void **unused) {
  (void)unused;
  for (int kind = 0; kind < BED_KINDS; kind++) {
    bed b = {.kind = (bed_kind)kind, .threads = 1, .events = true, .single = true};
    graze_world *first = make_bed(&b, 100), *second = make_bed(&b, 100);
    assert_int_equal(graze_world_record(first, "test_precision.record"), GRAZE_OK);
    run_world(first, bed_dt(&b), 50);
    assert_int_equal(graze_world_save(first, "test_precision.state"), GRAZE_OK);
    run_world(first, bed_dt(&b), 70);
    assert_int_equal(graze_world_record_end(first), GRAZE_OK);
    check_record(120, graze_world_get_hash(first));
    assert_int_equal(graze_world_restore(second, "test_precision.state"), GRAZE_OK);
    run_world(second, bed_dt(&b), 70);
    assert_true(graze_world_get_hash(second) == graze_world_get_hash(first));
    graze_world_destroy(second);
    b.single = false;
    second = make_bed(&b, 100);
    assert_int_equal(graze_world_restore(second, "test_precision.state"), GRAZE_ERROR_FORMAT);
    graze_world_destroy(second);
    graze_world_destroy(first);
    remove("test_precision.state");
    remove("test_precision.record");
  }
}

/* ---- neighbours -------------------------------------------------------------------------------------------------- */

/* A ball goes on by the rounding of its place rather than by its velocity: nobody may be lost all the same. The other
 * world looks for neighbours in every step. */
static void test_coarse_places(void **unused) {
  enum { BALLS = 400 };
  static double at[3 * BALLS], speed[3 * BALLS];
  uint64_t random = test_seed(1);
  (void)unused;
  for (int far_away = 0; far_away < 3; far_away++) {
    const double origin = ldexp(1, 16 + 2 * far_away), dt = 0x1p-9; /* a unit in the last place: 2^-7, 2^-5, 2^-3 */
    graze_world *worlds[2];
    graze_material m = hooke(500);
    for (int i = 0; i < BALLS; i++) {
      const int cell[3] = {i % 8, i / 8 % 8, i / 64};
      for (int k = 0; k < 3; k++) {
        at[3 * i + k] = origin + 2.25 * cell[k] + 0.25 * random_unit(&random);
        speed[3 * i + k] = 16 * random_signed(&random);
      }
    }
    for (int w = 0; w < 2; w++) {
      worlds[w] = new_world(GRAZE_FLOAT, false, GRAZE_LEAPFROG);
      add_balls(worlds[w], BALLS, at, speed, NULL, 1, 1, add_material(worlds[w], &m));
      for (int k = 0; k < 6; k++) {
        double point[3] = {origin, origin, origin}, normal[3] = {0};
        normal[k / 2] = k % 2 == 0 ? 1 : -1;
        for (int axis = 0; axis < 3; axis++) point[axis] += k % 2 == 0 ? -2 : 20;
        assert_int_equal(graze_world_add_wall(worlds[w], point, normal, 0), GRAZE_OK);
      }
    }
    for (int step = 0; step < 400; step++) {
      assert_int_equal(graze_world_get_particles(worlds[1], 0, &(graze_particle_state){at, speed, NULL}), GRAZE_OK);
      assert_int_equal(graze_world_set_particles(worlds[1], 0, &(graze_particle_state){at, speed, NULL}), GRAZE_OK);
      run_world(worlds[1], dt, 1);
    }
    run_world(worlds[0], dt, 400);
    assert_true(graze_world_get_hash(worlds[0]) == graze_world_get_hash(worlds[1]));
    for (int w = 0; w < 2; w++) graze_world_destroy(worlds[w]);
  }
}

/* ---- what has no place in a float -------------------------------------------------------------------------------- */

static void test_beyond_the_range(void **unused) {
  static const double origin[3] = {0, 0, 0}, distant[3] = {0, 1e39, 0}, least[3] = {1e-40, 0, 0};
  (void)unused;
  for (int i = 0; i < 4; i++) {
    graze_world *world = new_world(GRAZE_FLOAT, false, GRAZE_LEAPFROG);
    graze_particle_def def = graze_default_particle_def();
    graze_material m = hooke(1);
    uint32_t set;
    def.name = "dust";
    def.count = 1;
    def.material = add_material(world, &m);
    def.positions = i == 0 ? distant : i == 3 ? least : origin;
    def.radius = i == 1 ? 1e-40 : 1;
    def.mass = i == 2 ? 1e-39 : 1;
    const graze_status status = graze_world_add_particles(world, &def, &set);
    if (i == 3) {
      double x[3];
      assert_int_equal(status, GRAZE_OK);
      assert_int_equal(graze_world_get_particles(world, set, &(graze_particle_state){.positions = x}), GRAZE_OK);
      assert_true(x[0] == 0);
      assert_int_equal(graze_world_set_particles(world, set, &(graze_particle_state){.velocities = (double[3]){1e39}}),
                       GRAZE_ERROR_NOT_FINITE);
    } else {
      assert_int_equal(status, GRAZE_ERROR_ARGUMENT);
      assert_non_null(strstr(graze_last_error(shared_context(1))->message, "dust/0"));
    }
    graze_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_own_integration),    cmocka_unit_test(test_golden),
      cmocka_unit_test(test_saved_and_recorded), cmocka_unit_test(test_coarse_places),
      cmocka_unit_test(test_beyond_the_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
