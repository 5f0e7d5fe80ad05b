/* What a world of balls refuses, and with which words; files that are damaged; memory that is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "families.h"
#include "worlds.h"

static graze_context *context;
static test_log heard;

static int make_context(void **unused) {
  (void)unused;
  context = test_context(1, &heard);
  return 0;
}

static int end_context(void **unused) {
  (void)unused;
  graze_context_destroy(context);
  return 0;
}

/* The status, and words in the message. */
static void refused(graze_status got, graze_status want, const char *words) {
  if (got != want) fail_msg("%s, not %s: '%s'", graze_status_string(got), graze_status_string(want), words);
  if (strstr(heard.last, words) == NULL) fail_msg("'%s' is not in '%s'", words, heard.last);
}

static graze_world *new_world(void) {
  const graze_world_def def = graze_default_world_def();
  graze_world *world = NULL;
  assert_int_equal(graze_world_create(context, &def, &world), GRAZE_OK);
  return world;
}

/* ---- definitions ------------------------------------------------------------------------------------------------- */

static void test_worlds(void **unused) {
  (void)unused;
  graze_world *world = NULL;
  graze_world_def def = graze_default_world_def();
  def.cookie = 0;
  refused(graze_world_create(context, &def, &world), GRAZE_ERROR_ARGUMENT, "not initialised");
  def = graze_default_world_def();
  def.integrator = (graze_integrator)7;
  refused(graze_world_create(context, &def, &world), GRAZE_ERROR_ARGUMENT, "not initialised");
  def = graze_default_world_def();
  def.gravity[1] = (double)NAN;
  refused(graze_world_create(context, &def, &world), GRAZE_ERROR_NOT_FINITE, "gravity");
  def = graze_default_world_def();
  def.periodic[2] = true;
  refused(graze_world_create(context, &def, &world), GRAZE_ERROR_ARGUMENT, "periodic z needs bounds");
  for (int k = 0; k < 3; k++) def.bounds.min[k] = 0, def.bounds.max[k] = k;
  def.periodic[0] = true;
  refused(graze_world_create(context, &def, &world), GRAZE_ERROR_ARGUMENT, "periodic x needs bounds");
  def.bounds.max[1] = (double)INFINITY;
  refused(graze_world_create(context, &def, &world), GRAZE_ERROR_NOT_FINITE, "bounds");
  assert_null(world);
  assert_int_equal(graze_world_create(context, NULL, &world), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_world_create(NULL, &def, &world), GRAZE_ERROR_ARGUMENT);
  graze_world_destroy(NULL);
}

typedef struct bad_material {
  size_t field; /* offset */
  double value;
  const char *words;
} bad_material;

#define FIELD(name) offsetof(graze_material, name)
static const bad_material bad_materials[] = {
    {FIELD(k_n), 0, "k_n is 0"},
    {FIELD(k_n), -1, "k_n is -1"},
    {FIELD(k_n), (double)NAN, "k_n is missing"},
    {FIELD(k_n), (double)INFINITY, "k_n is inf"},
    {FIELD(young), 1, "young and poisson are for the law hertz"},
    {FIELD(poisson), 0.2, "young and poisson are for the law hertz"},
    {FIELD(restitution), 1.5, "restitution must be in (0, 1]"},
    {FIELD(restitution), 0, "restitution is 0"},
    {FIELD(eta_n), -1, "eta_n is -1"},
    {FIELD(gamma_n), -1, "gamma_n is -1"},
    {FIELD(k_t), -1, "k_t is -1"},
    {FIELD(eta_t), -1, "eta_t is -1"},
    {FIELD(gamma_t), (double)INFINITY, "gamma_t is inf"},
    {FIELD(friction), -0.1, "friction is -0.1"},
    {FIELD(friction), (double)NAN, "friction is nan"},
    {FIELD(rolling), -1, "rolling is -1"},
    {FIELD(spinning), (double)NAN, "spinning is nan"},
    {FIELD(surface_speed) + sizeof(double), (double)NAN, "surface_speed"},
};

static void test_materials(void **unused) {
  (void)unused;
  graze_world *world = new_world();
  uint32_t number = 99;
  graze_material m = hooke(1);
  m.cookie = 0;
  refused(graze_world_add_material(world, "iron", &m, &number), GRAZE_ERROR_ARGUMENT, "material 'iron'");
  for (size_t i = 0; i < sizeof bad_materials / sizeof bad_materials[0]; i++) {
    m = hooke(1);
    memcpy((char *)&m + bad_materials[i].field, &bad_materials[i].value, sizeof(double));
    refused(graze_world_add_material(world, "iron", &m, &number), GRAZE_ERROR_ARGUMENT, bad_materials[i].words);
    assert_non_null(strstr(heard.last, "material 'iron'"));
  }
  m = hooke(1);
  m.restitution = 0.5;
  m.eta_n = 1;
  refused(graze_world_add_material(world, "a", &m, &number), GRAZE_ERROR_ARGUMENT, "only one of restitution, eta_n");
  m = hooke(1);
  m.eta_t = m.gamma_t = 1;
  refused(graze_world_add_material(world, "a", &m, &number), GRAZE_ERROR_ARGUMENT, "only one of eta_t and gamma_t");
  m = hooke(1);
  m.tangential = (graze_tangential_law)9;
  refused(graze_world_add_material(world, "a", &m, &number), GRAZE_ERROR_ARGUMENT, "unknown law");
  m = hooke(1);
  m.law = GRAZE_HERTZ;
  refused(graze_world_add_material(world, "a", &m, &number), GRAZE_ERROR_ARGUMENT, "hertz needs young and poisson");
  m.young = 1;
  m.poisson = 0.2;
  refused(graze_world_add_material(world, "a", &m, &number), GRAZE_ERROR_ARGUMENT, "k_n is for the law hooke");
  m.k_n = (double)NAN;
  for (int i = 0; i < 2; i++) {
    m.poisson = i == 0 ? -1 : 0.6;
    refused(graze_world_add_material(world, "a", &m, &number), GRAZE_ERROR_ARGUMENT, "poisson must be in");
  }
  assert_int_equal(number, 99);
  graze_world_destroy(world);
}

/* Two that do not go together are told when the world shall move. */
static void test_pairs(void **unused) {
  (void)unused;
  const graze_material soft = hooke(1);
  graze_material others[4] = {soft, soft, soft, soft}, bad = hooke(-1);
  graze_step_limits limits;
  others[0] = graze_default_material();
  others[0].law = GRAZE_HERTZ;
  others[0].young = 1;
  others[0].poisson = 0.3;
  others[1].tangential = GRAZE_TANGENTIAL_FULL;
  others[2].gamma_n = others[3].gamma_t = 1;
  for (int i = 0; i < 4; i++) {
    graze_world *world = new_world();
    graze_material first = soft;
    if (i == 2) first.restitution = 1;
    if (i == 3) first.eta_t = 1;
    add_material(world, &first);
    add_material(world, &others[i]);
    refused(graze_world_set_pair(world, 0, 2, &soft), GRAZE_ERROR_ARGUMENT, "no material 2");
    refused(graze_world_set_pair(world, 0, 1, &bad), GRAZE_ERROR_ARGUMENT, "k_n is -1");
    refused(graze_world_step(world, 1, 1, NULL, NULL), GRAZE_ERROR_ARGUMENT, "say what holds between them");
    assert_int_equal(graze_world_set_pair(world, 1, 0, &soft), GRAZE_OK);
    assert_int_equal(graze_world_get_limits(world, &limits), GRAZE_OK);
    assert_int_equal(graze_world_step(world, 1, 1, NULL, NULL), GRAZE_OK);
    graze_world_destroy(world);
  }
}

static void test_particles(void **unused) {
  (void)unused;
  graze_world *world = new_world();
  const graze_material m = hooke(1);
  double x[2][3] = {{0, 0, 0}, {3, 0, 0}}, bad[2][3] = {{0, 0, 0}, {0, (double)NAN, 0}}, radii[2] = {1, 0};
  graze_particle_def good = graze_default_particle_def(), def;
  uint32_t set = 99;
  add_material(world, &m);
  good.name = "bed";
  good.count = 2;
  good.positions = x[0];
  good.radius = 1;
  good.mass = 1;
#define REFUSED(change, status, words) \
  def = good;                          \
  change;                              \
  refused(graze_world_add_particles(world, &def, &set), status, words)
  REFUSED(def.cookie = 0, GRAZE_ERROR_ARGUMENT, "not initialised");
  REFUSED(def.name = NULL, GRAZE_ERROR_ARGUMENT, "not initialised");
  REFUSED(def.positions = NULL, GRAZE_ERROR_ARGUMENT, "not initialised");
  REFUSED(def.positions = bad[0], GRAZE_ERROR_NOT_FINITE, "particle bed/1: position y is nan");
  REFUSED(def.velocities = bad[0], GRAZE_ERROR_NOT_FINITE, "particle bed/1: velocity y is nan");
  REFUSED(def.spins = bad[0], GRAZE_ERROR_NOT_FINITE, "particle bed/1: spin y is nan");
  REFUSED(def.radius = -1, GRAZE_ERROR_ARGUMENT, "particle bed/0: radius is -1");
  REFUSED(def.radius = (double)NAN, GRAZE_ERROR_NOT_FINITE, "particle bed/0: radius is nan");
  REFUSED(def.radii = radii, GRAZE_ERROR_ARGUMENT, "particle bed/1: radius is 0");
  REFUSED(def.mass = 0, GRAZE_ERROR_ARGUMENT, "mass is 0");
  REFUSED(def.mass = (double)INFINITY, GRAZE_ERROR_NOT_FINITE, "mass is inf");
  REFUSED(def.mass = 1e-320, GRAZE_ERROR_ARGUMENT, "within the range of numbers");
  REFUSED(def.radius = 1e-200, GRAZE_ERROR_ARGUMENT, "within the range of numbers");
  REFUSED(def.mass = (double)NAN, GRAZE_ERROR_ARGUMENT, "particles 'bed': either mass or density");
  REFUSED(def.density = 1, GRAZE_ERROR_ARGUMENT, "either mass or density");
  REFUSED((def.mass = (double)NAN, def.density = -2), GRAZE_ERROR_ARGUMENT, "density is -2");
  REFUSED(def.drag[1] = -1, GRAZE_ERROR_ARGUMENT, "drag is -1");
  REFUSED(def.drag[0] = (double)NAN, GRAZE_ERROR_NOT_FINITE, "drag is nan");
  REFUSED(def.material = 1, GRAZE_ERROR_ARGUMENT, "there is no material 1");
#undef REFUSED
  assert_int_equal(set, 99);
  assert_int_equal(graze_world_get_set_count(world), 0);
  assert_int_equal(graze_world_add_particles(world, &good, &set), GRAZE_OK);
  refused(graze_world_get_radii(world, 1, radii), GRAZE_ERROR_ARGUMENT, "there is no set 1");
  const graze_particle_state state = {.spins = bad[0]};
  refused(graze_world_get_particles(world, 7, &state), GRAZE_ERROR_ARGUMENT, "there is no set 7");
  refused(graze_world_set_particles(world, 7, &state), GRAZE_ERROR_ARGUMENT, "there is no set 7");
  refused(graze_world_set_particles(world, 0, &state), GRAZE_ERROR_NOT_FINITE, "particle bed/1: spin y is nan");
  assert_int_equal(graze_world_step(world, 0.1, 1, NULL, NULL), GRAZE_OK);
  refused(graze_world_add_particles(world, &good, &set), GRAZE_ERROR_ARGUMENT, "begun to move");
  refused(graze_world_add_wall(world, x[0], x[1], 0), GRAZE_ERROR_ARGUMENT, "begun to move");
  graze_world_destroy(world);
}

static void test_bodies_and_walls(void **unused) {
  (void)unused;
  graze_world *world = new_world();
  const graze_material m = hooke(1);
  const double zero[3] = {0}, up[3] = {0, 0, 1}, bad[3] = {0, 0, (double)INFINITY}, tiny[3] = {1e-200, 0, 0};
  graze_body_def good = graze_default_body_def(), def;
  graze_body_id id = {7, 7};
  add_material(world, &m);
  good.name = "top";
  good.radius = 1;
  good.mass = 1;
#define REFUSED(change, status, words) \
  def = good;                          \
  change;                              \
  refused(graze_world_add_body(world, &def, &id), status, words)
  REFUSED(def.cookie = 0, GRAZE_ERROR_ARGUMENT, "not initialised");
  REFUSED(def.type = (graze_body_type)5, GRAZE_ERROR_ARGUMENT, "not initialised");
  REFUSED(def.mass = (double)NAN, GRAZE_ERROR_ARGUMENT, "body 'top': either mass or density");
  REFUSED(def.radius = 0, GRAZE_ERROR_ARGUMENT, "body 'top': radius is 0");
  REFUSED((def.type = GRAZE_BODY_STATIC, def.radius = -1), GRAZE_ERROR_ARGUMENT, "body 'top': radius is -1");
  REFUSED(def.material = 3, GRAZE_ERROR_ARGUMENT, "there is no material 3");
  REFUSED(def.position[0] = (double)NAN, GRAZE_ERROR_NOT_FINITE, "position x is nan");
  REFUSED(def.velocity[1] = (double)NAN, GRAZE_ERROR_NOT_FINITE, "velocity y is nan");
  REFUSED(def.spin[2] = (double)NAN, GRAZE_ERROR_NOT_FINITE, "spin z is nan");
  REFUSED(def.orientation[0] = 0, GRAZE_ERROR_ARGUMENT, "orientation is no rotation");
#undef REFUSED
  assert_int_equal(id.index, 7);
  refused(graze_world_get_body(world, id, &def), GRAZE_ERROR_HANDLE, "no such body");
  refused(graze_world_set_velocity(world, id, up, up), GRAZE_ERROR_HANDLE, "no such body");
  def = good;
  def.type = GRAZE_BODY_KINEMATIC;
  assert_int_equal(graze_world_add_body(world, &def, &id), GRAZE_OK);
  refused(graze_world_set_velocity(world, id, bad, up), GRAZE_ERROR_NOT_FINITE, "velocity z is inf");
  assert_int_equal(graze_world_add_body(world, &good, &id), GRAZE_OK);
  refused(graze_world_set_velocity(world, id, up, up), GRAZE_ERROR_ARGUMENT, "body 'top' is not kinematic");
  refused(graze_world_add_wall(world, bad, up, 0), GRAZE_ERROR_NOT_FINITE, "wall 0: point z is inf");
  refused(graze_world_add_wall(world, zero, bad, 0), GRAZE_ERROR_NOT_FINITE, "wall 0: normal z is inf");
  refused(graze_world_add_wall(world, zero, zero, 0), GRAZE_ERROR_ARGUMENT, "wall 0: normal has no direction");
  refused(graze_world_add_wall(world, zero, tiny, 0), GRAZE_ERROR_ARGUMENT, "wall 0: normal has no direction");
  refused(graze_world_add_wall(world, zero, up, 1), GRAZE_ERROR_ARGUMENT, "there is no material 1");
  graze_world_destroy(world);
}

static void test_steps(void **unused) {
  (void)unused;
  const graze_material m = hooke(1);
  const double x[3] = {0}, fast[3] = {1e308, 0, 0};
  const graze_contact_event *events;
  const double bad[] = {0, -1, (double)NAN, (double)INFINITY};
  graze_world_sums sums;
  uint64_t count;
  graze_world *world = new_world();
  for (int i = 0; i < 4; i++)
    refused(graze_world_step(world, bad[i], 1, NULL, NULL), GRAZE_ERROR_ARGUMENT, "it must be finite and above 0");
  refused(graze_world_get_events(world, &events, &count), GRAZE_ERROR_ARGUMENT, "collects no events");
  add_material(world, &m);
  add_balls(world, 1, x, fast, NULL, 1, 1, 0);
  refused(graze_world_step(world, 1e10, 1, NULL, NULL), GRAZE_ERROR_NOT_FINITE, "balls/0");
  assert_non_null(strstr(heard.last, "step 1"));
  refused(graze_world_step(world, 1e10, 1, NULL, NULL), GRAZE_ERROR_ARGUMENT, "an earlier run failed");
  assert_int_not_equal(graze_world_get_sums(world, &sums), GRAZE_OK);
  assert_int_equal(graze_world_save(world, "never-written"), GRAZE_ERROR_NOT_FINITE);
  assert_int_equal(access("never-written", F_OK), -1);
  graze_world_destroy(world);
}

/* A refused period leaves the world as it is. */
static void test_short_periods(void **unused) {
  (void)unused;
  graze_world_def def = graze_default_world_def();
  graze_world *world = NULL;
  const graze_material m = hooke(1);
  const double x[3] = {1, 1, 1};
  for (int k = 0; k < 3; k++) def.bounds.min[k] = 0, def.bounds.max[k] = 3;
  def.periodic[1] = true;
  assert_int_equal(graze_world_create(context, &def, &world), GRAZE_OK);
  add_material(world, &m);
  add_balls(world, 1, x, NULL, NULL, 1, 1, 0);
  for (int i = 0; i < 2; i++)
    refused(graze_world_step(world, 0.1, 1, NULL, NULL), GRAZE_ERROR_ARGUMENT, "the period along y, 3");
  graze_world_destroy(world);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

enum { FEW = 12 };

static void write_file(const char *path, const char *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

/* Every cut and a flip in every byte is noticed, and the right file mends the world. */
static void check_damaged_files(bed_kind kind, size_t stride) {
  const bed b = {.kind = kind, .threads = 1, .events = true};
  char path[64], *bytes;
  size_t size;
  graze_world *world = make_bed(&b, FEW);
  snprintf(path, sizeof path, "test_dynamics_errors.%ld", (long)getpid());
  run_world(world, bed_dt(&b), 60);
  assert_int_equal(graze_world_save(world, path), GRAZE_OK);
  const uint64_t now = graze_world_get_hash(world);
  run_world(world, bed_dt(&b), 60);
  const uint64_t later = graze_world_get_hash(world);
  bytes = test_read_file(path, &size);
  for (size_t i = 0; i < 2 * size; i += stride) {
    if (i < size) {
      write_file(path, bytes, i);
    } else {
      bytes[i - size] ^= (char)(1 << i % 8);
      write_file(path, bytes, size);
      bytes[i - size] ^= (char)(1 << i % 8);
    }
    assert_int_equal(graze_world_restore(world, path), GRAZE_ERROR_FORMAT);
  }
  write_file(path, bytes, size);
  assert_int_equal(graze_world_restore(world, path), GRAZE_OK);
  assert_int_equal(graze_world_get_hash(world), now);
  run_world(world, bed_dt(&b), 60);
  assert_int_equal(graze_world_get_hash(world), later);
  graze_world *other = make_bed(&b, FEW + 1);
  assert_int_equal(graze_world_restore(other, path), GRAZE_ERROR_FORMAT);
  assert_int_equal(graze_world_restore(world, "no/such/file"), GRAZE_ERROR_FILE);
  assert_int_equal(graze_world_save(world, "no/such/file"), GRAZE_ERROR_FILE);
  assert_int_equal(graze_world_get_hash(world), later); /* neither changed anything */
  graze_world_destroy(other);
  graze_world_destroy(world);
  free(bytes);
  unlink(path);
}

static void test_damaged_files(void **unused) {
  (void)unused;
  check_damaged_files(BED_HERTZ, 1);
  check_damaged_files(BED_SURFACES, 7);
}

/* What is saved after balls were put elsewhere, or have flown off in one step, comes back. */
static void test_states_with_old_contacts(void **unused) {
  (void)unused;
  char path[64];
  snprintf(path, sizeof path, "test_dynamics_errors.%ld", (long)getpid());
  for (int way = 0; way < 2; way++) {
    graze_world_def def = graze_default_world_def();
    graze_world *world = NULL;
    graze_material m = hooke(1000);
    double x[2][3] = {{0, 0, 0}, {0, 1.9, 0}}, v[2][3] = {{0}, {way == 0 ? 0.0 : 2000, 0, 0}};
    const graze_particle_state apart = {.positions = (double[6]){0, 0, 0, 9, 0, 0}};
    def.events = true;
    def.integrator = way == 0 ? GRAZE_LEAPFROG : GRAZE_EULER;
    m.tangential = GRAZE_TANGENTIAL_SPRING;
    assert_int_equal(graze_world_create(context, &def, &world), GRAZE_OK);
    add_material(world, &m);
    add_balls(world, 2, x[0], v[0], NULL, 1, 1, 0);
    run_world(world, 1e-3, 1);
    if (way == 0) assert_int_equal(graze_world_set_particles(world, 0, &apart), GRAZE_OK);
    assert_int_equal(graze_world_save(world, path), GRAZE_OK);
    assert_int_equal(graze_world_restore(world, path), GRAZE_OK);
    run_world(world, 1e-3, 1);
    graze_world_destroy(world);
  }
  unlink(path);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* A world's life in single calls. */
typedef struct life {
  graze_context *context;
  graze_world *world;
  graze_mesh *mesh;
  char path[64];
} life;

static graze_status live(life *l, int call) {
  graze_world_def def = graze_default_world_def();
  graze_particle_def part = graze_default_particle_def();
  graze_body_def body = graze_default_body_def();
  graze_material m = hooke(1000);
  graze_world_sums sums;
  graze_step_limits limits;
  const graze_contact *contacts;
  graze_body_id id;
  uint64_t count;
  uint32_t number;
  static const double floor[3] = {0, 0, -1}, up[3] = {0, 0, 1};
  static double x[27][3], v[27][3];
  for (int i = 0; i < 27; i++) {
    const int cell[3] = {i % 3, i / 3 % 3, i / 9};
    for (int k = 0; k < 3; k++) {
      x[i][k] = 1.95 * cell[k];
      v[i][k] = (i * (k + 3)) % 7 * 30.0 - 90;
    }
  }
  def.events = true;
  m.tangential = GRAZE_TANGENTIAL_SPRING;
  m.friction = 0.5;
  part.name = "balls";
  part.count = 27;
  part.positions = x[0];
  part.velocities = v[0];
  part.radius = part.mass = 1;
  body.name = "body";
  body.type = GRAZE_BODY_KINEMATIC;
  body.radius = 1;
  body.position[0] = -1.95;
  switch (call) {
    case 0:
      return graze_world_create(l->context, &def, &l->world);
    case 1:
      return graze_world_add_material(l->world, "stuff", &m, &number);
    case 2:
      return graze_world_set_pair(l->world, 0, 0, &m);
    case 3:
      return graze_world_add_particles(l->world, &part, &number);
    case 4:
      return graze_world_get_limits(l->world, &limits);
    case 5:
      return graze_world_add_body(l->world, &body, &id);
    case 6:
      body.mesh = l->mesh;
      body.spin[2] = 3;
      return graze_world_add_body(l->world, &body, &id);
    case 7:
      return graze_world_add_wall(l->world, floor, up, 0);
    case 8:
      return graze_world_set_velocity(l->world, (graze_body_id){0, 1}, up, up);
    case 10:
      return graze_world_get_sums(l->world, &sums);
    case 12:
      return graze_world_find_contacts(l->world, &contacts, &count);
    case 13:
      return graze_world_save(l->world, l->path);
    case 14:
      return graze_world_restore(l->world, l->path);
    default:
      return graze_world_step(l->world, 1e-3, 4, NULL, NULL);
  }
}

enum { CALLS = 16 };

static graze_context *counted_context(test_allocator *memory, int threads) {
  graze_context *made = NULL;
  graze_context_def def = graze_default_context_def();
  def.allocator = test_allocator_hooks(memory);
  def.threads = threads;
  assert_int_equal(graze_context_create(&def, &made), GRAZE_OK);
  return made;
}

/* The request number `at` and all later ones of that call are refused, then it is tried again. 0: it never came to
 * that. A call that failed may have broken the world, if it says so from then on; else the end is that of a world that
 * was never refused anything. */
static uint64_t refuse_one(life *l, test_allocator *memory, uint64_t at) {
  uint64_t hash = 0;
  bool was_refused = false, is_broken = false;
  memory->requests = 0;
  memory->fail_at = at;
  for (int call = 0; call < CALLS && !is_broken; call++) {
    graze_status status = live(l, call);
    if (status != GRAZE_OK && !was_refused) {
      was_refused = true;
      memory->fail_at = 0;
      if (status != GRAZE_ERROR_MEMORY) fail_msg("request %d, call %d: %s", (int)at, call, graze_status_string(status));
      status = live(l, call);
    }
    is_broken = status != GRAZE_OK;
    if (is_broken) assert_true(was_refused && (call == 9 || call == 11 || call == 14 || call == 15));
    if (is_broken) assert_int_not_equal(graze_world_step(l->world, 1e-3, 1, NULL, NULL), GRAZE_OK);
  }
  memory->fail_at = 0;
  if (!is_broken) hash = graze_world_get_hash(l->world);
  graze_world_destroy(l->world);
  l->world = NULL;
  return was_refused ? hash : 0;
}

static void test_refused_memory(void **unused) {
  (void)unused;
  const double low[3] = {-1, -1, -1}, high[3] = {1, 1, 1};
  double corners[108];
  soup_box(low, high, corners);
  life l = {.mesh = test_mesh(context, corners, 12, GRAZE_VOLUMES_ALIGNED)};
  snprintf(l.path, sizeof l.path, "test_dynamics_errors.%ld", (long)getpid());
  for (int threads = 1; threads <= 3; threads += 2) {
    test_allocator memory = {0};
    uint64_t hash, right, whole = 0;
    l.context = counted_context(&memory, threads);
    for (int call = 0; call < CALLS; call++) assert_int_equal(live(&l, call), GRAZE_OK);
    right = graze_world_get_hash(l.world);
    graze_world_destroy(l.world);
    const int64_t blocks = memory.live_blocks, bytes = memory.live_bytes;
    memory.requests = 0;
    const uint64_t most = 2000;
    for (uint64_t at = 1; at <= most; at++) {
      hash = refuse_one(&l, &memory, at);
      if (hash != 0 && hash != right) fail_msg("request %d refused: another end", (int)at);
      whole += hash == right;
      assert_int_equal(memory.live_blocks, blocks);
      assert_int_equal(memory.live_bytes, bytes);
      if (memory.requests < at) break;
    }
    assert_true(whole > 10);
    assert_int_equal(memory.misaligned, 0);
    graze_context_destroy(l.context);
    assert_int_equal(memory.live_blocks, 0);
  }
  graze_mesh_destroy(l.mesh);
  unlink(l.path);
}

/* A cloud that falls onto itself, whose list grows. */
static graze_world *make_collapse(graze_context *own, graze_integrator integrator) {
  enum { CLOUD = 1000 };
  static double x[CLOUD][3], v[CLOUD][3];
  graze_world_def def = graze_default_world_def();
  graze_world *world = NULL;
  graze_material m = hooke(1000);
  def.integrator = integrator;
  m.tangential = GRAZE_TANGENTIAL_SPRING;
  m.friction = 0.5;
  for (int i = 0; i < CLOUD; i++) {
    const int cell[3] = {i % 10, i / 10 % 10, i / 100};
    for (int k = 0; k < 3; k++) {
      x[i][k] = 2.3 * (cell[k] - 4.5);
      v[i][k] = -6 * x[i][k];
    }
  }
  assert_int_equal(graze_world_create(own, &def, &world), GRAZE_OK);
  add_material(world, &m);
  add_balls(world, CLOUD, x[0], v[0], NULL, 1, 1, 0);
  return world;
}

/* Sums that could not be had take nothing from the contacts. */
static void test_refused_sums(void **unused) {
  (void)unused;
  test_allocator memory = {0};
  graze_context *own = counted_context(&memory, 1);
  uint64_t hashes[2];
  int failed = 0;
  for (int refusing = 0; refusing < 2; refusing++) {
    graze_world *world = make_collapse(own, GRAZE_EULER); /* whose steps end with a move, so that sums make a list */
    graze_world_sums sums;
    for (int i = 0; i < 30; i++) {
      run_world(world, 5e-3, 1);
      memory.requests = 0;
      memory.fail_at = refusing != 0 ? 1 : 0;
      failed += graze_world_get_sums(world, &sums) != GRAZE_OK;
      memory.fail_at = 0;
      assert_int_equal(graze_world_get_sums(world, &sums), GRAZE_OK);
    }
    hashes[refusing] = graze_world_get_hash(world);
    graze_world_destroy(world);
  }
  graze_context_destroy(own);
  assert_true(failed > 0);
  assert_int_equal(hashes[0], hashes[1]);
}

/* Once the neighbour list has found its size, steps ask for nothing. */
static void test_steady_state(void **unused) {
  (void)unused;
  test_allocator memory = {0};
  life l = {.context = counted_context(&memory, 1)};
  snprintf(l.path, sizeof l.path, "test_dynamics_errors.%ld", (long)getpid());
  for (int call = 0; call < 7; call++) assert_int_equal(live(&l, call), GRAZE_OK);
  run_world(l.world, 1e-4, 20);
  memory.requests = 0;
  run_world(l.world, 1e-4, 10);
  assert_in_range(memory.requests, 0, 60); /* what the limits need a run, and events */
  graze_world_destroy(l.world);
  graze_context_destroy(l.context);
  assert_int_equal(memory.live_blocks, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_worlds),
      cmocka_unit_test(test_materials),
      cmocka_unit_test(test_pairs),
      cmocka_unit_test(test_particles),
      cmocka_unit_test(test_bodies_and_walls),
      cmocka_unit_test(test_steps),
      cmocka_unit_test(test_short_periods),
      cmocka_unit_test(test_damaged_files),
      cmocka_unit_test(test_states_with_old_contacts),
      cmocka_unit_test(test_refused_memory),
      cmocka_unit_test(test_refused_sums),
      cmocka_unit_test(test_steady_state),
  };
  return cmocka_run_group_tests(tests, make_context, end_context);
}
