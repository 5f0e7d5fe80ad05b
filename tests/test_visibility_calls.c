/* Calls of culling by pictures: what objects may be, pairs that are asked for, images, errors, memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "visibility_worlds.h"

/* Indices, floats with a stride, and a soup are the same triangles. */
static void test_arrays(void **unused) {
  (void)unused;
  graze_context *context = shared_context(1);
  graze_visibility *v = reference(context);
  make_world(context, &makers[MAKERS - 1], 7);
  graze_visibility_def def = world_def(GRAZE_VISIBILITY_CLOSE, 32);
  uint64_t hash = cull(v, &def).hash;
  static uint32_t indices[3 * MOST_TRIANGLES];
  for (uint32_t i = 0; i < 3 * MOST_TRIANGLES; i++) indices[i] = i;
  for (uint32_t i = 0; i < world.count; i++) {
    world.objects[i].mesh = NULL;
    world.arrays[i].indices = indices;
    world.arrays[i].triangle_count = world.first[i + 1] - world.first[i];
  }
  assert_true(cull(v, &def).hash == hash);
  struct {
    float x[3], other;
  } vertices[6] = {{{0, 0, 0}, 9}, {{1, 0, 0}, 9}, {{0, 1, 0}, 9}, {{0, 0, 0}, 9}, {{0, 0, 1}, 9}, {{1, 1, 1}, 9}};
  graze_mesh_def soup = graze_default_mesh_def();
  soup.vertices = vertices;
  soup.vertex_stride = sizeof vertices[0];
  soup.vertex_count = 3;
  graze_mesh_def upper = soup;
  upper.vertices = vertices + 3;
  graze_visibility_object two[2] = {{.arrays = &soup}, {.arrays = &upper}};
  def.objects = two;
  def.object_count = 2;
  graze_visibility_result r = cull(v, &def);
  assert_int_equal(r.pair_count, 1);
  assert_int_equal(r.left_triangles, 2);
  end_world();
  graze_visibility_destroy(v);
}

/* Coordinates that overflow, and that are not numbers: all pairs of the object are left, whole. */
static void test_unjudged(void **unused) {
  (void)unused;
  graze_context *context = shared_context(1);
  graze_visibility *v = reference(context);
  for (int how = 0; how < 2; how++) {
    make_world(context, &makers[MAKERS - 1], 11);
    if (how == 0) world.poses[2].m[0] = 1e308, world.poses[2].m[3] = 1e308;
    if (how == 1) world.corners[world.first[3]][4] = NAN; /* number 3 is raw */
    for (int mode = GRAZE_VISIBILITY_CLOSE; mode <= GRAZE_VISIBILITY_QCULLIDE; mode++) {
      graze_visibility_def def = world_def((graze_visibility_mode)mode, 16);
      graze_visibility_result r = cull(v, &def);
      uint32_t bad = how == 0 ? 2 : 3;
      assert_int_equal(r.unjudged, 1);
      for (uint32_t i = 0; i < world.count; i++) {
        if (i == bad || world.first[i + 1] == world.first[i]) continue;
        const graze_visibility_pair *p = find_pair(&r, i < bad ? i : bad, i < bad ? bad : i);
        assert_non_null(p);
        assert_int_equal(p->triangles_a.count + p->triangles_b.count,
                         world.first[i + 1] - world.first[i] + world.first[bad + 1] - world.first[bad]);
        assert_int_equal(r.objects[i].count, world.first[i + 1] - world.first[i]);
      }
    }
    end_world();
  }
  graze_visibility_destroy(v);
}

/* Only pairs that were asked about, whatever their order. */
static void test_pairs_asked(void **unused) {
  (void)unused;
  graze_context *context = shared_context(1);
  graze_visibility *v = reference(context);
  make_world(context, &makers[MAKERS - 1], 13);
  for (int mode = GRAZE_VISIBILITY_CLOSE; mode <= GRAZE_VISIBILITY_RCULLIDE; mode += 2) {
    graze_visibility_def def = world_def((graze_visibility_mode)mode, 64);
    graze_visibility_result r = cull(v, &def);
    assert_true(r.pair_count >= 3);
    graze_box_pair asked[3] = {
        {r.pairs[2].a, r.pairs[2].b}, {r.pairs[0].a, r.pairs[0].b}, {r.pairs[2].a, r.pairs[2].b}};
    def.pairs = asked;
    def.pair_count = 3;
    r = cull(v, &def);
    assert_int_equal(r.box_pairs, 2);
    assert_true(r.pair_count <= 2); /* fewer are drawn, so that less may be left */
    for (uint64_t i = 0; i < r.pair_count; i++)
      assert_true((r.pairs[i].a == asked[0].a && r.pairs[i].b == asked[0].b) ||
                  (r.pairs[i].a == asked[1].a && r.pairs[i].b == asked[1].b));
    if (mode == GRAZE_VISIBILITY_CLOSE) assert_int_equal(r.pair_count, 2);
  }
  end_world();
  graze_visibility_destroy(v);
}

typedef struct seen {
  uint32_t images, most, resolution;
  uint64_t owned[MOST_OBJECTS];
} seen;

static bool see(void *user, const graze_visibility_image *image) {
  seen *s = user;
  s->images++;
  assert_int_equal(image->pass->resolution, s->resolution);
  assert_true(image->width % (s->resolution + 1) == s->resolution &&
              image->height % (s->resolution + 1) == s->resolution);
  for (uint64_t i = 0; i < (uint64_t)image->width * image->height; i++) {
    assert_int_equal(isfinite(image->depth[i]) != 0, image->owner[i] != UINT32_MAX);
    if (image->owner[i] != UINT32_MAX) s->owned[image->owner[i]]++;
  }
  return s->images < s->most;
}

static bool count_drawn(void *user, const graze_visibility_image *image) {
  uint32_t *drawn = user;
  for (uint64_t i = 0; i < (uint64_t)image->width * image->height; i++) *drawn += isfinite(image->depth[i]) != 0;
  return true;
}

/* Two triangles that are seen edge-on along x: bounds draw them, pixel centers do not, and images show it. */
static void test_images_of_centers(void **unused) {
  static const double flat[2][9] = {{0, 0, 0, 1, 0.5, 0, 0, 1, 0}, {0, 0, 0.5, 1, 0.5, 0.5, 0, 1, -0.5}};
  (void)unused;
  graze_context *context = shared_context(2);
  graze_visibility *v = reference(context);
  graze_mesh_def arrays[2];
  graze_visibility_object objects[2];
  for (int i = 0; i < 2; i++) {
    arrays[i] = graze_default_mesh_def();
    arrays[i].vertices = flat[i];
    arrays[i].vertex_count = 3;
    arrays[i].precision = GRAZE_DOUBLE;
    objects[i] = (graze_visibility_object){.arrays = &arrays[i]};
  }
  for (int mode = GRAZE_VISIBILITY_CULLIDE; mode <= GRAZE_VISIBILITY_QCULLIDE; mode++) {
    for (int edge_on = 0; edge_on < 2; edge_on++) {
      graze_visibility_def def = graze_default_visibility_def();
      uint32_t drawn = 0;
      def.objects = objects;
      def.object_count = 2;
      def.mode = (graze_visibility_mode)mode;
      def.resolution = 8;
      def.views = edge_on ? GRAZE_VISIBILITY_X : GRAZE_VISIBILITY_Z;
      def.image = count_drawn;
      def.image_user = &drawn;
      arrays[1].vertices = edge_on ? flat[0] : flat[1];
      graze_visibility_result r = cull(v, &def);
      assert_true(r.pass_count > 0);
      assert_int_equal(drawn > 0, !edge_on || mode == GRAZE_VISIBILITY_RCULLIDE);
    }
  }
  graze_visibility_destroy(v);
}

/* Every pass has an image, in which what is drawn has an owner, until the caller has seen enough; and the answer is the
 * same with images. */
static void test_images(void **unused) {
  (void)unused;
  graze_context *context = shared_context(2);
  graze_visibility *v = reference(context);
  make_world(context, &(maker){"four", make_four}, 0);
  for (int mode = GRAZE_VISIBILITY_CLOSE; mode <= GRAZE_VISIBILITY_QCULLIDE; mode++) {
    for (uint32_t most = 1; most <= 1000; most += 999) {
      graze_visibility_def def = world_def((graze_visibility_mode)mode, 8);
      seen s = {.most = most, .resolution = 8};
      uint64_t hash = cull(v, &def).hash;
      def.image = see;
      def.image_user = &s;
      graze_visibility_result r = cull(v, &def);
      assert_true(r.hash == hash);
      assert_int_equal(s.images, most < r.pass_count ? most : r.pass_count);
      for (int i = 0; i < 4; i++) assert_true(s.owned[i] > 0);
    }
  }
  end_world();
  graze_visibility_destroy(v);
}

static bool stop_at_second(void *user, uint64_t done, uint64_t total) {
  uint64_t *last = user;
  assert_true(done <= total);
  *last = done;
  return done < 2;
}

static void test_errors(void **unused) {
  (void)unused;
  graze_context *context = shared_context(1);
  graze_visibility *v = reference(context);
  graze_visibility_result r;
  uint64_t last = 0;
  make_world(context, &makers[MAKERS - 1], 17);
  const graze_visibility_def good = world_def(GRAZE_VISIBILITY_CLOSE, 16);
  graze_visibility_def bad[10];
  for (int i = 0; i < 10; i++) bad[i] = good;
  bad[0].cookie = 0;
  bad[1].resolution = 0;
  bad[2].resolution = GRAZE_VISIBILITY_MOST_PIXELS + 1;
  bad[3].views = 0;
  bad[4].views = 8;
  bad[5].mode = (graze_visibility_mode)9;
  bad[6].level = (graze_visibility_level)2;
  bad[7].bounds = GRAZE_VISIBILITY_PUBLISHED;
  bad[8].objects = NULL;
  bad[9].pairs = &(graze_box_pair){2, 2};
  bad[9].pair_count = 1;
  for (int i = 0; i < 10; i++) assert_int_equal(graze_visibility_cull(v, &bad[i], &r), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_visibility_cull(v, NULL, &r), GRAZE_ERROR_ARGUMENT);
  uint32_t indices[6] = {0, 1, 2, 2, 1, 3};
  graze_mesh_def arrays = world.arrays[1];
  arrays.vertex_count = 3;
  arrays.indices = indices;
  arrays.triangle_count = 2;
  world.objects[1].arrays = &arrays;
  assert_int_equal(graze_visibility_cull(v, &good, &r), GRAZE_ERROR_INDEX);
  assert_string_equal(shared_error()->message, "object 1, triangle 1, corner 2: index 3 of 3 vertices");
  world.objects[1].arrays = NULL;
  assert_int_equal(graze_visibility_cull(v, &good, &r), GRAZE_ERROR_ARGUMENT);
  world.objects[1].arrays = &world.arrays[1];
  for (int mode = GRAZE_VISIBILITY_CLOSE; mode <= GRAZE_VISIBILITY_QCULLIDE; mode++) {
    graze_visibility_def stopped = world_def((graze_visibility_mode)mode, 16);
    stopped.progress = stop_at_second;
    stopped.progress_user = &last;
    assert_int_equal(graze_visibility_cull(v, &stopped, &r), GRAZE_CANCELLED);
    assert_int_equal(last, 2);
  }
  assert_true(cull(v, &good).pair_count > 0);
  graze_visibility_def none = graze_default_visibility_def();
  r = cull(v, &none);
  assert_int_equal(r.pair_count, 0);
  end_world();
  graze_visibility_destroy(v);
}

/* Each allocation refused in turn, and none when it is warm. */
static void test_memory(void **unused) {
  (void)unused;
  test_allocator memory = {0};
  graze_context *context = NULL;
  graze_context_def context_def = graze_default_context_def();
  context_def.allocator = test_allocator_hooks(&memory);
  context_def.threads = 2;
  assert_int_equal(graze_context_create(&context_def, &context), GRAZE_OK);
  make_world(shared_context(1), &makers[0], 19);
  for (int mode = GRAZE_VISIBILITY_CLOSE; mode <= GRAZE_VISIBILITY_QCULLIDE; mode++) {
    graze_visibility_def def = world_def((graze_visibility_mode)mode, 24);
    graze_status status = GRAZE_ERROR_MEMORY;
    int64_t blocks = memory.live_blocks;
    for (uint64_t k = 1; status != GRAZE_OK; k++) {
      graze_visibility *v = NULL;
      graze_visibility_result r;
      memory.requests = 0;
      memory.fail_at = k;
      status = graze_visibility_create(context, GRAZE_VISIBILITY_REFERENCE, &v);
      if (status == GRAZE_OK) status = graze_visibility_cull(v, &def, &r);
      if (status != GRAZE_OK) assert_int_equal(status, GRAZE_ERROR_MEMORY);
      memory.fail_at = 0;
      if (v) assert_int_equal(graze_visibility_cull(v, &def, &r), GRAZE_OK); /* fit for another try */
      memory.requests = 0;
      if (v) assert_int_equal(graze_visibility_cull(v, &def, &r), GRAZE_OK);
      assert_int_equal(memory.requests, 0);
      graze_visibility_destroy(v);
      assert_int_equal(memory.live_blocks, blocks);
    }
  }
  assert_int_equal(memory.misaligned, 0);
  graze_context_destroy(context);
  end_world();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arrays), cmocka_unit_test(test_unjudged),          cmocka_unit_test(test_pairs_asked),
      cmocka_unit_test(test_images), cmocka_unit_test(test_images_of_centers), cmocka_unit_test(test_errors),
      cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
