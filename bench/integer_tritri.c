/* bench/integer_tritri.c: the judge of the triangle rows. Two closed triangles meet when an edge of one meets the other
 * (inside a plane too, and for segments and points: an inner triangle's edges lie in the outer one). Each edge-triangle
 * question is signs of determinants, formed in 128-bit integers: exact up to coordinates of 2^40. Slow and plain. */
#include "triangle_pairs.h"

typedef __int128 wide;

typedef struct vector {
  wide x[3];
} vector;

static vector difference(const int64_t *a, const int64_t *b) {
  return (vector){{(wide)a[0] - b[0], (wide)a[1] - b[1], (wide)a[2] - b[2]}};
}

static vector cross(vector a, vector b) {
  return (vector){
      {a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2], a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}

static int sign(wide x) {
  return (x > 0) - (x < 0);
}

static int dot_sign(vector a, vector b) {
  return sign(a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2]);
}

static bool is_zero(vector a) {
  return !a.x[0] && !a.x[1] && !a.x[2];
}

static vector normal(const int64_t t[9]) {
  return cross(difference(t + 3, t), difference(t + 6, t));
}

/* Which side of the plane through a, b, c the point d is on. */
static int side(const int64_t *a, const int64_t *b, const int64_t *c, const int64_t *d) {
  return dot_sign(cross(difference(b, a), difference(c, a)), difference(d, a));
}

/* Turn of p, q, r seen along an axis. */
static int turn(const int64_t *p, const int64_t *q, const int64_t *r, int axis) {
  int i = (axis + 1) % 3, j = (axis + 2) % 3;
  return sign(((wide)q[i] - p[i]) * ((wide)r[j] - p[j]) - ((wide)q[j] - p[j]) * ((wide)r[i] - p[i]));
}

static bool between(int64_t x, int64_t a, int64_t b) {
  return a <= b ? a <= x && x <= b : b <= x && x <= a;
}

static bool on_segment(const int64_t *p, const int64_t *a, const int64_t *b) {
  return is_zero(cross(difference(p, a), difference(b, a))) && between(p[0], a[0], b[0]) && between(p[1], a[1], b[1]) &&
         between(p[2], a[2], b[2]);
}

static bool segments_meet(const int64_t *p, const int64_t *q, const int64_t *r, const int64_t *s) {
  if (on_segment(p, r, s) || on_segment(q, r, s) || on_segment(r, p, q) || on_segment(s, p, q)) return true;
  vector n = cross(difference(q, p), difference(s, r));
  if (is_zero(n) || dot_sign(n, difference(r, p))) return false;
  int axis = n.x[0] ? 0 : n.x[1] ? 1 : 2;
  return turn(p, q, r, axis) * turn(p, q, s, axis) < 0 && turn(r, s, p, axis) * turn(r, s, q, axis) < 0;
}

static bool inside_coplanar(const int64_t *p, const int64_t t[9], int axis) {
  int a = turn(t, t + 3, p, axis), b = turn(t + 3, t + 6, p, axis), c = turn(t + 6, t, p, axis);
  return (a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0);
}

static bool edges_meet(const int64_t *p, const int64_t *q, const int64_t t[9]) {
  return segments_meet(p, q, t, t + 3) || segments_meet(p, q, t + 3, t + 6) || segments_meet(p, q, t + 6, t);
}

static bool segment_meets_triangle(const int64_t *p, const int64_t *q, const int64_t t[9]) {
  vector n = normal(t);
  if (is_zero(n)) return edges_meet(p, q, t);
  int over_p = dot_sign(n, difference(p, t)), over_q = dot_sign(n, difference(q, t));
  if (over_p * over_q > 0) return false;
  if (!over_p && !over_q) {
    int axis = n.x[0] ? 0 : n.x[1] ? 1 : 2;
    return inside_coplanar(p, t, axis) || inside_coplanar(q, t, axis) || edges_meet(p, q, t);
  }
  int a = side(p, q, t, t + 3), b = side(p, q, t + 3, t + 6), c = side(p, q, t + 6, t);
  return (a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0);
}

bool integer_triangles_meet(const int64_t a[9], const int64_t b[9]) {
  for (int k = 0; k < 3; k++) {
    if (segment_meets_triangle(a + 3 * k, a + 3 * ((k + 1) % 3), b)) return true;
    if (segment_meets_triangle(b + 3 * k, b + 3 * ((k + 1) % 3), a)) return true;
  }
  return false;
}

static bool one_side(const int64_t plane[9], const int64_t t[9]) {
  vector n = normal(plane);
  int first = dot_sign(n, difference(t, plane));
  return first && dot_sign(n, difference(t + 3, plane)) == first && dot_sign(n, difference(t + 6, plane)) == first;
}

bool integer_plane_rejects(const int64_t a[9], const int64_t b[9]) {
  return one_side(a, b) || one_side(b, a);
}
