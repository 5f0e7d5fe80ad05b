/* The stand-in for NVIDIA's driver: that it finds what it is there to find. Each misuse is seen, and the same without
 * it is none. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loaded.h"
#include "support.h"

enum { ITEMS = 64, GROUPS = 3, BYTES = ITEMS * GROUPS * 4 };

static const char faulty[] = "// stand-in: module faulty plain\n\n.version 7.0\n.target sm_75\n.address_size 64\n";

/* What most tests begin with: a current context with a stream and a buffer. */
typedef struct fixture {
  cu_context context;
  cu_stream stream;
  cu_module module;
  cu_memory memory;
} fixture;

static uint32_t seen; /* misuse that was expected */

static void reset(void) {
  control->reset();
  seen = 0;
}

static void begin(fixture *f, const char *order) {
  reset();
  control->order(order);
  assert_int_equal(cu.PrimaryCtxRetain(&f->context, 0), 0);
  assert_int_equal(cu.CtxPushCurrent(f->context), 0);
  assert_int_equal(cu.StreamCreate(&f->stream, CU_STREAM_NOT_BLOCKING), 0);
  assert_int_equal(cu.MemAlloc(&f->memory, BYTES), 0);
  assert_int_equal(cu.ModuleLoadData(&f->module, faulty), 0);
}

/* A lost context gives its error here too; with its end all is gone. */
static void end(fixture *f, cu_result error) {
  cu_context other = NULL;
  assert_int_equal(cu.StreamSynchronize(f->stream), error);
  assert_int_equal(cu.ModuleUnload(f->module), error);
  assert_int_equal(cu.MemFree(f->memory), error);
  assert_int_equal(cu.StreamDestroy(f->stream), error);
  assert_int_equal(cu.CtxPopCurrent(&other), 0);
  assert_ptr_equal(other, f->context);
  assert_int_equal(cu.PrimaryCtxRelease(0), error);
  stand_in_state s = control->state();
  assert_int_equal(s.contexts + s.streams + s.modules + s.events + s.buffers + s.pinned + s.pushed, 0);
}

/* What was misused since the last time contains `words`; NULL: nothing was. */
static void expect(const char *words) {
  stand_in_state s = control->state();
  if (words == NULL && s.misuse > seen) fail_msg("misuse: %s", s.last);
  if (words != NULL && (s.misuse == seen || strstr(s.last, words) == NULL)) fail_msg("not \"%s\": %s", words, s.last);
  seen = s.misuse;
}

static cu_result run(fixture *f, const char *kernel, unsigned groups, unsigned place) {
  cu_function function = NULL;
  void *arguments[] = {&f->memory, &place};
  assert_int_equal(cu.ModuleGetFunction(&function, f->module, kernel), 0);
  return cu.LaunchKernel(function, groups, 1, 1, ITEMS, 1, 1, 0, f->stream, arguments, NULL);
}

/* Before cuInit nothing works but to ask for texts and the version. */
static void test_beginning(void **state) {
  (void)state;
  int number = 0;
  const char *text = NULL;
  assert_int_equal(cu.DeviceGetCount(&number), 3);
  expect("cuDeviceGetCount before cuInit");
  assert_int_equal(cu.DriverGetVersion(&number), 0);
  assert_int_equal(cu.GetErrorString(700, &text), 0);
  assert_string_equal(text, "an illegal memory access was encountered");
  assert_int_equal(cu.Init(1), 1);
  control->devices(0, 90);
  assert_int_equal(cu.Init(0), 100);
  control->devices(2, 75);
  assert_int_equal(cu.Init(0), 0);
  assert_int_equal(cu.DeviceGetCount(&number), 0);
  assert_int_equal(number, 2);
  assert_int_equal(cu.DeviceGet(&number, 2), 101);
  assert_int_equal(cu.DeviceGetAttribute(&number, CU_CAPABILITY_MINOR, 1), 0);
  assert_int_equal(number, 5);
  expect(NULL);
}

static void test_contexts(void **state) {
  (void)state;
  fixture f;
  cu_memory memory;
  cu_context other;
  reset();
  assert_int_equal(cu.MemAlloc(&memory, 8), 201);
  expect("cuMemAlloc_v2 without a current context");
  assert_int_equal(cu.CtxPopCurrent(&other), 201);
  expect("none is current");
  assert_int_equal(cu.PrimaryCtxRelease(0), 201);
  begin(&f, "late");
  control->devices(2, 90);
  assert_int_equal(cu.PrimaryCtxRetain(&other, 1), 0);
  assert_int_equal(cu.CtxPushCurrent(other), 0);
  expect(NULL);
  assert_int_equal(cu.StreamSynchronize(f.stream), 400);
  expect("of another context than the current one");
  assert_int_equal(cu.CtxPopCurrent(NULL), 0);
  assert_int_equal(cu.PrimaryCtxRelease(1), 0);
  assert_int_equal(cu.CtxPushCurrent(other), 709);
  expect(NULL);
  end(&f, 0);
  expect(NULL);
}

/* What a context ends with is a leak. */
static void test_leaks(void **state) {
  (void)state;
  fixture f;
  begin(&f, "late");
  cu_event event;
  assert_int_equal(cu.EventCreate(&event, 0), 0);
  end(&f, 0);
  expect("a context ends with 1 things");
}

static void test_handles(void **state) {
  (void)state;
  fixture f;
  begin(&f, "late");
  cu_stream stream;
  cu_memory memory;
  assert_int_equal(cu.StreamCreate(&stream, 0), 0);
  assert_int_equal(cu.StreamDestroy(stream), 0);
  expect(NULL);
  assert_int_equal(cu.StreamDestroy(stream), 400);
  expect("is no longer a stream");
  assert_int_equal(cu.StreamSynchronize((cu_stream)(void *)&f), 400);
  expect("is not a stream");
  assert_int_equal(cu.MemAlloc(&memory, 0), 1);
  expect("cuMemAlloc of 0 bytes");
  assert_int_equal(cu.MemAlloc(&memory, 100), 0);
  assert_int_equal(cu.MemFree(memory + 4), 1);
  expect("no buffer begins");
  assert_int_equal(cu.MemFree(memory), 0);
  expect(NULL);
  assert_int_equal(cu.MemFree(memory), 1);
  expect("no buffer begins");
  end(&f, 0);
}

/* Copies take what is there when it is their turn; one that is longer than its buffer is none. */
static void test_copies(void **state) {
  (void)state;
  static const char *const orders[] = {"late", "early"};
  for (int i = 0; i < 2; i++) {
    fixture f;
    begin(&f, orders[i]);
    uint32_t number = 1, back = 0;
    assert_int_equal(cu.MemcpyHtoD(f.memory + 4, &number, 4, f.stream), 0);
    number = 2;
    assert_int_equal(cu.MemcpyDtoH(&back, f.memory + 4, 4, f.stream), 0);
    assert_int_equal(back, i == 0 ? 0 : 1);
    assert_int_equal(cu.StreamSynchronize(f.stream), 0);
    assert_int_equal(back, i == 0 ? 2 : 1);
    expect(NULL);
    assert_int_equal(cu.MemcpyHtoD(f.memory + BYTES - 3, &number, 4, f.stream), 1);
    expect("cuMemcpyHtoDAsync: 4 bytes");
    assert_int_equal(cu.MemcpyDtoH(&back, f.memory - 1, 4, f.stream), 1);
    expect("cuMemcpyDtoHAsync: 4 bytes");
    end(&f, 0);
  }
}

/* Pinned memory is to stay until the copies from it are done. */
static void test_pinned(void **state) {
  (void)state;
  fixture f;
  void *pinned[2];
  begin(&f, "late");
  for (int i = 0; i < 2; i++) {
    assert_int_equal(cu.MemHostAlloc(&pinned[i], 16, 0), 0);
    assert_int_equal(cu.MemcpyHtoD(f.memory, (char *)pinned[i] + 8, 8, f.stream), 0);
    assert_int_equal(i == 0 ? cu.StreamSynchronize(f.stream) : 0, 0);
    assert_int_equal(cu.MemFreeHost(pinned[i]), 0);
    expect(i == 0 ? NULL : "of memory that a copy is to use");
    if (i == 1) control->lose(control->state().commands + 1, 719); /* what is gone is not to be read */
  }
  assert_int_equal(cu.StreamSynchronize(f.stream), 719);
  assert_int_equal(cu.MemFreeHost(pinned[1]), 719);
  expect(NULL);
  end(&f, 719);
}

/* What a lost context gives from then on; with its end it is over, unless the device is doomed. */
static void test_lost(void **state) {
  (void)state;
  for (int doomed = 0; doomed < 2; doomed++) {
    fixture f;
    cu_memory memory;
    cu_context again;
    begin(&f, "late");
    control->doom(doomed);
    assert_int_equal(cu.MemAlloc(&memory, 8), 0);
    assert_int_equal(cu.MemcpyHtoD(memory, &f, 8, f.stream), 0);
    assert_int_equal(cu.MemFree(memory), 0);
    expect(NULL);
    assert_int_equal(cu.StreamSynchronize(f.stream), 700);
    expect("done after its buffer was released");
    assert_int_equal(cu.MemAlloc(&memory, 8), 700);
    end(&f, 700);
    expect(NULL);
    assert_int_equal(cu.PrimaryCtxRetain(&again, 0), doomed ? 700 : 0);
    if (!doomed) assert_int_equal(cu.PrimaryCtxRelease(0), 0);
  }
}

/* Kernels that write next to a buffer, disagree about a barrier, or are given memory twice or no more. */
static void test_kernels(void **state) {
  (void)state;
  fixture f;
  begin(&f, "late");
  assert_int_equal(run(&f, "stray", 1, BYTES / 4 - 1), 0);
  assert_int_equal(cu.StreamSynchronize(f.stream), 0);
  expect(NULL);
#if !defined(__SANITIZE_ADDRESS__)
  assert_int_equal(run(&f, "stray", 1, BYTES / 4), 0);
  assert_int_equal(cu.StreamSynchronize(f.stream), 0);
  expect("stray wrote behind a buffer of 768 bytes");
#endif
  assert_int_equal(run(&f, "half_a_barrier", 1, 0), 0);
  assert_int_equal(cu.StreamSynchronize(f.stream), 719);
  expect("half_a_barrier: group 0: item 0 waits");
  end(&f, 719);
}

static void test_launches(void **state) {
  (void)state;
  fixture f;
  begin(&f, "late");
  cu_function stray = NULL, other = NULL;
  unsigned place = 0;
  void *arguments[] = {&f.memory, &place};
  assert_int_equal(cu.ModuleGetFunction(&other, f.module, "thrice"), 500);
  assert_int_equal(cu.ModuleGetFunction(&stray, f.module, "stray"), 0);
  expect(NULL);
  assert_int_equal(cu.LaunchKernel(stray, 0, 1, 1, ITEMS, 1, 1, 0, f.stream, arguments, NULL), 1);
  expect("stray: 0 x 1 x 1 groups");
  assert_int_equal(cu.LaunchKernel(stray, 1, 1, 1, 2 * ITEMS, 1, 1, 0, f.stream, arguments, NULL), 1);
  expect("groups of 128 x 1 x 1, not of 64");
  assert_int_equal(cu.LaunchKernel(stray, 1, 1, 1, ITEMS, 1, 1, 49153, f.stream, arguments, NULL), 1);
  expect("49153 bytes shared");
  assert_int_equal(cu.LaunchKernel(stray, 1, 1, 1, ITEMS, 1, 1, 0, f.stream, arguments, arguments), 1);
  expect("stray");
  f.memory += BYTES + 1;
  assert_int_equal(cu.LaunchKernel(stray, 1, 1, 1, ITEMS, 1, 1, 0, f.stream, arguments, NULL), 0);
  f.memory -= BYTES + 1;
  assert_int_equal(cu.StreamSynchronize(f.stream), 700);
  expect("stray: argument 0");
  end(&f, 700);
}

/* Two arguments are the same memory, one is written, and the kernel was promised that they are not. */
static void test_restrict(void **state) {
  (void)state;
  static const char scan[] = "// stand-in: module scan plain\n\n.version 7.0\n.target sm_75\n.address_size 64\n";
  for (int same = 0; same < 2; same++) {
    fixture f;
    cu_module module;
    cu_function function;
    begin(&f, "late");
    unsigned count = 4;
    cu_memory marks = f.memory + 64;
    void *arguments[] = {&f.memory, same ? &f.memory : &marks, &count};
    assert_int_equal(cu.ModuleLoadData(&module, scan), 0);
    assert_int_equal(cu.ModuleGetFunction(&function, module, "mark_runs"), 0);
    assert_int_equal(cu.LaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, f.stream, arguments, NULL), 0);
    assert_int_equal(cu.StreamSynchronize(f.stream), same ? 700 : 0);
    expect(same ? "mark_runs: arguments 0 and 1 are the same memory" : NULL);
    assert_int_equal(cu.ModuleUnload(module), same ? 700 : 0);
    end(&f, same ? 700 : 0);
  }
}

/* Modules that kernels in the queue still need. */
static void test_unloading(void **state) {
  (void)state;
  fixture f;
  begin(&f, "late");
  assert_int_equal(run(&f, "stray", 1, 0), 0);
  assert_int_equal(cu.ModuleUnload(f.module), 0);
  expect("cuModuleUnload of faulty, whose kernels are still to run");
  assert_int_equal(cu.ModuleLoadData(&f.module, faulty), 0);
  end(&f, 0);
}

static void test_events(void **state) {
  (void)state;
  fixture f;
  begin(&f, "late");
  cu_event first, second;
  float time = -1;
  assert_int_equal(cu.EventCreate(&first, 0), 0);
  assert_int_equal(cu.EventCreate(&second, 0), 0);
  assert_int_equal(cu.EventElapsedTime(&time, first, second), 400);
  assert_int_equal(cu.EventRecord(first, f.stream), 0);
  assert_int_equal(run(&f, "stray", 1, 0), 0);
  assert_int_equal(cu.EventRecord(second, f.stream), 0);
  assert_int_equal(run(&f, "stray", 1, 0), 0);
  assert_int_equal(cu.EventSynchronize(first), 0);
  assert_int_equal(cu.EventElapsedTime(&time, first, second), 600);
  assert_int_equal(cu.EventSynchronize(second), 0);
  assert_int_equal(cu.EventElapsedTime(&time, first, second), 0);
  assert_true(time > 0);
  assert_int_equal(control->state().commands, 3); /* not the launch behind them */
  assert_int_equal(cu.EventDestroy(first), 0);
  assert_int_equal(cu.EventDestroy(second), 0);
  expect(NULL);
  end(&f, 0);
  expect(NULL);
}

static void test_images(void **state) {
  (void)state;
  static const char *const bad[] = {
      "",
      "\x7f"
      "ELF\n.version 7.0\n.target sm_75\n.address_size 64\n",
      "// stand-in: module faulty plain\n\n.target sm_75\n.address_size 64\n",
      "// stand-in: module faulty plain\n\n.version 7.0\n.target sm_91\n.address_size 64\n",
      "// stand-in: module nothing plain\n\n.version 7.0\n.target sm_75\n.address_size 64\n",
      "\n.version 7.0\n.target sm_75\n.address_size 64\n.visible .entry twice(\n.param .u32 a\n)\n.maxntid 32, 1, "
      "1\n{\n}\n",
      "\n.version 7.0\n.target sm_75\n.address_size 64\n.visible .entry twice(\n.param .u64 a\n)\n.maxntid 64, 1, "
      "1\n{\n}\n"};
  static const char good[] =
      "\n.version 7.0\n.target sm_75\n.address_size 64\n.visible .entry twice(\n.param .u64 a\n)\n.maxntid 32, 1, "
      "1\n{\n}\n";
  fixture f;
  cu_module module = NULL;
  begin(&f, "late");
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(cu.ModuleLoadData(&module, bad[i]), i == 1 ? 200 : 218);
  }
  assert_int_equal(cu.ModuleLoadData(&module, good), 0);
  assert_int_equal(cu.ModuleUnload(module), 0);
  expect(NULL);
  end(&f, 0);
}

static void test_faults(void **state) {
  (void)state;
  fixture f;
  cu_memory memory;
  begin(&f, "late");
  control->limit(2 * BYTES);
  assert_int_equal(cu.MemAlloc(&memory, BYTES + 1), 2);
  assert_int_equal(cu.MemAlloc(&memory, BYTES), 0);
  control->fail_call("cuMemFree_v2", 1, 1);
  assert_int_equal(cu.MemFree(memory), 1); /* and it is free */
  control->fail_call("cuMemAlloc_v2", 5, 2);
  assert_int_equal(control->calls("cuMemAlloc_v2"), 3);
  for (int i = 4; i < 7; i++) {
    assert_int_equal(cu.MemAlloc(&memory, 8), i == 5 ? 2 : 0);
    if (i != 5) assert_int_equal(cu.MemFree(memory), 0);
  }
  expect(NULL);
  control->lose(2, 719);
  assert_int_equal(run(&f, "stray", 1, 0), 0);
  assert_int_equal(cu.StreamSynchronize(f.stream), 0);
  assert_int_equal(run(&f, "stray", 1, 0), 0);
  assert_int_equal(cu.StreamSynchronize(f.stream), 719);
  expect(NULL);
  end(&f, 719);
  expect(NULL);
}

/* A process that ends with misuse, or with a context, ends with an error. */
static void test_end(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      cu_context context;
      cu_memory memory;
      control->reset();
      close(STDERR_FILENO);
      close(STDOUT_FILENO);
      if (i == 1) cu.MemAlloc(&memory, 8);
      if (i == 2) cu.PrimaryCtxRetain(&context, 0);
      exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), i == 0 ? 0 : STAND_IN_STATUS);
  }
}

static int forgive(void **state) {
  (void)state;
  reset();
  return 0;
}

int main(void) {
  if (!load_stand_in()) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_beginning), cmocka_unit_test(test_contexts),  cmocka_unit_test(test_leaks),
      cmocka_unit_test(test_handles),   cmocka_unit_test(test_copies),    cmocka_unit_test(test_pinned),
      cmocka_unit_test(test_lost),      cmocka_unit_test(test_kernels),   cmocka_unit_test(test_launches),
      cmocka_unit_test(test_restrict),  cmocka_unit_test(test_unloading), cmocka_unit_test(test_events),
      cmocka_unit_test(test_images),    cmocka_unit_test(test_faults),    cmocka_unit_test(test_end)};
  return cmocka_run_group_tests(tests, NULL, forgive);
}
