/* Objects that move from pose to pose and have to keep a distance: ways whose times are known, ways along which the
 * distance is kept exactly, random motions against samples of them, and scenes with clearances. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "families.h"
#include "graze/scene.h"
#include "journeys.h"

static const double kept = 1 - 0x1p-24;

static graze_motion_result approach(graze_query *query, const graze_motion_body *a, const graze_motion_body *b,
                                    graze_motion_model model, double separation, bool last) {
  graze_motion_options options = graze_default_motion_options();
  options.model = model;
  options.separation = separation;
  options.last = last;
  return decide_motion(query, a, b, &options);
}

/* ---- what is known ---- */

/* A box of half edge 1 flies at a plate from `gap` before it, and stops before it or goes through it: they are nearer
 * than c from (gap - c) / way on. */
static void test_bullets(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  uint64_t random = test_seed(1);
  graze_mesh *box = box_mesh(1, 1, 1), *plate = box_mesh(0.125, 20, 20);
  for (int round = test_rounds(60, 3000); round-- > 0;) {
    const double gap = 2 + random_below(&random, 40), way = 1 + random_below(&random, 100);
    const double c = 0.25 * (1 + random_below(&random, 12)), when = (gap - c) / way;
    const graze_motion_body bullet = {box, test_translation(-1.125 - gap, 0.5, 0),
                                      test_translation(-1.125 - gap + way, 0.5, 0)};
    const graze_motion_body wall = {plate, graze_pose_identity(), graze_pose_identity()};
    const graze_motion_body back = {box, bullet.end, bullet.start};
    for (int model = GRAZE_MOTION_LINEAR; model <= GRAZE_MOTION_RIGID; model++) {
      const graze_motion_result first = approach(query, &bullet, &wall, (graze_motion_model)model, c, false);
      const graze_motion_result swapped = approach(query, &wall, &bullet, (graze_motion_model)model, c, false);
      const graze_motion_result last = approach(query, &back, &wall, (graze_motion_model)model, c, true);
      const bool comes = gap - c < way;
      assert_int_equal(first.verdict, comes || gap < c ? GRAZE_MOTION_HIT : GRAZE_MOTION_FREE);
      assert_int_equal(swapped.verdict, first.verdict);
      assert_int_equal(last.verdict, first.verdict);
      if (first.verdict != GRAZE_MOTION_HIT) continue;
      const double want = fmax(when, 0);
      assert_true(first.latest >= want - 1e-15 && first.earliest <= want + 1e-15);
      assert_true(first.latest - first.earliest <= 0x1p-30);
      assert_true(last.latest >= 1 - want - 1e-15 && last.earliest <= 1 - want + 1e-15);
      assert_true(last.latest - last.earliest <= 0x1p-30);
    }
  }
  graze_mesh_destroy(box);
  graze_mesh_destroy(plate);
  graze_query_destroy(query);
}

/* Flush faces, edges and corners that slide along each other at just the distance, and a little nearer. */
static void test_slides(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  uint64_t random = test_seed(2);
  for (int round = test_rounds(60, 3000); round-- > 0;) {
    const double scale = ldexp(1, (int)random_below(&random, 21) - 10), c = scale * (1 + random_below(&random, 8));
    const double far = scale * 256 * random_below(&random, 3), nearer = 1 - 0x1p-20;
    graze_mesh *a = box_mesh(scale, 2 * scale, scale), *b = box_mesh(4 * scale, scale, 3 * scale);
    for (int model = GRAZE_MOTION_LINEAR; model <= GRAZE_MOTION_RIGID; model++) {
      for (int by = 0; by < 2; by++) {
        const double y = far + 3 * scale + c * (by == 0 ? 1 : nearer);
        const graze_motion_body moves = {a, test_translation(far - 20 * scale, y, far),
                                         test_translation(far + 20 * scale, y, far + scale)};
        const graze_motion_body stands = {b, test_translation(far, far, far), test_translation(far, far, far)};
        const graze_motion_result r = approach(query, &moves, &stands, (graze_motion_model)model, c, false);
        assert_int_equal(r.verdict, by == 0 ? GRAZE_MOTION_FREE : GRAZE_MOTION_HIT);
      }
    }
    graze_mesh_destroy(a);
    graze_mesh_destroy(b);
  }
  graze_query_destroy(query);
}

/* Two that shrink together by an eighth, about a point of the one: all that changes is the distance. */
static void test_shrinking(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  graze_mesh *box = box_mesh(1, 1, 1);
  graze_pose smaller = {{0.875, 0, 0, 0, 0, 0.875, 0, 0, 0, 0, 0.875, 0}};
  const graze_motion_body b = {box, graze_pose_identity(), smaller};
  smaller.m[3] = 3 * 0.875;
  smaller.m[7] = 0x1p-30; /* not quite together */
  const graze_motion_body a = {box, test_translation(3, 0, 0), smaller};
  for (int i = 1; i < 64; i++) {
    const double c = 1 - i / 512.0, when = i / 64.0;
    for (int swapped = 0; swapped < 2; swapped++) {
      const graze_motion_result r =
          approach(query, swapped ? &a : &b, swapped ? &b : &a, GRAZE_MOTION_LINEAR, c, false);
      assert_int_equal(r.verdict, GRAZE_MOTION_HIT);
      assert_true(r.latest >= when - 1e-12 && r.earliest <= when + 1e-12 && r.latest - r.earliest <= 0x1p-24);
    }
  }
  graze_mesh_destroy(box);
  graze_query_destroy(query);
}

/* What does not move relative to each other is decided exactly. */
static void test_rest(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  graze_mesh *box = box_mesh(1, 1, 1);
  const graze_motion_body a = {box, graze_pose_identity(), test_translation(5, 0, 0)};
  const graze_motion_body still = {box, graze_pose_identity(), graze_pose_identity()};
  const graze_motion_body b = {box, test_translation(0, 3, 0), test_translation(0, 3, 0)};
  assert_int_equal(approach(query, &still, &b, GRAZE_MOTION_LINEAR, 1, false).verdict, GRAZE_MOTION_FREE);
  assert_int_equal(approach(query, &still, &b, GRAZE_MOTION_RIGID, nextafter(1, 2), true).verdict, GRAZE_MOTION_HIT);
  assert_int_equal(approach(query, &a, &b, GRAZE_MOTION_LINEAR, nextafter(1, 2), false).verdict, GRAZE_MOTION_HIT);
  graze_mesh_destroy(box);
  graze_query_destroy(query);
}

/* ---- random motions ---- */

/* Where it is then: rigid by powers of the turn, linear by the matrices. */
static graze_pose sample_pose(const journey *j, int i, graze_motion_model model, double t) {
  if (model == GRAZE_MOTION_RIGID) return rigid_pose(j->q[i][0], j->q[i][1], j->p[i][0], j->p[i][1], t);
  graze_pose pose;
  for (int k = 0; k < 12; k++) pose.m[k] = (1 - t) * j->body[i].start.m[k] + t * j->body[i].end.m[k];
  return pose;
}

static double distance_at(graze_query *query, const journey *j, graze_motion_model model, double t) {
  const graze_pose a = sample_pose(j, 0, model, t), b = sample_pose(j, 1, model, t);
  graze_distance_result found;
  assert_int_equal(graze_mesh_distance(query, j->body[0].mesh, &a, j->body[1].mesh, &b, NULL, &found), GRAZE_OK);
  return found.nearest.distance;
}

static void expect_free(graze_query *query, const journey *j, graze_motion_model model, double c, double t) {
  if (t < 0 || t > 1) return;
  const double d = distance_at(query, j, model, t);
  if (d < c - 1e-12) fail_msg("free at %.17g: %.17g of %.17g", t, d, c);
}

/* Before the first time and after the last no sample is nearer, also close to them, and at its end a bracket has one
 * that is. */
static void check_journey(graze_query *query, const journey *j, graze_motion_model model, double c, int verdicts[3]) {
  enum { SAMPLES = 60, CLOSER = 24 };
  const graze_motion_result first = approach(query, &j->body[0], &j->body[1], model, c, false);
  const graze_motion_result last = approach(query, &j->body[0], &j->body[1], model, c, true);
  verdicts[first.verdict]++;
  assert_int_equal(first.verdict, last.verdict);
  for (int i = 0; i <= SAMPLES; i++) {
    const double t = (double)i / SAMPLES;
    if (first.verdict == GRAZE_MOTION_FREE)
      expect_free(query, j, model, c * kept, t);
    else if (t < first.earliest || t > last.latest)
      expect_free(query, j, model, c, t);
  }
  if (first.verdict == GRAZE_MOTION_FREE) return;
  for (int i = 4; i < CLOSER; i++) {
    expect_free(query, j, model, c, first.earliest - ldexp(1, -i));
    expect_free(query, j, model, c, last.latest + ldexp(1, -i));
  }
  assert_true(distance_at(query, j, model, first.latest) < c + 1e-12);
  assert_true(distance_at(query, j, model, last.earliest) < c + 1e-12);
  assert_true(first.latest - first.earliest <= 0x1p-20 && last.latest - last.earliest <= 0x1p-20);
}

static void test_against_samples(void **state) {
  (void)state;
  static double corners[9 * 8 * 64];
  graze_query *query = query_of(1);
  uint64_t random = test_seed(3);
  const uint32_t count = soup_ball(4, 1, corners);
  graze_mesh *meshes[3] = {box_mesh(1.5, 0.05, 0.4),
                           test_mesh(shared_context(1), corners, count, GRAZE_VOLUMES_ORIENTED), box_mesh(0.1, 0.1, 1)};
  int verdicts[3] = {0, 0, 0};
  const int rounds = test_rounds(200, 10000);
  for (int n = 0; n < rounds || !verdicts[GRAZE_MOTION_FREE] || !verdicts[GRAZE_MOTION_HIT]; n++) {
    assert_true(n < rounds + 1000);
    journey j;
    graze_mesh *const two[2] = {meshes[random_below(&random, 3)], meshes[random_below(&random, 3)]};
    make_journey(&random, two, &j);
    check_journey(query, &j, n % 2 ? GRAZE_MOTION_RIGID : GRAZE_MOTION_LINEAR,
                  ldexp(1.5, -(int)random_below(&random, 8)), verdicts);
  }
  assert_int_equal(verdicts[GRAZE_MOTION_UNKNOWN], 0);
  for (int i = 0; i < 3; i++) graze_mesh_destroy(meshes[i]);
  graze_query_destroy(query);
}

/* ---- scenes ---- */

static double clearance_of(double most, uint64_t a, uint64_t b) {
  return (a + b) % 3 == 0 ? 0 : most / (double)((a + b) % 3);
}

static double find_clearance(void *user, uint64_t a, uint64_t b) {
  return clearance_of(*(double *)user, a, b);
}

static double find_reach(void *user, uint64_t object) {
  (void)object;
  return *(double *)user;
}

enum { OBJECTS = 24 };

typedef struct moving { /* one step of it */
  graze_mesh *meshes[2];
  graze_pose start[OBJECTS], end[OBJECTS];
  double clearance;
} moving;

static graze_relation relate(graze_query *query, const moving *m, uint32_t a, uint32_t b, const graze_pose *poses) {
  graze_relate_result found;
  graze_distance_result gap;
  const graze_mesh *x = m->meshes[a % 2], *y = m->meshes[b % 2];
  assert_int_equal(graze_relate_meshes(query, x, &poses[a], y, &poses[b], NULL, &found), GRAZE_OK);
  if (found.verdict.relation != GRAZE_SEPARATE) return found.verdict.relation;
  assert_int_equal(graze_mesh_distance(query, x, &poses[a], y, &poses[b], NULL, &gap), GRAZE_OK);
  const double c = clearance_of(m->clearance, a, b);
  return gap.nearest.distance < c ? GRAZE_CLEARANCE : GRAZE_SEPARATE;
}

static const graze_scene_event *find_event(const graze_scene_event *list, uint64_t count, uint32_t a, uint32_t b) {
  for (uint64_t i = 0; i < count; i++) {
    if (list[i].user_id_a == a && list[i].user_id_b == b) return &list[i];
  }
  return NULL;
}

static void expect_time(const graze_scene_event *e, const graze_motion_result *want) {
  assert_non_null(e);
  assert_true(e->time[0] == want->earliest && e->time[1] == want->latest);
}

/* What the pair by itself says of a step; how many passages it has. */
static uint64_t check_pair(graze_query *query, const moving *m, uint32_t a, uint32_t b, graze_motion_model model,
                           const graze_scene_update_result *e, uint64_t counts[3]) {
  const graze_motion_body x = {m->meshes[a % 2], m->start[a], m->end[a]},
                          y = {m->meshes[b % 2], m->start[b], m->end[b]};
  const graze_relation before = relate(query, m, a, b, m->start), now = relate(query, m, a, b, m->end);
  const double c = clearance_of(m->clearance, a, b);
  const graze_scene_event *passed = find_event(e->passed, e->passed_count, a, b);
  if ((before > GRAZE_CLEARANCE) || (now > GRAZE_CLEARANCE)) {
    assert_null(passed);
    return 0;
  }
  const graze_motion_result meets = approach(query, &x, &y, model, 0, false);
  if (before != now) { /* one of them is `clearance` */
    const bool began = now == GRAZE_CLEARANCE;
    const graze_motion_result near = approach(query, &x, &y, model, c, !began);
    const graze_scene_event *list = began ? e->began : e->ended;
    if (near.verdict != GRAZE_MOTION_FREE)
      expect_time(find_event(list, began ? e->began_count : e->ended_count, a, b), &near);
    counts[0]++;
  }
  if (meets.verdict != GRAZE_MOTION_FREE) {
    expect_time(passed, &meets);
    assert_true(passed->approach == 0);
    counts[1]++;
    return 1;
  }
  graze_motion_result near = {.verdict = GRAZE_MOTION_FREE};
  if (c > 0 && before == GRAZE_SEPARATE && now == GRAZE_SEPARATE) near = approach(query, &x, &y, model, c, false);
  if (near.verdict == GRAZE_MOTION_FREE) {
    assert_null(passed);
    return 0;
  }
  expect_time(passed, &near);
  assert_true(passed->approach == c && passed->verdict.relation == GRAZE_SEPARATE);
  counts[2]++;
  return 1;
}

static void make_scene(const moving *m, graze_context *context, graze_scene **scene, graze_object_id ids[OBJECTS]) {
  assert_int_equal(graze_scene_create(context, scene), GRAZE_OK);
  for (uint32_t i = 0; i < OBJECTS; i++) {
    graze_object_def def = graze_default_object_def();
    def.mesh = m->meshes[i % 2];
    def.pose = m->start[i];
    def.user_id = i;
    assert_int_equal(graze_scene_add(*scene, &def, &ids[i]), GRAZE_OK);
  }
}

/* A third of the objects go on: anywhere at first, then shorter and shorter ways, of which earlier steps know that most
 * are free. */
static void move_on(uint64_t *random, moving *m, int step) {
  memcpy(m->start, m->end, sizeof m->end);
  for (uint32_t i = 0; i < OBJECTS; i += 3) {
    if (step == 0) m->end[i] = test_random_pose(random, 4);
    for (int k = 0; k < 3 && step > 0; k++) m->end[i].m[4 * k + 3] += ldexp(random_signed(random), 1 - step);
  }
}

/* A scene tells of every pair that comes nearer than its clearance on the way, of those that begin and cease to be as
 * near, and of those that meet, with the times that the pair by itself has. */
static void test_scenes(void **state) {
  (void)state;
  uint64_t random = test_seed(7), counts[3] = {0};
  graze_query *query = query_of(1);
  moving m = {.meshes = {box_mesh(0.5, 0.1, 0.3), box_mesh(0.2, 0.2, 0.8)}, .clearance = 0.4};
  const int rounds = test_rounds(16, 400);
  for (int round = 0; round < rounds || !counts[0] || !counts[1] || !counts[2]; round++) {
    graze_scene *scene = NULL;
    graze_object_id ids[OBJECTS];
    graze_scene_update_options options = graze_default_scene_update_options();
    graze_scene_update_result e;
    uint64_t passed = 0;
    assert_true(round < rounds + 100);
    for (uint32_t i = 0; i < OBJECTS; i++) m.start[i] = m.end[i] = test_random_pose(&random, 4);
    make_scene(&m, shared_context(1 + round % 3), &scene, ids);
    options.continuous = round % 2 ? GRAZE_MOTION_LINEAR : GRAZE_MOTION_RIGID;
    options.clearance = find_clearance;
    options.reach = find_reach;
    options.clearance_user = &m.clearance;
    assert_int_equal(graze_scene_update(scene, &options, &e), GRAZE_OK);
    for (int step = 0; step < 4; step++) {
      passed = 0;
      move_on(&random, &m, step);
      assert_int_equal(graze_scene_set_poses(scene, ids, m.end, OBJECTS), GRAZE_OK);
      assert_int_equal(graze_scene_update(scene, &options, &e), GRAZE_OK);
      for (uint32_t a = 0; a < OBJECTS; a++) {
        for (uint32_t b = a + 1; b < OBJECTS; b++) {
          if (a % 3 == 0 || b % 3 == 0) passed += check_pair(query, &m, a, b, options.continuous, &e, counts);
        }
      }
      assert_int_equal(passed, e.passed_count);
    }
    graze_scene_destroy(scene);
  }
  for (int k = 0; k < 2; k++) graze_mesh_destroy(m.meshes[k]);
  graze_query_destroy(query);
}

/* ---- what is refused ---- */

static graze_status use_memory(graze_context *context) {
  double corners[108];
  const double min[3] = {-1, -1, -1}, max[3] = {1, 1, 1};
  double clearance = 2;
  graze_scene *scene = NULL;
  graze_mesh *mesh = NULL;
  graze_mesh_def mesh_def = graze_default_mesh_def();
  graze_object_id ids[3];
  graze_scene_update_options options = graze_default_scene_update_options();
  graze_scene_update_result e = {0};
  soup_box(min, max, corners);
  mesh_def.vertices = corners;
  mesh_def.vertex_count = 36;
  mesh_def.precision = GRAZE_DOUBLE;
  options.continuous = GRAZE_MOTION_LINEAR;
  options.clearance = find_clearance;
  options.reach = find_reach;
  options.clearance_user = &clearance;
  graze_status status = graze_mesh_create(context, &mesh_def, &mesh);
  if (status == GRAZE_OK) status = graze_scene_create(context, &scene);
  for (uint32_t i = 0; i < 3 && status == GRAZE_OK; i++) {
    graze_object_def def = graze_default_object_def();
    def.mesh = mesh;
    def.pose = test_translation(10 * i, i == 0 ? 3.5 : 0, 0);
    def.user_id = i;
    status = graze_scene_add(scene, &def, &ids[i]);
  }
  if (status == GRAZE_OK) status = graze_scene_update(scene, &options, &e);
  const graze_pose behind = test_translation(20, 3.5, 0);
  if (status == GRAZE_OK) status = graze_scene_set_pose(scene, ids[0], &behind);
  if (status == GRAZE_OK) status = graze_scene_update(scene, &options, &e);
  if (status == GRAZE_OK) {
    assert_int_equal(e.passed_count, 1);
    assert_true(e.passed[0].approach == 2 && e.passed[0].user_id_b == 1);
  }
  graze_scene_destroy(scene);
  graze_mesh_destroy(mesh);
  return status;
}

static void test_memory(void **state) {
  (void)state;
  test_refuse_each(use_memory, 1000);
}

static void test_refusals(void **state) {
  (void)state;
  graze_query *query = query_of(1);
  graze_mesh *box = box_mesh(1, 1, 1);
  const graze_motion_body a = {box, graze_pose_identity(), graze_pose_identity()};
  static const double bad[] = {-1, (double)INFINITY, (double)NAN};
  for (int i = 0; i < 3; i++) {
    graze_motion_options options = graze_default_motion_options();
    graze_motion_result r;
    options.separation = bad[i];
    assert_int_equal(graze_motion_meshes(query, &a, &a, &options, &r), GRAZE_ERROR_ARGUMENT);
    assert_string_equal(shared_error()->message, "the separation is not a finite number of 0 or more");
  }
  assert_int_equal(approach(query, &a, &a, GRAZE_MOTION_LINEAR, DBL_MAX, false).verdict, GRAZE_MOTION_HIT);
  graze_mesh_destroy(box);
  graze_query_destroy(query);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bullets),         cmocka_unit_test(test_slides),
                                     cmocka_unit_test(test_shrinking),       cmocka_unit_test(test_rest),
                                     cmocka_unit_test(test_against_samples), cmocka_unit_test(test_scenes),
                                     cmocka_unit_test(test_memory),          cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
