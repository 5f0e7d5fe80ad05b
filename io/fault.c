/* fault.c: see fault.h. */
#include "fault.h"

#include <stdio.h>

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

graze_status gz_io_report(const io_fault *fault, const char *name) {
  if (fault->status == GRAZE_OK) return GRAZE_OK;
  char place[40] = "";
  if (fault->place == IO_LINE) snprintf(place, sizeof place, "%llu:", (unsigned long long)fault->number);
  if (fault->place == IO_BYTE) snprintf(place, sizeof place, " byte %llu:", (unsigned long long)fault->number);
  return gz_fail_named(fault->context, fault->status, name, place, "%s", fault->reason);
}
