/* gltf_mesh.c: meshes. The primitives of a mesh become one geometry, triangles in their order; primitives that use the
 * same positions share them. Every mesh is listed and checked, used or not, before one is read: an assembly may be far
 * larger than memory should hold at a time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gltf.h"
#include "text.h"

/* ---- the list ---- */

/* Which positions the mesh at hand has already, by accessor. */
typedef struct known_positions {
  uint32_t mesh; /* counted from 1 */
  uint64_t first_vertex;
} known_positions;

typedef struct mesh_listing {
  gltf_file *file;
  known_positions *known;
  gltf_mesh *mesh;
} mesh_listing;

/* Gives the primitive's vertices their place in the mesh; true when they are new there. */
static bool place_vertices(const mesh_listing *listing, uint32_t mesh, gltf_primitive *primitive, uint64_t end) {
  known_positions *known = &listing->known[primitive->position];
  bool is_new = known->mesh != mesh + 1;
  if (is_new) *known = (known_positions){mesh + 1, end};
  primitive->first_vertex = known->first_vertex;
  return is_new;
}

static bool check_weights(const gltf_file *file, const char *place, const json_t *object, const json_t *primitive) {
  json_t *weights;
  if (!gz_gltf_get_array(file, place, object, "weights", &weights)) return false;
  size_t targets = json_array_size(json_object_get(primitive, "targets"));
  return weights == NULL || json_array_size(weights) == targets ||
         gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place, "%zu \"weights\", but %zu morph targets",
                      json_array_size(weights), targets);
}

static bool list_primitives(mesh_listing *listing, const json_t *object, uint32_t mesh) {
  gltf_file *file = listing->file;
  gltf_place place = gz_gltf_place_of("mesh", mesh);
  json_t *array;
  if (!gz_gltf_get_array(file, place.text, object, "primitives", &array)) return false;
  listing->mesh->primitive_count = json_array_size(array);
  if (listing->mesh->primitive_count == 0)
    return gz_gltf_fail(file, GRAZE_ERROR_FORMAT, place.text, "no \"primitives\"");
  if (!check_weights(file, place.text, object, json_array_get(array, 0))) return false;
  listing->mesh->primitives =
      gz_new_zeroed(file->fault->context, listing->mesh->primitive_count, sizeof listing->mesh->primitives[0]);
  if (listing->mesh->primitives == NULL) return gz_io_fail_memory(file->fault);
  for (size_t i = 0; i < listing->mesh->primitive_count; i++) {
    gltf_primitive *primitive = &listing->mesh->primitives[i];
    snprintf(primitive->place.text, sizeof primitive->place.text, "mesh %lu primitive %zu", (unsigned long)mesh, i);
    if (!gz_gltf_read_primitive(file, json_array_get(array, i), primitive)) return false;
    listing->mesh->is_thin |= primitive->mode < 4;
    file->assembly.result.left_out += primitive->mode < 4;
  }
  return true;
}

/* Numbers the vertices of those primitives that have triangles. */
static bool number_vertices(mesh_listing *listing, uint32_t mesh) {
  gltf_file *file = listing->file;
  for (size_t i = 0; i < listing->mesh->primitive_count; i++) {
    gltf_primitive *primitive = &listing->mesh->primitives[i];
    if (primitive->triangle_count == 0) continue;
    listing->mesh->triangle_count += primitive->triangle_count;
    uint64_t count = file->accessors[primitive->position].count;
    bool is_new = place_vertices(listing, mesh, primitive, listing->mesh->vertex_count);
    if (is_new) listing->mesh->vertex_count += count;
    uint32_t corners = primitive->corners != GLTF_NONE ? primitive->corners : primitive->position;
    if (!gz_gltf_unpack(file, primitive->position) || !gz_gltf_unpack(file, primitive->corners)) return false;
    if ((is_new && !gz_gltf_allow_zeros(file, primitive->place.text, primitive->position, count)) ||
        !gz_gltf_allow_zeros(file, primitive->place.text, corners, primitive->corner_count)) {
      return false;
    }
  }
  return true;
}

static bool list_mesh(mesh_listing *listing, const json_t *object, uint32_t index) {
  gltf_file *file = listing->file;
  graze_assembly_mesh *mesh = &file->assembly.result.meshes[index];
  gltf_place place = gz_gltf_place_of("mesh", index);
  const char *name;
  if (!gz_gltf_get_name(file, place.text, object, &name) || !list_primitives(listing, object, index)) return false;
  mesh->name = gz_io_names_keep(&file->assembly.names, name, strlen(name));
  if (mesh->name == NULL) return gz_io_fail_memory(file->fault);
  if (!number_vertices(listing, index)) return false;
  mesh->geometry.vertex_count = listing->mesh->vertex_count;
  mesh->geometry.triangle_count = listing->mesh->triangle_count;
  return true;
}

bool gz_gltf_list_meshes(gltf_file *file) {
  json_t *table;
  if (!gz_gltf_get_table(file, "meshes", &table, &file->mesh_count) ||
      !gz_io_assembly_set_meshes(&file->assembly, file->mesh_count, file->fault)) {
    return false;
  }
  file->meshes = gz_new_zeroed(file->fault->context, (size_t)file->mesh_count + 1, sizeof file->meshes[0]);
  known_positions *known =
      gz_new_zeroed(file->fault->context, (size_t)file->accessor_count + file->made_count + 1, sizeof *known);
  bool good = file->meshes != NULL && known != NULL;
  if (!good) gz_io_fail_memory(file->fault);
  for (uint32_t i = 0; good && i < file->mesh_count; i++) {
    mesh_listing listing = {.file = file, .known = known, .mesh = &file->meshes[i]};
    good = list_mesh(&listing, json_array_get(table, i), i);
  }
  gz_free(known);
  return good;
}

void gz_gltf_free_meshes(gltf_file *file) {
  for (uint32_t i = 0; file->meshes != NULL && i < file->mesh_count; i++) gz_free(file->meshes[i].primitives);
  gz_free(file->meshes);
}

/* ---- geometry ---- */

static bool fill_geometry(const gltf_file *file, const gltf_mesh *mesh, graze_geometry *geometry) {
  uint64_t vertices = 0;
  uint32_t *corners = geometry->indices;
  for (size_t i = 0; i < mesh->primitive_count; i++) {
    const gltf_primitive *primitive = &mesh->primitives[i];
    if (primitive->triangle_count == 0) continue;
    if (primitive->first_vertex == vertices) {
      double *out = geometry->vertices + 3 * vertices;
      if (!gz_gltf_read_vectors(file, primitive->place.text, primitive->position, 3, out)) return false;
      vertices += file->accessors[primitive->position].count;
    }
    if (!gz_gltf_read_triangles(file, primitive, corners)) return false;
    corners += 3 * primitive->triangle_count;
  }
  return true;
}

static bool find_all_float(const gltf_file *file, const graze_geometry *geometry) {
  bool all = true; /* they are floats in the file, unless they are quantized */
  for (uint64_t i = 0; file->quantized && all && i < 3 * geometry->vertex_count; i++)
    all = io_is_float(geometry->vertices[i]);
  return all;
}

/* Half a step of the whole numbers that positions are kept as; 0: of floats. */
static double find_half_step(const gltf_accessor *accessor) {
  switch (accessor->normalized ? accessor->run.component : GLTF_FLOAT) {
    case GLTF_BYTE:
      return 0.5 / 127;
    case GLTF_UNSIGNED_BYTE:
      return 0.5 / 255;
    case GLTF_SHORT:
      return 0.5 / 32767;
    case GLTF_UNSIGNED_SHORT:
      return 0.5 / 65535;
    default:
      return accessor->run.component == GLTF_FLOAT ? 0 : 0.5;
  }
}

/* The least of the primitives', so that none is taken for more than it is. */
static void set_rounding(const gltf_file *file, const gltf_mesh *mesh, graze_geometry *geometry) {
  double least = INFINITY;
  for (size_t i = 0; i < mesh->primitive_count; i++) {
    if (mesh->primitives[i].triangle_count > 0)
      least = fmin(least, find_half_step(&file->accessors[mesh->primitives[i].position]));
  }
  geometry->rounding = isfinite(least) ? least : 0;
  geometry->stored_floats = geometry->rounding == 0;
}

bool gz_gltf_read_mesh(const gltf_file *file, uint32_t index, graze_geometry *geometry) {
  const gltf_mesh *mesh = &file->meshes[index];
  *geometry = (graze_geometry){0};
  if (!gz_io_geometry_set_vertices(geometry, mesh->vertex_count, file->fault) ||
      !gz_io_geometry_set_triangles(geometry, mesh->triangle_count, file->fault) ||
      !fill_geometry(file, mesh, geometry)) {
    graze_geometry_free(geometry);
    return false;
  }
  geometry->all_float = find_all_float(file, geometry);
  set_rounding(file, mesh, geometry);
  return true;
}
