/* output.h: where results go. Every failure to write ends the program with exit 3 and a line that says why. */
#ifndef TOOL_OUTPUT_H
#define TOOL_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

typedef struct output output;

/* A file, or stdout for NULL. A regular file appears under its name only when output_close succeeds. */
output *output_open(const char *path);
void output_close(output *out);

void output_flush(output *out);
void output_bytes(output *out, const void *bytes, size_t size);
void output_text(output *out, const char *text);
void output_print(output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void output_integer(output *out, uint64_t value);
void output_hex(output *out, uint64_t value); /* 16 digits */

/* The shortest text that reads back to the same double. */
void output_double(output *out, double value);

#endif
