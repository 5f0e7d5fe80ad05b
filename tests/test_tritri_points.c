/* graze_tritri_intersection against exact rational corners: how many there are, their order, and that each coordinate
 * is the true one rounded once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "oracle.h"
#include "support.h"

static mpq_t given, next, middle;

/* The double nearest to the exact value, of two nearest ones the one whose last bit is 0: the middle between it and its
 * neighbours on either side is not passed. */
static bool is_nearest(double value, const mpq_t exact) {
  if (!isfinite(value)) return false;
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const bool is_even = (bits & 1) == 0;
  mpq_set_d(given, value);
  for (int side = 0; side < 2; side++) {
    const double neighbour = nextafter(value, side ? INFINITY : -INFINITY);
    if (isinf(neighbour)) continue;
    mpq_set_d(next, neighbour);
    mpq_add(middle, given, next);
    mpq_div_2exp(middle, middle, 1);
    const int order = side ? mpq_cmp(exact, middle) : mpq_cmp(middle, exact);
    if (order > 0 || (order == 0 && !is_even)) return false;
  }
  return true;
}

static bool point_close(const double point[3], mpq_t exact[3]) {
  return is_nearest(point[0], exact[0]) && is_nearest(point[1], exact[1]) && is_nearest(point[2], exact[2]);
}

/* The same corners in the same cyclic order, forwards or backwards, from any start. */
static bool polygons_match(const graze_intersection *got, oracle_corners *want) {
  uint32_t n = want->count;
  if (got->count != n) return false;
  for (uint32_t start = 0; start < n; start++) {
    for (int direction = 0; direction < 2; direction++) {
      uint32_t i = 0;
      while (i < n && point_close(got->points[i], want->point[(start + (direction ? n - i : i)) % n])) i++;
      if (i == n) return true;
    }
  }
  return n == 0;
}

static void report(const char *name, const family_pair *pair, const graze_intersection *got, oracle_corners *want) {
  print_error("%s: got %u corners, want %u, for", name, got->count, want->count);
  for (int i = 0; i < 18; i++) print_error(" %a", i < 9 ? pair->a[i] : pair->b[i - 9]);
  print_error("\n");
  for (uint32_t i = 0; i < got->count && i < 6; i++) {
    print_error("  got  %a %a %a\n", got->points[i][0], got->points[i][1], got->points[i][2]);
  }
  for (uint32_t i = 0; i < want->count; i++) {
    print_error("  want %a %a %a\n", mpq_get_d(want->point[i][0]), mpq_get_d(want->point[i][1]),
                mpq_get_d(want->point[i][2]));
  }
  fail();
}

static void test_families(void **unused) {
  (void)unused;
  oracle_corners want;
  uint64_t by_count[8] = {0};
  oracle_corners_init(&want);
  for (int f = 0; f < family_count; f++) {
    uint64_t state = 500 + (uint64_t)f;
    for (int i = 0; i < (test_long() ? 300000 : 4000); i++) {
      family_pair pair;
      graze_tritri summary;
      graze_intersection got;
      families[f].make(&state, &pair);
      oracle_intersection(pair.a, pair.b, &summary, &want);
      memset(&got, 0xEE, sizeof got);
      assert_int_equal(graze_tritri_intersection(pair.a, pair.b, &got), GRAZE_OK);
      assert_memory_equal(&got.summary, &summary, sizeof summary);
      if (!polygons_match(&got, &want)) report(families[f].name, &pair, &got, &want);
      by_count[want.count]++;
    }
  }
  oracle_corners_clear(&want);
  for (int n = 0; n <= 6; n++) assert_true(by_count[n] > 0);
}

/* Random coplanar pairs in a common plane, where all the polygons from triangle to hexagon appear. */
static void test_polygons(void **unused) {
  (void)unused;
  oracle_corners want;
  uint64_t state = 31, by_count[8] = {0};
  oracle_corners_init(&want);
  for (int i = 0; i < 20000; i++) {
    family_pair pair = {.lattice = false};
    graze_tritri summary;
    graze_intersection got;
    int axis = (int)random_below(&state, 3);
    double scale = ldexp(1, (int)random_below(&state, 600) - 300);
    for (int k = 0; k < 9; k++) {
      pair.a[k] = k % 3 == axis ? scale / 3 : scale * random_signed(&state);
      pair.b[k] = k % 3 == axis ? scale / 3 : scale * random_signed(&state);
    }
    oracle_intersection(pair.a, pair.b, &summary, &want);
    assert_int_equal(graze_tritri_intersection(pair.a, pair.b, &got), GRAZE_OK);
    if (!polygons_match(&got, &want)) report("polygon", &pair, &got, &want);
    by_count[want.count]++;
  }
  oracle_corners_clear(&want);
  for (int n = 3; n <= 6; n++) assert_true(by_count[n] > 100);
}

static void test_not_finite(void **unused) {
  (void)unused;
  for (int i = 0; i < 18; i++) {
    double c[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0};
    graze_intersection got = {.count = 77};
    c[i] = i & 1 ? NAN : INFINITY;
    assert_int_equal(graze_tritri_intersection(c, c + 9, &got), GRAZE_ERROR_NOT_FINITE);
    assert_int_equal(got.count, 77);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_families),
      cmocka_unit_test(test_polygons),
      cmocka_unit_test(test_not_finite),
  };
  mpq_inits(given, next, middle, NULL);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  mpq_clears(given, next, middle, NULL);
  return failed;
}
