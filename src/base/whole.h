/* A whole file in memory. */
#ifndef GRAZE_SRC_BASE_WHOLE_H
#define GRAZE_SRC_BASE_WHOLE_H

#include "graze/base.h"

typedef struct gz_whole {
  char *bytes; /* gz_free() it */
  size_t size;
} gz_whole;

/* Why a file was not read: FILE or MEMORY, and for a message that names the file. */
typedef struct gz_reason {
  graze_status status;
  char text[192];
} gz_reason;

/* `pipes`: or a pipe without a name. Anything else that is no regular file is refused, unopened. False: `why`, and
 * there is nothing to be freed. */
bool gz_whole_read(const graze_context *context, const char *path, bool pipes, gz_whole *file, gz_reason *why);

#endif
