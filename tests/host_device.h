/* tests/host_device.h: a back end of the device layer that runs kernels as C, so that they are tested, with sanitizers
 * too, where there is no driver at all. */
#ifndef GRAZE_TESTS_HOST_DEVICE_H
#define GRAZE_TESTS_HOST_DEVICE_H

#include "gpu/device.h"
#include "host_runner.h"

/* What the vendor's shuffles are like. */
typedef enum host_shuffles {
  HOST_SHUFFLES_NONE,
  HOST_SHUFFLES_RIGHT,
  HOST_SHUFFLES_WRONG,
  HOST_SHUFFLES_FAIL, /* kernels that use them cannot be had */
  HOST_SHUFFLES_KINDS
} host_shuffles;

/* Outlives the device. */
typedef struct host_device {
  gpu_backend backend; /* first: the back end finds the rest from it */
  host_order order;
  host_shuffles shuffles;
  uint64_t seed;
} host_device;

graze_status host_device_create(graze_context *context, host_device *device, host_order order, host_shuffles shuffles,
                                graze_gpu **gpu);

#endif
