/* Sensors: they are told of and do nothing, whatever moves through them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "families.h"
#include "rigid_worlds.h"

static graze_rigid *make_world(double pull, bool sleep, graze_rigid_solver solver) {
  graze_rigid_def def = graze_default_rigid_def();
  graze_rigid_material m = graze_default_rigid_material();
  graze_rigid *world;
  uint32_t number;
  def.gravity[2] = -pull;
  def.events = true;
  def.sleep = sleep;
  def.solver = solver;
  m.friction = 0.5;
  must(graze_rigid_create(shared_context(1), &def, &world));
  must(graze_rigid_add_material(world, &m, &number));
  return world;
}

static graze_rigid_body_def box_at(double x, double y, double z, double edge) {
  graze_rigid_body_def def = graze_default_rigid_body_def();
  def.shape = GRAZE_RIGID_BOX;
  def.density = 100;
  def.position[0] = x;
  def.position[1] = y;
  def.position[2] = z;
  for (int k = 0; k < 3; k++) def.edges[k] = edge;
  return def;
}

static graze_rigid_body_def sensor_at(double x, double y, double z, double edge) {
  graze_rigid_body_def def = box_at(x, y, z, edge);
  def.type = GRAZE_BODY_STATIC;
  def.sensor = true;
  return def;
}

/* A ball that flies through: when it begins and ends follows from its way, and the way is the exact one. */
static void test_gate(void **unused) {
  (void)unused;
  for (int solver = GRAZE_RIGID_AUTO; solver <= GRAZE_RIGID_NEWTON; solver++) {
    graze_rigid *world = make_world(0, false, (graze_rigid_solver)solver);
    graze_rigid_body_def ball = graze_default_rigid_body_def(), gate = sensor_at(0, 0, 0, 1), now;
    const graze_contact_event *events;
    uint64_t count, began = 0, ended = 0;
    ball.radius = 0.25;
    ball.density = 1;
    ball.position[0] = -3.01;
    ball.velocity[0] = 2;
    add(world, &gate);
    add(world, &ball);
    for (uint64_t i = 1; i <= 240; i++) {
      must(graze_rigid_step(world, step, 1, NULL, NULL));
      must(graze_rigid_get_events(world, &events, &count));
      for (uint64_t k = 0; k < count; k++) {
        assert_true(events[k].a.index == 0 && events[k].b.index == 1);
        assert_true(events[k].kind != GRAZE_CONTACT_HIT && events[k].impulse == 0);
        if (events[k].kind == GRAZE_CONTACT_BEGAN) {
          began = i;
          assert_true(fabs(events[k].speed - 2) < 1e-12 && fabs(events[k].normal[0] - 1) < 1e-12);
        } else {
          ended = i;
        }
      }
    }
    assert_int_equal(began, 68);  /* -3.01 + 2 t = -0.75: t = 1.13 s, within step 68 */
    assert_int_equal(ended, 113); /* t = 1.88 s */
    must(graze_rigid_get_body(world, 1, &now));
    assert_true(fabs(now.position[0] - (-3.01 + 2 * 240 * step)) < 1e-12 && now.velocity[0] == 2);
    graze_rigid_destroy(world);
  }
}

/* A heap that falls through sensors does the same as without them, to the last bit, and falls asleep in them. */
static graze_rigid *make_heap(bool sensed, graze_rigid_solver solver) {
  graze_rigid *world = make_world(9.81, true, solver);
  const double point[3] = {0, 0, 0}, up[3] = {0, 0, 1};
  uint64_t state = 3;
  must(graze_rigid_add_wall(world, point, up, 0));
  for (uint32_t i = 0; i < 12; i++) {
    graze_rigid_body_def def = box_at(0.3 * random_signed(&state), 0.3 * random_signed(&state), 0.5 + 0.8 * i, 0.5);
    for (int k = 0; k < 4; k++) def.orientation[k] = random_signed(&state);
    add(world, &def);
  }
  for (uint32_t i = 0; i < 3 && sensed; i++) {
    const graze_rigid_body_def def = sensor_at(0.2 * i, 0, 1 + i, 3);
    add(world, &def);
  }
  return world;
}

static void test_heap(void **unused) {
  (void)unused;
  for (int solver = GRAZE_RIGID_AUTO; solver <= GRAZE_RIGID_SOFT; solver++) {
    uint64_t hashes[2], contacts[2];
    for (int k = 0; k < 2; k++) {
      graze_world_sums sums;
      bool touching[15];
      const graze_contact_event *events;
      uint64_t count, began = 0, ended = 0;
      graze_rigid *world = make_heap(k == 1, (graze_rigid_solver)solver);
      for (int i = 0; i < 400; i++) {
        must(graze_rigid_step(world, step, 1, NULL, NULL));
        must(graze_rigid_get_events(world, &events, &count));
        for (uint64_t e = 0; e < count; e++) {
          const bool of_sensor = events[e].b.kind == GRAZE_MEMBER_BODY && events[e].b.index >= 12;
          began += of_sensor && events[e].kind == GRAZE_CONTACT_BEGAN;
          ended += of_sensor && events[e].kind == GRAZE_CONTACT_ENDED;
        }
      }
      must(graze_rigid_get_sums(world, &sums));
      hashes[k] = graze_rigid_get_hash(world);
      contacts[k] = sums.contacts;
      assert_int_equal(graze_rigid_get_asleep_count(world), 12);
      assert_true(sums.max_overlap < 0.02);
      graze_rigid_find_touching(world, touching);
      if (k == 1) {
        graze_rigid_check_result result;
        assert_true(began >= 12 && ended > 0 && began - ended <= 36);
        for (int i = 12; i < 15; i++) assert_false(touching[i]);
        must(graze_rigid_check(world, 0.02, &result));
        assert_int_equal(result.count, 0);
      }
      graze_rigid_destroy(world);
    }
    assert_true(hashes[0] == hashes[1] && contacts[0] == contacts[1]);
  }
}

/* A sensor that is driven over one that sleeps wakes it, and both ends are told; rays pass through it. */
static void test_driven(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(9.81, true, GRAZE_RIGID_AUTO);
  const double point[3] = {0, 0, 0}, up[3] = {0, 0, 1}, still[3] = {0, 0, 0}, fast[3] = {2, 0, 0};
  graze_rigid_body_def def = box_at(0, 0, 0.5, 1), now;
  const graze_contact_event *events;
  uint64_t count, kinds[3] = {0, 0, 0};
  must(graze_rigid_add_wall(world, point, up, 0));
  add(world, &def);
  def = sensor_at(-4, 0, 0.5, 1);
  def.type = GRAZE_BODY_KINEMATIC;
  add(world, &def);
  must(graze_rigid_step(world, step, 60, NULL, NULL));
  assert_true(graze_rigid_is_asleep(world, 0));
  must(graze_rigid_set_velocity(world, 1, fast, still));
  for (int i = 0; i < 300; i++) {
    must(graze_rigid_step(world, step, 1, NULL, NULL));
    must(graze_rigid_get_events(world, &events, &count));
    for (uint64_t k = 0; k < count; k++) kinds[events[k].kind]++;
  }
  assert_true(kinds[GRAZE_CONTACT_BEGAN] == 1 && kinds[GRAZE_CONTACT_ENDED] == 1 && kinds[GRAZE_CONTACT_HIT] == 0);
  assert_true(graze_rigid_is_asleep(world, 0));
  must(graze_rigid_get_body(world, 0, &now));
  assert_true(fabs(now.position[0]) < 1e-9);
  const double from[3] = {20, 0, 0.5}, way[3] = {-1, 0, 0};
  const graze_rays rays = {.count = 1, .from = from, .way = way};
  graze_rigid_hit hit;
  must(graze_rigid_cast_rays(world, &rays, &hit));
  assert_true(hit.hit && hit.member.index == 0 && fabs(hit.t - 19.5) < 1e-9);
  graze_rigid_destroy(world);
}

static void test_errors(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(0, false, GRAZE_RIGID_AUTO);
  graze_rigid_body_def def = sensor_at(0, 0, 0, 1);
  uint32_t body;
  def.name = "gate";
  def.type = GRAZE_BODY_DYNAMIC;
  assert_int_equal(graze_rigid_add_body(world, &def, &body), GRAZE_ERROR_ARGUMENT);
  assert_non_null(strstr(shared_error()->message, "body 'gate' is dynamic: a sensor is static or kinematic"));
  def.type = GRAZE_BODY_STATIC;
  add(world, &def);
  must(graze_rigid_get_body(world, 0, &def));
  assert_true(def.sensor);
  graze_rigid_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_gate), cmocka_unit_test(test_heap),
                                     cmocka_unit_test(test_driven), cmocka_unit_test(test_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
