/* write_text.h: a file that is written from front to back, whole or not at all; private to io. */
#ifndef GRAZE_IO_WRITE_TEXT_H
#define GRAZE_IO_WRITE_TEXT_H

#include "base/text.h"
#include "fault.h"

/* `put` puts all of it. */
bool gz_io_write_text(const char *path, void (*put)(gz_text *text, const void *user), const void *user,
                      io_fault *fault);

#endif
