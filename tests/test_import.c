/* The import of other formats through a program of its own: programs made here that misbehave, streams with every bit
 * turned over, and the real program on a COLLADA file. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gltf_made.h"

/* ---- programs that stand in for graze-import ---- */

static void set_import(const char *script) {
  write_file("import.sh", script, strlen(script));
  assert_int_equal(chmod(scratch_path("import.sh"), 0700), 0);
  setenv("GRAZE_IMPORT", scratch_path("import.sh"), 1);
}

static graze_status import(graze_assembly *assembly) {
  return graze_read_assembly(shared_context(1), scratch_path("model.dae"), GRAZE_FORMAT_AUTO, 0, assembly);
}

static void must_not_import(const char *script, graze_status status, const char *reason) {
  graze_assembly assembly;
  set_import(script);
  graze_status got = import(&assembly);
  if (got != status || strstr(shared_error()->message, reason) == NULL) {
    fail_msg("wanted %d \"%s\", got %d \"%s\"", status, reason, got, shared_error()->message);
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
  assert_int_equal(parse("<COLLADA/>", 10, "memory.dae", &assembly), GRAZE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(shared_error()->message, "from files only"));
  write_file("plain.obj", "v 0 0 0\n", 8); /* not one for the importer, whoever says so */
  assert_int_equal(graze_read_assembly(shared_context(1), scratch_path("plain.obj"), GRAZE_FORMAT_IMPORT, 0, &assembly),
                   GRAZE_ERROR_UNSUPPORTED);
  setenv("GRAZE_IMPORT", "/nowhere/graze-import", 1);
  assert_int_equal(import(&assembly), GRAZE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(shared_error()->message, "libassimp-dev"));
  unsetenv("GRAZE_IMPORT");
}

/* ---- streams ---- */

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
  put(&s, "GRZSCENE\2\0\0\0mm\1\0\0\0z", 19);
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

static graze_status import_stream(const stream *s, size_t size, graze_assembly *assembly) {
  write_file("stream", s->bytes, size);
  return import(assembly);
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
  assert_int_equal(import_stream(&s, s.size, &assembly), GRAZE_OK);
  assert_string_equal(assembly.units, "mm");
  assert_int_equal(assembly.up, GRAZE_UP_Z);
  assert_int_equal(assembly.left_out, 3);
  assert_int_equal(assembly.mesh_count, 2);
  assert_int_equal(assembly.object_count, 3);
  assert_string_equal(assembly.objects[1].name, "root/both/one");
  assert_string_equal(assembly.objects[2].name, "root/both#2");
  assert_int_equal(assembly.objects[0].mesh, assembly.objects[2].mesh);
  assert_true(assembly.objects[1].pose.m[3] == 7);
  const uint32_t joined[6] = {0, 1, 2, 3, 4, 5};
  assert_triangles(&assembly.meshes[assembly.objects[0].mesh].geometry, joined, 2);
  for (uint32_t i = 0; i < 2; i++) assert_true(assembly.meshes[i].geometry.stored_floats); /* joined or not */
  graze_assembly_free(&assembly);
  for (size_t size = 0; size < s.size; size += 3) {
    assert_int_equal(import_stream(&s, size, &assembly), GRAZE_ERROR_FORMAT);
  }
  for (size_t i = 0; i < s.size; i++) {
    if (i % 4 != 3 && !test_long()) continue;
    s.bytes[i] ^= 0x80;
    if (import_stream(&s, s.size, &assembly) == GRAZE_OK) {
      for (uint32_t k = 0; k < assembly.object_count; k++) assert_true(assembly.objects[k].mesh < assembly.mesh_count);
    }
    graze_assembly_free(&assembly);
    s.bytes[i] ^= 0x80;
  }
  unsetenv("GRAZE_IMPORT");
}

/* ---- the real program ---- */

/* The real program on a COLLADA file, and on that file cut off or with one bit turned over. */
static void test_collada(void **state) {
  (void)state;
  graze_assembly assembly;
  graze_status status = graze_read_assembly(shared_context(1), GRAZE_SOURCE_DIR "/tests/cli/data/model.dae",
                                            GRAZE_FORMAT_AUTO, 0, &assembly);
  if (status == GRAZE_ERROR_UNSUPPORTED) {
    puts("SKIPPED test_import: no graze-import or no libassimp.so.5, so COLLADA is not tried");
    skip();
  }
  if (status != GRAZE_OK) fail_msg("%s", shared_error()->message);
  assert_int_equal(assembly.object_count, 2);
  assert_int_equal(assembly.mesh_count, 1);
  assert_string_equal(assembly.units, "m");
  assert_int_equal(assembly.up, GRAZE_UP_Y);
  assert_string_equal(assembly.objects[1].name, "Site/Sheet#2");
  assert_true(assembly.objects[1].pose.m[3] == 0.5);
  const uint32_t fan[6] = {0, 1, 2, 0, 2, 3};
  assert_triangles(&assembly.meshes[0].geometry, fan, 2);
  graze_assembly_free(&assembly);
  size_t size;
  char *text = test_read_file(GRAZE_SOURCE_DIR "/tests/cli/data/model.dae", &size);
  *strstr(text, "Y_UP") = 'Z'; /* then it is turned until y is up */
  write_file("turned.dae", text, size);
  assert_int_equal(graze_read_assembly(shared_context(1), scratch_path("turned.dae"), GRAZE_FORMAT_AUTO, 0, &assembly),
                   GRAZE_OK);
  assert_int_equal(assembly.up, GRAZE_UP_Y);
  assert_true(assembly.objects[0].pose.m[6] == 1 && assembly.objects[0].pose.m[9] == -1);
  graze_assembly_free(&assembly);
  *strstr(text, "Z_UP") = 'Y';
  size_t step = test_long() ? 1 : 61;
  for (size_t i = 0; i + 20 < size; i += step) { /* without its end tag */
    write_file("cut.dae", text, i);
    assert_int_not_equal(
        graze_read_assembly(shared_context(1), scratch_path("cut.dae"), GRAZE_FORMAT_AUTO, 0, &assembly), GRAZE_OK);
    text[i] ^= 4;
    write_file("flip.dae", text, size);
    graze_read_assembly(shared_context(1), scratch_path("flip.dae"), GRAZE_FORMAT_AUTO, 0, &assembly);
    graze_assembly_free(&assembly);
    text[i] ^= 4;
    if (i == 0 && size > 1300) i = 600; /* the head of the file is all of one kind */
  }
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bad_importers),
      cmocka_unit_test(test_streams),
      cmocka_unit_test(test_collada),
  };
  return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
