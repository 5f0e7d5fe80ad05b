/* self_test.h: a device held against the reference. */
#ifndef GRAZE_SRC_VISIBILITY_SELF_TEST_H
#define GRAZE_SRC_VISIBILITY_SELF_TEST_H

#include "visibility/device.h"

/* Triangles of all kinds are put, tested and run through a sequence, and every bound and flag must be that of the
 * reference device. Errors: UNSUPPORTED with what differs in `reason`, MEMORY, and those of the device. */
graze_status gz_visibility_self_test(graze_context *context, visibility_device *device, char *reason, size_t size);

#endif
