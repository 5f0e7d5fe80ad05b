/* The oracles themselves: against each other, against cases done by hand, and against the shared triangle pairs, whose
 * truth was computed with CGAL. A wrong oracle would make every other test worthless. */
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "oracle.h"
#include "support.h"

static void check(const double a[9], const double b[9], int kind, int coplanar, int degenerate) {
  graze_tritri t;
  oracle_tritri(a, b, &t);
  assert_int_equal(t.kind, kind);
  assert_int_equal(t.coplanar, coplanar);
  assert_int_equal(t.degenerate, degenerate);
}

static void test_by_hand(void **state) {
  (void)state;
  double a[9] = {0, 0, 0, 4, 0, 0, 0, 4, 0};
  check(a, a, 3, 1, 0);
  check(a, (double[9]){1, 1, -1, 1, 1, 1, 2, 1, 1}, 2, 0, 0);
  check(a, (double[9]){1, 1, 0, 1, 1, 1, 2, 1, 1}, 1, 0, 0);
  check(a, (double[9]){1, 1, 1, 1, 1, 1, 1, 1, 1}, 0, 0, 2);
  check(a, (double[9]){1, 1, 0, 1, 1, 0, 1, 1, 0}, 1, 1, 2);
  check(a, (double[9]){1, 1, 0, 9, 9, 0, 5, 5, 0}, 2, 1, 2);
  check(a, (double[9]){4, 0, 0, 0, 4, 0, 4, 4, 0}, 2, 1, 0);
  check(a, (double[9]){4, 0, 0, 8, 0, 0, 4, 4, 0}, 1, 1, 0);
  check(a, (double[9]){4, 0x1p-1074, 0, 8, 0, 0, 4, 4, 0}, 0, 1, 0);
  double s[9] = {0, 0, 0, 2, 2, 2, 1, 1, 1}, p[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  check(s, (double[9]){1, 1, 1, 3, 3, 3, 2, 2, 2}, 2, 1, 3);
  check(s, (double[9]){2, 2, 2, 3, 3, 3, 5, 5, 5}, 1, 1, 3);
  check(s, (double[9]){0, 2, 1, 2, 0, 1, 1, 1, 1}, 1, 1, 3);
  check(s, (double[9]){0, 2, 1, 2, 0, 0x1.0000000000001p0, 0, 2, 1}, 0, 0, 3);
  check(p, p, 1, 1, 3);
  check(p, s, 1, 1, 3);
}

static void test_real_poses_by_hand(void **state) {
  (void)state;
  double a[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  graze_pose same = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}}, up = same;
  graze_tritri t;
  up.m[11] = 0x1p-1074;
  oracle_tritri_real(a, &same, a, &up, &t);
  assert_int_equal(t.kind, 0);
  /* 2^60 * 2^-600 + -2^-540 is exactly zero, and with one ulp less it is not. */
  double b[9] = {0, 0, 0x1p60, 1, 0, 0x1p60, 0, 1, 0x1p60};
  graze_pose down = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0x1p-600, -0x1p-540}};
  oracle_tritri_real(a, &same, b, &down, &t);
  assert_int_equal(t.kind, 3);
  down.m[11] = -0x1.fffffffffffffp-541;
  oracle_tritri_real(a, &same, b, &down, &t);
  assert_int_equal(t.kind, 0);
}

static void test_two_oracles_agree(void **unused) {
  (void)unused;
  uint64_t seen[4] = {0};
  for (int f = 0; f < family_count; f++) {
    uint64_t state = 77 + (uint64_t)f;
    for (int i = 0; i < (test_long() ? 200000 : 5000); i++) {
      family_pair pair;
      graze_tritri exact, fast;
      families[f].make(&state, &pair);
      if (!pair.lattice) break;
      oracle_tritri(pair.a, pair.b, &exact);
      lattice_tritri(pair.la, pair.lb, &fast);
      seen[exact.kind]++;
      if (memcmp(&exact, &fast, sizeof exact) != 0) {
        fail_msg("%s %d: exact %d %d %d, lattice %d %d %d", families[f].name, i, exact.kind, exact.coplanar,
                 exact.degenerate, fast.kind, fast.coplanar, fast.degenerate);
      }
    }
  }
  for (int k = 0; k < 4; k++) assert_true(seen[k] > 3000);
}

/* The families must hold what their names promise, or the tests on them are empty. */
static void test_families_are_rich(void **unused) {
  (void)unused;
  for (int f = 0; f < family_count; f++) {
    uint64_t state = 5 + (uint64_t)f, kinds[4] = {0}, coplanar = 0, degenerate = 0;
    for (int i = 0; i < 2000; i++) {
      family_pair pair;
      graze_tritri t;
      families[f].make(&state, &pair);
      oracle_tritri(pair.a, pair.b, &t);
      kinds[t.kind]++;
      coplanar += t.coplanar;
      degenerate += t.degenerate != 0;
    }
    print_message("%-14s none %4d point %4d segment %4d area %4d coplanar %4d degenerate %4d\n", families[f].name,
                  (int)kinds[0], (int)kinds[1], (int)kinds[2], (int)kinds[3], (int)coplanar, (int)degenerate);
    assert_true(kinds[0] < 2000 - 20);
    assert_true(strcmp(families[f].name, "coplanar") != 0 || (coplanar == 2000 && kinds[3] > 300));
    assert_true(strcmp(families[f].name, "degenerate") != 0 || (degenerate > 1400 && kinds[1] > 200));
  }
}

static void check_table(const char *name, uint64_t expected_rows) {
  char line[4096], *fields[32];
  FILE *file = test_open_data(name);
  uint64_t rows = 0;
  assert_non_null(fgets(line, sizeof line, file));
  while (fgets(line, sizeof line, file)) {
    double c[18];
    graze_tritri t;
    assert_int_equal(test_split(line, fields, 32), 24);
    for (int i = 0; i < 18; i++) c[i] = strtod(fields[1 + i], NULL);
    oracle_tritri(c, c + 9, &t);
    int degenerate = (atoi(fields[21]) < 2 ? 1 : 0) | (atoi(fields[22]) < 2 ? 2 : 0);
    /* The table gives coplanarity with a's plane only: it always has 0 where a has none. */
    bool coplanar_differs = !(degenerate & 1) && t.coplanar != atoi(fields[23]);
    if (t.kind != atoi(fields[20]) || (t.kind != 0) != atoi(fields[19]) || coplanar_differs ||
        t.degenerate != degenerate) {
      fail_msg("%s row %d (%s): %d %d %d", name, (int)rows, fields[0], t.kind, t.coplanar, t.degenerate);
    }
    rows++;
  }
  test_close_data(file, name);
  assert_int_equal(rows, expected_rows);
}

static void test_shared_pairs(void **state) {
  (void)state;
  if (!test_shared()) {
    print_message("SKIPPED: no shared data (set GRAZE_SHARED)\n");
    skip();
  }
  check_table("tritri/made_dev.csv.xz", 13329);
  check_table("tritri/shen2003_sample.csv.xz", 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_by_hand),           cmocka_unit_test(test_real_poses_by_hand),
      cmocka_unit_test(test_two_oracles_agree), cmocka_unit_test(test_families_are_rich),
      cmocka_unit_test(test_shared_pairs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
