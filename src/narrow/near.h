/* The triangles of a mesh that may be near a point, and those of two meshes that are near each other. */
#ifndef GRAZE_SRC_NARROW_NEAR_H
#define GRAZE_SRC_NARROW_NEAR_H

#include "geometry/nearest.h"
#include "graze/collide.h"
#include "graze/mesh.h"

/* Visits every triangle of which a point may be within `radius` of p, and perhaps others, in an order that depends on
 * the mesh alone. `visit` gives false to stop; then the answer is false. O(log n + triangles visited). */
bool gz_mesh_near(const graze_mesh *mesh, const double p[3], double radius,
                  bool (*visit)(void *user, uint32_t triangle), void *user);

/* gap.c: all pairs of triangles of two meshes at poses that are nearer than a finite limit, sorted, found on this
 * thread. The list is the query's, valid until its next call. Errors: NOT_FINITE, MEMORY. */
graze_status gz_mesh_list_near(graze_query *query, const graze_mesh *a, const graze_pose *pose_a, const graze_mesh *b,
                               const graze_pose *pose_b, double limit, const graze_triangle_pair **pairs,
                               uint64_t *count);

#endif
