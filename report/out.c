/* out.c: see out.h. */
#include "out.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 1 << 16 };

bool report_out_begin(report_out *out, graze_report_sink sink, void *user) {
  *out = (report_out){.capacity = FIRST_CAPACITY, .sink = sink, .user = user};
  out->data = malloc(out->capacity);
  out->no_memory = out->data == NULL;
  return !out->no_memory;
}

void report_out_end(report_out *out) {
  free(out->data);
  out->data = NULL;
}

void report_out_flush(report_out *out) {
  if (out->sink == NULL) return;
  if (out->used > 0 && !out->refused) out->refused = !out->sink(out->user, out->data, out->used);
  out->used = 0;
}

/* Room for `size` more bytes. */
static bool make_room(report_out *out, size_t size) {
  if (size <= out->capacity - out->used) return true;
  report_out_flush(out);
  if (size <= out->capacity - out->used) return true;
  size_t capacity = 2 * out->capacity;
  while (capacity - out->used < size) capacity *= 2;
  char *data = realloc(out->data, capacity);
  if (data == NULL) {
    out->no_memory = true;
    return false;
  }
  out->data = data;
  out->capacity = capacity;
  return true;
}

void put_bytes(report_out *out, const void *bytes, size_t size) {
  if (!make_room(out, size)) return;
  memcpy(out->data + out->used, bytes, size);
  out->used += size;
}

void put_text(report_out *out, const char *text) {
  if (text != NULL) put_bytes(out, text, strlen(text));
}

void put_integer(report_out *out, uint64_t value) {
  char digits[20];
  size_t first = sizeof digits;
  do {
    digits[--first] = (char)('0' + value % 10);
    value /= 10;
  } while (value > 0);
  put_bytes(out, digits + first, sizeof digits - first);
}

void put_hex(report_out *out, uint64_t value) {
  char digits[16];
  for (int i = 0; i < 16; i++) digits[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
  put_bytes(out, digits, sizeof digits);
}

void put_double(report_out *out, double value) {
  char text[32];
  if (isfinite(value)) put_bytes(out, text, graze_format_double(value, text));
}

size_t report_utf8_length(const char *text) {
  static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char *at = (const unsigned char *)text;
  if (at[0] < 0x80) return 1;
  if (at[0] < 0xc2 || at[0] > 0xf4) return 0;
  size_t length = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
  uint32_t code = at[0] & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if ((at[i] & 0xc0) != 0x80) return 0;
    code = code << 6 | (at[i] & 0x3f);
  }
  return code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : length;
}

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* Puts the character at `text` as it is, or its replacement when it is not UTF-8; returns what follows. */
static const char *put_character(report_out *out, const char *text) {
  size_t length = report_utf8_length(text);
  if (length > 0) {
    put_bytes(out, text, length);
    return text + length;
  }
  put_text(out, replacement);
  return text + 1;
}

/* U+FFFE and U+FFFF are valid UTF-8 and no characters of XML. */
static bool is_xml_stranger(const char *text) {
  return strncmp(text, "\xef\xbf\xbe", 3) == 0 || strncmp(text, "\xef\xbf\xbf", 3) == 0;
}

static const char *put_xml_special(report_out *out, const char *at) {
  switch (*at) {
    case '<':
      put_text(out, "&lt;");
      break;
    case '>':
      put_text(out, "&gt;");
      break;
    case '&':
      put_text(out, "&amp;");
      break;
    case '"':
      put_text(out, "&quot;");
      break;
    case '\t': /* as references: a parser makes spaces of bare ones in attributes, and \n of \r everywhere */
      put_text(out, "&#9;");
      break;
    case '\n':
      put_text(out, "&#10;");
      break;
    case '\r':
      put_text(out, "&#13;");
      break;
    default:
      if ((unsigned char)*at >= 0x80 && !is_xml_stranger(at)) return put_character(out, at);
      put_text(out, replacement);
      return at + ((unsigned char)*at >= 0x80 ? 3 : 1);
  }
  return at + 1;
}

static bool is_plain_in_xml(char c) {
  return (unsigned char)c >= 0x20 && (unsigned char)c < 0x7f && c != '<' && c != '>' && c != '&' && c != '"';
}

void put_xml(report_out *out, const char *text) {
  for (const char *at = text != NULL ? text : ""; *at;) {
    size_t plain = 0;
    while (is_plain_in_xml(at[plain])) plain++;
    put_bytes(out, at, plain);
    at += plain;
    if (*at) at = put_xml_special(out, at);
  }
}

void put_json(report_out *out, const char *text) {
  put_text(out, "\"");
  for (const char *at = text != NULL ? text : ""; *at;) {
    unsigned char c = (unsigned char)*at;
    if (c == '"' || c == '\\') {
      put_bytes(out, (char[2]){'\\', *at++}, 2);
    } else if (c < 0x20) {
      put_bytes(out, (char[6]){'\\', 'u', '0', '0', "01"[c >> 4], "0123456789abcdef"[c & 15]}, 6);
      at++;
    } else {
      at = put_character(out, at);
    }
  }
  put_text(out, "\"");
}

void put_csv(report_out *out, const char *text) {
  if (text == NULL) return;
  bool quoted = strpbrk(text, "\",;\t\r\n") != NULL || *text == ' ' || (*text && text[strlen(text) - 1] == ' ');
  if (quoted) put_text(out, "\"");
  for (const char *at = text; *at;) {
    if (*at == '"') put_text(out, "\"");
    at = put_character(out, at);
  }
  if (quoted) put_text(out, "\"");
}
