/* Steps of worlds of balls on a device: the same bytes as the processor's, in state, sums and events, for all laws,
 * periodic boxes, bodies, one ball and thousands; handed to the processor at any time, which goes on with the same
 * bytes; what the device cannot do is done all the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "gpu/stages.h"
#include "twins.h"

static twins make_twins(bed b, uint32_t count) {
  twins t;
  b.context = on.context;
  t.device = make_bed(&b, count);
  b.context = on.plain;
  t.plain = make_bed(&b, count);
  return t;
}

static twins make_beds(bed_kind kind, bool events, uint32_t count) {
  return make_twins((bed){.kind = kind, .events = events}, count);
}

/* ---- beds -------------------------------------------------------------------------------------------------------- */

static void run_bed(bed b, uint32_t balls, uint64_t steps) {
  char what[64];
  snprintf(what, sizeof what, "bed %u of %u balls, events %u, single %u", b.kind, balls, b.events, b.single);
  twins t = make_twins(b, balls);
  run_twins(&t, bed_dt(&b), 1, what);
  run_twins(&t, bed_dt(&b), 2, what);
  run_twins(&t, bed_dt(&b), steps, what);
  assert_true(graze_world_get_step(t.device) == steps + 3);
  destroy_twins(&t);
}

static void test_beds(void **state) {
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  for (uint32_t i = 0; i < 4 * BED_KINDS; i++) {
    const bed b = {.kind = (bed_kind)(i / 4), .events = i % 2 != 0, .single = i / 2 % 2 != 0};
    run_bed(b, 60, test_device_few() ? 20 : 150);
    if (!test_device_slow()) run_bed(b, 700, 60);
    if (test_device_large()) run_bed(b, 4096, 200);
  }
  /* Events that had no room: the answer was sought again. */
  if (!test_device_slow()) assert_true(on.gpu->stages->worlds.event_room > 700 / 4 + 16);
}

/* ---- laws -------------------------------------------------------------------------------------------------------- */

enum { CROWD = 48 };

/* Of one law of each kind, or of two. */
static graze_material material_of(uint32_t which) {
  graze_material m = graze_default_material();
  m.law = (graze_normal_law)(which % 2);
  m.tangential = (graze_tangential_law)(which / 2 % 4);
  m.ends = (graze_contact_end)(which / 8 % 2);
  m.k_n = m.law == GRAZE_HOOKE ? 2000 : (double)NAN;
  m.young = m.law == GRAZE_HERTZ ? 2000 : (double)NAN;
  m.poisson = m.law == GRAZE_HERTZ ? 0.25 : (double)NAN;
  if (m.law == GRAZE_HERTZ && m.ends == GRAZE_END_FORCE)
    m.gamma_n = 8;
  else
    m.restitution = 0.5;
  m.friction = 0.375;
  return m;
}

/* Balls that are thrown together: in a box whose sides are periods, or four walls and a belt; some are bodies. */
static graze_world *make_crowd(graze_context *context, uint32_t which, bool periodic) {
  double at[3 * CROWD], speed[3 * CROWD], spin[3 * CROWD], radii[CROWD];
  graze_world_def def = graze_default_world_def();
  graze_particle_def balls = graze_default_particle_def();
  graze_body_def body = graze_default_body_def();
  graze_world *world = NULL;
  graze_body_id id;
  uint64_t random = 11;
  uint32_t set;
  graze_material m = material_of(which), other = m;
  def.integrator = which / 16 % 2 == 0 ? GRAZE_LEAPFROG : GRAZE_EULER;
  def.events = which % 3 == 0;
  def.bounds = (graze_box){{0, 0, 0}, {4, 3, 5}};
  for (int k = 0; k < 3; k++) def.periodic[k] = periodic;
  assert_int_equal(graze_world_create(context, &def, &world), GRAZE_OK);
  uint32_t first = add_material(world, &m), second = first;
  if (which % 5 > 1) { /* else one law for all, which may be a simple one */
    other.rolling = 0.25;
    other.spinning = 0.125;
    other.friction = 0.125;
    other.surface_speed[0] = 2;
    second = add_material(world, &other);
  }
  for (int i = 0; i < CROWD; i++) {
    for (int k = 0; k < 3; k++) {
      at[3 * i + k] = random_unit(&random) * (k == 2 ? 5 : 3);
      speed[3 * i + k] = 4 * random_signed(&random);
      spin[3 * i + k] = 8 * random_signed(&random);
    }
    radii[i] = 0.25 + 0.125 * random_unit(&random);
  }
  memcpy(at + 3, at, 3 * sizeof *at); /* two with one centre */
  balls.name = "crowd";
  balls.count = CROWD;
  balls.positions = at;
  balls.velocities = speed;
  balls.spins = spin;
  balls.radii = radii;
  balls.mass = 0.5;
  balls.material = first;
  if (which % 4 == 3) balls.drag[1] = 0.125;
  assert_int_equal(graze_world_add_particles(world, &balls, &set), GRAZE_OK);
  for (int i = 0; i < 3 && which % 5 > 0; i++) {
    body.type = (graze_body_type)i;
    body.radius = 0.375;
    body.material = second;
    body.mass = i == 0 ? 0.25 : (double)NAN;
    body.velocity[1] = body.spin[2] = i != 1;
    for (int k = 0; k < 3; k++) body.position[k] = 1 + 0.5 * i;
    assert_int_equal(graze_world_add_body(world, &body, &id), GRAZE_OK);
  }
  for (int w = 0; w < 5 && !periodic; w++) {
    const double point[3] = {w == 2 ? 4 : 0, w == 3 ? 3 : 0, 0},
                 normal[3] = {(w == 1) - (w == 2), (w == 4) - (w == 3), w == 0};
    assert_int_equal(graze_world_add_wall(world, point, normal, w == 0 ? second : first), GRAZE_OK);
  }
  return world;
}

static void test_laws(void **state) {
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  for (uint32_t which = test_device_few() ? test_device_first() : 0; which < 64; which += test_device_few() ? 9 : 1) {
    char what[32];
    snprintf(what, sizeof what, "crowd %u", which);
    twins t = {make_crowd(on.context, which % 32, which >= 32), make_crowd(on.plain, which % 32, which >= 32)};
    run_twins(&t, 0x1p-10, 3, what);
    run_twins(&t, 0x1p-10, test_device_slow() ? 25 : 100, what);
    destroy_twins(&t);
  }
}

/* ---- small ------------------------------------------------------------------------------------------------------- */

static void test_alone(void **state) {
  static const double at[6] = {0, 0, 0.9375, 100, 0, 50}, speed[6] = {1, 0, -3, 0, 0, 1e3};
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  for (uint32_t count = 1; count <= 2; count++) {
    twins t;
    for (int i = 0; i < 2; i++) {
      graze_world **made = i == 0 ? &t.device : &t.plain;
      graze_material m = hooke(1000);
      const graze_world_def def = graze_default_world_def();
      assert_int_equal(graze_world_create(i == 0 ? on.context : on.plain, &def, made), GRAZE_OK);
      add_balls(*made, count, at, speed, NULL, 1, 1, add_material(*made, &m));
      graze_world_add_wall(*made, (const double[3]){0}, (const double[3]){0, 0, 1}, 0);
    }
    for (int k = 0; k < 3; k++) run_twins(&t, 0x1p-8, 40, "alone");
    destroy_twins(&t);
  }
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

enum { LARGE = 3, SMALL = 240, MIXED = LARGE + SMALL };

/* A point on the sphere about the origin, or nearly. */
static void random_direction(uint64_t *random, double out[3]) {
  double length2 = 0;
  while (!(length2 > 0.25 && length2 < 1)) {
    length2 = 0;
    for (int k = 0; k < 3; k++) {
      out[k] = random_signed(random);
      length2 += out[k] * out[k];
    }
  }
  for (int k = 0; k < 3; k++) out[k] /= sqrt(length2);
}

/* Large balls a thousand times as wide as the least, and a crust of small ones on them, most of which touch; of all
 * sizes between if `spread`. */
static void mix_balls(bool spread, double at[3 * MIXED], double speed[3 * MIXED], double radii[MIXED]) {
  uint64_t random = 23;
  for (uint32_t i = 0; i < MIXED; i++) {
    double way[3];
    random_direction(&random, way);
    radii[i] = i < LARGE ? 16 - 4.0 * i : ldexp(1 + random_unit(&random), spread ? -(int)(i % 8) : -7);
    for (uint32_t k = 0; k < 3; k++) {
      const double center = k == 2 ? 16 : 20 + 20 * (double)(i % LARGE), reach = radii[i % LARGE] + 0.9 * radii[i];
      at[3 * i + k] = i < LARGE ? center : at[3 * (i % LARGE) + k] + reach * way[k];
      speed[3 * i + k] = i < LARGE ? 0 : random_signed(&random);
    }
  }
}

/* The second large ball is a body that moves by itself. */
static graze_world *make_mixed(graze_context *context, bool spread, bool periodic, bool springs) {
  double at[3 * MIXED], speed[3 * MIXED], radii[MIXED];
  graze_world_def def = graze_default_world_def();
  graze_particle_def balls = graze_default_particle_def();
  graze_body_def body = graze_default_body_def();
  graze_material m = hooke(64);
  graze_world *world = NULL;
  graze_body_id id;
  uint32_t set;
  mix_balls(spread, at, speed, radii);
  def.events = springs;
  def.bounds = (graze_box){{0, 0, 0}, {128, 128, 128}};
  for (int k = 0; k < 2; k++) def.periodic[k] = periodic;
  m.friction = 0.5;
  m.tangential = springs ? GRAZE_TANGENTIAL_SPRING : GRAZE_TANGENTIAL_DASHPOT;
  assert_int_equal(graze_world_create(context, &def, &world), GRAZE_OK);
  balls.name = "mix";
  balls.count = MIXED;
  balls.positions = at;
  balls.velocities = speed;
  balls.radii = radii;
  balls.density = 1;
  balls.material = body.material = add_material(world, &m);
  assert_int_equal(graze_world_add_particles(world, &balls, &set), GRAZE_OK);
  body.type = GRAZE_BODY_KINEMATIC;
  body.radius = 6;
  body.position[0] = body.position[1] = 100;
  body.position[2] = body.velocity[0] = 1;
  assert_int_equal(graze_world_add_body(world, &body, &id), GRAZE_OK);
  assert_int_equal(graze_world_add_wall(world, (const double[3]){0}, (const double[3]){0, 0, 1}, 0), GRAZE_OK);
  return world;
}

static void test_sizes(void **state) {
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  for (uint32_t which = test_device_few() ? test_device_first() % 3 : 0; which < 8;
       which += test_device_few() ? 3 : 1) {
    const bool spread = which & 1, periodic = which & 2, springs = which & 4;
    graze_step_limits limits;
    graze_world_sums sums;
    char what[32];
    snprintf(what, sizeof what, "mix %u", which);
    twins t = {make_mixed(on.context, spread, periodic, springs), make_mixed(on.plain, spread, periodic, springs)};
    assert_int_equal(graze_world_get_limits(t.plain, &limits), GRAZE_OK);
    run_twins(&t, 0.05 * limits.longest, 2, what);
    assert_int_equal(graze_world_get_sums(t.plain, &sums), GRAZE_OK);
    assert_true(sums.contacts > SMALL / 2);
    assert_true(on.gpu->stages->worlds.level_count > (spread ? 6 : 1));
    assert_int_equal(on.gpu->stages->worlds.large_count, LARGE); /* each has a group of its own */
    run_twins(&t, 0.05 * limits.longest, test_device_few() ? 3 : test_device_slow() ? 20 : 200, what);
    destroy_twins(&t);
  }
}

/* ---- walls ------------------------------------------------------------------------------------------------------- */

/* Around the origin, at a distance of 5, but for an opening. */
static void add_round_walls(graze_world *world, uint32_t walls, uint64_t *random) {
  for (uint32_t w = 0; w < walls; w++) {
    double out[3], normal[3], point[3];
    random_direction(random, out);
    for (int k = 0; k < 3; k++) {
      normal[k] = -out[k];
      point[k] = 5 * out[k];
    }
    if (out[0] < 0.75) assert_int_equal(graze_world_add_wall(world, point, normal, 0), GRAZE_OK);
  }
}

/* Balls that fly about in a room of many walls, of which each is near few; some leave the bounds through what is open.
 */
static graze_world *make_round_room(graze_context *context, uint32_t walls, bool springs) {
  double at[3 * CROWD], speed[3 * CROWD];
  graze_world_def def = graze_default_world_def();
  graze_material m = hooke(1000);
  graze_world *world = NULL;
  uint64_t random = 31;
  def.events = springs;
  def.bounds = (graze_box){{-9, -9, -9}, {9, 9, 9}};
  m.friction = 0.5;
  m.tangential = springs ? GRAZE_TANGENTIAL_SPRING : GRAZE_TANGENTIAL_DASHPOT;
  assert_int_equal(graze_world_create(context, &def, &world), GRAZE_OK);
  for (int i = 0; i < CROWD; i++) {
    for (int k = 0; k < 3; k++) {
      at[3 * i + k] = 3 * random_signed(&random);
      speed[3 * i + k] = 16 * random_signed(&random);
    }
  }
  add_balls(world, CROWD, at, speed, NULL, 0.25, 1, add_material(world, &m));
  add_round_walls(world, walls, &random);
  return world;
}

/* Two balls, of which the large one is near most of the walls. */
static graze_world *make_tight_room(graze_context *context, bool springs) {
  static const double at[6] = {4, 0, 0, -1.0625, 0, 0}, speed[6] = {0, 1, 0, -4, 2, 1};
  graze_world_def def = graze_default_world_def();
  graze_material m = hooke(1000);
  graze_world *world = NULL;
  uint64_t random = 37;
  def.events = springs;
  m.friction = 0.5;
  m.tangential = springs ? GRAZE_TANGENTIAL_SPRING : GRAZE_TANGENTIAL_DASHPOT;
  assert_int_equal(graze_world_create(context, &def, &world), GRAZE_OK);
  const uint32_t material = add_material(world, &m);
  for (uint32_t i = 0; i < 2; i++)
    add_balls(world, 1, at + (size_t)3 * i, speed + (size_t)3 * i, NULL, i == 0 ? 0.5 : 4, 1, material);
  add_round_walls(world, 1000, &random);
  return world;
}

static void test_walls(void **state) {
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  for (uint32_t which = 0; which < (test_device_few() ? 2 : 4); which++) {
    const uint32_t walls = which < 2 ? 100 : 1000;
    graze_world_sums sums;
    twins t = {make_round_room(on.context, walls, which % 2), make_round_room(on.plain, walls, which % 2)};
    run_world(t.plain, 0x1p-9, 90); /* until they are at the walls */
    graze_gpu_detach(on.gpu);
    run_world(t.device, 0x1p-9, 90);
    assert_int_equal(graze_gpu_attach(on.gpu, GRAZE_GPU_ALWAYS), GRAZE_OK);
    run_twins(&t, 0x1p-9, 10, "a room of many walls");
    assert_int_equal(graze_world_get_sums(t.plain, &sums), GRAZE_OK);
    assert_true(sums.contacts > 3);
    run_twins(&t, 0x1p-9, test_device_few() ? 3 : test_device_slow() ? 20 : 300, "a room of many walls");
    destroy_twins(&t);
  }
}

/* Walls count as neighbours: a ball may have more of them than there are balls. */
static void test_many_walls(void **state) {
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  for (uint32_t springs = 0; springs < 2; springs++) {
    graze_world_sums sums;
    twins t = {make_tight_room(on.context, springs), make_tight_room(on.plain, springs)};
    run_twins(&t, 0x1p-9, 2, "a tight room");
    assert_int_equal(graze_world_get_sums(t.plain, &sums), GRAZE_OK);
    assert_true(sums.contacts > 3);
    assert_int_equal(on.gpu->stages->worlds.large_count, 1);
    run_twins(&t, 0x1p-9, test_device_few() ? 3 : test_device_slow() ? 20 : 100, "a tight room");
    destroy_twins(&t);
  }
}

/* ---- ways -------------------------------------------------------------------------------------------------------- */

/* A ball that goes, in each step, once around all marks of its list (kernels/world.h), or far beyond them, or nearly
 * once around its period, and is in the next ball then: that it has moved must not be missed. */
static void test_ways(void **state) {
  enum { BALLS = 5, STEPS = BALLS - 1 };
  const double dt = 0x1p-8, radius = 1.25, all_marks = 0x1p32 * (0x1p-12 * (0.5 * 0.4 * radius));
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  for (int which = 0; which < 4; which++) {
    const double period = 64, way = which == 0 ? all_marks : which == 1 ? 0x1p28 : which == 2 ? period + 3 : period - 3;
    double at[3 * BALLS] = {0}, speed[3 * BALLS] = {way / dt};
    graze_world_sums sums;
    twins t;
    for (int i = 1; i < BALLS; i++) {
      at[3 * i] = which < 2 ? way * i : remainder(way * i, period);
      at[3 * i + 1] = 2.25; /* a quarter of the overlap that there could be */
    }
    for (int i = 0; i < 2; i++) {
      graze_world_def def = graze_default_world_def();
      graze_material m = hooke(0x1p-20);
      graze_world **made = i == 0 ? &t.device : &t.plain;
      def.gravity[2] = 0;
      def.events = true;
      def.periodic[0] = which >= 2;
      for (int k = 0; k < 3; k++) {
        def.bounds.min[k] = -0.5 * period;
        def.bounds.max[k] = 0.5 * period;
      }
      assert_int_equal(graze_world_create(i == 0 ? on.context : on.plain, &def, made), GRAZE_OK);
      add_balls(*made, BALLS, at, speed, NULL, radius, 1, add_material(*made, &m));
    }
    for (int i = 0; i < STEPS; i++) {
      run_twins(&t, dt, 1, "a long way");
      assert_int_equal(graze_world_get_sums(t.plain, &sums), GRAZE_OK);
      assert_true(sums.contacts >= 1);
    }
    destroy_twins(&t);
  }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Of the device, for each ball of a lattice in which all but the outer balls have six contacts: it flies so far that
 * its list is made some times. */
static double bytes_of_lattice(bool springs, bool single) {
  enum { EDGE = 26, COUNT = EDGE * EDGE * EDGE };
  static double at[3 * COUNT], velocity[3 * COUNT];
  graze_world_def def = graze_default_world_def();
  graze_material m = hooke(1);
  graze_world *world = NULL;
  graze_gpu_detach(on.gpu); /* what others have taken is given back */
  const uint64_t before = graze_gpu_get_report(on.gpu).bytes;
  assert_int_equal(graze_gpu_attach(on.gpu, GRAZE_GPU_ALWAYS), GRAZE_OK);
  if (springs) m.tangential = GRAZE_TANGENTIAL_SPRING;
  def.precision = single ? GRAZE_FLOAT : GRAZE_DOUBLE;
  for (uint32_t i = 0; i < COUNT; i++) {
    const uint32_t cell[3] = {i % EDGE, i / EDGE % EDGE, i / EDGE / EDGE};
    for (int k = 0; k < 3; k++) at[3 * i + (uint32_t)k] = 0.999 * cell[k];
    velocity[3 * i] = 4;
  }
  assert_int_equal(graze_world_create(on.context, &def, &world), GRAZE_OK);
  add_balls(world, COUNT, at, velocity, NULL, 0.5, 1, add_material(world, &m));
  run_world(world, 0.02, 10);
  assert_true(graze_world_get_engine_steps(world) == 10);
  graze_world_destroy(world);
  const double bytes = (double)(graze_gpu_get_report(on.gpu).bytes - before) / COUNT;
  print_message("%s%s: %.1f bytes a ball\n", springs ? "with springs" : "without", single ? ", single" : "", bytes);
  return bytes;
}

static void test_bytes(void **state) {
  (void)state;
  need_device();
  if (!on.gpu->info.exact || test_device_slow()) skip(); /* they are the same */
  assert_true(bytes_of_lattice(false, false) < 260);
  assert_true(bytes_of_lattice(true, false) < 400);
  assert_true(bytes_of_lattice(false, true) < 160);
  assert_true(bytes_of_lattice(true, true) < 400);
}

/* ---- handing over ------------------------------------------------------------------------------------------------ */

/* Now the device, now the processor, in runs of any length and answers of few steps; saved and restored on the way. */
static void test_hand_over(void **state) {
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  uint64_t random = test_seed(1);
  for (uint32_t kind = 0; kind < BED_KINDS; kind++) {
    const bed b = {.kind = (bed_kind)kind};
    twins t = make_twins((bed){.kind = b.kind, .events = kind != BED_HERTZ, .single = kind == BED_SPRINGS}, 60);
    for (int i = 0; i < (test_device_few() ? 4 : 12); i++) {
      const uint64_t steps = 1 + random_below(&random, 17);
      const bool on_device = random_below(&random, 3) != 0;
      if (!on_device) graze_gpu_detach(on.gpu);
      if (on_device) on.gpu->stages->worlds.most_steps = random_below(&random, 2) * 5;
      run_world(t.device, bed_dt(&b), steps);
      run_world(t.plain, bed_dt(&b), steps);
      compare_twins(&t, on_device ? "the device" : "the processor");
      if (i == 2) {
        assert_int_equal(graze_world_save(t.device, "test_gpu_worlds.state"), GRAZE_OK);
        run_world(t.device, bed_dt(&b), 5);
        assert_int_equal(graze_world_restore(t.device, "test_gpu_worlds.state"), GRAZE_OK);
        remove("test_gpu_worlds.state");
      }
      if (!on_device) assert_int_equal(graze_gpu_attach(on.gpu, GRAZE_GPU_ALWAYS), GRAZE_OK);
    }
    assert_true(graze_world_get_engine_steps(t.device) > 0);
    on.gpu->stages->worlds.most_steps = 0;
    destroy_twins(&t);
  }
}

static void expect_kept(const twins *t, double dt, uint64_t begun) {
  run_world(t->device, dt, 7);
  run_world(t->plain, dt, 7);
  assert_true(graze_world_get_hash(t->device) == graze_world_get_hash(t->plain));
  compare_twin_events(t);
  assert_true(on.gpu->stages->worlds.begun == begun);
}

/* The state stays on the device from run to run, unless something else changes it. */
static void test_stays(void **state) {
  static const graze_body_id kinematic = {2, 1};
  const double velocity[3] = {0.5, 0, 0.25}, spin[3] = {0, 1, 0};
  double speeds[3 * 60];
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  for (uint32_t kind = BED_HERTZ; kind <= BED_SURFACES; kind++) {
    const bed b = {.kind = (bed_kind)kind};
    const double dt = bed_dt(&b);
    twins t = make_beds(b.kind, true, 60);
    for (uint64_t i = 1; i <= 4; i++) expect_kept(&t, dt, 7 * i);
    for (int i = 0; i < 2; i++)
      assert_int_equal(graze_world_set_velocity(i == 0 ? t.device : t.plain, kinematic, velocity, spin), GRAZE_OK);
    for (uint64_t i = 1; i <= 2; i++) expect_kept(&t, dt, 7 * i);
    for (uint32_t i = 0; i < 180; i++) speeds[i] = 0.25 * (i % 7) - 0.75;
    for (int i = 0; i < 2; i++)
      assert_int_equal(
          graze_world_set_particles(i == 0 ? t.device : t.plain, 1, &(graze_particle_state){NULL, speeds, NULL}),
          GRAZE_OK);
    for (uint64_t i = 1; i <= 2; i++) expect_kept(&t, dt, 7 * i);
    expect_kept(&t, 0.5 * dt, 7);
    compare_twins(&t, "what stayed"); /* sums ask for a list, which takes what contacts remember */
    expect_kept(&t, 0.5 * dt, 7);
    destroy_twins(&t);
  }
}

static bool stop_at(void *user, uint64_t done, uint64_t total) {
  (void)total;
  return done < *(const uint64_t *)user;
}

/* Between two answers. */
static void test_cancelled(void **state) {
  const bed b = {.kind = BED_SPRINGS};
  uint64_t stop = 6;
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  twins t = make_beds(BED_SPRINGS, true, 60);
  on.gpu->stages->worlds.most_steps = 4;
  assert_int_equal(graze_world_step(t.device, bed_dt(&b), 20, stop_at, &stop), GRAZE_CANCELLED);
  run_world(t.plain, bed_dt(&b), graze_world_get_step(t.device));
  assert_true(graze_world_get_step(t.device) >= stop && graze_world_get_step(t.device) < stop + 4);
  compare_twins(&t, "stopped");
  run_twins(&t, bed_dt(&b), 20, "stopped and gone on");
  on.gpu->stages->worlds.most_steps = 0;
  destroy_twins(&t);
}

/* ---- what is the processor's ------------------------------------------------------------------------------------- */

static void expect_processor(const twins *t, double dt, const char *reason) {
  run_world(t->device, dt, 12);
  run_world(t->plain, dt, 12);
  assert_int_equal(graze_world_get_engine_steps(t->device), 0);
  compare_twins(t, reason);
  run_world(t->device, dt, 3);
  run_world(t->plain, dt, 3);
  assert_string_equal(graze_gpu_get_report(on.gpu).reason, reason);
  compare_twins(t, reason);
}

/* A device that is lost or not exact. */
static void test_without_device(void **state) {
  const bed b = {.kind = BED_DASHPOTS};
  (void)state;
  need_device();
  twins t = make_beds(b.kind, false, 60);
  on.gpu->lost = true;
  expect_processor(&t, bed_dt(&b), "the device was lost");
  destroy_twins(&t);
  on.gpu->lost = on.gpu->told_lost = false;
  const bool exact = on.gpu->info.exact;
  on.gpu->info.exact = false;
  t = make_beds(b.kind, true, 60);
  run_world(t.device, bed_dt(&b), 12);
  run_world(t.plain, bed_dt(&b), 12);
  assert_int_equal(graze_world_get_engine_steps(t.device), 0);
  compare_twins(&t, "not exact");
  on.gpu->info.exact = exact;
  destroy_twins(&t);
}

static bool lose_at(void *user, uint64_t done, uint64_t total) {
  (void)total;
  if (done >= *(const uint64_t *)user) on.gpu->lost = true;
  return true;
}

/* In the middle of a run the device is gone: the processor goes on from the last answer, and says so once. */
static void test_lost_midway(void **state) {
  uint64_t when = 8;
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  for (uint32_t kind = BED_HERTZ; kind <= BED_SURFACES; kind++) {
    const bed b = {.kind = (bed_kind)kind};
    twins t = make_beds(b.kind, true, 60);
    on.gpu->stages->worlds.most_steps = 4;
    assert_int_equal(graze_world_step(t.device, bed_dt(&b), 40, lose_at, &when), GRAZE_OK);
    run_world(t.plain, bed_dt(&b), 40);
    const uint64_t made = graze_world_get_engine_steps(t.device);
    assert_true(made >= when && made < 40);
    compare_twins(&t, "lost midway");
    assert_string_equal(graze_gpu_get_report(on.gpu).reason, "the device was lost");
    on.gpu->lost = on.gpu->told_lost = false;
    on.gpu->stages->worlds.most_steps = 0;
    run_twins(&t, bed_dt(&b), 10, "found again");
    destroy_twins(&t);
  }
}

/* Each request for memory of the device is refused in turn: the processor makes the steps, and next time the device. */
static void test_refused_memory(void **state) {
  const bed b = {.kind = BED_SPRINGS};
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  uint32_t refused = 1;
  for (bool enough = false; !enough; refused += test_device_few() ? 11 : 1) {
    twins t = make_beds(b.kind, true, 60);
    enough = run_twins_refused(&t, bed_dt(&b), 12, refused);
    run_twins(&t, bed_dt(&b), 3, "memory is there again");
    destroy_twins(&t);
  }
  assert_true(refused > 20);
}

/* A number that stops being finite is told of in the processor's words, and the state is that of the last answer. */
static void test_not_finite(void **state) {
  static const double at[3] = {0, 0, 0}, speed[3] = {1e308, 1, 1};
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  twins t;
  for (int i = 0; i < 2; i++) {
    graze_world **made = i == 0 ? &t.device : &t.plain;
    graze_material m = hooke(1e-300);
    const graze_world_def def = graze_default_world_def();
    assert_int_equal(graze_world_create(i == 0 ? on.context : on.plain, &def, made), GRAZE_OK);
    add_balls(*made, 1, at, speed, NULL, 1, 1, add_material(*made, &m));
  }
  assert_int_equal(graze_world_step(t.plain, 0.25, 20, NULL, NULL), GRAZE_ERROR_NOT_FINITE);
  assert_int_equal(graze_world_step(t.device, 0.25, 20, NULL, NULL), GRAZE_ERROR_NOT_FINITE);
  assert_string_equal(on.messages.last, on.plain_messages.last);
  destroy_twins(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_beds),        cmocka_unit_test(test_laws),           cmocka_unit_test(test_alone),
      cmocka_unit_test(test_sizes),       cmocka_unit_test(test_walls),          cmocka_unit_test(test_many_walls),
      cmocka_unit_test(test_ways),        cmocka_unit_test(test_bytes),          cmocka_unit_test(test_hand_over),
      cmocka_unit_test(test_stays),       cmocka_unit_test(test_cancelled),      cmocka_unit_test(test_without_device),
      cmocka_unit_test(test_lost_midway), cmocka_unit_test(test_refused_memory), cmocka_unit_test(test_not_finite)};
  return cmocka_run_group_tests(tests, test_device_open, test_device_close);
}
