#include "dem_oracle.h"

#include <math.h>
#include <string.h>

typedef long double real;

static real dot(const real a[3], const real b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const real a[3], const real b[3], real out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* ---- materials --------------------------------------------------------------------------------------------------- */

/* Numbers of a contact between two materials, for a mass m, a reduced radius and an overlap. */
typedef struct constants {
  real k_n, eta_n, k_t, eta_t;
  real elastic; /* energy of the spring / (k_n o^2) */
} constants;

static real harmonic(real x, real y) {
  return x + y == 0 ? 0 : 2 * x * y / (x + y);
}

static double given_both(double x, double y) {
  return isnan(x) || isnan(y) ? (double)NAN : (double)harmonic(x, y);
}

static double given_either(double x, double y) {
  return isnan(x) ? y : isnan(y) ? x : (double)harmonic(x, y);
}

/* As if the two were one; `soft` is 1 / E*, `shear` 1 / G*. */
static graze_material combined(const oracle_world *world, uint32_t a, uint32_t b, real *soft, real *shear) {
  const graze_material *x = &world->materials[a], *y = &world->materials[b];
  graze_material m;
  if (world->is_pair[a][b]) x = y = &world->pairs[a][b];
  m = *x;
  m.k_n = given_both(x->k_n, y->k_n);
  m.eta_n = given_both(x->eta_n, y->eta_n);
  m.gamma_n = given_both(x->gamma_n, y->gamma_n);
  m.k_t = given_both(x->k_t, y->k_t);
  m.eta_t = given_either(x->eta_t, y->eta_t);
  m.gamma_t = given_either(x->gamma_t, y->gamma_t);
  m.restitution = sqrt(x->restitution * y->restitution);
  m.friction = sqrt(x->friction * y->friction);
  m.rolling = sqrt(x->rolling * y->rolling);
  m.spinning = sqrt(x->spinning * y->spinning);
  if (y->tangential > m.tangential) m.tangential = y->tangential;
  if (y->ends == GRAZE_END_FORCE) m.ends = GRAZE_END_FORCE;
  *soft = (1 - (real)x->poisson * x->poisson) / x->young + (1 - (real)y->poisson * y->poisson) / y->young;
  /* G = E / (2 (1 + nu)), 1 / G* = (2 - nu1) / G1 + (2 - nu2) / G2 */
  *shear = (2 - (real)x->poisson) / (x->young / (2 * (1 + (real)x->poisson))) +
           (2 - (real)y->poisson) / (y->young / (2 * (1 + (real)y->poisson)));
  return m;
}

/* x'' + 2 z x' + x = 0 from x = 0, x' = 1: the speed at which the force x + 2 z x' comes to 0 (by halving, so that no
 * formula is taken over). */
static void swing(real z, real t, real *x, real *v) {
  real w = sqrtl(fabsl(1 - z * z)), s = z < 1 ? sinl(w * t) / w : z > 1 ? sinhl(w * t) / w : t;
  real c = z < 1 ? cosl(w * t) : z > 1 ? coshl(w * t) : 1;
  *x = expl(-z * t) * s;
  *v = expl(-z * t) * (c - z * s);
}

static real speed_after(real z) {
  real low = 0, high = 0, x, v;
  do { /* steps so short that the first sign change is not missed */
    low = high;
    high += 0.05L;
    swing(z, high, &x, &v);
  } while (x + 2 * z * v > 0);
  for (int i = 0; i < 100; i++) {
    real middle = (low + high) / 2;
    swing(z, middle, &x, &v);
    if (x + 2 * z * v > 0)
      low = middle;
    else
      high = middle;
  }
  return -v;
}

static real damping_ratio(real restitution, graze_contact_end ends) {
  real pi = acosl(-1), log_e = logl(restitution), low = 0, high = 4;
  if (ends == GRAZE_END_OVERLAP) return -log_e / sqrtl(pi * pi + log_e * log_e);
  for (int i = 0; i < 90; i++) {
    real middle = (low + high) / 2;
    if (speed_after(middle) > restitution)
      low = middle;
    else
      high = middle;
  }
  return (low + high) / 2;
}

static real damping_ratio_once(real restitution, graze_contact_end ends) { /* the last answers are kept */
  static real kept[8][3];
  static int next;
  for (int i = 0; i < 8; i++) {
    if (kept[i][0] == restitution && kept[i][1] == (real)ends) return kept[i][2];
  }
  real *k = kept[next++ % 8];
  k[0] = restitution;
  k[1] = (real)ends;
  return k[2] = damping_ratio(restitution, ends);
}

static constants constants_of(const graze_material *m, real soft, real shear, real mass, real reduced, real overlap) {
  constants c = {.elastic = 0.5L};
  bool hertz = m->law == GRAZE_HERTZ, full = m->tangential == GRAZE_TANGENTIAL_FULL;
  real root = sqrtl(reduced * overlap);
  c.k_n = hertz ? 4 * root / (3 * soft) : m->k_n;
  if (hertz) c.elastic = 0.4L;
  if (!isnan(m->eta_n)) c.eta_n = m->eta_n;
  if (!isnan(m->gamma_n)) c.eta_n = m->gamma_n * mass;
  if (!isnan(m->restitution))
    c.eta_n = (hertz ? sqrtl(5) : 2) * damping_ratio_once(m->restitution, m->ends) * sqrtl(c.k_n * mass);
  c.k_t = !isnan(m->k_t) ? m->k_t : hertz ? 8 * root / shear : 2 * c.k_n / 7;
  c.eta_t = c.eta_n / 2;
  if (!isnan(m->eta_t)) c.eta_t = m->eta_t;
  if (!isnan(m->gamma_t)) c.eta_t = m->gamma_t * mass;
  if (full) c.eta_t = c.eta_n;
  return c;
}

/* ---- a contact --------------------------------------------------------------------------------------------------- */

/* Two balls, or a ball and a wall (other == NULL). */
typedef struct meeting {
  const oracle_ball *ball, *other;
  const oracle_wall *wall;
  real n[3], overlap, arm[2], inverse_mass, inverse_inertia, reduced, surface[3];
  graze_material m;
  constants c;
} meeting;

typedef struct answer {
  real force[3], torque[2][3], spring[3];
} answer;

static real inverse_mass(const oracle_ball *b) {
  return b->type == GRAZE_BODY_DYNAMIC ? 1 / b->mass : 0;
}

static real inverse_inertia(const oracle_ball *b) {
  return inverse_mass(b) / (0.4L * b->radius * b->radius);
}

static void finish_meeting(const oracle_world *world, meeting *c, uint32_t a, uint32_t b) {
  real soft, shear;
  c->m = combined(world, a, b, &soft, &shear);
  c->c = constants_of(&c->m, soft, shear, 1 / c->inverse_mass, c->reduced, c->overlap);
}

static bool meet_ball(const oracle_world *world, const oracle_ball *a, const oracle_ball *b, meeting *c) {
  *c = (meeting){.ball = a, .other = b};
  c->inverse_mass = inverse_mass(a) + inverse_mass(b);
  if (c->inverse_mass == 0) return false;
  for (int k = 0; k < 3; k++) {
    c->n[k] = a->x[k] - b->x[k];
    if (world->period[k] != 0) c->n[k] -= world->period[k] * roundl(c->n[k] / world->period[k]);
  }
  real distance = sqrtl(dot(c->n, c->n));
  c->overlap = a->radius + b->radius - distance;
  if (!(c->overlap > 0)) return false;
  for (int k = 0; k < 3; k++) {
    c->n[k] /= distance;
    if (b->type == GRAZE_BODY_STATIC) c->surface[k] = world->materials[b->material].surface_speed[k];
  }
  c->arm[0] = a->radius - c->overlap / 2;
  c->arm[1] = b->radius - c->overlap / 2;
  c->inverse_inertia = inverse_inertia(a) + inverse_inertia(b);
  c->reduced = a->radius * b->radius / (a->radius + b->radius);
  finish_meeting(world, c, a->material, b->material);
  return true;
}

static bool meet_wall(const oracle_world *world, const oracle_ball *a, const oracle_wall *wall, meeting *c) {
  real from[3];
  *c = (meeting){.ball = a, .wall = wall};
  if (a->type != GRAZE_BODY_DYNAMIC) return false;
  for (int k = 0; k < 3; k++) {
    from[k] = a->x[k] - wall->point[k];
    c->n[k] = wall->normal[k];
    c->surface[k] = world->materials[wall->material].surface_speed[k];
  }
  c->overlap = a->radius - dot(from, c->n);
  if (!(c->overlap > 0)) return false;
  c->arm[0] = a->radius - c->overlap / 2;
  c->inverse_mass = inverse_mass(a);
  c->inverse_inertia = inverse_inertia(a);
  c->reduced = a->radius;
  finish_meeting(world, c, a->material, wall->material);
  return true;
}

/* Relative velocities: of the centres, where they touch, and of the spins. */
static void velocities(const meeting *c, real centres[3], real touch[3], real spin[3]) {
  static const real still[3];
  const real *v = c->other != NULL ? c->other->v : still, *w = c->other != NULL ? c->other->w : still;
  real at[2][3], moved[2][3];
  for (int k = 0; k < 3; k++) at[0][k] = -c->arm[0] * c->n[k], at[1][k] = c->arm[1] * c->n[k];
  cross(c->ball->w, at[0], moved[0]);
  cross(w, at[1], moved[1]);
  for (int k = 0; k < 3; k++) {
    centres[k] = c->ball->v[k] - v[k] - c->surface[k];
    touch[k] = centres[k] + moved[0][k] - moved[1][k];
    spin[k] = c->ball->w[k] - w[k];
  }
}

static void across(const meeting *c, const real touch[3], real f_n, real dt, const real before[3], answer *out) {
  real u_n = dot(touch, c->n), u_t[3], f[3], s[3] = {0, 0, 0}, most = c->m.friction * fabsl(f_n);
  bool springs = c->m.tangential == GRAZE_TANGENTIAL_SPRING, mindlin = c->m.law == GRAZE_HERTZ && isnan(c->m.k_t);
  for (int k = 0; k < 3; k++) {
    u_t[k] = touch[k] - u_n * c->n[k];
    if (springs) s[k] = before[k] + u_t[k] * dt;
  }
  real along = dot(s, c->n);
  for (int k = 0; k < 3; k++) {
    s[k] -= along * c->n[k];
    f[k] = -c->c.eta_t * u_t[k] - (springs ? c->c.k_t * s[k] : 0);
  }
  real strength = sqrtl(dot(f, f));
  if (c->m.tangential != GRAZE_TANGENTIAL_FULL && strength > most) {
    for (int k = 0; k < 3; k++) {
      f[k] *= most / strength;
      if (springs && mindlin)
        s[k] *= most / strength;
      else if (springs && c->c.k_t > 0)
        s[k] = -(f[k] + c->c.eta_t * u_t[k]) / c->c.k_t;
    }
  }
  memcpy(out->spring, s, sizeof s);
  for (int k = 0; k < 3; k++) out->force[k] += f[k];
  if (c->m.tangential == GRAZE_TANGENTIAL_FULL) return;
  real lever[3];
  cross(c->n, f, lever); /* (-arm n) x f, and (arm n) x (-f) */
  for (int k = 0; k < 3; k++) {
    out->torque[0][k] -= c->arm[0] * lever[k];
    out->torque[1][k] -= c->arm[1] * lever[k];
  }
}

static void against_spin(const meeting *c, const real part[3], real coefficient, real f_n, real dt, answer *out) {
  real speed = sqrtl(dot(part, part)), most = coefficient * fabsl(f_n) * c->reduced;
  if (speed == 0) return;
  real ends = speed / (c->inverse_inertia * dt), torque = most < ends ? most : ends;
  for (int k = 0; k < 3; k++) {
    out->torque[0][k] -= torque * part[k] / speed;
    out->torque[1][k] += torque * part[k] / speed;
  }
}

static void apply_law(const meeting *c, real dt, const real before[3], answer *out) {
  real centres[3], touch[3], spin[3], about[3], rest[3];
  *out = (answer){.force = {0}};
  velocities(c, centres, touch, spin);
  real f_n = c->c.k_n * c->overlap - c->c.eta_n * dot(centres, c->n);
  if (c->m.ends == GRAZE_END_FORCE && f_n < 0) f_n = 0;
  for (int k = 0; k < 3; k++) out->force[k] = f_n * c->n[k];
  if (c->m.tangential == GRAZE_TANGENTIAL_FULL)
    across(c, centres, f_n, dt, before, out);
  else if (c->m.tangential != GRAZE_TANGENTIAL_NONE)
    across(c, touch, f_n, dt, before, out);
  real along = dot(spin, c->n);
  for (int k = 0; k < 3; k++) {
    about[k] = along * c->n[k];
    rest[k] = spin[k] - about[k];
  }
  against_spin(c, rest, c->m.rolling, f_n, dt, out);
  against_spin(c, about, c->m.spinning, f_n, dt, out);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void add_meeting(const meeting *c, bool meets, oracle_memory *memory, oracle_ball *a, oracle_ball *b, real dt,
                        bool remembers) {
  answer out;
  oracle_memory now = *memory;
  if (!now.touching) memset(now.spring, 0, sizeof now.spring);
  if (meets) {
    apply_law(c, dt, now.spring, &out);
    memcpy(now.spring, out.spring, sizeof now.spring);
    for (int k = 0; k < 3; k++) {
      a->a[k] += out.force[k] * inverse_mass(a);
      a->b[k] += out.torque[0][k] * inverse_inertia(a);
      if (b != NULL) b->a[k] -= out.force[k] * inverse_mass(b);
      if (b != NULL) b->b[k] += out.torque[1][k] * inverse_inertia(b);
    }
  }
  now.touching = meets;
  if (remembers) *memory = now;
}

static void accelerate(oracle_world *world, real dt, bool remembers) {
  meeting c;
  for (uint32_t i = 0; i < world->ball_count; i++) {
    oracle_ball *a = &world->balls[i];
    real speed = sqrtl(dot(a->v, a->v)), drag = a->drag[0] + a->drag[1] * speed;
    for (int k = 0; k < 3; k++) {
      a->b[k] = 0;
      a->a[k] = a->type == GRAZE_BODY_DYNAMIC ? world->gravity[k] - drag * a->v[k] / a->mass : 0;
    }
  }
  for (uint32_t i = 0; i < world->ball_count; i++) {
    oracle_ball *a = &world->balls[i];
    for (uint32_t j = i + 1; j < world->ball_count; j++) {
      bool meets = meet_ball(world, a, &world->balls[j], &c);
      add_meeting(&c, meets, &world->memory[i][j], a, &world->balls[j], dt, remembers);
    }
    for (uint32_t w = 0; w < world->wall_count; w++) {
      bool meets = meet_wall(world, a, &world->walls[w], &c);
      add_meeting(&c, meets, &world->memory[i][ORACLE_BALLS + w], a, NULL, dt, remembers);
    }
  }
}

static void kick(oracle_world *world, real dt) {
  for (uint32_t i = 0; i < world->ball_count; i++) {
    oracle_ball *b = &world->balls[i];
    for (int k = 0; k < 3; k++) b->v[k] += dt * b->a[k], b->w[k] += dt * b->b[k];
  }
}

static void drift(oracle_world *world, real dt) {
  for (uint32_t i = 0; i < world->ball_count; i++) {
    oracle_ball *b = &world->balls[i];
    for (int k = 0; k < 3; k++) {
      b->x[k] += dt * b->v[k];
      if (world->period[k] != 0) b->x[k] -= world->period[k] * floorl((b->x[k] - world->low[k]) / world->period[k]);
    }
  }
}

void oracle_steps(oracle_world *world, long double dt, int count) {
  if (!world->euler && !world->is_accelerated) accelerate(world, dt, false);
  world->is_accelerated = true;
  for (int i = 0; i < count; i++) {
    if (world->euler) {
      accelerate(world, dt, true);
      kick(world, dt);
      drift(world, dt);
    } else {
      kick(world, dt / 2);
      drift(world, dt);
      accelerate(world, dt, true);
      kick(world, dt / 2);
    }
  }
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static void sum_meeting(const meeting *c, const oracle_memory *memory, graze_world_sums *sums) {
  bool springs = memory->touching && c->m.tangential == GRAZE_TANGENTIAL_SPRING;
  real strain2 = springs ? dot(memory->spring, memory->spring) : 0;
  sums->contacts++;
  sums->elastic += (double)(c->c.elastic * c->c.k_n * c->overlap * c->overlap + c->c.k_t / 2 * strain2);
  if ((double)c->overlap > sums->max_overlap) sums->max_overlap = (double)c->overlap;
}

void oracle_sums(const oracle_world *world, graze_world_sums *sums) {
  meeting c;
  *sums = (graze_world_sums){.contacts = 0};
  for (uint32_t i = 0; i < world->ball_count; i++) {
    const oracle_ball *b = &world->balls[i];
    real around[3];
    for (uint32_t j = i + 1; j < world->ball_count; j++) {
      if (meet_ball(world, b, &world->balls[j], &c)) sum_meeting(&c, &world->memory[i][j], sums);
    }
    for (uint32_t w = 0; w < world->wall_count; w++) {
      if (meet_wall(world, b, &world->walls[w], &c)) sum_meeting(&c, &world->memory[i][ORACLE_BALLS + w], sums);
    }
    if (b->type != GRAZE_BODY_DYNAMIC) continue;
    real inertia = 0.4L * b->mass * b->radius * b->radius;
    cross(b->x, b->v, around);
    sums->kinetic += (double)(b->mass / 2 * dot(b->v, b->v));
    sums->rotational += (double)(inertia / 2 * dot(b->w, b->w));
    sums->potential -= (double)(b->mass * dot(world->gravity, b->x));
    for (int k = 0; k < 3; k++) {
      sums->momentum[k] += (double)(b->mass * b->v[k]);
      sums->angular_momentum[k] += (double)(b->mass * around[k] + inertia * b->w[k]);
    }
  }
  sums->energy = sums->kinetic + sums->rotational + sums->potential + sums->elastic;
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

static real limit_of(const oracle_world *world, real inverse, real reduced, uint32_t a, uint32_t b) {
  real soft, shear;
  if (inverse == 0) return (real)INFINITY;
  graze_material m = combined(world, a, b, &soft, &shear);
  constants c = constants_of(&m, soft, shear, 1 / inverse, reduced, reduced / 100);
  real k = m.law == GRAZE_HERTZ ? 1.5L * c.k_n : c.k_n; /* df/do */
  return 2 / sqrtl(k * inverse);
}

long double oracle_longest(const oracle_world *world) {
  real longest = (real)INFINITY;
  for (uint32_t i = 0; i < world->ball_count; i++) {
    const oracle_ball *a = &world->balls[i];
    for (uint32_t j = i + 1; j < world->ball_count; j++) {
      const oracle_ball *b = &world->balls[j];
      longest = fminl(longest, limit_of(world, inverse_mass(a) + inverse_mass(b),
                                        a->radius * b->radius / (a->radius + b->radius), a->material, b->material));
    }
    for (uint32_t w = 0; w < world->wall_count; w++)
      longest = fminl(longest, limit_of(world, inverse_mass(a), a->radius, a->material, world->walls[w].material));
  }
  return longest;
}
