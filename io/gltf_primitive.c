/* gltf_primitive.c: one primitive of a mesh (chapter 3.7.2): its attributes are checked, its triangles are read.
 *
 * Modes 4, 5 and 6 are triangle lists, strips and fans; the corners come in the order of chapter 3.7.2.1, so that every
 * triangle keeps its front. A list whose length does not suit the mode ends with the last whole triangle, as that
 * chapter says. Morph targets are checked but not applied.
 */
#include <stdlib.h>
#include <string.h>

#include "gltf.h"
#include "text.h"

enum { MODE_TRIANGLES = 4, MODE_STRIP = 5, MODE_FAN = 6, TARGET_VERTICES = 34962, TARGET_CORNERS = 34963 };

/* ---- attributes ---- */

/* NAME or, for those that can come several times, NAME_0 and so on. Own names begin with an underscore; a colon stands
 * in those of extensions. */
static bool is_attribute(const char *name) {
  static const char *const single[] = {"POSITION", "NORMAL", "TANGENT"};
  static const char *const several[] = {"TEXCOORD_", "COLOR_", "JOINTS_", "WEIGHTS_"};
  if (*name == '_' || strchr(name, ':') != NULL) return true;
  for (size_t i = 0; i < sizeof single / sizeof single[0]; i++) {
    if (strcmp(name, single[i]) == 0) return true;
  }
  for (size_t i = 0; i < sizeof several / sizeof several[0]; i++) {
    size_t length = strlen(several[i]);
    if (strncmp(name, several[i], length) == 0 && io_is_digit(name[length])) return true;
  }
  return false;
}

/* Every attribute has as many elements as the others: `count`, or any number while that is 0. */
static bool check_attributes(const gltf_file *file, const char *place, json_t *attributes, uint64_t *count) {
  const char *key;
  json_t *value;
  unsigned joints = 0, weights = 0;
  json_object_foreach(attributes, key, value) {
    uint32_t index;
    const gz_quoted quoted = gz_io_quote(key, key + strlen(key));
    const char *shown = quoted.text;
    if (!is_attribute(key))
      return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "no attribute is called \"%s\"", shown);
    if (!gz_gltf_index_of(file, place, shown, value, file->accessor_count, &index)) return false;
    const gltf_accessor *accessor = &file->accessors[index];
    if (*count == 0) *count = accessor->count;
    if (accessor->count != *count) {
      return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "\"%s\" has %llu elements, another attribute has %llu",
                          shown, (unsigned long long)accessor->count, (unsigned long long)*count);
    }
    if (accessor->run.view != GLTF_NONE && file->views[accessor->run.view].target == TARGET_CORNERS) {
      return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "\"%s\" lies in bufferView %lu, whose \"target\" is indices",
                          shown, (unsigned long)accessor->run.view);
    }
    joints += strncmp(key, "JOINTS_", 7) == 0;
    weights += strncmp(key, "WEIGHTS_", 8) == 0;
  }
  return joints == weights ||
         gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "%u JOINTS attributes, %u WEIGHTS", joints, weights);
}

static bool check_targets(const gltf_file *file, const char *place, const json_t *object, uint64_t count) {
  json_t *targets;
  if (!gz_gltf_get_array(file, place, object, "targets", &targets)) return false;
  for (size_t i = 0; i < json_array_size(targets); i++) {
    json_t *target = json_array_get(targets, i);
    if (!json_is_object(target))
      return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "a morph target is not an object");
    if (!check_attributes(file, place, target, &count)) return false;
  }
  return true;
}

static bool check_position(const gltf_file *file, const gltf_primitive *primitive) {
  const gltf_accessor *accessor = &file->accessors[primitive->position];
  uint64_t component = accessor->run.component;
  bool small = component >= GLTF_BYTE && component <= GLTF_UNSIGNED_SHORT;
  if (accessor->components != 3 || !(component == GLTF_FLOAT || (small && file->quantized))) {
    return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, primitive->place.text, "POSITION is not VEC3 of floats%s",
                        small ? ", and KHR_mesh_quantization is not among \"extensionsUsed\"" : "");
  }
  return true;
}

static bool check_corners(const gltf_file *file, const gltf_primitive *primitive) {
  const gltf_accessor *accessor = &file->accessors[primitive->corners];
  uint64_t component = accessor->run.component;
  bool whole = component == GLTF_UNSIGNED_BYTE || component == GLTF_UNSIGNED_SHORT || component == GLTF_UNSIGNED_INT;
  if (accessor->components != 1 || !whole || accessor->normalized) {
    return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, primitive->place.text,
                        "the indices are not SCALAR of unsigned numbers");
  }
  if (accessor->run.view == GLTF_NONE) return true;
  const gltf_view *view = &file->views[accessor->run.view];
  if (view->stride > 0 || view->target == TARGET_VERTICES) {
    return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, primitive->place.text,
                        "the indices lie in bufferView %lu, which is of vertices", (unsigned long)accessor->run.view);
  }
  return true;
}

/* ---- numbers ---- */

static uint64_t count_triangles(uint64_t mode, uint64_t corners) {
  if (mode == MODE_TRIANGLES) return corners / 3;
  return mode > MODE_TRIANGLES && corners >= 3 ? corners - 2 : 0;
}

bool gz_gltf_read_primitive(const gltf_file *file, const json_t *object, gltf_primitive *primitive) {
  const char *place = primitive->place.text;
  json_t *attributes;
  uint64_t count = 0;
  if (!gz_gltf_get_object(file, place, object, "attributes", &attributes) ||
      !gz_gltf_get_number(file, place, object, "mode", 0, MODE_FAN, MODE_TRIANGLES, &primitive->mode) ||
      !gz_gltf_get_index(file, place, object, "indices", file->accessor_count, false, &primitive->corners) ||
      !gz_gltf_get_index(file, place, attributes, "POSITION", file->accessor_count, true, &primitive->position) ||
      !check_attributes(file, place, attributes, &count) || !check_targets(file, place, object, count)) {
    return false;
  }
  gz_gltf_find_piece(file, object, primitive);
  if (!check_position(file, primitive)) return false;
  if (primitive->corners != GLTF_NONE && !check_corners(file, primitive)) return false;
  primitive->corner_count = primitive->corners != GLTF_NONE ? file->accessors[primitive->corners].count : count;
  primitive->triangle_count = count_triangles(primitive->mode, primitive->corner_count);
  return true;
}

/* ---- triangles ---- */

/* The largest value of a type restarts a strip in graphics interfaces, and is not allowed (chapter 3.7.2.1). */
static uint32_t restart_value(const gltf_file *file, const gltf_primitive *primitive) {
  if (primitive->corners == GLTF_NONE) return UINT32_MAX;
  uint64_t component = file->accessors[primitive->corners].run.component;
  return component == GLTF_UNSIGNED_BYTE ? UINT8_MAX : component == GLTF_UNSIGNED_SHORT ? UINT16_MAX : UINT32_MAX;
}

static bool check_range(const gltf_file *file, const gltf_primitive *primitive, const uint32_t *corners,
                        uint64_t count) {
  uint64_t vertices = file->accessors[primitive->position].count;
  uint32_t restart = restart_value(file, primitive), largest = 0;
  for (uint64_t i = 0; i < count; i++) largest = corners[i] > largest ? corners[i] : largest;
  if (count == 0 || (largest < vertices && largest != restart)) return true;
  uint64_t at = 0;
  while (corners[at] < vertices && corners[at] != restart) at++;
  const char *place = primitive->place.text;
  if (corners[at] < vertices) {
    return gz_gltf_fail(file, GRAZE_ERROR_INDEX, place, "index %lu at %llu is the one that restarts a primitive",
                        (unsigned long)corners[at], (unsigned long long)at);
  }
  return gz_gltf_fail(file, GRAZE_ERROR_INDEX, place, "index %lu at %llu is out of range: there are %llu vertices",
                      (unsigned long)corners[at], (unsigned long long)at, (unsigned long long)vertices);
}

static bool take_corners(const gltf_file *file, const gltf_primitive *primitive, uint64_t count, uint32_t *corners) {
  if (primitive->corners != GLTF_NONE) {
    return gz_gltf_read_corners(file, primitive->place.text, primitive->corners, count, corners) &&
           check_range(file, primitive, corners, count);
  }
  for (uint64_t i = 0; i < count; i++) corners[i] = (uint32_t)i;
  return true;
}

static void unroll_strip(const uint32_t *v, uint64_t triangles, uint32_t *out) {
  for (uint64_t i = 0; i < triangles; i++) {
    *out++ = v[i];
    *out++ = v[i + 1 + i % 2];
    *out++ = v[i + 2 - i % 2];
  }
}

static void unroll_fan(const uint32_t *v, uint64_t triangles, uint32_t *out) {
  for (uint64_t i = 0; i < triangles; i++) {
    *out++ = v[i + 1];
    *out++ = v[i + 2];
    *out++ = v[0];
  }
}

static bool read_strip_or_fan(const gltf_file *file, const gltf_primitive *primitive, uint32_t *out) {
  uint64_t count = primitive->triangle_count + 2;
  uint32_t *corners = gz_new(file->fault->context, count, sizeof *corners);
  if (corners == NULL) return gz_io_fail_memory(file->fault);
  bool good = take_corners(file, primitive, count, corners);
  if (good && primitive->mode == MODE_STRIP) unroll_strip(corners, primitive->triangle_count, out);
  if (good && primitive->mode == MODE_FAN) unroll_fan(corners, primitive->triangle_count, out);
  gz_free(corners);
  return good;
}

bool gz_gltf_read_triangles(const gltf_file *file, const gltf_primitive *primitive, uint32_t *out) {
  if (primitive->triangle_count == 0) return true;
  bool good = primitive->mode == MODE_TRIANGLES ? take_corners(file, primitive, 3 * primitive->triangle_count, out)
                                                : read_strip_or_fan(file, primitive, out);
  uint32_t first = (uint32_t)primitive->first_vertex;
  if (!good || first == 0) return good;
  for (uint64_t i = 0; i < 3 * primitive->triangle_count; i++) out[i] += first;
  return true;
}
