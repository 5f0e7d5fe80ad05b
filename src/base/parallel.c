/* Parallel loops on the context's pool (pool.c), or through the caller's own task system. */
#include "base/parallel.h"

#include "base/context.h"
#include "base/pool.h"

/* A thread of a pool, or one that called a loop, and everything that it calls. */
static _Thread_local parallel_place here;

uint32_t gz_workers(const graze_context *context) {
  return context->pool->workers;
}

static bool is_inside(const graze_context *context) {
  return here.pool == context->pool;
}

int gz_parallel_threads(const graze_context *context) {
  return is_inside(context) ? 1 : (int)context->pool->workers;
}

parallel_place gz_serial_begin(const graze_context *context, bool serial) {
  parallel_place before = here;
  if (serial && !is_inside(context)) here = (parallel_place){context->pool, 0};
  return before;
}

void gz_serial_end(parallel_place before) {
  here = before;
}

typedef struct loop {
  pool_loop shared; /* first */
  const graze_context *context;
  graze_task_function body;
  void *argument;
  uint32_t grain;
  _Atomic bool failing; /* a thread is at what follows: */
  uint64_t failed;      /* the lowest range whose body has reported an error, and the error; UINT64_MAX: none */
  gz_failure failure;
} loop;

static void keep_failure(loop *l, uint32_t begin) {
  while (atomic_exchange(&l->failing, true)) continue;
  if (begin < l->failed) {
    l->failed = begin;
    l->failure = *gz_last_failure();
  }
  atomic_store(&l->failing, false);
}

static void run_range(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  loop *l = argument;
  parallel_place before = here;
  uint64_t errors = gz_last_failure()->count;
  unsigned saved = gz_fp_enter();
  here = (parallel_place){l->context->pool, worker};
  l->body(l->argument, begin, end, worker);
  here = before;
  gz_fp_leave(saved);
  if (gz_last_failure()->count != errors) keep_failure(l, begin);
}

static void run_ranges(pool_loop *shared, uint32_t worker) {
  loop *l = (loop *)shared;
  for (;;) {
    uint64_t begin = atomic_fetch_add_explicit(&shared->next, l->grain, memory_order_relaxed);
    if (begin >= shared->count) return;
    uint64_t end = begin + l->grain;
    run_range(l, (uint32_t)begin, end < shared->count ? (uint32_t)end : shared->count, worker);
  }
}

void gz_parallel_for(const graze_context *context, uint32_t count, uint32_t grain, graze_task_function body,
                     void *argument) {
  loop l = {{.run = run_ranges, .count = count}, context, body, argument, grain, .failed = UINT64_MAX};
  if (count == 0) return;
  if (count <= grain || gz_parallel_threads(context) == 1) {
    run_range(&l, 0, count, is_inside(context) ? here.worker : 0);
  } else if (context->enqueue != NULL) {
    void *task = context->enqueue(context->task_user, run_range, count, grain, &l);
    if (task != NULL) context->finish(context->task_user, task);
  } else {
    gz_pool_run(context->pool, &l.shared, (count - 1) / grain + 1);
  }
  if (l.failed != UINT64_MAX) {
    l.failure.count = gz_last_failure()->count + 1;
    *gz_last_failure() = l.failure;
  }
}

typedef struct each {
  void (*body)(void *, uint32_t);
  void *argument;
} each;

static void run_each(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  const each *e = argument;
  (void)worker;
  for (uint32_t i = begin; i < end; i++) e->body(e->argument, i);
}

void gz_parallel_each(const graze_context *context, uint32_t count, void (*body)(void *argument, uint32_t index),
                      void *argument) {
  each e = {body, argument};
  gz_parallel_for(context, count, 1, run_each, &e);
}
