/* Objects that move from pose to pose: bullets, bars and combs whose times are known, random motions against samples of
 * them, and straight ones against every pair of features. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "graze/scene.h"
#include "journeys.h"

static graze_motion_result meet(graze_query *query, const graze_motion_body *a, const graze_motion_body *b,
                                graze_motion_model model, bool last) {
  graze_motion_options options = graze_default_motion_options();
  options.model = model;
  options.last = last;
  return decide_motion(query, a, b, &options);
}

static graze_pose turned(double x, double y, double z, const double axis[3], double angle) {
  double size = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]), s = sin(0.5 * angle) / size;
  const double q[4] = {cos(0.5 * angle), s * axis[0], s * axis[1], s * axis[2]}, shift[3] = {x, y, z};
  return graze_pose_from_quaternion(q, shift);
}

static const double UP[3] = {0, 0, 1};

/* ---- what is known ---- */

/* A box of half edge 1 flies at a plate of half thickness w from `gap` before it, and moves by `way`: they meet from
 * gap / way to (gap + 2 + 2 w) / way. Powers of two as scales change nothing. */
static void test_bullets(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  uint64_t random = test_seed(1);
  for (int round = test_rounds(60, 3000); round-- > 0;) {
    const double scale = ldexp(1, (int)random_below(&random, 41) - 20),
                 w = scale * ldexp(1 + random_below(&random, 8), -6);
    const double gap = scale * (1 + random_below(&random, 40)), way = scale * (1 + random_below(&random, 100000));
    const double across = scale * 0.25 * random_below(&random, 3), end = (gap + 2 * scale + 2 * w) / way;
    graze_mesh *box = box_mesh(scale, scale, scale), *plate = box_mesh(w, 20 * scale, 20 * scale);
    const double at = -w - scale - gap;
    const graze_motion_body bullet = {box, test_translation(at, across, 0), test_translation(at + way, across, 0)};
    const graze_motion_body wall = {plate, graze_pose_identity(), graze_pose_identity()};
    for (int model = GRAZE_MOTION_LINEAR; model <= GRAZE_MOTION_RIGID; model++) {
      for (int swapped = 0; swapped < 2; swapped++) {
        const graze_motion_body *a = swapped ? &wall : &bullet, *b = swapped ? &bullet : &wall;
        graze_motion_result r = meet(query, a, b, (graze_motion_model)model, false);
        assert_int_equal(r.verdict, way >= gap ? GRAZE_MOTION_HIT : GRAZE_MOTION_FREE);
        if (way < gap) continue;
        assert_true(fma(r.earliest, way, -gap) <= 0 && fma(r.latest, way, -gap) >= 0);
        assert_true(r.latest - r.earliest <= 0x1p-30);
        if (model == GRAZE_MOTION_LINEAR) assert_true(r.latest <= nextafter(r.earliest, 1));
        r = meet(query, a, b, (graze_motion_model)model, true);
        assert_int_equal(r.verdict, GRAZE_MOTION_HIT);
        const double last = end < 1 ? end : 1;
        assert_true(r.earliest <= last * (1 + 1e-15) && r.latest >= last * (1 - 1e-15));
        assert_true(r.latest - r.earliest <= 0x1p-30);
      }
    }
    graze_mesh_destroy(box);
    graze_mesh_destroy(plate);
  }
  graze_query_destroy(query);
}

/* A bar of half width w turns about its middle, from along x on; the corner of a post at (r cos f, r sin f) is met when
 * the bar's long side is there: after f - asin(w / r). Its other half stays away. */
static void test_turning_bars(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  uint64_t random = test_seed(2);
  for (int round = test_rounds(60, 3000); round-- > 0;) {
    const double w = 0.01 + 0.2 * random_unit(&random), r = 1 + random_unit(&random),
                 turn = 0.1 + 3 * random_unit(&random);
    const double f = asin(w / r) + 0.05 + 2.2 * random_unit(&random), when = (f - asin(w / r)) / turn, s = 0.05;
    graze_mesh *bar = box_mesh(2.5, w, 0.1), *post = box_mesh(s, s, 1);
    /* The post's corner (-s, -s) points at the bar, in the direction in which that comes. */
    const graze_pose stand = turned(0, 0, 0, UP, f + 0.25 * M_PI);
    graze_pose place = stand;
    const double corner[3] = {-s, -s, 0};
    double at[3];
    graze_pose_apply(&stand, corner, at);
    place.m[3] = r * cos(f) - at[0];
    place.m[7] = r * sin(f) - at[1];
    const graze_motion_body a = {bar, graze_pose_identity(), turned(0, 0, 0, UP, turn)}, b = {post, place, place};
    graze_motion_result result = meet(query, &a, &b, GRAZE_MOTION_RIGID, false);
    assert_int_equal(result.verdict, when < 1 ? GRAZE_MOTION_HIT : GRAZE_MOTION_FREE);
    if (when < 1) {
      assert_true(fabs(result.earliest - when) < 1e-9 && fabs(result.latest - when) < 1e-9);
      assert_true(result.latest - result.earliest <= 0x1p-30);
    }
    graze_mesh_destroy(bar);
    graze_mesh_destroy(post);
  }
  graze_query_destroy(query);
}

static graze_motion_result meet_about(graze_query *query, const graze_motion_body *a, const graze_motion_body *b,
                                      const double centers[2][3], bool last) {
  graze_motion_options options = graze_default_motion_options();
  options.model = GRAZE_MOTION_RIGID;
  options.last = last;
  options.centers = centers;
  return decide_motion(query, a, b, &options);
}

/* The pose that turns like this one and takes the point to where this takes the origin. */
static graze_pose place_point(const graze_pose *pose, const double point[3]) {
  const graze_pose back = test_translation(-point[0], -point[1], -point[2]);
  return graze_pose_multiply(pose, &back);
}

/* The same bar with its middle far from the origin of its mesh: about that middle it turns as the other does, about the
 * origin it swings wide. */
static void test_turning_about_centers(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  uint64_t random = test_seed(8);
  for (int round = test_rounds(60, 3000); round-- > 0;) {
    const double w = 0.01 + 0.2 * random_unit(&random), r = 1 + random_unit(&random);
    const double turn = 0.1 + 3 * random_unit(&random), s = 0.05;
    const double f = asin(w / r) + 0.05 + 2.2 * random_unit(&random), when = (f - asin(w / r)) / turn;
    const double centers[2][3] = {{1 + 8 * random_unit(&random), -3, 2}, {0, 0, 0}}, corner[3] = {-s, -s, 0};
    const double *c = centers[0], min[3] = {c[0] - 2.5, c[1] - w, c[2] - 0.1};
    const double max[3] = {c[0] + 2.5, c[1] + w, c[2] + 0.1};
    double corners[108], at[3];
    soup_box(min, max, corners);
    graze_mesh *bar = test_mesh(shared_context(1), corners, 12, GRAZE_VOLUMES_ORIENTED), *post = box_mesh(s, s, 1);
    const graze_pose ends[2] = {graze_pose_identity(), turned(0, 0, 0, UP, turn)};
    graze_pose stand = turned(0, 0, 0, UP, f + 0.25 * M_PI);
    graze_pose_apply(&stand, corner, at);
    stand.m[3] = r * cos(f) - at[0];
    stand.m[7] = r * sin(f) - at[1];
    const graze_motion_body a = {bar, place_point(&ends[0], c), place_point(&ends[1], c)}, b = {post, stand, stand};
    const graze_motion_result first = meet_about(query, &a, &b, centers, false);
    assert_int_equal(first.verdict, when < 1 ? GRAZE_MOTION_HIT : GRAZE_MOTION_FREE);
    if (when < 1) {
      assert_true(fabs(first.earliest - when) < 1e-9 && fabs(first.latest - when) < 1e-9);
      const double swapped[2][3] = {{0, 0, 0}, {c[0], c[1], c[2]}};
      const graze_motion_result other = meet_about(query, &b, &a, swapped, false);
      assert_true(other.earliest <= first.latest + 1e-12 && first.earliest <= other.latest + 1e-12);
    }
    graze_mesh_destroy(bar);
    graze_mesh_destroy(post);
  }
  graze_query_destroy(query);
}

/* Half a turn is about +z, whatever sign its matrix suggests: a bar along x sweeps y > 0 with its +x half. */
static void test_half_turn(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  double corners[108];
  const double min[3] = {0, -0.1, -0.1}, max[3] = {2, 0.1, 0.1};
  soup_box(min, max, corners);
  graze_mesh *bar = test_mesh(shared_context(1), corners, 12, GRAZE_VOLUMES_ORIENTED), *post = box_mesh(0.1, 0.1, 1);
  const graze_pose half = {{-1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0}};
  const graze_motion_body a = {bar, graze_pose_identity(), half};
  for (int side = -1; side <= 1; side += 2) {
    const graze_motion_body b = {post, test_translation(0, side * 1.5, 0), test_translation(0, side * 1.5, 0)};
    assert_int_equal(meet(query, &a, &b, GRAZE_MOTION_RIGID, false).verdict,
                     side > 0 ? GRAZE_MOTION_HIT : GRAZE_MOTION_FREE);
    assert_int_equal(meet(query, &a, &b, GRAZE_MOTION_LINEAR, false).verdict, GRAZE_MOTION_FREE);
  }
  graze_mesh_destroy(bar);
  graze_mesh_destroy(post);
  graze_query_destroy(query);
}

enum { TEETH = 12 };

static graze_mesh *comb(double from) {
  static double corners[108 * TEETH];
  for (int i = 0; i < TEETH; i++) {
    const double min[3] = {from + i, -1, -1}, max[3] = {from + i + 0.25, 1, 1};
    soup_box(min, max, corners + 108 * i);
  }
  return test_mesh(shared_context(1), corners, 12 * TEETH, GRAZE_VOLUMES_ORIENTED);
}

/* Two combs, tooth between teeth with a gap of 1/4 on both sides. Along their teeth they slide free however far, in
 * pieces or at once; across they meet after 1/4; on a skewed way when that has made 1/4 across, or never. */
static void test_combs(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  graze_mesh *one = comb(0), *two = comb(0.5);
  const graze_motion_body rest = {one, graze_pose_identity(), graze_pose_identity()};
  for (int model = GRAZE_MOTION_LINEAR; model <= GRAZE_MOTION_RIGID; model++) {
    for (int pieces = 1; pieces <= 64; pieces *= 4) {
      for (int i = 0; i < pieces; i++) {
        const double from = -4 + 8.0 * i / pieces, to = -4 + 8.0 * (i + 1) / pieces;
        const graze_motion_body move = {two, test_translation(0, from, 0), test_translation(0, to, 0)};
        assert_int_equal(meet(query, &rest, &move, (graze_motion_model)model, false).verdict, GRAZE_MOTION_FREE);
      }
    }
    for (int eighths = 1; eighths <= 24; eighths++) {
      const graze_motion_body move = {two, test_translation(0, -0.5, 0), test_translation(0.125 * eighths, 0.5, 0)};
      graze_motion_result r = meet(query, &rest, &move, (graze_motion_model)model, false);
      assert_int_equal(r.verdict, eighths >= 2 ? GRAZE_MOTION_HIT : GRAZE_MOTION_FREE);
      if (eighths < 2) continue;
      assert_true(fma(r.earliest, eighths, -2) <= 0 && fma(r.latest, eighths, -2) >= 0);
      assert_true(r.latest - r.earliest <= 0x1p-30);
    }
  }
  graze_mesh_destroy(one);
  graze_mesh_destroy(two);
  graze_query_destroy(query);
}

/* ---- random motions ---- */

static bool do_meet(graze_query *query, const journey *j, double t) {
  graze_collide_options options = graze_default_collide_options();
  graze_collide_result found;
  graze_pose pose[2];
  for (int i = 0; i < 2; i++) pose[i] = rigid_pose(j->q[i][0], j->q[i][1], j->p[i][0], j->p[i][1], t);
  options.find = GRAZE_FIND_ANY;
  assert_int_equal(graze_collide_meshes(query, j->body[0].mesh, &pose[0], j->body[1].mesh, &pose[1], &options, &found),
                   GRAZE_OK);
  return found.hit;
}

/* No sample lies in what is proved free, and a hit is one. */
static void test_against_samples(void **state) {
  (void)state;
  enum { SAMPLES = 100 };
  static double corners[9 * 8 * 64];
  graze_query *query = query_of(1);
  uint64_t random = test_seed(3);
  uint32_t count = soup_ball(4, 1, corners);
  graze_mesh *meshes[3] = {box_mesh(1.5, 0.05, 0.4),
                           test_mesh(shared_context(1), corners, count, GRAZE_VOLUMES_ORIENTED), box_mesh(0.1, 0.1, 1)};
  int verdicts[3] = {0, 0, 0}, wide = 0;
  const int rounds = test_rounds(150, 10000);
  /* few rounds go on until some have met and some have not */
  for (int n = 0; n < rounds || !verdicts[GRAZE_MOTION_FREE] || !verdicts[GRAZE_MOTION_HIT]; n++) {
    assert_true(n < rounds + 1000);
    journey j;
    graze_mesh *const two[2] = {meshes[random_below(&random, 3)], meshes[random_below(&random, 3)]};
    make_journey(&random, two, &j);
    graze_motion_result first = meet(query, &j.body[0], &j.body[1], GRAZE_MOTION_RIGID, false);
    graze_motion_result last = meet(query, &j.body[0], &j.body[1], GRAZE_MOTION_RIGID, true);
    graze_motion_result swapped = meet(query, &j.body[1], &j.body[0], GRAZE_MOTION_RIGID, false);
    verdicts[first.verdict]++;
    assert_int_equal(first.verdict, last.verdict);
    assert_int_equal(first.verdict, swapped.verdict);
    assert_true(first.earliest <= swapped.latest + 1e-12 && swapped.earliest <= first.latest + 1e-12);
    for (int i = 0; i <= SAMPLES; i++) {
      double t = (double)i / SAMPLES;
      if (!do_meet(query, &j, t)) continue;
      assert_int_not_equal(first.verdict, GRAZE_MOTION_FREE);
      assert_true(t >= first.earliest - 1e-12 && t <= last.latest + 1e-12);
    }
    if (first.verdict == GRAZE_MOTION_HIT) {
      const double width = fmax(first.latest - first.earliest, last.latest - last.earliest);
      assert_true(width <= 0x1p-20);
      wide += width > 0x1p-30; /* where it is hard to prove */
      assert_true(do_meet(query, &j, fmin(first.latest + 1e-9, 1)) || do_meet(query, &j, first.latest));
    }
  }
  assert_int_equal(verdicts[GRAZE_MOTION_UNKNOWN], 0);
  assert_true(wide <= 1 + verdicts[GRAZE_MOTION_HIT] / 20);
  for (int i = 0; i < 3; i++) graze_mesh_destroy(meshes[i]);
  graze_query_destroy(query);
}

/* The same about points far from the origins, which journeys then lead. */
static void test_centers_against_samples(void **state) {
  (void)state;
  enum { SAMPLES = 50 };
  graze_query *query = query_of(1);
  uint64_t random = test_seed(9);
  graze_mesh *meshes[2] = {box_mesh(1.5, 0.05, 0.4), box_mesh(0.1, 0.1, 1)};
  int verdicts[3] = {0, 0, 0};
  int rounds = test_rounds(150, 10000);
  for (int round = 0; round < rounds; round++) {
    journey j;
    double centers[2][3];
    make_journey(&random, meshes, &j);
    for (int i = 0; i < 2; i++) {
      for (int k = 0; k < 3; k++) centers[i][k] = (round % 2 == 0 ? 1 : 20) * random_signed(&random);
      /* the point takes the way that the origin had, and back, so that the objects come near each other */
      for (int e = 0; e < 2; e++) {
        const graze_pose turn = graze_pose_from_quaternion(j.q[i][e], (const double[3]){0, 0, 0});
        double by[3];
        graze_pose_apply(&turn, centers[i], by);
        for (int k = 0; k < 3; k++) j.p[i][e][k] += by[k];
      }
    }
    const graze_motion_result first = meet_about(query, &j.body[0], &j.body[1], (const double(*)[3])centers, false);
    const graze_motion_result last = meet_about(query, &j.body[0], &j.body[1], (const double(*)[3])centers, true);
    verdicts[first.verdict]++;
    if (round == rounds - 1 && (verdicts[GRAZE_MOTION_FREE] == 0 || verdicts[GRAZE_MOTION_HIT] == 0)) rounds++;
    assert_int_equal(first.verdict, last.verdict);
    for (int n = 0; n <= SAMPLES; n++) {
      const double t = (double)n / SAMPLES;
      graze_collide_options options = graze_default_collide_options();
      graze_collide_result found;
      graze_pose pose[2];
      options.find = GRAZE_FIND_ANY;
      for (int i = 0; i < 2; i++) {
        const graze_pose led = rigid_pose(j.q[i][0], j.q[i][1], j.p[i][0], j.p[i][1], t);
        pose[i] = place_point(&led, centers[i]);
      }
      assert_int_equal(graze_collide_meshes(query, meshes[0], &pose[0], meshes[1], &pose[1], &options, &found),
                       GRAZE_OK);
      if (!found.hit) continue;
      assert_int_not_equal(first.verdict, GRAZE_MOTION_FREE);
      assert_true(t >= first.earliest - 1e-11 && t <= last.latest + 1e-11);
    }
  }
  assert_int_equal(verdicts[GRAZE_MOTION_UNKNOWN], 0);
  assert_true(verdicts[GRAZE_MOTION_FREE] > 0 && verdicts[GRAZE_MOTION_HIT] > 0);
  for (int i = 0; i < 2; i++) graze_mesh_destroy(meshes[i]);
  graze_query_destroy(query);
}

enum { SOUP = 14 };

/* Every corner and triangle, every two edges, of triangles that do not meet at the start. */
static graze_motion_result by_features(const double *a, const double *b, const graze_pose pose[4]) {
  static graze_ccd_query queries[15 * SOUP * SOUP];
  static graze_ccd_result results[15 * SOUP * SOUP];
  static double at[2][2][9 * SOUP];
  uint64_t count = 0;
  for (int i = 0; i < 3 * SOUP; i++) {
    for (int e = 0; e < 2; e++) {
      graze_pose_apply(&pose[e], a + 3 * i, &at[e][0][3 * i]);
      graze_pose_apply(&pose[2 + e], b + 3 * i, &at[e][1][3 * i]);
    }
  }
  for (int t = 0; t < SOUP; t++) {
    for (int u = 0; u < SOUP; u++) {
      const int first[2] = {3 * t, 3 * u}; /* corners of the two */
      for (int n = 0; n < 15; n++, count++) {
        int mesh[4], corner[4];
        const bool face = n < 6;
        for (int k = 0; k < 4; k++) {
          if (face) {
            mesh[k] = (k == 0) == (n < 3) ? 0 : 1;
            corner[k] = first[mesh[k]] + (k == 0 ? n % 3 : k - 1);
          } else {
            mesh[k] = k / 2;
            corner[k] = first[mesh[k]] + ((k < 2 ? (n - 6) / 3 : (n - 6) % 3) + k % 2) % 3;
          }
          for (int e = 0; e < 2; e++) {
            memcpy(queries[count].points[e][k], &at[e][mesh[k]][3 * corner[k]], 3 * sizeof(double));
          }
        }
        queries[count].kind = face ? GRAZE_CCD_VERTEX_FACE : GRAZE_CCD_EDGE_EDGE;
      }
    }
  }
  assert_int_equal(graze_ccd_batch(shared_context(1), count, queries, results), GRAZE_OK);
  graze_motion_result best = {.verdict = GRAZE_MOTION_FREE, .earliest = 2, .latest = 2};
  for (uint64_t i = 0; i < count; i++) {
    if (!results[i].hit) continue;
    best.verdict = GRAZE_MOTION_HIT;
    best.earliest = fmin(best.earliest, results[i].earliest);
    best.latest = fmin(best.latest, results[i].latest);
  }
  return best;
}

/* Affine poses of all kinds: shears, mirrors, flat ones; integers, which touch often. */
static graze_pose any_pose(uint64_t *state, int kind) {
  graze_pose pose = test_random_pose(state, 2);
  for (int k = 0; k < 12; k++) {
    if (kind == 1) pose.m[k] += 0.3 * random_signed(state);
    if (kind == 2) pose.m[k] = k % 4 == 3 ? (double)random_below(state, 7) - 3 : (double)random_below(state, 3) - 1;
  }
  return pose;
}

static void test_straight_against_features(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  uint64_t random = test_seed(4);
  int hits = 0, rounds = test_rounds(60, 3000);
  /* Of a few rounds there are more until some have met on the way. */
  for (int round = 0; round < rounds || (hits <= rounds / 10 && round < 30 * rounds); round++) {
    double a[9 * SOUP], b[9 * SOUP];
    if (round % 2 == 0) {
      soup_cluttered(&random, SOUP, 0.3, a);
      soup_cluttered(&random, SOUP, 0.3, b);
    } else {
      soup_lattice(&random, SOUP, 3, a);
      soup_lattice(&random, SOUP, 3, b);
    }
    graze_mesh *x = test_mesh(shared_context(1), a, SOUP, GRAZE_VOLUMES_ORIENTED);
    graze_mesh *y = test_mesh(shared_context(1), b, SOUP, GRAZE_VOLUMES_ORIENTED);
    graze_pose pose[4];
    for (int i = 0; i < 4; i++) pose[i] = any_pose(&random, round % 3);
    if (round % 5 == 0) pose[3] = pose[2];
    const graze_motion_body first = {x, pose[0], pose[1]}, second = {y, pose[2], pose[3]};
    graze_collide_options options = graze_default_collide_options();
    graze_collide_result start;
    options.find = GRAZE_FIND_ANY;
    assert_int_equal(graze_collide_meshes(query, x, &pose[0], y, &pose[2], &options, &start), GRAZE_OK);
    graze_motion_result want = by_features(a, b, pose), got = meet(query, &first, &second, GRAZE_MOTION_LINEAR, false);
    if (start.hit) want = (graze_motion_result){.verdict = GRAZE_MOTION_HIT};
    hits += want.verdict == GRAZE_MOTION_HIT && !start.hit;
    assert_int_equal(got.verdict, want.verdict);
    if (want.verdict == GRAZE_MOTION_HIT) assert_true(got.earliest == want.earliest && got.latest == want.latest);
    graze_mesh_destroy(x);
    graze_mesh_destroy(y);
  }
  assert_true(hits > rounds / 10);
  graze_query_destroy(query);
}

/* ---- paths, and what is refused ---- */

static void test_along(void **state) {
  (void)state;
  enum { OBJECTS = 4, POSES = 12, PAIRS = 5 };
  uint64_t random = test_seed(5);
  graze_query *query = query_of(1);
  graze_mesh *meshes[OBJECTS];
  graze_pose poses[OBJECTS * POSES];
  static const uint32_t pairs[PAIRS][2] = {{0, 1}, {1, 2}, {3, 0}, {2, 3}, {1, 1}};
  graze_motion_result results[2][PAIRS * (POSES - 1)];
  for (int i = 0; i < OBJECTS; i++) meshes[i] = box_mesh(0.3 + 0.2 * i, 0.2, 0.5);
  for (int i = 0; i < OBJECTS * POSES; i++) poses[i] = test_random_pose(&random, 2);
  graze_motion_path path = {(const graze_mesh *const *)meshes, poses, OBJECTS, POSES, pairs, PAIRS};
  graze_motion_options options = graze_default_motion_options();
  options.model = GRAZE_MOTION_RIGID;
  for (int k = 0; k < 2; k++) {
    assert_int_equal(graze_motion_along(shared_context(1 + 2 * k), &path, &options, results[k]), GRAZE_OK);
  }
  for (uint32_t piece = 0; piece + 1 < POSES; piece++) {
    for (uint32_t i = 0; i < PAIRS; i++) {
      const graze_pose *start = poses + piece * OBJECTS, *end = start + OBJECTS;
      const graze_motion_body a = {meshes[pairs[i][0]], start[pairs[i][0]], end[pairs[i][0]]};
      const graze_motion_body b = {meshes[pairs[i][1]], start[pairs[i][1]], end[pairs[i][1]]};
      graze_motion_result want = meet(query, &a, &b, GRAZE_MOTION_RIGID, false);
      for (int k = 0; k < 2; k++) {
        const graze_motion_result *got = &results[k][piece * PAIRS + i];
        assert_int_equal(got->verdict, want.verdict);
        assert_true(got->earliest == want.earliest && got->latest == want.latest);
      }
    }
  }
  double centers[OBJECTS][3];
  for (int i = 0; i < 3 * OBJECTS; i++) centers[i / 3][i % 3] = 3 * random_signed(&random);
  options.centers = (const double(*)[3])centers;
  assert_int_equal(graze_motion_along(shared_context(1), &path, &options, results[0]), GRAZE_OK);
  for (uint32_t i = 0; i < PAIRS * (POSES - 1); i++) {
    const graze_pose *start = poses + i / PAIRS * OBJECTS, *end = start + OBJECTS;
    const uint32_t *pair = pairs[i % PAIRS];
    const graze_motion_body a = {meshes[pair[0]], start[pair[0]], end[pair[0]]};
    const graze_motion_body b = {meshes[pair[1]], start[pair[1]], end[pair[1]]};
    double two[2][3];
    for (int k = 0; k < 6; k++) two[k / 3][k % 3] = centers[pair[k / 3]][k % 3];
    const graze_motion_result want = meet_about(query, &a, &b, (const double(*)[3])two, false);
    assert_true(results[0][i].verdict == want.verdict && results[0][i].latest == want.latest);
  }
  options.centers = NULL;
  poses[3 * OBJECTS + 2].m[0] *= 2;
  assert_int_equal(graze_motion_along(shared_context(3), &path, &options, results[0]), GRAZE_ERROR_POSE);
  assert_string_equal(shared_error()->message, "piece 2, pair 1: pose not allowed");
  path.object_count = 3;
  assert_int_equal(graze_motion_along(shared_context(1), &path, &options, results[0]), GRAZE_ERROR_INDEX);
  path.pose_count = 1;
  assert_int_equal(graze_motion_along(shared_context(1), &path, &options, NULL), GRAZE_OK);
  for (int i = 0; i < OBJECTS; i++) graze_mesh_destroy(meshes[i]);
  graze_query_destroy(query);
}

/* Distances along a path are those of each pair by itself, whatever the threads. */
static void test_distances_along(void **state) {
  (void)state;
  enum { OBJECTS = 4, POSES = 40, PAIRS = 4 };
  uint64_t random = test_seed(6);
  graze_query *query = query_of(1);
  graze_mesh *meshes[OBJECTS];
  graze_pose poses[OBJECTS * POSES];
  static const uint32_t pairs[PAIRS][2] = {{0, 1}, {1, 2}, {3, 0}, {2, 3}};
  static graze_distance_result results[2][PAIRS * POSES];
  uint32_t met = 0, near = 0;
  for (int i = 0; i < OBJECTS; i++) meshes[i] = box_mesh(0.3 + 0.2 * i, 0.2, 0.5);
  for (int i = 0; i < OBJECTS * POSES; i++) poses[i] = test_random_pose(&random, 2);
  const graze_motion_path path = {(const graze_mesh *const *)meshes, poses, OBJECTS, POSES, pairs, PAIRS};
  graze_distance_options options = graze_default_distance_options();
  options.limit = 1;
  options.near_pairs = GRAZE_FIND_ALL;
  memset(results, 0, sizeof results);
  for (int k = 0; k < 2; k++)
    assert_int_equal(graze_distances_along(shared_context(1 + 2 * k), &path, &options, results[k]), GRAZE_OK);
  assert_memory_equal(results[0], results[1], sizeof results[0]);
  for (uint32_t i = 0; i < POSES * PAIRS; i++) {
    const uint32_t *pair = pairs[i % PAIRS];
    const graze_pose *at = poses + i / PAIRS * OBJECTS;
    const graze_distance_result *got = &results[0][i];
    graze_distance_result want;
    assert_int_equal(
        graze_mesh_distance(query, meshes[pair[0]], &at[pair[0]], meshes[pair[1]], &at[pair[1]], &options, &want),
        GRAZE_OK);
    assert_true(got->found == want.found && got->lower == want.lower && got->upper == want.upper);
    assert_memory_equal(&got->nearest, &want.nearest, sizeof want.nearest);
    assert_true(got->near_pairs == want.near_pairs && got->near_hash == want.near_hash && got->pairs == NULL);
    near += want.found;
    met += want.found && want.nearest.distance == 0;
  }
  assert_true(met > 0 && near > met && near < POSES * PAIRS);
  poses[5 * OBJECTS + 2].m[3] = (double)NAN;
  assert_int_equal(graze_distances_along(shared_context(3), &path, NULL, results[0]), GRAZE_ERROR_NOT_FINITE);
  assert_string_equal(shared_error()->message, "configuration 5, pair 1: coordinate is not finite");
  for (int i = 0; i < OBJECTS; i++) graze_mesh_destroy(meshes[i]);
  graze_query_destroy(query);
}

/* A scene tells of every pair that meets on the way, with the times that the pair by itself has. */
static void test_scenes(void **state) {
  (void)state;
  enum { OBJECTS = 24 };
  uint64_t random = test_seed(7);
  graze_query *query = query_of(1);
  for (int round = test_rounds(16, 400); round-- > 0;) {
    graze_scene *scene = NULL;
    graze_mesh *meshes[2] = {box_mesh(0.5, 0.1, 0.3), box_mesh(0.2, 0.2, 0.8)};
    graze_object_id ids[OBJECTS];
    graze_pose start[OBJECTS], end[OBJECTS];
    graze_scene_update_options options = graze_default_scene_update_options();
    graze_scene_update_result e;
    uint64_t passed = 0, began = 0, ended = 0;
    double centers[OBJECTS][3] = {{0}};
    assert_int_equal(graze_scene_create(shared_context(1 + round % 3), &scene), GRAZE_OK);
    for (uint32_t i = 0; i < OBJECTS; i++) {
      graze_object_def def = graze_default_object_def();
      start[i] = end[i] = test_random_pose(&random, 4);
      if (i % 3 == 0) end[i] = test_random_pose(&random, 4);
      def.mesh = meshes[i % 2];
      def.pose = start[i];
      def.user_id = i;
      for (int k = 0; k < 3 && round % 4 == 0; k++) centers[i][k] = 3 * random_signed(&random);
      if (i % 2 == 0) memcpy(def.center, centers[i], sizeof def.center);
      assert_int_equal(graze_scene_add(scene, &def, &ids[i]), GRAZE_OK);
      if (i % 2 != 0) assert_int_equal(graze_scene_set_center(scene, ids[i], centers[i]), GRAZE_OK);
    }
    options.continuous = round % 2 ? GRAZE_MOTION_LINEAR : GRAZE_MOTION_RIGID;
    assert_int_equal(graze_scene_update(scene, &options, &e), GRAZE_OK);
    for (uint64_t i = 0; i < e.began_count; i++) assert_true(e.began[i].time[0] == 1 && e.began[i].time[1] == 1);
    const graze_pose somewhere = test_random_pose(&random, 4);
    assert_int_equal(graze_scene_set_pose(scene, ids[0], &somewhere), GRAZE_OK); /* where it never is */
    assert_int_equal(graze_scene_set_poses(scene, ids, end, OBJECTS), GRAZE_OK);
    assert_int_equal(graze_scene_update(scene, &options, &e), GRAZE_OK);
    for (uint32_t a = 0; a < OBJECTS; a++) {
      for (uint32_t b = a + 1; b < OBJECTS; b++) {
        const graze_motion_body x = {meshes[a % 2], start[a], end[a]}, y = {meshes[b % 2], start[b], end[b]};
        graze_relate_result before, now;
        if (a % 3 != 0 && b % 3 != 0) continue;
        assert_int_equal(graze_relate_meshes(query, x.mesh, &x.start, y.mesh, &y.start, NULL, &before), GRAZE_OK);
        assert_int_equal(graze_relate_meshes(query, x.mesh, &x.end, y.mesh, &y.end, NULL, &now), GRAZE_OK);
        const bool was = before.verdict.relation != GRAZE_SEPARATE, is = now.verdict.relation != GRAZE_SEPARATE;
        if (was && is) continue;
        double two[2][3];
        for (int k = 0; k < 6; k++) two[k / 3][k % 3] = centers[k < 3 ? a : b][k % 3];
        const bool straight = options.continuous == GRAZE_MOTION_LINEAR; /* where centers do not count */
        const graze_motion_result want = straight ? meet(query, &x, &y, GRAZE_MOTION_LINEAR, was)
                                                  : meet_about(query, &x, &y, (const double(*)[3])two, was);
        if (want.verdict == GRAZE_MOTION_FREE) continue;
        const graze_scene_event *list = was ? e.ended : is ? e.began : e.passed, *found = NULL;
        const uint64_t count = was ? e.ended_count : is ? e.began_count : e.passed_count;
        for (uint64_t i = 0; i < count; i++) {
          if (list[i].user_id_a == a && list[i].user_id_b == b) found = &list[i];
        }
        assert_non_null(found);
        assert_true(found->time[0] == want.earliest && found->time[1] == want.latest);
        passed += !was && !is;
        began += is;
        ended += was;
      }
    }
    assert_true(passed == e.passed_count && began == e.began_count && ended == e.ended_count);
    const double bad[3] = {0, (double)NAN, 0}, far[3] = {0, 0, 1e300};
    assert_int_equal(graze_scene_set_center(scene, ids[1], bad), GRAZE_ERROR_NOT_FINITE);
    assert_string_equal(shared_error()->message, "object: y of the center is not finite");
    options.continuous = GRAZE_MOTION_RIGID;
    assert_int_equal(graze_scene_set_center(scene, ids[0], far), GRAZE_OK);
    assert_int_equal(graze_scene_set_pose(scene, ids[0], &start[0]), GRAZE_OK);
    assert_int_equal(graze_scene_update(scene, &options, &e), GRAZE_ERROR_LIMIT);
    assert_string_equal(shared_error()->message, "object number 0: its center is too far away");
    options.exactness = GRAZE_T2;
    assert_int_equal(graze_scene_update(scene, &options, &e), GRAZE_ERROR_ARGUMENT);
    graze_scene_destroy(scene);
    for (int k = 0; k < 2; k++) graze_mesh_destroy(meshes[k]);
  }
  graze_query_destroy(query);
}

/* Every request refused in turn: told, nothing lost, and nothing leaks. */
static void test_memory(void **state) {
  (void)state;
  enum { OBJECTS = 2, POSES = 3 };
  for (int model = GRAZE_MOTION_LINEAR; model <= GRAZE_MOTION_RIGID; model++) {
    for (uint64_t fail_at = 1;; fail_at++) {
      static double corners[9 * 8 * 16];
      test_allocator memory = {0};
      graze_context_def def = graze_default_context_def();
      graze_context *context = NULL;
      def.allocator = test_allocator_hooks(&memory);
      def.threads = 1;
      assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
      graze_mesh *ball = test_mesh(context, corners, soup_ball(3, 1, corners), GRAZE_VOLUMES_ORIENTED);
      const graze_mesh *meshes[OBJECTS] = {ball, ball};
      const graze_pose poses[POSES * OBJECTS] = {test_translation(0, 0, 0),    test_translation(5, 0.3, 0),
                                                 turned(0, 0, 0, UP, 0.5),     test_translation(-5, 0.2, 0),
                                                 test_translation(0, 0, 0.25), test_translation(-3, 0, 0)};
      static const uint32_t pairs[1][2] = {{0, 1}};
      const graze_motion_path path = {meshes, poses, OBJECTS, POSES, pairs, 1};
      graze_motion_options options = graze_default_motion_options();
      graze_motion_result results[POSES - 1];
      options.model = (graze_motion_model)model;
      memory.fail_at = memory.requests + fail_at;
      graze_status status = graze_motion_along(context, &path, &options, results);
      const bool refused = memory.requests >= memory.fail_at;
      memory.fail_at = 0;
      assert_int_equal(status, refused ? GRAZE_ERROR_MEMORY : GRAZE_OK);
      if (!refused) assert_int_equal(results[0].verdict, GRAZE_MOTION_HIT);
      graze_mesh_destroy(ball);
      graze_context_destroy(context);
      assert_int_equal(memory.live_blocks, 0);
      if (!refused) break;
    }
  }
}

static void test_refusals(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  graze_mesh *box = box_mesh(1, 1, 1);
  graze_motion_body a = {box, graze_pose_identity(), graze_pose_identity()}, b = a;
  graze_motion_options options = graze_default_motion_options();
  graze_motion_result r;
  b.end.m[0] = 1 + 3e-6;
  options.model = GRAZE_MOTION_RIGID;
  assert_int_equal(graze_motion_meshes(query, &a, &b, &options, &r), GRAZE_ERROR_POSE);
  assert_string_equal(shared_error()->message, "object b: it moves to a pose that is not rigid");
  assert_int_equal(graze_motion_meshes(query, &b, &a, &options, &r), GRAZE_ERROR_POSE);
  b.end.m[0] = -1;
  assert_int_equal(graze_motion_meshes(query, &a, &b, &options, &r), GRAZE_ERROR_POSE);
  assert_string_equal(shared_error()->message, "object b: it moves between a pose and a mirror image");
  b.end.m[0] = (double)NAN;
  assert_int_equal(graze_motion_meshes(query, &a, &b, &options, &r), GRAZE_ERROR_NOT_FINITE);
  b = a;
  b.start.m[3] = b.end.m[3] = 10;
  b.start.m[0] = b.end.m[0] = 5; /* it stands still and may be stretched */
  a.end.m[3] = 2;
  assert_int_equal(graze_motion_meshes(query, &a, &b, &options, &r), GRAZE_OK);
  assert_int_equal(r.verdict, GRAZE_MOTION_FREE);
  a.end.m[3] = 4;
  assert_int_equal(graze_motion_meshes(query, &a, &b, &options, &r), GRAZE_OK);
  assert_int_equal(r.verdict, GRAZE_MOTION_HIT);
  assert_true(r.latest == 1 && r.earliest > 1 - 0x1p-30);
  double centers[2][3] = {{0, 0, 0}, {0, (double)NAN, 0}};
  options.centers = (const double(*)[3])centers;
  assert_int_equal(graze_motion_meshes(query, &a, &b, &options, &r), GRAZE_ERROR_NOT_FINITE);
  assert_string_equal(shared_error()->message, "object b: its center is not finite");
  centers[1][1] = 1e300;
  assert_int_equal(graze_motion_meshes(query, &a, &b, &options, &r), GRAZE_ERROR_LIMIT);
  assert_string_equal(shared_error()->message, "object b: its center is too far away");
  options.centers = NULL;
  options.model = GRAZE_MOTION_STEPS;
  assert_int_equal(graze_motion_meshes(query, &a, &b, &options, &r), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_motion_meshes(query, &a, NULL, NULL, &r), GRAZE_ERROR_ARGUMENT);
  assert_string_equal(graze_motion_verdict_string(GRAZE_MOTION_UNKNOWN), "unknown");
  graze_mesh_destroy(box);
  graze_query_destroy(query);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bullets),
      cmocka_unit_test(test_turning_bars),
      cmocka_unit_test(test_turning_about_centers),
      cmocka_unit_test(test_centers_against_samples),
      cmocka_unit_test(test_half_turn),
      cmocka_unit_test(test_combs),
      cmocka_unit_test(test_against_samples),
      cmocka_unit_test(test_straight_against_features),
      cmocka_unit_test(test_scenes),
      cmocka_unit_test(test_along),
      cmocka_unit_test(test_distances_along),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
