/* The subdivision with home cells, phantom cells and control bits, stage by stage, and that both of its conditions are
 * necessary: with radii not scaled pairs are lost, with cells of one diameter pairs are lost, with neither none is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boxes.h"
#include "broad/textbook/subdivision.h"
#include "families.h"
#include "support.h"

/* ---- stages by hand -------------------------------------------------------------------------------------------- */

/* A grid of cells of edge 1 with its origin at 0, into which spheres of scaled radius 1/3 go. */
static subdivision_grid unit_grid(int dimensions) {
  const double low[3] = {0, 0, 0}, high[3] = {9, 9, 9};
  subdivision_grid grid = gz_subdivision_grid_of(dimensions, low, high, 1.0 / 3, 1, 1.5);
  assert_true(fabs(grid.cell - 1) < 1e-6);
  return grid;
}

static uint64_t id_at(const subdivision_grid *grid, uint64_t x, uint64_t y, uint64_t z) {
  uint64_t id = x << grid->shift[0] | y << grid->shift[1];
  return grid->dimensions == 3 ? id | z << grid->shift[2] : id;
}

static int by_id(const void *p, const void *q) {
  const uint64_t *a = p, *b = q;
  return (*a > *b) - (*a < *b);
}

/* Coordinates in ids are one more than those of cells, for the guests beyond the border. */
static void test_mark(void **state) {
  (void)state;
  const struct {
    int dimensions;
    subdivision_sphere sphere;
    unsigned home, touched;
    uint32_t cells;
    uint64_t at[8][3];
  } cases[] = {
      {3, {{2.5, 3.5, 4.5}, 0.3}, 2, 1 << 2, 1, {{3, 4, 5}}},
      {3, {{2.9, 3.5, 4.5}, 0.3}, 2, 1 << 2 | 1 << 3, 2, {{3, 4, 5}, {4, 4, 5}}},
      {3, {{2.1, 3.5, 4.5}, 0.3}, 2, 1 << 2 | 1 << 3, 2, {{3, 4, 5}, {2, 4, 5}}},
      {3, {{0.1, 0.5, 0.5}, 0.3}, 7, 1 << 7 | 1 << 6, 2, {{1, 1, 1}, {0, 1, 1}}},
      /* Across an edge but not as far as the corner cell. */
      {3, {{2.75, 3.75, 4.5}, 0.3}, 2, 1 << 2 | 1 << 3 | 1 << 0, 3, {{3, 4, 5}, {4, 4, 5}, {3, 5, 5}}},
      {3,
       {{2.9, 3.9, 4.9}, 0.3},
       2,
       255,
       8,
       {{3, 4, 5}, {4, 4, 5}, {3, 5, 5}, {4, 5, 5}, {3, 4, 6}, {4, 4, 6}, {3, 5, 6}, {4, 5, 6}}},
      {2, {{2.9, 3.9, 77}, 0.3}, 2, 15, 4, {{3, 4, 0}, {4, 4, 0}, {3, 5, 0}, {4, 5, 0}}},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    subdivision_grid grid = unit_grid(cases[c].dimensions);
    uint32_t slots = 1u << grid.dimensions;
    uint64_t ids[8], want[8];
    uint32_t objects[8];
    subdivision_control control;
    gz_subdivision_mark(&grid, &cases[c].sphere, 1, 0, 1, ids, objects, &control);
    unsigned home_parity = 0;
    for (int k = 0; k < grid.dimensions; k++) home_parity |= (unsigned)(cases[c].at[0][k] & 1) << k;
    const uint64_t *first = cases[c].at[0];
    assert_true(ids[0] == id_at(&grid, first[0], first[1], first[2]));
    assert_int_equal(control >> SUBDIVISION_HOME, home_parity);
    unsigned touched = 0;
    for (uint32_t i = 0; i < slots; i++) {
      const uint64_t *at = cases[c].at[i];
      want[i] = i < cases[c].cells ? id_at(&grid, at[0], at[1], at[2]) : (uint64_t)1 << grid.bits;
      for (unsigned k = 0, type = 0; k < (unsigned)grid.dimensions && i < cases[c].cells; k++) {
        type |= (unsigned)(at[k] & 1) << k;
        if (k + 1 == (unsigned)grid.dimensions) touched |= 1u << type;
      }
      assert_int_equal(objects[i], 0);
    }
    assert_int_equal(control & 255, touched);
    qsort(ids, slots, sizeof *ids, by_id);
    qsort(want, slots, sizeof *want, by_id);
    assert_memory_equal(ids, want, slots * sizeof *ids);
  }
}

static void test_sort(void **state) {
  (void)state;
  enum { N = 5000 };
  static uint64_t ids[N], ids2[N];
  static uint32_t objects[N], objects2[N];
  for (unsigned bits = 3; bits <= 60; bits += 19) {
    uint64_t random = bits;
    for (uint32_t i = 0; i < N; i++) {
      ids[i] = random_below(&random, 4) == 0 ? (uint64_t)1 << bits : random_next(&random) >> (64 - bits);
      objects[i] = i;
    }
    memcpy(ids2, ids, sizeof ids);
    static uint64_t before[N];
    memcpy(before, ids, sizeof ids);
    gz_subdivision_sort(ids, objects, N, bits, ids2, objects2);
    for (uint32_t i = 0; i < N; i++) {
      assert_true(ids[i] == before[objects[i]]);
      if (i > 0) assert_true(ids[i - 1] < ids[i] || (ids[i - 1] == ids[i] && objects[i - 1] < objects[i]));
    }
  }
}

/* ---- all stages, on spheres ------------------------------------------------------------------------------------ */

typedef struct scene {
  uint32_t count, large; /* the first ones */
  int dimensions;
  subdivision_sphere *spheres;
  uint64_t *ids, *ids2;
  uint32_t *objects, *objects2;
  subdivision_control *control;
  subdivision_cell *cells;
  uint8_t *seen; /* by object, of pairs with its partner: how often the pair was met */
  uint64_t tests;
} scene;

static scene scene_make(uint32_t count) {
  scene s = {.count = count};
  s.spheres = malloc(count * sizeof *s.spheres);
  s.ids = malloc(8 * count * sizeof *s.ids);
  s.ids2 = malloc(8 * count * sizeof *s.ids2);
  s.objects = malloc(8 * count * sizeof *s.objects);
  s.objects2 = malloc(8 * count * sizeof *s.objects2);
  s.control = malloc(count * sizeof *s.control);
  s.cells = malloc(count * sizeof *s.cells);
  s.seen = malloc(count);
  return s;
}

static void scene_free(scene *s) {
  void *all[] = {s->spheres, s->ids, s->ids2, s->objects, s->objects2, s->control, s->cells, s->seen};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* Objects 2 i and 2 i + 1 are partners: spheres that overlap by a millionth, in any direction, anywhere in a box of
 * 24 radii, so that every place in a cell comes up, and the partners of others are about. `ratio`: radii from 1 / ratio
 * to 1. */
static void scene_fill(scene *s, int dimensions, uint64_t *random, double ratio) {
  s->dimensions = dimensions;
  for (uint32_t i = 0; i < s->count; i += 2) {
    subdivision_sphere *a = &s->spheres[i], *b = &s->spheres[i + 1];
    double direction[3], length = 0;
    while (!(length > 0.1 && length <= 1)) {
      length = 0;
      for (int k = 0; k < dimensions; k++) direction[k] = random_signed(random);
      for (int k = 0; k < dimensions; k++) length += direction[k] * direction[k];
      length = sqrt(length);
    }
    a->radius = pow(ratio, -random_unit(random));
    b->radius = pow(ratio, -random_unit(random));
    for (int k = 0; k < dimensions; k++) {
      a->center[k] = 24 * random_unit(random);
      b->center[k] = a->center[k] + direction[k] / length * (a->radius + b->radius) * (1 - 1e-6);
    }
  }
}

static bool touch(const scene *s, uint32_t a, uint32_t b) {
  const subdivision_sphere *p = &s->spheres[a], *q = &s->spheres[b];
  double d2 = 0, sum = p->radius + q->radius;
  for (int k = 0; k < s->dimensions; k++) d2 += (p->center[k] - q->center[k]) * (p->center[k] - q->center[k]);
  return d2 <= sum * sum;
}

static bool note_pair(void *user, uint32_t a, uint32_t b) {
  scene *s = user;
  s->tests++;
  if (a / 2 == b / 2 && touch(s, a, b)) s->seen[a & ~1u]++;
  return true;
}

typedef struct outcome {
  uint32_t missed, doubled;
} outcome;

/* Runs the stages and counts the pairs of partners that were never met, and those met more than once. */
static outcome run_stages(scene *s, double scale, double cell_factor) {
  double low[3], high[3], largest = 0;
  for (int k = 0; k < s->dimensions; k++) {
    low[k] = high[k] = s->spheres[0].center[k];
    for (uint32_t i = 0; i < s->count; i++) {
      low[k] = fmin(low[k], s->spheres[i].center[k]);
      high[k] = fmax(high[k], s->spheres[i].center[k]);
    }
  }
  for (uint32_t i = 0; i < s->count; i++) largest = fmax(largest, s->spheres[i].radius);
  subdivision_grid grid = gz_subdivision_grid_of(s->dimensions, low, high, largest, scale, cell_factor);
  size_t entries = (size_t)s->count << s->dimensions;
  gz_subdivision_mark(&grid, s->spheres, s->count, 0, s->count, s->ids, s->objects, s->control);
  gz_subdivision_sort(s->ids, s->objects, entries, grid.bits, s->ids2, s->objects2);
  size_t cells = gz_subdivision_list(&grid, s->ids, s->objects, entries, s->control, s->count, s->cells);
  memset(s->seen, 0, s->count);
  for (uint32_t type = 0; type < 1u << s->dimensions; type++) {
    for (size_t c = 0; c < cells; c++) {
      if (s->cells[c].type != type) continue;
      assert_true(gz_subdivision_traverse(&s->cells[c], s->objects, s->control, note_pair, s));
    }
  }
  outcome o = {0, 0};
  for (uint32_t i = 0; i < s->count; i += 2) {
    o.missed += s->seen[i] == 0;
    o.doubled += s->seen[i] > 1;
  }
  return o;
}

/* What the method uses is enough; each of the two conditions alone is not. */
static void test_conditions(void **state) {
  (void)state;
  scene s = scene_make(8192);
  uint32_t rounds = test_long() ? 400 : 24;
  for (int dimensions = 2; dimensions <= 3; dimensions++) {
    outcome both = {0, 0}, unscaled = {0, 0}, narrow = {0, 0};
    for (uint32_t round = 0; round < rounds; round++) {
      uint64_t random = 100 * (uint64_t)dimensions + round;
      scene_fill(&s, dimensions, &random, round % 2 == 0 ? 1 : 3);
      outcome o = run_stages(&s, SUBDIVISION_SCALE, SUBDIVISION_CELL);
      both.missed += o.missed;
      both.doubled += o.doubled;
      o = run_stages(&s, 1, SUBDIVISION_CELL);
      unscaled.missed += o.missed;
      o = run_stages(&s, SUBDIVISION_SCALE, 1);
      narrow.missed += o.missed;
    }
    print_message(
        "d = %d, %u pairs that touch: 0 should be missed, %u are, %u doubled; without scaled radii %u are "
        "missed, with cells of one diameter %u\n",
        dimensions, rounds * s.count / 2, both.missed, both.doubled, unscaled.missed, narrow.missed);
    assert_int_equal(both.missed, 0);
    assert_int_equal(both.doubled, 0);
    assert_true(unscaled.missed > 0);
    assert_true(narrow.missed > 0);
  }
  scene_free(&s);
}

/* In each cell those at home stand before the guests, the large ones first in both parts, and every entry is counted
 * once. */
static void test_list(void **state) {
  (void)state;
  scene s = scene_make(3000);
  uint64_t random = 9;
  scene_fill(&s, 3, &random, 1);
  run_stages(&s, SUBDIVISION_SCALE, SUBDIVISION_CELL);
  const double low[3] = {-2, -2, -2}, high[3] = {27, 27, 27};
  subdivision_grid grid = gz_subdivision_grid_of(3, low, high, 1, SUBDIVISION_SCALE, SUBDIVISION_CELL);
  size_t entries = 8 * (size_t)s.count;
  gz_subdivision_mark(&grid, s.spheres, s.count, 0, s.count, s.ids, s.objects, s.control);
  uint64_t *home = malloc(s.count * sizeof *home);
  memcpy(home, s.ids, s.count * sizeof *home);
  gz_subdivision_sort(s.ids, s.objects, entries, grid.bits, s.ids2, s.objects2);
  uint32_t large = 1000;
  size_t cells = gz_subdivision_list(&grid, s.ids, s.objects, entries, s.control, large, s.cells);
  assert_true(cells > 100);
  for (size_t c = 0; c < cells; c++) {
    const subdivision_cell *cell = &s.cells[c];
    uint64_t id = s.ids[cell->start], end = cell->start + cell->homes + cell->phantoms;
    assert_true(cell->start == 0 || s.ids[cell->start - 1] != id);
    assert_true(end == entries || s.ids[end] != id);
    for (uint32_t i = 0; i < cell->homes + cell->phantoms; i++) {
      uint32_t object = s.objects[cell->start + i];
      bool guest = i >= cell->homes;
      uint32_t rank = guest ? i - cell->homes : i;
      assert_true(s.ids[cell->start + i] == id);
      assert_true((home[object] != id) == guest);
      assert_true((object < large) == (rank < (guest ? cell->large_phantoms : cell->large_homes)));
    }
  }
  free(home);
  scene_free(&s);
}

/* ---- the method: sizes and worlds that the families of test_broadphase do not have ------------------------------ */

static void check_same(const graze_box *boxes, uint32_t n) {
  graze_context *context = test_context(2, NULL);
  const graze_box_pair *pairs[2];
  uint64_t count[2];
  graze_broadphase *bp[2];
  const graze_broad_method methods[2] = {GRAZE_BROAD_BRUTE, GRAZE_BROAD_SUBDIVISION};
  for (int i = 0; i < 2; i++) {
    graze_broadphase_def def = graze_default_broadphase_def();
    def.method = methods[i];
    assert_int_equal(graze_broadphase_create(context, &def, &bp[i]), GRAZE_OK);
    assert_int_equal(
        graze_broadphase_find(bp[i], &(graze_box_array){boxes, 0, GRAZE_DOUBLE}, n, false, &pairs[i], &count[i]),
        GRAZE_OK);
  }
  assert_true(count[0] > 0);
  assert_int_equal(count[0], count[1]);
  assert_memory_equal(pairs[0], pairs[1], count[0] * sizeof *pairs[0]);
  for (int i = 0; i < 2; i++) graze_broadphase_destroy(bp[i]);
  graze_context_destroy(context);
}

/* Worlds that are flat along each axis (two dimensions), sizes over twelve decades (more than the classes have), and
 * equal cubes that touch at faces, edges and corners only. */
static void test_worlds(void **state) {
  (void)state;
  enum { N = 1500 };
  static graze_box boxes[N];
  for (int kind = 0; kind < 5; kind++) {
    uint64_t random = 40 + (uint64_t)kind;
    for (uint32_t i = 0; i < N; i++) {
      double edge = kind == 3 ? pow(10, 12 * random_unit(&random) - 11) : 1;
      for (int k = 0; k < 3; k++) {
        double reach = kind == 3 ? 4 : k == kind ? 1 : 16;
        double at = kind == 4 ? (double)random_below(&random, 9) : reach * random_unit(&random);
        boxes[i].min[k] = at;
        boxes[i].max[k] = at + edge;
      }
    }
    check_same(boxes, N);
  }
}

/* Boxes so small at their place that the centre between two of their corners is no double. */
static void test_coarse(void **state) {
  (void)state;
  enum { N = 3000 };
  static graze_box boxes[N];
  const uint32_t rounds = (uint32_t)test_rounds(6, 100);
  for (int exponent = 49; exponent <= 52; exponent++) {
    for (uint32_t round = 0; round < rounds; round++) {
      uint64_t random = round;
      boxes_make_coarse(exponent, round % 2 == 1, &random, N, boxes);
      check_same(boxes, N);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mark), cmocka_unit_test(test_sort),   cmocka_unit_test(test_conditions),
      cmocka_unit_test(test_list), cmocka_unit_test(test_worlds), cmocka_unit_test(test_coarse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
