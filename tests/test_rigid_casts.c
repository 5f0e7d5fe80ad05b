/* Lines through worlds of rigid bodies: against points that are put on surfaces, against exact rays, and each body
 * alone against all of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "rigid_worlds.h"

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void choose_way(uint64_t *state, double unit[3]) {
  double length = 0;
  while (!(length > 0.1 && length < 1)) {
    for (int k = 0; k < 3; k++) unit[k] = random_signed(state);
    length = sqrt(dot(unit, unit));
  }
  for (int k = 0; k < 3; k++) unit[k] /= length;
}

/* A shape of about unit size, also as a compound of one part. */
static graze_rigid_body_def define(graze_rigid_shape shape, graze_rigid_part *part) {
  graze_rigid_body_def def = graze_default_rigid_body_def();
  def.shape = shape;
  def.radius = 0.5;
  def.length = 1.5;
  for (int k = 0; k < 3; k++) def.edges[k] = k + 1;
  def.points = cube_corners[0];
  def.point_count = 8;
  def.density = 1;
  if (part == NULL) return def;
  *part = graze_default_rigid_part();
  part->shape = shape;
  part->radius = def.radius;
  part->length = def.length;
  memcpy(part->edges, def.edges, sizeof def.edges);
  part->points = def.points;
  part->point_count = 8;
  def.shape = GRAZE_RIGID_COMPOUND;
  def.parts = part;
  def.part_count = 1;
  return def;
}

/* A place on the surface, in the shape's coordinates, and the outward normal there. */
static void choose_place(graze_rigid_shape shape, uint64_t *state, double at[3], double normal[3]) {
  const int side = (int)random_below(state, 3);
  const double sign = random_below(state, 2) ? 1 : -1;
  choose_way(state, normal);
  if (shape == GRAZE_RIGID_SPHERE) {
    for (int k = 0; k < 3; k++) at[k] = 0.5 * normal[k];
  } else if (shape == GRAZE_RIGID_CAPSULE && side == 0) { /* a cap */
    for (int k = 0; k < 3; k++) at[k] = 0.5 * normal[k] + (k == 2 ? (normal[2] > 0 ? 0.75 : -0.75) : 0);
  } else if (shape == GRAZE_RIGID_CAPSULE || (shape == GRAZE_RIGID_CYLINDER && side == 0)) { /* the side */
    const double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1]);
    normal[0] /= length;
    normal[1] /= length;
    normal[2] = 0;
    for (int k = 0; k < 3; k++) at[k] = k < 2 ? 0.5 * normal[k] : 0.7 * random_signed(state);
  } else { /* a face */
    const double half[3] = {0.5, 1, 1.5};
    const int axis = shape == GRAZE_RIGID_CYLINDER ? 2 : side;
    for (int k = 0; k < 3; k++) {
      normal[k] = k == axis ? sign : 0;
      const double most = shape == GRAZE_RIGID_BOX ? half[k] : shape == GRAZE_RIGID_HULL ? 1 : k == 2 ? 0.75 : 0.35;
      at[k] = k == axis ? sign * most : 0.99 * most * random_signed(state);
    }
  }
}

static void to_world(const graze_rigid_body_def *def, const double own[3], bool is_way, double out[3]) {
  const double none[3] = {0, 0, 0};
  const graze_pose pose = graze_pose_from_quaternion(def->orientation, is_way ? none : def->position);
  graze_pose_apply(&pose, own, out);
}

/* A line towards a place of a convex surface from outside meets it first there; one that leaves from there meets
 * nothing, and one that ends before it neither. */
static void test_places(void **unused) {
  (void)unused;
  uint64_t state = 5;
  for (int i = 0; i < 3000; i++) {
    const graze_rigid_shape shape = (graze_rigid_shape)(i % GRAZE_RIGID_MESH);
    graze_rigid_part part;
    graze_rigid *world = make_default_world(shared_context(1));
    graze_rigid_body_def def = define(shape, i % 2 ? &part : NULL);
    double at[3], normal[3], place[3], outward[3], from[6][3], ways[6][3];
    graze_rigid_hit hits[3];
    for (int k = 0; k < 4; k++) def.orientation[k] = random_signed(&state);
    for (int k = 0; k < 3; k++) def.position[k] = 10 * random_signed(&state);
    add(world, &def);
    choose_place(shape, &state, at, normal);
    to_world(&def, at, false, place);
    to_world(&def, normal, true, outward);
    do choose_way(&state, ways[0]);
    while (!(dot(ways[0], outward) < -0.1));
    const double scale = 1 + random_below(&state, 5);
    for (int k = 0; k < 3; k++) {
      from[0][k] = from[2][k] = place[k] - 3 * ways[0][k];
      ways[0][k] *= scale;
      ways[2][k] = ways[0][k];
      ways[1][k] = -ways[0][k];
      from[1][k] = place[k] + 1e-9 * outward[k];
    }
    const double most[3] = {(double)INFINITY, (double)INFINITY, 3 / scale - 1e-9};
    const graze_rays rays = {.count = 3, .from = from[0], .way = ways[0], .most = most};
    must(graze_rigid_cast_rays(world, &rays, hits));
    assert_true(hits[0].hit && hits[0].member.kind == GRAZE_MEMBER_BODY && hits[0].member.index == 0);
    assert_true(fabs(hits[0].t * scale - 3) < 1e-12 * 100);
    for (int k = 0; k < 3; k++) {
      assert_true(fabs(hits[0].point[k] - place[k]) < 1e-12 * 100);
      assert_true(fabs(hits[0].normal[k] - outward[k]) < 1e-12 * 100);
    }
    assert_false(hits[1].hit);
    assert_false(hits[2].hit);
    /* From inside, and as a segment to there. */
    double middle[2][3];
    memcpy(middle[0], def.position, sizeof middle[0]);
    memcpy(middle[1], from[0], sizeof middle[1]);
    const double ends[2][3] = {{from[0][0], from[0][1], from[0][2]}, {place[0], place[1], place[2]}};
    double inside[2][3];
    for (int k = 0; k < 3; k++) inside[1][k] = ends[1][k] - 1e-9 * outward[k];
    memcpy(inside[0], ends[0], sizeof inside[0]);
    const graze_rays segments = {.count = 2, .from = middle[0], .to = inside[0]};
    must(graze_rigid_cast_rays(world, &segments, hits));
    assert_true(hits[0].hit && hits[0].t == 0 && dot(hits[0].normal, hits[0].normal) == 0);
    assert_true(hits[1].hit && fabs(hits[1].t - 1) < 1e-8);
    graze_rigid_destroy(world);
  }
}

/* A box, a hull and a mesh of the same cube: the mesh by the exact decision, the others within rounding. */
static void test_meshes(void **unused) {
  (void)unused;
  graze_mesh *mesh = make_cube();
  uint64_t state = 9;
  uint32_t met = 0;
  for (int i = 0; i < 400; i++) {
    graze_rigid_hit hits[3];
    graze_target_hit exact;
    graze_targets *targets;
    graze_rigid_body_def def = graze_default_rigid_body_def();
    double from[3], way[3];
    choose_way(&state, way);
    for (int k = 0; k < 4; k++) def.orientation[k] = random_signed(&state);
    for (int k = 0; k < 3; k++) {
      def.position[k] = random_signed(&state);
      def.edges[k] = 2;
      from[k] = def.position[k] - 5 * way[k] + random_signed(&state);
    }
    def.density = 1;
    def.points = cube_corners[0];
    def.point_count = 8;
    const graze_rays rays = {.count = 1, .from = from, .way = way};
    for (int which = 0; which < 3; which++) {
      static const graze_rigid_shape shapes[3] = {GRAZE_RIGID_MESH, GRAZE_RIGID_BOX, GRAZE_RIGID_HULL};
      graze_rigid *world = make_default_world(shared_context(1));
      def.shape = shapes[which];
      def.mesh = which == 0 ? mesh : NULL;
      add(world, &def);
      must(graze_rigid_cast_rays(world, &rays, &hits[which]));
      if (which == 0) {
        graze_rigid_body_def placed;
        must(graze_rigid_get_body(world, 0, &placed));
        const graze_pose pose = graze_pose_from_quaternion(placed.orientation, placed.position);
        const graze_mesh *const list[1] = {mesh};
        must(graze_targets_create(shared_context(1), 1, list, &pose, &targets));
        must(graze_rays_first(shared_context(1), targets, &rays, &exact));
        graze_targets_destroy(targets);
      }
      graze_rigid_destroy(world);
    }
    assert_true(hits[0].hit == (exact.object == 0));
    if (hits[0].hit) assert_true(hits[0].t == exact.earliest && hits[0].triangle == exact.triangle);
    met += hits[0].hit;
    for (int which = 1; which < 3; which++) {
      assert_true(hits[which].hit == hits[0].hit);
      if (hits[0].hit) assert_true(fabs(hits[which].t - hits[0].t) < 1e-13 * 100);
      if (hits[0].hit) assert_true(dot(hits[which].normal, hits[0].normal) > 1 - 1e-12);
    }
  }
  assert_true(met > 100 && met < 400);
  graze_mesh_destroy(mesh);
}

/* ---- many -------------------------------------------------------------------------------------------------------- */

enum { BODIES = 40, LINES = 500 };

/* `only`: one body or, behind them, the wall; or all. */
static graze_rigid *make_crowd(graze_context *context, const graze_mesh *mesh, uint32_t only) {
  graze_rigid *world = make_default_world(context);
  const double point[3] = {0, 0, -5}, up[3] = {0, 0, 2};
  uint64_t state = 21;
  for (uint32_t i = 0; i < BODIES; i++) {
    const graze_rigid_shape shape = (graze_rigid_shape)(i % (GRAZE_RIGID_MESH + 1));
    graze_rigid_part part;
    graze_rigid_body_def def = define(shape, i % 3 == 0 && shape != GRAZE_RIGID_MESH ? &part : NULL);
    def.mesh = shape == GRAZE_RIGID_MESH ? mesh : NULL;
    for (int k = 0; k < 4; k++) def.orientation[k] = random_signed(&state);
    for (int k = 0; k < 3; k++) def.position[k] = 6 * random_signed(&state);
    if (only == i || only == UINT32_MAX) add(world, &def);
  }
  if (only >= BODIES) must(graze_rigid_add_wall(world, point, up, 0));
  return world;
}

static void make_lines(double (*from)[3], double (*way)[3]) {
  uint64_t state = 77;
  for (int i = 0; i < LINES; i++) {
    choose_way(&state, way[i]);
    for (int k = 0; k < 3; k++) from[i][k] = k < 2 ? 12 * random_signed(&state) : 10;
    for (int k = 0; k < 3 && i % 2; k++) way[i][k] = 4 * random_signed(&state) - from[i][k];
  }
}

/* The first of all is the first of those that each body alone gives, and the same for any number of threads. */
static void test_crowd(void **unused) {
  (void)unused;
  graze_mesh *mesh = make_cube();
  static double from[LINES][3], way[LINES][3];
  static graze_rigid_hit hits[3][LINES], alone[LINES], best[LINES];
  make_lines(from, way);
  const graze_rays rays = {.count = LINES, .from = from[0], .way = way[0]};
  memset(best, 0, sizeof best);
  memset(hits, 0, sizeof hits);
  for (uint32_t only = 0; only <= BODIES; only++) {
    graze_rigid *world = make_crowd(shared_context(1), mesh, only);
    must(graze_rigid_cast_rays(world, &rays, alone));
    for (int i = 0; i < LINES; i++) {
      if (!alone[i].hit || (best[i].hit && best[i].t <= alone[i].t)) continue;
      best[i] = alone[i];
      if (only < BODIES) best[i].member.index = only;
    }
    graze_rigid_destroy(world);
  }
  uint32_t bodies = 0, walls = 0;
  for (int k = 0; k < 3; k++) {
    graze_rigid *world = make_crowd(shared_context(1 << k), mesh, UINT32_MAX);
    must(graze_rigid_cast_rays(world, &rays, hits[k]));
    graze_rigid_destroy(world);
    for (int i = 0; i < LINES; i++) {
      assert_true(hits[k][i].hit == best[i].hit && hits[k][i].t == best[i].t);
      assert_true(hits[k][i].member.kind == best[i].member.kind && hits[k][i].member.index == best[i].member.index);
      assert_memory_equal(hits[k][i].point, best[i].point, sizeof best[i].point);
      assert_memory_equal(hits[k][i].normal, best[i].normal, sizeof best[i].normal);
      bodies += hits[k][i].hit && hits[k][i].member.kind == GRAZE_MEMBER_BODY;
      walls += hits[k][i].hit && hits[k][i].member.kind == GRAZE_MEMBER_WALL;
    }
  }
  assert_true(bodies > LINES / 2 && walls > LINES / 2);
  graze_mesh_destroy(mesh);
}

/* Which part of a compound it was, and what is between the parts is not met. */
static void test_parts(void **unused) {
  (void)unused;
  graze_rigid *world = make_default_world(shared_context(1));
  graze_rigid_part parts[2] = {graze_default_rigid_part(), graze_default_rigid_part()};
  graze_rigid_body_def def = graze_default_rigid_body_def();
  const double from[3][3] = {{-5, 0, 0}, {5, 0, 0}, {0, 0, 5}}, way[3][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 0, -1}};
  graze_rigid_hit hits[3];
  for (int i = 0; i < 2; i++) {
    parts[i].radius = 1;
    parts[i].place[0] = i == 0 ? -2 : 2;
  }
  def.shape = GRAZE_RIGID_COMPOUND;
  def.parts = parts;
  def.part_count = 2;
  def.density = 1;
  add(world, &def);
  const graze_rays rays = {.count = 3, .from = from[0], .way = way[0]};
  must(graze_rigid_cast_rays(world, &rays, hits));
  assert_true(hits[0].hit && hits[0].part == 0 && hits[0].t == 2 && hits[0].normal[0] == -1);
  assert_true(hits[1].hit && hits[1].part == 1 && hits[1].t == 2 && hits[1].point[0] == 3);
  assert_false(hits[2].hit);
  graze_rigid_destroy(world);
}

static void test_errors(void **unused) {
  (void)unused;
  graze_rigid *world = make_default_world(shared_context(1));
  graze_rigid_hit hit;
  double from[3] = {0, 0, 0}, way[3] = {0, 0, 1}, most = -1;
  graze_rays rays = {.count = 1, .from = from, .way = way, .most = &most};
  assert_int_equal(graze_rigid_cast_rays(world, &rays, &hit), GRAZE_ERROR_ARGUMENT);
  assert_non_null(strstr(shared_error()->message, "ray 0: its end"));
  rays.most = NULL;
  way[1] = (double)NAN;
  assert_int_equal(graze_rigid_cast_rays(world, &rays, &hit), GRAZE_ERROR_NOT_FINITE);
  rays.way = NULL;
  assert_int_equal(graze_rigid_cast_rays(world, &rays, &hit), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_rigid_cast_rays(NULL, &rays, &hit), GRAZE_ERROR_ARGUMENT);
  rays.count = 0;
  rays.way = way;
  must(graze_rigid_cast_rays(world, &rays, &hit));
  graze_rigid_destroy(world);
}

static graze_status use_memory(graze_context *context) {
  const graze_rigid_def def = graze_default_rigid_def();
  const graze_rigid_material m = graze_default_rigid_material();
  graze_rigid_body_def body = define(GRAZE_RIGID_SPHERE, NULL);
  const double from[3] = {0, 0, 5}, way[3] = {0, 0, -1};
  const graze_rays rays = {.count = 1, .from = from, .way = way};
  graze_rigid_hit hit;
  graze_rigid *world;
  uint32_t number;
  graze_status status = graze_rigid_create(context, &def, &world);
  if (status != GRAZE_OK) return status;
  status = graze_rigid_add_material(world, &m, &number);
  if (status == GRAZE_OK) status = graze_rigid_add_body(world, &body, &number);
  if (status == GRAZE_OK) status = graze_rigid_cast_rays(world, &rays, &hit);
  graze_rigid_destroy(world);
  return status;
}

static void test_refused_memory(void **unused) {
  (void)unused;
  test_refuse_each(use_memory, 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_places), cmocka_unit_test(test_meshes),
                                     cmocka_unit_test(test_crowd),  cmocka_unit_test(test_parts),
                                     cmocka_unit_test(test_errors), cmocka_unit_test(test_refused_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
