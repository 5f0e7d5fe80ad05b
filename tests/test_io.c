/* Numbers, mesh readers, the scene reader and the OBJ writer. The test data outside the tree is looked for in
 * $GRAZE_SHARED, else in ../shared next to the source folder; where it is missing those tests are skipped. */
#include <errno.h>
#include <fenv.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graze/io.h"
#include "support.h"

/* ---- helpers ---- */

static uint64_t seed;

static uint64_t random_bits(void) {
  uint64_t x = seed += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

static double double_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

typedef struct bytes {
  char *data;
  size_t size;
} bytes;

/* A copy without room behind it, so that the address sanitizer sees a read past the end. */
static graze_status parse_exact(const void *data, size_t size, const char *name, graze_file_format format, int threads,
                                graze_geometry *geometry, graze_io_error *error) {
  char *copy = malloc(size > 0 ? size : 1);
  assert_non_null(copy);
  memcpy(copy, data, size);
  graze_status status = graze_parse_geometry(copy, size, name, format, threads, geometry, error);
  free(copy);
  return status;
}

static void assert_same(const graze_geometry *a, const graze_geometry *b) {
  assert_int_equal(a->vertex_count, b->vertex_count);
  assert_int_equal(a->triangle_count, b->triangle_count);
  assert_int_equal(a->group_count, b->group_count);
  assert_int_equal(a->all_float, b->all_float);
  if (a->vertex_count > 0) assert_memory_equal(a->vertices, b->vertices, a->vertex_count * 3 * sizeof(double));
  if (a->triangle_count > 0) assert_memory_equal(a->indices, b->indices, a->triangle_count * 3 * sizeof(uint32_t));
  for (uint32_t i = 0; i < a->group_count; i++) {
    assert_string_equal(a->groups[i].name, b->groups[i].name);
    assert_int_equal(a->groups[i].first_triangle, b->groups[i].first_triangle);
    assert_int_equal(a->groups[i].triangle_count, b->groups[i].triangle_count);
  }
}

static void assert_sound(const graze_geometry *geometry) {
  assert_non_null(geometry->vertices);
  assert_non_null(geometry->indices);
  bool all_float = true;
  for (uint64_t i = 0; i < 3 * geometry->vertex_count; i++) {
    assert_true(isfinite(geometry->vertices[i]));
    volatile float rounded = (float)geometry->vertices[i];
    if ((double)rounded != geometry->vertices[i]) all_float = false;
  }
  assert_int_equal(geometry->all_float, all_float);
  for (uint64_t i = 0; i < 3 * geometry->triangle_count; i++) {
    assert_true(geometry->indices[i] < geometry->vertex_count);
  }
  uint64_t next = geometry->group_count > 0 ? geometry->groups[0].first_triangle : 0;
  for (uint32_t i = 0; i < geometry->group_count; i++) {
    assert_int_equal(geometry->groups[i].first_triangle, next);
    next += geometry->groups[i].triangle_count;
  }
  if (geometry->group_count > 0) assert_int_equal(next, geometry->triangle_count);
}

static void assert_empty(const graze_geometry *geometry) {
  assert_null(geometry->vertices);
  assert_null(geometry->indices);
  assert_null(geometry->groups);
  assert_int_equal(geometry->vertex_count + geometry->triangle_count + geometry->group_count, 0);
}

/* ---- numbers ---- */

static void check_number(const char *text) {
  char *end;
  double want = strtod(text, &end);
  size_t length = strlen(text);
  char *copy = malloc(length > 0 ? length : 1);
  assert_non_null(copy);
  memcpy(copy, text, length);
  double got = 0;
  const char *rest = graze_parse_double(copy, copy + length, &got);
  if (end == text) {
    assert_null(rest);
  } else if (rest != copy + (end - text) || bits_of(got) != bits_of(want)) {
    fail_msg("\"%.100s\": %a, strtod %a", text, got, want);
  }
  free(copy);
}

static void test_random_numbers(void **state) {
  (void)state;
  seed = 1;
  char text[64];
  for (int i = 0; i < 2000000; i++) {
    double value = double_of(random_bits());
    if (!isfinite(value)) continue;
    snprintf(text, sizeof text, "%.*e", (int)(random_bits() % 21), value);
    check_number(text);
  }
  for (int i = 0; i < 1000000; i++) { /* as files have them */
    snprintf(text, sizeof text, "%.*f", (int)(random_bits() % 12), (double)(int64_t)random_bits() / 1e14);
    check_number(text);
  }
  for (int i = 0; i < 500000; i++) { /* any digits, any exponent */
    snprintf(text, sizeof text, "%llu.%llue%d", (unsigned long long)(random_bits() >> random_bits() % 64),
             (unsigned long long)(random_bits() >> random_bits() % 64), (int)(random_bits() % 720) - 370);
    check_number(text);
  }
}

/* Midpoints of neighbouring doubles, written out in full, with a one far behind, and cut off anywhere. */
static void test_halfway_numbers(void **state) {
  (void)state;
#if LDBL_MANT_DIG > DBL_MANT_DIG && LDBL_MAX_EXP > DBL_MAX_EXP
  seed = 2;
  char text[2048];
  for (int i = 0; i < 40000; i++) {
    uint64_t bits = random_bits() >> 1;
    if (i % 3 == 0) bits = (bits & 0xFFFFFFFFFFFFFu) >> random_bits() % 52; /* subnormal */
    if (i % 7 == 0) bits &= ~(uint64_t)0xFFFFFFFFFFFFFu;                    /* a power of two */
    if (bits + 1 >= bits_of(INFINITY)) continue;
    long double middle = ((long double)double_of(bits) + (long double)double_of(bits + 1)) / 2;
    snprintf(text, 900, "%.*Le", i % 2 == 0 ? 780 : (int)(random_bits() % 780), middle);
    check_number(text);
    char tail[24];
    char *exponent = strchr(text, 'e');
    assert_non_null(exponent);
    snprintf(tail, sizeof tail, "%s", exponent);
    size_t zeros = random_bits() % 900;
    memset(exponent, '0', zeros);
    snprintf(exponent + zeros, 32, "1%s", tail);
    check_number(text);
  }
#else
  skip();
#endif
}

static void test_odd_numbers(void **state) {
  (void)state;
  static const char *const texts[] = {
      "0",
      "-0",
      "+0.0",
      "1",
      "-1",
      "+1",
      ".5",
      "5.",
      "-.5e1",
      "1e",
      "1e+",
      "1e-",
      "1e5x",
      "1.5.5",
      "",
      "-",
      "+",
      ".",
      "-.",
      "e5",
      ".e5",
      "x",
      "1e400",
      "-1e400",
      "1e-400",
      "1e99999999999999999999",
      "1e-99999999999999999999",
      "0e99999999999999999999",
      "4.9406564584124654e-324",
      "2.4703282292062327e-324",
      "2.4703282292062328e-324",
      "2.2250738585072011e-308",
      "2.2250738585072014e-308",
      "1.7976931348623157e308",
      "1.7976931348623158e308",
      "1.7976931348623159e308",
      "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416"
      "692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959"
      "622842914819860834936475292719074168444365510704342711559699508093042880",
      "9007199254740991",
      "9007199254740992",
      "9007199254740993",
      "9007199254740993.00000000000000000000000000000000000000001",
      "18446744073709551615",
      "18446744073709551616",
      "1e22",
      "1e23",
      "8.5e23",
      "0.000000000000000000000000000000000000000000000000000000000000000000001e70",
      "00000000000000000000000000000000000000000001",
      "0000000000000000000000000000000000.00000000000000000000000000000000000",
      "1.00000000000000011102230246251565404236316680908203125",
      "1.00000000000000011102230246251565404236316680908203124",
      "1.00000000000000011102230246251565404236316680908203126",
      "1.00000000000000033306690738754696212708950042724609375",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) check_number(texts[i]);
  double value;
  const char *hex = "0x10";
  assert_ptr_equal(graze_parse_double(hex, hex + 4, &value), hex + 1);
  const char *words[] = {"nan", "inf", "-inf", "infinity", " 1"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    assert_null(graze_parse_double(words[i], words[i] + strlen(words[i]), &value));
  }
}

static void test_long_numbers(void **state) {
  (void)state;
  seed = 3;
  static char text[6000];
  for (int i = 0; i < 3000; i++) {
    size_t length = 1 + random_bits() % (i % 50 == 0 ? 5000 : 800);
    for (size_t k = 0; k < length; k++) text[k] = (char)('0' + (i % 5 == 0 ? 0 : random_bits() % 10));
    if (i % 5 == 0) text[random_bits() % length] = '7';
    if (i % 4 != 0) text[random_bits() % length] = '.';
    snprintf(text + length, 32, "e%d", (int)(random_bits() % 1300) - 650 - (int)(i % 3 == 0 ? length : 0));
    check_number(text);
  }
}

/* Conversions use integers only, so the caller's rounding mode must not show. */
static void test_rounding_modes(void **state) {
  (void)state;
  static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  seed = 4;
  for (int i = 0; i < 30000; i++) {
    double value = double_of(random_bits());
    if (!isfinite(value)) continue;
    char text[64], formatted[32], again[32];
    int length = snprintf(text, sizeof text, "%.*e", (int)(random_bits() % 18), value);
    double want = strtod(text, NULL);
    if (!isfinite(want)) continue;
    graze_format_double(want, formatted);
    fesetround(modes[i % 3]);
    double got;
    graze_parse_double(text, text + length, &got);
    graze_format_double(want, again);
    fesetround(FE_TONEAREST);
    assert_true(bits_of(got) == bits_of(want));
    assert_string_equal(formatted, again);
  }
}

static void test_comma_locale(void **state) {
  (void)state;
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8", "nl_NL.UTF-8"};
  const char *found = NULL;
  for (size_t i = 0; i < sizeof names / sizeof names[0] && found == NULL; i++) {
    if (setlocale(LC_ALL, names[i]) != NULL && localeconv()->decimal_point[0] == ',') found = names[i];
  }
  if (found == NULL) {
    setlocale(LC_ALL, "C");
    print_message("no locale with a decimal comma is installed\n");
    skip();
  }
  double value;
  const char *text = "1.5e3";
  const char *rest = graze_parse_double(text, text + 5, &value);
  char out[32];
  graze_format_double(0.1, out);
  const char *obj = "v 0.5 0 0\nv 1 0.25 0\nv 0 1 1.5\nf 1 2 3\n";
  const char *json =
      "{\"graze\":1,\"objects\":[{\"name\":\"a\",\"mesh\":\"a.obj\",\"pose\":[1.5,0,0,0,0,1,0,0,0,0,1,0]}]}";
  graze_geometry geometry;
  graze_scene_file scene;
  graze_status status = graze_parse_geometry(obj, strlen(obj), "a.obj", GRAZE_FORMAT_AUTO, 1, &geometry, NULL);
  graze_status scene_status = graze_parse_scene(json, strlen(json), "s.json", &scene, NULL);
  setlocale(LC_ALL, "C");
  assert_ptr_equal(rest, text + 5);
  assert_true(value == 1500);
  assert_string_equal(out, "0.1");
  assert_int_equal(status, GRAZE_OK);
  assert_true(geometry.vertices[0] == 0.5 && geometry.vertices[8] == 1.5);
  assert_int_equal(scene_status, GRAZE_OK);
  assert_true(scene.objects[0].pose.m[0] == 1.5);
  graze_geometry_free(&geometry);
  graze_scene_file_free(&scene);
}

static int significant_digits(const char *text) {
  char digits[32];
  int count = 0;
  for (; *text && *text != 'e'; text++) {
    if (*text >= '0' && *text <= '9' && (count > 0 || *text != '0')) digits[count++] = *text;
  }
  while (count > 1 && digits[count - 1] == '0') count--;
  return count;
}

static void check_format(double value, bool check_shortest) {
  char text[32], other[64];
  size_t length = graze_format_double(value, text);
  assert_int_equal(length, strlen(text));
  assert_true(length < 25);
  double back;
  const char *end = graze_parse_double(text, text + length, &back);
  if (end != text + length || bits_of(back) != bits_of(value)) fail_msg("%a is written as %s", value, text);
  if (bits_of(strtod(text, NULL)) != bits_of(value)) fail_msg("%a is written as %s", value, text);
  if (!check_shortest) return;
  for (int digits = 1; digits < significant_digits(text); digits++) {
    snprintf(other, sizeof other, "%.*e", digits - 1, value);
    if (strtod(other, NULL) == value) fail_msg("%a is written as %s, but %s is shorter", value, text, other);
  }
}

static void test_format(void **state) {
  (void)state;
  static const struct {
    double value;
    const char *text;
  } cases[] = {{0, "0"},
               {-0.0, "-0"},
               {1, "1"},
               {-2.5, "-2.5"},
               {0.1, "0.1"},
               {0.3, "0.3"},
               {1.0 / 3, "0.3333333333333333"},
               {0.1f, "0.10000000149011612"},
               {100, "100"},
               {123456.789, "123456.789"},
               {0.00001, "0.00001"},
               {0.000001, "1e-06"},
               {1e16, "10000000000000000"},
               {1e17, "1e+17"},
               {1e23, "1e+23"},
               {9007199254740993.0, "9007199254740992"},
               {5e-324, "5e-324"},
               {1.5e-323, "1.5e-323"},
               {DBL_MIN, "2.2250738585072014e-308"},
               {DBL_MAX, "1.7976931348623157e+308"},
               {0x1p-44, "5.684341886080802e-14"},
               {INFINITY, "inf"},
               {-INFINITY, "-inf"},
               {NAN, "nan"}};
  char text[32];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(graze_format_double(cases[i].value, text), strlen(cases[i].text));
    assert_string_equal(text, cases[i].text);
  }
  seed = 5;
  for (int i = 0; i < 1000000; i++) {
    double value = double_of(random_bits());
    if (isfinite(value)) check_format(value, i < 60000);
  }
  for (int i = 0; i < 200000; i++) {
    check_format((double)(int64_t)(random_bits() >> random_bits() % 64) / 1000, false);
    check_format((double)(float)(int32_t)random_bits() / 65536, false);
    check_format(double_of(random_bits() >> (12 + random_bits() % 52)), i < 20000);
  }
  for (int e = -1074; e < 1024; e++) {
    check_format(ldexp(1, e), true);
    check_format(nextafter(ldexp(1, e), INFINITY), true);
    check_format(nextafter(ldexp(1, e), 0), true);
  }
}

/* ---- small files: what they give, or the message ---- */

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
  graze_io_error error;
  graze_status status = parse_exact(text, size, name, GRAZE_FORMAT_AUTO, 1, &geometry, &error);
  size_t length = strlen(name);
  if (status != want->status || error.status != status) {
    fail_msg("status %d, not %d: %s\n%.200s", status, want->status, error.message, (const char *)text);
  }
  if (want->vertices < 0) {
    if (strncmp(error.message, name, length) != 0 ||
        strncmp(error.message + length, want->message, strlen(want->message)) != 0) {
      fail_msg("message \"%s\", not \"%s\"\n%.200s", error.message, want->message, (const char *)text);
    }
    assert_empty(&geometry);
    return;
  }
  assert_string_equal(error.message, "");
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

#define TRI "v 0 0 0\nv 1 0 0\nv 0 1 0\n"

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
      BAD("3 1 0\n" TRI "f 1 2 3\n", GRAZE_ERROR_FORMAT, ":1: \"3\" is not an OBJ statement"),
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
  assert_int_equal(graze_parse_geometry(text, strlen(text), "x", GRAZE_FORMAT_OBJ, 1, &g, NULL), GRAZE_OK);
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
  assert_int_equal(graze_parse_geometry(text, strlen(text), "x", GRAZE_FORMAT_AUTO, 1, &g, NULL), GRAZE_OK);
  assert_int_equal(g.group_count, 2);
  assert_string_equal(g.groups[0].name, "first one");
  assert_string_equal(g.groups[1].name, "");
  assert_int_equal(g.groups[1].first_triangle, 1);
  assert_int_equal(g.groups[1].triangle_count, 2);
  graze_geometry_free(&g);
}

static size_t make_binary_stl(unsigned char *out, const char *header, uint32_t count, uint32_t facets) {
  memset(out, 0, 84 + 50 * (size_t)facets);
  memcpy(out, header, strlen(header));
  for (int k = 0; k < 4; k++) out[80 + k] = (unsigned char)(count >> 8 * k);
  for (uint32_t i = 0; i < facets; i++) {
    for (uint32_t k = 0; k < 9; k++) {
      float x = (float)(i * 9 + k) / 3;
      memcpy(out + 84 + 50 * (size_t)i + 12 + 4 * k, &x, 4); /* the tests run on little-endian machines */
    }
  }
  return 84 + 50 * (size_t)facets;
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
  assert_int_equal(graze_parse_geometry(file, size, "", GRAZE_FORMAT_AUTO, 1, &g, NULL), GRAZE_OK);
  for (uint32_t i = 0; i < 36; i++) assert_true(g.vertices[i] == (double)((float)i / 3));
  for (uint32_t i = 0; i < 12; i++) assert_int_equal(g.indices[i], i);
  assert_true(g.all_float);
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
      BAD("OFF\n3 1 0 0\n", GRAZE_ERROR_FORMAT, ":2: more than three counts"),
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

#define PLY(format) "ply\nformat " format " 1.0\n"
#define XYZ(n)      "element vertex " n "\nproperty float x\nproperty float y\nproperty float z\n"
#define FACES(n)    "element face " n "\nproperty list uchar int vertex_indices\n"
#define END         "end_header\n"
#define ROWS        "0 0 0\n1 0 0\n0 1 0\n"

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
      BAD(PLY("ascii") "element vertex 1 2\n", GRAZE_ERROR_FORMAT, ":3: \"2\" is too much"),
      BAD(PLY("ascii") "element vertex 1\nproperty real x\n", GRAZE_ERROR_FORMAT, ":4: \"real\" is not a type"),
      BAD(PLY("ascii") "element face 1\nproperty list float int vertex_index\n", GRAZE_ERROR_FORMAT,
          ":4: the count of a list"),
      BAD(PLY("ascii") "hello\n", GRAZE_ERROR_FORMAT, ":3: \"hello\" is not a statement"),
      BAD(PLY("ascii") FACES("0") END, GRAZE_ERROR_FORMAT, ":5: the header has no element \"vertex\""),
      BAD(PLY("ascii") XYZ("0") XYZ("0") END, GRAZE_ERROR_FORMAT, ":7: element \"vertex\" stands there twice"),
      BAD(PLY("ascii") XYZ("0") "property float x\n" END, GRAZE_ERROR_FORMAT,
          ":3: element \"vertex\": property \"x\" stands"),
      BAD(PLY("ascii") "element vertex 0\nproperty float x\nproperty float y\n" END, GRAZE_ERROR_FORMAT,
          ":3: element \"vertex\" has no property \"z\""),
      BAD(PLY("ascii") XYZ("1") "element face 1\nproperty int a\n" END "0 0 0\n1\n", GRAZE_ERROR_FORMAT,
          ":7: element \"face\" has no list"),
      BAD(PLY("ascii") XYZ("1") "element face 1\nproperty list uchar float vertex_index\n" END "0 0 0\n3 0 0 0\n",
          GRAZE_ERROR_FORMAT, ":7: element \"face\" has corners that are no integers"),
      BAD(PLY("ascii") XYZ("1") "element face 1\nproperty int vertex_index\n" END "0 0 0\n1\n", GRAZE_ERROR_FORMAT,
          ":7: element \"face\": property \"vertex_index\" is not a list"),
      BAD(PLY("ascii") XYZ("1") "element tristrips 1\nproperty list int int vertex_indices\n" END "0 0 0\n3 0 0 0\n",
          GRAZE_ERROR_UNSUPPORTED, ":7: element \"tristrips\" holds triangle strips"),
      BAD(PLY("ascii") XYZ("4294967295") END, GRAZE_ERROR_LIMIT, ":3: element \"vertex\" has more rows"),
      BAD(PLY("ascii") XYZ("4000000000") END "0 0 0\n", GRAZE_ERROR_FORMAT,
          ":9: the file ends after 1 of 4000000000 rows"),
      BAD(PLY("ascii") XYZ("1") END "0 0 0 0\n", GRAZE_ERROR_FORMAT, ":8: \"0\" is too much on this line"),
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

static void test_ply_binary(void **state) {
  (void)state;
  char file[2048];
  for (int variant = 0; variant < 8; variant++) {
    bool big = variant & 1, even = variant & 2, last = variant & 4;
    size_t size = make_ply(file, big, even, last, 0);
    graze_geometry g;
    graze_io_error error;
    graze_status status = parse_exact(file, size, "a.ply", GRAZE_FORMAT_AUTO, 1, &g, &error);
    assert_string_equal(error.message, "");
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
      status = parse_exact(file, cut, "a.ply", GRAZE_FORMAT_PLY, 1, &g, &error);
      if (status != GRAZE_ERROR_FORMAT) fail_msg("cut off at %zu of %zu: status %d", cut, size, status);
    }
    file[size] = 1;
    assert_int_equal(parse_exact(file, size + 1, "a.ply", GRAZE_FORMAT_PLY, 1, &g, &error), GRAZE_ERROR_FORMAT);
    file[size] = '\n';
    assert_int_equal(parse_exact(file, size + 1, "a.ply", GRAZE_FORMAT_PLY, 1, &g, &error), GRAZE_OK);
    graze_geometry_free(&g);
    for (int wrong = 0; wrong < 2; wrong++) {
      size = make_ply(file, big, even, last, wrong == 0 ? 4 : -1);
      assert_int_equal(parse_exact(file, size, "a.ply", GRAZE_FORMAT_PLY, 1, &g, &error), GRAZE_ERROR_INDEX);
      assert_non_null(
          strstr(error.message, wrong == 0 ? "face 2, corner 1: vertex 4 is" : "face 2, corner 1: vertex -1 is"));
    }
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
    assert_int_equal(parse_exact(file, size, "a.ply", GRAZE_FORMAT_AUTO, 1, &g, NULL), GRAZE_OK);
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
    graze_io_error error;
    graze_status status =
        parse_exact(cases[i].text, strlen(cases[i].text), cases[i].name, GRAZE_FORMAT_AUTO, 1, &g, &error);
    assert_int_equal(status, cases[i].triangles < 0 ? GRAZE_ERROR_FORMAT : GRAZE_OK);
    if (status == GRAZE_OK) assert_int_equal(g.triangle_count, cases[i].triangles);
    graze_geometry_free(&g);
  }
}

static void test_arguments(void **state) {
  (void)state;
  graze_geometry g;
  graze_io_error error;
  assert_int_equal(graze_parse_geometry(NULL, 3, "a", GRAZE_FORMAT_AUTO, 1, &g, &error), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_parse_geometry("v", 1, NULL, GRAZE_FORMAT_AUTO, 1, &g, &error), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_parse_geometry("v", 1, "a", GRAZE_FORMAT_AUTO, 1, NULL, &error), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_parse_geometry("v", 1, "a", (graze_file_format)9, 1, &g, &error), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_parse_geometry("v", 1, "a", GRAZE_FORMAT_AUTO, -1, &g, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_parse_geometry(NULL, 0, "a", GRAZE_FORMAT_AUTO, 1, &g, NULL), GRAZE_ERROR_FORMAT);
  assert_int_equal(graze_read_geometry(NULL, GRAZE_FORMAT_AUTO, 1, &g, &error), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_write_obj(NULL, &g, &error), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_write_obj("a", NULL, &error), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_read_scene(NULL, NULL, &error), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_parse_scene("{}", 2, "a", NULL, &error), GRAZE_ERROR_ARGUMENT);
}

/* A path longer than a message keeps its end and leaves room for the reason. */
static void test_long_path(void **state) {
  (void)state;
  char name[3000];
  memset(name, 'a', sizeof name);
  strcpy(name + sizeof name - 9, "/end.obj");
  graze_geometry g;
  graze_io_error error;
  assert_int_equal(graze_parse_geometry("v x", 3, name, GRAZE_FORMAT_AUTO, 1, &g, &error), GRAZE_ERROR_FORMAT);
  assert_non_null(strstr(error.message, "/end.obj:1: \"x\" is not a number"));
  assert_int_equal(strncmp(error.message, "...", 3), 0);
}

/* ---- threads ---- */

typedef struct text_buffer {
  char *data;
  size_t size;
} text_buffer;

static void add(text_buffer *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(text_buffer *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  text->size += (size_t)vsprintf(text->data + text->size, format, arguments);
  va_end(arguments);
}

enum { LARGE = 4 << 20 };

static double random_coordinate(void) {
  return (double)(int64_t)random_bits() / 9e15;
}

static void make_large_obj(text_buffer *text, const char *end) {
  uint64_t vertices = 0;
  while (text->size < LARGE - 4096) {
    for (int k = 0; k < 3; k++, vertices++) {
      add(text, "v %.*g %g %g%s", (int)(random_bits() % 18), random_coordinate(), random_coordinate(),
          random_coordinate(), end);
    }
    uint64_t kind = random_bits() % 16;
    if (kind == 0) add(text, "o object %d%s", (int)(random_bits() % 100), end);
    if (kind == 1) add(text, "# comment \\%s%s", end, end);
    if (kind == 2) add(text, "vt 0 \\%s 0%s", end, end);
    if (kind < 8) {
      add(text, "f -1 -2 -3%s", end);
      continue;
    }
    add(text, "f");
    for (uint64_t k = 0; k < kind - 5; k++) {
      add(text, random_bits() % 8 == 0 ? " \\%s %llu/1/2" : "%.0s %llu", end,
          (unsigned long long)(random_bits() % vertices + 1));
    }
    add(text, "%s", end);
  }
}

static void make_large_stl(text_buffer *text, const char *end) {
  add(text, "solid first%s", end);
  while (text->size < LARGE - 4096) {
    if (random_bits() % 100 == 0) add(text, "endsolid%s%ssolid next %d%s", end, end, (int)(random_bits() % 9), end);
    add(text, "  facet normal 0 0 0%s  outer loop%s", end, end);
    for (int k = 0; k < 3; k++) {
      add(text, "   vertex %g %g %g%s", random_coordinate(), random_coordinate(), random_coordinate(), end);
    }
    add(text, "  endloop%s  endfacet%s", end, end);
  }
  add(text, "endsolid%s", end);
}

static void make_large_table(text_buffer *text, const char *end, bool ply) {
  enum { VERTICES = 60000, ROWS_OF_FACES = 60000 };
  if (ply) {
    add(text, "ply%sformat ascii 1.0%selement vertex %d%sproperty float x%sproperty float y%sproperty float z%s", end,
        end, VERTICES, end, end, end, end);
    add(text, "element face %d%sproperty list uchar int vertex_index%send_header%s", ROWS_OF_FACES, end, end, end);
  } else {
    add(text, "OFF%s%d %d 0%s", end, VERTICES, ROWS_OF_FACES, end);
  }
  for (int i = 0; i < VERTICES; i++) {
    add(text, "%g %g %g%s", random_coordinate(), random_coordinate(), random_coordinate(), end);
    if (random_bits() % 50 == 0) add(text, "%s%s", end, ply ? "" : "# between\n");
  }
  for (int i = 0; i < ROWS_OF_FACES; i++) {
    uint64_t corners = 3 + random_bits() % 3;
    add(text, "%llu", (unsigned long long)corners);
    for (uint64_t k = 0; k < corners; k++) add(text, " %llu", (unsigned long long)(random_bits() % VERTICES));
    add(text, "%s", end);
  }
}

/* Any number of threads gives the same geometry, or the same message. Returns whether the text was accepted. */
static bool check_threads(const text_buffer *text, graze_file_format format) {
  graze_geometry first, other;
  graze_io_error first_error, other_error;
  graze_status status = graze_parse_geometry(text->data, text->size, "large", format, 1, &first, &first_error);
  for (int threads = 2; threads < 9; threads += 3) {
    graze_status other_status =
        graze_parse_geometry(text->data, text->size, "large", format, threads, &other, &other_error);
    assert_string_equal(first_error.message, other_error.message);
    assert_int_equal(status, other_status);
    assert_same(&first, &other);
    graze_geometry_free(&other);
  }
  if (status == GRAZE_OK) assert_sound(&first);
  graze_geometry_free(&first);
  return status == GRAZE_OK;
}

static void test_threads(void **state) {
  (void)state;
  static const char *const ends[] = {"\n", "\r\n", "\r"};
  text_buffer text = {malloc(2 * LARGE), 0};
  assert_non_null(text.data);
  seed = 6;
  int refused = 0;
  for (int kind = 0; kind < 4; kind++) {
    for (int e = 0; e < 3; e++) {
      text.size = 0;
      if (kind == 0) make_large_obj(&text, ends[e]);
      if (kind == 1) make_large_stl(&text, ends[e]);
      if (kind == 2) make_large_table(&text, ends[e], false);
      if (kind == 3) make_large_table(&text, ends[e], true);
      assert_true(text.size < 2 * LARGE);
      graze_file_format format =
          (graze_file_format[]){GRAZE_FORMAT_OBJ, GRAZE_FORMAT_STL, GRAZE_FORMAT_OFF, GRAZE_FORMAT_PLY}[kind];
      if (!check_threads(&text, format)) fail_msg("kind %d, line end %d refused", kind, e);
      for (int fault = 0; fault < 8; fault++) { /* faults add up, so that the first of several must be found */
        text.data[1000 + random_bits() % (text.size - 1000)] = "x\n -9\r#f"[fault];
        refused += !check_threads(&text, format);
      }
    }
  }
  assert_true(refused > 60);
  free(text.data);
}

static void test_threads_binary(void **state) {
  (void)state;
  enum { FACETS = 40000 };
  unsigned char *file = malloc(84 + 50 * FACETS);
  assert_non_null(file);
  text_buffer text = {(char *)file, make_binary_stl(file, "", FACETS, FACETS)};
  assert_true(check_threads(&text, GRAZE_FORMAT_STL));
  float bad = -INFINITY;
  for (size_t i = 3; i > 0; i--) {
    memcpy(file + 84 + 50 * (i * 11111) + 44, &bad, 4);
    assert_false(check_threads(&text, GRAZE_FORMAT_STL));
  }
  text.size = (size_t)sprintf(text.data, "ply\nformat binary_little_endian 1.0\n" XYZ("30000") FACES("60000") END);
  for (uint32_t i = 0; i < 90000; i++) {
    float x = (float)i / 7;
    memcpy(text.data + text.size, &x, 4);
    text.size += 4;
  }
  size_t faces = text.size;
  for (int32_t i = 0; i < 60000; i++) {
    int32_t corners[3] = {i / 2, (i + 7) / 3, (i * 5) % 30000};
    text.data[text.size] = 3;
    memcpy(text.data + text.size + 1, corners, 12);
    text.size += 13;
  }
  assert_true(check_threads(&text, GRAZE_FORMAT_PLY));
  text.data[faces + 13 * 45678 + 4] = 1;
  assert_false(check_threads(&text, GRAZE_FORMAT_PLY));
  text.data[faces + 13 * 12345 + 8] = -1;
  assert_false(check_threads(&text, GRAZE_FORMAT_PLY));
  memcpy(text.data + faces - 12, &bad, 4);
  assert_false(check_threads(&text, GRAZE_FORMAT_PLY));
  free(file);
}

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
  graze_io_error error;
  assert_int_equal(graze_read_geometry("no such file.obj", GRAZE_FORMAT_AUTO, 0, &g, &error), GRAZE_ERROR_FILE);
  assert_string_equal(error.message, "no such file.obj: cannot open: No such file or directory");
  assert_int_equal(graze_read_geometry(".", GRAZE_FORMAT_AUTO, 0, &g, &error), GRAZE_ERROR_FILE);
  assert_string_equal(error.message, ".: cannot read: Is a directory");
  assert_int_equal(graze_read_geometry("/dev/null", GRAZE_FORMAT_AUTO, 0, &g, &error), GRAZE_ERROR_FORMAT);
  double vertices[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  uint32_t indices[3] = {0, 1, 2};
  graze_geometry small = {.vertices = vertices, .vertex_count = 3, .indices = indices, .triangle_count = 1};
  assert_int_equal(graze_write_obj("no such folder/a.obj", &small, &error), GRAZE_ERROR_FILE);
  if (access("/dev/full", W_OK) == 0) assert_int_equal(graze_write_obj("/dev/full", &small, &error), GRAZE_ERROR_FILE);
  indices[2] = 3;
  assert_int_equal(graze_write_obj(scratch(".obj"), &small, &error), GRAZE_ERROR_INDEX);
  indices[2] = 2;
  vertices[4] = NAN;
  assert_int_equal(graze_write_obj(scratch(".obj"), &small, &error), GRAZE_ERROR_NOT_FINITE);
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
  graze_io_error error;
  graze_status status = graze_read_geometry(path, GRAZE_FORMAT_AUTO, 0, &g, &error);
  close(ends[0]);
  assert_string_equal(error.message, "");
  assert_int_equal(status, GRAZE_OK);
  assert_int_equal(g.triangle_count, 1);
  graze_geometry_free(&g);
}

static void test_round_trip(void **state) {
  (void)state;
  enum { VERTICES = 20000, TRIANGLES = 30000 };
  seed = 7;
  graze_geometry g = {.vertices = malloc(VERTICES * 3 * sizeof(double)),
                      .indices = malloc(TRIANGLES * 3 * sizeof(uint32_t)),
                      .vertex_count = VERTICES,
                      .triangle_count = TRIANGLES};
  assert_non_null(g.vertices);
  assert_non_null(g.indices);
  for (int i = 0; i < 3 * VERTICES; i++) {
    do g.vertices[i] = double_of(random_bits());
    while (!isfinite(g.vertices[i]));
  }
  for (int i = 0; i < 3 * TRIANGLES; i++) g.indices[i] = (uint32_t)(random_bits() % VERTICES);
  graze_io_group groups[] = {{"a", 5, 0}, {"b c", 5, 1000}, {"", 1005, TRIANGLES - 1005}, {"last", TRIANGLES, 0}};
  g.groups = groups;
  g.group_count = 4;
  graze_io_error error;
  assert_int_equal(graze_write_obj(scratch(".obj"), &g, &error), GRAZE_OK);
  graze_geometry back;
  assert_int_equal(graze_read_geometry(scratch(".obj"), GRAZE_FORMAT_AUTO, 2, &back, &error), GRAZE_OK);
  remove(scratch(".obj"));
  assert_same(&g, &back);
  graze_geometry_free(&back);
  free(g.vertices);
  free(g.indices);
}

/* ---- scenes ---- */

static void check_scene_fault(const char *text, graze_status status, const char *message) {
  graze_scene_file scene;
  graze_io_error error;
  graze_status got = graze_parse_scene(text, strlen(text), "s.json", &scene, &error);
  if (got != status || strstr(error.message, message) == NULL)
    fail_msg("%d \"%s\" from %.200s", got, error.message, text);
  assert_int_equal(strncmp(error.message, "s.json:", 7), 0);
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
  graze_io_error error;
  assert_int_equal(graze_parse_scene(text, strlen(text), "some/folder/s.json", &scene, &error), GRAZE_OK);
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
  assert_int_equal(graze_parse_scene(least, strlen(least), "s.json", &scene, NULL), GRAZE_OK);
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
  graze_io_error error;
  assert_int_equal(graze_read_scene("no such scene.json", &scene, &error), GRAZE_ERROR_FILE);
  char *deep = malloc(300000);
  assert_non_null(deep);
  memset(deep, '[', 300000);
  assert_int_equal(graze_parse_scene(deep, 300000, "deep", &scene, &error), GRAZE_ERROR_FORMAT);
  free(deep);
}

/* ---- data outside the tree ---- */

/* Every beginning of a short file, and many of a long one, must come to an end too. */
static void check_beginnings(const bytes *file, const char *name) {
  size_t step = file->size / 700 + 1;
  for (size_t size = 0; size < file->size; size += step) {
    graze_geometry g;
    if (parse_exact(file->data, size, name, GRAZE_FORMAT_AUTO, 1, &g, NULL) == GRAZE_OK) assert_sound(&g);
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
  graze_io_error error;
  graze_status status = graze_read_geometry(path, GRAZE_FORMAT_AUTO, 0, &g, &error);
  if (status == GRAZE_OK) {
    if (strcmp(expect, "invalid") == 0) fail_msg("%s must be refused", name);
    assert_sound(&g);
  } else {
    if (strcmp(expect, "valid") == 0) fail_msg("%s must load: %s", name, error.message);
    assert_int_equal(strncmp(error.message, path, strlen(path)), 0);
    assert_empty(&g);
  }
  graze_geometry_free(&g);
  bytes file;
  file.data = test_read_file(path, &file.size);
  if (graze_parse_geometry(file.data, file.size, name, (graze_file_format)which, 0, &g, NULL) != status) {
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
  graze_io_error error;
  graze_status status = graze_parse_geometry(file.data, file.size, plain, GRAZE_FORMAT_AUTO, 0, &geometry, &error);
  if (status != GRAZE_OK) fail_msg("%s", error.message);
  assert_sound(&geometry);
  assert_int_equal(graze_parse_geometry(file.data, file.size, plain, GRAZE_FORMAT_AUTO, 1, &single, NULL), GRAZE_OK);
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
      cmocka_unit_test(test_odd_numbers),
      cmocka_unit_test(test_random_numbers),
      cmocka_unit_test(test_halfway_numbers),
      cmocka_unit_test(test_long_numbers),
      cmocka_unit_test(test_rounding_modes),
      cmocka_unit_test(test_comma_locale),
      cmocka_unit_test(test_format),
      cmocka_unit_test(test_obj),
      cmocka_unit_test(test_obj_content),
      cmocka_unit_test(test_stl_ascii),
      cmocka_unit_test(test_stl_binary),
      cmocka_unit_test(test_off),
      cmocka_unit_test(test_ply_ascii),
      cmocka_unit_test(test_ply_binary),
      cmocka_unit_test(test_ply_header_ends),
      cmocka_unit_test(test_ply_lies),
      cmocka_unit_test(test_detection),
      cmocka_unit_test(test_arguments),
      cmocka_unit_test(test_long_path),
      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_threads_binary),
      cmocka_unit_test(test_file_errors),
      cmocka_unit_test(test_pipe),
      cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_scene),
      cmocka_unit_test(test_scene_faults),
      cmocka_unit_test(test_bad_files),
      cmocka_unit_test(test_meshes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
