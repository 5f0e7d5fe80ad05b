/* Text over a file descriptor. A named file is written under a temporary name beside it and renamed at
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

typedef struct file {
  gz_text text; /* what the callers hold */
  int descriptor;
  const char *name; /* for messages */
  char *target;     /* NULL: written in place */
  char *temporary;
} file;

static void open_temporary(file *out, const char *path) {
  static const char ending[] = ".XXXXXX";
  out->target = realpath(path, NULL); /* follow a link to the file that it means */
  if (!out->target) out->target = strdup(path);
  if (!out->target) fail_out_of_memory();
  size_t length = strlen(out->target);
  out->temporary = malloc(length + sizeof ending);
  if (!out->temporary) fail_out_of_memory();
  memcpy(out->temporary, out->target, length);
  memcpy(out->temporary + length, ending, sizeof ending);
  out->descriptor = unfinished_create(out->temporary);
  if (out->descriptor < 0) fail("%s: cannot write: %s", path, strerror(errno));
  mode_t mask = umask(0);
  umask(mask);
  fchmod(out->descriptor, 0666 & ~mask);
}

static void open_named(file *out, const char *path) {
  struct stat facts;
  if (stat(path, &facts) != 0 || S_ISREG(facts.st_mode)) {
    open_temporary(out, path);
    return;
  }
  out->descriptor = open(path, O_WRONLY | O_CLOEXEC);
  if (out->descriptor < 0) fail("%s: cannot write: %s", path, strerror(errno));
}

static bool write_all(void *user, const void *bytes, size_t size) {
  const file *out = user;
  for (const char *at = bytes; size > 0;) {
    ssize_t written = write(out->descriptor, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("%s: cannot write: %s", out->name, strerror(errno));
    at += written;
    size -= (size_t)written;
  }
  return true;
}

output *output_open(const char *path) {
  file *out = calloc(1, sizeof *out);
  if (!out || !gz_text_begin(&out->text, write_all, out)) fail_out_of_memory();
  out->descriptor = STDOUT_FILENO;
  out->name = path ? path : "standard output";
  if (path) open_named(out, path);
  return &out->text;
}

void output_close(output *text) {
  file *out = text->user;
  gz_text_flush(text);
  if (close(out->descriptor) != 0) fail("%s: cannot write: %s", out->name, strerror(errno));
  if (out->temporary && rename(out->temporary, out->target) != 0)
    fail("%s: cannot write: %s", out->name, strerror(errno));
  if (out->temporary) unfinished_done();
  gz_text_end(text);
  free(out->temporary);
  free(out->target);
  free(out);
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
