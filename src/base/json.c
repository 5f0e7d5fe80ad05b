/* Written straight to the text: results can be far larger than memory would like to hold twice. */
#include "base/json.h"

#include <math.h>

gz_json gz_json_begin(gz_text *text, bool in_script) {
  gz_json json = {.text = text, .in_script = in_script};
  gz_json_open(&json, NULL, '{');
  return json;
}

gz_json gz_json_begin_result(gz_text *text) {
  gz_json json = gz_json_begin(text, false);
  gz_json_text(&json, "graze", graze_version());
  gz_json_integer(&json, "format", GZ_JSON_FORMAT);
  return json;
}

void gz_json_end(gz_json *json) {
  gz_json_close(json);
  gz_put_text(json->text, "\n");
}

static void put_special(gz_json *json, unsigned char c) {
  if (c == '"' || c == '\\') {
    gz_put_bytes(json->text, (char[2]){'\\', (char)c}, 2);
  } else {
    const char *digits = "0123456789abcdef";
    gz_put_bytes(json->text, (char[6]){'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]}, 6);
  }
}

static bool is_special(const gz_json *json, unsigned char c) {
  return c < 0x20 || c == '"' || c == '\\' || (json->in_script && (c == '<' || c == 0x7f));
}

static void put_string(gz_json *json, const char *string) {
  gz_put_text(json->text, "\"");
  for (const char *at = string != NULL ? string : ""; *at;) {
    if (is_special(json, (unsigned char)*at)) {
      put_special(json, (unsigned char)*at++);
    } else {
      at = gz_put_character(json->text, at);
    }
  }
  gz_put_text(json->text, "\"");
}

/* What stands before a value: a comma, a new line, the key. */
static void begin_value(gz_json *json, const char *key, bool is_object) {
  uint32_t bit = 1u << json->depth;
  bool first = !(json->started & bit);
  json->started |= bit;
  if (!first) gz_put_text(json->text, ",");
  if (json->depth == 1 && !first) gz_put_text(json->text, "\n ");
  if (json->depth == 2 && json->is_array & bit && is_object) gz_put_text(json->text, "\n  ");
  if (key == NULL) return;
  put_string(json, key);
  gz_put_text(json->text, ":");
}

void gz_json_open(gz_json *json, const char *key, char bracket) {
  begin_value(json, key, bracket == '{');
  gz_put_bytes(json->text, &bracket, 1);
  uint32_t bit = 1u << ++json->depth;
  json->started &= ~bit;
  json->is_array = bracket == '[' ? json->is_array | bit : json->is_array & ~bit;
}

void gz_json_close(gz_json *json) {
  gz_put_text(json->text, json->is_array >> json->depth-- & 1 ? "]" : "}");
}

void gz_json_text(gz_json *json, const char *key, const char *value) {
  begin_value(json, key, false);
  put_string(json, value);
}

void gz_json_integer(gz_json *json, const char *key, uint64_t value) {
  begin_value(json, key, false);
  gz_put_integer(json->text, value);
}

void gz_json_double(gz_json *json, const char *key, double value) {
  begin_value(json, key, false);
  if (isfinite(value)) {
    gz_put_double(json->text, value);
  } else {
    gz_put_text(json->text, "null");
  }
}

void gz_json_doubles(gz_json *json, const char *key, const double *values, int count) {
  gz_json_open(json, key, '[');
  for (int i = 0; i < count; i++) gz_json_double(json, NULL, values[i]);
  gz_json_close(json);
}

void gz_json_bool(gz_json *json, const char *key, bool value) {
  gz_json_word(json, key, value ? "true" : "false");
}

void gz_json_hash(gz_json *json, const char *key, uint64_t value) {
  begin_value(json, key, false);
  gz_put_text(json->text, "\"");
  gz_put_hex(json->text, value);
  gz_put_text(json->text, "\"");
}

void gz_json_word(gz_json *json, const char *key, const char *word) {
  begin_value(json, key, false);
  gz_put_text(json->text, word);
}

void gz_json_pair(gz_json *json, uint64_t first, uint64_t second) {
  gz_json_open(json, NULL, '[');
  gz_json_integer(json, NULL, first);
  gz_json_integer(json, NULL, second);
  gz_json_close(json);
}
