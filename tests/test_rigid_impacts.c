/* How contacts of rigid bodies begin, against parabolas and straight ways that are known; and blasts, against those of
 * particles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "rigid_worlds.h"

static const double pull = 9.81;

static graze_rigid *make_world(int threads, double gravity, graze_rigid_solver solver, double restitution) {
  graze_rigid_def def = graze_default_rigid_def();
  graze_rigid_material m = graze_default_rigid_material();
  graze_rigid *world;
  uint32_t number;
  def.gravity[2] = -gravity;
  def.events = true;
  def.solver = solver;
  m.friction = 0.5;
  m.restitution = restitution;
  must(graze_rigid_create(shared_context(threads), &def, &world));
  must(graze_rigid_add_material(world, &m, &number));
  return world;
}

static graze_rigid_body_def ball_at(double x, double y, double z, double radius) {
  graze_rigid_body_def def = graze_default_rigid_body_def();
  def.radius = radius;
  def.density = 100;
  def.position[0] = x;
  def.position[1] = y;
  def.position[2] = z;
  return def;
}

/* Steps until contacts begin, each of which is told as its event is. */
static uint64_t run_to_impacts(graze_rigid *world, double dt, uint64_t most, const graze_rigid_impact **impacts) {
  uint64_t count = 0;
  for (uint64_t i = 0; count == 0 && i < most; i++) {
    const graze_contact_event *events;
    uint64_t event_count, began = 0;
    must(graze_rigid_step(world, dt, 1, NULL, NULL));
    must(graze_rigid_get_events(world, &events, &event_count));
    must(graze_rigid_get_impacts(world, impacts, &count));
    for (uint64_t k = 0; k < event_count; k++) {
      if (events[k].kind != GRAZE_CONTACT_BEGAN) continue;
      const graze_rigid_impact *impact = &(*impacts)[began++];
      assert_true(began <= count && impact->step == events[k].step);
      assert_memory_equal(&impact->a, &events[k].a, sizeof impact->a);
      assert_memory_equal(&impact->b, &events[k].b, sizeof impact->b);
      assert_true(impact->before >= -0.25 * dt && impact->before <= dt);
    }
    assert_int_equal(began, count);
  }
  return count;
}

static double time_of(const graze_rigid_impact *impact, double dt) {
  return (double)impact->step * dt - impact->before;
}

/* A ball is thrown at the floor: the parabola's root, whatever bounces and whatever the step. Soft sub-steps leave the
 * parabola by h dt g / 2 in a step in which a ball comes near and does not touch yet. */
static void test_falling_balls(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1);
  int exact = 0;
  for (int round = 0; round < test_rounds(300, 5000); round++) {
    graze_rigid *world = make_world(1, pull, (graze_rigid_solver)(round % 3), round % 2 ? 0.7 : 0);
    const graze_rigid_impact *impact;
    graze_rigid_body_def ball = ball_at(1, -2, 1 + 3 * random_unit(&state), 0.05 + 0.4 * random_unit(&state));
    const double dt = step * (0.2 + random_unit(&state)), gap = ball.position[2] - ball.radius;
    for (int k = 0; k < 3; k++) ball.velocity[k] = 4 * random_signed(&state);
    add_floor(world);
    add(world, &ball);
    assert_int_equal(run_to_impacts(world, dt, 1000, &impact), 1);
    const double *v = ball.velocity, time = (v[2] + sqrt(v[2] * v[2] + 2 * pull * gap)) / pull;
    const double at[3] = {1 + time * v[0], -2 + time * v[1], 0}, down[3] = {v[0], v[1], v[2] - pull * time};
    const double off = fabs(time_of(impact, dt) - time), most = 1e-11 + 0.25 * dt * dt * pull / -down[2];
    assert_true(off <= most && distance(impact->velocity, down) <= 1e-10 + pull * most);
    assert_true(distance(impact->point, at) <= 1e-10 + 6 * most);
    assert_near(impact->speed, -down[2], 1e-10 + pull * most);
    exact += off < 1e-11;
    assert_true(impact->a.kind == GRAZE_MEMBER_BODY && impact->b.kind == GRAZE_MEMBER_WALL && impact->normal[2] == 1);
    graze_rigid_destroy(world);
  }
  assert_true(exact > test_rounds(300, 5000) / 2);
}

/* Two balls meet in flight, both pulled alike. The normal turns on the way, and a contact is a plane. */
static void test_balls_that_meet(void **unused) {
  (void)unused;
  uint64_t state = test_seed(2);
  for (int round = 0; round < test_rounds(200, 5000); round++) {
    graze_rigid *world = make_world(1, pull, (graze_rigid_solver)(round % 3), 0.5);
    const graze_rigid_impact *impact;
    const double speed = 1 + 30 * random_unit(&state), gap = 0.5 + 3 * random_unit(&state), aside = 0.3;
    graze_rigid_body_def first = ball_at(0, 0, 0, 0.25), second = ball_at(gap + 0.4, aside, 0, 0.25);
    second.velocity[0] = -speed; /* at 0.4 along and 0.3 across the centres are 0.5 apart */
    first.velocity[1] = second.velocity[1] = 2;
    add(world, &first);
    add(world, &second);
    assert_int_equal(run_to_impacts(world, step, 1000, &impact), 1);
    assert_near(time_of(impact, step), gap / speed, 0.1 * step);
    assert_near(impact->velocity[0], speed, 1e-9);
    assert_near(impact->velocity[1], 0, 1e-9);
    graze_rigid_destroy(world);
  }
}

/* A tetrahedron flies fast, turned, corner first, at a face of a body that stands or is driven: by many of its sizes in
 * a step, and by less. */
static void test_fast_fragments(void **unused) {
  (void)unused;
  static const double tip[4][3] = {{0, 0, -0.3}, {0.1, 0, 0.1}, {-0.1, 0.1, 0.1}, {-0.1, -0.1, 0.1}};
  uint64_t state = test_seed(3);
  graze_mesh *mesh = make_cube();
  double center[3];
  must(graze_rigid_find_hull_center(shared_context(1), 4, tip[0], center));
  for (int round = 0; round < test_rounds(200, 3000); round++) {
    graze_rigid *world = make_world(1, 0, round % 4 < 2 ? GRAZE_RIGID_SOFT : GRAZE_RIGID_NEWTON, 0.3);
    graze_rigid_body_def target = graze_default_rigid_body_def(), shard = target;
    const graze_rigid_impact *impact;
    const double speed = 1 + 60 * random_unit(&state), gap = 0.5 + 2 * random_unit(&state), rise = round % 5 - 2;
    target.type = round % 5 == 2 ? GRAZE_BODY_STATIC : GRAZE_BODY_KINEMATIC;
    target.shape = round % 2 ? GRAZE_RIGID_MESH : GRAZE_RIGID_BOX;
    target.mesh = round % 2 ? mesh : NULL;
    for (int k = 0; k < 3; k++) target.edges[k] = 2;
    target.velocity[2] = target.type == GRAZE_BODY_STATIC ? 0 : 0.25 * rise;
    shard.shape = GRAZE_RIGID_HULL;
    shard.points = tip[0];
    shard.point_count = 4;
    shard.density = 1000;
    shard.velocity[0] = 0.15 * random_signed(&state); /* in at most 5 s it is not beside the target */
    shard.velocity[2] = -speed;
    shard.position[2] = 1 + gap + 0.3 + center[2];
    add(world, &target);
    add(world, &shard);
    assert_int_equal(run_to_impacts(world, step, 1000, &impact), 1);
    const double time = gap / (speed + target.velocity[2]);
    assert_near(time_of(impact, step), time, 1e-9);
    const double at[3] = {shard.velocity[0] * time - center[0], -center[1], 1 + target.velocity[2] * time};
    assert_true(distance(impact->point, at) < 1e-9);
    assert_near(impact->velocity[2], speed + target.velocity[2], 1e-9); /* of the target against the shard */
    graze_rigid_destroy(world);
  }
  graze_mesh_destroy(mesh);
}

enum { THROWN = 200 };

static graze_rigid *make_thrown(int threads) {
  graze_rigid *world = make_world(threads, pull, GRAZE_RIGID_SOFT, 0.3);
  add_floor(world);
  for (int i = 0; i < THROWN; i++) {
    const graze_rigid_body_def ball = ball_at(0.3 * (i % 6), 0.3 * (i / 6 % 6), 0.5 + 0.3 * (i / 36), 0.1);
    add(world, &ball);
  }
  return world;
}

static void get_particles(const graze_rigid *world, const graze_blast *blast, double v[THROWN][3],
                          double w[THROWN][3]) {
  static double x[THROWN][3];
  graze_world_def def = graze_default_world_def();
  graze_particle_def set = graze_default_particle_def();
  graze_material m = graze_default_material();
  graze_world *balls = NULL;
  uint32_t number;
  for (uint32_t i = 0; i < THROWN; i++) memcpy(x[i], get(world, i).position, sizeof x[i]);
  m.k_n = 1;
  set.name = "thrown";
  set.count = THROWN;
  set.positions = x[0];
  set.radius = 0.1;
  set.mass = 1;
  must(graze_world_create(shared_context(1), &def, &balls));
  must(graze_world_add_material(balls, "m", &m, &number));
  must(graze_world_add_particles(balls, &set, &number));
  must(graze_world_blast(balls, 0, blast));
  const graze_particle_state state = {.velocities = v[0], .spins = w[0]};
  must(graze_world_get_particles(balls, 0, &state));
  graze_world_destroy(balls);
}

/* The same as of particles at the same places, for any number of threads; and what comes of it begins alike. */
static void test_blasts(void **unused) {
  (void)unused;
  static double v[THROWN][3], w[THROWN][3];
  graze_rigid *worlds[2] = {make_thrown(1), make_thrown(4)};
  graze_blast blast = graze_default_blast();
  const graze_rigid_impact *impacts[2];
  uint64_t counts[2];
  blast.center[2] = 0.25;
  blast.speed[0] = 2;
  blast.speed[1] = 20;
  blast.spin = 9;
  blast.seed = 77;
  get_particles(worlds[0], &blast, v, w);
  for (int k = 0; k < 2; k++) {
    for (uint32_t i = 0; i < THROWN; i++) {
      must(graze_rigid_blast(worlds[k], i, &blast));
      const graze_rigid_body_def body = get(worlds[k], i);
      assert_memory_equal(body.velocity, v[i], sizeof body.velocity);
      assert_memory_equal(body.spin, w[i], sizeof body.spin);
    }
    must(graze_rigid_step(worlds[k], step, 60, NULL, NULL));
    must(graze_rigid_get_impacts(worlds[k], &impacts[k], &counts[k]));
  }
  assert_true(counts[0] > 100 && counts[0] == counts[1]);
  for (uint64_t i = 0; i < counts[0]; i++) {
    const graze_rigid_impact *p = &impacts[0][i], *q = &impacts[1][i];
    assert_true(p->step == q->step && p->a.index == q->a.index && p->b.index == q->b.index && p->before == q->before);
    assert_memory_equal(p->point, q->point, sizeof p->point);
    assert_memory_equal(p->velocity, q->velocity, sizeof p->velocity);
  }
  for (int k = 0; k < 2; k++) graze_rigid_destroy(worlds[k]);
}

/* What stands on the floor and flies up has not hit it; what spins hits it with a corner. */
static void test_from_the_start(void **unused) {
  (void)unused;
  for (int spins = 0; spins < 2; spins++) {
    graze_rigid *world = make_world(1, pull, GRAZE_RIGID_SOFT, 0);
    graze_rigid_body_def box = ball_at(0, 0, 0.5, 0);
    const graze_rigid_impact *impact;
    box.shape = GRAZE_RIGID_BOX;
    for (int k = 0; k < 3; k++) box.edges[k] = 1;
    box.velocity[2] = 1;
    box.spin[0] = spins ? 6 : 0;
    add_floor(world);
    add(world, &box);
    assert_int_equal(run_to_impacts(world, step, 3, &impact), spins);
    if (spins) {
      assert_near(impact->speed, 2, 1e-9); /* 6 * 0.5 - 1 */
      assert_near(impact->velocity[2], 1, 1e-9);
    }
    graze_rigid_destroy(world);
  }
}

static void test_errors(void **unused) {
  (void)unused;
  graze_rigid_def def = graze_default_rigid_def();
  graze_blast blast = graze_default_blast();
  graze_rigid *world = make_thrown(1), *silent;
  graze_rigid_body_def post = ball_at(9, 9, 9, 1);
  const graze_rigid_impact *impacts;
  uint64_t count;
  post.type = GRAZE_BODY_STATIC;
  post.name = "post";
  add(world, &post);
  assert_int_equal(graze_rigid_blast(world, THROWN, &blast), GRAZE_ERROR_ARGUMENT);
  assert_non_null(strstr(shared_error()->message, "body 'post' is not dynamic"));
  assert_int_equal(graze_rigid_blast(world, THROWN + 1, &blast), GRAZE_ERROR_HANDLE);
  blast.speed[0] = 2;
  assert_int_equal(graze_rigid_blast(world, 0, &blast), GRAZE_ERROR_ARGUMENT);
  assert_non_null(strstr(shared_error()->message, "speed is 2 to 0"));
  blast.center[1] = (double)NAN;
  assert_int_equal(graze_rigid_blast(world, 0, &blast), GRAZE_ERROR_NOT_FINITE);
  assert_int_equal(graze_rigid_blast(world, 0, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_rigid_get_impacts(world, NULL, &count), GRAZE_ERROR_ARGUMENT);
  must(graze_rigid_create(shared_context(1), &def, &silent));
  assert_int_equal(graze_rigid_get_impacts(silent, &impacts, &count), GRAZE_ERROR_ARGUMENT);
  graze_rigid_destroy(silent);
  graze_rigid_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_falling_balls),  cmocka_unit_test(test_balls_that_meet),
                                     cmocka_unit_test(test_fast_fragments), cmocka_unit_test(test_blasts),
                                     cmocka_unit_test(test_from_the_start), cmocka_unit_test(test_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
