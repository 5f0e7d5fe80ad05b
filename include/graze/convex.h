/* graze/convex.h: convex hulls of points, and pairs of convex sets: hulls, balls, capsules, cylinders and cones.
 *
 * The hull of a cloud is found with exact predicates (orient3d): which points are its corners, which lie in one plane,
 * and whether it is a solid, a flat polygon, a segment or a point is right for all finite doubles.
 */
#ifndef GRAZE_CONVEX_H
#define GRAZE_CONVEX_H

#include "graze/base.h"
#include "graze/collide.h"
#include "graze/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- hulls ------------------------------------------------------------------------------------------------------ */

/* No face on this side. */
#define GRAZE_HULL_NONE UINT32_MAX

/* Two corners, the lower first, and the faces beside it: the first has it from vertices[0] to vertices[1], the second
 * the other way round. The edges of a polygon have one face, a segment has none: GRAZE_HULL_NONE. */
typedef struct graze_hull_edge {
  uint32_t vertices[2];
  uint32_t faces[2];
} graze_hull_edge;

/* A hull; for reading only. Its vertices are the extreme points and no others, in rising order of their numbers in the
 * cloud; of equal points it is the first. Faces are whole: no two of them lie in one plane, and no three corners of one
 * on a line. Corners of a face turn counterclockwise seen from outside and begin with the lowest; faces are in the
 * order of their first two corners, edges in that of their vertices. So the arrays depend on the cloud alone.
 *
 * A flat hull (dimension 2) is one face, seen from the side from which its second corner is lower than its last. A
 * segment has two vertices and one edge, a point one vertex. */
typedef struct graze_hull {
  uint32_t dimension; /* 0 point, 1 segment, 2 polygon, 3 solid */
  uint32_t vertex_count, edge_count, face_count;
  uint32_t corner_count;   /* of all faces together */
  uint32_t triangle_count; /* corner_count - 2 face_count */

  double low[3], high[3]; /* the box of the points */

  const double *points;     /* [vertex_count][3], as in the cloud */
  const uint32_t *vertices; /* [vertex_count] numbers in the cloud */
  const double *axes;       /* x of all vertices, then y, then z; each padded with the last one to a multiple of 8 */

  const uint32_t *face_first;   /* [face_count + 1]: face f has the corners face_first[f] <= c < face_first[f + 1] */
  const uint32_t *face_corners; /* [corner_count] vertices of the hull */
  const uint32_t *face_edges;   /* [corner_count] the edge from this corner to the next one of the face */
  const double *planes;         /* [face_count][4] unit normal n, outward, and d with n . x = d on the face; rounded */

  const graze_hull_edge *edges; /* [edge_count] */

  const uint32_t *neighbor_first; /* [vertex_count + 1]: the other ends of a vertex's edges are */
  const uint32_t *neighbors;      /* [2 edge_count] vertices of the hull */

  const uint32_t *triangles; /* [triangle_count][3] vertices of the hull: each face as a fan from its first corner */

  /* Two balls about one point: the inner one is inside, nearly the largest there is, and the outer one holds the hull,
   * proved. Radius 0 and an infinite one: none is known, as of flat hulls and those of more than a thousand faces. */
  double center[3], inner_radius, outer_radius;
} graze_hull;

/* The hull of `count` points, three doubles each. Quickhull: O(n log n) for most clouds. Errors: ARGUMENT (no points),
 * NOT_FINITE (the message names the first such point), LIMIT (2^31 points or more), MEMORY. Release it with
 * graze_hull_destroy, which takes NULL too.
 *
 * C. B. Barber, D. P. Dobkin, H. Huhdanpaa, "The Quickhull Algorithm for Convex Hulls", 1996. */
GRAZE_API graze_status graze_hull_create(graze_context *context, uint64_t count, const double *points,
                                         graze_hull **hull);
GRAZE_API void graze_hull_destroy(graze_hull *hull);

/* A vertex of the hull whose product with the direction, computed in doubles, no neighbour's exceeds; by walking from
 * `start`, a vertex near which it is expected, if the hull is large. */
GRAZE_API uint32_t graze_hull_support(const graze_hull *hull, const double direction[3], uint32_t start);

/* ---- fragments -------------------------------------------------------------------------------------------------- */

/* Tetrahedra that fill a solid; for reading only. Neighbours have corners in common, bit for bit, and with three of
 * them a whole face. The first three corners of each turn counterclockwise as seen from the fourth, by the exact sign.
 */
typedef struct graze_fragments {
  uint32_t point_count, count;
  const double *points;    /* [point_count][3]: first the hull's vertices, in its order */
  const uint32_t *corners; /* [count][4] points */
} graze_fragments;

/* Cuts a hull of dimension 3 into at least `count` fragments, a few more if the last cut makes more, or as many as it
 * needs to begin with, which are fewer than its triangles. Each cut goes through the longest edge of all, at a place
 * that the seed chooses. Insides of fragments have no point in common, and together they are the solid, but for the
 * rounding of corners in its surface; of a box along the axes they are the box exactly. The same arguments give the
 * same bytes.
 *
 * Bisection of the longest edge (Rosenberg and Stenger 1975; Rivara 1984). O(count^2). Errors: ARGUMENT (a hull that is
 * not a solid, no fragments), LIMIT (more than 65,536 fragments or triangles of the hull; a solid so thin that doubles
 * between its corners do not suffice: the message says how many fragments there can be), MEMORY. Release it with
 * graze_fragments_destroy, which takes NULL too. */
GRAZE_API graze_status graze_hull_cut(graze_context *context, const graze_hull *hull, uint32_t count, uint64_t seed,
                                      graze_fragments **fragments);
GRAZE_API void graze_fragments_destroy(graze_fragments *fragments);

/* Convex polytopes that fill a solid; for reading only. Each is the hull of its corners, exactly: corners that lie in a
 * face or an edge of it are those of neighbours. Triangles turn counterclockwise as seen from outside; where two pieces
 * touch, both have the same ones. */
typedef struct graze_pieces {
  uint32_t point_count, count;
  const double *points;           /* [point_count][3] */
  const uint32_t *corner_first;   /* [count + 1]: where the corners of each begin */
  const uint32_t *corners;        /* points, ascending in each piece */
  const uint32_t *triangle_first; /* [count + 1] */
  const uint32_t *triangles;      /* [][3] points */
} graze_pieces;

/* Breaks a hull of dimension 3 into at least `count` convex pieces, of about one size: cuts it into three times as many
 * tetrahedra, at sixteenths of edges, and joins the smallest piece with that neighbour, or those two, with which it is
 * roundest, until there are `count`, or none that are left are convex together. That they are, exact signs decide: all
 * corners lie on or behind every face of the union. So pieces fill the solid as fragments do. What is joined has
 * no more than four times the mean volume, and 256 triangles. The same arguments give the same bytes. O(count^2).
 * Errors: as graze_hull_cut, of three times `count`. Release it with graze_pieces_destroy, which takes NULL too. */
GRAZE_API graze_status graze_hull_break(graze_context *context, const graze_hull *hull, uint32_t count, uint64_t seed,
                                        graze_pieces **pieces);
GRAZE_API void graze_pieces_destroy(graze_pieces *pieces);

/* ---- pairs ------------------------------------------------------------------------------------------------------ */

/* The hull of points, grown by a ball: with one point a ball, with two a capsule, with radius 0 a polytope. The points
 * need be neither extreme nor different. Poses move the points alone; radii are those in the world.
 *
 * With discs it is round: the hull of two discs across the line between two points, whose middles they are. Equal radii
 * make a cylinder, one of 0 a cone, others a frustum, and so do two discs around posed points. Such a set has no hull,
 * and is grown by a ball as others are. */
typedef struct graze_convex {
  const double *points;   /* [count][3] */
  uint32_t count;         /* at least 1; with discs 2 points that differ, also once they are posed */
  double radius;          /* at least 0 */
  const graze_hull *hull; /* NULL, or the hull whose vertices the points are, which saves time */
  double discs[2];        /* 0 and 0: none; else the radii of those at the two points, finite and at least 0 */
} graze_convex;

/* A hull's vertices, grown by a ball. */
GRAZE_API graze_convex graze_convex_of_hull(const graze_hull *hull, double radius);

typedef struct graze_convex_pair {
  const graze_convex *a, *b;
  const graze_pose *pose_a, *pose_b; /* NULL: none */
} graze_convex_pair;

typedef enum graze_convex_ask {
  GRAZE_CONVEX_MEET = 0,    /* only whether they meet */
  GRAZE_CONVEX_MEASURE = 1, /* and how far they are, in brackets that doubles give: 2^-43 of the extents, or so */
  GRAZE_CONVEX_SHARP = 2    /* brackets of some 2^-49 of the distance or depth of the points, by integers; of pairs
                             * with discs as MEASURE */
} graze_convex_ask;

typedef enum graze_convex_hit {
  GRAZE_CONVEX_APART = 0,  /* no point in common: proved */
  GRAZE_CONVEX_HIT = 1,    /* at least one: proved */
  GRAZE_CONVEX_UNKNOWN = 2 /* a pair with discs that nearly touches: neither was proved; to be taken for a hit */
} graze_convex_hit;

/* Two closed sets. The distance is that of the sets, or minus the length of the least translation that parts their
 * insides; 0 where they touch. lower <= distance <= upper is proved, of the true value too, and the bracket is at most
 * 2^-40 of the largest coordinate wide.
 *
 * Of pairs with discs the bracket is some 2^-43 of the extents wide, too, in general position and about axes that are
 * parallel to rounding. It is wider where sets that overlap are about as deep along very many directions: about axes
 * that are nearly the same, and of needles. UNKNOWN is told only within such a bracket of touching. */
typedef struct graze_convex_result {
  double distance, lower, upper;
  double points[2][3]; /* where they are nearest, or deepest in each other: of a, of b */
  double normal[3];    /* a unit vector from a to b: the direction in which b leaves a soonest; 0 if there is none */
  uint8_t hit;         /* graze_convex_hit; touching counts. Without discs decided exactly, and never UNKNOWN */
} graze_convex_result;

/* Decides `count` pairs; results[i] is that of pairs[i], the same for any number of threads. Exactness T1 (T0 is the
 * same without poses) takes the posed points as math.h rounds them, T2 their real images. With MEET only `hit` is set.
 *
 * GJK in doubles, then proof: a plane between the sets, or four points of A - B around the origin, or integers. With
 * discs, for which there are no integers, a plane, or points of A - B in directions all around, each within a bound of
 * its error. Errors: ARGUMENT (no points, a radius below 0, discs with a hull, of other than two different points, or
 * with a radius that is not finite), NOT_FINITE (a coordinate before or after the pose), POSE (posed, the ends of an
 * axis are the same), MEMORY; the message names pair and side. docs/convex.md has the method. */
GRAZE_API graze_status graze_convex_batch(graze_context *context, uint64_t count, const graze_convex_pair *pairs,
                                          graze_exactness exactness, graze_convex_ask ask,
                                          graze_convex_result *results);

/* ---- contact points --------------------------------------------------------------------------------------------- */

enum { GRAZE_MANIFOLD_POINTS = 4 };

typedef struct graze_manifold_point {
  double at[3];     /* in the middle between the surfaces */
  double gap;       /* along the normal; below 0: overlap */
  uint64_t feature; /* stays while the same features meet: a vertex, or an edge and the one that cuts it off */
} graze_manifold_point;

/* Where two sets touch, or nearly: a polygon of at most four points, or one. Zeroed before the first call; what is in
 * it from the last one is taken into account. */
typedef struct graze_manifold {
  double normal[3]; /* a unit vector from a to b */
  graze_manifold_point points[GRAZE_MANIFOLD_POINTS];
  uint32_t count;
  uint32_t reference; /* whose face the points were cut to: 1 a's, 2 b's, 0 no face */
} graze_manifold;

/* The contact points of every pair whose distance is at most `margin`; other manifolds are empty. Poses are rigid.
 * Faces are known of sets with a `hull`; two sets without one have one point, as have edges on edges. On such a face a
 * set with discs has the points of a disc that lies on it, eight of its rim to choose from, which stay on the set, or
 * the ends of the line on its side. In doubles.
 * Errors: as graze_convex_batch. */
GRAZE_API graze_status graze_convex_touch(graze_context *context, uint32_t count, const graze_convex_pair *pairs,
                                          double margin, graze_manifold *manifolds);

#ifdef __cplusplus
}
#endif

#endif
