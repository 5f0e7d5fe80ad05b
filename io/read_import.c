#include "assembly.h"

bool io_read_import(const io_input *input, graze_assembly *assembly, io_fault *fault) {
  (void)input;
  (void)assembly;
  return io_fail(fault, GRAZE_ERROR_UNSUPPORTED, IO_WHOLE_FILE, 0, "not yet");
}
