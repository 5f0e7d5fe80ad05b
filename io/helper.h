/* helper.h: programs that run foreign libraries; private to io. */
#ifndef GRAZE_IO_HELPER_H
#define GRAZE_IO_HELPER_H

#include "file.h"

typedef struct io_helper {
  const char *program;
  const char *variable; /* of the environment: may name another program */
  const char *doing;    /* what it is about, for messages: "importing" */
  const char *missing;  /* what is said (UNSUPPORTED) where it is not there */
} io_helper;

/* Runs the program within its limits, and gives what it wrote. Its arguments are `argument`, unless that is NULL, and
 * the limits; it reads the descriptor `input`, or nothing if that is -1. */
bool gz_io_helper_run(const io_helper *helper, const char *argument, int input, io_file *stream, io_fault *fault);

#endif
