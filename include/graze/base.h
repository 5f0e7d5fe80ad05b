/* graze/base.h: status codes, the context, and what every other header needs.
 *
 * Conventions of the whole interface
 *   - A call that can fail returns graze_status; its outputs go through pointers and are left untouched on
 *     failure unless documented otherwise.
 *   - A definition struct is initialised by its graze_default_*() function; then set the fields you need. The
 *     `cookie` field detects structs that were not initialised.
 *   - Objects that are const in a call may be used by many threads at once. Objects that are not const may be
 *     used by one thread at a time, but for contexts: threads may share one for calls on different objects, and
 *     the logger and the allocator are then called by several at once.
 *   - A call that fails says why in one line, which goes to the context's logger and stays to be asked for:
 *     graze_last_error. It names the element: object, mesh, vertex, file and line.
 *   - Nothing is process wide: allocator, logger and threads belong to a context.
 */
#ifndef GRAZE_BASE_H
#define GRAZE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graze/version.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(GRAZE_SHARED) && defined(__GNUC__)
#define GRAZE_API __attribute__((visibility("default")))
#else
#define GRAZE_API
#endif

typedef enum graze_status {
  GRAZE_OK = 0,
  GRAZE_ERROR_ARGUMENT,    /* null pointer, unknown enum value, definition not initialised */
  GRAZE_ERROR_MEMORY,      /* the allocator failed */
  GRAZE_ERROR_NOT_FINITE,  /* a coordinate or matrix entry is NaN or infinite; the message names it */
  GRAZE_ERROR_INDEX,       /* a vertex index is out of range; the message names triangle and corner */
  GRAZE_ERROR_LIMIT,       /* more elements than 32-bit numbering allows */
  GRAZE_ERROR_FILE,        /* cannot be opened, read or written; the message has the system's reason */
  GRAZE_ERROR_FORMAT,      /* the bytes are not what they claim to be; the message has line or byte */
  GRAZE_ERROR_POSE,        /* the pose is not allowed here (tier T0 requires the identity) */
  GRAZE_ERROR_HANDLE,      /* an id that is stale or was never issued */
  GRAZE_ERROR_UNSUPPORTED, /* this build or this machine lacks what is requested */
  GRAZE_ERROR_DEVICE,      /* a device's driver failed; the message names device and call */
  GRAZE_ERROR_RANK,        /* ranks that work together cannot reach each other; the message names rank and call */
  GRAZE_CANCELLED          /* the progress callback asked to stop; results are incomplete */
} graze_status;

/* A short fixed text such as "index out of range". Never NULL. */
GRAZE_API const char *graze_status_string(graze_status status);

/* The version of the library that is linked, for example "0.1.0". */
GRAZE_API const char *graze_version(void);

/* Memory. `alloc` returns `size` bytes (> 0) aligned to `alignment` (a power of two), or NULL; `release` frees them,
 * with the same size. Both may be called from several threads at once. */
typedef struct graze_allocator {
  void *(*alloc)(void *user, size_t size, size_t alignment);
  void (*release)(void *user, void *pointer, size_t size);
  void *user;
} graze_allocator;

/* What went wrong. */
typedef struct graze_error {
  graze_status status;
  char message[512]; /* one line; "" when nothing has gone wrong */
} graze_error;

/* In rising order, so that a logger can leave out what is below a level. PROGRESS: what takes long now, for somebody
 * who waits; of no use in a file. */
typedef enum graze_log_level { GRAZE_LOG_PROGRESS, GRAZE_LOG_INFO, GRAZE_LOG_WARNING, GRAZE_LOG_ERROR } graze_log_level;

/* Receives one line without newline. For a failing call the last GRAZE_LOG_ERROR line says what and where: it is the
 * message of graze_last_error. */
typedef void (*graze_log_function)(void *user, graze_log_level level, const char *message);

/* Called from time to time on the calling thread during long work; `done` of `total` units. Return false to cancel: the
 * call then returns GRAZE_CANCELLED. */
typedef bool (*graze_progress_function)(void *user, uint64_t done, uint64_t total);

/* ---- tasks ----
 * A context has its own pool of threads, started by the first loops that can use them. A program with a task system of
 * its own passes two functions instead, as with Box2D and Box3D. */

/* Processes the items [begin, end). `worker` is below the context's number of threads, and no two ranges of a task run
 * under the same one at the same time. */
typedef void (*graze_task_function)(void *argument, uint32_t begin, uint32_t end, uint32_t worker);

/* Arranges for task(argument, begin, end, worker) to be called for ranges that cover [0, count), each item once, in any
 * order and on any threads; ranges should have at least `grain` items. Returns a handle for `finish`, or NULL if all is
 * done already. Called from any thread that calls the library. */
typedef void *(*graze_enqueue_function)(void *user, graze_task_function task, uint32_t count, uint32_t grain,
                                        void *argument);

/* Waits until the task is done. Called once per handle, on the thread that called `enqueue`. */
typedef void (*graze_finish_function)(void *user, void *handle);

typedef struct graze_context graze_context;

typedef struct graze_context_def {
  graze_allocator allocator; /* all NULL: malloc family */
  graze_log_function log;    /* NULL: silent */
  void *log_user;
  graze_enqueue_function enqueue; /* both NULL: the context's own pool */
  graze_finish_function finish;
  void *task_user;
  int threads; /* at most so many at a time, the calling one included;
                  0: one for each processor; more than 1024 count as 1024 */
  uint32_t cookie;
} graze_context_def;

GRAZE_API graze_context_def graze_default_context_def(void);

/* Makes a context. `def` may be NULL for the defaults. Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_context_create(const graze_context_def *def, graze_context **context);

/* Everything made with the context must be destroyed before it. NULL is allowed. */
GRAZE_API void graze_context_destroy(graze_context *context);

/* The last failure of the calling thread in a call of any of the libraries that was given `context` or something made
 * with it. A thread keeps one error: its next failing call, on whatever context, replaces it, and a call that succeeds
 * leaves it as it is. GRAZE_OK and "" when the thread's last failure was not with this context. GRAZE_CANCELLED is no
 * failure. A call that gets no context, because an argument is NULL, leaves no error. Never NULL; valid until the
 * thread's next failing call. */
GRAZE_API const graze_error *graze_last_error(const graze_context *context);

/* Name of the widest instruction set in use: "scalar", "avx2", "avx512" or, on ARM, "neon". The environment variable
 * GRAZE_DISABLE (for example "avx512" or "avx512,avx2"), read when the first context is created, disables some. */
GRAZE_API const char *graze_instruction_set(void);

/* The hash of a set of pairs is the sum of this value over its pairs, mod 2^64. */
GRAZE_API uint64_t graze_pair_hash(uint32_t first, uint32_t second);

#ifdef __cplusplus
}
#endif
#endif
