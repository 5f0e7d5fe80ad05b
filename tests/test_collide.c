/* Mesh against mesh: lists, counts and hashes against brute force over the exact oracle, in the three tiers; and that
 * every way of asking (any, count, all; swapped; permuted; many poses; any number of threads; both kinds of volumes)
 * gives the one answer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "oracle.h"
#include "support.h"

enum { max_soup = 64 };

static graze_context *context;
static graze_query *query;

static int set_up(void **unused) {
  (void)unused;
  context = test_context(1, NULL);
  return graze_query_create(context, &query);
}

static int tear_down(void **unused) {
  (void)unused;
  graze_query_destroy(query);
  graze_context_destroy(context);
  return 0;
}

static graze_collide_options options_of(graze_find find, graze_exactness exactness) {
  graze_collide_options options = graze_default_collide_options();
  options.find = find;
  options.exactness = exactness;
  return options;
}

static void check_list(const graze_collide_result *got, const oracle_pairs *want) {
  test_assert_counts(&got->counts, &want->counts);
  assert_int_equal(got->hit, want->counts.triangle_pairs > 0);
  test_assert_pairs(got->pairs, want->pairs, want->counts.triangle_pairs);
}

static void check_any(const graze_collide_result *got, const oracle_pairs *want) {
  assert_int_equal(got->hit, want->counts.triangle_pairs > 0);
  if (!got->hit) {
    assert_null(got->pairs);
    return;
  }
  for (uint64_t i = 0; i < want->counts.triangle_pairs; i++) {
    if (want->pairs[i].a == got->pairs[0].a && want->pairs[i].b == got->pairs[0].b) return;
  }
  fail_msg("pair (%u, %u) does not meet", got->pairs[0].a, got->pairs[0].b);
}

static void swap_pairs(oracle_pairs *pairs) { /* sorted by the new first */
  uint64_t n = pairs->counts.triangle_pairs;
  pairs->counts.hash = 0;
  for (uint64_t i = 0; i < n; i++) {
    graze_triangle_pair p = {pairs->pairs[i].b, pairs->pairs[i].a};
    uint64_t at = i;
    for (; at > 0 && (pairs->pairs[at - 1].a > p.a || (pairs->pairs[at - 1].a == p.a && pairs->pairs[at - 1].b > p.b));
         at--) {
      pairs->pairs[at] = pairs->pairs[at - 1];
    }
    pairs->pairs[at] = p;
    pairs->counts.hash += oracle_pair_hash(p.a, p.b);
  }
}

/* Every way of asking about one pair of meshes. `want` is used up. */
static void check_meshes(const graze_mesh *a, const graze_pose *pose_a, const graze_mesh *b, const graze_pose *pose_b,
                         graze_exactness exactness, oracle_pairs *want) {
  graze_collide_result got;
  graze_collide_options all = options_of(GRAZE_FIND_ALL, exactness), count = options_of(GRAZE_FIND_COUNT, exactness),
                        any = options_of(GRAZE_FIND_ANY, exactness);
  memset(&got, 0xEE, sizeof got);
  assert_int_equal(graze_collide_meshes(query, a, pose_a, b, pose_b, &all, &got), GRAZE_OK);
  check_list(&got, want);
  assert_int_equal(graze_collide_meshes(query, a, pose_a, b, pose_b, &count, &got), GRAZE_OK);
  test_assert_counts(&got.counts, &want->counts);
  assert_null(got.pairs);
  assert_int_equal(graze_collide_meshes(query, a, pose_a, b, pose_b, &any, &got), GRAZE_OK);
  check_any(&got, want);
  swap_pairs(want);
  assert_int_equal(graze_collide_meshes(query, b, pose_b, a, pose_a, &all, &got), GRAZE_OK);
  check_list(&got, want);
}

static void check_corners(const double *a, uint32_t count_a, const double *b, uint32_t count_b, graze_volumes volumes) {
  oracle_pairs want;
  graze_mesh *mesh_a = test_mesh(context, a, count_a, volumes), *mesh_b = test_mesh(context, b, count_b, volumes);
  oracle_mesh_pairs(a, count_a, b, count_b, &want);
  check_meshes(mesh_a, NULL, mesh_b, NULL, GRAZE_T0, &want);
  oracle_pairs_free(&want);
  graze_mesh_destroy(mesh_a);
  graze_mesh_destroy(mesh_b);
}

static int runs(int usual) {
  return test_rounds(usual, 30 * usual);
}

static void test_lattice_soups(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1);
  double a[9 * max_soup], b[9 * max_soup];
  for (int i = 0; i < runs(150); i++) {
    uint32_t na = random_below(&state, max_soup), nb = random_below(&state, 20), side = 2 + random_below(&state, 9);
    soup_lattice(&state, na, side, a);
    soup_lattice(&state, nb, side, b);
    check_corners(a, na, b, nb, i & 1 ? GRAZE_VOLUMES_ALIGNED : GRAZE_VOLUMES_ORIENTED);
  }
}

/* Scales at which float volumes fail or lose everything: the answer must not depend on it. */
static void test_scales(void **unused) {
  (void)unused;
  static const int exponents[] = {-1074, -1060, -800, -149, -130, -61, -60, -59, 59, 60, 61, 120, 128, 500, 1015};
  uint64_t state = test_seed(2);
  double a[9 * max_soup], b[9 * max_soup];
  for (int e = 0; e < (int)(sizeof exponents / sizeof *exponents); e++) {
    for (int i = 0; i < runs(4); i++) {
      soup_lattice(&state, 30, 6, a);
      soup_lattice(&state, 15, 6, b);
      for (int k = 0; k < 9 * 30; k++) a[k] = ldexp(a[k] - 3, exponents[e]);
      for (int k = 0; k < 9 * 15; k++) b[k] = ldexp(b[k] - 3, exponents[e]);
      check_corners(a, 30, b, 15, i & 1 ? GRAZE_VOLUMES_ALIGNED : GRAZE_VOLUMES_ORIENTED);
    }
  }
}

/* Far from the origin, where a float holds nothing of the shape, and with sizes of every magnitude in one mesh. */
static void test_offsets_and_mixtures(void **unused) {
  (void)unused;
  uint64_t state = test_seed(3);
  double a[9 * max_soup], b[9 * max_soup];
  for (int i = 0; i < runs(60); i++) {
    double shift = ldexp(1, (int)random_below(&state, 45));
    soup_lattice(&state, 40, 8, a);
    soup_lattice(&state, 20, 8, b);
    for (int k = 0; k < 9 * 40; k++) a[k] += shift;
    for (int k = 0; k < 9 * 20; k++) b[k] += shift;
    check_corners(a, 40, b, 20, i & 1 ? GRAZE_VOLUMES_ALIGNED : GRAZE_VOLUMES_ORIENTED);
    soup_cluttered(&state, 40, 0.2, a);
    for (uint32_t t = 0; t < 40; t++) {
      double size = ldexp(1, -(int)random_below(&state, 70));
      for (int k = 0; k < 9; k++) a[9 * t + (uint32_t)k] = (a[9 * t + (uint32_t)k] - 0.5) * size;
    }
    for (uint32_t t = 0; t < 20; t++) memcpy(b + 9 * t, a + 9 * (2 * t), 9 * sizeof *b); /* some shared exactly */
    for (int k = 0; k < 9 * 10; k++) b[k] = nextafter(b[k], k & 1 ? 1 : -1);
    check_corners(a, 40, b, 20, i & 1 ? GRAZE_VOLUMES_ALIGNED : GRAZE_VOLUMES_ORIENTED);
  }
}

/* Triangles of all families, together in two meshes. */
static void test_family_soups(void **unused) {
  (void)unused;
  uint64_t state = test_seed(4);
  double a[9 * max_soup], b[9 * max_soup];
  for (int i = 0; i < runs(120); i++) {
    for (uint32_t t = 0; t < 24; t++) {
      family_pair pair;
      int f = i % 3 == 0 ? (int)random_below(&state, (uint32_t)family_count) : 7 + i / 3 % (family_count - 7);
      families[f].make(&state, &pair);
      memcpy(a + 9 * t, pair.a, sizeof pair.a);
      memcpy(b + 9 * t, pair.b, sizeof pair.b);
    }
    check_corners(a, 24, b, 24, i & 1 ? GRAZE_VOLUMES_ALIGNED : GRAZE_VOLUMES_ORIENTED);
  }
}

/* Specks, 2^-20 to 2^-53 of the size of what they lie on: volumes that are an ulp too small lose them. */
static void test_specks(void **unused) {
  (void)unused;
  uint64_t state = test_seed(14);
  double a[9 * max_soup], b[9 * max_soup];
  for (int i = 0; i < runs(100); i++) {
    double shift = i % 4 == 0 ? ldexp(random_signed(&state), (int)random_below(&state, 20)) : 0;
    for (uint32_t t = 0; t < max_soup; t++) {
      double s = random_unit(&state), size = ldexp(1, -20 - (int)random_below(&state, 34));
      uint32_t on = t % 8;
      if (t < 8) {
        for (int k = 0; k < 9; k++) a[9 * t + (uint32_t)k] = random_signed(&state) + shift;
      }
      double u = random_below(&state, 3) ? (1 - s) * random_unit(&state) : 0;
      for (uint32_t k = 0; k < 9; k++) {
        const double *c = a + 9 * on + k % 3;
        b[9 * t + k] = c[0] + s * (c[3] - c[0]) + u * (c[6] - c[0]) + size * random_signed(&state);
      }
    }
    check_corners(a, 8, b, max_soup, i & 1 ? GRAZE_VOLUMES_ALIGNED : GRAZE_VOLUMES_ORIENTED);
  }
}

static void check_posed(const double *a, uint32_t na, const graze_pose *pose_a, const double *b, uint32_t nb,
                        const graze_pose *pose_b, graze_volumes volumes, bool real) {
  static double posed_a[9 * 1024], posed_b[9 * 1024];
  oracle_pairs want;
  graze_mesh *mesh_a = test_mesh(context, a, na, volumes), *mesh_b = test_mesh(context, b, nb, volumes);
  oracle_pose_corners(pose_a, a, na, posed_a);
  oracle_pose_corners(pose_b, b, nb, posed_b);
  oracle_mesh_pairs(posed_a, na, posed_b, nb, &want);
  check_meshes(mesh_a, pose_a, mesh_b, pose_b, GRAZE_T1, &want);
  oracle_pairs_free(&want);
  if (real) {
    oracle_mesh_pairs_real(a, na, pose_a, b, nb, pose_b, &want);
    check_meshes(mesh_a, pose_a, mesh_b, pose_b, GRAZE_T2, &want);
    oracle_pairs_free(&want);
  }
  graze_mesh_destroy(mesh_a);
  graze_mesh_destroy(mesh_b);
}

static void test_random_poses(void **unused) {
  (void)unused;
  uint64_t state = test_seed(5);
  double a[9 * max_soup], b[9 * max_soup];
  for (int i = 0; i < runs(60); i++) {
    graze_pose pose_a = test_random_pose(&state, 2), pose_b = test_random_pose(&state, 2);
    soup_lattice(&state, 30, 5, a);
    soup_lattice(&state, 25, 5, b);
    check_posed(a, 30, &pose_a, b, 25, &pose_b, i & 1 ? GRAZE_VOLUMES_ALIGNED : GRAZE_VOLUMES_ORIENTED, true);
    memcpy(b, a, sizeof a);
    check_posed(a, 30, &pose_a, b, 25, &pose_a, i & 1 ? GRAZE_VOLUMES_ALIGNED : GRAZE_VOLUMES_ORIENTED, true);
  }
}

/* Places along the axes: numbers that fill a double, but for the last axis, where they are quarters. */
static void random_places(uint64_t *state, double place[3][6]) {
  for (int i = 0; i < 6; i++) {
    place[0][i] = i + 0.9 * random_unit(state);
    place[1][i] = i / 7.0;
    place[2][i] = i / 4.0;
  }
}

/* Triangles in planes across axes: on a grid of those places, so that edges lie on edges and corners on corners, and
 * now and then one that is askew. */
static void soup_flush(uint64_t *state, uint32_t count, double place[3][6], double *corners) {
  for (uint32_t t = 0; t < count; t++) {
    uint32_t axis = random_below(state, 8), on = random_below(state, 4);
    for (uint32_t c = 0; c < 3; c++) {
      for (uint32_t k = 0; k < 3; k++) corners[9 * t + 3 * c + k] = place[k][k == axis ? on : random_below(state, 6)];
    }
  }
}

/* One that turns by right angles about any axis, or by any angle about the last, or stays as it is; and then moves. */
static graze_pose random_flush_pose(uint64_t *state, int turn) {
  graze_pose pose = {{0}};
  uint32_t first = turn == 1 ? random_below(state, 3) : 0;
  for (uint32_t k = 0; k < 3; k++) pose.m[4 * k + (k + first) % 3] = turn == 1 && random_below(state, 2) ? -1 : 1;
  if (turn == 2) {
    double angle = 7 * random_unit(state);
    pose.m[0] = pose.m[5] = cos(angle);
    pose.m[1] = -sin(angle);
    pose.m[4] = sin(angle);
  }
  for (int k = 0; k < 3; k++) pose.m[4 * k + 3] = 20 * random_signed(state);
  return pose;
}

/* Flush faces under poses that round their corners apart, which tier T2 is to see through: both at one pose, moved
 * along each other by quarters and to anywhere else, each turned its own way. */
static void test_flush_poses(void **unused) {
  (void)unused;
  uint64_t state = test_seed(21);
  double a[9 * max_soup], b[9 * max_soup], place[3][6];
  for (int i = 0; i < runs(48); i++) {
    random_places(&state, place);
    soup_flush(&state, 30, place, a);
    soup_flush(&state, 30, place, b);
    graze_pose pose_a = random_flush_pose(&state, i % 3), pose_b = pose_a;
    if (i % 8 >= 2) pose_b.m[11] += random_below(&state, 5) / 4.0 - 0.5;
    if (i % 8 >= 4) pose_b.m[3 + 4 * (i % 2)] += i % 8 < 6 ? 0.25 : 1e-15;
    if (i % 8 == 7) pose_b = random_flush_pose(&state, (i + 1) % 3);
    if (i % 16 >= 8) pose_a.m[11] = floor(pose_a.m[11]), pose_b.m[11] = floor(4 * pose_b.m[11]) / 4;
    check_posed(a, 30, &pose_a, b, 30, &pose_b, i & 1 ? GRAZE_VOLUMES_ALIGNED : GRAZE_VOLUMES_ORIENTED, true);
  }
}

/* Images that are tiny on one axis and huge on another, so that what their products round off underflows while their
 * areas have ordinary sizes: each lacks some of 2^-74 of itself, and poses differ by as little. */
static void test_stretched_poses(void **unused) {
  (void)unused;
  uint64_t state = test_seed(24);
  double a[9 * max_soup], b[9 * max_soup], place[3][6];
  for (int i = 0; i < runs(48); i++) {
    const int tiny = i % 4 == 3 ? 0 : -1000;
    for (int k = 0; k < 6; k++) {
      place[0][k] = 1 + ldexp(1 + random_below(&state, 7), -23 - (int)random_below(&state, 2));
      place[1][k] = 0.3 * k + 0.1 * random_unit(&state);
      place[2][k] = k / 4.0;
    }
    graze_pose pose[2] = {{{0}}, {{0}}};
    for (int p = 0; p < 2; p++) {
      const double whole = random_below(&state, 3);
      pose[p].m[0] = ldexp(1 + ldexp(whole, -52), tiny);
      pose[p].m[1] = ldexp(1 + random_below(&state, 2), tiny - 74);
      pose[p].m[3] = ldexp(2 - whole, tiny - 52);
      pose[p].m[5] = ldexp(1, -tiny);
      pose[p].m[10] = 1;
    }
    soup_flush(&state, 30, place, a);
    soup_flush(&state, 30, place, b);
    check_posed(a, 30, &pose[0], b, 30, &pose[1], i & 1 ? GRAZE_VOLUMES_ALIGNED : GRAZE_VOLUMES_ORIENTED, true);
  }
}

static void stretch(graze_pose *pose, const int by[3]) {
  for (int k = 0; k < 12; k++) pose->m[k] = ldexp(pose->m[k], by[k / 4]);
}

/* Rows of poses times powers of two, each axis its own, change no answer: of T1 unless what is rounded underflows, of
 * T2 even then. */
static void test_stretched_axes(void **unused) {
  (void)unused;
  uint64_t state = test_seed(25);
  double a[9 * max_soup], b[9 * max_soup], place[3][6];
  for (int i = 0; i < runs(40); i++) {
    random_places(&state, place);
    if (i % 2 == 0) {
      soup_flush(&state, 30, place, a);
      soup_flush(&state, 30, place, b);
    } else {
      soup_lattice(&state, 30, 5, a);
      soup_lattice(&state, 30, 5, b);
    }
    graze_pose pose_a = i % 3 == 0 ? test_random_pose(&state, 2) : random_flush_pose(&state, i % 3), pose_b = pose_a;
    if (i % 4 == 1) pose_b = test_random_pose(&state, 2);
    if (i % 4 == 2) pose_b.m[7] += 0.25;
    graze_mesh *mesh_a = test_mesh(context, a, 30, GRAZE_VOLUMES_ORIENTED),
               *mesh_b = test_mesh(context, b, 30, i % 5 == 0 ? GRAZE_VOLUMES_ALIGNED : GRAZE_VOLUMES_ORIENTED);
    graze_counts want[2];
    for (int round = 0; round < 4; round++) {
      int by[3] = {0, 0, 0};
      const bool underflows = round > 1;
      const int most = underflows ? 985 : 940;
      for (int k = 0; k < 3 && round > 0; k++) by[k] = (int)random_below(&state, 2 * (uint32_t)most) - most;
      if (underflows) by[random_below(&state, 3)] = -most;
      graze_pose to_a = pose_a, to_b = pose_b;
      stretch(&to_a, by);
      stretch(&to_b, by);
      for (int tier = underflows; tier < 2; tier++) {
        graze_collide_result got;
        const graze_collide_options all = options_of(GRAZE_FIND_ALL, tier == 0 ? GRAZE_T1 : GRAZE_T2);
        assert_int_equal(graze_collide_meshes(query, mesh_a, &to_a, mesh_b, &to_b, &all, &got), GRAZE_OK);
        if (round == 0) want[tier] = got.counts;
        test_assert_counts(&got.counts, &want[tier]);
      }
    }
    graze_mesh_destroy(mesh_a);
    graze_mesh_destroy(mesh_b);
  }
}

/* Poses need not be rigid: scaled, sheared, mirrored, flattened to a plane, to a point; far away. */
static void test_odd_poses(void **unused) {
  (void)unused;
  uint64_t state = test_seed(6);
  double a[9 * max_soup], b[9 * max_soup];
  for (int i = 0; i < runs(80); i++) {
    graze_pose pose[2];
    for (int p = 0; p < 2; p++) {
      for (int k = 0; k < 12; k++) {
        double m = i & 1 ? random_signed(&state) : (double)random_below(&state, 4) - 1;
        pose[p].m[k] = ldexp(m, i % 5 == 0 ? (int)random_below(&state, 120) - 60 : 0);
      }
      if (i % 7 == 0) memset(pose[p].m + 4, 0, 4 * sizeof(double));
      if (i % 11 == 0) memset(pose[p].m, 0, sizeof pose[p].m);
    }
    if (i % 3 == 0) pose[1] = pose[0];
    soup_lattice(&state, 20, 4, a);
    soup_lattice(&state, 20, 4, b);
    check_posed(a, 20, &pose[0], b, 20, &pose[1], i & 2 ? GRAZE_VOLUMES_ALIGNED : GRAZE_VOLUMES_ORIENTED, true);
  }
}

/* Closed balls at poses from deep to apart, with an even tessellation: realistic hierarchies. */
static void test_balls(void **unused) {
  (void)unused;
  uint64_t state = test_seed(7);
  double a[9 * 512], b[9 * 512];
  uint32_t na = soup_ball(8, 1, a), nb = soup_ball(6, 0.7, b);
  for (int i = 0; i < runs(15); i++) {
    graze_pose pose_a = test_random_pose(&state, 0), pose_b = test_random_pose(&state, 1.2);
    check_posed(a, na, &pose_a, b, nb, &pose_b, i & 1 ? GRAZE_VOLUMES_ALIGNED : GRAZE_VOLUMES_ORIENTED,
                i < (test_thinned() ? 1 : 3));
  }
}

/* Boxes flush in decimal coordinates: faces, edges and corners that coincide. */
static void test_flush_boxes(void **unused) {
  (void)unused;
  double a[108], b[108], low[3], high[3];
  soup_box((double[3]){0.1, 0.1, 0.1}, (double[3]){0.4, 0.4, 0.4}, a);
  for (int i = 0; i < 125; i++) {
    int place[3] = {i % 5, i / 5 % 5, i / 25};
    for (int k = 0; k < 3; k++) {
      low[k] = 0.1 * (place[k] - 1);
      high[k] = 0.1 * (place[k] + 1);
    }
    soup_box(low, high, b);
    check_corners(a, 12, b, 12, i & 1 ? GRAZE_VOLUMES_ALIGNED : GRAZE_VOLUMES_ORIENTED);
  }
}

/* A ball moved along x until it just touches another, found by bisection with the oracle; the neighbouring doubles on
 * both sides must be told apart. */
static void test_near_touching(void **unused) {
  (void)unused;
  uint64_t state = test_seed(8);
  double a[9 * 512], b[9 * 512], moved[9 * 512], posed_a[9 * 512];
  uint32_t n = soup_ball(5, 1, a);
  memcpy(b, a, sizeof a);
  for (int i = 0; i < runs(6); i++) {
    graze_pose pose_a = test_random_pose(&state, 0.3), pose_b = test_random_pose(&state, 0.1);
    oracle_pose_corners(&pose_a, a, n, posed_a);
    double low = 1, high = 4;
    while (nextafter(low, high) < high) {
      oracle_pairs pairs;
      pose_b.m[3] = low + (high - low) / 2;
      oracle_pose_corners(&pose_b, b, n, moved);
      oracle_mesh_pairs(posed_a, n, moved, n, &pairs);
      *(pairs.counts.triangle_pairs ? &low : &high) = pose_b.m[3];
      oracle_pairs_free(&pairs);
    }
    for (int step = -3; step <= 3; step++) {
      pose_b.m[3] = low;
      for (int s = 0; s < abs(step); s++) pose_b.m[3] = nextafter(pose_b.m[3], step < 0 ? 0 : 9);
      check_posed(a, n, &pose_a, b, n, &pose_b, i & 1 ? GRAZE_VOLUMES_ALIGNED : GRAZE_VOLUMES_ORIENTED, false);
    }
  }
}

/* Float meshes, indexed: the same as the double mesh of the same values. */
static void test_float_meshes(void **unused) {
  (void)unused;
  uint64_t state = test_seed(9);
  for (int i = 0; i < runs(60); i++) {
    float vertices[50][3];
    uint32_t indices[60][3];
    double corners[9 * 60], posed_a[9 * 60], posed_b[9 * 60];
    for (int v = 0; v < 50; v++) {
      for (int k = 0; k < 3; k++) vertices[v][k] = (float)(random_signed(&state) * (i & 1 ? 1 : 1e-30));
    }
    for (int t = 0; t < 60; t++) {
      for (int k = 0; k < 3; k++) {
        indices[t][k] = random_below(&state, 50);
        for (int x = 0; x < 3; x++) corners[9 * t + 3 * k + x] = vertices[indices[t][k]][x];
      }
    }
    graze_mesh_def def = graze_default_mesh_def();
    def.vertices = vertices;
    def.vertex_count = 50;
    def.indices = indices[0];
    def.triangle_count = 60;
    def.volumes = i & 2 ? GRAZE_VOLUMES_ALIGNED : GRAZE_VOLUMES_ORIENTED;
    graze_mesh *mesh = NULL;
    assert_int_equal(graze_mesh_create(context, &def, &mesh), GRAZE_OK);
    graze_pose pose_a = test_random_pose(&state, 0.1), pose_b = test_random_pose(&state, 0.1);
    oracle_pairs want;
    oracle_pose_corners(&pose_a, corners, 60, posed_a);
    oracle_pose_corners(&pose_b, corners, 60, posed_b);
    oracle_mesh_pairs(posed_a, 60, posed_b, 60, &want);
    check_meshes(mesh, &pose_a, mesh, &pose_b, GRAZE_T1, &want); /* one mesh may be both */
    oracle_pairs_free(&want);
    graze_mesh_destroy(mesh);
  }
}

static void test_empty(void **unused) {
  (void)unused;
  double one[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  check_corners(one, 0, one, 1, GRAZE_VOLUMES_ORIENTED);
  check_corners(one, 0, one, 0, GRAZE_VOLUMES_ORIENTED);
  check_corners(one, 1, one, 1, GRAZE_VOLUMES_ALIGNED);
}

/* Renumbering triangles renumbers the list and nothing else. */
static void test_permuted(void **unused) {
  (void)unused;
  enum { n = 300 };
  uint64_t state = 10;
  static double a[9 * n], b[9 * n], shuffled[9 * n];
  uint32_t order[n];
  soup_cluttered(&state, n, 0.2, a);
  soup_cluttered(&state, n, 0.2, b);
  for (uint32_t i = 0; i < n; i++) order[i] = i;
  for (uint32_t i = n - 1; i > 0; i--) {
    uint32_t j = random_below(&state, i + 1), t = order[i];
    order[i] = order[j];
    order[j] = t;
  }
  for (uint32_t i = 0; i < n; i++) memcpy(shuffled + 9 * i, a + 9 * order[i], 9 * sizeof *a);
  graze_mesh *mesh_a = test_mesh(context, a, n, 0), *mesh_b = test_mesh(context, b, n, 0),
             *mesh_s = test_mesh(context, shuffled, n, 0);
  graze_collide_result first, second;
  assert_int_equal(graze_collide_meshes(query, mesh_a, NULL, mesh_b, NULL, NULL, &first), GRAZE_OK);
  uint64_t count = first.counts.triangle_pairs, mapped = 0;
  assert_true(count > 500);
  assert_int_equal(graze_collide_meshes(query, mesh_s, NULL, mesh_b, NULL, NULL, &second), GRAZE_OK);
  assert_int_equal(second.counts.triangle_pairs, count);
  for (uint64_t i = 0; i < count; i++) {
    mapped += oracle_pair_hash(order[second.pairs[i].a], second.pairs[i].b);
    if (i > 0) {
      const graze_triangle_pair *p = &second.pairs[i - 1], *q = &second.pairs[i];
      assert_true(p->a < q->a || (p->a == q->a && p->b < q->b));
    }
  }
  assert_true(mapped == first.counts.hash);
  graze_mesh_destroy(mesh_a);
  graze_mesh_destroy(mesh_b);
  graze_mesh_destroy(mesh_s);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* Task hooks that run everything backwards on the calling thread. */
static void *backwards(void *user, graze_task_function task, uint32_t count, uint32_t grain, void *argument) {
  ++*(int *)user;
  for (uint32_t end = count; end > 0;) {
    uint32_t begin = end > grain ? end - grain : 0;
    task(argument, begin, end, end % 7);
    end = begin;
  }
  return NULL;
}

static void never_finish(void *user, void *handle) {
  (void)user;
  (void)handle;
  fail_msg("nothing was left to finish");
}

static graze_context *context_number(int i, int *hook_calls) {
  if (i < 4) return test_context(i + 1, NULL);
  graze_context *made = NULL;
  graze_context_def def = graze_default_context_def();
  def.enqueue = backwards;
  def.finish = never_finish;
  def.task_user = hook_calls;
  def.threads = 7;
  assert_int_equal(graze_context_create(&def, &made), GRAZE_OK);
  return made;
}

static void test_threads(void **unused) {
  (void)unused;
  enum { level = 70 };
  double *corners = malloc(9 * 8 * level * level * sizeof *corners);
  uint32_t n = soup_ball(level, 1, corners);
  graze_pose pose = {{0.8, -0.6, 0, 0.3, 0.6, 0.8, 0, 0.1, 0, 0, 1, 0.2}};
  graze_triangle_pair *first = NULL;
  graze_counts counts = {0};
  int hook_calls = 0;
  for (int i = 0; i < 5; i++) {
    graze_context *own = context_number(i, &hook_calls);
    graze_query *q = NULL;
    graze_collide_result got;
    graze_mesh *mesh = test_mesh(own, corners, n, GRAZE_VOLUMES_ORIENTED);
    assert_int_equal(graze_query_create(own, &q), GRAZE_OK);
    assert_int_equal(graze_collide_meshes(q, mesh, NULL, mesh, &pose, NULL, &got), GRAZE_OK);
    size_t bytes = got.counts.triangle_pairs * sizeof *first;
    if (!first) {
      assert_true(bytes > 0);
      first = malloc(bytes);
      memcpy(first, got.pairs, bytes);
      counts = got.counts;
    }
    test_assert_counts(&got.counts, &counts);
    assert_memory_equal(got.pairs, first, bytes);
    graze_query_destroy(q);
    graze_mesh_destroy(mesh);
    graze_context_destroy(own);
  }
  assert_true(hook_calls > 0);
  free(first);
  free(corners);
}

static void test_many_poses(void **unused) {
  (void)unused;
  enum { count = 200 };
  uint64_t state = 11;
  static double a[9 * 512], b[9 * 512];
  uint32_t na = soup_ball(8, 1, a), nb = soup_ball(7, 1, b);
  graze_pose poses[count], pose_a = test_random_pose(&state, 0.2);
  for (int i = 0; i < count; i++) poses[i] = test_random_pose(&state, 2);
  graze_collide_result results[count];
  int hook_calls = 0;
  for (int c = 0; c < 5; c++) {
    graze_context *own = context_number(c, &hook_calls);
    graze_query *q = NULL;
    graze_mesh *mesh_a = test_mesh(own, a, na, 0), *mesh_b = test_mesh(own, b, nb, 0);
    assert_int_equal(graze_query_create(own, &q), GRAZE_OK);
    for (int find = GRAZE_FIND_ALL; find <= GRAZE_FIND_ANY; find++) {
      graze_collide_options options = options_of((graze_find)find, c == 1 ? GRAZE_T2 : GRAZE_T1);
      memset(results, 0xEE, sizeof results);
      assert_int_equal(graze_collide_poses(q, mesh_a, &pose_a, mesh_b, poses, count, &options, results), GRAZE_OK);
      uint64_t hits = 0;
      for (int i = 0; i < count; i++) {
        graze_collide_result one;
        assert_int_equal(graze_collide_meshes(q, mesh_a, &pose_a, mesh_b, &poses[i], &options, &one), GRAZE_OK);
        assert_int_equal(results[i].hit, one.hit);
        assert_null(results[i].pairs);
        if (find != GRAZE_FIND_ANY) test_assert_counts(&results[i].counts, &one.counts);
        hits += one.hit;
      }
      assert_true(hits > 20 && hits < count - 20);
    }
    assert_int_equal(graze_collide_poses(q, mesh_a, &pose_a, mesh_b, poses, 0, NULL, results), GRAZE_OK);
    graze_query_destroy(q);
    graze_mesh_destroy(mesh_a);
    graze_mesh_destroy(mesh_b);
    graze_context_destroy(own);
  }
  assert_true(hook_calls > 0);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void test_refusals(void **unused) {
  (void)unused;
  test_log log;
  graze_context *own = test_context(1, &log);
  graze_query *q = NULL;
  assert_int_equal(graze_query_create(own, &q), GRAZE_OK);
  double one[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0},
         large[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0x1p1000, 0};
  graze_mesh *a = test_mesh(own, one, 1, 0), *b = test_mesh(own, large, 2, 0);
  graze_collide_result got, before;
  memset(&got, 0xEE, sizeof got);
  memset(&before, 0xEE, sizeof before);
  graze_collide_options t0 = options_of(GRAZE_FIND_ALL, GRAZE_T0), bad = t0;
  graze_pose moved = test_translation(1, 0, 0), same = test_translation(0, -0.0, 0), broken = same;
  assert_int_equal(graze_collide_meshes(q, a, NULL, a, &moved, &t0, &got), GRAZE_ERROR_POSE);
  assert_int_equal(graze_collide_meshes(q, a, &moved, a, NULL, &t0, &got), GRAZE_ERROR_POSE);
  for (int k = 0; k < 12; k++) {
    broken = same;
    broken.m[k] = k & 1 ? NAN : INFINITY;
    for (int tier = GRAZE_T1; tier <= GRAZE_T2; tier++) {
      if (tier == GRAZE_T0) continue;
      graze_collide_options o = options_of(GRAZE_FIND_COUNT, (graze_exactness)tier);
      assert_int_equal(graze_collide_meshes(q, a, &broken, a, NULL, &o, &got), GRAZE_ERROR_NOT_FINITE);
      assert_int_equal(graze_collide_meshes(q, a, NULL, a, &broken, &o, &got), GRAZE_ERROR_NOT_FINITE);
    }
  }
  graze_pose blow = {{1, 0, 0, 0, 0, 0x1p30, 0, 0, 0, 0, 1, 0}};
  assert_int_equal(graze_collide_meshes(q, a, NULL, b, &blow, NULL, &got), GRAZE_ERROR_NOT_FINITE);
  assert_non_null(strstr(log.last, "5")); /* the vertex */
  bad.cookie = 0;
  assert_int_equal(graze_collide_meshes(q, a, NULL, a, NULL, &bad, &got), GRAZE_ERROR_ARGUMENT);
  bad = options_of((graze_find)9, GRAZE_T1);
  assert_int_equal(graze_collide_meshes(q, a, NULL, a, NULL, &bad, &got), GRAZE_ERROR_ARGUMENT);
  bad = options_of(GRAZE_FIND_ALL, (graze_exactness)9);
  assert_int_equal(graze_collide_meshes(q, a, NULL, a, NULL, &bad, &got), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_collide_meshes(NULL, a, NULL, a, NULL, NULL, &got), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_collide_meshes(q, NULL, NULL, a, NULL, NULL, &got), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_collide_meshes(q, a, NULL, NULL, NULL, NULL, &got), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_collide_meshes(q, a, NULL, a, NULL, NULL, NULL), GRAZE_ERROR_ARGUMENT);
  assert_memory_equal(&got, &before, sizeof got);
  assert_int_equal(graze_collide_meshes(q, a, &same, a, NULL, &t0, &got), GRAZE_OK); /* -0 is the identity */
  graze_mesh_destroy(a);
  graze_mesh_destroy(b);
  graze_query_destroy(q);
  graze_context_destroy(own);
}

/* One pose of many overflows: an error, never a "clear". */
static void test_poses_overflow(void **unused) {
  (void)unused;
  double one[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  graze_mesh *mesh = test_mesh(context, one, 1, 0);
  for (int bad = 0; bad < 50; bad += 7) {
    graze_pose poses[50];
    graze_collide_result results[50];
    for (int i = 0; i < 50; i++) poses[i] = test_translation(i, 0, 0);
    poses[bad].m[0] = 0x1p1023;
    poses[bad].m[3] = 0x1p1023;
    assert_int_equal(graze_collide_poses(query, mesh, NULL, mesh, poses, 50, NULL, results), GRAZE_ERROR_NOT_FINITE);
    poses[bad].m[3] = NAN;
    assert_int_equal(graze_collide_poses(query, mesh, NULL, mesh, poses, 50, NULL, results), GRAZE_ERROR_NOT_FINITE);
  }
  graze_mesh_destroy(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lattice_soups),
      cmocka_unit_test(test_scales),
      cmocka_unit_test(test_offsets_and_mixtures),
      cmocka_unit_test(test_family_soups),
      cmocka_unit_test(test_specks),
      cmocka_unit_test(test_random_poses),
      cmocka_unit_test(test_flush_poses),
      cmocka_unit_test(test_stretched_poses),
      cmocka_unit_test(test_stretched_axes),
      cmocka_unit_test(test_odd_poses),
      cmocka_unit_test(test_balls),
      cmocka_unit_test(test_flush_boxes),
      cmocka_unit_test(test_near_touching),
      cmocka_unit_test(test_float_meshes),
      cmocka_unit_test(test_empty),
      cmocka_unit_test(test_permuted),
      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_many_poses),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_poses_overflow),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
