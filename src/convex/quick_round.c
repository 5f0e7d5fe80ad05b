/* A quick look at whether two balls or capsules meet: points and segments, grown by balls.
 *
 * The nearest places of two segments (C. Ericson, "Real-Time Collision Detection", 2005, 5.1.9) are only a proposal. If
 * they are nearer than the radii reach, the sets meet; if all ends are farther than that along the way from one place
 * to the other, they do not. With S the sum of what is added up in all coordinates, without signs, and u = 2^-53,
 * coordinates of posed points are off by at most 4 u S, of places on the segments by 10 u S, and of the way by 20 u S,
 * so its length by less than 40 u S; a product with the way of length L is off by less than 40 u S L. The margin is
 * 90 u S.
 */
#include <string.h>

#include "base/extremes.h"
#include "base/vector3.h"
#include "convex/quick.h"
#include "geometry/pose.h"

static const double MARGIN = 1e-14, SMALLEST = 1e-100, LARGEST = 1e100;

/* The ends in the world, the second a copy of the first if it is a point. Gives S. */
static double find_ends(const graze_convex *set, const graze_pose *given, double ends[2][3]) {
  static const graze_pose none = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
  const graze_pose *pose = given != NULL ? given : &none;
  double size = 0;
  for (uint32_t i = 0; i < set->count; i++) {
    const double *p = set->points + 3 * (size_t)i;
    for (int k = 0; k < 3; k++) {
      const double *m = pose->m + 4 * k;
      ends[i][k] = pose_row(pose, k, p);
      size += fabs(m[0] * p[0]) + fabs(m[1] * p[1]) + fabs(m[2] * p[2]) + fabs(m[3]);
    }
  }
  if (set->count == 1) memcpy(ends[1], ends[0], sizeof ends[0]);
  return size;
}

static double clamped(double x) {
  return x > 0 ? smaller(x, 1) : 0;
}

/* Shares s and t of the second ends at the nearest places, or nearly. */
static void find_shares(double a[2][3], double b[2][3], double *s, double *t) {
  double u[3], v[3], w[3];
  sub3(a[1], a[0], u);
  sub3(b[1], b[0], v);
  sub3(b[0], a[0], w);
  const double uu = dot3(u, u), vv = dot3(v, v), uv = dot3(u, v), uw = dot3(u, w), vw = dot3(v, w);
  const double both = uu * vv - uv * uv;
  *s = both > 0 ? clamped((uw * vv - vw * uv) / both) : 0;
  *t = vv > 0 ? clamped((*s * uv - vw) / vv) : 0;
  *s = uu > 0 ? clamped((*t * uv + uw) / uu) : 0;
}

/* How far b's ends are beyond a's along the way. */
static double gap_along(const double way[3], double a[2][3], double b[2][3]) {
  double from = -(double)INFINITY, to = (double)INFINITY;
  for (int i = 0; i < 2; i++) {
    double w[3], v[3];
    sub3(a[i], a[0], w);
    sub3(b[i], a[0], v);
    from = larger(from, dot3(way, w));
    to = smaller(to, dot3(way, v));
  }
  return to - from;
}

convex_verdict gz_quick_round(const graze_convex_pair *pair) {
  double a[2][3], b[2][3], way[3], s, t;
  const double size = find_ends(pair->a, pair->pose_a, a) + find_ends(pair->b, pair->pose_b, b);
  const double radii = pair->a->radius + pair->b->radius, margin = MARGIN * size;
  if (!(size > SMALLEST && size < LARGEST && radii < LARGEST)) return CONVEX_OPEN;
  find_shares(a, b, &s, &t);
  for (int k = 0; k < 3; k++) way[k] = (b[0][k] + t * (b[1][k] - b[0][k])) - (a[0][k] + s * (a[1][k] - a[0][k]));
  const double length = length3(way);
  if (length + margin < radii * (1 - MARGIN)) return CONVEX_HIT;
  if (!(length > SMALLEST)) return CONVEX_OPEN;
  return gap_along(way, a, b) - margin * length > radii * length * (1 + MARGIN) ? CONVEX_APART : CONVEX_OPEN;
}
