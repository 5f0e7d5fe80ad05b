/* Files of boxes: what is read is what was written, bit by bit, and a file that ends anywhere else is refused. That
 * every other fault is told with its place is in cli/pairs.test. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "graze/io.h"
#include "support.h"

enum { COUNT = 40, RECORD = 56, HEAD = 16 };

static graze_box random_box(uint64_t *state) {
  static const double special[] = {0, -0.0, DBL_MAX, -DBL_MAX, 0x1p-1074, -0x1p-1074, 0.1, 1e22};
  graze_box box;
  for (int k = 0; k < 3; k++) {
    double x = special[random_below(state, 8)], y = ldexp(random_signed(state), (int)random_below(state, 2000) - 1000);
    box.min[k] = x < y ? x : y;
    box.max[k] = x < y ? y : x;
  }
  return box;
}

static void fill(uint64_t seed, uint32_t ids[COUNT], graze_box boxes[COUNT]) {
  for (uint32_t i = 0; i < COUNT; i++) {
    ids[i] = i * 0x9E3779B1u + (uint32_t)seed; /* an odd factor: all differ */
    boxes[i] = random_box(&seed);
  }
}

static void same_boxes(const graze_box_list *got, const uint32_t ids[COUNT], const graze_box boxes[COUNT]) {
  assert_int_equal(got->count, COUNT);
  assert_memory_equal(got->ids, ids, COUNT * sizeof *ids);
  assert_memory_equal(got->boxes, boxes, COUNT * sizeof *boxes);
}

static size_t write_binary(const uint32_t ids[COUNT], const graze_box boxes[COUNT], char *out) {
  uint64_t count = COUNT;
  memcpy(out, "GRZBOX1", 8);
  memcpy(out + 8, &count, 8);
  for (uint32_t i = 0; i < COUNT; i++) {
    uint64_t id = ids[i];
    memcpy(out + HEAD + (size_t)i * RECORD, &id, 8);
    memcpy(out + HEAD + (size_t)i * RECORD + 8, &boxes[i], 48);
  }
  return HEAD + COUNT * RECORD;
}

static size_t write_text(const uint32_t ids[COUNT], const graze_box boxes[COUNT], char *out) {
  char *p = out;
  for (uint32_t i = 0; i < COUNT; i++) {
    const double *numbers = boxes[i].min; /* min and max follow each other */
    p += sprintf(p, "%u", ids[i]);
    for (int k = 0; k < 6; k++) p += sprintf(p, ",%.17g", k < 3 ? numbers[k] : boxes[i].max[k - 3]);
    *p++ = '\n';
  }
  return (size_t)(p - out);
}

static void reads_what_was_written(void **unused) {
  (void)unused;
  uint32_t ids[COUNT];
  graze_box boxes[COUNT];
  char *bytes = malloc(COUNT * 200);
  assert_non_null(bytes);
  for (uint64_t seed = 1; seed <= 50; seed++) {
    graze_box_list got;
    fill(seed, ids, boxes);
    size_t size = write_binary(ids, boxes, bytes);
    assert_int_equal(graze_parse_boxes(shared_context(1), bytes, size, "x.gzb", &got), GRAZE_OK);
    same_boxes(&got, ids, boxes);
    graze_box_list_free(&got);
    size = write_text(ids, boxes, bytes);
    assert_int_equal(graze_parse_boxes(shared_context(1), bytes, size, "x.csv", &got), GRAZE_OK);
    same_boxes(&got, ids, boxes);
    graze_box_list_free(&got);
  }
  free(bytes);
}

/* Of text only a file that ends behind a row is good; a row cut within its last number can be a shorter number. */
static void a_cut_file_is_refused(void **unused) {
  (void)unused;
  uint32_t ids[COUNT];
  graze_box boxes[COUNT];
  char bytes[HEAD + COUNT * RECORD];
  fill(7, ids, boxes);
  size_t size = write_binary(ids, boxes, bytes);
  for (size_t cut = 0; cut < size; cut++) {
    graze_box_list got;
    char *exact = malloc(cut + !cut);
    assert_non_null(exact);
    memcpy(exact, bytes, cut);
    assert_int_equal(graze_parse_boxes(shared_context(1), exact, cut, "x.gzb", &got), GRAZE_ERROR_FORMAT);
    assert_non_null(strstr(shared_error()->message, "x.gzb: byte "));
    assert_null(got.boxes);
    free(exact);
  }
}

static void odd_calls(void **unused) {
  (void)unused;
  graze_box_list got;
  assert_int_equal(graze_parse_boxes(shared_context(1), NULL, 5, "x", &got), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_parse_boxes(shared_context(1), "1", 1, NULL, &got), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_parse_boxes(shared_context(1), "1", 1, "x", NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_read_boxes(shared_context(1), NULL, &got), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_read_boxes(shared_context(1), "/nowhere/at/all.csv", &got), GRAZE_ERROR_FILE);
  assert_int_equal(graze_parse_boxes(shared_context(1), NULL, 0, "x.csv", &got), GRAZE_ERROR_FORMAT);
  assert_string_equal(shared_error()->message, "x.csv: byte 0: the file is empty");
  assert_null(got.ids);
  graze_box_list_free(&got);
  graze_box_list_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(reads_what_was_written), cmocka_unit_test(a_cut_file_is_refused),
                                     cmocka_unit_test(odd_calls)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
