/* The boxes of scenes/boxes.c: the same ones as ever, about as dense as they are said to be, and in motion. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenes.h"
#include "support.h"

static float *boxes_at(const scenes_boxes *boxes, double speed, uint32_t step) {
  float *out = malloc(6 * (size_t)boxes->count * sizeof *out);
  assert_non_null(out);
  scenes_boxes_at(boxes, speed, step, out);
  return out;
}

static uint64_t hash_of(const float *numbers, size_t count) {
  uint64_t hash = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t bits;
    memcpy(&bits, &numbers[i], sizeof bits);
    hash += graze_pair_hash((uint32_t)i, bits);
  }
  return hash;
}

/* Figures of other programs on these workloads count only while the boxes stay what they are. */
static void boxes_are_the_same_as_ever(void **unused) {
  static const uint64_t wanted[SCENES_BOX_KINDS][2] = {{UINT64_C(0xb438c5549638f77b), UINT64_C(0xda304efe8c8c9d61)},
                                                       {UINT64_C(0x83b6085dffdb2670), UINT64_C(0x38fa5fcaee855c18)},
                                                       {UINT64_C(0x5b95d24bc84d2c02), UINT64_C(0xa5603243f9aa7f28)},
                                                       {UINT64_C(0xcf415166f2e36932), UINT64_C(0x34dbe52cc6008989)},
                                                       {UINT64_C(0x0d62d7bed7429fc7), UINT64_C(0x31ba859228b82342)}};
  (void)unused;
  for (int kind = 0; kind < SCENES_BOX_KINDS; kind++) {
    scenes_boxes boxes;
    assert_true(scenes_boxes_make((scenes_box_kind)kind, 1024, 1, &boxes));
    for (int moved = 0; moved < 2; moved++) {
      float *out = boxes_at(&boxes, 0.5, moved ? 7 : 0);
      if (hash_of(out, 6 * (size_t)boxes.count) != wanted[kind][moved])
        fail_msg("%s, step %d: %#llx", scenes_box_kind_name((scenes_box_kind)kind), moved ? 7 : 0,
                 (unsigned long long)hash_of(out, 6 * (size_t)boxes.count));
      free(out);
    }
    scenes_boxes_free(&boxes);
  }
}

static double mean_neighbours(const float *boxes, uint32_t count) {
  graze_context *context = NULL;
  graze_broadphase *broadphase = NULL;
  const graze_box_pair *pairs;
  uint64_t pair_count;
  graze_box_array array = {.data = boxes, .precision = GRAZE_FLOAT};
  assert_int_equal(graze_context_create(NULL, &context), GRAZE_OK);
  assert_int_equal(graze_broadphase_create(context, NULL, &broadphase), GRAZE_OK);
  assert_int_equal(graze_broadphase_find(broadphase, &array, count, true, &pairs, &pair_count), GRAZE_OK);
  graze_broadphase_destroy(broadphase);
  graze_context_destroy(context);
  return 2 * (double)pair_count / count;
}

/* Boxes at the surface of the domain have fewer neighbours than those inside, so the mean is below that of the inside;
 * the large boxes of MIXED make its surface thick. */
static void density_is_as_said(void **unused) {
  static const double least[] = {4.3, 3.6, 4.3, 4, 5.8}, most[] = {5, 5, 5, 5, 6.3};
  (void)unused;
  for (int kind = 0; kind < SCENES_BOX_KINDS; kind++) {
    scenes_boxes boxes;
    assert_true(scenes_boxes_make((scenes_box_kind)kind, 10000, 1, &boxes));
    for (uint32_t step = 0; step < 40; step += 39) {
      float *out = boxes_at(&boxes, 0.5, step);
      double mean = mean_neighbours(out, boxes.count);
      if (mean < least[kind] || mean > most[kind])
        fail_msg("%s, step %u: %g", scenes_box_kind_name((scenes_box_kind)kind), step, mean);
      free(out);
    }
    scenes_boxes_free(&boxes);
  }
}

/* A box moves `speed` edges a step, turns back after two edges to either side, and never leaves the bounds. */
static void boxes_swing(void **unused) {
  (void)unused;
  for (int kind = 0; kind < SCENES_BOXES_WAVE; kind++) {
    scenes_boxes boxes;
    assert_true(scenes_boxes_make((scenes_box_kind)kind, 500, 3, &boxes));
    double rounding = 0x1p-22 * fmax(fabs(boxes.low[0]), fabs(boxes.high[0])); /* of floats that far out */
    for (int k = 1; k < 3; k++) rounding += 0x1p-22 * fmax(fabs(boxes.low[k]), fabs(boxes.high[k]));
    float *before = boxes_at(&boxes, 0.25, 0);
    for (uint32_t step = 1; step < 70; step++) {
      float *now = boxes_at(&boxes, 0.25, step);
      for (size_t i = 0; i < boxes.count; i++) {
        double way = 0, off = 0;
        for (size_t k = 0; k < 3; k++) {
          double at = 0.5 * ((double)now[6 * i + k] + now[6 * i + 3 + k]),
                 move = (double)now[6 * i + k] - before[6 * i + k];
          way += move * move;
          off += (at - boxes.centers[3 * i + k]) * (at - boxes.centers[3 * i + k]);
          assert_true(now[6 * i + k] >= boxes.low[k] && now[6 * i + 3 + k] <= boxes.high[k]);
        }
        assert_true(sqrt(way) <= 0.25 * boxes.edges[i] + rounding && sqrt(off) <= 2 * boxes.edges[i] + rounding);
      }
      free(before);
      before = now;
    }
    free(before);
    scenes_boxes_free(&boxes);
  }
}

static void steps_do_not_depend_on_what_was_asked_before(void **unused) {
  (void)unused;
  for (int kind = 0; kind < SCENES_BOX_KINDS; kind++) {
    scenes_boxes one, two;
    assert_true(scenes_boxes_make((scenes_box_kind)kind, 300, 5, &one));
    assert_true(scenes_boxes_make((scenes_box_kind)kind, 300, 5, &two));
    assert_int_equal(one.count, two.count);
    for (uint32_t step = 0; step < 9; step++) free(boxes_at(&one, 0.1, step));
    float *x = boxes_at(&one, 0.1, 4), *y = boxes_at(&two, 0.1, 4);
    assert_memory_equal(x, y, 6 * (size_t)one.count * sizeof *x);
    free(x);
    free(y);
    scenes_boxes_free(&one);
    scenes_boxes_free(&two);
  }
}

static void parts_are_those_of_the_whole(void **unused) {
  (void)unused;
  for (int kind = 0; kind < SCENES_BOX_KINDS; kind++) {
    scenes_boxes whole;
    assert_true(scenes_boxes_make((scenes_box_kind)kind, 5000, 7, &whole));
    assert_int_equal(whole.count, scenes_boxes_total((scenes_box_kind)kind, 5000));
    float *all = boxes_at(&whole, 0.3, 5);
    for (uint32_t first = 0, end; first < whole.count; first = end) {
      scenes_boxes part;
      end = first + 1 + first / 3;
      if (end > whole.count) end = whole.count;
      assert_true(scenes_boxes_make_part((scenes_box_kind)kind, 5000, 7, first, end, &part));
      float *some = boxes_at(&part, 0.3, 5);
      assert_memory_equal(some, all + 6 * (size_t)first, 6 * (size_t)part.count * sizeof *some);
      free(some);
      scenes_boxes_free(&part);
    }
    free(all);
    scenes_boxes_free(&whole);
  }
}

/* Rows of the wave, in two pieces each, are those of the whole. */
static void rows_are_those_of_the_wave(void **unused) {
  (void)unused;
  scenes_boxes boxes;
  uint32_t along, across;
  assert_true(scenes_boxes_make(SCENES_BOXES_WAVE, 3000, 1, &boxes));
  scenes_wave_squares(3000, &along, &across);
  assert_int_equal(2 * along * across, boxes.count);
  float *want = boxes_at(&boxes, 0, 0), *got = calloc(boxes.count, 6 * sizeof *got);
  for (uint32_t y = 0; y < across; y++) {
    const uint32_t cut = y % along;
    scenes_wave_row(y, 0, cut, got + 12 * (size_t)y * along);
    scenes_wave_row(y, cut, along, got + 12 * ((size_t)y * along + cut));
  }
  assert_memory_equal(want, got, 6 * (size_t)boxes.count * sizeof *got);
  free(want);
  free(got);
  scenes_boxes_free(&boxes);
}

static void small_numbers(void **unused) {
  (void)unused;
  for (int kind = 0; kind < SCENES_BOX_KINDS; kind++) {
    for (uint32_t count = 1; count < 30; count++) {
      scenes_boxes boxes;
      assert_true(scenes_boxes_make((scenes_box_kind)kind, count, 1, &boxes));
      if (kind != SCENES_BOXES_WAVE) assert_int_equal(boxes.count, count);
      float *out = boxes_at(&boxes, 0.01, count);
      for (size_t i = 0; i < 6 * (size_t)boxes.count; i++) {
        assert_true(isfinite(out[i]));
        assert_true(i % 6 >= 3 || out[i] <= out[i + 3]);
      }
      free(out);
      scenes_boxes_free(&boxes);
    }
  }
}

static void names(void **unused) {
  (void)unused;
  scenes_box_kind kind = SCENES_BOXES_UNIFORM;
  for (int k = 0; k < SCENES_BOX_KINDS; k++) {
    assert_true(scenes_box_kind_named(scenes_box_kind_name((scenes_box_kind)k), &kind));
    assert_int_equal(kind, k);
  }
  assert_false(scenes_box_kind_named("round", &kind));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(boxes_are_the_same_as_ever),
                                     cmocka_unit_test(density_is_as_said),
                                     cmocka_unit_test(boxes_swing),
                                     cmocka_unit_test(steps_do_not_depend_on_what_was_asked_before),
                                     cmocka_unit_test(parts_are_those_of_the_whole),
                                     cmocka_unit_test(rows_are_those_of_the_wave),
                                     cmocka_unit_test(small_numbers),
                                     cmocka_unit_test(names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
