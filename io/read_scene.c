/* read_scene.c: scene.json.
 *
 * Strict: a key that is not known, a key that stands there twice, a name that is used twice or not known, a wrong type
 * or a number too large for a double is an error that names the key and the object. jansson takes the JSON apart; all
 * numbers are read as doubles.
 */
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/owned.h"
#include "file.h"

/* ---- complaints ---- */

/* Places are written like "objects[2].pose[7]". */
static bool fail_at(io_fault *fault, const char *place, const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool fail_at(io_fault *fault, const char *place, const char *format, ...) {
  char reason[280];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_WHOLE_FILE, 0, "%s%s%s", place, *place ? ": " : "", reason);
}

static gz_quoted quote(const char *text) {
  return gz_io_quote(text, text + strlen(text));
}

static bool check_keys(json_t *object, const char *const *known, const char *place, io_fault *fault) {
  const char *key;
  json_t *value;
  json_object_foreach(object, key, value) {
    size_t i = 0;
    while (known[i] != NULL && strcmp(known[i], key) != 0) i++;
    if (known[i] != NULL) continue;
    return fail_at(fault, place, "unknown key \"%s\"%s", quote(key).text, gz_did_you_mean_one_of(key, known).text);
  }
  return true;
}

/* ---- values ---- */

static bool copy_text(const json_t *value, const char *key, const char *place, char **text, io_fault *fault) {
  if (value != NULL && !json_is_string(value)) return fail_at(fault, place, "\"%s\" is not a string", key);
  *text = gz_new_text(fault->context, value != NULL ? json_string_value(value) : "");
  return *text != NULL || gz_io_fail_memory(fault);
}

static bool copy_name(const json_t *value, const char *key, const char *place, char **text, io_fault *fault) {
  if (value == NULL) return fail_at(fault, place, "\"%s\" is missing", key);
  if (!copy_text(value, key, place, text, fault)) return false;
  return **text != 0 || fail_at(fault, place, "\"%s\" is empty", key);
}

/* The mesh's path: as it stands when absolute, else joined to the folder of the scene file. */
static bool join_path(const char *scene_path, char **path, io_fault *fault) {
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

static bool read_pose(const json_t *value, const char *place, graze_pose *pose, io_fault *fault) {
  *pose = (graze_pose){{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
  if (value == NULL) return true;
  if (json_array_size(value) != 12) return fail_at(fault, place, "\"pose\" is not an array of 12 numbers");
  for (size_t i = 0; i < 12; i++) {
    const json_t *entry = json_array_get(value, i);
    if (!json_is_number(entry)) return fail_at(fault, place, "\"pose\"[%zu] is not a number", i);
    pose->m[i] = json_number_value(entry);
    if (isfinite(pose->m[i])) continue;
    fail_at(fault, place, "\"pose\"[%zu] is not finite", i);
    fault->status = GRAZE_ERROR_NOT_FINITE;
    return false;
  }
  return true;
}

/* ---- objects ---- */

static bool read_object(json_t *value, size_t index, const char *scene_path, graze_scene_file_object *object,
                        io_fault *fault) {
  static const char *const known[] = {"name", "mesh", "pose", "layer", NULL};
  char place[96];
  snprintf(place, sizeof place, "objects[%zu]", index);
  if (!json_is_object(value)) return fail_at(fault, place, "not an object");
  const json_t *name = json_object_get(value, "name");
  if (json_is_string(name)) {
    snprintf(place, sizeof place, "objects[%zu] (\"%s\")", index, quote(json_string_value(name)).text);
  }
  return check_keys(value, known, place, fault) && copy_name(name, "name", place, &object->name, fault) &&
         copy_name(json_object_get(value, "mesh"), "mesh", place, &object->mesh, fault) &&
         join_path(scene_path, &object->mesh, fault) &&
         read_pose(json_object_get(value, "pose"), place, &object->pose, fault) &&
         copy_text(json_object_get(value, "layer"), "layer", place, &object->layer, fault);
}

static bool read_objects(const json_t *array, const char *scene_path, graze_scene_file *scene, io_fault *fault) {
  if (!json_is_array(array)) return fail_at(fault, "", "\"objects\" is %s", array == NULL ? "missing" : "not an array");
  size_t count = json_array_size(array);
  if (count >= UINT32_MAX) return fail_at(fault, "objects", "too many");
  scene->objects = gz_new_zeroed(fault->context, count > 0 ? count : 1, sizeof scene->objects[0]);
  if (scene->objects == NULL) return gz_io_fail_memory(fault);
  for (size_t i = 0; i < count; i++) {
    scene->object_count = (uint32_t)i + 1; /* what is there so far can be freed */
    if (!read_object(json_array_get(array, i), i, scene_path, &scene->objects[i], fault)) return false;
  }
  return true;
}

/* ---- names ---- */

typedef struct named {
  const char *name;
  uint32_t index;
} named;

static int compare_named(const void *a, const void *b) {
  const named *x = a, *y = b;
  int order = strcmp(x->name, y->name);
  return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

/* Sorted by name, for look-ups and to find a name that is used twice. */
static bool sort_names(const graze_scene_file *scene, named *names, io_fault *fault) {
  uint32_t count = scene->object_count;
  for (uint32_t i = 0; i < count; i++) names[i] = (named){scene->objects[i].name, i};
  qsort(names, count, sizeof names[0], compare_named);
  for (uint32_t i = 1; i < count; i++) {
    if (strcmp(names[i - 1].name, names[i].name) != 0) continue;
    char place[40];
    snprintf(place, sizeof place, "objects[%lu]", (unsigned long)names[i].index);
    return fail_at(fault, place, "the name \"%s\" is objects[%lu]'s already", quote(names[i].name).text,
                   (unsigned long)names[i - 1].index);
  }
  return true;
}

static bool find_name(const named *names, uint32_t count, const char *name, uint32_t *index) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    int order = strcmp(names[middle].name, name);
    if (order == 0) {
      *index = names[middle].index;
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

/* ---- ignore lists ---- */

/* Checks that `array` (may be missing) is an array of pairs of strings. */
static bool check_pairs(const json_t *array, const char *key, io_fault *fault) {
  if (array == NULL) return true;
  if (!json_is_array(array)) return fail_at(fault, "", "\"%s\" is not an array", key);
  if (json_array_size(array) >= UINT32_MAX) return fail_at(fault, key, "too many");
  for (size_t i = 0; i < json_array_size(array); i++) {
    const json_t *pair = json_array_get(array, i);
    bool good = json_array_size(pair) == 2 && json_is_string(json_array_get(pair, 0)) &&
                json_is_string(json_array_get(pair, 1));
    char place[96];
    snprintf(place, sizeof place, "%s[%zu]", key, i);
    if (!good) return fail_at(fault, place, "not an array of two strings");
  }
  return true;
}

static const char *pair_text(const json_t *array, size_t i, size_t k) {
  return json_string_value(json_array_get(json_array_get(array, i), k));
}

static bool fail_unknown(const named *names, uint32_t count, const char *name, const char *place, io_fault *fault) {
  nearest n = {.wanted = name};
  for (uint32_t i = 0; i < count; i++) gz_nearest_offer(&n, names[i].name);
  return fail_at(fault, place, "no object has the name \"%s\"%s", quote(name).text, gz_did_you_mean(&n).text);
}

static bool read_ignore(const json_t *array, const named *names, graze_scene_file *scene, io_fault *fault) {
  if (!check_pairs(array, "ignore", fault)) return false;
  size_t count = json_array_size(array);
  scene->ignore = gz_new_zeroed(fault->context, count > 0 ? count : 1, sizeof scene->ignore[0]);
  if (scene->ignore == NULL) return gz_io_fail_memory(fault);
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < 2; k++) {
      const char *name = pair_text(array, i, k);
      if (find_name(names, scene->object_count, name, &scene->ignore[i][k])) continue;
      char place[40];
      snprintf(place, sizeof place, "ignore[%zu]", i);
      return fail_unknown(names, scene->object_count, name, place, fault);
    }
  }
  scene->ignore_count = (uint32_t)count;
  return true;
}

/* An array of pairs of strings, copied; missing = none. */
static bool read_text_pairs(const json_t *array, const char *key, char *(**pairs)[2], uint32_t *pair_count,
                            io_fault *fault) {
  if (!check_pairs(array, key, fault)) return false;
  size_t count = json_array_size(array);
  *pairs = gz_new_zeroed(fault->context, count > 0 ? count : 1, sizeof **pairs);
  if (*pairs == NULL) return gz_io_fail_memory(fault);
  *pair_count = (uint32_t)count;
  for (size_t i = 0; i < 2 * count; i++) {
    char *copy = gz_new_text(fault->context, pair_text(array, i / 2, i % 2));
    if (copy == NULL) return gz_io_fail_memory(fault);
    (*pairs)[i / 2][i % 2] = copy;
  }
  return true;
}

static bool check_layer_names(const graze_scene_file *scene, io_fault *fault) {
  for (uint32_t i = 0; i < 2 * scene->ignore_layer_count; i++) {
    char place[40];
    if (scene->ignore_layers[i / 2][i % 2][0] != '\0') continue;
    snprintf(place, sizeof place, "ignore_layers[%lu]", (unsigned long)(i / 2));
    return fail_at(fault, place, "a layer has no name");
  }
  return true;
}

/* ---- sets ---- */

static bool read_set(const char *name, const json_t *patterns, graze_scene_file_set *set, io_fault *fault) {
  char place[96];
  snprintf(place, sizeof place, "sets (\"%s\")", quote(name).text);
  size_t count = json_array_size(patterns);
  if (!json_is_array(patterns) || count == 0) return fail_at(fault, place, "not an array of patterns");
  if (count >= UINT32_MAX) return fail_at(fault, place, "too many");
  set->name = gz_new_text(fault->context, name);
  set->patterns = gz_new_zeroed(fault->context, count, sizeof set->patterns[0]);
  if (set->name == NULL || set->patterns == NULL) return gz_io_fail_memory(fault);
  for (size_t i = 0; i < count; i++) {
    const json_t *pattern = json_array_get(patterns, i);
    if (!json_is_string(pattern)) return fail_at(fault, place, "pattern %zu is not a string", i);
    set->patterns[i] = gz_new_text(fault->context, json_string_value(pattern));
    if (set->patterns[i] == NULL) return gz_io_fail_memory(fault);
    set->pattern_count = (uint32_t)i + 1;
  }
  return true;
}

static bool read_sets(json_t *object, graze_scene_file *scene, io_fault *fault) {
  const char *name;
  json_t *patterns;
  if (object == NULL) return true;
  if (!json_is_object(object)) return fail_at(fault, "", "\"sets\" is not an object");
  size_t count = json_object_size(object);
  if (count >= UINT32_MAX) return fail_at(fault, "sets", "too many");
  scene->sets = gz_new_zeroed(fault->context, count > 0 ? count : 1, sizeof scene->sets[0]);
  if (scene->sets == NULL) return gz_io_fail_memory(fault);
  json_object_foreach(object, name, patterns) {
    if (*name == 0) return fail_at(fault, "sets", "a name is empty");
    graze_scene_file_set *set = &scene->sets[scene->set_count++]; /* what is there so far can be freed */
    if (!read_set(name, patterns, set, fault)) return false;
  }
  return true;
}

static bool knows_set(const graze_scene_file *scene, const char *name) {
  for (uint32_t i = 0; i < scene->set_count; i++) {
    if (strcmp(scene->sets[i].name, name) == 0) return true;
  }
  return false;
}

static bool read_check(const json_t *array, graze_scene_file *scene, io_fault *fault) {
  if (!read_text_pairs(array, "check", &scene->check, &scene->check_count, fault)) return false;
  for (uint32_t i = 0; i < 2 * scene->check_count; i++) {
    const char *name = scene->check[i / 2][i % 2];
    if (knows_set(scene, name)) continue;
    char place[40];
    snprintf(place, sizeof place, "check[%lu]", (unsigned long)(i / 2));
    return fail_at(fault, place, "no set has the name \"%s\"", quote(name).text);
  }
  return true;
}

/* A number, which is of the scene's units, or a text. */
static char *copy_length(const json_t *value, io_fault *fault) {
  char number[32];
  if (json_is_string(value)) return gz_new_text(fault->context, json_string_value(value));
  graze_format_double(json_number_value(value), number);
  return gz_new_text(fault->context, number);
}

static bool read_tolerance(const json_t *array, graze_scene_file *scene, io_fault *fault) {
  size_t index;
  json_t *entry;
  if (array == NULL) return true;
  if (!json_is_array(array)) return fail_at(fault, "", "\"tolerance\" is not an array");
  scene->tolerance = gz_new_zeroed(fault->context, json_array_size(array) + 1, sizeof scene->tolerance[0]);
  if (scene->tolerance == NULL) return gz_io_fail_memory(fault);
  json_array_foreach(array, index, entry) {
    const json_t *length = json_array_get(entry, 2);
    char place[40];
    snprintf(place, sizeof place, "tolerance[%lu]", (unsigned long)index);
    if (json_array_size(entry) != 3 || (!json_is_number(length) && !json_is_string(length)))
      return fail_at(fault, place, "not the names of two sets and a length");
    char **three = scene->tolerance[scene->tolerance_count++];
    for (size_t k = 0; k < 2; k++) {
      const char *name = json_string_value(json_array_get(entry, k));
      if (name == NULL) return fail_at(fault, place, "not the names of two sets and a length");
      if (!knows_set(scene, name)) return fail_at(fault, place, "no set has the name \"%s\"", quote(name).text);
      if ((three[k] = gz_new_text(fault->context, name)) == NULL) return gz_io_fail_memory(fault);
    }
    if ((three[2] = copy_length(length, fault)) == NULL) return gz_io_fail_memory(fault);
  }
  return true;
}

static bool read_flag(const json_t *value, const char *key, bool *flag, io_fault *fault) {
  if (value != NULL && !json_is_boolean(value)) return fail_at(fault, "", "\"%s\" is not true or false", key);
  *flag = json_is_true(value);
  return true;
}

/* ---- the whole ---- */

static bool check_version(const json_t *value, io_fault *fault) {
  if (!json_is_number(value)) return fail_at(fault, "", "\"graze\" is %s", value == NULL ? "missing" : "not a number");
  if (json_number_value(value) == 1) return true;
  return fail_at(fault, "", "\"graze\" is not 1: a version of scene files that is not known here");
}

static bool read_root(json_t *root, const char *path, graze_scene_file *scene, io_fault *fault) {
  static const char *const known[] = {
      "graze",     "units", "objects", "ignore", "ignore_layers", "ignore_names", "sets", "check", "ignore_same_parent",
      "tolerance", NULL};
  if (!json_is_object(root)) return fail_at(fault, "", "not a JSON object");
  if (!check_version(json_object_get(root, "graze"), fault) || !check_keys(root, known, "", fault)) return false;
  if (!copy_text(json_object_get(root, "units"), "units", "", &scene->units, fault)) return false;
  if (!read_objects(json_object_get(root, "objects"), path, scene, fault)) return false;
  named *names = gz_new_zeroed(fault->context, scene->object_count > 0 ? scene->object_count : 1, sizeof *names);
  if (names == NULL) return gz_io_fail_memory(fault);
  bool good =
      sort_names(scene, names, fault) && read_ignore(json_object_get(root, "ignore"), names, scene, fault) &&
      read_text_pairs(json_object_get(root, "ignore_layers"), "ignore_layers", &scene->ignore_layers,
                      &scene->ignore_layer_count, fault) &&
      check_layer_names(scene, fault) &&
      read_text_pairs(json_object_get(root, "ignore_names"), "ignore_names", &scene->ignore_names,
                      &scene->ignore_name_count, fault) &&
      read_flag(json_object_get(root, "ignore_same_parent"), "ignore_same_parent", &scene->ignore_same_parent, fault) &&
      read_sets(json_object_get(root, "sets"), scene, fault) &&
      read_check(json_object_get(root, "check"), scene, fault) &&
      read_tolerance(json_object_get(root, "tolerance"), scene, fault);
  gz_free(names);
  return good;
}

/* jansson's complaint, as ours. */
static bool fail_json(const json_error_t *json, io_fault *fault) {
  switch (json_error_code(json)) {
    case json_error_out_of_memory:
      return gz_io_fail_memory(fault);
    case json_error_numeric_overflow:
      return gz_io_fail(fault, GRAZE_ERROR_NOT_FINITE, IO_LINE, (uint64_t)(json->line > 0 ? json->line : 1), "%s",
                        json->text);
    default:
      return gz_io_fail(fault, GRAZE_ERROR_FORMAT, IO_LINE, (uint64_t)(json->line > 0 ? json->line : 1), "%s",
                        json->text);
  }
}

graze_status graze_parse_scene(graze_context *context, const void *bytes, size_t size, const char *name,
                               graze_scene_file *scene) {
  io_fault fault = {.context = context};
  if (scene != NULL) *scene = (graze_scene_file){0};
  if (context == NULL || (bytes == NULL && size > 0) || name == NULL || scene == NULL) {
    gz_io_fail(&fault, GRAZE_ERROR_ARGUMENT, IO_WHOLE_FILE, 0, "an argument of the reading call is invalid");
    return gz_io_report(&fault, name);
  }
  json_error_t json;
  json_t *root = json_loadb(size > 0 ? bytes : "", size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &json);
  bool good = root != NULL ? read_root(root, name, scene, &fault) : fail_json(&json, &fault);
  json_decref(root);
  if (!good) graze_scene_file_free(scene);
  return gz_io_report(&fault, name);
}

graze_status graze_read_scene(graze_context *context, const char *path, graze_scene_file *scene) {
  io_fault fault = {.context = context};
  io_file file = {0};
  if (scene != NULL) *scene = (graze_scene_file){0};
  if (context == NULL || path == NULL || scene == NULL) return graze_parse_scene(context, NULL, 0, path, scene);
  if (!gz_io_file_read(path, true, &file, &fault)) return gz_io_report(&fault, path);
  graze_status status = graze_parse_scene(context, file.bytes, file.size, path, scene);
  gz_free(file.bytes);
  return status;
}

static void free_pairs(char *(*pairs)[2], uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    gz_free(pairs[i][0]);
    gz_free(pairs[i][1]);
  }
  gz_free(pairs);
}

void graze_scene_file_free(graze_scene_file *scene) {
  if (scene == NULL) return;
  for (uint32_t i = 0; i < scene->object_count; i++) {
    gz_free(scene->objects[i].name);
    gz_free(scene->objects[i].mesh);
    gz_free(scene->objects[i].layer);
  }
  free_pairs(scene->ignore_layers, scene->ignore_layer_count);
  free_pairs(scene->ignore_names, scene->ignore_name_count);
  free_pairs(scene->check, scene->check_count);
  for (uint32_t i = 0; i < 3 * scene->tolerance_count; i++) gz_free(scene->tolerance[i / 3][i % 3]);
  gz_free(scene->tolerance);
  for (uint32_t i = 0; i < scene->set_count; i++) {
    for (uint32_t k = 0; k < scene->sets[i].pattern_count; k++) gz_free(scene->sets[i].patterns[k]);
    gz_free(scene->sets[i].patterns);
    gz_free(scene->sets[i].name);
  }
  gz_free(scene->sets);
  gz_free(scene->units);
  gz_free(scene->objects);
  gz_free(scene->ignore);
  *scene = (graze_scene_file){0};
}
