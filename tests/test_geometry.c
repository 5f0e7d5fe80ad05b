/* Boxes, and the box of a posed box: checked with rationals against points of the box at the exact pose and at the pose
 * rounded as math.h specifies. */
#include <math.h>
#include <string.h>

#include "families.h"
#include "oracle.h"
#include "support.h"

/* A double of any exponent in [-range, range], sometimes zero, with few or many digits. */
static double any_double(uint64_t *state, int range) {
  uint64_t bits = random_next(state);
  if (bits % 16 == 0) return 0;
  double digits = bits & 16 ? (double)(int64_t)random_next(state) * 0x1p-63 : (double)(int64_t)(bits >> 60) - 8;
  return ldexp(digits, (int)random_below(state, (uint32_t)(2 * range + 1)) - range);
}

/* `point` at the exact pose, row `row`, is it in [low, high]? */
static bool image_is_within(const graze_pose *pose, int row, const double point[3], double low, double high) {
  mpq_t sum, x, y;
  mpq_inits(sum, x, y, NULL);
  mpq_set_d(sum, pose->m[4 * row + 3]);
  for (int k = 0; k < 3; k++) {
    mpq_set_d(x, pose->m[4 * row + k]);
    mpq_set_d(y, point[k]);
    mpq_mul(x, x, y);
    mpq_add(sum, sum, x);
  }
  mpq_set_d(x, low);
  mpq_set_d(y, high);
  bool within = mpq_cmp(x, sum) <= 0 && mpq_cmp(sum, y) <= 0;
  mpq_clears(sum, x, y, NULL);
  return within;
}

static bool is_finite(const graze_box *box) {
  for (int k = 0; k < 3; k++) {
    if (!isfinite(box->min[k]) || !isfinite(box->max[k])) return false;
  }
  return true;
}

/* How far the box reaches beyond the smallest one that holds the exact images of its corners, at most. */
static void check_slack(const graze_pose *pose, const graze_box *box, const graze_box *out) {
  for (int r = 0; r < 3; r++) {
    const double *m = pose->m + 4 * r;
    long double low = m[3], high = m[3], size = fabsl((long double)m[3]);
    for (int k = 0; k < 3; k++) {
      long double x = (long double)m[k] * box->min[k], y = (long double)m[k] * box->max[k];
      low += fminl(x, y);
      high += fmaxl(x, y);
      size += fmaxl(fabsl(x), fabsl(y));
    }
    long double allowed = 0x1p-47L * size + 0x1p-1050L;
    assert_true(low - out->min[r] <= allowed && out->max[r] - high <= allowed);
  }
}

static void test_pose_box(void **unused) {
  (void)unused;
  static const int ranges[] = {0, 2, 30, 300, 500, 1000};
  uint64_t state = 4;
  uint32_t finite = 0, posed = 0;
  for (uint32_t i = 0; i < 4000; i++) {
    graze_pose pose;
    graze_box box;
    int range = ranges[i % 6], turns = ranges[random_below(&state, 6)];
    for (int k = 0; k < 12; k++) pose.m[k] = any_double(&state, k % 4 == 3 ? range : turns);
    for (int k = 0; k < 3; k++) {
      double a = any_double(&state, range), b = any_double(&state, range);
      box.min[k] = fmin(a, b);
      box.max[k] = fmax(a, b);
    }
    graze_box out = graze_pose_box(&pose, &box);
    if (!is_finite(&out)) continue;
    finite++;
    check_slack(&pose, &box, &out);
    for (uint32_t j = 0; j < 12; j++) { /* the corners, then points within */
      double point[3], rounded[3];
      for (int k = 0; k < 3; k++) {
        point[k] = j < 8 ? (j >> k & 1 ? box.max[k] : box.min[k])
                         : fmin(fmax(any_double(&state, range), box.min[k]), box.max[k]);
      }
      oracle_pose_point(&pose, point, rounded);
      for (int r = 0; r < 3; r++) {
        assert_true(image_is_within(&pose, r, point, out.min[r], out.max[r]));
        assert_true(out.min[r] <= rounded[r] && rounded[r] <= out.max[r]);
        posed++;
      }
    }
  }
  assert_true(finite > 2000);
  assert_int_equal(posed, finite * 36);
}

static void test_overflow(void **unused) {
  (void)unused;
  graze_pose pose = graze_pose_identity();
  pose.m[0] = 0x1p1000;
  const graze_box box = {{-0x1p1000, 0, 0}, {0x1p1000, 1, 1}};
  graze_box out = graze_pose_box(&pose, &box);
  assert_false(isfinite(out.min[0]) || isfinite(out.max[0]));
}

static void test_empty(void **unused) {
  (void)unused;
  graze_box all = graze_box_empty(), flat = {{0, 0, 0}, {1, 1, 0}}, inverted = {{0, 2, 0}, {1, 1, 1}};
  const double point[3] = {1, 2, 3};
  assert_true(graze_box_is_empty(&all) && graze_box_is_empty(&inverted) && !graze_box_is_empty(&flat));
  assert_false(graze_boxes_meet(&all, &flat));
  assert_true(graze_box_contains(&flat, &all) && !graze_box_contains(&all, &flat));
  graze_pose pose = graze_pose_identity();
  pose.m[3] = 5;
  graze_box out = graze_pose_box(&pose, &all);
  assert_true(graze_box_is_empty(&out));
  graze_box_add_box(&all, &flat);
  assert_memory_equal(&all, &flat, sizeof all);
  out = graze_box_empty();
  graze_box_add_box(&all, &out);
  assert_memory_equal(&all, &flat, sizeof all);
  out = graze_box_empty();
  graze_box_add_point(&out, point);
  assert_true(!graze_box_is_empty(&out) && memcmp(out.min, point, sizeof point) == 0 &&
              memcmp(out.max, point, sizeof point) == 0);
}

/* On a lattice of intervals: boxes that share a face, an edge or a corner meet. */
static void test_meet(void **unused) {
  (void)unused;
  uint64_t state = 9;
  uint32_t met = 0, held = 0;
  for (uint32_t i = 0; i < 20000; i++) {
    graze_box a, b;
    bool meet = true, holds = true;
    for (int k = 0; k < 3; k++) {
      a.min[k] = random_below(&state, 5);
      a.max[k] = a.min[k] + random_below(&state, 4);
      b.min[k] = random_below(&state, 5);
      b.max[k] = b.min[k] + random_below(&state, 3);
      bool common = false, all = true;
      for (int x = 0; x < 10; x++) {
        bool in_a = a.min[k] <= x && x <= a.max[k], in_b = b.min[k] <= x && x <= b.max[k];
        common |= in_a && in_b;
        all &= in_a || !in_b;
      }
      meet &= common;
      holds &= all;
    }
    assert_int_equal(graze_boxes_meet(&a, &b), meet);
    assert_int_equal(graze_boxes_meet(&b, &a), meet);
    assert_int_equal(graze_box_contains(&a, &b), holds);
    met += meet;
    held += holds;
  }
  assert_true(met > 1000 && met < 19000 && held > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pose_box), cmocka_unit_test(test_overflow),
                                     cmocka_unit_test(test_empty), cmocka_unit_test(test_meet)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
