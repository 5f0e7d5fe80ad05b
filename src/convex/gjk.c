/* The point of A - B nearest to the origin, in doubles.
 *
 * E. G. Gilbert, D. W. Johnson, S. S. Keerthi, "A Fast Procedure for Computing the Distance Between Complex Objects in
 * Three-Dimensional Space", 1988, with the signed volumes of M. Montanari, N. Petrinic, E. Barbieri, "Improving the GJK
 * Algorithm for Faster and More Reliable Distance Queries Between Convex Objects", 2017. Nothing depends on its steps:
 * each direction gives a lower bound on the distance, with the error of the product taken off, and each simplex an
 * upper one.
 */
#include <math.h>
#include <string.h>

#include "base/vector3.h"
#include "convex/pair.h"

enum { MOST_STEPS = 100 };

/* ---- the nearest point of a simplex ------------------------------------------------------------------------------ */

void gz_simplex_point(const convex_simplex *s, double out[3]) {
  for (int k = 0; k < 3; k++) {
    out[k] = 0;
    for (int i = 0; i < s->count; i++) out[k] += s->share[i] * s->p[i].w[k];
  }
}

/* The corners of `from` that are named, in that order. */
static convex_simplex take(const convex_simplex *from, int count, int a, int b, int c) {
  convex_simplex s = {.count = count};
  const int corners[3] = {a, b, c};
  for (int i = 0; i < count; i++) s.p[i] = from->p[corners[i]];
  s.share[0] = 1;
  return s;
}

static void nearest_of_two(convex_simplex *s) {
  double e[3];
  sub3(s->p[1].w, s->p[0].w, e);
  double square = dot3(e, e), along = -dot3(s->p[0].w, e);
  if (!(along > 0)) {
    *s = take(s, 1, 0, 0, 0);
  } else if (along >= square) {
    *s = take(s, 1, 1, 0, 0);
  } else {
    s->share[1] = along / square;
    s->share[0] = 1 - s->share[1];
  }
}

static void keep_nearer(convex_simplex *best, double *least, const convex_simplex *other) {
  double v[3];
  gz_simplex_point(other, v);
  double square = dot3(v, v);
  if (square >= *least) return;
  *least = square;
  *best = *other;
}

/* Shares are areas in the projection along the largest part of the normal; a negative one names the edge to look at. */
static void nearest_of_three(convex_simplex *s) {
  double u[3], v[3], n[3], foot[3], area[3], least = (double)INFINITY;
  sub3(s->p[1].w, s->p[0].w, u);
  sub3(s->p[2].w, s->p[0].w, v);
  cross3(u, v, n);
  double square = dot3(n, n), height = dot3(n, s->p[0].w) / square;
  int axis = fabs(n[0]) > fabs(n[1]) ? (fabs(n[0]) > fabs(n[2]) ? 0 : 2) : (fabs(n[1]) > fabs(n[2]) ? 1 : 2);
  int i = (axis + 1) % 3, j = (axis + 2) % 3;
  for (int k = 0; k < 3; k++) foot[k] = height * n[k];
  bool inside = square > 0;
  for (int c = 0; c < 3; c++) {
    const double *p = s->p[(c + 1) % 3].w, *q = s->p[(c + 2) % 3].w;
    area[c] = ((p[i] - foot[i]) * (q[j] - foot[j]) - (p[j] - foot[j]) * (q[i] - foot[i])) / n[axis];
    inside = inside && area[c] > 0;
  }
  if (inside) {
    double sum = area[0] + area[1] + area[2];
    for (int c = 0; c < 3; c++) s->share[c] = area[c] / sum;
    return;
  }
  const convex_simplex all = *s;
  for (int c = 0; c < 3; c++) {
    if (area[c] > 0) continue; /* NaN of a degenerate one counts as outside */
    convex_simplex two = take(&all, 2, (c + 1) % 3, (c + 2) % 3, 0);
    nearest_of_two(&two);
    keep_nearer(s, &least, &two);
  }
}

/* Leaves four points if the origin is inside. */
static void nearest_of_four(convex_simplex *s) {
  static const int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  double volume[4], least = (double)INFINITY, u[3], v[3], w[3], n[3];
  sub3(s->p[1].w, s->p[0].w, u);
  sub3(s->p[2].w, s->p[0].w, v);
  sub3(s->p[3].w, s->p[0].w, w);
  cross3(u, v, n);
  double whole = dot3(n, w);
  bool inside = true;
  for (int f = 0; f < 4; f++) {
    cross3(s->p[faces[f][0]].w, s->p[faces[f][1]].w, n);
    volume[f] = dot3(n, s->p[faces[f][2]].w) / whole;
    inside = inside && volume[f] > 0;
  }
  if (inside) {
    memcpy(s->share, volume, sizeof volume);
    return;
  }
  const convex_simplex all = *s;
  for (int f = 0; f < 4; f++) {
    if (volume[f] > 0) continue;
    convex_simplex three = take(&all, 3, faces[f][0], faces[f][1], faces[f][2]);
    nearest_of_three(&three);
    keep_nearer(s, &least, &three);
  }
}

void gz_simplex_nearest(convex_simplex *s) {
  if (s->count == 1) s->share[0] = 1;
  if (s->count == 2) nearest_of_two(s);
  if (s->count == 3) nearest_of_three(s);
  if (s->count == 4) nearest_of_four(s);
}

/* ---- the search ------------------------------------------------------------------------------------------------- */

bool gz_simplex_has(const convex_simplex *s, const convex_point *p) {
  for (int i = 0; i < s->count; i++) {
    if (s->p[i].v[0] == p->v[0] && s->p[i].v[1] == p->v[1]) return true;
  }
  return false;
}

static void start(const convex_pair *pair, convex_simplex *s) {
  double way[3], product;
  for (int k = 0; k < 3; k++) {
    const convex_side *a = &pair->side[0], *b = &pair->side[1];
    way[k] = (b->low[k] + b->high[k]) - (a->low[k] + a->high[k]);
  }
  *s = (convex_simplex){.p = {gz_pair_support(pair, way, &product)}, .share = {1}, .count = 1};
}

/* A bound from the direction v, and the point farthest against it; false: nothing more is to be had. */
static bool step(const convex_pair *pair, const double v[3], convex_simplex *s, convex_bracket *distance) {
  double square = dot3(v, v), product;
  if (!(square > 0x1p-900)) return false;
  double length = sqrt(square);
  /* v is a point of A - B but for the roundings of shares, which add up to 1, and of sums. */
  double upper = length * (1 + 0x1p-50) + 4 * (pair->off[0] + pair->off[1] + pair->off[2]) +
                 0x1p-49 * (pair->reach[0] + pair->reach[1] + pair->reach[2]);
  const double against[3] = {-v[0], -v[1], -v[2]};
  convex_point p = gz_pair_support(pair, against, &product);
  double lower = (-product - gz_pair_slop(pair, v)) / length;
  lower = lower > 0 ? lower * (1 - 0x1p-50) : lower;
  if (lower > distance->lower) distance->lower = lower;
  if (upper < distance->upper) distance->upper = upper;
  if (length + product / length <= 0.25 * pair->tolerance || gz_simplex_has(s, &p)) return false;
  s->p[s->count++] = p;
  return true;
}

convex_verdict gz_gjk(const convex_pair *pair, bool measure, convex_simplex *simplex, convex_bracket *distance) {
  double v[3], last = (double)INFINITY;
  *distance = (convex_bracket){-(double)INFINITY, (double)INFINITY, 0};
  start(pair, simplex);
  for (int i = 0; i < MOST_STEPS; i++) {
    gz_simplex_nearest(simplex);
    if (simplex->count == 4) return CONVEX_HIT;
    gz_simplex_point(simplex, v);
    double square = dot3(v, v);
    if (!(square < last)) break;
    last = square;
    if (!step(pair, v, simplex, distance) || (!measure && distance->lower > 0)) break;
  }
  distance->value = distance->lower + (distance->upper - distance->lower) / 2;
  return distance->lower > 0 ? CONVEX_APART : CONVEX_OPEN;
}
