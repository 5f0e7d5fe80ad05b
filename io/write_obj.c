/* write_obj.c: writes OBJ with the shortest numbers that read back to the same doubles. */
#include <math.h>
#include <string.h>

#include "write_text.h"

/* A line at a time: most of a file is vertices. */
static void put_vertex(gz_text *text, const double v[3]) {
  char line[3 * 32 + 2], *p = line;
  *p++ = 'v';
  for (int k = 0; k < 3; k++) {
    *p++ = ' ';
    p += graze_format_double(v[k], p);
  }
  *p++ = '\n';
  gz_put_bytes(text, line, (size_t)(p - line));
}

static void put_triangle(gz_text *text, const uint32_t t[3]) {
  gz_put_text(text, "f");
  for (int k = 0; k < 3; k++) {
    gz_put_text(text, " ");
    gz_put_integer(text, (uint64_t)t[k] + 1);
  }
  gz_put_text(text, "\n");
}

/* A name could hold anything: what would end the line becomes a space. */
static void put_group(gz_text *text, const char *name) {
  gz_put_text(text, "o ");
  while (name != NULL && *name) {
    size_t plain = strcspn(name, "\n\r");
    gz_put_bytes(text, name, plain);
    name += plain;
    if (*name) {
      gz_put_text(text, " ");
      name++;
    }
  }
  gz_put_text(text, "\n");
}

static void put_geometry(gz_text *text, const void *user) {
  const graze_geometry *geometry = user;
  for (uint64_t i = 0; i < geometry->vertex_count; i++) put_vertex(text, geometry->vertices + 3 * i);
  uint32_t group = 0;
  for (uint64_t i = 0; i <= geometry->triangle_count; i++) {
    for (; group < geometry->group_count && geometry->groups[group].first_triangle <= i; group++) {
      put_group(text, geometry->groups[group].name);
    }
    if (i < geometry->triangle_count) put_triangle(text, geometry->indices + 3 * i);
  }
}

static bool check_geometry(const graze_geometry *geometry, io_fault *fault) {
  for (uint64_t i = 0; i < 3 * geometry->vertex_count; i++) {
    if (isfinite(geometry->vertices[i])) continue;
    return gz_io_fail(fault, GRAZE_ERROR_NOT_FINITE, IO_WHOLE_FILE, 0, "vertex %llu: coordinate %c is not finite",
                      (unsigned long long)(i / 3), "xyz"[i % 3]);
  }
  for (uint64_t i = 0; i < 3 * geometry->triangle_count; i++) {
    if (geometry->indices[i] < geometry->vertex_count) continue;
    return gz_io_fail(fault, GRAZE_ERROR_INDEX, IO_WHOLE_FILE, 0, "triangle %llu, corner %u: vertex %lu of %llu",
                      (unsigned long long)(i / 3), (unsigned)(i % 3), (unsigned long)geometry->indices[i],
                      (unsigned long long)geometry->vertex_count);
  }
  return true;
}

graze_status graze_write_obj(graze_context *context, const char *path, const graze_geometry *geometry) {
  io_fault fault = {.context = context};
  if (context == NULL || path == NULL || geometry == NULL) {
    gz_io_fail(&fault, GRAZE_ERROR_ARGUMENT, IO_WHOLE_FILE, 0, "an argument of the writing call is invalid");
    return gz_io_report(&fault, path);
  }
  if (check_geometry(geometry, &fault)) gz_io_write_text(path, put_geometry, geometry, &fault);
  return gz_io_report(&fault, path);
}
