/* How deep are two sets in each other at least, if one of them has discs?
 *
 * The depth is the least of how far A - B reaches along all directions. That is a branch and bound over them: cones of
 * directions are bounded by parts of A - B, and the one with the least bound is halved. A point bounds a cone by the
 * least product with its edges, each of length 1, as what has a product of at least t |n| with that point is a convex
 * cone. Where A - B is curved, points would need cones as narrow as the root of the error that is wanted, about the
 * best direction and far around it; sums of discs (discs_bound.c) have the curvature of A - B, so that wide cones will
 * do. Where it has an edge, the sum is a share of those at its ends.
 *
 * Edges of cones are halved where corners are exact binary fractions in the frame of the search, so that no direction
 * is lost between cones. The first corner is the best direction that is known.
 *
 * Sets of revolution about parallel axes may be as deep along every direction of a circle, and the cones around it
 * would be too many. They are searched in the plane of the axis of A - B and the origin, as the direction lies in it.
 */
#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "base/owned.h"
#include "base/vector3.h"
#include "convex/discs.h"

enum { MOST_VERTICES = 8192, OUTLINE = 8 };

static const double INFINITE = (double)INFINITY;

/* A direction: in the frame, exactly, and as a unit vector, with the part of A - B that is farthest along it. */
typedef struct turn_vertex {
  double k[3], way[3], depth;
  disc_sum sum;
  double point[3]; /* of it */
} turn_vertex;

/* The directions between three of them, or two in a plane, where the third is the second. */
typedef struct turn_cone {
  uint32_t v[3];
  double lower;
  disc_sum sum; /* which bounds it best */
} turn_cone;

typedef struct turning {
  const disc_pair *discs;
  double frame[3][3];
  bool is_flat;
  double outline[OUTLINE][3]; /* if it is: corners of A - B in the plane of the first two axes of the frame */
  uint32_t outlines;
  gz_array *vertices, *cones; /* the latter a heap, the least bound first */
  disc_best *best;
} turning;

static turn_vertex *vertex(const turning *t, uint32_t i) {
  return (turn_vertex *)t->vertices->data + i;
}

static turn_cone *cone(const turning *t, size_t i) {
  return (turn_cone *)t->cones->data + i;
}

/* ---- directions ------------------------------------------------------------------------------------------------- */

static void find_farthest(const turning *t, turn_vertex *v) {
  disc_support at;
  if (!t->is_flat) {
    v->depth = gz_discs_support(t->discs, v->way, &at);
    sub3(at.points[0], at.points[1], v->point);
    sub3(at.middles[0], at.middles[1], v->sum.middle);
    memcpy(v->sum.radii, at.radii, sizeof at.radii);
    return;
  }
  v->depth = -INFINITE;
  for (uint32_t i = 0; i < t->outlines; i++) {
    const double along = dot3(v->way, t->outline[i]);
    if (!(along > v->depth)) continue;
    v->depth = along;
    memcpy(v->point, t->outline[i], sizeof v->point);
  }
  memcpy(v->sum.middle, v->point, sizeof v->point);
}

/* False: memory was refused. A direction along which the sets are less deep than along the best one is climbed from. */
static bool add_vertex(turning *t, double x, double y, double z) {
  turn_vertex v = {.k = {x, y, z}};
  const double length = length3(v.k);
  for (int k = 0; k < 3; k++) v.way[k] = (x * t->frame[0][k] + y * t->frame[1][k] + z * t->frame[2][k]) / length;
  find_farthest(t, &v);
  if (!array_reserve(t->discs->pair->context, t->vertices, 1, sizeof v)) return false;
  *vertex(t, (uint32_t)t->vertices->count++) = v;
  if (-v.depth > t->best->lower + 0.25 * t->discs->tolerance) gz_discs_climb(t->discs, v.way, t->best);
  return true;
}

/* ---- cones ------------------------------------------------------------------------------------------------------ */

static void offer(turn_cone *c, double lower, const disc_sum *sum) {
  if (!(lower > c->lower)) return;
  c->lower = lower;
  c->sum = *sum;
}

static void try_point(const turning *t, turn_cone *c, const double point[3]) {
  const disc_sum sum = {.middle = {point[0], point[1], point[2]}};
  double least = INFINITE;
  for (int i = 0; i < 3; i++) least = smaller(least, dot3(point, vertex(t, c->v[i])->way));
  offer(c, least, &sum);
}

static double most_of(const turning *t) {
  return larger(-t->best->lower, 0);
}

static void try_sum(const turning *t, turn_cone *c, const disc_sum *sum, int from) {
  const double *const corners[3] = {vertex(t, c->v[0])->way, vertex(t, c->v[1])->way, vertex(t, c->v[2])->way};
  offer(c, gz_discs_bound(t->discs, sum, corners[from], corners, most_of(t)), sum);
}

/* The share of the corners' sums that has its point nearest to one along a corner's direction: where A - B has an edge
 * or a face across that. */
static void try_shares(const turning *t, turn_cone *c, int from) {
  const double *n = vertex(t, c->v[from])->way;
  convex_simplex s = {.count = 3};
  disc_sum sum = {{0}, {0}};
  for (int i = 0; i < 3; i++) {
    double *w = s.p[i].w;
    s.p[i].v[0] = (uint32_t)i;
    gz_discs_sum_support(t->discs, &vertex(t, c->v[i])->sum, n, w);
    const double along = dot3(w, n);
    for (int k = 0; k < 3; k++) w[k] -= along * n[k];
  }
  gz_simplex_nearest(&s);
  if (s.count < 2) return;
  for (int i = 0; i < s.count; i++) {
    const disc_sum *of = &vertex(t, c->v[s.p[i].v[0]])->sum;
    for (int k = 0; k < 3; k++) sum.middle[k] += s.share[i] * of->middle[k];
    for (int k = 0; k < 2; k++) sum.radii[k] += s.share[i] * of->radii[k];
  }
  try_sum(t, c, &sum, from);
}

/* Until the bound is good enough: `sum` is that of the cone which this one is a half of. */
static void bound(const turning *t, turn_cone *c, const disc_sum *sum) {
  const double enough = most_of(t) - 0.25 * t->discs->tolerance;
  for (int i = 0; i < 3; i++) try_point(t, c, vertex(t, c->v[i])->point);
  if (t->is_flat) try_point(t, c, sum->middle);
  for (int i = 0; i < 3 && !t->is_flat && c->lower < enough; i++) {
    try_sum(t, c, sum, i);
    for (int j = 0; j < 3 && c->lower < enough; j++) try_sum(t, c, &vertex(t, c->v[j])->sum, i);
    if (c->lower < enough) try_shares(t, c, i);
  }
}

static bool comes_before(const turning *t, size_t i, size_t j) {
  return cone(t, i)->lower < cone(t, j)->lower;
}

static void exchange(const turning *t, size_t i, size_t j) {
  const turn_cone c = *cone(t, i);
  *cone(t, i) = *cone(t, j);
  *cone(t, j) = c;
}

/* False: memory was refused. */
static bool push(turning *t, uint32_t a, uint32_t b, uint32_t c, const disc_sum *sum) {
  turn_cone cut = {.v = {a, b, c}, .lower = -INFINITE};
  bound(t, &cut, sum);
  if (!array_reserve(t->discs->pair->context, t->cones, 1, sizeof cut)) return false;
  size_t at = t->cones->count++;
  *cone(t, at) = cut;
  for (; at > 0 && comes_before(t, at, (at - 1) / 2); at = (at - 1) / 2) exchange(t, at, (at - 1) / 2);
  return true;
}

static turn_cone pop(turning *t) {
  const turn_cone first = *cone(t, 0);
  const size_t count = --t->cones->count;
  *cone(t, 0) = *cone(t, count);
  for (size_t at = 0, next; (next = 2 * at + 1) < count; at = next) {
    if (next + 1 < count && comes_before(t, next + 1, next)) next++;
    if (!comes_before(t, next, at)) break;
    exchange(t, at, next);
  }
  return first;
}

/* Halves the cone across its longest edge. */
static bool halve(turning *t, const turn_cone *c) {
  double longest = -1;
  int at = 0;
  for (int i = 0; i < (t->is_flat ? 1 : 3); i++) {
    double way[3];
    sub3(vertex(t, c->v[i])->k, vertex(t, c->v[(i + 1) % 3])->k, way);
    const double square = dot3(way, way);
    if (square <= longest) continue;
    longest = square;
    at = i;
  }
  const uint32_t a = c->v[at], b = c->v[(at + 1) % 3], other = c->v[(at + 2) % 3];
  const turn_vertex u = *vertex(t, a), v = *vertex(t, b);
  const uint32_t middle = (uint32_t)t->vertices->count;
  if (!add_vertex(t, (u.k[0] + v.k[0]) / 2, (u.k[1] + v.k[1]) / 2, (u.k[2] + v.k[2]) / 2)) return false;
  if (t->is_flat) return push(t, a, middle, middle, &c->sum) && push(t, middle, b, b, &c->sum);
  return push(t, a, middle, other, &c->sum) && push(t, middle, b, other, &c->sum);
}

/* ---- the search ------------------------------------------------------------------------------------------------- */

/* The cones between the axes of the frame. */
static bool begin(turning *t) {
  t->vertices->count = t->cones->count = 0;
  for (int i = 0; i < (t->is_flat ? 4 : 6); i++) {
    const double sign = i % 2 == 0 ? 1 : -1;
    if (!add_vertex(t, sign * (i / 2 == 0), sign * (i / 2 == 1), sign * (i / 2 == 2))) return false;
  }
  for (uint32_t i = 0; i < (t->is_flat ? 4 : 8); i++) {
    const uint32_t a = i & 1, b = 2 + (i >> 1 & 1), c = t->is_flat ? b : 4 + (i >> 2);
    if (!push(t, a, b, c, &vertex(t, a)->sum)) return false;
  }
  return true;
}

static bool search(turning *t, double enough, double *lower) {
  if (!begin(t)) return false;
  for (;;) {
    *lower = cone(t, 0)->lower;
    const bool is_narrow = -t->best->lower - *lower <= 0.5 * t->discs->tolerance;
    if (is_narrow || *lower > enough || t->vertices->count >= MOST_VERTICES) return true;
    const turn_cone c = pop(t);
    if (!halve(t, &c)) return false;
  }
}

/* ---- sets of revolution ------------------------------------------------------------------------------------------ */

static void place_of(const disc_pair *discs, int side, int end, double out[3]) {
  const convex_side *s = &discs->pair->side[side];
  for (int k = 0; k < 3; k++) out[k] = s->y[k][s->count == 1 ? 0 : end] + (side == 1 ? discs->shift[k] : 0);
}

/* Whether both are sets of revolution about the direction of `axis`, but for `off`. */
static bool are_parallel(const disc_pair *discs, const double axis[3]) {
  for (int s = 0; s < 2; s++) {
    double ends[2][3], way[3], aside[3];
    if (discs->pair->side[s].count > 2) return false;
    for (int e = 0; e < 2; e++) place_of(discs, s, e, ends[e]);
    sub3(ends[1], ends[0], way);
    cross3(axis, way, aside);
    double error = 0.5 * length3(aside);
    cross3(axis, discs->axis[s], aside);
    error += length3(aside) * larger(discs->radius[s][0], discs->radius[s][1]);
    if (!(error <= 0.25 * discs->off)) return false;
  }
  return true;
}

/* The plane of the axis of A - B and the origin, and the outline of A - B in it. */
static void set_outline(turning *t, const double axis[3], const double across[3]) {
  const disc_pair *discs = t->discs;
  double ends[2][2][3], middle[3];
  for (int i = 0; i < 4; i++) place_of(discs, i / 2, i % 2, ends[i / 2][i % 2]);
  for (int k = 0; k < 3; k++) middle[k] = 0.5 * (ends[0][0][k] + ends[0][1][k]) - 0.5 * (ends[1][0][k] + ends[1][1][k]);
  const double along = dot3(middle, axis);
  for (int k = 0; k < 3; k++) middle[k] -= along * axis[k];
  const double beside = length3(middle);
  for (int k = 0; k < 3; k++) {
    t->frame[0][k] = beside > 4 * discs->off ? middle[k] / beside : across[k];
    t->frame[1][k] = axis[k];
  }
  t->is_flat = true;
  for (int i = 0; i < 4; i++) {
    const double z = dot3(axis, ends[0][i / 2]) - dot3(axis, ends[1][i % 2]);
    const double r = discs->radius[0][i / 2] + discs->radius[1][i % 2];
    for (int sign = -1; sign <= 1; sign += 2) {
      const double beside_it = dot3(t->frame[0], middle) + sign * r;
      for (int k = 0; k < 3; k++) t->outline[t->outlines][k] = beside_it * t->frame[0][k] + z * t->frame[1][k];
      t->outlines++;
    }
  }
}

/* With the best direction as the first axis. */
static void set_frame(turning *t) {
  const double *n = t->best->way;
  int least = fabs(n[0]) < fabs(n[1]) ? 0 : 1;
  least = fabs(n[2]) < fabs(n[least]) ? 2 : least;
  const double unit[3] = {least == 0, least == 1, least == 2};
  memcpy(t->frame[0], n, sizeof t->frame[0]);
  cross3(n, unit, t->frame[1]);
  const double length = length3(t->frame[1]);
  for (int k = 0; k < 3; k++) t->frame[1][k] /= length;
  cross3(n, t->frame[1], t->frame[2]);
}

bool gz_discs_depth(const disc_pair *discs, double enough, disc_best *best, double *lower) {
  turning t = {.discs = discs, .best = best, .vertices = &discs->pair->turns, .cones = &discs->pair->cones};
  const int side = discs->is_round[0] ? 0 : 1;
  if (are_parallel(discs, discs->axis[side])) {
    set_outline(&t, discs->axis[side], discs->across[side][0]);
  } else {
    set_frame(&t);
  }
  if (!search(&t, enough + 4 * discs->off, lower)) return false;
  *lower = larger(*lower - 4 * discs->off, 0);
  return true;
}
