/* Whether two hulls meet, without their images: most pairs are settled by a few directions and a few points.
 *
 * GJK as in gjk.c, but a direction is taken into the frame of each hull in place of the vertices out of it, so that
 * only the points that are found are posed. What a claim needs is proved all the same, for the points of tier T1 and
 * for the real images alike; what is not proved is left open.
 *
 * Bounds, u = 2^-53, d a direction, R_s and t_s the parts of the pose of side s, P the largest |coordinates| of its
 * points. A product d . (R_s p + t_s) is computed as (R_s' d) . p and d . t apart: three roundings for the direction,
 * three for the product, so 6 u of sum |d_r| |R_rk| P_k; a posed point of tier T1 is off by 4 u of the same and of |d|
 * |t|; d . (t_b - t_a) by 4 u; and the last two sums by 2 u of all. 13 u sum |d_r| S_r with S_r = sum |R_rk| P_k +
 * |t_r| of both sides covers it. Sizes are within [1e-100, 1e100], and directions at least 1e-18 of them, so that
 * nothing overflows and what underflows does not matter. */
#include "convex/quick.h"

#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "base/vector3.h"
#include "geometry/pose.h"

enum { MOST_STEPS = 16 };

static const double UNIT = 0x1p-53;

typedef struct quick_pair {
  const graze_convex *sets[2];
  const graze_pose *poses[2];
  supporting support;
  support_function *find;
  double shift[3];         /* t_b - t_a */
  double size[3];          /* S */
  double reach[3], off[3]; /* |w| is at most this, and off by at most that */
  double largest;          /* of reach */
} quick_pair;

/* Largest |coordinates| of the image without its shift. */
static void extent_of(const graze_hull *hull, const graze_pose *pose, double out[3]) {
  double most[3];
  for (int k = 0; k < 3; k++) most[k] = larger(fabs(hull->low[k]), fabs(hull->high[k]));
  for (int r = 0; r < 3; r++) {
    const double *row = pose->m + 4 * r;
    out[r] = fabs(row[0]) * most[0] + fabs(row[1]) * most[1] + fabs(row[2]) * most[2];
  }
}

static const graze_pose at_home = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};

static bool begin(quick_pair *q, const graze_convex_pair *pair, bool is_real) {
  double extent[2][3];
  q->sets[0] = pair->a, q->sets[1] = pair->b;
  q->poses[0] = pair->pose_a != NULL ? pair->pose_a : &at_home;
  q->poses[1] = pair->pose_b != NULL ? pair->pose_b : &at_home;
  for (int s = 0; s < 2; s++) {
    const uint32_t lanes = (q->sets[s]->count + 7) / 8 * 8;
    extent_of(q->sets[s]->hull, q->poses[s], extent[s]);
    q->support.lanes[s] = lanes;
    for (int k = 0; k < 3; k++) q->support.y[s][k] = q->sets[s]->hull->axes + (size_t)k * lanes;
  }
  q->find = CPU_KERNEL(gz_convex_support);
  q->largest = 0;
  double all = 0;
  for (int r = 0; r < 3; r++) {
    const double a = q->poses[0]->m[4 * r + 3], b = q->poses[1]->m[4 * r + 3];
    q->shift[r] = b - a;
    q->size[r] = extent[0][r] + extent[1][r] + fabs(a) + fabs(b);
    q->reach[r] = 1.001 * (extent[0][r] + extent[1][r] + fabs(q->shift[r]));
    q->off[r] = 1.01 * UNIT * q->reach[r] + (is_real ? 4.1 * UNIT * q->size[r] : 0);
    q->largest = larger(q->largest, q->reach[r]);
    all = larger(all, q->size[r]);
  }
  return q->largest > 1e-100 && all < 1e100;
}

/* The point of A - B farthest along d, and the product. */
static convex_point find_point(const quick_pair *q, const double d[3], double *product) {
  double n[2][3];
  extreme best[2];
  for (int s = 0; s < 2; s++) {
    const double *m = q->poses[s]->m, sign = s == 0 ? 1 : -1;
    for (int k = 0; k < 3; k++) n[s][k] = sign * ((d[0] * m[k] + d[1] * m[4 + k]) + d[2] * m[8 + k]);
  }
  q->find(&q->support, n[0], n[1], best);
  *product = (best[0].value + best[1].value) - dot3(d, q->shift);
  convex_point p = {.v = {best[0].vertex, best[1].vertex}};
  const double *a = q->sets[0]->points + 3 * (size_t)p.v[0], *b = q->sets[1]->points + 3 * (size_t)p.v[1];
  for (int k = 0; k < 3; k++) p.w[k] = pose_row(q->poses[0], k, a) - pose_row(q->poses[1], k, b);
  return p;
}

/* From the middle of b to that of a. */
static void first_direction(const quick_pair *q, double v[3]) {
  double middle[2][3];
  for (int s = 0; s < 2; s++) {
    const graze_hull *hull = q->sets[s]->hull;
    for (int k = 0; k < 3; k++) middle[s][k] = 0.5 * hull->low[k] + 0.5 * hull->high[k];
  }
  for (int k = 0; k < 3; k++) v[k] = pose_row(q->poses[0], k, middle[0]) - pose_row(q->poses[1], k, middle[1]);
}

convex_verdict gz_quick_meet(const graze_convex_pair *pair, bool is_real) {
  quick_pair q;
  convex_simplex simplex;
  double v[3];
  if (!begin(&q, pair, is_real)) return CONVEX_OPEN;
  simplex.count = 0;
  first_direction(&q, v);
  for (int step = 0; step < MOST_STEPS; step++) {
    const double square = dot3(v, v), least = 1e-18 * q.largest;
    if (!(square > least * least)) return CONVEX_OPEN;
    const double against[3] = {-v[0], -v[1], -v[2]};
    double product;
    const convex_point p = find_point(&q, against, &product);
    const double slop = 13 * UNIT * (fabs(v[0]) * q.size[0] + fabs(v[1]) * q.size[1] + fabs(v[2]) * q.size[2]);
    if (product < -slop) return CONVEX_APART;
    if (gz_simplex_has(&simplex, &p)) return CONVEX_OPEN;
    simplex.p[simplex.count++] = p;
    gz_simplex_nearest(&simplex);
    if (simplex.count == 4) return gz_enclosing_sign(q.reach, q.off, simplex.p) != 0 ? CONVEX_HIT : CONVEX_OPEN;
    gz_simplex_point(&simplex, v);
  }
  return CONVEX_OPEN;
}
