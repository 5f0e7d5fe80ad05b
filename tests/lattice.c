/* Exact triangle pairs with small integer coordinates, in 128-bit integers: the fast oracle.
 *
 * The common set of two convex shapes is the hull of its extreme points, and each of those is a corner of one shape, or
 * a point where an edge of one meets the plane or an edge of the other. All such candidates are made as homogeneous
 * integers and kept when they lie in both shapes; how many different ones remain tells point from segment. An area is
 * there when two coplanar triangles have no edge line with the other one on its outer side.
 *
 * Sizes, with coordinates up to 2^20 and so differences up to 2^21: determinants < 2^66, candidates W < 2^67 and
 * X < 2^88, orientations < 2^112. Only equality of two candidates needs more; see same_point.
 */
#include <math.h>
#include <stdlib.h>

#include "oracle.h"

typedef __int128 wide;
typedef unsigned __int128 unsigned_wide;

typedef struct shape { /* dimension + 1 corners */
  int count;
  int64_t p[3][3];
} shape;

typedef struct candidate {
  wide x[3];
  wide w; /* > 0 */
} candidate;

typedef struct candidates {
  int count;
  candidate list[24];
} candidates;

static void subtract(int64_t r[3], const int64_t a[3], const int64_t b[3]) {
  for (int k = 0; k < 3; k++) r[k] = a[k] - b[k];
}

static void cross(int64_t r[3], const int64_t a[3], const int64_t b[3]) {
  for (int k = 0; k < 3; k++) r[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static bool is_zero(const int64_t v[3]) {
  return v[0] == 0 && v[1] == 0 && v[2] == 0;
}

static int axis_of(const int64_t v[3]) {
  return v[0] != 0 ? 0 : v[1] != 0 ? 1 : 2;
}

static wide height(const int64_t normal[3], const int64_t point[3], const int64_t origin[3]) {
  wide sum = 0;
  for (int k = 0; k < 3; k++) sum += (wide)normal[k] * (point[k] - origin[k]);
  return sum;
}

static int compare_points(const int64_t a[3], const int64_t b[3]) {
  for (int k = 0; k < 3; k++) {
    if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
  }
  return 0;
}

static void triangle_normal(const int64_t p[3][3], int64_t normal[3]) {
  int64_t u[3], v[3];
  subtract(u, p[1], p[0]);
  subtract(v, p[2], p[0]);
  cross(normal, u, v);
}

static shape make_shape(const int32_t c[9], const int32_t origin[3]) {
  shape s = {.count = 3};
  int64_t normal[3];
  for (int i = 0; i < 9; i++) s.p[i / 3][i % 3] = (int64_t)c[i] - origin[i % 3];
  triangle_normal(s.p, normal);
  if (!is_zero(normal)) return s;
  int low = 0, high = 0;
  for (int i = 1; i < 3; i++) {
    if (compare_points(s.p[i], s.p[low]) < 0) low = i;
    if (compare_points(s.p[i], s.p[high]) > 0) high = i;
  }
  shape ends = {.count = low == high ? 1 : 2};
  for (int k = 0; k < 3; k++) {
    ends.p[0][k] = s.p[low][k];
    ends.p[1][k] = s.p[high][k];
  }
  return ends;
}

/* Dimension of all points together; `drop` is an axis along which that hull projects without loss. */
static int common_hull(const shape *a, const shape *b, int *drop) {
  const int64_t *all[6];
  int n = 0;
  for (int i = 0; i < a->count; i++) all[n++] = a->p[i];
  for (int i = 0; i < b->count; i++) all[n++] = b->p[i];
  int64_t direction[3] = {0, 0, 0}, normal[3] = {0, 0, 0}, d[3];
  for (int i = 1; i < n && is_zero(direction); i++) subtract(direction, all[i], all[0]);
  *drop = is_zero(direction) ? 0 : (axis_of(direction) + 1) % 3;
  if (is_zero(direction)) return 0;
  for (int i = 1; i < n && is_zero(normal); i++) {
    subtract(d, all[i], all[0]);
    cross(normal, direction, d);
  }
  if (is_zero(normal)) return 1;
  *drop = axis_of(normal);
  for (int i = 1; i < n; i++) {
    if (height(normal, all[i], all[0]) != 0) return 3;
  }
  return 2;
}

/* ---- candidates -------------------------------------------------------------------------------------------------- */

/* Sign of the turn p, q, c in the projection along `drop`. */
static int turn(const int64_t p[3], const int64_t q[3], const candidate *c, int drop) {
  int i = (drop + 1) % 3, j = (drop + 2) % 3;
  wide value = (q[i] - p[i]) * (c->x[j] - c->w * p[j]) - (q[j] - p[j]) * (c->x[i] - c->w * p[i]);
  return (value > 0) - (value < 0);
}

static bool between(int64_t p, int64_t q, wide x, wide w) {
  int64_t low = p < q ? p : q, high = p < q ? q : p;
  return x >= w * low && x <= w * high;
}

/* Whether the candidate, which lies in the hull of which `drop` was found, lies in the closed shape. */
static bool inside(const candidate *c, const shape *s, int drop) {
  int i = (drop + 1) % 3, j = (drop + 2) % 3;
  if (s->count == 3) {
    int low = 0, high = 0;
    for (int e = 0; e < 3; e++) {
      int t = turn(s->p[e], s->p[(e + 1) % 3], c, drop);
      low |= t < 0;
      high |= t > 0;
    }
    return !(low && high);
  }
  const int64_t *p = s->p[0], *q = s->p[s->count - 1];
  return turn(p, q, c, drop) == 0 && between(p[i], q[i], c->x[i], c->w) && between(p[j], q[j], c->x[j], c->w);
}

static candidate corner_candidate(const int64_t p[3]) {
  return (candidate){{p[0], p[1], p[2]}, 1};
}

/* The point between p and q where a value that is sp at p and sq at q, of opposite signs, vanishes. */
static candidate crossing_candidate(const int64_t p[3], wide sp, const int64_t q[3], wide sq) {
  candidate c = {.w = sp - sq};
  for (int k = 0; k < 3; k++) c.x[k] = sp * q[k] - sq * p[k];
  if (c.w < 0) {
    for (int k = 0; k < 3; k++) c.x[k] = -c.x[k];
    c.w = -c.w;
  }
  return c;
}

/* x1 * w2 == x2 * w1. The products may pass 2^127: an estimate shows that the difference is below 2^121 or not zero,
 * and then its value mod 2^128 decides. */
static bool same_ratio(wide x1, wide w1, wide x2, wide w2) {
  long double estimate = (long double)x1 * (long double)w2 - (long double)x2 * (long double)w1;
  if (fabsl(estimate) > 0x1p120L) return false;
  return (unsigned_wide)x1 * (unsigned_wide)w2 == (unsigned_wide)x2 * (unsigned_wide)w1;
}

static bool same_point(const candidate *a, const candidate *b) {
  for (int k = 0; k < 3; k++) {
    if (!same_ratio(a->x[k], a->w, b->x[k], b->w)) return false;
  }
  return true;
}

static void keep(candidates *all, const candidate *c) {
  all->list[all->count++] = *c;
}

static uint8_t kind_of(const candidates *all) {
  if (all->count == 0) return GRAZE_KIND_NONE;
  for (int i = 1; i < all->count; i++) {
    if (!same_point(&all->list[0], &all->list[i])) return GRAZE_KIND_SEGMENT;
  }
  return GRAZE_KIND_POINT;
}

/* ---- the two situations ------------------------------------------------------------------------------------------ */

/* Corners and edges of `s` against the plane of the proper triangle `t`, in space. */
static void pierce(const shape *s, const shape *t, candidates *all) {
  int64_t normal[3];
  wide h[3];
  triangle_normal(t->p, normal);
  int drop = axis_of(normal);
  for (int i = 0; i < s->count; i++) {
    h[i] = height(normal, s->p[i], t->p[0]);
    candidate c = corner_candidate(s->p[i]);
    if (h[i] == 0 && inside(&c, t, drop)) keep(all, &c);
  }
  int edges = s->count == 3 ? 3 : s->count - 1;
  for (int i = 0; i < edges; i++) {
    int next = (i + 1) % s->count;
    if ((h[i] > 0) == (h[next] > 0) || h[i] == 0 || h[next] == 0) continue;
    candidate c = crossing_candidate(s->p[i], h[i], s->p[next], h[next]);
    if (inside(&c, t, drop)) keep(all, &c);
  }
}

static wide turn_value(const int64_t p[3], const int64_t q[3], const int64_t r[3], int drop) {
  int i = (drop + 1) % 3, j = (drop + 2) % 3;
  return (wide)(q[i] - p[i]) * (r[j] - p[j]) - (wide)(q[j] - p[j]) * (r[i] - p[i]);
}

static void cross_edges(const shape *a, const shape *b, int drop, candidates *all) {
  int edges_a = a->count == 3 ? 3 : a->count - 1, edges_b = b->count == 3 ? 3 : b->count - 1;
  for (int i = 0; i < edges_a; i++) {
    for (int j = 0; j < edges_b; j++) {
      const int64_t *p = a->p[i], *q = a->p[(i + 1) % a->count];
      const int64_t *r = b->p[j], *s = b->p[(j + 1) % b->count];
      wide tr = turn_value(p, q, r, drop), ts = turn_value(p, q, s, drop);
      wide tp = turn_value(r, s, p, drop), tq = turn_value(r, s, q, drop);
      if (tr == 0 || ts == 0 || tp == 0 || tq == 0 || (tr > 0) == (ts > 0) || (tp > 0) == (tq > 0)) continue;
      candidate c = crossing_candidate(r, tr, s, ts);
      keep(all, &c);
    }
  }
}

/* An edge line of `a` that has all of `b` on its outer side or on itself. */
static bool separates(const shape *a, const shape *b, int drop) {
  for (int i = 0; i < 3; i++) {
    const int64_t *p = a->p[i], *q = a->p[(i + 1) % 3];
    bool positive = turn_value(p, q, a->p[(i + 2) % 3], drop) > 0, outside = true;
    for (int j = 0; j < 3; j++) {
      wide t = turn_value(p, q, b->p[j], drop);
      outside = outside && (positive ? t <= 0 : t >= 0);
    }
    if (outside) return true;
  }
  return false;
}

static uint8_t kind_in_plane(const shape *a, const shape *b, int drop) {
  candidates all = {.count = 0};
  for (int i = 0; i < a->count; i++) {
    candidate c = corner_candidate(a->p[i]);
    if (inside(&c, b, drop)) keep(&all, &c);
  }
  for (int i = 0; i < b->count; i++) {
    candidate c = corner_candidate(b->p[i]);
    if (inside(&c, a, drop)) keep(&all, &c);
  }
  cross_edges(a, b, drop, &all);
  if (a->count == 3 && b->count == 3 && !separates(a, b, drop) && !separates(b, a, drop)) return GRAZE_KIND_AREA;
  return kind_of(&all);
}

void lattice_tritri(const int32_t ca[9], const int32_t cb[9], graze_tritri *result) {
  shape a = make_shape(ca, ca), b = make_shape(cb, ca);
  int drop;
  int dimension = common_hull(&a, &b, &drop);
  result->coplanar = dimension <= 2;
  result->degenerate = (uint8_t)((a.count < 3 ? 1 : 0) | (b.count < 3 ? 2 : 0));
  if (dimension <= 2) {
    result->kind = kind_in_plane(&a, &b, drop);
    return;
  }
  candidates all = {.count = 0};
  if (b.count == 3) pierce(&a, &b, &all);
  if (a.count == 3) pierce(&b, &a, &all);
  result->kind = kind_of(&all);
}
