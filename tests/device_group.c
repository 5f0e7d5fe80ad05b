#include "device_group.h"

device_group on;

int test_device_open(void **state) {
  (void)state;
  on.context = test_context(2, &on.messages);
  on.plain = test_context(2, &on.plain_messages);
  for (int m = 0; m < GRAZE_BROAD_METHODS; m++) {
    graze_broadphase_def def = graze_default_broadphase_def();
    def.method = (graze_broad_method)m;
    assert_int_equal(graze_broadphase_create(on.context, &def, &on.phases[m]), GRAZE_OK);
  }
  assert_int_equal(graze_broadphase_create(on.plain, NULL, &on.plain_phase), GRAZE_OK);
  assert_int_equal(graze_query_create(on.context, &on.query), GRAZE_OK);
  assert_int_equal(graze_query_create(on.plain, &on.plain_query), GRAZE_OK);
  on.gpu = test_device(on.context, "tests of devices");
  if (on.gpu != NULL) assert_int_equal(graze_gpu_attach(on.gpu, GRAZE_GPU_ALWAYS), GRAZE_OK);
  return 0;
}

int test_device_close(void **state) {
  (void)state;
  graze_gpu_destroy(on.gpu);
  for (int m = 0; m < GRAZE_BROAD_METHODS; m++) graze_broadphase_destroy(on.phases[m]);
  graze_broadphase_destroy(on.plain_phase);
  graze_query_destroy(on.query);
  graze_query_destroy(on.plain_query);
  graze_context_destroy(on.context);
  graze_context_destroy(on.plain);
  return 0;
}

void need_device(void) {
  if (on.gpu == NULL) skip();
  on.answered = graze_gpu_get_report(on.gpu).answered;
}

bool test_was_on_device(uint32_t questions) {
  uint64_t before = on.answered;
  on.answered = graze_gpu_get_report(on.gpu).answered;
  assert_true(on.answered == before || on.answered == before + questions);
  return on.answered == before + questions;
}
