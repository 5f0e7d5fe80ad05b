/* Balls against meshes: contacts against the places where the distance to a closed mesh is least, and motion on meshes
 * against motion on walls. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dynamics/world.h"
#include "families.h"
#include "narrow/near.h"
#include "support.h"
#include "worlds.h"

typedef long double real;

static real real_dot(const real a[3], const real b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* ---- where a ball touches ---------------------------------------------------------------------------------------- */

/* A world of one ball of radius 1 and a mesh. */
typedef struct lone_ball {
  graze_world *world;
  graze_mesh *mesh;
} lone_ball;

static lone_ball begin_ball(const double *corners, uint32_t triangles, double radius) {
  graze_world_def def = graze_default_world_def();
  graze_body_def body = graze_default_body_def();
  const graze_material m = hooke(1000);
  const double far[3] = {1000, 0, 0};
  graze_body_id id;
  lone_ball b = {.mesh = test_mesh(shared_context(1), corners, triangles, GRAZE_VOLUMES_ORIENTED)};
  def.gravity[2] = 0;
  assert_int_equal(graze_world_create(shared_context(1), &def, &b.world), GRAZE_OK);
  add_material(b.world, &m);
  add_balls(b.world, 1, far, NULL, NULL, radius, 1, 0);
  body.type = GRAZE_BODY_STATIC;
  body.mesh = b.mesh;
  assert_int_equal(graze_world_add_body(b.world, &body, &id), GRAZE_OK);
  return b;
}

static void end_ball(lone_ball *b) {
  graze_world_destroy(b->world);
  graze_mesh_destroy(b->mesh);
}

static uint64_t contacts_at(const lone_ball *b, const double p[3], const graze_contact **contacts) {
  uint64_t count;
  const graze_particle_state state = {.positions = (double *)(size_t)p};
  assert_int_equal(graze_world_set_particles(b->world, 0, &state), GRAZE_OK);
  assert_int_equal(graze_world_find_contacts(b->world, contacts, &count), GRAZE_OK);
  for (uint64_t i = 0; i < count; i++) {
    assert_int_equal((*contacts)[i].a.kind, GRAZE_MEMBER_PARTICLE);
    assert_int_equal((*contacts)[i].b.kind, GRAZE_MEMBER_BODY);
  }
  return count;
}

/* The places of a closed mesh without edges that end within others where the distance to p is least, by what each
 * corner, edge and triangle adjoins, or -1 where that is a matter of rounding. */
static int least_places(const double *corners, uint32_t triangles, const double p[3], real radius, real places[][3]) {
  const real doubt = 1e-9L;
  int count = 0;
  for (uint32_t t = 0; t < triangles; t++) {
    real inward[3];
    bool inside = true;
    for (int e = 0; e < 3; e++) { /* barycentric coordinates, by areas */
      const double *a = corners + 9 * t + 3 * e, *b = corners + 9 * t + 3 * ((e + 1) % 3),
                   *c = corners + 9 * t + 3 * ((e + 2) % 3);
      real u[3], v[3], w[3];
      for (int k = 0; k < 3; k++) u[k] = (real)b[k] - a[k], v[k] = (real)c[k] - a[k], w[k] = (real)p[k] - a[k];
      const real uu = real_dot(u, u), along = real_dot(u, w) / uu;
      /* of p, towards c from the edge */
      inward[e] = (real_dot(v, w) - real_dot(u, v) * along);
      if (fabsl(inward[e]) < doubt || fabsl(along) < doubt || fabsl(along - 1) < doubt) return -1;
      inside &= inward[e] > 0;
      bool least = along > 0 && along < 1, corner = true;
      real q[3];
      for (int k = 0; k < 3; k++) q[k] = a[k] + along * u[k];
      /* Other triangles with the edge a-b or the corner a. The first that has it tells of it. */
      for (uint32_t o = 0; o < triangles && (least || corner); o++) {
        bool has_a = false, has_b = false;
        const double *third = NULL;
        for (int i = 0; i < 3; i++) {
          const double *x = corners + 9 * o + 3 * i;
          if (memcmp(x, a, 3 * sizeof *x) == 0)
            has_a = true;
          else if (memcmp(x, b, 3 * sizeof *x) == 0)
            has_b = true;
          else
            third = x;
        }
        if (has_a) {
          for (int i = 0; i < 3; i++) {
            const double *x = corners + 9 * o + 3 * i;
            real d[3];
            for (int k = 0; k < 3; k++) d[k] = (real)x[k] - a[k];
            const real down = real_dot(d, w);
            if (memcmp(x, a, 3 * sizeof *x) != 0 && fabsl(down) < doubt) return -1;
            corner &= !(down > 0);
          }
          if (o < t) corner = false;
        }
        if (!(has_a && has_b) || third == NULL) continue;
        real d[3], away[3];
        for (int k = 0; k < 3; k++) d[k] = (real)third[k] - q[k], away[k] = (real)p[k] - q[k];
        least &= !(real_dot(d, away) > 0);
        if (o < t) least = false;
      }
      const real reach2 = radius * radius;
      for (int what = 0; what < 2; what++) {
        if (what == 0 ? !least : !corner) continue;
        real from[3];
        for (int k = 0; k < 3; k++) from[k] = (real)p[k] - (what == 0 ? q[k] : (real)a[k]);
        if (fabsl(real_dot(from, from) - reach2) < doubt) return -1;
        if (real_dot(from, from) > reach2) continue;
        for (int k = 0; k < 3; k++) places[count][k] = what == 0 ? q[k] : (real)a[k];
        count++;
      }
    }
    if (!inside) continue;
    const double *a = corners + 9 * t;
    real u[3], v[3], n[3], w[3];
    for (int k = 0; k < 3; k++) u[k] = (real)a[3 + k] - a[k], v[k] = (real)a[6 + k] - a[k], w[k] = (real)p[k] - a[k];
    for (int k = 0; k < 3; k++) n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    const real height = real_dot(n, w) / real_dot(n, n), length = fabsl(height) * sqrtl(real_dot(n, n));
    if (fabsl(length - radius) < doubt) return -1;
    if (length > radius) continue;
    for (int k = 0; k < 3; k++) places[count][k] = p[k] - height * n[k];
    count++;
  }
  return count;
}

/* How many of the random places have a contact. */
static int check_places(const double *corners, uint32_t triangles, double radius, uint64_t *state, int rounds,
                        double reach) {
  enum { MOST = 512 };
  static real places[MOST][3];
  lone_ball b = begin_ball(corners, triangles, radius);
  int judged = 0, met = 0;
  for (int round = 0; round < rounds; round++) {
    const graze_contact *contacts;
    double p[3];
    for (int k = 0; k < 3; k++) p[k] = reach * random_signed(state);
    const int want = least_places(corners, triangles, p, radius, places);
    if (want < 0) continue;
    const uint64_t got = contacts_at(&b, p, &contacts);
    if (got != (uint64_t)want) print_error("at %.17g %.17g %.17g\n", p[0], p[1], p[2]);
    assert_int_equal(got, want);
    judged++;
    met += want > 0;
    for (uint64_t i = 0; i < got; i++) {
      real least = INFINITY;
      for (int j = 0; j < want; j++) {
        real d2 = 0;
        for (int k = 0; k < 3; k++) {
          const real place = p[k] - (radius - contacts[i].overlap) * contacts[i].normal[k] - places[j][k];
          d2 += place * place;
        }
        if (d2 < least) least = d2;
      }
      assert_true(least < 1e-20L);
    }
  }
  assert_true(judged > rounds / 2);
  end_ball(&b);
  return met;
}

/* Turns and stretches corners, the same for equal ones. */
static void turn_corners(uint64_t *state, double *corners, uint32_t triangles, bool stretch) {
  const graze_pose pose = test_random_pose(state, 0.125);
  const double sizes[3] = {1, stretch ? 0.3 : 1, stretch ? 1.7 : 1};
  for (uint32_t i = 0; i < 3 * triangles; i++) {
    double x[3], *c = corners + 3 * (size_t)i;
    for (int k = 0; k < 3; k++) x[k] = sizes[k] * c[k];
    for (int k = 0; k < 3; k++)
      c[k] = pose.m[4 * k] * x[0] + pose.m[4 * k + 1] * x[1] + pose.m[4 * k + 2] * x[2] + pose.m[4 * k + 3];
  }
}

/* Boxes, round bodies, and a box with another pressed into it, of which it is made without an inside: edges of four. */
static void test_places_of_least_distance(void **unused) {
  (void)unused;
  uint64_t state = test_seed(3);
  static double corners[9 * 400];
  const double min[3] = {-1, -1, -1}, max[3] = {1, 1, 1};
  const double second[3] = {1, 1, 1}, third[3] = {2, 2, 2};
  const int rounds = test_rounds(6, 200);
  int met = 0;
  for (int round = 0; round < rounds; round++) {
    const double radius = 0.2 + random_unit(&state);
    soup_box(min, max, corners);
    turn_corners(&state, corners, 12, round % 2 != 0);
    met += check_places(corners, 12, radius, &state, 400, 3);
    const uint32_t level = 1 + random_below(&state, 5), count = soup_ball(level, 1, corners);
    turn_corners(&state, corners, count, round % 2 != 0);
    met += check_places(corners, count, radius, &state, 200, 2.5);
    soup_box(min, max, corners);
    soup_box(second, third, corners + 108); /* at a corner */
    turn_corners(&state, corners, 24, false);
    met += check_places(corners, 24, radius, &state, 200, 3);
  }
  assert_true(met > 10 * rounds);
}

/* ---- floors ------------------------------------------------------------------------------------------------------ */

/* Floors at z = 0 from -8 to 8: of two triangles, of a grid, of a grid with a side of other triangles than its
 * neighbours', with doubled sheets, or of strips whose edges end within others. */
typedef enum floor_kind { FLOOR_TWO, FLOOR_GRID, FLOOR_DOUBLED, FLOOR_STRIPS, FLOOR_FAN, FLOOR_KINDS } floor_kind;

static void put_corner(double **at, double x, double y) {
  const double corner[3] = {x, y, 0};
  memcpy(*at, corner, sizeof corner);
  *at += 3;
}

static void put_cell(double **at, double x, double y, double width, double height) {
  put_corner(at, x, y), put_corner(at, x + width, y), put_corner(at, x + width, y + height);
  put_corner(at, x, y), put_corner(at, x + width, y + height), put_corner(at, x, y + height);
}

static uint32_t make_floor(floor_kind kind, double *corners) {
  double *at = corners;
  if (kind == FLOOR_TWO) put_cell(&at, -8, -8, 16, 16);
  for (int i = -8; i < 8; i++) {
    for (int j = -8; j < 8; j++) {
      if (kind == FLOOR_GRID || kind == FLOOR_DOUBLED) put_cell(&at, i, j, 1, 1);
      if (kind == FLOOR_DOUBLED) put_cell(&at, i, j, 1, 1);
    }
    if (kind == FLOOR_STRIPS) {
      const int strips = 1 + (i + 8) % 5;
      for (int j = 0; j < strips; j++) put_cell(&at, i, -8 + 16.0 * j / strips, 1, 16.0 / strips);
    }
    if (kind == FLOOR_FAN) { /* around the origin */
      put_corner(&at, 0, 0), put_corner(&at, i, -8), put_corner(&at, i + 1, -8);
      put_corner(&at, 0, 0), put_corner(&at, 8, i), put_corner(&at, 8, i + 1);
      put_corner(&at, 0, 0), put_corner(&at, -i, 8), put_corner(&at, -i - 1, 8);
      put_corner(&at, 0, 0), put_corner(&at, -8, -i), put_corner(&at, -8, -i - 1);
    }
  }
  return (uint32_t)((at - corners) / 9);
}

enum { FLOOR_MOST = 1024 };

/* A single contact, everywhere, straight up: over corners and edges too. */
static void test_one_contact_on_a_floor(void **unused) {
  (void)unused;
  uint64_t state = test_seed(4);
  double *corners = calloc(9 * FLOOR_MOST, sizeof *corners);
  for (floor_kind kind = 0; kind < FLOOR_KINDS; kind++) {
    lone_ball b = begin_ball(corners, make_floor(kind, corners), 1);
    for (int i = 0; i < 600; i++) {
      const graze_contact *contacts;
      const bool lattice = i % 2 != 0;
      double p[3] = {0, 0, i % 5 == 0 ? 1 : i % 5 == 1 ? -0.5 : 0.25 + 0.7 * random_unit(&state)};
      for (int k = 0; k < 2; k++) p[k] = lattice ? (double)random_below(&state, 25) / 2 - 6 : 6 * random_signed(&state);
      if (i % 7 == 0) p[1] = p[0]; /* on a diagonal */
      assert_int_equal(contacts_at(&b, p, &contacts), 1);
      assert_near(contacts->normal[2], p[2] > 0 ? 1 : -1, 0);
      assert_near(contacts->overlap, 1 - fabs(p[2]), 0);
    }
    end_ball(&b);
  }
  free(corners);
}

/* Inside a cube a ball touches as many faces as there are near it; outside, an edge or a corner once. */
static void test_corners_of_a_box(void **unused) {
  (void)unused;
  const double min[3] = {-4, -4, -4}, max[3] = {4, 4, 4};
  const graze_contact *contacts;
  double corners[108];
  soup_box(min, max, corners);
  lone_ball b = begin_ball(corners, 12, 1);
  const struct {
    double p[3];
    uint64_t count;
  } cases[] = {{{0, 0, 3.5}, 1},     {{0, 3.5, 3.25}, 2},   {{3.5, 3.25, 3.125}, 3}, {{0, 4.5, 4.5}, 1},
               {{4.5, 4.5, 4.5}, 1}, {{0, 0, 5}, 1},        {{0, 4.6, 4.8}, 1},      {{4.8, 4.8, 4.8}, 0},
               {{4, 4, 4.5}, 1},     {{4, 4, 4}, 1},        {{0, 0, 5.0000001}, 0},  {{0, 0, 0}, 0},
               {{3, 3, 3}, 3},       {{-3.5, 3.5, 3.5}, 3}, {{2, 2, 3}, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_int_equal(contacts_at(&b, cases[i].p, &contacts), cases[i].count);
  const double beside[3] = {0, 4.5, 4.5};
  assert_int_equal(contacts_at(&b, beside, &contacts), 1);
  assert_near(contacts->normal[1], sqrt(0.5), 1e-15);
  assert_near(contacts->normal[2], sqrt(0.5), 1e-15);
  end_ball(&b);
}

/* ---- motion ------------------------------------------------------------------------------------------------------ */

enum { FEW = 60 };

/* A heap on a wall (kind FLOOR_KINDS) or a floor, that stands still or moves in its plane. `around`: over a corner of a
 * periodic box of which the floor is the bottom. */
static void run_on_floor(floor_kind kind, graze_tangential_law across, double speed, bool around, double *x,
                         double *v) {
  graze_world_def def = graze_default_world_def();
  graze_material m = hooke(1e5), belt = m;
  graze_body_def body = graze_default_body_def();
  double *corners = calloc(9 * FLOOR_MOST, sizeof *corners), start[3 * FEW], moving[3 * FEW];
  const double point[3] = {0, 0, 0}, up[3] = {0, 0, 1};
  graze_world *world = NULL;
  graze_mesh *mesh = NULL;
  graze_body_id id;
  uint64_t state = 11;
  for (int i = 0; i < FEW; i++) {
    for (int k = 0; k < 3; k++) {
      start[3 * i + k] = (k == 2 ? 0.5 : 0.625) +
                         1.25 * (k == 0   ? i % 5
                                 : k == 1 ? i / 5 % 4
                                          : i / 20) -
                         (k == 2   ? 0
                          : around ? 8.25
                                   : 3);
      moving[3 * i + k] = random_signed(&state);
    }
  }
  for (int k = 0; k < 3 && around; k++) {
    def.bounds.min[k] = -8;
    def.bounds.max[k] = 8;
    def.periodic[k] = k < 2;
  }
  m.restitution = 0.5;
  m.friction = 0.5;
  m.tangential = across;
  belt = m;
  assert_int_equal(graze_world_create(shared_context(1), &def, &world), GRAZE_OK);
  add_material(world, &m);
  if (kind == FLOOR_KINDS) belt.surface_speed[0] = speed;
  const uint32_t other = add_material(world, &belt);
  add_balls(world, FEW, start, moving, NULL, 0.5, 1, 0);
  if (kind == FLOOR_KINDS) {
    assert_int_equal(graze_world_add_wall(world, point, up, other), GRAZE_OK);
  } else {
    mesh = test_mesh(shared_context(1), corners, make_floor(kind, corners), GRAZE_VOLUMES_ORIENTED);
    body.type = speed != 0 ? GRAZE_BODY_KINEMATIC : GRAZE_BODY_STATIC;
    body.material = other;
    body.mesh = mesh;
    body.velocity[0] = speed;
    assert_int_equal(graze_world_add_body(world, &body, &id), GRAZE_OK);
  }
  run_world(world, 1e-4, 4000);
  const graze_particle_state out = {x, v, NULL};
  assert_int_equal(graze_world_get_particles(world, 0, &out), GRAZE_OK);
  graze_world_destroy(world);
  if (mesh != NULL) graze_mesh_destroy(mesh);
  free(corners);
}

/* Balls do not notice that a floor is made of triangles, or that it ends where its image begins, and a floor that is
 * drawn along is a belt. */
static void test_floors_are_walls(void **unused) {
  (void)unused;
  const graze_tangential_law least = test_thinned() ? GRAZE_TANGENTIAL_SPRING : GRAZE_TANGENTIAL_DASHPOT;
  for (graze_tangential_law across = least; across <= GRAZE_TANGENTIAL_SPRING; across++) {
    for (int what = test_thinned() ? 1 : 0; what < 3; what++) { /* still, moving, moving around */
      const bool around = what == 2;
      double x[2][3 * FEW], v[2][3 * FEW];
      run_on_floor(FLOOR_KINDS, across, what != 0, around, x[0], v[0]);
      for (floor_kind kind = 0; kind < FLOOR_KINDS; kind++) {
        run_on_floor(kind, across, what != 0, around, x[1], v[1]);
        for (int i = 0; i < 3 * FEW; i++) {
          assert_near(x[1][i], x[0][i], 1e-9);
          assert_near(v[1][i], v[0][i], 1e-7);
        }
      }
    }
  }
}

/* One ball of radius 0.5 and mass 1, and a box that moves. */
static graze_world *ball_and_box(const graze_material *m, const double at[3], const double velocity[3],
                                 const graze_mesh *mesh, graze_body_def *body) {
  graze_world_def def = graze_default_world_def();
  graze_world *world = NULL;
  graze_body_id id;
  def.gravity[2] = 0;
  def.events = true;
  assert_int_equal(graze_world_create(shared_context(1), &def, &world), GRAZE_OK);
  add_material(world, m);
  add_balls(world, 1, at, velocity, NULL, 0.5, 1, 0);
  body->type = GRAZE_BODY_KINEMATIC;
  body->mesh = mesh;
  assert_int_equal(graze_world_add_body(world, body, &id), GRAZE_OK);
  return world;
}

/* A bat that comes at speed 2 sends a ball that rests off at 4, by a face, by an edge and by a corner, and says so. */
static void test_bats(void **unused) {
  (void)unused;
  static const double places[3][3] = {{0.25, 0.125, 1.6}, {1.4, 0, 1.4}, {1.3, 1.3, 1.3}};
  const double min[3] = {-1, -1, -1}, max[3] = {1, 1, 1}, still[3] = {0};
  const graze_material m = hooke(1e5);
  double corners[108];
  soup_box(min, max, corners);
  graze_mesh *mesh = test_mesh(shared_context(1), corners, 12, GRAZE_VOLUMES_ALIGNED);
  for (int i = 0; i < 3; i++) {
    graze_body_def body = graze_default_body_def();
    graze_particle_state out = {0};
    double v[3], n[3] = {i > 0, i > 1, 1}, length = sqrt(1.0 + i);
    for (int k = 0; k < 3; k++) body.velocity[k] = 2 * n[k] / length;
    graze_world *world = ball_and_box(&m, places[i], still, mesh, &body);
    run_world(world, 1e-5, 30000);
    out.velocities = v;
    assert_int_equal(graze_world_get_particles(world, 0, &out), GRAZE_OK);
    for (int k = 0; k < 3; k++) assert_near(v[k], 4 * n[k] / length, 1e-4);
    const graze_contact_event *events;
    uint64_t count;
    assert_int_equal(graze_world_get_events(world, &events, &count), GRAZE_OK);
    assert_int_equal(count, 3);
    for (uint64_t j = 0; j < 3; j++) {
      assert_int_equal(events[j].kind, j);
      assert_int_equal(events[j].b.kind, GRAZE_MEMBER_BODY);
      for (int k = 0; k < 3; k++) assert_near(events[j].normal[k], n[k] / length, 1e-9);
    }
    assert_near(events[0].speed, 2, 1e-9);
    assert_near(events[2].speed, 2, 1e-4);
    assert_near(events[2].impulse, 4, 1e-4);
    graze_world_destroy(world);
  }
  graze_mesh_destroy(mesh);
}

/* A closed mesh turns about the centre of its volume, wherever its origin is; an open one about its origin. */
static void test_centers(void **unused) {
  (void)unused;
  const double min[3] = {10, 20, 30}, max[3] = {12, 22, 34}, still[3] = {0}, far[3] = {100, 0, 0};
  const graze_material m = hooke(1e3);
  double corners[108];
  soup_box(min, max, corners);
  for (int open = 0; open < 2; open++) {
    graze_mesh *mesh = test_mesh(shared_context(1), corners, open ? 11 : 12, GRAZE_VOLUMES_ALIGNED);
    graze_body_def body = graze_default_body_def(), after;
    body.position[0] = 1;
    body.velocity[2] = 0.5;
    body.spin[2] = acos(-1); /* half a turn in a second */
    graze_world *world = ball_and_box(&m, far, still, mesh, &body);
    run_world(world, 1e-3, 1000);
    assert_int_equal(graze_world_get_body(world, (graze_body_id){0, 1}, &after), GRAZE_OK);
    assert_ptr_equal(after.mesh, mesh);
    const double center[3] = {open ? 1 : 12, open ? 0 : 21, open ? 0.5 : 32.5};
    const double origin[3] = {open ? 1 : 23, open ? 0 : 42, 0.5};
    for (int k = 0; k < 3; k++) {
      assert_near(after.center[k], center[k], 1e-9);
      assert_near(after.position[k], origin[k], 1e-3);
    }
    graze_world_destroy(world);
    graze_mesh_destroy(mesh);
  }
}

/* A ball that rolls down into a groove of two planes at right angles comes to rest on both, and its contacts keep their
 * springs. */
static void test_groove(void **unused) {
  (void)unused;
  const double corners[36] = {-5, -5, 5, -5, 5, 5, 0, -5, 0, 0, -5, 0, -5, 5, 5, 0, 5, 0,
                              0,  -5, 0, 0,  5, 0, 5, -5, 5, 5, -5, 5, 0,  5, 0, 5, 5, 5};
  const double at[3] = {1.5, 0.3, 2.5};
  graze_material m = hooke(1e4);
  graze_world_def def = graze_default_world_def();
  graze_body_def body = graze_default_body_def();
  graze_particle_state out = {0};
  graze_world_sums sums;
  graze_world *world = NULL;
  graze_body_id id;
  double x[3];
  m.restitution = 0.3;
  m.friction = 0.4;
  m.tangential = GRAZE_TANGENTIAL_SPRING;
  graze_mesh *mesh = test_mesh(shared_context(1), corners, 4, GRAZE_VOLUMES_ALIGNED);
  assert_int_equal(graze_world_create(shared_context(1), &def, &world), GRAZE_OK);
  add_material(world, &m);
  add_balls(world, 1, at, NULL, NULL, 0.5, 1, 0);
  body.type = GRAZE_BODY_STATIC;
  body.mesh = mesh;
  assert_int_equal(graze_world_add_body(world, &body, &id), GRAZE_OK);
  run_world(world, 2e-4, 60000);
  out.positions = x;
  assert_int_equal(graze_world_get_particles(world, 0, &out), GRAZE_OK);
  assert_int_equal(graze_world_get_sums(world, &sums), GRAZE_OK);
  assert_int_equal(sums.contacts, 2);
  assert_true(sums.kinetic < 1e-9);
  assert_near(x[0], 0, 2e-3);
  assert_near(x[1], 0.3, 2e-3);
  assert_near(x[2], sqrt(0.5) - 9.81 / 1e4, 1e-3);
  graze_world_destroy(world);
  graze_mesh_destroy(mesh);
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

enum { MANY = 1500, CLUTTER = 300 };

/* Balls among clutter, whose list has been made. */
static graze_world *list_world(int threads, const graze_mesh *mesh, bool periodic) {
  graze_world_def def = graze_default_world_def();
  graze_body_def body = graze_default_body_def();
  const graze_material m = hooke(1000);
  double *x = calloc(3 * MANY, sizeof *x);
  graze_world *world = NULL;
  graze_world_sums sums;
  graze_body_id id;
  uint64_t state = 7;
  for (int k = 0; k < 3; k++) {
    def.bounds.max[k] = 1;
    def.bounds.min[k] = 0;
    def.periodic[k] = periodic;
  }
  for (int i = 0; i < 3 * MANY; i++) x[i] = random_unit(&state);
  assert_int_equal(graze_world_create(shared_context(threads), &def, &world), GRAZE_OK);
  add_material(world, &m);
  add_balls(world, MANY, x, NULL, NULL, 0.03, 1, 0);
  body.type = GRAZE_BODY_STATIC;
  body.mesh = mesh;
  for (int i = 0; i < 2; i++) {
    body.position[1] = 0.25 * i;
    assert_int_equal(graze_world_add_body(world, &body, &id), GRAZE_OK);
  }
  assert_int_equal(graze_world_get_sums(world, &sums), GRAZE_OK);
  free(x);
  return world;
}

static bool is_listed(const graze_world *world, uint32_t place, uint32_t surface, uint32_t triangle) {
  const uint64_t at = gz_list_find_surface(&world->list, place, surface);
  if (at == UINT64_MAX) return false;
  const surface_entry *e = &world->list.surfaces[at];
  for (uint32_t i = 0; i < e->count; i++) {
    if (world->list.facets[e->first + i] == triangle) return true;
  }
  return false;
}

/* Every triangle within the skin, and no other; the same in the same order for any number of threads. */
static void test_list_on_threads(void **unused) {
  (void)unused;
  double *corners = calloc(9 * CLUTTER, sizeof *corners);
  uint64_t state = 3;
  soup_cluttered(&state, CLUTTER, 0.2, corners);
  graze_mesh *mesh = test_mesh(shared_context(1), corners, CLUTTER, GRAZE_VOLUMES_ORIENTED);
  for (int periodic = 0; periodic < 2; periodic++) {
    graze_world *const one = list_world(1, mesh, periodic != 0);
    const neighbour_list *list = &one->list;
    uint64_t near = 0;
    for (int threads = 2; threads <= 4; threads += 2) {
      graze_world *const many = list_world(threads, mesh, periodic != 0);
      assert_int_equal(many->list.surface_count, list->surface_count);
      assert_int_equal(many->list.facet_count, list->facet_count);
      assert_int_equal(many->list.most_facets, list->most_facets);
      assert_memory_equal(many->list.surfaces, list->surfaces, list->surface_count * sizeof(surface_entry));
      assert_memory_equal(many->list.facets, list->facets, list->facet_count * sizeof(uint32_t));
      graze_world_destroy(many);
    }
    for (uint32_t p = 0; p < MANY && periodic == 0; p++) {
      for (uint32_t i = 0; i < 2; i++) {
        const double *x = one->now[p].position, at[3] = {x[0], x[1] - 0.25 * i, x[2]};
        for (uint32_t t = 0; t < CLUTTER; t++) {
          const bool is_near = gz_triangle_nearest(corners + 9 * (size_t)t, at).distance <= x[3] + one->skin;
          assert_int_equal(is_listed(one, p, i, t), is_near);
          near += is_near;
        }
      }
    }
    assert_true(list->facet_count > 1000);
    if (periodic == 0) assert_int_equal(near, list->facet_count);
    graze_world_destroy(one);
  }
  graze_mesh_destroy(mesh);
  free(corners);
}

/* ---- periods ----------------------------------------------------------------------------------------------------- */

/* A ball in a periodic box with edges of 6 touches what it would touch without periods if 125 images of the mesh were
 * one mesh: a box, a ball, and clutter that is longer than the period. */
static void test_images(void **unused) {
  (void)unused;
  enum { IMAGES = 125, MOST = 80 };
  const double min[3] = {-1, -1, -1}, max[3] = {1, 1, 1};
  double *corners = calloc(9 * MOST, sizeof *corners), *all = calloc(9 * MOST * IMAGES, sizeof *all);
  uint64_t state = test_seed(6);
  const int rounds = test_rounds(6, 200);
  int met = 0;
  for (int round = 0; round < rounds; round++) {
    uint32_t triangles = 12;
    if (round % 3 == 0) soup_box(min, max, corners);
    if (round % 3 == 1) triangles = soup_ball(1, 1, corners);
    if (round % 3 == 2) {
      triangles = 40;
      soup_cluttered(&state, triangles, 0.5, corners);
    }
    turn_corners(&state, corners, triangles, false);
    for (uint32_t i = 0; i < 9 * triangles && round % 3 == 2; i++) corners[i] *= 5;
    for (int i = 0; i < IMAGES; i++) {
      const int image[3] = {i % 5 - 2, i / 5 % 5 - 2, i / 25 - 2};
      for (uint32_t j = 0; j < 9 * triangles; j++) all[9 * (size_t)i * triangles + j] = corners[j] + 6 * image[j % 3];
    }
    lone_ball plain = begin_ball(all, IMAGES * triangles, 1), periodic = {NULL, NULL};
    graze_world_def def = graze_default_world_def();
    graze_body_def body = graze_default_body_def();
    const graze_material m = hooke(1000);
    const double middle[3] = {3, 3, 3};
    graze_body_id id;
    for (int k = 0; k < 3; k++) {
      def.bounds.min[k] = 0;
      def.bounds.max[k] = 6;
      def.periodic[k] = true;
    }
    assert_int_equal(graze_world_create(shared_context(1), &def, &periodic.world), GRAZE_OK);
    add_material(periodic.world, &m);
    add_balls(periodic.world, 1, middle, NULL, NULL, 1, 1, 0);
    periodic.mesh = test_mesh(shared_context(1), corners, triangles, GRAZE_VOLUMES_ORIENTED);
    body.type = GRAZE_BODY_STATIC;
    body.mesh = periodic.mesh;
    assert_int_equal(graze_world_add_body(periodic.world, &body, &id), GRAZE_OK);
    for (int i = 0; i < 100; i++) {
      const graze_contact *contacts;
      graze_contact want[64];
      double p[3];
      for (int k = 0; k < 3; k++) p[k] = 6 * random_unit(&state);
      const uint64_t count = contacts_at(&plain, p, &contacts);
      assert_true(count <= 64);
      if (count > 0) memcpy(want, contacts, count * sizeof *want);
      assert_int_equal(contacts_at(&periodic, p, &contacts), count);
      for (uint64_t j = 0; j < count; j++) {
        assert_near(contacts[j].overlap, want[j].overlap, 1e-12);
        for (int k = 0; k < 3; k++) assert_near(contacts[j].normal[k], want[j].normal[k], 1e-9);
      }
      met += count > 0;
    }
    end_ball(&plain);
    end_ball(&periodic);
  }
  assert_true(met > 10 * rounds);
  free(corners);
  free(all);
}

enum { SHIFT_BALLS = 40 };

typedef struct shifted {
  double x[3 * SHIFT_BALLS], v[3 * SHIFT_BALLS];
  graze_contact_event events[400];
  uint64_t count;
} shifted;

/* A box that stands, one that turns and one that wanders through the period, and balls that fly among them. */
static graze_world *make_shifted(const double shift[3], const graze_mesh *mesh) {
  graze_world_def def = graze_default_world_def();
  graze_material m = hooke(2e4);
  graze_world *world = NULL;
  double start[3 * SHIFT_BALLS], moving[3 * SHIFT_BALLS];
  uint64_t state = 17;
  for (int i = 0; i < 3 * SHIFT_BALLS; i++) {
    const int cell[3] = {i / 3 % 4, i / 3 / 4 % 4, i / 3 / 16};
    start[i] = 0.8 + 2.1 * cell[i % 3] + shift[i % 3];
    moving[i] = 6 * random_signed(&state);
  }
  for (int k = 0; k < 3; k++) {
    def.bounds.min[k] = 0;
    def.bounds.max[k] = 10;
    def.periodic[k] = true;
  }
  def.gravity[2] = 0;
  def.events = true;
  m.restitution = 0.8;
  m.friction = 0.3;
  m.tangential = GRAZE_TANGENTIAL_SPRING;
  assert_int_equal(graze_world_create(shared_context(1), &def, &world), GRAZE_OK);
  add_material(world, &m);
  add_balls(world, SHIFT_BALLS, start, moving, NULL, 0.5, 1, 0);
  for (int i = 0; i < 3; i++) {
    graze_body_def body = graze_default_body_def();
    graze_body_id id;
    body.type = i == 0 ? GRAZE_BODY_STATIC : GRAZE_BODY_KINEMATIC;
    body.mesh = mesh;
    for (int k = 0; k < 3; k++) {
      body.position[k] = 9.2 - 2.1 * (k == 0 ? i : k) + shift[k];
      body.spin[k] = i == 1 ? 1 - k : 0;
      body.velocity[k] = i == 2 ? 7 - 2 * k : 0;
    }
    assert_int_equal(graze_world_add_body(world, &body, &id), GRAZE_OK);
  }
  return world;
}

static void run_shifted(const double shift[3], const graze_mesh *mesh, shifted *out) {
  graze_world *world = make_shifted(shift, mesh);
  const graze_contact_event *events;
  run_world(world, 5e-4, 3000);
  assert_int_equal(graze_world_get_events(world, &events, &out->count), GRAZE_OK);
  assert_in_range(out->count, 50, 400);
  memcpy(out->events, events, out->count * sizeof *events);
  const graze_particle_state got = {out->x, out->v, NULL};
  assert_int_equal(graze_world_get_particles(world, 0, &got), GRAZE_OK);
  graze_world_destroy(world);
}

/* The same world shifted by parts of the period moves as it did. */
static void test_shifted(void **unused) {
  (void)unused;
  static const double shifts[][3] = {{0, 0, 0}, {3.25, 0, 0}, {0, 7.5, 0}, {5, 5, 5}, {-12.75, 0.5, 1003.5}};
  const double min[3] = {-0.6, -0.6, -0.6}, max[3] = {0.6, 0.6, 0.6};
  static shifted want, got;
  double corners[108];
  uint64_t meshes = 0;
  soup_box(min, max, corners);
  graze_mesh *mesh = test_mesh(shared_context(1), corners, 12, GRAZE_VOLUMES_ORIENTED);
  run_shifted(shifts[0], mesh, &want);
  for (size_t s = 1; s < sizeof shifts / sizeof shifts[0]; s++) {
    run_shifted(shifts[s], mesh, &got);
    assert_int_equal(got.count, want.count);
    for (uint64_t i = 0; i < want.count; i++) {
      assert_int_equal(got.events[i].step, want.events[i].step);
      assert_int_equal(got.events[i].kind, want.events[i].kind);
      assert_int_equal(got.events[i].b.kind, want.events[i].b.kind);
      assert_near(got.events[i].speed, want.events[i].speed, 1e-4);
      meshes += want.events[i].b.kind == GRAZE_MEMBER_BODY;
    }
    for (int i = 0; i < 3 * SHIFT_BALLS; i++) {
      const double off = got.x[i] - want.x[i] - shifts[s][i % 3];
      assert_near(off - 10 * floor(off / 10 + 0.5), 0, 1e-5);
      assert_near(got.v[i], want.v[i], 1e-4);
    }
  }
  assert_true(meshes > 60);
  graze_mesh_destroy(mesh);
}

/* A state that is saved while contacts go on is that of the run that goes on. */
static void test_shifted_restored(void **unused) {
  (void)unused;
  const double min[3] = {-0.6, -0.6, -0.6}, max[3] = {0.6, 0.6, 0.6}, shift[3] = {5, 5, 5};
  char path[] = "/tmp/graze_surfaces_XXXXXX";
  double corners[108];
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  soup_box(min, max, corners);
  graze_mesh *mesh = test_mesh(shared_context(1), corners, 12, GRAZE_VOLUMES_ORIENTED);
  graze_world *whole = make_shifted(shift, mesh);
  for (int i = 0; i < 12; i++) {
    graze_world *rest = make_shifted(shift, mesh);
    run_world(whole, 5e-4, 250);
    assert_int_equal(graze_world_save(whole, path), GRAZE_OK);
    assert_int_equal(graze_world_restore(rest, path), GRAZE_OK);
    run_world(whole, 5e-4, 17);
    run_world(rest, 5e-4, 17);
    assert_int_equal(graze_world_get_hash(rest), graze_world_get_hash(whole));
    graze_world_destroy(rest);
  }
  graze_world_destroy(whole);
  graze_mesh_destroy(mesh);
  unlink(path);
}

/* Meshes whose images meet as they turn, or that are too long. */
static void test_images_refused(void **unused) {
  (void)unused;
  double corners[108];
  const graze_material m = hooke(1000);
  const double x[3] = {3, 0, 0}, none[3] = {0}, along[3] = {0, 1, 0}, across[3] = {1, 0, 0};
  for (int i = 0; i < 3; i++) {
    const double half = i == 0 ? 1 : i == 1 ? 3 : 200, min[3] = {-0.1, -half, -0.1}, max[3] = {0.1, half, 0.1};
    graze_world_def def = graze_default_world_def();
    graze_body_def body = graze_default_body_def();
    graze_world *world = NULL;
    graze_body_id id;
    soup_box(min, max, corners);
    graze_mesh *mesh = test_mesh(shared_context(1), corners, 12, GRAZE_VOLUMES_ALIGNED);
    for (int k = 0; k < 3; k++) {
      def.bounds.min[k] = -3;
      def.bounds.max[k] = 3;
      def.periodic[k] = k == 1;
    }
    assert_int_equal(graze_world_create(shared_context(1), &def, &world), GRAZE_OK);
    add_material(world, &m);
    add_balls(world, 1, x, NULL, NULL, 0.5, 1, 0);
    body.type = GRAZE_BODY_KINEMATIC;
    body.mesh = mesh;
    body.name = "bar";
    const graze_status status = graze_world_add_body(world, &body, &id);
    assert_int_equal(status, i == 2 ? GRAZE_ERROR_LIMIT : GRAZE_OK);
    if (i == 2) assert_non_null(strstr(shared_error()->message, "body 'bar': its mesh is more than 64 periods long"));
    if (i < 2) {
      run_world(world, 1e-3, 1);
      assert_int_equal(graze_world_set_velocity(world, id, none, along), GRAZE_OK);
      run_world(world, 1e-3, 1);
      assert_int_equal(graze_world_set_velocity(world, id, none, across), GRAZE_OK);
      assert_int_equal(graze_world_step(world, 1e-3, 1, NULL, NULL), i == 0 ? GRAZE_OK : GRAZE_ERROR_ARGUMENT);
      if (i == 1) assert_non_null(strstr(shared_error()->message, "body 'bar': it turns, and its mesh reaches half"));
    }
    graze_world_destroy(world);
    graze_mesh_destroy(mesh);
  }
}

static void test_refused(void **unused) {
  (void)unused;
  const double corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  graze_world_def def = graze_default_world_def();
  graze_body_def body = graze_default_body_def();
  const graze_material m = hooke(1);
  graze_world *world = NULL;
  graze_body_id id;
  graze_mesh *mesh = test_mesh(shared_context(1), corners, 1, GRAZE_VOLUMES_ALIGNED);
  assert_int_equal(graze_world_create(shared_context(1), &def, &world), GRAZE_OK);
  add_material(world, &m);
  body.mesh = mesh;
  body.mass = 1;
  assert_int_equal(graze_world_add_body(world, &body, &id), GRAZE_ERROR_ARGUMENT);
  assert_non_null(strstr(shared_error()->message, "a mesh cannot be dynamic"));
  body.type = GRAZE_BODY_STATIC;
  body.position[1] = (double)NAN;
  assert_int_equal(graze_world_add_body(world, &body, &id), GRAZE_ERROR_NOT_FINITE);
  body.position[1] = 0;
  assert_int_equal(graze_world_add_body(world, &body, &id), GRAZE_OK);
  graze_world_destroy(world);
  graze_mesh_destroy(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_places_of_least_distance),
      cmocka_unit_test(test_one_contact_on_a_floor),
      cmocka_unit_test(test_corners_of_a_box),
      cmocka_unit_test(test_floors_are_walls),
      cmocka_unit_test(test_bats),
      cmocka_unit_test(test_centers),
      cmocka_unit_test(test_groove),
      cmocka_unit_test(test_list_on_threads),
      cmocka_unit_test(test_images),
      cmocka_unit_test(test_shifted),
      cmocka_unit_test(test_shifted_restored),
      cmocka_unit_test(test_images_refused),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
