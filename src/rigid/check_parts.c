/* How deep compounds are in each other and in others. A translation that parts two compounds parts every two of their
 * parts, so that the depth of any two bounds that of the whole from below. What bounds it from above is a way out: the
 * second body is moved along it, and no two parts overlap any more. Ways that are tried are those in which parts leave
 * each other soonest, the sum of these, which leads out of corners, those in which contacts push, and up. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "rigid/check.h"
#include "rigid/vector.h"

enum { MOST_WAYS = 24 };

/* Directions that differ by less than this are one. */
static const double alike = 1e-6;

typedef struct part_search {
  graze_rigid *world;
  graze_query **query;
  const check_side *sides;
  const double *up;
  double slop;
  double shift[3]; /* of the second body */
  bool asks;       /* for ways */
  double ways[MOST_WAYS][3];
  uint32_t way_count;
  double sum[3];       /* of the ways of all parts out of each other */
  double lower, upper; /* of the deepest two parts */
} part_search;

graze_pose gz_check_pose_part(const rigid_body *body, uint32_t part) {
  rigid_body posed;
  gz_rigid_pose_part(body, part, &posed);
  return graze_pose_from_quaternion(posed.orientation, posed.position);
}

/* ---- ways -------------------------------------------------------------------------------------------------------- */

static void add_way(part_search *s, const double way[3], double sign) {
  double unit[3], between[3];
  const double length = length3(way);
  if (!(length > 0) || s->way_count == MOST_WAYS) return;
  for (int k = 0; k < 3; k++) unit[k] = sign * way[k] / length;
  for (uint32_t i = 0; i < s->way_count; i++) {
    sub3(unit, s->ways[i], between);
    if (length3(between) < alike) return;
  }
  memcpy(s->ways[s->way_count++], unit, sizeof unit);
}

/* In which the second is pushed away from the first. */
static void add_contact_ways(part_search *s) {
  const graze_rigid *world = s->world;
  const gz_array *const lists[2] = {&world->contacts, &world->resting};
  for (int l = 0; l < 2; l++) {
    for (size_t i = 0; i < lists[l]->count; i++) {
      const rigid_contact *c = RIGID_AT(*lists[l], rigid_contact, i);
      if (c->count == 0 || rigid_body_at(world, c->a) != s->sides[0].body) continue;
      if (rigid_body_at(world, c->b) == s->sides[1].body) add_way(s, c->normal, -1);
    }
  }
}

/* ---- two parts --------------------------------------------------------------------------------------------------- */

static uint32_t count_parts(const check_side *side) {
  return side->form->part_count > 0 ? side->form->part_count : 1;
}

/* A part of a side, as a side of its own, whose pose is given room for. */
static check_side side_of(const part_search *s, int which, uint32_t part, graze_pose *pose) {
  const check_side *whole = &s->sides[which];
  const bool is_part = whole->form->part_count > 0;
  *pose = is_part ? gz_check_pose_part(whole->body, part) : *whole->pose;
  for (int k = 0; k < 3 && which == 1; k++) pose->m[4 * k + 3] += s->shift[k];
  if (!is_part) return (check_side){whole->body, whole->form, pose};
  return (check_side){&whole->body->parts[part], &whole->form->parts[part], pose};
}

static graze_status measure_convex(part_search *s, const check_side two[2], check_depth *depth) {
  const graze_convex_pair pairs[2] = {{&two[0].form->inner, &two[1].form->inner, two[0].pose, two[1].pose},
                                      {&two[0].form->outer, &two[1].form->outer, two[0].pose, two[1].pose}};
  graze_convex_result results[2];
  const int last = check_is_bracketed(two[0].form) || check_is_bracketed(two[1].form) ? 1 : 0;
  graze_status status =
      graze_convex_batch(s->world->context, last + 1u, pairs, GRAZE_T1, GRAZE_CONVEX_MEASURE, results);
  if (status != GRAZE_OK) return status;
  *depth = (check_depth){fmax(0, -results[0].upper), fmax(0, -results[last].lower), CHECK_OPEN};
  if (s->asks && depth->upper > 0) {
    add_way(s, results[last].normal, 1);
    add_scaled3(s->sum, depth->upper, results[last].normal, s->sum);
  }
  return GRAZE_OK;
}

static graze_status measure_two(part_search *s, const check_side two[2], check_depth *depth) {
  graze_status status = GRAZE_OK;
  if (two[0].body->shape != GRAZE_RIGID_MESH && two[1].body->shape != GRAZE_RIGID_MESH)
    return measure_convex(s, two, depth);
  if (*s->query == NULL) status = graze_query_create(s->world->context, s->query);
  return status == GRAZE_OK ? gz_check_meshes(s->world->context, *s->query, two, s->up, s->slop, depth) : status;
}

static void find_box(const check_side *side, graze_box *box) {
  const double beyond = side->body->surface != NULL ? 0x1p-40 * side->body->reach : 0;
  gz_check_find_box(&side->form->outer, side->pose, beyond, box);
}

/* All parts of the second in front of one of the first. */
static graze_status measure_part(part_search *s, uint32_t part) {
  graze_pose poses[2];
  graze_box boxes[2];
  graze_status status = GRAZE_OK;
  check_side two[2] = {side_of(s, 0, part, &poses[0])};
  find_box(&two[0], &boxes[0]);
  for (uint32_t i = 0; status == GRAZE_OK && i < count_parts(&s->sides[1]); i++) {
    check_depth depth = {0, 0, CHECK_FORGIVEN};
    two[1] = side_of(s, 1, i, &poses[1]);
    find_box(&two[1], &boxes[1]);
    if (!graze_boxes_meet(&boxes[0], &boxes[1])) continue;
    status = measure_two(s, two, &depth);
    s->lower = fmax(s->lower, depth.lower);
    s->upper = fmax(s->upper, depth.upper);
  }
  return status;
}

/* The deepest two parts, with the second body moved by the shift. */
static graze_status measure_all(part_search *s) {
  graze_status status = GRAZE_OK;
  s->lower = s->upper = 0;
  for (uint32_t i = 0; status == GRAZE_OK && i < count_parts(&s->sides[0]); i++) status = measure_part(s, i);
  return status;
}

/* ---- the way out ------------------------------------------------------------------------------------------------- */

static graze_status try_way(part_search *s, const double way[3], double length, double *upper) {
  graze_status status;
  for (int k = 0; k < 3; k++) s->shift[k] = length * way[k];
  status = measure_all(s);
  if (status == GRAZE_OK && s->upper == 0) *upper = fmin(*upper, length);
  return status;
}

/* As long as two parts are deep, or a little longer; or as is forgiven. The shift is rounded where it is added, by less
 * than the end of the bracket has room for. */
static graze_status find_way(part_search *s, double deepest, double *upper) {
  const double lengths[5] = {deepest * (1 + 0x1p-20), length3(s->sum) * (1 + 0x1p-20), deepest * 1.25,
                             s->slop * (1 - 0x1p-20), 2 * deepest};
  graze_status status = GRAZE_OK;
  for (int i = 0; status == GRAZE_OK && i < 5; i++) {
    if (!(lengths[i] < *upper)) continue;
    for (uint32_t k = 0; status == GRAZE_OK && k < s->way_count; k++)
      status = try_way(s, s->ways[k], lengths[i], upper);
  }
  double size = 0;
  for (int k = 0; k < 3; k++) size += fabs(s->sides[1].pose->m[4 * k + 3]);
  if (isfinite(*upper)) *upper = *upper * (1 + 4 * DBL_EPSILON) + 4 * DBL_EPSILON * (size + s->sides[1].body->reach);
  return status;
}

static graze_status measure(part_search *s, check_depth *depth) {
  s->asks = true;
  s->way_count = 0;
  memset(s->shift, 0, sizeof s->shift);
  memset(s->sum, 0, sizeof s->sum);
  graze_status status = measure_all(s);
  if (status != GRAZE_OK || s->upper == 0) {
    *depth = (check_depth){0, 0, CHECK_FORGIVEN};
    return status;
  }
  const double lower = s->lower, deepest = isfinite(s->upper) ? s->upper : s->slop;
  double upper = (double)INFINITY;
  s->asks = false;
  add_way(s, s->sum, 1);
  add_contact_ways(s);
  add_way(s, s->up, s->sides[1].body->type == GRAZE_BODY_STATIC ? -1 : 1);
  status = find_way(s, deepest, &upper);
  *depth = (check_depth){lower, fmax(lower, upper),
                         lower > s->slop   ? CHECK_OVER
                         : upper > s->slop ? CHECK_OPEN
                                           : CHECK_FORGIVEN};
  return status;
}

graze_status gz_check_parts(graze_rigid *world, graze_query **query, const check_side sides[2], const double up[3],
                            double slop, check_depth *depth) {
  part_search s = {.world = world, .query = query, .sides = sides, .up = up, .slop = slop};
  graze_status status = measure(&s, depth);
  if (status != GRAZE_OK || depth->answer != CHECK_OPEN) return status;
  if (!gz_check_has_bracketed(sides[0].form) && !gz_check_has_bracketed(sides[1].form)) return status;
  check_form forms[2] = {{.prisms = NULL}, {.prisms = NULL}};
  bool good = true;
  for (int i = 0; good && i < 2; i++) good = gz_check_make_form(world->context, sides[i].body, CHECK_FINE, &forms[i]);
  const check_side fine[2] = {{sides[0].body, &forms[0], sides[0].pose}, {sides[1].body, &forms[1], sides[1].pose}};
  s.sides = fine;
  status = good ? measure(&s, depth) : gz_fail_memory(world->context, sizeof forms);
  for (int i = 0; i < 2; i++) gz_check_free_form(&forms[i]);
  return status;
}
