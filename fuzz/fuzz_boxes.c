/* The reader of boxes on any bytes, as text and under a name that asks for binary. */
#include "check.h"

static int compare_ids(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void check_boxes(graze_box_list *boxes) {
  check_that(boxes->ids != NULL && boxes->boxes != NULL);
  for (uint32_t i = 0; i < boxes->count; i++) {
    const graze_box *box = &boxes->boxes[i];
    for (int k = 0; k < 3; k++) {
      check_that(isfinite(box->min[k]) && isfinite(box->max[k]) && box->min[k] <= box->max[k]);
    }
  }
  qsort(boxes->ids, boxes->count, sizeof *boxes->ids, compare_ids);
  for (uint32_t i = 1; i < boxes->count; i++) check_that(boxes->ids[i - 1] != boxes->ids[i]);
}

static void check_name(const uint8_t *data, size_t size, const char *name) {
  graze_box_list boxes;
  graze_status status = graze_parse_boxes(fuzz_context(), data, size, name, &boxes);
  if (status == GRAZE_OK) {
    check_boxes(&boxes);
  } else {
    check_that(fuzz_failed(status, name) && boxes.ids == NULL && boxes.count == 0);
  }
  graze_box_list_free(&boxes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  check_name(data, size, "input");
  check_name(data, size, "input.gzb");
  return 0;
}
