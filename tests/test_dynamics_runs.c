/* Runs of worlds of balls: who has left the bounds; records, and what is said of damaged ones; blasts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "families.h"
#include "worlds.h"

/* ---- who has left ------------------------------------------------------------------------------------------------ */

enum { LEAVING = 6, LEAVING_STEPS = 4000 };

/* Thrown along x against gravity towards a side at 1: particle i comes as far as 1/2 + 0.0288 (i + 1)^2, so that 4 and
 * 5 leave, and come back. A body that drifts out on y, and a kinematic one, which does not count. */
static graze_world *make_leaving(graze_integrator integrator, bool periodic) {
  graze_world_def def = graze_default_world_def();
  graze_body_def body = graze_default_body_def();
  graze_world *world = NULL;
  graze_body_id id;
  double x[LEAVING][3], v[LEAVING][3];
  def.gravity[0] = -1;
  def.gravity[2] = 0;
  def.integrator = integrator;
  def.periodic[0] = periodic;
  for (int k = 0; k < 3; k++) def.bounds.min[k] = 0, def.bounds.max[k] = 1;
  def.bounds.min[0] = -10;
  for (int i = 0; i < LEAVING; i++) {
    const double start[3] = {0.5, 0.1 * i + 0.2, 0.1}, speed[3] = {0.24 * (i + 1), 0, 0};
    memcpy(x[i], start, sizeof start);
    memcpy(v[i], speed, sizeof speed);
  }
  assert_int_equal(graze_world_create(shared_context(2), &def, &world), GRAZE_OK);
  const graze_material m = hooke(1);
  add_material(world, &m);
  body.radius = body.mass = 0.01;
  body.position[0] = body.position[1] = body.position[2] = 0.9;
  body.velocity[1] = 0.05;
  assert_int_equal(graze_world_add_body(world, &body, &id), GRAZE_OK);
  body.type = GRAZE_BODY_KINEMATIC;
  body.position[2] = 2;
  assert_int_equal(graze_world_add_body(world, &body, &id), GRAZE_OK);
  add_balls(world, LEAVING, x[0], v[0], NULL, 0.01, 1, 0);
  return world;
}

/* Of the bodies `bodies`, then the particles from `first` on. */
static void check_left(graze_world *world, uint32_t bodies, uint32_t first) {
  const graze_member *left = NULL;
  graze_world_sums sums;
  uint64_t count = 99;
  assert_int_equal(graze_world_get_sums(world, &sums), GRAZE_OK);
  assert_int_equal(graze_world_find_left(world, &left, &count), GRAZE_OK);
  assert_int_equal(count, bodies + LEAVING - first);
  assert_int_equal(sums.left, count);
  for (uint32_t i = 0; i < count; i++) {
    assert_int_equal(left[i].kind, i < bodies ? GRAZE_MEMBER_BODY : GRAZE_MEMBER_PARTICLE);
    assert_int_equal(left[i].index, i < bodies ? 0 : first + i - bodies);
  }
}

static void test_left_and_come_back(void **unused) {
  (void)unused;
  char path[64];
  snprintf(path, sizeof path, "test_dynamics_runs.%ld", (long)getpid());
  for (int how = 0; how < 8; how++) {
    graze_world *world = make_leaving(how % 2 ? GRAZE_EULER : GRAZE_LEAPFROG, false);
    check_left(world, 0, LEAVING);
    /* All at once; step by step; in two, when 4 and 5 are back; in two, from a file. */
    if (how < 2) run_world(world, 1e-3, LEAVING_STEPS);
    for (int i = 0; how / 2 == 1 && i < LEAVING_STEPS; i++) run_world(world, 1e-3, 1);
    if (how / 2 >= 2) run_world(world, 1e-3, 2600);
    if (how / 2 == 3) {
      assert_int_equal(graze_world_save(world, path), GRAZE_OK);
      graze_world_destroy(world);
      world = make_leaving(how % 2 ? GRAZE_EULER : GRAZE_LEAPFROG, false);
      run_world(world, 1e-3, 10);
      assert_int_equal(graze_world_restore(world, path), GRAZE_OK);
    }
    if (how / 2 >= 2) check_left(world, 1, 4);
    if (how / 2 >= 2) run_world(world, 1e-3, LEAVING_STEPS - 2600);
    check_left(world, 1, 4);
    graze_world_destroy(world);
  }
  unlink(path);
}

/* Out on a periodic axis is in on the other side. */
static void test_left_with_periods(void **unused) {
  (void)unused;
  graze_world *world = make_leaving(GRAZE_LEAPFROG, true);
  run_world(world, 1e-3, LEAVING_STEPS);
  check_left(world, 1, LEAVING);
  graze_world_destroy(world);
}

/* Put outside: it counts while it is there, and stays marked only when a step has seen it. */
static void test_left_by_hand(void **unused) {
  (void)unused;
  graze_world *world = make_leaving(GRAZE_LEAPFROG, false);
  double x[LEAVING][3];
  const graze_particle_state state = {.positions = x[0]};
  assert_int_equal(graze_world_get_particles(world, 0, &state), GRAZE_OK);
  x[5][2] = -1;
  assert_int_equal(graze_world_set_particles(world, 0, &state), GRAZE_OK);
  check_left(world, 0, 5);
  x[5][2] = 0.1;
  assert_int_equal(graze_world_set_particles(world, 0, &state), GRAZE_OK);
  check_left(world, 0, LEAVING);
  x[5][2] = -1;
  assert_int_equal(graze_world_set_particles(world, 0, &state), GRAZE_OK);
  run_world(world, 1e-3, 1);
  x[5][2] = 0.1;
  assert_int_equal(graze_world_set_particles(world, 0, &state), GRAZE_OK);
  check_left(world, 0, 5);
  assert_int_equal(graze_world_find_left(world, NULL, NULL), GRAZE_ERROR_ARGUMENT);
  graze_world_destroy(world);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

enum { BED = 60, MOVES = 6 };

static char record_path[64], state_path[64];

static int name_files(void **unused) {
  (void)unused;
  snprintf(record_path, sizeof record_path, "test_record.%ld", (long)getpid());
  snprintf(state_path, sizeof state_path, "test_state.%ld", (long)getpid());
  return 0;
}

static int remove_files(void **unused) {
  (void)unused;
  unlink(record_path);
  unlink(state_path);
  return 0;
}

/* The last one. */
static graze_body_id kinematic_body(const graze_world *world) {
  graze_body_id bodies[5] = {{0}}, found = {0};
  graze_body_def def;
  uint32_t count = graze_world_get_body_count(world);
  assert_in_range(count, 0, 5);
  assert_int_equal(graze_world_list_bodies(world, bodies), GRAZE_OK);
  for (uint32_t i = 0; i < count; i++) {
    assert_int_equal(graze_world_get_body(world, bodies[i], &def), GRAZE_OK);
    if (def.type == GRAZE_BODY_KINEMATIC) found = bodies[i];
  }
  return found;
}

/* One of the things that a caller may do between steps. */
static void disturb(graze_world *world, int what) {
  const double velocity[3] = {0.5, -0.25, 0.125}, spin[3] = {1, 2, 3};
  double numbers[2][3 * BED];
  graze_particle_state state = {.velocities = numbers[0], .spins = numbers[1]};
  switch (what) {
    case 0:
      if (kinematic_body(world).generation != 0)
        assert_int_equal(graze_world_set_velocity(world, kinematic_body(world), velocity, spin), GRAZE_OK);
      break;
    case 1:
      state.spins = NULL;
      state.positions = numbers[1];
      assert_int_equal(graze_world_get_particles(world, 0, &state), GRAZE_OK);
      for (int k = 0; k < 3; k++) numbers[0][k] *= -1;
      numbers[1][2] += 0.01;
      assert_int_equal(graze_world_set_particles(world, 0, &state), GRAZE_OK);
      break;
    case 2:
      assert_int_equal(graze_world_save(world, state_path), GRAZE_OK);
      break;
    case 3:
      assert_int_equal(graze_world_restore(world, state_path), GRAZE_OK);
      break;
    default:
      break;
  }
}

/* Steps with disturbances; `hashes` gets those of the states after them, and as many steps come back. */
static uint32_t move(graze_world *world, double dt, uint64_t *hashes) {
  uint32_t steps = 0;
  for (int i = 0; i < MOVES; i++) {
    for (int k = 0; k < 5; k++) {
      run_world(world, i == 4 ? dt / 2 : dt, i == 5 ? 3 : 1);
      if (i == 5) steps += 2; /* whose hashes nobody has seen */
      hashes[steps++] = graze_world_get_hash(world);
    }
    disturb(world, i);
  }
  return steps;
}

/* A world that was recorded from a step on, and what its hashes were; 0 where they are not known. */
static uint32_t record_bed(const bed *b, uint64_t from, uint64_t *hashes) {
  graze_world *world = make_bed(b, BED), *plain = make_bed(b, BED);
  uint64_t unrecorded[64] = {0};
  run_world(world, bed_dt(b), from);
  run_world(plain, bed_dt(b), from);
  assert_int_equal(graze_world_record(world, record_path), GRAZE_OK);
  const uint32_t steps = move(world, bed_dt(b), hashes);
  move(plain, bed_dt(b), unrecorded);
  assert_int_equal(graze_world_record_end(world), GRAZE_OK);
  assert_memory_equal(hashes, unrecorded, sizeof unrecorded); /* recording changes nothing */
  graze_world_destroy(world);
  graze_world_destroy(plain);
  return steps;
}

static void test_replay(void **unused) {
  (void)unused;
  for (int round = 0; round < 4 * BED_KINDS; round++) {
    const bed b = {.kind = (bed_kind)(round % BED_KINDS), .threads = 1 + round % 2, .events = round % 4 < 2};
    const uint64_t from = round < 2 * BED_KINDS ? 0 : 80;
    uint64_t hashes[64] = {0};
    const uint32_t steps = record_bed(&b, from, hashes);
    graze_world_replay *replay = NULL;
    graze_world_replay_step step = {0};
    assert_int_equal(graze_world_replay_open(shared_context(1), record_path, &replay), GRAZE_OK);
    graze_world *world = graze_world_replay_get_world(replay);
    assert_int_equal(graze_world_get_step(world), from);
    assert_string_equal(graze_world_get_set_name(world, 0), "part");
    graze_world_def def;
    assert_int_equal(graze_world_get_def(world, &def), GRAZE_OK);
    assert_true(def.events == b.events && def.integrator == (b.kind == BED_SPRINGS ? GRAZE_EULER : GRAZE_LEAPFROG));
    for (uint32_t i = 0; i < steps; i++) {
      assert_int_equal(graze_world_replay_next(replay, &step), GRAZE_OK);
      assert_true(step.same);
      assert_int_equal(step.number, graze_world_get_step(world));
      assert_int_equal(step.hash, graze_world_get_hash(world));
      assert_true(step.dt == (i / 5 == 4 ? bed_dt(&b) / 2 : bed_dt(&b)));
      if (hashes[i] != 0) assert_int_equal(step.hash, hashes[i]);
    }
    for (int again = 0; again < 2; again++) {
      assert_int_equal(graze_world_replay_next(replay, &step), GRAZE_OK);
      assert_int_equal(step.number, 0);
    }
    graze_world_replay_close(replay);
  }
}

static size_t read_record(uint8_t **bytes) {
  FILE *file = fopen(record_path, "rb");
  assert_non_null(file);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  size_t size = (size_t)ftell(file);
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
  graze_world_replay *replay = NULL;
  graze_world_replay_step step = {.number = 1};
  *differs = UINT64_MAX;
  graze_status status = graze_world_replay_open(shared_context(1), record_path, &replay);
  while (status == GRAZE_OK && step.number != 0) {
    status = graze_world_replay_next(replay, &step);
    if (status == GRAZE_OK && step.number != 0 && !step.same && *differs == UINT64_MAX) *differs = step.number;
  }
  graze_world_replay_close(replay);
  return status;
}

/* Every section is cut and damaged: each time it is told. */
static void test_damaged_records(void **unused) {
  (void)unused;
  const bed b = {.kind = BED_SPRINGS, .threads = 1, .events = true};
  uint64_t hashes[64] = {0}, differs, state = test_seed(7);
  uint8_t *bytes;
  record_bed(&b, 0, hashes);
  const size_t size = read_record(&bytes);
  for (int i = 0; i < 200; i++) {
    size_t cut = i < 60 ? size - 1 - (size_t)i : (size_t)random_below(&state, size);
    write_record(bytes, cut);
    assert_int_equal(replay_all(&differs), GRAZE_ERROR_FORMAT);
    uint8_t was = bytes[cut];
    bytes[cut] ^= (uint8_t)(1U << random_below(&state, 8));
    write_record(bytes, size);
    assert_int_equal(replay_all(&differs), GRAZE_ERROR_FORMAT);
    bytes[cut] = was;
  }
  bytes[size] = 0;
  write_record(bytes, size + 1);
  assert_int_equal(replay_all(&differs), GRAZE_ERROR_FORMAT);
  write_record(bytes, size);
  assert_int_equal(replay_all(&differs), GRAZE_OK);
  assert_int_equal(differs, UINT64_MAX);
  free(bytes);
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

/* Another hash of one step, as if this library moved balls differently: that step is named. */
static void test_differing_records(void **unused) {
  (void)unused;
  enum { FROM = 7, COUNT = 2500 };
  const bed b = {.kind = BED_DASHPOTS, .threads = 1};
  uint64_t differs;
  uint8_t *bytes;
  graze_world *world = make_bed(&b, 8);
  run_world(world, bed_dt(&b), FROM);
  assert_int_equal(graze_world_record(world, record_path), GRAZE_OK);
  run_world(world, bed_dt(&b), COUNT);
  assert_int_equal(graze_world_record_end(world), GRAZE_OK);
  graze_world_destroy(world);
  const size_t size = read_record(&bytes);
  for (uint64_t i = 1; i < COUNT; i += 311) {
    /* From behind: the end has 24 bytes; a section of steps 16 and a hash around it, and 20 before its hashes. */
    uint64_t last = COUNT % 1024, before = i <= last ? 0 : 1 + (i - last - 1) / 1024;
    uint8_t *hash = bytes + size - 24 - 8 - before * (16 + 20 + 8) - 8 * i;
    *hash ^= 1;
    mend(bytes, size);
    write_record(bytes, size);
    assert_int_equal(replay_all(&differs), GRAZE_OK);
    assert_int_equal(differs, FROM + COUNT - i + 1);
    *hash ^= 1;
  }
  free(bytes);
}

static void test_what_records_refuse(void **unused) {
  (void)unused;
  const bed b = {.kind = BED_HERTZ, .threads = 1};
  const double up[3] = {0, 0, 1};
  graze_world *world = make_bed(&b, BED);
  graze_world_replay *replay = NULL;
  const graze_material m = hooke(1);
  uint32_t number;
  uint64_t differs;
  assert_int_equal(graze_world_record_end(world), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_world_record(world, "nowhere/x"), GRAZE_ERROR_FILE);
  assert_int_equal(graze_world_record(world, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_world_record(world, record_path), GRAZE_OK);
  assert_int_equal(graze_world_record(world, record_path), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_world_add_wall(world, up, up, 0), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_world_add_material(world, "late", &m, &number), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_world_set_pair(world, 0, 0, &m), GRAZE_ERROR_ARGUMENT);
  run_world(world, bed_dt(&b), 3);
  graze_world_destroy(world); /* ends the record */
  assert_int_equal(replay_all(&differs), GRAZE_OK);
  assert_int_equal(differs, UINT64_MAX);
  assert_int_equal(graze_world_replay_open(shared_context(1), "nowhere/x", &replay), GRAZE_ERROR_FILE);
  assert_int_equal(graze_world_replay_open(shared_context(1), NULL, &replay), GRAZE_ERROR_ARGUMENT);
  graze_world_replay_close(NULL);
  assert_null(graze_world_replay_get_world(NULL));
}

/* A full disk does not disturb the world, and is told in the end. */
static void test_full_disk(void **unused) {
  (void)unused;
  const bed b = {.kind = BED_DASHPOTS, .threads = 1};
  graze_world *world = make_bed(&b, BED), *plain = make_bed(&b, BED);
  assert_int_equal(graze_world_record(world, "/dev/full"), GRAZE_ERROR_FILE);
  run_world(world, bed_dt(&b), 5);
  run_world(plain, bed_dt(&b), 5);
  assert_int_equal(graze_world_get_hash(world), graze_world_get_hash(plain));
  assert_int_equal(graze_world_record_end(world), GRAZE_ERROR_ARGUMENT); /* it has never begun */
  graze_world_destroy(world);
  graze_world_destroy(plain);
}

static bool cancel_at(void *user, uint64_t done, uint64_t total) {
  (void)total;
  return done < *(uint64_t *)user;
}

/* A recorded run that is cancelled has the steps that were made. */
static void test_cancelled_record(void **unused) {
  (void)unused;
  const bed b = {.kind = BED_SPRINGS, .threads = 1};
  graze_world *world = make_bed(&b, BED);
  graze_world_replay *replay = NULL;
  graze_world_replay_step step = {.number = 1};
  uint64_t at = 5, steps = 0;
  assert_int_equal(graze_world_record(world, record_path), GRAZE_OK);
  assert_int_equal(graze_world_step(world, bed_dt(&b), 100, cancel_at, &at), GRAZE_CANCELLED);
  assert_int_equal(graze_world_get_step(world), 5);
  assert_int_equal(graze_world_record_end(world), GRAZE_OK);
  assert_int_equal(graze_world_replay_open(shared_context(1), record_path, &replay), GRAZE_OK);
  for (; step.number != 0; steps += step.same) assert_int_equal(graze_world_replay_next(replay, &step), GRAZE_OK);
  assert_int_equal(steps, 5);
  assert_int_equal(graze_world_get_hash(graze_world_replay_get_world(replay)), graze_world_get_hash(world));
  graze_world_replay_close(replay);
  graze_world_destroy(world);
}

/* ---- blasts ------------------------------------------------------------------------------------------------------ */

enum { THROWN = 500 };

static graze_world *make_thrown(uint32_t before, int threads) {
  static double x[THROWN][3];
  graze_world_def def = graze_default_world_def();
  graze_world *world = NULL;
  uint64_t state = 11;
  for (int i = 1; i < THROWN; i++) {
    for (int k = 0; k < 3; k++) x[i][k] = (double)random_below(&state, 2048) / 64 - 16;
  }
  assert_int_equal(graze_world_create(shared_context(threads), &def, &world), GRAZE_OK);
  const graze_material m = hooke(1);
  add_material(world, &m);
  if (before > 0) add_balls(world, before, x[0], NULL, NULL, 0.01, 1, 0);
  add_balls(world, THROWN, x[0], NULL, NULL, 0.01, 2, 0);
  return world;
}

static void get_thrown(graze_world *world, uint32_t set, double v[THROWN][3], double w[THROWN][3]) {
  const graze_particle_state state = {.velocities = v[0], .spins = w[0]};
  assert_int_equal(graze_world_get_particles(world, set, &state), GRAZE_OK);
}

static double length_of(const double v[3]) {
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Within its limits, away from the center; of a particle's number and the seed alone. The bits themselves another
 * program checks: tests/cli/simulate_blast.py. */
static void test_blast(void **unused) {
  (void)unused;
  static double v[3][THROWN][3], w[3][THROWN][3], x[THROWN][3], masses[THROWN];
  graze_blast blast = graze_default_blast();
  blast.speed[0] = 5;
  blast.speed[1] = 6;
  blast.spin = 7;
  blast.seed = 99;
  graze_world *worlds[3] = {make_thrown(0, 1), make_thrown(0, 4), make_thrown(3, 1)};
  const graze_particle_state places = {.positions = x[0]};
  for (uint32_t i = 0; i < 3; i++) {
    assert_int_equal(graze_world_blast(worlds[i], i == 2, &blast), GRAZE_OK);
    get_thrown(worlds[i], i == 2, v[i], w[i]);
  }
  assert_memory_equal(v[0], v[1], sizeof v[0]);
  assert_memory_equal(w[0], w[1], sizeof w[0]);
  assert_memory_equal(w[0][3], w[2][0], sizeof w[0] - sizeof w[0][0] * 3); /* particle 3 of all in both */
  assert_int_equal(graze_world_get_particles(worlds[0], 0, &places), GRAZE_OK);
  for (int i = 0; i < THROWN; i++) {
    const double speed = length_of(v[0][i]), distance = length_of(x[i]);
    assert_true(speed > 5 - 1e-12 && speed < 6 + 1e-12 && length_of(w[0][i]) < 7);
    for (int k = 0; k < 3 && i > 0; k++) assert_near(v[0][i][k] / speed, x[i][k] / distance, 1e-14);
  }
  blast.seed++;
  assert_int_equal(graze_world_blast(worlds[1], 0, &blast), GRAZE_OK);
  get_thrown(worlds[1], 0, v[1], w[1]);
  for (int i = 0; i < THROWN; i++) assert_true(length_of(v[0][i]) != length_of(v[1][i]));
  assert_int_equal(graze_world_get_masses(worlds[2], 1, masses), GRAZE_OK);
  assert_true(masses[0] == 2 && masses[THROWN - 1] == 2);
  assert_int_equal(graze_world_get_masses(worlds[2], 2, masses), GRAZE_ERROR_ARGUMENT);
  for (int i = 0; i < 3; i++) graze_world_destroy(worlds[i]);
}

static void test_blasts_that_cannot_be(void **unused) {
  (void)unused;
  graze_world *world = make_thrown(0, 1);
  const uint64_t hash = graze_world_get_hash(world);
  const double speeds[][3] = {{-1, 1, 0},          {2, 1, 0},  {0, (double)INFINITY, 0},
                              {(double)NAN, 1, 0}, {0, 1, -1}, {0, 1, (double)NAN}};
  for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
    graze_blast blast = graze_default_blast();
    blast.speed[0] = speeds[i][0];
    blast.speed[1] = speeds[i][1];
    blast.spin = speeds[i][2];
    const bool finite = isfinite(speeds[i][0]) && isfinite(speeds[i][1]) && isfinite(speeds[i][2]);
    assert_int_equal(graze_world_blast(world, 0, &blast), finite ? GRAZE_ERROR_ARGUMENT : GRAZE_ERROR_NOT_FINITE);
  }
  graze_blast blast = graze_default_blast();
  assert_int_equal(graze_world_blast(world, 1, &blast), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_world_blast(world, 0, NULL), GRAZE_ERROR_ARGUMENT);
  blast.center[1] = (double)NAN;
  assert_int_equal(graze_world_blast(world, 0, &blast), GRAZE_ERROR_NOT_FINITE);
  blast = graze_default_blast();
  blast.cookie = 0;
  assert_int_equal(graze_world_blast(world, 0, &blast), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_world_get_hash(world), hash);
  graze_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_left_and_come_back),    cmocka_unit_test(test_left_with_periods),
      cmocka_unit_test(test_left_by_hand),          cmocka_unit_test(test_replay),
      cmocka_unit_test(test_damaged_records),       cmocka_unit_test(test_differing_records),
      cmocka_unit_test(test_what_records_refuse),   cmocka_unit_test(test_full_disk),
      cmocka_unit_test(test_cancelled_record),      cmocka_unit_test(test_blast),
      cmocka_unit_test(test_blasts_that_cannot_be),
  };
  return cmocka_run_group_tests(tests, name_files, remove_files);
}
