/* Relations against convex solids whose relation separating planes tell: random ones, tetrahedra of tiny grids, the
 * same shapes cut into other triangles, scaled, posed, damaged; and cases that users of other tools have reported. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "convex.h"
#include "families.h"
#include "polycubes.h"
#include "support.h"

enum { ROOM = 4 * 12 * CELLS * CELLS * CELLS };
static double room_a[9 * ROOM], room_b[9 * ROOM];

static const char *name_of(graze_relation r) {
  return graze_relation_string(r);
}

static graze_relation swapped(graze_relation r) {
  return r == GRAZE_A_IN_B ? GRAZE_B_IN_A : r == GRAZE_B_IN_A ? GRAZE_A_IN_B : r;
}

typedef struct bench {
  test_log *log;
  graze_context *context;
  graze_query *query;
  uint64_t state;
  uint64_t tally[GRAZE_UNKNOWN + 1];
} bench;

static bench bench_open(uint64_t seed) {
  static test_log log;
  bench b = {.log = &log, .context = test_context(1, &log), .state = seed};
  assert_int_equal(graze_query_create(b.context, &b.query), GRAZE_OK);
  return b;
}

static void bench_close(bench *b) {
  graze_query_destroy(b->query);
  graze_context_destroy(b->context);
}

static void print_tally(const bench *b, const char *what) {
  print_message("%s:", what);
  for (int r = 0; r <= GRAZE_UNKNOWN; r++) {
    if (b->tally[r] > 0) print_message(" %llu %s", (unsigned long long)b->tally[r], name_of((graze_relation)r));
  }
  print_message("\n");
}

static void assert_each_seen(const bench *b, uint64_t least) {
  for (int r = 0; r <= GRAZE_DUPLICATE; r++) {
    if (r != GRAZE_CLEARANCE) assert_true(b->tally[r] >= least);
  }
}

static graze_relating relate(const bench *b, const graze_mesh *m, const graze_pose *p, const graze_mesh *n,
                             const graze_pose *q, graze_exactness exactness) {
  graze_relate_options options = graze_default_relate_options();
  graze_relating out;
  options.exactness = exactness;
  graze_status status = graze_relate_meshes(b->query, m, p, n, q, &options, &out);
  if (status != GRAZE_OK) fail_msg("%s: %s", graze_status_string(status), b->log->last);
  return out;
}

static graze_mesh *soup(const bench *b, const double *corners, uint32_t count) {
  return test_mesh(b->context, corners, count, GRAZE_VOLUMES_ORIENTED);
}

/* ---- convex solids ---- */

static void random_points(uint64_t *state, int count, uint32_t side, convex *c) {
  c->count = count;
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < 3; k++) c->at[i][k] = 4 * (int64_t)random_below(state, side);
  }
}

/* The middle of, or a quarter way between, two points: all points are multiples of four. */
static void between(uint64_t *state, const convex *from, int64_t out[3]) {
  const int64_t *p = from->at[random_below(state, (uint32_t)from->count)];
  const int64_t *q = from->at[random_below(state, (uint32_t)from->count)];
  int64_t share = (int64_t)random_below(state, 5);
  for (int k = 0; k < 3; k++) out[k] = p[k] + share * (q[k] - p[k]) / 4;
}

/* One that has something to do with `a`: within it, around it, its image in a plane, shifted along an edge. */
static void related_points(uint64_t *state, const convex *a, convex *b) {
  uint32_t way = random_below(state, 5);
  *b = *a;
  if (way == 0) {
    b->count = 4 + (int)random_below(state, 4);
    for (int i = 0; i < b->count; i++) between(state, a, b->at[i]);
  } else if (way == 1) {
    b->count = a->count < CONVEX_POINTS ? a->count + 1 : a->count;
    for (int k = 0; k < 3; k++) b->at[b->count - 1][k] = 4 * (int64_t)random_below(state, 6) - 4;
  } else if (way == 2) {
    uint32_t k = random_below(state, 3);
    int64_t plane = a->at[random_below(state, (uint32_t)a->count)][k];
    for (int i = 0; i < b->count; i++) b->at[i][k] = 2 * plane - b->at[i][k];
  } else if (way == 3) {
    const int64_t *p = a->at[random_below(state, (uint32_t)a->count)];
    const int64_t *q = a->at[random_below(state, (uint32_t)a->count)];
    int64_t share = (int64_t)random_below(state, 5);
    for (int i = 0; i < b->count; i++) {
      for (int k = 0; k < 3; k++) b->at[i][k] += share * (q[k] - p[k]) / 4;
    }
  } else {
    for (int i = 0; i < (int)random_below(state, 3); i++) between(state, a, b->at[i]);
  }
}

/* Each triangle into four by the middles of its sides, which doubles hold. */
static uint32_t split(double *corners, uint32_t count) {
  for (uint32_t t = count; t-- > 0;) {
    double c[9], m[9];
    memcpy(c, corners + 9 * (size_t)t, sizeof c);
    for (int k = 0; k < 9; k++) m[k] = 0.5 * (c[k] + c[(k + 3) % 9]);
    double *out = corners + 36 * (size_t)t;
    for (int i = 0; i < 3; i++) {
      memcpy(out + 9 * i, c + 3 * i, 3 * sizeof *c);
      memcpy(out + 9 * i + 3, m + 3 * i, 3 * sizeof *c);
      memcpy(out + 9 * i + 6, m + (3 * i + 6) % 9, 3 * sizeof *c);
    }
    memcpy(out + 27, m, sizeof m);
  }
  return 4 * count;
}

/* Vertices by position in random order, as doubles or floats. */
static graze_mesh *indexed(const bench *b, uint64_t *state, const double *corners, uint32_t count, bool floats) {
  static double vertices[9 * 512];
  static float narrow[9 * 512];
  static uint32_t index[3 * 512];
  uint32_t used = 0;
  assert_true(count <= 512);
  for (uint32_t i = 0; i < 3 * count; i++) {
    uint32_t v = 0;
    while (v < used && memcmp(vertices + 3 * (size_t)v, corners + 3 * (size_t)i, 24) != 0) v++;
    if (v == used) memcpy(vertices + 3 * (size_t)used++, corners + 3 * (size_t)i, 24);
    index[i] = v;
  }
  for (uint32_t i = used; i > 1; i--) {
    uint32_t j = random_below(state, i);
    for (uint32_t c = 0; c < 3 * count; c++) index[c] = index[c] == i - 1 ? j : index[c] == j ? i - 1 : index[c];
    for (uint32_t k = 0; k < 3; k++) {
      double t = vertices[3 * (i - 1) + k];
      vertices[3 * (i - 1) + k] = vertices[3 * j + k];
      vertices[3 * j + k] = t;
    }
  }
  for (uint32_t k = 0; k < 3 * used; k++) narrow[k] = (float)vertices[k];
  graze_mesh_def def = graze_default_mesh_def();
  graze_mesh *mesh = NULL;
  def.vertices = floats ? (const void *)narrow : vertices;
  def.vertex_count = used;
  def.precision = floats ? GRAZE_FLOAT : GRAZE_DOUBLE;
  def.indices = index;
  def.triangle_count = count;
  assert_int_equal(graze_mesh_create(b->context, &def, &mesh), GRAZE_OK);
  return mesh;
}

static void scale(double *corners, uint32_t count, double by) {
  for (size_t i = 0; i < 9 * (size_t)count; i++) corners[i] *= by;
}

static void expect(const bench *b, const graze_mesh *m, const graze_mesh *n, graze_relation want, const char *what) {
  graze_relating got = relate(b, m, NULL, n, NULL, GRAZE_T1);
  if (got.relation != want || got.doubt != GRAZE_DOUBT_NONE) {
    fail_msg("%s: %s, not %s (%s)", what, name_of(got.relation), name_of(want), graze_doubt_string(got.doubt));
  }
}

/* The two surfaces in rooms a and b, in every guise that must not matter. */
static void check_guises(bench *b, uint32_t na, uint32_t nb, graze_relation want, bool thorough) {
  graze_mesh *m = soup(b, room_a, na), *n = soup(b, room_b, nb);
  expect(b, m, n, want, "as it is");
  expect(b, n, m, swapped(want), "swapped");
  if (thorough) {
    graze_mesh *fm = indexed(b, &b->state, room_a, na, true), *dn = indexed(b, &b->state, room_b, nb, false);
    expect(b, fm, dn, want, "indexed");
    graze_mesh_destroy(fm);
    graze_mesh_destroy(dn);
    const graze_pose mirror = {{0, -1, 0, 7, 1, 0, 0, -3, 0, 0, -2, 5}};
    assert_int_equal(relate(b, m, &mirror, n, &mirror, GRAZE_T1).relation, want);
    assert_int_equal(relate(b, m, &mirror, n, &mirror, GRAZE_T2).relation, want);
    static const double factors[] = {0x1p-1073, 0x1p-1000, 0x1p-400, 0x1p300, 0x1p1010, 0x1p1018};
    double factor = factors[random_below(&b->state, 6)];
    scale(room_a, na, factor);
    scale(room_b, nb, factor);
    graze_mesh *sm = soup(b, room_a, na), *sn = soup(b, room_b, nb);
    char what[40];
    snprintf(what, sizeof what, "scaled by %g", factor);
    expect(b, sm, sn, want, what);
    graze_mesh_destroy(sm);
    graze_mesh_destroy(sn);
  }
  graze_mesh_destroy(m);
  graze_mesh_destroy(n);
}

static void test_convex(void **unused) {
  (void)unused;
  bench b = bench_open(21);
  int rounds = test_long() ? 300000 : 8000;
  for (int i = 0; i < rounds; i++) {
    convex p, q;
    uint32_t side = 2 + random_below(&b.state, 5);
    random_points(&b.state, 4 + (int)random_below(&b.state, 5), side, &p);
    if (i % 4 == 0)
      random_points(&b.state, 4 + (int)random_below(&b.state, 5), side, &q);
    else
      related_points(&b.state, &p, &q);
    if (!convex_make(&p) || !convex_make(&q)) continue;
    graze_relation want = convex_relation(&p, &q);
    uint32_t np = convex_surface(&p, &b.state, room_a), nq = convex_surface(&q, &b.state, room_b);
    if (i % 5 == 1) np = split(room_a, np);
    if (i % 7 == 1) nq = split(room_b, nq);
    check_guises(&b, np, nq, want, i % 8 == 3);
    b.tally[want]++;
  }
  print_tally(&b, "convex solids");
  assert_each_seen(&b, 100);
  bench_close(&b);
}

/* Tetrahedra of a grid of two to four points a side. */
static void test_tetrahedra(void **unused) {
  (void)unused;
  bench b = bench_open(22);
  int rounds = test_long() ? 2000000 : 25000;
  for (int i = 0; i < rounds; i++) {
    convex p, q;
    uint32_t side = 2 + (uint32_t)(i % 3);
    random_points(&b.state, 4, side, &p);
    random_points(&b.state, 4, side, &q);
    for (int k = 0; k < (int)random_below(&b.state, 5); k++) memcpy(q.at[k], p.at[k], sizeof q.at[k]);
    if (!convex_make(&p) || !convex_make(&q)) continue;
    graze_relation want = convex_relation(&p, &q);
    uint32_t np = convex_surface(&p, &b.state, room_a), nq = convex_surface(&q, &b.state, room_b);
    check_guises(&b, np, nq, want, i % 64 == 0);
    b.tally[want]++;
  }
  print_tally(&b, "tetrahedra");
  assert_each_seen(&b, 30);
  bench_close(&b);
}

/* ---- meshes that meet themselves ---- */

/* A prism over a polygon in the plane z = 0, cut into a fan. */
static graze_mesh *prism(const bench *b, int count, const double polygon[][2], double low, double high) {
  double corners[9 * 64], *out = corners;
  for (int i = 0; i < count; i++) {
    const double *p = polygon[i], *q = polygon[(i + 1) % count], *o = polygon[0];
    const double wall[18] = {p[0], p[1], low, q[0], q[1], low,  q[0], q[1], high,
                             p[0], p[1], low, q[0], q[1], high, p[0], p[1], high};
    const double caps[18] = {o[0], o[1], low, q[0], q[1], low, p[0], p[1], low, o[0], o[1], high, p[0], p[1], high, q[0],
                             q[1], high};
    memcpy(out, wall, sizeof wall);
    out += 18;
    if (i == 0 || i == count - 1) continue;
    memcpy(out, caps, sizeof caps);
    out += 18;
  }
  return soup(b, corners, (uint32_t)((out - corners) / 9));
}

/* The answer, or that the mesh intersects itself. */
static void expect_or_doubt(const bench *b, const graze_mesh *m, const graze_mesh *n, graze_relation want,
                            const char *what) {
  graze_relating got = relate(b, m, NULL, n, NULL, GRAZE_T1), back = relate(b, n, NULL, m, NULL, GRAZE_T1);
  bool doubted = got.relation == GRAZE_UNKNOWN && got.doubt == GRAZE_DOUBT_SELF_INTERSECTING;
  if (got.relation != want && !doubted) fail_msg("%s: %s, not %s", what, name_of(got.relation), name_of(want));
  if (back.relation != swapped(got.relation)) fail_msg("%s: %s swapped", what, name_of(back.relation));
}

/* A prism over a bow tie: two lobes, and the triangles of one face inwards. Both are material. */
static void test_lobes(void **unused) {
  (void)unused;
  bench b = bench_open(23);
  const double tie[4][2] = {{0, 0}, {4, 3}, {4, 0}, {0, 1}}, left[3][2] = {{0, 0}, {1, 0.75}, {0, 1}};
  const double right[3][2] = {{1, 0.75}, {4, 0}, {4, 3}}, beside[4][2] = {{-1, 0.25}, {0, 0.25}, {0, 0.75}, {-1, 0.75}};
  const double after[4][2] = {{4, 1}, {5, 1}, {5, 2}, {4, 2}}, through[4][2] = {{-1, 0.5}, {5, 0.5}, {5, 0.6}, {-1, 0.6}};
  const double between[3][2] = {{1, 0.75}, {2, 1.5}, {0, 1.5}};
  graze_mesh *bow = prism(&b, 4, tie, 0, 1);
  graze_mesh *m[] = {prism(&b, 3, left, 0, 1),    prism(&b, 3, left, 0.25, 0.5), prism(&b, 3, right, 0, 1),
                     prism(&b, 3, right, 0, 0.5), prism(&b, 4, beside, 0, 1),    prism(&b, 4, after, 0, 1),
                     prism(&b, 4, through, 0, 1), prism(&b, 3, between, 0, 1),   prism(&b, 4, beside, 0.25, 2)};
  const graze_relation want[] = {GRAZE_A_IN_B, GRAZE_A_IN_B, GRAZE_A_IN_B, GRAZE_A_IN_B, GRAZE_TOUCH,
                                 GRAZE_TOUCH,  GRAZE_CROSS,  GRAZE_TOUCH,  GRAZE_TOUCH};
  char what[32];
  for (int i = 0; i < (int)(sizeof m / sizeof *m); i++) {
    snprintf(what, sizeof what, "bow tie and shape %d", i);
    expect_or_doubt(&b, m[i], bow, want[i], what);
    graze_mesh_destroy(m[i]);
  }
  graze_mesh_destroy(bow);
  bench_close(&b);
}

/* ---- poses that round much away ---- */

static void test_collapsed(void **unused) {
  (void)unused;
  bench b = bench_open(24);
  const double low[3] = {0, 0, 0}, high[3] = {1, 1, 1}, big_low[3] = {-0x1p60, -0x1p60, -0x1p60};
  const double big_high[3] = {0x1p60, 0x1p60, 0x1p60};
  double small[108], large[108];
  soup_box(low, high, small);
  soup_box(big_low, big_high, large);
  graze_mesh *m = soup(&b, small, 12), *n = soup(&b, large, 12);
  /* Far out doubles are 256 apart: the unit box becomes a point, a segment, a flat piece. */
  for (int way = 1; way < 8; way++) {
    graze_pose p = test_translation(way & 1 ? 0x1p60 : 0, way & 2 ? 0x1p60 : 0, way & 4 ? -0x1p60 : 0);
    graze_relating got = relate(&b, m, &p, n, NULL, GRAZE_T1), back = relate(&b, n, NULL, m, &p, GRAZE_T1);
    assert_int_equal(got.relation, GRAZE_UNKNOWN);
    assert_int_equal(got.doubt, GRAZE_DOUBT_FLATTENED);
    assert_int_equal(back.relation, GRAZE_UNKNOWN);
    assert_int_equal(back.doubt, GRAZE_DOUBT_FLATTENED);
    /* In real numbers it stands on the large box's surface: inside at the far side of z, else outside. */
    graze_relation real = relate(&b, m, &p, n, NULL, GRAZE_T2).relation;
    assert_int_equal(real, way == 4 ? GRAZE_A_IN_B : GRAZE_TOUCH);
    graze_pose turned = p; /* the same box again, in other triangles */
    turned.m[0] = turned.m[5] = 0;
    turned.m[1] = turned.m[4] = 1;
    assert_int_equal(relate(&b, m, &p, m, &turned, GRAZE_T1).relation, GRAZE_UNKNOWN);
    assert_int_equal(relate(&b, m, &p, m, &turned, GRAZE_T2).relation, GRAZE_DUPLICATE);
  }
  graze_mesh_destroy(m);
  graze_mesh_destroy(n);
  bench_close(&b);
}

/* A pose may shrink or enlarge by any power. */
static void test_scaling_poses(void **unused) {
  (void)unused;
  bench b = bench_open(25);
  const double out_low[3] = {-4, -4, -4}, out_high[3] = {4, 4, 4}, low[3] = {-1, -1, -1}, high[3] = {1, 1, 1};
  double outer[108], inner[108];
  soup_box(out_low, out_high, outer);
  soup_box(low, high, inner);
  graze_mesh *m = soup(&b, inner, 12), *n = soup(&b, outer, 12);
  static const double factors[] = {0x1p-1060, 0x1p-600, 0x1p-300, 0x1p300, 0x1p600, 0x1p1020};
  for (int i = 0; i < 6; i++) {
    double f = factors[i];
    const graze_pose p = {{f, 0, 0, 0, 0, f, 0, 0, 0, 0, f, 0}};
    for (int tier = 0; tier < 2; tier++) {
      graze_relating got = relate(&b, m, &p, n, &p, tier == 0 ? GRAZE_T1 : GRAZE_T2);
      if (got.relation != GRAZE_A_IN_B)
        fail_msg("pose of %g: %s, %s", f, name_of(got.relation), graze_doubt_string(got.doubt));
    }
    if (f < 0x1p-1000) continue; /* from so small a pose no double leads out of the other box */
    graze_relating got = relate(&b, m, &p, n, NULL, GRAZE_T1);
    if (got.relation != (f < 1 ? GRAZE_A_IN_B : GRAZE_B_IN_A))
      fail_msg("one pose of %g: %s, %s", f, name_of(got.relation), graze_doubt_string(got.doubt));
  }
  scale(inner, 12, 0x1p1020);
  scale(outer, 12, 0x1p1020);
  graze_mesh *vast = soup(&b, inner, 12), *vaster = soup(&b, outer, 12);
  expect(&b, vast, vaster, GRAZE_A_IN_B, "vast");
  graze_mesh_destroy(m);
  graze_mesh_destroy(n);
  graze_mesh_destroy(vast);
  graze_mesh_destroy(vaster);
  bench_close(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_convex), cmocka_unit_test(test_tetrahedra), cmocka_unit_test(test_lobes), cmocka_unit_test(test_collapsed), cmocka_unit_test(test_scaling_poses)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
