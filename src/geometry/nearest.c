/* The nearest point of a triangle to a point: inside, on an edge or at a corner. */
#include "geometry/nearest.h"

#include <math.h>
#include <string.h>

#include "base/vector3.h"
#include "exact/expansion.h"

/* The part of p - a that is not along the segment from a to b, or leads to its nearer end. */
static void from_segment(const double a[3], const double b[3], const double p[3], double way[3]) {
  double edge[3], to[3];
  sub3(b, a, edge);
  sub3(p, a, to);
  double along = dot3(to, edge), length2 = dot3(edge, edge);
  if (along >= length2 && length2 > 0) {
    sub3(p, b, way);
    return;
  }
  double t = along > 0 ? along / length2 : 0;
  for (int k = 0; k < 3; k++) way[k] = to[k] - t * edge[k];
}

/* To length 1; the length it had. */
static double normalize(double x[3]) {
  const double length = sqrt(dot3(x, x));
  for (int k = 0; k < 3 && length > 0; k++) x[k] /= length;
  return length;
}

/* A number in two doubles, high + low. */
typedef struct wide {
  double high, low;
} wide;

static wide wide_product(wide a, wide b) {
  wide p;
  two_prod(a.high, b.high, &p.high, &p.low);
  p.low += a.high * b.low + a.low * b.high;
  return p;
}

static double wide_difference(wide a, wide b) {
  wide d;
  two_diff(a.high, b.high, &d.high, &d.low);
  return d.high + (d.low + (a.low - b.low));
}

/* The edges of a sliver are so nearly parallel that little is left of their cross product in doubles. With twice as
 * many digits it is as good as that of any triangle; false: it is narrower than 2^-50 of its length. */
static bool sliver_normal(const double corners[9], double normal[3]) {
  wide edge[2][3];
  double largest = 0, length2[2] = {0, 0};
  int exponent;
  for (int e = 0; e < 2; e++) {
    for (int k = 0; k < 3; k++) {
      two_diff(corners[3 * e + 3 + k], corners[k], &edge[e][k].high, &edge[e][k].low);
      largest = fmax(largest, fabs(edge[e][k].high));
    }
  }
  frexp(largest, &exponent);
  for (int e = 0; e < 2; e++) {
    for (int k = 0; k < 3; k++) {
      edge[e][k] = (wide){ldexp(edge[e][k].high, -exponent), ldexp(edge[e][k].low, -exponent)};
      length2[e] += edge[e][k].high * edge[e][k].high;
    }
  }
  for (int k = 0; k < 3; k++) {
    const int l = (k + 1) % 3, m = (k + 2) % 3;
    normal[k] = wide_difference(wide_product(edge[0][l], edge[1][m]), wide_product(edge[0][m], edge[1][l]));
  }
  const double sine2 = dot3(normal, normal) / (length2[0] * length2[1]);
  return sine2 > 0x1p-100 && normalize(normal) > 0;
}

/* From unit vectors, so that large triangles do not overflow. */
triangle_shape gz_triangle_normal(const double corners[9], double normal[3]) {
  static const double up[3] = {0, 0, 1};
  double first[3], second[3], third[3];
  sub3(corners + 3, corners, first);
  sub3(corners + 6, corners, second);
  sub3(corners + 6, corners + 3, third);
  const double a = normalize(first), b = normalize(second), longest = fmax(fmax(a, b), sqrt(dot3(third, third)));
  triangle_shape shape = IS_LINE;
  if (a > 0 && b > 0) {
    cross3(first, second, normal);
    shape = normalize(normal) * (a / longest) * (b / longest) < 0x1p-8 ? IS_SLIVER : HAS_AREA;
  }
  if (shape == IS_SLIVER && !sliver_normal(corners, normal)) shape = IS_LINE;
  if (shape == IS_LINE) memcpy(normal, up, sizeof up);
  return shape;
}

/* On the inner side of each edge. Across a sliver few digits decide it, so the way from the edge's nearer end is asked.
 */
static bool projects_inside(const double corners[9], triangle_shape shape, const double normal[3], const double p[3]) {
  for (int k = 0; k < 3; k++) {
    const double *from = corners + 3 * k, *to = corners + 3 * ((k + 1) % 3);
    double edge[3], inward[3], way[3], other[3];
    sub3(to, from, edge);
    sub3(p, from, way);
    sub3(p, to, other);
    cross3(normal, edge, inward);
    const bool ends_nearer = shape == IS_SLIVER && dot3(other, other) < dot3(way, way);
    if (!(dot3(inward, ends_nearer ? other : way) > 0)) return false;
  }
  return true;
}

near_point gz_triangle_nearest(const double corners[9], const double p[3]) {
  near_point near = {.inside = false};
  double way[3], least[3] = {0}, least2 = (double)INFINITY;
  const triangle_shape shape = gz_triangle_normal(corners, near.normal);
  if (shape != IS_LINE && projects_inside(corners, shape, near.normal, p)) {
    sub3(p, corners, way);
    double height = dot3(near.normal, way);
    for (int k = 0; k < 3; k++) near.normal[k] = height < 0 ? -near.normal[k] : near.normal[k];
    near.distance = fabs(height);
    near.inside = true;
    return near;
  }
  for (int e = 0; e < 3; e++) {
    from_segment(corners + 3 * e, corners + 3 * ((e + 1) % 3), p, way);
    double distance2 = dot3(way, way);
    if (!(distance2 < least2)) continue;
    least2 = distance2;
    for (int k = 0; k < 3; k++) least[k] = way[k];
  }
  near.distance = sqrt(least2);
  for (int k = 0; k < 3 && near.distance > 0; k++) near.normal[k] = least[k] / near.distance;
  return near;
}
