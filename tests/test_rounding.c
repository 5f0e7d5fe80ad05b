/* The host program may have set another rounding mode, or subnormals to be flushed. Answers must not change, and the
 * host's setting must be there again afterwards. */
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "families.h"
#include "oracle.h"
#include "support.h"

enum { mode_count = 6 };

static unsigned read_mode(void) {
#ifdef __SSE2__
  return _mm_getcsr() & ~0x3Fu; /* without the sticky flags */
#else
  return (unsigned)fegetround();
#endif
}

/* Modes 0..3: the four roundings; 4: flush to zero and denormals are zero; 5: that and upward. */
static void set_mode(int mode) {
  static const int roundings[mode_count] = {FE_TONEAREST,  FE_UPWARD,    FE_DOWNWARD,
                                            FE_TOWARDZERO, FE_TONEAREST, FE_UPWARD};
  fesetround(roundings[mode]);
#ifdef __SSE2__
  if (mode >= 4) _mm_setcsr(_mm_getcsr() | 0x8040u);
#endif
}

static fenv_t usual;

#define UNDER(mode, call)                \
  do {                                   \
    set_mode(mode);                      \
    unsigned before_ = read_mode();      \
    graze_status status_ = (call);       \
    unsigned after_ = read_mode();       \
    fesetenv(&usual);                    \
    assert_int_equal(status_, GRAZE_OK); \
    assert_int_equal(after_, before_);   \
  } while (0)

static void test_pairs(void **unused) {
  (void)unused;
  graze_context *context = test_context(1, NULL);
  graze_pose pose_a, pose_b;
  uint64_t state = 1;
  for (int i = 0; i < 6000; i++) {
    family_pair pair;
    graze_tritri want, want_real, got;
    graze_intersection plain, points;
    const double *a[9], *b[9];
    int mode = i % mode_count;
    families[random_below(&state, (uint32_t)family_count)].make(&state, &pair);
    pose_a = test_random_pose(&state, 1);
    pose_b = i & 1 ? pose_a : test_random_pose(&state, 1);
    oracle_tritri(pair.a, pair.b, &want);
    oracle_tritri_real(pair.a, &pose_a, pair.b, &pose_b, &want_real);
    assert_int_equal(graze_tritri_intersection(pair.a, pair.b, &plain), GRAZE_OK);
    UNDER(mode, graze_tritri_test(pair.a, pair.b, &got));
    assert_memory_equal(&got, &want, sizeof got);
    UNDER(mode, graze_tritri_test_real(pair.a, &pose_a, pair.b, &pose_b, &got));
    assert_memory_equal(&got, &want_real, sizeof got);
    UNDER(mode, graze_tritri_intersection(pair.a, pair.b, &points));
    assert_int_equal(points.count, plain.count);
    assert_memory_equal(points.points, plain.points, plain.count * sizeof points.points[0]);
    for (int k = 0; k < 9; k++) {
      a[k] = pair.a + k;
      b[k] = pair.b + k;
    }
    UNDER(mode, graze_tritri_batch(context, 1, a, b, &got));
    assert_memory_equal(&got, &want, sizeof got);
  }
  graze_context_destroy(context);
}

static void test_batch_threads(void **unused) {
  (void)unused;
  enum { count = 60000 };
  graze_context *context = test_context(3, NULL);
  double *numbers = malloc(18 * (size_t)count * sizeof *numbers);
  graze_tritri *want = malloc(count * sizeof *want), *got = malloc(count * sizeof *got);
  const double *a[9], *b[9];
  uint64_t state = 2;
  assert_true(numbers && want && got);
  for (size_t i = 0; i < count; i++) {
    family_pair pair;
    families[random_below(&state, (uint32_t)family_count)].make(&state, &pair);
    for (size_t k = 0; k < 9; k++) {
      numbers[k * count + i] = pair.a[k];
      numbers[(9 + k) * count + i] = pair.b[k];
    }
  }
  for (size_t k = 0; k < 9; k++) {
    a[k] = numbers + k * count;
    b[k] = numbers + (9 + k) * count;
  }
  assert_int_equal(graze_tritri_batch(context, count, a, b, want), GRAZE_OK);
  for (int mode = 1; mode < mode_count; mode++) {
    UNDER(mode, graze_tritri_batch(context, count, a, b, got));
    assert_memory_equal(got, want, count * sizeof *got);
  }
  free(numbers);
  free(want);
  free(got);
  graze_context_destroy(context);
}

/* Baking, mesh queries, self queries and scenes; posing is rounded to nearest whatever the mode. */
static void test_meshes(void **unused) {
  (void)unused;
  enum { level = 20 };
  static double corners[9 * 8 * level * level];
  uint32_t n = soup_ball(level / 3, 0x1p-600, corners); /* too small for float volumes */
  for (int scale = 0; scale < 2; scale++) {
    graze_context *context = test_context(2, NULL);
    graze_query *query = NULL;
    graze_scene *scene = NULL;
    graze_pose pose = {{0.8, -0.6, 0, 0.3, 0.6, 0.8, 0, 0.1, 0, 0, 1, 0.2}};
    graze_mesh_def def = graze_default_mesh_def();
    if (scale) n = soup_ball(level, 1, corners);
    if (!scale) {
      for (int k = 3; k < 12; k += 4) pose.m[k] *= 0x1p-600;
    }
    def.vertices = corners;
    def.vertex_count = 3 * (uint64_t)n;
    def.precision = GRAZE_DOUBLE;
    assert_int_equal(graze_query_create(context, &query), GRAZE_OK);
    graze_collide_result first = {0};
    for (int mode = 0; mode < mode_count; mode++) {
      graze_mesh *mesh = NULL;
      graze_collide_result got;
      graze_self_result self;
      graze_scene_check_result check;
      graze_object_id id;
      UNDER(mode, graze_mesh_create(context, &def, &mesh));
      UNDER(mode, graze_collide_meshes(query, mesh, NULL, mesh, &pose, NULL, &got));
      if (mode == 0) first = got;
      test_assert_counts(&got.counts, &first.counts);
      assert_true(first.hit);
      UNDER(mode, graze_collide_self(query, mesh, NULL, &self));
      assert_int_equal(self.self_pairs, 0);
      assert_int_equal(graze_scene_create(context, &scene), GRAZE_OK);
      graze_object_def object = graze_default_object_def();
      object.mesh = mesh;
      assert_int_equal(graze_scene_add(scene, &object, &id), GRAZE_OK);
      object.pose = pose;
      assert_int_equal(graze_scene_add(scene, &object, &id), GRAZE_OK);
      UNDER(mode, graze_scene_check(scene, NULL, &check));
      assert_int_equal(check.clashes, 1);
      test_assert_counts(&check.pairs[0].counts, &first.counts);
      graze_scene_destroy(scene);
      UNDER(mode, graze_mesh_refit(mesh, corners, 0));
      UNDER(mode, graze_collide_meshes(query, mesh, NULL, mesh, &pose, NULL, &got));
      test_assert_counts(&got.counts, &first.counts);
      graze_mesh_destroy(mesh);
    }
    graze_query_destroy(query);
    graze_context_destroy(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pairs),
      cmocka_unit_test(test_batch_threads),
      cmocka_unit_test(test_meshes),
  };
  fegetenv(&usual);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
