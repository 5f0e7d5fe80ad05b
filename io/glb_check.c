/* glb_check.c: refuses what glTF cannot hold, before a file is opened. */
#include <math.h>

#include "base/text.h"
#include "glb.h"
#include "text.h"

static bool is_utf8(const char *text) {
  for (int length; text != NULL && *text; text += length) {
    length = gz_utf8_length(text);
    if (length < 0) return false;
  }
  return true;
}

static bool check_vertices(const graze_geometry *g, uint32_t mesh, io_fault *fault) {
  for (uint64_t i = 0; i < 3 * g->vertex_count; i++) {
    const double value = g->vertices[i];
    if (!isfinite(value))
      return gz_io_fail(fault, GRAZE_ERROR_NOT_FINITE, IO_WHOLE_FILE, 0,
                        "mesh %u, vertex %llu: coordinate %c is not finite", mesh, (unsigned long long)(i / 3),
                        "xyz"[i % 3]);
    if (io_is_float(value)) continue;
    char number[32];
    graze_format_double(value, number);
    return gz_io_fail(fault, GRAZE_ERROR_UNSUPPORTED, IO_WHOLE_FILE, 0,
                      "mesh %u, vertex %llu: coordinate %c, %s, is not the value of a float, and glTF holds no other",
                      mesh, (unsigned long long)(i / 3), "xyz"[i % 3], number);
  }
  return true;
}

static bool check_mesh(const graze_assembly_mesh *mesh, uint32_t number, io_fault *fault) {
  const graze_geometry *g = &mesh->geometry;
  if (!is_utf8(mesh->name))
    return gz_io_fail(fault, GRAZE_ERROR_UNSUPPORTED, IO_WHOLE_FILE, 0, "mesh %u: its name is not UTF-8", number);
  if (g->triangle_count == 0)
    return gz_io_fail(fault, GRAZE_ERROR_UNSUPPORTED, IO_WHOLE_FILE, 0,
                      "mesh %u: no triangles, and glTF holds no empty mesh", number);
  if (!check_vertices(g, number, fault)) return false;
  for (uint64_t i = 0; i < 3 * g->triangle_count; i++) {
    if (g->indices[i] < g->vertex_count) continue;
    return gz_io_fail(fault, GRAZE_ERROR_INDEX, IO_WHOLE_FILE, 0,
                      "mesh %u, triangle %llu, corner %u: vertex %lu of %llu", number, (unsigned long long)(i / 3),
                      (unsigned)(i % 3), (unsigned long)g->indices[i], (unsigned long long)g->vertex_count);
  }
  return true;
}

/* A node's matrix must be a translation after a rotation after a scaling: its columns stand across each other. */
static bool is_decomposable(const graze_pose *pose) {
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3;
    double dot = 0, square_i = 0, square_j = 0;
    for (int row = 0; row < 3; row++) {
      const double a = pose->m[4 * row + i], b = pose->m[4 * row + j];
      dot += a * b;
      square_i += a * a;
      square_j += b * b;
    }
    if (!(fabs(dot) <= 1e-6 * sqrt(square_i) * sqrt(square_j))) return false;
  }
  return true;
}

static bool check_object(const graze_assembly *assembly, uint32_t number, io_fault *fault) {
  const graze_assembly_object *object = &assembly->objects[number];
  if (!is_utf8(object->name))
    return gz_io_fail(fault, GRAZE_ERROR_UNSUPPORTED, IO_WHOLE_FILE, 0, "object %u: its name is not UTF-8", number);
  const char *name = object->name != NULL ? object->name : "";
  if (object->mesh >= assembly->mesh_count)
    return gz_io_fail(fault, GRAZE_ERROR_INDEX, IO_WHOLE_FILE, 0, "object %u \"%s\": mesh %lu of %lu", number, name,
                      (unsigned long)object->mesh, (unsigned long)assembly->mesh_count);
  for (int k = 0; k < 12; k++) {
    if (isfinite(object->pose.m[k])) continue;
    return gz_io_fail(fault, GRAZE_ERROR_NOT_FINITE, IO_WHOLE_FILE, 0,
                      "object %u \"%s\": number %d of its pose is not finite", number, name, k);
  }
  if (is_decomposable(&object->pose)) return true;
  return gz_io_fail(fault, GRAZE_ERROR_POSE, IO_WHOLE_FILE, 0,
                    "object %u \"%s\": its pose shears, which glTF does not allow", number, name);
}

bool gz_glb_check(const graze_assembly *assembly, io_fault *fault) {
  for (uint32_t i = 0; i < assembly->mesh_count; i++) {
    if (!check_mesh(&assembly->meshes[i], i, fault)) return false;
  }
  for (uint32_t i = 0; i < assembly->object_count; i++) {
    if (!check_object(assembly, i, fault)) return false;
  }
  return true;
}
