/* How contacts begin: when within a step, where, and how fast. At the end of the step that is no longer to be seen,
 * since what bounces is on its way back by then. So when points of contacts are found, it is foreseen for those that do
 * not touch yet: the gap at every point is a parabola, as both bodies fly on, and its root is when they meet there.
 * That is exact as long as neither turns, nor the normal with the way of what is round. Where points are found anew
 * within a step, the last ones before the push count. */
#include <math.h>
#include <string.h>

#include "rigid/rigid.h"
#include "rigid/vector.h"

/* When the two will be at a point, since the start of the step; infinite: they will not. */
typedef struct rigid_coming {
  double time, speed, point[3], normal[3], velocity[3];
} rigid_coming;

/* The first root of gap - closing t - pull t^2 / 2. */
static double find_root(double gap, double closing, double pull) {
  if (gap <= 0) return 0;
  const double square = closing * closing + 2 * pull * gap, sum = closing + sqrt(fmax(square, 0));
  return square < 0 || sum <= 0 ? (double)INFINITY : 2 * gap / sum;
}

/* At a point of the body that is at `arm` now, after some time. */
static void find_motion(const graze_rigid *world, const rigid_body *b, const double arm[3], double time, double at[3],
                        double velocity[3]) {
  double turn[3] = {0, 0, 0};
  const bool falls = b->type == GRAZE_BODY_DYNAMIC, moves = b->type != GRAZE_BODY_STATIC;
  if (moves) cross3(b->spin, arm, turn);
  for (int k = 0; k < 3; k++) {
    const double pull = falls ? world->def.gravity[k] : 0, speed = moves ? b->velocity[k] + turn[k] : 0;
    velocity[k] = speed + time * pull;
    at[k] = b->position[k] + arm[k] + time * (speed + 0.5 * time * pull);
  }
}

/* Of a body's centre, or of the surface of what is driven. */
static void find_velocity(const graze_rigid *world, const rigid_body *b, const double arm[3], double time,
                          double velocity[3]) {
  static const double middle[3] = {0, 0, 0};
  double at[3];
  find_motion(world, b, b->type == GRAZE_BODY_DYNAMIC ? middle : arm, time, at, velocity);
}

/* Bodies push each other in the sub-step that would bring them into each other, which may be a little before they would
 * touch: no more than a sub-step after the end of the step. */
static double find_most(const graze_rigid *world) {
  return world->dt + world->dt / world->def.substeps;
}

static void foresee_point(const graze_rigid *world, const rigid_body *const bodies[2], const rigid_contact *c,
                          const rigid_point *p, double since, rigid_coming *first) {
  double arms[2][3], at[2][3], velocity[2][3], closing = 0, pull = 0;
  const double gap = gz_rigid_find_gap(bodies[0], bodies[1], c, p, arms);
  for (int side = 0; side < 2; side++) {
    const double sign = side == 0 ? -1 : 1;
    find_motion(world, bodies[side], arms[side], 0, at[side], velocity[side]);
    closing += sign * dot3(velocity[side], c->normal);
    if (bodies[side]->type == GRAZE_BODY_DYNAMIC) pull += sign * dot3(world->def.gravity, c->normal);
  }
  const double root = find_root(gap, closing, pull), time = fmin(root, find_most(world) - since);
  if (!(since + root < first->time)) return;
  first->time = since + root;
  first->speed = closing + time * pull;
  memcpy(first->normal, c->normal, sizeof first->normal);
  for (int side = 0; side < 2; side++) { /* arms are to the middle of the gap */
    add_scaled3(arms[side], side == 0 ? 0.5 * gap : -0.5 * gap, c->normal, arms[side]);
    find_motion(world, bodies[side], arms[side], time, at[side], velocity[side]);
    find_velocity(world, bodies[side], arms[side], time, velocity[side]);
  }
  sub3(velocity[0], velocity[1], first->velocity);
  memcpy(first->point, at[p->owner == 0 ? 0 : 1], sizeof first->point);
}

void gz_rigid_foresee(const graze_rigid *world, const rigid_body *a, const rigid_body *b, const rigid_contact *c,
                      size_t count, double since) {
  const rigid_body *const bodies[2] = {a, b};
  if (!world->def.events || c->touches) return;
  rigid_coming *coming = RIGID_AT(world->comings, rigid_coming, c - RIGID_AT(world->contacts, rigid_contact, 0));
  for (size_t i = 0; i < count; i++) {
    if (c[i].now > 0) return;
  }
  if (coming->time <= since) return;
  coming->time = (double)INFINITY;
  for (size_t i = 0; i < count; i++) {
    for (uint32_t k = 0; k < c[i].count; k++) foresee_point(world, bodies, &c[i], &c[i].points[k], since, coming);
  }
}

graze_status gz_rigid_foresee_all(graze_rigid *world) {
  const rigid_contact *list = world->contacts.data, *end = list + world->contacts.count;
  world->comings.count = 0;
  if (!world->def.events) return GRAZE_OK;
  if (!array_reserve(world->context, &world->comings, world->contacts.count, sizeof(rigid_coming)))
    return gz_fail_memory(world->context, world->contacts.count * sizeof(rigid_coming));
  for (size_t i = 0, count; i < world->contacts.count; i += count) {
    count = gz_rigid_count_patches(&list[i], end);
    RIGID_AT(world->comings, rigid_coming, i)->time = (double)INFINITY;
    gz_rigid_foresee(world, rigid_body_at(world, list[i].a), rigid_body_at(world, list[i].b), &list[i], count, 0);
  }
  return GRAZE_OK;
}

bool gz_rigid_keep_impact(graze_rigid *world, const rigid_contact *c, const graze_contact_event *event) {
  if (!array_reserve(world->context, &world->impacts, 1, sizeof(graze_rigid_impact))) return false;
  graze_rigid_impact *impact = RIGID_AT(world->impacts, graze_rigid_impact, world->impacts.count++);
  const rigid_coming *coming = RIGID_AT(world->comings, rigid_coming, c - RIGID_AT(world->contacts, rigid_contact, 0));
  const bool foreseen = isfinite(coming->time);
  const double before = foreseen ? world->dt - fmin(coming->time, find_most(world)) : 0;
  *impact = (graze_rigid_impact){.step = event->step, .a = event->a, .b = event->b, .before = before};
  impact->speed = foreseen ? coming->speed : event->speed;
  memcpy(impact->point, foreseen ? coming->point : event->point, sizeof impact->point);
  memcpy(impact->normal, foreseen ? coming->normal : event->normal, sizeof impact->normal);
  memcpy(impact->velocity, foreseen ? coming->velocity : event->velocity, sizeof impact->velocity);
  for (int k = 0; k < 3; k++) { /* -0 as 0 */
    impact->normal[k] += 0.0;
    impact->velocity[k] += 0.0;
  }
  return true;
}

graze_status graze_rigid_get_impacts(const graze_rigid *world, const graze_rigid_impact **impacts, uint64_t *count) {
  if (world == NULL || impacts == NULL || count == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  if (!world->def.events) return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "the world collects no events");
  *impacts = world->impacts.data;
  *count = world->impacts.count;
  return GRAZE_OK;
}
