/* Solids cut into fragments: faces that fit, signs of every fragment, planes that part each two of them, the surface
 * and the volume of the whole, and what `graze check` would say of them; for many seeds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/orient.h"
#include "families.h"
#include "support.h"

static graze_hull *hull_of(uint64_t count, const double *points) {
  graze_hull *hull = NULL;
  assert_int_equal(graze_hull_create(shared_context(1), count, points, &hull), GRAZE_OK);
  return hull;
}

static void box_corners(const double low[3], const double high[3], double *corners) {
  for (int i = 0; i < 24; i++) corners[i] = i / 3 >> i % 3 & 1 ? high[i % 3] : low[i % 3];
}

static graze_hull *box_hull(const double low[3], const double high[3]) {
  double corners[24];
  box_corners(low, high, corners);
  return hull_of(8, corners);
}

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

/* ---- faces ------------------------------------------------------------------------------------------------------ */

typedef struct face {
  uint32_t sorted[3];
  int turn; /* of the corners, outward, against their order */
  uint32_t fragment;
} face;

static int compare_faces(const void *a, const void *b) {
  return memcmp(((const face *)a)->sorted, ((const face *)b)->sorted, sizeof((const face *)a)->sorted);
}

static face face_of(const graze_fragments *f, uint32_t fragment, uint32_t without) {
  static const uint32_t outward[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  face made = {.turn = 1, .fragment = fragment};
  for (int i = 0; i < 3; i++) made.sorted[i] = f->corners[4 * fragment + outward[without][i]];
  for (int i = 0; i < 3; i++) {
    const int k = i % 2;
    if (made.sorted[k] <= made.sorted[k + 1]) continue;
    const uint32_t t = made.sorted[k];
    made.sorted[k] = made.sorted[k + 1];
    made.sorted[k + 1] = t;
    made.turn = -made.turn;
  }
  return made;
}

/* The largest distance of a corner from the plane of the nearest face of the hull that is near all three. */
static double distance_to_surface(const graze_hull *hull, const graze_fragments *f, const face *triangle) {
  double least = INFINITY;
  for (uint32_t p = 0; p < hull->face_count; p++) {
    const double *n = hull->planes + 4 * (size_t)p;
    double most = 0;
    for (int i = 0; i < 3; i++) {
      const double *x = f->points + 3 * (size_t)triangle->sorted[i];
      most = fmax(most, fabs(n[0] * x[0] + n[1] * x[1] + n[2] * x[2] - n[3]));
    }
    least = fmin(least, most);
  }
  return least;
}

/* Every face is of two fragments, which see it from opposite sides, or lies in the surface. */
static void check_faces(const graze_hull *hull, const graze_fragments *f, double allowed) {
  face *faces = malloc(4 * (size_t)f->count * sizeof *faces);
  for (uint32_t i = 0; i < 4 * f->count; i++) faces[i] = face_of(f, i / 4, i % 4);
  qsort(faces, 4 * (size_t)f->count, sizeof *faces, compare_faces);
  for (uint32_t i = 0; i < 4 * f->count; i++) {
    if (i + 1 < 4 * f->count && compare_faces(&faces[i], &faces[i + 1]) == 0) {
      assert_int_equal(faces[i].turn, -faces[i + 1].turn);
      i++;
      assert_true(i + 1 == 4 * f->count || compare_faces(&faces[i], &faces[i + 1]) != 0);
    } else {
      assert_true(distance_to_surface(hull, f, &faces[i]) <= allowed);
    }
  }
  free(faces);
}

/* ---- insides ---------------------------------------------------------------------------------------------------- */

/* Whether one set of four points lies on or below the plane of three points and the other on or above it. */
static bool plane_parts(const double *const points[8], int p, int q, int r) {
  int low[2] = {0, 0}, high[2] = {0, 0};
  for (int i = 0; i < 8; i++) {
    const int side = gz_orient3d(points[p], points[q], points[r], points[i]);
    low[i / 4] |= side < 0;
    high[i / 4] |= side > 0;
  }
  return (low[0] && !high[0] && high[1] && !low[1]) || (high[0] && !low[0] && low[1] && !high[1]);
}

/* Two polytopes whose insides are apart have a plane between them that goes through three of their corners: turned as
 * far as it goes, it rests on a face, or on an edge and a corner. */
static bool are_apart(const double *const points[8]) {
  for (int p = 0; p < 8; p++) {
    for (int q = p + 1; q < 8; q++) {
      for (int r = q + 1; r < 8; r++) {
        if (plane_parts(points, p, q, r)) return true;
      }
    }
  }
  return false;
}

static void gather(const graze_fragments *f, uint32_t i, uint32_t j, const double *points[8]) {
  for (uint32_t c = 0; c < 4; c++) points[c] = corner(f, i, c), points[4 + c] = corner(f, j, c);
}

static void check_insides(const graze_fragments *f) {
  for (uint32_t i = 0; i < f->count; i++) {
    assert_true(gz_orient3d(corner(f, i, 0), corner(f, i, 1), corner(f, i, 2), corner(f, i, 3)) > 0);
    for (uint32_t j = 0; j < i; j++) {
      const double *points[8];
      gather(f, i, j, points);
      assert_true(are_apart(points));
    }
  }
}

static double volume_of(const graze_fragments *f) {
  long double sum = 0;
  for (uint32_t i = 0; i < f->count; i++) {
    long double u[3][3];
    for (uint32_t c = 0; c < 3; c++) {
      for (int k = 0; k < 3; k++) u[c][k] = (long double)corner(f, i, c + 1)[k] - corner(f, i, 0)[k];
    }
    for (int k = 0; k < 3; k++) {
      const int l = (k + 1) % 3, m = (k + 2) % 3;
      sum += u[2][k] * (u[0][l] * u[1][m] - u[0][m] * u[1][l]);
    }
  }
  return (double)(sum / 6);
}

/* By the divergence theorem, from the hull's triangles, about its first vertex. */
static double volume_of_hull(const graze_hull *hull) {
  long double sum = 0;
  for (uint32_t t = 0; t < hull->triangle_count; t++) {
    long double p[3][3];
    for (uint32_t c = 0; c < 3; c++) {
      for (int k = 0; k < 3; k++)
        p[c][k] = (long double)hull->points[3 * (size_t)hull->triangles[3 * t + c] + (size_t)k] - hull->points[k];
    }
    for (int k = 0; k < 3; k++) {
      const int l = (k + 1) % 3, m = (k + 2) % 3;
      sum += p[2][k] * (p[0][l] * p[1][m] - p[0][m] * p[1][l]);
    }
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
  assert_true(are_apart(points));
  b[1][2] = 0x1p-60;
  assert_false(are_apart(points));
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
