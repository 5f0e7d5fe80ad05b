/* graze/collide.h: exact intersection of triangles and meshes.
 *
 * Triangles are closed sets: touching counts. A zero-area triangle is the segment or point that it covers. Whether two
 * triangles meet is decided exactly, for all finite doubles.
 */
#ifndef GRAZE_COLLIDE_H
#define GRAZE_COLLIDE_H

#include "graze/base.h"
#include "graze/math.h"
#include "graze/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- two triangles ---------------------------------------------------------------------------------------- */

/* The intersection of two triangles: its dimension plus one. */
typedef enum graze_kind {
  GRAZE_KIND_NONE = 0,
  GRAZE_KIND_POINT = 1,
  GRAZE_KIND_SEGMENT = 2,
  GRAZE_KIND_AREA = 3
} graze_kind;

typedef struct graze_tritri {
  uint8_t kind;       /* graze_kind; they meet unless NONE */
  uint8_t coplanar;   /* 1: all six points lie in one plane (whether or not they meet) */
  uint8_t degenerate; /* bit 0: a has zero area, bit 1: b has */
} graze_tritri;

/* Tests two triangles, each three corners x, y, z. For many pairs use the batch, which is SIMD. Errors: NOT_FINITE. */
GRAZE_API graze_status graze_tritri_test(const double a[9], const double b[9], graze_tritri *result);

/* Tests `count` pairs. Structure of arrays: a[k][i] is coordinate k (0..8: x0 y0 z0 x1 ... z2) of the first triangle of
 * pair i, b likewise; results[i] is that of graze_tritri_test. Large batches use the context's threads. Errors:
 * ARGUMENT, NOT_FINITE (the message names the first such pair; no result is then valid). */
GRAZE_API graze_status graze_tritri_batch(graze_context *context, uint64_t count, const double *const a[9],
                                          const double *const b[9], graze_tritri *results);

/* The intersection itself: nothing, a point, the two end points of a segment, or the corners of a convex polygon in
 * order (at most 6). Which points there are is decided exactly; each coordinate is the exact one, rounded once to the
 * nearest double, so that a point has the same coordinates whichever pair of triangles gives it. Errors: NOT_FINITE. */
typedef struct graze_intersection {
  graze_tritri summary;
  uint32_t count;
  double points[6][3];
} graze_intersection;

GRAZE_API graze_status graze_tritri_intersection(const double a[9], const double b[9], graze_intersection *result);

/* One pair at tier T2: tests the real-number images of the two triangles under the exact matrices. */
GRAZE_API graze_status graze_tritri_test_real(const double a[9], const graze_pose *pose_a, const double b[9],
                                              const graze_pose *pose_b, graze_tritri *result);

/* ---- meshes ------------------------------------------------------------------------------------------------ */

typedef enum graze_exactness {
  GRAZE_T0 = 0, /* the coordinates as given; poses must be the identity */
  GRAZE_T1 = 1, /* the coordinates after the pose, rounded as math.h says (default) */
  GRAZE_T2 = 2  /* the real-number image under the exact matrix */
} graze_exactness;

typedef enum graze_find {
  GRAZE_FIND_ALL = 0,   /* list every meeting triangle pair, sorted by (first, second) */
  GRAZE_FIND_COUNT = 1, /* counts and hash only */
  GRAZE_FIND_ANY = 2    /* stop at the first meeting pair */
} graze_find;

typedef struct graze_counts {
  uint64_t triangle_pairs; /* = points + segments + areas + degenerate */
  uint64_t points;
  uint64_t segments;
  uint64_t areas;
  uint64_t coplanar;   /* meeting pairs whose six points lie in one plane */
  uint64_t degenerate; /* meeting pairs with at least one zero-area triangle */
  uint64_t hash;       /* sum of graze_pair_hash; 0 for GRAZE_FIND_ANY */
} graze_counts;

typedef struct graze_triangle_pair {
  uint32_t a;
  uint32_t b;
} graze_triangle_pair;

/* How much work a query did. */
typedef struct graze_work {
  uint64_t node_pairs;     /* pairs of hierarchy nodes visited */
  uint64_t triangle_tests; /* triangle pairs tested exactly */
  uint64_t exact_tests;    /* of those, not decided by the first floating-point filter */
} graze_work;

typedef struct graze_collide_options {
  graze_find find;
  graze_exactness exactness; /* default T1 */
  uint32_t cookie;
} graze_collide_options;

GRAZE_API graze_collide_options graze_default_collide_options(void);

typedef struct graze_collide_result {
  bool hit;                         /* at least one pair of triangles meets; containment alone is no hit */
  graze_counts counts;              /* for GRAZE_FIND_ANY: of the pairs found before the search stopped */
  const graze_triangle_pair *pairs; /* GRAZE_FIND_ALL: counts.triangle_pairs pairs, owned by the query, valid until
                                       its next call; GRAZE_FIND_ANY: one pair when hit; else NULL */
  graze_work work;
} graze_collide_result;

/* Scratch memory and results. A query is used by one thread at a time; after warming up it allocates nothing. Large
 * queries use the context's threads. */
typedef struct graze_query graze_query;

GRAZE_API graze_status graze_query_create(graze_context *context, graze_query **query);
GRAZE_API void graze_query_destroy(graze_query *query);

/* Mesh against mesh. `pose_a`, `pose_b`: NULL = identity. `options` NULL = defaults. `a` and `b` may be the same mesh.
 * Errors: ARGUMENT, MEMORY, NOT_FINITE (pose, or a posed coordinate that overflows: the message names mesh and
 * vertex), POSE. */
GRAZE_API graze_status graze_collide_meshes(graze_query *query, const graze_mesh *a, const graze_pose *pose_a,
                                            const graze_mesh *b, const graze_pose *pose_b,
                                            const graze_collide_options *options, graze_collide_result *result);

/* Mesh b at `count` poses against mesh a at one: results[i].hit, .counts and .work are those of poses_b[i]. There are
 * no lists: pairs is NULL, and FIND_ALL acts as FIND_COUNT. Poses are distributed over the context's threads. Errors as
 * above; on an error no result is valid. */
GRAZE_API graze_status graze_collide_poses(graze_query *query, const graze_mesh *a, const graze_pose *pose_a,
                                           const graze_mesh *b, const graze_pose *poses_b, uint32_t count,
                                           const graze_collide_options *options, graze_collide_result *results);

/* ---- a mesh against itself --------------------------------------------------------------------------------- */

/* Pairs i < j of non-degenerate triangles are self pairs when they share all three positions (duplicates); when they
 * share exactly two and overlap in an area (edge_overlaps); when they share exactly one and meet in more than that
 * point (vertex_more); or when they share none and meet (disjoint_hits). Meeting pairs with a degenerate triangle,
 * adjacent or not, are counted separately in degenerate_pairs and appear in neither list nor hash. */
typedef struct graze_self_result {
  uint64_t self_pairs; /* = duplicates + edge_overlaps + vertex_more + disjoint_hits */
  uint64_t duplicates;
  uint64_t edge_overlaps;
  uint64_t vertex_more;
  uint64_t disjoint_hits;
  uint64_t degenerate_pairs;
  uint64_t hash;
  const graze_triangle_pair *pairs; /* FIND_ALL: self_pairs sorted pairs a < b; FIND_ANY: one; owned by the query */
  graze_work work;
} graze_self_result;

/* Tests the mesh's own coordinates, without a pose, on the context's threads. FIND_ANY stops at the first self pair.
 * Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_collide_self(graze_query *query, const graze_mesh *mesh,
                                          const graze_collide_options *options, graze_self_result *result);

/* Pairs i < j of triangles of one mesh whose closed axis-aligned boxes meet, adjacent ones included: the candidates of
 * Lawlor and Kale 2002. Requires GRAZE_VOLUMES_ALIGNED. Count and hash only, unless FIND_ALL. */
GRAZE_API graze_status graze_collide_self_boxes(graze_query *query, const graze_mesh *mesh,
                                                const graze_collide_options *options, graze_collide_result *result);

#ifdef __cplusplus
}
#endif
#endif
