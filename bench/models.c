/* bench/models.c: meshes by name: read through graze_io, normalised, subdivided, merged; and written for the peers. */
#define _GNU_SOURCE
#include "models.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graze/io.h"
#include "poses.h"

void model_free(model *m) {
  free(m->vertices);
  free(m->indices);
  *m = (model){0};
}

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

static bool read_file(const char *path, model *m) {
  graze_geometry g;
  graze_io_error error = {0};
  graze_status status;
  size_t length = strlen(path), size;
  if (access(path, R_OK)) return false;
  if (length > 3 && !strcmp(path + length - 3, ".xz")) {
    char *bytes = unpack(path, &size), *name = text_of("%.*s", (int)(length - 3), path);
    status = graze_parse_geometry(bytes, size, name, GRAZE_FORMAT_AUTO, 1, &g, &error);
    free(bytes);
    free(name);
  } else {
    status = graze_read_geometry(path, GRAZE_FORMAT_AUTO, 1, &g, &error);
  }
  if (status != GRAZE_OK) fail("%s", error.message);
  from_geometry(&g, m);
  graze_geometry_free(&g);
  return true;
}

/* In DIR or its folder stanford, plain or packed. */
static bool read_any(const bench *b, const char *file, model *m) {
  static const char *const places[] = {"%s/%s", "%s/%s.xz", "%s/stanford/%s", "%s/stanford/%s.xz"};
  for (size_t i = 0; b->meshes && i < COUNT_OF(places); i++) {
    char path[1024];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(path, sizeof path, places[i], b->meshes, file);
#pragma GCC diagnostic pop
    if (!read_file(path, m)) continue;
    model_clean(m);
    model_normalise(m);
    model_clean(m);
    return true;
  }
  return false;
}

static bool subdivided(const bench *b, const char *name, model *out) {
  model coarse;
  if (!model_get(b, name, &coarse)) return false;
  *out = loop_step(&coarse);
  model_free(&coarse);
  model_clean(out);
  return true;
}

static bool doubled(const bench *b, const char *name, model *out) {
  model one;
  if (!model_get(b, name, &one)) return false;
  pose_list poses = poses_get(b, &one, "deep", 1);
  if (!poses.count) fail("no deep pose for %s", name);
  model copy = model_posed(&one, poses.matrices[0]);
  uint32_t n = one.vertex_count, t = one.triangle_count;
  *out = (model){.vertex_count = 2 * n, .triangle_count = 2 * t};
  out->vertices = must_grow(one.vertices, 6 * (size_t)n, sizeof *one.vertices);
  out->indices = must_grow(one.indices, 6 * (size_t)t, sizeof *one.indices);
  memcpy(out->vertices + 3 * (size_t)n, copy.vertices, sizeof *copy.vertices * 3 * n);
  for (size_t i = 0; i < 3 * (size_t)t; i++) out->indices[3 * (size_t)t + i] = copy.indices[i] + n;
  model_free(&copy);
  return true;
}

static bool make(const bench *b, const char *name, model *out) {
  unsigned n;
  size_t length = strlen(name);
  if (length > 2 && !strcmp(name + length - 2, "2x")) {
    char base[32];
    snprintf(base, sizeof base, "%.*s", (int)(length - 2), name);
    return doubled(b, base, out);
  }
  if (!strcmp(name, "bunny")) return read_any(b, "stanford-bunny.obj", out) || read_any(b, "bun_zipper.ply", out);
  if (!strcmp(name, "armadillo")) return read_any(b, "armadillo.obj", out);
  if (!strcmp(name, "dragon200k")) return read_any(b, "dragon_vrip_res2.ply", out);
  if (!strcmp(name, "armadillo346k")) return subdivided(b, "armadillo", out);
  if (!strcmp(name, "dragon")) return subdivided(b, "dragon200k", out);
  if (!strcmp(name, "sphere_out")) return *out = shape_icosphere(7, 0.5), true;
  if (!strcmp(name, "sphere_in")) return *out = shape_icosphere(7, 0.495), true;
  if (!strcmp(name, "blob")) return *out = shape_blob(6), true;
  if (!strcmp(name, "knot")) return *out = shape_knot(48, 1500), true;
  if (sscanf(name, "plane%u", &n) == 1 && n > 0 && n < 20000) return *out = shape_plane(n), true;
  return false;
}

bool model_get(const bench *b, const char *name, model *out) {
  *out = (model){0};
  if (!make(b, name, out)) return false;
  snprintf(out->name, sizeof out->name, "%s", name);
  return true;
}

model model_posed(const model *m, const double pose[12]) {
  model out = *m;
  size_t n = 3 * (size_t)m->vertex_count;
  out.vertices = must_alloc(n, sizeof *out.vertices);
  out.indices = must_alloc(3 * (size_t)m->triangle_count, sizeof *out.indices);
  memcpy(out.indices, m->indices, sizeof *out.indices * 3 * m->triangle_count);
  for (size_t i = 0; i < n; i++) {
    const float *p = m->vertices + i / 3 * 3;
    const double *row = pose + 4 * (i % 3);
    out.vertices[i] = (float)(((row[0] * p[0] + row[1] * p[1]) + row[2] * p[2]) + row[3]);
  }
  return out;
}

void model_write(const model *m, const char *path) {
  FILE *f = fopen(path, "wb");
  if (!f) fail("%s: %s", path, strerror(errno));
  uint32_t counts[2] = {m->vertex_count, m->triangle_count};
  size_t n = 3 * (size_t)m->vertex_count, k = 3 * (size_t)m->triangle_count;
  bool good = fwrite(BENCH_MESH_MAGIC, 1, 8, f) == 8 && fwrite(counts, 4, 2, f) == 2 &&
              fwrite(m->vertices, 4, n, f) == n && fwrite(m->indices, 4, k, f) == k;
  if (fclose(f) || !good) fail("%s: could not be written", path);
}

graze_mesh *model_bake(const bench *b, const model *m, graze_volumes volumes, bool no_adjacency) {
  graze_mesh_def def = graze_default_mesh_def();
  graze_mesh *mesh;
  def.vertices = m->vertices;
  def.vertex_count = m->vertex_count;
  def.indices = m->indices;
  def.triangle_count = m->triangle_count;
  def.precision = GRAZE_FLOAT;
  def.volumes = volumes;
  def.no_adjacency = no_adjacency;
  must(graze_mesh_create(b->context, &def, &mesh), m->name);
  return mesh;
}
