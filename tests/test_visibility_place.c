/* What culling reads of the caller's arrays, kernels of every instruction set against plain loops: boxes, lists of
 * triangles that meet a box, their cells, corners in the space of pictures; and the sieve against all pairs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "geometry/pose.h"
#include "support.h"
#include "visibility/place.h"

enum { VERTICES = 200, TRIANGLES = 300 };

static uint64_t state;

/* Arrays of one of all kinds, and the same triangles as posed corners. */
typedef struct arrays {
  visibility_object object;
  graze_pose pose;
  char *vertices; /* of just so many bytes: who reads behind them is found by sanitizers */
  uint32_t indices[3 * TRIANGLES];
  double corners[9 * TRIANGLES];
} arrays;

static void pose_corners(arrays *a) {
  const visibility_object *o = &a->object;
  for (uint32_t c = 0; c < 3 * o->count; c++) {
    const char *at = a->vertices + (o->indices ? o->indices[c] : c) * o->stride;
    double p[3];
    float f[3];
    memcpy(f, at, sizeof f);
    for (int k = 0; k < 3; k++) p[k] = (double)f[k];
    if (o->is_double) memcpy(p, at, sizeof p);
    for (int k = 0; k < 3; k++) a->corners[3 * c + (uint32_t)k] = o->pose ? pose_row(o->pose, k, p) : p[k];
  }
}

static void make_arrays(arrays *a, int kind) {
  const bool is_double = kind & 1, posed = kind & 2, indexed = kind & 4, wide = kind & 8;
  const size_t size = is_double ? sizeof(double) : sizeof(float), stride = (wide ? 5 : 3) * size;
  const size_t bytes = (VERTICES - 1) * stride + 3 * size;
  a->vertices = malloc(bytes);
  assert_non_null(a->vertices);
  memset(a->vertices, 0, bytes);
  for (uint32_t i = 0; i < VERTICES; i++) {
    for (size_t k = 0; k < 3; k++) {
      const double x = 10 * random_signed(&state);
      const float f = (float)x;
      memcpy(a->vertices + i * stride + k * size, is_double ? (const void *)&x : (const void *)&f, size);
    }
  }
  for (uint32_t i = 0; i < 3 * TRIANGLES; i++) a->indices[i] = random_below(&state, VERTICES);
  a->pose = test_random_pose(&state, 3);
  a->object = (visibility_object){.vertices = a->vertices,
                                  .stride = stride,
                                  .indices = indexed ? a->indices : NULL,
                                  .pose = posed ? &a->pose : NULL,
                                  .count = indexed ? TRIANGLES : VERTICES / 3,
                                  .is_double = is_double};
  pose_corners(a);
}

static visibility_run random_run(const visibility_object *o) {
  const uint32_t first = random_below(&state, o->count);
  return (visibility_run){o, first, first + 1 + random_below(&state, o->count - first)};
}

static visibility_space random_space(void) {
  visibility_space s = {.unit = 0x1p-5};
  for (int k = 0; k < 3; k++) s.origin[k] = random_signed(&state);
  return s;
}

static void plain_place(const arrays *a, const visibility_space *s, uint32_t triangle, float out[9]) {
  for (int i = 0; i < 9; i++) out[i] = (float)((a->corners[9 * triangle + (uint32_t)i] - s->origin[i % 3]) * s->unit);
}

static visibility_box plain_box(const float c[9]) {
  visibility_box box;
  for (int k = 0; k < 3; k++) {
    box.low[k] = fminf(fminf(c[k], c[3 + k]), c[6 + k]);
    box.high[k] = fmaxf(fmaxf(c[k], c[3 + k]), c[6 + k]);
  }
  return box;
}

static void assert_boxes(const visibility_box *got, const visibility_box *want) {
  for (int k = 0; k < 3; k++) assert_true(got->low[k] == want->low[k] && got->high[k] == want->high[k]);
}

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

static void check_bound(const arrays *a, const visibility_run *run) {
  graze_box box, want = graze_box_empty();
  bool finite = true;
  for (uint32_t c = 3 * run->first; c < 3 * run->end; c++) {
    const double *x = a->corners + 3 * c;
    for (int k = 0; k < 3; k++) {
      finite = finite && isfinite(x[k]);
      want.min[k] = fmin(want.min[k], x[k]);
      want.max[k] = fmax(want.max[k], x[k]);
    }
  }
  assert_int_equal(CPU_KERNEL_TO_AVX2(gz_visibility_bound)(run, &box), finite);
  for (int k = 0; k < 3; k++) assert_true(!finite || (box.min[k] == want.min[k] && box.max[k] == want.max[k]));
}

static void test_bounds(void **unused) {
  (void)unused;
  state = test_seed(0);
  for (int round = 0; round < test_rounds(160, 4000); round++) {
    static arrays a;
    make_arrays(&a, round % 16);
    const uint32_t vertex = random_below(&state, VERTICES);
    const float f = round % 3 == 0 ? NAN : INFINITY;
    const double d = (double)f;
    if (round / 16 % 2 == 1)
      memcpy(a.vertices + vertex * a.object.stride, a.object.is_double ? (const void *)&d : (const void *)&f,
             a.object.is_double ? sizeof d : sizeof f);
    pose_corners(&a);
    const visibility_run run = random_run(&a.object);
    check_bound(&a, &run);
    free(a.vertices);
  }
}

static void test_blocks(void **unused) {
  (void)unused;
  state = test_seed(1);
  for (int round = 0; round < test_rounds(64, 2000); round++) {
    static arrays a;
    visibility_box blocks[TRIANGLES / VISIBILITY_BLOCK + 1];
    make_arrays(&a, round % 16);
    const visibility_space space = random_space();
    const visibility_run run = {&a.object, 0, a.object.count};
    CPU_KERNEL_TO_AVX2(gz_visibility_block)(&run, &space, blocks);
    for (uint32_t first = 0; first < run.end; first += VISIBILITY_BLOCK) {
      visibility_box want = visibility_box_empty();
      for (uint32_t t = first; t < run.end && t < first + VISIBILITY_BLOCK; t++) {
        float c[9];
        plain_place(&a, &space, t, c);
        const visibility_box own = plain_box(c);
        visibility_box_add(&want, &own);
      }
      assert_boxes(&blocks[first / VISIBILITY_BLOCK], &want);
    }
    free(a.vertices);
  }
}

/* ---- lists and corners ------------------------------------------------------------------------------------------- */

static visibility_box random_box(void) {
  visibility_box box;
  for (int k = 0; k < 3; k++) {
    box.low[k] = 0.3f * (float)random_signed(&state);
    box.high[k] =
        box.low[k] + (random_below(&state, 4) == 0 ? 2 * VISIBILITY_WIDEN : 0.4f * (float)random_unit(&state));
  }
  return box;
}

static uint8_t plain_cell(const visibility_box *box, int k, float x) {
  const float scale = SIEVE_SIDE / (box->high[k] - box->low[k]), at = (x - box->low[k]) * scale;
  return (uint8_t)fminf(fmaxf(floorf(at), 0), SIEVE_SIDE - 1);
}

/* The triangle is the next one of the list, with its cells. */
static uint64_t check_listed(const visibility_box *box, const visibility_box *own, uint32_t triangle, uint32_t listed,
                             const visibility_cells *cells) {
  assert_int_equal(listed, triangle);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(cells->low[k], plain_cell(box, k, own->low[k] - VISIBILITY_WIDEN));
    assert_int_equal(cells->high[k], plain_cell(box, k, own->high[k] + VISIBILITY_WIDEN));
  }
  return (uint64_t)(cells->high[1] - cells->low[1] + 1) * (uint64_t)(cells->high[2] - cells->low[2] + 1);
}

static void test_lists(void **unused) {
  uint32_t met = 0, missed = 0;
  (void)unused;
  state = test_seed(2);
  for (int round = 0; round < test_rounds(640, 8000); round++) {
    static arrays a;
    static uint32_t list[TRIANGLES];
    static visibility_cells cells[TRIANGLES];
    make_arrays(&a, round % 16);
    const visibility_space space = random_space();
    const visibility_run run = random_run(&a.object);
    const visibility_box box = random_box();
    uint64_t rows = 7, want_rows = 7;
    const uint32_t count = CPU_KERNEL_TO_AVX2(gz_visibility_list)(&run, &space, &box, list, cells, &rows);
    uint32_t at = 0;
    for (uint32_t t = run.first; t < run.end; t++) {
      float c[9];
      plain_place(&a, &space, t, c);
      const visibility_box own = plain_box(c);
      if (!visibility_boxes_meet(&own, &box)) continue;
      assert_in_range(at, 0, count - 1);
      want_rows += check_listed(&box, &own, t, list[at], &cells[at]);
      at++;
    }
    assert_int_equal(at, count);
    assert_int_equal(rows, want_rows);
    met += count;
    missed += run.end - run.first - count;
    free(a.vertices);
  }
  assert_true(met > 0 && missed > 0);
}

static void test_corners(void **unused) {
  (void)unused;
  state = test_seed(3);
  for (int round = 0; round < test_rounds(160, 4000); round++) {
    static arrays a;
    float corners[9 * VISIBILITY_BLOCK];
    uint32_t numbers[VISIBILITY_BLOCK];
    make_arrays(&a, round % 16);
    const visibility_space space = random_space();
    const visibility_run run = {&a.object, 0, VISIBILITY_BLOCK};
    const uint64_t marks = random_next(&state) & (round % 5 == 0 ? random_next(&state) : ~(uint64_t)0);
    CPU_KERNEL_TO_AVX2(gz_visibility_place)(&run, &space, marks, corners, numbers);
    uint32_t at = 0;
    for (uint32_t t = 0; t < VISIBILITY_BLOCK; t++) {
      float c[9];
      if (!(marks >> t & 1)) continue;
      plain_place(&a, &space, t, c);
      assert_int_equal(numbers[at], t);
      for (int i = 0; i < 9; i++) assert_true(corners[9 * at + (uint32_t)i] == c[i]);
      at++;
    }
    free(a.vertices);
  }
}

/* ---- the sieve --------------------------------------------------------------------------------------------------- */

static bool share_cell(const visibility_cells *a, const visibility_cells *b) {
  for (int k = 0; k < 3; k++) {
    if (a->low[k] > b->high[k] || b->low[k] > a->high[k]) return false;
  }
  return true;
}

static visibility_cells random_cells(int size) {
  visibility_cells c = {{0}, {0}};
  for (int k = 0; k < 3; k++) {
    const int low = (int)random_below(&state, SIEVE_SIDE), high = low + (int)random_below(&state, (uint32_t)size);
    c.low[k] = (uint8_t)low;
    c.high[k] = (uint8_t)(high < SIEVE_SIDE ? high : SIEVE_SIDE - 1);
  }
  return c;
}

typedef struct sifted {
  uint32_t count, *list;
  visibility_cells *cells;
} sifted;

static sifted make_list(uint32_t count, int size) {
  sifted s = {count, malloc(count * sizeof *s.list), malloc(count * sizeof *s.cells)};
  assert_true(s.list && s.cells);
  for (uint32_t i = 0; i < count; i++) {
    s.list[i] = 3 * i;
    s.cells[i] = random_cells(size);
  }
  return s;
}

static sifted copy_of(const sifted *s) {
  sifted copy = {s->count, malloc(s->count * sizeof *s->list), malloc(s->count * sizeof *s->cells)};
  assert_true(copy.list && copy.cells);
  memcpy(copy.list, s->list, s->count * sizeof *s->list);
  memcpy(copy.cells, s->cells, s->count * sizeof *s->cells);
  return copy;
}

/* Keeps what shares a cell with something of the other list, by comparing all with all. */
static void plain_sieve(sifted *s, const sifted *other) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    bool meets = false;
    for (uint32_t j = 0; j < other->count && !meets; j++) meets = share_cell(&s->cells[i], &other->cells[j]);
    if (!meets) continue;
    s->list[kept] = s->list[i];
    s->cells[kept++] = s->cells[i];
  }
  s->count = kept;
}

static void free_lists(sifted s[2]) {
  for (int i = 0; i < 2; i++) {
    free(s[i].list);
    free(s[i].cells);
  }
}

static void check_sieve(const sifted want[2], const sifted from[2], int threads) {
  static visibility_sieve sieve;
  sifted got[2] = {copy_of(&from[0]), copy_of(&from[1])};
  uint32_t counts[2] = {got[0].count, got[1].count};
  gz_visibility_sieve(shared_context(threads), &sieve, (uint32_t *const[2]){got[0].list, got[1].list},
                      (visibility_cells *const[2]){got[0].cells, got[1].cells}, counts);
  for (int s = 0; s < 2; s++) {
    assert_int_equal(counts[s], want[s].count);
    assert_memory_equal(got[s].list, want[s].list, counts[s] * sizeof *want[s].list);
  }
  free_lists(got);
}

/* Some lists are long enough to be cut for threads. */
static void test_sieve(void **unused) {
  uint64_t kept = 0, gone = 0;
  (void)unused;
  state = test_seed(4);
  for (int round = 0; round < test_rounds(12, 200); round++) {
    const int size = 1 + round % 3;
    sifted from[2], want[2];
    from[0] = make_list(round % 4 == 0 ? 20000 + random_below(&state, 20000) : 1 + random_below(&state, 900), size);
    from[1] = make_list(500 + random_below(&state, 500), size);
    for (int s = 0; s < 2; s++) want[s] = copy_of(&from[s]);
    plain_sieve(&want[1], &want[0]);
    plain_sieve(&want[0], &want[1]);
    check_sieve(want, from, 1);
    check_sieve(want, from, 3);
    kept += want[0].count + want[1].count;
    gone += from[0].count - want[0].count + from[1].count - want[1].count;
    free_lists(from);
    free_lists(want);
  }
  assert_true(kept > 0 && gone > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bounds),  cmocka_unit_test(test_blocks), cmocka_unit_test(test_lists),
      cmocka_unit_test(test_corners), cmocka_unit_test(test_sieve),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
