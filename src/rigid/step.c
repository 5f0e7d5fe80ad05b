/* Steps: contacts, islands, each island on a thread of its own, what is driven, events. */
#include <math.h>
#include <string.h>

#include "rigid/rigid.h"

typedef struct stepping {
  graze_rigid *world;
  double dt;
} stepping;

static void move_range(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  const stepping *s = argument;
  graze_rigid *world = s->world;
  for (uint32_t i = begin; i < end; i++) {
    if (!gz_rigid_move_island(world, RIGID_AT(world->islands, rigid_island, i), s->dt, &world->workers[index]))
      world->workers[index].no_memory = true;
  }
}

static void move_driven(const graze_rigid *world, double dt) {
  for (uint32_t i = 0; i < world->bodies.count; i++) {
    rigid_body *b = rigid_body_at(world, i);
    double from[4];
    if (b->type != GRAZE_BODY_KINEMATIC) continue;
    memcpy(from, b->orientation, sizeof from);
    for (int k = 0; k < 3; k++) b->position[k] += dt * b->velocity[k];
    gz_rigid_turn_driven(b, from, dt);
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
  for (uint32_t i = 0; i < world->bodies.count; i++) {
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

static graze_status run_step(graze_rigid *world, double dt) {
  graze_status status = gz_rigid_find_contacts(world, dt);
  if (status == GRAZE_OK) status = gz_rigid_find_islands(world);
  if (status != GRAZE_OK) return status;
  stepping s = {world, dt};
  for (uint32_t i = 0; i < world->worker_count; i++) world->workers[i].no_memory = false;
  gz_parallel_for(world->context, (uint32_t)world->islands.count, 1, move_range, &s);
  for (uint32_t i = 0; i < world->worker_count; i++) {
    if (world->workers[i].no_memory) return gz_fail_memory(world->context, sizeof(rigid_body));
  }
  if (any_broke(world)) {
    status = gz_rigid_list_joined(world);
    if (status != GRAZE_OK) return status;
  }
  for (size_t i = 0; i < world->islands.count; i++)
    world->dissipated += RIGID_AT(world->islands, rigid_island, i)->dissipated;
  move_driven(world, dt);
  status = check_bodies(world);
  return status == GRAZE_OK ? gz_rigid_tell(world) : status;
}

static graze_status run(graze_rigid *world, double dt, uint64_t count, graze_progress_function progress, void *user) {
  for (uint64_t i = 0; i < count; i++) {
    if (progress != NULL && !progress(user, i, count)) return GRAZE_CANCELLED;
    graze_status status = run_step(world, dt);
    if (status != GRAZE_OK) return status;
    world->step++;
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
  world->events.count = 0;
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
