/* The reader of frames of balls and rigid bodies on any bytes. */
#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  graze_frames got;
  uint64_t balls = 0;
  graze_status status = graze_parse_frames(fuzz_context(), data, size, "input", &got);
  if (status != GRAZE_OK) {
    check_that(fuzz_failed(status, "input") && got.states == NULL && got.count == 0);
    return 0;
  }
  for (uint32_t i = 0; i < got.set_count; i++) {
    check_that(got.sets[i].name != NULL);
    balls += got.sets[i].count;
  }
  check_that(balls == got.balls);
  check_that(got.numbers == (got.radii != NULL ? 9 : 13));
  for (uint32_t i = 0; got.radii != NULL && i < got.balls; i++) check_that(got.radii[i] > 0 && isfinite(got.radii[i]));
  for (uint64_t i = 0; i < got.count; i++)
    check_that(isfinite(got.times[i]) && (i == 0 || got.steps[i] > got.steps[i - 1]));
  for (uint64_t i = 0; i < got.numbers * got.count * got.balls; i++) check_that(isfinite(got.states[i]));
  graze_frames_free(&got);
  return 0;
}
