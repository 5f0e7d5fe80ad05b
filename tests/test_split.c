/* test_split.c: objects out of one mesh: its groups, and its connected parts. */
#include <stdlib.h>
#include <string.h>

#include "gltf_made.h"

static graze_status split(const char *text, size_t size, const char *name, unsigned flags, graze_assembly *assembly) {
  return graze_parse_assembly(shared_context(1), text, size, name, GRAZE_FORMAT_AUTO, flags, assembly);
}

/* Objects in order, each "NAME:TRIANGLES ". */
static void assert_objects(const char *text, const char *name, unsigned flags, const char *wanted) {
  char found[400] = "";
  graze_assembly assembly;
  if (split(text, strlen(text), name, flags, &assembly) != GRAZE_OK) fail_msg("%s", shared_error()->message);
  for (uint32_t i = 0; i < assembly.object_count; i++) {
    size_t used = strlen(found);
    const graze_assembly_object *object = &assembly.objects[i];
    snprintf(found + used, sizeof found - used, "%s:%d ", object->name,
             (int)assembly.meshes[object->mesh].geometry.triangle_count);
  }
  assert_string_equal(found, wanted);
  graze_assembly_free(&assembly);
}

#define POINTS_OF_OBJ "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
#define GROUPS        GRAZE_READ_GROUPS
#define PARTS         GRAZE_READ_PARTS

static void test_groups(void **state) {
  (void)state;
  assert_objects(POINTS_OF_OBJ "g a\nf 1 2 3\ng b\nf 1 2 4\n", "x.obj", GROUPS, "a:1 b:1 ");
  /* a label that comes again is the same object; the file's name is for what has none */
  assert_objects(POINTS_OF_OBJ "f 1 2 3\ng a\nf 1 2 3\ng b\nf 1 2 4\ng a\nusemtl m\nf 2 3 4\ng\nf 1 3 4\n", "x.obj",
                 GROUPS, "x:1 a:2 b:1 default:1 ");
  /* where `o` tells objects apart, `g` does not; where it names the whole, it does not count */
  assert_objects(POINTS_OF_OBJ "o a\ng 1\nf 1 2 3\ng 2\nf 1 2 4\no b\ng 1\nf 2 3 4\n", "x.obj", GROUPS, "a:2 b:1 ");
  assert_objects(POINTS_OF_OBJ "o all\ng 1\nf 1 2 3\ng 2\nf 1 2 4\no empty\n", "x.obj", GROUPS, "1:1 2:1 ");
  assert_objects(POINTS_OF_OBJ "o all\nf 1 2 3\nf 1 2 4\n", "x.obj", GROUPS, "all:2 ");
}

static void test_parts(void **state) {
  (void)state;
  /* an edge connects, in whatever direction; a corner does not; file order numbers the parts */
  assert_objects(POINTS_OF_OBJ "v 5 5 5\nf 1 2 3\nf 1 4 5\nf 2 3 4\n", "x.obj", PARTS, "x/part1:2 x/part2:1 ");
  /* by position, with both zeros and however the corners are numbered */
  assert_objects("v 0 0 0\nv 1 0 0\nv 0 1 0\nv -0 -0 0\nv 1 -0 0\nv 0 -1 0\nf 1 2 3\nf 4 5 6\n", "x.obj", PARTS,
                 "x:2 ");
  /* the first and the last are connected by one that comes later */
  assert_objects(POINTS_OF_OBJ "v 9 9 9\nf 1 2 3\nf 3 4 5\nf 2 3 4\n", "x.obj", PARTS, "x:3 ");
  /* a zero-area triangle hangs on by its edge, a point on nothing */
  assert_objects(POINTS_OF_OBJ "f 1 2 3\nf 1 2 2\nf 1 1 1\n", "x.obj", PARTS, "x/part1:2 x/part2:1 ");
  /* the parts of groups */
  assert_objects(POINTS_OF_OBJ "v 5 5 5\ng a\nf 1 2 3\nf 1 4 5\ng b\nf 2 3 4\n", "x.obj", GROUPS | PARTS,
                 "a/part1:1 a/part2:1 b:1 ");
  assert_objects(POINTS_OF_OBJ, "x.obj", PARTS, "x:0 ");
  assert_objects("OFF\n5 2 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n5 5 5\n3 0 1 2\n3 0 3 4\n", "x.off", PARTS,
                 "x/part1:1 x/part2:1 ");
}

/* Facets of a soup that take turns: each part has its own, in file order, and only its vertices. */
static void test_part_content(void **state) {
  (void)state;
  static const char text[] = POINTS_OF_OBJ "v 9 0 0\nv 9 1 0\nv 9 0 1\nv 9 9 9\nf 1 2 3\nf 5 6 7\nf 2 3 4\nf 6 7 8\n";
  graze_assembly assembly;
  assert_int_equal(split(text, sizeof text - 1, "x.obj", PARTS, &assembly), GRAZE_OK);
  assert_int_equal(assembly.object_count, 2);
  assert_string_equal(assembly.objects[1].name, "x/part2");
  assert_string_equal(assembly.objects[1].parent, "x");
  const uint32_t indices[] = {0, 1, 2, 1, 2, 3};
  const double second[] = {9, 0, 0, 9, 1, 0, 9, 0, 1, 9, 9, 9};
  assert_triangles(&assembly.meshes[0].geometry, indices, 2);
  assert_triangles(&assembly.meshes[1].geometry, indices, 2);
  assert_vertices(&assembly.meshes[1].geometry, second, 4);
  graze_assembly_free(&assembly);
  assert_int_equal(split(text, sizeof text - 1, "x.obj", 8, &assembly), GRAZE_ERROR_ARGUMENT);
}

/* Two instances of a mesh of two parts, and an object of one: parts are shared, poses and names stay. */
static void test_assembly(void **state) {
  (void)state;
  double two[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 5, 0, 0, 6, 0, 0, 5, 1, 0};
  uint32_t indices[] = {0, 1, 2, 3, 4, 5};
  graze_assembly_mesh meshes[] = {
      {"pair", {.vertices = two, .vertex_count = 6, .indices = indices, .triangle_count = 2}},
      {"one", {.vertices = two, .vertex_count = 3, .indices = indices, .triangle_count = 1}}};
  graze_assembly_object objects[] = {{.name = "a/p", .pose = graze_pose_identity()},
                                     {.name = "a/q", .pose = test_translation(3, 0, 0)},
                                     {.name = "single", .mesh = 1, .pose = graze_pose_identity()}};
  const graze_assembly made = {.meshes = meshes, .mesh_count = 2, .objects = objects, .object_count = 3};
  const char *path = scratch_path("parts.glb");
  assert_int_equal(graze_write_glb(shared_context(1), path, &made), GRAZE_OK);
  graze_assembly assembly;
  assert_int_equal(graze_open_assembly(shared_context(1), path, GRAZE_FORMAT_AUTO, PARTS, &assembly), GRAZE_OK);
  static const char *const names[] = {"a/p/part1", "a/p/part2", "a/q/part1", "a/q/part2", "single"};
  static const char *const parents[] = {"a/p", "a/p", "a/q", "a/q", ""};
  static const uint32_t numbers[] = {0, 1, 0, 1, 2};
  assert_int_equal(assembly.object_count, 5);
  assert_int_equal(assembly.mesh_count, 3);
  assert_string_equal(assembly.units, "m");
  assert_int_equal(assembly.format, GRAZE_FORMAT_GLTF);
  for (uint32_t i = 0; i < 5; i++) {
    assert_string_equal(assembly.objects[i].name, names[i]);
    assert_string_equal(assembly.objects[i].parent, parents[i]);
    assert_int_equal(assembly.objects[i].mesh, numbers[i]);
    assert_true(assembly.objects[i].pose.m[3] == (i / 2 == 1 ? 3 : 0));
  }
  assert_vertices(&assembly.meshes[1].geometry, two + 9, 3);
  assert_string_equal(assembly.meshes[1].name, "pair");
  graze_assembly_free(&assembly);
}

/* What a file says of itself and of an object holds for the parts too. */
static void test_what_stays(void **state) {
  (void)state;
  char *text = make_text(points, sizeof points,
                         "\"bufferViews\":[" VIEW_OF_POINTS "],\"accessors\":[" POINTS
                         "],"
                         "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":4}]}],"
                         "\"nodes\":[{\"mesh\":0,\"name\":\"n\",\"extras\":{\"name\":\"Pump\"}}]");
  graze_assembly whole, parts;
  assert_int_equal(split(text, strlen(text), "x.gltf", 0, &whole), GRAZE_OK);
  assert_int_equal(split(text, strlen(text), "x.gltf", PARTS, &parts), GRAZE_OK);
  assert_int_equal(whole.up, GRAZE_UP_Y);
  assert_int_equal(parts.up, GRAZE_UP_Y);
  assert_string_equal(parts.objects[0].label, "Pump");
  assert_true(parts.meshes[0].geometry.stored_floats);
  graze_assembly_free(&whole);
  graze_assembly_free(&parts);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_groups),   cmocka_unit_test(test_parts),      cmocka_unit_test(test_part_content),
      cmocka_unit_test(test_assembly), cmocka_unit_test(test_what_stays),
  };
  return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
