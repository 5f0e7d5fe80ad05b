/* What AUTO makes of what updates cost, by a clock that the test invents: so the same on every machine. Methods that do
 * much from time to time count with that; an update in which others had the processor does not. Looks behind the public
 * headers, so it needs the static library. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "boxes.h"
#include "broad/phase.h"
#include "families.h"
#include "support.h"

enum { N = 10000, SETTLED = 400, UPDATES = 1400 };

/* What updates with a method take, ns a box: most of them, and one of `period`. */
typedef struct method_cost {
  double quiet, dear;
  uint32_t period; /* 0: all alike; 1: all make all anew */
} method_cost;

typedef struct machine {
  method_cost costs[GRAZE_BROAD_METHODS];
  uint32_t busy; /* in one of so many updates others have the processor, at random; 0: never */
  double delay;  /* times as long such an update takes */
} machine;

static broad_view make_view(void) {
  static graze_box boxes[N];
  uint64_t random = 3;
  boxes_make(BOXES_UNIFORM, &random, N, boxes);
  return (broad_view){.data = (const char *)boxes, .stride = sizeof *boxes, .precision = GRAZE_DOUBLE, .count = N};
}

static bool is_anew(const method_cost *cost, uint32_t age) {
  return age == 0 || cost->period == 1 || (cost->period > 0 && age % cost->period == 0);
}

/* Nanoseconds a box of an update with a method that has been used for `age` updates before. */
static double update_takes(const machine *m, graze_broad_method method, uint32_t age, uint64_t *random) {
  const method_cost *cost = &m->costs[method];
  assert_true(cost->quiet > 0); /* no other one comes into question */
  double ns = age == 0 ? 300 : is_anew(cost, age) ? cost->dear : cost->quiet;
  ns *= 1 + 0.1 * random_signed(random);
  return m->busy > 0 && random_below(random, m->busy) == 0 ? ns * m->delay : ns;
}

/* After SETTLED updates: how many of the others are not with this method. */
static uint32_t others(const broad_view *view, const machine *m, double speed, uint32_t edits, uint64_t seed,
                       graze_broad_method wanted) {
  broad_choice choice;
  uint32_t age = 0, count = 0;
  uint64_t random = seed;
  graze_broad_method before = GRAZE_BROAD_AUTO;
  memset(&choice, 0, sizeof choice);
  for (uint32_t i = 0; i < UPDATES; i++) {
    uint32_t edited = i == 0 ? N : edits;
    graze_broad_method method = gz_choose_method(&choice, view, edited, N, speed);
    age = method == before ? age + 1 : 0;
    gz_choose_learn(&choice, edited, N, 1e-9 * N * update_takes(m, method, age, &random),
                    is_anew(&m->costs[method], age));
    count += i >= SETTLED && method != wanted;
    before = method;
  }
  return count;
}

static machine machine_of(method_cost verlet, uint32_t busy, double delay) {
  machine m = {.costs = {[GRAZE_BROAD_GRID] = {60, 60, 1},
                         [GRAZE_BROAD_SWEEP] = {80, 80, 1},
                         [GRAZE_BROAD_TREE] = {20, 300, 8},
                         [GRAZE_BROAD_SAP] = {70, 0, 0},
                         [GRAZE_BROAD_HASH] = {90, 0, 0},
                         [GRAZE_BROAD_BVH] = {130, 130, 1}},
               .busy = busy,
               .delay = delay};
  m.costs[GRAZE_BROAD_VERLET] = verlet;
  return m;
}

static const method_cost lasting = {10, 250, 20}, brief = {10, 250, 3}, even = {30, 0, 0};

static void check(uint32_t busy, double delay, uint32_t most) {
  const broad_view view = make_view();
  for (uint64_t seed = 1; seed <= 10; seed++) {
    machine m = machine_of(lasting, busy, delay);
    uint32_t lists = others(&view, &m, 0.01, N, seed, GRAZE_BROAD_VERLET);
    m = machine_of(brief, busy, delay);
    uint32_t grids = others(&view, &m, 0.05, N, seed, GRAZE_BROAD_GRID);
    m = machine_of(even, busy, delay);
    uint32_t few = others(&view, &m, 0.01, N / 20, seed, GRAZE_BROAD_VERLET);
    if (lists > most || grids > most || few > most)
      fail_msg("one of %u takes %g times as long, seed %u: of %d updates %u, %u and %u with others", busy, delay,
               (unsigned)seed, UPDATES - SETTLED, lists, grids, few);
  }
}

/* The mean decides, not the usual update: of 22 ns beside a grid's 60, of 90, and, when few move, of 30 beside a tree's
 * 55, whose usual update takes 20. */
static void test_means(void **state) {
  (void)state;
  check(0, 1, 150);
}

/* Whatever is interrupted, trials too, and however long: the same methods are taken. */
static void test_interrupted(void **state) {
  (void)state;
  check(20, 4, 250);
  check(20, 30, 250);
  check(20, 1000, 250);
}

/* Slots are too many for lists of near pairs, then for trees too: however little these took, others are chosen. */
static void test_limits(void **state) {
  (void)state;
  static const uint32_t slots[] = {1u << 30, (1u << 30) + 1, INT32_MAX, 1u << 31};
  const machine m = machine_of(lasting, 0, 1);
  for (int k = 0; k < 4; k++) {
    for (uint32_t edits = N / 20; edits <= N; edits += N - N / 20) {
      const broad_view view = {.precision = GRAZE_DOUBLE, .count = slots[k]};
      broad_choice choice = {.by_shape = GRAZE_BROAD_GRID};
      uint64_t random = 7;
      uint32_t lists = 0;
      for (uint32_t i = 0; i < UPDATES; i++) {
        choice.sampled = 1; /* there are no boxes to look at */
        const graze_broad_method method = gz_choose_method(&choice, &view, edits, N, 0.01);
        const uint32_t most = gz_broad_method_of(method)->most_slots;
        assert_true(most == 0 || slots[k] <= most);
        lists += method == GRAZE_BROAD_VERLET;
        gz_choose_learn(&choice, edits, N, 1e-9 * N * update_takes(&m, method, 1, &random), false);
      }
      assert_true(k == 0 ? lists > UPDATES / 2 : lists == 0);
    }
  }
}

/* What an update takes while its thread sleeps, as when others have the processor, and while it computes. */
static void test_time_of_work(void **state) {
  (void)state;
  for (int threads = 1; threads <= 2; threads++) {
    graze_context *context = test_context(threads, NULL);
    double start = gz_choose_clock(context);
    nanosleep(&(struct timespec){0, 60000000}, NULL);
    const double slept = gz_choose_clock(context) - start;
    assert_true(threads == 1 ? slept < 0.03 : slept >= 0.06);
    volatile double sum = 0;
    start = gz_choose_clock(context);
    for (int i = 0; i < 1000000; i++) sum += i;
    const double worked = gz_choose_clock(context) - start;
    assert_true(worked > 1e-5 && worked < 60);
    graze_context_destroy(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_means), cmocka_unit_test(test_interrupted),
                                     cmocka_unit_test(test_limits), cmocka_unit_test(test_time_of_work)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
