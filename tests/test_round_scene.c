/* Balls and capsules as objects of scenes: every pair as graze_round_relate and graze_round_distance have it alone, for
 * any number of threads, in checks and in updates, with clearances; ways out are proved; snapshots and records keep
 * radii; what cannot be done is refused by the name of the object. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "families.h"
#include "support.h"

enum { OBJECTS = 28, MESHES = 6 };

typedef struct yard {
  graze_context *context;
  graze_scene *scene;
  graze_query *query;
  graze_mesh *meshes[MESHES]; /* the last three are cores */
  graze_object_id ids[OBJECTS];
  int mesh[OBJECTS];
  double radius[OBJECTS];
  bool flat[OBJECTS];
  graze_pose pose[OBJECTS];
} yard;

static void open_yard(yard *y, int threads) {
  static double corners[9 * 600];
  static const double ends[3][2][3] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, -1}, {0, 0, 1}}, {{0, 0, 0}, {3, 0, 0}}};
  memset(y, 0, sizeof *y);
  y->context = test_context(threads, NULL);
  assert_int_equal(graze_scene_create(y->context, &y->scene), GRAZE_OK);
  assert_int_equal(graze_query_create(y->context, &y->query), GRAZE_OK);
  soup_box((double[3]){0, 0, 0}, (double[3]){2, 2, 2}, corners);
  y->meshes[0] = test_mesh(y->context, corners, 12, GRAZE_VOLUMES_ORIENTED);
  y->meshes[1] = test_mesh(y->context, corners, 10, GRAZE_VOLUMES_ORIENTED); /* open */
  y->meshes[2] = test_mesh(y->context, corners, soup_ball(4, 1.5, corners), GRAZE_VOLUMES_ORIENTED);
  for (int i = 0; i < 3; i++)
    assert_int_equal(graze_round_create_core(y->context, ends[i], &y->meshes[3 + i]), GRAZE_OK);
}

static void close_yard(yard *y) {
  graze_scene_destroy(y->scene);
  graze_query_destroy(y->query);
  for (int i = 0; i < MESHES; i++) graze_mesh_destroy(y->meshes[i]);
  graze_context_destroy(y->context);
}

static graze_pose some_pose(uint64_t *state, int i) {
  if (i % 2 == 0) return test_random_pose(state, 4);
  return test_translation(0.5 * random_below(state, 17), 0.5 * random_below(state, 17), 1);
}

static void fill_yard(yard *y, uint64_t *state, bool flats) {
  char name[16];
  for (int i = 0; i < OBJECTS; i++) {
    graze_object_def def = graze_default_object_def(), got;
    y->mesh[i] = (int)random_below(state, MESHES);
    y->radius[i] = y->mesh[i] < 3 ? 0 : 0.25 * (1 + random_below(state, 8));
    y->pose[i] = some_pose(state, i);
    snprintf(name, sizeof name, "object %d", i);
    def.mesh = y->meshes[y->mesh[i]];
    def.radius = y->radius[i];
    def.flat = y->flat[i] = flats && y->mesh[i] > 3 && random_below(state, 2) == 0;
    def.pose = y->pose[i];
    def.user_id = (uint64_t)i;
    def.name = name;
    assert_int_equal(graze_scene_add(y->scene, &def, &y->ids[i]), GRAZE_OK);
    assert_int_equal(graze_scene_get_object(y->scene, y->ids[i], &got), GRAZE_OK);
    assert_true(got.radius == y->radius[i] && got.flat == y->flat[i]);
  }
}

static graze_round_side side_of(const yard *y, int i) {
  return (graze_round_side){y->meshes[y->mesh[i]], &y->pose[i], y->radius[i], y->flat[i]};
}

static const double CLEARANCE = 0.75;

static double clearance_of(void *user, uint64_t a, uint64_t b) {
  (void)user, (void)a, (void)b;
  return CLEARANCE;
}

static double reach_of(void *user, uint64_t object) {
  (void)user, (void)object;
  return CLEARANCE;
}

/* What a pair has to be, asked alone. */
static void check_pair(const yard *y, const graze_object_pair *pair, bool clear) {
  const graze_round_side a = side_of(y, (int)pair->user_id_a), b = side_of(y, (int)pair->user_id_b);
  graze_relate_result r;
  graze_distance_result d;
  graze_distance_options options = graze_default_distance_options();
  assert_int_equal(graze_round_relate(y->query, &a, &b, NULL, &r), GRAZE_OK);
  test_assert_counts(&pair->counts, &r.counts);
  test_assert_pairs(pair->pairs, r.pairs, r.counts.triangle_pairs);
  graze_relation wanted = r.verdict.relation;
  options.limit = CLEARANCE;
  options.near_pairs = GRAZE_FIND_COUNT;
  if (clear) assert_int_equal(graze_round_distance(y->query, &a, &b, &options, &d), GRAZE_OK);
  if (clear && d.found && wanted == GRAZE_SEPARATE) wanted = GRAZE_CLEARANCE;
  assert_int_equal(pair->verdict.relation, wanted);
  if (wanted != GRAZE_CLEARANCE) return;
  assert_true(pair->gap.found && pair->gap.distance == d.nearest.distance);
  assert_true(pair->gap.near_pairs == d.near_pairs && pair->gap.near_hash == d.near_hash);
}

/* Its point is in the box, and the way out of what crosses leads out. */
static void check_outline(const yard *y, const graze_object_pair *pair) {
  const graze_outline *o = &pair->outline;
  if (pair->verdict.relation <= GRAZE_CLEARANCE) return;
  for (int k = 0; k < 3; k++) assert_true(o->point[k] >= o->box.min[k] - 1e-12 && o->point[k] <= o->box.max[k] + 1e-12);
  if (pair->verdict.relation != GRAZE_CROSS || y->radius[pair->user_id_a] + y->radius[pair->user_id_b] == 0) return;
  assert_true(o->proved && o->depth > 0);
  const graze_round_side a = side_of(y, (int)pair->user_id_a);
  graze_round_side b = side_of(y, (int)pair->user_id_b);
  graze_pose moved = *b.pose;
  double square = 0;
  graze_relate_result r;
  for (int k = 0; k < 3; k++) moved.m[4 * k + 3] += o->translation[k];
  for (int k = 0; k < 3; k++) square += o->translation[k] * o->translation[k];
  assert_true(sqrt(square) <= o->depth * (1 + 1e-15));
  b.pose = &moved;
  assert_int_equal(graze_round_relate(y->query, &a, &b, NULL, &r), GRAZE_OK);
  assert_true(r.verdict.relation == GRAZE_SEPARATE || r.verdict.relation == GRAZE_TOUCH);
}

static uint64_t hash_of(const graze_scene_check_result *result) {
  uint64_t hash = 0;
  for (uint64_t i = 0; i < result->pair_count; i++) {
    const graze_object_pair *p = &result->pairs[i];
    hash += graze_scene_hash_pair((uint32_t)p->user_id_a, (uint32_t)p->user_id_b, p->verdict.relation, &p->counts);
  }
  return hash;
}

static void test_checks(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1);
  for (int round = 0; round < test_rounds(6, 200); round++) {
    yard y;
    const bool clear = round % 2 == 1;
    graze_scene_check_options options = graze_default_scene_check_options();
    graze_scene_check_result result;
    open_yard(&y, round % 3 == 0 ? 4 : 1);
    fill_yard(&y, &state, !clear);
    options.find = GRAZE_FIND_ALL;
    options.all_pairs = options.outlines = true;
    options.clearance = clear ? clearance_of : NULL;
    options.reach = clear ? reach_of : NULL;
    assert_int_equal(graze_scene_check(y.scene, &options, &result), GRAZE_OK);
    assert_int_equal(result.pair_count, OBJECTS * (OBJECTS - 1) / 2);
    for (uint64_t i = 0; i < result.pair_count; i++) {
      check_pair(&y, &result.pairs[i], clear);
      check_outline(&y, &result.pairs[i]);
    }
    const uint64_t hash = hash_of(&result);
    options.find = GRAZE_FIND_COUNT;
    options.outlines = false;
    assert_int_equal(graze_scene_check(y.scene, &options, &result), GRAZE_OK);
    assert_int_equal(hash_of(&result), hash);
    options.find = GRAZE_FIND_ANY; /* which pairs meet */
    options.clearance = NULL;
    options.reach = NULL;
    assert_int_equal(graze_scene_check(y.scene, &options, &result), GRAZE_OK);
    for (uint64_t i = 0; i < result.pair_count; i++) {
      const graze_round_side a = side_of(&y, (int)result.pairs[i].user_id_a);
      const graze_round_side b = side_of(&y, (int)result.pairs[i].user_id_b);
      graze_relate_result r;
      assert_int_equal(graze_round_relate(y.query, &a, &b, NULL, &r), GRAZE_OK);
      assert_int_equal(result.pairs[i].verdict.relation != GRAZE_SEPARATE, r.counts.triangle_pairs > 0);
    }
    close_yard(&y);
  }
}

/* What an update says is what a check of the same scene says; saved, loaded and replayed scenes say it again. */
static void test_updates(void **unused) {
  (void)unused;
  uint64_t state = test_seed(2);
  yard y;
  char path[] = "/tmp/graze_round_XXXXXX", saved[64];
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  snprintf(saved, sizeof saved, "%s.scene", path);
  open_yard(&y, 1);
  fill_yard(&y, &state, true);
  assert_int_equal(graze_scene_record(y.scene, path), GRAZE_OK);
  const int steps = 6;
  uint64_t hashes[6];
  for (int step = 0; step < steps; step++) {
    graze_scene_check_options all = graze_default_scene_check_options();
    graze_scene_check_result result;
    graze_scene_update_result events;
    for (int i = step; i < OBJECTS && step > 0; i += 3) {
      y.pose[i] = some_pose(&state, i);
      assert_int_equal(graze_scene_set_pose(y.scene, y.ids[i], &y.pose[i]), GRAZE_OK);
    }
    if (step == 3) { /* one goes, and comes back as the last */
      graze_object_def def = graze_default_object_def();
      def.mesh = y.meshes[5];
      def.radius = 1;
      def.flat = true;
      def.user_id = OBJECTS;
      assert_int_equal(graze_scene_remove(y.scene, y.ids[0]), GRAZE_OK);
      assert_int_equal(graze_scene_add(y.scene, &def, &y.ids[0]), GRAZE_OK);
    }
    assert_int_equal(graze_scene_update(y.scene, NULL, &events), GRAZE_OK);
    hashes[step] = events.hash;
    if (step >= 3) continue; /* ranks are not user ids any more */
    assert_int_equal(graze_scene_check(y.scene, &all, &result), GRAZE_OK);
    assert_int_equal(hash_of(&result), events.hash);
  }
  graze_scene *loaded;
  graze_scene_update_result events;
  assert_int_equal(graze_scene_save(y.scene, saved), GRAZE_OK);
  assert_int_equal(graze_scene_record_end(y.scene), GRAZE_OK);
  assert_int_equal(graze_scene_load(y.context, saved, &loaded), GRAZE_OK);
  assert_int_equal(graze_scene_update(loaded, NULL, &events), GRAZE_OK);
  assert_int_equal(events.hash, hashes[steps - 1]);
  graze_scene_destroy(loaded);
  graze_replay *replay;
  assert_int_equal(graze_replay_open(y.context, path, &replay), GRAZE_OK);
  for (int step = 0; step < steps; step++) {
    graze_replay_step told;
    assert_int_equal(graze_replay_next(replay, &events, &told), GRAZE_OK);
    assert_true(told.same && told.hash == hashes[step]);
  }
  graze_replay_close(replay);
  unlink(path);
  unlink(saved);
  close_yard(&y);
}

static void test_refused(void **unused) {
  (void)unused;
  yard y;
  open_yard(&y, 1);
  graze_object_def def = graze_default_object_def();
  graze_mesh_source source = {0};
  def.mesh = y.meshes[0]; /* a box has no core */
  def.radius = 1;
  assert_int_equal(graze_scene_add(y.scene, &def, NULL), GRAZE_ERROR_ARGUMENT);
  def.mesh = y.meshes[3];
  def.radius = -1;
  assert_int_equal(graze_scene_add(y.scene, &def, NULL), GRAZE_ERROR_ARGUMENT);
  def.radius = (double)INFINITY;
  assert_int_equal(graze_scene_add(y.scene, &def, NULL), GRAZE_ERROR_ARGUMENT);
  def.radius = 1; /* a ball has no ends */
  def.flat = true;
  assert_int_equal(graze_scene_add(y.scene, &def, NULL), GRAZE_ERROR_ARGUMENT);
  def.flat = false;
  def.mesh = NULL;
  def.source = &source;
  def.radius = 1;
  assert_int_equal(graze_scene_add(y.scene, &def, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_scene_object_count(y.scene), 0);
  def.source = NULL;
  def.mesh = y.meshes[3];
  def.name = "the ball";
  assert_int_equal(graze_scene_add(y.scene, &def, NULL), GRAZE_OK);
  graze_scene_update_options options = graze_default_scene_update_options();
  graze_scene_update_result events;
  options.continuous = GRAZE_MOTION_RIGID;
  assert_int_equal(graze_scene_update(y.scene, &options, &events), GRAZE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(graze_last_error(y.context)->message, "\"the ball\""));
  options.continuous = GRAZE_MOTION_STEPS;
  assert_int_equal(graze_scene_update(y.scene, &options, &events), GRAZE_OK);
  assert_int_equal(graze_scene_add(y.scene, &def, NULL), GRAZE_OK); /* beside itself, and then its core is a triangle */
  const double proper[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  assert_int_equal(graze_mesh_refit(y.meshes[3], proper, 0), GRAZE_OK);
  assert_int_equal(graze_scene_update(y.scene, &options, &events), GRAZE_ERROR_ARGUMENT);
  assert_non_null(strstr(graze_last_error(y.context)->message, "\"the ball\""));
  close_yard(&y);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checks),
      cmocka_unit_test(test_updates),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
