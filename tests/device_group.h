/* tests/device_group.h: what most tests of devices work with. test_device_open and test_device_close are the set-up and
 * tear-down of a group of tests. */
#ifndef GRAZE_TESTS_DEVICE_GROUP_H
#define GRAZE_TESTS_DEVICE_GROUP_H

#include "device.h"

typedef struct device_group {
  graze_context *context;  /* of two threads */
  graze_gpu *gpu;          /* NULL: there is none */
  test_log messages;       /* of the context */
  graze_broadphase *broad; /* the processor's: what is wanted */
  graze_query *query;
} device_group;

extern device_group on;

int test_device_open(void **state);
int test_device_close(void **state);

/* Skips the test when there is no device. */
void need_device(void);

#endif
