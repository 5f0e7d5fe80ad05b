/* base/json.h: a JSON writer on a text.
 *
 * Commas come by themselves; keys of the outermost object, and objects in its arrays, start new lines. `key` is plain
 * ASCII, or NULL for an element of an array. Failures are the text's.
 */
#ifndef GRAZE_SRC_BASE_JSON_H
#define GRAZE_SRC_BASE_JSON_H

#include "base/text.h"

typedef struct gz_json {
  gz_text *text;
  bool in_script; /* `<` is written as an escape, so that no string ends the script element of a page */
  int depth;
  uint32_t is_array; /* bit d: the container at depth d is an array */
  uint32_t started;  /* bit d: it has an element already */
} gz_json;

gz_json gz_json_begin(gz_text *text, bool in_script); /* opens the outermost object */

/* The outermost object of a result: "graze", the version of the program, and "format", that of the keys: another number
 * once a key goes or means something else. */
enum { GZ_JSON_FORMAT = 1 };
gz_json gz_json_begin_result(gz_text *text);

void gz_json_end(gz_json *json); /* closes it, and the line */

void gz_json_open(gz_json *json, const char *key, char bracket); /* '{' or '[' */
void gz_json_close(gz_json *json);

/* NULL counts as ""; bytes that are not UTF-8 become U+FFFD. */
void gz_json_text(gz_json *json, const char *key, const char *value);
void gz_json_integer(gz_json *json, const char *key, uint64_t value);
void gz_json_double(gz_json *json, const char *key, double value); /* null when not finite */
void gz_json_doubles(gz_json *json, const char *key, const double *values, int count);
void gz_json_bool(gz_json *json, const char *key, bool value);
void gz_json_hash(gz_json *json, const char *key, uint64_t value);   /* string of 16 hex digits */
void gz_json_word(gz_json *json, const char *key, const char *word); /* as it is: null */
void gz_json_pair(gz_json *json, uint64_t first, uint64_t second);   /* an element of an array */

#endif
