/* The forces of balls on each other, a register of contacts at a time.
 *
 * Balls are taken a batch at a time. First their neighbours are looked at and those that overlap are kept, ball by
 * ball; then all contacts of the batch are computed, whoever they belong to; then each ball adds up its own in order.
 */
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "dynamics/pass.h"

enum { BATCH = 32, MOST_CONTACTS = 1024 /* of a batch, at a time */ };

/* What is fixed when a pass is compiled. */
typedef struct features {
  bool simple; /* one law of Hooke's for all */
  bool tangential, springs;
} features;

/* Contacts of a batch. */
typedef struct batch {
  uint32_t count;
  uint32_t own[MOST_CONTACTS + VD_LANES];     /* places */
  uint32_t partner[MOST_CONTACTS + VD_LANES]; /* place, or wall */
  uint32_t entry[MOST_CONTACTS + VD_LANES];
  bool began[MOST_CONTACTS + VD_LANES];
  double force[MOST_CONTACTS + VD_LANES][4];  /* and what it dissipates */
  double torque[MOST_CONTACTS + VD_LANES][4]; /* and f_n */
  double speed[MOST_CONTACTS + VD_LANES];     /* u_n, with events */
} batch;

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

enum {
#define FIELD(name) L_##name = offsetof(law, name) / sizeof(double)
  FIELD(k_n),
  FIELD(elastic),
  FIELD(hertz),
  FIELD(eta_n),
  FIELD(gamma_n),
  FIELD(zeta_n),
  FIELD(least),
  FIELD(k_t),
  FIELD(mindlin),
  FIELD(eta_t),
  FIELD(gamma_t),
  FIELD(share_t),
  FIELD(spring),
  FIELD(arm),
  FIELD(friction),
  FIELD(rolling),
  FIELD(spinning),
  FIELD(surface)
#undef FIELD
};

/* Constants of the contact that the simple law has as they are. */
typedef struct constants {
  vd k_n, eta_n, k_t, eta_t;
} constants;

static inline __attribute__((always_inline)) constants constants_of(const lane_law *l, const sides *s, features f) {
  const vd *x = l->field;
  if (f.simple) return (constants){x[L_k_n], x[L_eta_n], x[L_k_t], x[L_eta_t]};
  vd m = vd_div(vd_set(1), s->inverse_mass), root = vd_sqrt(vd_mul(s->reduced, s->overlap));
  vm hertz = vd_gt(x[L_hertz], vd_set(0));
  constants c;
  c.k_n = vd_select(hertz, vd_mul(x[L_k_n], root), x[L_k_n]);
  c.eta_n = vd_add(vd_add(x[L_eta_n], vd_mul(x[L_gamma_n], m)), vd_mul(x[L_zeta_n], vd_sqrt(vd_mul(c.k_n, m))));
  c.eta_t = vd_add(vd_add(x[L_eta_t], vd_mul(x[L_gamma_t], m)), vd_mul(x[L_share_t], c.eta_n));
  c.k_t = vd_add(x[L_k_t], vd_mul(x[L_mindlin], root));
  return c;
}

/* Least of two where the first may be NaN, which 0/0 is: then the second. */
static inline vd capped(vd x, vd most) {
  return vd_select(vd_gt(most, x), x, most);
}

/* The force across n, and what the spring becomes. */
static inline __attribute__((always_inline)) void add_tangential(const lane_law *l, const constants *c, const sides *s,
                                                                 outcome *o, features f) {
  const vd *x = l->field;
  vd turn[3], around[3], slip[3], across[3], lever[3];
  vd full = f.simple ? vd_set(1) : x[L_arm];
  for (int k = 0; k < 3; k++) turn[k] = vd_add(vd_mul(s->arm[0], s->spin[0][k]), vd_mul(s->arm[1], s->spin[1][k]));
  cross(turn, s->n, around);
  for (int k = 0; k < 3; k++) {
    vd spin = f.simple ? around[k] : vd_mul(full, around[k]);
    slip[k] = vd_sub(vd_sub(s->u[k], vd_mul(o->normal_speed, s->n[k])), spin);
  }
  vd most = vd_mul(x[L_friction], vd_abs(o->normal_force));
  if (!f.springs) {
    vd speed2 = dot(slip, slip);
    vd scale = vd_neg(capped(vd_div(most, vd_sqrt(speed2)), c->eta_t));
    for (int k = 0; k < 3; k++) across[k] = vd_mul(scale, slip[k]);
    o->dissipated = vd_sub(o->dissipated, vd_mul(scale, speed2));
  } else {
    vd old = vd_set(0), now = vd_set(0), stretch[3], along = vd_set(0);
    for (int k = 0; k < 3; k++) stretch[k] = vd_add(s->spring[k], vd_mul(vd_mul(slip[k], s->dt), x[L_spring]));
    along = dot(stretch, s->n);
    old = dot(s->spring, s->spring);
    for (int k = 0; k < 3; k++) {
      stretch[k] = vd_sub(stretch[k], vd_mul(along, s->n[k]));
      across[k] = vd_neg(vd_add(vd_mul(c->k_t, stretch[k]), vd_mul(c->eta_t, slip[k])));
    }
    vd strength2 = dot(across, across), scale = capped(vd_div(most, vd_sqrt(strength2)), vd_set(1));
    vm slides = vm_and(vd_gt(vd_set(1), scale), vd_gt(c->k_t, vd_set(0)));
    for (int k = 0; k < 3; k++) {
      across[k] = vd_mul(scale, across[k]);
      vd left = vd_neg(vd_div(vd_add(across[k], vd_mul(c->eta_t, slip[k])), c->k_t));
      o->spring[k] = vd_mul(vd_select(slides, left, stretch[k]), x[L_spring]);
    }
    now = dot(o->spring, o->spring);
    vd stored = vd_mul(vd_mul(vd_set(0.5), c->k_t), vd_sub(now, old));
    vd work = vd_mul(dot(across, slip), s->dt);
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
static inline __attribute__((always_inline)) void add_against_spin(const sides *s, outcome *o, const vd part[3],
                                                                   vd coefficient) {
  vd speed2 = dot(part, part), speed = vd_sqrt(speed2);
  vd most = vd_mul(vd_mul(coefficient, vd_abs(o->normal_force)), s->reduced);
  vd ends = vd_div(vd_set(1), vd_mul(s->inverse_inertia, s->dt));
  vd scale = vd_neg(capped(vd_div(most, speed), ends));
  for (int k = 0; k < 3; k++) o->torque[k] = vd_add(o->torque[k], vd_mul(scale, part[k]));
  o->dissipated = vd_sub(o->dissipated, vd_mul(scale, speed2));
}

static inline __attribute__((always_inline)) void resist_spin(const lane_law *l, const sides *s, outcome *o) {
  vd relative[3], about[3], across[3];
  for (int k = 0; k < 3; k++) relative[k] = vd_sub(s->spin[0][k], s->spin[1][k]);
  vd along = dot(relative, s->n);
  for (int k = 0; k < 3; k++) {
    about[k] = vd_mul(along, s->n[k]);
    across[k] = vd_sub(relative[k], about[k]);
  }
  add_against_spin(s, o, across, l->field[L_rolling]);
  add_against_spin(s, o, about, l->field[L_spinning]);
}

static inline __attribute__((always_inline)) void apply_law(const lane_law *l, const sides *s, outcome *o, features f) {
  constants c = constants_of(l, s, f);
  o->normal_speed = dot(s->u, s->n);
  vd elastic = vd_mul(c.k_n, s->overlap);
  o->normal_force = vd_max(vd_sub(elastic, vd_mul(c.eta_n, o->normal_speed)), l->field[L_least]);
  o->dissipated = vd_mul(vd_sub(elastic, o->normal_force), o->normal_speed);
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

/* Bits of the partners from `entry` on, which overlap the ball. */
static inline __attribute__((always_inline)) unsigned overlapping(const pass *p, const row *positions,
                                                                  const double *own, const uint32_t *partners,
                                                                  features f) {
  vd other[4], d[3];
  vd_load_rows(other, (const double(*)[4])positions, partners);
  for (int k = 0; k < 3; k++) {
    d[k] = vd_sub(vd_set(own[k]), other[k]);
    if (!f.simple && p->period[k] != 0) d[k] = nearest(d[k], p->period[k]);
  }
  vd reach = vd_add(vd_set(own[3]), other[3]);
  return vm_bits(vd_gt(vd_mul(reach, reach), dot(d, d)));
}

/* Adds the contacts among the entries of the ball from *entry on, which moves behind the last that was looked at. True:
 * that was the ball's last; false: the batch is full. */
static inline __attribute__((always_inline)) bool look(const pass *p, batch *b, uint32_t place, uint32_t *entry,
                                                       pass_result *result, features f) {
  const graze_world *world = p->world;
  const neighbour_list *list = &world->list;
  const bool remembers = world->remembers && p->mode != PASS_LOOK;
  uint32_t e = *entry, end = list->start[place + 1], count = b->count;
  for (; e < end && count <= MOST_CONTACTS - VD_LANES; e += VD_LANES) {
    unsigned bits = overlapping(p, world->now.position, world->now.position[place], list->partners + e, f),
             before = count;
    if (end - e < VD_LANES) bits &= (1u << (end - e)) - 1;
    for (unsigned left = bits; left != 0; left &= left - 1) {
      b->own[count] = place;
      b->entry[count] = e + (uint32_t)__builtin_ctz(left);
      b->partner[count] = list->partners[b->entry[count]];
      count++;
    }
    if (remembers)
      gz_pass_remember(p, place, e, end - e < VD_LANES ? end - e : VD_LANES, bits, b->began + before, result);
  }
  b->count = count;
  *entry = e < end ? e : end;
  return e >= end;
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

static inline __attribute__((always_inline)) void load_sides(const pass *p, const uint32_t *own,
                                                             const uint32_t *partner, sides *s, features f) {
  const graze_world *world = p->world;
  vd at[2][4], velocity[2][4], spin[2][4], d[3];
  vd_load_rows(at[0], (const double(*)[4])world->now.position, own);
  vd_load_rows(at[1], (const double(*)[4])world->now.position, partner);
  vd_load_rows(velocity[0], (const double(*)[4])world->now.velocity, own);
  vd_load_rows(velocity[1], (const double(*)[4])world->now.velocity, partner);
  for (int k = 0; k < 3; k++) {
    d[k] = vd_sub(at[0][k], at[1][k]);
    if (!f.simple && p->period[k] != 0) d[k] = nearest(d[k], p->period[k]);
    s->u[k] = vd_sub(velocity[0][k], velocity[1][k]);
  }
  vd distance = vd_sqrt(dot(d, d)), inverse = vd_div(vd_set(1), distance);
  vm same = vd_eq(distance, vd_set(0));
  inverse = vd_select(same, vd_set(0), inverse);
  for (int k = 0; k < 3; k++) s->n[k] = vd_mul(d[k], inverse);
  if (vm_bits(same) != 0) s->n[2] = part_centers(world, own, partner, distance, s->n[2]);
  s->overlap = vd_sub(vd_add(at[0][3], at[1][3]), distance);
  vd half = vd_mul(vd_set(0.5), s->overlap);
  s->arm[0] = vd_sub(at[0][3], half);
  s->arm[1] = vd_sub(at[1][3], half);
  s->inverse_mass = vd_add(velocity[0][3], velocity[1][3]);
  s->dt = vd_set(p->dt);
  if (f.tangential || !f.simple) {
    vd_load_rows(spin[0], (const double(*)[4])world->now.spin, own);
    vd_load_rows(spin[1], (const double(*)[4])world->now.spin, partner);
    for (int k = 0; k < 3; k++) s->spin[0][k] = spin[0][k], s->spin[1][k] = spin[1][k];
    s->inverse_inertia = vd_add(spin[0][3], spin[1][3]);
  }
  if (!f.simple) {
    vd sum = vd_add(at[0][3], at[1][3]);
    s->reduced = vd_div(vd_mul(at[0][3], at[1][3]), sum);
  }
}

static inline void load_springs(const contact_memory *memory, const uint32_t *entry, sides *s) {
  double column[3][VD_LANES];
  for (int lane = 0; lane < VD_LANES; lane++) {
    bool touching = memory->touching[entry[lane]];
    for (int k = 0; k < 3; k++) column[k][lane] = touching ? memory->springs[entry[lane]][k] : 0;
  }
  for (int k = 0; k < 3; k++) s->spring[k] = vd_load(column[k]);
}

static inline void store_springs(const contact_memory *memory, const uint32_t *entry, const outcome *o,
                                 unsigned count) {
  double column[3][VD_LANES];
  for (int k = 0; k < 3; k++) vd_store(column[k], o->spring[k]);
  for (unsigned lane = 0; lane < count; lane++) {
    for (int k = 0; k < 3; k++) memory->springs[entry[lane]][k] = column[k][lane];
  }
}

static inline __attribute__((always_inline)) void store(batch *b, uint32_t c, const outcome *o, vd share) {
  const vd force[4] = {o->force[0], o->force[1], o->force[2], vd_mul(share, o->dissipated)};
  const vd torque[4] = {o->torque[0], o->torque[1], o->torque[2], o->normal_force};
  vd_store_rows(b->force + c, force);
  vd_store_rows(b->torque + c, torque);
  vd_store(b->speed + c, o->normal_speed);
}

static inline lane_law laws_of(const graze_world *world, const uint32_t *own, const uint32_t *partner) {
  const law *laws[VD_LANES];
  const ball_kind *kinds = world->kinds.data;
  for (int lane = 0; lane < VD_LANES; lane++) {
    uint32_t a = kinds[world->kind[own[lane]]].material, b = kinds[world->kind[partner[lane]]].material;
    laws[lane] = &world->laws[a * world->materials.count + b];
  }
  return law_by_lane(laws);
}

/* The surfaces of balls that no force moves may run. */
static inline void add_surface_speed(const lane_law *l, const uint32_t *partner, const graze_world *world, sides *s) {
  double fixed[VD_LANES];
  for (int lane = 0; lane < VD_LANES; lane++) fixed[lane] = world->now.velocity[partner[lane]][3] == 0 ? 1 : 0;
  for (int k = 0; k < 3; k++) s->u[k] = vd_sub(s->u[k], vd_mul(vd_load(fixed), l->field[L_surface + k]));
}

static inline __attribute__((always_inline)) void compute(const pass *p, batch *b, features f) {
  const graze_world *world = p->world;
  const contact_memory *memory = &world->list.of_balls;
  const bool one = world->materials.count == 1;
  lane_law l = law_everywhere(f.simple ? &world->simple : world->laws);
  for (uint32_t i = 0; i < VD_LANES; i++) { /* lanes behind the last contact repeat it */
    b->own[b->count + i] = b->own[b->count - 1];
    b->partner[b->count + i] = b->partner[b->count - 1];
    b->entry[b->count + i] = b->entry[b->count - 1];
  }
  for (uint32_t c = 0; c < b->count; c += VD_LANES) {
    sides s;
    outcome o;
    load_sides(p, b->own + c, b->partner + c, &s, f);
    if (!f.simple) {
      if (!one) l = laws_of(world, b->own + c, b->partner + c);
      add_surface_speed(&l, b->partner + c, world, &s);
    }
    if (f.springs) load_springs(memory, b->entry + c, &s);
    apply_law(&l, &s, &o, f);
    vd share = vd_set(0.5);
    if (!f.simple || world->dynamic != world->count) {
      double part[VD_LANES];
      for (int lane = 0; lane < VD_LANES; lane++)
        part[lane] = world->now.velocity[b->partner[c + (uint32_t)lane]][3] == 0 ? 1 : 0.5;
      share = vd_load(part);
    }
    store(b, c, &o, share);
    if (f.springs && p->mode != PASS_LOOK)
      store_springs(memory, b->entry + c, &o, b->count - c < VD_LANES ? b->count - c : VD_LANES);
  }
}

/* ---- walls ------------------------------------------------------------------------------------------------------- */

/* Contacts with walls are few: they are computed one by one, in all lanes. */
static void touch_wall(const pass *p, uint64_t entry, double distance, d4 sum[2], double *normal_force, double *speed) {
  const graze_world *world = p->world;
  const wall_entry *e = &world->list.walls[entry];
  const dem_wall *wall = WORLD_AT(world->walls, dem_wall, e->wall);
  const contact_memory *memory = &world->list.of_walls;
  const double *at = world->now.position[e->place], *v = world->now.velocity[e->place], *w = world->now.spin[e->place];
  const features f = {.simple = false, .tangential = true, .springs = world->has_springs};
  const uint32_t material = WORLD_AT(world->kinds, ball_kind, world->kind[e->place])->material;
  const law *between = &world->laws[material * world->materials.count + wall->material];
  const lane_law l = law_everywhere(between);
  sides s = {.overlap = vd_set(at[3] - distance),
             .arm = {vd_set(at[3] - 0.5 * (at[3] - distance)), vd_set(0)},
             .inverse_mass = vd_set(v[3]),
             .inverse_inertia = vd_set(w[3]),
             .reduced = vd_set(at[3]),
             .dt = vd_set(p->dt)};
  outcome o;
  for (int k = 0; k < 3; k++) {
    s.n[k] = vd_set(wall->normal[k]);
    s.u[k] = vd_set(v[k] - between->surface[k]);
    s.spin[0][k] = vd_set(w[k]);
    s.spin[1][k] = vd_set(0);
    s.spring[k] = vd_set(f.springs && memory->touching[entry] ? memory->springs[entry][k] : 0);
  }
  apply_law(&l, &s, &o, f);
  double lanes[VD_LANES];
  for (int k = 0; k < 3; k++) {
    vd_store(lanes, o.force[k]);
    sum[0][k] += lanes[0];
    vd_store(lanes, o.torque[k]);
    sum[1][k] += lanes[0];
    vd_store(lanes, o.spring[k]);
    if (f.springs && p->mode != PASS_LOOK) memory->springs[entry][k] = lanes[0];
  }
  vd_store(lanes, o.dissipated);
  sum[0][3] += lanes[0];
  vd_store(lanes, o.normal_force);
  *normal_force = lanes[0];
  vd_store(lanes, o.normal_speed);
  *speed = lanes[0];
}

/* Adds the forces of the walls at the ball; `entry` is at its first and moves behind its last. */
static void add_walls(const pass *p, uint32_t place, uint64_t *entry, d4 sum[2], pass_result *result) {
  const graze_world *world = p->world;
  const neighbour_list *list = &world->list;
  for (; *entry < list->wall_count && list->walls[*entry].place == place; ++*entry) {
    const dem_wall *wall = WORLD_AT(world->walls, dem_wall, list->walls[*entry].wall);
    const double *at = world->now.position[place];
    double distance = 0, normal_force, speed;
    for (int k = 0; k < 3; k++) distance += wall->normal[k] * (at[k] - wall->point[k]);
    bool touches = distance < at[3], began = false;
    if (world->remembers && p->mode != PASS_LOOK) began = gz_pass_remember_wall(p, *entry, touches, result);
    if (!touches) continue;
    touch_wall(p, *entry, distance, sum, &normal_force, &speed);
    if (world->def.events && p->mode != PASS_LOOK) gz_pass_follow_wall(p, *entry, began, speed, normal_force, result);
  }
}

/* ---- moving ------------------------------------------------------------------------------------------------------ */

static const l4 first_three = {-1, -1, -1, 0};

static inline d4 three_of(d4 x) {
  return (d4)((l4)x & first_three);
}

static inline d4 load4(const row x) {
  d4 v;
  memcpy(&v, x, sizeof v);
  return v;
}

static inline void store4(row x, d4 v) {
  memcpy(x, &v, sizeof v);
}

static void add_drag(const double drag[2], d4 velocity, d4 *force) {
  double speed2 = velocity[0] * velocity[0] + velocity[1] * velocity[1] + velocity[2] * velocity[2];
  double resistance = drag[0] + drag[1] * sqrt(speed2);
  *force -= resistance * three_of(velocity);
  (*force)[3] += resistance * speed2;
}

/* Back into the periodic box. */
static d4 wrapped(const pass *p, d4 at) {
  const graze_box *bounds = &p->world->def.bounds;
  for (int k = 0; k < 3; k++) {
    double period = p->period[k];
    if (period == 0) continue;
    at[k] = at[k] < bounds->min[k] ? at[k] + period : at[k] >= bounds->max[k] ? at[k] - period : at[k];
  }
  return at;
}

/* The next state of a ball on which these forces and torques act. */
static inline __attribute__((always_inline)) void move(const pass *p, uint32_t place, const d4 sum[2], d4 *poison,
                                                       double *moved2, features f) {
  const graze_world *world = p->world;
  const d4 at = load4(world->now.position[place]), v = load4(world->now.velocity[place]),
           w = load4(world->now.spin[place]);
  const double *g = world->def.gravity, moves = v[3] != 0 ? 1 : 0;
  const d4 gravity = {g[0] * moves, g[1] * moves, g[2] * moves, 0};
  d4 a = three_of(sum[0] * v[3]) + gravity, b = three_of(sum[1] * w[3]);
  if (p->mode != PASS_LOOK) world->origin[place][3] += p->dt * sum[0][3];
  if (p->mode == PASS_LOOK || p->mode == PASS_LAST) {
    store4(world->next.velocity[place], a);
    store4(world->next.spin[place], b);
    *poison += (a + b) * 0.0;
    return;
  }
  const double h = p->mode == PASS_EULER ? p->dt : 0.5 * p->dt;
  d4 next_v = v + h * a, next_w = w + h * b;
  if (p->mode == PASS_STEP) {
    next_v += h * a;
    next_w += h * b;
  }
  d4 next_at = at + three_of(p->dt * next_v);
  if (!f.simple) next_at = wrapped(p, next_at);
  d4 way = three_of(next_at - load4(world->origin[place]));
  if (!f.simple) {
    for (int k = 0; k < 3; k++) way[k] = nearest_image(way[k], p->period[k]);
  }
  way *= way;
  double way2 = way[0] + way[1] + way[2];
  if (way2 > *moved2) *moved2 = way2;
  *poison += (next_at + next_v + next_w) * 0.0;
  store4(world->next.position[place], next_at);
  store4(world->next.velocity[place], next_v);
  store4(world->next.spin[place], next_w);
}

/* ---- a batch ----------------------------------------------------------------------------------------------------- */

static uint64_t first_wall(const neighbour_list *list, uint32_t place) {
  uint64_t low = 0, high = list->wall_count;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (list->walls[middle].place < place)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Adds the contacts of the ball from *c on. */
static inline __attribute__((always_inline)) void add_contacts(const pass *p, const batch *b, uint32_t place,
                                                               uint32_t *c, d4 sum[2], pass_result *result) {
  const bool follows = p->world->def.events && p->mode != PASS_LOOK;
  for (; *c < b->count && b->own[*c] == place; ++*c) {
    sum[0] += load4(b->force[*c]);
    sum[1] += load4(b->torque[*c]);
    if (follows) gz_pass_follow(p, place, b->entry[*c], b->began[*c], b->speed[*c], b->torque[*c][3], result);
  }
}

static inline __attribute__((always_inline)) void run(const pass *p, uint32_t begin, uint32_t end, pass_result *result,
                                                      features f) {
  const graze_world *world = p->world;
  const neighbour_list *list = &world->list;
  const ball_kind *kinds = world->kinds.data;
  uint64_t wall = first_wall(list, begin);
  uint32_t entry = list->start[begin], first = begin;
  const d4 zero = {0, 0, 0, 0};
  d4 poison = zero, sum[2] = {zero, zero};
  batch b;
  while (first < end) {
    uint32_t last = first, c = 0; /* balls [first, last) end with this batch; the next may have begun */
    b.count = 0;
    while (last < end && last - first < BATCH && look(p, &b, last, &entry, result, f)) last++;
    if (b.count > 0) compute(p, &b, f);
    for (; first < last; first++) {
      add_contacts(p, &b, first, &c, sum, result);
      add_walls(p, first, &wall, sum, result);
      const double *drag = kinds[world->kind[first]].drag;
      if (drag[0] != 0 || drag[1] != 0) add_drag(drag, load4(world->now.velocity[first]), &sum[0]);
      move(p, first, sum, &poison, &result->moved2, f);
      sum[0] = sum[1] = zero;
    }
    if (c < b.count) add_contacts(p, &b, last, &c, sum, result);
  }
  result->finite = poison[0] == 0 && poison[1] == 0 && poison[2] == 0;
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
