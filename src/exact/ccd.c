/* The exact stage of continuous collision: polynomials in t with integer coefficients, and their signs at roots. */
#include "exact/ccd.h"

#include "exact/roots.h"

struct ccd_scratch {
  poly x[4][3]; /* the points */
  poly side, u[3], v[3], w, term, coplanar;
  unit_roots start;               /* t = 0 */
  unit_roots planes, lines, ends; /* of the cubic, of quadratics, of lines */
};

size_t gz_ccd_scratch_size(void) {
  return sizeof(ccd_scratch);
}

/* A time that is asked about. */
typedef struct moment {
  unit_roots *roots;
  int i;
} moment;

static int sign_then(const moment *t, const poly *g) {
  return gz_roots_sign(t->roots, t->i, g);
}

/* Axis k of (b - a) x (d - c). */
static void cross(ccd_scratch *s, poly *r, int a, int b, int c, int d, int k) {
  int i = (k + 1) % 3, j = (k + 2) % 3;
  gz_poly_sub(&s->w, &s->x[b][i], &s->x[a][i]);
  gz_poly_sub(&s->term, &s->x[d][j], &s->x[c][j]);
  gz_poly_mul(r, &s->w, &s->term);
  gz_poly_sub(&s->w, &s->x[b][j], &s->x[a][j]);
  gz_poly_sub(&s->term, &s->x[d][i], &s->x[c][i]);
  gz_poly_mul(&s->w, &s->w, &s->term);
  gz_poly_sub(r, r, &s->w);
}

/* Twice the area of the triangle of points a, b, c, seen along axis k. */
static void orientation(ccd_scratch *s, poly *r, int a, int b, int c, int k) {
  cross(s, r, a, b, a, c, k);
}

/* Six times the volume of the four points. */
static void volume(ccd_scratch *s, poly *r) {
  r->degree = -1;
  for (int k = 0; k < 3; k++) {
    orientation(s, &s->side, 0, 1, 2, k);
    gz_poly_sub(&s->w, &s->x[3][k], &s->x[0][k]);
    gz_poly_mul(&s->side, &s->side, &s->w);
    gz_poly_add(r, r, &s->side);
  }
}

/* ---- at a moment ---------------------------------------------------------------------------------------------- */

/* Point p on the edge from a to b: on its line, and on each axis between its ends. */
static bool is_on_edge(ccd_scratch *s, const moment *t, int p, int a, int b) {
  for (int k = 0; k < 3; k++) {
    orientation(s, &s->side, p, a, b, k);
    if (sign_then(t, &s->side) != 0) return false;
  }
  for (int k = 0; k < 3; k++) {
    gz_poly_sub(&s->w, &s->x[p][k], &s->x[a][k]);
    gz_poly_sub(&s->term, &s->x[p][k], &s->x[b][k]);
    gz_poly_mul(&s->w, &s->w, &s->term);
    if (sign_then(t, &s->w) > 0) return false;
  }
  return true;
}

/* The point in the triangle of the three others, which is in its plane. */
static bool is_in_face(ccd_scratch *s, const moment *t) {
  for (int k = 0; k < 3; k++) {
    orientation(s, &s->side, 1, 2, 3, k);
    int normal = sign_then(t, &s->side);
    if (normal == 0) continue;
    for (int i = 1; i <= 3; i++) {
      orientation(s, &s->side, 0, i, i % 3 + 1, k);
      if (sign_then(t, &s->side) * normal < 0) return false;
    }
    return true;
  }
  return is_on_edge(s, t, 0, 1, 2) || is_on_edge(s, t, 0, 2, 3) || is_on_edge(s, t, 0, 3, 1);
}

/* Points c and d on different sides of the line of a and b, seen along axis k, or one of them on it. */
static bool are_parted(ccd_scratch *s, const moment *t, int a, int b, int c, int d, int k) {
  orientation(s, &s->side, a, b, c, k);
  int sign = sign_then(t, &s->side);
  if (sign == 0) return true;
  orientation(s, &s->side, a, b, d, k);
  return sign_then(t, &s->side) * sign <= 0;
}

/* Two edges in one plane. */
static bool do_edges_meet(ccd_scratch *s, const moment *t) {
  for (int k = 0; k < 3; k++) {
    cross(s, &s->side, 0, 1, 2, 3, k);
    if (sign_then(t, &s->side) == 0) continue;
    return are_parted(s, t, 0, 1, 2, 3, k) && are_parted(s, t, 2, 3, 0, 1, k);
  }
  return is_on_edge(s, t, 0, 2, 3) || is_on_edge(s, t, 1, 2, 3) || is_on_edge(s, t, 2, 0, 1) ||
         is_on_edge(s, t, 3, 0, 1);
}

/* ---- the first moment ----------------------------------------------------------------------------------------- */

static bool take_start(double time[2]) {
  time[0] = time[1] = 0;
  return true;
}

/* Of two meetings the first; a double next to the earlier time is not later than that next to the other. */
static bool take_earlier(bool found, const double later[2], bool known, double time[2]) {
  if (!found) return known;
  if (!known || later[0] < time[0]) time[0] = later[0];
  if (!known || later[1] < time[1]) time[1] = later[1];
  return true;
}

static bool first_of_points(ccd_scratch *s, int a, int b, double time[2]) {
  int axis = -1;
  for (int k = 0; k < 3; k++) {
    gz_poly_sub(&s->v[k], &s->x[b][k], &s->x[a][k]);
    if (s->v[k].degree >= 0) axis = k;
  }
  if (axis < 0) return take_start(time);
  gz_roots_find(&s->ends, &s->v[axis]);
  if (s->ends.count == 0) return false;
  for (int k = 0; k < 3; k++) {
    if (k != axis && gz_roots_sign(&s->ends, 0, &s->v[k]) != 0) return false;
  }
  gz_roots_bracket(&s->ends, 0, time);
  return true;
}

static bool first_of_point_and_edge(ccd_scratch *s, int p, int a, int b, double time[2]) {
  int axis = -1;
  for (int k = 0; k < 3; k++) {
    orientation(s, &s->u[k], p, a, b, k);
    if (s->u[k].degree >= 0) axis = k;
  }
  if (axis >= 0) {
    gz_roots_find(&s->lines, &s->u[axis]);
    for (int i = 0; i < s->lines.count; i++) {
      if (!is_on_edge(s, &(moment){&s->lines, i}, p, a, b)) continue;
      gz_roots_bracket(&s->lines, i, time);
      return true;
    }
    return false;
  }
  if (is_on_edge(s, &(moment){&s->start, 0}, p, a, b)) return take_start(time);
  double other[2];
  bool found = first_of_points(s, p, a, time);
  return take_earlier(first_of_points(s, p, b, other), other, found, time);
}

/* Where the four points are always in one plane. */
static bool first_in_plane(ccd_scratch *s, graze_ccd_kind kind, double time[2]) {
  static const int pairs[2][4][3] = {{{0, 1, 2}, {0, 2, 3}, {0, 3, 1}}, {{0, 2, 3}, {1, 2, 3}, {2, 0, 1}, {3, 0, 1}}};
  bool found = false;
  for (int i = 0; i < (kind == GRAZE_CCD_VERTEX_FACE ? 3 : 4); i++) {
    const int *pair = pairs[kind][i];
    double other[2];
    found = take_earlier(first_of_point_and_edge(s, pair[0], pair[1], pair[2], other), other, found, time);
  }
  return found;
}

static bool do_meet(ccd_scratch *s, graze_ccd_kind kind, const moment *t) {
  return kind == GRAZE_CCD_VERTEX_FACE ? is_in_face(s, t) : do_edges_meet(s, t);
}

bool gz_ccd_exact(const graze_ccd_query *query, ccd_scratch *s, double time[2]) {
  graze_ccd_kind kind = query->kind;
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 3; k++) gz_poly_line(&s->x[i][k], query->points[0][i][k], query->points[1][i][k]);
  }
  volume(s, &s->coplanar);
  if (s->coplanar.degree >= 0) {
    gz_roots_find(&s->planes, &s->coplanar);
    for (int i = 0; i < s->planes.count; i++) {
      if (!do_meet(s, kind, &(moment){&s->planes, i})) continue;
      gz_roots_bracket(&s->planes, i, time);
      return true;
    }
    return false;
  }
  gz_poly_line(&s->w, 0, 1);
  gz_roots_find(&s->start, &s->w);
  if (do_meet(s, kind, &(moment){&s->start, 0})) return take_start(time);
  return first_in_plane(s, kind, time);
}
