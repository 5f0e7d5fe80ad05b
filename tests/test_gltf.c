/* Assemblies: the glTF reader on files made here and on the corpus of damaged ones, plain mesh files as assemblies, and
 * the import through another program, with programs made here that misbehave. What is expected follows from the glTF
 * specification and was worked out by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graze/io.h"
#include "support.h"

/* ---- helpers ---- */

static char scratch[] = "/tmp/graze_gltf_XXXXXX";

static const char *scratch_path(const char *name) {
  static char paths[4][256];
  static int turn;
  turn = (turn + 1) % 4;
  snprintf(paths[turn], sizeof paths[turn], "%s/%s", scratch, name);
  return paths[turn];
}

static void write_file(const char *name, const void *bytes, size_t size) {
  FILE *file = fopen(scratch_path(name), "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

/* A copy without room behind it, so that the address sanitizer sees a read past the end. */
static graze_status parse(const void *data, size_t size, const char *name, graze_assembly *assembly,
                          graze_io_error *error) {
  char *copy = malloc(size > 0 ? size : 1);
  assert_non_null(copy);
  memcpy(copy, data, size);
  graze_status status = graze_parse_assembly(copy, size, name, GRAZE_FORMAT_AUTO, false, 1, assembly, error);
  free(copy);
  assert_int_equal(status, error->status);
  return status;
}

static char *base64(const unsigned char *bytes, size_t size) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char *text = calloc(1, 4 * (size / 3 + 2)), *out = text;
  assert_non_null(text);
  for (size_t i = 0; i < size; i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; k++) bits = bits << 8 | (i + k < size ? bytes[i + k] : 0);
    for (size_t k = 0; k < 4; k++) *out++ = i + k <= size ? letters[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

/* A .gltf with one buffer of these bytes; `rest` are the members of the root behind it. */
static char *make_text(const void *bytes, size_t size, const char *rest) {
  char *data = base64(bytes, size);
  size_t room = strlen(data) + strlen(rest) + 200;
  char *text = malloc(room);
  assert_non_null(text);
  snprintf(text, room,
           "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":%zu,\"uri\":"
           "\"data:application/octet-stream;base64,%s\"}]%s%s}",
           size, data, *rest ? "," : "", rest);
  free(data);
  return text;
}

static graze_status parse_made(const void *bytes, size_t size, const char *rest, graze_assembly *assembly,
                               graze_io_error *error) {
  char *text = make_text(bytes, size, rest);
  graze_status status = parse(text, strlen(text), "made.gltf", assembly, error);
  free(text);
  return status;
}

static graze_assembly must_parse(const void *bytes, size_t size, const char *rest) {
  graze_assembly assembly;
  graze_io_error error;
  if (parse_made(bytes, size, rest, &assembly, &error) != GRAZE_OK) fail_msg("%s", error.message);
  assert_string_equal(assembly.units, "m");
  assert_int_equal(assembly.format, GRAZE_FORMAT_GLTF);
  return assembly;
}

static void must_fail(const void *bytes, size_t size, const char *rest, graze_status status, const char *reason) {
  graze_assembly assembly;
  graze_io_error error;
  graze_status got = parse_made(bytes, size, rest, &assembly, &error);
  if (got != status || strstr(error.message, reason) == NULL) {
    fail_msg("wanted %d \"%s\", got %d \"%s\"", status, reason, got, error.message);
  }
  assert_null(assembly.meshes);
  assert_int_equal(assembly.mesh_count + assembly.object_count, 0);
  graze_assembly_free(&assembly);
}

static void assert_triangles(const graze_geometry *geometry, const uint32_t *indices, uint64_t count) {
  assert_int_equal(geometry->triangle_count, count);
  assert_memory_equal(geometry->indices, indices, 3 * count * sizeof *indices);
}

static void assert_vertices(const graze_geometry *geometry, const double *vertices, uint64_t count) {
  assert_int_equal(geometry->vertex_count, count);
  for (uint64_t i = 0; i < 3 * count; i++) assert_true(geometry->vertices[i] == vertices[i]);
}

/* Five points: 60 bytes. */
static const float points[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0.5F, 2, 0.25F, -1};
static const double points_as_doubles[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0.5, 2, 0.25, -1};

#define VIEW_OF_POINTS "{\"buffer\":0,\"byteLength\":60}"
#define POINTS         "{\"bufferView\":0,\"componentType\":5126,\"count\":5,\"type\":\"VEC3\"}"
#define ONE_NODE       "\"nodes\":[{\"mesh\":0,\"name\":\"n\"}]"

/* ---- geometry ---- */

typedef struct point_file { /* the points, then indices */
  float points[15];
  unsigned char indices[24];
} point_file;

static point_file with_indices(const void *indices, size_t size) {
  point_file file;
  memcpy(file.points, points, sizeof points);
  memset(file.indices, 0, sizeof file.indices);
  memcpy(file.indices, indices, size);
  return file;
}

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

static void check_quantized(const void *bytes, const char *rest, const double want[9], bool all_float) {
  graze_assembly assembly = must_parse(bytes, 24, rest);
  assert_vertices(&assembly.meshes[0].geometry, want, 3);
  assert_int_equal(assembly.meshes[0].geometry.all_float, all_float);
  graze_assembly_free(&assembly);
}

static void test_quantized(void **state) {
  (void)state;
  const int8_t b[24] = {-128, -127, 127, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 64, -64};
  const double plain[9] = {-128, -127, 127, 1, 2, 3, 0, 64, -64};
  const double normalized[9] = {-1, -1, 1, 1 / 127.0, 2 / 127.0, 3 / 127.0, 0, 64 / 127.0, -64 / 127.0};
  check_quantized(b, QUANTIZED("5120", "false"), plain, true);
  check_quantized(b, QUANTIZED("5120", "true"), normalized, false);
  const uint8_t u[24] = {255, 0, 51, 0, 0, 0, 0, 0, 1, 2, 3};
  const double from_bytes[9] = {1, 0, 0.2, 1 / 255.0, 2 / 255.0, 3 / 255.0, 0, 0, 0};
  check_quantized(u, QUANTIZED("5121", "true"), from_bytes, false);
  const int16_t s[12] = {-32768, 32767, -32767, 0, 1, 2, 3, 0, 0, 0, 0, 0};
  const double from_shorts[9] = {-1, 1, -1, 1 / 32767.0, 2 / 32767.0, 3 / 32767.0, 0, 0, 0};
  check_quantized(s, QUANTIZED("5122", "true"), from_shorts, false);
  const uint16_t w[12] = {65535, 0, 13107, 0, 1, 2, 3, 0, 0, 0, 0, 0};
  const double from_words[9] = {65535, 0, 13107, 1, 2, 3, 0, 0, 0};
  check_quantized(w, QUANTIZED("5123", "false"), from_words, true);
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
                 "{\"mesh\":0,\"rotation\":[0,0,0.7071067811865476,0.7071067811865476],\"scale\":[2,3,4],"
                 "\"translation\":[5,6,7]}]");
  assert_int_equal(assembly.object_count, 4);
  const double sum[12] = {1, 0, 0, 0.1 + 0.2, 0, 1, 0, 0, 0, 0, 1, 0};
  const double product[12] = {3, 0, 0, 3 * 0.1 + 0.1, 0, 1, 0, 5, 0, 0, 2, 14};
  const double columns[12] = {1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12};
  assert_pose(&assembly.objects[0].pose, sum);
  assert_pose(&assembly.objects[1].pose, product);
  assert_pose(&assembly.objects[2].pose, columns);
  const double quaternion[4] = {0.7071067811865476, 0, 0, 0.7071067811865476}, shift[3] = {5, 6, 7};
  const graze_pose turned = graze_pose_from_quaternion(quaternion, shift);
  const double *t = turned.m; /* its columns times 2, 3 and 4 */
  const double scaled[12] = {t[0] * 2, t[1] * 3, t[2] * 4, 5,        t[4] * 2,  t[5] * 3,
                             t[6] * 4, 6,        t[8] * 2, t[9] * 3, t[10] * 4, 7};
  assert_pose(&assembly.objects[3].pose, scaled);
  assert_true(fabs(t[1] + 1) < 1e-15 && fabs(t[4] - 1) < 1e-15); /* x turns to y */
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

/* ---- faults ---- */

typedef struct fault_case {
  const char *rest;
  graze_status status;
  const char *reason;
} fault_case;

#define MESH(primitive) "\"meshes\":[{\"primitives\":[" primitive "]}]"
#define WITH_POINTS     "\"bufferViews\":[" VIEW_OF_POINTS "],\"accessors\":[" POINTS "],"

static const fault_case fault_cases[] = {
    {"\"bufferViews\":[{\"buffer\":1,\"byteLength\":4}]", GRAZE_ERROR_INDEX,
     "bufferView 0: \"buffer\" names number 1, but there are 1"},
    {"\"bufferViews\":[{\"buffer\":0,\"byteOffset\":1,\"byteLength\":60}]", GRAZE_ERROR_FORMAT,
     "bufferView 0: bytes 1 to 61 of buffer 0, which has 60"},
    {"\"bufferViews\":[{\"buffer\":0,\"byteOffset\":9007199254740991,\"byteLength\":60}]", GRAZE_ERROR_FORMAT,
     "bufferView 0: bytes"},
    {"\"bufferViews\":[{\"buffer\":0,\"byteOffset\":-1,\"byteLength\":60}]", GRAZE_ERROR_FORMAT,
     "\"byteOffset\" is not a whole number"},
    {"\"bufferViews\":[{\"buffer\":0,\"byteLength\":1e300}]", GRAZE_ERROR_FORMAT, "\"byteLength\" is not a whole"},
    {"\"bufferViews\":[{\"buffer\":0,\"byteLength\":60,\"byteStride\":10}]", GRAZE_ERROR_FORMAT,
     "\"byteStride\" is 10"},
    {"\"bufferViews\":[{\"buffer\":0,\"byteLength\":60,\"byteStride\":256}]", GRAZE_ERROR_FORMAT, "more than 252"},
    {"\"bufferViews\":[" VIEW_OF_POINTS "],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":6,"
     "\"type\":\"VEC3\"}]",
     GRAZE_ERROR_FORMAT, "accessor 0: 6 elements need 72 bytes of bufferView 0, which has 60"},
    {"\"bufferViews\":[" VIEW_OF_POINTS "],\"accessors\":[{\"bufferView\":0,\"byteOffset\":9007199254740991,"
     "\"componentType\":5126,\"count\":9007199254740991,\"type\":\"VEC3\"}]",
     GRAZE_ERROR_FORMAT, "accessor 0: 9007199254740991 elements need"},
    {"\"bufferViews\":[{\"buffer\":0,\"byteLength\":60,\"byteStride\":8}],\"accessors\":[" POINTS "]",
     GRAZE_ERROR_FORMAT, "\"byteStride\" is 8, an element has 12 bytes"},
    {"\"bufferViews\":[" VIEW_OF_POINTS "],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":5,"
     "\"type\":\"VEC3\",\"sparse\":{\"count\":6}}]",
     GRAZE_ERROR_FORMAT, "\"count\" is 6, more than 5"},
    {"\"bufferViews\":[" VIEW_OF_POINTS "],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":5,"
     "\"type\":\"VEC3\",\"sparse\":{\"count\":5,\"indices\":{\"bufferView\":0,\"byteOffset\":56,\"componentType\":5121}"
     ","
     "\"values\":{\"bufferView\":0}}}]",
     GRAZE_ERROR_FORMAT, "accessor 0: 5 elements need 61 bytes"},
    {WITH_POINTS MESH("{\"attributes\":{\"POSITION\":1}}"), GRAZE_ERROR_INDEX,
     "mesh 0 primitive 0: \"POSITION\" names number 1"},
    {WITH_POINTS MESH("{\"attributes\":{\"NORMAL\":0}}"), GRAZE_ERROR_FORMAT,
     "mesh 0 primitive 0: \"POSITION\" is missing"},
    {WITH_POINTS MESH("{\"attributes\":{\"POSITION\":0},\"mode\":7}"), GRAZE_ERROR_FORMAT,
     "\"mode\" is 7, more than 6"},
    {WITH_POINTS MESH("{\"attributes\":{\"POSITION\":0},\"indices\":0}"), GRAZE_ERROR_FORMAT,
     "the indices are not SCALAR"},
    {WITH_POINTS "\"meshes\":[{\"primitives\":[]}]", GRAZE_ERROR_FORMAT, "mesh 0: no \"primitives\""},
    {"\"accessors\":[{\"componentType\":5126,\"count\":1048577,\"type\":\"VEC3\"}]," MESH(
         "{\"attributes\":{\"POSITION\":0}}"),
     GRAZE_ERROR_LIMIT, "mesh 0 primitive 0: more than 1048576 elements"},
    {"\"accessors\":[{\"componentType\":5126,\"count\":9007199254740991,\"type\":\"VEC3\"}]," MESH(
         "{\"attributes\":{\"POSITION\":0}}"),
     GRAZE_ERROR_LIMIT, "more than 1048576 elements"},
    {"\"nodes\":[{\"mesh\":0}]", GRAZE_ERROR_INDEX, "node 0: \"mesh\" names number 0, but there are 0"},
    {"\"nodes\":[{\"children\":[1]}]", GRAZE_ERROR_INDEX, "node 0: \"children\" names number 1"},
    {"\"nodes\":[{\"name\":\"a\",\"children\":[0]}]", GRAZE_ERROR_FORMAT, "node 0 (\"a\"): it is below itself"},
    {"\"nodes\":[{},{\"children\":[2]},{\"children\":[3]},{\"children\":[1]}]", GRAZE_ERROR_FORMAT, "below itself"},
    {"\"nodes\":[{\"children\":[1,1]},{}]", GRAZE_ERROR_FORMAT, "node 1: it is a child of node 0 and of node 0"},
    {"\"nodes\":[{}],\"scenes\":[{\"nodes\":[0,0]}]", GRAZE_ERROR_FORMAT, "scene 0: node 0 is listed twice"},
    {"\"nodes\":[{}],\"scenes\":[{\"nodes\":[1]}]", GRAZE_ERROR_INDEX, "scene 0: \"nodes\" names number 1"},
    {"\"nodes\":[{\"name\":\"a\",\"scale\":[1e308,1,1],\"children\":[1]},{\"name\":\"b\",\"scale\":[1e308,1,1]}]",
     GRAZE_ERROR_POSE, "node 1 (\"b\"): its pose in the world is not finite"},
    {"\"nodes\":[{\"matrix\":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,2]}]", GRAZE_ERROR_POSE, "the last row of \"matrix\""},
    {"\"nodes\":[{\"matrix\":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1],\"scale\":[1,1,1]}]", GRAZE_ERROR_FORMAT,
     "both \"matrix\" and"},
    {"\"nodes\":[{\"matrix\":[1,2,3]}]", GRAZE_ERROR_FORMAT, "\"matrix\" is not an array of 16 numbers"},
    {"\"nodes\":[{\"translation\":[1e999,0,0]}]", GRAZE_ERROR_NOT_FINITE, "made.gltf:1:"},
    {"\"nodes\":[{\"rotation\":[0,0,0,0]}]", GRAZE_ERROR_FORMAT, "\"rotation\" is not a unit quaternion"},
    {"\"nodes\":[{\"name\":7}]", GRAZE_ERROR_FORMAT, "node 0: \"name\" is not a string"},
    {"\"nodes\":[7]", GRAZE_ERROR_FORMAT, "entry 0 of \"nodes\" is not an object"},
    {"\"nodes\":{}", GRAZE_ERROR_FORMAT, "\"nodes\" is not an array"},
    {"\"extensionsRequired\":[\"EXT_meshopt_compression\"]", GRAZE_ERROR_UNSUPPORTED,
     "the file requires the extension EXT_meshopt_compression"},
    {"\"extensionsRequired\":[7]", GRAZE_ERROR_FORMAT, "entry 0 of \"extensionsRequired\" is not a string"},
    {"\"extensionsUsed\":[\"KHR_draco_mesh_compression\"],\"accessors\":[{\"componentType\":5126,\"count\":3,"
     "\"type\":\"VEC3\"}]," MESH(
         "{\"attributes\":{\"POSITION\":0},\"extensions\":{\"KHR_draco_mesh_compression\":{}}}"),
     GRAZE_ERROR_UNSUPPORTED, "mesh 0 primitive 0: KHR_draco_mesh_compression"},
};

static void test_faults(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof fault_cases / sizeof fault_cases[0]; i++) {
    must_fail(points, sizeof points, fault_cases[i].rest, fault_cases[i].status, fault_cases[i].reason);
  }
  float broken[15];
  memcpy(broken, points, sizeof broken);
  broken[11] = INFINITY;
  must_fail(broken, sizeof broken, ONE_MESH ONE_NODE, GRAZE_ERROR_NOT_FINITE,
            "mesh 0 primitive 0: z of element 3 of accessor 0 is not finite");
}

static void check_index_fault(uint8_t corner, const char *reason) {
  const uint8_t bytes[] = {0, 1, 2, 3, 2, corner};
  point_file file = with_indices(bytes, sizeof bytes);
  must_fail(&file, sizeof file,
            "\"bufferViews\":[" VIEW_OF_POINTS
            ",{\"buffer\":0,\"byteOffset\":60,\"byteLength\":6}],\"accessors\":[" POINTS
            ",{\"bufferView\":1,\"componentType\":5121,\"count\":6,\"type\":\"SCALAR\"}],"
            "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}},"
            "{\"attributes\":{\"POSITION\":0},\"indices\":1}]}]",
            GRAZE_ERROR_INDEX, reason);
}

static void test_index_faults(void **state) {
  (void)state;
  check_index_fault(17, "mesh 0 primitive 1: index 17 at 5 is out of range: there are 5 vertices");
  check_index_fault(5, "mesh 0 primitive 1: index 5 at 5 is out of range");
}

/* A chain of nodes so deep that its paths would fill the memory. */
static void test_deep_tree(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  char *rest = malloc(40 * COUNT), *out = rest;
  assert_non_null(rest);
  out += sprintf(out, "\"nodes\":[");
  for (int i = 0; i < COUNT - 1; i++) out += sprintf(out, "{\"children\":[%d]},", i + 1);
  sprintf(out, "{}]");
  must_fail(points, sizeof points, rest, GRAZE_ERROR_LIMIT, "the path of its names is longer than 4096 bytes");
  free(rest);
}

/* ---- containers and files ---- */

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
  graze_io_error error;
  for (size_t i = 1; i < size; i++) {
    assert_int_not_equal(parse(glb, i, "cut.glb", &assembly, &error), GRAZE_OK);
    assert_int_equal(strncmp(error.message, "cut.glb:", 8), 0);
  }
  assert_int_equal(parse(glb, size, "named.obj", &assembly, &error), GRAZE_OK); /* the content decides */
  assert_vertices(&assembly.meshes[0].geometry, points_as_doubles, 5);
  graze_assembly_free(&assembly);
  put_word(glb + 4, 1);
  assert_int_equal(parse(glb, size, "old.glb", &assembly, &error), GRAZE_ERROR_UNSUPPORTED);
}

static void test_versions(void **state) {
  (void)state;
  static const char *const texts[] = {"{\"asset\":{\"version\":\"1.0\"}}",
                                      "{\"asset\":{\"version\":\"2.1\",\"minVersion\":\"2.1\"}}",
                                      "{\"asset\":{\"version\":2.0}}",
                                      "{}",
                                      "[]",
                                      "{\"asset\":{},\"asset\":{}}"};
  static const graze_status want[] = {GRAZE_ERROR_UNSUPPORTED, GRAZE_ERROR_UNSUPPORTED, GRAZE_ERROR_FORMAT,
                                      GRAZE_ERROR_FORMAT,      GRAZE_ERROR_FORMAT,      GRAZE_ERROR_FORMAT};
  for (int i = 0; i < 6; i++) {
    graze_assembly assembly;
    graze_io_error error;
    assert_int_equal(parse(texts[i], strlen(texts[i]), "v.gltf", &assembly, &error), want[i]);
  }
}

static graze_status read_with_uri(const char *uri, graze_io_error *error) {
  char text[700];
  int length = snprintf(
      text, sizeof text,
      "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":60,\"uri\":\"%s\"}]," ONE_MESH ONE_NODE "}", uri);
  write_file("uri.gltf", text, (size_t)length);
  graze_assembly assembly;
  graze_status status = graze_read_assembly(scratch_path("uri.gltf"), GRAZE_FORMAT_AUTO, false, 1, &assembly, error);
  if (status == GRAZE_OK) assert_vertices(&assembly.meshes[0].geometry, points_as_doubles, 5);
  graze_assembly_free(&assembly);
  return status;
}

static void test_uris(void **state) {
  (void)state;
  static const struct {
    const char *uri;
    graze_status status;
  } cases[] = {{"points.bin", GRAZE_OK},
               {"two%20words%2E%62in", GRAZE_OK},
               {"folder/points.bin", GRAZE_OK},
               {"./folder/..points", GRAZE_OK},
               {"short.bin", GRAZE_ERROR_FORMAT},
               {"absent.bin", GRAZE_ERROR_FILE},
               {"folder", GRAZE_ERROR_FILE},
               {"", GRAZE_ERROR_FORMAT},
               {"..", GRAZE_ERROR_FORMAT},
               {"folder/../points.bin", GRAZE_ERROR_FORMAT},
               {"folder/%2e%2E/points.bin", GRAZE_ERROR_FORMAT},
               {"..%2fpoints.bin", GRAZE_ERROR_FORMAT},
               {"/etc/passwd", GRAZE_ERROR_FORMAT},
               {"%2Fetc/passwd", GRAZE_ERROR_FORMAT},
               {"points.bin%00", GRAZE_ERROR_FORMAT},
               {"points%2", GRAZE_ERROR_FORMAT},
               {"file:///etc/passwd", GRAZE_ERROR_UNSUPPORTED},
               {"https://example.org/points.bin", GRAZE_ERROR_UNSUPPORTED},
               {"data:application/octet-stream;base64,AAAA", GRAZE_ERROR_FORMAT},
               {"data:application/octet-stream;base64,A", GRAZE_ERROR_FORMAT},
               {"data:application/octet-stream;base64,AA*A", GRAZE_ERROR_FORMAT},
               {"data:text/plain;base64,AAAA", GRAZE_ERROR_FORMAT},
               {"data:", GRAZE_ERROR_FORMAT}};
  assert_int_equal(mkdir(scratch_path("folder"), 0700), 0);
  write_file("points.bin", points, sizeof points);
  write_file("two words.bin", points, sizeof points);
  write_file("folder/points.bin", points, sizeof points);
  write_file("folder/..points", points, sizeof points);
  write_file("short.bin", points, sizeof points - 1);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    graze_io_error error;
    graze_status status = read_with_uri(cases[i].uri, &error);
    if (status != cases[i].status) fail_msg("\"%s\": %d, %s", cases[i].uri, status, error.message);
  }
}

/* ---- one geometry of all ---- */

static void test_joined(void **state) {
  (void)state;
  char *text = make_text(points, sizeof points,
                         ONE_MESH
                         "\"nodes\":[{\"name\":\"a\",\"mesh\":0},{\"name\":\"b\",\"mesh\":0,"
                         "\"translation\":[0.1,0,0]}]");
  graze_geometry geometry;
  graze_io_error error;
  assert_int_equal(graze_parse_geometry(text, strlen(text), "two.gltf", GRAZE_FORMAT_AUTO, 1, &geometry, &error),
                   GRAZE_OK);
  const uint32_t want[] = {0, 1, 2, 5, 6, 7};
  assert_triangles(&geometry, want, 2);
  assert_int_equal(geometry.vertex_count, 10);
  assert_false(geometry.all_float);
  assert_true(geometry.vertices[3 * 9] == 2 + 0.1);
  assert_int_equal(geometry.group_count, 2);
  assert_string_equal(geometry.groups[1].name, "b");
  assert_int_equal(geometry.groups[1].first_triangle, 1);
  assert_int_equal(geometry.groups[1].triangle_count, 1);
  graze_geometry_free(&geometry);
  free(text);
  text = make_text(points, sizeof points, ONE_MESH "\"nodes\":[{\"name\":\"far\",\"mesh\":0,\"scale\":[1.5e308,1,1]}]");
  assert_int_equal(graze_parse_geometry(text, strlen(text), "far.gltf", GRAZE_FORMAT_AUTO, 1, &geometry, &error),
                   GRAZE_ERROR_NOT_FINITE);
  assert_string_equal(error.message, "far.gltf: object \"far\": vertex 4 is not finite in place");
  assert_null(geometry.vertices);
  free(text);
}

static void test_plain_files(void **state) {
  (void)state;
  static const char obj[] =
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\no a\nf 2 3 4\no none\no a\nf 1 2 4\nf 1 3 4\n";
  static const char *const names[] = {"model.v2", "a", "a#2"};
  graze_assembly assembly;
  graze_io_error error;
  assert_int_equal(
      graze_parse_assembly(obj, sizeof obj - 1, "folder/model.v2.obj", GRAZE_FORMAT_AUTO, false, 0, &assembly, &error),
      GRAZE_OK);
  assert_int_equal(assembly.object_count, 1);
  assert_int_equal(assembly.format, GRAZE_FORMAT_OBJ);
  assert_string_equal(assembly.units, "");
  assert_string_equal(assembly.objects[0].name, "model.v2");
  assert_int_equal(assembly.meshes[0].geometry.triangle_count, 4);
  assert_int_equal(assembly.meshes[0].geometry.group_count, 3);
  graze_assembly_free(&assembly);
  assert_int_equal(
      graze_parse_assembly(obj, sizeof obj - 1, "folder/model.v2.obj", GRAZE_FORMAT_AUTO, true, 0, &assembly, &error),
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
  assert_int_equal(graze_read_assembly(NULL, GRAZE_FORMAT_AUTO, false, 0, &assembly, &error), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_read_assembly("x.glb", (graze_file_format)99, false, 0, &assembly, NULL),
                   GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_read_assembly("x.glb", GRAZE_FORMAT_AUTO, false, 0, NULL, NULL), GRAZE_ERROR_ARGUMENT);
}

/* ---- the corpus ---- */

/* What its judge finds wrong with these, or does not, is not what the reader looks at. */
static const char *const exceptions[][2] = {
    {"gltf-validator/accessor_data/out_of_range_elements_uint16.gltf", "min and max are not read"},
    {"gltf-validator/mesh_data/colors_non_clamped.gltf", "colours are not read"},
    {"gltf-validator/root/named_objects.gltf", "valid, but without the bytes of its triangles"},
};

static bool is_exception(const char *name) {
  for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++) {
    if (strcmp(exceptions[i][0], name) == 0) return true;
  }
  return false;
}

/* Every beginning of a short file and many of a long one, from memory. */
static void check_beginnings(const char *path) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  static char bytes[1 << 18];
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  for (size_t i = 1; i < size; i += size / 300 + 1) {
    graze_assembly assembly;
    graze_io_error error;
    parse(bytes, i, path, &assembly, &error);
    graze_assembly_free(&assembly);
  }
}

static void check_corpus_file(const char *folder, const char *name, const char *expect) {
  char path[1400];
  snprintf(path, sizeof path, "%s/data/bad/%s", folder, name);
  graze_assembly assembly;
  graze_io_error error;
  graze_status status = graze_read_assembly(path, GRAZE_FORMAT_AUTO, false, 0, &assembly, &error);
  if (is_exception(name)) {
    assert_int_equal(status == GRAZE_OK, strcmp(expect, "invalid") == 0);
  } else {
    if (status == GRAZE_OK && strcmp(expect, "invalid") == 0) fail_msg("%s must be refused", name);
    if (status != GRAZE_OK && strcmp(expect, "valid") == 0) fail_msg("%s must load: %s", name, error.message);
  }
  if (status != GRAZE_OK) assert_int_equal(strncmp(error.message, path, strlen(path)), 0);
  graze_assembly_free(&assembly);
  check_beginnings(path);
}

static void test_corpus(void **state) {
  (void)state;
  const char *folder = test_shared();
  if (folder == NULL) {
    puts("SKIPPED test_gltf: the corpus of damaged files is not there");
    skip();
  }
  FILE *list = test_open_data("bad/MANIFEST.csv");
  char line[1024], *fields[8];
  int files = 0;
  while (fgets(line, sizeof line, list) != NULL) {
    if (test_split(line, fields, 8) < 4) continue;
    if (strcmp(fields[1], "gltf") != 0 && strcmp(fields[1], "glb") != 0) continue;
    check_corpus_file(folder, fields[0], fields[3]);
    files++;
  }
  test_close_data(list, "bad/MANIFEST.csv");
  assert_true(files >= 70);
}

/* ---- importing ---- */

/* A program that stands in for graze-import. */
static void set_import(const char *script) {
  write_file("import.sh", script, strlen(script));
  assert_int_equal(chmod(scratch_path("import.sh"), 0700), 0);
  setenv("GRAZE_IMPORT", scratch_path("import.sh"), 1);
}

static graze_status import(graze_assembly *assembly, graze_io_error *error) {
  return graze_read_assembly(scratch_path("model.dae"), GRAZE_FORMAT_AUTO, false, 1, assembly, error);
}

static void must_not_import(const char *script, graze_status status, const char *reason) {
  graze_assembly assembly;
  graze_io_error error;
  set_import(script);
  graze_status got = import(&assembly, &error);
  if (got != status || strstr(error.message, reason) == NULL) {
    fail_msg("wanted %d \"%s\", got %d \"%s\"", status, reason, got, error.message);
  }
  assert_null(assembly.meshes);
}

static void test_bad_importers(void **state) {
  (void)state;
  write_file("model.dae", "<COLLADA/>", 10);
  must_not_import("#!/bin/sh\nkill -SEGV $$\n", GRAZE_ERROR_FORMAT, "crashed on it (signal 11)");
  must_not_import("#!/bin/sh\nkill -XCPU $$\n", GRAZE_ERROR_FORMAT, "went over its limits");
  setenv("GRAZE_IMPORT_SECONDS", "1", 1);
  must_not_import("#!/bin/sh\nexec sleep 20\n", GRAZE_ERROR_FORMAT, "importing was stopped after 1 s");
  unsetenv("GRAZE_IMPORT_SECONDS");
  must_not_import("#!/bin/sh\nexit 1\n", GRAZE_ERROR_FORMAT, "gave no whole model");
  must_not_import("#!/bin/sh\necho GRZSCENEandmore\n", GRAZE_ERROR_FORMAT, "gave no whole model");
  must_not_import("#!/bin/sh\nprintf 'GRZFAULT\\007\\0\\0\\0\\003\\0\\0\\0bad'\n", GRAZE_ERROR_FORMAT,
                  "model.dae: bad");
  must_not_import("#!/bin/sh\nprintf 'GRZFAULT\\007\\0\\0\\0\\377\\377\\377\\377bad'\n", GRAZE_ERROR_FORMAT,
                  "no whole model");
  graze_assembly assembly;
  graze_io_error error;
  assert_int_equal(parse("<COLLADA/>", 10, "memory.dae", &assembly, &error), GRAZE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "from files only"));
  write_file("plain.obj", "v 0 0 0\n", 8); /* not one for the importer, whoever says so */
  assert_int_equal(graze_read_assembly(scratch_path("plain.obj"), GRAZE_FORMAT_IMPORT, false, 1, &assembly, &error),
                   GRAZE_ERROR_UNSUPPORTED);
  setenv("GRAZE_IMPORT", "/nowhere/graze-import", 1);
  assert_int_equal(import(&assembly, &error), GRAZE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "libassimp-dev"));
  unsetenv("GRAZE_IMPORT");
}

typedef struct stream {
  unsigned char bytes[2048];
  size_t size;
} stream;

static void put(stream *s, const void *bytes, size_t size) {
  assert_true(s->size + size <= sizeof s->bytes);
  memcpy(s->bytes + s->size, bytes, size);
  s->size += size;
}

static void put_number(stream *s, uint32_t value) {
  put(s, &value, sizeof value);
}

static void put_node(stream *s, uint32_t parent, const char *name, double shift, uint32_t meshes) {
  const double matrix[16] = {1, 0, 0, shift, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  put_number(s, parent);
  put_number(s, (uint32_t)strlen(name));
  put(s, name, strlen(name));
  put(s, matrix, sizeof matrix);
  put_number(s, meshes);
  for (uint32_t i = 0; i < meshes; i++) put_number(s, i);
}

/* Two meshes of one triangle each; a node with both, one with the first, and another one with both. */
static stream make_stream(void) {
  stream s = {.size = 0};
  const uint64_t left_out = 3, counts[2] = {3, 1};
  const double vertices[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  const uint32_t corners[3] = {0, 1, 2};
  put(&s, "GRZSCENE\2\0\0\0mm", 14);
  put(&s, &left_out, sizeof left_out);
  put_number(&s, 2);
  for (int i = 0; i < 2; i++) {
    put(&s, "\4\0\0\0mesh", 8);
    put(&s, counts, sizeof counts);
    put(&s, vertices, sizeof vertices);
    put(&s, corners, sizeof corners);
  }
  put_number(&s, 4);
  put_node(&s, UINT32_MAX, "root", 1, 0);
  put_node(&s, 0, "both", 2, 2);
  put_node(&s, 1, "one", 4, 1);
  put_node(&s, 0, "both", 8, 2);
  put(&s, "GRZEND..", 8);
  return s;
}

static graze_status import_stream(const stream *s, size_t size, graze_assembly *assembly, graze_io_error *error) {
  write_file("stream", s->bytes, size);
  return import(assembly, error);
}

/* The stream, every beginning of it, and every bit of it turned over: an answer each time, and a sound one. */
static void test_streams(void **state) {
  (void)state;
  char script[300];
  write_file("model.dae", "<COLLADA/>", 10);
  snprintf(script, sizeof script, "#!/bin/sh\nexec cat %s\n", scratch_path("stream"));
  set_import(script);
  stream s = make_stream();
  graze_assembly assembly;
  graze_io_error error;
  assert_int_equal(import_stream(&s, s.size, &assembly, &error), GRAZE_OK);
  assert_string_equal(assembly.units, "mm");
  assert_int_equal(assembly.left_out, 3);
  assert_int_equal(assembly.mesh_count, 2);
  assert_int_equal(assembly.object_count, 3);
  assert_string_equal(assembly.objects[1].name, "root/both/one");
  assert_string_equal(assembly.objects[2].name, "root/both#2");
  assert_int_equal(assembly.objects[0].mesh, assembly.objects[2].mesh);
  assert_true(assembly.objects[1].pose.m[3] == 7);
  const uint32_t joined[6] = {0, 1, 2, 3, 4, 5};
  assert_triangles(&assembly.meshes[assembly.objects[0].mesh].geometry, joined, 2);
  graze_assembly_free(&assembly);
  for (size_t size = 0; size < s.size; size += 3) {
    assert_int_equal(import_stream(&s, size, &assembly, &error), GRAZE_ERROR_FORMAT);
  }
  for (size_t i = 0; i < s.size; i++) {
    if (i % 4 != 3 && !test_long()) continue;
    s.bytes[i] ^= 0x80;
    if (import_stream(&s, s.size, &assembly, &error) == GRAZE_OK) {
      for (uint32_t k = 0; k < assembly.object_count; k++) assert_true(assembly.objects[k].mesh < assembly.mesh_count);
    }
    graze_assembly_free(&assembly);
    s.bytes[i] ^= 0x80;
  }
  unsetenv("GRAZE_IMPORT");
}

static char *read_text(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  char *bytes = malloc(1 << 16);
  assert_non_null(bytes);
  *size = fread(bytes, 1, 1 << 16, file);
  fclose(file);
  return bytes;
}

/* The real program on a COLLADA file, and on that file cut off or with one bit turned over. */
static void test_collada(void **state) {
  (void)state;
  graze_assembly assembly;
  graze_io_error error;
  graze_status status =
      graze_read_assembly(GRAZE_SOURCE_DIR "/tests/cli/data/model.dae", GRAZE_FORMAT_AUTO, false, 1, &assembly, &error);
  if (status == GRAZE_ERROR_UNSUPPORTED) {
    puts("SKIPPED test_gltf: no graze-import or no libassimp.so.5, so COLLADA is not tried");
    skip();
  }
  if (status != GRAZE_OK) fail_msg("%s", error.message);
  assert_int_equal(assembly.object_count, 2);
  assert_int_equal(assembly.mesh_count, 1);
  assert_string_equal(assembly.units, "m");
  assert_string_equal(assembly.objects[1].name, "Site/Sheet#2");
  assert_true(assembly.objects[1].pose.m[3] == 0.5);
  const uint32_t fan[6] = {0, 1, 2, 0, 2, 3};
  assert_triangles(&assembly.meshes[0].geometry, fan, 2);
  graze_assembly_free(&assembly);
  size_t size;
  char *text = read_text(GRAZE_SOURCE_DIR "/tests/cli/data/model.dae", &size);
  size_t step = test_long() ? 1 : 61;
  for (size_t i = 0; i + 20 < size; i += step) { /* without its end tag */
    write_file("cut.dae", text, i);
    assert_int_not_equal(graze_read_assembly(scratch_path("cut.dae"), GRAZE_FORMAT_AUTO, false, 1, &assembly, &error),
                         GRAZE_OK);
    text[i] ^= 4;
    write_file("flip.dae", text, size);
    graze_read_assembly(scratch_path("flip.dae"), GRAZE_FORMAT_AUTO, false, 1, &assembly, &error);
    graze_assembly_free(&assembly);
    text[i] ^= 4;
    if (i == 0 && size > 1300) i = 600; /* the head of the file is all of one kind */
  }
  free(text);
}

static int make_scratch(void **state) {
  (void)state;
  return mkdtemp(scratch) == NULL;
}

static int remove_scratch(void **state) {
  (void)state;
  char command[100];
  snprintf(command, sizeof command, "rm -rf %s", scratch);
  return system(command) != 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_indices),      cmocka_unit_test(test_modes),     cmocka_unit_test(test_primitives),
      cmocka_unit_test(test_stride),       cmocka_unit_test(test_quantized), cmocka_unit_test(test_sparse),
      cmocka_unit_test(test_poses),        cmocka_unit_test(test_names),     cmocka_unit_test(test_many_names),
      cmocka_unit_test(test_scenes),       cmocka_unit_test(test_instances), cmocka_unit_test(test_faults),
      cmocka_unit_test(test_index_faults), cmocka_unit_test(test_deep_tree), cmocka_unit_test(test_glb),
      cmocka_unit_test(test_versions),     cmocka_unit_test(test_uris),      cmocka_unit_test(test_joined),
      cmocka_unit_test(test_plain_files),  cmocka_unit_test(test_corpus),    cmocka_unit_test(test_bad_importers),
      cmocka_unit_test(test_streams),      cmocka_unit_test(test_collada),
  };
  return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
