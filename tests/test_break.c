/* Solids broken into convex pieces: that each is the hull of its corners, planes that part each two of them, triangles
 * that are in common or in the surface, and the volume of the whole; for many seeds. */
#include "families.h"
#include "fitting.h"

static graze_pieces *break_hull(const graze_hull *hull, uint32_t count, uint64_t seed) {
  graze_pieces *made = NULL;
  assert_int_equal(graze_hull_break(shared_context(1), hull, count, seed, &made), GRAZE_OK);
  assert_true(made->count >= count && made->corner_first[0] == 0 && made->triangle_first[0] == 0);
  return made;
}

static const double *point(const graze_pieces *p, uint32_t number) {
  assert_true(number < p->point_count);
  return p->points + 3 * (size_t)number;
}

static const double *triangle_point(const graze_pieces *p, uint32_t t, uint32_t c) {
  return point(p, p->triangles[3 * (size_t)t + c]);
}

static uint32_t gather(const graze_pieces *p, uint32_t i, const double **points) {
  const uint32_t first = p->corner_first[i], count = p->corner_first[i + 1] - first;
  for (uint32_t c = 0; c < count; c++) points[c] = point(p, p->corners[first + c]);
  return count;
}

/* ---- each -------------------------------------------------------------------------------------------------------- */

static double volume_of_piece(const graze_pieces *p, uint32_t i) {
  const uint32_t first = p->triangle_first[i];
  return volume_within(p->points, p->triangles + 3 * (size_t)first, p->triangle_first[i + 1] - first);
}

/* All corners on or behind every triangle, those used by triangles and no others, and the hull of them no larger. */
static void check_piece(const graze_pieces *p, uint32_t i) {
  const double *points[3 * 256];
  double list[9 * 256];
  const uint32_t count = gather(p, i, points), first = p->corner_first[i];
  for (uint32_t c = 0; c < count; c++) {
    bool used = false;
    assert_true(c == 0 || p->corners[first + c] > p->corners[first + c - 1]);
    memcpy(list + 3 * (size_t)c, points[c], 3 * sizeof *list);
    for (uint32_t k = 3 * p->triangle_first[i]; k < 3 * p->triangle_first[i + 1]; k++)
      used = used || p->triangles[k] == p->corners[first + c];
    assert_true(used);
    for (uint32_t t = p->triangle_first[i]; t < p->triangle_first[i + 1]; t++)
      assert_true(gz_orient3d(triangle_point(p, t, 0), triangle_point(p, t, 1), triangle_point(p, t, 2), points[c]) <=
                  0);
  }
  graze_hull *hull = hull_of(count, list);
  const double whole = volume_of_hull(hull);
  assert_true(hull->dimension == 3 && fabs(volume_of_piece(p, i) - whole) <= 1e-12 * fmax(whole, 1e-3));
  graze_hull_destroy(hull);
}

/* ---- each two ---------------------------------------------------------------------------------------------------- */

/* The plane between two pieces is mostly that of a face. */
static bool pieces_are_apart(const graze_pieces *p, uint32_t i, uint32_t j) {
  const double *points[6 * 256], *plane[3];
  uint32_t counts[2] = {gather(p, i, points), 0};
  counts[1] = gather(p, j, points + counts[0]);
  const uint32_t both[2] = {i, j};
  for (int k = 0; k < 2; k++) {
    for (uint32_t t = p->triangle_first[both[k]]; t < p->triangle_first[both[k] + 1]; t++) {
      for (uint32_t c = 0; c < 3; c++) plane[c] = triangle_point(p, t, c);
      if (plane_parts(plane, points, counts)) return true;
    }
  }
  return are_apart(points, counts);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void check(const graze_hull *hull, uint32_t count, uint64_t seed, double allowed) {
  graze_pieces *p = break_hull(hull, count, seed);
  const double whole = volume_of_hull(hull);
  double sum = 0;
  for (uint32_t i = 0; i < p->count; i++) {
    check_piece(p, i);
    sum += volume_of_piece(p, i);
    for (uint32_t j = 0; j < i; j++) assert_true(pieces_are_apart(p, i, j));
  }
  assert_true(fabs(sum - whole) <= 1e-12 * whole);
  check_triangles(hull, p->points, p->triangles, p->triangle_first[p->count], allowed);
  graze_pieces_destroy(p);
}

static void test_boxes(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1);
  for (int round = 0; round < test_rounds(40, 2000); round++) {
    double low[3], high[3];
    for (int k = 0; k < 3; k++) {
      low[k] = random_unit(&state) - 0.5;
      high[k] = low[k] + 0.05 + random_unit(&state);
    }
    graze_hull *hull = box_hull(low, high);
    check(hull, 1 + (uint32_t)random_below(&state, 30), random_next(&state), 0);
    graze_hull_destroy(hull);
  }
}

static void test_hulls(void **unused) {
  (void)unused;
  uint64_t state = test_seed(2);
  for (int round = 0; round < test_rounds(40, 2000); round++) {
    double points[90];
    for (int i = 0; i < 90; i++) points[i] = random_unit(&state);
    graze_hull *hull = hull_of(4 + random_below(&state, 27), points);
    check(hull, 1 + (uint32_t)random_below(&state, 30), random_next(&state), 4e-15);
    graze_hull_destroy(hull);
  }
}

/* A box with few bits: corners are exact, and pieces are larger than what they are made of. */
static void test_sizes(void **unused) {
  (void)unused;
  const double low[3] = {-2, -0.25, 0}, high[3] = {2, 0.25, 2.5};
  graze_hull *hull = box_hull(low, high);
  for (uint64_t seed = 1; seed <= (uint64_t)test_rounds(5, 100); seed++) {
    graze_pieces *p = break_hull(hull, 100, seed), *again = break_hull(hull, 100, seed);
    double round = 0, sum = 0;
    assert_true(p->count <= 110);
    for (uint32_t i = 0; i < p->count; i++) {
      const double volume = volume_of_piece(p, i);
      assert_true(volume <= 4.0 * 5 / 100 * (1 + 1e-12));
      sum += volume;
      round += p->corner_first[i + 1] - p->corner_first[i] > 4;
    }
    assert_true(fabs(sum - 5) < 1e-13 && round > 0.75 * p->count);
    assert_true(again->count == p->count);
    assert_memory_equal(p->corners, again->corners, p->corner_first[p->count] * sizeof(uint32_t));
    assert_memory_equal(p->points, again->points, 3 * p->point_count * sizeof(double));
    graze_pieces_destroy(p);
    graze_pieces_destroy(again);
  }
  graze_pieces *one = break_hull(hull, 1, 1), *other = break_hull(hull, 100, 9), *first = break_hull(hull, 100, 8);
  assert_memory_not_equal(other->points + 24, first->points + 24, 3 * sizeof(double));
  assert_true(one->count == 1 && one->corner_first[1] == 8);
  graze_pieces_destroy(one);
  graze_pieces_destroy(other);
  graze_pieces_destroy(first);
  graze_hull_destroy(hull);
}

static void refuse(const graze_hull *hull, uint32_t count, graze_status status, const char *words) {
  graze_pieces *p = NULL;
  assert_int_equal(graze_hull_break(shared_context(1), hull, count, 1, &p), status);
  assert_null(p);
  assert_non_null(strstr(shared_error()->message, words));
}

static void test_errors(void **unused) {
  (void)unused;
  const double square[12] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}, low[3] = {0, 0, 0}, high[3] = {1, 1, 0x1p-1074};
  graze_hull *flat = hull_of(4, square), *thin = box_hull(low, high);
  graze_pieces *p = NULL;
  refuse(flat, 10, GRAZE_ERROR_ARGUMENT, "not flat");
  refuse(thin, 0, GRAZE_ERROR_ARGUMENT, "a fragment at least");
  refuse(thin, 21846, GRAZE_ERROR_LIMIT, "65536");
  refuse(thin, UINT32_MAX, GRAZE_ERROR_LIMIT, "65536");
  refuse(thin, 10000, GRAZE_ERROR_LIMIT, "too thin");
  assert_int_equal(graze_hull_break(NULL, thin, 1, 1, &p), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_hull_break(shared_context(1), NULL, 1, 1, &p), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_hull_break(shared_context(1), thin, 1, 1, NULL), GRAZE_ERROR_ARGUMENT);
  graze_pieces_destroy(NULL);
  graze_hull_destroy(flat);
  graze_hull_destroy(thin);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_boxes), cmocka_unit_test(test_hulls),
                                     cmocka_unit_test(test_sizes), cmocka_unit_test(test_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
