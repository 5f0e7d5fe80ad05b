/* The grids' own corners: crowded rows, clusters in wide worlds, boxes that the sample misses, sizes whose ratio is at
 * the limit of what 16 bits tell apart, and the table of cells for few edits. All against looking at each pair. */
#include <math.h>
#include <stdlib.h>

#include "boxes.h"
#include "families.h"
#include "support.h"

static const graze_broad_method methods[] = {GRAZE_BROAD_GRID, GRAZE_BROAD_HGRID};

static graze_broadphase *make(graze_context *context, graze_broad_method method) {
  graze_broadphase_def def = graze_default_broadphase_def();
  graze_broadphase *bp = NULL;
  def.method = method;
  assert_int_equal(graze_broadphase_create(context, &def, &bp), GRAZE_OK);
  return bp;
}

static void same_pairs(const char *what, const graze_box_pair *got, uint64_t got_count, const graze_box_pair *want,
                       uint64_t want_count) {
  for (uint64_t i = 0; i < got_count && i < want_count; i++) {
    if (got[i].a == want[i].a && got[i].b == want[i].b) continue;
    fail_msg("%s: pair %llu is (%u, %u), should be (%u, %u)", what, (unsigned long long)i, got[i].a, got[i].b,
             want[i].a, want[i].b);
  }
  if (got_count != want_count) {
    fail_msg("%s: %llu pairs, should be %llu", what, (unsigned long long)got_count, (unsigned long long)want_count);
  }
}

static void check(const char *what, const graze_box *boxes, uint32_t n) {
  uint64_t want_count, got_count;
  graze_box_pair *want = boxes_pairs(boxes, n, NULL, NULL, &want_count);
  for (int m = 0; m < 2; m++) {
    for (int threads = 1; threads <= 2; threads++) {
      graze_context *context = test_context(threads, NULL);
      graze_broadphase *bp = make(context, methods[m]);
      const graze_box_pair *got;
      graze_box_array array = {boxes, 0, GRAZE_DOUBLE};
      assert_int_equal(graze_broadphase_find(bp, &array, n, false, &got, &got_count), GRAZE_OK);
      same_pairs(what, got, got_count, want, want_count);
      graze_broadphase_destroy(bp);
      graze_context_destroy(context);
    }
  }
  free(want);
}

static graze_box box_at(uint64_t *random, double low, double range, double size) {
  graze_box box;
  for (int k = 0; k < 3; k++) {
    box.min[k] = low + range * random_unit(random);
    box.max[k] = box.min[k] + size;
  }
  return box;
}

enum { N = 6000 };
static graze_box boxes[N];

/* Rows with more candidates than are counted at once, with and without equal numbers. */
static void test_crowded_rows(void **state) {
  (void)state;
  for (int kind = 0; kind < 3; kind++) {
    uint64_t random = 11 + (uint64_t)kind;
    uint32_t n = 2500;
    for (uint32_t i = 0; i < n; i++) {
      boxes[i] = box_at(&random, 0, 20, 1);
      for (int k = 1; k < 3; k++) {
        boxes[i].min[k] = kind == 0 ? random_unit(&random) : 0.25 * random_below(&random, 8);
        boxes[i].max[k] = boxes[i].min[k] + (kind == 2 ? 0.125 : 0.001);
      }
    }
    check("crowded rows", boxes, n);
  }
}

/* Small boxes in one to three spots of a world 10^9 times as wide, alone or among a few large ones. */
static void test_clusters(void **state) {
  (void)state;
  for (uint32_t kind = 0; kind < 6; kind++) {
    uint64_t random = 23 + kind;
    for (uint32_t i = 0; i < N; i++) {
      double spot = 1e8 * (1 + random_below(&random, 1 + kind / 2));
      bool outside = i % 100 == 0;
      boxes[i] = outside ? box_at(&random, -1e9, 2e9, kind % 2 ? 1e7 : 0.5) : box_at(&random, spot, 10, 0.5);
    }
    check("clusters", boxes, N);
  }
}

/* Every eighth box and fewer are sampled: the others are larger, or far outside the bounds, or both. */
static void test_beyond_the_sample(void **state) {
  (void)state;
  for (uint32_t kind = 0; kind < 4; kind++) {
    uint64_t random = 31 + kind;
    for (uint32_t i = 0; i < N; i++) {
      double range = kind > 0 && i % 997 == 1 ? 1e4 : 12;
      boxes[i] = box_at(&random, 0, range, kind != 1 && i % 501 == 1 ? 7 : 0.5);
      if (kind == 3 && i % 499 == 3) boxes[i] = box_at(&random, -1e300, 2e300, 1e299);
    }
    check("beyond the sample", boxes, N);
  }
}

/* Two sizes, whose ratio goes from 1 to 12 by eighths: boxes up to four cells large are looked up in another way than
 * larger ones. */
static void test_ratios(void **state) {
  (void)state;
  for (uint32_t eighths = 8; eighths <= 96; eighths += 4) {
    uint64_t random = eighths;
    uint32_t n = 1500;
    for (uint32_t i = 0; i < n; i++) boxes[i] = box_at(&random, -6, 12, (i % 8 == 0 ? eighths : 8) / 16.0);
    char what[32];
    snprintf(what, sizeof what, "ratio %u / 8", eighths);
    check(what, boxes, n);
  }
}

/* ---- few edits ------------------------------------------------------------------------------------------------- */

typedef struct world {
  graze_broadphase *bp;
  graze_proxy_id ids[N];
  uint32_t live;
} world;

static void update(const world *w) {
  graze_broad_events e;
  const graze_box_pair *got;
  uint64_t got_count, want_count;
  assert_int_equal(graze_broadphase_update(w->bp, &e), GRAZE_OK);
  assert_int_equal(graze_broadphase_pairs(w->bp, &got, &got_count), GRAZE_OK);
  graze_box_pair *want = boxes_pairs(boxes, w->live, NULL, NULL, &want_count);
  same_pairs("few edits", got, got_count, want, want_count);
  free(want);
}

static void add(world *w, uint32_t count) {
  graze_box_array array = {boxes + w->live, 0, GRAZE_DOUBLE};
  assert_int_equal(graze_broadphase_add(w->bp, &array, count, NULL, NULL, w->ids + w->live), GRAZE_OK);
  w->live += count;
}

/* Boxes that grow, shrink and jump, some to far larger sizes than there were when the table of cells was made; and the
 * table outgrown by boxes that come few at a time. */
static void test_few_edits(void **state) {
  (void)state;
  graze_context *context = test_context(1, NULL);
  for (uint32_t kind = 0; kind < 3; kind++) {
    static world w;
    uint64_t random = 47 + kind;
    w = (world){.bp = make(context, GRAZE_BROAD_HGRID)};
    for (uint32_t i = 0; i < N; i++) boxes[i] = box_at(&random, -5, 10, kind == 0 ? 0.5 : kind == 1 ? 0 : 1e-3);
    add(&w, 400);
    update(&w);
    for (uint32_t step = 0; step < 120; step++) {
      for (uint32_t i = 0; i < 8; i++) {
        uint32_t index = random_below(&random, w.live);
        double size = random_below(&random, 4) == 0 ? ldexp(1, (int)random_below(&random, 24) - 20) : 0.4;
        boxes[index] = box_at(&random, -5, 10, size);
        graze_box_array array = {&boxes[index], 0, GRAZE_DOUBLE};
        assert_int_equal(graze_broadphase_move(w.bp, &w.ids[index], &array, 1), GRAZE_OK);
      }
      add(&w, 12);
      update(&w);
    }
    graze_broadphase_destroy(w.bp);
  }
  graze_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_crowded_rows), cmocka_unit_test(test_clusters),  cmocka_unit_test(test_beyond_the_sample),
      cmocka_unit_test(test_ratios),       cmocka_unit_test(test_few_edits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
