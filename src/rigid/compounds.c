/* Contacts of compounds.
 *
 * Boxes of parts, in the coordinates of the first body, tell which pairs of parts may touch. Each of these is treated
 * as a pair of bodies, whose contact, or contacts if the other body is a mesh, become patches of the pair of compounds,
 * with points in the coordinates of these. A patch knows its parts, so that it is found again in the next step, with
 * its impulses and the axis along which the two were apart. */
#include "rigid/compounds.h"

#include <string.h>

#include "rigid/patches.h"
#include "rigid/vector.h"

/* Of a part: with no more motion than that on a wall, points are used again. */
static const double still = 0.005;

/* A pair of bodies, and of their parts, which are the bodies themselves if these are no compounds. */
typedef struct pairing {
  const graze_rigid *world;
  const rigid_body *bodies[2];
  double margin, spare;
  const rigid_contact *old;
  uint32_t old_count;
  rigid_worker *worker;
  uint32_t parts[2];
  rigid_body posed[2];
  size_t first; /* of the worker's patches */
} pairing;

static graze_status fail_memory(const pairing *p) {
  return gz_fail_memory(p->world->context, sizeof(rigid_contact));
}

static uint32_t count_parts(const rigid_body *b) {
  return b->part_count > 0 ? b->part_count : 1;
}

static void pose(pairing *p, int side, uint32_t part) {
  const rigid_body *body = p->bodies[side];
  p->parts[side] = part;
  if (body->part_count > 0)
    gz_rigid_pose_part(body, part, &p->posed[side]);
  else
    p->posed[side] = *body;
}

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

/* In the body's own coordinates. */
static void find_own_box(const rigid_body *body, uint32_t part, graze_box *box) {
  if (body->part_count > 0) {
    *box = body->part_boxes[part];
    return;
  }
  *box = graze_box_empty();
  for (uint32_t i = 0; i < body->core.corner_count; i++) graze_box_add_point(box, body->core.corners[i]);
  for (int k = 0; k < 3; k++) {
    box->min[k] -= body->radius;
    box->max[k] += body->radius;
  }
}

/* Around a box of b's coordinates, in those of a, and wider by the margin. */
static void move_box(const pairing *p, const graze_box *own, graze_box *box) {
  const rigid_body *a = p->bodies[0], *b = p->bodies[1];
  double middle[3], half[3], at[3], way[3];
  for (int k = 0; k < 3; k++) {
    middle[k] = 0.5 * (own->min[k] + own->max[k]);
    half[k] = 0.5 * (own->max[k] - own->min[k]);
  }
  turn3(b->rotation, middle, way);
  for (int k = 0; k < 3; k++) way[k] += b->position[k] - a->position[k];
  turn_back3(a->rotation, way, at);
  for (int k = 0; k < 3; k++) {
    double wide = p->margin + 0x1p-40 * (b->reach + fabs(at[k])); /* and rounding */
    for (int i = 0; i < 3; i++) {
      double cosine = 0;
      for (int j = 0; j < 3; j++) cosine += a->rotation[3 * j + k] * b->rotation[3 * j + i];
      wide += fabs(cosine) * half[i];
    }
    box->min[k] = at[k] - wide;
    box->max[k] = at[k] + wide;
  }
}

/* Of all parts of b, in a's coordinates. */
static bool list_boxes(const pairing *p) {
  gz_array *boxes = &p->worker->boxes;
  const uint32_t count = count_parts(p->bodies[1]);
  boxes->count = 0;
  if (!array_reserve(p->world->context, boxes, count, sizeof(graze_box))) return false;
  for (uint32_t i = 0; i < count; i++) {
    graze_box own;
    find_own_box(p->bodies[1], i, &own);
    move_box(p, &own, RIGID_AT(*boxes, graze_box, boxes->count++));
  }
  return true;
}

static bool meets_wall(const pairing *p) {
  const rigid_body *part = &p->posed[0], *wall = p->bodies[1];
  double way[3];
  sub3(part->position, wall->position, way);
  return dot3(wall->rotation, way) - part->reach <= p->margin;
}

/* ---- pairs of parts ---------------------------------------------------------------------------------------------- */

static bool is_of(const pairing *p, const rigid_contact *c) {
  return c->is_patch && c->parts[0] == p->parts[0] && c->parts[1] == p->parts[1];
}

/* A point of a part in the coordinates of its body, or the other way round. */
static void to_body(const rigid_body *body, uint32_t part, double at[3]) {
  if (body->part_count == 0) return;
  turn3(body->parts[part].rotation, at, at);
  for (int k = 0; k < 3; k++) at[k] += body->parts[part].position[k];
}

static void to_part(const rigid_body *body, uint32_t part, double at[3]) {
  if (body->part_count == 0) return;
  sub3(at, body->parts[part].position, at);
  turn_back3(body->parts[part].rotation, at, at);
}

static void move_points(const pairing *p, rigid_contact *c) {
  for (uint32_t i = 0; i < c->count; i++) {
    for (int side = 0; side < 2; side++) to_body(p->bodies[side], p->parts[side], c->points[i].own[side]);
  }
}

static rigid_contact *add_patch(const pairing *p) {
  gz_array *patches = &p->worker->patches;
  if (!array_reserve(p->world->context, patches, 1, sizeof(rigid_contact))) return NULL;
  rigid_contact *c = RIGID_AT(*patches, rigid_contact, patches->count++);
  memset(c, 0, sizeof *c);
  c->normal[2] = 1; /* of nothing yet, but a unit vector */
  c->parts[0] = c->parts[1] = NO_PART;
  return c;
}

/* A part that has hardly moved on a wall keeps its points: a round foot would have others, of its many equal ones, in
 * every step, and nothing would be known of these. */
static bool use_wall_again(const pairing *p, rigid_contact *c) {
  const rigid_body *part = &p->posed[0], *wall = p->bodies[1];
  const rigid_cache known = c->cache;
  rigid_stand *now = &c->cache.at_points;
  sub3(part->position, wall->position, now->place);
  memcpy(now->turn, part->orientation, sizeof now->turn);
  c->cache.margin = p->margin;
  const double shift = gz_rigid_find_shift(part->reach, &known.at_points, now);
  if (c->count == 0 || shift > still * part->least || p->margin - p->spare + shift > known.margin) return false;
  c->cache = known;
  return true;
}

static bool collide_parts(const pairing *p) {
  rigid_contact *c = add_patch(p);
  if (c == NULL) return false;
  for (uint32_t k = 0; k < p->old_count; k++) {
    if (is_of(p, &p->old[k])) *c = p->old[k];
  }
  memcpy(c->parts, p->parts, sizeof c->parts);
  if (p->bodies[1]->is_wall && use_wall_again(p, c)) return true;
  if (gz_rigid_collide(&p->posed[0], &p->posed[1], p->margin, p->spare, c)) move_points(p, c);
  return true;
}

/* What is known of two parts, with points in their coordinates; or one that says whose they are. */
static bool list_olds(const pairing *p) {
  gz_array *olds = &p->worker->olds;
  olds->count = 0;
  if (!array_reserve(p->world->context, olds, p->old_count + (size_t)1, sizeof(rigid_contact))) return false;
  for (uint32_t k = 0; k < p->old_count; k++) {
    if (!is_of(p, &p->old[k])) continue;
    rigid_contact *c = RIGID_AT(*olds, rigid_contact, olds->count++);
    *c = p->old[k];
    for (uint32_t i = 0; i < c->count; i++) {
      for (int side = 0; side < 2; side++) to_part(p->bodies[side], p->parts[side], c->points[i].own[side]);
    }
  }
  if (olds->count > 0) return true;
  rigid_contact *none = RIGID_AT(*olds, rigid_contact, olds->count);
  memset(none, 0, sizeof *none);
  none->a = p->old[0].a;
  none->b = p->old[0].b;
  return true;
}

/* A point that is used again stays as it was, rather than to be rounded there and back. */
static void move_patch(const pairing *p, size_t number, rigid_contact *c) {
  const rigid_contact *olds = p->worker->olds.data, *before = NULL;
  size_t at = 0;
  for (uint32_t k = 0; k < p->old_count && before == NULL; k++) {
    if (is_of(p, &p->old[k]) && at++ == number) before = &p->old[k];
  }
  const rigid_contact kept = *c;
  move_points(p, c);
  for (uint32_t i = 0; before != NULL && i < c->count && i < before->count; i++) {
    if (memcmp(kept.points[i].own, olds[number].points[i].own, sizeof kept.points[i].own) == 0)
      memcpy(c->points[i].own, before->points[i].own, sizeof c->points[i].own);
  }
}

static graze_status collide_surfaces(const pairing *p) {
  gz_array *patches = &p->worker->patches;
  const size_t first = patches->count;
  if (!list_olds(p)) return fail_memory(p);
  const uint32_t count = (uint32_t)p->worker->olds.count;
  graze_status status = gz_rigid_find_patches(p->world, &p->posed[0], &p->posed[1], p->margin, p->spare,
                                              p->worker->olds.data, count > 0 ? count : 1, p->worker);
  for (size_t i = first; status == GRAZE_OK && i < patches->count; i++) {
    rigid_contact *c = RIGID_AT(*patches, rigid_contact, i);
    move_patch(p, i - first, c);
    memcpy(c->parts, p->parts, sizeof c->parts);
  }
  return status;
}

static graze_status collide_pair(pairing *p, uint32_t part, bool meshed) {
  pose(p, 1, part);
  if (meshed) return collide_surfaces(p);
  return collide_parts(p) ? GRAZE_OK : fail_memory(p);
}

/* All parts of b that may touch a part of a. */
static graze_status collide_part(pairing *p, uint32_t part) {
  const rigid_body *b = p->bodies[1];
  const bool meshed = rigid_are_meshed(p->bodies[0], b);
  const graze_box *boxes = p->worker->boxes.data;
  graze_status status = GRAZE_OK;
  graze_box own;
  if (!b->is_wall) find_own_box(p->bodies[0], part, &own);
  bool posed = b->is_wall;
  if (b->is_wall) pose(p, 0, part);
  for (uint32_t i = 0; status == GRAZE_OK && i < count_parts(b); i++) {
    if (b->is_wall ? !meets_wall(p) : !graze_boxes_meet(&own, &boxes[i])) continue;
    if (!posed) pose(p, 0, part);
    posed = true;
    status = collide_pair(p, i, meshed);
  }
  return status;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* What is told of a pair is told of its first patch. */
static void tell_first(const pairing *p, rigid_contact *found, uint32_t count) {
  double impulse = 0, speed = 0;
  bool touches = false;
  for (uint32_t k = 0; k < p->old_count; k++) {
    touches = touches || p->old[k].touches;
    impulse += p->old[k].impulse;
    speed = fmax(speed, p->old[k].speed);
  }
  for (uint32_t i = 0; i < count; i++) {
    found[i].a = p->old[0].a;
    found[i].b = p->old[0].b;
    found[i].is_patch = true;
    found[i].patch = i;
    found[i].touches = touches && i == 0;
    found[i].impulse = i == 0 ? impulse : 0;
    found[i].speed = i == 0 ? speed : 0;
  }
}

/* Those with points first, and otherwise in their order. False: memory refused. */
static bool put_empty_last(const pairing *p, rigid_contact *found, size_t count) {
  gz_array *olds = &p->worker->olds;
  size_t kept = 0;
  olds->count = 0;
  if (!array_reserve(p->world->context, olds, count, sizeof *found)) return false;
  for (size_t i = 0; i < count; i++) {
    if (found[i].count == 0)
      *RIGID_AT(*olds, rigid_contact, olds->count++) = found[i];
    else
      found[kept++] = found[i];
  }
  if (olds->count > 0) memcpy(found + kept, olds->data, olds->count * sizeof *found);
  return true;
}

graze_status gz_rigid_find_part_patches(const graze_rigid *world, const rigid_body *a, const rigid_body *b,
                                        double margin, double spare, const rigid_contact *old, uint32_t old_count,
                                        rigid_worker *worker) {
  pairing p = {.world = world,
               .bodies = {a, b},
               .margin = margin,
               .spare = spare,
               .old = old,
               .old_count = old_count,
               .worker = worker,
               .first = worker->patches.count};
  graze_status status = b->is_wall || list_boxes(&p) ? GRAZE_OK : fail_memory(&p);
  for (uint32_t i = 0; status == GRAZE_OK && i < count_parts(a); i++) status = collide_part(&p, i);
  if (status == GRAZE_OK && worker->patches.count == p.first && add_patch(&p) == NULL) status = fail_memory(&p);
  if (status != GRAZE_OK) return status;
  rigid_contact *found = RIGID_AT(worker->patches, rigid_contact, p.first);
  const size_t count = worker->patches.count - p.first;
  if (!put_empty_last(&p, found, count)) return fail_memory(&p);
  tell_first(&p, found, (uint32_t)count);
  return GRAZE_OK;
}

size_t gz_rigid_keep_deepest(rigid_contact *found, size_t count, size_t room) {
  const rigid_contact told = found[0];
  while (count > room) {
    size_t shallow = 0;
    for (size_t i = 1; i < count; i++) {
      if (rigid_depth_of(&found[i]) <= rigid_depth_of(&found[shallow])) shallow = i;
    }
    count--;
    memmove(&found[shallow], &found[shallow + 1], (count - shallow) * sizeof *found);
  }
  for (size_t i = 0; i < count; i++) found[i].patch = (uint32_t)i;
  found[0].touches = told.touches;
  found[0].impulse = told.impulse;
  found[0].speed = told.speed;
  return count;
}
