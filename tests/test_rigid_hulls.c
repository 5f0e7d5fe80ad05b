/* Hulls and cylinders that move: beside boxes of the same solid, in a gas, and what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "rigid_worlds.h"

static graze_rigid *make_world(double gravity, double friction, double restitution) {
  const double point[3] = {0, 0, 0}, up[3] = {0, 0, 1};
  graze_rigid_def def = graze_default_rigid_def();
  graze_rigid_material m = graze_default_rigid_material();
  graze_rigid *world;
  uint32_t number;
  def.gravity[2] = -gravity;
  must(graze_rigid_create(shared_context(1), &def, &world));
  m.friction = friction;
  m.restitution = restitution;
  must(graze_rigid_add_material(world, &m, &number));
  if (gravity > 0) must(graze_rigid_add_wall(world, point, up, 0));
  return world;
}

/* A box of these edges, or the hull of its corners and of points within, far from their origin. */
static graze_rigid_body_def define_box(const double edges[3], bool as_hull, double (*points)[3]) {
  graze_rigid_body_def def = graze_default_rigid_body_def();
  memcpy(def.edges, edges, sizeof def.edges);
  def.shape = as_hull ? GRAZE_RIGID_HULL : GRAZE_RIGID_BOX;
  def.density = 2;
  for (int i = 0; i < 9; i++) {
    for (int k = 0; k < 3; k++) points[i][k] = 7 + (i == 8 ? 0.1 : (i >> k & 1 ? 0.5 : -0.5) * edges[k]);
  }
  def.points = points[0];
  def.point_count = 9;
  return def;
}

static void test_mass(void **unused) {
  (void)unused;
  const double edges[3] = {1, 2, 3};
  double points[9][3], center[3];
  graze_rigid *world = make_world(0, 0, 0);
  for (int i = 0; i < 2; i++) {
    const graze_rigid_body_def def = define_box(edges, i == 1, points);
    uint32_t body;
    must(graze_rigid_add_body(world, &def, &body));
  }
  const graze_rigid_body_def box = get(world, 0), hull = get(world, 1);
  assert_true(fabs(box.mass - hull.mass) < 1e-12);
  for (int i = 0; i < 6; i++) assert_true(fabs(box.inertia[i] - hull.inertia[i]) < 1e-12);
  assert_int_equal(hull.point_count, 8);
  for (int i = 0; i < 24; i++) assert_true(fabs(fabs(hull.points[i]) - 0.5 * edges[i % 3]) < 1e-14);
  must(graze_rigid_find_hull_center(shared_context(1), 9, points[0], center));
  for (int k = 0; k < 3; k++) assert_true(fabs(center[k] - 7) < 1e-14);
  graze_rigid_destroy(world);
}

/* What falls on its edge and tumbles, as a box and as a hull. */
static void test_alike(void **unused) {
  (void)unused;
  const double edges[3] = {0.8, 1, 0.6};
  graze_rigid_body_def ends[2][4];
  for (int i = 0; i < 2; i++) {
    graze_rigid *world = make_world(9.81, 0.5, 0.2);
    double points[9][3];
    for (int k = 0; k < 4; k++) {
      graze_rigid_body_def def = define_box(edges, i == 1, points);
      uint32_t body;
      def.position[0] = 0.3 * k;
      def.position[2] = 0.8 + 1.2 * k;
      def.orientation[1] = 0.1 * k;
      def.orientation[2] = 0.2;
      must(graze_rigid_add_body(world, &def, &body));
    }
    run(world, 20); /* the first hits */
    for (uint32_t k = 0; k < 4; k++) ends[i][k] = get(world, k);
    run(world, 600);
    graze_world_sums sums;
    must(graze_rigid_get_sums(world, &sums));
    assert_true(sums.kinetic + sums.rotational < 1e-3);
    assert_true(sums.max_overlap < 5e-3);
    graze_rigid_destroy(world);
  }
  for (int k = 0; k < 4; k++) {
    assert_true(distance(ends[0][k].position, ends[1][k].position) < 0.01);
    assert_true(distance(ends[0][k].velocity, ends[1][k].velocity) < 0.2);
  }
}

/* A hull of 8 to 20 points on a ball. */
static uint32_t make_points(double (*points)[3], uint64_t *state) {
  const uint32_t count = 8 + (uint32_t)(12 * random_unit(state));
  for (uint32_t i = 0; i < count; i++) {
    double length = 0;
    for (int k = 0; k < 3; k++) {
      points[i][k] = random_signed(state) + (i < 6 && (int)(i / 2) == k ? (i % 2 ? 2 : -2) : 0);
      length += points[i][k] * points[i][k];
    }
    for (int k = 0; k < 3; k++) points[i][k] *= 0.5 / sqrt(length);
  }
  return count;
}

static void test_gas(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(0, 0.4, 0.6);
  uint64_t state = test_seed(1);
  const int side = test_long() ? 10 : 5;
  for (int i = 0; i < side * side * side; i++) {
    double points[20][3];
    graze_rigid_body_def def = graze_default_rigid_body_def();
    uint32_t body;
    const int cell[3] = {i % side, i / side % side, i / side / side};
    def.shape = GRAZE_RIGID_HULL;
    def.points = points[0];
    def.point_count = make_points(points, &state);
    def.density = 1 + 9 * random_unit(&state);
    for (int k = 0; k < 3; k++) {
      def.position[k] = 1.1 * cell[k];
      def.velocity[k] = random_signed(&state) - 0.5 * (cell[k] - 0.5 * side);
      def.spin[k] = 2 * random_signed(&state);
    }
    for (int k = 0; k < 4; k++) def.orientation[k] = random_signed(&state);
    must(graze_rigid_add_body(world, &def, &body));
  }
  graze_world_sums first, now;
  must(graze_rigid_get_sums(world, &first));
  run(world, 100);
  must(graze_rigid_get_sums(world, &now));
  const double scale = sqrt(2 * first.kinetic * first.kinetic);
  assert_true(distance(first.momentum, now.momentum) < 1e-11 * scale);
  assert_true(distance(first.angular_momentum, now.angular_momentum) < 1e-11 * side * scale);
  assert_true(now.energy < 0.9 * first.energy &&
              fabs(now.energy + now.dissipated - first.energy) < 1e-9 * first.energy);
  graze_rigid_destroy(world);
}

/* Two splinters that overlap by more than `least`, by the exact test: contacts have to know of as much, but for what
 * faces are preferred to edges by. The corner that is deepest need not belong to the face that looks at the other most.
 * Whether they do. */
static bool check_splinters(uint64_t *state, double least) {
  graze_rigid *world = make_world(0, 0, 0);
  double points[2][6][3];
  for (int i = 0; i < 2; i++) {
    graze_rigid_body_def def = graze_default_rigid_body_def();
    for (int k = 0; k < 18; k++) points[i][k / 3][k % 3] = random_signed(state) * (double[]){0.5, 0.15, 0.04}[k % 3];
    def.shape = GRAZE_RIGID_HULL;
    def.points = points[i][0];
    def.point_count = i == 0 ? 4 : 6;
    def.density = 1;
    for (int k = 0; k < 3; k++) def.position[k] = i * 0.1 * random_signed(state);
    for (int k = 0; k < 4; k++) def.orientation[k] = random_signed(state);
    add(world, &def);
  }
  graze_rigid_check_result result;
  must(graze_rigid_check(world, 0, &result));
  const double depth = result.deepest.upper > 0 ? result.deepest.lower : 0;
  must(graze_rigid_step(world, 1e-9, 1, NULL, NULL));
  if (depth > least) assert_true(sums_of(world).max_overlap >= depth - least);
  graze_rigid_destroy(world);
  return depth > least;
}

static void test_splinters(void **unused) {
  (void)unused;
  uint64_t state = test_seed(5);
  const int pairs = test_long() ? 20000 : 600;
  int overlapping = 0;
  for (int i = 0; i < pairs; i++) overlapping += check_splinters(&state, 5e-4);
  assert_true(overlapping > pairs / 3);
}

/* It stands on its end, and lies on its side, where it rolls. */
static void test_cylinder(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(9.81, 0.5, 0);
  graze_rigid_body_def def = graze_default_rigid_body_def();
  uint32_t standing, lying;
  def.shape = GRAZE_RIGID_CYLINDER;
  def.radius = 0.5;
  def.length = 2;
  def.density = 1;
  def.position[2] = 1;
  must(graze_rigid_add_body(world, &def, &standing));
  assert_true(fabs(get(world, standing).mass - M_PI * 0.25 * 2) < 1e-12);
  assert_true(get(world, standing).radius == 0.5 && get(world, standing).length == 2);
  def.position[0] = 5;
  def.position[2] = 0.5;
  def.orientation[0] = def.orientation[1] = sqrt(0.5);
  def.velocity[0] = 2;
  def.spin[1] = 4;
  must(graze_rigid_add_body(world, &def, &lying));
  run(world, 60);
  assert_true(fabs(get(world, standing).position[2] - 1) < 1e-3);
  const graze_rigid_body_def b = get(world, lying);
  assert_true(b.position[0] > 6 && fabs(b.position[2] - 0.5) < 0.01);
  graze_rigid_destroy(world);
}

static void refuse(graze_rigid *world, const graze_rigid_body_def *def, const char *words) {
  uint32_t body;
  assert_int_not_equal(graze_rigid_add_body(world, def, &body), GRAZE_OK);
  if (strstr(shared_error()->message, words) == NULL) fail_msg("'%s' is not in: %s", words, shared_error()->message);
}

static void test_refusals(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(9.81, 0, 0);
  graze_rigid_body_def def = graze_default_rigid_body_def();
  double points[300][3], center[3];
  uint64_t state = 1;
  for (int i = 0; i < 300; i++) {
    double length = 0;
    for (int k = 0; k < 3; k++) {
      points[i][k] = random_signed(&state);
      length += points[i][k] * points[i][k];
    }
    for (int k = 0; k < 3; k++) points[i][k] /= sqrt(length);
  }
  def.name = "rock";
  def.density = 1;
  def.shape = GRAZE_RIGID_HULL;
  refuse(world, &def, "body 'rock': its hull has no points");
  def.points = points[0];
  def.point_count = 3;
  refuse(world, &def, "body 'rock': its hull has no volume");
  def.point_count = 300;
  refuse(world, &def, "body 'rock': its hull has more than 256 corners or faces");
  points[1][2] = (double)NAN;
  refuse(world, &def, "finite");
  assert_int_equal(graze_rigid_find_hull_center(shared_context(1), 1, points[0], center), GRAZE_ERROR_ARGUMENT);
  def.shape = GRAZE_RIGID_CYLINDER;
  def.radius = 1;
  refuse(world, &def, "body 'rock': its length is 0");
  graze_rigid_destroy(world);
}

static graze_status use_memory(graze_context *context) {
  graze_rigid_def world_def = graze_default_rigid_def();
  graze_rigid_material m = graze_default_rigid_material();
  graze_rigid *world;
  double points[9][3];
  uint32_t number;
  graze_status status = graze_rigid_create(context, &world_def, &world);
  if (status != GRAZE_OK) return status;
  status = graze_rigid_add_material(world, &m, &number);
  for (int i = 0; status == GRAZE_OK && i < 2; i++) {
    const double edges[3] = {1, 1, 1};
    graze_rigid_body_def def = define_box(edges, true, points);
    if (i == 1) def.shape = GRAZE_RIGID_CYLINDER;
    def.radius = 0.5;
    def.length = 1;
    def.position[2] = i;
    status = graze_rigid_add_body(world, &def, &number);
  }
  if (status == GRAZE_OK) status = graze_rigid_step(world, step, 2, NULL, NULL);
  graze_rigid_destroy(world);
  return status;
}

static void test_refused_memory(void **unused) {
  (void)unused;
  test_refuse_each(use_memory, 2000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mass),          cmocka_unit_test(test_alike),
                                     cmocka_unit_test(test_gas),           cmocka_unit_test(test_cylinder),
                                     cmocka_unit_test(test_splinters),     cmocka_unit_test(test_refusals),
                                     cmocka_unit_test(test_refused_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
