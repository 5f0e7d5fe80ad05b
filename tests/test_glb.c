/* The GLB writer: bytes of a small file, and what is refused. That whole plants are sound files is looked at by
 * cli/check_glb.py, which reads them with nothing of this project. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graze/io.h"
#include "support.h"

static double vertices[9];
static uint32_t indices[3];
static graze_assembly_mesh meshes[1];
static graze_assembly_object objects[3];
static graze_assembly assembly;

static const char *path_for(const char *ending) {
  static char path[64];
  snprintf(path, sizeof path, "test_glb_%d%s", (int)getpid(), ending);
  return path;
}

/* One triangle, and three objects of it: two below one node. */
static void reset(void) {
  static const double corners[9] = {0, 0, 0, 1, 0, 0, 0, -2.5, 0x1p-18};
  static const char *const names[3] = {"pump/left \"one\"", "slab", "pump/right"};
  memcpy(vertices, corners, sizeof vertices);
  for (uint32_t i = 0; i < 3; i++) {
    indices[i] = i;
    objects[i] = (graze_assembly_object){.name = names[i], .pose = graze_pose_identity()};
  }
  objects[2].pose = test_translation(1, 2, 0.1);
  meshes[0] =
      (graze_assembly_mesh){"part", {.vertices = vertices, .vertex_count = 3, .indices = indices, .triangle_count = 1}};
  assembly = (graze_assembly){.meshes = meshes, .mesh_count = 1, .objects = objects, .object_count = 3};
}

static size_t read_back(unsigned char *bytes, size_t room) {
  FILE *file = fopen(path_for(".glb"), "rb");
  assert_non_null(file);
  size_t size = fread(bytes, 1, room, file);
  fclose(file);
  remove(path_for(".glb"));
  return size;
}

static uint32_t word(const unsigned char *p) {
  return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void test_bytes(void **unused) {
  (void)unused;
  static const char json[] =
      "{\"asset\":{\"version\":\"2.0\",\"generator\":\"graze\"},\"scene\":0,\"scenes\":[{\"nodes\":[0,2]}],\"nodes\":["
      "\n"
      "{\"name\":\"pump\",\"children\":[1,3]},\n{\"name\":\"left \\\"one\\\"\",\"mesh\":0},\n"
      "{\"name\":\"slab\",\"mesh\":0},\n{\"name\":\"right\",\"mesh\":0,\"matrix\":[1,0,0,0,0,1,0,0,0,0,1,0,1,2,0.1,1]}]"
      ","
      "\"meshes\":[\n{\"name\":\"part\",\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1}]}],"
      "\"accessors\":[\n{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"min\":[0,-2.5,0],"
      "\"max\":[1,0,3.814697265625e-06]},\n{\"bufferView\":1,\"componentType\":5125,\"count\":3,\"type\":\"SCALAR\"}]"
      ","
      "\"bufferViews\":[\n{\"buffer\":0,\"byteOffset\":0,\"byteLength\":36,\"target\":34962},\n"
      "{\"buffer\":0,\"byteOffset\":36,\"byteLength\":12,\"target\":34963}],\"buffers\":[{\"byteLength\":48}]}";
  unsigned char bytes[4096];
  reset();
  assert_int_equal(graze_write_glb(shared_context(1), path_for(".glb"), &assembly), GRAZE_OK);
  size_t size = read_back(bytes, sizeof bytes), text = (sizeof json - 1 + 3) / 4 * 4;
  assert_int_equal(size, 12 + 8 + text + 8 + 48);
  assert_memory_equal(bytes, "glTF\2\0\0\0", 8);
  assert_int_equal(word(bytes + 8), size);
  assert_int_equal(word(bytes + 12), text);
  assert_memory_equal(bytes + 16, "JSON", 4);
  assert_memory_equal(bytes + 20, json, sizeof json - 1);
  for (size_t i = sizeof json - 1; i < text; i++) assert_int_equal(bytes[20 + i], ' ');
  const unsigned char *binary = bytes + 20 + text;
  assert_int_equal(word(binary), 48);
  assert_memory_equal(binary + 4, "BIN\0", 4);
  for (int i = 0; i < 9; i++) {
    uint32_t bits = word(binary + 8 + 4 * i);
    float value;
    memcpy(&value, &bits, sizeof value);
    assert_true(value == vertices[i]);
  }
  for (uint32_t i = 0; i < 3; i++) assert_int_equal(word(binary + 44 + 4 * i), i);
}

/* Lists without members are left out. */
static void test_empty(void **unused) {
  (void)unused;
  static const char json[] = "{\"asset\":{\"version\":\"2.0\",\"generator\":\"graze\"}}";
  unsigned char bytes[256];
  const graze_assembly none = {0};
  assert_int_equal(graze_write_glb(shared_context(1), path_for(".glb"), &none), GRAZE_OK);
  size_t size = read_back(bytes, sizeof bytes);
  assert_int_equal(size, 20 + (sizeof json - 1 + 3) / 4 * 4);
  assert_memory_equal(bytes + 20, json, sizeof json - 1);
}

static void refused(graze_status status, const char *words) {
  graze_status got = graze_write_glb(shared_context(1), path_for(".glb"), &assembly);
  if (got != status || !strstr(shared_error()->message, words))
    fail_msg("%d \"%s\", want \"%s\"", got, shared_error()->message, words);
  assert_int_not_equal(access(path_for(".glb"), F_OK), 0);
  reset();
}

static void test_refused(void **unused) {
  (void)unused;
  assert_int_equal(graze_write_glb(shared_context(1), NULL, &assembly), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_write_glb(shared_context(1), "a.glb", NULL), GRAZE_ERROR_ARGUMENT);
  reset();
  vertices[7] = 0.1;
  refused(GRAZE_ERROR_UNSUPPORTED, "mesh 0, vertex 2: coordinate y, 0.1, is not the value of a float");
  vertices[0] = 1e300;
  refused(GRAZE_ERROR_UNSUPPORTED, "mesh 0, vertex 0: coordinate x, 1e+300, is not the value of a float");
  vertices[5] = NAN;
  refused(GRAZE_ERROR_NOT_FINITE, "mesh 0, vertex 1: coordinate z is not finite");
  indices[1] = 3;
  refused(GRAZE_ERROR_INDEX, "mesh 0, triangle 0, corner 1: vertex 3 of 3");
  meshes[0].geometry.triangle_count = 0;
  refused(GRAZE_ERROR_UNSUPPORTED, "mesh 0: no triangles");
  meshes[0].name = "\xc3(";
  refused(GRAZE_ERROR_UNSUPPORTED, "mesh 0: its name is not UTF-8");
  objects[1].mesh = 1;
  refused(GRAZE_ERROR_INDEX, "object 1 \"slab\": mesh 1 of 1");
  objects[1].pose.m[7] = INFINITY;
  refused(GRAZE_ERROR_NOT_FINITE, "object 1 \"slab\": number 7 of its pose");
  objects[1].pose.m[1] = 0.5;
  refused(GRAZE_ERROR_POSE, "object 1 \"slab\": its pose shears");
}

static void test_names(void **unused) {
  (void)unused;
  static const char *const bad[] = {"\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                    "\xf8", "a\xe2\x82"};
  static const char *const good[] = {"", "/", "a//b", "\xc3\xa4/\xe2\x82\xac", "\xf0\x9f\x94\xa7", "tab\tand\nline"};
  reset();
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    objects[2].name = bad[i];
    refused(GRAZE_ERROR_UNSUPPORTED, "object 2: its name is not UTF-8");
  }
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    objects[2].name = good[i];
    assert_int_equal(graze_write_glb(shared_context(1), path_for(".glb"), &assembly), GRAZE_OK);
    remove(path_for(".glb"));
  }
}

/* Parts of the same name below different nodes are different nodes; the same path is the same node. */
static void test_tree(void **unused) {
  (void)unused;
  enum { sites = 300, all = 2 * sites };
  static graze_assembly_object many[all];
  static char names[all][32];
  reset();
  for (uint32_t i = 0; i < all; i++) {
    snprintf(names[i], sizeof names[i], "site %u/room/%s", (unsigned)(i % sites), i < sites ? "left" : "right");
    many[i] = (graze_assembly_object){.name = names[i], .pose = graze_pose_identity()};
  }
  assembly.objects = many;
  assembly.object_count = all;
  unsigned char *bytes = calloc(1, 1 << 20);
  assert_non_null(bytes);
  assert_int_equal(graze_write_glb(shared_context(1), path_for(".glb"), &assembly), GRAZE_OK);
  assert_true(read_back(bytes, (1 << 20) - 1) > 0);
  int rooms = 0, nodes = 0;
  char *json = (char *)bytes + 20;
  for (const char *p = json; (p = strstr(p, "{\"name\":\"room\",\"children\":[")) != NULL; p++) rooms++;
  for (const char *p = json; (p = strstr(p, "\n{\"name\":")) != NULL; p++) nodes++;
  assert_int_equal(rooms, sites);
  assert_int_equal(nodes, 4 * sites + 1); /* and the mesh */
  free(bytes);
}

static void test_file_errors(void **unused) {
  (void)unused;
  reset();
  assert_int_equal(graze_write_glb(shared_context(1), "no such folder/a.glb", &assembly), GRAZE_ERROR_FILE);
  assert_non_null(strstr(shared_error()->message, "no such folder/a.glb: cannot open for writing"));
  if (access("/dev/full", W_OK) != 0) return;
  assert_int_equal(graze_write_glb(shared_context(1), "/dev/full", &assembly), GRAZE_ERROR_FILE);
  assert_non_null(strstr(shared_error()->message, "cannot write: No space left on device"));
  assert_int_equal(access("/dev/full", F_OK), 0); /* what is no regular file is left alone */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bytes), cmocka_unit_test(test_empty), cmocka_unit_test(test_refused),
      cmocka_unit_test(test_names), cmocka_unit_test(test_tree),  cmocka_unit_test(test_file_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
