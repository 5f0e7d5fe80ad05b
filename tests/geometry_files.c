#include "geometry_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

graze_status parse_exact(const void *data, size_t size, const char *name, graze_file_format format, int threads,
                         graze_geometry *geometry) {
  char *copy = malloc(size > 0 ? size : 1);
  assert_non_null(copy);
  memcpy(copy, data, size);
  graze_status status = graze_parse_geometry(shared_context(threads), copy, size, name, format, 0, geometry);
  free(copy);
  return status;
}

void assert_same(const graze_geometry *a, const graze_geometry *b) {
  assert_int_equal(a->vertex_count, b->vertex_count);
  assert_int_equal(a->triangle_count, b->triangle_count);
  assert_int_equal(a->group_count, b->group_count);
  assert_int_equal(a->all_float, b->all_float);
  if (a->vertex_count > 0) assert_memory_equal(a->vertices, b->vertices, a->vertex_count * 3 * sizeof(double));
  if (a->triangle_count > 0) assert_memory_equal(a->indices, b->indices, a->triangle_count * 3 * sizeof(uint32_t));
  for (uint32_t i = 0; i < a->group_count; i++) {
    assert_string_equal(a->groups[i].name, b->groups[i].name);
    assert_int_equal(a->groups[i].first_triangle, b->groups[i].first_triangle);
    assert_int_equal(a->groups[i].triangle_count, b->groups[i].triangle_count);
  }
}

void assert_sound(const graze_geometry *geometry) {
  assert_non_null(geometry->vertices);
  assert_non_null(geometry->indices);
  bool all_float = true;
  for (uint64_t i = 0; i < 3 * geometry->vertex_count; i++) {
    assert_true(isfinite(geometry->vertices[i]));
    volatile float rounded = (float)geometry->vertices[i];
    if ((double)rounded != geometry->vertices[i]) all_float = false;
  }
  assert_int_equal(geometry->all_float, all_float);
  for (uint64_t i = 0; i < 3 * geometry->triangle_count; i++) {
    assert_true(geometry->indices[i] < geometry->vertex_count);
  }
  uint64_t next = geometry->group_count > 0 ? geometry->groups[0].first_triangle : 0;
  for (uint32_t i = 0; i < geometry->group_count; i++) {
    assert_int_equal(geometry->groups[i].first_triangle, next);
    next += geometry->groups[i].triangle_count;
  }
  if (geometry->group_count > 0) assert_int_equal(next, geometry->triangle_count);
}

void assert_empty(const graze_geometry *geometry) {
  assert_null(geometry->vertices);
  assert_null(geometry->indices);
  assert_null(geometry->groups);
  assert_int_equal(geometry->vertex_count + geometry->triangle_count + geometry->group_count, 0);
}

size_t make_binary_stl(unsigned char *out, const char *header, uint32_t count, uint32_t facets) {
  memset(out, 0, 84 + 50 * (size_t)facets);
  memcpy(out, header, strlen(header));
  for (int k = 0; k < 4; k++) out[80 + k] = (unsigned char)(count >> 8 * k);
  for (uint32_t i = 0; i < facets; i++) {
    for (uint32_t k = 0; k < 9; k++) {
      float x = (float)(i * 9 + k) / 3;
      memcpy(out + 84 + 50 * (size_t)i + 12 + 4 * k, &x, 4); /* the tests run on little-endian machines */
    }
  }
  return 84 + 50 * (size_t)facets;
}
