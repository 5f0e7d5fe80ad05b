/* Assemblies that are refused: glTF with one fault each, other versions, references that lead out of the folder, and
 * the corpus of damaged files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gltf_made.h"

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
    {"\"extensionsRequired\":[\"KHR_meshopt_compression\"]", GRAZE_ERROR_UNSUPPORTED,
     "the file requires the extension KHR_meshopt_compression"},
    {"\"extensionsRequired\":[7]", GRAZE_ERROR_FORMAT, "entry 0 of \"extensionsRequired\" is not a string"},
    {"\"extensionsUsed\":[\"KHR_draco_mesh_compression\"],\"accessors\":[{\"componentType\":5126,\"count\":3,"
     "\"type\":\"VEC3\"}]," MESH(
         "{\"attributes\":{\"POSITION\":0},\"extensions\":{\"KHR_draco_mesh_compression\":{}}}"),
     GRAZE_ERROR_FORMAT, "mesh 0 primitive 0: \"bufferView\" is missing"},
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

/* ---- versions and references ---- */

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
    assert_int_equal(parse(texts[i], strlen(texts[i]), "v.gltf", &assembly), want[i]);
  }
}

static graze_status read_with_uri(const char *uri) {
  char text[700];
  int length = snprintf(
      text, sizeof text,
      "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":60,\"uri\":\"%s\"}]," ONE_MESH ONE_NODE "}", uri);
  write_file("uri.gltf", text, (size_t)length);
  graze_assembly assembly;
  graze_status status =
      graze_read_assembly(shared_context(1), scratch_path("uri.gltf"), GRAZE_FORMAT_AUTO, 0, &assembly);
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
    graze_status status = read_with_uri(cases[i].uri);
    if (status != cases[i].status) fail_msg("\"%s\": %d, %s", cases[i].uri, status, shared_error()->message);
  }
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
  size_t size;
  char *bytes = test_read_file(path, &size);
  for (size_t i = 1; i < size; i += size / 300 + 1) {
    graze_assembly assembly;
    parse(bytes, i, path, &assembly);
    graze_assembly_free(&assembly);
  }
  free(bytes);
}

static void check_corpus_file(const char *folder, const char *name, const char *expect) {
  char path[1400];
  snprintf(path, sizeof path, "%s/data/bad/%s", folder, name);
  graze_assembly assembly;
  graze_status status = graze_read_assembly(shared_context(0), path, GRAZE_FORMAT_AUTO, 0, &assembly);
  if (is_exception(name)) {
    assert_int_equal(status == GRAZE_OK, strcmp(expect, "invalid") == 0);
  } else {
    if (status == GRAZE_OK && strcmp(expect, "invalid") == 0) fail_msg("%s must be refused", name);
    if (status != GRAZE_OK && strcmp(expect, "valid") == 0) fail_msg("%s must load: %s", name, shared_error()->message);
  }
  if (status != GRAZE_OK) assert_int_equal(strncmp(shared_error()->message, path, strlen(path)), 0);
  graze_assembly_free(&assembly);
  check_beginnings(path);
}

static void test_corpus(void **state) {
  (void)state;
  const char *folder = test_shared();
  if (folder == NULL) {
    puts("SKIPPED test_gltf_faults: the corpus of damaged files is not there");
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_faults),   cmocka_unit_test(test_index_faults), cmocka_unit_test(test_deep_tree),
      cmocka_unit_test(test_versions), cmocka_unit_test(test_uris),         cmocka_unit_test(test_corpus),
  };
  return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
