/* Slabs along 13 directions: rounded sums of pieces, with an error bound, tell which pieces, blocks and points may
 * reach farther than those before; of these the exact sums are rounded outward. Where points are floats one behind the
 * other the sums of pieces are floats, too: half of the bytes and twice the lanes, and a few more pieces are looked at.
 *
 * J. T. Klosowski, M. Held, J. S. B. Mitchell, H. Sowizral, K. Zikan, "Efficient Collision Detection Using Bounding
 * Volume Hierarchies of k-DOPs", 1998.
 */
#include "geometry/bounds.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "base/context.h"
#include "base/extremes.h"
#include "base/parallel.h"
#include "exact/big.h"
#include "exact/expansion.h"

void graze_slab_direction(uint32_t index, int direction[3]) {
  static const signed char table[GRAZE_SLABS][3] = {{1, 0, 0},  {0, 1, 0},   {0, 0, 1}, {1, 1, 1},  {1, 1, -1},
                                                    {1, -1, 1}, {1, -1, -1}, {1, 1, 0}, {1, -1, 0}, {1, 0, 1},
                                                    {1, 0, -1}, {0, 1, 1},   {0, 1, -1}};
  for (int k = 0; k < 3; k++) direction[k] = index < GRAZE_SLABS ? table[index][k] : 0;
}

bool graze_kdop_has(uint32_t k, uint32_t index) {
  if (index < 3) return true;
  if (index < 7) return k == 14 || k == 26;
  return index < GRAZE_SLABS && (k == 18 || k == 26);
}

void gz_bounds_point(const graze_points *points, uint64_t place, double p[3]) {
  bounds_block block;
  gz_bounds_load_scalar(points, place, 1, &block);
  for (int k = 0; k < 3; k++) p[k] = block.x[k][0];
}

/* ---- sums rounded outward ---- */

/* Sign of the sum of three minus q. */
static int compare_sum(const double t[3], double q) {
  big sum, x;
  gz_big_from_double(&sum, t[0]);
  for (int k = 1; k < 3; k++) {
    gz_big_from_double(&x, t[k]);
    gz_big_add(&sum, &sum, &x);
  }
  gz_big_from_double(&x, q);
  gz_big_sub(&sum, &sum, &x);
  return sum.sign;
}

/* The greatest double that the sum reaches, for sums at the end of the range. */
static double sum_down_slowly(const double t[3]) {
  double q = 4 * ((0.25 * t[0] + 0.25 * t[1]) + 0.25 * t[2]);
  q = fmin(fmax(q, -DBL_MAX), DBL_MAX);
  while (compare_sum(t, q) < 0) {
    if (q == -DBL_MAX) return -(double)INFINITY;
    q = nextafter(q, -(double)INFINITY);
  }
  while (q < DBL_MAX && compare_sum(t, nextafter(q, (double)INFINITY)) >= 0) q = nextafter(q, (double)INFINITY);
  return q;
}

/* What the roundings of s and r lose is known: the sum is q + f + e, and where f is not 0 it is more than e. */
static double sum_down(const double t[3]) {
  double a, b, s, c, r, e, q, f;
  if (!(fabs(t[0]) + fabs(t[1]) + fabs(t[2]) < 0x1p1000)) return sum_down_slowly(t);
  two_sum(t[0], t[1], &a, &b);
  two_sum(a, t[2], &s, &c);
  two_sum(b, c, &r, &e);
  two_sum(s, r, &q, &f);
  return f < 0 || (f == 0 && e < 0) ? nextafter(q, -(double)INFINITY) : q;
}

/* The point's sum along the direction, or its negative; rounded down. */
static double point_down(uint32_t index, const double p[3], int sign) {
  int direction[3];
  double t[3];
  graze_slab_direction(index, direction);
  for (int k = 0; k < 3; k++) t[k] = direction[k] == 0 ? 0 : sign * direction[k] * p[k];
  return sum_down(t);
}

/* ---- blocks ---- */

/* Rounded sums of a piece, and the sum of its greatest absolute coordinates. */
typedef struct slab_piece {
  bounds_sums sums;
  double size;
} slab_piece;

typedef struct slab_search {
  const graze_points *points;
  pieces cut;
  slab_piece *found;
  bool rough; /* sums of pieces are those of floats */
} slab_search;

static double size_of(const bounds_sums *s) {
  double size = 0;
  for (int k = 0; k < 3; k++) size += fmax(fabs(s->min[k]), fabs(s->max[k]));
  return size;
}

/* Two roundings of at most 2^-53 of that size each. */
static double error_of(uint32_t index, double size) {
  return index < 3 ? 0 : 0x1p-51 * size;
}

/* Of the sums of pieces; of floats two roundings of at most 2^-24. */
static double piece_error(const slab_search *s, uint32_t index, double size) {
  return s->rough && index >= 3 ? 0x1p-22 * size : error_of(index, size);
}

static void load_block(const slab_search *s, uint64_t at, uint64_t end, bounds_block *block, bounds_sums *sums) {
  bounds_load_function *load = CPU_KERNEL(gz_bounds_load);
  bounds_sums_function *sum = CPU_KERNEL(gz_bounds_sums);
  load(s->points, at, end - at < BOUNDS_BLOCK ? (unsigned)(end - at) : BOUNDS_BLOCK, block);
  sum(block, sums);
}

/* The points as floats, if that is how they lie. */
static const float *packed_floats(const graze_points *points) {
  const bool packed = points->stride == 0 || points->stride == 3 * sizeof(float);
  if (points->precision != GRAZE_FLOAT || points->chosen != NULL || !packed) return NULL;
  return (uintptr_t)points->first % sizeof(float) == 0 ? points->first : NULL;
}

static void sum_floats(void *argument, uint32_t index) {
  slab_search *s = argument;
  const uint64_t begin = pieces_begin(&s->cut, index), end = pieces_end(&s->cut, index);
  bounds_rough_function *sum = CPU_KERNEL(gz_bounds_rough);
  sum(packed_floats(s->points) + 3 * begin, end - begin, &s->found[index].sums);
  s->found[index].size = size_of(&s->found[index].sums);
}

static void sum_piece(void *argument, uint32_t index) {
  slab_search *s = argument;
  bounds_sums *all = &s->found[index].sums, sums;
  bounds_block block;
  const uint64_t begin = pieces_begin(&s->cut, index), end = pieces_end(&s->cut, index);
  for (uint64_t at = begin; at < end; at += BOUNDS_BLOCK) {
    load_block(s, at, end, &block, at == begin ? all : &sums);
    if (at == begin) continue;
    all->finite = all->finite && sums.finite;
    for (int i = 0; i < GRAZE_SLABS; i++) {
      all->min[i] = smaller(sums.min[i], all->min[i]);
      all->max[i] = larger(sums.max[i], all->max[i]);
    }
  }
  s->found[index].size = size_of(all);
}

/* What is known of one end of a direction, `sign` times which is asked: nothing below `rough` + its error matters. */
typedef struct slab_end {
  uint32_t index;
  int sign;
  double rough, least; /* exact, rounded down */
  uint64_t at;
} slab_end;

/* Whether rounded sums that are at least this may belong to an exact one that is below those before. */
static bool may_improve(const slab_end *e, double sum, double error) {
  return !(sum - error > e->rough) && (error > 0 || sum < e->least);
}

static void search_block(const bounds_block *b, double error, slab_end *e) {
  for (unsigned i = 0; i < b->count; i++) {
    const double p[3] = {b->x[0][i], b->x[1][i], b->x[2][i]};
    if (!may_improve(e, e->sign * bounds_sum(e->index, p[0], p[1], p[2]), error)) continue;
    double sum = point_down(e->index, p, e->sign);
    if (!(sum < e->least)) continue;
    e->least = sum;
    e->at = b->first + i;
  }
}

static double least_of(const bounds_sums *s, const slab_end *e) {
  return e->sign > 0 ? s->min[e->index] : -s->max[e->index];
}

/* In order, so that the first of the points that reach an end is kept. */
static void search_ends(const slab_search *s, slab_end *ends, double size) {
  bounds_block block;
  bounds_sums sums;
  for (uint32_t p = 0; p < s->cut.number; p++) {
    bool wanted = false;
    for (int k = 0; k < 2 * GRAZE_SLABS; k++)
      wanted =
          wanted || may_improve(&ends[k], least_of(&s->found[p].sums, &ends[k]), piece_error(s, ends[k].index, size));
    const uint64_t end = pieces_end(&s->cut, p);
    for (uint64_t at = pieces_begin(&s->cut, p); wanted && at < end; at += BOUNDS_BLOCK) {
      load_block(s, at, end, &block, &sums);
      for (int k = 0; k < 2 * GRAZE_SLABS; k++) {
        double error = error_of(ends[k].index, size);
        if (may_improve(&ends[k], least_of(&sums, &ends[k]), error)) search_block(&block, error, &ends[k]);
      }
    }
  }
}

/* The least rounded sum and its error: some exact one is not above them, so that none above them matters. */
static void begin_ends(const slab_search *s, slab_end *ends, double *size) {
  *size = 0;
  for (uint32_t p = 0; p < s->cut.number; p++) *size = larger(s->found[p].size, *size);
  for (uint32_t k = 0; k < 2 * GRAZE_SLABS; k++) {
    slab_end *e = &ends[k];
    *e = (slab_end){.index = k / 2, .sign = k % 2 == 0 ? 1 : -1, .least = (double)INFINITY};
    e->rough = least_of(&s->found[0].sums, e);
    for (uint32_t p = 1; p < s->cut.number; p++) e->rough = smaller(least_of(&s->found[p].sums, e), e->rough);
    e->rough += piece_error(s, e->index, *size);
  }
}

static graze_status name_bad_point(const graze_context *context, const graze_points *points) {
  double p[3];
  for (uint64_t i = 0; i < points->count; i++) {
    gz_bounds_point(points, i, p);
    if (isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2])) continue;
    return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "point %" PRIu64 ": a coordinate is not finite",
                   bounds_number(points, i));
  }
  return GRAZE_OK;
}

graze_status gz_bounds_check(const graze_context *context, const graze_points *points) {
  if (points == NULL || points->first == NULL) return gz_fail_null(context);
  if (points->count == 0) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "bounds: there are no points");
  if ((unsigned)points->precision > GRAZE_DOUBLE)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "bounds: the precision of the points is unknown");
  return GRAZE_OK;
}

/* Without vectors floats are no faster than doubles. Sums of floats that are not finite tell nothing. */
static void sum_pieces(const graze_context *context, slab_search *s) {
  s->rough = gz_cpu_best() >= CPU_AVX2 && packed_floats(s->points) != NULL;
  if (s->rough) gz_parallel_each(context, s->cut.number, sum_floats, s);
  for (uint32_t p = 0; p < s->cut.number; p++) s->rough = s->rough && s->found[p].size < 0x1p126;
  if (!s->rough) gz_parallel_each(context, s->cut.number, sum_piece, s);
}

graze_status gz_bounds_slabs(const graze_context *context, const graze_points *points, slab_ends *out) {
  slab_piece found[PARALLEL_PIECES];
  slab_end ends[2 * GRAZE_SLABS];
  double size;
  slab_search s = {points, pieces_of(points->count, 8 * BOUNDS_BLOCK), found, false};
  sum_pieces(context, &s);
  for (uint32_t p = 0; p < s.cut.number; p++) {
    if (!found[p].sums.finite) return name_bad_point(context, points);
  }
  begin_ends(&s, ends, &size);
  search_ends(&s, ends, size);
  out->kdop.k = 26;
  for (uint32_t i = 0; i < GRAZE_SLABS; i++) {
    out->kdop.min[i] = ends[2 * i].least + 0.0; /* no -0 */
    out->kdop.max[i] = -ends[2 * i + 1].least + 0.0;
    out->low[i] = ends[2 * i].at;
    out->high[i] = ends[2 * i + 1].at;
  }
  return GRAZE_OK;
}

/* ---- public ---- */

graze_status graze_bound_slabs(graze_context *context, const graze_points *points, uint32_t k, graze_kdop *kdop) {
  slab_ends ends;
  if (context == NULL || kdop == NULL) return gz_fail_null(context);
  if (k != 6 && k != 14 && k != 18 && k != 26)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "bounds: a k-DOP has 6, 14, 18 or 26 planes");
  graze_status status = gz_bounds_check(context, points);
  if (status != GRAZE_OK) return status;
  unsigned saved = gz_fp_enter();
  status = gz_bounds_slabs(context, points, &ends);
  gz_fp_leave(saved);
  if (status != GRAZE_OK) return status;
  *kdop = ends.kdop;
  kdop->k = k;
  return GRAZE_OK;
}

graze_status graze_bound_smallest_sphere(graze_context *context, const graze_points *points, graze_sphere *sphere,
                                         uint64_t support[4], uint32_t *support_count) {
  slab_ends ends;
  if (context == NULL || sphere == NULL || support == NULL || support_count == NULL) return gz_fail_null(context);
  graze_status status = gz_bounds_check(context, points);
  if (status != GRAZE_OK) return status;
  unsigned saved = gz_fp_enter();
  status = gz_bounds_slabs(context, points, &ends);
  if (status == GRAZE_OK) gz_bounds_smallest(context, points, &ends, sphere, support, support_count);
  gz_fp_leave(saved);
  return status;
}

graze_status graze_bound_points(graze_context *context, const graze_points *points, graze_bounds *bounds) {
  slab_ends ends;
  if (context == NULL || bounds == NULL) return gz_fail_null(context);
  graze_status status = gz_bounds_check(context, points);
  if (status != GRAZE_OK) return status;
  unsigned saved = gz_fp_enter();
  status = gz_bounds_slabs(context, points, &ends);
  if (status == GRAZE_OK) {
    *bounds = (graze_bounds){.kdop = ends.kdop};
    for (int k = 0; k < 3; k++) {
      bounds->box.min[k] = ends.kdop.min[k];
      bounds->box.max[k] = ends.kdop.max[k];
    }
    gz_bounds_spheres(context, points, &ends, bounds);
    gz_bounds_obb(context, points, &ends, &bounds->obb);
  }
  gz_fp_leave(saved);
  return status;
}
