/* Text to a file beside its place, which it takes when all is written. */
#include "write_text.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"

typedef struct writer {
  gz_text text;
  new_file file;
  int reason; /* errno of what failed */
} writer;

static bool write_bytes(void *user, const void *bytes, size_t size) {
  writer *w = user;
  if (gz_file_write(w->file.descriptor, bytes, size)) return true;
  w->reason = errno;
  return false;
}

static bool write_file(const char *path, void (*put)(gz_text *text, const void *user), const void *user, writer *w,
                       io_fault *fault) {
  if (!gz_new_file_create(&w->file, path)) {
    return gz_io_fail(fault, GRAZE_ERROR_FILE, IO_WHOLE_FILE, 0, "cannot open for writing: %s", strerror(errno));
  }
  put(&w->text, user);
  gz_text_flush(&w->text);
  if (!gz_new_file_finish(&w->file, w->reason == 0) && w->reason == 0) w->reason = errno;
  if (w->reason == 0) return true;
  return gz_io_fail(fault, GRAZE_ERROR_FILE, IO_WHOLE_FILE, 0, "cannot write: %s", strerror(w->reason));
}

bool gz_io_write_text(const char *path, void (*put)(gz_text *text, const void *user), const void *user,
                      io_fault *fault) {
  writer w = {.reason = 0};
  const bool good = gz_text_begin(fault->context, &w.text, write_bytes, &w) ? write_file(path, put, user, &w, fault)
                                                                            : gz_io_fail_memory(fault);
  gz_text_end(&w.text);
  return good;
}
