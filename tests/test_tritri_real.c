/* Tier T2: triangle pairs under exact matrices against the GMP oracle. Random rigid poses, exact coincidences that
 * rounding would break or make, matrices of every scale, and singular ones. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "oracle.h"
#include "support.h"

static uint64_t hits, misses, touches;

static void check(const double a[9], const graze_pose *pose_a, const double b[9], const graze_pose *pose_b) {
  graze_tritri got = {9, 9, 9}, want;
  oracle_tritri_real(a, pose_a, b, pose_b, &want);
  assert_int_equal(graze_tritri_test_real(a, pose_a, b, pose_b, &got), GRAZE_OK);
  hits += want.kind != 0;
  misses += want.kind == 0;
  touches += want.kind == 1;
  if (memcmp(&got, &want, sizeof got) == 0) return;
  print_error("got %d %d %d want %d %d %d\n", got.kind, got.coplanar, got.degenerate, want.kind, want.coplanar,
              want.degenerate);
  for (int i = 0; i < 18; i++) print_error("%a ", i < 9 ? a[i] : b[i - 9]);
  for (int i = 0; i < 24; i++) print_error("%a ", i < 12 ? pose_a->m[i] : pose_b->m[i - 12]);
  fail();
}

static void random_matrix(uint64_t *state, int reach, graze_pose *pose) {
  for (int i = 0; i < 12; i++) {
    pose->m[i] = ldexp(random_signed(state), (int)random_below(state, 2 * (uint32_t)reach + 1) - reach);
    if (random_below(state, 8) == 0) pose->m[i] = 0;
  }
}

static int runs(int usual) {
  return test_long() ? 50 * usual : usual;
}

static void test_identity_is_t0(void **unused) {
  (void)unused;
  graze_pose same = graze_pose_identity();
  uint64_t state = 8;
  for (int i = 0; i < runs(20000); i++) {
    family_pair pair;
    families[i % family_count].make(&state, &pair);
    check(pair.a, &same, pair.b, &same);
  }
}

/* The same rounded matrix on both sides keeps every coincidence, which T1 loses. */
static void test_common_pose(void **unused) {
  (void)unused;
  uint64_t state = 9, before = touches;
  for (int i = 0; i < runs(20000); i++) {
    family_pair pair;
    families[7 + i % 7].make(&state, &pair);
    graze_pose pose = test_random_pose(&state, 1000);
    check(pair.a, &pose, pair.b, &pose);
  }
  assert_true(touches - before > 2000);
}

static void test_different_poses(void **unused) {
  (void)unused;
  uint64_t state = 10;
  for (int i = 0; i < runs(20000); i++) {
    double a[9], b[9];
    graze_pose pose_a = test_random_pose(&state, 0.5), pose_b = test_random_pose(&state, 0.5);
    for (int k = 0; k < 9; k++) {
      a[k] = random_signed(&state);
      b[k] = random_signed(&state);
    }
    check(a, &pose_a, b, &pose_b);
  }
}

/* Small rational matrices on lattice triangles: touching happens exactly. */
static void test_lattice_matrices(void **unused) {
  (void)unused;
  uint64_t state = 11;
  for (int i = 0; i < runs(30000); i++) {
    family_pair pair;
    graze_pose pose[2];
    families[i % 2].make(&state, &pair);
    int shift = (int)random_below(&state, 900) - 450;
    for (int p = 0; p < 2; p++) {
      for (int k = 0; k < 12; k++) pose[p].m[k] = ldexp((int)random_below(&state, 5) - 2, shift);
    }
    check(pair.a, &pose[0], pair.b, &pose[1]);
  }
}

/* The image of one corner is moved onto the other triangle as well as doubles can, then one ulp aside. */
static void test_near_touching(void **unused) {
  (void)unused;
  uint64_t state = 12;
  for (int i = 0; i < runs(10000); i++) {
    double a[9], b[9], image[3];
    graze_pose pose_a = graze_pose_identity(), pose_b = test_random_pose(&state, 1);
    for (int k = 0; k < 9; k++) {
      a[k] = random_signed(&state);
      b[k] = random_signed(&state);
    }
    oracle_pose_point(&pose_b, b, image);
    for (int k = 0; k < 3; k++) {
      double target = (a[k] + a[3 + k] + a[6 + k]) / 3;
      pose_b.m[4 * k + 3] += target - image[k];
      if (random_below(&state, 2)) pose_b.m[4 * k + 3] = nextafter(pose_b.m[4 * k + 3], random_signed(&state) * 10);
    }
    check(a, &pose_a, b, &pose_b);
  }
}

static void test_any_matrix(void **unused) {
  (void)unused;
  static const int reaches[] = {0, 3, 60, 300, 1000};
  uint64_t state = 13;
  for (int i = 0; i < runs(10000); i++) {
    family_pair pair;
    graze_pose pose_a, pose_b;
    families[random_below(&state, (uint32_t)family_count)].make(&state, &pair);
    random_matrix(&state, reaches[i % 5], &pose_a);
    random_matrix(&state, reaches[i % 5], &pose_b);
    check(pair.a, &pose_a, pair.b, random_below(&state, 3) ? &pose_a : &pose_b);
  }
}

/* Images far beyond the range of doubles are still decided: nothing is rounded, so nothing overflows. */
static void test_beyond_the_range(void **unused) {
  (void)unused;
  double a[9] = {DBL_MAX, 0, 0, 0, DBL_MAX, 0, 0, 0, DBL_MAX};
  graze_pose big = {{DBL_MAX, 0, 0, DBL_MAX, 0, DBL_MAX, 0, -DBL_MAX, 0, 0, DBL_MAX, 0}};
  graze_pose bigger = big;
  check(a, &big, a, &big);
  bigger.m[3] = 0x1.ffffffffffffep1023;
  check(a, &big, a, &bigger);
  double tiny[9] = {0x1p-1074, 0, 0, 0, 0x1p-1074, 0, 0, 0, 0x1p-1074};
  graze_pose small = {{0x1p-1074, 0, 0, 0, 0, 0x1p-1074, 0, 0, 0, 0, 0x1p-1074, 0}};
  check(tiny, &small, tiny, &small);
  small.m[11] = 0x1p-1074;
  check(tiny, &small, tiny, &small);
  check(a, &big, tiny, &small);
}

static void test_not_finite(void **unused) {
  (void)unused;
  double c[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  for (int i = 0; i < 42; i++) {
    double a[9], b[9];
    graze_pose pose_a = graze_pose_identity(), pose_b = pose_a;
    graze_tritri t = {7, 7, 7};
    memcpy(a, c, sizeof a);
    memcpy(b, c, sizeof b);
    double *place = i < 9 ? a + i : i < 18 ? b + i - 9 : i < 30 ? pose_a.m + i - 18 : pose_b.m + i - 30;
    *place = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
    assert_int_equal(graze_tritri_test_real(a, &pose_a, b, &pose_b, &t), GRAZE_ERROR_NOT_FINITE);
    assert_int_equal(t.kind, 7);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_identity_is_t0),   cmocka_unit_test(test_common_pose),
      cmocka_unit_test(test_different_poses),  cmocka_unit_test(test_lattice_matrices),
      cmocka_unit_test(test_near_touching),    cmocka_unit_test(test_any_matrix),
      cmocka_unit_test(test_beyond_the_range), cmocka_unit_test(test_not_finite),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  print_message("%d hits, %d misses\n", (int)hits, (int)misses);
  return failed;
}
