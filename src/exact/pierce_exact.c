/* A line and a triangle in integers: the last stage, for any finite doubles.
 *
 * All is relative to the line's beginning. A triangle with an area that the line is not parallel to is passed at one
 * place. In every other case, the line in the triangle's plane or the triangle a segment or a point, the first common
 * point is the beginning or lies on an edge. */
#include <math.h>

#include "exact/big_vector.h"
#include "exact/pierce.h"

/* above / below, below > 0: the least t so far. */
typedef struct quotient {
  bool known;
  big above, below;
} quotient;

static void vector_of(const double x[3], big_vector *r) {
  for (int k = 0; k < 3; k++) gz_big_from_double(&r->x[k], x[k]);
}

static bool is_zero(const big_vector *v) {
  return v->x[0].sign == 0 && v->x[1].sign == 0 && v->x[2].sign == 0;
}

static void negate(big *x) {
  x->sign = -x->sign;
}

/* Takes above / below where it is not negative and the least. */
static void take(quotient *q, const big *above, const big *below) {
  big p, r;
  if (above->sign * below->sign < 0) return;
  if (q->known) {
    gz_big_mul(&p, above, &q->below);
    gz_big_mul(&r, &q->above, below);
    if (below->sign < 0) negate(&p), negate(&r);
    gz_big_sub(&p, &p, &r);
    if (p.sign >= 0) return;
  }
  q->known = true;
  gz_big_copy(&q->above, above);
  gz_big_copy(&q->below, below);
  if (below->sign < 0) negate(&q->above), negate(&q->below);
}

static void take_beginning(quotient *q) {
  big zero, one;
  gz_big_from_double(&zero, 0);
  gz_big_from_double(&one, 1);
  take(q, &zero, &one);
}

/* ---- an edge from e to f -------------------------------------------------------------------------------------- */

/* The edge, or the point, lies on the line or beside it. */
static void meet_parallel(const big_vector *e, const big_vector *f, const big_vector *way, quotient *q) {
  big_vector aside;
  big first, last, square;
  if (is_zero(way)) {
    gz_big_cross(e, f, &aside);
    gz_big_dot(e, f, &first);
    if (is_zero(&aside) && first.sign <= 0) take_beginning(q);
    return;
  }
  gz_big_cross(e, way, &aside);
  if (!is_zero(&aside)) return;
  gz_big_dot(e, way, &first);
  gz_big_dot(f, way, &last);
  gz_big_dot(way, way, &square);
  if (first.sign * last.sign <= 0) take_beginning(q);
  take(q, &first, &square);
  take(q, &last, &square);
}

/* The edge is not parallel to the way, and across is its cross product with that: where both are in one plane, the
 * place along the edge is -(e x way) / across and along the way (edge x e) / across, in any coordinate in which the
 * divisor is not zero. */
static void meet_across(const big_vector *e, const big_vector *edge, const big_vector *way, const big_vector *across,
                        quotient *q) {
  big_vector r, s;
  big rest;
  gz_big_dot(e, across, &rest);
  if (rest.sign != 0) return;
  int k = 0;
  while (across->x[k].sign == 0) k++;
  gz_big_cross(e, way, &r);
  gz_big_cross(edge, e, &s);
  negate(&r.x[k]);
  gz_big_sub(&rest, &across->x[k], &r.x[k]);
  const int sign = across->x[k].sign;
  if (r.x[k].sign * sign >= 0 && rest.sign * sign >= 0) take(q, &s.x[k], &across->x[k]);
}

static void meet_edge(const big_vector *e, const big_vector *f, const big_vector *way, quotient *q) {
  big_vector edge, across;
  gz_big_between(e, f, &edge);
  gz_big_cross(&edge, way, &across);
  if (is_zero(&across))
    meet_parallel(e, f, way, q);
  else
    meet_across(e, &edge, way, &across, q);
}

/* ---- the triangle --------------------------------------------------------------------------------------------- */

/* Whether `toward` has all corners on one side, in the order of `sign`: [toward, x, y] of each edge. */
static bool is_within(const big_vector x[3], const big_vector *toward, int sign) {
  big_vector turn;
  big side;
  for (int i = 0; i < 3; i++) {
    gz_big_cross(&x[i], &x[(i + 1) % 3], &turn);
    gz_big_dot(toward, &turn, &side);
    if (side.sign * sign < 0) return false;
  }
  return true;
}

static void meet(const big_vector x[3], const big_vector *way, quotient *q) {
  big_vector u, v, normal;
  big along, height;
  gz_big_between(&x[0], &x[1], &u);
  gz_big_between(&x[0], &x[2], &v);
  gz_big_cross(&u, &v, &normal);
  gz_big_dot(way, &normal, &along);
  gz_big_dot(&x[0], &normal, &height);
  if (along.sign != 0) {
    if (is_within(x, way, along.sign)) take(q, &height, &along);
    return;
  }
  if (height.sign != 0) return;
  if (!is_zero(&normal) && is_within(x, &normal, 1)) take_beginning(q);
  for (int i = 0; i < 3; i++) meet_edge(&x[i], &x[(i + 1) % 3], way, q);
}

/* Sign of the quotient minus t. */
static int compare(const quotient *q, double t) {
  big x;
  gz_big_from_double(&x, t);
  gz_big_mul(&x, &x, &q->below);
  gz_big_sub(&x, &q->above, &x);
  return x.sign;
}

bool gz_pierce_exact(const pierce_line *line, const double corners[9], double time[2]) {
  big_vector from, way, x[3];
  quotient q = {.known = false};
  vector_of(line->from, &from);
  vector_of(line->to, &way);
  if (!line->directed) gz_big_between(&from, &way, &way);
  for (int i = 0; i < 3; i++) {
    vector_of(corners + 3 * i, &x[i]);
    gz_big_between(&from, &x[i], &x[i]);
  }
  meet(x, &way, &q);
  if (!q.known || compare(&q, line->most) > 0) return false;
  const double t = gz_big_ratio_nearest(&q.above, &q.below);
  const int sign = compare(&q, t);
  time[0] = sign < 0 ? nextafter(t, -1) : t;
  time[1] = sign > 0 ? nextafter(t, (double)INFINITY) : t;
  return true;
}
