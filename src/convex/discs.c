/* Supports of pairs with discs, and the search for the least signed distance.
 *
 * Apart, that is GJK: on smooth sets it converges as fast as on polytopes, but never ends with a feature. Where the
 * sets overlap the gap along a direction has its local maxima where they are deepest in each other. One is climbed by
 * proximal steps: with b moved out along the direction by more than the depth, the way between the two sets, which GJK
 * finds, is a direction of a larger gap, until it is the one that it was moved along. Long shifts tell the normal of a
 * face to the last bit, as the way is then long, too; short ones converge faster where sets are curved.
 */
#include "convex/discs.h"

#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "base/vector3.h"

enum { MOST_STEPS = 128, MOST_CLIMBS = 24 };

static const double UNIT = 0x1p-53, INFINITE = (double)INFINITY;

/* ---- the pair --------------------------------------------------------------------------------------------------- */

static void scale3(double v[3], double by) {
  for (int k = 0; k < 3; k++) v[k] *= by;
}

static void end_of(const disc_pair *discs, int side, int end, double out[3]) {
  for (int k = 0; k < 3; k++) out[k] = discs->pair->side[side].y[k][end];
}

/* The axis from the ends as they are before the center is taken off, in a scale of its own, for it may be too short for
 * that of the pair; and two vectors across it, all off by less than 12 u but for what the ends are off. Gives what the
 * discs are off by that. */
static double open_axis(disc_pair *discs, int side) {
  const convex_pair *pair = discs->pair;
  double *axis = discs->axis[side], *s = discs->across[side][0], *t = discs->across[side][1], most = 0, error = 0;
  for (int k = 0; k < 3; k++)
    most = larger(most, larger(fabs(pair_x(pair, side, 0, k)), fabs(pair_x(pair, side, 1, k))));
  const double by = most > 0x1p1000 ? 0.5 : 1; /* differences may overflow */
  most = 0;
  for (int k = 0; k < 3; k++) {
    axis[k] = by * pair_x(pair, side, 1, k) - by * pair_x(pair, side, 0, k);
    most = larger(most, fabs(axis[k]));
    error += 2 * by * pair->side[side].error[k];
  }
  const int power = most > 0 ? -ilogb(most) : 0;
  for (int k = 0; k < 3; k++) axis[k] = ldexp(axis[k], power);
  error = ldexp(error, power);
  const double length = length3(axis), tilt = length > 4 * error ? 1.1 * error / (length - error) : 2;
  scale3(axis, 1 / length);
  int least = fabs(axis[0]) < fabs(axis[1]) ? 0 : 1;
  least = fabs(axis[2]) < fabs(axis[least]) ? 2 : least;
  const double unit[3] = {least == 0, least == 1, least == 2};
  cross3(axis, unit, s);
  scale3(s, 1 / length3(s));
  cross3(axis, s, t);
  return tilt * larger(discs->radius[side][0], discs->radius[side][1]);
}

void gz_discs_open(disc_pair *discs, convex_pair *pair, const graze_convex *const sets[2]) {
  double round = 0, tilted = 0, rounded = 0;
  *discs = (disc_pair){.pair = pair};
  for (int s = 0; s < 2; s++) {
    for (int e = 0; e < 2; e++) discs->radius[s][e] = sets[s]->discs[e] * pair->scale;
    discs->is_round[s] = discs->radius[s][0] > 0 || discs->radius[s][1] > 0;
    round += larger(discs->radius[s][0], discs->radius[s][1]);
    if (discs->is_round[s]) tilted += open_axis(discs, s);
  }
  for (int k = 0; k < 3; k++) {
    discs->reach[k] = 1.001 * (pair->reach[k] + round);
    rounded += pair->off[k];
  }
  discs->size = 1.001 * (length3(pair->reach) + round);
  discs->off = 40 * UNIT * discs->size + 1.01 * (rounded + tilted) + 0x1p-900;
  discs->tolerance = 0x1p-44 * discs->size + 10 * discs->off;
}

/* Of a round side; how far it reaches. */
static double reach_discs(const disc_pair *discs, int side, const double n[3], disc_support *out) {
  const double *s = discs->across[side][0], *t = discs->across[side][1];
  const double x = dot3(n, s), y = dot3(n, t), length = sqrt(x * x + y * y);
  double ends[2][3], along[2];
  for (int e = 0; e < 2; e++) {
    end_of(discs, side, e, ends[e]);
    along[e] = dot3(n, ends[e]) + discs->radius[side][e] * length;
  }
  const int e = along[1] > along[0] ? 1 : 0;
  const double far = length > 0 ? discs->radius[side][e] / length : 0;
  out->radii[side] = discs->radius[side][e];
  for (int k = 0; k < 3; k++) {
    out->middles[side][k] = ends[e][k];
    out->points[side][k] = ends[e][k] + (far * x * s[k] + far * y * t[k]);
  }
  return along[e];
}

double gz_discs_support(const disc_pair *discs, const double n[3], disc_support *out) {
  const double against[3] = {-n[0], -n[1], -n[2]};
  extreme best[2] = {{0}};
  double along = 0;
  if (!discs->is_round[0] || !discs->is_round[1]) discs->pair->find_support(&discs->pair->support, n, against, best);
  for (int s = 0; s < 2; s++) {
    if (discs->is_round[s]) {
      along += reach_discs(discs, s, s == 0 ? n : against, out);
    } else {
      along += best[s].value;
      end_of(discs, s, (int)best[s].vertex, out->points[s]);
      memcpy(out->middles[s], out->points[s], sizeof out->middles[s]);
      out->radii[s] = 0;
    }
  }
  for (int k = 0; k < 3; k++) {
    out->points[1][k] += discs->shift[k];
    out->middles[1][k] += discs->shift[k];
  }
  return along - dot3(n, discs->shift);
}

/* ---- the nearest places ------------------------------------------------------------------------------------------ */

/* A search: points[v] are those of A and B of the corner v of the simplex. */
typedef struct approach {
  const disc_pair *discs;
  convex_simplex simplex;
  disc_support points[MOST_STEPS + 1];
} approach;

/* Measures the gap along a unit vector, and adds the points there as number `number`. False: they are known. */
static bool look_along(approach *a, const double way[3], uint32_t number, disc_gap *gap) {
  disc_support *points = &a->points[number];
  convex_point *p = &a->simplex.p[a->simplex.count];
  const double lower = -gz_discs_support(a->discs, way, points) - a->discs->off;
  if (lower > gap->lower) {
    gap->lower = lower;
    memcpy(gap->way, way, sizeof gap->way);
  }
  *p = (convex_point){.v = {number, number}};
  for (int k = 0; k < 3; k++) p->w[k] = points->points[0][k] - points->points[1][k];
  for (int i = 0; i < a->simplex.count; i++) {
    if (memcmp(a->simplex.p[i].w, p->w, sizeof p->w) == 0) return false;
  }
  a->simplex.count++;
  return true;
}

static void find_places(const approach *a, disc_gap *gap) {
  const convex_simplex *s = &a->simplex;
  for (int side = 0; side < 2; side++) {
    for (int k = 0; k < 3; k++) {
      double sum = 0;
      for (int i = 0; i < s->count; i++) sum += s->share[i] * a->points[s->p[i].v[0]].points[side][k];
      gap->places[side][k] = sum;
    }
  }
}

/* Shares of four points are volumes, whose sum is 1 but for roundings of all of them. */
static double sum_of(const convex_simplex *s) {
  return s->share[0] + s->share[1] + s->share[2] + s->share[3];
}

/* Four points around the origin, each within `off` of one of A - B. */
static bool do_enclose(const approach *a) {
  const double off = a->discs->off, all[3] = {off, off, off}, *reach = a->discs->reach;
  const double within[3] = {reach[0] + off, reach[1] + off, reach[2] + off};
  return gz_enclosing_sign(within, all, a->simplex.p) != 0;
}

void gz_discs_gap(const disc_pair *discs, const double first[3], double above, double below, disc_gap *gap) {
  approach a; /* its points are many */
  double v[3], last = INFINITE;
  a.discs = discs;
  a.simplex.count = 0;
  *gap = (disc_gap){.lower = -INFINITE, .upper = INFINITE};
  look_along(&a, first, 0, gap);
  for (uint32_t i = 1; i <= MOST_STEPS; i++) {
    gz_simplex_nearest(&a.simplex);
    find_places(&a, gap);
    gz_simplex_point(&a.simplex, v);
    const double length = length3(v);
    gap->overlaps = a.simplex.count == 4;
    if (gap->overlaps) gap->upper = smaller(gap->upper, length / sum_of(&a.simplex) + discs->off);
    if (gap->overlaps || !(length < last)) break;
    last = length;
    gap->upper = smaller(gap->upper, length + discs->off);
    if (!(length > 0)) break;
    scale3(v, -1 / length);
    if (!look_along(&a, v, i, gap) || gap->lower > above || gap->upper <= below) break;
    if (gap->upper - gap->lower <= 3 * discs->off) break;
  }
  gap->encloses = gap->overlaps && do_enclose(&a);
}

/* ---- climbing --------------------------------------------------------------------------------------------------- */

static disc_pair moved(const disc_pair *discs, const double way[3], double by) {
  disc_pair other = *discs;
  for (int k = 0; k < 3; k++) other.shift[k] += by * way[k];
  return other;
}

static double gap_along(const disc_pair *discs, const double way[3]) {
  disc_support at;
  return -gz_discs_support(discs, way, &at) - discs->off;
}

static void keep_better(disc_best *best, double lower, const double way[3]) {
  if (!(lower > best->lower)) return;
  best->lower = lower;
  memcpy(best->way, way, sizeof best->way);
}

void gz_discs_climb(const disc_pair *discs, const double first[3], disc_best *best) {
  static const double shifts[] = {1, 0x1p-4, 0x1p-8, 0x1p-12, 1};
  enum { SHIFTS = sizeof shifts / sizeof *shifts };
  disc_best local = {gap_along(discs, first), {first[0], first[1], first[2]}};
  double way[3] = {first[0], first[1], first[2]};
  for (int i = 0; i < MOST_CLIMBS; i++) {
    const double before = local.lower, more = shifts[i < SHIFTS ? i : SHIFTS - 1] * discs->size;
    const disc_pair apart = moved(discs, way, 1.0625 * larger(-before, 0) + more);
    disc_gap gap;
    gz_discs_gap(&apart, way, INFINITE, -INFINITE, &gap);
    if (!gap.overlaps) memcpy(way, gap.way, sizeof way);
    keep_better(&local, gap_along(discs, way), way);
    if (i >= SHIFTS && !(local.lower > before + 0.125 * discs->off)) break;
  }
  keep_better(best, local.lower, local.way);
}

/* ---- the answer ------------------------------------------------------------------------------------------------- */

/* From the middle of a's box to that of b's. */
static void find_first(const disc_pair *discs, double way[3]) {
  const convex_side *a = &discs->pair->side[0], *b = &discs->pair->side[1];
  for (int k = 0; k < 3; k++) way[k] = (b->low[k] + b->high[k]) - (a->low[k] + a->high[k]);
  const double length = length3(way);
  for (int k = 0; k < 3; k++) way[k] = length > 0 ? way[k] / length : k == 2;
}

/* Directions from which climbing begins: what is known, axes of the world and of the sets. */
static void climb_all(const disc_pair *discs, const double first[3], disc_best *best) {
  double ways[12][3] = {{first[0], first[1], first[2]}}, most = -INFINITE;
  int count = 1, from = 0;
  for (int k = 0; k < 3; k++) ways[count++][k] = 1;
  for (int s = 0; s < 2; s++) {
    if (!discs->is_round[s]) continue;
    memcpy(ways[count++], discs->axis[s], sizeof ways[0]);
  }
  for (int i = 0; i < 2 * count; i++) {
    double way[3] = {ways[i / 2][0], ways[i / 2][1], ways[i / 2][2]};
    if (i % 2 == 1) scale3(way, -1);
    const double gap = gap_along(discs, way);
    if (gap <= most) continue;
    most = gap;
    from = i;
  }
  double way[3] = {ways[from / 2][0], ways[from / 2][1], ways[from / 2][2]};
  if (from % 2 == 1) scale3(way, -1);
  gz_discs_climb(discs, way, best);
}

static void take_best(const disc_best *best, disc_answer *answer) {
  if (!(best->lower > answer->lower)) return;
  answer->lower = best->lower;
  memcpy(answer->way, best->way, sizeof answer->way);
}

static bool is_done(const disc_pair *discs, bool measure, double sum, const disc_answer *answer) {
  if (answer->upper - answer->lower <= discs->tolerance) return true;
  return !measure && (answer->lower > sum || answer->upper <= sum);
}

/* Moved into each other by a little more than their distance, they are as deep as that is more, and the distance is no
 * larger than what b was moved by without the depth that is proved. Curved sets that nearly touch need it: where they
 * are nearest is known to the root of an error only. */
static bool bound_above(const disc_pair *discs, bool measure, double sum, disc_answer *answer) {
  static const double depths[] = {0x1p-14, 0x1p-20};
  for (int i = 0; i < 2 && !is_done(discs, measure, sum, answer); i++) {
    const double by = larger(answer->lower, 0) + depths[i] * discs->size;
    const disc_pair deep = moved(discs, answer->way, -by);
    disc_best best = {gap_along(&deep, answer->way), {answer->way[0], answer->way[1], answer->way[2]}};
    double depth;
    if (!gz_discs_depth(&deep, INFINITE, &best, &depth)) return false;
    if (depth > 0) answer->upper = smaller(answer->upper, by - depth + 0.25 * discs->off);
    best.lower = gap_along(discs, best.way);
    take_best(&best, answer);
  }
  return true;
}

/* With b moved out along the way by hardly more than the depth, the nearest places are the deepest. */
static void find_deepest(const disc_pair *discs, disc_answer *answer) {
  const double by = (1 + 0x1p-10) * -answer->lower + 0x1p-16 * discs->size;
  const disc_pair apart = moved(discs, answer->way, by);
  disc_gap gap;
  gz_discs_gap(&apart, answer->way, INFINITE, -INFINITE, &gap);
  memcpy(answer->places, gap.places, sizeof answer->places);
  for (int k = 0; k < 3; k++) answer->places[1][k] -= by * answer->way[k];
}

static bool bound_depth(const disc_pair *discs, bool measure, disc_answer *answer) {
  disc_best best = {answer->lower, {answer->way[0], answer->way[1], answer->way[2]}};
  double depth;
  if (!gz_discs_depth(discs, measure ? INFINITE : 0, &best, &depth)) return false;
  take_best(&best, answer);
  if (depth > 0) answer->upper = smaller(answer->upper, -depth);
  if (measure) find_deepest(discs, answer);
  return true;
}

bool gz_discs_measure(const disc_pair *discs, bool measure, double sum, disc_answer *answer) {
  double first[3];
  disc_gap gap;
  disc_best best = {.lower = -INFINITE};
  find_first(discs, first);
  gz_discs_gap(discs, first, measure ? INFINITE : sum, measure ? -INFINITE : sum, &gap);
  *answer = (disc_answer){.lower = gap.lower, .upper = gap.encloses ? smaller(gap.upper, 0) : gap.upper};
  memcpy(answer->way, gap.way, sizeof answer->way);
  memcpy(answer->places, gap.places, sizeof answer->places);
  if (is_done(discs, measure, sum, answer)) return true;
  climb_all(discs, gap.way, &best);
  take_best(&best, answer);
  if (is_done(discs, measure, sum, answer)) return true;
  if (answer->lower < -discs->tolerance && !bound_depth(discs, measure, answer)) return false;
  return bound_above(discs, measure, sum, answer);
}
