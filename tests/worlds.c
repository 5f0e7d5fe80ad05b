#include "worlds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"

graze_world *make_world(double gravity) {
  graze_world_def def = graze_default_world_def();
  graze_world *world = NULL;
  def.gravity[2] = gravity;
  assert_int_equal(graze_world_create(shared_context(1), &def, &world), GRAZE_OK);
  return world;
}

void run_world(graze_world *world, double dt, uint64_t count) {
  graze_status status = graze_world_step(world, dt, count, NULL, NULL);
  if (status != GRAZE_OK) fail_msg("%s", graze_status_string(status));
}

uint32_t add_balls(graze_world *world, uint32_t count, const double *positions, const double *velocities,
                   const double *radii, double radius, double mass, uint32_t material) {
  graze_particle_def def = graze_default_particle_def();
  uint32_t set;
  def.name = "balls";
  def.count = count;
  def.positions = positions;
  def.velocities = velocities;
  def.radii = radii;
  def.radius = radius;
  def.mass = mass;
  def.material = material;
  assert_int_equal(graze_world_add_particles(world, &def, &set), GRAZE_OK);
  return set;
}

uint32_t add_material(graze_world *world, const graze_material *material) {
  uint32_t number;
  assert_int_equal(graze_world_add_material(world, "stuff", material, &number), GRAZE_OK);
  return number;
}

graze_material hooke(double k_n) {
  graze_material m = graze_default_material();
  m.k_n = k_n;
  return m;
}

void check_near(double got, double want, double allowed, const char *file, int line) {
  if (fabs(got - want) <= allowed) return;
  print_error("%.17g is not %.17g but for %.3g\n", got, want, allowed);
  _fail(file, line);
}

/* ---- beds -------------------------------------------------------------------------------------------------------- */

static double in_units(const bed *b, double x, int mass, int length, int time) {
  return ldexp(x, mass * b->units.mass + length * b->units.length + time * b->units.time);
}

double bed_dt(const bed *b) {
  return in_units(b, 0x1p-9, 0, 0, 1);
}

static graze_material bed_material(const bed *b, int which) {
  graze_material m = graze_default_material();
  if (b->kind == BED_HERTZ) {
    m.law = GRAZE_HERTZ;
    m.young = in_units(b, which == 0 ? 3000 : 5000, 1, -1, -2);
    m.poisson = 0.25;
    m.rolling = 0.125;
    m.spinning = 0.0625;
    m.gamma_n = in_units(b, 4, 0, 0, -1);
    m.tangential = which == 0 ? GRAZE_TANGENTIAL_SPRING : GRAZE_TANGENTIAL_DASHPOT;
  } else {
    m.k_n = in_units(b, 4096, 1, 0, -2);
    m.eta_n = in_units(b, 8, 1, 0, -1);
    m.tangential = b->kind >= BED_SPRINGS ? GRAZE_TANGENTIAL_SPRING : GRAZE_TANGENTIAL_DASHPOT;
    m.ends = which == 0 ? GRAZE_END_OVERLAP : GRAZE_END_FORCE;
  }
  m.friction = which == 0 ? 0.5 : 0.25;
  return m;
}

/* On a lattice, each a little off, and moving. */
static void scatter(const bed *b, uint32_t count, double *rows) {
  uint64_t state = 5;
  uint32_t side = 1;
  while (side * side * side < count) side++;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t cell[3] = {i % side, i / side % side, i / side / side};
    double *row = rows + 10 * (size_t)i;
    for (int k = 0; k < 3; k++) {
      row[k] = in_units(b, 2 * cell[k] + (double)random_below(&state, 256) / 512 + 1, 0, 1, 0);
      row[3 + k] = in_units(b, (double)random_below(&state, 1024) / 128 - 4, 0, 1, -1);
      row[6 + k] = in_units(b, (double)random_below(&state, 1024) / 256 - 2, 0, 0, -1);
    }
    row[9] = in_units(b, 0.75 + (double)random_below(&state, 256) / 1024, 0, 1, 0);
  }
}

/* From rows of ten as they are, or from arrays side by side. */
static void add_part(graze_world *world, const bed *b, const double *rows, uint32_t count, uint32_t material) {
  graze_particle_def def = graze_default_particle_def();
  double *packed = calloc(10 * (size_t)count + 1, sizeof *packed);
  uint32_t set;
  assert_non_null(packed);
  def.name = "part";
  def.count = count;
  def.mass = in_units(b, 1, 1, 0, 0);
  def.material = material;
  if (b->kind == BED_SPRINGS) {
    def.drag[0] = in_units(b, 0.125, 1, 0, -1);
    def.drag[1] = in_units(b, 0.0625, 1, -1, 0);
  }
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = 0; k < 9; k++) packed[k / 3 * 3 * count + 3 * i + k % 3] = rows[10 * i + k];
    packed[9 * count + i] = rows[10 * i + 9];
  }
  const double *from = b->strided ? rows : packed;
  def.positions = from;
  def.velocities = from + (b->strided ? 3 : 3 * count);
  def.spins = from + (b->strided ? 6 : 6 * count);
  def.radii = from + (b->strided ? 9 : 9 * count);
  if (b->strided) {
    def.position_stride = def.velocity_stride = def.spin_stride = def.radius_stride = 10 * sizeof(double);
  }
  assert_int_equal(graze_world_add_particles(world, &def, &set), GRAZE_OK);
  free(packed);
}

static void add_bodies(graze_world *world, const bed *b, const double *rows) {
  for (int i = 0; i < 3; i++) {
    graze_body_def def = graze_default_body_def();
    graze_body_id id;
    def.type = (graze_body_type)i;
    for (int k = 0; k < 3; k++) {
      def.position[k] = rows[10 * i + k];
      def.velocity[k] = i == 1 ? 0 : rows[10 * i + 3 + k];
      def.spin[k] = rows[10 * i + 6 + k];
    }
    def.radius = rows[10 * i + 9];
    if (i == GRAZE_BODY_DYNAMIC) def.mass = in_units(b, 2, 1, 0, 0);
    assert_int_equal(graze_world_add_body(world, &def, &id), GRAZE_OK);
  }
}

static void add_walls(graze_world *world, const bed *b, double side) {
  static const double planes[5][3] = {{0, 0, 1}, {0, 1, 0}, {0, -3, 0}, {1, 0, 0}, {-2, 0, 1}};
  for (int w = 0; w < (b->kind == BED_HERTZ ? 1 : 5); w++) {
    double point[3];
    for (int k = 0; k < 3; k++) point[k] = planes[w][k] < 0 ? side : 0;
    assert_int_equal(graze_world_add_wall(world, point, planes[w], 0), GRAZE_OK);
  }
}

/* A box from `low` to `high`, which lasts as long as the program. */
static const graze_mesh *box_mesh(double low, double high) {
  static struct {
    double low, high;
    graze_mesh *mesh;
  } made[64];
  const double min[3] = {low, low, low}, max[3] = {high, high, high};
  double corners[108];
  int i = 0;
  for (; i < 64 && made[i].mesh != NULL; i++) {
    if (made[i].low == low && made[i].high == high) return made[i].mesh;
  }
  assert_true(i < 64);
  soup_box(min, max, corners);
  made[i].low = low;
  made[i].high = high;
  made[i].mesh = test_mesh(shared_context(1), corners, 12, GRAZE_VOLUMES_ORIENTED);
  return made[i].mesh;
}

static void add_surfaces(graze_world *world, const bed *b, double side) {
  for (int i = 0; i < 2; i++) {
    graze_body_def def = graze_default_body_def();
    graze_body_id id;
    def.type = i == 0 ? GRAZE_BODY_STATIC : GRAZE_BODY_KINEMATIC;
    def.material = (uint32_t)i;
    def.mesh = i == 0 ? box_mesh(0, side) : box_mesh(-side / 8, side / 8);
    for (int k = 0; k < 3 && i == 1; k++) {
      def.position[k] = side / 2;
      def.velocity[k] = in_units(b, k == 0 ? 0.25 : 0, 0, 1, -1);
      def.spin[k] = in_units(b, 0.5 * k, 0, 0, -1);
    }
    assert_int_equal(graze_world_add_body(world, &def, &id), GRAZE_OK);
  }
}

graze_world *make_bed(const bed *b, uint32_t count) {
  graze_world_def def = graze_default_world_def();
  graze_world *world = NULL;
  double side = 0;
  while (side * side * side < 8.0 * count) side += 2;
  side = in_units(b, side, 0, 1, 0);
  def.gravity[2] = in_units(b, -8, 0, 1, -2);
  def.events = b->events;
  if (b->single) def.precision = GRAZE_FLOAT;
  if (b->kind == BED_SPRINGS) def.integrator = GRAZE_EULER;
  for (int k = 0; k < 3; k++) {
    def.bounds.min[k] = 0;
    def.bounds.max[k] = side;
    def.periodic[k] = b->kind == BED_HERTZ && k < 2;
  }
  graze_context *context = b->context != NULL ? b->context : shared_context(b->threads);
  assert_int_equal(graze_world_create(context, &def, &world), GRAZE_OK);
  double *rows = calloc(10 * (size_t)count, sizeof *rows);
  assert_non_null(rows);
  scatter(b, count, rows);
  for (int i = 0; i < (b->kind == BED_DASHPOTS ? 1 : 2); i++) {
    graze_material m = bed_material(b, i);
    assert_int_equal(add_material(world, &m), i);
  }
  uint32_t begin = b->kind == BED_DASHPOTS ? 0 : 3, half = begin + (count - begin) / 2;
  add_part(world, b, rows + 10 * (size_t)begin, half - begin, 0);
  if (begin > 0) add_bodies(world, b, rows);
  add_part(world, b, rows + 10 * (size_t)half, count - half, b->kind == BED_DASHPOTS ? 0 : 1);
  if (b->kind == BED_SURFACES)
    add_surfaces(world, b, side);
  else
    add_walls(world, b, side);
  free(rows);
  return world;
}
