/* Relations against solids of cells, whose relation is known by counting; cases that other tools get wrong; open and
 * damaged meshes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "polycubes.h"
#include "support.h"

static double room_a[9 * 12 * CELLS * CELLS * CELLS], room_b[9 * 12 * CELLS * CELLS * CELLS];

typedef struct bench {
  graze_context *context;
  graze_query *query;
} bench;

static bench bench_open(void) {
  bench b = {test_context(1, NULL), NULL};
  assert_int_equal(graze_query_create(b.context, &b.query), GRAZE_OK);
  return b;
}

static void bench_close(bench *b) {
  graze_query_destroy(b->query);
  graze_context_destroy(b->context);
}

static graze_relate_result relate(const bench *b, const graze_mesh *m, const graze_pose *p, const graze_mesh *n,
                                  const graze_pose *q, graze_exactness exactness) {
  graze_relate_options options = graze_default_relate_options();
  graze_relate_result out;
  options.exactness = exactness;
  assert_int_equal(graze_relate_meshes(b->query, m, p, n, q, &options, &out), GRAZE_OK);
  return out;
}

static bool is_solid(const graze_mesh *mesh) {
  graze_mesh_facts facts;
  graze_mesh_get_facts(mesh, &facts);
  return facts.closed && facts.oriented;
}

/* An integer matrix of determinant 1 or -1, so that images of cells are exact and keep their relation. */
static void random_shear(uint64_t *state, double m[9]) {
  static const double start[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  memcpy(m, start, sizeof start);
  for (int i = 0; i < 4; i++) {
    int r = (int)(random_unit(state) * 3), s = (r + 1 + (int)(random_unit(state) * 2)) % 3;
    double f = floor(random_unit(state) * 5) - 2;
    for (int k = 0; k < 3; k++) m[3 * r + k] += f * m[3 * s + k];
  }
  if (random_unit(state) < 0.3) {
    for (int k = 0; k < 3; k++) m[k] = -m[k];
  }
}

static void transform(const double m[9], double *corners, uint32_t count) {
  for (uint32_t i = 0; i < 3 * count; i++) {
    double *p = corners + 3 * (size_t)i, q[3];
    for (int r = 0; r < 3; r++) q[r] = m[3 * r] * p[0] + m[3 * r + 1] * p[1] + m[3 * r + 2] * p[2];
    memcpy(p, q, sizeof q);
  }
}

typedef struct tally {
  uint64_t of[GRAZE_UNKNOWN + 1];
  uint64_t branching, doubtful; /* with edges of four triangles; of unknown relation */
} tally;

/* One pair of solids, in every way that must not matter. */
static void check_cells(const bench *b, const polycube *p, int step_p, const polycube *q, int step_q, uint64_t *state,
                        tally *t) {
  double m[9];
  graze_relation want = polycube_relation(p, q);
  uint32_t np = polycube_surface(p, step_p, state, room_a), nq = polycube_surface(q, step_q, state, room_b);
  if (np == 0 || nq == 0) return;
  random_shear(state, m);
  transform(m, room_a, np);
  transform(m, room_b, nq);
  graze_mesh *a = test_mesh(b->context, room_a, np, GRAZE_VOLUMES_ORIENTED);
  graze_mesh *c = test_mesh(b->context, room_b, nq, GRAZE_VOLUMES_ORIENTED);
  if (is_solid(a) && is_solid(c)) {
    graze_pose shift = test_translation(3, -700, 11), scale = {{0x1p-9, 0, 0, 0, 0, 0x1p-9, 0, 0, 0, 0, 0x1p-9, 0}};
    graze_pose mirror = {{-1, 0, 0, 5, 0, 1, 0, 0, 0, 0, 1, 0}};
    const graze_pose *poses[] = {NULL, &shift, &scale, &mirror};
    for (int i = 0; i < 4; i++) {
      graze_relation got = relate(b, a, poses[i], c, poses[i], GRAZE_T1).verdict.relation;
      if (got != want) {
        fail_msg("pose %d: %s, not %s (%u and %u triangles)", i, graze_relation_string(got),
                 graze_relation_string(want), np, nq);
      }
    }
    assert_int_equal(relate(b, c, NULL, a, NULL, GRAZE_T1).verdict.relation, swapped(want));
    assert_int_equal(relate(b, a, NULL, c, NULL, GRAZE_T0).verdict.relation, want);
    if (random_unit(state) < 0.1) assert_int_equal(relate(b, a, &shift, c, &shift, GRAZE_T2).verdict.relation, want);
    t->of[want]++;
  } else { /* edges of four triangles: parts that they cut up are no solids */
    graze_relate_result got = relate(b, a, NULL, c, NULL, GRAZE_T1);
    if (got.verdict.relation != want && got.verdict.relation != GRAZE_UNKNOWN) {
      fail_msg("%s, not %s, with edges of four", graze_relation_string(got.verdict.relation),
               graze_relation_string(want));
    }
    t->doubtful += got.verdict.relation == GRAZE_UNKNOWN;
    t->branching++;
  }
  graze_mesh_destroy(a);
  graze_mesh_destroy(c);
}

static void test_cells(void **unused) {
  (void)unused;
  bench b = bench_open();
  uint64_t state = 11;
  tally t = {0};
  int rounds = test_rounds(600, 200000);
  for (int i = 0; i < rounds; i++) {
    static const int steps[4][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}};
    const int *step = steps[i % 4];
    polycube p, q;
    int low = (int)(random_unit(&state) * 3) * (step[0] == 2 ? 2 : 1), size = step[0] == 2 ? 6 : 3;
    if (low + size > CELLS) low = CELLS - size;
    polycube_random(&p, &state, step[0], low, low + size, 0.2 + 0.8 * random_unit(&state));
    polycube_random(&q, &state, step[1], 2, step[1] == 2 ? 8 : 5, 0.2 + 0.8 * random_unit(&state));
    bool derived = i % 3 == 0; /* often one in the other, or the same */
    for (int x = 0; derived && x < CELLS * CELLS * CELLS; x++) {
      bool *cell = &p.cell[0][0][0] + x;
      *cell = (&q.cell[0][0][0])[x] && (i % 2 == 0 || *cell);
    }
    if (i % 8 != 0) { /* some stay with edges of four triangles */
      polycube_mend(&p, derived ? 1 : step[0]);
      polycube_mend(&q, step[1]);
    }
    check_cells(&b, &p, derived ? 1 : step[0], &q, step[1], &state, &t);
  }
  print_message(
      "solids of cells: %llu separate, %llu touch, %llu cross, %llu a in b, %llu b in a, %llu duplicate; "
      "%llu more with edges of four, of them %llu unknown\n",
      (unsigned long long)t.of[GRAZE_SEPARATE], (unsigned long long)t.of[GRAZE_TOUCH],
      (unsigned long long)t.of[GRAZE_CROSS], (unsigned long long)t.of[GRAZE_A_IN_B],
      (unsigned long long)t.of[GRAZE_B_IN_A], (unsigned long long)t.of[GRAZE_DUPLICATE],
      (unsigned long long)t.branching, (unsigned long long)t.doubtful);
  for (int r = 0; r <= GRAZE_DUPLICATE; r++) {
    if (r != GRAZE_CLEARANCE) assert_true(t.of[r] >= 1 + (uint64_t)rounds / 150);
  }
  bench_close(&b);
}

/* ---- single cases ---- */

static const double unit_low[3] = {0, 0, 0}, unit_high[3] = {1, 1, 1};

static uint32_t put_box(double *corners, uint32_t at, double low, double high) {
  soup_box((const double[3]){low, low, low}, (const double[3]){high, high, high}, corners + 9 * (size_t)at);
  return at + 12;
}

static void reverse(double *corners, uint32_t from, uint32_t to) {
  for (uint32_t t = from; t < to; t++) {
    for (int k = 0; k < 3; k++) {
      double swap = corners[9 * (size_t)t + 3 + (size_t)k];
      corners[9 * (size_t)t + 3 + (size_t)k] = corners[9 * (size_t)t + 6 + (size_t)k];
      corners[9 * (size_t)t + 6 + (size_t)k] = swap;
    }
  }
}

static graze_mesh *box_mesh(const bench *b, double low, double high) {
  double corners[9 * 12];
  put_box(corners, 0, low, high);
  return test_mesh(b->context, corners, 12, GRAZE_VOLUMES_ORIENTED);
}

/* A square of two triangles at height z. */
static graze_mesh *sheet_mesh(const bench *b, double low, double high, double z) {
  const double corners[18] = {low, low, z, high, low, z, high, high, z, low, low, z, high, high, z, low, high, z};
  return test_mesh(b->context, corners, 2, GRAZE_VOLUMES_ORIENTED);
}

static void expect(const bench *b, const graze_mesh *m, const graze_mesh *n, graze_relation want, graze_doubt why) {
  graze_relate_result got = relate(b, m, NULL, n, NULL, GRAZE_T1), back = relate(b, n, NULL, m, NULL, GRAZE_T1);
  graze_relate_result real = relate(b, m, NULL, n, NULL, GRAZE_T2);
  if (got.verdict.relation != want) {
    fail_msg("%s, not %s (%s)", graze_relation_string(got.verdict.relation), graze_relation_string(want),
             graze_doubt_string(got.verdict.doubt));
  }
  assert_int_equal(got.verdict.doubt, why);
  assert_int_equal(back.verdict.relation, swapped(want));
  assert_int_equal(back.verdict.doubt, why);
  assert_int_equal(real.verdict.relation, want);
  if (want == GRAZE_UNKNOWN) {
    assert_int_equal(back.verdict.doubt_mesh, 1 - got.verdict.doubt_mesh);
    assert_memory_equal(back.verdict.doubt_point, got.verdict.doubt_point, sizeof got.verdict.doubt_point);
  }
}

static void test_solids(void **unused) {
  (void)unused;
  bench b = bench_open();
  double corners[9 * 36];
  graze_mesh *small = box_mesh(&b, 0.375, 0.625), *large = box_mesh(&b, 0, 1), *within = box_mesh(&b, 0.3, 0.4);
  expect(&b, small, large, GRAZE_A_IN_B, GRAZE_DOUBT_NONE);
  expect(&b, large, large, GRAZE_DUPLICATE, GRAZE_DOUBT_NONE);
  /* Inside out it encloses the same points. */
  put_box(corners, 0, 0, 1);
  reverse(corners, 0, 12);
  graze_mesh *inverted = test_mesh(b.context, corners, 12, GRAZE_VOLUMES_ORIENTED);
  expect(&b, small, inverted, GRAZE_A_IN_B, GRAZE_DOUBT_NONE);
  expect(&b, large, inverted, GRAZE_DUPLICATE, GRAZE_DOUBT_NONE);
  /* A cavity: what stands in it is outside, what fills it exactly touches. */
  put_box(corners, 0, 0, 1);
  put_box(corners, 12, 0.25, 0.75);
  reverse(corners, 12, 24);
  graze_mesh *hollow = test_mesh(b.context, corners, 24, GRAZE_VOLUMES_ORIENTED), *core = box_mesh(&b, 0.25, 0.75);
  expect(&b, small, hollow, GRAZE_SEPARATE, GRAZE_DOUBT_NONE);
  expect(&b, core, hollow, GRAZE_TOUCH, GRAZE_DOUBT_NONE);
  expect(&b, hollow, large, GRAZE_A_IN_B, GRAZE_DOUBT_NONE);
  /* The same shell not reversed bounds nothing: a solid within a solid. */
  reverse(corners, 12, 24);
  graze_mesh *nested = test_mesh(b.context, corners, 24, GRAZE_VOLUMES_ORIENTED);
  expect(&b, small, nested, GRAZE_A_IN_B, GRAZE_DOUBT_NONE);
  expect(&b, core, nested, GRAZE_A_IN_B, GRAZE_DOUBT_NONE);
  expect(&b, nested, large, GRAZE_DUPLICATE, GRAZE_DOUBT_NONE);
  /* Two boxes that overlap in one mesh: what lies across the wall between them seems to stick out of the one, but the
   * other holds it. The rod is in neither, but in both together. */
  put_box(corners, 0, 0, 0.5);
  put_box(corners, 12, 0.25, 1);
  graze_mesh *overlapping = test_mesh(b.context, corners, 24, GRAZE_VOLUMES_ORIENTED), *far = box_mesh(&b, 2, 3);
  expect(&b, within, overlapping, GRAZE_A_IN_B, GRAZE_DOUBT_NONE);
  graze_mesh *across = box_mesh(&b, 0.125, 0.375), *out = box_mesh(&b, 0.75, 1.5);
  expect(&b, across, overlapping, GRAZE_A_IN_B, GRAZE_DOUBT_NONE);
  put_box(corners, 0, 0.125, 0.875);
  for (int i = 0; i < 108; i++) { /* a rod along x, through both */
    if (i % 3 != 0) corners[i] = corners[i] == 0.125 ? 0.375 : 0.4375;
  }
  graze_mesh *rod = test_mesh(b.context, corners, 12, GRAZE_VOLUMES_ORIENTED);
  expect(&b, rod, overlapping, GRAZE_A_IN_B, GRAZE_DOUBT_NONE);
  expect(&b, out, overlapping, GRAZE_CROSS, GRAZE_DOUBT_NONE);
  expect(&b, far, overlapping, GRAZE_SEPARATE, GRAZE_DOUBT_NONE);
  graze_mesh *all[] = {small, large, within, inverted, hollow, core, nested, overlapping, far, across, out, rod};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) graze_mesh_destroy(all[i]);
  bench_close(&b);
}

static void test_surfaces(void **unused) {
  (void)unused;
  bench b = bench_open();
  double corners[9 * 12];
  graze_mesh *small = box_mesh(&b, 0.375, 0.625), *large = box_mesh(&b, 0, 1), *beside = box_mesh(&b, 1, 2);
  /* An open box: the last two triangles, one face, are missing. */
  put_box(corners, 0, 0, 1);
  graze_mesh *open = test_mesh(b.context, corners, 10, GRAZE_VOLUMES_ORIENTED);
  expect(&b, small, open, GRAZE_UNKNOWN, GRAZE_DOUBT_OPEN);
  expect(&b, open, beside, GRAZE_TOUCH, GRAZE_DOUBT_NONE);
  graze_relate_result told = relate(&b, small, NULL, open, NULL, GRAZE_T1);
  assert_int_equal(told.verdict.doubt_mesh, 1);
  /* The place is on the rim of the missing face: on that face's plane. */
  const double *missing = corners + 9 * 10;
  bool on_face = false;
  for (int k = 0; k < 3; k++) {
    bool flat = missing[k] == missing[3 + k] && missing[k] == missing[6 + k];
    on_face |= flat && told.verdict.doubt_point[k] == missing[k];
  }
  assert_true(on_face);
  graze_relate_options options = graze_default_relate_options();
  options.open = GRAZE_OPEN_SURFACE;
  assert_int_equal(graze_relate_meshes(b.query, small, NULL, open, NULL, &options, &told), GRAZE_OK);
  assert_int_equal(told.verdict.relation, GRAZE_SEPARATE);
  /* One triangle turned over: the box goes by parity. */
  put_box(corners, 0, 0, 1);
  reverse(corners, 3, 4);
  graze_mesh *turned = test_mesh(b.context, corners, 12, GRAZE_VOLUMES_ORIENTED);
  expect(&b, small, turned, GRAZE_A_IN_B, GRAZE_DOUBT_NONE);
  /* Sheets through, in, on and above a solid, and through each other. */
  graze_mesh *through = sheet_mesh(&b, -2, 2, 0.5), *inside = sheet_mesh(&b, 0.25, 0.75, 0.5);
  graze_mesh *on = sheet_mesh(&b, -2, 2, 1), *above = sheet_mesh(&b, -2, 2, 1.5), *rim = sheet_mesh(&b, 0, 1, 0.5);
  expect(&b, through, large, GRAZE_CROSS, GRAZE_DOUBT_NONE);
  expect(&b, inside, large, GRAZE_A_IN_B, GRAZE_DOUBT_NONE);
  expect(&b, on, large, GRAZE_TOUCH, GRAZE_DOUBT_NONE);
  expect(&b, above, large, GRAZE_SEPARATE, GRAZE_DOUBT_NONE);
  expect(&b, rim, large, GRAZE_A_IN_B, GRAZE_DOUBT_NONE);
  expect(&b, through, open, GRAZE_CROSS, GRAZE_DOUBT_NONE);
  expect(&b, on, above, GRAZE_SEPARATE, GRAZE_DOUBT_NONE);
  expect(&b, on, on, GRAZE_DUPLICATE, GRAZE_DOUBT_NONE);
  graze_mesh *all[] = {small, large, beside, open, turned, through, inside, on, above, rim};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) graze_mesh_destroy(all[i]);
  bench_close(&b);
}

static void test_other_doubts(void **unused) {
  (void)unused;
  bench b = bench_open();
  double corners[9 * 24];
  graze_mesh *small = box_mesh(&b, 0.375, 0.625), *large = box_mesh(&b, 0, 1);
  const graze_pose flat = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0.5}};
  graze_relate_result got = relate(&b, small, NULL, large, &flat, GRAZE_T1);
  assert_int_equal(got.verdict.relation, GRAZE_CROSS);
  graze_mesh_def def = graze_default_mesh_def();
  put_box(corners, 0, 0, 1);
  def.vertices = corners;
  def.vertex_count = 36;
  def.precision = GRAZE_DOUBLE;
  def.no_adjacency = true;
  graze_mesh *bare = NULL;
  assert_int_equal(graze_mesh_create(b.context, &def, &bare), GRAZE_OK);
  expect(&b, small, bare, GRAZE_UNKNOWN, GRAZE_DOUBT_NO_ADJACENCY);
  /* Two boxes that share an edge are two solids; and a third one there. */
  soup_box(unit_low, unit_high, corners);
  soup_box((const double[3]){1, 1, 0}, (const double[3]){2, 2, 1}, corners + 9 * 12);
  graze_mesh *bow = test_mesh(b.context, corners, 24, GRAZE_VOLUMES_ORIENTED);
  soup_box((const double[3]){1, 0, 0}, (const double[3]){2, 1, 1}, corners);
  graze_mesh *corner = test_mesh(b.context, corners, 12, GRAZE_VOLUMES_ORIENTED);
  expect(&b, bow, corner, GRAZE_TOUCH, GRAZE_DOUBT_NONE);
  assert_int_equal(graze_relate_meshes(b.query, small, NULL, NULL, NULL, NULL, &got), GRAZE_ERROR_ARGUMENT);
  graze_relate_options options = {0};
  assert_int_equal(graze_relate_meshes(b.query, small, NULL, large, NULL, &options, &got), GRAZE_ERROR_ARGUMENT);
  graze_mesh *all[] = {small, large, bare, bow, corner};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) graze_mesh_destroy(all[i]);
  bench_close(&b);
}

static void put_block(double *corners, int *count, const double low[3], const double high[3]) {
  soup_box(low, high, corners + 9 * 12 * (size_t)(*count)++);
}

static graze_relation relation_of(const bench *b, const graze_mesh *m, const graze_mesh *n, graze_open_rule open) {
  graze_relate_options options = graze_default_relate_options();
  graze_relate_result got;
  options.open = open;
  assert_int_equal(graze_relate_meshes(b->query, m, NULL, n, NULL, &options, &got), GRAZE_OK);
  return got.verdict.relation;
}

/* Closed meshes of which every corner of one part lies on others, or whose parts share edges: they have an inside,
 * whatever open meshes are taken for. */
static void test_entangled(void **unused) {
  (void)unused;
  static const struct {
    double wall[3][2][3], bolt[2][3];
    int parts;
    graze_relation want; /* of the bolt to the wall */
  } cases[] = {
      /* a bar through a block, flush with two of its faces */
      {{{{0, 0, 0}, {10, 10, 10}}, {{4, 4, 0}, {6, 6, 10}}}, {{4.5, 4.5, 4}, {5.5, 5.5, 6}}, 2, GRAZE_A_IN_B},
      {{{{0, 0, 0}, {10, 10, 10}}, {{4, 4, 0}, {6, 6, 10}}}, {{1, 1, 1}, {2, 2, 2}}, 2, GRAZE_A_IN_B},
      {{{{0, 0, 0}, {10, 10, 10}}, {{4, 4, 0}, {6, 6, 10}}}, {{4, 4, 4}, {6, 6, 6}}, 2, GRAZE_A_IN_B},
      /* wall segments in line, that overlap */
      {{{{0, 0, 0}, {4, 1, 3}}, {{3, 0, 0}, {8, 1, 3}}, {{7, 0, 0}, {12, 1, 3}}},
       {{3.25, 0.25, 1}, {3.75, 0.75, 2}},
       3,
       GRAZE_A_IN_B},
      {{{{0, 0, 0}, {4, 1, 3}}, {{3, 0, 0}, {8, 1, 3}}, {{7, 0, 0}, {12, 1, 3}}},
       {{2, 0, 1}, {9, 1, 2}},
       3,
       GRAZE_A_IN_B},
      {{{{0, 0, 0}, {4, 1, 3}}, {{3, 0, 0}, {8, 1, 3}}, {{7, 0, 0}, {12, 1, 3}}},
       {{2, 1, 1}, {9, 2, 2}},
       3,
       GRAZE_TOUCH},
      /* one above the other, sharing an edge */
      {{{{3, 2, 0}, {4, 4, 4}}, {{3, 3, 1}, {4, 4, 3}}}, {{3, 3, 2}, {4, 4, 4}}, 2, GRAZE_A_IN_B},
      {{{{0, 0, 0}, {1, 1, 1}}, {{1, 1, 0}, {2, 2, 1}}, {{0, 0, 0}, {2, 2, 0.5}}},
       {{1, 0, 0}, {2, 1, 0.25}},
       3,
       GRAZE_A_IN_B},
  };
  bench b = bench_open();
  double corners[9 * 36];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int count = 0, one = 0;
    for (int p = 0; p < cases[i].parts; p++) put_block(corners, &count, cases[i].wall[p][0], cases[i].wall[p][1]);
    graze_mesh *wall = test_mesh(b.context, corners, 12 * (uint32_t)count, GRAZE_VOLUMES_ORIENTED);
    put_block(corners, &one, cases[i].bolt[0], cases[i].bolt[1]);
    graze_mesh *bolt = test_mesh(b.context, corners, 12, GRAZE_VOLUMES_ORIENTED);
    for (int open = GRAZE_OPEN_UNKNOWN; open <= GRAZE_OPEN_SURFACE; open++) {
      assert_int_equal(relation_of(&b, bolt, wall, (graze_open_rule)open), cases[i].want);
      assert_int_equal(relation_of(&b, wall, bolt, (graze_open_rule)open), swapped(cases[i].want));
    }
    graze_mesh_destroy(wall);
    graze_mesh_destroy(bolt);
  }
  bench_close(&b);
}

/* Parts that go by parity beside others: the relation is known where it does not matter how their walls add up. */
static void test_two_readings(void **unused) {
  (void)unused;
  bench b = bench_open();
  double corners[9 * 24];
  graze_mesh *in_wall = box_mesh(&b, 0.05, 0.1), *in_cavity = box_mesh(&b, 0.4, 0.6), *around = box_mesh(&b, -1, 2);
  graze_mesh *far = box_mesh(&b, 3, 4);
  put_box(corners, 0, 0, 1);
  put_box(corners, 12, 0.25, 0.75);
  reverse(corners, 3, 4);   /* the shell, */
  reverse(corners, 12, 24); /* and a cavity that faces as it should */
  graze_mesh *shell = test_mesh(b.context, corners, 24, GRAZE_VOLUMES_ORIENTED);
  expect(&b, in_wall, shell, GRAZE_A_IN_B, GRAZE_DOUBT_NONE);
  expect(&b, in_cavity, shell, GRAZE_UNKNOWN, GRAZE_DOUBT_MISORIENTED);
  expect(&b, shell, around, GRAZE_A_IN_B, GRAZE_DOUBT_NONE);
  expect(&b, far, shell, GRAZE_SEPARATE, GRAZE_DOUBT_NONE);
  put_box(corners, 12, 0.3, 1.5); /* two that overlap, each with a triangle turned over */
  reverse(corners, 12, 13);
  graze_mesh *two = test_mesh(b.context, corners, 24, GRAZE_VOLUMES_ORIENTED);
  expect(&b, in_wall, two, GRAZE_A_IN_B, GRAZE_DOUBT_NONE);
  expect(&b, in_cavity, two, GRAZE_UNKNOWN, GRAZE_DOUBT_MISORIENTED);
  expect(&b, far, two, GRAZE_SEPARATE, GRAZE_DOUBT_NONE);
  graze_mesh *all[] = {in_wall, in_cavity, around, far, shell, two};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) graze_mesh_destroy(all[i]);
  bench_close(&b);
}

/* Without baking the mesh the same is told of it. */
static void check_measured(const bench *b, const double *corners, uint32_t triangles, const graze_mesh *mesh) {
  graze_mesh_def def = graze_default_mesh_def();
  graze_mesh_facts baked, facts;
  graze_solid_facts solid, measured;
  def.vertices = corners;
  def.vertex_count = 3 * (uint64_t)triangles;
  def.precision = GRAZE_DOUBLE;
  graze_mesh_get_facts(mesh, &baked);
  assert_int_equal(graze_mesh_get_solid(b->context, mesh, &solid), GRAZE_OK);
  assert_int_equal(graze_mesh_measure_solid(b->context, &def, &facts, &measured), GRAZE_OK);
  assert_memory_equal(&measured, &solid, sizeof solid);
  assert_true(facts.hash == baked.hash && facts.adjacency);
  assert_int_equal(graze_mesh_measure_solid(b->context, &def, &facts, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_mesh_measure_solid(b->context, NULL, &facts, &measured), GRAZE_ERROR_ARGUMENT);
}

/* Two boxes that cancel, and a sheet of two sides: contact is all that there is. */
static void test_cancelled(void **unused) {
  (void)unused;
  bench b = bench_open();
  double corners[9 * 28];
  graze_mesh *small = box_mesh(&b, 0.25, 0.75);
  put_box(corners, 0, 0, 1);
  put_box(corners, 12, 0, 1);
  reverse(corners, 12, 24);
  graze_mesh *nothing = test_mesh(b.context, corners, 24, GRAZE_VOLUMES_ORIENTED);
  expect(&b, small, nothing, GRAZE_SEPARATE, GRAZE_DOUBT_NONE);
  const double sheet[18] = {-1, -1, 0.5, 2, -1, 0.5, 2, 2, 0.5, -1, -1, 0.5, 2, 2, 0.5, -1, 2, 0.5};
  put_box(corners, 0, 2, 3);
  for (int k = 0; k < 2; k++) memcpy(corners + 9 * (12 + 2 * k), sheet, sizeof sheet);
  reverse(corners, 14, 16);
  graze_mesh *flag = test_mesh(b.context, corners, 16, GRAZE_VOLUMES_ORIENTED);
  expect(&b, small, flag, GRAZE_TOUCH, GRAZE_DOUBT_NONE);
  graze_solid_facts facts;
  assert_int_equal(graze_mesh_get_solid(b.context, flag, &facts), GRAZE_OK);
  check_measured(&b, corners, 16, flag);
  assert_int_equal(facts.winding_parts, 3); /* the box, and two triangles on their backs, joined at an edge of four */
  assert_int_equal(facts.parity_parts + facts.surface_parts, 0);
  put_box(corners, 0, 0, 1);
  reverse(corners, 3, 4);
  graze_mesh *turned = test_mesh(b.context, corners, 12, GRAZE_VOLUMES_ORIENTED);
  assert_int_equal(graze_mesh_get_solid(b.context, turned, &facts), GRAZE_OK);
  assert_int_equal(facts.parity_parts, 1);
  check_measured(&b, corners, 12, turned);
  graze_mesh *torn = test_mesh(b.context, corners, 11, GRAZE_VOLUMES_ORIENTED);
  assert_int_equal(graze_mesh_get_solid(b.context, torn, &facts), GRAZE_OK);
  assert_int_equal(facts.surface_parts, 1);
  check_measured(&b, corners, 11, torn);
  assert_int_equal(graze_mesh_get_solid(b.context, NULL, &facts), GRAZE_ERROR_ARGUMENT);
  graze_mesh *all[] = {small, nothing, flag, turned, torn};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) graze_mesh_destroy(all[i]);
  bench_close(&b);
}

/* Two rooms from x = 0 to 1 to 2 and the wall between them, whose border has three triangles at every edge. */
static graze_mesh *rooms(const bench *b) {
  double corners[9 * 24];
  uint32_t count = 12;
  put_box(corners, 0, 0, 1);
  soup_box((const double[3]){1, 0, 0}, (const double[3]){2, 1, 1}, corners + 9 * 12);
  for (uint32_t t = 12; t < 24; t++) {
    const double *c = corners + 9 * (size_t)t;
    if (c[0] == 1 && c[3] == 1 && c[6] == 1) continue;
    memmove(corners + 9 * (size_t)count++, c, 9 * sizeof *c);
  }
  return test_mesh(b->context, corners, count, GRAZE_VOLUMES_ORIENTED);
}

/* A box with a fin at one of its edges, which has three triangles: the box is closed without it. */
static graze_mesh *finned_box(const bench *b) {
  double corners[9 * 13];
  const double fin[9] = {1, 1, 0, 1, 1, 1, 2, 2, 0};
  put_box(corners, 0, 0, 1);
  memcpy(corners + 9 * 12, fin, sizeof fin);
  return test_mesh(b->context, corners, 13, GRAZE_VOLUMES_ORIENTED);
}

/* What is at fault, and where: edges of three triangles are no holes. */
static void test_true_reasons(void **unused) {
  (void)unused;
  bench b = bench_open();
  double corners[9 * 40];
  graze_mesh *first = box_mesh(&b, 0.25, 0.75), *on_top = NULL;
  soup_box((const double[3]){1.25, 0.25, 0.25}, (const double[3]){1.75, 0.75, 0.75}, corners);
  graze_mesh *second = test_mesh(b.context, corners, 12, GRAZE_VOLUMES_ORIENTED);
  soup_box((const double[3]){0.5, 1, 0.25}, (const double[3]){1.5, 2, 0.75}, corners);
  on_top = test_mesh(b.context, corners, 12, GRAZE_VOLUMES_ORIENTED);
  graze_mesh *two = rooms(&b), *finned = finned_box(&b);
  expect(&b, first, finned, GRAZE_A_IN_B, GRAZE_DOUBT_NONE);
  expect(&b, second, finned, GRAZE_SEPARATE, GRAZE_DOUBT_NONE);
  expect(&b, first, two, GRAZE_UNKNOWN, GRAZE_DOUBT_NONMANIFOLD);
  expect(&b, second, two, GRAZE_UNKNOWN, GRAZE_DOUBT_NONMANIFOLD);
  graze_relate_result got = relate(&b, on_top, NULL, two, NULL, GRAZE_T1);
  assert_int_equal(got.verdict.relation, GRAZE_UNKNOWN);
  assert_int_equal(got.verdict.doubt, GRAZE_DOUBT_NONMANIFOLD);
  assert_true(got.verdict.doubt_point[0] == 1 && got.verdict.doubt_point[1] == 1 && got.verdict.doubt_point[2] == 0.5);
  /* A torn box, one with a triangle turned over and a whole one: each answers for itself. */
  put_box(corners, 0, 0, 1);
  soup_box((const double[3]){4, 0, 0}, (const double[3]){5, 1, 1}, corners + 9 * 10);
  reverse(corners, 10, 11);
  soup_box((const double[3]){8, 0, 0}, (const double[3]){9, 1, 1}, corners + 9 * 22);
  graze_mesh *row = test_mesh(b.context, corners, 34, GRAZE_VOLUMES_ORIENTED);
  expect(&b, first, row, GRAZE_UNKNOWN, GRAZE_DOUBT_OPEN);
  const graze_pose by_four = test_translation(4, 0, 0), by_eight = test_translation(8, 0, 0);
  got = relate(&b, first, &by_four, row, NULL, GRAZE_T1);
  assert_int_equal(got.verdict.relation, GRAZE_A_IN_B);
  assert_int_equal(relate(&b, first, &by_eight, row, NULL, GRAZE_T1).verdict.relation, GRAZE_A_IN_B);
  graze_mesh *all[] = {first, second, on_top, two, finned, row};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) graze_mesh_destroy(all[i]);
  bench_close(&b);
}

/* What a relation leaves with a mesh is that of its shape as it is, and is of no use to another context. */
static void test_kept(void **unused) {
  (void)unused;
  const double low[3] = {0, 0, 0}, high[3] = {4, 4, 4}, in_low[3] = {1, 1, 1}, in_high[3] = {2, 2, 2};
  double outer[9 * 24], inner[9 * 12];
  bench one = bench_open(), two = bench_open();
  soup_box(low, high, outer);
  soup_box(in_low, in_high, inner);
  graze_mesh *a = test_mesh(one.context, outer, 12, GRAZE_VOLUMES_ORIENTED);
  graze_mesh *c = test_mesh(one.context, inner, 12, GRAZE_VOLUMES_ORIENTED);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(relate(&two, c, NULL, a, NULL, GRAZE_T1).verdict.relation, GRAZE_A_IN_B);
    assert_int_equal(relate(&one, a, NULL, c, NULL, GRAZE_T1).verdict.relation, GRAZE_B_IN_A);
    assert_int_equal(relate(&one, a, NULL, a, NULL, GRAZE_T1).verdict.relation, GRAZE_DUPLICATE);
  }
  /* A hull of the same triangles with one of its corners drawn away from the others is open. */
  double torn[9 * 12];
  memcpy(torn, outer, sizeof torn);
  torn[0] += 0.5;
  assert_int_equal(graze_mesh_refit(a, torn, 0), GRAZE_OK);
  assert_int_equal(relate(&one, a, NULL, c, NULL, GRAZE_T1).verdict.relation, GRAZE_UNKNOWN);
  assert_int_equal(graze_mesh_refit(a, outer, 0), GRAZE_OK);
  assert_int_equal(relate(&one, a, NULL, c, NULL, GRAZE_T1).verdict.relation, GRAZE_B_IN_A);
  /* The cube within becomes a cavity once the whole is one mesh. */
  memcpy(outer + 9 * 12, inner, sizeof inner);
  reverse(outer + 9 * 12, 0, 12);
  graze_mesh *hollow = test_mesh(two.context, outer, 24, GRAZE_VOLUMES_ORIENTED);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(relate(&one, hollow, NULL, c, NULL, GRAZE_T1).verdict.relation, GRAZE_TOUCH);
    assert_int_equal(relate(&two, c, NULL, hollow, NULL, GRAZE_T1).verdict.relation, GRAZE_TOUCH);
  }
  graze_mesh_destroy(a);
  graze_mesh_destroy(c);
  graze_mesh_destroy(hollow);
  bench_close(&one);
  bench_close(&two);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kept),         cmocka_unit_test(test_solids),       cmocka_unit_test(test_entangled),
      cmocka_unit_test(test_cancelled),    cmocka_unit_test(test_two_readings), cmocka_unit_test(test_surfaces),
      cmocka_unit_test(test_other_doubts), cmocka_unit_test(test_true_reasons), cmocka_unit_test(test_cells)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
