/* Number text: what is read, written and read again must be the same double. */
#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *text = (const char *)data;
  double value, back;
  const char *end = graze_parse_double(text, text + size, &value);
  if (end == NULL) return 0;
  check_that(end > text && end <= text + size && !isnan(value));
  if (!isfinite(value)) return 0;
  char out[32];
  size_t length = graze_format_double(value, out);
  check_that(length < 25 && graze_parse_double(out, out + length, &back) == out + length);
  check_that(memcmp(&value, &back, sizeof value) == 0);
  return 0;
}
