/* json.h: a JSON writer on an output. Commas come by themselves; keys of the outermost object and objects in its
 * arrays start new lines. */
#ifndef TOOL_JSON_H
#define TOOL_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "output.h"

typedef struct json {
  output *out;
  int depth;
  uint32_t is_array; /* bit d: the container at depth d is an array */
  uint32_t started;  /* bit d: it has an element already */
  bool after_key;
} json;

json json_begin(output *out);
void json_end(json *writer); /* the final newline */

void json_open_object(json *writer);
void json_close_object(json *writer);
void json_open_array(json *writer);
void json_close_array(json *writer);
void json_key(json *writer, const char *key);

/* Bytes that are not UTF-8 become U+FFFD. */
void json_string(json *writer, const char *text);
void json_integer(json *writer, uint64_t value);
void json_double(json *writer, double value); /* null when not finite */
void json_bool(json *writer, bool value);
void json_hash(json *writer, uint64_t value); /* string of 16 hex digits */
void json_pair(json *writer, uint64_t first, uint64_t second);

/* Key and value in one. */
void json_key_string(json *writer, const char *key, const char *text);
void json_key_integer(json *writer, const char *key, uint64_t value);
void json_key_bool(json *writer, const char *key, bool value);
void json_key_hash(json *writer, const char *key, uint64_t value);
void json_key_double(json *writer, const char *key, double value);

#endif
