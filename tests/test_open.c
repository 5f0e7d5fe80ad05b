/* Assemblies whose geometry stays in the file: read mesh by mesh it is what reading the whole file gives, and what goes
 * wrong with the file meanwhile is told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graze/io.h"
#include "support.h"

enum { MESHES = 5 };

static const char *scratch(const char *ending) {
  static char path[64];
  snprintf(path, sizeof path, "test_open_%d%s", (int)getpid(), ending);
  return path;
}

/* A fan of 2, 3, ... triangles for each mesh; the last one belongs to no object. */
static void write_fans(const char *path) {
  static double vertices[MESHES][3 * (MESHES + 3)];
  static uint32_t indices[MESHES][3 * (MESHES + 1)];
  graze_assembly_mesh meshes[MESHES];
  graze_assembly_object objects[MESHES - 1];
  for (uint32_t i = 0; i < MESHES; i++) {
    uint32_t triangles = i + 2;
    for (uint32_t k = 0; k < 3 * (triangles + 2); k++) vertices[i][k] = (double)(k * k % 17) + i;
    for (uint32_t k = 0; k < triangles; k++) {
      indices[i][3 * k + 1] = k + 1;
      indices[i][3 * k + 2] = k + 2;
    }
    meshes[i] = (graze_assembly_mesh){
        "fan",
        {.vertices = vertices[i], .vertex_count = triangles + 2, .indices = indices[i], .triangle_count = triangles}};
    if (i + 1 < MESHES)
      objects[i] = (graze_assembly_object){.name = "an object", .mesh = i, .pose = graze_pose_identity()};
  }
  const graze_assembly all = {.meshes = meshes, .mesh_count = MESHES, .objects = objects, .object_count = MESHES - 1};
  assert_int_equal(graze_write_glb(shared_context(1), path, &all), GRAZE_OK);
}

static void test_same(void **unused) {
  (void)unused;
  graze_assembly whole, parts;
  graze_geometry geometry;
  write_fans(scratch(".glb"));
  assert_int_equal(graze_read_assembly(shared_context(1), scratch(".glb"), GRAZE_FORMAT_AUTO, 0, &whole), GRAZE_OK);
  assert_int_equal(graze_open_assembly(shared_context(1), scratch(".glb"), GRAZE_FORMAT_AUTO, 0, &parts), GRAZE_OK);
  assert_int_equal(parts.mesh_count, MESHES);
  assert_int_equal(parts.object_count, whole.object_count);
  for (uint32_t i = 0; i < parts.object_count; i++) {
    assert_string_equal(parts.objects[i].name, whole.objects[i].name);
    assert_int_equal(parts.objects[i].mesh, whole.objects[i].mesh);
  }
  for (uint32_t k = MESHES; k-- > 0;) { /* in any order */
    const graze_geometry *wanted = &whole.meshes[k].geometry;
    assert_null(parts.meshes[k].geometry.vertices);
    assert_int_equal(parts.meshes[k].geometry.triangle_count, wanted->triangle_count);
    assert_int_equal(graze_read_assembly_mesh(shared_context(1), &parts, k, "x", &geometry), GRAZE_OK);
    assert_int_equal(geometry.vertex_count, wanted->vertex_count);
    assert_int_equal(geometry.triangle_count, wanted->triangle_count);
    assert_int_equal(geometry.all_float, wanted->all_float);
    assert_memory_equal(geometry.vertices, wanted->vertices, 24 * wanted->vertex_count);
    assert_memory_equal(geometry.indices, wanted->indices, 12 * wanted->triangle_count);
    graze_geometry_free(&geometry);
  }
  graze_assembly_free(&parts);
  graze_assembly_free(&whole);
  remove(scratch(".glb"));
}

/* The bytes that are still to be read are cut off, or are no longer what they were. */
static void test_changed(void **unused) {
  (void)unused;
  graze_assembly parts;
  graze_geometry geometry;
  write_fans(scratch(".glb"));
  assert_int_equal(graze_open_assembly(shared_context(1), scratch(".glb"), GRAZE_FORMAT_GLTF, 0, &parts), GRAZE_OK);
  FILE *file = fopen(scratch(".glb"), "r+b");
  assert_non_null(file);
  assert_int_equal(fseek(file, -4, SEEK_END), 0); /* the last index of the last mesh */
  assert_int_equal(fwrite("\x77\x77\x77\x07", 1, 4, file), 4);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(graze_read_assembly_mesh(shared_context(1), &parts, MESHES - 1, "a.glb", &geometry),
                   GRAZE_ERROR_INDEX);
  assert_non_null(strstr(shared_error()->message, "a.glb: mesh 4 primitive 0: index 125269879 at 17 is out of range"));
  assert_null(geometry.vertices);
  assert_int_equal(truncate(scratch(".glb"), 900), 0);
  assert_int_equal(graze_read_assembly_mesh(shared_context(1), &parts, MESHES - 1, "a.glb", &geometry),
                   GRAZE_ERROR_FILE);
  assert_string_equal(shared_error()->message, "a.glb: the file changed its size while it was read");
  assert_null(geometry.indices);
  graze_assembly_free(&parts);
  assert_int_equal(graze_open_assembly(shared_context(1), scratch(".glb"), GRAZE_FORMAT_AUTO, 0, &parts),
                   GRAZE_ERROR_FORMAT);
  assert_non_null(strstr(shared_error()->message, "byte 8: the file is shorter than it says"));
  assert_int_equal(parts.mesh_count, 0);
  remove(scratch(".glb"));
}

/* Other formats are read at once, a GLB file under another reader's name or format is not opened, and the arguments. */
static void test_others(void **unused) {
  (void)unused;
  graze_assembly parts;
  graze_geometry geometry;
  const char *path = scratch(".obj");
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", file);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(graze_open_assembly(shared_context(1), path, GRAZE_FORMAT_AUTO, 0, &parts), GRAZE_OK);
  assert_non_null(parts.meshes[0].geometry.vertices);
  assert_int_equal(graze_read_assembly_mesh(shared_context(1), &parts, 0, path, &geometry), GRAZE_ERROR_ARGUMENT);
  graze_assembly_free(&parts);
  assert_int_equal(graze_open_assembly(shared_context(1), path, GRAZE_FORMAT_GLTF, 0, &parts), GRAZE_ERROR_FORMAT);
  remove(path);
  write_fans(scratch(".glb"));
  assert_int_equal(graze_open_assembly(shared_context(1), scratch(".glb"), GRAZE_FORMAT_OBJ, 0, &parts),
                   GRAZE_ERROR_FORMAT);
  assert_int_equal(graze_open_assembly(shared_context(1), scratch(".glb"), GRAZE_FORMAT_AUTO, 0, &parts), GRAZE_OK);
  assert_int_equal(graze_read_assembly_mesh(shared_context(1), &parts, MESHES, "x", &geometry), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_read_assembly_mesh(shared_context(1), &parts, 0, NULL, &geometry), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_read_assembly_mesh(shared_context(1), &parts, 0, "x", NULL), GRAZE_ERROR_ARGUMENT);
  graze_assembly_free(&parts);
  assert_int_equal(graze_open_assembly(shared_context(1), NULL, GRAZE_FORMAT_AUTO, 0, &parts), GRAZE_ERROR_ARGUMENT);
  remove(scratch(".glb"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same),
      cmocka_unit_test(test_changed),
      cmocka_unit_test(test_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
