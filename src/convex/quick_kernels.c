/* Whether two hulls meet, without their images: most pairs are settled by a few directions and a few points.
 *
 * GJK, but a direction is taken into the frame of each hull in place of the vertices out of it, so that only the points
 * that are found are posed; and as only a yes or no is wanted, the simplex gives a direction towards the origin from
 * its feature that faces it, by signs and cross products (C. Ericson, "Real-Time Collision Detection", 2005, 9.5),
 * without divisions. What a claim needs is proved all the same, for the points of tier T1 and for the real images
 * alike; what is not proved is left open. quick_pair.h has the bounds.
 */
#include "base/vector3.h"
#include "convex/farthest.h"
#include "convex/quick.h"
#include "convex/quick_pair.h"

/* The point of A - B farthest along d, and the product. */
static convex_point find_point(const quick_pair *q, const double d[3], double *product) {
  double n[2][3];
  for (int s = 0; s < 2; s++) {
    const double *m = q->poses[s]->m, sign = s == 0 ? 1 : -1;
    for (int k = 0; k < 3; k++) n[s][k] = sign * ((d[0] * m[k] + d[1] * m[4 + k]) + d[2] * m[8 + k]);
  }
  const extreme far_a = farthest(q->axes[0], q->lanes[0], n[0]), far_b = farthest(q->axes[1], q->lanes[1], n[1]);
  *product = (far_a.value + far_b.value) - dot3(d, q->shift);
  convex_point p = {.v = {far_a.vertex, far_b.vertex}};
  const double *a = q->sets[0]->points + 3 * (size_t)p.v[0], *b = q->sets[1]->points + 3 * (size_t)p.v[1];
  for (int k = 0; k < 3; k++) p.w[k] = pose_row(q->poses[0], k, a) - pose_row(q->poses[1], k, b);
  return p;
}

/* ---- balls ------------------------------------------------------------------------------------------------------ */

/* How much lengths may differ under the pose: the sum of the |parts| of M M' - 1 is at least its norm, and stretches
 * are roots of what is that far from 1. */
static double stretch(const graze_pose *pose) {
  const double *m = pose->m;
  double sum = 64 * UNIT; /* of the sums themselves */
  for (int i = 0; i < 3; i++) {
    for (int j = i; j < 3; j++) {
      const double product = dot3(m + 4 * i, m + 4 * j);
      sum += i == j ? fabs(product - 1) : 2 * fabs(product);
    }
  }
  return sum;
}

/* Balls in both sets that meet, or around both that do not. Points of tier T1 are off by less than the margin, and so
 * is what they span. */
static convex_verdict hold_balls(const quick_pair *q) {
  const double margin = 1e-14 * (q->size[0] + q->size[1] + q->size[2]);
  double center[2][3], way[3], within = -margin, around = margin;
  bool is_inside = true; /* a centre without a ball need not be */
  for (int s = 0; s < 2; s++) {
    const graze_hull *hull = q->sets[s]->hull;
    const double more = stretch(q->poses[s]);
    if (!(more < 0.01)) return CONVEX_OPEN;
    for (int k = 0; k < 3; k++) center[s][k] = pose_row(q->poses[s], k, hull->center);
    is_inside = is_inside && hull->inner_radius > 0;
    within += hull->inner_radius * (1 - more);
    around += hull->outer_radius * (1 + more);
  }
  sub3(center[1], center[0], way);
  const double square = dot3(way, way);
  if (is_inside && within > 0 && square < within * within * (1 - 16 * UNIT) - LOST) return CONVEX_HIT;
  return square > around * around * (1 + 16 * UNIT) + LOST ? CONVEX_APART : CONVEX_OPEN;
}

/* ---- the simplex ------------------------------------------------------------------------------------------------ */

typedef struct quick_simplex {
  convex_point p[4]; /* the last is the newest */
  int count;
} quick_simplex;

static bool has_point(const quick_simplex *s, const convex_point *p) {
  bool found = false;
  for (int i = 0; i < s->count; i++) found |= s->p[i].v[0] == p->v[0] && s->p[i].v[1] == p->v[1];
  return found;
}

/* The newest point and `other`. */
static void keep_two(quick_simplex *s, int other) {
  const convex_point newest = s->p[s->count - 1];
  if (other != 0) s->p[0] = s->p[other];
  s->p[1] = newest;
  s->count = 2;
}

/* From an edge e at w towards the origin. */
static void leave_edge(const double e[3], const double w[3], double d[3]) {
  double side[3];
  cross3(w, e, side);
  cross3(side, e, d); /* (w x e) x e = e (w . e) - w (e . e) */
}

static void leave_two(quick_simplex *s, double d[3]) {
  const double *w = s->p[1].w;
  double e[3];
  sub3(s->p[0].w, w, e);
  if (dot3(e, w) < 0) {
    leave_edge(e, w, d);
    return;
  }
  s->p[0] = s->p[1];
  s->count = 1;
  for (int k = 0; k < 3; k++) d[k] = -w[k];
}

/* On the side of the first of two edges of three points at the newest, if it faces the origin: that edge, or the other,
 * or the point. */
static void leave_corner(quick_simplex *s, int first, int second, double d[3]) {
  const double *w = s->p[2].w;
  double e[3];
  sub3(s->p[first].w, w, e);
  keep_two(s, dot3(e, w) < 0 ? first : second);
  leave_two(s, d);
}

static void leave_three(quick_simplex *s, double d[3]) {
  const double *w = s->p[2].w;
  double u[3], v[3], n[3], side[3];
  sub3(s->p[0].w, w, u);
  sub3(s->p[1].w, w, v);
  cross3(u, v, n);
  cross3(u, n, side); /* away from v */
  if (dot3(side, w) < 0) {
    leave_corner(s, 0, 1, d);
    return;
  }
  cross3(n, v, side); /* away from u */
  if (dot3(side, w) < 0) {
    leave_corner(s, 1, 0, d);
    return;
  }
  const bool is_behind = dot3(n, w) > 0;
  for (int k = 0; k < 3; k++) d[k] = is_behind ? -n[k] : n[k];
}

/* Drops the point that is on the other side of a face than the origin; leaves four if there is none. */
static void leave_four(quick_simplex *s, double d[3]) {
  static const int faces[3][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}}; /* two corners beside the newest, and what is off */
  const double *w = s->p[3].w;
  double e[3][3], n[3];
  for (int i = 0; i < 3; i++) sub3(s->p[i].w, w, e[i]);
  for (int f = 0; f < 3; f++) {
    cross3(e[faces[f][0]], e[faces[f][1]], n);
    if (dot3(n, w) * dot3(n, e[faces[f][2]]) <= 0) continue; /* the origin is at -w */
    s->p[faces[f][2]] = s->p[2];
    s->p[2] = s->p[3];
    s->count = 3;
    leave_three(s, d);
    return;
  }
}

/* Reduces the simplex to its feature that faces the origin, and gives a direction from there towards it. */
static void leave(quick_simplex *s, double d[3]) {
  if (s->count == 1) {
    for (int k = 0; k < 3; k++) d[k] = -s->p[0].w[k];
  } else if (s->count == 2) {
    leave_two(s, d);
  } else if (s->count == 3) {
    leave_three(s, d);
  } else {
    leave_four(s, d);
  }
}

convex_verdict KERNEL(gz_quick_meet)(const graze_convex_pair *pair, bool is_real) {
  quick_pair q;
  quick_simplex simplex;
  double d[3], product;
  if (!quick_begin(&q, pair, is_real)) return CONVEX_OPEN;
  const convex_verdict verdict = hold_balls(&q);
  if (verdict != CONVEX_OPEN) return verdict;
  simplex.count = 0;
  first_direction(&q, d);
  for (int step = 0; step < QUICK_STEPS; step++) {
    const convex_point p = find_point(&q, d, &product);
    const double slop = 13 * UNIT * (fabs(d[0]) * q.size[0] + fabs(d[1]) * q.size[1] + fabs(d[2]) * q.size[2]);
    if (product < -slop - LOST) return CONVEX_APART;
    if (has_point(&simplex, &p)) return CONVEX_OPEN;
    simplex.p[simplex.count++] = p;
    leave(&simplex, d);
    if (simplex.count == 4) return gz_enclosing_sign(q.reach, q.off, simplex.p) != 0 ? CONVEX_HIT : CONVEX_OPEN;
  }
  return CONVEX_OPEN;
}
