/* Balls and capsules against each other and against meshes. What they must be is found in rational numbers: distances
 * by the proved oracle for degenerate triangles, corners within a radius one by one, and sides of solids by their boxes
 * (whole numbers) or by solid angles. Lattice numbers make all equalities happen: touching, flush containment and
 * duplicates are counted, and each has to occur; powers of two change nothing. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distance_oracle.h"
#include "families.h"
#include "graze/round.h"
#include "oracle.h"
#include "support.h"

enum { MOST = 256 };

static graze_context *context;
static graze_query *query;
static oracle_distance measured;
static mpq_t limit, part;

static int set_up(void **unused) {
  (void)unused;
  oracle_distance_init(&measured);
  mpq_inits(limit, part, NULL);
  context = test_context(1, NULL);
  return graze_query_create(context, &query);
}

static int tear_down(void **unused) {
  (void)unused;
  oracle_distance_clear(&measured);
  mpq_clears(limit, part, NULL);
  graze_query_destroy(query);
  graze_context_destroy(context);
  return 0;
}

/* ---- the oracle ---- */

/* A round object, or a mesh, as the oracle sees it: posed corners. */
typedef struct body {
  double corners[9 * MOST];
  uint32_t count;
  double radius; /* 0: a mesh */
} body;

static int compare_numbers(const mpq_t x, const mpq_t y) {
  const int sign = mpq_cmp(x, y);
  return (sign > 0) - (sign < 0);
}

/* Sign of the distance of two triangles less the sum of numbers. */
static int compare_distance(const double a[9], const double b[9], const double *terms, int count) {
  mpq_set_ui(limit, 0, 1);
  for (int i = 0; i < count; i++) {
    mpq_set_d(part, terms[i]);
    mpq_add(limit, limit, part);
  }
  if (mpq_sgn(limit) < 0) return 1;
  oracle_distance_find(a, NULL, b, NULL, &measured);
  mpq_mul(limit, limit, limit);
  return compare_numbers(measured.square, limit);
}

static void point_corners(const double p[3], double c[9]) {
  for (int i = 0; i < 9; i++) c[i] = p[i % 3];
}

/* Whether all corners of `inner` are within `by` less `less` of the core of `outer`. */
static bool all_within(const body *inner, const body *outer, double by, double less) {
  for (uint32_t i = 0; i < 3 * inner->count; i++) {
    double c[9];
    point_corners(inner->corners + 3 * i, c);
    if (compare_distance(c, outer->corners, (double[2]){by, -less}, 2) > 0) return false;
  }
  return true;
}

static graze_relation expect_rounds(const body *a, const body *b) {
  const int sign = compare_distance(a->corners, b->corners, (double[2]){a->radius, b->radius}, 2);
  if (sign >= 0) return sign > 0 ? GRAZE_SEPARATE : GRAZE_TOUCH;
  const bool a_in_b = all_within(a, b, b->radius, a->radius), b_in_a = all_within(b, a, a->radius, b->radius);
  return a_in_b && b_in_a ? GRAZE_DUPLICATE : a_in_b ? GRAZE_A_IN_B : b_in_a ? GRAZE_B_IN_A : GRAZE_CROSS;
}

/* Of a mesh that is simple: the triangles that meet, whether one is nearer than the radius, and the relation, given
 * whether the core's first end is in its solid. A mesh without a solid is a surface. */
static graze_relation expect_mesh(const body *round, const body *mesh, bool inside, graze_counts *counts) {
  bool deep = false;
  memset(counts, 0, sizeof *counts);
  for (uint32_t i = 0; i < mesh->count; i++) {
    const int sign = compare_distance(round->corners, mesh->corners + 9 * i, &round->radius, 1);
    if (sign > 0) continue;
    deep |= sign < 0;
    counts->triangle_pairs++;
    counts->degenerate++;
    counts->hash += oracle_pair_hash(0, i);
  }
  if (!deep) return inside ? GRAZE_A_IN_B : counts->triangle_pairs > 0 ? GRAZE_TOUCH : GRAZE_SEPARATE;
  return all_within(mesh, round, round->radius, 0) ? GRAZE_B_IN_A : GRAZE_CROSS;
}

/* Solid angle over 4 pi, of closed oriented triangles. */
static double winding_of(const body *mesh, const double p[3]) {
  double sum = 0;
  for (uint32_t t = 0; t < mesh->count; t++) {
    double v[3][3], l[3], dots[3];
    for (int i = 0; i < 3; i++) {
      for (int k = 0; k < 3; k++) v[i][k] = mesh->corners[9 * t + (uint32_t)(3 * i + k)] - p[k];
      l[i] = sqrt(v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2]);
    }
    const double det = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) -
                       v[0][1] * (v[1][0] * v[2][2] - v[1][2] * v[2][0]) +
                       v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
    for (int i = 0; i < 3; i++) {
      const double *x = v[i], *y = v[(i + 1) % 3];
      dots[i] = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
    }
    sum += atan2(det, l[0] * l[1] * l[2] + dots[0] * l[2] + dots[1] * l[0] + dots[2] * l[1]);
  }
  return sum / (2 * acos(-1.0));
}

/* ---- what is asked ---- */

static graze_relation mirrored(graze_relation relation) {
  return relation == GRAZE_A_IN_B ? GRAZE_B_IN_A : relation == GRAZE_B_IN_A ? GRAZE_A_IN_B : relation;
}

/* Meshes of a case. */
static graze_mesh *kept[8];
static int kept_count;

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

static const graze_mesh *mesh_of(const double *corners, uint32_t count) {
  return keep(test_mesh(context, corners, count, GRAZE_VOLUMES_ORIENTED));
}

static void relate(const graze_round_side *a, const graze_round_side *b, const graze_relate_options *options,
                   graze_relate_result *result) {
  assert_int_equal(graze_round_relate(query, a, b, options, result), GRAZE_OK);
}

/* Both ways round; the counts may be NULL. */
static void check_relation(const graze_round_side *a, const graze_round_side *b, const graze_relate_options *options,
                           graze_relation wanted, const graze_counts *counts) {
  graze_relate_result r;
  relate(b, a, options, &r);
  assert_string_equal(graze_relation_string(r.verdict.relation), graze_relation_string(mirrored(wanted)));
  relate(a, b, options, &r);
  assert_string_equal(graze_relation_string(r.verdict.relation), graze_relation_string(wanted));
  if (counts == NULL) return;
  test_assert_counts(&r.counts, counts);
  uint64_t hash = 0;
  for (uint64_t i = 0; i < r.counts.triangle_pairs; i++) hash += graze_pair_hash(r.pairs[i].a, r.pairs[i].b);
  assert_int_equal(hash, counts->hash);
}

static body body_of(const double ends[2][3], double radius, const graze_pose *pose) {
  body b = {.count = 1, .radius = radius};
  double c[9];
  memcpy(c, ends, 6 * sizeof *c);
  memcpy(c + 6, ends[1], 3 * sizeof *c);
  oracle_pose_corners(pose, c, 1, b.corners);
  return b;
}

static void lattice_ends(uint64_t *state, uint32_t side, double scale, double ends[2][3]) {
  const bool ball = random_below(state, 3) == 0;
  for (int i = 0; i < 6; i++) ends[i / 3][i % 3] = scale * random_below(state, side);
  if (ball) memcpy(ends[1], ends[0], sizeof ends[1]);
}

/* Every relation has been seen, if there were enough cases to expect it. */
static void assert_seen(const int *seen, int enough, unsigned wanted) {
  int all = 0;
  for (int k = GRAZE_SEPARATE; k <= GRAZE_UNKNOWN; k++) all += seen[k];
  if (all < enough) return;
  for (int k = GRAZE_SEPARATE; k <= GRAZE_UNKNOWN; k++) {
    if ((wanted >> k & 1) != 0 && seen[k] == 0) fail_msg("no case of %s", graze_relation_string((graze_relation)k));
  }
}

/* ---- round against round ---- */

static void test_lattice(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1);
  int seen[GRAZE_UNKNOWN + 1] = {0};
  const graze_pose identity = graze_pose_identity();
  for (int round = 0; round < test_rounds(3000, 100000); round++) {
    double ends[2][2][3];
    const double scale = ldexp(1, (int)random_below(&state, 3) * 300 - 300);
    body bodies[2];
    graze_round_side sides[2];
    for (int k = 0; k < 2; k++) {
      lattice_ends(&state, 6, scale, ends[k]);
      if (k == 1 && random_below(&state, 8) == 0) memcpy(ends[1], ends[0], sizeof ends[1]);
      sides[k] = (graze_round_side){core_of(ends[k]), NULL, scale * (1 + random_below(&state, 7)), false};
      bodies[k] = body_of(ends[k], sides[k].radius, &identity);
    }
    const graze_relation wanted = expect_rounds(&bodies[0], &bodies[1]);
    seen[wanted]++;
    check_relation(&sides[0], &sides[1], NULL, wanted, NULL);
    drop_meshes();
  }
  assert_seen(seen, 2000,
              1 << GRAZE_SEPARATE | 1 << GRAZE_TOUCH | 1 << GRAZE_CROSS | 1 << GRAZE_A_IN_B | 1 << GRAZE_B_IN_A |
                  1 << GRAZE_DUPLICATE);
}

/* Posed ends are what is judged, at any matrix: one that stretches moves ends and leaves radii. */
static void test_round_poses(void **unused) {
  (void)unused;
  uint64_t state = test_seed(2);
  int seen[GRAZE_UNKNOWN + 1] = {0};
  for (int round = 0; round < test_rounds(1000, 20000); round++) {
    double ends[2][2][3];
    body bodies[2];
    graze_round_side sides[2];
    graze_pose poses[2];
    graze_relate_options options = graze_default_relate_options();
    for (int k = 0; k < 2; k++) {
      lattice_ends(&state, 3, 1, ends[k]);
      poses[k] = test_random_pose(&state, 3);
      for (int i = 0; i < 12 && round % 4 == 0; i++) poses[k].m[i] *= 3;
      sides[k] = (graze_round_side){core_of(ends[k]), &poses[k], 4 * random_unit(&state) + 0x1p-20, false};
      bodies[k] = body_of(ends[k], sides[k].radius, &poses[k]);
    }
    const graze_relation wanted = expect_rounds(&bodies[0], &bodies[1]);
    seen[wanted]++;
    check_relation(&sides[0], &sides[1], NULL, wanted, NULL);
    options.exactness = GRAZE_T2; /* nothing is as near to equality as its rounding */
    check_relation(&sides[0], &sides[1], &options, wanted, NULL);
    drop_meshes();
  }
  assert_seen(seen, 400, 1 << GRAZE_SEPARATE | 1 << GRAZE_CROSS | 1 << GRAZE_A_IN_B | 1 << GRAZE_B_IN_A);
}

/* ---- meshes ---- */

typedef enum model { MODEL_BOX, MODEL_CAVITY, MODEL_NESTED, MODEL_OPEN, MODEL_BALL, MODELS } model;

static void turn_over(double *corners, uint32_t count) {
  for (uint32_t t = 0; t < count; t++) {
    for (int k = 0; k < 3; k++) {
      const double x = corners[9 * t + 3 + (uint32_t)k];
      corners[9 * t + 3 + (uint32_t)k] = corners[9 * t + 6 + (uint32_t)k];
      corners[9 * t + 6 + (uint32_t)k] = x;
    }
  }
}

/* A box from 0 to 8, with a cavity, or a box inside that adds nothing, from 2 to 6, or without its lid. */
static uint32_t make_model(model kind, double scale, double *corners) {
  const double low[3] = {0, 0, 0}, high[3] = {8 * scale, 8 * scale, 8 * scale};
  const double inner_low[3] = {2 * scale, 2 * scale, 2 * scale}, inner_high[3] = {6 * scale, 6 * scale, 6 * scale};
  if (kind == MODEL_BALL) {
    const uint32_t count = soup_ball(3, 4 * scale, corners);
    for (uint32_t i = 0; i < 9 * count; i++) corners[i] += 4 * scale;
    return count;
  }
  soup_box(low, high, corners);
  if (kind == MODEL_OPEN) return 10;
  if (kind == MODEL_BOX) return 12;
  soup_box(inner_low, inner_high, corners + 108);
  if (kind == MODEL_CAVITY) turn_over(corners + 108, 12);
  return 24;
}

static bool within_box(const double p[3], double low, double high) {
  for (int k = 0; k < 3; k++) {
    if (!(p[k] > low && p[k] < high)) return false;
  }
  return true;
}

/* Whether a point that is not on the surface is in the solid. */
static bool in_solid(model kind, const body *mesh, const double p[3], double scale) {
  if (kind == MODEL_OPEN) return false;
  if (kind == MODEL_BALL) return fabs(winding_of(mesh, p)) > 0.5;
  if (kind == MODEL_CAVITY && within_box(p, 2 * scale, 6 * scale)) return false;
  return within_box(p, 0, 8 * scale);
}

/* The box in the box has walls with solid on both sides, which count for contact alone: the outer ones decide. */
static graze_relation expect_model(model kind, const body *round, const body *mesh, bool inside, graze_counts *counts) {
  if (kind != MODEL_NESTED) return expect_mesh(round, mesh, inside, counts);
  body outer = *mesh;
  graze_counts outer_counts;
  expect_mesh(round, mesh, inside, counts);
  outer.count = 12;
  const graze_relation relation = expect_mesh(round, &outer, inside, &outer_counts);
  return relation == GRAZE_SEPARATE && counts->triangle_pairs > 0 ? GRAZE_TOUCH : relation;
}

static void test_models(void **unused) {
  (void)unused;
  uint64_t state = test_seed(3);
  int seen[GRAZE_UNKNOWN + 1] = {0};
  body *mesh = malloc(sizeof *mesh), *round_body = malloc(sizeof *round_body);
  assert_true(mesh != NULL && round_body != NULL);
  const graze_pose identity = graze_pose_identity();
  graze_relate_options options = graze_default_relate_options();
  options.open = GRAZE_OPEN_SURFACE;
  for (int round = 0; round < test_rounds(400, 20000); round++) {
    static const double radii[] = {1, 2, 3, 5, 7, 9, 14};
    const model kind = (model)random_below(&state, MODELS);
    const double scale = ldexp(1, (int)random_below(&state, 3) * 300 - 300);
    double ends[2][3];
    graze_counts counts;
    *mesh = (body){.radius = 0};
    mesh->count = make_model(kind, scale, mesh->corners);
    const bool around = round % 5 == 0, within = round % 5 == 1; /* perhaps */
    const uint32_t size = around ? 3 + random_below(&state, 4) : random_below(&state, within ? 3 : 7);
    lattice_ends(&state, around ? 3 : within ? 5 : 16, scale, ends);
    for (int i = 0; i < 6; i++) ends[i / 3][i % 3] += (around ? 3 : within ? 2 : -4) * scale;
    graze_round_side a = {core_of(ends), NULL, scale * radii[size], false};
    graze_round_side b = {mesh_of(mesh->corners, mesh->count), NULL, 0, false};
    *round_body = body_of(ends, a.radius, &identity);
    const bool inside = in_solid(kind, mesh, ends[0], scale);
    const graze_relation wanted = expect_model(kind, round_body, mesh, inside, &counts);
    seen[wanted]++;
    check_relation(&a, &b, &options, wanted, &counts);
    drop_meshes();
  }
  assert_seen(seen, 400,
              1 << GRAZE_SEPARATE | 1 << GRAZE_TOUCH | 1 << GRAZE_CROSS | 1 << GRAZE_A_IN_B | 1 << GRAZE_B_IN_A);
  free(mesh);
  free(round_body);
}

/* Meshes and cores at random poses, at tiers T1 and T2: distances of the posed corners, or of their images. */
static void test_mesh_poses(void **unused) {
  (void)unused;
  uint64_t state = test_seed(4);
  int seen[GRAZE_UNKNOWN + 1] = {0};
  body *mesh = malloc(sizeof *mesh), *plain = malloc(sizeof *plain), *core = malloc(sizeof *core);
  assert_true(mesh != NULL && plain != NULL && core != NULL);
  graze_relate_options options = graze_default_relate_options();
  options.open = GRAZE_OPEN_SURFACE;
  for (int round = 0; round < test_rounds(400, 8000); round++) {
    const model kind = random_below(&state, 2) == 0 ? MODEL_BALL : MODEL_OPEN;
    double ends[2][3];
    graze_counts counts;
    graze_pose poses[2] = {test_random_pose(&state, 8), test_random_pose(&state, 1)};
    *plain = *mesh = (body){.radius = 0};
    mesh->count = plain->count = make_model(kind, 1, plain->corners);
    oracle_pose_corners(&poses[1], plain->corners, plain->count, mesh->corners);
    const bool around = round % 5 == 0, near = round % 5 <= 1;
    lattice_ends(&state, near ? 3 : 5, 1, ends);
    for (int i = 0; i < 6 && near; i++) ends[i / 3][i % 3] += 3;
    if (near) poses[0] = poses[1];
    graze_round_side a = {core_of(ends), &poses[0],
                          (around ? 5 : 0.25) + (near && !around ? 2 : 9) * random_unit(&state), false};
    graze_round_side b = {mesh_of(plain->corners, plain->count), &poses[1], 0, false};
    *core = body_of(ends, a.radius, &poses[0]);
    const bool inside = kind == MODEL_BALL && fabs(winding_of(mesh, core->corners)) > 0.5;
    const graze_relation wanted = expect_mesh(core, mesh, inside, &counts);
    seen[wanted]++;
    options.exactness = round % 2 == 0 ? GRAZE_T1 : GRAZE_T2;
    check_relation(&a, &b, &options, wanted, &counts);
    drop_meshes();
  }
  assert_seen(seen, 400, 1 << GRAZE_SEPARATE | 1 << GRAZE_CROSS | 1 << GRAZE_A_IN_B | 1 << GRAZE_B_IN_A);
  free(mesh);
  free(plain);
  free(core);
}

/* ---- meshes and balls of whole numbers ---- */

static graze_verdict verdict_of(const double *corners, uint32_t count, double x, double y, double z, double radius) {
  const double ends[2][3] = {{x, y, z}, {x, y, z}};
  graze_round_side a = {core_of(ends), NULL, radius, false};
  graze_round_side b = {mesh_of(corners, count), NULL, 0, false};
  graze_relate_result r;
  relate(&a, &b, NULL, &r);
  drop_meshes();
  return r.verdict;
}

static void test_touching(void **unused) {
  (void)unused;
  double corners[9 * 24];
  make_model(MODEL_CAVITY, 1, corners);
  assert_int_equal(verdict_of(corners, 24, 4, 4, 4, 2).relation, GRAZE_TOUCH); /* fills the cavity */
  assert_int_equal(verdict_of(corners, 24, 4, 4, 4, 1.75).relation, GRAZE_SEPARATE);
  assert_int_equal(verdict_of(corners, 24, 4, 4, 4, 2.25).relation, GRAZE_CROSS);
  assert_int_equal(verdict_of(corners, 24, 1, 4, 4, 1).relation, GRAZE_A_IN_B); /* between both walls */
  assert_int_equal(verdict_of(corners, 12, 4, 4, 4, 4).relation, GRAZE_A_IN_B); /* touches six faces */
  assert_int_equal(verdict_of(corners, 12, 4, 4, 4, nextafter(4, 5)).relation, GRAZE_CROSS);
  assert_int_equal(verdict_of(corners, 12, 11, 12, 4, 5).relation, GRAZE_TOUCH);  /* an edge */
  assert_int_equal(verdict_of(corners, 12, 10, 11, 14, 7).relation, GRAZE_TOUCH); /* a corner */
  assert_int_equal(verdict_of(corners, 12, 10, 11, 14, nextafter(7, 8)).relation, GRAZE_CROSS);
  assert_int_equal(verdict_of(corners, 12, 10, 11, 14, nextafter(7, 6)).relation, GRAZE_SEPARATE);
  soup_box((double[3]){0, 0, 0}, (double[3]){2, 1, 2}, corners); /* all corners on the sphere */
  assert_int_equal(verdict_of(corners, 12, 1, 0.5, 1, 1.5).relation, GRAZE_B_IN_A);
  assert_int_equal(verdict_of(corners, 12, 1, 0.5, 1, nextafter(1.5, 1)).relation, GRAZE_CROSS);
}

/* ---- open meshes, and meshes that meet themselves ---- */

static void test_open(void **unused) {
  (void)unused;
  double corners[9 * 24];
  make_model(MODEL_OPEN, 1, corners);
  graze_verdict v = verdict_of(corners, 10, 4, 4, 4, 1);
  assert_int_equal(v.relation, GRAZE_UNKNOWN);
  assert_int_equal(v.doubt, GRAZE_DOUBT_OPEN);
  assert_int_equal(v.doubt_mesh, 1);
  v = verdict_of(corners, 10, 4, 4, 4, 4); /* touches five walls, and the lid that is not there */
  assert_int_equal(v.relation, GRAZE_UNKNOWN);
  assert_int_equal(verdict_of(corners, 10, 4, 4, 4, 4.5).relation, GRAZE_CROSS);
  assert_int_equal(verdict_of(corners, 10, 4, 4, 4, 8).relation, GRAZE_B_IN_A);
  assert_int_equal(verdict_of(corners, 10, -2, 4, 4, 2).relation, GRAZE_TOUCH);
  assert_int_equal(verdict_of(corners, 10, -2, 4, 4, 1.5).relation, GRAZE_SEPARATE);
  assert_int_equal(verdict_of(corners, 10, 20, 4, 4, 1.5).relation, GRAZE_SEPARATE);
}

/* Two boxes in one mesh that overlap, lie on each other, or cancel. */
static void test_unions(void **unused) {
  (void)unused;
  double corners[9 * 24];
  soup_box((double[3]){0, 0, 0}, (double[3]){8, 8, 8}, corners);
  soup_box((double[3]){4, 0, 0}, (double[3]){16, 8, 8}, corners + 108);
  assert_int_equal(verdict_of(corners, 24, 2, 4, 4, 1).relation, GRAZE_A_IN_B);
  assert_int_equal(verdict_of(corners, 24, 6, 4, 4, 1).relation, GRAZE_A_IN_B);
  assert_int_equal(verdict_of(corners, 24, 8, 8, 4, 1).relation, GRAZE_CROSS);
  assert_int_equal(verdict_of(corners, 24, 20, 4, 4, 4).relation, GRAZE_TOUCH);
  assert_int_equal(verdict_of(corners, 24, 8, 4, 4, 100).relation, GRAZE_B_IN_A);
  assert_int_equal(verdict_of(corners, 24, 1, 4, 4, 2).relation, GRAZE_CROSS);
  graze_verdict v = verdict_of(corners, 24, 8, 4, 4, 1); /* inside, through an inner wall: no point of it is outside */
  assert_int_equal(v.relation, GRAZE_UNKNOWN);
  assert_int_equal(v.doubt, GRAZE_DOUBT_SELF_INTERSECTING);
  soup_box((double[3]){0, 0, 0}, (double[3]){8, 8, 8}, corners + 108);
  turn_over(corners + 108, 12); /* nothing is left */
  assert_int_equal(verdict_of(corners, 24, 0, 4, 4, 1).relation, GRAZE_UNKNOWN);
  assert_int_equal(verdict_of(corners, 24, 4, 4, 4, 1).relation, GRAZE_SEPARATE);
}

/* A box in a box, of which one triangle faces the other way: hollow or not, nobody knows. */
static void test_two_readings(void **unused) {
  (void)unused;
  double corners[9 * 24];
  make_model(MODEL_NESTED, 1, corners);
  turn_over(corners + 108, 1);
  graze_verdict v = verdict_of(corners, 24, 4, 4, 4, 1);
  assert_int_equal(v.relation, GRAZE_UNKNOWN);
  assert_int_equal(v.doubt, GRAZE_DOUBT_MISORIENTED);
  assert_int_equal(verdict_of(corners, 24, 2, 4, 4, 1).doubt, GRAZE_DOUBT_MISORIENTED);
  assert_int_equal(verdict_of(corners, 24, 20, 4, 4, 1).relation, GRAZE_SEPARATE);
  assert_int_equal(verdict_of(corners, 24, 10, 4, 4, 2).relation, GRAZE_TOUCH);
  assert_int_equal(verdict_of(corners + 108, 12, 4, 4, 4, 1).relation,
                   GRAZE_A_IN_B); /* alone it is a solid by parity */
  assert_int_equal(verdict_of(corners + 108, 12, 2, 4, 4, 1).relation, GRAZE_CROSS);
}

/* Triangles without area count for contact only. */
static void test_wire(void **unused) {
  (void)unused;
  const double wire[9] = {0, 0, 0, 8, 0, 0, 8, 0, 0};
  assert_int_equal(verdict_of(wire, 1, 4, 1, 0, 2).relation, GRAZE_TOUCH);
  assert_int_equal(verdict_of(wire, 1, 4, 3, 0, 2).relation, GRAZE_SEPARATE);
}

/* ---- distances ---- */

/* Whether `value` is the double nearest to the root of q less s, or to s less that, turned; and its bracket. */
static void assert_rounds(const mpq_t square, const mpq_t s, bool turned, const graze_distance_result *r) {
  mpq_t at, x;
  mpq_inits(at, x, NULL);
  const double v = r->nearest.distance, marks[5] = {v, r->lower, r->upper, nextafter(v, 0), nextafter(v, DBL_MAX)};
  int sign[5]; /* of the exact difference less a mark, or the middle to it */
  for (int i = 0; i < 5; i++) {
    mpq_set_d(at, marks[i]);
    mpq_set_d(x, v);
    if (i >= 3) mpq_add(at, at, x);
    if (i >= 3) mpq_div_2exp(at, at, 1);
    if (turned) mpq_neg(at, at);
    mpq_add(at, at, s);
    mpq_mul(x, at, at);
    const int order = mpq_sgn(at) < 0 ? 1 : compare_numbers(square, x);
    sign[i] = turned ? -order : order;
  }
  assert_true(sign[1] >= 0 && sign[2] <= 0);
  assert_true(r->lower == r->upper ? sign[0] == 0 : nextafter(r->lower, DBL_MAX) == r->upper);
  assert_true(v == 0 || sign[3] >= 0);
  assert_true(sign[4] <= 0);
  mpq_clears(at, x, NULL);
}

static void sum_of(double x, double y, mpq_t sum) {
  mpq_set_d(sum, x);
  mpq_set_d(part, y);
  mpq_add(sum, sum, part);
}

static void test_round_distances(void **unused) {
  (void)unused;
  uint64_t state = test_seed(5);
  int outside = 0, inside = 0, meeting = 0;
  mpq_t s, farthest;
  mpq_inits(s, farthest, NULL);
  for (int round = 0; round < test_rounds(400, 20000); round++) {
    const bool lattice = round % 2 == 0;
    double ends[2][2][3];
    body bodies[2];
    graze_round_side sides[2];
    graze_pose poses[2];
    graze_distance_result r, turned;
    for (int k = 0; k < 2; k++) {
      lattice_ends(&state, 6, 1, ends[k]);
      poses[k] = lattice ? graze_pose_identity() : test_random_pose(&state, 3);
      sides[k] =
          (graze_round_side){core_of(ends[k]), &poses[k],
                             lattice ? 0.5 * (1 + random_below(&state, 16)) : 0.1 + 4 * random_unit(&state), false};
      bodies[k] = body_of(ends[k], sides[k].radius, &poses[k]);
    }
    assert_int_equal(graze_round_distance(query, &sides[0], &sides[1], NULL, &r), GRAZE_OK);
    assert_int_equal(graze_round_distance(query, &sides[1], &sides[0], NULL, &turned), GRAZE_OK);
    assert_true(r.found && r.nearest.distance == turned.nearest.distance && r.lower == turned.lower);
    const graze_relation relation = expect_rounds(&bodies[0], &bodies[1]);
    if (relation == GRAZE_SEPARATE) {
      outside++;
      compare_distance(bodies[0].corners, bodies[1].corners, NULL, 0);
      sum_of(sides[0].radius, sides[1].radius, s);
      assert_rounds(measured.square, s, false, &r);
      double square = 0;
      for (int k = 0; k < 3; k++)
        square += (r.nearest.points[0][k] - r.nearest.points[1][k]) * (r.nearest.points[0][k] - r.nearest.points[1][k]);
      assert_true(fabs(sqrt(square) - r.nearest.distance) < 1e-13);
    } else if (relation == GRAZE_A_IN_B || relation == GRAZE_B_IN_A) {
      inside++;
      const int inner = relation == GRAZE_A_IN_B ? 0 : 1;
      mpq_set_ui(farthest, 0, 1);
      for (int i = 0; i < 2; i++) {
        double c[9];
        point_corners(bodies[inner].corners + 3 * i, c);
        compare_distance(c, bodies[1 - inner].corners, NULL, 0);
        if (mpq_cmp(measured.square, farthest) > 0) mpq_set(farthest, measured.square);
      }
      sum_of(sides[1 - inner].radius, -sides[inner].radius, s);
      assert_rounds(farthest, s, true, &r);
    } else {
      meeting++;
      assert_true(r.nearest.distance == 0 && r.lower == 0 && r.upper == 0);
    }
    drop_meshes();
  }
  if (outside + inside + meeting >= 400) assert_true(outside > 0 && inside > 0 && meeting > 0);
  mpq_clears(s, farthest, NULL);
}

/* The least square of a distance of the core to a triangle, or the greatest to a corner. */
static void extreme_square(const body *core, const body *mesh, bool corners, mpq_t out) {
  mpq_set_si(out, -1, 1);
  for (uint32_t i = 0; i < mesh->count * (corners ? 3 : 1); i++) {
    double c[9];
    memcpy(c, mesh->corners + 9 * (corners ? 0 : i), sizeof c);
    if (corners) point_corners(mesh->corners + 3 * i, c);
    compare_distance(core->corners, c, NULL, 0);
    const int order = mpq_sgn(out) < 0 ? 0 : mpq_cmp(measured.square, out);
    if (mpq_sgn(out) < 0 || (corners ? order > 0 : order < 0)) mpq_set(out, measured.square);
  }
}

static void test_mesh_distances(void **unused) {
  (void)unused;
  uint64_t state = test_seed(6);
  int outside = 0, within = 0, meeting = 0;
  body *mesh = malloc(sizeof *mesh), *plain = malloc(sizeof *plain), *core = malloc(sizeof *core);
  assert_true(mesh != NULL && plain != NULL && core != NULL);
  mpq_t s, square;
  mpq_inits(s, square, NULL);
  for (int round = 0; round < test_rounds(160, 6000); round++) {
    const bool lattice = round % 2 == 0;
    double ends[2][3];
    graze_counts counts;
    graze_distance_result r;
    graze_distance_options options = graze_default_distance_options();
    graze_pose poses[2] = {lattice ? graze_pose_identity() : test_random_pose(&state, 12),
                           lattice ? graze_pose_identity() : test_random_pose(&state, 1)};
    *plain = *mesh = (body){.radius = 0};
    mesh->count = plain->count = make_model((model)random_below(&state, MODELS), 1, plain->corners);
    oracle_pose_corners(&poses[1], plain->corners, plain->count, mesh->corners);
    lattice_ends(&state, 12, 1, ends);
    graze_round_side a = {core_of(ends), &poses[0], lattice ? 1.0 + random_below(&state, 20) : 20 * random_unit(&state),
                          false};
    graze_round_side b = {mesh_of(plain->corners, plain->count), &poses[1], 0, false};
    *core = body_of(ends, a.radius, &poses[0]);
    assert_int_equal(graze_round_distance(query, &a, &b, NULL, &r), GRAZE_OK);
    const bool holds = all_within(mesh, core, a.radius, 0);
    const graze_relation relation = expect_mesh(core, mesh, false, &counts);
    mpq_set_d(s, a.radius);
    if (relation == GRAZE_SEPARATE || holds) {
      outside += relation == GRAZE_SEPARATE;
      within += holds;
      extreme_square(core, mesh, holds, square);
      assert_rounds(square, s, holds, &r);
    } else {
      meeting++;
      assert_true(r.found && r.nearest.distance == 0 && r.upper == 0);
    }
    if (relation == GRAZE_SEPARATE) { /* a strict limit, and what is nearer */
      options.limit = r.upper;
      options.near_pairs = GRAZE_FIND_ALL;
      const bool strict = r.lower != r.upper;
      graze_distance_result near;
      assert_int_equal(graze_round_distance(query, &a, &b, &options, &near), GRAZE_OK);
      assert_int_equal(near.found, strict);
      options.limit = r.upper + 1;
      assert_int_equal(graze_round_distance(query, &a, &b, &options, &near), GRAZE_OK);
      uint64_t wanted = 0, hash = 0;
      for (uint32_t i = 0; i < mesh->count; i++) {
        if (compare_distance(core->corners, mesh->corners + 9 * i, (double[2]){a.radius, options.limit}, 2) >= 0)
          continue;
        wanted++;
        hash += oracle_pair_hash(0, i);
      }
      assert_true(near.found && near.near_pairs == wanted && near.near_hash == hash && wanted > 0);
    }
    drop_meshes();
  }
  if (outside + within + meeting >= 160) assert_true(outside > 0 && within > 0 && meeting > 0);
  mpq_clears(s, square, NULL);
  free(mesh);
  free(plain);
  free(core);
}

/* ---- the ends of the range, and errors ---- */

static void test_range(void **unused) {
  (void)unused;
  const double tiny[2][3] = {{0, 0, 0}, {0, 0, 0}}, beside[2][3] = {{0x1p-1073, 0, 0}, {0x1p-1073, 0, 0}};
  const double far[2][3] = {{0x1p1000, 0, 0}, {0x1p1000, 0x1p1000, 0}};
  const graze_mesh *cores[3] = {core_of(tiny), core_of(beside), core_of(far)};
  graze_round_side a = {cores[0], NULL, 0x1p-1074, false}, b = {cores[1], NULL, 0x1p-1074, false},
                   c = {cores[2], NULL, 0x1p1000, false};
  graze_distance_result r;
  check_relation(&a, &b, NULL, GRAZE_TOUCH, NULL);
  check_relation(&a, &c, NULL, GRAZE_CROSS, NULL); /* the radius of the small one is what reaches in */
  c.radius = nextafter(0x1p1000, 0);
  check_relation(&a, &c, NULL, GRAZE_SEPARATE, NULL);
  assert_int_equal(graze_round_distance(query, &a, &c, NULL, &r), GRAZE_OK);
  assert_true(r.nearest.distance == 0x1p947 && r.lower < r.upper);
  b.radius = 0x1p-1073;
  check_relation(&a, &b, NULL, GRAZE_CROSS, NULL);
  b.mesh = cores[0];
  check_relation(&a, &b, NULL, GRAZE_A_IN_B, NULL);
  b.radius = a.radius;
  check_relation(&a, &b, NULL, GRAZE_DUPLICATE, NULL);
  drop_meshes();
}

static void test_errors(void **unused) {
  (void)unused;
  double corners[9 * 12];
  const double ends[2][3] = {{0, 0, 0}, {1, 0, 0}}, bad[2][3] = {{0, 0, (double)NAN}, {1, 0, 0}};
  graze_mesh *made;
  const graze_mesh *core = core_of(ends), *mesh;
  make_model(MODEL_BOX, 1, corners);
  mesh = mesh_of(corners, 12);
  assert_true(graze_round_is_core(core) && !graze_round_is_core(mesh));
  graze_relate_result r;
  graze_distance_result d;
  graze_round_side a = {core, NULL, 1, false}, b = {mesh, NULL, 0, false};
  static const double radii[] = {-1, (double)NAN, (double)INFINITY, 0x1.1p1000};
  for (int i = 0; i < 4; i++) {
    a.radius = radii[i];
    assert_int_equal(graze_round_relate(query, &a, &b, NULL, &r), GRAZE_ERROR_ARGUMENT);
    assert_int_equal(graze_round_distance(query, &a, &b, NULL, &d), GRAZE_ERROR_ARGUMENT);
  }
  a.radius = 1;
  b.radius = 1; /* a box has no core */
  assert_int_equal(graze_round_relate(query, &a, &b, NULL, &r), GRAZE_ERROR_ARGUMENT);
  assert_non_null(strstr(graze_last_error(context)->message, "b: it has a radius"));
  assert_int_equal(graze_round_create_core(context, bad, &made), GRAZE_ERROR_NOT_FINITE);
  assert_int_equal(graze_round_create_core(context, NULL, &made), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_round_relate(query, &a, NULL, NULL, &r), GRAZE_ERROR_ARGUMENT);
  graze_relate_options options = {0};
  b.radius = 0;
  assert_int_equal(graze_round_relate(query, &a, &b, &options, &r), GRAZE_ERROR_ARGUMENT);
  graze_pose moved = test_translation(1, 0, 0);
  options = graze_default_relate_options();
  options.exactness = GRAZE_T0;
  a.pose = &moved;
  assert_int_equal(graze_round_relate(query, &a, &b, &options, &r), GRAZE_ERROR_POSE);
  a.radius = 0; /* both are meshes then */
  graze_relate_result plain;
  assert_int_equal(graze_relate_meshes(query, core, &moved, mesh, NULL, NULL, &plain), GRAZE_OK);
  relate(&a, &b, NULL, &r);
  assert_int_equal(r.verdict.relation, plain.verdict.relation);
  drop_meshes();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lattice),         cmocka_unit_test(test_round_poses),    cmocka_unit_test(test_models),
      cmocka_unit_test(test_mesh_poses),      cmocka_unit_test(test_touching),       cmocka_unit_test(test_open),
      cmocka_unit_test(test_unions),          cmocka_unit_test(test_two_readings),   cmocka_unit_test(test_wire),
      cmocka_unit_test(test_round_distances), cmocka_unit_test(test_mesh_distances), cmocka_unit_test(test_range),
      cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
