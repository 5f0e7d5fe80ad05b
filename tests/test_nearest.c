/* Nearest names: the edits as their definition counts them, the order, and what messages get. */
#include <string.h>

#include "base/nearest.h"
#include "families.h"
#include "support.h"

/* The definition, from the end. */
static uint32_t edits_between(const char *a, size_t n, const char *b, size_t m) {
  if (n == 0 || m == 0) return (uint32_t)(n + m);
  uint32_t best = edits_between(a, n - 1, b, m - 1) + (a[n - 1] != b[m - 1]);
  uint32_t left = edits_between(a, n - 1, b, m) + 1, right = edits_between(a, n, b, m - 1) + 1;
  if (left < best) best = left;
  if (right < best) best = right;
  if (n < 2 || m < 2 || a[n - 1] != b[m - 2] || a[n - 2] != b[m - 1]) return best;
  uint32_t swapped = edits_between(a, n - 2, b, m - 2) + 1;
  return swapped < best ? swapped : best;
}

static void random_word(uint64_t *random, char word[8]) {
  size_t length = random_below(random, 7);
  for (size_t i = 0; i < length; i++) word[i] = (char)('a' + random_below(random, 3));
  word[length] = '\0';
}

/* The three nearest of many words, in the order of their edits and then as they came. */
static void test_edits(void **state) {
  (void)state;
  enum { WORDS = 20 };
  uint64_t random = test_seed(1);
  for (int round = 0; round < 200; round++) {
    char wanted[8], words[WORDS][8];
    uint32_t edits[WORDS];
    random_word(&random, wanted);
    nearest n = {.wanted = wanted};
    for (int i = 0; i < WORDS; i++) {
      random_word(&random, words[i]);
      edits[i] = edits_between(wanted, strlen(wanted), words[i], strlen(words[i]));
      gz_nearest_offer(&n, words[i]);
    }
    assert_int_equal(n.count, NEAREST_NAMES);
    for (uint32_t k = 0; k < NEAREST_NAMES; k++) {
      int best = 0;
      for (int i = 1; i < WORDS; i++) best = edits[i] < edits[best] ? i : best;
      assert_int_equal(n.edits[k], edits[best]);
      assert_ptr_equal(n.name[k], words[best]);
      for (int i = WORDS - 1; i >= 0; i--) edits[i] = strcmp(words[i], words[best]) == 0 ? UINT32_MAX : edits[i];
    }
  }
}

static void test_words(void **state) {
  (void)state;
  const char *const verbs[] = {"check", "watch", "self", "info", NULL};
  assert_string_equal(gz_did_you_mean_one_of("chekc", verbs).text, "; did you mean \"check\"?");
  assert_string_equal(gz_did_you_mean_one_of("SELF", verbs).text, "; did you mean \"self\"?");
  assert_string_equal(gz_did_you_mean_one_of("simulate", verbs).text, "");
  assert_string_equal(gz_did_you_mean_one_of("x", (const char *const[]){"a", NULL}).text, "");
  assert_string_equal(gz_did_you_mean_one_of("", verbs).text, "");
  nearest n = {.wanted = "bolt1"};
  assert_string_equal(gz_nearest_list(&n).text, "");
  gz_nearest_offer(&n, "plate");
  gz_nearest_offer(&n, "jig/bolt2");
  gz_nearest_offer(&n, "jig/bolt2");
  gz_nearest_offer(&n, "jig/bolt1");
  assert_string_equal(gz_did_you_mean(&n).text, "; did you mean \"jig/bolt1\" or \"jig/bolt2\"?");
  assert_string_equal(gz_nearest_list(&n).text, "\"jig/bolt1\", \"jig/bolt2\", \"plate\"");
}

/* Names too long to show or to compare, cut between letters; control characters. */
static void test_long_names(void **state) {
  (void)state;
  char name[401] = "", wanted[101] = "";
  for (int i = 0; i < 200; i++) strcat(name, "\xC3\xA9");
  memset(wanted, 'a', 100);
  nearest n = {.wanted = wanted};
  gz_nearest_offer(&n, name);
  gz_nearest_offer(&n, "a\nb");
  nearest_list list = gz_nearest_list(&n);
  assert_non_null(strstr(list.text, "\"...\xC3\xA9\xC3\xA9"));
  assert_non_null(strstr(list.text, "\"a?b\""));
  n = (nearest){.wanted = "b"};
  gz_nearest_offer(&n, name + 341); /* 59 bytes from the middle of a letter on */
  gz_nearest_offer(&n, name + 337); /* 63 */
  assert_non_null(strstr(gz_nearest_list(&n).text, "\"...\xC3\xA9\xC3\xA9"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_edits),
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_long_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
