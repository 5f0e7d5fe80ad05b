/* Motions: what is read is what was written, and every fault is told with its line. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "families.h"
#include "graze/io.h"
#include "support.h"

#define MATRIX_TITLES     "step,object,m00,m01,m02,m03,m10,m11,m12,m13,m20,m21,m22,m23\n"
#define QUATERNION_TITLES "step,object,x,y,z,qw,qx,qy,qz\n"

static const char *const names[] = {"arm", "table", "a, \"b\"", "Cell/arm"};
enum { NAMES = sizeof names / sizeof names[0] };

static graze_status parse(const char *text, graze_motion *motion) {
  return graze_parse_motion(shared_context(1), text, strlen(text), "m.csv", names, NAMES, motion);
}

/* Every bit of a matrix arrives. */
static void reads_matrices(void **unused) {
  (void)unused;
  enum { ROWS = 200 };
  static char text[ROWS * 400];
  static double wanted[ROWS][12];
  uint64_t state = 7;
  char *p = text + sprintf(text, MATRIX_TITLES);
  for (int i = 0; i < ROWS; i++) {
    p += sprintf(p, "%d,%s", 1 + i / 2, i % 2 ? "table" : "Cell/arm");
    for (int k = 0; k < 12; k++) {
      wanted[i][k] = ldexp(random_signed(&state), (int)random_below(&state, 1800) - 900);
      p += sprintf(p, ",%.17g", wanted[i][k]);
    }
    p += sprintf(p, i % 3 ? "\n" : "\r\n");
  }
  graze_motion motion;
  assert_int_equal(parse(text, &motion), GRAZE_OK);
  assert_int_equal(motion.count, ROWS);
  assert_int_equal(motion.last_step, ROWS / 2);
  for (uint32_t i = 0; i < ROWS; i++) {
    assert_int_equal(motion.moves[i].step, 1 + i / 2);
    assert_int_equal(motion.moves[i].object, i % 2 ? 1 : 3);
    assert_memory_equal(motion.moves[i].pose.m, wanted[i], sizeof wanted[i]);
  }
  graze_motion_free(&motion);
}

/* The quaternion is w x y z, of any length; names may stand in quotes, steps may be left out. */
static void reads_quaternions(void **unused) {
  (void)unused;
  static const double quarter[12] = {0, -1, 0, 1, 1, 0, 0, 2, 0, 0, 1, 3};
  static const double third[12] = {0, 0, 1, -1, 1, 0, 0, 0.5, 0, 1, 0, 1e-3};
  graze_motion motion;
  assert_int_equal(parse("\xef\xbb\xbf" QUATERNION_TITLES "4, arm ,1,2,3,2,0,0,2\n"
                         "4,\"a, \"\"b\"\"\",-1,0.5,1e-3,1e300,1e300,1e300,1e300\n9,\"arm\",0,0,0,-1e-300,0,0,0",
                         &motion),
                   GRAZE_OK);
  assert_int_equal(motion.count, 3);
  assert_int_equal(motion.last_step, 9);
  assert_int_equal(motion.moves[0].object, 0);
  assert_int_equal(motion.moves[1].object, 2);
  for (int k = 0; k < 12; k++) {
    assert_true(fabs(motion.moves[0].pose.m[k] - quarter[k]) < 1e-15);
    assert_true(fabs(motion.moves[1].pose.m[k] - third[k]) < 1e-15);
    assert_true(motion.moves[2].pose.m[k] == (k % 5 == 0));
  }
  graze_motion_free(&motion);
}

static void reads_none(void **unused) {
  (void)unused;
  graze_motion motion;
  assert_int_equal(parse(QUATERNION_TITLES, &motion), GRAZE_OK);
  assert_int_equal(motion.count, 0);
  assert_int_equal(motion.last_step, 0);
  graze_motion_free(&motion);
}

static void refuses(void **unused) {
  (void)unused;
  static const struct {
    const char *text;
    graze_status status;
    const char *message;
  } cases[] = {
      {"", GRAZE_ERROR_FORMAT, "m.csv: byte 0: the file is empty"},
      {"step,object,x,y,z\n", GRAZE_ERROR_FORMAT, "m.csv:1: the first line must be"},
      {"step,object,x,y,z,qw,qx,qy,qz,more\n", GRAZE_ERROR_FORMAT, "m.csv:1: the first line must be"},
      {"step,object,x,y,z,qx,qy,qz,qw\n", GRAZE_ERROR_FORMAT, "m.csv:1: the first line must be"},
      {QUATERNION_TITLES "1,arm,0,0,0,1,0,0\n", GRAZE_ERROR_FORMAT, "m.csv:2: 8 fields where there should be 9"},
      {QUATERNION_TITLES "1,arm,0,0,0,1,0,0,0,0\n", GRAZE_ERROR_FORMAT, "m.csv:2: 10 fields where there should be 9"},
      {MATRIX_TITLES "1,arm,0,0,0,1,0,0,0\n", GRAZE_ERROR_FORMAT, "m.csv:2: 9 fields where there should be 14"},
      {QUATERNION_TITLES "1,arm,0,0,0,1,0,0,0\n\n", GRAZE_ERROR_FORMAT, "m.csv:3: the line is empty"},
      {QUATERNION_TITLES "one,arm,0,0,0,1,0,0,0\n", GRAZE_ERROR_FORMAT, "m.csv:2: step \"one\" is not a whole number"},
      {QUATERNION_TITLES "-1,arm,0,0,0,1,0,0,0\n", GRAZE_ERROR_FORMAT, "m.csv:2: step \"-1\" is not a whole number"},
      {QUATERNION_TITLES "0,arm,0,0,0,1,0,0,0\n", GRAZE_ERROR_FORMAT, "m.csv:2: step 0 is the scene as it is"},
      {QUATERNION_TITLES "1000001,arm,0,0,0,1,0,0,0\n", GRAZE_ERROR_LIMIT,
       "m.csv:2: step 1000001 is more than 1000000"},
      {QUATERNION_TITLES "99999999999999999999999,arm,0,0,0,1,0,0,0\n", GRAZE_ERROR_LIMIT, "m.csv:2: step 9"},
      {QUATERNION_TITLES "2,arm,0,0,0,1,0,0,0\n1,table,0,0,0,1,0,0,0\n", GRAZE_ERROR_FORMAT,
       "m.csv:3: step 1 comes after step 2"},
      {QUATERNION_TITLES "1,leg,0,0,0,1,0,0,0\n", GRAZE_ERROR_FORMAT, "m.csv:2: no object has the name \"leg\""},
      {QUATERNION_TITLES "1,arm,0,0,0,1,0,0,0\n1,\"arm\",0,0,0,1,0,0,0\n", GRAZE_ERROR_FORMAT,
       "m.csv:3: \"\"arm\"\" has a pose in step 1 already"},
      {QUATERNION_TITLES "1,\"arm,0,0,0,1,0,0,0\n", GRAZE_ERROR_FORMAT, "m.csv:2: the quotes of"},
      {QUATERNION_TITLES "1,arm,0,O,0,1,0,0,0\n", GRAZE_ERROR_FORMAT, "m.csv:2: y \"O\" is not a number"},
      {QUATERNION_TITLES "1,arm,,0,0,1,0,0,0\n", GRAZE_ERROR_FORMAT, "m.csv:2: x \"\" is not a number"},
      {QUATERNION_TITLES "1,arm,0,0,0,1,nan,0,0\n", GRAZE_ERROR_NOT_FINITE, "m.csv:2: qx \"nan\" is not finite"},
      {QUATERNION_TITLES "1,arm,0,0,-inf,1,0,0,0\n", GRAZE_ERROR_NOT_FINITE, "m.csv:2: z \"-inf\" is not finite"},
      {QUATERNION_TITLES "1,arm,0,0,1e999,1,0,0,0\n", GRAZE_ERROR_NOT_FINITE, "m.csv:2: z \"1e999\" is too large"},
      {QUATERNION_TITLES "1,arm,0,0,0,0,-0,0,0\n", GRAZE_ERROR_FORMAT, "m.csv:2: the quaternion is zero"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    graze_motion motion;
    assert_int_equal(parse(cases[i].text, &motion), cases[i].status);
    assert_int_equal(shared_error()->status, cases[i].status);
    if (strncmp(shared_error()->message, cases[i].message, strlen(cases[i].message)) != 0)
      fail_msg("\"%s\" instead of \"%s\"", shared_error()->message, cases[i].message);
    assert_null(motion.moves);
    assert_int_equal(motion.count, 0);
  }
}

static void refuses_arguments(void **unused) {
  (void)unused;
  graze_motion motion;
  assert_int_equal(graze_read_motion(shared_context(1), "no such file.csv", names, NAMES, &motion), GRAZE_ERROR_FILE);
  assert_int_equal(graze_read_motion(shared_context(1), NULL, names, NAMES, &motion), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_parse_motion(shared_context(1), "", 0, "m.csv", NULL, 1, &motion), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_parse_motion(shared_context(1), "", 0, "m.csv", NULL, 0, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(
      graze_parse_motion(shared_context(1), QUATERNION_TITLES, strlen(QUATERNION_TITLES), "m.csv", NULL, 0, &motion),
      GRAZE_OK);
  graze_motion_free(&motion);
  graze_motion_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(reads_matrices), cmocka_unit_test(reads_quaternions),
                                     cmocka_unit_test(reads_none), cmocka_unit_test(refuses),
                                     cmocka_unit_test(refuses_arguments)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
