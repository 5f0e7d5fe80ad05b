/* Loading a pair, and products with bounds on their errors, u = 2^-53.
 *
 * A scaled coordinate is exact but for underflow, which the margin TINY covers. y = x - center has one rounding of at
 * most u |y|; a product of three terms has at most four more on each, so n . y is off by less than 5.1 u sum |n_k y_k|,
 * and the difference of two such by 6.2 u sum |n_k| reach_k. w = x_a - x_b has one rounding.
 */
#include "convex/pair.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "geometry/pose.h"

static const double UNIT = 0x1p-53, TINY = 0x1p-1000;

static double larger(double a, double b) {
  return a > b ? a : b;
}

/* ---- loading ---------------------------------------------------------------------------------------------------- */

static bool reserve(convex_pair *pair) {
  for (int pass = 0; pass < 2; pass++) {
    carving c = {pass == 0 ? NULL : pair->memory.data, 0};
    for (int s = 0; s < 2; s++) {
      convex_side *side = &pair->side[s];
      side->x = gz_carve(&c, 3 * (size_t)side->count * sizeof(double));
      for (int k = 0; k < 3; k++) side->y[k] = gz_carve(&c, (size_t)side->count * sizeof(double));
    }
    if (pass == 0 && !gz_buffer_reserve(pair->context, &pair->memory, c.used, 0)) return false;
  }
  return true;
}

/* Poses a side; the largest |coordinate|, NaN if one is not finite. */
static double pose_side(convex_side *side, bool is_real) {
  double most = 0, sum = 0;
  for (int k = 0; k < 3; k++) side->error[k] = 0;
  for (uint32_t i = 0; i < side->count; i++) {
    const double *p = side->points + 3 * (size_t)i;
    double *x = side->x + 3 * (size_t)i;
    for (int k = 0; k < 3; k++) {
      x[k] = side->pose != NULL ? pose_row(side->pose, k, p) : p[k];
      most = larger(most, fabs(x[k]));
      sum += x[k] * 0;
      if (!is_real || side->pose == NULL) continue;
      const double *row = side->pose->m + 4 * k;
      double size = fabs(row[0] * p[0]) + fabs(row[1] * p[1]) + fabs(row[2] * p[2]) + fabs(row[3]);
      side->error[k] = larger(side->error[k], 0x1.02p-51 * size + 0x1p-1070); /* as in tritri_real.c */
    }
  }
  return most + sum;
}

static void center_side(const convex_pair *pair, convex_side *side) {
  for (int k = 0; k < 3; k++) {
    double low = (double)INFINITY, high = -(double)INFINITY;
    for (uint32_t i = 0; i < side->count; i++) {
      double y = side->x[3 * (size_t)i + (size_t)k] * pair->scale - pair->center[k];
      side->y[k][i] = y;
      low = y < low ? y : low;
      high = y > high ? y : high;
    }
    side->low[k] = low;
    side->high[k] = high;
  }
}

static double largest_of(const convex_side *side, int k) {
  return larger(fabs(side->low[k]), fabs(side->high[k]));
}

static void find_bounds(convex_pair *pair) {
  double reach = 0, error = 0;
  for (int k = 0; k < 3; k++) {
    double most = 1.001 * (largest_of(&pair->side[0], k) + largest_of(&pair->side[1], k));
    double rounded = 1.001 * (pair->side[0].error[k] + pair->side[1].error[k]) * pair->scale + TINY;
    pair->reach[k] = most;
    pair->off[k] = 1.01 * UNIT * most + rounded;
    pair->slop[k] = 6.2 * UNIT * most + rounded;
    reach = larger(reach, most);
    error = larger(error, rounded);
  }
  pair->tolerance = 0x1p-44 * reach + 16 * error;
}

graze_status gz_pair_load(convex_pair *pair, int *bad_side) {
  if (!reserve(pair)) return GRAZE_ERROR_MEMORY;
  double most = 0;
  for (int s = 0; s < 2; s++) {
    double size = pose_side(&pair->side[s], pair->is_real);
    *bad_side = s;
    if (!isfinite(size)) return GRAZE_ERROR_NOT_FINITE;
    most = larger(most, size);
  }
  frexp(most, &pair->power);
  if (pair->power < -1000) pair->power = -1000;
  pair->scale = ldexp(1, -pair->power);
  for (int k = 0; k < 3; k++) pair->center[k] = pair->side[0].x[k] * pair->scale;
  for (int s = 0; s < 2; s++) center_side(pair, &pair->side[s]);
  find_bounds(pair);
  return GRAZE_OK;
}

void gz_pair_release(convex_pair *pair) {
  gz_buffer_release(pair->context, &pair->memory);
}

/* ---- points ----------------------------------------------------------------------------------------------------- */

static const double *vertex(const convex_pair *pair, int side, uint32_t v) {
  return pair->side[side].x + 3 * (size_t)v;
}

convex_point gz_pair_point(const convex_pair *pair, uint32_t a, uint32_t b) {
  convex_point p = {.v = {a, b}};
  const double *x = vertex(pair, 0, a), *y = vertex(pair, 1, b);
  for (int k = 0; k < 3; k++) p.w[k] = pair->scale * x[k] - pair->scale * y[k];
  return p;
}

static uint32_t farthest(const convex_side *side, const double n[3], double sign, double *product) {
  uint32_t best = 0;
  double most = -(double)INFINITY;
  for (uint32_t i = 0; i < side->count; i++) {
    double value = sign * (n[0] * side->y[0][i] + n[1] * side->y[1][i] + n[2] * side->y[2][i]);
    if (value > most) {
      most = value;
      best = i;
    }
  }
  *product = most;
  return best;
}

convex_point gz_pair_support(const convex_pair *pair, const double n[3], double *product) {
  double a, b;
  uint32_t i = farthest(&pair->side[0], n, 1, &a), j = farthest(&pair->side[1], n, -1, &b);
  *product = a + b;
  return gz_pair_point(pair, i, j);
}

double gz_pair_slop(const convex_pair *pair, const double n[3]) {
  return fabs(n[0]) * pair->slop[0] + fabs(n[1]) * pair->slop[1] + fabs(n[2]) * pair->slop[2];
}

/* ---- planes ----------------------------------------------------------------------------------------------------- */

/* q - p of A - B, from the differences of vertices, which are small and often 0. */
static void between(const convex_pair *pair, const convex_point *p, const convex_point *q, double out[3],
                    double error[3]) {
  double d[2][3] = {{0}}, off[3] = {0};
  for (int s = 0; s < 2; s++) {
    if (p->v[s] == q->v[s]) continue;
    const double *from = vertex(pair, s, p->v[s]), *to = vertex(pair, s, q->v[s]);
    for (int k = 0; k < 3; k++) {
      d[s][k] = pair->scale * to[k] - pair->scale * from[k];
      off[k] += 2.01 * pair->side[s].error[k] * pair->scale;
    }
  }
  for (int k = 0; k < 3; k++) {
    out[k] = d[0][k] - d[1][k];
    error[k] = 1.01 * UNIT * (fabs(d[0][k]) + fabs(d[1][k]) + fabs(out[k])) + off[k] + TINY;
  }
}

convex_plane gz_pair_plane(const convex_pair *pair, const convex_point *p0, const convex_point *p1,
                           const convex_point *p2) {
  double u[3], v[3], du[3], dv[3];
  convex_plane plane;
  between(pair, p0, p1, u, du);
  between(pair, p0, p2, v, dv);
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    double a = u[i] * v[j], b = u[j] * v[i];
    plane.n[k] = a - b;
    plane.error[k] =
        1.01 * (fabs(u[i]) * dv[j] + du[i] * (fabs(v[j]) + dv[j]) + fabs(u[j]) * dv[i] + du[j] * (fabs(v[i]) + dv[i])) +
        2.1 * UNIT * (fabs(a) + fabs(b)) + TINY;
  }
  return plane;
}

int gz_pair_side(const convex_pair *pair, const convex_plane *plane, const convex_point *p0, const convex_point *p1,
                 const convex_point *p2, const convex_point *p) {
  double value = 0, error = 0, d[3], off[3];
  if (p != NULL) {
    between(pair, p0, p, d, off);
  } else {
    for (int k = 0; k < 3; k++) {
      d[k] = -p0->w[k];
      off[k] = pair->off[k];
    }
  }
  for (int k = 0; k < 3; k++) {
    double term = plane->n[k] * d[k];
    value += term;
    error += 4.1 * UNIT * fabs(term) + plane->error[k] * (fabs(d[k]) + off[k]) + fabs(plane->n[k]) * off[k];
  }
  if (fabs(value) > 1.01 * error + TINY) return value > 0 ? 1 : -1;
  return gz_pair_exact_side(pair, p0, p1, p2, p);
}

bool gz_pair_encloses(const convex_pair *pair, convex_simplex *simplex) {
  static const int corners[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};
  convex_point *p = simplex->p;
  if (simplex->count < 4) return false;
  convex_plane plane = gz_pair_plane(pair, &p[0], &p[1], &p[2]);
  int side = gz_pair_side(pair, &plane, &p[0], &p[1], &p[2], &p[3]);
  if (side == 0) return false;
  if (side > 0) { /* the fourth has to be behind the first three */
    convex_point second = p[1];
    p[1] = p[2];
    p[2] = second;
  }
  for (int f = 0; f < 4; f++) {
    const convex_point *a = &p[corners[f][0]], *b = &p[corners[f][1]], *c = &p[corners[f][2]];
    plane = gz_pair_plane(pair, a, b, c);
    if (gz_pair_side(pair, &plane, a, b, c, NULL) > 0) return false;
  }
  return true;
}
