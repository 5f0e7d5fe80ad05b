/* The OBJ reader on any bytes. */
#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  check_reader(data, size, GRAZE_FORMAT_OBJ);
  return 0;
}
