/* The planes between triangles (src/narrow/apart.h): what they part has no common point, every instruction set parts
 * the same pairs, and slivers of one plane are parted, on it or off it by roundings. Looks behind the public headers,
 * so it needs the static library. */
#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "families.h"
#include "narrow/apart.h"
#include "oracle.h"
#include "support.h"

typedef struct two_nodes {
  posed_node a, b;
} two_nodes;

static void put_triangle(posed_node *node, uint32_t place, const double corners[9]) {
  for (int k = 0; k < 9; k++) node->corner[k][place] = corners[k];
}

static void get_triangle(const posed_node *node, uint32_t place, double corners[9]) {
  for (int k = 0; k < 9; k++) corners[k] = node->corner[k][place];
}

static uint64_t open_every_way(const two_nodes *n, double off, uint64_t mask) {
  uint64_t open = gz_apart_scalar(&n->a, &n->b, off, mask);
#if defined(__x86_64__)
  if (gz_cpu_best() >= CPU_AVX2) assert_true(gz_apart_avx2(&n->a, &n->b, off, mask) == open);
  if (gz_cpu_best() >= CPU_AVX512) assert_true(gz_apart_avx512(&n->a, &n->b, off, mask) == open);
#endif
  assert_true((open & ~mask) == 0);
  return open;
}

/* How many of the pairs that have no common point are not parted. */
static uint32_t check(const two_nodes *n, uint32_t *disjoint) {
  const uint64_t open = open_every_way(n, 0, UINT64_MAX);
  uint32_t left = 0;
  for (uint32_t bit = 0; bit < 64; bit++) {
    double a[9], b[9];
    graze_tritri truth;
    get_triangle(&n->a, bit & 7, a);
    get_triangle(&n->b, bit >> 3, b);
    oracle_tritri(a, b, &truth);
    if ((open >> bit & 1) == 0) assert_int_equal(truth.kind, GRAZE_KIND_NONE);
    *disjoint += truth.kind == GRAZE_KIND_NONE;
    left += truth.kind == GRAZE_KIND_NONE && (open >> bit & 1) != 0;
  }
  return left;
}

static int runs(int usual) {
  return test_rounds(usual, 100 * usual);
}

static void test_masks(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1);
  for (int i = 0; i < runs(100); i++) {
    two_nodes n;
    for (uint32_t t = 0; t < 16; t++) {
      for (int k = 0; k < 9; k++) (t < 8 ? &n.a : &n.b)->corner[k][t & 7] = random_signed(&state);
    }
    const uint64_t all = open_every_way(&n, 0, UINT64_MAX);
    const uint64_t mask = (uint64_t)random_below(&state, UINT32_MAX) << 32 | random_below(&state, UINT32_MAX);
    assert_true(open_every_way(&n, 0, mask) == (all & mask));
  }
}

/* Of one family, which may be large or small beyond what is told apart, or of any. */
static void test_families(void **unused) {
  (void)unused;
  uint64_t state = test_seed(2);
  uint32_t disjoint = 0, left = 0;
  for (int i = 0; i < runs(60); i++) {
    two_nodes n;
    for (uint32_t t = 0; t < 8; t++) {
      family_pair pair;
      const uint32_t any = random_below(&state, (uint32_t)family_count);
      families[i % 2 == 0 ? (uint32_t)(i / 2 % family_count) : any].make(&state, &pair);
      put_triangle(&n.a, t, pair.a);
      put_triangle(&n.b, t, pair.b);
    }
    left += check(&n, &disjoint);
  }
  assert_true(disjoint > left);
}

/* Corners of a small grid, turned, shifted and rounded: pairs that touch, share corners or edges, lie in one plane or
 * off it by ulps. */
static void test_grids(void **unused) {
  (void)unused;
  uint64_t state = test_seed(3);
  uint32_t disjoint = 0;
  for (int i = 0; i < runs(150); i++) {
    const graze_pose pose = test_random_pose(&state, i % 2 == 0 ? 0 : 1000);
    two_nodes n;
    for (uint32_t t = 0; t < 16; t++) {
      double c[9];
      for (int k = 0; k < 9; k++) c[k] = k % 3 == 2 && i % 3 != 0 ? 0 : random_below(&state, 4);
      for (int k = 0; k < 9 && i % 4 != 0; k += 3) graze_pose_apply(&pose, c + k, c + k);
      put_triangle(t < 8 ? &n.a : &n.b, t & 7, c);
    }
    check(&n, &disjoint);
  }
  assert_true(disjoint > 0);
}

/* Slivers side by side around a narrow bore, in one plane and turned out of it: all that are apart are parted. */
static void test_slivers(void **unused) {
  (void)unused;
  uint64_t state = test_seed(4);
  uint32_t disjoint = 0, left = 0;
  for (int i = 0; i < runs(20); i++) {
    const graze_pose pose = test_random_pose(&state, i % 2 == 0 ? 0 : 1);
    const uint32_t around = 200 + random_below(&state, 500), first = random_below(&state, around);
    const uint32_t second = first + 9 + random_below(&state, around - 18);
    two_nodes n;
    for (uint32_t t = 0; t < 16; t++) {
      const double turn = 6.283185307179586 / around, at = turn * ((t < 8 ? first : second) + (t & 7));
      const double bore = 2.0 / around;
      double c[9] = {cos(at), sin(at), 0, cos(at + turn), sin(at + turn), 0, bore * cos(at), bore * sin(at), 0};
      for (int k = 0; k < 9 && i % 5 != 0; k += 3) graze_pose_apply(&pose, c + k, c + k);
      for (int k = 0; k < 9 && i % 4 < 2; k++) c[k] = (double)(float)c[k];
      put_triangle(t < 8 ? &n.a : &n.b, t & 7, c);
    }
    left += check(&n, &disjoint);
  }
  assert_true(disjoint > 0 && left == 0);
}

static void move_corners(uint64_t *state, double most, posed_node *node) {
  for (int k = 0; k < 9; k++) {
    for (int t = 0; t < 8; t++) node->corner[k][t] += (random_below(state, 2) ? most : -most) * random_unit(state);
  }
}

/* What is parted though differences may be off is so wherever corners move by half as much. */
static void test_moved_corners(void **unused) {
  (void)unused;
  uint64_t state = test_seed(5);
  uint32_t parted = 0, lost = 0;
  for (int i = 0; i < runs(40); i++) {
    const double off = i % 4 == 0 ? 0.3 : ldexp(1, -(int)random_below(&state, 16));
    two_nodes n;
    for (uint32_t t = 0; t < 16; t++) {
      double c[9];
      for (int k = 0; k < 9; k++) c[k] = k % 3 == 2 && i % 2 != 0 ? 0 : random_below(&state, 5);
      put_triangle(t < 8 ? &n.a : &n.b, t & 7, c);
    }
    const uint64_t sure = open_every_way(&n, 0, UINT64_MAX), open = open_every_way(&n, off, UINT64_MAX);
    assert_true((sure & ~open) == 0);
    lost += (uint32_t)__builtin_popcountll(open & ~sure);
    move_corners(&state, off / 2, &n.a);
    move_corners(&state, off / 2, &n.b);
    for (uint32_t bit = 0; bit < 64; bit++) {
      double a[9], b[9];
      graze_tritri truth;
      if ((open >> bit & 1) != 0) continue;
      get_triangle(&n.a, bit & 7, a);
      get_triangle(&n.b, bit >> 3, b);
      oracle_tritri(a, b, &truth);
      assert_int_equal(truth.kind, GRAZE_KIND_NONE);
      parted++;
    }
  }
  assert_true(parted > 0 && lost > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_masks), cmocka_unit_test(test_families),
                                     cmocka_unit_test(test_grids), cmocka_unit_test(test_slivers),
                                     cmocka_unit_test(test_moved_corners)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
