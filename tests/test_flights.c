/* Particles that fly. Balls against single triangles, held against rational numbers: whether they meet, exactly (the
 * distance of two triangles, one of them the way); that nothing meets before the bracket and something by its end
 * (line_oracle.h). Worlds of many triangles against every triangle by itself. Balls that touch exactly, by integers
 * that are known; points against the oracle of lines. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distance_oracle.h"
#include "families.h"
#include "graze/motion.h"
#include "line_oracle.h"
#include "oracle.h"
#include "support.h"

enum { MOST = 64, BALLS = 48, OBJECTS = 3 };

static graze_context *context, *threaded;
static oracle_distance distance;
static uint64_t hits_seen, wide_seen;

static int set_up(void **unused) {
  (void)unused;
  context = test_context(1, NULL);
  threaded = test_context(3, NULL);
  oracle_distance_init(&distance);
  return 0;
}

static int tear_down(void **unused) {
  (void)unused;
  oracle_distance_clear(&distance);
  graze_context_destroy(context);
  graze_context_destroy(threaded);
  return 0;
}

static graze_target_hit ask(const graze_targets *targets, const double from[3], const double to[3], double radius) {
  graze_target_hit hit;
  const graze_particles one = {.count = 1, .start = from, .end = to, .radius = &radius};
  assert_int_equal(graze_motion_particles(context, targets, &one, &hit), GRAZE_OK);
  return hit;
}

/* ---- one triangle ---------------------------------------------------------------------------------------------- */

static void fail_at(const double corners[9], const double from[3], const double to[3], double radius,
                    const graze_target_hit *hit, const char *what) {
  for (int k = 0; k < 9; k++) print_error("%a ", corners[k]);
  fail_msg("%s: from %a %a %a to %a %a %a, radius %a: object %u, %a to %a", what, from[0], from[1], from[2], to[0],
           to[1], to[2], radius, hit->object, hit->earliest, hit->latest);
}

/* The distance is a convex function of time: where the ball is apart at the bracket's beginning and meets the triangle
 * later, it is apart before; and where it comes no nearer behind the bracket's end, it does not meet it there. */
static void check_bracket(const double corners[9], const double from[3], const double to[3], double radius,
                          const graze_target_hit *hit) {
  const double low = hit->earliest, high = hit->latest;
  if (!(low >= 0 && low <= high && high <= 1)) fail_at(corners, from, to, radius, hit, "order");
  if (low > 0 && oracle_flight(from, to, low, radius, corners) < 0) {
    fail_at(corners, from, to, radius, hit, "met before");
  }
  if (high == 0 && oracle_flight(from, to, 0, radius, corners) > 0) {
    fail_at(corners, from, to, radius, hit, "not met at first");
  }
  if (high < 1 && oracle_flight(from, to, high, radius, corners) > 0 &&
      oracle_flight(from, to, 1, radius, corners) <= 0) {
    fail_at(corners, from, to, radius, hit, "met behind");
  }
  wide_seen += high - low > 0x1p-38;
}

static void check_ball(const double corners[9], const double from[3], const double to[3], double radius) {
  graze_mesh *mesh = test_mesh(context, corners, 1, GRAZE_VOLUMES_ORIENTED);
  graze_targets *targets = NULL;
  double way[9];
  for (int k = 0; k < 9; k++) way[k] = k < 3 ? from[k] : to[k % 3];
  assert_int_equal(graze_targets_create(context, 1, (const graze_mesh *const *)&mesh, NULL, &targets), GRAZE_OK);
  const graze_target_hit hit = ask(targets, from, to, radius);
  oracle_distance_find(way, NULL, corners, NULL, &distance);
  const bool meets = oracle_distance_compare(&distance, radius) <= 0;
  if (meets != (hit.object == 0)) fail_at(corners, from, to, radius, &hit, meets ? "missed" : "not met");
  if (meets) check_bracket(corners, from, to, radius, &hit);
  hits_seen += meets;
  graze_targets_destroy(targets);
  graze_mesh_destroy(mesh);
}

/* On a lattice, where much touches exactly, or anywhere; scaled. */
static void test_single(void **unused) {
  (void)unused;
  uint64_t state = test_seed(4300);
  static const double radii[] = {0.25, 0.5, 1, 1.25, 0x1p-20, 0.3};
  const int rounds = test_rounds(3000, 300000);
  for (int round = 0; round < rounds; round++) {
    double corners[9], from[3], to[3];
    const bool lattice = round % 2 == 0;
    static const int powers[] = {0, 0, 0, -60, 60, -500, 500, -1000, 980};
    const double scale = ldexp(1, powers[random_below(&state, 9)]);
    for (int k = 0; k < 9; k++) corners[k] = lattice ? random_below(&state, 4) : 2 * random_signed(&state);
    for (int k = 0; k < 3; k++) {
      from[k] = lattice ? (double)random_below(&state, 17) / 2 - 2 : 4 * random_signed(&state);
      to[k] = lattice ? (double)random_below(&state, 17) / 2 - 2 : 4 * random_signed(&state);
    }
    if (round % 16 == 3) memcpy(to, from, sizeof to);
    if (round % 16 == 4) memcpy(corners + 6, corners, 3 * sizeof *corners);
    if (round % 32 == 6) memcpy(corners + 3, corners, 3 * sizeof *corners), memcpy(corners + 6, corners, 24);
    for (int k = 0; k < 9; k++) corners[k] *= scale;
    for (int k = 0; k < 3; k++) from[k] *= scale, to[k] *= scale;
    check_ball(corners, from, to, radii[random_below(&state, 6)] * scale);
  }
  assert_true(hits_seen > (uint64_t)rounds / 20);
}

/* Pythagoras: balls that pass a corner, an edge or a face at exactly their radius, and a unit beyond. */
static void test_grazing(void **unused) {
  (void)unused;
  static const double face[9] = {-8, -8, 0, 8, -8, 0, 0, 8, 0}, corner[9] = {0, 0, 0, -3, -4, 0, -3, -4, -5},
                      edge[9] = {0, 0, -9, 0, 0, 9, -9, 0, 0};
  static const struct {
    const double *corners;
    double from[3], to[3], radius;
  } cases[] = {{face, {-1, 0, 2}, {1, 0, 2}, 2},    {corner, {-5, 5, 0}, {5, 5, 0}, 5},
               {corner, {3, -9, 4}, {3, 9, 4}, 5},  {edge, {3, -20, 0}, {3, 20, 0}, 3},
               {edge, {7, -20, -3}, {7, 20, 3}, 7}, {corner, {3, 4, -6}, {3, 4, 6}, 5}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_ball(cases[i].corners, cases[i].from, cases[i].to, cases[i].radius);
    check_ball(cases[i].corners, cases[i].from, cases[i].to, nextafter(cases[i].radius, 0));
    check_ball(cases[i].corners, cases[i].from, cases[i].to, nextafter(cases[i].radius, 100));
  }
  assert_true(wide_seen > 0);
}

/* ---- many triangles -------------------------------------------------------------------------------------------- */

typedef struct world {
  double corners[OBJECTS][9 * MOST], posed[OBJECTS][9 * MOST];
  uint32_t counts[OBJECTS];
  graze_pose poses[OBJECTS];
  graze_mesh *meshes[OBJECTS];
  double from[3 * BALLS], to[3 * BALLS], radii[BALLS];
} world;

static void make_world(uint64_t *state, world *w) {
  for (int i = 0; i < OBJECTS; i++) {
    w->counts[i] = soup_of_kind(state, (int)random_below(state, 5), 40, w->corners[i]);
    w->poses[i] = i == 0 ? graze_pose_identity() : test_random_pose(state, 1);
    if (i == 2) {
      for (int k = 0; k < 12; k++) w->poses[i].m[k] = 2 * random_signed(state);
    }
    oracle_pose_corners(&w->poses[i], w->corners[i], w->counts[i], w->posed[i]);
    w->meshes[i] = test_mesh(context, w->corners[i], w->counts[i], GRAZE_VOLUMES_ORIENTED);
  }
  for (int i = 0; i < BALLS; i++) {
    for (int k = 0; k < 3; k++) {
      const double *t = w->posed[i % OBJECTS] + 9 * random_below(state, w->counts[i % OBJECTS]);
      w->from[3 * i + k] = i % 4 == 0 ? 0.25 * random_below(state, 13) - 1 : 3 * random_signed(state);
      w->to[3 * i + k] = i % 3 == 0 ? t[k] : 3 * random_signed(state);
    }
    w->radii[i] = i % 8 == 7 ? 0 : 0.25 * random_unit(state);
    if (i % 8 == 5) memcpy(w->to + 3 * i, w->from + 3 * i, 3 * sizeof(double));
  }
}

/* The first triangle to be met for certain, and the bracket opened by whatever may be met before. */
static void check_first(const world *w, int i, const graze_target_hit *hit) {
  graze_target_hit want = {1, 1, GRAZE_NO_TARGET, GRAZE_NO_TARGET};
  for (uint32_t object = 0; object < OBJECTS; object++) {
    for (uint32_t t = 0; t < w->counts[object]; t++) {
      graze_mesh *mesh = test_mesh(context, w->posed[object] + 9 * t, 1, GRAZE_VOLUMES_ALIGNED);
      graze_targets *targets = NULL;
      assert_int_equal(graze_targets_create(context, 1, (const graze_mesh *const *)&mesh, NULL, &targets), GRAZE_OK);
      const graze_target_hit one = ask(targets, w->from + 3 * i, w->to + 3 * i, w->radii[i]);
      graze_targets_destroy(targets);
      graze_mesh_destroy(mesh);
      if (one.object == GRAZE_NO_TARGET) continue;
      const bool point = w->radii[i] == 0, first = want.object == GRAZE_NO_TARGET;
      if (first || one.latest < want.latest || (point && one.latest == want.latest && one.earliest < want.earliest)) {
        want = (graze_target_hit){point || first ? one.earliest : fmin(want.earliest, one.earliest), one.latest, object,
                                  t};
      } else if (!point) {
        want.earliest = fmin(want.earliest, one.earliest);
      }
    }
  }
  const bool none = want.object == GRAZE_NO_TARGET;
  if (none) want = (graze_target_hit){0, 0, GRAZE_NO_TARGET, GRAZE_NO_TARGET};
  if (want.object != hit->object || want.triangle != hit->triangle || want.earliest != hit->earliest ||
      want.latest != hit->latest) {
    fail_msg("particle %d: object %u, triangle %u, %a to %a, not object %u, triangle %u, %a to %a", i, hit->object,
             hit->triangle, hit->earliest, hit->latest, want.object, want.triangle, want.earliest, want.latest);
  }
}

/* A point alone is the line of the oracle. */
static void check_point(const world *w, int i, const graze_target_hit *hit) {
  mpq_t time;
  bool met = false;
  mpq_init(time);
  for (uint32_t object = 0; object < OBJECTS; object++) {
    for (uint32_t t = 0; t < w->counts[object]; t++) {
      if (!oracle_line(w->from + 3 * i, w->to + 3 * i, false, 1, w->posed[object] + 9 * t, time)) continue;
      met = true;
      if (object == hit->object && t == hit->triangle) assert_true(oracle_enclosed(time, hit->earliest, hit->latest));
    }
  }
  assert_int_equal(met, hit->object != GRAZE_NO_TARGET);
  mpq_clear(time);
}

static void test_worlds(void **unused) {
  (void)unused;
  uint64_t state = test_seed(4400);
  static world w;
  for (int round = 0; round < test_rounds(8, 120); round++) {
    make_world(&state, &w);
    graze_targets *targets = NULL;
    graze_target_hit hits[BALLS], again[BALLS];
    const graze_particles balls = {.count = BALLS, .start = w.from, .end = w.to, .radius = w.radii};
    assert_int_equal(graze_targets_create(context, OBJECTS, (const graze_mesh *const *)w.meshes, w.poses, &targets),
                     GRAZE_OK);
    assert_int_equal(graze_motion_particles(context, targets, &balls, hits), GRAZE_OK);
    assert_int_equal(graze_motion_particles(threaded, targets, &balls, again), GRAZE_OK);
    assert_memory_equal(hits, again, sizeof hits);
    for (int i = 0; i < BALLS; i++) {
      check_first(&w, i, &hits[i]);
      if (w.radii[i] == 0) check_point(&w, i, &hits[i]);
    }
    graze_targets_destroy(targets);
    for (int i = 0; i < OBJECTS; i++) graze_mesh_destroy(w.meshes[i]);
  }
}

/* Without ends: what is touched now. */
static void test_still(void **unused) {
  (void)unused;
  static const double corners[9] = {0, 0, 0, 4, 0, 0, 0, 4, 0};
  static const double start[] = {1, 1, 0, 1, 1, 1, -3, -4, 0, 1, 1, 2, 5, 0, 0};
  static const double radii[] = {0, 1, 5, 1.9999999999999998, 1};
  graze_mesh *mesh = test_mesh(context, corners, 1, GRAZE_VOLUMES_ORIENTED);
  graze_targets *targets = NULL;
  graze_target_hit hits[5];
  const graze_particles still = {.count = 5, .start = start, .radius = radii};
  assert_int_equal(graze_targets_create(context, 1, (const graze_mesh *const *)&mesh, NULL, &targets), GRAZE_OK);
  assert_int_equal(graze_motion_particles(context, targets, &still, hits), GRAZE_OK);
  for (int i = 0; i < 5; i++) {
    assert_int_equal(hits[i].object, i == 3 ? GRAZE_NO_TARGET : 0);
    assert_true(hits[i].earliest == 0 && hits[i].latest == 0);
  }
  const graze_particles points = {.count = 5, .start = start};
  assert_int_equal(graze_motion_particles(context, targets, &points, hits), GRAZE_OK);
  for (int i = 0; i < 5; i++) assert_int_equal(hits[i].object, i == 0 ? 0 : GRAZE_NO_TARGET);
  graze_targets_destroy(targets);
  graze_mesh_destroy(mesh);
}

static void test_errors(void **unused) {
  (void)unused;
  graze_targets *targets = NULL;
  graze_target_hit hits[2];
  double start[6] = {0}, end[6] = {0}, radii[2] = {0, -1};
  graze_particles p = {.count = 2, .start = start, .end = end, .radius = radii};
  assert_int_equal(graze_targets_create(context, 0, NULL, NULL, &targets), GRAZE_OK);
  assert_int_equal(graze_motion_particles(context, targets, &p, hits), GRAZE_ERROR_ARGUMENT);
  assert_non_null(strstr(graze_last_error(context)->message, "particle 1"));
  radii[1] = (double)INFINITY;
  assert_int_equal(graze_motion_particles(context, targets, &p, hits), GRAZE_ERROR_ARGUMENT);
  radii[1] = 1;
  end[4] = (double)NAN;
  assert_int_equal(graze_motion_particles(context, targets, &p, hits), GRAZE_ERROR_NOT_FINITE);
  assert_non_null(strstr(graze_last_error(context)->message, "particle 1"));
  end[4] = 0;
  assert_int_equal(graze_motion_particles(context, targets, &p, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_motion_particles(context, NULL, &p, hits), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_motion_particles(context, targets, &p, hits), GRAZE_OK);
  assert_int_equal(hits[0].object, GRAZE_NO_TARGET);
  graze_targets_destroy(targets);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_single), cmocka_unit_test(test_grazing), cmocka_unit_test(test_worlds),
      cmocka_unit_test(test_still),  cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
