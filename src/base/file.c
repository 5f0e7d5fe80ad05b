/* Files. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
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

bool gz_file_read_at(int file, void *bytes, size_t size, uint64_t at) {
  char *next = bytes;
  while (size != 0) {
    ssize_t got = pread(file, next, size < MOST ? size : MOST, (off_t)at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      if (got == 0) errno = 0;
      return false;
    }
    next += got;
    at += (uint64_t)got;
    size -= (size_t)got;
  }
  return true;
}

bool gz_file_write_at(int file, const void *bytes, size_t size, uint64_t at) {
  const char *next = bytes;
  while (size != 0) {
    ssize_t written = pwrite(file, next, size < MOST ? size : MOST, (off_t)at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      if (written == 0) errno = ENOSPC;
      return false;
    }
    next += written;
    at += (uint64_t)written;
    size -= (size_t)written;
  }
  return true;
}

/* The file that a path means, behind links; a link that leads nowhere is itself replaced. */
static bool find_target(const char *path, char target[PATH_MAX]) {
  if (realpath(path, target) != NULL) return true;
  if (errno != ENOENT) return false;
  size_t length = strlen(path);
  if (length >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return false;
  }
  memcpy(target, path, length + 1);
  return true;
}

/* Not mkstemp: the file shall get the usual mode. */
static bool open_temporary(new_file *file) {
  for (unsigned attempt = 0; attempt < 1000; attempt++) {
    int length =
        snprintf(file->temporary, sizeof file->temporary, "%s.%ld-%u.tmp", file->target, (long)getpid(), attempt);
    if ((size_t)length >= sizeof file->temporary) {
      errno = ENAMETOOLONG;
      return false;
    }
    file->descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->descriptor >= 0 || errno != EEXIST) break;
  }
  return file->descriptor >= 0;
}

bool gz_new_file_create(new_file *file, const char *path) {
  struct stat old;
  file->descriptor = -1;
  file->in_place = stat(path, &old) == 0 && !S_ISREG(old.st_mode);
  if (!file->in_place) return find_target(path, file->target) && open_temporary(file);
  file->descriptor = open(path, O_WRONLY | O_CLOEXEC);
  return file->descriptor >= 0;
}

bool gz_new_file_finish(new_file *file, bool keep) {
  bool good = file->descriptor < 0 || close(file->descriptor) == 0;
  if (file->in_place) return good;
  good = good && (!keep || rename(file->temporary, file->target) == 0);
  int reason = errno;
  if (!good || !keep) unlink(file->temporary);
  errno = reason;
  return good;
}

FILE *gz_new_stream_create(new_file *file, const char *path) {
  if (!gz_new_file_create(file, path)) return NULL;
  FILE *stream = fdopen(file->descriptor, "wb");
  int reason = errno;
  if (stream == NULL) gz_new_file_finish(file, false);
  errno = reason;
  return stream;
}

bool gz_new_stream_finish(new_file *file, FILE *stream, bool keep) {
  bool flushed = fclose(stream) == 0;
  int reason = errno;
  file->descriptor = -1;
  bool good = gz_new_file_finish(file, keep && flushed) && flushed;
  if (!flushed) errno = reason;
  return good;
}

graze_status gz_save_begin(const graze_context *context, const char *path, new_file *file) {
  struct stat old;
  if (stat(path, &old) == 0 && !S_ISREG(old.st_mode)) {
    return gz_fail(context, GRAZE_ERROR_FILE, "%s: exists and is not a regular file", path);
  }
  return gz_new_file_create(file, path) ? GRAZE_OK : gz_file_error(context, path, "cannot create");
}

graze_status gz_save_end(const graze_context *context, const char *path, new_file *file, graze_status status) {
  if (status == GRAZE_OK && fsync(file->descriptor) != 0) status = gz_file_error(context, path, "cannot write");
  bool good = gz_new_file_finish(file, status == GRAZE_OK);
  return good || status != GRAZE_OK ? status : gz_file_error(context, path, "cannot write");
}
