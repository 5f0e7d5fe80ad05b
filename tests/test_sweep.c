/* Convex sets on their ways, against motions that the test makes itself, in long doubles: no sample of a way that is
 * free may meet, nor one before a bracket, and at its end something does. Times with a closed form, meetings of hulls
 * against the exact ones of their surfaces, and sets that graze.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "support.h"

typedef long double real;

enum { MOST = 8 };

/* A way: from the start the set turns by `angle` about the axis through its hub, which moves by `shift`. */
typedef struct mover {
  graze_convex set;
  double points[3 * MOST];
  graze_pose start;
  double hub[3]; /* in the set's coordinates */
  double axis[3], angle, shift[3];
} mover;

static double uniform(uint64_t *state, double low, double high) {
  return low + (high - low) * random_unit(state);
}

/* By Rodrigues' formula. */
static graze_pose pose_at(const mover *m, real t) {
  const real angle = t * (real)m->angle, c = cosl(angle), s = sinl(angle);
  const double *u = m->axis;
  graze_pose pose;
  real hub[3], turn[3][3];
  for (int i = 0; i < 3; i++) {
    const double *row = m->start.m + 4 * i;
    hub[i] = (real)row[0] * m->hub[0] + (real)row[1] * m->hub[1] + (real)row[2] * m->hub[2] + (real)row[3];
    for (int j = 0; j < 3; j++) turn[i][j] = (1 - c) * (real)u[i] * (real)u[j] + (i == j ? c : 0);
    turn[i][(i + 1) % 3] -= s * (real)u[(i + 2) % 3];
    turn[i][(i + 2) % 3] += s * (real)u[(i + 1) % 3];
  }
  for (int i = 0; i < 3; i++) {
    real place = hub[i] + t * (real)m->shift[i];
    for (int j = 0; j < 3; j++) {
      real sum = 0;
      for (int k = 0; k < 3; k++) sum += turn[i][k] * (real)m->start.m[4 * k + j];
      pose.m[4 * i + j] = (double)sum;
      place -= sum * (real)m->hub[j];
    }
    pose.m[4 * i + 3] = (double)place;
  }
  return pose;
}

static void make_still(mover *m) {
  m->start = test_translation(0, 0, 0);
  for (int k = 0; k < 3; k++) m->hub[k] = m->shift[k] = m->axis[k] = 0;
  m->axis[2] = 1;
  m->angle = 0;
  m->set.points = m->points;
}

static void make_set(uint64_t *state, mover *m) {
  make_still(m);
  for (int i = 0; i < 3 * MOST; i++) m->points[i] = uniform(state, -0.5, 0.5);
  m->set = (graze_convex){.points = m->points, .count = 1 + random_below(state, MOST)};
  if (random_below(state, 3) == 0) m->set.radius = uniform(state, 0, 0.4);
  if (random_below(state, 2) == 0) return;
  m->set.count = 2;
  m->set.discs[0] = uniform(state, 0.05, 0.5);
  m->set.discs[1] = random_below(state, 2) ? m->set.discs[0] : random_below(state, 2) ? 0 : uniform(state, 0, 0.5);
}

static graze_convex_sweep sweep_of(const mover m[2], bool swapped) {
  graze_convex_sweep sweep;
  graze_moving_convex *const sides[2] = {&sweep.a, &sweep.b};
  for (int i = 0; i < 2; i++) {
    const mover *of = &m[i ^ swapped];
    *sides[i] = (graze_moving_convex){.set = &of->set, .start = of->start, .end = pose_at(of, 1)};
    memcpy(sides[i]->center, of->hub, sizeof of->hub);
  }
  return sweep;
}

static graze_convex_sweep_result ask(const mover m[2], bool swapped, graze_motion_model model) {
  graze_convex_sweep_result result;
  const graze_convex_sweep sweep = sweep_of(m, swapped);
  assert_int_equal(graze_convex_sweeps(shared_context(1), 1, &sweep, model, &result), GRAZE_OK);
  return result;
}

static graze_convex_result measure(const mover m[2], real t) {
  graze_convex_result result;
  const graze_pose poses[2] = {pose_at(&m[0], t), pose_at(&m[1], t)};
  const graze_convex_pair pair = {&m[0].set, &m[1].set, &poses[0], &poses[1]};
  assert_int_equal(graze_convex_batch(shared_context(1), 1, &pair, GRAZE_T1, GRAZE_CONVEX_MEASURE, &result), GRAZE_OK);
  return result;
}

/* ---- random ways ------------------------------------------------------------------------------------------------- */

enum { SAMPLES = 40 };
static const double OFF = 1e-11; /* what rounded ends of ways make of places */

static void check_samples(const mover m[2], const graze_convex_sweep_result *r) {
  const double until = r->verdict == GRAZE_MOTION_FREE ? 1 : r->earliest;
  for (int i = 0; i <= SAMPLES && until > 0; i++) assert_true(measure(m, (real)until * i / SAMPLES).upper > -OFF);
  if (r->verdict == GRAZE_MOTION_HIT) {
    assert_true(r->earliest >= 0 && r->earliest <= r->latest && r->latest <= 1);
    assert_true(measure(m, (real)r->latest).lower <= OFF);
  } else if (r->verdict == GRAZE_MOTION_UNKNOWN) {
    for (int i = 0; i <= SAMPLES; i++)
      assert_true(measure(m, (real)r->latest + (1 - (real)r->latest) * i / SAMPLES).upper > -OFF);
  }
}

/* As many as can be have to be decided, with narrow brackets. */
typedef struct tally {
  int hits, free, unknown, wide;
} tally;

static void count(tally *t, const graze_convex_sweep_result *r) {
  t->hits += r->verdict == GRAZE_MOTION_HIT;
  t->free += r->verdict == GRAZE_MOTION_FREE;
  t->unknown += r->verdict == GRAZE_MOTION_UNKNOWN;
  t->wide += r->verdict == GRAZE_MOTION_HIT && r->latest - r->earliest > 0x1p-30;
}

static void check_both(const mover m[2], graze_motion_model model, tally *t) {
  const graze_convex_sweep_result r = ask(m, false, model), turned = ask(m, true, model);
  check_samples(m, &r);
  count(t, &r);
  assert_true((r.verdict == GRAZE_MOTION_FREE) == (turned.verdict == GRAZE_MOTION_FREE) ||
              r.verdict == GRAZE_MOTION_UNKNOWN || turned.verdict == GRAZE_MOTION_UNKNOWN);
  if (r.verdict == GRAZE_MOTION_HIT && turned.verdict == GRAZE_MOTION_HIT)
    assert_true(r.earliest <= turned.latest && turned.earliest <= r.latest);
}

static void test_random_ways(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1);
  tally t = {0};
  const int rounds = test_rounds(150, 20000);
  for (int round = 0; round < rounds; round++) {
    mover m[2];
    const bool turns = random_below(&state, 2);
    for (int i = 0; i < 2; i++) {
      make_set(&state, &m[i]);
      m[i].start = test_random_pose(&state, 1);
      m[i].start.m[3] += i == 0 ? -0.8 : 0.8;
      for (int k = 0; k < 3; k++) {
        m[i].shift[k] = uniform(&state, -1.5, 1.5) + (k > 0 ? 0 : i == 0 ? 1 : -1);
        m[i].axis[k] = uniform(&state, -1, 1);
        if (turns) m[i].hub[k] = uniform(&state, -0.5, 0.5);
      }
      const double length =
          sqrt(m[i].axis[0] * m[i].axis[0] + m[i].axis[1] * m[i].axis[1] + m[i].axis[2] * m[i].axis[2]);
      for (int k = 0; k < 3; k++) m[i].axis[k] /= length;
      m[i].angle = turns ? uniform(&state, -3, 3) : 0;
    }
    if (!turns) { /* the same 3x3 parts at both ends, to the last bit */
      m[1].start = test_translation(1.2, uniform(&state, -1, 1), uniform(&state, -1, 1));
      m[0].start = test_translation(0, 0, 0);
    }
    check_both(m, turns || random_below(&state, 2) ? GRAZE_MOTION_RIGID : GRAZE_MOTION_LINEAR, &t);
  }
  assert_true(t.hits > rounds / 50 && t.free > rounds / 50 && t.unknown <= 1 + rounds / 50 &&
              t.wide <= 1 + rounds / 50);
}

/* ---- times with a closed form ------------------------------------------------------------------------------------ */

static void check_time(const mover m[2], graze_motion_model model, double time, double wide) {
  for (int swapped = 0; swapped < 2; swapped++) {
    const graze_convex_sweep_result r = ask(m, swapped, model);
    assert_int_equal(r.verdict, GRAZE_MOTION_HIT);
    assert_true(r.earliest <= time + wide && r.latest >= time - wide);
    assert_true(r.latest - r.earliest <= 0x1p-30 + 2 * wide);
  }
}

/* Balls along lines: the smaller root of a quadratic. */
static void check_balls(uint64_t *state) {
  mover m[2];
  for (int i = 0; i < 2; i++) {
    make_still(&m[i]);
    m[i].set.count = 1;
    m[i].set.radius = uniform(state, 0.1, 0.5);
    m[i].set.hull = NULL;
    m[i].set.discs[0] = m[i].set.discs[1] = 0;
    for (int k = 0; k < 3; k++) m[i].points[k] = uniform(state, -0.3, 0.3) + (k == 0 ? 2 * i : 0);
    for (int k = 0; k < 3; k++) m[i].shift[k] = uniform(state, -0.5, 0.5) + (k == 0 ? 1.2 - 2.4 * i : 0);
  }
  real a = 0, b = 0, c = -(real)(m[0].set.radius + m[1].set.radius) * (real)(m[0].set.radius + m[1].set.radius);
  for (int k = 0; k < 3; k++) {
    const real w = (real)m[1].points[k] - m[0].points[k], v = (real)m[1].shift[k] - m[0].shift[k];
    a += v * v;
    b += w * v;
    c += w * w;
  }
  const real inside = b * b - a * c;
  if (inside < 0) {
    assert_int_equal(ask(m, false, GRAZE_MOTION_LINEAR).verdict, GRAZE_MOTION_FREE);
  } else if (inside > 1e-4L && (-b - sqrtl(inside)) / a < 1) {
    check_time(m, GRAZE_MOTION_LINEAR, (double)((-b - sqrtl(inside)) / a), 1e-13);
  }
}

static void put_box(mover *m, double x, double y, double z) {
  m->set = (graze_convex){.points = m->points, .count = 8};
  for (int i = 0; i < 8; i++) {
    m->points[3 * i] = i & 1 ? x : -x;
    m->points[3 * i + 1] = i & 2 ? y : -y;
    m->points[3 * i + 2] = i & 4 ? z : -z;
  }
}

static void put_frustum(mover *m, double length, double r0, double r1) {
  m->set = (graze_convex){.points = m->points, .count = 2, .discs = {r0, r1}};
  memset(m->points, 0, 6 * sizeof *m->points);
  m->points[5] = length;
}

/* A cylinder or a cone that falls on a table, upright, with its tip first, or lying; it flies over it far too fast for
 * any step. */
static void check_falls(uint64_t *state) {
  mover m[2];
  const double height = uniform(state, 0.5, 3), fall = uniform(state, 4, 1e4), r = uniform(state, 0.1, 0.5);
  const uint32_t kind = random_below(state, 3);
  make_still(&m[0]);
  make_still(&m[1]);
  put_box(&m[0], 3, 3, 1e-3);
  put_frustum(&m[1], 1, kind == 1 ? 0 : r, r);
  m[1].start = test_translation(0.25, 0.5, height + 1e-3);
  if (kind == 2) { /* the axis along x */
    m[1].start = (graze_pose){{0, 0, 1, 0.25, 1, 0, 0, 0.5, 0, 1, 0, height + 1e-3 + r}};
  }
  m[1].shift[2] = -fall;
  check_time(m, GRAZE_MOTION_LINEAR, height / fall, 1e-12);
  check_time(m, GRAZE_MOTION_RIGID, height / fall, 1e-12);
}

/* A bar that turns about its end, in a plane, until it meets a ball: the angle less that under which the ball is seen.
 */
static void check_bars(uint64_t *state, bool is_round) {
  mover m[2];
  const double at = uniform(state, 0.5, 0.9), angle = uniform(state, 1, 2.5), turn = uniform(state, 2.6, 3.1);
  const double r = uniform(state, 0.01, 0.1), wide = uniform(state, 0.01, 0.1);
  make_still(&m[0]);
  make_still(&m[1]);
  m[0].set = (graze_convex){.points = m[0].points, .count = 2};
  memset(m[0].points, 0, sizeof m[0].points);
  m[0].points[3] = 1;
  if (is_round) { /* of a cylinder the side is what meets it */
    m[0].set.discs[0] = m[0].set.discs[1] = wide;
  } else {
    m[0].set.radius = wide;
  }
  m[0].angle = turn;
  m[1].set = (graze_convex){.points = m[1].points, .count = 1, .radius = r};
  m[1].points[0] = at * cos(angle);
  m[1].points[1] = at * sin(angle);
  m[1].points[2] = 0;
  check_time(m, GRAZE_MOTION_RIGID, (angle - asin((r + wide) / at)) / turn, 1e-12);
  m[1].points[2] = r + wide + 1e-6; /* just above the plane of the bar */
  assert_int_equal(ask(m, false, GRAZE_MOTION_RIGID).verdict, GRAZE_MOTION_FREE);
}

/* What passes at just the distance that makes them touch may be told either way, but not left out. */
static void check_grazing(uint64_t *state) {
  mover m[2];
  static const double gaps[] = {1e-3, 1e-6, 1e-9, -1e-9, -1e-6, -1e-3, 0};
  const double gap = gaps[random_below(state, 7)], r = uniform(state, 0.1, 0.5);
  make_still(&m[0]);
  make_still(&m[1]);
  put_frustum(&m[0], 2, r, r);
  m[1].set = (graze_convex){.points = m[1].points, .count = 1, .radius = 0.25};
  m[1].points[0] = r + 0.25 + gap;
  m[1].points[1] = -2;
  m[1].points[2] = 1;
  m[1].shift[1] = 4;
  const graze_convex_sweep_result x = ask(m, random_below(state, 2), GRAZE_MOTION_LINEAR);
  if (gap > 0) assert_int_equal(x.verdict, GRAZE_MOTION_FREE);
  if (gap < 0) assert_int_equal(x.verdict, GRAZE_MOTION_HIT);
  if (gap == 0) assert_int_not_equal(x.verdict, GRAZE_MOTION_FREE);
  if (gap <= 0) assert_true(x.earliest <= 0.5 && x.latest >= 0.5 - 2 * sqrt(-gap));
}

/* A disc whose axis a pose makes so short that rounding tilts it by 10^-10 passes below a ball that it does not touch
 * otherwise, by less than that. */
static void check_short_axis(uint64_t *state) {
  mover m[2];
  make_still(&m[0]);
  make_still(&m[1]);
  put_frustum(&m[0], 1, 1, 1);
  for (int k = 0; k < 3; k++) m[0].start.m[5 * k] = 0x1p-20;
  m[0].start.m[3] = uniform(state, 0.5, 1);
  m[0].start.m[7] = -2;
  m[0].shift[1] = 4;
  m[1].set = (graze_convex){.points = m[1].points, .count = 1, .radius = 0.25};
  m[1].points[0] = m[0].start.m[3] + uniform(state, -0.9, 0.9);
  m[1].points[1] = 0;
  m[1].points[2] = 0x1p-20 + 0.25 + 3e-11;
  assert_int_not_equal(ask(m, random_below(state, 2), GRAZE_MOTION_LINEAR).verdict, GRAZE_MOTION_FREE);
  m[1].points[2] += 1e-3;
  assert_int_equal(ask(m, random_below(state, 2), GRAZE_MOTION_LINEAR).verdict, GRAZE_MOTION_FREE);
}

static void test_closed_forms(void **unused) {
  (void)unused;
  uint64_t state = test_seed(2);
  for (int round = 0; round < test_rounds(200, 20000); round++) {
    check_balls(&state);
    check_falls(&state);
    check_bars(&state, round & 1);
    check_grazing(&state);
    check_short_axis(&state);
  }
}

/* ---- surfaces ---------------------------------------------------------------------------------------------------- */

/* Two hulls that are apart at first meet when their surfaces do, which is decided exactly. */
static void check_surfaces(uint64_t *state, graze_query *query, tally *t) {
  mover m[2];
  graze_hull *hulls[2];
  graze_mesh *meshes[2];
  graze_convex_sweep sweep;
  const bool shears = random_below(state, 2);
  for (int i = 0; i < 2; i++) {
    make_still(&m[i]);
    for (int k = 0; k < 3 * MOST; k++) m[i].points[k] = uniform(state, -0.5, 0.5);
    m[i].set = (graze_convex){.points = m[i].points, .count = MOST};
    m[i].start = test_translation(1.2 * i, uniform(state, -0.3, 0.3), uniform(state, -0.3, 0.3));
    for (int k = 0; k < 3; k++) m[i].shift[k] = uniform(state, -1, 1) + (k == 0 ? 0.5 - i : 0);
    assert_int_equal(graze_hull_create(shared_context(1), MOST, m[i].points, &hulls[i]), GRAZE_OK);
  }
  sweep = sweep_of(m, false);
  graze_moving_convex *const sides[2] = {&sweep.a, &sweep.b};
  graze_motion_body bodies[2];
  for (int i = 0; i < 2; i++) {
    if (shears) sides[i]->end.m[random_below(state, 3) * 4 + random_below(state, 3)] += uniform(state, -0.5, 0.5);
    double corners[9 * 2 * MOST];
    for (uint32_t k = 0; k < 3 * hulls[i]->triangle_count; k++)
      memcpy(corners + 3 * (size_t)k, hulls[i]->points + 3 * (size_t)hulls[i]->triangles[k], 3 * sizeof *corners);
    meshes[i] = test_mesh(shared_context(1), corners, hulls[i]->triangle_count, GRAZE_VOLUMES_ALIGNED);
    bodies[i] = (graze_motion_body){meshes[i], sides[i]->start, sides[i]->end};
  }
  graze_motion_result exact;
  graze_convex_sweep_result r;
  assert_int_equal(graze_motion_meshes(query, &bodies[0], &bodies[1], NULL, &exact), GRAZE_OK);
  assert_int_equal(graze_convex_sweeps(shared_context(1), 1, &sweep, GRAZE_MOTION_LINEAR, &r), GRAZE_OK);
  count(t, &r);
  if (r.verdict == GRAZE_MOTION_FREE) assert_int_equal(exact.verdict, GRAZE_MOTION_FREE);
  if (r.verdict == GRAZE_MOTION_HIT) {
    assert_int_equal(exact.verdict, GRAZE_MOTION_HIT);
    assert_true(r.earliest <= exact.latest && exact.earliest <= r.latest + 1e-13);
  }
  for (int i = 0; i < 2; i++) {
    graze_mesh_destroy(meshes[i]);
    graze_hull_destroy(hulls[i]);
  }
}

static void test_surfaces(void **unused) {
  (void)unused;
  uint64_t state = test_seed(3);
  graze_query *query;
  tally t = {0};
  const int rounds = test_rounds(200, 10000);
  assert_int_equal(graze_query_create(shared_context(1), &query), GRAZE_OK);
  for (int round = 0; round < rounds; round++) check_surfaces(&state, query, &t);
  graze_query_destroy(query);
  assert_true(t.hits > rounds / 50 && t.free > rounds / 50 && t.unknown <= 1 + rounds / 50);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static void check_error(graze_convex_sweep sweep, graze_motion_model model, graze_status status, const char *message) {
  graze_convex_sweep_result result;
  assert_int_equal(graze_convex_sweeps(shared_context(1), 1, &sweep, model, &result), status);
  assert_non_null(strstr(shared_error()->message, message));
}

static void test_calls(void **unused) {
  (void)unused;
  enum { COUNT = 100 };
  static mover m[COUNT][2];
  static graze_convex_sweep sweeps[COUNT];
  static graze_convex_sweep_result one[COUNT], four[COUNT];
  uint64_t state = test_seed(4);
  for (int i = 0; i < COUNT; i++) {
    for (int s = 0; s < 2; s++) {
      make_set(&state, &m[i][s]);
      m[i][s].start = test_random_pose(&state, 1.5);
      m[i][s].angle = uniform(&state, -2, 2);
      m[i][s].shift[0] = uniform(&state, -2, 2);
    }
    sweeps[i] = sweep_of(m[i], false);
  }
  assert_int_equal(graze_convex_sweeps(shared_context(1), COUNT, sweeps, GRAZE_MOTION_RIGID, one), GRAZE_OK);
  assert_int_equal(graze_convex_sweeps(shared_context(4), COUNT, sweeps, GRAZE_MOTION_RIGID, four), GRAZE_OK);
  for (int i = 0; i < COUNT; i++) {
    assert_true(one[i].verdict == four[i].verdict && one[i].earliest == four[i].earliest &&
                one[i].latest == four[i].latest);
    assert_memory_equal(one[i].normal, four[i].normal, sizeof one[i].normal);
  }
  assert_int_equal(graze_convex_sweeps(shared_context(1), 0, NULL, GRAZE_MOTION_RIGID, NULL), GRAZE_OK);
  put_frustum(&m[0][0], 1, 0.5, 0);
  graze_convex_sweep bad = sweeps[0];
  check_error(bad, GRAZE_MOTION_LINEAR, GRAZE_ERROR_POSE, "sweep 0, a: it has discs, and moves straight");
  check_error(bad, GRAZE_MOTION_STEPS, GRAZE_ERROR_ARGUMENT, "the model of motion");
  bad.b.end.m[0] += 0.1;
  check_error(bad, GRAZE_MOTION_RIGID, GRAZE_ERROR_POSE, "sweep 0, b: it moves to a pose that is not rigid");
  bad.b.center[1] = NAN;
  check_error(bad, GRAZE_MOTION_RIGID, GRAZE_ERROR_ARGUMENT, "sweep 0, b: its center is not finite");
  bad.a.end.m[7] = INFINITY;
  check_error(bad, GRAZE_MOTION_RIGID, GRAZE_ERROR_NOT_FINITE, "sweep 0, a: its pose is not finite");
  m[0][0].set.discs[0] = -1;
  check_error(bad, GRAZE_MOTION_RIGID, GRAZE_ERROR_ARGUMENT, "sweep 0, a: the radius of a disc");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_ways), cmocka_unit_test(test_closed_forms),
                                     cmocka_unit_test(test_surfaces), cmocka_unit_test(test_calls)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
