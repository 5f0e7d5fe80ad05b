/* Mesh files of every format, small ones, and what is said of bad ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geometry_files.h"

typedef struct small_file {
  const char *text;
  int vertices, triangles; /* vertices -1: refused */
  graze_status status;
  const char *message; /* its beginning behind the name */
} small_file;

#define GOOD(text, vertices, triangles) \
  { text, vertices, triangles, GRAZE_OK, "" }
#define BAD(text, status, message) \
  { text, -1, 0, status, message }

static void check_file(const char *name, const void *text, size_t size, const small_file *want) {
  graze_geometry geometry;
  graze_status status = parse_exact(text, size, name, GRAZE_FORMAT_AUTO, 1, &geometry);
  size_t length = strlen(name);
  if (status != want->status || (status != GRAZE_OK && shared_error()->status != status)) {
    fail_msg("status %d, not %d: %s\n%.200s", status, want->status, shared_error()->message, (const char *)text);
  }
  if (want->vertices < 0) {
    if (strncmp(shared_error()->message, name, length) != 0 ||
        strncmp(shared_error()->message + length, want->message, strlen(want->message)) != 0) {
      fail_msg("message \"%s\", not \"%s\"\n%.200s", shared_error()->message, want->message, (const char *)text);
    }
    assert_empty(&geometry);
    return;
  }
  assert_int_equal(geometry.vertex_count, want->vertices);
  assert_int_equal(geometry.triangle_count, want->triangles);
  assert_sound(&geometry);
  graze_geometry_free(&geometry);
  assert_empty(&geometry);
}

static void check_files(const char *name, const small_file *files, size_t count) {
  for (size_t i = 0; i < count; i++) check_file(name, files[i].text, strlen(files[i].text), &files[i]);
}

#define CHECK_FILES(name, files) check_files(name, files, sizeof files / sizeof files[0])

static void test_obj(void **state) {
  (void)state;
  static const small_file files[] = {
      GOOD(TRI "f 1 2 3\n", 3, 1),
      GOOD(TRI "f 1 2 3", 3, 1),
      GOOD("\xEF\xBB\xBF" TRI "f 1 2 3", 3, 1),
      GOOD("f 1 2 3\n" TRI, 3, 1),
      GOOD(TRI "f -3 -2 -1\n", 3, 1),
      GOOD(TRI "f 1/1 2/2 3/3\nf 1//1 2//2 3//3\nf 1/1/1 2/2/2 3/3/3\nf 1/ 2/ 3/\nf 1// 2// 3//\nf 1/-1/-1 2 3\n", 3,
           6),
      GOOD(TRI "v 1 1 0\nv 2 2 0\nf 1 2 3 4 5\n", 5, 3),
      GOOD("v 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nf 1 2 3\r\n", 3, 1),
      GOOD("v 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 3", 3, 1),
      GOOD("  v\t0  0 0 \n\n \t\nv 1 0 0 1\nv 0 1 0 .5 .5 .5 # colours\nf 1 2 3 # all\n", 3, 1),
      GOOD("v 0 \\\n 0 0\nv 1 0\\\r\n 0\nv 0 1 0\nf 1 \\\n2\\\n 3\n", 3, 1),
      GOOD("# a comment \\\n" TRI "f 1 2 3\n", 3, 1),
      GOOD("mtllib a b.mtl\ng\ns off\nusemtl x y\nvt 0 0\nvn 0 0 1\nl 1 2 \\\n 3\np 1\n" TRI "f 1 2 3\n", 3, 1),
      GOOD("# nothing\n", 0, 0),
      GOOD("3 1\r\n" TRI "f 1 2 3\n", 3, 1),
      BAD("3 2\n" TRI "f 1 2 3\n", GRAZE_ERROR_FORMAT, ":1: the first line says 3 vertices and 2 faces"),
      GOOD("3 1 0\n" TRI "f 1 2 3\n", 3, 1),
      BAD("3 2 0\n" TRI "f 1 2 3\n", GRAZE_ERROR_FORMAT, ":1: the first line says 3 vertices and 2 faces"),
      GOOD(TRI "vw 1 2\ngroup a\nbegin\nf 1 2 3\nv 1 1 1 nan -1.#IND 0\n", 4, 1),
      BAD(TRI "v 0 0 0 v 1 0 0\n", GRAZE_ERROR_FORMAT, ":4: \"v\" is not a number"),
      BAD(TRI "V 1 1 1\nf 1 2 3\n", GRAZE_ERROR_FORMAT, ":4: \"V\" is not an OBJ statement"),
      BAD(TRI "f1 2 3\n", GRAZE_ERROR_FORMAT, ":4: \"f1\" is not an OBJ statement"),
      BAD(TRI "fo 1 2 3\n", GRAZE_ERROR_FORMAT, ":4: \"fo\" is not an OBJ statement"),
      BAD(TRI "f 1 2\n 3\n", GRAZE_ERROR_FORMAT, ":4: a face needs"),
      BAD(TRI "f 1 2 3\n 3\n", GRAZE_ERROR_FORMAT, ":5: \"3\" is not an OBJ statement"),
      BAD("\nonce upon\na time\n", GRAZE_ERROR_FORMAT, ":2: \"once\" is not an OBJ statement"),
      BAD("3 1\n3 1\n" TRI "f 1 2 3\n", GRAZE_ERROR_FORMAT, ":2: \"3\" is not an OBJ statement"),
      GOOD("v 1 2 3\n", 1, 0),
      BAD("", GRAZE_ERROR_FORMAT, ": byte 0: the file is empty"),
      BAD("v 0 0\n", GRAZE_ERROR_FORMAT, ":1: a vertex needs three"),
      BAD("v\n", GRAZE_ERROR_FORMAT, ":1: a vertex needs three"),
      BAD("\n\nv 0 0 x\n", GRAZE_ERROR_FORMAT, ":3: \"x\" is not a number"),
      BAD("v 0 0 0,5\n", GRAZE_ERROR_FORMAT, ":1: \"0,5\" is not a number"),
      BAD("v 0 0 0 red\n", GRAZE_ERROR_FORMAT, ":1: \"red\" is not a number"),
      BAD("v 0 0 0x1p3\n", GRAZE_ERROR_FORMAT, ":1: \"0x1p3\" is not a number"),
      BAD("v 0 0 nan\n", GRAZE_ERROR_NOT_FINITE, ":1: the coordinate \"nan\" is not finite"),
      BAD("v 0 -INF 0\n", GRAZE_ERROR_NOT_FINITE, ":1: the coordinate \"-INF\" is not finite"),
      BAD("v 0 1e999 0\n", GRAZE_ERROR_NOT_FINITE, ":1: the coordinate \"1e999\" is too large"),
      BAD(TRI "f 1 2\n", GRAZE_ERROR_FORMAT, ":4: a face needs at least three corners"),
      BAD(TRI "f\n", GRAZE_ERROR_FORMAT, ":4: a face needs at least three corners"),
      BAD(TRI "f 1 2 0\n", GRAZE_ERROR_INDEX, ":4: \"0\" names vertex 0"),
      BAD(TRI "f 1 2 4\n", GRAZE_ERROR_INDEX, ":4: a corner names vertex 4, but the file has 3"),
      BAD(TRI "f 1 2 -4\n", GRAZE_ERROR_INDEX, ":4: a corner counts back to before the first vertex"),
      BAD(TRI "f 1 2 99999999999999999999\n", GRAZE_ERROR_INDEX, ":4: \"99999999999999999999\" names a vertex"),
      BAD(TRI "f 1 2 4294967295\n", GRAZE_ERROR_INDEX, ":4: \"4294967295\" names a vertex"),
      BAD(TRI "f 1 2 4294967294\n", GRAZE_ERROR_INDEX, ":4: a corner names vertex 4294967294"),
      BAD(TRI "f 1 2 3.0\n", GRAZE_ERROR_FORMAT, ":4: \"3.0\" is not a corner"),
      BAD(TRI "f 1 2 3/1/1/1\n", GRAZE_ERROR_FORMAT, ":4: \"3/1/1/1\" is not a corner"),
      BAD(TRI "f 1 2 +3\n", GRAZE_ERROR_FORMAT, ":4: \"+3\" is not a corner"),
      BAD(TRI "face 1 2 3\n", GRAZE_ERROR_FORMAT, ":4: \"face\" is not an OBJ statement"),
      BAD(TRI "surf 0 1 0 1 1 2 3\n", GRAZE_ERROR_UNSUPPORTED, ":4: \"surf\" statements"),
      BAD(TRI "\nf 1 2 3\\\n\nf 1 2 9\n", GRAZE_ERROR_INDEX, ":7: a corner names vertex 9"),
      BAD(TRI "f 1 2 \\\n 3 9\n", GRAZE_ERROR_INDEX, ":4: a corner names vertex 9"),
      BAD("\xFE\xFF\0v", GRAZE_ERROR_FORMAT, ": byte 0: UTF-16"),
  };
  CHECK_FILES("folder/a.obj", files);
}

static void test_obj_content(void **state) {
  (void)state;
  const char *text =
      "v 0 0 0\nv 1.5 0 0\nv 0 1 -0\nf 1 2 3\no first  \nf -1 1 2\nv 9 9 9 \nf -1 -2 -3 -4\no\no third one\nf 4 4 4\n";
  graze_geometry g;
  assert_int_equal(graze_parse_geometry(shared_context(1), text, strlen(text), "x", GRAZE_FORMAT_OBJ, 0, &g), GRAZE_OK);
  assert_sound(&g);
  static const uint32_t indices[] = {0, 1, 2, 2, 0, 1, 3, 2, 1, 3, 1, 0, 3, 3, 3};
  assert_int_equal(g.triangle_count, 5);
  assert_memory_equal(g.indices, indices, sizeof indices);
  assert_true(g.vertices[3] == 1.5 && signbit(g.vertices[8]) && g.all_float);
  assert_int_equal(g.group_count, 3);
  assert_string_equal(g.groups[0].name, "first");
  assert_string_equal(g.groups[1].name, "");
  assert_string_equal(g.groups[2].name, "third one");
  assert_int_equal(g.groups[0].first_triangle, 1);
  assert_int_equal(g.groups[0].triangle_count, 3);
  assert_int_equal(g.groups[1].triangle_count, 0);
  assert_int_equal(g.groups[2].triangle_count, 1);
  graze_geometry_free(&g);
  graze_geometry_free(NULL);
}

static graze_geometry must_read(const char *text, const char *name) {
  graze_geometry g;
  assert_int_equal(parse_exact(text, strlen(text), name, GRAZE_FORMAT_AUTO, 2, &g), GRAZE_OK);
  return g;
}

/* Half of the last decimal of the coordinate that has the most; exponents move the point. */
static void test_decimals(void **state) {
  (void)state;
  static const struct {
    const char *text, *name;
    double rounding;
  } files[] = {
      {"v 1 2 3\n", "a.obj", 0},
      {"v 1. 2e3 3\n", "a.obj", 0},
      {"v 1.000000 2 3.5\nvn 0.12345678 1 1\n", "a.obj", 0.5e-6},
      {"v 1.5 2 3\nv 1 1.25e-3 7\nf 1 1 2\n", "a.obj", 0.5e-5},
      {"v 1.25e4 25E-1 3\n", "a.obj", 0.05},
      {"v 0.5 0 0 0.123456789\n", "a.obj", 0.05},
      {"v 1e-2000 0 0\n", "a.obj", 0},
      {"OFF\n1 0 0\n0.25 -0.5 1e0 0.99999\n", "a.off", 0.005},
      {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nproperty float "
       "w\n"
       "end_header\n0.5 0.125 3 0.33333\n",
       "a.ply", 0.0005},
      {"solid a\nfacet normal 0.333333 0 0\nouter loop\nvertex 1 0.10 0\nvertex 0 0 0\nvertex 1 1 "
       "1\nendloop\nendfacet\n"
       "endsolid\n",
       "a.stl", 0.005},
  };
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    graze_geometry g = must_read(files[i].text, files[i].name);
    assert_true(fabs(g.rounding - files[i].rounding) <= 1e-12 * files[i].rounding);
    assert_false(g.stored_floats);
    graze_geometry_free(&g);
  }
}

#define FACET "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"

static void test_stl_ascii(void **state) {
  (void)state;
  static const small_file files[] = {
      GOOD("solid\n" FACET "endsolid\n", 3, 1),
      GOOD("solid a b\n" FACET FACET "endsolid a b", 6, 2),
      GOOD("solid a\nendsolid a\n", 0, 0),
      GOOD("solid a\n" FACET "endsolid a\n\nsolid b\n" FACET "endsolid\nsolid c\nendsolid", 6, 2),
      GOOD("SOLID A\nFACET NORMAL NAN nan -nan(ind)\nOuter Loop\nVERTEX 0 0 0\nVertex 1 0 0 vertex 0 1 "
           "0\nENDLOOP\nEndFacet\n"
           "EndSolid",
           3, 1),
      GOOD("solid a\rfacet normal 0 0 1\router loop\rvertex 0 0 0\rvertex 1 0 0\rvertex 0 1 "
           "0\rendloop\rendfacet\rendsolid\r",
           3, 1),
      GOOD("solid a\nfacet\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid", 3, 1),
      BAD("solid a\n" FACET, GRAZE_ERROR_FORMAT, ":9: facet 1: the file ends where \"endsolid\" should follow"),
      BAD("solid a\n" FACET "endsolid\n" FACET "endsolid\n", GRAZE_ERROR_FORMAT, ":10: \"facet\" where \"solid\""),
      BAD("solid a\nsolid b\n", GRAZE_ERROR_FORMAT, ":2: facet 0: \"solid\" where \"facet\""),
      BAD("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\nendfacet\nendsolid\n",
          GRAZE_ERROR_FORMAT, ":6: facet 0: \"endloop\" where \"vertex\""),
      BAD("solid a\n" FACET "facet normal 0 0 1\nouter loop\nvertex 0 0 nan\n", GRAZE_ERROR_NOT_FINITE,
          ":11: facet 1: the coordinate \"nan\" is not finite"),
      BAD("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0", GRAZE_ERROR_FORMAT,
          ":4: facet 0: a coordinate is missing"),
      BAD("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0 0\n", GRAZE_ERROR_FORMAT,
          ":4: facet 0: \"0\" where \"vertex\""),
      BAD("solid a\nfacet normal 0 0 1 2\nouter loop\nvertex 0 0 0\n", GRAZE_ERROR_FORMAT,
          ":2: facet 0: \"2\" where \"outer\""),
      BAD("facet normal 0 0 1\n", GRAZE_ERROR_FORMAT, ": byte 19: the file ends within the 84 bytes"),
  };
  CHECK_FILES("a.stl", files);
  graze_geometry g;
  const char *text = "solid first one\n" FACET "endsolid\nsolid\n" FACET FACET "endsolid second\n";
  assert_int_equal(graze_parse_geometry(shared_context(1), text, strlen(text), "x", GRAZE_FORMAT_AUTO, 0, &g),
                   GRAZE_OK);
  assert_int_equal(g.group_count, 2);
  assert_string_equal(g.groups[0].name, "first one");
  assert_string_equal(g.groups[1].name, "");
  assert_int_equal(g.groups[1].first_triangle, 1);
  assert_int_equal(g.groups[1].triangle_count, 2);
  graze_geometry_free(&g);
}

static void test_stl_binary(void **state) {
  (void)state;
  unsigned char file[84 + 50 * 4 + 8];
  small_file want = GOOD("", 9, 3);
  check_file("a.stl", file, make_binary_stl(file, "", 3, 3), &want);
  check_file("a.stl", file, make_binary_stl(file, "solid but binary", 3, 3), &want);
  check_file("a.bin", file, make_binary_stl(file, "solid\nfacet", 3, 3), &want);
  want = (small_file)GOOD("", 0, 0);
  check_file("a.stl", file, make_binary_stl(file, "", 0, 0), &want);
  want = (small_file)BAD("", GRAZE_ERROR_FORMAT,
                         ": byte 234: the count says 3 facets, that is 234 bytes, but the file has 284");
  check_file("a.stl", file, make_binary_stl(file, "solid x", 3, 4), &want);
  want = (small_file)BAD("", GRAZE_ERROR_FORMAT, ": byte 134: the count says 4294967295 facets");
  check_file("a.stl", file, make_binary_stl(file, "", 0xFFFFFFFFu, 1), &want);
  want = (small_file)BAD("", GRAZE_ERROR_FORMAT, ": byte 235: the count says 4 facets");
  check_file("a.stl", file, make_binary_stl(file, "", 4, 3) + 1, &want);
  float bad = NAN;
  make_binary_stl(file, "", 3, 3);
  memcpy(file + 84, &bad, 4); /* a normal: plays no part */
  want = (small_file)GOOD("", 9, 3);
  check_file("a.stl", file, 234, &want);
  memcpy(file + 84 + 50 + 12 + 16, &bad, 4);
  want = (small_file)BAD("", GRAZE_ERROR_NOT_FINITE, ": byte 162: facet 1, vertex 1: coordinate y is NaN");
  check_file("a.stl", file, 234, &want);
  graze_geometry g;
  size_t size = make_binary_stl(file, "", 4, 4);
  assert_int_equal(graze_parse_geometry(shared_context(1), file, size, "", GRAZE_FORMAT_AUTO, 0, &g), GRAZE_OK);
  for (uint32_t i = 0; i < 36; i++) assert_true(g.vertices[i] == (double)((float)i / 3));
  for (uint32_t i = 0; i < 12; i++) assert_int_equal(g.indices[i], i);
  assert_true(g.all_float && g.stored_floats);
  graze_geometry_free(&g);
}

static void test_off(void **state) {
  (void)state;
  static const small_file files[] = {
      GOOD("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", 3, 1),
      GOOD("OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2", 3, 1),
      GOOD("OFF3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2", 3, 1),
      GOOD("3 1\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2", 3, 1),
      GOOD("# c\n\n  OFF # c\n# c\n3 1 0 # c\n\n0 0 0 # c\n#\n1 0 0\n  \n0 1 0\n3 0 1 2 255 0 0 # red\n", 3, 1),
      GOOD("COFF\n3 1 0\n0 0 0 1 0 0 1\n1 0 0 1 0 0 1\n0 1 0 1 0 0 1\n3 0 1 2\n", 3, 1),
      GOOD("STCNOFF\n3 1 0\n0 0 0 1 0 0\n1 0 0 1 0 0\n0 1 0 1 0 0\n3 0 1 2\n", 3, 1),
      GOOD("OFF\r\n4 1 0\r\n0 0 0\r\n1 0 0\r\n1 1 0\r\n0 1 0\r\n4 0 1 2 3\r\n", 4, 2),
      GOOD("OFF\r4 1 0\r0 0 0\r1 0 0\r1 1 0\r0 1 0\r4 0 1 2 3", 4, 2),
      GOOD("OFF\n2 0 0\n0 0 0\n1 0 0\n", 2, 0),
      GOOD("OFF\n0 0 0\n", 0, 0),
      BAD("OFF\n", GRAZE_ERROR_FORMAT, ":2: \"\" is not the number of vertices"),
      BAD("OFF\n3\n1 0\n", GRAZE_ERROR_FORMAT, ":2: \"\" is not the number of faces"),
      GOOD("OFF\n3 1 0 0\n0 0 0 1 nan\n1 0 0\n0 1 0\n3 0 1 2 255 NaN inf\n", 3, 1),
      BAD("OFF\n3 1 0 x\n", GRAZE_ERROR_FORMAT, ":2: more than three counts"),
      BAD("OFF\n-3 1 0\n", GRAZE_ERROR_FORMAT, ":2: \"-3\" is not the number of vertices"),
      BAD("OFFS\n3 1 0\n", GRAZE_ERROR_FORMAT, ":1: the word OFF runs on"),
      BAD("4OFF\n3 1 0\n", GRAZE_ERROR_UNSUPPORTED, ":1: only plain"),
      BAD("OFF BINARY\n3 1 0\n", GRAZE_ERROR_UNSUPPORTED, ":1: binary OFF"),
      BAD("OFF\n3 1 0\n0 0 0\n1 0 0\n", GRAZE_ERROR_FORMAT, ":5: the file ends after 2 of 3 rows of \"vertex\""),
      BAD("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n", GRAZE_ERROR_FORMAT, ":6: the file ends after 0 of 1 rows of \"face\""),
      BAD("OFF\n4000000000 1 0\n0 0 0\n", GRAZE_ERROR_FORMAT, ":4: the file ends after 1 of 4000000000 rows"),
      BAD("OFF\n99999999999 1 0\n0 0 0\n", GRAZE_ERROR_LIMIT, ":2: 99999999999 vertices: more than 32-bit"),
      BAD("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n3 0 1 2\n", GRAZE_ERROR_FORMAT, ":7: more lines than"),
      BAD("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1\n3 0 1 2\n", GRAZE_ERROR_FORMAT, ":5: a coordinate is missing"),
      BAD("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 inf\n3 0 1 2\n", GRAZE_ERROR_NOT_FINITE, ":5: the coordinate \"inf\""),
      BAD("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n2 0 1\n", GRAZE_ERROR_FORMAT, ":6: a polygon of 2 corners"),
      BAD("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1\n", GRAZE_ERROR_FORMAT, ":6: a polygon has fewer corners"),
      BAD("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", GRAZE_ERROR_INDEX, ":6: vertex 3 is out of range"),
      BAD("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", GRAZE_ERROR_INDEX, ":6: \"-1\" is not the number of a vertex"),
      BAD("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 1.5\n", GRAZE_ERROR_FORMAT, ":6: \"1.5\" is not the number of a"),
      BAD("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2 red\n", GRAZE_ERROR_FORMAT, ":6: \"red\" is not a number"),
      BAD("hello\n", GRAZE_ERROR_FORMAT, ":1: no OFF header and no counts"),
  };
  CHECK_FILES("a.off", files);
}

#define STRIPS(n) "element tristrips " n "\nproperty list int int vertex_indices\n"
#define ROWS      "0 0 0\n1 0 0\n0 1 0\n"

static void test_ply_ascii(void **state) {
  (void)state;
  static const small_file files[] = {
      GOOD(PLY("ascii") XYZ("3") FACES("1") END ROWS "3 0 1 2\n", 3, 1),
      GOOD(PLY("ascii") XYZ("3") FACES("1") END ROWS "3 0 1 2", 3, 1),
      GOOD("ply\r\nformat ascii 1.0\r\ncomment a b\r\nobj_info c\r\n" XYZ("3") FACES("1") "end_header\r\n" ROWS
                                                                                          "3 0 1 2\r\n",
           3, 1),
      GOOD("ply\rformat ascii 1.0\relement vertex 1\rproperty int y\rproperty int x\rproperty double z\rend_header\r1 "
           "2 3.5",
           1, 0),
      GOOD(PLY("ascii") FACES("2") XYZ("4") END "3 0 1 2\n4 0 1 2 3\n" ROWS "1 1 1\n", 4, 3),
      GOOD(PLY("ascii") "element vertex 3\nproperty uchar red\nproperty float x\nproperty float y\nproperty list uchar "
                        "int n\n"
                        "property float z\nelement face 1\nproperty uchar f\nproperty list uchar uint vertex_index\n"
                        "property list uchar float uv\nelement edge 1\nproperty int v1\nproperty int v2\n" END
                        "9 0 0 0 0\n9 1 0 2 5 5 0\n9 0 1 1 5 0\n7 3 0 1 2 2 .5 .5\n0 1\n",
           3, 1),
      GOOD(PLY("ascii") XYZ("2") END "0 0 0\n\n1 1 1\n\n", 2, 0),
      GOOD(PLY("ascii") XYZ("0") FACES("0") END, 0, 0),
      GOOD(PLY("ascii") "element nothing 7\n" XYZ("1") END "1 2 3\n", 1, 0),
      BAD("ply\n", GRAZE_ERROR_FORMAT, ":2: the file ends within the header"),
      BAD("plyx\n", GRAZE_ERROR_FORMAT, ":1: \"plyx\" where \"ply\" should stand"),
      BAD("ply\nelement vertex 0\nend_header\n", GRAZE_ERROR_FORMAT, ":3: the header has no format"),
      BAD("ply\nformat ascii 2.0\n", GRAZE_ERROR_FORMAT, ":2: \"2.0\" is not the version 1.0"),
      BAD(PLY("ascii") "format ascii 1.0\n", GRAZE_ERROR_FORMAT, ":3: a second format"),
      BAD(PLY("ascii") "property float x\n", GRAZE_ERROR_FORMAT, ":3: a property before the first element"),
      BAD(PLY("ascii") "element vertex -1\n", GRAZE_ERROR_FORMAT, ":3: \"-1\" is not the number of elements"),
      GOOD(PLY("ascii") "element vertex 1 2\nproperty int x\nproperty int y\nproperty int z\n" END "0 0 0\n", 1, 0),
      BAD(PLY("ascii") "element vertex 1 x\n", GRAZE_ERROR_FORMAT, ":3: \"x\" is too much"),
      BAD(PLY("ascii") "element vertex 1\nproperty real x\n", GRAZE_ERROR_FORMAT, ":4: \"real\" is not a type"),
      BAD(PLY("ascii") "element face 1\nproperty list float int vertex_index\n", GRAZE_ERROR_FORMAT,
          ":4: the count of a list"),
      BAD(PLY("ascii") "hello\n", GRAZE_ERROR_FORMAT, ":3: \"hello\" is not a statement"),
      BAD(PLY("ascii") FACES("0") END, GRAZE_ERROR_FORMAT, ":5: the header has no element \"vertex\""),
      BAD(PLY("ascii") XYZ("0") XYZ("0") END, GRAZE_ERROR_FORMAT, ":7: element \"vertex\" occurs twice"),
      BAD(PLY("ascii") XYZ("0") "property float x\n" END, GRAZE_ERROR_FORMAT,
          ":3: element \"vertex\": property \"x\" occurs"),
      BAD(PLY("ascii") "element vertex 0\nproperty float x\nproperty float y\n" END, GRAZE_ERROR_FORMAT,
          ":3: element \"vertex\" has no property \"z\""),
      BAD(PLY("ascii") XYZ("1") "element face 1\nproperty int a\n" END "0 0 0\n1\n", GRAZE_ERROR_FORMAT,
          ":7: element \"face\" has no list"),
      BAD(PLY("ascii") XYZ("1") "element face 1\nproperty list uchar float vertex_index\n" END "0 0 0\n3 0 0 0\n",
          GRAZE_ERROR_FORMAT, ":7: element \"face\" has corners that are no integers"),
      BAD(PLY("ascii") XYZ("1") "element face 1\nproperty int vertex_index\n" END "0 0 0\n1\n", GRAZE_ERROR_FORMAT,
          ":7: element \"face\": property \"vertex_index\" is not a list"),
      GOOD(PLY("ascii") XYZ("3") STRIPS("2") END ROWS "9 0 1 2 0 -1 2 1 0 -1\n4 0 1 -1 2\n", 3, 3),
      BAD(PLY("ascii") XYZ("3") STRIPS("1") END ROWS "4 0 1 2 3\n", GRAZE_ERROR_INDEX, ":13: \"3\" is neither -1 nor"),
      BAD(PLY("ascii") XYZ("3") STRIPS("1") END ROWS "4 0 1 2 -2\n", GRAZE_ERROR_INDEX,
          ":13: \"-2\" is neither -1 nor"),
      BAD(PLY("ascii") XYZ("3") STRIPS("1") END ROWS "4 0 1 2\n", GRAZE_ERROR_FORMAT, ":13: the list is shorter"),
      BAD(PLY("ascii") XYZ("3") FACES("1") STRIPS("1") END ROWS "3 0 1 2\n3 0 1 2\n", GRAZE_ERROR_FORMAT,
          ":9: element \"tristrips\" stands beside other faces"),
      BAD(PLY("ascii") XYZ("4294967295") END, GRAZE_ERROR_LIMIT, ":3: element \"vertex\" has more rows"),
      BAD(PLY("ascii") XYZ("4000000000") END "0 0 0\n", GRAZE_ERROR_FORMAT,
          ":9: the file ends after 1 of 4000000000 rows"),
      GOOD(PLY("ascii") XYZ("1") END "0 0 0 0 1\n", 1, 0),
      BAD(PLY("ascii") XYZ("1") END "0 0 0 red\n", GRAZE_ERROR_FORMAT, ":8: \"red\" is too much on this line"),
      BAD(PLY("ascii") XYZ("3") FACES("1") END ROWS "3 0 1 2 0\n", GRAZE_ERROR_FORMAT, ":13: \"0\" is too much on"),
      BAD(PLY("ascii") XYZ("1") END "0 0\n", GRAZE_ERROR_FORMAT, ":8: a coordinate is missing"),
      BAD(PLY("ascii") XYZ("1") END "0 0 nan\n", GRAZE_ERROR_NOT_FINITE, ":8: the coordinate \"nan\""),
      BAD(PLY("ascii") XYZ("3") FACES("1") END ROWS "2 0 1\n", GRAZE_ERROR_FORMAT, ":13: a polygon of 2 corners"),
      BAD(PLY("ascii") XYZ("3") FACES("1") END ROWS "3 0 1 3\n", GRAZE_ERROR_INDEX, ":13: vertex 3 is out of range"),
      BAD(PLY("ascii") XYZ("3") FACES("1") END ROWS "3 0 1\n2\n", GRAZE_ERROR_FORMAT, ":14: more lines than"),
      BAD(PLY("ascii") XYZ("3") FACES("1") END ROWS "x 0 1 2\n", GRAZE_ERROR_FORMAT, ":13: \"x\" is not the count"),
  };
  CHECK_FILES("a.ply", files);
}

/* Appends a number of `size` bytes in the given byte order. */
static size_t put(char *out, const void *value, size_t size, bool big) {
  for (size_t i = 0; i < size; i++) out[i] = ((const char *)value)[big ? size - 1 - i : i];
  return size;
}

/* Vertices and faces among elements, lists and types of all kinds. Even: every face is a triangle. */
static size_t make_ply(char *out, bool big, bool even, bool vertices_last, int32_t wrong_corner) {
  static const char vertex_header[] =
      "element vertex 4\nproperty list ushort double extra\nproperty double z\nproperty uchar c\nproperty float x\n"
      "property int16 y\n";
  static const char face_header[] =
      "element face 3\nproperty float quality\nproperty list uint32 int32 vertex_indices\nproperty list char short "
      "more\n";
  size_t n = (size_t)sprintf(
      out,
      "ply\nformat binary_%s_endian 1.0\nelement other 2\nproperty uchar a\nproperty double b\n%s%s"
      "end_header\n",
      big ? "big" : "little", vertices_last ? face_header : vertex_header, vertices_last ? vertex_header : face_header);
  memset(out + n, 7, 18);
  n += 18;
  for (int turn = 0; turn < 2; turn++) {
    if ((turn == 0) == vertices_last) {
      for (uint32_t i = 0; i < 3; i++) {
        float quality = 0.5f;
        uint32_t count = even || i != 1 ? 3 : 4;
        n += put(out + n, &quality, 4, big);
        n += put(out + n, &count, 4, big);
        for (uint32_t k = 0; k < count; k++) {
          int32_t corner = i == 2 && k == 1 ? wrong_corner : (int32_t)((i + k) % 4);
          n += put(out + n, &corner, 4, big);
        }
        out[n++] = even || i != 2 ? 1 : 0;
        if (out[n - 1] == 1) n += put(out + n, &(int16_t){9}, 2, big);
      }
    } else {
      for (int i = 0; i < 4; i++) {
        uint16_t count = i == 2 ? 3 : 0;
        n += put(out + n, &count, 2, big);
        for (int k = 0; k < count; k++) n += put(out + n, &(double){NAN}, 8, big);
        n += put(out + n, &(double){0.1 * i}, 8, big);
        out[n++] = 5;
        n += put(out + n, &(float){(float)i}, 4, big);
        n += put(out + n, &(int16_t){(int16_t)(-300 * i)}, 2, big);
      }
    }
  }
  return n;
}

/* Every second triangle of a strip is turned, and -1 begins a new one; in text and in both byte orders. */
static void test_ply_strips(void **state) {
  (void)state;
  static const uint32_t wanted[] = {0, 1, 2, 2, 1, 3, 2, 3, 0, 3, 2, 1};
  static const int corners[] = {0, 1, 2, 3, 0, -1, 3, 2, 1};
  for (int order = 0; order < 3; order++) {
    static const char *const formats[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    char file[600];
    size_t size =
        (size_t)snprintf(file, sizeof file,
                         "ply\nformat %s 1.0\nelement vertex 4\nproperty char x\nproperty char y\nproperty char "
                         "z\nelement tristrips 1\nproperty list uchar int vertex_indices\nend_header\n%s",
                         formats[order], order > 0 ? "" : "0 0 0\n1 0 0\n0 1 0\n0 0 1\n9 0 1 2 3 0 -1 3 2 1\n");
    for (int i = 0; i < 12 && order > 0; i++) file[size++] = (char)i;
    if (order > 0) file[size++] = 9;
    for (int i = 0; i < 36 && order > 0; i++)
      file[size++] = (char)((uint32_t)corners[i / 4] >> (order == 1 ? i % 4 * 8 : 24 - i % 4 * 8));
    graze_geometry g;
    assert_int_equal(parse_exact(file, size, "a.ply", GRAZE_FORMAT_AUTO, 1, &g), GRAZE_OK);
    assert_int_equal(g.triangle_count, 4);
    assert_memory_equal(g.indices, wanted, sizeof wanted);
    graze_geometry_free(&g);
    if (order == 0) continue;
    assert_int_equal(parse_exact(file, size - 1, "a.ply", GRAZE_FORMAT_AUTO, 1, &g), GRAZE_ERROR_FORMAT);
    for (int i = 1; i <= 4; i++) file[size - (size_t)i] = 4;
    assert_int_equal(parse_exact(file, size, "a.ply", GRAZE_FORMAT_AUTO, 1, &g), GRAZE_ERROR_INDEX);
  }
}

/* What no triangle depends on is told once for each kind, with the first line, on however many threads; or is refused.
 */
typedef struct warnings {
  int count;
  char text[4][300];
} warnings;

static void keep_warning(void *user, graze_log_level level, const char *message) {
  warnings *w = user;
  if (level == GRAZE_LOG_WARNING && w->count < 4) snprintf(w->text[w->count++], sizeof w->text[0], "%s", message);
}

static void test_passed_over(void **state) {
  (void)state;
  enum { LINES = 40000 };
  char *text = malloc((size_t)LINES * 40);
  assert_non_null(text);
  size_t size = (size_t)sprintf(text, TRI "f 1 2 3\n");
  for (int i = 0; i < LINES; i++) size += (size_t)sprintf(text + size, i % 2 ? "vw %d\n" : "v 1 2 3 nan 0 0 # %d\n", i);
  for (int threads = 1; threads <= 4; threads += 3) {
    warnings w = {0};
    graze_context *context;
    graze_context_def def = graze_default_context_def();
    def.log = keep_warning;
    def.log_user = &w;
    def.threads = threads;
    assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
    graze_geometry g;
    assert_int_equal(graze_parse_geometry(context, text, size, "a.obj", GRAZE_FORMAT_AUTO, 0, &g), GRAZE_OK);
    assert_int_equal(g.vertex_count, 3 + LINES / 2);
    graze_geometry_free(&g);
    assert_int_equal(w.count, 2);
    assert_string_equal(w.text[0],
                        "a.obj:6: \"vw\" is not a statement of the format, and no triangle depends on it: "
                        "passed over (20000 such lines)");
    assert_string_equal(
        w.text[1], "a.obj:5: \"nan\" is not finite, and no triangle depends on it: passed over (20000 such lines)");
    assert_int_equal(graze_parse_geometry(context, text, size, "a.obj", GRAZE_FORMAT_AUTO, GRAZE_READ_STRICT, &g),
                     GRAZE_ERROR_FORMAT);
    assert_string_equal(graze_last_error(context)->message, "a.obj:5: \"nan\" is not a number");
    assert_int_equal(w.count, 2);
    graze_context_destroy(context);
  }
  free(text);
}

static void test_ply_binary(void **state) {
  (void)state;
  char file[2048];
  for (int variant = 0; variant < 8; variant++) {
    bool big = variant & 1, even = variant & 2, last = variant & 4;
    size_t size = make_ply(file, big, even, last, 0);
    graze_geometry g;
    graze_status status = parse_exact(file, size, "a.ply", GRAZE_FORMAT_AUTO, 1, &g);
    assert_int_equal(status, GRAZE_OK);
    assert_sound(&g);
    for (int i = 0; i < 4; i++) {
      assert_true(g.vertices[3 * i] == i && g.vertices[3 * i + 1] == -300 * i && g.vertices[3 * i + 2] == 0.1 * i);
    }
    static const uint32_t triangles[] = {0, 1, 2, 1, 2, 3, 2, 0, 0};
    static const uint32_t polygons[] = {0, 1, 2, 1, 2, 3, 1, 3, 0, 2, 0, 0};
    assert_int_equal(g.triangle_count, even ? 3 : 4);
    assert_memory_equal(g.indices, even ? triangles : polygons, even ? sizeof triangles : sizeof polygons);
    graze_geometry_free(&g);
    for (size_t cut = 0; cut < size; cut++) {
      status = parse_exact(file, cut, "a.ply", GRAZE_FORMAT_PLY, 1, &g);
      if (status != GRAZE_ERROR_FORMAT) fail_msg("cut off at %zu of %zu: status %d", cut, size, status);
    }
    file[size] = 1;
    assert_int_equal(parse_exact(file, size + 1, "a.ply", GRAZE_FORMAT_PLY, 1, &g), GRAZE_ERROR_FORMAT);
    file[size] = '\n';
    assert_int_equal(parse_exact(file, size + 1, "a.ply", GRAZE_FORMAT_PLY, 1, &g), GRAZE_OK);
    graze_geometry_free(&g);
    for (int wrong = 0; wrong < 2; wrong++) {
      size = make_ply(file, big, even, last, wrong == 0 ? 4 : -1);
      assert_int_equal(parse_exact(file, size, "a.ply", GRAZE_FORMAT_PLY, 1, &g), GRAZE_ERROR_INDEX);
      assert_non_null(strstr(shared_error()->message,
                             wrong == 0 ? "face 2, corner 1: vertex 4 is" : "face 2, corner 1: vertex -1 is"));
    }
  }
}

/* What is stored goes by the types, not by the values. */
static void test_ply_floats(void **state) {
  (void)state;
  static const char *const types[] = {"float", "double", "int"};
  for (int i = 0; i < 3; i++) {
    char file[300];
    int head = snprintf(file, sizeof file,
                        "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty %s x\nproperty %s y\n"
                        "property %s z\nend_header\n",
                        types[i], types[i], types[i]);
    size_t size = (size_t)head + (i == 1 ? 24 : 12);
    memset(file + head, 0, size - (size_t)head);
    graze_geometry g;
    assert_int_equal(parse_exact(file, size, "a.ply", GRAZE_FORMAT_AUTO, 1, &g), GRAZE_OK);
    assert_true(g.all_float);
    assert_int_equal(g.stored_floats, i == 0);
    graze_geometry_free(&g);
  }
}

/* Where the header's lines end with a lone CR, the LF behind the last one is data; with CR LF it is not. */
static void test_ply_header_ends(void **state) {
  (void)state;
  static const char *const headers[] = {
      "ply\rformat binary_little_endian 1.0\relement vertex 1\rproperty uchar x\rproperty uchar y\rproperty uchar z\r"
      "end_header\r",
      "ply\r\nformat binary_little_endian 1.0\r\nelement vertex 1\r\nproperty uchar x\r\nproperty uchar y\r\n"
      "property uchar z\r\nend_header\r\n",
      "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty uchar x\nproperty uchar y\nproperty uchar z\n"
      "end_header\n"};
  for (int i = 0; i < 3; i++) {
    char file[300];
    size_t size = (size_t)snprintf(file, sizeof file, "%s\n\n\n", headers[i]);
    graze_geometry g;
    assert_int_equal(parse_exact(file, size, "a.ply", GRAZE_FORMAT_AUTO, 1, &g), GRAZE_OK);
    assert_true(g.vertices[0] == 10 && g.vertices[1] == 10 && g.vertices[2] == 10);
    graze_geometry_free(&g);
  }
}

static void test_ply_lies(void **state) {
  (void)state;
  static const small_file files[] = {
      BAD(PLY("binary_little_endian") XYZ("4000000000") END "abc", GRAZE_ERROR_FORMAT,
          ": byte 127: the file ends within row 0"),
      BAD(PLY("binary_little_endian") XYZ("0") FACES("4000000000") END "abc", GRAZE_ERROR_FORMAT,
          ": byte 181: 4000000000 rows of element \"face\" need more"),
      BAD(PLY("binary_little_endian") XYZ("1") FACES("2") END "abcdefghijkl\xFF", GRAZE_ERROR_FORMAT, ": byte "),
      BAD(PLY("binary_big_endian") "element vertex 999999999999999999999999\nproperty double x\n" END,
          GRAZE_ERROR_LIMIT, ":3: element \"vertex\" has more rows"),
      BAD(PLY("binary_big_endian") XYZ("0") "element other 99999999999999999999\nproperty double x\n" END "12345678",
          GRAZE_ERROR_FORMAT, ": byte "),
  };
  CHECK_FILES("a.ply", files);
}

static void test_detection(void **state) {
  (void)state;
  static const struct {
    const char *name, *text;
    int triangles; /* -1: refused */
  } cases[] = {
      {"a.txt", "# c\nv 0 0 0\nv 0 0 1\nv 0 1 1\nf 1 2 3", 1},
      {"a.stl", "OFF\n1 1 0\n0 0 0\n3 0 0 0", 1}, /* content first */
      {"a.obj", "solid a\n" FACET "endsolid", 1},
      {"a.obj", PLY("ascii") XYZ("1") FACES("1") END "0 0 0\n3 0 0 0", 1},
      {"A.OFF", "1 1 0\n0 0 0\n3 0 0 0", 1},
      {"a.txt", "1 1 0\n0 0 0\n3 0 0 0", -1},
      {"a.txt", "hello", -1},
      {"", "hello", -1},
      {"obj", "hello", -1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    graze_geometry g;
    graze_status status = parse_exact(cases[i].text, strlen(cases[i].text), cases[i].name, GRAZE_FORMAT_AUTO, 1, &g);
    assert_int_equal(status, cases[i].triangles < 0 ? GRAZE_ERROR_FORMAT : GRAZE_OK);
    if (status == GRAZE_OK) assert_int_equal(g.triangle_count, cases[i].triangles);
    graze_geometry_free(&g);
  }
}

static void test_arguments(void **state) {
  (void)state;
  graze_geometry g;
  assert_int_equal(graze_parse_geometry(shared_context(1), NULL, 3, "a", GRAZE_FORMAT_AUTO, 0, &g),
                   GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_parse_geometry(shared_context(1), "v", 1, NULL, GRAZE_FORMAT_AUTO, 0, &g),
                   GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_parse_geometry(shared_context(1), "v", 1, "a", GRAZE_FORMAT_AUTO, 0, NULL),
                   GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_parse_geometry(shared_context(1), "v", 1, "a", (graze_file_format)9, 0, &g),
                   GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_parse_geometry(NULL, "v", 1, "a", GRAZE_FORMAT_AUTO, 0, &g), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_parse_geometry(shared_context(1), NULL, 0, "a", GRAZE_FORMAT_AUTO, 0, &g), GRAZE_ERROR_FORMAT);
  assert_int_equal(graze_read_geometry(shared_context(1), NULL, GRAZE_FORMAT_AUTO, 0, &g), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_write_obj(shared_context(1), NULL, &g), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_write_obj(shared_context(1), "a", NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_read_scene(shared_context(1), NULL, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_parse_scene(shared_context(1), "{}", 2, "a", NULL), GRAZE_ERROR_ARGUMENT);
}

/* A path longer than a message keeps its end and leaves room for the reason. */
static void test_long_path(void **state) {
  (void)state;
  char name[3000];
  memset(name, 'a', sizeof name);
  strcpy(name + sizeof name - 9, "/end.obj");
  graze_geometry g;
  assert_int_equal(graze_parse_geometry(shared_context(1), "v x", 3, name, GRAZE_FORMAT_AUTO, 0, &g),
                   GRAZE_ERROR_FORMAT);
  assert_non_null(strstr(shared_error()->message, "/end.obj:1: \"x\" is not a number"));
  assert_int_equal(strncmp(shared_error()->message, "...", 3), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_obj),        cmocka_unit_test(test_obj_content), cmocka_unit_test(test_stl_ascii),
      cmocka_unit_test(test_stl_binary), cmocka_unit_test(test_decimals),    cmocka_unit_test(test_ply_floats),
      cmocka_unit_test(test_off),        cmocka_unit_test(test_ply_ascii),   cmocka_unit_test(test_ply_binary),
      cmocka_unit_test(test_ply_strips), cmocka_unit_test(test_passed_over), cmocka_unit_test(test_ply_header_ends),
      cmocka_unit_test(test_ply_lies),   cmocka_unit_test(test_detection),   cmocka_unit_test(test_arguments),
      cmocka_unit_test(test_long_path),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
