/* The reader of JSON: every kind of value, access, and what is refused with which words. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../io/json.h"
#include "support.h"

static io_json_document parse(const char *text) {
  io_json_document document;
  io_json_error error;
  if (!io_json_parse(text, strlen(text), &document, &error)) fail_msg("%s: %s", text, error.text);
  return document;
}

static void test_values(void **unused) {
  (void)unused;
  io_json_document d = parse(
      " {\"a\": [1, -0, -12, 0.1, 1e3, 123456789012345678, 1234567890123456789], \"b\":{},\n"
      "\"c\":[], \"d\":null, \"e\":true, \"f\":false, \"g\":\"x\"} ");
  const io_json *a = io_json_get(d.root, "a");
  assert_int_equal(io_json_size(a), 7);
  static const double numbers[] = {1, -0.0, -12, 0.1, 1000, 123456789012345678.0, 1234567890123456789.0};
  static const io_json_kind kinds[] = {IO_JSON_INTEGER, IO_JSON_REAL,    IO_JSON_INTEGER, IO_JSON_REAL,
                                       IO_JSON_REAL,    IO_JSON_INTEGER, IO_JSON_REAL};
  for (size_t i = 0; i < 7; i++) {
    double got = io_json_number(io_json_at(a, i));
    assert_int_equal(io_json_at(a, i)->kind, kinds[i]);
    assert_memory_equal(&got, &numbers[i], sizeof got);
  }
  assert_null(io_json_at(a, 7));
  assert_int_equal(io_json_at(a, 5)->is.integer, 123456789012345678);
  assert_true(io_json_is(io_json_get(d.root, "b"), IO_JSON_OBJECT));
  assert_null(io_json_first(io_json_get(d.root, "b")));
  assert_int_equal(io_json_size(io_json_get(d.root, "c")), 0);
  assert_true(io_json_is(io_json_get(d.root, "d"), IO_JSON_NULL));
  assert_true(io_json_is(io_json_get(d.root, "e"), IO_JSON_TRUE));
  assert_true(io_json_is_bool(io_json_get(d.root, "f")));
  assert_string_equal(io_json_text(io_json_get(d.root, "g")), "x");
  assert_null(io_json_get(d.root, "h"));
  assert_null(io_json_get(a, "a"));
  io_json_free(&d);
}

/* Items with items of their own, and the order of members. */
static void test_nested(void **unused) {
  (void)unused;
  io_json_document d = parse("[[1,[2,3]],{\"x\":[4],\"y\":5},6,[]]");
  assert_int_equal(io_json_size(d.root), 4);
  assert_true(io_json_number(io_json_at(io_json_at(io_json_at(d.root, 0), 1), 1)) == 3);
  assert_true(io_json_number(io_json_at(io_json_get(io_json_at(d.root, 1), "x"), 0)) == 4);
  assert_true(io_json_number(io_json_at(d.root, 2)) == 6);
  const io_json *object = io_json_at(d.root, 1), *x = io_json_first(object), *y = io_json_next(object, x);
  assert_string_equal(x->key, "x");
  assert_string_equal(y->key, "y");
  assert_null(io_json_next(object, y));
  io_json_free(&d);
}

static void test_texts(void **unused) {
  (void)unused;
  static const char *const texts[][2] = {
      {"[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "\"\\/\b\f\n\r\t"},
      {"[\"\\u0041\\u00e9\\u20AC\\ud834\\udd1e\"]", "A\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e"},
      {"[\"\xc3\xa9\xe2\x82\xac\xf4\x8f\xbf\xbf\"]", "\xc3\xa9\xe2\x82\xac\xf4\x8f\xbf\xbf"},
      {"[\"\"]", ""}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    io_json_document d = parse(texts[i][0]);
    assert_string_equal(io_json_text(io_json_at(d.root, 0)), texts[i][1]);
    io_json_free(&d);
  }
}

static void refuse(const char *text, size_t size, graze_status status, uint64_t line, uint64_t byte,
                   const char *words) {
  io_json_document d;
  io_json_error error;
  assert_false(io_json_parse(text, size, &d, &error));
  assert_null(d.root);
  assert_string_equal(error.text, words);
  assert_int_equal(error.status, status);
  assert_int_equal(error.line, line);
  assert_int_equal(error.byte, byte);
}

static void test_refused(void **unused) {
  (void)unused;
  static const struct {
    const char *text;
    uint64_t line, byte;
    const char *words;
  } cases[] = {{"", 1, 0, "'[' or '{' expected near end of file"},
               {"1", 1, 0, "'[' or '{' expected near '1'"},
               {"[1,\n]", 2, 4, "unexpected token near ']'"},
               {"[1 2]", 1, 3, "']' expected near '2'"},
               {"[1", 1, 2, "']' expected near end of file"},
               {"[1]x", 1, 3, "end of file expected near 'x'"},
               {"[01]", 1, 1, "invalid token near '01'"},
               {"[1.]", 1, 1, "invalid token near '1.'"},
               {"[-]", 1, 1, "invalid token near '-'"},
               {"[nul]", 1, 1, "invalid token near 'nul'"},
               {"[NaN]", 1, 1, "invalid token near 'NaN'"},
               {"{\"a\":1,\"a\":2}", 1, 7, "duplicate object key near '\"a\"'"},
               {"{\"a\" 1}", 1, 5, "':' expected near '1'"},
               {"{\"a\":1 \"b\":2}", 1, 7, "'}' expected near '\"b\"'"},
               {"{a:1}", 1, 1, "string or '}' expected near 'a'"},
               {"[\"a", 1, 3, "a string has no end near end of file"},
               {"[\"\n\"]", 1, 2, "control character 0xa in a string"},
               {"[\"\\x\"]", 1, 2, "invalid escape near '\\x'"},
               {"[\"\\u0000\"]", 1, 2, "\\u0000 is not allowed"},
               {"[\"\\ud800x\"]", 1, 2, "invalid Unicode '\\uD800'"},
               {"[\"\xc0\x80\"]", 1, 2, "unable to decode byte 0xc0"},
               {"[\"\xed\xa0\x80\"]", 1, 2, "unable to decode byte 0xed"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    refuse(cases[i].text, strlen(cases[i].text), GRAZE_ERROR_FORMAT, cases[i].line, cases[i].byte, cases[i].words);
  }
  refuse("[1e999]", 7, GRAZE_ERROR_NOT_FINITE, 1, 1, "real number overflow");
}

/* A name that stands twice is found among many, too, and nesting has an end. */
static void test_large(void **unused) {
  (void)unused;
  enum { MANY = 5000, DEEP = 3000 };
  char *text = malloc(16 * MANY), *p = text;
  assert_non_null(text);
  for (int i = 0; i < MANY; i++) p += sprintf(p, "%s\"k%d\":%d", i ? "," : "{", i, i);
  *p = '}';
  io_json_document d;
  io_json_error error;
  assert_true(io_json_parse(text, (size_t)(p + 1 - text), &d, &error));
  assert_int_equal(d.root->count, MANY);
  assert_true(io_json_number(io_json_get(d.root, "k4999")) == 4999);
  io_json_free(&d);
  p += sprintf(p, ",\"k17\":1}");
  assert_false(io_json_parse(text, (size_t)(p - text), &d, &error));
  assert_string_equal(error.text, "duplicate object key before near '}'");
  memset(text, '[', DEEP);
  assert_false(io_json_parse(text, DEEP, &d, &error));
  assert_string_equal(error.text, "nested too deeply");
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_nested),
                                     cmocka_unit_test(test_texts), cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_large)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
