/* Meshes on a device by its hierarchy, with each other and with themselves, and a device as the engine of a context. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "families.h"
#include "gpu/device.h"
#include "graze/scene.h"

static graze_context *context; /* to which the device is attached, always where a test does not say else */
static graze_context *plain;   /* of the answers that are wanted */
static graze_gpu *gpu;
static graze_query *query, *wanted;
static char told[256]; /* by the logger, last */

static void keep_info(void *user, graze_log_level level, const char *message) {
  (void)user;
  if (level == GRAZE_LOG_INFO) snprintf(told, sizeof told, "%s", message);
}

static int open_device(void **state) {
  (void)state;
  graze_context_def def = graze_default_context_def();
  def.threads = 2;
  def.log = keep_info;
  assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
  plain = test_context(1, NULL);
  assert_int_equal(graze_query_create(context, &query), GRAZE_OK);
  assert_int_equal(graze_query_create(plain, &wanted), GRAZE_OK);
  gpu = test_device(context, "test_gpu_meshes");
  if (gpu != NULL) assert_int_equal(graze_gpu_attach(gpu, GRAZE_GPU_ALWAYS), GRAZE_OK);
  return 0;
}

static int close_device(void **state) {
  (void)state;
  graze_query_destroy(query);
  graze_query_destroy(wanted);
  graze_gpu_destroy(gpu);
  graze_context_destroy(context);
  graze_context_destroy(plain);
  return 0;
}

/* A soup: touching in every way on a small lattice, cluttered on a large one. */
static graze_mesh *make_soup(graze_context *where, uint64_t seed, uint32_t count, uint32_t side) {
  double *corners = malloc(9 * (size_t)count * sizeof *corners);
  if (side > 0)
    soup_lattice(&seed, count, side, corners);
  else
    soup_cluttered(&seed, count, 0.2, corners);
  graze_mesh *mesh = test_mesh(where, corners, count, GRAZE_VOLUMES_ALIGNED);
  free(corners);
  return mesh;
}

static graze_mesh *make_ball(graze_context *where, uint32_t level) {
  double *corners = malloc(9 * 8 * (size_t)level * level * sizeof *corners);
  graze_mesh *mesh = test_mesh(where, corners, soup_ball(level, 1, corners), GRAZE_VOLUMES_ALIGNED);
  free(corners);
  return mesh;
}

static uint64_t answered(void) {
  return graze_gpu_get_report(gpu).answered;
}

static void compare_self(const graze_mesh *mesh) {
  const uint64_t before = answered();
  graze_collide_options options = graze_default_collide_options();
  graze_self_result got, want;
  for (graze_find find = GRAZE_FIND_ALL; find <= GRAZE_FIND_ANY; find++) {
    options.find = find;
    assert_int_equal(graze_collide_self(wanted, mesh, &options, &want), GRAZE_OK);
    assert_int_equal(graze_collide_self(query, mesh, &options, &got), GRAZE_OK);
    test_assert_self(&got, &want);
    if (find == GRAZE_FIND_ALL) test_assert_pairs(got.pairs, want.pairs, want.self_pairs);
  }
  assert_true(answered() == before + 2); /* any pair is the processor's to find */
}

/* Duplicates, overlaps at edges, more than a corner in common, zero areas; and clean surfaces, where nearly all
 * candidates are neighbours. */
static void test_self(void **state) {
  (void)state;
  if (gpu == NULL) skip();
  for (uint32_t side = 2; side <= 7; side += test_device_slow() ? 3 : 1) {
    graze_mesh *soup = make_soup(context, side, test_device_slow() ? 40 : 500, side);
    compare_self(soup);
    graze_mesh_destroy(soup);
  }
  graze_mesh *ball = make_ball(context, test_device_slow() ? 3 : 30),
             *clutter = make_soup(context, 1, test_device_slow() ? 30 : 200, 0);
  graze_mesh *one = make_soup(context, 1, 1, 9), *none = make_soup(context, 1, 0, 9);
  compare_self(ball);
  compare_self(clutter);
  compare_self(one);
  compare_self(none);
  graze_mesh_destroy(ball);
  graze_mesh_destroy(clutter);
  graze_mesh_destroy(one);
  graze_mesh_destroy(none);
}

static void compare_pair(const graze_mesh *a, const graze_mesh *b, const graze_pose *pose_a, const graze_pose *pose_b) {
  const uint64_t before = answered();
  graze_collide_options options = graze_default_collide_options();
  graze_collide_result got, want;
  for (graze_find find = GRAZE_FIND_ALL; find <= GRAZE_FIND_ANY; find++) {
    options.find = find;
    assert_int_equal(graze_collide_meshes(wanted, a, pose_a, b, pose_b, &options, &want), GRAZE_OK);
    assert_int_equal(graze_collide_meshes(query, a, pose_a, b, pose_b, &options, &got), GRAZE_OK);
    assert_true(got.hit == want.hit);
    test_assert_counts(&got.counts, &want.counts);
    if (find == GRAZE_FIND_ALL) test_assert_pairs(got.pairs, want.pairs, want.counts.triangle_pairs);
  }
  assert_true(answered() == before + 2);
}

/* The tree of the first mesh is built once and refitted to each pose; both meshes may be one. */
static void test_trees(void **state) {
  (void)state;
  if (gpu == NULL) skip();
  graze_mesh *ball = make_ball(context, test_device_slow() ? 3 : 25),
             *soup = make_soup(context, 9, test_device_slow() ? 30 : 150, 5);
  graze_collide_result want[3], got[3];
  uint64_t random = test_seed(11);
  gpu->search = GPU_SEARCH_TREE;
  for (int i = 0; i < (test_device_slow() ? 1 : 8); i++) {
    graze_pose poses[3];
    for (int k = 0; k < 3; k++) poses[k] = test_random_pose(&random, 1.3);
    compare_pair(ball, ball, &poses[0], &poses[1]);
    compare_pair(ball, soup, &poses[0], NULL);
    compare_pair(soup, ball, &poses[1], &poses[2]);
    const uint64_t before = answered();
    assert_int_equal(graze_collide_poses(wanted, ball, &poses[0], soup, poses, 3, NULL, want), GRAZE_OK);
    assert_int_equal(graze_collide_poses(query, ball, &poses[0], soup, poses, 3, NULL, got), GRAZE_OK);
    assert_true(answered() == before + 1);
    for (int k = 0; k < 3; k++) test_assert_counts(&got[k].counts, &want[k].counts);
  }
  graze_pose bad = graze_pose_identity();
  bad.m[0] = bad.m[5] = 1e308; /* posed corners overflow */
  bad.m[1] = -1e308;
  assert_int_equal(graze_collide_meshes(query, ball, &bad, soup, NULL, NULL, got),
                   graze_collide_meshes(wanted, ball, &bad, soup, NULL, NULL, want));
  assert_int_equal(graze_collide_poses(query, soup, NULL, ball, &bad, 1, NULL, got),
                   graze_collide_poses(wanted, soup, NULL, ball, &bad, 1, NULL, want));
  gpu->search = GPU_SEARCH_AUTO;
  graze_mesh_destroy(ball);
  graze_mesh_destroy(soup);
}

/* ---- without memory -------------------------------------------------------------------------------------------- */

/* A search whose candidates have no room on the device is the processor's; what comes after finds the device whole. */
static void test_refused(void **state) {
  (void)state;
  if (gpu == NULL || test_device_few()) skip();
  graze_mesh *soup = make_soup(context, 41, 400, 6), *small = make_soup(context, 42, 40, 6);
  graze_collide_result got, want;
  const uint64_t largest = gpu->info.largest;
  assert_int_equal(graze_collide_meshes(wanted, soup, NULL, soup, NULL, NULL, &want), GRAZE_OK);
  compare_pair(small, small, NULL, NULL); /* so that some memory is there */
  for (uint64_t bytes = 1000; bytes <= 4000000; bytes *= test_thinned() ? 4 : 2) {
    gpu->info.largest = bytes; /* more is refused */
    for (gpu->search = GPU_SEARCH_TREE; gpu->search >= GPU_SEARCH_EACH; gpu->search--) {
      assert_int_equal(graze_collide_meshes(query, soup, NULL, soup, NULL, NULL, &got), GRAZE_OK);
      test_assert_counts(&got.counts, &want.counts);
    }
    gpu->info.largest = largest;
    assert_false(gpu->lost);
    compare_pair(small, small, NULL, NULL);
  }
  graze_mesh_destroy(soup);
  graze_mesh_destroy(small);
}

/* Beyond floats boxes are all the same, and every pair a candidate: the device finds them still. */
static void test_beyond_floats(void **state) {
  (void)state;
  if (gpu == NULL) skip();
  double corners[9 * 12];
  uint64_t random = test_seed(51);
  soup_lattice(&random, 12, 4, corners);
  for (int k = 0; k < 9 * 12; k++) corners[k] *= k % 2 == 0 ? 1e39 : -1e45;
  graze_mesh *mesh = test_mesh(context, corners, 12, GRAZE_VOLUMES_ALIGNED);
  compare_pair(mesh, mesh, NULL, NULL);
  compare_self(mesh);
  graze_mesh_destroy(mesh);
}

/* ---- as an engine ------------------------------------------------------------------------------------------------ */

static void check_pair(const graze_mesh *a, const graze_mesh *b, const graze_pose *pose) {
  graze_collide_result got, want;
  assert_int_equal(graze_collide_meshes(wanted, a, NULL, b, pose, NULL, &want), GRAZE_OK);
  assert_int_equal(graze_collide_meshes(query, a, NULL, b, pose, NULL, &got), GRAZE_OK);
  test_assert_counts(&got.counts, &want.counts);
  test_assert_pairs(got.pairs, want.pairs, want.counts.triangle_pairs);
}

/* Meshes come, change and go while the device has them, more than the first table holds. */
static void test_engine(void **state) {
  (void)state;
  if (gpu == NULL) skip();
  enum { MESHES = 80 };
  const uint32_t count = test_device_few() ? 3 : MESHES;
  graze_mesh *meshes[MESHES];
  uint64_t random = 21;
  assert_int_equal(graze_gpu_attach(gpu, (graze_gpu_use)7), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_gpu_attach(gpu, GRAZE_GPU_ALWAYS), GRAZE_OK);
  for (uint32_t i = 0; i < count; i++) meshes[i] = make_soup(context, i, 10 + i, 4);
  for (uint32_t i = 0; i < count; i++) {
    graze_pose pose = test_random_pose(&random, 2);
    check_pair(meshes[i], meshes[(i * 7 + 3) % count], &pose);
  }
  assert_int_equal(answered(), count);
  for (uint32_t i = 0; i < count; i += 2) {
    graze_mesh_destroy(meshes[i]);
    meshes[i] = make_soup(context, i + 1000, 20, 3);
  }
  double corners[9 * 11];
  soup_lattice(&random, 11, 5, corners);
  assert_int_equal(graze_mesh_refit(meshes[1], corners, 0), GRAZE_OK);
  for (uint32_t i = 0; i < count; i++) check_pair(meshes[1], meshes[i], NULL);
  graze_self_result got, want;
  assert_int_equal(graze_collide_self(query, meshes[0], NULL, &got), GRAZE_OK);
  assert_int_equal(graze_collide_self(wanted, meshes[0], NULL, &want), GRAZE_OK);
  test_assert_self(&got, &want);
  /* Meshes of a context that does not tell the device when they change are none of its business. */
  uint64_t before = answered();
  graze_mesh *stranger = make_soup(plain, 5, 20, 3);
  check_pair(meshes[1], stranger, NULL);
  assert_int_equal(answered(), before);
  graze_mesh_destroy(stranger);
  graze_gpu_detach(gpu);
  check_pair(meshes[1], meshes[0], NULL);
  assert_int_equal(answered(), 0);
  for (uint32_t i = 0; i < count; i++) graze_mesh_destroy(meshes[i]);
}

/* A scene of balls, each in the middle of some others, by two threads. */
static graze_status check_scene(graze_context *where, const graze_mesh *mesh, graze_scene_check_result *result,
                                graze_scene **scene) {
  graze_scene_check_options options = graze_default_scene_check_options();
  graze_status status = graze_scene_create(where, scene);
  for (uint32_t i = 0; i < 30 && status == GRAZE_OK; i++) {
    graze_object_def def = graze_default_object_def();
    def.mesh = mesh;
    def.pose = test_translation(0.9 * (i % 5), 0.8 * (i / 5 % 3), 0.7 * (i / 15));
    def.user_id = i;
    status = graze_scene_add(*scene, &def, NULL);
  }
  return status != GRAZE_OK ? status : graze_scene_check(*scene, &options, result);
}

static void test_scene(void **state) {
  (void)state;
  if (gpu == NULL || test_device_few()) skip();
  const uint32_t level = test_device_slow() ? 1 : 6;
  for (graze_gpu_use use = GRAZE_GPU_ALWAYS; use <= GRAZE_GPU_WHERE_FASTER; use++) {
    graze_scene_check_result got, want;
    graze_scene *scenes[2];
    assert_int_equal(graze_gpu_attach(gpu, use), GRAZE_OK);
    graze_mesh *mine = make_ball(context, level), *other = make_ball(plain, level);
    assert_int_equal(check_scene(plain, other, &want, &scenes[0]), GRAZE_OK);
    assert_int_equal(check_scene(context, mine, &got, &scenes[1]), GRAZE_OK);
    if (use == GRAZE_GPU_ALWAYS) assert_true(answered() > 30);
    assert_int_equal(got.pair_count, want.pair_count);
    assert_true(want.pair_count > 30);
    for (uint64_t i = 0; i < want.pair_count; i++) {
      assert_int_equal(got.pairs[i].verdict.relation, want.pairs[i].verdict.relation);
      test_assert_counts(&got.pairs[i].counts, &want.pairs[i].counts);
    }
    graze_scene_destroy(scenes[0]);
    graze_scene_destroy(scenes[1]);
    graze_mesh_destroy(mine);
    graze_mesh_destroy(other);
    graze_gpu_detach(gpu);
  }
}

/* Work that is worth a trial is done by both, once, and the logger is told. */
static void test_trial(void **state) {
  (void)state;
  if (gpu == NULL || test_device_slow()) skip();
  graze_mesh *a = make_soup(context, 31, 300, 8), *b = make_soup(context, 32, 400, 8);
  assert_int_equal(graze_gpu_attach(gpu, GRAZE_GPU_WHERE_FASTER), GRAZE_OK);
  told[0] = 0;
  check_pair(a, b, NULL);
  assert_non_null(strstr(told, "ms on the device"));
  assert_int_equal(answered(), 0);
  bool device = strstr(told, "the device does them") != NULL;
  told[0] = 0;
  for (int i = 0; i < 3; i++) check_pair(a, b, NULL);
  assert_string_equal(told, "");
  assert_int_equal(answered(), device ? 3 : 0);
  graze_mesh_destroy(a);
  graze_mesh_destroy(b);
}

/* The same of boxes and spheres. The method that was asked for is tried on both sides. */
static void test_broad_trial(void **state) {
  (void)state;
  if (gpu == NULL || test_device_slow()) skip();
  enum { N = 5000 };
  static double boxes[6 * N], radii[N];
  graze_broadphase_def def = graze_default_broadphase_def();
  graze_broadphase *phases[2] = {NULL, NULL};
  const graze_box_array box_array = {boxes, 0, GRAZE_DOUBLE};
  const graze_sphere_array sphere_array = {boxes, radii, 6 * sizeof *boxes, 0, GRAZE_DOUBLE};
  const graze_box_pair *got, *want;
  uint64_t random = test_seed(61), got_count, want_count, hash;
  for (int i = 0; i < N; i++) {
    radii[i] = 0.02;
    for (int k = 0; k < 3; k++) boxes[6 * i + k + 3] = 0.04 + (boxes[6 * i + k] = random_unit(&random));
  }
  def.method = GRAZE_BROAD_TREE;
  assert_int_equal(graze_broadphase_create(context, &def, &phases[0]), GRAZE_OK);
  assert_int_equal(graze_broadphase_create(plain, NULL, &phases[1]), GRAZE_OK);
  assert_int_equal(graze_gpu_attach(gpu, GRAZE_GPU_WHERE_FASTER), GRAZE_OK);
  for (int round = 0; round < 2; round++) {
    told[0] = 0;
    assert_int_equal(graze_broadphase_find(phases[0], &box_array, N, false, &got, &got_count), GRAZE_OK);
    assert_int_equal(graze_broadphase_find(phases[1], &box_array, N, false, &want, &want_count), GRAZE_OK);
    assert_true(got_count == want_count && want_count > 1000);
    assert_memory_equal(got, want, want_count * sizeof *want);
    assert_true((strstr(told, "pairs of boxes, some 2^12: ") != NULL) == (round == 0));
  }
  graze_broadphase_destroy(phases[0]);
  assert_int_equal(graze_broadphase_create(context, NULL, &phases[0]), GRAZE_OK);
  for (int round = 0; round < 2; round++) {
    told[0] = 0;
    assert_int_equal(graze_broadphase_count_spheres(phases[0], &sphere_array, N, &got_count, &hash), GRAZE_OK);
    assert_int_equal(graze_broadphase_find_spheres(phases[1], &sphere_array, N, false, &want, &want_count), GRAZE_OK);
    for (uint64_t i = 0; i < want_count; i++) hash -= graze_pair_hash(want[i].a, want[i].b);
    assert_true(got_count == want_count && want_count > 100 && hash == 0);
    assert_true((strstr(told, "pairs of spheres, some 2^12: ") != NULL) == (round == 0));
  }
  graze_broadphase_destroy(phases[0]);
  graze_broadphase_destroy(phases[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_self),    cmocka_unit_test(test_trees),
                                     cmocka_unit_test(test_refused), cmocka_unit_test(test_beyond_floats),
                                     cmocka_unit_test(test_engine),  cmocka_unit_test(test_scene),
                                     cmocka_unit_test(test_trial),   cmocka_unit_test(test_broad_trial)};
  return cmocka_run_group_tests(tests, open_device, close_device);
}
