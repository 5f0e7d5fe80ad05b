/* From contacts and places of parts to one relation.
 *
 * Contacts are looked at until all three sets (common, only a, only b) are claimed: of objects that truly cross, one
 * pair of triangles is enough. What the contacts leave open is settled part by part: a part that meets the other
 * surface nowhere, or in points, lies on one side of it whole, and one corner that is not on it tells which.
 *
 * Claims are made from the wedge next to a contact. That wedge is all of the solid there only when the mesh does not
 * intersect itself; and of a mesh that does, lobes may be turned inside out, so that material lies on the other side.
 * So before a claim of a contact counts, or the lack of a common part, a corner must be found that proves it, or the
 * meshes be shown to be simple. Of a union of simple parts "only" is in doubt alone: material is where it is claimed.
 * What stays in doubt is tried part by part.
 *
 * Claims are those of solids and surfaces as they are. That open parts may be more is a doubt of its own, which ends in
 * the box around them.
 */
#include "narrow/relate.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/parallel.h"
#include "exact/orient.h"
#include "geometry/pose.h"
#include "narrow/contact.h"
#include "narrow/locate.h"

enum { OPTIONS_COOKIE = 0x67727234, SAMPLES = 8, WITNESSES_MOST = 64, COMBINED_PARTS_MOST = 256 };

graze_relate_options graze_default_relate_options(void) {
  return (graze_relate_options){.exactness = GRAZE_T1, .cookie = OPTIONS_COOKIE};
}

const char *graze_relation_string(graze_relation relation) {
  static const char *const names[] = {"separate", "clearance", "touch",     "cross",
                                      "a_in_b",   "b_in_a",    "duplicate", "unknown"};
  return (unsigned)relation < sizeof names / sizeof names[0] ? names[relation] : "unknown";
}

const char *graze_doubt_string(graze_doubt doubt) {
  static const char *const texts[] = {
      "no doubt",
      "the mesh is open, and the other object may lie inside",
      "the mesh's triangles do not all face one way, and the other object may lie inside",
      "the mesh has edges of three or more triangles, so that its inside is not known",
      "the mesh was made without adjacency, so that its inside is not known",
      "the pose flattens the mesh, so that it has no inside",
      "the mesh intersects itself where the other object lies",
      "only contact was asked for",
      "every vertex of a part lies on the other surface"};
  return (unsigned)doubt < sizeof texts / sizeof texts[0] ? texts[doubt] : "unknown doubt";
}

graze_status gz_solid_of(graze_query *rays, const graze_mesh *mesh, _Atomic(solid *) *slot, solid **shape) {
  *shape = atomic_load(slot);
  if (*shape != NULL) return GRAZE_OK;
  solid *made = NULL;
  graze_status status = gz_solid_create(rays, mesh, &made);
  if (status != GRAZE_OK) return status;
  if (!atomic_compare_exchange_strong(slot, shape, made))
    gz_solid_destroy(rays->context, made);
  else
    *shape = made;
  return GRAZE_OK;
}

/* ---- state ---- */

/* A reason to say unknown, and the place, in the mesh that is at fault. */
typedef struct reason {
  graze_doubt what;
  int whose;
  edge_place at;
} reason;

typedef struct relation {
  graze_query *rays;
  graze_exactness exactness;
  body body[2]; /* a, b */
  graze_box box[2];
  graze_box open_box[2]; /* around what is not closed; min > max: all is */
  uint32_t single[2];    /* the only part that is looked at, or NO_PART */
  unsigned claims;
  unsigned confirmed; /* claims that a corner proves */
  reason hard;        /* claims may be wrong */
  reason lost;        /* a part could not be placed; that may only add claims */
  reason soft;        /* an open part may be more than a surface; that does not matter to surfaces that cross */
} relation;

static unsigned only(int which) {
  return which == 0 ? CLAIM_ONLY_A : CLAIM_ONLY_B;
}

static void doubt(reason *r, graze_doubt what, int whose, edge_place at) {
  if (r->what == GRAZE_DOUBT_NONE) *r = (reason){what, whose, at};
}

/* The first edge of a part. */
static edge_place part_place(const body *b, uint32_t part) {
  return (edge_place){b->shape->listed[b->shape->parts[part].begin], 0};
}

/* For what a part that is not closed is at fault, or one that may be its cavity. */
static void doubt_part(relation *r, int whose, uint32_t part) {
  const body *b = &r->body[whose];
  const solid_part *p = &b->shape->parts[part];
  if (p->fault == GRAZE_DOUBT_NONE && b->shape->first_fault != NO_PART) p = &b->shape->parts[b->shape->first_fault];
  if (!b->upright)
    doubt(&r->soft, GRAZE_DOUBT_FLATTENED, whose, (edge_place){0, 0});
  else
    doubt(&r->soft, p->fault, whose, p->fault_at);
}

static bool in_box(const graze_box *box, const double p[3]) {
  for (int k = 0; k < 3; k++) {
    if (!(p[k] >= box->min[k] && p[k] <= box->max[k])) return false;
  }
  return true;
}

/* A corner's world coordinates: T1, which the other's box holds with room for T2's difference. */
static void world_corner(const side *s, uint32_t triangle, int corner, double local[3], double world[3]) {
  double c[9];
  mesh_corners(s->mesh, triangle, c);
  memcpy(local, c + 3 * corner, 3 * sizeof *local);
  memcpy(world, local, 3 * sizeof *world);
  for (int k = 0; k < 3 && !s->identity; k++) world[k] = pose_row(&s->pose, k, local);
}

static int mirror(const graze_pose *pose) {
  const double zero[3] = {0, 0, 0};
  return gz_orient3d(zero, pose->m, pose->m + 4, pose->m + 8);
}

/* The box around what is not closed, in the world. */
static graze_box find_open_box(const body *b, const graze_box *whole) {
  graze_box box;
  if (!b->upright) return *whole;
  memcpy(box.min, b->shape->open_min, sizeof box.min);
  memcpy(box.max, b->shape->open_max, sizeof box.max);
  return b->place.identity || b->shape->first_fault == NO_PART ? box : graze_pose_box(&b->place.pose, &box);
}

static graze_status make_body(relation *r, const relate_side *from, graze_open_rule rule, int which) {
  solid *shape;
  body *out = &r->body[which];
  buffer *met = &r->rays->met[which];
  graze_status status = gz_solid_of(r->rays, from->place.mesh, from->slot, &shape);
  if (status != GRAZE_OK) return status;
  int sign = from->place.identity ? 1 : mirror(&from->place.pose);
  memset(out, 0, sizeof *out);
  out->place = from->place;
  out->shape = shape;
  out->upright = sign != 0;
  out->strict = rule == GRAZE_OPEN_UNKNOWN;
  out->mirrored = sign < 0;
  out->stands = out->bent = out->unclear.triangle = NO_TRIANGLE;
  out->maybe = NO_PART;
  for (uint32_t p = 0; p < shape->part_count; p++) out->bounding += body_bounds(out, p);
  r->open_box[which] = find_open_box(out, &r->box[which]);
  if (shape->part_count == 0) return GRAZE_OK;
  if (!gz_buffer_reserve(r->rays->context, met, shape->part_count, 0)) {
    return gz_fail_memory(r->rays->context, shape->part_count);
  }
  out->met = met->data;
  memset(out->met, 0, shape->part_count);
  return GRAZE_OK;
}

static bool has_surfaces(const body *b) {
  return !b->upright || b->shape->first_fault != NO_PART;
}

/* A body of solid and surfaces: what its surfaces would add to its solid is not known. */
static bool mixed(const body *b) {
  return has_surfaces(b) && b->bounding > 0;
}

/* More contacts and parts tell nothing new. */
static bool seen_enough(const relation *r) {
  if (r->claims != CLAIM_ALL) return false;
  for (int which = 0; which < 2; which++) {
    if (mixed(&r->body[which]) && !r->body[which].pierces) return false;
  }
  return true;
}

/* ---- parts ---- */

/* A corner of the part is outside the box. */
static bool sticks_out(const body *own, uint32_t part, const graze_box *box) {
  double local[3], world[3];
  for (uint32_t i = own->shape->parts[part].begin; i < own->shape->parts[part].end; i++) {
    for (int c = 0; c < 3; c++) {
      world_corner(&own->place, own->shape->listed[i], c, local, world);
      if (!in_box(box, world)) return true;
    }
  }
  return false;
}

/* Claims of a part that lies in or out of the other body. */
static void claim_part(relation *r, int which, uint32_t part, location where) {
  const body *own = &r->body[which];
  if (where == LOCATION_OUT) {
    r->claims |= only(which);
    r->confirmed |= only(which);
    return;
  }
  r->claims |= CLAIM_COMMON;
  r->confirmed |= CLAIM_COMMON;
  /* On the other side of a part that bounds something there is the other only. */
  bool surface = !body_bounds(own, part);
  if (!surface && own->shape->parts[part].side != MATERIAL_BOTH) r->claims |= only(1 - which);
  r->body[which].pierces |= surface;
}

static graze_status locate_corner(relation *r, int which, const double local[3], location *where) {
  int winding;
  const body *other = &r->body[1 - which];
  const part_filter solid_parts = {.shape = other->shape, .strict = other->strict, .skip = NO_PART};
  return gz_locate(r->rays, &r->body[which].place, local, &other->place, &solid_parts, r->exactness, where, &winding);
}

/* Middles of edges that doubles can hold, for parts with every corner on the other surface. */
static graze_status locate_middles(relation *r, int which, uint32_t part, location *where) {
  const body *own = &r->body[which];
  const graze_mesh *mesh = own->place.mesh;
  for (uint32_t i = own->shape->parts[part].begin; i < own->shape->parts[part].end; i++) {
    double c[9];
    mesh_corners(mesh, own->shape->listed[i], c);
    for (int e = 0; e < 3; e++) {
      const double *p = c + 3 * e, *q = c + (3 * e + 3) % 9;
      double middle[3];
      bool exact = true;
      for (int k = 0; k < 3; k++) {
        double sum = p[k] + q[k];
        middle[k] = 0.5 * sum;
        exact &= sum - p[k] == q[k] && sum - q[k] == p[k] && 2 * middle[k] == sum;
      }
      if (!exact) continue;
      graze_status status = locate_corner(r, which, middle, where);
      if (status != GRAZE_OK || *where != LOCATION_ON) return status;
    }
  }
  return GRAZE_OK;
}

/* The first corner that is not on the other surface tells for the whole part. Where the part meets the other along a
 * segment the contacts have told already, and a few corners are enough to be sure. */
static graze_status place_corner(relation *r, int which, uint32_t part, location *where) {
  const body *own = &r->body[which];
  uint32_t tried = 0, most = own->met[part] ? SAMPLES : UINT32_MAX;
  *where = LOCATION_ON;
  for (uint32_t i = own->shape->parts[part].begin; i < own->shape->parts[part].end && *where == LOCATION_ON; i++) {
    for (int c = 0; c < 3 && *where == LOCATION_ON; c++) {
      double local[3], world[3];
      if (tried++ >= most) return GRAZE_OK;
      world_corner(&own->place, own->shape->listed[i], c, local, world);
      graze_status status = locate_corner(r, which, local, where);
      if (status != GRAZE_OK) return status;
    }
  }
  return GRAZE_OK;
}

static graze_status place_part(relation *r, int which, uint32_t part) {
  const body *own = &r->body[which];
  location where;
  if (r->body[1 - which].bounding == 0 || sticks_out(own, part, &r->box[1 - which])) {
    claim_part(r, which, part, LOCATION_OUT);
    return GRAZE_OK;
  }
  graze_status status = place_corner(r, which, part, &where);
  if (status != GRAZE_OK) return status;
  if (where == LOCATION_ON && !own->met[part]) {
    status = locate_middles(r, which, part, &where);
    if (status != GRAZE_OK) return status;
    if (where == LOCATION_ON) doubt(&r->hard, GRAZE_DOUBT_POINTS_ONLY, which, part_place(own, part));
  }
  if (where == LOCATION_LOST) doubt(&r->lost, GRAZE_DOUBT_FLATTENED, which, part_place(own, part));
  if (where == LOCATION_IN || where == LOCATION_OUT) claim_part(r, which, part, where);
  return GRAZE_OK;
}

static bool looked_at(const relation *r, int which, uint32_t part) {
  return r->single[which] == NO_PART || r->single[which] == part;
}

static graze_status place_parts(relation *r) {
  for (int which = 0; which < 2; which++) {
    for (uint32_t p = 0; p < r->body[which].shape->part_count && !seen_enough(r); p++) {
      if (!looked_at(r, which, p) || (r->claims == CLAIM_ALL && body_bounds(&r->body[which], p))) continue;
      graze_status status = place_part(r, which, p);
      if (status != GRAZE_OK) return status;
    }
  }
  return GRAZE_OK;
}

/* ---- contacts ---- */

/* Contacts lie in both boxes; the neighbours of what meets may reach as far as the boxes do. */
static void lay_grid(spots *set, const relation *r, const graze_triangle_pair *first) {
  double local[3], origin[3], reach = 0;
  world_corner(&r->body[0].place, first->a, 0, local, origin);
  for (int which = 0; which < 2; which++) {
    for (int k = 0; k < 3; k++) {
      reach = fmax(reach, fmax(r->box[which].max[k] - origin[k], origin[k] - r->box[which].min[k]));
    }
  }
  gz_spots_lay_grid(set, origin, reach);
}

static void look_at_contacts(relation *r, const graze_triangle_pair *pairs, uint64_t count) {
  spots set;
  gz_spots_start(&set, r->exactness == GRAZE_T2);
  if (count > 0) lay_grid(&set, r, pairs);
  for (uint64_t i = 0; i < count && !seen_enough(r); i++) {
    if (!looked_at(r, 0, r->body[0].shape->part_of[pairs[i].a])) continue;
    if (!looked_at(r, 1, r->body[1].shape->part_of[pairs[i].b])) continue;
    unsigned claims = gz_contact_claims(&set, &r->body[0], pairs[i].a, &r->body[1], pairs[i].b);
    r->claims |= claims & CLAIM_ALL;
    if ((claims & CLAIM_SURE) != 0) r->confirmed |= claims & CLAIM_ALL;
  }
  /* A solid has an interior, which no surface covers. */
  for (int which = 0; which < 2; which++) {
    if (r->body[which].bounding == 0 || r->body[1 - which].bounding > 0) continue;
    r->claims |= only(which);
    r->confirmed |= only(which);
  }
  for (int which = 0; which < 2 && r->claims != CLAIM_ALL; which++) {
    const body *b = &r->body[which];
    if (b->bent != NO_TRIANGLE) doubt(&r->hard, GRAZE_DOUBT_FLATTENED, which, (edge_place){b->bent, 0});
  }
}

/* ---- trust in claims of contacts ---- */

static bool meets_solid(const body *b) {
  for (uint32_t p = 0; p < b->shape->part_count; p++) {
    if (b->met[p]) return true;
  }
  return false;
}

/* Whether a corner of the body lies on another of its closed parts. Parts that face opposite ways may cancel there, so
 * that there is no material. */
static graze_status on_others(relation *r, int which, uint32_t triangle, const double local[3], bool *on) {
  const body *own = &r->body[which];
  const part_filter others = {.shape = own->shape, .strict = own->strict, .skip = own->shape->part_of[triangle]};
  location where;
  int winding;
  graze_status status = gz_locate(r->rays, &own->place, local, &own->place, &others, r->exactness, &where, &winding);
  *on = where == LOCATION_ON || where == LOCATION_LOST;
  return status;
}

/* Corners of the body prove claims, among a few, as a ray places them. `cancels`: parts of it may face opposite ways.
 */
static graze_status find_witnesses(relation *r, int which, unsigned wanted, bool cancels) {
  const body *own = &r->body[which];
  uint32_t count = own->place.mesh->triangle_count, step = count / WITNESSES_MOST + 1;
  for (uint32_t t = 0; t < count && (wanted & ~r->confirmed) != 0; t += step) {
    double local[3], world[3];
    location where;
    bool on = false;
    if (mesh_degenerate(own->place.mesh, t)) continue;
    world_corner(&own->place, t, 0, local, world);
    graze_status status = locate_corner(r, which, local, &where);
    if (status == GRAZE_OK && cancels) status = on_others(r, which, t, local, &on);
    if (status != GRAZE_OK) return status;
    if (where == LOCATION_OUT && !on) r->confirmed |= only(which);
    if (where == LOCATION_IN && !on) r->confirmed |= CLAIM_COMMON;
  }
  return GRAZE_OK;
}

static bool any_sticks_out(const relation *r, int which) {
  for (uint32_t p = 0; p < r->body[which].shape->part_count; p++) {
    if (sticks_out(&r->body[which], p, &r->box[1 - which])) return true;
  }
  return false;
}

/* Claims that a mesh in which sides may be wrong leaves open. */
static unsigned doubted_claims(const simplicity simple[2]) {
  if (simple[0] >= SIMPLE_PARTS || simple[1] >= SIMPLE_PARTS) return CLAIM_ALL;
  return (simple[1] == SIMPLE_UNION ? CLAIM_ONLY_A : 0) | (simple[0] == SIMPLE_UNION ? CLAIM_ONLY_B : 0);
}

/* What must be sure for the relation that the claims name: no common part, or each claim. */
static unsigned open_claims(const relation *r) {
  return (r->claims & CLAIM_COMMON) != 0 ? r->claims & ~r->confirmed : CLAIM_COMMON;
}

/* ---- each part by itself ---- */

/* A body seen through one part at a time, which alone bounds material: behind its triangles, or in front when they are
 * turned. A body of simple solid is seen whole. */
typedef struct part_view {
  solid shape;
  bool whole;
  uint32_t now; /* the part, or NO_PART */
} part_view;

static graze_status open_view(const relation *r, int which, bool whole, part_view *v) {
  const solid *from = r->body[which].shape;
  *v = (part_view){.whole = whole, .now = NO_PART};
  if (whole) return GRAZE_OK;
  size_t bytes = from->part_count * sizeof *from->parts;
  v->shape.parts = gz_memory_alloc(r->rays->context, bytes);
  if (v->shape.parts == NULL) return gz_fail_memory(r->rays->context, bytes);
  v->shape.part_count = from->part_count;
  v->shape.first_fault = NO_PART;
  v->shape.part_of = from->part_of;
  v->shape.listed = from->listed;
  v->shape.joints = from->joints;
  v->shape.joint_count = from->joint_count;
  for (uint32_t p = 0; p < from->part_count; p++) {
    v->shape.parts[p] = from->parts[p];
    v->shape.parts[p].fault = GRAZE_DOUBT_SELF_INTERSECTING;
    v->shape.parts[p].side = from->parts[p].turn > 0 ? MATERIAL_BEHIND : MATERIAL_IN_FRONT;
  }
  return GRAZE_OK;
}

static void close_view(const relation *r, part_view *v) {
  gz_memory_release(r->rays->context, v->shape.parts, v->shape.part_count * sizeof *v->shape.parts);
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

/* Claims of the bodies as they are seen; *good: they are sure. */
static graze_status relate_views(const relation *r, part_view views[2], const graze_triangle_pair *pairs,
                                 uint64_t count, unsigned *claims, bool *good) {
  relation seen = *r;
  for (int k = 0; k < 2; k++) {
    body *b = &seen.body[k];
    memset(b->judged, 0, sizeof b->judged);
    memset(b->met, 0, b->shape->part_count);
    b->stands = b->bent = NO_TRIANGLE;
    if (views[k].whole) continue;
    b->shape = &views[k].shape;
    b->bounding = 1;
    seen.single[k] = views[k].now;
  }
  seen.claims = seen.confirmed = 0;
  seen.hard = seen.lost = (reason){0};
  look_at_contacts(&seen, pairs, count);
  graze_status status = place_parts(&seen);
  *claims |= seen.claims;
  *good = *good && seen.hard.what == GRAZE_DOUBT_NONE && seen.lost.what == GRAZE_DOUBT_NONE;
  return status;
}

/* What is known of the other body o when each part of body w is taken for a solid of its own. */
typedef struct part_census {
  bool common;      /* some part has something in common with o */
  bool outside;     /* some part has something outside of o */
  bool cut;         /* some part has something in common with o and does not hold all of it */
  uint32_t sharing; /* so many parts have something in common with o */
  int winding;      /* of the parts that hold all of o */
} part_census;

static void count_part(part_census *c, unsigned claims, int w, int turn) {
  bool shares = (claims & CLAIM_COMMON) != 0, leaves = (claims & only(1 - w)) != 0;
  c->outside |= !shares || (claims & only(w)) != 0;
  c->common |= shares;
  c->sharing += shares;
  c->cut |= shares && leaves;
  c->winding += shares && !leaves ? turn : 0;
}

static graze_status take_census(const relation *r, int w, part_view views[2], const graze_triangle_pair *pairs,
                                uint64_t count, part_census *c, bool *good) {
  graze_status status = GRAZE_OK;
  while (status == GRAZE_OK && *good && next_part(&views[w])) {
    unsigned claims = 0;
    views[1 - w].now = NO_PART;
    while (status == GRAZE_OK && *good && next_part(&views[1 - w])) {
      status = relate_views(r, views, pairs, count, &claims, good);
    }
    count_part(c, claims, w, r->body[w].shape->parts[views[w].now].turn);
  }
  return status;
}

/* Claims that follow for the whole; false: they do not. The parts of a union add up. Otherwise the winding number of
 * each part must be the same all over the other body. */
static bool conclude(const part_census *c, int w, const simplicity simple[2], unsigned confirmed, unsigned *claims) {
  unsigned only_other = only(1 - w), only_own = only(w), proved = confirmed & only_own;
  bool simple_other = simple[1 - w] == SIMPLE_YES;
  if (!c->common || (simple_other && !c->cut && c->winding == 0)) {
    *claims = only_other | only_own;
    return true;
  }
  *claims = CLAIM_COMMON | (c->winding != 0 ? 0 : only_other) | (c->outside ? only_own : 0);
  if (simple[w] == SIMPLE_UNION) {
    return simple_other && (c->winding != 0 || (confirmed & only_other) != 0 || c->sharing == 1);
  }
  *claims = CLAIM_COMMON | only_own;
  return simple_other && !c->cut && proved != 0;
}

/* Bodies whose parts meet each other, part by part: of both the parts must be simple. */
static graze_status relate_by_parts(relation *r, const simplicity simple[2], const graze_triangle_pair *pairs,
                                    uint64_t count, bool *sure) {
  int w = simple[0] == SIMPLE_YES;
  uint64_t combined = 1;
  part_view views[2];
  *sure = false;
  for (int k = 0; k < 2; k++) {
    if (simple[k] == SIMPLE_NO || has_surfaces(&r->body[k])) return GRAZE_OK;
    if (simple[k] != SIMPLE_YES) combined *= r->body[k].shape->part_count;
  }
  if (combined > COMBINED_PARTS_MOST) return GRAZE_OK;
  graze_status status = open_view(r, 0, simple[0] == SIMPLE_YES, &views[0]);
  if (status != GRAZE_OK) return status;
  status = open_view(r, 1, simple[1] == SIMPLE_YES, &views[1]);
  part_census c = {0};
  bool good = true;
  unsigned claims = 0;
  if (status == GRAZE_OK) {
    status = take_census(r, w, views, pairs, count, &c, &good);
    *sure = status == GRAZE_OK && good && conclude(&c, w, simple, r->confirmed, &claims);
    close_view(r, &views[1]);
  }
  close_view(r, &views[0]);
  if (*sure) r->claims = claims;
  return status;
}

/* Only contacts can mislead: a part that meets nothing is placed by a ray. */
static graze_status confirm(relation *r, const graze_triangle_pair *pairs, uint64_t count) {
  simplicity simple[2] = {SIMPLE_YES, SIMPLE_YES};
  graze_status status = GRAZE_OK;
  if (!meets_solid(&r->body[0]) && !meets_solid(&r->body[1])) return GRAZE_OK;
  for (int which = 0; which < 2; which++) {
    if ((open_claims(r) & only(which)) != 0 && any_sticks_out(r, which)) r->confirmed |= only(which);
  }
  for (int which = 0; which < 2 && status == GRAZE_OK && open_claims(r) != 0; which++) {
    const body *b = &r->body[which];
    if (b->bounding > 0) status = gz_solid_simplicity(r->rays, b->place.mesh, b->shape, &simple[which]);
  }
  bool cancels[2] = {simple[0] == SIMPLE_PARTS, simple[1] == SIMPLE_PARTS};
  if (cancels[0] || cancels[1]) r->confirmed = 0;
  unsigned open = open_claims(r) & doubted_claims(simple);
  for (int which = 0; which < 2 && status == GRAZE_OK && (r->claims & CLAIM_COMMON) != 0; which++) {
    if (open != 0 && r->body[1 - which].bounding > 0) status = find_witnesses(r, which, open, cancels[which]);
  }
  /* Where parts meet each other, what touches one from outside may lie in another. */
  bool both_simple = simple[0] == SIMPLE_YES && simple[1] == SIMPLE_YES;
  bool sure = (r->claims & CLAIM_COMMON) != 0 ? (open & ~r->confirmed) == 0 : both_simple;
  if (status == GRAZE_OK && !sure) status = relate_by_parts(r, simple, pairs, count, &sure);
  if (status == GRAZE_OK && !sure) {
    int whose = simple[1] > simple[0];
    uint32_t tangled = atomic_load(&r->body[whose].shape->tangled);
    doubt(&r->hard, GRAZE_DOUBT_SELF_INTERSECTING, whose, (edge_place){tangled, 0});
  }
  return status;
}

/* ---- what open parts may be ---- */

static bool has_room(const graze_box *box) {
  return box->min[0] < box->max[0] && box->min[1] < box->max[1] && box->min[2] < box->max[2];
}

/* Surfaces that cross, cross, whatever an inside might add: unless there is a solid as well, which alone crosses. */
static bool plainly_crosses(const relation *r, int which) {
  return r->claims == CLAIM_ALL && (!mixed(&r->body[which]) || r->body[which].pierces);
}

/* Whether the box around a part of the body holds a part of the other. */
static bool may_hold(const body *own, uint32_t part, const body *other, uint32_t held) {
  graze_box box = graze_box_empty();
  for (uint32_t i = own->shape->parts[part].begin; i < own->shape->parts[part].end; i++) {
    for (int c = 0; c < 3; c++) {
      double local[3], world[3];
      world_corner(&own->place, own->shape->listed[i], c, local, world);
      for (int k = 0; k < 3; k++) {
        box.min[k] = fmin(box.min[k], world[k]);
        box.max[k] = fmax(box.max[k], world[k]);
      }
    }
  }
  return !sticks_out(other, held, &box);
}

/* The part to blame when `held` of the other lies within the box around the open parts: the first that may hold it by
 * itself, else the first. */
static uint32_t open_part_around(const body *own, const body *other, uint32_t held) {
  for (uint32_t p = 0; p < own->shape->part_count; p++) {
    if (own->shape->parts[p].fault != GRAZE_DOUBT_NONE && may_hold(own, p, other, held)) return p;
  }
  return own->shape->first_fault;
}

/* A part of the other lies within the box around the open parts: what has no inside cannot hold it, but may have been
 * meant to. */
static void doubt_inside(relation *r, int which) {
  const body *own = &r->body[which], *other = &r->body[1 - which];
  if (own->shape->part_count == 0 || !has_surfaces(own) || !has_room(&r->open_box[which]) || plainly_crosses(r, which))
    return;
  for (uint32_t p = 0; p < other->shape->part_count; p++) {
    if (sticks_out(other, p, &r->open_box[which])) continue;
    doubt_part(r, which, own->upright ? open_part_around(own, other, p) : 0);
    return;
  }
}

/* Surfaces touch, but may be meant as solids that have more in common: two walls in line of which one has a hole. */
static void doubt_touch(relation *r, int which) {
  const body *b = &r->body[which];
  const graze_box *own = &r->open_box[which], *other = &r->box[1 - which];
  bool decided = (r->claims & CLAIM_COMMON) != 0 && !mixed(b);
  if (b->maybe == NO_PART || decided || plainly_crosses(r, which)) return;
  for (int k = 0; k < 3; k++) {
    if (!(own->min[k] < other->max[k] && other->min[k] < own->max[k])) return;
  }
  doubt_part(r, which, b->maybe);
}

static void doubt_unclear_edges(relation *r, int which) {
  const body *b = &r->body[which];
  if (b->unclear.triangle == NO_TRIANGLE || r->claims == CLAIM_ALL) return;
  const solid_part *part = &b->shape->parts[b->shape->part_of[b->unclear.triangle]];
  doubt(&r->soft, part->fault == GRAZE_DOUBT_NO_ADJACENCY ? part->fault : GRAZE_DOUBT_NONMANIFOLD, which, b->unclear);
}

static void doubt_surfaces(relation *r) {
  if (r->claims != CLAIM_ALL) r->soft = r->lost;
  for (int which = 0; which < 2; which++) doubt_unclear_edges(r, which);
  for (int which = 0; which < 2 && r->body[which].strict; which++) doubt_inside(r, which);
  for (int which = 0; which < 2 && r->body[which].strict; which++) doubt_touch(r, which);
}

/* ---- the whole ---- */

static graze_relation relation_of(unsigned claims, bool meet) {
  switch (claims) {
    case CLAIM_COMMON:
      return GRAZE_DUPLICATE;
    case CLAIM_COMMON | CLAIM_ONLY_A:
      return GRAZE_B_IN_A;
    case CLAIM_COMMON | CLAIM_ONLY_B:
      return GRAZE_A_IN_B;
    case CLAIM_ALL:
      return GRAZE_CROSS;
    default:
      return meet ? GRAZE_TOUCH : GRAZE_SEPARATE;
  }
}

static void give_verdict(const relation *r, bool meet, verdict *out) {
  const reason *why = r->hard.what != GRAZE_DOUBT_NONE ? &r->hard : &r->soft;
  *out = (verdict){.relation = relation_of(r->claims, meet)};
  if (why->what == GRAZE_DOUBT_NONE) return;
  out->relation = GRAZE_UNKNOWN;
  out->doubt = why->what;
  out->doubt_mesh = (uint8_t)why->whose;
  const body *b = &r->body[why->whose];
  double place[3];
  gz_solid_edge_middle(b->place.mesh, why->at, place);
  graze_pose_apply(&b->place.pose, place, out->doubt_point);
}

static graze_status decide(relation *r, const graze_triangle_pair *pairs, uint64_t count, verdict *out) {
  graze_status status;
  look_at_contacts(r, pairs, count);
  if ((status = place_parts(r)) != GRAZE_OK) return status;
  if ((status = confirm(r, pairs, count)) != GRAZE_OK) return status;
  doubt_surfaces(r);
  give_verdict(r, count > 0, out);
  return GRAZE_OK;
}

/* Nothing meets and each is one piece of which a sample lies outside the other's box: no more need be known. */
static bool plainly_separate(const relation *r, const relate_side *const s[2]) {
  for (int which = 0; which < 2; which++) {
    const graze_mesh *mesh = s[which]->place.mesh;
    bool out = false;
    if (!mesh->header->adjacency || mesh->header->parts != 1) return false;
    uint32_t step = mesh->triangle_count / SAMPLES + 1;
    for (uint32_t t = 0; t < mesh->triangle_count && !out; t += step) {
      double local[3], world[3];
      world_corner(&s[which]->place, t, 0, local, world);
      out = !in_box(&r->box[1 - which], world);
    }
    if (!out) return false;
  }
  return true;
}

static bool same_numbers(const graze_pose *p, const graze_pose *q) {
  for (int k = 0; k < 12; k++) {
    if (p->m[k] != q->m[k]) return false;
  }
  return true;
}

/* The same mesh at the same place, closed or not. */
static bool same_everything(const side *a, const side *b) {
  if (!same_numbers(&a->pose, &b->pose)) return false;
  const mesh_header *h = a->mesh->header, *g = b->mesh->header;
  if (a->mesh == b->mesh) return true;
  if (h->geometry_hash != g->geometry_hash || h->vertex_count != g->vertex_count ||
      h->triangle_count != g->triangle_count || h->precision != g->precision) {
    return false;
  }
  size_t size = h->precision == GRAZE_DOUBLE ? sizeof(double) : sizeof(float);
  const char *base_a = (const char *)h, *base_b = (const char *)g;
  return memcmp(base_a + h->vertices, base_b + g->vertices, 3 * size * h->vertex_count) == 0 &&
         memcmp(base_a + h->triangles, base_b + g->triangles, 3 * sizeof(uint32_t) * h->triangle_count) == 0;
}

graze_status gz_relate(graze_query *rays, const relate_side *a, const relate_side *b, graze_exactness exactness,
                       graze_open_rule open, const graze_triangle_pair *pairs, uint64_t count, verdict *out) {
  relation r = {.rays = rays, .exactness = exactness, .single = {NO_PART, NO_PART}};
  const relate_side *const s[2] = {a, b};
  *out = (verdict){.relation = GRAZE_SEPARATE};
  if (a->place.mesh->triangle_count == 0 || b->place.mesh->triangle_count == 0) return GRAZE_OK;
  if (count > 0 && same_everything(&a->place, &b->place)) {
    out->relation = GRAZE_DUPLICATE;
    return GRAZE_OK;
  }
  for (int k = 0; k < 2; k++) r.box[k] = gz_side_box(&s[k]->place);
  if (count == 0 && plainly_separate(&r, s)) return GRAZE_OK;
  graze_status status = make_body(&r, a, open, 0);
  if (status == GRAZE_OK) status = make_body(&r, b, open, 1);
  return status == GRAZE_OK ? decide(&r, pairs, count, out) : status;
}

/* ---- the public call ---- */

static graze_status check_options(const graze_query *q, const graze_relate_options *o) {
  if (o->cookie != OPTIONS_COOKIE || (unsigned)o->exactness > GRAZE_T2 || (unsigned)o->open > GRAZE_OPEN_SURFACE) {
    return gz_fail(q->context, GRAZE_ERROR_ARGUMENT, "relate options: not initialised, or a value is unknown");
  }
  return GRAZE_OK;
}

graze_status gz_query_relate(graze_query *q, const relate_side *a, const relate_side *b, const graze_relate_options *o,
                             graze_relate_result *result) {
  graze_collide_options collide = graze_default_collide_options();
  graze_collide_result hits;
  verdict v;
  collide.exactness = o->exactness;
  graze_status status =
      graze_collide_meshes(q, a->place.mesh, &a->place.pose, b->place.mesh, &b->place.pose, &collide, &hits);
  if (status == GRAZE_OK && q->rays == NULL) {
    /* Creation is const in spirit: the context is only remembered. */
    status = graze_query_create((graze_context *)q->context, &q->rays);
  }
  if (status != GRAZE_OK) return status;
  status = gz_relate(q->rays, a, b, o->exactness, o->open, hits.pairs, hits.counts.triangle_pairs, &v);
  if (status != GRAZE_OK) return status;
  *result = (graze_relate_result){.relation = v.relation,
                                  .doubt = v.doubt,
                                  .doubt_mesh = v.doubt_mesh,
                                  .counts = hits.counts,
                                  .pairs = hits.pairs,
                                  .work = hits.work};
  memcpy(result->doubt_point, v.doubt_point, sizeof v.doubt_point);
  return GRAZE_OK;
}

graze_status graze_relate_meshes(graze_query *query, const graze_mesh *a, const graze_pose *pose_a, const graze_mesh *b,
                                 const graze_pose *pose_b, const graze_relate_options *options,
                                 graze_relate_result *result) {
  if (query == NULL || a == NULL || b == NULL || result == NULL) return GRAZE_ERROR_ARGUMENT;
  graze_relate_options o = options != NULL ? *options : graze_default_relate_options();
  _Atomic(solid *) made[2] = {NULL, NULL};
  relate_side sides[2] = {{.slot = &made[0]}, {.slot = &made[1]}};
  unsigned saved = gz_fp_enter();
  graze_status status = check_options(query, &o);
  if (status == GRAZE_OK) status = gz_query_side(query, a, pose_a, o.exactness, "a", &sides[0].place);
  if (status == GRAZE_OK) status = gz_query_side(query, b, pose_b, o.exactness, "b", &sides[1].place);
  if (status == GRAZE_OK) status = gz_query_relate(query, &sides[0], &sides[1], &o, result);
  gz_solid_destroy(query->context, atomic_load(&made[0]));
  gz_solid_destroy(query->context, atomic_load(&made[1]));
  gz_fp_leave(saved);
  return status;
}
