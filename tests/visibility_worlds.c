/* Objects to cull; see visibility_worlds.h. */
#include "visibility_worlds.h"

#include <math.h>
#include <string.h>

#include "families.h"

visibility_world world;

double *add_triangles(uint32_t count) {
  uint32_t used = world.first[world.count];
  assert_true(used + count <= MOST_TRIANGLES && world.count < MOST_OBJECTS);
  world.poses[world.count] = graze_pose_identity();
  world.first[++world.count] = used + count;
  return world.corners[used];
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
  for (uint32_t i = 0; i < world.count; i += 2) world.poses[i] = test_random_pose(state, 0.4);
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
  for (uint32_t i = 0; i < 3 * world.first[world.count]; i++) world.corners[i / 3][3 * (i % 3) + axis] = 1;
}

static void make_far_off(uint64_t *state) {
  make_random(state);
  double shift = ldexp(1, 10 + (int)random_below(state, 40));
  for (uint32_t i = 0; i < world.count; i++) world.poses[i] = test_translation(shift, -shift, shift / 3);
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
  for (uint32_t i = 0; i < 9 * world.first[world.count]; i++)
    world.corners[i / 9][i % 9] = ldexp(world.corners[i / 9][i % 9], exponent);
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
    world.poses[world.count - 1] = test_random_pose(state, 1.5);
  }
  add_triangles(0);
}

const maker makers[MAKERS] = {{"random", make_random},   {"lattice", make_lattice}, {"coplanar", make_coplanar},
                              {"far off", make_far_off}, {"slivers", make_slivers}, {"decades", make_decades},
                              {"extreme", make_extreme}, {"empty", make_empty},     {"balls", make_balls}};

void finish_world(graze_context *context) {
  for (uint32_t i = 0; i < world.count; i++) {
    uint32_t count = world.first[i + 1] - world.first[i];
    world.meshes[i] = test_mesh(context, world.corners[world.first[i]], count, GRAZE_VOLUMES_ALIGNED);
    world.arrays[i] = graze_default_mesh_def();
    world.arrays[i].vertices = world.corners[world.first[i]];
    world.arrays[i].vertex_count = 3 * (uint64_t)count;
    world.arrays[i].precision = GRAZE_DOUBLE;
    bool raw = i % 2 == 1;
    world.objects[i] = (graze_visibility_object){
        .mesh = raw ? NULL : world.meshes[i], .arrays = &world.arrays[i], .pose = &world.poses[i]};
  }
}

void make_world(graze_context *context, const maker *m, uint64_t seed) {
  uint64_t state = seed;
  world.count = 0;
  world.first[0] = 0;
  m->make(&state);
  finish_world(context);
}

void end_world(void) {
  for (uint32_t i = 0; i < world.count; i++) graze_mesh_destroy(world.meshes[i]);
}

graze_visibility_def world_def(graze_visibility_mode mode, uint32_t resolution) {
  graze_visibility_def def = graze_default_visibility_def();
  def.objects = world.objects;
  def.object_count = world.count;
  def.mode = mode;
  def.resolution = resolution;
  return def;
}

graze_visibility *reference(graze_context *context) {
  graze_visibility *v = NULL;
  assert_int_equal(graze_visibility_create(context, GRAZE_VISIBILITY_REFERENCE, &v), GRAZE_OK);
  return v;
}

graze_visibility_result cull(graze_visibility *v, const graze_visibility_def *def) {
  graze_visibility_result r;
  assert_int_equal(graze_visibility_cull(v, def, &r), GRAZE_OK);
  return r;
}

/* Four objects, of which the first and the second meet: two balls, and two that only their boxes bring near. */
void make_four(uint64_t *state) {
  static double ball[9 * 8 * 25];
  (void)state;
  for (int i = 0; i < 4; i++) {
    uint32_t count = soup_ball(5, i < 2 ? 1 : 0.5, ball);
    memcpy(add_triangles(count), ball, 9 * count * sizeof *ball);
  }
  world.poses[1] = test_translation(1.2, 0.7, 0.6);
  world.poses[2] = test_translation(2.3, 1.9, 1.3);
  world.poses[3] = test_translation(-1, -0.9, 0.8);
}

/* Two cubes across each other, along the axes. */

const graze_visibility_pair *find_pair(const graze_visibility_result *r, uint32_t a, uint32_t b) {
  for (uint64_t i = 0; i < r->pair_count; i++) {
    if (r->pairs[i].a == a && r->pairs[i].b == b) return &r->pairs[i];
  }
  return NULL;
}
