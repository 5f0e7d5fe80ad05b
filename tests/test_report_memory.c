/* Memory is refused at each request of the writers in turn, also to the libraries that they use: the call fails with an
 * error or does without, and the program goes on. The C library's functions are replaced for that. */
#include <stdlib.h>

#include "report_world.h"

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static uint64_t requests, refused; /* the number of the one that is refused; 0 = none */

static bool refuse(void) {
  return ++requests == refused;
}

void *malloc(size_t size) {
  return refuse() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  return refuse() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
  return refuse() ? NULL : __libc_realloc(block, size);
}

/* What a context without an allocator takes. */
void *aligned_alloc(size_t alignment, size_t size) {
  return refuse() ? NULL : __libc_memalign(alignment, size);
}

typedef graze_status (*writer)(graze_context *context, const char *path, const graze_report *report);

static graze_status write_json(graze_context *context, const char *path, const graze_report *report) {
  return graze_report_write_json(context, path, report, true);
}

static graze_status write_junit(graze_context *context, const char *path, const graze_report *report) {
  return graze_report_write_junit(context, path, report, 1u << GRAZE_CROSS);
}

static graze_status write_bcf(graze_context *context, const char *path, const graze_report *report) {
  return graze_report_write_bcf(context, path, report, NULL, NULL);
}

static graze_status write_html(graze_context *context, const char *path, const graze_report *report) {
  return graze_report_write_html(context, path, report, 0, NULL, NULL);
}

static void test_writers(void **state) {
  static const writer writers[] = {graze_report_write_csv, write_json, write_junit, write_bcf, write_html};
  (void)state;
  for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++) {
    world w;
    world_open(&w);
    fill_world(&w);
    if (writers[i](w.context, "/dev/null", &w.report) == GRAZE_ERROR_UNSUPPORTED) {
      world_close(&w);
      continue;
    }
    uint64_t failures = 0, number = 0;
    do {
      requests = 0;
      refused = ++number;
      graze_status status = writers[i](w.context, "/dev/null", &w.report);
      refused = 0;
      if (status != GRAZE_OK) assert_int_equal(status, GRAZE_ERROR_MEMORY);
      failures += status != GRAZE_OK;
    } while (requests >= number);
    assert_true(failures > 0);
    world_close(&w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_writers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
