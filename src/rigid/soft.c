/* Soft steps: every contact is a spring with a rate that sub-steps can follow and much damping, stepped implicitly.
 *
 * A sub-step pulls by gravity, repeats the impulses of the one before, goes once through all contacts, moves the
 * bodies, and goes through them once more to take back the speed with which overlaps were pushed out. At the end of the
 * step what bounces is thrown back. (E. Catto, "Solver2D", 2024; M. Macklin et al., "Small steps in physics
 * simulation", 2019, for sub-steps instead of rounds.)
 *
 * Rows stand still within a step; how far bodies have come is counted along them. Impulses act at a point that goes on
 * with the middle of both bodies: what arms that stand still add to the angular momentum of two that part is summed,
 * and is taken from both in the end. What contacts did to a body in a sub-step is what they do first in the next one,
 * so that only the first goes through contacts for that. */
#include "rigid/soft.h"

#include <math.h>
#include <string.h>

#include "rigid/compounds.h"
#include "rigid/vector.h"

enum { BODY_GRAIN = 256, GROUP_GRAIN = 32 };

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Groups are counted when colors are known: none of them has more than eight contacts. */
static void carve_system(soft_system *s, carving *c) {
  const size_t bodies = s->body_count + (size_t)1, contacts = s->contact_count;
  s->bodies = gz_carve(c, bodies * sizeof *s->bodies);
  s->states = gz_carve(c, bodies * SOFT_STATE * sizeof(double));
  s->used = gz_carve(c, bodies * sizeof *s->used);
  s->contacts = gz_carve(c, contacts * sizeof *s->contacts);
  s->busy = gz_carve(c, contacts * sizeof *s->busy);
  s->classes = gz_carve(c, contacts);
}

static bool prepare(graze_rigid *world, soft_system *s, const uint32_t *bodies, const uint32_t *contacts) {
  carving c = {NULL, 0};
  uint32_t *slots = world->slots.data;
  carve_system(s, &c);
  if (!gz_buffer_reserve(world->context, &world->soft[0], c.used, 0)) return false;
  c = (carving){world->soft[0].data, 0};
  carve_system(s, &c);
  memset(s->states, 0, SOFT_STATE * sizeof *s->states);
  for (uint32_t i = 0; i < s->body_count; i++) {
    s->bodies[i + 1].body = bodies[i];
    s->bodies[i + 1].heaviest = 0;
    slots[bodies[i]] = i + 1;
  }
  gz_soft_color(s, slots, contacts);
  if (!gz_buffer_reserve(world->context, &world->soft[1], (gz_soft_count_groups(s) + (size_t)1) * sizeof *s->groups, 0))
    return false;
  s->groups = world->soft[1].data;
  return true;
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

/* I^1/2 x */
static void scale_spin(const rigid_body *b, const double x[3], double out[3]) {
  double own[3], along[3];
  turn_back3(b->rotation, x, own);
  turn3(b->axes, own, along);
  for (int k = 0; k < 3; k++) along[k] *= sqrt(b->moments[k]);
  turn_back3(b->axes, along, own);
  turn3(b->rotation, own, out);
}

static void load_body(const soft_system *s, uint32_t slot) {
  soft_body *to = &s->bodies[slot];
  const rigid_body *b = rigid_body_at(s->world, to->body);
  double *state = s->states + (size_t)slot * SOFT_STATE;
  const double root = sqrt(b->mass);
  memset(state, 0, SOFT_STATE * sizeof *state);
  for (int k = 0; k < 3; k++) state[k] = root * b->velocity[k];
  scale_spin(b, b->spin, state + 4);
  gz_rigid_find_root(b, to->root);
  to->energy = gz_rigid_find_energy(s->world, b);
}

/* A small rotation by the vector, whose tangent is a rational function. */
static void turn_by(rigid_body *b, const double angle[3]) {
  const double x = 0.5 * length3(angle), t = x > 0 ? 0.5 * (15 - x * x) / (15 - 6 * x * x) : 0;
  const double by[3] = {t * angle[0], t * angle[1], t * angle[2]};
  if (x > 0) gz_rigid_turn(b, by);
}

static bool is_even(const rigid_body *b) {
  return b->moments[0] == b->moments[2];
}

/* Angular momentum stays while the body turns. */
static void store_body(const soft_system *s, uint32_t slot) {
  soft_body *from = &s->bodies[slot];
  rigid_body *b = rigid_body_at(s->world, from->body);
  const double *state = s->states + (size_t)slot * SOFT_STATE, root = 1 / sqrt(b->mass);
  double angle[3], momentum[3];
  for (int k = 0; k < 3; k++) {
    b->velocity[k] = root * state[k];
    b->position[k] += root * state[8 + k];
  }
  turn3(from->root, state + 4, b->spin);
  turn3(from->root, state + 12, angle);
  turn3(b->world_inertia, b->spin, momentum);
  turn_by(b, angle);
  if (!is_even(b)) turn3(b->inverse_inertia, momentum, b->spin);
  from->energy -= gz_rigid_find_energy(s->world, b);
}

/* ---- stages ------------------------------------------------------------------------------------------------------ */

typedef void (*body_stage)(const soft_system *s, uint32_t slot);
typedef void (*group_stage)(const soft_pass *pass, uint32_t begin, uint32_t end);

typedef struct soft_loop {
  const soft_system *s;
  body_stage body;
  group_stage group;
  soft_pass pass;
  uint32_t first;
} soft_loop;

static void body_range(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  const soft_loop *l = argument;
  (void)index;
  for (uint32_t i = begin; i < end; i++) l->body(l->s, i + 1);
}

static void run_bodies(const soft_system *s, body_stage stage) {
  soft_loop l = {.s = s, .body = stage};
  gz_parallel_for(s->world->context, s->body_count, BODY_GRAIN, body_range, &l);
}

static void group_range(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  const soft_loop *l = argument;
  (void)index;
  l->group(&l->pass, l->first + begin, l->first + end);
}

/* Color by color; those of the last color one by one. */
static void run_colors(soft_loop *l, graze_task_function stage) {
  const soft_system *s = l->s;
  for (uint32_t color = 0; color < SOFT_COLORS; color++) {
    const uint32_t count = s->first[2 * color + 2] - s->first[2 * color];
    l->first = s->first[2 * color];
    if (count > 0) gz_parallel_for(s->world->context, count, GROUP_GRAIN, stage, l);
  }
  l->first = s->first[2 * SOFT_COLORS];
  if (s->group_count > l->first) stage(l, 0, s->group_count - l->first, 0);
}

static void run_groups(const soft_system *s, group_stage stage, double time, bool is_relaxing) {
  soft_loop l = {
      .s = s, .group = stage, .pass = {s->groups, s->states, s->h, time, s->world->def.push_speed, is_relaxing}};
  run_colors(&l, group_range);
}

static void settle_lane(const soft_system *s, const soft_group *g, uint32_t lane) {
  const double moment[3] = {-0.5 * g->moment[0][lane], -0.5 * g->moment[1][lane], -0.5 * g->moment[2][lane]};
  for (int side = 0; side < 2; side++) {
    double *spin = s->states + g->at[side][lane] + 4, change[3];
    turn3(s->bodies[g->at[side][lane] / SOFT_STATE].root, moment, change);
    for (int k = 0; k < 3; k++) spin[k] += change[k];
  }
}

static void settle_range(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  const soft_loop *l = argument;
  (void)index;
  for (uint32_t i = l->first + begin; i < l->first + end; i++) {
    const soft_group *g = &l->s->groups[i];
    for (uint32_t lane = 0; lane < SOFT_LANES && g->parts; lane++) {
      if (g->contact[lane] != UINT32_MAX) settle_lane(l->s, g, lane);
    }
  }
}

static void fill_range(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  const soft_loop *l = argument;
  (void)index;
  gz_soft_fill(l->s, l->s->world->slots.data, begin, end);
}

static void keep_range(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  const soft_loop *l = argument;
  (void)index;
  gz_soft_keep(l->s, begin, end);
}

static void run_contacts(const soft_system *s, graze_task_function stage) {
  soft_loop l = {.s = s};
  gz_parallel_for(s->world->context, s->group_count, GROUP_GRAIN, stage, &l);
}

/* ---- a sub-step -------------------------------------------------------------------------------------------------- */

static void pull(const soft_system *s, uint32_t slot) {
  soft_body *body = &s->bodies[slot];
  const rigid_body *b = rigid_body_at(s->world, body->body);
  double *u = s->states + (size_t)slot * SOFT_STATE;
  const double *gravity = s->world->def.gravity, root = s->h * sqrt(b->mass);
  const double slower[2] = {1 / (1 + s->h * b->damping[0]), 1 / (1 + s->h * b->damping[1])};
  for (int k = 0; k < 3; k++) {
    u[k] = (u[k] + root * gravity[k]) * slower[0];
    u[4 + k] *= slower[1];
  }
  memcpy(body->base, u, sizeof body->base);
}

static void repeat(const soft_system *s, uint32_t slot) {
  soft_body *body = &s->bodies[slot];
  double *u = s->states + (size_t)slot * SOFT_STATE;
  for (int k = 0; k < 8; k++) body->delta[k] = u[k] - body->base[k];
  pull(s, slot);
  for (int k = 0; k < 8; k++) u[k] += body->delta[k];
}

static void drift(const soft_system *s, uint32_t slot) {
  double *u = s->states + (size_t)slot * SOFT_STATE;
  for (int k = 0; k < 8; k++) u[8 + k] += s->h * u[k];
}

static void sub_step(const soft_system *s, uint32_t number) {
  const double time = number * s->h;
  run_bodies(s, number == 0 ? pull : repeat);
  if (number == 0) run_groups(s, CPU_KERNEL(gz_soft_begin), 0, false);
  run_groups(s, CPU_KERNEL(gz_soft_solve), time, false);
  run_bodies(s, drift);
  run_groups(s, CPU_KERNEL(gz_soft_solve), time + s->h, true);
}

static bool any_throws(const soft_system *s) {
  for (uint32_t i = 0; i < s->group_count; i++) {
    if (s->groups[i].throws) return true;
  }
  return false;
}

static void step_groups(const soft_system *s, uint32_t sub_steps) {
  run_bodies(s, load_body);
  run_contacts(s, fill_range);
  for (uint32_t i = 0; i < sub_steps; i++) sub_step(s, i);
  if (any_throws(s)) run_groups(s, CPU_KERNEL(gz_soft_throw), 0, true);
  soft_loop last = {.s = s};
  run_colors(&last, settle_range);
  run_contacts(s, keep_range);
  run_bodies(s, store_body);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* What is driven goes on between the rounds of those that are fast. */
static void drive(const graze_rigid *world, const soft_system *s, double time) {
  for (uint32_t i = 0; i < s->contact_count; i++) {
    const rigid_contact *c = RIGID_AT(world->contacts, rigid_contact, s->contacts[i]);
    for (int side = 0; side < 2; side++) {
      rigid_body *b = rigid_body_at(world, side == 0 ? c->a : c->b);
      if (b->type == GRAZE_BODY_KINEMATIC) gz_rigid_drive(b, time);
    }
  }
}

/* For how many rounds the points that a pair gets in this one last; 0: it has some that still do. Compounds, whose many
 * parts are dear to look at, are looked at as often as they need by themselves, not as often as the fastest of the
 * island does. */
static uint32_t count_lasting(const graze_rigid *world, const rigid_contact *c, uint32_t round, uint32_t rounds) {
  if (!rigid_are_compound(rigid_body_at(world, c->a), rigid_body_at(world, c->b))) return 1;
  const uint32_t wanted = gz_rigid_count_parts(world, c, world->dt), parts = wanted < rounds ? wanted : rounds;
  return round * parts / rounds != (round - 1) * parts / rounds ? (rounds + parts - 1) / parts : 0;
}

static bool refresh(const graze_rigid *world, const soft_system *s, uint32_t round, uint32_t rounds) {
  for (uint32_t i = 0; i < s->contact_count; i++) {
    rigid_contact *c = RIGID_AT(world->contacts, rigid_contact, s->contacts[i]);
    const rigid_body *a = rigid_body_at(world, c->a), *b = rigid_body_at(world, c->b);
    const uint32_t lasting = c->restless ? count_lasting(world, c, round, rounds) : 0;
    if (lasting > 0 &&
        gz_rigid_refresh(world, a, b, round * s->step, lasting * s->step, c, &world->workers[0]) != GRAZE_OK)
      return false;
  }
  return true;
}

bool gz_soft_move(graze_rigid *world, const soft_work *work, double dt) {
  soft_system s = {.world = world, .body_count = work->body_count, .contact_count = work->contact_count};
  if (!prepare(world, &s, work->bodies, work->contacts)) return false;
  const uint32_t rounds = work->rounds, sub_steps = (work->sub_steps + rounds - 1) / rounds;
  s.step = dt / rounds;
  s.h = s.step / sub_steps;
  for (uint32_t i = 0; i < rounds; i++) {
    if (i > 0) drive(world, &s, i * s.step);
    if (i > 0 && !refresh(world, &s, i, rounds)) return false;
    gz_soft_arrange(&s);
    step_groups(&s, sub_steps);
    for (uint32_t k = 1; k <= s.body_count; k++) world->dissipated += s.bodies[k].energy;
  }
  if (rounds > 1) drive(world, &s, 0);
  return true;
}
