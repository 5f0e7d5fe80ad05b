/* graze/distance.h: how far two objects are from each other, and whether they are nearer than they may be.
 *
 * Sets are closed, so objects that touch have distance 0. The distance of two triangles is the square root of a
 * rational number of their coordinates; what is returned is that number rounded once, to the nearest double, and
 * whether it is below a given number is decided exactly. docs/distance.md has the details.
 */
#ifndef GRAZE_DISTANCE_H
#define GRAZE_DISTANCE_H

#include "graze/base.h"
#include "graze/collide.h"
#include "graze/math.h"
#include "graze/mesh.h"
#include "graze/relate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a nearest point lies in the inside of. */
typedef enum graze_feature { GRAZE_FEATURE_VERTEX = 0, GRAZE_FEATURE_EDGE = 1, GRAZE_FEATURE_FACE = 2 } graze_feature;

/* "vertex", "edge" or "face". */
GRAZE_API const char *graze_feature_string(graze_feature feature);

/* Where two triangles are nearest. Of several places the same one is given every time; with the triangles swapped it
 * may be another. */
typedef struct graze_nearest {
  double distance;           /* the exact one, rounded to the nearest double; infinity where it exceeds them all */
  double points[2][3];       /* one of each, coordinates within 2^-48 of the largest */
  graze_feature features[2]; /* what they lie on; an edge and a face where one goes through the other */
} graze_nearest;

/* Two closed triangles of any kind, zero-area ones included: 9 numbers each. Errors: ARGUMENT, NOT_FINITE. */
GRAZE_API graze_status graze_tritri_distance(const double a[9], const double b[9], graze_nearest *result);

/* The same at tier T2: of the real-number images under the exact matrices. */
GRAZE_API graze_status graze_tritri_distance_real(const double a[9], const graze_pose *pose_a, const double b[9],
                                                  const graze_pose *pose_b, graze_nearest *result);

/* Whether the distance is less than `limit`, strictly and exactly. `limit` is a finite number of any sign: nothing is
 * nearer than 0. Errors: ARGUMENT, NOT_FINITE. */
GRAZE_API graze_status graze_tritri_nearer(const double a[9], const double b[9], double limit, bool *nearer);
GRAZE_API graze_status graze_tritri_nearer_real(const double a[9], const graze_pose *pose_a, const double b[9],
                                                const graze_pose *pose_b, double limit, bool *nearer);

/* ---- meshes ---- */

typedef struct graze_distance_options {
  double limit;          /* only a distance below it is found; at least 0; default infinity. A small limit saves time */
  graze_find near_pairs; /* which triangle pairs nearer than the limit, which is finite then: counted (FIND_COUNT),
                            listed too (FIND_ALL); default FIND_ANY: the nearest alone */
  graze_exactness exactness; /* default T1 */
  double error, share; /* what the answer may be off by: `error`, at least 0, and a share of itself below 1; default 0.
                          Saves time where much is nearly as near: see the result's `lower` */
  uint32_t cookie;
} graze_distance_options;

GRAZE_API graze_distance_options graze_default_distance_options(void);

typedef struct graze_distance_result {
  bool found;                    /* the distance is below the limit; never of a mesh without triangles */
  graze_nearest nearest;         /* distance infinite when not found */
  double lower, upper;           /* the doubles around the distance, equal when it is one; not found: the limit and
                                    infinity. With an error allowed: the distance of the meshes lies between them, that
                                    of `triangles` is at most `upper`, and lower >= (upper - error) (1 - share) but for
                                    rounding */
  graze_triangle_pair triangles; /* where: the lowest pair of those whose distances round to the same */
  uint64_t near_pairs;           /* with distance < limit; those that meet have distance 0 */
  uint64_t near_hash;            /* sum of graze_pair_hash */
  const graze_triangle_pair
      *pairs; /* FIND_ALL: near_pairs pairs, sorted; owned by the query, valid until its next call */
  graze_work work;
} graze_distance_result;

/* The distance of the surfaces of two meshes at two poses (NULL: identity), which may scale and shear; also when one
 * object is inside the other. The search begins at the nearest triangles of the query's last call of the same meshes.
 * The same bytes for any number of threads and instruction set; with the meshes swapped the distance is the same.
 * Errors: as graze_collide_meshes. */
GRAZE_API graze_status graze_mesh_distance(graze_query *query, const graze_mesh *a, const graze_pose *pose_a,
                                           const graze_mesh *b, const graze_pose *pose_b,
                                           const graze_distance_options *options, graze_distance_result *result);

/* ---- points ---- */

typedef enum graze_point_side {
  GRAZE_POINT_OUTSIDE = 0,
  GRAZE_POINT_INSIDE = 1, /* of the solid that the closed parts bound (graze/relate.h) */
  GRAZE_POINT_ON = 2,     /* the distance is 0 */
  GRAZE_POINT_UNKNOWN = 3
} graze_point_side;

/* "outside", "inside", "on" or "unknown". */
GRAZE_API const char *graze_point_side_string(graze_point_side side);

typedef struct graze_point_options {
  graze_open_rule open; /* what parts that are not closed mean: a point within the box around them is `unknown`, or
                           they are surfaces without an inside; default unknown */
  bool no_sides;        /* distances alone: every side is `unknown` but `on` */
  uint32_t cookie;
} graze_point_options;

GRAZE_API graze_point_options graze_default_point_options(void);

typedef struct graze_point_distance {
  double distance;       /* the exact one, rounded to the nearest double; infinite for a mesh without triangles */
  double point[3];       /* of the mesh, nearest; coordinates within 2^-48 of the largest */
  graze_feature feature; /* that it lies on */
  graze_point_side side; /* decided exactly */
  graze_doubt doubt;     /* why it is unknown */
  uint32_t triangle;     /* the lowest of those whose distances round to the same; UINT32_MAX: there are none */
} graze_point_distance;

/* The distances of `count` points in the world from a mesh at a pose (NULL: identity), tier T1. Three doubles a point,
 * `stride` bytes from one to the next (0: tightly packed). results[i] is that of point i, on the context's threads, the
 * same bytes for any number of them and any instruction set. A side is told by the winding number of the closed parts,
 * a cavity is outside, and a point of any triangle, open or closed, is `on`. Each call finds the parts of the surface
 * in O(triangles), unless no_sides; then expected O(log triangles) a point that is not very far away. Errors: ARGUMENT,
 * MEMORY, LIMIT (2^32 points), NOT_FINITE (names the point, or as graze_collide_meshes); on an error no result is
 * valid. */
GRAZE_API graze_status graze_mesh_point_distances(graze_query *query, const graze_mesh *mesh, const graze_pose *pose,
                                                  const double *points, size_t stride, uint64_t count,
                                                  const graze_point_options *options, graze_point_distance *results);

/* ---- depth ---- */

typedef struct graze_depth_options {
  graze_exactness exactness; /* default T1 */
  graze_open_rule open;      /* as for relations */
  uint32_t cookie;
} graze_depth_options;

GRAZE_API graze_depth_options graze_default_depth_options(void);

typedef struct graze_depth_result {
  graze_verdict verdict;   /* of the two as they are */
  bool known;              /* a way out was found; never of an unknown relation */
  double depth;            /* the length of the translation; 0 for what touches or is separate */
  double lower;            /* no shorter translation is a way out: proved */
  double translation[3];   /* of b, added to the last column of its pose, each sum rounded once */
  graze_relation relation; /* of a and the moved b: touch or separate, as graze_relate_meshes decides it */
  bool convex;             /* both solids are convex, and lower is the depth up to rounding */
} graze_depth_result;

/* How far b has to be moved out of a. What is found is a way out, proved by the exact relation of the moved objects;
 * whether it is the shortest, `lower` tells. Of two convex solids it is, up to 1e-9: the least overlap along normals of
 * faces and of pairs of edges. For others the way is shortened where the moved object comes to rest, from several
 * beginnings, and `lower` is how far vertices lie inside the other, which may be 0. Some hundred relations of the two.
 * At T0 b is moved as at T1. Errors: as graze_relate_meshes. */
GRAZE_API graze_status graze_mesh_depth(graze_query *query, const graze_mesh *a, const graze_pose *pose_a,
                                        const graze_mesh *b, const graze_pose *pose_b,
                                        const graze_depth_options *options, graze_depth_result *result);

#ifdef __cplusplus
}
#endif
#endif
