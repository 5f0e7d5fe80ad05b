/* Bodies that contacts join, found by union and find; walls and what no force moves join nobody. */
#include <string.h>

#include "rigid/rigid.h"

static uint32_t find_root(uint32_t *parents, uint32_t i) {
  while (parents[i] != i) {
    parents[i] = parents[parents[i]];
    i = parents[i];
  }
  return i;
}

static bool is_dynamic(const graze_rigid *world, uint32_t body) {
  return body < world->bodies.count && rigid_body_at(world, body)->type == GRAZE_BODY_DYNAMIC;
}

static bool matters(const graze_rigid *world, const rigid_contact *c) {
  return (c->count > 0 || c->is_spare) && !rigid_is_sensed(world, c);
}

static void join(uint32_t *parents, uint32_t first, uint32_t second) {
  const uint32_t a = find_root(parents, first), b = find_root(parents, second);
  if (a < b) parents[b] = a; /* the root has the lowest number */
  if (b < a) parents[a] = b;
}

static void join_all(const graze_rigid *world, uint32_t *parents) {
  for (size_t i = 0; i < world->contacts.count; i++) {
    const rigid_contact *c = RIGID_AT(world->contacts, rigid_contact, i);
    if (!matters(world, c) || !is_dynamic(world, c->a) || !is_dynamic(world, c->b)) continue;
    join(parents, c->a, c->b);
  }
}

static uint32_t dynamic_of(const graze_rigid *world, const rigid_joint *j) {
  return is_dynamic(world, j->def.a) ? j->def.a : j->def.b;
}

static bool sleeps(const graze_rigid *world, const rigid_joint *j) {
  return rigid_body_at(world, dynamic_of(world, j))->asleep;
}

static void join_joints(const graze_rigid *world, uint32_t *parents) {
  for (size_t i = 0; i < world->joints.count; i++) {
    const rigid_joint *j = RIGID_AT(world->joints, rigid_joint, i);
    if (sleeps(world, j)) continue;
    if (!j->broken && is_dynamic(world, j->def.a) && is_dynamic(world, j->def.b)) join(parents, j->def.a, j->def.b);
  }
}

/* Numbers islands by their lowest body, and counts what they have. */
static void count_all(graze_rigid *world, uint32_t *island_of) {
  rigid_island *islands = world->islands.data;
  world->islands.count = 0;
  for (uint32_t k = 0; k < world->awake.count; k++) {
    const uint32_t i = *RIGID_AT(world->awake, uint32_t, k);
    if (!is_dynamic(world, i)) continue;
    const uint32_t root = find_root(island_of, i);
    /* A root comes before all others: it has its number already. */
    if (root == i) islands[world->islands.count++] = (rigid_island){0};
  }
}

/* From roots to numbers; in the order of bodies, so that a root is seen first. */
static void number_all(graze_rigid *world, uint32_t *parents, uint32_t *island_of) {
  rigid_island *islands = world->islands.data;
  uint32_t next = 0;
  for (uint32_t k = 0; k < world->awake.count; k++) {
    const uint32_t i = *RIGID_AT(world->awake, uint32_t, k);
    if (!is_dynamic(world, i)) continue;
    const uint32_t root = find_root(parents, i);
    island_of[i] = root == i ? next++ : island_of[root];
    islands[island_of[i]].body_count++;
  }
  for (size_t i = 0; i < world->contacts.count; i++) {
    const rigid_contact *c = RIGID_AT(world->contacts, rigid_contact, i);
    if (matters(world, c)) islands[island_of[is_dynamic(world, c->a) ? c->a : c->b]].contact_count++;
  }
  for (size_t i = 0; i < world->joints.count; i++) {
    const rigid_joint *j = RIGID_AT(world->joints, rigid_joint, i);
    if (!sleeps(world, j)) islands[island_of[dynamic_of(world, j)]].joint_count++;
  }
}

static void fill_all(graze_rigid *world, const uint32_t *island_of) {
  rigid_island *islands = world->islands.data;
  uint32_t body = 0, contact = 0, joint = 0;
  for (size_t i = 0; i < world->islands.count; i++) {
    islands[i].first_body = body;
    islands[i].first_contact = contact;
    islands[i].first_joint = joint;
    body += islands[i].body_count;
    contact += islands[i].contact_count;
    joint += islands[i].joint_count;
    islands[i].body_count = islands[i].contact_count = islands[i].joint_count = 0;
  }
  for (uint32_t k = 0; k < world->awake.count; k++) {
    const uint32_t i = *RIGID_AT(world->awake, uint32_t, k);
    if (!is_dynamic(world, i)) continue;
    rigid_island *is = &islands[island_of[i]];
    *RIGID_AT(world->island_bodies, uint32_t, is->first_body + is->body_count++) = i;
  }
  for (uint32_t i = 0; i < world->contacts.count; i++) {
    const rigid_contact *c = RIGID_AT(world->contacts, rigid_contact, i);
    if (!matters(world, c)) continue;
    rigid_island *is = &islands[island_of[is_dynamic(world, c->a) ? c->a : c->b]];
    *RIGID_AT(world->island_contacts, uint32_t, is->first_contact + is->contact_count++) = i;
  }
  for (uint32_t i = 0; i < world->joints.count; i++) {
    const rigid_joint *j = RIGID_AT(world->joints, rigid_joint, i);
    if (sleeps(world, j)) continue;
    rigid_island *is = &islands[island_of[dynamic_of(world, j)]];
    *RIGID_AT(world->island_joints, uint32_t, is->first_joint + is->joint_count++) = i;
  }
}

static bool reserve(graze_rigid *world, gz_array *array, size_t count, size_t size) {
  array->count = 0;
  return array_reserve(world->context, array, count, size);
}

graze_status gz_rigid_find_islands(graze_rigid *world) {
  const size_t bodies = world->bodies.count + 1, contacts = world->contacts.count + 1;
  if (!reserve(world, &world->island_of, 2 * bodies, sizeof(uint32_t)) ||
      !reserve(world, &world->island_bodies, bodies, sizeof(uint32_t)) ||
      !reserve(world, &world->island_contacts, contacts, sizeof(uint32_t)) ||
      !reserve(world, &world->island_joints, world->joints.count + 1, sizeof(uint32_t)) ||
      !reserve(world, &world->islands, bodies, sizeof(rigid_island)))
    return gz_fail_memory(world->context, bodies * sizeof(rigid_island));
  uint32_t *island_of = world->island_of.data, *parents = island_of + bodies;
  for (uint32_t i = 0; i < world->bodies.count; i++) parents[i] = i;
  join_all(world, parents);
  join_joints(world, parents);
  count_all(world, parents);
  number_all(world, parents, island_of);
  fill_all(world, island_of);
  return GRAZE_OK;
}
