/* What a rank knows of the others: the tree of regions in 8 bytes a rank, the addresses of those it writes to, and how
 * much memory that is. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "mpi/regions.h"
#include "mpi/world.h"
#include "mpi_scenes.h"

/* ---- regions ---- */

enum { MOST_CUT = 300, SAMPLES_OF_RANK = 8 };

typedef struct tree {
  uint64_t entries[MOST_CUT];
  mpi_regions regions;
  mpi_scene scene;
} tree;

/* Cut as rank 0 cuts, for boxes of a family. */
static void cut(tree *t, int kind, uint32_t ranks, bool owned, uint64_t seed) {
  const uint32_t n = ranks * SAMPLES_OF_RANK;
  t->scene = mpi_scene_make(kind, &seed, n, ranks, owned ? BY_PLACE : SHUFFLED, false, false);
  mpi_sample *samples = calloc(n, sizeof *samples);
  mpi_mark *marks = calloc(n, sizeof *marks);
  mpi_tally *tallies = calloc(ranks, sizeof *tallies);
  graze_box *bounds = calloc(ranks, sizeof *bounds);
  uint32_t *order = calloc(ranks, sizeof *order);
  for (uint32_t r = 0; r < ranks; r++) bounds[r] = graze_box_empty();
  for (uint32_t i = 0; i < t->scene.n; i++) {
    samples[i] = (mpi_sample){t->scene.boxes[i], 40, 40, i, t->scene.owners[i]};
    graze_box_add_point(&bounds[t->scene.owners[i]], t->scene.boxes[i].min);
  }
  t->regions.entries = t->entries;
  gz_mpi_regions_cut(&t->regions, &(mpi_cutting){.ranks = ranks,
                                                 .samples = samples,
                                                 .count = t->scene.n,
                                                 .voxel = 1,
                                                 .marks = marks,
                                                 .tallies = tallies,
                                                 .bounds = bounds,
                                                 .order = order});
  free(samples);
  free(marks);
  free(tallies);
  free(bounds);
  free(order);
}

/* Every rank is at one position, and has one leaf or none. */
static void check_ranks(const tree *t) {
  const uint32_t ranks = t->regions.ranks;
  bool seen[MOST_CUT] = {false};
  for (uint32_t p = 0; p < ranks; p++) {
    const uint32_t rank = regions_rank_at(&t->regions, p);
    graze_box home;
    assert_true(rank < ranks && !seen[rank]);
    seen[rank] = true;
    const mpi_leaf leaf = gz_mpi_regions_leaf_of_rank(&t->regions, rank, &home);
    if (leaf.ranks == 0) continue;
    assert_true(leaf.first <= p && p < leaf.first + leaf.ranks);
    assert_int_equal(leaf.ranks > 1, leaf.stripes > 1);
  }
}

static uint32_t leaves_met(const tree *t, const double box[6], bool met[MOST_CUT]) {
  mpi_walk walk;
  uint32_t count = 0;
  memset(met, 0, MOST_CUT * sizeof *met);
  for (walk_begin(&walk, &t->regions, box); walk.depth > 0; count++) {
    const mpi_leaf leaf = walk_next(&walk);
    assert_true(leaf.first < t->regions.ranks && !met[leaf.first]);
    met[leaf.first] = true;
  }
  return count;
}

/* Points of a box are in leaves that it meets, its corners among them; and in a region it is if its bounds say so. */
static void check_box(const tree *t, const graze_box *b, uint64_t *random) {
  const double box[6] = {b->min[0], b->min[1], b->min[2], b->max[0], b->max[1], b->max[2]};
  bool met[MOST_CUT];
  graze_box home;
  const uint32_t count = leaves_met(t, box, met);
  for (int i = 0; i < 20; i++) {
    double point[3];
    for (int k = 0; k < 3; k++) {
      const double part = i < 8 ? i >> k & 1 : random_unit(random);
      point[k] = fmin(fmax(b->min[k] * (1 - part) + b->max[k] * part, b->min[k]), b->max[k]);
    }
    assert_true(met[regions_leaf_of(&t->regions, point)]);
  }
  const uint32_t rank = random_below(random, t->regions.ranks);
  const mpi_leaf leaf = gz_mpi_regions_leaf_of_rank(&t->regions, rank, &home);
  bool inside = leaf.ranks > 0;
  for (int k = 0; k < 3; k++) inside = inside && b->min[k] >= home.min[k] && b->max[k] < home.max[k];
  if (leaf.ranks > 0) assert_int_equal(inside, count == 1 && met[leaf.first]);
}

static void test_regions(void **unused) {
  (void)unused;
  static const uint32_t ranks[] = {1, 2, 3, 7, 64, 300};
  uint64_t random = test_seed(1);
  for (int kind = 0; kind < MPI_FAMILIES; kind++) {
    for (int k = 0; k < 12; k++) {
      tree t;
      cut(&t, kind, ranks[k / 2], k % 2 == 0, random_next(&random));
      check_ranks(&t);
      for (uint32_t i = 0; i < t.scene.n && i < 300; i++) check_box(&t, &t.scene.boxes[i], &random);
      mpi_scene_free(&t.scene);
    }
  }
}

/* Numbers that differ in their last bits alone, as few as an entry has: cuts are between some of them all the same. */
static void test_last_bits(void **unused) {
  (void)unused;
  enum { RANKS = 64, N = RANKS * 16 };
  for (int sign = -1; sign <= 1; sign += 2) {
    uint64_t entries[RANKS];
    uint32_t order[RANKS], of_leaf[RANKS] = {0}, most = 0;
    static mpi_sample samples[N];
    static mpi_mark marks[N];
    for (uint32_t i = 0; i < N; i++) {
      const double at = sign * (1.0 + i * 0x1p-44); /* 64 ranks leave 44 bits behind the point */
      samples[i] = (mpi_sample){{{at, 0, 0}, {at, 1, 1}}, 100, 100, i, 0};
    }
    mpi_regions regions = {.entries = entries};
    gz_mpi_regions_cut(
        &regions,
        &(mpi_cutting){.ranks = RANKS, .samples = samples, .count = N, .voxel = 1, .marks = marks, .order = order});
    for (uint32_t i = 0; i < N; i++) of_leaf[regions_leaf_of(&regions, samples[i].box.min)]++;
    for (uint32_t p = 0; p < RANKS; p++) most = of_leaf[p] > most ? of_leaf[p] : most;
    assert_int_equal(most, N / RANKS);
  }
}

/* ---- addresses ---- */

static void test_addresses(void **unused) {
  (void)unused;
  enum { RANKS = 5000, RECORDS = 20000 };
  uint64_t random = test_seed(2);
  mpi_addresses a = {0};
  for (int round = 0; round < 4; round++) {
    static uint64_t counts[RANKS];
    const uint32_t step = round == 3 ? 1024 : 1, spread = round == 0 ? 7 : RANKS;
    uint64_t sum = 0;
    memset(counts, 0, sizeof counts);
    for (int i = 0; i < RECORDS; i++) {
      const uint32_t rank = random_below(&random, spread) * step % RANKS;
      counts[rank]++;
      gz_mpi_addresses_add(shared_context(1), &a, rank)->count++;
    }
    assert_int_equal(gz_mpi_addresses_lay_out(&a), RECORDS);
    for (uint32_t i = 0, rank = 0; i < a.count; i++, rank++) {
      for (; counts[rank] == 0; rank++) assert_true(rank < RANKS);
      assert_int_equal(addresses_at(&a, i)->rank, rank);
      assert_int_equal(addresses_at(&a, i)->count, sum);
      assert_ptr_equal(gz_mpi_addresses_add(shared_context(1), &a, rank), addresses_at(&a, i));
      sum += counts[rank];
    }
    assert_int_equal(sum, RECORDS);
    gz_mpi_addresses_clear(&a);
    assert_null(addresses_last(&a));
  }
  gz_mpi_addresses_release(shared_context(1), &a);
}

/* Those that are there are found without memory; a new one that is refused is told, and the table can be used again. */
static void test_addresses_refused(void **unused) {
  (void)unused;
  test_allocator memory = {0};
  graze_context_def def = graze_default_context_def();
  graze_context *context = NULL;
  mpi_addresses a = {0};
  def.allocator = test_allocator_hooks(&memory);
  def.threads = 1;
  assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
  uint32_t known = 0;
  for (int refused = 0; refused < 6;) {
    memory.requests = 0;
    memory.fail_at = 1 + (uint64_t)refused % 2;
    for (uint32_t rank = 0; rank < known; rank++) assert_int_equal(gz_mpi_addresses_add(context, &a, rank)->rank, rank);
    assert_int_equal(memory.requests, 0);
    if (gz_mpi_addresses_add(context, &a, known) != NULL) {
      known++;
      continue;
    }
    refused++;
    memory.fail_at = 0;
    gz_mpi_addresses_clear(&a);
    for (uint32_t rank = 0; rank <= known; rank++) assert_non_null(gz_mpi_addresses_add(context, &a, rank));
    known++;
  }
  gz_mpi_addresses_release(context, &a);
  graze_context_destroy(context);
  assert_int_equal(memory.live_blocks, 0);
}

/* ---- memory ---- */

enum { OBSERVED = 5, BOXES_OF_RANK = 3, MOST_WORLDS = 1024 };

typedef struct row_of_ranks {
  uint32_t ranks;
  graze_mpi_world *worlds[MOST_WORLDS];
  double boxes[MOST_WORLDS * BOXES_OF_RANK][6]; /* each one meets the next */
  uint64_t ids[MOST_WORLDS * BOXES_OF_RANK];
} row_of_ranks;

static void step_row(row_of_ranks *row) {
  bool done[MOST_WORLDS] = {false};
  for (uint32_t r = 0; r < row->ranks; r++) {
    const graze_mpi_boxes own = {.boxes = {.data = row->boxes[r * BOXES_OF_RANK], .precision = GRAZE_DOUBLE},
                                 .count = BOXES_OF_RANK,
                                 .ids = row->ids + r * BOXES_OF_RANK};
    assert_int_equal(graze_mpi_contribute(row->worlds[r], &own), GRAZE_OK);
    assert_int_equal(graze_mpi_begin(row->worlds[r], 0), GRAZE_OK);
  }
  for (uint32_t left = row->ranks; left > 0;) {
    for (uint32_t r = 0; r < row->ranks; r++) {
      if (done[r]) continue;
      assert_int_equal(graze_mpi_test(row->worlds[r], &done[r]), GRAZE_OK);
      left -= done[r];
    }
  }
  assert_int_equal(graze_mpi_get_result(row->worlds[OBSERVED]).pairs, row->ranks * BOXES_OF_RANK - 1);
}

/* Opens the worlds, of which one has a context of its own, and takes them through a few steps. */
static void run_row(row_of_ranks *row, mpi_hub *hub, const graze_mpi_world_def *def, graze_context *observed) {
  for (uint32_t i = 0; i < row->ranks * BOXES_OF_RANK; i++) {
    row->ids[i] = i;
    memcpy(row->boxes[i], (const double[6]){i, 0, 0, i + 1.25, 1, 1}, sizeof row->boxes[i]);
  }
  for (uint32_t r = 0; r < row->ranks; r++) {
    graze_context *context = r == OBSERVED ? observed : shared_context(1);
    mpi_transport *transport = gz_mpi_hub_transport(hub, r, context);
    assert_int_equal(gz_mpi_world_open(context, transport, def, NULL, &row->worlds[r]), GRAZE_OK);
  }
  for (int step = 0; step < 2; step++) step_row(row);
}

/* What one of the ranks holds afterwards. */
static int64_t bytes_held(uint32_t ranks, const graze_mpi_world_def *def) {
  static row_of_ranks row;
  test_allocator memory = {0};
  graze_context_def context_def = graze_default_context_def();
  graze_context *context = NULL;
  context_def.allocator = test_allocator_hooks(&memory);
  context_def.threads = 1;
  assert_int_equal(graze_context_create(&context_def, &context), GRAZE_OK);
  const int64_t before = memory.live_bytes;
  mpi_hub *hub = gz_mpi_hub_open(shared_context(1), &(mpi_hub_def){.ranks = ranks});
  row.ranks = ranks;
  run_row(&row, hub, def, context);
  const int64_t held = memory.live_bytes - before;
  for (uint32_t r = 0; r < ranks; r++) graze_mpi_world_destroy(row.worlds[r]);
  gz_mpi_hub_close(hub);
  graze_context_destroy(context);
  assert_int_equal(memory.live_blocks, 0);
  return held;
}

/* From 256 to 1,024 ranks a rank's memory grows by 8 bytes for each, and by 8 more where pairs have a home. */
static void test_bytes_a_rank(void **unused) {
  (void)unused;
  enum { FEW = 256, MANY = 1024, ROUNDING = 2048 }; /* and what it sends and receives */
  for (int placement = GRAZE_MPI_CURVE; placement <= GRAZE_MPI_DIRECTORY; placement++) {
    for (int events = 0; events < 2; events++) {
      graze_mpi_world_def def = graze_mpi_default_world_def();
      def.placement = (graze_mpi_placement)placement;
      def.delivery = events ? GRAZE_MPI_SORTED : GRAZE_MPI_COUNT;
      def.events = events;
      const int64_t more = bytes_held(MANY, &def) - bytes_held(FEW, &def), tables = 1 + events;
      assert_in_range(more, 8 * tables * (MANY - FEW) - ROUNDING, 8 * tables * (MANY - FEW) + ROUNDING);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_regions),           cmocka_unit_test(test_last_bits),    cmocka_unit_test(test_addresses),
      cmocka_unit_test(test_addresses_refused), cmocka_unit_test(test_bytes_a_rank),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
