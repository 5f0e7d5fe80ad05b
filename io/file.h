/* file.h: a whole file in memory; private to io. */
#ifndef GRAZE_IO_FILE_H
#define GRAZE_IO_FILE_H

#include "fault.h"

typedef struct io_file {
  char *bytes; /* free() it */
  size_t size;
} io_file;

bool io_file_read(const char *path, io_file *file, io_fault *fault);

#endif
