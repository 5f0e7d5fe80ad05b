/* file.c: reads a whole file, or parts of it. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

bool gz_io_file_read(const char *path, bool pipes, io_file *file, io_fault *fault) {
  gz_reason why;
  if (gz_whole_read(fault->context, path, pipes, file, &why)) return true;
  if (why.status == GRAZE_ERROR_MEMORY) return gz_io_fail_memory(fault);
  return gz_io_fail(fault, why.status, IO_WHOLE_FILE, 0, "%s", why.text);
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
  const char *reason = errno != 0 ? strerror(errno) : NULL;
  return reason != NULL
             ? gz_io_fail(fault, GRAZE_ERROR_FILE, IO_WHOLE_FILE, 0, "cannot read: %s", reason)
             : gz_io_fail(fault, GRAZE_ERROR_FILE, IO_WHOLE_FILE, 0, "the file changed its size while it was read");
}
