/* read_scene.c: scene.json.
 *
 * Strict: a key that is not known, a key that occurs twice, a name that is used twice or not known, a wrong type
 * or a number too large for a double is an error that names the key and the object. jansson takes the JSON apart; all
 * numbers are read as doubles.
 *
 * Of a large file the objects are read each for itself (scene_slices.h), by all threads, and those that are but a mesh
 * at a pose without jansson (scene_plain.h). If anything is wrong with such a file it is read again as a whole, which
 * tells what.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/parallel.h"
#include "file.h"
#include "scene_parts.h"
#include "scene_plain.h"
#include "scene_slices.h"

enum { OBJECTS_A_TASK = 64 };

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

/* ---- objects ---- */

static bool read_pose(const json_t *object, const char *place, graze_pose *pose, io_fault *fault) {
  *pose = graze_pose_identity();
  return gz_scene_read_numbers(object, "pose", place, 12, pose->m, fault);
}

static bool read_center(const json_t *object, const char *place, double center[3], io_fault *fault) {
  memset(center, 0, 3 * sizeof *center);
  return gz_scene_read_numbers(object, "center", place, 3, center, fault);
}

static bool read_object(json_t *value, const char *place, const char *scene_path, const scene_names *materials,
                        graze_scene_file_object *object, io_fault *fault) {
  static const char *const known[] = {"name", "mesh", "shape", "body", "pose", "center", "layer", "draw", NULL};
  json_t *mesh = json_object_get(value, "mesh"), *shape = json_object_get(value, "shape");
  if (!json_is_object(value)) return gz_scene_fail(fault, place, "not an object");
  if (!gz_scene_check_keys(value, known, NULL, place, fault)) return false;
  if (!gz_scene_copy_name(json_object_get(value, "name"), "name", place, &object->name, fault)) return false;
  if (mesh != NULL && shape != NULL) return gz_scene_fail(fault, place, "\"mesh\" and \"shape\": one of the two");
  bool formed = shape != NULL ? gz_scene_read_shape(shape, place, scene_path, object, fault)
                              : gz_scene_copy_name(mesh, "mesh", place, &object->mesh, fault);
  formed = formed && (object->mesh != NULL ? gz_scene_join_path(scene_path, &object->mesh, fault)
                                           : gz_scene_copy_text(NULL, "mesh", place, &object->mesh, fault));
  if (formed && object->shape != GRAZE_SHAPE_SPHERE && json_object_get(value, "draw") != NULL)
    return gz_scene_fail(fault, place, "\"draw\" is for balls: the object is no sphere");
  return formed && gz_scene_read_draw(value, place, scene_path, &object->draw, fault) &&
         read_pose(value, place, &object->pose, fault) && read_center(value, place, object->center, fault) &&
         gz_scene_copy_text(json_object_get(value, "layer"), "layer", place, &object->layer, fault) &&
         gz_scene_read_body(json_object_get(value, "body"), place, materials, &object->body, fault);
}

static bool copy_plain_text(const plain_text *from, char **text, io_fault *fault) {
  char *copy = gz_new(fault->context, from->length + 1, 1);
  *text = copy;
  if (copy == NULL) return gz_io_fail_memory(fault);
  if (from->length > 0) memcpy(copy, from->text, from->length);
  copy[from->length] = '\0';
  return true;
}

/* As read_object does it. */
static bool fill_plain(const plain_object *plain, const char *scene_path, const scene_names *materials,
                       graze_scene_file_object *object, io_fault *fault) {
  object->pose = graze_pose_identity();
  memset(object->center, 0, sizeof object->center);
  if (plain->posed) memcpy(object->pose.m, plain->pose, sizeof plain->pose);
  return copy_plain_text(&plain->name, &object->name, fault) && copy_plain_text(&plain->mesh, &object->mesh, fault) &&
         gz_scene_join_path(scene_path, &object->mesh, fault) &&
         copy_plain_text(&plain->layer, &object->layer, fault) &&
         gz_scene_copy_text(NULL, "draw", "", &object->draw, fault) &&
         gz_scene_read_body(NULL, "", materials, &object->body, fault);
}

/* Objects that are read each for itself. */
typedef struct sliced_objects {
  const scene_slice *slices;
  const char *scene_path;
  const scene_names *materials;
  graze_scene_file_object *objects;
  const io_fault *fault;
  _Atomic bool failed, refused;
} sliced_objects;

/* Of what is wrong only whether it is memory is told, so that objects need no names of their places. */
static void read_slice(sliced_objects *s, uint32_t index) {
  const scene_slice *slice = &s->slices[index];
  graze_scene_file_object *object = &s->objects[index];
  io_fault fault = gz_io_fault_of_part(s->fault);
  json_error_t error;
  plain_object plain;
  bool good;
  if (gz_scene_read_plain(slice->text, slice->size, &plain)) {
    good = fill_plain(&plain, s->scene_path, s->materials, object, &fault);
  } else {
    json_t *value = json_loadb(slice->text, slice->size, SCENE_JSON_FLAGS, &error);
    good =
        value != NULL ? read_object(value, "", s->scene_path, s->materials, object, &fault) : fail_json(&error, &fault);
    json_decref(value);
  }
  if (!good) s->failed = true;
  if (fault.status == GRAZE_ERROR_MEMORY) s->refused = true;
}

static void read_slices(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  sliced_objects *s = argument;
  (void)worker;
  for (uint32_t i = begin; i < end && !s->failed; i++) read_slice(s, i);
}

static bool read_sliced_objects(const scene_slices *slices, const char *scene_path, const scene_names *materials,
                                graze_scene_file *scene, io_fault *fault) {
  const size_t count = slices->objects.count;
  scene->objects = gz_new_zeroed(fault->context, count, sizeof scene->objects[0]);
  if (scene->objects == NULL) return gz_io_fail_memory(fault);
  scene->object_count = (uint32_t)count; /* what is not read can be freed */
  sliced_objects s = {slices->objects.data, scene_path, materials, scene->objects, fault, false, false};
  gz_parallel_for(fault->context, (uint32_t)count, OBJECTS_A_TASK, read_slices, &s);
  if (s.refused) return gz_io_fail_memory(fault);
  return !s.failed || gz_scene_fail(fault, "", "an object is not right");
}

static bool read_objects(const json_t *array, const char *scene_path, const scene_names *materials,
                         graze_scene_file *scene, io_fault *fault) {
  if (!gz_scene_make_array(array, "", "objects", sizeof scene->objects[0], &scene->objects, fault)) return false;
  for (size_t i = 0; i < json_array_size(array); i++) {
    json_t *value = json_array_get(array, i);
    scene_place place = gz_scene_element("objects", i, value);
    graze_scene_file_object *object = &scene->objects[scene->object_count++]; /* what is there so far can be freed */
    if (!read_object(value, place.text, scene_path, materials, object, fault)) return false;
  }
  return true;
}

/* Sorted, for look-ups and to find a name that is used twice. */
static bool sort_names(const graze_scene_file *scene, scene_names *names, io_fault *fault) {
  if (!gz_scene_names_begin(names, scene->object_count, fault)) return false;
  for (uint32_t i = 0; i < scene->object_count; i++) {
    names->names[names->count++] = (scene_name){scene->objects[i].name, i};
  }
  gz_scene_names_sort(names);
  for (uint32_t i = 1; i < names->count; i++) {
    const scene_name *name = &names->names[i];
    if (strcmp(name[-1].name, name->name) != 0) continue;
    scene_place place = gz_scene_element("objects", name->index, NULL);
    return gz_scene_fail(fault, place.text, "the name \"%s\" is objects[%lu]'s already", scene_quote(name->name).text,
                         (unsigned long)name[-1].index);
  }
  return true;
}

/* ---- ignore lists ---- */

/* Checks that `array` (may be missing) is an array of pairs of strings. */
static bool check_pairs(const json_t *array, const char *key, io_fault *fault) {
  if (array == NULL) return true;
  if (!json_is_array(array)) return gz_scene_fail(fault, "", "\"%s\" is not an array", key);
  if (json_array_size(array) >= UINT32_MAX) return gz_scene_fail(fault, key, "too many");
  for (size_t i = 0; i < json_array_size(array); i++) {
    const json_t *pair = json_array_get(array, i);
    bool good = json_array_size(pair) == 2 && json_is_string(json_array_get(pair, 0)) &&
                json_is_string(json_array_get(pair, 1));
    char place[96];
    snprintf(place, sizeof place, "%s[%zu]", key, i);
    if (!good) return gz_scene_fail(fault, place, "not an array of two strings");
  }
  return true;
}

static const char *pair_text(const json_t *array, size_t i, size_t k) {
  return json_string_value(json_array_get(json_array_get(array, i), k));
}

static bool read_ignore(const json_t *array, const scene_names *names, graze_scene_file *scene, io_fault *fault) {
  if (!check_pairs(array, "ignore", fault)) return false;
  size_t count = json_array_size(array);
  scene->ignore = gz_new_zeroed(fault->context, count > 0 ? count : 1, sizeof scene->ignore[0]);
  if (scene->ignore == NULL) return gz_io_fail_memory(fault);
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < 2; k++) {
      const char *name = pair_text(array, i, k);
      if (gz_scene_names_find(names, name, &scene->ignore[i][k])) continue;
      return gz_scene_fail_unknown(names, "object", name, gz_scene_element("ignore", i, NULL).text, fault);
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
    return gz_scene_fail(fault, place, "a layer has no name");
  }
  return true;
}

/* ---- sets ---- */

static bool read_set(const char *name, const json_t *patterns, graze_scene_file_set *set, io_fault *fault) {
  char place[96];
  snprintf(place, sizeof place, "sets (\"%s\")", scene_quote(name).text);
  size_t count = json_array_size(patterns);
  if (!json_is_array(patterns) || count == 0) return gz_scene_fail(fault, place, "not an array of patterns");
  if (count >= UINT32_MAX) return gz_scene_fail(fault, place, "too many");
  set->name = gz_new_text(fault->context, name);
  set->patterns = gz_new_zeroed(fault->context, count, sizeof set->patterns[0]);
  if (set->name == NULL || set->patterns == NULL) return gz_io_fail_memory(fault);
  for (size_t i = 0; i < count; i++) {
    const json_t *pattern = json_array_get(patterns, i);
    if (!json_is_string(pattern)) return gz_scene_fail(fault, place, "pattern %zu is not a string", i);
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
  if (!json_is_object(object)) return gz_scene_fail(fault, "", "\"sets\" is not an object");
  size_t count = json_object_size(object);
  if (count >= UINT32_MAX) return gz_scene_fail(fault, "sets", "too many");
  scene->sets = gz_new_zeroed(fault->context, count > 0 ? count : 1, sizeof scene->sets[0]);
  if (scene->sets == NULL) return gz_io_fail_memory(fault);
  json_object_foreach(object, name, patterns) {
    if (*name == 0) return gz_scene_fail(fault, "sets", "a name is empty");
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

static bool fail_set(const graze_scene_file *scene, const char *name, const char *place, io_fault *fault) {
  nearest n = {.wanted = name};
  for (uint32_t i = 0; i < scene->set_count; i++) gz_nearest_offer(&n, scene->sets[i].name);
  return gz_scene_fail(fault, place, "no set has the name \"%s\"%s", scene_quote(name).text, gz_did_you_mean(&n).text);
}

static bool read_check(const json_t *array, graze_scene_file *scene, io_fault *fault) {
  if (!read_text_pairs(array, "check", &scene->check, &scene->check_count, fault)) return false;
  for (uint32_t i = 0; i < 2 * scene->check_count; i++) {
    const char *name = scene->check[i / 2][i % 2];
    if (knows_set(scene, name)) continue;
    char place[40];
    snprintf(place, sizeof place, "check[%lu]", (unsigned long)(i / 2));
    return fail_set(scene, name, place, fault);
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

/* Lengths for pairs of sets, into `list`, which is the scene's from then on. */
static bool read_lengths(const json_t *array, const char *key, char *(**list)[3], uint32_t *count,
                         const graze_scene_file *scene, io_fault *fault) {
  size_t index;
  json_t *entry;
  if (array == NULL) return true;
  if (!json_is_array(array)) return gz_scene_fail(fault, "", "\"%s\" is not an array", key);
  *list = gz_new_zeroed(fault->context, json_array_size(array) + 1, sizeof(*list)[0]);
  if (*list == NULL) return gz_io_fail_memory(fault);
  json_array_foreach(array, index, entry) {
    const json_t *length = json_array_get(entry, 2);
    char place[40];
    snprintf(place, sizeof place, "%s[%lu]", key, (unsigned long)index);
    if (json_array_size(entry) != 3 || (!json_is_number(length) && !json_is_string(length)))
      return gz_scene_fail(fault, place, "not the names of two sets and a length");
    char **three = (*list)[(*count)++];
    for (size_t k = 0; k < 2; k++) {
      const char *name = json_string_value(json_array_get(entry, k));
      if (name == NULL) return gz_scene_fail(fault, place, "not the names of two sets and a length");
      if (!knows_set(scene, name)) return fail_set(scene, name, place, fault);
      if ((three[k] = gz_new_text(fault->context, name)) == NULL) return gz_io_fail_memory(fault);
    }
    if ((three[2] = copy_length(length, fault)) == NULL) return gz_io_fail_memory(fault);
  }
  return true;
}

static bool read_flag(const json_t *value, const char *key, bool *flag, io_fault *fault) {
  if (value != NULL && !json_is_boolean(value)) return gz_scene_fail(fault, "", "\"%s\" is not true or false", key);
  *flag = json_is_true(value);
  return true;
}

/* ---- the whole ---- */

static bool check_version(const json_t *value, io_fault *fault) {
  if (!json_is_number(value))
    return gz_scene_fail(fault, "", "\"graze\" is %s", value == NULL ? "missing" : "not a number");
  if (json_number_value(value) == 1) return true;
  return gz_scene_fail(fault, "", "\"graze\" is not 1: a version of scene files that is not known here");
}

/* What "objects" and "particles" hold, and what is said of pairs of objects. `slices`: of the objects; NULL: the root
 * has them. */
static bool read_contents(json_t *root, const scene_slices *slices, const char *path, const scene_names *materials,
                          scene_names *names, graze_scene_file *scene, io_fault *fault) {
  const json_t *objects = json_object_get(root, "objects"), *particles = json_object_get(root, "particles");
  if (objects == NULL && particles == NULL) return gz_scene_fail(fault, "", "\"objects\" is missing");
  bool good = slices != NULL ? read_sliced_objects(slices, path, materials, scene, fault)
                             : read_objects(objects, path, materials, scene, fault);
  return good && sort_names(scene, names, fault) &&
         gz_scene_read_particles(particles, path, materials, names, scene, fault) &&
         gz_scene_read_joints(json_object_get(json_object_get(root, "simulation"), "joints"), names, &scene->simulation,
                              fault) &&
         read_ignore(json_object_get(root, "ignore"), names, scene, fault);
}

static bool read_rules(const json_t *root, graze_scene_file *scene, io_fault *fault) {
  return read_text_pairs(json_object_get(root, "ignore_layers"), "ignore_layers", &scene->ignore_layers,
                         &scene->ignore_layer_count, fault) &&
         check_layer_names(scene, fault) &&
         read_text_pairs(json_object_get(root, "ignore_names"), "ignore_names", &scene->ignore_names,
                         &scene->ignore_name_count, fault) &&
         read_flag(json_object_get(root, "ignore_same_parent"), "ignore_same_parent", &scene->ignore_same_parent,
                   fault) &&
         read_sets(json_object_get(root, "sets"), scene, fault) &&
         read_check(json_object_get(root, "check"), scene, fault) &&
         read_lengths(json_object_get(root, "tolerance"), "tolerance", &scene->tolerance, &scene->tolerance_count,
                      scene, fault) &&
         read_lengths(json_object_get(root, "clearance"), "clearance", &scene->clearance, &scene->clearance_count,
                      scene, fault);
}

static bool read_root(json_t *root, const scene_slices *slices, const char *path, graze_scene_file *scene,
                      io_fault *fault) {
  static const char *const known[] = {"graze",
                                      "units",
                                      "objects",
                                      "ignore",
                                      "ignore_layers",
                                      "ignore_names",
                                      "sets",
                                      "check",
                                      "ignore_same_parent",
                                      "tolerance",
                                      "simulation",
                                      "particles",
                                      "clearance",
                                      NULL};
  scene_names materials = {0}, names = {0};
  if (!json_is_object(root)) return gz_scene_fail(fault, "", "not a JSON object");
  if (!check_version(json_object_get(root, "graze"), fault)) return false;
  bool good = gz_scene_check_keys(root, known, NULL, "", fault) &&
              gz_scene_copy_text(json_object_get(root, "units"), "units", "", &scene->units, fault) &&
              gz_scene_read_simulation(json_object_get(root, "simulation"), &scene->simulation, &materials, fault) &&
              read_contents(root, slices, path, &materials, &names, scene, fault) && read_rules(root, scene, fault);
  gz_free(materials.names);
  gz_free(names.names);
  return good;
}

static bool read_text(const char *text, size_t size, const scene_slices *slices, const char *name,
                      graze_scene_file *scene, io_fault *fault) {
  json_error_t json;
  json_t *root = json_loadb(text, size, SCENE_JSON_FLAGS, &json);
  bool good = root != NULL ? read_root(root, slices, name, scene, fault) : fail_json(&json, fault);
  json_decref(root);
  if (!good) graze_scene_file_free(scene);
  return good;
}

/* Object by object. False, without a fault: the whole must be looked at. */
static bool read_in_slices(const char *text, size_t size, const char *name, graze_scene_file *scene, io_fault *fault) {
  scene_slices slices;
  bool refused;
  bool good = gz_scene_slices_cut(fault->context, text, size, &slices, &refused) &&
              read_text(slices.rest, slices.rest_size, &slices, name, scene, fault);
  gz_scene_slices_free(&slices);
  if (refused) gz_io_fail_memory(fault);
  if (!good && fault->status != GRAZE_ERROR_MEMORY) *fault = (io_fault){.context = fault->context};
  return good;
}

graze_status graze_parse_scene(graze_context *context, const void *bytes, size_t size, const char *name,
                               graze_scene_file *scene) {
  io_fault fault = {.context = context};
  if (scene != NULL) *scene = (graze_scene_file){0};
  if (context == NULL || (bytes == NULL && size > 0) || name == NULL || scene == NULL) {
    gz_io_fail(&fault, GRAZE_ERROR_ARGUMENT, IO_WHOLE_FILE, 0, "an argument of the reading call is invalid");
    return gz_io_report(&fault, name);
  }
  const char *text = size > 0 ? bytes : "";
  if (!read_in_slices(text, size, name, scene, &fault) && fault.status == GRAZE_OK)
    read_text(text, size, NULL, name, scene, &fault);
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

static void free_lengths(char *(*list)[3], uint32_t count) {
  for (uint32_t i = 0; i < 3 * count; i++) gz_free(list[i / 3][i % 3]);
  gz_free(list);
}

void graze_scene_file_free(graze_scene_file *scene) {
  if (scene == NULL) return;
  for (uint32_t i = 0; i < scene->object_count; i++) {
    gz_free(scene->objects[i].name);
    gz_free(scene->objects[i].mesh);
    gz_scene_free_parts(&scene->objects[i]);
    gz_free(scene->objects[i].layer);
    gz_free(scene->objects[i].draw);
  }
  free_pairs(scene->ignore_layers, scene->ignore_layer_count);
  free_pairs(scene->ignore_names, scene->ignore_name_count);
  free_pairs(scene->check, scene->check_count);
  free_lengths(scene->tolerance, scene->tolerance_count);
  free_lengths(scene->clearance, scene->clearance_count);
  for (uint32_t i = 0; i < scene->set_count; i++) {
    for (uint32_t k = 0; k < scene->sets[i].pattern_count; k++) gz_free(scene->sets[i].patterns[k]);
    gz_free(scene->sets[i].patterns);
    gz_free(scene->sets[i].name);
  }
  gz_free(scene->sets);
  gz_free(scene->units);
  gz_free(scene->objects);
  gz_free(scene->ignore);
  gz_scene_free_simulation(&scene->simulation);
  for (uint32_t i = 0; i < scene->particle_set_count; i++) {
    gz_free(scene->particles[i].name);
    gz_free(scene->particles[i].file);
    gz_free(scene->particles[i].layer);
    gz_free(scene->particles[i].draw);
  }
  gz_free(scene->particles);
  *scene = (graze_scene_file){0};
}
