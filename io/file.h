/* file.h: a whole file in memory, or parts of it; private to io. */
#ifndef GRAZE_IO_FILE_H
#define GRAZE_IO_FILE_H

#include "base/owned.h"
#include "base/whole.h"
#include "fault.h"

typedef gz_whole io_file;

/* As gz_whole_read. */
bool gz_io_file_read(const char *path, bool pipes, io_file *file, io_fault *fault);

/* Opens a regular file whose parts are to be read one by one; fills `head` with its first bytes, as many as there are.
 * -1: it cannot be opened, or is no regular file. close() it. */
int gz_io_file_open(const char *path, char *head, size_t head_size, size_t *size);

/* Any number of threads at a time. */
bool gz_io_file_read_at(int descriptor, uint64_t at, size_t size, void *bytes, io_fault *fault);

#endif
