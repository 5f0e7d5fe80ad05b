/* Mesh files that several processes read together, against the same files read whole: the same triangles with the same
 * numbers, and of damaged files the same message and the same warnings, for any number of parts. Line ends, continued
 * lines, corners that count backwards, faces before vertices; polygons; objects that share a mesh, meshes of none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "families.h"
#include "geometry_files.h"

enum { ROOM = 1 << 16, MOST_PARTS = 9, WORDS = 4096 };

typedef struct file_bytes {
  char data[ROOM];
  size_t size;
  const char *name; /* in the working directory */
} file_bytes;

static file_bytes file;
static uint64_t random_state;

static uint32_t below(uint32_t most) {
  return (uint32_t)(random_next(&random_state) % most);
}

static void add_bytes(const void *bytes, size_t size) {
  assert_true(file.size + size < ROOM);
  memcpy(file.data + file.size, bytes, size);
  file.size += size;
}

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void add(const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  add_bytes(line, (size_t)size);
}

/* In the working directory, of this process. */
static void begin_file(const char *ending) {
  static char name[64];
  snprintf(name, sizeof name, "test_slices_%ld%s", (long)getpid(), ending);
  file.size = 0;
  file.name = name;
}

static void write_file(void) {
  FILE *out = fopen(file.name, "wb");
  assert_non_null(out);
  assert_int_equal(fwrite(file.data, 1, file.size, out), file.size);
  assert_int_equal(fclose(out), 0);
}

/* ---- what a reader says ---- */

typedef struct answer {
  graze_status status;
  char words[WORDS]; /* all that went to the logger */
} answer;

static void keep_words(void *user, graze_log_level level, const char *message) {
  answer *a = user;
  const size_t used = strlen(a->words);
  if (level >= GRAZE_LOG_WARNING) snprintf(a->words + used, WORDS - used, "%s\n", message);
}

static graze_context *listening_context(answer *a) {
  graze_context *context = NULL;
  graze_context_def def = graze_default_context_def();
  *a = (answer){0};
  def.threads = 1;
  def.log = keep_words;
  def.log_user = a;
  assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
  return context;
}

/* ---- slices against the whole ---- */

static void compare_corners(const graze_geometry *whole, const graze_slice *slice) {
  for (uint64_t t = 0; t < slice->own.triangles; t++) {
    const uint32_t *corners = whole->indices + 3 * (slice->first_triangle + t);
    if (slice->indices != NULL) {
      assert_memory_equal(slice->indices + 3 * t, corners, 3 * sizeof *corners);
      continue;
    }
    for (int k = 0; k < 3; k++) {
      const double *v = whole->vertices + 3 * (size_t)corners[k];
      assert_memory_equal(slice->vertices + 9 * t + 3 * k, v, 3 * sizeof *v);
    }
  }
}

static void compare_slices(const graze_geometry *whole, const graze_slice *slices, uint32_t parts) {
  uint64_t triangles = 0, vertices = 0;
  for (uint32_t i = 0; i < parts; i++) {
    const graze_slice *s = &slices[i];
    assert_int_equal(s->first_triangle, triangles);
    assert_int_equal(s->all_triangles, whole->triangle_count);
    compare_corners(whole, s);
    triangles += s->own.triangles;
    if (s->indices == NULL) continue;
    assert_int_equal(s->first_vertex, vertices);
    if (s->own.vertices > 0)
      assert_memory_equal(s->vertices, whole->vertices + 3 * vertices, s->own.vertices * 3 * sizeof(double));
    vertices += s->own.vertices;
  }
  assert_int_equal(triangles, whole->triangle_count);
  if (slices[0].indices != NULL) assert_int_equal(vertices, whole->vertex_count);
}

/* Returns whether the file is one for slices. */
static bool read_parts(uint32_t parts, unsigned flags, const graze_geometry *whole, const answer *want) {
  graze_slice slices[MOST_PARTS];
  graze_slice_counts counts[MOST_PARTS];
  graze_slice_report reports[MOST_PARTS];
  answer got;
  graze_context *context = listening_context(&got);
  bool sliced = true;
  for (uint32_t i = 0; i < parts; i++) {
    assert_int_equal(graze_read_slice(context, file.name, flags, i, parts, &slices[i]), GRAZE_OK);
    counts[i] = slices[i].own;
    sliced &= counts[i].sliced != 0;
  }
  for (uint32_t i = 0; i < parts && sliced; i++) {
    assert_int_equal(graze_slice_place(context, &slices[i], counts), GRAZE_OK);
    reports[i] = slices[i].report;
  }
  if (sliced) {
    got.status = graze_slice_judge(context, file.name, reports, parts);
    assert_string_equal(got.words, want->words);
    assert_int_equal(got.status, want->status);
    if (got.status == GRAZE_OK) compare_slices(whole, slices, parts);
  }
  for (uint32_t i = 0; i < parts; i++) graze_slice_free(&slices[i]);
  graze_context_destroy(context);
  return sliced;
}

/* Returns in how many ways the file was read in slices; `bad`: those that ended with an error. */
static uint32_t check_file(unsigned flags, uint32_t *bad) {
  answer want;
  graze_geometry whole;
  graze_context *context = listening_context(&want);
  uint32_t sliced = 0;
  write_file();
  want.status = graze_read_geometry(context, file.name, GRAZE_FORMAT_AUTO, flags, &whole);
  for (uint32_t parts = 1; parts <= MOST_PARTS; parts += 1 + below(4)) {
    const bool is = read_parts(parts, flags, &whole, &want);
    sliced += is;
    *bad += is && want.status != GRAZE_OK;
  }
  graze_geometry_free(&whole);
  graze_context_destroy(context);
  return sliced;
}

/* One byte more, less or another one, here and there. */
static void damage(void) {
  static const char likely[] = "0123456789 -.nae\n\r\\/fvxg#";
  for (uint32_t k = 1 + below(3); k-- > 0 && file.size > 0;) {
    const size_t at = below((uint32_t)file.size);
    switch (below(4)) {
      case 0:
        memmove(file.data + at, file.data + at + 1, --file.size - at);
        break;
      case 1:
        memmove(file.data + at + 1, file.data + at, file.size++ - at);
        file.data[at] = likely[below(sizeof likely - 1)];
        break;
      default:
        file.data[at] = below(2) ? likely[below(sizeof likely - 1)] : (char)below(256);
    }
  }
}

/* Files that `make` makes are read in slices; so are some that are damaged, until some of these are not good. */
static void check_kind(uint64_t number, const char *ending, void (*make)(void), uint32_t least_bad) {
  uint32_t bad = 0, sliced = 0;
  random_state = test_seed(number);
  for (int round = test_rounds(12, 400); round-- > 0;) {
    begin_file(ending);
    make();
    uint32_t none = 0;
    assert_true(check_file(0, &none) > 0);
    assert_int_equal(none, 0);
  }
  for (int round = test_rounds(100, 5000); round > 0 || bad < least_bad; round--) {
    begin_file(ending);
    make();
    damage();
    sliced += check_file(below(4) == 0 ? GRAZE_READ_STRICT : 0, &bad);
  }
  assert_true(sliced > 0);
  remove(file.name);
}

/* ---- OBJ ---- */

static double coordinate(void) {
  return (double)((int32_t)below(2000) - 1000) / 8;
}

static void add_face(uint32_t vertices, uint32_t before, const char *end) {
  add("f");
  for (uint32_t k = 3 + below(4); k-- > 0;) {
    if (below(9) == 0) add(" \\%s", end);
    if (before > 0 && below(3) == 0)
      add(" -%u", 1 + below(before));
    else
      add(below(2) ? " %u" : " %u/1/2", 1 + below(vertices));
  }
  add("%s", end);
}

/* Vertices and faces by turns, all faces at the end, or at the beginning. */
static void make_obj(void) {
  static const char *const ends[] = {"\n", "\r\n", "\r"};
  const char *end = ends[below(3)];
  const uint32_t vertices = 30 + below(60), how = below(3);
  uint32_t made = 0, faces = 30 + below(60);
  if (below(4) == 0) add("\xEF\xBB\xBF");
  if (below(4) == 0) add("%u %u%s", vertices, faces, end);
  if (how == 2)
    for (; faces > 1; faces--) add_face(vertices, 0, end);
  while (made < vertices) {
    add("v %g %.9g %g%s%s", coordinate(), coordinate(), coordinate() / 3, below(5) ? "" : " 1 nan 0", end);
    made++;
    const uint32_t kind = below(12);
    if (kind == 0) add("# a comment \\%s", end);
    if (kind == 1) add("vt 0 \\%s 1%s", end, end);
    if (kind == 2) add("g part%u%s", below(5), end);
    if (kind == 3) add("thing %u%s", below(5), end);
    if (how == 0 && kind > 6 && faces > 1) add_face(vertices, made, end), faces--;
  }
  while (faces-- > 0 && faces < 1000) add_face(vertices, vertices, end);
  if (below(3) == 0 && file.data[file.size - 1] != '\\') file.size -= strlen(end); /* no line end at the end */
}

static void test_obj(void **state) {
  (void)state;
  check_kind(1, ".obj", make_obj, 5);
}

/* A file of other words, one without vertices, and one that is too short for parts. */
static void test_odd_obj(void **state) {
  (void)state;
  uint32_t bad = 0;
  random_state = test_seed(5);
  begin_file(".obj");
  for (int i = 0; i < 100; i++) add("word%d 1 2 3\n", i);
  assert_true(check_file(0, &bad) > 0 && bad > 0);
  begin_file(".obj");
  for (int i = 0; i < 100; i++) add("# nothing here\n");
  check_file(0, &bad);
  begin_file(".obj");
  add(TRI "f 1 2 3\n");
  check_file(0, &bad);
  begin_file(".obj");
  for (int i = 0; i < 100; i++) add(TRI "f %d 2 3\n", i == 70 ? 500 : 1);
  bad = 0;
  assert_true(check_file(0, &bad) > 0 && bad > 0);
  remove(file.name);
}

/* ---- binary STL ---- */

static void put_float(float x) {
  add_bytes(&x, sizeof x);
}

static void make_stl(void) {
  char head[84] = "a header that says nothing";
  const uint32_t count = below(100);
  if (below(2)) memcpy(head, "solid ", 6);
  memcpy(head + 80, &count, sizeof count);
  add_bytes(head, sizeof head);
  for (uint32_t i = 0; i < count; i++) {
    for (int k = 0; k < 12; k++) put_float(below(3000) == 0 ? NAN : (float)coordinate());
    add_bytes("\1\2", 2);
  }
}

static void make_good_stl(void) {
  make_stl();
  const float zero = 0;
  for (size_t at = 84 + 12; at + 38 <= file.size; at += 50) {
    for (size_t k = 0; k < 9; k++) {
      float x;
      memcpy(&x, file.data + at + 4 * k, sizeof x);
      if (!isfinite(x)) memcpy(file.data + at + 4 * k, &zero, sizeof zero);
    }
  }
}

/* Numbers that are not finite, of which the first one counts. */
static void test_stl(void **state) {
  (void)state;
  uint32_t bad = 0;
  check_kind(2, ".stl", make_good_stl, 0);
  for (int i = 0; i < 100 || bad == 0; i++) {
    begin_file(".stl");
    make_stl();
    assert_true(check_file(0, &bad) > 0);
  }
  remove(file.name);
}

/* ---- binary PLY ---- */

static bool big_endian;

static void put_word(const void *value, size_t size) {
  unsigned char bytes[8];
  memcpy(bytes, value, size);
  for (size_t k = 0; k < size; k++) add_bytes(&bytes[big_endian ? size - 1 - k : k], 1);
}

static void put_vertices(uint32_t count, bool wide) {
  for (uint32_t i = 0; i < count; i++) {
    add_bytes("\7", 1);
    for (int k = 0; k < 3; k++) {
      const double x = below(4000) == 0 ? INFINITY : coordinate();
      const float narrow = (float)x;
      put_word(wide ? (const void *)&x : &narrow, wide ? sizeof x : sizeof narrow);
    }
  }
}

static void put_faces(uint32_t count, uint32_t corners, uint32_t vertices) {
  for (uint32_t i = 0; i < count; i++) {
    const unsigned char size = (unsigned char)corners;
    add_bytes(&size, 1);
    for (uint32_t k = 0; k < corners; k++) {
      const uint32_t vertex = below(5000) == 0 ? vertices : below(vertices);
      put_word(&vertex, sizeof vertex);
    }
    add_bytes("\3\4", 2);
  }
}

static void make_ply(void) {
  const uint32_t vertices = 1 + below(90), faces = below(90), corners = 3 + below(3);
  const bool wide = below(2), faces_first = below(3) == 0;
  big_endian = below(2);
  char list[160], points[160];
  snprintf(list, sizeof list, "element face %u\nproperty list uchar uint vertex_index\nproperty short s\n", faces);
  snprintf(points, sizeof points, "element vertex %u\nproperty uchar c\nproperty %s x\nproperty %s y\nproperty %s z\n",
           vertices, wide ? "double" : "float", wide ? "double" : "float", wide ? "double" : "float");
  if (below(4) == 0) add("\xEF\xBB\xBF");
  add("ply\nformat binary_%s_endian 1.0\ncomment c\n", big_endian ? "big" : "little");
  add("%s%selement other 3\nproperty int i\nend_header\n", faces_first ? list : points, faces_first ? points : list);
  if (faces_first) put_faces(faces, corners, vertices);
  put_vertices(vertices, wide);
  if (!faces_first) put_faces(faces, corners, vertices);
  add_bytes("123456789012\n", below(2) ? 12 : 13);
}

/* Some rows are at fault by themselves. */
static void test_ply(void **state) {
  (void)state;
  uint32_t bad = 0, sliced = 0;
  random_state = test_seed(3);
  for (int round = test_rounds(150, 5000); round > 0 || bad < 5 || sliced < 20; round--) {
    begin_file(".ply");
    make_ply();
    const uint32_t before = bad, ways = check_file(0, &bad);
    assert_true(ways > 0 || bad > before);
    if (below(2)) damage();
    sliced += check_file(0, &bad);
  }
  remove(file.name);
}

/* Of polygons that do not have as many corners each there are no slices. */
static void test_uneven_ply(void **state) {
  (void)state;
  uint32_t bad = 0;
  random_state = test_seed(6);
  big_endian = false;
  begin_file(".ply");
  add("ply\nformat binary_little_endian 1.0\n" XYZ("4") FACES("2") END);
  for (int k = 0; k < 12; k++) put_float((float)(k % 5));
  add_bytes("\3\0\0\0\0\1\0\0\0\2\0\0\0\4\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0", 30);
  write_file();
  graze_slice slices[2];
  uint64_t sliced = 0;
  for (uint32_t i = 0; i < 2; i++) {
    assert_int_equal(graze_read_slice(shared_context(1), file.name, 0, i, 2, &slices[i]), GRAZE_OK);
    sliced += slices[i].own.sliced;
    graze_slice_free(&slices[i]);
  }
  assert_true(sliced < 2);
  assert_int_equal(check_file(0, &bad), 0);
  remove(file.name);
}

/* ---- GLB ---- */

enum { MESHES = 5, OBJECTS = 9, TRIANGLES = 12 };

static void read_back(void) {
  FILE *in = fopen(file.name, "rb");
  assert_non_null(in);
  file.size = fread(file.data, 1, ROOM, in);
  assert_int_equal(fclose(in), 0);
}

/* Objects share meshes, and some meshes have none. */
static void make_glb(void) {
  static double vertices[MESHES][9 * TRIANGLES];
  static uint32_t indices[MESHES][3 * TRIANGLES];
  graze_assembly_mesh meshes[MESHES];
  graze_assembly_object objects[OBJECTS];
  for (uint32_t m = 0; m < MESHES; m++) {
    const uint32_t count = 1 + below(TRIANGLES);
    for (uint32_t i = 0; i < 9 * count; i++) vertices[m][i] = coordinate();
    for (uint32_t i = 0; i < 3 * count; i++) indices[m][i] = below(3 * count);
    meshes[m] = (graze_assembly_mesh){
        "m",
        {.vertices = vertices[m], .vertex_count = 3 * (uint64_t)count, .indices = indices[m], .triangle_count = count}};
  }
  for (uint32_t i = 0; i < OBJECTS; i++)
    objects[i] = (graze_assembly_object){
        .name = "o", .mesh = below(MESHES), .pose = test_translation(coordinate(), coordinate(), coordinate())};
  const graze_assembly all = {
      .meshes = meshes, .mesh_count = MESHES, .objects = objects, .object_count = 1 + below(OBJECTS)};
  assert_int_equal(graze_write_glb(shared_context(1), file.name, &all), GRAZE_OK);
  read_back();
}

static void test_glb(void **state) {
  (void)state;
  check_kind(4, ".glb", make_glb, 2);
}

/* Numbers that are not finite, in several meshes. */
static void test_faulty_glb(void **state) {
  (void)state;
  uint32_t bad = 0;
  random_state = test_seed(7);
  for (int round = test_rounds(40, 1000); round > 0 || bad < 5; round--) {
    begin_file(".glb");
    make_glb();
    for (uint32_t k = 1 + below(6); k-- > 0;) {
      const size_t at = file.size / 2 + 4 * (size_t)below((uint32_t)file.size / 8 - 1);
      const uint32_t word = below(2) ? 0x7fc00000 : 5000;
      memcpy(file.data + at - at % 4, &word, sizeof word);
    }
    check_file(0, &bad);
  }
  remove(file.name);
}

/* Nodes that stand outside the scene, of which one part tells for all. */
static void test_other_scenes(void **state) {
  (void)state;
  static const char before[] = "\"scenes\":[{\"nodes\":[";
  uint32_t bad = 0, changed = 0;
  random_state = test_seed(10);
  while (changed < 3) {
    begin_file(".glb");
    make_glb();
    char *from = strstr(file.data + 20, before); /* behind the heads of the file and of its first chunk */
    assert_non_null(from);
    from += strlen(before);
    char *end = strchr(from, ']'), *comma = memchr(from, ',', (size_t)(end - from));
    if (comma == NULL) continue; /* a single object */
    memset(comma, ' ', (size_t)(end - comma));
    changed++;
    assert_true(check_file(0, &bad) > 0);
  }
  assert_int_equal(bad, 0);
  remove(file.name);
}

/* ---- no slices ---- */

static void test_others(void **state) {
  (void)state;
  uint32_t bad = 0;
  random_state = test_seed(8);
  static const char *const texts[][2] = {
      {".stl",
       "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
       "endsolid\n"},
      {".ply", "ply\nformat ascii 1.0\n" XYZ("3") FACES("1") END "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"},
      {".off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"},
      {".gltf", "{\"asset\":{\"version\":\"2.0\"}}"},
      {".obj", ""},
      {".what",
       "what is this, and what for; it has no slices, and it is no mesh at all, however often one looks at it"}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    begin_file(texts[i][0]);
    add("%s", texts[i][1]);
    assert_int_equal(check_file(0, &bad), 0);
    remove(file.name);
  }
  graze_slice slice;
  assert_int_equal(graze_read_slice(shared_context(1), "no such file.obj", 0, 0, 2, &slice), GRAZE_OK);
  assert_int_equal(slice.own.sliced, 0);
  graze_slice_free(&slice);
  assert_int_equal(graze_read_slice(shared_context(1), "a.obj", 0, 2, 2, &slice), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_read_slice(shared_context(1), "a.obj", GRAZE_READ_PARTS, 0, 2, &slice), GRAZE_ERROR_ARGUMENT);
  graze_slice_free(&slice);
}

/* ---- memory ---- */

static graze_status read_refused(graze_context *context) {
  graze_slice slice;
  graze_status status = graze_read_slice(context, file.name, 0, 0, 1, &slice);
  const graze_slice_counts counts = slice.own;
  if (status == GRAZE_OK) status = graze_slice_place(context, &slice, &counts);
  const graze_slice_report report = slice.report;
  if (status == GRAZE_OK) status = graze_slice_judge(context, file.name, &report, 1);
  graze_slice_free(&slice);
  return status;
}

static void test_memory(void **state) {
  (void)state;
  static const struct {
    const char *ending;
    void (*make)(void);
  } kinds[] = {{".obj", make_obj}, {".stl", make_good_stl}, {".glb", make_glb}};
  random_state = test_seed(9);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    begin_file(kinds[i].ending);
    kinds[i].make();
    write_file();
    test_refuse_each(read_refused, 5000);
    remove(file.name);
  }
  begin_file(".ply");
  add("ply\nformat binary_little_endian 1.0\n" XYZ("3") FACES("1") END);
  for (int k = 0; k < 9; k++) put_float((float)k);
  add_bytes("\3\0\0\0\0\1\0\0\0\2\0\0\0", 13);
  write_file();
  test_refuse_each(read_refused, 5000);
  remove(file.name);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_obj),        cmocka_unit_test(test_odd_obj),      cmocka_unit_test(test_stl),
      cmocka_unit_test(test_ply),        cmocka_unit_test(test_uneven_ply),   cmocka_unit_test(test_glb),
      cmocka_unit_test(test_faulty_glb), cmocka_unit_test(test_other_scenes), cmocka_unit_test(test_others),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
