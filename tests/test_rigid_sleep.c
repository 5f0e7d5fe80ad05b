/* Rigid bodies that sleep: when, what wakes them, and that nobody else does anything different. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rigid_worlds.h"

static graze_rigid *make_world(bool sleep) {
  const double point[3] = {0, 0, 0}, up[3] = {0, 0, 1};
  graze_rigid_def def = graze_default_rigid_def();
  graze_rigid_material m = graze_default_rigid_material();
  graze_rigid *world;
  uint32_t number;
  def.sleep = sleep;
  def.events = true;
  must(graze_rigid_create(shared_context(1), &def, &world));
  m.friction = 0.5;
  must(graze_rigid_add_material(world, &m, &number));
  m.friction = 0;
  must(graze_rigid_add_material(world, &m, &number)); /* ice */
  must(graze_rigid_add_wall(world, point, up, 0));
  return world;
}

static uint32_t add_shape(graze_rigid *world, graze_rigid_shape shape, double x, double z, double vx,
                          uint32_t material) {
  graze_rigid_body_def def = graze_default_rigid_body_def();
  uint32_t body;
  def.shape = shape;
  def.radius = 0.5;
  for (int k = 0; k < 3; k++) def.edges[k] = 1;
  def.position[0] = x;
  def.position[2] = z;
  def.velocity[0] = vx;
  def.density = 1;
  def.material = material;
  must(graze_rigid_add_body(world, &def, &body));
  return body;
}

static uint64_t count_events(const graze_rigid *world) {
  const graze_contact_event *events;
  uint64_t count;
  must(graze_rigid_get_events(world, &events, &count));
  return count;
}

/* Stacks of three boxes, the first bodies. */
static void add_stacks(graze_rigid *world, int count) {
  for (int i = 0; i < 3 * count; i++) add_shape(world, GRAZE_RIGID_BOX, 3 * (i / 3), 0.5 + i % 3, 0, 0);
}

static void test_falls_asleep(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(true);
  graze_world_sums sums;
  add_stacks(world, 4);
  run(world, 20);
  assert_int_equal(graze_rigid_get_asleep_count(world), 0);
  run(world, 40);
  assert_int_equal(graze_rigid_get_asleep_count(world), 12);
  const uint64_t hash = graze_rigid_get_hash(world);
  run(world, 100);
  assert_int_equal(count_events(world), 0); /* a nap ends no contact */
  assert_true(graze_rigid_get_hash(world) == hash);
  must(graze_rigid_get_sums(world, &sums));
  assert_int_equal(sums.contacts, 12);
  assert_true(sums.kinetic == 0);
  graze_rigid_destroy(world);
}

/* A ball wakes the stack that it hits, before it hits, and no other. */
static void test_woken_by_contact(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(true);
  add_stacks(world, 3);
  run(world, 60);
  assert_int_equal(graze_rigid_get_asleep_count(world), 9);
  const uint32_t ball = add_shape(world, GRAZE_RIGID_SPHERE, -3, 0.5, 10, 0);
  run(world, 30);
  assert_true(get(world, 0).position[0] > 0.01);
  assert_true(get(world, ball).velocity[0] < 9);
  for (uint32_t i = 0; i < 9; i++) assert_int_equal(graze_rigid_is_asleep(world, i), i >= 3);
  graze_rigid_destroy(world);
}

static void test_woken_by_hand(void **unused) {
  (void)unused;
  const double up[3] = {0, 0, 5}, none[3] = {0, 0, 0};
  graze_rigid *world = make_world(true);
  add_stacks(world, 2);
  run(world, 60);
  must(graze_rigid_set_velocity(world, 2, up, none));
  assert_int_equal(graze_rigid_get_asleep_count(world), 3);
  run(world, 6);
  assert_true(get(world, 2).position[2] > 2.8);
  must(graze_rigid_wake(world, 4));
  assert_int_equal(graze_rigid_get_asleep_count(world), 0);
  assert_int_equal(graze_rigid_wake(world, 99), GRAZE_ERROR_HANDLE);
  graze_rigid_destroy(world);
}

/* What lies on something that is driven falls when that goes away, and does not sleep while it goes. */
static void test_woken_by_loss_of_support(void **unused) {
  (void)unused;
  const double aside[3] = {5, 0, 0}, none[3] = {0, 0, 0};
  graze_rigid *world = make_world(true);
  graze_rigid_body_def def = graze_default_rigid_body_def();
  uint32_t plate;
  def.type = GRAZE_BODY_KINEMATIC;
  def.shape = GRAZE_RIGID_BOX;
  def.edges[0] = def.edges[1] = 4;
  def.edges[2] = 0.5;
  def.position[2] = 5;
  def.material = 1;
  must(graze_rigid_add_body(world, &def, &plate));
  const uint32_t box = add_shape(world, GRAZE_RIGID_BOX, 0, 5.75, 0, 1);
  run(world, 60);
  assert_true(graze_rigid_is_asleep(world, box));
  must(graze_rigid_set_velocity(world, plate, aside, none));
  assert_false(graze_rigid_is_asleep(world, box));
  run(world, 100);
  assert_true(get(world, box).position[2] < 1);
  graze_rigid_destroy(world);
}

/* Whoever moves on does the same, bit for bit, whether others sleep or not. */
static void test_awake_are_the_same(void **unused) {
  (void)unused;
  graze_rigid *worlds[2];
  uint32_t balls[3];
  for (int i = 0; i < 2; i++) {
    worlds[i] = make_world(i == 1);
    add_stacks(worlds[i], 5);
    for (int k = 0; k < 3; k++) balls[k] = add_shape(worlds[i], GRAZE_RIGID_SPHERE, -20 - 3 * k, 0.5, -1 + 0.2 * k, 0);
    run(worlds[i], 400);
  }
  assert_int_equal(graze_rigid_get_asleep_count(worlds[1]), 15);
  for (int k = 0; k < 3; k++) {
    const graze_rigid_body_def a = get(worlds[0], balls[k]), b = get(worlds[1], balls[k]);
    assert_memory_equal(a.position, b.position, sizeof a.position);
    assert_memory_equal(a.spin, b.spin, sizeof a.spin);
  }
  for (int i = 0; i < 2; i++) graze_rigid_destroy(worlds[i]);
}

static void test_restored(void **unused) {
  (void)unused;
  char path[] = "/tmp/graze-sleep-XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  graze_rigid *worlds[2];
  for (int i = 0; i < 2; i++) {
    worlds[i] = make_world(true);
    add_stacks(worlds[i], 3);
    add_shape(worlds[i], GRAZE_RIGID_SPHERE, -12, 0.5, 6, 0);
  }
  run(worlds[0], 70);
  must(graze_rigid_save(worlds[0], path));
  run(worlds[0], 120);
  must(graze_rigid_restore(worlds[1], path));
  assert_int_equal(graze_rigid_get_asleep_count(worlds[1]), 9);
  run(worlds[1], 120);
  assert_true(graze_rigid_get_hash(worlds[0]) == graze_rigid_get_hash(worlds[1]));
  assert_int_equal(graze_rigid_get_asleep_count(worlds[0]), graze_rigid_get_asleep_count(worlds[1]));
  for (int i = 0; i < 2; i++) graze_rigid_destroy(worlds[i]);
  unlink(path);
}

static graze_status use_memory(graze_context *context) {
  const double point[3] = {0, 0, 0}, up[3] = {0, 0, 1};
  graze_rigid_def def = graze_default_rigid_def();
  graze_rigid_material m = graze_default_rigid_material();
  graze_rigid *world;
  uint32_t number;
  def.sleep = true;
  graze_status status = graze_rigid_create(context, &def, &world);
  if (status != GRAZE_OK) return status;
  status = graze_rigid_add_material(world, &m, &number);
  if (status == GRAZE_OK) status = graze_rigid_add_wall(world, point, up, 0);
  for (int i = 0; status == GRAZE_OK && i < 2; i++) {
    graze_rigid_body_def body = graze_default_rigid_body_def();
    body.radius = 0.5;
    body.density = 1;
    body.position[0] = 3 * i;
    body.position[2] = 0.5;
    status = graze_rigid_add_body(world, &body, &number);
  }
  if (status == GRAZE_OK) status = graze_rigid_step(world, step, 40, NULL, NULL);
  if (status == GRAZE_OK) status = graze_rigid_wake(world, 0);
  if (status == GRAZE_OK) status = graze_rigid_step(world, step, 2, NULL, NULL);
  graze_rigid_destroy(world);
  return status;
}

static void test_refused_memory(void **unused) {
  (void)unused;
  test_refuse_each(use_memory, 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_falls_asleep),       cmocka_unit_test(test_woken_by_contact),
      cmocka_unit_test(test_woken_by_hand),      cmocka_unit_test(test_woken_by_loss_of_support),
      cmocka_unit_test(test_awake_are_the_same), cmocka_unit_test(test_restored),
      cmocka_unit_test(test_refused_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
