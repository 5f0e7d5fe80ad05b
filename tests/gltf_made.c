/* gltf_made.c: see gltf_made.h. */
#include "gltf_made.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const float points[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0.5F, 2, 0.25F, -1};
const double points_as_doubles[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0.5, 2, 0.25, -1};

/* ---- files ---- */

static char scratch[] = "/tmp/graze_gltf_XXXXXX";

const char *scratch_path(const char *name) {
  static char paths[4][256];
  static int turn;
  turn = (turn + 1) % 4;
  snprintf(paths[turn], sizeof paths[turn], "%s/%s", scratch, name);
  return paths[turn];
}

void write_file(const char *name, const void *bytes, size_t size) {
  FILE *file = fopen(scratch_path(name), "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

int make_scratch(void **state) {
  (void)state;
  return mkdtemp(scratch) == NULL;
}

int remove_scratch(void **state) {
  (void)state;
  char command[100];
  snprintf(command, sizeof command, "rm -rf %s", scratch);
  return system(command) != 0;
}

/* ---- glTF ---- */

graze_status parse(const void *data, size_t size, const char *name, graze_assembly *assembly) {
  char *copy = malloc(size > 0 ? size : 1);
  assert_non_null(copy);
  memcpy(copy, data, size);
  graze_status status = graze_parse_assembly(shared_context(1), copy, size, name, GRAZE_FORMAT_AUTO, 0, assembly);
  free(copy);
  if (status != GRAZE_OK) assert_int_equal(status, shared_error()->status);
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

char *make_text(const void *bytes, size_t size, const char *rest) {
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

static graze_status parse_made(const void *bytes, size_t size, const char *rest, graze_assembly *assembly) {
  char *text = make_text(bytes, size, rest);
  graze_status status = parse(text, strlen(text), "made.gltf", assembly);
  free(text);
  return status;
}

graze_assembly must_parse(const void *bytes, size_t size, const char *rest) {
  graze_assembly assembly;
  if (parse_made(bytes, size, rest, &assembly) != GRAZE_OK) fail_msg("%s", shared_error()->message);
  assert_string_equal(assembly.units, "m");
  assert_int_equal(assembly.format, GRAZE_FORMAT_GLTF);
  return assembly;
}

void must_fail(const void *bytes, size_t size, const char *rest, graze_status status, const char *reason) {
  graze_assembly assembly;
  graze_status got = parse_made(bytes, size, rest, &assembly);
  if (got != status || strstr(shared_error()->message, reason) == NULL) {
    fail_msg("wanted %d \"%s\", got %d \"%s\"", status, reason, got, shared_error()->message);
  }
  assert_null(assembly.meshes);
  assert_int_equal(assembly.mesh_count + assembly.object_count, 0);
  graze_assembly_free(&assembly);
}

void assert_triangles(const graze_geometry *geometry, const uint32_t *indices, uint64_t count) {
  assert_int_equal(geometry->triangle_count, count);
  assert_memory_equal(geometry->indices, indices, 3 * count * sizeof *indices);
}

void assert_vertices(const graze_geometry *geometry, const double *vertices, uint64_t count) {
  assert_int_equal(geometry->vertex_count, count);
  for (uint64_t i = 0; i < 3 * count; i++) assert_true(geometry->vertices[i] == vertices[i]);
}

point_file with_indices(const void *indices, size_t size) {
  point_file file;
  memcpy(file.points, points, sizeof points);
  memset(file.indices, 0, sizeof file.indices);
  memcpy(file.indices, indices, size);
  return file;
}
