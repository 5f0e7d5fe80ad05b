/* The CUDA back end on the stand-in for its driver: whatever fails, whenever it fails, the answers are the processor's,
 * a message says what happened, and nothing is left behind, neither on the device nor in memory. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "families.h"
#include "gpu/device.h"
#include "gpu/stages.h"
#include "loaded.h"
#include "worlds.h"

enum { BOXES = 60, TRIANGLES = 24, PAIRS = 40, POSES = 2, ANSWERS = 16, BALLS = 30, STEPS = 7 };

static const cu_result INVALID_VALUE = 1, ILLEGAL_ADDRESS = 700, LAUNCH_FAILED = 719;

/* ---- questions ------------------------------------------------------------------------------------------------- */

/* One context for the device, whose memory is counted, and one for the answers that are wanted. */
static struct {
  graze_context *context; /* to which devices are attached while they are asked */
  graze_context *plain;
  graze_broadphase *broad;
  graze_query *query;
  test_allocator allocator;
  int messages;
  char last[512];
  float boxes[6 * BOXES];
  double centers[3 * BOXES], radii[BOXES];
  double columns[18][PAIRS];
  const double *a[9], *b[9];
  graze_mesh *meshes[2];
  graze_pose poses[POSES];
  uint64_t wanted[ANSWERS];
  uint64_t wanted_world;
  uint64_t answered, steps; /* questions of check_answers, and of its world, by the device */
} on;

static void keep_message(void *user, graze_log_level level, const char *message) {
  (void)user;
  if (level == GRAZE_LOG_INFO || level == GRAZE_LOG_PROGRESS) return;
  on.messages++;
  snprintf(on.last, sizeof on.last, "%s", message);
}

static uint64_t hash_of(const graze_box_pair *pairs, uint64_t count) {
  uint64_t sum = count;
  for (uint64_t i = 0; i < count; i++) sum += graze_pair_hash(pairs[i].a, pairs[i].b);
  return sum;
}

static uint64_t hash_of_results(const graze_tritri *results) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < PAIRS; i++) {
    sum = graze_pair_hash((uint32_t)sum, 8 * results[i].kind + 4u * results[i].coplanar + results[i].degenerate) + sum;
  }
  return sum;
}

static uint64_t hash_of_collision(const graze_collide_result *c) {
  return c->counts.hash + c->counts.triangle_pairs + 1000 * c->counts.coplanar + 100000 * c->counts.degenerate;
}

static graze_box_array boxes(void) {
  return (graze_box_array){on.boxes, 0, GRAZE_FLOAT};
}

static graze_sphere_array spheres(void) {
  return (graze_sphere_array){on.centers, on.radii, 0, 0, GRAZE_DOUBLE};
}

static void make_questions(void) {
  uint64_t random = 1;
  double corners[9 * TRIANGLES];
  family_pair pair;
  for (int i = 0; i < BOXES; i++) {
    for (int k = 0; k < 3; k++) {
      on.boxes[6 * i + k] = (float)random_unit(&random);
      on.boxes[6 * i + k + 3] = on.boxes[6 * i + k] + (float)random_unit(&random) / 4;
      on.centers[3 * i + k] = random_unit(&random);
    }
    on.radii[i] = random_unit(&random) / 8;
  }
  for (int i = 0; i < PAIRS; i++) {
    families[i % family_count].make(&random, &pair);
    for (int k = 0; k < 9; k++) {
      on.columns[k][i] = pair.a[k];
      on.columns[9 + k][i] = pair.b[k];
    }
  }
  for (int k = 0; k < 9; k++) {
    on.a[k] = on.columns[k];
    on.b[k] = on.columns[9 + k];
  }
  for (int i = 0; i < 2; i++) {
    soup_lattice(&random, TRIANGLES, 4, corners);
    on.meshes[i] = test_mesh(on.context, corners, TRIANGLES, GRAZE_VOLUMES_ALIGNED);
  }
  for (int i = 0; i < POSES; i++) on.poses[i] = test_translation(i, 0.5 * i, 0);
}

/* ---- answers --------------------------------------------------------------------------------------------------- */

static int ask_processor(uint64_t *answers) {
  const graze_box_array box_array = boxes();
  const graze_sphere_array sphere_array = spheres();
  const graze_box_pair *pairs;
  uint64_t count;
  graze_tritri results[PAIRS];
  graze_collide_result collision, collisions[POSES];
  graze_self_result self;
  int n = 0;
  assert_int_equal(graze_broadphase_find(on.broad, &box_array, BOXES, false, &pairs, &count), GRAZE_OK);
  for (int i = 0; i < 3; i++) answers[n++] = hash_of(pairs, count);
  assert_int_equal(graze_broadphase_find_spheres(on.broad, &sphere_array, BOXES, false, &pairs, &count), GRAZE_OK);
  answers[n++] = hash_of(pairs, count);
  answers[n++] = hash_of(pairs, count);
  assert_int_equal(graze_tritri_batch(on.plain, PAIRS, on.a, on.b, results), GRAZE_OK);
  answers[n++] = hash_of_results(results);
  assert_int_equal(graze_collide_meshes(on.query, on.meshes[0], NULL, on.meshes[1], NULL, NULL, &collision), GRAZE_OK);
  for (int i = 0; i < 2; i++) answers[n++] = hash_of_collision(&collision);
  assert_int_equal(graze_collide_poses(on.query, on.meshes[0], NULL, on.meshes[1], on.poses, POSES, NULL, collisions),
                   GRAZE_OK);
  for (int i = 0; i < POSES; i++) answers[n++] = hash_of_collision(&collisions[i]);
  assert_int_equal(graze_collide_self(on.query, on.meshes[0], NULL, &self), GRAZE_OK);
  answers[n++] = self.hash + self.self_pairs;
  return n;
}

/* By every method that the device has; then spheres, listed and counted. */
static int ask_about_boxes(uint64_t *answers) {
  static const graze_broad_method methods[] = {GRAZE_BROAD_AUTO, GRAZE_BROAD_SUBDIVISION, GRAZE_BROAD_TREE};
  const graze_box_array box_array = boxes();
  const graze_sphere_array sphere_array = spheres();
  graze_broadphase_def def = graze_default_broadphase_def();
  graze_broadphase *broad = NULL;
  const graze_box_pair *pairs;
  uint64_t count, hash;
  int n = 0;
  for (int i = 0; i < 3; i++) {
    def.method = methods[i];
    assert_int_equal(graze_broadphase_create(on.context, &def, &broad), GRAZE_OK);
    assert_int_equal(graze_broadphase_find(broad, &box_array, BOXES, false, &pairs, &count), GRAZE_OK);
    answers[n++] = hash_of(pairs, count);
    graze_broadphase_destroy(broad);
  }
  assert_int_equal(graze_broadphase_create(on.context, NULL, &broad), GRAZE_OK);
  assert_int_equal(graze_broadphase_find_spheres(broad, &sphere_array, BOXES, false, &pairs, &count), GRAZE_OK);
  answers[n++] = hash_of(pairs, count);
  assert_int_equal(graze_broadphase_count_spheres(broad, &sphere_array, BOXES, &count, &hash), GRAZE_OK);
  answers[n++] = hash + count;
  graze_broadphase_destroy(broad);
  return n;
}

static int ask_about_triangles(graze_gpu *gpu, uint64_t *answers) {
  graze_tritri results[PAIRS];
  graze_query *query = NULL;
  graze_collide_result collision, collisions[POSES];
  graze_self_result self;
  int n = 0;
  assert_int_equal(graze_tritri_batch(on.context, PAIRS, on.a, on.b, results), GRAZE_OK);
  answers[n++] = hash_of_results(results);
  assert_int_equal(graze_query_create(on.context, &query), GRAZE_OK);
  for (gpu->search = GPU_SEARCH_EACH; gpu->search <= GPU_SEARCH_TREE; gpu->search++) {
    assert_int_equal(graze_collide_meshes(query, on.meshes[0], NULL, on.meshes[1], NULL, NULL, &collision), GRAZE_OK);
    answers[n++] = hash_of_collision(&collision);
  }
  gpu->search = GPU_SEARCH_TREE;
  assert_int_equal(graze_collide_poses(query, on.meshes[0], NULL, on.meshes[1], on.poses, POSES, NULL, collisions),
                   GRAZE_OK);
  for (int i = 0; i < POSES; i++) answers[n++] = hash_of_collision(&collisions[i]);
  assert_int_equal(graze_collide_self(query, on.meshes[0], NULL, &self), GRAZE_OK);
  answers[n++] = self.hash + self.self_pairs;
  graze_query_destroy(query);
  return n;
}

/* Steps of a bed with springs and events, in answers of three at most: what fails comes in the middle, too. A hash of
 * the state, what was dissipated, and the last events. */
static uint64_t step_world(graze_context *context) {
  const bed b = {.kind = BED_SPRINGS, .events = true, .context = context};
  const graze_contact_event *events;
  graze_world_sums sums;
  uint64_t count, bits, sum = 0;
  graze_world *world = make_bed(&b, BALLS);
  run_world(world, bed_dt(&b), 1);
  run_world(world, bed_dt(&b), STEPS - 1);
  assert_int_equal(graze_world_get_events(world, &events, &count), GRAZE_OK);
  for (uint64_t i = 0; i < count; i++) sum = 31 * sum + events[i].a.index + events[i].step;
  on.steps = graze_world_get_engine_steps(world);
  assert_int_equal(graze_world_get_sums(world, &sums), GRAZE_OK);
  memcpy(&bits, &sums.dissipated, sizeof bits);
  bits += graze_world_get_hash(world) + count + sum;
  graze_world_destroy(world);
  return bits;
}

/* There is no second mark to go with this one. */
static void drop_mark(void *mark) {
  cu_context context;
  if (cu.PrimaryCtxRetain(&context, 0) != 0) return;
  if (cu.CtxPushCurrent(context) == 0) {
    cu.EventDestroy(mark);
    cu.CtxPopCurrent(NULL);
  }
  cu.PrimaryCtxRelease(0);
}

/* Times between two places in the queue; what fails here is an error, not an answer. */
static void ask_for_time(graze_gpu *gpu) {
  void *first, *second;
  double seconds = -1;
  if (gz_gpu_mark(gpu, &first) != GRAZE_OK) return;
  if (gz_gpu_mark(gpu, &second) != GRAZE_OK) {
    drop_mark(first);
    return;
  }
  if (gz_gpu_between(gpu, first, second, &seconds) == GRAZE_OK) assert_true(seconds >= 0);
}

static void check_answers(graze_gpu *gpu, const char *what) {
  uint64_t answers[ANSWERS];
  assert_int_equal(graze_gpu_attach(gpu, GRAZE_GPU_ALWAYS), GRAZE_OK);
  int n = ask_about_boxes(answers);
  n += ask_about_triangles(gpu, answers + n);
  for (int i = 0; i < n; i++) {
    if (answers[i] != on.wanted[i]) fail_msg("%s: answer %d is another one", what, i);
  }
  on.answered = graze_gpu_get_report(gpu).answered;
  gpu->stages->worlds.most_steps = 3;
  if (step_world(on.context) != on.wanted_world) fail_msg("%s: the world is another one", what);
  graze_gpu_detach(gpu);
}

/* ---- a device's life ------------------------------------------------------------------------------------------- */

static void check_nothing_is_left(const char *what) {
  stand_in_state s = control->state();
  if (s.misuse > 0) fail_msg("%s: %s", what, s.last);
  if (s.contexts + s.streams + s.modules + s.events + s.buffers + s.pinned + s.pushed > 0) {
    fail_msg("%s: left are %u contexts, %u streams, %u modules, %u events, %u buffers, %u pinned, %u current", what,
             s.contexts, s.streams, s.modules, s.events, s.buffers, s.pinned, s.pushed);
  }
}

/* From making it to its end. False: it could not be made, which was said. */
static bool live(const char *what) {
  graze_gpu *gpu = NULL;
  int64_t blocks = on.allocator.live_blocks;
  on.messages = 0;
  graze_status status = graze_gpu_create(on.context, "cuda:0", &gpu);
  if (status == GRAZE_OK) {
    ask_for_time(gpu);
    check_answers(gpu, what);
  } else {
    assert_true(status == GRAZE_ERROR_DEVICE || status == GRAZE_ERROR_MEMORY || status == GRAZE_ERROR_UNSUPPORTED);
    assert_null(gpu);
    assert_true(on.messages > 0);
  }
  graze_gpu_destroy(gpu);
  check_nothing_is_left(what);
  if (on.allocator.live_blocks != blocks) fail_msg("%s: memory is left behind", what);
  return status == GRAZE_OK;
}

/* Nothing fails: no message at all. */
static void test_no_fault(void **state) {
  (void)state;
  static const char *const orders[] = {"late", "early", "random"};
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
    control->reset();
    control->order(orders[i]);
    assert_true(live(orders[i]));
    assert_int_equal(on.messages, 0);
    assert_int_equal(on.answered, 10); /* each of them */
    assert_int_equal(on.steps, STEPS);
  }
  control->order("late");
}

/* ---- faults ---------------------------------------------------------------------------------------------------- */

/* Kernels are kept elsewhere; returns where they were. */
static char *set_cache(const char *folder) {
  const char *old = getenv("GRAZE_CACHE");
  char *kept = strdup(old != NULL ? old : "");
  setenv("GRAZE_CACHE", folder, 1);
  return kept;
}

static void reset_cache(char *kept) {
  setenv("GRAZE_CACHE", kept, 1);
  free(kept);
}

/* Of these a failure is not told: what describes a device has no influence on answers, to what releases something there
 * is no alternative, and without pinned memory copies are waited for. */
static bool is_silent(const char *function) {
  static const char *const names[] = {"cuGetErrorString",     "cuDriverGetVersion",  "cuDeviceGetName",
                                      "cuDeviceGetAttribute", "cuDeviceTotalMem_v2", "cuMemHostAlloc",
                                      "cuMemFreeHost",        "cuMemFree_v2",        "cuModuleUnload",
                                      "cuStreamDestroy_v2",   "cuCtxPopCurrent_v2",  "cuDevicePrimaryCtxRelease_v2",
                                      "cuEventDestroy_v2"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(function, names[i]) == 0) return true;
  }
  return strcmp(function, "cuCtxPushCurrent_v2") == 0; /* it may be the one before a release */
}

/* The call number `call` of a function fails. */
static void check_fault(const char *function, uint64_t call, cu_result code) {
  char what[128];
  snprintf(what, sizeof what, "call %llu of %s fails with %u", (unsigned long long)call, function, code);
  control->reset();
  control->fail_call(function, call, code);
  live(what);
  if (control->calls(function) < call)
    fail_msg("%s: there are only %llu", what, (unsigned long long)control->calls(function));
  if (on.messages == 0 && !is_silent(function)) fail_msg("%s: without a word", what);
}

/* Some calls of a function: the first, the last, one between; in the long form all. With one code after the other. */
static void check_function(const char *function, uint64_t calls) {
  static const cu_result codes[] = {2, 719, 1};
  static uint32_t turn;
  for (uint64_t call = 1; call <= calls; call++) {
    bool chosen = call == 1 || call == calls || call == calls / 2;
    for (uint32_t c = 0; c < 3; c++) {
      if ((test_long() || chosen) && c == turn % 3) check_fault(function, call, codes[c]);
    }
    turn += test_long() || chosen;
  }
}

/* Nothing is kept on the disk: the driver's refusal of kept code is not told, for it is compiled again. */
static void test_faults(void **state) {
  (void)state;
  uint64_t calls[64], all = 0;
  char *kept = set_cache("/dev/null/nowhere");
  control->reset();
  assert_true(live("the count"));
  for (uint32_t f = 0; control->function(f) != NULL; f++) calls[f] = control->calls(control->function(f));
  for (uint32_t f = 0; control->function(f) != NULL; f++) {
    const char *function = control->function(f);
    all += calls[f];
    if (strcmp(function, "cuInit") == 0) continue;           /* once in a process: a test of the program has it */
    if (strcmp(function, "cuGetErrorString") == 0) continue; /* when something else fails: below */
    if (calls[f] == 0) fail_msg("%s is never called", function);
    check_function(function, calls[f]);
  }
  print_message("%llu calls of the driver\n", (unsigned long long)all);
  reset_cache(kept);
}

/* The text of an error is the driver's, or its number where the driver has none. */
static void test_texts(void **state) {
  (void)state;
  static const char *const texts[] = {"invalid argument", "error 1"};
  for (int i = 0; i < 2; i++) {
    control->reset();
    control->fail_call("cuStreamCreate", 1, INVALID_VALUE);
    if (i == 1) control->fail_call("cuGetErrorString", 1, INVALID_VALUE);
    assert_false(live(texts[i]));
    assert_non_null(strstr(on.last, "cuda:0 (kernels as C, device 0): cuStreamCreate: "));
    assert_non_null(strstr(on.last, texts[i]));
  }
}

/* The device is lost while it works, and comes back with a new context or never. */
static void test_lost(void **state) {
  (void)state;
  control->reset();
  assert_true(live("the count"));
  uint64_t commands = control->state().commands, step = test_long() ? 1 : commands / 12;
  int lost = 0;
  for (uint64_t command = 1; command <= commands; command += step) {
    char what[64];
    snprintf(what, sizeof what, "command %llu is the last", (unsigned long long)command);
    control->reset();
    control->doom(command / step % 2 == 1);
    control->lose(command, command % 3 == 0 ? LAUNCH_FAILED : ILLEGAL_ADDRESS);
    live(what);
    assert_true(on.messages > 0);
    lost++;
  }
  assert_true(lost >= 12);
}

/* Less and less memory: first some, then all is the processor's. */
static void test_memory(void **state) {
  (void)state;
  int made = 0, refused = 0;
  control->reset();
  for (size_t limit = 1024; limit <= (size_t)64 << 20; limit *= test_long() ? 2 : 8) {
    char what[64];
    snprintf(what, sizeof what, "%zu bytes", limit);
    control->limit(limit);
    bool is_made = live(what);
    made += is_made;
    refused += is_made ? on.messages > 0 : 1;
  }
  assert_true(made > 0);
  assert_true(refused > 1);
  assert_int_equal(on.messages, 0); /* in the end there is enough */
}

/* ---- the queue ------------------------------------------------------------------------------------------------- */

enum { WRITES = 9, WORDS = 50000 /* 200 kB: one of them has room in the memory that is set aside, two have not */ };

/* A write has taken its bytes when it returns, whether they are few, more than are left of the room for such, or more
 * than that ever has. */
static void test_writes(void **state) {
  (void)state;
  graze_gpu *gpu = NULL;
  gpu_buffer buffers[WRITES] = {{0, 0}};
  uint32_t *numbers = malloc(2 * WORDS * sizeof *numbers), *back = malloc(2 * WORDS * sizeof *back);
  control->reset();
  assert_int_equal(graze_gpu_create(on.context, "cuda:0", &gpu), GRAZE_OK);
  for (uint32_t i = 0; i < WRITES; i++) {
    uint32_t count = i % 4 == 3 ? 2 * WORDS : i % 4 == 1 ? 1 : WORDS;
    for (uint32_t k = 0; k < count; k++) numbers[k] = 7 * i + k;
    assert_int_equal(gz_gpu_reserve(gpu, &buffers[i], count * sizeof *numbers), GRAZE_OK);
    assert_int_equal(gz_gpu_write(gpu, &buffers[i], 0, numbers, count * sizeof *numbers), GRAZE_OK);
  }
  for (uint32_t i = 0; i < WRITES; i++) {
    assert_int_equal(gz_gpu_read(gpu, back, &buffers[i], 0, buffers[i].bytes), GRAZE_OK);
    for (uint32_t k = 0; k < buffers[i].bytes / sizeof *back; k++) assert_int_equal(back[k], 7 * i + k);
    gz_gpu_release(gpu, &buffers[i]);
  }
  graze_gpu_destroy(gpu);
  check_nothing_is_left("writes");
  free(numbers);
  free(back);
}

/* A module is dropped while its kernel is still to run: it runs. */
static void test_dropped_module(void **state) {
  (void)state;
  static const char text[] =
      "extern \"C\" __global__ void __launch_bounds__(32) twice(unsigned *x)\n"
      "{ x[blockIdx.x * 32 + threadIdx.x] *= 2; }\n";
  const gpu_source source = {.name = "twice", .text = text, .size = sizeof text - 1};
  if (control_nvrtc == NULL) skip();
  graze_gpu *gpu = NULL;
  gpu_module *module = NULL;
  gpu_kernel kernel;
  gpu_buffer x = {0, 0};
  uint32_t numbers[32];
  for (uint32_t i = 0; i < 32; i++) numbers[i] = i;
  control->reset();
  assert_int_equal(graze_gpu_create(on.context, "cuda:0", &gpu), GRAZE_OK);
  assert_int_equal(gz_gpu_module_create(gpu, &source, &module), GRAZE_OK);
  assert_int_equal(gz_gpu_module_kernel(gpu, module, "twice", &kernel), GRAZE_OK);
  assert_int_equal(gz_gpu_reserve(gpu, &x, sizeof numbers), GRAZE_OK);
  assert_int_equal(gz_gpu_write(gpu, &x, 0, numbers, sizeof numbers), GRAZE_OK);
  const gpu_argument arguments[] = {GPU_BUFFER(&x)};
  assert_int_equal(gz_gpu_launch(gpu, &kernel, 1, arguments, 1), GRAZE_OK);
  gz_gpu_module_destroy(gpu, module);
  assert_int_equal(gz_gpu_read(gpu, numbers, &x, 0, sizeof numbers), GRAZE_OK);
  for (uint32_t i = 0; i < 32; i++) assert_int_equal(numbers[i], 2 * i);
  gz_gpu_release(gpu, &x);
  graze_gpu_destroy(gpu);
  check_nothing_is_left("a dropped module");
}

/* ---- others in the same process -------------------------------------------------------------------------------- */

/* Another library has reset the device: all handles are stale. */
static void test_reset(void **state) {
  (void)state;
  graze_gpu *gpu = NULL;
  control->reset();
  assert_int_equal(graze_gpu_create(on.context, "cuda:0", &gpu), GRAZE_OK);
  check_answers(gpu, "before a reset");
  control->reset_device(0);
  on.messages = 0;
  check_answers(gpu, "after a reset");
  assert_true(on.messages > 0);
  assert_false(graze_gpu_get_report(gpu).on_device);
  graze_gpu_destroy(gpu);
  check_nothing_is_left("a reset");
}

/* The program's own context is current again after each call, on another device or on the same. */
static void test_own_context(void **state) {
  (void)state;
  control->reset();
  control->devices(2, 90);
  for (int device = 0; device < 2; device++) {
    graze_gpu *gpu = NULL;
    cu_context own, popped = NULL;
    assert_int_equal(cu.PrimaryCtxRetain(&own, device), 0);
    assert_int_equal(cu.CtxPushCurrent(own), 0);
    assert_int_equal(graze_gpu_create(on.context, "cuda:1", &gpu), GRAZE_OK);
    assert_string_equal(graze_gpu_get_info(gpu)->name, "kernels as C, device 1");
    check_answers(gpu, "with a context of its own");
    graze_gpu_destroy(gpu);
    assert_int_equal(control->state().pushed, 1);
    assert_int_equal(cu.CtxPopCurrent(&popped), 0);
    assert_ptr_equal(popped, own);
    assert_int_equal(cu.PrimaryCtxRelease(device), 0);
    check_nothing_is_left("a context of its own");
  }
}

/* Two of one device share its context: when one loses it, so has the other. */
static void test_two(void **state) {
  (void)state;
  graze_gpu *gpus[2] = {NULL, NULL};
  control->reset();
  for (int i = 0; i < 2; i++) assert_int_equal(graze_gpu_create(on.context, "cuda:0", &gpus[i]), GRAZE_OK);
  for (int i = 0; i < 2; i++) check_answers(gpus[i], "one of two");
  assert_int_equal(control->state().contexts, 1);
  assert_int_equal(control->state().streams, 2);
  control->lose(control->state().commands + 5, ILLEGAL_ADDRESS);
  for (int i = 0; i < 2; i++) {
    on.messages = 0;
    check_answers(gpus[i], "two of a lost device");
    assert_true(on.messages > 0);
  }
  for (int i = 0; i < 2; i++) graze_gpu_destroy(gpus[i]);
  check_nothing_is_left("two");
}

static void *work_elsewhere(void *gpu) {
  check_answers(gpu, "on another thread");
  return NULL;
}

/* Contexts are current for a thread: one makes the device, another uses it, the first one ends it. */
static void test_threads(void **state) {
  (void)state;
  graze_gpu *gpu = NULL;
  pthread_t thread;
  control->reset();
  assert_int_equal(graze_gpu_create(on.context, "cuda:0", &gpu), GRAZE_OK);
  assert_int_equal(pthread_create(&thread, NULL, work_elsewhere, gpu), 0);
  pthread_join(thread, NULL);
  on.messages = 0;
  check_answers(gpu, "on the first thread");
  assert_int_equal(on.messages, 0);
  graze_gpu_destroy(gpu);
  check_nothing_is_left("threads");
}

/* A device that the driver does not give is none, and those behind it do not get its number. */
static void test_list(void **state) {
  (void)state;
  graze_gpu_info *list;
  graze_gpu *none = NULL;
  uint32_t count;
  for (uint64_t call = 1; call <= 3; call++) {
    control->reset();
    control->devices(2, 90);
    control->fail_call("cuDeviceGet", call, INVALID_VALUE);
    assert_int_equal(graze_gpu_list(on.context, &list, &count), GRAZE_OK);
    assert_int_equal(count, call - 1);
    for (uint32_t i = 0; i < count; i++) assert_int_equal(list[i].name[strlen(list[i].name) - 1] - '0', list[i].number);
    graze_gpu_list_free(on.context, list, count);
  }
  control->reset();
  control->fail_call("cuDeviceGet", 1, INVALID_VALUE);
  assert_int_equal(graze_gpu_create(on.context, "cuda:0", &none), GRAZE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(on.last, "the driver does not give its device"));
  control->reset();
  control->devices(0, 90);
  assert_int_equal(graze_gpu_list(on.context, &list, &count), GRAZE_OK);
  assert_int_equal(count, 0);
  assert_int_equal(graze_gpu_create(on.context, "cuda:0", &none), GRAZE_ERROR_UNSUPPORTED);
  assert_string_equal(on.last, "no CUDA: the driver has no device");
}

/* ---- kernels that are compiled here ---------------------------------------------------------------------------- */

/* Every module as if there were no PTX of it. */
static graze_status compile_all(graze_gpu *gpu) {
  graze_status status = GRAZE_OK;
  for (uint32_t i = 0; i < gz_gpu_source_count && status == GRAZE_OK; i++) {
    gpu_source source = gz_gpu_sources[i];
    gpu_module *module = NULL;
    source.ptx = source.ptx_shuffle = NULL;
    status = gz_gpu_module_create(gpu, &source, &module);
    if (status == GRAZE_OK) gz_gpu_module_destroy(gpu, module);
  }
  return status;
}

/* With NVRTC; without, an error that says so. */
static void test_compiler(void **state) {
  (void)state;
  const char *compiler = getenv("GRAZE_TEST_NVRTC");
  bool none = compiler != NULL && strcmp(compiler, "none") == 0;
  graze_gpu *gpu = NULL;
  char *kept = set_cache("/dev/null/nowhere");
  control->reset();
  assert_int_equal(graze_gpu_create(on.context, "cuda:0", &gpu), GRAZE_OK);
  assert_int_equal(compile_all(gpu), none ? GRAZE_ERROR_DEVICE : GRAZE_OK);
  if (none) assert_non_null(strstr(on.last, "neither embedded kernels nor libnvrtc.so to compile them"));
  graze_gpu_destroy(gpu);
  check_nothing_is_left("a compiler");
  reset_cache(kept);
}

/* It is older than the device: it does not know its capability, but PTX for an older one runs there as well. */
static void test_old_compiler(void **state) {
  (void)state;
  if (control_nvrtc == NULL) skip();
  graze_gpu *gpu = NULL;
  char *kept = set_cache("/dev/null/nowhere");
  control->reset();
  control->devices(1, 120);
  control_nvrtc("", 0, 90);
  assert_int_equal(graze_gpu_create(on.context, "cuda:0", &gpu), GRAZE_OK);
  assert_int_equal(compile_all(gpu), GRAZE_OK);
  graze_gpu_destroy(gpu);
  control_nvrtc("", 0, 120);
  check_nothing_is_left("an old compiler");
  reset_cache(kept);
}

/* Its failures name the module and what it said; those of its clearing up are nothing to tell. */
static void test_compiler_faults(void **state) {
  (void)state;
  static const struct {
    const char *function, *told;
  } faults[] = {{"nvrtcCreateProgram", "nvrtcCreateProgram: failed"},
                {"nvrtcCompileProgram", "nvrtcCompileProgram of arithmetic: arithmetic(1): error: made to fail"},
                {"nvrtcGetPTXSize", "nvrtcCompileProgram of arithmetic: no log"},
                {"nvrtcGetPTX", "nvrtcCompileProgram of arithmetic: no log"},
                {"nvrtcDestroyProgram", NULL}};
  if (control_nvrtc == NULL) skip();
  char *kept = set_cache("/dev/null/nowhere");
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    graze_gpu *gpu = NULL;
    int64_t blocks = on.allocator.live_blocks;
    control->reset();
    assert_int_equal(graze_gpu_create(on.context, "cuda:0", &gpu), GRAZE_OK);
    control_nvrtc(faults[i].function, 1, 120);
    assert_int_equal(compile_all(gpu), faults[i].told != NULL ? GRAZE_ERROR_DEVICE : GRAZE_OK);
    if (faults[i].told != NULL) assert_non_null(strstr(on.last, faults[i].told));
    graze_gpu_destroy(gpu);
    check_nothing_is_left(faults[i].function);
    assert_int_equal(on.allocator.live_blocks, blocks);
  }
  control_nvrtc("", 0, 120);
  reset_cache(kept);
}

/* What was kept on the disk is refused, as another driver's may be: it is compiled again. */
static void test_refused_code(void **state) {
  (void)state;
  if (control_nvrtc == NULL) skip();
  static const char text[] = "extern \"C\" __global__ void __launch_bounds__(32) twice(unsigned *x) {}";
  const gpu_source source = {.name = "twice", .text = text, .size = sizeof text - 1};
  char *kept = set_cache("refused");
  for (int round = 0; round < 3; round++) {
    graze_gpu *gpu = NULL;
    gpu_module *module = NULL;
    control->reset();
    assert_int_equal(graze_gpu_create(on.context, "cuda:0", &gpu), GRAZE_OK);
    uint64_t loads = control->calls("cuModuleLoadData");
    if (round == 2) control->fail_call("cuModuleLoadData", loads + 1, 218);
    assert_int_equal(gz_gpu_module_create(gpu, &source, &module), GRAZE_OK);
    assert_int_equal(control->calls("cuModuleLoadData"), loads + (round == 2 ? 2 : 1));
    gz_gpu_module_destroy(gpu, module);
    graze_gpu_destroy(gpu);
    check_nothing_is_left("refused code");
  }
  reset_cache(kept);
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

static int begin(void **state) {
  (void)state;
  graze_context_def def = graze_default_context_def();
  def.threads = 1;
  def.log = keep_message;
  def.allocator = test_allocator_hooks(&on.allocator);
  on.plain = test_context(1, NULL);
  assert_int_equal(graze_context_create(&def, &on.context), GRAZE_OK);
  assert_int_equal(graze_broadphase_create(on.plain, NULL, &on.broad), GRAZE_OK);
  assert_int_equal(graze_query_create(on.plain, &on.query), GRAZE_OK);
  make_questions();
  ask_processor(on.wanted);
  on.wanted_world = step_world(on.plain);
  return 0;
}

static int finish(void **state) {
  (void)state;
  control->reset();
  for (int i = 0; i < 2; i++) graze_mesh_destroy(on.meshes[i]);
  graze_query_destroy(on.query);
  graze_broadphase_destroy(on.broad);
  graze_context_destroy(on.context);
  graze_context_destroy(on.plain);
  return 0;
}

int main(void) {
  if (!load_stand_in()) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_fault),        cmocka_unit_test(test_faults),
                                     cmocka_unit_test(test_texts),           cmocka_unit_test(test_lost),
                                     cmocka_unit_test(test_memory),          cmocka_unit_test(test_writes),
                                     cmocka_unit_test(test_dropped_module),  cmocka_unit_test(test_reset),
                                     cmocka_unit_test(test_own_context),     cmocka_unit_test(test_two),
                                     cmocka_unit_test(test_threads),         cmocka_unit_test(test_list),
                                     cmocka_unit_test(test_compiler),        cmocka_unit_test(test_old_compiler),
                                     cmocka_unit_test(test_compiler_faults), cmocka_unit_test(test_refused_code)};
  return cmocka_run_group_tests(tests, begin, finish);
}
