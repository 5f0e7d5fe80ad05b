/* A buffered writer over a file descriptor. A named file is written under a temporary name beside it and renamed at
 * the end, so that a report is complete or absent; devices, pipes and the like are written in place. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diagnostics.h"
#include "graze/io.h"

struct output {
  int file;
  const char *name; /* for messages */
  char *target;     /* NULL: written in place */
  char *temporary;
  size_t used;
  char buffer[1 << 16];
};

static void open_temporary(output *out, const char *path) {
  static const char ending[] = ".XXXXXX";
  out->target = realpath(path, NULL); /* follow a link to the file that it means */
  if (!out->target) out->target = strdup(path);
  if (!out->target) fail_out_of_memory();
  size_t length = strlen(out->target);
  out->temporary = malloc(length + sizeof ending);
  if (!out->temporary) fail_out_of_memory();
  memcpy(out->temporary, out->target, length);
  memcpy(out->temporary + length, ending, sizeof ending);
  out->file = mkostemp(out->temporary, O_CLOEXEC);
  if (out->file < 0) fail("%s: cannot write: %s", path, strerror(errno));
  diagnostics_set_unfinished(out->temporary);
  mode_t mask = umask(0);
  umask(mask);
  fchmod(out->file, 0666 & ~mask);
}

output *output_open(const char *path) {
  output *out = calloc(1, sizeof *out);
  if (!out) fail_out_of_memory();
  struct stat facts;
  out->file = STDOUT_FILENO;
  out->name = path ? path : "standard output";
  if (!path) return out;
  if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode)) {
    out->file = open(path, O_WRONLY | O_CLOEXEC);
    if (out->file < 0) fail("%s: cannot write: %s", path, strerror(errno));
  } else {
    open_temporary(out, path);
  }
  return out;
}

static void write_all(output *out, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t written = write(out->file, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("%s: cannot write: %s", out->name, strerror(errno));
    bytes += written;
    size -= (size_t)written;
  }
}

void output_flush(output *out) {
  write_all(out, out->buffer, out->used);
  out->used = 0;
}

void output_close(output *out) {
  output_flush(out);
  if (close(out->file) != 0) fail("%s: cannot write: %s", out->name, strerror(errno));
  if (out->temporary && rename(out->temporary, out->target) != 0)
    fail("%s: cannot write: %s", out->name, strerror(errno));
  if (out->temporary) diagnostics_set_unfinished(NULL);
  free(out->temporary);
  free(out->target);
  free(out);
}

void output_bytes(output *out, const void *bytes, size_t size) {
  if (size > sizeof out->buffer - out->used) output_flush(out);
  if (size > sizeof out->buffer) {
    write_all(out, bytes, size);
    return;
  }
  memcpy(out->buffer + out->used, bytes, size);
  out->used += size;
}

void output_text(output *out, const char *text) {
  output_bytes(out, text, strlen(text));
}

void output_print(output *out, const char *format, ...) {
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (length < 0) fail_out_of_memory();
  output_bytes(out, text, (size_t)length);
  free(text);
}

void output_integer(output *out, uint64_t value) {
  char digits[20];
  size_t first = sizeof digits;
  do {
    digits[--first] = (char)('0' + value % 10);
    value /= 10;
  } while (value > 0);
  output_bytes(out, digits + first, sizeof digits - first);
}

void output_hex(output *out, uint64_t value) {
  char digits[16];
  for (int i = 0; i < 16; i++) digits[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
  output_bytes(out, digits, sizeof digits);
}

void output_double(output *out, double value) {
  char text[32];
  output_bytes(out, text, graze_format_double(value, text));
}
