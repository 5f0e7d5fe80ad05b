/* An engine made here that moves worlds: what it is asked, that its answers are taken as they are, and that the
 * processor goes on from the last of them. */
#include <stdlib.h>
#include <string.h>

#include "graze/engine.h"
#include "worlds.h"

enum { BALLS = 60, STEPS_AT_ONCE = 3 };

static struct fake {
  graze_context *context;
  char warning[256]; /* the logger's last */
  bool taken;
  uint32_t asked;
  uint32_t good;          /* questions that are answered; later ones get */
  graze_status status;    /* this */
  graze_world *twin;      /* NULL, or a world of the processor's that makes the steps */
  graze_world_question q; /* the last one, as it was asked */
  graze_kept_contact kept[8];
  graze_told_event told;
} fake;

static bool take(void *user, graze_stage stage, uint64_t a, uint64_t b) {
  assert_ptr_equal(user, &fake);
  if (stage != GRAZE_STAGE_WORLD) return false;
  assert_false(fake.taken);
  assert_true(a > 0 && b > 0);
  return fake.taken = true;
}

static void give(void *user) {
  assert_ptr_equal(user, &fake);
  assert_true(fake.taken);
  fake.taken = false;
  memset(fake.kept, 0xff, sizeof fake.kept);
  memset(&fake.told, 0xff, sizeof fake.told);
}

/* The twin's state, which has one set and no forces that are remembered. */
static void move_as_twin(graze_world_question *q) {
  double positions[3 * BALLS], velocities[3 * BALLS], spins[3 * BALLS];
  const graze_particle_state state = {positions, velocities, spins};
  run_world(fake.twin, q->dt, q->done);
  assert_int_equal(graze_world_get_particles(fake.twin, 0, &state), GRAZE_OK);
  for (uint32_t p = 0; p < q->balls; p++) {
    const size_t n = 3 * (size_t)q->numbers[p];
    memcpy(q->states[p].position, positions + n, 3 * sizeof(double));
    memcpy(q->states[p].velocity, velocities + n, 3 * sizeof(double));
    memcpy(q->states[p].spin, spins + n, 3 * sizeof(double));
  }
}

/* Balls move to the right by 1 a step, those of odd numbers by 100; bodies are turned over; each contact gets an
 * impulse; and something begins. */
static void move_by_marks(graze_world_question *q) {
  for (uint32_t p = 0; p < q->balls; p++) {
    q->states[p].position[0] += (q->numbers[p] % 2 == 1 ? 100 : 1) * (double)q->done;
    for (int k = 0; k < 3; k++) q->accelerations[p].velocity[k] = q->accelerations[p].spin[k] = 0;
  }
  for (uint32_t i = 0; i < q->turning_count; i++) memcpy(q->orientations[i], (double[4]){0, 1, 0, 0}, 32);
  assert_true(q->kept_count <= 8);
  if (q->kept_count > 0) memcpy(fake.kept, q->kept, q->kept_count * sizeof *q->kept);
  for (uint64_t i = 0; i < q->kept_count; i++) fake.kept[i].hit[1] = 42;
  q->kept = fake.kept;
  fake.told = (graze_told_event){
      .step = q->done - 1, .number = 0, .partner = 2, .speed = 7, .overlap = 0.5, .velocity = {1, 2, 3}};
  q->events = &fake.told;
  q->event_count = 1;
}

static graze_status world(void *user, void *question) {
  graze_world_question *q = question;
  assert_ptr_equal(user, &fake);
  assert_true(fake.taken);
  fake.q = *q;
  if (fake.asked++ >= fake.good) return fake.status;
  q->done = q->count < STEPS_AT_ONCE ? q->count : STEPS_AT_ONCE;
  if (fake.twin != NULL)
    move_as_twin(q);
  else
    move_by_marks(q);
  return GRAZE_OK;
}

static const graze_stage_function stages[GRAZE_STAGES] = {[GRAZE_STAGE_WORLD] = world};

static void use_engine(uint32_t good, graze_status status) {
  const graze_engine engine = {&fake, stages, GRAZE_STAGES, take, give, NULL};
  fake.asked = 0;
  fake.good = good;
  fake.status = status;
  fake.warning[0] = 0;
  assert_int_equal(graze_context_set_engine(fake.context, &engine), GRAZE_OK);
}

static void keep_warning(void *user, graze_log_level level, const char *message) {
  (void)user;
  if (level == GRAZE_LOG_WARNING) snprintf(fake.warning, sizeof fake.warning, "%s", message);
}

static int begin(void **state) {
  graze_context_def def = graze_default_context_def();
  (void)state;
  def.threads = 2;
  def.log = keep_warning;
  assert_int_equal(graze_context_create(&def, &fake.context), GRAZE_OK);
  return 0;
}

static int finish(void **state) {
  (void)state;
  graze_context_destroy(fake.context);
  return 0;
}

/* ---- what is asked and taken ------------------------------------------------------------------------------------- */

/* Two balls in contact, a third one by itself, a kinematic and a static body, and a wall. */
static graze_world *make_marked(void) {
  static const double at[9] = {0, 0, 0, 1.875, 0, 0, 0, 50, 0}, speed[9] = {1, 0, 0, -1, 0, 0, 0, 0, 0};
  graze_world_def def = graze_default_world_def();
  graze_body_def body = graze_default_body_def();
  graze_material m = hooke(1000);
  graze_world *made = NULL;
  graze_body_id id;
  m.tangential = GRAZE_TANGENTIAL_SPRING;
  def.gravity[2] = 0;
  def.events = true;
  assert_int_equal(graze_world_create(fake.context, &def, &made), GRAZE_OK);
  add_balls(made, 3, at, speed, NULL, 1, 2, add_material(made, &m));
  for (int i = 0; i < 2; i++) {
    body.type = i == 0 ? GRAZE_BODY_STATIC : GRAZE_BODY_KINEMATIC;
    body.radius = 1;
    body.position[0] = -100 - 10 * i;
    assert_int_equal(graze_world_add_body(made, &body, &id), GRAZE_OK);
  }
  assert_int_equal(graze_world_add_wall(made, (const double[3]){0, 0, -5}, (const double[3]){0, 0, 2}, 0), GRAZE_OK);
  return made;
}

static void check_question(const graze_world *made) {
  const graze_world_question *q = &fake.q;
  assert_true(q->run != 0 && q->dt == 0x1p-10 && q->count == 2 && q->begun == 3 && q->accelerated);
  assert_true(q->balls == 5 && q->material_count == 1 && q->wall_count == 1 && q->kind_count == 3);
  assert_true(q->laws[0].k_n == 1000 && q->laws[0].spring == 1 && q->springs && !q->drag && q->simple != NULL);
  assert_true(q->walls[0].normal[2] == 1 && q->walls[0].point[2] == -5 && q->skin > 0);
  assert_true(q->def->events && q->turning_count == 1 && q->orientations[0][0] == 0);
  for (uint32_t p = 0; p < 5; p++) {
    assert_true(q->states[p].position[3] == 1 && q->kinds[q->ball_kinds[p]].material == 0);
    assert_true((q->states[p].velocity[3] == 0) == (q->numbers[p] >= 3));
  }
  assert_int_equal(q->kept_count, 2);
  for (int i = 0; i < 2; i++) {
    assert_true(q->kept[i].number + q->kept[i].partner == 1 && q->kept[i].with == GRAZE_PARTNER_BALL &&
                q->kept[i].hit[1] == 42);
  }
  assert_true(graze_world_get_step(made) == 6 && graze_world_get_engine_steps(made) == 5);
}

/* One step by the processor, five by the engine in two answers, which part the two balls; then the processor tells that
 * their contact has ended, with the impulse that the engine has left. */
static void test_marks(void **state) {
  const graze_contact_event *events;
  const graze_body_id kinematic = {1, 1};
  double positions[9];
  uint64_t count;
  graze_body_def body;
  (void)state;
  fake.twin = NULL;
  graze_context_set_engine(fake.context, NULL);
  graze_world *made = make_marked();
  run_world(made, 0x1p-10, 1);
  use_engine(UINT32_MAX, GRAZE_OK);
  run_world(made, 0x1p-10, 5);
  assert_int_equal(fake.asked, 2);
  assert_false(fake.taken);
  check_question(made);
  assert_int_equal(graze_world_get_events(made, &events, &count), GRAZE_OK);
  assert_int_equal(count, 2);
  assert_true(events[0].step == 4 && events[1].step == 6); /* of the third and of the fifth step */
  assert_true(events[1].kind == GRAZE_CONTACT_BEGAN && events[1].speed == 7 && events[1].b.index == 2);
  assert_true(events[1].overlap == 0.5 && events[1].velocity[0] == 1 && events[1].velocity[2] == 3);
  assert_int_equal(graze_world_get_body(made, kinematic, &body), GRAZE_OK);
  assert_true(body.orientation[0] == 0 && body.orientation[1] == 1);
  assert_int_equal(graze_world_get_particles(made, 0, &(graze_particle_state){positions, NULL, NULL}), GRAZE_OK);
  assert_true(positions[0] > 5 && positions[0] < 5.01 && positions[3] > 501.8 && positions[7] == 50);
  graze_context_set_engine(fake.context, NULL);
  run_world(made, 0x1p-10, 1);
  assert_int_equal(graze_world_get_events(made, &events, &count), GRAZE_OK);
  assert_int_equal(count, 1);
  assert_true(events[0].kind == GRAZE_CONTACT_ENDED && events[0].impulse == 42 && events[0].step == 7);
  graze_world_destroy(made);
}

/* ---- handing over ------------------------------------------------------------------------------------------------ */

/* Without bodies or springs, by the Euler integrator: the rows of a state are all there is. */
static graze_world *make_simple(graze_context *context) {
  double at[3 * BALLS], speed[3 * BALLS];
  graze_world_def def = graze_default_world_def();
  graze_material m = hooke(1000);
  graze_world *made = NULL;
  def.integrator = GRAZE_EULER;
  m.eta_n = 1;
  m.friction = 0.5;
  m.tangential = GRAZE_TANGENTIAL_DASHPOT;
  assert_int_equal(graze_world_create(context, &def, &made), GRAZE_OK);
  for (int i = 0; i < BALLS; i++) {
    const double place[3] = {i % 4, i / 4 % 4, 1 + (double)(i / 16)};
    for (int k = 0; k < 3; k++) {
      at[3 * i + k] = place[k] * 1.03125;
      speed[3 * i + k] = (double)(i * (k + 3) % 11) / 4 - 1;
    }
  }
  add_balls(made, BALLS, at, speed, NULL, 0.5, 1, add_material(made, &m));
  assert_int_equal(graze_world_add_wall(made, (const double[3]){0}, (const double[3]){0, 0, 1}, 0), GRAZE_OK);
  return made;
}

static uint64_t hash_after(graze_context *context, uint64_t first, uint64_t second) {
  graze_world *made = make_simple(context);
  run_world(made, 0x1p-9, first);
  run_world(made, 0x1p-9, second);
  uint64_t hash = graze_world_get_hash(made);
  graze_world_destroy(made);
  return hash;
}

/* It declines or fails at its first question, in the middle, or never: the state is the same. */
static void test_hand_over(void **state) {
  static const graze_status ends[] = {GRAZE_ERROR_UNSUPPORTED, GRAZE_ERROR_MEMORY, GRAZE_ERROR_DEVICE};
  test_log log = {0};
  graze_context *plain = test_context(1, &log);
  (void)state;
  const uint64_t want = hash_after(plain, 17, 100);
  for (uint32_t good = 0; good < 60; good += good < 3 ? 1 : 8) {
    const graze_status end = ends[good % 3];
    use_engine(good, end);
    fake.twin = make_simple(plain);
    graze_world *made = make_simple(fake.context);
    run_world(made, 0x1p-9, 17);
    run_world(made, 0x1p-9, 100);
    assert_true(graze_world_get_hash(made) == want && graze_world_get_step(made) == 117);
    const uint64_t first = 3 * (good < 6 ? good : 6) - (good >= 6), second = good < 6 ? 0 : 3 * (good - 6);
    assert_int_equal(graze_world_get_engine_steps(made), first + (second < 100 ? second : 100));
    const bool fails = end != GRAZE_ERROR_UNSUPPORTED && good < 40;
    assert_true((strstr(fake.warning, "the engine failed at the steps of a world") != NULL) == fails);
    graze_world_destroy(fake.twin);
    graze_world_destroy(made);
  }
  fake.twin = NULL;
  graze_context_destroy(plain);
}

static bool stop_behind(void *user, uint64_t done, uint64_t total) {
  assert_int_equal(total, 10);
  *(uint64_t *)user = done;
  return done < 6;
}

/* Stopped between two answers; what is left is run later. */
static void test_cancelled(void **state) {
  test_log log = {0};
  graze_context *plain = test_context(1, &log);
  uint64_t seen = 0;
  (void)state;
  use_engine(UINT32_MAX, GRAZE_OK);
  fake.twin = make_simple(plain);
  graze_world *made = make_simple(fake.context);
  assert_int_equal(graze_world_step(made, 0x1p-9, 10, stop_behind, &seen), GRAZE_CANCELLED);
  assert_true(seen == 6 && graze_world_get_step(made) == 6 && graze_world_get_hash(made) == hash_after(plain, 6, 0));
  run_world(made, 0x1p-9, 4);
  assert_true(graze_world_get_hash(made) == hash_after(plain, 10, 0));
  assert_int_equal(graze_world_get_engine_steps(made), 10);
  graze_world_destroy(fake.twin);
  graze_world_destroy(made);
  fake.twin = NULL;
  graze_context_destroy(plain);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_marks), cmocka_unit_test(test_hand_over),
                                     cmocka_unit_test(test_cancelled)};
  return cmocka_run_group_tests(tests, begin, finish);
}
