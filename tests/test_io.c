/* Files on the disk, scene files, and the test data outside the tree: where that is missing, its tests are skipped. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "families.h"
#include "geometry_files.h"

/* ---- files ---- */

/* A name in the working directory that no other test process has. */
static const char *scratch(const char *ending) {
  static char name[64];
  snprintf(name, sizeof name, "test_io_%ld%s", (long)getpid(), ending);
  return name;
}

static void test_file_errors(void **state) {
  (void)state;
  graze_geometry g;
  assert_int_equal(graze_read_geometry(shared_context(0), "no such file.obj", GRAZE_FORMAT_AUTO, 0, &g),
                   GRAZE_ERROR_FILE);
  assert_string_equal(shared_error()->message, "no such file.obj: cannot open: No such file or directory");
  assert_int_equal(graze_read_geometry(shared_context(0), ".", GRAZE_FORMAT_AUTO, 0, &g), GRAZE_ERROR_FILE);
  assert_string_equal(shared_error()->message, ".: cannot read: Is a directory");
  static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/tty"};
  for (int i = 0; i < 3; i++) {
    if (access(devices[i], F_OK) != 0) continue;
    assert_int_equal(graze_read_geometry(shared_context(0), devices[i], GRAZE_FORMAT_AUTO, 0, &g), GRAZE_ERROR_FILE);
    assert_non_null(strstr(shared_error()->message, ": cannot read: it is a device, not a file"));
  }
  double vertices[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  uint32_t indices[3] = {0, 1, 2};
  graze_geometry small = {.vertices = vertices, .vertex_count = 3, .indices = indices, .triangle_count = 1};
  assert_int_equal(graze_write_obj(shared_context(1), "no such folder/a.obj", &small), GRAZE_ERROR_FILE);
  if (access("/dev/full", W_OK) == 0)
    assert_int_equal(graze_write_obj(shared_context(1), "/dev/full", &small), GRAZE_ERROR_FILE);
  indices[2] = 3;
  assert_int_equal(graze_write_obj(shared_context(1), scratch(".obj"), &small), GRAZE_ERROR_INDEX);
  indices[2] = 2;
  vertices[4] = NAN;
  assert_int_equal(graze_write_obj(shared_context(1), scratch(".obj"), &small), GRAZE_ERROR_NOT_FINITE);
  assert_int_not_equal(access(scratch(".obj"), F_OK), 0);
}

static void test_pipe(void **state) {
  (void)state;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const char *text = TRI "f 1 2 3\n";
  assert_int_equal(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
  close(ends[1]);
  char path[64];
  snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
  graze_geometry g;
  graze_status status = graze_read_geometry(shared_context(0), path, GRAZE_FORMAT_AUTO, 0, &g);
  close(ends[0]);
  assert_int_equal(status, GRAZE_OK);
  assert_int_equal(g.triangle_count, 1);
  graze_geometry_free(&g);
}

/* A pipe with a name waits for somebody to write: it is not opened, and neither is one that a link leads to. */
static void test_named_pipe(void **state) {
  (void)state;
  char link[100];
  const char *path = scratch(".obj");
  snprintf(link, sizeof link, "%s.link", path);
  unlink(path);
  unlink(link);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_int_equal(symlink(path, link), 0);
  const char *const paths[] = {path, link};
  alarm(20); /* a reader that waits is ended */
  for (int i = 0; i < 2; i++) {
    graze_geometry g;
    graze_box_list boxes;
    assert_int_equal(graze_read_geometry(shared_context(0), paths[i], GRAZE_FORMAT_AUTO, 0, &g), GRAZE_ERROR_FILE);
    assert_non_null(strstr(shared_error()->message, ": cannot read: it is a pipe, not a file"));
    assert_int_equal(graze_read_boxes(shared_context(0), paths[i], &boxes), GRAZE_ERROR_FILE);
  }
  alarm(0);
  unlink(path);
  unlink(link);
}

static void test_round_trip(void **state) {
  (void)state;
  enum { VERTICES = 20000, TRIANGLES = 30000 };
  uint64_t seed = 7;
  graze_geometry g = {.vertices = malloc(VERTICES * 3 * sizeof(double)),
                      .indices = malloc(TRIANGLES * 3 * sizeof(uint32_t)),
                      .vertex_count = VERTICES,
                      .triangle_count = TRIANGLES};
  assert_non_null(g.vertices);
  assert_non_null(g.indices);
  for (int i = 0; i < 3 * VERTICES; i++) {
    do {
      uint64_t bits = random_next(&seed);
      memcpy(&g.vertices[i], &bits, sizeof bits);
    } while (!isfinite(g.vertices[i]));
  }
  for (int i = 0; i < 3 * TRIANGLES; i++) g.indices[i] = (uint32_t)(random_next(&seed) % VERTICES);
  graze_io_group groups[] = {{"a", 5, 0}, {"b c", 5, 1000}, {"", 1005, TRIANGLES - 1005}, {"last", TRIANGLES, 0}};
  g.groups = groups;
  g.group_count = 4;
  assert_int_equal(graze_write_obj(shared_context(1), scratch(".obj"), &g), GRAZE_OK);
  graze_geometry back;
  assert_int_equal(graze_read_geometry(shared_context(2), scratch(".obj"), GRAZE_FORMAT_AUTO, 0, &back), GRAZE_OK);
  remove(scratch(".obj"));
  assert_same(&g, &back);
  graze_geometry_free(&back);
  free(g.vertices);
  free(g.indices);
}

/* ---- scenes ---- */

static void check_scene_fault(const char *text, graze_status status, const char *message) {
  graze_scene_file scene;
  graze_status got = graze_parse_scene(shared_context(1), text, strlen(text), "s.json", &scene);
  if (got != status || strstr(shared_error()->message, message) == NULL)
    fail_msg("%d \"%s\" from %.200s", got, shared_error()->message, text);
  assert_int_equal(strncmp(shared_error()->message, "s.json:", 7), 0);
  assert_null(scene.objects);
  assert_int_equal(scene.object_count, 0);
}

#define OBJECT(name) "{\"name\":\"" name "\",\"mesh\":\"m.obj\"}"

static void test_scene(void **state) {
  (void)state;
  const char *text =
      "{\"graze\":1, \"units\":\"mm\", "
      "\"objects\":[{\"name\":\"a\",\"mesh\":\"sub/a.obj\",\"pose\":[1,2,3,4,5,6,7,8,9,10,0.1,1e-3],"
      "\"layer\":\"steel\"},{\"name\":\"b\",\"mesh\":\"/abs/b.stl\"}], \"ignore\":[[\"b\",\"a\"]],"
      "\"ignore_layers\":[[\"steel\",\"air\"],[\"x\",\"x\"]]}";
  graze_scene_file scene;
  assert_int_equal(graze_parse_scene(shared_context(1), text, strlen(text), "some/folder/s.json", &scene), GRAZE_OK);
  assert_string_equal(scene.units, "mm");
  assert_int_equal(scene.object_count, 2);
  assert_string_equal(scene.objects[0].name, "a");
  assert_string_equal(scene.objects[0].mesh, "some/folder/sub/a.obj");
  assert_string_equal(scene.objects[0].layer, "steel");
  assert_true(scene.objects[0].pose.m[3] == 4 && scene.objects[0].pose.m[10] == 0.1 &&
              scene.objects[0].pose.m[11] == 1e-3);
  assert_string_equal(scene.objects[1].mesh, "/abs/b.stl");
  assert_string_equal(scene.objects[1].layer, "");
  static const double identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  assert_memory_equal(scene.objects[1].pose.m, identity, sizeof identity);
  assert_int_equal(scene.ignore_count, 1);
  assert_int_equal(scene.ignore[0][0], 1);
  assert_int_equal(scene.ignore[0][1], 0);
  assert_int_equal(scene.ignore_layer_count, 2);
  assert_string_equal(scene.ignore_layers[0][1], "air");
  graze_scene_file_free(&scene);
  graze_scene_file_free(NULL);
  const char *least = "{\"graze\":1,\"objects\":[]}";
  assert_int_equal(graze_parse_scene(shared_context(1), least, strlen(least), "s.json", &scene), GRAZE_OK);
  assert_int_equal(scene.object_count, 0);
  assert_string_equal(scene.units, "");
  graze_scene_file_free(&scene);
}

static void test_scene_faults(void **state) {
  (void)state;
  static const struct {
    const char *text;
    graze_status status;
    const char *message;
  } cases[] = {
      {"", GRAZE_ERROR_FORMAT, "s.json:1: "},
      {"{\"graze\":1,\n\"objects\":[}", GRAZE_ERROR_FORMAT, "s.json:2: "},
      {"[]", GRAZE_ERROR_FORMAT, "not a JSON object"},
      {"{\"objects\":[]}", GRAZE_ERROR_FORMAT, "\"graze\" is missing"},
      {"{\"graze\":\"1\",\"objects\":[]}", GRAZE_ERROR_FORMAT, "\"graze\" is not a number"},
      {"{\"graze\":2,\"objects\":[]}", GRAZE_ERROR_FORMAT, "\"graze\" is not 1"},
      {"{\"graze\":1}", GRAZE_ERROR_FORMAT, "\"objects\" is missing"},
      {"{\"graze\":1,\"objects\":{}}", GRAZE_ERROR_FORMAT, "\"objects\" is not an array"},
      {"{\"graze\":1,\"objects\":[],\"object\":[]}", GRAZE_ERROR_FORMAT, "unknown key \"object\""},
      {"{\"graze\":1,\"objects\":[],\"objects\":[]}", GRAZE_ERROR_FORMAT, "s.json:1: "},
      {"{\"graze\":1,\"objects\":[],\"units\":3}", GRAZE_ERROR_FORMAT, "\"units\" is not a string"},
      {"{\"graze\":1,\"objects\":[3]}", GRAZE_ERROR_FORMAT, "objects[0]: not an object"},
      {"{\"graze\":1,\"objects\":[{\"mesh\":\"a\"}]}", GRAZE_ERROR_FORMAT, "objects[0]: \"name\" is missing"},
      {"{\"graze\":1,\"objects\":[{\"name\":\"a\"}]}", GRAZE_ERROR_FORMAT, "objects[0] (\"a\"): \"mesh\" is missing"},
      {"{\"graze\":1,\"objects\":[{\"name\":\"a\",\"mesh\":\"\"}]}", GRAZE_ERROR_FORMAT, "(\"a\"): \"mesh\" is empty"},
      {"{\"graze\":1,\"objects\":[{\"name\":3,\"mesh\":\"a\"}]}", GRAZE_ERROR_FORMAT, "\"name\" is not a string"},
      {"{\"graze\":1,\"objects\":[{\"name\":\"a\",\"mesh\":\"a\",\"poze\":[]}]}", GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\"): unknown key \"poze\""},
      {"{\"graze\":1,\"objects\":[{\"name\":\"a\",\"mesh\":\"a\",\"pose\":[1]}]}", GRAZE_ERROR_FORMAT,
       "\"pose\" is not an array of 12"},
      {"{\"graze\":1,\"objects\":[{\"name\":\"a\",\"mesh\":\"a\",\"pose\":[1,0,0,0,0,1,0,0,0,0,\"1\",0]}]}",
       GRAZE_ERROR_FORMAT, "\"pose\"[10] is not a number"},
      {"{\"graze\":1,\"objects\":[{\"name\":\"a\",\"mesh\":\"a\",\"pose\":[1e999,0,0,0,0,1,0,0,0,0,1,0]}]}",
       GRAZE_ERROR_NOT_FINITE, "s.json:1: "},
      {"{\"graze\":1,\"objects\":[{\"name\":\"a\",\"mesh\":\"a\",\"layer\":null}]}", GRAZE_ERROR_FORMAT,
       "\"layer\" is not a string"},
      {"{\"graze\":1,\"objects\":[" OBJECT("a") "," OBJECT("b") "," OBJECT("a") "]}", GRAZE_ERROR_FORMAT,
       "objects[2]: the name \"a\" is objects[0]'s already"},
      {"{\"graze\":1,\"objects\":[" OBJECT("a") "],\"ignore\":[[\"a\",\"c\"]]}", GRAZE_ERROR_FORMAT,
       "ignore[0]: no object has the name \"c\""},
      {"{\"graze\":1,\"objects\":[" OBJECT("a") "],\"ignore\":[[\"a\"]]}", GRAZE_ERROR_FORMAT,
       "ignore[0]: not an array of two"},
      {"{\"graze\":1,\"objects\":[],\"ignore\":3}", GRAZE_ERROR_FORMAT, "\"ignore\" is not an array"},
      {"{\"graze\":1,\"objects\":[],\"ignore_layers\":[[1,2]]}", GRAZE_ERROR_FORMAT,
       "ignore_layers[0]: not an array of two"},
      {"{\"graze\":1,\"objects\":[" OBJECT("\\u0000") "]}", GRAZE_ERROR_FORMAT, "s.json:1: "},
      {"{\"graze\":1,\"objects\":[" OBJECT("\xFF") "]}", GRAZE_ERROR_FORMAT, "s.json:1: "},
      {"{\"graze\":1,\"objects\":[]} x", GRAZE_ERROR_FORMAT, "s.json:1: "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check_scene_fault(cases[i].text, cases[i].status, cases[i].message);
  }
  graze_scene_file scene;
  assert_int_equal(graze_read_scene(shared_context(1), "no such scene.json", &scene), GRAZE_ERROR_FILE);
  char *deep = malloc(300000);
  assert_non_null(deep);
  memset(deep, '[', 300000);
  assert_int_equal(graze_parse_scene(shared_context(1), deep, 300000, "deep", &scene), GRAZE_ERROR_FORMAT);
  free(deep);
}

/* ---- data outside the tree ---- */

typedef struct bytes {
  char *data;
  size_t size;
} bytes;

/* Every beginning of a short file, and many of a long one, must come to an end too. */
static void check_beginnings(const bytes *file, const char *name) {
  size_t step = file->size / 700 + 1;
  for (size_t size = 0; size < file->size; size += step) {
    graze_geometry g;
    if (parse_exact(file->data, size, name, GRAZE_FORMAT_AUTO, 1, &g) == GRAZE_OK) assert_sound(&g);
    graze_geometry_free(&g);
  }
}

static int check_bad_file(const char *folder, const char *name, const char *format, const char *expect) {
  static const char *const formats[] = {"", "obj", "stl", "ply", "off"};
  int which = 1;
  while (which < 5 && strcmp(format, formats[which]) != 0) which++;
  if (which == 5) return 0;
  char path[1400];
  snprintf(path, sizeof path, "%s/data/bad/%s", folder, name);
  graze_geometry g;
  graze_status status = graze_read_geometry(shared_context(0), path, GRAZE_FORMAT_AUTO, 0, &g);
  if (status == GRAZE_OK) {
    if (strcmp(expect, "invalid") == 0) fail_msg("%s must be refused", name);
    assert_sound(&g);
  } else {
    if (strcmp(expect, "valid") == 0) fail_msg("%s must load: %s", name, shared_error()->message);
    assert_int_equal(strncmp(shared_error()->message, path, strlen(path)), 0);
    assert_empty(&g);
  }
  graze_geometry_free(&g);
  bytes file;
  file.data = test_read_file(path, &file.size);
  if (graze_parse_geometry(shared_context(0), file.data, file.size, name, (graze_file_format)which, 0, &g) != status) {
    fail_msg("%s: another status when the format is given", name);
  }
  graze_geometry_free(&g);
  check_beginnings(&file, name);
  free(file.data);
  return 1;
}

static void test_bad_files(void **state) {
  (void)state;
  const char *folder = test_shared();
  if (folder == NULL) {
    puts("SKIPPED test_io: no shared data, so the malformed files are not tried");
    skip();
  }
  char path[1400], line[2048];
  snprintf(path, sizeof path, "%s/data/bad/MANIFEST.csv", folder);
  FILE *manifest = fopen(path, "r");
  assert_non_null(manifest);
  int tried = 0;
  while (fgets(line, sizeof line, manifest) != NULL) {
    char *name = strtok(line, ",");
    char *format = strtok(NULL, ",");
    char *size = strtok(NULL, ",");
    char *expect = strtok(NULL, ",");
    assert_non_null(size);
    tried += check_bad_file(folder, name, format, expect);
  }
  fclose(manifest);
  assert_true(tried > 80);
}

/* The file `name` of the data folder, or its packed form, unpacked. */
static bytes read_data(const char *folder, const char *name) {
  char path[3000], command[3200];
  snprintf(path, sizeof path, "%s/data/%s", folder, name);
  size_t length = strlen(path);
  bool packed = length > 3 && strcmp(path + length - 3, ".xz") == 0;
  if (!packed && access(path, R_OK) != 0) {
    strcpy(path + length, ".xz");
    packed = true;
  }
  snprintf(command, sizeof command, "%s '%s'", packed ? "xz -dc" : "cat", path);
  FILE *stream = popen(command, "r");
  assert_non_null(stream);
  bytes file;
  file.data = test_read_all(stream, &file.size);
  assert_int_equal(pclose(stream), 0);
  return file;
}

/* Reads a mesh on all threads and on one. */
static graze_geometry check_data(const char *folder, const char *name) {
  bytes file = read_data(folder, name);
  char plain[600];
  snprintf(plain, sizeof plain, "%s", name);
  size_t length = strlen(plain);
  if (length > 3 && strcmp(plain + length - 3, ".xz") == 0) plain[length - 3] = 0;
  graze_geometry geometry, single;
  graze_status status =
      graze_parse_geometry(shared_context(0), file.data, file.size, plain, GRAZE_FORMAT_AUTO, 0, &geometry);
  if (status != GRAZE_OK) fail_msg("%s", shared_error()->message);
  assert_sound(&geometry);
  assert_int_equal(graze_parse_geometry(shared_context(1), file.data, file.size, plain, GRAZE_FORMAT_AUTO, 0, &single),
                   GRAZE_OK);
  assert_same(&geometry, &single);
  graze_geometry_free(&single);
  free(file.data);
  return geometry;
}

static void test_meshes(void **state) {
  (void)state;
  const char *folder = test_shared();
  if (folder == NULL) {
    puts("SKIPPED test_io: no shared data, so the real meshes are not read");
    skip();
  }
  char path[1400], line[1024], name[512];
  snprintf(path, sizeof path, "%s/data/truth/self_intersections.csv", folder);
  FILE *truth = fopen(path, "r");
  assert_non_null(truth);
  int read = 0;
  while (fgets(line, sizeof line, truth) != NULL) {
    unsigned long triangles, vertices;
    if (sscanf(line, "%511[^,],%lu,%lu", name, &triangles, &vertices) != 3) continue;
    graze_geometry g = check_data(folder, name);
    if (g.triangle_count != triangles || g.vertex_count != vertices) {
      fail_msg("%s: %llu triangles, %llu vertices", name, (unsigned long long)g.triangle_count,
               (unsigned long long)g.vertex_count);
    }
    graze_geometry_free(&g);
    read++;
  }
  fclose(truth);
  assert_true(read >= 47);
  graze_geometry house = check_data(folder, "scenes/fzk_haus/fzk_haus.obj"); /* one object a record */
  assert_int_equal(house.triangle_count, 35906);
  assert_int_equal(house.group_count, 110);
  assert_int_equal(house.groups[0].first_triangle, 0);
  graze_geometry_free(&house);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_file_errors), cmocka_unit_test(test_pipe),   cmocka_unit_test(test_named_pipe),
      cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_scene),  cmocka_unit_test(test_scene_faults),
      cmocka_unit_test(test_bad_files),   cmocka_unit_test(test_meshes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
