/* Engines made here: one with some stages, one that declines, one that fails, one that was built when there were fewer
 * stages. What it does not answer the processor does; what it answers is taken as it is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "graze/engine.h"
#include "support.h"

enum { BOXES = 200, TRIANGLES = 60, PAIRS = 50, POSES = 3 };

static const uint64_t MARK = 0x1234567; /* of an answer that only this engine gives */

/* ---- the engine -------------------------------------------------------------------------------------------------- */

/* The processor's answers, marked: hashes get MARK, and pairs of triangles all become areas. Lists are spoilt when
 * they are given back. */
static struct fake {
  graze_query *query;
  graze_broadphase *broad;
  graze_status status; /* what stages return in place of OK */
  bool wanted;         /* take gives true */
  bool taken;
  uint32_t asked[GRAZE_STAGES], offered[GRAZE_STAGES], forgotten;
  uint64_t a, b; /* of the last offer */
  graze_broad_method method;
  graze_triangle_pair triangle_pairs[TRIANGLES * TRIANGLES];
  graze_box_pair box_pairs[BOXES * BOXES];
} fake;

static void cause_error(void);

static bool take(void *user, graze_stage stage, uint64_t a, uint64_t b) {
  assert_ptr_equal(user, &fake);
  assert_false(fake.taken);
  fake.offered[stage]++;
  fake.a = a;
  fake.b = b;
  return fake.taken = fake.wanted;
}

static void give(void *user) {
  assert_ptr_equal(user, &fake);
  assert_true(fake.taken);
  fake.taken = false;
  memset(fake.triangle_pairs, 0xff, sizeof fake.triangle_pairs);
  memset(fake.box_pairs, 0xff, sizeof fake.box_pairs);
}

static void forget(void *user, const graze_mesh *mesh) {
  assert_ptr_equal(user, &fake);
  assert_non_null(mesh);
  fake.forgotten++;
}

/* An engine that fails may have had an error of its own. */
static graze_status answer(graze_stage stage) {
  assert_true(fake.taken);
  if (fake.status == GRAZE_ERROR_DEVICE) cause_error();
  fake.asked[stage]++;
  return fake.status;
}

static const graze_triangle_pair *keep(const graze_triangle_pair *pairs, uint64_t count) {
  if (pairs == NULL) return NULL;
  memcpy(fake.triangle_pairs, pairs, count * sizeof *pairs);
  return fake.triangle_pairs;
}

static graze_status tritri(void *user, void *question) {
  const graze_tritri_question *q = question;
  (void)user;
  for (uint64_t i = 0; i < q->count; i++) q->results[i] = (graze_tritri){GRAZE_KIND_AREA, 1, 3};
  return answer(GRAZE_STAGE_TRITRI);
}

static graze_status meshes(graze_stage stage, const graze_mesh_question *q) {
  graze_collide_options options = graze_default_collide_options();
  options.find = q->find;
  for (uint32_t k = 0; k < q->count; k++) {
    graze_collide_result *r = &q->results[k];
    graze_status status = graze_collide_meshes(fake.query, q->a, q->pose_a, q->b, &q->poses_b[k], &options, r);
    if (status != GRAZE_OK) return GRAZE_ERROR_UNSUPPORTED; /* the processor says what is wrong */
    r->pairs = keep(r->pairs, r->counts.triangle_pairs);
    r->counts.hash += MARK;
  }
  return answer(stage);
}

static graze_status collide(void *user, void *question) {
  (void)user;
  return meshes(GRAZE_STAGE_COLLIDE, question);
}

static graze_status poses(void *user, void *question) {
  (void)user;
  return meshes(GRAZE_STAGE_POSES, question);
}

static graze_status self(void *user, void *question) {
  graze_self_question *q = question;
  graze_collide_options options = graze_default_collide_options();
  (void)user;
  options.find = q->find;
  assert_int_equal(graze_collide_self(fake.query, q->mesh, &options, &q->result), GRAZE_OK);
  q->result.pairs = keep(q->result.pairs, q->result.self_pairs);
  q->result.hash += MARK;
  return answer(GRAZE_STAGE_SELF);
}

static graze_status boxes(void *user, void *question) {
  graze_broad_question *q = question;
  const graze_box_pair *pairs;
  (void)user;
  fake.method = q->method;
  if (graze_broadphase_find(fake.broad, q->boxes, q->count, q->unsorted, &pairs, &q->pair_count) != GRAZE_OK)
    return GRAZE_ERROR_UNSUPPORTED;
  memcpy(fake.box_pairs, pairs, q->pair_count * sizeof *pairs);
  q->pairs = fake.box_pairs;
  q->used = GRAZE_BROAD_BSP;
  snprintf(q->reason, sizeof q->reason, "this is a test");
  return answer(GRAZE_STAGE_BOXES);
}

static graze_status spheres(void *user, void *question) {
  graze_broad_question *q = question;
  const graze_box_pair *pairs;
  (void)user;
  fake.method = q->method;
  q->used = GRAZE_BROAD_BSP;
  if (q->only_count) {
    q->pair_count = 17;
    q->hash = MARK;
    return answer(GRAZE_STAGE_SPHERES);
  }
  if (graze_broadphase_find_spheres(fake.broad, q->spheres, q->count, q->unsorted, &pairs, &q->pair_count) != GRAZE_OK)
    return GRAZE_ERROR_UNSUPPORTED;
  memcpy(fake.box_pairs, pairs, q->pair_count * sizeof *pairs);
  q->pairs = fake.box_pairs;
  return answer(GRAZE_STAGE_SPHERES);
}

static const graze_stage_function all_stages[GRAZE_STAGES] = {tritri, collide, self, poses, boxes, spheres};

/* ---- questions --------------------------------------------------------------------------------------------------- */

static struct {
  graze_context *context, *plain;
  graze_query *query;
  graze_broadphase *broad;
  double corners[9 * TRIANGLES]; /* of the second mesh */
  graze_mesh *meshes[2];
  graze_pose poses[POSES];
  double centers[3 * BOXES], radii[BOXES], columns[18][PAIRS];
  graze_box boxes[BOXES];
  const double *a[9], *b[9];
  char warning[256]; /* the logger's last */
  char error[512];
} on;

static void keep_message(void *user, graze_log_level level, const char *message) {
  (void)user;
  if (level == GRAZE_LOG_WARNING) snprintf(on.warning, sizeof on.warning, "%s", message);
  if (level == GRAZE_LOG_ERROR) snprintf(on.error, sizeof on.error, "%s", message);
}

static graze_context *logged_context(void) {
  graze_context_def def = graze_default_context_def();
  graze_context *context = NULL;
  def.threads = 2;
  def.log = keep_message;
  assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
  return context;
}

static void cause_error(void) {
  graze_tritri result;
  assert_int_equal(graze_tritri_batch(on.context, UINT64_MAX, on.a, on.b, &result), GRAZE_ERROR_LIMIT);
}

static int begin(void **state) {
  uint64_t random = 1;
  (void)state;
  on.context = logged_context();
  on.plain = logged_context();
  assert_int_equal(graze_query_create(on.context, &on.query), GRAZE_OK);
  assert_int_equal(graze_broadphase_create(on.context, NULL, &on.broad), GRAZE_OK);
  assert_int_equal(graze_query_create(on.plain, &fake.query), GRAZE_OK);
  assert_int_equal(graze_broadphase_create(on.plain, NULL, &fake.broad), GRAZE_OK);
  for (int m = 0; m < 2; m++) {
    soup_lattice(&random, TRIANGLES, 6, on.corners);
    on.meshes[m] = test_mesh(on.context, on.corners, TRIANGLES, GRAZE_VOLUMES_ALIGNED);
  }
  for (int i = 0; i < POSES; i++) on.poses[i] = test_translation(i, 0.5 * i, 0);
  for (int i = 0; i < BOXES; i++) {
    on.radii[i] = random_unit(&random) / 8;
    for (int k = 0; k < 3; k++) {
      on.centers[3 * i + k] = random_unit(&random);
      on.boxes[i].min[k] = on.centers[3 * i + k] - on.radii[i];
      on.boxes[i].max[k] = on.centers[3 * i + k] + on.radii[i];
    }
  }
  for (int k = 0; k < 18; k++) {
    for (int i = 0; i < PAIRS; i++) on.columns[k][i] = random_signed(&random);
    *(k < 9 ? &on.a[k] : &on.b[k - 9]) = on.columns[k];
  }
  return 0;
}

static int finish(void **state) {
  (void)state;
  for (int m = 0; m < 2; m++) graze_mesh_destroy(on.meshes[m]);
  graze_query_destroy(on.query);
  graze_broadphase_destroy(on.broad);
  graze_query_destroy(fake.query);
  graze_broadphase_destroy(fake.broad);
  graze_context_destroy(on.context);
  graze_context_destroy(on.plain);
  return 0;
}

static void use_engine(const graze_stage_function *stages, uint32_t count, graze_status status) {
  const graze_engine engine = {&fake, stages, count, take, give, forget};
  memset(fake.asked, 0, sizeof fake.asked);
  memset(fake.offered, 0, sizeof fake.offered);
  fake.status = status;
  fake.wanted = true;
  on.warning[0] = on.error[0] = 0;
  assert_int_equal(graze_context_set_engine(on.context, &engine), GRAZE_OK);
}

/* All that can be asked, and whether the engine's answer came: with its marks or without, in full in any case. */
static void ask_tritri(bool by_engine) {
  graze_tritri got[PAIRS], want[PAIRS];
  assert_int_equal(graze_tritri_batch(on.plain, PAIRS, on.a, on.b, want), GRAZE_OK);
  assert_int_equal(graze_tritri_batch(on.context, PAIRS, on.a, on.b, got), GRAZE_OK);
  for (int i = 0; i < PAIRS; i++) {
    if (by_engine) want[i] = (graze_tritri){GRAZE_KIND_AREA, 1, 3};
    assert_memory_equal(&got[i], &want[i], sizeof got[i]);
  }
}

static void ask_meshes(bool by_engine) {
  graze_collide_result got, want;
  graze_self_result got_self, want_self;
  assert_int_equal(graze_collide_meshes(fake.query, on.meshes[0], NULL, on.meshes[1], NULL, NULL, &want), GRAZE_OK);
  assert_int_equal(graze_collide_meshes(on.query, on.meshes[0], NULL, on.meshes[1], NULL, NULL, &got), GRAZE_OK);
  if (by_engine) want.counts.hash += MARK;
  assert_true(want.hit);
  test_assert_counts(&got.counts, &want.counts);
  test_assert_pairs(got.pairs, want.pairs, want.counts.triangle_pairs);
  assert_int_equal(graze_collide_self(fake.query, on.meshes[0], NULL, &want_self), GRAZE_OK);
  assert_int_equal(graze_collide_self(on.query, on.meshes[0], NULL, &got_self), GRAZE_OK);
  if (by_engine) want_self.hash += MARK;
  assert_true(want_self.self_pairs > 0);
  test_assert_self(&got_self, &want_self);
  test_assert_pairs(got_self.pairs, want_self.pairs, want_self.self_pairs);
}

static void ask_poses(bool by_engine) {
  graze_collide_result got[POSES], want[POSES];
  const graze_mesh *const *m = (const graze_mesh *const *)on.meshes;
  assert_int_equal(graze_collide_poses(fake.query, m[0], NULL, m[1], on.poses, POSES, NULL, want), GRAZE_OK);
  assert_int_equal(graze_collide_poses(on.query, m[0], NULL, m[1], on.poses, POSES, NULL, got), GRAZE_OK);
  for (int i = 0; i < POSES; i++) {
    if (by_engine) want[i].counts.hash += MARK;
    test_assert_counts(&got[i].counts, &want[i].counts);
    assert_null(got[i].pairs);
  }
}

static void ask_broad(bool by_engine) {
  const graze_box_array box_array = {on.boxes, 0, GRAZE_DOUBLE};
  const graze_sphere_array sphere_array = {on.centers, on.radii, 0, 0, GRAZE_DOUBLE};
  const graze_box_pair *got, *want;
  uint64_t got_count, want_count, hash, want_hash = 0;
  assert_int_equal(graze_broadphase_find(fake.broad, &box_array, BOXES, false, &want, &want_count), GRAZE_OK);
  assert_int_equal(graze_broadphase_find(on.broad, &box_array, BOXES, false, &got, &got_count), GRAZE_OK);
  assert_true(got_count == want_count && want_count > 10);
  assert_memory_equal(got, want, want_count * sizeof *want);
  graze_broad_report report = graze_broadphase_report(on.broad);
  assert_true(report.by_engine == by_engine);
  assert_true((report.method == GRAZE_BROAD_BSP) == by_engine);
  assert_true((strcmp(report.reason, "this is a test") == 0) == by_engine);
  assert_int_equal(graze_broadphase_find_spheres(fake.broad, &sphere_array, BOXES, false, &want, &want_count),
                   GRAZE_OK);
  assert_int_equal(graze_broadphase_find_spheres(on.broad, &sphere_array, BOXES, false, &got, &got_count), GRAZE_OK);
  assert_true(got_count == want_count && want_count > 10);
  assert_memory_equal(got, want, want_count * sizeof *want);
  for (uint64_t i = 0; i < want_count; i++) want_hash += graze_pair_hash(want[i].a, want[i].b);
  assert_int_equal(graze_broadphase_count_spheres(on.broad, &sphere_array, BOXES, &got_count, &hash), GRAZE_OK);
  assert_true(got_count == (by_engine ? 17 : want_count) && hash == (by_engine ? MARK : want_hash));
  assert_true(graze_broadphase_report(on.broad).by_engine == by_engine);
}

static void ask_everything(bool by_engine) {
  ask_tritri(by_engine);
  ask_meshes(by_engine);
  ask_poses(by_engine);
  ask_broad(by_engine);
}

static void expect_asked(uint32_t each) {
  for (int s = 0; s < GRAZE_STAGE_WORLD; s++)
    assert_int_equal(fake.asked[s], s == GRAZE_STAGE_SPHERES ? 2 * each : each);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void test_whole(void **state) {
  (void)state;
  use_engine(all_stages, GRAZE_STAGES, GRAZE_OK);
  ask_everything(true);
  expect_asked(1);
  assert_false(fake.taken);
  assert_string_equal(on.warning, "");
  assert_int_equal(graze_context_set_engine(on.context, NULL), GRAZE_OK);
  ask_everything(false);
  expect_asked(1);
}

/* Stages that are not there are not offered. */
static void test_some(void **state) {
  const graze_stage_function some[GRAZE_STAGES] = {[GRAZE_STAGE_POSES] = poses, [GRAZE_STAGE_TRITRI] = tritri};
  (void)state;
  use_engine(some, GRAZE_STAGES, GRAZE_OK);
  ask_tritri(true);
  ask_meshes(false);
  ask_poses(true);
  ask_broad(false);
  for (int s = 0; s < GRAZE_STAGES; s++) assert_int_equal(fake.offered[s], some[s] != NULL);
}

/* Built when there were three stages: nothing behind their functions is read. */
static void test_older(void **state) {
  graze_stage_function *three = malloc(3 * sizeof *three);
  (void)state;
  memcpy(three, all_stages, 3 * sizeof *three);
  use_engine(three, 3, GRAZE_OK);
  ask_tritri(true);
  ask_meshes(true);
  ask_poses(false);
  ask_broad(false);
  for (int s = 0; s < GRAZE_STAGES; s++) assert_int_equal(fake.offered[s], s < 3);
  free(three);
}

/* Built for a version with more stages. */
static void test_newer(void **state) {
  graze_stage_function more[GRAZE_STAGES + 2] = {NULL};
  (void)state;
  memcpy(more, all_stages, sizeof all_stages);
  use_engine(more, GRAZE_STAGES + 2, GRAZE_OK);
  ask_everything(true);
}

/* It does not want the work, or declines what it is asked: not a word about it. */
static void test_declines(void **state) {
  (void)state;
  use_engine(all_stages, GRAZE_STAGES, GRAZE_ERROR_UNSUPPORTED);
  ask_everything(false);
  expect_asked(1);
  assert_false(fake.taken);
  use_engine(all_stages, GRAZE_STAGES, GRAZE_OK);
  fake.wanted = false;
  ask_everything(false);
  expect_asked(0);
  assert_int_equal(fake.offered[GRAZE_STAGE_POSES], 1);
  assert_string_equal(on.warning, "");
  assert_string_equal(on.error, "");
}

/* A failure is told, and the answers are the processor's. */
static void test_fails(void **state) {
  static const char *const told[] = {"pairs of triangles", "two meshes", "a mesh at many poses", "pairs of spheres"};
  void (*const asks[])(bool) = {ask_tritri, NULL, ask_poses, ask_broad};
  graze_collide_result result;
  char line[128];
  (void)state;
  assert_int_equal(graze_broadphase_find(on.broad, NULL, 1, false, NULL, NULL), GRAZE_ERROR_ARGUMENT);
  for (int i = 0; i < 4; i++) {
    use_engine(all_stages, GRAZE_STAGES, i % 2 == 0 ? GRAZE_ERROR_MEMORY : GRAZE_ERROR_DEVICE);
    if (asks[i] != NULL) asks[i](false);
    if (asks[i] == NULL)
      assert_int_equal(graze_collide_meshes(on.query, on.meshes[0], NULL, on.meshes[1], NULL, NULL, &result), GRAZE_OK);
    snprintf(line, sizeof line, "the engine failed at %s (%s); the processor does it", told[i],
             graze_status_string(fake.status));
    assert_string_equal(on.warning, line);
    assert_false(fake.taken);
    assert_int_equal(graze_last_error(on.context)->status, GRAZE_ERROR_ARGUMENT); /* the one before, */
  }
  ask_meshes(false);
  assert_non_null(strstr(on.error, "too many pairs")); /* though the logger got those of the engine */
}

/* How much work there is, and by which method. */
static void test_offers(void **state) {
  const graze_box_array box_array = {on.boxes, 0, GRAZE_DOUBLE};
  graze_broadphase_def def = graze_default_broadphase_def();
  graze_broadphase *broad = NULL;
  const graze_box_pair *pairs;
  uint64_t count;
  (void)state;
  use_engine(all_stages, GRAZE_STAGES, GRAZE_OK);
  ask_tritri(true);
  assert_true(fake.a == PAIRS && fake.b == 0);
  ask_poses(true);
  assert_true(fake.a == TRIANGLES && fake.b == (uint64_t)POSES * TRIANGLES);
  ask_broad(true);
  assert_true(fake.a == BOXES && fake.b == 0 && fake.method == GRAZE_BROAD_AUTO);
  def.method = GRAZE_BROAD_SAP;
  assert_int_equal(graze_broadphase_create(on.context, &def, &broad), GRAZE_OK);
  assert_int_equal(graze_broadphase_find(broad, &box_array, BOXES, true, &pairs, &count), GRAZE_OK);
  assert_int_equal(fake.method, GRAZE_BROAD_SAP);
  graze_broadphase_destroy(broad);
}

/* What is the processor's: tier T2, any hit, meshes that do not tell the engine when they change. */
static void test_not_offered(void **state) {
  graze_collide_options options = graze_default_collide_options();
  graze_collide_result result;
  graze_mesh *stranger = test_mesh(on.plain, (const double[9]){0, 0, 0, 1, 0, 0, 0, 1, 0}, 1, GRAZE_VOLUMES_ALIGNED);
  (void)state;
  use_engine(all_stages, GRAZE_STAGES, GRAZE_OK);
  assert_int_equal(graze_collide_meshes(on.query, on.meshes[0], NULL, stranger, NULL, NULL, &result), GRAZE_OK);
  options.exactness = GRAZE_T2;
  assert_int_equal(graze_collide_meshes(on.query, on.meshes[0], NULL, on.meshes[1], NULL, &options, &result), GRAZE_OK);
  options.exactness = GRAZE_T1;
  options.find = GRAZE_FIND_ANY;
  assert_int_equal(graze_collide_poses(on.query, on.meshes[0], NULL, on.meshes[1], on.poses, 1, &options, &result),
                   GRAZE_OK);
  options.find = GRAZE_FIND_COUNT;
  options.exactness = GRAZE_T0;
  assert_int_equal(graze_collide_poses(on.query, on.meshes[0], NULL, on.meshes[1], on.poses + 1, 1, &options, &result),
                   GRAZE_ERROR_POSE);
  for (int s = 0; s < GRAZE_STAGES; s++) assert_int_equal(fake.offered[s], 0);
  uint32_t forgotten = fake.forgotten;
  graze_mesh_destroy(stranger);
  assert_int_equal(fake.forgotten, forgotten);
  graze_mesh_destroy(test_mesh(on.context, (const double[9]){0, 0, 0, 1, 0, 0, 0, 1, 0}, 1, GRAZE_VOLUMES_ALIGNED));
  assert_int_equal(fake.forgotten, forgotten + 1);
}

/* What is wrong with a question is said in the processor's words. */
static void test_bad_questions(void **state) {
  graze_box_array array = {on.boxes, 0, GRAZE_DOUBLE};
  const graze_box_pair *pairs;
  uint64_t count;
  graze_collide_result results[POSES];
  double kept = on.boxes[33].max[1];
  (void)state;
  use_engine(all_stages, GRAZE_STAGES, GRAZE_OK);
  on.boxes[33].max[1] = NAN;
  assert_int_equal(graze_broadphase_find(on.broad, &array, BOXES, false, &pairs, &count), GRAZE_ERROR_NOT_FINITE);
  assert_non_null(strstr(on.error, "box 33"));
  on.boxes[33].max[1] = kept;
  array.precision = (graze_precision)9;
  assert_int_equal(graze_broadphase_find(on.broad, &array, BOXES, false, &pairs, &count), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_broadphase_find(on.broad, NULL, BOXES, false, &pairs, &count), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(fake.offered[GRAZE_STAGE_BOXES], 1);
  on.poses[1].m[5] = NAN;
  assert_int_equal(graze_collide_poses(on.query, on.meshes[0], NULL, on.meshes[1], on.poses, POSES, NULL, results),
                   GRAZE_ERROR_NOT_FINITE);
  on.poses[1].m[5] = 1;
  assert_int_equal(fake.offered[GRAZE_STAGE_POSES], 1);
}

/* A list that cannot be copied is an error, and the engine is given back. */
static void test_no_memory(void **state) {
  const graze_engine engine = {&fake, all_stages, GRAZE_STAGES, take, give, forget};
  const graze_box_array array = {on.boxes, 0, GRAZE_DOUBLE};
  test_allocator allocator = {0};
  graze_context_def def = graze_default_context_def();
  graze_context *context = NULL;
  graze_broadphase *broad = NULL;
  graze_query *query = NULL;
  const graze_box_pair *pairs;
  graze_collide_result result;
  uint64_t count;
  (void)state;
  use_engine(all_stages, GRAZE_STAGES, GRAZE_OK);
  def.allocator = test_allocator_hooks(&allocator);
  assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
  assert_int_equal(graze_context_set_engine(context, &engine), GRAZE_OK);
  assert_int_equal(graze_broadphase_create(context, NULL, &broad), GRAZE_OK);
  assert_int_equal(graze_query_create(context, &query), GRAZE_OK);
  graze_mesh *mesh = test_mesh(context, on.corners, TRIANGLES, GRAZE_VOLUMES_ALIGNED);
  allocator.fail_at = allocator.requests + 1;
  assert_int_equal(graze_broadphase_find(broad, &array, BOXES, false, &pairs, &count), GRAZE_ERROR_MEMORY);
  assert_int_equal(graze_collide_meshes(query, mesh, NULL, mesh, NULL, NULL, &result), GRAZE_ERROR_MEMORY);
  assert_false(fake.taken);
  allocator.fail_at = 0;
  assert_int_equal(graze_broadphase_find(broad, &array, BOXES, false, &pairs, &count), GRAZE_OK);
  assert_true(count > 10 && graze_broadphase_report(broad).by_engine);
  graze_mesh_destroy(mesh);
  graze_query_destroy(query);
  graze_broadphase_destroy(broad);
  graze_context_destroy(context);
  assert_int_equal(allocator.live_blocks, 0);
}

static void test_set(void **state) {
  const graze_engine good = {&fake, all_stages, GRAZE_STAGES, take, give, NULL};
  graze_engine bad[3] = {good, good, good};
  (void)state;
  bad[0].stages = NULL;
  bad[1].take = NULL;
  bad[2].give = NULL;
  for (int i = 0; i < 3; i++) assert_int_equal(graze_context_set_engine(on.context, &bad[i]), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_context_set_engine(NULL, &good), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_context_set_engine(on.context, &good), GRAZE_OK);
  graze_mesh_destroy(test_mesh(on.context, (const double[9]){0, 0, 0, 1, 0, 0, 0, 1, 0}, 1, GRAZE_VOLUMES_ALIGNED));
  assert_int_equal(graze_context_set_engine(on.context, NULL), GRAZE_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_whole),         cmocka_unit_test(test_some),     cmocka_unit_test(test_older),
      cmocka_unit_test(test_newer),         cmocka_unit_test(test_declines), cmocka_unit_test(test_fails),
      cmocka_unit_test(test_offers),        cmocka_unit_test(test_set),      cmocka_unit_test(test_not_offered),
      cmocka_unit_test(test_bad_questions), cmocka_unit_test(test_no_memory)};
  return cmocka_run_group_tests(tests, begin, finish);
}
