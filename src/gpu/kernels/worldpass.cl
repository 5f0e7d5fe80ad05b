/* One pass over the balls of a world: src/dynamics/pass_kernels.c, with an item for each ball. It reads its own row and
 * those of its neighbours, adds up its own side of each contact in the order of its partners' numbers, then walls, then
 * drag and gravity, and writes its next row. No item writes what another one reads. A ball with many neighbours has a
 * group, whose items compute one contact each; the sums are those of one item.
 *
 * Passes are launched ahead, some in a row. When one finds that the list does not bear the next places, it says so in
 * its flag, and those behind it do nothing. */
#include "law.h"

#define PASS_LOOK  0u /* pass_mode */
#define PASS_LAST  1u
#define PASS_STEP  2u
#define PASS_EULER 3u

typedef struct world {
  GLOBAL const double *frame;
  GLOBAL const double *laws; /* the simple one behind them */
  GLOBAL const double *kinds;
  GLOBAL const double *walls;
  GLOBAL const real *rows;
  GLOBAL const u32 *facts;
  GLOBAL const u32 *start;
  GLOBAL u32 *partners;
  GLOBAL double *kept;
  told events;
  u32 materials, features, mode;
} world;

/* A ball, and what acts on it. */
typedef struct ball {
  u32 place, material;
  party own;
  double spin[4];
  double force[3], torque[3], dissipated;
  double energy; /* dissipated so far, in all steps */
} ball;

FUNCTION void add(ball *b, const outcome *o, double share) {
  for (u32 k = 0; k < 3; k++) {
    b->force[k] = b->force[k] + o->force[k];
    b->torque[k] = b->torque[k] + o->torque[k];
  }
  b->dissipated = b->dissipated + share * o->dissipated;
}

/* ---- what contacts remember -------------------------------------------------------------------------------------- */

FUNCTION GLOBAL double *memory_of(const world *w, u32 entry) {
  return w->kept + KEPT_FIELDS(w->features) * (u64)entry;
}

/* Whether the contact of the entry begins; `ended`: whether it has ended. */
FUNCTION u32 remember(const world *w, u32 entry, u32 touches, u32 *ended) {
  u32 partner = w->partners[entry], touched = (partner & PARTNER_TOUCHES) != 0, begins = touches && !touched;
  *ended = touched && !touches;
  if (touched != touches) w->partners[entry] = partner ^ PARTNER_TOUCHES;
  for (u32 k = 0; begins && k < KEPT_FIELDS(w->features); k++) memory_of(w, entry)[k] = 0;
  return begins;
}

FUNCTION void load_spring(const world *w, u32 entry, sides *s) {
  u32 touches = (w->partners[entry] & PARTNER_TOUCHES) != 0;
  for (u32 k = 0; k < 3; k++) s->spring[k] = touches ? memory_of(w, entry)[k] : 0;
}

FUNCTION void store_spring(const world *w, u32 entry, const outcome *o) {
  for (u32 k = 0; k < 3; k++) memory_of(w, entry)[k] = o->spring[k];
}

/* ---- balls ------------------------------------------------------------------------------------------------------- */

FUNCTION u32 material_of(const world *w, u32 place) {
  return w->materials == 1 ? 0 : (u32)kind_of(w->kinds, w->facts, place)[KIND_MATERIAL];
}

FUNCTION GLOBAL const double *law_between(const world *w, u32 first, u32 second) {
  return w->laws + LAW_FIELDS * (u64)(first * w->materials + second);
}

FUNCTION GLOBAL const double *law_of_balls(const world *w, const ball *b, u32 partner) {
  if (w->features & FEATURE_SIMPLE) return w->laws + LAW_FIELDS * (u64)(w->materials * w->materials);
  return w->materials == 1 ? w->laws : law_between(w, b->material, material_of(w, partner));
}

/* d: from the partner's centre to the own one. */
FUNCTION void touch_ball(const world *w, const ball *b, u32 partner, const party *other, const double *d,
                         double distance2, sides *s) {
  double distance = SQRT(distance2), inverse = distance == 0 ? 0.0 : 1 / distance, spin[4];
  load(w->rows, partner, ROW_SPIN, spin);
  for (u32 k = 0; k < 3; k++) {
    s->n[k] = d[k] * inverse;
    s->u[k] = b->own.velocity[k] - other->velocity[k];
    s->spring[k] = 0;
    s->spin[0][k] = b->spin[k];
    s->spin[1][k] = spin[k];
  }
  /* Balls with one centre: the normal is up for the higher number. */
  if (distance == 0) s->n[2] = b->own.number > other->number ? 1.0 : -1.0;
  s->overlap = b->own.at[3] + other->at[3] - distance;
  s->arm[0] = b->own.at[3] - 0.5 * s->overlap;
  s->arm[1] = other->at[3] - 0.5 * s->overlap;
  s->inverse_mass = b->own.velocity[3] + other->velocity[3];
  s->inverse_inertia = b->spin[3] + spin[3];
  s->share = other->velocity[3] == 0 ? 1.0 : 0.5;
  s->reduced = b->own.at[3] * other->at[3] / (b->own.at[3] + other->at[3]);
}

/* With the partner of an entry that touches. */
FUNCTION void add_contact(const world *w, ball *b, u32 entry, u32 partner, const party *other, const double *d,
                          double distance2, u32 began) {
  sides s;
  outcome o;
  GLOBAL const double *law = law_of_balls(w, b, partner);
  u32 springs = (w->features & FEATURE_SPRINGS) != 0;
  touch_ball(w, b, partner, other, d, distance2, &s);
  for (u32 k = 0; k < 3 && s.share == 1 && (w->features & FEATURE_SIMPLE) == 0; k++) s.u[k] -= law[LAW_SURFACE + k];
  if (springs) load_spring(w, entry, &s);
  apply_law(law, &s, w->frame[FRAME_DT], w->features, &o);
  add(b, &o, s.share);
  if (w->mode == PASS_LOOK) return;
  if (springs) store_spring(w, entry, &o);
  if ((w->features & FEATURE_EVENTS) == 0 || b->own.number > other->number) return;
  meeting m;
  meet_balls(&b->own, other, w->frame, &m);
  follow(memory_of(w, entry) + KEPT_SPRINGS(w->features), began, &o, w->frame[FRAME_DT], w->events, &m);
}

FUNCTION void add_ball(const world *w, ball *b, u32 entry) {
  u32 partner = place_of(w->partners[entry]), began = 0, ended = 0;
  double at[4], d[3];
  load(w->rows, partner, ROW_POSITION, at);
  for (u32 k = 0; k < 3; k++) d[k] = nearest_image(b->own.at[k] - at[k], w->frame[FRAME_PERIOD + k]);
  double distance2 = dot(d, d), reach = b->own.at[3] + at[3];
  u32 touches = reach * reach > distance2;
  if ((w->features & FEATURE_REMEMBERS) != 0 && w->mode != PASS_LOOK) began = remember(w, entry, touches, &ended);
  if (!touches && !ended) return;
  party other;
  load_party(w->rows, w->facts, partner, &other);
  if (touches) {
    add_contact(w, b, entry, partner, &other, d, distance2, began);
  } else { /* the simple law has the springs of the others */
    b->energy += end_of_balls(&b->own, &other, law_between(w, b->material, material_of(w, partner)),
                              memory_of(w, entry), w->features, w->frame, w->events);
  }
}

/* ---- walls ------------------------------------------------------------------------------------------------------- */

FUNCTION void touch_wall(const ball *b, GLOBAL const double *wall, GLOBAL const double *law, double distance,
                         sides *s) {
  for (u32 k = 0; k < 3; k++) {
    s->n[k] = wall[WALL_NORMAL + k];
    s->u[k] = b->own.velocity[k] - law[LAW_SURFACE + k];
    s->spin[0][k] = b->spin[k];
    s->spin[1][k] = s->spring[k] = 0;
  }
  s->overlap = b->own.at[3] - distance;
  s->arm[0] = b->own.at[3] - 0.5 * s->overlap;
  s->arm[1] = 0;
  s->inverse_mass = b->own.velocity[3];
  s->inverse_inertia = b->spin[3];
  s->share = 1;
  s->reduced = b->own.at[3];
}

FUNCTION void add_wall(const world *w, ball *b, u32 entry) {
  u32 features = (w->features | FEATURE_TANGENTIAL) & ~FEATURE_SIMPLE, began = 0, ended = 0;
  u32 number = place_of(w->partners[entry]);
  GLOBAL const double *wall = w->walls + WALL_FIELDS * (u64)number;
  GLOBAL const double *law = law_between(w, b->material, (u32)wall[WALL_MATERIAL]);
  double distance = wall_distance(wall, b->own.at);
  u32 touches = distance < b->own.at[3];
  if ((features & FEATURE_REMEMBERS) != 0 && w->mode != PASS_LOOK) began = remember(w, entry, touches, &ended);
  if (ended) b->energy += end_at_wall(&b->own, number, wall, law, memory_of(w, entry), features, w->events);
  if (!touches) return;
  sides s;
  outcome o;
  touch_wall(b, wall, law, distance, &s);
  if (features & FEATURE_SPRINGS) load_spring(w, entry, &s);
  apply_law(law, &s, w->frame[FRAME_DT], features, &o);
  add(b, &o, 1);
  if (w->mode == PASS_LOOK) return;
  if (features & FEATURE_SPRINGS) store_spring(w, entry, &o);
  if ((features & FEATURE_EVENTS) == 0) return;
  meeting m;
  meet_wall(&b->own, wall, number, &m);
  follow(memory_of(w, entry) + KEPT_SPRINGS(w->features), began, &o, w->frame[FRAME_DT], w->events, &m);
}

/* ---- moving ------------------------------------------------------------------------------------------------------ */

FUNCTION void add_drag(const world *w, ball *b) {
  GLOBAL const double *drag = kind_of(w->kinds, w->facts, b->place) + KIND_DRAG;
  double speed2 = dot(b->own.velocity, b->own.velocity), resistance = drag[0] + drag[1] * SQRT(speed2);
  for (u32 k = 0; k < 3; k++) b->force[k] = b->force[k] - resistance * b->own.velocity[k];
  b->dissipated = b->dissipated + resistance * speed2;
}

/* Back into the periodic box. */
FUNCTION double wrapped(double x, GLOBAL const double *frame, u32 k) {
  double period = frame[FRAME_PERIOD + k];
  if (period == 0) return x;
  return frame[FRAME_LOW + k] > x ? x + period : x >= frame[FRAME_HIGH + k] ? x - period : x;
}

/* Who is outside has left: a bit by number. */
FUNCTION void mark_left(const double *at, GLOBAL const double *frame, GLOBAL u32 *left, u32 number) {
  u32 inside = 1;
  for (u32 k = 0; k < 3; k++) inside &= at[k] >= frame[FRAME_LOW + k] && at[k] <= frame[FRAME_HIGH + k];
  if (!inside) OR_GLOBAL(&left[number / 32], 1u << number % 32);
}

/* Of a number that is not finite. */
FUNCTION u32 flag_of_sum(double sum) {
  return sum * 0 != 0 ? FLAG_NOT_FINITE : 0;
}

/* Of a ball that a drift takes to `at`. Marks are whole and places are rounded: three units more. */
FUNCTION u32 flag_of_way(GLOBAL const double *frame, const double *before, const double *at,
                         GLOBAL const u32 *origin) {
  double way2 = 0;
  u32 flag = 0;
  for (u32 k = 0; k < 3; k++) {
    double unit = frame[FRAME_MARK + k], leap = nearest_image(at[k] - before[k], frame[FRAME_PERIOD + k]);
    double marks = mark_of(frame, k, at[k], &flag) - origin[k]; /* modulo 2^32 */
    double way = ((marks < 0x1p31 ? marks : 0x1p32 - marks) + 3) * unit;
    way2 = way2 + way * way;
    if (!(ABS(leap) <= MARK_LEAP * unit)) flag = FLAG_MOVED;
  }
  return way2 > frame[FRAME_MOST2] ? FLAG_MOVED : flag;
}

/* What the ball becomes: its next row, or its accelerations. */
FUNCTION u32 move(const world *w, const ball *b, GLOBAL const u32 *origin, double *at, double *velocity,
                  double *spin) {
  double dt = w->frame[FRAME_DT], h = w->mode == PASS_EULER ? dt : 0.5 * dt, sum = 0;
  for (u32 k = 0; k < 3; k++) {
    double gravity = b->own.velocity[3] > 0 ? w->frame[FRAME_GRAVITY + k] : 0;
    velocity[k] = stored(b->force[k] * b->own.velocity[3] + gravity);
    spin[k] = stored(b->torque[k] * b->spin[3]);
    sum = sum + (velocity[k] + spin[k]);
  }
  velocity[3] = spin[3] = 0;
  if (w->mode == PASS_LOOK || w->mode == PASS_LAST) return flag_of_sum(sum);
  for (u32 k = 0; k < 3; k++) {
    double kick = h * velocity[k], turn = h * spin[k];
    velocity[k] = stored(b->own.velocity[k] + kick);
    spin[k] = stored(b->spin[k] + turn);
    if (w->mode == PASS_STEP) {
      velocity[k] = stored(velocity[k] + kick);
      spin[k] = stored(spin[k] + turn);
    }
    at[k] = stored(wrapped(b->own.at[k] + dt * velocity[k], w->frame, k));
    sum = sum + (at[k] + spin[k]);
  }
  at[3] = b->own.at[3];
  velocity[3] = b->own.velocity[3];
  spin[3] = b->spin[3];
  return flag_of_sum(sum) | flag_of_way(w->frame, b->own.at, at, origin);
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

FUNCTION void store(GLOBAL real *rows, u32 place, u32 field, const double *from) {
  for (u32 k = 0; k < 4; k++) rows[ROW_FIELDS * (u64)place + field + k] = (real)from[k];
}

/* A ball on which nothing acts yet. */
FUNCTION void load_ball(const world *w, u32 place, ball *b) {
  b->place = place;
  load_party(w->rows, w->facts, place, &b->own);
  b->material = material_of(w, place);
  load(w->rows, place, ROW_SPIN, b->spin);
  for (u32 k = 0; k < 3; k++) b->force[k] = b->torque[k] = 0;
  b->dissipated = b->energy = 0;
}

FUNCTION void add_partner(const world *w, ball *b, u32 entry) {
  if (is_wall(w->partners[entry]))
    add_wall(w, b, entry);
  else
    add_ball(w, b, entry);
}

/* What was found of surfaces (meshpass.cl), for their balls. */
typedef struct touched {
  GLOBAL const u32 *start;
  GLOBAL const double *met;
} touched;

FUNCTION void add_surfaces(const touched *t, ball *b) {
  for (u32 e = t->start[b->place]; e < t->start[b->place + 1]; e++) {
    GLOBAL const double *met = t->met + MET_FIELDS * (u64)e;
    for (u32 k = 0; k < 3; k++) {
      b->force[k] = b->force[k] + met[MET_FORCE + k];
      b->torque[k] = b->torque[k] + met[MET_TORQUE + k];
    }
    b->dissipated = b->dissipated + met[MET_DISSIPATED];
    b->energy = b->energy + met[MET_LOST];
  }
}

/* What a pass writes of balls; with PASS_LOOK and PASS_LAST `next` gets accelerations as velocities and spins. */
typedef struct results {
  GLOBAL const u32 *origin;
  GLOBAL real *next;
  GLOBAL double *dissipated;
  GLOBAL u32 *left;
  GLOBAL double *orientations;
  GLOBAL u32 *flags;
} results;

/* Once all partners have been added. */
FUNCTION void finish_ball(const world *w, ball *b, const touched *t, const results *r) {
  double at[4], velocity[4], spin[4];
  u32 i = b->place, bounds = (w->features & FEATURE_BOUNDS) != 0;
  if (bounds && (w->mode == PASS_STEP || w->mode == PASS_LAST)) mark_left(b->own.at, w->frame, r->left, b->own.number);
  if (w->features & FEATURE_SURFACES) add_surfaces(t, b);
  if (w->features & FEATURE_DRAG) add_drag(w, b);
  u32 flag = move(w, b, r->origin + 3 * (u64)i, at, velocity, spin);
  if (w->mode != PASS_LOOK) r->dissipated[i] = b->energy + w->frame[FRAME_DT] * b->dissipated;
  store(r->next, i, ROW_VELOCITY, velocity);
  store(r->next, i, ROW_SPIN, spin);
  if (w->mode == PASS_STEP || w->mode == PASS_EULER) {
    u32 body = (u32)kind_of(w->kinds, w->facts, i)[KIND_BODY];
    store(r->next, i, ROW_POSITION, at);
    if (body != 0) turn_body(r->orientations + 4 * (u64)(body - 1), spin, w->frame[FRAME_DT]);
    if (bounds && w->mode == PASS_EULER) mark_left(at, w->frame, r->left, b->own.number);
  }
  if (flag != 0) OR_GLOBAL(&r->flags[w->events.slot + 1], flag);
}

/* flags[slot] of the pass before it, or of what came before the batch; it sets the next one. Balls with more partners
 * than `most` are left out. */
KERNEL(64) world_pass(GLOBAL const double *RESTRICT frame, GLOBAL const double *RESTRICT laws,
                      GLOBAL const double *RESTRICT kinds, GLOBAL const double *RESTRICT walls,
                      GLOBAL const real *RESTRICT rows, GLOBAL const u32 *RESTRICT facts,
                      GLOBAL const u32 *RESTRICT start, GLOBAL u32 *RESTRICT partners,
                      GLOBAL const u32 *RESTRICT origin, GLOBAL real *RESTRICT next,
                      GLOBAL double *RESTRICT dissipated, GLOBAL u32 *RESTRICT left,
                      GLOBAL double *RESTRICT orientations, GLOBAL u32 *RESTRICT flags, GLOBAL double *RESTRICT kept,
                      GLOBAL u64 *RESTRICT events, GLOBAL u32 *RESTRICT event_count, u32 count, u32 materials,
                      GLOBAL const u32 *RESTRICT facet_start, GLOBAL const double *RESTRICT met, u32 features, u32 mode,
                      u32 slot, u32 room, u32 most) {
  u32 i = GROUP * 64 + ITEM, before = flags[slot];
  if (before != 0 && i == 0) OR_GLOBAL(&flags[slot + 1], before);
  if (before != 0 || i >= count || start[i + 1] - start[i] > most) return;
  const told t = {events, event_count, room, slot};
  const world w = {frame,    laws, kinds, walls,     rows,     facts, start,
                   partners, kept, t,     materials, features, mode};
  const touched surfaces = {facet_start, met};
  const results r = {origin, next, dissipated, left, orientations, flags};
  ball b;
  load_ball(&w, i, &b);
  b.energy = dissipated[i];
  for (u32 e = start[i]; e < start[i + 1]; e++) add_partner(&w, &b, e);
  finish_ball(&w, &b, &surfaces, &r);
}

/* The same of a ball with many partners, behind world_pass. As many contacts at a time as there are items are computed,
 * each as if it were the only one; then each sum goes on through them in their order. Sums begin with +0, so that +0
 * for those who do not touch changes nothing. */
KERNEL(64) world_pass_large(GLOBAL const double *RESTRICT frame, GLOBAL const double *RESTRICT laws,
                            GLOBAL const double *RESTRICT kinds, GLOBAL const double *RESTRICT walls,
                            GLOBAL const real *RESTRICT rows, GLOBAL const u32 *RESTRICT facts,
                            GLOBAL const u32 *RESTRICT start, GLOBAL u32 *RESTRICT partners,
                            GLOBAL const u32 *RESTRICT origin, GLOBAL real *RESTRICT next,
                            GLOBAL double *RESTRICT dissipated, GLOBAL u32 *RESTRICT left,
                            GLOBAL double *RESTRICT orientations, GLOBAL u32 *RESTRICT flags,
                            GLOBAL double *RESTRICT kept, GLOBAL u64 *RESTRICT events,
                            GLOBAL u32 *RESTRICT event_count, u32 count, u32 materials,
                            GLOBAL const u32 *RESTRICT facet_start, GLOBAL const double *RESTRICT met, u32 features,
                            u32 mode, u32 slot, u32 room, GLOBAL const u32 *RESTRICT large) {
  SHARED double part[8][64], sums[8]; /* force, torque, dissipated, energy */
  u32 item = ITEM, i = large[GROUP];
  if (flags[slot] != 0 || i >= count) return;
  const told t = {events, event_count, room, slot};
  const world w = {frame,    laws, kinds, walls,     rows,     facts, start,
                   partners, kept, t,     materials, features, mode};
  const touched surfaces = {facet_start, met};
  const results r = {origin, next, dissipated, left, orientations, flags};
  ball b;
  double sum = item == 7 ? dissipated[i] : 0;
  for (u32 base = start[i]; base < start[i + 1]; base += 64) {
    load_ball(&w, i, &b);
    if (base + item < start[i + 1]) add_partner(&w, &b, base + item);
    for (u32 k = 0; k < 3; k++) {
      part[k][item] = b.force[k];
      part[3 + k][item] = b.torque[k];
    }
    part[6][item] = b.dissipated;
    part[7][item] = b.energy;
    BARRIER;
    for (u32 n = 0; item < 8 && n < 64; n++) sum = sum + part[item][n];
    BARRIER;
  }
  if (item < 8) sums[item] = sum;
  BARRIER;
  if (item != 0) return;
  load_ball(&w, i, &b);
  for (u32 k = 0; k < 3; k++) {
    b.force[k] = sums[k];
    b.torque[k] = sums[3 + k];
  }
  b.dissipated = sums[6];
  b.energy = sums[7];
  finish_ball(&w, &b, &surfaces, &r);
}

/* The first half kick and the drift of a run of leapfrog steps. */
KERNEL(64) world_begin(GLOBAL const double *RESTRICT frame, GLOBAL const double *RESTRICT kinds,
                       GLOBAL real *RESTRICT rows, GLOBAL const real *RESTRICT accelerations,
                       GLOBAL const u32 *RESTRICT origin, GLOBAL const u32 *RESTRICT facts,
                       GLOBAL double *RESTRICT orientations, GLOBAL u32 *RESTRICT flags, u32 count) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count) return;
  double dt = frame[FRAME_DT], h = 0.5 * dt, before[3], at[3], w[3], sum = 0;
  GLOBAL real *row = rows + ROW_FIELDS * (u64)i;
  GLOBAL const real *acceleration = accelerations + ROW_FIELDS * (u64)i;
  for (u32 k = 0; k < 3; k++) {
    double v = stored(row[ROW_VELOCITY + k] + h * acceleration[ROW_VELOCITY + k]);
    w[k] = stored(row[ROW_SPIN + k] + h * acceleration[ROW_SPIN + k]);
    before[k] = row[ROW_POSITION + k];
    at[k] = stored(wrapped(before[k] + dt * v, frame, k));
    row[ROW_POSITION + k] = (real)at[k];
    row[ROW_VELOCITY + k] = (real)v;
    row[ROW_SPIN + k] = (real)w[k];
    sum = sum + (at[k] * 0 + w[k] * 0);
  }
  u32 body = (u32)kind_of(kinds, facts, i)[KIND_BODY];
  if (body != 0) turn_body(orientations + 4 * (u64)(body - 1), w, dt);
  u32 flag = flag_of_sum(sum) | flag_of_way(frame, before, at, origin + 3 * (u64)i);
  if (flag != 0) OR_GLOBAL(&flags[0], flag);
}

/* The last half kick. */
KERNEL(64) world_end(GLOBAL const double *RESTRICT frame, GLOBAL real *RESTRICT rows,
                     GLOBAL const real *RESTRICT accelerations, u32 count) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count) return;
  double h = 0.5 * frame[FRAME_DT];
  for (u32 k = 0; k < 3; k++) {
    u64 v = ROW_FIELDS * (u64)i + ROW_VELOCITY + k, w = ROW_FIELDS * (u64)i + ROW_SPIN + k;
    rows[v] = (real)stored(rows[v] + h * accelerations[v]);
    rows[w] = (real)stored(rows[w] + h * accelerations[w]);
  }
}
