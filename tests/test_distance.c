/* Distances of triangle pairs against the proved oracle, on every family of hard pairs and some of its own: as they
 * are, with one triangle moved away, swapped, permuted and scaled; decisions at the distance and beside it. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "distance_oracle.h"
#include "families.h"
#include "graze/distance.h"
#include "support.h"

static oracle_distance want;
static uint64_t zero, positive, kinds[3][3];

static void print_pair(const double a[9], const double b[9]) {
  for (int i = 0; i < 18; i++) print_error("%a ", i < 9 ? a[i] : b[i - 9]);
  print_error("\n");
}

static double largest_of(const double a[9], const double b[9]) {
  double most = 0;
  for (int i = 0; i < 9; i++) most = fmax(most, fmax(fabs(a[i]), fabs(b[i])));
  return most;
}

static double between(const graze_nearest *n) {
  double x = n->points[0][0] - n->points[1][0], y = n->points[0][1] - n->points[1][1];
  double z = n->points[0][2] - n->points[1][2];
  return sqrt(x * x + y * y + z * z);
}

/* The points lie on the triangles and as far from each other as the distance says. */
static void check_points(const double a[9], const double b[9], const graze_nearest *n) {
  double size = largest_of(a, b);
  if (size > 0x1p400 || size < 0x1p-400) return;
  double off = size * 0x1p-46;
  if (!(fabs(between(n) - n->distance) <= off) || !(oracle_point_square(n->points[0], a, NULL) <= off * off) ||
      !(oracle_point_square(n->points[1], b, NULL) <= off * off)) {
    print_pair(a, b);
    fail_msg("points off: %a between, %a the distance", between(n), n->distance);
  }
}

/* `limit` against the oracle. */
static void check_limit(const double a[9], const double b[9], double limit) {
  bool nearer = false;
  if (!isfinite(limit)) return;
  assert_int_equal(graze_tritri_nearer(a, b, limit, &nearer), GRAZE_OK);
  bool truth = limit > 0 && oracle_distance_compare(&want, limit) < 0;
  if (nearer != truth) {
    print_pair(a, b);
    fail_msg("nearer than %a: %d", limit, nearer);
  }
}

static void check(const double a[9], const double b[9]) {
  graze_nearest got, swapped;
  oracle_distance_find(a, NULL, b, NULL, &want);
  assert_int_equal(graze_tritri_distance(a, b, &got), GRAZE_OK);
  assert_int_equal(graze_tritri_distance(b, a, &swapped), GRAZE_OK);
  if (!oracle_distance_rounds_to(&want, got.distance) || swapped.distance != got.distance) {
    print_pair(a, b);
    fail_msg("distance %a, swapped %a", got.distance, swapped.distance);
  }
  check_points(a, b, &got);
  check_limit(a, b, got.distance);
  check_limit(a, b, nextafter(got.distance, 0));
  check_limit(a, b, nextafter(got.distance, (double)INFINITY));
  zero += got.distance == 0;
  positive += got.distance > 0;
  kinds[got.features[0]][got.features[1]]++;
}

/* b, moved by a multiple of a power of two near the size of the pair. */
static void move_away(uint64_t *state, const double a[9], double b[9]) {
  double size = largest_of(a, b), unit = size > 0 && size < 0x1p1020 ? ldexp(1, ilogb(size) - 2) : 0;
  for (int k = 0; k < 3; k++) {
    double shift = unit * ((double)random_below(state, 13) - 6);
    for (int i = k; i < 9; i += 3) b[i] += shift;
  }
}

static void test_families(void **unused) {
  (void)unused;
  for (int f = 0; f < family_count; f++) {
    uint64_t state = test_seed(100 + (uint64_t)f);
    int rounds = test_rounds(160, 20000);
    for (int i = 0; i < rounds; i++) {
      family_pair pair;
      families[f].make(&state, &pair);
      if (i % 3 != 0) move_away(&state, pair.a, pair.b);
      check(pair.a, pair.b);
    }
  }
  print_message("%d at distance 0, %d apart\n", (int)zero, (int)positive);
  assert_true(zero > 30 && positive > 100);
}

/* ---- families of its own ---- */

static double on_lattice(uint64_t *state, int reach) {
  return (double)random_below(state, 2 * (uint32_t)reach + 1) - reach;
}

/* Small integers: parallel edges and faces, feet on rims, many nearest places. */
static void make_lattice(uint64_t *state, double a[9], double b[9]) {
  int reach = 1 + (int)random_below(state, 4);
  for (int i = 0; i < 9; i++) {
    a[i] = on_lattice(state, reach);
    b[i] = on_lattice(state, reach) + (i % 3 == 2) * (double)random_below(state, 4);
  }
}

/* Both in the plane z = 0. */
static void make_flat(uint64_t *state, double a[9], double b[9]) {
  make_lattice(state, a, b);
  for (int i = 2; i < 9; i += 3) a[i] = b[i] = 0;
  for (int i = 0; i < 9; i += 3) b[i] += 5;
}

/* Parallel planes: wherever one lies over the other they are nearest. */
static void make_stacked(uint64_t *state, double a[9], double b[9]) {
  make_lattice(state, a, b);
  for (int i = 2; i < 9; i += 3) {
    a[i] = 0;
    b[i] = 0x1p-20;
  }
}

/* b is a, moved a little: parallel to the last bit in every feature. */
static void make_copy(uint64_t *state, double a[9], double b[9]) {
  double shift[3];
  for (int k = 0; k < 3; k++) shift[k] = ldexp(random_signed(state), -(int)random_below(state, 40));
  for (int i = 0; i < 9; i++) {
    a[i] = random_signed(state);
    b[i] = a[i] + shift[i % 3];
  }
}

/* Long and thin, nearly parallel. */
static void make_slivers(uint64_t *state, double a[9], double b[9]) {
  for (int t = 0; t < 2; t++) {
    double *c = t == 0 ? a : b;
    for (int i = 0; i < 9; i++) c[i] = random_signed(state) * 0x1p-30;
    c[3] += 1;
    c[6] += random_unit(state);
    for (int i = 2; i < 9; i += 3) c[i] += t * 0x1p-10;
  }
}

/* Points and segments. */
static void make_thin(uint64_t *state, double a[9], double b[9]) {
  make_lattice(state, a, b);
  double *thin[2] = {a, b};
  for (int t = 0; t < 2; t++) {
    uint32_t how = random_below(state, 3);
    for (int k = 0; k < 3; k++) {
      if (how > 0) thin[t][6 + k] = thin[t][k];
      if (how > 1) thin[t][3 + k] = thin[t][k];
    }
  }
}

/* An edge over an edge at a height of a few units in the last place of the coordinates. */
static void make_hairline(uint64_t *state, double a[9], double b[9]) {
  for (int i = 0; i < 9; i++) {
    a[i] = random_signed(state);
    b[i] = random_signed(state);
  }
  double s = random_unit(state), t = random_unit(state);
  for (int k = 0; k < 3; k++) {
    double shift = a[k] + s * (a[3 + k] - a[k]) - b[k] - t * (b[3 + k] - b[k]) + random_signed(state) * 0x1p-50;
    for (int i = k; i < 9; i += 3) b[i] += shift;
  }
}

/* The same numbers at another scale, the ends of the range among them. */
static void make_scaled(uint64_t *state, double a[9], double b[9]) {
  static const int powers[] = {-1072, -1000, -530, -300, 300, 500, 900, 1018};
  make_lattice(state, a, b);
  int power = powers[random_below(state, 8)];
  for (int i = 0; i < 9; i++) {
    a[i] = ldexp(a[i], power);
    b[i] = ldexp(b[i], power);
  }
}

/* Huge and tiny in one pair. */
static void make_mixed(uint64_t *state, double a[9], double b[9]) {
  for (int i = 0; i < 9; i++) {
    a[i] = ldexp(random_signed(state), (int)random_below(state, 2040) - 1020);
    b[i] = ldexp(random_signed(state), (int)random_below(state, 2040) - 1020);
  }
}

static void test_own_families(void **unused) {
  (void)unused;
  void (*const makers[])(uint64_t *, double *, double *) = {make_lattice,  make_flat,    make_stacked,
                                                            make_copy,     make_slivers, make_thin,
                                                            make_hairline, make_scaled,  make_mixed};
  memset(kinds, 0, sizeof kinds);
  for (int f = 0; f < 9; f++) {
    uint64_t state = test_seed(200 + (uint64_t)f);
    int rounds = test_rounds(makers[f] == make_mixed ? 150 : 600, makers[f] == make_mixed ? 5000 : 60000);
    for (int i = 0; i < rounds; i++) {
      double a[9], b[9];
      makers[f](&state, a, b);
      check(a, b);
    }
  }
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) assert_true(kinds[i][j] > 10);
  }
  assert_true(kinds[0][2] > 10 && kinds[2][0] > 10);
}

/* Six orders of corners give the same distance, and a power of two scales it without a change of its bits. */
static void test_orders_and_scales(void **unused) {
  (void)unused;
  static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  uint64_t state = test_seed(300);
  for (int i = 0; i < test_rounds(200, 20000); i++) {
    double a[9], b[9], c[9];
    graze_nearest first, next;
    (i % 2 == 0 ? make_copy : make_hairline)(&state, a, b);
    assert_int_equal(graze_tritri_distance(a, b, &first), GRAZE_OK);
    for (int order = 1; order < 6; order++) {
      for (int k = 0; k < 3; k++) memcpy(c + 3 * k, b + 3 * orders[order][k], 3 * sizeof *c);
      assert_int_equal(graze_tritri_distance(a, c, &next), GRAZE_OK);
      assert_true(next.distance == first.distance);
    }
    int power = (int)random_below(&state, 1200) - 600;
    for (int k = 0; k < 9; k++) {
      a[k] = ldexp(a[k], power);
      b[k] = ldexp(b[k], power);
    }
    assert_int_equal(graze_tritri_distance(a, b, &next), GRAZE_OK);
    assert_true(next.distance == ldexp(first.distance, power));
    assert_int_equal(next.features[0], first.features[0]);
    assert_int_equal(next.features[1], first.features[1]);
  }
}

/* ---- tier T2 ---- */

static void check_real(const double a[9], const graze_pose *pose_a, const double b[9], const graze_pose *pose_b) {
  graze_nearest got;
  oracle_distance_find(a, pose_a, b, pose_b, &want);
  assert_int_equal(graze_tritri_distance_real(a, pose_a, b, pose_b, &got), GRAZE_OK);
  if (!oracle_distance_rounds_to(&want, got.distance)) {
    print_pair(a, b);
    fail_msg("distance %a", got.distance);
  }
  double limits[3] = {got.distance, nextafter(got.distance, 0), nextafter(got.distance, (double)INFINITY)};
  for (int k = 0; k < 3; k++) {
    bool nearer;
    if (!isfinite(limits[k])) continue;
    assert_int_equal(graze_tritri_nearer_real(a, pose_a, b, pose_b, limits[k], &nearer), GRAZE_OK);
    assert_true(nearer == (limits[k] > 0 && oracle_distance_compare(&want, limits[k]) < 0));
  }
}

static void test_real_images(void **unused) {
  (void)unused;
  uint64_t state = test_seed(400);
  for (int i = 0; i < test_rounds(1500, 100000); i++) {
    family_pair pair;
    graze_pose pose_a, pose_b;
    families[i % family_count].make(&state, &pair);
    if (i % 2 == 0) move_away(&state, pair.a, pair.b);
    pose_a = test_random_pose(&state, 1000);
    pose_b = i % 3 == 0 ? pose_a : test_random_pose(&state, 1);
    check_real(pair.a, &pose_a, pair.b, &pose_b);
  }
}

/* Any matrix: shears, mirrors, singular ones, the ends of the range. */
static void test_real_matrices(void **unused) {
  (void)unused;
  uint64_t state = test_seed(500);
  for (int i = 0; i < test_rounds(200, 10000); i++) {
    double a[9], b[9];
    graze_pose pose[2];
    int reach = i % 4 == 0 ? 1000 : 20;
    make_lattice(&state, a, b);
    for (int k = 0; k < 24; k++) {
      double *m = &pose[k / 12].m[k % 12];
      *m = ldexp(random_signed(&state), (int)random_below(&state, 2 * (uint32_t)reach + 1) - reach);
      if (random_below(&state, 8) == 0) *m = 0;
    }
    check_real(a, &pose[0], b, &pose[1]);
  }
  double a[9] = {DBL_MAX, 0, 0, 0, DBL_MAX, 0, 0, 0, DBL_MAX},
         tiny[9] = {0x1p-1074, 0, 0, 0, 0x1p-1074, 0, 0, 0, 0x1p-1074};
  graze_pose big = {{DBL_MAX, 0, 0, DBL_MAX, 0, DBL_MAX, 0, -DBL_MAX, 0, 0, DBL_MAX, 0}};
  graze_pose small = {{0x1p-1074, 0, 0, 0, 0, 0x1p-1074, 0, 0x1p-1074, 0, 0, -0x1p-1074, 0}};
  check_real(a, &big, tiny, &small);
  check_real(tiny, &small, tiny, &big);
  check_real(a, &big, a, &small);
}

/* ---- single cases ---- */

static void point(double x, double y, double z, double c[9]) {
  for (int i = 0; i < 9; i += 3) {
    c[i] = x;
    c[i + 1] = y;
    c[i + 2] = z;
  }
}

static double distance_of(const double a[9], const double b[9]) {
  graze_nearest n;
  assert_int_equal(graze_tritri_distance(a, b, &n), GRAZE_OK);
  return n.distance;
}

/* Half-way between two doubles the even one is given. */
static void test_ties(void **unused) {
  (void)unused;
  double a[9], b[9];
  point(-0x1p-53, 0, 0, a);
  point(1, 0, 0, b);
  assert_true(distance_of(a, b) == 1);
  point(1 + 0x1p-52, 0, 0, b);
  assert_true(distance_of(a, b) == 1 + 0x1p-51);
  check(a, b);
  point(-0x1p970, 0, 0, a); /* half a unit beyond the largest double */
  point(DBL_MAX, 0, 0, b);
  assert_true(isinf(distance_of(a, b)));
  point(-0x1.fffffffffffffp969, 0, 0, a);
  assert_true(distance_of(a, b) == DBL_MAX);
  check(a, b);
}

/* Formulas that are taught, and what they get wrong. */
static void test_formulas_refuted(void **unused) {
  (void)unused;
  double a[9], b[9] = {0, 0, 0, 1, 0, 0, 1, 0, 0}, face[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, p[9], q[9];
  /* Two points, with p0.z - p1.y where p0.y - p1.y belongs. */
  point(1, 2, 3, p);
  point(1, 2, 7, q);
  assert_true(distance_of(p, q) == 4);
  assert_true(sqrt((3. - 2.) * (3. - 2.) + (3. - 7.) * (3. - 7.)) != 4);
  /* Point and edge: the lesser of the distances to the line and to the ends is too small beyond an end. */
  point(4, 3, 0, a);
  double line = 3;
  assert_true(distance_of(a, b) == sqrt(18) && line < distance_of(a, b));
  /* Point and face: (p - p0).n is negative behind it, and its foot may be outside. */
  point(0.25, 0.25, -2, a);
  assert_true(distance_of(a, face) == 2);
  point(4, 0, 4, a);
  double height = 4;
  assert_true(distance_of(a, face) == 5 && height < distance_of(a, face));
}

static void test_features(void **unused) {
  (void)unused;
  double face[9] = {0, 0, 0, 4, 0, 0, 0, 4, 0}, over[9] = {1, 1, 2, 2, 1, 5, 1, 2, 5};
  double across[9] = {1, 1, -1, 1, 1.5, 3, 1.5, 1, 3}, beside[9] = {-3, 0, 0, -5, 1, 1, -5, 1, 2};
  graze_nearest n;
  assert_int_equal(graze_tritri_distance(over, face, &n), GRAZE_OK);
  assert_true(n.distance == 2 && n.features[0] == GRAZE_FEATURE_VERTEX && n.features[1] == GRAZE_FEATURE_FACE);
  assert_true(n.points[1][0] == 1 && n.points[1][1] == 1 && n.points[1][2] == 0);
  assert_int_equal(graze_tritri_distance(face, across, &n), GRAZE_OK);
  assert_true(n.distance == 0 && n.features[0] == GRAZE_FEATURE_FACE && n.features[1] == GRAZE_FEATURE_EDGE);
  assert_true(n.points[0][0] == 1 && n.points[0][1] == 1.125 && n.points[0][2] == 0);
  assert_int_equal(graze_tritri_distance(face, beside, &n), GRAZE_OK);
  assert_true(n.distance == 3 && n.features[0] == GRAZE_FEATURE_VERTEX && n.features[1] == GRAZE_FEATURE_VERTEX);
  assert_string_equal(graze_feature_string(GRAZE_FEATURE_VERTEX), "vertex");
  assert_string_equal(graze_feature_string(GRAZE_FEATURE_EDGE), "edge");
  assert_string_equal(graze_feature_string(GRAZE_FEATURE_FACE), "face");
}

static void test_arguments(void **unused) {
  (void)unused;
  graze_nearest n;
  bool nearer;
  graze_pose same = graze_pose_identity();
  for (int i = 0; i < 18; i++) {
    double c[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 5, 5, 5, 6, 5, 5, 5, 6, 5};
    assert_int_equal(graze_tritri_distance_real(c, &same, c + 9, NULL, &n), GRAZE_ERROR_ARGUMENT);
    c[i] = i % 2 == 0 ? NAN : INFINITY;
    assert_int_equal(graze_tritri_distance(c, c + 9, &n), GRAZE_ERROR_NOT_FINITE);
    assert_int_equal(graze_tritri_nearer(c, c + 9, 1, &nearer), GRAZE_ERROR_NOT_FINITE);
    assert_int_equal(graze_tritri_distance_real(c, &same, c + 9, &same, &n), GRAZE_ERROR_NOT_FINITE);
  }
  double zero_[9] = {0};
  assert_int_equal(graze_tritri_distance(NULL, zero_, &n), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_tritri_distance(zero_, zero_, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_tritri_nearer(zero_, zero_, (double)NAN, &nearer), GRAZE_ERROR_NOT_FINITE);
  assert_int_equal(graze_tritri_nearer(zero_, zero_, -1, &nearer), GRAZE_OK);
  assert_false(nearer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_families),          cmocka_unit_test(test_own_families),
      cmocka_unit_test(test_orders_and_scales), cmocka_unit_test(test_real_images),
      cmocka_unit_test(test_real_matrices),     cmocka_unit_test(test_ties),
      cmocka_unit_test(test_formulas_refuted),  cmocka_unit_test(test_features),
      cmocka_unit_test(test_arguments),
  };
  oracle_distance_init(&want);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  oracle_distance_clear(&want);
  return failed;
}
