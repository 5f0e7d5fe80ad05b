/* Separating axes and clipping; see the header. */
#include "rigid/polytope.h"

#include <string.h>

#include "rigid/vector.h"

enum { MOST_CORNERS = 256 };

/* A feature that takes turns with one about as good makes patches jump: the first kind is kept unless another is better
 * by so much of the size. */
static const double preference = 1e-3;

/* Of an axis across edges and the face beside them, with what cosine the face may soon lie on another. */
static const double level = 0.9;

typedef struct posed {
  double corners[MOST_CORNERS][3];
  double planes[MOST_CORNERS][4];
} posed;

static void pose(const polytope *p, const double rotation[9], const double place[3], posed *out) {
  for (uint32_t i = 0; i < p->corner_count; i++) {
    turn3(rotation, p->corners[i], out->corners[i]);
    for (int k = 0; k < 3; k++) out->corners[i][k] += place[k];
  }
  for (uint32_t i = 0; i < p->face_count; i++) {
    turn3(rotation, p->planes[i], out->planes[i]);
    out->planes[i][3] = p->planes[i][3] + dot3(out->planes[i], place);
  }
}

/* ---- separating axes ------------------------------------------------------------------------------------------- */

static polytope_axis find_face_axis(const polytope *p, const double (*planes)[4], uint32_t corner_count,
                                    const double (*corners)[3]) {
  polytope_axis best = {.out = -(double)INFINITY};
  for (uint32_t f = 0; f < p->face_count; f++) {
    double least = (double)INFINITY;
    for (uint32_t i = 0; i < corner_count; i++) {
      const double out = dot3(planes[f], corners[i]) - planes[f][3];
      least = out < least ? out : least;
    }
    if (least > best.out) best = (polytope_axis){.out = least, .first = f};
  }
  return best;
}

/* The unit normal across two edges, from a to b: between the faces of a. False: they are about parallel, and faces
 * tell.
 */
static bool cross_edges(const double u[3], const double v[3], const double n[3], const double m[3], double normal[3]) {
  cross3(u, v, normal);
  const double length = length3(normal);
  if (length * length < 1e-6 * dot3(u, u) * dot3(v, v)) return false;
  const double sign = dot3(normal, n) + dot3(normal, m) < 0 ? -1 : 1;
  for (int k = 0; k < 3; k++) normal[k] *= sign / length;
  return true;
}

/* Edges make a face of the Minkowski difference where arcs of the two Gauss maps cross: that from n to m, the faces of
 * a's edge u, and that between the opposites of the faces of b's edge v. An arc turns about its edge, so that signs
 * tell on which sides of either arc the ends of the other are. How b's faces look along u is found once for each u. */
static polytope_axis find_edge_axis(const polytope *a, const polytope *b, const posed *other) {
  polytope_axis best = {.out = -(double)INFINITY};
  double along[MOST_CORNERS];
  for (uint32_t i = 0; i < a->edge_count; i++) {
    const polytope_edge *e = &a->edges[i];
    double u[3];
    const double *from = a->corners[e->corners[0]], *n = a->planes[e->faces[0]], *m = a->planes[e->faces[1]];
    sub3(a->corners[e->corners[1]], from, u);
    for (uint32_t f = 0; f < b->face_count; f++) along[f] = -dot3(other->planes[f], u);
    for (uint32_t j = 0; j < b->edge_count; j++) {
      const polytope_edge *g = &b->edges[j];
      const double first = along[g->faces[0]], second = along[g->faces[1]];
      if (!(first * second < 0)) continue;
      double v[3], normal[3], way[3];
      const double *start = other->corners[g->corners[0]];
      sub3(other->corners[g->corners[1]], start, v);
      const double of_n = dot3(n, v), of_m = dot3(m, v);
      if (!(of_n * of_m < 0 && first * of_m > 0) || !cross_edges(u, v, n, m, normal)) continue;
      sub3(start, from, way);
      const double out = dot3(normal, way);
      if (out <= best.out) continue;
      best = (polytope_axis){AXIS_EDGES, i, j, out, {normal[0], normal[1], normal[2]}};
    }
  }
  return best;
}

/* The axis of edges as the polytopes stand. False: there is none any more. */
static bool renew_edges(const polytope *a, const polytope *b, const posed *other, polytope_axis *axis) {
  const polytope_edge *e = &a->edges[axis->first], *g = &b->edges[axis->second];
  double u[3], v[3], way[3];
  sub3(a->corners[e->corners[1]], a->corners[e->corners[0]], u);
  sub3(other->corners[g->corners[1]], other->corners[g->corners[0]], v);
  if (!cross_edges(u, v, a->planes[e->faces[0]], a->planes[e->faces[1]], axis->normal)) return false;
  sub3(other->corners[g->corners[0]], a->corners[e->corners[0]], way);
  axis->out = dot3(axis->normal, way);
  return true;
}

/* ---- patches --------------------------------------------------------------------------------------------------- */

static uint32_t clip(const patch_point *in, uint32_t count, const double normal[3], double offset, uint32_t side,
                     patch_point *out) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    const patch_point *p = &in[i], *q = &in[(i + 1) % count];
    const double x = dot3(normal, p->at) - offset, y = dot3(normal, q->at) - offset;
    if (x <= 0 && kept < MOST_PATCH) out[kept++] = *p;
    if ((x <= 0) == (y <= 0) || kept >= MOST_PATCH) continue;
    patch_point *r = &out[kept++];
    const double t = x / (x - y);
    for (int k = 0; k < 3; k++) r->at[k] = p->at[k] + t * (q->at[k] - p->at[k]);
    r->feature =
        ((p->feature & 0xffffu) * 31 + (q->feature & 0xffffu) * 17 + side + 1) | (x <= 0 ? 0x10000u : 0x20000u);
  }
  return kept;
}

/* The plane upright on a face at its edge from corner i on; the inside has n.x <= offset. */
static double side_plane(const double (*corners)[3], const uint32_t *loop, uint32_t count, uint32_t i,
                         const double normal[3], double side[3]) {
  const double *from = corners[loop[i]], *to = corners[loop[(i + 1) % count]];
  double u[3];
  sub3(to, from, u);
  cross3(u, normal, side);
  const double length = length3(side);
  for (int k = 0; k < 3; k++) side[k] /= length;
  return dot3(side, from);
}

/* A polytope as it stands. */
typedef struct seen {
  const polytope *p;
  const double (*planes)[4], (*corners)[3];
} seen;

/* What lies over the reference face of the face that looks at it most; gaps are measured along `way`, which leans from
 * its normal. */
static uint32_t make_patch(const seen *p, uint32_t face, const seen *q, const double way[3], double margin,
                           patch_point *points) {
  patch_point room[MOST_PATCH], *from = points, *to = room;
  const double *normal = p->planes[face], steepness = dot3(normal, way);
  uint32_t incident = 0, count = 0;
  for (uint32_t f = 1; f < q->p->face_count; f++) {
    if (dot3(q->planes[f], normal) < dot3(q->planes[incident], normal)) incident = f;
  }
  for (uint32_t i = q->p->face_first[incident]; i < q->p->face_first[incident + 1]; i++) {
    memcpy(from[count].at, q->corners[q->p->face_corners[i]], sizeof from[count].at);
    from[count++].feature = q->p->face_corners[i];
  }
  const uint32_t first = p->p->face_first[face], length = p->p->face_first[face + 1] - first;
  for (uint32_t i = 0; i < length && count > 0; i++) {
    double side[3];
    const double offset = side_plane(p->corners, p->p->face_corners + first, length, i, normal, side);
    count = clip(from, count, side, offset, i, to);
    patch_point *swap = from;
    from = to;
    to = swap;
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    patch_point r = from[i];
    r.gap = (dot3(normal, r.at) - p->planes[face][3]) / steepness;
    if (r.gap > margin) continue;
    for (int k = 0; k < 3; k++) r.at[k] -= 0.5 * r.gap * way[k];
    points[kept++] = r;
  }
  return kept;
}

static bool is_over(const seen *p, uint32_t face, const double at[3]) {
  const uint32_t first = p->p->face_first[face], length = p->p->face_first[face + 1] - first;
  for (uint32_t i = 0; i < length; i++) {
    double side[3];
    const double offset = side_plane(p->corners, p->p->face_corners + first, length, i, p->planes[face], side);
    if (dot3(side, at) > offset) return false;
  }
  return true;
}

static patch_point find_deepest(const double plane[4], const seen *q) {
  patch_point deepest = {.gap = (double)INFINITY};
  for (uint32_t i = 0; i < q->p->corner_count; i++) {
    const double gap = dot3(plane, q->corners[i]) - plane[3];
    if (gap < deepest.gap) deepest = (patch_point){.gap = gap, .feature = i};
  }
  add_scaled3(q->corners[deepest.feature], -0.5 * deepest.gap, plane, deepest.at);
  return deepest;
}

/* Whether the deepest corner counts: the face that looks at the reference face most need not have it, as with
 * splinters. NEARBY: if it lies over the reference face. ALWAYS: also if else an overlap would be without a point. */
typedef enum deepest_rule { NEVER, NEARBY, ALWAYS } deepest_rule;

static uint32_t add_deepest(const seen *p, uint32_t face, const seen *q, deepest_rule rule, patch_point *points,
                            uint32_t count) {
  if (rule == NEVER) return count;
  const patch_point deepest = find_deepest(p->planes[face], q);
  if (deepest.gap > 0 || count == MOST_PATCH) return count;
  for (uint32_t i = 0; i < count; i++) {
    if (points[i].feature == deepest.feature || points[i].gap <= deepest.gap) return count;
  }
  const bool is_needed = rule == ALWAYS && count == 0;
  if (!is_needed && !is_over(p, face, q->corners[deepest.feature])) return count;
  points[count] = deepest;
  return count + 1;
}

/* The nearest points of two lines that are not parallel. */
static void meet_edges(const double p[3], const double q[3], const double r[3], const double s[3], double at[2][3]) {
  double u[3], v[3], w[3];
  sub3(q, p, u);
  sub3(s, r, v);
  sub3(p, r, w);
  const double a = dot3(u, u), b = dot3(u, v), c = dot3(v, v), d = dot3(u, w), e = dot3(v, w), det = a * c - b * b;
  double t = det > 0 ? (b * e - c * d) / det : 0, z = det > 0 ? (a * e - b * d) / det : 0;
  t = fmin(fmax(t, 0), 1);
  z = fmin(fmax(z, 0), 1);
  add_scaled3(p, t, u, at[0]);
  add_scaled3(r, z, v, at[1]);
}

static double size_of(const polytope *p) {
  double size = 0;
  for (uint32_t f = 0; f < p->face_count; f++) size = fmax(size, fabs(p->planes[f][3]));
  return size;
}

/* The one with the most room: faces before edges, and the first before the second, unless the other is better. What is
 * apart by more than the margin is so along the axis that says so first. */
static void find_axis(const polytope *a, const polytope *b, const posed *other, double margin, polytope_axis *axis) {
  const double better = preference * fmin(size_of(a), size_of(b));
  *axis = find_face_axis(a, (const double(*)[4])a->planes, b->corner_count, other->corners);
  axis->kind = AXIS_FIRST;
  if (axis->out > margin) return;
  const polytope_axis of_b =
      find_face_axis(b, (const double(*)[4])other->planes, a->corner_count, (const double(*)[3])a->corners);
  const double most = fmax(axis->out, of_b.out);
  if (of_b.out > axis->out + better || of_b.out > margin) {
    *axis = of_b;
    axis->kind = AXIS_SECOND;
  }
  if (axis->out > margin) return;
  const polytope_axis of_edges = find_edge_axis(a, b, other);
  if (of_edges.out > most + better || of_edges.out > margin) *axis = of_edges;
}

/* Of the two faces at an edge, the one that looks along the axis more; with what cosine. */
static uint32_t find_beside(const double (*planes)[4], const polytope_edge *edge, const double axis[3],
                            double *cosine) {
  const double x = dot3(planes[edge->faces[0]], axis), y = dot3(planes[edge->faces[1]], axis);
  *cosine = fmax(x, y);
  return edge->faces[y > x];
}

/* What lies over a face of a or, `by_b`, of b. */
static uint32_t touch_face(const polytope *a, const polytope *b, const posed *other, bool by_b, uint32_t face,
                           const double way[3], double margin, deepest_rule rule, patch_point points[MOST_PATCH]) {
  const seen of_a = {a, (const double(*)[4])a->planes, (const double(*)[3])a->corners},
             of_b = {b, (const double(*)[4])other->planes, (const double(*)[3])other->corners};
  const seen *p = by_b ? &of_b : &of_a, *q = by_b ? &of_a : &of_b;
  const uint32_t patch = make_patch(p, face, q, way, margin, points);
  const uint32_t count = add_deepest(p, face, q, rule, points, patch);
  for (uint32_t i = 0; i < count; i++) {
    points[i].owner = !by_b;
    points[i].feature |= by_b ? 0x80000u : 0;
  }
  return count;
}

/* What lies over the flatter one of the faces beside the edges, for with a little turn faces meet there. */
static uint32_t touch_beside(const polytope *a, const polytope *b, const posed *other, const polytope_axis *axis,
                             const double normal[3], double margin, patch_point points[MOST_PATCH]) {
  double of_a, of_b;
  const uint32_t first = find_beside((const double(*)[4])a->planes, &a->edges[axis->first], axis->normal, &of_a);
  const uint32_t second = find_beside((const double(*)[4])other->planes, &b->edges[axis->second], normal, &of_b);
  const bool by_b = of_b > of_a;
  if (fmax(of_a, of_b) < level) return 0;
  const uint32_t count =
      touch_face(a, b, other, by_b, by_b ? second : first, by_b ? normal : axis->normal, margin, NEVER, points);
  for (uint32_t i = 0; i < count; i++) points[i].feature |= 0x100000u;
  return count < MOST_PATCH ? count : MOST_PATCH - 1;
}

static uint32_t touch_edges(const polytope *a, const polytope *b, const posed *other, const polytope_axis *axis,
                            double margin, double normal[3], patch_point points[MOST_PATCH]) {
  const polytope_edge *e = &a->edges[axis->first], *g = &b->edges[axis->second];
  double at[2][3];
  for (int k = 0; k < 3; k++) normal[k] = -axis->normal[k];
  const uint32_t count = touch_beside(a, b, other, axis, normal, margin, points);
  meet_edges(a->corners[e->corners[0]], a->corners[e->corners[1]], other->corners[g->corners[0]],
             other->corners[g->corners[1]], at);
  patch_point *point = &points[count];
  for (int k = 0; k < 3; k++) point->at[k] = 0.5 * (at[0][k] + at[1][k]);
  point->gap = axis->out;
  point->feature = 0x40000000u + axis->first * 1024 + axis->second;
  point->owner = 0;
  return count + 1;
}

static uint32_t touch_along(const polytope *a, const polytope *b, const posed *other, const polytope_axis *axis,
                            double margin, deepest_rule rule, double normal[3], patch_point points[MOST_PATCH]) {
  if (axis->kind == AXIS_EDGES) return axis->out <= margin ? touch_edges(a, b, other, axis, margin, normal, points) : 0;
  const bool by_b = axis->kind == AXIS_SECOND;
  const double *way = by_b ? other->planes[axis->first] : a->planes[axis->first];
  for (int k = 0; k < 3; k++) normal[k] = by_b ? way[k] : -way[k];
  return touch_face(a, b, other, by_b, axis->first, way, margin, rule, points);
}

/* Whether a known axis, along which there is no point, has told all. That of a face has if nothing is below it; that of
 * edges only tells of the two as long as these are the nearest ones. */
static bool is_apart(const polytope *a, const polytope *b, const posed *other, const polytope_axis *axis) {
  const seen of_a = {a, (const double(*)[4])a->planes, (const double(*)[3])a->corners},
             of_b = {b, (const double(*)[4])other->planes, (const double(*)[3])other->corners};
  if (axis->kind == AXIS_EDGES) return false;
  if (axis->kind == AXIS_FIRST) return find_deepest(a->planes[axis->first], &of_b).gap > 0;
  return find_deepest(other->planes[axis->first], &of_a).gap > 0;
}

uint32_t gz_polytope_collide(const polytope *a, const polytope *b, const double rotation[9], const double place[3],
                             double margin, polytope_axis *axis, double normal[3], patch_point points[MOST_PATCH]) {
  polytope_axis here = *axis;
  posed other;
  pose(b, rotation, place, &other);
  if (axis->kind != AXIS_NONE && (axis->kind != AXIS_EDGES || renew_edges(a, b, &other, &here))) {
    const uint32_t count = touch_along(a, b, &other, &here, margin, NEARBY, normal, points);
    if (count > 0 || is_apart(a, b, &other, &here)) return count;
  }
  find_axis(a, b, &other, margin, axis);
  return axis->out > margin ? 0 : touch_along(a, b, &other, axis, margin, ALWAYS, normal, points);
}

/* ---- points and segments --------------------------------------------------------------------------------------- */

uint32_t gz_polytope_find_face(const polytope *p, const double point[3], double *out) {
  uint32_t best = 0;
  *out = -(double)INFINITY;
  for (uint32_t f = 0; f < p->face_count; f++) {
    const double d = dot3(p->planes[f], point) - p->planes[f][3];
    if (d <= *out) continue;
    *out = d;
    best = f;
  }
  return best;
}

/* Of a face: its nearest point to one over it is the foot, else one on an edge. */
static double nearest_of_face(const polytope *p, uint32_t face, const double point[3], double nearest[3]) {
  const uint32_t *loop = p->face_corners + p->face_first[face], count = p->face_first[face + 1] - p->face_first[face];
  const double *normal = p->planes[face], out = dot3(normal, point) - p->planes[face][3];
  double best = (double)INFINITY, way[3];
  bool inside = true;
  add_scaled3(point, -out, normal, nearest);
  for (uint32_t i = 0; i < count; i++) {
    double side[3];
    const double offset = side_plane((const double(*)[3])p->corners, loop, count, i, normal, side);
    if (dot3(side, nearest) > offset) inside = false;
  }
  if (inside) return out * out;
  for (uint32_t i = 0; i < count; i++) {
    const double *from = p->corners[loop[i]], *to = p->corners[loop[(i + 1) % count]];
    double u[3], foot[3];
    sub3(to, from, u);
    sub3(point, from, way);
    const double t = fmin(fmax(dot3(way, u) / dot3(u, u), 0), 1);
    add_scaled3(from, t, u, foot);
    sub3(point, foot, way);
    if (dot3(way, way) >= best) continue;
    best = dot3(way, way);
    memcpy(nearest, foot, sizeof foot);
  }
  return best;
}

void gz_polytope_nearest(const polytope *p, const double point[3], double nearest[3]) {
  double best = (double)INFINITY;
  for (uint32_t f = 0; f < p->face_count; f++) {
    double at[3];
    if (dot3(p->planes[f], point) <= p->planes[f][3]) continue;
    const double distance2 = nearest_of_face(p, f, point, at);
    if (distance2 >= best) continue;
    best = distance2;
    memcpy(nearest, at, sizeof at);
  }
}

bool gz_polytope_clip_segment(const polytope *p, uint32_t face, double ends[2][3]) {
  const uint32_t *loop = p->face_corners + p->face_first[face], count = p->face_first[face + 1] - p->face_first[face];
  for (uint32_t i = 0; i < count; i++) {
    double side[3];
    const double offset = side_plane((const double(*)[3])p->corners, loop, count, i, p->planes[face], side);
    const double x = dot3(side, ends[0]) - offset, y = dot3(side, ends[1]) - offset;
    if (x > 0 && y > 0) return false;
    if (x <= 0 && y <= 0) continue;
    const double t = x / (x - y);
    double *moved = x > 0 ? ends[0] : ends[1];
    for (int k = 0; k < 3; k++) moved[k] = ends[0][k] + t * (ends[1][k] - ends[0][k]);
  }
  return true;
}
