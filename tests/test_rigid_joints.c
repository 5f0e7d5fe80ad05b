/* Joints of rigid bodies against what mechanics says of them. */
#include <math.h>
#include <string.h>

#include "rigid_solvers.h"

static uint32_t join(graze_rigid *world, graze_joint_type type, uint32_t a, uint32_t b, double x, double z,
                     graze_joint_def *def) {
  uint32_t joint;
  def->type = type;
  def->a = a;
  def->b = b;
  def->point[0] = x;
  def->point[1] = 0;
  def->point[2] = z;
  must(graze_rigid_add_joint(world, def, &joint));
  return joint;
}

static graze_joint_state joint_of(const graze_rigid *world, uint32_t joint) {
  graze_joint_state state;
  must(graze_rigid_get_joint(world, joint, &state));
  return state;
}

/* Periods of a point on a rod by elliptic integrals, in those of small swings. */
static void test_pendulum(void **unused) {
  (void)unused;
  static const double degrees[] = {10, 60, 90, 150},
                      periods[] = {1.0019071882, 1.0731820071, 1.1803405990, 1.7622037295};
  static const graze_joint_type types[] = {GRAZE_JOINT_BALL, GRAZE_JOINT_HINGE, GRAZE_JOINT_DISTANCE};
  for (int i = 0; i < 12; i++) {
    graze_rigid *world = make_world(shared_context(1), 0, 0, 9.81);
    const double angle = degrees[i % 4] * M_PI / 180;
    graze_rigid_body_def bob = define(GRAZE_RIGID_SPHERE, 0.02, sin(angle), 0, -cos(angle));
    graze_joint_def def = graze_default_joint_def();
    const uint32_t body = add(world, &bob);
    def.axis[0] = 0;
    def.axis[1] = 1;
    def.axis[2] = 0;
    for (int k = 0; k < 3; k++) def.other[k] = 0;
    const bool rod = types[i / 4] == GRAZE_JOINT_DISTANCE;
    join(world, types[i / 4], body, GRAZE_NO_BODY, rod ? bob.position[0] : 0, rod ? bob.position[2] : 0, &def);
    double before = bob.position[0], first = -1, last = -1;
    int swings = 0;
    for (int s = 0; s < 1800; s++) {
      static const double none[3] = {0, 0, 0};
      run(world, 1);
      const graze_rigid_body_def b = get(world, body);
      assert_near(distance(b.position, none), 1, 1e-4);
      if (before < 0 && b.position[0] >= 0) {
        last = (s + before / (before - b.position[0])) * step;
        if (first < 0)
          first = last;
        else
          swings++;
      }
      before = b.position[0];
    }
    assert_near((last - first) / swings / (2 * M_PI * sqrt(1 / 9.81)), periods[i % 4], 5e-3 * periods[i % 4]);
    graze_rigid_destroy(world);
  }
}

/* A chain that hangs, with its mass a thousand times at the end, pulls at every joint with what hangs on it. */
static void test_hanging_chain(void **unused) {
  (void)unused;
  enum { LINKS = 50 };
  graze_rigid *world = make_world(shared_context(1), 0.5, 0, 9.81);
  uint32_t before = GRAZE_NO_BODY, joints[LINKS];
  for (uint32_t i = 0; i < LINKS; i++) {
    graze_joint_def def = graze_default_joint_def();
    graze_rigid_body_def link = define(GRAZE_RIGID_CAPSULE, 0.2, 0, 0, -0.25 - 0.5 * i);
    link.length = 0.3;
    link.mass = i + 1 == LINKS ? 1000 : 1;
    link.density = (double)NAN;
    const uint32_t body = add(world, &link);
    joints[i] = join(world, GRAZE_JOINT_BALL, body, before, 0, -0.5 * i, &def);
    before = body;
  }
  run(world, 300);
  for (uint32_t i = 0; i < LINKS; i++) {
    assert_near(get(world, i).position[2], -0.25 - 0.5 * i, 1e-3);
    assert_near(joint_of(world, joints[i]).force, (LINKS - 1 - i + 1000) * 9.81, 1);
  }
  graze_rigid_destroy(world);
}

/* A motor turns to the limit and holds there; a slider swings on its spring; what pulls too much breaks. */
static void test_hinge_and_slider(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(shared_context(1), 0.5, 0, 0);
  graze_joint_def hinge = graze_default_joint_def(), slider = graze_default_joint_def();
  graze_rigid_body_def door = define(GRAZE_RIGID_BOX, 1, 0.5, 0, 0), block = define(GRAZE_RIGID_BOX, 1, 5, 0, 0);
  hinge.limits[0] = -0.5;
  hinge.limits[1] = 1.25;
  hinge.motor_speed = 1;
  hinge.motor_most = 100;
  const uint32_t turned = join(world, GRAZE_JOINT_HINGE, add(world, &door), GRAZE_NO_BODY, 0, 0, &hinge);
  block.velocity[0] = 1;
  slider.axis[0] = 1;
  slider.axis[2] = 0;
  slider.spring = 4 * M_PI * M_PI; /* a second for a swing */
  const uint32_t swung = join(world, GRAZE_JOINT_SLIDER, add(world, &block), GRAZE_NO_BODY, 5, 0, &slider);
  run(world, 60);
  assert_near(joint_of(world, turned).coordinate, 1, 0.02);
  assert_near(joint_of(world, swung).coordinate, 0, 0.02);
  run(world, 15);
  assert_near(joint_of(world, swung).coordinate, 1 / (2 * M_PI), 0.02);
  run(world, 225);
  assert_near(joint_of(world, turned).coordinate, 1.25, 1e-3);
  assert_near(get(world, 1).position[1], 0, 1e-9);
  assert_near(get(world, 1).position[2], 0, 1e-9);
  graze_rigid_destroy(world);
}

static void test_fixed_and_breaking(void **unused) {
  (void)unused;
  for (int breaks = 0; breaks < 2; breaks++) {
    graze_rigid *world = make_world(shared_context(1), 0.5, 0, 9.81);
    graze_joint_def first = graze_default_joint_def(), second = graze_default_joint_def();
    const graze_rigid_body_def a = define(GRAZE_RIGID_BOX, 1, 0.5, 0, 0), b = define(GRAZE_RIGID_BOX, 1, 1.5, 0, 0);
    const uint32_t inner = add(world, &a), outer = add(world, &b);
    join(world, GRAZE_JOINT_FIXED, inner, GRAZE_NO_BODY, 0, 0, &first);
    if (breaks) second.breaks_at = 9;
    const uint32_t joint = join(world, GRAZE_JOINT_FIXED, outer, inner, 1, 0, &second); /* holds 9.81 N */
    run(world, 60);
    assert_int_equal(joint_of(world, joint).broken, breaks);
    assert_near(get(world, inner).position[2], 0, 1e-4);
    if (breaks)
      assert_true(get(world, outer).position[2] < -4);
    else
      assert_near(get(world, outer).position[2], 0, 1e-3);
    graze_rigid_destroy(world);
  }
}

static void refuse_joint(graze_rigid *world, const graze_joint_def *def, const char *words) {
  uint32_t joint;
  assert_int_equal(graze_rigid_add_joint(world, def, &joint), GRAZE_ERROR_ARGUMENT);
  if (strstr(shared_error()->message, words) == NULL) fail_msg("'%s' is not in: %s", words, shared_error()->message);
}

static void test_joint_refusals(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(shared_context(1), 0.5, 0, 9.81);
  graze_rigid_body_def body = define(GRAZE_RIGID_BOX, 1, 0, 0, 0);
  graze_joint_def def = graze_default_joint_def();
  add(world, &body);
  body.type = GRAZE_BODY_STATIC;
  add(world, &body);
  def.name = "pin";
  refuse_joint(world, &def, "joint 'pin': \"point\" is missing");
  for (int k = 0; k < 3; k++) def.point[k] = 0;
  def.b = 0;
  refuse_joint(world, &def, "the same body");
  def.a = 1;
  def.b = GRAZE_NO_BODY;
  refuse_joint(world, &def, "no force moves any");
  def.a = 7;
  refuse_joint(world, &def, "\"a\" is no body");
  def.a = 0;
  def.limits[0] = 0;
  refuse_joint(world, &def, "has no \"limits\"");
  def.type = GRAZE_JOINT_HINGE;
  refuse_joint(world, &def, "not the least and the most");
  def.limits[1] = 4;
  refuse_joint(world, &def, "within -pi and pi");
  def.limits[1] = 3;
  def.axis[2] = 0;
  refuse_joint(world, &def, "\"axis\" is 0");
  def.axis[2] = 1;
  def.motor_speed = 1;
  refuse_joint(world, &def, "\"motor\"");
  def.motor_most = 1;
  def.breaks_at = -1;
  refuse_joint(world, &def, "\"breaks_at\"");
  def.breaks_at = 1;
  uint32_t joint;
  must(graze_rigid_add_joint(world, &def, &joint));
  assert_int_equal(graze_rigid_get_joint(world, 1, NULL), GRAZE_ERROR_ARGUMENT);
  graze_rigid_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pendulum), cmocka_unit_test(test_hanging_chain),
                                     cmocka_unit_test(test_hinge_and_slider), cmocka_unit_test(test_fixed_and_breaking),
                                     cmocka_unit_test(test_joint_refusals)};
  int failed = 0;
  for (int i = 0; i < 2; i++) {
    solver = i == 0 ? GRAZE_RIGID_NEWTON : GRAZE_RIGID_AUTO;
    failed += cmocka_run_group_tests_name(i == 0 ? "newton" : "auto", tests, NULL, NULL);
  }
  return failed;
}
