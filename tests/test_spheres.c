/* Pairs of spheres against rationals: touching ones in plenty, an ulp more and less, at every scale; and what is
 * refused.
 */
#include <gmp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/sphere.h"
#include "families.h"
#include "support.h"

enum { N = 130 };

/* ---- the slow answer ------------------------------------------------------------------------------------------- */

/* The sign of (ra + rb)^2 - |a - b|^2 in rationals: at least 0 when the spheres meet, 0 when they touch. */
static int rational_reach(const sphere *a, const sphere *b) {
  mpq_t x, y, sum;
  mpq_inits(x, y, sum, NULL);
  mpq_set_d(x, a->radius);
  mpq_set_d(y, b->radius);
  mpq_add(x, x, y);
  mpq_mul(sum, x, x);
  for (int k = 0; k < 3; k++) {
    mpq_set_d(x, a->center[k]);
    mpq_set_d(y, b->center[k]);
    mpq_sub(x, x, y);
    mpq_mul(x, x, x);
    mpq_sub(sum, sum, x);
  }
  int sign = mpq_sgn(sum);
  mpq_clears(x, y, sum, NULL);
  return sign;
}

/* Pairs by brute force; `touching` counts those that only touch. */
static uint64_t slow_pairs(const sphere *spheres, uint32_t n, graze_box_pair *pairs, uint64_t *touching) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t j = i + 1; j < n; j++) {
      int sign = rational_reach(&spheres[i], &spheres[j]);
      if (sign >= 0) pairs[count++] = (graze_box_pair){i, j};
      *touching += sign == 0;
    }
  }
  return count;
}

/* ---- kinds of spheres -------------------------------------------------------------------------------------------- */

typedef enum sphere_kind {
  TRIPLES, /* whole numbers, among which distances are often whole: Pythagorean triples and quadruples */
  NUDGED,  /* the same with radii an ulp more or less */
  LONG,    /* the same times a number of 45 bits: what touches may not look so when squares are rounded */
  EDGES,   /* along an axis: ends that are rounded meet ends that are rounded */
  SPREAD,  /* any exponent */
  POINTS,  /* radius 0 */
  FAR,     /* sums of radii that are rounded: large centres, small radii */
  KINDS
} sphere_kind;

static sphere triple(uint64_t *random) {
  sphere b;
  for (int k = 0; k < 3; k++) b.center[k] = (double)random_below(random, 25) - 12;
  b.radius = 0.5 * random_below(random, 13);
  return b;
}

static sphere make_sphere(sphere_kind kind, uint64_t *random) {
  sphere b = triple(random);
  switch (kind) {
    case NUDGED:
      if (b.radius > 0 && random_below(random, 3) != 0) {
        b.radius = nextafter(b.radius, random_below(random, 2) != 0 ? INFINITY : 0);
      }
      break;
    case EDGES:
      b.center[0] = 1 + ldexp(random_below(random, 16), -52) - ldexp(random_below(random, 16), -53);
      b.center[1] = b.center[2] = 0;
      b.radius = ldexp(random_below(random, 32), -54);
      break;
    case SPREAD:
      for (int k = 0; k < 3; k++) b.center[k] = ldexp(random_signed(random), (int)random_below(random, 2098) - 1074);
      b.radius = ldexp(random_unit(random), (int)random_below(random, 2098) - 1074);
      break;
    case POINTS:
      for (int k = 0; k < 3; k++) b.center[k] = random_below(random, 4);
      b.radius = 0;
      break;
    case FAR:
      for (int k = 0; k < 3; k++) b.center[k] = 1e15 + 0.125 * (double)(int)random_below(random, 64);
      b.radius = random_unit(random) + 0.25;
      break;
    default:
      break;
  }
  return b;
}

/* For LONG a factor of 45 bits, for others 1. */
static double factor_for(sphere_kind kind, uint64_t *random) {
  return kind == LONG ? 0x1p44 + 2.0 * random_below(random, 1u << 30) + 1 : 1;
}

/* Scaled by a power of two, which is exact down to whole multiples of the least number, and by a factor. */
static void scale_spheres(sphere *spheres, uint32_t count, double factor, int exponent) {
  for (uint32_t i = 0; i < count; i++) {
    for (int k = 0; k < 3; k++) spheres[i].center[k] = ldexp(factor * spheres[i].center[k], exponent);
    spheres[i].radius = ldexp(factor * spheres[i].radius, exponent);
  }
}

/* As floats; what is none becomes 0. */
static void to_floats(sphere *spheres, float *floats) {
  for (uint32_t i = 0; i < N; i++) {
    double *numbers[4] = {&spheres[i].center[0], &spheres[i].center[1], &spheres[i].center[2], &spheres[i].radius};
    for (int k = 0; k < 4; k++) {
      float f = (float)*numbers[k];
      if (!isfinite(f)) f = 0;
      floats[4 * i + k] = f;
      *numbers[k] = (double)f;
    }
  }
}

/* ---- one scene, every method ----------------------------------------------------------------------------------- */

static const graze_broad_method methods[] = {GRAZE_BROAD_AUTO,   GRAZE_BROAD_BRUTE,       GRAZE_BROAD_HASH,
                                             GRAZE_BROAD_OCTREE, GRAZE_BROAD_SUBDIVISION, GRAZE_BROAD_KDTREE};
enum { METHODS = sizeof methods / sizeof *methods };

static void check(graze_broadphase *const *phases, const graze_sphere_array *array, const sphere *spheres,
                  const char *what, uint64_t *touching) {
  static graze_box_pair want[N * N / 2];
  uint64_t want_count = slow_pairs(spheres, N, want, touching), count;
  const graze_box_pair *got;
  for (int m = 0; m < METHODS; m++) {
    assert_int_equal(graze_broadphase_find_spheres(phases[m], array, N, false, &got, &count), GRAZE_OK);
    if (count != want_count || memcmp(got, want, (size_t)count * sizeof *got) != 0) {
      fail_msg("%s, method %d: %llu pairs, should be %llu", what, (int)methods[m], (unsigned long long)count,
               (unsigned long long)want_count);
    }
  }
  uint64_t hash, want_hash = 0;
  for (uint64_t i = 0; i < want_count; i++) want_hash += graze_pair_hash(want[i].a, want[i].b);
  assert_int_equal(graze_broadphase_count_spheres(phases[0], array, N, &count, &hash), GRAZE_OK);
  assert_true(count == want_count && hash == want_hash);
}

/* Spheres an equal distance apart in memory from centre to centre, the radius behind the centre. */
static void test_against_rationals(void **state) {
  (void)state;
  static sphere spheres[N];
  static float floats[4 * N];
  static const int exponents[] = {0, 500, -500, 900, -900, 1020, -1073, -538}; /* the last: squares are subnormal */
  graze_context *context = test_context(2, NULL);
  graze_broadphase *phases[METHODS];
  for (int m = 0; m < METHODS; m++) {
    graze_broadphase_def def = graze_default_broadphase_def();
    def.method = methods[m];
    assert_int_equal(graze_broadphase_create(context, &def, &phases[m]), GRAZE_OK);
  }
  uint32_t seeds = test_long() ? 60 : 2;
  for (int kind = 0; kind < KINDS; kind++) {
    uint64_t touching = 0;
    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
      for (uint32_t seed = test_thinned() ? (uint32_t)e % 2 : 0; seed < seeds; seed += test_thinned() ? 2 : 1) {
        if ((kind >= SPREAD && e > 0) || (kind == LONG && exponents[e] > 900)) continue;
        uint64_t random = 1000 * (uint64_t)kind + 100 * e + seed;
        char what[64];
        snprintf(what, sizeof what, "kind %d, 2^%d, seed %u", kind, exponents[e], seed);
        for (uint32_t i = 0; i < N; i++) spheres[i] = make_sphere((sphere_kind)kind, &random);
        scale_spheres(spheres, N, factor_for((sphere_kind)kind, &random), exponents[e]);
        graze_sphere_array array = {spheres, &spheres[0].radius, sizeof *spheres, sizeof *spheres, GRAZE_DOUBLE};
        check(phases, &array, spheres, what, &touching);
        to_floats(spheres, floats);
        array = (graze_sphere_array){floats, floats + 3, 4 * sizeof *floats, 4 * sizeof *floats, GRAZE_FLOAT};
        check(phases, &array, spheres, what, &touching);
      }
    }
    if (kind == TRIPLES || kind == LONG || kind == EDGES) assert_true(touching > 1000);
  }
  for (int m = 0; m < METHODS; m++) graze_broadphase_destroy(phases[m]);
  graze_context_destroy(context);
}

/* ---- the predicate --------------------------------------------------------------------------------------------- */

static void test_stages(void **state) {
  (void)state;
  uint32_t rounds = (uint32_t)test_rounds(10000, 200000), usable_count = 0;
  uint64_t random = 5;
  for (uint32_t i = 0; i < rounds; i++) {
    sphere_kind kind = (sphere_kind)random_below(&random, KINDS);
    sphere two[2] = {make_sphere(kind, &random), make_sphere(kind, &random)};
    scale_spheres(two, 2, factor_for(kind, &random), 0);
    bool want = rational_reach(&two[0], &two[1]) >= 0, usable;
    bool got = gz_spheres_meet_expansion(&two[0], &two[1], &usable);
    assert_true(!usable || got == want);
    assert_true(gz_spheres_meet_integer(&two[0], &two[1]) == want);
    assert_true(spheres_meet(&two[0], &two[1]) == want);
    usable_count += usable;
  }
  assert_true(usable_count > rounds / 2 && usable_count < rounds);
}

static void test_stages_by_hand(void **state) {
  (void)state;
  const sphere origin = {{0, 0, 0}, 2};
  const struct {
    sphere other;
    bool meet;
  } cases[] = {
      {{{3, 4, 0}, 3}, true},
      {{{3, 4, 0}, 0x1.7ffffffffffffp+1}, false},
      {{{3, 4, 0x1p-1074}, 3}, false},
      {{{2, 3, 6}, 5}, true},
      {{{2, 3, 0x1.8000000000001p+2}, 5}, false},
      {{{0, 0, 2}, 0}, true},
      {{{0, 0, 0x1.0000000000001p+1}, 0}, false},
      {{{0, 0, 0x1.0000000000001p+1}, 0x1p-1074}, false},
      {{{0x1.fffffffffffffp+1023, 0, 0}, 0x1.fffffffffffffp+1023}, true},
      {{{-0x1.fffffffffffffp+1023, 0, 0}, 0x1.ffffffffffffep+1023}, false},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    assert_true(spheres_meet(&origin, &cases[c].other) == cases[c].meet);
    assert_true(spheres_meet(&cases[c].other, &origin) == cases[c].meet);
  }
}

/* ---- refusals and the rest of the contract ---------------------------------------------------------------------- */

static void expect(graze_status got, graze_status want, const test_log *log, const char *words) {
  assert_int_equal(got, want);
  if (strstr(log->last, words) == NULL) fail_msg("message \"%s\" should have \"%s\"", log->last, words);
}

static void test_refusals(void **state) {
  (void)state;
  test_log log;
  graze_context *context = test_context(1, &log);
  graze_broadphase *bp;
  assert_int_equal(graze_broadphase_create(context, NULL, &bp), GRAZE_OK);
  double centers[9] = {0, 0, 0, 1, 0, 0, 9, 9, 9}, radii[3] = {1, 0, -0.0};
  graze_sphere_array array = {centers, radii, 0, 0, GRAZE_DOUBLE};
  const graze_box_pair *pairs;
  uint64_t count;
#define FIND(n) graze_broadphase_find_spheres(bp, &array, n, false, &pairs, &count)
  assert_int_equal(FIND(3), GRAZE_OK);
  assert_int_equal(count, 1);
  assert_true(pairs[0].a == 0 && pairs[0].b == 1);
  assert_int_equal(FIND(0), GRAZE_OK);
  assert_int_equal(count, 0);
  radii[1] = -0x1p-1074;
  expect(FIND(3), GRAZE_ERROR_ARGUMENT, &log, "sphere 1: radius -4.9");
  radii[1] = NAN;
  expect(FIND(3), GRAZE_ERROR_NOT_FINITE, &log, "sphere 1: radius is nan");
  radii[1] = INFINITY;
  expect(FIND(3), GRAZE_ERROR_NOT_FINITE, &log, "sphere 1: radius is inf");
  centers[5] = -INFINITY;
  expect(FIND(3), GRAZE_ERROR_NOT_FINITE, &log, "sphere 1: center z is -inf");
  centers[1] = NAN;
  expect(FIND(3), GRAZE_ERROR_NOT_FINITE, &log, "sphere 0: center y is nan");
  array.radii = NULL;
  expect(FIND(3), GRAZE_ERROR_ARGUMENT, &log, "no spheres");
  array.radii = radii;
  array.precision = (graze_precision)7;
  expect(FIND(3), GRAZE_ERROR_ARGUMENT, &log, "unknown precision 7");
#undef FIND
  graze_broadphase_destroy(bp);
  graze_context_destroy(context);
}

/* Every refusal of memory is an error, and the call after it is right. */
static void test_memory(void **state) {
  (void)state;
  static sphere spheres[N];
  uint64_t random = 8, touching = 0;
  for (uint32_t i = 0; i < N; i++) spheres[i] = make_sphere(TRIPLES, &random);
  static graze_box_pair want[N * N / 2];
  uint64_t want_count = slow_pairs(spheres, N, want, &touching);
  graze_sphere_array array = {spheres, &spheres[0].radius, sizeof *spheres, sizeof *spheres, GRAZE_DOUBLE};
  for (uint64_t fail_at = 1, done = 0; done == 0; fail_at++) {
    test_allocator allocator = {0};
    graze_context_def def = graze_default_context_def();
    def.allocator = test_allocator_hooks(&allocator);
    def.threads = 1;
    graze_context *context;
    graze_broadphase *bp;
    const graze_box_pair *got;
    uint64_t count;
    assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
    graze_broadphase_def bdef = graze_default_broadphase_def();
    bdef.method = GRAZE_BROAD_HASH;
    assert_int_equal(graze_broadphase_create(context, &bdef, &bp), GRAZE_OK);
    allocator.fail_at = allocator.requests + fail_at;
    graze_status status = graze_broadphase_find_spheres(bp, &array, N, false, &got, &count);
    done = allocator.requests < allocator.fail_at;
    assert_int_equal(status, done != 0 ? GRAZE_OK : GRAZE_ERROR_MEMORY);
    allocator.fail_at = 0;
    for (int again = 0; again < 3; again++) {
      uint64_t requests = allocator.requests;
      assert_int_equal(graze_broadphase_find_spheres(bp, &array, N, false, &got, &count), GRAZE_OK);
      assert_int_equal(count, want_count);
      assert_memory_equal(got, want, (size_t)count * sizeof *got);
      if (again == 2) assert_int_equal(allocator.requests, requests); /* nothing is asked for any more */
    }
    graze_broadphase_destroy(bp);
    graze_context_destroy(context);
    assert_int_equal(allocator.live_blocks, 0);
  }
}

/* A million spheres, about five neighbours each: two methods that have nothing in common, one and three threads. */
static void test_million(void **state) {
  (void)state;
  const uint32_t spheres = (uint32_t)test_rounds(1000000, 1000000);
  const graze_broad_method two[2] = {GRAZE_BROAD_HASH, GRAZE_BROAD_OCTREE};
  float *numbers = malloc(4 * (size_t)spheres * sizeof *numbers);
  graze_box_pair *first = NULL;
  uint64_t first_count = 0, random = 6;
  for (size_t i = 0; i < spheres; i++) {
    for (int k = 0; k < 3; k++) numbers[4 * i + k] = (float)(94 * random_unit(&random));
    numbers[4 * i + 3] = 0.5f;
  }
  graze_sphere_array array = {numbers, numbers + 3, 4 * sizeof *numbers, 4 * sizeof *numbers, GRAZE_FLOAT};
  for (int m = 0; m < 2; m++) {
    graze_context *context = test_context(m == 0 ? 1 : 3, NULL);
    graze_broadphase_def def = graze_default_broadphase_def();
    def.method = two[m];
    graze_broadphase *bp;
    const graze_box_pair *pairs;
    uint64_t count;
    assert_int_equal(graze_broadphase_create(context, &def, &bp), GRAZE_OK);
    assert_int_equal(graze_broadphase_find_spheres(bp, &array, spheres, false, &pairs, &count), GRAZE_OK);
    if (m == 0) {
      /* Each of n (n - 1) / 2 pairs meets when a point is in a sphere of radius 1; less a little at the walls. */
      double expected = 0.5 * spheres * (spheres / (94.0 * 94 * 94)) * 4.18879;
      assert_true(fabs((double)count / expected - 1) < 0.02);
      first = malloc((size_t)count * sizeof *first);
      memcpy(first, pairs, (size_t)count * sizeof *first);
      first_count = count;
    } else {
      assert_int_equal(count, first_count);
      assert_memory_equal(pairs, first, (size_t)count * sizeof *first);
    }
    graze_broadphase_destroy(bp);
    graze_context_destroy(context);
  }
  free(first);
  free(numbers);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stages_by_hand), cmocka_unit_test(test_stages), cmocka_unit_test(test_against_rationals),
      cmocka_unit_test(test_refusals),       cmocka_unit_test(test_memory), cmocka_unit_test(test_million),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
