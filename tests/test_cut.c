/* Solids cut into fragments: faces that fit, signs of every fragment, planes that part each two of them, the surface
 * and the volume of the whole, and what `graze check` would say of them; for many seeds. */
#include "families.h"
#include "fitting.h"

static graze_hull *cloud_hull(uint64_t *state, uint32_t count) {
  double points[90];
  for (uint32_t i = 0; i < 3 * count; i++) points[i] = random_unit(state);
  return hull_of(count, points);
}

static graze_fragments *cut(const graze_hull *hull, uint32_t count, uint64_t seed) {
  graze_fragments *f = NULL;
  assert_int_equal(graze_hull_cut(shared_context(1), hull, count, seed, &f), GRAZE_OK);
  assert_true(f->count >= count);
  assert_memory_equal(f->points, hull->points, 3 * hull->vertex_count * sizeof(double));
  return f;
}

static const double *corner(const graze_fragments *f, uint32_t i, uint32_t c) {
  return f->points + 3 * (size_t)f->corners[4 * i + c];
}

/* ---- what they have to be ---------------------------------------------------------------------------------------- */

/* Every face is of two fragments, or lies in the surface. */
static void check_faces(const graze_hull *hull, const graze_fragments *f, double allowed) {
  static const uint32_t outward[12] = {1, 2, 3, 0, 3, 2, 0, 1, 3, 0, 2, 1};
  uint32_t *triangles = malloc(12 * (size_t)f->count * sizeof *triangles);
  assert_non_null(triangles);
  for (uint32_t i = 0; i < 12 * f->count; i++) triangles[i] = f->corners[4 * (i / 12) + outward[i % 12]];
  check_triangles(hull, f->points, triangles, 4 * f->count, allowed);
  free(triangles);
}

static const uint32_t four_each[2] = {4, 4};

static void gather(const graze_fragments *f, uint32_t i, uint32_t j, const double *points[8]) {
  for (uint32_t c = 0; c < 4; c++) points[c] = corner(f, i, c), points[4 + c] = corner(f, j, c);
}

static void check_insides(const graze_fragments *f) {
  for (uint32_t i = 0; i < f->count; i++) {
    assert_true(gz_orient3d(corner(f, i, 0), corner(f, i, 1), corner(f, i, 2), corner(f, i, 3)) > 0);
    for (uint32_t j = 0; j < i; j++) {
      const double *points[8];
      gather(f, i, j, points);
      assert_true(are_apart(points, four_each));
    }
  }
}

static double volume_of(const graze_fragments *f) {
  long double sum = 0;
  for (uint32_t i = 0; i < f->count; i++) {
    const double *const others[3] = {corner(f, i, 1), corner(f, i, 2), corner(f, i, 3)};
    sum += volume_behind(corner(f, i, 0), others);
  }
  return (double)(sum / 6);
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

static void check_cut(const graze_hull *hull, uint32_t count, uint64_t seed, double allowed) {
  graze_fragments *f = cut(hull, count, seed);
  check_faces(hull, f, allowed);
  check_insides(f);
  const double whole = volume_of_hull(hull);
  assert_true(fabs(volume_of(f) - whole) <= 1e-13 * whole);
  graze_fragments_destroy(f);
}

/* Boxes whose edges are no round numbers: the surface is that of the box to the last bit. */
static void test_boxes(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1);
  for (int round = 0; round < test_rounds(60, 3000); round++) {
    double low[3], high[3];
    for (int k = 0; k < 3; k++) {
      low[k] = random_unit(&state) - 0.5;
      high[k] = low[k] + 0.05 + random_unit(&state);
    }
    graze_hull *hull = box_hull(low, high);
    check_cut(hull, 1 + (uint32_t)random_below(&state, 60), random_next(&state), 0);
    graze_hull_destroy(hull);
  }
}

static void test_hulls(void **unused) {
  (void)unused;
  uint64_t state = test_seed(2);
  for (int round = 0; round < test_rounds(60, 3000); round++) {
    graze_hull *hull = cloud_hull(&state, 4 + (uint32_t)random_below(&state, 27));
    check_cut(hull, 1 + (uint32_t)random_below(&state, 60), random_next(&state), 4e-15);
    graze_hull_destroy(hull);
  }
}

/* The lattice on which corners are rounded is as coarse as the fragments: signs alone keep them apart. */
static void test_far_from_the_origin(void **unused) {
  (void)unused;
  const double far = 0x1p46, low[3] = {far, far, far}, high[3] = {far + 1, far + 1, far + 1};
  graze_hull *hull = box_hull(low, high);
  for (uint64_t seed = 0; seed < (uint64_t)test_rounds(10, 300); seed++) check_cut(hull, 40, seed, 0);
  graze_hull_destroy(hull);
}

/* The check of two meshes says that fragments with a corner in common touch, and that the others are separate. */
static void test_relations(void **unused) {
  (void)unused;
  graze_context *context = shared_context(1);
  graze_query *query = NULL;
  assert_int_equal(graze_query_create(context, &query), GRAZE_OK);
  uint64_t state = test_seed(3);
  graze_hull *hull = cloud_hull(&state, 12);
  graze_fragments *f = cut(hull, 30, random_next(&state));
  graze_mesh *meshes[200];
  assert_true(f->count <= 200);
  for (uint32_t i = 0; i < f->count; i++) {
    static const uint32_t outward[12] = {1, 2, 3, 0, 3, 2, 0, 1, 3, 0, 2, 1};
    double soup[36];
    for (int c = 0; c < 12; c++) memcpy(soup + 3 * c, corner(f, i, outward[c]), 3 * sizeof(double));
    meshes[i] = test_mesh(context, soup, 4, GRAZE_VOLUMES_ALIGNED);
    for (uint32_t j = 0; j < i; j++) {
      graze_relate_result result;
      assert_int_equal(graze_relate_meshes(query, meshes[j], NULL, meshes[i], NULL, NULL, &result), GRAZE_OK);
      uint32_t common = 0;
      for (int c = 0; c < 16; c++) common += f->corners[4 * i + c / 4] == f->corners[4 * j + c % 4];
      assert_int_equal(result.verdict.relation, common > 0 ? GRAZE_TOUCH : GRAZE_SEPARATE);
    }
  }
  for (uint32_t i = 0; i < f->count; i++) graze_mesh_destroy(meshes[i]);
  graze_fragments_destroy(f);
  graze_hull_destroy(hull);
  graze_query_destroy(query);
}

/* One rounding into the neighbour, and the plane is gone: the test above notices what it is for. */
static void test_one_bit_matters(void **unused) {
  (void)unused;
  const double a[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.25, 0.25, 1}};
  double b[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.25, 0.25, -1}};
  const double *points[8];
  for (int i = 0; i < 4; i++) points[i] = a[i], points[4 + i] = b[i];
  assert_true(are_apart(points, four_each));
  b[1][2] = 0x1p-60;
  assert_false(are_apart(points, four_each));
}

static void test_seeds(void **unused) {
  (void)unused;
  const double low[3] = {0, 0, 0}, high[3] = {3, 2, 1};
  graze_hull *hull = box_hull(low, high);
  graze_fragments *f = cut(hull, 1000, 7), *again = cut(hull, 1000, 7), *other = cut(hull, 1000, 8);
  assert_true(f->count == again->count && f->point_count == again->point_count);
  assert_memory_equal(f->points, again->points, 3 * f->point_count * sizeof(double));
  assert_memory_equal(f->corners, again->corners, 4 * f->count * sizeof(uint32_t));
  assert_memory_not_equal(f->points, other->points, 3 * (size_t)9 * sizeof(double));
  check_faces(hull, f, 0);
  assert_true(fabs(volume_of(f) - 6) <= 1e-13);
  graze_fragments_destroy(f);
  graze_fragments_destroy(again);
  graze_fragments_destroy(other);
  graze_hull_destroy(hull);
}

static void refuse(const graze_hull *hull, uint32_t count, graze_status status, const char *words) {
  graze_fragments *f = NULL;
  assert_int_equal(graze_hull_cut(shared_context(1), hull, count, 1, &f), status);
  assert_null(f);
  assert_non_null(strstr(shared_error()->message, words));
}

static void test_errors(void **unused) {
  (void)unused;
  const double square[12] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}, low[3] = {0, 0, 0}, high[3] = {1, 1, 0x1p-1074};
  graze_hull *flat = hull_of(4, square), *thin = box_hull(low, high);
  graze_fragments *f = NULL;
  refuse(flat, 10, GRAZE_ERROR_ARGUMENT, "not flat");
  refuse(thin, 0, GRAZE_ERROR_ARGUMENT, "a fragment at least");
  refuse(thin, (1 << 16) + 1, GRAZE_ERROR_LIMIT, "65536");
  refuse(thin, 10000, GRAZE_ERROR_LIMIT, "too thin");
  assert_int_equal(graze_hull_cut(NULL, thin, 1, 1, &f), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_hull_cut(shared_context(1), NULL, 1, 1, &f), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_hull_cut(shared_context(1), thin, 1, 1, NULL), GRAZE_ERROR_ARGUMENT);
  graze_fragments_destroy(NULL);
  graze_hull_destroy(flat);
  graze_hull_destroy(thin);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_boxes),           cmocka_unit_test(test_hulls),
                                     cmocka_unit_test(test_relations),       cmocka_unit_test(test_far_from_the_origin),
                                     cmocka_unit_test(test_one_bit_matters), cmocka_unit_test(test_seeds),
                                     cmocka_unit_test(test_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
