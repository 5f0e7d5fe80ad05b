/* Meshes as rigid bodies: beside the same solids as other shapes, in heaps, fast ones, and what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "families.h"
#include "graze/collide.h"
#include "graze/convex.h"
#include "graze/distance.h"
#include "rigid_meshes.h"

/* ---- meshes ------------------------------------------------------------------------------------------------------ */

static graze_mesh *make_box(double x, double y, double z) {
  const double edges[3] = {x, y, z};
  double points[24];
  for (int i = 0; i < 24; i++) points[i] = 0.5 * cube_corners[i / 3][i % 3] * edges[i % 3];
  return make_mesh(points, 8, cube_triangles[0], 12);
}

/* A square floor of `count` by `count` squares, each cut in two. */
static graze_mesh *make_floor(uint32_t count, double size) {
  const uint32_t side = count + 1;
  double *points = malloc(3 * side * side * sizeof *points);
  uint32_t *triangles = malloc(6 * count * count * sizeof *triangles), *next = triangles;
  assert_true(points != NULL && triangles != NULL);
  for (uint32_t i = 0; i < side * side; i++) {
    points[3 * i] = size * (i / side / (double)count - 0.5);
    points[3 * i + 1] = size * (i % side / (double)count - 0.5);
    points[3 * i + 2] = 0;
  }
  for (uint32_t i = 0; i < count * count; i++) {
    const uint32_t a = i / count * side + i % count, b = a + side;
    const uint32_t square[6] = {a, b, b + 1, a, b + 1, a + 1};
    memcpy(next, square, sizeof square);
    next += 6;
  }
  graze_mesh *mesh = make_mesh(points, side * side, triangles, 2 * count * count);
  free(points);
  free(triangles);
  return mesh;
}

/* ---- worlds ------------------------------------------------------------------------------------------------------ */

static uint32_t add_static(graze_rigid *world, const graze_mesh *mesh) {
  graze_rigid_body_def def = define(mesh, 0, 0, 0);
  def.type = GRAZE_BODY_STATIC;
  return add(world, &def);
}

static void set_random_turn(graze_rigid_body_def *def, uint64_t *state) {
  for (int k = 0; k < 4; k++) def->orientation[k] = random_signed(state);
}

/* The shapes that stand in for each other in the tests below: a unit cube. */
static graze_rigid_body_def define_cube(int which, const graze_mesh *mesh, double (*points)[3]) {
  graze_rigid_body_def def = define(mesh, 0, 0, 0);
  if (which == 0) return def;
  def.mesh = NULL;
  def.shape = which == 1 ? GRAZE_RIGID_BOX : GRAZE_RIGID_HULL;
  for (int k = 0; k < 3; k++) def.edges[k] = 1;
  for (int i = 0; i < 24; i++) points[i / 3][i % 3] = 0.5 * cube_corners[i / 3][i % 3];
  def.points = points[0];
  def.point_count = 8;
  return def;
}

/* ---- the same solids --------------------------------------------------------------------------------------------- */

/* A cube as mesh, box and hull, on a wall and on a floor of 800 triangles: where it comes to rest when it falls on an
 * edge, and how far it slides. */
static void test_alike(void **unused) {
  (void)unused;
  const double point[3] = {0, 0, 0}, up[3] = {0, 0, 1};
  graze_mesh *cube = make_box(1, 1, 1), *floor = make_floor(20, 20);
  for (int solver = GRAZE_RIGID_SOFT; solver <= GRAZE_RIGID_NEWTON; solver++) {
    double slid[6], turned[6];
    for (int i = 0; i < 6; i++) {
      double points[8][3];
      graze_rigid *world = make_world(1, (graze_rigid_solver)solver, 9.81, 0.5);
      if (i % 2 == 0) must(graze_rigid_add_wall(world, point, up, 0));
      if (i % 2 == 1) add_static(world, floor);
      graze_rigid_body_def def = define_cube(i / 2, cube, points);
      def.position[0] = 0.123;
      def.position[2] = 0.5;
      def.velocity[0] = 3;
      const uint32_t slider = add(world, &def);
      def.position[0] = -5;
      def.position[2] = 1.2;
      def.velocity[0] = 0;
      def.orientation[1] = 0.3;
      const uint32_t tumbler = add(world, &def);
      run(world, 180);
      slid[i] = get(world, slider).position[0] - 0.123;
      turned[i] = get(world, tumbler).position[1];
      assert_near(get(world, slider).position[1], 0, 1e-3);
      assert_near(get(world, slider).position[2], 0.5, solver == GRAZE_RIGID_NEWTON ? 1e-6 : 5e-4);
      assert_near(get(world, tumbler).position[2], 0.5, solver == GRAZE_RIGID_NEWTON ? 1e-6 : 5e-4);
      assert_true(sums_of(world).kinetic < 1e-9);
      graze_rigid_destroy(world);
    }
    for (int i = 0; i < 6; i++) {
      assert_near(slid[i], 9.0 / (2 * 0.5 * 9.81), 0.01);
      assert_near(slid[i], slid[0], 1e-6);
      assert_near(turned[i], turned[0], solver == GRAZE_RIGID_NEWTON ? 1e-6 : 0.01);
    }
  }
  graze_mesh_destroy(cube);
  graze_mesh_destroy(floor);
}

/* Balls and boxes that slide over the edges between triangles of a plane neither jump nor turn aside. */
static void test_inner_edges(void **unused) {
  (void)unused;
  graze_mesh *floor = make_floor(40, 20), *cube = make_box(0.4, 0.4, 0.4);
  for (int solver = GRAZE_RIGID_SOFT; solver <= GRAZE_RIGID_NEWTON; solver++) {
    graze_rigid *world = make_world(1, (graze_rigid_solver)solver, 9.81, 0);
    add_static(world, floor);
    graze_rigid_body_def def = define(cube, -7, 0.07, 0.2);
    def.velocity[0] = 4;
    def.velocity[1] = 0.3;
    const uint32_t box = add(world, &def);
    def.shape = GRAZE_RIGID_SPHERE;
    def.radius = 0.2;
    def.position[1] = 3;
    const uint32_t ball = add(world, &def);
    for (int i = 0; i < 180; i++) {
      run(world, 1);
      for (uint32_t b = box; b <= ball; b++) {
        const graze_rigid_body_def now = get(world, b);
        assert_near(now.position[2], 0.2, solver == GRAZE_RIGID_NEWTON ? 1e-6 : 5e-4);
        assert_near(now.velocity[0], 4, 1e-6);
        assert_near(now.velocity[1], 0.3, 1e-6);
      }
    }
    graze_rigid_destroy(world);
  }
  graze_mesh_destroy(floor);
  graze_mesh_destroy(cube);
}

/* A plate whose faces are cut into 2,048 triangles rests like one of two, on a wall and on a floor of triangles: of the
 * corners within its face none is chosen in place of those that carry it. */
static void test_fine_plate(void **unused) {
  (void)unused;
  const double point[3] = {0, 0, 0}, up[3] = {0, 0, 1};
  enum { N = 32, SIDE = N + 1 };
  double *points = malloc(6 * SIDE * SIDE * sizeof *points);
  uint32_t *triangles = malloc((12 * N * N + 24 * N) * sizeof *triangles), count = 0;
  assert_true(points != NULL && triangles != NULL);
  for (uint32_t i = 0; i < 2 * SIDE * SIDE; i++) {
    points[3 * i] = 3.0 * (i % SIDE) / N - 1.5;
    points[3 * i + 1] = 1.0 * (i / SIDE % SIDE) / N - 0.5;
    points[3 * i + 2] = i < SIDE * SIDE ? -0.05 : 0.05;
  }
  for (uint32_t i = 0; i < 2 * N * N; i++) {
    const bool top = i >= N * N;
    const uint32_t a = (top ? SIDE * SIDE : 0) + i % (N * N) / N * SIDE + i % N, b = a + 1, c = a + SIDE;
    const uint32_t square[6] = {a, top ? b : c + 1, top ? c + 1 : b, a, top ? c + 1 : c, top ? c : c + 1};
    memcpy(triangles + 3 * count, square, sizeof square);
    count += 2;
  }
  for (uint32_t i = 0; i < 4 * N; i++) { /* from corner to corner of the rim, counter-clockwise from above */
    static const int ways[4] = {1, SIDE, -1, -SIDE}, starts[4] = {0, N, SIDE * SIDE - 1, N * SIDE};
    const uint32_t a = (uint32_t)(starts[i / N] + (int)(i % N) * ways[i / N]), b = (uint32_t)((int)a + ways[i / N]);
    const uint32_t square[6] = {a, b, b + SIDE * SIDE, a, b + SIDE * SIDE, a + SIDE * SIDE};
    memcpy(triangles + 3 * count, square, sizeof square);
    count += 2;
  }
  graze_mesh *plate = make_mesh(points, 2 * SIDE * SIDE, triangles, count), *floor = make_floor(20, 20);
  for (int i = 0; i < 4; i++) {
    graze_rigid *world = make_world(1, i % 2 == 0 ? GRAZE_RIGID_SOFT : GRAZE_RIGID_NEWTON, 9.81, 0.5);
    if (i / 2 == 0) must(graze_rigid_add_wall(world, point, up, 0));
    if (i / 2 == 1) add_static(world, floor);
    const graze_rigid_body_def def = define(plate, 0.03, 0.04, 0.06);
    const uint32_t body = add(world, &def);
    run(world, 200);
    const graze_rigid_body_def now = get(world, body);
    assert_near(now.position[2], 0.05, 3e-4);
    for (int k = 0; k < 3; k++) assert_near(now.spin[k], 0, 1e-10);
    graze_rigid_destroy(world);
  }
  graze_mesh_destroy(plate);
  graze_mesh_destroy(floor);
  free(points);
  free(triangles);
}

/* An edge beside a triangle without an area still carries. */
static void test_split_edge(void **unused) {
  (void)unused;
  static const double points[21] = {-1, 0, 0, 1, 0, 0, -1, 1, -1, 1, 1, -1, -1, -1, -1, 1, -1, -1, 0, 0, 0};
  static const uint32_t triangles[18] = {0, 6, 2, 6, 1, 2, 1, 3, 2, 0, 4, 5, 0, 5, 1, 0, 1, 6}; /* the last has none */
  graze_mesh *roof = make_mesh(points, 7, triangles, 6), *cube = make_box(0.5, 2, 0.5);
  for (int solver = GRAZE_RIGID_SOFT; solver <= GRAZE_RIGID_NEWTON; solver++) {
    graze_rigid *world = make_world(1, (graze_rigid_solver)solver, 9.81, 0.5);
    add_static(world, roof);
    const graze_rigid_body_def def = define(cube, 0.2, 0, 0.26);
    const uint32_t beam = add(world, &def);
    double lowest = 1;
    for (int i = 0; i < 60; i++) {
      run(world, 1);
      lowest = fmin(lowest, get(world, beam).position[2]);
    }
    assert_near(lowest, 0.25, 1e-3);
    graze_rigid_destroy(world);
  }
  graze_mesh_destroy(roof);
  graze_mesh_destroy(cube);
}

/* In a valley of two faces what has sunk into one is held by the other, too. */
static void test_valley(void **unused) {
  (void)unused;
  static const double points[18] = {-9, -9, 0, 9, -9, 0, -9, 0, 0, 9, 0, 0, -9, 0, 9, 9, 0, 9};
  static const uint32_t triangles[12] = {0, 1, 3, 0, 3, 2, 2, 3, 5, 2, 5, 4};
  graze_mesh *corner = make_mesh(points, 6, triangles, 4), *cube = make_box(1, 1, 1);
  for (int solver = GRAZE_RIGID_SOFT; solver <= GRAZE_RIGID_NEWTON; solver++) {
    graze_rigid *world = make_world(1, (graze_rigid_solver)solver, 9.81, 0);
    add_static(world, corner);
    graze_rigid_body_def def = define(cube, 0, -3, 0.5);
    def.velocity[1] = 2;
    const uint32_t box = add(world, &def);
    run(world, 300);
    assert_true(get(world, box).position[1] < -0.499);
    assert_near(get(world, box).position[2], 0.5, 1e-3);
    graze_rigid_destroy(world);
  }
  graze_mesh_destroy(corner);
  graze_mesh_destroy(cube);
}

/* The overlap of two convex meshes, as the first contacts have it, beside the exact depth of the two hulls. */
static void test_overlap(void **unused) {
  (void)unused;
  uint64_t seed = test_seed(0x6d657368);
  graze_mesh *cube = make_box(1, 0.8, 0.6);
  double points[8][3];
  for (int i = 0; i < 24; i++) points[i / 3][i % 3] = 0.5 * cube_corners[i / 3][i % 3] * (1 - 0.2 * (i % 3));
  uint32_t compared = 0;
  for (int i = 0; i < 1500; i++) {
    graze_rigid *world = make_world(1, GRAZE_RIGID_SOFT, 0, 0);
    graze_rigid_body_def def = define(cube, 0, 0, 0);
    graze_pose poses[2];
    graze_convex sets[2];
    graze_convex_result result;
    for (int k = 0; k < 2; k++) {
      set_random_turn(&def, &seed);
      for (int j = 0; j < 3; j++) def.position[j] = k == 0 ? 0 : random_signed(&seed);
      add(world, &def);
      const graze_rigid_body_def now = get(world, (uint32_t)k);
      poses[k] = graze_pose_from_quaternion(now.orientation, now.position);
      sets[k] = (graze_convex){.points = points[0], .count = 8};
    }
    const graze_convex_pair pair = {&sets[0], &sets[1], &poses[0], &poses[1]};
    must(graze_convex_batch(shared_context(1), 1, &pair, GRAZE_T1, GRAZE_CONVEX_SHARP, &result));
    const double found = sums_of(world).max_overlap, depth = -result.distance;
    /* Deeper ones may be in each other by several features, of which contacts know the near ones. */
    if (depth < 0.012 && !(found <= depth * (1 + 1e-9) + 1e-12 || found <= 0.03))
      fail_msg("seed %llx, pair %d: overlap %.17g, depth %.17g", (unsigned long long)seed, i, found, depth);
    if (depth > 0 && depth < 0.012) {
      compared++;
      assert_true(found >= depth * (1 - 1e-9) - 1e-12);
    }
    if (result.lower > 0.05) assert_true(found == 0);
    graze_rigid_destroy(world);
  }
  assert_true(compared > 3);
  graze_mesh_destroy(cube);
}

/* ---- heaps ------------------------------------------------------------------------------------------------------- */

enum { HEAP_MESHES = 4 };

static void make_heap_meshes(graze_mesh *meshes[HEAP_MESHES]) {
  meshes[0] = make_ring(0.35, 0.12, 24, 12);
  meshes[1] = make_box(0.65, 0.65, 0.65);
  meshes[2] = make_box(0.9, 0.6, 0.15);
  meshes[3] = make_floor(10, 12);
}

/* Rings, boxes and plates, among other shapes, that fall into a pen with a floor of triangles. */
static graze_rigid *make_heap(graze_mesh *const meshes[HEAP_MESHES], uint32_t threads, graze_rigid_solver solver,
                              uint32_t count, uint64_t seed) {
  graze_rigid *world = make_world(threads, solver, 9.81, 0.4);
  add_static(world, meshes[3]);
  for (int i = 0; i < 4; i++) {
    double point[3] = {0}, normal[3] = {0};
    normal[i / 2] = i % 2 == 0 ? 1 : -1;
    point[i / 2] = i % 2 == 0 ? -1.5 : 1.5;
    must(graze_rigid_add_wall(world, point, normal, 0));
  }
  for (uint32_t i = 0; i < count; i++) {
    graze_rigid_body_def def =
        define(meshes[i % 3], 0.7 * random_signed(&seed), 0.7 * random_signed(&seed), 1 + 0.9 * i);
    static const graze_rigid_shape others[3] = {GRAZE_RIGID_BOX, GRAZE_RIGID_SPHERE, GRAZE_RIGID_CAPSULE};
    if (i % 4 == 3) def.shape = others[i / 4 % 3];
    def.radius = 0.25;
    def.length = 0.5;
    for (int k = 0; k < 3; k++) def.edges[k] = 0.5;
    set_random_turn(&def, &seed);
    for (int k = 0; k < 3; k++) def.spin[k] = 2 * random_signed(&seed);
    add(world, &def);
  }
  return world;
}

/* How deep two bodies that are meshes are in each other, by the exact depth of the meshes. */
static double find_depth(graze_query *query, const graze_rigid_body_def *a, const graze_rigid_body_def *b) {
  const graze_pose p = graze_pose_from_quaternion(a->orientation, a->position);
  const graze_pose q = graze_pose_from_quaternion(b->orientation, b->position);
  graze_collide_options hits = graze_default_collide_options();
  graze_collide_result met;
  graze_depth_result result;
  hits.find = GRAZE_FIND_ANY;
  must(graze_collide_meshes(query, a->mesh, &p, b->mesh, &q, &hits, &met));
  if (!met.hit) return 0;
  must(graze_mesh_depth(query, a->mesh, &p, b->mesh, &q, NULL, &result));
  return result.known ? result.lower : (double)INFINITY;
}

/* When a heap lies, nothing is deep in anything, as exact depths tell; nor while it falls, with all solved at once.
 * What soft contacts have let in deeper, once in some hundred heaps, leaves again. */
static void test_heap(void **unused) {
  (void)unused;
  const uint64_t seed = test_seed(0x68656170);
  const uint32_t count = test_thinned() ? 10 : 20;
  graze_mesh *meshes[HEAP_MESHES];
  graze_query *query;
  make_heap_meshes(meshes);
  must(graze_query_create(shared_context(1), &query));
  for (int solver = GRAZE_RIGID_SOFT; solver <= GRAZE_RIGID_NEWTON; solver += test_thinned() ? 2 : 1) {
    graze_rigid *world = make_heap(meshes, 1, (graze_rigid_solver)solver, count, seed);
    for (int i = 0; i < 10; i++) {
      run(world, 30);
      for (uint32_t a = 1; a <= count; a++) {
        const graze_rigid_body_def first = get(world, a);
        assert_true(first.position[2] > 0.05);
        for (uint32_t b = a + 1; b <= count; b++) {
          const graze_rigid_body_def second = get(world, b);
          if (first.mesh == NULL || second.mesh == NULL) continue;
          const double depth = find_depth(query, &first, &second);
          if (!(depth < (i == 9 || solver == GRAZE_RIGID_NEWTON ? 0.04 : 0.15)))
            fail_msg("seed %llx: %u and %u: %g", (unsigned long long)seed, a, b, depth);
        }
      }
    }
    graze_rigid_destroy(world);
  }
  graze_query_destroy(query);
  for (int i = 0; i < HEAP_MESHES; i++) graze_mesh_destroy(meshes[i]);
}

/* Whatever the threads, and after a state was saved and restored. */
static void test_one_hash(void **unused) {
  (void)unused;
  const uint64_t seed = test_seed(0x6f6e65), before = test_thinned() ? 40 : 90, after = test_thinned() ? 20 : 60;
  char path[] = "/tmp/graze-rigid-XXXXXX";
  graze_mesh *meshes[HEAP_MESHES];
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  make_heap_meshes(meshes);
  for (int solver = GRAZE_RIGID_AUTO; solver <= GRAZE_RIGID_NEWTON; solver++) {
    uint64_t hashes[3];
    for (uint32_t i = 0; i < 3; i++) {
      graze_rigid *world = make_heap(meshes, i == 1 ? 4 : 1, (graze_rigid_solver)solver, 9, seed);
      run(world, before);
      if (i == 2) {
        must(graze_rigid_save(world, path));
        graze_rigid_destroy(world);
        world = make_heap(meshes, 1, (graze_rigid_solver)solver, 9, seed);
        must(graze_rigid_restore(world, path));
      }
      run(world, after);
      hashes[i] = graze_rigid_get_hash(world);
      graze_rigid_destroy(world);
    }
    assert_true(hashes[0] == hashes[1]);
    assert_true(hashes[0] == hashes[2]);
  }
  unlink(path);
  for (int i = 0; i < HEAP_MESHES; i++) graze_mesh_destroy(meshes[i]);
}

/* A heap that sleeps wakes when something falls on it, and does then what it does without sleep. */
static void test_sleep(void **unused) {
  (void)unused;
  graze_mesh *cube = make_box(1, 1, 1), *floor = make_floor(8, 20);
  double heights[2];
  for (int sleeps = 0; sleeps < 2; sleeps++) {
    graze_rigid_def def = graze_default_rigid_def();
    graze_rigid_material m = graze_default_rigid_material();
    graze_rigid *world;
    uint32_t number;
    def.sleep = sleeps == 1;
    must(graze_rigid_create(shared_context(1), &def, &world));
    m.friction = 0.5;
    must(graze_rigid_add_material(world, &m, &number));
    add_static(world, floor);
    for (int i = 0; i < 3; i++) {
      const graze_rigid_body_def box = define(cube, 0.1 * i, 0, 0.5 + i);
      add(world, &box);
    }
    graze_rigid_body_def late = define(cube, 0.2, 0, 30);
    const uint32_t last = add(world, &late);
    run(world, 120);
    assert_int_equal(graze_rigid_get_asleep_count(world), sleeps == 1 ? 3 : 0);
    run(world, 300);
    heights[sleeps] = get(world, last).position[2];
    assert_true(heights[sleeps] > 0.45);
    graze_rigid_destroy(world);
  }
  graze_mesh_destroy(cube);
  graze_mesh_destroy(floor);
}

/* ---- fast ones --------------------------------------------------------------------------------------------------- */

/* What spins and flies at 300 m/s at a plate of 1 cm, which stands or moves itself, does not come through. */
static void test_bullets(void **unused) {
  (void)unused;
  uint64_t seed = test_seed(0x66617374);
  const uint32_t shots = (uint32_t)test_rounds(60, 6000);
  graze_mesh *plate = make_box(4, 4, 0.01), *ring = make_ring(0.05, 0.02, 16, 8), *cube = make_box(0.1, 0.1, 0.1);
  for (uint32_t i = 0; i < shots; i++) {
    const uint64_t start = seed;
    graze_rigid *world = make_world(1, (graze_rigid_solver)(i % 3), 0, 0.5);
    graze_rigid_body_def def = define(plate, 0, 0, 0);
    def.type = i / 3 % 2 == 0 ? GRAZE_BODY_STATIC : GRAZE_BODY_DYNAMIC;
    if (i / 3 % 2 == 1) def.density = 1e5;
    add(world, &def);
    def = define(i / 6 % 4 == 0 ? ring : cube, 0.5 * random_signed(&seed), 0.5 * random_signed(&seed),
                 3 + 5 * random_unit(&seed));
    if (i / 6 % 4 > 1) def.shape = i / 6 % 4 == 2 ? GRAZE_RIGID_SPHERE : GRAZE_RIGID_BOX;
    def.radius = 0.05;
    def.edges[0] = def.edges[1] = 0.05;
    def.edges[2] = 0.4;
    def.velocity[2] = -300;
    set_random_turn(&def, &seed);
    for (int k = 0; k < 3; k++) def.spin[k] = 20 * random_signed(&seed);
    add(world, &def);
    run(world, 6);
    if (!(get(world, 1).position[2] > get(world, 0).position[2]))
      fail_msg("seed %llx: shot %u came through", (unsigned long long)start, i);
    graze_rigid_destroy(world);
  }
  graze_mesh_destroy(plate);
  graze_mesh_destroy(ring);
  graze_mesh_destroy(cube);
}

/* Two rings that meet in flight keep their momentum and their angular momentum. */
static void test_momentum(void **unused) {
  (void)unused;
  uint64_t seed = test_seed(0x6d6f6d);
  graze_mesh *ring = make_ring(0.5, 0.15, 24, 12);
  uint32_t met = 0;
  for (int i = 0; i < 12; i++) {
    graze_rigid *world = make_world(1, GRAZE_RIGID_SOFT, 0, 0.3);
    for (int k = 0; k < 2; k++) {
      graze_rigid_body_def def =
          define(ring, k == 0 ? -1.5 : 1.5, 0.3 * random_signed(&seed), 0.3 * random_signed(&seed));
      def.velocity[0] = k == 0 ? 3 : -3;
      set_random_turn(&def, &seed);
      for (int j = 0; j < 3; j++) def.spin[j] = random_signed(&seed);
      add(world, &def);
    }
    const graze_world_sums first = sums_of(world);
    const double size = 3 * get(world, 0).mass;
    run(world, 90);
    const graze_world_sums last = sums_of(world);
    met += fabs(last.energy - first.energy) > 1e-3 * first.energy;
    for (int k = 0; k < 3; k++) {
      assert_near(last.momentum[k], first.momentum[k], 1e-11 * size);
      assert_near(last.angular_momentum[k], first.angular_momentum[k], 1e-10 * size);
    }
    graze_rigid_destroy(world);
  }
  assert_true(met > 3);
  graze_mesh_destroy(ring);
}

/* ---- events and errors ------------------------------------------------------------------------------------------- */

/* A pair that touches in several places is one pair: it begins once, and counts once. */
static void test_events(void **unused) {
  (void)unused;
  static const double points[18] = {-9, -9, 9, 9, -9, 9, -9, 0, 0, 9, 0, 0, -9, 9, 9, 9, 9, 9};
  static const uint32_t triangles[12] = {0, 1, 3, 0, 3, 2, 2, 3, 5, 2, 5, 4};
  graze_mesh *groove = make_mesh(points, 6, triangles, 4);
  graze_rigid *world = make_world(1, GRAZE_RIGID_SOFT, 9.81, 0.5);
  const graze_contact_event *events;
  uint64_t count, began = 0, ended = 0;
  add_static(world, groove);
  graze_rigid_body_def def = define(NULL, 0, 0, 1.5);
  def.shape = GRAZE_RIGID_SPHERE;
  def.radius = 0.5;
  const uint32_t ball = add(world, &def);
  for (int i = 0; i < 120; i++) {
    run(world, 1);
    must(graze_rigid_get_events(world, &events, &count));
    for (uint64_t k = 0; k < count; k++) {
      began += events[k].kind == GRAZE_CONTACT_BEGAN;
      ended += events[k].kind == GRAZE_CONTACT_ENDED;
    }
  }
  assert_int_equal(began, 1 + ended);
  assert_int_equal(sums_of(world).contacts, 1);
  assert_near(get(world, ball).position[2], 0.5 * sqrt(2), 1e-3);
  graze_rigid_destroy(world);
  graze_mesh_destroy(groove);
}

static void expect(graze_rigid *world, const graze_rigid_body_def *def, graze_status status, const char *words) {
  uint32_t body;
  assert_int_equal(graze_rigid_add_body(world, def, &body), status);
  if (strstr(shared_error()->message, words) == NULL) fail_msg("\"%s\" has no \"%s\"", shared_error()->message, words);
}

static void test_errors(void **unused) {
  (void)unused;
  static const double points[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  static const uint32_t inside_out[12] = {0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2};
  graze_rigid *world = make_world(1, GRAZE_RIGID_AUTO, 9.81, 0);
  graze_mesh *floor = make_floor(2, 1), *wrong = make_mesh(points, 4, inside_out, 4);
  graze_rigid_body_def def = define(floor, 0, 0, 0);
  def.name = "lid";
  expect(world, &def, GRAZE_ERROR_UNSUPPORTED, "body 'lid': ");
  expect(world, &def, GRAZE_ERROR_UNSUPPORTED, "open");
  def.mesh = wrong;
  expect(world, &def, GRAZE_ERROR_UNSUPPORTED, "inside out");
  /* What was refused is not kept: another mesh may get its address. */
  graze_mesh_destroy(wrong);
  for (int i = 0; i < 8; i++) {
    wrong = make_mesh(points, 4, inside_out, 4);
    def.mesh = wrong;
    expect(world, &def, GRAZE_ERROR_UNSUPPORTED, "inside out");
    graze_mesh_destroy(wrong);
  }
  wrong = make_box(1, 1, 1);
  def.mesh = wrong;
  def.position[2] = 5;
  add(world, &def);
  run(world, 1);
  assert_near(get(world, 0).mass, 1000, 1e-9);
  def.mesh = NULL;
  expect(world, &def, GRAZE_ERROR_ARGUMENT, "body 'lid': its mesh has no triangles");
  def.mesh = floor;
  def.type = GRAZE_BODY_STATIC;
  add(world, &def);
  assert_int_equal(graze_rigid_get_body_count(world), 2);
  graze_rigid_destroy(world);
  graze_mesh_destroy(floor);
  graze_mesh_destroy(wrong);
}

static graze_status use_memory(graze_context *context) {
  const uint32_t triangles[12] = {0, 2, 1, 0, 3, 2, 0, 1, 3, 1, 2, 3};
  const double points[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  graze_mesh_def mesh_def = graze_default_mesh_def();
  graze_rigid_def def = graze_default_rigid_def();
  const graze_rigid_material m = graze_default_rigid_material();
  graze_mesh *mesh = NULL;
  graze_rigid *world = NULL;
  uint32_t number;
  mesh_def.vertices = points;
  mesh_def.vertex_count = 4;
  mesh_def.indices = triangles;
  mesh_def.triangle_count = 4;
  mesh_def.precision = GRAZE_DOUBLE;
  graze_status status = graze_mesh_create(context, &mesh_def, &mesh);
  if (status == GRAZE_OK) status = graze_rigid_create(context, &def, &world);
  if (status == GRAZE_OK) status = graze_rigid_add_material(world, &m, &number);
  for (int i = 0; i < 3 && status == GRAZE_OK; i++) {
    graze_rigid_body_def body = define(mesh, 0, 0, 0.9 * i);
    if (i == 0) body.type = GRAZE_BODY_STATIC;
    if (i == 2) body.shape = GRAZE_RIGID_BOX;
    for (int k = 0; k < 3; k++) body.edges[k] = 1;
    status = graze_rigid_add_body(world, &body, &number);
  }
  if (status == GRAZE_OK) status = graze_rigid_step(world, step, 3, NULL, NULL);
  graze_rigid_destroy(world);
  graze_mesh_destroy(mesh);
  return status;
}

static void test_refused_memory(void **unused) {
  (void)unused;
  test_refuse_each(use_memory, 2000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_alike),      cmocka_unit_test(test_inner_edges),    cmocka_unit_test(test_valley),
      cmocka_unit_test(test_fine_plate), cmocka_unit_test(test_split_edge),     cmocka_unit_test(test_overlap),
      cmocka_unit_test(test_heap),       cmocka_unit_test(test_one_hash),       cmocka_unit_test(test_sleep),
      cmocka_unit_test(test_bullets),    cmocka_unit_test(test_momentum),       cmocka_unit_test(test_events),
      cmocka_unit_test(test_errors),     cmocka_unit_test(test_refused_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
