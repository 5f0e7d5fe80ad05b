/* Contexts: everything that would otherwise be a global. */
#include "base/context.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "base/cpu.h"
#include "base/memory.h"
#include "base/pool.h"

enum { CONTEXT_COOKIE = 0x67726332, MOST_THREADS = 1024 };

/* Large memory asks for huge pages: the first touch of 4 KiB pages costs more than many a pass over them. */
static void *system_alloc(void *user, size_t size, size_t alignment) {
  const size_t huge_page = (size_t)2 << 20;
  (void)user;
  bool huge = size >= 2 * huge_page;
  if (huge && alignment < huge_page) alignment = huge_page;
  if (size > SIZE_MAX - alignment) return NULL;
  void *pointer = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
#if defined(MADV_HUGEPAGE)
  if (huge && pointer != NULL) (void)madvise(pointer, size, MADV_HUGEPAGE);
#endif
  return pointer;
}

static void system_release(void *user, void *pointer, size_t size) {
  (void)user;
  (void)size;
  free(pointer);
}

graze_allocator gz_system_allocator(void) {
  return (graze_allocator){system_alloc, system_release, NULL};
}

graze_context_def graze_default_context_def(void) {
  return (graze_context_def){.cookie = CONTEXT_COOKIE};
}

/* With what copies of the context point to. */
typedef struct context_block {
  graze_context context;
  graze_engine engine;
  pool pool; /* last: it has an end as long as need be */
} context_block;

static size_t block_bytes(uint32_t workers) {
  return offsetof(context_block, pool) + pool_bytes(workers);
}

static bool is_valid(const graze_context_def *d) {
  return d->cookie == CONTEXT_COOKIE && d->threads >= 0 &&
         (d->allocator.alloc == NULL) == (d->allocator.release == NULL) && (d->enqueue == NULL) == (d->finish == NULL);
}

static uint32_t workers_of(const graze_context_def *d) {
  uint32_t wanted = d->threads > 0 ? (uint32_t)d->threads : gz_processors();
  return wanted < MOST_THREADS ? wanted : MOST_THREADS;
}

graze_status graze_context_create(const graze_context_def *def, graze_context **context) {
  graze_context_def d = def != NULL ? *def : graze_default_context_def();
  if (context == NULL || !is_valid(&d)) return GRAZE_ERROR_ARGUMENT;
  if (d.allocator.alloc == NULL) d.allocator = gz_system_allocator();
  uint32_t workers = workers_of(&d);
  context_block *made = d.allocator.alloc(d.allocator.user, block_bytes(workers), MEMORY_ALIGNMENT);
  if (made == NULL) return GRAZE_ERROR_MEMORY;
  if (!gz_pool_init(&made->pool, workers)) {
    d.allocator.release(d.allocator.user, made, block_bytes(workers));
    return GRAZE_ERROR_MEMORY;
  }
  made->engine = (graze_engine){0};
  static _Atomic uint64_t contexts;
  made->context = (graze_context){.serial = ++contexts,
                                  .allocator = d.allocator,
                                  .log = d.log,
                                  .log_user = d.log_user,
                                  .enqueue = d.enqueue,
                                  .finish = d.finish,
                                  .task_user = d.task_user,
                                  .pool = &made->pool,
                                  .engine = &made->engine};
  gz_cpu_best();
  *context = &made->context;
  return GRAZE_OK;
}

graze_status graze_context_set_engine(graze_context *context, const graze_engine *engine) {
  if (context == NULL || context->engine == NULL) return gz_fail_null(context);
  const graze_engine none = {0};
  if (engine != NULL && (engine->take == NULL || engine->give == NULL || engine->stages == NULL)) {
    return gz_fail_null(context);
  }
  *context->engine = engine != NULL ? *engine : none;
  return GRAZE_OK;
}

static void tell_failure(const graze_context *context, graze_stage stage, graze_status status) {
  char line[128];
  if (context->log == NULL) return;
  snprintf(line, sizeof line, "the engine failed at %s (%s); the processor does it", stage_name(stage),
           graze_status_string(status));
  context->log(context->log_user, GRAZE_LOG_WARNING, line);
}

bool gz_engine_has(const graze_context *context, graze_stage stage) {
  const graze_engine *engine = context->engine;
  return engine != NULL && (uint32_t)stage < engine->stage_count && engine->stages[stage] != NULL;
}

bool gz_engine_ask(const graze_context *context, graze_stage stage, uint64_t a, uint64_t b, void *question) {
  const graze_engine *engine = context->engine;
  if (!gz_engine_has(context, stage)) return false;
  if (!engine->take(engine->user, stage, a, b)) return false;
  const gz_failure before = *gz_last_failure(); /* what goes wrong on the way to an answer is no error of the call */
  graze_status status = engine->stages[stage](engine->user, question);
  *gz_last_failure() = before;
  if (status == GRAZE_OK) return true;
  engine->give(engine->user);
  if (status != GRAZE_ERROR_UNSUPPORTED) tell_failure(context, stage, status);
  return false;
}

void gz_engine_give(const graze_context *context) {
  context->engine->give(context->engine->user);
}

void graze_context_destroy(graze_context *context) {
  if (context == NULL) return;
  graze_allocator allocator = context->allocator;
  size_t bytes = block_bytes(context->pool->workers);
  gz_pool_end(context->pool);
  allocator.release(allocator.user, context, bytes);
}
