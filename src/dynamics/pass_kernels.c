/* The forces of balls on each other, a register of balls at a time.
 *
 * Each lane has a ball of its own, and all lanes go through their balls' contacts together: the first of each, the
 * second of each, and so on, so that a ball's own numbers stay in registers and its forces are added up there in order.
 * First the neighbours of a ball are looked at, a register at a time, and those that overlap are noted.
 */
#include <math.h>
#include <string.h>

#include "base/simd_rows.h"
#include "dynamics/pass.h"

enum {
  MOST_NOTED = 64, /* contacts of a ball before its forces are computed: then there may be more */
  SOLITARY = 16    /* most balls have no more */
};

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

/* The balls of a group, and what acts on them. */
typedef struct group {
  uint32_t first, count; /* places; lanes behind the last repeat it */
  uint32_t own[VD_LANES];
  vd at[4], velocity[4], spin[4];
  vd force[3], torque[3], dissipated;
} group;

/* Whom the ball of each lane touches. */
typedef struct notes {
  uint32_t count[VD_LANES], most;
  uint32_t next[VD_LANES];                           /* entries of the list from here on have not been looked at */
  uint32_t partner[VD_LANES][MOST_NOTED + VD_LANES]; /* up to `most`: behind the last the ball itself */
  uint32_t entry[VD_LANES][MOST_NOTED + VD_LANES];   /* if contacts remember something */
  bool began[VD_LANES][MOST_NOTED + VD_LANES];
  bool done;
} notes;

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

/* One side of a contact in each lane. */
typedef struct sides {
  vd n[3];    /* from the partner to the own centre */
  vd overlap; /* above 0 */
  vd u[3];    /* velocity of the own centre minus that of the partner's, or of the wall's surface */
  vd arm[2];  /* from the centres to the contact */
  vd spin[2][3];
  vd share;        /* of what is dissipated: a half, or 1 where no force moves the partner */
  vd inverse_mass; /* 1 / m */
  vd inverse_inertia;
  vd reduced; /* radius */
  vd spring[3];
  vd dt;
} sides;

typedef struct outcome {
  vd force[3], torque[3], dissipated, normal_force, spring[3], normal_speed;
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
    for (int k = 0; k < 3; k++) {
      across[k] = vd_mul(scale, across[k]);
      vd left = vd_neg(vd_div(vd_add(across[k], vd_mul(c->eta_t, slip[k])), c->k_t));
      o->spring[k] = vd_mul(vd_select(slides, left, stretch[k]), x[L(spring)]);
    }
    vd now = dot(o->spring, o->spring);
    vd stored = vd_mul(vd_mul(vd_set(0.5), c->k_t), vd_sub(now, old));
    vd work = vd_mul(vd_add(dot(across, slip), vd_mul(yield, dot(across, across))), s->dt);
    o->dissipated = vd_sub(o->dissipated, vd_div(vd_add(work, stored), s->dt));
  }
  cross(s->n, across, lever);
  for (int k = 0; k < 3; k++) {
    vd torque = vd_neg(vd_mul(s->arm[0], lever[k]));
    o->torque[k] = f.simple ? torque : vd_mul(full, torque);
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
  for (int k = 0; k < 3; k++) o->torque[k] = vd_add(o->torque[k], vd_mul(scale, part[k]));
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
    o->torque[k] = vd_set(0);
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

/* ---- looking ----------------------------------------------------------------------------------------------------- */

static inline vd nearest(vd x, double period) {
  vd half = vd_set(0.5 * period), whole = vd_set(period);
  return vd_select(vd_gt(x, half), vd_sub(x, whole), vd_select(vd_gt(vd_neg(half), x), vd_add(x, whole), x));
}

/* Bits of the partners that overlap the ball, or are no farther from it than `more`. */
INLINED unsigned within(const pass *p, const row *positions, const double *own, const uint32_t *partners, double more,
                        features f) {
  vd other[4], d[3];
  vd_load_rows(other, (const double(*)[4])positions, partners);
  for (int k = 0; k < 3; k++) {
    d[k] = vd_sub(vd_set(own[k]), other[k]);
    if (!f.simple && p->period[k] != 0) d[k] = nearest(d[k], p->period[k]);
  }
  vd reach = vd_add(vd_add(vd_set(own[3]), other[3]), vd_set(more));
  return vm_bits(vd_gt(vd_mul(reach, reach), dot(d, d)));
}

/* Notes contacts of the lane's ball until its entries end or there is no more room. */
INLINED void look(const pass *p, const group *g, unsigned lane, notes *n, pass_result *result, features f) {
  const graze_world *world = p->world;
  const uint32_t *partners = world->list.partners;
  const row *positions = world->now.position;
  const bool remembers = world->remembers && p->mode != PASS_LOOK;
  const uint32_t place = g->own[lane], end = world->list.start[place + 1];
  const double more = p->close == CLOSE_TO_BE_MADE ? world->close_reach : 0;
  uint32_t e = n->next[lane], begin = world->list.start[place], count = 0;
  uint64_t chunk = close_chunk(begin, place, VD_LANES) + (e - begin) / VD_LANES;
  for (; e < end && count <= MOST_NOTED - VD_LANES; e += VD_LANES) {
    unsigned bits;
    if (p->close == CLOSE_KEPT) {
      bits = world->list.close[chunk];
    } else {
      bits = within(p, positions, positions[place], partners + e, more, f);
      if (end - e < VD_LANES) bits &= (1u << (end - e)) - 1;
      if (p->close == CLOSE_TO_BE_MADE) world->list.close[chunk] = (uint8_t)bits;
    }
    chunk++;
    if (bits == 0 && !remembers) continue;
    indices_pack(n->partner[lane] + count, partners + e, bits, place);
    if (remembers || f.springs) {
      for (unsigned left = bits, i = 0; left != 0; left &= left - 1, i++)
        n->entry[lane][count + i] = e + (uint32_t)__builtin_ctz(left);
    }
    if (remembers)
      gz_pass_remember(p, place, e, end - e < VD_LANES ? end - e : VD_LANES, bits, &n->began[lane][count], result);
    count += (uint32_t)__builtin_popcount(bits);
  }
  n->count[lane] = count;
  n->next[lane] = e;
  n->done &= e >= end;
  if (count > n->most) n->most = count;
}

/* ---- computing --------------------------------------------------------------------------------------------------- */

/* Balls with one centre: the normal is up for the higher number. */
static vd part_centers(const graze_world *world, const uint32_t *own, const uint32_t *partner, vd distance, vd up) {
  double at[VD_LANES], z[VD_LANES];
  vd_store(at, distance);
  vd_store(z, up);
  for (int lane = 0; lane < VD_LANES; lane++) {
    if (at[lane] == 0) z[lane] = world->number[own[lane]] > world->number[partner[lane]] ? 1 : -1;
  }
  return vd_load(z);
}

INLINED void load_sides(const pass *p, const group *g, const ball_rows *rows, const uint32_t *partner, vm *active,
                        sides *s, features f) {
  vd at[4], velocity[4], spin[4], d[3];
  vd_load_rows(at, (const double(*)[4])rows->position, partner);
  vd_load_rows(velocity, (const double(*)[4])rows->velocity, partner);
  for (int k = 0; k < 3; k++) {
    d[k] = vd_sub(g->at[k], at[k]);
    if (!f.simple && p->period[k] != 0) d[k] = nearest(d[k], p->period[k]);
    s->u[k] = vd_sub(g->velocity[k], velocity[k]);
    s->spring[k] = vd_set(0);
  }
  vd distance2 = dot(d, d), reach = vd_add(g->at[3], at[3]);
  *active = vm_and(*active, vd_gt(vd_mul(reach, reach), distance2));
  vd distance = vd_sqrt(distance2), inverse = vd_div(vd_set(1), distance);
  vm same = vd_eq(distance, vd_set(0));
  inverse = vd_select(same, vd_set(0), inverse);
  for (int k = 0; k < 3; k++) s->n[k] = vd_mul(d[k], inverse);
  if (__builtin_expect(vm_bits(vm_and(same, *active)) != 0, 0))
    s->n[2] = part_centers(p->world, g->own, partner, distance, s->n[2]);
  s->overlap = vd_sub(reach, distance);
  vd half = vd_mul(vd_set(0.5), s->overlap);
  s->arm[0] = vd_sub(g->at[3], half);
  s->arm[1] = vd_sub(at[3], half);
  s->inverse_mass = vd_add(g->velocity[3], velocity[3]);
  s->share = vd_select(vd_eq(velocity[3], vd_set(0)), vd_set(1), vd_set(0.5));
  s->dt = vd_set(p->dt);
  if (f.tangential || !f.simple) {
    vd_load_rows(spin, (const double(*)[4])rows->spin, partner);
    for (int k = 0; k < 3; k++) s->spin[0][k] = g->spin[k], s->spin[1][k] = spin[k];
    s->inverse_inertia = vd_add(g->spin[3], spin[3]);
  }
  if (!f.simple) s->reduced = vd_div(vd_mul(g->at[3], at[3]), vd_add(g->at[3], at[3]));
}

static inline void load_springs(const contact_memory *memory, const uint64_t *entry, unsigned active, sides *s) {
  double column[3][VD_LANES];
  for (int lane = 0; lane < VD_LANES; lane++) {
    bool touching = active >> lane & 1 && memory->touching[entry[lane]];
    for (int k = 0; k < 3; k++) column[k][lane] = touching ? memory->springs[entry[lane]][k] : 0;
  }
  for (int k = 0; k < 3; k++) s->spring[k] = vd_load(column[k]);
}

static inline void store_springs(const contact_memory *memory, const uint64_t *entry, unsigned active,
                                 const outcome *o) {
  double column[3][VD_LANES];
  for (int k = 0; k < 3; k++) vd_store(column[k], o->spring[k]);
  for (; active != 0; active &= active - 1) {
    int lane = __builtin_ctz(active);
    for (int k = 0; k < 3; k++) memory->springs[entry[lane]][k] = column[k][lane];
  }
}

/* Adds a contact of each active lane to what acts on its ball. */
INLINED void add(group *g, const outcome *o, vd share, vm active) {
  for (int k = 0; k < 3; k++) {
    g->force[k] = vd_select(active, vd_add(g->force[k], o->force[k]), g->force[k]);
    g->torque[k] = vd_select(active, vd_add(g->torque[k], o->torque[k]), g->torque[k]);
  }
  g->dissipated = vd_select(active, vd_add(g->dissipated, vd_mul(share, o->dissipated)), g->dissipated);
}

/* The laws between the balls and partners that are not all of one material. */
static lane_law laws_of(const graze_world *world, const uint32_t *own, const uint32_t *partner) {
  const law *laws[VD_LANES];
  for (int lane = 0; lane < VD_LANES; lane++) laws[lane] = law_between(world, own[lane], PARTNER_BALL, partner[lane]);
  return law_by_lane(laws);
}

/* The surfaces of balls that no force moves may run. */
static inline void add_surface_speed(const lane_law *l, sides *s) {
  vm fixed = vd_eq(s->share, vd_set(1));
  for (int k = 0; k < 3; k++) s->u[k] = vd_select(fixed, vd_sub(s->u[k], l->field[L(surface) + k]), s->u[k]);
}

static void follow(const pass *p, const group *g, const notes *n, uint32_t i, const uint64_t *entry, unsigned active,
                   const outcome *o, pass_result *result) {
  double speed[VD_LANES], force[VD_LANES];
  vd_store(speed, o->normal_speed);
  vd_store(force, o->normal_force);
  for (; active != 0; active &= active - 1) {
    int lane = __builtin_ctz(active);
    gz_pass_follow(p, g->own[lane], (uint32_t)entry[lane], n->began[lane][i], speed[lane], force[lane], result);
  }
}

/* The contacts that are noted: the first of each ball, the second of each, and so on. */
INLINED void compute(const pass *p, group *g, const notes *n, const lane_law *one, pass_result *result, features f) {
  const graze_world *world = p->world;
  const contact_memory *memory = &world->list.of_balls;
  const ball_rows rows = world->now;
  const bool remembers = p->mode != PASS_LOOK, follows = world->def.events && remembers,
             many = !f.simple && world->materials.count > 1;
  for (uint32_t i = 0; i < n->most; i++) {
    uint32_t partner[VD_LANES];
    uint64_t entry[VD_LANES] = {0};
    const unsigned noted = indices_above(n->count, i);
    vm active = vm_from(noted);
    const uint32_t ahead = i + 1 < n->most ? i + 1 : i; /* neighbours are anywhere in memory */
    for (uint32_t lane = 0; lane < VD_LANES; lane++) {
      const uint32_t soon = n->partner[lane][ahead];
      __builtin_prefetch(rows.position[soon]);
      __builtin_prefetch(rows.velocity[soon]);
      if (f.tangential) __builtin_prefetch(rows.spin[soon]);
      partner[lane] = n->partner[lane][i];
      if (f.springs || follows) entry[lane] = noted >> lane & 1 ? n->entry[lane][i] : 0;
    }
    sides s;
    outcome o;
    load_sides(p, g, &rows, partner, &active, &s, f);
    lane_law l = many ? laws_of(world, g->own, partner) : *one;
    if (!f.simple) add_surface_speed(&l, &s);
    if (f.springs) load_springs(memory, entry, noted, &s);
    apply_law(&l, &s, &o, f);
    add(g, &o, s.share, active);
    if (f.springs && remembers) store_springs(memory, entry, noted, &o);
    if (follows) follow(p, g, n, i, entry, noted, &o, result);
  }
}

/* ---- walls and surfaces ------------------------------------------------------------------------------------------ */

enum { QUEUED = 4 /* few balls touch more */ };

/* What the balls of a group run into, in order. */
typedef struct queue {
  obstacle at[VD_LANES][QUEUED];
  uint32_t count[VD_LANES];
} queue;

static void store_obstacle_springs(const obstacle *const o[VD_LANES], unsigned active, const outcome *out) {
  double column[3][VD_LANES];
  for (int k = 0; k < 3; k++) vd_store(column[k], out->spring[k]);
  for (; active != 0; active &= active - 1) {
    int lane = __builtin_ctz(active);
    for (int k = 0; k < 3; k++) o[lane]->memory->springs[o[lane]->entry][k] = column[k][lane];
  }
}

/* The obstacles of the active lanes, as columns. */
static sides load_obstacles(const pass *p, const group *g, const obstacle *const o[VD_LANES], unsigned active) {
  double normal[3][VD_LANES], velocity[3][VD_LANES], spin[3][VD_LANES], strain[3][VD_LANES], overlap[VD_LANES];
  for (int lane = 0; lane < VD_LANES; lane++) {
    const bool is_there = active >> lane & 1;
    overlap[lane] = is_there ? o[lane]->overlap : 0;
    for (int k = 0; k < 3; k++) {
      normal[k][lane] = is_there ? o[lane]->normal[k] : 0;
      velocity[k][lane] = is_there ? o[lane]->velocity[k] : 0;
      spin[k][lane] = is_there ? o[lane]->spin[k] : 0;
      strain[k][lane] = is_there ? o[lane]->strain[k] : 0;
    }
  }
  sides s = {.overlap = vd_load(overlap), .arm = {vd_set(0), vd_set(0)}, .reduced = g->at[3], .dt = vd_set(p->dt)};
  s.arm[0] = vd_sub(g->at[3], vd_mul(vd_set(0.5), s.overlap));
  s.inverse_mass = g->velocity[3];
  s.inverse_inertia = g->spin[3];
  for (int k = 0; k < 3; k++) {
    s.n[k] = vd_load(normal[k]);
    s.u[k] = vd_sub(g->velocity[k], vd_load(velocity[k]));
    s.spin[0][k] = g->spin[k];
    s.spin[1][k] = vd_load(spin[k]);
    s.spring[k] = vd_load(strain[k]);
  }
  return s;
}

/* One obstacle of each lane that has one there. */
static void add_obstacle_of_each(const pass *p, group *g, const obstacle *const o[VD_LANES], unsigned active,
                                 pass_result *result) {
  const graze_world *world = p->world;
  const bool remembers = world->remembers && p->mode != PASS_LOOK;
  const law *laws[VD_LANES];
  for (int lane = 0; lane < VD_LANES; lane++) laws[lane] = active >> lane & 1 ? o[lane]->between : world->laws;
  const sides s = load_obstacles(p, g, o, active);
  const lane_law l = world->materials.count == 1 ? law_everywhere(world->laws) : law_by_lane(laws);
  outcome out;
  if (world->has_springs)
    apply_law(&l, &s, &out, (features){false, true, true});
  else
    apply_law(&l, &s, &out, (features){false, true, false});
  add(g, &out, vd_set(1), vm_from(active));
  if (world->has_springs && remembers) store_obstacle_springs(o, active, &out);
  if (!world->def.events || !remembers) return;
  double speed[VD_LANES], force[VD_LANES];
  vd_store(speed, out.normal_speed);
  vd_store(force, out.normal_force);
  for (; active != 0; active &= active - 1) {
    int lane = __builtin_ctz(active);
    gz_pass_follow_obstacle(p, g->own[lane], o[lane], speed[lane], force[lane], result);
  }
}

/* The first obstacle of each ball, the second of each, and so on. */
static void add_queue(const pass *p, group *g, queue *q, pass_result *result) {
  for (uint32_t i = 0; i < QUEUED; i++) {
    const obstacle *o[VD_LANES];
    unsigned active = 0;
    for (int lane = 0; lane < VD_LANES; lane++) {
      o[lane] = &q->at[lane][i];
      active |= (unsigned)(i < q->count[lane]) << lane;
    }
    if (active == 0) break;
    add_obstacle_of_each(p, g, o, active, result);
  }
  memset(q->count, 0, sizeof q->count);
}

static void enqueue(const pass *p, group *g, queue *q, uint32_t lane, const obstacle *o, pass_result *result) {
  if (q->count[lane] == QUEUED) add_queue(p, g, q, result);
  q->at[lane][q->count[lane]++] = *o;
}

/* Entries that come next. */
typedef struct obstacle_entries {
  uint64_t wall, surface;
} obstacle_entries;

/* `next` is at the entries of the group's first ball and moves behind those of its last. */
static void add_obstacles(const pass *p, group *g, obstacle_entries *next, pass_result *result) {
  const neighbour_list *list = &p->world->list;
  obstacle o;
  queue q;
  memset(q.count, 0, sizeof q.count);
  for (uint32_t lane = 0; lane < g->count; lane++) {
    const uint32_t place = g->own[lane];
    for (; next->wall < list->wall_count && list->walls[next->wall].place == place; next->wall++) {
      if (gz_pass_wall(p, next->wall, &o, result)) enqueue(p, g, &q, lane, &o, result);
    }
    for (; next->surface < list->surface_count && list->surfaces[next->surface].place == place; next->surface++) {
      const surface_entry *e = &list->surfaces[next->surface];
      const uint32_t count = gz_pass_surface(p, e, result);
      for (uint32_t i = 0; i < count; i++) {
        o = gz_pass_facet(p, e, result->found, i);
        enqueue(p, g, &q, lane, &o, result);
      }
    }
  }
  add_queue(p, g, &q, result);
}

static bool has_obstacles(const neighbour_list *list, const obstacle_entries *next, uint32_t end) {
  return (next->wall < list->wall_count && list->walls[next->wall].place < end) ||
         (next->surface < list->surface_count && list->surfaces[next->surface].place < end);
}

/* ---- moving ------------------------------------------------------------------------------------------------------ */

static inline void add_drag(const graze_world *world, group *g) {
  double drag[2][VD_LANES];
  for (int lane = 0; lane < VD_LANES; lane++) {
    const ball_kind *kind = WORLD_AT(world->kinds, ball_kind, world->kind[g->own[lane]]);
    drag[0][lane] = kind->drag[0];
    drag[1][lane] = kind->drag[1];
  }
  vd speed2 = dot(g->velocity, g->velocity);
  vd resistance = vd_add(vd_load(drag[0]), vd_mul(vd_load(drag[1]), vd_sqrt(speed2)));
  for (int k = 0; k < 3; k++) g->force[k] = vd_sub(g->force[k], vd_mul(resistance, g->velocity[k]));
  g->dissipated = vd_add(g->dissipated, vd_mul(resistance, speed2));
}

/* Back into the periodic box. */
static inline vd wrapped(vd x, double low, double high, double period) {
  vd more = vd_add(x, vd_set(period)), less = vd_sub(x, vd_set(period));
  return vd_select(vd_gt(vd_set(low), x), more, vd_select(vd_ge(x, vd_set(high)), less, x));
}

/* Rows of the group's balls, side by side in memory. */
INLINED void store_group(row *rows, const group *g, const vd columns[4]) {
  row spare[VD_LANES];
  if (__builtin_expect(g->count == VD_LANES, 1)) {
    vd_store_rows(rows + g->first, columns);
    return;
  }
  vd_store_rows(spare, columns);
  memcpy(rows + g->first, spare, g->count * sizeof(row));
}

static inline void add_dissipated(const pass *p, const group *g) {
  double *to = p->world->dissipated + g->first, more[VD_LANES];
  vd work = vd_mul(vd_set(p->dt), g->dissipated);
  if (g->count == VD_LANES) {
    vd_store(to, vd_add(vd_load(to), work));
    return;
  }
  vd_store(more, work);
  for (uint32_t lane = 0; lane < g->count; lane++) to[lane] += more[lane];
}

/* The next state of the balls. */
INLINED void move(const pass *p, const group *g, vd *poison, vd *moved2, vd *speed2, features f) {
  const graze_world *world = p->world;
  vd a[4], b[4], next[3][4], origin[4], way2 = vd_set(0), sum = vd_set(0);
  vm moves = vd_gt(g->velocity[3], vd_set(0));
  for (int k = 0; k < 3; k++) {
    vd gravity = vd_select(moves, vd_set(world->def.gravity[k]), vd_set(0));
    a[k] = vd_add(vd_mul(g->force[k], g->velocity[3]), gravity);
    b[k] = vd_mul(g->torque[k], g->spin[3]);
    sum = vd_add(sum, vd_add(a[k], b[k]));
  }
  if (p->mode != PASS_LOOK) add_dissipated(p, g);
  if (p->mode == PASS_LOOK || p->mode == PASS_LAST) {
    a[3] = b[3] = vd_set(0);
    store_group(world->next.velocity, g, a);
    store_group(world->next.spin, g, b);
    *poison = vd_add(*poison, vd_mul(sum, vd_set(0)));
    return;
  }
  const vd h = vd_set(p->mode == PASS_EULER ? p->dt : 0.5 * p->dt), dt = vd_set(p->dt);
  vd_load_rows(origin, (const double(*)[4])world->origin, g->own);
  for (int k = 0; k < 3; k++) {
    vd kick = vd_mul(h, a[k]), turn = vd_mul(h, b[k]);
    next[1][k] = vd_add(g->velocity[k], kick);
    next[2][k] = vd_add(g->spin[k], turn);
    if (p->mode == PASS_STEP) {
      next[1][k] = vd_add(next[1][k], kick);
      next[2][k] = vd_add(next[2][k], turn);
    }
    next[0][k] = vd_add(g->at[k], vd_mul(dt, next[1][k]));
    if (!f.simple && p->period[k] != 0)
      next[0][k] = wrapped(next[0][k], world->def.bounds.min[k], world->def.bounds.max[k], p->period[k]);
    vd way = vd_sub(next[0][k], origin[k]);
    if (!f.simple && p->period[k] != 0) way = nearest(way, p->period[k]);
    way2 = vd_add(way2, vd_mul(way, way));
    sum = vd_add(sum, vd_add(next[0][k], next[2][k]));
  }
  next[0][3] = g->at[3];
  next[1][3] = g->velocity[3];
  next[2][3] = g->spin[3];
  *moved2 = vd_max(*moved2, way2);
  *speed2 = vd_max(*speed2, dot(next[1], next[1]));
  *poison = vd_add(*poison, vd_mul(sum, vd_set(0)));
  store_group(world->next.position, g, next[0]);
  store_group(world->next.velocity, g, next[1]);
  store_group(world->next.spin, g, next[2]);
}

/* ---- a group ----------------------------------------------------------------------------------------------------- */

INLINED void load_group(const graze_world *world, uint32_t first, uint32_t end, group *g) {
  g->first = first;
  g->count = end - first < VD_LANES ? end - first : VD_LANES;
  for (uint32_t lane = 0; lane < VD_LANES; lane++) g->own[lane] = first + (lane < g->count ? lane : g->count - 1);
  vd_load_rows(g->at, (const double(*)[4])world->now.position, g->own);
  vd_load_rows(g->velocity, (const double(*)[4])world->now.velocity, g->own);
  vd_load_rows(g->spin, (const double(*)[4])world->now.spin, g->own);
  for (int k = 0; k < 3; k++) g->force[k] = g->torque[k] = vd_set(0);
  g->dissipated = vd_set(0);
}

INLINED void run(const pass *p, uint32_t begin, uint32_t end, pass_result *result, features f) {
  const graze_world *world = p->world;
  const lane_law one = law_everywhere(f.simple ? &world->simple : world->laws);
  obstacle_entries next = {gz_list_first_wall(&world->list, begin), gz_list_first_surface(&world->list, begin)};
  vd poison = vd_set(0), moved2 = vd_set(0), speed2 = vd_set(0);
  group g;
  notes n;
  for (uint32_t first = begin; first < end; first += VD_LANES) {
    load_group(world, first, end, &g);
    for (uint32_t lane = 0; lane < VD_LANES; lane++) {
      n.count[lane] = 0;
      n.next[lane] = world->list.start[g.own[lane]];
      indices_fill(n.partner[lane], g.own[lane]);
    }
    do {
      n.done = true;
      n.most = 0;
      for (uint32_t lane = 0; lane < g.count; lane++) look(p, &g, lane, &n, result, f);
      for (uint32_t lane = 0; lane < VD_LANES && n.most > SOLITARY; lane++) {
        for (uint32_t i = n.count[lane]; i < n.most; i++) n.partner[lane][i] = g.own[lane];
      }
      compute(p, &g, &n, &one, result, f);
    } while (!n.done);
    if (has_obstacles(&world->list, &next, first + g.count)) add_obstacles(p, &g, &next, result);
    if (world->has_drag) add_drag(world, &g);
    move(p, &g, &poison, &moved2, &speed2, f);
  }
  double lanes[VD_LANES];
  vd_store(lanes, poison);
  for (int lane = 0; lane < VD_LANES; lane++) result->finite &= lanes[lane] == 0;
  vd_store(lanes, moved2);
  for (int lane = 0; lane < VD_LANES; lane++) result->moved2 = fmax(result->moved2, lanes[lane]);
  vd_store(lanes, speed2);
  for (int lane = 0; lane < VD_LANES; lane++) result->speed2 = fmax(result->speed2, lanes[lane]);
}

void KERNEL(gz_dynamics_pass)(const pass *p, uint32_t begin, uint32_t end, pass_result *result) {
  const graze_world *world = p->world;
  if (!world->is_simple) {
    run(p, begin, end, result, (features){false, true, world->has_springs});
  } else if (world->has_springs) {
    run(p, begin, end, result, (features){true, true, true});
  } else if (world->simple.eta_t != 0) {
    run(p, begin, end, result, (features){true, true, false});
  } else {
    run(p, begin, end, result, (features){true, false, false});
  }
}
