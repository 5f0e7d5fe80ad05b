/* write_obj.c: writes OBJ with the shortest numbers that read back to the same doubles. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fault.h"

enum { BUFFER = 1 << 16, LONGEST_LINE = 128 };

typedef struct writer {
  FILE *file;
  size_t count;
  bool failed;
  int reason; /* errno of the first failure */
  char buffer[BUFFER];
} writer;

static void flush(writer *w) {
  if (w->count > 0 && !w->failed && fwrite(w->buffer, 1, w->count, w->file) != w->count) {
    w->failed = true;
    w->reason = errno;
  }
  w->count = 0;
}

/* Makes room for a line. */
static char *begin_line(writer *w) {
  if (w->count > BUFFER - LONGEST_LINE) flush(w);
  return w->buffer + w->count;
}

static char *put_number(char *p, uint64_t value) {
  char digits[20];
  int count = 0;
  do digits[count++] = (char)('0' + value % 10);
  while ((value /= 10) > 0);
  while (count > 0) *p++ = digits[--count];
  return p;
}

static void put_vertex(writer *w, const double v[3]) {
  char *p = begin_line(w);
  *p++ = 'v';
  for (int k = 0; k < 3; k++) {
    *p++ = ' ';
    p += graze_format_double(v[k], p);
  }
  *p++ = '\n';
  w->count = (size_t)(p - w->buffer);
}

static void put_triangle(writer *w, const uint32_t t[3]) {
  char *p = begin_line(w);
  *p++ = 'f';
  for (int k = 0; k < 3; k++) {
    *p++ = ' ';
    p = put_number(p, (uint64_t)t[k] + 1);
  }
  *p++ = '\n';
  w->count = (size_t)(p - w->buffer);
}

/* A name could hold anything: what would end the line becomes a space. */
static void put_group(writer *w, const char *name) {
  char *p = begin_line(w);
  *p++ = 'o';
  *p++ = ' ';
  w->count += 2;
  for (; name != NULL && *name; name++) {
    p = begin_line(w);
    *p = *name == '\n' || *name == '\r' ? ' ' : *name;
    w->count++;
  }
  p = begin_line(w);
  *p = '\n';
  w->count++;
}

static void put_geometry(writer *w, const graze_geometry *geometry) {
  for (uint64_t i = 0; i < geometry->vertex_count; i++) put_vertex(w, geometry->vertices + 3 * i);
  uint32_t group = 0;
  for (uint64_t i = 0; i <= geometry->triangle_count; i++) {
    for (; group < geometry->group_count && geometry->groups[group].first_triangle <= i; group++) {
      put_group(w, geometry->groups[group].name);
    }
    if (i < geometry->triangle_count) put_triangle(w, geometry->indices + 3 * i);
  }
  flush(w);
}

static bool check_geometry(const graze_geometry *geometry, io_fault *fault) {
  for (uint64_t i = 0; i < 3 * geometry->vertex_count; i++) {
    if (isfinite(geometry->vertices[i])) continue;
    return io_fail(fault, GRAZE_ERROR_NOT_FINITE, IO_WHOLE_FILE, 0, "vertex %llu: coordinate %c is not finite",
                   (unsigned long long)(i / 3), "xyz"[i % 3]);
  }
  for (uint64_t i = 0; i < 3 * geometry->triangle_count; i++) {
    if (geometry->indices[i] < geometry->vertex_count) continue;
    return io_fail(fault, GRAZE_ERROR_INDEX, IO_WHOLE_FILE, 0, "triangle %llu, corner %u: vertex %lu of %llu",
                   (unsigned long long)(i / 3), (unsigned)(i % 3), (unsigned long)geometry->indices[i],
                   (unsigned long long)geometry->vertex_count);
  }
  return true;
}

static bool write_file(const char *path, const graze_geometry *geometry, writer *w, io_fault *fault) {
  w->file = fopen(path, "wb");
  if (w->file == NULL) {
    return io_fail(fault, GRAZE_ERROR_FILE, IO_WHOLE_FILE, 0, "cannot open for writing: %s", strerror(errno));
  }
  setvbuf(w->file, NULL, _IONBF, 0);
  put_geometry(w, geometry);
  if (fclose(w->file) != 0 && !w->failed) {
    w->failed = true;
    w->reason = errno;
  }
  if (!w->failed) return true;
  struct stat facts;
  if (stat(path, &facts) == 0 && S_ISREG(facts.st_mode)) remove(path); /* half a file is worse than none */
  return io_fail(fault, GRAZE_ERROR_FILE, IO_WHOLE_FILE, 0, "cannot write: %s", strerror(w->reason));
}

graze_status graze_write_obj(const char *path, const graze_geometry *geometry, graze_io_error *error) {
  io_fault fault = {0};
  if (path == NULL || geometry == NULL) {
    io_fail(&fault, GRAZE_ERROR_ARGUMENT, IO_WHOLE_FILE, 0, "an argument of the writing call is invalid");
    return io_report(&fault, path != NULL ? path : "(no name)", error);
  }
  writer *w = calloc(1, sizeof *w);
  if (w == NULL) {
    io_fail_memory(&fault);
  } else if (check_geometry(geometry, &fault)) {
    write_file(path, geometry, w, &fault);
  }
  free(w);
  return io_report(&fault, path, error);
}
