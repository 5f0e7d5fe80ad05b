/* names.h: texts that live as long as an assembly, and names made unique; private to io. */
#ifndef GRAZE_IO_NAMES_H
#define GRAZE_IO_NAMES_H

#include "base/map.h"

/* Starts as all zeros but for the context. */
typedef struct io_names {
  const graze_context *context; /* whose memory is used */
  void *texts;                  /* gz_io_texts_free() it, when its texts are no longer needed */
  gz_text_map map;
} io_names;

/* A copy of the text, with a 0 behind it. NULL: out of memory. */
char *gz_io_names_keep(io_names *names, const char *text, size_t length);

/* The name itself when it is new here, else "name#2", "name#3", ... whichever comes first that is new. NULL: out of
 * memory. Long runs of one name cost no more than a look-up each. */
const char *gz_io_names_make_unique(io_names *names, const char *name, size_t length);

/* Frees what is needed for look-ups; the texts stay. */
void gz_io_names_close(io_names *names);
void gz_io_texts_free(void *texts);

#endif
