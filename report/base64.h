/* base64.h: base64 of a stream that comes in pieces. Private to report. */
#ifndef GRAZE_REPORT_BASE64_H
#define GRAZE_REPORT_BASE64_H

#include "base/text.h"

typedef struct base64_stream {
  gz_text *text;
  uint32_t rest; /* bytes that wait for their group of three */
  int rest_count;
} base64_stream;

void gz_base64_put(base64_stream *stream, const void *bytes, size_t size);
void gz_base64_end(base64_stream *stream);

#endif
