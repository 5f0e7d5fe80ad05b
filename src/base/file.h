/* Files that are complete or not there, and files read from front to back. */
#ifndef GRAZE_SRC_BASE_FILE_H
#define GRAZE_SRC_BASE_FILE_H

#include "base/memory.h"

/* GRAZE_ERROR_FILE: "PATH: WHAT: the system's reason" from errno. */
graze_status gz_file_error(const graze_context *context, const char *path, const char *what);

/* All bytes, or false and errno. */
bool gz_file_write(int file, const void *bytes, size_t size);

/* All bytes, or false: errno, or 0 when the file ended. */
bool gz_file_read(int file, void *bytes, size_t size);

/* A file that is written beside its place and put there when it is whole. */
typedef struct new_file {
  const char *path; /* the caller's */
  char *temporary;
  size_t room;
  int file;
} new_file;

/* Errors: FILE (also when the path is something else than a regular file), MEMORY. */
graze_status gz_new_file_open(const graze_context *context, const char *path, new_file *out);

/* Puts the file in its place when `status` is OK, else takes it away; gives the first error. */
graze_status gz_new_file_close(const graze_context *context, new_file *f, graze_status status);

#endif
