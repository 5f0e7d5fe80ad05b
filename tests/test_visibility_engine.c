/* Visibility as the engine of a context: scenes are answered as without it, at any resolution, and pairs that are apart
 * are not looked at again. */
#include <string.h>

#include "families.h"
#include "graze/visibility.h"
#include "support.h"

enum { OBJECTS = 40, MOST_PAIRS = OBJECTS * OBJECTS / 2 };

typedef struct answer {
  graze_object_pair pairs[MOST_PAIRS];
  graze_scene_check_result result;
} answer;

static struct setup {
  graze_context *context, *plain;
  graze_visibility *visibility;
  graze_mesh *meshes[2][2]; /* of either context: a ball and a soup */
} on;

static int set_up(void **state) {
  static double ball[9 * 8 * 5 * 5], soup[9 * 64];
  uint64_t random = 9;
  (void)state;
  const uint32_t count = soup_ball(5, 1, ball);
  for (int i = 0; i < 9 * 64; i++) soup[i] = (i % 9 < 3 ? 0 : soup[i - i % 9 + i % 3]) + random_signed(&random) * 0.8;
  on.context = test_context(3, NULL);
  on.plain = test_context(3, NULL);
  for (int c = 0; c < 2; c++) {
    graze_context *context = c == 0 ? on.context : on.plain;
    on.meshes[c][0] = test_mesh(context, ball, count, GRAZE_VOLUMES_ORIENTED);
    on.meshes[c][1] = test_mesh(context, soup, 64, GRAZE_VOLUMES_ALIGNED);
  }
  return graze_visibility_create(on.context, GRAZE_VISIBILITY_REFERENCE, &on.visibility) != GRAZE_OK;
}

static int tear_down(void **state) {
  (void)state;
  graze_visibility_destroy(on.visibility);
  for (int c = 0; c < 4; c++) graze_mesh_destroy(on.meshes[c / 2][c % 2]);
  graze_context_destroy(on.context);
  graze_context_destroy(on.plain);
  return 0;
}

/* The same objects in either context: balls in balls, flush ones, soups, far away from the origin. */
static graze_scene *make_scene(int which, double far_away, uint64_t random, graze_object_id *ids) {
  graze_scene *scene = NULL;
  assert_int_equal(graze_scene_create(which == 0 ? on.context : on.plain, &scene), GRAZE_OK);
  for (int i = 0; i < OBJECTS; i++) {
    graze_object_def def = graze_default_object_def();
    const double size = i % 5 == 0 ? 0.25 : 1;
    double at[3];
    for (int k = 0; k < 3; k++)
      at[k] = far_away + (i % 3 == 0 ? (double)random_below(&random, 5) : 5 * random_unit(&random));
    def.mesh = on.meshes[which][i % 4 == 3];
    def.user_id = (uint64_t)i;
    def.pose = test_translation(at[0], at[1], at[2]);
    for (int k = 0; k < 3; k++) def.pose.m[5 * k] = size;
    assert_int_equal(graze_scene_add(scene, &def, &ids[i]), GRAZE_OK);
  }
  return scene;
}

static void ask(graze_scene *scene, graze_find find, graze_exactness exactness, answer *to) {
  graze_scene_check_options options = graze_default_scene_check_options();
  options.find = find;
  options.exactness = exactness;
  memset(to, 0, sizeof *to);
  assert_int_equal(graze_scene_check(scene, &options, &to->result), GRAZE_OK);
  assert_true(to->result.pair_count <= MOST_PAIRS);
  memcpy(to->pairs, to->result.pairs, to->result.pair_count * sizeof to->pairs[0]);
}

static void compare(const answer *a, const answer *b) {
  assert_int_equal(a->result.pair_count, b->result.pair_count);
  assert_int_equal(a->result.candidate_pairs, b->result.candidate_pairs);
  assert_memory_equal(a->result.relations, b->result.relations, sizeof a->result.relations);
  for (uint64_t i = 0; i < a->result.pair_count; i++) {
    assert_true(a->pairs[i].user_id_a == b->pairs[i].user_id_a && a->pairs[i].user_id_b == b->pairs[i].user_id_b);
    assert_true(a->pairs[i].verdict.relation == b->pairs[i].verdict.relation);
    assert_memory_equal(&a->pairs[i].counts, &b->pairs[i].counts, sizeof a->pairs[i].counts);
    assert_true((a->pairs[i].pairs == NULL) == (b->pairs[i].pairs == NULL));
    if (a->pairs[i].pairs != NULL) /* the scenes' own */
      test_assert_pairs(a->pairs[i].pairs, b->pairs[i].pairs, a->pairs[i].counts.triangle_pairs);
  }
}

static void test_same_answers(void **state) {
  static const uint32_t resolutions[] = {1, 3, 32, 128};
  static answer plain, drawn;
  uint64_t random = test_seed(0), less = 0;
  (void)state;
  for (int round = 0; round < test_rounds(8, 400); round++) {
    graze_object_id ids[2][OBJECTS];
    const double far_away = round % 4 == 3 ? 1e6 : 0;
    graze_scene *scenes[2] = {make_scene(0, far_away, random, ids[0]), make_scene(1, far_away, random, ids[1])};
    graze_visibility_def def = graze_default_visibility_def();
    def.resolution = resolutions[round % 4];
    def.mode = round % 3 == 2 ? GRAZE_VISIBILITY_RCULLIDE : GRAZE_VISIBILITY_CLOSE;
    def.level = round % 5 == 4 ? GRAZE_VISIBILITY_OBJECTS : GRAZE_VISIBILITY_TRIANGLES;
    assert_int_equal(graze_visibility_attach(on.visibility, &def), GRAZE_OK);
    const uint64_t before = graze_visibility_get_answered(on.visibility);
    for (int find = GRAZE_FIND_ALL; find <= GRAZE_FIND_ANY; find++) {
      ask(scenes[0], (graze_find)find, GRAZE_T1, &drawn);
      ask(scenes[1], (graze_find)find, GRAZE_T1, &plain);
      compare(&plain, &drawn);
    }
    /* Each thread may have asked of a mesh, once, whether it meets itself. */
    const uint64_t answered = graze_visibility_get_answered(on.visibility);
    assert_true(answered >= before + 3);
    less += drawn.result.work.node_pairs < plain.result.work.node_pairs;
    ask(scenes[0], GRAZE_FIND_COUNT, GRAZE_T2, &drawn); /* the processor's */
    ask(scenes[1], GRAZE_FIND_COUNT, GRAZE_T2, &plain);
    compare(&plain, &drawn);
    assert_true(graze_visibility_get_answered(on.visibility) == answered);
    for (int s = 0; s < 2; s++) graze_scene_destroy(scenes[s]);
    random_below(&random, 2);
  }
  assert_true(less > 0);
}

static void test_updates(void **state) {
  graze_object_id ids[2][OBJECTS];
  uint64_t random = test_seed(1);
  (void)state;
  graze_scene *scenes[2] = {make_scene(0, 0, 5, ids[0]), make_scene(1, 0, 5, ids[1])};
  assert_int_equal(graze_visibility_attach(on.visibility, NULL), GRAZE_OK);
  for (int step = 0; step < 20; step++) {
    graze_scene_update_result results[2];
    const graze_pose pose =
        test_translation(5 * random_unit(&random), 5 * random_unit(&random), 5 * random_unit(&random));
    for (int s = 0; s < 2; s++) {
      assert_int_equal(graze_scene_set_pose(scenes[s], ids[s][step], &pose), GRAZE_OK);
      assert_int_equal(graze_scene_update(scenes[s], NULL, &results[s]), GRAZE_OK);
    }
    assert_true(results[0].hash == results[1].hash);
  }
  for (int s = 0; s < 2; s++) graze_scene_destroy(scenes[s]);
}

/* Methods that lose pairs are no engine; a detached one is asked no more. */
static void test_attach(void **state) {
  static answer drawn;
  graze_object_id ids[OBJECTS];
  graze_visibility_def def = graze_default_visibility_def();
  (void)state;
  for (int mode = GRAZE_VISIBILITY_CULLIDE; mode <= GRAZE_VISIBILITY_QCULLIDE; mode++) {
    def.mode = (graze_visibility_mode)mode;
    assert_int_equal(graze_visibility_attach(on.visibility, &def),
                     mode == GRAZE_VISIBILITY_RCULLIDE ? GRAZE_OK : GRAZE_ERROR_ARGUMENT);
  }
  assert_int_equal(graze_visibility_attach(NULL, NULL), GRAZE_ERROR_ARGUMENT);
  graze_visibility_detach(on.visibility);
  graze_visibility_detach(on.visibility);
  graze_scene *scene = make_scene(0, 0, 5, ids);
  ask(scene, GRAZE_FIND_COUNT, GRAZE_T1, &drawn);
  assert_int_equal(graze_visibility_get_answered(on.visibility), 0);
  graze_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_answers), cmocka_unit_test(test_updates),
                                     cmocka_unit_test(test_attach)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
