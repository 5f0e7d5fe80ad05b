/* The texts of numbers, read and written: held to strtod and printf. */
#include <fenv.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "graze/io.h"
#include "support.h"

static uint64_t seed;

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
  for (int i = 0; i < test_rounds(1000000, 2000000); i++) {
    double value = double_of(random_next(&seed));
    if (!isfinite(value)) continue;
    snprintf(text, sizeof text, "%.*e", (int)(random_next(&seed) % 21), value);
    check_number(text);
  }
  for (int i = 0; i < test_rounds(500000, 1000000); i++) { /* as files have them */
    snprintf(text, sizeof text, "%.*f", (int)(random_next(&seed) % 12), (double)(int64_t)random_next(&seed) / 1e14);
    check_number(text);
  }
  for (int i = 0; i < test_rounds(250000, 500000); i++) { /* any digits, any exponent */
    snprintf(text, sizeof text, "%llu.%llue%d", (unsigned long long)(random_next(&seed) >> random_next(&seed) % 64),
             (unsigned long long)(random_next(&seed) >> random_next(&seed) % 64),
             (int)(random_next(&seed) % 720) - 370);
    check_number(text);
  }
}

/* Midpoints of neighbouring doubles, written out in full, with a one far behind, and cut off anywhere. */
static void test_halfway_numbers(void **state) {
  (void)state;
#if LDBL_MANT_DIG > DBL_MANT_DIG && LDBL_MAX_EXP > DBL_MAX_EXP
  seed = 2;
  char text[2048];
  for (int i = 0; i < test_rounds(20000, 40000); i++) {
    uint64_t bits = random_next(&seed) >> 1;
    if (i % 3 == 0) bits = (bits & 0xFFFFFFFFFFFFFu) >> random_next(&seed) % 52; /* subnormal */
    if (i % 7 == 0) bits &= ~(uint64_t)0xFFFFFFFFFFFFFu;                         /* a power of two */
    if (bits + 1 >= bits_of(INFINITY)) continue;
    long double middle = ((long double)double_of(bits) + (long double)double_of(bits + 1)) / 2;
    snprintf(text, 900, "%.*Le", i % 2 == 0 ? 780 : (int)(random_next(&seed) % 780), middle);
    check_number(text);
    char tail[24];
    char *exponent = strchr(text, 'e');
    assert_non_null(exponent);
    snprintf(tail, sizeof tail, "%s", exponent);
    size_t zeros = random_next(&seed) % 900;
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
    size_t length = 1 + random_next(&seed) % (i % 50 == 0 ? 5000 : 800);
    for (size_t k = 0; k < length; k++) text[k] = (char)('0' + (i % 5 == 0 ? 0 : random_next(&seed) % 10));
    if (i % 5 == 0) text[random_next(&seed) % length] = '7';
    if (i % 4 != 0) text[random_next(&seed) % length] = '.';
    snprintf(text + length, 32, "e%d", (int)(random_next(&seed) % 1300) - 650 - (int)(i % 3 == 0 ? length : 0));
    check_number(text);
  }
}

/* Conversions use integers only, so the caller's rounding mode must not show. */
static void test_rounding_modes(void **state) {
  (void)state;
  static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  seed = 4;
  for (int i = 0; i < 30000; i++) {
    double value = double_of(random_next(&seed));
    if (!isfinite(value)) continue;
    char text[64], formatted[32], again[32];
    int length = snprintf(text, sizeof text, "%.*e", (int)(random_next(&seed) % 18), value);
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
  graze_status status =
      graze_parse_geometry(shared_context(1), obj, strlen(obj), "a.obj", GRAZE_FORMAT_AUTO, 0, &geometry);
  graze_status scene_status = graze_parse_scene(shared_context(1), json, strlen(json), "s.json", &scene);
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
    double value = double_of(random_next(&seed));
    if (isfinite(value)) check_format(value, i < 60000);
  }
  for (int i = 0; i < 200000; i++) {
    check_format((double)(int64_t)(random_next(&seed) >> random_next(&seed) % 64) / 1000, false);
    check_format((double)(float)(int32_t)random_next(&seed) / 65536, false);
    check_format(double_of(random_next(&seed) >> (12 + random_next(&seed) % 52)), i < 20000);
  }
  for (int e = -1074; e < 1024; e++) {
    check_format(ldexp(1, e), true);
    check_format(nextafter(ldexp(1, e), INFINITY), true);
    check_format(nextafter(ldexp(1, e), 0), true);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_odd_numbers),     cmocka_unit_test(test_random_numbers),
      cmocka_unit_test(test_halfway_numbers), cmocka_unit_test(test_long_numbers),
      cmocka_unit_test(test_rounding_modes),  cmocka_unit_test(test_comma_locale),
      cmocka_unit_test(test_format),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
