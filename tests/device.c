#include "device.h"

#include <stdlib.h>
#include <string.h>

#include "host_device.h"

graze_status test_device_again(graze_context *context, graze_gpu **gpu) {
  static host_device device;
  const char *name = getenv("GRAZE_TEST_DEVICE");
  if (name == NULL || strncmp(name, "host", 4) != 0) return graze_gpu_create(context, name, gpu);
  host_order order = HOST_FORWARD;
  if (strstr(name, ":backward") != NULL) order = HOST_BACKWARD;
  if (strstr(name, ":random") != NULL) order = HOST_RANDOM;
  bool shuffles = strstr(name, "+shuffles") != NULL;
  return host_device_create(context, &device, order, shuffles ? HOST_SHUFFLES_RIGHT : HOST_SHUFFLES_NONE, gpu);
}

static bool is_there(graze_context *context, const char *test) {
  graze_gpu *none = NULL;
  uint32_t count;
  graze_gpu_info *list;
  const char *name = getenv("GRAZE_TEST_DEVICE");
  if (name != NULL && strncmp(name, "host", 4) == 0) return true;
  assert_int_equal(graze_gpu_list(context, &list, &count), GRAZE_OK);
  graze_gpu_list_free(context, list, count);
  if (count > 0) return true;
  assert_int_equal(graze_gpu_create(context, NULL, &none), GRAZE_ERROR_UNSUPPORTED);
  printf("SKIPPED %s: %s\n", test, graze_last_error(context)->message);
  return false;
}

graze_gpu *test_device(graze_context *context, const char *test) {
  graze_gpu *gpu = NULL;
  if (!is_there(context, test)) return NULL;
  assert_int_equal(test_device_again(context, &gpu), GRAZE_OK);
  printf("device %s: %s, %s\n", graze_gpu_get_info(gpu)->id, graze_gpu_get_info(gpu)->name,
         graze_gpu_get_info(gpu)->driver);
  return gpu;
}

enum { MOST = 1000000, MOST_ON_SLOW = 10000, FEW = 1000 };

bool test_device_slow(void) {
  return test_device_most() <= MOST_ON_SLOW;
}

bool test_device_few(void) {
  return test_device_most() <= FEW;
}

bool test_device_large(void) {
  return test_device_most() >= MOST;
}

uint32_t test_device_most(void) {
  const char *most = getenv("GRAZE_TEST_SMALL");
  return most != NULL ? (uint32_t)strtoul(most, NULL, 10) : MOST;
}

uint32_t test_device_stride(void) {
  return test_device_large() ? 1 : !test_device_slow() ? 2 : !test_device_few() ? 4 : 9;
}

uint32_t test_device_first(void) {
  return (uint32_t)(test_seed(0) % test_device_stride());
}
