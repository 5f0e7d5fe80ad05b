/* Points by blocks, and what the bounds around them are computed from. */
#ifndef GRAZE_SRC_GEOMETRY_BOUNDS_H
#define GRAZE_SRC_GEOMETRY_BOUNDS_H

#include "base/cpu.h"
#include "graze/bounds.h"

enum { BOUNDS_BLOCK = 512 };

/* Coordinates of points, the last one repeated up to a multiple of 8. */
typedef struct bounds_block {
  _Alignas(64) double x[3][BOUNDS_BLOCK];
  uint64_t first; /* place of the first in the list */
  unsigned count, padded;
} bounds_block;

/* Loads points first .. first + count - 1 of the list. */
typedef void bounds_load_function(const graze_points *points, uint64_t first, unsigned count, bounds_block *block);
CPU_KERNELS(bounds_load_function, gz_bounds_load);

/* Least and greatest rounded sums along the 13 directions: sums as (x +- y) +- z. */
typedef struct bounds_sums {
  double min[GRAZE_SLABS], max[GRAZE_SLABS];
  bool finite; /* all coordinates are */
} bounds_sums;
typedef void bounds_sums_function(const bounds_block *block, bounds_sums *sums);
CPU_KERNELS(bounds_sums_function, gz_bounds_sums);

/* The same of points that are three floats each, one behind the other, with sums of floats: finer lanes, rougher sums.
 */
typedef void bounds_rough_function(const float *points, uint64_t count, bounds_sums *sums);
CPU_KERNELS(bounds_rough_function, gz_bounds_rough);

/* The greatest rounded square of a distance from the centre, scaled: ((x - c) s)^2 summed in order. */
typedef double bounds_far_function(const bounds_block *block, const double center[3], double scale);
CPU_KERNELS(bounds_far_function, gz_bounds_far);

/* Least and greatest rounded (p - center).axis of three axes, summed in order. */
typedef void bounds_project_function(const bounds_block *block, const double center[3], const double axes[3][3],
                                     double min[3], double max[3]);
CPU_KERNELS(bounds_project_function, gz_bounds_project);

/* The rounded sum of the same, of one point; the square, of one point. */
static inline double bounds_sum(unsigned direction, double x, double y, double z) {
  switch (direction) {
    case 0:
      return x;
    case 1:
      return y;
    case 2:
      return z;
    case 3:
      return (x + y) + z;
    case 4:
      return (x + y) - z;
    case 5:
      return (x - y) + z;
    case 6:
      return (x - y) - z;
    case 7:
      return x + y;
    case 8:
      return x - y;
    case 9:
      return x + z;
    case 10:
      return x - z;
    case 11:
      return y + z;
    default:
      return y - z;
  }
}

/* Points of a list, read singly. */
void gz_bounds_point(const graze_points *points, uint64_t place, double p[3]);

/* Number of a place in the list. */
static inline uint64_t bounds_number(const graze_points *points, uint64_t place) {
  return points->chosen != NULL ? points->chosen[place] : place;
}

/* bounds.c: slabs with the places of the points that reach them. */
typedef struct slab_ends {
  graze_kdop kdop;
  uint64_t low[GRAZE_SLABS], high[GRAZE_SLABS];
} slab_ends;
graze_status gz_bounds_check(const graze_context *context, const graze_points *points);
graze_status gz_bounds_slabs(const graze_context *context, const graze_points *points, slab_ends *ends);

/* bounds_sphere.c: the point farthest from a centre, its distance, and a radius that is proved to reach all. */
typedef struct far_point {
  uint64_t place;
  double distance, radius;
} far_point;
far_point gz_bounds_farthest(const graze_context *context, const graze_points *points, const graze_box *box,
                             const double center[3]);
void gz_bounds_spheres(const graze_context *context, const graze_points *points, const slab_ends *ends,
                       graze_bounds *bounds);
void gz_bounds_smallest(const graze_context *context, const graze_points *points, const slab_ends *ends,
                        graze_sphere *sphere, uint64_t support[4], uint32_t *count);

/* bounds_obb.c */
void gz_bounds_obb(const graze_context *context, const graze_points *points, const slab_ends *ends, graze_obb *obb);

#endif
