/* Round objects: cores with a radius, against each other and against meshes. */
#ifndef GRAZE_SRC_NARROW_ROUND_H
#define GRAZE_SRC_NARROW_ROUND_H

#include "exact/near.h"
#include "graze/round.h"
#include "narrow/relate.h"

/* Two objects, one of them round at least. */
typedef struct round_pair {
  graze_query *query;
  const relate_side *of[2];
  double radius[2]; /* 0: a mesh */
  bool flat[2];     /* a cylinder */
  graze_exactness exactness;
  near_sum reach; /* both radii */
} round_pair;

/* `which` is round, the other need not be. */
static inline int round_which(const round_pair *p) {
  return p->radius[0] > 0 ? 0 : 1;
}

static inline bool round_both(const round_pair *p) {
  return p->radius[0] > 0 && p->radius[1] > 0;
}

/* One of two objects. */
typedef struct round_side {
  const relate_side *from;
  double radius;
  bool flat;
} round_side;

/* Checks a mesh and its radius. Errors: ARGUMENT. */
graze_status gz_round_check(const graze_context *context, const graze_mesh *mesh, double radius, bool flat,
                            const char *which);
void gz_round_open(round_pair *p, graze_query *query, round_side a, round_side b, graze_exactness exactness);

/* The relation; the whole of graze_round_relate but for checks. */
graze_status gz_query_relate_round(const round_pair *p, const graze_relate_options *options,
                                   graze_relate_result *result);

/* round_distance.c: the distance, likewise. */
graze_status gz_query_distance_round(const round_pair *p, double limit, graze_find near_pairs,
                                     graze_distance_result *result);

/* round_outline.c: where two that are not separate meet: box, point and, of those that cross, a proved way out; without
 * curves. */
graze_status gz_query_outline_round(const round_pair *p, const graze_relate_options *options,
                                    const graze_relate_result *related, graze_outline *outline);

/* ---- inside ---- */

/* Two triangles, ready for exact questions; corners are stored. */
void gz_round_start(const round_pair *p, graze_triangle_pair triangles, double corners[18], near_pair *pair);

/* The same of a point and the core of `which`. The point is a posed one or, at tier T2, moved by the pose. */
void gz_round_start_point(const round_pair *p, int which, const double point[3], const graze_pose *pose,
                          double corners[18], near_pair *pair);

/* The sign that a triangle, or two cores, have: 1 apart, 0 touching, -1 where the inside of a round object is entered;
 * not of two round objects of which one is flat. Of a point: 1 outside, 0 on the surface, -1 inside. */
int gz_round_sign(const round_pair *p, near_pair *pair);
int gz_round_point_sign(const round_pair *p, int which, near_pair *pair);

/* How far a round object reaches along an axis from its core, or less, by some 2^-40. */
double gz_round_extent(const round_pair *p, int which, int axis);

/* round_flat.c: the relation of two round objects, one of them flat. */
graze_status gz_round_relate_flat(const round_pair *p, graze_verdict *verdict);

/* The corner of the mesh that is not `which` as that takes it. */
const graze_pose *gz_round_corners(const round_pair *p, int which, uint32_t triangle, double corners[9]);

/* All triangles that may be within the sum of each other. The list is the query's. */
graze_status gz_round_list(const round_pair *p, const near_sum *limit, graze_triangle_pair **pairs, uint64_t *count,
                           graze_work *work);

/* A box around a round object, or a mesh. */
graze_box gz_round_box(const round_pair *p, int which);

/* round_mesh.c: the relation of the round object and the mesh that `meet` lists. Of these it keeps those that meet. */
graze_status gz_round_relate_mesh(const round_pair *p, const graze_relate_options *options, graze_triangle_pair *pairs,
                                  uint64_t *count, graze_verdict *verdict);

#endif
