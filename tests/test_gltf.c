/* Assemblies that are read: glTF made here, the tree of nodes, names and poses, GLB, all of it as one geometry, and
 * plain mesh files. What is expected follows from the glTF specification and was worked out by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gltf_made.h"

/* ---- geometry ---- */

static void check_indices(const void *indices, size_t size, int component, const char *mode, unsigned count,
                          const uint32_t *want, uint64_t triangles) {
  point_file file = with_indices(indices, size);
  char rest[700];
  snprintf(rest, sizeof rest,
           "\"bufferViews\":[" VIEW_OF_POINTS
           ",{\"buffer\":0,\"byteOffset\":60,\"byteLength\":%zu}],"
           "\"accessors\":[" POINTS
           ",{\"bufferView\":1,\"componentType\":%d,\"count\":%u,\"type\":\"SCALAR\"}],"
           "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1%s}]}]," ONE_NODE,
           size, component, count, mode);
  graze_assembly assembly = must_parse(&file, sizeof file, rest);
  assert_int_equal(assembly.object_count, 1);
  assert_triangles(&assembly.meshes[0].geometry, want, triangles);
  assert_vertices(&assembly.meshes[0].geometry, points_as_doubles, 5);
  assert_true(assembly.meshes[0].geometry.all_float);
  graze_assembly_free(&assembly);
}

static void test_indices(void **state) {
  (void)state;
  const uint8_t bytes[] = {0, 1, 2, 3, 2, 1};
  const uint16_t shorts[] = {0, 1, 2, 3, 2, 1};
  const uint32_t words[] = {0, 1, 2, 3, 2, 1};
  check_indices(bytes, sizeof bytes, 5121, "", 6, words, 2);
  check_indices(shorts, sizeof shorts, 5123, ",\"mode\":4", 6, words, 2);
  check_indices(words, sizeof words, 5125, "", 6, words, 2);
  check_indices(bytes, sizeof bytes, 5121, "", 5, words, 1); /* what makes no whole triangle is left */
}

/* Chapter 3.7.2.1: p(i) = {v(i), v(i + 1 + i % 2), v(i + 2 - i % 2)} for strips, {v(i + 1), v(i + 2), v(0)} for fans.
 */
static void test_modes(void **state) {
  (void)state;
  const uint8_t bytes[] = {4, 3, 2, 1, 0};
  const uint32_t strip[] = {4, 3, 2, 3, 1, 2, 2, 1, 0}, fan[] = {3, 2, 4, 2, 1, 4, 1, 0, 4};
  check_indices(bytes, sizeof bytes, 5121, ",\"mode\":5", 5, strip, 3);
  check_indices(bytes, sizeof bytes, 5121, ",\"mode\":6", 5, fan, 3);
  const uint32_t in_order[] = {0, 1, 2}, in_strip[] = {0, 1, 2, 1, 3, 2, 2, 3, 4};
  graze_assembly assembly = must_parse(points, sizeof points,
                                       "\"bufferViews\":[" VIEW_OF_POINTS "],\"accessors\":[" POINTS
                                       "],\"meshes\":["
                                       "{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]},"
                                       "{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":5}]},"
                                       "{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":0},"
                                       "{\"attributes\":{\"POSITION\":0},\"mode\":3}]}],"
                                       "\"nodes\":[{\"mesh\":0},{\"mesh\":1},{\"mesh\":2}]");
  assert_triangles(&assembly.meshes[0].geometry, in_order, 1);
  assert_triangles(&assembly.meshes[1].geometry, in_strip, 3);
  assert_int_equal(assembly.meshes[2].geometry.triangle_count + assembly.meshes[2].geometry.vertex_count, 0);
  assert_int_equal(assembly.left_out, 2);
  assert_int_equal(assembly.object_count, 2); /* a mesh of points and lines makes none */
  assert_null(assembly.hollow);
  graze_assembly_free(&assembly);
}

/* Primitives become one geometry, in their order; those with the same positions share them. */
static void test_primitives(void **state) {
  (void)state;
  const uint8_t bytes[] = {0, 1, 2, 2, 3, 4};
  point_file file = with_indices(bytes, sizeof bytes);
  graze_assembly assembly = must_parse(
      &file, sizeof file,
      "\"bufferViews\":[" VIEW_OF_POINTS
      ",{\"buffer\":0,\"byteOffset\":60,\"byteLength\":6}],"
      "\"accessors\":[" POINTS
      ",{\"bufferView\":1,\"componentType\":5121,\"count\":3,\"type\":\"SCALAR\"},"
      "{\"bufferView\":1,\"byteOffset\":3,\"componentType\":5121,\"count\":3,\"type\":\"SCALAR\"},"
      "{\"bufferView\":0,\"byteOffset\":12,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"}],"
      "\"meshes\":[{\"name\":\"m\",\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":2},"
      "{\"attributes\":{\"POSITION\":3},\"mode\":6},{\"attributes\":{\"POSITION\":0},\"indices\":1}]}]," ONE_NODE);
  const uint32_t want[] = {2, 3, 4, 6, 7, 5, 7, 8, 5, 0, 1, 2};
  assert_triangles(&assembly.meshes[0].geometry, want, 4);
  assert_int_equal(assembly.meshes[0].geometry.vertex_count, 9);
  assert_memory_equal(assembly.meshes[0].geometry.vertices + 15, points_as_doubles + 3, 12 * sizeof(double));
  assert_string_equal(assembly.meshes[0].name, "m");
  graze_assembly_free(&assembly);
}

/* What has fewer corners than a triangle is told, with its path; the first of them. */
static void test_hollow(void **state) {
  (void)state;
  graze_assembly assembly =
      must_parse(points, sizeof points,
                 "\"bufferViews\":[" VIEW_OF_POINTS "],\"accessors\":[" POINTS
                 ",{\"bufferView\":0,\"componentType\":5126,\"count\":2,\"type\":\"VEC3\"}],\"meshes\":["
                 "{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]},"
                 "{\"primitives\":[{\"attributes\":{\"POSITION\":1}},{\"attributes\":{\"POSITION\":1},\"mode\":6}]},"
                 "{\"primitives\":[{\"attributes\":{\"POSITION\":1}},{\"attributes\":{\"POSITION\":1},\"mode\":1}]}],"
                 "\"nodes\":[{\"mesh\":0,\"name\":\"a\",\"children\":[1,2,3]},{\"mesh\":2,\"name\":\"b\"},"
                 "{\"mesh\":1,\"name\":\"c\"},{\"mesh\":1,\"name\":\"d\"}]");
  assert_int_equal(assembly.object_count, 1);
  assert_string_equal(assembly.hollow, "a/c");
  graze_assembly_free(&assembly);
}

static void test_stride(void **state) {
  (void)state;
  unsigned char bytes[6 + 5 * 16] = {0};
  for (int i = 0; i < 5; i++) memcpy(bytes + 6 + 16 * i, points + 3 * i, 12); /* at odd places on purpose */
  graze_assembly assembly =
      must_parse(bytes, sizeof bytes,
                 "\"bufferViews\":[{\"buffer\":0,\"byteOffset\":2,\"byteLength\":80,\"byteStride\":16}],\"accessors\":["
                 "{\"bufferView\":0,\"byteOffset\":4,\"componentType\":5126,\"count\":5,\"type\":\"VEC3\"}],"
                 "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":5}]}]," ONE_NODE);
  assert_vertices(&assembly.meshes[0].geometry, points_as_doubles, 5);
  graze_assembly_free(&assembly);
}

#define QUANTIZED(component, normalized)                                                                  \
  "\"extensionsUsed\":[\"KHR_mesh_quantization\"],\"extensionsRequired\":[\"KHR_mesh_quantization\"],"    \
  "\"bufferViews\":[{\"buffer\":0,\"byteLength\":24,\"byteStride\":8}],\"accessors\":[{\"bufferView\":0," \
  "\"componentType\":" component ",\"count\":3,\"type\":\"VEC3\",\"normalized\":" normalized              \
  "}],"                                                                                                   \
  "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}]," ONE_NODE

static void check_quantized(const void *bytes, const char *rest, const double want[9], bool all_float, double step) {
  graze_assembly assembly = must_parse(bytes, 24, rest);
  assert_vertices(&assembly.meshes[0].geometry, want, 3);
  assert_int_equal(assembly.meshes[0].geometry.all_float, all_float);
  assert_true(assembly.meshes[0].geometry.rounding == step / 2 && !assembly.meshes[0].geometry.stored_floats);
  graze_assembly_free(&assembly);
}

static void test_quantized(void **state) {
  (void)state;
  const int8_t b[24] = {-128, -127, 127, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 64, -64};
  const double plain[9] = {-128, -127, 127, 1, 2, 3, 0, 64, -64};
  const double normalized[9] = {-1, -1, 1, 1 / 127.0, 2 / 127.0, 3 / 127.0, 0, 64 / 127.0, -64 / 127.0};
  check_quantized(b, QUANTIZED("5120", "false"), plain, true, 1);
  check_quantized(b, QUANTIZED("5120", "true"), normalized, false, 1 / 127.0);
  const uint8_t u[24] = {255, 0, 51, 0, 0, 0, 0, 0, 1, 2, 3};
  const double from_bytes[9] = {1, 0, 0.2, 1 / 255.0, 2 / 255.0, 3 / 255.0, 0, 0, 0};
  check_quantized(u, QUANTIZED("5121", "true"), from_bytes, false, 1 / 255.0);
  const int16_t s[12] = {-32768, 32767, -32767, 0, 1, 2, 3, 0, 0, 0, 0, 0};
  const double from_shorts[9] = {-1, 1, -1, 1 / 32767.0, 2 / 32767.0, 3 / 32767.0, 0, 0, 0};
  check_quantized(s, QUANTIZED("5122", "true"), from_shorts, false, 1 / 32767.0);
  const uint16_t w[12] = {65535, 0, 13107, 0, 1, 2, 3, 0, 0, 0, 0, 0};
  const double from_words[9] = {65535, 0, 13107, 1, 2, 3, 0, 0, 0};
  check_quantized(w, QUANTIZED("5123", "false"), from_words, true, 1);
  const char *without = strstr(QUANTIZED("5123", "false"), "\"bufferViews\"");
  must_fail(w, 24, without, GRAZE_ERROR_FORMAT, "KHR_mesh_quantization");
}

/* ---- sparse ---- */

typedef struct sparse_file {
  float points[15];
  uint16_t at[2];
  float values[6];
  uint8_t corners[4], corner_at[4], corner_values[4];
} sparse_file;

static const char sparse_rest[] =
    "\"bufferViews\":[" VIEW_OF_POINTS
    ",{\"buffer\":0,\"byteOffset\":60,\"byteLength\":4},"
    "{\"buffer\":0,\"byteOffset\":64,\"byteLength\":24},{\"buffer\":0,\"byteOffset\":88,\"byteLength\":12}],"
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":5,\"type\":\"VEC3\",\"sparse\":{\"count\":2,"
    "\"indices\":{\"bufferView\":1,\"componentType\":5123},\"values\":{\"bufferView\":2}}},"
    "{\"componentType\":5126,\"count\":5,\"type\":\"VEC3\",\"sparse\":{\"count\":2,"
    "\"indices\":{\"bufferView\":1,\"componentType\":5123},\"values\":{\"bufferView\":2}}},"
    "{\"bufferView\":3,\"componentType\":5121,\"count\":3,\"type\":\"SCALAR\",\"sparse\":{\"count\":1,"
    "\"indices\":{\"bufferView\":3,\"byteOffset\":4,\"componentType\":5121},"
    "\"values\":{\"bufferView\":3,\"byteOffset\":8}}}],"
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":2}]},"
    "{\"primitives\":[{\"attributes\":{\"POSITION\":1}}]}],\"nodes\":[{\"mesh\":0},{\"mesh\":1}]";

static sparse_file make_sparse(uint16_t first, uint16_t second) {
  sparse_file file = {.at = {first, second}, .values = {7, 8, 9, -7, -8, -9}};
  const uint8_t corners[4] = {0, 1, 2}, at[4] = {1}, values[4] = {4};
  memcpy(file.points, points, sizeof points);
  memcpy(file.corners, corners, 4);
  memcpy(file.corner_at, at, 4);
  memcpy(file.corner_values, values, 4);
  return file;
}

static void test_sparse(void **state) {
  (void)state;
  sparse_file file = make_sparse(1, 4);
  graze_assembly assembly = must_parse(&file, sizeof file, sparse_rest);
  const double on_points[15] = {0, 0, 0, 7, 8, 9, 0, 1, 0, 1, 1, 0.5, -7, -8, -9};
  const double on_zeros[15] = {0, 0, 0, 7, 8, 9, 0, 0, 0, 0, 0, 0, -7, -8, -9};
  const uint32_t corners[3] = {0, 4, 2};
  assert_vertices(&assembly.meshes[0].geometry, on_points, 5);
  assert_vertices(&assembly.meshes[1].geometry, on_zeros, 5);
  assert_triangles(&assembly.meshes[0].geometry, corners, 1);
  graze_assembly_free(&assembly);
  file = make_sparse(4, 4);
  must_fail(&file, sizeof file, sparse_rest, GRAZE_ERROR_INDEX, "sparse index 4 at 1");
  file = make_sparse(1, 5);
  must_fail(&file, sizeof file, sparse_rest, GRAZE_ERROR_INDEX, "sparse index 5 at 1");
  file = make_sparse(1, 2);
  file.values[4] = NAN;
  must_fail(&file, sizeof file, sparse_rest, GRAZE_ERROR_NOT_FINITE, "y of element 2 of accessor 0 is not finite");
}

/* ---- nodes ---- */

#define ONE_MESH                                                \
  "\"bufferViews\":[" VIEW_OF_POINTS "],\"accessors\":[" POINTS \
  "],"                                                          \
  "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"

static void assert_pose(const graze_pose *pose, const double want[12]) {
  for (int k = 0; k < 12; k++) {
    if (pose->m[k] != want[k]) fail_msg("entry %d is %.17g, not %.17g", k, pose->m[k], want[k]);
  }
}

/* Sums and products whose rounding shows: 0.1 + 0.2 and 3 * 0.1 are both 0.30000000000000004. */
static void test_poses(void **state) {
  (void)state;
  graze_assembly assembly =
      must_parse(points, sizeof points,
                 ONE_MESH
                 "\"nodes\":[{\"children\":[1,2],\"translation\":[0.1,0,0]},{\"mesh\":0,\"translation\":[0.2,0,0]},"
                 "{\"children\":[3],\"scale\":[3,1,2]},{\"mesh\":0,\"translation\":[0.1,5,7]},"
                 "{\"mesh\":0,\"matrix\":[1,2,3,0, 4,5,6,0, 7,8,9,0, 10,11,12,1]},"
                 "{\"mesh\":0,\"rotation\":[0,0,0.6,0.8],\"scale\":[2,3,4],"
                 "\"translation\":[5,6,7]}]");
  assert_int_equal(assembly.object_count, 4);
  const double sum[12] = {1, 0, 0, 0.1 + 0.2, 0, 1, 0, 0, 0, 0, 1, 0};
  const double product[12] = {3, 0, 0, 3 * 0.1 + 0.1, 0, 1, 0, 5, 0, 0, 2, 14};
  const double columns[12] = {1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12};
  assert_pose(&assembly.objects[0].pose, sum);
  assert_pose(&assembly.objects[1].pose, product);
  assert_pose(&assembly.objects[2].pose, columns);
  const double quaternion[4] = {0.8, 0, 0, 0.6}, shift[3] = {5, 6, 7};
  const graze_pose turned = graze_pose_from_quaternion(quaternion, shift);
  const double *t = turned.m; /* its columns times 2, 3 and 4 */
  const double scaled[12] = {t[0] * 2, t[1] * 3, t[2] * 4, 5,        t[4] * 2,  t[5] * 3,
                             t[6] * 4, 6,        t[8] * 2, t[9] * 3, t[10] * 4, 7};
  assert_pose(&assembly.objects[3].pose, scaled);
  assert_true(fabs(t[0] - 0.28) < 1e-15 && fabs(t[4] - 0.96) < 1e-15); /* x turns towards y */
  graze_assembly_free(&assembly);
}

static void test_names(void **state) {
  (void)state;
  static const char *const names[] = {"Site/Pump 3",          "Site/Pump 3/Flange", "Site/Pump 3#2",
                                      "Site/Pump 3#2/Flange", "Site/a/b",           "Site/node6",
                                      "Site/node6#2",         "Site/Pump 3#2#2",    "Site/Pump 3#3"};
  static const char *const parents[] = {"Site", "Site/Pump 3", "Site", "Site/Pump 3#2", "Site",
                                        "Site", "Site",        "Site", "Site"};
  graze_assembly assembly =
      must_parse(points, sizeof points,
                 ONE_MESH
                 "\"nodes\":[{\"name\":\"Site\",\"children\":[1,3,5,6,7,8,9]},"
                 "{\"name\":\"Pump 3\",\"mesh\":0,\"children\":[2]},{\"name\":\"Flange\",\"mesh\":0},"
                 "{\"name\":\"Pump 3\",\"mesh\":0,\"children\":[4]},{\"name\":\"Flange\",\"mesh\":0},"
                 "{\"name\":\"a/b\",\"mesh\":0},{\"mesh\":0},{\"name\":\"node6\",\"mesh\":0},"
                 "{\"name\":\"Pump 3#2\",\"mesh\":0},{\"name\":\"Pump 3\",\"mesh\":0}]");
  assert_int_equal(assembly.object_count, 9);
  assert_int_equal(assembly.mesh_count, 1);
  for (uint32_t i = 0; i < assembly.object_count; i++) {
    assert_string_equal(assembly.objects[i].name, names[i]);
    assert_string_equal(assembly.objects[i].parent, parents[i]);
    assert_int_equal(assembly.objects[i].mesh, 0);
  }
  graze_assembly_free(&assembly);
}

/* Ten thousand bolts of one name: a search for a free number from 2 each time would take minutes. */
static void test_many_names(void **state) {
  (void)state;
  enum { COUNT = 100000 };
  char *rest = malloc(40 * COUNT + 500), *out = rest;
  assert_non_null(rest);
  out += sprintf(out, ONE_MESH "\"nodes\":[");
  for (int i = 0; i < COUNT; i++) out += sprintf(out, "%s{\"name\":\"Bolt\",\"mesh\":0}", i > 0 ? "," : "");
  sprintf(out, "]");
  graze_assembly assembly = must_parse(points, sizeof points, rest);
  assert_int_equal(assembly.object_count, COUNT);
  assert_string_equal(assembly.objects[COUNT - 1].name, "Bolt#100000");
  graze_assembly_free(&assembly);
  free(rest);
}

static void test_scenes(void **state) {
  (void)state;
  static const char nodes[] = ONE_MESH "\"nodes\":[{\"mesh\":0,\"name\":\"a\"},{\"mesh\":0,\"name\":\"b\"}]";
  static const char *const scenes[] = {",\"scenes\":[{\"nodes\":[0]},{\"nodes\":[1]}],\"scene\":1",
                                       ",\"scenes\":[{\"nodes\":[0]},{\"nodes\":[1]}]", "", ",\"scenes\":[{}]"};
  static const char *const want[] = {"b", "a", "ab", ""};
  for (int i = 0; i < 4; i++) {
    char rest[700], got[8] = "";
    snprintf(rest, sizeof rest, "%s%s", nodes, scenes[i]);
    graze_assembly assembly = must_parse(points, sizeof points, rest);
    for (uint32_t k = 0; k < assembly.object_count; k++) strcat(got, assembly.objects[k].name);
    assert_string_equal(got, want[i]);
    graze_assembly_free(&assembly);
  }
}

#define INSTANCES(attributes)                                                                                       \
  "\"extensionsUsed\":[\"EXT_mesh_gpu_instancing\"],\"extensionsRequired\":[\"EXT_mesh_gpu_instancing\"]," ONE_MESH \
  "\"nodes\":[{\"name\":\"Bolts\",\"mesh\":0,\"translation\":[10,0,0],\"extensions\":{\"EXT_mesh_gpu_instancing\":" \
  "{\"attributes\":{" attributes "}}}}]"

static void test_instances(void **state) {
  (void)state;
  graze_assembly assembly = must_parse(points, sizeof points, INSTANCES("\"TRANSLATION\":0"));
  assert_int_equal(assembly.object_count, 5);
  assert_string_equal(assembly.objects[0].name, "Bolts/Bolts");
  assert_string_equal(assembly.objects[4].name, "Bolts/Bolts#5");
  assert_string_equal(assembly.objects[4].parent, "Bolts");
  const double last[12] = {1, 0, 0, 12, 0, 1, 0, 0.25, 0, 0, 1, -1};
  assert_pose(&assembly.objects[4].pose, last);
  graze_assembly_free(&assembly);
  must_fail(points, sizeof points, INSTANCES(""), GRAZE_ERROR_FORMAT, "node 0 (\"Bolts\"): the instances have no");
  must_fail(points, sizeof points, INSTANCES("\"ROTATION\":0"), GRAZE_ERROR_FORMAT, "wrong type");
}

/* ---- containers ---- */

static void put_word(unsigned char *p, uint32_t word) {
  for (int k = 0; k < 4; k++) p[k] = (unsigned char)(word >> 8 * k);
}

/* A GLB file of the points; returns its size. */
static size_t make_glb(unsigned char *out) {
  char json[600];
  int length = snprintf(json, sizeof json,
                        "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":60}]," ONE_MESH ONE_NODE "}");
  while (length % 4 != 0) json[length++] = ' ';
  memcpy(out, "glTF", 4);
  put_word(out + 4, 2);
  put_word(out + 8, (uint32_t)(12 + 8 + length + 8 + 60));
  put_word(out + 12, (uint32_t)length);
  memcpy(out + 16, "JSON", 4);
  memcpy(out + 20, json, (size_t)length);
  put_word(out + 20 + length, 60);
  memcpy(out + 24 + length, "BIN", 4);
  memcpy(out + 28 + length, points, 60);
  return 88 + (size_t)length;
}

/* The whole file, and every beginning of it, which is none. */
static void test_glb(void **state) {
  (void)state;
  unsigned char glb[1000];
  size_t size = make_glb(glb);
  graze_assembly assembly;
  for (size_t i = 1; i < size; i++) {
    assert_int_not_equal(parse(glb, i, "cut.glb", &assembly), GRAZE_OK);
    assert_int_equal(strncmp(shared_error()->message, "cut.glb:", 8), 0);
  }
  assert_int_equal(parse(glb, size, "named.obj", &assembly), GRAZE_OK); /* the content decides */
  assert_vertices(&assembly.meshes[0].geometry, points_as_doubles, 5);
  graze_assembly_free(&assembly);
  put_word(glb + 4, 1);
  assert_int_equal(parse(glb, size, "old.glb", &assembly), GRAZE_ERROR_UNSUPPORTED);
}

/* ---- one geometry of all ---- */

static void test_joined(void **state) {
  (void)state;
  char *text = make_text(points, sizeof points,
                         ONE_MESH
                         "\"nodes\":[{\"name\":\"a\",\"mesh\":0},{\"name\":\"b\",\"mesh\":0,"
                         "\"translation\":[0.1,0,0]}]");
  graze_geometry geometry;
  assert_int_equal(
      graze_parse_geometry(shared_context(1), text, strlen(text), "two.gltf", GRAZE_FORMAT_AUTO, 0, &geometry),
      GRAZE_OK);
  const uint32_t want[] = {0, 1, 2, 5, 6, 7};
  assert_triangles(&geometry, want, 2);
  assert_int_equal(geometry.vertex_count, 10);
  assert_false(geometry.all_float || geometry.stored_floats);
  assert_true(geometry.rounding == 0x1p-23); /* half a unit of the largest coordinate, 2 */
  assert_true(geometry.vertices[3 * 9] == 2 + 0.1);
  assert_int_equal(geometry.group_count, 2);
  assert_string_equal(geometry.groups[1].name, "b");
  assert_int_equal(geometry.groups[1].first_triangle, 1);
  assert_int_equal(geometry.groups[1].triangle_count, 1);
  graze_geometry_free(&geometry);
  free(text);
  text = make_text(points, sizeof points, ONE_MESH "\"nodes\":[{\"name\":\"far\",\"mesh\":0,\"scale\":[1.5e308,1,1]}]");
  assert_int_equal(
      graze_parse_geometry(shared_context(1), text, strlen(text), "far.gltf", GRAZE_FORMAT_AUTO, 0, &geometry),
      GRAZE_ERROR_NOT_FINITE);
  assert_string_equal(shared_error()->message, "far.gltf: object \"far\": vertex 4 is not finite in place");
  assert_null(geometry.vertices);
  free(text);
}

static graze_pose pose_of_rotation(const double q[4]) {
  char rest[600], numbers[4][32];
  for (int k = 0; k < 4; k++) graze_format_double(q[k], numbers[k]);
  snprintf(rest, sizeof rest,
           "\"nodes\":[{\"mesh\":0,\"rotation\":[%s,%s,%s,%s]}]," ONE_MESH "\"scene\":0,\"scenes\":[{\"nodes\":[0]}]",
           numbers[0], numbers[1], numbers[2], numbers[3]);
  graze_assembly assembly = must_parse(points, sizeof points, rest);
  graze_pose pose = assembly.objects[0].pose;
  graze_assembly_free(&assembly);
  return pose;
}

/* Whether the pose is a turn of the cube, and the one that it should be. */
static bool is_turn(const graze_pose *pose, const double q[4]) {
  const double wxyz[4] = {q[3], q[0], q[1], q[2]}, nowhere[3] = {0, 0, 0};
  const graze_pose rounded = graze_pose_from_quaternion(wxyz, nowhere);
  for (int k = 0; k < 12; k++) {
    assert_true(fabs(pose->m[k] - rounded.m[k]) < 1e-6);
    if (pose->m[k] != rint(pose->m[k])) return false;
  }
  return true;
}

/* Every turn of the cube, in doubles and in floats that are off by some units in the last place, and a little more. */
static void test_turns(void **state) {
  (void)state;
  static const double sizes[] = {0, 1, 0.70710678118654752, 0, 0.5};
  int tried = 0;
  for (int code = 0; code < 81; code++) {
    int s[4] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 % 3 - 1, code / 27 - 1}, count = 0;
    double exact[4], floats[4], beside[4], near[4];
    for (int k = 0; k < 4; k++) count += s[k] != 0;
    if (count == 0 || count == 3) continue;
    for (int k = 0; k < 4; k++) {
      exact[k] = s[k] * sizes[count];
      floats[k] = (float)(exact[k] + (code + k) % 3 * 0x1p-24);
      near[k] = exact[k] + ((code + 3 * k) % 5 - 2) * 0x1p-53;
      beside[k] = exact[k] + (k == code % 4 ? 1e-14 : 0);
    }
    const graze_pose poses[] = {pose_of_rotation(exact), pose_of_rotation(near), pose_of_rotation(floats),
                                pose_of_rotation(beside)};
    assert_true(is_turn(&poses[0], exact) && is_turn(&poses[1], exact) && is_turn(&poses[2], exact));
    bool moved = memcmp(&poses[3], &poses[0], sizeof poses[0]) != 0;
    assert_true(moved || count == 1); /* longer is no other turn */
    tried++;
  }
  assert_int_equal(tried, 8 + 24 + 16);
}

static void test_plain_files(void **state) {
  (void)state;
  static const char obj[] =
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\no a\nf 2 3 4\no none\no a\nf 1 2 4\nf 1 3 4\n";
  static const char *const names[] = {"model.v2", "a", "a#2"};
  graze_assembly assembly;
  assert_int_equal(graze_parse_assembly(shared_context(0), obj, sizeof obj - 1, "folder/model.v2.obj",
                                        GRAZE_FORMAT_AUTO, 0, &assembly),
                   GRAZE_OK);
  assert_int_equal(assembly.object_count, 1);
  assert_int_equal(assembly.format, GRAZE_FORMAT_OBJ);
  assert_string_equal(assembly.units, "");
  assert_string_equal(assembly.objects[0].name, "model.v2");
  assert_int_equal(assembly.meshes[0].geometry.triangle_count, 4);
  assert_int_equal(assembly.meshes[0].geometry.group_count, 3);
  graze_assembly_free(&assembly);
  assert_int_equal(graze_parse_assembly(shared_context(0), obj, sizeof obj - 1, "folder/model.v2.obj",
                                        GRAZE_FORMAT_AUTO, GRAZE_READ_GROUPS, &assembly),
                   GRAZE_OK);
  assert_int_equal(assembly.object_count, 3);
  assert_int_equal(assembly.mesh_count, 3);
  for (uint32_t i = 0; i < 3; i++) assert_string_equal(assembly.objects[i].name, names[i]);
  const uint32_t second[] = {0, 1, 2}, third[] = {0, 1, 2, 0, 3, 2};
  const double corners[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  assert_triangles(&assembly.meshes[1].geometry, second, 1);
  assert_vertices(&assembly.meshes[1].geometry, corners, 3);
  assert_triangles(&assembly.meshes[2].geometry, third, 2);
  graze_assembly_free(&assembly);
  assert_int_equal(graze_read_assembly(shared_context(0), NULL, GRAZE_FORMAT_AUTO, 0, &assembly), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_read_assembly(shared_context(0), "x.glb", (graze_file_format)99, 0, &assembly),
                   GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_read_assembly(shared_context(0), "x.glb", GRAZE_FORMAT_AUTO, 0, NULL), GRAZE_ERROR_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_indices),     cmocka_unit_test(test_modes),  cmocka_unit_test(test_primitives),
      cmocka_unit_test(test_hollow),      cmocka_unit_test(test_stride), cmocka_unit_test(test_quantized),
      cmocka_unit_test(test_sparse),      cmocka_unit_test(test_poses),  cmocka_unit_test(test_names),
      cmocka_unit_test(test_many_names),  cmocka_unit_test(test_scenes), cmocka_unit_test(test_instances),
      cmocka_unit_test(test_glb),         cmocka_unit_test(test_joined), cmocka_unit_test(test_turns),
      cmocka_unit_test(test_plain_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
