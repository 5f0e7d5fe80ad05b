#include "exact/near_point.h"

#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "exact/near.h"
#include "exact/wide_vector.h"

near_point_function *gz_near_point_best(void) {
  return CPU_KERNEL(gz_near_point_block);
}

/* ---- which feature ---- */

/* Within the window of extents, 2^-200 to 2^200, what underflows is far below this in products of four. */
static const double TINY = 0x1p-900, LEAST = 0x1p-200, MOST = 0x1p200;

static double largest(const double x[3]) {
  return larger(larger(fabs(x[0]), fabs(x[1])), fabs(x[2]));
}

static int certain_sign(double value, double error) {
  return value > error ? 1 : value < -error ? -1 : 0;
}

/* Of two rounded differences: two roundings for these, one for the product, two for sums: 5 u of the terms. */
static int dot_sign(const double a[3], const double b[3]) {
  double x = a[0] * b[0], y = a[1] * b[1], z = a[2] * b[2];
  return certain_sign((x + y) + z, 0x1p-50 * ((fabs(x) + fabs(y)) + fabs(z)) + TINY);
}

/* A cross product of rounded differences; each coordinate is off by at most 4 u of its two terms, `terms`. */
typedef struct cross_product {
  double x[3], terms[3];
} cross_product;

static cross_product cross_of(const double a[3], const double b[3]) {
  cross_product c;
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    double p = a[i] * b[j], q = a[j] * b[i];
    c.x[k] = p - q;
    c.terms[k] = fabs(p) + fabs(q);
  }
  return c;
}

/* Two such, one product and two sums: 11 u of the products of terms, with what is of second order below 16 u. */
static int cross_sign(const cross_product *a, const cross_product *b) {
  double sum = 0, terms = 0;
  for (int k = 0; k < 3; k++) {
    sum += a->x[k] * b->x[k];
    terms += a->terms[k] * b->terms[k];
  }
  return certain_sign(sum, 0x1p-49 * terms + TINY);
}

/* Edge i leads from corner i to the next; way i from corner i to the point. */
typedef struct point_view {
  double edge[3][3], way[3][3];
} point_view;

static bool view_of(const double p[3], const double corners[9], point_view *v) {
  double least = MOST, most = 0;
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      v->edge[i][k] = corners[3 * ((i + 1) % 3) + k] - corners[3 * i + k];
      v->way[i][k] = p[k] - corners[3 * i + k];
    }
    double edge = largest(v->edge[i]), way = largest(v->way[i]);
    least = smaller(least, smaller(edge, way));
    most = larger(most, larger(edge, way));
  }
  return least > LEAST && most < MOST;
}

/* before[i]: sign of the point's place along edge i from its first corner; behind[i]: from its second. */
static point_feature find_feature(const point_view *v) {
  static const point_feature none = {0, {0, 0, 0}}, face = {3, {0, 1, 2}};
  int before[3], behind[3], inner = 0;
  for (int i = 0; i < 3; i++) {
    before[i] = dot_sign(v->edge[i], v->way[i]);
    behind[i] = dot_sign(v->edge[i], v->way[(i + 1) % 3]);
  }
  for (int i = 0; i < 3; i++) {
    if (before[i] < 0 && behind[(i + 2) % 3] > 0) return (point_feature){1, {i, 0, 0}};
  }
  cross_product normal = cross_of(v->edge[0], v->edge[1]);
  for (int i = 0; i < 3; i++) {
    cross_product side = cross_of(v->edge[i], v->way[i]);
    int sign = cross_sign(&side, &normal);
    if (sign < 0 && before[i] > 0 && behind[i] < 0) return (point_feature){2, {i, (i + 1) % 3, 0}};
    inner += sign > 0;
  }
  return inner == 3 ? face : none;
}

point_feature gz_point_feature(const double p[3], const double corners[9]) {
  point_view v;
  if (!view_of(p, corners, &v)) return (point_feature){0, {0, 0, 0}};
  return find_feature(&v);
}

/* ---- how far ---- */

static double largest_wide(const wide_vector *v) {
  return fmax(fmax(fabs(v->x[0].hi), fabs(v->x[1].hi)), fabs(v->x[2].hi));
}

/* The distance is root * (1 + e), |e| <= error. */
typedef struct wide_distance {
  wide root;
  double error;
} wide_distance;

/* A sum of three products of exact differences is off by less than 2^-99 of them; the coordinates of a cross product by
 * less than 2^-98 of the product of largest coordinates, and so on. 2^-94 covers each quotient and root with room. */
static wide_distance vertex_distance(const double p[3], const double v[3]) {
  wide_vector w = vector_between(v, p);
  return (wide_distance){wide_sqrt(vector_dot(&w, &w)), 0x1p-94};
}

static wide_distance edge_distance(const double p[3], const double q[3], const double r[3]) {
  wide_vector w = vector_between(q, p), e = vector_between(q, r), c = vector_cross(&w, &e);
  double size = largest_wide(&w) * largest_wide(&e);
  wide square = wide_div(vector_dot(&c, &c), vector_dot(&e, &e));
  return (wide_distance){wide_sqrt(square), 0x1p-94 * (1 + size / largest_wide(&c))};
}

static wide_distance face_distance(const double p[3], const double t[9]) {
  wide_vector w = vector_between(t, p), u = vector_between(t, t + 3), v = vector_between(t, t + 6);
  wide_vector n = vector_cross(&u, &v);
  double size = largest_wide(&u) * largest_wide(&v);
  wide height = vector_dot(&w, &n), root = wide_sqrt(vector_dot(&n, &n));
  if (height.hi < 0) height = (wide){-height.hi, -height.lo};
  double error = size * largest_wide(&w) / height.hi + size / largest_wide(&n);
  return (wide_distance){wide_div(height, root), 0x1p-94 * (1 + error)};
}

/* Whether every number so near rounds to the upper part. Half a unit below a power of two is the smaller one. */
static bool rounds_surely(const wide_distance *d) {
  double hi = d->root.hi, lo = d->root.lo, off = d->error * hi + 0x1p-104 * hi;
  if (!(d->error < 0x1p-54) || !(hi > 0x1p-400) || !(hi < 0x1p400)) return false;
  return lo + off < 0.5 * (nextafter(hi, (double)INFINITY) - hi) && off - lo < 0.5 * (hi - nextafter(hi, 0));
}

static void start_pair(near_pair *pair, const double points[9], const double corners[9], double lower, double upper) {
  gz_near_start_known(pair, points, NULL, corners, NULL, lower, upper);
  pair->is_point = true;
}

static void three_times(const double p[3], double points[9]) {
  for (int k = 0; k < 9; k++) points[k] = p[k % 3];
}

point_value gz_point_distance(const double p[3], const double corners[9], double lower, double upper,
                              point_feature feature) {
  const int *at = feature.corner;
  wide_distance d = {{0, 0}, 1};
  if (feature.count == 1) d = vertex_distance(p, corners + 3 * at[0]);
  if (feature.count == 2) d = edge_distance(p, corners + 3 * at[0], corners + 3 * at[1]);
  if (feature.count == 3) d = face_distance(p, corners);
  if (rounds_surely(&d)) return (point_value){d.root.hi, false, feature};
  near_pair pair;
  double points[9];
  three_times(p, points);
  start_pair(&pair, points, corners, lower, upper);
  if (gz_near_meet(&pair)) return (point_value){0, true, {0, {0, 0, 0}}};
  return (point_value){gz_near_distance(&pair), false, feature};
}

/* ---- where ---- */

/* From the nearer end of the edge, so that ends come out exactly. */
static void edge_point(const double p[3], const double q[3], const double r[3], double out[3]) {
  wide_vector w = vector_between(q, p), e = vector_between(q, r);
  wide ratio = wide_div(vector_dot(&w, &e), vector_dot(&e, &e));
  double s = fmin(fmax(ratio.hi, 0), 1);
  for (int k = 0; k < 3; k++) out[k] = s <= 0.5 ? q[k] + s * (r[k] - q[k]) : r[k] - (1 - s) * (r[k] - q[k]);
}

/* p without its height over the plane. */
static void face_point(const double p[3], const double t[9], double out[3]) {
  wide_vector w = vector_between(t, p), u = vector_between(t, t + 3), v = vector_between(t, t + 6);
  wide_vector n = vector_cross(&u, &v);
  wide share = wide_div(vector_dot(&w, &n), vector_dot(&n, &n));
  for (int k = 0; k < 3; k++) out[k] = p[k] - wide_mul(share, n.x[k]).hi;
}

void gz_point_witness(const double p[3], const double corners[9], const point_value *value, double nearest[3],
                      graze_feature *feature) {
  const point_feature *f = &value->feature;
  if (f->count == 1) memcpy(nearest, corners + 3 * f->corner[0], 3 * sizeof *nearest);
  if (f->count == 2) edge_point(p, corners + 3 * f->corner[0], corners + 3 * f->corner[1], nearest);
  if (f->count == 3) face_point(p, corners, nearest);
  if (f->count != 0) {
    *feature = (graze_feature)(f->count - 1);
    return;
  }
  near_pair pair;
  graze_nearest result;
  double points[9];
  three_times(p, points);
  start_pair(&pair, points, corners, 0, (double)INFINITY);
  gz_near_witness(&pair, &result);
  memcpy(nearest, result.points[1], 3 * sizeof *nearest);
  *feature = result.features[1];
}
