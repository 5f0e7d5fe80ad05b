/* graze/bounds.h: simple shapes around points, each proved to contain them, and whether two such shapes can meet.
 *
 * Boxes along the axes, three spheres, an oriented box, and slabs in up to 13 directions (k-DOPs). What each promises
 * is beside it: for every finite double, and with no more than rounding added. docs/bounds.md compares them.
 */
#ifndef GRAZE_BOUNDS_H
#define GRAZE_BOUNDS_H

#include "graze/base.h"
#include "graze/math.h"
#include "graze/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Points in the caller's memory. */
typedef struct graze_points {
  const void *first; /* x, y, z of point 0, of `precision` */
  size_t stride;     /* bytes from point to point; 0: tightly packed */
  uint64_t count;    /* at least 1 */
  graze_precision precision;
  const uint32_t *chosen; /* NULL: all; else the numbers of `count` points */
} graze_points;

/* Every point p has |p - center| <= radius, exactly; the radius is at most 2^-45 of itself above the greatest distance.
 */
typedef struct graze_sphere {
  double center[3];
  double radius;
} graze_sphere;

/* Every point p has |(p - center).axis| <= half (axis.axis), exactly. Axes are at right angles to each other and of
 * length 1 but for rounding. */
typedef struct graze_obb {
  double center[3];
  double axes[3][3];
  double half[3];
} graze_obb;

enum { GRAZE_SLABS = 13 };

/* The coordinates of direction 0 to 12, each -1, 0 or 1: three axes, four diagonals of a cube, six of its faces. */
GRAZE_API void graze_slab_direction(uint32_t index, int direction[3]);

/* Whether a k-DOP of 6, 14, 18 or 26 planes has the direction: 6 the axes, 14 those and the cube's diagonals, 18 the
 * axes and the faces' diagonals, 26 all. */
GRAZE_API bool graze_kdop_has(uint32_t k, uint32_t index);

/* Every point p has min[i] <= p.direction(i) <= max[i] for the directions of `k`. The ends are the outward roundings of
 * the exact least and greatest sums. The other intervals are filled as well, so that one of 26 serves as any. */
typedef struct graze_kdop {
  uint32_t k;
  double min[GRAZE_SLABS], max[GRAZE_SLABS];
} graze_kdop;

/* All of them. */
typedef struct graze_bounds {
  graze_box box;
  graze_sphere sphere_box;      /* around the middle of the box */
  graze_sphere sphere_ritter;   /* J. Ritter, 1990: grown from a far pair; often a few percent too large */
  graze_sphere sphere_smallest; /* the smallest but for rounding, never larger than the two others */
  uint64_t support[4];          /* numbers of points on the smallest sphere that determine it: to 1e-12 of the
                                   largest number, unless four of them are nearer than 2^-28 to one circle */
  uint32_t support_count;
  graze_obb obb;   /* small, not the smallest: T. Larsson, L. Kallberg, 2011; never of more volume than `box` */
  graze_kdop kdop; /* of 26 planes */
} graze_bounds;

/* Each is found on the context's threads, the same bytes for any number of them and any instruction set. Errors:
 * ARGUMENT (also for no points), NOT_FINITE (names the point). O(n); the smallest sphere expects a few passes. */
GRAZE_API graze_status graze_bound_slabs(graze_context *context, const graze_points *points, uint32_t k,
                                         graze_kdop *kdop);
GRAZE_API graze_status graze_bound_smallest_sphere(graze_context *context, const graze_points *points,
                                                   graze_sphere *sphere, uint64_t support[4], uint32_t *support_count);
GRAZE_API graze_status graze_bound_points(graze_context *context, const graze_points *points, graze_bounds *bounds);

/* Of the vertices that triangles use, by their numbers. Errors: ARGUMENT (a mesh without triangles), MEMORY. */
GRAZE_API graze_status graze_bound_mesh(graze_context *context, const graze_mesh *mesh, graze_bounds *bounds);

/* ---- overlap ---- */

typedef enum graze_volume_kind {
  GRAZE_VOLUME_BOX = 0,
  GRAZE_VOLUME_SPHERE = 1,
  GRAZE_VOLUME_OBB = 2,
  GRAZE_VOLUME_KDOP = 3
} graze_volume_kind;

typedef struct graze_volume {
  graze_volume_kind kind;
  union {
    graze_box box;
    graze_sphere sphere;
    graze_obb obb;
    graze_kdop kdop;
  };
} graze_volume;

/* False only if the two closed volumes are proved to have no common point: what touches may meet. For two boxes, two
 * spheres, and a box and a sphere the answer is exact; for others one interval that separates them is proof that they
 * are apart, but none is no proof that they meet. O(1). */
GRAZE_API bool graze_volumes_may_meet(const graze_volume *a, const graze_volume *b);

#ifdef __cplusplus
}
#endif
#endif
