/* Contacts from step to step: the broad phase finds bodies whose boxes meet on their way through the next step, and
 * each pair becomes a contact if it may touch. Points keep their impulse by their features. */
#include <string.h>

#include "rigid/rigid.h"
#include "rigid/vector.h"

/* Bodies that are nearer than this part of the smaller one have a contact. */
static const double nearness = 0.02;

enum { MOST_PARTS = 256 };

/* ---- materials ------------------------------------------------------------------------------------------------- */

graze_rigid_material gz_rigid_mix(const graze_rigid *world, uint32_t first, uint32_t second) {
  for (size_t i = world->pairs.count; i-- > 0;) {
    const rigid_pair *p = RIGID_AT(world->pairs, rigid_pair, i);
    if ((p->first == first && p->second == second) || (p->first == second && p->second == first)) return p->m;
  }
  const graze_rigid_material *a = RIGID_AT(world->materials, graze_rigid_material, first),
                             *b = RIGID_AT(world->materials, graze_rigid_material, second);
  graze_rigid_material m = graze_default_rigid_material();
  m.friction = sqrt(a->friction * b->friction);
  m.restitution = sqrt(a->restitution * b->restitution);
  m.rolling = sqrt(a->rolling * b->rolling);
  m.spinning = sqrt(a->spinning * b->spinning);
  return m;
}

static void take_material(const graze_rigid *world, rigid_contact *c) {
  const rigid_body *a = rigid_body_at(world, c->a), *b = rigid_body_at(world, c->b);
  const graze_rigid_material m = gz_rigid_mix(world, a->material, b->material);
  const bool round = a->radius > 0 || b->radius > 0;
  c->friction = m.friction;
  c->restitution = m.restitution;
  c->rolling = round ? m.rolling : 0;
  c->spinning = round ? m.spinning : 0;
  memset(c->surface, 0, sizeof c->surface);
  for (int k = 0; k < 3; k++) { /* how fast the surface of b runs beyond that of a */
    if (b->type != GRAZE_BODY_DYNAMIC)
      c->surface[k] += RIGID_AT(world->materials, graze_rigid_material, b->material)->surface_speed[k];
    if (a->type != GRAZE_BODY_DYNAMIC)
      c->surface[k] -= RIGID_AT(world->materials, graze_rigid_material, a->material)->surface_speed[k];
  }
}

/* ---- boxes ----------------------------------------------------------------------------------------------------- */

static void find_box(const rigid_body *b, double beyond, double dt, graze_box *box) {
  *box = graze_box_empty();
  for (uint32_t i = 0; i < b->core.corner_count; i++) {
    double at[3];
    turn3(b->rotation, b->core.corners[i], at);
    for (int k = 0; k < 3; k++) at[k] += b->position[k];
    graze_box_add_point(box, at);
  }
  for (int k = 0; k < 3; k++) {
    const double way = b->type == GRAZE_BODY_STATIC ? 0 : dt * b->velocity[k], around = b->radius + beyond;
    box->min[k] += fmin(way, 0) - around;
    box->max[k] += fmax(way, 0) + around;
  }
}

/* How far a point of the body may go in a step, beyond the motion of its centre. */
static double find_reach(const graze_rigid *world, const rigid_body *b, double dt) {
  if (b->type == GRAZE_BODY_STATIC) return nearness * b->least;
  const double turn = fmin(dt * length3(b->spin), 2);
  return nearness * b->least + turn * b->reach +
         (b->type == GRAZE_BODY_DYNAMIC ? length3(world->def.gravity) * dt * dt : 0);
}

void gz_rigid_find_box(const rigid_body *body, graze_box *box) {
  find_box(body, nearness * body->least, 0, box);
}

/* Of those that are awake, in their order. */
static graze_status find_boxes(graze_rigid *world, double dt) {
  const size_t count = world->awake.count;
  world->boxes.count = 0;
  if (!array_reserve(world->context, &world->boxes, count + 1, sizeof(graze_box)))
    return gz_fail_memory(world->context, count * sizeof(graze_box));
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t body = *RIGID_AT(world->awake, uint32_t, i);
    const rigid_body *b = rigid_body_at(world, body);
    graze_box *box = RIGID_AT(world->boxes, graze_box, i);
    find_box(b, find_reach(world, b, dt), dt, box);
    for (int k = 0; k < 3; k++) {
      if (!(isfinite(box->min[k]) && isfinite(box->max[k]))) return gz_rigid_fail_not_finite(world, body);
    }
  }
  world->boxes.count = count;
  return GRAZE_OK;
}

/* ---- candidates ------------------------------------------------------------------------------------------------ */

static int compare_to(const rigid_contact *x, uint32_t a, uint32_t b) {
  if (x->a != a) return x->a < a ? -1 : 1;
  return x->b < b ? -1 : x->b > b;
}

static bool keep_lost(graze_rigid *world, const rigid_contact *old) {
  if (!old->touches) return true;
  if (!array_reserve(world->context, &world->lost, 1, sizeof *old)) return false;
  *RIGID_AT(world->lost, rigid_contact, world->lost.count++) = *old;
  return true;
}

/* As it was in the step before, if it was there: both lists are in order, and `next` goes through that one. */
static bool add_candidate(graze_rigid *world, uint32_t a, uint32_t b, size_t *next) {
  const rigid_contact *before = world->before.data;
  if (!array_reserve(world->context, &world->contacts, 1, sizeof(rigid_contact))) return false;
  rigid_contact *c = RIGID_AT(world->contacts, rigid_contact, world->contacts.count++);
  for (; *next < world->before.count && compare_to(&before[*next], a, b) < 0; ++*next) {
    if (!keep_lost(world, &before[*next])) return false;
  }
  if (*next < world->before.count && compare_to(&before[*next], a, b) == 0) {
    *c = before[(*next)++];
    c->now = 0;
    return true;
  }
  memset(c, 0, sizeof *c);
  c->a = a;
  c->b = b;
  return true;
}

static bool meets_wall(const graze_box *box, const rigid_body *wall) {
  double depth = 0;
  for (int k = 0; k < 3; k++) {
    const double n = wall->rotation[k];
    depth += n * ((n > 0 ? box->min[k] : box->max[k]) - wall->position[k]);
  }
  return depth <= 0;
}

/* In the order of a, then b; walls come after bodies. Those that are no more candidates are lost. */
static bool list_candidates(graze_rigid *world, const graze_box_pair *pairs, uint64_t count) {
  uint64_t next = 0;
  size_t old = 0;
  const uint32_t *awake = world->awake.data;
  world->contacts.count = world->lost.count = 0;
  for (uint32_t i = 0; i < world->awake.count; i++) {
    const uint32_t a = awake[i];
    const bool moves = rigid_body_at(world, a)->type == GRAZE_BODY_DYNAMIC;
    for (; next < count && pairs[next].a == i; next++) {
      const uint32_t b = awake[pairs[next].b];
      const bool other = rigid_body_at(world, b)->type == GRAZE_BODY_DYNAMIC;
      if (gz_rigid_are_joined(world, a, b)) continue;
      if ((moves || other) && !add_candidate(world, a, b, &old)) return false;
    }
    for (uint32_t w = 0; moves && w < world->walls.count; w++) {
      const uint32_t b = (uint32_t)world->bodies.count + w;
      if (meets_wall(RIGID_AT(world->boxes, graze_box, i), rigid_body_at(world, b)) &&
          !add_candidate(world, a, b, &old))
        return false;
    }
  }
  for (; old < world->before.count; old++) {
    if (!keep_lost(world, RIGID_AT(world->before, rigid_contact, old))) return false;
  }
  return true;
}

/* ---- contacts -------------------------------------------------------------------------------------------------- */

/* Nearer than this they may touch within `dt`. */
static double find_margin(const graze_rigid *world, const rigid_body *a, const rigid_body *b, double dt) {
  double way[3];
  sub3(a->velocity, b->velocity, way);
  return find_reach(world, a, dt) + dt * length3(way) + (b->is_wall ? 0 : find_reach(world, b, dt));
}

bool gz_rigid_is_restless(const rigid_body *a, const rigid_body *b, double dt) {
  const double least = fmin(a->least, b->least), turn = length3(a->spin) * a->reach + length3(b->spin) * b->reach;
  double way[3];
  sub3(a->velocity, b->velocity, way);
  return dt * turn > nearness * least || dt * length3(way) > 0.5 * least;
}

uint32_t gz_rigid_count_parts(const graze_rigid *world, const rigid_contact *c, double dt) {
  const rigid_body *a = rigid_body_at(world, c->a), *b = rigid_body_at(world, c->b);
  double way[3];
  if (!c->restless) return 1;
  sub3(a->velocity, b->velocity, way);
  const double speed = length3(way) + length3(a->spin) * a->reach + length3(b->spin) * b->reach;
  return (uint32_t)fmin(ceil(dt * speed / fmin(a->least, b->least)), MOST_PARTS);
}

/* Of a margin, what is there for the next steps. */
static double find_spare(const rigid_body *a, const rigid_body *b) {
  return nearness * (a->least + (b->is_wall ? 0 : b->least));
}

void gz_rigid_refresh(const graze_rigid *world, const rigid_body *a, const rigid_body *b, double dt, rigid_contact *c) {
  gz_rigid_collide(a, b, find_margin(world, a, b, dt), find_spare(a, b), c);
}

typedef struct colliding {
  graze_rigid *world;
  double dt;
} colliding;

static void forget_friction(rigid_contact *c) {
  memset(c->dragged, 0, sizeof c->dragged);
  memset(c->rolled, 0, sizeof c->rolled);
  c->twisted = c->part = 0;
}

static void collide_range(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  const colliding *all = argument;
  const graze_rigid *world = all->world;
  (void)index;
  for (uint32_t i = begin; i < end; i++) {
    rigid_contact *c = RIGID_AT(world->contacts, rigid_contact, i);
    const rigid_body *a = rigid_body_at(world, c->a), *b = rigid_body_at(world, c->b);
    gz_rigid_refresh(world, a, b, all->dt, c);
    c->restless = gz_rigid_is_restless(a, b, all->dt);
    if (c->count > 0) take_material(world, c);
    if (c->count == 0) forget_friction(c);
  }
}

/* Boxes of those that are awake when all have been woken whom they would touch. */
static graze_status find_awake(graze_rigid *world, double dt) {
  graze_status status = GRAZE_OK;
  for (bool any = true; any && status == GRAZE_OK;) {
    if (!gz_rigid_list_awake(world)) return gz_fail_memory(world->context, world->bodies.count * sizeof(uint32_t));
    status = find_boxes(world, dt);
    if (status == GRAZE_OK) status = gz_rigid_wake_touched(world, dt, &any);
  }
  return status;
}

graze_status gz_rigid_find_contacts(graze_rigid *world, double dt) {
  const graze_box_pair *pairs = NULL;
  uint64_t count = 0;
  const gz_array swap = world->before;
  world->before = world->contacts;
  world->contacts = swap;
  graze_status status = find_awake(world, dt);
  if (status != GRAZE_OK) return status;
  if (world->awake.count > 0) {
    const graze_box_array boxes = {world->boxes.data, sizeof(graze_box), GRAZE_DOUBLE};
    status = graze_broadphase_find(world->broadphase, &boxes, (uint32_t)world->awake.count, false, &pairs, &count);
    if (status != GRAZE_OK) return status;
  }
  if (!list_candidates(world, pairs, count) || world->contacts.count > UINT32_MAX)
    return gz_fail_memory(world->context, world->contacts.count * sizeof(rigid_contact));
  colliding all = {world, dt};
  gz_parallel_for(world->context, (uint32_t)world->contacts.count, 32, collide_range, &all);
  return GRAZE_OK;
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

static graze_member member_of(const graze_rigid *world, uint32_t body) {
  const uint32_t count = (uint32_t)world->bodies.count;
  if (body < count) return (graze_member){GRAZE_MEMBER_BODY, 0, body};
  return (graze_member){GRAZE_MEMBER_WALL, 0, body - count};
}

static void velocity_at(const rigid_body *b, const double arm[3], double velocity[3]) {
  double turn[3];
  memset(velocity, 0, 3 * sizeof *velocity);
  if (b->is_wall || b->type == GRAZE_BODY_STATIC) return;
  cross3(b->spin, arm, turn);
  for (int k = 0; k < 3; k++) velocity[k] = b->velocity[k] + turn[k];
}

static bool tell(graze_rigid *world, const rigid_contact *c, graze_contact_event_kind kind) {
  if (!world->def.events) return true;
  if (!array_reserve(world->context, &world->events, 1, sizeof(graze_contact_event))) return false;
  graze_contact_event *e = RIGID_AT(world->events, graze_contact_event, world->events.count++);
  const rigid_body *a = rigid_body_at(world, c->a), *b = rigid_body_at(world, c->b);
  memset(e, 0, sizeof *e);
  e->step = world->step + 1;
  e->kind = kind;
  e->a = member_of(world, c->a);
  e->b = member_of(world, c->b);
  e->overlap = -(double)INFINITY;
  for (int k = 0; k < 3; k++) e->normal[k] = c->normal[k] + 0.0; /* -0 as 0 */
  for (uint32_t i = 0; i < c->count; i++) {
    double arms[2][3], va[3], vb[3];
    e->overlap = fmax(e->overlap, -gz_rigid_find_gap(a, b, c, &c->points[i], arms));
    velocity_at(a, arms[0], va);
    velocity_at(b, arms[1], vb);
    for (int k = 0; k < 3; k++) {
      e->point[k] += (a->position[k] + arms[0][k]) / c->count;
      e->velocity[k] += (va[k] - vb[k]) / c->count;
    }
  }
  if (c->count == 0) { /* they have flown apart within the step: where they were is not kept */
    e->overlap = 0;
    for (int k = 0; k < 3; k++) {
      e->point[k] = a->position[k];
      e->velocity[k] = a->velocity[k] - b->velocity[k];
    }
  }
  e->speed = kind == GRAZE_CONTACT_ENDED ? dot3(e->velocity, e->normal) : c->speed;
  e->impulse = kind == GRAZE_CONTACT_HIT ? c->now : kind == GRAZE_CONTACT_ENDED ? c->impulse : 0;
  return true;
}

static bool tell_contact(graze_rigid *world, rigid_contact *c) {
  bool touches = c->now > 0;
  for (uint32_t i = 0; i < c->count; i++) {
    rigid_point *p = &c->points[i];
    p->gap = gz_rigid_find_gap(rigid_body_at(world, c->a), rigid_body_at(world, c->b), c, p, NULL);
    touches = touches || p->gap <= 0;
  }
  const bool before = c->touches;
  bool good = true;
  c->touches = touches;
  if (touches && !before) {
    good = tell(world, c, GRAZE_CONTACT_BEGAN);
    if (good && c->speed >= world->def.rebound && c->now > 0) good = tell(world, c, GRAZE_CONTACT_HIT);
  } else if (before && !touches) {
    good = tell(world, c, GRAZE_CONTACT_ENDED);
    c->impulse = c->speed = 0;
  }
  return good;
}

/* Those that were lost, in their places between the others. */
graze_status gz_rigid_tell(graze_rigid *world) {
  size_t lost = 0;
  bool good = true;
  for (size_t i = 0; good && i <= world->contacts.count; i++) {
    rigid_contact *c = i < world->contacts.count ? RIGID_AT(world->contacts, rigid_contact, i) : NULL;
    for (; good && lost < world->lost.count; lost++) {
      const rigid_contact *old = RIGID_AT(world->lost, rigid_contact, lost);
      if (c != NULL && compare_to(old, c->a, c->b) > 0) break;
      good = tell(world, old, GRAZE_CONTACT_ENDED);
    }
    if (good && c != NULL) good = tell_contact(world, c);
  }
  return good ? GRAZE_OK : gz_fail_memory(world->context, sizeof(graze_contact_event));
}
