/* file.c: reads a whole file, or parts of it.
 *
 * The bytes are read into memory of our own rather than mapped: a mapped file that another process cuts off kills the
 * reader with a signal that a library cannot catch politely. With large pages reading costs 5 ms for 40 MB where
 * mapping costs 3. A file that changes its size meanwhile is refused.
 *
 * What has no end, or waits for somebody, is refused before it is opened: devices, sockets, and pipes that have a name
 * in a folder. A pipe without a name, as the shell makes one for `<(...)`, is read to its end: whoever gave it is
 * writing to it. Files of a kernel's own file system say 0 for their size and are read like a pipe.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/owned.h"

enum { LONGEST_READ = 1 << 30, FIRST_PIPE_READ = 1 << 16 };

static bool fail_system(io_fault *fault, const char *what) {
  return gz_io_fail(fault, GRAZE_ERROR_FILE, IO_WHOLE_FILE, 0, "cannot %s: %s", what, strerror(errno));
}

static bool fail_size(io_fault *fault) {
  return gz_io_fail(fault, GRAZE_ERROR_FILE, IO_WHOLE_FILE, 0, "the file changed its size while it was read");
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

static bool read_sized(int descriptor, size_t size, io_file *file, io_fault *fault) {
  file->bytes = gz_new(fault->context, size, 1);
  if (file->bytes == NULL) return gz_io_fail_memory(fault);
  ssize_t got = read_fully(descriptor, file->bytes, size);
  if (got < 0) return fail_system(fault, "read");
  file->size = (size_t)got;
  char extra;
  return ((size_t)got == size && read_fully(descriptor, &extra, 1) == 0) || fail_size(fault);
}

static bool read_stream(int descriptor, io_file *file, io_fault *fault) {
  gz_array bytes = {0};
  size_t step = FIRST_PIPE_READ;
  for (;;) {
    if (!array_reserve(fault->context, &bytes, step, 1)) break;
    step = bytes.capacity - bytes.count;
    ssize_t got = read_fully(descriptor, (char *)bytes.data + bytes.count, step);
    if (got < 0) {
      gz_free(bytes.data);
      return fail_system(fault, "read");
    }
    bytes.count += (size_t)got;
    if ((size_t)got < step) {
      *file = (io_file){bytes.data, bytes.count};
      return true;
    }
  }
  gz_free(bytes.data);
  return gz_io_fail_memory(fault);
}

static const char *kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a pipe";
  return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "something else";
}

/* `named`: the path that leads to a pipe is one of a folder, or may be. */
static bool check_kind(const struct stat *facts, bool named, io_fault *fault) {
  if (S_ISREG(facts->st_mode) || (S_ISFIFO(facts->st_mode) && !named)) return true;
  errno = EISDIR;
  if (S_ISDIR(facts->st_mode)) return fail_system(fault, "read");
  return gz_io_fail(fault, GRAZE_ERROR_FILE, IO_WHOLE_FILE, 0, "cannot read: it is %s, not a file",
                    kind_of(facts->st_mode));
}

static bool has_name(const char *path) {
  struct statfs where;
  return statfs(path, &where) != 0 || where.f_type != PIPEFS_MAGIC;
}

static bool read_descriptor(int descriptor, bool named, io_file *file, io_fault *fault) {
  struct stat facts;
  if (fstat(descriptor, &facts) != 0) return fail_system(fault, "read");
  if (!check_kind(&facts, named, fault)) return false;
  if (S_ISFIFO(facts.st_mode) && fcntl(descriptor, F_SETFL, 0) != 0) return fail_system(fault, "read");
  if (!S_ISREG(facts.st_mode) || facts.st_size <= 0) return read_stream(descriptor, file, fault);
  return read_sized(descriptor, (size_t)facts.st_size, file, fault);
}

bool gz_io_file_read(const char *path, bool pipes, io_file *file, io_fault *fault) {
  struct stat facts;
  *file = (io_file){0};
  /* Opening a pipe and closing it again would end who writes to it. */
  if (stat(path, &facts) != 0) return fail_system(fault, "open");
  bool named = !pipes || has_name(path);
  if (!check_kind(&facts, named, fault)) return false;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* it may have become a pipe */
  if (descriptor < 0) return fail_system(fault, "open");
  bool good = read_descriptor(descriptor, named, file, fault);
  close(descriptor);
  if (!good) {
    gz_free(file->bytes);
    *file = (io_file){0};
  }
  return good;
}

/* ---- parts ---- */

int gz_io_file_open(const char *path, char *head, size_t head_size, size_t *size) {
  struct stat facts;
  if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) return -1;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return -1;
  if (fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode)) {
    size_t wanted = (uint64_t)facts.st_size < head_size ? (size_t)facts.st_size : head_size;
    io_fault ignored = {0};
    *size = (size_t)facts.st_size;
    if (gz_io_file_read_at(descriptor, 0, wanted, head, &ignored)) return descriptor;
  }
  close(descriptor);
  return -1;
}

bool gz_io_file_read_at(int descriptor, uint64_t at, size_t size, void *bytes, io_fault *fault) {
  if (gz_file_read_at(descriptor, bytes, size, at)) return true;
  return errno != 0 ? fail_system(fault, "read") : fail_size(fault);
}
