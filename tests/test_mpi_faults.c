/* What goes wrong on one rank is told by all, with its name; and the world goes on. All ranks in one process. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/world.h"
#include "mpi_scenes.h"

enum { RANKS = 3, CULPRIT = 1 };

typedef struct fault_crew {
  mpi_crew crew;
  test_allocator allocators[RANKS];
  test_log logs[RANKS];
  graze_context *contexts[RANKS];
} fault_crew;

static void open_crew(fault_crew *f, const graze_mpi_world_def *def, uint64_t fail_at) {
  memset(f, 0, sizeof *f);
  for (int r = 0; r < RANKS; r++) {
    graze_context_def context = graze_default_context_def();
    context.allocator = test_allocator_hooks(&f->allocators[r]);
    context.threads = 1;
    context.log = test_log_write;
    context.log_user = &f->logs[r];
    assert_int_equal(graze_context_create(&context, &f->contexts[r]), GRAZE_OK);
  }
  if (fail_at > 0) f->allocators[CULPRIT].fail_at = f->allocators[CULPRIT].requests + fail_at;
  mpi_crew_open(&f->crew, RANKS, test_seed(fail_at), def, f->contexts);
}

static void close_crew(fault_crew *f) {
  mpi_crew_close(&f->crew);
  for (int r = 0; r < RANKS; r++) {
    graze_context_destroy(f->contexts[r]);
    assert_int_equal(f->allocators[r].live_blocks, 0);
    assert_int_equal(f->allocators[r].misaligned, 0);
  }
}

/* All ranks have the status, and one message, which was told once. */
static void assert_failed(fault_crew *f, graze_status status, const char *words) {
  for (int r = 0; r < RANKS; r++) {
    assert_int_equal(f->crew.statuses[r], status);
    assert_int_equal(f->logs[r].errors, 1);
    assert_string_equal(f->logs[r].last, words);
    f->logs[r].errors = 0;
  }
}

static mpi_scene make_scene(uint64_t seed, uint32_t ranks) {
  return mpi_scene_make(BOXES_UNIFORM, &seed, 300, ranks, BY_BLOCKS, false, false);
}

/* ---- boxes ---- */

static void fail_with_box(graze_box box, const char *words, graze_status status) {
  fault_crew f;
  const graze_mpi_world_def def = graze_mpi_default_world_def();
  mpi_scene scene = make_scene(1, RANKS);
  mpi_truth truth = mpi_truth_find(&scene);
  const graze_box good = scene.boxes[110];
  open_crew(&f, &def, 0);
  scene.boxes[110] = box; /* number 10 of rank 1 */
  scene.ids[110] = 4242;
  mpi_crew_step(&f.crew, &scene);
  assert_failed(&f, status, words);
  scene.boxes[110] = good;
  mpi_truth_free(&truth);
  truth = mpi_truth_find(&scene);
  mpi_crew_step(&f.crew, &scene);
  mpi_crew_check(&f.crew, &truth, NULL, "after a failure");
  mpi_truth_free(&truth);
  mpi_scene_free(&scene);
  close_crew(&f);
}

static void test_bad_boxes(void **unused) {
  (void)unused;
  fail_with_box((graze_box){{0, 5, 0}, {1, 4, 1}}, "rank 1: box 10 (id 4242): miny 5 is more than maxy 4",
                GRAZE_ERROR_ARGUMENT);
  fail_with_box((graze_box){{0, 0, NAN}, {1, 1, 1}}, "rank 1: box 10 (id 4242): minz is not finite",
                GRAZE_ERROR_NOT_FINITE);
  fail_with_box((graze_box){{0, 0, 0}, {INFINITY, 1, 1}}, "rank 1: box 10 (id 4242): maxx is not finite",
                GRAZE_ERROR_NOT_FINITE);
  fail_with_box((graze_box){{-INFINITY, 0, 0}, {INFINITY, 1, 1}}, "rank 1: box 10 (id 4242): minx is not finite",
                GRAZE_ERROR_NOT_FINITE);
}

/* ---- calls ---- */

static void test_arguments(void **unused) {
  (void)unused;
  fault_crew f;
  const graze_mpi_world_def def = graze_mpi_default_world_def();
  mpi_scene scene = make_scene(1, RANKS);
  open_crew(&f, &def, 0);
  graze_mpi_world *w = f.crew.worlds[0];
  const double box[6] = {0, 0, 0, 1, 1, 1};
  graze_mpi_boxes boxes = {.boxes = {.data = box, .precision = GRAZE_DOUBLE}, .count = 1};
  assert_int_equal(graze_mpi_contribute(NULL, &boxes), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mpi_contribute(w, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mpi_contribute(w, &boxes), GRAZE_ERROR_ARGUMENT); /* no ids */
  assert_int_equal(graze_mpi_begin(NULL, 0), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mpi_get_result(NULL).pairs, 0);
  f.logs[0].errors = 0;
  f.crew.load[2] = -1;
  mpi_crew_step(&f.crew, &scene);
  assert_failed(&f, GRAZE_ERROR_ARGUMENT, "rank 2: load -1 is not in [0, 1e6]");
  f.crew.load[2] = 0;
  assert_int_equal(graze_mpi_begin(w, 0), GRAZE_OK);
  assert_int_equal(graze_mpi_begin(w, 0), GRAZE_ERROR_ARGUMENT);
  assert_non_null(strstr(graze_last_error(f.contexts[0])->message, "under way"));
  assert_int_equal(graze_mpi_begin(f.crew.worlds[1], 0), GRAZE_OK);
  assert_int_equal(graze_mpi_begin(f.crew.worlds[2], 0), GRAZE_OK);
  bool done[RANKS] = {false};
  while (!(done[0] && done[1] && done[2])) {
    for (int r = 0; r < RANKS; r++) assert_int_equal(graze_mpi_test(f.crew.worlds[r], &done[r]), GRAZE_OK);
  }
  mpi_scene_free(&scene);
  close_crew(&f);
}

static void test_definitions_differ(void **unused) {
  (void)unused;
  fault_crew f;
  graze_mpi_world_def def = graze_mpi_default_world_def();
  mpi_scene scene = make_scene(1, RANKS);
  open_crew(&f, &def, 0);
  mpi_transport *transport = gz_mpi_hub_transport(f.crew.ranks.hub, 2, f.contexts[2]);
  graze_mpi_world_destroy(f.crew.worlds[2]);
  def.events = true;
  assert_int_equal(gz_mpi_world_open(f.contexts[2], transport, &def, NULL, &f.crew.worlds[2]), GRAZE_OK);
  mpi_crew_step(&f.crew, &scene);
  assert_failed(&f, GRAZE_ERROR_ARGUMENT, "rank 0: its world is defined otherwise than that of rank 2");
  mpi_scene_free(&scene);
  close_crew(&f);
}

/* ---- memory ---- */

/* Refuses the request number `fail_at` of one rank and all later ones, then none. False: there is no such request. */
static bool refuse(uint64_t fail_at, const graze_mpi_world_def *def) {
  fault_crew f;
  mpi_scene scene = make_scene(fail_at, RANKS);
  mpi_truth truth = mpi_truth_find(&scene);
  open_crew(&f, def, fail_at);
  bool came = f.crew.statuses[CULPRIT] == GRAZE_ERROR_MEMORY; /* before there was a world */
  f.crew.clients = 1;
  if (!came) {
    mpi_crew_step(&f.crew, &scene);
    came = f.crew.statuses[CULPRIT] != GRAZE_OK;
    if (came) {
      for (int r = 0; r < RANKS; r++) {
        assert_int_equal(f.crew.statuses[r], GRAZE_ERROR_MEMORY);
        if (strstr(f.logs[r].last, "rank 1: ") == NULL) fail_msg("request %d: %s", (int)fail_at, f.logs[r].last);
      }
    }
    f.allocators[CULPRIT].fail_at = 0;
    mpi_crew_step(&f.crew, &scene);
    mpi_crew_check(&f.crew, &truth, came ? NULL : &truth, "after memory was refused");
  }
  mpi_truth_free(&truth);
  mpi_scene_free(&scene);
  close_crew(&f);
  return came;
}

static void test_memory_is_refused(void **unused) {
  (void)unused;
  for (int delivery = GRAZE_MPI_COUNT; delivery <= GRAZE_MPI_SORTED; delivery++) {
    graze_mpi_world_def def = graze_mpi_default_world_def();
    def.delivery = (graze_mpi_delivery)delivery;
    def.events = delivery != GRAZE_MPI_COUNT;
    def.block = delivery == GRAZE_MPI_SORTED ? 30 : 0;
    for (int placement = GRAZE_MPI_CURVE; placement <= GRAZE_MPI_DIRECTORY; placement++) {
      uint64_t request = 1;
      def.placement = (graze_mpi_placement)placement;
      while (refuse(request, &def)) request++;
      assert_true(request > 10);
    }
  }
}

static void allocate_nothing_later(graze_mpi_placement placement) {
  fault_crew f;
  graze_mpi_world_def def = graze_mpi_default_world_def();
  def.placement = placement;
  def.delivery = GRAZE_MPI_OWNERS;
  def.events = true;
  mpi_scene scene = make_scene(5, RANKS);
  open_crew(&f, &def, 0);
  for (int step = 0; step < 4; step++) mpi_crew_step(&f.crew, &scene);
  uint64_t requests = 0, later = 0;
  for (int r = 0; r < RANKS; r++) requests += f.allocators[r].requests;
  for (int step = 0; step < 4; step++) mpi_crew_step(&f.crew, &scene);
  for (int r = 0; r < RANKS; r++) later += f.allocators[r].requests;
  assert_int_equal(later, requests);
  mpi_scene_free(&scene);
  close_crew(&f);
}

static void test_later_steps_allocate_nothing(void **unused) {
  (void)unused;
  allocate_nothing_later(GRAZE_MPI_CURVE);
  allocate_nothing_later(GRAZE_MPI_DIRECTORY);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bad_boxes),
      cmocka_unit_test(test_arguments),
      cmocka_unit_test(test_definitions_differ),
      cmocka_unit_test(test_memory_is_refused),
      cmocka_unit_test(test_later_steps_allocate_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
