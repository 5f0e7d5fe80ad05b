/* Parallel loops: every item once, worker indices that are never in use twice, nested loops, many callers, hooks, and
 * threads that the system refuses. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/parallel.h"
#include "support.h"

enum { items = 5000, most_workers = 8 };

/* ---- threads that are refused ---- */

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define CAN_REFUSE 1
static _Atomic int threads_left = INT32_MAX;

/* In place of the system's. */
int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (real == NULL)
    real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
  if (atomic_fetch_sub(&threads_left, 1) <= 0) return 11; /* EAGAIN */
  return real(id, attributes, body, argument);
}
#endif

/* ---- a loop that watches itself ---- */

typedef struct watch {
  graze_context *context;
  uint32_t count, grain;
  _Atomic uint32_t done[items];
  _Atomic bool busy[most_workers];
  _Atomic uint32_t workers_seen, wrong, inner;
  bool nested;
} watch;

static void count_inner(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  watch *w = argument;
  if (worker >= gz_workers(w->context) || !w->busy[worker]) w->wrong++;
  w->inner += end - begin;
}

static bool rounds_to_nearest(void) {
  volatile double one = 1, tiny = 0x1p-60;
  return one + tiny == 1 && one - tiny == 1;
}

static void mark(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  watch *w = argument;
  if (worker >= gz_workers(w->context)) {
    w->wrong++;
    return;
  }
  if (begin >= end || end > w->count || atomic_exchange(&w->busy[worker], true)) w->wrong++;
  if (!rounds_to_nearest() || gz_parallel_threads(w->context) != 1) w->wrong++;
  w->workers_seen |= 1u << worker;
  for (uint32_t i = begin; i < end; i++) w->done[i]++;
  if (w->nested) gz_parallel_for(w->context, 10, 3, count_inner, w);
  w->busy[worker] = false;
}

static void check_loop(graze_context *context, uint32_t count, uint32_t grain, bool nested) {
  watch *w = calloc(1, sizeof *w);
  assert_non_null(w);
  w->context = context;
  w->count = count;
  w->grain = grain;
  w->nested = nested;
  gz_parallel_for(context, count, grain, mark, w);
  assert_int_equal(w->wrong, 0);
  for (uint32_t i = 0; i < items; i++) assert_int_equal(w->done[i], i < count);
  if (nested) assert_int_equal(w->inner % 10, 0);
  if (nested && count > 0) assert_true(w->inner > 0);
  free(w);
}

static void test_every_item_once(void **unused) {
  static const uint32_t counts[] = {0, 1, 2, 3, 64, 1000, items}, grains[] = {1, 2, 7, 1000, UINT32_MAX};
  (void)unused;
  for (int threads = 1; threads <= 5; threads++) {
    graze_context *context = test_context(threads, NULL);
    assert_int_equal(gz_workers(context), threads);
    assert_int_equal(gz_parallel_threads(context), threads);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
      for (size_t k = 0; k < sizeof grains / sizeof *grains; k++) check_loop(context, counts[i], grains[k], k % 2 == 0);
    }
    graze_context_destroy(context);
  }
}

/* The rounding of a caller is his again afterwards, and no body sees it. */
static void test_rounding(void **unused) {
  (void)unused;
  graze_context *context = test_context(3, NULL);
  fesetround(FE_UPWARD);
  assert_false(rounds_to_nearest());
  check_loop(context, 100, 1, true);
  int now = fegetround();
  fesetround(FE_TONEAREST);
  assert_int_equal(now, FE_UPWARD);
  graze_context_destroy(context);
}

/* Both workers must come: each waits for the other. */
static void meet(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)begin;
  (void)end;
  (void)worker;
  pthread_barrier_wait(argument);
}

static void test_really_parallel(void **unused) {
  (void)unused;
  graze_context *context = test_context(4, NULL);
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, 4);
  for (int i = 0; i < 20; i++) gz_parallel_for(context, 4, 1, meet, &barrier);
  pthread_barrier_destroy(&barrier);
  graze_context_destroy(context);
}

static void add_index(void *argument, uint32_t index) {
  *(_Atomic uint64_t *)argument += index;
}

static void test_each(void **unused) {
  (void)unused;
  graze_context *context = test_context(3, NULL);
  _Atomic uint64_t sum = 0;
  gz_parallel_each(context, 1001, add_index, &sum);
  assert_int_equal(sum, 500500);
  parallel_place before = gz_serial_begin(context, true);
  assert_int_equal(gz_parallel_threads(context), 1);
  gz_parallel_each(context, 1001, add_index, &sum);
  gz_serial_end(before);
  assert_int_equal(gz_parallel_threads(context), 3);
  assert_int_equal(sum, 2 * 500500);
  graze_context_destroy(context);
}

/* ---- a loop of another context inside: a loop like any other ---- */

typedef struct other_job {
  graze_context *other;
  _Atomic uint64_t sum;
  _Atomic uint32_t wrong;
} other_job;

static void in_other(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  other_job *j = argument;
  (void)worker;
  for (uint32_t i = begin; i < end; i++) {
    if (gz_parallel_threads(j->other) != 2) j->wrong++;
    gz_parallel_each(j->other, 101, add_index, &j->sum);
  }
}

static void test_other_context(void **unused) {
  (void)unused;
  graze_context *context = test_context(4, NULL);
  other_job j = {.other = test_context(2, NULL)};
  gz_parallel_for(context, 200, 1, in_other, &j);
  assert_int_equal(j.sum, 200 * 5050);
  assert_int_equal(j.wrong, 0);
  graze_context_destroy(j.other);
  graze_context_destroy(context);
}

/* ---- many callers of one context ---- */

static void *call_loops(void *argument) {
  for (int i = 0; i < 200; i++) {
    _Atomic uint64_t sum = 0;
    gz_parallel_each(argument, 64, add_index, &sum);
    if (sum != 2016) return argument;
  }
  return NULL;
}

static void test_many_callers(void **unused) {
  (void)unused;
  pthread_t callers[6];
  graze_context *context = test_context(3, NULL);
  for (int i = 0; i < 6; i++) assert_int_equal(pthread_create(&callers[i], NULL, call_loops, context), 0);
  for (int i = 0; i < 6; i++) {
    void *wrong = context;
    pthread_join(callers[i], &wrong);
    assert_null(wrong);
  }
  graze_context_destroy(context);
}

/* ---- hooks: a thread for each of three shares ---- */

typedef struct hook_share {
  graze_task_function task;
  void *argument;
  uint32_t begin, end, worker;
  pthread_t id;
} hook_share;

typedef struct hook_count {
  _Atomic int enqueued, finished;
} hook_count;

static void *run_hook_share(void *argument) {
  const hook_share *s = argument;
  if (s->begin < s->end) s->task(s->argument, s->begin, s->end, s->worker);
  return NULL;
}

static void *enqueue(void *user, graze_task_function task, uint32_t count, uint32_t grain, void *argument) {
  hook_share *shares = calloc(3, sizeof *shares);
  uint32_t size = count / 3 + 1;
  ((hook_count *)user)->enqueued++;
  if (shares == NULL || grain == 0) abort();
  for (uint32_t k = 0; k < 3; k++) {
    uint32_t begin = k * size < count ? k * size : count, end = begin + size < count ? begin + size : count;
    shares[k] = (hook_share){task, argument, begin, end, 2 - k, 0};
    if (pthread_create(&shares[k].id, NULL, run_hook_share, &shares[k]) != 0) abort();
  }
  return shares;
}

static void finish(void *user, void *handle) {
  hook_share *shares = handle;
  ((hook_count *)user)->finished++;
  for (int k = 0; k < 3; k++) pthread_join(shares[k].id, NULL);
  free(shares);
}

static void test_hooks(void **unused) {
  (void)unused;
  hook_count counts = {0, 0};
  graze_context *context = NULL;
  graze_context_def def = graze_default_context_def();
  def.enqueue = enqueue;
  def.task_user = &counts;
  def.threads = 3;
  assert_int_equal(graze_context_create(&def, &context), GRAZE_ERROR_ARGUMENT); /* one without the other */
  def.finish = finish;
  assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
  check_loop(context, 1000, 1, true);
  check_loop(context, 7, 10, true); /* one range: on the calling thread */
  assert_int_equal(counts.enqueued, 1);
  assert_int_equal(counts.finished, 1);
  graze_context_destroy(context);
}

/* ---- no threads ---- */

static void test_refused_threads(void **unused) {
  (void)unused;
#if defined(CAN_REFUSE)
  for (int allowed = 0; allowed < 3; allowed++) {
    graze_context *context = test_context(4, NULL);
    threads_left = allowed;
    check_loop(context, 1000, 1, true);
    check_loop(context, 1000, 1, false);
    threads_left = INT32_MAX;
    graze_context_destroy(context);
  }
#else
  skip(); /* the sanitizers have a pthread_create of their own */
#endif
}

static void test_thread_numbers(void **unused) {
  (void)unused;
  graze_context *context = test_context(0, NULL);
  assert_true(gz_workers(context) >= 1);
  graze_context_destroy(context);
  context = test_context(1 << 20, NULL); /* no thread is started before a loop wants it */
  assert_int_equal(gz_workers(context), 1024);
  _Atomic uint64_t sum = 0;
  gz_parallel_each(context, 3, add_index, &sum);
  assert_int_equal(sum, 3);
  graze_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_item_once), cmocka_unit_test(test_rounding),
      cmocka_unit_test(test_really_parallel), cmocka_unit_test(test_each),
      cmocka_unit_test(test_other_context),   cmocka_unit_test(test_many_callers),
      cmocka_unit_test(test_hooks),           cmocka_unit_test(test_refused_threads),
      cmocka_unit_test(test_thread_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
