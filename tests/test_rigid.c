/* Worlds of rigid bodies against what mechanics says of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "families.h"
#include "rigid_solvers.h"

/* What is soft gives way: some bounds are wider. */
static double bound(double newton, double soft) {
  return solver == GRAZE_RIGID_NEWTON ? newton : soft;
}

/* ---- free motion ----------------------------------------------------------------------------------------------- */

/* The spin about the body's own y axis. */
static double middle_spin(const graze_rigid_body_def *b) {
  const double *q = b->orientation, *w = b->spin;
  return 2 * (q[1] * q[2] - q[0] * q[3]) * w[0] + (1 - 2 * (q[1] * q[1] + q[3] * q[3])) * w[1] +
         2 * (q[2] * q[3] + q[0] * q[1]) * w[2];
}

/* A box that spins about its middle axis turns over and over: the times are those of elliptic integrals. */
static void test_tumbling_box(void **unused) {
  (void)unused;
  static const double zeros[] = {6.8079, 20.4235, 34.0391, 47.6547};
  graze_rigid *world = make_world(shared_context(1), 0, 0, 0);
  graze_rigid_body_def def = define(GRAZE_RIGID_BOX, 1, 0, 0, 0);
  def.edges[0] = 3;
  def.edges[1] = 2;
  def.spin[0] = 0.01;
  def.spin[1] = 2;
  const uint32_t box = add(world, &def);
  const graze_world_sums first = sums_of(world);
  double before = 2;
  int found = 0;
  for (int i = 0; i < 3600; i++) {
    run(world, 1);
    const graze_rigid_body_def b = get(world, box);
    const double now = middle_spin(&b);
    if (now * before < 0) {
      assert_true(found < 4);
      assert_near((i + before / (before - now)) * step, zeros[found++], 2e-3);
    }
    before = now;
    const graze_world_sums sums = sums_of(world);
    assert_near(sums.energy, first.energy, 2e-6 * first.energy);
    assert_true(distance(sums.angular_momentum, first.angular_momentum) < 1e-11 * 10);
  }
  assert_int_equal(found, 4);
  graze_rigid_destroy(world);
}

/* About an axis of symmetry the precession has a formula, which the splitting follows to second order. */
static void test_symmetric_top(void **unused) {
  (void)unused;
  double off[2];
  for (int fine = 0; fine < 2; fine++) {
    graze_rigid *world = make_world(shared_context(1), 0, 0, 0);
    graze_rigid_body_def def = define(GRAZE_RIGID_CAPSULE, 1, 1e6, 0, 0);
    def.spin[0] = 1;
    def.spin[2] = 3;
    const uint32_t top = add(world, &def);
    const graze_rigid_body_def b = get(world, top);
    const double momentum[3] = {b.inertia[0] * 1, 0, b.inertia[2] * 3};
    const double speed = sqrt(momentum[0] * momentum[0] + momentum[2] * momentum[2]) / b.inertia[0];
    must(graze_rigid_step(world, fine ? step : 2 * step, fine ? 600 : 300, NULL, NULL));
    const graze_rigid_body_def now = get(world, top);
    /* The axis of the top goes around L at |L| / I: after 10 s by this angle. */
    const double *q = now.orientation, axis[3] = {2 * (q[1] * q[3] + q[0] * q[2]), 2 * (q[2] * q[3] - q[0] * q[1]),
                                                  1 - 2 * (q[1] * q[1] + q[2] * q[2])};
    const double length = speed * b.inertia[0], c = momentum[2] / length, s = momentum[0] / length;
    const double along = c * axis[2] + s * axis[0], across = -c * axis[0] + s * axis[2];
    assert_near(along, c, 1e-4);
    const double angle = atan2(-axis[1], across), want = remainder(10 * speed, 2 * M_PI);
    off[fine] = fabs(remainder(angle - want, 2 * M_PI));
    graze_rigid_destroy(world);
  }
  assert_true(off[1] < 1e-3 && off[1] < 0.3 * off[0]);
}

static void test_free_fall(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(shared_context(1), 0, 0, 9.81);
  graze_rigid_body_def def = define(GRAZE_RIGID_SPHERE, 1, 0, 0, 0);
  def.velocity[0] = 3;
  def.velocity[2] = 5;
  const uint32_t ball = add(world, &def);
  run(world, 60);
  const graze_rigid_body_def b = get(world, ball);
  assert_near(b.position[0], 3, 1e-12);
  assert_near(b.position[2], 5 - 0.5 * 9.81, 1e-12);
  assert_near(b.velocity[2], 5 - 9.81, 1e-12);
  graze_rigid_destroy(world);
}

/* ---- friction and bounces -------------------------------------------------------------------------------------- */

static void test_inclines(void **unused) {
  (void)unused;
  static const double degrees[] = {20, 26, 27, 30};
  for (int i = 0; i < 4; i++) {
    const double angle = degrees[i] * M_PI / 180, normal[3] = {sin(angle), 0, cos(angle)}, point[3] = {0, 0, 0};
    graze_rigid *world = make_world(shared_context(1), 0.5, 0, 9.81);
    graze_rigid_body_def def = define(GRAZE_RIGID_BOX, 1, 0.5 * sin(angle), 0, 0.5 * cos(angle));
    def.orientation[0] = cos(angle / 2);
    def.orientation[2] = sin(angle / 2);
    must(graze_rigid_add_wall(world, point, normal, 0));
    const uint32_t box = add(world, &def);
    run(world, 120);
    const graze_rigid_body_def b = get(world, box);
    const double acceleration = 9.81 * (sin(angle) - 0.5 * cos(angle));
    const double want = acceleration > 0 ? 0.5 * acceleration * 4 : 0;
    assert_near(distance(b.position, def.position), want, want > 0 ? bound(0.005, 0.01) * want : 1e-3);
    graze_rigid_destroy(world);
  }
}

static void test_sliding_ball_rolls(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(shared_context(1), 0.2, 0, 9.81);
  graze_rigid_body_def def = define(GRAZE_RIGID_SPHERE, 1, 0, 0, 0.5);
  def.velocity[0] = 7;
  add_floor(world);
  const uint32_t ball = add(world, &def);
  run(world, 61);
  assert_near(get(world, ball).position[0], 7 * 61 * step - 0.5 * 0.2 * 9.81 * 61 * step * 61 * step, 0.01);
  run(world, 120);
  const graze_rigid_body_def b = get(world, ball);
  assert_near(b.velocity[0], 5, bound(1e-4, 1e-3));
  assert_near(b.spin[1], 10, bound(2e-4, 2e-3));
  assert_near(b.position[2], 0.5, bound(1e-5, 2e-4));
  graze_rigid_destroy(world);
}

static void test_rolling_resistance(void **unused) {
  (void)unused;
  graze_rigid_def world_def = graze_default_rigid_def();
  graze_rigid_material m = graze_default_rigid_material();
  world_def.solver = solver;
  graze_rigid *world;
  uint32_t number;
  assert_int_equal(graze_rigid_create(shared_context(1), &world_def, &world), GRAZE_OK);
  m.friction = 0.5;
  m.rolling = 0.02;
  must(graze_rigid_add_material(world, &m, &number));
  add_floor(world);
  graze_rigid_body_def def = define(GRAZE_RIGID_SPHERE, 1, 0, 0, 0.5);
  def.velocity[0] = 2;
  def.spin[1] = 4;
  const uint32_t ball = add(world, &def);
  run(world, 60);
  /* The torque c m g r: a = c g / (1 + 2/5) */
  assert_near(get(world, ball).velocity[0], 2 - 0.02 * 9.81 / 1.4, 1e-3);
  run(world, 1200);
  assert_near(get(world, ball).velocity[0], 0, 1e-6);
  graze_rigid_destroy(world);
}

static void test_bounces(void **unused) {
  (void)unused;
  static const double restitutions[] = {0, 0.5, 0.8, 1};
  for (int i = 0; i < 12; i++) {
    const double e = restitutions[i % 4];
    graze_rigid *world = make_world(shared_context(1), 0.5, e, 9.81);
    graze_rigid_body_def def = define((graze_rigid_shape)(i / 4), 1, 0, 0, 1.5);
    if (def.shape == GRAZE_RIGID_CAPSULE) { /* lying */
      def.orientation[0] = def.orientation[1] = sqrt(0.5);
    }
    add_floor(world);
    const uint32_t body = add(world, &def);
    double before = 0, top = 0;
    bool hit = false;
    for (int k = 0; k < 300 && !(hit && before > 0 && get(world, body).velocity[2] <= 0); k++) {
      before = get(world, body).velocity[2];
      run(world, 1);
      hit = hit || get(world, body).velocity[2] > before;
      if (hit) top = fmax(top, get(world, body).position[2] - 0.5);
    }
    assert_near(top, e * e, 0.01);
    graze_rigid_destroy(world);
  }
}

/* ---- stacks ---------------------------------------------------------------------------------------------------- */

static void check_stack(uint32_t count, uint64_t steps, double sag, double drift) {
  graze_rigid *world = make_world(shared_context(1), 0.5, 0, 9.81);
  add_floor(world);
  for (uint32_t i = 0; i < count; i++) {
    const graze_rigid_body_def def = define(GRAZE_RIGID_BOX, 1, 0, 0, 0.5 + i);
    add(world, &def);
  }
  run(world, steps);
  for (uint32_t i = 0; i < count; i++) {
    const graze_rigid_body_def b = get(world, i);
    assert_near(b.position[2], 0.5 + i, sag);
    assert_near(hypot(b.position[0], b.position[1]), 0, drift);
  }
  assert_int_equal(sums_of(world).contacts, count);
  graze_rigid_destroy(world);
}

static void test_stacks(void **unused) {
  (void)unused;
  const uint64_t steps = test_long() ? 3600 : 300;
  check_stack(10, steps, 2e-4, 1e-6);
  check_stack(50, steps, 2e-3, 1e-6);
  check_stack(100, steps / 2, 5e-3, 1e-6);
}

static void test_heavy_on_light(void **unused) {
  (void)unused;
  static const double ratios[] = {10, 100, 1000, 10000};
  for (int i = 0; i < 4; i++) {
    graze_rigid *world = make_world(shared_context(1), 0.5, 0, 9.81);
    graze_rigid_body_def light = define(GRAZE_RIGID_BOX, 1, 0, 0, 0.5), heavy = define(GRAZE_RIGID_BOX, 1, 0, 0, 1.5);
    heavy.density = ratios[i];
    add_floor(world);
    add(world, &light);
    add(world, &heavy);
    run(world, 600);
    assert_near(get(world, 0).position[2], 0.5, 0.005);
    assert_near(get(world, 1).position[2], 1.5, 0.005);
    graze_rigid_destroy(world);
  }
}

/* Slanted stacks that stand, and one that has to fall: the sum of the overhangs says which. */
static void test_overhang(void **unused) {
  (void)unused;
  for (int falls = 0; falls < 2; falls++) {
    graze_rigid *world = make_world(shared_context(1), 0.5, 0, 9.81);
    add_floor(world);
    for (int i = 0; i < 5; i++) { /* each n-th from the top reaches out by 1 / 2n of its edge, at most */
      double out = 0;
      for (int n = 4; n > 4 - i; n--) out += 0.5 / n * (falls ? 1.05 : bound(0.95, 0.8));
      const graze_rigid_body_def def = define(GRAZE_RIGID_BOX, 1, out, 0, 0.5 + i);
      add(world, &def);
    }
    run(world, 300);
    const double sag = 4.5 - get(world, 4).position[2];
    if (falls)
      assert_true(sag > 0.5);
    else
      assert_near(sag, 0, bound(1e-3, 0.02));
    graze_rigid_destroy(world);
  }
}

/* ---- momentum and energy --------------------------------------------------------------------------------------- */

/* A heap of all shapes in flight, that collide. */
static graze_rigid *make_gas(graze_context *context, uint32_t count, uint64_t seed, double far) {
  graze_rigid *world = make_world(context, 0.4, 0.7, 0);
  uint64_t state = seed;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t cell[3] = {i % 4, i / 4 % 4, i / 16};
    graze_rigid_body_def def = define((graze_rigid_shape)(i % 3), 0.7, far, 0, 0);
    if (def.shape == GRAZE_RIGID_CAPSULE) def.length = 0.4;
    for (int k = 0; k < 4; k++) def.orientation[k] = random_signed(&state);
    for (int k = 0; k < 3; k++) {
      def.position[k] += 1.3 * cell[k];
      def.velocity[k] = 2 * random_signed(&state) - 0.8 * (cell[k] - 1.5);
      def.spin[k] = 3 * random_signed(&state);
    }
    add(world, &def);
  }
  return world;
}

static void test_momentum(void **unused) {
  (void)unused;
  graze_rigid *world = make_gas(shared_context(1), 64, test_seed(1), 0);
  const graze_world_sums first = sums_of(world);
  double energy = first.energy;
  for (int i = 0; i < 20; i++) {
    run(world, 6);
    const graze_world_sums now = sums_of(world);
    assert_true(distance(now.momentum, first.momentum) < 1e-11);
    assert_true(distance(now.angular_momentum, first.angular_momentum) < bound(2e-3, 1e-11) * first.rotational);
    assert_near(now.energy + now.dissipated, first.energy, 1e-10 * first.energy);
    assert_true(now.energy < energy + 1e-3 * first.energy);
    energy = now.energy;
  }
  assert_true(energy < 0.9 * first.energy);
  graze_rigid_destroy(world);
}

/* ---- one answer ------------------------------------------------------------------------------------------------ */

/* A heap in a corner of walls, for all shapes. */
static graze_rigid *make_heap(graze_context *context, uint32_t count, uint64_t seed, double far) {
  graze_rigid *world = make_world(context, 0.5, 0.2, 9.81);
  uint64_t state = seed;
  for (int k = 0; k < 5; k++) {
    double point[3] = {far, 0, 0}, normal[3] = {0, 0, 0};
    normal[k / 2] = k % 2 ? -1 : 1;
    if (k < 4) point[k / 2] += k % 2 ? 2 : -2;
    must(graze_rigid_add_wall(world, point, normal, 0));
  }
  for (uint32_t i = 0; i < count; i++) {
    graze_rigid_body_def def = define((graze_rigid_shape)(i % 3), 0.65, far - 1.2 + 1.2 * (i % 3), 0, 1 + i / 9 * 1.4);
    def.position[1] = -1.2 + 1.2 * (i / 3 % 3);
    if (def.shape == GRAZE_RIGID_CAPSULE) def.length = 0.3;
    for (int k = 0; k < 4; k++) def.orientation[k] = random_signed(&state);
    add(world, &def);
  }
  return world;
}

static void test_threads(void **unused) {
  (void)unused;
  const uint64_t seed = test_seed(2);
  uint64_t hashes[3];
  for (int i = 0; i < 3; i++) {
    graze_rigid *world = make_heap(shared_context(1 << i), 27, seed, 0);
    run(world, 60);
    hashes[i] = graze_rigid_get_hash(world);
    graze_rigid_destroy(world);
  }
  assert_true(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
}

static void test_restored_and_split(void **unused) {
  (void)unused;
  char path[] = "/tmp/graze-rigid-XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  graze_rigid *world = make_heap(shared_context(1), 18, 7, 0), *other = make_heap(shared_context(1), 18, 7, 0);
  run(world, 40);
  must(graze_rigid_save(world, path));
  run(world, 17);
  run(world, 23);
  must(graze_rigid_restore(other, path));
  run(other, 40);
  assert_true(graze_rigid_get_hash(world) == graze_rigid_get_hash(other));
  const graze_world_sums a = sums_of(world), b = sums_of(other);
  assert_memory_equal(&a, &b, sizeof a);
  graze_rigid_destroy(other);
  other = make_heap(shared_context(1), 17, 7, 0);
  assert_int_equal(graze_rigid_restore(other, path), GRAZE_ERROR_FORMAT);
  run(other, 1); /* it is as it was */
  graze_rigid_destroy(other);
  graze_rigid_destroy(world);
  unlink(path);
}

/* A body of each shape that is thrown, far away, does the same. */
static void test_far_away(void **unused) {
  (void)unused;
  static const double far[2] = {0, 1e6};
  for (int shape = 0; shape < 3; shape++) {
    graze_rigid_body_def end[2];
    for (int i = 0; i < 2; i++) {
      graze_rigid *world = make_world(shared_context(1), 0.5, 0.3, 9.81);
      graze_rigid_body_def def = define((graze_rigid_shape)shape, 1, far[i], -far[i], 1.2);
      def.velocity[0] = 1;
      def.spin[1] = 0.5;
      add_floor(world);
      add(world, &def);
      run(world, 120);
      end[i] = get(world, 0);
      graze_rigid_destroy(world);
    }
    end[1].position[0] -= far[1];
    end[1].position[1] += far[1];
    assert_true(distance(end[0].position, end[1].position) < 1e-6);
    for (int k = 0; k < 4; k++) assert_near(end[1].orientation[k], end[0].orientation[k], 1e-6);
  }
}

/* ---- fast, deep, driven ---------------------------------------------------------------------------------------- */

static void test_thin_plate(void **unused) {
  (void)unused;
  uint64_t state = test_seed(3);
  for (int i = 0; i < 100; i++) {
    graze_rigid *world = make_world(shared_context(1), 0.3, 0.2, 0);
    graze_rigid_body_def plate = define(GRAZE_RIGID_BOX, 4, 0, 0, 0);
    plate.edges[2] = 0.01;
    plate.type = i % 2 ? GRAZE_BODY_STATIC : GRAZE_BODY_KINEMATIC;
    if (i % 2 == 0) plate.velocity[2] = 20;
    graze_rigid_body_def ball =
        define(GRAZE_RIGID_SPHERE, 0.1, random_signed(&state), random_signed(&state), 2 + 5 * random_unit(&state));
    ball.velocity[2] = -300;
    if (i % 4 >= 2) { /* a rod that spins */
      ball.shape = GRAZE_RIGID_CAPSULE;
      ball.length = 0.5;
      ball.spin[0] = 100;
      ball.spin[1] = 50 * random_signed(&state);
    }
    add(world, &plate);
    const uint32_t body = add(world, &ball);
    for (int k = 0; k < 20; k++) {
      run(world, 1);
      assert_true(get(world, body).position[2] > get(world, 0).position[2]);
    }
    graze_rigid_destroy(world);
  }
}

/* Two that start deep in each other part, no faster than they may. */
static void test_deep_start(void **unused) {
  (void)unused;
  for (int i = 0; i < 9; i++) {
    graze_rigid *world = make_world(shared_context(1), 0.5, 0.5, 0);
    graze_rigid_body_def a = define((graze_rigid_shape)(i / 3), 1, 0, 0, 0),
                         b = define((graze_rigid_shape)(i % 3), 1, 0.1, 0.03, 0.2);
    add(world, &a);
    add(world, &b);
    const double depth = sums_of(world).max_overlap;
    assert_true(depth > 0.2);
    for (int k = 0; k < 240; k++) {
      run(world, 1);
      const graze_rigid_body_def p = get(world, 0), q = get(world, 1);
      const double u[3] = {p.velocity[0] - q.velocity[0], p.velocity[1] - q.velocity[1], p.velocity[2] - q.velocity[2]},
                   none[3] = {0, 0, 0};
      assert_true(distance(u, none) < 2);
    }
    assert_true(sums_of(world).max_overlap < 1e-3);
    graze_rigid_destroy(world);
  }
}

/* A box rides on a plate that moves, and one on a belt that runs. */
static void test_driven(void **unused) {
  (void)unused;
  for (int belt = 0; belt < 2; belt++) {
    graze_rigid *world = make_world(shared_context(1), 0.5, 0, 9.81);
    graze_rigid_material m = graze_default_rigid_material();
    uint32_t runs;
    m.friction = 0.5;
    m.surface_speed[0] = belt ? 2 : 0;
    must(graze_rigid_add_material(world, &m, &runs));
    graze_rigid_body_def plate = define(GRAZE_RIGID_BOX, 20, 0, 0, -10), box = define(GRAZE_RIGID_BOX, 1, 0, 0, 0.5);
    plate.type = belt ? GRAZE_BODY_STATIC : GRAZE_BODY_KINEMATIC;
    plate.material = runs;
    if (!belt) plate.velocity[0] = 2;
    add(world, &plate);
    const uint32_t rider = add(world, &box);
    run(world, 60);
    assert_near(get(world, rider).velocity[0], 2, 1e-3);
    /* mu g pulls it for 2 / (mu g) seconds, in which it lags behind by half of what the plate goes. */
    assert_near(get(world, rider).position[0], 2 - 0.5 * 2 * 2 / (0.5 * 9.81), 0.02);
    graze_rigid_destroy(world);
  }
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

static void test_events(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(shared_context(1), 0.5, 0.8, 9.81);
  graze_rigid_body_def def = define(GRAZE_RIGID_SPHERE, 1, 0, 0, 1.5);
  int counts[3] = {0, 0, 0};
  add_floor(world);
  add(world, &def);
  for (int i = 0; i < 1200; i++) {
    const graze_contact_event *events;
    uint64_t count;
    const double before = get(world, 0).velocity[2];
    run(world, 1);
    must(graze_rigid_get_events(world, &events, &count));
    for (uint64_t k = 0; k < count; k++) {
      counts[events[k].kind]++;
      assert_true(events[k].step == (uint64_t)i + 1 && events[k].b.kind == GRAZE_MEMBER_WALL);
      assert_true(events[k].normal[2] == 1);
      if (events[k].kind != GRAZE_CONTACT_HIT) continue;
      const double mass = get(world, 0).mass, change = get(world, 0).velocity[2] - before + 9.81 * step;
      assert_near(events[k].impulse, mass * change, 0.02 * mass * change);
      assert_true(events[k].speed >= -before - 1e-9 && events[k].speed <= -before + 9.81 * step);
    }
  }
  assert_true(counts[GRAZE_CONTACT_HIT] > 5 && counts[GRAZE_CONTACT_BEGAN] == counts[GRAZE_CONTACT_ENDED] + 1);
  assert_near(get(world, 0).position[2], 0.5, bound(1e-5, 2e-4));
  graze_rigid_destroy(world);
}

/* ---- shapes among each other ----------------------------------------------------------------------------------- */

/* Dropped upon each other in every pose, they never overlap by more than a trace. */
static void test_overlaps(void **unused) {
  (void)unused;
  const int rounds = test_rounds(12, 400);
  for (int round = 0; round < rounds; round++) {
    graze_rigid *world = make_heap(shared_context(1), 12, test_seed(10 + (uint64_t)round), 0);
    double deepest = 0;
    for (int i = 0; i < 90; i++) {
      run(world, 1);
      deepest = fmax(deepest, sums_of(world).max_overlap);
    }
    const graze_world_sums now = sums_of(world);
    if (!(deepest < bound(0.03, 0.06) && now.energy < 100))
      fail_msg("round %d: overlap %g, energy %g", round, deepest, now.energy);
    graze_rigid_destroy(world);
  }
}

/* ---- refusals -------------------------------------------------------------------------------------------------- */

static void refuse(graze_rigid *world, const graze_rigid_body_def *def, graze_status want, const char *words) {
  uint32_t body;
  assert_int_equal(graze_rigid_add_body(world, def, &body), want);
  if (strstr(shared_error()->message, words) == NULL) fail_msg("'%s' is not in: %s", words, shared_error()->message);
}

static void test_refusals(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(shared_context(1), 0, 0, 9.81);
  graze_rigid_body_def def = define(GRAZE_RIGID_BOX, 1, 0, 0, 0);
  def.name = "crate";
  def.mass = 1;
  refuse(world, &def, GRAZE_ERROR_ARGUMENT, "body 'crate': one of mass and density is wanted");
  def.density = (double)NAN;
  def.inertia[0] = def.inertia[1] = 1;
  def.inertia[2] = 3;
  for (int i = 3; i < 6; i++) def.inertia[i] = 0;
  refuse(world, &def, GRAZE_ERROR_ARGUMENT, "body 'crate': no body can have this inertia");
  def.inertia[0] = (double)NAN;
  def.edges[1] = 0;
  refuse(world, &def, GRAZE_ERROR_ARGUMENT, "body 'crate': its edge is 0");
  def.edges[1] = 1;
  def.velocity[2] = (double)INFINITY;
  refuse(world, &def, GRAZE_ERROR_NOT_FINITE, "body 'crate': velocity is not finite");
  def.velocity[2] = 1;
  def.type = GRAZE_BODY_STATIC;
  refuse(world, &def, GRAZE_ERROR_ARGUMENT, "body 'crate' is static");
  def.type = GRAZE_BODY_DYNAMIC;
  def.material = 3;
  refuse(world, &def, GRAZE_ERROR_ARGUMENT, "there is no material 3");
  def.material = 0;
  def.angular_damping = -1;
  refuse(world, &def, GRAZE_ERROR_ARGUMENT, "angular_damping is -1");
  def.angular_damping = 0;
  memset(def.orientation, 0, sizeof def.orientation);
  refuse(world, &def, GRAZE_ERROR_ARGUMENT, "its orientation is 0");
  const double point[3] = {0, 0, 0}, none[3] = {0, 0, 0};
  assert_int_equal(graze_rigid_add_wall(world, point, none, 0), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_rigid_step(world, 0, 1, NULL, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_rigid_set_velocity(world, 7, point, none), GRAZE_ERROR_HANDLE);
  const double nan[3] = {0, (double)NAN, 0};
  graze_rigid_body_def nameless = define(GRAZE_RIGID_SPHERE, 1, 1, 0, 0);
  graze_rigid *named = make_world(shared_context(1), 0, 0, 9.81);
  for (int i = 0; i < 3; i++) add(named, &nameless);
  assert_int_equal(graze_rigid_set_velocity(named, 1, nan, none), GRAZE_ERROR_NOT_FINITE);
  assert_string_equal(shared_error()->message, "body 1: velocity is not finite");
  graze_rigid_destroy(named);
  assert_int_equal(graze_rigid_get_body(world, 0, &def), GRAZE_ERROR_HANDLE);
  graze_rigid_destroy(world);
}

/* A number that is no longer finite names the body and the step, and the world goes no further. */
static void test_not_finite(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(shared_context(1), 0, 0, 9.81);
  graze_rigid_body_def def = define(GRAZE_RIGID_SPHERE, 1, 1e308, 0, 0);
  def.name = "comet";
  def.velocity[0] = 1e308;
  add(world, &def);
  assert_int_equal(graze_rigid_step(world, 1, 9, NULL, NULL), GRAZE_ERROR_NOT_FINITE);
  assert_non_null(strstr(shared_error()->message, "comet"));
  assert_int_equal(graze_rigid_step(world, 1, 1, NULL, NULL), GRAZE_ERROR_ARGUMENT);
  graze_rigid_destroy(world);
}

static graze_status use_memory(graze_context *context) {
  graze_rigid_def def = graze_default_rigid_def();
  graze_rigid_material m = graze_default_rigid_material();
  graze_rigid *world;
  graze_world_sums sums;
  const graze_member *left;
  uint64_t count;
  const double point[3] = {0, 0, 0}, up[3] = {0, 0, 1};
  uint32_t number;
  def.events = true;
  def.solver = solver;
  graze_status status = graze_rigid_create(context, &def, &world);
  if (status != GRAZE_OK) return status;
  status = graze_rigid_add_material(world, &m, &number);
  if (status == GRAZE_OK) status = graze_rigid_add_wall(world, point, up, 0);
  for (int i = 0; status == GRAZE_OK && i < 4; i++) {
    const graze_rigid_body_def body = define((graze_rigid_shape)(i % 3), 1, 0, 0, 0.5 + i);
    status = graze_rigid_add_body(world, &body, &number);
  }
  if (status == GRAZE_OK) {
    graze_joint_def joint = graze_default_joint_def();
    for (int k = 0; k < 3; k++) joint.point[k] = 0;
    joint.b = 1;
    status = graze_rigid_add_joint(world, &joint, &number);
  }
  if (status == GRAZE_OK) status = graze_rigid_step(world, step, 3, NULL, NULL);
  if (status == GRAZE_OK) status = graze_rigid_get_sums(world, &sums);
  if (status == GRAZE_OK) status = graze_rigid_find_left(world, &left, &count);
  graze_rigid_destroy(world);
  return status;
}

static void test_refused_memory(void **unused) {
  (void)unused;
  test_refuse_each(use_memory, 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_tumbling_box),
                                     cmocka_unit_test(test_symmetric_top),
                                     cmocka_unit_test(test_free_fall),
                                     cmocka_unit_test(test_inclines),
                                     cmocka_unit_test(test_sliding_ball_rolls),
                                     cmocka_unit_test(test_rolling_resistance),
                                     cmocka_unit_test(test_bounces),
                                     cmocka_unit_test(test_stacks),
                                     cmocka_unit_test(test_heavy_on_light),
                                     cmocka_unit_test(test_overhang),
                                     cmocka_unit_test(test_momentum),
                                     cmocka_unit_test(test_threads),
                                     cmocka_unit_test(test_restored_and_split),
                                     cmocka_unit_test(test_far_away),
                                     cmocka_unit_test(test_thin_plate),
                                     cmocka_unit_test(test_deep_start),
                                     cmocka_unit_test(test_driven),
                                     cmocka_unit_test(test_events),
                                     cmocka_unit_test(test_overlaps),
                                     cmocka_unit_test(test_refusals),
                                     cmocka_unit_test(test_not_finite),
                                     cmocka_unit_test(test_refused_memory)};
  int failed = 0;
  for (int i = 0; i < 2; i++) {
    solver = i == 0 ? GRAZE_RIGID_NEWTON : GRAZE_RIGID_AUTO;
    failed += cmocka_run_group_tests_name(i == 0 ? "newton" : "auto", tests, NULL, NULL);
  }
  return failed;
}
