/* geometry.c: memory of a graze_geometry. The names of the groups lie in one block, `memory`. */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "readers.h"

void graze_geometry_free(graze_geometry *geometry) {
  if (geometry == NULL) return;
  gz_free(geometry->vertices);
  gz_free(geometry->indices);
  gz_free(geometry->groups);
  gz_free(geometry->memory);
  *geometry = (graze_geometry){0};
}

bool gz_io_check_elements(uint64_t count, const char *what, io_fault *fault) {
  if (count <= IO_MOST_ELEMENTS) return true;
  return gz_io_fail(fault, GRAZE_ERROR_LIMIT, IO_WHOLE_FILE, 0, "%llu %s: more than 32-bit numbers allow",
                    (unsigned long long)count, what);
}

bool gz_io_geometry_set_vertices(graze_geometry *geometry, uint64_t count, io_fault *fault) {
  if (!gz_io_check_elements(count, "vertices", fault)) return false;
  geometry->vertices = gz_new(fault->context, count, 3 * sizeof(double));
  if (geometry->vertices == NULL) return gz_io_fail_memory(fault);
  geometry->vertex_count = count;
  return true;
}

bool gz_io_geometry_set_triangles(graze_geometry *geometry, uint64_t count, io_fault *fault) {
  if (!gz_io_check_elements(count, "triangles", fault)) return false;
  geometry->indices = gz_new(fault->context, count, 3 * sizeof(uint32_t));
  if (geometry->indices == NULL) return gz_io_fail_memory(fault);
  geometry->triangle_count = count;
  return true;
}

bool gz_io_append_names(const graze_context *context, gz_array *names, const gz_array *part, uint64_t triangles) {
  if (!array_reserve(context, names, part->count, sizeof(io_name))) return false;
  for (size_t i = 0; i < part->count; i++) {
    io_name name = ((const io_name *)part->data)[i];
    name.first_triangle += triangles;
    ((io_name *)names->data)[names->count++] = name;
  }
  return true;
}

bool gz_io_geometry_set_groups(graze_geometry *geometry, const io_name *names, size_t count, io_fault *fault) {
  if (count == 0) return true;
  if (count > IO_MOST_ELEMENTS) return gz_io_fail(fault, GRAZE_ERROR_LIMIT, IO_WHOLE_FILE, 0, "too many named objects");
  size_t bytes = 0;
  for (size_t i = 0; i < count; i++) bytes += names[i].length + 1;
  geometry->groups = gz_new(fault->context, count, sizeof geometry->groups[0]);
  geometry->memory = gz_new(fault->context, bytes, 1);
  if (geometry->groups == NULL || geometry->memory == NULL) return gz_io_fail_memory(fault);
  char *text = geometry->memory;
  for (size_t i = 0; i < count; i++) {
    uint64_t last = i + 1 < count ? names[i + 1].first_triangle : geometry->triangle_count;
    geometry->groups[i] = (graze_io_group){.name = text,
                                           .first_triangle = (uint32_t)names[i].first_triangle,
                                           .triangle_count = (uint32_t)(last - names[i].first_triangle)};
    for (size_t k = 0; k < names[i].length; k++) *text++ = names[i].text[k] == 0 ? '?' : names[i].text[k];
    *text++ = 0;
  }
  geometry->group_count = (uint32_t)count;
  return true;
}

enum { SOUP_STEP = 1 << 16 };

static void number_step(void *argument, uint32_t step) {
  graze_geometry *geometry = argument;
  uint64_t begin = (uint64_t)step * SOUP_STEP, last = 3 * geometry->triangle_count;
  uint64_t end = last < begin + SOUP_STEP ? last : begin + SOUP_STEP;
  for (uint64_t i = begin; i < end; i++) geometry->indices[i] = (uint32_t)i;
}

void gz_io_geometry_number_soup(const graze_context *context, graze_geometry *geometry) {
  uint64_t steps = (3 * geometry->triangle_count + SOUP_STEP - 1) / SOUP_STEP;
  gz_parallel_each(context, (uint32_t)steps, number_step, geometry);
}
