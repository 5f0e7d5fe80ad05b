/* Triangle pairs, one by one and in batches, against the exact oracles on every family of hard pairs.
 *
 * A run decides 10^6 pairs (10^8 with GRAZE_TEST_LONG=1) in batches and checks each answer; a part of them is also
 * given to the scalar function, with arguments swapped and with corners permuted. Families of integers go to the fast
 * oracle, the others to GMP.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "oracle.h"
#include "support.h"

enum { chunk = 1003 }; /* odd, so that the last vector of a batch is never full */

typedef struct batch {
  double columns[2][9][chunk];
  family_pair pairs[chunk];
  graze_tritri want[chunk];
  graze_tritri got[chunk + 1];
} batch;

static const char *describe(const double a[9], const double b[9], const graze_tritri *t) {
  static char text[1024];
  int n = snprintf(text, sizeof text, "kind %d coplanar %d degenerate %d for", t->kind, t->coplanar, t->degenerate);
  for (int i = 0; i < 18; i++) n += snprintf(text + n, sizeof text - (size_t)n, " %a", i < 9 ? a[i] : b[i - 9]);
  return text;
}

static void assert_same(const char *name, const graze_tritri *got, const graze_tritri *want, const double a[9],
                        const double b[9]) {
  if (memcmp(got, want, sizeof *got) == 0) return;
  print_error("%s: got %s\n", name, describe(a, b, got));
  fail_msg("%s: want %s", name, describe(a, b, want));
}

static void fill_with(batch *data, const family *from, uint64_t *state, bool gmp) {
  for (int i = 0; i < chunk; i++) {
    family_pair *pair = &data->pairs[i];
    from->make(state, pair);
    if (pair->lattice && !gmp) {
      lattice_tritri(pair->la, pair->lb, &data->want[i]);
    } else {
      oracle_tritri(pair->a, pair->b, &data->want[i]);
    }
    for (int k = 0; k < 9; k++) {
      data->columns[0][k][i] = pair->a[k];
      data->columns[1][k][i] = pair->b[k];
    }
  }
}

static void fill(batch *data, const family *from, uint64_t *state) {
  fill_with(data, from, state, false);
}

static void columns_of(const batch *data, int side, size_t from, const double *out[9]) {
  for (int k = 0; k < 9; k++) out[k] = data->columns[side][k] + from;
}

static void run_batch(graze_context *context, batch *data, size_t from, size_t count) {
  const double *a[9], *b[9];
  columns_of(data, 0, from, a);
  columns_of(data, 1, from, b);
  assert_int_equal(graze_tritri_batch(context, count, a, b, data->got), GRAZE_OK);
}

static void swap_bits(graze_tritri *t) {
  t->degenerate = (uint8_t)((t->degenerate >> 1 & 1) | (t->degenerate << 1 & 2));
}

static void permute(const double in[9], int permutation, double out[9]) {
  static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  for (int i = 0; i < 3; i++) memcpy(out + 3 * i, in + 3 * orders[permutation][i], 3 * sizeof *out);
}

/* One pair in the 72 ways of writing it down. */
static void check_all_ways(const char *name, const family_pair *pair, const graze_tritri *want) {
  for (int way = 0; way < 36; way++) {
    double a[9], b[9];
    graze_tritri t, swapped = *want;
    permute(pair->a, way % 6, a);
    permute(pair->b, way / 6, b);
    assert_int_equal(graze_tritri_test(a, b, &t), GRAZE_OK);
    assert_same(name, &t, want, a, b);
    swap_bits(&swapped);
    assert_int_equal(graze_tritri_test(b, a, &t), GRAZE_OK);
    assert_same(name, &t, &swapped, b, a);
  }
}

static void check_scalar(const char *name, const batch *data) {
  for (int i = 0; i < chunk; i += 3) {
    graze_tritri t;
    assert_int_equal(graze_tritri_test(data->pairs[i].a, data->pairs[i].b, &t), GRAZE_OK);
    assert_same(name, &t, &data->want[i], data->pairs[i].a, data->pairs[i].b);
  }
}

/* The share of a family: those with the fast oracle get more. */
static int rounds_of(const family *f) {
  family_pair pair;
  uint64_t state = 1;
  f->make(&state, &pair);
  const int rounds = pair.lattice ? 11 : 6;
  return test_rounds(rounds, 500 * rounds);
}

static void test_families(void **unused) {
  (void)unused;
  graze_context *context = test_context(1, NULL);
  batch *data = malloc(sizeof *data);
  assert_non_null(data);
  uint64_t total = 0;
  for (int f = 0; f < family_count; f++) {
    uint64_t state = test_seed(1000 + (uint64_t)f);
    int rounds = rounds_of(&families[f]);
    for (int round = 0; round < rounds; round++) {
      fill(data, &families[f], &state);
      memset(data->got, 0xEE, sizeof data->got);
      run_batch(context, data, 0, chunk);
      for (int i = 0; i < chunk; i++) {
        assert_same(families[f].name, &data->got[i], &data->want[i], data->pairs[i].a, data->pairs[i].b);
      }
      assert_int_equal(data->got[chunk].kind, 0xEE); /* nothing is written past the end */
      if (round % 4 == 0) check_scalar(families[f].name, data);
      if (round % 8 == 0) {
        for (int i = 0; i < chunk; i += 20) check_all_ways(families[f].name, &data->pairs[i], &data->want[i]);
      }
      total += chunk;
    }
  }
  print_message("%llu pairs, instruction set %s\n", (unsigned long long)total, graze_instruction_set());
  assert_true(total >= (uint64_t)test_rounds(200000, 1000000));
  free(data);
  graze_context_destroy(context);
}

/* Zero-area triangles and wide grids in batches, which the SIMD code decides by rules of its own, against GMP. */
static void test_rules_of_the_lanes(void **unused) {
  (void)unused;
  static const char *const names[] = {"thin_thin", "thin_flat", "thin_through", "degenerate",
                                      "wide",      "coplanar",  "flush",        "level"};
  graze_context *context = test_context(1, NULL);
  batch *data = malloc(sizeof *data);
  assert_non_null(data);
  uint64_t total = 0;
  for (int f = 0; f < family_count; f++) {
    bool chosen = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
      chosen = chosen || strcmp(families[f].name, names[i]) == 0;
    if (!chosen) continue;
    uint64_t state = test_seed(5000 + (uint64_t)f);
    for (int round = 0, rounds = test_rounds(40, 20000); round < rounds; round++) {
      fill_with(data, &families[f], &state, true);
      run_batch(context, data, 0, chunk);
      for (int i = 0; i < chunk; i++) {
        assert_same(families[f].name, &data->got[i], &data->want[i], data->pairs[i].a, data->pairs[i].b);
      }
      total += chunk;
    }
  }
  print_message("%llu pairs, instruction set %s\n", (unsigned long long)total, graze_instruction_set());
  assert_true(total >= (uint64_t)test_rounds(200000, 1000000));
  free(data);
  graze_context_destroy(context);
}

/* Families mixed within one vector: lanes must not disturb each other. Every length and start around the width. */
static void test_mixed_lanes(void **unused) {
  (void)unused;
  graze_context *context = test_context(1, NULL);
  batch *data = malloc(sizeof *data), *one = malloc(sizeof *one);
  assert_true(data && one);
  uint64_t state = 99;
  for (int f = 0; f < family_count; f++) {
    fill(one, &families[f], &state);
    for (int i = f; i < chunk; i += family_count) {
      data->pairs[i] = one->pairs[i];
      data->want[i] = one->want[i];
      for (int k = 0; k < 9; k++) {
        data->columns[0][k][i] = one->columns[0][k][i];
        data->columns[1][k][i] = one->columns[1][k][i];
      }
    }
  }
  for (size_t count = 0; count <= 70; count++) {
    for (size_t from = 0; from < 9; from++) {
      memset(data->got, 0xEE, sizeof data->got);
      run_batch(context, data, from, count);
      for (size_t i = 0; i < count; i++) {
        assert_same("mixed", &data->got[i], &data->want[from + i], data->pairs[from + i].a, data->pairs[from + i].b);
      }
      assert_int_equal(data->got[count].kind, 0xEE);
    }
  }
  free(data);
  free(one);
  graze_context_destroy(context);
}

/* A batch large enough to be shared out gives the same bytes for any number of threads. */
static void test_threads(void **unused) {
  (void)unused;
  enum { most = 100003 };
  const int count = test_thinned() ? most / 4 : most, step = test_thinned() ? 2 : 1;
  double *numbers = malloc(18 * (size_t)most * sizeof *numbers);
  graze_tritri *one = malloc(most * sizeof *one), *many = malloc(most * sizeof *many);
  assert_true(numbers && one && many);
  const double *a[9], *b[9];
  uint64_t state = 4;
  for (int k = 0; k < 9; k++) {
    a[k] = numbers + (size_t)k * count;
    b[k] = numbers + (size_t)(9 + k) * count;
  }
  for (int i = 0; i < count; i++) {
    family_pair pair;
    families[random_below(&state, (uint32_t)family_count)].make(&state, &pair);
    for (size_t k = 0; k < 9; k++) {
      numbers[k * count + (size_t)i] = pair.a[k];
      numbers[(9 + k) * count + (size_t)i] = pair.b[k];
    }
  }
  for (int threads = 1; threads <= 5; threads += step) {
    graze_context *context = test_context(threads, NULL);
    assert_int_equal(graze_tritri_batch(context, count, a, b, threads == 1 ? one : many), GRAZE_OK);
    if (threads > 1) assert_memory_equal(one, many, count * sizeof *one);
    graze_context_destroy(context);
  }
  free(numbers);
  free(one);
  free(many);
}

static void test_not_finite_scalar(void **unused) {
  (void)unused;
  const double bad[3] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 18 * 3; i++) {
    double c[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 100, 100, 100, 101, 100, 100, 100, 101, 100};
    graze_tritri t = {7, 7, 7};
    c[i % 18] = bad[i / 18];
    assert_int_equal(graze_tritri_test(c, c + 9, &t), GRAZE_ERROR_NOT_FINITE);
    assert_int_equal(t.kind, 7);
  }
}

/* Any place in the batch, and the first of two is the one that is named. */
static void test_not_finite_batch(void **unused) {
  (void)unused;
  test_log log;
  graze_context *context = test_context(2, &log);
  batch *data = malloc(sizeof *data);
  assert_non_null(data);
  uint64_t state = 3;
  for (int i = 0; i < 200; i++) {
    fill(data, &families[i % 3 == 0 ? 18 : 16],
         &state); /* flush ones too, whose coordinates on an axis may not count */
    uint32_t at = random_below(&state, chunk), later = at + random_below(&state, chunk - at);
    data->columns[1][random_below(&state, 9)][later] = -INFINITY;
    data->columns[i & 1][random_below(&state, 9)][at] = i & 2 ? NAN : INFINITY;
    const double *a[9], *b[9];
    columns_of(data, 0, 0, a);
    columns_of(data, 1, 0, b);
    log = (test_log){0};
    assert_int_equal(graze_tritri_batch(context, chunk, a, b, data->got), GRAZE_ERROR_NOT_FINITE);
    char number[32];
    snprintf(number, sizeof number, " %u", at);
    const char *found = strstr(log.last, number);
    if (!found || (found[strlen(number)] >= '0' && found[strlen(number)] <= '9')) {
      fail_msg("\"%s\" does not name pair %u", log.last, at);
    }
  }
  free(data);
  graze_context_destroy(context);
}

static void test_null_arguments(void **unused) {
  (void)unused;
  graze_context *context = test_context(1, NULL);
  double zero[9] = {0};
  const double *columns[9], *gap[9];
  graze_tritri t;
  for (int k = 0; k < 9; k++) columns[k] = gap[k] = zero;
  gap[4] = NULL;
  assert_int_equal(graze_tritri_batch(NULL, 1, columns, columns, &t), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_tritri_batch(context, 1, NULL, columns, &t), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_tritri_batch(context, 1, columns, NULL, &t), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_tritri_batch(context, 1, columns, gap, &t), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_tritri_batch(context, 1, columns, columns, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_tritri_batch(context, 0, columns, columns, &t), GRAZE_OK);
  graze_context_destroy(context);
}

/* Two triangles that share an edge, and a segment through a point of it that is not representable as such: at least
 * one of the two must be hit, and by the oracle exactly those that are. */
static void test_no_crack(void **unused) {
  (void)unused;
  uint64_t state = test_seed(21);
  for (int i = 0; i < (test_long() ? 20000 : 4000); i++) {
    double p[3], q[3], left[9], right[9], needle[9];
    for (int k = 0; k < 3; k++) {
      p[k] = random_signed(&state);
      q[k] = random_signed(&state);
    }
    double t = random_unit(&state);
    for (int k = 0; k < 3; k++) {
      double on = p[k] + t * (q[k] - p[k]), d = random_signed(&state);
      left[k] = right[3 + k] = p[k];
      left[3 + k] = right[k] = q[k];
      left[6 + k] = on + 2 * (k == 0);
      right[6 + k] = on - 2 * (k == 0);
      needle[k] = on + d * 1e-3;
      needle[3 + k] = on - d * 1e-3;
      needle[6 + k] = needle[3 + k];
    }
    graze_tritri got[2], want[2];
    assert_int_equal(graze_tritri_test(left, needle, &got[0]), GRAZE_OK);
    assert_int_equal(graze_tritri_test(right, needle, &got[1]), GRAZE_OK);
    oracle_tritri(left, needle, &want[0]);
    oracle_tritri(right, needle, &want[1]);
    assert_same("left", &got[0], &want[0], left, needle);
    assert_same("right", &got[1], &want[1], right, needle);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_families),          cmocka_unit_test(test_rules_of_the_lanes),
      cmocka_unit_test(test_mixed_lanes),       cmocka_unit_test(test_threads),
      cmocka_unit_test(test_not_finite_scalar), cmocka_unit_test(test_not_finite_batch),
      cmocka_unit_test(test_null_arguments),    cmocka_unit_test(test_no_crack),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
