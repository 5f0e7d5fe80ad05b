/* Exact checks of rigid worlds: planted depths, an oracle of separating axes, formulas of round shapes, and who is left
 * out. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "families.h"
#include "rigid_worlds.h"

static graze_rigid *make_world(int threads, const double normal[3]) {
  const double point[3] = {0, 0, 0};
  const graze_rigid_def def = graze_default_rigid_def();
  const graze_rigid_material m = graze_default_rigid_material();
  graze_rigid *world;
  uint32_t number;
  must(graze_rigid_create(shared_context(threads), &def, &world));
  must(graze_rigid_add_material(world, &m, &number));
  if (normal != NULL) must(graze_rigid_add_wall(world, point, normal, 0));
  return world;
}

/* Of a size, or of a radius and a length. */
static graze_rigid_body_def define(graze_rigid_shape shape, double size, double length, double x, double y, double z) {
  graze_rigid_body_def def = graze_default_rigid_body_def();
  def.shape = shape;
  def.radius = size;
  def.length = length;
  for (int k = 0; k < 3; k++) def.edges[k] = size;
  def.position[0] = x;
  def.position[1] = y;
  def.position[2] = z;
  def.density = 1;
  return def;
}

static graze_rigid_check_result check(graze_rigid *world, double slop) {
  graze_rigid_check_result result;
  must(graze_rigid_check(world, slop, &result));
  return result;
}

/* Two bodies, or one and the wall z = 0, whose depth is this double: found or not to the last bit of the slop. */
static void expect_exact(graze_rigid *world, double depth) {
  const graze_rigid_check_result over = check(world, nextafter(depth, 0)), at = check(world, depth);
  assert_int_equal(over.count, 1);
  assert_false(over.overlaps[0].unknown);
  assert_int_equal(at.count, 0);
  assert_true(at.deepest.lower <= depth && at.deepest.upper >= depth);
  assert_true(at.deepest.upper - at.deepest.lower <= 0x1p-40);
  graze_rigid_destroy(world);
}

static void test_exact_depths(void **unused) {
  (void)unused;
  const double up[3] = {0, 0, 1};
  for (int power = 1; power <= 40; power++) {
    const double depth = ldexp(1, -power);
    const graze_rigid_body_def box = define(GRAZE_RIGID_BOX, 2, 0, 0, 0, 1 - depth),
                               beside = define(GRAZE_RIGID_BOX, 2, 0, 2 - depth, 0.5, 1 - depth);
    graze_rigid *world = make_world(1, NULL);
    add(world, &box);
    add(world, &beside);
    expect_exact(world, depth);
    world = make_world(1, up);
    add(world, &box);
    expect_exact(world, depth);
    world = make_world(1, up);
    const graze_rigid_body_def ball = define(GRAZE_RIGID_SPHERE, 0.5, 0, 3, -1, 0.5 - depth);
    add(world, &ball);
    expect_exact(world, depth);
    world = make_world(1, up);
    const graze_rigid_body_def pillar = define(GRAZE_RIGID_CYLINDER, 0.3, 2, 3, -1, 1 - depth);
    add(world, &pillar);
    expect_exact(world, depth);
  }
}

/* Shapes that touch, on a wall and beside each other, overlap by nothing. */
static void test_touching(void **unused) {
  (void)unused;
  const double up[3] = {0, 0, 3};
  const graze_rigid_body_def defs[] = {define(GRAZE_RIGID_BOX, 2, 0, 0, 0, 1), define(GRAZE_RIGID_BOX, 2, 0, 2, 1, 1),
                                       define(GRAZE_RIGID_SPHERE, 1, 0, -2, 0, 1),
                                       define(GRAZE_RIGID_CAPSULE, 1, 2, 0, -2, 2),
                                       define(GRAZE_RIGID_CYLINDER, 0.25, 1, 0, 0, 2.5)};
  graze_rigid *world = make_world(1, up);
  for (size_t i = 0; i < sizeof defs / sizeof defs[0]; i++) add(world, &defs[i]);
  const graze_rigid_check_result result = check(world, 0);
  assert_int_equal(result.count, 0);
  assert_true(result.deepest.upper == 0);
  assert_in_range(result.pairs, 9, 15); /* five on the wall, and at least four that touch */
  graze_rigid_destroy(world);
}

/* ---- separating axes --------------------------------------------------------------------------------------------- */

typedef struct turned_box {
  long double axes[3][3], middle[3], half[3];
} turned_box;

static turned_box take_box(const graze_rigid *world, uint32_t body) {
  graze_rigid_body_def def;
  turned_box box;
  must(graze_rigid_get_body(world, body, &def));
  const graze_pose pose = graze_pose_from_quaternion(def.orientation, def.position);
  for (int k = 0; k < 3; k++) {
    for (int j = 0; j < 3; j++) box.axes[k][j] = pose.m[4 * j + k];
    box.middle[k] = pose.m[4 * k + 3];
    box.half[k] = def.edges[k] / 2;
  }
  return box;
}

static long double overlap_along(const turned_box *a, const turned_box *b, const long double n[3]) {
  long double length = 0, between = 0, reach = 0;
  for (int k = 0; k < 3; k++) {
    length += n[k] * n[k];
    between += n[k] * (b->middle[k] - a->middle[k]);
  }
  if (length < 1e-20L) return (long double)INFINITY;
  for (int k = 0; k < 3; k++) {
    long double x = 0, y = 0;
    for (int j = 0; j < 3; j++) {
      x += n[j] * a->axes[k][j];
      y += n[j] * b->axes[k][j];
    }
    reach += a->half[k] * fabsl(x) + b->half[k] * fabsl(y);
  }
  return (reach - fabsl(between)) / sqrtl(length);
}

static long double box_depth(const turned_box *a, const turned_box *b) {
  long double least = (long double)INFINITY;
  for (int i = 0; i < 3; i++) {
    least = fminl(least, overlap_along(a, b, a->axes[i]));
    least = fminl(least, overlap_along(a, b, b->axes[i]));
    for (int j = 0; j < 3; j++) {
      const long double *x = a->axes[i], *y = b->axes[j];
      const long double across[3] = {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]};
      least = fminl(least, overlap_along(a, b, across));
    }
  }
  return least;
}

static void add_random(graze_rigid *world, uint64_t *state, graze_rigid_shape shape, double room) {
  graze_rigid_body_def def = define(shape, 0, 0, 0, 0, 0);
  for (int k = 0; k < 3; k++) {
    def.edges[k] = 0.2 + random_unit(state);
    def.position[k] = room * random_signed(state);
  }
  def.radius = 0.1 + random_unit(state);
  def.length = 0.1 + random_unit(state);
  for (int k = 0; k < 4; k++) def.orientation[k] = random_signed(state);
  add(world, &def);
}

static void test_boxes(void **unused) {
  (void)unused;
  enum { COUNT = 30 };
  uint64_t state = test_seed(1), found = 0;
  const int rounds = test_rounds(20, 1000);
  for (int round = rounds; round > 0; round--) {
    graze_rigid *world = make_world(1, NULL);
    turned_box boxes[COUNT];
    for (int i = 0; i < COUNT; i++) add_random(world, &state, GRAZE_RIGID_BOX, 1.5);
    for (uint32_t i = 0; i < COUNT; i++) boxes[i] = take_box(world, i);
    const double slop = 0.1 * random_unit(&state);
    const graze_rigid_check_result result = check(world, slop);
    const graze_rigid_overlap *next = result.overlaps, *end = next + result.count;
    for (uint32_t a = 0; a < COUNT; a++) {
      for (uint32_t b = a + 1; b < COUNT; b++) {
        const long double depth = box_depth(&boxes[a], &boxes[b]);
        if (fabsl(depth - slop) < 1e-13L) continue;
        const bool told = next < end && next->a.index == a && next->b.index == b;
        assert_int_equal(told, depth > slop);
        if (!told) continue;
        assert_false(next->unknown);
        assert_true(next->lower <= depth + 1e-13L && next->upper >= depth - 1e-13L);
        assert_true(next->upper - next->lower < 1e-10);
        assert_true(result.deepest.upper >= next->upper);
        next++;
        found++;
      }
    }
    assert_ptr_equal(next, end);
    graze_rigid_destroy(world);
  }
  assert_true(found > 5 * (uint64_t)rounds);
}

/* ---- round shapes ------------------------------------------------------------------------------------------------ */

/* How far the shape reaches in a direction of length 1. */
static long double reach(const graze_rigid_body_def *def, const double n[3]) {
  const graze_pose pose = graze_pose_from_quaternion(def->orientation, def->position);
  long double along = 0, at = 0, corner = 0;
  for (int k = 0; k < 3; k++) {
    long double own = 0;
    for (int j = 0; j < 3; j++) own += (long double)n[j] * pose.m[4 * j + k];
    if (k == 2) along = own;
    corner += fabsl(own) * def->edges[k] / 2;
    at += (long double)n[k] * pose.m[4 * k + 3];
  }
  const long double half = def->length / 2 * fabsl(along), across = sqrtl(fmaxl(0, 1 - along * along));
  switch (def->shape) {
    case GRAZE_RIGID_SPHERE:
      return at + def->radius;
    case GRAZE_RIGID_CAPSULE:
      return at + half + def->radius;
    case GRAZE_RIGID_CYLINDER:
      return at + half + def->radius * across;
    default:
      return at + corner;
  }
}

static graze_rigid_shape random_shape(uint64_t *state) {
  return (graze_rigid_shape)random_below(state, GRAZE_RIGID_HULL);
}

/* Against a wall the depth of every shape is how far it reaches down. */
static void test_walls(void **unused) {
  (void)unused;
  uint64_t state = test_seed(2);
  int found = 0;
  const int rounds = test_rounds(1000, 100000);
  for (int round = rounds; round > 0; round--) {
    const double normal[3] = {random_signed(&state), random_signed(&state), random_signed(&state)};
    const double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    const double down[3] = {-normal[0] / length, -normal[1] / length, -normal[2] / length};
    graze_rigid *world = make_world(1, normal);
    graze_rigid_body_def def;
    add_random(world, &state, random_shape(&state), 1);
    must(graze_rigid_get_body(world, 0, &def));
    const long double depth = reach(&def, down);
    const double slop = 0.1 * random_unit(&state);
    const graze_rigid_check_result result = check(world, slop);
    if (fabsl(depth - slop) > 2e-6L) {
      assert_int_equal(result.count, depth > slop);
      assert_true(result.count == 0 || !result.overlaps[0].unknown);
    }
    if (depth > 1e-13L) {
      const long double wide = def.shape == GRAZE_RIGID_CYLINDER ? 2e-4L : 1e-13L;
      assert_true(result.deepest.lower <= depth + 1e-14L && result.deepest.lower >= depth - wide);
      assert_true(result.deepest.upper >= depth - 1e-14L && result.deepest.upper <= depth + wide);
      found++;
    }
    graze_rigid_destroy(world);
  }
  assert_true(found > rounds / 10);
}

static long double distance_of(const double a[3], const double b[3]) {
  long double square = 0;
  for (int k = 0; k < 3; k++) square += ((long double)a[k] - b[k]) * ((long double)a[k] - b[k]);
  return sqrtl(square);
}

/* Balls are as deep as centres are near; of any two shapes, none is deeper than the width along any direction. */
static void test_round_shapes(void **unused) {
  (void)unused;
  uint64_t state = test_seed(3);
  int found = 0;
  const int rounds = test_rounds(150, 50000);
  for (int round = rounds; round > 0; round--) {
    graze_rigid *world = make_world(1, NULL);
    graze_rigid_body_def defs[2];
    for (uint32_t i = 0; i < 2; i++) {
      add_random(world, &state, round % 5 == 0 ? GRAZE_RIGID_SPHERE : random_shape(&state), 0.6);
      must(graze_rigid_get_body(world, i, &defs[i]));
    }
    const graze_rigid_check_result result = check(world, 0);
    if (round % 5 == 0) {
      const long double depth =
          defs[0].radius + (long double)defs[1].radius - distance_of(defs[0].position, defs[1].position);
      assert_true(result.deepest.lower <= fmaxl(0, depth) + 1e-14L && result.deepest.upper >= depth - 1e-14L);
    }
    long double least = (long double)INFINITY;
    for (int i = 0; i < 20000; i++) {
      double n[3], back[3], length = 0;
      for (int k = 0; k < 3; k++) {
        n[k] = random_signed(&state);
        length += n[k] * n[k];
      }
      for (int k = 0; k < 3; k++) {
        n[k] /= sqrt(length);
        back[k] = -n[k];
      }
      least = fminl(least, reach(&defs[0], n) + reach(&defs[1], back));
    }
    assert_true(result.deepest.lower <= fmaxl(0, least) + 1e-13L); /* no way out is shorter */
    if (least > 0.1L) {                                            /* directions are about a hundredth apart */
      assert_true(result.deepest.upper >= least - 0.1L);
      found++;
    }
    assert_true(result.deepest.upper - result.deepest.lower <= 4e-4);
    graze_rigid_destroy(world);
  }
  assert_true(found > rounds / 50);
}

/* A cylinder that lies deep in a wall by this part of the finer prism is known; by less it is not, and is told. */
static void test_unknown(void **unused) {
  (void)unused;
  const double up[3] = {0, 0, 1};
  for (int tenth = 0; tenth < 2; tenth++) {
    graze_rigid *world = make_world(1, up);
    graze_rigid_body_def def = define(GRAZE_RIGID_CYLINDER, 1, 2, 0, 0, tenth == 0 ? 1 - 1e-6 : 1);
    def.orientation[1] = 1; /* a quarter of a turn, and a little about its axis: no corner is lowest */
    add(world, &def);
    const graze_rigid_check_result result = check(world, 1e-9);
    assert_int_equal(result.count, 1);
    assert_int_equal(result.overlaps[0].unknown, tenth == 1);
    assert_true(result.overlaps[0].lower <= (tenth == 0 ? 1e-6 : 1e-9));
    graze_rigid_destroy(world);
  }
}

/* ---- meshes ------------------------------------------------------------------------------------------------------ */

/* Of a box about a point. */
static graze_mesh *box_mesh(const double edges[3], double middle) {
  double points[8][3];
  graze_hull *hull;
  graze_mesh *mesh;
  for (int i = 0; i < 24; i++) points[i / 3][i % 3] = middle + (i / 3 >> i % 3 & 1 ? 0.5 : -0.5) * edges[i % 3];
  must(graze_hull_create(shared_context(1), 8, points[0], &hull));
  graze_mesh_def def = graze_default_mesh_def();
  def.vertices = hull->points;
  def.vertex_count = hull->vertex_count;
  def.indices = hull->triangles;
  def.triangle_count = hull->triangle_count;
  def.precision = GRAZE_DOUBLE;
  must(graze_mesh_create(shared_context(1), &def, &mesh));
  graze_hull_destroy(hull);
  return mesh;
}

/* What is a box as a mesh is as deep in all others as the box is. */
static void test_boxes_as_meshes(void **unused) {
  (void)unused;
  uint64_t state = test_seed(4);
  int found = 0, forgiven = 0;
  const int rounds = test_rounds(80, 5000);
  for (int round = rounds; round > 0 || found < 2 || forgiven < 2; round--) {
    graze_rigid *boxes = make_world(1, NULL), *meshes = make_world(1, NULL);
    graze_rigid_body_def def;
    add_random(boxes, &state, GRAZE_RIGID_BOX, 0.6);
    add_random(boxes, &state, random_shape(&state), 0.6);
    graze_mesh *both[2] = {NULL, NULL};
    for (uint32_t i = 0; i < 2; i++) {
      must(graze_rigid_get_body(boxes, i, &def));
      if (i == 0 || (def.shape == GRAZE_RIGID_BOX && round % 2 == 0)) {
        def.mesh = both[i] = box_mesh(def.edges, 7);
        def.shape = GRAZE_RIGID_MESH;
      }
      add(meshes, &def);
    }
    const double slop = round % 3 == 0 ? 0 : 0.3 * random_unit(&state);
    const graze_rigid_check_result a = check(boxes, slop), b = check(meshes, slop);
    const double wide = def.shape == GRAZE_RIGID_CYLINDER ? 4e-4 : 1e-9;
    assert_true(b.deepest.upper >= a.deepest.lower - wide && b.deepest.lower <= a.deepest.upper + wide);
    if (a.count == 0) { /* what is forgiven need not be measured, but no way out may be missing for nothing */
      assert_true(b.count == 0 || b.overlaps[0].unknown);
      assert_true(a.deepest.upper > 0 || b.deepest.upper <= wide);
      forgiven += b.count == 0;
    } else {
      assert_true(b.count == 1 || a.deepest.lower < slop + wide);
      found += b.count == 1 && !b.overlaps[0].unknown;
    }
    graze_rigid_destroy(boxes);
    graze_rigid_destroy(meshes);
    for (int i = 0; i < 2; i++) graze_mesh_destroy(both[i]);
  }
}

/* A gutter of two bars and a floor between them: its hull has what lies in the gutter, the gutter has not. */
static graze_mesh *make_gutter(void) {
  static const double profile[8][2] = {{-2, -1}, {2, -1}, {2, 1}, {1, 1}, {1, 0}, {-1, 0}, {-1, 1}, {-2, 1}};
  static const int caps[6][3] = {{0, 1, 4}, {0, 4, 5}, {1, 2, 3}, {1, 3, 4}, {0, 5, 6}, {0, 6, 7}};
  double corners[28][9];
  int count = 0;
  for (int i = 0; i < 8; i++) {
    const double *p = profile[i], *q = profile[(i + 1) % 8];
    const double side[2][9] = {{p[0], -3, p[1], q[0], -3, q[1], q[0], 3, q[1]},
                               {p[0], -3, p[1], q[0], 3, q[1], p[0], 3, p[1]}};
    memcpy(corners[count], side, sizeof side);
    count += 2;
  }
  for (int end = 0; end < 2; end++) {
    for (int i = 0; i < 6; i++, count++) {
      for (int k = 0; k < 3; k++) {
        const double *p = profile[caps[i][end == 0 ? k : 2 - k]];
        corners[count][3 * k] = p[0];
        corners[count][3 * k + 1] = end == 0 ? -3 : 3;
        corners[count][3 * k + 2] = p[1];
      }
    }
  }
  return test_mesh(shared_context(1), corners[0], (uint32_t)count, GRAZE_VOLUMES_ORIENTED);
}

static void expect_depth(graze_rigid *world, double depth, double slop, uint64_t count) {
  const graze_rigid_check_result result = check(world, slop);
  if (result.count != count || !(fabs(result.deepest.lower - depth) < 1e-9) ||
      (count > 0 && !(fabs(result.deepest.upper - depth) < 1e-9)))
    fail_msg("%d found, %.17g to %.17g instead of %.17g", (int)result.count, result.deepest.lower, result.deepest.upper,
             depth);
  graze_rigid_destroy(world);
}

static void test_gutter(void **unused) {
  (void)unused;
  graze_mesh *gutter = make_gutter();
  graze_rigid_body_def trough = define(GRAZE_RIGID_MESH, 0, 0, 0, 0, 0);
  trough.type = GRAZE_BODY_STATIC;
  trough.mesh = gutter;
  must(graze_rigid_find_mesh_center(shared_context(1), gutter, trough.position));
  const struct {
    graze_rigid_shape shape;
    double size, x, z, depth;
  } cases[] = {{GRAZE_RIGID_SPHERE, 0.5, 0, 0.5, 0},
               {GRAZE_RIGID_SPHERE, 0.5, 0.25, 0.4375, 0.0625},
               {GRAZE_RIGID_SPHERE, 0.5, 0.5, 0.75, 0},
               {GRAZE_RIGID_SPHERE, 0.125, 0, -0.25, 0.375},
               {GRAZE_RIGID_SPHERE, 0.125, 0, 0, 0.125},
               {GRAZE_RIGID_CAPSULE, 0.5, 0, 1.5, 0},
               {GRAZE_RIGID_CAPSULE, 0.5, 0, 1.375, 0.125},
               {GRAZE_RIGID_BOX, 1, 0, 0.5, 0},
               {GRAZE_RIGID_BOX, 2, 0, 1, 0},
               {GRAZE_RIGID_BOX, 1, 0, 0.46875, 0.03125},
               {GRAZE_RIGID_CYLINDER, 0.5, 0, 1, 0},
               {GRAZE_RIGID_CYLINDER, 0.5, 0, 0.9375, 0.0625}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    graze_rigid *world = make_world(1, NULL);
    const graze_rigid_body_def body = define(cases[i].shape, cases[i].size, 2, cases[i].x, 0, cases[i].z);
    add(world, &trough);
    add(world, &body);
    expect_depth(world, cases[i].depth, 1e-3, cases[i].depth > 0);
  }
  graze_mesh_destroy(gutter);
}

/* What lies in a groove, on both sides of it, comes free upward, as gravity says, though along neither normal. */
static void test_groove(void **unused) {
  (void)unused;
  const double sides[36] = {0, -5, 0, 5, -5, 5, 5,  5, 5, 0, -5, 0, 5,  5, 5, 0,  5,  0,
                            0, -5, 0, 0, 5,  0, -5, 5, 5, 0, -5, 0, -5, 5, 5, -5, -5, 5};
  graze_mesh *mesh = test_mesh(shared_context(1), sides, 4, GRAZE_VOLUMES_ORIENTED);
  graze_rigid_body_def groove = define(GRAZE_RIGID_MESH, 0, 0, 0, 0, 0);
  groove.type = GRAZE_BODY_STATIC;
  groove.mesh = mesh;
  for (int order = 0; order < 2; order++) {
    graze_rigid *world = make_world(1, NULL);
    graze_rigid_body_def box = define(GRAZE_RIGID_BOX, 2, 0, 0, 0, sqrt(2) - 0.01);
    box.orientation[0] = cos(atan(1) / 2);
    box.orientation[2] = sin(atan(1) / 2);
    if (order == 0) add(world, &groove);
    add(world, &box);
    if (order == 1) add(world, &groove);
    const graze_rigid_check_result wide = check(world, 0.02), narrow = check(world, 0.002);
    assert_int_equal(wide.count, 0);
    assert_true(wide.deepest.upper >= 0.01 / sqrt(2) && wide.deepest.upper <= 0.02);
    assert_int_equal(narrow.count, 1);
    assert_true(narrow.overlaps[0].lower <= 0.01 && narrow.overlaps[0].upper >= 0.01 / sqrt(2));
    graze_rigid_destroy(world);
  }
  graze_mesh_destroy(mesh);
}

/* Of an open mesh the surface counts, from either side, and a wall sees its corners. */
static void test_open_mesh(void **unused) {
  (void)unused;
  const double square[18] = {-5, -5, 0, 5, -5, 0, 5, 5, 0, -5, -5, 0, 5, 5, 0, -5, 5, 0}, up[3] = {0, 0, 1};
  graze_mesh *mesh = test_mesh(shared_context(1), square, 2, GRAZE_VOLUMES_ORIENTED);
  graze_rigid_body_def ground = define(GRAZE_RIGID_MESH, 0, 0, 0, 0, 0);
  ground.mesh = mesh;
  for (int side = -1; side <= 1; side += 2) {
    ground.type = GRAZE_BODY_STATIC;
    graze_rigid *world = make_world(1, NULL);
    const graze_rigid_body_def ball = define(GRAZE_RIGID_SPHERE, 0.5, 0, 1, 0, side * 0.4375),
                               near = define(GRAZE_RIGID_SPHERE, 0.5, 0, -1, 0, side * 0.5);
    add(world, &ground);
    add(world, &near);
    add(world, &ball);
    expect_depth(world, 0.0625, 0.01, 1);
    world = make_world(1, up);
    ground.type = GRAZE_BODY_KINEMATIC;
    ground.position[2] = side * 0.125;
    add(world, &ground);
    expect_depth(world, side < 0 ? 0.125 : 0, 0.01, side < 0);
    ground.position[2] = 0;
  }
  graze_mesh_destroy(mesh);
}

/* ---- who is left out --------------------------------------------------------------------------------------------- */

static void test_left_out(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(1, NULL);
  graze_joint_def joint = graze_default_joint_def();
  graze_rigid_body_def def = define(GRAZE_RIGID_BOX, 1, 0, 0, 0, 0);
  uint32_t number;
  for (int i = 0; i < 3; i++) add(world, &def); /* three boxes in the same place */
  def.type = GRAZE_BODY_STATIC;
  def.position[2] = 10;
  for (int i = 0; i < 2; i++) add(world, &def); /* and two that never move */
  assert_int_equal(check(world, 0.9).count, 3);
  assert_int_equal(check(world, 0.9).joined, 0);
  joint.a = 2;
  joint.b = 0;
  memset(joint.point, 0, sizeof joint.point);
  for (int i = 0; i < 2; i++) must(graze_rigid_add_joint(world, &joint, &number));
  graze_rigid_check_result result = check(world, 0.9);
  assert_int_equal(result.joined, 1);
  assert_int_equal(result.count, 2);
  assert_int_equal(result.overlaps[0].a.index, 0);
  assert_int_equal(result.overlaps[0].b.index, 1);
  assert_int_equal(result.overlaps[1].a.index, 1);
  assert_int_equal(result.overlaps[1].b.index, 2);
  def.type = GRAZE_BODY_KINEMATIC;
  add(world, &def); /* this one may have moved into both */
  assert_int_equal(check(world, 0.9).count, 4);
  graze_rigid_destroy(world);
}

static void test_slop(void **unused) {
  (void)unused;
  graze_rigid *world = make_world(1, NULL);
  graze_rigid_check_result result;
  graze_rigid_body_def def = define(GRAZE_RIGID_BOX, 2, 0, 0, 0, 0);
  assert_true(check(world, (double)NAN).slop == 0); /* nobody is there */
  add(world, &def);
  assert_true(check(world, (double)NAN).slop == 0.04);
  def = define(GRAZE_RIGID_SPHERE, 0.5, 0, 9, 0, 0);
  add(world, &def);
  assert_true(check(world, (double)NAN).slop == 0.02);
  def = define(GRAZE_RIGID_BOX, 0.1, 0, 19, 0, 0);
  def.type = GRAZE_BODY_STATIC;
  add(world, &def);
  assert_true(check(world, (double)NAN).slop == 0.02);
  assert_int_equal(graze_rigid_check(world, -1, &result), GRAZE_ERROR_ARGUMENT);
  assert_non_null(strstr(shared_error()->message, "slop is -1"));
  assert_int_equal(graze_rigid_check(world, (double)INFINITY, &result), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_rigid_check(NULL, 0, &result), GRAZE_ERROR_ARGUMENT);
  graze_rigid_destroy(world);
}

/* ---- the same for any threads, and whatever was refused ---------------------------------------------------------- */

static graze_rigid *make_heap(int threads) {
  const double up[3] = {0, 0, 1};
  graze_rigid *world = make_world(threads, up);
  uint64_t state = 5;
  for (int i = 0; i < 150; i++) add_random(world, &state, random_shape(&state), 3);
  return world;
}

static void test_threads(void **unused) {
  (void)unused;
  graze_rigid *one = make_heap(1), *four = make_heap(4);
  const graze_rigid_check_result a = check(one, 0.01), b = check(four, 0.01);
  assert_true(a.count > 20);
  assert_int_equal(a.count, b.count);
  assert_int_equal(a.pairs, b.pairs);
  for (uint64_t i = 0; i < a.count; i++) {
    assert_true(a.overlaps[i].lower == b.overlaps[i].lower && a.overlaps[i].upper == b.overlaps[i].upper);
    assert_int_equal(a.overlaps[i].a.index, b.overlaps[i].a.index);
    assert_int_equal(a.overlaps[i].b.index, b.overlaps[i].b.index);
    assert_int_equal(a.overlaps[i].b.kind, b.overlaps[i].b.kind);
  }
  const uint64_t hash = graze_rigid_get_hash(one);
  check(one, 0);
  assert_true(graze_rigid_get_hash(one) == hash);
  must(graze_rigid_step(one, 0.01, 3, NULL, NULL)); /* the step before which somebody looks is the same */
  must(graze_rigid_step(four, 0.01, 1, NULL, NULL));
  check(four, 0);
  must(graze_rigid_step(four, 0.01, 2, NULL, NULL));
  assert_true(graze_rigid_get_hash(one) == graze_rigid_get_hash(four));
  graze_rigid_destroy(one);
  graze_rigid_destroy(four);
}

static graze_status add_and_check(graze_context *context, const graze_rigid_body_def *defs, int count, double slop) {
  const graze_rigid_def world_def = graze_default_rigid_def();
  const graze_rigid_material m = graze_default_rigid_material();
  const double point[3] = {0, 0, -1}, up[3] = {0, 0, 1};
  graze_rigid_check_result result;
  graze_rigid *world;
  uint32_t number;
  graze_status status = graze_rigid_create(context, &world_def, &world);
  if (status != GRAZE_OK) return status;
  status = graze_rigid_add_material(world, &m, &number);
  if (status == GRAZE_OK) status = graze_rigid_add_wall(world, point, up, 0);
  for (int i = 0; status == GRAZE_OK && i < count; i++) status = graze_rigid_add_body(world, &defs[i], &number);
  if (status == GRAZE_OK) status = graze_rigid_check(world, slop, &result);
  if (status == GRAZE_OK) status = graze_rigid_check(world, 0, &result);
  graze_rigid_destroy(world);
  return status;
}

/* A depth between the prisms, so that finer ones are made. */
static graze_status use_memory(graze_context *context) {
  const graze_rigid_body_def defs[] = {define(GRAZE_RIGID_BOX, 2, 0, 0, 0, 0),
                                       define(GRAZE_RIGID_CYLINDER, 1, 2, 1.5, 0, 0)};
  return add_and_check(context, defs, 2, 0.5);
}

static graze_status use_memory_for_meshes(graze_context *context) {
  const double slope[9] = {-5, -5, -0.5, 5, -5, 0, 0, 5, 0.5};
  graze_rigid_body_def defs[] = {define(GRAZE_RIGID_BOX, 2, 0, 0, 0, 0), define(GRAZE_RIGID_SPHERE, 1, 0, 0, 3, 0),
                                 define(GRAZE_RIGID_MESH, 0, 0, 0, 0, 0)};
  graze_mesh_def mesh_def = graze_default_mesh_def();
  graze_mesh *mesh;
  mesh_def.vertices = slope;
  mesh_def.vertex_count = 3;
  mesh_def.precision = GRAZE_DOUBLE;
  graze_status status = graze_mesh_create(context, &mesh_def, &mesh);
  if (status != GRAZE_OK) return status;
  defs[2].type = GRAZE_BODY_STATIC;
  defs[2].mesh = mesh;
  status = add_and_check(context, defs, 3, 0.01);
  graze_mesh_destroy(mesh);
  return status;
}

static void test_refused_memory(void **unused) {
  (void)unused;
  test_refuse_each(use_memory, 1000);
  test_refuse_each(use_memory_for_meshes, 2000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exact_depths),    cmocka_unit_test(test_touching),      cmocka_unit_test(test_boxes),
      cmocka_unit_test(test_walls),           cmocka_unit_test(test_round_shapes),  cmocka_unit_test(test_unknown),
      cmocka_unit_test(test_boxes_as_meshes), cmocka_unit_test(test_gutter),        cmocka_unit_test(test_open_mesh),
      cmocka_unit_test(test_groove),          cmocka_unit_test(test_left_out),      cmocka_unit_test(test_slop),
      cmocka_unit_test(test_threads),         cmocka_unit_test(test_refused_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
