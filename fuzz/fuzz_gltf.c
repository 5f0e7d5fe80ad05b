/* The glTF reader on any bytes, as an assembly and joined. The folder of the name is not there, so that no input can
 * have a file of this machine opened. */
#include <stdlib.h>

#include "check.h"

#define NAME "no-such-folder/input.gltf"

static void check_assembly(const graze_assembly *assembly) {
  for (uint32_t i = 0; i < assembly->mesh_count; i++) {
    const graze_geometry *geometry = &assembly->meshes[i].geometry;
    check_that(assembly->meshes[i].name != NULL);
    check_geometry(geometry);
    bool all_float = true;
    for (uint64_t k = 0; k < 3 * geometry->vertex_count; k++) {
      all_float = all_float && (double)(float)geometry->vertices[k] == geometry->vertices[k];
    }
    check_that(all_float == geometry->all_float);
  }
  for (uint32_t i = 0; i < assembly->object_count; i++) {
    const graze_assembly_object *object = &assembly->objects[i];
    check_that(object->mesh < assembly->mesh_count && assembly->meshes[object->mesh].geometry.triangle_count > 0);
    check_that(object->name[0] != 0 && object->parent != NULL);
    for (int k = 0; k < 12; k++) check_that(isfinite(object->pose.m[k]));
    if (i > 0 && i < 50) check_that(strcmp(object->name, object[-1].name) != 0);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  graze_assembly assembly;
  graze_geometry geometry;
  setenv("GRAZE_DRACO", "no-such-folder/graze-draco", 1); /* a process for each input would take too long */
  graze_status status = graze_parse_assembly(fuzz_context(), data, size, NAME, GRAZE_FORMAT_GLTF, 0, &assembly);
  if (status == GRAZE_OK) {
    check_assembly(&assembly);
    status = graze_parse_geometry(fuzz_context(), data, size, NAME, GRAZE_FORMAT_GLTF, 0, &geometry);
    check_that(status == GRAZE_OK || status == GRAZE_ERROR_NOT_FINITE);
    if (status == GRAZE_OK) check_geometry(&geometry);
    graze_geometry_free(&geometry);
  } else {
    check_that(fuzz_failed(status, NAME ":") && assembly.meshes == NULL);
  }
  graze_assembly_free(&assembly);
  return 0;
}
