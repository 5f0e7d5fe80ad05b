/* Sleep: islands that have rested for a while are left out of everything until something wakes them.
 *
 * Their contacts are put aside, and their boxes into a broad phase of their own, which is asked for those that the
 * boxes of awake bodies meet. Whoever would touch a sleeping body wakes its island before the step. So what is awake
 * does the same as if nobody slept, bit for bit, and what sleeps costs nothing but a number in some lists. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rigid/rigid.h"
#include "rigid/vector.h"

/* How long an island has to rest, s. */
static const double rest_time = 0.5;

/* ---- lists ------------------------------------------------------------------------------------------------------- */

bool gz_rigid_list_awake(graze_rigid *world) {
  if (!world->list_is_old) return true;
  world->awake.count = 0;
  if (!array_reserve(world->context, &world->awake, world->bodies.count + 1, sizeof(uint32_t))) return false;
  for (uint32_t i = 0; i < world->bodies.count; i++) {
    if (!rigid_body_at(world, i)->asleep) *RIGID_AT(world->awake, uint32_t, world->awake.count++) = i;
  }
  world->list_is_old = false;
  return true;
}

static int compare_contacts(const void *x, const void *y) {
  const rigid_contact *a = x, *b = y;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  if (a->b != b->b) return a->b < b->b ? -1 : 1;
  return a->patch < b->patch ? -1 : a->patch > b->patch;
}

static const rigid_body *sleeper_of(const graze_rigid *world, const rigid_contact *c) {
  const rigid_body *a = rigid_body_at(world, c->a);
  return a->type == GRAZE_BODY_DYNAMIC ? a : rigid_body_at(world, c->b);
}

/* ---- waking ------------------------------------------------------------------------------------------------------ */

static graze_status add_proxy(graze_rigid *world, rigid_body *b) {
  graze_box box;
  gz_rigid_find_box(b, &box);
  const graze_box_array boxes = {&box, sizeof box, GRAZE_DOUBLE};
  const uint64_t number = (uint64_t)(b - (rigid_body *)world->bodies.data);
  return graze_broadphase_add(world->sleepers, &boxes, 1, &number, NULL, &b->proxy);
}

/* Brings the contacts of an island back into a list that is in order. */
static bool bring_back(graze_rigid *world, uint32_t nap, gz_array *to) {
  size_t kept = 0;
  const size_t before = to->count;
  if (!array_reserve(world->context, to, world->resting.count, sizeof(rigid_contact))) return false;
  for (size_t i = 0; i < world->resting.count; i++) {
    const rigid_contact *c = RIGID_AT(world->resting, rigid_contact, i);
    if (sleeper_of(world, c)->nap == nap)
      *RIGID_AT(*to, rigid_contact, to->count++) = *c;
    else
      *RIGID_AT(world->resting, rigid_contact, kept++) = *c;
  }
  world->resting.count = kept;
  if (to->count > before) qsort(to->data, to->count, sizeof(rigid_contact), compare_contacts);
  return true;
}

static graze_status wake_island(graze_rigid *world, uint32_t nap, gz_array *contacts) {
  if (!bring_back(world, nap, contacts)) return gz_fail_memory(world->context, sizeof(rigid_contact));
  for (uint32_t i = 0; i < world->bodies.count; i++) {
    rigid_body *b = rigid_body_at(world, i);
    if (!b->asleep || b->nap != nap) continue;
    b->asleep = false;
    b->rested = 0;
    world->asleep_count--;
    graze_status status = graze_broadphase_remove(world->sleepers, &b->proxy, 1);
    if (status != GRAZE_OK) return status;
  }
  world->list_is_old = world->sleepers_are_old = true;
  return GRAZE_OK;
}

graze_status gz_rigid_wake(graze_rigid *world, uint32_t body) {
  const rigid_body *b = rigid_body_at(world, body);
  return b->asleep ? wake_island(world, b->nap, &world->contacts) : GRAZE_OK;
}

graze_status gz_rigid_wake_all(graze_rigid *world) {
  for (uint32_t i = 0; i < world->bodies.count && world->asleep_count > 0; i++) {
    graze_status status = gz_rigid_wake(world, i);
    if (status != GRAZE_OK) return status;
  }
  return GRAZE_OK;
}

graze_status gz_rigid_wake_riders(graze_rigid *world, uint32_t body) {
  for (size_t i = 0; i < world->resting.count; i++) {
    const rigid_contact *c = RIGID_AT(world->resting, rigid_contact, i);
    if (c->a != body && c->b != body) continue;
    graze_status status = wake_island(world, sleeper_of(world, c)->nap, &world->contacts);
    if (status != GRAZE_OK) return status;
    i = (size_t)-1; /* the list is another */
  }
  return GRAZE_OK;
}

static bool is_moved(const rigid_body *b) {
  if (b->type == GRAZE_BODY_KINEMATIC) return dot3(b->velocity, b->velocity) > 0 || dot3(b->spin, b->spin) > 0;
  return b->type == GRAZE_BODY_DYNAMIC;
}

/* Whom the box of an awake body meets. */
static graze_status wake_met(graze_rigid *world, uint32_t body, const graze_box *box, double dt, bool *any) {
  const uint32_t *met;
  uint32_t count;
  graze_status status = graze_broadphase_query_box(world->sleepers, box, UINT64_MAX, &met, &count);
  for (uint32_t i = 0; status == GRAZE_OK && i < count; i++) {
    const uint32_t other = (uint32_t)graze_broadphase_user_id(world->sleepers, met[i]);
    const rigid_body *b = rigid_body_at(world, other);
    bool touch;
    if (!b->asleep || gz_rigid_are_joined(world, body, other)) continue;
    status = gz_rigid_would_touch(world, body, other, dt, &touch);
    if (status != GRAZE_OK || !touch) continue;
    status = wake_island(world, b->nap, &world->before);
    *any = true;
  }
  return status;
}

graze_status gz_rigid_wake_touched(graze_rigid *world, double dt, bool *any) {
  graze_broad_events events;
  graze_status status = GRAZE_OK;
  *any = false;
  if (world->asleep_count == 0) return GRAZE_OK;
  if (world->sleepers_are_old) status = graze_broadphase_update(world->sleepers, &events);
  world->sleepers_are_old = false;
  for (uint32_t i = 0; i < world->awake.count && status == GRAZE_OK; i++) {
    const uint32_t body = *RIGID_AT(world->awake, uint32_t, i);
    if (is_moved(rigid_body_at(world, body)))
      status = wake_met(world, body, RIGID_AT(world->boxes, graze_box, i), dt, any);
  }
  return status;
}

/* ---- falling asleep ---------------------------------------------------------------------------------------------- */

/* An island rests as long as the one that has rested least, and not on what is driven. */
static bool has_rested(const graze_rigid *world, const rigid_island *island) {
  for (uint32_t i = 0; i < island->body_count; i++) {
    const uint32_t body = *RIGID_AT(world->island_bodies, uint32_t, island->first_body + i);
    if (!(rigid_body_at(world, body)->rested >= rest_time)) return false;
  }
  for (uint32_t i = 0; i < island->contact_count; i++) {
    const rigid_contact *c = RIGID_AT(world->contacts, rigid_contact,
                                      *RIGID_AT(world->island_contacts, uint32_t, island->first_contact + i));
    const rigid_body *a = rigid_body_at(world, c->a), *b = rigid_body_at(world, c->b);
    const bool runs = dot3(c->surface, c->surface) > 0;
    if (runs || (a->type == GRAZE_BODY_KINEMATIC && is_moved(a)) || (b->type == GRAZE_BODY_KINEMATIC && is_moved(b)))
      return false;
  }
  return true;
}

static graze_status lay_down(graze_rigid *world, const rigid_island *island) {
  const uint32_t nap = *RIGID_AT(world->island_bodies, uint32_t, island->first_body);
  for (uint32_t i = 0; i < island->body_count; i++) {
    rigid_body *b = rigid_body_at(world, *RIGID_AT(world->island_bodies, uint32_t, island->first_body + i));
    const double before = gz_rigid_find_energy(world, b);
    memset(b->velocity, 0, sizeof b->velocity);
    memset(b->spin, 0, sizeof b->spin);
    world->dissipated += before - gz_rigid_find_energy(world, b);
    b->asleep = true;
    b->nap = nap;
    world->asleep_count++;
    graze_status status = add_proxy(world, b);
    if (status != GRAZE_OK) return status;
  }
  world->list_is_old = world->sleepers_are_old = true;
  return GRAZE_OK;
}

/* Contacts of those that sleep are put aside; what did not touch is forgotten. */
static bool put_aside(graze_rigid *world) {
  size_t kept = 0;
  if (!array_reserve(world->context, &world->resting, world->contacts.count, sizeof(rigid_contact))) return false;
  for (size_t i = 0; i < world->contacts.count; i++) {
    const rigid_contact *c = RIGID_AT(world->contacts, rigid_contact, i);
    const rigid_body *a = rigid_body_at(world, c->a), *b = rigid_body_at(world, c->b);
    if (!a->asleep && !b->asleep)
      *RIGID_AT(world->contacts, rigid_contact, kept++) = *c;
    else if (c->count > 0)
      *RIGID_AT(world->resting, rigid_contact, world->resting.count++) = *c;
  }
  world->contacts.count = kept;
  return true;
}

graze_status gz_rigid_fall_asleep(graze_rigid *world, double dt) {
  bool any = false;
  graze_status status = GRAZE_OK;
  if (!world->def.sleep) return GRAZE_OK;
  for (uint32_t i = 0; i < world->awake.count; i++) {
    rigid_body *b = rigid_body_at(world, *RIGID_AT(world->awake, uint32_t, i));
    const double speed = length3(b->velocity) + b->reach * length3(b->spin);
    b->rested = speed < world->def.sleep_speed ? b->rested + dt : 0;
  }
  for (size_t i = 0; i < world->islands.count && status == GRAZE_OK; i++) {
    const rigid_island *island = RIGID_AT(world->islands, rigid_island, i);
    if (!has_rested(world, island)) continue;
    status = lay_down(world, island);
    any = true;
  }
  if (status == GRAZE_OK && any && !put_aside(world)) status = gz_fail_memory(world->context, sizeof(rigid_contact));
  return status;
}

graze_status gz_rigid_restore_sleep(graze_rigid *world) {
  graze_broadphase *fresh;
  graze_status status = graze_broadphase_create(world->context, NULL, &fresh);
  if (status != GRAZE_OK) return status;
  graze_broadphase_destroy(world->sleepers);
  world->sleepers = fresh;
  world->asleep_count = 0;
  world->list_is_old = world->sleepers_are_old = true;
  status = graze_broadphase_set_layers_meet(fresh, 0, 0, false);
  for (uint32_t i = 0; i < world->bodies.count && status == GRAZE_OK; i++) {
    rigid_body *b = rigid_body_at(world, i);
    if (!b->asleep) continue;
    world->asleep_count++;
    status = add_proxy(world, b);
  }
  return status;
}

/* ---- the interface ----------------------------------------------------------------------------------------------- */

graze_status graze_rigid_wake(graze_rigid *world, uint32_t body) {
  if (world == NULL) return gz_fail_null(NULL);
  if (body >= world->bodies.count) return gz_fail(world->context, GRAZE_ERROR_HANDLE, "there is no body %u", body);
  graze_status status = gz_rigid_wake(world, body);
  if (status == GRAZE_OK) gz_rigid_record_wake(world, body);
  return status;
}

bool graze_rigid_is_asleep(const graze_rigid *world, uint32_t body) {
  return world != NULL && body < world->bodies.count && rigid_body_at(world, body)->asleep;
}

uint32_t graze_rigid_get_asleep_count(const graze_rigid *world) {
  return world != NULL ? world->asleep_count : 0;
}
