/* output.h: where results go. Every failure to write ends the program with exit 3 and a line that says why. */
#ifndef TOOL_OUTPUT_H
#define TOOL_OUTPUT_H

#include "base/text.h"

/* What is put there ends up in the file or on stdout. */
typedef gz_text output;

/* A file, or stdout for NULL. A regular file appears under its name only when output_close succeeds. */
output *output_open(const char *path);
void output_close(output *out);

/* For parts that others write into the same file, behind its `at` bytes: where it is until it gets its name; NULL: it
 * is no regular file. Then it goes on at a place behind them. */
const char *output_begin_parts(output *out, uint64_t *at);
void output_end_parts(output *out, uint64_t at);

void output_print(output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The ending of a regular plural. */
static inline const char *plural(uint64_t count) {
  return count == 1 ? "" : "s";
}

#endif
