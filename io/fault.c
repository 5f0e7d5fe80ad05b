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

bool gz_io_pass(io_fault *fault, io_oddity kind, uint64_t line, const char *first, const char *last) {
  io_passed *passed = &fault->passed[kind];
  if (fault->strict) return false;
  if (passed->count++ > 0) return true;
  passed->line = line;
  passed->text = gz_io_quote(first, last);
  return true;
}

void gz_io_pass_part(io_fault *fault, const io_fault *part, uint64_t lines) {
  for (int kind = 0; kind < IO_ODDITIES; kind++) {
    io_passed *passed = &fault->passed[kind];
    if (passed->count == 0) {
      *passed = part->passed[kind];
      passed->line += lines;
    } else {
      passed->count += part->passed[kind].count;
    }
  }
}

static void report_passed(const io_fault *fault, const char *name) {
  static const char *const kinds[] = {"is not a statement of the format", "is not finite", "is too much on the line"};
  for (int kind = 0; kind < IO_ODDITIES; kind++) {
    const io_passed *passed = &fault->passed[kind];
    char place[40], more[48] = "";
    if (passed->count == 0) continue;
    snprintf(place, sizeof place, "%llu:", (unsigned long long)passed->line);
    if (passed->count > 1) snprintf(more, sizeof more, " (%llu such lines)", (unsigned long long)passed->count);
    gz_warn_named(fault->context, name, place, "\"%s\" %s, and no triangle depends on it: passed over%s",
                  passed->text.text, kinds[kind], more);
  }
}

graze_status gz_io_report(const io_fault *fault, const char *name) {
  if (fault->status == GRAZE_OK) {
    report_passed(fault, name);
    return GRAZE_OK;
  }
  char place[40] = "";
  if (fault->place == IO_LINE) snprintf(place, sizeof place, "%llu:", (unsigned long long)fault->number);
  if (fault->place == IO_BYTE) snprintf(place, sizeof place, " byte %llu:", (unsigned long long)fault->number);
  return gz_fail_named(fault->context, fault->status, name, place, "%s", fault->reason);
}
