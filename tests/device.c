#include "device.h"

#include <stdlib.h>

graze_gpu *test_device(graze_context *context, const char *test) {
  char why[256];
  uint32_t count;
  graze_gpu_info *list;
  graze_gpu *gpu = NULL;
  assert_int_equal(graze_gpu_list(context, &list, &count, why), GRAZE_OK);
  graze_gpu_list_free(context, list, count);
  if (count == 0) {
    printf("SKIPPED %s: %s\n", test, why);
    return NULL;
  }
  assert_int_equal(graze_gpu_create(context, getenv("GRAZE_TEST_DEVICE"), &gpu), GRAZE_OK);
  printf("device %s: %s, %s\n", graze_gpu_get_info(gpu)->id, graze_gpu_get_info(gpu)->name,
         graze_gpu_get_info(gpu)->driver);
  return gpu;
}

bool test_device_slow(void) {
  return getenv("GRAZE_TEST_SMALL") != NULL;
}
