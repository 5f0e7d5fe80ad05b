/* Forces of balls on each other and on what they run into, and the balls' next state.
 *
 * Contacts are computed a register at a time, each once for both balls. They become rows, what a contact does to
 * either, which are added to the sums of the two in turn. Then each ball moves, the four numbers of a row together.
 */
#include <math.h>
#include <string.h>

#include "base/simd_rows.h"
#include "dynamics/law_lanes.h"
#include "dynamics/pass.h"

static inline vd nearest(vd x, double period) {
  vd half = vd_set(0.5 * period), whole = vd_set(period);
  return vd_select(vd_gt(x, half), vd_sub(x, whole), vd_select(vd_gt(vd_neg(half), x), vd_add(x, whole), x));
}

/* The balls of a register of rows, as where their states begin in the array of all. */
typedef struct row_balls {
  uint32_t first[VD_LANES];
  const uint32_t *second;
} row_balls;

INLINED row_balls balls_of(const close_pairs *c, uint32_t block, uint32_t r) {
  row_balls b = {.second = c->second + r};
  for (int lane = 0; lane < VD_LANES; lane++)
    b.first[lane] = block * (BLOCK_PLACES * BALL_DOUBLES) + c->first[r + (uint32_t)lane];
  return b;
}

/* Balls with one centre: the normal is up for the higher number. */
static vd part_centers(const graze_world *world, const uint32_t *first, const uint32_t *second, vd distance, vd up) {
  double at[VD_LANES], z[VD_LANES];
  vd_store(at, distance);
  vd_store(z, up);
  for (int lane = 0; lane < VD_LANES; lane++) {
    if (at[lane] == 0)
      z[lane] = world->number[row_place(first[lane])] > world->number[row_place(second[lane])] ? 1 : -1;
  }
  return vd_load(z);
}

/* What two balls of each lane have, in columns. */
typedef struct two_balls {
  vd apart[3], velocity[3]; /* first minus second */
  vd radius[2], spin[2][3], inverse_mass[2];
} two_balls;

/* Subtracted before the rows become columns, with the radii and masses in what is left of them: four such turns, not
 * six. */
INLINED two_balls load_balls(const graze_world *world, const uint32_t *first, const uint32_t *second) {
  const double *at = world->now->position, *velocity = world->now->velocity, *spin = world->now->spin;
  d4 rows[4][VD_LANES];
  vd columns[4][4];
  two_balls b;
  for (int lane = 0; lane < VD_LANES; lane++) {
    const uint32_t i = first[lane], j = second[lane];
    const d4 p = d4_load(at + i), q = d4_load(at + j), u = d4_load(velocity + i), v = d4_load(velocity + j);
    rows[0][lane] = d4_last(p - q, p);
    rows[1][lane] = d4_last(u - v, q);
    rows[2][lane] = d4_last(d4_load(spin + i), u);
    rows[3][lane] = d4_last(d4_load(spin + j), v);
  }
  for (int i = 0; i < 4; i++) vd_columns(columns[i], rows[i]);
  for (int k = 0; k < 3; k++) {
    b.apart[k] = columns[0][k];
    b.velocity[k] = columns[1][k];
    b.spin[0][k] = columns[2][k];
    b.spin[1][k] = columns[3][k];
  }
  for (int side = 0; side < 2; side++) {
    b.radius[side] = columns[side][3];
    b.inverse_mass[side] = columns[2 + side][3];
  }
  return b;
}

/* `share`: of what is dissipated, for either side: a half, or all where no force moves the other. Returns those that
 * overlap. */
INLINED vm load_sides(const pass *p, const uint32_t *first, const uint32_t *second, sides *s, vd share[2], features f) {
  two_balls b = load_balls(p->world, first, second);
  for (int k = 0; k < 3; k++) {
    if (!f.simple && p->period[k] != 0) b.apart[k] = nearest(b.apart[k], p->period[k]);
    s->u[k] = b.velocity[k];
    s->spin[0][k] = b.spin[0][k];
    s->spin[1][k] = b.spin[1][k];
    s->spring[k] = vd_set(0);
  }
  vd distance2 = dot(b.apart, b.apart), reach = vd_add(b.radius[0], b.radius[1]);
  vm overlaps = vd_gt(vd_mul(reach, reach), distance2);
  vd distance = vd_sqrt(distance2), inverse = vd_div(vd_set(1), distance);
  vm same = vd_eq(distance, vd_set(0));
  inverse = vd_select(same, vd_set(0), inverse);
  for (int k = 0; k < 3; k++) s->n[k] = vd_mul(b.apart[k], inverse);
  if (__builtin_expect(vm_bits(vm_and(same, overlaps)) != 0, 0))
    s->n[2] = part_centers(p->world, first, second, distance, s->n[2]);
  s->overlap = vd_sub(reach, distance);
  vd half = vd_mul(vd_set(0.5), s->overlap);
  for (int side = 0; side < 2; side++) {
    s->arm[side] = vd_sub(b.radius[side], half);
    share[side] = vd_select(vd_eq(b.inverse_mass[1 - side], vd_set(0)), vd_set(1), vd_set(0.5));
  }
  s->inverse_mass = vd_add(b.inverse_mass[0], b.inverse_mass[1]);
  s->dt = vd_set(p->dt);
  if (!f.simple) {
    const double *inertia = &p->world->now->spin[3];
    s->inverse_inertia = vd_add(vd_gather(inertia, first), vd_gather(inertia, second));
    s->reduced = vd_div(vd_mul(b.radius[0], b.radius[1]), reach);
  }
  return overlaps;
}

/* The laws between balls that are not all of one material. */
static lane_law laws_of(const graze_world *world, const uint32_t *first, const uint32_t *second) {
  const law *laws[VD_LANES];
  for (int lane = 0; lane < VD_LANES; lane++)
    laws[lane] = law_between(world, row_place(first[lane]), PARTNER_BALL, row_place(second[lane]));
  return law_by_lane(laws);
}

/* The surfaces of balls that no force moves may run; the second of a row may be such a ball. */
static inline void add_surface_speed(const lane_law *l, vd share, sides *s) {
  vm fixed = vd_eq(share, vd_set(1));
  for (int k = 0; k < 3; k++) s->u[k] = vd_select(fixed, vd_sub(s->u[k], l->field[L(surface) + k]), s->u[k]);
}

/* Where the sum of each second ball is: that of nobody, unless the ball is of the block. */
INLINED void find_sums(uint32_t block, const row_balls *balls, uint32_t at[2][VD_LANES]) {
  const uint32_t begin = block * BLOCK_PLACES * BALL_DOUBLES;
  for (int lane = 0; lane < VD_LANES; lane++) {
    const uint32_t second = (balls->second[lane] - begin) / BALL_DOUBLES; /* from another block: beyond, or below 0 */
    at[0][lane] = (balls->first[lane] - begin) / BALL_DOUBLES;
    at[1][lane] = second < BLOCK_PLACES ? second : BLOCK_PLACES;
  }
}

/* Row by row, so that each ball adds up in the order of its rows. Those that do not touch add 0. */
INLINED void add_rows(ball_sum *sums, const uint32_t at[2][VD_LANES], const outcome *o, const vd share[2], vm active) {
  const vd zero = vd_set(0);
  vd force[4], torque[2][4];
  row rows[3][VD_LANES];
  for (int k = 0; k < 3; k++) {
    force[k] = vd_select(active, o->force[k], zero);
    for (int side = 0; side < 2; side++) torque[side][k] = vd_select(active, o->torque[side][k], zero);
  }
  force[3] = zero;
  for (int side = 0; side < 2; side++) torque[side][3] = vd_select(active, vd_mul(share[side], o->dissipated), zero);
  vd_store_rows(rows[0], 1, force);
  vd_store_rows(rows[1], 1, torque[0]);
  vd_store_rows(rows[2], 1, torque[1]);
  for (int lane = 0; lane < VD_LANES; lane++) {
    ball_sum *first = &sums[at[0][lane]], *second = &sums[at[1][lane]];
    const d4 f = d4_load(rows[0][lane]);
    d4_store(first->force, d4_load(first->force) + f);
    d4_store(first->torque, d4_load(first->torque) + d4_load(rows[1][lane]));
    d4_store(second->force, d4_load(second->force) - f);
    d4_store(second->torque, d4_load(second->torque) + d4_load(rows[2][lane]));
  }
}

/* ---- what contacts remember -------------------------------------------------------------------------------------- */

/* Bits of the rows of a register in an array of bits, which their first one's place is a multiple of. */
static inline unsigned row_bits(const uint8_t *bits, uint32_t r) {
  return (unsigned)bits[r / 8] >> r % 8 & ((1u << VD_LANES) - 1);
}

static inline void set_row_bits(uint8_t *bits, uint32_t r, unsigned value) {
  const unsigned all = ((1u << VD_LANES) - 1) << r % 8;
  bits[r / 8] = (uint8_t)((bits[r / 8] & ~all) | value << r % 8);
}

/* Contacts that begin are unstrained. */
static inline void load_springs(const close_pairs *c, uint32_t r, unsigned touching, sides *s) {
  vm old = vm_from(touching);
  for (int k = 0; k < 3; k++) s->spring[k] = vd_select(old, vd_load(c->springs[k] + r), vd_set(0));
}

static void end_rows(const pass *p, uint32_t block, uint32_t r, unsigned ended, worker *w) {
  const close_pairs *c = &p->world->close;
  for (; ended != 0; ended &= ended - 1) {
    const uint32_t at = r + (uint32_t)__builtin_ctz(ended);
    row_contact contact = {.first = first_place(block, c->first[at]), .second = row_place(c->second[at])};
    for (int k = 0; k < 3 && p->world->has_springs; k++) contact.strain[k] = c->springs[k][at];
    for (int k = 0; k < 2 && p->world->def.events; k++) contact.hit[k] = c->hits[k][at];
    w->no_memory |= !gz_rows_append(p->world, &w->ended, &contact);
  }
}

/* If it is this block that tells. */
static void tell_rows(const pass *p, uint32_t block, uint32_t r, unsigned bits, graze_contact_event_kind kind,
                      const double speeds[VD_LANES], const double impulses[VD_LANES], pass_result *result) {
  const close_pairs *c = &p->world->close;
  const uint32_t *number = p->world->number;
  for (; bits != 0; bits &= bits - 1) {
    const int lane = __builtin_ctz(bits);
    uint32_t a = first_place(block, c->first[r + (uint32_t)lane]), b = row_place(c->second[r + (uint32_t)lane]);
    if (number[a] > number[b]) {
      if (!is_of_block(b, block)) continue;
      const uint32_t t = a;
      a = b;
      b = t;
    }
    gz_pass_tell(p, a, b, kind, speeds[lane], impulses[lane], result);
  }
}

/* Goes on with speeds of approach and impulses: a hit is told when the two are nearest. */
static void follow(const pass *p, uint32_t block, uint32_t r, unsigned touching, unsigned active, vd normal_speed,
                   vd normal_force, pass_result *result) {
  const close_pairs *c = &p->world->close;
  const unsigned began = active & ~touching;
  double speeds[VD_LANES], impulses[VD_LANES];
  const vd none = vd_set(-1), zero = vd_set(0), approach = vd_neg(normal_speed);
  const vm parting = vd_ge(normal_speed, zero);
  vd speed = vd_load(c->hits[0] + r), impulse = vd_load(c->hits[1] + r);
  if (began != 0) {
    const vm begins = vm_from(began);
    speed = vd_select(begins, vd_select(parting, none, approach), speed);
    impulse = vd_select(begins, zero, impulse);
    vd_store(speeds, approach);
    vd_store(impulses, zero);
    tell_rows(p, block, r, began, GRAZE_CONTACT_BEGAN, speeds, impulses, result);
  }
  impulse = vd_add(impulse, vd_mul(normal_force, vd_set(p->dt)));
  const vm nearest_now = vm_and(vd_ge(speed, zero), parting);
  const unsigned hit = active & vm_bits(nearest_now);
  if (hit != 0) {
    vd_store(speeds, speed);
    vd_store(impulses, impulse);
    tell_rows(p, block, r, hit, GRAZE_CONTACT_HIT, speeds, impulses, result);
  }
  vd_store(c->hits[0] + r, vd_select(nearest_now, none, speed));
  vd_store(c->hits[1] + r, impulse);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Neighbours are anywhere in memory. */
INLINED void ask_ahead(const graze_world *world, const uint32_t *second) {
  const double *positions = world->now->position, *ends = &world->now->spin[3];
  for (int lane = 0; lane < VD_LANES; lane++) {
    __builtin_prefetch(positions + second[lane]);
    __builtin_prefetch(ends + second[lane]);
  }
}

/* A register of rows. */
typedef struct row_group {
  row_balls balls;
  sides s;
  vd share[2];
  outcome o;
  unsigned active, touching; /* bits: overlap now, and touched at the last look */
} row_group;

/* Rows of the block from r on, of which `left` are there. */
INLINED void load_group(const pass *p, uint32_t block, uint32_t r, uint32_t left, row_group *g, features f) {
  const close_pairs *c = &p->world->close;
  if (left > 5 * VD_LANES) ask_ahead(p->world, c->second + r + 4 * VD_LANES);
  g->balls = balls_of(c, block, r);
  g->active = vm_bits(load_sides(p, g->balls.first, g->balls.second, &g->s, g->share, f));
  if (left < VD_LANES) g->active &= (1u << left) - 1;
  g->touching = p->world->remembers ? row_bits(c->touching, r) : 0;
  if (f.springs) load_springs(c, r, g->touching, &g->s);
}

INLINED void compute_group(const pass *p, const lane_law *one, row_group *g, features f) {
  const bool many = !f.simple && p->world->materials.count > 1;
  lane_law l = many ? laws_of(p->world, g->balls.first, g->balls.second) : *one;
  if (!f.simple) add_surface_speed(&l, g->share[0], &g->s);
  apply_law(&l, &g->s, &g->o, f);
}

INLINED void add_group(uint32_t block, const row_group *g, worker *w) {
  uint32_t at[2][VD_LANES];
  find_sums(block, &g->balls, at);
  add_rows(w->sums, at, &g->o, g->share, vm_from(g->active));
}

INLINED void remember_group(const pass *p, uint32_t block, uint32_t r, const row_group *g, worker *w, features f) {
  const close_pairs *c = &p->world->close;
  const unsigned ended = g->touching & ~g->active;
  if (ended != 0) end_rows(p, block, r, ended, w);
  for (int k = 0; k < 3 && f.springs; k++) vd_store(c->springs[k] + r, g->o.spring[k]);
  if (p->world->def.events && g->active != 0)
    follow(p, block, r, g->touching, g->active, g->o.normal_speed, g->o.normal_force, &w->result);
  set_row_bits(c->touching, r, g->active);
}

/* All rows of a block. Two registers at a time, step by step: a contact alone is one long chain of operations that wait
 * for each other. */
INLINED void compute_rows(const pass *p, uint32_t block, worker *w, features f) {
  const graze_world *world = p->world;
  const uint32_t begin = world->close.blocks[block].row, count = world->close.blocks[block].rows;
  const lane_law one = law_everywhere(f.simple ? &world->simple : world->laws);
  const bool remembers = world->remembers && p->mode != PASS_LOOK;
  memset(w->sums, 0, (BLOCK_PLACES + 1) * sizeof *w->sums);
  for (uint32_t i = 0; i < count; i += 2 * VD_LANES) {
    const uint32_t r = begin + i, q = r + VD_LANES, left = count - i;
    row_group g, h;
    load_group(p, block, r, left, &g, f);
    load_group(p, block, q, left > VD_LANES ? left - VD_LANES : 0, &h, f);
    compute_group(p, &one, &g, f);
    compute_group(p, &one, &h, f);
    add_group(block, &g, w);
    add_group(block, &h, w);
    if (!remembers) continue;
    remember_group(p, block, r, &g, w, f);
    remember_group(p, block, q, &h, w, f);
  }
}

/* ---- walls and surfaces ------------------------------------------------------------------------------------------ */

/* Obstacles of any balls, until they fill a register. */
typedef struct queue {
  obstacle at[VD_LANES];
  uint32_t count, done; /* done: rows */
} queue;

/* As columns. Behind the last the first is repeated. */
static sides load_obstacles(const pass *p, const queue *q) {
  const graze_world *world = p->world;
  double normal[3][VD_LANES], velocity[3][VD_LANES], spin[3][VD_LANES], strain[3][VD_LANES], overlap[VD_LANES];
  uint32_t where[VD_LANES];
  vd at[4], own_velocity[4], own_spin[4];
  for (uint32_t lane = 0; lane < VD_LANES; lane++) {
    const obstacle *o = &q->at[lane < q->count ? lane : 0];
    where[lane] = o->place * BALL_DOUBLES;
    overlap[lane] = o->overlap;
    for (int k = 0; k < 3; k++) {
      normal[k][lane] = o->normal[k];
      velocity[k][lane] = o->velocity[k];
      spin[k][lane] = o->spin[k];
      strain[k][lane] = o->strain[k];
    }
  }
  vd_load_rows(at, world->now->position, where);
  vd_load_rows(own_velocity, world->now->velocity, where);
  vd_load_rows(own_spin, world->now->spin, where);
  sides s = {.overlap = vd_load(overlap), .arm = {vd_set(0), vd_set(0)}, .reduced = at[3], .dt = vd_set(p->dt)};
  s.arm[0] = vd_sub(at[3], vd_mul(vd_set(0.5), s.overlap));
  s.inverse_mass = own_velocity[3];
  s.inverse_inertia = own_spin[3];
  for (int k = 0; k < 3; k++) {
    s.n[k] = vd_load(normal[k]);
    s.u[k] = vd_sub(own_velocity[k], vd_load(velocity[k]));
    s.spin[0][k] = own_spin[k];
    s.spin[1][k] = vd_load(spin[k]);
    s.spring[k] = vd_load(strain[k]);
  }
  return s;
}

static void remember_obstacles(const pass *p, const queue *q, const outcome *o, pass_result *result) {
  const graze_world *world = p->world;
  double strain[3][VD_LANES], speed[VD_LANES], force[VD_LANES];
  for (int k = 0; k < 3; k++) vd_store(strain[k], o->spring[k]);
  vd_store(speed, o->normal_speed);
  vd_store(force, o->normal_force);
  for (uint32_t lane = 0; lane < q->count; lane++) {
    const obstacle *at = &q->at[lane];
    for (int k = 0; k < 3 && world->has_springs; k++) at->memory->springs[at->entry][k] = strain[k][lane];
    if (world->def.events) gz_pass_follow_obstacle(p, at, speed[lane], force[lane], result);
  }
}

/* Empties the queue. */
static void compute_obstacles(const pass *p, queue *q, const obstacle_rows *out, pass_result *result) {
  const graze_world *world = p->world;
  const law *laws[VD_LANES];
  if (q->count == 0) return;
  for (uint32_t lane = 0; lane < VD_LANES; lane++) laws[lane] = q->at[lane < q->count ? lane : 0].between;
  const sides s = load_obstacles(p, q);
  const lane_law l = world->materials.count == 1 ? law_everywhere(world->laws) : law_by_lane(laws);
  outcome o;
  if (world->has_springs)
    apply_law(&l, &s, &o, (features){false, true, true});
  else
    apply_law(&l, &s, &o, (features){false, true, false});
  const vd force[4] = {o.force[0], o.force[1], o.force[2], vd_set(0)};
  const vd torque[4] = {o.torque[0][0], o.torque[0][1], o.torque[0][2], o.dissipated};
  vd_store_rows(out->forces + q->done, 1, force);
  vd_store_rows(out->torques + q->done, 1, torque);
  if (world->remembers && p->mode != PASS_LOOK) remember_obstacles(p, q, &o, result);
  for (uint32_t lane = 0; lane < q->count; lane++) out->places[q->done++] = q->at[lane].place;
  q->count = 0;
}

/* The walls that the balls of [begin, end) touch, by ball; then the surfaces, from the row on that is returned. */
static uint32_t run_into_walls(const pass *p, uint32_t begin, uint32_t end, queue *q, const obstacle_rows *out,
                               pass_result *result) {
  const neighbour_list *list = &p->world->list;
  for (uint64_t e = gz_list_first_wall(list, begin); e < list->wall_count && list->walls[e].place < end; e++) {
    if (!gz_pass_wall(p, e, &q->at[q->count], result)) continue;
    if (++q->count == VD_LANES) compute_obstacles(p, q, out, result);
  }
  compute_obstacles(p, q, out, result);
  return q->done;
}

static void run_into_surfaces(const pass *p, uint32_t begin, uint32_t end, queue *q, const obstacle_rows *out,
                              worker *w) {
  const neighbour_list *list = &p->world->list;
  facet_contact *found = w->found;
  for (uint64_t i = gz_list_first_surface(list, begin); i < list->surface_count; i++) {
    const surface_entry *e = &list->surfaces[i];
    if (e->place >= end) break;
    const uint32_t count = gz_pass_surface(p, e, found, &w->result);
    for (uint32_t j = 0; j < count; j++) {
      q->at[q->count++] = gz_pass_facet(p, e, found, j);
      if (q->count == VD_LANES) compute_obstacles(p, q, out, &w->result);
    }
  }
  compute_obstacles(p, q, out, &w->result);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static inline d4 d4_set(double x) {
  return (d4){x, x, x, x};
}

/* What acts on a ball: force x y z 0; torque x y z and what is dissipated. */
typedef struct load {
  d4 force, torque;
} load;

/* What acts on a ball that moves; the others, which rows are added to as well, do not move. */
INLINED load load_of(const graze_world *world, const worker *w, uint32_t place) {
  const ball_sum *sum = &w->sums[place % BLOCK_PLACES];
  if (world->dynamic != world->count && world->number[place] >= world->dynamic) return (load){d4_set(0), d4_set(0)};
  return (load){d4_load(sum->force), d4_load(sum->torque)};
}

/* The obstacles of a place, of those from *next on. */
static inline void add_obstacles(const obstacle_rows *rows, uint32_t *next, uint32_t end, uint32_t place, load *sum) {
  for (; *next < end && rows->places[*next] == place; ++*next) {
    sum->force += d4_load(rows->forces[*next]);
    sum->torque += d4_load(rows->torques[*next]);
  }
}

static void add_drag(const graze_world *world, uint32_t place, const double *v, load *sum) {
  const ball_kind *kind = WORLD_AT(world->kinds, ball_kind, world->kind[place]);
  const double speed2 = (v[0] * v[0] + v[1] * v[1]) + v[2] * v[2];
  const double resistance = kind->drag[0] + kind->drag[1] * sqrt(speed2);
  sum->force -= d4_set(resistance) * (d4){v[0], v[1], v[2], 0};
  sum->torque += (d4){0, 0, 0, resistance * speed2};
}

/* ---- moving ------------------------------------------------------------------------------------------------------ */

/* What all balls of a block move with. */
typedef struct motion {
  const ball_rows *now;
  ball_rows *next;
  double *dissipated;
  d4 gravity, poison; /* poison: 0, or NaN once something is not finite */
  double dt, kick;    /* kick: half a step or a whole one */
  double speed2;
  d4 farthest; /* the largest size of a coordinate, if they are rounded */
  bool leaps, wraps, is_single;
} motion;

static d4 wrapped(const pass *p, d4 at) {
  for (int k = 0; k < 3; k++) {
    const double low = p->world->def.bounds.min[k], high = p->world->def.bounds.max[k], period = p->period[k];
    if (period != 0) at[k] = at[k] < low ? at[k] + period : at[k] >= high ? at[k] - period : at[k];
  }
  return at;
}

static inline double square(d4 v) {
  d4 w = v * v;
  return (w[0] + w[1]) + w[2];
}

static d4 magnitude(d4 x) {
  const int64_t mask = INT64_MAX;
  return (d4)((l4)x & (l4){mask, mask, mask, mask});
}

/* single() of each. */
static d4 d4_single(d4 x) {
  const d4 rounded = __builtin_convertvector(__builtin_convertvector(x, v4), d4);
  const l4 is_small = magnitude(x) < d4_set(0x1p-126);
  return (d4)((l4)rounded & ~is_small);
}

/* Half a step, or a whole one, of velocity and spin. */
INLINED void give_kick(const motion *m, d4 *v, d4 *w, d4 a, d4 b) {
  *v += a;
  *w += b;
  if (!m->is_single) return;
  *v = d4_single(*v);
  *w = d4_single(*w);
}

INLINED void move(const pass *p, motion *m, uint32_t place, const load *sum, features f) {
  const ball_rows *now = &m->now[place];
  ball_rows *to = &m->next[place];
  const d4 three = {1, 1, 1, 0};
  const d4 at = d4_load(now->position), v = d4_load(now->velocity), w = d4_load(now->spin);
  const d4 torque = {sum->torque[0], sum->torque[1], sum->torque[2], 0};
  d4 a = sum->force * d4_set(v[3]), b = torque * d4_set(w[3]);
  if (v[3] > 0) a += m->gravity;
  if (m->is_single) {
    a = d4_single(a);
    b = d4_single(b);
  }
  if (p->mode != PASS_LOOK) m->dissipated[place] += m->dt * sum->torque[3];
  if (p->mode == PASS_LOOK || p->mode == PASS_LAST) {
    memcpy(to->velocity, &a, sizeof a);
    memcpy(to->spin, &b, sizeof b);
    m->poison += (a + b) * d4_set(0);
    return;
  }
  a *= d4_set(m->kick);
  b *= d4_set(m->kick);
  d4 next_v = v, next_w = w;
  give_kick(m, &next_v, &next_w, a, b);
  if (m->leaps) give_kick(m, &next_v, &next_w, a, b);
  const d4 drift = next_v * three;
  d4 next = at + d4_set(m->dt) * drift;
  if (!f.simple && m->wraps) next = wrapped(p, next);
  if (m->is_single) {
    const d4 size = magnitude(next * three);
    const l4 farther = size > m->farthest;
    m->farthest = (d4)(((l4)size & farther) | ((l4)m->farthest & ~farther));
    next = d4_single(next);
  }
  const double speed2 = square(drift);
  m->speed2 = speed2 > m->speed2 ? speed2 : m->speed2;
  m->poison += (next + next_w) * d4_set(0);
  memcpy(to->position, &next, sizeof next);
  memcpy(to->velocity, &next_v, sizeof next_v);
  memcpy(to->spin, &next_w, sizeof next_w);
}

static motion motion_of(const pass *p, const pass_result *so_far) {
  const graze_world *world = p->world;
  const double *g = world->def.gravity;
  return (motion){.now = world->now,
                  .next = world->next,
                  .dissipated = world->dissipated,
                  .gravity = {g[0], g[1], g[2], 0},
                  .poison = d4_set(0),
                  .dt = p->dt,
                  .kick = p->mode == PASS_EULER ? p->dt : 0.5 * p->dt,
                  .speed2 = so_far->speed2,
                  .farthest = d4_set(so_far->farthest),
                  .leaps = p->mode == PASS_STEP,
                  .is_single = world->def.precision == GRAZE_FLOAT,
                  .wraps = p->period[0] != 0 || p->period[1] != 0 || p->period[2] != 0};
}

/* ---- a block ----------------------------------------------------------------------------------------------------- */

/* Each ball moves. `walls`: of the rows of obstacles, how many are walls; surfaces come after
 * them. */
INLINED void move_balls(const pass *p, uint32_t block, uint32_t walls, uint32_t obstacles, worker *w, features f) {
  const graze_world *world = p->world;
  const uint32_t begin = block * BLOCK_PLACES;
  const uint32_t end = world->count - begin < BLOCK_PLACES ? world->count : begin + BLOCK_PLACES;
  uint32_t wall = 0, surface = walls;
  motion m = motion_of(p, &w->result);
  for (uint32_t place = begin; place < end; place++) {
    load sum = load_of(world, w, place);
    add_obstacles(&w->obstacles, &wall, walls, place, &sum);
    add_obstacles(&w->obstacles, &surface, obstacles, place, &sum);
    if (world->has_drag) add_drag(world, place, world->now[place].velocity, &sum);
    move(p, &m, place, &sum, f);
  }
  w->result.speed2 = m.speed2;
  for (int k = 0; k < 3 && m.is_single; k++) w->result.farthest = fmax(w->result.farthest, m.farthest[k]);
  w->result.finite &= m.poison[0] == 0 && m.poison[1] == 0 && m.poison[2] == 0;
}

INLINED void run(const pass *p, uint32_t block, worker *w, features f) {
  const graze_world *world = p->world;
  const uint32_t begin = block * BLOCK_PLACES;
  const uint32_t end = world->count - begin < BLOCK_PLACES ? world->count : begin + BLOCK_PLACES;
  queue q = {.count = 0};
  compute_rows(p, block, w, f);
  if (w->ended.count > 0) w->no_memory |= !gz_rows_end(world, &w->ended, &w->result.events);
  const uint32_t walls = run_into_walls(p, begin, end, &q, &w->obstacles, &w->result);
  run_into_surfaces(p, begin, end, &q, &w->obstacles, w);
  move_balls(p, block, walls, q.done, w, f);
}

void KERNEL(gz_dynamics_pass)(const pass *p, uint32_t block, worker *w) {
  const graze_world *world = p->world;
  if (!world->is_simple) {
    run(p, block, w, (features){false, true, world->has_springs});
  } else if (world->has_springs) {
    run(p, block, w, (features){true, true, true});
  } else if (world->simple.eta_t != 0) {
    run(p, block, w, (features){true, true, false});
  } else {
    run(p, block, w, (features){true, false, false});
  }
}
