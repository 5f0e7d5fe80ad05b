/* How errors are told: a line to the context's logger. */
#include <stdarg.h>
#include <stdio.h>

#include "base/context.h"

graze_status report(const graze_context *context, graze_status status, const char *format, ...) {
  if (context->log == NULL) return status;
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  context->log(context->log_user, GRAZE_LOG_ERROR, line);
  return status;
}

graze_status report_memory(const graze_context *context, size_t bytes) {
  return report(context, GRAZE_ERROR_MEMORY, "out of memory: %zu bytes were refused", bytes);
}
