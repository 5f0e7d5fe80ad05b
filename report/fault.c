/* fault.c: see fault.h. A name too long for a message keeps its end, which tells more than its beginning. */
#include "fault.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST_NAME = 220, LONGEST_QUOTE = 64 };

static void write_message(graze_io_error *error, const char *name, const char *line, const char *format,
                          va_list arguments) {
  char reason[280];
  vsnprintf(reason, sizeof reason, format, arguments);
  size_t length = strlen(name);
  const char *dots = length > LONGEST_NAME ? "..." : "";
  if (length > LONGEST_NAME) name += length - LONGEST_NAME;
  snprintf(error->message, sizeof error->message, "%s%s:%s %s", dots, name, line, reason);
  for (char *c = error->message; *c; c++) {
    if ((unsigned char)*c < ' ') *c = '?';
  }
}

graze_status gz_report_fail_list(graze_io_error *error, graze_status status, const char *name, const char *format,
                                 va_list arguments) {
  if (error == NULL) return status;
  error->status = status;
  write_message(error, name, "", format, arguments);
  return status;
}

graze_status gz_report_fail(graze_io_error *error, graze_status status, const char *name, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  gz_report_fail_list(error, status, name, format, arguments);
  va_end(arguments);
  return status;
}

graze_status gz_report_fail_line(graze_io_error *error, graze_status status, const char *name, uint64_t line,
                                 const char *format, ...) {
  char place[24];
  va_list arguments;
  if (error == NULL) return status;
  error->status = status;
  snprintf(place, sizeof place, "%llu:", (unsigned long long)line);
  va_start(arguments, format);
  write_message(error, name, place, format, arguments);
  va_end(arguments);
  return status;
}

graze_status gz_report_fail_memory(graze_io_error *error, const char *name) {
  return gz_report_fail(error, GRAZE_ERROR_MEMORY, name, "out of memory");
}

graze_status gz_report_succeed(graze_io_error *error) {
  if (error != NULL) *error = (graze_io_error){.status = GRAZE_OK};
  return GRAZE_OK;
}

report_quoted gz_report_quote(const char *text) {
  report_quoted quoted;
  size_t length = strlen(text);
  size_t shown = length > LONGEST_QUOTE ? LONGEST_QUOTE : length;
  for (size_t i = 0; i < shown; i++) quoted.text[i] = text[i] < ' ' || text[i] > '~' ? '?' : text[i];
  strcpy(quoted.text + shown, length > shown ? "..." : "");
  return quoted;
}
