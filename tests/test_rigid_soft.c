/* Soft contacts of rigid bodies: the passes against the textbook's formulas, one contact after the other, and the cases
 * of the table in docs/rigid.md for every solver. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "families.h"
#include "rigid/soft.h"
#include "rigid_worlds.h"

/* ---- the passes -------------------------------------------------------------------------------------------------- */

/* A body in plain units. */
typedef struct plain_body {
  double mass, moment; /* a ball's: inertia is the same about every axis, or infinite */
  double v[3], w[3], moved[3], turned[3];
} plain_body;

typedef struct plain_contact {
  uint32_t a, b, count;
  double normal[3], arms[4][2][3], middle[2][3], across[2][3];
  double gap[4], impulse[4], lever[4], drag[2], twist, friction, rate, softness;
} plain_contact;

enum { BODIES = 17, CONTACTS = SOFT_LANES };

static double plain_dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void plain_cross(const double a[3], const double b[3], double out[3]) {
  for (int k = 0; k < 3; k++) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static void point_velocity(const double v[3], const double w[3], const double arm[3], double out[3]) {
  plain_cross(w, arm, out);
  for (int k = 0; k < 3; k++) out[k] += v[k];
}

static double plain_speed(const plain_body *a, const plain_body *b, double (*arms)[3], const double d[3], bool ways) {
  double va[3], vb[3];
  point_velocity(ways ? a->moved : a->v, ways ? a->turned : a->w, arms[0], va);
  point_velocity(ways ? b->moved : b->v, ways ? b->turned : b->w, arms[1], vb);
  return plain_dot(va, d) - plain_dot(vb, d);
}

static double plain_give(const plain_body *body, const double arm[3], const double d[3]) {
  double axis[3];
  if (body->mass == 0) return 0;
  plain_cross(arm, d, axis);
  return 1 / body->mass + plain_dot(axis, axis) / body->moment;
}

static void plain_push(plain_body *body, const double arm[3], const double d[3], double impulse) {
  double axis[3];
  if (body->mass == 0) return;
  plain_cross(arm, d, axis);
  for (int k = 0; k < 3; k++) {
    body->v[k] += impulse * d[k] / body->mass;
    body->w[k] += impulse * axis[k] / body->moment;
  }
}

/* 0 for what no force moves. */
static double inverse(double x) {
  return x > 0 ? 1 / x : 0;
}

static void plain_rub(plain_contact *c, plain_body *a, plain_body *b) {
  double pressed = 0, most = 0, next[2];
  for (uint32_t k = 0; k < c->count; k++) {
    pressed += c->impulse[k];
    most += c->impulse[k] * c->lever[k];
  }
  const double spin = plain_dot(c->normal, a->w) - plain_dot(c->normal, b->w);
  const double mass = 1 / (inverse(a->moment) + inverse(b->moment));
  const double twist = fmax(-most, fmin(most, c->twist - mass * spin));
  for (int k = 0; k < 3; k++) {
    a->w[k] += (twist - c->twist) * c->normal[k] * inverse(a->moment);
    b->w[k] -= (twist - c->twist) * c->normal[k] * inverse(b->moment);
  }
  c->twist = twist;
  for (int i = 0; i < 2; i++) {
    const double give = plain_give(a, c->middle[0], c->across[i]) + plain_give(b, c->middle[1], c->across[i]);
    next[i] = c->drag[i] - plain_speed(a, b, c->middle, c->across[i], false) / give;
  }
  const double length = hypot(next[0], next[1]), limit = c->friction * pressed;
  for (int i = 0; i < 2; i++) {
    if (length > limit) next[i] *= limit / length;
    plain_push(a, c->middle[0], c->across[i], next[i] - c->drag[i]);
    plain_push(b, c->middle[1], c->across[i], c->drag[i] - next[i]);
    c->drag[i] = next[i];
  }
}

static void plain_solve(plain_contact *c, plain_body *bodies, double h, double push_speed, bool relax) {
  plain_body *a = &bodies[c->a], *b = &bodies[c->b];
  for (uint32_t k = 0; k < c->count; k++) {
    double(*arms)[3] = c->arms[k];
    const double give = plain_give(a, arms[0], c->normal) + plain_give(b, arms[1], c->normal);
    const double gap = c->gap[k] + plain_speed(a, b, arms, c->normal, true);
    double bias = 0, softness = 0;
    if (gap > 0) {
      bias = gap / h;
    } else if (!relax) {
      const double wanted = c->rate * gap, given = c->softness * fmin(push_speed / -wanted, 1);
      bias = fmax(wanted, -push_speed);
      softness = gap < 0 ? given / (1 - c->softness + given) : c->softness;
    }
    const double u = plain_speed(a, b, arms, c->normal, false);
    const double next = fmax(c->impulse[k] - (1 - softness) * (u + bias) / give - softness * c->impulse[k], 0);
    plain_push(a, arms[0], c->normal, next - c->impulse[k]);
    plain_push(b, arms[1], c->normal, c->impulse[k] - next);
    c->impulse[k] = next;
  }
  plain_rub(c, a, b);
}

static void fill_random(double *x, int count, double size, uint64_t *state) {
  for (int k = 0; k < count; k++) x[k] = size * random_signed(state);
}

static void make_plain(plain_body *bodies, plain_contact *contacts, uint64_t *state) {
  memset(bodies, 0, BODIES * sizeof *bodies);
  memset(contacts, 0, CONTACTS * sizeof *contacts);
  for (int i = 1; i < BODIES; i++) {
    bodies[i].mass = 0.1 + 10 * random_unit(state);
    bodies[i].moment = 0.1 + random_unit(state);
    fill_random(bodies[i].v, 3, 1, state);
    fill_random(bodies[i].w, 3, 1, state);
    fill_random(bodies[i].moved, 3, 0.01, state);
    fill_random(bodies[i].turned, 3, 0.01, state);
  }
  for (uint32_t i = 0; i < CONTACTS; i++) {
    plain_contact *c = &contacts[i];
    c->a = 1 + 2 * i;
    c->b = i % 3 == 0 ? 0 : 2 + 2 * i;
    c->count = 1 + i % 4;
    fill_random(c->normal, 3, 1, state);
    const double length = sqrt(plain_dot(c->normal, c->normal));
    for (int k = 0; k < 3; k++) c->normal[k] /= length;
    const double axis[3] = {c->normal[1], c->normal[2], -c->normal[0]};
    plain_cross(c->normal, axis, c->across[0]);
    const double size = sqrt(plain_dot(c->across[0], c->across[0]));
    for (int k = 0; k < 3; k++) c->across[0][k] /= size;
    plain_cross(c->normal, c->across[0], c->across[1]);
    fill_random(c->middle[0], 6, 1, state);
    c->friction = 0.5;
    c->rate = 200;
    c->softness = 0.03;
    for (uint32_t k = 0; k < c->count; k++) {
      fill_random(c->arms[k][0], 6, 1, state);
      c->gap[k] = 0.01 * random_signed(state);
      c->impulse[k] = random_unit(state);
      c->lever[k] = 0.3 * random_unit(state);
    }
  }
}

static void put_turns(soft_turns turns, uint32_t lane, const double axes[2][3], const plain_body *a,
                      const plain_body *b) {
  for (int k = 0; k < 3; k++) {
    turns[0][k][lane] = axes[0][k] * sqrt(inverse(a->moment));
    turns[1][k][lane] = -axes[1][k] * sqrt(inverse(b->moment));
  }
}

static void put_arms(soft_turns turns, uint32_t lane, double arms[2][3], const double d[3], const plain_body *a,
                     const plain_body *b) {
  double axes[2][3];
  plain_cross(arms[0], d, axes[0]);
  plain_cross(arms[1], d, axes[1]);
  put_turns(turns, lane, (const double(*)[3])axes, a, b);
}

static void put_lane(soft_group *g, uint32_t l, plain_contact *c, const plain_body *bodies) {
  const plain_body *a = &bodies[c->a], *b = &bodies[c->b];
  g->at[0][l] = c->a * SOFT_STATE;
  g->at[1][l] = c->b * SOFT_STATE;
  g->scale[0][l] = sqrt(inverse(a->mass));
  g->scale[1][l] = sqrt(inverse(b->mass));
  g->rate[l] = c->rate;
  g->softness[l] = c->softness;
  g->friction[l] = c->friction;
  for (int k = 0; k < 3; k++) {
    g->normal[k][l] = c->normal[k];
    g->across[k][l] = c->across[0][k];
  }
  for (uint32_t k = 0; k < c->count; k++) {
    soft_point *p = &g->points[k];
    put_arms(p->turns, l, c->arms[k], c->normal, a, b);
    p->gap[l] = c->gap[k];
    p->impulse[l] = c->impulse[k];
    p->lever[l] = c->lever[k];
    p->mass[l] = 1 / (plain_give(a, c->arms[k][0], c->normal) + plain_give(b, c->arms[k][1], c->normal));
  }
  for (int i = 0; i < 2; i++) {
    put_arms(g->drag_turns[i], l, c->middle, c->across[i], a, b);
    g->drag_mass[i][l] = 1 / (plain_give(a, c->middle[0], c->across[i]) + plain_give(b, c->middle[1], c->across[i]));
  }
  const double axes[2][3] = {{c->normal[0], c->normal[1], c->normal[2]}, {c->normal[0], c->normal[1], c->normal[2]}};
  put_turns(g->twist_turns, l, axes, a, b);
  g->twist_mass[l] = 1 / (inverse(a->moment) + inverse(b->moment));
}

static void put_states(double *states, const plain_body *bodies) {
  memset(states, 0, BODIES * SOFT_STATE * sizeof *states);
  for (int i = 1; i < BODIES; i++) {
    double *u = states + i * SOFT_STATE;
    for (int k = 0; k < 3; k++) {
      u[k] = bodies[i].v[k] * sqrt(bodies[i].mass);
      u[4 + k] = bodies[i].w[k] * sqrt(bodies[i].moment);
      u[8 + k] = bodies[i].moved[k] * sqrt(bodies[i].mass);
      u[12 + k] = bodies[i].turned[k] * sqrt(bodies[i].moment);
    }
  }
}

typedef void (*solve_function)(const soft_pass *pass, uint32_t begin, uint32_t end);

static uint32_t list_kernels(solve_function solve[3]) {
  uint32_t count = 0;
  solve[count++] = gz_soft_solve_scalar;
#if defined(__x86_64__)
  if (gz_cpu_best() >= CPU_AVX2) solve[count++] = gz_soft_solve_avx2;
  if (gz_cpu_best() >= CPU_AVX512) solve[count++] = gz_soft_solve_avx512;
#endif
  return count;
}

/* Several passes, of every instruction set: the bits of the first, and the numbers of the textbook. */
static void test_passes(void **unused) {
  (void)unused;
  uint64_t state = test_seed(1);
  solve_function solve[3];
  const uint32_t kernels = list_kernels(solve);
  for (int round = 0; round < test_rounds(50, 5000); round++) {
    plain_body bodies[BODIES];
    plain_contact contacts[CONTACTS];
    _Alignas(64) double states[3][BODIES * SOFT_STATE];
    soft_group groups[3];
    make_plain(bodies, contacts, &state);
    for (uint32_t i = 0; i < kernels; i++) {
      memset(&groups[i], 0, sizeof groups[i]);
      groups[i].count = 4;
      groups[i].rounds = 1;
      groups[i].twists = true;
      for (uint32_t l = 0; l < CONTACTS; l++) put_lane(&groups[i], l, &contacts[l], bodies);
      put_states(states[i], bodies);
      for (int pass = 0; pass < 4; pass++) {
        const soft_pass p = {&groups[i], states[i], step / 4, 0, 1, pass % 2 == 1};
        solve[i](&p, 0, 1);
      }
      assert_memory_equal(states[i], states[0], sizeof states[0]);
      assert_memory_equal(&groups[i], &groups[0], sizeof groups[0]);
    }
    for (int pass = 0; pass < 4; pass++) {
      for (uint32_t i = 0; i < CONTACTS; i++) plain_solve(&contacts[i], bodies, step / 4, 1, pass % 2 == 1);
    }
    for (int i = 1; i < BODIES; i++) {
      const double *u = states[0] + i * SOFT_STATE;
      for (int k = 0; k < 3; k++) {
        assert_true(fabs(u[k] / sqrt(bodies[i].mass) - bodies[i].v[k]) < 1e-9);
        assert_true(fabs(u[4 + k] / sqrt(bodies[i].moment) - bodies[i].w[k]) < 1e-9);
      }
    }
  }
}

/* ---- worlds ------------------------------------------------------------------------------------------------------ */

static graze_rigid *make_world(graze_context *context, graze_rigid_solver solver, double friction, double restitution) {
  const double point[3] = {0, 0, 0}, up[3] = {0, 0, 1};
  graze_rigid_def def = graze_default_rigid_def();
  graze_rigid_material m = graze_default_rigid_material();
  graze_rigid *world;
  uint32_t number;
  def.solver = solver;
  must(graze_rigid_create(context, &def, &world));
  m.friction = friction;
  m.restitution = restitution;
  must(graze_rigid_add_material(world, &m, &number));
  must(graze_rigid_add_wall(world, point, up, 0));
  return world;
}

static uint32_t add_box(graze_rigid *world, double x, double z, const double edges[3], double density, double lean) {
  graze_rigid_body_def def = graze_default_rigid_body_def();
  uint32_t body;
  def.shape = GRAZE_RIGID_BOX;
  memcpy(def.edges, edges, sizeof def.edges);
  def.position[0] = x;
  def.position[2] = z;
  def.orientation[0] = cos(lean / 2);
  def.orientation[2] = sin(lean / 2);
  def.density = density;
  must(graze_rigid_add_body(world, &def, &body));
  return body;
}

static uint32_t add_cube(graze_rigid *world, double x, double z, double density) {
  const double edges[3] = {1, 1, 1};
  return add_box(world, x, z, edges, density, 0);
}

static void assert_within(const char *what, double got, double most) {
  if (!(got <= most)) fail_msg("%s: %.17g is more than %g", what, got, most);
}

/* The table's stacks: by how much the top sinks at worst, and how far anything drifts. */
static void check_stack(graze_rigid_solver solver, uint32_t count, uint64_t steps, double sag, double drift) {
  graze_rigid *world = make_world(shared_context(1), solver, 0.5, 0);
  for (uint32_t i = 0; i < count; i++) add_cube(world, 0, 0.5 + i, 1);
  double worst = 0, farthest = 0;
  for (uint64_t s = 0; s < steps; s++) {
    run(world, 1);
    worst = fmax(worst, count - 0.5 - get(world, count - 1).position[2]);
  }
  for (uint32_t i = 0; i < count; i++)
    farthest = fmax(farthest, hypot(get(world, i).position[0], get(world, i).position[1]));
  assert_within("sag", worst, sag);
  assert_within("drift", farthest, drift);
  graze_rigid_destroy(world);
}

static void test_stacks(void **unused) {
  (void)unused;
  const uint64_t steps = test_long() ? 3600 : 240;
  check_stack(GRAZE_RIGID_SOFT, 5, steps, 0.01, 0.001);
  check_stack(GRAZE_RIGID_SOFT, 10, steps, 0.02, 0.001);
  check_stack(GRAZE_RIGID_AUTO, 10, steps, 0.02, 0.001);
  check_stack(GRAZE_RIGID_AUTO, 50, steps, 0.1, 0.005);
  check_stack(GRAZE_RIGID_AUTO, 100, steps, 0.2, 0.01);
}

/* Heavy on light, at worst over ten seconds. */
static double sink_of(graze_rigid_solver solver, double ratio) {
  graze_rigid *world = make_world(shared_context(1), solver, 0.5, 0);
  add_cube(world, 0, 0.5, 1);
  const uint32_t heavy = add_cube(world, 0, 1.5, ratio);
  double worst = 0;
  for (int s = 0; s < 600; s++) {
    run(world, 1);
    worst = fmax(worst, 1.5 - get(world, heavy).position[2]);
  }
  graze_rigid_destroy(world);
  return worst;
}

static void test_heavy_on_light(void **unused) {
  (void)unused;
  const double ratios[] = {10, 100, 1000, 10000};
  for (int i = 0; i < 4; i++) assert_within("sink", sink_of(GRAZE_RIGID_AUTO, ratios[i]), i < 3 ? 0.01 : 0.05);
  assert_within("sink", sink_of(GRAZE_RIGID_SOFT, 10), 0.01);
}

/* A block on three flat tetrahedra, whose ends are 15 times as easy to push as they weigh, and each of which carries
 * 20 times its weight. Springs that know nothing of that sink by 18.5 mm, which is a third of what these are thick. */
static double sink_on_splinters(graze_rigid_solver solver) {
  static const double corners[4][3] = {{-0.6, -0.1, 0}, {0.6, -0.1, 0}, {0, 0.2, 0}, {0, 0, 0.05}};
  graze_rigid *world = make_world(shared_context(1), solver, 0.5, 0);
  double center[3];
  must(graze_rigid_find_hull_center(shared_context(1), 4, corners[0], center));
  for (int i = 0; i < 3; i++) {
    graze_rigid_body_def def = graze_default_rigid_body_def();
    def.shape = GRAZE_RIGID_HULL;
    def.points = corners[0];
    def.point_count = 4;
    def.density = 2400;
    def.position[0] = (i == 2 ? 0 : i == 1 ? 0.7 : -0.7) + center[0];
    def.position[1] = (i == 2 ? 0.6 : -0.6) + center[1];
    def.position[2] = center[2];
    add(world, &def);
  }
  const double block[3] = {2, 2, 0.2}, mass = 3 * 20 * get(world, 0).mass;
  add_box(world, 0, 0.15, block, mass / 0.8, 0);
  run(world, 600);
  graze_rigid_check_result result;
  must(graze_rigid_check(world, 0, &result));
  assert_within("speed", sums_of(world).kinetic / mass, 1e-6);
  const double depth = result.deepest.lower;
  graze_rigid_destroy(world);
  return depth;
}

static void test_thin_pieces(void **unused) {
  (void)unused;
  assert_within("depth", sink_on_splinters(GRAZE_RIGID_SOFT), 0.0065);
  assert_within("depth", sink_on_splinters(GRAZE_RIGID_AUTO), 0.0065);
  assert_within("depth", sink_on_splinters(GRAZE_RIGID_NEWTON), 0.0001);
}

/* Fifteen cards lean and lie on each other. */
static void test_cards(void **unused) {
  (void)unused;
  const double lean = 15 * M_PI / 180, half = 0.01, sine = sin(lean), cosine = cos(lean);
  const double height = cosine + 2 * half * sine, out = sine / 2 + half * cosine;
  const double card[3] = {2 * half, 0.6, 1}, across[3] = {0.98 * 4 * out, 0.6, 2 * half};
  for (int solver = GRAZE_RIGID_AUTO; solver <= GRAZE_RIGID_SOFT; solver++) {
    graze_rigid *world = make_world(shared_context(1), (graze_rigid_solver)solver, 0.6, 0);
    double at[15][3], z = 0;
    for (int level = 3; level > 0; level--) {
      const double first = -2 * out * (level - 1);
      for (int i = 0; i < level; i++) {
        add_box(world, first + 4 * out * i - out, z + height / 2, card, 1, lean);
        add_box(world, first + 4 * out * i + out, z + height / 2, card, 1, -lean);
      }
      z += height;
      for (int i = 0; i + 1 < level; i++) add_box(world, first + 4 * out * (i + 0.5), z + half, across, 1, 0);
      z += 2 * half;
    }
    for (uint32_t i = 0; i < 15; i++) memcpy(at[i], get(world, i).position, sizeof at[i]);
    run(world, 600);
    for (uint32_t i = 0; i < 15; i++) {
      const graze_rigid_body_def b = get(world, i);
      const double way[3] = {b.position[0] - at[i][0], b.position[1] - at[i][1], b.position[2] - at[i][2]};
      assert_within("card", sqrt(plain_dot(way, way)), 0.02);
    }
    graze_rigid_destroy(world);
  }
}

static void add_pyramid(graze_rigid *world, int rows) {
  for (int row = 0; row < rows; row++) {
    for (int i = row; i < rows; i++) add_cube(world, 1.25 * (i - 0.5 * row), 0.5 + row, 1);
  }
}

/* It stands, comes to rest, and is the same bit for bit for any number of threads and every instruction set: the hash
 * is that of the first machine on which it ran. */
static void test_pyramid(void **unused) {
  (void)unused;
  uint64_t hashes[3];
  for (int i = 0; i < 3; i++) {
    graze_rigid *world = make_world(shared_context(1 << i), GRAZE_RIGID_SOFT, 0.6, 0);
    graze_world_sums sums;
    add_pyramid(world, 24);
    run(world, 120);
    must(graze_rigid_get_sums(world, &sums));
    hashes[i] = graze_rigid_get_hash(world);
    assert_within("sag", 23.5 - get(world, graze_rigid_get_body_count(world) - 1).position[2], 0.15);
    assert_within("overlap", sums.max_overlap, 0.01);
    assert_within("speed", sqrt(2 * sums.kinetic / graze_rigid_get_body_count(world)), 0.05);
    graze_rigid_destroy(world);
  }
  assert_true(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
  assert_true(hashes[0] == UINT64_C(0x86ff06b02715a8ae));
}

/* What is too large to be solved directly and stands high gets stiffer springs: with the usual ones it shakes four
 * times as much after two seconds, and one of 100 rows falls after six. */
static void test_high_pyramid(void **unused) {
  (void)unused;
  if (test_thinned()) return;
  const int rows = test_long() ? 100 : 60;
  graze_rigid *world = make_world(shared_context(2), GRAZE_RIGID_AUTO, 0.5, 0);
  graze_world_sums sums;
  add_pyramid(world, rows);
  run(world, test_long() ? 1200 : 120);
  must(graze_rigid_get_sums(world, &sums));
  const uint32_t count = graze_rigid_get_body_count(world);
  assert_within("sag", rows - 0.5 - get(world, count - 1).position[2], 0.15);
  assert_within("speed", sqrt(2 * sums.kinetic / count), 0.05);
  graze_rigid_destroy(world);
}

/* A run that is saved and restored in the middle is the same. */
static void test_restored(void **unused) {
  (void)unused;
  char path[] = "/tmp/graze-soft-XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  graze_rigid *worlds[2];
  for (int i = 0; i < 2; i++) {
    worlds[i] = make_world(shared_context(1), GRAZE_RIGID_AUTO, 0.5, 0.1);
    add_pyramid(worlds[i], 6);
    add_cube(worlds[i], 2, 9, 30);
  }
  run(worlds[0], 47);
  must(graze_rigid_save(worlds[0], path));
  run(worlds[0], 60);
  must(graze_rigid_restore(worlds[1], path));
  run(worlds[1], 60);
  assert_true(graze_rigid_get_hash(worlds[0]) == graze_rigid_get_hash(worlds[1]));
  for (int i = 0; i < 2; i++) graze_rigid_destroy(worlds[i]);
  unlink(path);
}

/* What bodies do does not depend on others that are far away, whose contacts share their groups. */
static void test_strangers(void **unused) {
  (void)unused;
  graze_rigid *worlds[2];
  for (int i = 0; i < 2; i++) {
    worlds[i] = make_world(shared_context(1), GRAZE_RIGID_SOFT, 0.5, 0.3);
    add_pyramid(worlds[i], 5);
    add_cube(worlds[i], 2, 7, 3);
    for (int k = 0; k < 20 * i; k++) add_cube(worlds[i], 100 + 0.9 * k, 0.7, 1);
    run(worlds[i], 90);
  }
  for (uint32_t i = 0; i < 16; i++) {
    const graze_rigid_body_def a = get(worlds[0], i), b = get(worlds[1], i);
    assert_memory_equal(a.position, b.position, sizeof a.position);
    assert_memory_equal(a.orientation, b.orientation, sizeof a.orientation);
    assert_memory_equal(a.spin, b.spin, sizeof a.spin);
  }
  for (int i = 0; i < 2; i++) graze_rigid_destroy(worlds[i]);
}

/* A box that falls turned, and rolls over edges and corners; with `strangers`, before a crowd that stands far away. */
static graze_rigid_body_def tumble(uint64_t seed, bool strangers) {
  graze_rigid *world = make_world(shared_context(1), GRAZE_RIGID_SOFT, 0.8, 0.2);
  graze_rigid_body_def def = graze_default_rigid_body_def();
  uint64_t state = seed;
  def.shape = GRAZE_RIGID_BOX;
  for (int k = 0; k < 3; k++) def.edges[k] = 0.3 + fabs(random_signed(&state));
  for (int k = 0; k < 4; k++) def.orientation[k] = random_signed(&state);
  for (int k = 0; k < 3; k++) def.spin[k] = 4 * random_signed(&state);
  for (int k = 0; k < 3; k++) def.velocity[k] = 4 * random_signed(&state);
  def.position[2] = 1.5;
  def.density = 1000;
  const uint32_t box = add(world, &def);
  for (int k = 0; strangers && k < 12; k++) add_cube(world, 100 + 1.5 * k, 0.5, 1);
  run(world, 150);
  const graze_rigid_body_def end = get(world, box);
  graze_rigid_destroy(world);
  return end;
}

/* A patch that shrinks to a point, and still has the twist of a wider one, beside contacts that twist or do not. */
static void test_tumblers(void **unused) {
  (void)unused;
  const uint64_t seed = test_seed(5);
  for (int i = test_rounds(20, 200); i > 0; i--) {
    const graze_rigid_body_def a = tumble(seed + (uint64_t)i, false), b = tumble(seed + (uint64_t)i, true);
    assert_memory_equal(a.position, b.position, sizeof a.position);
    assert_memory_equal(a.orientation, b.orientation, sizeof a.orientation);
    assert_memory_equal(a.velocity, b.velocity, sizeof a.velocity);
    assert_memory_equal(a.spin, b.spin, sizeof a.spin);
  }
}

/* Two layers of bricks, more than are solved at once, and on them what is so many times as heavy as one. */
static double sink_into_many(graze_rigid_solver solver, double ratio) {
  graze_rigid *world = make_world(shared_context(1), solver, 0.5, 0);
  graze_rigid_body_def def = graze_default_rigid_body_def();
  def.shape = GRAZE_RIGID_BOX;
  def.edges[0] = def.edges[1] = def.edges[2] = 1;
  def.mass = 1;
  for (int i = 0; i < 72; i++) {
    def.position[0] = 1.02 * (i % 6) + i / 36 * 0.5;
    def.position[1] = 1.02 * (i / 6 % 6) + i / 36 * 0.5;
    def.position[2] = i / 36 + 0.5;
    add(world, &def);
  }
  def.edges[0] = def.edges[1] = def.edges[2] = 2;
  def.position[0] = def.position[1] = 2.8;
  def.position[2] = 3;
  def.mass = ratio;
  const uint32_t heavy = add(world, &def);
  run(world, 120);
  const double sink = 3 - get(world, heavy).position[2];
  graze_rigid_destroy(world);
  return sink;
}

static void test_heavy_on_many(void **unused) {
  (void)unused;
  assert_within("100 times as heavy as each of many", sink_into_many(GRAZE_RIGID_AUTO, 100), 1e-3);
  assert_within("1000 times", sink_into_many(GRAZE_RIGID_AUTO, 1000), 1e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_passes),        cmocka_unit_test(test_stacks),      cmocka_unit_test(test_heavy_on_light),
      cmocka_unit_test(test_thin_pieces),   cmocka_unit_test(test_cards),       cmocka_unit_test(test_pyramid),
      cmocka_unit_test(test_restored),      cmocka_unit_test(test_strangers),   cmocka_unit_test(test_tumblers),
      cmocka_unit_test(test_heavy_on_many), cmocka_unit_test(test_high_pyramid)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
