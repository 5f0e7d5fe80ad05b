/* Triangles along a direction, and along normals (src/narrow/along.h): what it tells to be far is so by the oracle of
 * distances, every instruction set tells the same, and nothing stays of nodes that a wide gap parts. Along an axis,
 * gaps of boxes against rational numbers. Looks behind the public headers, so it needs the static library. */
#include <gmp.h>
#include <math.h>

#include "base/cpu.h"
#include "distance_oracle.h"
#include "families.h"
#include "graze/distance.h"
#include "narrow/along.h"
#include "support.h"

typedef struct two_nodes {
  posed_node node[2];
} two_nodes;

static void get_triangle(const posed_node *node, uint32_t place, double corners[9]) {
  for (int k = 0; k < 9; k++) corners[k] = node->corner[k][place];
}

static void put_triangle(two_nodes *n, uint32_t t, const double corners[9]) {
  for (int k = 0; k < 9; k++) n->node[t / 8].corner[k][t % 8] = corners[k];
}

static uint64_t near_every_way(const two_nodes *n, const double direction[3], double most, uint64_t mask) {
  const posed_node *a = &n->node[0], *b = &n->node[1];
  uint64_t near = gz_along_scalar(a, b, direction, most, mask);
#if defined(__x86_64__)
  if (gz_cpu_best() >= CPU_AVX2) assert_true(gz_along_avx2(a, b, direction, most, mask) == near);
  if (gz_cpu_best() >= CPU_AVX512) assert_true(gz_along_avx512(a, b, direction, most, mask) == near);
#endif
  assert_true((near & ~mask) == 0);
  return near;
}

static uint64_t normals_every_way(const two_nodes *n, double most, uint64_t mask) {
  const posed_node *a = &n->node[0], *b = &n->node[1];
  uint64_t near = gz_along_normals_scalar(a, b, most, mask);
#if defined(__x86_64__)
  if (gz_cpu_best() >= CPU_AVX2) assert_true(gz_along_normals_avx2(a, b, most, mask) == near);
  if (gz_cpu_best() >= CPU_AVX512) assert_true(gz_along_normals_avx512(a, b, most, mask) == near);
#endif
  assert_true((near & ~mask) == 0);
  return near;
}

static void random_direction(uint64_t *state, double d[3]) {
  double length2 = 0;
  for (int k = 0; k < 3; k++) d[k] = random_below(state, 4) == 0 ? 0 : random_signed(state);
  for (int k = 0; k < 3; k++) length2 += d[k] * d[k];
  for (int k = 0; k < 3 && length2 > 0; k++) d[k] = d[k] / sqrt(length2) * (1 - 0x1p-50);
}

/* How many pairs are told to be far. */
typedef struct far_count {
  int direction, normals;
} far_count;

/* With the rounded distance of one of the pairs as the limit. */
static void check(const two_nodes *n, const double direction[3], uint64_t *state, far_count *far) {
  double a[9], b[9];
  graze_nearest nearest;
  oracle_distance truth;
  get_triangle(&n->node[0], random_below(state, 8), a);
  get_triangle(&n->node[1], random_below(state, 8), b);
  assert_int_equal(graze_tritri_distance(a, b, &nearest), GRAZE_OK);
  const double most = random_below(state, 2) == 0 ? nearest.distance : nextafter(nearest.distance, 0);
  const uint64_t near = near_every_way(n, direction, most, UINT64_MAX);
  const uint64_t beside = normals_every_way(n, most, UINT64_MAX);
  const uint64_t mask = (uint64_t)random_below(state, UINT32_MAX) << 32 | random_below(state, UINT32_MAX);
  assert_true(normals_every_way(n, most, mask) == (beside & mask));
  oracle_distance_init(&truth);
  for (uint32_t bit = 0; bit < 64; bit++) {
    if (((near & beside) >> bit & 1) != 0) continue;
    get_triangle(&n->node[0], bit & 7, a);
    get_triangle(&n->node[1], bit >> 3, b);
    oracle_distance_find(a, NULL, b, NULL, &truth);
    assert_true(oracle_distance_compare(&truth, most) > 0);
    far->direction += (near >> bit & 1) == 0;
    far->normals += (beside >> bit & 1) == 0;
  }
  oracle_distance_clear(&truth);
}

static void test_families(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1);
  far_count far = {0, 0};
  for (int i = 0; i < test_rounds(100, 10000); i++) {
    two_nodes n;
    for (uint32_t t = 0; t < 8; t++) {
      family_pair pair;
      const uint32_t any = random_below(&state, (uint32_t)family_count);
      families[i % 2 == 0 ? (uint32_t)(i / 2 % family_count) : any].make(&state, &pair);
      put_triangle(&n, t, pair.a);
      put_triangle(&n, 8 + t, pair.b);
    }
    double direction[3];
    random_direction(&state, direction);
    check(&n, direction, &state, &far);
  }
  assert_true(far.direction > 0 && far.normals > 0);
}

/* Corners of a small grid in two layers with a narrow gap, turned and shifted: many pairs are as far apart as the limit
 * but for roundings, and the direction is the one across the gap. */
static void test_layers(void **unused) {
  (void)unused;
  uint64_t state = test_seed(2);
  far_count far = {0, 0};
  for (int i = 0; i < test_rounds(100, 10000); i++) {
    const graze_pose pose = test_random_pose(&state, i % 2 == 0 ? 0 : 1000);
    const double gap = random_unit(&state) * exp2(-(double)random_below(&state, 30));
    const double scale = i % 3 == 0 ? exp2(-(double)random_below(&state, 480)) : 1; /* squares of normals underflow */
    double direction[3];
    two_nodes n;
    for (int k = 0; k < 3; k++) direction[k] = (i % 4 != 0 ? pose.m[4 * k + 2] : k == 2) * (1 - 0x1p-50);
    for (uint32_t t = 0; t < 16; t++) {
      double c[9];
      for (int k = 0; k < 9; k++) c[k] = random_below(&state, 4);
      for (int k = 2; k < 9; k += 3) c[k] = t < 8 ? 0 : gap * (1 + random_below(&state, 2));
      for (int k = 0; k < 9 && i % 4 != 0; k += 3) graze_pose_apply(&pose, c + k, c + k);
      for (int k = 0; k < 9; k++) c[k] *= scale;
      put_triangle(&n, t, c);
    }
    check(&n, direction, &state, &far);
  }
  assert_true(far.direction > 0 && far.normals > 0);
}

static void test_wide_gap(void **unused) {
  (void)unused;
  uint64_t state = test_seed(3);
  two_nodes n;
  for (uint32_t t = 0; t < 16; t++) {
    double c[9];
    for (int k = 0; k < 9; k++) c[k] = random_signed(&state) + (k % 3 == 0 && t >= 8 ? 10 : 0);
    put_triangle(&n, t, c);
  }
  const double ahead[3] = {1, 0, 0}, behind[3] = {-1, 0, 0}, across[3] = {0, 1, 0};
  const uint64_t mask = 0x0123456789abcdef;
  assert_true(near_every_way(&n, ahead, 7.5, UINT64_MAX) == 0);
  assert_true(near_every_way(&n, behind, 7.5, UINT64_MAX) == 0);
  assert_true(near_every_way(&n, across, 7.5, mask) == mask);
  assert_true(near_every_way(&n, ahead, 12.5, mask) == mask);
}

/* What is not finite on the way is never far. */
static void test_overflow(void **unused) {
  (void)unused;
  uint64_t state = test_seed(4);
  two_nodes n;
  for (uint32_t t = 0; t < 16; t++) {
    double c[9];
    for (int k = 0; k < 9; k++) c[k] = 0x1.8p1023 * random_signed(&state);
    put_triangle(&n, t, c);
  }
  const double ahead[3] = {1, 0, 0};
  assert_true(near_every_way(&n, ahead, 1, UINT64_MAX) == UINT64_MAX);
  assert_true(normals_every_way(&n, 1, UINT64_MAX) == UINT64_MAX);
}

/* ---- along an axis ---- */

static uint64_t axis_every_way(const two_nodes *n, const boxes_gap *gap, uint64_t mask) {
  const posed_node *a = &n->node[0], *b = &n->node[1];
  uint64_t nearer = gz_along_axis_scalar(a, b, gap, mask);
#if defined(__x86_64__)
  if (gz_cpu_best() >= CPU_AVX2) assert_true(gz_along_axis_avx2(a, b, gap, mask) == nearer);
  if (gz_cpu_best() >= CPU_AVX512) assert_true(gz_along_axis_avx512(a, b, gap, mask) == nearer);
#endif
  return nearer;
}

/* How far the second triangle's box begins behind the end of the first one's. */
static void find_axis_gap(const double first[9], const double second[9], int axis, mpq_t gap) {
  mpq_t end;
  mpq_init(end);
  mpq_set_d(end, fmax(fmax(first[axis], first[3 + axis]), first[6 + axis]));
  mpq_set_d(gap, fmin(fmin(second[axis], second[3 + axis]), second[6 + axis]));
  mpq_sub(gap, gap, end);
  mpq_clear(end);
}

/* Coordinates of which many differ by less than their differences round to. */
static double crowded(uint64_t *state, double scale) {
  const double steps[] = {0, 0x1p-60, -0x1p-60, 0x1p-54, 1, 1 + 0x1p-52, 1 - 0x1p-53, -3, 1e10};
  return scale * steps[random_below(state, sizeof steps / sizeof *steps)];
}

static void test_axis(void **unused) {
  (void)unused;
  uint64_t state = test_seed(5);
  mpq_t wanted, found;
  mpq_inits(wanted, found, NULL);
  int rests = 0;
  for (int i = 0; i < test_rounds(200, 20000); i++) {
    const double scale = exp2(100 * (double)(random_below(&state, 20)) - 1000);
    two_nodes n;
    double t[2][9];
    for (uint32_t k = 0; k < 16; k++) {
      for (int x = 0; x < 9; x++) t[0][x] = crowded(&state, scale);
      put_triangle(&n, k, t[0]);
    }
    boxes_gap gap = {.axis = (uint8_t)random_below(&state, 3), .turned = random_below(&state, 2) == 1};
    get_triangle(&n.node[0], random_below(&state, 8), t[0]);
    get_triangle(&n.node[1], random_below(&state, 8), t[1]);
    find_axis_gap(t[gap.turned], t[!gap.turned], gap.axis, wanted);
    gap.rounded = fmin(fmin(t[!gap.turned][gap.axis], t[!gap.turned][3 + gap.axis]), t[!gap.turned][6 + gap.axis]) -
                  fmax(fmax(t[gap.turned][gap.axis], t[gap.turned][3 + gap.axis]), t[gap.turned][6 + gap.axis]);
    mpq_set_d(found, gap.rounded);
    mpq_sub(found, wanted, found);
    gap.rest = mpq_get_d(found); /* a double, exactly */
    rests += gap.rest != 0;
    const uint64_t nearer = axis_every_way(&n, &gap, UINT64_MAX), mask = 0x0123456789abcdef;
    assert_true(axis_every_way(&n, &gap, mask) == (nearer & mask));
    for (uint32_t bit = 0; bit < 64; bit++) {
      get_triangle(&n.node[0], bit & 7, t[0]);
      get_triangle(&n.node[1], bit >> 3, t[1]);
      find_axis_gap(t[gap.turned], t[!gap.turned], gap.axis, found);
      assert_true((nearer >> bit & 1) == (mpq_cmp(found, wanted) < 0));
    }
  }
  assert_true(rests > 0);
  mpq_clears(wanted, found, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_families), cmocka_unit_test(test_layers),
                                     cmocka_unit_test(test_wide_gap), cmocka_unit_test(test_overflow),
                                     cmocka_unit_test(test_axis)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
