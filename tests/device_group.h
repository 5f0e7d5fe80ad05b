/* tests/device_group.h: what most tests of devices work with. test_device_open and test_device_close are the set-up and
 * tear-down of a group of tests. */
#ifndef GRAZE_TESTS_DEVICE_GROUP_H
#define GRAZE_TESTS_DEVICE_GROUP_H

#include "device.h"

/* A context whose engine is the device, and one of the answers that are wanted. */
typedef struct device_group {
  graze_context *context; /* of two threads */
  graze_gpu *gpu;         /* attached, always; NULL: there is none */
  test_log messages;      /* of the context */
  graze_query *query;
  graze_broadphase *phases[GRAZE_BROAD_METHODS]; /* by method */
  graze_context *plain;
  test_log plain_messages;
  graze_query *plain_query;
  graze_broadphase *plain_phase;
  uint64_t answered; /* by the device, at the last test_was_on_device */
} device_group;

extern device_group on;

int test_device_open(void **state);
int test_device_close(void **state);

/* Skips the test when there is no device. */
void need_device(void);

/* Whether all `questions` since the last call of this were answered by the device; false: none of them was. */
bool test_was_on_device(uint32_t questions);

#endif
