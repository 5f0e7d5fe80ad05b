#include "device_group.h"

device_group on;

int test_device_open(void **state) {
  (void)state;
  on.context = test_context(2, &on.messages);
  assert_int_equal(graze_broadphase_create(on.context, NULL, &on.broad), GRAZE_OK);
  assert_int_equal(graze_query_create(on.context, &on.query), GRAZE_OK);
  on.gpu = test_device(on.context, "tests of devices");
  return 0;
}

int test_device_close(void **state) {
  (void)state;
  graze_broadphase_destroy(on.broad);
  graze_query_destroy(on.query);
  graze_gpu_destroy(on.gpu);
  graze_context_destroy(on.context);
  return 0;
}

void need_device(void) {
  if (on.gpu == NULL) skip();
}
