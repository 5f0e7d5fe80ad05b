/* graze/collide.h: exact intersection of triangles and meshes.
 *
 * Triangles are closed sets; touching counts; a zero-area triangle is the segment or point that it covers. Whether
 * two triangles meet is decided, never estimated, for every finite double.
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

/* Dimension of the common set, plus one. */
typedef enum graze_kind {
  GRAZE_KIND_NONE = 0,
  GRAZE_KIND_POINT = 1,
  GRAZE_KIND_SEGMENT = 2,
  GRAZE_KIND_AREA = 3
} graze_kind;

typedef struct graze_tritri {
  uint8_t kind;       /* graze_kind; meets when not NONE */
  uint8_t coplanar;   /* 1: all six points lie in one plane (also when they do not meet) */
  uint8_t degenerate; /* bit 0: a has zero area, bit 1: b has */
} graze_tritri;

/* Decides two triangles, corners as x, y, z. Errors: NOT_FINITE. Scalar; for many pairs use the batch. */
GRAZE_API graze_status graze_tritri_test(const double a[9], const double b[9], graze_tritri *result);

/* Decides `count` pairs. Structure of arrays: a[k][i] is coordinate k (0..8: x0 y0 z0 x1 ... z2) of the first
 * triangle of pair i; b alike; results[i] gets what graze_tritri_test gives. The context's threads are used for
 * large counts. Errors: ARGUMENT, NOT_FINITE (the message names the first such pair; no result is then valid). */
GRAZE_API graze_status graze_tritri_batch(graze_context *context, uint64_t count, const double *const a[9],
                                          const double *const b[9], graze_tritri *results);

/* The common set itself: nothing, a point, a segment's two end points, or a convex polygon in order (up to 6
 * corners). Every coordinate is within a relative error of 2^-50 of the exact one (or 2^-1074 absolutely).
 * Which points exist is decided exactly. Errors: NOT_FINITE. */
typedef struct graze_intersection {
  graze_tritri summary;
  uint32_t count;
  double points[6][3];
} graze_intersection;

GRAZE_API graze_status graze_tritri_intersection(const double a[9], const double b[9], graze_intersection *result);

/* Tier T2 for one pair: decides the real-number images of the two triangles under the exact matrices. */
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

/* What a query did; for benchmarks and curiosity. */
typedef struct graze_work {
  uint64_t node_pairs;     /* pairs of hierarchy nodes opened */
  uint64_t triangle_tests; /* triangle pairs given to the exact test */
  uint64_t exact_tests;    /* of them, not decided by the first floating-point filter */
} graze_work;

typedef struct graze_collide_options {
  graze_find find;
  graze_exactness exactness; /* default T1 */
  uint32_t cookie;
} graze_collide_options;

GRAZE_API graze_collide_options graze_default_collide_options(void);

typedef struct graze_collide_result {
  bool hit;                         /* at least one triangle pair meets: surfaces only, containment is no hit */
  graze_counts counts;              /* for GRAZE_FIND_ANY: of the pairs seen when the search stopped */
  const graze_triangle_pair *pairs; /* GRAZE_FIND_ALL: counts.triangle_pairs pairs, owned by the query, valid until
                                       its next call; GRAZE_FIND_ANY: one pair when hit; else NULL */
  graze_work work;
} graze_collide_result;

/* Scratch memory and results. One thread uses a query at a time; after the first calls nothing is allocated.
 * The query itself runs on the calling thread unless `threads` of the context is more than one and the work is
 * large. */
typedef struct graze_query graze_query;

GRAZE_API graze_status graze_query_create(graze_context *context, graze_query **query);
GRAZE_API void graze_query_destroy(graze_query *query);

/* Mesh against mesh. `pose_a`, `pose_b`: NULL = identity. `options` NULL = defaults. The two meshes may be one.
 * Errors: ARGUMENT, MEMORY, NOT_FINITE (pose, or a posed coordinate that overflows: the message names mesh and
 * vertex), POSE. */
GRAZE_API graze_status graze_collide_meshes(graze_query *query, const graze_mesh *a, const graze_pose *pose_a,
                                            const graze_mesh *b, const graze_pose *pose_b,
                                            const graze_collide_options *options, graze_collide_result *result);

/* Mesh b at `count` poses against mesh a at one: results[i].hit, .counts and .work for poses_b[i]; lists are not
 * kept (pairs is NULL; FIND_ALL acts as FIND_COUNT). Poses are shared out to the context's threads. Errors as
 * above; on an error no result is valid. */
GRAZE_API graze_status graze_collide_poses(graze_query *query, const graze_mesh *a, const graze_pose *pose_a,
                                           const graze_mesh *b, const graze_pose *poses_b, uint32_t count,
                                           const graze_collide_options *options, graze_collide_result *results);

/* ---- a mesh against itself --------------------------------------------------------------------------------- */

/* Pairs i < j of non-degenerate triangles count as self pairs when: all three positions are shared (duplicates);
 * exactly two are shared and the triangles overlap in an area (edge_overlaps); exactly one is shared and they
 * meet in more than that point (vertex_more); none is shared and they meet (disjoint_hits). Meeting pairs with a
 * degenerate triangle, adjacent or not, are counted apart in degenerate_pairs and are not in list or hash. */
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

/* The mesh's own coordinates are tested (no pose). FIND_ANY stops at the first self pair. The context's threads are
 * used. Errors: ARGUMENT, MEMORY. */
GRAZE_API graze_status graze_collide_self(graze_query *query, const graze_mesh *mesh,
                                          const graze_collide_options *options, graze_self_result *result);

/* Pairs i < j of triangles of one mesh whose closed axis-aligned boxes meet, adjacent ones included: the candidates
 * of the voxel paper (Lawlor and Kale 2002). Needs GRAZE_VOLUMES_ALIGNED. Only count and hash unless FIND_ALL. */
GRAZE_API graze_status graze_collide_self_boxes(graze_query *query, const graze_mesh *mesh,
                                                const graze_collide_options *options, graze_collide_result *result);

#ifdef __cplusplus
}
#endif
#endif
