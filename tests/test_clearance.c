/* Clearances in scenes: every pair against the relation and the distance of its two meshes alone, with clearances that
 * differ from pair to pair, at the distance and beside it; what touches, crosses and contains stays; threads, changes
 * of the clearance, and updates afterwards. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "graze/distance.h"
#include "support.h"

enum { OBJECTS = 24, KINDS = 4 };

typedef struct yard {
  graze_context *context;
  graze_scene *scene;
  graze_query *query;
  graze_mesh *meshes[KINDS];
  graze_object_id ids[OBJECTS];
  int mesh[OBJECTS];
  graze_pose pose[OBJECTS];
  double length[OBJECTS][OBJECTS]; /* clearances */
  double grown;                    /* by which all reaches are larger than they have to be */
} yard;

static void open_yard(yard *y, int threads) {
  static double corners[9 * 600];
  memset(y, 0, sizeof *y);
  y->context = test_context(threads, NULL);
  assert_int_equal(graze_scene_create(y->context, &y->scene), GRAZE_OK);
  assert_int_equal(graze_query_create(y->context, &y->query), GRAZE_OK);
  soup_box((double[3]){0, 0, 0}, (double[3]){1, 1, 1}, corners);
  y->meshes[0] = test_mesh(y->context, corners, 12, GRAZE_VOLUMES_ORIENTED);
  y->meshes[1] = test_mesh(y->context, corners, soup_ball(4, 0.5, corners), GRAZE_VOLUMES_ORIENTED);
  soup_box((double[3]){0, 0, 0}, (double[3]){4, 4, 4}, corners); /* with a cavity */
  soup_box((double[3]){0.5, 0.5, 0.5}, (double[3]){3.5, 3.5, 3.5}, corners + 108);
  for (int i = 108; i < 216; i += 9) {
    for (int k = 0; k < 3; k++) {
      double x = corners[i + 3 + k];
      corners[i + 3 + k] = corners[i + 6 + k];
      corners[i + 6 + k] = x;
    }
  }
  y->meshes[2] = test_mesh(y->context, corners, 24, GRAZE_VOLUMES_ORIENTED);
  soup_box((double[3]){0, 0, 0}, (double[3]){3, 3, 3}, corners);
  y->meshes[3] = test_mesh(y->context, corners, 10, GRAZE_VOLUMES_ORIENTED); /* open */
}

static void close_yard(yard *y) {
  graze_scene_destroy(y->scene);
  graze_query_destroy(y->query);
  for (int i = 0; i < KINDS; i++) graze_mesh_destroy(y->meshes[i]);
  graze_context_destroy(y->context);
}

static void fill_yard(yard *y, uint64_t *state) {
  for (int i = 0; i < OBJECTS; i++) {
    graze_object_def def = graze_default_object_def();
    y->mesh[i] = (int)random_below(state, KINDS);
    y->pose[i] = i % 2 == 0 ? test_random_pose(state, 4)
                            : test_translation(0.25 * random_below(state, 33), 0.25 * random_below(state, 33), 0.25);
    def.mesh = y->meshes[y->mesh[i]];
    def.pose = y->pose[i];
    def.user_id = (uint64_t)i;
    assert_int_equal(graze_scene_add(y->scene, &def, &y->ids[i]), GRAZE_OK);
  }
}

static double clearance_of(void *user, uint64_t a, uint64_t b) {
  const yard *y = user;
  assert_true(a < b);
  return y->length[a][b];
}

static double reach_of(void *user, uint64_t object) {
  const yard *y = user;
  double most = 0;
  for (int i = 0; i < OBJECTS; i++) most = fmax(most, fmax(y->length[i][object], y->length[object][i]));
  return most + y->grown;
}

static graze_scene_check_options options_of(yard *y, graze_find find) {
  graze_scene_check_options options = graze_default_scene_check_options();
  options.find = find;
  options.all_pairs = true;
  options.clearance = clearance_of;
  options.reach = reach_of;
  options.clearance_user = y;
  return options;
}

static graze_distance_result distance_of(const yard *y, uint64_t a, uint64_t b, double limit) {
  graze_distance_options options = graze_default_distance_options();
  graze_distance_result r;
  options.limit = limit;
  if (isfinite(limit)) options.near_pairs = GRAZE_FIND_COUNT;
  assert_int_equal(graze_mesh_distance(y->query, y->meshes[y->mesh[a]], &y->pose[a], y->meshes[y->mesh[b]], &y->pose[b],
                                       &options, &r),
                   GRAZE_OK);
  return r;
}

static graze_relation relation_of(const yard *y, uint64_t a, uint64_t b) {
  graze_relate_result r;
  assert_int_equal(
      graze_relate_meshes(y->query, y->meshes[y->mesh[a]], &y->pose[a], y->meshes[y->mesh[b]], &y->pose[b], NULL, &r),
      GRAZE_OK);
  return r.verdict.relation;
}

static uint64_t of[GRAZE_UNKNOWN + 1];

static void check_pair(const yard *y, const graze_object_pair *p, bool counted) {
  graze_relation plain = relation_of(y, p->user_id_a, p->user_id_b), want = plain;
  double length = y->length[p->user_id_a][p->user_id_b];
  graze_distance_result d = distance_of(y, p->user_id_a, p->user_id_b, length);
  if (plain == GRAZE_SEPARATE && d.found) want = GRAZE_CLEARANCE;
  bool gap = d.found && (plain == GRAZE_SEPARATE || plain == GRAZE_UNKNOWN);
  if (p->verdict.relation != want || p->gap.found != gap) {
    fail_msg("objects %d and %d: %s, want %s", (int)p->user_id_a, (int)p->user_id_b,
             graze_relation_string(p->verdict.relation), graze_relation_string(want));
  }
  of[want]++;
  if (!gap) return;
  assert_true(p->gap.distance == d.nearest.distance && p->gap.clearance == length);
  assert_memory_equal(p->gap.points, d.nearest.points, sizeof p->gap.points);
  assert_true(p->gap.near_pairs == (counted ? d.near_pairs : 0) && p->gap.near_hash == (counted ? d.near_hash : 0));
}

static void check_yard(yard *y, graze_find find) {
  graze_scene_check_options options = options_of(y, find);
  graze_scene_check_result r;
  assert_int_equal(graze_scene_check(y->scene, &options, &r), GRAZE_OK);
  assert_int_equal(r.pair_count, OBJECTS * (OBJECTS - 1) / 2);
  uint64_t clashes = 0;
  for (uint64_t i = 0; i < r.pair_count; i++) {
    check_pair(y, &r.pairs[i], find == GRAZE_FIND_ALL);
    clashes += r.pairs[i].verdict.relation != GRAZE_SEPARATE;
  }
  assert_int_equal(r.clashes, clashes);
}

/* Clearances of a pair: none, its distance and the doubles beside it, or any. */
static void choose_lengths(yard *y, uint64_t *state) {
  for (uint64_t a = 0; a < OBJECTS; a++) {
    for (uint64_t b = a + 1; b < OBJECTS; b++) {
      double d = distance_of(y, a, b, (double)INFINITY).nearest.distance;
      const double lengths[6] = {0, d, nextafter(d, 0), nextafter(d, 1e300), 0.5, random_unit(state)};
      y->length[a][b] = fmin(lengths[random_below(state, 6)], 2);
    }
  }
}

static void test_pairs(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1000);
  for (int i = 0; i < test_rounds(6, 300); i++) {
    yard y;
    open_yard(&y, 1 + i % 3);
    fill_yard(&y, &state);
    choose_lengths(&y, &state);
    check_yard(&y, i % 2 == 0 ? GRAZE_FIND_COUNT : GRAZE_FIND_ALL);
    y.grown = 1;
    check_yard(&y, GRAZE_FIND_COUNT);
    close_yard(&y);
  }
  assert_true(of[GRAZE_CLEARANCE] > 0 && of[GRAZE_SEPARATE] > 0 && of[GRAZE_CROSS] > 0);
}

/* In a cavity the gap is that to the wall; objects that are inside solids, touch or cross have none. */
static void test_what_stays(void **unused) {
  (void)unused;
  yard y;
  graze_object_def def = graze_default_object_def();
  graze_scene_check_result r;
  open_yard(&y, 1);
  const graze_pose poses[5] = {graze_pose_identity(), test_translation(0.75, 1, 1), test_translation(4, 0, 0),
                               test_translation(5.25, 0, 0), test_translation(5.5, 0.25, 0)};
  const int kinds[5] = {2, 0, 0, 0, 0};
  for (int i = 0; i < 5; i++) {
    def.mesh = y.meshes[kinds[i]];
    def.pose = poses[i];
    def.user_id = (uint64_t)i;
    assert_int_equal(graze_scene_add(y.scene, &def, &y.ids[i]), GRAZE_OK);
  }
  for (int a = 0; a < 5; a++) {
    for (int b = 0; b < 5; b++) y.length[a][b] = 0.3;
  }
  graze_scene_check_options options = options_of(&y, GRAZE_FIND_COUNT);
  assert_int_equal(graze_scene_check(y.scene, &options, &r), GRAZE_OK);
  assert_int_equal(r.clashes, 4);
  static const graze_relation want[10] = {GRAZE_CLEARANCE, GRAZE_TOUCH,    GRAZE_SEPARATE, GRAZE_SEPARATE,
                                          GRAZE_SEPARATE,  GRAZE_SEPARATE, GRAZE_SEPARATE, GRAZE_CLEARANCE,
                                          GRAZE_SEPARATE,  GRAZE_CROSS};
  for (int i = 0; i < 10; i++) assert_int_equal(r.pairs[i].verdict.relation, want[i]);
  assert_true(r.pairs[0].gap.distance == 0.25 && r.pairs[7].gap.distance == 0.25 && !r.pairs[1].gap.found);
  options.all_pairs = false;
  options.outlines = true;
  assert_int_equal(graze_scene_check(y.scene, &options, &r), GRAZE_OK);
  assert_int_equal(r.pair_count, 4);
  assert_null(r.pairs[0].outline.starts);
  close_yard(&y);
}

/* What may lie in an open box: unknown, with its gap. */
static void test_unknown(void **unused) {
  (void)unused;
  yard y;
  graze_object_def def = graze_default_object_def();
  graze_scene_check_result r;
  open_yard(&y, 1);
  for (int i = 0; i < 2; i++) {
    def.mesh = y.meshes[i == 0 ? 3 : 0];
    if (i == 1) def.pose = test_translation(0.25, 1, 1);
    def.user_id = (uint64_t)i;
    assert_int_equal(graze_scene_add(y.scene, &def, &y.ids[i]), GRAZE_OK);
  }
  y.length[0][1] = 0.3;
  graze_scene_check_options options = options_of(&y, GRAZE_FIND_ALL);
  assert_int_equal(graze_scene_check(y.scene, &options, &r), GRAZE_OK);
  assert_int_equal(r.pairs[0].verdict.relation, GRAZE_UNKNOWN);
  assert_true(r.pairs[0].gap.found && r.pairs[0].gap.distance == 0.25 && r.pairs[0].gap.near_pairs > 0);
  close_yard(&y);
}

/* A check without clearances after one with them, and an update, know nothing of them. */
static void test_forgotten(void **unused) {
  (void)unused;
  yard y;
  uint64_t state = test_seed(1010);
  open_yard(&y, 2);
  fill_yard(&y, &state);
  graze_scene_check_result plain, r;
  graze_scene_update_result u;
  assert_int_equal(graze_scene_check(y.scene, NULL, &plain), GRAZE_OK);
  for (int a = 0; a < OBJECTS; a++) {
    for (int b = 0; b < OBJECTS; b++) y.length[a][b] = 1;
  }
  graze_scene_check_options options = options_of(&y, GRAZE_FIND_COUNT);
  options.all_pairs = false;
  assert_int_equal(graze_scene_check(y.scene, &options, &r), GRAZE_OK);
  assert_true(r.candidate_pairs > plain.candidate_pairs && r.relations[GRAZE_CLEARANCE] > 0);
  assert_int_equal(graze_scene_update(y.scene, NULL, &u), GRAZE_OK);
  assert_true(u.candidate_pairs == plain.candidate_pairs && u.began_count == plain.clashes);
  assert_int_equal(graze_scene_check(y.scene, &options, &r), GRAZE_OK);
  assert_int_equal(graze_scene_check(y.scene, NULL, &r), GRAZE_OK);
  assert_true(r.candidate_pairs == plain.candidate_pairs && r.clashes == plain.clashes);
  assert_int_equal(graze_scene_update(y.scene, NULL, &u), GRAZE_OK);
  assert_true(u.began_count == 0 && u.ended_count == 0);
  close_yard(&y);
}

static double bad_length;
static double bad_clearance(void *user, uint64_t a, uint64_t b) {
  (void)user, (void)a, (void)b;
  return bad_length;
}

static void test_errors(void **unused) {
  (void)unused;
  yard y;
  uint64_t state = 4;
  graze_scene_check_result r;
  open_yard(&y, 1);
  fill_yard(&y, &state);
  graze_scene_check_options options = options_of(&y, GRAZE_FIND_COUNT);
  options.reach = NULL;
  assert_int_equal(graze_scene_check(y.scene, &options, &r), GRAZE_ERROR_ARGUMENT);
  options.reach = reach_of;
  for (int i = 0; i < 3; i++) {
    const double bad[3] = {-1, (double)NAN, (double)INFINITY};
    y.grown = bad[i];
    assert_int_equal(graze_scene_check(y.scene, &options, &r), GRAZE_ERROR_ARGUMENT);
  }
  y.grown = 1;
  options.clearance = bad_clearance;
  for (int i = 0; i < 3; i++) {
    const double bad[3] = {-1, (double)NAN, 1.5};
    bad_length = bad[i];
    assert_int_equal(graze_scene_check(y.scene, &options, &r), GRAZE_ERROR_ARGUMENT);
  }
  bad_length = 1;
  assert_int_equal(graze_scene_check(y.scene, &options, &r), GRAZE_OK);
  close_yard(&y);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pairs),     cmocka_unit_test(test_what_stays), cmocka_unit_test(test_unknown),
      cmocka_unit_test(test_forgotten), cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
