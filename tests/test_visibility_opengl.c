/* The OpenGL device against the reference, bit for bit: bounds, slices, flags. Depth at pixel centers, where hardware
 * rounds corners to 1/256 of a pixel, is held against what surely is hidden and what surely is not. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "graze/visibility.h"
#include "support.h"
#include "tree.h"
#include "visibility/opengl.h"

static uint64_t state;

static uint32_t below(uint32_t bound) {
  state = splitmix64(state);
  return (uint32_t)((state >> 32) * bound >> 32);
}

static float uniform(void) {
  return (float)below(1 << 24) * 0x1p-24f;
}

/* ---- devices ---- */

static visibility_device *open_reference(void) {
  visibility_device *device = NULL;
  assert_int_equal(gz_visibility_reference_create(shared_context(0), &device), GRAZE_OK);
  return device;
}

/* Skips the test where there is no OpenGL at all. */
static visibility_device *open_device(const visibility_opengl_options *options) {
  char reason[512] = "";
  visibility_device *device = NULL;
  graze_status status = gz_visibility_opengl_create_with(shared_context(0), options, &device, reason, sizeof reason);
  if (status == GRAZE_ERROR_UNSUPPORTED && strstr(reason, "differs") == NULL && strstr(reason, "shader") == NULL) {
    print_message("skipped: %s\n", reason);
    skip();
  }
  if (status != GRAZE_OK) fail_msg("%d: %s", status, reason);
  return device;
}

/* ---- scenes ---- */

typedef struct batch {
  float *corners;
  uint32_t triangles;
  visibility_picture *pictures;
  visibility_draw *puts, *tests; /* one for each picture */
  uint32_t picture_count, list_count;
  uint32_t *list;
} batch;

/* A triangle in the unit cube of one of many kinds; some reach far out of it. */
static void make_triangle(float p[9]) {
  uint32_t kind = below(12);
  float size = kind == 1 ? 0.01f : kind == 2 ? 100 : kind == 3 ? 1e5f : 0.3f;
  float middle[3] = {uniform(), uniform(), uniform()};
  for (int i = 0; i < 9; i++) p[i] = middle[i % 3] + size * (uniform() - 0.5f);
  if (kind == 4) memcpy(p + 3, p, 3 * sizeof *p);
  if (kind == 5) memcpy(p + 3, p, 3 * sizeof *p), memcpy(p + 6, p, 3 * sizeof *p);
  if (kind == 6) p[0] = p[3] = p[6];
  if (kind == 7) p[0] = p[3] = p[6], p[1] = p[4] = p[7];
  if (kind == 8)
    for (int i = 0; i < 9; i++) p[i] = roundf(p[i] * 16) / 16;
  if (kind == 9)
    for (int i = 0; i < 3; i++) p[6 + i] = 0.25f * p[i] + 0.75f * p[3 + i];
  if (kind == 10) p[2] = p[5] = p[8] = roundf(32 * p[2]) / 32;
  if (kind == 11 && below(16) == 0) p[below(9)] = below(2) ? NAN : 0x1p100f;
}

static visibility_picture make_picture(uint32_t width, uint32_t height) {
  visibility_picture p = {below(3), width, height, {0, 0, 0}, {1, 1, 1}};
  for (int i = 0; i < 3; i++) p.low[i] = 0.2f * (uniform() - 0.5f);
  p.scale[p.axis] = 0.5f + uniform();
  p.scale[(p.axis + 1) % 3] = (float)width * (0.5f + uniform());
  p.scale[(p.axis + 2) % 3] = (float)height * (0.5f + uniform());
  return p;
}

/* Pictures of sides from `least` to `most`; in each are put and tested so many triangles of the scene. */
static batch make_batch(uint32_t pictures, uint32_t least, uint32_t most, uint32_t each) {
  batch b = {.triangles = 500, .picture_count = pictures, .list_count = 2 * pictures * each};
  b.corners = calloc(9 * (size_t)b.triangles, sizeof *b.corners);
  b.pictures = calloc(pictures, sizeof *b.pictures);
  b.puts = calloc(pictures, sizeof *b.puts);
  b.tests = calloc(pictures, sizeof *b.tests);
  b.list = calloc(b.list_count, sizeof *b.list);
  assert_true(b.corners && b.pictures && b.puts && b.tests && b.list);
  for (uint32_t i = 0; i < b.triangles; i++) make_triangle(b.corners + 9 * (size_t)i);
  for (uint32_t i = 0; i < b.list_count; i++) b.list[i] = below(b.triangles);
  for (uint32_t i = 0; i < pictures; i++) {
    b.pictures[i] = make_picture(least + below(most - least + 1), least + below(most - least + 1));
    b.puts[i] = (visibility_draw){i, 2 * i * each, pictures == 1 || below(8) ? each : 0};
    b.tests[i] = (visibility_draw){i, (2 * i + 1) * each, each};
  }
  return b;
}

static void free_batch(batch *b) {
  free(b->corners);
  free(b->pictures);
  free(b->puts);
  free(b->tests);
  free(b->list);
}

typedef struct result {
  float *lo, *hi; /* of all pictures */
  size_t pixels;
  uint8_t *flags; /* twice: of the test, then after as many triangles were put again */
} result;

static void good(graze_status status) {
  if (status != GRAZE_OK) fail_msg("%d: %s", status, shared_error()->message);
}

static result run_batch(visibility_device *device, const batch *b) {
  const visibility_triangles triangles = {.corners = b->corners, .count = b->triangles, .error = 1e-7f};
  result r = {.flags = calloc(2 * (size_t)b->list_count, 1)};
  for (uint32_t i = 0; i < b->picture_count; i++) r.pixels += (size_t)b->pictures[i].width * b->pictures[i].height;
  r.lo = calloc(r.pixels, sizeof *r.lo);
  r.hi = calloc(r.pixels, sizeof *r.hi);
  assert_true(r.lo && r.hi && r.flags);
  good(device->load(device, &triangles));
  good(device->begin(device, b->pictures, b->picture_count));
  good(device->put(device, b->puts, b->picture_count, b->list, b->list_count));
  good(device->test(device, b->tests, b->picture_count, b->list, b->list_count, r.flags));
  good(device->put(device, b->tests, b->picture_count, b->list, b->list_count));
  good(device->test(device, b->puts, b->picture_count, b->list, b->list_count, r.flags + b->list_count));
  size_t at = 0;
  for (uint32_t i = 0; i < b->picture_count; i++) {
    good(device->read(device, i, r.lo + at, r.hi + at));
    at += (size_t)b->pictures[i].width * b->pictures[i].height;
  }
  return r;
}

static void free_result(result *r) {
  free(r->lo);
  free(r->hi);
  free(r->flags);
}

/* What was to be seen in the batches of a test. */
static size_t filled, marked;

static void expect_seen(void) {
  assert_true(filled > 0 && marked > 0);
  filled = marked = 0;
}

/* Both devices, the same bits. */
static void compare_batch(visibility_device *device, batch b) {
  visibility_device *reference = open_reference();
  result got = run_batch(device, &b), want = run_batch(reference, &b);
  for (size_t i = 0; i < want.pixels; i++) {
    if (got.lo[i] != want.lo[i] || got.hi[i] != want.hi[i]) {
      fail_msg("pixel %zu of %zu: %a %a, want %a %a", i, want.pixels, got.lo[i], got.hi[i], want.lo[i], want.hi[i]);
    }
    filled += want.lo[i] <= want.hi[i];
  }
  assert_memory_equal(got.flags, want.flags, 2 * (size_t)b.list_count);
  for (size_t i = 0; i < 2 * (size_t)b.list_count; i++) marked += want.flags[i];
  free_result(&got);
  free_result(&want);
  free_batch(&b);
  reference->destroy(reference);
}

/* ---- put, test, read ---- */

static void test_sizes(void **unused) {
  (void)unused;
  static const uint32_t sides[] = {1, 2, 3, 7, 16, 64, 128, 513};
  visibility_device *device = open_device(&(visibility_opengl_options){0});
  print_message("%s\n", device->name);
  assert_memory_equal(device->name, "opengl: ", 8);
  state = test_seed(1);
  for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
    compare_batch(device,
                  make_batch(20000 / (sides[i] * sides[i] + 200) + 1, sides[i], sides[i], sides[i] > 64 ? 40 : 3));
  }
  compare_batch(device, make_batch(1, 2048, 2048, 40));
  expect_seen();
  device->destroy(device);
}

static void test_many(void **unused) {
  (void)unused;
  visibility_device *device = open_device(&(visibility_opengl_options){0});
  state = test_seed(2);
  int rounds = test_rounds(2, 50);
  for (int i = 0; i < rounds; i++) {
    compare_batch(device, make_batch(2000, 1, 24, 2));
    compare_batch(device, make_batch(40, 1, 150, 30));
  }
  expect_seen();
  device->destroy(device);
}

/* Small pages and rounds give the same. */
static void test_rounds_and_pages(void **unused) {
  (void)unused;
  visibility_device *device = open_device(&(visibility_opengl_options){.page_pixels = 66000, .round = 97});
  state = test_seed(3);
  compare_batch(device, make_batch(300, 1, 50, 3));
  compare_batch(device, make_batch(5, 150, 250, 200));
  expect_seen();
  device->destroy(device);
}

/* The rasteriser draws all triangles of more than a pixel, or than a few. */
static void test_rectangles(void **unused) {
  (void)unused;
  static const uint32_t small[] = {1, 50};
  state = test_seed(7);
  for (size_t i = 0; i < 2; i++) {
    visibility_device *device = open_device(&(visibility_opengl_options){.small = small[i], .round = 20000});
    compare_batch(device, make_batch(2000, 1, 24, 2));
    compare_batch(device, make_batch(40, 1, 150, 30));
    compare_batch(device, make_batch(1, 2048, 2048, 40));
    expect_seen();
    device->destroy(device);
  }
}

/* A device is used again after a picture that it cannot make. */
static void test_too_large(void **unused) {
  (void)unused;
  visibility_device *device = open_device(&(visibility_opengl_options){.page_pixels = 66000});
  const visibility_picture large = make_picture(300, 301);
  assert_int_equal(device->begin(device, &large, 1), GRAZE_ERROR_DEVICE);
  assert_non_null(strstr(shared_error()->message, "no such large buffers"));
  state = test_seed(4);
  compare_batch(device, make_batch(10, 5, 50, 4));
  expect_seen();
  device->destroy(device);
}

/* ---- sequences ---- */

enum { STEPS = 40, OF_STEP = 5, SEQUENCE = STEPS * OF_STEP };

typedef struct sequence {
  float corners[9 * SEQUENCE];
  uint32_t list[SEQUENCE];
  visibility_step steps[STEPS];
  visibility_picture picture;
} sequence;

/* Steps that test and put the same triangles; some only one of the two. */
static void make_sequence(sequence *s, uint32_t side) {
  s->picture = make_picture(side, 1 + below(side));
  for (uint32_t i = 0; i < SEQUENCE; i++) s->list[i] = SEQUENCE - 1 - i;
  for (uint32_t i = 0; i < STEPS; i++) {
    visibility_draw draw = {0, i * OF_STEP, OF_STEP}, none = {0};
    s->steps[i] = (visibility_step){below(8) ? draw : none, below(8) ? draw : none};
  }
}

static uint64_t run_sequence(visibility_device *device, const sequence *s, visibility_rule rule, uint8_t *flags) {
  const visibility_triangles triangles = {.corners = s->corners, .count = SEQUENCE, .error = 1e-7f};
  uint64_t before = device->queries(device);
  good(device->load(device, &triangles));
  good(device->sequence(device, &s->picture, rule, s->steps, STEPS, s->list, SEQUENCE, flags));
  return device->queries(device) - before;
}

static void test_sequence_of_bounds(void **unused) {
  (void)unused;
  static const uint32_t sides[] = {1, 3, 16, 100, 700};
  visibility_device *device = open_device(&(visibility_opengl_options){0}), *reference = open_reference();
  sequence s;
  state = test_seed(5);
  for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
    uint8_t got[SEQUENCE], want[SEQUENCE];
    for (uint32_t k = 0; k < SEQUENCE; k++) make_triangle(s.corners + 9 * (size_t)k);
    make_sequence(&s, sides[i]);
    uint64_t asked = run_sequence(device, &s, VISIBILITY_BOUNDS, got);
    assert_int_equal(asked, run_sequence(reference, &s, VISIBILITY_BOUNDS, want));
    assert_memory_equal(got, want, sizeof want);
  }
  device->destroy(device);
  reference->destroy(reference);
}

/* ---- depth at centers ---- */

/* A triangle at a pixel center: 1 surely covers it, 0 may, -1 surely does not; and its depth there, which lies between
 * the two. Corners are moved by up to 1/100 of a pixel. */
typedef struct sight {
  int covers;
  double lo, hi;
} sight;

static sight look(const visibility_picture *picture, const float corners[9], double px, double py) {
  const double reach = 0.01;
  double p[3][3], least = INFINITY, z = 0, error = 1e-5;
  for (int i = 0; i < 3; i++) {
    for (uint32_t k = 0; k < 3; k++) {
      uint32_t axis = (picture->axis + 1 + k) % 3;
      p[i][k] = ((double)corners[3 * i + (int)axis] - picture->low[axis]) * picture->scale[axis];
    }
  }
  double area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
  for (int i = 0; i < 3; i++) {
    const double *a = p[(i + 1) % 3], *b = p[(i + 2) % 3];
    double part = ((b[0] - a[0]) * (py - a[1]) - (b[1] - a[1]) * (px - a[0])) * (area < 0 ? -1 : 1);
    double length = hypot(b[0] - a[0], b[1] - a[1]);
    if (part / length < least) least = part / length;
    z += part / fabs(area) * p[i][2];
    error += 2 * reach * length / fabs(area) * fabs(p[i][2]);
  }
  return (sight){least > 2 * reach ? 1 : least < -2 * reach ? -1 : 0, z - error, z + error};
}

/* Of one tested triangle: 1 surely hidden by what earlier steps put, 0 surely not, -1 cannot be said. */
static int hidden(const sequence *s, uint32_t step, uint32_t entry) {
  int said = 0;
  const float *tested = s->corners + 9 * (size_t)s->list[entry];
  for (uint32_t i = 0; i < s->picture.width * s->picture.height; i++) {
    double x = i % s->picture.width + 0.5, y = i / s->picture.width + 0.5;
    sight own = look(&s->picture, tested, x, y);
    if (own.covers < 0) continue;
    for (uint32_t k = 0; k < step * OF_STEP; k++) {
      if (s->steps[k / OF_STEP].put.count == 0) continue;
      sight other = look(&s->picture, s->corners + 9 * (size_t)s->list[k], x, y);
      if (other.covers < 0 || own.hi < other.lo) continue;
      if (own.covers > 0 && other.covers > 0 && own.lo >= other.hi) return 1;
      said = -1;
    }
  }
  return said;
}

static void check_centers(const sequence *s, const uint8_t *flags, const char *name, uint32_t counts[3]) {
  for (uint32_t i = 0; i < SEQUENCE; i++) {
    if (s->steps[i / OF_STEP].test.count == 0) {
      assert_int_equal(flags[i], 0);
      continue;
    }
    int want = hidden(s, i / OF_STEP, i);
    counts[want + 1]++;
    if (want >= 0 && flags[i] != want) fail_msg("%s: triangle %u: %d, want %d", name, i, flags[i], want);
  }
}

static void test_sequence_of_centers(void **unused) {
  (void)unused;
  visibility_device *device = open_device(&(visibility_opengl_options){0}), *reference = open_reference();
  sequence s;
  uint32_t counts[3] = {0};
  state = test_seed(6);
  int rounds = test_rounds(6, 100);
  for (int i = 0; i < rounds || i < 4; i++) {
    uint8_t flags[SEQUENCE];
    uint64_t tested = 0;
    for (uint32_t k = 0; k < SEQUENCE; k++) {
      float *p = s.corners + 9 * (size_t)k, middle[3] = {uniform(), uniform(), uniform()};
      for (int c = 0; c < 9; c++) p[c] = middle[c % 3] + 0.3f * (uniform() - 0.5f);
    }
    make_sequence(&s, 24);
    for (uint32_t k = 0; k < STEPS; k++) tested += s.steps[k].test.count > 0;
    assert_int_equal(run_sequence(device, &s, VISIBILITY_CENTERS, flags), tested);
    check_centers(&s, flags, device->name, counts);
    assert_int_equal(run_sequence(reference, &s, VISIBILITY_CENTERS, flags), tested);
    check_centers(&s, flags, reference->name, counts);
  }
  print_message("cannot be said %u, not hidden %u, hidden %u\n", counts[0], counts[1], counts[2]);
  assert_true(counts[1] + counts[2] > 4 * counts[0] && counts[2] > 0); /* most can be said */
  device->destroy(device);
  reference->destroy(reference);
}

/* Depths of single triangles, as pictures of passes show them. */
static void check_depths(visibility_device *device, const sequence *s, uint32_t triangle) {
  const uint32_t width = s->picture.width;
  float depth[24 * 24];
  good(device->centers(device, &s->picture, &triangle, 1, depth));
  for (uint32_t i = 0; i < width * s->picture.height; i++) {
    const sight seen = look(&s->picture, s->corners + 9 * (size_t)triangle, i % width + 0.5, i / width + 0.5);
    if (seen.covers < 0) assert_true(isinf(depth[i]));
    if (seen.covers > 0) assert_true((double)depth[i] >= seen.lo && (double)depth[i] <= seen.hi);
  }
}

static void test_depths(void **unused) {
  (void)unused;
  visibility_device *devices[2] = {open_device(&(visibility_opengl_options){0}), open_reference()};
  sequence s;
  state = test_seed(7);
  for (uint32_t k = 0; k < 9 * SEQUENCE; k++) s.corners[k] = 0.1f + 0.8f * uniform();
  make_sequence(&s, 24);
  for (int d = 0; d < 2; d++) {
    const visibility_triangles triangles = {.corners = s.corners, .count = SEQUENCE, .error = 1e-7f};
    good(devices[d]->load(devices[d], &triangles));
    for (uint32_t k = 0; k < 20; k++) check_depths(devices[d], &s, k);
    devices[d]->destroy(devices[d]);
  }
}

/* ---- culling ---- */

enum { OBJECTS = 30, OF_OBJECT = 20 };

/* What is left of objects that are clouds of triangles is the same on both devices. */
static void compare_cull(graze_visibility *drawn, graze_visibility *reference, graze_visibility_def *def) {
  graze_visibility_result got, want;
  good(graze_visibility_cull(drawn, def, &got));
  good(graze_visibility_cull(reference, def, &want));
  assert_true(want.left_triangles > 0 && (def->object_count != OBJECTS || want.left_triangles < OBJECTS * OF_OBJECT));
  assert_int_equal(got.pair_count, want.pair_count);
  assert_int_equal(got.hash, want.hash);
  assert_int_equal(got.left_triangles, want.left_triangles);
  for (uint32_t i = 0; i < def->object_count; i++) {
    assert_int_equal(got.objects[i].count, want.objects[i].count);
    assert_memory_equal(got.objects[i].list, want.objects[i].list, got.objects[i].count * sizeof(uint32_t));
  }
}

static void test_culling(void **unused) {
  (void)unused;
  static double corners[OBJECTS][9 * OF_OBJECT];
  graze_mesh_def arrays[OBJECTS];
  graze_visibility_object objects[OBJECTS] = {0};
  graze_visibility *drawn, *reference;
  graze_visibility_def def = graze_default_visibility_def();
  visibility_device *device = open_device(&(visibility_opengl_options){0}); /* or skipped */
  device->destroy(device);
  state = test_seed(9);
  for (int i = 0; i < OBJECTS; i++) {
    const double middle[3] = {uniform(), uniform(), uniform()};
    for (int k = 0; k < 9 * OF_OBJECT; k++) corners[i][k] = middle[k % 3] + 0.4 * ((double)uniform() - 0.5);
    arrays[i] = graze_default_mesh_def();
    arrays[i].vertices = corners[i];
    arrays[i].vertex_count = 3 * OF_OBJECT;
    arrays[i].precision = GRAZE_DOUBLE;
    objects[i].arrays = &arrays[i];
  }
  def.objects = objects;
  def.object_count = OBJECTS;
  good(graze_visibility_create(shared_context(0), GRAZE_VISIBILITY_OPENGL, &drawn));
  good(graze_visibility_create(shared_context(0), GRAZE_VISIBILITY_REFERENCE, &reference));
  for (def.resolution = 8; def.resolution <= 128; def.resolution *= 4) {
    def.mode = GRAZE_VISIBILITY_CLOSE;
    compare_cull(drawn, reference, &def);
    def.mode = GRAZE_VISIBILITY_RCULLIDE;
    compare_cull(drawn, reference, &def);
  }
  graze_visibility_destroy(drawn);
  graze_visibility_destroy(reference);
}

/* Leaves in the wind: pictures of so many shapes that threads of a shader which run together are seldom at the same
 * step, so that their loops are as long as can be; a driver may end such loops. */
static void test_tree(void **unused) {
  (void)unused;
  scenes_scene tree;
  graze_visibility *drawn, *reference;
  graze_visibility_def def = graze_default_visibility_def();
  visibility_device *device = open_device(&(visibility_opengl_options){0}); /* or skipped */
  device->destroy(device);
  assert_true(tree_make(&tree));
  graze_mesh_def *arrays = calloc(tree.mesh_count, sizeof *arrays);
  graze_visibility_object *objects = calloc(tree.mesh_count, sizeof *objects);
  assert_true(arrays && objects);
  for (uint32_t i = 0; i < tree.mesh_count; i++) {
    arrays[i] = graze_default_mesh_def();
    arrays[i].vertices = tree.meshes[i].vertices;
    arrays[i].vertex_count = tree.meshes[i].vertex_count;
    arrays[i].indices = tree.meshes[i].indices;
    arrays[i].triangle_count = tree.meshes[i].triangle_count;
    arrays[i].precision = GRAZE_DOUBLE;
    objects[i].arrays = &arrays[i];
  }
  def.objects = objects;
  def.object_count = tree.mesh_count;
  good(graze_visibility_create(shared_context(0), GRAZE_VISIBILITY_OPENGL, &drawn));
  good(graze_visibility_create(shared_context(0), GRAZE_VISIBILITY_REFERENCE, &reference));
  for (int frame = 3; frame <= (test_long() ? 7 : 3); frame += 4) {
    tree_move(&tree, 0.3 * frame);
    compare_cull(drawn, reference, &def);
  }
  graze_visibility_destroy(drawn);
  graze_visibility_destroy(reference);
  scenes_free(&tree);
  free(arrays);
  free(objects);
}

/* ---- refused ---- */

static void test_wrong_shaders(void **unused) {
  (void)unused;
  static const struct {
    const char *prelude, *words;
  } cases[] = {
      {"visibility_interval wrong(visibility_setup s, uint x, uint y) {\n" /* one bit of one pixel */
       "  visibility_interval d = visibility_depth(s, x, y);\n"
       "  if (x == 203u && y == 107u) d.hi = uintBitsToFloat(floatBitsToUint(d.hi) ^ 1u);\n"
       "  return d;\n}\n"
       "#define visibility_depth wrong\n",
       "differs from the processor's in the depths of 1 pixels and in 0 flags"},
      {"#define visibility_meets(s, x, y) (visibility_meets(s, x, y) && visibility_side((s).ab, float(x), 0.0) != "
       "0.0)\n",
       "differs from the processor's in the depths"},
      {"#define visibility_slices(lo, hi) 0xFFFFFFFFu\n", "in the depths of 0 pixels and in"},
      {"#define visibility_meets(s, x, y) nothing(s)\n", "does not compile"},
  };
  visibility_device *device = open_device(&(visibility_opengl_options){0});
  device->destroy(device);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char reason[512] = "";
    const visibility_opengl_options options = {.prelude = cases[i].prelude};
    graze_status status = gz_visibility_opengl_create_with(shared_context(0), &options, &device, reason, sizeof reason);
    if (status != GRAZE_ERROR_UNSUPPORTED || strstr(reason, cases[i].words) == NULL || strchr(reason, '\n') != NULL) {
      fail_msg("shader %zu: %d \"%s\"", i, status, reason);
    }
  }
}

/* Every request for memory is refused in turn: the call fails, and goes well when it is made again. */
static void test_refused_memory(void **unused) {
  (void)unused;
  test_allocator memory = {0};
  graze_context *context = NULL;
  graze_context_def def = graze_default_context_def();
  def.allocator = test_allocator_hooks(&memory);
  assert_int_equal(graze_context_create(&def, &context), GRAZE_OK);
  visibility_device *device = open_device(&(visibility_opengl_options){0});
  device->destroy(device);
  graze_status status = GRAZE_ERROR_MEMORY;
  uint64_t refused = 0;
  for (; status == GRAZE_ERROR_MEMORY; refused++) {
    char reason[512];
    memory.fail_at = memory.requests + 1 + refused;
    status = gz_visibility_opengl_create(context, &device, reason, sizeof reason);
  }
  memory.fail_at = 0;
  assert_int_equal(status, GRAZE_OK);
  assert_true(refused > 10);
  state = test_seed(8);
  batch b = make_batch(20, 1, 30, 20);
  const visibility_triangles triangles = {.corners = b.corners, .count = b.triangles};
  uint8_t *flags = calloc(b.list_count, 1);
  for (int call = 0; call < 5; call++) {
    status = GRAZE_ERROR_MEMORY;
    for (refused = 0; status == GRAZE_ERROR_MEMORY; refused++) {
      const visibility_step step = {b.tests[0], b.tests[0]};
      memory.fail_at = memory.requests + 1 + refused;
      status = call == 0   ? device->load(device, &triangles)
               : call == 1 ? device->begin(device, b.pictures, b.picture_count)
               : call == 2 ? device->put(device, b.puts, b.picture_count, b.list, b.list_count)
               : call == 3
                   ? device->test(device, b.tests, b.picture_count, b.list, b.list_count, flags)
                   : device->sequence(device, b.pictures, VISIBILITY_CENTERS, &step, 1, b.list, b.list_count, flags);
      memory.fail_at = 0;
    }
    assert_int_equal(status, GRAZE_OK);
  }
  free(flags);
  compare_batch(device, b);
  expect_seen();
  device->destroy(device);
  graze_context_destroy(context);
  assert_int_equal(memory.live_blocks, 0);
  assert_int_equal(memory.misaligned, 0);
}

static void test_switched_off(void **unused) {
  (void)unused;
  char reason[512] = "";
  visibility_device *device = NULL;
  const char *before = getenv("GRAZE_DISABLE");
  char *kept = before != NULL ? strdup(before) : NULL;
  setenv("GRAZE_DISABLE", "opengl", 1);
  assert_int_equal(gz_visibility_opengl_create(shared_context(0), &device, reason, sizeof reason),
                   GRAZE_ERROR_UNSUPPORTED);
  if (kept != NULL) setenv("GRAZE_DISABLE", kept, 1);
  if (kept == NULL) unsetenv("GRAZE_DISABLE");
  free(kept);
  assert_null(device);
  assert_non_null(strstr(reason, "OpenGL is switched off by GRAZE_DISABLE"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_many),
      cmocka_unit_test(test_rounds_and_pages),
      cmocka_unit_test(test_rectangles),
      cmocka_unit_test(test_too_large),
      cmocka_unit_test(test_sequence_of_bounds),
      cmocka_unit_test(test_sequence_of_centers),
      cmocka_unit_test(test_depths),
      cmocka_unit_test(test_culling),
      cmocka_unit_test(test_tree),
      cmocka_unit_test(test_wrong_shaders),
      cmocka_unit_test(test_refused_memory),
      cmocka_unit_test(test_switched_off),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
