/* fault.h: the first thing that is wrong with a file, what is odd but may be passed over because no triangle depends on
 * it, and how they become messages; private to io. */
#ifndef GRAZE_IO_FAULT_H
#define GRAZE_IO_FAULT_H

#include "base/context.h"
#include "graze/io.h"

typedef enum io_place { IO_WHOLE_FILE, IO_LINE, IO_BYTE } io_place;

typedef enum io_oddity {
  IO_UNKNOWN_WORD, /* a statement that the format does not have */
  IO_NOT_FINITE,   /* a colour or the like */
  IO_TOO_MUCH,     /* numbers behind all that should stand on the line */
  IO_ODDITIES
} io_oddity;

/* Lines with an oddity of a kind. */
typedef struct io_passed {
  uint64_t count, line; /* the first of them */
  gz_quoted text;       /* there */
} io_passed;

typedef struct io_fault {
  const graze_context *context; /* of the call: for memory, threads and the message */
  bool strict;                  /* oddities are faults */
  io_passed passed[IO_ODDITIES];
  graze_status status; /* GRAZE_OK: none */
  io_place place;
  uint64_t number; /* line, counted from 1, or byte, counted from 0 */
  char reason[256];
} io_fault;

/* Notes a fault and returns false, so that a parser can `return gz_io_fail(...)`. */
bool gz_io_fail(io_fault *fault, graze_status status, io_place place, uint64_t number, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
bool gz_io_fail_memory(io_fault *fault);

/* Notes the oddity [first, last) and returns true, unless it is to be a fault. */
bool gz_io_pass(io_fault *fault, io_oddity kind, uint64_t line, const char *first, const char *last);

/* That of a part of the file, read by a thread of its own. */
static inline io_fault gz_io_fault_of_part(const io_fault *fault) {
  return (io_fault){.context = fault->context, .strict = fault->strict};
}

/* Adds what was passed over in a part of the file that has so many lines before it. */
void gz_io_pass_part(io_fault *fault, const io_fault *part, uint64_t lines);

/* Reports the fault, or what was passed over, and returns the status. `name` is that of the file or NULL. */
graze_status gz_io_report(const io_fault *fault, const char *name);

/* The text [first, last) made fit for a message: at most 24 characters, unprintable ones as '?'. */
static inline gz_quoted gz_io_quote(const char *first, const char *last) {
  return gz_quote(first, last, 24);
}

#endif
