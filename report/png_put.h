/* png_put.h: a picture as the bytes of a PNG file; private to report. Only in builds with libpng. */
#ifndef GRAZE_REPORT_PNG_PUT_H
#define GRAZE_REPORT_PNG_PUT_H

#include "graze/report.h"

enum { PNG_REASON = 128 };

/* Takes the next bytes; false: it cannot, errno says why. */
typedef bool (*png_sink)(void *user, const void *bytes, size_t size);

/* False: `reason` says why. */
bool gz_png_put(const graze_picture *picture, png_sink sink, void *user, char reason[PNG_REASON]);

#endif
