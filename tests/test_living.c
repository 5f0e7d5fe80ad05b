/* Scenes that live: what updates tell, under any order of edits, is what checks of the same scene say. */
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "support.h"

enum { MOST = 60, KINDS = 6 };

/* ---- shapes that meet in every way ------------------------------------------------------------------------------ */

static graze_mesh *make_box(graze_context *context, double x, double y, double z) {
  double corners[108], low[3] = {0, 0, 0}, high[3] = {x, y, z};
  soup_box(low, high, corners);
  return test_mesh(context, corners, 12, GRAZE_VOLUMES_ALIGNED);
}

static void make_shapes(graze_context *context, graze_mesh *shapes[KINDS]) {
  double sheet[18] = {0, 0, 0, 2, 0, 0, 2, 2, 0, 0, 0, 0, 2, 2, 0, 0, 2, 0};
  double needle[9] = {0, 0, 0, 1, 1, 1, 2, 2, 2};
  double ball[9 * 8 * 16];
  uint32_t count = soup_ball(2, 1, ball);
  shapes[0] = make_box(context, 2, 2, 2);
  shapes[1] = make_box(context, 1, 1, 1);
  shapes[2] = make_box(context, 4, 1, 1);
  shapes[3] = test_mesh(context, sheet, 2, GRAZE_VOLUMES_ORIENTED);
  shapes[4] = test_mesh(context, needle, 1, GRAZE_VOLUMES_ORIENTED);
  shapes[5] = test_mesh(context, ball, count, GRAZE_VOLUMES_ORIENTED);
}

/* Places on a lattice, so that touching, containing and standing at one place are common. */
static graze_pose random_place(uint64_t *random) {
  return test_translation(random_below(random, 8), random_below(random, 8), random_below(random, 3));
}

/* ---- what the caller knows ------------------------------------------------------------------------------------- */

typedef struct known {
  uint64_t a, b; /* user ids, which grow in the order of adding */
  graze_relation relation;
  graze_gap gap;
} known;

/* Clearances that differ from pair to pair, and from time to time. */
typedef struct lengths {
  double most; /* 0: none */
  uint64_t epoch;
} lengths;

typedef struct story {
  graze_context *context;
  graze_scene *scene;
  graze_mesh *shapes[KINDS];
  uint64_t random, next_user;
  graze_object_id ids[MOST];
  uint64_t users[MOST];
  uint32_t live;
  known *told;
  uint64_t told_count;
  lengths lengths;
} story;

static int by_users(const void *p, const void *q) {
  const known *x = p, *y = q;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  return (x->b > y->b) - (x->b < y->b);
}

static known *find_known(known *list, uint64_t count, uint64_t a, uint64_t b) {
  const known key = {.a = a, .b = b};
  return count == 0 ? NULL : bsearch(&key, list, count, sizeof key, by_users);
}

/* The origin at times. */
static void random_center(uint64_t *random, double center[3]) {
  for (int k = 0; k < 3; k++) center[k] = random_below(random, 2) == 0 ? 0 : random_signed(random);
}

static void story_add(story *s) {
  if (s->live == MOST) return;
  static const char *const layers[] = {"", "steel", "pipes"};
  graze_object_def def = graze_default_object_def();
  def.mesh = s->shapes[random_below(&s->random, KINDS)];
  def.pose = random_place(&s->random);
  def.user_id = s->next_user++;
  random_center(&s->random, def.center);
  def.layer = layers[random_below(&s->random, 3)];
  s->users[s->live] = def.user_id;
  assert_int_equal(graze_scene_add(s->scene, &def, &s->ids[s->live++]), GRAZE_OK);
}

static void story_remove(story *s) {
  if (s->live == 0) return;
  uint32_t i = random_below(&s->random, s->live);
  assert_int_equal(graze_scene_remove(s->scene, s->ids[i]), GRAZE_OK);
  s->ids[i] = s->ids[--s->live];
  s->users[i] = s->users[s->live];
}

static void story_move(story *s) {
  if (s->live == 0) return;
  graze_pose poses[4];
  graze_object_id ids[4];
  uint32_t count = 1 + random_below(&s->random, 4);
  for (uint32_t i = 0; i < count; i++) {
    ids[i] = s->ids[random_below(&s->random, s->live)];
    poses[i] = random_place(&s->random);
  }
  assert_int_equal(graze_scene_set_poses(s->scene, ids, poses, count), GRAZE_OK);
  double center[3];
  random_center(&s->random, center);
  assert_int_equal(graze_scene_set_center(s->scene, ids[0], center), GRAZE_OK);
}

/* One mesh gets other vertices under the objects that have it. */
static void story_refit(story *s) {
  double corners[108], low[3] = {0, 0, 0}, high[3];
  for (int k = 0; k < 3; k++) high[k] = 1 + random_below(&s->random, 2);
  soup_box(low, high, corners);
  assert_int_equal(graze_mesh_refit(s->shapes[1], corners, 0), GRAZE_OK);
}

static void story_edit(story *s) {
  uint32_t choice = random_below(&s->random, 40);
  if (choice < 12) {
    story_add(s);
  } else if (choice < 20) {
    story_remove(s);
  } else if (choice < 37) {
    story_move(s);
  } else if (choice == 37) {
    story_refit(s);
  } else if (choice == 38 && s->live > 1) {
    assert_int_equal(graze_scene_ignore(s->scene, s->ids[0], s->ids[random_below(&s->random, s->live)]), GRAZE_OK);
  } else if (random_below(&s->random, 40) == 0) {
    assert_int_equal(graze_scene_ignore_layers(s->scene, "steel", random_below(&s->random, 2) ? "steel" : "pipes"),
                     GRAZE_OK);
  }
}

static double clearance_of(void *user, uint64_t a, uint64_t b) {
  const lengths *l = user;
  assert_true(a < b);
  return l->most * (double)(graze_pair_hash((uint32_t)(a + l->epoch), (uint32_t)b) % 3) / 2;
}

static double reach_of(void *user, uint64_t object) {
  const lengths *l = user;
  return object % 5 == l->epoch % 5 ? 2 * l->most : l->most;
}

/* Clearances begin, change and end. */
static void choose_lengths(story *s, graze_scene_update_options *options) {
  static const double most[4] = {0, 1, 1.5, 2};
  s->lengths = (lengths){most[random_below(&s->random, 4)], random_below(&s->random, 3)};
  const bool none = s->lengths.most == 0 && s->lengths.epoch == 0;
  options->clearance = none ? NULL : clearance_of;
  options->reach = none ? NULL : reach_of;
  options->clearance_user = &s->lengths;
}

/* The pairs of a fresh check, sorted by user ids; `hash` gets what an update should say. Some checks are of a copy that
 * has no past: its candidates are found from nothing. */
static known *checked(story *s, const graze_scene_update_options *o, uint64_t *count, uint64_t *hash,
                      graze_scene_check_result *result) {
  graze_scene_check_options options = graze_default_scene_check_options();
  options.find = o->find;
  options.exactness = o->exactness;
  options.open = o->open;
  options.clearance = o->clearance;
  options.reach = o->reach;
  options.clearance_user = o->clearance_user;
  graze_scene *scene = s->scene;
  if (random_below(&s->random, 8) == 0) {
    assert_int_equal(graze_scene_save(s->scene, "living.copy"), GRAZE_OK);
    assert_int_equal(graze_scene_load(s->context, "living.copy", &scene), GRAZE_OK);
    remove("living.copy");
  }
  assert_int_equal(graze_scene_check(scene, &options, result), GRAZE_OK);
  known *list = malloc((result->pair_count + 1) * sizeof *list);
  uint64_t *users = malloc((s->live + 1) * sizeof *users);
  memcpy(users, s->users, s->live * sizeof *users);
  *count = result->pair_count;
  *hash = 0;
  for (uint64_t i = 0; i < result->pair_count; i++) {
    const graze_object_pair *p = &result->pairs[i];
    uint32_t a = 0, b = 0;
    for (uint32_t k = 0; k < s->live; k++) {
      a += users[k] < p->user_id_a;
      b += users[k] < p->user_id_b;
    }
    list[i] = (known){p->user_id_a, p->user_id_b, p->verdict.relation, p->gap};
    *hash += graze_scene_hash_pair(a, b, p->verdict.relation, &p->counts);
  }
  qsort(list, result->pair_count, sizeof *list, by_users);
  free(users);
  if (scene != s->scene) graze_scene_destroy(scene);
  return list;
}

/* What happens between updates is asked for in one of the ways, too. */
static void choose_model(story *s, graze_scene_update_options *options) {
  options->continuous = (graze_motion_model)(options->exactness == GRAZE_T2 ? 0 : random_below(&s->random, 3));
  options->bracket = random_below(&s->random, 2) == 0 ? 0 : ldexp(1, -(int)random_below(&s->random, 50));
}

static void check_times(const graze_scene_event *list, uint64_t count, bool continuous) {
  for (uint64_t i = 0; i < count; i++) {
    const double *time = list[i].time;
    assert_true(0 <= time[0] && time[0] <= time[1] && time[1] <= (continuous ? 1 : 0));
  }
}

/* Of a pair that meets at no update there may be a gap. */
static bool is_apart(const known *k) {
  return k == NULL || k->relation == GRAZE_CLEARANCE;
}

/* Pairs that passed are in order, and did and do not meet. */
static void compare_passed(story *s, const graze_scene_update_result *e, known *now, uint64_t count,
                           graze_motion_model model) {
  const bool continuous = model != GRAZE_MOTION_STEPS;
  check_times(e->began, e->began_count, continuous);
  check_times(e->ended, e->ended_count, continuous);
  check_times(e->passed, e->passed_count, continuous);
  for (uint64_t i = 0; i < e->passed_count; i++) {
    const graze_scene_event *x = &e->passed[i];
    assert_true(continuous);
    /* They move straight and by whole numbers, so that some slide along one another: no proof for the rigid model. */
    assert_true(x->passage == GRAZE_MOTION_HIT || (x->passage == GRAZE_MOTION_UNKNOWN && model == GRAZE_MOTION_RIGID));
    assert_true(x->distance[0] >= 0 && x->distance[0] <= x->distance[1]);
    assert_true(x->passage == GRAZE_MOTION_UNKNOWN || x->distance[1] == 0);
    const known *k = find_known(now, count, x->user_id_a, x->user_id_b);
    const known *t = find_known(s->told, s->told_count, x->user_id_a, x->user_id_b);
    assert_true(is_apart(k) && is_apart(t));
    assert_int_equal(x->verdict.relation, k != NULL ? k->relation : GRAZE_SEPARATE);
    assert_int_equal(x->before, t != NULL ? t->relation : GRAZE_SEPARATE);
    if (i > 0) assert_true(x[-1].user_id_a < x->user_id_a || x[-1].user_id_b < x->user_id_b);
  }
}

static void compare_gaps(const graze_gap *got, const graze_gap *want) {
  assert_true(got->found == want->found && got->distance == want->distance && got->clearance == want->clearance);
  assert_memory_equal(got->points, want->points, sizeof got->points);
}

/* Events against the difference between what was told and what a check says now. */
static void compare_events(story *s, const graze_scene_update_result *e, known *now, uint64_t count) {
  uint64_t began = 0, persist = 0, ended = 0;
  for (uint64_t i = 0; i < e->began_count; i++) {
    const graze_scene_event *x = &e->began[i];
    const known *k = find_known(now, count, x->user_id_a, x->user_id_b);
    assert_non_null(k);
    assert_int_equal(x->verdict.relation, k->relation);
    compare_gaps(&x->gap, &k->gap);
    assert_int_equal(x->before, GRAZE_SEPARATE);
    assert_null(find_known(s->told, s->told_count, x->user_id_a, x->user_id_b));
    began++;
  }
  for (uint64_t i = 0; i < e->persist_count; i++) {
    const graze_scene_event *x = &e->persist[i];
    const known *k = find_known(now, count, x->user_id_a, x->user_id_b);
    const known *t = find_known(s->told, s->told_count, x->user_id_a, x->user_id_b);
    assert_non_null(k);
    assert_non_null(t);
    assert_int_equal(x->verdict.relation, k->relation);
    compare_gaps(&x->gap, &k->gap);
    assert_int_equal(x->before, t->relation);
    if (i > 0) assert_true(x[-1].user_id_a < x->user_id_a || x[-1].user_id_b < x->user_id_b);
    persist++;
  }
  for (uint64_t i = 0; i < e->ended_count; i++) {
    const graze_scene_event *x = &e->ended[i];
    const known *t = find_known(s->told, s->told_count, x->user_id_a, x->user_id_b);
    assert_non_null(t);
    assert_int_equal(x->before, t->relation);
    assert_int_equal(x->verdict.relation, GRAZE_SEPARATE);
    assert_false(x->gap.found);
    assert_null(find_known(now, count, x->user_id_a, x->user_id_b));
    ended++;
  }
  assert_int_equal(began + persist, count);
  assert_int_equal(persist + ended, s->told_count);
}

static void story_update(story *s, const graze_scene_update_options *options) {
  graze_scene_update_result e;
  graze_scene_check_result result;
  uint64_t count, hash;
  bool first = random_below(&s->random, 2) != 0; /* a check may come before the update: it must not take its news */
  known *now = first ? checked(s, options, &count, &hash, &result) : NULL;
  assert_int_equal(graze_scene_update(s->scene, options, &e), GRAZE_OK);
  if (!first) now = checked(s, options, &count, &hash, &result);
  compare_events(s, &e, now, count);
  compare_passed(s, &e, now, count, options->continuous);
  assert_true(e.hash == hash);
  assert_true(e.candidate_pairs == result.candidate_pairs);
  assert_true(e.decided_pairs <= e.candidate_pairs);
  free(s->told);
  s->told = now;
  s->told_count = count;
}

static story *story_begin(graze_context *context, uint64_t seed) {
  story *s = calloc(1, sizeof *s);
  s->random = seed;
  s->context = context;
  assert_int_equal(graze_scene_create(context, &s->scene), GRAZE_OK);
  make_shapes(context, s->shapes);
  return s;
}

static void story_end(story *s) {
  graze_scene_destroy(s->scene);
  for (int k = 0; k < KINDS; k++) graze_mesh_destroy(s->shapes[k]);
  free(s->told);
  free(s);
}

static void test_storms(void **state) {
  (void)state;
  uint32_t seeds = (uint32_t)test_rounds(6, 200);
  for (uint32_t seed = 0; seed < seeds; seed++) {
    graze_context *context = test_context(1 + (int)((seed + 1) % 3), NULL);
    story *s = story_begin(context, seed);
    graze_scene_update_options options = graze_default_scene_update_options();
    for (int step = 0; step < 40; step++) {
      for (uint32_t i = random_below(&s->random, 12); i-- > 0;) story_edit(s);
      if (random_below(&s->random, 10) == 0) options.open ^= GRAZE_OPEN_UNKNOWN ^ GRAZE_OPEN_SURFACE;
      if (random_below(&s->random, 10) == 0) options.exactness ^= GRAZE_T1 ^ GRAZE_T2;
      if (random_below(&s->random, 10) == 0) options.find ^= GRAZE_FIND_COUNT ^ GRAZE_FIND_ANY;
      if (random_below(&s->random, 5) == 0) choose_lengths(s, &options);
      choose_model(s, &options);
      story_update(s, &options);
    }
    story_end(s);
    graze_context_destroy(context);
  }
}

/* Only what moved is decided again. */
static void test_work(void **state) {
  (void)state;
  graze_context *context = test_context(1, NULL);
  story *s = story_begin(context, 5);
  graze_scene_update_result e;
  for (int i = 0; i < MOST; i++) story_add(s);
  assert_int_equal(graze_scene_update(s->scene, NULL, &e), GRAZE_OK);
  assert_true(e.decided_pairs == e.candidate_pairs && e.candidate_pairs > 20);
  uint64_t hash = e.hash, persist = e.began_count;
  assert_int_equal(graze_scene_update(s->scene, NULL, &e), GRAZE_OK);
  assert_int_equal(e.decided_pairs, 0);
  assert_int_equal(e.persist_count, persist);
  assert_true(e.hash == hash);
  graze_pose far = test_translation(1000, 0, 0);
  assert_int_equal(graze_scene_set_pose(s->scene, s->ids[3], &far), GRAZE_OK);
  assert_int_equal(graze_scene_update(s->scene, NULL, &e), GRAZE_OK);
  assert_int_equal(e.decided_pairs, 0);
  assert_true(e.ended_count > 0 && e.persist_count + e.ended_count == persist);
  story_end(s);
  graze_context_destroy(context);
}

/* ---- updates that fail ----------------------------------------------------------------------------------------- */

static bool stop_at_once(void *user, uint64_t done, uint64_t total) {
  (void)user;
  (void)done;
  (void)total;
  return false;
}

/* When everything is decided and nothing told. */
static bool stop_late(void *user, uint64_t done, uint64_t total) {
  (void)user;
  return done < total;
}

/* Between two updates that go well any number may be cancelled: nothing is told twice or lost. */
static void test_cancel(void **state) {
  (void)state;
  graze_context *context = test_context(1, NULL);
  story *s = story_begin(context, 99);
  graze_scene_update_options options = graze_default_scene_update_options();
  for (int step = 0; step < 60; step++) {
    for (uint32_t tries = random_below(&s->random, 3); tries-- > 0;) {
      for (uint32_t i = random_below(&s->random, 8); i-- > 0;) story_edit(s);
      graze_scene_update_options cut = options;
      graze_scene_update_result e;
      choose_model(s, &cut);
      cut.progress = random_below(&s->random, 2) ? stop_at_once : stop_late;
      assert_int_equal(graze_scene_update(s->scene, &cut, &e), GRAZE_CANCELLED);
    }
    choose_model(s, &options);
    if (random_below(&s->random, 3) == 0) choose_lengths(s, &options);
    story_update(s, &options);
  }
  story_end(s);
  graze_context_destroy(context);
}

/* The same with memory refused at every place in turn. */
static void test_memory(void **state) {
  (void)state;
#ifdef __SANITIZE_THREAD__
  skip(); /* one thread */
#endif
  for (uint64_t fail = 1; fail < 400; fail++) {
    test_allocator allocator = {0};
    graze_context_def def = graze_default_context_def();
    def.allocator = test_allocator_hooks(&allocator);
    def.threads = 1;
    graze_context *context;
    assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
    story *s = story_begin(context, 7);
    graze_scene_update_options options = graze_default_scene_update_options();
    for (int i = 0; i < 10; i++) story_add(s);
    if (fail % 2 == 0) story_update(s, &options);
    for (int i = 0; i < 25; i++) story_add(s);
    for (int i = 0; i < 4; i++) story_remove(s);
    for (int i = 0; i < 4; i++) story_move(s);
    options.continuous = (graze_motion_model)(fail / 2 % 3);
    if (fail / 6 % 2 == 0) choose_lengths(s, &options);
    graze_scene_update_result e;
    allocator.fail_at = allocator.requests + fail;
    graze_status status = graze_scene_update(s->scene, &options, &e);
    bool refused = allocator.requests >= allocator.fail_at;
    allocator.fail_at = 0;
    assert_int_equal(status, refused ? GRAZE_ERROR_MEMORY : GRAZE_OK);
    if (refused) {
      story_move(s);
      story_update(s, &options);
    }
    story_end(s);
    graze_context_destroy(context);
    assert_int_equal(allocator.live_blocks, 0);
    if (!refused && fail % 2 == 1) break;
  }
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

/* The scene is put into a file and taken out again in the middle of its story, which goes on with the same ids. */
static void reload(story *s, graze_context *context) {
  const char *path = "living.scene";
  graze_scene *copy;
  assert_int_equal(graze_scene_save(s->scene, path), GRAZE_OK);
  assert_int_equal(graze_scene_load(context, path, &copy), GRAZE_OK);
  for (uint32_t i = 0; i < s->live; i++) {
    graze_object_def was, is;
    assert_int_equal(graze_scene_get_object(s->scene, s->ids[i], &was), GRAZE_OK);
    assert_int_equal(graze_scene_get_object(copy, s->ids[i], &is), GRAZE_OK);
    for (int k = 0; k < 3; k++) assert_true(was.center[k] == is.center[k]);
  }
  graze_scene_destroy(s->scene);
  s->scene = copy;
  /* The meshes of old are not those of the scene any more. */
  const graze_object_id *ids;
  uint32_t count;
  assert_int_equal(graze_scene_list_objects(copy, &ids, &count), GRAZE_OK);
  assert_int_equal(count, s->live);
  for (uint32_t i = 0; i < s->live; i++) {
    graze_object_def def;
    assert_int_equal(graze_scene_get_object(copy, s->ids[i], &def), GRAZE_OK);
    assert_true(def.user_id == s->users[i]);
  }
}

static void test_snapshots(void **state) {
  (void)state;
  uint32_t seeds = (uint32_t)test_rounds(10, 100);
  for (uint32_t seed = 0; seed < seeds; seed++) {
    graze_context *context = test_context(1, NULL);
    story *s = story_begin(context, 500 + seed);
    graze_scene_update_options options = graze_default_scene_update_options();
    for (int step = 0; step < 30; step++) {
      for (uint32_t i = random_below(&s->random, 12); i-- > 0;) story_edit(s);
      if (random_below(&s->random, 4) == 0) reload(s, context);
      choose_model(s, &options);
      if (random_below(&s->random, 3) == 0) choose_lengths(s, &options);
      if (random_below(&s->random, 3) != 0) story_update(s, &options);
    }
    story_end(s);
    graze_context_destroy(context);
  }
  remove("living.scene");
}

/* A story with many kinds of edits is recorded and runs the same again, with any number of threads. */
static void test_records(void **state) {
  (void)state;
  const char *path = "living.record";
  uint32_t seeds = (uint32_t)test_rounds(8, 60);
  bool any_gap = false;
  for (uint32_t seed = 0; seed < seeds; seed++) {
    graze_context *context = test_context(1, NULL);
    story *s = story_begin(context, 900 + seed);
    graze_scene_update_options options = graze_default_scene_update_options();
    graze_scene_update_result e;
    uint64_t hashes[40], times[40], gaps[40], steps = 0;
    bool clear[40];
    for (int step = 0; step < 40; step++) {
      for (uint32_t i = random_below(&s->random, 12); i-- > 0;) story_edit(s);
      if (step == 5) assert_int_equal(graze_scene_record(s->scene, path), GRAZE_OK);
      if (random_below(&s->random, 10) == 0) options.exactness ^= GRAZE_T1 ^ GRAZE_T2;
      choose_model(s, &options);
      if (random_below(&s->random, 3) == 0) choose_lengths(s, &options);
      assert_int_equal(graze_scene_update(s->scene, &options, &e), GRAZE_OK);
      if (step >= 5) times[steps] = e.time_hash;
      if (step >= 5) gaps[steps] = e.gap_hash;
      if (step >= 5) clear[steps] = options.clearance != NULL;
      any_gap |= e.gap_hash != 0;
      if (step >= 5) hashes[steps++] = e.hash;
    }
    assert_int_equal(graze_scene_record_end(s->scene), GRAZE_OK);
    story_end(s);
    graze_context_destroy(context);

    context = test_context(3, NULL);
    graze_replay *replay;
    graze_replay_step step;
    assert_int_equal(graze_replay_open(context, path, &replay), GRAZE_OK);
    for (uint64_t i = 0; i < steps; i++) {
      assert_int_equal(graze_replay_next(replay, &e, &step), GRAZE_OK);
      assert_int_equal(step.number, i + 1);
      assert_true(step.same);
      assert_true(e.hash == hashes[i] && step.hash == hashes[i]);
      assert_true(e.time_hash == times[i] && step.time_hash == times[i]);
      assert_true(e.gap_hash == gaps[i] && step.gap_hash == gaps[i] && step.clearances == clear[i]);
    }
    assert_int_equal(graze_replay_next(replay, &e, &step), GRAZE_OK);
    assert_int_equal(step.number, 0);
    graze_replay_close(replay);
    graze_context_destroy(context);
  }
  assert_true(any_gap);
  remove(path);
}

/* A record whose bytes are changed, or that ends early, anywhere, is refused with a byte; never taken for the run. */
static void test_damage(void **state) {
  (void)state;
  const char *path = "living.record", *bad = "living.damaged";
  test_log log;
  graze_context *context = test_context(1, &log);
  story *s = story_begin(context, 3);
  graze_scene_update_result e;
  for (int i = 0; i < 6; i++) story_add(s);
  assert_int_equal(graze_scene_record(s->scene, path), GRAZE_OK);
  assert_int_equal(graze_scene_record(s->scene, path), GRAZE_ERROR_ARGUMENT);
  for (int step = 0; step < 3; step++) {
    story_move(s);
    story_add(s);
    assert_int_equal(graze_scene_update(s->scene, NULL, &e), GRAZE_OK);
  }
  assert_int_equal(graze_scene_record_end(s->scene), GRAZE_OK);
  story_end(s);
  FILE *file = fopen(path, "rb");
  static char bytes[1 << 20];
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  assert_true(size > 1000 && size < sizeof bytes);
  uint64_t random = 17;
  for (int i = 0; i < 400; i++) {
    size_t at = (size_t)(random_unit(&random) * (double)size), length = size;
    char kept = bytes[at];
    if (i % 2 == 0) {
      length = at;
    } else {
      bytes[at] ^= (char)(1 << random_below(&random, 8));
    }
    file = fopen(bad, "wb");
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
    bytes[at] = kept;
    graze_replay *replay = NULL;
    graze_replay_step step = {.number = 1};
    graze_status status = graze_replay_open(context, bad, &replay);
    while (status == GRAZE_OK && step.number != 0) status = graze_replay_next(replay, &e, &step);
    if (status == GRAZE_OK) {
      /* A file that ends between two sections is a shorter run. */
      assert_true(i % 2 == 0);
    } else {
      assert_int_equal(status, GRAZE_ERROR_FORMAT);
      assert_non_null(strstr(log.last, "byte "));
    }
    graze_replay_close(replay);
  }
  assert_int_equal(graze_scene_load(context, "nowhere/nothing", &(graze_scene *){NULL}), GRAZE_ERROR_FILE);
  remove(path);
  remove(bad);
  graze_context_destroy(context);
}

/* A full disk ends the record, not the scene. */
static void test_full_disk(void **state) {
  (void)state;
  FILE *full = fopen("/dev/full", "w");
  if (full == NULL) skip();
  fclose(full);
  test_log log;
  graze_context *context = test_context(1, &log);
  story *s = story_begin(context, 3);
  assert_int_equal(graze_scene_record(s->scene, "/dev/full"), GRAZE_ERROR_FILE);
  assert_non_null(strstr(log.last, "/dev/full: cannot write"));
  assert_int_equal(graze_scene_save(s->scene, "/dev/full"), GRAZE_ERROR_FILE);
  story_end(s);
  graze_context_destroy(context);
}

/* A ball of lattice points comes near and goes: gaps in closed form, at every step; and what continuous motion tells of
 * pairs that have a gap before or after. */
static void test_gaps(void **state) {
  (void)state;
  enum { STEPS = 9 };
  static const double places[STEPS] = {9, 4, 3.25, 3, 2, 2.5, -1.25, -9, 3.5};
  static const graze_relation want[STEPS] = {GRAZE_SEPARATE,  GRAZE_SEPARATE, GRAZE_CLEARANCE,
                                             GRAZE_CLEARANCE, GRAZE_TOUCH,    GRAZE_CLEARANCE,
                                             GRAZE_CLEARANCE, GRAZE_SEPARATE, GRAZE_CLEARANCE};
  static const double gap[STEPS] = {0, 0, 1.25, 1, 0, 0.5, 0.25, 0, 1.5};
  graze_context *context = test_context(1, NULL);
  story *s = story_begin(context, 1);
  graze_object_def def = graze_default_object_def();
  def.mesh = s->shapes[0];
  for (int i = 0; i < 2; i++, def.mesh = s->shapes[1], def.user_id = 1)
    assert_int_equal(graze_scene_add(s->scene, &def, &s->ids[i]), GRAZE_OK);
  s->lengths = (lengths){2, 1};
  while (clearance_of(&s->lengths, 0, 1) != 2) s->lengths.epoch++;
  graze_scene_update_options options = graze_default_scene_update_options();
  options.clearance = clearance_of;
  options.reach = reach_of;
  options.clearance_user = &s->lengths;
  options.continuous = GRAZE_MOTION_LINEAR;
  for (int i = 0; i < STEPS; i++) {
    const graze_pose pose = test_translation(places[i], 0.5, 0.5);
    const bool now = want[i] != GRAZE_SEPARATE, before = i > 0 && want[i - 1] != GRAZE_SEPARATE;
    graze_scene_update_result e;
    assert_int_equal(graze_scene_set_pose(s->scene, s->ids[1], &pose), GRAZE_OK);
    assert_int_equal(graze_scene_update(s->scene, &options, &e), GRAZE_OK);
    assert_int_equal(e.began_count, now && !before);
    assert_int_equal(e.persist_count, now && before);
    assert_int_equal(e.ended_count, !now && before);
    const graze_scene_event *x = e.began_count > 0 ? e.began : e.persist_count > 0 ? e.persist : e.ended;
    if (now) assert_true(x->gap.found == (want[i] == GRAZE_CLEARANCE) && x->gap.distance == gap[i]);
    if (now) assert_int_equal(x->verdict.relation, want[i]);
    if (now) assert_true((e.gap_hash != 0) == x->gap.found);
    if (i == 4) assert_true(x->time[0] == 1 && x->time[1] == 1); /* from a gap of 1 to touching */
    if (i == 5) assert_true(x->time[0] == 0 && x->time[1] == 0); /* and no more */
    /* Through the box and out again, from gap to gap, and from nowhere to a gap. */
    assert_int_equal(e.passed_count, i == 6 || i == 8);
    if (i == 6) assert_true(e.passed->time[0] <= 0.5 / 3.75 && e.passed->time[1] >= 0.5 / 3.75);
    if (i == 8) assert_true(e.passed->time[0] <= 8 / 12.5 && e.passed->time[1] >= 8 / 12.5);
    if (i == 6) assert_true(e.passed->before == GRAZE_CLEARANCE && e.passed->gap.distance == 0.25);
  }
  options.reach = NULL;
  assert_int_equal(graze_scene_update(s->scene, &options, &(graze_scene_update_result){0}), GRAZE_ERROR_ARGUMENT);
  story_end(s);
  graze_context_destroy(context);
}

static void test_refusals(void **state) {
  (void)state;
  test_log log;
  graze_context *context = test_context(1, &log);
  story *s = story_begin(context, 1);
  graze_scene_update_result e;
  graze_scene_update_options options = {0};
  story_add(s);
  story_add(s);
  assert_int_equal(graze_scene_update(s->scene, &options, &e), GRAZE_ERROR_ARGUMENT);
  options = graze_default_scene_update_options();
  options.find = GRAZE_FIND_ALL;
  assert_int_equal(graze_scene_update(s->scene, &options, &e), GRAZE_ERROR_ARGUMENT);
  assert_string_equal(log.last, "update: find is count or any");
  graze_pose poses[2] = {graze_pose_identity(), graze_pose_identity()};
  poses[1].m[6] = strtod("nan", NULL);
  assert_int_equal(graze_scene_set_poses(s->scene, s->ids, poses, 2), GRAZE_ERROR_NOT_FINITE);
  assert_string_equal(log.last, "place 1: pose entry m12 is not finite");
  graze_object_id stale[2] = {s->ids[0], {77, 1}};
  poses[1] = graze_pose_identity();
  assert_int_equal(graze_scene_set_poses(s->scene, stale, poses, 2), GRAZE_ERROR_HANDLE);
  assert_non_null(strstr(log.last, "place 1: object id 77"));
  poses[0] = test_translation(1e308, 0, 0);
  poses[0].m[0] = 1e308;
  assert_int_equal(graze_scene_set_poses(s->scene, s->ids, poses, 1), GRAZE_OK);
  assert_int_equal(graze_scene_update(s->scene, NULL, &e), GRAZE_ERROR_NOT_FINITE);
  assert_non_null(strstr(log.last, "a posed coordinate overflows"));
  poses[0] = graze_pose_identity();
  assert_int_equal(graze_scene_set_poses(s->scene, s->ids, poses, 1), GRAZE_OK);
  options = graze_default_scene_update_options();
  story_update(s, &options);
  story_end(s);
  graze_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refusals),  cmocka_unit_test(test_work),    cmocka_unit_test(test_storms),
      cmocka_unit_test(test_snapshots), cmocka_unit_test(test_records), cmocka_unit_test(test_damage),
      cmocka_unit_test(test_full_disk), cmocka_unit_test(test_cancel),  cmocka_unit_test(test_memory),
      cmocka_unit_test(test_gaps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
