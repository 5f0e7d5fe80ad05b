/* Contexts, status texts, the pair hash, poses. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "support.h"

static void test_status_strings(void **unused) {
  (void)unused;
  for (int i = GRAZE_OK; i <= GRAZE_CANCELLED; i++) {
    const char *text = graze_status_string((graze_status)i);
    assert_non_null(text);
    assert_true(*text);
    for (int j = GRAZE_OK; j < i; j++) assert_string_not_equal(text, graze_status_string((graze_status)j));
  }
  assert_non_null(graze_status_string((graze_status)999));
  assert_non_null(graze_status_string((graze_status)-1));
  for (int i = GRAZE_SEPARATE; i <= GRAZE_UNKNOWN; i++) assert_true(*graze_relation_string((graze_relation)i));
  assert_string_equal(graze_relation_string(GRAZE_SEPARATE), "separate");
  assert_string_equal(graze_relation_string(GRAZE_CROSS), "cross");
  assert_string_equal(graze_relation_string(GRAZE_A_IN_B), "a_in_b");
}

/* So that a logger can leave out what is below a level. */
static void test_levels_rise(void **unused) {
  (void)unused;
  assert_true(GRAZE_LOG_PROGRESS < GRAZE_LOG_INFO && GRAZE_LOG_INFO < GRAZE_LOG_WARNING);
  assert_true(GRAZE_LOG_WARNING < GRAZE_LOG_ERROR);
}

static void test_version(void **unused) {
  (void)unused;
  assert_string_equal(graze_version(), GRAZE_VERSION_STRING);
}

static void test_instruction_set(void **unused) {
  (void)unused;
  graze_context *context = test_context(1, NULL);
  const char *set = graze_instruction_set(), *disabled = getenv("GRAZE_DISABLE");
  assert_true(strcmp(set, "scalar") == 0 || strcmp(set, "avx2") == 0 || strcmp(set, "avx512") == 0);
  if (disabled && strstr(disabled, "avx512")) assert_string_not_equal(set, "avx512");
  if (disabled && strstr(disabled, "avx2")) assert_string_equal(set, "scalar");
  graze_context_destroy(context);
}

static void test_context_arguments(void **unused) {
  (void)unused;
  graze_context *context = (graze_context *)1;
  graze_context_def def;
  memset(&def, 0, sizeof def);
  assert_int_equal(graze_context_create(&def, &context), GRAZE_ERROR_ARGUMENT); /* never initialised */
  assert_ptr_equal(context, (graze_context *)1);
  assert_int_equal(graze_context_create(NULL, NULL), GRAZE_ERROR_ARGUMENT);
  def = graze_default_context_def();
  def.threads = -1;
  assert_int_equal(graze_context_create(&def, &context), GRAZE_ERROR_ARGUMENT);
  test_allocator counts = {0};
  def = graze_default_context_def();
  def.allocator = test_allocator_hooks(&counts);
  def.allocator.release = NULL; /* one hook without the other */
  assert_int_equal(graze_context_create(&def, &context), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_context_create(NULL, &context), GRAZE_OK);
  graze_context_destroy(context);
  graze_context_destroy(NULL);
}

/* Values worked out by hand from the definition in CONTRACT. */
static void test_pair_hash(void **unused) {
  (void)unused;
  assert_true(graze_pair_hash(0, 0) == 0xE220A8397B1DCDAFu); /* splitmix64's first output for seed 0 */
  uint64_t state = 6;
  for (int i = 0; i < 1000; i++) {
    uint32_t a = (uint32_t)random_next(&state), b = (uint32_t)random_next(&state);
    uint64_t seed = ((uint64_t)a << 32) | b;
    assert_true(graze_pair_hash(a, b) == random_next(&seed));
  }
}

static double posed(const double *row, const double p[3]) {
  volatile double xy = row[0] * p[0], y = row[1] * p[1], z = row[2] * p[2];
  xy = xy + y;
  xy = xy + z;
  return xy + row[3];
}

static void test_pose_apply(void **unused) {
  (void)unused;
  uint64_t state = 17;
  for (int i = 0; i < 100000; i++) {
    graze_pose pose;
    double p[3], out[3], in_place[3];
    for (int k = 0; k < 12; k++) pose.m[k] = ldexp(random_signed(&state), (int)random_below(&state, 41) - 20);
    for (int k = 0; k < 3; k++) in_place[k] = p[k] = random_signed(&state);
    graze_pose_apply(&pose, p, out);
    graze_pose_apply(&pose, in_place, in_place);
    for (int k = 0; k < 3; k++) assert_true(out[k] == posed(pose.m + 4 * k, p));
    assert_memory_equal(out, in_place, sizeof out);
  }
}

static void test_pose_makers(void **unused) {
  (void)unused;
  graze_pose same = graze_pose_identity();
  assert_true(graze_pose_is_identity(&same) && graze_pose_is_rigid(&same));
  for (int k = 0; k < 12; k++) {
    graze_pose off = same, minus = same;
    off.m[k] += 0x1p-52;
    assert_false(graze_pose_is_identity(&off));
    if (minus.m[k] == 0) minus.m[k] = -0.0;
    assert_true(graze_pose_is_identity(&minus));
    off.m[k] = NAN;
    assert_false(graze_pose_is_identity(&off));
    if (k % 4 != 3) assert_false(graze_pose_is_rigid(&off));
  }
  /* A quarter turn about z: (1, 0, 0) goes to (0, 1, 0); the quaternion is normalised. */
  graze_pose turn = graze_pose_from_quaternion((double[4]){5, 0, 0, 5}, (double[3]){7, 8, 9});
  double out[3];
  graze_pose_apply(&turn, (double[3]){1, 0, 0}, out);
  assert_true(fabs(out[0] - 7) < 1e-14 && fabs(out[1] - 9) < 1e-14 && fabs(out[2] - 9) < 1e-14);
  uint64_t state = 5;
  for (int i = 0; i < 100; i++) {
    graze_pose first = test_random_pose(&state, 10), second = test_random_pose(&state, 10);
    graze_pose both = graze_pose_multiply(&second, &first);
    double p[3] = {random_signed(&state), random_signed(&state), random_signed(&state)}, one[3], two[3];
    assert_true(graze_pose_is_rigid(&first) && graze_pose_is_rigid(&both));
    graze_pose_apply(&first, p, one);
    graze_pose_apply(&second, one, one);
    graze_pose_apply(&both, p, two);
    for (int k = 0; k < 3; k++) assert_true(fabs(one[k] - two[k]) < 1e-13);
  }
  graze_pose scaled = same;
  scaled.m[0] = 1.001;
  assert_false(graze_pose_is_rigid(&scaled));
  graze_pose mirrored = same;
  mirrored.m[0] = -1;
  assert_true(graze_pose_is_rigid(&mirrored));
}

static void *find_error(void *context) {
  graze_mesh *mesh = NULL;
  const graze_error before = *graze_last_error(context);
  static graze_error after;
  graze_mesh_create(context, NULL, &mesh);
  after = *graze_last_error(context);
  return before.status == GRAZE_OK && before.message[0] == 0 ? &after : NULL;
}

/* A failure is kept for the thread and the context that it happened to, and is what the logger is told. */
static void test_last_error(void **unused) {
  (void)unused;
  test_log log = {0};
  graze_context *one = test_context(1, &log), *other = test_context(1, NULL);
  graze_query *query = NULL;
  graze_mesh *mesh = NULL;
  pthread_t thread;
  void *seen;
  assert_int_equal(graze_last_error(NULL)->status, GRAZE_OK);
  assert_int_equal(graze_last_error(one)->status, GRAZE_OK);
  assert_string_equal(graze_last_error(one)->message, "");
  assert_int_equal(graze_mesh_load(one, "no/such.grz", &mesh), GRAZE_ERROR_FILE);
  assert_int_equal(graze_last_error(one)->status, GRAZE_ERROR_FILE);
  assert_string_equal(graze_last_error(one)->message, log.last);
  assert_int_equal(graze_last_error(other)->status, GRAZE_OK);
  assert_int_equal(graze_query_create(one, &query), GRAZE_OK);
  assert_int_equal(graze_last_error(one)->status, GRAZE_ERROR_FILE); /* success leaves it */
  assert_int_equal(pthread_create(&thread, NULL, find_error, one), 0);
  pthread_join(thread, &seen);
  assert_non_null(seen);
  assert_int_equal(((graze_error *)seen)->status, GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_last_error(one)->status, GRAZE_ERROR_FILE);
  assert_int_equal(graze_collide_self(query, NULL, NULL, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_last_error(one)->status, GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mesh_load(other, "no/such.grz", &mesh), GRAZE_ERROR_FILE);
  assert_int_equal(graze_last_error(other)->status, GRAZE_ERROR_FILE);
  assert_int_equal(graze_last_error(one)->status, GRAZE_OK); /* a thread keeps one */
  graze_query_destroy(query);
  graze_context_destroy(one);
  graze_context_destroy(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_status_strings),    cmocka_unit_test(test_levels_rise),
      cmocka_unit_test(test_version),           cmocka_unit_test(test_instruction_set),
      cmocka_unit_test(test_context_arguments), cmocka_unit_test(test_pair_hash),
      cmocka_unit_test(test_pose_apply),        cmocka_unit_test(test_pose_makers),
      cmocka_unit_test(test_last_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
