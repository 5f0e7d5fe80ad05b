/* Balls against meshes on a device: the same bytes as the processor's on soups, slivers, doubled sheets, flush floors
 * and periodic ones, at rest, moving and driven, with what contacts remember from list to list; and what happens where
 * memory is refused or a mesh goes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "gpu/stages.h"
#include "twins.h"

enum { BALLS = 40, SURFACES = 3, TRIANGLES = 200 };

/* What a case is made of. */
typedef struct plan {
  uint64_t seed;
  uint32_t which; /* bits: springs, events, Euler, single, Hertz, periodic */
  int kind;       /* of the soup; from 5 on flat floors */
  int scale;      /* lengths are multiplied by 2 to this */
  double speed;
} plan;

static bool has(const plan *p, uint32_t bit) {
  return p->which >> bit & 1;
}

/* A floor of squares, some of which are cut in four at a corner, so that edges end within others. */
static uint32_t make_floor(uint64_t *random, double side, double *corners) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < 16; i++) {
    const double x = 0.25 * (i % 4) * side, y = 0.25 * (i / 4 % 4) * side, d = 0.25 * side;
    const double at[5][2] = {{x, y}, {x + d, y}, {x + d, y + d}, {x, y + d}, {x + d / 2, y + d / 4}};
    const bool whole = random_below(random, 2) != 0;
    for (uint32_t t = 0; t < (whole ? 2u : 4u); t++, count++) {
      const uint32_t of[3] = {whole ? 0 : t, whole ? t + 1 : (t + 1) % 4, whole ? t + 2 : 4};
      for (uint32_t c = 0; c < 3; c++) {
        corners[9 * count + 3 * c] = at[of[c]][0];
        corners[9 * count + 3 * c + 1] = at[of[c]][1];
        corners[9 * count + 3 * c + 2] = 0;
      }
    }
  }
  return count;
}

/* Meshes of a case, of a context. */
typedef struct shapes {
  graze_mesh *mesh[2];
} shapes;

static graze_mesh *make_shape(graze_context *context, const plan *p, int kind, uint64_t *random) {
  double corners[9 * 3 * TRIANGLES];
  uint32_t count = kind < 5 ? soup_of_kind(random, kind, 48, corners) : make_floor(random, 2, corners);
  for (uint32_t t = 0; t < count / 8 && count < 2 * TRIANGLES; t++, count++) /* sheets that are there twice */
    memcpy(corners + 9 * (size_t)count, corners + 9 * (size_t)t, 9 * sizeof *corners);
  for (uint32_t i = 0; i < 9 * count; i++) corners[i] = ldexp(2 * corners[i], p->scale);
  return test_mesh(context, corners, count, GRAZE_VOLUMES_ORIENTED);
}

static shapes make_shapes(graze_context *context, const plan *p) {
  uint64_t random = p->seed;
  shapes s;
  s.mesh[0] = make_shape(context, p, p->kind, &random);
  s.mesh[1] = make_shape(context, p, (p->kind + 2) % 5, &random);
  return s;
}

static void destroy_shapes(shapes *s) {
  for (int i = 0; i < 2; i++) graze_mesh_destroy(s->mesh[i]);
}

static graze_material case_material(const plan *p, int which) {
  graze_material m = graze_default_material();
  if (has(p, 4)) {
    m.law = GRAZE_HERTZ;
    m.young = ldexp(2000, -p->scale);
    m.poisson = 0.25;
    m.restitution = 0.5;
  } else {
    m.k_n = 2000;
    m.eta_n = 4;
  }
  m.tangential = has(p, 0) ? GRAZE_TANGENTIAL_SPRING : GRAZE_TANGENTIAL_DASHPOT;
  m.friction = which == 0 ? 0.5 : 0.125;
  m.rolling = 0.125;
  if (which == 1) m.surface_speed[1] = ldexp(1, p->scale);
  return m;
}

static void add_case_balls(graze_world *world, const plan *p, uint64_t *random) {
  double at[3 * BALLS], speed[3 * BALLS], radii[BALLS];
  for (uint32_t i = 0; i < BALLS; i++) {
    for (uint32_t k = 0; k < 3; k++) {
      at[3 * i + k] = ldexp(4 * random_unit(random) - (k == 2 ? 1 : 0), p->scale);
      speed[3 * i + k] = ldexp(p->speed * random_signed(random), p->scale);
    }
    radii[i] = ldexp(0.0625 + 0.25 * random_unit(random), p->scale);
  }
  add_balls(world, BALLS, at, speed, radii, radii[0], 0.25, 0);
}

/* The first stands; the second moves and turns, but not among its images; the third has the mesh of the first. */
static void add_case_surfaces(graze_world *world, const plan *p, const shapes *s, uint64_t *random) {
  for (uint32_t i = 0; i < SURFACES; i++) {
    graze_body_def def = graze_default_body_def();
    graze_body_id id;
    def.type = i == 1 ? GRAZE_BODY_KINEMATIC : GRAZE_BODY_STATIC;
    def.mesh = s->mesh[i % 2];
    def.material = i == 2;
    for (int k = 0; k < 3; k++) {
      const double way = random_signed(random), turn = random_signed(random);
      if (i > 0) def.position[k] = ldexp(way, p->scale);
      if (i == 1) def.velocity[k] = ldexp(0.5 * p->speed * way, p->scale);
      if (i == 1 && !has(p, 5)) def.spin[k] = p->speed * turn;
    }
    if (i == 2) memcpy(def.orientation, (const double[4]){0.5, 0.5, -0.5, 0.5}, sizeof def.orientation);
    assert_int_equal(graze_world_add_body(world, &def, &id), GRAZE_OK);
  }
}

static graze_world *make_case(graze_context *context, const plan *p, const shapes *s) {
  graze_world_def def = graze_default_world_def();
  graze_world *world = NULL;
  uint64_t random = p->seed + 1;
  def.gravity[2] = ldexp(-8, p->scale);
  def.events = has(p, 1);
  def.integrator = has(p, 2) ? GRAZE_EULER : GRAZE_LEAPFROG;
  def.precision = has(p, 3) ? GRAZE_FLOAT : GRAZE_DOUBLE;
  for (int k = 0; k < 3; k++) {
    def.bounds.min[k] = k == 2 ? -def.bounds.max[0] : 0;
    def.bounds.max[k] = ldexp(4, p->scale);
    def.periodic[k] = has(p, 5) && k < 2;
  }
  assert_int_equal(graze_world_create(context, &def, &world), GRAZE_OK);
  for (int i = 0; i < 2; i++) {
    const graze_material m = case_material(p, i);
    assert_int_equal(add_material(world, &m), i);
  }
  add_case_balls(world, p, &random);
  add_case_surfaces(world, p, s, &random);
  assert_int_equal(
      graze_world_add_wall(world, (const double[3]){0, 0, ldexp(-1, p->scale)}, (const double[3]){0, 0, 1}, 0),
      GRAZE_OK);
  return world;
}

/* A case of both. */
typedef struct cases {
  twins t;
  shapes of_device, of_plain;
} cases;

static cases make_cases(const plan *p) {
  cases c = {.of_device = make_shapes(on.context, p), .of_plain = make_shapes(on.plain, p)};
  c.t.device = make_case(on.context, p, &c.of_device);
  c.t.plain = make_case(on.plain, p, &c.of_plain);
  return c;
}

static void destroy_cases(cases *c) {
  destroy_twins(&c->t);
  destroy_shapes(&c->of_device);
  destroy_shapes(&c->of_plain);
}

static const double STEP = 0x1p-9;

/* Contacts with surfaces now. */
static uint32_t count_touching(graze_world *world) {
  const graze_contact *contacts;
  uint64_t count;
  uint32_t touching = 0;
  assert_int_equal(graze_world_find_contacts(world, &contacts, &count), GRAZE_OK);
  for (uint64_t i = 0; i < count; i++) touching += contacts[i].b.kind == GRAZE_MEMBER_BODY;
  return touching;
}

/* ---- families ---------------------------------------------------------------------------------------------------- */

static uint32_t run_case(const plan *p, uint64_t steps) {
  char what[96];
  uint32_t touching = 0;
  snprintf(what, sizeof what, "seed %llu, kind %d, which %u, scale %d", (unsigned long long)p->seed, p->kind, p->which,
           p->scale);
  cases c = make_cases(p);
  for (int i = 0; i < 3; i++) {
    run_twins(&c.t, STEP, i == 0 ? 1 : steps, what);
    touching += count_touching(c.t.plain);
  }
  destroy_cases(&c);
  return touching;
}

/* Every kind of mesh with every integrator, precision and law at some time. */
static void test_families(void **state) {
  uint64_t random = test_seed(1);
  uint32_t touching = 0;
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  const uint32_t rounds = test_device_few() ? 3 : test_device_slow() ? 6 : 12;
  for (uint32_t i = 0; i < rounds; i++) {
    const plan p = {.seed = random_next(&random),
                    .which = (i * 11 + random_below(&random, 2)) % 64,
                    .kind = (int)(i % 6),
                    .speed = 4};
    touching += run_case(&p, test_device_few() ? 12 : 40);
  }
  assert_true(touching > rounds);
}

/* Meshes whose coordinates are too large or too small for a hierarchy: every triangle is looked at. */
static void test_scales(void **state) {
  uint64_t random = test_seed(2);
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  for (int i = 0; i < 2; i++) {
    const plan p = {.seed = random_next(&random), .which = 3, .kind = 5, .scale = i == 0 ? 70 : -70, .speed = 2};
    run_case(&p, test_device_few() ? 5 : 30);
  }
}

/* Balls that go farther in a step than they are looked for, into corners and out of them, and remember. */
static void test_leaps(void **state) {
  uint64_t random = test_seed(3);
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  for (uint32_t i = 0; i < (test_device_few() ? 1 : 6); i++) {
    const plan p = {.seed = random_next(&random), .which = 3 | i % 2 << 2, .kind = (int)(i % 5), .speed = 64};
    run_case(&p, test_device_few() ? 5 : 20);
  }
}

/* A box that sweeps through balls at rest, none of which moves before it is hit: that the list bears no more is known
 * from the way of the box alone. In runs of one step and of many. */
static void test_sweep(void **state) {
  const double low[3] = {-0.5, -2, -2}, high[3] = {0.5, 2, 2};
  double corners[108], at[3 * BALLS];
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  soup_box(low, high, corners);
  for (uint32_t i = 0; i < 3 * BALLS; i++) at[i] = i % 3 == 0 ? 0.125 * i + 3 : i % 3 == 1 ? i % 4 * 0.75 - 1 : 0;
  for (uint32_t which = 0; which < 4; which++) {
    const uint64_t together = which % 2 == 0 ? 1 : 20, steps = test_device_few() ? 40 : 100;
    graze_mesh *boxes[2];
    twins t;
    for (int k = 0; k < 2; k++) {
      graze_context *context = k == 0 ? on.context : on.plain;
      graze_world **made = k == 0 ? &t.device : &t.plain;
      graze_world_def def = graze_default_world_def();
      graze_body_def body = graze_default_body_def();
      const graze_material m = hooke(1000);
      graze_body_id id;
      def.gravity[2] = 0;
      def.integrator = which < 2 ? GRAZE_LEAPFROG : GRAZE_EULER;
      boxes[k] = test_mesh(context, corners, 12, GRAZE_VOLUMES_ORIENTED);
      assert_int_equal(graze_world_create(context, &def, made), GRAZE_OK);
      add_balls(*made, BALLS, at, NULL, NULL, 0.125, 1, add_material(*made, &m));
      body.type = GRAZE_BODY_KINEMATIC;
      body.mesh = boxes[k];
      body.velocity[0] = 0.0625 / STEP; /* more than a skin */
      assert_int_equal(graze_world_add_body(*made, &body, &id), GRAZE_OK);
    }
    for (uint64_t i = 0; i < steps; i += together) {
      run_world(t.device, STEP, together);
      run_world(t.plain, STEP, together);
      assert_true(graze_world_get_hash(t.device) == graze_world_get_hash(t.plain));
    }
    graze_world_sums sums;
    assert_int_equal(graze_world_get_sums(t.plain, &sums), GRAZE_OK);
    assert_true(sums.kinetic > 0 && graze_world_get_engine_steps(t.device) == steps);
    destroy_twins(&t);
    for (int k = 0; k < 2; k++) graze_mesh_destroy(boxes[k]);
  }
}

/* ---- from run to run --------------------------------------------------------------------------------------------- */

/* What drives a surface changes in each step: the state stays on the device all the same. */
static void test_driven(void **state) {
  static const graze_body_id driven = {1, 1};
  const plan p = {.seed = 12, .which = 3, .kind = 2, .speed = 4};
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  cases c = make_cases(&p);
  for (uint64_t i = 1; i <= (test_device_few() ? 5 : 40); i++) {
    const double turn = 0.25 * (double)i, velocity[3] = {4 * sin(turn), -2, 4 * cos(turn)}, spin[3] = {2, turn, -1};
    for (int k = 0; k < 2; k++)
      assert_int_equal(graze_world_set_velocity(k == 0 ? c.t.device : c.t.plain, driven, velocity, spin), GRAZE_OK);
    run_world(c.t.device, STEP, 1);
    run_world(c.t.plain, STEP, 1);
    assert_true(graze_world_get_hash(c.t.device) == graze_world_get_hash(c.t.plain));
    compare_twin_events(&c.t);
    assert_true(on.gpu->stages->worlds.begun == i);
  }
  graze_body_def got, want;
  assert_int_equal(graze_world_get_body(c.t.device, driven, &got), GRAZE_OK);
  assert_int_equal(graze_world_get_body(c.t.plain, driven, &want), GRAZE_OK);
  assert_memory_equal(got.position, want.position, sizeof got.position);
  assert_memory_equal(got.orientation, want.orientation, sizeof got.orientation);
  compare_twins(&c.t, "driven");
  destroy_cases(&c);
}

/* Now the device, now the processor, with answers of a few steps, and what contacts remember on the way. */
static void test_hand_over(void **state) {
  uint64_t random = test_seed(4);
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  for (uint32_t round = 0; round < (test_device_few() ? 1 : 4); round++) {
    const plan p = {.seed = random_next(&random), .which = 3 | round << 2, .kind = (int)(round % 5), .speed = 4};
    cases c = make_cases(&p);
    for (int i = 0; i < 8; i++) {
      const uint64_t steps = 1 + random_below(&random, 9);
      const bool on_device = i % 2 == 0 || random_below(&random, 2) != 0;
      if (!on_device) graze_gpu_detach(on.gpu);
      if (on_device) on.gpu->stages->worlds.most_steps = random_below(&random, 2) * 3;
      run_world(c.t.device, STEP, steps);
      run_world(c.t.plain, STEP, steps);
      compare_twins(&c.t, on_device ? "the device" : "the processor");
      if (!on_device) assert_int_equal(graze_gpu_attach(on.gpu, GRAZE_GPU_ALWAYS), GRAZE_OK);
    }
    assert_true(graze_world_get_engine_steps(c.t.device) > 0);
    on.gpu->stages->worlds.most_steps = 0;
    destroy_cases(&c);
  }
}

/* A mesh of the context that goes may have been one of the world's: all of them go up again. */
static void test_forgotten(void **state) {
  const plan p = {.seed = 14, .which = 1, .kind = 0, .speed = 4};
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  cases c = make_cases(&p);
  shapes others = make_shapes(on.context, &p);
  run_world(c.t.device, STEP, 5);
  run_world(c.t.plain, STEP, 5);
  assert_true(on.gpu->stages->worlds.run != 0);
  destroy_shapes(&others);
  assert_true(on.gpu->stages->worlds.run == 0);
  run_twins(&c.t, STEP, 5, "forgotten");
  destroy_cases(&c);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Each request for memory of the device is refused in turn: the processor makes the steps, and next time the device. */
static void test_refused_memory(void **state) {
  const plan p = {.seed = 15, .which = 3, .kind = 1, .speed = 4};
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  uint32_t refused = 1;
  for (bool enough = false; !enough; refused += test_device_few() ? 13 : test_device_slow() ? 7 : 4) {
    cases c = make_cases(&p);
    enough = run_twins_refused(&c.t, STEP, 4, refused);
    run_twins(&c.t, STEP, 2, "memory is there again");
    destroy_cases(&c);
  }
  assert_true(refused > 30);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_families),  cmocka_unit_test(test_scales),
                                     cmocka_unit_test(test_leaps),     cmocka_unit_test(test_sweep),
                                     cmocka_unit_test(test_driven),    cmocka_unit_test(test_hand_over),
                                     cmocka_unit_test(test_forgotten), cmocka_unit_test(test_refused_memory)};
  return cmocka_run_group_tests(tests, test_device_open, test_device_close);
}
