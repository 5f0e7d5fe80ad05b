/* Status texts. */
#include "base/context.h"

const char *graze_status_string(graze_status status) {
  switch (status) {
    case GRAZE_OK:
      return "no error";
    case GRAZE_ERROR_ARGUMENT:
      return "bad argument";
    case GRAZE_ERROR_MEMORY:
      return "out of memory";
    case GRAZE_ERROR_NOT_FINITE:
      return "coordinate is not finite";
    case GRAZE_ERROR_INDEX:
      return "index out of range";
    case GRAZE_ERROR_LIMIT:
      return "too many elements";
    case GRAZE_ERROR_FILE:
      return "file cannot be read or written";
    case GRAZE_ERROR_FORMAT:
      return "malformed data";
    case GRAZE_ERROR_POSE:
      return "pose not allowed";
    case GRAZE_ERROR_HANDLE:
      return "stale or unknown id";
    case GRAZE_ERROR_UNSUPPORTED:
      return "not supported here";
    case GRAZE_ERROR_DEVICE:
      return "a device failed";
    case GRAZE_ERROR_RANK:
      return "a rank cannot be reached";
    case GRAZE_CANCELLED:
      return "cancelled";
  }
  return "unknown status";
}

const char *graze_version(void) {
  return GRAZE_VERSION_STRING;
}
