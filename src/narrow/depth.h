/* The inside of graze_mesh_depth. */
#ifndef GRAZE_SRC_NARROW_DEPTH_H
#define GRAZE_SRC_NARROW_DEPTH_H

#include "graze/distance.h"
#include "narrow/relate.h"

/* escape.c: the relation of a and b moved by t, which is added to the last column of its pose; at T0 as at T1. */
graze_status gz_relate_moved(graze_query *query, const relate_side *a, const relate_side *b,
                             const graze_relate_options *options, const double t[3], graze_relate_result *result);

static inline bool relation_is_out(graze_relation relation) {
  return relation == GRAZE_TOUCH || relation == GRAZE_SEPARATE;
}

/* A direction and how far b overlaps a along it. */
typedef struct overlap_width {
  double direction[3]; /* of length 1 */
  double width;
} overlap_width;

/* depth_convex.c: whether the two are the hulls of their vertices, and then the least overlap along normals of faces
 * and of pairs of edges. Not for pairs of so many triangles that this would take seconds: *convex is false then. */
graze_status gz_depth_convex(const graze_context *context, const side *a, const side *b, bool *convex,
                             overlap_width *least);

/* A mesh whose triangles bound one solid, all facing one way, without holes and triangles of no area. */
static inline bool mesh_is_one_shell(const graze_mesh *mesh) {
  const mesh_header *h = mesh->header;
  return h->adjacency && h->closed && h->oriented && h->parts == 1 && h->degenerate_count == 0;
}

#endif
