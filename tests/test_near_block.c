/* The bounds of blocks of triangle pairs: never wrong, by the proved oracle on all families; close together where
 * doubles can tell; the same bytes in every lane and on every instruction set. */
#include <math.h>
#include <string.h>

#include "distance_oracle.h"
#include "exact/near.h"
#include "families.h"
#include "support.h"

enum { COUNT = 61 };

static tritri_block block;
static double lower[TRITRI_BLOCK], upper[TRITRI_BLOCK], place[TRITRI_BLOCK], rough[2][TRITRI_BLOCK];

static void put(unsigned at, const double a[9], const double b[9]) {
  for (int k = 0; k < 9; k++) {
    block.a[k][at] = a[k];
    block.b[k][at] = b[k];
  }
}

static void get(unsigned at, double a[9], double b[9]) {
  for (int k = 0; k < 9; k++) {
    a[k] = block.a[k][at];
    b[k] = block.b[k][at];
  }
}

/* Up to the next multiple of 8 some numbers must stand. */
static void fill_up(unsigned count) {
  double a[9], b[9];
  get(0, a, b);
  for (unsigned i = count; i < TRITRI_BLOCK; i++) put(i, a, b);
}

static bool is_between(const oracle_distance *d, double low, double high) {
  return oracle_distance_compare(d, low) >= 0 && (isinf(high) || oracle_distance_compare(d, high) <= 0);
}

static void check_bounds(const char *name) {
  oracle_distance want;
  oracle_distance_init(&want);
  gz_near_block_best()(&block, COUNT, lower, upper, place);
  CPU_KERNEL(gz_near_rough)(&block, COUNT, rough[0], rough[1]);
  for (unsigned i = 0; i < COUNT; i++) {
    double a[9], b[9];
    get(i, a, b);
    oracle_distance_find(a, NULL, b, NULL, &want);
    if (!is_between(&want, lower[i], upper[i])) fail_msg("%s: %a to %a", name, lower[i], upper[i]);
    if (!is_between(&want, rough[0][i], rough[1][i])) fail_msg("%s: rough %a to %a", name, rough[0][i], rough[1][i]);
  }
  oracle_distance_clear(&want);
}

static void test_families(void **unused) {
  (void)unused;
  for (int f = 0; f < family_count; f++) {
    uint64_t state = test_seed(600 + (uint64_t)f);
    for (int round = 0; round < test_rounds(2, 200); round++) {
      for (unsigned i = 0; i < COUNT; i++) {
        family_pair pair;
        families[f].make(&state, &pair);
        double shift = round % 2 == 0 ? 0 : ldexp(1, (int)random_below(&state, 20) - 10);
        for (int k = 0; k < 9; k += 1 + (int)random_below(&state, 3)) pair.b[k] += shift;
        put(i, pair.a, pair.b);
      }
      fill_up(COUNT);
      check_bounds(families[f].name);
    }
  }
}

/* Triangles of the size of their distance: the bounds agree to nine digits. */
static void test_close(void **unused) {
  (void)unused;
  uint64_t state = test_seed(700);
  int loose = 0, rounds = test_rounds(20, 1000);
  for (int round = 0; round < rounds; round++) {
    for (unsigned i = 0; i < COUNT; i++) {
      double a[9], b[9];
      for (int k = 0; k < 9; k++) {
        a[k] = random_signed(&state);
        b[k] = random_signed(&state) + (k % 3 == 0 ? 3 : 0);
      }
      put(i, a, b);
    }
    fill_up(COUNT);
    check_bounds("random");
    for (unsigned i = 0; i < COUNT; i++) loose += !(upper[i] - lower[i] < 1e-9 * upper[i]);
  }
  assert_true(loose <= rounds / 10);
}

/* With twice the digits: what is said to be beyond a number is, also half a unit beside the rounded distance; of
 * generic pairs, those that are the same triangle twice among them, nearly all can be told not to round to less. */
static void check_beyond(unsigned i, uint64_t *told, uint64_t *asked) {
  double a[9], b[9];
  near_pair pair;
  oracle_distance want;
  get(i, a, b);
  gz_near_start(&pair, a, NULL, b, NULL);
  double d = gz_near_distance(&pair), above = nextafter(d, (double)INFINITY), below = nextafter(d, 0);
  if (d == 0 || isinf(d)) return;
  oracle_distance_init(&want);
  oracle_distance_find(a, NULL, b, NULL, &want);
  const double limits[4] = {below, d, above, 2 * d};
  for (int k = 0; k < 4 && isfinite(limits[k]); k++) {
    if (gz_near_beyond(&pair, limits[k], 0)) assert_true(oracle_distance_compare(&want, limits[k]) > 0);
  }
  assert_false(gz_near_beyond(&pair, d, 0.5 * (above - d)));
  oracle_distance_clear(&want);
  *told += gz_near_beyond(&pair, d, 0.5 * (below - d));
  ++*asked;
}

static void test_beyond(void **unused) {
  (void)unused;
  uint64_t state = test_seed(750), told = 0, asked = 0, any = 0;
  for (int round = 0; round < test_rounds(6, 400); round++) {
    for (unsigned i = 0; i < COUNT; i++) {
      double a[9], b[9], shift[3] = {random_signed(&state), random_signed(&state), 2};
      for (int k = 0; k < 9; k++) {
        a[k] = random_signed(&state);
        b[k] = i % 2 == 0 ? a[k] + shift[k % 3] : random_signed(&state) + shift[k % 3];
      }
      put(i, a, b);
      check_beyond(i, &told, &asked);
      family_pair pair;
      families[i % (unsigned)family_count].make(&state, &pair);
      for (int k = 0; k < 9; k += 3) pair.b[k] += round % 2 * 4;
      put(i, pair.a, pair.b);
      check_beyond(i, &any, &any);
    }
  }
  assert_true(10 * told > 9 * asked);
}

/* Any count, and in any lane. */
static void test_lanes(void **unused) {
  (void)unused;
  uint64_t state = test_seed(800);
  double first[TRITRI_BLOCK], second[TRITRI_BLOCK], scalar[2][TRITRI_BLOCK];
  for (unsigned i = 0; i < TRITRI_BLOCK; i++) {
    family_pair pair;
    families[i % (unsigned)family_count].make(&state, &pair);
    put(i, pair.a, pair.b);
  }
  gz_near_block_best()(&block, TRITRI_BLOCK, first, second, place);
  gz_near_block_scalar(&block, TRITRI_BLOCK, scalar[0], scalar[1], place);
  assert_memory_equal(first, scalar[0], sizeof first);
  assert_memory_equal(second, scalar[1], sizeof second);
  CPU_KERNEL(gz_near_rough)(&block, TRITRI_BLOCK, rough[0], rough[1]);
  gz_near_rough_scalar(&block, TRITRI_BLOCK, scalar[0], scalar[1]);
  assert_memory_equal(rough, scalar, sizeof rough);
  for (unsigned i = 0; i < TRITRI_BLOCK; i++) {
    double a[9], b[9];
    get(i, a, b);
    for (unsigned at = 0; at < 8; at++) put(at, a, b);
    for (unsigned count = 1; count <= 8; count++) {
      gz_near_block_best()(&block, count, lower, upper, place);
      for (unsigned at = 0; at < count; at++) assert_true(lower[at] == first[i] && upper[at] == second[i]);
    }
    if (i < 8) i = 7; /* those were written over */
  }
}

/* Decisions want no more than the rough bounds of nearly all pairs of small triangles. */
static void test_outside(void **unused) {
  (void)unused;
  uint64_t state = test_seed(801);
  const double limit = 0.5;
  unsigned left = 0;
  enum { ROUNDS = 100 };
  for (int round = 0; round < ROUNDS; round++) {
    for (unsigned i = 0; i < TRITRI_BLOCK; i++) {
      double middle[6], a[9], b[9];
      for (int k = 0; k < 6; k++) middle[k] = 0.5 * random_signed(&state);
      for (int k = 0; k < 9; k++) {
        a[k] = middle[k % 3] + 0.05 * random_signed(&state);
        b[k] = middle[3 + k % 3] + 0.05 * random_signed(&state);
      }
      put(i, a, b);
    }
    const unsigned count = 1 + random_below(&state, TRITRI_BLOCK);
    double first[TRITRI_BLOCK], second[TRITRI_BLOCK];
    gz_near_block_best()(&block, TRITRI_BLOCK, first, second, place);
    CPU_KERNEL(gz_near_rough)(&block, TRITRI_BLOCK, rough[0], rough[1]);
    gz_near_block_outside(&block, count, limit, limit, lower, upper);
    for (unsigned i = 0; i < count; i++) {
      const bool is_rough = rough[1][i] < limit || rough[0][i] >= limit;
      left += !is_rough;
      assert_true(lower[i] == (is_rough ? rough[0][i] : first[i]) && upper[i] == (is_rough ? rough[1][i] : second[i]));
    }
  }
  assert_true(left > 0 && left < ROUNDS * TRITRI_BLOCK / 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_families), cmocka_unit_test(test_close),   cmocka_unit_test(test_beyond),
      cmocka_unit_test(test_lanes),    cmocka_unit_test(test_outside),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
