/* A ball and a triangle: conservative advancement of the centre, and an exact decision where that proves nothing.
 *
 * The plane through the triangle's point nearest to the centre, across the way to it, bounds the distance from below
 * for as long as the centre takes to come to the plane: within that time nothing meets. The distance is a convex
 * function of time, so these steps are Newton's and come to the first contact in a few. Behind it a time is looked for
 * at which the distance is proved to be at most the radius. Where there is none, the ball grazes the triangle or misses
 * it by a hair: whether the segment of its centres is as near to the triangle as the radius is decided exactly
 * (near.h), and the same advancement from the end bounds the time from above.
 *
 * Coordinates are relative to where the centre begins. With L the largest of them, u = 2^-53, corners and the way are
 * off by u L, places by 3 u L, and a product of their difference with a unit vector, summed up, by less than 60 u L:
 * 2^-46 L covers that. */
#include "motion/flight.h"

#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "base/vector3.h"
#include "exact/near.h"
#include "exact/near_point.h"
#include "narrow/near.h"

enum { ADVANCES = 64, TRIES = 8, ROUNDS = 4 };

typedef struct approach {
  double corners[9], way[3]; /* relative to the beginning */
  double radius, error, speed;
  double u[3], v[3], normal[3]; /* edges from the first corner, and across both */
  bool is_thin;                 /* a sliver, or less */
} approach;

static void find_plane(approach *a) {
  sub3(a->corners + 3, a->corners, a->u);
  sub3(a->corners + 6, a->corners, a->v);
  cross3(a->u, a->v, a->normal);
  a->is_thin = !(dot3(a->normal, a->normal) > 0x1p-24 * (dot3(a->u, a->u) * dot3(a->v, a->v)));
}

static approach approach_of(const double from[3], const double to[3], double radius, const double corners[9]) {
  approach a = {.radius = radius};
  double size = radius;
  for (int i = 0; i < 9; i++) {
    a.corners[i] = corners[i] - from[i % 3];
    size = larger(size, fabs(a.corners[i]));
  }
  for (int k = 0; k < 3; k++) {
    a.way[k] = to[k] - from[k];
    size = larger(size, fabs(a.way[k]));
    a.speed += fabs(a.way[k]);
  }
  a.error = 0x1p-46 * size + 0x1p-1000;
  find_plane(&a);
  return a;
}

/* Whether the axes, or the triangle's normal, show at once that nothing meets. */
static bool is_far(const approach *a) {
  const double reach = a->radius + a->error;
  for (int k = 0; k < 3; k++) {
    const double *c = a->corners + k;
    const double low = smaller(c[0], smaller(c[3], c[6])), high = larger(c[0], larger(c[3], c[6]));
    if (smaller(0, a->way[k]) - reach > high || larger(0, a->way[k]) + reach < low) return true;
  }
  const double *n = a->normal, end = dot3(n, a->way), apart = reach * sqrt(dot3(n, n));
  const double p = dot3(n, a->corners), q = dot3(n, a->corners + 3), r = dot3(n, a->corners + 6);
  return smaller(0, end) - larger(p, larger(q, r)) > apart || smaller(p, smaller(q, r)) - larger(0, end) > apart;
}

/* A direction from about the point of the triangle that is nearest to a place to it, any length; 0: there is none.
 * C. Ericson, "Real-Time Collision Detection", 2005, 5.1.5. */
static void find_direction(const approach *a, const double x[3], double out[3]) {
  const double *b = a->corners + 3, *c = a->corners + 6;
  double from_a[3], from_b[3], from_c[3], edge[3];
  sub3(x, a->corners, from_a);
  sub3(x, b, from_b);
  sub3(x, c, from_c);
  sub3(c, b, edge);
  const double ua = dot3(a->u, from_a), va = dot3(a->v, from_a), ub = dot3(a->u, from_b), vb = dot3(a->v, from_b);
  const double uc = dot3(a->u, from_c), vc = dot3(a->v, from_c), along = vb - ub, beyond = uc - vc;
  const double *start = from_a, *side = NULL;
  double share = 0;
  if (ub >= 0 && vb <= ub) {
    start = from_b;
  } else if (vc >= 0 && uc <= vc) {
    start = from_c;
  } else if (ua > 0 || va > 0) {
    if (ua * vb - ub * va <= 0 && ua >= 0 && ub <= 0)
      side = a->u, share = ua / (ua - ub);
    else if (uc * va - ua * vc <= 0 && va >= 0 && vc <= 0)
      side = a->v, share = va / (va - vc);
    else if (ub * vc - uc * vb <= 0 && along >= 0 && beyond >= 0)
      start = from_b, side = edge, share = along / (along + beyond);
    else
      start = a->normal;
  }
  const double turn = start == a->normal && dot3(a->normal, from_a) < 0 ? -1 : 1;
  for (int k = 0; k < 3; k++) out[k] = turn * (side != NULL ? start[k] - share * side[k] : start[k]);
}

/* The same of length 1, also of slivers. */
static void find_normal(const approach *a, const double x[3], double n[3]) {
  if (a->is_thin) {
    const near_point near = gz_triangle_nearest(a->corners, x);
    memcpy(n, near.normal, sizeof near.normal);
    return;
  }
  find_direction(a, x, n);
  const double square = dot3(n, n), length = sqrt(square);
  for (int k = 0; k < 3; k++) n[k] = square > 0x1p-900 && square < 0x1p900 ? n[k] / length : 0;
}

/* From *t on, as long as it is proved that nothing meets before. False: nothing does until `limit`. */
static bool advance(const approach *a, double limit, double *t, double *rate) {
  for (int step = 0; step < ADVANCES; step++) {
    const double place[3] = {*t * a->way[0], *t * a->way[1], *t * a->way[2]};
    double n[3], least = INFINITY;
    find_normal(a, place, n);
    for (int i = 0; i < 3; i++) {
      const double *c = a->corners + 3 * i, to[3] = {place[0] - c[0], place[1] - c[1], place[2] - c[2]};
      least = smaller(dot3(n, to), least);
    }
    const double gap = least - a->radius - a->error;
    *rate = 0x1p-48 * a->speed - dot3(n, a->way);
    if (!(gap > a->error)) return true;
    if (*rate <= 0) return false;
    const double next = *t + gap / *rate * (1 - 0x1p-50);
    if (next > limit) return false;
    if (!(next > *t)) return true;
    *t = next;
  }
  return true;
}

/* ---- proofs of nearness --------------------------------------------------------------------------------------- */

/* Bounds of the distances at some times, which fill the array. */
static void measure(const approach *a, const double times[TRIES], double lower[TRIES], double upper[TRIES]) {
  static const double origin[3] = {0, 0, 0};
  double corners[9][TRIES];
  for (int k = 0; k < 9; k++) {
    for (int i = 0; i < TRIES; i++) corners[k][i] = a->corners[k] - times[i] * a->way[k % 3];
  }
  gz_near_point_best()(origin, corners[0], lower, upper);
  for (int i = 0; i < TRIES; i++) {
    lower[i] -= a->error;
    upper[i] += a->error;
  }
}

/* The first of growing steps behind `t` to a time at which the ball meets the triangle: proved. */
static bool find_contact(const approach *a, double t, double rate, double *later) {
  double step = 4 * a->error / rate, times[TRIES], lower[TRIES], upper[TRIES];
  if (!(step > 0x1p-50 && step < 1)) step = 0x1p-50;
  for (int round = 0; round < ROUNDS; round++) {
    if (t + step > 1) break;
    for (int i = 0; i < TRIES; i++) {
      times[i] = smaller(t + step, 1);
      step *= 4;
    }
    measure(a, times, lower, upper);
    for (int i = 0; i < TRIES; i++) {
      if (!(upper[i] <= a->radius)) continue;
      *later = times[i];
      return true;
    }
  }
  return false;
}

/* ---- decisions ------------------------------------------------------------------------------------------------ */

/* A triangle with these three corners, which are a point or on a line, and the triangle. */
static bool is_within(const double points[9], bool is_point, const double corners[9], double radius) {
  near_pair pair;
  gz_near_start_known(&pair, points, NULL, corners, NULL, 0, (double)INFINITY);
  pair.is_point = is_point;
  return gz_near_compare(&pair, radius) <= 0;
}

static void line_up(const double from[3], const double to[3], double points[9]) {
  memcpy(points, from, 3 * sizeof *points);
  memcpy(points + 3, to, 3 * sizeof *points);
  memcpy(points + 6, to, 3 * sizeof *points);
}

static bool meets_at_first(const flight *f, const approach *a, const double corners[9]) {
  static const double beginning[TRIES] = {0};
  double lower[TRIES], upper[TRIES], points[9];
  measure(a, beginning, lower, upper);
  if (lower[0] > f->radius) return false;
  if (upper[0] <= f->radius) return true;
  line_up(f->from, f->from, points);
  return is_within(points, true, corners, f->radius);
}

bool gz_flight_meets(const flight *f, const double corners[9], double limit, double time[2]) {
  const approach a = approach_of(f->from, f->to, f->radius, corners);
  double rate = 0, points[9];
  time[0] = time[1] = 0;
  if (is_far(&a) || !advance(&a, smaller(limit, 1), &time[0], &rate)) return false;
  if (time[0] == 0 && meets_at_first(f, &a, corners)) return true;
  if (a.speed == 0) return false;
  if (find_contact(&a, time[0], rate, &time[1])) return true;
  line_up(f->from, f->to, points);
  if (!is_within(points, false, corners, f->radius)) return false;
  const approach back = approach_of(f->to, f->from, f->radius, corners);
  double from_end = 0;
  time[1] = 1;
  if (advance(&back, 1, &from_end, &rate)) time[1] = smaller(larger(nextafter(1 - from_end, 2), time[0]), 1);
  return true;
}
