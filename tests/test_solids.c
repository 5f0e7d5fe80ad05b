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

static graze_relate_result relate(const bench *b, const graze_mesh *m, const graze_pose *p, const graze_mesh *n,
                                  const graze_pose *q, graze_exactness exactness) {
  graze_relate_options options = graze_default_relate_options();
  graze_relate_result out;
  options.exactness = exactness;
  graze_status status = graze_relate_meshes(b->query, m, p, n, q, &options, &out);
  if (status != GRAZE_OK) fail_msg("%s: %s", graze_status_string(status), b->log->last);
  return out;
}

static graze_mesh *soup(const bench *b, const double *corners, uint32_t count) {
  return test_mesh(b->context, corners, count, GRAZE_VOLUMES_ORIENTED);
}

static graze_mesh *block(const bench *b, const double low[3], const double high[3]) {
  double corners[108];
  soup_box(low, high, corners);
  return soup(b, corners, 12);
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

/* Two solids, three times of four with something to do with each other. False: one of them is flat. */
static bool draw_pair(uint64_t *state, int round, convex *p, convex *q) {
  uint32_t side = 2 + random_below(state, 5);
  random_points(state, 4 + (int)random_below(state, 5), side, p);
  if (round % 4 == 0)
    random_points(state, 4 + (int)random_below(state, 5), side, q);
  else
    related_points(state, p, q);
  return convex_make(p) && convex_make(q);
}

/* Their surfaces in rooms a and b; returns how they lie to each other. */
static graze_relation lay_out(uint64_t *state, const convex *p, const convex *q, uint32_t *np, uint32_t *nq) {
  *np = convex_surface(p, state, room_a);
  *nq = convex_surface(q, state, room_b);
  return convex_relation(p, q);
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
  graze_relate_result got = relate(b, m, NULL, n, NULL, GRAZE_T1);
  if (got.verdict.relation != want || got.verdict.doubt != GRAZE_DOUBT_NONE) {
    fail_msg("%s: %s, not %s (%s)", what, name_of(got.verdict.relation), name_of(want),
             graze_doubt_string(got.verdict.doubt));
  }
}

static void expect_both(const bench *b, const graze_mesh *m, const graze_mesh *n, graze_relation want,
                        const char *what) {
  expect(b, m, n, want, what);
  expect(b, n, m, swapped(want), what);
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
    assert_int_equal(relate(b, m, &mirror, n, &mirror, GRAZE_T1).verdict.relation, want);
    assert_int_equal(relate(b, m, &mirror, n, &mirror, GRAZE_T2).verdict.relation, want);
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
  int rounds = test_rounds(4000, 300000);
  for (int i = 0; i < rounds; i++) {
    convex p, q;
    uint32_t np, nq;
    if (!draw_pair(&b.state, i, &p, &q)) continue;
    graze_relation want = lay_out(&b.state, &p, &q, &np, &nq);
    if (i % 5 == 1) np = split(room_a, np);
    if (i % 7 == 1) nq = split(room_b, nq);
    check_guises(&b, np, nq, want, i % 8 == 3);
    b.tally[want]++;
  }
  print_tally(&b, "convex solids");
  assert_each_seen(&b, (uint64_t)rounds / 200);
  bench_close(&b);
}

/* Tetrahedra of a grid of two to four points a side. */
static void test_tetrahedra(void **unused) {
  (void)unused;
  bench b = bench_open(22);
  int rounds = test_rounds(16000, 2000000);
  for (int i = 0; i < rounds; i++) {
    convex p, q;
    uint32_t np, nq, side = 2 + (uint32_t)(i % 3);
    random_points(&b.state, 4, side, &p);
    random_points(&b.state, 4, side, &q);
    for (int k = 0; k < (int)random_below(&b.state, 5); k++) memcpy(q.at[k], p.at[k], sizeof q.at[k]);
    if (!convex_make(&p) || !convex_make(&q)) continue;
    graze_relation want = lay_out(&b.state, &p, &q, &np, &nq);
    check_guises(&b, np, nq, want, i % 64 == 0);
    b.tally[want]++;
  }
  print_tally(&b, "tetrahedra");
  assert_each_seen(&b, (uint64_t)rounds / 5000); /* one solid is in the other in 1 of 550 */
  bench_close(&b);
}

/* ---- meshes that meet themselves ---- */

static void swap_triangles(double *p, double *q) {
  for (int k = 0; k < 9; k++) {
    double t = p[k];
    p[k] = q[k];
    q[k] = t;
  }
}

/* A prism over a polygon in the plane z = 0, cut into a fan. */
static graze_mesh *prism(const bench *b, int count, const double polygon[][2], double low, double high) {
  double corners[9 * 64], *out = corners;
  for (int i = 0; i < count; i++) {
    const double *p = polygon[i], *q = polygon[(i + 1) % count], *o = polygon[0];
    const double wall[18] = {p[0], p[1], low, q[0], q[1], low,  q[0], q[1], high,
                             p[0], p[1], low, q[0], q[1], high, p[0], p[1], high};
    const double caps[18] = {o[0], o[1], low,  q[0], q[1], low,  p[0], p[1], low,
                             o[0], o[1], high, p[0], p[1], high, q[0], q[1], high};
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
  graze_relate_result got = relate(b, m, NULL, n, NULL, GRAZE_T1), back = relate(b, n, NULL, m, NULL, GRAZE_T1);
  bool doubted = got.verdict.relation == GRAZE_UNKNOWN && got.verdict.doubt == GRAZE_DOUBT_SELF_INTERSECTING;
  if (got.verdict.relation != want && !doubted)
    fail_msg("%s: %s, not %s", what, name_of(got.verdict.relation), name_of(want));
  if (back.verdict.relation != swapped(got.verdict.relation))
    fail_msg("%s: %s swapped", what, name_of(back.verdict.relation));
}

/* A prism over a bow tie: two lobes, and the triangles of one face inwards. Both are material. */
static void test_lobes(void **unused) {
  (void)unused;
  bench b = bench_open(23);
  const double tie[4][2] = {{0, 0}, {4, 3}, {4, 0}, {0, 1}}, left[3][2] = {{0, 0}, {1, 0.75}, {0, 1}};
  const double right[3][2] = {{1, 0.75}, {4, 0}, {4, 3}}, beside[4][2] = {{-1, 0.25}, {0, 0.25}, {0, 0.75}, {-1, 0.75}};
  const double after[4][2] = {{4, 1}, {5, 1}, {5, 2}, {4, 2}},
               through[4][2] = {{-1, 0.5}, {5, 0.5}, {5, 0.6}, {-1, 0.6}};
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
  graze_mesh *m = block(&b, low, high), *n = block(&b, big_low, big_high);
  /* Far out doubles are 256 apart: the unit box becomes a point, a segment, a flat piece. */
  for (int way = 1; way < 8; way++) {
    graze_pose p = test_translation(way & 1 ? 0x1p60 : 0, way & 2 ? 0x1p60 : 0, way & 4 ? -0x1p60 : 0);
    graze_relate_result got = relate(&b, m, &p, n, NULL, GRAZE_T1), back = relate(&b, n, NULL, m, &p, GRAZE_T1);
    assert_int_equal(got.verdict.relation, GRAZE_UNKNOWN);
    assert_int_equal(got.verdict.doubt, GRAZE_DOUBT_FLATTENED);
    assert_int_equal(back.verdict.relation, GRAZE_UNKNOWN);
    assert_int_equal(back.verdict.doubt, GRAZE_DOUBT_FLATTENED);
    /* In real numbers it stands on the large box's surface: inside at the far side of z, else outside. */
    graze_relation real = relate(&b, m, &p, n, NULL, GRAZE_T2).verdict.relation;
    assert_int_equal(real, way == 4 ? GRAZE_A_IN_B : GRAZE_TOUCH);
    graze_pose turned = p; /* the same box again, in other triangles */
    turned.m[0] = turned.m[5] = 0;
    turned.m[1] = turned.m[4] = 1;
    assert_int_equal(relate(&b, m, &p, m, &turned, GRAZE_T1).verdict.relation, GRAZE_UNKNOWN);
    assert_int_equal(relate(&b, m, &p, m, &turned, GRAZE_T2).verdict.relation, GRAZE_DUPLICATE);
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
  graze_mesh *m = block(&b, low, high), *n = block(&b, out_low, out_high);
  static const double factors[] = {0x1p-1060, 0x1p-600, 0x1p-300, 0x1p300, 0x1p600, 0x1p1020};
  for (int i = 0; i < 6; i++) {
    double f = factors[i];
    const graze_pose p = {{f, 0, 0, 0, 0, f, 0, 0, 0, 0, f, 0}};
    for (int tier = 0; tier < 2; tier++) {
      graze_relate_result got = relate(&b, m, &p, n, &p, tier == 0 ? GRAZE_T1 : GRAZE_T2);
      if (got.verdict.relation != GRAZE_A_IN_B)
        fail_msg("pose of %g: %s, %s", f, name_of(got.verdict.relation), graze_doubt_string(got.verdict.doubt));
    }
    if (f < 0x1p-1000) continue; /* from so small a pose no double leads out of the other box */
    graze_relate_result got = relate(&b, m, &p, n, NULL, GRAZE_T1);
    if (got.verdict.relation != (f < 1 ? GRAZE_A_IN_B : GRAZE_B_IN_A))
      fail_msg("one pose of %g: %s, %s", f, name_of(got.verdict.relation), graze_doubt_string(got.verdict.doubt));
  }
  const double vast_low[3] = {-0x1p1020, -0x1p1020, -0x1p1020}, vast_high[3] = {0x1p1020, 0x1p1020, 0x1p1020};
  const double vaster_low[3] = {-0x1p1022, -0x1p1022, -0x1p1022}, vaster_high[3] = {0x1p1022, 0x1p1022, 0x1p1022};
  graze_mesh *vast = block(&b, vast_low, vast_high), *vaster = block(&b, vaster_low, vaster_high);
  expect(&b, vast, vaster, GRAZE_A_IN_B, "vast");
  graze_mesh_destroy(m);
  graze_mesh_destroy(n);
  graze_mesh_destroy(vast);
  graze_mesh_destroy(vaster);
  bench_close(&b);
}

/* ---- damaged solids ---- */

static void turn_over(double *triangle) {
  double t[3];
  memcpy(t, triangle, sizeof t);
  memcpy(triangle, triangle + 3, sizeof t);
  memcpy(triangle + 3, t, sizeof t);
}

/* What may be said of solid b and of a, which has lost triangles or has one turned over, when the whole a would lie to
 * b as `whole`: the same; or `unknown`, because of the damage to a; or, of what is left of the surface, that it does
 * not meet b, that it lies within b, or that it touches b in points. Never that b, inside of a, is apart from it. */
static bool allowed(const graze_relate_result *got, graze_relation whole, graze_doubt damage) {
  if (got->verdict.relation == whole) return true;
  switch (got->verdict.relation) {
    case GRAZE_UNKNOWN:
      return got->verdict.doubt == damage && got->verdict.doubt_mesh == 0;
    case GRAZE_SEPARATE:
      return got->counts.triangle_pairs == 0 && whole != GRAZE_B_IN_A && whole != GRAZE_DUPLICATE;
    case GRAZE_TOUCH:
    case GRAZE_A_IN_B:
      return damage == GRAZE_DOUBT_OPEN && whole == GRAZE_CROSS;
    default:
      return false;
  }
}

static void test_damaged(void **unused) {
  (void)unused;
  bench b = bench_open(26);
  int rounds = test_rounds(4000, 300000);
  uint64_t touching = 0;
  for (int i = 0; i < rounds; i++) {
    convex p, q;
    uint32_t np, nq;
    if (!draw_pair(&b.state, i, &p, &q)) continue;
    graze_relation whole = lay_out(&b.state, &p, &q, &np, &nq);
    bool turned = i % 3 == 0;
    if (turned)
      turn_over(room_a + 9 * (size_t)random_below(&b.state, np));
    else
      np -= 1 + random_below(&b.state, 2);
    graze_doubt damage = turned ? GRAZE_DOUBT_MISORIENTED : GRAZE_DOUBT_OPEN;
    graze_mesh *m = soup(&b, room_a, np), *n = soup(&b, room_b, nq);
    graze_relate_result got = relate(&b, m, NULL, n, NULL, GRAZE_T1);
    if (!allowed(&got, whole, damage)) {
      fail_msg("round %d: %s (%s) of a whole that is %s", i, name_of(got.verdict.relation),
               graze_doubt_string(got.verdict.doubt), name_of(whole));
    }
    touching += got.verdict.relation == GRAZE_TOUCH && whole == GRAZE_CROSS;
    graze_relate_result back = relate(&b, n, NULL, m, NULL, GRAZE_T1);
    assert_int_equal(back.verdict.relation, swapped(got.verdict.relation));
    assert_int_equal(back.verdict.doubt, got.verdict.doubt);
    b.tally[got.verdict.relation]++;
    graze_mesh_destroy(m);
    graze_mesh_destroy(n);
  }
  print_tally(&b, "damaged");
  print_message("%llu touch, but would cross\n", (unsigned long long)touching);
  assert_true(b.tally[GRAZE_UNKNOWN] > (uint64_t)rounds / 40);
  bench_close(&b);
}

/* ---- solids of cells: cavities, several parts ---- */

static void merge(polycube *into, const polycube *other) {
  for (int i = 0; i < CELLS * CELLS * CELLS; i++) (&into->cell[0][0][0])[i] |= (&other->cell[0][0][0])[i];
}

/* Shells with something inside, and two lumps apart, in one mesh. */
static void test_parts(void **unused) {
  (void)unused;
  bench b = bench_open(27);
  int rounds = test_rounds(250, 20000);
  for (int i = 0; i < rounds; i++) {
    polycube p, q, r;
    polycube_random(&p, &b.state, 1, 1, 9, 1);
    int low = 2 + (int)random_below(&b.state, 2), high = 7 + (int)random_below(&b.state, 2);
    for (int x = low; x < high; x++)
      for (int y = low; y < high; y++)
        for (int z = low; z < high; z++) p.cell[x][y][z] = false;
    polycube_random(&r, &b.state, 1, low + 1, high - 1, 0.7);
    polycube_mend(&r, 1);
    if (i % 2 == 0) merge(&p, &r);
    int from = (int)random_below(&b.state, 5);
    polycube_random(&q, &b.state, 1, from, from + 1 + (int)random_below(&b.state, 5), 0.8);
    polycube_mend(&q, 1);
    if (i % 5 == 0) q = r;
    if (i % 7 == 0) q = p;
    graze_relation want = polycube_relation(&p, &q);
    uint32_t np = polycube_surface(&p, 1, &b.state, room_a), nq = polycube_surface(&q, 1, &b.state, room_b);
    if (nq == 0) continue;
    check_guises(&b, np, nq, want, false);
    b.tally[want]++;
  }
  print_tally(&b, "shells and lumps");
  bench_close(&b);
}

/* Many small parts in one mesh inside a large box: no step may look at all triangles for each part. */
static void test_many_parts(void **unused) {
  (void)unused;
  enum { most = 24 };
  static double cubes[108 * most * most * most];
  int side = most;
#ifdef __SANITIZE_ADDRESS__
  if (!test_long()) side = 10;
#endif
  bench b = bench_open(28);
  size_t n = 0;
  for (int i = 0; i < side * side * side; i++) {
    double low[3] = {2.0 * (i % side), 2.0 * (i / side % side), 2.0 * (i / side / side)};
    double high[3] = {low[0] + 1, low[1] + 1, low[2] + 1};
    soup_box(low, high, cubes + n);
    n += 108;
  }
  graze_mesh *many = soup(&b, cubes, (uint32_t)(n / 9));
  graze_mesh *one = block(&b, (const double[3]){-1, -1, -1}, (const double[3]){50, 50, 50});
  expect(&b, many, one, GRAZE_A_IN_B, "many parts");
  graze_mesh_destroy(many);
  graze_mesh_destroy(one);
  bench_close(&b);
}

/* ---- what users of other tools have reported ---- */

/* Eight-sided, radius 5 across the flats, along z; corners are exact. */
static graze_mesh *pipe(const bench *b, double x, double y, double low, double high) {
  static const double ring[8][2] = {{5, -2}, {5, 2}, {2, 5}, {-2, 5}, {-5, 2}, {-5, -2}, {-2, -5}, {2, -5}};
  double at[8][2];
  for (int i = 0; i < 8; i++) {
    at[i][0] = x + ring[i][0];
    at[i][1] = y + ring[i][1];
  }
  return prism(b, 8, at, low, high);
}

typedef struct block_case {
  double low[3], high[3];
  graze_relation want; /* of the shape to this block */
  const char *what;
} block_case;

/* Checks the shape against each block, and destroys it. */
static void check_blocks(const bench *b, graze_mesh *shape, const block_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    graze_mesh *other = block(b, cases[i].low, cases[i].high);
    expect_both(b, shape, other, cases[i].want, cases[i].what);
    graze_mesh_destroy(other);
  }
  graze_mesh_destroy(shape);
}

/* IfcOpenShell#4594: in line, of one cross-section, 50 mm shared. No triangle passes through another. */
static void test_walls_in_line(void **unused) {
  static const block_case cases[] = {
      {{3950, 0, 0}, {8000, 200, 3000}, GRAZE_CROSS, "walls"},
      {{4000, 0, 0}, {8000, 200, 3000}, GRAZE_TOUCH, "end to end"},
      {{4050, 0, 0}, {8000, 200, 3000}, GRAZE_SEPARATE, "gap"},
  };
  static const double wall_low[3] = {0, 0, 0}, wall_high[3] = {4000, 200, 3000};
  (void)unused;
  bench b = bench_open(31);
  check_blocks(&b, block(&b, wall_low, wall_high), cases, sizeof cases / sizeof cases[0]);
  /* With a hole in the far end of one it cannot be known, and must not be called a touch. */
  double corners[108];
  soup_box(wall_low, wall_high, corners);
  graze_mesh *second = block(&b, cases[0].low, cases[0].high);
  for (size_t t = 0; t < 12; t++) {
    bool far_end = corners[9 * t] == 0 && corners[9 * t + 3] == 0 && corners[9 * t + 6] == 0;
    double left[108];
    size_t kept = 0;
    for (size_t u = 0; u < 12; u++) {
      if (u == t || !far_end) continue;
      memcpy(left + 9 * kept++, corners + 9 * u, 9 * sizeof *left);
    }
    if (!far_end) continue;
    graze_mesh *open = soup(&b, left, 11);
    graze_relate_result got = relate(&b, open, NULL, second, NULL, GRAZE_T1);
    if (got.verdict.relation != GRAZE_CROSS) {
      assert_int_equal(got.verdict.relation, GRAZE_UNKNOWN);
      assert_int_equal(got.verdict.doubt, GRAZE_DOUBT_OPEN);
      assert_int_equal(got.verdict.doubt_mesh, 0);
    }
    graze_mesh_destroy(open);
  }
  graze_mesh_destroy(second);
  bench_close(&b);
}

/* Navisworks' manual on its hard test: parallel pipes that coincide are missed. */
static void test_parallel_pipes(void **unused) {
  static const struct {
    double x, y, low, high;
    graze_relation want;
    const char *what;
  } cases[] = {
      {0, 0, 60, 160, GRAZE_CROSS, "on one axis"},
      {0, 0, 20, 80, GRAZE_B_IN_A, "a piece of the other"},
      {0, 0, 0, 100, GRAZE_DUPLICATE, "the same pipe"},
      {0, 0, 100, 160, GRAZE_TOUCH, "end to end"},
      {10, 0, 20, 80, GRAZE_TOUCH, "side by side along flats"},
      {10, 4, 20, 80, GRAZE_TOUCH, "side by side along a line"},
      {7, 7, 20, 80, GRAZE_TOUCH, "on the slant"},
      {9, 0, 20, 80, GRAZE_CROSS, "too near"},
      {11, 0, 20, 80, GRAZE_SEPARATE, "apart"},
  };
  (void)unused;
  bench b = bench_open(32);
  graze_mesh *first = pipe(&b, 0, 0, 0, 100);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    graze_mesh *second = pipe(&b, cases[i].x, cases[i].y, cases[i].low, cases[i].high);
    expect_both(&b, first, second, cases[i].want, cases[i].what);
    graze_mesh_destroy(second);
  }
  graze_mesh_destroy(first);
  bench_close(&b);
}

/* ifc-lite#1273, #1362: a touch is not a clash. */
static void test_boxes_that_touch(void **unused) {
  static const block_case cases[] = {
      {{2, 0, 0}, {4, 2, 2}, GRAZE_TOUCH, "a face"},
      {{2, 1, 1}, {4, 3, 3}, GRAZE_TOUCH, "part of a face"},
      {{2, 0.5, 0.5}, {4, 1.5, 1.5}, GRAZE_TOUCH, "within a face"},
      {{2, 2, 0}, {4, 4, 2}, GRAZE_TOUCH, "an edge"},
      {{2, 2, 1}, {4, 4, 7}, GRAZE_TOUCH, "part of an edge"},
      {{2, 2, 2}, {4, 4, 4}, GRAZE_TOUCH, "a corner"},
      {{1, 0, 0}, {4, 2, 2}, GRAZE_CROSS, "faces in line"},
      {{0, 0, 0}, {1, 2, 2}, GRAZE_B_IN_A, "in one end"},
  };
  (void)unused;
  bench b = bench_open(33);
  check_blocks(&b, block(&b, (const double[3]){0, 0, 0}, (const double[3]){2, 2, 2}), cases,
               sizeof cases / sizeof cases[0]);
  bench_close(&b);
}

/* fcl#78: one thing wholly inside another. */
/* Two boxes that run through each other, one turned inside out: where both are nothing is. A part of the other solid
 * lies there, flush with a wall, and begins in the middle of that face, so that its first corners do not tell; another
 * part lies in material. */
static void test_flush_in_cavity(void **unused) {
  (void)unused;
  bench b = bench_open(29);
  double c[9], *inner = room_a + 108;
  soup_box((const double[]){0, 0, 0}, (const double[]){10, 10, 10}, room_a);
  soup_box((const double[]){5, 2, 2}, (const double[]){15, 8, 8}, inner);
  for (int t = 0; t < 12; t++) {
    memcpy(c, inner + 9 * t, sizeof c);
    memcpy(inner + 9 * t + 3, c + 6, 3 * sizeof *c);
    memcpy(inner + 9 * t + 6, c + 3, 3 * sizeof *c);
    if (inner[9 * t] == 15) swap_triangles(inner, inner + 9 * t); /* it begins outside of the first box */
  }
  soup_box((const double[]){6, 4, 2}, (const double[]){8, 6, 4}, room_b);
  uint32_t count = split(room_b, 12), first = 3;
  while (room_b[9 * first + 2] != 2 || room_b[9 * first + 5] != 2 || room_b[9 * first + 8] != 2) first += 4;
  swap_triangles(room_b, room_b + 9 * (size_t)first);
  soup_box((const double[]){1, 1, 1}, (const double[]){3, 3, 3}, room_b + 9 * (size_t)count);
  graze_mesh *m = soup(&b, room_a, 24), *n = soup(&b, room_b, count + 12);
  expect_both(&b, m, n, GRAZE_CROSS, "flush in a cavity");
  graze_mesh_destroy(m);
  graze_mesh_destroy(n);
  bench_close(&b);
}

static void test_bolt_in_block(void **unused) {
  static const block_case cases[] = {
      {{-20, -20, -10}, {20, 20, 110}, GRAZE_A_IN_B, "buried"},
      {{-20, -20, 0}, {20, 20, 110}, GRAZE_A_IN_B, "flush at one end"},
      {{-20, -20, 0}, {20, 20, 100}, GRAZE_A_IN_B, "flush at both"},
      {{-5, -5, 0}, {5, 5, 100}, GRAZE_A_IN_B, "as wide"},
      {{-20, -20, 10}, {20, 20, 90}, GRAZE_CROSS, "through"},
      {{-20, -20, 10}, {20, 20, 110}, GRAZE_CROSS, "sunk"},
      {{-20, -20, 100}, {20, 20, 110}, GRAZE_TOUCH, "standing on it"},
  };
  (void)unused;
  bench b = bench_open(34);
  check_blocks(&b, pipe(&b, 0, 0, 0, 100), cases, sizeof cases / sizeof cases[0]);
  bench_close(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_convex),
      cmocka_unit_test(test_tetrahedra),
      cmocka_unit_test(test_lobes),
      cmocka_unit_test(test_collapsed),
      cmocka_unit_test(test_scaling_poses),
      cmocka_unit_test(test_damaged),
      cmocka_unit_test(test_parts),
      cmocka_unit_test(test_many_parts),
      cmocka_unit_test(test_walls_in_line),
      cmocka_unit_test(test_parallel_pipes),
      cmocka_unit_test(test_boxes_that_touch),
      cmocka_unit_test(test_flush_in_cavity),
      cmocka_unit_test(test_bolt_in_block),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
