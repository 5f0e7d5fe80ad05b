/* Pairs of triangles one by one on a device: the words of the processor for every family, and how few are left to it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device_group.h"
#include "families.h"
#include "gpu/stages.h"

/* Pairs as columns. */
typedef struct columns {
  uint32_t count;
  double *data, *a[9], *b[9];
  graze_tritri *want, *got;
} columns;

static columns make_columns(uint32_t count) {
  columns c = {.count = count, .data = malloc(18 * (size_t)count * sizeof(double))};
  for (size_t k = 0; k < 9; k++) {
    c.a[k] = c.data + k * count;
    c.b[k] = c.data + (9 + k) * count;
  }
  c.want = calloc(count, sizeof *c.want);
  c.got = calloc(count, sizeof *c.got);
  return c;
}

static void free_columns(columns *c) {
  free(c->data);
  free(c->want);
  free(c->got);
}

/* Both decide; returns how many pairs the device left to the processor. */
static uint32_t compare(columns *c, const char *what) {
  const double *const *a = (const double *const *)c->a, *const *b = (const double *const *)c->b;
  assert_int_equal(graze_tritri_batch(on.plain, c->count, a, b, c->want), GRAZE_OK);
  assert_int_equal(graze_tritri_batch(on.context, c->count, a, b, c->got), GRAZE_OK);
  assert_true(test_was_on_device(1));
  for (uint32_t i = 0; i < c->count; i++) {
    if (memcmp(&c->want[i], &c->got[i], sizeof c->want[i]) == 0) continue;
    print_error("%s, pair %u: kind %d coplanar %d degenerate %d, on the device %d %d %d\n", what, i, c->want[i].kind,
                c->want[i].coplanar, c->want[i].degenerate, c->got[i].kind, c->got[i].coplanar, c->got[i].degenerate);
    fail();
  }
  return on.gpu->stages->tritri.decide.answer_read[COUNT_LEFT];
}

static void test_families(void **state) {
  (void)state;
  need_device();
  columns c = make_columns(test_device_slow() ? 60 : test_device_large() ? 20000 : 2000);
  for (int f = 0; f < family_count; f++) {
    uint64_t random = test_seed((uint64_t)f);
    for (uint32_t i = 0; i < c.count; i++) {
      family_pair pair;
      families[f].make(&random, &pair);
      for (int k = 0; k < 9; k++) {
        c.a[k][i] = pair.a[k];
        c.b[k][i] = pair.b[k];
      }
    }
    uint32_t left = compare(&c, families[f].name);
    printf("%-24s %5.1f %% left to the processor\n", families[f].name, 100.0 * left / c.count);
  }
  free_columns(&c);
}

/* Small whole numbers, in single precision, at any power of two that leaves room: nothing is left. */
static void test_few_digits(void **state) {
  (void)state;
  need_device();
  static const double units[] = {1, 0x1p-90, 0x1p-20, 0x1p40, 0x1p300};
  columns c = make_columns(test_device_slow() ? 60 : test_device_large() ? 20000 : 2000);
  double *corners = malloc(18 * (size_t)c.count * sizeof *corners);
  for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
    for (uint32_t side = 2; side <= 1u << 20; side = side < 8 ? side + 1 : side * 16) {
      uint64_t random = test_seed(side);
      soup_lattice(&random, 2 * c.count, side, corners);
      for (uint32_t i = 0; i < c.count; i++) {
        for (int k = 0; k < 9; k++) {
          c.a[k][i] = units[u] * corners[9 * (size_t)i + (size_t)k];
          c.b[k][i] = units[u] * corners[9 * (size_t)(c.count + i) + (size_t)k];
        }
      }
      assert_int_equal(compare(&c, "lattice"), 0);
    }
  }
  free(corners);
  free_columns(&c);
}

/* Several blocks, bad numbers, a device that fails. */
static void test_blocks_and_faults(void **state) {
  (void)state;
  need_device();
  columns c = make_columns(test_device_slow() ? 100 : (1u << 20) + 77);
  uint64_t random = test_seed(5);
  for (size_t k = 0; k < 18 * (size_t)c.count; k++) c.data[k] = random_signed(&random);
  compare(&c, "random");
  const double *const *a = (const double *const *)c.a, *const *b = (const double *const *)c.b;
  on.gpu->lost = true;
  assert_int_equal(graze_tritri_batch(on.context, 50, a, b, c.got), GRAZE_OK);
  assert_false(test_was_on_device(1));
  assert_memory_equal(c.want, c.got, 50 * sizeof *c.want);
  on.gpu->lost = on.gpu->told_lost = false;
  c.b[4][33] = INFINITY;
  assert_int_equal(graze_tritri_batch(on.context, c.count, a, b, c.got), GRAZE_ERROR_NOT_FINITE);
  assert_non_null(strstr(on.messages.last, "triangle pair 33"));
  assert_int_equal(graze_tritri_batch(on.context, 0, NULL, NULL, NULL), GRAZE_OK);
  assert_int_equal(graze_tritri_batch(on.context, 1, a, b, NULL), GRAZE_ERROR_ARGUMENT);
  free_columns(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_families), cmocka_unit_test(test_few_digits),
                                     cmocka_unit_test(test_blocks_and_faults)};
  return cmocka_run_group_tests(tests, test_device_open, test_device_close);
}
