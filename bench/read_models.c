/* bench/read_models.c: meshes from files, plain or packed, through graze_io. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graze/io.h"
#include "models.h"

static void from_geometry(const graze_geometry *g, model *m) {
  m->vertex_count = (uint32_t)g->vertex_count;
  m->triangle_count = (uint32_t)g->triangle_count;
  m->vertices = must_alloc(3 * (size_t)m->vertex_count, sizeof *m->vertices);
  m->indices = must_alloc(3 * (size_t)m->triangle_count, sizeof *m->indices);
  for (size_t i = 0; i < 3 * (size_t)m->vertex_count; i++) m->vertices[i] = (float)g->vertices[i];
  memcpy(m->indices, g->indices, sizeof *m->indices * 3 * m->triangle_count);
}

/* The bytes that `xz -dc path` writes. */
static char *unpack(const char *path, size_t *size) {
  int link[2];
  if (pipe(link)) fail("pipe: %s", strerror(errno));
  pid_t child = fork();
  if (child < 0) fail("fork: %s", strerror(errno));
  if (!child) {
    if (dup2(link[1], 1) < 0) _exit(127);
    close(link[0]);
    close(link[1]);
    execlp("xz", "xz", "-dc", path, (char *)NULL);
    _exit(127);
  }
  close(link[1]);
  size_t room = 1 << 20, used = 0;
  char *bytes = must_alloc(room, 1);
  ssize_t n;
  while ((n = read(link[0], bytes + used, room - used)) > 0) {
    used += (size_t)n;
    if (used == room) bytes = must_grow(bytes, room *= 2, 1);
  }
  close(link[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status) fail("%s: xz could not unpack it", path);
  *size = used;
  return bytes;
}

static bool read_file(graze_context *context, const char *path, model *m) {
  graze_geometry g;
  graze_status status;
  size_t length = strlen(path), size;
  if (access(path, R_OK)) return false;
  if (length > 3 && !strcmp(path + length - 3, ".xz")) {
    char *bytes = unpack(path, &size), *name = text_of("%.*s", (int)(length - 3), path);
    status = graze_parse_geometry(context, bytes, size, name, GRAZE_FORMAT_AUTO, 0, &g);
    free(bytes);
    free(name);
  } else {
    status = graze_read_geometry(context, path, GRAZE_FORMAT_AUTO, 0, &g);
  }
  if (status != GRAZE_OK) fail("%s", graze_last_error(context)->message);
  from_geometry(&g, m);
  graze_geometry_free(&g);
  return true;
}

bool model_read(const bench *b, const char *file, model *m) {
  static const char *const places[] = {"%s/%s", "%s/%s.xz", "%s/stanford/%s", "%s/stanford/%s.xz"};
  for (size_t i = 0; b->meshes && i < COUNT_OF(places); i++) {
    char path[1024];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(path, sizeof path, places[i], b->meshes, file);
#pragma GCC diagnostic pop
    if (read_file(b->context, path, m)) return true;
  }
  return false;
}
