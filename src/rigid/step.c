/* Steps: contacts, islands, each island on a thread of its own, what is driven, events. */
#include <math.h>
#include <string.h>

#include "rigid/rigid.h"

typedef struct stepping {
  graze_rigid *world;
  double dt;
} stepping;

/* Islands that have nothing to do with each other: those of one body, and those that are solved at once. */
static void move_range(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  const stepping *s = argument;
  graze_rigid *world = s->world;
  for (uint32_t i = begin; i < end; i++) {
    rigid_island *island = RIGID_AT(world->islands, rigid_island, i);
    const uint32_t first = *RIGID_AT(world->island_bodies, uint32_t, island->first_body);
    island->dissipated = 0;
    if (island->way == WAY_FREE) island->dissipated = gz_rigid_move_free(world, rigid_body_at(world, first), s->dt);
    if (island->way == WAY_DIRECT && !gz_rigid_move_island(world, island, s->dt, &world->workers[index]))
      world->workers[index].no_memory = true;
  }
}

static bool append(graze_rigid *world, gz_array *to, const gz_array *from, uint32_t first, uint32_t count) {
  if (!array_reserve(world->context, to, count, sizeof(uint32_t))) return false;
  if (count > 0) memcpy(RIGID_AT(*to, uint32_t, to->count), RIGID_AT(*from, uint32_t, first), count * sizeof(uint32_t));
  to->count += count;
  return true;
}

/* Those that are solved softly, all in one; then those that need more rounds or sub-steps, one after the other. */
static bool move_softly(graze_rigid *world, double dt) {
  world->soft_bodies.count = world->soft_contacts.count = 0;
  for (size_t i = 0; i < world->islands.count; i++) {
    const rigid_island *is = RIGID_AT(world->islands, rigid_island, i);
    if (is->way != WAY_SOFT) continue;
    if (!append(world, &world->soft_bodies, &world->island_bodies, is->first_body, is->body_count) ||
        !append(world, &world->soft_contacts, &world->island_contacts, is->first_contact, is->contact_count))
      return false;
  }
  const soft_work all = {world->soft_bodies.data,
                         world->soft_contacts.data,
                         (uint32_t)world->soft_bodies.count,
                         (uint32_t)world->soft_contacts.count,
                         1,
                         world->def.substeps};
  if (all.body_count > 0 && !gz_soft_move(world, &all, dt)) return false;
  for (size_t i = 0; i < world->islands.count; i++) {
    const rigid_island *is = RIGID_AT(world->islands, rigid_island, i);
    const soft_work one = {RIGID_AT(world->island_bodies, uint32_t, is->first_body),
                           RIGID_AT(world->island_contacts, uint32_t, is->first_contact),
                           is->body_count,
                           is->contact_count,
                           is->rounds,
                           is->sub_steps};
    if (is->way == WAY_ALONE && !gz_soft_move(world, &one, dt)) return false;
  }
  return true;
}

static bool begin_step(graze_rigid *world) {
  world->slots.count = 0;
  if (!array_reserve(world->context, &world->slots, world->bodies.count + 1, sizeof(uint32_t))) return false;
  memset(world->slots.data, 0, (world->bodies.count + 1) * sizeof(uint32_t));
  for (uint32_t k = 0; k < world->awake.count; k++) {
    rigid_body *b = rigid_body_at(world, *RIGID_AT(world->awake, uint32_t, k));
    if (b->type != GRAZE_BODY_KINEMATIC) continue;
    memcpy(b->start, b->position, sizeof b->start);
    memcpy(b->start_orientation, b->orientation, sizeof b->start_orientation);
  }
  return true;
}

static void move_driven(const graze_rigid *world, double dt) {
  for (uint32_t k = 0; k < world->awake.count; k++) {
    rigid_body *b = rigid_body_at(world, *RIGID_AT(world->awake, uint32_t, k));
    if (b->type == GRAZE_BODY_KINEMATIC) gz_rigid_drive(b, dt);
  }
}

static bool is_finite(const rigid_body *b) {
  bool finite = isfinite(b->orientation[0]);
  for (int k = 0; k < 3; k++)
    finite = finite && isfinite(b->position[k]) && isfinite(b->velocity[k]) && isfinite(b->spin[k]);
  return finite;
}

graze_status gz_rigid_fail_not_finite(const graze_rigid *world, uint32_t body) {
  const char *name = rigid_body_at(world, body)->name;
  return gz_fail(world->context, GRAZE_ERROR_NOT_FINITE, "body %u '%s': a number is no longer finite in step %llu",
                 body, gz_quote(name, name + strlen(name), 64).text, (unsigned long long)world->step + 1);
}

/* Also marks who has left. */
static graze_status check_bodies(const graze_rigid *world) {
  const graze_box *bounds = &world->def.bounds;
  const bool bounded = !graze_box_is_empty(bounds);
  for (uint32_t k = 0; k < world->awake.count; k++) {
    const uint32_t i = *RIGID_AT(world->awake, uint32_t, k);
    rigid_body *b = rigid_body_at(world, i);
    if (!is_finite(b)) return gz_rigid_fail_not_finite(world, i);
    const graze_box point = {{b->position[0], b->position[1], b->position[2]},
                             {b->position[0], b->position[1], b->position[2]}};
    if (bounded && !graze_box_contains(bounds, &point)) b->left = true;
  }
  return GRAZE_OK;
}

/* Whether a joint that holds, as it is listed, does so no more. */
static bool any_broke(const graze_rigid *world) {
  size_t held = 0;
  for (size_t i = 0; i < world->joints.count; i++) {
    const rigid_joint *j = RIGID_AT(world->joints, rigid_joint, i);
    held += !j->broken && j->def.b != GRAZE_NO_BODY;
  }
  return held != world->joined.count;
}

static graze_status move_islands(graze_rigid *world, double dt) {
  stepping s = {world, dt};
  for (uint32_t i = 0; i < world->worker_count; i++) world->workers[i].no_memory = false;
  if (!gz_rigid_choose_ways(world, dt)) return gz_fail_memory(world->context, sizeof(rigid_contact));
  gz_parallel_for(world->context, (uint32_t)world->islands.count, 8, move_range, &s);
  for (uint32_t i = 0; i < world->worker_count; i++) {
    if (world->workers[i].no_memory) return gz_fail_memory(world->context, sizeof(rigid_body));
  }
  for (size_t i = 0; i < world->islands.count; i++)
    world->dissipated += RIGID_AT(world->islands, rigid_island, i)->dissipated;
  return move_softly(world, dt) ? GRAZE_OK : gz_fail_memory(world->context, sizeof(rigid_body));
}

static graze_status run_step(graze_rigid *world, double dt) {
  graze_status status = gz_rigid_find_contacts(world, dt);
  if (status == GRAZE_OK) status = gz_rigid_foresee_all(world);
  if (status == GRAZE_OK) status = gz_rigid_find_islands(world);
  if (status == GRAZE_OK && !begin_step(world)) status = gz_fail_memory(world->context, world->bodies.count * 4);
  if (status == GRAZE_OK) status = move_islands(world, dt);
  if (status != GRAZE_OK) return status;
  if (any_broke(world)) {
    status = gz_rigid_list_joined(world);
    if (status != GRAZE_OK) return status;
  }
  move_driven(world, dt);
  status = check_bodies(world);
  if (status == GRAZE_OK) status = gz_rigid_tell(world);
  return status == GRAZE_OK ? gz_rigid_fall_asleep(world, dt) : status;
}

static graze_status run(graze_rigid *world, double dt, uint64_t count, graze_progress_function progress, void *user) {
  for (uint64_t i = 0; i < count; i++) {
    if (progress != NULL && !progress(user, i, count)) return GRAZE_CANCELLED;
    graze_status status = run_step(world, dt);
    if (status != GRAZE_OK) return status;
    world->step++;
    gz_rigid_record_step(world);
  }
  return GRAZE_OK;
}

graze_status graze_rigid_step(graze_rigid *world, double dt, uint64_t count, graze_progress_function progress,
                              void *user) {
  if (world == NULL) return gz_fail_null(NULL);
  if (world->is_broken)
    return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "an earlier run failed: the world must be restored");
  if (!(isfinite(dt) && dt > 0))
    return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "dt is %.17g: it must be finite and above 0", dt);
  world->events.count = world->impacts.count = 0;
  if (count == 0) return GRAZE_OK;
  if (dt != world->dt) { /* so that time is not a sum of as many roundings as there are steps */
    world->start_time = graze_rigid_get_time(world);
    world->start_step = world->step;
    world->dt = dt;
  }
  const unsigned saved = gz_fp_enter();
  graze_status status = run(world, dt, count, progress, user);
  gz_fp_leave(saved);
  world->is_broken = status != GRAZE_OK && status != GRAZE_CANCELLED;
  return status;
}
