/* Octree, kd-tree and BSP where trees go wrong: boxes that no plane parts, boxes that shrink without end towards a
 * point, and boxes along a diagonal. Answers are known without looking at pairs; memory must stay bounded. */
#include <math.h>
#include <stdlib.h>

#include "families.h"
#include "support.h"

static const graze_broad_method trees[] = {GRAZE_BROAD_OCTREE, GRAZE_BROAD_KDTREE, GRAZE_BROAD_BSP};
enum { TREES = sizeof trees / sizeof *trees, N = 2000 };

/* Finds the pairs with every tree; checks their number, that each is once there, and the memory beside them. */
static void check_count(const graze_box *boxes, uint32_t n, uint64_t want, bool (*is_pair)(uint32_t a, uint32_t b)) {
  graze_context *context = test_context(1, NULL);
  for (int t = 0; t < TREES; t++) {
    graze_broadphase_def def = graze_default_broadphase_def();
    def.method = trees[t];
    graze_broadphase *bp;
    const graze_box_pair *pairs;
    uint64_t count;
    assert_int_equal(graze_broadphase_create(context, &def, &bp), GRAZE_OK);
    assert_int_equal(graze_broadphase_find(bp, &(graze_box_array){boxes, 0, GRAZE_DOUBLE}, n, true, &pairs, &count),
                     GRAZE_OK);
    assert_true(graze_broadphase_report(bp).bytes < 3 * count * sizeof *pairs / 2 + 400 * (uint64_t)n + 100000);
    assert_int_equal(graze_broadphase_find(bp, &(graze_box_array){boxes, 0, GRAZE_DOUBLE}, n, false, &pairs, &count),
                     GRAZE_OK);
    assert_int_equal(count, want);
    for (uint64_t i = 0; i < count; i++) {
      assert_true(is_pair(pairs[i].a, pairs[i].b));
      if (i > 0) assert_true(pairs[i - 1].a < pairs[i].a || pairs[i - 1].b < pairs[i].b);
    }
    graze_broadphase_destroy(bp);
  }
  graze_context_destroy(context);
}

static bool any_two(uint32_t a, uint32_t b) {
  return a != b;
}

static bool neighbours(uint32_t a, uint32_t b) {
  return b == a + 1;
}

static void test_equal_boxes(void **state) {
  (void)state;
  static graze_box boxes[N];
  for (int i = 0; i < N; i++) boxes[i] = (graze_box){{1, 2, 3}, {1.5, 2.5, 3.5}};
  check_count(boxes, N, (uint64_t)N * (N - 1) / 2, any_two);
  for (int i = 0; i < N; i++) boxes[i] = (graze_box){{1, 2, 3}, {1, 2, 3}};
  check_count(boxes, N, (uint64_t)N * (N - 1) / 2, any_two);
}

/* Each box half of the one before, all with a corner in common; then each beginning where the next one ends, so that
 * only neighbours meet. A tree that went on until boxes are apart would be a thousand nodes deep. */
static void test_shrinking_boxes(void **state) {
  (void)state;
  enum { SHRINKING = 1000 };
  static graze_box boxes[SHRINKING];
  for (int i = 0; i < SHRINKING; i++) {
    double edge = ldexp(1, -i);
    boxes[i] = (graze_box){{0, 0, 0}, {edge, edge, edge}};
  }
  check_count(boxes, SHRINKING, (uint64_t)SHRINKING * (SHRINKING - 1) / 2, any_two);
  for (int i = 0; i < SHRINKING; i++) {
    double edge = ldexp(1, -i);
    boxes[i] = (graze_box){{edge, edge, edge}, {2 * edge, 2 * edge, 2 * edge}};
  }
  check_count(boxes, SHRINKING, SHRINKING - 1, neighbours);
}

/* Boxes in a row along each diagonal that touch at their corners, far from the origin, so that sums of coordinates are
 * rounded. */
static void test_diagonal_rows(void **state) {
  (void)state;
  static graze_box boxes[N];
  for (int signs = 0; signs < 4; signs++) {
    for (int i = 0; i < N; i++) {
      for (int k = 0; k < 3; k++) {
        bool down = k > 0 && (signs >> (k - 1) & 1) != 0;
        double at = 1 + ldexp(down ? N - 1 - i : i, -52); /* every double from 1 on */
        boxes[i].min[k] = at;
        boxes[i].max[k] = at + 0x1p-52;
      }
    }
    check_count(boxes, N, N - 1, neighbours);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_equal_boxes), cmocka_unit_test(test_shrinking_boxes),
                                     cmocka_unit_test(test_diagonal_rows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
