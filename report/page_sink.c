/* page_sink.c: see page_sink.h. Nothing is kept but one buffer, so that a page of any size costs the same memory. */
#include "page_sink.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* ---- the file ---- */

static bool write_bytes(void *user, const void *bytes, size_t size) {
  page_sink *sink = user;
  if (sink->reason == 0 && !gz_file_write(sink->file.descriptor, bytes, size)) sink->reason = errno;
  return sink->reason == 0;
}

bool gz_page_sink_open(page_sink *sink, const char *path) {
  *sink = (page_sink){0};
  if (!gz_new_file_create(&sink->file, path)) {
    sink->reason = errno;
    return false;
  }
  gz_text_begin(&sink->text, write_bytes, sink);
  return true;
}

bool gz_page_sink_close(page_sink *sink) {
  gz_text_flush(&sink->text);
  gz_text_end(&sink->text);
  if (!gz_new_file_finish(&sink->file, sink->reason == 0) && sink->reason == 0) sink->reason = errno;
  return sink->reason == 0;
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

void gz_page_put_html(page_sink *sink, const char *text) {
  for (const uint8_t *p = (const uint8_t *)(text != NULL ? text : ""); *p != 0;) {
    int length = sequence_length(p);
    if (*p == '&') {
      gz_put_text(&sink->text, "&amp;");
    } else if (*p == '<') {
      gz_put_text(&sink->text, "&lt;");
    } else if (*p == '>') {
      gz_put_text(&sink->text, "&gt;");
    } else if (length > 0) {
      gz_put_bytes(&sink->text, p, (size_t)length);
    } else {
      gz_put_text(&sink->text, replacement);
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
    gz_put_bytes(&sink->text, &c, 1);
    return;
  }
  gz_put_text(&sink->text, escape);
}

static void put_json_string(page_sink *sink, const char *text) {
  gz_put_bytes(&sink->text, "\"", 1);
  for (const uint8_t *p = (const uint8_t *)(text != NULL ? text : ""); *p != 0;) {
    int length = sequence_length(p);
    if (length == 1) {
      put_json_character(sink, *p);
    } else if (length > 1) {
      gz_put_bytes(&sink->text, p, (size_t)length);
    } else {
      gz_put_text(&sink->text, replacement);
    }
    p += length > 0 ? length : -length;
  }
  gz_put_bytes(&sink->text, "\"", 1);
}

/* ---- JSON ---- */

static void begin_value(page_sink *sink, const char *key) {
  if (sink->more) gz_put_bytes(&sink->text, ",", 1);
  sink->more = true;
  if (key == NULL) return;
  gz_put_bytes(&sink->text, "\"", 1);
  gz_put_text(&sink->text, key);
  gz_put_bytes(&sink->text, "\":", 2);
}

void gz_page_json_open(page_sink *sink, const char *key, char bracket) {
  begin_value(sink, key);
  gz_put_bytes(&sink->text, &bracket, 1);
  sink->more = false;
}

void gz_page_json_close(page_sink *sink, char bracket) {
  gz_put_bytes(&sink->text, &bracket, 1);
  sink->more = true;
}

void gz_page_json_text(page_sink *sink, const char *key, const char *text) {
  begin_value(sink, key);
  put_json_string(sink, text);
}

void gz_page_json_word(page_sink *sink, const char *key, const char *word) {
  begin_value(sink, key);
  gz_put_text(&sink->text, word);
}

void gz_page_json_count(page_sink *sink, const char *key, uint64_t value) {
  begin_value(sink, key);
  gz_put_integer(&sink->text, value);
}

void gz_page_json_number(page_sink *sink, const char *key, double value) {
  begin_value(sink, key);
  if (isfinite(value)) {
    gz_put_double(&sink->text, value);
  } else {
    gz_put_text(&sink->text, "null");
  }
}

void gz_page_json_hash(page_sink *sink, const char *key, uint64_t value) {
  begin_value(sink, key);
  gz_put_text(&sink->text, "\"");
  gz_put_hex(&sink->text, value);
  gz_put_text(&sink->text, "\"");
}

void gz_page_json_numbers(page_sink *sink, const char *key, const double *values, int count) {
  gz_page_json_open(sink, key, '[');
  for (int i = 0; i < count; i++) gz_page_json_number(sink, NULL, values[i]);
  gz_page_json_close(sink, ']');
}

/* ---- base64 ---- */

static const char digits64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_group(char *to, uint32_t group) {
  for (int k = 0; k < 4; k++) to[k] = digits64[group >> (18 - 6 * k) & 63];
}

/* Whole groups of three bytes. */
static void put_groups(page_sink *sink, const uint8_t *from, size_t count) {
  char some[4 * 64];
  while (count > 0) {
    size_t part = count < 64 ? count : 64;
    for (size_t i = 0; i < part; i++, from += 3) {
      put_group(some + 4 * i, (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2]);
    }
    gz_put_bytes(&sink->text, some, 4 * part);
    count -= part;
  }
}

void gz_page_base64_put(page_base64 *stream, const void *bytes, size_t size) {
  for (const uint8_t *from = bytes; size > 0;) {
    if (stream->rest_count == 0 && size >= 3) {
      put_groups(stream->sink, from, size / 3);
      from += size / 3 * 3;
      size %= 3;
      continue;
    }
    stream->rest = stream->rest << 8 | *from++;
    size--;
    if (++stream->rest_count == 3) {
      char group[4];
      put_group(group, stream->rest);
      gz_put_bytes(&stream->sink->text, group, 4);
      stream->rest = 0;
      stream->rest_count = 0;
    }
  }
}

void gz_page_base64_end(page_base64 *stream) {
  if (stream->rest_count == 0) return;
  char group[4];
  put_group(group, stream->rest << (stream->rest_count == 1 ? 16 : 8));
  group[3] = '=';
  if (stream->rest_count == 1) group[2] = '=';
  gz_put_bytes(&stream->sink->text, group, 4);
  stream->rest = 0;
  stream->rest_count = 0;
}
