/* What rounding to floats may have moved the objects of a glTF file by, relative to each other. The oracle makes poses
 * of random doubles, writes them as floats, and multiplies what was not rounded: it must be within what is told. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "gltf_made.h"

/* How an exporter writes a number. */
typedef enum writing { AS_DOUBLE, AS_FLOAT, NINE_DIGITS, SHORTEST, WRITINGS } writing;

/* One that is written, and what is read again. */
static double write_number(char *out, size_t size, writing how, double x) {
  const float f = (float)x;
  int digits = how == NINE_DIGITS ? 9 : 17;
  if (how == SHORTEST) {
    for (digits = 1; digits < 9; digits++) {
      snprintf(out, size, "%.*g", digits, (double)f);
      if (strtof(out, NULL) == f) break;
    }
  }
  snprintf(out, size, "%.*g", digits, how == AS_DOUBLE ? x : (double)f);
  return strtod(out, NULL);
}

/* A node of the file: as it is meant, and as it is read. */
typedef struct placed {
  double translation[3], rotation[4], scale[3]; /* x, y, z, w */
  graze_pose meant, read;
  char text[400];
} placed;

static graze_pose pose_of(const double translation[3], const double rotation[4], const double scale[3]) {
  const double wxyz[4] = {rotation[3], rotation[0], rotation[1], rotation[2]};
  const graze_pose moved = graze_pose_from_quaternion(wxyz, translation);
  const graze_pose scaled = {{scale[0], 0, 0, 0, 0, scale[1], 0, 0, 0, 0, scale[2], 0}};
  return graze_pose_multiply(&moved, &scaled);
}

static size_t write_numbers(char *out, size_t used, const char *key, writing how, double *numbers, int count) {
  used += (size_t)sprintf(out + used, "%s\"%s\":[", used > 0 ? "," : "", key);
  for (int k = 0; k < count; k++) {
    char text[32];
    numbers[k] = write_number(text, sizeof text, how, numbers[k]);
    used += (size_t)sprintf(out + used, "%s%s", k > 0 ? "," : "", text);
  }
  return used + (size_t)sprintf(out + used, "]");
}

/* A float of few bits counts as a number that nothing has rounded. One in 4096 is so by chance. */
static bool has_few_bits(const double *numbers, int count) {
  for (int i = 0; i < count; i++) {
    const float f = (float)numbers[i];
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (numbers[i] != 0 && numbers[i] != 1 && bits % (1 << 12) == 0) return true;
  }
  return false;
}

static placed try_node(uint64_t *state, writing how) {
  placed p = {.scale = {1, 1, 1}};
  const double far = ldexp(1, (int)random_below(state, 12) - 3);
  double length = 0;
  for (int k = 0; k < 4; k++) p.rotation[k] = random_signed(state);
  for (int k = 0; k < 4; k++) length += p.rotation[k] * p.rotation[k];
  for (int k = 0; k < 4; k++) p.rotation[k] /= sqrt(length);
  for (int k = 0; k < 3; k++) p.translation[k] = far * random_signed(state);
  if (random_below(state, 2) == 0) p.scale[random_below(state, 3)] = 0.3 + random_unit(state);
  p.meant = pose_of(p.translation, p.rotation, p.scale);
  size_t used = write_numbers(p.text, 0, "translation", how, p.translation, 3);
  used = write_numbers(p.text, used, "rotation", how, p.rotation, 4);
  write_numbers(p.text, used, "scale", how, p.scale, 3);
  p.read = pose_of(p.translation, p.rotation, p.scale);
  return p;
}

static placed make_node(uint64_t *state, writing how) {
  placed p;
  do p = try_node(state, how);
  while (has_few_bits(p.translation, 3) || has_few_bits(p.rotation, 4) || has_few_bits(p.scale, 3));
  return p;
}

/* A node with the pose, written as a matrix. */
static placed make_matrix(uint64_t *state, writing how) {
  placed p;
  do p = try_node(state, AS_DOUBLE);
  while (has_few_bits(p.meant.m, 12));
  double matrix[16] = {0};
  matrix[15] = 1;
  for (int k = 0; k < 12; k++) matrix[k % 4 * 4 + k / 4] = p.meant.m[k];
  write_numbers(p.text, 0, "matrix", how, matrix, 16);
  for (int k = 0; k < 12; k++) p.read.m[k] = matrix[k % 4 * 4 + k / 4];
  return p;
}

/* The largest part of what is told that the rounding has used up: 1 at most, but for the second order. */
static double used_up(const graze_assembly_object *object, const graze_pose *meant) {
  double most = 0;
  for (int k = 0; k < 12; k++) {
    const double off = fabs(object->pose.m[k] - meant->m[k]), noise = 1e-13;
    assert_true(off <= object->rounding.m[k] * (1 + 1e-5) + noise);
    if (object->rounding.m[k] > noise) most = fmax(most, off / object->rounding.m[k]);
  }
  return most;
}

static bool is_zero(const graze_pose *pose) {
  for (int k = 0; k < 12; k++) {
    if (pose->m[k] != 0) return false;
  }
  return true;
}

/* A root with two branches: a node with a mesh; and one that places a single mesh, two nodes below. */
static double check_tree(uint64_t *state, writing how) {
  const placed root = make_node(state, how), near = make_node(state, how), above = make_node(state, how),
               far = random_below(state, 2) == 0 ? make_node(state, how) : make_matrix(state, how);
  char rest[2400];
  snprintf(rest, sizeof rest,
           ONE_MESH "\"nodes\":[{%s,\"children\":[1,2]},{%s,\"mesh\":0},{%s,\"children\":[3]},{%s,\"mesh\":0}]",
           root.text, near.text, above.text, far.text);
  graze_assembly assembly = must_parse(points, sizeof points, rest);
  const graze_pose both = graze_pose_multiply(&root.read, &above.meant);
  const graze_pose meant[2] = {graze_pose_multiply(&root.read, &near.meant), graze_pose_multiply(&both, &far.meant)};
  double most = 0;
  assert_int_equal(assembly.object_count, 2);
  for (int i = 0; i < 2; i++) {
    assert_true(is_zero(&assembly.objects[i].rounding) == (how == AS_DOUBLE));
    most = fmax(most, used_up(&assembly.objects[i], &meant[i]));
  }
  graze_assembly_free(&assembly);
  return most;
}

static void test_floats(void **unused) {
  uint64_t state = test_seed(0);
  (void)unused;
  for (int how = 0; how < WRITINGS; how++) {
    double most = 0;
    for (int i = 0; i < 300; i++) most = fmax(most, check_tree(&state, (writing)how));
    assert_true(how == AS_DOUBLE ? most == 0 : most > 0.9); /* what is told is not much too large */
  }
}

static graze_pose rounding_of(const char *node, unsigned objects) {
  char rest[1000];
  snprintf(rest, sizeof rest, ONE_MESH "\"nodes\":[%s]", node);
  graze_assembly assembly = must_parse(points, sizeof points, rest);
  assert_int_equal(assembly.object_count, objects);
  const graze_pose rounding = assembly.objects[0].rounding;
  graze_assembly_free(&assembly);
  return rounding;
}

/* Lengths that somebody chose, a double among floats, and what moves several objects tell nothing. */
static void test_not_known(void **unused) {
  static const char *const nothing[] = {"{\"mesh\":0,\"translation\":[0.1,2.25,1234.567]}",
                                        "{\"mesh\":0,\"translation\":[0.44921875,4096.5,16777217]}",
                                        "{\"mesh\":0,\"translation\":[0.123456789012,0,0]}",
                                        "{\"mesh\":0,\"translation\":[0.12345679,0.3000000000001,0]}", "{\"mesh\":0}"};
  (void)unused;
  for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
    const graze_pose rounding = rounding_of(nothing[i], 1);
    assert_true(is_zero(&rounding));
  }
  const char *shared = "{\"translation\":[0.12345679,0,0],\"children\":[1,2]},{\"mesh\":0},{\"mesh\":0}";
  const char *own = "{\"translation\":[0.12345679,0,0],\"mesh\":0,\"children\":[1]},{\"mesh\":0}";
  const char *alone = "{\"translation\":[0.12345679,0.1,1],\"children\":[1]},{\"mesh\":0}";
  graze_pose rounding = rounding_of(shared, 2);
  assert_true(is_zero(&rounding));
  rounding = rounding_of(own, 2);
  assert_true(is_zero(&rounding));
  rounding = rounding_of(alone, 1);
  for (int k = 3; k < 8; k += 4) assert_true(rounding.m[k] > 0x1p-28 && rounding.m[k] < 0x1p-27);
  assert_true(rounding.m[11] == 0);
}

/* A quarter turn in floats is exactly that turn, and is off by nothing. */
static void test_turn(void **unused) {
  const char *node =
      "{\"mesh\":0,\"translation\":[0.12345679,0,0],"
      "\"rotation\":[0.70710676908493042,0,0,0.70710676908493042]}";
  (void)unused;
  graze_pose rounding = rounding_of(node, 1);
  for (int k = 0; k < 12; k++) assert_true((rounding.m[k] != 0) == (k == 3));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_floats), cmocka_unit_test(test_not_known),
                                     cmocka_unit_test(test_turn)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
