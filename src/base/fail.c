/* How errors are told: a line to the context's logger. */
#include <stdarg.h>
#include <stdio.h>

#include "base/context.h"

static _Thread_local bool is_silent;

bool gz_silence(bool silent) {
  bool before = is_silent;
  is_silent = silent;
  return before;
}

graze_status gz_fail(const graze_context *context, graze_status status, const char *format, ...) {
  if (context->log == NULL || is_silent) return status;
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  context->log(context->log_user, GRAZE_LOG_ERROR, line);
  return status;
}

graze_status gz_fail_memory(const graze_context *context, size_t bytes) {
  return gz_fail(context, GRAZE_ERROR_MEMORY, "out of memory: %zu bytes were refused", bytes);
}
