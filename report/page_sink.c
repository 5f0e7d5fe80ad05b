/* page_sink.c: see page_sink.h. Nothing is kept but one buffer, so that a page of any size costs the same memory. */
#include "page_sink.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "graze/io.h"

/* ---- the file ---- */

bool page_sink_open(page_sink *sink, const char *path) {
  memset(sink, 0, sizeof *sink);
  sink->file = fopen(path, "wb");
  if (sink->file == NULL) {
    sink->reason = errno;
    return false;
  }
  setvbuf(sink->file, NULL, _IONBF, 0); /* the sink buffers itself */
  return true;
}

static void sink_flush(page_sink *sink) {
  if (sink->reason == 0 && sink->count > 0 && fwrite(sink->buffer, 1, sink->count, sink->file) != sink->count) {
    sink->reason = errno != 0 ? errno : EIO;
  }
  sink->count = 0;
}

bool page_sink_close(page_sink *sink, const char *path) {
  sink_flush(sink);
  if (fclose(sink->file) != 0 && sink->reason == 0) sink->reason = errno;
  sink->file = NULL;
  if (sink->reason == 0) return true;
  struct stat facts;
  if (stat(path, &facts) == 0 && S_ISREG(facts.st_mode)) remove(path); /* half a page is worse than none */
  return false;
}

void page_put(page_sink *sink, const void *bytes, size_t size) {
  for (const uint8_t *from = bytes; size > 0;) {
    size_t part = PAGE_SINK_BUFFER - sink->count;
    if (part > size) part = size;
    memcpy(sink->buffer + sink->count, from, part);
    sink->count += part;
    from += part;
    size -= part;
    if (sink->count == PAGE_SINK_BUFFER) sink_flush(sink);
  }
}

void page_put_text(page_sink *sink, const char *text) {
  page_put(sink, text, strlen(text));
}

/* ---- text ---- */

/* Length of the well-formed UTF-8 sequence at `p`, or minus the number of bytes that one U+FFFD stands for (Unicode,
 * table 3-7 and "substitution of maximal subparts"). The text ends with a zero byte, which no sequence continues
 * with. */
static int sequence_length(const uint8_t *p) {
  uint8_t low = 0x80, high = 0xBF;
  int length = 0;
  if (p[0] < 0x80) return 1;
  if (p[0] >= 0xC2 && p[0] <= 0xDF) length = 2;
  if (p[0] >= 0xE0 && p[0] <= 0xEF) length = 3;
  if (p[0] >= 0xF0 && p[0] <= 0xF4) length = 4;
  if (p[0] == 0xE0) low = 0xA0;
  if (p[0] == 0xED) high = 0x9F; /* surrogates are no characters */
  if (p[0] == 0xF0) low = 0x90;
  if (p[0] == 0xF4) high = 0x8F;
  for (int i = 1; i < length; i++) {
    if (p[i] < low || p[i] > high) return -i;
    low = 0x80;
    high = 0xBF;
  }
  return length > 0 ? length : -1;
}

static const char replacement[] = "\xEF\xBF\xBD";

void page_put_html(page_sink *sink, const char *text) {
  for (const uint8_t *p = (const uint8_t *)(text != NULL ? text : ""); *p != 0;) {
    int length = sequence_length(p);
    if (*p == '&') {
      page_put_text(sink, "&amp;");
    } else if (*p == '<') {
      page_put_text(sink, "&lt;");
    } else if (*p == '>') {
      page_put_text(sink, "&gt;");
    } else if (length > 0) {
      page_put(sink, p, (size_t)length);
    } else {
      page_put_text(sink, replacement);
    }
    p += length > 0 ? length : -length;
  }
}

static void put_json_character(page_sink *sink, uint8_t c) {
  char escape[8];
  if (c == '"' || c == '\\') {
    snprintf(escape, sizeof escape, "\\%c", c);
  } else if (c < ' ' || c == '<' || c == 0x7F) {
    snprintf(escape, sizeof escape, "\\u%04x", c);
  } else {
    page_put(sink, &c, 1);
    return;
  }
  page_put_text(sink, escape);
}

static void put_json_string(page_sink *sink, const char *text) {
  page_put(sink, "\"", 1);
  for (const uint8_t *p = (const uint8_t *)(text != NULL ? text : ""); *p != 0;) {
    int length = sequence_length(p);
    if (length == 1) {
      put_json_character(sink, *p);
    } else if (length > 1) {
      page_put(sink, p, (size_t)length);
    } else {
      page_put_text(sink, replacement);
    }
    p += length > 0 ? length : -length;
  }
  page_put(sink, "\"", 1);
}

/* ---- JSON ---- */

static void begin_value(page_sink *sink, const char *key) {
  if (sink->more) page_put(sink, ",", 1);
  sink->more = true;
  if (key == NULL) return;
  page_put(sink, "\"", 1);
  page_put_text(sink, key);
  page_put(sink, "\":", 2);
}

void page_json_open(page_sink *sink, const char *key, char bracket) {
  begin_value(sink, key);
  page_put(sink, &bracket, 1);
  sink->more = false;
}

void page_json_close(page_sink *sink, char bracket) {
  page_put(sink, &bracket, 1);
  sink->more = true;
}

void page_json_text(page_sink *sink, const char *key, const char *text) {
  begin_value(sink, key);
  put_json_string(sink, text);
}

void page_json_word(page_sink *sink, const char *key, const char *word) {
  begin_value(sink, key);
  page_put_text(sink, word);
}

void page_json_count(page_sink *sink, const char *key, uint64_t value) {
  char digits[24];
  snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
  page_json_word(sink, key, digits);
}

void page_json_number(page_sink *sink, const char *key, double value) {
  char digits[32];
  if (isfinite(value)) graze_format_double(value, digits);
  page_json_word(sink, key, isfinite(value) ? digits : "null");
}

void page_json_numbers(page_sink *sink, const char *key, const double *values, int count) {
  page_json_open(sink, key, '[');
  for (int i = 0; i < count; i++) page_json_number(sink, NULL, values[i]);
  page_json_close(sink, ']');
}

/* ---- base64 ---- */

static const char digits64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_group(uint8_t *to, uint32_t group) {
  for (int k = 0; k < 4; k++) to[k] = (uint8_t)digits64[group >> (18 - 6 * k) & 63];
}

void page_base64_put(page_base64 *stream, const void *bytes, size_t size) {
  const uint8_t *from = bytes;
  page_sink *sink = stream->sink;
  while (size > 0) {
    while (stream->rest_count == 0 && size >= 3 && sink->count + 4 <= PAGE_SINK_BUFFER) {
      put_group(sink->buffer + sink->count, (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2]);
      sink->count += 4;
      from += 3;
      size -= 3;
    }
    if (size == 0) return;
    if (stream->rest_count == 0 && size >= 3) {
      sink_flush(sink);
      continue;
    }
    stream->rest = stream->rest << 8 | *from++;
    size--;
    if (++stream->rest_count == 3) {
      uint8_t group[4];
      put_group(group, stream->rest);
      page_put(sink, group, 4);
      stream->rest = 0;
      stream->rest_count = 0;
    }
  }
}

void page_base64_end(page_base64 *stream) {
  if (stream->rest_count == 0) return;
  uint8_t group[4];
  put_group(group, stream->rest << (stream->rest_count == 1 ? 16 : 8));
  group[3] = '=';
  if (stream->rest_count == 1) group[2] = '=';
  page_put(stream->sink, group, 4);
  stream->rest = 0;
  stream->rest_count = 0;
}
