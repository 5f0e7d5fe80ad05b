/* A pair of hulls as a quick look sees it: where they are, and bounds on what is computed of them. For kernels.
 *
 * Bounds, u = 2^-53, d a direction, R_s and t_s the parts of the pose of side s, P the largest |coordinates| of its
 * points. A product d . (R_s p + t_s) is computed as (R_s' d) . p and d . t apart: three roundings for the direction,
 * three for the product, so 6 u of sum |d_r| |R_rk| P_k; a posed point of tier T1 is off by 4 u of the same and of |d|
 * |t|; d . (t_b - t_a) by 4 u; and the last two sums by 2 u of all. 13 u sum |d_r| S_r with S_r = sum |R_rk| P_k +
 * |t_r| of both sides covers it. Sizes are at most 1e30, so that nothing overflows, as directions have four lengths as
 * factors at most; and a factor that underflows loses less than 2^-1074, times other factors far below 1e200.
 */
#ifndef GRAZE_SRC_CONVEX_QUICK_PAIR_H
#define GRAZE_SRC_CONVEX_QUICK_PAIR_H

#include "base/extremes.h"
#include "convex/pair.h"
#include "geometry/pose.h"

enum { QUICK_STEPS = 16 };

static const double UNIT = 0x1p-53, LARGEST = 1e30, LOST = 1e-100;

typedef struct quick_pair {
  const graze_convex *sets[2];
  const graze_pose *poses[2];
  const double *axes[2][3];
  uint32_t lanes[2];
  double shift[3];         /* t_b - t_a */
  double size[3];          /* S */
  double reach[3], off[3]; /* |w| is at most this, and off by at most that */
} quick_pair;

/* Largest |coordinates| of the image without its shift. Gives the largest of the points. */
static inline double extent_of(const graze_hull *hull, const graze_pose *pose, double out[3]) {
  double most[3];
  for (int k = 0; k < 3; k++) most[k] = larger(fabs(hull->low[k]), fabs(hull->high[k]));
  for (int r = 0; r < 3; r++) {
    const double *row = pose->m + 4 * r;
    out[r] = fabs(row[0]) * most[0] + fabs(row[1]) * most[1] + fabs(row[2]) * most[2];
  }
  return larger(larger(most[0], most[1]), most[2]);
}

/* What a coordinate of a point of A - B may be off. */
static inline double error_of_point(double reach, double size, bool is_real) {
  return 1.01 * UNIT * reach + (is_real ? 4.1 * UNIT * size : 0);
}

static inline uint32_t padded_count(uint32_t vertices) {
  return (vertices + 7) / 8 * 8;
}

static const graze_pose at_home = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};

static inline bool quick_begin(quick_pair *q, const graze_convex_pair *pair, bool is_real) {
  double extent[2][3], all = 0;
  q->sets[0] = pair->a, q->sets[1] = pair->b;
  q->poses[0] = pair->pose_a != NULL ? pair->pose_a : &at_home;
  q->poses[1] = pair->pose_b != NULL ? pair->pose_b : &at_home;
  for (int s = 0; s < 2; s++) {
    q->lanes[s] = padded_count(q->sets[s]->count);
    all = larger(all, extent_of(q->sets[s]->hull, q->poses[s], extent[s]));
    for (int k = 0; k < 3; k++) q->axes[s][k] = q->sets[s]->hull->axes + (size_t)k * q->lanes[s];
  }
  for (int r = 0; r < 3; r++) {
    const double a = q->poses[0]->m[4 * r + 3], b = q->poses[1]->m[4 * r + 3];
    q->shift[r] = b - a;
    q->size[r] = extent[0][r] + extent[1][r] + fabs(a) + fabs(b);
    q->reach[r] = 1.001 * (extent[0][r] + extent[1][r] + fabs(q->shift[r]));
    q->off[r] = error_of_point(q->reach[r], q->size[r], is_real);
    all = larger(all, q->size[r]);
  }
  return all < LARGEST;
}

/* From the middle of a to that of b. */
static inline void first_direction(const quick_pair *q, double d[3]) {
  double middle[2][3];
  for (int s = 0; s < 2; s++) {
    const graze_hull *hull = q->sets[s]->hull;
    for (int k = 0; k < 3; k++) middle[s][k] = 0.5 * hull->low[k] + 0.5 * hull->high[k];
  }
  for (int k = 0; k < 3; k++) d[k] = pose_row(q->poses[1], k, middle[1]) - pose_row(q->poses[0], k, middle[0]);
}

#endif
