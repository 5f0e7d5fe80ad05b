#include "exact/cylinder.h"

#include <stddef.h>

#include "exact/big_vector.h"

/* ---- numbers ---- */

/* Sign of x - y. */
static int compare(const big *x, const big *y) {
  big d;
  gz_big_sub(&d, x, y);
  return d.sign;
}

static void between(const cylinder *c, int from, int to, big_vector *r) {
  gz_real_points_compute(c->points, from);
  gz_real_points_compute(c->points, to);
  for (int k = 0; k < 3; k++) gz_big_sub(&r->x[k], &c->points->real[to][k], &c->points->real[from][k]);
}

/* r = x y - z w */
static void difference(const big *x, const big *y, const big *z, const big *w, big *r) {
  big s, t;
  gz_big_mul(&s, x, y);
  gz_big_mul(&t, z, w);
  gz_big_sub(r, &s, &t);
}

static void square_of(double x, big *r) {
  big y;
  gz_big_from_double(&y, x);
  gz_big_mul(r, &y, &y);
}

/* (x + y)^2 */
static void square_of_sum(double x, double y, big *r) {
  big s, t;
  gz_big_from_double(&s, x);
  gz_big_from_double(&t, y);
  gz_big_add(&s, &s, &t);
  gz_big_mul(r, &s, &s);
}

/* A point as the cylinder sees it: along = (x - end 0) . u and what is left of |u|^2, across = (x - end 0) x u. */
typedef struct view {
  big along, left;
  big_vector across;
} view;

/* The axis. */
typedef struct axis_view {
  big_vector u;
  big uu, radius2; /* of the cylinder, times uu */
} axis_view;

static void open_axis(const cylinder *c, axis_view *a) {
  big r2;
  between(c, c->axis, c->axis + 1, &a->u);
  gz_big_dot(&a->u, &a->u, &a->uu);
  square_of(c->radius, &r2);
  gz_big_mul(&a->radius2, &r2, &a->uu);
}

static void look_at(const cylinder *c, const axis_view *a, int point, view *v) {
  big_vector w;
  between(c, c->axis, point, &w);
  gz_big_dot(&w, &a->u, &v->along);
  gz_big_sub(&v->left, &a->uu, &v->along);
  gz_big_cross(&w, &a->u, &v->across);
}

/* Sign of the squared distance from the axis, times uu, less that of the surface. */
static int compare_across(const axis_view *a, const view *v) {
  big square;
  gz_big_dot(&v->across, &v->across, &square);
  return compare(&square, &a->radius2);
}

bool gz_cylinder_has_length(const cylinder *c) {
  big_vector u;
  between(c, c->axis, c->axis + 1, &u);
  return u.x[0].sign != 0 || u.x[1].sign != 0 || u.x[2].sign != 0;
}

/* ---- triangles ---- */

static bool is_between(const view *v) {
  return v->along.sign >= 0 && v->left.sign >= 0;
}

/* The foot of the axis on an edge, strictly within it and not beyond an end: its sign, or 1. With P and Q across at the
 * ends of the edge and D = Q - P, it is at t = -P.D / D.D, |P|^2 - (P.D)^2 / D.D from the axis. */
static int compare_foot(const axis_view *a, const view *p, const view *q) {
  big_vector d;
  big pd, dd, qd, pp, rest, along, way, end, left;
  for (int k = 0; k < 3; k++) gz_big_sub(&d.x[k], &q->across.x[k], &p->across.x[k]);
  gz_big_dot(&p->across, &d, &pd);
  gz_big_dot(&q->across, &d, &qd);
  if (pd.sign >= 0 || qd.sign <= 0) return 1;
  gz_big_dot(&d, &d, &dd);
  gz_big_sub(&way, &q->along, &p->along);
  difference(&p->along, &dd, &pd, &way, &along);
  gz_big_mul(&end, &a->uu, &dd);
  gz_big_sub(&left, &end, &along);
  if (along.sign < 0 || left.sign < 0) return 1;
  gz_big_dot(&p->across, &p->across, &pp);
  difference(&pp, &dd, &pd, &pd, &rest);
  gz_big_mul(&end, &a->radius2, &dd);
  return compare(&rest, &end);
}

/* Where a triangle passes the plane at an end: across / weight, weight above 0. */
typedef struct passage {
  big_vector across;
  big weight;
} passage;

static const big *side_of(const view *v, int end) {
  return end == 0 ? &v->along : &v->left;
}

/* Of an edge whose ends are on different sides: (p (q side) - q (p side)) / (q side - p side). */
static void pass_edge(const view *p, const view *q, int end, passage *out) {
  const bool is_up = side_of(q, end)->sign > 0;
  const view *first = is_up ? p : q, *second = is_up ? q : p;
  const big *from = side_of(first, end), *to = side_of(second, end);
  for (int k = 0; k < 3; k++) difference(&first->across.x[k], to, &second->across.x[k], from, &out->across.x[k]);
  gz_big_sub(&out->weight, to, from);
}

static int compare_passage(const axis_view *a, const passage *x) {
  big square, edge;
  gz_big_dot(&x->across, &x->across, &square);
  gz_big_mul(&edge, &x->weight, &x->weight);
  gz_big_mul(&edge, &edge, &a->radius2);
  return compare(&square, &edge);
}

/* The foot of the axis between two passages. */
static int compare_between(const axis_view *a, const passage *x, const passage *y) {
  big_vector d, c;
  big xd, yd, cc, dd;
  for (int k = 0; k < 3; k++) difference(&y->across.x[k], &x->weight, &x->across.x[k], &y->weight, &d.x[k]);
  gz_big_dot(&x->across, &d, &xd);
  gz_big_dot(&y->across, &d, &yd);
  if (xd.sign >= 0 || yd.sign <= 0) return 1;
  gz_big_cross(&x->across, &d, &c);
  gz_big_dot(&c, &c, &cc);
  gz_big_dot(&d, &d, &dd);
  gz_big_mul(&dd, &dd, &x->weight);
  gz_big_mul(&dd, &dd, &x->weight);
  gz_big_mul(&dd, &dd, &a->radius2);
  return compare(&cc, &dd);
}

/* Where the triangle passes an end: two points, or none. */
static int compare_end(const axis_view *a, const view v[3], int end) {
  passage x[3];
  int count = 0, least = 1;
  for (int i = 0; i < 3; i++) {
    const view *p = &v[i], *q = &v[(i + 1) % 3];
    if (side_of(p, end)->sign == 0 && count < 3) {
      x[count].across = p->across;
      gz_big_from_double(&x[count++].weight, 1);
    }
    if (side_of(p, end)->sign * side_of(q, end)->sign < 0 && count < 3) pass_edge(p, q, end, &x[count++]);
  }
  for (int i = 0; i < count; i++) {
    const int own = compare_passage(a, &x[i]);
    least = own < least ? own : least;
  }
  if (count != 2 || least < 0) return least; /* three corners in the plane are told by their edges */
  const int foot = compare_between(a, &x[0], &x[1]);
  return foot < least ? foot : least;
}

/* The least sign over the part between the planes. */
static int compare_part(const axis_view *a, const view v[3]) {
  int least = 1;
  for (int i = 0; i < 3 && least >= 0; i++) {
    int own = is_between(&v[i]) ? compare_across(a, &v[i]) : 1;
    least = own < least ? own : least;
    own = compare_foot(a, &v[i], &v[(i + 1) % 3]);
    least = own < least ? own : least;
  }
  for (int end = 0; end < 2 && least >= 0; end++) {
    const int own = compare_end(a, v, end);
    least = own < least ? own : least;
  }
  return least;
}

int gz_cylinder_triangle(const cylinder *c, int first, bool meets_axis) {
  axis_view a;
  view v[3];
  int before[2] = {0, 0}, within[2] = {0, 0};
  open_axis(c, &a);
  for (int i = 0; i < 3; i++) {
    look_at(c, &a, first + i, &v[i]);
    for (int end = 0; end < 2; end++) {
      before[end] += side_of(&v[i], end)->sign < 0;
      within[end] += side_of(&v[i], end)->sign > 0;
    }
  }
  if (before[0] == 3 || before[1] == 3) return 1;
  const int least = meets_axis ? -1 : compare_part(&a, v);
  if (least < 0 && (within[0] == 0 || within[1] == 0)) return 0; /* in the plane of an end, and beyond */
  return least;
}

int gz_cylinder_point(const cylinder *c, int point) {
  axis_view a;
  view v;
  open_axis(c, &a);
  look_at(c, &a, point, &v);
  if (!is_between(&v)) return 1;
  const int across = compare_across(&a, &v);
  return across < 0 && (v.along.sign == 0 || v.left.sign == 0) ? 0 : across;
}

/* ---- balls ---- */

/* Sign of k less twice the radius times the root of the squared distance from the axis; all times uu. */
static int compare_rim(const cylinder *c, const axis_view *a, const big *k, const big *across2) {
  big square, edge, four;
  if (k->sign <= 0) return across2->sign == 0 && k->sign == 0 ? 0 : -1;
  gz_big_mul(&square, k, k);
  square_of(c->radius, &edge);
  gz_big_from_double(&four, 4);
  gz_big_mul(&edge, &edge, &four);
  gz_big_mul(&edge, &edge, across2);
  gz_big_mul(&edge, &edge, &a->uu);
  return compare(&square, &edge);
}

/* r = (x^2 - y^2) uu */
static void squares_apart(const axis_view *a, double x, double y, big *r) {
  big s, t;
  square_of(x, &s);
  square_of(y, &t);
  gz_big_sub(&s, &s, &t);
  gz_big_mul(r, &s, &a->uu);
}

int gz_cylinder_ball(const cylinder *c, int center, double radius) {
  axis_view a;
  view v;
  big across2, reach, beyond2, k;
  open_axis(c, &a);
  look_at(c, &a, center, &v);
  gz_big_dot(&v.across, &v.across, &across2);
  if (is_between(&v)) {
    square_of_sum(c->radius, radius, &reach);
    gz_big_mul(&reach, &reach, &a.uu);
    return compare(&across2, &reach);
  }
  const big *beyond = v.along.sign < 0 ? &v.along : &v.left;
  gz_big_mul(&beyond2, beyond, beyond);
  if (compare(&across2, &a.radius2) <= 0) {
    square_of(radius, &reach);
    gz_big_mul(&reach, &reach, &a.uu);
    return compare(&beyond2, &reach);
  }
  squares_apart(&a, c->radius, radius, &k);
  gz_big_add(&k, &k, &across2);
  gz_big_add(&k, &k, &beyond2);
  return compare_rim(c, &a, &k, &across2);
}

bool gz_cylinder_holds_ball(const cylinder *c, int center, double radius) {
  axis_view a;
  view v;
  big across2, room, square;
  if (radius > c->radius) return false;
  open_axis(c, &a);
  look_at(c, &a, center, &v);
  if (!is_between(&v)) return false;
  square_of(radius, &room);
  gz_big_mul(&room, &room, &a.uu);
  for (int end = 0; end < 2; end++) {
    gz_big_mul(&square, side_of(&v, end), side_of(&v, end));
    if (compare(&square, &room) < 0) return false;
  }
  gz_big_dot(&v.across, &v.across, &across2);
  square_of_sum(c->radius, -radius, &room);
  gz_big_mul(&room, &room, &a.uu);
  return compare(&across2, &room) <= 0;
}

bool gz_ball_holds_cylinder(const cylinder *c, int center, double radius) {
  axis_view a;
  view v;
  big across2, room, square;
  open_axis(c, &a);
  look_at(c, &a, center, &v);
  gz_big_dot(&v.across, &v.across, &across2);
  for (int end = 0; end < 2; end++) { /* of the rim the farthest */
    squares_apart(&a, radius, c->radius, &room);
    gz_big_sub(&room, &room, &across2);
    gz_big_mul(&square, side_of(&v, end), side_of(&v, end));
    gz_big_sub(&room, &room, &square);
    if (room.sign < 0 || compare_rim(c, &a, &room, &across2) < 0) return false;
  }
  return true;
}

/* ---- two with parallel axes ---- */

int gz_cylinders_parallel(const cylinder *a, const cylinder *b, bool *parallel, bool *a_in_b, bool *b_in_a) {
  axis_view own;
  view ends[2];
  big_vector w, turn;
  big across2, reach;
  open_axis(a, &own);
  between(b, b->axis, b->axis + 1, &w);
  gz_big_cross(&own.u, &w, &turn);
  *parallel = turn.x[0].sign == 0 && turn.x[1].sign == 0 && turn.x[2].sign == 0;
  if (!*parallel) return 1;
  look_at(a, &own, b->axis, &ends[0]);
  look_at(a, &own, b->axis + 1, &ends[1]);
  const bool forward = compare(&ends[0].along, &ends[1].along) < 0;
  const view *low = &ends[forward ? 0 : 1], *high = &ends[forward ? 1 : 0];
  gz_big_dot(&low->across, &low->across, &across2);
  square_of_sum(a->radius, b->radius, &reach);
  gz_big_mul(&reach, &reach, &own.uu);
  const int across = compare(&across2, &reach);
  const int along = low->left.sign < 0 || high->along.sign < 0     ? 1
                    : low->left.sign == 0 || high->along.sign == 0 ? 0
                                                                   : -1;
  square_of_sum(a->radius, -b->radius, &reach);
  gz_big_mul(&reach, &reach, &own.uu);
  const bool near = compare(&across2, &reach) <= 0;
  *a_in_b = near && a->radius <= b->radius && low->along.sign <= 0 && high->left.sign <= 0;
  *b_in_a = near && b->radius <= a->radius && low->along.sign >= 0 && high->left.sign >= 0;
  return across > along ? across : along;
}
