/* Depths. Of boxes at lattice places by counting, of convex solids against the least width of all directions that a
 * brute force over vertices, faces and edges tries, of all: the moved objects are related again, lower bounds hold, and
 * no way along many directions is shorter than the lower bound. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "graze/distance.h"
#include "polycubes.h"
#include "support.h"

enum { MOST = 12 * 2 };

static graze_context *context;
static graze_query *query, *other;

static int set_up(void **unused) {
  (void)unused;
  context = test_context(1, NULL);
  return graze_query_create(context, &query) + graze_query_create(context, &other);
}

static int tear_down(void **unused) {
  (void)unused;
  graze_query_destroy(query);
  graze_query_destroy(other);
  graze_context_destroy(context);
  return 0;
}

static graze_relation relation_at(const graze_mesh *a, const graze_mesh *b, const graze_pose *pose, const double t[3]) {
  graze_pose moved = *pose;
  graze_relate_result r;
  for (int k = 0; k < 3; k++) moved.m[4 * k + 3] += t[k];
  assert_int_equal(graze_relate_meshes(other, a, NULL, b, &moved, NULL, &r), GRAZE_OK);
  return r.verdict.relation;
}

/* What every result promises; a is at its own place. */
static graze_depth_result check_depth(const graze_mesh *a, const graze_mesh *b, const graze_pose *pose) {
  static const double nowhere[3] = {0, 0, 0};
  graze_depth_result r;
  memset(&r, 0xEE, sizeof r);
  assert_int_equal(graze_mesh_depth(query, a, NULL, b, pose, NULL, &r), GRAZE_OK);
  graze_relation before = relation_at(a, b, pose, nowhere);
  assert_int_equal(r.verdict.relation, before);
  if (before == GRAZE_UNKNOWN) {
    assert_false(r.known);
    return r;
  }
  const double *t = r.translation;
  assert_true(r.known);
  assert_int_equal(relation_at(a, b, pose, t), r.relation);
  assert_true(r.relation == GRAZE_TOUCH || r.relation == GRAZE_SEPARATE);
  assert_true(fabs(sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]) - r.depth) <= 1e-15 * r.depth);
  assert_true(r.lower >= 0 && r.lower <= r.depth);
  if (before == GRAZE_TOUCH || before == GRAZE_SEPARATE) assert_true(r.depth == 0);
  return r;
}

/* ---- boxes ---- */

/* Along the axes, at places of a lattice: the least overlap of an axis, exactly; also one in the other. */
static void test_boxes(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1100);
  for (int i = 0; i < test_rounds(60, 4000); i++) {
    double corners[2][108], min[2][3], max[2][3], want = (double)INFINITY;
    graze_mesh *mesh[2];
    for (int m = 0; m < 2; m++) {
      for (int k = 0; k < 3; k++) {
        min[m][k] = (double)random_below(&state, 6);
        max[m][k] = min[m][k] + 1 + (double)random_below(&state, 5);
      }
      soup_box(min[m], max[m], corners[m]);
      mesh[m] = test_mesh(context, corners[m], 12, GRAZE_VOLUMES_ORIENTED);
    }
    for (int k = 0; k < 3; k++) want = fmin(want, fmin(max[0][k] - min[1][k], max[1][k] - min[0][k]));
    const graze_pose here = graze_pose_identity();
    graze_depth_result r = check_depth(mesh[0], mesh[1], &here);
    if (r.depth != fmax(want, 0)) fail_msg("depth %g, want %g", r.depth, want);
    if (want > 0) assert_true(r.convex && r.relation == GRAZE_TOUCH && r.depth - r.lower < 1e-12);
    graze_mesh_destroy(mesh[0]);
    graze_mesh_destroy(mesh[1]);
  }
}

/* ---- convex solids ---- */

/* The least width along every normal of a face and cross product of two edges, whichever: no width of a direction is
 * below the depth, so more directions than those that count do no harm. */
static double brute_depth(const double *a, uint32_t count_a, const double *b, uint32_t count_b) {
  double best = (double)INFINITY;
  const double *const set[2] = {a, b};
  const uint32_t counts[2] = {count_a, count_b};
  for (uint32_t i = 0; i < 3 * count_a + count_a + count_b; i++) {
    for (uint32_t j = 0; j < (i < 3 * count_a ? 3 * count_b : 1); j++) {
      double u[3], v[3], n[3], length = 0;
      const bool edges = i < 3 * count_a, own = i < 4 * count_a;
      const double *p = edges ? a + 9 * (i / 3) : own ? a + 9 * (i - 3 * count_a) : b + 9 * (i - 4 * count_a);
      const double *q = edges ? b + 9 * (j / 3) : p;
      const uint32_t e = edges ? i % 3 : 0, f = edges ? j % 3 : 1;
      for (uint32_t k = 0; k < 3; k++) {
        u[k] = p[3 * ((e + 1) % 3) + k] - p[3 * e + k];
        v[k] = q[3 * ((f + 1) % 3) + k] - q[3 * f + k];
      }
      for (int k = 0; k < 3; k++) n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
      for (int k = 0; k < 3; k++) length += n[k] * n[k];
      if (!(length > 1e-20)) continue;
      double low[2], high[2];
      for (int m = 0; m < 2; m++) {
        low[m] = (double)INFINITY;
        high[m] = -(double)INFINITY;
        for (uint32_t c = 0; c < 9 * counts[m]; c += 3) {
          double at = (n[0] * set[m][c] + n[1] * set[m][c + 1] + n[2] * set[m][c + 2]) / sqrt(length);
          low[m] = fmin(low[m], at);
          high[m] = fmax(high[m], at);
        }
      }
      best = fmin(best, fmin(high[0] - low[1], high[1] - low[0]));
    }
  }
  return best;
}

static uint32_t make_convex(uint64_t *state, double *corners) {
  const double low[3] = {-1, -0.5, -0.7}, high[3] = {1, 0.5, 0.7};
  if (random_below(state, 2) == 0) {
    soup_box(low, high, corners);
    return 12;
  }
  return soup_ball(1, 1, corners);
}

static void test_convex(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1110), overlaps = 0;
  for (int i = 0; i < test_rounds(60, 4000); i++) {
    double a[9 * MOST], b[9 * MOST], posed[9 * MOST];
    uint32_t count_a = make_convex(&state, a), count_b = make_convex(&state, b);
    graze_pose pose = test_random_pose(&state, 0.8);
    graze_mesh *x = test_mesh(context, a, count_a, GRAZE_VOLUMES_ORIENTED);
    graze_mesh *y = test_mesh(context, b, count_b, GRAZE_VOLUMES_ORIENTED);
    graze_depth_result r = check_depth(x, y, &pose);
    for (uint32_t k = 0; k < 9 * count_b; k += 3) graze_pose_apply(&pose, b + k, posed + k);
    double want = fmax(brute_depth(a, count_a, posed, count_b), 0);
    if (!(fabs(r.depth - want) <= 1e-12)) fail_msg("depth %.17g, want %.17g", r.depth, want);
    if (want > 0) assert_true(r.convex && r.depth - r.lower < 1e-12);
    overlaps += want > 0;
    graze_mesh_destroy(x);
    graze_mesh_destroy(y);
  }
  assert_true(overlaps > 0);
}

/* ---- others ---- */

/* Solids of cells: what is found is at most the least overlap of their boxes, and the lower bound at most the length of
 * any way out along the axes and diagonals. */
static void test_polycubes(void **unused) {
  (void)unused;
  static double corners[2][9 * 12 * CELLS * CELLS * CELLS];
  static polycube cells[2];
  uint64_t state = test_seed(1120), found_lower = 0;
  for (int i = 0; i < test_rounds(12, 400); i++) {
    graze_mesh *mesh[2];
    graze_mesh_facts facts[2];
    for (int m = 0; m < 2; m++) {
      polycube_random(&cells[m], &state, 2, 0, 6, 0.5);
      polycube_mend(&cells[m], 2);
      uint32_t count = polycube_surface(&cells[m], 2, &state, corners[m]);
      mesh[m] = test_mesh(context, corners[m], count, GRAZE_VOLUMES_ORIENTED);
      graze_mesh_get_facts(mesh[m], &facts[m]);
    }
    graze_pose pose = test_translation(random_below(&state, 5), random_below(&state, 5), random_below(&state, 5));
    if (facts[0].triangles > 0 && facts[1].triangles > 0) {
      graze_depth_result r = check_depth(mesh[0], mesh[1], &pose);
      for (int k = 0; k < 3 && r.known; k++) {
        double up = facts[0].box.max[k] - facts[1].box.min[k] - pose.m[4 * k + 3];
        double down = facts[1].box.max[k] + pose.m[4 * k + 3] - facts[0].box.min[k];
        if (r.depth > 0) assert_true(r.depth <= fmin(up, down) * (1 + 1e-12));
      }
      for (int d = 0; d < 27 * 8 && r.known && r.lower > 0; d++) {
        const double step = 1 + d / 27;
        const double t[3] = {step * (d % 3 - 1), step * (d / 3 % 3 - 1), step * (d / 9 % 3 - 1)};
        graze_relation moved = relation_at(mesh[0], mesh[1], &pose, t);
        if (moved != GRAZE_TOUCH && moved != GRAZE_SEPARATE) continue;
        assert_true(sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]) >= r.lower);
      }
      found_lower += r.known && r.lower > 0;
    }
    graze_mesh_destroy(mesh[0]);
    graze_mesh_destroy(mesh[1]);
  }
  assert_true(found_lower > 0);
}

/* A ball in a shell that is not convex: out of the wall, whose thickness it has to pass. */
static void test_containment(void **unused) {
  (void)unused;
  double big[9 * 8 * 36], small[9 * 8 * 9];
  uint32_t n = soup_ball(6, 2, big), m = soup_ball(3, 0.5, small);
  graze_mesh *a = test_mesh(context, big, n, GRAZE_VOLUMES_ORIENTED);
  graze_mesh *b = test_mesh(context, small, m, GRAZE_VOLUMES_ORIENTED);
  graze_pose pose = test_translation(0.75, 0.1, 0);
  graze_depth_result r = check_depth(a, b, &pose);
  assert_int_equal(r.verdict.relation, GRAZE_B_IN_A);
  assert_true(r.depth > 1.4 && r.depth < 1.9 && r.lower > 1.4);
  r = check_depth(b, a, &pose); /* the large one moves */
  assert_true(r.depth > 1.0);
  graze_mesh_destroy(a);
  graze_mesh_destroy(b);
}

/* An L of two boxes, and a box in its notch: the short way is along one axis, and hulls know nothing of it. */
static void test_notch(void **unused) {
  (void)unused;
  static polycube cells;
  static double corners[9 * 12 * CELLS * CELLS * CELLS];
  double box[108];
  uint64_t state = 7;
  memset(&cells, 0, sizeof cells);
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < 8; j++) {
      for (int k = 0; k < 8; k++) cells.cell[i][j][k] = i < 2 || j < 2;
    }
  }
  uint32_t count = polycube_surface(&cells, 1, &state, corners);
  const double low[3] = {1.75, 4, 2}, high[3] = {5, 6, 4};
  soup_box(low, high, box);
  graze_mesh *a = test_mesh(context, corners, count, GRAZE_VOLUMES_ORIENTED);
  graze_mesh *b = test_mesh(context, box, 12, GRAZE_VOLUMES_ORIENTED);
  const graze_pose here = graze_pose_identity();
  graze_depth_result r = check_depth(a, b, &here);
  assert_true(r.depth == 0.25 && !r.convex && r.lower <= 0.25 && r.lower > 0.2);
  assert_true(r.translation[0] == 0.25 && r.translation[1] == 0 && r.translation[2] == 0);
  graze_mesh_destroy(a);
  graze_mesh_destroy(b);
}

static void test_errors(void **unused) {
  (void)unused;
  double corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  graze_mesh *mesh = test_mesh(context, corners, 1, GRAZE_VOLUMES_ORIENTED);
  graze_depth_options options = {0};
  graze_depth_result r;
  graze_pose bad = graze_pose_identity();
  assert_int_equal(graze_mesh_depth(NULL, mesh, NULL, mesh, NULL, NULL, &r), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mesh_depth(query, mesh, NULL, NULL, NULL, NULL, &r), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mesh_depth(query, mesh, NULL, mesh, NULL, &options, &r), GRAZE_ERROR_ARGUMENT);
  bad.m[7] = (double)NAN;
  assert_int_equal(graze_mesh_depth(query, mesh, NULL, mesh, &bad, NULL, &r), GRAZE_ERROR_NOT_FINITE);
  graze_mesh_destroy(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_boxes),       cmocka_unit_test(test_convex), cmocka_unit_test(test_polycubes),
      cmocka_unit_test(test_containment), cmocka_unit_test(test_notch),  cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
