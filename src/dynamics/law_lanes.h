/* The law of contact, a contact in each lane: what graze/dynamics.h says in formulas. For pass_kernels.c. */
#ifndef GRAZE_SRC_DYNAMICS_LAW_LANES_H
#define GRAZE_SRC_DYNAMICS_LAW_LANES_H

#include <stddef.h>

#include "base/simd.h"
#include "dynamics/law.h"

/* So that `features` are known when a pass is compiled; with sanitizers one copy of each function is enough. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define INLINED static inline
#else
#define INLINED static inline __attribute__((always_inline))
#endif

/* What is fixed when a pass is compiled. */
typedef struct features {
  bool simple; /* one law of Hooke's for all */
  bool tangential, springs;
} features;

/* ---- small vectors ----------------------------------------------------------------------------------------------- */

static inline vd dot(const vd a[3], const vd b[3]) {
  return vd_add(vd_add(vd_mul(a[0], b[0]), vd_mul(a[1], b[1])), vd_mul(a[2], b[2]));
}

static inline void cross(const vd a[3], const vd b[3], vd out[3]) {
  for (int k = 0; k < 3; k++) {
    int l = (k + 1) % 3, m = (k + 2) % 3;
    out[k] = vd_sub(vd_mul(a[l], b[m]), vd_mul(a[m], b[l]));
  }
}

/* ---- the law ----------------------------------------------------------------------------------------------------- */

/* A contact in each lane: of a ball with another, a wall or a surface. */
typedef struct sides {
  vd n[3];    /* from the second to the first */
  vd overlap; /* above 0 */
  vd u[3];    /* velocity of the first's centre minus that of the second's, or of the surface */
  vd arm[2];  /* from the centres to the contact */
  vd spin[2][3];
  vd inverse_mass; /* 1 / m */
  vd inverse_inertia;
  vd reduced; /* radius */
  vd spring[3];
  vd dt;
} sides;

/* The force on the first; that on the second is its negative, bit for bit. */
typedef struct outcome {
  vd force[3], torque[2][3], dissipated, normal_force, spring[3], normal_speed;
} outcome;

/* Laws, one in each lane. */
typedef struct lane_law {
  vd field[LAW_FIELDS];
} lane_law;

#define L(name) (offsetof(law, name) / sizeof(double))

/* Constants of the contact that the simple law has as they are. */
typedef struct constants {
  vd k_n, eta_n, k_t, eta_t;
} constants;

INLINED constants constants_of(const lane_law *l, const sides *s, features f) {
  const vd *x = l->field;
  if (f.simple) return (constants){x[L(k_n)], x[L(eta_n)], x[L(k_t)], x[L(eta_t)]};
  vd m = vd_div(vd_set(1), s->inverse_mass), root = vd_sqrt(vd_mul(s->reduced, s->overlap));
  vm hertz = vd_gt(x[L(hertz)], vd_set(0));
  constants c;
  c.k_n = vd_select(hertz, vd_mul(x[L(k_n)], root), x[L(k_n)]);
  c.eta_n = vd_add(vd_add(x[L(eta_n)], vd_mul(x[L(gamma_n)], m)), vd_mul(x[L(zeta_n)], vd_sqrt(vd_mul(c.k_n, m))));
  c.eta_t = vd_add(vd_add(x[L(eta_t)], vd_mul(x[L(gamma_t)], m)), vd_mul(x[L(share_t)], c.eta_n));
  c.k_t = vd_add(x[L(k_t)], vd_mul(x[L(mindlin)], root));
  return c;
}

/* Least of two where the first may be NaN, which 0/0 is: then the second. */
static inline vd capped(vd x, vd most) {
  return vd_select(vd_gt(most, x), x, most);
}

/* By how much a force of 1 changes the velocity in half a step. What a force takes out of the motion in a step it takes
 * at the mean of the velocities before and after; for one contact alone that mean is known. Across n a solid ball
 * yields 3.5 times as much as along it, because it turns. */
static inline vd half_step(const sides *s) {
  return vd_mul(vd_mul(vd_set(0.5), s->dt), s->inverse_mass);
}

/* What the change of the overlap in the step before did to the energy of a strained spring: Mindlin's is the stiffer
 * the deeper. With the square of the strain that it had. */
static inline vd stiffened(const lane_law *l, const constants *c, const sides *s, const outcome *o, vd strain2) {
  vd overlap = vd_max(vd_add(s->overlap, vd_mul(o->normal_speed, s->dt)), vd_set(0));
  vd root = vd_sqrt(vd_mul(s->reduced, overlap));
  vd before = vd_add(l->field[L(k_t)], vd_mul(l->field[L(mindlin)], root));
  return vd_mul(vd_mul(vd_set(0.5), vd_sub(c->k_t, before)), strain2);
}

/* The force across n, and what the spring becomes. */
INLINED void add_tangential(const lane_law *l, const constants *c, const sides *s, outcome *o, features f) {
  const vd *x = l->field;
  vd turn[3], around[3], slip[3], across[3], lever[3];
  vd full = f.simple ? vd_set(1) : x[L(arm)];
  for (int k = 0; k < 3; k++) turn[k] = vd_add(vd_mul(s->arm[0], s->spin[0][k]), vd_mul(s->arm[1], s->spin[1][k]));
  cross(turn, s->n, around);
  for (int k = 0; k < 3; k++) {
    vd spin = f.simple ? around[k] : vd_mul(full, around[k]);
    slip[k] = vd_sub(vd_sub(s->u[k], vd_mul(o->normal_speed, s->n[k])), spin);
  }
  vd most = vd_mul(x[L(friction)], vd_abs(o->normal_force));
  vd yield = vd_mul(f.simple ? vd_set(3.5) : vd_add(vd_set(1), vd_mul(vd_set(2.5), full)), half_step(s));
  if (!f.springs) {
    vd speed2 = dot(slip, slip);
    vd scale = vd_neg(capped(vd_div(most, vd_sqrt(speed2)), c->eta_t));
    for (int k = 0; k < 3; k++) across[k] = vd_mul(scale, slip[k]);
    o->dissipated = vd_sub(o->dissipated, vd_mul(vd_mul(scale, speed2), vd_add(vd_set(1), vd_mul(yield, scale))));
  } else {
    vd stretch[3];
    for (int k = 0; k < 3; k++) stretch[k] = vd_add(s->spring[k], vd_mul(vd_mul(slip[k], s->dt), x[L(spring)]));
    const vd along = dot(stretch, s->n), old = dot(s->spring, s->spring);
    for (int k = 0; k < 3; k++) {
      stretch[k] = vd_sub(stretch[k], vd_mul(along, s->n[k]));
      across[k] = vd_neg(vd_add(vd_mul(c->k_t, stretch[k]), vd_mul(c->eta_t, slip[k])));
    }
    vd strength2 = dot(across, across), scale = capped(vd_div(most, vd_sqrt(strength2)), vd_set(1));
    vm slides = vm_and(vd_gt(vd_set(1), scale), vd_gt(c->k_t, vd_set(0)));
    vm mindlin = vd_gt(x[L(mindlin)], vd_set(0));
    for (int k = 0; k < 3; k++) {
      across[k] = vd_mul(scale, across[k]);
      vd left = vd_neg(vd_div(vd_add(across[k], vd_mul(c->eta_t, slip[k])), c->k_t));
      if (!f.simple) left = vd_select(mindlin, vd_mul(scale, stretch[k]), left);
      o->spring[k] = vd_mul(vd_select(slides, left, stretch[k]), x[L(spring)]);
    }
    vd now = dot(o->spring, o->spring);
    vd stored = vd_mul(vd_mul(vd_set(0.5), c->k_t), vd_sub(now, old));
    if (!f.simple) stored = vd_add(stored, stiffened(l, c, s, o, old));
    vd work = vd_mul(vd_add(dot(across, slip), vd_mul(yield, dot(across, across))), s->dt);
    o->dissipated = vd_sub(o->dissipated, vd_div(vd_add(work, stored), s->dt));
  }
  cross(s->n, across, lever);
  for (int k = 0; k < 3; k++) {
    for (int side = 0; side < 2; side++) {
      vd torque = vd_neg(vd_mul(s->arm[side], lever[k]));
      o->torque[side][k] = f.simple ? torque : vd_mul(full, torque);
    }
    o->force[k] = vd_add(o->force[k], across[k]);
  }
}

/* Torque against relative spin: `part` of it, at most `coefficient` |f_n| R and not more than would end it in a step.
 */
INLINED void add_against_spin(const sides *s, outcome *o, const vd part[3], vd coefficient) {
  vd speed2 = dot(part, part), speed = vd_sqrt(speed2);
  vd most = vd_mul(vd_mul(coefficient, vd_abs(o->normal_force)), s->reduced);
  vd ends = vd_div(vd_set(1), vd_mul(s->inverse_inertia, s->dt));
  vd scale = vd_neg(capped(vd_div(most, speed), ends));
  for (int k = 0; k < 3; k++) {
    vd torque = vd_mul(scale, part[k]);
    o->torque[0][k] = vd_add(o->torque[0][k], torque);
    o->torque[1][k] = vd_sub(o->torque[1][k], torque);
  }
  o->dissipated = vd_sub(o->dissipated, vd_mul(scale, speed2));
}

INLINED void resist_spin(const lane_law *l, const sides *s, outcome *o) {
  vd relative[3], about[3], across[3];
  for (int k = 0; k < 3; k++) relative[k] = vd_sub(s->spin[0][k], s->spin[1][k]);
  vd along = dot(relative, s->n);
  for (int k = 0; k < 3; k++) {
    about[k] = vd_mul(along, s->n[k]);
    across[k] = vd_sub(relative[k], about[k]);
  }
  add_against_spin(s, o, across, l->field[L(rolling)]);
  add_against_spin(s, o, about, l->field[L(spinning)]);
}

INLINED void apply_law(const lane_law *l, const sides *s, outcome *o, features f) {
  constants c = constants_of(l, s, f);
  o->normal_speed = dot(s->u, s->n);
  vd elastic = vd_mul(c.k_n, s->overlap);
  o->normal_force = vd_max(vd_sub(elastic, vd_mul(c.eta_n, o->normal_speed)), l->field[L(least)]);
  vd mean_speed = vd_add(o->normal_speed, vd_mul(half_step(s), o->normal_force));
  o->dissipated = vd_mul(vd_sub(elastic, o->normal_force), mean_speed);
  for (int k = 0; k < 3; k++) {
    o->force[k] = vd_mul(o->normal_force, s->n[k]);
    o->torque[0][k] = o->torque[1][k] = vd_set(0);
    o->spring[k] = vd_set(0);
  }
  if (f.tangential) add_tangential(l, &c, s, o, f);
  if (!f.simple) resist_spin(l, s, o);
}

static inline lane_law law_everywhere(const law *l) {
  lane_law lanes;
  const double *fields = (const double *)(const void *)l;
  for (int i = 0; i < (int)LAW_FIELDS; i++) lanes.field[i] = vd_set(fields[i]);
  return lanes;
}

static inline lane_law law_by_lane(const law *const laws[VD_LANES]) {
  lane_law lanes;
  double column[VD_LANES];
  for (int i = 0; i < (int)LAW_FIELDS; i++) {
    for (int lane = 0; lane < VD_LANES; lane++) column[lane] = ((const double *)(const void *)laws[lane])[i];
    lanes.field[i] = vd_load(column);
  }
  return lanes;
}

#endif
