/* bench/models.c: meshes by name: read, normalised, subdivided, merged; and written for the peers. */
#define _GNU_SOURCE
#include "models.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "poses.h"
#include "scenes.h"

void model_free(model *m) {
  free(m->vertices);
  free(m->indices);
  *m = (model){0};
}

/* Cleaned, moved, scaled. Without graze_io there are no readers. */
static bool read_any(const bench *b, const char *file, model *m) {
#ifdef BENCH_IO
  if (!model_read(b, file, m)) return false;
  model_clean(m);
  model_normalise(m);
  model_clean(m);
  return true;
#else
  (void)b;
  (void)file;
  (void)m;
  return false;
#endif
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
  if (!strcmp(name, "discs")) return *out = shape_discs(1250), true;
  if (!strcmp(name, "cog")) return *out = shape_cog(4400), true;
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

/* Its coordinates times `scale`. */
static void add_object(model *m, const scenes_scene *scene, const scenes_object *o, double scale) {
  const scenes_mesh *mesh = &scene->meshes[o->mesh];
  uint32_t n = m->vertex_count, more = (uint32_t)mesh->vertex_count, triangles = (uint32_t)mesh->triangle_count;
  m->vertices = must_grow(m->vertices, 3 * ((size_t)n + more), sizeof *m->vertices);
  m->indices = must_grow(m->indices, 3 * ((size_t)m->triangle_count + triangles), sizeof *m->indices);
  for (size_t i = 0; i < 3 * (size_t)more; i++) {
    const double *p = mesh->vertices + i / 3 * 3, *row = o->pose + 4 * (i % 3);
    m->vertices[3 * (size_t)n + i] = (float)(scale * (((row[0] * p[0] + row[1] * p[1]) + row[2] * p[2]) + row[3]));
  }
  for (size_t i = 0; i < 3 * (size_t)triangles; i++)
    m->indices[3 * (size_t)m->triangle_count + i] = mesh->indices[i] + n;
  m->vertex_count += more;
  m->triangle_count += triangles;
}

void models_of_scene(const char *name, uint32_t size, double scale, model both[2]) {
  const scenes_kind *kind = scenes_find_kind(name);
  scenes_request request = scenes_default_request(kind);
  scenes_scene scene;
  const char *reason;
  if (size > 0) request.size = size;
  if (!scenes_make(kind, &request, &scene, &reason)) fail("%s: %s", name, reason);
  for (uint32_t i = 0; i < scene.object_count; i++) add_object(&both[i % 2], &scene, &scene.objects[i], scale);
  scenes_free(&scene);
}

size_t model_wave_sides(const bench *b, const uint32_t **sides) {
  static const uint32_t all[] = {23, 45, 90, 179, 358, 724, 1448};
  *sides = all;
  return b->quick ? 3 : b->large || b->list ? COUNT_OF(all) : COUNT_OF(all) - 1;
}
