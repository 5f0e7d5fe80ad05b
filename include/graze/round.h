/* graze/round.h: balls, capsules and cylinders among meshes, decided exactly.
 *
 * A round object is all that is within a radius of its core, a point or a segment. One with flat ends is a cylinder: of
 * that what is between the planes across the core at its ends. Its pose moves the ends of the core,
 * as those of any mesh, and nothing else: the radius is one in the world. So the object is what its posed ends and its
 * radius say, however far its matrix is from a rotation; whoever has poses that scale or shear has to refuse them.
 *
 * How far cores are from each other and from triangles is the root of a rational number, which is held against the
 * radii exactly. A round object is a solid: its relation to another follows from the same three sets as that of meshes
 * (graze/relate.h). docs/round.md has the details.
 */
#ifndef GRAZE_ROUND_H
#define GRAZE_ROUND_H

#include "graze/base.h"
#include "graze/distance.h"
#include "graze/mesh.h"
#include "graze/relate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The largest radius. */
#define GRAZE_RADIUS_MOST 0x1p1000

/* A core with these ends, the same for a ball: a mesh of one triangle that has no area. Errors: ARGUMENT, NOT_FINITE,
 * MEMORY. */
GRAZE_API graze_status graze_round_create_core(graze_context *context, const double ends[2][3], graze_mesh **core);

/* Whether a mesh is such a core. */
GRAZE_API bool graze_round_is_core(const graze_mesh *mesh);

/* One of two objects. */
typedef struct graze_round_side {
  const graze_mesh *mesh; /* with a radius: a core */
  const graze_pose *pose; /* NULL: identity */
  double radius;          /* from 0, which makes it a mesh, to GRAZE_RADIUS_MOST */
  bool flat;              /* it ends flat, and the ends of its core differ */
} graze_round_side;

/* The relation of two objects; of two meshes as graze_relate_meshes gives it.
 *
 * Of a round object and a mesh the counts are of the triangles that meet it: all of them `degenerate`, for the core is
 * the triangle 0 of its side. Two round objects that meet are one such pair. The list is owned by the query.
 *
 * Relations of balls and capsules to each other, of balls to cylinders, and of cylinders with parallel axes are never
 * unknown. Other relations of cylinders to cylinders and capsules are told by prisms in and around one of the two, and
 * unknown where these do not agree for either one (GRAZE_DOUBT_ROUND). Those to a mesh are unknown where a mesh would
 * be, and where the mesh intersects itself within the round object and no point of that tells what the object has in
 * common with it. Errors: as graze_relate_meshes, ARGUMENT for what is no core and a radius that is none, and POSE
 * where posed ends of a cylinder are the same. */
GRAZE_API graze_status graze_round_relate(graze_query *query, const graze_round_side *a, const graze_round_side *b,
                                          const graze_relate_options *options, graze_relate_result *result);

/* The distance of the surfaces, as graze_mesh_distance has it: the exact number rounded once, between `lower` and
 * `upper`. Where a surface meets a round one it is 0; what lies inside a round object has its distance from that
 * surface. Points are on the surfaces, in doubles; a round surface counts as a face. `near_pairs` are the triangles
 * that are nearer than the limit to the solid of a round object. `error` and `share` are not used. Errors: as
 * graze_round_relate and graze_mesh_distance, and UNSUPPORTED for cylinders. */
GRAZE_API graze_status graze_round_distance(graze_query *query, const graze_round_side *a, const graze_round_side *b,
                                            const graze_distance_options *options, graze_distance_result *result);

#ifdef __cplusplus
}
#endif
#endif
