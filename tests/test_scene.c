/* Scenes against single queries: every pair, its counts, list and hash; order, layers, ignored pairs, stale ids,
 * cancelling, threads, meshes that are loaded when a pair needs them. */
#include <math.h>
#include <stdatomic.h>
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

/* A mesh that is handed out when the scene asks for it. */
typedef struct lazy_mesh {
  graze_mesh_source source;
  const graze_mesh *mesh;
  graze_status status; /* instead of the mesh, unless it is OK */
  _Atomic int loads;
} lazy_mesh;

typedef struct world {
  graze_context *context;
  graze_scene *scene;
  graze_mesh *meshes[mesh_kinds];
  bool lazy; /* objects get sources */
  lazy_mesh sources[mesh_kinds];
  test_log log;
  int count; /* in order of adding */
  member members[max_objects];
  bool ignored[max_objects][max_objects];
  bool ignored_layers[4][4];
} world;

static const char *const layers[4] = {"", "steel", "pipes", "walls"};

static graze_status load_lazy(void *user, const graze_mesh **mesh) {
  lazy_mesh *lazy = user;
  lazy->loads++;
  if (lazy->status == GRAZE_OK) *mesh = lazy->mesh;
  return lazy->status;
}

static void world_open(world *w, int threads) {
  static double corners[9 * 512];
  memset(w, 0, sizeof *w);
  w->context = test_context(threads, &w->log);
  assert_int_equal(graze_scene_create(w->context, &w->scene), GRAZE_OK);
  uint32_t n = soup_ball(5, 0.5, corners);
  w->meshes[0] = test_mesh(w->context, corners, n, GRAZE_VOLUMES_ORIENTED);
  soup_box((double[3]){0, 0, 0}, (double[3]){1, 1, 1}, corners);
  w->meshes[1] = test_mesh(w->context, corners, 12, GRAZE_VOLUMES_ALIGNED);
  uint64_t state = 70;
  soup_cluttered(&state, 60, 0.4, corners);
  w->meshes[2] = test_mesh(w->context, corners, 60, GRAZE_VOLUMES_ORIENTED);
  w->meshes[3] = test_mesh(w->context, NULL, 0, GRAZE_VOLUMES_ORIENTED);
  for (int i = 0; i < mesh_kinds; i++) {
    lazy_mesh *lazy = &w->sources[i];
    lazy->mesh = w->meshes[i];
    lazy->source = (graze_mesh_source){.load = load_lazy, .user = lazy};
    graze_mesh_get_facts(lazy->mesh, &lazy->source.facts);
  }
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
  if (w->lazy)
    def.source = &w->sources[mesh].source;
  else
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
    assert_int_equal(got->verdict.relation, want->hit ? GRAZE_UNKNOWN : GRAZE_SEPARATE);
    assert_int_equal(got->verdict.doubt, want->hit ? GRAZE_DOUBT_NOT_ASKED : GRAZE_DOUBT_NONE);
  } else {
    assert_int_equal(got->verdict.relation, relating->verdict.relation);
    assert_int_equal(got->verdict.doubt, relating->verdict.doubt);
    assert_int_equal(got->verdict.doubt_mesh, relating->verdict.doubt_mesh);
    assert_memory_equal(got->verdict.doubt_point, relating->verdict.doubt_point, sizeof relating->verdict.doubt_point);
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
      bool clash = find == GRAZE_FIND_ANY ? want.hit : relating.verdict.relation != GRAZE_SEPARATE;
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
    w.lazy = round % 2 == 1;
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
    for (int i = 0; i < mesh_kinds; i++) assert_in_range(w.sources[i].loads, 0, w.lazy);
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
  options.part = options.parts = 3;
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

/* ---- meshes that are loaded when a pair needs them ---- */

/* Three boxes in a row, of which two meet, and an empty mesh and a distant ball. */
static void lazy_row(world *w) {
  world_open(w, 2);
  w->lazy = true;
  static const int kinds[5] = {1, 2, 1, 3, 0};
  static const double places[5] = {0, 0.5, 0.75, 0, 1000};
  for (int i = 0; i < 5; i++) {
    graze_pose pose = test_translation(places[i], 0, 0);
    world_add(w, kinds[i], &pose, i == 1);
  }
}

static void assert_loads(const world *w, int ball, int box, int clutter, int empty) {
  const int want[mesh_kinds] = {ball, box, clutter, empty};
  for (int i = 0; i < mesh_kinds; i++) assert_int_equal(w->sources[i].loads, want[i]);
}

static void test_loads_what_is_needed(void **unused) {
  (void)unused;
  world w;
  graze_object_def def;
  lazy_row(&w);
  assert_int_equal(graze_scene_ignore_layers(w.scene, "steel", "steel"), GRAZE_OK);
  assert_int_equal(graze_scene_ignore(w.scene, w.members[1].id, w.members[0].id), GRAZE_OK);
  assert_int_equal(graze_scene_ignore(w.scene, w.members[1].id, w.members[2].id), GRAZE_OK);
  w.ignored[1][0] = w.ignored[1][2] = w.ignored_layers[1][1] = true;
  check_world(&w, GRAZE_FIND_ALL, GRAZE_T1, true);
  assert_loads(&w, 0, 1, 0, 0); /* the two boxes meet, and share a mesh */
  assert_int_equal(graze_scene_get_object(w.scene, w.members[2].id, &def), GRAZE_OK);
  assert_true(def.mesh == w.meshes[1] && def.source == &w.sources[1].source);
  assert_int_equal(graze_scene_get_object(w.scene, w.members[4].id, &def), GRAZE_OK);
  assert_true(def.mesh == NULL && def.source == &w.sources[0].source);
  graze_pose near = test_translation(0.5, 0.25, 0);
  world_add(&w, 0, &near, 0);
  world_add(&w, 1, &near, 0);
  check_world(&w, GRAZE_FIND_COUNT, GRAZE_T1, false);
  assert_loads(&w, 1, 1, 1, 0);
  world_close(&w);
}

static void test_failing_sources(void **unused) {
  (void)unused;
  world w;
  graze_scene_check_result result;
  lazy_row(&w);
  w.sources[2].status = GRAZE_ERROR_FILE;
  assert_int_equal(graze_scene_check(w.scene, NULL, &result), GRAZE_ERROR_FILE);
  assert_string_equal(w.log.last, "object \"object\": its mesh was not loaded: file cannot be read or written");
  w.sources[2].status = GRAZE_CANCELLED;
  assert_int_equal(graze_scene_check(w.scene, NULL, &result), GRAZE_CANCELLED);
  assert_int_equal(result.clashes, 0);
  w.sources[2].status = GRAZE_OK;
  w.sources[2].mesh = w.meshes[0]; /* another one than it was said to be */
  assert_int_equal(graze_scene_check(w.scene, NULL, &result), GRAZE_ERROR_FORMAT);
  w.sources[2].mesh = NULL;
  assert_int_equal(graze_scene_check(w.scene, NULL, &result), GRAZE_ERROR_ARGUMENT);
  w.sources[2].mesh = w.meshes[2];
  check_world(&w, GRAZE_FIND_ALL, GRAZE_T1, false);
  assert_loads(&w, 0, 1, 5, 0); /* what was loaded beside the faulty one stays */
  world_close(&w);
}

static void test_refused_sources(void **unused) {
  (void)unused;
  world w;
  lazy_row(&w);
  graze_object_def def = graze_default_object_def();
  graze_mesh_source broken = w.sources[1].source;
  def.source = &broken;
  def.mesh = w.meshes[1];
  assert_int_equal(graze_scene_add(w.scene, &def, NULL), GRAZE_ERROR_ARGUMENT);
  def.mesh = NULL;
  broken.facts.box.max[2] = INFINITY;
  assert_int_equal(graze_scene_add(w.scene, &def, NULL), GRAZE_ERROR_NOT_FINITE);
  broken.facts.box.max[2] = -1;
  assert_int_equal(graze_scene_add(w.scene, &def, NULL), GRAZE_ERROR_NOT_FINITE);
  broken.facts.triangles = (uint64_t)1 << 32;
  assert_int_equal(graze_scene_add(w.scene, &def, NULL), GRAZE_ERROR_LIMIT);
  broken.load = NULL;
  assert_int_equal(graze_scene_add(w.scene, &def, NULL), GRAZE_ERROR_ARGUMENT);
  world_close(&w);
}

/* A box that overflows says nothing of the coordinates: the mesh is asked. */
static void test_overflowing_sources(void **unused) {
  (void)unused;
  for (int round = 0; round < 4; round++) {
    world w;
    graze_scene_check_result result;
    graze_scene_update_result events;
    graze_pose blow = {{0x1.8p1023, 0x1.8p1023, 0, 0x1.6p1022, 0, 1, 0, 0, 0, 0, 1, 0}};
    world_open(&w, 2);
    w.lazy = true;
    bool ball = round % 2; /* it has no coordinate that overflows */
    world_add(&w, ball ? 0 : 1, &blow, 0);
    graze_status status =
        round < 2 ? graze_scene_check(w.scene, NULL, &result) : graze_scene_update(w.scene, NULL, &events);
    assert_int_equal(status, ball ? GRAZE_OK : GRAZE_ERROR_NOT_FINITE);
    assert_loads(&w, ball, !ball, 0, 0);
    world_close(&w);
  }
}

/* The same story, told of objects with meshes and with sources. */
static void test_lazy_updates(void **unused) {
  (void)unused;
  world w[2];
  for (int k = 0; k < 2; k++) {
    world_open(&w[k], 2);
    w[k].lazy = k == 1;
    for (int i = 0; i < 30; i++) {
      graze_pose pose = test_translation(3.0 * i, 0, 0);
      world_add(&w[k], i % mesh_kinds, &pose, 0);
    }
  }
  uint64_t state = 17, pairs = 0;
  for (int step = 0; step < 20; step++) {
    graze_scene_update_result events[2];
    int mover = (int)random_below(&state, 30), target = step < 3 ? mover : (int)random_below(&state, 30);
    graze_pose pose = test_translation(3.0 * target + 0.25, 0.125, 0);
    for (int k = 0; k < 2; k++) {
      assert_int_equal(graze_scene_set_pose(w[k].scene, w[k].members[mover].id, &pose), GRAZE_OK);
      assert_int_equal(graze_scene_update(w[k].scene, NULL, &events[k]), GRAZE_OK);
    }
    assert_true(events[0].hash == events[1].hash);
    assert_int_equal(events[0].began_count, events[1].began_count);
    assert_int_equal(events[0].persist_count, events[1].persist_count);
    assert_int_equal(events[0].ended_count, events[1].ended_count);
    assert_int_equal(events[0].candidate_pairs, events[1].candidate_pairs);
    assert_int_equal(events[0].decided_pairs, events[1].decided_pairs);
    if (step < 3) assert_loads(&w[1], 0, 0, 0, 0); /* all stand alone */
    pairs += events[0].began_count;
  }
  assert_true(pairs > 5);
  for (int i = 0; i < mesh_kinds; i++) assert_int_equal(w[1].sources[i].loads, i < 3);
  graze_scene *read = NULL; /* a snapshot has every mesh */
  assert_int_equal(graze_scene_save(w[1].scene, "lazy.scene"), GRAZE_OK);
  assert_loads(&w[1], 1, 1, 1, 1);
  assert_int_equal(graze_scene_load(w[1].context, "lazy.scene", &read), GRAZE_OK);
  assert_int_equal(graze_scene_object_count(read), 30);
  graze_scene_destroy(read);
  remove("lazy.scene");
  for (int k = 0; k < 2; k++) world_close(&w[k]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_worlds),
      cmocka_unit_test(test_handles),
      cmocka_unit_test(test_bad_input),
      cmocka_unit_test(test_progress_and_cancel),
      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_empty),
      cmocka_unit_test(test_loads_what_is_needed),
      cmocka_unit_test(test_failing_sources),
      cmocka_unit_test(test_refused_sources),
      cmocka_unit_test(test_overflowing_sources),
      cmocka_unit_test(test_lazy_updates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
