/* Text over a file descriptor. A named file is written under a temporary name beside it and renamed at
 * the end, so that a report is complete or absent; devices, pipes and the like are written in place. */
#include "output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diagnostics.h"

typedef struct file {
  gz_text text;     /* what the callers hold */
  const char *name; /* for messages */
  new_file file;
} file;

static bool write_all(void *user, const void *bytes, size_t size) {
  const file *out = user;
  if (!gz_file_write(out->file.descriptor, bytes, size)) fail("%s: cannot write: %s", out->name, strerror(errno));
  return true;
}

output *output_open(const char *path) {
  file *out = calloc(1, sizeof *out);
  if (!out || !gz_text_begin(NULL, &out->text, write_all, out)) fail_out_of_memory();
  out->name = path ? path : "standard output";
  out->file.descriptor = STDOUT_FILENO;
  out->file.in_place = true;
  if (path && !unfinished_create(&out->file, path)) fail("%s: cannot write: %s", path, strerror(errno));
  return &out->text;
}

void output_close(output *text) {
  file *out = text->user;
  gz_text_flush(text);
  if (!gz_new_file_finish(&out->file, true)) fail("%s: cannot write: %s", out->name, strerror(errno));
  if (!out->file.in_place) unfinished_done(&out->file);
  gz_text_end(text);
  free(out);
}

const char *output_begin_parts(output *text, uint64_t *at) {
  const file *out = text->user;
  gz_text_flush(text);
  const off_t place = lseek(out->file.descriptor, 0, SEEK_CUR);
  if (out->file.in_place || place < 0) return NULL;
  *at = (uint64_t)place;
  return out->file.temporary;
}

void output_end_parts(output *text, uint64_t at) {
  const file *out = text->user;
  if (lseek(out->file.descriptor, (off_t)at, SEEK_SET) < 0) fail("%s: cannot write: %s", out->name, strerror(errno));
}

void output_print(output *out, const char *format, ...) {
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (length < 0) fail_out_of_memory();
  gz_put_bytes(out, text, (size_t)length);
  free(text);
}
