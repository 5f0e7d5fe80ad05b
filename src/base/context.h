/* The inside of a context, and how the rooms report errors. */
#ifndef GRAZE_SRC_BASE_CONTEXT_H
#define GRAZE_SRC_BASE_CONTEXT_H

#include "graze/engine.h"

struct graze_context {
  graze_allocator allocator;
  graze_log_function log;
  void *log_user;
  graze_enqueue_function enqueue; /* NULL: the pool's threads */
  graze_finish_function finish;
  void *task_user;
  struct pool *pool;    /* the number of workers, and their threads */
  graze_engine *engine; /* of this context, its copies and those that share it; NULL: there can be none.
                           Without `take` there is none now */
};

/* Whether the context's engine does a stage: then it is the calling thread's until `give`. */
static inline bool engine_take(const graze_context *context, graze_stage stage, uint64_t a, uint64_t b) {
  const graze_engine *engine = context->engine;
  return engine != NULL && engine->take != NULL && engine->take(engine->user, stage, a, b);
}

/* Logs one formatted line at error level and returns `status`, so that a check reads: return gz_fail(...). */
graze_status gz_fail(const graze_context *context, graze_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether errors of the calling thread are kept from the logger: for bodies of loops whose caller has better words.
 * Gives what was so before. */
bool gz_silence(bool silent);

/* GRAZE_ERROR_MEMORY with the size that was refused. */
graze_status gz_fail_memory(const graze_context *context, size_t bytes);

#endif
