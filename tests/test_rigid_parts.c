/* Compounds that stand for another solid, whose centre of mass they are told: beside compounds that weigh the same by
 * themselves, and convex parts of a mesh beside the mesh. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "families.h"
#include "graze/decompose.h"
#include "rigid_meshes.h"

enum { PARTS = 3 };

static char state_path[64], record_path[64];

static graze_rigid *make_ground(graze_rigid_solver solver) {
  graze_rigid *world = make_world(1, solver, 9.81, 0.5);
  add_floor(world);
  return world;
}

/* Boxes about, each as dense as `even` says or as chance does. */
static void make_parts(uint64_t *state, bool even, graze_rigid_part parts[PARTS]) {
  for (int i = 0; i < PARTS; i++) {
    parts[i] = graze_default_rigid_part();
    parts[i].shape = GRAZE_RIGID_BOX;
    for (int k = 0; k < 3; k++) parts[i].edges[k] = 0.3 + 0.3 * fabs(random_signed(state));
    for (int k = 0; k < 3; k++) parts[i].place[k] = 0.4 * random_signed(state);
    for (int k = 0; k < 4; k++) parts[i].orientation[k] = random_signed(state);
    const double density = 100 + 900 * fabs(random_signed(state));
    parts[i].density = even ? 500 : density;
  }
}

static graze_rigid_body_def drop(const graze_rigid_part parts[PARTS], uint64_t *state) {
  graze_rigid_body_def def = graze_default_rigid_body_def();
  def.shape = GRAZE_RIGID_COMPOUND;
  def.parts = parts;
  def.part_count = PARTS;
  for (int k = 0; k < 3; k++) def.position[k] = (k == 2 ? 2 : 0.3) + 0.2 * random_signed(state);
  for (int k = 0; k < 4; k++) def.orientation[k] = random_signed(state);
  for (int k = 0; k < 3; k++) def.spin[k] = 3 * random_signed(state);
  return def;
}

/* Bodies that fall on each other, whose parts have densities of their own; or the same, of even density, which are told
 * what the others weigh. */
static graze_rigid *make_heap(uint64_t seed, graze_rigid_solver solver, bool told) {
  graze_rigid *world = make_ground(solver);
  for (int i = 0; i < 3; i++) {
    graze_rigid_part parts[PARTS], even[PARTS];
    uint64_t state = seed + (uint64_t)i, again = state;
    make_parts(&state, false, parts);
    make_parts(&again, true, even);
    graze_rigid_body_def def = drop(parts, &state);
    def.position[2] += i;
    if (told) {
      graze_rigid *scales = make_ground(solver);
      const graze_rigid_body_def heavy = get(scales, add(scales, &def));
      def.parts = even;
      def.mass = heavy.mass;
      memcpy(def.center, heavy.center, sizeof def.center);
      memcpy(def.inertia, heavy.inertia, sizeof def.inertia);
      graze_rigid_destroy(scales);
    }
    add(world, &def);
  }
  return world;
}

static void test_told(void **unused) {
  (void)unused;
  const uint64_t seed = test_seed(1);
  for (int i = test_rounds(6, 60); i > 0; i--) {
    for (int solver = GRAZE_RIGID_SOFT; solver <= GRAZE_RIGID_NEWTON; solver++) {
      graze_rigid *worlds[2];
      for (int told = 0; told < 2; told++) {
        worlds[told] = make_heap(seed + 10 * (uint64_t)i, (graze_rigid_solver)solver, told);
        run(worlds[told], 60);
      }
      assert_true(graze_rigid_get_hash(worlds[0]) == graze_rigid_get_hash(worlds[1]));
      for (int told = 0; told < 2; told++) graze_rigid_destroy(worlds[told]);
    }
  }
}

/* A body that stands is where it is said to be, too: a ray meets the face of its part. */
static void test_still(void **unused) {
  (void)unused;
  graze_rigid *world = make_ground(GRAZE_RIGID_AUTO);
  graze_rigid_part part = graze_default_rigid_part();
  graze_rigid_body_def def = graze_default_rigid_body_def();
  const double from[3] = {1.5, 2, 20}, way[3] = {0, 0, -20};
  const graze_rays rays = {.count = 1, .from = from, .way = way};
  graze_rigid_hit hit;
  part.shape = GRAZE_RIGID_BOX;
  for (int k = 0; k < 3; k++) part.edges[k] = 1;
  def.type = GRAZE_BODY_STATIC;
  def.shape = GRAZE_RIGID_COMPOUND;
  def.parts = &part;
  def.part_count = 1;
  def.center[0] = -0.25;
  def.center[1] = def.center[2] = 3;
  def.position[0] = 1;
  def.position[1] = 5;
  def.position[2] = 7;
  add(world, &def);
  must(graze_rigid_cast_rays(world, &rays, &hit));
  assert_true(hit.hit && hit.member.index == 0);
  assert_near(hit.point[2], 4.5, 1e-12);
  assert_true(get(world, 0).center[1] == 3);
  graze_rigid_destroy(world);
}

/* ---- of a mesh --------------------------------------------------------------------------------------------------- */

static graze_rigid_body_def stand_for(const graze_mesh *mesh, const graze_decomposition *found,
                                      graze_rigid_part *parts) {
  graze_rigid_body_def def = graze_default_rigid_body_def();
  graze_mass mass;
  must(graze_mesh_get_mass(shared_context(1), mesh, 1000, &mass));
  for (uint32_t i = 0; i < found->count; i++) {
    parts[i] = graze_default_rigid_part();
    parts[i].shape = GRAZE_RIGID_HULL;
    parts[i].points = found->parts[i]->points;
    parts[i].point_count = found->parts[i]->vertex_count;
  }
  def.shape = GRAZE_RIGID_COMPOUND;
  def.parts = parts;
  def.part_count = found->count;
  def.mass = mass.mass;
  memcpy(def.center, mass.center, sizeof def.center);
  memcpy(def.inertia, mass.inertia, sizeof def.inertia);
  return def;
}

static graze_decomposition *decompose(const graze_mesh *mesh, double error) {
  graze_decompose_options how = graze_default_decompose_options();
  graze_decomposition *found;
  how.error = error;
  how.rigid = true;
  must(graze_mesh_decompose(shared_context(1), mesh, &how, &found));
  assert_true(found->reached && found->error <= error);
  return found;
}

/* A ring hangs in another, as itself and as parts: as far below as its mesh, but for twice the error. */
static void test_rings(void **unused) {
  (void)unused;
  static const double flat[4] = {1, 1, 0, 0}, turned[4] = {1, 1, 1, 1}, error = 0.05;
  graze_mesh *ring = make_ring(1, 0.2, 24, 12);
  graze_decomposition *found = decompose(ring, error);
  graze_rigid_part *parts = calloc(found->count, sizeof *parts);
  double places[2];
  for (int as_parts = 0; as_parts < 2; as_parts++) {
    graze_rigid *world = make_ground(GRAZE_RIGID_AUTO);
    graze_rigid_body_def def = stand_for(ring, found, parts);
    if (!as_parts) {
      def.shape = GRAZE_RIGID_MESH;
      def.mesh = ring;
    }
    def.position[2] = 10;
    def.type = GRAZE_BODY_STATIC;
    memcpy(def.orientation, flat, sizeof flat);
    add(world, &def);
    def.type = GRAZE_BODY_DYNAMIC;
    def.position[2] -= 1.55;
    memcpy(def.orientation, turned, sizeof turned);
    add(world, &def);
    run(world, 120);
    places[as_parts] = get(world, 1).position[2];
    assert_near(get(world, 1).mass, 1000 * 2 * M_PI * M_PI * 0.04, 60); /* its torus, but for 24 and 12 corners */
    graze_rigid_destroy(world);
  }
  assert_near(places[0], 10 - 1.6, 0.01);
  assert_true(places[1] >= places[0] - 1e-3 && places[1] <= places[0] + 2 * error);
  free(parts);
  graze_decomposition_destroy(found);
  graze_mesh_destroy(ring);
}

/* ---- kept -------------------------------------------------------------------------------------------------------- */

static void test_record(void **unused) {
  (void)unused;
  const uint64_t seed = test_seed(2);
  graze_rigid_replay *replay;
  graze_world_replay_step s;
  graze_rigid *world = make_heap(seed, GRAZE_RIGID_AUTO, true);
  must(graze_rigid_record(world, record_path));
  run(world, 50);
  must(graze_rigid_record_end(world));
  must(graze_rigid_replay_open(shared_context(1), record_path, &replay));
  graze_rigid *again = graze_rigid_replay_get_world(replay);
  assert_memory_equal(get(again, 0).center, get(world, 0).center, 3 * sizeof(double));
  for (int i = 0; i < 50; i++) {
    must(graze_rigid_replay_next(replay, &s));
    assert_true(s.same);
  }
  assert_true(graze_rigid_get_hash(again) == graze_rigid_get_hash(world));
  graze_rigid_replay_close(replay);
  graze_rigid_destroy(world);
  unlink(record_path);
}

/* A state belongs to worlds with the same centre. */
static void test_state(void **unused) {
  (void)unused;
  uint64_t state = test_seed(3);
  graze_rigid_part parts[PARTS];
  make_parts(&state, true, parts);
  graze_rigid_body_def def = drop(parts, &state);
  def.mass = 10;
  for (int k = 0; k < 3; k++) def.center[k] = 0.1 * k;
  for (int k = 0; k < 6; k++) def.inertia[k] = k < 3;
  graze_rigid *worlds[3];
  for (int i = 0; i < 3; i++) {
    worlds[i] = make_ground(GRAZE_RIGID_AUTO);
    if (i == 2) def.center[2] += 0x1p-40;
    add(worlds[i], &def);
  }
  run(worlds[0], 30);
  must(graze_rigid_save(worlds[0], state_path));
  must(graze_rigid_restore(worlds[1], state_path));
  assert_true(graze_rigid_get_hash(worlds[1]) == graze_rigid_get_hash(worlds[0]));
  assert_int_equal(graze_rigid_restore(worlds[2], state_path), GRAZE_ERROR_FORMAT);
  for (int i = 0; i < 3; i++) graze_rigid_destroy(worlds[i]);
  unlink(state_path);
}

static void test_errors(void **unused) {
  (void)unused;
  uint64_t state = 1;
  uint32_t number;
  graze_rigid_part parts[PARTS];
  graze_rigid *world = make_ground(GRAZE_RIGID_AUTO);
  make_parts(&state, true, parts);
  graze_rigid_body_def def = drop(parts, &state);
  def.name = "gear";
  for (int k = 0; k < 3; k++) def.center[k] = 0;
  def.density = 1;
  assert_int_equal(graze_rigid_add_body(world, &def, &number), GRAZE_ERROR_ARGUMENT);
  assert_non_null(strstr(shared_error()->message, "body 'gear': its center is given: mass and inertia are wanted"));
  def.density = (double)NAN;
  def.mass = 1;
  assert_int_equal(graze_rigid_add_body(world, &def, &number), GRAZE_ERROR_ARGUMENT);
  for (int k = 0; k < 6; k++) def.inertia[k] = k < 3;
  def.center[2] = (double)INFINITY;
  assert_int_equal(graze_rigid_add_body(world, &def, &number), GRAZE_ERROR_NOT_FINITE);
  assert_non_null(strstr(shared_error()->message, "body 'gear': center is not finite"));
  def.center[2] = 0;
  must(graze_rigid_add_body(world, &def, &number));
  graze_rigid_destroy(world);
}

int main(void) {
  snprintf(record_path, sizeof record_path, "rigid_parts_%d.grz", (int)getpid());
  snprintf(state_path, sizeof state_path, "rigid_parts_%d.state", (int)getpid());
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_told),  cmocka_unit_test(test_still),
                                     cmocka_unit_test(test_rings), cmocka_unit_test(test_record),
                                     cmocka_unit_test(test_state), cmocka_unit_test(test_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
