/* fault.h: the first thing that is wrong with a file, and how it becomes a message; private to io. */
#ifndef GRAZE_IO_FAULT_H
#define GRAZE_IO_FAULT_H

#include "base/context.h"
#include "graze/io.h"

typedef enum io_place { IO_WHOLE_FILE, IO_LINE, IO_BYTE } io_place;

typedef struct io_fault {
  const graze_context *context; /* of the call: for memory, threads and the message */
  graze_status status;          /* GRAZE_OK: none */
  io_place place;
  uint64_t number; /* line, counted from 1, or byte, counted from 0 */
  char reason[256];
} io_fault;

/* Notes a fault and returns false, so that a parser can `return gz_io_fail(...)`. */
bool gz_io_fail(io_fault *fault, graze_status status, io_place place, uint64_t number, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
bool gz_io_fail_memory(io_fault *fault);

/* Reports the fault, if there is one, and returns its status. `name` is that of the file or NULL. */
graze_status gz_io_report(const io_fault *fault, const char *name);

/* The text [first, last) made fit for a message: at most 24 characters, unprintable ones as '?'. */
static inline gz_quoted gz_io_quote(const char *first, const char *last) {
  return gz_quote(first, last, 24);
}

#endif
