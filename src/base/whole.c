/* whole.c: reads a whole file.
 *
 * The bytes are read into memory of our own rather than mapped: a mapped file that another process cuts off kills the
 * reader with a signal that a library cannot catch politely. With large pages reading costs 5 ms for 40 MB where
 * mapping costs 3. A file that changes its size meanwhile is refused.
 *
 * What has no end, or waits for somebody, is refused before it is opened: devices, sockets, and pipes that have a name
 * in a folder. A pipe without a name, as the shell makes one for `<(...)`, is read to its end: whoever gave it is
 * writing to it. Files of a kernel's own file system say 0 for their size and are read like a pipe.
 */
#include "base/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/owned.h"

enum { LONGEST_READ = 1 << 30, FIRST_PIPE_READ = 1 << 16 };

/* What a read goes through: where its memory comes from, and why it failed. */
typedef struct reading {
  const graze_context *context;
  gz_reason *why;
} reading;

__attribute__((format(printf, 3, 4))) static bool fail(const reading *r, graze_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  r->why->status = status;
  vsnprintf(r->why->text, sizeof r->why->text, format, arguments);
  va_end(arguments);
  return false;
}

static bool fail_system(const reading *r, const char *what) {
  return fail(r, GRAZE_ERROR_FILE, "cannot %s: %s", what, strerror(errno));
}

static bool fail_memory(const reading *r) {
  return fail(r, GRAZE_ERROR_MEMORY, "out of memory");
}

static bool fail_size(const reading *r) {
  return fail(r, GRAZE_ERROR_FILE, "the file changed its size while it was read");
}

/* Reads up to `size` bytes; fewer only at the end of the file. -1: errno says why. */
static ssize_t read_fully(int descriptor, char *bytes, size_t size) {
  size_t done = 0;
  while (done < size) {
    size_t wanted = size - done < LONGEST_READ ? size - done : LONGEST_READ;
    ssize_t got = read(descriptor, bytes + done, wanted);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += (size_t)got;
  }
  return (ssize_t)done;
}

static bool read_sized(int descriptor, size_t size, gz_whole *file, const reading *r) {
  file->bytes = gz_new(r->context, size, 1);
  if (file->bytes == NULL) return fail_memory(r);
  ssize_t got = read_fully(descriptor, file->bytes, size);
  if (got < 0) return fail_system(r, "read");
  file->size = (size_t)got;
  char extra;
  return ((size_t)got == size && read_fully(descriptor, &extra, 1) == 0) || fail_size(r);
}

static bool read_stream(int descriptor, gz_whole *file, const reading *r) {
  gz_array bytes = {0};
  size_t step = FIRST_PIPE_READ;
  for (;;) {
    if (!array_reserve(r->context, &bytes, step, 1)) break;
    step = bytes.capacity - bytes.count;
    ssize_t got = read_fully(descriptor, (char *)bytes.data + bytes.count, step);
    if (got < 0) {
      gz_free(bytes.data);
      return fail_system(r, "read");
    }
    bytes.count += (size_t)got;
    if ((size_t)got < step) {
      *file = (gz_whole){bytes.data, bytes.count};
      return true;
    }
  }
  gz_free(bytes.data);
  return fail_memory(r);
}

static const char *kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a pipe";
  return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "something else";
}

/* `named`: the path that leads to a pipe is one of a folder, or may be. */
static bool check_kind(const struct stat *facts, bool named, const reading *r) {
  if (S_ISREG(facts->st_mode) || (S_ISFIFO(facts->st_mode) && !named)) return true;
  errno = EISDIR;
  if (S_ISDIR(facts->st_mode)) return fail_system(r, "read");
  return fail(r, GRAZE_ERROR_FILE, "cannot read: it is %s, not a file", kind_of(facts->st_mode));
}

static bool has_name(const char *path) {
  struct statfs where;
  return statfs(path, &where) != 0 || where.f_type != PIPEFS_MAGIC;
}

static bool read_descriptor(int descriptor, bool named, gz_whole *file, const reading *r) {
  struct stat facts;
  if (fstat(descriptor, &facts) != 0) return fail_system(r, "read");
  if (!check_kind(&facts, named, r)) return false;
  if (S_ISFIFO(facts.st_mode) && fcntl(descriptor, F_SETFL, 0) != 0) return fail_system(r, "read");
  if (!S_ISREG(facts.st_mode) || facts.st_size <= 0) return read_stream(descriptor, file, r);
  return read_sized(descriptor, (size_t)facts.st_size, file, r);
}

static bool read_path(const char *path, bool pipes, gz_whole *file, const reading *r) {
  struct stat facts;
  /* Opening a pipe and closing it again would end who writes to it. */
  if (stat(path, &facts) != 0) return fail_system(r, "open");
  bool named = !pipes || has_name(path);
  if (!check_kind(&facts, named, r)) return false;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* it may have become a pipe */
  if (descriptor < 0) return fail_system(r, "open");
  bool good = read_descriptor(descriptor, named, file, r);
  close(descriptor);
  return good;
}

bool gz_whole_read(const graze_context *context, const char *path, bool pipes, gz_whole *file, gz_reason *why) {
  *file = (gz_whole){0};
  if (read_path(path, pipes, file, &(reading){context, why})) return true;
  gz_free(file->bytes);
  *file = (gz_whole){0};
  return false;
}
