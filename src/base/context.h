/* The inside of a context, and how the rooms report errors. */
#ifndef GRAZE_SRC_BASE_CONTEXT_H
#define GRAZE_SRC_BASE_CONTEXT_H

#include <stdarg.h>

#include "graze/engine.h"

struct graze_context {
  uint64_t serial; /* of the context and its copies: no other has had it */
  graze_allocator allocator;
  graze_log_function log;
  void *log_user;
  graze_enqueue_function enqueue; /* NULL: the pool's threads */
  graze_finish_function finish;
  void *task_user;
  struct pool *pool;    /* the number of workers, and their threads */
  graze_engine *engine; /* of this context and its copies; NULL: there can be none.
                           Without stages there is none now */
};

/* Whether there is an engine with this stage: for callers that have to make a question ready. */
/* The malloc family. */
graze_allocator gz_system_allocator(void);

bool gz_engine_has(const graze_context *context, graze_stage stage);

/* Asks the context's engine, whose `take` gets a and b. True: it has answered, and is the calling thread's until
 * gz_engine_give. False: the processor is to do it. The thread's last error stays what it was. */
bool gz_engine_ask(const graze_context *context, graze_stage stage, uint64_t a, uint64_t b, void *question);
void gz_engine_give(const graze_context *context);

/* For messages. */
static inline const char *stage_name(graze_stage stage) {
  static const char *const names[GRAZE_STAGES] = {
      "pairs of triangles", "two meshes",       "a mesh with itself",   "a mesh at many poses",
      "pairs of boxes",     "pairs of spheres", "the steps of a world", "which objects are apart"};
  return names[stage];
}

/* Keeps the formatted line as the thread's last error, logs it, and returns `status`, so that a check reads:
 * return gz_fail(...). Without a context it only returns. */
graze_status gz_fail(const graze_context *context, graze_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
graze_status gz_fail_list(const graze_context *context, graze_status status, const char *format, va_list arguments);

/* The same of a file or what stands for it: "NAME:PLACE reason", where PLACE is "", "LINE:" or " byte N:" and NAME may
 * be NULL. A name too long for a message keeps its end, which tells more than its beginning. */
graze_status gz_fail_named(const graze_context *context, graze_status status, const char *name, const char *place,
                           const char *format, ...) __attribute__((format(printf, 5, 6)));
graze_status gz_fail_named_list(const graze_context *context, graze_status status, const char *name, const char *place,
                                const char *format, va_list arguments);

/* The last error of a thread: a loop takes that of its bodies along to the thread that began it. */
typedef struct gz_failure {
  uint64_t context; /* its serial */
  uint64_t count;   /* of the thread's errors so far */
  graze_error error;
} gz_failure;
gz_failure *gz_last_failure(void);

/* Tells the logger the same line as a warning: nothing has failed. */
void gz_warn_named(const graze_context *context, const char *name, const char *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* GRAZE_ERROR_ARGUMENT for a null pointer where there may be none. */
graze_status gz_fail_null(const graze_context *context);

/* GRAZE_ERROR_MEMORY with the size that was refused. */
graze_status gz_fail_memory(const graze_context *context, size_t bytes);

/* Whether the logger is spared the errors of the calling thread: for work whose caller has better words. Gives what was
 * so before. */
bool gz_silence(bool silent);

/* A piece of a text made fit for a message: unprintable characters as '?', cut after `most` of them or 64. */
typedef struct gz_quoted {
  char text[68];
} gz_quoted;
gz_quoted gz_quote(const char *first, const char *last, size_t most);

#endif
