/* check.h: what must hold for anything that a reader accepts. */
#ifndef GRAZE_FUZZ_CHECK_H
#define GRAZE_FUZZ_CHECK_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graze/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void check_that(bool good) {
  if (!good) abort();
}

static inline void check_geometry(const graze_geometry *geometry) {
  check_that(geometry->vertices != NULL && geometry->indices != NULL);
  for (uint64_t i = 0; i < 3 * geometry->vertex_count; i++) check_that(isfinite(geometry->vertices[i]));
  for (uint64_t i = 0; i < 3 * geometry->triangle_count; i++) {
    check_that(geometry->indices[i] < geometry->vertex_count);
  }
  for (uint32_t i = 0; i < geometry->group_count; i++) {
    const graze_io_group *group = &geometry->groups[i];
    uint64_t end = (uint64_t)group->first_triangle + group->triangle_count;
    uint64_t next = i + 1 < geometry->group_count ? group[1].first_triangle : geometry->triangle_count;
    check_that(group->name != NULL && end == next);
  }
}

/* Reads the bytes as `format`; whatever comes of it must hold together. */
static inline void check_reader(const uint8_t *data, size_t size, graze_file_format format) {
  graze_geometry geometry;
  graze_io_error error;
  graze_status status = graze_parse_geometry(data, size, "input", format, 1, &geometry, &error);
  check_that(status == error.status);
  if (status == GRAZE_OK) {
    check_that(error.message[0] == 0);
    check_geometry(&geometry);
  } else {
    check_that(strncmp(error.message, "input:", 6) == 0 && geometry.vertices == NULL && geometry.vertex_count == 0);
  }
  graze_geometry_free(&geometry);
}

#endif
