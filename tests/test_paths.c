/* The first contact on a path: of bullets whose piece and time are known, and of random paths against what every pair
 * on every piece says by itself, put together in another way: on one line of time. */
#include <math.h>
#include <string.h>

#include "families.h"
#include "journeys.h"

enum { OBJECTS = 4, MOST_POSES = 200, PAIRS = 5 };

static const uint32_t pairs[PAIRS][2] = {{0, 1}, {1, 2}, {3, 0}, {2, 3}, {1, 3}};

static double line(graze_motion_moment m) {
  return m.piece + m.time;
}

static graze_motion_first first_of(int threads, const graze_motion_path *path, const graze_motion_options *options,
                                   graze_motion_first *each) {
  graze_motion_first all, again;
  assert_int_equal(graze_motion_first_along(shared_context(threads), path, options, each, &all), GRAZE_OK);
  assert_int_equal(graze_motion_first_along(shared_context(threads), path, options, NULL, &again), GRAZE_OK);
  /* Who only asks for the first of all gets the same contact, with less work. */
  assert_true(again.verdict == all.verdict && line(again.earliest) == line(all.earliest) &&
              line(again.latest) == line(all.latest) && again.pair == all.pair && again.decided <= all.decided);
  return all;
}

/* A bullet and a wall on each of several lines, far from each other; each bullet stays for some pieces and then goes at
 * its wall by a unit a piece. */
static void test_bullets(void **state) {
  (void)state;
  uint64_t random = test_seed(1);
  graze_mesh *box = box_mesh(0.5, 0.5, 0.5), *wall = box_mesh(0.5, 5, 5);
  const graze_mesh *meshes[OBJECTS] = {box, box, wall, wall};
  static const uint32_t two[2][2] = {{0, 2}, {3, 1}};
  static graze_pose poses[MOST_POSES * OBJECTS];
  for (int round = test_rounds(40, 2000); round-- > 0;) {
    const uint32_t count = 1 + random_below(&random, MOST_POSES);
    double when[2];
    for (int i = 0; i < 2; i++) {
      const double wait = random_below(&random, count + 20), way = 1 + 0.125 * random_below(&random, 200);
      when[i] = wait + way;
      for (uint32_t n = 0; n < count; n++) {
        poses[n * OBJECTS + i] = test_translation(-1 - way + fmax(n - wait, 0), 100 * i, 0.25);
        poses[n * OBJECTS + 2 + i] = test_translation(0, 100 * i, 0);
      }
    }
    const graze_motion_path path = {meshes, poses, OBJECTS, count, two, 2};
    graze_motion_options options = graze_default_motion_options();
    options.model = round % 2 ? GRAZE_MOTION_LINEAR : GRAZE_MOTION_RIGID;
    graze_motion_first each[2];
    const graze_motion_first all = first_of(1 + round % 3, &path, &options, each);
    for (int i = 0; i < 2; i++) {
      const bool meets = when[i] <= count - 1;
      assert_int_equal(each[i].verdict, meets ? GRAZE_MOTION_HIT : GRAZE_MOTION_FREE);
      const double want = meets ? when[i] : count - 1;
      assert_true(line(each[i].earliest) <= want + 1e-12 && line(each[i].latest) >= want - 1e-12);
      assert_true(line(each[i].latest) - line(each[i].earliest) <= 0x1p-30);
      assert_int_equal(each[i].pair, i);
    }
    const double sooner = fmin(when[0], when[1]);
    assert_int_equal(all.verdict, sooner <= count - 1 ? GRAZE_MOTION_HIT : GRAZE_MOTION_FREE);
    if (all.verdict == GRAZE_MOTION_HIT && when[0] != when[1]) assert_int_equal(all.pair, when[1] < when[0]);
    assert_true(line(all.earliest) <= fmin(sooner, count - 1) + 1e-12);
    assert_true(line(all.latest) >= fmin(sooner, count - 1) - 1e-12);
  }
  graze_mesh_destroy(box);
  graze_mesh_destroy(wall);
}

/* What the results of all pieces of a pair say, looked at from the end. */
static void expect_pair(const graze_motion_first *got, const graze_motion_result *results, uint32_t piece_count) {
  double earliest = piece_count, latest = piece_count;
  graze_motion_verdict verdict = GRAZE_MOTION_FREE;
  const double *distance = NULL;
  for (uint32_t piece = piece_count; piece-- > 0;) {
    const graze_motion_result *r = &results[piece * PAIRS];
    if (r->verdict == GRAZE_MOTION_FREE) continue;
    if (r->verdict == GRAZE_MOTION_HIT || verdict == GRAZE_MOTION_FREE) {
      verdict = r->verdict;
      latest = piece + r->latest;
    }
    earliest = piece + r->earliest;
    distance = r->distance;
  }
  assert_int_equal(got->verdict, verdict);
  assert_true(line(got->earliest) == earliest && line(got->latest) == latest);
  if (verdict == GRAZE_MOTION_UNKNOWN)
    assert_memory_equal(got->distance, distance, sizeof got->distance);
  else
    assert_true(got->distance[0] == 0 && got->distance[1] == 0);
}

static void expect_all(const graze_motion_first *got, const graze_motion_first *each) {
  int hits = 0, doubts = 0;
  double earliest = INFINITY, first_hit = INFINITY, last_doubt = 0;
  for (int i = 0; i < PAIRS; i++) {
    hits += each[i].verdict == GRAZE_MOTION_HIT;
    doubts += each[i].verdict == GRAZE_MOTION_UNKNOWN;
    earliest = fmin(earliest, line(each[i].earliest));
    if (each[i].verdict == GRAZE_MOTION_HIT) first_hit = fmin(first_hit, line(each[i].latest));
    if (each[i].verdict == GRAZE_MOTION_UNKNOWN) last_doubt = fmax(last_doubt, line(each[i].latest));
  }
  assert_int_equal(got->verdict, hits ? GRAZE_MOTION_HIT : doubts ? GRAZE_MOTION_UNKNOWN : GRAZE_MOTION_FREE);
  assert_true(line(got->earliest) == earliest);
  if (hits || doubts) assert_true(line(got->latest) == (hits ? first_hit : last_doubt));
  if (hits || doubts) assert_int_equal(each[got->pair].verdict, got->verdict);
}

/* Boxes that turn and slide above a plate, nearer than proofs get, and fly about: free, met and doubtful pieces in any
 * order. Calm ones keep to lanes of their own, and none meets. */
static graze_pose wander(uint64_t *random, uint32_t object, bool calm) {
  const double angle = 0.4 * random_signed(random), q[4] = {cos(angle), 0, 0, sin(angle)};
  const uint32_t kind = random_below(random, 30);
  const double low = 1 + 0x1p-44 * (1 + random_unit(random));
  const double z = kind < 12 ? low : kind == 12 && !calm ? 0.9 : 3 + object;
  const double lane = calm ? 3 * object - 6.0 : 20 * (object == 3);
  const double at[3] = {3 * random_signed(random), lane + (calm ? 0.1 : 3) * random_signed(random), z};
  return graze_pose_from_quaternion(q, at);
}

static void test_against_pieces(void **state) {
  (void)state;
  uint64_t random = test_seed(2);
  static graze_pose poses[MOST_POSES * OBJECTS];
  static graze_motion_result results[MOST_POSES * PAIRS];
  graze_mesh *plate = box_mesh(6, 6, 0.5), *box = box_mesh(0.5, 0.5, 0.5);
  const graze_mesh *meshes[OBJECTS] = {plate, box, box, box};
  int verdicts[3] = {0, 0, 0}, rounds = test_rounds(20, 1000);
  for (int round = 0; round < rounds || !verdicts[0] || !verdicts[1] || !verdicts[2]; round++) {
    assert_true(round < rounds + 500);
    const uint32_t count = 2 + random_below(&random, 12);
    for (uint32_t i = 0; i < OBJECTS; i++) {
      for (uint32_t n = 0; n < count; n++)
        poses[n * OBJECTS + i] = i == 0 ? graze_pose_identity() : wander(&random, i, round % 2 == 0);
    }
    const graze_motion_path path = {meshes, poses, OBJECTS, count, pairs, PAIRS};
    graze_motion_options options = graze_default_motion_options();
    options.model = GRAZE_MOTION_RIGID;
    options.separation = round % 3 == 0 ? 0x1p-20 : 0;
    graze_motion_first each[PAIRS], again[PAIRS];
    assert_int_equal(graze_motion_along(shared_context(1), &path, &options, results), GRAZE_OK);
    const graze_motion_first all = first_of(1, &path, &options, each), other = first_of(3, &path, &options, again);
    for (uint32_t i = 0; i < PAIRS; i++) {
      expect_pair(&each[i], results + i, count - 1);
      verdicts[each[i].verdict]++;
    }
    expect_all(&all, each);
    assert_true(all.verdict == other.verdict && line(all.earliest) == line(other.earliest) &&
                line(all.latest) == line(other.latest) && all.pair == other.pair && all.decided == other.decided);
    assert_memory_equal(each, again, sizeof each);
  }
  graze_mesh_destroy(plate);
  graze_mesh_destroy(box);
}

static void test_refusals(void **state) {
  (void)state;
  graze_mesh *box = box_mesh(1, 1, 1);
  const graze_mesh *meshes[2] = {box, box};
  graze_pose poses[6];
  for (int i = 0; i < 6; i++) poses[i] = test_translation(5 * (i % 2), 0.25 * (i / 2), 0);
  static const uint32_t one[2][2] = {{0, 1}, {1, 2}};
  graze_motion_path path = {meshes, poses, 2, 3, one, 1};
  graze_motion_options options = graze_default_motion_options();
  graze_motion_first first, each[2];
  options.model = GRAZE_MOTION_RIGID;
  assert_int_equal(graze_motion_first_along(shared_context(1), &path, &options, NULL, NULL), GRAZE_ERROR_ARGUMENT);
  options.last = true;
  assert_int_equal(graze_motion_first_along(shared_context(1), &path, &options, each, &first), GRAZE_ERROR_ARGUMENT);
  assert_string_equal(shared_error()->message, "path: its first contact is found, not the last");
  options.last = false;
  path.pair_count = 2;
  assert_int_equal(graze_motion_first_along(shared_context(1), &path, &options, each, &first), GRAZE_ERROR_INDEX);
  path.pair_count = 0;
  assert_int_equal(graze_motion_first_along(shared_context(1), &path, &options, NULL, &first), GRAZE_OK);
  assert_true(first.verdict == GRAZE_MOTION_FREE && line(first.earliest) == 2);
  path.pair_count = 1;
  poses[5].m[0] = 2;
  assert_int_equal(graze_motion_first_along(shared_context(1), &path, &options, NULL, &first), GRAZE_ERROR_POSE);
  assert_string_equal(shared_error()->message, "piece 1, pair 0: pose not allowed");
  poses[3].m[3] = 0; /* it meets before, in a group that does not have the bad pose */
  assert_int_equal(graze_motion_first_along(shared_context(1), &path, &options, each, &first), GRAZE_OK);
  assert_true(first.verdict == GRAZE_MOTION_HIT && first.latest.piece == 0 && first.decided == 1);
  path.pose_count = 0;
  assert_int_equal(graze_motion_first_along(shared_context(1), &path, &options, each, NULL), GRAZE_OK);
  assert_true(each[0].verdict == GRAZE_MOTION_FREE && line(each[0].earliest) == 0);
  graze_mesh_destroy(box);
}

/* Every request refused in turn. */
static void test_memory(void **state) {
  (void)state;
  for (uint64_t fail_at = 1;; fail_at++) {
    test_allocator memory = {0};
    graze_context_def def = graze_default_context_def();
    graze_context *context = NULL;
    def.allocator = test_allocator_hooks(&memory);
    def.threads = 1;
    assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
    static double corners[9 * 8 * 16];
    graze_mesh *ball = test_mesh(context, corners, soup_ball(3, 1, corners), GRAZE_VOLUMES_ORIENTED);
    const graze_mesh *meshes[2] = {ball, ball};
    const graze_pose poses[6] = {test_translation(0, 0, 0), test_translation(9, 0, 0),   test_translation(0, 1, 0),
                                 test_translation(5, 0, 0), test_translation(0, 0, 0.5), test_translation(-3, 0, 0)};
    static const uint32_t one[1][2] = {{0, 1}};
    const graze_motion_path path = {meshes, poses, 2, 3, one, 1};
    graze_motion_first first, each[1];
    memory.fail_at = memory.requests + fail_at;
    const graze_status status = graze_motion_first_along(context, &path, NULL, each, &first);
    const bool refused = memory.requests >= memory.fail_at;
    memory.fail_at = 0;
    assert_int_equal(status, refused ? GRAZE_ERROR_MEMORY : GRAZE_OK);
    if (!refused) assert_true(first.verdict == GRAZE_MOTION_HIT && first.latest.piece == 1);
    graze_mesh_destroy(ball);
    graze_context_destroy(context);
    assert_int_equal(memory.live_blocks, 0);
    if (!refused) break;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bullets),
      cmocka_unit_test(test_against_pieces),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
