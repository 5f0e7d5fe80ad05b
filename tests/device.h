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

/* With few elements in GRAZE_TEST_SMALL: on the processor as a device, or on a simulator, which are slow. `few`: a
 * simulator. */
bool test_device_slow(void);
bool test_device_few(void);

/* How many elements a building block is tried with at most: what GRAZE_TEST_SMALL says, a million without it. */
uint32_t test_device_most(void);

/* Also the largest cases: without GRAZE_TEST_SMALL. */
bool test_device_large(void);

/* Of many kinds of cases a test looks at every one; in small forms at every second, on slow devices at every fourth or
 * ninth, from `first` on, which is another one in every run. */
uint32_t test_device_stride(void);
uint32_t test_device_first(void);

#endif
