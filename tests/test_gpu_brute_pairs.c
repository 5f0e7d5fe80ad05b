/* Triangles of two models on a device: the counts, hash and list of the processor, on soups that touch in every way, at
 * poses, at the ends of the range. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device_group.h"
#include "families.h"
#include "gpu/device.h"

/* Asks both about two meshes; any hit is the processor's to find. Returns whether they meet. */
static bool compare(const graze_mesh *a, const graze_pose *pose_a, const graze_mesh *b, const graze_pose *pose_b,
                    graze_exactness exactness, bool on_device) {
  graze_collide_options options = graze_default_collide_options();
  graze_collide_result want, got;
  options.exactness = exactness;
  for (graze_find find = GRAZE_FIND_ALL; find <= GRAZE_FIND_ANY; find++) {
    options.find = find;
    assert_int_equal(graze_collide_meshes(on.plain_query, a, pose_a, b, pose_b, &options, &want), GRAZE_OK);
    assert_int_equal(graze_collide_meshes(on.query, a, pose_a, b, pose_b, &options, &got), GRAZE_OK);
    assert_true(test_was_on_device(1) == (on_device && find != GRAZE_FIND_ANY));
    assert_true(got.hit == want.hit);
    test_assert_counts(&got.counts, &want.counts);
    if (find == GRAZE_FIND_ALL) test_assert_pairs(got.pairs, want.pairs, want.counts.triangle_pairs);
  }
  return want.hit;
}

static graze_mesh *lattice(uint64_t *random, uint32_t count, uint32_t side, double scale) {
  double *corners = malloc(9 * (size_t)count * sizeof *corners);
  soup_lattice(random, count, side, corners);
  for (size_t i = 0; i < 9 * (size_t)count; i++) corners[i] *= scale;
  graze_mesh *mesh = test_mesh(on.context, corners, count, GRAZE_VOLUMES_ALIGNED);
  free(corners);
  return mesh;
}

/* Touching, coplanar and degenerate pairs in plenty; whole and partial tiles and chunks. */
static void test_lattices(void **state) {
  (void)state;
  need_device();
  static const uint32_t sizes[][2] = {{1, 1}, {3, 64}, {65, 2}, {65, 63}, {130, 400}, {700, 1}};
  const size_t count_on_slow = test_device_few() && !test_long() ? 3 : 4;
  const size_t size_count = test_device_slow() ? count_on_slow : sizeof sizes / sizeof *sizes;
  uint64_t random = test_seed(1);
  for (size_t s = 0; s < size_count; s++) {
    for (uint32_t side = 3; side <= 12; side += 3 * test_device_stride()) {
      graze_mesh *a = lattice(&random, sizes[s][0], side, 1), *b = lattice(&random, sizes[s][1], side, 1);
      compare(a, NULL, b, NULL, GRAZE_T1, true);
      compare(a, NULL, b, NULL, GRAZE_T0, true);
      graze_mesh_destroy(a);
      graze_mesh_destroy(b);
    }
  }
}

/* Where products overflow or vanish nothing is sure, and all is decided by the processor. */
static void test_ends(void **state) {
  (void)state;
  need_device();
  static const double scales[] = {0x1p-1074, 0x1p-1060, 0x1p-340, 0x1p-300, 0x1p330, 0x1p400, 0x1p1018};
  const uint32_t count = test_device_few() && !test_long() ? 10 : 40;
  uint64_t random = test_seed(2);
  for (size_t s = test_device_first(); s < sizeof scales / sizeof *scales; s += test_device_stride()) {
    graze_mesh *a = lattice(&random, count, 8, scales[s]), *b = lattice(&random, count, 8, scales[s]);
    compare(a, NULL, b, NULL, GRAZE_T1, true);
    graze_mesh_destroy(a);
    graze_mesh_destroy(b);
  }
}

static void test_poses(void **state) {
  (void)state;
  need_device();
  enum { LEVEL = 6, MOST = 8 * LEVEL * LEVEL };
  double *corners = malloc(9 * MOST * sizeof *corners);
  uint32_t count = soup_ball(test_device_few() && !test_long() ? 1 : test_device_slow() ? 2 : LEVEL, 1, corners);
  graze_mesh *ball = test_mesh(on.context, corners, count, GRAZE_VOLUMES_ALIGNED);
  uint64_t random = 3, hits = 0;
  for (int i = 0; i < (test_device_slow() ? 3 : 30); i++) {
    graze_pose x = test_random_pose(&random, 1.2), y = test_random_pose(&random, 1.2);
    hits += compare(ball, &x, ball, &y, GRAZE_T1, true); /* one model at two poses */
    if (i % 10 == 0) compare(ball, &x, ball, &y, GRAZE_T2, false);
  }
  assert_true(test_device_slow() || (hits > 3 && hits < 30));
  graze_mesh_destroy(ball);
  free(corners);
}

/* Many poses in one go: the processor's counts for each, also where a lot of pairs meet and where none does. */
static void test_batches(void **state) {
  (void)state;
  need_device();
  enum { MOST = 200 };
  const uint32_t poses_count = test_device_slow() ? 3 : MOST;
  double corners[9 * 72];
  graze_pose poses[MOST], pose_a;
  graze_collide_result want[MOST], got[MOST];
  graze_collide_options options = graze_default_collide_options();
  uint64_t random = 5, hits = 0;
  uint32_t count = soup_ball(test_device_slow() ? 1 : 3, 1, corners);
  graze_mesh *ball = test_mesh(on.context, corners, count, GRAZE_VOLUMES_ALIGNED),
             *soup = lattice(&random, 100, 4, 0.5);
  pose_a = test_random_pose(&random, 0.5);
  for (uint32_t i = 0; i < poses_count; i++) poses[i] = test_random_pose(&random, 3);
  for (graze_find find = GRAZE_FIND_ALL; find <= GRAZE_FIND_ANY; find++) {
    options.find = find;
    assert_int_equal(graze_collide_poses(on.plain_query, soup, &pose_a, ball, poses, poses_count, &options, want),
                     GRAZE_OK);
    assert_int_equal(graze_collide_poses(on.query, soup, &pose_a, ball, poses, poses_count, &options, got), GRAZE_OK);
    assert_true(test_was_on_device(1) == (find != GRAZE_FIND_ANY));
    for (uint32_t i = 0; i < poses_count; i++) {
      assert_true(got[i].hit == want[i].hit);
      assert_null(got[i].pairs);
      test_assert_counts(&got[i].counts, &want[i].counts);
      hits += want[i].hit;
    }
  }
  assert_true(test_device_slow() || (hits > 30 && hits < 3 * MOST - 30));
  poses[1].m[5] = NAN;
  options.find = GRAZE_FIND_COUNT;
  assert_int_equal(graze_collide_poses(on.query, soup, &pose_a, ball, poses, 2, &options, got), GRAZE_ERROR_NOT_FINITE);
  assert_int_equal(graze_collide_poses(on.query, soup, NULL, ball, NULL, 0, NULL, NULL), GRAZE_OK);
  assert_false(test_was_on_device(1));
  graze_mesh_destroy(ball);
  graze_mesh_destroy(soup);
}

/* A mesh that changes its shape. */
static void test_refit(void **state) {
  (void)state;
  need_device();
  double corners[9 * 8];
  graze_collide_result want, got;
  uint32_t count = soup_ball(1, 1, corners);
  graze_mesh *mesh = test_mesh(on.context, corners, count, GRAZE_VOLUMES_ALIGNED);
  const graze_pose away = test_translation(2.5, 0, 0);
  assert_int_equal(graze_collide_meshes(on.query, mesh, NULL, mesh, &away, NULL, &got), GRAZE_OK);
  assert_false(got.hit);
  for (uint32_t i = 0; i < 9 * count; i++) corners[i] *= 2;
  assert_int_equal(graze_mesh_refit(mesh, corners, 0), GRAZE_OK);
  assert_int_equal(graze_collide_meshes(on.query, mesh, NULL, mesh, &away, NULL, &got), GRAZE_OK);
  assert_int_equal(graze_collide_meshes(on.plain_query, mesh, NULL, mesh, &away, NULL, &want), GRAZE_OK);
  assert_true(test_was_on_device(2) && got.hit);
  test_assert_counts(&got.counts, &want.counts);
  graze_mesh_destroy(mesh);
}

/* What the processor refuses is refused in its words; a device that fails is replaced by it. */
static void test_faults(void **state) {
  (void)state;
  need_device();
  uint64_t random = 4;
  graze_mesh *mesh = lattice(&random, 20, 5, 1);
  graze_collide_result want, got;
  graze_pose bad = graze_pose_identity(), huge = bad;
  bad.m[3] = NAN;
  huge.m[0] = 1e308;
  const graze_pose *poses[] = {&bad, &huge};
  for (int i = 0; i < 2; i++) {
    graze_status status = graze_collide_meshes(on.plain_query, mesh, poses[i], mesh, NULL, NULL, &want);
    on.messages.last[0] = 0;
    assert_int_equal(graze_collide_meshes(on.query, mesh, poses[i], mesh, NULL, NULL, &got), status);
    if (status != GRAZE_OK) assert_string_equal(on.messages.last, on.plain_messages.last);
  }
  graze_collide_options options = graze_default_collide_options();
  options.exactness = GRAZE_T0;
  huge = test_translation(1, 0, 0);
  assert_int_equal(graze_collide_meshes(on.query, mesh, &huge, mesh, NULL, &options, &got), GRAZE_ERROR_POSE);
  options.find = (graze_find)7;
  assert_int_equal(graze_collide_meshes(on.query, mesh, NULL, mesh, NULL, &options, &got), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_collide_meshes(on.plain_query, mesh, NULL, mesh, NULL, NULL, &want), GRAZE_OK);
  on.answered = graze_gpu_get_report(on.gpu).answered;
  for (int fault = 0; fault < 2; fault++) {
    on.gpu->lost = fault == 0;
    on.gpu->info.exact = fault == 0;
    assert_int_equal(graze_collide_meshes(on.query, mesh, NULL, mesh, NULL, NULL, &got), GRAZE_OK);
    assert_false(test_was_on_device(1));
    test_assert_counts(&got.counts, &want.counts);
  }
  on.gpu->lost = on.gpu->told_lost = false;
  on.gpu->info.exact = true;
  graze_mesh_destroy(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lattices), cmocka_unit_test(test_ends),
                                     cmocka_unit_test(test_poses),    cmocka_unit_test(test_batches),
                                     cmocka_unit_test(test_refit),    cmocka_unit_test(test_faults)};
  return cmocka_run_group_tests(tests, test_device_open, test_device_close);
}
