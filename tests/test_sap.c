/* Sweep and prune from inside (src/broad/sap/sap.c): the crossing rules one by one, equal end points, moves that cancel
 * out, boxes that jump; the pair managers by themselves and against each other; the bins of sort and sweep. Looks
 * behind the public headers, so it needs the static library. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boxes.h"
#include "broad/broad.h"
#include "broad/pairs.h"
#include "families.h"
#include "support.h"

/* ---- a method that is driven by hand ---------------------------------------------------------------------------- */

typedef struct rig {
  graze_context *context;
  const broad_method *method;
  void *state;
  broad_view view;
  graze_box *boxes;
  uint8_t *edited;
  uint32_t *slots;
  uint32_t edits;
  pair_list began, ended;
  buffer scratch;
} rig;

static const graze_box nowhere = {{(double)INFINITY, (double)INFINITY, (double)INFINITY},
                                  {-(double)INFINITY, -(double)INFINITY, -(double)INFINITY}};

static rig *rig_make(const broad_method *method, graze_pair_manager manager, uint32_t room) {
  rig *r = calloc(1, sizeof *r);
  r->context = test_context(1, NULL);
  r->method = method;
  r->state = calloc(1, method->state_bytes);
  r->boxes = calloc(room, sizeof *r->boxes);
  r->edited = calloc(room, 1);
  r->slots = calloc(room, sizeof *r->slots);
  for (uint32_t i = 0; i < room; i++) r->boxes[i] = nowhere;
  r->view = (broad_view){.context = r->context,
                         .data = (const char *)r->boxes,
                         .stride = sizeof *r->boxes,
                         .precision = GRAZE_DOUBLE,
                         .holes = true,
                         .manager = manager};
  return r;
}

static void rig_free(rig *r) {
  r->method->release(r->context, r->state);
  gz_pair_list_release(r->context, &r->began);
  gz_pair_list_release(r->context, &r->ended);
  gz_buffer_release(r->context, &r->scratch);
  graze_context_destroy(r->context);
  free(r->state);
  free(r->boxes);
  free(r->edited);
  free(r->slots);
  free(r);
}

static void rig_set(rig *r, uint32_t slot, graze_box box) {
  r->boxes[slot] = box;
  if (slot >= r->view.count) r->view.count = slot + 1;
  r->edited[slot] = 1;
}

/* Runs `changes` over what was set. */
static void rig_step(rig *r) {
  r->edits = 0;
  for (uint32_t i = 0; i < r->view.count; i++) {
    if (r->edited[i] != 0) r->slots[r->edits++] = i;
  }
  broad_edits edits = {r->slots, r->edits, r->edited};
  r->began.count = r->ended.count = 0;
  assert_int_equal(r->method->changes(r->state, &r->view, &edits, &r->began, &r->ended), GRAZE_OK);
  assert_true(gz_pair_list_sort(r->context, &r->began, r->view.count, &r->scratch));
  assert_true(gz_pair_list_sort(r->context, &r->ended, r->view.count, &r->scratch));
  memset(r->edited, 0, r->view.count);
}

/* Everything that was set is what there is; the step after has nothing to do but to sort the end points. */
static void rig_start(rig *r) {
  r->began.count = 0;
  assert_int_equal(r->method->find(r->state, &r->view, &r->began), GRAZE_OK);
  memset(r->edited, 0, r->view.count);
  rig_step(r);
  assert_int_equal(r->began.count, 0);
  assert_int_equal(r->ended.count, 0);
}

static void expect_counts(const rig *r, const char *what, uint64_t began, uint64_t ended) {
  if (r->began.count == began && r->ended.count == ended) return;
  fail_msg("%s: %llu began and %llu ended, should be %llu and %llu", what, (unsigned long long)r->began.count,
           (unsigned long long)r->ended.count, (unsigned long long)began, (unsigned long long)ended);
}

/* ---- the rules -------------------------------------------------------------------------------------------------- */

static graze_box on_axis(int axis, double min, double max) {
  graze_box box = {{0.25, 0.25, 0.25}, {0.75, 0.75, 0.75}};
  box.min[axis] = min;
  box.max[axis] = max;
  return box;
}

typedef struct rule {
  const char *name;
  double from[2], to[2];
  uint64_t began, ended;
} rule;

static const rule rules[] =
    {/* the box that stays is [0, 1] */
     {"min left past max", {2, 3}, {0.5, 3}, 1, 0},      {"max right past min", {-3, -2}, {-3, 0.5}, 1, 0},
     {"min right past max", {0.5, 3}, {2, 3}, 0, 1},     {"max left past min", {-3, 0.5}, {-3, -2}, 0, 1},
     {"min left past min", {0.5, 3}, {-1, 3}, 0, 0},     {"min right past min", {-1, 3}, {0.5, 3}, 0, 0},
     {"max left past max", {-1, 3}, {-1, 0.5}, 0, 0},    {"max right past max", {-1, 0.5}, {-1, 3}, 0, 0},
     {"touch from the right", {2, 3}, {1, 3}, 1, 0},     {"touch from the left", {-3, -2}, {-3, 0}, 1, 0},
     {"touch no more, right", {1, 3}, {1.125, 3}, 0, 1}, {"touch no more, left", {-3, 0}, {-3, -0.125}, 0, 1},
     {"touch and stay so", {1, 3}, {1, 4}, 0, 0},        {"a point comes", {2, 2}, {1, 1}, 1, 0},
     {"a point passes over", {2, 2}, {-1, -1}, 0, 0},    {"a point goes", {0, 0}, {-1, -1}, 0, 1},
     {"all the way past", {2, 3}, {-3, -2}, 0, 0},       {"over and in", {2, 3}, {-1, 0}, 1, 0}};

static void test_rules(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    const rule *x = &rules[i];
    for (int axis = 0; axis < 3; axis++) {
      for (int apart = 0; apart < 2; apart++) {
        rig *r = rig_make(&gz_broad_sap, GRAZE_PAIRS_HASH, 2);
        char what[96];
        snprintf(what, sizeof what, "%s, axis %d%s", x->name, axis, apart ? ", apart on another" : "");
        graze_box still = on_axis(axis, 0, 1);
        int other = (axis + 1) % 3;
        if (apart) {
          still.min[other] = 8;
          still.max[other] = 9;
        }
        rig_set(r, 0, still);
        rig_set(r, 1, on_axis(axis, x->from[0], x->from[1]));
        rig_start(r);
        rig_set(r, 1, on_axis(axis, x->to[0], x->to[1]));
        rig_step(r);
        expect_counts(r, what, apart ? 0 : x->began, apart ? 0 : x->ended);
        rig_set(r, 1, on_axis(axis, x->from[0], x->from[1]));
        rig_step(r);
        expect_counts(r, what, apart ? 0 : x->ended, apart ? 0 : x->began);
        rig_free(r);
      }
    }
  }
}

/* Numbers that are one float, and -0 against 0: only the doubles decide. */
static void test_equal_ends(void **state) {
  (void)state;
  rig *r = rig_make(&gz_broad_sap, GRAZE_PAIRS_SORTED, 2);
  double above = nextafter(1, 2);
  rig_set(r, 0, on_axis(0, 0, 1));
  rig_set(r, 1, on_axis(0, above, 2));
  rig_start(r);
  rig_set(r, 1, on_axis(0, 1, 2));
  rig_step(r);
  expect_counts(r, "an ulp nearer", 1, 0);
  rig_set(r, 1, on_axis(0, above, 2));
  rig_step(r);
  expect_counts(r, "an ulp farther", 0, 1);
  rig_set(r, 0, on_axis(0, 0, above));
  rig_step(r);
  expect_counts(r, "the other follows", 1, 0);
  rig_set(r, 1, on_axis(0, -1, -0.0));
  rig_step(r);
  expect_counts(r, "0 and -0", 0, 0);
  rig_set(r, 0, on_axis(0, 1e-320, above));
  rig_step(r);
  expect_counts(r, "above 0", 0, 1);
  rig_free(r);
}

/* Both boxes move, so that they pass each other, or leave each other's side for a moment. */
static void test_both_move(void **state) {
  (void)state;
  rig *r = rig_make(&gz_broad_sap, GRAZE_PAIRS_HASH, 3);
  rig_set(r, 0, on_axis(0, 0, 1));
  rig_set(r, 1, on_axis(0, 0.5, 1.5));
  rig_set(r, 2, on_axis(0, 50, 51));
  rig_start(r);
  rig_set(r, 0, on_axis(0, 100, 101));
  rig_set(r, 1, on_axis(0, 100.5, 101.5));
  rig_step(r);
  expect_counts(r, "together over a third", 0, 0);
  rig_set(r, 0, on_axis(0, 50, 50.5));
  rig_set(r, 2, on_axis(0, 101, 102));
  rig_step(r);
  expect_counts(r, "changing places", 1, 1);
  assert_true(r->began.count == 1 && pair_list_data(&r->began)->a == 1 && pair_list_data(&r->began)->b == 2);
  rig_set(r, 1, nowhere);
  rig_set(r, 0, on_axis(0, 101.5, 103));
  rig_step(r);
  expect_counts(r, "one goes, one comes near", 1, 1);
  rig_free(r);
}

/* ---- against the slow answer ------------------------------------------------------------------------------------ */

/* What is in p and not in q; both sorted. */
static void expect_difference(const char *what, const graze_box_pair *p, uint64_t p_count, const graze_box_pair *q,
                              uint64_t q_count, const pair_list *got) {
  uint64_t n = 0;
  for (uint64_t i = 0, j = 0; i < p_count; i++) {
    while (j < q_count && pair_order(q[j]) < pair_order(p[i])) j++;
    if (j < q_count && pair_order(q[j]) == pair_order(p[i])) continue;
    if (n >= got->count || pair_order(pair_list_data(got)[n]) != pair_order(p[i])) {
      fail_msg("%s: (%u, %u) is missing at place %llu", what, p[i].a, p[i].b, (unsigned long long)n);
    }
    n++;
  }
  if (n != got->count) fail_msg("%s: %llu pairs too many", what, (unsigned long long)(got->count - n));
}

typedef struct truth {
  graze_box_pair *pairs;
  uint64_t count;
} truth;

static void expect_step(rig *r, const char *what, truth *before) {
  truth now;
  rig_step(r);
  now.pairs = boxes_pairs(r->boxes, r->view.count, NULL, NULL, &now.count);
  expect_difference(what, now.pairs, now.count, before->pairs, before->count, &r->began);
  expect_difference(what, before->pairs, before->count, now.pairs, now.count, &r->ended);
  free(before->pairs);
  *before = now;
}

static graze_box nudged(graze_box box, uint64_t *random, double by) {
  for (int k = 0; k < 3; k++) {
    double size = box.max[k] - box.min[k], step = by * (size > 0 ? size : 1) * random_signed(random);
    if (!isfinite(box.min[k] + step) || !isfinite(box.max[k] + step)) continue;
    box.min[k] += step;
    box.max[k] += step;
  }
  return box;
}

/* Every step is one of `changes`, however many edits there are. */
static void test_changes(void **state) {
  (void)state;
  enum { N = 160, STEPS = 24 };
  for (int kind = 0; kind < BOXES_FAMILIES; kind++) {
    for (int manager = 0; manager < 3; manager++) {
      rig *r = rig_make(&gz_broad_sap, (graze_pair_manager)manager, N);
      uint64_t random = 11 + (uint64_t)kind;
      char what[96];
      truth before;
      for (uint32_t i = 0; i < N / 2; i++) rig_set(r, i, boxes_one((box_family)kind, &random, N));
      rig_start(r);
      before.pairs = boxes_pairs(r->boxes, r->view.count, NULL, NULL, &before.count);
      for (int step = 0; step < STEPS; step++) {
        for (uint32_t edits = random_below(&random, 40); edits > 0; edits--) {
          uint32_t slot = random_below(&random, N), choice = random_below(&random, 10);
          bool there = !box_is_empty(&r->boxes[slot]);
          if (choice == 0 || !there) {
            rig_set(r, slot, choice < 7 ? boxes_one((box_family)kind, &random, N) : nowhere);
          } else {
            rig_set(r, slot, choice == 1 ? nowhere : nudged(r->boxes[slot], &random, 0.2));
          }
        }
        snprintf(what, sizeof what, "%s, manager %d, step %d", box_family_name((box_family)kind), manager, step);
        expect_step(r, what, &before);
      }
      free(before.pairs);
      rig_free(r);
    }
  }
}

/* All boxes jump: more swaps than are good, so that the pairs are found anew in the middle of the step. Some come and
 * go in the same step. Then again, and a quiet step. */
static void test_jumps(void **state) {
  (void)state;
  enum { N = 1200 };
  rig *r = rig_make(&gz_broad_sap, GRAZE_PAIRS_HASH, N);
  uint64_t random = 5;
  truth before;
  for (uint32_t i = 0; i < N - 100; i++) rig_set(r, i, boxes_one(BOXES_UNIFORM, &random, N));
  rig_start(r);
  before.pairs = boxes_pairs(r->boxes, r->view.count, NULL, NULL, &before.count);
  for (int step = 0; step < 4; step++) {
    for (uint32_t i = 0; i < N; i++) {
      bool goes = random_below(&random, 8) == 0;
      rig_set(r, i, goes ? nowhere : boxes_one(BOXES_UNIFORM, &random, N));
    }
    expect_step(r, "jumps", &before);
    assert_true(r->began.count > 100 && r->ended.count > 100);
    for (uint32_t i = 0; i < 9; i++) rig_set(r, 7 * i, boxes_one(BOXES_UNIFORM, &random, N));
    if (step % 2 == 0) expect_step(r, "quiet", &before);
  }
  free(before.pairs);
  rig_free(r);
}

/* ---- managers --------------------------------------------------------------------------------------------------- */

enum { SLOTS = 180, OPERATIONS = 100000 };

static graze_box_pair any_pair(uint64_t *random, uint32_t slots) {
  uint32_t a = random_below(random, slots), b = random_below(random, slots - 1);
  return pair_of(a, b >= a ? b + 1 : b);
}

static void expect_set(const graze_context *context, const pair_manager *m, bool (*want)[SLOTS], uint64_t count) {
  pair_list list = {0};
  assert_true(m->count == count);
  assert_true(gz_pair_manager_list(context, m, &list));
  assert_true(list.count == count);
  for (uint64_t i = 0; i < list.count; i++) {
    graze_box_pair pair = pair_list_data(&list)[i];
    assert_true(pair.a < pair.b && pair.b < SLOTS && want[pair.a][pair.b]);
    for (uint64_t j = 0; j < i && i < 300; j++) assert_true(pair_order(pair_list_data(&list)[j]) != pair_order(pair));
  }
  gz_pair_list_release(context, &list);
}

static void test_managers(void **state) {
  (void)state;
  graze_context *context = test_context(1, NULL);
  for (int kind = 0; kind < 3; kind++) {
    static bool want[SLOTS][SLOTS];
    pair_manager m = {0};
    uint64_t random = 41, count = 0;
    uint32_t slots = SLOTS / 3;
    memset(want, 0, sizeof want);
    assert_true(gz_pair_manager_reset(context, &m, (graze_pair_manager)kind, slots, 10));
    for (uint32_t i = 0; i < OPERATIONS; i++) {
      graze_box_pair pair = any_pair(&random, slots);
      bool *there = &want[pair.a][pair.b], fresh;
      /* Times of growth and of decay, so that it is nearly full and nearly empty. */
      bool adds = random_below(&random, 10) < ((i / 9000) % 2 == 0 ? 8u : 2u);
      assert_int_equal(gz_pair_manager_has(&m, pair), *there);
      if (adds) {
        assert_true(gz_pair_manager_add(context, &m, pair, &fresh));
        assert_int_equal(fresh, !*there);
        count += fresh;
      } else {
        assert_int_equal(gz_pair_manager_remove(&m, pair), *there);
        count -= *there;
      }
      *there = adds;
      if (i % 5000 == 0) expect_set(context, &m, want, count);
      if (i == OPERATIONS / 3) {
        slots = SLOTS;
        assert_true(gz_pair_manager_grow(context, &m, slots));
        expect_set(context, &m, want, count);
      }
    }
    expect_set(context, &m, want, count);

    uint8_t marks[SLOTS] = {0};
    uint64_t gone = 0;
    pair_list out = {0};
    for (uint32_t i = 0; i < SLOTS; i += 7) marks[i] = 3;
    for (uint32_t a = 0; a < SLOTS; a++) {
      for (uint32_t b = 0; b < SLOTS; b++) {
        if (!want[a][b] || (marks[a] == 0 && marks[b] == 0)) continue;
        want[a][b] = false;
        gone++;
      }
    }
    assert_true(gone > 100);
    assert_true(gz_pair_manager_drop(context, &m, marks, 3, &out));
    assert_true(out.count == gone);
    expect_set(context, &m, want, count - gone);
    assert_true(gz_pair_manager_reset(context, &m, (graze_pair_manager)kind, SLOTS, 0));
    memset(want, 0, sizeof want);
    expect_set(context, &m, want, 0);
    gz_pair_list_release(context, &out);
    gz_pair_manager_release(context, &m);
  }
  graze_context_destroy(context);
}

/* ---- the bins of sort and sweep --------------------------------------------------------------------------------- */

/* The sample does not see the plates, which are most boxes, so that there are too many bins at first; some boxes are
 * beyond the range of floats. */
static void test_unseen(void **state) {
  (void)state;
  enum { N = 12000 };
  graze_box *boxes = malloc(N * sizeof *boxes);
  uint64_t random = 8, want_count;
  for (uint32_t i = 0; i < N; i++) {
    for (int k = 0; k < 3; k++) {
      boxes[i].min[k] = 20 * random_unit(&random);
      boxes[i].max[k] = boxes[i].min[k] + (k == 0 ? 0.5 : 1);
    }
    if (i % 8 > 0) boxes[i] = (graze_box){{20.0 * i / N, -1, -1}, {20.0 * i / N, 21, 21}};
    if (i % 1000 == 3) boxes[i] = (graze_box){{1e300, 0, 0}, {1e301, 1, 1}};
    if (i % 1000 == 4) boxes[i] = (graze_box){{-1e301, -1e40, 0}, {-1e300, 1, 1}};
  }
  graze_box_pair *want = boxes_pairs(boxes, N, NULL, NULL, &want_count);
  for (int threads = 1; threads <= 2; threads++) {
    graze_context *context = test_context(threads, NULL);
    broad_view view = {.context = context,
                       .data = (const char *)boxes,
                       .stride = sizeof *boxes,
                       .precision = GRAZE_DOUBLE,
                       .count = N};
    void *sweep = calloc(1, gz_broad_sweep.state_bytes);
    pair_list got = {0};
    buffer scratch = {0};
    assert_int_equal(gz_broad_sweep.find(sweep, &view, &got), GRAZE_OK);
    assert_true(gz_pair_list_sort(context, &got, N, &scratch));
    assert_true(got.count == want_count);
    assert_memory_equal(pair_list_data(&got), want, want_count * sizeof *want);
    gz_broad_sweep.release(context, sweep);
    gz_buffer_release(context, &scratch);
    gz_pair_list_release(context, &got);
    free(sweep);
    graze_context_destroy(context);
  }
  free(want);
  free(boxes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rules),   cmocka_unit_test(test_equal_ends), cmocka_unit_test(test_both_move),
      cmocka_unit_test(test_changes), cmocka_unit_test(test_jumps),      cmocka_unit_test(test_managers),
      cmocka_unit_test(test_unseen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
