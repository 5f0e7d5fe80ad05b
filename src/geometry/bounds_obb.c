/* An oriented box: of the points farthest along 13 directions a large triangle, and the two points farthest from its
 * plane; the normal of a face of that double tetrahedron, an edge of the face, and what is at right angles to both are
 * axes to try. Those points also tell which axes are best; all points tell how far the box has to reach.
 *
 * T. Larsson, L. Kallberg, "Fast Computation of Tight-Fitting Oriented Bounding Boxes", 2011.
 */
#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "base/parallel.h"
#include "base/vector3.h"
#include "geometry/bounds.h"

enum { ENDS = 2 * GRAZE_SLABS };

/* Points about the middle of the box, scaled to about 1. */
typedef struct end_points {
  double x[ENDS][3];
} end_points;

static void between(const double from[3], const double to[3], double out[3]) {
  for (int k = 0; k < 3; k++) out[k] = to[k] - from[k];
}

/* To length 1; false: it is too short to have a direction. */
static bool normalize(double x[3]) {
  double length = sqrt(dot3(x, x));
  for (int k = 0; k < 3 && length > 1e-6; k++) x[k] /= length;
  return length > 1e-6;
}

/* ---- axes to try ---- */

typedef struct axes {
  double a[3][3];
  double area; /* half of the surface of the box around the end points */
} axes;

static void measure(const end_points *p, axes *try) {
  double extent[3];
  for (int k = 0; k < 3; k++) {
    double low = dot3(try->a[k], p->x[0]), high = low;
    for (int i = 1; i < ENDS; i++) {
      double at = dot3(try->a[k], p->x[i]);
      low = smaller(at, low);
      high = larger(at, high);
    }
    extent[k] = high - low;
  }
  try->area = (extent[0] * extent[1] + extent[1] * extent[2]) + extent[2] * extent[0];
}

/* The three edges of a triangle with its normal. */
static void try_triangle(const end_points *p, const double *a, const double *b, const double *c, axes *best) {
  const double *const corner[4] = {a, b, c, a};
  double u[3], v[3], normal[3];
  between(a, b, u);
  between(a, c, v);
  cross3(u, v, normal);
  if (!normalize(normal)) return;
  for (int e = 0; e < 3; e++) {
    axes try;
    between(corner[e], corner[e + 1], try.a[0]);
    if (!normalize(try.a[0])) continue;
    memcpy(try.a[1], normal, sizeof normal);
    cross3(try.a[0], try.a[1], try.a[2]);
    if (!normalize(try.a[2])) continue;
    measure(p, &try);
    if (try.area < best->area) *best = try;
  }
}

/* The point farthest from a line through `from`, along a unit vector. */
static int far_from_line(const end_points *p, const double from[3], const double along[3]) {
  int far = 0;
  double most = -1;
  for (int i = 0; i < ENDS; i++) {
    double way[3];
    between(from, p->x[i], way);
    double share = dot3(way, along), distance = dot3(way, way) - share * share;
    if (!(distance > most)) continue;
    most = distance;
    far = i;
  }
  return far;
}

static void try_tetrahedra(const end_points *p, axes *best) {
  int a = 0, low = 0, high = 0;
  double most = -1, along[3], u[3], v[3], normal[3];
  for (int i = 0; i < ENDS; i += 2) {
    between(p->x[i], p->x[i + 1], u);
    if (!(dot3(u, u) > most)) continue;
    most = dot3(u, u);
    a = i;
  }
  const double *p0 = p->x[a], *p1 = p->x[a + 1];
  between(p0, p1, along);
  if (!normalize(along)) return;
  const double *p2 = p->x[far_from_line(p, p0, along)];
  try_triangle(p, p0, p1, p2, best);
  between(p0, p1, u);
  between(p0, p2, v);
  cross3(u, v, normal);
  for (int i = 1; i < ENDS; i++) {
    low = dot3(normal, p->x[i]) < dot3(normal, p->x[low]) ? i : low;
    high = dot3(normal, p->x[i]) > dot3(normal, p->x[high]) ? i : high;
  }
  const double *const base[4] = {p0, p1, p2, p0};
  for (int e = 0; e < 3; e++) {
    try_triangle(p, base[e], base[e + 1], p->x[low], best);
    try_triangle(p, base[e], base[e + 1], p->x[high], best);
  }
}

/* ---- how far it reaches ---- */

typedef struct project_search {
  const graze_points *points;
  const double *center;
  const double (*axes)[3];
  pieces cut;
  double (*min)[3], (*max)[3];
} project_search;

static void project_piece(void *argument, uint32_t index) {
  project_search *s = argument;
  bounds_block block;
  double low[3], high[3];
  bounds_load_function *load = CPU_KERNEL(gz_bounds_load);
  bounds_project_function *project = CPU_KERNEL(gz_bounds_project);
  const uint64_t begin = pieces_begin(&s->cut, index), end = pieces_end(&s->cut, index);
  for (uint64_t at = begin; at < end; at += BOUNDS_BLOCK) {
    load(s->points, at, end - at < BOUNDS_BLOCK ? (unsigned)(end - at) : BOUNDS_BLOCK, &block);
    project(&block, s->center, s->axes, low, high);
    for (int k = 0; k < 3; k++) {
      s->min[index][k] = at == begin ? low[k] : smaller(low[k], s->min[index][k]);
      s->max[index][k] = at == begin ? high[k] : larger(high[k], s->max[index][k]);
    }
  }
}

static void project_all(const graze_context *context, const graze_points *points, const graze_obb *obb, double min[3],
                        double max[3]) {
  double low[PARALLEL_PIECES][3], high[PARALLEL_PIECES][3];
  project_search s = {points, obb->center, obb->axes, pieces_of(points->count, 8 * BOUNDS_BLOCK), low, high};
  gz_parallel_each(context, s.cut.number, project_piece, &s);
  for (int k = 0; k < 3; k++) {
    min[k] = low[0][k];
    max[k] = high[0][k];
    for (uint32_t p = 1; p < s.cut.number; p++) {
      min[k] = smaller(low[p][k], min[k]);
      max[k] = larger(high[p][k], max[k]);
    }
  }
}

/* (p - center).axis is off by at most 5 roundings of the sum of its absolute terms, which is at most three times the
 * greatest difference; 2^-49 of that covers it, and the quotient has as much again. */
static void reach_out(const graze_context *context, const graze_points *points, const graze_box *box, graze_obb *obb) {
  double min[3], max[3], far = 0;
  project_all(context, points, obb, min, max);
  double center[3];
  memcpy(center, obb->center, sizeof center);
  for (int a = 0; a < 3; a++) {
    double middle = 0.5 * min[a] + 0.5 * max[a];
    for (int k = 0; k < 3; k++) center[k] += middle * obb->axes[a][k];
  }
  memcpy(obb->center, center, sizeof center);
  project_all(context, points, obb, min, max);
  for (int k = 0; k < 3; k++) far = larger(far, larger(fabs(box->max[k] - center[k]), fabs(center[k] - box->min[k])));
  for (int a = 0; a < 3; a++) {
    double reach = larger(fabs(min[a]), fabs(max[a])) + 3 * (0x1p-49 * far) + (far > 0 ? 0x1p-1070 : 0);
    double half = reach / dot3(obb->axes[a], obb->axes[a]) * (1 + 0x1p-49);
    obb->half[a] = half > 0 ? nextafter(half, (double)INFINITY) : 0;
  }
}

/* Along the axes nothing is rounded but the middle and half of the difference. */
static void align(const graze_box *box, graze_obb *obb) {
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 3; i++) obb->axes[k][i] = i == k;
    double middle = obb->center[k] = 0.5 * box->min[k] + 0.5 * box->max[k];
    double half = larger(box->max[k] - middle, middle - box->min[k]);
    obb->half[k] = half > 0 ? nextafter(half, (double)INFINITY) : 0;
  }
}

static double volume_of(const graze_obb *obb, double scale) {
  return (obb->half[0] * scale) * (obb->half[1] * scale) * (obb->half[2] * scale);
}

static double area_of(const graze_obb *obb, double scale) {
  double h[3];
  for (int k = 0; k < 3; k++) h[k] = obb->half[k] * scale;
  return (h[0] * h[1] + h[1] * h[2]) + h[2] * h[0];
}

void gz_bounds_obb(const graze_context *context, const graze_points *points, const slab_ends *ends, graze_obb *obb) {
  graze_box box;
  end_points p;
  memcpy(box.min, ends->kdop.min, sizeof box.min);
  memcpy(box.max, ends->kdop.max, sizeof box.max);
  align(&box, obb);
  double size = larger(larger(obb->half[0], obb->half[1]), obb->half[2]);
  if (!(size > 0x1p-1000) || !(size < 0x1p1000)) return;
  const double scale = ldexp(1, -ilogb(size));
  for (int i = 0; i < ENDS; i++) {
    gz_bounds_point(points, i % 2 == 0 ? ends->low[i / 2] : ends->high[i / 2], p.x[i]);
    for (int k = 0; k < 3; k++) p.x[i][k] = (p.x[i][k] - obb->center[k]) * scale;
  }
  axes best = {.a = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  measure(&p, &best);
  const double aligned = best.area;
  try_tetrahedra(&p, &best);
  if (!(best.area < aligned)) return;
  graze_obb turned = *obb;
  memcpy(turned.axes, best.a, sizeof turned.axes);
  reach_out(context, points, &box, &turned);
  if (area_of(&turned, scale) < area_of(obb, scale) && volume_of(&turned, scale) <= volume_of(obb, scale))
    *obb = turned;
}
