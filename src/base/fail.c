/* How errors are told: a line to the context's logger, kept for the thread that made the call. */
#include <stdio.h>
#include <string.h>

#include "base/context.h"

enum { LONGEST_NAME = 220, LONGEST_REASON = 280 };

static _Thread_local bool is_silent;
static _Thread_local gz_failure last;

const graze_error *graze_last_error(const graze_context *context) {
  static const graze_error none;
  return context != NULL && context->serial == last.context ? &last.error : &none;
}

gz_failure *gz_last_failure(void) {
  return &last;
}

bool gz_silence(bool silent) {
  bool before = is_silent;
  is_silent = silent;
  return before;
}

static graze_status keep(const graze_context *context, graze_status status, const char *line) {
  last.context = context->serial;
  last.count++;
  last.error.status = status;
  memcpy(last.error.message, line, strlen(line) + 1);
  if (context->log != NULL && !is_silent) context->log(context->log_user, GRAZE_LOG_ERROR, last.error.message);
  return status;
}

graze_status gz_fail_list(const graze_context *context, graze_status status, const char *format, va_list arguments) {
  char line[sizeof last.error.message];
  if (context == NULL) return status;
  vsnprintf(line, sizeof line, format, arguments);
  return keep(context, status, line);
}

graze_status gz_fail(const graze_context *context, graze_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  gz_fail_list(context, status, format, arguments);
  va_end(arguments);
  return status;
}

typedef struct named_line {
  char text[sizeof last.error.message];
} named_line;

static named_line put_name(const char *name, const char *place, const char *format, va_list arguments) {
  char reason[LONGEST_REASON];
  named_line line;
  vsnprintf(reason, sizeof reason, format, arguments);
  if (name == NULL) name = "(no name)";
  size_t length = strlen(name);
  const char *dots = length > LONGEST_NAME ? "..." : "";
  if (length > LONGEST_NAME) name += length - LONGEST_NAME;
  snprintf(line.text, sizeof line.text, "%s%s:%s %s", dots, name, place, reason);
  for (char *c = line.text; *c; c++) {
    if ((unsigned char)*c < ' ') *c = '?';
  }
  return line;
}

graze_status gz_fail_named_list(const graze_context *context, graze_status status, const char *name, const char *place,
                                const char *format, va_list arguments) {
  if (context == NULL) return status;
  return keep(context, status, put_name(name, place, format, arguments).text);
}

void gz_warn_named(const graze_context *context, const char *name, const char *place, const char *format, ...) {
  if (context->log == NULL) return;
  va_list arguments;
  va_start(arguments, format);
  context->log(context->log_user, GRAZE_LOG_WARNING, put_name(name, place, format, arguments).text);
  va_end(arguments);
}

graze_status gz_fail_named(const graze_context *context, graze_status status, const char *name, const char *place,
                           const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  gz_fail_named_list(context, status, name, place, format, arguments);
  va_end(arguments);
  return status;
}

graze_status gz_fail_null(const graze_context *context) {
  return gz_fail(context, GRAZE_ERROR_ARGUMENT, "a pointer that must not be NULL is NULL");
}

graze_status gz_fail_memory(const graze_context *context, size_t bytes) {
  return gz_fail(context, GRAZE_ERROR_MEMORY, "out of memory: %zu bytes were refused", bytes);
}

gz_quoted gz_quote(const char *first, const char *end, size_t most) {
  gz_quoted q;
  size_t length = (size_t)(end - first), shown = length > most ? most : length;
  for (size_t i = 0; i < shown; i++) q.text[i] = first[i] < ' ' || first[i] > '~' ? '?' : first[i];
  strcpy(q.text + shown, length > shown ? "..." : "");
  return q;
}
