/* What two materials do to each other: the law of a contact, as src/dynamics/law_lanes.h has it, and what is told of it
 * while it lasts. */
#include "meeting.h"

/* Its side of a contact. */
typedef struct sides {
  double n[3], overlap, u[3];
  double arm[2], spin[2][3];
  double share, inverse_mass, inverse_inertia, reduced;
  double spring[3];
} sides;

typedef struct outcome {
  double force[3], torque[3], dissipated, normal_force, spring[3], normal_speed;
} outcome;

FUNCTION double dot(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

FUNCTION void cross_product(const double *a, const double *b, double *out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

typedef struct constants {
  double k_n, eta_n, k_t, eta_t;
} constants;

FUNCTION void find_constants(GLOBAL const double *law, const sides *s, u32 simple, constants *c) {
  c->k_n = law[LAW_K_N];
  c->eta_n = law[LAW_ETA_N];
  c->k_t = law[LAW_K_T];
  c->eta_t = law[LAW_ETA_T];
  if (simple) return;
  double m = 1 / s->inverse_mass, root = SQRT(s->reduced * s->overlap);
  if (law[LAW_HERTZ] > 0) c->k_n = c->k_n * root;
  c->eta_n = c->eta_n + law[LAW_GAMMA_N] * m + law[LAW_ZETA_N] * SQRT(c->k_n * m);
  c->eta_t = c->eta_t + law[LAW_GAMMA_T] * m + law[LAW_SHARE_T] * c->eta_n;
  c->k_t = c->k_t + law[LAW_MINDLIN] * root;
}

/* The first may be NaN: then the second. */
FUNCTION double capped(double x, double most) {
  return most > x ? x : most;
}

/* The force of a dashpot across n. */
FUNCTION void across_by_dashpot(const constants *c, const double *slip, double most, double yield, outcome *o,
                                double *across) {
  double speed2 = dot(slip, slip), scale = -capped(most / SQRT(speed2), c->eta_t);
  for (u32 k = 0; k < 3; k++) across[k] = scale * slip[k];
  o->dissipated = o->dissipated - scale * speed2 * (1 + yield * scale);
}

/* What the change of the overlap in the step before did to the energy of a strained spring. */
FUNCTION double stiffened(GLOBAL const double *law, const constants *c, const sides *s, const outcome *o, double dt,
                          double strain2) {
  double overlap = s->overlap + o->normal_speed * dt;
  double root = SQRT(s->reduced * (overlap > 0 ? overlap : 0));
  return 0.5 * (c->k_t - (law[LAW_K_T] + law[LAW_MINDLIN] * root)) * strain2;
}

/* The force of spring and dashpot across n, and what becomes of the spring. */
FUNCTION void across_by_spring(GLOBAL const double *law, const constants *c, const sides *s, const double *slip,
                               double most, double yield, double dt, u32 simple, outcome *o, double *across) {
  double stretch[3], has = law[LAW_SPRING];
  for (u32 k = 0; k < 3; k++) stretch[k] = s->spring[k] + slip[k] * dt * has;
  double along = dot(stretch, s->n), old = dot(s->spring, s->spring);
  for (u32 k = 0; k < 3; k++) {
    stretch[k] = stretch[k] - along * s->n[k];
    across[k] = -(c->k_t * stretch[k] + c->eta_t * slip[k]);
  }
  double scale = capped(most / SQRT(dot(across, across)), 1);
  u32 slides = 1 > scale && c->k_t > 0, mindlin = law[LAW_MINDLIN] > 0;
  for (u32 k = 0; k < 3; k++) {
    across[k] = scale * across[k];
    double left = mindlin ? scale * stretch[k] : -((across[k] + c->eta_t * slip[k]) / c->k_t);
    o->spring[k] = (slides ? left : stretch[k]) * has;
  }
  double stored = 0.5 * c->k_t * (dot(o->spring, o->spring) - old);
  if (!simple) stored = stored + stiffened(law, c, s, o, dt, old);
  double work = (dot(across, slip) + yield * dot(across, across)) * dt;
  o->dissipated = o->dissipated - (work + stored) / dt;
}

FUNCTION void add_tangential(GLOBAL const double *law, const constants *c, const sides *s, double dt, u32 simple,
                             u32 springs, outcome *o) {
  double turn[3], around[3], slip[3], across[3], lever[3], full = simple ? 1.0 : law[LAW_ARM];
  for (u32 k = 0; k < 3; k++) turn[k] = s->arm[0] * s->spin[0][k] + s->arm[1] * s->spin[1][k];
  cross_product(turn, s->n, around);
  for (u32 k = 0; k < 3; k++) slip[k] = s->u[k] - o->normal_speed * s->n[k] - full * around[k];
  double most = law[LAW_FRICTION] * ABS(o->normal_force);
  double yield = (1 + 2.5 * full) * (0.5 * dt * s->inverse_mass);
  if (springs)
    across_by_spring(law, c, s, slip, most, yield, dt, simple, o, across);
  else
    across_by_dashpot(c, slip, most, yield, o, across);
  cross_product(s->n, across, lever);
  for (u32 k = 0; k < 3; k++) {
    o->torque[k] = full * -(s->arm[0] * lever[k]);
    o->force[k] = o->force[k] + across[k];
  }
}

FUNCTION void add_against_spin(const sides *s, double dt, const double *part, double coefficient, outcome *o) {
  double speed2 = dot(part, part), most = coefficient * ABS(o->normal_force) * s->reduced;
  double ends = 1 / (s->inverse_inertia * dt), scale = -capped(most / SQRT(speed2), ends);
  for (u32 k = 0; k < 3; k++) o->torque[k] = o->torque[k] + scale * part[k];
  o->dissipated = o->dissipated - scale * speed2;
}

FUNCTION void resist_spin(GLOBAL const double *law, const sides *s, double dt, outcome *o) {
  double relative[3], about[3], across[3];
  for (u32 k = 0; k < 3; k++) relative[k] = s->spin[0][k] - s->spin[1][k];
  double along = dot(relative, s->n);
  for (u32 k = 0; k < 3; k++) {
    about[k] = along * s->n[k];
    across[k] = relative[k] - about[k];
  }
  add_against_spin(s, dt, across, law[LAW_ROLLING], o);
  add_against_spin(s, dt, about, law[LAW_SPINNING], o);
}

FUNCTION void apply_law(GLOBAL const double *law, const sides *s, double dt, u32 features, outcome *o) {
  u32 simple = (features & FEATURE_SIMPLE) != 0;
  constants c;
  find_constants(law, s, simple, &c);
  o->normal_speed = dot(s->u, s->n);
  double elastic = c.k_n * s->overlap, force = elastic - c.eta_n * o->normal_speed, least = law[LAW_LEAST];
  o->normal_force = force > least ? force : least;
  o->dissipated = (elastic - o->normal_force) * (o->normal_speed + 0.5 * dt * s->inverse_mass * o->normal_force);
  for (u32 k = 0; k < 3; k++) {
    o->force[k] = o->normal_force * s->n[k];
    o->torque[k] = o->spring[k] = 0;
  }
  if (features & FEATURE_TANGENTIAL) add_tangential(law, &c, s, dt, simple, (features & FEATURE_SPRINGS) != 0, o);
  if (!simple) resist_spin(law, s, dt, o);
}

/* Tells that a contact begins and is nearest. hit: speed of approach, or negative once that was told; impulse so far.
 */
FUNCTION void follow(GLOBAL double *hit, u32 began, const outcome *o, double dt, told t, const meeting *m) {
  double speed = o->normal_speed, approach = hit[0], impulse = hit[1];
  if (began) {
    approach = speed < 0 ? -speed : -1.0;
    tell(t, EVENT_BEGAN, m, -speed, 0);
  }
  impulse += o->normal_force * dt;
  if (!(approach < 0 || speed < 0)) {
    tell(t, EVENT_HIT, m, approach, impulse);
    approach = -1;
  }
  hit[0] = approach;
  hit[1] = impulse;
}

/* ---- motion ------------------------------------------------------------------------------------------------------ */

/* (1, w dt/2) q, made a unit quaternion again: a body turns with the spin that it drifts with. */
FUNCTION void turn_body(GLOBAL double *q, const double *spin, double dt) {
  double h = 0.5 * dt, x = h * spin[0], y = h * spin[1], z = h * spin[2], t[4];
  t[0] = q[0] - (x * q[1] + y * q[2] + z * q[3]);
  t[1] = q[1] + (x * q[0] + (y * q[3] - z * q[2]));
  t[2] = q[2] + (y * q[0] + (z * q[1] - x * q[3]));
  t[3] = q[3] + (z * q[0] + (x * q[2] - y * q[1]));
  double length = SQRT(t[0] * t[0] + t[1] * t[1] + (t[2] * t[2] + t[3] * t[3]));
  for (u32 k = 0; k < 4; k++) q[k] = t[k] / length;
}
