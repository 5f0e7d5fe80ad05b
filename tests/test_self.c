/* A mesh against itself: classes, lists and hashes against brute force, on soups and meshes full of coincidences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "oracle.h"
#include "support.h"

enum { max_soup = 512 };

static void check_any(graze_query *query, const graze_mesh *mesh, const graze_self_result *want) {
  graze_self_result got;
  graze_collide_options any = graze_default_collide_options();
  any.find = GRAZE_FIND_ANY;
  assert_int_equal(graze_collide_self(query, mesh, &any, &got), GRAZE_OK);
  assert_int_equal(got.self_pairs > 0, want->self_pairs > 0);
  if (want->self_pairs == 0) return;
  assert_non_null(got.pairs);
  for (uint64_t i = 0; i < want->self_pairs; i++) {
    if (want->pairs[i].a == got.pairs[0].a && want->pairs[i].b == got.pairs[0].b) return;
  }
  fail_msg("(%u, %u) is no self pair", got.pairs[0].a, got.pairs[0].b);
}

static void check_boxes(graze_query *query, const graze_mesh *mesh, const double *corners, uint32_t count) {
  uint64_t pairs, hash;
  graze_collide_result got;
  graze_collide_options options = graze_default_collide_options();
  oracle_self_boxes(corners, count, &pairs, &hash);
  assert_int_equal(graze_collide_self_boxes(query, mesh, &options, &got), GRAZE_OK);
  assert_int_equal(got.counts.triangle_pairs, pairs);
  assert_true(got.counts.hash == hash);
  uint64_t listed = 0;
  for (uint64_t i = 0; i < pairs; i++) {
    assert_true(got.pairs[i].a < got.pairs[i].b);
    if (i > 0) {
      assert_true(got.pairs[i - 1].a < got.pairs[i].a ||
                  (got.pairs[i - 1].a == got.pairs[i].a && got.pairs[i - 1].b < got.pairs[i].b));
    }
    listed += oracle_pair_hash(got.pairs[i].a, got.pairs[i].b);
  }
  assert_true(listed == hash);
  options.find = GRAZE_FIND_COUNT;
  assert_int_equal(graze_collide_self_boxes(query, mesh, &options, &got), GRAZE_OK);
  assert_true(got.counts.triangle_pairs == pairs && got.counts.hash == hash && got.pairs == NULL);
}

/* The same triangles with their equal corners merged; -0 and 0 stay apart, which must not matter. */
static graze_mesh *indexed_mesh(graze_context *context, const double *corners, uint32_t count, graze_volumes volumes) {
  double *vertices = malloc((9 * (size_t)count + 1) * sizeof *vertices);
  uint32_t *indices = malloc((3 * (size_t)count + 1) * sizeof *indices), used = 0;
  for (uint32_t i = 0; i < 3 * count; i++) {
    uint32_t v = 0;
    while (v < used && memcmp(vertices + 3 * (size_t)v, corners + 3 * (size_t)i, 3 * sizeof *vertices) != 0) v++;
    if (v == used) memcpy(vertices + 3 * (size_t)used++, corners + 3 * (size_t)i, 3 * sizeof *vertices);
    indices[i] = v;
  }
  graze_mesh *mesh = NULL;
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = vertices;
  def.vertex_count = used;
  def.precision = GRAZE_DOUBLE;
  def.indices = indices;
  def.triangle_count = count;
  def.volumes = volumes;
  assert_int_equal(graze_mesh_create(context, &def, &mesh), GRAZE_OK);
  free(vertices);
  free(indices);
  return mesh;
}

static void check(const double *corners, uint32_t count) {
  graze_self_result want, got;
  oracle_self_pairs(corners, count, &want);
  for (int i = 0; i < 8; i++) {
    graze_context *context = test_context(1 + (i >> 1 & 1), NULL);
    graze_query *query = NULL;
    graze_volumes volumes = (graze_volumes)(i & 1);
    graze_mesh *mesh =
        i < 4 ? test_mesh(context, corners, count, volumes) : indexed_mesh(context, corners, count, volumes);
    graze_collide_options options = graze_default_collide_options();
    assert_int_equal(graze_query_create(context, &query), GRAZE_OK);
    memset(&got, 0xEE, sizeof got);
    assert_int_equal(graze_collide_self(query, mesh, NULL, &got), GRAZE_OK);
    test_assert_self(&got, &want);
    test_assert_pairs(got.pairs, want.pairs, want.self_pairs);
    options.find = GRAZE_FIND_COUNT;
    assert_int_equal(graze_collide_self(query, mesh, &options, &got), GRAZE_OK);
    test_assert_self(&got, &want);
    assert_null(got.pairs);
    check_any(query, mesh, &want);
    if (i & 1) check_boxes(query, mesh, corners, count);
    graze_query_destroy(query);
    graze_mesh_destroy(mesh);
    graze_context_destroy(context);
  }
  free((void *)(uintptr_t)want.pairs);
}

static int runs(int usual) {
  return test_rounds(usual, 30 * usual);
}

static void test_lattice_soups(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1);
  double corners[9 * max_soup];
  for (int i = 0; i < runs(60); i++) {
    uint32_t count = random_below(&state, i % 10 == 0 ? 150 : 40), side = 2 + random_below(&state, 7);
    soup_lattice(&state, count, side, corners);
    for (uint32_t t = 0; t + 1 < count; t += 7) memcpy(corners + 9 * (t + 1), corners + 9 * t, 9 * sizeof *corners);
    for (uint32_t k = 0; k < 9 * count; k++) {
      if (corners[k] == 0 && random_below(&state, 2)) corners[k] = -0.0; /* -0 is the same position as +0 */
    }
    check(corners, count);
  }
}

static void test_scales(void **unused) {
  (void)unused;
  static const int exponents[] = {-1074, -900, -140, -60, 60, 130, 1010};
  uint64_t state = test_seed(2);
  double corners[9 * max_soup];
  for (int e = 0; e < 7; e++) {
    soup_lattice(&state, 40, 5, corners);
    for (int k = 0; k < 9 * 40; k++) corners[k] = ldexp(corners[k] - 2, exponents[e]);
    check(corners, 40);
  }
}

/* Triangles of both sides of every family in one mesh. */
static void test_family_soups(void **unused) {
  (void)unused;
  uint64_t state = test_seed(3);
  double corners[9 * max_soup];
  for (int i = 0; i < runs(50); i++) {
    for (uint32_t t = 0; t < 20; t++) {
      family_pair pair;
      families[i % 2 ? random_below(&state, (uint32_t)family_count) : (uint32_t)(i / 2 % family_count)].make(&state,
                                                                                                             &pair);
      memcpy(corners + 18 * t, pair.a, sizeof pair.a);
      memcpy(corners + 18 * t + 9, pair.b, sizeof pair.b);
    }
    check(corners, 40);
  }
}

/* A clean closed mesh has no self pair; with some corners displaced it has those that brute force finds. */
static void test_balls(void **unused) {
  (void)unused;
  uint64_t state = test_seed(4);
  double ball[9 * max_soup], bent[9 * max_soup];
  uint32_t count = soup_ball(6, 1, ball);
  graze_self_result want;
  oracle_self_pairs(ball, count, &want);
  assert_int_equal(want.self_pairs, 0);
  free((void *)(uintptr_t)want.pairs);
  check(ball, count);
  for (int i = 0; i < runs(8); i++) {
    memcpy(bent, ball, sizeof ball);
    for (int moved = 0; moved < 1 + i; moved++) {
      uint32_t corner = random_below(&state, 3 * count);
      double from[3], to[3];
      for (int k = 0; k < 3; k++) {
        from[k] = bent[3 * corner + (uint32_t)k];
        to[k] = random_signed(&state);
      }
      for (uint32_t c = 0; c < 3 * count; c++) { /* all triangles there move along */
        if (memcmp(bent + 3 * c, from, sizeof from) == 0) memcpy(bent + 3 * c, to, sizeof to);
      }
    }
    check(bent, count);
  }
}

/* Two sheets folded onto each other: overlaps across shared edges, coplanar neighbours, fans around a corner. */
static void test_folded_sheets(void **unused) {
  (void)unused;
  uint64_t state = test_seed(5);
  double corners[9 * max_soup];
  for (int i = 0; i < runs(20); i++) {
    int points[25][3];
    uint32_t count = 0;
    for (int p = 0; p < 25; p++) {
      points[p][0] = p % 5;
      points[p][1] = p / 5;
      points[p][2] = 0;
      if (random_below(&state, 5) == 0) points[p][0] = (int)random_below(&state, 5);
      if (random_below(&state, 8) == 0) points[p][2] = (int)random_below(&state, 2);
    }
    for (int q = 0; q < 16; q++) {
      int at = q / 4 * 5 + q % 4, quad[6] = {at, at + 1, at + 6, at, at + 6, at + 5};
      for (int c = 0; c < 6; c++) {
        for (int k = 0; k < 3; k++) corners[18 * q + 3 * c + k] = points[quad[c]][k];
      }
      count += 2;
    }
    check(corners, count);
  }
}

/* Fans around one corner, rotated with rounding and then shaken by ulps: neighbours that overlap, touch along a ray or
 * just miss, which is where a shortcut for adjacent triangles would err. */
static void test_fans(void **unused) {
  (void)unused;
  enum { count = 14 };
  uint64_t state = test_seed(15);
  double corners[9 * count];
  for (int i = 0; i < runs(150); i++) {
    graze_pose pose = test_random_pose(&state, i % 3 == 0 ? 0 : 50);
    double points[10][3], centre[3] = {0, 0, 0};
    int flat = i % 4 == 0, reach = 1 + (int)random_below(&state, 4);
    for (int p = 0; p < 10; p++) {
      for (uint32_t k = 0; k < 3; k++) points[p][k] = (int)random_below(&state, 2 * (uint32_t)reach + 1) - reach;
      if (flat) points[p][2] = 0;
      graze_pose_apply(&pose, points[p], points[p]);
      double *shaken = &points[p][random_below(&state, 3)];
      if (random_below(&state, 2)) *shaken = nextafter(*shaken, random_signed(&state) * 1e9);
    }
    graze_pose_apply(&pose, centre, centre);
    for (int t = 0; t < count; t++) {
      const double *corner[3] = {centre, points[random_below(&state, 10)], points[random_below(&state, 10)]};
      uint32_t turn = random_below(&state, 3);
      if (t == 13) corner[0] = points[0]; /* one that is not of the fan */
      for (uint32_t c = 0; c < 3; c++) memcpy(corners + 9 * t + 3 * c, corner[(c + turn) % 3], 3 * sizeof *corners);
    }
    check(corners, count);
  }
}

static void test_empty_and_one(void **unused) {
  (void)unused;
  double one[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  check(one, 0);
  check(one, 1);
}

/* Threads and large meshes: equal bytes. */
static void test_threads(void **unused) {
  (void)unused;
  enum { count = 20000 };
  uint64_t state = 6;
  double *corners = malloc(9 * (size_t)count * sizeof *corners);
  soup_cluttered(&state, count, 0.05, corners);
  graze_triangle_pair *first = NULL;
  graze_self_result one = {0};
  for (int threads = 1; threads <= 4; threads++) {
    graze_context *context = test_context(threads, NULL);
    graze_query *query = NULL;
    graze_self_result got;
    graze_mesh *mesh = test_mesh(context, corners, count, GRAZE_VOLUMES_ORIENTED);
    assert_int_equal(graze_query_create(context, &query), GRAZE_OK);
    assert_int_equal(graze_collide_self(query, mesh, NULL, &got), GRAZE_OK);
    size_t bytes = got.self_pairs * sizeof *first;
    if (!first) {
      one = got;
      first = malloc(bytes + 1);
      memcpy(first, got.pairs, bytes);
      assert_true(got.self_pairs > 5000);
    }
    test_assert_self(&got, &one);
    assert_memory_equal(got.pairs, first, bytes);
    graze_query_destroy(query);
    graze_mesh_destroy(mesh);
    graze_context_destroy(context);
  }
  free(first);
  free(corners);
}

static void test_refusals(void **unused) {
  (void)unused;
  graze_context *context = test_context(1, NULL);
  graze_query *query = NULL;
  double one[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  graze_mesh *mesh = test_mesh(context, one, 1, GRAZE_VOLUMES_ORIENTED);
  graze_self_result result;
  graze_collide_result boxes;
  graze_collide_options bad = graze_default_collide_options();
  assert_int_equal(graze_query_create(context, &query), GRAZE_OK);
  assert_int_equal(graze_collide_self(NULL, mesh, NULL, &result), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_collide_self(query, NULL, NULL, &result), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_collide_self(query, mesh, NULL, NULL), GRAZE_ERROR_ARGUMENT);
  bad.cookie = 0;
  assert_int_equal(graze_collide_self(query, mesh, &bad, &result), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_collide_self_boxes(query, mesh, &bad, &boxes), GRAZE_ERROR_ARGUMENT);
  assert_int_not_equal(graze_collide_self_boxes(query, mesh, NULL, &boxes), GRAZE_OK); /* needs aligned volumes */
  assert_int_equal(graze_query_create(NULL, &query), GRAZE_ERROR_ARGUMENT);
  graze_query_destroy(query);
  graze_query_destroy(NULL);
  graze_mesh_destroy(mesh);
  graze_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lattice_soups), cmocka_unit_test(test_scales),        cmocka_unit_test(test_family_soups),
      cmocka_unit_test(test_balls),         cmocka_unit_test(test_folded_sheets), cmocka_unit_test(test_fans),
      cmocka_unit_test(test_empty_and_one), cmocka_unit_test(test_threads),       cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
