/* Contact points of convex sets: boxes on boxes, where they are known; hulls anywhere, whose points must lie on both;
 * balls and capsules on a face; features that stay. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "support.h"

typedef struct body {
  graze_hull *hull;
  graze_convex set;
  graze_pose pose;
} body;

static void make_body(body *b, uint64_t count, const double *points, double radius) {
  assert_int_equal(graze_hull_create(shared_context(1), count, points, &b->hull), GRAZE_OK);
  b->set = graze_convex_of_hull(b->hull, radius);
  b->pose = test_translation(0, 0, 0);
}

static void make_box(body *b, const double half[3]) {
  double corners[24];
  for (int c = 0; c < 24; c++) corners[c] = c / 3 >> c % 3 & 1 ? half[c % 3] : -half[c % 3];
  make_body(b, 8, corners, 0);
}

static graze_manifold touch(const body *a, const body *b, double margin, const graze_manifold *before) {
  graze_manifold m = before != NULL ? *before : (graze_manifold){0};
  const graze_convex_pair pair = {&a->set, &b->set, &a->pose, &b->pose};
  assert_int_equal(graze_convex_touch(shared_context(1), 1, &pair, margin, &m), GRAZE_OK);
  return m;
}

/* A box lies on the other, shifted: the points are the corners of what the faces share. */
static void test_box_on_box(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1);
  for (int round = 0; round < test_rounds(500, 20000); round++) {
    double half[2][3], low[2], high[2];
    body bodies[2];
    for (int i = 0; i < 2; i++) {
      for (int k = 0; k < 3; k++) half[i][k] = 0.5 + random_unit(&state);
      make_box(&bodies[i], half[i]);
    }
    double x = 0.7 * random_signed(&state), y = 0.7 * random_signed(&state), gap = 0.02 * random_signed(&state);
    bodies[1].pose = test_translation(x, y, half[0][2] + half[1][2] + gap);
    low[0] = fmax(-half[0][0], x - half[1][0]), high[0] = fmin(half[0][0], x + half[1][0]);
    low[1] = fmax(-half[0][1], y - half[1][1]), high[1] = fmin(half[0][1], y + half[1][1]);
    graze_manifold m = touch(&bodies[0], &bodies[1], 0.02, NULL);
    assert_int_equal(m.count, 4);
    assert_true(fabs(m.normal[0]) < 1e-15 && fabs(m.normal[1]) < 1e-15 && m.normal[2] > 0.99);
    unsigned corners = 0;
    for (int p = 0; p < 4; p++) {
      const double *at = m.points[p].at;
      int right = fabs(at[0] - high[0]) < 1e-12, back = fabs(at[1] - high[1]) < 1e-12;
      assert_true((right || fabs(at[0] - low[0]) < 1e-12) && (back || fabs(at[1] - low[1]) < 1e-12));
      assert_true(fabs(at[2] - half[0][2] - gap / 2) < 1e-12 && fabs(m.points[p].gap - gap) < 1e-12);
      corners |= 1u << (2 * right + back);
    }
    assert_int_equal(corners, 15);
    for (int i = 0; i < 2; i++) graze_hull_destroy(bodies[i].hull);
  }
}

/* A point beside a hull by less than `off`, or in it. */
static bool is_near(const body *b, const double x[3], double off) {
  double local[3];
  for (int k = 0; k < 3; k++) {
    local[k] = 0;
    for (int r = 0; r < 3; r++) local[k] += b->pose.m[4 * r + k] * (x[r] - b->pose.m[4 * r + 3]);
  }
  for (uint32_t f = 0; f < b->hull->face_count; f++) {
    const double *plane = b->hull->planes + 4 * (size_t)f;
    if (plane[0] * local[0] + plane[1] * local[1] + plane[2] * local[2] > plane[3] + off) return false;
  }
  return true;
}

static void make_random(uint64_t *state, body *b, double far) {
  double points[3 * 40], half[3] = {0.5, 0.4, 0.3};
  uint32_t count = 4 + random_below(state, 36);
  for (uint32_t i = 0; i < 3 * count; i++) points[i] = 0.5 * random_signed(state);
  if (random_below(state, 2) == 0) {
    make_box(b, half);
  } else {
    make_body(b, count, points, 0);
  }
  b->pose = test_random_pose(state, far);
}

/* Half a gap off each point to either side are points of both; what is farther than the margin has none. */
static void test_points_are_on_both(void **unused) {
  (void)unused;
  uint64_t state = test_seed(2), some = 0, four = 0;
  for (int round = 0; round < test_rounds(3000, 200000); round++) {
    body a, b;
    make_random(&state, &a, 0.1);
    make_random(&state, &b, 0.6);
    if (random_below(&state, 3) == 0) { /* face on face */
      b.pose = a.pose;
      for (int r = 0; r < 3; r++) b.pose.m[4 * r + 3] += 0.5 * random_signed(&state);
    }
    const graze_convex_pair pair = {&a.set, &b.set, &a.pose, &b.pose};
    graze_convex_result result;
    assert_int_equal(graze_convex_batch(shared_context(1), 1, &pair, GRAZE_T1, GRAZE_CONVEX_MEASURE, &result),
                     GRAZE_OK);
    graze_manifold m = touch(&a, &b, 0.05, NULL);
    assert_int_equal(m.count > 0, result.distance <= 0.05);
    assert_true(m.count <= GRAZE_MANIFOLD_POINTS);
    some += m.count > 0;
    four += m.count == 4;
    double turn = 0;
    for (int k = 0; k < 3; k++) turn += m.normal[k] * result.normal[k];
    assert_true(m.count == 0 || turn > 0.99);
    for (uint32_t p = 0; p < m.count; p++) {
      double on[2][3];
      assert_true(m.points[p].gap <= 0.05);
      for (int k = 0; k < 3; k++) {
        on[0][k] = m.points[p].at[k] - m.normal[k] * m.points[p].gap / 2;
        on[1][k] = m.points[p].at[k] + m.normal[k] * m.points[p].gap / 2;
      }
      assert_true(is_near(&a, on[0], 1e-9) && is_near(&b, on[1], 1e-9));
    }
    graze_hull_destroy(a.hull);
    graze_hull_destroy(b.hull);
  }
  assert_true(some > 0 && four > 0);
}

/* Features, and the side that has the reference face, stay while a box slides and sways a little on another. */
static void test_features_stay(void **unused) {
  (void)unused;
  const double half[3] = {0.5, 0.5, 0.5};
  body a, b;
  uint64_t state = test_seed(3);
  make_box(&a, half);
  make_box(&b, half);
  graze_manifold m = {0};
  uint64_t features[4];
  for (int step = 0; step < 200; step++) {
    const double q[4] = {1, 1e-5 * random_signed(&state), 1e-5 * random_signed(&state), 0.01},
                 at[3] = {0.1 + 1e-4 * step, 0.05, 0.999 + 1e-5 * random_signed(&state)};
    b.pose = graze_pose_from_quaternion(q, at);
    m = touch(&a, &b, 0.01, &m);
    assert_true(m.count == 4 && m.reference == 1);
    for (int p = 0; p < 4; p++) {
      if (step == 0) features[p] = m.points[p].feature;
      int found = 0;
      for (int o = 0; o < 4; o++) found += m.points[p].feature == features[o];
      assert_int_equal(found, 1);
    }
  }
  graze_hull_destroy(a.hull);
  graze_hull_destroy(b.hull);
}

static void test_balls_and_capsules(void **unused) {
  (void)unused;
  const double half[3] = {1, 1, 0.5}, ends[6] = {-0.5, 0, 0, 0.5, 0, 0};
  body floor;
  make_box(&floor, half);
  body ball = {NULL, {.points = ends, .count = 1, .radius = 0.25}, test_translation(0.6, 0.2, 0.74)};
  graze_manifold m = touch(&floor, &ball, 0, NULL);
  assert_true(m.count == 1 && fabs(m.points[0].gap + 0.01) < 1e-12 && fabs(m.points[0].at[0] - 0.1) < 1e-12);
  assert_true(fabs(m.points[0].at[2] - 0.495) < 1e-12);
  body capsule = {NULL, {.points = ends, .count = 2, .radius = 0.25}, test_translation(0.8, 0, 0.76)};
  m = touch(&capsule, &floor, 0.02, NULL);
  assert_true(m.count == 2 && m.normal[2] < -0.99 && m.reference == 2);
  for (int p = 0; p < 2; p++) {
    double x = m.points[p].at[0]; /* one end, and where the floor ends */
    assert_true(fabs(m.points[p].gap - 0.01) < 1e-12 && (fabs(x - 0.3) < 1e-12 || fabs(x - 1) < 1e-12));
  }
  assert_true(m.points[0].feature != m.points[1].feature);
  m = touch(&capsule, &ball, 0.02, NULL);
  assert_true(m.count == 1);
  ball.pose = test_translation(0, 0, 5);
  assert_int_equal(touch(&floor, &ball, 1, NULL).count, 0);
  graze_hull_destroy(floor.hull);
}

/* A prism of so many sides that its faces do not fit the stack. */
static void test_many_corners(void **unused) {
  (void)unused;
  enum { SIDES = 150 };
  double points[6 * SIDES];
  for (int i = 0; i < 2 * SIDES; i++) {
    points[3 * i] = cos(2 * M_PI * i / SIDES);
    points[3 * i + 1] = sin(2 * M_PI * i / SIDES);
    points[3 * i + 2] = i < SIDES ? 0 : 1;
  }
  body a, b;
  make_body(&a, 2 * SIDES, points, 0);
  make_body(&b, 2 * SIDES, points, 0);
  b.pose = test_translation(0.4, 0.3, 0.99);
  graze_manifold m = touch(&a, &b, 0, NULL);
  assert_true(m.count == 4 && m.reference != 0);
  for (int p = 0; p < 4; p++) assert_true(fabs(m.points[p].gap + 0.01) < 1e-12);
  graze_hull_destroy(a.hull);
  graze_hull_destroy(b.hull);
}

static void test_errors(void **unused) {
  (void)unused;
  const double point[3] = {0, 0, 0};
  const graze_convex set = {.points = point, .count = 1};
  graze_convex_pair pair = {&set, &set, NULL, NULL};
  graze_manifold m = {0};
  graze_context *context = shared_context(1);
  assert_int_equal(graze_convex_touch(context, 0, NULL, 0, NULL), GRAZE_OK);
  assert_int_equal(graze_convex_touch(context, 1, NULL, 0, &m), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_convex_touch(context, 1, &pair, NAN, &m), GRAZE_ERROR_NOT_FINITE);
  assert_int_equal(graze_convex_touch(context, 1, &pair, 0, &m), GRAZE_OK);
  assert_true(m.count == 1 && m.points[0].gap == 0);
  pair.b = NULL;
  assert_int_equal(graze_convex_touch(context, 1, &pair, 0, &m), GRAZE_ERROR_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_box_on_box),    cmocka_unit_test(test_points_are_on_both),
                                     cmocka_unit_test(test_features_stay), cmocka_unit_test(test_balls_and_capsules),
                                     cmocka_unit_test(test_many_corners),  cmocka_unit_test(test_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
