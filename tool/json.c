/* Writes JSON straight to the output: results can be far larger than memory would like to hold twice. */
#include "json.h"

#include <math.h>
#include <string.h>

json json_begin(output *out) {
  return (json){.out = out};
}

void json_end(json *writer) {
  output_text(writer->out, "\n");
}

/* What stands before a value or a key: a comma, a new line. */
static void separate(json *writer, bool is_object) {
  if (writer->after_key || writer->depth == 0) {
    writer->after_key = false;
    return;
  }
  uint32_t bit = 1u << writer->depth;
  bool first = !(writer->started & bit);
  if (!first) output_bytes(writer->out, ",", 1);
  writer->started |= bit;
  if (writer->depth == 1 && !first) output_text(writer->out, "\n ");
  if (writer->depth == 2 && writer->is_array & bit && is_object) output_text(writer->out, "\n  ");
}

static void open_container(json *writer, bool is_array) {
  separate(writer, !is_array);
  output_bytes(writer->out, is_array ? "[" : "{", 1);
  uint32_t bit = 1u << ++writer->depth;
  writer->started &= ~bit;
  writer->is_array = is_array ? writer->is_array | bit : writer->is_array & ~bit;
}

void json_open_object(json *writer) {
  open_container(writer, false);
}

void json_close_object(json *writer) {
  writer->depth--;
  output_bytes(writer->out, "}", 1);
}

void json_open_array(json *writer) {
  open_container(writer, true);
}

void json_close_array(json *writer) {
  writer->depth--;
  output_bytes(writer->out, "]", 1);
}

/* Length of the valid UTF-8 sequence at `text`, 0 when there is none (overlong and surrogates count as none). */
static size_t sequence_length(const unsigned char *text) {
  static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
  unsigned char lead = text[0];
  size_t length = lead < 0x80                   ? 1
                  : lead >= 0xc2 && lead < 0xe0 ? 2
                  : lead >= 0xe0 && lead < 0xf0 ? 3
                  : lead < 0xf5                 ? 4
                                                : 0;
  if (lead >= 0x80 && lead < 0xc2) length = 0;
  if (length < 2) return length;
  uint32_t code = lead & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if ((text[i] & 0xc0) != 0x80) return 0;
    code = code << 6 | (text[i] & 0x3f);
  }
  if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
  return length;
}

static void write_string(json *writer, const char *text) {
  output_bytes(writer->out, "\"", 1);
  for (const unsigned char *at = (const unsigned char *)text; *at;) {
    size_t length = sequence_length(at);
    if (length == 0)
      output_text(writer->out, "\\ufffd");
    else if (*at == '"' || *at == '\\')
      output_print(writer->out, "\\%c", *at);
    else if (*at < 0x20)
      output_print(writer->out, "\\u%04x", *at);
    else
      output_bytes(writer->out, at, length);
    at += length ? length : 1;
  }
  output_bytes(writer->out, "\"", 1);
}

void json_key(json *writer, const char *key) {
  separate(writer, false);
  write_string(writer, key);
  output_bytes(writer->out, ":", 1);
  writer->after_key = true;
}

void json_string(json *writer, const char *text) {
  separate(writer, false);
  write_string(writer, text);
}

void json_integer(json *writer, uint64_t value) {
  separate(writer, false);
  output_integer(writer->out, value);
}

void json_double(json *writer, double value) {
  separate(writer, false);
  if (isfinite(value))
    output_double(writer->out, value);
  else
    output_text(writer->out, "null");
}

void json_bool(json *writer, bool value) {
  separate(writer, false);
  output_text(writer->out, value ? "true" : "false");
}

void json_hash(json *writer, uint64_t value) {
  separate(writer, false);
  output_bytes(writer->out, "\"", 1);
  output_hex(writer->out, value);
  output_bytes(writer->out, "\"", 1);
}

void json_pair(json *writer, uint64_t first, uint64_t second) {
  json_open_array(writer);
  json_integer(writer, first);
  json_integer(writer, second);
  json_close_array(writer);
}

void json_key_string(json *writer, const char *key, const char *text) {
  json_key(writer, key);
  json_string(writer, text);
}

void json_key_integer(json *writer, const char *key, uint64_t value) {
  json_key(writer, key);
  json_integer(writer, value);
}

void json_key_bool(json *writer, const char *key, bool value) {
  json_key(writer, key);
  json_bool(writer, value);
}

void json_key_hash(json *writer, const char *key, uint64_t value) {
  json_key(writer, key);
  json_hash(writer, value);
}

void json_key_double(json *writer, const char *key, double value) {
  json_key(writer, key);
  json_double(writer, value);
}
