/* What tells two files apart; see file_print.h. */
#include "base/file_print.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"

enum { ENDS = 64 << 10, PIECE = 4 << 10 };

static uint64_t hash_part(int file, uint64_t at, uint64_t size) {
  char bytes[PIECE];
  uint64_t hash = 1;
  for (uint64_t done = 0; done < size; done += PIECE) {
    const size_t piece = size - done < PIECE ? (size_t)(size - done) : PIECE;
    hash = gz_file_read_at(file, bytes, piece, at + done) ? gz_hash_bytes(bytes, piece, hash) : 0;
  }
  return hash;
}

file_print gz_file_print(int file) {
  struct stat facts;
  if (file < 0 || fstat(file, &facts) != 0) return (file_print){.error = (uint64_t)errno};
  if (!S_ISREG(facts.st_mode)) return (file_print){0};
  const uint64_t size = (uint64_t)facts.st_size, part = size < ENDS ? size : ENDS;
  return (file_print){0, size, hash_part(file, 0, part), hash_part(file, size - part, part)};
}

file_print gz_file_print_of(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const file_print print = gz_file_print(file);
  if (file >= 0) close(file);
  return print;
}
