/* Whether two processes see the same file: by its size and its ends, which is quick also for large ones. */
#ifndef GRAZE_SRC_BASE_FILE_PRINT_H
#define GRAZE_SRC_BASE_FILE_PRINT_H

#include <stdint.h>

typedef struct file_print {
  uint64_t error;       /* errno of opening it, or 0 */
  uint64_t size;        /* of a pipe, which one process alone can read, this and the others are 0 */
  uint64_t first, last; /* hashes of the first and the last 64 KiB */
} file_print;

/* Of an open file; one that could not be opened is -1, and errno says why. */
file_print gz_file_print(int file);

/* The same of a path. */
file_print gz_file_print_of(const char *path);

#endif
