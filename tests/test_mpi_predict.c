/* Predictions: the answer is that of a search, messages are those that real ranks send, and where ranks take no time of
 * their own, a step takes what the model of the network says. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "broad/phase.h"
#include "families.h"
#include "mpi_scenes.h"

enum { MOST = 64 };

typedef struct dealt {
  graze_mpi_boxes boxes[MOST];
  mpi_scene scene;
  mpi_truth truth;
  graze_box *memory;
  uint64_t *ids;
} dealt;

/* Boxes of a scene, in order of their ranks. */
static void deal(dealt *d, uint32_t n, uint32_t ranks, uint64_t seed) {
  memset(d, 0, sizeof *d);
  d->scene = mpi_scene_make(BOXES_CLUSTERS, &seed, n, ranks, SHUFFLED, false, false);
  d->truth = mpi_truth_find(&d->scene);
  d->memory = calloc(n + 1, sizeof *d->memory);
  d->ids = calloc(n + 1, sizeof *d->ids);
  uint32_t used = 0;
  for (uint32_t r = 0; r < ranks; r++) {
    const uint32_t first = used;
    for (uint32_t i = 0; i < n; i++) {
      if (d->scene.owners[i] != r) continue;
      d->memory[used] = d->scene.boxes[i];
      d->ids[used++] = d->scene.ids[i];
    }
    d->boxes[r] = (graze_mpi_boxes){
        .boxes = {.data = d->memory + first, .precision = GRAZE_DOUBLE}, .count = used - first, .ids = d->ids + first};
  }
}

static void end(dealt *d) {
  mpi_scene_free(&d->scene);
  mpi_truth_free(&d->truth);
  free(d->memory);
  free(d->ids);
}

static graze_mpi_prediction predict(const graze_mpi_predict_def *def, const graze_mpi_boxes *boxes) {
  graze_mpi_prediction p;
  assert_int_equal(graze_mpi_predict(shared_context(1), def, boxes, &p), GRAZE_OK);
  double sum = 0;
  assert_true(p.phase_count > 0 && p.phase_count <= GRAZE_MPI_MOST_PHASES);
  for (uint32_t i = 0; i < p.phase_count; i++) {
    assert_true(p.phases[i].seconds >= 0);
    sum += p.phases[i].seconds;
  }
  assert_true(fabs(sum - p.last_seconds) <= 1e-12 * p.last_seconds);
  assert_true(p.least_seconds <= p.seconds && p.least_seconds > 0);
  return p;
}

/* The traffic of a search by ranks that deliver messages in any order. */
static graze_mpi_result search(const graze_mpi_world_def *def, dealt *d, uint32_t ranks, uint32_t steps) {
  mpi_crew crew;
  mpi_crew_open(&crew, ranks, 1, def, NULL);
  for (uint32_t k = 0; k < steps; k++) mpi_crew_step(&crew, &d->scene);
  mpi_crew_check(&crew, &d->truth, NULL, "clusters");
  const graze_mpi_result r = graze_mpi_get_result(crew.worlds[0]);
  mpi_crew_close(&crew);
  return r;
}

static void test_answers(void **unused) {
  (void)unused;
  static const uint32_t ranks[] = {1, 2, 3, 7, 16, 64};
  for (int k = 0; k < 6; k++) {
    for (int placement = GRAZE_MPI_CURVE; placement <= GRAZE_MPI_DIRECTORY; placement++) {
      graze_mpi_predict_def def = graze_mpi_default_predict_def();
      dealt d;
      deal(&d, 1500, ranks[k], test_seed((uint64_t)k));
      def.world.placement = (graze_mpi_placement)placement;
      def.world.delivery = (graze_mpi_delivery)(k % 4);
      def.ranks = ranks[k];
      def.steps = 1 + (uint32_t)k % 3;
      def.noise = 0.1 * k;
      const graze_mpi_prediction p = predict(&def, d.boxes);
      const graze_mpi_result r = search(&def.world, &d, ranks[k], def.steps);
      assert_int_equal(p.result.pairs, d.truth.count);
      assert_true(p.result.hash == d.truth.hash);
      assert_int_equal(p.result.messages, r.messages);
      assert_int_equal(p.result.bytes_sent, r.bytes_sent);
      assert_int_equal(p.result.sent_objects, r.sent_objects);
      end(&d);
    }
  }
}

/* Boxes of one rank at a time, in memory that all share: the ranks see what they see otherwise. */
typedef struct shared_boxes {
  const dealt *from;
  graze_box boxes[1500];
  uint64_t ids[1500];
} shared_boxes;

static graze_mpi_boxes one_rank(void *user, uint32_t rank) {
  shared_boxes *s = user;
  graze_mpi_boxes given = s->from->boxes[rank];
  memset(s->boxes, 0xff, sizeof s->boxes); /* no numbers */
  if (given.count > 0) memcpy(s->boxes, given.boxes.data, given.count * sizeof *s->boxes);
  if (given.count > 0) memcpy(s->ids, given.ids, given.count * sizeof *s->ids);
  given.boxes.data = s->boxes;
  given.ids = s->ids;
  return given;
}

static void test_boxes_on_demand(void **unused) {
  (void)unused;
  static shared_boxes shared;
  for (int k = 0; k < 16; k++) {
    graze_mpi_predict_def def = graze_mpi_default_predict_def();
    dealt d;
    def.ranks = k % 4 == 0 ? 2 : 13;
    deal(&d, 1500, def.ranks, test_seed((uint64_t)k));
    def.world.placement = (graze_mpi_placement)(k / 8);
    def.world.delivery = (graze_mpi_delivery)(k % 4);
    def.world.events = k / 4 % 2;
    def.steps = 4;
    const graze_mpi_prediction want = predict(&def, d.boxes);
    shared.from = &d;
    def.boxes = one_rank;
    def.boxes_user = &shared;
    def.steady = k % 2;
    const graze_mpi_prediction got = predict(&def, NULL);
    assert_int_equal(got.result.pairs, d.truth.count);
    assert_true(got.result.hash == d.truth.hash);
    assert_int_equal(got.result.messages, want.result.messages);
    assert_int_equal(got.result.bytes_sent, want.result.bytes_sent);
    assert_int_equal(got.result.persist, want.result.persist);
    end(&d);
  }
}

/* Ranks without boxes that take no time: a consensus and a reduction. */
static void test_network_alone(void **unused) {
  (void)unused;
  static const uint32_t ranks[] = {1, 2, 3, 4, 5, 16, 64};
  const graze_mpi_boxes none[MOST] = {{.count = 0}};
  for (int k = 0; k < 7; k++) {
    graze_mpi_predict_def def = graze_mpi_default_predict_def();
    def.ranks = ranks[k];
    def.steps = 2;
    def.scale = 1e-9;
    def.steady = k % 2;
    def.network = (graze_mpi_network){.latency = 0.25, .overhead = 0.125};
    const graze_mpi_prediction p = predict(&def, none);
    const double doublings = ranks[k] > 1 ? ceil(log2(ranks[k])) : 0, want = 3 * doublings * (0.25 + 2 * 0.125);
    assert_true(fabs(p.seconds - want) < 1e-6);
  }
}

/* One rank sends the other its boxes: overhead, bytes and latency, before the ranks agree that all has come. */
static void test_one_message(void **unused) {
  (void)unused;
  enum { BOXES = 64, RECORD = 72 };
  graze_mpi_predict_def def = graze_mpi_default_predict_def();
  graze_box boxes[2 * BOXES];
  uint64_t ids[2 * BOXES];
  for (int i = 0; i < 2 * BOXES; i++) { /* each rank has what is the other one's part of space, by halves */
    const double x = i % 2 == 0 ? i : 1000 + i;
    boxes[i] = (graze_box){{x, 0, 0}, {x + 0.5, 1, 1}};
    ids[i] = (uint64_t)i;
  }
  const graze_mpi_boxes halves[2] = {
      {.boxes = {.data = boxes, .precision = GRAZE_DOUBLE}, .count = BOXES, .ids = ids},
      {.boxes = {.data = boxes + BOXES, .precision = GRAZE_DOUBLE}, .count = BOXES, .ids = ids + BOXES}};
  def.ranks = def.steps = 2;
  def.scale = 1e-9;
  def.network = (graze_mpi_network){.latency = 0.5, .overhead = 0.25, .gap_per_byte = 1e-6};
  const graze_mpi_prediction p = predict(&def, halves);
  assert_int_equal(p.result.messages, 2); /* both at a time */
  assert_int_equal(p.result.bytes_sent, 2 * RECORD * (BOXES / 2));
  const double message = 0.25 + 0.5 + 1e-6 * RECORD * (BOXES / 2) + 0.25, told = 0.5, agreed = 1 * (0.5 + 2 * 0.25),
               reduced = 2 * (0.5 + 2 * 0.25 + 1e-6 * 8 * (16 + 13));
  assert_true(fabs(p.seconds - (message + told + agreed + reduced)) < 1e-6);
}

static void test_arguments(void **unused) {
  (void)unused;
  graze_mpi_predict_def bad[8], good = graze_mpi_default_predict_def();
  const graze_mpi_boxes none = {.count = 0};
  graze_mpi_prediction p;
  for (int i = 0; i < 8; i++) bad[i] = good;
  bad[0].cookie = 0;
  bad[1].ranks = 0;
  bad[2].steps = 0;
  bad[3].scale = NAN;
  bad[4].noise = -1;
  bad[5].network.latency = INFINITY;
  bad[6].network.gap_per_byte = -1e-9;
  bad[7].ranks = 1 << 20;
  for (int i = 0; i < 8; i++)
    assert_int_equal(graze_mpi_predict(shared_context(1), &bad[i], &none, &p), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mpi_predict(NULL, &good, &none, &p), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mpi_predict(shared_context(1), &good, NULL, &p), GRAZE_ERROR_ARGUMENT);
}

/* ---- a broad phase that many take turns with ---- */

enum { TURNS = 4000 };

typedef struct turn {
  graze_box boxes[TURNS];
  uint64_t pairs;
  broad_choice choice;
  graze_broad_method method;
} turn;

/* Cubes in a cube, which AUTO finds with the grid, and plates in a plane, which it sweeps. */
static void make_turns(turn turns[2]) {
  uint64_t random = test_seed(3);
  memset(turns, 0, 2 * sizeof *turns);
  for (uint32_t i = 0; i < TURNS; i++) {
    for (int k = 0; k < 3; k++) {
      turns[0].boxes[i].min[k] = 19 * random_unit(&random);
      turns[0].boxes[i].max[k] = turns[0].boxes[i].min[k] + 1;
      turns[1].boxes[i].min[k] = k < 2 ? 60 * random_unit(&random) : 0;
      turns[1].boxes[i].max[k] = turns[1].boxes[i].min[k] + 1;
    }
  }
  turns[0].method = GRAZE_BROAD_GRID;
  turns[1].method = GRAZE_BROAD_SWEEP;
  for (int k = 0; k < 2; k++) free(boxes_pairs(turns[k].boxes, TURNS, NULL, NULL, &turns[k].pairs));
}

/* Three rounds. Returns how often memory was asked for in the last two. */
static uint64_t take_turns(graze_broadphase *bp, turn turns[2], const test_allocator *memory) {
  uint64_t asked = 0;
  for (int round = 0; round < 3; round++) {
    if (round == 1) asked = memory->requests;
    for (int k = 0; k < 2; k++) {
      const graze_box_array array = {turns[k].boxes, 0, GRAZE_DOUBLE};
      const graze_box_pair *pairs;
      uint64_t count;
      gz_broad_exchange_choice(bp, &turns[k].choice);
      assert_int_equal(graze_broadphase_find(bp, &array, TURNS, true, &pairs, &count), GRAZE_OK);
      gz_broad_exchange_choice(bp, &turns[k].choice);
      assert_int_equal(count, turns[k].pairs);
      assert_int_equal(turns[k].choice.method, turns[k].method);
      assert_int_equal(turns[k].choice.updates, round + 1);
    }
  }
  return memory->requests - asked;
}

/* Each goes by what it knows itself, and none makes anew what the one before has thrown away. */
static void test_turns(void **unused) {
  (void)unused;
  static turn turns[2];
  for (int laid_aside = 0; laid_aside < 2; laid_aside++) {
    test_allocator memory = {0};
    graze_context_def def = graze_default_context_def();
    graze_context *context = NULL;
    graze_broadphase *bp = NULL;
    def.allocator = test_allocator_hooks(&memory);
    def.threads = 1;
    make_turns(turns);
    assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
    assert_int_equal(graze_broadphase_create(context, NULL, &bp), GRAZE_OK);
    memory.fail_at = memory.requests + 1;
    if (laid_aside) assert_int_equal(gz_broad_take_turns(bp), GRAZE_ERROR_MEMORY);
    memory.fail_at = 0;
    if (laid_aside) assert_int_equal(gz_broad_take_turns(bp), GRAZE_OK);
    const uint64_t asked = take_turns(bp, turns, &memory);
    assert_int_equal(asked == 0, laid_aside);
    assert_true(graze_broadphase_report(bp).bytes > TURNS * sizeof(float[6]));
    graze_broadphase_destroy(bp);
    graze_context_destroy(context);
    assert_int_equal(memory.live_blocks, 0);
  }
}

/* A box that is none is told with its rank, and memory may be refused at any time. */
static void test_failures(void **unused) {
  (void)unused;
  graze_mpi_predict_def def = graze_mpi_default_predict_def();
  graze_status status = GRAZE_ERROR_MEMORY;
  test_allocator memory = {0};
  graze_context_def context_def = graze_default_context_def();
  graze_context *context = NULL;
  graze_mpi_prediction p;
  dealt d;
  deal(&d, 100, 3, 5);
  def.ranks = 3;
  def.steps = 2;
  context_def.allocator = test_allocator_hooks(&memory);
  context_def.threads = 1;
  assert_int_equal(graze_context_create(&context_def, &context), GRAZE_OK);
  const int64_t blocks = memory.live_blocks;
  for (uint64_t k = 1; status != GRAZE_OK; k++) {
    memory.requests = 0;
    memory.fail_at = k;
    status = graze_mpi_predict(context, &def, d.boxes, &p);
    if (status != GRAZE_OK) assert_true(status == GRAZE_ERROR_MEMORY || status == GRAZE_ERROR_RANK);
    memory.fail_at = 0;
    assert_int_equal(memory.live_blocks, blocks);
  }
  d.memory[0].max[1] = NAN;
  assert_int_equal(graze_mpi_predict(context, &def, d.boxes, &p), GRAZE_ERROR_NOT_FINITE);
  assert_non_null(strstr(graze_last_error(context)->message, "rank 0: box 0 "));
  graze_context_destroy(context);
  end(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_answers),     cmocka_unit_test(test_boxes_on_demand), cmocka_unit_test(test_network_alone),
      cmocka_unit_test(test_one_message), cmocka_unit_test(test_arguments),       cmocka_unit_test(test_failures),
      cmocka_unit_test(test_turns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
