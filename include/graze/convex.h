/* graze/convex.h: convex hulls of points.
 *
 * The hull of a cloud is found with exact predicates (orient3d): which points are its corners, which lie in one plane,
 * and whether it is a solid, a flat polygon, a segment or a point is right for all finite doubles.
 */
#ifndef GRAZE_CONVEX_H
#define GRAZE_CONVEX_H

#include "graze/base.h"
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

  const double *points;     /* [vertex_count][3], as in the cloud */
  const uint32_t *vertices; /* [vertex_count] numbers in the cloud */

  const uint32_t *face_first;   /* [face_count + 1]: face f has the corners face_first[f] <= c < face_first[f + 1] */
  const uint32_t *face_corners; /* [corner_count] vertices of the hull */
  const uint32_t *face_edges;   /* [corner_count] the edge from this corner to the next one of the face */
  const double *planes;         /* [face_count][4] unit normal n, outward, and d with n . x = d on the face; rounded */

  const graze_hull_edge *edges; /* [edge_count] */

  const uint32_t *neighbor_first; /* [vertex_count + 1]: the other ends of a vertex's edges are */
  const uint32_t *neighbors;      /* [2 edge_count] vertices of the hull */

  const uint32_t *triangles; /* [triangle_count][3] vertices of the hull: each face as a fan from its first corner */
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

#ifdef __cplusplus
}
#endif

#endif
