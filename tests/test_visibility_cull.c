/* Culling by pictures, on the reference device: nothing that the exact answer has is ever lost in the reliable modes,
 * at any resolution; the sets of QCULLIDE; that the published methods miss what they miss; and the interface. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "graze/visibility.h"
#include "support.h"

enum { MOST_OBJECTS = 40, MOST_TRIANGLES = 6000 };

typedef struct world {
  double corners[MOST_TRIANGLES][9];
  uint32_t first[MOST_OBJECTS + 1]; /* of each object */
  graze_pose poses[MOST_OBJECTS];
  graze_mesh *meshes[MOST_OBJECTS];
  graze_mesh_def arrays[MOST_OBJECTS];
  graze_visibility_object objects[MOST_OBJECTS];
  uint32_t count;
} world;

static world w;

static const uint32_t resolutions[] = {1, 2, 3, 7, 16, 64};

/* ---- worlds ------------------------------------------------------------------------------------------------------ */

static double *add_triangles(uint32_t count) {
  uint32_t used = w.first[w.count];
  assert_true(used + count <= MOST_TRIANGLES && w.count < MOST_OBJECTS);
  w.poses[w.count] = graze_pose_identity();
  w.first[++w.count] = used + count;
  return w.corners[used];
}

static void add_soup(uint64_t *state, uint32_t count, double size, double spread) {
  double center[3], *c = add_triangles(count);
  for (int k = 0; k < 3; k++) center[k] = spread * random_signed(state);
  for (uint32_t i = 0; i < 3 * count; i++) {
    for (int k = 0; k < 3; k++) c[3 * i + (uint32_t)k] = center[k] + size * random_signed(state);
  }
}

static void make_random(uint64_t *state) {
  for (int i = 0; i < 9; i++) add_soup(state, 1 + random_below(state, 12), 0.3, 0.5);
  for (uint32_t i = 0; i < w.count; i += 2) w.poses[i] = test_random_pose(state, 0.4);
}

static void make_lattice(uint64_t *state) {
  for (int i = 0; i < 8; i++) {
    uint32_t count = 1 + random_below(state, 6);
    double *c = add_triangles(count);
    for (uint32_t j = 0; j < 9 * count; j++) c[j] = (double)random_below(state, 4);
  }
}

static void make_coplanar(uint64_t *state) {
  make_lattice(state);
  uint32_t axis = random_below(state, 3);
  for (uint32_t i = 0; i < 3 * w.first[w.count]; i++) w.corners[i / 3][3 * (i % 3) + axis] = 1;
}

static void make_far_off(uint64_t *state) {
  make_random(state);
  double shift = ldexp(1, 10 + (int)random_below(state, 40));
  for (uint32_t i = 0; i < w.count; i++) w.poses[i] = test_translation(shift, -shift, shift / 3);
}

/* Long and thin, across each other. */
static void make_slivers(uint64_t *state) {
  for (int i = 0; i < 10; i++) {
    uint32_t count = 1 + random_below(state, 5);
    double *c = add_triangles(count);
    for (uint32_t j = 0; j < count; j++, c += 9) {
      for (int k = 0; k < 3; k++) {
        c[k] = random_signed(state);
        c[3 + k] = random_signed(state);
        c[6 + k] = c[k] + ldexp(random_signed(state), -(int)random_below(state, 60));
      }
    }
  }
}

static void make_decades(uint64_t *state) {
  for (int i = 0; i < 10; i++) {
    double size = pow(10, -6 * random_unit(state));
    add_soup(state, 1 + random_below(state, 8), size, 2 * size);
  }
}

/* Of all exponents that are finite once posed. */
static void make_extreme(uint64_t *state) {
  int exponent = (int)random_below(state, 2000) - 1000;
  make_lattice(state);
  for (uint32_t i = 0; i < 9 * w.first[w.count]; i++)
    w.corners[i / 9][i % 9] = ldexp(w.corners[i / 9][i % 9], exponent);
}

static void make_empty(uint64_t *state) {
  (void)state;
  for (int i = 0; i < 3; i++) add_triangles(0);
}

/* Spheres of several sizes in touch with each other, and one object without triangles. */
static void make_balls(uint64_t *state) {
  static double ball[9 * 8 * 9];
  for (int i = 0; i < 12; i++) {
    uint32_t count = soup_ball(3, 0.5 + 0.5 * random_unit(state), ball);
    memcpy(add_triangles(count), ball, 9 * count * sizeof *ball);
    w.poses[w.count - 1] = test_random_pose(state, 1.5);
  }
  add_triangles(0);
}

typedef struct maker {
  const char *name;
  void (*make)(uint64_t *state);
} maker;

static const maker makers[] = {{"random", make_random},   {"lattice", make_lattice}, {"coplanar", make_coplanar},
                               {"far off", make_far_off}, {"slivers", make_slivers}, {"decades", make_decades},
                               {"extreme", make_extreme}, {"empty", make_empty},     {"balls", make_balls}};
enum { MAKERS = sizeof makers / sizeof makers[0] };

static void finish_world(graze_context *context) {
  for (uint32_t i = 0; i < w.count; i++) {
    uint32_t count = w.first[i + 1] - w.first[i];
    w.meshes[i] = test_mesh(context, w.corners[w.first[i]], count, GRAZE_VOLUMES_ALIGNED);
    w.arrays[i] = graze_default_mesh_def();
    w.arrays[i].vertices = w.corners[w.first[i]];
    w.arrays[i].vertex_count = 3 * (uint64_t)count;
    w.arrays[i].precision = GRAZE_DOUBLE;
    bool raw = i % 2 == 1;
    w.objects[i] =
        (graze_visibility_object){.mesh = raw ? NULL : w.meshes[i], .arrays = &w.arrays[i], .pose = &w.poses[i]};
  }
}

static void make_world(graze_context *context, const maker *m, uint64_t seed) {
  uint64_t state = seed;
  w.count = 0;
  w.first[0] = 0;
  m->make(&state);
  finish_world(context);
}

static void end_world(void) {
  for (uint32_t i = 0; i < w.count; i++) graze_mesh_destroy(w.meshes[i]);
}

static graze_visibility_def world_def(graze_visibility_mode mode, uint32_t resolution) {
  graze_visibility_def def = graze_default_visibility_def();
  def.objects = w.objects;
  def.object_count = w.count;
  def.mode = mode;
  def.resolution = resolution;
  return def;
}

static graze_visibility *reference(graze_context *context) {
  graze_visibility *v = NULL;
  assert_int_equal(graze_visibility_create(context, GRAZE_VISIBILITY_REFERENCE, &v), GRAZE_OK);
  return v;
}

static graze_visibility_result cull(graze_visibility *v, const graze_visibility_def *def) {
  graze_visibility_result r;
  assert_int_equal(graze_visibility_cull(v, def, &r), GRAZE_OK);
  return r;
}

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

static const graze_visibility_pair *find_pair(const graze_visibility_result *r, uint32_t a, uint32_t b) {
  for (uint64_t i = 0; i < r->pair_count; i++) {
    if (r->pairs[i].a == a && r->pairs[i].b == b) return &r->pairs[i];
  }
  return NULL;
}

/* How many pairs and triangles of the exact answer are not left. */
static uint64_t count_lost(graze_query *q, const graze_visibility_result *r) {
  uint64_t lost = 0;
  for (uint32_t a = 0; a < w.count; a++) {
    for (uint32_t b = a + 1; b < w.count; b++) {
      graze_collide_result found;
      assert_int_equal(graze_collide_meshes(q, w.meshes[a], &w.poses[a], w.meshes[b], &w.poses[b], NULL, &found),
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
    if (def->level == GRAZE_VISIBILITY_OBJECTS && t->count > 0) assert_int_equal(t->count, w.first[i + 1] - w.first[i]);
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

static void check_form(graze_visibility *v, graze_query *q, const reliable_form *form, const char *world_name) {
  for (unsigned i = 0; i < 2 * sizeof resolutions / sizeof *resolutions; i++) {
    graze_visibility_def def = world_def(form->mode, resolutions[i / 2]);
    def.bounds = form->bounds;
    def.level = (graze_visibility_level)(i % 2);
    def.views = 1 + i % 7;
    graze_visibility_result r = cull(v, &def);
    check_result(&def, &r);
    assert_true(r.reliable);
    uint64_t lost = count_lost(q, &r);
    if (lost > 0) fail_msg("%s at %d: %d lost of %s", form->name, (int)def.resolution, (int)lost, world_name);
  }
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
      const double *held = w.corners[j] + 3 * (j % 3), from[3] = {c[0], c[1], c[2]};
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

/* Four objects, of which the first and the second meet: two balls, and two that only their boxes bring near. */
static void make_four(uint64_t *state) {
  static double ball[9 * 8 * 25];
  (void)state;
  for (int i = 0; i < 4; i++) {
    uint32_t count = soup_ball(5, i < 2 ? 1 : 0.5, ball);
    memcpy(add_triangles(count), ball, 9 * count * sizeof *ball);
  }
  w.poses[1] = test_translation(1.2, 0.7, 0.6);
  w.poses[2] = test_translation(2.3, 1.9, 1.3);
  w.poses[3] = test_translation(-1, -0.9, 0.8);
}

/* Two cubes across each other, along the axes. */
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
  for (uint32_t i = 0; i < w.count; i++) {
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
    for (uint32_t i = 0; i < w.count; i++) assert_true(is_within(&r.objects[i], &plain[i]));
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
    w.count = 0;
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
    for (uint32_t i = 0; i < w.count; i++) {
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
      for (uint32_t k = 0; k < w.count; k++) {
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
  for (uint32_t i = 0; i < w.count; i++) {
    w.objects[i].mesh = NULL;
    w.arrays[i].indices = indices;
    w.arrays[i].triangle_count = w.first[i + 1] - w.first[i];
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
    if (how == 0) w.poses[2].m[0] = 1e308, w.poses[2].m[3] = 1e308;
    if (how == 1) w.corners[w.first[3]][4] = NAN; /* number 3 is raw */
    for (int mode = GRAZE_VISIBILITY_CLOSE; mode <= GRAZE_VISIBILITY_QCULLIDE; mode++) {
      graze_visibility_def def = world_def((graze_visibility_mode)mode, 16);
      graze_visibility_result r = cull(v, &def);
      uint32_t bad = how == 0 ? 2 : 3;
      assert_int_equal(r.unjudged, 1);
      for (uint32_t i = 0; i < w.count; i++) {
        if (i == bad || w.first[i + 1] == w.first[i]) continue;
        const graze_visibility_pair *p = find_pair(&r, i < bad ? i : bad, i < bad ? bad : i);
        assert_non_null(p);
        assert_int_equal(p->triangles_a.count + p->triangles_b.count,
                         w.first[i + 1] - w.first[i] + w.first[bad + 1] - w.first[bad]);
        assert_int_equal(r.objects[i].count, w.first[i + 1] - w.first[i]);
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
  graze_mesh_def arrays = w.arrays[1];
  arrays.vertex_count = 3;
  arrays.indices = indices;
  arrays.triangle_count = 2;
  w.objects[1].arrays = &arrays;
  assert_int_equal(graze_visibility_cull(v, &good, &r), GRAZE_ERROR_INDEX);
  assert_string_equal(shared_error()->message, "object 1, triangle 1, corner 2: index 3 of 3 vertices");
  w.objects[1].arrays = NULL;
  assert_int_equal(graze_visibility_cull(v, &good, &r), GRAZE_ERROR_ARGUMENT);
  w.objects[1].arrays = &w.arrays[1];
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_is_lost),
                                     cmocka_unit_test(test_sieve),
                                     cmocka_unit_test(test_four_objects),
                                     cmocka_unit_test(test_sets_leave_no_more),
                                     cmocka_unit_test(test_centers_miss),
                                     cmocka_unit_test(test_one_object),
                                     cmocka_unit_test(test_threads_change_nothing),
                                     cmocka_unit_test(test_opengl_leaves_the_same),
                                     cmocka_unit_test(test_arrays),
                                     cmocka_unit_test(test_unjudged),
                                     cmocka_unit_test(test_pairs_asked),
                                     cmocka_unit_test(test_images),
                                     cmocka_unit_test(test_images_of_centers),
                                     cmocka_unit_test(test_errors),
                                     cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
