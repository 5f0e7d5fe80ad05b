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

/* Of one thread, for as long as the program runs. */
static inline graze_context *fuzz_context(void) {
  static graze_context *context;
  graze_context_def def = graze_default_context_def();
  def.threads = 1;
  if (context == NULL) check_that(graze_context_create(&def, &context) == GRAZE_OK);
  return context;
}

/* Whether the last failure was of that status, with a message that names `input`. */
static inline bool fuzz_failed(graze_status status, const char *input) {
  const graze_error *error = graze_last_error(fuzz_context());
  return error->status == status && strncmp(error->message, input, strlen(input)) == 0;
}

/* Reads the bytes as `format`; whatever comes of it must hold together. */
static inline void check_reader(const uint8_t *data, size_t size, graze_file_format format) {
  graze_geometry geometry;
  graze_status status = graze_parse_geometry(fuzz_context(), data, size, "input", format, 0, &geometry);
  if (status == GRAZE_OK) {
    check_geometry(&geometry);
  } else {
    check_that(fuzz_failed(status, "input:") && geometry.vertices == NULL && geometry.vertex_count == 0);
  }
  graze_geometry_free(&geometry);
}

#endif
