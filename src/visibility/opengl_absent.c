/* What stands in for the OpenGL device where its headers were not found. */
#include <stdio.h>

#include "base/context.h"
#include "visibility/device.h"

graze_status gz_visibility_opengl_create(graze_context *context, visibility_device **device, char *reason,
                                         size_t size) {
  (void)device;
  snprintf(reason, size, "OpenGL is not part of this build (its headers were missing)");
  return gz_fail(context, GRAZE_ERROR_UNSUPPORTED, "visibility: %s", reason);
}
