/* AUTO: what it picks is what the boxes and their motion speak for, and it says so. What it measures depends on the
 * machine, so only what is settled before anything was measured is looked at here. */
#include <stdlib.h>
#include <string.h>

#include "boxes.h"
#include "families.h"
#include "support.h"

static void expect_find(graze_broadphase *bp, box_family kind, uint32_t n, graze_broad_method want, const char *words) {
  uint64_t random = 11, count;
  graze_box *boxes = malloc(n * sizeof *boxes);
  const graze_box_pair *pairs;
  boxes_make(kind, &random, n, boxes);
  graze_box_array array = {boxes, 0, GRAZE_DOUBLE};
  assert_int_equal(graze_broadphase_find(bp, &array, n, false, &pairs, &count), GRAZE_OK);
  graze_broad_report report = graze_broadphase_report(bp);
  if (report.method != want || strstr(report.reason, words) == NULL) {
    fail_msg("%u boxes, %s: \"%s\"", n, box_family_name(kind), report.reason);
  }
  free(boxes);
}

/* Boxes of one size in a cube of this side: many to a cell, if that is small. */
static void expect_heap(graze_broadphase *bp, double side, const graze_box *one, graze_broad_method want,
                        const char *words) {
  enum { N = 5000 };
  static graze_box boxes[N];
  uint64_t random = 12, count;
  const graze_box_pair *pairs;
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < 3; k++) {
      double at = 0.5 * side * random_signed(&random);
      boxes[i].min[k] = at + one->min[(k + i) % 3];
      boxes[i].max[k] = at + one->max[(k + i) % 3];
    }
  }
  graze_box_array array = {boxes, 0, GRAZE_DOUBLE};
  assert_int_equal(graze_broadphase_find(bp, &array, N, false, &pairs, &count), GRAZE_OK);
  graze_broad_report report = graze_broadphase_report(bp);
  if (report.method != want || strstr(report.reason, words) == NULL) fail_msg("side %g: \"%s\"", side, report.reason);
}

/* How many a box meets, were all as large as the largest edge, says whether cells are full: of cubes and of sticks. */
static void test_heaps(void **state) {
  (void)state;
  static const graze_box cube = {{0, 0, 0}, {1, 1, 1}}, stick = {{0, 0, 0}, {4, 0.5, 0.5}};
  graze_context *context = test_context(1, NULL);
  graze_broadphase *bp = NULL;
  assert_int_equal(graze_broadphase_create(context, NULL, &bp), GRAZE_OK);
  expect_heap(bp, 20, &cube, GRAZE_BROAD_GRID, "5000 boxes, sizes"); /* meets 5 */
  expect_heap(bp, 10, &cube, GRAZE_BROAD_SWEEP, "5000 boxes crowded");
  expect_heap(bp, 20, &stick, GRAZE_BROAD_SWEEP, "5000 boxes crowded");
  expect_heap(bp, 2, &cube, GRAZE_BROAD_BRUTE, "5000 boxes in one cluster");
  graze_broadphase_destroy(bp);
  graze_context_destroy(context);
}

static void test_once(void **state) {
  (void)state;
  graze_context *context = test_context(1, NULL);
  graze_broadphase *bp = NULL;
  assert_int_equal(graze_broadphase_create(context, NULL, &bp), GRAZE_OK);
  expect_find(bp, BOXES_UNIFORM, 0, GRAZE_BROAD_BRUTE, "0 boxes: brute");
  expect_find(bp, BOXES_UNIFORM, 100, GRAZE_BROAD_BRUTE, "100 boxes: brute");
  bool avx2 = strcmp(graze_instruction_set(), "avx2") == 0; /* where the grid is ahead sooner */
  expect_find(bp, BOXES_UNIFORM, 1900, GRAZE_BROAD_SWEEP, "1900 boxes, sizes 1 : 1: sweep");
  expect_find(bp, BOXES_UNIFORM, 2500, avx2 ? GRAZE_BROAD_GRID : GRAZE_BROAD_SWEEP, "2500 boxes, sizes 1 : 1: ");
  expect_find(bp, BOXES_UNIFORM, 20000, GRAZE_BROAD_GRID, "20000 boxes, sizes 1 : 1: ");
  expect_find(bp, BOXES_CLUSTERS, 20000, GRAZE_BROAD_GRID, "sizes 1 : 1");
  expect_find(bp, BOXES_DECADES, 20000, GRAZE_BROAD_SWEEP, ": sweep");
  expect_find(bp, BOXES_LINE, 20000, GRAZE_BROAD_SWEEP, "20000 boxes");
  expect_find(bp, BOXES_STACKED, 2000, GRAZE_BROAD_BRUTE, "2000 boxes in one cluster");
  graze_broadphase_destroy(bp);
  graze_context_destroy(context);
}

/* When few boxes move for a while, a method takes over whose updates cost what was edited. */
static void test_resting(void **state) {
  (void)state;
  enum { N = 3000 };
  static graze_box boxes[N];
  static graze_proxy_id ids[N];
  graze_context *context = test_context(1, NULL);
  graze_broadphase *bp = NULL;
  graze_broad_events e;
  uint64_t random = 5;
  assert_int_equal(graze_broadphase_create(context, NULL, &bp), GRAZE_OK);
  boxes_make(BOXES_UNIFORM, &random, N, boxes);
  assert_int_equal(graze_broadphase_add(bp, &(graze_box_array){boxes, 0, GRAZE_DOUBLE}, N, NULL, NULL, ids), GRAZE_OK);
  assert_int_equal(graze_broadphase_update(bp, &e), GRAZE_OK);
  assert_false(graze_broad_method_describe(graze_broadphase_report(bp).method)->incremental &&
               graze_broadphase_report(bp).method == GRAZE_BROAD_TREE);
  for (int step = 0; step < 30; step++) {
    for (int i = 0; i < 10; i++) {
      uint32_t k = random_below(&random, N);
      boxes[k].min[0] -= 0.01;
      assert_int_equal(graze_broadphase_move(bp, &ids[k], &(graze_box_array){&boxes[k], 0, GRAZE_DOUBLE}, 1), GRAZE_OK);
    }
    assert_int_equal(graze_broadphase_update(bp, &e), GRAZE_OK);
  }
  graze_broad_report report = graze_broadphase_report(bp);
  assert_true(graze_broad_method_describe(report.method)->incremental);
  assert_non_null(strstr(report.reason, "% edited"));
  const graze_box_pair *pairs;
  uint64_t count, want_count;
  assert_int_equal(graze_broadphase_pairs(bp, &pairs, &count), GRAZE_OK);
  graze_box_pair *want = boxes_pairs(boxes, N, NULL, NULL, &want_count);
  assert_true(count == want_count && memcmp(pairs, want, count * sizeof *want) == 0);
  free(want);
  graze_broadphase_destroy(bp);
  graze_context_destroy(context);
}

static void test_table(void **state) {
  (void)state;
  for (graze_broad_method m = GRAZE_BROAD_AUTO; m < GRAZE_BROAD_METHODS; m++) {
    const graze_broad_method_info *info = graze_broad_method_describe(m);
    graze_broad_method found;
    assert_non_null(info);
    assert_true(strlen(info->summary) > 8 && strlen(info->complexity) > 3);
    assert_true(graze_broad_method_named(info->name, &found) && found == m);
  }
  graze_broad_method none;
  assert_false(graze_broad_method_named("guess", &none));
  assert_null(graze_broad_method_describe(GRAZE_BROAD_METHODS));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_once),
                                     cmocka_unit_test(test_heaps), cmocka_unit_test(test_resting)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
