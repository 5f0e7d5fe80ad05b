/* fault.h: how a writer or reader of this room complains; private to report. */
#ifndef GRAZE_REPORT_FAULT_H
#define GRAZE_REPORT_FAULT_H

#include <stdarg.h>

#include "graze/report.h"

/* Fills `error` (may be NULL) with "NAME: reason" and returns `status`. */
graze_status gz_report_fail(graze_io_error *error, graze_status status, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same for a function that has such arguments itself. */
graze_status gz_report_fail_list(graze_io_error *error, graze_status status, const char *name, const char *format,
                                 va_list arguments);

/* "NAME:LINE: reason" */
graze_status gz_report_fail_line(graze_io_error *error, graze_status status, const char *name, uint64_t line,
                                 const char *format, ...) __attribute__((format(printf, 5, 6)));

graze_status gz_report_fail_memory(graze_io_error *error, const char *name);

/* Empties `error`. */
graze_status gz_report_succeed(graze_io_error *error);

/* A piece of text for a message: printable ASCII, cut after a few words. */
typedef struct report_quoted {
  char text[68];
} report_quoted;

report_quoted gz_report_quote(const char *text);

#endif
