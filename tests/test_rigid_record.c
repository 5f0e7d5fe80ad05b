/* Records of rigid worlds: they run again with the same hashes, whatever was done; damage, and steps that differ, are
 * told. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "families.h"
#include "rigid_worlds.h"

/* Several forms of this test run at a time. */
static char record_path[64], state_path[64];

/* ---- worlds ------------------------------------------------------------------------------------------------------ */

/* A gable roof, closed. */
static graze_mesh *make_roof(void) {
  static const double p[6][3] = {{-2, -2, 0}, {2, -2, 0}, {0, -2, 0.5}, {-2, 2, 0}, {2, 2, 0}, {0, 2, 0.5}};
  static const int faces[8][3] = {{0, 1, 2}, {3, 5, 4}, {0, 2, 5}, {0, 5, 3},
                                  {1, 4, 5}, {1, 5, 2}, {0, 3, 4}, {0, 4, 1}};
  double corners[8][9];
  for (int i = 0; i < 24; i++) memcpy(&corners[i / 3][3 * (i % 3)], p[faces[i / 3][i % 3]], sizeof p[0]);
  return test_mesh(shared_context(1), corners[0], 8, GRAZE_VOLUMES_ORIENTED);
}

static void add_materials(graze_rigid *world) {
  graze_rigid_material m = graze_default_rigid_material();
  uint32_t number;
  m.friction = 0.3;
  m.restitution = 0.4;
  must(graze_rigid_add_material(world, &m, &number));
  m.friction = 0.7;
  m.rolling = 0.01;
  must(graze_rigid_add_material(world, &m, &number));
  m.surface_speed[0] = 0.25; /* a belt */
  must(graze_rigid_add_material(world, &m, &number));
  m = graze_default_rigid_material();
  m.friction = 1;
  must(graze_rigid_set_pair(world, 1, 2, &m));
}

static uint32_t add_at(graze_rigid *world, graze_rigid_body_def *def, const char *name, double x, double z) {
  uint32_t number;
  def->name = name;
  def->position[0] = x;
  def->position[2] = z;
  must(graze_rigid_add_body(world, def, &number));
  return number;
}

static void add_shapes(graze_rigid *world, const graze_mesh *roof, uint64_t *state) {
  graze_rigid_body_def def = graze_default_rigid_body_def();
  double cloud[40][3], middle[3];
  for (int i = 0; i < 120; i++) cloud[i / 3][i % 3] = 5 + 0.3 * random_signed(state);
  def.radius = 0.25;
  def.length = 0.4;
  def.density = 700;
  def.points = cloud[0];
  def.point_count = 40;
  for (int k = 0; k < 3; k++) def.edges[k] = 0.3 + 0.1 * k;
  for (int k = 0; k < 3; k++) def.spin[k] = random_signed(state);
  def.orientation[1] = 0.4;
  for (int i = 0; i < 15; i++) {
    def.shape = (graze_rigid_shape)(i % GRAZE_RIGID_MESH);
    def.material = (uint32_t)i % 2;
    def.user_id = 100 + (uint64_t)i;
    def.linear_damping = i % 3 * 0.1;
    add_at(world, &def, "thing", i % 5 * 0.4 - 1, 1 + i / 5 * 0.7);
  }
  def = graze_default_rigid_body_def();
  def.type = GRAZE_BODY_KINEMATIC;
  def.shape = GRAZE_RIGID_MESH;
  def.mesh = roof;
  def.material = 2;
  must(graze_rigid_find_mesh_center(shared_context(1), roof, middle));
  add_at(world, &def, "roof", 0, middle[2]);
}

static void add_pendulum(graze_rigid *world) {
  graze_rigid_body_def def = graze_default_rigid_body_def();
  graze_joint_def joint = graze_default_joint_def();
  uint32_t number;
  def.radius = 0.2;
  def.mass = 3;
  joint.a = add_at(world, &def, "bob", 4, 4);
  joint.name = "string";
  joint.type = GRAZE_JOINT_HINGE;
  joint.point[0] = 3;
  joint.point[1] = joint.point[2] = 4.1;
  joint.axis[0] = 0.3;
  joint.limits[0] = -1;
  joint.limits[1] = 0.5;
  must(graze_rigid_add_joint(world, &joint, &number));
  joint.name = NULL;
  joint.type = GRAZE_JOINT_DISTANCE;
  joint.b = joint.a;
  joint.a = add_at(world, &def, "tail", 4.7, 4);
  for (int k = 0; k < 3; k++) joint.other[k] = k == 1 ? 0.1 : 4;
  for (int k = 0; k < 3; k++) joint.point[k] = k == 0 ? 4.6 : k == 1 ? 0 : 4;
  joint.limits[0] = joint.limits[1] = (double)NAN;
  joint.breaks_at = 60;
  must(graze_rigid_add_joint(world, &joint, &number));
}

static graze_rigid *make_world(int threads, graze_rigid_solver solver, bool sleep, const graze_mesh *roof) {
  const double point[3] = {0, 0, -0.1}, up[3] = {0.1, 0.7, 3}; /* as a unit vector, and again, it is another one */
  graze_rigid_def def = graze_default_rigid_def();
  graze_rigid *world;
  uint64_t state = 3;
  def.solver = solver;
  def.sleep = sleep;
  def.events = true;
  def.substeps = 5;
  must(graze_rigid_create(shared_context(threads), &def, &world));
  add_materials(world);
  must(graze_rigid_add_wall(world, point, up, 1));
  add_shapes(world, roof, &state);
  add_pendulum(world);
  return world;
}

/* Steps, calls between them, other lengths of steps; `states`: the file of a state that is gone back to. */
static uint32_t move(graze_rigid *world, uint64_t *hashes, const char *state) {
  uint32_t count = 0;
  for (int part = 0; part < 8; part++) {
    const double velocity[3] = {0.1 * part, 0, 0.05}, spin[3] = {0, 0, 0.3 * part};
    if (part % 3 == 1) must(graze_rigid_set_velocity(world, 15, velocity, spin));
    if (part == 4) must(graze_rigid_set_velocity(world, 2, spin, velocity));
    if (part == 5) must(graze_rigid_wake(world, 3));
    if (part == 2 && state != NULL) must(graze_rigid_save(world, state));
    if (part == 6 && state != NULL) must(graze_rigid_restore(world, state));
    for (int i = 0; i < 12; i++, count++) {
      must(graze_rigid_step(world, part == 3 ? step / 2 : step, 1, NULL, NULL));
      hashes[count] = graze_rigid_get_hash(world);
    }
  }
  return count;
}

enum { STEPS = 96 };

static void expect_replay(int threads, uint64_t from, const uint64_t *hashes) {
  graze_rigid_replay *replay = NULL;
  graze_world_replay_step s = {0};
  must(graze_rigid_replay_open(shared_context(threads), record_path, &replay));
  graze_rigid *world = graze_rigid_replay_get_world(replay);
  graze_rigid_body_def body;
  assert_int_equal(graze_rigid_get_step(world), from);
  must(graze_rigid_get_body(world, 15, &body));
  assert_string_equal(body.name, "roof");
  must(graze_rigid_get_body(world, 4, &body));
  assert_int_equal(body.user_id, 104);
  for (uint32_t i = 0; i < STEPS; i++) {
    must(graze_rigid_replay_next(replay, &s));
    assert_true(s.same);
    assert_int_equal(s.hash, hashes[i]);
    assert_int_equal(graze_rigid_get_hash(world), hashes[i]);
    assert_int_equal(s.number, graze_rigid_get_step(world));
    assert_true(s.dt == (i / 12 == 3 ? step / 2 : step));
  }
  for (int again = 0; again < 2; again++) {
    must(graze_rigid_replay_next(replay, &s));
    assert_int_equal(s.number, 0);
  }
  graze_rigid_replay_close(replay);
}

static void test_replay(void **unused) {
  (void)unused;
  graze_mesh *roof = make_roof();
  for (int round = 0; round < 6; round += test_thinned() ? 5 : 1) {
    const graze_rigid_solver solver = (graze_rigid_solver)(round % 3);
    const uint64_t from = round < 3 ? 0 : 90;
    uint64_t hashes[STEPS], unrecorded[STEPS];
    graze_rigid *world = make_world(1, solver, round > 1, roof), *plain = make_world(1, solver, round > 1, roof);
    if (from > 0) must(graze_rigid_step(world, step, from, NULL, NULL));
    if (from > 0) must(graze_rigid_step(plain, step, from, NULL, NULL));
    must(graze_rigid_record(world, record_path));
    graze_world_sums sums;
    if (round % 2 == 0) must(graze_rigid_get_sums(world, &sums)); /* which may look for contacts */
    assert_int_equal(move(world, hashes, state_path), STEPS);
    must(graze_rigid_record_end(world));
    move(plain, unrecorded, state_path);
    assert_memory_equal(hashes, unrecorded, sizeof hashes); /* recording changes nothing */
    expect_replay(1 + round % 2, from, hashes);
    graze_rigid_destroy(world);
    graze_rigid_destroy(plain);
  }
  unlink(state_path);
  unlink(record_path);
  graze_mesh_destroy(roof);
}

/* Many steps of one length are in several sections; so are many calls. */
static void test_long_records(void **unused) {
  (void)unused;
  graze_rigid_def def = graze_default_rigid_def();
  graze_rigid_material m = graze_default_rigid_material();
  graze_rigid_body_def body = graze_default_rigid_body_def();
  graze_rigid_replay *replay = NULL;
  graze_world_replay_step s = {.number = 1};
  graze_rigid *world;
  uint32_t number;
  uint64_t count = 0;
  must(graze_rigid_create(shared_context(1), &def, &world));
  must(graze_rigid_add_material(world, &m, &number));
  body.radius = body.mass = 1;
  must(graze_rigid_add_body(world, &body, &number));
  must(graze_rigid_record(world, record_path));
  must(graze_rigid_step(world, step, 3000, NULL, NULL));
  for (int i = 0; i < 3000; i++) {
    must(graze_rigid_set_velocity(world, 0, (const double[3]){i, 0, 0}, (const double[3]){0, 0, 0}));
    must(graze_rigid_step(world, step, 1, NULL, NULL));
  }
  const uint64_t hash = graze_rigid_get_hash(world);
  graze_rigid_destroy(world); /* ends the record */
  must(graze_rigid_replay_open(shared_context(1), record_path, &replay));
  for (; s.number != 0; count++) {
    must(graze_rigid_replay_next(replay, &s));
    assert_true(s.same || s.number == 0);
  }
  assert_int_equal(count, 6001);
  assert_true(graze_rigid_get_hash(graze_rigid_replay_get_world(replay)) == hash);
  graze_rigid_replay_close(replay);
  unlink(record_path);
}

/* ---- damage ------------------------------------------------------------------------------------------------------ */

static size_t read_record(uint8_t **bytes) {
  FILE *file = fopen(record_path, "rb");
  assert_non_null(file);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  const size_t size = (size_t)ftell(file);
  rewind(file);
  *bytes = malloc(size + 1);
  assert_non_null(*bytes);
  assert_int_equal(fread(*bytes, 1, size, file), size);
  fclose(file);
  return size;
}

static void write_record(const uint8_t *bytes, size_t size) {
  FILE *file = fopen(record_path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

/* How a replay of the file ends, and at which step it differs first; UINT64_MAX: never. */
static graze_status replay_all(uint64_t *differs) {
  graze_rigid_replay *replay = NULL;
  graze_world_replay_step s = {.number = 1};
  *differs = UINT64_MAX;
  graze_status status = graze_rigid_replay_open(shared_context(1), record_path, &replay);
  while (status == GRAZE_OK && s.number != 0) {
    status = graze_rigid_replay_next(replay, &s);
    if (status == GRAZE_OK && s.number != 0 && !s.same && *differs == UINT64_MAX) *differs = s.number;
  }
  graze_rigid_replay_close(replay);
  return status;
}

static size_t record_something(uint8_t **bytes) {
  graze_mesh *roof = make_roof();
  graze_rigid *world = make_world(1, GRAZE_RIGID_AUTO, false, roof);
  must(graze_rigid_record(world, record_path));
  must(graze_rigid_step(world, step, 20, NULL, NULL));
  must(graze_rigid_record_end(world));
  graze_rigid_destroy(world);
  graze_mesh_destroy(roof);
  return read_record(bytes);
}

/* The hashes of the sections are made those of their bytes. */
static void mend(uint8_t *bytes, size_t size) {
  uint64_t chain = 0, length;
  for (size_t at = 8; at < size; at += 24 + length) {
    uint32_t type;
    memcpy(&type, bytes + at, sizeof type);
    memcpy(&length, bytes + at + 8, sizeof length);
    chain = gz_hash_bytes(bytes + at + 16, length, chain + type);
    memcpy(bytes + at + 16 + length, &chain, sizeof chain);
  }
}

static void test_damage(void **unused) {
  (void)unused;
  uint64_t differs, state = test_seed(1);
  uint8_t *bytes;
  const size_t size = record_something(&bytes);
  for (int i = 0; i < 120; i += test_thinned() ? 3 : 1) {
    const size_t cut = i < 40 ? size - 1 - (size_t)i : (size_t)random_below(&state, (uint32_t)size);
    write_record(bytes, cut);
    assert_int_equal(replay_all(&differs), GRAZE_ERROR_FORMAT);
    const uint8_t was = bytes[cut];
    bytes[cut] ^= (uint8_t)(1U << random_below(&state, 8));
    write_record(bytes, size);
    const graze_status status = replay_all(&differs);
    assert_true(status == GRAZE_ERROR_FORMAT || (cut < 12 && status == GRAZE_ERROR_UNSUPPORTED));
    bytes[cut] = was;
  }
  bytes[size] = 0;
  write_record(bytes, size + 1);
  assert_int_equal(replay_all(&differs), GRAZE_ERROR_FORMAT);
  write_record(bytes, size);
  assert_int_equal(replay_all(&differs), GRAZE_OK);
  assert_int_equal(differs, UINT64_MAX);
  bytes[size - 24 - 8 - 8] ^= 1; /* the hash of the last step, before the hash of its section and the end */
  mend(bytes, size);
  write_record(bytes, size);
  assert_int_equal(replay_all(&differs), GRAZE_OK);
  assert_int_equal(differs, 20);
  free(bytes);
  unlink(record_path);
}

/* Any number of the definition may be any other: what cannot be is refused, and nothing is read that is not there. */
static void test_forged(void **unused) {
  (void)unused;
  uint64_t differs, state = test_seed(2), length;
  uint8_t *bytes;
  const size_t size = record_something(&bytes);
  memcpy(&length, bytes + 8 + 8, sizeof length);
  uint8_t *copy = malloc(size);
  assert_non_null(copy);
  int refused = 0;
  const int rounds = test_rounds(300, 20000);
  for (int i = rounds; i > 0; i--) {
    memcpy(copy, bytes, size);
    const size_t at = 24 + (size_t)random_below(&state, (uint32_t)length / 4) * 4;
    const uint32_t words[] = {0, 1, 7, UINT32_MAX, 0x7ff00000, (uint32_t)random_next(&state)};
    memcpy(copy + at, &words[random_below(&state, 6)], 4);
    mend(copy, size);
    write_record(copy, size);
    refused += replay_all(&differs) != GRAZE_OK;
  }
  assert_true(refused > rounds / 10);
  free(copy);
  free(bytes);
  unlink(record_path);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void test_refusals(void **unused) {
  (void)unused;
  const double point[3] = {0, 0, 0}, up[3] = {0, 0, 1};
  graze_mesh *roof = make_roof();
  graze_rigid *world = make_world(1, GRAZE_RIGID_SOFT, false, roof);
  graze_rigid_body_def body = graze_default_rigid_body_def();
  graze_rigid_material m = graze_default_rigid_material();
  graze_joint_def joint = graze_default_joint_def();
  graze_rigid_replay *replay = NULL;
  uint32_t number;
  assert_int_equal(graze_rigid_record_end(world), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_rigid_record(world, "nowhere/run"), GRAZE_ERROR_FILE);
  assert_int_equal(graze_rigid_record(world, "/dev/full"), GRAZE_ERROR_FILE);
  must(graze_rigid_record(world, record_path));
  assert_int_equal(graze_rigid_record(world, record_path), GRAZE_ERROR_ARGUMENT);
  body.radius = body.mass = 1;
  assert_int_equal(graze_rigid_add_body(world, &body, &number), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_rigid_add_wall(world, point, up, 0), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_rigid_add_material(world, &m, &number), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_rigid_set_pair(world, 0, 1, &m), GRAZE_ERROR_ARGUMENT);
  joint.a = 0;
  memcpy(joint.point, point, sizeof point);
  assert_int_equal(graze_rigid_add_joint(world, &joint, &number), GRAZE_ERROR_ARGUMENT);
  assert_non_null(strstr(shared_error()->message, "being recorded"));
  must(graze_rigid_record_end(world));
  must(graze_rigid_add_body(world, &body, &number));
  must(graze_rigid_save(world, record_path));
  assert_int_equal(graze_rigid_replay_open(shared_context(1), record_path, &replay), GRAZE_ERROR_UNSUPPORTED);
  assert_int_equal(graze_rigid_replay_open(shared_context(1), "nowhere", &replay), GRAZE_ERROR_FILE);
  assert_int_equal(graze_rigid_replay_open(NULL, record_path, &replay), GRAZE_ERROR_ARGUMENT);
  graze_rigid_destroy(world);
  graze_mesh_destroy(roof);
  unlink(record_path);
}

static graze_status use_memory(graze_context *context) {
  const graze_rigid_def def = graze_default_rigid_def();
  const graze_rigid_material m = graze_default_rigid_material();
  graze_rigid_body_def body = graze_default_rigid_body_def();
  const double corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  graze_rigid_replay *replay = NULL;
  graze_world_replay_step s;
  graze_rigid *world;
  uint32_t number;
  graze_status status = graze_rigid_create(context, &def, &world);
  if (status != GRAZE_OK) return status;
  body.shape = GRAZE_RIGID_HULL;
  body.points = corners[0];
  body.point_count = 4;
  body.mass = 1;
  status = graze_rigid_add_material(world, &m, &number);
  if (status == GRAZE_OK) status = graze_rigid_add_body(world, &body, &number);
  if (status == GRAZE_OK) status = graze_rigid_record(world, record_path);
  if (status == GRAZE_OK) status = graze_rigid_step(world, step, 2, NULL, NULL);
  if (status == GRAZE_OK) status = graze_rigid_record_end(world);
  graze_rigid_destroy(world);
  if (status == GRAZE_OK) status = graze_rigid_replay_open(context, record_path, &replay);
  for (int i = 0; status == GRAZE_OK && i < 3; i++) status = graze_rigid_replay_next(replay, &s);
  graze_rigid_replay_close(replay);
  return status;
}

static void test_refused_memory(void **unused) {
  (void)unused;
  test_refuse_each(use_memory, 2000);
  unlink(record_path);
}

int main(void) {
  snprintf(record_path, sizeof record_path, "rigid_record_%d.grz", (int)getpid());
  snprintf(state_path, sizeof state_path, "rigid_record_%d.state", (int)getpid());
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_replay),   cmocka_unit_test(test_long_records),
                                     cmocka_unit_test(test_damage),   cmocka_unit_test(test_forged),
                                     cmocka_unit_test(test_refusals), cmocka_unit_test(test_refused_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
