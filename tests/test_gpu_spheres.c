/* Pairs of spheres from a device: the same bytes as the processor's, for spheres that touch, of radii of all kinds, at
 * the ends of the range, in floats and doubles, with strides; counted without a list; bad spheres refused in the
 * processor's words; what the device cannot do is done all the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "broad/pairs.h"
#include "device_group.h"
#include "exact/sphere.h"
#include "families.h"
#include "gpu/stages.h"

/* ---- kinds of spheres -------------------------------------------------------------------------------------------- */

typedef enum sphere_kind {
  TRIPLES, /* whole numbers, among which distances are often whole: Pythagorean triples and quadruples */
  EQUAL,   /* the same with one radius */
  NUDGED,  /* radii an ulp more or less */
  LONG,    /* TRIPLES times a number of 45 bits: what touches may not look so when squares are rounded */
  SPREAD,  /* any exponent */
  POINTS,  /* radius 0, many at one place */
  FAR,     /* large centres, small radii */
  GAS,     /* like radii, about two neighbours each */
  DECADES, /* radii log-uniform over 10^4 : 1 */
  GIANT,   /* one around all among dust */
  HEAPS,   /* dense heaps far apart */
  KINDS
} sphere_kind;

static void make_spheres(sphere_kind kind, uint64_t random, uint32_t n, sphere *spheres) {
  double side = cbrt(n), factor = 0x1p44 + 2.0 * random_below(&random, 1u << 30) + 1;
  for (uint32_t i = 0; i < n; i++) {
    sphere *b = &spheres[i];
    for (int k = 0; k < 3; k++) b->center[k] = floor((2 * side + 4) * random_unit(&random)) - floor(side);
    b->radius = kind == EQUAL ? 1.5 : 0.5 * random_below(&random, 5);
    if (kind == NUDGED && b->radius > 0) b->radius = nextafter(b->radius, random_below(&random, 2) != 0 ? 9 : 0);
    for (int k = 0; k < 3 && kind == LONG; k++) b->center[k] *= factor;
    if (kind == LONG) b->radius *= factor;
    for (int k = 0; k < 3 && kind == SPREAD; k++) {
      b->center[k] = ldexp(random_signed(&random), (int)random_below(&random, 2098) - 1074);
    }
    if (kind == SPREAD) b->radius = ldexp(random_unit(&random), (int)random_below(&random, 2098) - 1074);
    if (kind == POINTS) b->radius = 0;
    for (int k = 0; k < 3 && kind == FAR; k++) b->center[k] = 1e15 + 0.125 * b->center[k];
    if (kind == FAR) b->radius = 0.25 * random_unit(&random);
    for (int k = 0; k < 3 && kind >= GAS; k++) b->center[k] = 1.6 * side * random_unit(&random);
    if (kind == GAS) b->radius = 0.5 + 0.4 * random_unit(&random);
    if (kind == DECADES) b->radius = pow(10, -4 * random_unit(&random));
    if (kind == GIANT) b->radius = i == n / 2 ? 2 * side : 0.3;
    for (int k = 0; k < 3 && kind == HEAPS; k++) b->center[k] = 0.3 * b->center[k] + (i % 3) * 1e4 * side;
    if (kind == HEAPS) b->radius = 0.1;
  }
}

/* ---- one scene ------------------------------------------------------------------------------------------------- */

static int compare_pairs(const void *p, const void *q) {
  const graze_box_pair *x = p, *y = q;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  return (x->b > y->b) - (x->b < y->b);
}

static void check(const graze_sphere_array *spheres, uint32_t n, const char *what) {
  const graze_box_pair *want, *got;
  uint64_t want_count, got_count, hash, want_hash = 0;
  assert_int_equal(graze_broadphase_find_spheres(on.plain_phase, spheres, n, false, &want, &want_count), GRAZE_OK);
  assert_int_equal(graze_broadphase_find_spheres(on.phases[0], spheres, n, false, &got, &got_count), GRAZE_OK);
  assert_true(test_was_on_device(1));
  if (got_count != want_count || (want_count > 0 && memcmp(got, want, want_count * sizeof *want) != 0)) {
    fail_msg("%u spheres, %s: %llu pairs, not %llu, or others", n, what, (unsigned long long)got_count,
             (unsigned long long)want_count);
  }
  for (uint64_t i = 0; i < want_count; i++) want_hash += graze_pair_hash(want[i].a, want[i].b);
  assert_int_equal(graze_broadphase_count_spheres(on.phases[0], spheres, n, &got_count, &hash), GRAZE_OK);
  assert_true(test_was_on_device(1));
  assert_true(got_count == want_count && hash == want_hash);
  if (want_count == 0 || test_device_slow()) return;
  assert_int_equal(graze_broadphase_find_spheres(on.phases[0], spheres, n, true, &got, &got_count), GRAZE_OK);
  assert_true(test_was_on_device(1) && got_count == want_count);
  graze_box_pair *copy = malloc(want_count * sizeof *copy);
  memcpy(copy, got, want_count * sizeof *copy);
  qsort(copy, want_count, sizeof *copy, compare_pairs);
  assert_memory_equal(copy, want, want_count * sizeof *copy);
  free(copy);
}

static float float_of(double x) {
  return isfinite((float)x) ? (float)x : 0;
}

/* Doubles side by side in one array, and floats in two. What is no float becomes 0. */
static void check_both(const sphere *spheres, uint32_t n, const char *what) {
  check(&(graze_sphere_array){spheres, &spheres->radius, sizeof *spheres, sizeof *spheres, GRAZE_DOUBLE}, n, what);
  float *numbers = malloc((4 * (size_t)n + 1) * sizeof *numbers), *radii = numbers + 3 * (size_t)n;
  for (uint32_t i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) numbers[3 * (size_t)i + k] = float_of(spheres[i].center[k]);
    radii[i] = float_of(spheres[i].radius);
  }
  check(&(graze_sphere_array){numbers, radii, 0, 0, GRAZE_FLOAT}, n, what);
  free(numbers);
}

static bool device_had_doubts(void) {
  uint32_t doubt;
  assert_int_equal(gz_gpu_read(on.gpu, &doubt, &on.gpu->stages->spheres.doubt, 0, sizeof doubt), GRAZE_OK);
  return doubt != 0;
}

static void test_kinds(void **state) {
  (void)state;
  need_device();
  static const uint32_t sizes[] = {0, 1, 2, 3, 60, 1000, 20000};
  const size_t size_count = test_device_slow() ? 5 : sizeof sizes / sizeof *sizes;
  sphere *spheres = malloc(20000 * sizeof *spheres);
  for (uint32_t kind = test_device_first(); kind < KINDS; kind += test_device_stride()) {
    for (size_t s = test_device_slow() ? 4 : 0; s < size_count; s++) {
      if (sizes[s] > 1000 && kind != GAS && kind != DECADES && !test_device_large()) continue;
      bool crowd = kind == SPREAD || kind == FAR; /* all meet, those of FAR as floats */
      uint32_t n = crowd && sizes[s] > 1000 ? 1000 : sizes[s];
      char what[32];
      snprintf(what, sizeof what, "kind %u", kind);
      make_spheres((sphere_kind)kind, test_seed(100 * kind + s), n, spheres);
      check_both(spheres, n, what);
    }
  }
  free(spheres);
}

/* Whole numbers are certain on the device, though spheres touch; products of 45 bits are not, and the processor has to
 * decide. */
static void test_doubts(void **state) {
  (void)state;
  need_device();
  if (!on.gpu->info.exact) skip();
  enum { N = 400 };
  static sphere spheres[N];
  const uint32_t n = test_device_slow() ? 60 : N;
  make_spheres(TRIPLES, 1, n, spheres);
  check(&(graze_sphere_array){spheres, &spheres->radius, sizeof *spheres, sizeof *spheres, GRAZE_DOUBLE}, n, "TRIPLES");
  assert_false(device_had_doubts());
  make_spheres(LONG, 2, n, spheres);
  check(&(graze_sphere_array){spheres, &spheres->radius, sizeof *spheres, sizeof *spheres, GRAZE_DOUBLE}, n, "LONG");
  assert_true(device_had_doubts());
}

static void test_ends(void **state) {
  (void)state;
  need_device();
  static const int exponents[] = {500, -500, 900, -900, 1017, -1073, -538, -149, -130, 120};
  enum { N = 300 };
  static sphere spheres[N];
  const uint32_t n = test_device_slow() ? 30 : N;
  for (size_t e = test_device_first(); e < sizeof exponents / sizeof *exponents; e += test_device_stride()) {
    for (int kind = test_device_slow() ? NUDGED : TRIPLES; kind <= NUDGED; kind++) {
      make_spheres((sphere_kind)kind, test_seed(7 * e), n, spheres);
      for (uint32_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) spheres[i].center[k] = ldexp(spheres[i].center[k], exponents[e]);
        spheres[i].radius = ldexp(spheres[i].radius, exponents[e]);
      }
      check_both(spheres, n, "at the ends of the range");
    }
  }
}

/* ---- refusals -------------------------------------------------------------------------------------------------- */

static void expect_same_words(const graze_sphere_array *spheres, uint32_t n) {
  const graze_box_pair *pairs;
  uint64_t count, hash;
  on.plain_messages.last[0] = on.messages.last[0] = 0;
  graze_status want = graze_broadphase_find_spheres(on.plain_phase, spheres, n, false, &pairs, &count);
  assert_int_not_equal(want, GRAZE_OK);
  assert_int_equal(graze_broadphase_find_spheres(on.phases[0], spheres, n, false, &pairs, &count), want);
  assert_string_equal(on.messages.last, on.plain_messages.last);
  on.messages.last[0] = 0;
  assert_int_equal(graze_broadphase_count_spheres(on.phases[0], spheres, n, &count, &hash), want);
  assert_string_equal(on.messages.last, on.plain_messages.last);
  assert_false(test_was_on_device(2));
}

static void test_bad_spheres(void **state) {
  (void)state;
  need_device();
  enum { N = 5000 };
  sphere *spheres = malloc(N * sizeof *spheres);
  make_spheres(GAS, 3, N, spheres);
  graze_sphere_array array = {spheres, &spheres->radius, sizeof *spheres, sizeof *spheres, GRAZE_DOUBLE};
  bool exact = on.gpu->info.exact;
  for (int fault = 0; fault < 12; fault++) {
    sphere kept = spheres[4321];
    on.gpu->info.exact = exact && fault < 6;
    if (fault % 6 == 0) spheres[4321].center[1] = NAN;
    if (fault % 6 == 1) spheres[4321].center[2] = -(double)INFINITY;
    if (fault % 6 == 2) spheres[4321].radius = -0x1p-1074;
    if (fault % 6 == 3) spheres[4321].radius = (double)INFINITY;
    if (fault % 6 == 4) spheres[4321].radius = -(double)NAN;
    if (fault % 6 == 5) spheres[4321].center[0] = (double)INFINITY;
    expect_same_words(&array, N);
    spheres[4321] = kept;
  }
  on.gpu->info.exact = exact;
  array.precision = (graze_precision)7;
  expect_same_words(&array, N);
  array.precision = GRAZE_DOUBLE;
  array.radii = NULL;
  expect_same_words(&array, N);
  expect_same_words(NULL, N);
  array.radii = &spheres->radius;
  spheres[7].radius = -0.0; /* is no fault */
  check(&array, test_device_slow() ? 50 : N, "after bad ones");
  free(spheres);
}

/* A device that is lost, or has no doubles: the processor answers. One that is not exact is asked for boxes. */
static void test_without_device(void **state) {
  (void)state;
  need_device();
  enum { N = 300 };
  static sphere spheres[N];
  const uint32_t n = test_device_slow() ? 50 : N;
  const graze_sphere_array array = {spheres, &spheres->radius, sizeof *spheres, sizeof *spheres, GRAZE_DOUBLE};
  const graze_box_pair *pairs, *want;
  uint64_t count, want_count, hash;
  make_spheres(TRIPLES, 4, n, spheres);
  assert_int_equal(graze_broadphase_find_spheres(on.plain_phase, &array, n, false, &want, &want_count), GRAZE_OK);
  for (int fault = 0; fault < 2; fault++) {
    on.gpu->lost = fault == 0;
    on.gpu->info.doubles = fault == 0;
    assert_int_equal(graze_broadphase_find_spheres(on.phases[0], &array, n, false, &pairs, &count), GRAZE_OK);
    assert_false(test_was_on_device(1) || graze_gpu_get_report(on.gpu).on_device);
    assert_string_equal(graze_gpu_get_report(on.gpu).reason,
                        fault == 0 ? "the device was lost" : "the device has no doubles");
    assert_true(count == want_count && memcmp(pairs, want, count * sizeof *want) == 0);
    assert_int_equal(graze_broadphase_count_spheres(on.phases[0], &array, n, &count, &hash), GRAZE_OK);
    assert_true(count == want_count && hash == pairs_hash(want, want_count));
  }
  on.gpu->lost = on.gpu->told_lost = false;
  on.gpu->info.doubles = true;
  bool exact = on.gpu->info.exact;
  on.gpu->info.exact = false;
  check_both(spheres, n, "a device that is not exact");
  make_spheres(DECADES, 5, n, spheres);
  check_both(spheres, n, "a device that is not exact");
  assert_int_equal(graze_broadphase_find_spheres(on.phases[GRAZE_BROAD_TREE], &array, n, false, &pairs, &count),
                   GRAZE_OK);
  assert_false(test_was_on_device(1)); /* spheres have a grid only */
  on.gpu->info.exact = exact;
}

static void test_large(void **state) {
  (void)state;
  need_device();
  if (!test_device_large()) skip();
  enum { N = 200000 };
  sphere *spheres = malloc(N * sizeof *spheres);
  for (int kind = GAS; kind <= DECADES; kind++) {
    make_spheres((sphere_kind)kind, 6, N, spheres);
    check_both(spheres, N, "many");
  }
  free(spheres);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds),          cmocka_unit_test(test_doubts),
                                     cmocka_unit_test(test_ends),           cmocka_unit_test(test_bad_spheres),
                                     cmocka_unit_test(test_without_device), cmocka_unit_test(test_large)};
  return cmocka_run_group_tests(tests, test_device_open, test_device_close);
}
