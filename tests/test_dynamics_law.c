/* Small random worlds of balls beside the oracle: every law of contact, mixes of materials, walls, kinematic and static
 * bodies, periods, both integrators. Runs are short, since small differences grow with every collision. */
#include <math.h>
#include <string.h>

#include "dem_oracle.h"
#include "families.h"
#include "support.h"

enum { MATERIALS = 3 };

/* A world twice, and how its balls went in. The neighbour starts as far from the oracle as doubles round: how far the
 * two part tells what can be asked of the library, since some mixes of damping let any difference grow. */
typedef struct twin {
  graze_world *world;
  oracle_world oracle, neighbour;
  uint32_t bodies, set_begin[4], sets; /* balls: dynamic bodies, sets, other bodies */
  graze_body_id ids[ORACLE_BALLS];
  bool periodic, simple;     /* simple: one law for all */
  bool alike;                /* all masses are 1 */
  double smallest, lightest; /* radius, mass */
  double stiffness, speed;   /* about; of the balls at the start */
  uint64_t seed;
} twin;

static double between(uint64_t *state, double low, double high) {
  return low + (high - low) * random_unit(state);
}

static bool chance(uint64_t *state, uint32_t percent) {
  return random_below(state, 100) < percent;
}

static void direction(uint64_t *state, double d[3]) {
  double length2;
  do {
    length2 = 0;
    for (int k = 0; k < 3; k++) {
      d[k] = random_signed(state);
      length2 += d[k] * d[k];
    }
  } while (length2 > 1 || length2 < 0.01);
  for (int k = 0; k < 3; k++) d[k] /= sqrt(length2);
}

/* ---- materials --------------------------------------------------------------------------------------------------- */

/* What the materials of a world have in common, so that they go together. */
typedef struct family_of_materials {
  graze_normal_law law;
  int damping; /* 0 none, 1 restitution, 2 eta_n, 3 gamma_n */
  int across;  /* 0 default, 1 eta_t, 2 gamma_t */
  bool full, k_t, rolls, runs;
  double k;
  double eta, rate; /* of which damping is some tenths: with the lightest ball; 1 / time of the shortest contact */
  double speed;     /* of surfaces */
} family_of_materials;

static family_of_materials random_family(uint64_t *state, const twin *t) {
  const bool simple = t->simple;
  const double omega = sqrt(t->stiffness / t->lightest);
  family_of_materials f = {.law = !simple && chance(state, 40) ? GRAZE_HERTZ : GRAZE_HOOKE,
                           .damping = (int)random_below(state, 4),
                           .across = (int)random_below(state, 3),
                           .full = chance(state, 15),
                           .k_t = chance(state, 30),
                           .rolls = !simple && chance(state, 50),
                           .runs = !simple && chance(state, 40),
                           .k = t->stiffness,
                           .eta = 2 * t->lightest * omega,
                           .rate = 2 * omega,
                           .speed = 0.02 * t->smallest * omega};
  return f;
}

static graze_material random_material(uint64_t *state, const twin *t, const family_of_materials *f) {
  graze_material m = graze_default_material();
  m.law = f->law;
  if (f->law == GRAZE_HOOKE) m.k_n = f->k * between(state, 0.5, 2);
  if (f->law == GRAZE_HERTZ) {
    m.young = f->k / t->smallest * between(state, 2, 10);
    m.poisson = between(state, -0.5, 0.5);
  }
  m.ends = chance(state, 50) && !(f->law == GRAZE_HERTZ && f->damping == 1) ? GRAZE_END_FORCE : GRAZE_END_OVERLAP;
  if (f->damping == 1) m.restitution = between(state, 0.1, 1);
  if (f->damping == 2) m.eta_n = f->eta * between(state, 0, 0.5);
  if (f->damping == 3) m.gamma_n = f->rate * between(state, 0, 0.5);
  m.tangential = (graze_tangential_law)random_below(state, GRAZE_TANGENTIAL_FULL);
  if (f->full) m.tangential = GRAZE_TANGENTIAL_FULL;
  if (f->k_t) m.k_t = chance(state, 10) ? 0 : f->k * between(state, 0.01, 0.2);
  const bool says = chance(state, 70);
  if (says && f->across == 1) m.eta_t = chance(state, 20) ? 0 : f->eta * between(state, 0, 0.2);
  if (says && f->across == 2) m.gamma_t = f->rate * between(state, 0, 0.2);
  m.friction = chance(state, 20) ? 0 : between(state, 0, 1);
  if (f->rolls) {
    m.rolling = between(state, 0, 0.5);
    m.spinning = between(state, 0, 0.5);
  }
  for (int k = 0; f->runs && k < 3; k++) m.surface_speed[k] = f->speed * random_signed(state);
  return m;
}

/* The last of them stands still, for kinematic bodies. */
static void make_materials(twin *t, uint64_t *state) {
  uint32_t count = t->simple ? 1 : 1 + random_below(state, MATERIALS), number;
  family_of_materials f = random_family(state, t);
  for (uint32_t i = 0; i < MATERIALS; i++) {
    graze_material m = i < count ? random_material(state, t, &f) : t->oracle.materials[0];
    if (i + 1 == MATERIALS) memset(m.surface_speed, 0, sizeof m.surface_speed);
    t->oracle.materials[i] = m;
    if (t->simple && i > 0) continue;
    assert_int_equal(graze_world_add_material(t->world, "stuff", &m, &number), GRAZE_OK);
    assert_int_equal(number, i);
  }
  for (int i = 0; !t->simple && chance(state, 50) && i < 3; i++) {
    uint32_t a = random_below(state, MATERIALS), b = random_below(state, MATERIALS);
    family_of_materials other = random_family(state, t);
    graze_material m = random_material(state, t, &other);
    memset(m.surface_speed, 0, sizeof m.surface_speed);
    assert_int_equal(graze_world_set_pair(t->world, a, b, &m), GRAZE_OK);
    t->oracle.is_pair[a][b] = t->oracle.is_pair[b][a] = true;
    t->oracle.pairs[a][b] = t->oracle.pairs[b][a] = m;
  }
}

/* ---- balls and walls --------------------------------------------------------------------------------------------- */

static double gap(const twin *t, const oracle_ball *a, const oracle_ball *b) {
  long double d2 = 0;
  for (int k = 0; k < 3; k++) {
    long double d = a->x[k] - b->x[k], period = t->oracle.period[k];
    if (period != 0) d -= period * roundl(d / period);
    d2 += d * d;
  }
  return (double)(sqrtl(d2) - a->radius - b->radius);
}

/* Somewhere at an earlier ball, and not deep in any. */
static bool place_ball(const twin *t, uint64_t *state, uint32_t count, oracle_ball *ball) {
  for (int attempt = 0; attempt < 40; attempt++) {
    const oracle_ball *at = &t->oracle.balls[random_below(state, count)];
    double d[3], least = fmin((double)ball->radius, (double)at->radius);
    double distance = (double)(ball->radius + at->radius) + least * between(state, -0.05, 0.05);
    bool good = true;
    direction(state, d);
    for (int k = 0; k < 3; k++) {
      long double period = t->oracle.period[k], x = at->x[k] + distance * d[k];
      if (period != 0) x -= period * floorl((x - t->oracle.low[k]) / period);
      ball->x[k] = (double)x;
    }
    for (uint32_t j = 0; good && j < count; j++) {
      const oracle_ball *other = &t->oracle.balls[j];
      good = gap(t, ball, other) > -0.06 * fmin((double)ball->radius, (double)other->radius);
    }
    if (good) return true;
  }
  return false;
}

static graze_body_type type_of(uint32_t i, uint32_t dynamic) {
  return i < dynamic ? GRAZE_BODY_DYNAMIC : i % 2 == 0 ? GRAZE_BODY_STATIC : GRAZE_BODY_KINEMATIC;
}

static void make_balls(twin *t, uint64_t *state) {
  const double ratio = (const double[]){1, 4, 1000}[random_below(state, t->periodic ? 2 : 3)];
  uint32_t wanted = 2 + random_below(state, 39), dynamic = chance(state, 50) ? wanted : 1 + random_below(state, wanted);
  t->alike = ratio < 10 && chance(state, 50);
  t->smallest = t->lightest = 1;
  while (t->oracle.ball_count < wanted) {
    uint32_t i = t->oracle.ball_count;
    oracle_ball b = {.type = type_of(i, dynamic), .material = t->simple ? 0 : random_below(state, MATERIALS)};
    b.radius = exp(-log(ratio) * random_unit(state));
    if (b.type == GRAZE_BODY_KINEMATIC) b.material = t->simple ? 0 : MATERIALS - 1;
    b.mass = t->alike ? 1 : (double)(b.radius * b.radius * b.radius) * (t->simple ? 1 : between(state, 0.5, 2));
    if (i > 0 && !place_ball(t, state, i, &b)) break;
    if (i == 0) {
      for (int k = 0; k < 3; k++) b.x[k] = t->oracle.low[k] + 0.3L * t->oracle.period[k];
    }
    t->smallest = fmin(t->smallest, (double)b.radius);
    t->lightest = fmin(t->lightest, (double)b.mass);
    t->oracle.balls[t->oracle.ball_count++] = b;
  }
}

/* Behind the ball that is farthest that way; along a periodic axis no wall makes sense but one that runs along it. */
static void make_walls(twin *t, uint64_t *state) {
  uint32_t count = chance(state, 60) ? 1 + random_below(state, 2) : 0;
  for (uint32_t w = 0; w < count; w++) {
    double n[3], length = 0, scale = exp(between(state, -3, 3)), point[3];
    const oracle_ball *lowest = &t->oracle.balls[0];
    oracle_wall wall = {.material = t->simple ? 0 : random_below(state, MATERIALS)};
    direction(state, n);
    for (int k = 0; k < 3; k++) n[k] = t->oracle.period[k] != 0 ? 0 : n[k];
    for (int k = 0; k < 3; k++) length += n[k] * n[k];
    if (length == 0) return;
    for (int k = 0; k < 3; k++) {
      wall.normal[k] = n[k] / sqrtl(length);
      n[k] *= scale;
    }
    long double least = INFINITY;
    for (uint32_t i = 0; i < t->oracle.ball_count; i++) {
      const oracle_ball *b = &t->oracle.balls[i];
      long double at = -b->radius;
      for (int k = 0; k < 3; k++) at += wall.normal[k] * b->x[k];
      if (at < least) least = at, lowest = b;
    }
    for (int k = 0; k < 3; k++) {
      point[k] = (double)(lowest->x[k] - wall.normal[k] * lowest->radius * (1 - between(state, -0.02, 0.03)));
      wall.point[k] = point[k];
    }
    t->oracle.walls[t->oracle.wall_count++] = wall;
    assert_int_equal(graze_world_add_wall(t->world, point, n, wall.material), GRAZE_OK);
  }
}

/* Speeds of the order of the smallest radius in the time of the shortest contact, or ten times that. */
static void set_moving(twin *t, uint64_t *state, double dt) {
  t->speed = t->smallest / (20 * dt) * (chance(state, 30) ? 3 : 0.1);
  for (uint32_t i = 0; i < t->oracle.ball_count; i++) {
    oracle_ball *b = &t->oracle.balls[i];
    if (b->type == GRAZE_BODY_STATIC) continue;
    for (int k = 0; k < 3; k++) {
      b->v[k] = t->speed * random_signed(state);
      b->w[k] = t->speed / (double)b->radius * random_signed(state);
    }
  }
}

/* ---- into the library -------------------------------------------------------------------------------------------- */

static void to_doubles(double to[3], const long double from[3]) {
  for (int k = 0; k < 3; k++) to[k] = (double)from[k];
}

static void add_body(twin *t, uint32_t i) {
  const oracle_ball *b = &t->oracle.balls[i];
  graze_body_def def = graze_default_body_def();
  def.type = b->type;
  def.radius = (double)b->radius;
  if (b->type == GRAZE_BODY_DYNAMIC) def.mass = (double)b->mass;
  def.material = b->material;
  to_doubles(def.position, b->x);
  to_doubles(def.velocity, b->v);
  to_doubles(def.spin, b->w);
  assert_int_equal(graze_world_add_body(t->world, &def, &t->ids[i]), GRAZE_OK);
}

/* The balls of a set have the material and the mass, or the density, of its first. */
static uint32_t add_set(twin *t, uint64_t *state, uint32_t begin, uint32_t end) {
  double x[ORACLE_BALLS][3], v[ORACLE_BALLS][3], w[ORACLE_BALLS][3], r[ORACLE_BALLS];
  const long double ball = 4 * acosl(-1) / 3;
  oracle_ball *first = &t->oracle.balls[begin];
  graze_particle_def def = graze_default_particle_def();
  uint32_t set;
  if (t->alike)
    def.mass = (double)first->mass;
  else
    def.density = (double)(first->mass / (ball * first->radius * first->radius * first->radius));
  if (chance(state, 30)) {
    const double resistance = 0.2 * sqrt(t->stiffness * t->lightest);
    def.drag[0] = resistance * random_unit(state);
    def.drag[1] = resistance * random_unit(state) / t->speed;
  }
  for (uint32_t i = begin; i < end; i++) {
    oracle_ball *b = &t->oracle.balls[i];
    b->mass = t->alike ? def.mass : def.density * ball * b->radius * b->radius * b->radius;
    b->material = first->material;
    to_doubles(x[i - begin], b->x);
    to_doubles(v[i - begin], b->v);
    to_doubles(w[i - begin], b->w);
    r[i - begin] = (double)b->radius;
    b->drag[0] = def.drag[0];
    b->drag[1] = def.drag[1];
  }
  def.name = "set";
  def.count = end - begin;
  def.positions = x[0];
  def.velocities = v[0];
  def.spins = w[0];
  def.radii = r;
  def.material = first->material;
  assert_int_equal(graze_world_add_particles(t->world, &def, &set), GRAZE_OK);
  return set;
}

static void add_balls(twin *t, uint64_t *state) {
  uint32_t i, dynamic = 0;
  while (dynamic < t->oracle.ball_count && t->oracle.balls[dynamic].type == GRAZE_BODY_DYNAMIC) dynamic++;
  t->bodies = random_below(state, dynamic + 1);
  uint32_t cut = t->bodies + (dynamic > t->bodies ? random_below(state, dynamic - t->bodies) : 0);
  const uint32_t ends[3] = {t->bodies, cut, dynamic};
  for (i = dynamic; i < t->oracle.ball_count; i++) add_body(t, i); /* out of the order of numbers */
  for (int part = 0; part < 2; part++) {
    if (ends[part] == ends[part + 1]) continue;
    t->set_begin[t->sets] = ends[part];
    assert_int_equal(add_set(t, state, ends[part], ends[part + 1]), t->sets);
    t->sets++;
  }
  for (i = 0; i < t->bodies; i++) add_body(t, i);
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

static double worst; /* of all differences, in units of what is allowed */

/* All are in units of the largest of their kind in the world. */
static void compare(const twin *t, const char *what, double got, long double want, double scale, double tolerance) {
  double off = fabs((double)(got - want)) / (scale * tolerance);
  if (off > worst) worst = off;
  if (off <= 1) return;
  fail_msg("seed %llu: %s is %.17g, not %.17g: off by %.3g of what is allowed", (unsigned long long)t->seed, what, got,
           (double)want, off);
}

static void read_ball(const twin *t, uint32_t i, double x[3], double v[3], double w[3]) {
  double all[3][ORACLE_BALLS][3];
  for (uint32_t s = 0; s < t->sets; s++) {
    uint32_t begin = t->set_begin[s], count = graze_world_get_particle_count(t->world, s);
    if (i < begin || i >= begin + count) continue;
    graze_particle_state state = {all[0][0], all[1][0], all[2][0]};
    assert_int_equal(graze_world_get_particles(t->world, s, &state), GRAZE_OK);
    memcpy(x, all[0][i - begin], 3 * sizeof(double));
    memcpy(v, all[1][i - begin], 3 * sizeof(double));
    memcpy(w, all[2][i - begin], 3 * sizeof(double));
    return;
  }
  graze_body_def def;
  assert_int_equal(graze_world_get_body(t->world, t->ids[i], &def), GRAZE_OK);
  memcpy(x, def.position, sizeof def.position);
  memcpy(v, def.velocity, sizeof def.velocity);
  memcpy(w, def.spin, sizeof def.spin);
}

/* Of any ball, of its surface too. Infinite where a number has stopped being finite. */
static double fastest(const twin *t) {
  long double speed = t->speed;
  for (uint32_t i = 0; i < t->oracle.ball_count; i++) {
    const oracle_ball *b = &t->oracle.balls[i];
    for (int k = 0; k < 3; k++) {
      long double mine = fmaxl(fabsl(b->v[k]), fabsl(b->w[k]) * b->radius);
      if (!isfinite(b->v[k]) || !isfinite(mine)) return INFINITY;
      speed = fmaxl(speed, mine);
    }
  }
  return (double)speed;
}

/* How far the neighbour is from the oracle, in the units of comparisons. */
static double parted(const twin *t) {
  const double speed = fastest(t);
  long double far = 0;
  for (uint32_t i = 0; i < t->oracle.ball_count; i++) {
    const oracle_ball *a = &t->oracle.balls[i], *b = &t->neighbour.balls[i];
    for (int k = 0; k < 3; k++) {
      long double off = a->x[k] - b->x[k], period = t->oracle.period[k];
      if (period != 0) off -= period * roundl(off / period);
      far = fmaxl(far, fabsl(off));
      far = fmaxl(far, fabsl(a->v[k] - b->v[k]) / speed);
      far = fmaxl(far, fabsl(a->w[k] - b->w[k]) * a->radius / speed);
    }
  }
  return (double)far;
}

static void compare_balls(const twin *t, double tolerance) {
  const double speed = fastest(t);
  for (uint32_t i = 0; i < t->oracle.ball_count; i++) {
    const oracle_ball *b = &t->oracle.balls[i];
    double x[3], v[3], w[3];
    read_ball(t, i, x, v, w);
    for (int k = 0; k < 3; k++) {
      long double off = x[k] - b->x[k], period = t->oracle.period[k];
      if (period != 0) off -= period * roundl(off / period);
      compare(t, "a position", (double)(b->x[k] + off), b->x[k], 1, tolerance);
      compare(t, "a velocity", v[k], b->v[k], speed, tolerance);
      compare(t, "a spin", w[k] * (double)b->radius, b->w[k] * b->radius, speed, tolerance);
    }
  }
}

static double largest(const double x[3]) {
  return fmax(fabs(x[0]), fmax(fabs(x[1]), fabs(x[2])));
}

static void compare_sums(const twin *t, double tolerance) {
  graze_world_sums got, want;
  assert_int_equal(graze_world_get_sums(t->world, &got), GRAZE_OK);
  oracle_sums(&t->oracle, &want);
  double energy = want.kinetic + want.rotational + want.elastic, momentum = 0, reach = 1;
  for (uint32_t i = 0; i < t->oracle.ball_count; i++) {
    const oracle_ball *b = &t->oracle.balls[i];
    if (b->type == GRAZE_BODY_DYNAMIC) momentum += (double)(b->mass * sqrtl(2)) * t->speed;
    for (int k = 0; k < 3; k++) reach = fmax(reach, fabs((double)b->x[k]));
  }
  compare(t, "kinetic", got.kinetic, want.kinetic, energy, tolerance);
  compare(t, "rotational", got.rotational, want.rotational, energy, tolerance);
  compare(t, "elastic", got.elastic, want.elastic, energy, tolerance);
  compare(t, "potential", got.potential, want.potential, energy + fabs(want.potential), tolerance);
  compare(t, "max_overlap", got.max_overlap, want.max_overlap, 1, tolerance);
  for (int k = 0; k < 3; k++) {
    compare(t, "momentum", got.momentum[k], want.momentum[k], momentum + largest(want.momentum), tolerance);
    compare(t, "angular momentum", got.angular_momentum[k], want.angular_momentum[k],
            reach * momentum + largest(want.angular_momentum), tolerance);
  }
  assert_int_equal(got.contacts, want.contacts);
}

/* The limit of steps is that of the stiffest contact there can be. With Hertz's law it may be shorter, as it is where a
 * spring across the contact is stiffer than the one along it; never longer. */
static void check_limits(const twin *t, double longest) {
  const double want = (double)oracle_longest(&t->oracle);
  bool exact = true;
  for (int i = 0; i < MATERIALS; i++) {
    for (int j = 0; j < MATERIALS; j++) {
      const graze_material *m = t->oracle.is_pair[i][j] ? &t->oracle.pairs[i][j] : &t->oracle.materials[i];
      exact &= m->law == GRAZE_HOOKE && isnan(m->k_t);
    }
  }
  bool good = longest <= want * (1 + 1e-12) && (!exact || longest >= want * (1 - 1e-12));
  if (!good) fail_msg("seed %llu: the longest step is %.17g, not %.17g", (unsigned long long)t->seed, longest, want);
}

static void take_velocity(oracle_ball *ball, const double v[3], const double w[3]) {
  for (int k = 0; k < 3; k++) {
    ball->v[k] = v[k];
    if (w != NULL) ball->w[k] = w[k];
  }
}

/* Between runs: kinematic bodies get other velocities, and balls of a set others too. */
static void disturb(twin *t, uint64_t *state) {
  double v[ORACLE_BALLS][3];
  for (uint32_t i = 0; i < t->oracle.ball_count; i++) {
    if (t->oracle.balls[i].type != GRAZE_BODY_KINEMATIC || chance(state, 50)) continue;
    double now[2][3];
    for (int k = 0; k < 3; k++) {
      now[0][k] = t->speed * random_signed(state);
      now[1][k] = t->speed * random_signed(state);
    }
    take_velocity(&t->oracle.balls[i], now[0], now[1]);
    take_velocity(&t->neighbour.balls[i], now[0], now[1]);
    assert_int_equal(graze_world_set_velocity(t->world, t->ids[i], now[0], now[1]), GRAZE_OK);
  }
  if (t->sets == 0 || chance(state, 50)) return;
  const graze_particle_state set = {.velocities = v[0]};
  for (uint32_t i = 0; i < graze_world_get_particle_count(t->world, 0); i++) {
    const uint32_t ball = t->set_begin[0] + i;
    for (int k = 0; k < 3; k++) v[i][k] = (double)t->oracle.balls[ball].v[k] + 0.1 * t->speed * random_signed(state);
    take_velocity(&t->oracle.balls[ball], v[i], NULL);
    take_velocity(&t->neighbour.balls[ball], v[i], NULL);
  }
  assert_int_equal(graze_world_set_particles(t->world, 0, &set), GRAZE_OK);
  t->oracle.is_accelerated = t->neighbour.is_accelerated = false;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void make_twin(twin *t, uint64_t seed) {
  uint64_t state = seed;
  graze_world_def def = graze_default_world_def();
  *t = (twin){.seed = seed, .simple = chance(&state, 40)};
  t->periodic = !t->simple && chance(&state, 30);
  def.integrator = chance(&state, 30) ? GRAZE_EULER : GRAZE_LEAPFROG;
  t->oracle.euler = def.integrator == GRAZE_EULER;
  for (int k = 0; k < 3; k++) {
    def.gravity[k] = chance(&state, 50) ? 0.1 * random_signed(&state) : 0;
    t->oracle.gravity[k] = def.gravity[k];
    if (!t->periodic) continue;
    def.periodic[k] = chance(&state, 60);
    def.bounds.min[k] = random_signed(&state);
    def.bounds.max[k] = def.bounds.min[k] + between(&state, 5.5, 8);
    if (!def.periodic[k]) continue;
    t->oracle.low[k] = def.bounds.min[k];
    t->oracle.period[k] = (long double)def.bounds.max[k] - def.bounds.min[k];
  }
  assert_int_equal(graze_world_create(shared_context(1), &def, &t->world), GRAZE_OK);
  make_balls(t, &state);
  t->stiffness = exp(between(&state, -5, 9));
  make_materials(t, &state);
  make_walls(t, &state);
  double longest = (double)oracle_longest(&t->oracle);
  set_moving(t, &state, (isinf(longest) ? 1 : longest) / 40);
  add_balls(t, &state);
  t->neighbour = t->oracle;
  for (uint32_t i = 0; i < t->oracle.ball_count; i++)
    for (int k = 0; k < 3; k++) t->neighbour.balls[i].x[k] *= 1 + 0x1p-52L * random_signed(&state);
}

static int steps_of(uint64_t *state) {
  return 1 + (int)random_below(state, 25);
}

static void test_beside_the_oracle(void **unused) {
  (void)unused;
  const int rounds = test_rounds(400, 40000);
  const uint64_t base = test_seed(1);
  static twin t;
  int compared = 0;
  for (int round = 0; round < rounds; round++) {
    graze_step_limits limits;
    make_twin(&t, base + (uint64_t)round);
    uint64_t state = t.seed ^ 0x5555;
    assert_int_equal(graze_world_get_limits(t.world, &limits), GRAZE_OK);
    check_limits(&t, limits.longest);
    double dt = fmin((double)oracle_longest(&t.oracle), limits.longest);
    const double least = (isinf(dt) ? 1 : dt) / 60;
    /* An overlap of small balls with one a thousand times as large is known that much worse. */
    const double usual = t.smallest < 0.01 ? 1e-7 : 1e-8;
    for (int run = 0; run < 4; run++) {
      int count = steps_of(&state);
      if (run != 1) dt = least * between(&state, 1, 3);
      if (run > 1) disturb(&t, &state);
      oracle_steps(&t.oracle, dt, count);
      oracle_steps(&t.neighbour, dt, count);
      if (!(fastest(&t) < 100 * t.speed)) break; /* too much damping for the step */
      const double tolerance = fmax(usual, 30 * parted(&t));
      if (!(tolerance < 1e-5)) break; /* no answer to compare with */
      compared++;
      graze_status status = graze_world_step(t.world, dt, (uint64_t)count, NULL, NULL);
      if (status != GRAZE_OK) fail_msg("seed %llu: %s", (unsigned long long)t.seed, shared_error()->message);
      compare_balls(&t, tolerance);
      compare_sums(&t, tolerance);
    }
    graze_world_destroy(t.world);
  }
  fprintf(stderr, "%d runs of %d worlds; the largest difference is %.2g of what is allowed\n", compared, rounds, worst);
  assert_true(compared > 3 * rounds);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_beside_the_oracle)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
