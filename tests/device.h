/* tests/device.h: the device that tests of graze_gpu run on. */
#ifndef GRAZE_TESTS_DEVICE_H
#define GRAZE_TESTS_DEVICE_H

#include "graze/gpu.h"
#include "support.h"

/* The device named in GRAZE_TEST_DEVICE, else the default one. NULL: there is none, which is said once. */
graze_gpu *test_device(graze_context *context, const char *test);

/* With GRAZE_TEST_SMALL in the environment: on a simulator, which is slow. */
bool test_device_slow(void);

#endif
