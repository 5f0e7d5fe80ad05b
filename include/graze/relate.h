/* graze/relate.h: how two objects lie to each other, decided exactly.
 *
 * The closed, consistently oriented parts of a mesh bound a solid: the points that they wind around. Every other part
 * is a surface. The relation of two solids follows from which of three sets have an interior: the common part, what
 * only a has, what only b has. A surface in a solid is judged alike: what of it lies inside the solid's interior, what
 * outside. What an open part may enclose lies within the box around the open parts of its mesh; what lies there is of
 * unknown relation. docs/relations.md says so in full.
 *
 *     common part   only a   only b   relation
 *     no            -        -        touch when the surfaces meet, else separate
 *     yes           yes      yes      cross
 *     yes           no       yes      a_in_b
 *     yes           yes      no       b_in_a
 *     yes           no       no       duplicate
 *
 * No coordinate is computed on the way. Near every point where the surfaces meet, both are cones, and the signs of
 * determinants tell which of the sets the cones' parts belong to; a part of a surface that meets nothing, and so lies
 * on one side whole, is placed by one of its vertices and a ray.
 */
#ifndef GRAZE_RELATE_H
#define GRAZE_RELATE_H

#include "graze/base.h"
#include "graze/collide.h"
#include "graze/math.h"
#include "graze/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum graze_relation {
  GRAZE_SEPARATE,
  GRAZE_CLEARANCE,
  GRAZE_TOUCH,
  GRAZE_CROSS,
  GRAZE_A_IN_B,
  GRAZE_B_IN_A,
  GRAZE_DUPLICATE,
  GRAZE_UNKNOWN
} graze_relation;

GRAZE_API const char *graze_relation_string(graze_relation relation);

/* Why a relation is unknown. */
typedef enum graze_doubt {
  GRAZE_DOUBT_NONE = 0,
  GRAZE_DOUBT_OPEN,              /* a part of the mesh has an edge of one triangle, and the other may lie inside */
  GRAZE_DOUBT_MISORIENTED,       /* the same for a part whose triangles do not all face one way */
  GRAZE_DOUBT_NONMANIFOLD,       /* the same for a part with an edge of three or more triangles; or they meet there */
  GRAZE_DOUBT_NO_ADJACENCY,      /* the mesh was made without adjacency, so that holes are not known */
  GRAZE_DOUBT_FLATTENED,         /* the pose is singular: there is no inside */
  GRAZE_DOUBT_SELF_INTERSECTING, /* the mesh intersects itself where it matters */
  GRAZE_DOUBT_NOT_ASKED,         /* only contact was asked for (GRAZE_FIND_ANY) */
  GRAZE_DOUBT_POINTS_ONLY        /* every vertex of a part lies on the other surface, and no ray could be placed */
} graze_doubt;

/* A sentence, "the mesh is open, and the other object may lie inside". Never NULL. */
GRAZE_API const char *graze_doubt_string(graze_doubt doubt);

/* How two objects relate and, where that is unknown, why. */
typedef struct graze_verdict {
  graze_relation relation;
  graze_doubt doubt;     /* of `unknown`: why, */
  uint8_t doubt_mesh;    /* for which (0: a, 1: b) */
  double doubt_point[3]; /* and where in the world: the middle of an edge of it */
} graze_verdict;

/* What parts that are not closed mean to a check. */
typedef enum graze_open_rule {
  GRAZE_OPEN_UNKNOWN = 0, /* what lies within the box around them and may be inside is `unknown` (default) */
  GRAZE_OPEN_SURFACE = 1  /* they are surfaces that have no inside */
} graze_open_rule;

typedef struct graze_relate_options {
  graze_exactness exactness; /* default T1. T2 decides contact on the real images as well */
  graze_open_rule open;
  uint32_t cookie;
} graze_relate_options;

GRAZE_API graze_relate_options graze_default_relate_options(void);

typedef struct graze_relate_result {
  graze_verdict verdict;
  graze_counts counts;
  const graze_triangle_pair *pairs; /* sorted; owned by the query, valid until its next call */
  graze_work work;
} graze_relate_result;

/* Relation of two meshes at two poses (NULL = identity). Parts and sides of both surfaces are found anew in each call,
 * O(triangles), and O(n log n) in edges without a neighbour where edges of three or more triangles are; a scene does
 * that once for each mesh. Errors as graze_collide_meshes. */
GRAZE_API graze_status graze_relate_meshes(graze_query *query, const graze_mesh *a, const graze_pose *pose_a,
                                           const graze_mesh *b, const graze_pose *pose_b,
                                           const graze_relate_options *options, graze_relate_result *result);

/* Where two objects meet, for reports and pictures: coordinates within 2^-40 of the size of the place. */
typedef struct graze_outline {
  graze_box box;   /* of the common points of the surfaces; where they do not meet, of the object that lies inside */
  double point[3]; /* of the curve, the one nearest to the middle of the box; else that middle */
  double depth; /* a bound: moving one object by so much along an axis parts their boxes. A rough estimate of depth */

  /* The curve in which the surfaces meet, and the border of areas in common: polyline k has the points from
   * starts[k] to starts[k + 1] - 1; a closed one repeats its first point. Of more than 2^20
   * triangle pairs no curve is traced: count is 0. */
  const double (*points)[3];
  const uint32_t *starts; /* count + 1 numbers */
  uint32_t count;
} graze_outline;

/* Outline of a result of graze_relate_meshes or graze_collide_meshes for the same arguments; `pairs` may stand in the
 * same query. Arrays are owned by the query until its next call. O(count log count). Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_outline_contact(graze_query *query, const graze_mesh *a, const graze_pose *pose_a,
                                             const graze_mesh *b, const graze_pose *pose_b,
                                             const graze_triangle_pair *pairs, uint64_t count, graze_outline *outline);

#ifdef __cplusplus
}
#endif
#endif
