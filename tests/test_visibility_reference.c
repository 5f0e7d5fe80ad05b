/* The processor as a device of culling: pictures and flags against plain loops over all pixels, on any threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "support.h"
#include "visibility/bounds.h"
#include "visibility/device.h"

/* Triangles in [0, 1]^3, pictures of it or of parts of it, draws into some, several into one, and draws against them.
 */
typedef struct scene {
  visibility_triangles triangles;
  float *corners;
  uint32_t pictures, puts, tests, entries, put_entries;
  visibility_picture picture[8];
  visibility_draw put[16], test[16];
  uint32_t *list;
} scene;

static void random_corners(uint64_t *state, uint32_t count, float *corners) {
  for (uint32_t i = 0; i < count; i++) {
    const double size = random_below(state, 8) == 0 ? 1 : 0.05;
    double middle[3];
    for (int k = 0; k < 3; k++) middle[k] = random_unit(state);
    for (int k = 0; k < 9; k++) corners[9 * i + (uint32_t)k] = (float)(middle[k % 3] + size * random_signed(state));
    if (random_below(state, 16) == 0) memcpy(corners + 9 * i + 6, corners + 9 * i, 3 * sizeof(float));
    if (random_below(state, 256) == 0) corners[9 * i + random_below(state, 9)] = random_below(state, 2) ? NAN : 1e38f;
  }
}

static uint32_t random_draws(uint64_t *state, scene *s, visibility_draw *draws) {
  const uint32_t count = 1 + random_below(state, 16);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t size = random_below(state, s->triangles.count / 8);
    draws[i] = (visibility_draw){random_below(state, s->pictures), s->entries, size};
    for (uint32_t k = 0; k < size; k++) s->list[s->entries + k] = random_below(state, s->triangles.count);
    s->entries += size;
  }
  return count;
}

static void random_scene(uint64_t *state, uint32_t triangles, uint32_t largest, scene *s) {
  *s = (scene){.pictures = 1 + random_below(state, 8)};
  s->corners = malloc(triangles * 9 * sizeof(float));
  s->list = calloc(32 * (size_t)triangles, sizeof(uint32_t));
  random_corners(state, triangles, s->corners);
  s->triangles = (visibility_triangles){s->corners, triangles, random_below(state, 2) ? 0 : 1e-6f};
  for (uint32_t i = 0; i < s->pictures; i++) {
    visibility_picture *p = &s->picture[i];
    *p = (visibility_picture){
        random_below(state, 3), 1 + random_below(state, largest), 1 + random_below(state, largest), {0}, {0}};
    for (uint32_t k = 0; k < 3; k++) {
      const uint32_t along = (k + 3 - p->axis) % 3; /* 0: depth, 1: to the right, 2: up */
      const double extent = 0.2 + 0.8 * random_unit(state);
      p->low[k] = (float)((1 - extent) * random_unit(state));
      p->scale[k] = (float)((along == 0 ? 1 : along == 1 ? p->width : p->height) / extent);
    }
  }
  s->puts = random_draws(state, s, s->put);
  s->put_entries = s->entries;
  s->tests = random_draws(state, s, s->test);
}

static void free_scene(scene *s) {
  free(s->corners);
  free(s->list);
}

static visibility_setup plain_setup(const scene *s, const visibility_picture *p, uint32_t triangle) {
  const float *a = s->corners + 9 * (size_t)triangle, *b = a + 3, *c = a + 6;
  const uint32_t w = p->axis, u = (w + 1) % 3, v = (w + 2) % 3;
  return visibility_set_up(a[u], a[v], a[w], b[u], b[v], b[w], c[u], c[v], c[w], p->low[u], p->low[v], p->low[w],
                           p->scale[u], p->scale[v], p->scale[w], s->triangles.error, 1);
}

/* ---- plain loops ---- */

typedef struct plain_pixel {
  float lo, hi;
  uint32_t slices;
} plain_pixel;

static plain_pixel *plain_picture(const scene *s, uint32_t index) {
  const visibility_picture *p = &s->picture[index];
  plain_pixel *pixels = malloc((size_t)p->width * p->height * sizeof *pixels);
  for (size_t i = 0; i < (size_t)p->width * p->height; i++) pixels[i] = (plain_pixel){INFINITY, -INFINITY, 0};
  for (uint32_t i = 0; i < s->puts; i++)
    for (uint32_t k = 0; k < s->put[i].count && s->put[i].picture == index; k++) {
      const visibility_setup t = plain_setup(s, p, s->list[s->put[i].first + k]);
      for (uint32_t y = 0; y < p->height; y++)
        for (uint32_t x = 0; x < p->width; x++) {
          if (!visibility_meets(t, x, y)) continue;
          plain_pixel *at = &pixels[(size_t)y * p->width + x];
          const visibility_interval depth = visibility_depth(t, x, y);
          at->lo = fminf(at->lo, depth.lo), at->hi = fmaxf(at->hi, depth.hi);
          at->slices |= visibility_slices(depth.lo, depth.hi);
        }
    }
  return pixels;
}

static bool plain_test(const scene *s, const visibility_picture *p, const plain_pixel *pixels, uint32_t triangle) {
  const visibility_setup t = plain_setup(s, p, triangle);
  for (uint32_t y = 0; y < p->height; y++)
    for (uint32_t x = 0; x < p->width; x++) {
      if (!visibility_meets(t, x, y)) continue;
      const plain_pixel *at = &pixels[(size_t)y * p->width + x];
      const visibility_interval depth = visibility_depth(t, x, y);
      if (depth.lo <= at->hi && at->lo <= depth.hi && (at->slices & visibility_slices(depth.lo, depth.hi)) != 0)
        return true;
    }
  return false;
}

/* Whether two triangles have overlapping intervals at a pixel: what a flag must not miss. */
static bool plain_overlap(const scene *s, const visibility_picture *p, uint32_t a, uint32_t b) {
  const visibility_setup first = plain_setup(s, p, a), second = plain_setup(s, p, b);
  for (uint32_t y = 0; y < p->height; y++)
    for (uint32_t x = 0; x < p->width; x++) {
      if (!visibility_meets(first, x, y) || !visibility_meets(second, x, y)) continue;
      const visibility_interval one = visibility_depth(first, x, y), other = visibility_depth(second, x, y);
      if (one.lo <= other.hi && other.lo <= one.hi) return true;
    }
  return false;
}

/* ---- tests ---- */

static visibility_device *reference(graze_context *context) {
  visibility_device *device = NULL;
  assert_int_equal(gz_visibility_reference_create(context, &device), GRAZE_OK);
  return device;
}

static void draw_scene(visibility_device *d, const scene *s, uint8_t *flags) {
  assert_int_equal(d->load(d, &s->triangles), GRAZE_OK);
  assert_int_equal(d->begin(d, s->picture, s->pictures), GRAZE_OK);
  assert_int_equal(d->put(d, s->put, s->puts, s->list, s->entries), GRAZE_OK);
  assert_int_equal(d->test(d, s->test, s->tests, s->list, s->entries, flags), GRAZE_OK);
}

static void check_picture(visibility_device *d, const scene *s, uint32_t index, const uint8_t *flags) {
  const visibility_picture *p = &s->picture[index];
  const size_t pixels = (size_t)p->width * p->height;
  plain_pixel *want = plain_picture(s, index);
  float *lo = malloc(pixels * sizeof(float)), *hi = malloc(pixels * sizeof(float));
  assert_int_equal(d->read(d, index, lo, hi), GRAZE_OK);
  for (size_t i = 0; i < pixels; i++) assert_true(lo[i] == want[i].lo && hi[i] == want[i].hi);
  for (uint32_t i = 0; i < s->tests; i++)
    for (uint32_t k = 0; k < s->test[i].count && s->test[i].picture == index; k++)
      assert_int_equal(flags[s->test[i].first + k], plain_test(s, p, want, s->list[s->test[i].first + k]));
  free(lo);
  free(hi);
  free(want);
}

static void pictures_are_those_of_plain_loops(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1);
  for (int round = 0; round < test_rounds(24, 500); round++) {
    scene s;
    random_scene(&state, 200, round % 4 == 0 ? 150 : 24, &s);
    uint8_t *flags[2] = {malloc(s.entries + 1), malloc(s.entries + 1)};
    for (int i = 0; i < 2; i++) {
      visibility_device *d = reference(shared_context(i == 0 ? 1 : 3));
      draw_scene(d, &s, flags[i]);
      for (uint32_t k = 0; k < s.pictures; k++) check_picture(d, &s, k, flags[i]);
      d->destroy(d);
    }
    assert_memory_equal(flags[0], flags[1], s.entries);
    free(flags[0]);
    free(flags[1]);
    free_scene(&s);
  }
}

static void overlapping_pairs_are_flagged(void **unused) {
  (void)unused;
  uint64_t state = test_seed(2);
  uint32_t overlaps = 0, pairs = 0;
  for (int round = 0; round < test_rounds(64, 1000); round++) {
    scene s;
    random_scene(&state, 64, 16, &s);
    uint8_t *flags = malloc(s.entries + 1);
    visibility_device *d = reference(shared_context(1));
    draw_scene(d, &s, flags);
    for (uint32_t i = 0; i < s.tests; i++)
      for (uint32_t j = 0; j < s.puts; j++) {
        if (s.test[i].picture != s.put[j].picture) continue;
        for (uint32_t k = 0; k < s.test[i].count; k++)
          for (uint32_t m = 0; m < s.put[j].count; m++, pairs++) {
            const uint32_t at = s.test[i].first + k;
            if (!plain_overlap(&s, &s.picture[s.test[i].picture], s.list[at], s.list[s.put[j].first + m])) continue;
            overlaps++;
            assert_int_equal(flags[at], 1);
          }
      }
    d->destroy(d);
    free(flags);
    free_scene(&s);
  }
  assert_in_range(overlaps, 1, pairs - 1);
}

/* Steps that test and put objects of a few triangles, forwards, against a plain buffer of least depths. */
static void sequences_are_those_of_plain_loops(void **unused) {
  (void)unused;
  uint64_t state = test_seed(3);
  for (int round = 0; round < test_rounds(24, 500); round++) {
    enum { STEPS = 12, SIZE = 10 };
    scene s;
    random_scene(&state, STEPS * SIZE, 100, &s);
    const visibility_picture *p = &s.picture[0];
    visibility_step steps[STEPS];
    uint8_t want[STEPS * SIZE] = {0}, flags[2][STEPS * SIZE];
    float *least = malloc((size_t)p->width * p->height * sizeof(float));
    for (size_t i = 0; i < (size_t)p->width * p->height; i++) least[i] = INFINITY;
    for (uint32_t i = 0; i < STEPS * SIZE; i++) s.list[i] = i;
    for (uint32_t i = 0; i < STEPS; i++) {
      steps[i].test = steps[i].put = (visibility_draw){0, SIZE * i, SIZE};
      if (random_below(&state, 4) == 0) steps[i].put.count = 0;
      for (uint32_t k = 0; k < 2 * SIZE; k++) {
        const uint32_t triangle = SIZE * i + k % SIZE;
        if (k >= SIZE && steps[i].put.count == 0) continue;
        const visibility_setup t = plain_setup(&s, p, triangle);
        for (uint32_t y = 0; y < p->height; y++)
          for (uint32_t x = 0; x < p->width; x++) {
            if (!visibility_meets(t, x, y)) continue;
            float *at = &least[(size_t)y * p->width + x];
            const visibility_interval depth = visibility_depth(t, x, y);
            if (k >= SIZE)
              *at = fminf(*at, depth.lo);
            else if (depth.hi >= *at)
              want[triangle] = 1;
          }
      }
    }
    for (int i = 0; i < 2; i++) {
      visibility_device *d = reference(shared_context(i == 0 ? 1 : 3));
      assert_int_equal(d->load(d, &s.triangles), GRAZE_OK);
      assert_int_equal(d->sequence(d, p, VISIBILITY_BOUNDS, steps, STEPS, s.list, STEPS * SIZE, flags[i]), GRAZE_OK);
      assert_memory_equal(flags[i], want, sizeof want);
      assert_int_equal(d->sequence(d, p, VISIBILITY_CENTERS, steps, STEPS, s.list, STEPS * SIZE, flags[i]), GRAZE_OK);
      assert_int_equal(d->queries(d), 2 * STEPS);
      d->destroy(d);
    }
    assert_memory_equal(flags[0], flags[1], sizeof want); /* of centers */
    free(least);
    free_scene(&s);
  }
}

/* Whether a point is strictly inside of a convex quadrilateral; coordinates are halves. */
static bool is_inside(float q[4][2], double x, double y) {
  int left = 0, right = 0;
  for (int i = 0; i < 4; i++) {
    const float *a = q[i], *b = q[(i + 1) % 4];
    const double side = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
    left += side > 0, right += side < 0;
  }
  return left == 4 || right == 4;
}

/* Two triangles of a random quadrilateral share an edge: no center is in both, whichever comes first, and every center
 * inside of the quadrilateral is in one of them, as small triangles around centers behind them tell. */
static void centers_are_in_one_of_two(void **unused) {
  (void)unused;
  enum { SIDE = 16, COUNT = 2 + SIDE * SIDE };
  static const uint32_t order[2][3] = {{0, 1, 2}, {2, 3, 0}};
  static const float around[3][2] = {{0.25f, 0.25f}, {0.75f, 0.375f}, {0.5f, 0.75f}};
  uint64_t state = test_seed(4);
  visibility_device *d = reference(shared_context(1));
  const visibility_picture p = {2, SIDE, SIDE, {0}, {1, 1, 1}};
  float corners[9 * COUNT];
  uint32_t list[COUNT];
  uint8_t flags[COUNT];
  for (uint32_t i = 0; i < 3 * SIDE * SIDE; i++) {
    const float corner[3] = {(float)(i / 3 % SIDE) + around[i % 3][0], (float)(i / 3 / SIDE) + around[i % 3][1], 0.75f};
    memcpy(corners + 18 + 3 * i, corner, sizeof corner);
  }
  for (int round = 0; round < test_rounds(1000, 50000); round++) {
    float q[4][2]; /* a corner on each side of a square */
    for (int i = 0; i < 4; i++) {
      q[i][i & 1] = i == 0 || i == 1 ? 14 : 1;
      q[i][~i & 1] = 1.5f + 0.5f * (float)random_below(&state, 25);
    }
    for (int i = 0; i < 6; i++) {
      memcpy(corners + 3 * i, q[order[i / 3][i % 3]], 2 * sizeof(float));
      corners[3 * i + 2] = 0.5f;
    }
    for (uint32_t i = 0; i < COUNT; i++) list[i] = i;
    if (random_below(&state, 2) == 0) list[0] = 1, list[1] = 0;
    const visibility_step steps[] = {{{0, 0, 1}, {0, 0, 1}}, {{0, 1, 1}, {0, 1, 1}}, {{0, 2, COUNT - 2}, {0, 0, 0}}};
    assert_int_equal(d->load(d, &(visibility_triangles){corners, COUNT, 0}), GRAZE_OK);
    assert_int_equal(d->sequence(d, &p, VISIBILITY_CENTERS, steps, 3, list, COUNT, flags), GRAZE_OK);
    assert_int_equal(flags[1], 0);
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
      if (is_inside(q, i % SIDE + 0.5, i / SIDE + 0.5)) assert_int_equal(flags[2 + i], 1);
    assert_int_equal(flags[2], 0); /* outside of all */
    assert_int_equal(d->sequence(d, &p, VISIBILITY_BOUNDS, steps, 3, list, COUNT, flags), GRAZE_OK);
    assert_int_equal(flags[1], 1);
  }
  d->destroy(d);
}

/* So many entries that threads share a picture: a small one by copies that are merged, a large one by rows. */
static void threads_share_pictures(void **unused) {
  (void)unused;
  enum { TRIANGLES = 2000, ENTRIES = 40000, PIXELS = 64 * 64 + 300 * 250 };
  uint64_t state = test_seed(6);
  const visibility_picture pictures[] = {{0, 64, 64, {0}, {1, 64, 64}}, {1, 300, 250, {0}, {250, 1, 300}}};
  float *corners = malloc(9 * TRIANGLES * sizeof(float)), *bounds[2];
  uint32_t *list = malloc(ENTRIES * sizeof *list);
  uint8_t *flags[2];
  random_corners(&state, TRIANGLES, corners);
  for (uint32_t i = 0; i < 9 * TRIANGLES; i++)
    if (!visibility_tame(corners[i])) corners[i] = 0; /* what is everywhere would hide the rest */
  for (uint32_t i = 0; i < ENTRIES; i++)
    list[i] = random_below(&state, TRIANGLES / 2) + (i < ENTRIES / 2 ? 0 : TRIANGLES / 2);
  const visibility_draw puts[] = {{0, 0, 3000}, {1, 3000, 9000}, {0, 12000, 8000}};
  const visibility_draw tests[] = {{1, 20000, 9999}, {0, 29999, 1}, {0, 30000, 10000}};
  for (int i = 0; i < 2; i++) {
    visibility_device *d = reference(shared_context(i == 0 ? 1 : 3));
    bounds[i] = malloc(2 * PIXELS * sizeof(float));
    flags[i] = malloc(ENTRIES);
    assert_int_equal(d->load(d, &(visibility_triangles){corners, TRIANGLES, 0}), GRAZE_OK);
    assert_int_equal(d->begin(d, pictures, 2), GRAZE_OK);
    assert_int_equal(d->put(d, puts, 3, list, ENTRIES), GRAZE_OK);
    assert_int_equal(d->test(d, tests, 3, list, ENTRIES, flags[i]), GRAZE_OK);
    assert_int_equal(d->read(d, 0, bounds[i], bounds[i] + 64 * 64), GRAZE_OK);
    assert_int_equal(d->read(d, 1, bounds[i] + 2 * 64 * 64, bounds[i] + 2 * 64 * 64 + 300 * 250), GRAZE_OK);
    d->destroy(d);
  }
  assert_memory_equal(bounds[0], bounds[1], 2 * PIXELS * sizeof(float));
  assert_memory_equal(flags[0], flags[1], ENTRIES);
  assert_non_null(memchr(flags[0] + 30000, 1, 10000));
  for (int i = 0; i < 2; i++) free(bounds[i]), free(flags[i]);
  free(list);
  free(corners);
}

static void refused_memory_is_reported(void **unused) {
  (void)unused;
  uint64_t state = test_seed(5);
  scene s;
  random_scene(&state, 100, 20, &s);
  if (s.entries < 10) s.entries = 10; /* the list is longer */
  uint8_t *flags = malloc(s.entries);
  const visibility_step step = {{0, 0, 5}, {0, 5, 5}};
  uint64_t refused = 0;
  for (graze_status status = GRAZE_ERROR_MEMORY; status != GRAZE_OK;) {
    test_allocator allocator = {0};
    graze_context_def def = graze_default_context_def();
    graze_context *context = NULL;
    visibility_device *d = NULL;
    def.threads = 1;
    def.allocator = test_allocator_hooks(&allocator);
    assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
    allocator.fail_at = allocator.requests + refused + 1;
    status = gz_visibility_reference_create(context, &d);
    if (status == GRAZE_OK) status = d->load(d, &s.triangles);
    if (status == GRAZE_OK) status = d->begin(d, s.picture, s.pictures);
    if (status == GRAZE_OK) status = d->put(d, s.put, s.puts, s.list, s.entries);
    if (status == GRAZE_OK) status = d->test(d, s.test, s.tests, s.list, s.entries, flags);
    if (status == GRAZE_OK) status = d->sequence(d, s.picture, VISIBILITY_BOUNDS, &step, 1, s.list, s.entries, flags);
    if (d != NULL) d->destroy(d);
    if (status != GRAZE_OK) {
      refused++;
      assert_int_equal(status, GRAZE_ERROR_MEMORY);
      assert_int_equal(graze_last_error(context)->status, GRAZE_ERROR_MEMORY);
    }
    graze_context_destroy(context);
    assert_int_equal(allocator.live_blocks, 0);
    assert_int_equal(allocator.misaligned, 0);
  }
  assert_true(refused >= 6);
  free(flags);
  free_scene(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pictures_are_those_of_plain_loops),
      cmocka_unit_test(overlapping_pairs_are_flagged),
      cmocka_unit_test(sequences_are_those_of_plain_loops),
      cmocka_unit_test(centers_are_in_one_of_two),
      cmocka_unit_test(threads_share_pictures),
      cmocka_unit_test(refused_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
