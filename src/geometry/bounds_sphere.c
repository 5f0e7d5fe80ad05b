/* Spheres: around the middle of the box, Ritter's, and the smallest.
 *
 * The smallest is that of at most four points, its support. From a support and a point outside its sphere, the smallest
 * sphere of these five has a greater radius; taking the farthest point every time, a few passes over all points end it.
 * The farthest points along 13 directions begin. Centres are solved for in numbers of two doubles.
 *
 * B. Gaertner, "Fast and Robust Smallest Enclosing Balls", 1999; E. Welzl, "Smallest Enclosing Disks", 1991; J. Ritter,
 * "An Efficient Bounding Sphere", 1990.
 */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "exact/wide_vector.h"
#include "geometry/bounds.h"

/* ---- the farthest point ---- */

typedef struct far_piece {
  double square;
  uint64_t place;
} far_piece;

typedef struct far_search {
  const graze_points *points;
  const double *center;
  double scale;
  pieces cut;
  far_piece *found;
} far_search;

/* As the kernels round it. */
static double scaled_square(const double p[3], const double center[3], double scale) {
  double d[3];
  for (int k = 0; k < 3; k++) d[k] = (p[k] - center[k]) * scale;
  return (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
}

static void search_piece(void *argument, uint32_t index) {
  far_search *s = argument;
  far_piece *piece = &s->found[index];
  bounds_block block;
  bounds_load_function *load = CPU_KERNEL(gz_bounds_load);
  bounds_far_function *farthest = CPU_KERNEL(gz_bounds_far);
  const uint64_t begin = pieces_begin(&s->cut, index), end = pieces_end(&s->cut, index);
  *piece = (far_piece){-1, begin};
  for (uint64_t at = begin; at < end; at += BOUNDS_BLOCK) {
    load(s->points, at, end - at < BOUNDS_BLOCK ? (unsigned)(end - at) : BOUNDS_BLOCK, &block);
    double square = farthest(&block, s->center, s->scale);
    if (!(square > piece->square)) continue;
    piece->square = square;
    for (unsigned i = 0; i < block.count; i++) {
      const double p[3] = {block.x[0][i], block.x[1][i], block.x[2][i]};
      if (scaled_square(p, s->center, s->scale) != square) continue;
      piece->place = at + i;
      break;
    }
  }
}

/* A power of two that brings the greatest distance along an axis to about 1. */
static double scale_of(const graze_box *box, const double center[3]) {
  double size = 0;
  for (int k = 0; k < 3; k++) size = fmax(size, fmax(box->max[k] - center[k], center[k] - box->min[k]));
  if (!(size > 0)) return 1;
  int exponent = isfinite(size) ? ilogb(size) : 1023;
  return ldexp(1, exponent < -1000 ? 1000 : exponent > 1000 ? -1000 : -exponent);
}

/* The square is off by less than 6 roundings of itself; 2^-48 covers it, and what is lost below the least double. */
far_point gz_bounds_farthest(const graze_context *context, const graze_points *points, const graze_box *box,
                             const double center[3]) {
  far_piece found[PARALLEL_PIECES];
  far_search s = {points, center, scale_of(box, center), pieces_of(points->count, 8 * BOUNDS_BLOCK), found};
  gz_parallel_each(context, s.cut.number, search_piece, &s);
  far_piece best = found[0];
  for (uint32_t p = 1; p < s.cut.number; p++) best = found[p].square > best.square ? found[p] : best;
  far_point far = {best.place, sqrt(best.square) / s.scale, 0};
  if (best.square > 0) far.radius = nextafter(sqrt(best.square * (1 + 0x1p-48)) / s.scale, (double)INFINITY);
  return far;
}

/* ---- around the middle, and Ritter's ---- */

static graze_box box_of(const slab_ends *ends) {
  graze_box box;
  for (int k = 0; k < 3; k++) {
    box.min[k] = ends->kdop.min[k];
    box.max[k] = ends->kdop.max[k];
  }
  return box;
}

static void middle_of(const double a[3], const double b[3], double out[3]) {
  for (int k = 0; k < 3; k++) out[k] = 0.5 * a[k] + 0.5 * b[k];
}

static void sphere_around(const graze_context *context, const graze_points *points, const graze_box *box,
                          graze_sphere *sphere) {
  sphere->radius = gz_bounds_farthest(context, points, box, sphere->center).radius;
}

/* Grows as little as takes the point in. */
static void grow_over(double center[3], double *radius, const double p[3], double scale) {
  double far = sqrt(scaled_square(p, center, scale));
  if (!(far > *radius)) return;
  double grown = 0.5 * (*radius + far), share = (far - grown) / far;
  for (int k = 0; k < 3; k++) center[k] += share * (p[k] - center[k]);
  *radius = grown;
}

static void find_ritter(const graze_context *context, const graze_points *points, const slab_ends *ends,
                        graze_sphere *sphere) {
  const graze_box box = box_of(ends);
  bounds_block block;
  double radius = -1, low[3], high[3];
  middle_of(box.min, box.max, low);
  const double scale = scale_of(&box, low);
  for (int k = 0; k < 3; k++) {
    gz_bounds_point(points, ends->low[k], low);
    gz_bounds_point(points, ends->high[k], high);
    double half = 0.5 * sqrt(scaled_square(low, high, scale));
    if (!(half > radius)) continue;
    radius = half;
    middle_of(low, high, sphere->center);
  }
  bounds_load_function *load = CPU_KERNEL(gz_bounds_load);
  bounds_far_function *farthest = CPU_KERNEL(gz_bounds_far);
  for (uint64_t at = 0; at < points->count; at += BOUNDS_BLOCK) {
    load(points, at, points->count - at < BOUNDS_BLOCK ? (unsigned)(points->count - at) : BOUNDS_BLOCK, &block);
    if (farthest(&block, sphere->center, scale) <= radius * radius) continue;
    for (unsigned i = 0; i < block.count; i++) {
      const double p[3] = {block.x[0][i], block.x[1][i], block.x[2][i]};
      grow_over(sphere->center, &radius, p, scale);
    }
  }
  sphere_around(context, points, &box, sphere);
}

/* ---- the smallest ---- */

enum { SUPPORT = 4, PASSES_MOST = 100 };

typedef struct base_point {
  double x[3];
  uint64_t place;
} base_point;

/* Points with a sphere through them. */
typedef struct base_sphere {
  base_point p[SUPPORT];
  int count;
  double center[3];
  double square; /* the greatest of the distances that count, scaled */
  bool through;  /* it is that of these points */
} base_sphere;

/* Gauss with pivots; false: the points lie in a smaller space, or so nearly that fewer of them do as well. */
static bool solve(wide m[3][4], int n, wide out[3]) {
  for (int c = 0; c < n; c++) {
    int pivot = c;
    for (int r = c + 1; r < n; r++) pivot = fabs(m[r][c].hi) > fabs(m[pivot][c].hi) ? r : pivot;
    if (!(fabs(m[pivot][c].hi) > 0x1p-58)) return false;
    for (int k = 0; k < 4; k++) {
      wide x = m[c][k];
      m[c][k] = m[pivot][k];
      m[pivot][k] = x;
    }
    for (int r = c + 1; r < n; r++) {
      wide share = wide_div(m[r][c], m[c][c]);
      for (int k = c; k < 4; k++) m[r][k] = wide_sub(m[r][k], wide_mul(share, m[c][k]));
    }
  }
  for (int c = n - 1; c >= 0; c--) {
    wide sum = m[c][3];
    for (int k = c + 1; k < n; k++) sum = wide_sub(sum, wide_mul(m[c][k], out[k]));
    out[c] = wide_div(sum, m[c][c]);
  }
  return true;
}

/* The point of the flat through all that is as far from each: p0 + sum of share v, where v.(sum of share v) = v.v / 2
 * for each edge v from p0. */
static bool find_center(base_sphere *s, double scale) {
  wide m[3][4], share[3];
  wide_vector v[3];
  const int n = s->count - 1;
  for (int i = 0; i < n; i++) {
    v[i] = vector_between(s->p[0].x, s->p[i + 1].x);
    for (int k = 0; k < 3; k++) v[i].x[k] = (wide){v[i].x[k].hi * scale, v[i].x[k].lo * scale};
  }
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < n; k++) m[i][k] = vector_dot(&v[i], &v[k]);
    m[i][3] = (wide){0.5 * m[i][i].hi, 0.5 * m[i][i].lo};
  }
  if (!solve(m, n, share)) return false;
  for (int k = 0; k < 3; k++) {
    wide sum = {0, 0};
    for (int i = 0; i < n; i++) sum = wide_add(sum, wide_mul(share[i], v[i].x[k]));
    s->center[k] = wide_add((wide){s->p[0].x[k], 0}, (wide){sum.hi / scale, sum.lo / scale}).hi;
  }
  return true;
}

/* What a centre rounded to doubles may be off by, as a share of the radius. */
static double tolerance_of(const base_sphere *s, double scale) {
  double size = fmax(fmax(fabs(s->center[0]), fabs(s->center[1])), fabs(s->center[2])) * scale;
  return 0x1p-47 + 0x1p-51 * size / sqrt(s->square);
}

static bool is_through(const base_sphere *s, double scale) {
  double least = s->square * (1 - tolerance_of(s, scale));
  for (int i = 0; i < s->count; i++) {
    if (scaled_square(s->p[i].x, s->center, scale) < least) return false;
  }
  return true;
}

/* Of all spheres through some of the points the one that reaches the farthest of them with the least radius: as the
 * smallest sphere is one of them, no test of what lies inside is needed. Fewer points go first; a centre that is right
 * by chance, with points nearer than the farthest, is not one of those points. */
static base_sphere smallest_of(const base_point *p, int count, double scale) {
  base_sphere best = {.square = (double)INFINITY};
  for (int size = 1; size <= SUPPORT; size++) {
    for (unsigned set = 1; set < 1u << count; set++) {
      if (__builtin_popcount(set) != size) continue;
      base_sphere s = {.count = 0, .square = 0};
      for (int i = 0; i < count; i++) {
        if (set >> i & 1) s.p[s.count++] = p[i];
      }
      if (!find_center(&s, scale)) continue;
      for (int i = 0; i < count; i++) s.square = fmax(s.square, scaled_square(p[i].x, s.center, scale));
      bool through = is_through(&s, scale);
      bool less = s.square < best.square * (1 - 0x1p-46);
      if (through == best.through ? !less : !through) continue;
      best = s;
      best.through = through;
    }
  }
  return best;
}

/* False: p is inside, or rounding leads no further. */
static bool take_in(base_sphere *s, const base_point *p, double scale) {
  base_point all[SUPPORT + 1];
  double far = scaled_square(p->x, s->center, scale);
  if (far <= s->square * (1 + tolerance_of(s, scale))) return false;
  memcpy(all, s->p, sizeof s->p);
  all[s->count] = *p;
  base_sphere next = smallest_of(all, s->count + 1, scale);
  if (!(next.square > s->square)) return false;
  *s = next;
  return true;
}

static base_point base_point_at(const graze_points *points, uint64_t place) {
  base_point p = {.place = place};
  gz_bounds_point(points, place, p.x);
  return p;
}

/* The smallest sphere of the ends of slabs. */
static base_sphere begin_sphere(const graze_points *points, const slab_ends *ends, double scale) {
  base_point p[2 * GRAZE_SLABS];
  for (int i = 0; i < GRAZE_SLABS; i++) {
    p[2 * i] = base_point_at(points, ends->low[i]);
    p[2 * i + 1] = base_point_at(points, ends->high[i]);
  }
  base_sphere s = smallest_of(p, 2, scale);
  for (int round = 0; round < PASSES_MOST; round++) {
    int far = 0;
    for (int i = 1; i < 2 * GRAZE_SLABS; i++) {
      if (scaled_square(p[i].x, s.center, scale) > scaled_square(p[far].x, s.center, scale)) far = i;
    }
    if (!take_in(&s, &p[far], scale)) break;
  }
  return s;
}

void gz_bounds_smallest(const graze_context *context, const graze_points *points, const slab_ends *ends,
                        graze_sphere *sphere, uint64_t support[4], uint32_t *count) {
  const graze_box box = box_of(ends);
  double middle[3];
  middle_of(box.min, box.max, middle);
  const double scale = scale_of(&box, middle);
  base_sphere s = begin_sphere(points, ends, scale);
  for (int pass = 0; pass < PASSES_MOST; pass++) {
    far_point far = gz_bounds_farthest(context, points, &box, s.center);
    *sphere = (graze_sphere){{s.center[0], s.center[1], s.center[2]}, far.radius};
    const base_point p = base_point_at(points, far.place);
    if (!take_in(&s, &p, scale)) break;
  }
  *count = (uint32_t)s.count;
  for (int i = 0; i < SUPPORT; i++) support[i] = i < s.count ? bounds_number(points, s.p[i].place) : 0;
  for (int k = 0; k < 3; k++) sphere->center[k] += 0.0;
}

void gz_bounds_spheres(const graze_context *context, const graze_points *points, const slab_ends *ends,
                       graze_bounds *bounds) {
  const graze_sphere *const others[] = {&bounds->sphere_box, &bounds->sphere_ritter};
  middle_of(bounds->box.min, bounds->box.max, bounds->sphere_box.center);
  sphere_around(context, points, &bounds->box, &bounds->sphere_box);
  find_ritter(context, points, ends, &bounds->sphere_ritter);
  gz_bounds_smallest(context, points, ends, &bounds->sphere_smallest, bounds->support, &bounds->support_count);
  for (int i = 0; i < 2; i++) { /* the same but for rounding */
    if (others[i]->radius < bounds->sphere_smallest.radius) bounds->sphere_smallest = *others[i];
  }
}
