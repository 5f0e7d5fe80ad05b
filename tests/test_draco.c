/* test_draco.c: glTF files with primitives compressed by Draco. rings.gltf has ring.obj three times, packed by Draco's
 * own encoder: by each of its two methods as it is, and with positions of 12 bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gltf_made.h"

#define DATA GRAZE_SOURCE_DIR "/tests/cli/data/"

/* ---- triangles in an order of their own ---- */

typedef struct triangle {
  double corners[9];
} triangle;

static int compare_triangles(const void *a, const void *b) {
  const triangle *x = a, *y = b;
  for (int k = 0; k < 9; k++) {
    if (x->corners[k] != y->corners[k]) return x->corners[k] < y->corners[k] ? -1 : 1;
  }
  return 0;
}

/* Each begins with its least corner; sorted. free() them. */
static triangle *sort_triangles(const graze_geometry *g, bool rounded) {
  triangle *list = malloc(g->triangle_count * sizeof *list);
  assert_non_null(list);
  for (uint64_t i = 0; i < g->triangle_count; i++) {
    triangle best = {{INFINITY}};
    for (unsigned turn = 0; turn < 3; turn++) {
      triangle t;
      for (unsigned k = 0; k < 9; k++) {
        double x = g->vertices[3 * (uint64_t)g->indices[3 * i + (k / 3 + turn) % 3] + k % 3];
        t.corners[k] = rounded ? (double)(float)x : x;
      }
      if (compare_triangles(&t, &best) < 0) best = t;
    }
    list[i] = best;
  }
  qsort(list, g->triangle_count, sizeof *list, compare_triangles);
  return list;
}

static graze_status read_rings(graze_assembly *assembly) {
  return graze_read_assembly(shared_context(1), DATA "rings.gltf", GRAZE_FORMAT_AUTO, 0, assembly);
}

static void skip_without_draco(void) {
  graze_assembly assembly;
  if (read_rings(&assembly) == GRAZE_ERROR_UNSUPPORTED) {
    puts("SKIPPED test_draco: no graze-draco, so packed meshes are not read");
    skip();
  }
  graze_assembly_free(&assembly);
}

/* ---- tests ---- */

/* Draco puts vertices and triangles in another order; without quantization nothing else changes. */
static void test_rings(void **state) {
  (void)state;
  skip_without_draco();
  graze_assembly assembly;
  graze_geometry plain;
  assert_int_equal(read_rings(&assembly), GRAZE_OK);
  assert_int_equal(graze_read_geometry(shared_context(1), DATA "ring.obj", GRAZE_FORMAT_AUTO, 0, &plain), GRAZE_OK);
  triangle *want = sort_triangles(&plain, true);
  assert_int_equal(assembly.object_count, 3);
  for (uint32_t i = 0; i < 3; i++) {
    const graze_geometry *g = &assembly.meshes[i].geometry;
    assert_int_equal(g->vertex_count, plain.vertex_count);
    assert_int_equal(g->triangle_count, plain.triangle_count);
    assert_true(g->all_float && g->stored_floats);
    triangle *got = sort_triangles(g, false);
    if (i < 2) assert_memory_equal(got, want, plain.triangle_count * sizeof *got);
    free(got);
  }
  graze_box box[2] = {graze_box_empty(), graze_box_empty()};
  for (uint64_t i = 0; i < plain.vertex_count; i++) {
    graze_box_add_point(&box[0], plain.vertices + 3 * i);
    graze_box_add_point(&box[1], assembly.meshes[2].geometry.vertices + 3 * i);
  }
  for (int k = 0; k < 3; k++) assert_true(fabs(box[0].max[k] - box[1].max[k]) < 5.4 / 4095);
  graze_assembly_free(&assembly);
  graze_geometry_free(&plain);
  free(want);
}

/* Every so many bytes of the packed meshes: other triangles, or an error that names the primitive. */
static void test_damage(void **state) {
  (void)state;
  skip_without_draco();
  size_t size;
  char *text = test_read_file(DATA "rings.gltf", &size), *data = strstr(text, "base64,") + 7;
  size_t length = strcspn(data, "\""), refused = 0, step = test_long() ? 1 : 67;
  for (size_t i = 0; i < length; i += step) {
    graze_assembly assembly;
    char kept = data[i];
    data[i] = kept == 'Q' ? 'x' : 'Q';
    graze_status status = parse(text, size, "rings.gltf", &assembly);
    if (status != GRAZE_OK) refused++;
    if (status != GRAZE_OK) assert_non_null(strstr(shared_error()->message, "rings.gltf: "));
    graze_assembly_free(&assembly);
    data[i] = kept;
  }
  assert_true(refused > 0);
  free(text);
}

/* The file with one thing replaced. */
static void must_refuse(const char *old, const char *new, graze_status status, const char *reason) {
  size_t size;
  graze_assembly assembly;
  char *text = test_read_file(DATA "rings.gltf", &size), *at = strstr(text, old), *changed = malloc(size + 1000);
  assert_true(at != NULL && changed != NULL);
  sprintf(changed, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
  graze_status got = parse(changed, strlen(changed), "rings.gltf", &assembly);
  if (got != status || strstr(shared_error()->message, reason) == NULL)
    fail_msg("wanted %d \"%s\", got %d \"%s\"", status, reason, got, shared_error()->message);
  free(changed);
  free(text);
}

static void test_refusals(void **state) {
  (void)state;
  skip_without_draco();
  const graze_status format = GRAZE_ERROR_FORMAT;
  must_refuse(
      "\"count\": 72", "\"count\": 71", format,
      "mesh 0 primitive 0: KHR_draco_mesh_compression: it gives 72 vertices and 411 indices, the accessors say 71");
  must_refuse("\"count\": 411", "\"count\": 408", format,
              "mesh 0 primitive 0: KHR_draco_mesh_compression: it gives 72");
  must_refuse("{\n        \"POSITION\": 0", "{ \"POSITION\": 5", format,
              "mesh 0 primitive 0: KHR_draco_mesh_compression: no attr");
  must_refuse("\"bufferView\": 0", "\"bufferView\": 3", GRAZE_ERROR_INDEX, "mesh 0 primitive 0: \"bufferView\" names");
  must_refuse("\"componentType\": 5126", "\"componentType\": 5122", format, "is of another type than its accessor");
  must_refuse("\"componentType\": 5126", "\"componentType\": 0", format, "of the positions is not known");
  must_refuse("\"indices\": 1", "\"mode\": 5, \"indices\": 1", GRAZE_ERROR_UNSUPPORTED, "only lists of triangles");
  must_refuse("\"indices\": 1,", "", format, "mesh 0 primitive 0: \"indices\" is missing");
  must_refuse("\"byteLength\": 1298", "\"byteLength\": 12", format, "mesh 1 primitive 0: KHR_draco_mesh_compression: ");
  must_refuse("\"byteOffset\": 941", "\"byteOffset\": 900", format, "mesh 1 primitive 0: KHR_draco_mesh_compression: ");
  setenv("GRAZE_DRACO", "/nowhere/graze-draco", 1);
  must_refuse("\n", "\n", GRAZE_ERROR_UNSUPPORTED, "graze-draco, which is not there (it is built with libdraco-dev)");
  setenv("GRAZE_DRACO", "/bin/true", 1);
  must_refuse("\n", "\n", format, "gave no whole answer");
  setenv("GRAZE_DRACO", "/bin/echo", 1);
  must_refuse("\n", "\n", format, "gave no whole answer");
  unsetenv("GRAZE_DRACO");
}

/* Two primitives may be the same piece, whatever their accessors are called. */
static void test_shared_piece(void **state) {
  (void)state;
  skip_without_draco();
  size_t size;
  graze_assembly assembly;
  char *text = test_read_file(DATA "rings.gltf", &size), *second = strstr(text, "\"bufferView\": 1");
  second[14] = '0';
  assert_int_equal(parse(text, size, "rings.gltf", &assembly), GRAZE_OK);
  triangle *one = sort_triangles(&assembly.meshes[0].geometry, false);
  triangle *two = sort_triangles(&assembly.meshes[1].geometry, false);
  assert_memory_equal(one, two, assembly.meshes[0].geometry.triangle_count * sizeof *one);
  free(one);
  free(two);
  graze_assembly_free(&assembly);
  free(text);
  must_refuse("\"bufferView\": 1,\n       \"attributes\": {\n        \"POSITION\": 0",
              "\"bufferView\": 0, \"attributes\": { \"POSITION\": 1", GRAZE_ERROR_FORMAT,
              "mesh 1 primitive 0: KHR_draco_mesh_compression: another primitive takes something else");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rings),
      cmocka_unit_test(test_damage),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_shared_piece),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
