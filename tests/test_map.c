/* Maps to numbers, against a search through lists. */
#include <string.h>

#include "base/map.h"
#include "families.h"
#include "support.h"

enum { KEYS = 300 };

static void test_keys(void **state) {
  (void)state;
  graze_context *context = test_context(1, NULL);
  uint64_t random = test_seed(1), keys[KEYS];
  gz_map map;
  assert_true(gz_map_open(context, &map, KEYS));
  for (uint32_t i = 0; i < KEYS; i++) {
    keys[i] = random_next(&random) % KEYS * (i % 2 == 0 ? 1 : UINT64_C(0x100000000));
    uint32_t first = 0;
    while (keys[first] != keys[i]) first++;
    const uint32_t *known = gz_map_find(&map, keys[i]);
    assert_true(first == i ? known == NULL : known != NULL && *known == first);
    assert_int_equal(*gz_map_add(&map, keys[i], i), first);
  }
  gz_map_close(&map);
  graze_context_destroy(context);
}

static void test_texts(void **state) {
  (void)state;
  graze_context *context = test_context(1, NULL);
  uint64_t random = test_seed(2);
  char texts[KEYS][8];
  gz_text_map map = {0};
  assert_null(gz_text_map_find(&map, "", 0));
  for (uint32_t i = 0; i < KEYS; i++) {
    size_t length = random_below(&random, 4), first = 0;
    for (size_t k = 0; k < 8; k++) texts[i][k] = k < length ? (char)('a' + random_below(&random, 4)) : '\0';
    while (strcmp(texts[first], texts[i]) != 0) first++;
    const gz_text_entry *known = gz_text_map_find(&map, texts[i], length);
    assert_true(first == i ? known == NULL : known != NULL && known->value == first);
    assert_int_equal(gz_text_map_add(context, &map, texts[i], length, i)->value, first);
  }
  gz_text_map_close(&map);
  graze_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_keys), cmocka_unit_test(test_texts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
