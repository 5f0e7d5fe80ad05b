/* The kernels of the grid, each against the plain code on the same levels: what becomes of boxes (fill), pairs within a
 * level (search) and across two (join). Boxes are hostile: ends of the range of numbers, equal ones, ends on the
 * borders of cells, free slots, layers, rows with every number of candidates about the width of a register. The plain
 * code is compared with the slow answer. Looks behind the public headers, so it needs the static library. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "boxes.h"
#include "broad/grid/grid.h"
#include "families.h"
#include "support.h"

typedef struct kernels {
  const char *name;
  cpu_isa isa;
  void (*fill)(grid_fill *f);
  bool (*search)(const grid_search *s);
  bool (*join)(const grid_search *s);
} kernels;

static const kernels all_kernels[] = {
    {"scalar", CPU_SCALAR, gz_grid_fill_scalar, gz_grid_search_scalar, gz_grid_join_scalar},
#if defined(__x86_64__)
    {"avx2", CPU_AVX2, gz_grid_fill_avx2, gz_grid_search_avx2, gz_grid_join_avx2},
    {"avx512", CPU_AVX512, gz_grid_fill_avx512, gz_grid_search_avx512, gz_grid_join_avx512},
#endif
};

enum { KERNELS = sizeof all_kernels / sizeof *all_kernels, MOST = 4000, ROOM = MOST + GRID_AHEAD };

static graze_context *context;

/* ---- boxes ------------------------------------------------------------------------------------------------------ */

typedef struct world {
  graze_box boxes[MOST];
  float floats[MOST][6];
  uint8_t layers[MOST];
  uint64_t meets[4];
  broad_view view;
} world;

typedef struct variant {
  bool floats, holes, layers;
} variant;

/* As floats, boxes are rounded outward and stay within the range. */
static void to_floats(world *w, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) {
      double low = fmax(w->boxes[i].min[k], -0x1p127), high = fmin(w->boxes[i].max[k], 0x1p127);
      bool is_free = w->boxes[i].min[k] > w->boxes[i].max[k];
      w->floats[i][k] = is_free ? INFINITY : nextafterf((float)fmin(low, 0x1p127), -INFINITY);
      w->floats[i][3 + k] = is_free ? -INFINITY : nextafterf((float)fmax(high, -0x1p127), INFINITY);
      w->boxes[i].min[k] = (double)w->floats[i][k];
      w->boxes[i].max[k] = (double)w->floats[i][3 + k];
    }
  }
}

static void make_view(world *w, uint32_t n, variant v) {
  for (uint32_t i = 0; i < n && v.holes; i += 3) {
    for (int k = 0; k < 3; k++) {
      w->boxes[i].min[k] = INFINITY;
      w->boxes[i].max[k] = -INFINITY;
    }
  }
  for (uint32_t i = 0; i < n; i++) w->layers[i] = (uint8_t)(i / 5 % 4);
  const uint64_t meets[4] = {0x7, 0x3, 0x1, 0}; /* those of the last layer are in no pair */
  memcpy(w->meets, meets, sizeof meets);
  if (v.floats) to_floats(w, n);
  w->view = (broad_view){.context = context,
                         .data = v.floats ? (const char *)w->floats : (const char *)w->boxes,
                         .stride = v.floats ? sizeof w->floats[0] : sizeof w->boxes[0],
                         .precision = v.floats ? GRAZE_FLOAT : GRAZE_DOUBLE,
                         .count = n,
                         .holes = v.holes,
                         .layers = v.layers ? w->layers : NULL,
                         .meets = v.layers ? w->meets : NULL};
}

/* Up to three levels, so that boxes are also looked up in others, and some are too large for all. */
static uint32_t choose_three(const grid_frame *f, uint32_t boxes, double *sizes) {
  (void)boxes;
  uint32_t count = 0;
  for (uint32_t part = 1; part < 4; part++) {
    double size = f->sampled > 0 ? (double)f->sizes[(f->sampled - 1) * part / 4] : 0;
    if (count == 0 || size > sizes[count - 1]) sizes[count++] = size;
  }
  return count;
}

/* ---- boxes to records ------------------------------------------------------------------------------------------- */

typedef struct filled {
  grid_record records[ROOM];
  uint32_t keys[ROOM], slabs[ROOM], reach[GRID_LEVELS][8];
  uint32_t *counts;
  grid_fill f;
} filled;

static void fill(filled *to, const grid *g, const world *w, const kernels *k, bool some) {
  uint32_t *counts = calloc(g->slab_count + 1, sizeof *counts), n = w->view.count;
  memset(to, 0, sizeof *to);
  to->counts = counts;
  to->f = (grid_fill){.view = &w->view,
                      .levels = g->levels,
                      .axis = g->frame.axis,
                      .level_count = g->level_count > 1 ? g->level_count - 1 : 1,
                      .some = some,
                      .begin = some ? n / 3 : 0,
                      .end = n,
                      .records = to->records,
                      .keys = to->keys,
                      .slabs = to->slabs,
                      .counts = counts,
                      .reach = to->reach};
  for (uint32_t i = to->f.begin; i < n && some; i++) to->keys[i] = n - 1 - i;
  k->fill(&to->f);
}

static void check_fill(const char *what, const grid *g, const world *w, const kernels *k, bool some) {
  static filled want, got;
  fill(&want, g, w, &all_kernels[0], some);
  fill(&got, g, w, k, some);
  uint32_t begin = want.f.begin, count = want.f.filled, refused = want.f.refused, last = want.f.end - refused;
  if (got.f.filled != count || got.f.refused != refused) {
    fail_msg("%s, %s: %u filled and %u refused, should be %u and %u", what, k->name, got.f.filled, got.f.refused, count,
             refused);
  }
  assert_memory_equal(got.records + begin, want.records + begin, count * sizeof *want.records);
  assert_memory_equal(got.keys + begin, want.keys + begin, count * sizeof *want.keys);
  assert_memory_equal(got.slabs + begin, want.slabs + begin, count * sizeof *want.slabs);
  assert_memory_equal(got.keys + last, want.keys + last, refused * sizeof *want.keys);
  assert_memory_equal(got.counts, want.counts, g->slab_count * sizeof *want.counts);
  for (uint32_t l = 0; l < GRID_LEVELS; l++) assert_memory_equal(got.reach[l], want.reach[l], 3 * sizeof(uint32_t));
  free(want.counts);
  free(got.counts);
}

/* In a world that is too wide for cells along any axis the AVX-512 kernel takes free slots for boxes; they meet nothing
 * there either. */
static bool takes_free_slots(const grid *g, const world *w, const kernels *k) {
  const double *scale = g->levels[0].scale;
  return k->isa == CPU_AVX512 && w->view.holes && scale[0] == 0 && scale[1] == 0 && scale[2] == 0;
}

/* ---- records to pairs ------------------------------------------------------------------------------------------- */

/* The pairs of one kernel, sorted; to be released. */
static pair_list pairs_of(grid *g, const world *w, const grid_level *level, const grid_level *against,
                          const kernels *k) {
  pair_list list = {0};
  buffer scratch = {0};
  grid_search s = {.g = g,
                   .view = &w->view,
                   .level = level,
                   .against = against,
                   .begin = against == NULL ? level->slab_base : level->begin,
                   .end = against == NULL ? level->slab_base + level->slabs : level->end,
                   .careful = w->view.layers != NULL,
                   .out = &list};
  assert_true(against == NULL ? k->search(&s) : k->join(&s));
  assert_true(gz_pair_list_sort(context, &list, w->view.count, &scratch));
  gz_buffer_release(context, &scratch);
  return list;
}

static uint64_t check_pairs(const char *what, grid *g, const world *w, const grid_level *level,
                            const grid_level *against) {
  pair_list want = pairs_of(g, w, level, against, &all_kernels[0]);
  for (uint32_t i = 1; i < KERNELS; i++) {
    if (all_kernels[i].isa > gz_cpu_best()) continue;
    pair_list got = pairs_of(g, w, level, against, &all_kernels[i]);
    bool same = got.count == want.count;
    if (same && got.count > 0) {
      same = memcmp(pair_list_data(&got), pair_list_data(&want), got.count * sizeof(graze_box_pair)) == 0;
    }
    if (!same) {
      fail_msg("%s, %s, %s: %llu pairs, should be %llu, or others", what, all_kernels[i].name,
               against == NULL ? "search" : "join", (unsigned long long)got.count, (unsigned long long)want.count);
    }
    gz_pair_list_release(context, &got);
  }
  uint64_t count = want.count;
  gz_pair_list_release(context, &want);
  return count;
}

/* Every level with itself; of two levels the boxes of each are looked up in the other. All kernels on the same world,
 * and all pairs together as many as there are. */
static void check(const char *what, world *w, uint32_t n, variant v) {
  static grid g;
  make_view(w, n, v);
  assert_true(gz_grid_build(&g, &w->view, choose_three));
  for (uint32_t i = 1; i < KERNELS; i++) {
    if (all_kernels[i].isa > gz_cpu_best() || takes_free_slots(&g, w, &all_kernels[i])) continue;
    check_fill(what, &g, w, &all_kernels[i], false);
    check_fill(what, &g, w, &all_kernels[i], true);
  }
  uint64_t sum = 0, count;
  for (uint32_t i = 0; i < g.level_count; i++) {
    sum += check_pairs(what, &g, w, &g.levels[i], NULL);
    for (uint32_t j = i + 1; j < g.level_count; j++) {
      uint64_t up = check_pairs(what, &g, w, &g.levels[i], &g.levels[j]);
      assert_true(up == check_pairs(what, &g, w, &g.levels[j], &g.levels[i]));
      sum += up;
    }
  }
  free(boxes_pairs(w->boxes, n, w->view.layers, w->view.meets, &count));
  if (sum != count)
    fail_msg("%s: %llu pairs, should be %llu", what, (unsigned long long)sum, (unsigned long long)count);
  gz_grid_release(context, &g);
  memset(&g, 0, sizeof g);
}

static world all;

static void check_variants(const char *what, const world *made, uint32_t n) {
  for (uint32_t bits = 0; bits < 8; bits++) {
    variant v = {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
    char name[96];
    snprintf(name, sizeof name, "%s, %u boxes%s%s%s", what, n, v.floats ? ", floats" : "", v.holes ? ", holes" : "",
             v.layers ? ", layers" : "");
    memcpy(all.boxes, made->boxes, n * sizeof *all.boxes);
    check(name, &all, n, v);
  }
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

static world made;

static void test_families(void **state) {
  (void)state;
  static const uint32_t sizes[] = {63, 64, 65, 130, 777};
  for (int kind = 0; kind < BOXES_FAMILIES; kind++) {
    uint64_t random = 71 + (uint64_t)kind;
    const uint32_t stride = test_thinned() ? 3 : 1, first = (uint32_t)(test_seed((uint64_t)kind) % stride);
    for (uint32_t n = first; n < 18 + sizeof sizes / sizeof *sizes; n += stride) {
      uint32_t count = n < 18 ? n : sizes[n - 18];
      if (kind == BOXES_STACKED && count > 200) count = 200;
      boxes_make((box_family)kind, &random, count, made.boxes);
      check_variants(box_family_name((box_family)kind), &made, count);
    }
  }
}

/* Crowds of 0 to 17 boxes in each of the nine rows about one box, apart from the crowds about the next; `step`: the
 * numbers that follow one another. Boxes of a crowd differ by less than a cell. */
static uint32_t make_crowds(uint64_t *random, uint32_t step, double size) {
  uint32_t n = 0;
  for (uint32_t place = 0; place < 18; place++) {
    for (uint32_t row = 0; row < 9; row++) {
      uint32_t count = row == 4 ? 1 : (place + row * step) % 18;
      for (uint32_t i = 0; i < count && n < MOST; i++, n++) {
        double low[3] = {8.0 * place + 0.5 * random_unit(random), (row % 3) * 0.9, (uint32_t)(row / 3) * 0.9};
        for (int k = 0; k < 3; k++) {
          made.boxes[n].min[k] = low[k] + 0.1 * random_unit(random);
          made.boxes[n].max[k] = made.boxes[n].min[k] + size * (0.9 + 0.1 * random_unit(random));
        }
      }
    }
  }
  return n;
}

static void test_crowds(void **state) {
  (void)state;
  uint64_t random = 5;
  for (uint32_t step = 0; step < 18; step += 1) {
    uint32_t n = make_crowds(&random, step, 0.5 + 0.05 * step);
    check_variants("crowds", &made, n);
  }
}

/* Every end on the border of a cell, or one part of a cell off, or one bit. */
static void test_borders(void **state) {
  (void)state;
  uint64_t random = 17;
  for (uint32_t kind = 0; kind < 4; kind++) {
    uint32_t n = 900;
    for (uint32_t i = 0; i < n; i++) {
      for (int k = 0; k < 3; k++) {
        double low = random_below(&random, 10), size = 1 + (double)(kind == 3 ? random_below(&random, 4) : 0);
        if (kind == 1) low += ((int)random_below(&random, 3) - 1) / 4096.0;
        if (kind == 2) low = nextafter(low, random_below(&random, 2) == 0 ? -1e9 : 1e9);
        made.boxes[i].min[k] = low;
        made.boxes[i].max[k] = low + size;
      }
    }
    check_variants("borders", &made, n);
  }
}

/* Heaps of unit cubes on a lattice of 5^3 points so far apart that boxes of both ends of an axis cannot be in one level
 * of small cells; in the first heap are four boxes of five. */
static uint32_t make_heaps(uint64_t *random, uint32_t heaps, uint32_t n) {
  double far = ldexp(1 + random_unit(random), 15 + (int)random_below(random, 30)), middles[6][3];
  const uint32_t first = random_below(random, 125), step = 1 + 5 * random_below(random, 25); /* no point twice */
  uint32_t in_first = 0;
  for (uint32_t h = 0; h < heaps; h++) {
    for (uint32_t k = 0, point = (first + h * step) % 125; k < 3; k++, point /= 5)
      middles[h][k] = 0.25 * far * (point % 5 - 2.0);
  }
  for (uint32_t i = 0; i < n; i++) {
    uint32_t h = random_below(random, 5) < 4 ? 0 : 1 + random_below(random, heaps - 1);
    in_first += h == 0;
    for (int k = 0; k < 3; k++) {
      made.boxes[i].min[k] = middles[h][k] + 16 * random_unit(random);
      made.boxes[i].max[k] = made.boxes[i].min[k] + 1;
    }
  }
  return in_first;
}

/* A heap lies whole in a level of its own, wherever it is among others: across levels, looking up takes five times as
 * long. A few boxes lie outside the bounds of those that were sampled. */
static void test_whole_heaps(void **state) {
  (void)state;
  static grid g;
  uint64_t random = test_seed(31);
  for (uint32_t round = 0; round < 20; round++) {
    const uint32_t in_first = make_heaps(&random, 2 + round % 5, 2000);
    uint32_t most = 0;
    if (round % 7 == 0) check("heaps", &made, 2000, (variant){false, false, false});
    assert_true(gz_grid_build(&g, &made.view, choose_three));
    for (uint32_t l = 0; l < g.level_count; l++) {
      if (g.levels[l].strict && g.levels[l].count > most) most = g.levels[l].count;
    }
    gz_grid_release(context, &g);
    if (most < 0.85 * in_first) fail_msg("round %u: %u of %u boxes in a level", round, most, in_first);
  }
}

/* Where numbers are too coarse to cut in the gap between two heaps. */
static void test_neighbouring_numbers(void **state) {
  (void)state;
  uint64_t random = 37;
  for (uint32_t i = 0; i < 600; i++) {
    for (int k = 0; k < 3; k++) {
      made.boxes[i].min[k] = made.boxes[i].max[k] = k == 0 ? 0x1p53 + 2 * random_below(&random, 2) : 0x1p53;
    }
  }
  check("neighbouring numbers", &made, 600, (variant){false, false, false});
}

/* More boxes than there can be places twice over: such a grid cannot be made here, so it is only said to be one. */
static void test_too_many_places(void **state) {
  (void)state;
  static grid g;
  uint64_t random = 29;
  boxes_make(BOXES_DECADES, &random, 300, made.boxes);
  make_view(&made, 300, (variant){false, false, false});
  assert_true(gz_grid_build(&g, &made.view, choose_three));
  assert_true(g.level_count > 1 && g.levels[0].count > 0);
  g.levels[g.level_count - 1].end = INT32_MAX;
  check_pairs("many places", &g, &made, &g.levels[0], NULL);
  check_pairs("many places", &g, &made, &g.levels[0], &g.levels[1]);
  gz_grid_release(context, &g);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_families),
                                     cmocka_unit_test(test_crowds),
                                     cmocka_unit_test(test_borders),
                                     cmocka_unit_test(test_whole_heaps),
                                     cmocka_unit_test(test_neighbouring_numbers),
                                     cmocka_unit_test(test_too_many_places)};
  context = test_context(1, NULL);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  graze_context_destroy(context);
  return failed;
}
