/* Files. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"

static const size_t MOST = (size_t)1 << 30; /* in one call: some systems take no more */

graze_status gz_file_error(const graze_context *context, const char *path, const char *what) {
  return gz_fail(context, GRAZE_ERROR_FILE, "%s: %s: %s", path, what, strerror(errno));
}

bool gz_file_write(int file, const void *bytes, size_t size) {
  const char *next = bytes;
  while (size != 0) {
    ssize_t written = write(file, next, size < MOST ? size : MOST);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      if (written == 0) errno = ENOSPC;
      return false;
    }
    next += written;
    size -= (size_t)written;
  }
  return true;
}

bool gz_file_read(int file, void *bytes, size_t size) {
  char *next = bytes;
  while (size != 0) {
    ssize_t got = read(file, next, size < MOST ? size : MOST);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      if (got == 0) errno = 0;
      return false;
    }
    next += got;
    size -= (size_t)got;
  }
  return true;
}

/* Not mkstemp: the file shall get the usual mode. */
static int open_temporary(const char *path, char *temporary, size_t room) {
  for (unsigned attempt = 0; attempt < 1000; attempt++) {
    snprintf(temporary, room, "%s.%ld-%u.tmp", path, (long)getpid(), attempt);
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

graze_status gz_new_file_open(const graze_context *context, const char *path, new_file *out) {
  struct stat old;
  if (stat(path, &old) == 0 && !S_ISREG(old.st_mode)) {
    return gz_fail(context, GRAZE_ERROR_FILE, "%s: exists and is not a regular file", path);
  }
  new_file f = {.path = path, .room = strlen(path) + 64};
  f.temporary = gz_memory_alloc(context, f.room);
  if (f.temporary == NULL) return gz_fail_memory(context, f.room);
  f.file = open_temporary(path, f.temporary, f.room);
  if (f.file < 0) {
    graze_status status = gz_file_error(context, path, "cannot create");
    gz_memory_release(context, f.temporary, f.room);
    return status;
  }
  *out = f;
  return GRAZE_OK;
}

graze_status gz_new_file_close(const graze_context *context, new_file *f, graze_status status) {
  const char *failed = NULL;
  if (status == GRAZE_OK && fsync(f->file) != 0) failed = "cannot write";
  int reason = errno;
  if (close(f->file) != 0 && failed == NULL) {
    failed = "cannot write";
    reason = errno;
  }
  if (status == GRAZE_OK && failed == NULL && rename(f->temporary, f->path) != 0) {
    failed = "cannot rename";
    reason = errno;
  }
  if (status != GRAZE_OK || failed != NULL) unlink(f->temporary);
  errno = reason;
  if (status == GRAZE_OK && failed != NULL) status = gz_file_error(context, f->path, failed);
  gz_memory_release(context, f->temporary, f->room);
  return status;
}
