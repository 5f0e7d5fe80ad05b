/* graze/motion.h: continuous collision, of what moves between two given places.
 *
 * Vertices move on straight lines at constant speed from t = 0 to t = 1, so a fast thing cannot jump over a thin one.
 * Sets are closed: touching counts, also at t = 0 and t = 1. Whether two features meet, and between which two doubles
 * next to each other they first do, is decided exactly for all finite doubles.
 */
#ifndef GRAZE_MOTION_H
#define GRAZE_MOTION_H

#include "graze/base.h"
#include "graze/collide.h"
#include "graze/distance.h"
#include "graze/math.h"
#include "graze/mesh.h"
#include "graze/rays.h"

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

/* The same for a separation that has to be kept: whether they are ever as near as that or nearer, and when first. 0 is
 * graze_ccd_batch. For a separation above 0 the message LIMIT is possible, with the query, where coordinates and
 * separation, as integers times a power of two that they share, have more than 128 bits: doubles whose sizes differ by
 * more than a factor of 2^75. */
GRAZE_API graze_status graze_ccd_batch_apart(graze_context *context, double separation, uint64_t count,
                                             const graze_ccd_query *queries, graze_ccd_result *results);

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

/* Which features of two meshes meet while both move: of a vertex of a and a triangle of b, of an edge of each, and of a
 * vertex of b and a triangle of a, in this order in the arrays. Nothing is left out: what is in one place meets. */
typedef struct graze_ccd_mesh_pairs {
  uint32_t edge_counts[2];  /* of a and of b */
  uint64_t candidate_count; /* pairs of features whose swept boxes meet */
  uint64_t counts[3], hashes[3];
  graze_feature_pair *pairs[3]; /* a feature of a or, in the last, of b, and one of the other; sorted, if asked for */
  double earliest, latest;      /* around the first time of all; 0 if nothing meets */
} graze_ccd_mesh_pairs;

/* As graze_ccd_self; the message names vertex or triangle of the mesh that is checked first, a, then b. LIMIT: 2^32 or
 * more of both together. */
GRAZE_API graze_status graze_ccd_meshes(graze_context *context, const graze_ccd_mesh *a, const graze_ccd_mesh *b,
                                        bool list, graze_ccd_mesh_pairs *result);
GRAZE_API void graze_ccd_mesh_pairs_free(graze_ccd_mesh_pairs *result);

/* ---- objects that move from pose to pose ---------------------------------------------------------------------- */

/* What is between two poses. Both models end exactly at the poses.
 *
 * LINEAR: every posed vertex, rounded as graze/math.h says, moves straight at constant speed. Meetings are decided
 * exactly, so that the bracket of a time is two neighbouring doubles, or one.
 *
 * RIGID: the origin of the object's frame, or a point that the options name, moves straight at constant speed, and the
 * frame turns about an axis that stays, at constant speed, by the least angle; of half a turn, about the axis whose
 * first component that is not zero is positive. Matrices have to be turns of each other to 1e-6; by what they are not
 * the vertices move straight beside the turn, and it counts as a doubt about where everything is. Times of such motions
 * are no roots of polynomials: that nothing meets is proved by bounds on distances and speeds, and that something meets
 * by an exact test of the rounded pose at the bracket's end, so that a bracket is 2^-30 wide, or what the options ask
 * for, or more where proofs are hard to find. */
typedef enum graze_motion_model {
  GRAZE_MOTION_STEPS = 0, /* nothing: objects are at their poses, and nowhere before */
  GRAZE_MOTION_LINEAR = 1,
  GRAZE_MOTION_RIGID = 2
} graze_motion_model;

/* A mesh and where it is at t = 0 and at t = 1. One that does not move may be at any pose; one that moves rigidly needs
 * rigid ones. */
typedef struct graze_motion_body {
  const graze_mesh *mesh;
  graze_pose start, end;
} graze_motion_body;

typedef enum graze_motion_verdict {
  GRAZE_MOTION_FREE,   /* the surfaces never meet, or come too near: proved */
  GRAZE_MOTION_HIT,    /* they do: proved */
  GRAZE_MOTION_UNKNOWN /* rigid, or with a separation: neither proof was found; to be taken for a hit */
} graze_motion_verdict;

/* "free", "hit" or "unknown". */
GRAZE_API const char *graze_motion_verdict_string(graze_motion_verdict verdict);

typedef struct graze_motion_options {
  graze_motion_model model; /* default LINEAR; not STEPS */
  bool last;                /* the last time at which they meet instead of the first */

  /* Default 0: whether the surfaces meet. Above 0, and finite: whether they come nearer to each other than that. Both
   * models are then certified as RIGID is: that they come nearer is proved by an exact distance at the rounded poses of
   * the bracket's end, and that they do not by bounds, of all but a 2^24th of it. So what keeps just this distance is
   * free, and what comes nearer by less than a 2^24th may be told either way. */
  double separation;

  /* How wide the bracket of a hit may be, from 0 to 1; default 0: 2^-30. Exact times are narrower than any, and stay
   * what they are. A certified one is as wide as this or narrower, wherever proofs get so near: posed coordinates have
   * errors of 2^-44 of their size, so a bracket is no narrower than what moves takes for a few such errors, and wider
   * still where a hit is hard to prove; `latest` and `earliest` tell. A wider one saves the last steps to a contact,
   * which are few. */
  double bracket;

  /* RIGID: of each object the point, in coordinates of its mesh, that moves straight, instead of the origin of its
   * frame: its centre of mass, say, where the origin is far from it. Of a and b, of all objects of a path; three finite
   * numbers each. Default NULL: the origins. */
  const double (*centers)[3];
  uint32_t cookie;
} graze_motion_options;

GRAZE_API graze_motion_options graze_default_motion_options(void);

/* HIT: the first time is of [earliest, latest]. UNKNOWN: before the earliest time and after the latest nothing meets,
 * or comes too near; between them something may. FREE: 0 and 0. With `last` the last time, likewise. */
typedef struct graze_motion_result {
  graze_motion_verdict verdict;
  double earliest, latest;
  double distance[2]; /* UNKNOWN: a lower and an upper bound of the least distance that the surfaces have between the
                         two times, proved; else 0 and 0 */
  graze_work work;
} graze_motion_result;

/* Two objects of which one or both move. Surfaces are closed sets, and what is inside of another object does not meet
 * it; nor is its surface the nearer for it. The same verdict and times for any number of threads and instruction set.
 * Errors: ARGUMENT (also for a separation that is negative or not finite, or a bracket not from 0 to 1), NOT_FINITE
 * (also a center), LIMIT (a center so far away that coordinates overflow), POSE (rigid: the message says of which
 * object which pose), MEMORY. */
GRAZE_API graze_status graze_motion_meshes(graze_query *query, const graze_motion_body *a, const graze_motion_body *b,
                                           const graze_motion_options *options, graze_motion_result *result);

/* A path of many objects, like that of a robot: `pose_count` configurations, between which they move, and the pairs of
 * them that are of interest. */
typedef struct graze_motion_path {
  const graze_mesh *const *meshes; /* of the objects */
  const graze_pose *poses;         /* object_count of the first configuration, then of the next */
  uint32_t object_count, pose_count;
  const uint32_t (*pairs)[2];
  uint32_t pair_count;
} graze_motion_path;

/* Decides every pair on every piece of the path, on all threads: results[piece * pair_count + pair] for the pieces 0 to
 * pose_count - 2. Errors: ARGUMENT, INDEX, LIMIT (2^32 results), and those of graze_motion_meshes; the message names
 * piece and pair. No result is then valid. */
GRAZE_API graze_status graze_motion_along(graze_context *context, const graze_motion_path *path,
                                          const graze_motion_options *options, graze_motion_result *results);

/* A time of a path: of which piece, and from 0 to 1 within it. */
typedef struct graze_motion_moment {
  uint32_t piece;
  double time;
} graze_motion_moment;

/* What is known of a pair on the whole path, or of all of them. Before `earliest` nothing meets, or comes too near:
 * proved. So that is a lower bound of the time of contact whatever the verdict.
 *
 * HIT: the first contact is not before `earliest` and not after `latest`. UNKNOWN: it may be between the two, and after
 * `latest` there is none. FREE: both are the path's end. */
typedef struct graze_motion_first {
  graze_motion_verdict verdict;
  graze_motion_moment earliest, latest;
  uint32_t pair;      /* HIT: which one meets not after `latest`, for certain; UNKNOWN: the first that may; FREE: 0 */
  uint64_t decided;   /* pairs on pieces that were looked at */
  double distance[2]; /* UNKNOWN: bounds of that pair's least distance in its first doubtful bracket; else 0 and 0 */
  graze_work work;
} graze_motion_first;

/* When objects first meet on a path, or the proof that they never do, on all threads. pairs[i] is what is known of pair
 * i; NULL where only `first`, of all pairs together, is of interest, which then ends the search soon after the first
 * contact. `first` may be NULL, too, but not both. Of each pair pieces are decided as graze_motion_along does, in
 * groups of one, two, four, up to 64 pieces, until it has met; later groups are not looked at, nor are their poses. The
 * same bytes for any number of threads and any instruction set. Errors: ARGUMENT (also for `last`), and those of
 * graze_motion_along, with piece and pair; nothing is then valid. */
GRAZE_API graze_status graze_motion_first_along(graze_context *context, const graze_motion_path *path,
                                                const graze_motion_options *options, graze_motion_first *pairs,
                                                graze_motion_first *first);

/* The distance of every pair at every configuration, on all threads: results[configuration * pair_count + pair], as
 * graze_mesh_distance gives them. There are no lists: pairs is NULL, and FIND_ALL acts as FIND_COUNT. A pair is
 * followed from configuration to configuration, which is quick where these are near each other. Errors: ARGUMENT,
 * INDEX, LIMIT (2^32 results), and those of graze_mesh_distance; the message names configuration and pair. No result is
 * then valid. */
GRAZE_API graze_status graze_distances_along(graze_context *context, const graze_motion_path *path,
                                             const graze_distance_options *options, graze_distance_result *results);

/* ---- particles ------------------------------------------------------------------------------------------------- */

/* Points and balls that move straight, at constant speed: three doubles a centre at t = 0 and at t = 1. */
typedef struct graze_particles {
  uint64_t count;
  const double *start;
  const double *end;    /* NULL: they stand still, and are asked what they touch */
  const double *radius; /* NULL: all are points. At least 0: balls are closed */
} graze_particles;

/* The first triangle of meshes that stand still (graze/rays.h) which each particle meets on its way. What it touches
 * from the beginning is met at t = 0. Whether it meets anything is decided exactly.
 *
 * Of a point the times are two neighbouring doubles, or one, around the first of all; of triangles with the same two
 * the lowest of the lowest object is named. Of a ball they are a proved bracket, usually some 2^-44 of its way wide,
 * more where it only grazes what it meets; the triangle is the first that it has met for certain, likewise.
 *
 * hits[i] is that of particle i, the same bytes for any number of threads and any instruction set. Expected
 * O(log triangles) a particle that passes few boxes. Errors: ARGUMENT (the message names the first particle with a bad
 * radius), NOT_FINITE (likewise), LIMIT (2^32 particles), MEMORY; on an error no hit is valid. */
GRAZE_API graze_status graze_motion_particles(graze_context *context, const graze_targets *targets,
                                              const graze_particles *particles, graze_target_hit *hits);

#ifdef __cplusplus
}
#endif

#endif
