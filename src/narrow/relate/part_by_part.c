/* Step 4: each part by itself, where parts of a mesh run through each other.
 *
 * The parts of one operand, each of which is simple, are related to the other operand one by one as if each were all of
 * its solid; the other is taken whole when it is simple, else part by part as well. What follows for the whole, of the
 * parts of `own` (facing one way: a union, which adds up; or either way: then winding numbers do):
 *
 *     own      other    the parts of own                                           common   only other   only own
 *     any      any      have nothing in common with the other                      none     some         some
 *     any      simple   hold all of it or nothing, and as many face either way     none     some         some
 *     union    simple   one holds all of it                                        some     none         if outside
 *     union    simple   one alone shares with it, or only other is proved          some     some         if outside
 *     either   simple   hold all of it or nothing, and only own is proved          some     none         some
 *
 * "If outside": when some part has something outside of the other. Nothing else is sure.
 */
#include "base/context.h"
#include "narrow/relate/steps.h"

enum { COMBINED_PARTS_MOST = 256 };

/* An operand seen through one part at a time, which alone bounds material: behind its triangles, or in front when they
 * are turned. One of simple solid is seen whole. */
typedef struct part_view {
  solid shape;
  bool whole;
  uint32_t now; /* the part, or NO_PART */
} part_view;

static graze_status open_view(const operands *o, int which, bool whole, part_view *v) {
  const solid *from = o->of[which].shape;
  *v = (part_view){.whole = whole, .now = NO_PART};
  if (whole) return GRAZE_OK;
  size_t bytes = from->part_count * sizeof *from->parts;
  v->shape.parts = gz_memory_alloc(o->rays->context, bytes);
  if (v->shape.parts == NULL) return gz_fail_memory(o->rays->context, bytes);
  v->shape.part_count = from->part_count;
  v->shape.first_fault = NO_PART;
  v->shape.part_of = from->part_of;
  v->shape.listed = from->listed;
  v->shape.nonmanifold = from->nonmanifold;
  v->shape.nonmanifold_count = from->nonmanifold_count;
  for (uint32_t p = 0; p < from->part_count; p++) {
    v->shape.parts[p] = from->parts[p];
    v->shape.parts[p].fault = GRAZE_DOUBT_SELF_INTERSECTING;
    v->shape.parts[p].side = from->parts[p].turn > 0 ? MATERIAL_BEHIND : MATERIAL_IN_FRONT;
  }
  return GRAZE_OK;
}

static void close_view(const operands *o, part_view *v) {
  gz_memory_release(o->rays->context, v->shape.parts, v->shape.part_count * sizeof *v->shape.parts);
}

/* Moves on to the next part; false: there is none. */
static bool next_part(part_view *v) {
  if (v->whole) {
    bool first = v->now == NO_PART;
    v->now = 0;
    return first;
  }
  if (v->now != NO_PART) v->shape.parts[v->now].fault = GRAZE_DOUBT_SELF_INTERSECTING;
  v->now = v->now == NO_PART ? 0 : v->now + 1;
  if (v->now == v->shape.part_count) {
    v->now = NO_PART;
    return false;
  }
  v->shape.parts[v->now].fault = GRAZE_DOUBT_NONE;
  return true;
}

/* Adds the sets that the operands as they are seen have; false: that is not sure. */
static graze_status relate_views(const operands *o, part_view views[2], const graze_triangle_pair *pairs,
                                 uint64_t count, unsigned *sets, bool *sure) {
  operands seen = *o;
  findings f = {0};
  for (int k = 0; k < 2; k++) {
    operand *own = &seen.of[k];
    memset(own->judged, 0, sizeof own->judged);
    memset(own->met, 0, own->shape->part_count);
    own->cached_triangle = own->first_distorted = NO_TRIANGLE;
    if (views[k].whole) continue;
    own->shape = &views[k].shape;
    own->bounding = 1;
    own->lone_part = views[k].now;
  }
  gz_relate_meetings(&seen, pairs, count, &f);
  graze_status status = gz_relate_parts(&seen, false, &f);
  *sets |= sets_with(&f, EVIDENCE_CLAIMED);
  *sure = f.doubts[SEVERITY_WRONG].what == GRAZE_DOUBT_NONE && f.doubts[SEVERITY_LACKING].what == GRAZE_DOUBT_NONE;
  return status;
}

/* What the parts of an operand have to do with the other, o. */
typedef struct part_census {
  bool outside;     /* something of a part is outside of o */
  bool common;      /* a part has something in common with o */
  bool cut;         /* a part has, and does not hold all of it */
  uint32_t sharing; /* so many parts have something in common with o */
  int winding;      /* of the parts that hold all of o */
} part_census;

static void count_part(part_census *c, unsigned sets, int w, int turn) {
  bool shares = (sets & SET_COMMON) != 0, leaves = (sets & set_only(1 - w)) != 0;
  c->outside |= !shares || (sets & set_only(w)) != 0;
  c->common |= shares;
  c->sharing += shares;
  c->cut |= shares && leaves;
  c->winding += shares && !leaves ? turn : 0;
}

static graze_status take_census(const operands *o, int w, part_view views[2], const graze_triangle_pair *pairs,
                                uint64_t count, part_census *c, bool *sure) {
  graze_status status = GRAZE_OK;
  while (status == GRAZE_OK && *sure && next_part(&views[w])) {
    unsigned sets = 0;
    views[1 - w].now = NO_PART;
    while (status == GRAZE_OK && *sure && next_part(&views[1 - w])) {
      status = relate_views(o, views, pairs, count, &sets, sure);
    }
    count_part(c, sets, w, o->of[w].shape->parts[views[w].now].turn);
  }
  return status;
}

/* The sets that the whole has, by the table above; 0: that is not sure. */
static unsigned conclude(const part_census *c, int w, const simplicity simple[2], const findings *f) {
  unsigned only_other = set_only(1 - w), only_own = set_only(w), proved = sets_with(f, EVIDENCE_PROVED);
  bool simple_other = simple[1 - w] == SIMPLE_YES;
  if (!c->common || (simple_other && !c->cut && c->winding == 0)) return only_other | only_own;
  if (!simple_other) return 0;
  if (simple[w] == SIMPLE_UNION) {
    unsigned sets = SET_COMMON | (c->outside ? only_own : 0);
    if (c->winding != 0) return sets;
    return (proved & only_other) != 0 || c->sharing == 1 ? sets | only_other : 0;
  }
  return !c->cut && (proved & only_own) != 0 ? SET_COMMON | only_own : 0;
}

/* Of both the parts must be simple, and not too many. */
static bool can_be_parted(const operands *o, const simplicity simple[2]) {
  uint64_t combined = 1;
  for (int k = 0; k < 2; k++) {
    if (simple[k] == SIMPLE_NO || has_surfaces(&o->of[k])) return false;
    if (simple[k] != SIMPLE_YES) combined *= o->of[k].shape->part_count;
  }
  return combined <= COMBINED_PARTS_MOST;
}

graze_status gz_relate_part_by_part(const operands *o, const simplicity simple[2], const graze_triangle_pair *pairs,
                                    uint64_t count, findings *f, bool *sure) {
  int w = simple[0] == SIMPLE_YES;
  part_view views[2];
  *sure = false;
  if (!can_be_parted(o, simple)) return GRAZE_OK;
  graze_status status = open_view(o, 0, simple[0] == SIMPLE_YES, &views[0]);
  if (status != GRAZE_OK) return status;
  status = open_view(o, 1, simple[1] == SIMPLE_YES, &views[1]);
  if (status == GRAZE_OK) {
    part_census c = {0};
    bool known = true;
    status = take_census(o, w, views, pairs, count, &c, &known);
    unsigned sets = status == GRAZE_OK && known ? conclude(&c, w, simple, f) : 0;
    *sure = sets != 0;
    if (*sure) memset(f->of, 0, sizeof f->of);
    raise_evidence(f, sets, EVIDENCE_PROVED);
    close_view(o, &views[1]);
  }
  close_view(o, &views[0]);
  return status;
}
