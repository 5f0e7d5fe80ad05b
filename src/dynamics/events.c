/* What contacts remember from step to step, and the events that are told of them. Of a pair the ball with the lower
 * number tells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/pass.h"

/* ---- telling --------------------------------------------------------------------------------------------------- */

static bool append(const graze_context *context, gz_array *events, pass_event event) {
  if (!array_reserve(context, events, 1, sizeof event)) return false;
  *WORLD_AT(*events, pass_event, events->count++) = event;
  return true;
}

static void tell(const pass *p, pass_event event, pass_result *result) {
  if (!append(p->world->context, &result->events, event)) result->no_memory = true;
}

/* Where and in which direction the two meet, or have just met. */
static pass_event event_of_pair(const graze_world *world, uint32_t place, uint32_t partner) {
  const double *a = world->now.position[place], *b = world->now.position[partner];
  pass_event event = {.number = world->number[place], .partner = world->number[partner]};
  double distance2 = 0, d[3];
  for (int k = 0; k < 3; k++) {
    d[k] = nearest_image(a[k] - b[k], world_period(world, k));
    distance2 += d[k] * d[k];
  }
  double distance = sqrt(distance2), arm = a[3] - 0.5 * (a[3] + b[3] - distance);
  for (int k = 0; k < 3; k++) {
    event.normal[k] = distance > 0 ? d[k] / distance : k == 2 ? -1 : 0;
    event.point[k] = a[k] - arm * event.normal[k];
  }
  return event;
}

static pass_event event_of_wall(const graze_world *world, uint32_t place, uint32_t number) {
  const dem_wall *wall = WORLD_AT(world->walls, dem_wall, number);
  const double *at = world->now.position[place];
  pass_event event = {.number = world->number[place], .partner = number, .is_wall = true};
  double arm = at[3] - 0.5 * (at[3] - wall_distance(wall, at));
  for (int k = 0; k < 3; k++) {
    event.normal[k] = wall->normal[k];
    event.point[k] = at[k] - arm * wall->normal[k];
  }
  return event;
}

static pass_event event_of(const graze_world *world, uint32_t place, uint32_t partner, bool is_wall) {
  return is_wall ? event_of_wall(world, place, partner) : event_of_pair(world, place, partner);
}

/* Of a contact that has ended. */
static pass_event ended_event(const graze_world *world, uint32_t place, uint32_t partner, bool is_wall,
                              double impulse) {
  pass_event event = event_of(world, place, partner, is_wall);
  event.kind = GRAZE_CONTACT_ENDED;
  event.impulse = impulse;
  for (int k = 0; k < 3; k++)
    event.speed += (world->now.velocity[place][k] - (is_wall ? 0 : world->now.velocity[partner][k])) * event.normal[k];
  return event;
}

/* ---- remembering ----------------------------------------------------------------------------------------------- */

/* True: the contact begins. */
static bool remember(contact_memory *memory, uint64_t entry, bool touches) {
  bool begins = touches && !memory->touching[entry];
  memory->touching[entry] = touches;
  if (!begins) return false;
  if (memory->springs != NULL) memset(memory->springs[entry], 0, sizeof(spring));
  if (memory->hits != NULL) memory->hits[entry][0] = memory->hits[entry][1] = 0;
  return true;
}

/* A contact may end with its spring strained, under a friction that a pulling dashpot allows: that is lost. With
 * Mindlin's law a spring is slack by then. */
static void lose_spring(const graze_world *world, const contact_memory *memory, uint64_t entry, uint32_t place,
                        uint32_t partner, bool is_wall) {
  if (memory->springs == NULL) return;
  const bool is_fixed = is_wall || world->now.velocity[partner][3] == 0;
  const double *s = memory->springs[entry], k = law_between(world, place, partner, is_wall)->k_t;
  world->dissipated[place] += (is_fixed ? 1 : 0.5) * 0.5 * k * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
}

static bool tells(const graze_world *world, uint32_t place, uint32_t partner) {
  return world->def.events && world->number[place] < world->number[partner];
}

void gz_pass_remember(const pass *p, uint32_t place, uint32_t entry, uint32_t count, unsigned bits, bool *began,
                      pass_result *result) {
  const graze_world *world = p->world;
  contact_memory memory = world->list.of_balls;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t partner = world->list.partners[entry + i];
    bool touches = bits >> i & 1, ended = memory.touching[entry + i] && !touches;
    bool begins = remember(&memory, entry + i, touches);
    if (touches) *began++ = begins;
    if (!ended) continue;
    lose_spring(world, &memory, entry + i, place, partner, false);
    if (!tells(world, place, partner)) continue;
    tell(p, ended_event(world, place, partner, false, memory.hits[entry + i][1]), result);
  }
}

bool gz_pass_remember_wall(const pass *p, uint64_t entry, bool touches, pass_result *result) {
  contact_memory memory = p->world->list.of_walls;
  const wall_entry *at = &p->world->list.walls[entry];
  bool ended = memory.touching[entry] && !touches, begins = remember(&memory, entry, touches);
  if (ended) lose_spring(p->world, &memory, entry, at->place, at->wall, true);
  if (ended && p->world->def.events)
    tell(p, ended_event(p->world, at->place, at->wall, true, memory.hits[entry][1]), result);
  return begins;
}

void gz_events_lose(graze_world *world, uint32_t place, uint32_t partner, bool is_wall, const contact_memory *memory,
                    uint64_t entry) {
  lose_spring(world, memory, entry, place, partner, is_wall);
  if (!(is_wall ? world->def.events : tells(world, place, partner))) return;
  pass_event event = ended_event(world, place, partner, is_wall, memory->hits[entry][1]);
  if (!append(world->context, &world->lost, event)) world->lost_memory = true;
}

/* ---- following ------------------------------------------------------------------------------------------------- */

/* Tells of what has begun and of the nearest approach. `hit` is {speed of approach, or -1 when there is no more hit to
 * tell of; impulse}. */
static void follow(const pass *p, uint32_t place, uint32_t partner, bool is_wall, double hit[2], bool began,
                   double speed, double force, pass_result *result) {
  if (began) {
    pass_event event = event_of(p->world, place, partner, is_wall);
    event.kind = GRAZE_CONTACT_BEGAN;
    event.speed = -speed;
    hit[0] = speed < 0 ? -speed : -1;
    tell(p, event, result);
  }
  hit[1] += force * p->dt;
  if (hit[0] < 0 || speed < 0) return;
  pass_event event = event_of(p->world, place, partner, is_wall);
  event.kind = GRAZE_CONTACT_HIT;
  event.speed = hit[0];
  event.impulse = hit[1];
  hit[0] = -1;
  tell(p, event, result);
}

void gz_pass_follow(const pass *p, uint32_t place, uint32_t entry, bool began, double speed, double force,
                    pass_result *result) {
  const neighbour_list *list = &p->world->list;
  const uint32_t partner = list->partners[entry];
  if (tells(p->world, place, partner))
    follow(p, place, partner, false, list->of_balls.hits[entry], began, speed, force, result);
}

void gz_pass_follow_wall(const pass *p, uint64_t entry, bool began, double speed, double force, pass_result *result) {
  const neighbour_list *list = &p->world->list;
  const wall_entry *at = &list->walls[entry];
  follow(p, at->place, at->wall, true, list->of_walls.hits[entry], began, speed, force, result);
}

/* ---- the world's list ------------------------------------------------------------------------------------------ */

static int compare(const void *first, const void *second) {
  const pass_event *a = first, *b = second;
  if (a->number != b->number) return a->number < b->number ? -1 : 1;
  if (a->is_wall != b->is_wall) return a->is_wall ? 1 : -1;
  if (a->partner != b->partner) return a->partner < b->partner ? -1 : 1;
  return (int)a->kind - (int)b->kind;
}

static graze_contact_event public_event(const graze_world *world, const pass *p, const pass_event *e) {
  graze_contact_event event;
  memset(&event, 0, sizeof event); /* what lies between the fields too, for those who compare bytes */
  event.step = p->step;
  event.kind = e->kind;
  event.a = gz_world_member(world, e->number);
  event.speed = e->speed;
  event.impulse = e->impulse;
  event.b = e->is_wall ? (graze_member){GRAZE_MEMBER_WALL, 0, e->partner} : gz_world_member(world, e->partner);
  memcpy(event.point, e->point, sizeof event.point);
  memcpy(event.normal, e->normal, sizeof event.normal);
  return event;
}

bool gz_events_add(graze_world *world, const pass *p, pass_result *results, uint32_t count) {
  pass_result all = {0};
  bool good = !world->lost_memory;
  world->lost_memory = false;
  for (size_t j = 0; j < world->lost.count; j++) tell(p, *WORLD_AT(world->lost, pass_event, j), &all);
  world->lost.count = 0;
  for (uint32_t i = 0; i < count; i++) {
    good &= !results[i].no_memory;
    for (size_t j = 0; j < results[i].events.count; j++) tell(p, *WORLD_AT(results[i].events, pass_event, j), &all);
    gz_free(results[i].events.data);
    results[i].events = (gz_array){0};
  }
  if (all.events.count > 0) qsort(all.events.data, all.events.count, sizeof(pass_event), compare);
  good = good && !all.no_memory &&
         array_reserve(world->context, &world->events, all.events.count, sizeof(graze_contact_event));
  for (size_t j = 0; good && j < all.events.count; j++)
    *WORLD_AT(world->events, graze_contact_event, world->events.count++) =
        public_event(world, p, WORLD_AT(all.events, pass_event, j));
  gz_free(all.events.data);
  return good;
}
