/* fault.c: see fault.h. A path too long for a message keeps its end, which tells more than its beginning. */
#include "fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_NAME = 220, LONGEST_QUOTE = 24 };

bool gz_io_fail(io_fault *fault, graze_status status, io_place place, uint64_t number, const char *format, ...) {
  fault->status = status;
  fault->place = place;
  fault->number = number;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(fault->reason, sizeof fault->reason, format, arguments);
  va_end(arguments);
  return false;
}

bool gz_io_fail_memory(io_fault *fault) {
  return gz_io_fail(fault, GRAZE_ERROR_MEMORY, IO_WHOLE_FILE, 0, "out of memory");
}

graze_status gz_io_report(const io_fault *fault, const char *name, graze_io_error *error) {
  if (error == NULL) return fault->status;
  error->status = fault->status;
  error->message[0] = 0;
  if (fault->status == GRAZE_OK) return GRAZE_OK;
  size_t length = strlen(name);
  const char *dots = length > LONGEST_NAME ? "..." : "";
  if (length > LONGEST_NAME) name += length - LONGEST_NAME;
  char place[40] = "";
  if (fault->place == IO_LINE) snprintf(place, sizeof place, "%llu:", (unsigned long long)fault->number);
  if (fault->place == IO_BYTE) snprintf(place, sizeof place, " byte %llu:", (unsigned long long)fault->number);
  snprintf(error->message, sizeof error->message, "%s%s:%s %s", dots, name, place, fault->reason);
  for (char *c = error->message; *c; c++) {
    if ((unsigned char)*c < ' ') *c = '?';
  }
  return fault->status;
}

io_quoted gz_io_quote(const char *first, const char *last) {
  io_quoted quoted;
  size_t length = (size_t)(last - first);
  size_t shown = length > LONGEST_QUOTE ? LONGEST_QUOTE : length;
  for (size_t i = 0; i < shown; i++) quoted.text[i] = first[i] < ' ' || first[i] > '~' ? '?' : first[i];
  strcpy(quoted.text + shown, length > shown ? "..." : "");
  return quoted;
}
