/* Cylinders against meshes, balls, capsules and each other. Against triangles: rational numbers, which cut a triangle
 * to the part between the ends and look at it along the axis. Against balls and parallel cylinders: numbers of 2000
 * bits, in which what differs by less than 2^-1000 is equal. Against the rest, where prisms decide: points of either,
 * so that no answer is wrong, and not many are unknown. */
#include <gmp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "graze/round.h"
#include "oracle.h"
#include "support.h"

enum { CORNERS = 8, MOST = 128 };

static graze_context *context;
static graze_query *query;
static graze_mesh *kept[8];
static int kept_count;

static int set_up(void **unused) {
  (void)unused;
  mpf_set_default_prec(2000);
  context = test_context(1, NULL);
  return graze_query_create(context, &query);
}

static int tear_down(void **unused) {
  (void)unused;
  graze_query_destroy(query);
  graze_context_destroy(context);
  return 0;
}

static const graze_mesh *keep(graze_mesh *mesh) {
  assert_true(kept_count < 8);
  return kept[kept_count++] = mesh;
}

static void drop_meshes(void) {
  while (kept_count > 0) graze_mesh_destroy(kept[--kept_count]);
}

static const graze_mesh *core_of(const double ends[2][3]) {
  graze_mesh *core;
  assert_int_equal(graze_round_create_core(context, ends, &core), GRAZE_OK);
  return keep(core);
}

/* ---- rational vectors ---- */

typedef mpq_t vector[3];

static void init(vector *v, int count) {
  for (int i = 0; i < count; i++) mpq_inits(v[i][0], v[i][1], v[i][2], NULL);
}

static void clear(vector *v, int count) {
  for (int i = 0; i < count; i++) mpq_clears(v[i][0], v[i][1], v[i][2], NULL);
}

static void set(vector v, const double x[3]) {
  for (int k = 0; k < 3; k++) mpq_set_d(v[k], x[k]);
}

static void copy(vector v, const vector x) {
  for (int k = 0; k < 3; k++) mpq_set(v[k], x[k]);
}

static void subtract(vector r, const vector a, const vector b) {
  for (int k = 0; k < 3; k++) mpq_sub(r[k], a[k], b[k]);
}

static void dot(mpq_t r, const vector a, const vector b) {
  mpq_t product, sum;
  mpq_inits(product, sum, NULL);
  for (int k = 0; k < 3; k++) {
    mpq_mul(product, a[k], b[k]);
    mpq_add(sum, sum, product);
  }
  mpq_set(r, sum);
  mpq_clears(product, sum, NULL);
}

static void cross(vector r, const vector a, const vector b) {
  mpq_t s, t;
  mpq_inits(s, t, NULL);
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    mpq_mul(s, a[i], b[j]);
    mpq_mul(t, a[j], b[i]);
    mpq_sub(r[k], s, t);
  }
  mpq_clears(s, t, NULL);
}

/* ---- the oracle of triangles ---- */

typedef struct drum {
  double ends[2][3], radius;
} drum;

static int sign_of(const mpq_t x) {
  return mpq_sgn(x);
}

/* Cuts a polygon to the side of a plane: n . (x - c) >= 0. */
static int cut(vector *in, int count, const vector c, const vector n, vector *out) {
  mpq_t from, to, share;
  vector w[1];
  int kept_corners = 0;
  mpq_inits(from, to, share, NULL);
  init(w, 1);
  for (int i = 0; i < count; i++) {
    vector *p = &in[i], *q = &in[(i + 1) % count];
    subtract(w[0], *p, c);
    dot(from, w[0], n);
    subtract(w[0], *q, c);
    dot(to, w[0], n);
    if (sign_of(from) >= 0) copy(out[kept_corners++], *p);
    if (sign_of(from) * sign_of(to) >= 0) continue;
    mpq_sub(share, from, to);
    mpq_div(share, from, share);
    subtract(w[0], *q, *p);
    for (int k = 0; k < 3; k++) {
      mpq_mul(w[0][k], w[0][k], share);
      mpq_add(out[kept_corners][k], (*p)[k], w[0][k]);
    }
    kept_corners++;
  }
  mpq_clears(from, to, share, NULL);
  clear(w, 1);
  return kept_corners;
}

/* The square of the distance of a segment's points from the origin, the least. */
static void least_square(const vector a, const vector b, mpq_t r) {
  vector d[1];
  mpq_t ad, dd, aa;
  init(d, 1);
  mpq_inits(ad, dd, aa, NULL);
  subtract(d[0], b, a);
  dot(ad, a, d[0]);
  dot(dd, d[0], d[0]);
  dot(aa, a, a);
  mpq_neg(ad, ad);
  if (sign_of(ad) > 0 && mpq_cmp(ad, dd) < 0) {
    mpq_mul(ad, ad, ad);
    mpq_div(ad, ad, dd);
    mpq_sub(r, aa, ad);
  } else {
    dot(dd, b, b);
    mpq_set(r, mpq_cmp(aa, dd) < 0 ? aa : dd);
  }
  clear(d, 1);
  mpq_clears(ad, dd, aa, NULL);
}

/* Whether a flat convex polygon across the axis has the origin within. */
static bool has_origin(vector *p, int count, const vector u) {
  vector c[1];
  mpq_t turn;
  bool left = false, right = false;
  init(c, 1);
  mpq_init(turn);
  for (int i = 0; i < count; i++) {
    cross(c[0], p[i], p[(i + 1) % count]);
    dot(turn, c[0], u);
    left |= sign_of(turn) > 0;
    right |= sign_of(turn) < 0;
  }
  clear(c, 1);
  mpq_clear(turn);
  return left != right;
}

/* 1 apart, 0 touching, -1 the inside is entered. */
static int expect_triangle(const drum *d, const double t[9]) {
  vector in[CORNERS], out[CORNERS], end[2], u[2];
  mpq_t square, radius, scale, x;
  init(in, CORNERS), init(out, CORNERS), init(end, 2), init(u, 2);
  mpq_inits(square, radius, scale, x, NULL);
  for (int i = 0; i < 2; i++) set(end[i], d->ends[i]);
  subtract(u[0], end[1], end[0]);
  subtract(u[1], end[0], end[1]);
  for (int i = 0; i < 3; i++) set(in[i], t + 3 * i);
  int count = cut(in, 3, end[0], u[0], out);
  count = cut(out, count, end[1], u[1], in);
  int sign = 1;
  bool beyond[2] = {true, true};
  for (int i = 0; i < count; i++) { /* only in the plane of an end */
    for (int k = 0; k < 2; k++) {
      subtract(out[0], in[i], end[k]);
      dot(x, out[0], u[k]);
      beyond[k] &= sign_of(x) == 0;
    }
  }
  for (int i = 0; i < count; i++) {
    subtract(out[7], in[i], end[0]);
    cross(out[i], out[7], u[0]); /* as long as across, times that of the axis, and turned by a quarter */
  }
  dot(scale, u[0], u[0]);
  mpq_set_d(radius, d->radius);
  mpq_mul(radius, radius, radius);
  mpq_mul(radius, radius, scale);
  for (int i = 0; i < count; i++) {
    least_square(out[i], out[(i + 1) % count], square);
    const int own = mpq_cmp(square, radius);
    if (own < sign) sign = (own > 0) - (own < 0);
  }
  if (count >= 3 && has_origin(out, count, u[0])) sign = -1;
  if (sign < 0 && (beyond[0] || beyond[1])) sign = 0;
  clear(in, CORNERS), clear(out, CORNERS), clear(end, 2), clear(u, 2);
  mpq_clears(square, radius, scale, x, NULL);
  return count == 0 ? 1 : sign;
}

static bool holds_corners(const drum *d, const double *corners, uint32_t count) {
  for (uint32_t i = 0; i < 3 * count; i++) {
    double t[9];
    for (int k = 0; k < 9; k++) t[k] = corners[3 * i + (uint32_t)(k % 3)];
    if (expect_triangle(d, t) > 0) return false;
  }
  return true;
}

/* ---- asking ---- */

static graze_relation mirrored(graze_relation relation) {
  return relation == GRAZE_A_IN_B ? GRAZE_B_IN_A : relation == GRAZE_B_IN_A ? GRAZE_A_IN_B : relation;
}

static graze_relation ask(const graze_round_side *a, const graze_round_side *b, const graze_relate_options *options,
                          graze_counts *counts) {
  graze_relate_result r, turned;
  assert_int_equal(graze_round_relate(query, b, a, options, &turned), GRAZE_OK);
  assert_int_equal(graze_round_relate(query, a, b, options, &r), GRAZE_OK);
  assert_int_equal(turned.verdict.relation, mirrored(r.verdict.relation));
  if (counts != NULL) *counts = r.counts;
  return r.verdict.relation;
}

static void some_drum(uint64_t *state, uint32_t side, double shift, drum *d) {
  do {
    for (int i = 0; i < 6; i++) d->ends[i / 3][i % 3] = random_below(state, side) + shift;
    for (int k = 1; k < 3 && random_below(state, 3) > 0; k++) d->ends[1][k] = d->ends[0][k]; /* often along an axis */
  } while (memcmp(d->ends[0], d->ends[1], sizeof d->ends[0]) == 0);
}

static graze_round_side side_of(const drum *d, bool flat) {
  return (graze_round_side){core_of(d->ends), NULL, d->radius, flat};
}

/* ---- meshes ---- */

static void scale_all(double *x, int count, double by) {
  for (int i = 0; i < count; i++) x[i] *= by;
}

/* A box from 0 to 8, whole, with a cavity from 2 to 6, or without a side: a surface. */
static void test_meshes(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1);
  int seen[GRAZE_UNKNOWN + 1] = {0};
  graze_relate_options options = graze_default_relate_options();
  options.open = GRAZE_OPEN_SURFACE;
  const int rounds = test_rounds(600, 20000);
  for (int round = 0; round < rounds; round++) {
    static const double radii[] = {1, 2, 3, 5, 7, 13};
    double corners[9 * 24];
    drum d;
    const int kind = round % 3, around = round % 5 == 0;
    uint32_t count = kind == 2 ? 10 : 12;
    soup_box((double[3]){0, 0, 0}, (double[3]){8, 8, 8}, corners);
    some_drum(&state, around ? 5 : 14, around ? 2 : -3, &d);
    d.radius = radii[random_below(&state, around ? 2 : 4)];
    if (around && round % 2 == 0) { /* long and thick enough to hold the box */
      const double ends[2][3] = {{4, 4, -random_below(&state, 2) * 1.0}, {4, 4, 8.0 + random_below(&state, 2)}};
      memcpy(d.ends, ends, sizeof ends);
      d.radius = 5 + random_below(&state, 3);
    }
    if (kind == 1) {
      soup_box((double[3]){2, 2, 2}, (double[3]){6, 6, 6}, corners + 108);
      for (int t = 12; t < 24; t++) {
        for (int k = 0; k < 3; k++) {
          const double x = corners[9 * t + 3 + k];
          corners[9 * t + 3 + k] = corners[9 * t + 6 + k];
          corners[9 * t + 6 + k] = x;
        }
      }
      count = 24;
    }
    const double scale = ldexp(1, (int)random_below(&state, 3) * 100 - 100);
    bool solid = kind < 2, hole = kind == 1;
    for (int k = 0; k < 3; k++) {
      const double middle = 0.5 * d.ends[0][k] + 0.5 * d.ends[1][k];
      solid &= middle > 0 && middle < 8;
      hole &= middle > 2 && middle < 6;
    }
    scale_all(corners, (int)(9 * count), scale);
    scale_all(d.ends[0], 6, scale);
    d.radius *= scale;
    graze_counts wanted_counts = {0}, counts;
    bool deep = false;
    for (uint32_t i = 0; i < count; i++) {
      const int sign = expect_triangle(&d, corners + 9 * i);
      deep |= sign < 0;
      if (sign > 0) continue;
      wanted_counts.triangle_pairs++;
      wanted_counts.degenerate++;
      wanted_counts.hash += oracle_pair_hash(0, i);
    }
    graze_relation wanted = solid && !hole                     ? GRAZE_A_IN_B
                            : wanted_counts.triangle_pairs > 0 ? GRAZE_TOUCH
                                                               : GRAZE_SEPARATE;
    if (deep) wanted = holds_corners(&d, corners, count) ? GRAZE_B_IN_A : GRAZE_CROSS;
    const graze_round_side a = side_of(&d, true);
    const graze_round_side b = {keep(test_mesh(context, corners, count, GRAZE_VOLUMES_ORIENTED)), NULL, 0, false};
    options.exactness = round % 4 == 0 ? GRAZE_T2 : GRAZE_T1;
    assert_string_equal(graze_relation_string(ask(&a, &b, &options, &counts)), graze_relation_string(wanted));
    test_assert_counts(&counts, &wanted_counts);
    seen[wanted]++;
    drop_meshes();
  }
  for (int k = GRAZE_TOUCH; k <= GRAZE_B_IN_A && rounds >= 600; k++) assert_true(seen[k] > 0);
}

static graze_relation with_box(const double p[3], const double q[3], double radius, const double high[3]) {
  double corners[108];
  drum d = {.radius = radius};
  memcpy(d.ends[0], p, sizeof d.ends[0]);
  memcpy(d.ends[1], q, sizeof d.ends[1]);
  soup_box((double[3]){0, 0, 0}, high, corners);
  const graze_round_side a = side_of(&d, true);
  const graze_round_side b = {keep(test_mesh(context, corners, 12, GRAZE_VOLUMES_ORIENTED)), NULL, 0, false};
  const graze_relation relation = ask(&a, &b, NULL, NULL);
  drop_meshes();
  return relation;
}

/* Where whole numbers make it touch. */
static void test_touching(void **unused) {
  (void)unused;
  const double box[3] = {8, 8, 8}, small[3] = {6, 8, 2};
  assert_int_equal(with_box((double[3]){4, 4, 8}, (double[3]){4, 4, 12}, 2, box), GRAZE_TOUCH); /* stands on it */
  assert_int_equal(with_box((double[3]){4, 4, 7}, (double[3]){4, 4, 12}, 2, box), GRAZE_CROSS);
  assert_int_equal(with_box((double[3]){0, -2, 4}, (double[3]){5, -2, 4}, 2, box), GRAZE_TOUCH); /* lies beside it */
  assert_int_equal(with_box((double[3]){0, -2, 4}, (double[3]){5, -2, 4}, nextafter(2, 3), box), GRAZE_CROSS);
  assert_int_equal(with_box((double[3]){11, 12, 2}, (double[3]){11, 12, 9}, 5, box), GRAZE_TOUCH); /* an edge, 3-4-5 */
  assert_int_equal(with_box((double[3]){11, 12, 2}, (double[3]){11, 12, 9}, nextafter(5, 4), box), GRAZE_SEPARATE);
  assert_int_equal(with_box((double[3]){11, 12, 8}, (double[3]){11, 12, 9}, 5, box), GRAZE_TOUCH); /* a rim, a corner */
  assert_int_equal(with_box((double[3]){4, 4, 0}, (double[3]){4, 4, 8}, 4, box), GRAZE_A_IN_B);    /* fills it, flush */
  assert_int_equal(with_box((double[3]){4, 4, 0}, (double[3]){4, 4, 8}, nextafter(4, 5), box), GRAZE_CROSS);
  assert_int_equal(with_box((double[3]){3, 4, 0}, (double[3]){3, 4, 2}, 5, small),
                   GRAZE_B_IN_A); /* all corners on it */
  assert_int_equal(with_box((double[3]){3, 4, 0}, (double[3]){3, 4, 2}, nextafter(5, 4), small), GRAZE_CROSS);
  assert_int_equal(with_box((double[3]){3, 4, 0}, (double[3]){3, 4, 1}, 5, small), GRAZE_CROSS);
  assert_int_equal(with_box((double[3]){-9, 4, 1}, (double[3]){-1, 4, 1}, 1, small), GRAZE_SEPARATE); /* ends before */
}

/* ---- balls, and parallel axes ---- */

/* Sign of a - b. */
static int order(const mpf_t a, const mpf_t b) {
  mpf_t d, least;
  mpf_inits(d, least, NULL);
  mpf_sub(d, a, b);
  mpf_set_ui(least, 1);
  mpf_div_2exp(least, least, 1000);
  const int sign = mpf_sgn(d);
  mpf_abs(d, d);
  const bool equal = mpf_cmp(d, least) < 0;
  mpf_clears(d, least, NULL);
  return equal ? 0 : sign;
}

/* Of a point: how far along the axis from end 0, as a length, and across. */
static void look(const drum *d, const double x[3], mpf_t along, mpf_t across, mpf_t length) {
  mpf_t u, w, uw, uu, ww;
  mpf_inits(u, w, uw, uu, ww, NULL);
  for (int k = 0; k < 3; k++) { /* whole numbers: exact */
    const double a = d->ends[1][k] - d->ends[0][k], b = x[k] - d->ends[0][k];
    mpf_set_d(u, a * b);
    mpf_add(uw, uw, u);
    mpf_set_d(u, a * a);
    mpf_add(uu, uu, u);
    mpf_set_d(u, b * b);
    mpf_add(ww, ww, u);
  }
  mpf_sqrt(length, uu);
  mpf_div(along, uw, length);
  mpf_mul(w, along, along);
  mpf_sub(across, ww, w);
  if (mpf_sgn(across) < 0) mpf_set_ui(across, 0);
  mpf_sqrt(across, across);
  mpf_clears(u, w, uw, uu, ww, NULL);
}

static void hypotenuse(mpf_t r, const mpf_t a, const mpf_t b) {
  mpf_t s;
  mpf_init(s);
  mpf_mul(s, a, a);
  mpf_mul(r, b, b);
  mpf_add(r, r, s);
  mpf_sqrt(r, r);
  mpf_clear(s);
}

static graze_relation expect_ball(const drum *d, const double center[3], double radius) {
  mpf_t along, across, length, left, x, y, r, own;
  mpf_inits(along, across, length, left, x, y, r, own, NULL);
  look(d, center, along, across, length);
  mpf_sub(left, length, along);
  mpf_set_d(r, radius);
  mpf_set_d(own, d->radius);
  mpf_sub(x, across, own); /* out of the side */
  if (mpf_sgn(x) < 0) mpf_set_ui(x, 0);
  mpf_set_ui(y, 0); /* out of an end */
  if (mpf_sgn(along) < 0) mpf_neg(y, along);
  if (mpf_sgn(left) < 0) mpf_neg(y, left);
  hypotenuse(x, x, y);
  const int apart = order(x, r);
  mpf_add(x, across, r);
  const bool held = order(x, own) <= 0 && order(along, r) >= 0 && order(left, r) >= 0;
  bool holds = true;
  for (int end = 0; end < 2; end++) {
    mpf_add(x, across, own);
    hypotenuse(x, x, end == 0 ? along : left);
    holds &= order(x, r) <= 0;
  }
  mpf_clears(along, across, length, left, x, y, r, own, NULL);
  return apart > 0    ? GRAZE_SEPARATE
         : apart == 0 ? GRAZE_TOUCH
         : held       ? GRAZE_A_IN_B
         : holds      ? GRAZE_B_IN_A
                      : GRAZE_CROSS;
}

static void test_balls(void **unused) {
  (void)unused;
  uint64_t state = test_seed(2);
  int seen[GRAZE_UNKNOWN + 1] = {0};
  const int rounds = test_rounds(3000, 100000);
  for (int round = 0; round < rounds; round++) {
    drum d, ball;
    some_drum(&state, 7, 0, &d);
    d.radius = 1 + random_below(&state, 6);
    for (int k = 0; k < 3; k++) ball.ends[0][k] = ball.ends[1][k] = random_below(&state, 14) - 4.0;
    ball.radius = 1 + random_below(&state, 9);
    const graze_relation wanted = expect_ball(&d, ball.ends[0], ball.radius);
    const graze_round_side a = side_of(&ball, false), b = side_of(&d, true);
    assert_string_equal(graze_relation_string(ask(&a, &b, NULL, NULL)), graze_relation_string(wanted));
    seen[wanted]++;
    drop_meshes();
  }
  for (int k = GRAZE_TOUCH; k <= GRAZE_B_IN_A && rounds >= 3000; k++) assert_true(seen[k] > 0);
}

static graze_relation expect_parallel(const drum *a, const drum *b) {
  mpf_t along[2], across, length, r, s, zero;
  mpf_inits(along[0], along[1], across, length, r, s, zero, NULL);
  for (int i = 0; i < 2; i++) look(a, b->ends[i], along[i], across, length);
  const int low = mpf_cmp(along[0], along[1]) <= 0 ? 0 : 1;
  mpf_set_d(r, a->radius + b->radius);
  mpf_set_d(s, fabs(a->radius - b->radius));
  const int apart[3] = {order(across, r), order(along[low], length), order(zero, along[1 - low])};
  int most = -1;
  for (int i = 0; i < 3; i++) most = apart[i] > most ? apart[i] : most;
  const bool near = order(across, s) <= 0;
  const bool a_in_b =
      near && a->radius <= b->radius && order(along[low], zero) <= 0 && order(along[1 - low], length) >= 0;
  const bool b_in_a =
      near && a->radius >= b->radius && order(along[low], zero) >= 0 && order(along[1 - low], length) <= 0;
  mpf_clears(along[0], along[1], across, length, r, s, zero, NULL);
  if (most >= 0) return most > 0 ? GRAZE_SEPARATE : GRAZE_TOUCH;
  return a_in_b && b_in_a ? GRAZE_DUPLICATE : a_in_b ? GRAZE_A_IN_B : b_in_a ? GRAZE_B_IN_A : GRAZE_CROSS;
}

static void test_parallel(void **unused) {
  (void)unused;
  uint64_t state = test_seed(3);
  int seen[GRAZE_UNKNOWN + 1] = {0};
  const int rounds = test_rounds(3000, 100000);
  for (int round = 0; round < rounds; round++) {
    static const int ways[5][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {3, 4, 0}, {1, 2, 2}};
    drum d[2];
    const int *way = ways[random_below(&state, 5)];
    for (int i = 0; i < 2; i++) {
      const int times = (1 + (int)random_below(&state, 3)) * (random_below(&state, 2) == 0 ? 1 : -1);
      for (int k = 0; k < 3; k++) {
        d[i].ends[0][k] = random_below(&state, 5);
        d[i].ends[1][k] = d[i].ends[0][k] + times * way[k];
      }
      d[i].radius = 1 + random_below(&state, 3);
      if (i == 1 && random_below(&state, 16) == 0) { /* the same, perhaps turned over */
        memcpy(d[1].ends[0], d[0].ends[1], sizeof d[1].ends[0]);
        memcpy(d[1].ends[1], d[0].ends[0], sizeof d[1].ends[1]);
      }
    }
    const graze_relation wanted = expect_parallel(&d[0], &d[1]);
    const graze_round_side a = side_of(&d[0], true), b = side_of(&d[1], true);
    assert_string_equal(graze_relation_string(ask(&a, &b, NULL, NULL)), graze_relation_string(wanted));
    seen[wanted]++;
    drop_meshes();
  }
  for (int k = GRAZE_TOUCH; k <= GRAZE_DUPLICATE && rounds >= 3000; k++) assert_true(seen[k] > 0);
}

/* ---- any two ---- */

static const double NEAR_NOTHING = 1e-9;

/* How far a point is within, below 0, or out of a drum, or of its capsule; about. */
static double depth_in(const drum *d, bool flat, const double x[3]) {
  double u[3], w[3], uu = 0, uw = 0, square = 0;
  for (int k = 0; k < 3; k++) {
    u[k] = d->ends[1][k] - d->ends[0][k];
    w[k] = x[k] - d->ends[0][k];
    uu += u[k] * u[k];
    uw += u[k] * w[k];
  }
  const double t = uw / uu, s = fmin(fmax(t, 0), 1), length = sqrt(uu);
  for (int k = 0; k < 3; k++) square += (w[k] - (flat ? t : s) * u[k]) * (w[k] - (flat ? t : s) * u[k]);
  const double side = sqrt(square) - d->radius;
  return flat ? fmax(side, fmax(-t, t - 1) * length) : side;
}

/* A random point of it. */
static void point_in(uint64_t *state, const drum *d, bool flat, double x[3]) {
  do {
    for (int k = 0; k < 3; k++) {
      const double low = fmin(d->ends[0][k], d->ends[1][k]) - d->radius,
                   high = fmax(d->ends[0][k], d->ends[1][k]) + d->radius;
      x[k] = low + (high - low) * random_unit(state);
    }
  } while (depth_in(d, flat, x) > 0);
}

/* The least of the larger of both depths, which is convex, found by steps that grow where they help and shrink where
 * not; from x on. */
static double deepest(uint64_t *state, const drum d[2], bool flat, double x[3]) {
  double step = 1, least = fmax(depth_in(&d[0], flat, x), depth_in(&d[1], true, x));
  for (int i = 0; i < 20000 && step > 1e-12; i++) {
    double y[3];
    for (int k = 0; k < 3; k++) y[k] = x[k] + step * random_signed(state);
    const double own = fmax(depth_in(&d[0], flat, y), depth_in(&d[1], true, y));
    step *= own < least ? 1.5 : 0.97;
    if (own < least) memcpy(x, y, sizeof y);
    least = fmin(own, least);
  }
  return least;
}

static void test_any(void **unused) {
  (void)unused;
  uint64_t state = test_seed(4);
  int seen[GRAZE_UNKNOWN + 1] = {0};
  const int rounds = test_rounds(120, 4000);
  for (int round = 0; round < rounds; round++) {
    drum d[2];
    const bool flat = round % 2 == 0; /* the other is a capsule */
    for (int i = 0; i < 2; i++) {
      for (int k = 0; k < 6; k++) d[i].ends[k / 3][k % 3] = 6 * random_unit(&state);
      d[i].radius = 0.5 + (i == round % 3 ? 6 : 1) * random_unit(&state);
    }
    const graze_round_side a = side_of(&d[0], flat), b = side_of(&d[1], true);
    const graze_relation found = ask(&a, &b, NULL, NULL);
    bool all_a = true, all_b = true, any = false;
    for (int i = 0; i < 2000; i++) {
      double x[3], y[3];
      point_in(&state, &d[0], flat, x);
      point_in(&state, &d[1], true, y);
      const double of_x = depth_in(&d[1], true, x), of_y = depth_in(&d[0], flat, y);
      any |= of_x < -NEAR_NOTHING || of_y < -NEAR_NOTHING;
      all_a &= of_x < NEAR_NOTHING;
      all_b &= of_y < NEAR_NOTHING;
    }
    if (found == GRAZE_SEPARATE) assert_false(any);
    if (found == GRAZE_A_IN_B) assert_true(all_a && !all_b);
    if (found == GRAZE_B_IN_A) assert_true(all_b && !all_a);
    double least = (double)INFINITY; /* a search may be stuck on an edge */
    for (int i = 0; i < 20 && found == GRAZE_CROSS && least > 1e-6; i++) {
      double x[3];
      point_in(&state, &d[i % 2], i % 2 == 1 || flat, x);
      least = fmin(least, deepest(&state, d, flat, x));
    }
    if (found == GRAZE_CROSS) assert_true(least <= 1e-6);
    if (any && !all_a && !all_b) assert_true(found == GRAZE_CROSS || found == GRAZE_UNKNOWN);
    seen[found]++;
    drop_meshes();
  }
  assert_true(seen[GRAZE_UNKNOWN] * 10 <= rounds); /* a hair's width is rare */
  assert_int_equal(seen[GRAZE_TOUCH] + seen[GRAZE_DUPLICATE] + seen[GRAZE_CLEARANCE], 0);
}

static void test_unknown(void **unused) {
  (void)unused;
  const drum a = {{{0, 0, 0}, {8, 0, 0}}, 1}, b = {{{4, 0, 1}, {4, 0, 5}}, 1}; /* a drum that stands on a lying one */
  drum c = {{{0, 0, 5}, {0, 0, 9}}, 1};
  graze_round_side x = side_of(&a, true), y = side_of(&b, true), z = side_of(&c, true);
  graze_relate_result r;
  assert_int_equal(graze_round_relate(query, &x, &y, NULL, &r), GRAZE_OK);
  assert_int_equal(r.verdict.relation, GRAZE_UNKNOWN);
  assert_int_equal(r.verdict.doubt, GRAZE_DOUBT_ROUND);
  assert_true(r.verdict.doubt_point[0] == 4 && r.verdict.doubt_point[2] == 3 && r.counts.triangle_pairs == 0);
  assert_int_equal(ask(&x, &z, NULL, NULL), GRAZE_SEPARATE);
  const drum above = {{{3, -4, 2}, {5, 4, 2}}, 1}; /* crossed rods that touch, exactly */
  z = side_of(&above, true);
  assert_int_equal(ask(&x, &z, NULL, NULL), GRAZE_TOUCH);
  z.flat = false;
  assert_int_equal(ask(&x, &z, NULL, NULL), GRAZE_TOUCH);
  const drum beside = {{{-1, 2, 0}, {2, 2, 0}}, 1};
  z.mesh = core_of(beside.ends);
  assert_int_equal(ask(&x, &z, NULL, NULL), GRAZE_TOUCH); /* a capsule along a cylinder */
  z = side_of(&above, false);
  z.radius = nextafter(1, 0);
  assert_int_equal(ask(&x, &z, NULL, NULL), GRAZE_SEPARATE);
  graze_distance_result distance;
  assert_int_equal(graze_round_distance(query, &x, &y, NULL, &distance), GRAZE_ERROR_UNSUPPORTED);
  const double same[2][3] = {{1, 1, 1}, {1, 1, 1}};
  z.mesh = core_of(same);
  z.flat = true;
  assert_int_equal(graze_round_relate(query, &x, &z, NULL, &r), GRAZE_ERROR_ARGUMENT);
  graze_pose flattens = {{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
  x.pose = &flattens;
  assert_int_equal(graze_round_relate(query, &x, &y, NULL, &r), GRAZE_ERROR_POSE);
  drop_meshes();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_meshes),   cmocka_unit_test(test_touching), cmocka_unit_test(test_balls),
      cmocka_unit_test(test_parallel), cmocka_unit_test(test_any),      cmocka_unit_test(test_unknown),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
