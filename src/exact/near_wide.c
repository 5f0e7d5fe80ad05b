/* A lower bound of the distance of two triangles with twice the digits, for triangles that are as near as others.
 *
 * Where faces lie flush or pipes run side by side, thousands of pairs have the same distance up to rounding, and each
 * has to be proved not to round to less. As in near_kernels.c all of b lies beyond all of a in a direction g by
 * (min g.b - max g.a) / |g|, here with g from the features that are nearest and in numbers of two doubles. Whatever g
 * is, it is taken as it stands, so only the products g.x are rounded: differences of doubles are exact. With g scaled
 * to between 1 and 2 and E the largest difference, each is off by less than 2^-98 E; 2^-95 E covers their difference,
 * and a factor of 1 + 2^-95 the squares.
 */
#include <math.h>

#include "exact/near.h"
#include "exact/wide_vector.h"

/* The part of w at right angles to e, times e.e. */
static wide_vector vector_across(const wide_vector *w, const wide_vector *e) {
  wide along = vector_dot(w, e), square = vector_dot(e, e);
  wide_vector r;
  for (int k = 0; k < 3; k++) r.x[k] = wide_sub(wide_mul(w->x[k], square), wide_mul(e->x[k], along));
  return r;
}

static double rough_dot(const wide_vector *a, const wide_vector *b) {
  return a->x[0].hi * b->x[0].hi + a->x[1].hi * b->x[1].hi + a->x[2].hi * b->x[2].hi;
}

/* Between the edges from p of a and from q of b: of the lines, or of an end and a line, or of two ends, as the nearest
 * points of near_kernels.c lie. */
static wide_vector edges_direction(const double p[2][3], const double q[2][3]) {
  wide_vector u = vector_between(p[0], p[1]), v = vector_between(q[0], q[1]), r = vector_between(p[0], q[0]);
  double uu = rough_dot(&u, &u), uv = rough_dot(&u, &v), vv = rough_dot(&v, &v);
  double ur = rough_dot(&u, &r), vr = rough_dot(&v, &r), below = uu * vv - uv * uv;
  bool crossed = below > 0x1p-40 * uu * vv;
  double s = crossed ? fmin(fmax((ur * vv - uv * vr) / below, 0), 1) : 0;
  double t = vv > 0 ? fmin(fmax((uv * s - vr) / vv, 0), 1) : 0;
  s = uu > 0 ? fmin(fmax((uv * t + ur) / uu, 0), 1) : 0;
  bool inside_s = s > 0 && s<1, inside_t = t> 0 && t < 1;
  if (crossed && inside_s && inside_t) return vector_cross(&u, &v);
  wide_vector w = vector_between(p[s == 1], q[t == 1]);
  if (inside_s) return vector_across(&w, &u);
  return inside_t ? vector_across(&w, &v) : w;
}

/* Of corners 0 to 2 of a and 3 to 5 of b. */
static wide_vector direction_at(const double x[6][3], int place) {
  static const int next[6] = {1, 2, 0, 4, 5, 3};
  if (place < NEAR_EDGES) {
    int i = place / 3, j = 3 + place % 3;
    double p[2][3], q[2][3];
    for (int k = 0; k < 3; k++) {
      p[0][k] = x[i][k];
      p[1][k] = x[next[i]][k];
      q[0][k] = x[j][k];
      q[1][k] = x[next[j]][k];
    }
    return edges_direction((const double(*)[3])p, (const double(*)[3])q);
  }
  const double(*f)[3] = x + (place < NEAR_EDGES + 3 ? 0 : 3);
  wide_vector u = vector_between(f[0], f[1]), v = vector_between(f[0], f[2]);
  return vector_cross(&u, &v);
}

/* To between 1 and 2, by a power of two; false: nothing that can be. */
static bool scale_direction(wide_vector *g) {
  double most = fmax(fmax(fabs(g->x[0].hi), fabs(g->x[1].hi)), fabs(g->x[2].hi));
  if (!(most > 0x1p-900) || !(most < 0x1p900)) return false;
  double factor = ldexp(1, -ilogb(most));
  for (int k = 0; k < 3; k++) g->x[k] = (wide){g->x[k].hi * factor, g->x[k].lo * factor};
  return true;
}

/* First and last of three corners in the direction, from the first corner of a. */
static void extent_along(const near_pair *pair, int first, const wide_vector *g, wide *low, wide *high, double *size) {
  const double(*x)[3] = pair->points.rounded;
  for (int k = 0; k < 3; k++) {
    wide_vector w = vector_between(x[0], x[first + k]);
    wide at = vector_dot(g, &w);
    for (int i = 0; i < 3; i++) *size = fmax(*size, fabs(w.x[i].hi));
    if (k == 0 || wide_less(at, *low)) *low = at;
    if (k == 0 || wide_less(*high, at)) *high = at;
  }
}

bool gz_near_beyond(const near_pair *pair, double high, double low) {
  wide_vector g = {{{0, 0}, {0, 0}, {0, 0}}};
  wide first[2], last[2];
  double size = 0;
  if (pair->points.pose[0] != NULL || pair->place == NEAR_NOWHERE || !(high > 0x1p-400)) return false;
  g = direction_at(pair->points.rounded, pair->place);
  if (!scale_direction(&g)) return false;
  for (int k = 0; k < 2; k++) extent_along(pair, 3 * k, &g, &first[k], &last[k], &size);
  if (!(size > 0x1p-150) || !(size < 0x1p150)) return false;
  wide ahead = wide_sub(first[1], last[0]), behind = wide_sub(first[0], last[1]);
  wide reach = wide_sub(wide_less(ahead, behind) ? behind : ahead, (wide){0x1p-95 * size, 0});
  if (!(reach.hi > 0)) return false;
  wide limit = wide_mul((wide){high, low}, (wide){high, low});
  limit = wide_mul(wide_mul(limit, vector_dot(&g, &g)), wide_join(1, 0x1p-95));
  return wide_less(limit, wide_mul(reach, reach));
}

bool gz_near_direction(const double x[6][3], int place, double g[3]) {
  wide_vector w;
  if (place == NEAR_NOWHERE) return false;
  w = direction_at(x, place);
  if (!scale_direction(&w)) return false;
  for (int k = 0; k < 3; k++) g[k] = w.x[k].hi;
  return true;
}
