/* An engine that marks pairs of objects whose surfaces are apart, and lists triangles of the others: the scene's
 * answers are those without it, and what is marked or not listed is not looked at again, but for containment. */
#include <string.h>

#include "families.h"
#include "graze/engine.h"
#include "support.h"

enum { OBJECTS = 24, MOST_PAIRS = OBJECTS * OBJECTS / 2 };

/* What the engine lists: nothing; the triangles that meet; some more; all; those of the first object; of those that
 * meet all but the last. */
typedef enum lists { NOTHING, EXACT, MORE, ALL, ONE_SIDE, TOO_FEW } lists;

enum { MOST_TRIANGLES = 288, MOST_LISTED = 1 << 16 };

static struct fake {
  graze_query *query; /* of another context, without an engine */
  graze_status status;
  bool wanted, taken, lies;
  lists lists;
  uint32_t asked, marked, requested, listed; /* pairs */
  uint32_t numbers[MOST_PAIRS][2][MOST_TRIANGLES];
  uint64_t objects, pairs;
} fake;

static bool take(void *user, graze_stage stage, uint64_t a, uint64_t b) {
  assert_ptr_equal(user, &fake);
  assert_int_equal(stage, GRAZE_STAGE_CULL);
  fake.objects = a;
  fake.pairs = b;
  return fake.taken = fake.wanted;
}

/* Lists are the engine's until then. */
static void give(void *user) {
  (void)user;
  assert_true(fake.taken);
  memset(fake.numbers, 0xff, sizeof fake.numbers);
  fake.taken = false;
}

/* Ascending numbers of the triangles in a side of pairs; with MORE and ALL of others as well. */
static uint32_t list_side(const graze_collide_result *r, int side, uint32_t *out) {
  bool in[MOST_TRIANGLES] = {false};
  uint32_t count = 0;
  for (uint64_t i = 0; i < r->counts.triangle_pairs; i++) in[side == 0 ? r->pairs[i].a : r->pairs[i].b] = true;
  for (uint32_t t = 0; t < MOST_TRIANGLES; t++) {
    if (in[t] || fake.lists == ALL || (fake.lists == MORE && t % 32 == 0)) out[count++] = t;
  }
  return count - (fake.lists == TOO_FEW && side == 0);
}

static void list_triangles(const graze_cull_question *q, uint64_t pair, const graze_collide_result *r) {
  graze_cull_triangles *t = &q->triangles[pair];
  for (int side = 0; side < 2; side++) {
    assert_true(t->list[side] == NULL && t->count[side] == 0);
    if (fake.lists == NOTHING || (fake.lists == ONE_SIDE && side == 1)) continue;
    t->list[side] = fake.numbers[pair][side];
    t->count[side] = list_side(r, side, fake.numbers[pair][side]);
  }
  fake.listed += t->list[0] != NULL && t->list[1] != NULL && t->count[0] * t->count[1] <= 4096;
}

/* Marks by exact queries; a liar marks all. */
static graze_status cull(void *user, void *question) {
  const graze_cull_question *q = question;
  (void)user;
  assert_true(q->object_count == fake.objects && q->pair_count == fake.pairs);
  fake.asked++;
  fake.marked = fake.listed = 0;
  fake.requested += q->triangles != NULL;
  for (uint64_t i = 0; i < q->pair_count; i++) {
    const graze_cull_object *a = &q->objects[q->pairs[i][0]], *b = &q->objects[q->pairs[i][1]];
    graze_collide_options options = graze_default_collide_options();
    graze_collide_result r;
    assert_true(q->pairs[i][0] < q->pairs[i][1] && q->pairs[i][1] < q->object_count && q->apart[i] == 0);
    options.exactness = q->exactness;
    assert_int_equal(graze_collide_meshes(fake.query, a->mesh, a->pose, b->mesh, b->pose, &options, &r), GRAZE_OK);
    q->apart[i] = !r.hit || fake.lies;
    fake.marked += q->apart[i];
    if (!q->apart[i] && q->triangles != NULL) list_triangles(q, i, &r);
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
  graze_triangle_pair list[MOST_LISTED]; /* of all pairs */
  graze_scene_check_result result;
} answer;

static void ask_at(graze_scene *scene, graze_find find, graze_exactness exactness, answer *to) {
  graze_scene_check_options options = graze_default_scene_check_options();
  options.find = find;
  options.exactness = exactness;
  uint64_t used = 0;
  memset(to, 0, sizeof *to);
  assert_int_equal(graze_scene_check(scene, &options, &to->result), GRAZE_OK);
  assert_true(to->result.pair_count <= MOST_PAIRS && !fake.taken);
  memcpy(to->pairs, to->result.pairs, to->result.pair_count * sizeof to->pairs[0]);
  for (uint64_t i = 0; i < to->result.pair_count; i++) {
    const uint64_t count = to->pairs[i].counts.triangle_pairs;
    if (to->pairs[i].pairs == NULL) continue;
    assert_true(used + count <= MOST_LISTED);
    to->pairs[i].pairs = memcpy(to->list + used, to->pairs[i].pairs, count * sizeof to->list[0]);
    used += count;
  }
}

static void ask(graze_scene *scene, graze_find find, answer *to) {
  ask_at(scene, find, GRAZE_T1, to);
}

static void compare(const answer *a, const answer *b) {
  assert_int_equal(a->result.pair_count, b->result.pair_count);
  assert_memory_equal(a->result.relations, b->result.relations, sizeof a->result.relations);
  for (uint64_t i = 0; i < a->result.pair_count; i++) {
    assert_true(a->pairs[i].user_id_a == b->pairs[i].user_id_a && a->pairs[i].user_id_b == b->pairs[i].user_id_b);
    assert_true(a->pairs[i].verdict.relation == b->pairs[i].verdict.relation);
    assert_memory_equal(&a->pairs[i].counts, &b->pairs[i].counts, sizeof a->pairs[i].counts);
    assert_int_equal(a->pairs[i].pairs == NULL, b->pairs[i].pairs == NULL);
    if (a->pairs[i].pairs != NULL)
      test_assert_pairs(a->pairs[i].pairs, b->pairs[i].pairs, a->pairs[i].counts.triangle_pairs);
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
  fake.lists = NOTHING;
  fake.asked = fake.requested = 0;
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

/* Whatever an engine lists of what meets, the answer is the same; of short lists no hierarchy is asked. */
static void test_listed(void **state) {
  static answer plain, culled;
  static const lists kinds[] = {NOTHING, EXACT, MORE, ALL, ONE_SIDE};
  (void)state;
  for (int find = GRAZE_FIND_ALL; find <= GRAZE_FIND_COUNT; find++) {
    without_engine((graze_find)find, &plain);
    for (int i = 0; i < 5; i++) {
      use(true, GRAZE_OK, false);
      fake.lists = kinds[i];
      ask(on.scene, (graze_find)find, &culled);
      compare(&plain, &culled);
      const bool listed = kinds[i] == EXACT || kinds[i] == MORE;
      assert_true(fake.requested == 1 && listed == (fake.listed > 10));
      /* What is left are containment and pairs with long lists. */
      assert_true(listed == (culled.result.work.node_pairs < plain.result.work.node_pairs / 4));
    }
  }
}

/* Only what is listed is decided: a triangle that is left out is missed. */
static void test_lists_are_believed(void **state) {
  static answer plain, culled;
  (void)state;
  without_engine(GRAZE_FIND_COUNT, &plain);
  use(true, GRAZE_OK, false);
  fake.lists = TOO_FEW;
  ask(on.scene, GRAZE_FIND_COUNT, &culled);
  uint64_t fewer = 0;
  for (uint64_t i = 0; i < plain.result.pair_count; i++) {
    for (uint64_t k = 0; k < culled.result.pair_count; k++) {
      const graze_object_pair *all = &plain.pairs[i], *some = &culled.pairs[k];
      if (all->user_id_a == some->user_id_a && all->user_id_b == some->user_id_b)
        fewer += some->counts.triangle_pairs < all->counts.triangle_pairs;
    }
  }
  assert_true(fewer > 0);
}

/* Lists are not asked for where any pair of triangles will do, nor of the images of tier T2. */
static void test_not_requested(void **state) {
  static answer plain, culled;
  static const struct {
    graze_find find;
    graze_exactness exactness;
    uint32_t requested;
  } cases[] = {{GRAZE_FIND_COUNT, GRAZE_T1, 1}, {GRAZE_FIND_ANY, GRAZE_T1, 0}, {GRAZE_FIND_COUNT, GRAZE_T2, 0}};
  (void)state;
  for (int i = 0; i < 3; i++) {
    assert_int_equal(graze_context_set_engine(on.context, NULL), GRAZE_OK);
    ask_at(on.scene, cases[i].find, cases[i].exactness, &plain);
    use(true, GRAZE_OK, false);
    fake.lists = EXACT;
    ask_at(on.scene, cases[i].find, cases[i].exactness, &culled);
    compare(&plain, &culled);
    assert_int_equal(fake.asked, 1);
    assert_int_equal(fake.requested, cases[i].requested);
  }
}

/* Memory is refused, also for the copies of lists. */
static graze_status check_listed(graze_context *context) {
  const graze_engine engine = {&fake, stages, GRAZE_STAGES, take, give, NULL};
  static double corners[9 * MOST_TRIANGLES];
  graze_mesh_def def = graze_default_mesh_def();
  graze_scene *scene = NULL;
  graze_mesh *mesh = NULL;
  graze_scene_check_result result;
  use(true, GRAZE_OK, false);
  fake.lists = EXACT;
  def.vertices = corners;
  def.vertex_count = 3 * (uint64_t)soup_ball(6, 1, corners);
  def.precision = GRAZE_DOUBLE;
  graze_status status = graze_mesh_create(context, &def, &mesh);
  if (status == GRAZE_OK) status = graze_scene_create(context, &scene);
  for (int i = 0; i < 4 && status == GRAZE_OK; i++) {
    graze_object_def object = graze_default_object_def();
    object.mesh = mesh;
    object.pose = test_translation(1.25 * i, 0.125, 0);
    status = graze_scene_add(scene, &object, NULL);
  }
  if (status == GRAZE_OK) status = graze_context_set_engine(context, &engine);
  if (status == GRAZE_OK) status = graze_scene_check(scene, NULL, &result);
  if (status == GRAZE_OK) assert_true(result.relations[GRAZE_CROSS] == 3 && fake.listed == 3);
  assert_false(fake.taken);
  graze_scene_destroy(scene);
  graze_mesh_destroy(mesh);
  return status;
}

static void test_memory(void **state) {
  (void)state;
  test_refuse_each(check_listed, 2000);
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
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_answers),       cmocka_unit_test(test_believed),      cmocka_unit_test(test_listed),
      cmocka_unit_test(test_lists_are_believed), cmocka_unit_test(test_not_requested), cmocka_unit_test(test_memory),
      cmocka_unit_test(test_not_answered),       cmocka_unit_test(test_updates),       cmocka_unit_test(test_round)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
