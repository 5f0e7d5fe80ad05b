/* What balls and surfaces do to each other in a pass: contacts of src/dynamics/surfaces.c, with an item for each ball
 * that has triangles in its list. It goes before world_pass, which adds up what is found here: so that one needs no room
 * for what few balls do. */
#include "nearest.h"

#define PASS_LOOK 0u /* pass_mode */

/* What is the same for all balls. */
typedef struct meshes {
  GLOBAL const double *frame;
  GLOBAL const double *laws;
  GLOBAL const double *surfaces;
  GLOBAL const double *triangles;
  GLOBAL u32 *facets;
  GLOBAL double *kept;
  GLOBAL double *met;
  told events;
  u32 materials, features, mode;
} meshes;

/* A ball and a surface: entries from `first` on. */
typedef struct encounter {
  party own;
  double spin[4], origin[3]; /* origin: where the ball was when the list was made */
  u32 material, number, first, count;
  GLOBAL const double *surface;
  GLOBAL const double *law;
} encounter;

FUNCTION GLOBAL double *met_of(const meshes *w, const encounter *c, u32 i) {
  return w->met + MET_FIELDS * (u64)(c->first + i);
}

FUNCTION GLOBAL double *kept_of(const meshes *w, const encounter *c, u32 slot) {
  return w->kept + FACET_KEPT_FIELDS(w->features) * (u64)(c->first + slot);
}

FUNCTION GLOBAL const double *triangle_of(const meshes *w, const encounter *c, double triangle) {
  return w->triangles + TRIANGLE_FIELDS * ((u64)c->surface[SURFACE_TRIANGLES] + (u64)triangle);
}

FUNCTION void copy(GLOBAL const double *from, u32 count, double *to) {
  for (u32 k = 0; k < count; k++) to[k] = from[k];
}

/* ---- where they meet --------------------------------------------------------------------------------------------- */

/* The centre of the ball in the coordinates of the image of which an entry's triangle is. If it has come in on another
 * side since the list was made, it is that many images farther. */
FUNCTION void place_ball(const meshes *w, const encounter *c, GLOBAL const u32 *facet, double *at) {
  double image[3];
  for (u32 k = 0; k < 3; k++) {
    double period = w->frame[FRAME_PERIOD + k], way = c->own.at[k] - c->origin[k], most = 0.5 * period;
    u32 bits = facet[FACET_IMAGE + k];
    image[k] = bits < 0x80000000u ? (double)bits : (double)bits - 0x1p32;
    if (period != 0) image[k] += (way > most ? 1.0 : 0.0) - (way < -most ? 1.0 : 0.0);
  }
  to_mesh(c->surface, w->frame, c->own.at, image, at);
}

/* The order of those who are met. */
FUNCTION u32 goes_before(GLOBAL const double *a, GLOBAL const double *b) {
  if (a[MET_DISTANCE] != b[MET_DISTANCE]) return a[MET_DISTANCE] < b[MET_DISTANCE];
  if (a[MET_TRIANGLE] != b[MET_TRIANGLE]) return a[MET_TRIANGLE] < b[MET_TRIANGLE];
  for (u32 k = 0; k < 3; k++) {
    if (a[MET_AT + k] != b[MET_AT + k]) return a[MET_AT + k] < b[MET_AT + k];
  }
  return 0;
}

/* To its place among those before it. */
FUNCTION void insert_met(const meshes *w, const encounter *c, u32 i) {
  for (; i > 0 && goes_before(met_of(w, c, i), met_of(w, c, i - 1)); i--) {
    GLOBAL double *a = met_of(w, c, i), *b = met_of(w, c, i - 1);
    for (u32 k = 0; k <= MET_RIM; k++) {
      double t = a[k];
      a[k] = b[k];
      b[k] = t;
    }
  }
}

/* Triangles that the ball meets, nearest first. */
FUNCTION u32 find_met(const meshes *w, const encounter *c) {
  u32 count = 0;
  double at[3];
  near_point near;
  for (u32 i = 0; i < c->count; i++) {
    GLOBAL const u32 *facet = w->facets + FACET_FIELDS * (u64)(c->first + i);
    place_ball(w, c, facet, at);
    find_nearest(triangle_of(w, c, facet[FACET_TRIANGLE]), at, &near);
    if (!(near.distance < c->own.at[3])) continue;
    GLOBAL double *met = met_of(w, c, count);
    for (u32 k = 0; k < 3; k++) {
      met[MET_NORMAL + k] = near.normal[k];
      met[MET_AT + k] = at[k];
    }
    met[MET_DISTANCE] = near.distance;
    met[MET_TRIANGLE] = facet[FACET_TRIANGLE];
    met[MET_RIM] = !near.inside;
    insert_met(w, c, count++);
  }
  return count;
}

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

/* Where the ball is nearest to the triangle, `at` being its centre. */
FUNCTION void nearest_place(GLOBAL const double *met, GLOBAL const double *at, double *place) {
  for (u32 k = 0; k < 3; k++) place[k] = at[k] - met[MET_DISTANCE] * met[MET_NORMAL + k];
}

FUNCTION u32 is_within(const double *a, const double *b, double distance) {
  double way2 = 0;
  for (u32 k = 0; k < 3; k++) way2 += (a[k] - b[k]) * (a[k] - b[k]);
  return way2 <= distance * distance;
}

FUNCTION u32 is_on(GLOBAL const double *triangle, const double *place, double slack) {
  near_point near;
  for (u32 k = 0; k < 3; k++) {
    double a = triangle[k], b = triangle[3 + k], c = triangle[6 + k];
    double low = a < b ? a : b, high = a < b ? b : a;
    if (c < low) low = c;
    if (c > high) high = c;
    if (place[k] < low - slack || place[k] > high + slack) return 0;
  }
  find_nearest(triangle, place, &near);
  return near.distance <= slack;
}

/* Whether the distance is least there: not where it is that of a contact before, or where a nearer triangle goes on from
 * the rim. */
FUNCTION u32 is_least(const meshes *w, const encounter *c, u32 i) {
  GLOBAL const double *own = met_of(w, c, i);
  double place[3], other[3], slack = 1e-6 * c->own.at[3];
  for (u32 j = 0; j < i; j++) {
    GLOBAL const double *before = met_of(w, c, j);
    nearest_place(own, before + MET_AT, place);
    nearest_place(before, before + MET_AT, other);
    if (is_within(place, other, slack) && (before[MET_LEAST] != 0 || own[MET_RIM] != 0)) return 0;
    if (own[MET_RIM] != 0 && is_on(triangle_of(w, c, before[MET_TRIANGLE]), place, slack)) return 0;
  }
  return 1;
}

/* Those of `met` where the distance is least, side by side, with normals of the world; how many there are. */
FUNCTION u32 keep_least(const meshes *w, const encounter *c, u32 met) {
  double normal[3], turned[3];
  u32 count = 0;
  for (u32 i = 0; i < met; i++) met_of(w, c, i)[MET_LEAST] = is_least(w, c, i);
  for (u32 i = 0; i < met; i++) {
    GLOBAL const double *from = met_of(w, c, i);
    if (from[MET_LEAST] == 0) continue;
    GLOBAL double *to = met_of(w, c, count++);
    copy(from + MET_NORMAL, 3, normal);
    rotate(c->surface, normal, turned);
    to[MET_DISTANCE] = from[MET_DISTANCE];
    for (u32 k = 0; k < 3; k++) to[MET_NORMAL + k] = turned[k];
    to[MET_SLOT] = -1;
    for (u32 k = MET_STRAIN; k < MET_LOST; k++) to[k] = 0;
  }
  return count;
}

/* ---- what they remember ------------------------------------------------------------------------------------------ */

FUNCTION u32 is_taken(const meshes *w, const encounter *c, u32 count, u32 slot) {
  for (u32 i = 0; i < count; i++) {
    if (met_of(w, c, i)[MET_SLOT] == slot) return 1;
  }
  return 0;
}

/* Contacts go on by their normals: those that are most alike first. */
FUNCTION void recall(const meshes *w, const encounter *c, u32 count) {
  u32 springs = KEPT_SPRINGS(w->features), fields = KEPT_FIELDS(w->features), none = ~0u;
  for (;;) {
    double best = 0.5;
    u32 who = none, what = none;
    for (u32 j = 0; j < c->count && facet_touches(w->facets, c->first + j); j++) {
      if (is_taken(w, c, count, j)) continue;
      GLOBAL const double *n = kept_of(w, c, j) + FACET_KEPT_NORMAL(w->features);
      for (u32 i = 0; i < count; i++) {
        GLOBAL const double *m = met_of(w, c, i) + MET_NORMAL;
        double alike = (n[0] * m[0] + n[1] * m[1]) + n[2] * m[2];
        if (met_of(w, c, i)[MET_SLOT] >= 0 || !(alike > best)) continue;
        best = alike;
        who = i;
        what = j;
      }
    }
    if (who == none) return;
    GLOBAL double *met = met_of(w, c, who);
    GLOBAL const double *kept = kept_of(w, c, what);
    met[MET_SLOT] = what;
    for (u32 k = 0; k < springs; k++) met[MET_STRAIN + k] = kept[k];
    for (u32 k = springs; k < fields; k++) met[MET_HIT + k - springs] = kept[k];
  }
}

/* What goes on in none of the contacts ends; then contact i is in slot i. */
FUNCTION void remember(const meshes *w, const encounter *c, u32 count) {
  u32 springs = KEPT_SPRINGS(w->features), fields = KEPT_FIELDS(w->features);
  for (u32 j = 0; j < c->count && facet_touches(w->facets, c->first + j); j++) {
    if (is_taken(w, c, count, j)) continue;
    met_of(w, c, j)[MET_LOST] = end_at_surface(&c->own, c->surface, w->frame, c->number, j, c->law, kept_of(w, c, j),
                                               w->features, w->events);
  }
  for (u32 i = 0; i < c->count; i++) {
    GLOBAL double *kept = kept_of(w, c, i);
    GLOBAL const double *met = met_of(w, c, i);
    w->facets[FACET_FIELDS * (u64)(c->first + i) + FACET_SURFACE] = c->number | (i < count ? FACET_TOUCHES : 0);
    if (i >= count) continue;
    for (u32 k = 0; k < springs; k++) kept[k] = met[MET_STRAIN + k];
    for (u32 k = springs; k < fields; k++) kept[k] = met[MET_HIT + k - springs];
    for (u32 k = 0; k < 3; k++) kept[FACET_KEPT_NORMAL(w->features) + k] = met[MET_NORMAL + k];
  }
}

/* ---- forces ------------------------------------------------------------------------------------------------------ */

FUNCTION void touch_surface(const meshes *w, const encounter *c, GLOBAL const double *met, sides *s) {
  double distance = met[MET_DISTANCE], point[3], velocity[3];
  s->overlap = c->own.at[3] - distance;
  s->arm[0] = c->own.at[3] - 0.5 * s->overlap;
  s->arm[1] = 0;
  copy(met + MET_NORMAL, 3, s->n);
  for (u32 k = 0; k < 3; k++) point[k] = c->own.at[k] - s->arm[0] * s->n[k];
  surface_velocity(c->surface, w->frame, point, velocity);
  for (u32 k = 0; k < 3; k++) {
    s->u[k] = c->own.velocity[k] - (velocity[k] + c->law[LAW_SURFACE + k]);
    s->spin[0][k] = c->spin[k];
    s->spin[1][k] = c->surface[SURFACE_SPIN + k];
    s->spring[k] = met[MET_STRAIN + k];
  }
  s->inverse_mass = c->own.velocity[3];
  s->inverse_inertia = c->spin[3];
  s->share = 1;
  s->reduced = c->own.at[3];
}

/* Contact i does what it does; then its place has that. */
FUNCTION void add_facet(const meshes *w, const encounter *c, u32 i) {
  GLOBAL double *met = met_of(w, c, i), *kept = kept_of(w, c, i);
  u32 features = (w->features | FEATURE_TANGENTIAL) & ~FEATURE_SIMPLE, began = met[MET_SLOT] < 0;
  sides s;
  outcome o;
  touch_surface(w, c, met, &s);
  apply_law(c->law, &s, w->frame[FRAME_DT], features, &o);
  for (u32 k = 0; k < 3; k++) {
    met[MET_FORCE + k] = o.force[k];
    met[MET_TORQUE + k] = o.torque[k];
  }
  met[MET_DISSIPATED] = o.dissipated;
  if (w->mode == PASS_LOOK) return;
  for (u32 k = 0; k < KEPT_SPRINGS(features); k++) kept[k] = o.spring[k];
  if ((features & FEATURE_EVENTS) == 0) return;
  meeting m;
  meet_surface(&c->own, c->surface, w->frame, c->number, i, s.n, s.overlap, &m);
  follow(kept + KEPT_SPRINGS(features), began, &o, w->frame[FRAME_DT], w->events, &m);
}

FUNCTION void add_surface(const meshes *w, const encounter *c) {
  u32 remembers = (w->features & FEATURE_REMEMBERS) != 0;
  for (u32 i = 0; i < c->count; i++) met_of(w, c, i)[MET_LOST] = 0;
  u32 count = keep_least(w, c, find_met(w, c));
  if (remembers) recall(w, c, count);
  if (remembers && w->mode != PASS_LOOK) remember(w, c, count);
  for (u32 i = 0; i < count; i++) add_facet(w, c, i);
  for (u32 i = count; i < c->count; i++) {
    for (u32 k = 0; k <= MET_DISSIPATED; k++) met_of(w, c, i)[k] = 0;
  }
}

/* near_count: of balls. */
KERNEL(64) mesh_touch(GLOBAL const double *RESTRICT frame, GLOBAL const double *RESTRICT laws,
                      GLOBAL const double *RESTRICT kinds, GLOBAL const double *RESTRICT surfaces,
                      GLOBAL const double *RESTRICT triangles, GLOBAL const real *RESTRICT rows,
                      GLOBAL const u32 *RESTRICT facts, GLOBAL const u32 *RESTRICT start, GLOBAL u32 *RESTRICT facets,
                      GLOBAL double *RESTRICT kept, GLOBAL double *RESTRICT met, GLOBAL const u32 *RESTRICT near,
                      GLOBAL const double *RESTRICT near_at, GLOBAL const u32 *RESTRICT flags,
                      GLOBAL u64 *RESTRICT events, GLOBAL u32 *RESTRICT event_count, u32 near_count, u32 materials,
                      u32 features, u32 mode, u32 slot, u32 room) {
  u32 n = GROUP * 64 + ITEM;
  if (n >= near_count || flags[slot] != 0) return;
  const told t = {events, event_count, room, slot};
  const meshes w = {frame, laws, surfaces, triangles, facets, kept, met, t, materials, features, mode};
  u32 i = near[n], end = start[i + 1];
  encounter c;
  load_party(rows, facts, i, &c.own);
  load(rows, i, ROW_SPIN, c.spin);
  copy(near_at + 3 * (u64)n, 3, c.origin);
  c.material = (u32)kind_of(kinds, facts, i)[KIND_MATERIAL];
  for (c.first = start[i]; c.first < end; c.first += c.count) {
    c.number = surface_of(facets, c.first);
    c.count = surface_end(facets, c.first, end) - c.first;
    c.surface = surfaces + SURFACE_FIELDS * (u64)c.number;
    c.law = laws + LAW_FIELDS * (u64)(c.material * materials + (u32)c.surface[SURFACE_MATERIAL]);
    add_surface(&w, &c);
  }
}

/* ---- motion ------------------------------------------------------------------------------------------------------ */

FUNCTION void set_rotation(GLOBAL const double *q, GLOBAL double *rotation) {
  double w = q[0], x = q[1], y = q[2], z = q[3];
  rotation[0] = 1 - 2 * (y * y + z * z);
  rotation[1] = 2 * (x * y - w * z);
  rotation[2] = 2 * (x * z + w * y);
  rotation[3] = 2 * (x * y + w * z);
  rotation[4] = 1 - 2 * (x * x + z * z);
  rotation[5] = 2 * (y * z - w * x);
  rotation[6] = 2 * (x * z - w * y);
  rotation[7] = 2 * (y * z + w * x);
  rotation[8] = 1 - 2 * (x * x + y * y);
}

/* Surfaces go on by a step, after the pass of a slot if it was made; with `always` they do anyway. */
KERNEL(64) mesh_drive(GLOBAL const double *RESTRICT frame, GLOBAL double *RESTRICT surfaces,
                      GLOBAL const u32 *RESTRICT flags, u32 count, u32 slot, u32 always) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count || (!always && flags[slot] != 0)) return;
  GLOBAL double *surface = surfaces + SURFACE_FIELDS * (u64)i;
  double dt = frame[FRAME_DT], spin[3];
  if (surface[SURFACE_MOVES] == 0) return;
  for (u32 k = 0; k < 3; k++) {
    spin[k] = surface[SURFACE_SPIN + k];
    surface[SURFACE_POSITION + k] += dt * surface[SURFACE_VELOCITY + k];
  }
  turn_body(surface + SURFACE_ORIENTATION, spin, dt);
  set_rotation(surface + SURFACE_ORIENTATION, surface + SURFACE_ROTATION);
}
