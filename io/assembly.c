/* assembly.c: assemblies as they are built, joined to one geometry, freed. */
#include "assembly.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* ---- building ---- */

bool gz_io_assembly_set_meshes(io_assembly *assembly, uint64_t count, io_fault *fault) {
  if (count > IO_MOST_ELEMENTS) return gz_io_fail(fault, GRAZE_ERROR_LIMIT, IO_WHOLE_FILE, 0, "too many meshes");
  assembly->result.meshes = gz_new_zeroed(fault->context, count > 0 ? count : 1, sizeof assembly->result.meshes[0]);
  if (assembly->result.meshes == NULL) return gz_io_fail_memory(fault);
  for (uint64_t i = 0; i < count; i++) assembly->result.meshes[i].name = "";
  assembly->result.mesh_count = (uint32_t)count;
  return true;
}

bool gz_io_assembly_add_mesh(io_assembly *assembly, io_fault *fault) {
  graze_assembly *result = &assembly->result;
  gz_array meshes = {result->meshes, result->mesh_count, assembly->mesh_capacity};
  if (!array_reserve(fault->context, &meshes, 1, sizeof result->meshes[0])) return gz_io_fail_memory(fault);
  result->meshes = meshes.data;
  assembly->mesh_capacity = meshes.capacity;
  result->meshes[result->mesh_count++] = (graze_assembly_mesh){.name = ""};
  return true;
}

const char *gz_io_assembly_add_path(io_assembly *assembly, const char *parent, const char *name, uint64_t node,
                                    io_fault *fault) {
  char path[IO_LONGEST_PATH + 1], number[32];
  snprintf(number, sizeof number, "node%llu", (unsigned long long)node);
  int length = snprintf(path, sizeof path, "%s%s%s", parent, *parent ? "/" : "", *name ? name : number);
  if (length < 0 || (size_t)length >= sizeof path) {
    gz_io_fail(fault, GRAZE_ERROR_LIMIT, IO_WHOLE_FILE, 0, "node %llu: the path of its names is longer than %d bytes",
               (unsigned long long)node, IO_LONGEST_PATH);
    return NULL;
  }
  const char *unique = gz_io_names_make_unique(&assembly->names, path, (size_t)length);
  if (unique == NULL) gz_io_fail_memory(fault);
  return unique;
}

bool gz_io_assembly_add_object(io_assembly *assembly, const char *name, const char *parent, uint32_t mesh,
                               const graze_pose *pose, io_fault *fault) {
  graze_assembly *result = &assembly->result;
  gz_array objects = {result->objects, result->object_count, assembly->object_capacity};
  if (objects.count >= IO_MOST_OBJECTS) {
    return gz_io_fail(fault, GRAZE_ERROR_LIMIT, IO_WHOLE_FILE, 0, "more than %d objects", IO_MOST_OBJECTS);
  }
  if (!array_reserve(fault->context, &objects, 1, sizeof result->objects[0])) return gz_io_fail_memory(fault);
  result->objects = objects.data;
  assembly->object_capacity = objects.capacity;
  result->objects[result->object_count++] =
      (graze_assembly_object){.name = name, .parent = parent, .mesh = mesh, .pose = *pose};
  return true;
}

bool gz_io_assembly_finish(io_assembly *assembly, bool good, graze_assembly *result) {
  assembly->result.memory = assembly->names.texts;
  if (assembly->result.units == NULL) assembly->result.units = "";
  gz_io_names_close(&assembly->names);
  if (!good) graze_assembly_free(&assembly->result);
  *result = assembly->result;
  return good;
}

void graze_assembly_free(graze_assembly *assembly) {
  if (assembly == NULL) return;
  for (uint32_t i = 0; i < assembly->mesh_count; i++) graze_geometry_free(&assembly->meshes[i].geometry);
  gz_free(assembly->meshes);
  gz_free(assembly->objects);
  gz_io_texts_free(assembly->memory);
  gz_io_gltf_close(assembly->source);
  *assembly = (graze_assembly){0};
}

/* ---- joined ---- */

bool gz_io_pose_vertices(const graze_geometry *mesh, const graze_assembly_object *object, double *out, bool *all_float,
                         io_fault *fault) {
  for (uint64_t i = 0; i < mesh->vertex_count; i++, out += 3) {
    graze_pose_apply(&object->pose, mesh->vertices + 3 * i, out);
    if (!isfinite(out[0]) || !isfinite(out[1]) || !isfinite(out[2])) {
      return gz_io_fail(fault, GRAZE_ERROR_NOT_FINITE, IO_WHOLE_FILE, 0,
                        "object \"%s\": vertex %llu is not finite in place",
                        gz_io_quote(object->name, object->name + strlen(object->name)).text, (unsigned long long)i);
    }
    *all_float = *all_float && io_is_float(out[0]) && io_is_float(out[1]) && io_is_float(out[2]);
  }
  return true;
}

/* What rounding may have moved a coordinate of the object by, once it is posed. */
static double find_rounding(const graze_geometry *mesh, const graze_pose *pose) {
  double largest[3] = {0, 0, 0}, most = 0;
  for (uint64_t i = 0; i < 3 * mesh->vertex_count; i++) largest[i % 3] = fmax(largest[i % 3], fabs(mesh->vertices[i]));
  for (int row = 0; row < 3; row++) {
    double sum = 0;
    for (int k = 0; k < 3; k++) {
      const float x = (float)largest[k];
      const double own = mesh->stored_floats ? 0.5 * ((double)nextafterf(x, INFINITY) - (double)x) : mesh->rounding;
      sum += fabs(pose->m[4 * row + k]) * own;
    }
    most = fmax(most, sum);
  }
  return most;
}

static bool fill_joined(const graze_assembly *assembly, graze_geometry *geometry, io_name *names, io_fault *fault) {
  uint64_t vertices = 0, triangles = 0;
  geometry->all_float = true;
  for (uint32_t i = 0; i < assembly->object_count; i++) {
    const graze_assembly_object *object = &assembly->objects[i];
    const graze_geometry *mesh = &assembly->meshes[object->mesh].geometry;
    names[i] = (io_name){object->name, strlen(object->name), triangles, false};
    double *out = geometry->vertices + 3 * vertices;
    if (!gz_io_pose_vertices(mesh, object, out, &geometry->all_float, fault)) return false;
    const double rounding = find_rounding(mesh, &object->pose); /* the least: no object's is taken for larger */
    if (i == 0 || rounding < geometry->rounding) geometry->rounding = rounding;
    uint32_t *corner = geometry->indices + 3 * triangles;
    for (uint64_t k = 0; k < 3 * mesh->triangle_count; k++) *corner++ = (uint32_t)vertices + mesh->indices[k];
    vertices += mesh->vertex_count;
    triangles += mesh->triangle_count;
  }
  return gz_io_geometry_set_groups(geometry, names, assembly->object_count, fault);
}

bool gz_io_assembly_join(const graze_assembly *assembly, graze_geometry *geometry, io_fault *fault) {
  uint64_t vertices = 0, triangles = 0;
  for (uint32_t i = 0; i < assembly->object_count; i++) {
    const graze_geometry *mesh = &assembly->meshes[assembly->objects[i].mesh].geometry;
    vertices += mesh->vertex_count;
    triangles += mesh->triangle_count;
  }
  if (!gz_io_geometry_set_vertices(geometry, vertices, fault)) return false;
  if (!gz_io_geometry_set_triangles(geometry, triangles, fault)) return false;
  io_name *names = gz_new(fault->context, assembly->object_count, sizeof *names);
  if (names == NULL) return gz_io_fail_memory(fault);
  bool good = fill_joined(assembly, geometry, names, fault);
  gz_free(names);
  return good;
}
