/* The device of the tests that runs kernels as C: faults that it has to find, and which group scans a device gets when
 * its shuffles are right, wrong or not to be had. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host_device.h"
#include "support.h"

enum { ITEMS = 64, GROUPS = 3 };

/* A device, and a kernel of faulty.cl. */
typedef struct fixture {
  graze_context *context;
  graze_gpu *gpu;
  gpu_kernel kernel;
  gpu_buffer out;
  host_device device;
  test_log messages;
} fixture;

static void begin(fixture *b, host_order order, host_shuffles shuffles, const char *kernel) {
  void *module;
  *b = (fixture){0};
  b->context = test_context(1, &b->messages);
  assert_int_equal(host_device_create(b->context, &b->device, order, shuffles, &b->gpu), GRAZE_OK);
  assert_int_equal(gz_gpu_reserve(b->gpu, &b->out, GROUPS * ITEMS * sizeof(uint32_t)), GRAZE_OK);
  if (kernel == NULL) return;
  assert_int_equal(b->gpu->backend->build(b->gpu, &(gpu_source){.name = "faulty"}, NULL, 0, &module), GRAZE_OK);
  assert_int_equal(b->gpu->backend->kernel(b->gpu, module, kernel, &b->kernel), GRAZE_OK);
  assert_int_equal(b->kernel.group, ITEMS);
}

static void end(fixture *b) {
  gz_gpu_release(b->gpu, &b->out);
  graze_gpu_destroy(b->gpu);
  graze_context_destroy(b->context);
}

/* A fault is reported in words, and the device is lost. */
static void test_barriers(void **state) {
  (void)state;
  static const char *const kernels[][2] = {{"half_a_barrier", "group 0: item 0 waits at the barrier of line "},
                                           {"two_barriers", "group 0: item 0 waits at the barrier of line "}};
  static const char *const others[] = {"item 1 has ended", "item 32 waits at that of line "};
  for (int i = 0; i < 2; i++) {
    for (host_order order = HOST_FORWARD; order <= HOST_BACKWARD; order++) {
      fixture b;
      begin(&b, order, HOST_SHUFFLES_NONE, kernels[i][0]);
      const gpu_argument arguments[] = {GPU_BUFFER(&b.out)};
      assert_int_equal(gz_gpu_launch(b.gpu, &b.kernel, 1, arguments, 1), GRAZE_ERROR_DEVICE);
      assert_non_null(strstr(b.messages.last, kernels[i][0]));
      assert_non_null(strstr(b.messages.last, kernels[i][1]));
      assert_non_null(strstr(b.messages.last, others[i]));
      assert_true(b.gpu->lost);
      end(&b);
    }
  }
}

static void run(host_order order, const char *kernel, uint32_t got[GROUPS * ITEMS]) {
  fixture b;
  begin(&b, order, HOST_SHUFFLES_NONE, kernel);
  const gpu_argument arguments[] = {GPU_BUFFER(&b.out)};
  assert_int_equal(gz_gpu_launch(b.gpu, &b.kernel, GROUPS, arguments, 1), GRAZE_OK);
  assert_int_equal(gz_gpu_read(b.gpu, got, &b.out, 0, GROUPS * ITEMS * sizeof *got), GRAZE_OK);
  end(&b);
}

/* A missing barrier comes out otherwise in each order. */
static void test_orders(void **state) {
  (void)state;
  uint32_t got[HOST_ORDERS][GROUPS * ITEMS];
  for (host_order order = 0; order < HOST_ORDERS; order++) {
    run(order, "race", got[order]);
    for (host_order other = 0; other < order; other++) {
      assert_int_not_equal(memcmp(got[order], got[other], sizeof got[order]), 0);
    }
  }
}

static void test_shared_memory_is_rubbish(void **state) {
  (void)state;
  uint32_t got[GROUPS * ITEMS];
  run(HOST_FORWARD, "uncleared", got);
  for (uint32_t i = 0; i < GROUPS * ITEMS; i++) assert_int_equal(got[i], 0xA5A5A5A5u + i % ITEMS);
}

static void test_arguments(void **state) {
  (void)state;
  fixture b;
  const uint32_t place = 0;
  const uint64_t wide = 0;
  for (int i = 0; i < 4; i++) {
    begin(&b, HOST_FORWARD, HOST_SHUFFLES_NONE, "stray");
    const gpu_argument good[] = {GPU_BUFFER(&b.out), GPU_VALUE(place)},
                       bad[][2] = {{GPU_VALUE(place), GPU_VALUE(place)},
                                   {GPU_BUFFER(&b.out), GPU_BUFFER(&b.out)},
                                   {GPU_BUFFER(&b.out), GPU_VALUE(wide)}};
    assert_int_equal(gz_gpu_launch(b.gpu, &b.kernel, 1, good, 2), GRAZE_OK);
    if (i < 3) assert_int_equal(gz_gpu_launch(b.gpu, &b.kernel, 1, bad[i], 2), GRAZE_ERROR_DEVICE);
    if (i == 3) assert_int_equal(gz_gpu_launch(b.gpu, &b.kernel, 1, good, 1), GRAZE_ERROR_DEVICE);
    assert_non_null(strstr(b.messages.last, "argument"));
    end(&b);
  }
}

/* Runs a kernel in a process of its own; true: it came to its end. */
static bool survives(const char *kernel, uint32_t place) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    fixture b;
    close(STDERR_FILENO);
    begin(&b, HOST_RANDOM, HOST_SHUFFLES_NONE, kernel);
    const gpu_argument arguments[] = {GPU_BUFFER(&b.out), GPU_VALUE(place)};
    _exit(gz_gpu_launch(b.gpu, &b.kernel, 1, arguments, 2) == GRAZE_OK ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* One element behind a buffer, or behind an array that a group shares. */
static void test_stray_accesses(void **state) {
  (void)state;
#if !defined(__SANITIZE_ADDRESS__)
  skip();
#endif
  assert_true(survives("stray", GROUPS * ITEMS - 1));
  assert_false(survives("stray", GROUPS * ITEMS));
  assert_true(survives("stray_shared", 0));
#if defined(GRAZE_SANITIZES_SECTIONS)
  assert_false(survives("stray_shared", 1));
#endif
}

/* Shuffles that are wrong, or with which nothing can be built, are left alone; sums are right with and without. */
static void test_shuffles(void **state) {
  (void)state;
  for (host_shuffles kind = 0; kind < HOST_SHUFFLES_KINDS; kind++) {
    fixture b;
    bool right = false;
    begin(&b, HOST_FORWARD, kind, NULL);
    assert_true(b.gpu->shuffle == (kind == HOST_SHUFFLES_RIGHT));
    assert_false(b.gpu->lost);
    assert_true(graze_gpu_get_info(b.gpu)->exact);
    assert_int_equal(gz_gpu_test_scans(b.gpu, &right), GRAZE_OK);
    assert_true(right);
    assert_int_equal(b.messages.errors, kind == HOST_SHUFFLES_FAIL ? 1 : 0);
    end(&b);
  }
}

/* A shuffle that is wrong is found by known sums, once it is in use. */
static void test_wrong_scans(void **state) {
  (void)state;
  fixture b;
  bool right = true;
  begin(&b, HOST_FORWARD, HOST_SHUFFLES_WRONG, NULL);
  b.gpu->shuffle = true;
  assert_int_equal(gz_gpu_test_scans(b.gpu, &right), GRAZE_OK);
  assert_false(right);
  end(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_barriers),
                                     cmocka_unit_test(test_orders),
                                     cmocka_unit_test(test_shared_memory_is_rubbish),
                                     cmocka_unit_test(test_arguments),
                                     cmocka_unit_test(test_stray_accesses),
                                     cmocka_unit_test(test_shuffles),
                                     cmocka_unit_test(test_wrong_scans)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
