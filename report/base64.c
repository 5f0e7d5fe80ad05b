/* base64.c: see base64.h. */
#include "base64.h"

static const char digits64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_group(char *to, uint32_t group) {
  for (int k = 0; k < 4; k++) to[k] = digits64[group >> (18 - 6 * k) & 63];
}

/* Whole groups of three bytes. */
static void put_groups(gz_text *text, const uint8_t *from, size_t count) {
  char some[4 * 64];
  while (count > 0) {
    size_t part = count < 64 ? count : 64;
    for (size_t i = 0; i < part; i++, from += 3) {
      put_group(some + 4 * i, (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2]);
    }
    gz_put_bytes(text, some, 4 * part);
    count -= part;
  }
}

void gz_base64_put(base64_stream *stream, const void *bytes, size_t size) {
  for (const uint8_t *from = bytes; size > 0;) {
    if (stream->rest_count == 0 && size >= 3) {
      put_groups(stream->text, from, size / 3);
      from += size / 3 * 3;
      size %= 3;
      continue;
    }
    stream->rest = stream->rest << 8 | *from++;
    size--;
    if (++stream->rest_count == 3) {
      char group[4];
      put_group(group, stream->rest);
      gz_put_bytes(stream->text, group, 4);
      stream->rest = 0;
      stream->rest_count = 0;
    }
  }
}

void gz_base64_end(base64_stream *stream) {
  if (stream->rest_count == 0) return;
  char group[4];
  put_group(group, stream->rest << (stream->rest_count == 1 ? 16 : 8));
  group[3] = '=';
  if (stream->rest_count == 1) group[2] = '=';
  gz_put_bytes(stream->text, group, 4);
}
