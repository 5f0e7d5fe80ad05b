/* Pairs of boxes from a device: the same bytes as the processor's, by every method, for boxes of every kind, in floats
 * and doubles, with strides; bad boxes refused in the processor's words; what the device cannot do is done all the
 * same. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boxes.h"
#include "device_group.h"
#include "families.h"
#include "gpu/device.h"

static int pair_order(const void *p, const void *q) {
  const graze_box_pair *x = p, *y = q;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  return (x->b > y->b) - (x->b < y->b);
}

static void check_method(graze_broad_method method, const graze_box_array *boxes, uint32_t n,
                         const graze_box_pair *want, uint64_t want_count, const char *what) {
  const graze_box_pair *got;
  uint64_t got_count;
  assert_int_equal(graze_broadphase_find(on.phases[method], boxes, n, false, &got, &got_count), GRAZE_OK);
  assert_true(test_was_on_device(1) && graze_broadphase_report(on.phases[method]).by_engine);
  if (got_count != want_count || (want_count > 0 && memcmp(got, want, want_count * sizeof *want) != 0)) {
    fail_msg("method %d, %u boxes, %s: %llu pairs, not %llu, or others", (int)method, n, what,
             (unsigned long long)got_count, (unsigned long long)want_count);
  }
  if (test_device_slow()) return;
  assert_int_equal(graze_broadphase_find(on.phases[method], boxes, n, true, &got, &got_count), GRAZE_OK);
  assert_true(test_was_on_device(1) && got_count == want_count);
  if (want_count == 0) return;
  graze_box_pair *copy = malloc(want_count * sizeof *copy);
  memcpy(copy, got, want_count * sizeof *copy);
  qsort(copy, want_count, sizeof *copy, pair_order);
  assert_memory_equal(copy, want, want_count * sizeof *copy);
  free(copy);
}

static void check(const graze_box_array *boxes, uint32_t n, const char *what) {
  const graze_box_pair *want;
  uint64_t want_count;
  assert_int_equal(graze_broadphase_find(on.plain_phase, boxes, n, false, &want, &want_count), GRAZE_OK);
  check_method(GRAZE_BROAD_AUTO, boxes, n, want, want_count, what);
  check_method(GRAZE_BROAD_SUBDIVISION, boxes, n, want, want_count, what);
  check_method(GRAZE_BROAD_TREE, boxes, n, want, want_count, what);
}

/* The nearest floats, every box with a gap behind it. */
typedef struct gapped {
  float box[6];
  float gap[3];
} gapped;

static void check_both(const graze_box *boxes, uint32_t n, const char *what) {
  check(&(graze_box_array){boxes, 0, GRAZE_DOUBLE}, n, what);
  gapped *rounded = malloc((n + 1) * sizeof *rounded);
  for (uint32_t i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) {
      rounded[i].box[k] = (float)fmax(-FLT_MAX, fmin(FLT_MAX, boxes[i].min[k]));
      rounded[i].box[k + 3] = (float)fmax(-FLT_MAX, fmin(FLT_MAX, boxes[i].max[k]));
    }
  }
  check(&(graze_box_array){rounded, sizeof *rounded, GRAZE_FLOAT}, n, what);
  free(rounded);
}

static void test_families(void **state) {
  (void)state;
  need_device();
  static const uint32_t sizes[] = {0, 1, 2, 3, 50, 600, 2500};
  const size_t size_count = sizeof sizes / sizeof *sizes - (test_device_slow() ? 2 : test_device_large() ? 0 : 1);
  const uint32_t first = test_device_first();
  for (box_family kind = first; kind < BOXES_FAMILIES; kind += test_device_stride()) {
    for (size_t s = kind == first ? 0 : 4; s < size_count; s++) { /* few boxes are of no kind */
      uint32_t n = kind == BOXES_STACKED && sizes[s] > 1000 ? 1000 : sizes[s];
      uint64_t random = test_seed(100 * (uint64_t)kind + s);
      graze_box *boxes = malloc((n + 1) * sizeof *boxes);
      boxes_make(kind, &random, n, boxes);
      check_both(boxes, n, box_family_name(kind));
      free(boxes);
    }
  }
}

/* Numbers that differ in the last bit, subnormal ones, both zeros, the ends of the range. */
static void test_ends(void **state) {
  (void)state;
  need_device();
  static const double scales[] = {1, 0x1p-1074, 0x1p-1060, 0x1p-149, 0x1p-126, 0x1p120, 0x1p124, 0x1p900, 0x1p1018};
  graze_box boxes[400];
  const uint32_t n = test_device_slow() ? 40 : 400;
  uint64_t random = test_seed(9);
  for (size_t s = test_device_first(); s < sizeof scales / sizeof *scales; s += test_device_stride()) {
    for (uint32_t i = 0; i < n; i++) {
      for (int k = 0; k < 3; k++) {
        double low = ((double)random_below(&random, 24) - 12) * scales[s], edge = random_below(&random, 4) * scales[s];
        boxes[i].min[k] = low == 0 && i % 2 == 0 ? -0.0 : low;
        boxes[i].max[k] = low + edge == 0 && i % 3 == 0 ? -0.0 : low + edge;
        if (i % 5 == 0 && boxes[i].max[k] > 0) boxes[i].max[k] = nextafter(boxes[i].max[k], 0);
        if (boxes[i].max[k] < boxes[i].min[k]) boxes[i].max[k] = boxes[i].min[k];
      }
    }
    check_both(boxes, n, "at the ends of the range");
  }
}

static void test_bad_boxes(void **state) {
  (void)state;
  need_device();
  const uint32_t n = test_device_slow() ? 500 : 5000, bad = n - 79;
  graze_box *boxes = malloc(n * sizeof *boxes);
  uint64_t random = test_seed(3), count;
  const graze_box_pair *pairs;
  boxes_make(BOXES_UNIFORM, &random, n, boxes);
  graze_box_array array = {boxes, 0, GRAZE_DOUBLE};
  for (int fault = 0; fault < 4; fault++) {
    graze_box kept = boxes[bad];
    if (fault == 0) boxes[bad].max[1] = NAN;
    if (fault == 1) boxes[bad].min[2] = -(double)INFINITY;
    if (fault == 2) boxes[bad].max[0] = (double)INFINITY;
    if (fault == 3) boxes[bad].max[0] = boxes[bad].min[0] - 1;
    graze_status want = graze_broadphase_find(on.plain_phase, &array, n, false, &pairs, &count);
    assert_int_not_equal(want, GRAZE_OK);
    for (graze_broad_method m = GRAZE_BROAD_AUTO; m < GRAZE_BROAD_METHODS; m++) {
      on.messages.last[0] = 0;
      assert_int_equal(graze_broadphase_find(on.phases[m], &array, n, false, &pairs, &count), want);
      assert_string_equal(on.messages.last, on.plain_messages.last);
    }
    assert_false(test_was_on_device(1));
    boxes[bad] = kept;
  }
  check(&array, n, "after bad ones");
  free(boxes);
}

/* A device that is lost, or that has no doubles: the processor answers. */
static void test_without_device(void **state) {
  (void)state;
  need_device();
  enum { N = 300 };
  graze_box boxes[N];
  uint64_t random = 4, count, want_count;
  const graze_box_pair *pairs;
  boxes_make(BOXES_UNIFORM, &random, N, boxes);
  graze_box_array array = {boxes, 0, GRAZE_DOUBLE};
  graze_box_pair *want = boxes_pairs(boxes, N, NULL, NULL, &want_count);
  for (int fault = 0; fault < 2; fault++) {
    on.gpu->lost = fault == 0;
    on.gpu->info.doubles = fault == 0;
    assert_int_equal(graze_broadphase_find(on.phases[GRAZE_BROAD_AUTO], &array, N, false, &pairs, &count), GRAZE_OK);
    assert_false(graze_gpu_get_report(on.gpu).on_device || graze_broadphase_report(on.phases[0]).by_engine);
    assert_string_equal(graze_gpu_get_report(on.gpu).reason,
                        fault == 0 ? "the device was lost" : "the device has no doubles");
    assert_true(count == want_count && memcmp(pairs, want, count * sizeof *want) == 0);
  }
  on.gpu->lost = on.gpu->told_lost = false;
  on.gpu->info.doubles = true;
  free(want);
}

/* What each method is on the device; those that it has not are the processor's. */
static void test_methods(void **state) {
  (void)state;
  need_device();
  static const graze_broad_method used[GRAZE_BROAD_METHODS] = {
      [GRAZE_BROAD_AUTO] = GRAZE_BROAD_HGRID,  [GRAZE_BROAD_GRID] = GRAZE_BROAD_HGRID,
      [GRAZE_BROAD_HGRID] = GRAZE_BROAD_HGRID, [GRAZE_BROAD_SUBDIVISION] = GRAZE_BROAD_SUBDIVISION,
      [GRAZE_BROAD_TREE] = GRAZE_BROAD_BVH,    [GRAZE_BROAD_BVH] = GRAZE_BROAD_BVH};
  enum { N = 60 };
  graze_box boxes[N];
  uint64_t random = test_seed(5), count, want_count;
  const graze_box_pair *pairs;
  boxes_make(BOXES_UNIFORM, &random, N, boxes);
  graze_box_array array = {boxes, 0, GRAZE_DOUBLE};
  graze_box_pair *want = boxes_pairs(boxes, N, NULL, NULL, &want_count);
  bool exact = on.gpu->info.exact;
  for (graze_broad_method m = GRAZE_BROAD_AUTO; m < GRAZE_BROAD_METHODS; m++) {
    bool is_there = used[m] != GRAZE_BROAD_AUTO;
    assert_int_equal(graze_broadphase_find(on.phases[m], &array, N, false, &pairs, &count), GRAZE_OK);
    assert_true(count == want_count && memcmp(pairs, want, count * sizeof *want) == 0);
    const graze_broad_report report = graze_broadphase_report(on.phases[m]);
    assert_true(test_was_on_device(1) == is_there && report.by_engine == is_there);
    if (exact || m != GRAZE_BROAD_SUBDIVISION) assert_int_equal(report.method, is_there ? used[m] : m);
    if (is_there && exact) assert_string_equal(report.reason, "");
  }
  free(want);
}

static void test_large(void **state) {
  (void)state;
  need_device();
  if (!test_device_large()) skip();
  static const box_family kinds[] = {BOXES_UNIFORM, BOXES_CLUSTERS, BOXES_DECADES};
  enum { N = 60000 };
  graze_box *boxes = malloc(N * sizeof *boxes);
  for (int i = 0; i < 3; i++) {
    uint64_t random = test_seed((uint64_t)i);
    boxes_make(kinds[i], &random, N, boxes);
    check_both(boxes, N, box_family_name(kinds[i]));
  }
  free(boxes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_families),  cmocka_unit_test(test_ends),
                                     cmocka_unit_test(test_bad_boxes), cmocka_unit_test(test_without_device),
                                     cmocka_unit_test(test_methods),   cmocka_unit_test(test_large)};
  return cmocka_run_group_tests(tests, test_device_open, test_device_close);
}
