/* Scenes against single queries: every pair, its counts, list and hash; order, layers, ignored pairs, stale ids,
 * cancelling, threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "support.h"

enum { max_objects = 64, mesh_kinds = 4 };

/* The test's own book of what is in the scene. */
typedef struct member {
  bool alive;
  graze_object_id id;
  int mesh;
  graze_pose pose;
  uint64_t user_id;
  int layer;
} member;

typedef struct world {
  graze_context *context;
  graze_scene *scene;
  graze_mesh *meshes[mesh_kinds];
  int count; /* in order of adding */
  member members[max_objects];
  bool ignored[max_objects][max_objects];
  bool ignored_layers[4][4];
} world;

static const char *const layers[4] = {"", "steel", "pipes", "walls"};

static void world_open(world *w, int threads) {
  static double corners[9 * 512];
  memset(w, 0, sizeof *w);
  w->context = test_context(threads, NULL);
  assert_int_equal(graze_scene_create(w->context, &w->scene), GRAZE_OK);
  uint32_t n = soup_ball(5, 0.5, corners);
  w->meshes[0] = test_mesh(w->context, corners, n, GRAZE_VOLUMES_ORIENTED);
  soup_box((double[3]){0, 0, 0}, (double[3]){1, 1, 1}, corners);
  w->meshes[1] = test_mesh(w->context, corners, 12, GRAZE_VOLUMES_ALIGNED);
  uint64_t state = 70;
  soup_cluttered(&state, 60, 0.4, corners);
  w->meshes[2] = test_mesh(w->context, corners, 60, GRAZE_VOLUMES_ORIENTED);
  w->meshes[3] = test_mesh(w->context, NULL, 0, GRAZE_VOLUMES_ORIENTED);
}

static void world_close(world *w) {
  graze_scene_destroy(w->scene);
  for (int i = 0; i < mesh_kinds; i++) graze_mesh_destroy(w->meshes[i]);
  graze_context_destroy(w->context);
}

static member *world_add(world *w, int mesh, const graze_pose *pose, int layer) {
  member *m = &w->members[w->count];
  graze_object_def def = graze_default_object_def();
  *m = (member){true, {0, 0}, mesh, *pose, 1000 + (uint64_t)w->count * 7, layer};
  def.mesh = w->meshes[mesh];
  def.pose = *pose;
  def.user_id = m->user_id;
  def.name = "object";
  def.layer = layers[layer];
  assert_int_equal(graze_scene_add(w->scene, &def, &m->id), GRAZE_OK);
  assert_true(m->id.generation != 0);
  w->count++;
  return m;
}

static graze_pose random_place(uint64_t *state) { /* half of them on a grid, so that boxes touch exactly */
  if (random_below(state, 2)) return test_random_pose(state, 2);
  return test_translation((int)random_below(state, 4) - 2, (int)random_below(state, 4) - 2,
                          (int)random_below(state, 3) - 1);
}

static bool is_ignored(const world *w, int i, int j) {
  const member *a = &w->members[i], *b = &w->members[j];
  return w->ignored[i][j] || w->ignored[j][i] || w->ignored_layers[a->layer][b->layer] ||
         w->ignored_layers[b->layer][a->layer];
}

static void check_pair(const world *w, const graze_object_pair *got, int i, int j, const graze_collide_result *want,
                       const graze_relate_result *relating, graze_find find) {
  const member *a = &w->members[i], *b = &w->members[j];
  assert_memory_equal(&got->a, &a->id, sizeof a->id);
  assert_memory_equal(&got->b, &b->id, sizeof b->id);
  assert_true(got->user_id_a == a->user_id && got->user_id_b == b->user_id);
  if (find == GRAZE_FIND_ANY) {
    assert_int_equal(got->relation, want->hit ? GRAZE_UNKNOWN : GRAZE_SEPARATE);
    assert_int_equal(got->doubt, want->hit ? GRAZE_DOUBT_NOT_ASKED : GRAZE_DOUBT_NONE);
  } else {
    assert_int_equal(got->relation, relating->relation);
    assert_int_equal(got->doubt, relating->doubt);
    assert_int_equal(got->doubt_mesh, relating->doubt_mesh);
    assert_memory_equal(got->doubt_point, relating->doubt_point, sizeof relating->doubt_point);
  }
  if (find != GRAZE_FIND_ANY) test_assert_counts(&got->counts, &want->counts);
  if (find == GRAZE_FIND_ALL) test_assert_pairs(got->pairs, want->pairs, want->counts.triangle_pairs);
  if (find == GRAZE_FIND_COUNT) assert_null(got->pairs);
}

static void check_world(const world *w, graze_find find, graze_exactness exactness, bool all_pairs) {
  graze_query *query = NULL, *other = NULL;
  graze_scene_check_options options = graze_default_scene_check_options();
  graze_relate_options relate = graze_default_relate_options();
  graze_collide_options single = graze_default_collide_options();
  graze_scene_check_result result;
  options.find = find;
  options.exactness = single.exactness = relate.exactness = exactness;
  options.all_pairs = all_pairs;
  memset(&result, 0xEE, sizeof result);
  assert_int_equal(graze_scene_check(w->scene, &options, &result), GRAZE_OK);
  assert_int_equal(graze_query_create(w->context, &query), GRAZE_OK);
  assert_int_equal(graze_query_create(w->context, &other), GRAZE_OK);
  uint64_t listed = 0, clashes = 0, object_pairs = 0, ignored = 0;
  for (int i = 0; i < w->count; i++) {
    for (int j = i + 1; j < w->count; j++) {
      const member *a = &w->members[i], *b = &w->members[j];
      graze_collide_result want;
      if (!a->alive || !b->alive) continue;
      if (is_ignored(w, i, j)) {
        ignored++;
        continue;
      }
      object_pairs++;
      assert_int_equal(
          graze_collide_meshes(query, w->meshes[a->mesh], &a->pose, w->meshes[b->mesh], &b->pose, &single, &want),
          GRAZE_OK);
      graze_relate_result relating;
      assert_int_equal(
          graze_relate_meshes(other, w->meshes[a->mesh], &a->pose, w->meshes[b->mesh], &b->pose, &relate, &relating),
          GRAZE_OK);
      bool clash = find == GRAZE_FIND_ANY ? want.hit : relating.relation != GRAZE_SEPARATE;
      clashes += clash;
      if (!clash && !all_pairs) continue;
      assert_true(listed < result.pair_count);
      check_pair(w, &result.pairs[listed++], i, j, &want, &relating, find);
    }
  }
  assert_int_equal(result.pair_count, listed);
  assert_int_equal(result.clashes, clashes);
  assert_int_equal(result.object_pairs, object_pairs);
  assert_int_equal(result.ignored_pairs, ignored);
  assert_true(result.candidate_pairs >= clashes && result.candidate_pairs <= object_pairs);
  graze_query_destroy(query);
  graze_query_destroy(other);
}

static void test_random_worlds(void **unused) {
  (void)unused;
  uint64_t state = 1;
  for (int round = 0; round < (test_long() ? 200 : 12); round++) {
    world w;
    world_open(&w, 1 + round % 3);
    uint32_t n = random_below(&state, 40);
    for (uint32_t i = 0; i < n; i++) {
      graze_pose pose = random_place(&state);
      world_add(&w, (int)random_below(&state, mesh_kinds), &pose, (int)random_below(&state, 4));
    }
    for (int step = 0; step < 5; step++) {
      check_world(&w, (graze_find)(step % 3), step == 3 ? GRAZE_T2 : GRAZE_T1, step & 1);
      for (int change = 0; change < 6 && w.count > 1; change++) { /* between checks the world changes */
        int i = (int)random_below(&state, (uint32_t)w.count), j = (int)random_below(&state, (uint32_t)w.count);
        member *m = &w.members[i];
        graze_pose pose = random_place(&state);
        if (!m->alive) continue;
        if (change < 2) {
          assert_int_equal(graze_scene_set_pose(w.scene, m->id, &pose), GRAZE_OK);
          m->pose = pose;
        } else if (change == 2) {
          assert_int_equal(graze_scene_remove(w.scene, m->id), GRAZE_OK);
          m->alive = false;
        } else if (change == 3 && i != j && w.members[j].alive) {
          assert_int_equal(graze_scene_ignore(w.scene, m->id, w.members[j].id), GRAZE_OK);
          w.ignored[i][j] = true;
        } else if (change == 4 && w.count < max_objects) {
          world_add(&w, 0, &pose, 1); /* may get the place of a removed one, yet comes last */
        } else if (change == 5 && step == 2) {
          assert_int_equal(graze_scene_ignore_layers(w.scene, "steel", round & 1 ? "steel" : "pipes"), GRAZE_OK);
          w.ignored_layers[1][round & 1 ? 1 : 2] = true;
        }
      }
    }
    uint32_t alive = 0;
    for (int i = 0; i < w.count; i++) alive += w.members[i].alive;
    assert_int_equal(graze_scene_object_count(w.scene), alive);
    world_close(&w);
  }
}

static void test_handles(void **unused) {
  (void)unused;
  world w;
  world_open(&w, 1);
  graze_pose here = graze_pose_identity();
  graze_object_id first = world_add(&w, 0, &here, 0)->id, second = world_add(&w, 0, &here, 0)->id;
  graze_object_id none = {0, 0}, far = {12345, 1};
  assert_int_equal(graze_scene_remove(w.scene, none), GRAZE_ERROR_HANDLE);
  assert_int_equal(graze_scene_remove(w.scene, far), GRAZE_ERROR_HANDLE);
  assert_int_equal(graze_scene_remove(w.scene, first), GRAZE_OK);
  assert_int_equal(graze_scene_remove(w.scene, first), GRAZE_ERROR_HANDLE);
  assert_int_equal(graze_scene_set_pose(w.scene, first, &here), GRAZE_ERROR_HANDLE);
  assert_int_equal(graze_scene_ignore(w.scene, first, second), GRAZE_ERROR_HANDLE);
  assert_int_equal(graze_scene_ignore(w.scene, second, first), GRAZE_ERROR_HANDLE);
  w.members[0].alive = false;
  graze_object_id third = world_add(&w, 0, &here, 0)->id;
  assert_true(third.index != first.index || third.generation != first.generation);
  assert_int_equal(graze_scene_set_pose(w.scene, first, &here), GRAZE_ERROR_HANDLE); /* still stale */
  check_world(&w, GRAZE_FIND_ALL, GRAZE_T1, false);
  /* An ignored pair dies with its objects: the newcomer in the same place is not ignored. */
  assert_int_equal(graze_scene_ignore(w.scene, second, third), GRAZE_OK);
  w.ignored[1][2] = true;
  check_world(&w, GRAZE_FIND_COUNT, GRAZE_T1, false);
  assert_int_equal(graze_scene_remove(w.scene, third), GRAZE_OK);
  w.members[2].alive = false;
  world_add(&w, 0, &here, 0);
  check_world(&w, GRAZE_FIND_COUNT, GRAZE_T1, false);
  world_close(&w);
}

static void test_bad_input(void **unused) {
  (void)unused;
  world w;
  world_open(&w, 1);
  graze_pose here = graze_pose_identity(), broken = here;
  graze_object_id id = world_add(&w, 0, &here, 0)->id, out = {77, 77};
  graze_object_def def = graze_default_object_def();
  broken.m[5] = NAN;
  assert_int_equal(graze_scene_set_pose(w.scene, id, &broken), GRAZE_ERROR_NOT_FINITE);
  assert_int_equal(graze_scene_add(w.scene, &def, &out), GRAZE_ERROR_ARGUMENT); /* no mesh */
  def.mesh = w.meshes[0];
  def.pose = broken;
  assert_int_equal(graze_scene_add(w.scene, &def, &out), GRAZE_ERROR_NOT_FINITE);
  def.pose = here;
  def.cookie = 0;
  assert_int_equal(graze_scene_add(w.scene, &def, &out), GRAZE_ERROR_ARGUMENT);
  assert_true(out.index == 77 && out.generation == 77);
  assert_int_equal(graze_scene_add(NULL, &def, &out), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_scene_set_pose(w.scene, id, NULL), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_scene_ignore_layers(w.scene, NULL, "a"), GRAZE_ERROR_ARGUMENT);
  graze_scene_check_options options = graze_default_scene_check_options();
  graze_scene_check_result result, before;
  memset(&result, 0xEE, sizeof result);
  before = result;
  options.cookie = 0;
  assert_int_equal(graze_scene_check(w.scene, &options, &result), GRAZE_ERROR_ARGUMENT);
  options = graze_default_scene_check_options();
  options.exactness = GRAZE_T0; /* T0 takes the identity only */
  graze_pose moved = test_translation(0.25, 0, 0);
  world_add(&w, 0, &moved, 0);
  assert_int_equal(graze_scene_check(w.scene, &options, &result), GRAZE_ERROR_POSE);
  graze_pose blow = {{0x1p1023, 0, 0, 0x1p1023, 0, 0x1p1023, 0, 0x1p1023, 0, 0, 0x1p1023, 0x1p1023}};
  world_add(&w, 1, &blow, 0);
  assert_int_equal(graze_scene_check(w.scene, NULL, &result), GRAZE_ERROR_NOT_FINITE); /* overflows when posed */
  assert_memory_equal(&result, &before, sizeof result);
  assert_int_equal(graze_scene_check(w.scene, NULL, NULL), GRAZE_ERROR_ARGUMENT);
  world_close(&w);
}

typedef struct stopper {
  uint64_t calls, stop_after, last_done, total;
  bool ordered;
} stopper;

static bool progress(void *user, uint64_t done, uint64_t total) {
  stopper *s = user;
  s->ordered = s->ordered && done >= s->last_done && done <= total;
  s->last_done = done;
  s->total = total;
  return ++s->calls <= s->stop_after;
}

static void test_progress_and_cancel(void **unused) {
  (void)unused;
  for (int threads = 1; threads <= 2; threads++) {
    world w;
    world_open(&w, threads);
    for (int i = 0; i < 60; i++) {
      graze_pose pose = test_translation(0.01 * i, 0, 0);
      world_add(&w, i & 1 ? 0 : 2, &pose, 0);
    }
    stopper s = {0, UINT64_MAX, 0, 0, true};
    graze_scene_check_options options = graze_default_scene_check_options();
    graze_scene_check_result result;
    options.progress = progress;
    options.progress_user = &s;
    assert_int_equal(graze_scene_check(w.scene, &options, &result), GRAZE_OK);
    assert_true(s.calls > 0 && s.ordered);
    assert_int_equal(s.total, result.candidate_pairs);
    uint64_t clashes = result.clashes;
    s = (stopper){0, 0, 0, 0, true}; /* stop at the first call */
    assert_int_equal(graze_scene_check(w.scene, &options, &result), GRAZE_CANCELLED);
    assert_int_equal(s.calls, 1);
    assert_true(result.clashes < clashes);
    options.progress = NULL;
    assert_int_equal(graze_scene_check(w.scene, &options, &result), GRAZE_OK); /* the scene is as good as new */
    assert_int_equal(result.clashes, clashes);
    world_close(&w);
  }
}

/* One scene, any number of threads: the same pairs, counts, lists. */
static void test_threads(void **unused) {
  (void)unused;
  graze_object_pair *first = NULL;
  uint64_t count = 0;
  for (int threads = 1; threads <= 4; threads++) {
    world w;
    uint64_t state = 5;
    world_open(&w, threads);
    for (int i = 0; i < max_objects; i++) {
      graze_pose pose = random_place(&state);
      world_add(&w, (int)random_below(&state, 3), &pose, 0);
    }
    graze_scene_check_options options = graze_default_scene_check_options();
    graze_scene_check_result result;
    options.find = GRAZE_FIND_ALL;
    assert_int_equal(graze_scene_check(w.scene, &options, &result), GRAZE_OK);
    if (!first) {
      count = result.pair_count;
      assert_true(count > 50);
      first = malloc(count * sizeof *first);
      memcpy(first, result.pairs, count * sizeof *first);
    }
    assert_int_equal(result.pair_count, count);
    for (uint64_t i = 0; i < count; i++) {
      const graze_object_pair *p = &result.pairs[i];
      assert_memory_equal(&p->a, &first[i].a, sizeof p->a);
      assert_memory_equal(&p->b, &first[i].b, sizeof p->b);
      test_assert_counts(&p->counts, &first[i].counts);
      uint64_t hash = 0;
      for (uint64_t k = 0; k < p->counts.triangle_pairs; k++) hash += graze_pair_hash(p->pairs[k].a, p->pairs[k].b);
      assert_true(hash == p->counts.hash);
    }
    world_close(&w);
  }
  free(first);
}

static void test_empty(void **unused) {
  (void)unused;
  world w;
  world_open(&w, 1);
  check_world(&w, GRAZE_FIND_ALL, GRAZE_T0, true);
  graze_pose here = graze_pose_identity();
  world_add(&w, 3, &here, 0); /* an empty mesh has no box and meets nothing */
  check_world(&w, GRAZE_FIND_ALL, GRAZE_T0, true);
  world_add(&w, 1, &here, 0);
  check_world(&w, GRAZE_FIND_ALL, GRAZE_T0, true);
  world_close(&w);
  graze_scene_destroy(NULL);
  assert_int_equal(graze_scene_create(NULL, &w.scene), GRAZE_ERROR_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_worlds),       cmocka_unit_test(test_handles), cmocka_unit_test(test_bad_input),
      cmocka_unit_test(test_progress_and_cancel), cmocka_unit_test(test_threads), cmocka_unit_test(test_empty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
