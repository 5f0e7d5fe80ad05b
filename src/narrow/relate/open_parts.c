/* Step 5: what open parts may be, more than surfaces.
 *
 * The evidence is that of solids and surfaces as they are. An open part may be meant as the boundary of a solid, which
 * then lies within the open box of its mesh, the box around all parts that are not closed. What follows is in doubt
 *
 *     when the surfaces meet along an edge where it is not plain which triangles go on in which,
 *         unless all three sets have evidence;
 *     when a part of the other lies within the open box (if it has room),
 *     when a surface would have something in common with the other, were it a boundary, and open box and other overlap,
 *         unless surfaces that cross show all three sets; the last also where a mesh of surfaces alone has "common".
 *
 * With the rule that open parts are surfaces only the first counts.
 */
#include "narrow/relate/steps.h"

/* For what a part that is not closed is at fault, or one that may be its cavity. */
static void doubt_part(const operands *o, int whose, uint32_t part, findings *f) {
  const operand *own = &o->of[whose];
  const solid_part *p = &own->shape->parts[part];
  if (p->fault == GRAZE_DOUBT_NONE && own->shape->first_fault != NO_PART)
    p = &own->shape->parts[own->shape->first_fault];
  if (!own->invertible)
    add_doubt(f, SEVERITY_MEANING, GRAZE_DOUBT_FLATTENED, whose, (edge_place){0, 0});
  else
    add_doubt(f, SEVERITY_MEANING, p->fault, whose, p->fault_at);
}

/* Surfaces that cross, cross, whatever an inside might add: unless there is a solid as well, which alone crosses. */
static bool plainly_crosses(const operand *own, const findings *f) {
  return all_claimed(f) && (!is_mixed(own) || own->pierces);
}

static bool boxes_overlap(const graze_box *p, const graze_box *q) {
  for (int k = 0; k < 3; k++) {
    if (!(p->min[k] < q->max[k] && q->min[k] < p->max[k])) return false;
  }
  return true;
}

static graze_box part_box(const operand *own, uint32_t part) {
  graze_box box = graze_box_empty();
  for (uint32_t i = own->shape->parts[part].begin; i < own->shape->parts[part].end; i++) {
    double c[9];
    gz_side_corners(&own->place, own->shape->listed[i], c);
    for (int k = 0; k < 9; k += 3) graze_box_add_point(&box, c + k);
  }
  return box;
}

/* The part to blame when `held` of the other lies within the open box: the first that may hold it by itself, else the
 * first. */
static uint32_t open_part_around(const operand *own, const operand *other, uint32_t held) {
  for (uint32_t p = 0; p < own->shape->part_count; p++) {
    if (own->shape->parts[p].fault == GRAZE_DOUBT_NONE) continue;
    graze_box box = part_box(own, p);
    if (!gz_operand_sticks_out(other, held, &box)) return p;
  }
  return own->shape->first_fault;
}

/* Whether something that is not closed may have been meant to hold a part of the other: its box has room for it. */
static bool may_hold(const operand *own, const findings *f) {
  const graze_box *box = &own->open_box;
  bool room = box->min[0] < box->max[0] && box->min[1] < box->max[1] && box->min[2] < box->max[2];
  return own->shape->part_count > 0 && has_surfaces(own) && room && !plainly_crosses(own, f);
}

/* What has no inside cannot hold a part of the other, but may have been meant to. */
static void doubt_inside(const operands *o, int which, findings *f) {
  const operand *own = &o->of[which], *other = &o->of[1 - which];
  if (!may_hold(own, f)) return;
  for (uint32_t p = 0; p < other->shape->part_count; p++) {
    if (gz_operand_sticks_out(other, p, &own->open_box)) continue;
    doubt_part(o, which, own->invertible ? open_part_around(own, other, p) : 0, f);
    return;
  }
}

void gz_relate_doubt_box(const operands *o, int which, const graze_box *held, findings *f) {
  const operand *own = &o->of[which];
  if (!may_hold(own, f) || !graze_box_contains(&own->open_box, held)) return;
  uint32_t blamed = own->invertible ? own->shape->first_fault : 0;
  for (uint32_t p = own->shape->part_count; p-- > 0 && own->invertible;) {
    if (own->shape->parts[p].fault == GRAZE_DOUBT_NONE) continue;
    const graze_box box = part_box(own, p);
    if (graze_box_contains(&box, held)) blamed = p;
  }
  doubt_part(o, which, blamed, f);
}

/* Surfaces touch, but may be meant as solids that have more in common: two walls in line of which one has a hole. */
static void doubt_touch(const operands *o, int which, findings *f) {
  const operand *own = &o->of[which];
  bool decided = f->of[0] != EVIDENCE_NONE && !is_mixed(own);
  if (own->first_maybe_solid == NO_PART || decided || plainly_crosses(own, f)) return;
  if (boxes_overlap(&own->open_box, &o->of[1 - which].box)) doubt_part(o, which, own->first_maybe_solid, f);
}

static void doubt_ambiguous_edge(const operands *o, int which, findings *f) {
  const operand *own = &o->of[which];
  edge_place at = own->ambiguous_edge;
  if (at.triangle == NO_TRIANGLE || all_claimed(f)) return;
  graze_doubt fault = own->shape->parts[own->shape->part_of[at.triangle]].fault;
  if (fault != GRAZE_DOUBT_NO_ADJACENCY) fault = GRAZE_DOUBT_NONMANIFOLD;
  add_doubt(f, SEVERITY_MEANING, fault, which, at);
}

void gz_relate_open_parts(const operands *o, findings *f) {
  for (int which = 0; which < 2; which++) doubt_ambiguous_edge(o, which, f);
  for (int which = 0; which < 2 && o->of[which].strict; which++) doubt_inside(o, which, f);
  for (int which = 0; which < 2 && o->of[which].strict; which++) doubt_touch(o, which, f);
}
