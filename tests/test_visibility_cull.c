/* Culling by pictures, on the reference device: nothing that the exact answer has is ever lost in the reliable modes,
 * at any resolution; the sets of QCULLIDE; and that the published methods miss what they miss. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "visibility_worlds.h"

static const uint32_t resolutions[] = {1, 2, 3, 7, 16, 64};

/* ---- the exact answer -------------------------------------------------------------------------------------------- */

static bool has(const graze_visibility_triangles *t, uint32_t triangle) {
  uint32_t low = 0, high = t->count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (t->list[middle] < triangle)
      low = middle + 1;
    else
      high = middle;
  }
  return low < t->count && t->list[low] == triangle;
}

/* How many pairs and triangles of the exact answer are not left. */
static uint64_t count_lost(graze_query *q, const graze_visibility_result *r) {
  uint64_t lost = 0;
  for (uint32_t a = 0; a < world.count; a++) {
    for (uint32_t b = a + 1; b < world.count; b++) {
      graze_collide_result found;
      assert_int_equal(
          graze_collide_meshes(q, world.meshes[a], &world.poses[a], world.meshes[b], &world.poses[b], NULL, &found),
          GRAZE_OK);
      const graze_visibility_pair *p = find_pair(r, a, b);
      if (found.hit && !p) lost++;
      for (uint64_t i = 0; p && i < found.counts.triangle_pairs; i++) {
        lost += !has(&p->triangles_a, found.pairs[i].a) + !has(&p->triangles_b, found.pairs[i].b);
        lost += !has(&r->objects[a], found.pairs[i].a) + !has(&r->objects[b], found.pairs[i].b);
      }
    }
  }
  return lost;
}

/* What holds of every result. */
static void check_result(const graze_visibility_def *def, const graze_visibility_result *r) {
  uint64_t hash = 0, triangles = 0, both = 0;
  for (uint64_t i = 0; i < r->pair_count; i++) {
    const graze_visibility_pair *p = &r->pairs[i];
    assert_true(p->a < p->b && p->b < def->object_count);
    assert_true(p->triangles_a.count > 0 && p->triangles_b.count > 0);
    if (i > 0) assert_true(p[-1].a < p->a || (p[-1].a == p->a && p[-1].b < p->b));
    hash += graze_pair_hash(p->a, p->b);
  }
  for (uint32_t i = 0; i < def->object_count; i++) {
    const graze_visibility_triangles *t = &r->objects[i];
    triangles += t->count;
    both += t->count == 0;
    for (uint32_t j = 1; j < t->count; j++) assert_true(t->list[j - 1] < t->list[j]);
    if (def->level == GRAZE_VISIBILITY_OBJECTS && t->count > 0)
      assert_int_equal(t->count, world.first[i + 1] - world.first[i]);
  }
  assert_true(r->hash == hash);
  assert_int_equal(r->left_triangles, triangles);
  assert_int_equal(r->left_objects, def->object_count - both);
  assert_int_equal(r->sets.both, both);
  assert_int_equal(r->sets.both + r->sets.first + r->sets.second + r->sets.neither, def->object_count);
  assert_true(r->pair_count <= r->box_pairs);
}

typedef struct reliable_form {
  const char *name;
  graze_visibility_mode mode;
  graze_visibility_bounds bounds;
} reliable_form;

static const reliable_form forms[] = {{"close", GRAZE_VISIBILITY_CLOSE, GRAZE_VISIBILITY_TIGHT},
                                      {"rcullide", GRAZE_VISIBILITY_RCULLIDE, GRAZE_VISIBILITY_TIGHT},
                                      {"rcullide published", GRAZE_VISIBILITY_RCULLIDE, GRAZE_VISIBILITY_PUBLISHED}};

static void check_one(graze_visibility *v, graze_query *q, const reliable_form *form, const char *world_name,
                      uint32_t resolution, unsigned number) {
  graze_visibility_def def = world_def(form->mode, resolution);
  def.bounds = form->bounds;
  def.level = (graze_visibility_level)(number % 2);
  def.views = 1 + number % 7;
  graze_visibility_result r = cull(v, &def);
  check_result(&def, &r);
  assert_true(r.reliable);
  uint64_t lost = count_lost(q, &r);
  if (lost > 0) fail_msg("%s at %d: %d lost of %s", form->name, (int)def.resolution, (int)lost, world_name);
}

static void check_form(graze_visibility *v, graze_query *q, const reliable_form *form, const char *world_name) {
  for (unsigned i = 0; i < 2 * sizeof resolutions / sizeof *resolutions; i++)
    check_one(v, q, form, world_name, resolutions[i / 2], i);
}

static void test_nothing_is_lost(void **unused) {
  (void)unused;
  graze_context *context = shared_context(2);
  graze_visibility *v = reference(context);
  graze_query *q = NULL;
  assert_int_equal(graze_query_create(context, &q), GRAZE_OK);
  for (int round = 0; round < test_rounds(4, 400); round++) {
    for (int m = 0; m < MAKERS; m++) {
      make_world(context, &makers[m], test_seed((uint64_t)(round * MAKERS + m)));
      for (unsigned f = 0; f < sizeof forms / sizeof *forms; f++) check_form(v, q, &forms[f], makers[m].name);
      end_world();
    }
  }
  graze_query_destroy(q);
  graze_visibility_destroy(v);
}

/* Fine pictures take long: one world of each kind at 256 and at 2048, with GRAZE_TEST_LONG=1; else one at 256. */
static void test_nothing_is_lost_in_fine_pictures(void **unused) {
  (void)unused;
  graze_context *context = shared_context(2);
  graze_visibility *v = reference(context);
  graze_query *q = NULL;
  uint64_t state = test_seed(6000);
  const int one = (int)random_below(&state, MAKERS);
  assert_int_equal(graze_query_create(context, &q), GRAZE_OK);
  for (int m = test_long() ? 0 : one; m < (test_long() ? MAKERS : one + 1); m++) {
    make_world(context, &makers[m], test_seed(6001 + (uint64_t)m));
    for (unsigned f = 0; f < sizeof forms / sizeof *forms; f++) {
      check_one(v, q, &forms[f], makers[m].name, 256, 6);
      if (test_long()) check_one(v, q, &forms[f], makers[m].name, 2048, 6);
    }
    end_world();
  }
  graze_query_destroy(q);
  graze_visibility_destroy(v);
}

/* Many small triangles, so that a sieve of boxes comes before the pictures: two clouds, and a slab through both. Some
 * of the second cloud hang on to corners of the first one's. */
static void make_dust(uint64_t *state) {
  for (int i = 0; i < 3; i++) {
    double *c = add_triangles(1500);
    for (uint32_t j = 0; j < 1500; j++, c += 9) {
      double size = ldexp(1, -4 - (int)random_below(state, 4));
      for (int k = 0; k < 3; k++) {
        double center = random_signed(state) * (k == 2 && i == 2 ? 0.01 : 1);
        for (int corner = 0; corner < 3; corner++) c[3 * corner + k] = center + size * random_signed(state);
      }
      const double *held = world.corners[j] + 3 * (j % 3), from[3] = {c[0], c[1], c[2]};
      for (int k = 0; i > 0 && j % 30 == 0 && k < 9; k++) c[k] = k < 3 ? held[k] : c[k] - from[k % 3] + held[k % 3];
    }
  }
}

static void test_sieve(void **unused) {
  (void)unused;
  graze_context *context = shared_context(2);
  graze_visibility *v = reference(context);
  graze_query *q = NULL;
  assert_int_equal(graze_query_create(context, &q), GRAZE_OK);
  for (int round = 0; round < test_rounds(2, 100); round++) {
    make_world(context, &(maker){"dust", make_dust}, test_seed(5000 + (uint64_t)round));
    for (unsigned i = 0; i < sizeof resolutions / sizeof *resolutions; i++) {
      graze_visibility_def def = world_def(GRAZE_VISIBILITY_CLOSE, resolutions[i]);
      graze_visibility_result r = cull(v, &def);
      check_result(&def, &r);
      assert_int_equal(count_lost(q, &r), 0);
      assert_true(r.pair_count == 3 && r.left_triangles < 2 * 1500); /* also at 1: the sieve has worked */
    }
    end_world();
  }
  graze_query_destroy(q);
  graze_visibility_destroy(v);
}

/* ---- what the slides show ---------------------------------------------------------------------------------------- */

static void make_cubes(uint64_t *state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    const double min[3] = {i, i, i}, max[3] = {i + 2, i + 2, i + 2};
    soup_box(min, max, add_triangles(12));
  }
}

static void test_four_objects(void **unused) {
  (void)unused;
  graze_context *context = shared_context(1);
  graze_visibility *v = reference(context);
  make_world(context, &(maker){"four", make_four}, 0);
  for (int mode = GRAZE_VISIBILITY_CLOSE; mode <= GRAZE_VISIBILITY_QCULLIDE; mode++) {
    graze_visibility_def def = world_def((graze_visibility_mode)mode, 64);
    graze_visibility_result r = cull(v, &def);
    check_result(&def, &r);
    assert_true(r.box_pairs > 1);
    assert_int_equal(r.pair_count, 1);
    assert_int_equal(r.pairs[0].a, 0);
    assert_int_equal(r.pairs[0].b, 1);
    assert_int_equal(r.left_objects, 2);
  }
  end_world();
  graze_visibility_destroy(v);
}

/* Every triangle that is left in `inner` is left in `outer`. */
static bool is_within(const graze_visibility_triangles *inner, const graze_visibility_triangles *outer) {
  for (uint32_t i = 0; i < inner->count; i++) {
    if (!has(outer, inner->list[i])) return false;
  }
  return true;
}

static uint64_t keep_lists(const graze_visibility_result *r, graze_visibility_triangles *kept, uint32_t *memory) {
  for (uint32_t i = 0; i < world.count; i++) {
    memcpy(memory, r->objects[i].list, r->objects[i].count * sizeof *memory);
    kept[i] = (graze_visibility_triangles){memory, r->objects[i].count};
    memory += r->objects[i].count;
  }
  return r->queries;
}

static void test_sets_leave_no_more(void **unused) {
  (void)unused;
  static uint32_t memory[MOST_TRIANGLES];
  graze_visibility_triangles plain[MOST_OBJECTS];
  graze_context *context = shared_context(2);
  graze_visibility *v = reference(context);
  uint64_t plain_queries = 0, queries = 0, in_sets = 0;
  for (int round = 0; round < test_rounds(20, 1000); round++) {
    make_world(context, &makers[round % 3 == 0 ? 0 : MAKERS - 1], test_seed(1000 + (uint64_t)round));
    graze_visibility_def def = world_def(GRAZE_VISIBILITY_CULLIDE, 16u << round % 4);
    def.level = (graze_visibility_level)(round % 2);
    graze_visibility_result r = cull(v, &def);
    check_result(&def, &r);
    assert_false(r.reliable);
    plain_queries += keep_lists(&r, plain, memory);
    def.mode = GRAZE_VISIBILITY_QCULLIDE;
    r = cull(v, &def);
    check_result(&def, &r);
    queries += r.queries;
    in_sets += r.sets.first + r.sets.second;
    for (uint32_t i = 0; i < world.count; i++) assert_true(is_within(&r.objects[i], &plain[i]));
    end_world();
  }
  assert_true(queries < plain_queries);
  assert_true(in_sets > 0);
  graze_visibility_destroy(v);
}

static uint64_t lost_at_64(graze_visibility *v, graze_query *q, graze_visibility_mode mode) {
  graze_visibility_def def = world_def(mode, 64);
  graze_visibility_result r = cull(v, &def);
  assert_int_equal(r.reliable, mode == GRAZE_VISIBILITY_RCULLIDE);
  return count_lost(q, &r);
}

/* Seeded scenes of which pixel centers lose contacts, and bounds do not: slivers, which fall between centers, and cubes
 * along the axes, of which each face is seen edge-on, that is not at all, in two of the views. */
static void test_centers_miss(void **unused) {
  (void)unused;
  graze_context *context = shared_context(2);
  graze_visibility *v = reference(context);
  graze_query *q = NULL;
  uint64_t lost[4] = {0};
  assert_int_equal(graze_query_create(context, &q), GRAZE_OK);
  for (uint64_t seed = 0; seed <= 8; seed++) {
    make_world(context, seed == 0 ? &(maker){"cubes", make_cubes} : &makers[4], seed);
    for (int mode = GRAZE_VISIBILITY_CULLIDE; mode <= GRAZE_VISIBILITY_QCULLIDE; mode++)
      lost[mode] += lost_at_64(v, q, (graze_visibility_mode)mode);
    if (seed == 0) assert_true(lost[GRAZE_VISIBILITY_CULLIDE] > 0);
    end_world();
  }
  assert_true(lost[GRAZE_VISIBILITY_CULLIDE] > 1);
  assert_int_equal(lost[GRAZE_VISIBILITY_RCULLIDE], 0);
  assert_true(lost[GRAZE_VISIBILITY_QCULLIDE] >= lost[GRAZE_VISIBILITY_CULLIDE]);
  graze_query_destroy(q);
  graze_visibility_destroy(v);
}

/* Two balls as one object: where they cross triangles are left, and most of the others are gone. A ball alone is clear.
 */
static void test_one_object(void **unused) {
  (void)unused;
  static double ball[9 * 8 * 36];
  graze_context *context = shared_context(2);
  graze_visibility *v = reference(context);
  for (int balls = 1; balls <= 2; balls++) {
    world.count = 0;
    uint32_t count = soup_ball(6, 1, ball);
    double *c = add_triangles((uint32_t)balls * count);
    memcpy(c, ball, 9 * count * sizeof *c);
    for (uint32_t i = 0; balls == 2 && i < 9 * count; i++) c[9 * count + i] = ball[i] + (i % 3 == 0 ? 1.1 : 0.05);
    finish_world(context);
    graze_visibility_def def = world_def(GRAZE_VISIBILITY_QCULLIDE, 512);
    graze_visibility_result r = cull(v, &def);
    assert_int_equal(r.sets.both + r.left_triangles, (uint64_t)balls * count);
    assert_int_equal(r.pair_count, balls == 2);
    assert_true(balls == 1 ? r.left_triangles == 0 : r.left_triangles > 20 && r.left_triangles < count);
    def.mode = GRAZE_VISIBILITY_CLOSE; /* which is about pairs of objects */
    assert_int_equal(cull(v, &def).pair_count, 0);
    end_world();
  }
  graze_visibility_destroy(v);
}

/* ---- the interface ----------------------------------------------------------------------------------------------- */

static void test_threads_change_nothing(void **unused) {
  (void)unused;
  static uint32_t memory[MOST_TRIANGLES];
  graze_visibility_triangles one[MOST_OBJECTS];
  graze_visibility *v[2] = {reference(shared_context(1)), reference(shared_context(3))};
  for (int round = 0; round < test_rounds(12, 200); round++) {
    make_world(shared_context(1), &makers[round % MAKERS], test_seed(2000 + (uint64_t)round));
    graze_visibility_def def = world_def((graze_visibility_mode)(round % 4), 40);
    graze_visibility_result r = cull(v[0], &def), other = cull(v[1], &def);
    keep_lists(&r, one, memory);
    assert_true(r.hash == other.hash);
    assert_int_equal(r.pass_count, other.pass_count);
    assert_int_equal(r.queries, other.queries);
    for (uint32_t i = 0; i < r.pass_count; i++) {
      assert_int_equal(r.passes[i].triangles, other.passes[i].triangles);
      assert_int_equal(r.passes[i].pruned, other.passes[i].pruned);
    }
    for (uint32_t i = 0; i < world.count; i++) {
      assert_int_equal(one[i].count, other.objects[i].count);
      assert_memory_equal(one[i].list, other.objects[i].list, one[i].count * sizeof *memory);
    }
    end_world();
  }
  graze_visibility_destroy(v[0]);
  graze_visibility_destroy(v[1]);
}

/* Where there is a driver, it leaves the same triangles in the reliable modes. */
static void test_opengl_leaves_the_same(void **unused) {
  (void)unused;
  static uint32_t memory[MOST_TRIANGLES];
  graze_visibility_triangles kept[MOST_OBJECTS];
#ifdef __SANITIZE_THREAD__
  skip(); /* the driver's threads are not ours to watch */
#endif
  graze_visibility *gl = NULL, *v = reference(shared_context(1));
  graze_status status = graze_visibility_create(shared_context(1), GRAZE_VISIBILITY_OPENGL, &gl);
  if (status == GRAZE_ERROR_UNSUPPORTED) assert_non_null(strstr(shared_error()->message, "OpenGL"));
  for (int m = 0; status == GRAZE_OK && m < MAKERS; m++) {
    make_world(shared_context(1), &makers[m], test_seed(6000 + (uint64_t)m));
    for (int i = 0; i < 4; i++) {
      graze_visibility_def def = world_def(i % 2 ? GRAZE_VISIBILITY_RCULLIDE : GRAZE_VISIBILITY_CLOSE, i < 2 ? 40 : 5);
      graze_visibility_result r = cull(v, &def), other = cull(gl, &def);
      keep_lists(&r, kept, memory);
      assert_true(r.hash == other.hash);
      for (uint32_t k = 0; k < world.count; k++) {
        assert_int_equal(kept[k].count, other.objects[k].count);
        assert_memory_equal(kept[k].list, other.objects[k].list, kept[k].count * sizeof *memory);
      }
    }
    end_world();
  }
  graze_visibility_destroy(gl);
  graze_visibility_destroy(v);
  if (status == GRAZE_ERROR_UNSUPPORTED) skip();
  assert_int_equal(status, GRAZE_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_is_lost),
                                     cmocka_unit_test(test_nothing_is_lost_in_fine_pictures),
                                     cmocka_unit_test(test_sieve),
                                     cmocka_unit_test(test_four_objects),
                                     cmocka_unit_test(test_sets_leave_no_more),
                                     cmocka_unit_test(test_centers_miss),
                                     cmocka_unit_test(test_one_object),
                                     cmocka_unit_test(test_threads_change_nothing),
                                     cmocka_unit_test(test_opengl_leaves_the_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
