/* gltf_json.c: values of a glTF file's JSON, each with a complaint that names the place. Integers may be written as
 * 1.0, as chapter 3.2 ("JSON Encoding") allows. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gltf.h"

#define MOST_EXACT 9007199254740991.0 /* 2^53 - 1, chapter 3.2 */

gltf_place gz_gltf_place_of(const char *what, uint64_t index) {
  gltf_place place;
  snprintf(place.text, sizeof place.text, "%s %llu", what, (unsigned long long)index);
  return place;
}

bool gz_gltf_fail(const gltf_file *file, graze_status status, const char *place, const char *format, ...) {
  char reason[180];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  return gz_io_fail(file->fault, status, IO_WHOLE_FILE, 0, "%s%s%s", place, *place ? ": " : "", reason);
}

static bool take_number(const gltf_file *file, const char *place, const char *key, const json_t *value, uint64_t least,
                        uint64_t most, uint64_t *number) {
  double given = json_is_number(value) ? json_number_value(value) : -1;
  if (given < 0 || given > MOST_EXACT || given != floor(given)) {
    return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "\"%s\" is not a whole number of 0 to 2^53 - 1", key);
  }
  *number = (uint64_t)given;
  if (*number >= least && *number <= most) return true;
  bool low = *number < least;
  return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "\"%s\" is %llu, %s than %llu", key, (unsigned long long)*number,
                      low ? "less" : "more", (unsigned long long)(low ? least : most));
}

bool gz_gltf_get_number(const gltf_file *file, const char *place, const json_t *object, const char *key, uint64_t least,
                        uint64_t most, uint64_t absent, uint64_t *value) {
  const json_t *member = json_object_get(object, key);
  if (member != NULL) return take_number(file, place, key, member, least, most, value);
  *value = absent;
  return absent != GLTF_REQUIRED || gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "\"%s\" is missing", key);
}

bool gz_gltf_index_of(const gltf_file *file, const char *place, const char *key, const json_t *value, uint32_t count,
                      uint32_t *index) {
  uint64_t number = 0;
  if (!take_number(file, place, key, value, 0, UINT64_MAX, &number)) return false;
  *index = (uint32_t)number;
  if (number < count) return true;
  return gz_gltf_fail(file, GRAZE_ERROR_INDEX, place, "\"%s\" names number %llu, but there are %lu", key,
                      (unsigned long long)number, (unsigned long)count);
}

bool gz_gltf_get_index(const gltf_file *file, const char *place, const json_t *object, const char *key, uint32_t count,
                       bool required, uint32_t *index) {
  const json_t *member = json_object_get(object, key);
  *index = GLTF_NONE;
  if (member != NULL) return gz_gltf_index_of(file, place, key, member, count, index);
  return !required || gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "\"%s\" is missing", key);
}

bool gz_gltf_get_bool(const gltf_file *file, const char *place, const json_t *object, const char *key, bool *value) {
  const json_t *member = json_object_get(object, key);
  *value = json_is_true(member);
  return member == NULL || json_is_boolean(member) ||
         gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "\"%s\" is neither true nor false", key);
}

bool gz_gltf_get_array(const gltf_file *file, const char *place, const json_t *object, const char *key,
                       json_t **array) {
  *array = json_object_get(object, key);
  return *array == NULL || json_is_array(*array) ||
         gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "\"%s\" is not an array", key);
}

bool gz_gltf_get_object(const gltf_file *file, const char *place, const json_t *object, const char *key,
                        json_t **member) {
  *member = json_object_get(object, key);
  return *member == NULL || json_is_object(*member) ||
         gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "\"%s\" is not an object", key);
}

bool gz_gltf_get_numbers(const gltf_file *file, const char *place, const json_t *object, const char *key, size_t count,
                         double *numbers, bool *found) {
  const json_t *array = json_object_get(object, key);
  *found = array != NULL;
  if (array == NULL) return true;
  bool good = json_array_size(array) == count;
  for (size_t i = 0; good && i < count; i++) {
    good = json_is_number(json_array_get(array, i));
    numbers[i] = json_number_value(json_array_get(array, i));
  }
  return good || gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "\"%s\" is not an array of %zu numbers", key, count);
}

bool gz_gltf_get_name(const gltf_file *file, const char *place, const json_t *object, const char **name) {
  const json_t *member = json_object_get(object, "name");
  *name = json_is_string(member) ? json_string_value(member) : "";
  return member == NULL || json_is_string(member) ||
         gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "\"name\" is not a string");
}

bool gz_gltf_get_table(const gltf_file *file, const char *key, json_t **table, uint32_t *count) {
  if (!gz_gltf_get_array(file, "", file->root, key, table)) return false;
  size_t size = json_array_size(*table);
  if (*table != NULL && size == 0) return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, "", "\"%s\" is an empty array", key);
  if (size > IO_MOST_ELEMENTS) return gz_gltf_fail(file, GRAZE_ERROR_LIMIT, "", "\"%s\" has too many entries", key);
  for (size_t i = 0; i < size; i++) {
    if (json_is_object(json_array_get(*table, i))) continue;
    return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, "", "entry %zu of \"%s\" is not an object", i, key);
  }
  *count = (uint32_t)size;
  return true;
}

json_t *gz_gltf_extension(const json_t *object, const char *name) {
  return json_object_get(json_object_get(object, "extensions"), name);
}
