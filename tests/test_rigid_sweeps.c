/* Shapes that are cast through worlds of rigid bodies: against formulas, and against the exact test of the two at many
 * times along the way. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "graze/convex.h"
#include "rigid_worlds.h"

static const double wedge[6][3] = {{-0.5, -0.4, -0.3}, {0.6, -0.4, -0.3}, {-0.5, 0.5, -0.3},
                                   {-0.5, -0.4, 0.5},  {0.6, 0.2, -0.3},  {0.1, 0.1, 0.7}};

static void choose_turn(uint64_t *state, double q[4]) {
  for (int k = 0; k < 4; k++) q[k] = random_signed(state);
  if (q[0] == 0) q[0] = 1;
}

static graze_rigid_shape_cast make_cast(graze_rigid_shape shape, double x, double y, double z) {
  graze_rigid_shape_cast cast = {.shape = graze_default_rigid_part()};
  cast.shape.shape = shape;
  cast.shape.radius = 0.25;
  cast.shape.length = 0.75;
  for (int k = 0; k < 3; k++) cast.shape.edges[k] = 0.3 + 0.2 * k;
  cast.shape.points = wedge[0];
  cast.shape.point_count = 6;
  cast.shape.place[0] = x;
  cast.shape.place[1] = y;
  cast.shape.place[2] = z;
  return cast;
}

/* ---- formulas ---------------------------------------------------------------------------------------------------- */

static graze_rigid_shape_hit cast_one(graze_rigid *world, const graze_rigid_shape_cast *cast) {
  graze_rigid_shape_hit hit;
  must(graze_rigid_cast_shapes(world, 1, cast, &hit));
  assert_true(hit.lower >= 0 && hit.lower <= 1 && hit.lower <= hit.upper);
  return hit;
}

static void assert_bracket(const graze_rigid_shape_hit *hit, double time) {
  assert_true(hit->hit && hit->lower <= time + 1e-14 && hit->upper >= time - 1e-14);
  assert_true(hit->upper - hit->lower < 1e-12);
}

/* A ball against a ball beside its way, a box, a wall, and a mesh. */
static void test_formulas(void **unused) {
  (void)unused;
  graze_mesh *mesh = make_cube();
  uint64_t state = test_seed(1);
  for (int round = 0; round < test_rounds(200, 5000); round++) {
    graze_rigid *world = make_default_world(shared_context(1));
    graze_rigid_body_def def = graze_default_rigid_body_def();
    graze_rigid_shape_cast cast = make_cast(GRAZE_RIGID_SPHERE, -4 - random_unit(&state), 0.3, -0.2);
    const double way = 5 + random_unit(&state), start = cast.shape.place[0];
    def.type = GRAZE_BODY_STATIC;
    cast.way[0] = way;
    if (round % 4 == 0) {
      def.radius = 0.75;
      add(world, &def);
      const double reach = sqrt(1 - 0.3 * 0.3 - 0.2 * 0.2);
      const graze_rigid_shape_hit hit = cast_one(world, &cast);
      assert_bracket(&hit, (-reach - start) / way);
      assert_near(hit.normal[0], -reach, 1e-9);
      assert_near(hit.point[1], 0.75 * 0.3, 1e-9);
    } else if (round % 4 < 3) {
      def.shape = round % 4 == 1 ? GRAZE_RIGID_BOX : GRAZE_RIGID_MESH;
      def.mesh = round % 4 == 1 ? NULL : mesh;
      for (int k = 0; k < 3; k++) def.edges[k] = 2;
      add(world, &def);
      const graze_rigid_shape_hit hit = cast_one(world, &cast);
      assert_bracket(&hit, (-1.25 - start) / way);
      assert_near(hit.normal[0], -1, 1e-9);
      assert_near(hit.point[0], -1, 1e-9);
    } else {
      const double point[3] = {0, 0, -1}, up[3] = {-3, 0, 4};
      must(graze_rigid_add_wall(world, point, up, 0));
      const double height = (-3 * start + 4 * (-0.2 + 1)) / 5 - 0.25, time = height / (1.2 * way);
      cast.way[0] = 2 * way;
      const graze_rigid_shape_hit hit = cast_one(world, &cast);
      assert_true(hit.member.kind == GRAZE_MEMBER_WALL);
      assert_bracket(&hit, time);
      cast.way[0] = -way;
      const graze_rigid_shape_hit none = cast_one(world, &cast);
      assert_true(!none.hit && none.lower == 1 && none.upper == (double)INFINITY);
    }
    graze_rigid_destroy(world);
  }
  graze_mesh_destroy(mesh);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

enum { BODIES = 12, SAMPLES = 400 };

/* The same sets as the world has. */
typedef struct set {
  double points[8][3];
  graze_convex convex;
  graze_pose pose;
} set;

static void make_set(graze_rigid_shape shape, double radius, double length, const double edges[3], set *s) {
  s->convex = (graze_convex){.points = s->points[0], .count = 1};
  memset(s->points, 0, sizeof s->points);
  if (shape == GRAZE_RIGID_SPHERE || shape == GRAZE_RIGID_CAPSULE) s->convex.radius = radius;
  if (shape == GRAZE_RIGID_CAPSULE) {
    s->convex.count = 2;
    s->points[0][2] = -0.5 * length;
    s->points[1][2] = 0.5 * length;
  }
  if (shape == GRAZE_RIGID_BOX) {
    s->convex.count = 8;
    for (int i = 0; i < 8; i++) {
      for (int k = 0; k < 3; k++) s->points[i][k] = 0.5 * edges[k] * cube_corners[i][k];
    }
  }
  if (shape == GRAZE_RIGID_HULL) {
    s->convex.count = 6;
    memcpy(s->points, wedge, sizeof wedge);
  }
}

static bool meet(const set *a, const double way[3], double time, const set *b) {
  graze_pose pose = a->pose;
  graze_convex_result result;
  for (int k = 0; k < 3; k++) pose.m[4 * k + 3] += time * way[k];
  const graze_convex_pair pair = {&a->convex, &b->convex, &pose, &b->pose};
  must(graze_convex_batch(shared_context(1), 1, &pair, GRAZE_T1, GRAZE_CONVEX_MEET, &result));
  return result.hit;
}

static void fill_world(graze_rigid *world, uint64_t *state, set sets[BODIES]) {
  static const graze_rigid_shape shapes[4] = {GRAZE_RIGID_SPHERE, GRAZE_RIGID_BOX, GRAZE_RIGID_CAPSULE,
                                              GRAZE_RIGID_HULL};
  for (int i = 0; i < BODIES; i++) {
    graze_rigid_body_def def = graze_default_rigid_body_def();
    def.type = GRAZE_BODY_STATIC;
    def.shape = shapes[i % 4];
    def.radius = 0.2 + 0.3 * random_unit(state);
    def.length = random_unit(state);
    for (int k = 0; k < 3; k++) {
      def.edges[k] = 0.2 + random_unit(state);
      def.position[k] = 2.5 * random_signed(state);
    }
    def.points = wedge[0];
    def.point_count = 6;
    choose_turn(state, def.orientation);
    const uint32_t number = add(world, &def);
    const graze_rigid_body_def now = get(world, number);
    make_set(def.shape, def.radius, def.length, def.edges, &sets[i]);
    if (now.shape == GRAZE_RIGID_HULL) { /* about its centre */
      sets[i].convex.points = now.points;
      sets[i].convex.count = now.point_count;
    }
    sets[i].pose = graze_pose_from_quaternion(now.orientation, now.position);
  }
}

static void check_cast(const graze_rigid_shape_cast *cast, const graze_rigid_shape_hit *hit, const set sets[BODIES],
                       int *hits) {
  set a;
  double q[4], length = 0;
  for (int k = 0; k < 4; k++) length += cast->shape.orientation[k] * cast->shape.orientation[k];
  for (int k = 0; k < 4; k++) q[k] = cast->shape.orientation[k] / sqrt(length);
  make_set(cast->shape.shape, cast->shape.radius, cast->shape.length, cast->shape.edges, &a);
  a.pose = graze_pose_from_quaternion(q, cast->shape.place);
  for (int b = 0; b < BODIES; b++) {
    for (int i = 0; i <= SAMPLES; i++) {
      const double time = (double)i / SAMPLES;
      if (time < hit->lower - 1e-13) assert_false(meet(&a, cast->way, time, &sets[b]));
    }
    if (hit->lower > 0) assert_false(meet(&a, cast->way, hit->lower * (1 - 1e-13), &sets[b]));
    if (!hit->hit && hit->lower == 1) assert_false(meet(&a, cast->way, 1 - 1e-13, &sets[b]));
  }
  if (!hit->hit) return;
  assert_true(meet(&a, cast->way, hit->upper, &sets[hit->member.index]));
  assert_near(hit->upper, hit->lower, 1e-6);
  *hits += 1;
  if (hit->upper == 0) return;
  const double *n = hit->normal;
  assert_near(n[0] * n[0] + n[1] * n[1] + n[2] * n[2], 1, 1e-9);
  assert_true(n[0] * cast->way[0] + n[1] * cast->way[1] + n[2] * cast->way[2] < 1e-6);
}

static void test_samples(void **unused) {
  (void)unused;
  enum { CASTS = 12 };
  static const graze_rigid_shape shapes[4] = {GRAZE_RIGID_SPHERE, GRAZE_RIGID_BOX, GRAZE_RIGID_CAPSULE,
                                              GRAZE_RIGID_HULL};
  uint64_t state = test_seed(2);
  int hits = 0, all = 0, unknown = 0;
  for (int round = 0; round < test_rounds(6, 200); round++) {
    graze_rigid *world = make_default_world(shared_context(round % 2 ? 4 : 1));
    set sets[BODIES];
    graze_rigid_shape_cast casts[CASTS];
    graze_rigid_shape_hit found[CASTS], again;
    fill_world(world, &state, sets);
    for (int i = 0; i < CASTS; i++) {
      casts[i] = make_cast(shapes[i % 4], 4 * random_signed(&state), 4 * random_signed(&state), -4);
      for (int k = 0; k < 3; k++) casts[i].way[k] = (k < 2 ? -1 : -2) * casts[i].shape.place[k] + random_signed(&state);
      choose_turn(&state, casts[i].shape.orientation);
    }
    must(graze_rigid_cast_shapes(world, CASTS, casts, found));
    for (int i = 0; i < CASTS; i++) {
      check_cast(&casts[i], &found[i], sets, &hits);
      all++;
      unknown += !found[i].hit && found[i].lower < 1;
      must(graze_rigid_cast_shapes(world, 1, &casts[i], &again)); /* alone as among others */
      assert_true(again.hit == found[i].hit && again.lower == found[i].lower && again.upper == found[i].upper);
      assert_true(again.member.index == found[i].member.index);
    }
    graze_rigid_destroy(world);
  }
  assert_true(hits > all / 4 && hits < all && unknown * 100 <= all);
}

/* ---- others ------------------------------------------------------------------------------------------------------ */

/* A compound is its parts; a cylinder is round; sensors are passed over; what starts inside meets at once. */
static void test_others(void **unused) {
  (void)unused;
  graze_rigid *world = make_default_world(shared_context(1));
  graze_rigid_part parts[2] = {graze_default_rigid_part(), graze_default_rigid_part()};
  graze_rigid_body_def def = graze_default_rigid_body_def();
  for (int k = 0; k < 2; k++) {
    parts[k].radius = 0.5;
    parts[k].place[2] = 2 * k;
  }
  def.type = GRAZE_BODY_STATIC;
  def.shape = GRAZE_RIGID_COMPOUND;
  def.parts = parts;
  def.part_count = 2;
  def.density = 1;
  def.position[2] = 1;
  add(world, &def);
  def = graze_default_rigid_body_def();
  def.type = GRAZE_BODY_STATIC;
  def.shape = GRAZE_RIGID_CYLINDER;
  def.radius = 1;
  def.length = 2;
  def.position[0] = 10;
  add(world, &def);
  def.shape = GRAZE_RIGID_BOX;
  def.sensor = true;
  for (int k = 0; k < 3; k++) def.edges[k] = 30;
  add(world, &def);
  graze_rigid_shape_cast casts[4] = {make_cast(GRAZE_RIGID_SPHERE, -4, 0, 2), make_cast(GRAZE_RIGID_SPHERE, 6, 0, 0),
                                     make_cast(GRAZE_RIGID_SPHERE, 0, 0.25, 0),
                                     make_cast(GRAZE_RIGID_SPHERE, -4, 0, 1)};
  graze_rigid_shape_hit hits[4];
  for (int i = 0; i < 4; i++) casts[i].way[0] = i == 3 ? 5 : 4;
  must(graze_rigid_cast_shapes(world, 4, casts, hits));
  assert_true(hits[0].member.index == 0 && hits[0].part == 1);
  assert_bracket(&hits[0], 3.25 / 4);
  assert_true(hits[1].hit && hits[1].member.index == 1);
  assert_true(hits[1].lower <= 2.75 / 4 && hits[1].upper >= 2.75 / 4 && hits[1].upper - hits[1].lower < 3e-4);
  assert_true(hits[2].hit && hits[2].lower == 0 && hits[2].upper == 0 && hits[2].part == 0);
  assert_true(!hits[3].hit && hits[3].lower == 1); /* between the two parts */
  graze_rigid_destroy(world);
}

static void refuse(graze_rigid *world, const graze_rigid_shape_cast *cast, graze_status status, const char *words) {
  graze_rigid_shape_hit hit;
  assert_int_equal(graze_rigid_cast_shapes(world, 1, cast, &hit), status);
  assert_non_null(strstr(shared_error()->message, words));
}

static void test_errors(void **unused) {
  (void)unused;
  graze_rigid *world = make_default_world(shared_context(1));
  graze_rigid_shape_cast cast = make_cast(GRAZE_RIGID_CYLINDER, 0, 0, 0);
  graze_rigid_shape_hit hit;
  refuse(world, &cast, GRAZE_ERROR_UNSUPPORTED, "cast 0: a cylinder");
  cast = make_cast(GRAZE_RIGID_SPHERE, 0, 0, 0);
  cast.way[1] = (double)NAN;
  refuse(world, &cast, GRAZE_ERROR_NOT_FINITE, "cast 0: way y");
  cast.way[1] = 0;
  cast.shape.radius = -1;
  refuse(world, &cast, GRAZE_ERROR_ARGUMENT, "radius");
  cast.shape = (graze_rigid_part){.radius = 1};
  refuse(world, &cast, GRAZE_ERROR_ARGUMENT, "cast 0");
  assert_int_equal(graze_rigid_cast_shapes(world, 1, NULL, &hit), GRAZE_ERROR_ARGUMENT);
  assert_int_equal(graze_rigid_cast_shapes(NULL, 0, NULL, NULL), GRAZE_ERROR_ARGUMENT);
  must(graze_rigid_cast_shapes(world, 0, NULL, NULL));
  assert_int_equal(graze_rigid_cast_shapes(world, UINT32_MAX, &cast, &hit), GRAZE_ERROR_LIMIT);
  assert_string_equal(shared_error()->message, "2^32 - 1 casts or more");
  graze_rigid_destroy(world);
}

static graze_status use_memory(graze_context *context) {
  const graze_rigid_def def = graze_default_rigid_def();
  const graze_rigid_material m = graze_default_rigid_material();
  graze_rigid_body_def body = graze_default_rigid_body_def();
  graze_rigid_shape_cast cast = make_cast(GRAZE_RIGID_BOX, -3, 0, 0);
  graze_rigid_shape_hit hit;
  graze_rigid *world;
  uint32_t number;
  cast.way[0] = 5;
  body.radius = 1;
  body.length = 1;
  body.shape = GRAZE_RIGID_CYLINDER;
  body.density = 1;
  graze_status status = graze_rigid_create(context, &def, &world);
  if (status != GRAZE_OK) return status;
  status = graze_rigid_add_material(world, &m, &number);
  if (status == GRAZE_OK) status = graze_rigid_add_body(world, &body, &number);
  if (status == GRAZE_OK) status = graze_rigid_cast_shapes(world, 1, &cast, &hit);
  graze_rigid_destroy(world);
  return status;
}

static void test_refused_memory(void **unused) {
  (void)unused;
  test_refuse_each(use_memory, 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_formulas), cmocka_unit_test(test_samples),
                                     cmocka_unit_test(test_others), cmocka_unit_test(test_errors),
                                     cmocka_unit_test(test_refused_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
