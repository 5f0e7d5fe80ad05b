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
  const double *a = world->now[place].position, *b = world->now[partner].position;
  pass_event event = {.number = world->number[place], .partner = world->number[partner]};
  double distance2 = 0, d[3];
  for (int k = 0; k < 3; k++) {
    d[k] = nearest_image(a[k] - b[k], world_period(world, k));
    distance2 += d[k] * d[k];
  }
  double distance = sqrt(distance2);
  event.overlap = a[3] + b[3] - distance;
  double arm = a[3] - 0.5 * event.overlap;
  for (int k = 0; k < 3; k++) {
    event.normal[k] = distance > 0 ? d[k] / distance : k == 2 ? -1 : 0;
    event.point[k] = a[k] - arm * event.normal[k];
    event.velocity[k] = world->now[place].velocity[k] - world->now[partner].velocity[k];
  }
  return event;
}

/* The same of a wall or surface that is below the ball's centre. */
static pass_event event_of_obstacle(const graze_world *world, uint32_t place, partner_kind type, uint32_t partner,
                                    const double normal[3], double overlap) {
  const double *at = world->now[place].position, arm = at[3] - 0.5 * overlap;
  double other[3] = {0};
  pass_event event = {.number = world->number[place], .partner = partner, .type = type, .overlap = overlap};
  for (int k = 0; k < 3; k++) {
    event.normal[k] = normal[k];
    event.point[k] = at[k] - arm * normal[k];
  }
  if (type == PARTNER_SURFACE) gz_surface_velocity(WORLD_AT(world->surfaces, dem_surface, partner), event.point, other);
  for (int k = 0; k < 3; k++) event.velocity[k] = world->now[place].velocity[k] - other[k];
  return event;
}

static pass_event event_of_wall(const graze_world *world, uint32_t place, uint32_t number) {
  const dem_wall *wall = WORLD_AT(world->walls, dem_wall, number);
  const double *at = world->now[place].position;
  return event_of_obstacle(world, place, PARTNER_WALL, number, wall->normal, at[3] - wall_distance(wall, at));
}

/* Of a contact that has ended. With a surface it was where `normal` says. */
static pass_event ended_event(const graze_world *world, uint32_t place, partner_kind kind, uint32_t partner,
                              const double *normal, double impulse) {
  pass_event event = kind == PARTNER_BALL   ? event_of_pair(world, place, partner)
                     : kind == PARTNER_WALL ? event_of_wall(world, place, partner)
                                            : event_of_obstacle(world, place, kind, partner, normal, 0);
  event.kind = GRAZE_CONTACT_ENDED;
  event.impulse = impulse;
  for (int k = 0; k < 3; k++) event.speed += event.velocity[k] * event.normal[k];
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
                        partner_kind kind, uint32_t partner) {
  if (memory->springs == NULL) return;
  const bool is_fixed = kind != PARTNER_BALL || world->now[partner].velocity[3] == 0;
  const double *s = memory->springs[entry], k = law_between(world, place, kind, partner)->k_t;
  world->dissipated[place] += (is_fixed ? 1 : 0.5) * 0.5 * k * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
}

bool gz_rows_append(const graze_world *world, gz_array *ended, const row_contact *contact) {
  if (!array_reserve(world->context, ended, 1, sizeof *contact)) return false;
  row_contact *to = WORLD_AT(*ended, row_contact, ended->count++);
  const uint32_t a = world->number[contact->first], b = world->number[contact->second];
  *to = *contact;
  to->lower = a < b ? a : b;
  to->higher = a < b ? b : a;
  return true;
}

static int compare_rows(const void *first, const void *second) {
  const row_contact *a = first, *b = second;
  if (a->lower != b->lower) return a->lower < b->lower ? -1 : 1;
  return a->higher < b->higher ? -1 : a->higher > b->higher;
}

/* A contact of two blocks ends in both: there each ball loses its own part. */
bool gz_rows_end(const graze_world *world, gz_array *ended, gz_array *events) {
  bool good = true;
  if (ended->count > 1) qsort(ended->data, ended->count, sizeof(row_contact), compare_rows);
  for (size_t i = 0; i < ended->count; i++) {
    row_contact *at = WORLD_AT(*ended, row_contact, i);
    const contact_memory memory = {.springs = world->has_springs ? &at->strain : NULL};
    const bool is_whole = at->first / BLOCK_PLACES == at->second / BLOCK_PLACES;
    lose_spring(world, &memory, 0, at->first, PARTNER_BALL, at->second);
    if (is_whole && world->number[at->second] < world->dynamic)
      lose_spring(world, &memory, 0, at->second, PARTNER_BALL, at->first);
    if (!world->def.events || !(is_whole || world->number[at->first] == at->lower)) continue;
    good &=
        append(world->context, events,
               ended_event(world, world->place[at->lower], PARTNER_BALL, world->place[at->higher], NULL, at->hit[1]));
  }
  ended->count = 0;
  return good;
}

bool gz_pass_remember_wall(const pass *p, uint64_t entry, bool touches, pass_result *result) {
  contact_memory memory = p->world->list.of_walls;
  const wall_entry *at = &p->world->list.walls[entry];
  bool ended = memory.touching[entry] && !touches, begins = remember(&memory, entry, touches);
  if (ended) lose_spring(p->world, &memory, entry, at->place, PARTNER_WALL, at->wall);
  if (ended && p->world->def.events)
    tell(p, ended_event(p->world, at->place, PARTNER_WALL, at->wall, NULL, memory.hits[entry][1]), result);
  return begins;
}

/* Ends what is in the slot and goes on in none of the contacts. */
static void end_slot(const pass *p, const surface_entry *e, uint32_t slot, const facet_contact *found, uint32_t count,
                     pass_result *result) {
  const neighbour_list *list = &p->world->list;
  const uint64_t entry = (uint64_t)e->first + slot;
  for (uint32_t i = 0; i < count; i++) {
    if (found[i].slot == slot) return;
  }
  lose_spring(p->world, &list->of_facets, entry, e->place, PARTNER_SURFACE, e->surface);
  if (!p->world->def.events) return;
  pass_event event = ended_event(p->world, e->place, PARTNER_SURFACE, e->surface, list->facet_normals[entry],
                                 list->of_facets.hits[entry][1]);
  event.order = slot;
  tell(p, event, result);
}

void gz_pass_remember_surface(const pass *p, const surface_entry *e, const facet_contact *found, uint32_t count,
                              pass_result *result) {
  const neighbour_list *list = &p->world->list;
  const contact_memory *memory = &list->of_facets;
  for (uint32_t j = 0; j < e->count && memory->touching[e->first + j]; j++) end_slot(p, e, j, found, count, result);
  for (uint32_t i = 0; i < e->count; i++) {
    const uint64_t entry = (uint64_t)e->first + i;
    memory->touching[entry] = i < count;
    if (i >= count) continue;
    memcpy(list->facet_normals[entry], found[i].normal, sizeof(spring));
    if (memory->springs != NULL) memcpy(memory->springs[entry], found[i].strain, sizeof(spring));
    if (memory->hits != NULL) memcpy(memory->hits[entry], found[i].hit, sizeof found[i].hit);
  }
}

void gz_contact_lose(graze_world *world, uint32_t place, partner_kind kind, const graze_kept_contact *contact,
                     const double *normal) {
  spring strain;
  memcpy(strain, contact->spring, sizeof strain);
  const contact_memory memory = {.springs = world->has_springs ? &strain : NULL};
  lose_spring(world, &memory, 0, place, kind, contact->partner);
  if (!world->def.events) return;
  pass_event event = ended_event(world, place, kind, contact->partner, normal, contact->hit[1]);
  event.order = contact->order;
  if (!append(world->context, &world->lost, event)) world->lost_memory = true;
}

/* ---- following ------------------------------------------------------------------------------------------------- */

/* What there is to tell of a contact. */
typedef struct news {
  graze_contact_event_kind kind;
  double speed, impulse;
} news;

/* That it has begun, and that the two are nearest. `hit` is {speed of approach, or -1 when there is no more hit to tell
 * of; impulse}. */
static uint32_t follow(double hit[2], bool began, double speed, double impulse, news told[2]) {
  uint32_t count = 0;
  if (began) {
    told[count++] = (news){GRAZE_CONTACT_BEGAN, -speed, 0};
    hit[0] = speed < 0 ? -speed : -1;
  }
  hit[1] += impulse;
  if (hit[0] < 0 || speed < 0) return count;
  told[count++] = (news){GRAZE_CONTACT_HIT, hit[0], hit[1]};
  hit[0] = -1;
  return count;
}

static void tell_news(const pass *p, pass_event event, const news *told, uint32_t count, pass_result *result) {
  for (uint32_t i = 0; i < count; i++) {
    event.kind = told[i].kind;
    event.speed = told[i].speed;
    event.impulse = told[i].impulse;
    tell(p, event, result);
  }
}

void gz_pass_tell(const pass *p, uint32_t place, uint32_t partner, graze_contact_event_kind kind, double speed,
                  double impulse, pass_result *result) {
  pass_event event = event_of_pair(p->world, place, partner);
  event.kind = kind;
  event.speed = speed;
  event.impulse = impulse;
  tell(p, event, result);
}

void gz_pass_follow_obstacle(const pass *p, const obstacle *o, double speed, double force, pass_result *result) {
  news told[2];
  const uint32_t count = follow(o->memory->hits[o->entry], o->began, speed, force * p->dt, told);
  if (count == 0) return;
  pass_event event = event_of_obstacle(p->world, o->place, o->kind, o->partner, o->normal, o->overlap);
  event.order = o->order;
  tell_news(p, event, told, count, result);
}

/* ---- the world's list ------------------------------------------------------------------------------------------ */

static int compare(const void *first, const void *second) {
  const pass_event *a = first, *b = second;
  if (a->number != b->number) return a->number < b->number ? -1 : 1;
  if (a->type != b->type) return (int)a->type - (int)b->type;
  if (a->partner != b->partner) return a->partner < b->partner ? -1 : 1;
  if (a->kind != b->kind) return (int)a->kind - (int)b->kind;
  return a->order < b->order ? -1 : a->order > b->order;
}

static void put_public(const graze_world *world, const pass *p, const pass_event *e, graze_contact_event *event) {
  memset(event, 0, sizeof *event); /* what lies between the fields too, for those who compare bytes */
  event->step = p->step;
  event->kind = e->kind;
  event->a = gz_world_member(world, e->number);
  event->speed = e->speed;
  event->impulse = e->impulse;
  event->overlap = e->overlap;
  event->b = gz_partner_member(world, e->type, e->partner);
  memcpy(event->point, e->point, sizeof event->point);
  memcpy(event->normal, e->normal, sizeof event->normal);
  memcpy(event->velocity, e->velocity, sizeof event->velocity);
}

bool gz_events_add(graze_world *world, const pass *p, gz_array *found) {
  bool good = !world->lost_memory && array_reserve(world->context, found, world->lost.count, sizeof(pass_event));
  world->lost_memory = false;
  for (size_t j = 0; good && j < world->lost.count; j++)
    *WORLD_AT(*found, pass_event, found->count++) = *WORLD_AT(world->lost, pass_event, j);
  world->lost.count = 0;
  if (found->count > 0) qsort(found->data, found->count, sizeof(pass_event), compare);
  good = good && array_reserve(world->context, &world->events, found->count, sizeof(graze_contact_event));
  for (size_t j = 0; good && j < found->count; j++)
    put_public(world, p, WORLD_AT(*found, pass_event, j),
               WORLD_AT(world->events, graze_contact_event, world->events.count++));
  found->count = 0;
  return good;
}
