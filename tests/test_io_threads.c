/* Large files read on several threads: the same geometry, or the same message, as on one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "geometry_files.h"
#include "support.h"

static uint64_t seed;

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
#ifdef __SANITIZE_THREAD__ /* is slow */
enum { ENDS = 1, FAULTS = 2 };
#else
enum { ENDS = 3, FAULTS = 8 };
#endif

static double random_coordinate(void) {
  return (double)(int64_t)random_next(&seed) / 9e15;
}

static void make_large_obj(text_buffer *text, const char *end) {
  uint64_t vertices = 0;
  while (text->size < LARGE - 4096) {
    for (int k = 0; k < 3; k++, vertices++) {
      add(text, "v %.*g %g %g%s", (int)(random_next(&seed) % 18), random_coordinate(), random_coordinate(),
          random_coordinate(), end);
    }
    uint64_t kind = random_next(&seed) % 16;
    if (kind == 0) add(text, "o object %d%s", (int)(random_next(&seed) % 100), end);
    if (kind == 1) add(text, "# comment \\%s%s", end, end);
    if (kind == 2) add(text, "vt 0 \\%s 0%s", end, end);
    if (kind < 8) {
      add(text, "f -1 -2 -3%s", end);
      continue;
    }
    add(text, "f");
    for (uint64_t k = 0; k < kind - 5; k++) {
      add(text, random_next(&seed) % 8 == 0 ? " \\%s %llu/1/2" : "%.0s %llu", end,
          (unsigned long long)(random_next(&seed) % vertices + 1));
    }
    add(text, "%s", end);
  }
}

static void make_large_stl(text_buffer *text, const char *end) {
  add(text, "solid first%s", end);
  while (text->size < LARGE - 4096) {
    if (random_next(&seed) % 100 == 0)
      add(text, "endsolid%s%ssolid next %d%s", end, end, (int)(random_next(&seed) % 9), end);
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
    if (random_next(&seed) % 50 == 0) add(text, "%s%s", end, ply ? "" : "# between\n");
  }
  for (int i = 0; i < ROWS_OF_FACES; i++) {
    uint64_t corners = 3 + random_next(&seed) % 3;
    add(text, "%llu", (unsigned long long)corners);
    for (uint64_t k = 0; k < corners; k++) add(text, " %llu", (unsigned long long)(random_next(&seed) % VERTICES));
    add(text, "%s", end);
  }
}

/* Any number of threads gives the same geometry, or the same message. Returns whether the text was accepted. */
static bool check_threads(const text_buffer *text, graze_file_format format) {
  graze_geometry first, other;
  graze_status status = graze_parse_geometry(shared_context(1), text->data, text->size, "large", format, 0, &first);
  const graze_error first_error = *shared_error();
  for (int threads = 2; threads < 9; threads += 3) {
    graze_status other_status =
        graze_parse_geometry(shared_context(threads), text->data, text->size, "large", format, 0, &other);
    assert_int_equal(status, other_status);
    if (status != GRAZE_OK) assert_string_equal(first_error.message, shared_error()->message);
    assert_same(&first, &other);
    assert_true(first.stored_floats == other.stored_floats && first.rounding == other.rounding);
    graze_geometry_free(&other);
  }
  if (status == GRAZE_OK) assert_sound(&first);
  graze_geometry_free(&first);
  return status == GRAZE_OK;
}

static void test_threads(void **state) {
  (void)state;
  static const char *const ends[3] = {"\n", "\r\n", "\r"};
  text_buffer text = {malloc(2 * LARGE), 0};
  assert_non_null(text.data);
  seed = 6;
  int refused = 0, faulty = 0;
  for (int kind = 0; kind < 4; kind++) {
    for (int e = 0; e < ENDS; e++) {
      if (test_thinned() && e != kind % ENDS) continue;
      text.size = 0;
      if (kind == 0) make_large_obj(&text, ends[e]);
      if (kind == 1) make_large_stl(&text, ends[e]);
      if (kind == 2) make_large_table(&text, ends[e], false);
      if (kind == 3) make_large_table(&text, ends[e], true);
      assert_true(text.size < 2 * LARGE);
      graze_file_format format =
          (graze_file_format[]){GRAZE_FORMAT_OBJ, GRAZE_FORMAT_STL, GRAZE_FORMAT_OFF, GRAZE_FORMAT_PLY}[kind];
      if (!check_threads(&text, format)) fail_msg("kind %d, line end %d refused", kind, e);
      for (int fault = 0; fault < FAULTS; fault++) { /* faults add up, so that the first of several must be found */
        text.data[1000 + random_next(&seed) % (text.size - 1000)] = "x\n -9\r#f"[fault];
        refused += !check_threads(&text, format);
        faulty++;
      }
    }
  }
  assert_true(refused > faulty * 5 / 8);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_threads_binary),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
