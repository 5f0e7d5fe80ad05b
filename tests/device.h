/* tests/device.h: the device that tests of graze_gpu run on. */
#ifndef GRAZE_TESTS_DEVICE_H
#define GRAZE_TESTS_DEVICE_H

#include "graze/gpu.h"
#include "support.h"

/* The device named in GRAZE_TEST_DEVICE, else the default one. NULL: there is none, which is said once. "host" is the
 * processor running kernels as C (host_device.h); with ":backward" or ":random" in another order, with "+shuffles" with
 * those. */
graze_gpu *test_device(graze_context *context, const char *test);

/* The same once more. */
graze_status test_device_again(graze_context *context, graze_gpu **gpu);

/* With GRAZE_TEST_SMALL in the environment: on the processor as a device, or on a simulator, which is slow. */
bool test_device_slow(void);

/* How many elements a building block is tried with at most: what GRAZE_TEST_SMALL says, a million without it. */
uint32_t test_device_most(void);

/* By how much a test of many cases goes on: 1; on a device as above 4, on a simulator 9. */
uint32_t test_device_stride(void);

#endif
