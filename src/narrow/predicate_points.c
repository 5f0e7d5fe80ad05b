/* Signs from integers: with steps below 2^29 differences are below 2^30, minors below 2^61, determinants of three
 * differences below 2^93.
 */
#include "narrow/predicate_points.h"

#include <math.h>
#include <string.h>

#include "exact/expansion.h"
#include "exact/orient.h"

enum { GRID_BITS = 28, MISSES_MOST = 64 };

/* Products of three differences beyond these would leave the range of doubles on the way to the grid. */
static const double REACH_LEAST = 0x1p-900, REACH_MOST = 0x1p900;

void gz_predicate_points_clear(predicate_points *set, bool real) {
  set->real = real;
  set->unit = 0;
  set->off = ~0u;
  set->missed = 0;
}

void gz_predicate_points_lay_grid(predicate_points *set, const double origin[3], double reach) {
  if (set->real || !(reach > REACH_LEAST && reach < REACH_MOST)) return;
  memcpy(set->origin, origin, sizeof set->origin);
  set->unit = ldexp(1, GRID_BITS - ilogb(reach));
}

/* Whether the point lies on the grid; then its steps are set. */
static bool find_steps(const predicate_points *set, const double p[3], int64_t steps[3]) {
  for (int k = 0; k < 3; k++) {
    double d, rest;
    two_diff(p[k], set->origin[k], &d, &rest);
    double scaled = d * set->unit; /* exact, but for underflow */
    if (rest != 0 || !(fabs(scaled) < 0x1p29)) return false;
    steps[k] = (int64_t)scaled;
    if ((double)steps[k] != scaled || (scaled == 0 && d != 0)) return false;
  }
  return true;
}

void gz_predicate_points_set(predicate_points *set, int i, const side *s, const double local[3]) {
  double *posed = set->posed[i];
  memcpy(set->local[i], local, sizeof set->local[i]);
  if (set->real) {
    gz_real_points_set(&set->exact, i, set->local[i], &s->pose);
    return;
  }
  side_point(s, local, posed);
  if (set->unit == 0) return;
  unsigned bit = 1u << i;
  bool on = find_steps(set, posed, set->grid[i]);
  set->off = on ? set->off & ~bit : set->off | bit;
  set->missed = on ? 0 : set->missed + 1;
  if (set->missed > MISSES_MOST) gz_predicate_points_clear(set, false);
}

void gz_predicate_points_set_triangle(predicate_points *set, int first, const side *s, uint32_t triangle) {
  double corners[9];
  mesh_corners(s->mesh, triangle, corners);
  for (int c = 0; c < 3; c++) gz_predicate_points_set(set, first + c, s, corners + 3 * c);
}

/* ---- signs ---- */

static int sign_of(int64_t x) {
  return (x > 0) - (x < 0);
}

static int points_orient3d(const void *self, int a, int b, int c, int d) {
  const predicate_points *set = self;
  if ((set->off & (1u << a | 1u << b | 1u << c | 1u << d)) != 0) {
    return gz_orient3d(set->posed[a], set->posed[b], set->posed[c], set->posed[d]);
  }
  const int64_t *p = set->grid[a], *q = set->grid[b], *r = set->grid[c], *s = set->grid[d];
  int64_t u[3], v[3], w[3];
  for (int k = 0; k < 3; k++) {
    u[k] = q[k] - p[k];
    v[k] = r[k] - p[k];
    w[k] = s[k] - p[k];
  }
  __int128 det = (__int128)(u[1] * v[2] - u[2] * v[1]) * w[0] + (__int128)(u[2] * v[0] - u[0] * v[2]) * w[1] +
                 (__int128)(u[0] * v[1] - u[1] * v[0]) * w[2];
  return (det > 0) - (det < 0);
}

static int points_orient2d(const void *self, int axis, int a, int b, int c) {
  static const int next[5] = {0, 1, 2, 0, 1};
  const predicate_points *set = self;
  if ((set->off & (1u << a | 1u << b | 1u << c)) != 0) {
    return gz_orient2d(axis, set->posed[a], set->posed[b], set->posed[c]);
  }
  int i = next[axis + 1], j = next[axis + 2];
  const int64_t *p = set->grid[a], *q = set->grid[b], *r = set->grid[c];
  return sign_of((q[i] - p[i]) * (r[j] - p[j]) - (q[j] - p[j]) * (r[i] - p[i]));
}

static int points_compare(const void *self, int axis, int a, int b) {
  const predicate_points *set = self;
  double x = set->posed[a][axis], y = set->posed[b][axis];
  return (x > y) - (x < y);
}

sign_source gz_predicate_points_signs(predicate_points *set) {
  if (set->real) return gz_real_points_signs(&set->exact);
  return (sign_source){points_orient3d, points_orient2d, points_compare, set};
}
