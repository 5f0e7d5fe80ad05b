/* Ways out of crossings: what is found must be touch or separate when it is decided again, and short where the shortest
 * is known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "support.h"

typedef struct bench {
  graze_context *context;
  graze_query *query;
  uint64_t state;
} bench;

static bench bench_open(uint64_t number) {
  bench b = {.context = shared_context(1), .state = test_seed(number)};
  assert_int_equal(graze_query_create(b.context, &b.query), GRAZE_OK);
  return b;
}

static void put_box(double *corners, uint32_t *count, double x, double y, double z, double u, double v, double w) {
  soup_box((const double[3]){x, y, z}, (const double[3]){u, v, w}, corners + 9 * (size_t)*count);
  *count += 12;
}

static graze_mesh *box(const bench *b, double x, double y, double z, double u, double v, double w) {
  double corners[9 * 12];
  uint32_t count = 0;
  put_box(corners, &count, x, y, z, u, v, w);
  return test_mesh(b->context, corners, count, GRAZE_VOLUMES_ORIENTED);
}

/* The way out, decided again by a query of its own. */
static graze_escape find(bench *b, const graze_mesh *m, const graze_pose *p, const graze_mesh *n, const graze_pose *q,
                         graze_exactness exactness, double most) {
  graze_relate_options options = graze_default_relate_options();
  graze_escape found;
  options.exactness = exactness;
  assert_int_equal(graze_find_escape(b->query, m, p, n, q, &options, most, &found), GRAZE_OK);
  if (!found.found) return found;
  graze_pose moved = q != NULL ? *q : graze_pose_identity();
  graze_relate_result again;
  graze_query *query;
  double square = 0;
  for (int k = 0; k < 3; k++) {
    moved.m[4 * k + 3] += found.translation[k];
    square += found.translation[k] * found.translation[k];
  }
  assert_true(found.length <= most && found.length >= sqrt(square) && found.length <= sqrt(square) * (1 + 1e-12));
  if (exactness == GRAZE_T0) options.exactness = GRAZE_T1;
  assert_int_equal(graze_query_create(b->context, &query), GRAZE_OK);
  assert_int_equal(graze_relate_meshes(query, m, p, n, &moved, &options, &again), GRAZE_OK);
  assert_int_equal(again.verdict.relation, found.relation);
  assert_true(found.relation == GRAZE_TOUCH || found.relation == GRAZE_SEPARATE);
  graze_query_destroy(query);
  return found;
}

/* The least overlap of two boxes along an axis is their depth. */
static void test_boxes(void **unused) {
  (void)unused;
  bench b = bench_open(90);
  for (int i = test_rounds(200, 20000); i > 0; i--) {
    double low[3], high[3], least = INFINITY, scale = ldexp(1, -(int)random_below(&b.state, 30));
    for (int k = 0; k < 3; k++) { /* b crosses a at one of its faces, edges or corners */
      bool across = random_below(&b.state, 3) == 0;
      low[k] = across ? -1 - random_unit(&b.state) : 1 - scale * (0.01 + 0.9 * random_unit(&b.state));
      high[k] = 2 + random_unit(&b.state);
      least = fmin(least, fmin(1 - low[k], high[k] - 0));
    }
    graze_mesh *m = box(&b, 0, 0, 0, 1, 1, 1), *n = box(&b, low[0], low[1], low[2], high[0], high[1], high[2]);
    graze_pose turned = test_random_pose(&b.state, 3);
    const graze_pose *pose = i % 2 == 0 ? &turned : NULL;
    graze_exactness tier = pose == NULL || i % 4 == 0 ? GRAZE_T1 : GRAZE_T2;
    graze_relate_result now;
    assert_int_equal(graze_relate_meshes(b.query, m, pose, n, pose, NULL, &now), GRAZE_OK);
    graze_escape found = find(&b, m, pose, n, pose, tier, INFINITY);
    if (now.verdict.relation == GRAZE_CROSS) {
      assert_true(found.found);
      if (found.length > least * (1 + 1e-9) + 1e-12) fail_msg("%g, not %g", found.length, least);
      assert_false(find(&b, m, pose, n, pose, tier, 0.9 * least).found && least > 1e-9);
    }
    graze_mesh_destroy(m);
    graze_mesh_destroy(n);
  }
  graze_query_destroy(b.query);
}

/* A block that stands a little in the floor and a little in the wall needs a step along each. */
static void test_two_steps(void **unused) {
  (void)unused;
  bench b = bench_open(91);
  double corners[9 * 24];
  uint32_t count = 0;
  put_box(corners, &count, -10, -10, -1, 10, 10, 0);
  put_box(corners, &count, -2, -10, 0, -1, 10, 10);
  graze_mesh *room = test_mesh(b.context, corners, count, GRAZE_VOLUMES_ORIENTED);
  for (double by = 1e-3; by > 1e-10; by /= 10) {
    graze_mesh *block = box(&b, -1 - by, 0, -by, 1, 1, 1);
    graze_escape found = find(&b, room, NULL, block, NULL, GRAZE_T1, INFINITY);
    assert_true(found.found && found.length < 1.4143 * by + 1e-12);
    assert_false(find(&b, room, NULL, block, NULL, GRAZE_T1, 1.2 * by).found);
    graze_mesh_destroy(block);
  }
  graze_mesh_destroy(room);
  graze_query_destroy(b.query);
}

/* Two equal corners of a cube, one moved into the other: the way out is across the slanted face, although three faces
 * have less on their other side. */
static void test_slanted(void **unused) {
  (void)unused;
  bench b = bench_open(94);
  static const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  static const double c[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  double corners[36];
  for (int k = 0; k < 12; k++) memcpy(corners + 3 * k, c[faces[k / 3][k % 3]], 3 * sizeof(double));
  graze_mesh *m = test_mesh(b.context, corners, 4, GRAZE_VOLUMES_ORIENTED);
  for (double by = 0.05; by < 0.33; by += 0.05) {
    graze_pose pose = graze_pose_identity();
    for (int k = 0; k < 3; k++) pose.m[4 * k + 3] = by;
    graze_escape found = find(&b, m, NULL, m, &pose, GRAZE_T1, INFINITY);
    assert_true(found.found);
    if (found.length > (1 - 3 * by) / sqrt(3) + 1e-12) fail_msg("%g of %g", found.length, (1 - 3 * by) / sqrt(3));
  }
  graze_mesh_destroy(m);
  graze_query_destroy(b.query);
}

/* A box that was written in axes turned by the angle, and the pose that turns it back. */
static graze_mesh *turned_box(const bench *b, const double low[3], const double high[3], double angle,
                              const graze_pose *pose, graze_pose *own) {
  double corners[9 * 12];
  const double c = cos(angle), s = sin(angle);
  const graze_pose back = {{c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, 0}};
  soup_box(low, high, corners);
  for (int k = 0; k < 9 * 12; k += 3) {
    const double x = corners[k], y = corners[k + 1];
    corners[k] = c * x + s * y;
    corners[k + 1] = c * y - s * x;
  }
  *own = graze_pose_multiply(pose, &back);
  return test_mesh(b->context, corners, 12, GRAZE_VOLUMES_ORIENTED);
}

/* Blocks that roundings push into each other, and whose sides are flush but for roundings, far from the origin: ways
 * from side to side are shorter than the one out, and lead nowhere. */
static void test_flush_sides(void **unused) {
  (void)unused;
  bench b = bench_open(95);
  const int rounds = test_rounds(1500, 50000);
  int crossings = 0;
  for (int i = 0; i < rounds; i++) {
    const double by = exp2(-20 * random_unit(&b.state) - 20), size = 0.1 + random_unit(&b.state);
    graze_pose pose = test_random_pose(&b.state, 1000), own;
    graze_mesh *m = box(&b, 0, 0, 0, 0.05, 0.2, 0.03);
    graze_mesh *n = turned_box(&b, (const double[3]){0.05 - by, 0, 0}, (const double[3]){0.05 + size, 0.1, 0.03},
                               random_unit(&b.state), &pose, &own);
    graze_escape found = find(&b, m, &pose, n, &own, GRAZE_T1, 0.001);
    graze_relate_result now;
    assert_int_equal(graze_relate_meshes(b.query, m, &pose, n, &own, NULL, &now), GRAZE_OK);
    crossings += now.verdict.relation == GRAZE_CROSS;
    if (now.verdict.relation == GRAZE_CROSS && !(found.found && found.length < by + 1e-10)) {
      fail_msg("%g, not %g, with the sides flush", found.found ? found.length : INFINITY, by);
    }
    graze_mesh_destroy(m);
    graze_mesh_destroy(n);
  }
  assert_true(crossings > rounds / 2);
  graze_query_destroy(b.query);
}

/* Any solids: what is found holds. */
static void test_tetrahedra(void **unused) {
  (void)unused;
  bench b = bench_open(92);
  int crossings = 0, found = 0;
  for (int i = test_rounds(400, 40000); i > 0; i--) {
    graze_mesh *m[2];
    for (int w = 0; w < 2; w++) {
      static const int faces[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
      double c[4][3], corners[36];
      for (int k = 0; k < 12; k++) c[k / 3][k % 3] = i % 2 == 0 ? random_below(&b.state, 5) : random_unit(&b.state);
      for (int k = 0; k < 12; k++) memcpy(corners + 3 * k, c[faces[k / 3][k % 3]], 3 * sizeof(double));
      m[w] = test_mesh(b.context, corners, 4, GRAZE_VOLUMES_ORIENTED);
    }
    graze_relate_result now;
    assert_int_equal(graze_relate_meshes(b.query, m[0], NULL, m[1], NULL, NULL, &now), GRAZE_OK);
    graze_escape way = find(&b, m[0], NULL, m[1], NULL, i % 5 == 0 ? GRAZE_T0 : GRAZE_T1, INFINITY);
    if (now.verdict.relation == GRAZE_CROSS) {
      crossings++;
      found += way.found;
    } else if (now.verdict.relation == GRAZE_TOUCH || now.verdict.relation == GRAZE_SEPARATE) {
      assert_true(way.found && way.length == 0);
    } else {
      assert_false(way.found);
    }
    for (int w = 0; w < 2; w++) graze_mesh_destroy(m[w]);
  }
  print_message("%d of %d crossings\n", found, crossings);
  assert_int_equal(found, crossings); /* the axes at least */
  graze_query_destroy(b.query);
}

static void test_arguments(void **unused) {
  (void)unused;
  bench b = bench_open(93);
  graze_mesh *m = box(&b, 0, 0, 0, 1, 1, 1);
  graze_escape found;
  assert_int_equal(graze_find_escape(NULL, m, NULL, m, NULL, NULL, 1, &found), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_find_escape(b.query, m, NULL, m, NULL, NULL, NAN, &found), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_find_escape(b.query, m, NULL, m, NULL, NULL, 1, &found), GRAZE_OK);
  assert_false(found.found); /* duplicates */
  graze_mesh_destroy(m);
  graze_query_destroy(b.query);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_boxes),       cmocka_unit_test(test_two_steps),
                                     cmocka_unit_test(test_slanted),     cmocka_unit_test(test_tetrahedra),
                                     cmocka_unit_test(test_flush_sides), cmocka_unit_test(test_arguments)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
