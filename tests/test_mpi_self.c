/* A mesh against itself over ranks, against brute force and against graze_collide_self: soups full of coincidences, in
 * every order of events; what goes wrong on one rank; memory that is refused. Under mpiexec, with real ranks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "mpi/world.h"
#include "mpi_ranks.h"
#include "oracle.h"

enum { MOST_TRIANGLES = 400, CULPRIT = 1 };

static bool real; /* ranks of MPI */

static uint64_t seed_for(uint64_t number) { /* the same on every rank */
  uint64_t state = number;
  return real ? random_next(&state) : test_seed(number);
}

typedef struct self_crew {
  test_ranks ranks;
  graze_mpi_self *selves[MOST_RANKS];
  graze_status statuses[MOST_RANKS];
  bool begun[MOST_RANKS];
  double *corners[MOST_RANKS]; /* of each */
  uint64_t *numbers[MOST_RANKS];
  uint32_t counts[MOST_RANKS];
} self_crew;

static void open_crew(self_crew *crew, uint32_t ranks, uint64_t seed, bool listed, uint32_t block,
                      graze_context *const *contexts) {
  graze_mpi_world_def def = graze_mpi_default_world_def();
  memset(crew, 0, sizeof *crew);
  test_ranks_open(&crew->ranks, ranks, seed, contexts);
  def.delivery = GRAZE_MPI_FINDER;
  def.block = block;
  for (uint32_t i = 0; i < crew->ranks.held; i++) {
    graze_mpi_world *world = NULL;
    graze_context *context = contexts != NULL ? contexts[i] : shared_context(1);
    crew->statuses[i] = gz_mpi_world_open(context, crew->ranks.transports[i], &def, NULL, &world);
    if (crew->statuses[i] != GRAZE_OK) continue;
    crew->ranks.transports[i] = NULL;
    crew->statuses[i] = gz_mpi_self_open(world, listed, &crew->selves[i]);
    if (crew->statuses[i] != GRAZE_OK) graze_mpi_world_destroy(world);
  }
}

static void close_crew(self_crew *crew) {
  for (uint32_t i = 0; i < crew->ranks.held; i++) {
    graze_mpi_self_destroy(crew->selves[i]);
    free(crew->corners[i]);
    free(crew->numbers[i]);
  }
  test_ranks_close(&crew->ranks);
}

/* Triangles go to ranks by chance, or one rank has them all. */
static void deal(self_crew *crew, const double *corners, uint32_t count, uint64_t seed) {
  const uint32_t held = crew->ranks.held, ranks = crew->ranks.ranks;
  uint64_t random = seed;
  const uint32_t all_on = random_below(&random, 4) == 0 ? random_below(&random, ranks) : UINT32_MAX;
  for (uint32_t i = 0; i < held; i++) {
    crew->counts[i] = 0;
    crew->begun[i] = false;
    crew->corners[i] = realloc(crew->corners[i], (size_t)count * 72 + 1);
    crew->numbers[i] = realloc(crew->numbers[i], (size_t)count * 8 + 1);
  }
  for (uint32_t t = 0; t < count; t++) {
    const uint32_t rank = all_on != UINT32_MAX ? all_on : random_below(&random, ranks), i = rank - crew->ranks.first;
    if (i >= held) continue;
    memcpy(crew->corners[i] + 9 * (size_t)crew->counts[i], corners + 9 * (size_t)t, 72);
    crew->numbers[i][crew->counts[i]++] = t;
  }
}

static bool take_part(void *user, uint32_t i) {
  self_crew *crew = user;
  bool done = false;
  if (!crew->begun[i]) {
    const graze_mpi_triangles mine = {crew->corners[i], crew->numbers[i], crew->counts[i]};
    crew->begun[i] = true;
    crew->statuses[i] = graze_mpi_self_begin(crew->selves[i], mine.count > 0 ? &mine : NULL);
    if (crew->statuses[i] != GRAZE_OK) return true;
  }
  crew->statuses[i] = graze_mpi_self_test(crew->selves[i], &done);
  return done || crew->statuses[i] != GRAZE_OK;
}

static void check_list(const self_crew *crew, const graze_self_result *want) {
  uint64_t at = 0;
  for (uint32_t i = 0; i < crew->ranks.held && !real; i++) {
    const graze_mpi_self_result r = graze_mpi_self_get_result(crew->selves[i]);
    for (uint64_t k = 0; k < r.count; k++, at++) {
      assert_true(at < want->self_pairs);
      assert_int_equal(r.list[k].a, want->pairs[at].a);
      assert_int_equal(r.list[k].b, want->pairs[at].b);
    }
  }
  if (!real) assert_int_equal(at, want->self_pairs);
}

static void check_crew(const self_crew *crew, uint32_t count, const graze_self_result *want, bool listed) {
  for (uint32_t i = 0; i < crew->ranks.held; i++) {
    if (crew->statuses[i] != GRAZE_OK) fail_msg("%s", shared_error()->message);
    graze_mpi_self_result r = graze_mpi_self_get_result(crew->selves[i]);
    test_assert_self(&r.found, want);
    assert_int_equal(r.triangles, count);
    if (!listed) assert_true(r.list == NULL && r.count == 0);
  }
  if (listed) check_list(crew, want);
}

static uint32_t make_soup(uint64_t *random, int kind, double *corners) {
  const uint32_t count = random_below(random, kind == 2 ? 90 : 60);
  if (kind == 0) soup_lattice(random, count, 2 + random_below(random, 6), corners);
  if (kind == 1) soup_cluttered(random, count, 0.4, corners);
  if (kind < 2) return count;
  return kind == 2 ? soup_ball(6, 1, corners) : 0; /* neighbours, and nothing that counts */
}

static void run_soup(int kind, uint64_t k) {
  static const uint32_t usual[] = {1, 2, 3, 4, 7, 16, 64};
  static double corners[9 * MOST_TRIANGLES];
  uint64_t random = seed_for(100 * k + (uint64_t)kind);
  const bool listed = random_below(&random, 2) == 0;
  const uint32_t ranks = k < 7 ? usual[k] : 1 + random_below(&random, MOST_RANKS);
  self_crew crew;
  open_crew(&crew, ranks, real ? seed_for(k) : random_next(&random), listed, random_below(&random, 2) * 30, NULL);
  for (int round = 0; round < 2; round++) {
    graze_self_result want;
    const uint32_t count = make_soup(&random, kind, corners);
    oracle_self_pairs(corners, count, &want);
    deal(&crew, corners, count, random_next(&random));
    test_ranks_run(&crew.ranks, take_part, &crew);
    check_crew(&crew, count, &want, listed);
    free((void *)(uintptr_t)want.pairs);
  }
  close_crew(&crew);
}

static void test_soups(void **unused) {
  (void)unused;
  for (int k = 0; k < (real ? 3 : test_rounds(8, 200)); k++) {
    for (int kind = 0; kind < 4; kind++) run_soup(kind, (uint64_t)k);
  }
}

/* Only what lies at borders of regions travels, where triangles are dealt out by place. */
static void test_few_corners_travel(void **unused) {
  (void)unused;
  enum { LEVEL = 24, RANKS = 4 };
  static double corners[9 * 8 * LEVEL * LEVEL];
  if (real) skip();
  const uint32_t count = soup_ball(LEVEL, 1, corners);
  self_crew crew;
  open_crew(&crew, RANKS, 5, false, 0, NULL);
  deal(&crew, corners, 0, 0);
  for (uint32_t i = 0; i < RANKS; i++) {
    crew.corners[i] = realloc(crew.corners[i], count * 72);
    crew.numbers[i] = realloc(crew.numbers[i], count * 8);
  }
  for (uint32_t t = 0; t < count; t++) {
    const uint32_t i = (corners[9 * t] > 0) + 2 * (corners[9 * t + 1] > 0);
    memcpy(crew.corners[i] + 9 * (size_t)crew.counts[i], corners + 9 * (size_t)t, 72);
    crew.numbers[i][crew.counts[i]++] = t;
  }
  test_ranks_run(&crew.ranks, take_part, &crew);
  const graze_mpi_self_result r = graze_mpi_self_get_result(crew.selves[0]);
  assert_int_equal(r.found.self_pairs, 0);
  assert_int_equal(r.triangles, count);
  assert_true(r.boxes.pairs > count); /* neighbours */
  assert_true(r.sent_triangles > 0 && r.sent_triangles < count / 8);
  close_crew(&crew);
}

/* ---- faults ---- */

enum { FAULT_RANKS = 3 };

typedef struct fault_crew {
  self_crew crew;
  test_allocator allocators[FAULT_RANKS];
  test_log logs[FAULT_RANKS];
  graze_context *contexts[FAULT_RANKS];
} fault_crew;

static void open_faulty(fault_crew *f, uint64_t fail_at) {
  memset(f, 0, sizeof *f);
  for (int r = 0; r < FAULT_RANKS; r++) {
    graze_context_def context = graze_default_context_def();
    context.allocator = test_allocator_hooks(&f->allocators[r]);
    context.threads = 1;
    context.log = test_log_write;
    context.log_user = &f->logs[r];
    assert_int_equal(graze_context_create(&context, &f->contexts[r]), GRAZE_OK);
  }
  if (fail_at > 0) f->allocators[CULPRIT].fail_at = f->allocators[CULPRIT].requests + fail_at;
  open_crew(&f->crew, FAULT_RANKS, test_seed(fail_at), true, 0, f->contexts);
}

static void close_faulty(fault_crew *f) {
  close_crew(&f->crew);
  for (int r = 0; r < FAULT_RANKS; r++) {
    graze_context_destroy(f->contexts[r]);
    assert_int_equal(f->allocators[r].live_blocks, 0);
  }
}

static void expect_failure(const fault_crew *f, graze_status status, const char *words) {
  for (int r = 0; r < FAULT_RANKS; r++) {
    assert_int_equal(f->crew.statuses[r], status);
    if (strstr(f->logs[r].last, words) == NULL) fail_msg("%s, not %s", f->logs[r].last, words);
  }
}

static void test_bad_triangles(void **unused) {
  (void)unused;
  static double corners[9 * 40];
  uint64_t random = test_seed(3);
  graze_self_result want;
  fault_crew f;
  if (real) skip();
  soup_lattice(&random, 40, 4, corners);
  oracle_self_pairs(corners, 40, &want);
  open_faulty(&f, 0);
  for (int how = 0; how < 3; how++) {
    for (uint64_t seed = 1; how == 0 || f.crew.counts[CULPRIT] < 5; seed++) { /* until the culprit has a few */
      deal(&f.crew, corners, 40, seed);
      if (f.crew.counts[CULPRIT] >= 5) break;
    }
    if (how == 0) f.crew.corners[CULPRIT][9 * 4 + 2] = NAN;
    f.crew.begun[0] = f.crew.begun[1] = f.crew.begun[2] = false;
    if (how == 1) f.crew.numbers[CULPRIT][2] = 1ULL << 32;
    test_ranks_run(&f.crew.ranks, take_part, &f.crew);
    if (how == 0) expect_failure(&f, GRAZE_ERROR_NOT_FINITE, "rank 1: triangle 4 (number ");
    if (how == 1) expect_failure(&f, GRAZE_ERROR_ARGUMENT, "rank 1: triangle 2: its number 4294967296 is not below");
    if (how == 2) check_crew(&f.crew, 40, &want, true);
    f.crew.counts[CULPRIT] = 0;
  }
  free((void *)(uintptr_t)want.pairs);
  close_faulty(&f);
}

/* Refuses the request number `fail_at` of one rank and all later ones, then none. False: there is no such request. */
static bool refuse(uint64_t fail_at, const double *corners, uint32_t count, const graze_self_result *want) {
  fault_crew f;
  open_faulty(&f, fail_at);
  bool came = f.crew.statuses[CULPRIT] == GRAZE_ERROR_MEMORY;
  if (!came) {
    deal(&f.crew, corners, count, 2);
    test_ranks_run(&f.crew.ranks, take_part, &f.crew);
    came = f.crew.statuses[CULPRIT] != GRAZE_OK;
    if (came) expect_failure(&f, GRAZE_ERROR_MEMORY, "rank 1: ");
    f.allocators[CULPRIT].fail_at = 0;
    deal(&f.crew, corners, count, 2);
    test_ranks_run(&f.crew.ranks, take_part, &f.crew);
    check_crew(&f.crew, count, want, true);
  }
  close_faulty(&f);
  return came;
}

static void test_memory_is_refused(void **unused) {
  (void)unused;
  static double corners[9 * 60];
  uint64_t random = test_seed(4), request = 1;
  graze_self_result want;
  if (real) skip();
  soup_lattice(&random, 60, 4, corners);
  oracle_self_pairs(corners, 60, &want);
  while (refuse(request, corners, 60, &want)) request++;
  assert_true(request > 15);
  free((void *)(uintptr_t)want.pairs);
}

static void test_arguments(void **unused) {
  (void)unused;
  const graze_mpi_triangles none = {.count = 1};
  bool done;
  fault_crew f;
  if (real) skip();
  open_faulty(&f, 0);
  assert_int_equal(graze_mpi_self_begin(NULL, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mpi_self_begin(f.crew.selves[0], &none), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mpi_self_test(NULL, &done), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mpi_self_get_result(NULL).triangles, 0);
  deal(&f.crew, NULL, 0, 0);
  test_ranks_run(&f.crew.ranks, take_part, &f.crew);
  for (int r = 0; r < FAULT_RANKS; r++) assert_int_equal(f.crew.statuses[r], GRAZE_OK);
  close_faulty(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_soups),     cmocka_unit_test(test_few_corners_travel), cmocka_unit_test(test_bad_triangles),
      cmocka_unit_test(test_arguments), cmocka_unit_test(test_memory_is_refused),
  };
  real = test_ranks_begin();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  test_ranks_end();
  return failed;
}
