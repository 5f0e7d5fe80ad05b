/* Two shapes: where they touch, or may soon.
 *
 * Every shape is a core, a point, a segment or a polytope with faces, and all that is within a radius of it. Cores that
 * are apart have nearest points; where a segment lies along a face, it is clipped by it, which gives two points. Cores
 * that overlap are moved out along the axis of least overlap. */
#include <string.h>

#include "rigid/rigid.h"
#include "rigid/vector.h"

/* A segment whose sine with a face, or with another segment, is smaller than this lies along it. */
static const double along = 0.05;

/* Points in the making: in a's or b's own axes. */
typedef struct touching {
  double normal[3]; /* from the other body to this one */
  uint32_t count;
  patch_point points[MOST_PATCH]; /* in the middle between the two surfaces */
} touching;

/* ---- no more than four points ---------------------------------------------------------------------------------- */

static double distance2(const double a[3], const double b[3]) {
  double way[3];
  sub3(a, b, way);
  return dot3(way, way);
}

static double doubled_area(const double a[3], const double b[3], const double c[3], const double normal[3]) {
  double u[3], v[3], n[3];
  sub3(b, a, u);
  sub3(c, a, v);
  cross3(u, v, n);
  return dot3(n, normal);
}

/* The deepest, the one farthest from it, and those that span most on either side. */
uint32_t gz_rigid_reduce(patch_point *points, uint32_t point_count, const double normal[3]) {
  patch_point best[MOST_POINTS];
  uint32_t chosen[MOST_POINTS] = {0, 0, 0, 0};
  if (point_count <= MOST_POINTS) return point_count;
  for (uint32_t i = 1; i < point_count; i++) {
    if (points[i].gap < points[chosen[0]].gap) chosen[0] = i;
  }
  const double *a = points[chosen[0]].at;
  for (uint32_t i = 0; i < point_count; i++) {
    if (distance2(points[i].at, a) > distance2(points[chosen[1]].at, a)) chosen[1] = i;
  }
  const double *b = points[chosen[1]].at;
  double most = 0, least = 0;
  chosen[2] = chosen[3] = UINT32_MAX;
  for (uint32_t i = 0; i < point_count; i++) {
    const double area = doubled_area(a, b, points[i].at, normal);
    if (area > most) chosen[2] = i;
    if (area < least) chosen[3] = i;
    most = fmax(most, area);
    least = fmin(least, area);
  }
  uint32_t count = 0;
  for (int i = 0; i < MOST_POINTS; i++) {
    if (chosen[i] == UINT32_MAX || (i == 1 && chosen[1] == chosen[0])) continue;
    best[count++] = points[chosen[i]];
  }
  memcpy(points, best, count * sizeof *best);
  return count;
}

static void reduce(touching *t) {
  t->count = gz_rigid_reduce(t->points, t->count, t->normal);
}

static void put_point(touching *t, const double on_this[3], double gap, double radius_this, uint32_t feature) {
  patch_point *p = &t->points[t->count++];
  add_scaled3(on_this, -radius_this - 0.5 * gap, t->normal, p->at); /* on_this: of the core */
  p->gap = gap;
  p->feature = feature;
  p->owner = 0;
}

/* ---- two round shapes ------------------------------------------------------------------------------------------ */

/* Nearest points of two segments, which may be points. C. Ericson, Real-Time Collision Detection, 5.1.9. */
static void meet_segments(const double p[3], const double q[3], const double r[3], const double s[3], double at[2][3]) {
  double u[3], v[3], w[3], t = 0, z = 0;
  sub3(q, p, u);
  sub3(s, r, v);
  sub3(p, r, w);
  const double a = dot3(u, u), e = dot3(v, v), f = dot3(v, w), c = dot3(u, w), b = dot3(u, v), det = a * e - b * b;
  if (a > 0 && e > 0) {
    t = det > 1e-12 * a * e ? fmin(fmax((b * f - c * e) / det, 0), 1) : 0;
    z = (b * t + f) / e;
    if (z < 0 || z > 1) {
      z = fmin(fmax(z, 0), 1);
      t = fmin(fmax((b * z - c) / a, 0), 1);
    }
  } else if (a > 0) {
    t = fmin(fmax(-c / a, 0), 1);
  } else if (e > 0) {
    z = fmin(fmax(f / e, 0), 1);
  }
  add_scaled3(p, t, u, at[0]);
  add_scaled3(r, z, v, at[1]);
}

/* The part of segment pq that stands over rs, if they lie along each other. */
static bool clip_along(const double p[3], const double q[3], const double r[3], const double s[3], double ends[2][3]) {
  double u[3], v[3], n[3];
  sub3(q, p, u);
  sub3(s, r, v);
  const double a = dot3(u, u), e = dot3(v, v);
  cross3(u, v, n);
  if (!(a > 0 && e > 0) || dot3(n, n) > along * along * a * e) return false;
  double way[3], from, to;
  sub3(r, p, way);
  from = dot3(way, u) / a;
  sub3(s, p, way);
  to = dot3(way, u) / a;
  const double low = fmax(fmin(from, to), 0), high = fmin(fmax(from, to), 1);
  if (!(high > low)) return false;
  add_scaled3(p, low, u, ends[0]);
  add_scaled3(p, high, u, ends[1]);
  return true;
}

/* The foot of a point on the line of a segment. */
static void find_foot(const double p[3], const double r[3], const double s[3], double foot[3]) {
  double v[3], way[3];
  sub3(s, r, v);
  sub3(p, r, way);
  add_scaled3(r, dot3(way, v) / dot3(v, v), v, foot);
}

/* Ends in one frame; `t` is told of the first of the two. */
static void touch_segments(const double first[2][3], double radius, const double second[2][3], double other_radius,
                           double margin, touching *t) {
  double at[2][3], ends[2][3], way[3];
  meet_segments(first[0], first[1], second[0], second[1], at);
  sub3(at[0], at[1], way);
  const double distance = length3(way), gap = distance - radius - other_radius;
  if (gap > margin) return;
  for (int k = 0; k < 3; k++) t->normal[k] = distance > 0 ? way[k] / distance : k == 2;
  if (!clip_along(first[0], first[1], second[0], second[1], ends)) {
    put_point(t, at[0], gap, radius, 0);
    return;
  }
  for (uint32_t i = 0; i < 2; i++) {
    double foot[3];
    find_foot(ends[i], second[0], second[1], foot);
    sub3(ends[i], foot, way);
    const double here = dot3(way, t->normal) - radius - other_radius;
    if (here <= margin) put_point(t, ends[i], here, radius, 1 + i);
  }
}

/* ---- a round shape and one with faces -------------------------------------------------------------------------- */

/* Whether a part of the segment is inside. */
static bool enters(const polytope *p, const double ends[2][3]) {
  double low = 0, high = 1;
  for (uint32_t f = 0; f < p->face_count; f++) {
    const double x = dot3(p->planes[f], ends[0]) - p->planes[f][3], y = dot3(p->planes[f], ends[1]) - p->planes[f][3];
    if (x > 0 && y > 0) return false;
    if (x > 0) low = fmax(low, x / (x - y));
    if (y > 0) high = fmin(high, x / (x - y));
  }
  return low <= high;
}

/* The nearest points of a segment outside and the polytope: ends against faces, and the segment against edges. */
static double find_nearest(const polytope *p, const double ends[2][3], uint32_t end_count, double at[2][3]) {
  double best = (double)INFINITY, out, found[2][3];
  for (uint32_t i = 0; i < end_count; i++) {
    gz_polytope_find_face(p, ends[i], &out);
    if (out <= 0) continue;
    gz_polytope_nearest(p, ends[i], found[1]);
    if (distance2(ends[i], found[1]) >= best) continue;
    best = distance2(ends[i], found[1]);
    memcpy(at[0], ends[i], sizeof at[0]);
    memcpy(at[1], found[1], sizeof at[1]);
  }
  for (uint32_t e = 0; e < p->edge_count && end_count > 1; e++) {
    const uint32_t *corners = p->edges[e].corners;
    meet_segments(ends[0], ends[1], p->corners[corners[0]], p->corners[corners[1]], found);
    if (distance2(found[0], found[1]) >= best) continue;
    best = distance2(found[0], found[1]);
    memcpy(at, found, sizeof found);
  }
  return sqrt(best);
}

/* The axis along which the segment has the shortest way out: a face, or across an edge. Points are where it is deepest.
 */
static void push_out(const polytope *p, const double ends[2][3], uint32_t end_count, double radius, touching *t) {
  double best = -(double)INFINITY, u[3], at[2][3];
  uint32_t face = 0;
  for (uint32_t f = 0; f < p->face_count; f++) {
    double out = dot3(p->planes[f], ends[0]);
    if (end_count > 1) out = fmin(out, dot3(p->planes[f], ends[1]));
    if (out - p->planes[f][3] <= best) continue;
    best = out - p->planes[f][3];
    face = f;
  }
  memcpy(t->normal, p->planes[face], sizeof t->normal);
  bool by_edge = false;
  sub3(ends[end_count - 1], ends[0], u);
  for (uint32_t e = 0; e < p->edge_count && end_count > 1; e++) {
    double v[3], n[3], way[3], most = -(double)INFINITY;
    const double *from = p->corners[p->edges[e].corners[0]];
    sub3(p->corners[p->edges[e].corners[1]], from, v);
    cross3(u, v, n);
    const double length = length3(n);
    if (length * length < 1e-6 * dot3(u, u) * dot3(v, v)) continue;
    const double sign = dot3(n, from) < 0 ? -1 : 1;
    for (int k = 0; k < 3; k++) n[k] *= sign / length;
    for (uint32_t i = 0; i < p->corner_count; i++) most = fmax(most, dot3(n, p->corners[i]));
    sub3(ends[0], from, way);
    const double out = dot3(n, ends[0]) - most;
    if (out <= best + 1e-3 * fabs(best)) continue;
    best = out;
    by_edge = true;
    memcpy(t->normal, n, sizeof n);
    meet_segments(ends[0], ends[1], from, p->corners[p->edges[e].corners[1]], at);
  }
  if (by_edge) {
    put_point(t, at[0], best - radius, radius, 0x100);
    return;
  }
  for (uint32_t i = 0; i < end_count; i++)
    put_point(t, ends[i], dot3(p->planes[face], ends[i]) - p->planes[face][3] - radius, radius, 0x200 + i);
}

/* A face that the segment lies along, at its nearest point: two points. */
static bool lies_along(const polytope *p, const double ends[2][3], double radius, double margin, touching *t) {
  uint32_t face = 0;
  double u[3], clipped[2][3];
  for (uint32_t f = 1; f < p->face_count; f++) {
    if (dot3(p->planes[f], t->normal) > dot3(p->planes[face], t->normal)) face = f;
  }
  const double *normal = p->planes[face];
  sub3(ends[1], ends[0], u);
  if (dot3(normal, t->normal) < 1 - along * along || fabs(dot3(normal, u)) > along * length3(u)) return false;
  memcpy(clipped, ends, sizeof clipped);
  if (!gz_polytope_clip_segment(p, face, clipped) || distance2(clipped[0], clipped[1]) < 1e-6 * dot3(u, u))
    return false;
  memcpy(t->normal, normal, sizeof t->normal);
  for (uint32_t i = 0; i < 2; i++) {
    const double gap = dot3(normal, clipped[i]) - p->planes[face][3] - radius;
    if (gap <= margin) put_point(t, clipped[i], gap, radius, 0x300 + 2 * face + i);
  }
  return true;
}

/* The ends in the polytope's frame; `t` is told of the round shape. */
static void touch_faces(const double ends[2][3], uint32_t end_count, double radius, const polytope *p, double margin,
                        touching *t) {
  double at[2][3], way[3];
  const bool inside = enters(p, ends);
  const double distance = inside ? 0 : find_nearest(p, ends, end_count, at);
  if (distance - radius > margin) return;
  if (inside || distance < 1e-9 * radius) {
    push_out(p, ends, end_count, radius, t);
    return;
  }
  sub3(at[0], at[1], way);
  for (int k = 0; k < 3; k++) t->normal[k] = way[k] / distance;
  if (end_count > 1 && lies_along(p, ends, radius, margin, t)) return;
  put_point(t, at[0], distance - radius, radius, 0x400);
}

/* ---- walls ----------------------------------------------------------------------------------------------------- */

/* In the world's axes about a's centre. */
static void touch_wall(const rigid_body *a, const rigid_body *wall, double margin, touching *t) {
  double way[3];
  memcpy(t->normal, wall->rotation, sizeof t->normal); /* a wall's first row is its normal */
  sub3(a->position, wall->position, way);
  const double height = dot3(t->normal, way) - a->radius;
  for (uint32_t i = 0; i < a->core.corner_count && t->count < MOST_PATCH; i++) {
    double at[3];
    turn3(a->rotation, a->core.corners[i], at);
    const double gap = height + dot3(t->normal, at);
    if (gap <= margin) put_point(t, at, gap, a->radius, i);
  }
  reduce(t);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

/* A core's ends in the other's frame. */
static void find_ends(const rigid_body *round, const rigid_body *other, double ends[2][3]) {
  double way[3], at[3];
  sub3(round->position, other->position, way);
  for (uint32_t i = 0; i < 2; i++) {
    turn3(round->rotation, round->core.corners[i < round->core.corner_count ? i : 0], at);
    for (int k = 0; k < 3; k++) at[k] += way[k];
    turn_back3(other->rotation, at, ends[i]);
  }
}

/* From the frame of `frame`, a or b, into the bodies' own; `sign` -1: it was told of b. */
static void put_contact(const rigid_body *a, const rigid_body *b, const rigid_body *frame, double sign,
                        const touching *t, rigid_contact *contact) {
  static const double same[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double *rotation = frame != NULL ? frame->rotation : same, *other = b->is_wall ? same : b->rotation;
  const rigid_body *from = frame != NULL ? frame : a;
  double start[3], between[3];
  sub3(from->position, a->position, start);
  sub3(b->position, a->position, between);
  turn3(rotation, t->normal, contact->normal);
  for (int k = 0; k < 3; k++) contact->normal[k] *= sign;
  contact->count = t->count;
  for (uint32_t i = 0; i < t->count; i++) {
    rigid_point *p = &contact->points[i];
    double at[3], on[3];
    turn3(rotation, t->points[i].at, at);
    for (int k = 0; k < 3; k++) at[k] += start[k];
    const double gap = t->points[i].gap;
    add_scaled3(at, 0.5 * gap + a->radius, contact->normal, on);
    turn_back3(a->rotation, on, p->own[0]);
    add_scaled3(at, -0.5 * gap - b->radius, contact->normal, on);
    sub3(on, between, on);
    turn_back3(other, on, p->own[1]);
    p->gap = gap;
    p->feature = t->points[i].feature;
    p->owner = sign < 0 ? 1 - t->points[i].owner : t->points[i].owner;
    p->pressed = 0;
  }
}

/* ---- what is known from before --------------------------------------------------------------------------------- */

/* Points are used again as long as nothing has moved by more than this part of the smaller body, and the axis by that.
 */
static const double still = 0.005, settled = 0.02;

void gz_rigid_find_stand(const rigid_body *a, const rigid_body *b, rigid_stand *stand) {
  const double *p = a->orientation, *q = b->orientation;
  double way[3];
  sub3(b->position, a->position, way);
  turn_back3(a->rotation, way, stand->place);
  stand->turn[0] = (p[0] * q[0] + p[1] * q[1]) + (p[2] * q[2] + p[3] * q[3]);
  stand->turn[1] = (p[0] * q[1] - p[1] * q[0]) - (p[2] * q[3] - p[3] * q[2]);
  stand->turn[2] = (p[0] * q[2] - p[2] * q[0]) - (p[3] * q[1] - p[1] * q[3]);
  stand->turn[3] = (p[0] * q[3] - p[3] * q[0]) - (p[1] * q[2] - p[2] * q[1]);
}

/* A chord is at most twice that of the quaternions times the reach. */
double gz_rigid_find_shift(double reach, const rigid_stand *from, const rigid_stand *to) {
  double way[3], less = 0, more = 0;
  sub3(to->place, from->place, way);
  for (int k = 0; k < 4; k++) {
    less += (to->turn[k] - from->turn[k]) * (to->turn[k] - from->turn[k]);
    more += (to->turn[k] + from->turn[k]) * (to->turn[k] + from->turn[k]);
  }
  return length3(way) + 2 * reach * sqrt(fmin(less, more));
}

/* The axis may be that of a contact without points, which is apart along it. */
static bool use_again(const rigid_body *a, const rigid_body *b, double margin, double spare, const rigid_stand *now,
                      rigid_contact *c) {
  const rigid_cache *known = &c->cache;
  const double least = fmin(a->least, b->least), shift = gz_rigid_find_shift(b->reach, &known->at_points, now);
  if (known->axis.kind == AXIS_NONE) return false;
  if (c->count == 0) return known->axis.out - gz_rigid_find_shift(b->reach, &known->at_axis, now) > margin - spare;
  if (shift > still * least || margin - spare + shift > known->margin) return false;
  turn3(known->axis.kind == AXIS_SECOND ? b->rotation : a->rotation, known->normal, c->normal);
  return true;
}

static void keep_pressed(rigid_contact *c, const rigid_point *old, uint32_t count) {
  for (uint32_t i = 0; i < c->count; i++) {
    for (uint32_t k = 0; k < count; k++) {
      if (c->points[i].feature == old[k].feature) c->points[i].pressed = old[k].pressed;
    }
  }
}

static bool is_same(const polytope_axis *x, const polytope_axis *y) {
  return x->kind == y->kind && x->first == y->first && x->second == y->second && x->out == y->out;
}

static void collide_polytopes(const rigid_body *a, const rigid_body *b, double margin, const rigid_stand *now,
                              rigid_cache *known, touching *t) {
  double rotation[9];
  for (int i = 0; i < 9; i++) {
    rotation[i] = 0;
    for (int k = 0; k < 3; k++) rotation[i] += a->rotation[3 * k + i / 3] * b->rotation[3 * k + i % 3];
  }
  if (!(gz_rigid_find_shift(b->reach, &known->at_axis, now) <= settled * fmin(a->least, b->least)))
    known->axis.kind = AXIS_NONE;
  const polytope_axis before = known->axis;
  t->count = gz_polytope_collide(&a->core, &b->core, rotation, now->place, margin, &known->axis, t->normal, t->points);
  if (!is_same(&before, &known->axis)) known->at_axis = *now;
  known->at_points = *now;
  known->margin = margin;
  reduce(t);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void collide_round(const rigid_body *a, const rigid_body *b, double margin, touching *t,
                          const rigid_body **frame, double *sign) {
  double ends[2][3], others[2][3];
  if (b->core.face_count > 0) {
    find_ends(a, b, ends);
    touch_faces((const double(*)[3])ends, a->core.corner_count, a->radius, &b->core, margin, t);
    *frame = b;
  } else if (a->core.face_count > 0) {
    find_ends(b, a, ends);
    touch_faces((const double(*)[3])ends, b->core.corner_count, b->radius, &a->core, margin, t);
    *sign = -1;
  } else {
    find_ends(a, a, ends);
    find_ends(b, a, others);
    touch_segments((const double(*)[3])ends, a->radius, (const double(*)[3])others, b->radius, margin, t);
  }
}

static void collide_anew(const rigid_body *a, const rigid_body *b, double margin, const rigid_stand *now,
                         rigid_contact *c) {
  touching t;
  const rigid_body *frame = a;
  double sign = 1;
  t.count = 0;
  if (b->is_wall) {
    touch_wall(a, b, margin, &t);
    frame = NULL;
  } else if (now != NULL) {
    collide_polytopes(a, b, margin, now, &c->cache, &t);
  } else {
    collide_round(a, b, margin, &t, &frame, &sign);
  }
  c->count = t.count;
  if (t.count > 0) put_contact(a, b, frame, sign, &t, c);
  if (t.count > 0 && now != NULL)
    turn_back3(c->cache.axis.kind == AXIS_SECOND ? b->rotation : a->rotation, c->normal, c->cache.normal);
}

bool gz_rigid_collide(const rigid_body *a, const rigid_body *b, double margin, double spare, rigid_contact *contact) {
  const bool has_faces = a->core.face_count > 0 && b->core.face_count > 0;
  rigid_point old[MOST_POINTS];
  rigid_stand now;
  const uint32_t count = contact->count;
  contact->radii[0] = a->radius;
  contact->radii[1] = b->radius;
  if (has_faces) {
    gz_rigid_find_stand(a, b, &now);
    if (use_again(a, b, margin, spare, &now, contact)) return false;
  }
  memcpy(old, contact->points, count * sizeof *old);
  collide_anew(a, b, margin, has_faces ? &now : NULL, contact);
  keep_pressed(contact, old, count);
  return true;
}

double gz_rigid_find_gap(const rigid_body *a, const rigid_body *b, const rigid_contact *contact,
                         const rigid_point *point, double arms[2][3]) {
  double on_a[3], on_b[3], between[3], way[3];
  turn3(a->rotation, point->own[0], on_a);
  if (b->is_wall)
    memcpy(on_b, point->own[1], sizeof on_b);
  else
    turn3(b->rotation, point->own[1], on_b);
  sub3(a->position, b->position, between);
  for (int k = 0; k < 3; k++) way[k] = between[k] + (on_a[k] - on_b[k]);
  const double *radii = contact->radii, gap = dot3(contact->normal, way) - (radii[0] + radii[1]);
  if (arms == NULL) return gap;
  for (int k = 0; k < 3; k++) {
    const double n = contact->normal[k];
    arms[0][k] =
        point->owner == 0 ? on_a[k] - (radii[0] + 0.5 * gap) * n : (on_b[k] + (radii[1] + 0.5 * gap) * n) - between[k];
    arms[1][k] = arms[0][k] + between[k];
  }
  return gap;
}
