/* An engine that marks pairs of objects whose surfaces are apart: the scene's answers are those without it, and what is
 * marked is not looked at again, but for containment. */
#include <string.h>

#include "families.h"
#include "graze/engine.h"
#include "support.h"

enum { OBJECTS = 24, MOST_PAIRS = OBJECTS * OBJECTS / 2 };

static struct fake {
  graze_query *query; /* of another context, without an engine */
  graze_status status;
  bool wanted, taken, lies;
  uint32_t asked, marked;
  uint64_t objects, pairs;
} fake;

static bool take(void *user, graze_stage stage, uint64_t a, uint64_t b) {
  assert_ptr_equal(user, &fake);
  assert_int_equal(stage, GRAZE_STAGE_CULL);
  fake.objects = a;
  fake.pairs = b;
  return fake.taken = fake.wanted;
}

static void give(void *user) {
  (void)user;
  assert_true(fake.taken);
  fake.taken = false;
}

/* Marks by exact queries; a liar marks all. */
static graze_status cull(void *user, void *question) {
  const graze_cull_question *q = question;
  (void)user;
  assert_true(q->object_count == fake.objects && q->pair_count == fake.pairs);
  fake.asked++;
  fake.marked = 0;
  for (uint64_t i = 0; i < q->pair_count; i++) {
    const graze_cull_object *a = &q->objects[q->pairs[i][0]], *b = &q->objects[q->pairs[i][1]];
    graze_collide_options options = graze_default_collide_options();
    graze_collide_result r;
    assert_true(q->pairs[i][0] < q->pairs[i][1] && q->pairs[i][1] < q->object_count && q->apart[i] == 0);
    options.exactness = q->exactness;
    assert_int_equal(graze_collide_meshes(fake.query, a->mesh, a->pose, b->mesh, b->pose, &options, &r), GRAZE_OK);
    q->apart[i] = !r.hit || fake.lies;
    fake.marked += q->apart[i];
  }
  return fake.status;
}

static const graze_stage_function stages[GRAZE_STAGES] = {[GRAZE_STAGE_CULL] = cull};

/* Balls in balls, across each other and side by side, of which some touch. */
static graze_scene *make_scene(graze_context *context, graze_mesh *mesh, graze_object_id *ids) {
  graze_scene *scene = NULL;
  uint64_t random = 3;
  assert_int_equal(graze_scene_create(context, &scene), GRAZE_OK);
  for (int i = 0; i < OBJECTS; i++) {
    graze_object_def def = graze_default_object_def();
    const double size = i % 3 == 0 ? 0.25 : 1;
    def.mesh = mesh;
    def.user_id = (uint64_t)i;
    def.pose = test_translation(i % 4, i / 4 % 3 * (i < 12 ? 2 : 1.25), 0.25 * random_signed(&random));
    for (int k = 0; k < 3; k++) def.pose.m[5 * k] = size;
    assert_int_equal(graze_scene_add(scene, &def, &ids[i]), GRAZE_OK);
  }
  return scene;
}

typedef struct answer {
  graze_object_pair pairs[MOST_PAIRS];
  graze_scene_check_result result;
} answer;

static void ask(graze_scene *scene, graze_find find, answer *to) {
  graze_scene_check_options options = graze_default_scene_check_options();
  options.find = find;
  memset(to, 0, sizeof *to);
  assert_int_equal(graze_scene_check(scene, &options, &to->result), GRAZE_OK);
  assert_true(to->result.pair_count <= MOST_PAIRS && !fake.taken);
  memcpy(to->pairs, to->result.pairs, to->result.pair_count * sizeof to->pairs[0]);
}

static void compare(const answer *a, const answer *b) {
  assert_int_equal(a->result.pair_count, b->result.pair_count);
  assert_memory_equal(a->result.relations, b->result.relations, sizeof a->result.relations);
  for (uint64_t i = 0; i < a->result.pair_count; i++) {
    assert_true(a->pairs[i].user_id_a == b->pairs[i].user_id_a && a->pairs[i].user_id_b == b->pairs[i].user_id_b);
    assert_true(a->pairs[i].verdict.relation == b->pairs[i].verdict.relation);
    assert_memory_equal(&a->pairs[i].counts, &b->pairs[i].counts, sizeof a->pairs[i].counts);
  }
}

static struct setup {
  graze_context *context;
  graze_mesh *mesh;
  graze_scene *scene;
  graze_object_id ids[OBJECTS];
} on;

static int set_up(void **state) {
  static double corners[9 * 8 * 6 * 6];
  (void)state;
  const uint32_t count = soup_ball(6, 1, corners);
  on.context = test_context(2, NULL);
  assert_int_equal(graze_query_create(shared_context(1), &fake.query), GRAZE_OK);
  on.mesh = test_mesh(on.context, corners, count, GRAZE_VOLUMES_ORIENTED);
  on.scene = make_scene(on.context, on.mesh, on.ids);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  graze_scene_destroy(on.scene);
  graze_mesh_destroy(on.mesh);
  graze_query_destroy(fake.query);
  graze_context_destroy(on.context);
  return 0;
}

static void use(bool wanted, graze_status status, bool lies) {
  const graze_engine engine = {&fake, stages, GRAZE_STAGES, take, give, NULL};
  fake.wanted = wanted;
  fake.status = status;
  fake.lies = lies;
  fake.asked = 0;
  assert_int_equal(graze_context_set_engine(on.context, &engine), GRAZE_OK);
}

static void without_engine(graze_find find, answer *to) {
  assert_int_equal(graze_context_set_engine(on.context, NULL), GRAZE_OK);
  ask(on.scene, find, to);
}

static void test_same_answers(void **state) {
  static answer plain, culled;
  (void)state;
  for (int find = GRAZE_FIND_ALL; find <= GRAZE_FIND_ANY; find++) {
    without_engine((graze_find)find, &plain);
    assert_true(plain.result.relations[GRAZE_CROSS] > 3 || find == GRAZE_FIND_ANY);
    assert_true(plain.result.relations[GRAZE_A_IN_B] + plain.result.relations[GRAZE_B_IN_A] > 1 ||
                find == GRAZE_FIND_ANY);
    use(true, GRAZE_OK, false);
    ask(on.scene, (graze_find)find, &culled);
    assert_true(fake.asked == 1 && fake.marked > 3 && fake.marked < fake.pairs);
    assert_int_equal(fake.objects, OBJECTS);
    assert_int_equal(fake.pairs, plain.result.candidate_pairs);
    compare(&plain, &culled);
    assert_true(culled.result.work.node_pairs <
                plain.result.work.node_pairs); /* those that are apart are not looked at */
  }
}

/* What is marked is believed: no surfaces meet, and only containment is left. */
static void test_believed(void **state) {
  static answer culled;
  (void)state;
  use(true, GRAZE_OK, true);
  ask(on.scene, GRAZE_FIND_COUNT, &culled);
  assert_int_equal(culled.result.relations[GRAZE_TOUCH], 0);
  for (uint64_t i = 0; i < culled.result.pair_count; i++) assert_int_equal(culled.pairs[i].counts.triangle_pairs, 0);
}

/* Marks of an engine that declines or fails count for nothing. */
static void test_not_answered(void **state) {
  static answer plain, culled;
  static const graze_status statuses[] = {GRAZE_ERROR_UNSUPPORTED, GRAZE_ERROR_DEVICE, GRAZE_ERROR_MEMORY};
  (void)state;
  without_engine(GRAZE_FIND_COUNT, &plain);
  for (int i = 0; i < 4; i++) {
    use(i < 3, i < 3 ? statuses[i] : GRAZE_OK, true);
    ask(on.scene, GRAZE_FIND_COUNT, &culled);
    compare(&plain, &culled);
  }
}

/* Only pairs that have changed are asked about. */
static void test_updates(void **state) {
  graze_scene_update_result first, second;
  (void)state;
  use(true, GRAZE_OK, false);
  assert_int_equal(graze_scene_update(on.scene, NULL, &first), GRAZE_OK);
  const uint64_t all = fake.pairs;
  assert_true(fake.asked == 1 && all > 10);
  const graze_pose pose = test_translation(0.5, 0.5, 0.5);
  assert_int_equal(graze_scene_set_pose(on.scene, on.ids[5], &pose), GRAZE_OK);
  assert_int_equal(graze_scene_update(on.scene, NULL, &second), GRAZE_OK);
  assert_true(fake.asked == 2 && fake.pairs > 0 && fake.pairs < all);
  assert_int_equal(graze_context_set_engine(on.context, NULL), GRAZE_OK);
}

/* The cores of round objects are apart, or said to be, and the objects meet. */
static void test_round(void **state) {
  (void)state;
  const double ends[2][3] = {{0, 0, 0}, {0, 0, 0}};
  graze_mesh *core;
  graze_scene *scene;
  graze_scene_check_result result;
  assert_int_equal(graze_round_create_core(on.context, ends, &core), GRAZE_OK);
  assert_int_equal(graze_scene_create(on.context, &scene), GRAZE_OK);
  for (int i = 0; i < 3; i++) { /* two balls, and a mesh that one of them touches */
    graze_object_def def = graze_default_object_def();
    def.mesh = i < 2 ? core : on.mesh;
    def.radius = i < 2 ? 1 : 0;
    def.pose = test_translation(1.5 * i, 0, 0);
    assert_int_equal(graze_scene_add(scene, &def, NULL), GRAZE_OK);
  }
  for (int lies = 0; lies < 2; lies++) {
    use(true, GRAZE_OK, lies == 1);
    assert_int_equal(graze_scene_check(scene, NULL, &result), GRAZE_OK);
    assert_true(fake.asked == 1 && fake.marked > 0);
    assert_int_equal(result.relations[GRAZE_CROSS], 2);
  }
  graze_scene_destroy(scene);
  graze_mesh_destroy(core);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_answers), cmocka_unit_test(test_believed),
                                     cmocka_unit_test(test_not_answered), cmocka_unit_test(test_updates),
                                     cmocka_unit_test(test_round)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
