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
                           Without stages there is none now */
};

/* Asks the context's engine, whose `take` gets a and b. True: it has answered, and is the calling thread's until
 * gz_engine_give. False: the processor is to do it. */
bool gz_engine_ask(const graze_context *context, graze_stage stage, uint64_t a, uint64_t b, void *question);
void gz_engine_give(const graze_context *context);

/* For messages. */
static inline const char *stage_name(graze_stage stage) {
  static const char *const names[GRAZE_STAGES] = {"pairs of triangles",   "two meshes",     "a mesh with itself",
                                                  "a mesh at many poses", "pairs of boxes", "pairs of spheres"};
  return names[stage];
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
