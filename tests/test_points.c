/* Distances of points from meshes. Distance, lowest triangle and nearest point against brute force over the proved
 * oracle, a point being a triangle of three equal corners: soups on lattices, in planes, slivers, at distorting poses,
 * at the ends of the exponent range. Sides against the sum of solid angles, which knows no rays, and against shapes
 * whose inside is known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distance_oracle.h"
#include "families.h"
#include "graze/distance.h"
#include "oracle.h"
#include "support.h"

enum { MOST = 128, POINTS = 24 };

static graze_context *context;
static graze_query *query;
static oracle_distance table[MOST];
static uint64_t sides_seen[4], features_seen[3];

static int set_up(void **unused) {
  (void)unused;
  for (int i = 0; i < MOST; i++) oracle_distance_init(&table[i]);
  context = test_context(2, NULL);
  return graze_query_create(context, &query);
}

static int tear_down(void **unused) {
  (void)unused;
  for (int i = 0; i < MOST; i++) oracle_distance_clear(&table[i]);
  graze_query_destroy(query);
  graze_context_destroy(context);
  return 0;
}

/* ---- distances ---- */

typedef struct world {
  double corners[9 * MOST], posed[9 * MOST], points[3 * POINTS];
  uint32_t count;
  graze_pose pose;
} world;

static void fail_at(const world *w, const double p[3], const graze_point_distance *r, const char *what) {
  for (uint32_t i = 0; i < 9 * w->count; i++) print_error("%a ", w->posed[i]);
  fail_msg("%s: point %a %a %a, distance %a, triangle %u", what, p[0], p[1], p[2], r->distance, r->triangle);
}

/* The nearest point lies on its triangle and as far away as the distance says. */
static void check_place(const world *w, const double p[3], const graze_point_distance *r) {
  double size = 0, square = 0;
  for (int k = 0; k < 9; k++) size = fmax(size, fabs(w->posed[9 * r->triangle + k]));
  for (int k = 0; k < 3; k++) {
    size = fmax(size, fabs(p[k]));
    square += (p[k] - r->point[k]) * (p[k] - r->point[k]);
  }
  if (size > 0x1p400 || size < 0x1p-400) return;
  double off = size * 0x1p-46;
  bool on = oracle_point_square(r->point, w->posed + 9 * r->triangle, NULL) <= off * off;
  if (!on || !(fabs(sqrt(square) - r->distance) <= off)) fail_at(w, p, r, "nearest point");
}

static void check_point(const world *w, const double p[3], const graze_point_distance *r) {
  double point[9];
  uint32_t lowest = UINT32_MAX;
  bool on = false;
  for (int k = 0; k < 9; k++) point[k] = p[k % 3];
  for (uint32_t i = 0; i < w->count; i++) {
    oracle_distance_find(point, NULL, w->posed + 9 * i, NULL, &table[i]);
    if (r->distance > 0 && oracle_distance_compare(&table[i], nextafter(r->distance, 0)) < 0)
      fail_at(w, p, r, "a triangle is nearer");
    if (lowest == UINT32_MAX && oracle_distance_rounds_to(&table[i], r->distance)) lowest = i;
    on = on || mpq_sgn(table[i].square) == 0;
  }
  if (r->triangle != lowest) fail_at(w, p, r, "triangle");
  if (on != (r->side == GRAZE_POINT_ON)) fail_at(w, p, r, "on");
  check_place(w, p, r);
  features_seen[r->feature]++;
}

static void check_world(world *w, graze_volumes volumes) {
  graze_point_distance results[POINTS];
  graze_mesh *mesh = test_mesh(context, w->corners, w->count, volumes);
  oracle_pose_corners(&w->pose, w->corners, w->count, w->posed);
  memset(results, 0xEE, sizeof results);
  assert_int_equal(graze_mesh_point_distances(query, mesh, &w->pose, w->points, 0, POINTS, NULL, results), GRAZE_OK);
  for (int i = 0; i < POINTS; i++) check_point(w, w->points + 3 * (size_t)i, &results[i]);
  graze_mesh_destroy(mesh);
}

static void make_soup(uint64_t *state, world *w) {
  w->count = soup_of_kind(state, (int)random_below(state, 5), 40, w->corners);
  w->pose = graze_pose_identity();
}

/* Anywhere, on a lattice, at corners and beside them, on middles of edges, over faces, far away. */
static void make_points(uint64_t *state, world *w) {
  oracle_pose_corners(&w->pose, w->corners, w->count, w->posed);
  for (int i = 0; i < POINTS; i++) {
    const double *t = w->posed + 9 * random_below(state, w->count);
    double *p = w->points + 3 * i;
    for (int k = 0; k < 3; k++) {
      switch (i % 8) {
        case 0:
          p[k] = t[k];
          break;
        case 1:
          p[k] = 0.5 * (t[k] + t[3 + k]);
          break;
        case 2:
          p[k] = (t[k] + t[3 + k] + t[6 + k]) / 3 + (k == 2 ? 0.1 : 0);
          break;
        case 3:
          p[k] = 0.25 * ((double)random_below(state, 13) - 4);
          break;
        case 4:
          p[k] = t[k] + random_signed(state) * 0x1p-45;
          break;
        case 5:
          p[k] = 100 * random_signed(state);
          break;
        default:
          p[k] = 1.5 * random_signed(state);
      }
    }
  }
}

static void test_distances(void **unused) {
  (void)unused;
  uint64_t state = test_seed(950);
  for (int i = 0; i < test_rounds(24, 3000); i++) {
    world w;
    make_soup(&state, &w);
    make_points(&state, &w);
    check_world(&w, i % 2 == 0 ? GRAZE_VOLUMES_ORIENTED : GRAZE_VOLUMES_ALIGNED);
  }
}

/* Rigid poses, scales, shears, mirrors, one without an inverse. */
static void test_poses(void **unused) {
  (void)unused;
  uint64_t state = test_seed(960);
  for (int i = 0; i < test_rounds(16, 2000); i++) {
    world w;
    make_soup(&state, &w);
    w.pose = test_random_pose(&state, 2);
    if (i % 2 == 0) {
      for (int k = 0; k < 12; k++) w.pose.m[k] = 2 * random_signed(&state);
    }
    if (i % 8 == 6) memset(w.pose.m, 0, 4 * sizeof(double));
    make_points(&state, &w);
    check_world(&w, GRAZE_VOLUMES_ORIENTED);
  }
}

/* Both scaled by a power of two, to where floats hold no boxes and doubles no products. */
static void test_powers(void **unused) {
  (void)unused;
  static const int powers[] = {-1000, -400, -70, 70, 400, 900};
  uint64_t state = test_seed(970);
  for (int i = 0; i < test_rounds(12, 600); i++) {
    world w;
    make_soup(&state, &w);
    w.count = w.count < 12 ? w.count : 12;
    make_points(&state, &w);
    for (uint32_t k = 0; k < 9 * w.count; k++) w.corners[k] = ldexp(w.corners[k], powers[i % 6]);
    for (int k = 0; k < 3 * POINTS; k++) w.points[k] = ldexp(w.points[k], powers[i % 6]);
    check_world(&w, GRAZE_VOLUMES_ORIENTED);
  }
}

/* ---- sides ---- */

/* How often the triangles wind around p, by their solid angles: A. van Oosterom, J. Strackee, "The Solid Angle of a
 * Plane Triangle", 1983. */
static double winding_of(const double *corners, uint32_t count, const double p[3]) {
  double sum = 0;
  for (uint32_t i = 0; i < count; i++) {
    double v[3][3], length[3], dots = 0;
    for (int c = 0; c < 3; c++) {
      for (int k = 0; k < 3; k++) v[c][k] = corners[9 * i + 3 * (uint32_t)c + (uint32_t)k] - p[k];
      length[c] = sqrt(v[c][0] * v[c][0] + v[c][1] * v[c][1] + v[c][2] * v[c][2]);
    }
    double volume = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) -
                    v[0][1] * (v[1][0] * v[2][2] - v[1][2] * v[2][0]) +
                    v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
    for (int c = 0; c < 3; c++) {
      const double *x = v[c], *y = v[(c + 1) % 3];
      dots += (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) * length[(c + 2) % 3];
    }
    sum += atan2(volume, length[0] * length[1] * length[2] + dots);
  }
  return sum / 6.283185307179586;
}

static void add_box(world *w, double low, double high, double shift, bool turned) {
  const double min[3] = {low, low, low + shift}, max[3] = {high, high, high + shift};
  double *c = w->corners + 9 * w->count;
  soup_box(min, max, c);
  for (int i = 0; i < 12 && turned; i++) {
    for (int k = 0; k < 3; k++) {
      double x = c[9 * i + k];
      c[9 * i + k] = c[9 * i + 3 + k];
      c[9 * i + 3 + k] = x;
    }
  }
  w->count += 12;
}

/* Boxes one in another, some a cavity or twice there, boxes that cross, and a ball, most with corners on a lattice. */
static void make_solid(uint64_t *state, world *w) {
  w->count = 0;
  int kind = (int)random_below(state, 4);
  if (kind == 3) w->count = soup_ball(3, 1.5, w->corners);
  add_box(w, -2, 2, 0, false);
  add_box(w, -1, 1, 0, kind == 0 || random_below(state, 2) == 0);
  if (kind == 1) add_box(w, -1, 1, 1.5, random_below(state, 2) == 0);
  if (kind == 2) add_box(w, -0.5, 0.5, 0, true);
  for (uint32_t i = 0; i < 9 * w->count; i++) w->corners[i] *= 0.5;
}

/* On the lattice, so that rays run through edges and corners, and anywhere. */
static void check_sides(world *w, uint64_t *state) {
  graze_point_distance r[POINTS];
  for (int i = 0; i < 3 * POINTS; i++) {
    w->points[i] = i < 3 * POINTS / 2 ? 0.25 * ((double)random_below(state, 11) - 5) : 1.5 * random_signed(state);
  }
  for (int i = 0; i < POINTS; i++) oracle_pose_point(&w->pose, w->points + 3 * (size_t)i, w->points + 3 * (size_t)i);
  oracle_pose_corners(&w->pose, w->corners, w->count, w->posed);
  graze_mesh *mesh = test_mesh(context, w->corners, w->count, GRAZE_VOLUMES_ORIENTED);
  assert_int_equal(graze_mesh_point_distances(query, mesh, &w->pose, w->points, 0, POINTS, NULL, r), GRAZE_OK);
  for (int i = 0; i < POINTS; i++) {
    const double *p = w->points + 3 * (size_t)i;
    sides_seen[r[i].side]++;
    if (r[i].distance < 1e-9) continue;
    double winding = winding_of(w->posed, w->count, p);
    assert_true(fabs(winding - round(winding)) < 1e-6);
    graze_point_side want = fabs(winding) > 0.5 ? GRAZE_POINT_INSIDE : GRAZE_POINT_OUTSIDE;
    if (r[i].side != want) fail_at(w, p, &r[i], "side");
  }
  graze_mesh_destroy(mesh);
}

static void test_sides(void **unused) {
  (void)unused;
  uint64_t state = test_seed(980);
  memset(sides_seen, 0, sizeof sides_seen);
  for (int i = 0; i < test_rounds(160, 20000); i++) {
    world w;
    w.pose = graze_pose_identity();
    make_solid(&state, &w);
    if (i % 3 == 1) w.pose = test_random_pose(&state, 2);
    if (i % 3 == 2) {
      for (int k = 0; k < 12; k++) w.pose.m[k] = (k % 5 == 0 ? -3 : 0) + random_signed(&state);
    }
    check_sides(&w, &state);
  }
  assert_true(sides_seen[GRAZE_POINT_INSIDE] > 0 && sides_seen[GRAZE_POINT_OUTSIDE] > 0);
  assert_true(sides_seen[GRAZE_POINT_ON] > 0 && sides_seen[GRAZE_POINT_UNKNOWN] == 0);
}

static graze_point_distance ask_one(const graze_mesh *mesh, double x, double y, double z,
                                    const graze_point_options *options) {
  const double p[3] = {x, y, z};
  graze_point_distance r;
  memset(&r, 0xEE, sizeof r);
  assert_int_equal(graze_mesh_point_distances(query, mesh, NULL, p, 0, 1, options, &r), GRAZE_OK);
  return r;
}

/* A box without its last two triangles: in doubt within, outside beyond, and a surface if that is said. A flat piece
 * cannot hold anything. A closed box beside it stays one. */
static void test_open(void **unused) {
  (void)unused;
  double corners[24 * 9];
  const double low[3] = {0, 0, 0}, high[3] = {1, 1, 1}, far_low[3] = {3, 0, 0}, far_high[3] = {4, 1, 1};
  graze_point_options surface = graze_default_point_options(), alone = graze_default_point_options();
  surface.open = GRAZE_OPEN_SURFACE;
  alone.no_sides = true;
  soup_box(low, high, corners);
  soup_box(far_low, far_high, corners + 10 * 9);
  graze_mesh *mesh = test_mesh(context, corners, 22, GRAZE_VOLUMES_ORIENTED);
  graze_point_distance r = ask_one(mesh, 0.5, 0.5, 0.5, NULL);
  assert_true(r.side == GRAZE_POINT_UNKNOWN && r.doubt == GRAZE_DOUBT_OPEN && r.distance == 0.5);
  r = ask_one(mesh, 0.5, 0.5, 0.5, &surface);
  assert_true(r.side == GRAZE_POINT_OUTSIDE && r.doubt == GRAZE_DOUBT_NONE);
  assert_true(ask_one(mesh, 2, 0.5, 0.5, NULL).side == GRAZE_POINT_OUTSIDE);
  assert_true(ask_one(mesh, 3.5, 0.5, 0.5, NULL).side == GRAZE_POINT_INSIDE);
  r = ask_one(mesh, 3.5, 0.5, 0.5, &alone);
  assert_true(r.side == GRAZE_POINT_UNKNOWN && r.doubt == GRAZE_DOUBT_NOT_ASKED && r.distance == 0.5);
  r = ask_one(mesh, 0.5, 0, 0.25, NULL);
  assert_true(r.side == GRAZE_POINT_ON && r.distance == 0 && r.doubt == GRAZE_DOUBT_NONE);
  graze_mesh_destroy(mesh);
  mesh = test_mesh(context, corners, 1, GRAZE_VOLUMES_ORIENTED);
  assert_true(ask_one(mesh, 0.1, 0.2, 0.3, NULL).side == GRAZE_POINT_OUTSIDE);
  graze_mesh_destroy(mesh);
  mesh = test_mesh(context, corners, 0, GRAZE_VOLUMES_ORIENTED);
  r = ask_one(mesh, 0.1, 0.2, 0.3, NULL);
  assert_true(isinf(r.distance) && r.triangle == UINT32_MAX && r.side == GRAZE_POINT_OUTSIDE);
  graze_mesh_destroy(mesh);
}

/* The lecture's formulas for a point and an edge, and for a point and a face. */
static void test_formulas(void **unused) {
  (void)unused;
  const double face[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  graze_mesh *mesh = test_mesh(context, face, 1, GRAZE_VOLUMES_ORIENTED);
  graze_point_distance r = ask_one(mesh, 3, 0, 0, NULL); /* 0 from the edge's line */
  assert_true(r.distance == 2 && r.feature == GRAZE_FEATURE_VERTEX && r.point[0] == 1);
  r = ask_one(mesh, 0.25, 0.25, -1, NULL); /* behind: (p - p0).n is -1 */
  assert_true(r.distance == 1 && r.feature == GRAZE_FEATURE_FACE && r.point[0] == 0.25 && r.point[2] == 0);
  r = ask_one(mesh, 0.5, -1, 1, NULL); /* 1 from the plane */
  assert_true(r.distance == sqrt(2) && r.feature == GRAZE_FEATURE_EDGE && r.point[0] == 0.5 && r.point[1] == 0);
  graze_mesh_destroy(mesh);
}

/* ---- the call ---- */

static void test_threads(void **unused) {
  (void)unused;
  enum { level = 30, count = 1000 };
  static double points[count * 4], ball[8 * level * level * 9];
  static graze_point_distance first[count], r[count];
  uint64_t state = test_seed(990);
  uint32_t triangles = soup_ball(level, 1, ball);
  for (int i = 0; i < 4 * count; i++) points[i] = i % 4 == 3 ? (double)NAN : 1.3 * random_signed(&state);
  for (int threads = 1; threads <= 4; threads++) {
    graze_context *c = test_context(threads, NULL);
    graze_query *q = NULL;
    assert_int_equal(graze_query_create(c, &q), GRAZE_OK);
    graze_mesh *mesh = test_mesh(c, ball, triangles, GRAZE_VOLUMES_ORIENTED);
    memset(r, 0, sizeof r);
    assert_int_equal(graze_mesh_point_distances(q, mesh, NULL, points, 32, count, NULL, r), GRAZE_OK);
    if (threads == 1) memcpy(first, r, sizeof r);
    for (int i = 0; i < count; i++) {
      assert_true(r[i].distance == first[i].distance && r[i].triangle == first[i].triangle);
      assert_memory_equal(r[i].point, first[i].point, sizeof r[i].point);
      double radius = sqrt(points[4 * i] * points[4 * i] + points[4 * i + 1] * points[4 * i + 1] +
                           points[4 * i + 2] * points[4 * i + 2]);
      if (radius > 1) assert_int_equal(r[i].side, GRAZE_POINT_OUTSIDE);
      if (radius < 0.99) assert_int_equal(r[i].side, GRAZE_POINT_INSIDE);
    }
    graze_mesh_destroy(mesh);
    graze_query_destroy(q);
    graze_context_destroy(c);
  }
}

static void test_errors(void **unused) {
  (void)unused;
  test_log log = {0};
  graze_context *c = test_context(1, &log);
  graze_query *q = NULL;
  assert_int_equal(graze_query_create(c, &q), GRAZE_OK);
  double corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, points[6] = {0, 0, 0, 1, (double)INFINITY, 0};
  graze_mesh *mesh = test_mesh(c, corners, 1, GRAZE_VOLUMES_ORIENTED);
  graze_point_options options = {0};
  graze_point_distance r[2];
  assert_int_equal(graze_mesh_point_distances(NULL, mesh, NULL, points, 0, 1, NULL, r), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mesh_point_distances(q, NULL, NULL, points, 0, 1, NULL, r), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mesh_point_distances(q, mesh, NULL, NULL, 0, 1, NULL, r), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mesh_point_distances(q, mesh, NULL, NULL, 0, 0, NULL, NULL), GRAZE_OK);
  assert_int_equal(graze_mesh_point_distances(q, mesh, NULL, points, 0, 1, &options, r), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mesh_point_distances(q, mesh, NULL, points, 0, 2, NULL, r), GRAZE_ERROR_NOT_FINITE);
  assert_string_equal(log.last, "point 1: a coordinate is not finite");
  graze_mesh_destroy(mesh);
  graze_query_destroy(q);
  graze_context_destroy(c);
  assert_string_equal(graze_point_side_string(GRAZE_POINT_ON), "on");
  assert_string_equal(graze_point_side_string((graze_point_side)7), "?");
}

static void test_all_features_came(void **unused) {
  (void)unused;
  for (int i = 0; i < 3; i++) assert_true(features_seen[i] > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_distances), cmocka_unit_test(test_poses),  cmocka_unit_test(test_powers),
      cmocka_unit_test(test_sides),     cmocka_unit_test(test_open),   cmocka_unit_test(test_formulas),
      cmocka_unit_test(test_threads),   cmocka_unit_test(test_errors), cmocka_unit_test(test_all_features_came),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
