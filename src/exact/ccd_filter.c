/* Proofs that features stay apart or cross, for pieces of time, in order, that are halved where there is none.
 *
 * The features meet when the origin is in the hull of the differences d_j of their points: three of a vertex and a
 * face, four of two edges. Each moves straight. So it is enough that
 *   - a direction n has n.d_j > 0 for all of them at both ends of the piece, or
 *   - the volume that the four points span, a cubic in t, has Bernstein coefficients of one sign: never a common plane.
 *
 * Bounds, u = 2^-53, with M_k the largest |d_j,k| at t = 0 and 1. A difference is off by u M_k, and by as much more
 * after each of 12 halvings. A product n.d adds 3 u sum |n_k| M_k at most: together 16 u sum |n_k| M_k < 2e-15 sum
 * |n_k| M_k, which covers the roundings of that sum. Where the sum is within [1e-280, 1e280] nothing overflows, and
 * what underflows is too small to matter, for directions are points of the hull: |n_k| is hardly more than M_k.
 *
 * The three determinants of a Bernstein coefficient are off by 5.36e-15 M_x M_y M_z each (orient.c; 6 M_x M_y M_z
 * bounds their values), their sum by 3.4e-15 more, so a third of it by 7.2e-15. Halving a piece averages three times, 6
 * u each: 2.4e-14 after 12 of them. 3.3e-14 M_x M_y M_z covers all.
 *
 * Where things come to rest on each other the volume vanishes at t = 0 or t = 1 itself. Its coefficient there has an
 * exact sign, that of an orientation of the given points. If it is 0 and the other three have one sign, this end is the
 * only moment of the piece with a common plane, and whether the features meet there two triangles tell exactly, one or
 * both of them degenerate.
 */
#include "exact/ccd_filter.h"

#include <math.h>

#include "base/extremes.h"
#include "base/vector3.h"
#include "exact/ccd_crossing.h"
#include "exact/orient.h"
#include "exact/tritri.h"

enum { DIFFERENCES = 4, STEPS = 6, HALVINGS = 12, PIECES = 48 };

static const double DIRECTION_FILTER = 2e-15, VOLUME_FILTER = 3.3e-14;

/* The differences at a time. */
typedef struct hull {
  double d[DIFFERENCES][3];
} hull;

typedef struct piece {
  hull end[2];
  double volume[4]; /* Bernstein coefficients */
  double from, to;  /* times, multiples of 2^-12 */
  int halvings;
} piece;

typedef struct motion {
  int differences;
  double reach[3]; /* M */
  double bound;    /* of the volume's error; infinity where it says nothing */
} motion;

/* ---- a direction ---------------------------------------------------------------------------------------------- */

/* Signs of differences are right as they are. */
static bool part_on_axis(const motion *m, const piece *p) {
  for (int k = 0; k < 3; k++) {
    double low = p->end[0].d[0][k], high = low;
    for (int e = 0; e < 2; e++) {
      for (int j = 0; j < m->differences; j++) {
        low = smaller(low, p->end[e].d[j][k]);
        high = larger(high, p->end[e].d[j][k]);
      }
    }
    if (low > 0 || high < 0) return true;
  }
  return false;
}

/* Whether the direction parts them; if not, the difference that lies furthest against it. */
static bool parts(const motion *m, const piece *p, const double n[3], const double **furthest) {
  double least = INFINITY;
  for (int e = 0; e < 2; e++) {
    for (int j = 0; j < m->differences; j++) {
      double along = dot3(n, p->end[e].d[j]);
      if (along < least) {
        least = along;
        *furthest = p->end[e].d[j];
      }
    }
  }
  double sum = fabs(n[0]) * m->reach[0] + fabs(n[1]) * m->reach[1] + fabs(n[2]) * m->reach[2];
  return sum > 1e-280 && sum < 1e280 && least > DIRECTION_FILTER * sum;
}

/* Gilbert's iteration: from a point of the hull to the nearest one on the way to the furthest difference. */
static bool part_by_direction(const motion *m, const piece *p) {
  double at[3] = {0, 0, 0};
  for (int e = 0; e < 2; e++) {
    for (int j = 0; j < m->differences; j++) {
      for (int k = 0; k < 3; k++) at[k] += p->end[e].d[j][k];
    }
  }
  for (int k = 0; k < 3; k++) at[k] /= 2 * m->differences;
  for (int step = 0; step < STEPS; step++) {
    const double *furthest = NULL;
    if (parts(m, p, at, &furthest)) return true;
    if (furthest == NULL) return false;
    double way[3] = {furthest[0] - at[0], furthest[1] - at[1], furthest[2] - at[2]};
    double length = dot3(way, way), share = length > 0 ? -dot3(at, way) / length : 0;
    if (!(share > 0)) return false;
    share = smaller(share, 1);
    for (int k = 0; k < 3; k++) at[k] += share * way[k];
  }
  return false;
}

/* ---- the volume ----------------------------------------------------------------------------------------------- */

static double determinant(const double a[3], const double b[3], const double c[3]) {
  return (a[1] * b[2] - a[2] * b[1]) * c[0] + (a[2] * b[0] - a[0] * b[2]) * c[1] + (a[0] * b[1] - a[1] * b[0]) * c[2];
}

static void find_volume(const graze_ccd_query *query, motion *m, double volume[4]) {
  double x[2][3][3], reach[3] = {0, 0, 0};
  for (int e = 0; e < 2; e++) {
    for (int i = 0; i < 3; i++) {
      for (int k = 0; k < 3; k++) {
        x[e][i][k] = query->points[e][i + 1][k] - query->points[e][0][k];
        reach[k] = larger(reach[k], fabs(x[e][i][k]));
      }
    }
  }
  volume[0] = determinant(x[0][0], x[0][1], x[0][2]);
  volume[1] = (determinant(x[1][0], x[0][1], x[0][2]) + determinant(x[0][0], x[1][1], x[0][2]) +
               determinant(x[0][0], x[0][1], x[1][2])) /
              3;
  volume[2] = (determinant(x[0][0], x[1][1], x[1][2]) + determinant(x[1][0], x[0][1], x[1][2]) +
               determinant(x[1][0], x[1][1], x[0][2])) /
              3;
  volume[3] = determinant(x[1][0], x[1][1], x[1][2]);
  double low = smaller(smaller(reach[0], reach[1]), reach[2]), high = larger(larger(reach[0], reach[1]), reach[2]);
  m->bound = low > 1e-90 && high < 1e90 ? VOLUME_FILTER * reach[0] * reach[1] * reach[2] : INFINITY;
}

static bool have_no_common_plane(const motion *m, const double volume[4]) {
  double low = smaller(smaller(volume[0], volume[1]), smaller(volume[2], volume[3]));
  double high = larger(larger(volume[0], volume[1]), larger(volume[2], volume[3]));
  return low > m->bound || high < -m->bound;
}

/* ---- the ends of time ------------------------------------------------------------------------------------------ */

/* Whether the features, as triangles of which some corners are the same, have a point in common at t = 0 or 1. */
static bool meet_at(const graze_ccd_query *query, int end) {
  static const int corners[2][2][3] = {{{0, 0, 0}, {1, 2, 3}}, {{0, 1, 1}, {2, 3, 3}}};
  double x[2][9];
  for (int s = 0; s < 2; s++) {
    for (int i = 0; i < 9; i++) x[s][i] = query->points[end][corners[query->kind][s][i / 3]][i % 3];
  }
  graze_tritri result;
  gz_tritri_scalar(x[0], x[1], &result);
  return result.kind != GRAZE_KIND_NONE;
}

/* Whether they touch from the beginning, whatever comes then: as what rests on something and slides over it. */
static bool touch_at_first(const graze_ccd_query *query, const motion *m, double volume) {
  const double(*x)[3] = query->points[0];
  return !(fabs(volume) > m->bound) && gz_orient3d(x[0], x[1], x[2], x[3]) == 0 && meet_at(query, 0);
}

/* What is known of a piece whose volume has, in doubles, one sign but for an end of all time: `end` 0, where they are
 * known not to meet, or 1. HIT: the features meet just then. */
static ccd_verdict look_at_end(const graze_ccd_query *query, const motion *m, const double volume[4], int end) {
  const double *inner = end == 0 ? volume + 1 : volume;
  const int sign = inner[0] < 0 ? -1 : 1;
  for (int i = 0; i < 3; i++) {
    if (!(sign * inner[i] > m->bound)) return CCD_OPEN;
  }
  const double(*x)[3] = query->points[end];
  const int there = gz_orient3d(x[0], x[1], x[2], x[3]);
  if (there == -sign) return CCD_OPEN;
  return there == 0 && end == 1 && meet_at(query, end) ? CCD_HIT : CCD_APART;
}

static ccd_verdict look_at_ends(const graze_ccd_query *query, const motion *m, const piece *p, double time[2]) {
  ccd_verdict verdict = CCD_OPEN;
  if (p->from == 0) verdict = look_at_end(query, m, p->volume, 0);
  if (verdict != CCD_OPEN || p->to != 1) return verdict;
  time[0] = time[1] = 1;
  return look_at_end(query, m, p->volume, 1);
}

/* One sign at the beginning and the other at the end, and monotone between. */
static bool crosses_once(const motion *m, const double volume[4]) {
  const double sign = volume[0] < 0 ? 1 : -1;
  if (!(-sign * volume[0] > m->bound && sign * volume[3] > m->bound)) return false;
  for (int i = 0; i < 3; i++) {
    if (!(sign * (volume[i + 1] - volume[i]) > 2 * m->bound)) return false;
  }
  return true;
}

/* About where the volume vanishes: the chord's, then once more from there. */
static double guess_crossing(const piece *p) {
  const double *v = p->volume;
  double s = v[0] / (v[0] - v[3]), r = 1 - s;
  double value = r * r * r * v[0] + 3 * r * s * (r * v[1] + s * v[2]) + s * s * s * v[3];
  double slope = 3 * (r * r * (v[1] - v[0]) + 2 * r * s * (v[2] - v[1]) + s * s * (v[3] - v[2]));
  s = smaller(larger(s - value / slope, 0), 1);
  return p->from + s * (p->to - p->from);
}

/* ---- pieces of time ------------------------------------------------------------------------------------------- */

static void find_hulls(const graze_ccd_query *query, motion *m, piece *p) {
  const bool is_face = query->kind == GRAZE_CCD_VERTEX_FACE;
  static const int from[2][4] = {{0, 0, 0, 0}, {0, 0, 1, 1}}, to[2][4] = {{1, 2, 3, 3}, {2, 3, 2, 3}};
  m->differences = is_face ? 3 : 4;
  for (int k = 0; k < 3; k++) m->reach[k] = 0;
  for (int e = 0; e < 2; e++) {
    for (int j = 0; j < m->differences; j++) {
      const double *a = query->points[e][from[!is_face][j]], *b = query->points[e][to[!is_face][j]];
      for (int k = 0; k < 3; k++) {
        p->end[e].d[j][k] = a[k] - b[k];
        m->reach[k] = larger(m->reach[k], fabs(p->end[e].d[j][k]));
      }
    }
  }
}

/* The first half goes to q, the second stays in p. */
static void halve(const motion *m, piece *p, piece *q) {
  q->end[0] = p->end[0];
  for (int j = 0; j < m->differences; j++) {
    for (int k = 0; k < 3; k++) {
      q->end[1].d[j][k] = p->end[0].d[j][k] = 0.5 * p->end[0].d[j][k] + 0.5 * p->end[1].d[j][k];
    }
  }
  double *v = p->volume, ab = 0.5 * (v[0] + v[1]), bc = 0.5 * (v[1] + v[2]), cd = 0.5 * (v[2] + v[3]);
  double abc = 0.5 * (ab + bc), bcd = 0.5 * (bc + cd), middle = 0.5 * (abc + bcd);
  q->volume[0] = v[0], q->volume[1] = ab, q->volume[2] = abc, q->volume[3] = middle;
  v[0] = middle, v[1] = bcd, v[2] = cd;
  q->halvings = ++p->halvings;
  q->from = p->from;
  q->to = p->from = 0.5 * (p->from + p->to);
}

ccd_verdict gz_ccd_filter(const graze_ccd_query *query, double time[2]) {
  motion m;
  piece stack[HALVINGS + 2];
  find_hulls(query, &m, &stack[0]);
  if (part_on_axis(&m, &stack[0]) || part_by_direction(&m, &stack[0])) return CCD_APART;
  find_volume(query, &m, stack[0].volume);
  stack[0].from = stack[0].halvings = 0;
  stack[0].to = 1;
  int depth = 1, pieces = 0;
  time[0] = time[1] = 0;
  if (touch_at_first(query, &m, stack[0].volume[0])) return CCD_HIT;
  while (depth > 0) {
    piece *p = &stack[depth - 1];
    const ccd_verdict at_end = look_at_ends(query, &m, p, time);
    if (at_end == CCD_HIT) return CCD_HIT;
    if (at_end == CCD_APART || have_no_common_plane(&m, p->volume) || (pieces > 0 && part_by_direction(&m, p))) {
      depth--;
    } else if (crosses_once(&m, p->volume) && gz_ccd_looks_inside(query, guess_crossing(p)) &&
               gz_ccd_crosses(query, p->from, p->to, time)) {
      return CCD_HIT; /* everything before has been proved to be apart */
    } else if (p->halvings == HALVINGS || pieces > PIECES) {
      return CCD_OPEN;
    } else {
      halve(&m, p, &stack[depth++]);
    }
    pieces++;
  }
  return CCD_APART;
}
