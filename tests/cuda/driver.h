/* tests/cuda/driver.h: the inside of the stand-in for the driver. One lock is held during every call. */
#ifndef GRAZE_TESTS_CUDA_DRIVER_H
#define GRAZE_TESTS_CUDA_DRIVER_H

#include <stdbool.h>
#include <time.h>

#include "gpu/cuda_driver.h"
#include "host_runner.h"
#include "stand_in.h"

#define EXPORTED                            __attribute__((visibility("default")))
#define DECLARE(name, function, parameters) EXPORTED cu_result function parameters;
CU_FUNCTIONS(DECLARE)
#undef DECLARE

/* Errors, as cuda.h has them. */
enum {
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  INVALID_PTX = 218,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
  ILLEGAL_ADDRESS = 700,
  CONTEXT_IS_DESTROYED = 709,
  LAUNCH_FAILED = 719
};

/* Numbers of the functions. */
enum {
#define NUMBER(name, function, parameters) AT_##name,
  CU_FUNCTIONS(NUMBER)
#undef NUMBER
      FUNCTIONS
};

/* ---- objects --------------------------------------------------------------------------------------------------- */

typedef enum kind { CONTEXT, STREAM, MODULE, FUNCTION, EVENT, KINDS } kind;

/* What a handle points to. Those that were destroyed are kept apart, so that their addresses are not used again. */
typedef struct object {
  kind kind;
  cu_context context;
  struct object *next;
} object;

struct CUctx_st {
  object head;
  int device;
  int retained;
  cu_result lost; /* the error that all calls give from now on; 0: none */
  bool excused;   /* what is left in it was left because a call was made to fail */
};

struct CUmod_st {
  object head;
  const host_module *code;
  bool guessed; /* another module has the same kernels: it is not to be run */
};

struct CUfunc_st {
  object head;
  cu_module module;
  const host_kernel *kernel;
};

typedef struct command command;

struct CUstream_st {
  object head;
  command *first, *last;
};

struct CUevent_st {
  object head;
  cu_stream stream;
  uint64_t asked, done; /* how often it was recorded, and reached */
  struct timespec at;
};

void *make_object(kind what, size_t size, cu_context context); /* NULL: no memory */
/* NULL, and a misuse: it is none of this kind, or none any more. */
void *find_object(kind what, const void *handle, const char *function);
void destroy_object(object *o);
uint32_t count_objects(kind what);
object *first_object(kind what);

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* Addresses of a device begin here: no processor can read them. */
#define FIRST_ADDRESS 0xC0DA000000000000u

cu_result make_buffer(cu_context context, size_t bytes, cu_memory *address);
cu_result free_buffer(cu_memory address);
/* Where the processor has `bytes` from an address on; NULL: they are of no buffer. */
void *find_memory(cu_memory address, size_t bytes);
/* Misuse when something was written next to a buffer; `culprit` may have done it. */
void check_guards(const char *culprit);

cu_result make_pinned(cu_context context, size_t bytes, void **memory);
cu_result free_pinned(const void *memory);

/* Releases all memory of a context, and says how much there was. */
uint32_t drop_memory(cu_context context);

/* ---- streams --------------------------------------------------------------------------------------------------- */

cu_result queue_copy(cu_stream stream, cu_memory to, const void *from, void *back, size_t bytes);
cu_result queue_launch(cu_stream stream, cu_function function, unsigned groups, void **arguments);
cu_result queue_event(cu_stream stream, cu_event event);
bool is_pending(const struct CUstream_st *stream);
bool is_module_pending(const struct CUmod_st *module);
/* Whether a copy is to read or write any of these bytes of the program. */
bool is_memory_pending(const char *memory, size_t bytes);

/* Does what is queued, up to an event or, with NULL, all. */
cu_result drain(cu_stream stream, const struct CUevent_st *event);
/* Does some of it, or none, as the order is. */
void go_on(void);
void drop_commands(cu_context context);

/* ---- modules --------------------------------------------------------------------------------------------------- */

cu_result load_image(const char *image, int capability, const host_module **code, bool *guessed);

/* ---- the whole ------------------------------------------------------------------------------------------------- */

typedef enum order { LATE, EARLY, RANDOM } order;

typedef struct driver {
  bool initialised;
  int devices, capability;
  size_t limit, used;
  order order;
  host_order items;
  uint64_t random;
  bool doomed;
  cu_result doom; /* the error of a device that is gone with its context */
  cu_context primary[16];
  uint64_t commands, lose_at;
  cu_result lose_code;
  host_runner *runner;
  uint32_t pinned, buffers;
  int pushed; /* contexts on the stacks of all threads */
} driver;

extern driver the;

/* Counts and prints a misuse. */
void misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
void lose_context(cu_context context, cu_result code);
/* Ends a primary context with all that is in it. */
void end_context(cu_context context, const char *why);

#endif
