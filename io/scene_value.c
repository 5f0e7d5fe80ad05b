/* scene_value.c: what all keys of a scene file have in common. jansson takes the JSON apart; all numbers are read as
 * doubles, and a number that no double holds is an error that names the key. */
#include "scene_value.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/nearest.h"

/* ---- places and complaints --------------------------------------------------------------------------------------- */

scene_place gz_scene_element(const char *list, size_t index, const json_t *element) {
  scene_place place;
  const char *name = json_string_value(json_object_get(element, "name"));
  if (name != NULL) {
    snprintf(place.text, sizeof place.text, "%s[%zu] (\"%s\")", list, index, scene_quote(name).text);
  } else {
    snprintf(place.text, sizeof place.text, "%s[%zu]", list, index);
  }
  return place;
}

scene_place gz_scene_member(const char *place, const char *key) {
  scene_place member;
  snprintf(member.text, sizeof member.text, "%s.%s", place, key);
  return member;
}

scene_place gz_scene_named(const char *place, const char *name) {
  scene_place named;
  snprintf(named.text, sizeof named.text, "%s (\"%s\")", place, scene_quote(name).text);
  return named;
}

static bool fail_with(io_fault *fault, graze_status status, const char *place, const char *format, va_list arguments) {
  char reason[280];
  vsnprintf(reason, sizeof reason, format, arguments);
  return gz_io_fail(fault, status, IO_WHOLE_FILE, 0, "%s%s%s", place, *place ? ": " : "", reason);
}

bool gz_scene_fail(io_fault *fault, const char *place, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail_with(fault, GRAZE_ERROR_FORMAT, place, format, arguments);
  va_end(arguments);
  return false;
}

bool gz_scene_fail_as(io_fault *fault, graze_status status, const char *place, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail_with(fault, status, place, format, arguments);
  va_end(arguments);
  return false;
}

static bool is_one_of(const char *word, const char *const *words) {
  for (; *words != NULL; words++) {
    if (strcmp(word, *words) == 0) return true;
  }
  return false;
}

bool gz_scene_check_keys(json_t *object, const char *const *known, const char *const *later, const char *place,
                         io_fault *fault) {
  const char *key;
  json_t *value;
  json_object_foreach(object, key, value) {
    if (is_one_of(key, known)) continue;
    if (later != NULL && is_one_of(key, later))
      return gz_scene_fail_as(fault, GRAZE_ERROR_UNSUPPORTED, place, "\"%s\" cannot be simulated yet", key);
    return gz_scene_fail(fault, place, "unknown key \"%s\"%s", scene_quote(key).text,
                         gz_did_you_mean_one_of(key, known).text);
  }
  return true;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

bool gz_scene_copy_text(const json_t *value, const char *key, const char *place, char **text, io_fault *fault) {
  if (value != NULL && !json_is_string(value)) return gz_scene_fail(fault, place, "\"%s\" is not a string", key);
  *text = gz_new_text(fault->context, value != NULL ? json_string_value(value) : "");
  return *text != NULL || gz_io_fail_memory(fault);
}

bool gz_scene_copy_name(const json_t *value, const char *key, const char *place, char **text, io_fault *fault) {
  if (value == NULL) return gz_scene_fail(fault, place, "\"%s\" is missing", key);
  if (!gz_scene_copy_text(value, key, place, text, fault)) return false;
  return **text != 0 || gz_scene_fail(fault, place, "\"%s\" is empty", key);
}

bool gz_scene_join_path(const char *scene_path, char **path, io_fault *fault) {
  const char *slash = strrchr(scene_path, '/');
  if (**path == '/' || slash == NULL) return true;
  size_t folder = (size_t)(slash - scene_path) + 1;
  size_t length = strlen(*path);
  char *joined = gz_new(fault->context, 1, folder + length + 1);
  if (joined == NULL) return gz_io_fail_memory(fault);
  memcpy(joined, scene_path, folder);
  memcpy(joined + folder, *path, length + 1);
  gz_free(*path);
  *path = joined;
  return true;
}

bool gz_scene_read_word(const json_t *object, const char *key, const char *place, const char *const *words,
                        unsigned *word, io_fault *fault) {
  const json_t *value = json_object_get(object, key);
  if (value == NULL) return true;
  if (!json_is_string(value)) return gz_scene_fail(fault, place, "\"%s\" is not a string", key);
  for (*word = 0; words[*word] != NULL; (*word)++) {
    if (strcmp(words[*word], json_string_value(value)) == 0) return true;
  }
  char all[96] = "";
  for (size_t i = 0, used = 0; words[i] != NULL; i++, used = strlen(all)) {
    snprintf(all + used, sizeof all - used, "%s\"%s\"", i > 0 ? ", " : "", words[i]);
  }
  return gz_scene_fail(fault, place, "\"%s\" is \"%s\", none of %s", key, scene_quote(json_string_value(value)).text,
                       all);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

bool gz_scene_read_number(const json_t *object, const char *key, const char *place, double *number, io_fault *fault) {
  const json_t *value = json_object_get(object, key);
  if (value == NULL) return true;
  if (!json_is_number(value)) return gz_scene_fail(fault, place, "\"%s\" is not a number", key);
  *number = json_number_value(value);
  return isfinite(*number) || gz_scene_fail_as(fault, GRAZE_ERROR_NOT_FINITE, place, "\"%s\" is not finite", key);
}

bool gz_scene_read_numbers(const json_t *object, const char *key, const char *place, size_t count, double *numbers,
                           io_fault *fault) {
  const json_t *value = json_object_get(object, key);
  if (value == NULL) return true;
  if (json_array_size(value) != count)
    return gz_scene_fail(fault, place, "\"%s\" is not an array of %zu numbers", key, count);
  for (size_t i = 0; i < count; i++) {
    const json_t *entry = json_array_get(value, i);
    if (!json_is_number(entry)) return gz_scene_fail(fault, place, "\"%s\"[%zu] is not a number", key, i);
    numbers[i] = json_number_value(entry);
    if (!isfinite(numbers[i]))
      return gz_scene_fail_as(fault, GRAZE_ERROR_NOT_FINITE, place, "\"%s\"[%zu] is not finite", key, i);
  }
  return true;
}

/* ---- lists and names --------------------------------------------------------------------------------------------- */

bool gz_scene_make_array(const json_t *array, const char *place, const char *key, size_t size, void *elements,
                         io_fault *fault) {
  size_t count = json_array_size(array);
  if (array != NULL && !json_is_array(array)) return gz_scene_fail(fault, place, "\"%s\" is not an array", key);
  if (count >= UINT32_MAX) return gz_scene_fail(fault, place, "\"%s\" has too many elements", key);
  void *made = gz_new_zeroed(fault->context, count > 0 ? count : 1, size);
  memcpy(elements, &made, sizeof made);
  return made != NULL || gz_io_fail_memory(fault);
}

bool gz_scene_names_begin(scene_names *names, uint32_t most, io_fault *fault) {
  *names = (scene_names){.names = gz_new(fault->context, most, sizeof(scene_name))};
  return names->names != NULL || gz_io_fail_memory(fault);
}

static int compare_names(const void *a, const void *b) {
  const scene_name *x = a, *y = b;
  int order = strcmp(x->name, y->name);
  return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

void gz_scene_names_sort(scene_names *names) {
  qsort(names->names, names->count, sizeof names->names[0], compare_names);
}

bool gz_scene_names_find(const scene_names *names, const char *name, uint32_t *index) {
  uint32_t low = 0, high = names->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    int order = strcmp(names->names[middle].name, name);
    if (order == 0) {
      *index = names->names[middle].index;
      return true;
    }
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return false;
}

bool gz_scene_fail_unknown(const scene_names *names, const char *what, const char *name, const char *place,
                           io_fault *fault) {
  nearest n = {.wanted = name};
  for (uint32_t i = 0; i < names->count; i++) gz_nearest_offer(&n, names->names[i].name);
  return gz_scene_fail(fault, place, "no %s has the name \"%s\"%s", what, scene_quote(name).text,
                       gz_did_you_mean(&n).text);
}
