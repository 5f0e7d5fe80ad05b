/* Files that are complete or not there, and files read from front to back. */
#ifndef GRAZE_SRC_BASE_FILE_H
#define GRAZE_SRC_BASE_FILE_H

#include <limits.h>
#include <stdio.h>

#include "base/memory.h"

/* GRAZE_ERROR_FILE: "PATH: WHAT: the system's reason" from errno. */
graze_status gz_file_error(const graze_context *context, const char *path, const char *what);

/* All bytes, or false and errno. */
bool gz_file_write(int file, const void *bytes, size_t size);

/* All bytes, or false: errno, or 0 when the file ended. */
bool gz_file_read(int file, void *bytes, size_t size);

/* The same from `at` on, wherever the file stands. */
bool gz_file_read_at(int file, void *bytes, size_t size, uint64_t at);

/* All bytes to `at`, wherever the file stands, or false and errno. */
bool gz_file_write_at(int file, const void *bytes, size_t size, uint64_t at);

/* A file that is written beside its place, under another name, and takes its place when it is whole. A link is followed
 * to the file that it means. What is there and is no regular file, such as a pipe, is written in place. */
typedef struct new_file {
  int descriptor;
  bool in_place;
  char target[PATH_MAX], temporary[PATH_MAX];
} new_file;

/* False: errno. */
bool gz_new_file_create(new_file *file, const char *path);

/* Closes the descriptor, unless it is -1, and puts the file in its place if `keep`, else takes it away. False: errno of
 * what failed, and the file is taken away. */
bool gz_new_file_finish(new_file *file, bool keep);

/* The same for a stream, which is closed too. NULL, false: errno. */
FILE *gz_new_stream_create(new_file *file, const char *path);
bool gz_new_stream_finish(new_file *file, FILE *stream, bool keep);

/* The same, for regular files only, and not kept before they are on the disk; the message has the path. Errors: FILE.
 */
graze_status gz_save_begin(const graze_context *context, const char *path, new_file *file);

/* Keeps the file if `status` is OK; returns the first error. */
graze_status gz_save_end(const graze_context *context, const char *path, new_file *file, graze_status status);

#endif
