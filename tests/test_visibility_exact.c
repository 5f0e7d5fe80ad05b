/* What pictures leave, decided: the same pairs of triangles as meshes with hierarchies give, and as all pairs give one
 * by one; of different objects and of one with itself, from meshes and from plain arrays. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "graze/engine.h"
#include "graze/visibility.h"
#include "support.h"
#include "visibility/meet.h"

enum { OBJECTS = 6, MOST_TRIANGLES = 1200 };

static uint64_t state;

static graze_visibility *reference(graze_context *context) {
  graze_visibility *v = NULL;
  assert_int_equal(graze_visibility_create(context, GRAZE_VISIBILITY_REFERENCE, &v), GRAZE_OK);
  return v;
}

/* ---- boxes of two lists ------------------------------------------------------------------------------------------ */

enum { BOXES = 300 };

typedef struct met {
  uint8_t times[BOXES][BOXES];
} met;

static void count_meeting(void *user, uint32_t first, uint32_t second) {
  ((met *)user)->times[first][second]++;
}

/* Small ones, flat ones, all alike, and some that reach through everything. */
static visibility_box make_box(int kind) {
  visibility_box box;
  const float size = kind == 1 ? 0.5f : random_below(&state, 40) == 0 ? 3 : 0.05f;
  for (int k = 0; k < 3; k++) {
    box.low[k] = kind == 2 ? 0 : (float)random_below(&state, 64) / 64;
    box.high[k] = box.low[k] + (kind == 3 && k == 1 ? 0 : size * (float)random_below(&state, 8) / 8);
  }
  return box;
}

static void test_boxes(void **unused) {
  static visibility_box a[BOXES], b[BOXES];
  static visibility_span spans[2][BOXES];
  static met found;
  buffer memory = {0};
  (void)unused;
  state = test_seed(0);
  for (int round = 0; round < test_rounds(40, 2000); round++) {
    const uint32_t first = random_below(&state, BOXES), end = first + random_below(&state, BOXES - first + 1);
    const uint32_t count = 1 + random_below(&state, BOXES);
    for (int i = 0; i < BOXES; i++) {
      a[i] = make_box(round % 4);
      b[i] = make_box((round + round / 4) % 4);
      spans[0][i] = visibility_span_of_box(&a[i]);
      spans[1][i] = visibility_span_of_box(&b[i]);
    }
    memset(&found, 0, sizeof found);
    const visibility_meeting meeting = {shared_context(1), {spans[0], spans[1]}, count_meeting, &found, &memory};
    assert_true(gz_visibility_meet(&meeting, first, end, count));
    for (uint32_t i = 0; i < BOXES; i++) {
      for (uint32_t j = 0; j < BOXES; j++)
        assert_int_equal(found.times[i][j], i >= first && i < end && j < count && visibility_boxes_meet(&a[i], &b[j]));
    }
  }
  gz_buffer_release(shared_context(1), &memory);
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

static struct world {
  double corners[OBJECTS][9 * MOST_TRIANGLES];
  uint32_t counts[OBJECTS];
  graze_mesh_def arrays[OBJECTS];
  graze_mesh *meshes[OBJECTS];
  graze_pose poses[OBJECTS];
  graze_visibility_object objects[OBJECTS];
} world;

static void make_object(graze_context *context, int i, int kind) {
  double *c = world.corners[i];
  uint32_t count = 20 + random_below(&state, 300);
  if (kind == 0)
    count = soup_ball(4, 0.6, c);
  else if (kind == 1)
    soup_lattice(&state, count, 4, c);
  else
    soup_cluttered(&state, count, 0.4, c);
  if (kind == 1)
    for (uint32_t k = 0; k < 9 * count; k++) c[k] = c[k] / 2 - 1;
  world.counts[i] = count;
  world.arrays[i] = graze_default_mesh_def();
  world.arrays[i].vertices = c;
  world.arrays[i].vertex_count = 3 * (uint64_t)count;
  world.arrays[i].precision = GRAZE_DOUBLE;
  world.meshes[i] = test_mesh(context, c, count, GRAZE_VOLUMES_ORIENTED);
  world.poses[i] =
      kind == 1 ? test_translation(random_below(&state, 3), random_below(&state, 2), 0) : test_random_pose(&state, 0.7);
  world.objects[i] = (graze_visibility_object){.pose = &world.poses[i]};
  if (random_below(&state, 2))
    world.objects[i].mesh = world.meshes[i];
  else
    world.objects[i].arrays = &world.arrays[i];
}

static void compare_with_hierarchies(graze_query *query, const graze_visibility_contacts *got) {
  uint64_t next = 0;
  for (uint32_t a = 0; a < OBJECTS; a++) {
    for (uint32_t b = a + 1; b < OBJECTS; b++) {
      graze_collide_result want;
      assert_int_equal(
          graze_collide_meshes(query, world.meshes[a], &world.poses[a], world.meshes[b], &world.poses[b], NULL, &want),
          GRAZE_OK);
      if (!want.hit) continue;
      assert_true(next < got->count && got->list[next].a == a && got->list[next].b == b);
      test_assert_counts(&got->list[next].counts, &want.counts);
      test_assert_pairs(got->list[next++].pairs, want.pairs, want.counts.triangle_pairs);
    }
  }
  assert_int_equal(next, got->count);
}

/* The same from all pairs of triangles, which knows nothing of boxes. */
static void compare_with_all_pairs(const graze_visibility_contacts *got, uint32_t a, uint32_t b) {
  uint64_t hash = 0, want = 0, found = 0;
  for (uint32_t i = 0; i < world.counts[a]; i++) {
    for (uint32_t j = 0; j < world.counts[b]; j++) {
      double x[9], y[9];
      graze_tritri r;
      for (int c = 0; c < 9; c += 3) {
        graze_pose_apply(&world.poses[a], world.corners[a] + 9 * (size_t)i + c, x + c);
        graze_pose_apply(&world.poses[b], world.corners[b] + 9 * (size_t)j + c, y + c);
      }
      assert_int_equal(graze_tritri_test(x, y, &r), GRAZE_OK);
      if (r.kind == GRAZE_KIND_NONE) continue;
      want++;
      hash += graze_pair_hash(i, j);
    }
  }
  for (uint64_t i = 0; i < got->count; i++) {
    if (got->list[i].a != a || got->list[i].b != b) continue;
    found = got->list[i].counts.triangle_pairs;
    assert_true(got->list[i].counts.hash == hash);
  }
  assert_int_equal(found, want);
}

static void test_objects(void **unused) {
  static const uint32_t resolutions[] = {1, 7, 64};
  (void)unused;
  state = test_seed(1);
  uint64_t met_in_all = 0;
  for (int round = 0; round < test_rounds(12, 600); round++) {
    graze_context *context = shared_context(1 + 2 * (round % 2));
    graze_visibility *v = reference(context);
    graze_query *query = NULL;
    assert_int_equal(graze_query_create(context, &query), GRAZE_OK);
    for (int i = 0; i < OBJECTS; i++) make_object(context, i, round / 2 % 3);
    graze_visibility_def def = graze_default_visibility_def();
    def.objects = world.objects;
    def.object_count = OBJECTS;
    def.resolution = resolutions[round % 3];
    def.mode = round % 5 == 4 ? GRAZE_VISIBILITY_RCULLIDE : GRAZE_VISIBILITY_CLOSE;
    def.level = round % 4 == 3 ? GRAZE_VISIBILITY_OBJECTS : GRAZE_VISIBILITY_TRIANGLES;
    for (int again = 0; again < 2; again++) { /* with memory from before */
      graze_visibility_contacts got;
      graze_visibility_result left;
      assert_int_equal(graze_visibility_collide(v, &def, &left, &got), GRAZE_OK);
      compare_with_hierarchies(query, &got);
      assert_true(left.reliable && left.pair_count >= got.count && got.work.triangle_tests >= got.triangle_pairs);
      if (again == 0) compare_with_all_pairs(&got, 0, 1 + random_below(&state, OBJECTS - 1));
      met_in_all += got.count;
    }
    for (int i = 0; i < OBJECTS; i++) graze_mesh_destroy(world.meshes[i]);
    graze_query_destroy(query);
    graze_visibility_destroy(v);
  }
  assert_true(met_in_all > 20);
}

/* ---- objects that are cut for threads ---------------------------------------------------------------------------- */

enum { CLOUDS = 3, CLOUD = 20000 };

/* Small triangles in a slab that reaches into the next one, from below upwards, so that blocks of them are small. */
static void make_cloud(int number, float *c) {
  for (int i = 0; i < CLOUD; i++, c += 9) {
    const float middle[3] = {(float)random_unit(&state), (float)random_unit(&state),
                             0.6f * (float)number + (float)i / CLOUD};
    for (int k = 0; k < 9; k++) c[k] = middle[k % 3] + 0.01f * (float)random_signed(&state);
  }
}

/* Pairs of the first `count` clouds: of two, each is in one pair; of three, one is in two. */
static void compare_clouds(graze_context *context, const graze_visibility_object *objects, uint32_t count) {
  graze_visibility *v = reference(context);
  graze_query *query = NULL;
  graze_mesh *meshes[CLOUDS];
  graze_visibility_contacts got;
  graze_visibility_def def = graze_default_visibility_def();
  def.objects = objects;
  def.object_count = count;
  assert_int_equal(graze_query_create(context, &query), GRAZE_OK);
  for (uint32_t i = 0; i < count; i++)
    assert_int_equal(graze_mesh_create(context, objects[i].arrays, &meshes[i]), GRAZE_OK);
  assert_int_equal(graze_visibility_collide(v, &def, NULL, &got), GRAZE_OK);
  assert_int_equal(got.count, count - 1);
  for (uint32_t i = 0; i + 1 < count; i++) {
    graze_collide_result want;
    assert_int_equal(graze_collide_meshes(query, meshes[i], NULL, meshes[i + 1], NULL, NULL, &want), GRAZE_OK);
    assert_true(want.counts.triangle_pairs > 0 && got.list[i].a == i && got.list[i].b == i + 1);
    test_assert_counts(&got.list[i].counts, &want.counts);
  }
  for (uint32_t i = 0; i < count; i++) graze_mesh_destroy(meshes[i]);
  graze_query_destroy(query);
  graze_visibility_destroy(v);
}

static void test_clouds(void **unused) {
  static float corners[CLOUDS][9 * CLOUD];
  graze_mesh_def arrays[CLOUDS];
  graze_visibility_object objects[CLOUDS];
  (void)unused;
  state = test_seed(9);
  for (int i = 0; i < CLOUDS; i++) {
    make_cloud(i, corners[i]);
    arrays[i] = graze_default_mesh_def();
    arrays[i].vertices = corners[i];
    arrays[i].vertex_count = 3 * CLOUD;
    objects[i] = (graze_visibility_object){.arrays = &arrays[i]};
  }
  compare_clouds(shared_context(1), objects, 2);
  compare_clouds(shared_context(3), objects, 2);
  compare_clouds(shared_context(3), objects, 3);
}

/* ---- one object with itself -------------------------------------------------------------------------------------- */

enum { SIDE = 24, SHEET = 2 * SIDE * SIDE, SHEET_VERTICES = (SIDE + 1) * (SIDE + 1) };

/* A sheet of shared vertices, floats three to a vertex with one beside them, folded and crumpled the more the later. */
typedef struct sheet {
  float vertices[SHEET_VERTICES][4];
  uint32_t indices[3 * (SHEET + 8)];
  uint32_t count;
} sheet;

static void deform(sheet *s, int step) {
  for (int i = 0; i < SHEET_VERTICES; i++) {
    const float x = (float)(i % (SIDE + 1)) / SIDE, y = (float)(i / (SIDE + 1)) / SIDE;
    const float noise = step < 2 ? 0 : 0.01f * (float)step * (float)random_signed(&state);
    s->vertices[i][0] = step == 0 ? x : 0.5f + (0.5f - 0.05f * (float)step) * cosf(2.9f * (float)step * x) * x;
    s->vertices[i][1] = y + noise;
    s->vertices[i][2] = step == 0 ? 0 : 0.3f * sinf(2.9f * (float)step * x) + noise;
  }
}

static void add_triangle(sheet *s, uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t corners[3] = {a, b, c};
  memcpy(s->indices + 3 * (size_t)s->count++, corners, sizeof corners);
}

/* With duplicates and triangles of no area. */
static void make_sheet(sheet *s) {
  s->count = 0;
  for (uint32_t y = 0; y < SIDE; y++) {
    for (uint32_t x = 0; x < SIDE; x++) {
      const uint32_t at = y * (SIDE + 1) + x;
      add_triangle(s, at, at + 1, at + SIDE + 1);
      add_triangle(s, at + 1, at + SIDE + 2, at + SIDE + 1);
    }
  }
  add_triangle(s, 5, 6, 5 + SIDE + 1);
  add_triangle(s, 40, 41, 41);
  add_triangle(s, 7, 7, 7);
  add_triangle(s, 3, 3 + SIDE + 1, 3 + 2 * (SIDE + 1)); /* of no area while the sheet is flat */
}

static graze_mesh_def sheet_arrays(const sheet *s) {
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = s->vertices;
  def.vertex_stride = sizeof s->vertices[0];
  def.vertex_count = SHEET_VERTICES;
  def.indices = s->indices;
  def.triangle_count = s->count;
  return def;
}

static void compare_self(graze_visibility *v, const graze_visibility_object *object, const graze_self_result *want,
                         uint32_t resolution, graze_visibility_mode mode) {
  graze_self_result got;
  graze_visibility_def def = graze_default_visibility_def();
  def.objects = object;
  def.object_count = 1;
  def.resolution = resolution;
  def.mode = mode;
  assert_int_equal(graze_visibility_collide_self(v, &def, &got), GRAZE_OK);
  test_assert_self(&got, want);
  test_assert_pairs(got.pairs, want->pairs, want->self_pairs);
}

/* A mesh of the same arrays, with a hierarchy, is right. */
static uint64_t check_self(graze_context *context, graze_visibility *v, const graze_mesh_def *arrays) {
  graze_collide_options all = graze_default_collide_options();
  graze_self_result want;
  graze_query *query = NULL;
  graze_mesh *mesh = NULL;
  all.find = GRAZE_FIND_ALL;
  assert_int_equal(graze_query_create(context, &query), GRAZE_OK);
  assert_int_equal(graze_mesh_create(context, arrays, &mesh), GRAZE_OK);
  assert_int_equal(graze_collide_self(query, mesh, &all, &want), GRAZE_OK);
  compare_self(v, &(graze_visibility_object){.arrays = arrays}, &want, 1, GRAZE_VISIBILITY_CLOSE);
  compare_self(v, &(graze_visibility_object){.arrays = arrays}, &want, 128, GRAZE_VISIBILITY_CLOSE);
  compare_self(v, &(graze_visibility_object){.mesh = mesh}, &want, 8, GRAZE_VISIBILITY_RCULLIDE);
  const uint64_t found = want.self_pairs;
  graze_mesh_destroy(mesh);
  graze_query_destroy(query);
  return found;
}

static void test_deforming(void **unused) {
  static sheet s;
  (void)unused;
  state = test_seed(2);
  make_sheet(&s);
  for (int step = 0; step < test_rounds(8, 40); step++) {
    graze_context *context = shared_context(step % 2 == 0 ? 1 : 3);
    graze_visibility *v = reference(context);
    const graze_mesh_def arrays = sheet_arrays(&s);
    deform(&s, step % 8);
    const uint64_t found = check_self(context, v, &arrays);
    assert_true(step % 8 < 3 || found > 10);
    graze_visibility_destroy(v);
  }
}

static void test_soups(void **unused) {
  (void)unused;
  state = test_seed(3);
  for (int round = 0; round < test_rounds(8, 400); round++) {
    graze_context *context = shared_context(round % 2 == 0 ? 1 : 3);
    graze_visibility *v = reference(context);
    make_object(context, 0, round % 3);
    check_self(context, v, &world.arrays[0]);
    graze_mesh_destroy(world.meshes[0]);
    graze_visibility_destroy(v);
  }
}

/* As the engine of a context it answers graze_collide_self. */
static void test_engine(void **unused) {
  static sheet s;
  (void)unused;
  graze_context *context = test_context(2, NULL);
  graze_visibility *v = reference(context);
  graze_query *query = NULL;
  graze_mesh *mesh = NULL;
  graze_collide_options options = graze_default_collide_options();
  state = test_seed(4);
  make_sheet(&s);
  deform(&s, 5);
  const graze_mesh_def arrays = sheet_arrays(&s);
  assert_int_equal(graze_mesh_create(context, &arrays, &mesh), GRAZE_OK);
  assert_int_equal(graze_query_create(context, &query), GRAZE_OK);
  for (int find = GRAZE_FIND_ALL; find <= GRAZE_FIND_COUNT; find++) {
    graze_self_result want, got;
    graze_query *plain = NULL;
    options.find = (graze_find)find;
    assert_int_equal(graze_query_create(context, &plain), GRAZE_OK);
    assert_int_equal(graze_collide_self(plain, mesh, &options, &want), GRAZE_OK);
    assert_int_equal(graze_visibility_attach(v, NULL), GRAZE_OK);
    assert_int_equal(graze_collide_self(query, mesh, &options, &got), GRAZE_OK);
    assert_int_equal(graze_visibility_get_answered(v), 1);
    test_assert_self(&got, &want);
    assert_int_equal(got.pairs != NULL, find == GRAZE_FIND_ALL);
    if (find == GRAZE_FIND_ALL) test_assert_pairs(got.pairs, want.pairs, want.self_pairs);
    graze_visibility_detach(v);
    graze_query_destroy(plain);
  }
  graze_query_destroy(query);
  graze_mesh_destroy(mesh);
  graze_visibility_destroy(v);
  graze_context_destroy(context);
}

/* ---- refused ----------------------------------------------------------------------------------------------------- */

static void test_refused(void **unused) {
  static const graze_box_pair pair = {0, 1};
  (void)unused;
  graze_context *context = shared_context(2);
  graze_visibility *v = reference(context);
  graze_visibility_contacts contacts;
  graze_self_result self;
  state = test_seed(5);
  for (int i = 0; i < 2; i++) {
    make_object(context, i, 2);
    world.objects[i] = (graze_visibility_object){.arrays = &world.arrays[i]};
  }
  graze_visibility_def def = graze_default_visibility_def();
  def.objects = world.objects;
  def.object_count = 2;
  assert_int_equal(graze_visibility_collide_self(v, &def, &self), GRAZE_ERROR_ARGUMENT);
  def.object_count = 1;
  def.pairs = &pair;
  assert_int_equal(graze_visibility_collide_self(v, &def, &self), GRAZE_ERROR_ARGUMENT);
  def.pairs = NULL;
  assert_int_equal(graze_visibility_collide_self(v, &def, NULL), GRAZE_ERROR_ARGUMENT);
  def.mode = GRAZE_VISIBILITY_QCULLIDE;
  assert_int_equal(graze_visibility_collide_self(v, &def, &self), GRAZE_ERROR_ARGUMENT);
  def.object_count = 2;
  assert_int_equal(graze_visibility_collide(v, &def, NULL, &contacts), GRAZE_ERROR_ARGUMENT);
  assert_non_null(strstr(shared_error()->message, "not reliable"));
  def.mode = GRAZE_VISIBILITY_CLOSE;
  world.corners[1][9 * 3 + 4] = NAN;
  assert_int_equal(graze_visibility_collide(v, &def, NULL, &contacts), GRAZE_ERROR_NOT_FINITE);
  assert_non_null(strstr(shared_error()->message, "object 1, triangle 3"));
  def.objects = world.objects + 1;
  def.object_count = 1;
  assert_int_equal(graze_visibility_collide_self(v, &def, &self), GRAZE_ERROR_NOT_FINITE);
  assert_non_null(strstr(shared_error()->message, "object 0, triangle 3"));
  world.arrays[1].vertex_count = 0;
  assert_int_equal(graze_visibility_collide_self(v, &def, &self), GRAZE_OK);
  assert_int_equal(self.self_pairs, 0);
  for (int i = 0; i < 2; i++) graze_mesh_destroy(world.meshes[i]);
  graze_visibility_destroy(v);
}

static graze_status ask_all(graze_visibility *v) {
  graze_visibility_contacts contacts;
  graze_self_result self;
  graze_visibility_def def = graze_default_visibility_def();
  def.objects = world.objects;
  def.object_count = OBJECTS;
  def.resolution = 16;
  graze_status status = graze_visibility_collide(v, &def, NULL, &contacts);
  def.object_count = 1;
  return status == GRAZE_OK ? graze_visibility_collide_self(v, &def, &self) : status;
}

/* Each allocation refused in turn, and none when it is warm. */
/* Each request is refused in turn; of many threads, which take their time when they are watched, a few. */
static void test_memory(void **unused) {
  (void)unused;
  const uint64_t stride = test_thinned() ? 7 : 1;
  for (int threads = 1; threads <= 2; threads++) {
    test_allocator memory = {0};
    graze_context *context = NULL;
    graze_context_def def = graze_default_context_def();
    graze_status status = GRAZE_ERROR_MEMORY;
    def.allocator = test_allocator_hooks(&memory);
    def.threads = threads;
    assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
    state = 7;
    for (int i = 0; i < OBJECTS; i++) make_object(shared_context(1), i, 2);
    const int64_t blocks = memory.live_blocks;
    for (uint64_t k = 1; status != GRAZE_OK; k += stride) {
      graze_visibility *v = NULL;
      memory.requests = 0;
      memory.fail_at = k;
      status = graze_visibility_create(context, GRAZE_VISIBILITY_REFERENCE, &v);
      if (status == GRAZE_OK) status = ask_all(v);
      if (status != GRAZE_OK) assert_int_equal(status, GRAZE_ERROR_MEMORY);
      memory.fail_at = 0;
      if (v) assert_int_equal(ask_all(v), GRAZE_OK); /* fit for another try */
      memory.requests = 0;
      if (v) assert_int_equal(ask_all(v), GRAZE_OK);
      assert_true(memory.requests == 0 || threads > 1); /* who does what is another matter then */
      graze_visibility_destroy(v);
      assert_int_equal(memory.live_blocks, blocks);
    }
    assert_int_equal(memory.misaligned, 0);
    graze_context_destroy(context);
    for (int i = 0; i < OBJECTS; i++) graze_mesh_destroy(world.meshes[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_boxes),   cmocka_unit_test(test_objects),
                                     cmocka_unit_test(test_clouds),  cmocka_unit_test(test_deforming),
                                     cmocka_unit_test(test_soups),   cmocka_unit_test(test_engine),
                                     cmocka_unit_test(test_refused), cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
