/* Writes JSON straight to the output: results can be far larger than memory would like to hold twice. */
#include "json.h"

#include <math.h>
#include <string.h>

json json_begin(output *out) {
  return (json){.out = out};
}

void json_end(json *writer) {
  gz_put_text(writer->out, "\n");
}

/* What stands before a value or a key: a comma, a new line. */
static void separate(json *writer, bool is_object) {
  if (writer->after_key || writer->depth == 0) {
    writer->after_key = false;
    return;
  }
  uint32_t bit = 1u << writer->depth;
  bool first = !(writer->started & bit);
  if (!first) gz_put_bytes(writer->out, ",", 1);
  writer->started |= bit;
  if (writer->depth == 1 && !first) gz_put_text(writer->out, "\n ");
  if (writer->depth == 2 && writer->is_array & bit && is_object) gz_put_text(writer->out, "\n  ");
}

static void open_container(json *writer, bool is_array) {
  separate(writer, !is_array);
  gz_put_bytes(writer->out, is_array ? "[" : "{", 1);
  uint32_t bit = 1u << ++writer->depth;
  writer->started &= ~bit;
  writer->is_array = is_array ? writer->is_array | bit : writer->is_array & ~bit;
}

void json_open_object(json *writer) {
  open_container(writer, false);
}

void json_close_object(json *writer) {
  writer->depth--;
  gz_put_bytes(writer->out, "}", 1);
}

void json_open_array(json *writer) {
  open_container(writer, true);
}

void json_close_array(json *writer) {
  writer->depth--;
  gz_put_bytes(writer->out, "]", 1);
}

static void write_string(json *writer, const char *text) {
  gz_put_bytes(writer->out, "\"", 1);
  for (const char *at = text; *at;) {
    size_t length = gz_utf8_length(at);
    if (length == 0)
      gz_put_text(writer->out, "\\ufffd");
    else if (*at == '"' || *at == '\\')
      output_print(writer->out, "\\%c", *at);
    else if ((unsigned char)*at < 0x20)
      output_print(writer->out, "\\u%04x", *at);
    else
      gz_put_bytes(writer->out, at, length);
    at += length ? length : 1;
  }
  gz_put_bytes(writer->out, "\"", 1);
}

void json_key(json *writer, const char *key) {
  separate(writer, false);
  write_string(writer, key);
  gz_put_bytes(writer->out, ":", 1);
  writer->after_key = true;
}

void json_string(json *writer, const char *text) {
  separate(writer, false);
  write_string(writer, text);
}

void json_integer(json *writer, uint64_t value) {
  separate(writer, false);
  gz_put_integer(writer->out, value);
}

void json_double(json *writer, double value) {
  separate(writer, false);
  if (isfinite(value))
    gz_put_double(writer->out, value);
  else
    gz_put_text(writer->out, "null");
}

void json_bool(json *writer, bool value) {
  separate(writer, false);
  gz_put_text(writer->out, value ? "true" : "false");
}

void json_hash(json *writer, uint64_t value) {
  separate(writer, false);
  gz_put_bytes(writer->out, "\"", 1);
  gz_put_hex(writer->out, value);
  gz_put_bytes(writer->out, "\"", 1);
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
