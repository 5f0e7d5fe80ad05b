/* gltf_accessor.c: accessors (chapter 3.6.2): checked as a table, then read as doubles or as whole numbers.
 *
 * "min" and "max" are not looked at: they say nothing that the elements do not, and are often rounded. Elements need
 * not be aligned. An accessor may have no bytes at all and stand for zeros; how many of those a file may ask for is
 * limited, since they cost it nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gltf.h"
#include "text.h"

enum { MOST_ZEROS = 1 << 20 };

unsigned gz_gltf_component_size(uint64_t component) {
  switch (component) {
    case GLTF_BYTE:
    case GLTF_UNSIGNED_BYTE:
      return 1;
    case GLTF_SHORT:
    case GLTF_UNSIGNED_SHORT:
      return 2;
    case GLTF_UNSIGNED_INT:
    case GLTF_FLOAT:
      return 4;
    default:
      return 0;
  }
}

static bool is_unsigned(uint64_t component) {
  return component == GLTF_UNSIGNED_BYTE || component == GLTF_UNSIGNED_SHORT || component == GLTF_UNSIGNED_INT;
}

/* ---- the table ---- */

/* Do `count` elements of `size` bytes lie within the run's view? Nothing here overflows: numbers are below 2^53 and
 * strides below 256. */
static bool check_run(const gltf_file *file, const char *place, const gltf_run *run, uint64_t count, unsigned size) {
  if (run->view == GLTF_NONE || size == 0) return true;
  const gltf_view *view = &file->views[run->view];
  unsigned stride = view->stride > 0 ? view->stride : size;
  if (stride < size) {
    return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place,
                        "bufferView %lu: \"byteStride\" is %u, an element has %u bytes", (unsigned long)run->view,
                        stride, size);
  }
  uint64_t last = run->offset + (count - 1) * stride + size;
  if (last <= view->size) return true;
  return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place,
                      "%llu elements need %llu bytes of bufferView %lu, which has %llu", (unsigned long long)count,
                      (unsigned long long)last, (unsigned long)run->view, (unsigned long long)view->size);
}

static unsigned count_components(const char *type) {
  if (strcmp(type, "SCALAR") == 0) return 1;
  bool is_vector = strncmp(type, "VEC", 3) == 0 && type[3] >= '2' && type[3] <= '4' && type[4] == 0;
  return is_vector ? (unsigned)(type[3] - '0') : 0;
}

/* The part of "sparse" named `key`: a run in a view without stride. */
static bool read_sparse_run(const gltf_file *file, const char *place, const json_t *sparse, const char *key,
                            gltf_run *run) {
  json_t *object;
  if (!gz_gltf_get_object(file, place, sparse, key, &object)) return false;
  if (object == NULL) return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "\"%s\" is missing in \"sparse\"", key);
  if (!gz_gltf_get_index(file, place, object, "bufferView", file->view_count, true, &run->view) ||
      !gz_gltf_get_number(file, place, object, "byteOffset", 0, UINT64_MAX, 0, &run->offset)) {
    return false;
  }
  return file->views[run->view].stride == 0 ||
         gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "bufferView %lu of \"sparse\" has a \"byteStride\"",
                      (unsigned long)run->view);
}

static bool read_sparse(const gltf_file *file, const char *place, const json_t *sparse, gltf_accessor *accessor) {
  if (!gz_gltf_get_number(file, place, sparse, "count", 1, accessor->count, GLTF_REQUIRED, &accessor->sparse_count) ||
      !read_sparse_run(file, place, sparse, "indices", &accessor->sparse_indices) ||
      !read_sparse_run(file, place, sparse, "values", &accessor->sparse_values) ||
      !gz_gltf_get_number(file, place, json_object_get(sparse, "indices"), "componentType", 0, UINT64_MAX,
                          GLTF_REQUIRED, &accessor->sparse_indices.component)) {
    return false;
  }
  accessor->sparse_values.component = accessor->run.component;
  if (!is_unsigned(accessor->sparse_indices.component)) {
    return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "\"componentType\" %llu of the sparse indices is not unsigned",
                        (unsigned long long)accessor->sparse_indices.component);
  }
  unsigned size = accessor->components * gz_gltf_component_size(accessor->run.component);
  return check_run(file, place, &accessor->sparse_indices, accessor->sparse_count,
                   gz_gltf_component_size(accessor->sparse_indices.component)) &&
         check_run(file, place, &accessor->sparse_values, accessor->sparse_count, size);
}

static bool read_accessor(const gltf_file *file, const json_t *object, uint32_t index) {
  gltf_place place = gz_gltf_place_of("accessor", index);
  gltf_accessor *accessor = &file->accessors[index];
  json_t *sparse;
  const json_t *type = json_object_get(object, "type");
  if (!gz_gltf_get_index(file, place.text, object, "bufferView", file->view_count, false, &accessor->run.view) ||
      !gz_gltf_get_number(file, place.text, object, "byteOffset", 0, UINT64_MAX, 0, &accessor->run.offset) ||
      !gz_gltf_get_number(file, place.text, object, "componentType", 0, UINT64_MAX, GLTF_REQUIRED,
                          &accessor->run.component) ||
      !gz_gltf_get_bool(file, place.text, object, "normalized", &accessor->normalized) ||
      !gz_gltf_get_number(file, place.text, object, "count", 1, UINT64_MAX, GLTF_REQUIRED, &accessor->count) ||
      !gz_gltf_get_object(file, place.text, object, "sparse", &sparse)) {
    return false;
  }
  if (!json_is_string(type)) return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place.text, "\"type\" is not a string");
  accessor->components = count_components(json_string_value(type));
  unsigned size = accessor->components * gz_gltf_component_size(accessor->run.component);
  return check_run(file, place.text, &accessor->run, accessor->count, size) &&
         (sparse == NULL || read_sparse(file, place.text, sparse, accessor));
}

bool gz_gltf_read_accessors(gltf_file *file) {
  json_t *table;
  if (!gz_gltf_get_table(file, "accessors", &table, &file->accessor_count)) return false;
  file->accessors = gz_new_zeroed(file->fault->context, (size_t)file->accessor_count + 1, sizeof file->accessors[0]);
  if (file->accessors == NULL) return gz_io_fail_memory(file->fault);
  for (uint32_t i = 0; i < file->accessor_count; i++) {
    if (!read_accessor(file, json_array_get(table, i), i)) return false;
  }
  return true;
}

/* ---- elements ---- */

static uint32_t read_bits(const unsigned char *p, unsigned size) {
  uint32_t bits = p[0];
  if (size > 1) bits |= (uint32_t)p[1] << 8;
  if (size > 2) bits |= (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
  return bits;
}

static inline double read_float(const unsigned char *p) {
  uint32_t bits = read_bits(p, 4);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Chapter 3.11 has the rule for normalized numbers: c / 127, and -128 counts as -127. The division is
 * rounded once, in double. */
static double read_number(const unsigned char *p, uint64_t component, bool normalized) {
  switch (component) {
    case GLTF_BYTE:
      return normalized ? fmax((int8_t)p[0] / 127.0, -1) : (int8_t)p[0];
    case GLTF_UNSIGNED_BYTE:
      return normalized ? p[0] / 255.0 : p[0];
    case GLTF_SHORT:
      return normalized ? fmax((int16_t)read_bits(p, 2) / 32767.0, -1) : (int16_t)read_bits(p, 2);
    case GLTF_UNSIGNED_SHORT:
      return normalized ? read_bits(p, 2) / 65535.0 : read_bits(p, 2);
    case GLTF_UNSIGNED_INT:
      return read_bits(p, 4);
    default:
      return read_float(p);
  }
}

/* Where a run's elements lie. */
typedef struct element_bytes {
  const unsigned char *first;
  size_t stride;
  void *owned; /* free() it */
} element_bytes;

/* The bytes of `count` elements, read from the file where they are not in memory. False: the run's buffer has none. */
static bool get_bytes(const gltf_file *file, const char *place, const gltf_run *run, uint64_t count, unsigned size,
                      element_bytes *bytes) {
  const gltf_view *view = &file->views[run->view];
  *bytes = (element_bytes){.stride = view->stride > 0 ? view->stride : size};
  uint64_t whole = count > 0 ? (count - 1) * bytes->stride + size : 0;
  if (view->unpacked != NULL) {
    bytes->first = view->unpacked + run->offset;
  } else {
    bytes->first = gz_gltf_get_bytes(file, place, view->buffer, view->offset + run->offset, whole, &bytes->owned);
  }
  return bytes->first != NULL;
}

bool gz_gltf_allow_zeros(gltf_file *file, const char *place, uint32_t accessor, uint64_t count) {
  if (file->accessors[accessor].run.view != GLTF_NONE) return true;
  file->zeros += count < MOST_ZEROS ? count : MOST_ZEROS + 1;
  return file->zeros <= MOST_ZEROS ||
         gz_gltf_fail(file, GRAZE_ERROR_LIMIT, place, "more than %d elements of accessors without a bufferView",
                      MOST_ZEROS);
}

/* The element that entry `entry` of the sparse indices replaces; they must ascend. */
static bool read_sparse_index(const gltf_file *file, const char *place, const gltf_accessor *accessor,
                              const unsigned char *p, uint64_t entry, uint64_t *element) {
  uint64_t index = read_bits(p, gz_gltf_component_size(accessor->sparse_indices.component));
  bool good = index < accessor->count && (entry == 0 || index > *element);
  *element = index;
  return good ||
         gz_gltf_fail(file, GRAZE_ERROR_INDEX, place,
                      "sparse index %llu at %llu does not ascend or is out of range: there are %llu elements",
                      (unsigned long long)index, (unsigned long long)entry, (unsigned long long)accessor->count);
}

/* ---- as doubles ---- */

typedef struct vector_reading {
  const gltf_file *file;
  const char *place;
  const gltf_accessor *accessor;
  unsigned components;
} vector_reading;

static bool fail_vector(const vector_reading *reading, uint64_t element, unsigned k) {
  return gz_gltf_fail(reading->file, GRAZE_ERROR_NOT_FINITE, reading->place,
                      "%c of element %llu of accessor %lu is not finite", "xyzw"[k], (unsigned long long)element,
                      (unsigned long)(reading->accessor - reading->file->accessors));
}

static bool read_vector(const vector_reading *reading, const unsigned char *p, uint64_t element, double *out) {
  const gltf_accessor *accessor = reading->accessor;
  unsigned size = gz_gltf_component_size(accessor->run.component);
  for (unsigned k = 0; k < reading->components; k++, p += size) {
    out[k] = read_number(p, accessor->run.component, accessor->normalized);
    if (!isfinite(out[k])) return fail_vector(reading, element, k);
  }
  return true;
}

/* Positions are nearly always this. */
static bool read_float_points(const vector_reading *reading, const element_bytes *bytes, double *out) {
  const unsigned char *p = bytes->first;
  for (uint64_t i = 0; i < reading->accessor->count; i++, p += bytes->stride, out += 3) {
    out[0] = read_float(p);
    out[1] = read_float(p + 4);
    out[2] = read_float(p + 8);
    if (!isfinite(out[0] * 0 + out[1] * 0 + out[2] * 0)) return read_vector(reading, p, i, out);
  }
  return true;
}

static bool read_base(const vector_reading *reading, double *out) {
  const gltf_accessor *accessor = reading->accessor;
  element_bytes bytes = {0};
  unsigned size = reading->components * gz_gltf_component_size(accessor->run.component);
  if (accessor->run.view == GLTF_NONE) {
    memset(out, 0, accessor->count * reading->components * sizeof *out);
    return true;
  }
  if (!get_bytes(reading->file, reading->place, &accessor->run, accessor->count, size, &bytes)) return false;
  bool points = accessor->run.component == GLTF_FLOAT && reading->components == 3;
  bool good = !points || read_float_points(reading, &bytes, out);
  for (uint64_t i = 0; i < accessor->count && good && !points; i++)
    good = read_vector(reading, bytes.first + i * bytes.stride, i, out + i * reading->components);
  gz_free(bytes.owned);
  return good;
}

/* The bytes of the two runs of a sparse accessor. */
static bool get_sparse(const gltf_file *file, const char *place, const gltf_accessor *accessor, element_bytes *indices,
                       element_bytes *values) {
  unsigned index_size = gz_gltf_component_size(accessor->sparse_indices.component);
  unsigned value_size = accessor->components * gz_gltf_component_size(accessor->run.component);
  uint64_t count = accessor->sparse_count;
  if (!get_bytes(file, place, &accessor->sparse_indices, count, index_size, indices)) return false;
  if (get_bytes(file, place, &accessor->sparse_values, count, value_size, values)) return true;
  gz_free(indices->owned);
  return false;
}

static bool replace_vectors(const vector_reading *reading, double *out) {
  const gltf_accessor *accessor = reading->accessor;
  element_bytes indices = {0}, values = {0};
  uint64_t element = 0;
  if (!get_sparse(reading->file, reading->place, accessor, &indices, &values)) return false;
  bool good = true;
  for (uint64_t i = 0; i < accessor->sparse_count && good; i++) {
    const unsigned char *index = indices.first + i * indices.stride, *value = values.first + i * values.stride;
    good = read_sparse_index(reading->file, reading->place, accessor, index, i, &element) &&
           read_vector(reading, value, element, out + element * reading->components);
  }
  gz_free(indices.owned);
  gz_free(values.owned);
  return good;
}

bool gz_gltf_read_vectors(const gltf_file *file, const char *place, uint32_t accessor, unsigned components,
                          double *out) {
  vector_reading reading = {file, place, &file->accessors[accessor], components};
  return read_base(&reading, out) && (reading.accessor->sparse_count == 0 || replace_vectors(&reading, out));
}

/* ---- as whole numbers ---- */

static void copy_corners(const element_bytes *bytes, unsigned size, uint64_t count, uint32_t *out) {
  const unsigned char *p = bytes->first;
  for (uint64_t i = 0; i < count; i++, p += bytes->stride) out[i] = read_bits(p, size);
}

static bool replace_corners(const gltf_file *file, const char *place, const gltf_accessor *accessor, uint64_t count,
                            uint32_t *out) {
  element_bytes indices = {0}, values = {0};
  uint64_t element = 0;
  unsigned size = gz_gltf_component_size(accessor->run.component);
  if (!get_sparse(file, place, accessor, &indices, &values)) return false;
  bool good = true;
  for (uint64_t i = 0; i < accessor->sparse_count && good; i++) {
    good = read_sparse_index(file, place, accessor, indices.first + i * indices.stride, i, &element);
    if (good && element < count) out[element] = read_bits(values.first + i * values.stride, size);
  }
  gz_free(indices.owned);
  gz_free(values.owned);
  return good;
}

bool gz_gltf_read_corners(const gltf_file *file, const char *place, uint32_t number, uint64_t count, uint32_t *out) {
  const gltf_accessor *accessor = &file->accessors[number];
  unsigned size = gz_gltf_component_size(accessor->run.component);
  if (accessor->run.view == GLTF_NONE) {
    memset(out, 0, count * sizeof *out);
  } else {
    element_bytes bytes = {0};
    if (!get_bytes(file, place, &accessor->run, count, size, &bytes)) return false;
    copy_corners(&bytes, size, count, out);
    gz_free(bytes.owned);
  }
  return accessor->sparse_count == 0 || replace_corners(file, place, accessor, count, out);
}
