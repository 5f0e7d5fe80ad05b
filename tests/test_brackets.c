/* Brackets of times as wide as they were asked for: around times that are known and those of the usual width, exact
 * ones as they are; and bounds of the distance where it is not known whether objects meet, against samples. */
#include <math.h>
#include <string.h>

#include "families.h"
#include "graze/scene.h"
#include "journeys.h"

enum { FINEST = 36 }; /* widths down to 2^-FINEST are reached by what comes straight at a thing of its size */

static graze_motion_result meet(graze_query *query, const graze_motion_body *a, const graze_motion_body *b,
                                graze_motion_model model, double bracket, bool last) {
  graze_motion_options options = graze_default_motion_options();
  options.model = model;
  options.bracket = bracket;
  options.last = last;
  return decide_motion(query, a, b, &options);
}

static graze_pose turned(double x, double y, double z, double angle) {
  const double q[4] = {cos(0.5 * angle), 0, 0, sin(0.5 * angle)}, shift[3] = {x, y, z};
  return graze_pose_from_quaternion(q, shift);
}

static void expect_time(const graze_motion_result *r, double width, double when) {
  assert_int_equal(r->verdict, GRAZE_MOTION_HIT);
  assert_true(r->latest - r->earliest <= width);
  if (when < r->earliest - 0x1p-50 || when > r->latest + 0x1p-50)
    fail_msg("%.17g is not from %.17g to %.17g", when, r->earliest, r->latest);
}

/* ---- what is known ---- */

/* A box of half edge 1 flies at a plate from `gap` before it and stops inside; the way back ends where it began. */
static void test_bullets(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  uint64_t random = test_seed(1);
  graze_mesh *box = box_mesh(1, 1, 1), *plate = box_mesh(2, 20, 20);
  for (int round = test_rounds(60, 3000); round-- > 0;) {
    const double gap = 1 + random_below(&random, 40), way = gap + 1 + random_below(&random, 3), when = gap / way;
    const double width = ldexp(1 - 0.5 * random_unit(&random), -(int)random_below(&random, FINEST + 1));
    const graze_pose at = test_translation(-3 - gap, 0.5, 0), in = test_translation(-3 - gap + way, 0.5, 0);
    const graze_motion_body go = {box, at, in}, back = {box, in, at},
                            wall = {plate, test_translation(0, 0, 0), test_translation(0, 0, 0)};
    graze_motion_result r = meet(query, &go, &wall, GRAZE_MOTION_RIGID, width, false);
    expect_time(&r, width, when);
    r = meet(query, &wall, &back, GRAZE_MOTION_RIGID, width, true);
    expect_time(&r, width, 1 - when);
    /* What is exact does not depend on it. */
    r = meet(query, &go, &wall, GRAZE_MOTION_LINEAR, width, false);
    const graze_motion_result usual = meet(query, &go, &wall, GRAZE_MOTION_LINEAR, 0, false);
    assert_true(r.earliest == usual.earliest && r.latest == usual.latest &&
                usual.latest <= nextafter(usual.earliest, 1));
  }
  graze_mesh_destroy(box);
  graze_mesh_destroy(plate);
  graze_query_destroy(query);
}

/* A bar of half width w turns about its middle and meets a post's edge at the distance r after f - asin(w / r). Finer
 * than doubles allow is as fine as they do. */
static void test_bars(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  uint64_t random = test_seed(2);
  for (int round = test_rounds(60, 3000); round-- > 0;) {
    const double w = 0.01 + 0.2 * random_unit(&random), r = 1 + random_unit(&random), s = 0.05;
    const double turn = 2 + random_unit(&random), f = asin(w / r) + 0.05 + 1.8 * random_unit(&random);
    const int bits = (int)random_below(&random, 80);
    graze_mesh *bar = box_mesh(2.5, w, 0.1), *post = box_mesh(s, s, 1);
    graze_pose place = turned(0, 0, 0, f + 0.25 * M_PI);
    const double corner[3] = {-s, -s, 0};
    double at[3];
    graze_pose_apply(&place, corner, at);
    place.m[3] = r * cos(f) - at[0];
    place.m[7] = r * sin(f) - at[1];
    const graze_motion_body a = {bar, graze_pose_identity(), turned(0, 0, 0, turn)}, b = {post, place, place};
    const graze_motion_result result = meet(query, &a, &b, GRAZE_MOTION_RIGID, ldexp(1, -bits), false);
    expect_time(&result, ldexp(1, bits < FINEST ? -bits : -FINEST), (f - asin(w / r)) / turn);
    graze_mesh_destroy(bar);
    graze_mesh_destroy(post);
  }
  graze_query_destroy(query);
}

/* A bar's corner passes a post's edge by a little more than nothing, or by less: whether it meets does not depend on
 * how roughly is asked. */
static void test_near_misses(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  uint64_t random = test_seed(5);
  for (int round = test_rounds(24, 3000); round-- > 0;) {
    const double length = 1 + random_unit(&random), w = 0.01 + 0.2 * random_unit(&random), s = 0.05;
    const double gap = (round % 2 ? 1 : -1) * ldexp(1 + random_unit(&random), -(int)random_below(&random, 12) - 16);
    const double f = 0.5 + random_unit(&random), r = sqrt(length * length + w * w) + gap;
    graze_mesh *bar = box_mesh(length, w, 0.1), *post = box_mesh(s, s, 1);
    graze_pose place = turned(0, 0, 0, f + 0.25 * M_PI); /* its corner (-s, -s) points at the bar's middle */
    place.m[3] = (r + sqrt(2) * s) * cos(f);
    place.m[7] = (r + sqrt(2) * s) * sin(f);
    const graze_motion_body a = {bar, graze_pose_identity(), turned(0, 0, 0, 2)}, b = {post, place, place};
    for (int bits = 0; bits < 40; bits += 3) {
      const graze_motion_result got = meet(query, &a, &b, GRAZE_MOTION_RIGID, ldexp(1, -bits), round % 4 < 2);
      assert_int_equal(got.verdict, gap > 0 ? GRAZE_MOTION_FREE : GRAZE_MOTION_HIT);
    }
    graze_mesh_destroy(bar);
    graze_mesh_destroy(post);
  }
  graze_query_destroy(query);
}

/* ---- random motions ---- */

/* Whatever the width, the first time is in the bracket, so those of all widths have a time in common; and a thing that
 * is free, or not, is so at each. */
static void test_widths_agree(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  uint64_t random = test_seed(3);
  graze_mesh *meshes[2] = {box_mesh(1.5, 0.05, 0.4), box_mesh(0.1, 0.1, 1)};
  int hits = 0, rounds = test_rounds(100, 5000);
  for (int round = 0; round < rounds || (hits == 0 && round < 30 * rounds); round++) {
    journey j;
    make_journey(&random, meshes, &j);
    for (int last = 0; last < 2; last++) {
      const graze_motion_result usual = meet(query, &j.body[0], &j.body[1], GRAZE_MOTION_RIGID, 0, last);
      double from = usual.earliest, to = usual.latest;
      hits += usual.verdict == GRAZE_MOTION_HIT;
      for (int i = 0; i < 3; i++) {
        const double width = ldexp(1, -(int)random_below(&random, i == 0 ? 12 : 60));
        const graze_motion_result r = meet(query, &j.body[0], &j.body[1], GRAZE_MOTION_RIGID, width, last);
        assert_int_equal(r.verdict, usual.verdict);
        from = fmax(from, r.earliest);
        to = fmin(to, r.latest);
        assert_true(from <= to);
        assert_true(r.latest - r.earliest <= fmax(width, fmax(usual.latest - usual.earliest, 0x1p-20)));
      }
    }
  }
  assert_true(hits > 0);
  for (int i = 0; i < 2; i++) graze_mesh_destroy(meshes[i]);
  graze_query_destroy(query);
}

/* ---- what is not known ---- */

/* What a scene tells of the step is what the pair by itself says. */
static void check_scene(const graze_motion_body *a, const graze_motion_body *b, double bracket,
                        const graze_motion_result *want) {
  const graze_motion_body *both[2] = {a, b};
  graze_scene_update_options options = graze_default_scene_update_options();
  graze_scene_update_result e;
  graze_scene *scene = NULL;
  graze_object_id ids[2];
  assert_int_equal(graze_scene_create(shared_context(1), &scene), GRAZE_OK);
  for (int i = 0; i < 2; i++) {
    graze_object_def def = graze_default_object_def();
    def.mesh = both[i]->mesh;
    def.pose = both[i]->start;
    assert_int_equal(graze_scene_add(scene, &def, &ids[i]), GRAZE_OK);
  }
  options.continuous = GRAZE_MOTION_RIGID;
  options.bracket = bracket;
  assert_int_equal(graze_scene_update(scene, &options, &e), GRAZE_OK);
  for (int i = 0; i < 2; i++) assert_int_equal(graze_scene_set_pose(scene, ids[i], &both[i]->end), GRAZE_OK);
  assert_int_equal(graze_scene_update(scene, &options, &e), GRAZE_OK);
  assert_int_equal(e.passed_count, 1);
  assert_int_equal(e.passed[0].passage, want->verdict);
  assert_memory_equal(e.passed[0].distance, want->distance, sizeof want->distance);
  assert_true(e.passed[0].time[0] == want->earliest && e.passed[0].time[1] == want->latest);
  options.bracket = 2;
  assert_int_equal(graze_scene_update(scene, &options, &e), GRAZE_ERROR_ARGUMENT);
  assert_string_equal(shared_error()->message, "update: the width of a bracket is not a number from 0 to 1");
  graze_scene_destroy(scene);
}

/* A box slides above a plate that turns with it, nearer than proofs get to what counts, at first or in the end: there
 * the distance is what it was made to be, and grows from there on if the box is lifted. */
static void test_doubts(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  uint64_t random = test_seed(4);
  int doubts[2] = {0, 0}, rounds = test_rounds(16, 2000);
  for (int round = 0; round < rounds || doubts[0] == 0 || doubts[1] == 0; round++) {
    assert_true(round < 30 * rounds);
    const bool keeps = round % 2 != 0;
    const double h = 0.25 + random_unit(&random), separation = keeps ? ldexp(1 + random_unit(&random), -20) : 0;
    const double gap = ldexp(1 + random_unit(&random), -(int)random_below(&random, 6) - 44);
    const double least = separation + gap;
    const double z = 0.5 + h + least, lift = random_below(&random, 2) * 0x1p-8 * random_unit(&random);
    graze_mesh *box = box_mesh(0.5, 0.5, h), *plate = box_mesh(6, 6, 0.5);
    const graze_pose low = turned(-3, random_signed(&random), z, 0);
    const graze_pose high = turned(3, random_signed(&random), z + lift, 0.4 * random_signed(&random));
    graze_motion_options options = graze_default_motion_options();
    options.model = GRAZE_MOTION_RIGID;
    options.separation = separation;
    options.last = random_below(&random, 2) != 0;
    options.bracket = ldexp(1, -(int)random_below(&random, 40));
    const graze_motion_body a = {box, options.last ? high : low, options.last ? low : high};
    const graze_motion_body b = {plate, turned(0, 0, 0, 0), turned(0.1, 0, 0, 0.3)};
    const graze_motion_result r = decide_motion(query, &a, &b, &options);
    if (r.verdict == GRAZE_MOTION_UNKNOWN) {
      doubts[keeps]++;
      assert_true(r.distance[0] <= least + 1e-15 && r.distance[1] >= least - 1e-15);
      assert_true(r.distance[0] >= 0.5 * least - 1e-11 && r.distance[1] <= least + 1e-11);
      if (!keeps && !options.last) check_scene(&a, &b, options.bracket, &r);
      assert_true(r.earliest < r.latest && (options.last ? r.latest == 1 : r.earliest == 0));
    } else {
      assert_true(r.distance[0] == 0 && r.distance[1] == 0);
    }
    graze_mesh_destroy(box);
    graze_mesh_destroy(plate);
  }
  graze_query_destroy(query);
}

static void test_refusals(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  graze_mesh *box = box_mesh(1, 1, 1);
  const graze_motion_body a = {box, graze_pose_identity(), graze_pose_identity()};
  static const double bad[] = {-0x1p-1074, 1.0000000000000002, (double)NAN, (double)INFINITY};
  for (int i = 0; i < 4; i++) {
    graze_motion_options options = graze_default_motion_options();
    graze_motion_result r;
    options.bracket = bad[i];
    assert_int_equal(graze_motion_meshes(query, &a, &a, &options, &r), GRAZE_ERROR_ARGUMENT);
    assert_string_equal(shared_error()->message, "the width of a bracket is not a number from 0 to 1");
  }
  graze_mesh_destroy(box);
  graze_query_destroy(query);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bullets),      cmocka_unit_test(test_bars),   cmocka_unit_test(test_near_misses),
      cmocka_unit_test(test_widths_agree), cmocka_unit_test(test_doubts), cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
