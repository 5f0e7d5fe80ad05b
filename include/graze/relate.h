/* graze/relate.h: how two objects relate, decided exactly.
 *
 * The closed parts of a mesh bound a solid: the points that they wind around or, where their triangles do not all face
 * one way, that an odd number of walls separates from the outside. Every other part is a surface. The relation of two
 * solids follows from which of three sets have an interior: what they have in common, what only a has, what only b has.
 * A surface and a solid are judged likewise, by which parts of the surface lie in the solid's interior and which
 * outside. Whatever an open part may enclose lies within the box around the open parts of its mesh; the relation of
 * objects in that box is unknown. docs/relations.md has the details.
 *
 *     common part   only a   only b   relation
 *     no            -        -        touch when the surfaces meet, else separate
 *     yes           yes      yes      cross
 *     yes           no       yes      a_in_b
 *     yes           yes      no       b_in_a
 *     yes           no       no       duplicate
 *
 * No coordinates are computed. Near every point where the surfaces meet, both are cones, and signs of determinants tell
 * to which of the sets the parts of the cones belong; a part of a surface that meets nothing, and therefore lies
 * entirely on one side, is located by a ray from one of its vertices.
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
  GRAZE_DOUBT_OPEN,              /* part of the mesh has open edges, and the other object may lie inside */
  GRAZE_DOUBT_MISORIENTED,       /* the same, for a part whose triangles do not all face one way */
  GRAZE_DOUBT_NONMANIFOLD,       /* the same, for a part with an edge of three or more triangles; or they meet there */
  GRAZE_DOUBT_NO_ADJACENCY,      /* the mesh was made without adjacency, so holes are unknown */
  GRAZE_DOUBT_FLATTENED,         /* the pose is singular: there is no inside */
  GRAZE_DOUBT_SELF_INTERSECTING, /* the mesh intersects itself where it matters */
  GRAZE_DOUBT_NOT_ASKED,         /* only contact was asked for (GRAZE_FIND_ANY) */
  GRAZE_DOUBT_POINTS_ONLY,       /* every vertex of a part lies on the other surface, and no ray could be placed */
  GRAZE_DOUBT_ROUND              /* a cylinder and another round object are too near to touching, or to flush */
} graze_doubt;

/* A sentence, "the mesh is open, and the other object may lie inside". Never NULL. */
GRAZE_API const char *graze_doubt_string(graze_doubt doubt);

/* How two objects relate and, where that is unknown, why. */
typedef struct graze_verdict {
  graze_relation relation;
  graze_doubt doubt;     /* for `unknown`: why, */
  uint8_t doubt_mesh;    /* because of which mesh (0: a, 1: b), */
  double doubt_point[3]; /* and where, in world coordinates: the middle of one of its edges */
} graze_verdict;

/* What parts that are not closed mean in a check. */
typedef enum graze_open_rule {
  GRAZE_OPEN_UNKNOWN = 0, /* whatever may be inside them is `unknown` (default) */
  GRAZE_OPEN_SURFACE = 1  /* they are surfaces without an inside */
} graze_open_rule;

typedef struct graze_relate_options {
  graze_exactness exactness; /* default T1; at T2, contact is decided on the real images as well */
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

/* Relation of two meshes at two poses (NULL = identity). The first call with a mesh finds the parts and sides of its
 * surface in O(triangles), plus O(n log n) in edges without a neighbour if there are edges of three or more triangles,
 * and whether it meets itself if that matters. What it has found stays with the mesh, 8 bytes a triangle, until that is
 * refitted or destroyed, if query and mesh are of one context. Errors as graze_collide_meshes. */
GRAZE_API graze_status graze_relate_meshes(graze_query *query, const graze_mesh *a, const graze_pose *pose_a,
                                           const graze_mesh *b, const graze_pose *pose_b,
                                           const graze_relate_options *options, graze_relate_result *result);

/* A proved way out of a crossing. */
typedef struct graze_escape {
  bool found;
  double translation[3];   /* of b; added to the last column of its pose, each sum rounded once */
  double length;           /* of the translation, rounded up: an upper bound on the depth of the crossing */
  graze_relation relation; /* of a and the moved b, as graze_relate_meshes gives it: touch or separate */
} graze_escape;

/* Looks for a short translation of b, no longer than `most` (in units of length; INFINITY: any), after which two
 * objects that cross touch or are separate. What is found is proved; a shorter one may exist, and `found` false proves
 * nothing. Objects that touch or are separate need none: found, of length 0. Of containment, duplicates and unknown
 * relations none is looked for. Tried are the normals of the triangles that meet, a few steps in turn, and the axes:
 * some 20 relations of the two. At T0 b is moved as at T1. Errors as graze_relate_meshes. */
GRAZE_API graze_status graze_find_escape(graze_query *query, const graze_mesh *a, const graze_pose *pose_a,
                                         const graze_mesh *b, const graze_pose *pose_b,
                                         const graze_relate_options *options, double most, graze_escape *escape);

/* What the stored coordinates of a mesh were rounded by. */
typedef struct graze_rounding {
  bool floats;     /* to floats: each by up to half the way to the nearest other one, */
  double decimals; /* else each by up to so much, and then to a double; 0: nothing is known */
} graze_rounding;

/* A model that does not cross, and of which two meshes that do may be the rounding. */
typedef struct graze_moved_corners {
  bool found;
  double length;                  /* of the longest move, rounded up */
  uint64_t corners;               /* that were moved: distinct places of vertices, of both together */
  graze_relation relation;        /* of the moved meshes, as graze_relate_meshes gives it: touch or separate */
  const double (*vertices[2])[3]; /* of a and b, all of them, posed and moved; owned by the query until its next call */
} graze_moved_corners;

/* Looks for it: every corner of two meshes that cross may move on its own, in each coordinate of its mesh by no more
 * than that was rounded by, vertices at one place together. What is found is proved: the moved meshes touch or are
 * separate, their edges have as many triangles as before, no triangle of area has turned by a right angle or more, and
 * no two triangles of one mesh meet but adjacent ones and such as did before. The posed coordinates are those of tier
 * T1. `found` false proves nothing; a pair of triangles that is deeper than its roundings ends the search at once.
 * Objects that do not cross have nothing to be found, and for a mesh that crosses itself at another pose nothing is,
 * since its corners would have to move alike. O(triangles) in memory and, a few times over, in time. Errors:
 * ARGUMENT (a rounding that is no length), and those of graze_relate_meshes. */
GRAZE_API graze_status graze_find_moved_corners(graze_query *query, const graze_mesh *a, const graze_pose *pose_a,
                                                const graze_rounding *rounding_a, const graze_mesh *b,
                                                const graze_pose *pose_b, const graze_rounding *rounding_b,
                                                const graze_relate_options *options, graze_moved_corners *result);

/* What the parts of a mesh are in a relation. A part is a set of triangles connected through edges of two triangles,
 * leaving out those of no area. */
typedef struct graze_solid_facts {
  uint32_t winding_parts; /* closed, alone or together with others: solid where their winding number is not 0 */
  uint32_t parity_parts;  /* closed, but their triangles do not all face one way: solid by parity */
  uint32_t surface_parts; /* not closed: without an inside */
} graze_solid_facts;

/* O(triangles), and O(n log n) in edges without a neighbour if there are edges of three or more triangles. Errors:
 * ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_mesh_get_solid(graze_context *context, const graze_mesh *mesh, graze_solid_facts *facts);

/* The same of a mesh that is not baked, along with what graze_mesh_measure tells. Errors as graze_mesh_create. */
GRAZE_API graze_status graze_mesh_measure_solid(graze_context *context, const graze_mesh_def *def,
                                                graze_mesh_facts *facts, graze_solid_facts *solid);

/* Where two objects meet, for reports and pictures: coordinates within 2^-40 of the size of the place. */
typedef struct graze_outline {
  graze_box box;   /* of the common points of the surfaces; if they do not meet, of the object that lies inside */
  double point[3]; /* the point of the curve nearest to the middle of the box; without a curve, that middle */
  double depth;    /* an upper bound: moving one object this far along an axis separates their boxes */
  bool proved; /* by a scene's check, of objects that cross: b moved by `translation`, of length `depth`, touches or */
  double translation[3]; /* is separate, as graze_find_escape proves; else zero */
  double moved_corners;  /* by a scene's check that knows roundings: above 0: the length that graze_find_moved_corners
                            proves; else zero */

  /* The curve in which the surfaces meet, and the boundary of common areas: polyline k has the points from starts[k] to
   * starts[k + 1] - 1; a closed one repeats its first point. For more than 2^20 triangle pairs no curve is traced:
   * count is 0. */
  const double (*points)[3];
  const uint32_t *starts; /* count + 1 numbers */
  uint32_t count;
} graze_outline;

/* Outline of a result of graze_relate_meshes or graze_collide_meshes for the same arguments; `pairs` may be owned by
 * the same query. Arrays are owned by the query until its next call. O(count log count). Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_outline_contact(graze_query *query, const graze_mesh *a, const graze_pose *pose_a,
                                             const graze_mesh *b, const graze_pose *pose_b,
                                             const graze_triangle_pair *pairs, uint64_t count, graze_outline *outline);

#ifdef __cplusplus
}
#endif
#endif
