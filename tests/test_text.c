/* Text on its way out: the numbers, the buffer that is handed to a sink, the one that grows, and what happens when the
 * sink refuses; UTF-8 by the table of its well-formed sequences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "support.h"

/* What came, in how many calls; `limit`: the call that is refused. */
typedef struct collected {
  char bytes[1 << 19];
  size_t used;
  int calls, limit;
} collected;

static bool collect(void *user, const void *bytes, size_t size) {
  collected *to = user;
  if (++to->calls == to->limit) return false;
  assert_true(size > 0 && size <= sizeof to->bytes - to->used);
  memcpy(to->bytes + to->used, bytes, size);
  to->used += size;
  return true;
}

static void test_numbers(void **state) {
  static const char want[] =
      "0 9 10 18446744073709551615 0000000000000000 0123456789abcdef ffffffffffffffff 0.1 -0 5e-324 "
      "1.7976931348623157e+308 inf -inf nan";
  static const uint64_t integers[] = {0, 9, 10, UINT64_MAX}, hashes[] = {0, 0x0123456789abcdef, UINT64_MAX};
  static const double doubles[] = {0.1, -0.0, 0x1p-1074, 0x1.fffffffffffffp1023, INFINITY, -INFINITY, NAN};
  gz_text text;
  (void)state;
  assert_true(gz_text_begin(NULL, &text, NULL, NULL));
  for (size_t i = 0; i < 4; i++) {
    gz_put_integer(&text, integers[i]);
    gz_put_text(&text, " ");
  }
  for (size_t i = 0; i < 3; i++) {
    gz_put_hex(&text, hashes[i]);
    gz_put_text(&text, " ");
  }
  for (size_t i = 0; i < 7; i++) {
    if (i > 0) gz_put_text(&text, " ");
    gz_put_double(&text, doubles[i]);
  }
  gz_put_text(&text, NULL);
  gz_text_flush(&text); /* without a sink everything stays */
  gz_put_bytes(&text, "", 1);
  assert_string_equal(text.data, want);
  gz_text_end(&text);
}

/* Pieces of every length around the buffer's own, in memory and to a sink: the same bytes, in their order. */
static void test_pieces(void **state) {
  static const size_t sizes[] = {1, 65535, 1, 65536, 3, 65537, 190000, 0, 7};
  static char piece[200000];
  collected *to = calloc(1, sizeof *to);
  gz_text sent, kept;
  (void)state;
  assert_non_null(to);
  for (size_t i = 0; i < sizeof piece; i++) piece[i] = (char)(i * 2654435761u >> 20);
  assert_true(gz_text_begin(NULL, &sent, collect, to) && gz_text_begin(NULL, &kept, NULL, NULL));
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    gz_put_bytes(&sent, piece + i, sizes[i]);
    gz_put_bytes(&kept, piece + i, sizes[i]);
  }
  assert_int_equal(sent.capacity, 1 << 16); /* what is more than the buffer needs no more memory */
  gz_text_flush(&sent);
  assert_false(sent.no_memory || sent.refused || kept.no_memory);
  assert_int_equal(to->used, kept.used);
  assert_memory_equal(to->bytes, kept.data, kept.used);
  gz_text_flush(&sent);
  assert_int_equal(to->used, kept.used);
  gz_text_end(&sent);
  gz_text_end(&kept);
  free(to);
}

/* A sink that refused is not asked again, and what came before stands. */
static void test_refusal(void **state) {
  static char piece[100000];
  collected *to = calloc(1, sizeof *to);
  gz_text text;
  (void)state;
  assert_non_null(to);
  to->limit = 2;
  assert_true(gz_text_begin(NULL, &text, collect, to));
  gz_put_text(&text, "one");
  gz_text_flush(&text);
  assert_false(text.refused);
  for (int i = 0; i < 3; i++) gz_put_bytes(&text, piece, sizeof piece);
  gz_put_text(&text, "two");
  gz_text_flush(&text);
  assert_true(text.refused);
  assert_int_equal(to->calls, 2);
  assert_int_equal(to->used, 3);
  gz_text_end(&text);
  free(to);
}

static int length_of(unsigned a, unsigned b, unsigned c, unsigned d) {
  const char text[5] = {(char)a, (char)b, (char)c, (char)d, 0};
  return gz_utf8_length(text);
}

/* The bounds of each row of Unicode's table 3-7, and their neighbours. */
static void test_utf8(void **state) {
  (void)state;
  assert_int_equal(gz_utf8_length(""), 1);
  assert_int_equal(length_of(0x7f, 0, 0, 0), 1);
  assert_int_equal(length_of(0x80, 0x80, 0, 0), -1);
  assert_int_equal(length_of(0xc1, 0xbf, 0, 0), -1);
  assert_int_equal(length_of(0xc2, 0x80, 0, 0), 2);
  assert_int_equal(length_of(0xdf, 0xbf, 0, 0), 2);
  assert_int_equal(length_of(0xdf, 0x7f, 0, 0), -1);
  assert_int_equal(length_of(0xe0, 0x9f, 0xbf, 0), -1);
  assert_int_equal(length_of(0xe0, 0xa0, 0x80, 0), 3);
  assert_int_equal(length_of(0xed, 0x9f, 0xbf, 0), 3);
  assert_int_equal(length_of(0xed, 0xa0, 0x80, 0), -1);
  assert_int_equal(length_of(0xef, 0xbf, 0xc0, 0), -2);
  assert_int_equal(length_of(0xf0, 0x8f, 0xbf, 0xbf), -1);
  assert_int_equal(length_of(0xf0, 0x90, 0x80, 0x80), 4);
  assert_int_equal(length_of(0xf4, 0x8f, 0xbf, 0xbf), 4);
  assert_int_equal(length_of(0xf4, 0x90, 0x80, 0x80), -1);
  assert_int_equal(length_of(0xf5, 0x80, 0x80, 0x80), -1);
  assert_int_equal(length_of(0xf0, 0x90, 0x80, 0), -3); /* cut off */
}

static void put_json(gz_text *text, bool in_script) {
  gz_json json = gz_json_begin(text, in_script);
  gz_json_text(&json, "name", "a\"b\\c\n</script>\xe2\x82\xac\xe2\x82!");
  gz_json_text(&json, "none", NULL);
  gz_json_open(&json, "list", '[');
  for (int i = 0; i < 2; i++) {
    gz_json_open(&json, NULL, '{');
    gz_json_bool(&json, "yes", i == 0);
    gz_json_pair(&json, 1, UINT64_MAX);
    gz_json_close(&json);
  }
  gz_json_close(&json);
  gz_json_doubles(&json, "numbers", (const double[4]){0.1, -0.0, HUGE_VAL, 1e300}, 4);
  gz_json_hash(&json, "hash", 0xabc);
  gz_json_end(&json);
  gz_put_bytes(text, "", 1);
}

/* Commas, lines and escapes; a string cannot end a script element. */
static void test_json(void **state) {
  (void)state;
  static const char *const rest =
      ",\n \"none\":\"\",\n \"list\":[\n  {\"yes\":true,[1,18446744073709551615]},\n  "
      "{\"yes\":false,[1,18446744073709551615]}],\n \"numbers\":[0.1,-0,null,1e+300],\n "
      "\"hash\":\"0000000000000abc\"}\n";
  static const char *const starts[] = {"{\"name\":\"a\\\"b\\\\c\\u000a</script>\xe2\x82\xac\xef\xbf\xbd!\"",
                                       "{\"name\":\"a\\\"b\\\\c\\u000a\\u003c/script>\xe2\x82\xac\xef\xbf\xbd!\""};
  for (int in_script = 0; in_script < 2; in_script++) {
    gz_text text;
    assert_true(gz_text_begin(NULL, &text, NULL, NULL));
    put_json(&text, in_script);
    assert_memory_equal(text.data, starts[in_script], strlen(starts[in_script]));
    assert_string_equal(text.data + strlen(starts[in_script]), rest);
    gz_text_end(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers), cmocka_unit_test(test_pieces), cmocka_unit_test(test_refusal),
      cmocka_unit_test(test_utf8),    cmocka_unit_test(test_json),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
