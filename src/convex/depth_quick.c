/* A depth by a polytope in doubles, which proves it for nearly all pairs (polytope.h says why that is a proof).
 *
 * Faces have bounds that hold for all triangles of the pair, as they cost nothing; those that are nearest are measured
 * one by one. Bounds, with r = reach, g = gap, u = 2^-53: edges are at most 2 r and off by g, so that a part of a
 * normal is off by turn_k = 4 (g_i r_j + g_j r_i) + 2 g_i g_j + 32 u r_i r_j and some, as gz_depth_rough_plane has it;
 * the rest is gz_depth_distance with r in place of each coordinate and |n| in place of each part of n.
 */
#include <math.h>

#include "convex/depth.h"
#include "convex/polytope.h"

static void set_bounds(const convex_pair *pair, polytope *t) {
  const double *reach = pair->reach, *gap = pair->gap;
  double lost = 0x1p-1060, off = 0, all = 0;
  t->turn = 0;
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const double turn = 1.01 * (4 * (gap[i] * reach[j] + gap[j] * reach[i]) + 2 * gap[i] * gap[j]) +
                        0x1.1p-48 * reach[i] * reach[j] + 0x1p-1000;
    t->turn += 1.01 * turn;
    lost += turn * (reach[k] + pair->off[k]);
    off += pair->off[k];
    all += reach[k];
  }
  t->lost = 1.05 * lost + 2.1 * t->turn * all;
  t->off = 1.05 * off + 0x1p-47 * all;
}

/* Measures the nearest face with care. False: doubles do not. */
static bool measure(const convex_pair *pair, polytope *t, convex_bracket *distance) {
  const uint32_t at = t->nearest;
  const convex_point *p[3];
  for (int i = 0; i < 3; i++) p[i] = &t->p[t->corners[at][i]];
  convex_plane plane = gz_depth_rough_plane(pair, p[0]->w, p[1]->w, p[2]->w);
  *distance = gz_depth_distance(pair, &plane, p[0]->w);
  if (!(distance->upper - distance->lower <= 0.25 * pair->tolerance)) {
    plane = gz_pair_plane(pair, p[0], p[1], p[2]);
    *distance = gz_depth_distance(pair, &plane, p[0]->w);
    if (!(distance->upper - distance->lower <= 0.25 * pair->tolerance)) return false;
  }
  for (int k = 0; k < 3; k++) t->n[k][at] = plane.n[k];
  t->height[at] = plane.n[0] * p[0]->w[0] + plane.n[1] * p[0]->w[1] + plane.n[2] * p[0]->w[2];
  t->lower[at] = distance->lower;
  t->known |= (uint64_t)1 << at;
  return true;
}

/* A face of A - B may be several triangles: the foot is in one of them. */
static void find_deepest(const polytope *t, double upper, convex_simplex *s, double normal[3]) {
  double least = (double)INFINITY;
  for (uint64_t left = t->there; left != 0; left &= left - 1) {
    const int at = __builtin_ctzll(left);
    if (t->lower[at] > upper) continue;
    const double n[3] = {t->n[0][at], t->n[1][at], t->n[2][at]};
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    convex_simplex other;
    for (int i = 0; i < 3; i++) other.p[i] = t->p[t->corners[at][i]];
    const double square = gz_depth_foot(n, &other);
    if (square >= least) continue;
    least = square;
    *s = other;
    for (int k = 0; k < 3; k++) normal[k] = n[k] / length;
  }
}

bool gz_depth_quick(const convex_pair *pair, convex_simplex *simplex, convex_bracket *depth, double normal[3]) {
  polytope_function *grow = CPU_KERNEL(gz_convex_polytope);
  convex_bracket distance[POLYTOPE_FACES];
  polytope t;
  t.there = t.known = 0;
  t.upper = (double)INFINITY;
  for (int i = 0; i < 4; i++) t.p[i] = simplex->p[i];
  set_bounds(pair, &t);
  for (;;) {
    if (!grow(&t, pair)) return false;
    if (t.known >> t.nearest & 1) break;
    if (!measure(pair, &t, &distance[t.nearest])) return false;
  }
  *depth = distance[t.nearest];
  depth->upper = t.upper;
  if (!(depth->lower > 0 && depth->upper - depth->lower <= pair->tolerance)) return false;
  find_deepest(&t, depth->upper, simplex, normal);
  return true;
}
