/* The hierarchy on a device: its nodes read back, after builds and after motion; pairs of boxes compared with the
 * processor's; other boxes held to comparing each with each; pieces, bad boxes, boxes that are all the same. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boxes.h"
#include "device_group.h"
#include "families.h"
#include "gpu/box_bvh.h"

/* ---- boxes of floats --------------------------------------------------------------------------------------------- */

typedef struct float_box {
  float low[3], high[3];
} float_box;

static float_box nearest(const graze_box *box) {
  float_box out;
  for (int k = 0; k < 3; k++) {
    out.low[k] = (float)fmax(-FLT_MAX, fmin(FLT_MAX, box->min[k]));
    out.high[k] = (float)fmax(-FLT_MAX, fmin(FLT_MAX, box->max[k]));
  }
  return out;
}

static float_box *make_floats(box_family kind, uint64_t *random, uint32_t n) {
  float_box *floats = malloc((n + 1) * sizeof *floats);
  assert_non_null(floats);
  for (uint32_t i = 0; i < n; i++) {
    graze_box box = boxes_one(kind, random, n);
    floats[i] = nearest(&box);
  }
  return floats;
}

static bool do_meet(const float_box *a, const float_box *b) {
  for (int k = 0; k < 3; k++) {
    if (a->low[k] > b->high[k] || b->low[k] > a->high[k]) return false;
  }
  return true;
}

static void put(gpu_buffer *to, const void *from, size_t bytes) {
  assert_int_equal(gz_gpu_reserve(on.gpu, to, bytes), GRAZE_OK);
  assert_int_equal(gz_gpu_write(on.gpu, to, 0, from, bytes), GRAZE_OK);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

/* As in kernels/tree.h. */
typedef struct node_box {
  uint32_t low[3], high[3];
} node_box;

typedef struct node {
  node_box left, right;
  uint32_t first, split, last, unused;
} node;

static uint32_t key_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if (bits == 0x80000000u) bits = 0;
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

static node_box box_around(const float_box *boxes, const uint32_t *numbers, uint32_t first, uint32_t last) {
  node_box around = {{UINT32_MAX, UINT32_MAX, UINT32_MAX}, {0, 0, 0}};
  for (uint32_t i = first; i <= last; i++) {
    for (int k = 0; k < 3; k++) {
      uint32_t low = key_of(boxes[numbers[i]].low[k]), high = key_of(boxes[numbers[i]].high[k]);
      if (low < around.low[k]) around.low[k] = low;
      if (high > around.high[k]) around.high[k] = high;
    }
  }
  return around;
}

/* From the root: ranges are cut in two that are not empty, every box is one leaf, a child's box is that around its
 * boxes, no more and no less, and no way down is longer than the stack of a walk. */
static void check_nodes(const gpu_lbvh *tree, const float_box *boxes, uint32_t n, const char *what) {
  size_t nodes_bytes = (n > 1 ? n - 1 : n) * sizeof(node);
  node *nodes = malloc(nodes_bytes + 1);
  uint32_t *numbers = malloc((n + 1) * sizeof *numbers), *seen = calloc(n + 1, sizeof *seen), leaves = 0;
  struct {
    uint32_t at, depth, first, last;
  } stack[96];
  assert_int_equal(tree->count, n);
  assert_int_equal(gz_gpu_read(on.gpu, nodes, &tree->nodes, 0, nodes_bytes), GRAZE_OK);
  assert_int_equal(gz_gpu_read(on.gpu, numbers, &tree->numbers, 0, n * sizeof *numbers), GRAZE_OK);
  stack[0].at = stack[0].depth = stack[0].first = 0;
  stack[0].last = n - 1;
  for (uint32_t waiting = n > 1 ? 1 : 0; waiting > 0;) {
    waiting--;
    uint32_t at = stack[waiting].at, depth = stack[waiting].depth;
    node d = nodes[at];
    if (d.first != stack[waiting].first || d.last != stack[waiting].last || d.split < d.first || d.split >= d.last) {
      fail_msg("%u boxes, %s: node %u is over %u to %u, split at %u", n, what, at, d.first, d.last, d.split);
    }
    assert_true(depth < 94);
    node_box left = box_around(boxes, numbers, d.first, d.split);
    node_box right = box_around(boxes, numbers, d.split + 1, d.last);
    if (memcmp(&left, &d.left, sizeof left) != 0 || memcmp(&right, &d.right, sizeof right) != 0) {
      fail_msg("%u boxes, %s: node %u has other boxes than its leaves", n, what, at);
    }
    for (uint32_t side = 0; side < 2; side++) {
      uint32_t first = side == 0 ? d.first : d.split + 1, last = side == 0 ? d.split : d.last;
      if (first == last) {
        leaves++;
        assert_true(numbers[first] < n);
        seen[numbers[first]]++;
      } else {
        stack[waiting].at = d.split + side;
        stack[waiting].depth = depth + 1;
        stack[waiting].first = first;
        stack[waiting++].last = last;
      }
    }
  }
  for (uint32_t i = 0; i < n && n > 1; i++) assert_int_equal(seen[i], 1); /* one box has no leaf of its own */
  if (n > 1) assert_int_equal(leaves, n);
  free(nodes);
  free(numbers);
  free(seen);
}

/* Boxes swing about their places, some far. */
static void move(float_box *boxes, uint32_t n, uint64_t *random) {
  for (uint32_t i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) {
      float by = (float)random_signed(random) * (i % 7 == 0 ? 100 : 1);
      boxes[i].low[k] = fmaxf(-FLT_MAX, fminf(FLT_MAX, boxes[i].low[k] + by));
      boxes[i].high[k] = fmaxf(boxes[i].low[k], fminf(FLT_MAX, boxes[i].high[k] + by));
    }
  }
}

/* Sizes about those of groups and of the levels that a group makes. */
static void test_nodes(void **state) {
  (void)state;
  need_device();
  static const uint32_t sizes[] = {1, 2, 3, 50, 256, 257, 513, 4097, 9000};
  size_t size_count = test_device_slow() ? 6 : sizeof sizes / sizeof *sizes;
  gpu_lbvh tree = {0};
  gpu_buffer given = {0, 0};
  const uint32_t start = test_device_first();
  for (box_family kind = start; kind < BOXES_FAMILIES; kind += test_device_stride()) {
    for (size_t s = kind == start ? 0 : 5; s < size_count; s += kind == start ? 1 : 2) {
      uint32_t n = sizes[s];
      uint64_t random = test_seed(10 * (uint64_t)kind + s);
      float_box *boxes = make_floats(kind, &random, n);
      put(&given, boxes, n * sizeof *boxes);
      assert_int_equal(gz_gpu_lbvh_build(on.gpu, &tree, &given, n), GRAZE_OK);
      check_nodes(&tree, boxes, n, box_family_name(kind));
      move(boxes, n, &random);
      put(&given, boxes, n * sizeof *boxes);
      assert_int_equal(gz_gpu_lbvh_refit(on.gpu, &tree, &given), GRAZE_OK);
      check_nodes(&tree, boxes, n, "moved");
      free(boxes);
    }
  }
  gz_gpu_release(on.gpu, &given);
  gz_gpu_lbvh_release(on.gpu, &tree);
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

typedef struct pair_list {
  graze_box_pair *pairs;
  uint64_t count;
  uint32_t pieces, largest;
} pair_list;

static graze_status append(void *user, const gpu_buffer *pairs, uint32_t count) {
  pair_list *list = user;
  list->pairs = realloc(list->pairs, (list->count + count) * sizeof *list->pairs);
  assert_non_null(list->pairs);
  graze_status status = gz_gpu_read(on.gpu, list->pairs + list->count, pairs, 0, count * sizeof *list->pairs);
  list->count += count;
  list->pieces++;
  if (count > list->largest) list->largest = count;
  return status;
}

static int pair_order(const void *p, const void *q) {
  const graze_box_pair *x = p, *y = q;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  return (x->b > y->b) - (x->b < y->b);
}

/* All pairs of a question, as they come. */
static pair_list ask(gpu_lbvh *tree, const gpu_lbvh_question *question, uint64_t most) {
  pair_list list = {0};
  gpu_buffer pairs = {0, 0};
  assert_int_equal(gz_gpu_lbvh_each(on.gpu, tree, question, most, &pairs, append, &list), GRAZE_OK);
  gz_gpu_release(on.gpu, &pairs);
  return list;
}

/* What comes: the same again, and with little room; sorted, it is what comparing each with each gives. others NULL:
 * among themselves. */
static void check_question(gpu_lbvh *tree, const gpu_lbvh_question *question, const float_box *boxes, uint32_t n,
                           const float_box *others, uint32_t m, const char *what) {
  pair_list got = ask(tree, question, 1u << 25), again = ask(tree, question, 1u << 25), cut = ask(tree, question, 100);
  assert_true(got.count == again.count && got.count == cut.count);
  if (got.count > 0) assert_memory_equal(got.pairs, again.pairs, got.count * sizeof *got.pairs);
  if (got.count > 0) assert_memory_equal(got.pairs, cut.pairs, got.count * sizeof *got.pairs);
  if (got.count > 100) assert_true(cut.pieces > 1);
  assert_true(cut.largest <= 100 || cut.largest <= n);
  if (got.count > 0) qsort(got.pairs, got.count, sizeof *got.pairs, pair_order);
  uint64_t known = 0;
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t j = others == NULL ? i + 1 : 0; j < m; j++) {
      if (!do_meet(&boxes[i], others != NULL ? &others[j] : &boxes[j])) continue;
      if (known >= got.count || got.pairs[known].a != i || got.pairs[known].b != j) {
        fail_msg("%u and %u boxes, %s: %u meets %u, which is not found", n, m, what, i, j);
      }
      known++;
    }
  }
  assert_true(known == got.count);
  free(got.pairs);
  free(again.pairs);
  free(cut.pairs);
}

static uint32_t *shuffled(uint64_t *random, uint32_t n) {
  uint32_t *order = malloc((n + 1) * sizeof *order);
  assert_non_null(order);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t j = random_below(random, i + 1);
    order[i] = order[j];
    order[j] = i;
  }
  return order;
}

static void check_two_sets(box_family kind, uint32_t n, uint32_t m) {
  uint64_t random = test_seed(1000 * (uint64_t)kind + n + m);
  float_box *boxes = make_floats(kind, &random, n), *others = make_floats(kind, &random, m);
  uint32_t *order = shuffled(&random, m);
  gpu_lbvh tree = {0};
  gpu_buffer given = {0, 0}, asked = {0, 0}, permutation = {0, 0};
  put(&given, boxes, n * sizeof *boxes);
  put(&asked, others, m * sizeof *others);
  put(&permutation, order, m * sizeof *order);
  assert_int_equal(gz_gpu_lbvh_build(on.gpu, &tree, &given, n), GRAZE_OK);
  gpu_lbvh_question own = {0}, plain = {.boxes = &asked, .count = m},
                    curved = {.boxes = &asked, .order = &permutation, .count = m};
  check_question(&tree, &own, boxes, n, NULL, n, box_family_name(kind));
  check_question(&tree, &plain, boxes, n, others, m, box_family_name(kind));
  check_question(&tree, &curved, boxes, n, others, m, box_family_name(kind));
  move(boxes, n, &random);
  put(&given, boxes, n * sizeof *boxes);
  assert_int_equal(gz_gpu_lbvh_refit(on.gpu, &tree, &given), GRAZE_OK);
  check_question(&tree, &own, boxes, n, NULL, n, "moved");
  check_question(&tree, &curved, boxes, n, others, m, "moved");
  gpu_buffer *all[] = {&given, &asked, &permutation};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) gz_gpu_release(on.gpu, all[i]);
  gz_gpu_lbvh_release(on.gpu, &tree);
  free(boxes);
  free(others);
  free(order);
}

static void test_questions(void **state) {
  (void)state;
  need_device();
  static const uint32_t sizes[][2] = {{0, 3}, {3, 0}, {1, 40}, {40, 30}, {1, 1}, {2, 5}, {30, 1}, {60, 90}, {700, 300}};
  size_t size_count = test_device_slow() ? 4 : sizeof sizes / sizeof *sizes;
  const uint32_t start = test_device_first();
  for (box_family kind = start; kind < BOXES_FAMILIES; kind += test_device_stride()) {
    for (size_t s = kind == start ? 0 : 3; s < size_count; s++) {
      if (s + 1 < size_count || kind == start || test_device_large()) check_two_sets(kind, sizes[s][0], sizes[s][1]);
    }
  }
}

/* Keys that are all the same: the tree goes by places, is as deep as a balanced one, and every box is found. */
static void test_equal_boxes(void **state) {
  (void)state;
  need_device();
  uint32_t n = test_device_slow() ? 300 : test_device_large() ? 100000 : 10000;
  float_box *boxes = malloc(n * sizeof *boxes);
  for (uint32_t i = 0; i < n; i++) boxes[i] = (float_box){{1, 2, 3}, {4, 5, 6}};
  gpu_lbvh tree = {0};
  gpu_buffer given = {0, 0}, pairs = {0, 0};
  put(&given, boxes, n * sizeof *boxes);
  assert_int_equal(gz_gpu_lbvh_build(on.gpu, &tree, &given, n), GRAZE_OK);
  check_nodes(&tree, boxes, n, "all equal");
  const gpu_lbvh_question own = {0}, other = {.boxes = &given, .count = 1};
  uint64_t total;
  for (uint32_t i = 0; i < n; i += n / 5) { /* a box meets those behind it */
    assert_int_equal(gz_gpu_lbvh_query(on.gpu, &tree, &own, i, 1, UINT32_MAX, &pairs, &total), GRAZE_OK);
    assert_true(total == n - 1 - i);
  }
  const uint32_t some = 10;
  assert_int_equal(gz_gpu_lbvh_query(on.gpu, &tree, &own, 0, some, 0, &pairs, &total), GRAZE_OK); /* no room: counted */
  assert_true(total == (uint64_t)some * (n - 1) - some * (some - 1) / 2);
  pair_list list = ask(&tree, &other, 10);
  assert_true(list.count == n && list.pieces == 1);
  qsort(list.pairs, list.count, sizeof *list.pairs, pair_order);
  for (uint32_t i = 0; i < n; i++) assert_true(list.pairs[i].a == i && list.pairs[i].b == 0);
  free(list.pairs);
  free(boxes);
  gz_gpu_release(on.gpu, &given);
  gz_gpu_release(on.gpu, &pairs);
  gz_gpu_lbvh_release(on.gpu, &tree);
}

/* ---- all pairs of boxes ------------------------------------------------------------------------------------------ */

static gpu_box_bvh finder;
static gpu_boxes found;

static void check_find(const graze_box_array *boxes, uint32_t n, const char *what) {
  const graze_box_pair *want;
  uint64_t want_count;
  assert_int_equal(graze_broadphase_find(on.plain_phase, boxes, n, false, &want, &want_count), GRAZE_OK);
  for (int unsorted = 0; unsorted < (test_device_slow() ? 1 : 2); unsorted++) {
    assert_int_equal(gz_gpu_box_bvh_find(on.gpu, &finder, &found, boxes, n, unsorted != 0), GRAZE_OK);
    if (found.list.found > 0 && unsorted != 0)
      qsort(found.list.result.data, found.list.found, sizeof *want, pair_order);
    if (found.list.found != want_count ||
        (want_count > 0 && memcmp(found.list.result.data, want, want_count * sizeof *want) != 0)) {
      fail_msg("%u boxes, %s: %llu pairs, not %llu, or others", n, what, (unsigned long long)found.list.found,
               (unsigned long long)want_count);
    }
  }
}

/* Floats with a gap behind every box, then doubles. */
static void check_both(const graze_box *boxes, uint32_t n, const char *what) {
  struct {
    float_box box;
    float gap[3];
  } *rounded = malloc((n + 1) * sizeof *rounded);
  for (uint32_t i = 0; i < n; i++) rounded[i].box = nearest(&boxes[i]);
  check_find(&(graze_box_array){rounded, sizeof *rounded, GRAZE_FLOAT}, n, what);
  free(rounded);
  if (graze_gpu_get_info(on.gpu)->doubles) check_find(&(graze_box_array){boxes, 0, GRAZE_DOUBLE}, n, what);
}

/* ---- doubles to floats ------------------------------------------------------------------------------------------- */

static float bound_below(double x) {
  if (x >= FLT_MAX) return FLT_MAX;
  if (x <= -FLT_MAX) return -FLT_MAX;
  float near = (float)x;
  return (double)near > x ? nextafterf(near, -FLT_MAX) : near;
}

/* Of all exponents; whole floats, one bit beside them, and anything. */
static void test_rounding(void **state) {
  (void)state;
  need_device();
  enum { N = 6000 };
  double *boxes = malloc(6 * N * sizeof *boxes);
  float *floats = malloc(6 * N * sizeof *floats);
  uint32_t n = test_device_most() < N ? test_device_most() : N;
  uint64_t random = test_seed(12);
  for (uint32_t i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) {
      double x = ldexp(1 + random_unit(&random), (int)random_below(&random, 2098) - 1074);
      if (random_below(&random, 2) == 0) x = ldexp(1 + random_unit(&random), (int)random_below(&random, 300) - 155);
      uint32_t choice = random_below(&random, 4);
      if (choice < 3 && x < FLT_MAX) x = (float)x;
      if (choice == 1) x = nextafter(x, 0);
      if (choice == 2) x = nextafter(x, DBL_MAX);
      if (random_below(&random, 50) == 0) x = 0;
      if (random_below(&random, 2) == 0) x = -x;
      double y = random_below(&random, 2) == 0 ? x : nextafter(x, DBL_MAX);
      boxes[6 * i + (uint32_t)k] = x;
      boxes[6 * i + 3 + (uint32_t)k] = y;
    }
  }
  gpu_buffer given = {0, 0}, made = {0, 0};
  put(&given, boxes, 6 * n * sizeof *boxes);
  assert_int_equal(gz_gpu_reserve(on.gpu, &made, 6 * n * sizeof *floats), GRAZE_OK);
  const gpu_argument arguments[] = {GPU_BUFFER(&given), GPU_BUFFER(&made), GPU_VALUE(n)};
  assert_int_equal(gz_gpu_run(on.gpu, "tree", "tree_round", gpu_groups(n, 256), arguments, 3), GRAZE_OK);
  assert_int_equal(gz_gpu_read(on.gpu, floats, &made, 0, 6 * n * sizeof *floats), GRAZE_OK);
  for (uint32_t i = 0; i < 6 * n; i++) {
    float want = i % 6 < 3 ? bound_below(boxes[i]) : -bound_below(-boxes[i]);
    if (floats[i] != want) fail_msg("%a is rounded to %a, not %a", boxes[i], (double)floats[i], (double)want);
  }
  gz_gpu_release(on.gpu, &given);
  gz_gpu_release(on.gpu, &made);
  free(boxes);
  free(floats);
}

/* ---- what is wrong ----------------------------------------------------------------------------------------------- */

static void spoil(graze_box *box, int fault) {
  if (fault == 0) box->max[1] = NAN;
  if (fault == 1) box->min[2] = -(double)INFINITY;
  if (fault == 2) box->max[0] = (double)INFINITY;
  if (fault == 3) box->max[0] = box->min[0] - 1;
  if (fault == 4) box->max[2] = nextafter(box->min[2], -DBL_MAX); /* which floats do not tell */
  if (fault == 5) box->min[0] = -NAN;
}

/* Bad boxes are seen, and leave no tree behind; good ones are found again after them. */
static void test_bad_boxes(void **state) {
  (void)state;
  need_device();
  enum { BAD = 43 };
  const uint32_t n = test_device_slow() ? 60 : 700;
  graze_box boxes[700];
  uint64_t random = 3;
  boxes_make(BOXES_UNIFORM, &random, n, boxes);
  graze_box_array array = {boxes, 0, GRAZE_DOUBLE};
  gpu_lbvh tree = {0};
  gpu_buffer given = {0, 0};
  for (int fault = 0; fault < 6; fault++) {
    graze_box kept = boxes[BAD];
    spoil(&boxes[BAD], fault);
    if (graze_gpu_get_info(on.gpu)->doubles) {
      assert_int_equal(gz_gpu_box_bvh_find(on.gpu, &finder, &found, &array, n, false), GRAZE_ERROR_ARGUMENT);
    }
    float_box *floats = malloc(n * sizeof *floats);
    for (uint32_t i = 0; i < n; i++) {
      for (int k = 0; k < 3; k++) {
        floats[i].low[k] = (float)boxes[i].min[k];
        floats[i].high[k] = (float)boxes[i].max[k];
      }
    }
    if (fault != 4) {
      graze_box_array singles = {floats, 0, GRAZE_FLOAT};
      assert_int_equal(gz_gpu_box_bvh_find(on.gpu, &finder, &found, &singles, n, false), GRAZE_ERROR_ARGUMENT);
      put(&given, floats, n * sizeof *floats);
      assert_int_equal(gz_gpu_lbvh_build(on.gpu, &tree, &given, n), GRAZE_ERROR_ARGUMENT);
      assert_int_equal(tree.count, 0);
    }
    free(floats);
    boxes[BAD] = kept;
  }
  check_both(boxes, n, "after bad ones");
  gz_gpu_release(on.gpu, &given);
  gz_gpu_lbvh_release(on.gpu, &tree);
}

static void test_lost_device(void **state) {
  (void)state;
  need_device();
  const float_box boxes[2] = {{{0, 0, 0}, {1, 1, 1}}, {{1, 1, 1}, {2, 2, 2}}};
  graze_box_array array = {boxes, 0, GRAZE_FLOAT};
  on.gpu->lost = true;
  assert_int_equal(gz_gpu_box_bvh_find(on.gpu, &finder, &found, &array, 2, false), GRAZE_ERROR_DEVICE);
  on.gpu->lost = on.gpu->told_lost = false;
  check_find(&array, 2, "touching");
  gz_gpu_box_bvh_release(on.gpu, &finder);
  gz_gpu_boxes_release(on.gpu, &found);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_nodes),       cmocka_unit_test(test_questions),
                                     cmocka_unit_test(test_equal_boxes), cmocka_unit_test(test_rounding),
                                     cmocka_unit_test(test_bad_boxes),   cmocka_unit_test(test_lost_device)};
  return cmocka_run_group_tests(tests, test_device_open, test_device_close);
}
