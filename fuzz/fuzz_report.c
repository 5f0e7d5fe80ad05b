/* The readers of earlier reports and of marks, on any bytes: what follows the first NUL is a table of marks for the
 * report that stands before it. */
#include "check.h"
#include "graze/report.h"

static void check_clashes(const graze_report_previous *previous) {
  uint32_t count;
  const graze_report_previous_clash *clashes = graze_report_previous_clashes(previous, &count);
  for (uint32_t i = 0; i < count; i++) {
    const graze_report_previous_clash *clash = &clashes[i];
    check_that(strlen(clash->id) > 0 && strlen(clash->id) < 24 && strcmp(clash->a, clash->b) != 0);
    check_that(clash->relation <= GRAZE_UNKNOWN && clash->state <= GRAZE_STATE_RESOLVED);
    check_that(strlen(clash->mark) <= 8 && clash->comment != NULL && clash->found != NULL);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  graze_report_previous *previous = NULL;
  const uint8_t *end = size > 0 ? memchr(data, 0, size) : NULL;
  size_t report = end != NULL ? (size_t)(end - data) : size;
  graze_status status = graze_report_previous_parse(fuzz_context(), data, report, "input", &previous);
  check_that((status == GRAZE_OK) == (previous != NULL));
  if (status != GRAZE_OK) check_that(fuzz_failed(status, "input:"));
  if (previous != NULL) {
    const graze_report nothing = {.complete = true};
    graze_report_merged carried;
    check_clashes(previous);
    if (end != NULL) {
      status = graze_report_parse_marks(fuzz_context(), end + 1, size - report - 1, "marks", previous);
      if (status != GRAZE_OK) check_that(fuzz_failed(status, "marks:"));
      check_clashes(previous);
    }
    check_that(graze_report_merge_previous(fuzz_context(), &nothing, previous, &carried) == GRAZE_OK);
    check_that(carried.new_count == 0 && carried.active_count == 0 && carried.resolved_count == carried.clash_count);
    graze_report_merged_free(&carried);
    graze_report_previous_destroy(previous);
  }
  return 0;
}
