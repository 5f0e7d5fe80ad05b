/* test_packed.c: glTF files with compressed views (EXT_meshopt_compression). Streams come from the encoder of the
 * library meshoptimizer; what is read must be what went in, bit for bit. Damaged streams must be refused or read, and
 * the sanitizers look on. */
#include <math.h>
#include <meshoptimizer.h>
#include <stdlib.h>
#include <string.h>

#include "gltf_made.h"

/* ---- files ---- */

enum { ROOM = 1 << 20 };

/* A buffer of streams, and the tables of a file. */
typedef struct packed_file {
  unsigned char bytes[ROOM];
  size_t size;
  char views[2000], accessors[2000];
} packed_file;

static void add_text(char *table, size_t room, const char *text) {
  const size_t used = strlen(table);
  assert_true(used + strlen(text) + 2 < room);
  snprintf(table + used, room - used, "%s%s", used > 0 ? "," : "", text);
}

/* A view of `count` elements of `stride` bytes, whose stream has just been put behind the others. */
static void add_view(packed_file *file, size_t size, size_t count, size_t stride, const char *rest) {
  char text[400];
  snprintf(
      text, sizeof text,
      "{\"buffer\":1,\"byteLength\":%zu,\"extensions\":{\"EXT_meshopt_compression\":{\"buffer\":0,\"byteOffset\":%zu,"
      "\"byteLength\":%zu,\"byteStride\":%zu,\"count\":%zu,%s}}}",
      count * stride, file->size, size, stride, count, rest);
  assert_true(size > 0);
  add_text(file->views, sizeof file->views, text);
  file->size += size;
}

static void add_attributes(packed_file *file, const void *elements, size_t count, size_t stride, const char *filter) {
  char rest[100];
  snprintf(rest, sizeof rest, "\"mode\":\"ATTRIBUTES\",\"filter\":\"%s\"", filter);
  size_t size = meshopt_encodeVertexBuffer(file->bytes + file->size, ROOM - file->size, elements, count, stride);
  add_view(file, size, count, stride, rest);
}

static void add_indices(packed_file *file, const unsigned *indices, size_t count, size_t vertices, bool triangles,
                        size_t stride) {
  unsigned char *out = file->bytes + file->size;
  size_t room = ROOM - file->size;
  assert_true(room > (triangles ? meshopt_encodeIndexBufferBound(count, vertices)
                                : meshopt_encodeIndexSequenceBound(count, vertices)));
  meshopt_encodeIndexVersion(1);
  size_t size = triangles ? meshopt_encodeIndexBuffer(out, room, indices, count)
                          : meshopt_encodeIndexSequence(out, room, indices, count);
  add_view(file, size, count, stride, triangles ? "\"mode\":\"TRIANGLES\"" : "\"mode\":\"INDICES\"");
}

static void add_accessor(packed_file *file, int view, int component, size_t count, const char *type) {
  char text[200];
  snprintf(text, sizeof text, "{\"bufferView\":%d,\"componentType\":%d,\"count\":%zu,\"type\":\"%s\"%s}", view,
           component, count, type, component == 5122 ? ",\"normalized\":true" : "");
  add_text(file->accessors, sizeof file->accessors, text);
}

/* The file; `rest` are its last members. free() it. */
static char *finish(const packed_file *file, const char *rest) {
  const size_t room = sizeof file->views + sizeof file->accessors + strlen(rest) + 500;
  char *text = malloc(room), *data = make_text(file->bytes, file->size, "\"?\":0");
  assert_non_null(text);
  snprintf(text, room,
           "\"extensionsUsed\":[\"EXT_meshopt_compression\",\"EXT_mesh_gpu_instancing\"],"
           "\"extensionsRequired\":[\"EXT_meshopt_compression\"],\"bufferViews\":[%s],\"accessors\":[%s],%s}",
           file->views, file->accessors, rest);
  char *cut = strstr(data, "}],\"?\"") + 1, *all = malloc(strlen(data) + room + 200);
  assert_non_null(all);
  sprintf(all, "%.*s,{\"byteLength\":%d,\"extensions\":{\"EXT_meshopt_compression\":{\"fallback\":true}}}],%s",
          (int)(cut - data), data, 1 << 28, text);
  free(data);
  free(text);
  return all;
}

static packed_file *new_file(void) {
  packed_file *file = calloc(1, sizeof *file);
  assert_non_null(file);
  return file;
}

#define MESH_OF_TWO "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1}]}]," ONE_NODE

static graze_assembly read_packed(packed_file *file, const char *rest) {
  graze_assembly assembly;
  char *text = finish(file, rest);
  if (parse(text, strlen(text), "packed.gltf", &assembly) != GRAZE_OK) fail_msg("%s", shared_error()->message);
  free(text);
  free(file);
  return assembly;
}

/* ---- what goes in comes out ---- */

static uint32_t random_below(uint32_t limit) {
  static uint64_t state = 7;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % limit;
}

/* Triangles as they come: strips that share edges, some that jump, some with corners twice. */
static void make_triangles(unsigned *indices, size_t count, uint32_t vertices) {
  for (size_t i = 0; i < count; i += 3) {
    bool near = i >= 3 && random_below(8) > 0;
    for (size_t k = 0; k < 3; k++) indices[i + k] = random_below(vertices);
    if (near) indices[i] = indices[i - 1];
    if (near) indices[i + 1] = indices[i - 3 + random_below(2)];
    if (random_below(3) > 0) indices[i + 2] = (unsigned)(i / 3 % vertices);
  }
}

/* Triangles may come with their corners turned: an encoder begins them where it likes. */
static void assert_same_triangles(const uint32_t *got, const unsigned *want, size_t count) {
  for (size_t i = 0; i < count; i += 3) {
    bool same = false;
    for (size_t turn = 0; turn < 3; turn++) {
      same |=
          got[i] == want[i + turn] && got[i + 1] == want[i + (turn + 1) % 3] && got[i + 2] == want[i + (turn + 2) % 3];
    }
    assert_true(same);
  }
}

/* Floats whose bytes change little, much, or not at all. */
static void make_elements(float *values, size_t count, size_t floats) {
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < floats; k++) {
      float step = (float)(i / 20) + (random_below(4) == 0 ? (float)random_below(1000) / 64 : 0);
      values[i * floats + k] = k == 1 ? 2.5F : step * (k == 0 ? 1 : 1e-3F);
    }
  }
}

static void check_mesh(uint32_t vertices, size_t floats, size_t corners, bool triangles, bool narrow) {
  packed_file *file = new_file();
  float *values = malloc(vertices * floats * sizeof *values);
  unsigned *indices = malloc(corners * sizeof *indices);
  assert_true(values != NULL && indices != NULL);
  make_elements(values, vertices, floats);
  make_triangles(indices, corners, vertices);
  add_attributes(file, values, vertices, floats * sizeof *values, "NONE");
  add_indices(file, indices, corners, vertices, triangles, narrow ? 2 : 4);
  char stride[40] = "";
  if (floats != 3) snprintf(stride, sizeof stride, "\"byteStride\":%zu,\"extensions\"", floats * sizeof *values);
  if (floats != 3) { /* the first view's */
    char *at = strstr(file->views, "\"extensions\"");
    memmove(at + strlen(stride), at + 12, strlen(at + 12) + 1);
    memcpy(at, stride, strlen(stride));
  }
  add_accessor(file, 0, 5126, vertices, "VEC3");
  add_accessor(file, 1, narrow ? 5123 : 5125, corners, "SCALAR");
  graze_assembly assembly = read_packed(file, MESH_OF_TWO);
  const graze_geometry *g = &assembly.meshes[0].geometry;
  assert_int_equal(g->vertex_count, vertices);
  assert_int_equal(g->triangle_count, corners / 3);
  assert_true(g->stored_floats);
  for (size_t i = 0; i < vertices; i++) {
    for (size_t k = 0; k < 3; k++) assert_true(g->vertices[3 * i + k] == (double)values[i * floats + k]);
  }
  if (triangles) {
    assert_same_triangles(g->indices, indices, corners);
  } else {
    for (size_t i = 0; i < corners; i++) assert_int_equal(g->indices[i], indices[i]);
  }
  graze_assembly_free(&assembly);
  free(values);
  free(indices);
}

static void test_round_trip(void **state) {
  (void)state;
  static const uint32_t counts[] = {3, 15, 16, 17, 255, 256, 257, 700, 3000};
  static const size_t floats[] = {3, 4, 7, 12, 63};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    for (size_t k = 0; k < sizeof floats / sizeof floats[0]; k++) {
      check_mesh(counts[i], floats[k], 3 * (size_t)(1 + random_below(2 * counts[i])), k % 2 == 0, i % 2 == 0);
    }
  }
}

/* As the encoder of the library rounds them, so are they read: 24 bits above an exponent. */
static void test_exponents(void **state) {
  (void)state;
  enum { COUNT = 300 };
  float values[3 * COUNT];
  unsigned char encoded[sizeof values];
  unsigned corners[3] = {0, 1, 2};
  for (int i = 0; i < 3 * COUNT; i++)
    values[i] = ldexpf((float)random_below(1 << 24) - (1 << 23), (int)random_below(60) - 50);
  packed_file *file = new_file();
  meshopt_encodeFilterExp(encoded, COUNT, 12, 20, values);
  add_attributes(file, encoded, COUNT, 12, "EXPONENTIAL");
  meshopt_decodeFilterExp(encoded, COUNT, 12);
  memcpy(values, encoded, sizeof values);
  add_indices(file, corners, 3, 3, true, 4);
  add_accessor(file, 0, 5126, COUNT, "VEC3");
  add_accessor(file, 1, 5125, 3, "SCALAR");
  graze_assembly assembly = read_packed(file, MESH_OF_TWO);
  for (int i = 0; i < 3 * COUNT; i++) assert_true(assembly.meshes[0].geometry.vertices[i] == (double)values[i]);
  graze_assembly_free(&assembly);
}

/* Instances with turns of four 16-bit numbers, one of which is left out. */
static void test_quaternions(void **state) {
  (void)state;
  enum { COUNT = 40 };
  float turns[4 * COUNT];
  unsigned char encoded[8 * COUNT];
  for (int i = 0; i < COUNT; i++) {
    double q[4], square = 0;
    for (int k = 0; k < 4; k++) q[k] = (double)random_below(2001) - 1000, square += q[k] * q[k];
    for (int k = 0; k < 4; k++) turns[4 * i + k] = (float)(q[k] / sqrt(square + 1e-9));
  }
  packed_file *file = new_file();
  meshopt_encodeFilterQuat(encoded, COUNT, 8, 16, turns);
  add_attributes(file, encoded, COUNT, 8, "QUATERNION");
  add_attributes(file, points, 5, 12, "NONE");
  add_accessor(file, 1, 5126, 5, "VEC3");
  add_accessor(file, 0, 5122, COUNT, "VEC4");
  graze_assembly assembly =
      read_packed(file,
                  "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":5}]}],\"nodes\":[{\"mesh\":0,"
                  "\"extensions\":{\"EXT_mesh_gpu_instancing\":{\"attributes\":{\"ROTATION\":1}}}}]");
  assert_int_equal(assembly.object_count, COUNT);
  for (int i = 0; i < COUNT; i++) {
    const double q[4] = {turns[4 * i + 3], turns[4 * i], turns[4 * i + 1], turns[4 * i + 2]}, none[3] = {0, 0, 0};
    const graze_pose want = graze_pose_from_quaternion(q, none);
    for (int k = 0; k < 12; k++) assert_true(fabs(assembly.objects[i].pose.m[k] - want.m[k]) < 4e-4);
  }
  graze_assembly_free(&assembly);
}

/* ---- what is damaged ---- */

static packed_file *make_small(void) {
  packed_file *file = new_file();
  float values[3 * 40];
  unsigned corners[60];
  make_elements(values, 40, 3);
  make_triangles(corners, 60, 40);
  add_attributes(file, values, 40, 12, "NONE");
  add_indices(file, corners, 60, 40, true, 2);
  add_indices(file, corners, 60, 40, false, 4);
  add_accessor(file, 0, 5126, 40, "VEC3");
  add_accessor(file, 1, 5123, 60, "SCALAR");
  add_accessor(file, 2, 5125, 60, "SCALAR");
  return file;
}

#define MESH_OF_THREE                                                             \
  "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1}," \
  "{\"attributes\":{\"POSITION\":0},\"indices\":2}]}]," ONE_NODE

static graze_status read_small(const packed_file *file) {
  graze_assembly assembly;
  char *text = finish(file, MESH_OF_THREE);
  graze_status status = parse(text, strlen(text), "packed.gltf", &assembly);
  free(text);
  graze_assembly_free(&assembly);
  return status;
}

/* Every byte in turn: an error that says where, or other triangles. */
static void test_damage(void **state) {
  (void)state;
  packed_file *file = make_small();
  unsigned refused = 0;
  assert_int_equal(read_small(file), GRAZE_OK);
  for (size_t i = 0; i < file->size; i++) {
    for (unsigned bit = 1; bit < 256; bit *= test_long() ? 2 : 16) {
      file->bytes[i] ^= (unsigned char)bit;
      if (read_small(file) != GRAZE_OK) refused++;
      file->bytes[i] ^= (unsigned char)bit;
    }
  }
  assert_true(refused > file->size / 4);
  free(file);
}

/* The text of the file with one thing replaced. */
static void must_refuse(const char *old, const char *new, graze_status status, const char *reason) {
  packed_file *file = make_small();
  char *text = finish(file, MESH_OF_THREE), *at = strstr(text, old), *changed = malloc(strlen(text) + strlen(new) + 1);
  assert_true(at != NULL && changed != NULL);
  sprintf(changed, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
  graze_assembly assembly;
  graze_status got = parse(changed, strlen(changed), "packed.gltf", &assembly);
  if (got != status || strstr(shared_error()->message, reason) == NULL)
    fail_msg("wanted %d \"%s\", got %d \"%s\"", status, reason, got, shared_error()->message);
  free(changed);
  free(text);
  free(file);
}

static void test_refusals(void **state) {
  (void)state;
  const graze_status format = GRAZE_ERROR_FORMAT;
  must_refuse("\"mode\":\"ATTRIBUTES\"", "\"mode\":\"INDICES\"", format,
              "bufferView 0: EXT_meshopt_compression: its \"b");
  must_refuse("\"mode\":\"TRIANGLES\"", "\"mode\":\"INDICES\"", format,
              "bufferView 1: EXT_meshopt_compression: the comp");
  must_refuse("\"mode\":\"TRIANGLES\"", "\"mode\":\"?\"", format, "\"mode\" is not one of its words");
  must_refuse("\"filter\":\"NONE\"", "\"filter\":\"QUATERNION\"", format, "\"filter\" does not suit");
  must_refuse("\"filter\":\"NONE\"", "\"filter\":\"OCTAHEDRAL\"", GRAZE_ERROR_UNSUPPORTED, "is for normals");
  must_refuse("\"byteStride\":12", "\"byteStride\":16", format, "\"count\" and \"byteStride\" are not those of");
  must_refuse("\"byteStride\":12", "\"byteStride\":0", format, "\"byteStride\" is 0, less than 1");
  must_refuse("\"count\":40,\"mode\"", "\"count\":41,\"mode\"", format, "\"count\" and \"byteStride\"");
  must_refuse("\"count\":60,\"mode\"", "\"count\":61,\"mode\"", format, "no multiple of 3");
  must_refuse("\"byteOffset\":0", "\"byteOffset\":99999", format, "out of range of their buffer");
  must_refuse("{\"buffer\":0,\"byteOffset\":0", "{\"buffer\":7,\"byteOffset\":0", GRAZE_ERROR_INDEX,
              "\"buffer\" names");
  must_refuse("{\"buffer\":0,\"byteOffset\":0", "{\"buffer\":1,\"byteOffset\":0", format, "buffer 1 has no bytes");
  /* many elements of few bytes are refused before there is memory for them */
  must_refuse("\"byteLength\":480,", "\"byteLength\":240000000,", format, "\"count\" and");
  must_refuse(
      "\"byteLength\":480,\"extensions\":{\"EXT_meshopt_compression\":{\"buffer\":0,\"byteOffset\":0,\"byteLength\"",
      "\"byteLength\":240000000,\"extensions\":{\"EXT_meshopt_compression\":{\"count\":20000000,\"buffer\":0,"
      "\"byteOffset\":0,\"byteStride\":12,\"mode\":\"ATTRIBUTES\",\"byteLength\":200}},\"extras\":{\"x\":{\"y\"",
      format, "\"byteLength\" is too small");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip), cmocka_unit_test(test_exponents), cmocka_unit_test(test_quaternions),
      cmocka_unit_test(test_damage),     cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
