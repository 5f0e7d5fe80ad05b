/* Pairs with cylinders, cones and frusta, against what shares no code with them: sets as formulas in long doubles.
 *
 * What is told is proved again: the gap along the normal is at least `lower`; places are in their sets and no farther
 * from each other than `upper`, or else no direction that a dense sampling finds, made better step by step, parts the
 * sets with less. Then configurations whose distance or depth has a closed form, and exact relations of round objects.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "support.h"

typedef long double real;

enum { MOST = 12 };

typedef struct shape {
  graze_convex set;
  double points[3 * MOST];
  graze_pose pose;
  double posed[MOST][3];
} shape;

/* ---- the oracle ------------------------------------------------------------------------------------------------- */

static real dot(const real a[3], const real b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void unit(real v[3]) {
  const real length = sqrtl(dot(v, v));
  for (int k = 0; k < 3; k++) v[k] /= length;
}

static void axis_of(const shape *s, real out[3]) {
  for (int k = 0; k < 3; k++) out[k] = (real)s->posed[1][k] - (real)s->posed[0][k];
  unit(out);
}

static bool has_discs(const shape *s) {
  return s->set.discs[0] > 0 || s->set.discs[1] > 0;
}

/* How far the set reaches along a unit vector, its radius included. */
static real reach(const shape *s, const real n[3]) {
  real most = -INFINITY, across = 0;
  if (has_discs(s)) {
    real axis[3];
    axis_of(s, axis);
    const real along = dot(n, axis);
    real aside[3];
    for (int k = 0; k < 3; k++) aside[k] = n[k] - along * axis[k];
    across = sqrtl(dot(aside, aside));
  }
  for (uint32_t i = 0; i < s->set.count; i++) {
    const real p[3] = {s->posed[i][0], s->posed[i][1], s->posed[i][2]};
    const real at = dot(n, p) + (has_discs(s) ? (real)s->set.discs[i] * across : 0);
    most = at > most ? at : most;
  }
  return most + (real)s->set.radius;
}

/* Along n from a to b; below 0 if they overlap in it. */
static real gap_along(const shape s[2], const real n[3]) {
  const real against[3] = {-n[0], -n[1], -n[2]};
  return -reach(&s[0], n) - reach(&s[1], against);
}

/* How far a point is outside of a frustum that is not grown, or 0; slant ways across the axis. */
static real outside(const shape *s, const real at[3]) {
  real axis[3], w[3], aside[3], length[3];
  axis_of(s, axis);
  for (int k = 0; k < 3; k++) {
    w[k] = at[k] - (real)s->posed[0][k];
    length[k] = (real)s->posed[1][k] - (real)s->posed[0][k];
  }
  const real whole = sqrtl(dot(length, length)), z = dot(w, axis);
  for (int k = 0; k < 3; k++) aside[k] = w[k] - z * axis[k];
  const real r = sqrtl(dot(aside, aside)), share = z < 0 ? 0 : z > whole ? 1 : z / whole;
  const real wide = (1 - share) * (real)s->set.discs[0] + share * (real)s->set.discs[1];
  real most = -z > z - whole ? -z : z - whole;
  most = r - wide > most ? r - wide : most;
  return most > 0 ? most : 0;
}

static real best_gap(const shape s[2], const real first[3], int steps) {
  real n[3] = {first[0], first[1], first[2]}, best = gap_along(s, n);
  for (real step = 0.1L; step > 1e-11L && steps > 0; steps--) {
    real u[3] = {0, 0, 0}, found[3];
    const int least =
        fabsl(n[0]) < fabsl(n[1]) ? (fabsl(n[0]) < fabsl(n[2]) ? 0 : 2) : (fabsl(n[1]) < fabsl(n[2]) ? 1 : 2);
    u[(least + 1) % 3] = -n[(least + 2) % 3];
    u[(least + 2) % 3] = n[(least + 1) % 3];
    unit(u);
    const real v[3] = {n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2], n[0] * u[1] - n[1] * u[0]};
    bool better = false;
    for (int i = 0; i < 12; i++) {
      const real angle = (real)i * 0.5235987755982988L + (real)(steps % 7), c = step * cosl(angle),
                 d = step * sinl(angle);
      real m[3] = {n[0] + c * u[0] + d * v[0], n[1] + c * u[1] + d * v[1], n[2] + c * u[2] + d * v[2]};
      unit(m);
      const real gap = gap_along(s, m);
      if (!(gap > best)) continue;
      best = gap;
      better = true;
      memcpy(found, m, sizeof found);
    }
    if (better) memcpy(n, found, sizeof n);
    step = better ? step * 1.5L : step / 2;
  }
  return best;
}

enum { SAMPLES = 300, STARTS = 3 };

/* The largest gap that directions all around have, made better from the best few. */
static real sampled_gap(const shape s[2], const double hint[3]) {
  real best[STARTS], n[STARTS][3], most = -INFINITY;
  for (int i = 0; i < STARTS; i++) best[i] = -INFINITY;
  for (int i = 0; i < SAMPLES; i++) {
    const real z = 1 - (2 * (real)i + 1) / SAMPLES, r = sqrtl(1 - z * z), turn = (real)i * 2.399963229728653L;
    const real m[3] = {r * cosl(turn), r * sinl(turn), z}, gap = gap_along(s, m);
    int at = 0;
    for (int k = 1; k < STARTS; k++) at = best[k] < best[at] ? k : at;
    if (gap <= best[at]) continue;
    best[at] = gap;
    memcpy(n[at], m, sizeof m);
  }
  for (int i = 0; i < STARTS; i++) {
    const real gap = best_gap(s, n[i], 120);
    most = gap > most ? gap : most;
  }
  const real given[3] = {hint[0], hint[1], hint[2]}, gap = best_gap(s, given, 60);
  return gap > most ? gap : most;
}

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

static void pose_shape(shape *s) {
  s->set.points = s->points;
  for (uint32_t i = 0; i < s->set.count; i++) graze_pose_apply(&s->pose, s->points + 3 * (size_t)i, s->posed[i]);
}

static double uniform(uint64_t *state, double low, double high) {
  return low + (high - low) * random_unit(state);
}

static void make_frustum(shape *s, double length, double r0, double r1) {
  s->set = (graze_convex){.count = 2, .discs = {r0, r1}};
  s->points[0] = s->points[1] = s->points[3] = s->points[4] = 0;
  s->points[2] = -length / 2;
  s->points[5] = length / 2;
}

static void make_box(shape *s, double x, double y, double z) {
  s->set = (graze_convex){.count = 8};
  for (int i = 0; i < 8; i++) {
    s->points[3 * i] = i & 1 ? x / 2 : -x / 2;
    s->points[3 * i + 1] = i & 2 ? y / 2 : -y / 2;
    s->points[3 * i + 2] = i & 4 ? z / 2 : -z / 2;
  }
}

static void make_cloud(uint64_t *state, shape *s, uint32_t count) {
  s->set = (graze_convex){.count = count};
  for (uint32_t i = 0; i < 3 * count; i++) s->points[i] = uniform(state, -1, 1);
}

static double some_size(uint64_t *state) {
  static const double sizes[] = {1, 0.5, 0.25, 2, 0.05, 1e-3, 0, 0};
  const double size = sizes[random_below(state, 8)];
  return size > 0 ? size : uniform(state, 0.1, 1.5);
}

static void make_round(uint64_t *state, shape *s) {
  const double r = some_size(state);
  const uint32_t kind = random_below(state, 3);
  make_frustum(s, some_size(state), r, kind == 0 ? r : kind == 1 ? 0 : some_size(state));
}

static void make_any(uint64_t *state, shape *s) {
  switch (random_below(state, 6)) {
    case 0:
      make_box(s, some_size(state), some_size(state), some_size(state));
      break;
    case 1:
      make_cloud(state, s, 1 + random_below(state, MOST));
      break;
    case 2:
      make_cloud(state, s, 1 + random_below(state, 2));
      s->set.radius = some_size(state);
      break;
    default:
      make_round(state, s);
      if (random_below(state, 4) == 0) s->set.radius = 0.25 * some_size(state);
  }
}

static void place(shape *s, const double pose[12]) {
  memcpy(s->pose.m, pose, sizeof s->pose.m);
  pose_shape(s);
}

/* ---- checks ----------------------------------------------------------------------------------------------------- */

static graze_convex_result ask(const shape s[2], bool swapped, graze_exactness exactness, graze_convex_ask what) {
  graze_convex_result result;
  const graze_convex_pair pair = {&s[swapped].set, &s[!swapped].set, &s[swapped].pose, &s[!swapped].pose};
  assert_int_equal(graze_convex_batch(shared_context(1), 1, &pair, exactness, what, &result), GRAZE_OK);
  return result;
}

static void print_shapes(const shape s[2]) {
  for (int i = 0; i < 2; i++) {
    print_error("%u discs %a %a radius %a:", s[i].set.count, s[i].set.discs[0], s[i].set.discs[1], s[i].set.radius);
    for (uint32_t k = 0; k < s[i].set.count; k++)
      print_error("  %a %a %a", s[i].posed[k][0], s[i].posed[k][1], s[i].posed[k][2]);
    print_error("\n");
  }
}

#define CHECK(condition)                                                                      \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      print_shapes(s);                                                                        \
      print_error("%.17g in %.17g %.17g, hit %d\n", r->distance, r->lower, r->upper, r->hit); \
      assert_true(condition);                                                                 \
    }                                                                                         \
  } while (0)

/* Of both sets about each other, radii included. */
static real size_of(const shape s[2]) {
  real size = 0;
  for (int i = 0; i < 2; i++) {
    size += (real)s[i].set.radius + (real)fmax(s[i].set.discs[0], s[i].set.discs[1]);
    for (uint32_t v = 0; v < s[i].set.count; v++) {
      real way[3];
      for (int k = 0; k < 3; k++) way[k] = (real)s[i].posed[v][k] - (real)s[0].posed[0][k];
      const real length = sqrtl(dot(way, way));
      size = length > size ? length : size;
    }
  }
  return size;
}

/* The bracket's lower end by its own normal, places by formulas. */
static void check_proofs(const shape s[2], const graze_convex_result *r, real size) {
  const real n[3] = {r->normal[0], r->normal[1], r->normal[2]};
  CHECK(fabsl(dot(n, n) - 1) < 1e-14L);
  CHECK(gap_along(s, n) >= (real)r->lower - 1e-15L * size);
  CHECK(r->lower <= r->distance && r->distance <= r->upper);
  CHECK(r->hit == (r->lower > 0 ? GRAZE_CONVEX_APART : r->upper <= 0 ? GRAZE_CONVEX_HIT : GRAZE_CONVEX_UNKNOWN));
  for (int i = 0; i < 2; i++) {
    real core[3];
    for (int k = 0; k < 3; k++) core[k] = (real)r->points[i][k] - (i == 0 ? 1 : -1) * (real)s[i].set.radius * n[k];
    if (has_discs(&s[i])) CHECK(outside(&s[i], core) <= 1e-12L * size);
  }
  for (int k = 0; k < 3; k++) {
    const real way = (real)r->points[1][k] - (real)r->points[0][k];
    CHECK(fabsl(way - (real)r->distance * n[k]) <= 2e-6L * size);
  }
}

static void check_pair(const shape s[2], real width) {
  const graze_convex_result result = ask(s, false, GRAZE_T1, GRAZE_CONVEX_MEASURE), *r = &result;
  const real size = size_of(s), gap = sampled_gap(s, r->normal);
  check_proofs(s, r, size);
  CHECK((real)r->upper >= gap - 1e-15L * size);
  CHECK((real)r->lower >= gap - width * size);
  CHECK((real)r->upper - (real)r->lower <= width * size);
  const graze_convex_result turned = ask(s, true, GRAZE_T1, GRAZE_CONVEX_MEASURE);
  CHECK(turned.lower <= r->upper && r->lower <= turned.upper);
  const graze_convex_result meet = ask(s, false, GRAZE_T1, GRAZE_CONVEX_MEET);
  CHECK(meet.hit == r->hit || (r->lower < 1e-14 * (double)size && r->upper > -1e-14 * (double)size));
}

static void test_any_pairs(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1);
  for (int round = 0; round < test_rounds(100, 20000); round++) {
    shape s[2];
    make_round(&state, &s[0]);
    make_any(&state, &s[1]);
    if (random_below(&state, 2)) {
      const shape other = s[0];
      s[0] = s[1];
      s[1] = other;
    }
    for (int i = 0; i < 2; i++) {
      const graze_pose pose = test_random_pose(&state, uniform(&state, 0.01, 1.5));
      place(&s[i], pose.m);
    }
    check_pair(s, 1e-12L);
  }
}

/* ---- closed forms ------------------------------------------------------------------------------------------------ */

/* With the ends of the axis at these places of the common frame. */
static void put_frustum(shape *s, const double from[3], const double to[3], double r0, double r1) {
  s->set = (graze_convex){.count = 2, .discs = {r0, r1}};
  memcpy(s->points, from, 3 * sizeof *from);
  memcpy(s->points + 3, to, 3 * sizeof *to);
}

/* Upright, from z upwards, beside the axis of the frame. */
static void put_upright(shape *s, double x, double z, double length, double r0, double r1) {
  put_frustum(s, (const double[3]){x, 0, z}, (const double[3]){x, 0, z + length}, r0, r1);
}

static void put_ball(shape *s, double x, double y, double z, double radius) {
  s->set = (graze_convex){.count = 1, .radius = radius};
  s->points[0] = x;
  s->points[1] = y;
  s->points[2] = z;
}

/* A box of these edges with its top at z = 0. */
static void put_table(shape *s, double x, double y, double z) {
  make_box(s, x, y, z);
  for (int i = 0; i < 8; i++) s->points[3 * i + 2] -= z / 2;
}

static double most_of(double a, double b) {
  return a > b ? a : b;
}

/* From a rectangle about the origin, in a plane. */
static double from_rectangle(double x, double y, double half_x, double half_y) {
  const double u = fabs(x) - half_x, v = fabs(y) - half_y;
  return u > 0 && v > 0 ? sqrt(u * u + v * v) : most_of(u, v);
}

/* Some configuration whose signed distance is known: it is given. `g` is a gap, or below 0 an overlap. */
static double configure(uint64_t *state, int kind, double g, shape s[2]) {
  const double r = uniform(state, 0.5, 1.5), q = uniform(state, 0.5, 1.5), l = uniform(state, 2, 3);
  const double x = uniform(state, -0.4, 0.4);
  switch (kind) {
    case 0: /* on top of each other, not quite in line */
      put_upright(&s[0], 0, -l, l, r, r);
      put_upright(&s[1], x, g, l, q, q);
      return g;
    case 1: /* side by side */
      put_upright(&s[0], 0, 0, l, r, r);
      put_upright(&s[1], r + q + g, x, l + 1, q, q);
      return g;
    case 2: /* in one line: as deep along a circle of directions */
      put_upright(&s[0], 0, -1, 4, 0.25, 0.25);
      put_upright(&s[1], 0, -3, 7, q, q);
      return -(0.25 + q);
    case 3: /* across each other */
      put_frustum(&s[0], (const double[3]){-l, 0, 0}, (const double[3]){l, 0, 0}, r, r);
      put_frustum(&s[1], (const double[3]){x, -l, r + q + g}, (const double[3]){x, l, r + q + g}, q, q);
      return g;
    case 4: { /* a ball beside, above or in a cylinder */
      const double at = uniform(state, -3, 3), z = uniform(state, -3, 3);
      put_upright(&s[0], 0, -l / 2, l, r, r);
      put_ball(&s[1], at * 0.6, at * 0.8, z, q);
      return from_rectangle(at, z, r, l / 2) - q;
    }
    case 5: /* the tip of a cone on a face */
      put_upright(&s[0], x, g, l, 0, q);
      put_table(&s[1], 4, 4, 4);
      return g;
    case 6: { /* the tip of a cone beside an edge, where the way from the edge is among its normals */
      const double angle = uniform(state, 0.35, 0.65), d = fabs(g) + 0.01, up = 1.5707963267948966 * angle;
      put_table(&s[1], 4, 4, 4);
      const double tip[3] = {2 + d * cos(up), x, d * sin(up)};
      put_frustum(&s[0], tip, (const double[3]){tip[0] + 2 * cos(up), x, tip[2] + 2 * sin(up)}, 0, 0.5 * r);
      return d;
    }
    case 7: /* a cylinder that lies on a face, at an angle to its edges */
      put_table(&s[1], 6, 6, 5);
      put_frustum(&s[0], (const double[3]){-1, x, r + g}, (const double[3]){1, 2 * x, r + g}, r, r);
      return g;
    case 8: /* one that stands on it */
      put_table(&s[1], 6, 6, 5);
      put_upright(&s[0], x, g, l, r, q);
      return g;
    default: /* a cylinder in a capsule's way: the side of the one, the end of the other */
      put_upright(&s[0], 0, 0, l, r, r);
      s[1].set = (graze_convex){.count = 2, .radius = 0.5 * q};
      const double ends[6] = {r + 0.5 * q + g, 0, 1 + x, r + 0.5 * q + g + 2, 0, 1.5};
      memcpy(s[1].points, ends, sizeof ends);
      return g;
  }
}

/* Rounded poses leave that much of what was to be. */
static void check_truth(const shape s[2], const graze_convex_result *r, real truth, real size) {
  const real off = 2e-15L * size;
  CHECK((real)r->lower <= truth + off && (real)r->upper >= truth - off);
  CHECK((real)r->upper - (real)r->lower <= 1e-12L * size);
  if (truth > 2e-13L * size) CHECK(r->hit == GRAZE_CONVEX_APART);
  if (truth < -2e-13L * size) CHECK(r->hit == GRAZE_CONVEX_HIT);
}

static void scale_shape(shape *s, int power) {
  for (uint32_t i = 0; i < 3 * s->set.count; i++) s->points[i] = ldexp(s->points[i], power);
  for (int k = 0; k < 3; k++) s->pose.m[4 * k + 3] = ldexp(s->pose.m[4 * k + 3], power);
  for (int e = 0; e < 2; e++) s->set.discs[e] = ldexp(s->set.discs[e], power);
  s->set.radius = ldexp(s->set.radius, power);
  pose_shape(s);
}

static void test_closed_forms(void **unused) {
  (void)unused;
  static const double gaps[] = {0.3, 1e-3, 1e-6, 1e-9, 1e-11, 0, -1e-11, -1e-9, -1e-6, -1e-3, -0.1};
  static const int powers[] = {0, 0, -300, -40, 40, 300};
  uint64_t state = test_seed(2);
  for (int round = 0; round < test_rounds(600, 60000); round++) {
    shape s[2];
    const double truth = configure(&state, round % 10, gaps[random_below(&state, 11)], s);
    const graze_pose pose = test_random_pose(&state, 1);
    for (int i = 0; i < 2; i++) place(&s[i], pose.m);
    real size = size_of(s);
    const int power = powers[random_below(&state, 6)];
    for (int i = 0; i < 2; i++) scale_shape(&s[i], power);
    for (int tier = GRAZE_T1; tier <= GRAZE_T2; tier++) {
      graze_convex_result result = ask(s, round & 1, (graze_exactness)tier, (graze_convex_ask)(1 + round / 2 % 2));
      const graze_convex_result meet = ask(s, round & 1, (graze_exactness)tier, GRAZE_CONVEX_MEET), *r = &result;
      result.lower = ldexp(result.lower, -power);
      result.upper = ldexp(result.upper, -power);
      check_truth(s, r, (real)truth, size);
      if (fabs(truth) > 1e-12) CHECK(meet.hit == r->hit);
      CHECK(meet.lower == 0 && meet.upper == 0);
    }
  }
}

/* Anything finite: numbers of all sizes, next to each other too. What is told in both orders has to agree. */
static void test_extremes(void **unused) {
  (void)unused;
  uint64_t state = test_seed(5);
  for (int round = 0; round < test_rounds(200, 60000); round++) {
    shape s[2];
    const int least = -1000 + (int)random_below(&state, 1900), wide = 1 + (int)random_below(&state, 60);
    for (int i = 0; i < 2; i++) {
      make_round(&state, &s[i]);
      for (int k = 0; k < 6; k++)
        s[i].points[k] = ldexp(uniform(&state, -1, 1), least + (int)random_below(&state, (uint32_t)wide));
      for (int e = 0; e < 2; e++)
        s[i].set.discs[e] = ldexp(s[i].set.discs[e], least + (int)random_below(&state, (uint32_t)wide));
      s[i].pose = test_translation(0, 0, 0);
      pose_shape(&s[i]);
    }
    const graze_convex_result result = ask(s, false, GRAZE_T2, GRAZE_CONVEX_MEASURE), *r = &result;
    const graze_convex_result turned = ask(s, true, GRAZE_T1, GRAZE_CONVEX_MEASURE);
    CHECK(r->lower <= r->distance && r->distance <= r->upper && r->upper < (double)INFINITY);
    CHECK(r->lower <= turned.upper && turned.lower <= r->upper);
  }
}

/* ---- exact relations --------------------------------------------------------------------------------------------- */

/* A cylinder of a lattice and a ball or a parallel one, often in touch: what their exact relation says. */
static void check_relation(uint64_t *state, graze_query *query, uint32_t *unknown) {
  double ends[2][2][3];
  shape s[2];
  const bool is_ball = random_below(state, 2);
  const uint32_t axis = random_below(state, 3);
  graze_round_side sides[2];
  graze_mesh *cores[2];
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < 3; k++) ends[i][0][k] = ends[i][1][k] = random_below(state, 7);
    if (i == 0 || !is_ball) ends[i][1][axis] += 1 + random_below(state, 4);
    const double r = (1 + random_below(state, 6)) * 0.5;
    put_frustum(&s[i], ends[i][0], ends[i][1], r, r);
    if (i == 1 && is_ball) s[i].set = (graze_convex){.count = 1, .radius = r};
    s[i].pose = test_translation(0, 0, 0);
    pose_shape(&s[i]);
    assert_int_equal(graze_round_create_core(shared_context(1), (const double(*)[3])ends[i], &cores[i]), GRAZE_OK);
    sides[i] = (graze_round_side){cores[i], NULL, r, i == 0 || !is_ball};
  }
  graze_relate_result found;
  assert_int_equal(graze_round_relate(query, &sides[0], &sides[1], NULL, &found), GRAZE_OK);
  const graze_convex_result result = ask(s, random_below(state, 2), GRAZE_T2, GRAZE_CONVEX_MEASURE), *r = &result;
  CHECK(found.verdict.relation == GRAZE_SEPARATE ? r->hit != GRAZE_CONVEX_HIT : r->hit != GRAZE_CONVEX_APART);
  CHECK(r->upper - r->lower <= 1e-12 * (double)size_of(s));
  if (r->hit == GRAZE_CONVEX_UNKNOWN) CHECK(found.verdict.relation == GRAZE_TOUCH);
  *unknown += r->hit == GRAZE_CONVEX_UNKNOWN;
  for (int i = 0; i < 2; i++) graze_mesh_destroy(cores[i]);
}

static void test_relations(void **unused) {
  (void)unused;
  uint64_t state = test_seed(3);
  uint32_t unknown = 0;
  graze_query *query;
  assert_int_equal(graze_query_create(shared_context(1), &query), GRAZE_OK);
  const int rounds = test_rounds(1000, 100000);
  for (int round = 0; round < rounds; round++) check_relation(&state, query, &unknown);
  graze_query_destroy(query);
  assert_true(unknown > 0 && unknown < (uint32_t)rounds / 2); /* what touches exactly */
}

/* ---- contact points ---------------------------------------------------------------------------------------------- */

static void test_contacts(void **unused) {
  (void)unused;
  graze_hull *hull;
  shape s[2];
  put_table(&s[1], 6, 6, 5);
  assert_int_equal(graze_hull_create(shared_context(1), 8, s[1].points, &hull), GRAZE_OK);
  const graze_convex table = graze_convex_of_hull(hull, 0);
  const graze_pose pose = test_translation(0.25, 0, 0);
  const graze_convex_pair pair = {&table, &s[0].set, NULL, &pose};
  graze_manifold m = {.count = 0};
  s[0].set.points = s[0].points;
  put_upright(&s[0], 0, -0.125, 2, 1, 0.5);
  s[0].set.points = s[0].points;
  assert_int_equal(graze_convex_touch(shared_context(1), 1, &pair, 0.01, &m), GRAZE_OK);
  assert_true(m.count == 4 && m.reference == 1 && m.normal[2] == 1);
  for (int i = 0; i < 4; i++) {
    const double x = m.points[i].at[0] - 0.25, y = m.points[i].at[1];
    assert_true(fabs(m.points[i].gap + 0.125) < 1e-15 && fabs(x * x + y * y - 1) < 1e-14);
    for (int j = 0; j < i; j++) assert_true(m.points[i].feature != m.points[j].feature);
  }
  put_frustum(&s[0], (const double[3]){-1, 0, 0.5}, (const double[3]){1, 0, 0.5}, 0.5, 0.5);
  s[0].set.points = s[0].points;
  assert_int_equal(graze_convex_touch(shared_context(1), 1, &pair, 0.01, &m), GRAZE_OK);
  assert_true(m.count == 2 && fabs(m.points[0].gap) < 1e-15 && fabs(m.points[1].gap) < 1e-15);
  assert_true(fabs(fabs(m.points[0].at[0] - m.points[1].at[0]) - 2) < 1e-15 && m.points[0].at[1] == 0);
  put_upright(&s[0], 0, 0.005, 2, 0, 0.5); /* a tip */
  s[0].set.points = s[0].points;
  assert_int_equal(graze_convex_touch(shared_context(1), 1, &pair, 0.01, &m), GRAZE_OK);
  assert_true(m.count == 1 && fabs(m.points[0].gap - 0.005) < 1e-15 && fabs(m.points[0].at[0] - 0.25) < 1e-15);
  graze_hull_destroy(hull);
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

static void check_error(graze_convex_pair *pair, graze_status status, const char *message) {
  graze_convex_pair pairs[3] = {pair[1], pair[1], pair[0]};
  graze_convex_result results[3];
  for (int what = GRAZE_CONVEX_MEET; what <= GRAZE_CONVEX_SHARP; what++) {
    assert_int_equal(graze_convex_batch(shared_context(4), 3, pairs, GRAZE_T1, (graze_convex_ask)what, results),
                     status);
    assert_non_null(strstr(shared_error()->message, message));
  }
}

static void test_batches_and_errors(void **unused) {
  (void)unused;
  enum { COUNT = 300 };
  static shape s[COUNT][2];
  static graze_convex_pair pairs[COUNT];
  static graze_convex_result one[COUNT], four[COUNT];
  uint64_t state = test_seed(4);
  for (int i = 0; i < COUNT; i++) {
    for (int k = 0; k < 2; k++) {
      const graze_pose pose = test_random_pose(&state, 1);
      make_any(&state, &s[i][k]);
      place(&s[i][k], pose.m);
    }
    pairs[i] = (graze_convex_pair){&s[i][0].set, &s[i][1].set, &s[i][0].pose, &s[i][1].pose};
  }
  for (int what = GRAZE_CONVEX_MEET; what <= GRAZE_CONVEX_SHARP; what++) {
    const graze_convex_ask asked = (graze_convex_ask)what;
    assert_int_equal(graze_convex_batch(shared_context(1), COUNT, pairs, GRAZE_T1, asked, one), GRAZE_OK);
    assert_int_equal(graze_convex_batch(shared_context(4), COUNT, pairs, GRAZE_T1, asked, four), GRAZE_OK);
    for (int i = 0; i < COUNT; i++) {
      assert_true(one[i].hit == four[i].hit && one[i].lower == four[i].lower && one[i].upper == four[i].upper);
      assert_memory_equal(one[i].points, four[i].points, sizeof one[i].points);
      assert_memory_equal(one[i].normal, four[i].normal, sizeof one[i].normal);
    }
  }
  double points[9] = {0, 0, 0, 0, 0, 1, 1, 0, 0};
  graze_convex set = {.points = points, .count = 2, .discs = {1, 0.5}};
  graze_pose flat = test_translation(0, 0, 0);
  flat.m[10] = 0;
  graze_convex_pair two[2] = {{&s[0][0].set, &set, NULL, NULL}, pairs[0]};
  set.discs[1] = -1;
  check_error(two, GRAZE_ERROR_ARGUMENT, "pair 2, b: the radius of a disc is not finite, or below 0");
  set.discs[1] = NAN;
  check_error(two, GRAZE_ERROR_ARGUMENT, "pair 2, b: the radius of a disc");
  set.discs[1] = INFINITY;
  check_error(two, GRAZE_ERROR_ARGUMENT, "pair 2, b: the radius of a disc");
  set.discs[1] = 0;
  set.count = 3;
  check_error(two, GRAZE_ERROR_ARGUMENT, "pair 2, b: it has discs, and not just two points");
  set.count = 2;
  two[0].pose_b = &flat;
  check_error(two, GRAZE_ERROR_POSE, "pair 2, b: posed, the ends of its axis are the same");
  points[5] = 0;
  check_error(two, GRAZE_ERROR_ARGUMENT, "pair 2, b: the ends of its axis are the same");
  points[5] = INFINITY;
  check_error(two, GRAZE_ERROR_NOT_FINITE, "pair 2, b: a coordinate");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_pairs), cmocka_unit_test(test_closed_forms),
                                     cmocka_unit_test(test_extremes),  cmocka_unit_test(test_relations),
                                     cmocka_unit_test(test_contacts),  cmocka_unit_test(test_batches_and_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
