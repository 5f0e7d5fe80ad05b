/* The reader of motions on any bytes, for three objects one of whose names needs quotes. */
#include "check.h"

static const char *const names[] = {"arm", "table", "a, \"b\""};

static void check_motion(const graze_motion *motion) {
  uint32_t last[3] = {0, 0, 0}, before = 0;
  for (uint64_t i = 0; i < motion->count; i++) {
    const graze_motion_move *move = &motion->moves[i];
    check_that(move->step >= 1 && move->step >= before && move->step <= GRAZE_MOTION_MOST_STEPS);
    check_that(move->object < 3 && last[move->object] < move->step);
    for (int k = 0; k < 12; k++) check_that(isfinite(move->pose.m[k]));
    last[move->object] = before = move->step;
  }
  check_that(motion->last_step == before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  graze_motion motion;
  graze_status status = graze_parse_motion(fuzz_context(), data, size, "input", names, 3, &motion);
  if (status == GRAZE_OK) {
    check_motion(&motion);
  } else {
    check_that(fuzz_failed(status, "input:") && motion.moves == NULL && motion.count == 0);
  }
  graze_motion_free(&motion);
  return 0;
}
