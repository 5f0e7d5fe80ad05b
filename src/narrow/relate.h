/* The relation of two meshes at poses, from the list of their triangle pairs. */
#ifndef GRAZE_SRC_NARROW_RELATE_H
#define GRAZE_SRC_NARROW_RELATE_H

#include "graze/engine.h"
#include "narrow/solid.h"

/* A mesh at a pose, and where its solid comes from: made when first needed, kept in *slot. */
typedef struct relate_side {
  side place;
  _Atomic(solid *) *slot;
} relate_side;

/* The whole of graze_relate_meshes but for checks; slots may outlive the call. */
graze_status gz_query_relate(graze_query *query, const relate_side *a, const relate_side *b,
                             const graze_relate_options *options, graze_relate_result *result);

/* The same where the triangles that may meet are known: only these are decided, at tier T1 at most. */
graze_status gz_query_relate_listed(graze_query *query, const relate_side *a, const relate_side *b,
                                    const graze_cull_triangles *triangles, const graze_relate_options *options,
                                    graze_relate_result *result);

/* The same of surfaces that are known to have no common point: does one contain the other? */
graze_status gz_query_relate_apart(graze_query *query, const relate_side *a, const relate_side *b,
                                   const graze_relate_options *options, graze_relate_result *result);

/* escape.c: the whole of graze_find_escape for two that cross, in these pairs, which may be the query's own. */
graze_status gz_query_escape(graze_query *query, const relate_side *a, const relate_side *b,
                             const graze_relate_options *options, const graze_triangle_pair *pairs, uint64_t count,
                             double most, graze_escape *escape);

/* outline.c: triangles are known to exist. */
graze_status gz_query_outline(graze_query *query, const side *a, const side *b, const graze_triangle_pair *pairs,
                              uint64_t count, graze_outline *outline);

/* query.c: checks a mesh at a pose as every query does. */
graze_status gz_query_side(const graze_query *query, const graze_mesh *mesh, const graze_pose *pose,
                           graze_exactness exactness, const char *which, side *out);

#endif
