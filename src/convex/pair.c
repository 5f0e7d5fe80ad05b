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

enum { LANES = 8 }; /* of the widest kernel */

static uint32_t padded(uint32_t count) {
  return (count + LANES - 1) / LANES * LANES;
}

/* in[s]: where the points of a side without axes are laid out. */
static bool reserve(convex_pair *pair, double *in[2][3]) {
  for (int pass = 0; pass < 2; pass++) {
    carving c = {pass == 0 ? NULL : pair->memory.data, 0};
    for (int s = 0; s < 2; s++) {
      size_t bytes = (size_t)padded(pair->side[s].count) * sizeof(double);
      for (int k = 0; k < 3; k++) {
        pair->side[s].x[k] = gz_carve(&c, bytes);
        pair->side[s].y[k] = gz_carve(&c, bytes);
        in[s][k] = pair->side[s].axes == NULL ? gz_carve(&c, bytes) : NULL;
      }
    }
    if (pass == 0 && !gz_buffer_reserve(pair->context, &pair->memory, c.used, 0)) return false;
  }
  return true;
}

static void lay_out(const convex_side *side, double *const in[3]) {
  uint32_t all = padded(side->count);
  for (uint32_t i = 0; i < all; i++) {
    const double *p = side->points + 3 * (size_t)(i < side->count ? i : side->count - 1);
    for (int k = 0; k < 3; k++) in[k][i] = p[k];
  }
}

/* What the image of a point may be off, as in exact/real_points.c. */
static void find_error(convex_side *side, bool is_real) {
  double most[3] = {0, 0, 0};
  for (int k = 0; k < 3; k++) side->error[k] = 0;
  if (!is_real || side->pose == NULL) return;
  for (uint32_t i = 0; i < side->count; i++) {
    for (int k = 0; k < 3; k++) most[k] = larger(most[k], fabs(side->points[3 * (size_t)i + (size_t)k]));
  }
  for (int k = 0; k < 3; k++) {
    const double *row = side->pose->m + 4 * k;
    double size = fabs(row[0]) * most[0] + fabs(row[1]) * most[1] + fabs(row[2]) * most[2] + fabs(row[3]);
    side->error[k] = 0x1.03p-51 * size + 0x1p-1070;
  }
}

/* Poses a side; gives the largest |coordinate|, NaN if one is not finite. */
static double pose_side(const convex_pair *pair, int s, double *const in[3], pose_function *pose) {
  const convex_side *from = &pair->side[s];
  convex_side *side = (convex_side *)(uintptr_t)from;
  if (from->axes == NULL) lay_out(from, in);
  posing p = {.pose = from->pose != NULL ? from->pose->m : NULL, .lanes = padded(from->count)};
  for (int k = 0; k < 3; k++) {
    p.in[k] = from->axes != NULL ? from->axes + (size_t)k * p.lanes : in[k];
    p.x[k] = from->x[k];
    p.y[k] = from->y[k];
    p.center[k] = pair->center[k];
  }
  pose(&p);
  memcpy(side->low, p.low, sizeof p.low);
  memcpy(side->high, p.high, sizeof p.high);
  find_error(side, pair->is_real);
  return larger(larger(p.size[0], p.size[1]), p.size[2]) + 0 * (p.size[0] + p.size[1] + p.size[2]);
}

/* Brings very large and very small coordinates to size 1. */
static void scale_side(const convex_pair *pair, convex_side *side) {
  for (int k = 0; k < 3; k++) {
    double low = (double)INFINITY, high = -(double)INFINITY;
    for (uint32_t i = 0; i < padded(side->count); i++) {
      double y = side->x[k][i] * pair->scale - pair->center[k];
      side->y[k][i] = y;
      low = y < low ? y : low;
      high = y > high ? y : high;
    }
    side->low[k] = low;
    side->high[k] = high;
  }
}

static void scale_all(convex_pair *pair, double most) {
  pair->power = 0;
  pair->scale = 1;
  if (most == 0 || (most > 0x1p-100 && most < 0x1p100)) return;
  frexp(most, &pair->power);
  if (pair->power < -1000) pair->power = -1000;
  pair->scale = ldexp(1, -pair->power);
  for (int k = 0; k < 3; k++) pair->center[k] = pair->side[0].x[k][0] * pair->scale;
  for (int s = 0; s < 2; s++) scale_side(pair, &pair->side[s]);
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
    pair->gap[k] = 2.01 * pair->off[k] + 2.01 * UNIT * most;
    pair->slop[k] = 6.2 * UNIT * most + rounded;
    reach = larger(reach, most);
    error = larger(error, rounded);
  }
  pair->tolerance = 0x1p-44 * reach + 16 * error;
}

static void prepare_support(convex_pair *pair) {
  for (int s = 0; s < 2; s++) {
    pair->support.lanes[s] = padded(pair->side[s].count);
    for (int k = 0; k < 3; k++) pair->support.y[s][k] = pair->side[s].y[k];
  }
  pair->find_support = CPU_KERNEL(gz_convex_support);
}

graze_status gz_pair_load(convex_pair *pair, int *bad_side) {
  double *in[2][3], most = pair->discs;
  pose_function *pose = CPU_KERNEL(gz_convex_pose);
  if (!reserve(pair, in)) return GRAZE_ERROR_MEMORY;
  const convex_side *first = &pair->side[0];
  for (int k = 0; k < 3; k++) {
    pair->center[k] = first->pose != NULL ? pose_row(first->pose, k, first->points) : first->points[k];
  }
  for (int s = 0; s < 2; s++) {
    double size = pose_side(pair, s, in[s], pose);
    *bad_side = s;
    if (!isfinite(size)) return GRAZE_ERROR_NOT_FINITE;
    most = larger(most, size);
  }
  scale_all(pair, most);
  find_bounds(pair);
  prepare_support(pair);
  return GRAZE_OK;
}

void gz_pair_release(convex_pair *pair) {
  gz_buffer_release(pair->context, &pair->memory);
  gz_growing_release(&pair->surface);
  gz_free(pair->vertices.data);
  gz_free(pair->lower.data);
  gz_free(pair->turns.data);
  gz_free(pair->cones.data);
  gz_free(pair->exact);
}

/* ---- points ----------------------------------------------------------------------------------------------------- */

convex_point gz_pair_point(const convex_pair *pair, uint32_t a, uint32_t b) {
  convex_point p = {.v = {a, b}};
  for (int k = 0; k < 3; k++) p.w[k] = pair->scale * pair_x(pair, 0, a, k) - pair->scale * pair_x(pair, 1, b, k);
  return p;
}

convex_point gz_pair_support(const convex_pair *pair, const double n[3], double *product) {
  const double against[3] = {-n[0], -n[1], -n[2]};
  extreme best[2];
  pair->find_support(&pair->support, n, against, best);
  *product = best[0].value + best[1].value;
  return gz_pair_point(pair, best[0].vertex, best[1].vertex);
}

double gz_pair_slop(const convex_pair *pair, const double n[3]) {
  /* The last term: what small products lose when they underflow. */
  return fabs(n[0]) * pair->slop[0] + fabs(n[1]) * pair->slop[1] + fabs(n[2]) * pair->slop[2] + 0x1p-1060;
}

/* ---- planes ----------------------------------------------------------------------------------------------------- */

/* q - p of A - B, from the differences of vertices, which are small and often 0. */
static void between(const convex_pair *pair, const convex_point *p, const convex_point *q, double out[3],
                    double error[3]) {
  double d[2][3] = {{0}}, off[3] = {0};
  for (int s = 0; s < 2; s++) {
    if (p->v[s] == q->v[s]) continue;
    for (int k = 0; k < 3; k++) {
      d[s][k] = pair->scale * pair_x(pair, s, q->v[s], k) - pair->scale * pair_x(pair, s, p->v[s], k);
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

/* The signs of the volumes of the origin and each face, if doubles tell them: a sum of six products, each factor off by
 * `off` and each product rounded a few times. 0: they do not; 1, -1: all are the same, as the whole is. */
int gz_enclosing_sign(const double r[3], const double off[3], const convex_point *p) {
  static const int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  double bound =
      6.1 * (off[0] * r[1] * r[2] + r[0] * off[1] * r[2] + r[0] * r[1] * off[2] + 6 * UNIT * r[0] * r[1] * r[2]);
  double least = (double)INFINITY, most = -(double)INFINITY;
  for (int f = 0; f < 4; f++) {
    const double *a = p[faces[f][0]].w, *b = p[faces[f][1]].w, *c = p[faces[f][2]].w;
    double volume =
        (a[1] * b[2] - a[2] * b[1]) * c[0] + (a[2] * b[0] - a[0] * b[2]) * c[1] + (a[0] * b[1] - a[1] * b[0]) * c[2];
    least = volume < least ? volume : least;
    most = volume > most ? volume : most;
  }
  return least > bound + TINY ? 1 : most < -bound - TINY ? -1 : 0;
}

static void exchange(convex_point *p, convex_point *q) {
  convex_point other = *p;
  *p = *q;
  *q = other;
}

bool gz_pair_encloses(const convex_pair *pair, convex_simplex *simplex) {
  static const int corners[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};
  convex_point *p = simplex->p;
  if (simplex->count < 4) return false;
  int sign = gz_enclosing_sign(pair->reach, pair->off, p);
  if (sign > 0) exchange(&p[1], &p[2]); /* the fourth has to be behind the first three */
  if (sign != 0) return true;
  convex_plane plane = gz_pair_plane(pair, &p[0], &p[1], &p[2]);
  int side = gz_pair_side(pair, &plane, &p[0], &p[1], &p[2], &p[3]);
  if (side == 0) return false;
  if (side > 0) exchange(&p[1], &p[2]);
  for (int f = 0; f < 4; f++) {
    const convex_point *a = &p[corners[f][0]], *b = &p[corners[f][1]], *c = &p[corners[f][2]];
    plane = gz_pair_plane(pair, a, b, c);
    if (gz_pair_side(pair, &plane, a, b, c, NULL) > 0) return false;
  }
  return true;
}
