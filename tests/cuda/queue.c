/* Streams of the stand-in: what is queued, and when it is done. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "driver.h"

enum { MOST_VALUES = 32, VALUE_BYTES = 64 };

typedef enum command_kind { COPY_IN, COPY_OUT, LAUNCH, RECORD } command_kind;

struct command {
  command_kind kind;
  cu_memory memory;
  const void *from;
  void *to;
  size_t bytes;
  cu_function function;
  unsigned groups;
  _Alignas(8) unsigned char values[MOST_VALUES][VALUE_BYTES];
  cu_event event;
  uint64_t number; /* of the record */
  command *next;
};

/* ---- what is queued -------------------------------------------------------------------------------------------- */

static cu_result append(cu_stream stream, const command *made) {
  command *c = malloc(sizeof *c);
  if (c == NULL) return OUT_OF_MEMORY;
  *c = *made;
  c->next = NULL;
  if (stream->first == NULL)
    stream->first = c;
  else
    stream->last->next = c;
  stream->last = c;
  return the.order == EARLY ? drain(stream, NULL) : 0;
}

cu_result queue_copy(cu_stream stream, cu_memory memory, const void *from, void *back, size_t bytes) {
  const char *name = from != NULL ? "cuMemcpyHtoDAsync" : "cuMemcpyDtoHAsync";
  if (find_memory(memory, bytes) == NULL) {
    misuse("%s: %zu bytes at 0x%llx are of no buffer", name, bytes, memory);
    return INVALID_VALUE;
  }
  const command c = {
      .kind = from != NULL ? COPY_IN : COPY_OUT, .memory = memory, .from = from, .to = back, .bytes = bytes};
  return append(stream, &c);
}

cu_result queue_launch(cu_stream stream, cu_function function, unsigned groups, void **arguments) {
  const host_kernel *k = function->kernel;
  command c = {.kind = LAUNCH, .function = function, .groups = groups};
  if (k->count > MOST_VALUES || (k->count > 0 && arguments == NULL)) return INVALID_VALUE;
  for (uint32_t i = 0; i < k->count; i++) {
    size_t bytes = k->sizes[i] > 0 ? k->sizes[i] : sizeof(cu_memory);
    if (bytes > VALUE_BYTES) return INVALID_VALUE;
    memcpy(c.values[i], arguments[i], bytes); /* the driver too has taken them when it returns */
  }
  return append(stream, &c);
}

cu_result queue_event(cu_stream stream, cu_event event) {
  const command c = {.kind = RECORD, .event = event, .number = event->asked + 1};
  event->asked++;
  event->stream = stream;
  return append(stream, &c);
}

bool is_pending(const struct CUstream_st *stream) {
  return stream->first != NULL;
}

bool is_module_pending(const struct CUmod_st *module) {
  for (const object *o = first_object(STREAM); o != NULL; o = o->next) {
    for (const command *c = ((const struct CUstream_st *)o)->first; c != NULL; c = c->next) {
      if (c->kind == LAUNCH && c->function->module == module) return true;
    }
  }
  return false;
}

bool is_memory_pending(const char *memory, size_t bytes) {
  for (const object *o = first_object(STREAM); o != NULL; o = o->next) {
    for (const command *c = ((const struct CUstream_st *)o)->first; c != NULL; c = c->next) {
      const char *own = c->kind == COPY_IN ? c->from : c->to;
      bool copies = c->kind == COPY_IN || c->kind == COPY_OUT;
      if (copies && own + c->bytes > memory && own < memory + bytes) return true;
    }
  }
  return false;
}

static void drop_all(cu_stream stream) {
  while (stream->first != NULL) {
    command *c = stream->first;
    stream->first = c->next;
    free(c);
  }
}

void drop_commands(cu_context context) {
  for (object *o = first_object(STREAM); o != NULL; o = o->next) {
    if (o->context == context) drop_all((cu_stream)o);
  }
}

/* ---- what is done ---------------------------------------------------------------------------------------------- */

static cu_result run_copy(const command *c) {
  void *memory = find_memory(c->memory, c->bytes);
  if (memory == NULL) {
    misuse("a copy of %zu bytes is done after its buffer was released", c->bytes);
    return ILLEGAL_ADDRESS;
  }
  if (c->kind == COPY_IN)
    memcpy(memory, c->from, c->bytes);
  else
    memcpy(c->to, memory, c->bytes);
  return 0;
}

/* Kernels say what they read through pointers that nothing else is written through: then a device may read it when it
 * likes, and no two arguments may be the same memory if one is written. */
static bool are_apart(const host_kernel *k, void *const *memories) {
  for (uint32_t i = 0; i < k->count; i++) {
    for (uint32_t j = 0; j < k->count; j++) {
      bool same = i != j && k->sizes[i] == 0 && k->sizes[j] == 0 && memories[i] == memories[j] && memories[i] != NULL;
      if (!same || (k->access[i] & HOST_RESTRICT) == 0) continue;
      if (((k->access[i] | k->access[j]) & HOST_WRITTEN) == 0) continue;
      misuse("%s: arguments %u and %u are the same memory, and one is written", k->name, i, j);
      return false;
    }
  }
  return true;
}

static cu_result run_launch(const command *c) {
  const host_kernel *k = c->function->kernel;
  void *memories[MOST_VALUES] = {NULL};
  const void *values[MOST_VALUES];
  for (uint32_t i = 0; i < k->count; i++) {
    cu_memory address;
    values[i] = c->values[i];
    if (k->sizes[i] > 0) continue;
    memcpy(&address, c->values[i], sizeof address);
    memories[i] = address != 0 ? find_memory(address, 0) : NULL;
    values[i] = &memories[i];
    if (address == 0 || memories[i] != NULL) continue;
    misuse("%s: argument %u, 0x%llx, is of no buffer when the kernel runs", k->name, i, address);
    return ILLEGAL_ADDRESS;
  }
  if (!are_apart(k, memories)) return ILLEGAL_ADDRESS;
  if (the.runner == NULL) the.runner = host_runner_create(the.items, 1, false);
  if (the.runner == NULL) return OUT_OF_MEMORY;
  const char *fault = host_runner_run(the.runner, k, c->groups, values);
  if (fault != NULL) misuse("%s: %s", k->name, fault);
  check_guards(k->name);
  return fault == NULL ? 0 : LAUNCH_FAILED;
}

static cu_result run_command(const command *c) {
  if (++the.commands == the.lose_at) return the.lose_code;
  if (c->kind == LAUNCH) return run_launch(c);
  if (c->kind != RECORD) return run_copy(c);
  c->event->done = c->number;
  clock_gettime(CLOCK_MONOTONIC, &c->event->at);
  return 0;
}

static void run_first(cu_stream stream) {
  command *c = stream->first;
  cu_result result = run_command(c);
  stream->first = c->next;
  free(c);
  if (result != 0) lose_context(stream->head.context, result);
}

cu_result drain(cu_stream stream, const struct CUevent_st *event) {
  while (stream->first != NULL && (event == NULL || event->done < event->asked)) run_first(stream);
  return stream->head.context->lost;
}

void go_on(void) {
  if (the.order != RANDOM) return;
  for (object *o = first_object(STREAM); o != NULL; o = o->next) {
    cu_stream stream = (cu_stream)o;
    uint64_t some = splitmix64(the.random++) % 4;
    while (stream->first != NULL && some-- > 0) run_first(stream);
  }
}
