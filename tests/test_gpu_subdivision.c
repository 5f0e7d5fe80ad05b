/* The subdivision on a device, compared with the processor's stage by stage: grid, entries, control bits, cells. And
 * what test_gpu_boxes does not have: flat worlds, sizes in more classes than there are, boxes that it is not for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boxes.h"
#include "device_group.h"
#include "families.h"
#include "gpu/stages.h"

static void need_exact_device(void) {
  need_device();
  if (!on.gpu->info.exact) skip();
}

/* The method that found the same pairs as the processor. */
static graze_broad_method check(const graze_box *boxes, uint32_t n, graze_broad_method method) {
  const graze_box_pair *want, *got;
  uint64_t want_count, got_count;
  const graze_box_array array = {boxes, 0, GRAZE_DOUBLE};
  assert_int_equal(graze_broadphase_find(on.plain_phase, &array, n, false, &want, &want_count), GRAZE_OK);
  assert_int_equal(graze_broadphase_find(on.phases[method], &array, n, false, &got, &got_count), GRAZE_OK);
  assert_true(test_was_on_device(1));
  assert_true(got_count == want_count && want_count > 0);
  assert_memory_equal(got, want, want_count * sizeof *want);
  return graze_broadphase_report(on.phases[method]).method;
}

/* ---- stages ---------------------------------------------------------------------------------------------------- */

static void *read_back(const gpu_buffer *from, size_t bytes) {
  void *to = malloc(bytes);
  assert_int_equal(gz_gpu_read(on.gpu, to, from, 0, bytes), GRAZE_OK);
  return to;
}

/* A device's object, of doubles. */
typedef struct device_object {
  uint64_t min[3], max[3];
  uint32_t number, control;
} device_object;

/* What the processor makes of the same spheres. */
typedef struct stages {
  subdivision_grid grid;
  uint64_t *ids, *ids2;
  uint32_t *objects, *objects2;
  subdivision_control *control;
  subdivision_cell *cells;
  size_t entry_count, cell_count;
} stages;

static stages stages_of(const subdivision_sphere *spheres, uint32_t count, int dimensions, uint32_t large) {
  stages p = {.entry_count = (size_t)count << dimensions};
  double low[3], high[3], largest = 0;
  for (uint32_t i = 0; i < count; i++) {
    largest = fmax(largest, spheres[i].radius);
    for (int k = 0; k < dimensions; k++) {
      low[k] = i == 0 ? spheres[i].center[k] : fmin(low[k], spheres[i].center[k]);
      high[k] = i == 0 ? spheres[i].center[k] : fmax(high[k], spheres[i].center[k]);
    }
  }
  p.grid = gz_subdivision_grid_of(dimensions, low, high, largest, SUBDIVISION_SCALE, SUBDIVISION_CELL);
  p.ids = malloc(p.entry_count * sizeof *p.ids);
  p.ids2 = malloc(p.entry_count * sizeof *p.ids2);
  p.objects = malloc(p.entry_count * sizeof *p.objects);
  p.objects2 = malloc(p.entry_count * sizeof *p.objects2);
  p.control = malloc(count * sizeof *p.control);
  p.cells = malloc(count * sizeof *p.cells);
  gz_subdivision_mark(&p.grid, spheres, count, 0, count, p.ids, p.objects, p.control);
  gz_subdivision_sort(p.ids, p.objects, p.entry_count, p.grid.bits, p.ids2, p.objects2);
  p.cell_count = gz_subdivision_list(&p.grid, p.ids, p.objects, p.entry_count, p.control, large, p.cells);
  return p;
}

static void stages_free(stages *p) {
  void *all[] = {p->ids, p->ids2, p->objects, p->objects2, p->control, p->cells};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static void compare_entries(const gpu_subdivision *s, const stages *p) {
  assert_int_equal(s->entry_count, p->entry_count);
  uint32_t *ids = read_back(&s->ids, p->entry_count * sizeof *ids);
  uint32_t *entries = read_back(&s->entries, p->entry_count * sizeof *entries);
  for (size_t i = 0; i < p->entry_count; i++) assert_true(ids[i] == p->ids[i] && entries[i] == p->objects[i]);
  device_object *objects = read_back(&s->objects, (s->begin + s->count) * sizeof *objects);
  for (uint32_t i = 0; i < s->count; i++) assert_int_equal(objects[s->begin + i].control, p->control[i]);
  free(ids);
  free(entries);
  free(objects);
}

/* The device has its cells by type. */
static void compare_cells(const gpu_subdivision *s, const stages *p) {
  assert_int_equal(s->cell_count, p->cell_count);
  uint32_t(*cells)[6] = read_back(&s->cells, p->cell_count * sizeof *cells);
  size_t at = 0;
  for (uint32_t type = 0; type < 8; type++) {
    for (size_t c = 0; c < p->cell_count; c++) {
      const subdivision_cell *cell = &p->cells[c];
      if (cell->type != type) continue;
      const uint32_t want[6] = {(uint32_t)cell->start, cell->homes,          cell->large_homes,
                                cell->phantoms,        cell->large_phantoms, type};
      assert_memory_equal(cells[at++], want, sizeof want);
    }
  }
  free(cells);
}

/* The last class is what the device keeps. */
static void compare_stages(int dimensions) {
  const gpu_subdivision *s = &on.gpu->stages->subdivision;
  subdivision_sphere *spheres = read_back(&s->spheres, s->count * sizeof *spheres);
  stages p = stages_of(spheres, s->count, dimensions, s->large);
  assert_int_equal(s->grid.dimensions, dimensions);
  assert_true(s->grid.cell == p.grid.cell && s->grid.bits == p.grid.bits);
  for (int k = 0; k < dimensions; k++) {
    assert_true(s->grid.origin[k] == p.grid.origin[k] && s->grid.shift[k] == p.grid.shift[k]);
  }
  assert_true(p.cell_count > (test_device_slow() ? 3 : 30));
  compare_entries(s, &p);
  compare_cells(s, &p);
  stages_free(&p);
  free(spheres);
}

static void fill(graze_box *boxes, uint32_t n, uint64_t random, double side, const double flat[3], double sizes) {
  for (uint32_t i = 0; i < n; i++) {
    double edge = pow(sizes, -random_unit(&random));
    for (int k = 0; k < 3; k++) {
      boxes[i].min[k] = flat[k] * side * random_unit(&random);
      boxes[i].max[k] = boxes[i].min[k] + edge * (0.5 + 0.5 * random_unit(&random));
    }
  }
}

/* One class in space and in a plane; several classes, of which every one has large objects and small ones. */
static void test_stages(void **state) {
  (void)state;
  need_exact_device();
  const uint32_t n = test_device_slow() ? 200 : 4000;
  graze_box *boxes = malloc(n * sizeof *boxes);
  const double space[3] = {1, 1, 1}, plane[3] = {1, 0.01, 1};
  double side = 1.5 * cbrt(n);
  fill(boxes, n, 1, side, space, 1);
  assert_int_equal(check(boxes, n, GRAZE_BROAD_SUBDIVISION), GRAZE_BROAD_SUBDIVISION);
  compare_stages(3);
  fill(boxes, n, 2, side, plane, 1);
  assert_int_equal(check(boxes, n, GRAZE_BROAD_SUBDIVISION), GRAZE_BROAD_SUBDIVISION);
  compare_stages(2);
  fill(boxes, n, 3, side, space, 100);
  assert_int_equal(check(boxes, n, GRAZE_BROAD_SUBDIVISION), GRAZE_BROAD_SUBDIVISION);
  assert_true(on.gpu->stages->subdivision.begin > 0);
  free(boxes);
}

/* ---- worlds ---------------------------------------------------------------------------------------------------- */

/* Worlds that are flat along each axis, sizes over twelve decades (more than the classes have), equal cubes that touch
 * at faces, edges and corners only, and a world of more cells than ids have numbers for. */
static void test_worlds(void **state) {
  (void)state;
  need_exact_device();
  enum { N = 1500 };
  static graze_box boxes[N];
  const uint32_t n = test_device_slow() ? 60 : N;
  for (int kind = 0; kind < 6; kind++) {
    uint64_t random = 40 + (uint64_t)kind;
    for (uint32_t i = 0; i < n; i++) {
      double edge = kind == 3 ? pow(10, 12 * random_unit(&random) - 11) : 1;
      double far = kind == 5 && i % 2 == 1 ? 1e5 : 0; /* two heaps at the ends of a diagonal */
      for (int k = 0; k < 3; k++) {
        double reach = kind == 3 ? 4 : k == kind ? 1 : 16;
        double at = kind == 4 ? (double)random_below(&random, 9) : far + reach * random_unit(&random);
        boxes[i].min[k] = at;
        boxes[i].max[k] = at + edge;
      }
    }
    assert_int_equal(check(boxes, n, GRAZE_BROAD_SUBDIVISION), GRAZE_BROAD_SUBDIVISION);
    if (kind < 3) assert_int_equal(on.gpu->stages->subdivision.grid.dimensions, 2);
    const subdivision_grid *grid = &on.gpu->stages->subdivision.grid;
    if (kind == 5) assert_true(grid->bits <= 31 && grid->cell > 1);
  }
}

/* Boxes so small at their place that the centre between two of their corners is no double. */
static void test_coarse(void **state) {
  (void)state;
  need_exact_device();
  enum { N = 3000 };
  static graze_box boxes[N];
  const uint32_t n = test_device_slow() ? 60 : N;
  for (int exponent = 49; exponent <= 52; exponent++) {
    for (int chained = 0; chained < 2; chained++) {
      uint64_t random = (uint64_t)exponent;
      boxes_make_coarse(exponent, chained != 0, &random, n, boxes);
      assert_int_equal(check(boxes, n, GRAZE_BROAD_SUBDIVISION), GRAZE_BROAD_SUBDIVISION);
    }
  }
}

/* Thousands of boxes in one cell of the right size: the grid in levels, which finds the small ones apart. */
static void test_crowd(void **state) {
  (void)state;
  need_exact_device();
  if (test_device_slow()) skip();
  enum { N = 6000 };
  graze_box *boxes = malloc(N * sizeof *boxes);
  uint64_t random = 5;
  for (uint32_t i = 0; i < N; i++) {
    double far = i == 0 ? 1e9 : 0; /* so that a cell has all others */
    for (int k = 0; k < 3; k++) {
      boxes[i].min[k] = far + 20 * random_unit(&random);
      boxes[i].max[k] = boxes[i].min[k] + 1;
    }
  }
  assert_int_equal(check(boxes, N, GRAZE_BROAD_SUBDIVISION), GRAZE_BROAD_HGRID);
  assert_string_equal(graze_broadphase_report(on.phases[GRAZE_BROAD_SUBDIVISION]).reason,
                      "subdivision: too many boxes in a cell; the grid did it");
  assert_int_equal(check(boxes, N, GRAZE_BROAD_AUTO), GRAZE_BROAD_HGRID);
  assert_string_equal(graze_broadphase_report(on.phases[GRAZE_BROAD_AUTO]).reason, "");
  free(boxes);
}

/* A device that is not exact is asked by the grid only. */
static void test_not_exact(void **state) {
  (void)state;
  need_exact_device();
  enum { N = 50 };
  static graze_box boxes[N];
  uint64_t random = 6;
  boxes_make(BOXES_LATTICE, &random, N, boxes);
  on.gpu->info.exact = false;
  assert_int_equal(check(boxes, N, GRAZE_BROAD_SUBDIVISION), GRAZE_BROAD_HGRID);
  assert_string_equal(graze_broadphase_report(on.phases[GRAZE_BROAD_SUBDIVISION]).reason,
                      "subdivision: the device's arithmetic is not exact; the grid did it");
  on.gpu->info.exact = true;
  assert_int_equal(check(boxes, N, GRAZE_BROAD_SUBDIVISION), GRAZE_BROAD_SUBDIVISION);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_stages), cmocka_unit_test(test_worlds),
                                     cmocka_unit_test(test_coarse), cmocka_unit_test(test_crowd),
                                     cmocka_unit_test(test_not_exact)};
  return cmocka_run_group_tests(tests, test_device_open, test_device_close);
}
