/* Contacts from step to step: the broad phase finds bodies whose boxes meet on their way through the next step, and
 * each pair becomes a contact if it may touch. Points keep their impulse by their features. */
#include <string.h>

#include "rigid/compounds.h"
#include "rigid/patches.h"
#include "rigid/rigid.h"
#include "rigid/vector.h"

/* Bodies that are nearer than this part of the smaller one have a contact. */
static const double nearness = 0.02;

/* Of the thinner one, how far it is looked ahead for two that may part. */
static const double parting = 0.5;

enum { MOST_PARTS = 256 };

/* What may come within a step, of bodies of which one is a mesh or a compound and that are fast. */
enum { SPARE_PATCHES = 4 };

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

static bool may_be_round(const rigid_body *b) {
  for (uint32_t i = 0; i < b->part_count; i++) {
    if (b->parts[i].radius > 0) return true;
  }
  return b->radius > 0;
}

/* What is there for a patch that may come is there for a round one. */
static void take_material(const graze_rigid *world, rigid_contact *c) {
  const rigid_body *a = rigid_body_at(world, c->a), *b = rigid_body_at(world, c->b);
  const graze_rigid_material m = gz_rigid_mix(world, a->material, b->material);
  const bool spare = c->is_spare && (may_be_round(a) || may_be_round(b));
  const bool round = c->radii[0] > 0 || c->radii[1] > 0 || spare;
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

static double find_nearness(const rigid_body *b) {
  return isfinite(b->least) ? nearness * b->least : 0;
}

/* How far a point of the body may go in a step, beyond the motion of its centre. */
static double find_reach(const graze_rigid *world, const rigid_body *b, double dt) {
  if (b->type == GRAZE_BODY_STATIC) return find_nearness(b);
  const double turn = fmin(dt * length3(b->spin), 2);
  return find_nearness(b) + turn * b->reach +
         (b->type == GRAZE_BODY_DYNAMIC ? length3(world->def.gravity) * dt * dt : 0);
}

void gz_rigid_find_box(const rigid_body *body, graze_box *box) {
  find_box(body, find_nearness(body), 0, box);
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

size_t gz_rigid_count_patches(const rigid_contact *first, const rigid_contact *end) {
  size_t count = 1;
  while (first + count < end && compare_to(&first[count], first->a, first->b) == 0) count++;
  return count;
}

/* Of a candidate with a mesh or a compound: the patches that it had, of `before`, and those that are found, of a
 * worker. */
typedef struct patch_range {
  size_t old;
  uint32_t old_count, first, count, worker;
} patch_range;

static bool keep_lost(graze_rigid *world, const rigid_contact *old) {
  if (!old->touches) return true;
  if (!array_reserve(world->context, &world->lost, 1, sizeof *old)) return false;
  *RIGID_AT(world->lost, rigid_contact, world->lost.count++) = *old;
  return true;
}

/* As it was in the step before, if it was there: both lists are in order, and `next` goes through that one. */
static bool add_candidate(graze_rigid *world, uint32_t a, uint32_t b, size_t *next) {
  const rigid_contact *before = world->before.data;
  if (!array_reserve(world->context, &world->contacts, 1, sizeof(rigid_contact)) ||
      !array_reserve(world->context, &world->ranges, 1, sizeof(patch_range)))
    return false;
  rigid_contact *c = RIGID_AT(world->contacts, rigid_contact, world->contacts.count++);
  patch_range *range = RIGID_AT(world->ranges, patch_range, world->ranges.count++);
  memset(range, 0, sizeof *range);
  for (; *next < world->before.count && compare_to(&before[*next], a, b) < 0; ++*next) {
    if (!keep_lost(world, &before[*next])) return false;
  }
  if (*next < world->before.count && compare_to(&before[*next], a, b) == 0) {
    range->old = *next;
    range->old_count = (uint32_t)gz_rigid_count_patches(&before[*next], before + world->before.count);
    *c = before[*next];
    *next += range->old_count;
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
  world->contacts.count = world->lost.count = world->ranges.count = 0;
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

static uint32_t count_parts(const rigid_body *a, const rigid_body *b, double dt) {
  double way[3];
  sub3(a->velocity, b->velocity, way);
  const double speed = length3(way) + length3(a->spin) * a->reach + length3(b->spin) * b->reach;
  return (uint32_t)fmin(ceil(dt * speed / fmin(a->least, b->least)), MOST_PARTS);
}

uint32_t gz_rigid_count_parts(const graze_rigid *world, const rigid_contact *c, double dt) {
  return c->restless ? count_parts(rigid_body_at(world, c->a), rigid_body_at(world, c->b), dt) : 1;
}

/* Of a margin, what is there for the next steps. */
static double find_spare(const rigid_body *a, const rigid_body *b) {
  return find_nearness(a) + (b->is_wall ? 0 : find_nearness(b));
}

/* Two that go together part when something stops one of them. Meshes have no axis that would tell afterwards; where
 * they are not looked at again within the step, they are looked for farther. */
static double find_parting(const rigid_body *a, const rigid_body *b, double dt) {
  return fmin(dt * fmax(length3(a->velocity), length3(b->velocity)), parting * fmin(a->least, b->least));
}

/* Whether a pair has several contacts. */
static bool have_patches(const rigid_body *a, const rigid_body *b) {
  return rigid_are_meshed(a, b) || rigid_are_compound(a, b);
}

static graze_status find_patches(const graze_rigid *world, const rigid_body *a, const rigid_body *b, double dt,
                                 const rigid_contact *old, uint32_t old_count, rigid_worker *worker) {
  const bool parts_late = rigid_are_meshed(a, b) && !gz_rigid_is_restless(a, b, world->dt);
  const double margin = find_margin(world, a, b, dt) + (parts_late ? find_parting(a, b, dt) : 0);
  if (rigid_are_compound(a, b))
    return gz_rigid_find_part_patches(world, a, b, margin, find_spare(a, b), old, old_count, worker);
  return gz_rigid_find_patches(world, a, b, margin, find_spare(a, b), old, old_count, worker);
}

static void forget_forces(rigid_contact *c) {
  memset(c->dragged, 0, sizeof c->dragged);
  memset(c->rolled, 0, sizeof c->rolled);
  c->twisted = c->part = c->stiffened = 0;
}

/* Into the slots of a pair; what has no patch has no points. */
static void fill_slots(rigid_contact *slots, size_t slot_count, const rigid_contact *found, size_t found_count) {
  for (size_t i = 0; i < slot_count; i++) {
    const rigid_contact before = slots[i];
    if (i < found_count) {
      slots[i] = found[i];
    } else {
      slots[i].count = 0;
      forget_forces(&slots[i]);
    }
    slots[i].now = before.now;
    slots[i].restless = before.restless;
    slots[i].is_spare = before.is_spare;
    slots[i].slots = before.slots;
    slots[i].friction = before.friction;
    slots[i].restitution = before.restitution;
    slots[i].rolling = before.rolling;
    slots[i].spinning = before.spinning;
    memcpy(slots[i].surface, before.surface, sizeof before.surface);
  }
}

graze_status gz_rigid_refresh(const graze_rigid *world, const rigid_body *a, const rigid_body *b, double since,
                              double dt, rigid_contact *c, rigid_worker *worker) {
  if (!c->is_patch) {
    gz_rigid_collide(a, b, find_margin(world, a, b, dt), find_spare(a, b), c);
    gz_rigid_foresee(world, a, b, c, 1, since);
    return GRAZE_OK;
  }
  if (c->patch > 0) return GRAZE_OK;
  const size_t before = worker->patches.count;
  graze_status status = find_patches(world, a, b, dt, c, c->slots, worker);
  if (status != GRAZE_OK) return status;
  rigid_contact *found = RIGID_AT(worker->patches, rigid_contact, before);
  size_t count = worker->patches.count - before;
  if (rigid_are_compound(a, b)) count = gz_rigid_keep_deepest(found, count, c->slots);
  fill_slots(c, c->slots, found, count);
  gz_rigid_foresee(world, a, b, c, c->slots, since);
  worker->patches.count = before;
  return GRAZE_OK;
}

static graze_status need_surface(graze_rigid *world, rigid_body *b) {
  graze_status status = GRAZE_OK;
  if (b->part_count == 0) return gz_rigid_need_surface(world, b);
  for (uint32_t i = 0; i < b->part_count && status == GRAZE_OK; i++)
    status = gz_rigid_need_surface(world, &b->parts[i]);
  return status;
}

/* Surfaces of two of which one is a mesh. */
static graze_status need_surfaces(graze_rigid *world, rigid_body *a, rigid_body *b) {
  if (!rigid_are_meshed(a, b)) return GRAZE_OK;
  graze_status status = need_surface(world, a);
  return status == GRAZE_OK ? need_surface(world, b) : status;
}

graze_status gz_rigid_would_touch(graze_rigid *world, uint32_t first, uint32_t second, double dt, bool *touch) {
  rigid_worker *worker = &world->workers[0];
  rigid_contact c;
  memset(&c, 0, sizeof c);
  c.a = first < second ? first : second;
  c.b = first < second ? second : first;
  rigid_body *a = rigid_body_at(world, c.a), *b = rigid_body_at(world, c.b);
  *touch = false;
  if (!have_patches(a, b)) {
    gz_rigid_collide(a, b, find_margin(world, a, b, dt), find_spare(a, b), &c);
    *touch = c.count > 0;
    return GRAZE_OK;
  }
  graze_status status = need_surfaces(world, a, b);
  worker->patches.count = 0;
  if (status == GRAZE_OK) status = find_patches(world, a, b, dt, &c, 1, worker);
  if (status == GRAZE_OK) *touch = RIGID_AT(worker->patches, rigid_contact, 0)->count > 0;
  return status;
}

/* ---- all of a step ----------------------------------------------------------------------------------------------- */

typedef struct colliding {
  graze_rigid *world;
  double dt;
  _Atomic int status; /* a graze_status */
} colliding;

static void finish(const graze_rigid *world, rigid_contact *c, bool is_restless) {
  c->restless = is_restless;
  if (c->count > 0 || c->is_spare) take_material(world, c);
  if (c->count == 0) forget_forces(c);
}

static void collide_patched(colliding *all, uint32_t i, uint32_t index) {
  const graze_rigid *world = all->world;
  rigid_worker *worker = &world->workers[index];
  patch_range *range = RIGID_AT(world->ranges, patch_range, i);
  const rigid_contact *c = RIGID_AT(world->contacts, rigid_contact, i);
  const rigid_contact *old = range->old_count > 0 ? RIGID_AT(world->before, rigid_contact, range->old) : c;
  const rigid_body *a = rigid_body_at(world, c->a), *b = rigid_body_at(world, c->b);
  const bool in_parts = rigid_are_meshed(a, b) && gz_rigid_is_restless(a, b, all->dt);
  const uint32_t parts = in_parts ? count_parts(a, b, all->dt) : 1;
  range->worker = index;
  range->first = (uint32_t)worker->patches.count;
  graze_status status =
      find_patches(world, a, b, all->dt / parts, old, range->old_count > 0 ? range->old_count : 1, worker);
  range->count = (uint32_t)worker->patches.count - range->first;
  if (status != GRAZE_OK) all->status = (int)status;
}

static void collide_range(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  colliding *all = argument;
  const graze_rigid *world = all->world;
  for (uint32_t i = begin; i < end; i++) {
    rigid_contact *c = RIGID_AT(world->contacts, rigid_contact, i);
    const rigid_body *a = rigid_body_at(world, c->a), *b = rigid_body_at(world, c->b);
    if (have_patches(a, b)) {
      collide_patched(all, i, index);
      continue;
    }
    gz_rigid_collide(a, b, find_margin(world, a, b, all->dt), find_spare(a, b), c);
    finish(world, c, gz_rigid_is_restless(a, b, all->dt));
  }
}

/* Surfaces of all that is to meet a mesh; and whether any pair has several contacts. */
static graze_status prepare_patched(graze_rigid *world, bool *any) {
  const bool may_be = world->surfaces.count > 0 || world->has_compounds;
  graze_status status = GRAZE_OK;
  *any = false;
  for (size_t i = 0; i < world->contacts.count && may_be && status == GRAZE_OK; i++) {
    const rigid_contact *c = RIGID_AT(world->contacts, rigid_contact, i);
    rigid_body *a = rigid_body_at(world, c->a), *b = rigid_body_at(world, c->b);
    if (!have_patches(a, b)) continue;
    *any = true;
    status = need_surfaces(world, a, b);
  }
  return status;
}

/* The patches of one candidate, and room for more where bodies are fast. What parts have before them in the whole step
 * is known: if that is nothing, nothing of the other comes. */
static bool spread(graze_rigid *world, const rigid_contact *c, const patch_range *range, double dt) {
  const rigid_body *a = rigid_body_at(world, c->a), *b = rigid_body_at(world, c->b);
  const rigid_contact *found = RIGID_AT(world->workers[range->worker].patches, rigid_contact, range->first);
  const bool is_restless = gz_rigid_is_restless(a, b, dt), may_come = rigid_are_meshed(a, b) || found->count > 0;
  const bool is_spare = is_restless && may_come;
  const uint32_t count = range->count + (is_spare ? SPARE_PATCHES : 0);
  if (!array_reserve(world->context, &world->spread, count, sizeof *c)) return false;
  for (uint32_t i = 0; i < count; i++) {
    rigid_contact *to = RIGID_AT(world->spread, rigid_contact, world->spread.count++);
    if (i < range->count) {
      *to = found[i];
    } else {
      memset(to, 0, sizeof *to);
      to->a = c->a;
      to->b = c->b;
      to->is_patch = true;
      to->parts[0] = to->parts[1] = NO_PART;
      to->normal[2] = 1; /* of nothing, but a unit vector */
    }
    to->patch = i;
    to->slots = i == 0 ? count : 0;
    to->now = 0;
    to->is_spare = is_spare;
    finish(world, to, is_restless);
  }
  return true;
}

/* Candidates with a mesh or a compound become as many contacts as they have patches. */
static bool spread_all(graze_rigid *world, double dt) {
  world->spread.count = 0;
  for (size_t i = 0; i < world->contacts.count; i++) {
    const rigid_contact *c = RIGID_AT(world->contacts, rigid_contact, i);
    if (have_patches(rigid_body_at(world, c->a), rigid_body_at(world, c->b))) {
      if (!spread(world, c, RIGID_AT(world->ranges, patch_range, i), dt)) return false;
      continue;
    }
    if (!array_reserve(world->context, &world->spread, 1, sizeof *c)) return false;
    *RIGID_AT(world->spread, rigid_contact, world->spread.count++) = *c;
  }
  const gz_array swap = world->contacts;
  world->contacts = world->spread;
  world->spread = swap;
  return world->contacts.count <= UINT32_MAX;
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
  bool any = false;
  status = prepare_patched(world, &any);
  for (uint32_t i = 0; i < world->worker_count; i++) world->workers[i].patches.count = 0;
  if (status != GRAZE_OK) return status;
  colliding all = {world, dt, GRAZE_OK};
  gz_parallel_for(world->context, (uint32_t)world->contacts.count, any ? 4 : 32, collide_range, &all);
  if (all.status != GRAZE_OK) return (graze_status)all.status;
  return !any || spread_all(world, dt) ? GRAZE_OK
                                       : gz_fail_memory(world->context, world->contacts.count * sizeof(rigid_contact));
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
  if (kind == GRAZE_CONTACT_BEGAN && rigid_is_sensed(world, c)) {
    e->speed = -dot3(e->velocity, e->normal);
    return true;
  }
  e->speed = kind == GRAZE_CONTACT_ENDED ? dot3(e->velocity, e->normal) : c->speed;
  e->impulse = kind == GRAZE_CONTACT_HIT ? c->now : kind == GRAZE_CONTACT_ENDED ? c->impulse : 0;
  return true;
}

/* Whether it touches; gaps are measured. */
static bool look(const graze_rigid *world, rigid_contact *c, double *least) {
  bool touches = c->now > 0;
  *least = (double)INFINITY;
  for (uint32_t i = 0; i < c->count; i++) {
    rigid_point *p = &c->points[i];
    p->gap = gz_rigid_find_gap(rigid_body_at(world, c->a), rigid_body_at(world, c->b), c, p, NULL);
    touches = touches || p->gap <= 0;
    *least = fmin(*least, p->gap);
  }
  return touches;
}

/* What is told of a pair is told of its first contact, with the place of the deepest of them. */
static rigid_contact join_patches(rigid_contact *c, size_t count, size_t deepest) {
  rigid_contact whole = c[deepest];
  for (size_t i = 1; i < count; i++) {
    c->impulse += c[i].impulse;
    c->now += c[i].now;
    c->speed = fmax(c->speed, c[i].speed);
    c[i].impulse = c[i].speed = 0;
  }
  whole.impulse = c->impulse;
  whole.now = c->now;
  whole.speed = c->speed;
  return whole;
}

/* After the event that tells of its beginning. */
static bool keep_impact(graze_rigid *world, const rigid_contact *c) {
  if (!world->def.events) return true;
  return gz_rigid_keep_impact(world, c, RIGID_AT(world->events, graze_contact_event, world->events.count - 1));
}

static bool tell_contacts(graze_rigid *world, rigid_contact *c, size_t count) {
  bool touches = false;
  size_t deepest = 0;
  double least = (double)INFINITY, here;
  for (size_t i = 0; i < count; i++) {
    if (look(world, &c[i], &here)) touches = true;
    if (here < least) deepest = i;
    least = fmin(least, here);
  }
  const rigid_contact whole = join_patches(c, count, deepest);
  const bool before = c->touches;
  bool good = true;
  c->touches = touches;
  if (touches && !before) {
    good = tell(world, &whole, GRAZE_CONTACT_BEGAN) && keep_impact(world, c);
    if (good && c->speed >= world->def.rebound && c->now > 0) good = tell(world, &whole, GRAZE_CONTACT_HIT);
  } else if (before && !touches) {
    good = tell(world, &whole, GRAZE_CONTACT_ENDED);
    c->impulse = c->speed = 0;
  }
  return good;
}

/* Those that were lost, in their places between the others. */
graze_status gz_rigid_tell(graze_rigid *world) {
  size_t lost = 0, count = 1;
  bool good = true;
  rigid_contact *end = RIGID_AT(world->contacts, rigid_contact, world->contacts.count);
  for (size_t i = 0; good && i <= world->contacts.count; i += count) {
    rigid_contact *c = i < world->contacts.count ? RIGID_AT(world->contacts, rigid_contact, i) : NULL;
    count = c != NULL ? gz_rigid_count_patches(c, end) : 1;
    for (; good && lost < world->lost.count; lost++) {
      const rigid_contact *old = RIGID_AT(world->lost, rigid_contact, lost);
      if (c != NULL && compare_to(old, c->a, c->b) > 0) break;
      good = tell(world, old, GRAZE_CONTACT_ENDED);
    }
    if (good && c != NULL) good = tell_contacts(world, c, count);
  }
  return good ? GRAZE_OK : gz_fail_memory(world->context, sizeof(graze_contact_event));
}
