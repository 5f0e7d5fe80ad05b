/* fault.h: the first thing that is wrong with a file, and how it becomes a message; private to io. */
#ifndef GRAZE_IO_FAULT_H
#define GRAZE_IO_FAULT_H

#include "graze/io.h"

typedef enum io_place { IO_WHOLE_FILE, IO_LINE, IO_BYTE } io_place;

typedef struct io_fault {
  graze_status status; /* GRAZE_OK: none */
  io_place place;
  uint64_t number; /* line, counted from 1, or byte, counted from 0 */
  char reason[256];
} io_fault;

/* Notes a fault and returns false, so that a parser can `return gz_io_fail(...)`. */
bool gz_io_fail(io_fault *fault, graze_status status, io_place place, uint64_t number, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
bool gz_io_fail_memory(io_fault *fault);

/* Writes the message into `error` (may be NULL) and returns the status. */
graze_status gz_io_report(const io_fault *fault, const char *name, graze_io_error *error);

/* The text [first, last) made fit for a message: at most 24 characters, unprintable ones as '?'. */
typedef struct io_quoted {
  char text[32];
} io_quoted;
io_quoted gz_io_quote(const char *first, const char *last);

#endif
