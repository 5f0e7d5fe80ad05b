/* graze/motion.h: continuous collision, of what moves between two given places.
 *
 * Vertices move on straight lines at constant speed from t = 0 to t = 1, so a fast thing cannot jump over a thin one.
 * Sets are closed: touching counts, also at t = 0 and t = 1. Whether two features meet, and between which two doubles
 * next to each other they first do, is decided exactly for all finite doubles.
 */
#ifndef GRAZE_MOTION_H
#define GRAZE_MOTION_H

#include "graze/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum graze_ccd_kind {
  GRAZE_CCD_VERTEX_FACE = 0, /* a vertex and the three corners of a face */
  GRAZE_CCD_EDGE_EDGE = 1    /* the two ends of an edge and those of another */
} graze_ccd_kind;

/* Four points at t = 0 and at t = 1. Faces and edges may be degenerate, at any time or always. */
typedef struct graze_ccd_query {
  double points[2][4][3];
  uint8_t kind; /* graze_ccd_kind */
} graze_ccd_query;

/* If they meet: the largest double that is not above the first time and the smallest that is not below it, which are
 * equal where that time is a double and neighbours where it is not. Else the times are 0. */
typedef struct graze_ccd_result {
  double earliest, latest;
  uint8_t hit;
} graze_ccd_result;

/* Decides `count` queries; results[i] is that of queries[i], the same for any number of threads. Most are decided by
 * bounds in floating-point numbers, the others by integers of any length. Errors: ARGUMENT, NOT_FINITE (the message
 * names the first such query; no result is then valid), MEMORY. */
GRAZE_API graze_status graze_ccd_batch(graze_context *context, uint64_t count, const graze_ccd_query *queries,
                                       graze_ccd_result *results);

/* ---- whole meshes -------------------------------------------------------------------------------------------- */

/* A mesh whose vertices move: three numbers a vertex at t = 0 and at t = 1, three indices a triangle. */
typedef struct graze_ccd_mesh {
  const double *start, *end;
  const uint32_t *triangles;
  uint32_t vertex_count, triangle_count;
} graze_ccd_mesh;

/* A vertex and a triangle, or two edges. */
typedef struct graze_feature_pair {
  uint32_t a, b;
} graze_feature_pair;

/* Which features of a mesh meet one another while it moves. An edge has two different vertices of a triangle; edges are
 * numbered by their higher vertex, then by the lower one. Vertices that no triangle uses are not features. Pairs that
 * share a vertex, or have vertices that are in one place both at t = 0 and at t = 1, are left out. */
typedef struct graze_ccd_pairs {
  uint32_t edge_count;
  uint64_t
      candidate_count; /* pairs of features whose swept boxes meet and that share nothing: those that are decided */
  uint64_t vertex_face_count, edge_edge_count;
  uint64_t vertex_face_hash, edge_edge_hash; /* sums of graze_pair_hash; of edges the lower one comes first */
  graze_feature_pair *vertex_face_pairs, *edge_edge_pairs; /* sorted, if they were asked for; else NULL */
  double earliest, latest;                                 /* around the first time of all; 0 if nothing meets */
} graze_ccd_pairs;

/* Finds them all, with boxes of what triangles sweep. On an error `result` is empty. O(n log n) and the pairs of boxes
 * that meet. Errors: ARGUMENT, INDEX, NOT_FINITE (the message names vertex or triangle), LIMIT, MEMORY. */
GRAZE_API graze_status graze_ccd_self(graze_context *context, const graze_ccd_mesh *motion, bool list,
                                      graze_ccd_pairs *result);
GRAZE_API void graze_ccd_pairs_free(graze_ccd_pairs *result);

#ifdef __cplusplus
}
#endif

#endif
