/* Steps by the engine of the context: what it is asked, and what is made of its answers. Between answers the world is
 * whole, so that the processor can go on from any of them. */
#include <stdlib.h>
#include <string.h>

#include "dynamics/pass.h"

typedef struct asking {
  graze_world *world;
  graze_world_question q;
  uint32_t *bodies; /* of each orientation */
} asking;

enum { KINDS, WALLS, SURFACES, BODIES, TURNS, KEPT }; /* world->asked */

static void *room_for(graze_world *world, int which, size_t bytes) {
  return gz_buffer_reserve(world->context, &world->asked[which], bytes + 1, 0) ? world->asked[which].data : NULL;
}

/* ---- the question ------------------------------------------------------------------------------------------------ */

static bool fill_walls(asking *a) {
  graze_world *world = a->world;
  graze_ball_kind *kinds = room_for(world, KINDS, world->kinds.count * sizeof *kinds);
  graze_plain_wall *walls = room_for(world, WALLS, world->walls.count * sizeof *walls);
  if (kinds == NULL || walls == NULL) return false;
  for (size_t i = 0; i < world->kinds.count; i++) {
    const ball_kind *k = WORLD_AT(world->kinds, ball_kind, i);
    kinds[i] = (graze_ball_kind){k->material, {k->drag[0], k->drag[1]}};
  }
  for (size_t i = 0; i < world->walls.count; i++) {
    const dem_wall *w = WORLD_AT(world->walls, dem_wall, i);
    walls[i] = (graze_plain_wall){.material = w->material};
    memcpy(walls[i].point, w->point, sizeof w->point);
    memcpy(walls[i].normal, w->normal, sizeof w->normal);
  }
  a->q.kinds = kinds;
  a->q.kind_count = (uint32_t)world->kinds.count;
  a->q.walls = walls;
  a->q.wall_count = (uint32_t)world->walls.count;
  return true;
}

static bool fill_surfaces(asking *a) {
  graze_world *world = a->world;
  graze_plain_surface *to = room_for(world, SURFACES, world->surfaces.count * sizeof *to);
  if (to == NULL) return false;
  a->q.surfaces = to;
  a->q.surface_count = (uint32_t)world->surfaces.count;
  for (size_t i = 0; i < world->surfaces.count; i++, to++) {
    const dem_surface *s = WORLD_AT(world->surfaces, dem_surface, i);
    const dem_body *body = WORLD_AT(world->bodies, dem_body, s->body);
    *to = (graze_plain_surface){
        .mesh = s->mesh, .material = s->material, .moves = body->type == GRAZE_BODY_KINEMATIC, .reach = s->reach};
    memcpy(to->center, s->center, sizeof to->center);
    memcpy(to->position, s->position, sizeof to->position);
    memcpy(to->velocity, s->velocity, sizeof to->velocity);
    memcpy(to->spin, s->spin, sizeof to->spin);
    memcpy(to->orientation, body->orientation, sizeof to->orientation);
    memcpy(to->rotation, s->rotation, sizeof to->rotation);
  }
  return true;
}

static bool fill_bodies(asking *a) {
  graze_world *world = a->world;
  const size_t count = world->bodies.count;
  uint32_t *places = room_for(world, BODIES, 2 * count * sizeof *places), n = 0;
  row *turns = room_for(world, TURNS, count * sizeof *turns);
  if (places == NULL || turns == NULL) return false;
  a->bodies = places + count;
  for (size_t i = 0; i < count; i++) {
    const dem_body *b = WORLD_AT(world->bodies, dem_body, i);
    if (b->type == GRAZE_BODY_STATIC || b->surface != NO_SURFACE) continue;
    places[n] = world->place[b->number];
    memcpy(turns[n], b->orientation, sizeof turns[n]);
    a->bodies[n++] = (uint32_t)i;
  }
  a->q.turning = places;
  a->q.turning_count = n;
  a->q.orientations = turns;
  return true;
}

/* What the higher of two numbers remembers. */
static graze_kept_contact turned(const graze_kept_contact *c) {
  graze_kept_contact t = {.number = c->partner, .partner = c->number};
  for (int k = 0; k < 3; k++) t.spring[k] = -c->spring[k];
  return t;
}

static int compare_kept(const void *first, const void *second) {
  const graze_kept_contact *a = first, *b = second;
  if (a->with != b->with) return a->with < b->with ? -1 : 1;
  if (a->number != b->number) return a->number < b->number ? -1 : 1;
  return a->partner < b->partner ? -1 : a->partner > b->partner;
}

/* The processor keeps a contact of two balls once, engines have it of both: by number, then walls, then surfaces. */
static bool fill_kept(graze_world *world) {
  if (!world->remembers || world->kept_wait) return true;
  const uint64_t count = gz_contacts_count(world), surfaces = gz_surfaces_keep(world, NULL);
  kept_contacts from;
  graze_kept_contact *kept = room_for(world, KEPT, (2 * count + surfaces) * sizeof *kept);
  const size_t bytes = gz_contacts_lay_out(world, count, NULL, &from);
  if (kept == NULL || !gz_buffer_reserve(world->context, &world->saved, bytes, 0)) return false;
  gz_contacts_lay_out(world, count, world->saved.data, &from);
  gz_contacts_keep(world, &from);
  for (uint64_t i = 0; i < count; i++) kept[i] = gz_contacts_get(&from, i);
  world->kept_count = count;
  for (uint64_t i = 0; i < count; i++) {
    if (kept[i].with == GRAZE_PARTNER_BALL && kept[i].partner < world->dynamic)
      kept[world->kept_count++] = turned(&kept[i]);
  }
  if (count > 0) qsort(kept, world->kept_count, sizeof *kept, compare_kept);
  world->kept_count += gz_surfaces_keep(world, kept + world->kept_count);
  return true;
}

static bool fill(asking *a, double dt) {
  static _Atomic uint64_t runs;
  graze_world *world = a->world;
  if (world->engine_run == 0 || world->engine_dt != dt) {
    world->engine_run = ++runs;
    world->engine_begun = 0;
    world->engine_dt = dt;
  }
  a->q = (graze_world_question){.run = world->engine_run,
                                .def = &world->def,
                                .dt = dt,
                                .balls = world->count,
                                .states = world->now,
                                .accelerations = world->next,
                                .accelerated = world->is_accelerated,
                                .dissipated = world->dissipated,
                                .left = world->left,
                                .numbers = world->number,
                                .ball_kinds = world->kind,
                                .material_count = (uint32_t)world->materials.count,
                                .laws = world->laws,
                                .simple = world->is_simple ? &world->simple : NULL,
                                .springs = world->has_springs,
                                .drag = world->has_drag,
                                .skin = 0.5 * world->skin, /* devices look at the whole list in each step */
                                .surface_skin = world->skin};
  return fill_walls(a) && fill_surfaces(a) && fill_bodies(a) && fill_kept(world);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static graze_status add_event(const graze_world *world, const graze_told_event *e, gz_array *to) {
  if (!array_reserve(world->context, to, 1, sizeof(pass_event))) return gz_fail_memory(world->context, sizeof *e);
  pass_event *event = WORLD_AT(*to, pass_event, to->count++);
  *event = (pass_event){.kind = e->kind,
                        .number = e->number,
                        .partner = e->partner,
                        .type = (partner_kind)e->with,
                        .order = e->order,
                        .speed = e->speed,
                        .impulse = e->impulse,
                        .overlap = e->overlap};
  memcpy(event->point, e->point, sizeof event->point);
  memcpy(event->normal, e->normal, sizeof event->normal);
  memcpy(event->velocity, e->velocity, sizeof event->velocity);
  return GRAZE_OK;
}

/* Step by step; what was lost before the answer comes with the first. */
static graze_status take_events(asking *a) {
  graze_world *world = a->world;
  graze_status status = GRAZE_OK;
  pass p = {.world = world, .dt = a->q.dt};
  gz_array *steps = gz_new_zeroed(world->context, a->q.done, sizeof *steps);
  if (steps == NULL) return gz_fail_memory(world->context, a->q.done * sizeof *steps);
  for (uint64_t i = 0; i < a->q.event_count && status == GRAZE_OK; i++)
    status = add_event(world, &a->q.events[i], &steps[a->q.events[i].step]);
  for (uint64_t s = 0; s < a->q.done; s++) {
    p.step = world->step + s + (world->def.integrator == GRAZE_LEAPFROG);
    if (status == GRAZE_OK && !gz_events_add(world, &p, &steps[s]))
      status = gz_fail_memory(world->context, sizeof(graze_contact_event));
    gz_free(steps[s].data);
  }
  gz_free(steps);
  return status;
}

static graze_status take_kept(const asking *a) {
  graze_world *world = a->world;
  const size_t bytes = a->q.kept_count * sizeof *a->q.kept;
  graze_kept_contact *kept = room_for(world, KEPT, bytes);
  if (kept == NULL) return gz_fail_memory(world->context, bytes);
  if (bytes > 0) memcpy(kept, a->q.kept, bytes);
  world->kept_count = a->q.kept_count;
  world->kept_wait = true;
  return GRAZE_OK;
}

static void take_surfaces(asking *a) {
  graze_world *world = a->world;
  for (uint32_t i = 0; i < a->q.surface_count; i++) {
    graze_plain_surface *from = &a->q.surfaces[i];
    dem_surface *to = WORLD_AT(world->surfaces, dem_surface, i);
    if (!from->moves) continue;
    memcpy(to->position, from->position, sizeof to->position);
    memcpy(WORLD_AT(world->bodies, dem_body, to->body)->orientation, from->orientation, sizeof from->orientation);
    gz_surface_set_rotation(to, from->orientation);
    memcpy(from->rotation, to->rotation, sizeof from->rotation); /* for the next question */
  }
}

static graze_status take_answer(asking *a) {
  graze_world *world = a->world;
  graze_status status = GRAZE_OK;
  for (uint32_t i = 0; i < a->q.turning_count; i++)
    memcpy(WORLD_AT(world->bodies, dem_body, a->bodies[i])->orientation, a->q.orientations[i], 4 * sizeof(double));
  take_surfaces(a);
  if (world->def.events) status = take_events(a);
  if (status == GRAZE_OK && world->remembers) status = take_kept(a);
  if (world->def.integrator == GRAZE_LEAPFROG) world->is_accelerated = a->q.accelerated = true;
  world->is_listed = world->close.is_made = false; /* balls have moved, contacts have changed */
  world->step += a->q.done;
  world->engine_steps += a->q.done;
  world->engine_begun += a->q.done;
  return status;
}

void gz_world_take_kept(graze_world *world) {
  world->kept_wait = false;
  world->engine_run = 0;
  gz_contacts_take(world, world->asked[KEPT].data, world->kept_count);
}

graze_status gz_world_step_engine(graze_world *world, double dt, uint64_t count, graze_progress_function progress,
                                  void *user, uint64_t *done) {
  asking a = {.world = world};
  graze_status status = GRAZE_OK;
  *done = 0;
  if (!gz_engine_has(world->context, GRAZE_STAGE_WORLD) || world->count == 0 || world->carries) return GRAZE_OK;
  if (!fill(&a, dt)) return GRAZE_OK; /* no memory: the processor does without */
  while (status == GRAZE_OK && *done < count) {
    a.q.count = count - *done;
    a.q.begun = world->engine_begun;
    a.q.kept = world->asked[KEPT].data;
    a.q.kept_count = world->kept_count;
    a.q.done = a.q.event_count = 0;
    if (!gz_engine_ask(world->context, GRAZE_STAGE_WORLD, world->count, a.q.count, &a.q)) break;
    status = take_answer(&a);
    gz_engine_give(world->context);
    *done += a.q.done;
    if (status == GRAZE_OK && *done < count && progress != NULL && !progress(user, *done, count))
      status = GRAZE_CANCELLED;
  }
  return status;
}
