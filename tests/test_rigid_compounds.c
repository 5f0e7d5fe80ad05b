/* Compounds as rigid bodies: beside the same solids as meshes and as single shapes, what they do that formulas tell,
 * and what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "families.h"
#include "rigid_worlds.h"

static const double gravity = 9.81;
static char state_path[64], record_path[64];

/* ---- worlds ------------------------------------------------------------------------------------------------------ */

static graze_rigid *make_world_of(graze_context *context, graze_rigid_solver solver, double pull, double friction,
                                  bool sleep) {
  graze_rigid_def def = graze_default_rigid_def();
  graze_rigid_material m = graze_default_rigid_material();
  graze_rigid *world;
  uint32_t number;
  def.gravity[2] = -pull;
  def.solver = solver;
  def.events = true;
  def.sleep = sleep;
  must(graze_rigid_create(context, &def, &world));
  m.friction = friction;
  must(graze_rigid_add_material(world, &m, &number));
  return world;
}

static graze_rigid *make_world(graze_rigid_solver solver, double pull, double friction) {
  return make_world_of(shared_context(1), solver, pull, friction, false);
}

static graze_rigid_part box_at(double x, double y, double z, double a, double b, double c) {
  graze_rigid_part part = graze_default_rigid_part();
  const double place[3] = {x, y, z}, edges[3] = {a, b, c};
  part.shape = GRAZE_RIGID_BOX;
  memcpy(part.place, place, sizeof place);
  memcpy(part.edges, edges, sizeof edges);
  return part;
}

static graze_rigid_part ball_at(double x, double y, double z, double radius) {
  graze_rigid_part part = box_at(x, y, z, 0, 0, 0);
  part.shape = GRAZE_RIGID_SPHERE;
  part.radius = radius;
  return part;
}

static graze_rigid_body_def define(const graze_rigid_part *parts, uint32_t count, double x, double y, double z) {
  graze_rigid_body_def def = graze_default_rigid_body_def();
  def.shape = GRAZE_RIGID_COMPOUND;
  def.parts = parts;
  def.part_count = count;
  def.density = 1000;
  def.position[0] = x;
  def.position[1] = y;
  def.position[2] = z;
  return def;
}

/* ---- an L -------------------------------------------------------------------------------------------------------- */

/* Of a square of 1 on a bar of 2 by 1, 1 wide, beginning at the origin. */
static graze_mesh *make_angle(void) {
  static const double profile[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
  static const uint32_t fan[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
  double points[12][3];
  uint32_t triangles[20][3], count = 0;
  graze_mesh_def def = graze_default_mesh_def();
  graze_mesh *mesh;
  for (uint32_t i = 0; i < 12; i++) {
    points[i][0] = profile[i % 6][0];
    points[i][1] = i / 6;
    points[i][2] = profile[i % 6][1];
  }
  for (uint32_t i = 0; i < 4; i++) {
    for (uint32_t k = 0; k < 3; k++) {
      triangles[count][k] = fan[i][k];
      triangles[count + 1][k] = 6 + fan[i][2 - k];
    }
    count += 2;
  }
  for (uint32_t i = 0; i < 6; i++) {
    const uint32_t next = (i + 1) % 6, side[2][3] = {{i, i + 6, next + 6}, {i, next + 6, next}};
    memcpy(triangles[count], side, sizeof side);
    count += 2;
  }
  def.vertices = points;
  def.vertex_count = 12;
  def.indices = triangles[0];
  def.triangle_count = count;
  def.precision = GRAZE_DOUBLE;
  must(graze_mesh_create(shared_context(1), &def, &mesh));
  return mesh;
}

/* The same as parts, or the mesh. */
static graze_rigid_body_def define_angle(const graze_mesh *mesh, graze_rigid_part parts[2]) {
  parts[0] = box_at(1, 0.5, 0.5, 2, 1, 1);
  parts[1] = box_at(0.5, 0.5, 1.5, 1, 1, 1);
  graze_rigid_body_def def = define(parts, 2, 0, 0, 0);
  if (mesh == NULL) return def;
  def.shape = GRAZE_RIGID_MESH;
  def.mesh = mesh;
  return def;
}

static void test_mass(void **unused) {
  (void)unused;
  graze_mesh *mesh = make_angle();
  graze_rigid *world = make_world(GRAZE_RIGID_AUTO, 0, 0);
  graze_rigid_part parts[2];
  graze_rigid_body_def defs[3] = {define_angle(mesh, parts), define_angle(NULL, parts), define_angle(NULL, parts)};
  double center[3];
  /* The third one is turned: its parts are where a quarter turn about z takes them. */
  graze_rigid_part turned[2] = {parts[0], parts[1]};
  for (int i = 0; i < 2; i++) {
    turned[i].place[0] = -parts[i].place[1];
    turned[i].place[1] = parts[i].place[0];
    turned[i].orientation[0] = turned[i].orientation[3] = 3; /* made a unit one */
  }
  defs[2].parts = turned;
  for (int i = 0; i < 3; i++) add(world, &defs[i]);
  must(graze_rigid_find_parts_center(shared_context(1), 2, parts, (double)NAN, center));
  const graze_rigid_body_def whole = get(world, 0), sum = get(world, 1), other = get(world, 2);
  assert_near(sum.mass, 3000, 3e-9);
  assert_near(whole.mass, sum.mass, 3e-9);
  for (int k = 0; k < 3; k++) {
    assert_near(sum.center[k], whole.center[k], 1e-12);
    assert_near(center[k], whole.center[k], 1e-12);
  }
  for (int k = 0; k < 6; k++) assert_near(sum.inertia[k], whole.inertia[k], 1e-12 * whole.inertia[1]);
  const int from[6] = {1, 0, 2, 3, 5, 4}, sign[6] = {1, 1, 1, -1, -1, 1};
  for (int k = 0; k < 6; k++) assert_near(other.inertia[k], sign[k] * whole.inertia[from[k]], 1e-12 * whole.inertia[1]);
  assert_near(other.center[1], whole.center[0], 1e-12);
  assert_true(sum.part_count == 2 && sum.parts[1].edges[0] == 1 && sum.parts[0].density == 1000);
  graze_rigid_destroy(world);
  graze_mesh_destroy(mesh);
}

/* Densities of parts: of their own, as shares of a mass, and where parts overlap there is as much more. */
static void test_densities(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(GRAZE_RIGID_AUTO, 0, 0);
  graze_rigid_part parts[2] = {box_at(0, 0, 0, 1, 1, 1), box_at(2, 0, 0, 1, 1, 1)};
  graze_rigid_body_def def = define(parts, 2, 0, 0, 0);
  parts[0].density = 100;
  graze_rigid_body_def body = get(world, add(world, &def));
  assert_near(body.mass, 1100, 1e-9);
  assert_near(body.center[0], 2000.0 / 1100, 1e-12);
  parts[1].density = 300;
  def.density = (double)NAN;
  body = get(world, add(world, &def));
  assert_near(body.mass, 400, 1e-9);
  assert_near(body.center[0], 1.5, 1e-12);
  def.mass = 7;
  body = get(world, add(world, &def));
  assert_near(body.mass, 7, 1e-12);
  assert_near(body.center[0], 1.5, 1e-12);
  assert_near(body.inertia[0], 7 / 6.0, 1e-12);
  parts[1] = parts[0];
  body = get(world, add(world, &def));
  assert_near(body.inertia[2], 7 / 6.0, 1e-12);
  def.mass = (double)NAN;
  body = get(world, add(world, &def));
  assert_near(body.mass, 200, 1e-12);
  graze_rigid_destroy(world);
}

/* In free flight, and when it slides, falls over and lies. */
static void test_alike(void **unused) {
  (void)unused;
  graze_mesh *mesh = make_angle();
  for (int solver = GRAZE_RIGID_SOFT; solver <= GRAZE_RIGID_NEWTON; solver++) {
    graze_rigid_body_def slid[2], tumbled[2];
    for (int i = 0; i < 2; i++) {
      graze_rigid *world = make_world((graze_rigid_solver)solver, gravity, 0.5);
      graze_rigid_part parts[2];
      graze_rigid_body_def def = define_angle(i == 0 ? mesh : NULL, parts);
      add_floor(world);
      def.position[2] = 5.0 / 6;
      def.velocity[0] = 3;
      const uint32_t slider = add(world, &def);
      def.position[0] = -8;
      def.position[2] = 2;
      def.velocity[0] = 0;
      def.orientation[1] = 0.1;
      def.orientation[2] = 0.8;
      const uint32_t tumbler = add(world, &def);
      run(world, 240);
      slid[i] = get(world, slider);
      tumbled[i] = get(world, tumbler);
      assert_near(slid[i].position[2], 5.0 / 6, solver == GRAZE_RIGID_NEWTON ? 1e-5 : 1e-3);
      assert_near(slid[i].position[0], 9.0 / (2 * 0.5 * gravity), 0.03);
      assert_true(sums_of(world).kinetic < 1e-5);
      graze_rigid_destroy(world);
    }
    assert_near(distance(slid[0].position, slid[1].position), 0, 0.01);
    assert_near(distance(tumbled[0].position, tumbled[1].position), 0, 0.1);
    assert_near(tumbled[0].position[2], tumbled[1].position[2], 1e-3);
  }
  graze_mesh_destroy(mesh);
}

/* ---- formulas ---------------------------------------------------------------------------------------------------- */

/* Two balls, one body: sliding across their axis they roll in the end, with 5/7 of the speed. */
static void test_dumbbell(void **unused) {
  (void)unused;
  for (int solver = GRAZE_RIGID_SOFT; solver <= GRAZE_RIGID_NEWTON; solver++) {
    graze_rigid *world = make_world((graze_rigid_solver)solver, gravity, 0.2);
    const graze_rigid_part parts[2] = {ball_at(0, -1, 0, 0.5), ball_at(0, 1, 0, 0.5)};
    graze_rigid_body_def def = define(parts, 2, 0, 0, 0.5);
    add_floor(world);
    def.velocity[0] = 7;
    add(world, &def);
    run(world, 180);
    def = get(world, 0);
    assert_near(def.velocity[0], 5, 0.01);
    assert_near(def.spin[1], 10, 0.02);
    assert_near(def.position[2], 0.5, 1e-3);
    assert_near(def.position[1], 0, 1e-3);
    assert_near(fabs(def.velocity[1]) + fabs(def.spin[0]) + fabs(def.spin[2]), 0, 1e-3);
    graze_rigid_destroy(world);
  }
}

/* Rolling resistance is that of its balls: a rolling dumbbell slows down by g c / (1 + 2/5). */
static void test_rolling(void **unused) {
  (void)unused;
  for (int solver = GRAZE_RIGID_SOFT; solver <= GRAZE_RIGID_NEWTON; solver++) {
    graze_rigid *world = make_world((graze_rigid_solver)solver, gravity, 0.5);
    graze_rigid_material m = graze_default_rigid_material();
    const graze_rigid_part parts[2] = {ball_at(0, -1, 0, 0.5), ball_at(0, 1, 0, 0.5)};
    graze_rigid_body_def def = define(parts, 2, 0, 0, 0.5);
    add_floor(world);
    m.friction = 0.5;
    m.rolling = 0.02;
    must(graze_rigid_set_pair(world, 0, 0, &m));
    def.velocity[0] = 2;
    def.spin[1] = 4;
    add(world, &def);
    run(world, 60);
    assert_near(get(world, 0).velocity[0], 2 - gravity * 0.02 / 1.4, 0.01);
    graze_rigid_destroy(world);
  }
}

/* A table stands where it was put, and one pair of bodies touches, however many legs there are. */
static void test_table(void **unused) {
  (void)unused;
  graze_rigid_part parts[5] = {box_at(0, 0, 0.75, 1.2, 0.8, 0.05)};
  const graze_rigid_part ground = box_at(0, 0, -0.5, 20, 20, 1);
  for (int i = 0; i < 4; i++) parts[1 + i] = box_at(i % 2 ? 0.5 : -0.5, i / 2 ? 0.3 : -0.3, 0.3625, 0.06, 0.06, 0.725);
  parts[4].shape = GRAZE_RIGID_CYLINDER;
  parts[4].radius = 0.03;
  parts[4].length = 0.725;
  for (int floor = 0; floor < 3; floor++) {
    graze_rigid *world = make_world(GRAZE_RIGID_AUTO, gravity, 0.5);
    graze_rigid_body_def def = define(&ground, 1, 0, 0, -0.5);
    double center[3];
    const graze_contact_event *events;
    uint64_t count;
    def.type = GRAZE_BODY_STATIC;
    if (floor == 1) def.shape = GRAZE_RIGID_BOX;
    for (int k = 0; k < 3; k++) def.edges[k] = ground.edges[k];
    if (floor == 0)
      add_floor(world);
    else
      add(world, &def);
    must(graze_rigid_find_parts_center(shared_context(1), 5, parts, (double)NAN, center));
    def = define(parts, 5, center[0], center[1], center[2]);
    const uint32_t table = add(world, &def);
    run(world, 240);
    must(graze_rigid_get_events(world, &events, &count));
    assert_near(distance(get(world, table).position, center), 0, 2e-3);
    assert_near(get(world, table).orientation[0], 1, 1e-6);
    assert_int_equal(sums_of(world).contacts, 1);
    assert_int_equal(count, 1);
    assert_true(events[0].kind == GRAZE_CONTACT_BEGAN && sums_of(world).max_overlap < 2e-3);
    /* A ball under the table finds the room there; it rolls out between the legs. */
    graze_rigid_body_def ball = graze_default_rigid_body_def();
    ball.radius = 0.2;
    ball.density = 100;
    ball.position[2] = 0.3;
    ball.velocity[0] = 1;
    const uint32_t rolling = add(world, &ball);
    run(world, 240);
    assert_true(get(world, rolling).position[0] > 1);
    assert_near(get(world, rolling).position[2], 0.2, 1e-3);
    assert_near(distance(get(world, table).position, center), 0, 2e-3);
    graze_rigid_destroy(world);
  }
}

/* A hook hangs in a ring, both of boxes: convex hulls of the two would push each other away. */
static void test_hook(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(GRAZE_RIGID_NEWTON, gravity, 0.5);
  const graze_rigid_part parts[4] = {box_at(0, 0, 1, 2, 0.5, 0.5), box_at(0, 0, -1, 2, 0.5, 0.5),
                                     box_at(-0.75, 0, 0, 0.5, 0.5, 1.5), box_at(0.75, 0, 0, 0.5, 0.5, 1.5)};
  graze_rigid_body_def def = define(parts, 4, 0, 0, 10);
  def.type = GRAZE_BODY_STATIC;
  add(world, &def);
  def.type = GRAZE_BODY_DYNAMIC;
  def.orientation[0] = def.orientation[3] = 1; /* a quarter turn about z */
  def.position[2] = 8.4;
  add(world, &def);
  run(world, 300);
  assert_near(get(world, 1).position[2], 8.5, 0.02); /* its upper bar lies on the lower one: -1.25 + 2.25 - 2.5 */
  assert_near(get(world, 1).position[0], 0, 0.02);
  graze_rigid_destroy(world);
}

/* ---- one shape --------------------------------------------------------------------------------------------------- */

/* Single shapes that slide and fall over on a floor, and the same as compounds of one part each: the same bits. Steps
 * are so short that no contact is found anew within them, for which pairs of compounds have room of their own. */
static graze_rigid *make_herd(bool compounds, graze_rigid_solver solver) {
  static const double corners[4][3] = {{1, 0, 0}, {-0.5, 0.8, 0}, {-0.5, -0.8, 0}, {0, 0, 1}};
  graze_rigid *world = make_world_of(shared_context(1), solver, gravity, 0.5, true);
  static const double heights[5] = {0.25, 0.2, 0.4, 0.15, 0.25};
  uint64_t state = 7;
  graze_rigid_body_def ground = graze_default_rigid_body_def();
  ground.shape = GRAZE_RIGID_BOX;
  ground.type = GRAZE_BODY_STATIC;
  for (int k = 0; k < 3; k++) ground.edges[k] = k < 2 ? 20 : 1;
  ground.position[2] = -0.5;
  add(world, &ground);
  for (uint32_t i = 0; i < 24; i++) {
    graze_rigid_body_def def = graze_default_rigid_body_def();
    graze_rigid_part part = box_at(0, 0, 0, 0.6, 0.5, 0.4);
    part.shape = (graze_rigid_shape)(i % 5);
    part.radius = 0.25;
    part.length = 0.3;
    part.points = corners[0];
    part.point_count = 4;
    if (compounds) {
      def = define(&part, 1, 0, 0, 0);
    } else {
      def.shape = part.shape;
      def.radius = part.radius;
      memcpy(def.edges, part.edges, sizeof def.edges);
      def.length = part.length;
      def.points = part.points;
      def.point_count = part.point_count;
    }
    def.density = 1000;
    if (part.shape == GRAZE_RIGID_HULL) def.inertia[0] = def.inertia[1] = def.inertia[2] = 40;
    for (int k = 0; k < 2; k++) def.velocity[k] = random_signed(&state);
    for (int k = 0; k < 3; k++) def.spin[k] = random_signed(&state);
    def.position[0] = 3 * (i % 5) - 6.0;
    def.position[1] = 3 * (i / 5) - 6.0;
    def.position[2] = heights[i % 5];
    add(world, &def);
  }
  return world;
}

static void test_single(void **unused) {
  (void)unused;
  for (int solver = GRAZE_RIGID_SOFT; solver <= GRAZE_RIGID_NEWTON; solver++) {
    uint64_t hashes[2];
    for (int k = 0; k < 2; k++) {
      graze_rigid *world = make_herd(k == 1, (graze_rigid_solver)solver);
      must(graze_rigid_step(world, step / 10, solver == GRAZE_RIGID_SOFT ? 1200 : 400, NULL, NULL));
      hashes[k] = graze_rigid_get_hash(world);
      assert_true(sums_of(world).contacts >= 15);
      graze_rigid_destroy(world);
    }
    assert_true(hashes[0] == hashes[1]);
  }
}

/* ---- gas, threads, files ----------------------------------------------------------------------------------------- */

/* Of stars: three capsules, a hull and a ball each. */
static graze_rigid *make_gas(graze_context *context, double pull, bool sleep) {
  static const double corners[4][3] = {{0.2, 0, 0}, {-0.1, 0.2, 0}, {-0.1, -0.2, 0}, {0, 0, 0.5}};
  graze_rigid *world = make_world_of(context, GRAZE_RIGID_SOFT, pull, 0.4, sleep);
  uint64_t state = 11;
  if (pull > 0) add_floor(world);
  for (uint32_t i = 0; i < 27; i++) {
    graze_rigid_part parts[5] = {ball_at(0, 0, 0, 0.1), ball_at(0, 0, 0, 0.1), ball_at(0, 0, 0, 0.1),
                                 ball_at(0, 0, 0, 0.2), ball_at(0.2, 0.3, 0, 0.15)};
    for (int k = 0; k < 3; k++) {
      parts[k].shape = GRAZE_RIGID_CAPSULE;
      parts[k].length = 0.8;
      parts[k].orientation[1] = k == 1;
      parts[k].orientation[2] = k == 2;
    }
    parts[3].shape = GRAZE_RIGID_HULL;
    parts[3].points = corners[0];
    parts[3].point_count = 4;
    graze_rigid_body_def def = define(parts, 5, 1.1 * (i % 3), 1.1 * (i / 3 % 3), 0.8 + 1.1 * (i / 9));
    for (int k = 0; k < 4; k++) def.orientation[k] = random_signed(&state);
    for (int k = 0; k < 3; k++) {
      def.velocity[k] = random_signed(&state) - (def.position[k] - 1);
      def.spin[k] = 2 * random_signed(&state);
    }
    add(world, &def);
  }
  return world;
}

static void test_momentum(void **unused) {
  (void)unused;
  graze_rigid *world = make_gas(shared_context(1), 0, false);
  const graze_world_sums first = sums_of(world);
  for (int i = 0; i < 10; i++) {
    run(world, 12);
    const graze_world_sums now = sums_of(world);
    assert_true(distance(now.momentum, first.momentum) < 1e-10);
    assert_true(distance(now.angular_momentum, first.angular_momentum) < 1e-10);
    assert_near(now.energy + now.dissipated, first.energy, 1e-10 * first.energy);
  }
  assert_true(sums_of(world).energy < 0.9 * first.energy);
  graze_rigid_destroy(world);
}

static void test_one_hash(void **unused) {
  (void)unused;
  const uint64_t half = test_thinned() ? 10 : 60;
  uint64_t hashes[4];
  for (int i = 0; i < 3; i++) {
    graze_rigid *world = make_gas(shared_context(1 << i), gravity, true);
    run(world, half);
    if (i == 0) must(graze_rigid_save(world, state_path));
    run(world, half);
    hashes[i] = graze_rigid_get_hash(world);
    graze_rigid_destroy(world);
  }
  graze_rigid *world = make_gas(shared_context(2), gravity, true);
  must(graze_rigid_restore(world, state_path));
  run(world, half);
  hashes[3] = graze_rigid_get_hash(world);
  graze_rigid_destroy(world);
  for (int i = 1; i < 4; i++) assert_true(hashes[i] == hashes[0]);
  unlink(state_path);
}

static void test_record(void **unused) {
  (void)unused;
  const uint64_t steps = test_thinned() ? 20 : 60;
  graze_rigid_replay *replay;
  graze_world_replay_step s;
  graze_rigid *world = make_gas(shared_context(1), gravity, true);
  graze_rigid_part parts[2] = {box_at(0, 0, 0, 1, 1, 1), box_at(1, 0, 0, 1, 1, 1)};
  graze_rigid_body_def def = define(parts, 2, 1, 1, 5);
  parts[0].density = 100;
  add(world, &def);
  def.type = GRAZE_BODY_STATIC;
  def.position[2] = 0;
  add(world, &def);
  run(world, 20);
  must(graze_rigid_record(world, record_path));
  run(world, steps);
  must(graze_rigid_record_end(world));
  must(graze_rigid_replay_open(shared_context(2), record_path, &replay));
  for (uint64_t i = 0; i < steps; i++) {
    must(graze_rigid_replay_next(replay, &s));
    assert_true(s.same);
  }
  assert_true(graze_rigid_get_hash(graze_rigid_replay_get_world(replay)) == graze_rigid_get_hash(world));
  assert_true(get(graze_rigid_replay_get_world(replay), 27).parts[0].density == 100);
  graze_rigid_replay_close(replay);
  graze_rigid_destroy(world);
  unlink(record_path);
}

/* Compounds that lie fall asleep, and wake when one falls on them; nobody is told of an end. */
static void test_sleep(void **unused) {
  (void)unused;
  graze_rigid *world = make_world_of(shared_context(1), GRAZE_RIGID_AUTO, gravity, 0.5, true);
  const graze_rigid_part parts[3] = {box_at(-0.5, 0, 0, 0.2, 0.2, 0.5), box_at(0.5, 0, 0, 0.2, 0.2, 0.5),
                                     box_at(0, 0, 0.3, 1.4, 0.2, 0.1)};
  const graze_contact_event *events;
  uint64_t count, ended = 0;
  double center[3];
  must(graze_rigid_find_parts_center(shared_context(1), 3, parts, 1, center));
  add_floor(world);
  graze_rigid_body_def def = define(parts, 3, 0, 0, 0.25 + center[2]);
  add(world, &def);
  run(world, 120);
  assert_true(graze_rigid_is_asleep(world, 0));
  def.position[2] += 1;
  add(world, &def);
  for (int i = 0; i < 240; i++) {
    run(world, 1);
    must(graze_rigid_get_events(world, &events, &count));
    for (uint64_t k = 0; k < count; k++)
      ended += events[k].kind == GRAZE_CONTACT_ENDED && events[k].b.kind == GRAZE_MEMBER_WALL;
    if (i == 30) assert_true(!graze_rigid_is_asleep(world, 0));
  }
  assert_int_equal(ended, 0);
  assert_int_equal(graze_rigid_get_asleep_count(world), 2);
  assert_near(get(world, 1).position[2] - get(world, 0).position[2], 0.6, 2e-3);
  graze_rigid_destroy(world);
}

/* Fast ones, on a plate that is thinner than their way in a step. */
static void test_bullets(void **unused) {
  (void)unused;
  for (int as_mesh = 0; as_mesh < 2; as_mesh++) {
    static const uint32_t triangles[2][3] = {{0, 1, 2}, {0, 2, 3}};
    static const double square[4][3] = {{-50, -50, 0}, {50, -50, 0}, {50, 50, 0}, {-50, 50, 0}};
    const graze_rigid_part parts[3] = {ball_at(-0.5, 0, 0, 0.1), ball_at(0.5, 0, 0, 0.1),
                                       box_at(0, 0, 0, 1, 0.05, 0.05)};
    graze_mesh_def mesh_def = graze_default_mesh_def();
    graze_mesh *mesh;
    uint64_t state = 3;
    graze_rigid *world = make_world(GRAZE_RIGID_AUTO, 0, 0.3);
    mesh_def.vertices = square;
    mesh_def.vertex_count = 4;
    mesh_def.indices = triangles[0];
    mesh_def.triangle_count = 2;
    mesh_def.precision = GRAZE_DOUBLE;
    must(graze_mesh_create(shared_context(1), &mesh_def, &mesh));
    graze_rigid_body_def plate = graze_default_rigid_body_def();
    plate.type = GRAZE_BODY_STATIC;
    plate.shape = as_mesh ? GRAZE_RIGID_MESH : GRAZE_RIGID_BOX;
    plate.mesh = as_mesh ? mesh : NULL;
    plate.edges[0] = plate.edges[1] = 100;
    plate.edges[2] = 0.02;
    add(world, &plate);
    for (int i = 0; i < 20; i++) {
      graze_rigid_body_def def = define(parts, 3, 4 * (i % 5) - 8, 4 * (i / 5) - 8, 3 + 0.1 * i);
      for (int k = 0; k < 4; k++) def.orientation[k] = random_signed(&state);
      for (int k = 0; k < 3; k++) def.spin[k] = 10 * random_signed(&state);
      def.velocity[2] = -200;
      add(world, &def);
    }
    run(world, 30);
    for (uint32_t i = 1; i <= 20; i++) assert_true(get(world, i).position[2] > 0);
    graze_rigid_destroy(world);
    graze_mesh_destroy(mesh);
  }
}

/* ---- exact checks ------------------------------------------------------------------------------------------------ */

static graze_rigid_check_result check(graze_rigid *world, double slop) {
  graze_rigid_check_result result;
  must(graze_rigid_check(world, slop, &result));
  return result;
}

/* A ball, or a cylinder, in the corner of an L is as deep as the diagonal of how deep it is in both legs. */
static void test_check_corner(void **unused) {
  (void)unused;
  for (int round = 0; round < 2; round++) {
    graze_rigid *world = make_world(GRAZE_RIGID_AUTO, gravity, 0.5);
    graze_rigid_part parts[2], tip = ball_at(0, 0, 0, 0.25);
    graze_rigid_body_def def = define_angle(NULL, parts);
    double center[3];
    must(graze_rigid_find_parts_center(shared_context(1), 2, parts, 1, center));
    memcpy(def.position, center, sizeof center);
    def.type = GRAZE_BODY_STATIC;
    add(world, &def);
    tip.shape = round ? GRAZE_RIGID_CYLINDER : GRAZE_RIGID_SPHERE;
    tip.length = 0.5;
    tip.orientation[1] = round; /* along y */
    def = define(&tip, 1, 1.25 - 0.03, 0.5, 1.25 - 0.04);
    add(world, &def);
    graze_rigid_check_result result = check(world, 0.06);
    assert_int_equal(result.pairs, 1);
    assert_int_equal(result.count, 0);
    assert_near(result.deepest.lower, 0.04, round ? 1e-4 : 1e-6);
    assert_near(result.deepest.upper, 0.05, round ? 1e-4 : 1e-6);
    result = check(world, 0.03);
    assert_true(result.count == 1 && !result.overlaps[0].unknown);
    result = check(world, 0.045); /* between the two */
    assert_true(result.count == 1 && result.overlaps[0].unknown);
    graze_rigid_destroy(world);
  }
}

/* What lies in the hole of a ring overlaps nothing of it. */
static void test_check_hole(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(GRAZE_RIGID_AUTO, gravity, 0.5);
  const graze_rigid_part parts[4] = {box_at(0, 0, 1, 2, 0.5, 0.5), box_at(0, 0, -1, 2, 0.5, 0.5),
                                     box_at(-0.75, 0, 0, 0.5, 0.5, 1.5), box_at(0.75, 0, 0, 0.5, 0.5, 1.5)};
  graze_rigid_body_def def = define(parts, 4, 3, 0, 0);
  add(world, &def);
  graze_rigid_body_def ball = graze_default_rigid_body_def();
  ball.radius = 0.4;
  ball.density = 1;
  ball.position[0] = 3;
  add(world, &ball);
  graze_rigid_check_result result = check(world, 0);
  assert_true(result.pairs == 1 && result.count == 0 && result.deepest.upper == 0);
  ball.position[0] = 3.125; /* 0.025 in the right bar */
  add(world, &ball);
  result = check(world, 0.01);
  assert_int_equal(result.pairs, 3);
  assert_int_equal(result.count, 2); /* and in the first ball */
  assert_true(result.overlaps[0].a.index == 0 && result.overlaps[0].b.index == 2);
  assert_near(result.overlaps[0].lower, 0.025, 1e-9);
  assert_near(result.overlaps[0].upper, 0.025, 1e-6);
  graze_rigid_destroy(world);
}

/* Against a wall, the lowest corner of all parts tells; against a mesh, the relation of its parts. */
static void test_check_ground(void **unused) {
  (void)unused;
  graze_mesh *mesh = make_angle();
  for (int as_mesh = 0; as_mesh < 2; as_mesh++) {
    graze_rigid *world = make_world(GRAZE_RIGID_AUTO, gravity, 0.5);
    graze_rigid_part parts[2];
    graze_rigid_body_def def = define_angle(mesh, parts);
    def.type = GRAZE_BODY_STATIC;
    if (as_mesh)
      add(world, &def);
    else
      add_floor(world);
    def = define_angle(NULL, parts);
    def.position[2] = 5.0 / 6 - 0.01;
    if (as_mesh) { /* on the upper square, by its own corner */
      def.position[0] = 0.9;
      def.position[2] += 2 - 5.0 / 6;
    }
    add(world, &def);
    graze_rigid_check_result result = check(world, 0.02);
    assert_true(result.pairs == 1 && result.count == 0);
    assert_true(result.deepest.lower <= 0.01 + 1e-12 && result.deepest.upper >= 0.01 - 1e-12);
    if (!as_mesh) assert_near(result.deepest.lower, result.deepest.upper, 1e-12);
    result = check(world, 0.009);
    assert_int_equal(result.count, 1);
    graze_rigid_destroy(world);
  }
  graze_mesh_destroy(mesh);
}

/* A heap that has come down is not deep in itself, as far as is known: of two that hang in each other no way out that
 * is tried may be short. */
static void test_check_heap(void **unused) {
  (void)unused;
  graze_rigid *world = make_gas(shared_context(1), gravity, true);
  run(world, 240);
  const graze_rigid_check_result result = check(world, 0.01);
  assert_true(result.pairs > 27);
  assert_true(result.count <= 2);
  for (uint64_t i = 0; i < result.count; i++) assert_true(result.overlaps[i].unknown);
  assert_true(result.deepest.upper > 0 && result.deepest.lower < 0.002);
  graze_rigid_destroy(world);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void expect(graze_rigid *world, const graze_rigid_body_def *def, graze_status status, const char *words) {
  uint32_t body;
  assert_int_equal(graze_rigid_add_body(world, def, &body), status);
  if (strstr(shared_error()->message, words) == NULL) fail_msg("%s", shared_error()->message);
}

static void test_errors(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(GRAZE_RIGID_AUTO, 0, 0);
  graze_rigid_part parts[2] = {box_at(0, 0, 0, 1, 1, 1), box_at(2, 0, 0, 1, 1, 1)};
  graze_rigid_body_def def = define(parts, 0, 0, 0, 0);
  double center[3], points[300][3];
  const graze_rigid_part good = parts[1];
  def.name = "frame";
  expect(world, &def, GRAZE_ERROR_ARGUMENT, "body 'frame': its compound has no parts");
  def.part_count = 2;
  def.parts = NULL;
  expect(world, &def, GRAZE_ERROR_ARGUMENT, "body 'frame': its compound has no parts");
  def.parts = parts;
  parts[1].edges[2] = 0;
  expect(world, &def, GRAZE_ERROR_ARGUMENT, "body 'frame': part 1: its edge is 0");
  parts[1] = good;
  parts[1].shape = GRAZE_RIGID_MESH;
  expect(world, &def, GRAZE_ERROR_ARGUMENT, "body 'frame': part 1: it is a mesh");
  parts[1].shape = GRAZE_RIGID_COMPOUND;
  expect(world, &def, GRAZE_ERROR_ARGUMENT, "body 'frame': part 1: it is a compound");
  parts[1].shape = GRAZE_RIGID_HULL;
  expect(world, &def, GRAZE_ERROR_ARGUMENT, "body 'frame': part 1: its hull has no points");
  for (int i = 0; i < 300; i++) { /* on a paraboloid: all are corners */
    points[i][0] = i % 20 - 10 + 0.01 * (i / 20);
    points[i][1] = i / 20 - 7;
    points[i][2] = points[i][0] * points[i][0] + points[i][1] * points[i][1];
  }
  parts[1].points = points[0];
  parts[1].point_count = 300;
  expect(world, &def, GRAZE_ERROR_ARGUMENT, "body 'frame': part 1: its hull has more than 256 corners");
  parts[1] = good;
  parts[1].place[1] = (double)INFINITY;
  expect(world, &def, GRAZE_ERROR_NOT_FINITE, "body 'frame': part 1: place is not finite");
  parts[1] = good;
  parts[1].orientation[3] = (double)NAN;
  expect(world, &def, GRAZE_ERROR_NOT_FINITE, "part 1: orientation is not finite");
  memset(parts[1].orientation, 0, sizeof parts[1].orientation);
  expect(world, &def, GRAZE_ERROR_ARGUMENT, "part 1: its orientation is 0");
  parts[1] = good;
  parts[1].density = -1;
  expect(world, &def, GRAZE_ERROR_ARGUMENT, "part 1: its density is -1");
  assert_int_equal(graze_rigid_find_parts_center(shared_context(1), 2, parts, 1, center), GRAZE_ERROR_ARGUMENT);
  assert_non_null(strstr(shared_error()->message, "part 1: its density is -1"));
  parts[1].cookie = 0;
  expect(world, &def, GRAZE_ERROR_ARGUMENT, "part 1: the definition was not initialised");
  parts[1] = good;
  def.density = (double)NAN;
  expect(world, &def, GRAZE_ERROR_ARGUMENT, "body 'frame': one of mass and density is wanted");
  parts[0].density = 1;
  expect(world, &def, GRAZE_ERROR_ARGUMENT, "body 'frame': one of mass and density is wanted");
  parts[1].density = 1;
  def.density = 1;
  def.mass = 1;
  expect(world, &def, GRAZE_ERROR_ARGUMENT, "body 'frame': one of mass and density is wanted");
  assert_int_equal(graze_rigid_get_body_count(world), 0);
  graze_rigid_destroy(world);
}

static graze_status use_memory(graze_context *context) {
  static const double corners[4][3] = {{1, 0, 0}, {-0.5, 0.8, 0}, {-0.5, -0.8, 0}, {0, 0, 1}};
  static const uint32_t triangle[3] = {0, 1, 2};
  graze_rigid_def def = graze_default_rigid_def();
  const graze_rigid_material m = graze_default_rigid_material();
  graze_rigid_part parts[3] = {ball_at(0, 0, 0, 0.2), box_at(0.3, 0, 0, 0.2, 0.2, 0.2), ball_at(0, 0.4, 0, 0)};
  graze_rigid_body_def body = define(parts, 3, 0, 0, 0.7), ground = graze_default_rigid_body_def();
  const double point[3] = {0, 0, 0}, up[3] = {0, 0, 1};
  graze_mesh_def mesh_def = graze_default_mesh_def();
  graze_rigid_replay *replay = NULL;
  graze_rigid_check_result result;
  graze_world_replay_step s;
  graze_mesh *mesh = NULL;
  graze_rigid *world = NULL;
  uint32_t number;
  parts[2].shape = GRAZE_RIGID_HULL;
  parts[2].points = corners[0];
  parts[2].point_count = 4;
  mesh_def.vertices = corners;
  mesh_def.vertex_count = 4;
  mesh_def.indices = triangle;
  mesh_def.triangle_count = 1;
  mesh_def.precision = GRAZE_DOUBLE;
  def.sleep = true;
  graze_status status = graze_mesh_create(context, &mesh_def, &mesh);
  if (status == GRAZE_OK) status = graze_rigid_create(context, &def, &world);
  ground.shape = GRAZE_RIGID_MESH;
  ground.type = GRAZE_BODY_STATIC;
  ground.mesh = mesh;
  if (status == GRAZE_OK) status = graze_rigid_add_material(world, &m, &number);
  if (status == GRAZE_OK) status = graze_rigid_add_wall(world, point, up, 0);
  if (status == GRAZE_OK) status = graze_rigid_add_body(world, &ground, &number);
  for (int i = 0; i < 2 && status == GRAZE_OK; i++, body.position[2] += 0.8)
    status = graze_rigid_add_body(world, &body, &number);
  if (status == GRAZE_OK) status = graze_rigid_record(world, record_path);
  if (status == GRAZE_OK) status = graze_rigid_step(world, step, 20, NULL, NULL);
  if (status == GRAZE_OK) status = graze_rigid_record_end(world);
  if (status == GRAZE_OK) status = graze_rigid_check(world, 0, &result);
  graze_rigid_destroy(world);
  graze_mesh_destroy(mesh);
  if (status == GRAZE_OK) status = graze_rigid_replay_open(context, record_path, &replay);
  if (status == GRAZE_OK) status = graze_rigid_replay_next(replay, &s);
  graze_rigid_replay_close(replay);
  return status;
}

static void test_refused_memory(void **unused) {
  (void)unused;
  test_refuse_each(use_memory, 5000);
  unlink(record_path);
}

int main(void) {
  snprintf(record_path, sizeof record_path, "rigid_compounds_%d.grz", (int)getpid());
  snprintf(state_path, sizeof state_path, "rigid_compounds_%d.state", (int)getpid());
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mass),          cmocka_unit_test(test_densities),    cmocka_unit_test(test_alike),
      cmocka_unit_test(test_dumbbell),      cmocka_unit_test(test_rolling),      cmocka_unit_test(test_table),
      cmocka_unit_test(test_hook),          cmocka_unit_test(test_single),       cmocka_unit_test(test_momentum),
      cmocka_unit_test(test_one_hash),      cmocka_unit_test(test_record),       cmocka_unit_test(test_sleep),
      cmocka_unit_test(test_bullets),       cmocka_unit_test(test_check_corner), cmocka_unit_test(test_check_hole),
      cmocka_unit_test(test_check_ground),  cmocka_unit_test(test_check_heap),   cmocka_unit_test(test_errors),
      cmocka_unit_test(test_refused_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
