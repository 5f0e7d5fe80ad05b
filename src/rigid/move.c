/* A step of an island: sub-step by sub-step, velocities that obey all contacts, then a drift with them. What bounces is
 * thrown back at the end of the sub-step in which it hits. */
#include <string.h>

#include "rigid/rows.h"
#include "rigid/vector.h"

/* Of h^2 times the pull, as a part of the inertia: what sub-steps can follow. */
static const double slow_enough = 0.25;

/* ---- the system ------------------------------------------------------------------------------------------------ */

typedef struct moving {
  rigid_system s;
  rigid_solver solver;
  rigid_worker *worker;
  double *free, *v, *before;
  double (*starts)[4]; /* orientations of driven bodies at the start of the step */
  bool *pressed;       /* of each body: whether a contact pushes it */
} moving;

static void carve_system(moving *m, carving *c) {
  rigid_system *s = &m->s;
  const size_t bodies = s->body_count, contacts = s->contact_count, rows = s->most_rows;
  const size_t links = contacts + s->joint_count;
  s->bodies = gz_carve(c, bodies * sizeof(rigid_body *));
  s->local = gz_carve(c, links * sizeof *s->local);
  s->contacts = gz_carve(c, contacts * sizeof(rigid_contact *));
  s->joints = gz_carve(c, s->joint_count * sizeof(rigid_joint *));
  s->driven_of = gz_carve(c, links * sizeof *s->driven_of);
  s->driven = gz_carve(c, s->driven_count * sizeof *s->driven);
  m->starts = gz_carve(c, s->driven_count * sizeof *m->starts);
  s->rows = gz_carve(c, rows * sizeof *s->rows);
  m->solver.row_speeds = gz_carve(c, rows * sizeof(double));
  double **const vectors[] = {&m->free,
                              &m->v,
                              &m->before,
                              &m->solver.gradient,
                              &m->solver.step,
                              &m->solver.room,
                              &m->solver.permuted[0],
                              &m->solver.permuted[1],
                              &m->solver.conjugate[0],
                              &m->solver.conjugate[1],
                              &m->solver.conjugate[2]};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
    *vectors[i] = gz_carve(c, 6 * bodies * sizeof(double));
  m->pressed = gz_carve(c, bodies * sizeof *m->pressed);
  m->solver.diagonal = gz_carve(c, bodies * sizeof(block));
  m->solver.factor_diagonal = gz_carve(c, bodies * sizeof(block));
  m->solver.entries = gz_carve(c, m->solver.pattern.entries * sizeof(block));
  m->solver.factor_entries = gz_carve(c, m->solver.pattern.entries * sizeof(block));
}

/* The place of a body in the island, whose bodies are in order. */
static uint32_t find_local(const graze_rigid *world, const rigid_island *island, uint32_t body) {
  const uint32_t *bodies = RIGID_AT(world->island_bodies, uint32_t, island->first_body);
  if (body >= world->bodies.count || rigid_body_at(world, body)->type != GRAZE_BODY_DYNAMIC) return ROW_NOBODY;
  uint32_t low = 0, high = island->body_count;
  while (low + 1 < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (bodies[middle] <= body)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static rigid_contact *contact_at(const graze_rigid *world, const rigid_island *island, uint32_t i) {
  const uint32_t *list = RIGID_AT(world->island_contacts, uint32_t, island->first_contact);
  return RIGID_AT(world->contacts, rigid_contact, list[i]);
}

static rigid_joint *joint_at(const graze_rigid *world, const rigid_island *island, uint32_t i) {
  const uint32_t *list = RIGID_AT(world->island_joints, uint32_t, island->first_joint);
  return RIGID_AT(world->joints, rigid_joint, list[i]);
}

/* The numbers of the two bodies of a contact, or of a joint, whose numbers go on. */
static void find_pair(const graze_rigid *world, const rigid_island *island, uint32_t link, uint32_t pair[2]) {
  if (link < island->contact_count) {
    const rigid_contact *c = contact_at(world, island, link);
    pair[0] = c->a;
    pair[1] = c->b;
  } else {
    const rigid_joint *j = joint_at(world, island, link - island->contact_count);
    pair[0] = j->def.a;
    pair[1] = j->def.b;
  }
}

static bool is_driven(const graze_rigid *world, uint32_t body) {
  return body != GRAZE_NO_BODY && rigid_body_at(world, body)->type == GRAZE_BODY_KINEMATIC;
}

/* Which pairs of bodies are coupled, and how many rows and driven partners there are. */
static bool plan(const graze_rigid *world, const rigid_island *island, rigid_worker *worker, moving *m) {
  const uint32_t links = island->contact_count + island->joint_count;
  uint64_t count = 0;
  if (!gz_buffer_reserve(world->context, &worker->pairs, (links + (size_t)1) * 2 * sizeof(uint32_t), 0)) return false;
  uint32_t(*pairs)[2] = worker->pairs.data;
  for (uint32_t i = 0; i < links; i++) {
    uint32_t pair[2];
    find_pair(world, island, i, pair);
    const uint32_t a = find_local(world, island, pair[0]), b = find_local(world, island, pair[1]);
    if (a != ROW_NOBODY && b != ROW_NOBODY) {
      pairs[count][0] = a < b ? a : b;
      pairs[count++][1] = a < b ? b : a;
    } else {
      m->s.driven_count += is_driven(world, a == ROW_NOBODY ? pair[0] : pair[1]);
    }
    if (i >= island->contact_count) {
      m->s.most_rows += MOST_JOINT_ROWS;
      continue;
    }
    const rigid_contact *c = contact_at(world, island, i);
    m->s.most_rows += gz_rigid_count_rows(c) * MOST_POINTS;
  }
  return gz_factor_plan(world->context, island->body_count, (const uint32_t(*)[2])pairs, count, &worker->pattern,
                        &m->solver.pattern);
}

static void fill_system(graze_rigid *world, const rigid_island *island, moving *m) {
  rigid_system *s = &m->s;
  uint32_t driven = 0;
  for (uint32_t i = 0; i < s->body_count; i++)
    s->bodies[i] = rigid_body_at(world, *RIGID_AT(world->island_bodies, uint32_t, island->first_body + i));
  for (uint32_t i = 0; i < s->contact_count; i++) s->contacts[i] = contact_at(world, island, i);
  for (uint32_t i = 0; i < s->joint_count; i++) s->joints[i] = joint_at(world, island, i);
  for (uint32_t i = 0; i < s->contact_count + s->joint_count; i++) {
    uint32_t pair[2];
    find_pair(world, island, i, pair);
    for (int side = 0; side < 2; side++) s->local[i][side] = find_local(world, island, pair[side]);
    s->driven_of[i] = ROW_NOBODY;
    const uint32_t other = s->local[i][0] == ROW_NOBODY ? pair[0] : pair[1];
    if (s->local[i][0] != ROW_NOBODY && s->local[i][1] != ROW_NOBODY) continue;
    if (!is_driven(world, other)) continue;
    s->driven[driven] = *rigid_body_at(world, other);
    memcpy(m->starts[driven], s->driven[driven].orientation, sizeof m->starts[driven]);
    s->driven_of[i] = driven++;
  }
}

static bool prepare(graze_rigid *world, const rigid_island *island, rigid_worker *worker, moving *m) {
  memset(m, 0, sizeof *m);
  m->worker = worker;
  m->s.world = world;
  m->s.body_count = island->body_count;
  m->s.contact_count = island->contact_count;
  m->s.joint_count = island->joint_count;
  if (!plan(world, island, worker, m)) return false;
  carving c = {NULL, 0};
  carve_system(m, &c);
  if (!gz_buffer_reserve(world->context, &worker->memory, c.used, 0)) return false;
  c = (carving){worker->memory.data, 0};
  carve_system(m, &c);
  fill_system(world, island, m);
  return true;
}

/* ---- a sub-step ------------------------------------------------------------------------------------------------ */

static void kick(moving *m) {
  const double *gravity = m->s.world->def.gravity, h = m->s.h;
  for (uint32_t i = 0; i < m->s.body_count; i++) {
    const rigid_body *b = m->s.bodies[i];
    double *v = m->v + (size_t)6 * i, *free = m->free + (size_t)6 * i;
    for (int k = 0; k < 3; k++) {
      v[k] = b->velocity[k];
      v[3 + k] = b->spin[k];
      free[k] = (v[k] + h * gravity[k]) / (1 + h * b->damping[0]);
      free[3 + k] = v[3 + k] / (1 + h * b->damping[1]);
    }
  }
}

static double kinetic(const rigid_system *s, const double *v) {
  double sum = 0;
  for (uint32_t i = 0; i < s->body_count; i++) {
    const double *x = v + (size_t)6 * i;
    double turned[3];
    turn3(s->bodies[i]->world_inertia, x + 3, turned);
    sum += 0.5 * (s->bodies[i]->mass * dot3(x, x) + dot3(x + 3, turned));
  }
  return sum;
}

static double speed_of(const rigid_row *r, const double *v) {
  double u = r->offset;
  for (int side = 0; side < 2; side++) {
    const double *half = side == 0 ? r->first : r->second;
    if (r->bodies[side] == ROW_NOBODY) continue;
    const double *x = v + (size_t)6 * r->bodies[side];
    u += dot3(half, x) + dot3(half + 3, x + 3);
  }
  return u;
}

/* How fast the surfaces approach where they meet: gravity has pulled until then. */
static void find_approaches(const moving *m) {
  for (uint32_t i = 0; i < m->s.row_count; i++) {
    rigid_row *r = &m->s.rows[i];
    if (r->law != ROW_PUSH) continue;
    const double start = speed_of(r, m->v), end = speed_of(r, m->free), gap = r->target < 0 ? -r->target * m->s.h : 0;
    const double part = end < 0 ? fmin(gap / (-end * m->s.h), 1) : 1;
    r->approach = start + part * (end - start);
  }
}

static void give_velocities(const moving *m) {
  for (uint32_t i = 0; i < m->s.body_count; i++) {
    memcpy(m->s.bodies[i]->velocity, m->v + (size_t)6 * i, 3 * sizeof(double));
    memcpy(m->s.bodies[i]->spin, m->v + (size_t)6 * i + 3, 3 * sizeof(double));
  }
}

static void mark_pressed(const moving *m) {
  memset(m->pressed, 0, m->s.body_count * sizeof *m->pressed);
  for (uint32_t i = 0; i < m->s.row_count; i++) {
    const rigid_row *r = &m->s.rows[i];
    for (int side = 0; side < 2 && r->impulse != 0; side++) {
      if (r->bodies[side] != ROW_NOBODY) m->pressed[r->bodies[side]] = true;
    }
  }
}

/* What falls freely follows its parabola exactly. */
static void drift(const moving *m, double done) {
  const double h = m->s.h, *gravity = m->s.world->def.gravity;
  for (uint32_t i = 0; i < m->s.body_count; i++) {
    rigid_body *b = m->s.bodies[i];
    const double back = m->pressed[i] || b->damping[0] > 0 ? 0 : 0.5 * h;
    for (int k = 0; k < 3; k++) b->position[k] += h * (b->velocity[k] - back * gravity[k]);
    gz_rigid_turn_free(b, h);
    memcpy(m->v + (size_t)6 * i + 3, b->spin, sizeof b->spin);
  }
  for (uint32_t i = 0; i < m->s.driven_count; i++) {
    rigid_body *b = &m->s.driven[i];
    for (int k = 0; k < 3; k++) b->position[k] += h * b->velocity[k];
    gz_rigid_turn_driven(b, m->starts[i], done);
  }
}

/* Points of those that move much, some only since something hit them. */
static bool refresh(moving *m, double since) {
  for (uint32_t i = 0; i < m->s.contact_count; i++) {
    rigid_contact *c = m->s.contacts[i];
    const rigid_body *a = gz_rigid_partner(&m->s, i, 0), *b = gz_rigid_partner(&m->s, i, 1);
    c->restless = c->restless || gz_rigid_is_restless(a, b, m->s.world->dt);
    if (c->restless && gz_rigid_refresh(m->s.world, a, b, since, m->s.h, c, m->worker) != GRAZE_OK) return false;
  }
  return true;
}

static void rebound(moving *m) {
  if (!gz_rigid_make_rebounds(&m->s)) return;
  memcpy(m->free, m->v, 6 * m->s.body_count * sizeof *m->free);
  gz_rigid_solve(&m->s, m->free, m->v, &m->solver);
  gz_rigid_keep_impulses(&m->s, true);
  give_velocities(m);
}

/* A light body between heavy ones swings across the pull of its joints faster than sub-steps can follow, and would gain
 * energy. It is given as much more inertia as makes it slow enough (the geometric stiffness of M. Tournier et al.,
 * "Stable constrained dynamics", 2015, in its simplest form); most bodies get none. */
static void stiffen(const moving *m, bool on) {
  const rigid_system *s = &m->s;
  for (uint32_t i = 0; i < s->body_count; i++) {
    rigid_body *b = s->bodies[i];
    double pull = 0;
    for (uint32_t k = 0; k < s->joint_count; k++) {
      const rigid_joint *j = s->joints[k];
      for (int side = 0; side < 2; side++) {
        if (s->local[s->contact_count + k][side] == i && !j->broken) pull += j->force * length3(j->own[side]);
      }
    }
    const double more = s->h * s->h * pull - slow_enough * b->moments[0];
    if (more <= 0) continue;
    gz_rigid_set_inertia(b, on ? more : 0);
  }
}

/* The energy that goes in a sub-step: what is had before, and what gravity gives on the way, less what there is then.
 */
static double sub_step(moving *m, double done) {
  const double *gravity = m->s.world->def.gravity;
  kick(m);
  double gone = kinetic(&m->s, m->v);
  for (uint32_t i = 0; i < m->s.body_count; i++) gone -= m->s.bodies[i]->mass * dot3(gravity, m->s.bodies[i]->position);
  if (m->s.joint_count > 0) stiffen(m, true);
  gz_rigid_make_rows(&m->s);
  find_approaches(m);
  if (m->s.row_count > 0)
    gz_rigid_solve(&m->s, m->free, m->v, &m->solver);
  else
    memcpy(m->v, m->free, 6 * m->s.body_count * sizeof *m->v);
  give_velocities(m);
  if (m->s.joint_count > 0) stiffen(m, false);
  gz_rigid_keep_impulses(&m->s, false);
  gz_rigid_keep_forces(&m->s);
  mark_pressed(m);
  drift(m, done);
  rebound(m);
  for (uint32_t i = 0; i < m->s.body_count; i++) gone += m->s.bodies[i]->mass * dot3(gravity, m->s.bodies[i]->position);
  return gone - kinetic(&m->s, m->v);
}

static uint32_t count_parts(const graze_rigid *world, const rigid_system *s, double dt) {
  uint32_t most = world->def.substeps;
  for (uint32_t i = 0; i < s->contact_count; i++) {
    const uint32_t parts = gz_rigid_count_parts(world, s->contacts[i], dt);
    if (parts > most) most = parts;
  }
  return most;
}

bool gz_rigid_move_island(graze_rigid *world, rigid_island *island, double dt, rigid_worker *worker) {
  moving m;
  if (!prepare(world, island, worker, &m)) return false;
  const uint32_t parts = count_parts(world, &m.s, dt);
  m.s.h = dt / parts;
  island->dissipated = 0;
  for (uint32_t i = 0; i < parts; i++) {
    if (i > 0 && !refresh(&m, dt * i / parts)) return false;
    island->dissipated += sub_step(&m, dt * (i + 1.0) / parts);
  }
  return true;
}
