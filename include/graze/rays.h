/* graze/rays.h: what rays and segments meet.
 *
 * Where a line meets a triangle is decided exactly, for all finite doubles: sets are closed, so that a ray which grazes
 * an edge or runs in the plane of a triangle meets it, and triangles of no area are the segments or points that they
 * cover. Meshes are posed as graze/math.h says, tier T1. Parameters are told as the two doubles around them.
 */
#ifndef GRAZE_RAYS_H
#define GRAZE_RAYS_H

#include "graze/base.h"
#include "graze/math.h"
#include "graze/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- targets ---------------------------------------------------------------------------------------------------- */

/* Meshes where they stand, with a hierarchy above them: what rays and particles (graze/motion.h) are held against. For
 * reading only, by any number of threads. */
typedef struct graze_targets graze_targets;

/* Of `count` meshes, the same one as often as it is wanted, and their poses, any matrices (NULL: all stand at the
 * origin). The meshes must live as long as the targets. O(count log count). Errors: ARGUMENT, NOT_FINITE (the message
 * names the object whose pose, or posed coordinates, are no finite numbers), MEMORY. Release them with
 * graze_targets_destroy, which takes NULL too. */
GRAZE_API graze_status graze_targets_create(graze_context *context, uint32_t count, const graze_mesh *const *meshes,
                                            const graze_pose *poses, graze_targets **targets);
GRAZE_API void graze_targets_destroy(graze_targets *targets);

/* No object, no triangle. */
#define GRAZE_NO_TARGET UINT32_MAX

/* A meeting. The parameter t of the first common point is between earliest and latest: equal where t is a double, and
 * neighbouring doubles where it is not. What meets nothing has times 0 and GRAZE_NO_TARGET twice. */
typedef struct graze_target_hit {
  double earliest, latest;
  uint32_t object;   /* as the meshes were given */
  uint32_t triangle; /* of its mesh */
} graze_target_hit;

/* ---- rays ------------------------------------------------------------------------------------------------------- */

/* Lines, three doubles a place. Segments are the points from + t (to - from), as real numbers, for t of [0, 1]; rays
 * are from + t way for all t >= 0. An end that is given takes the place of 1 or of no end. */
typedef struct graze_rays {
  uint64_t count;
  const double *from;
  const double *to;   /* the other ends of segments; or NULL, and */
  const double *way;  /* directions of any length, 0 too: then the ray is a point */
  const double *most; /* NULL, or the last t of each line, at least 0, perhaps infinite: then the largest double */
} graze_rays;

/* The first triangle that each line meets: the one with the least parameter; where these are between the same doubles,
 * of the lowest object its lowest triangle. hits[i] is that of line i, the same bytes for any number of threads and any
 * instruction set. Expected O(log triangles) a line that meets few boxes. Errors: ARGUMENT (the message names the first
 * line whose end is not a number or below 0), NOT_FINITE (likewise), LIMIT (2^32 lines), MEMORY; on an error no hit is
 * valid. */
GRAZE_API graze_status graze_rays_first(graze_context *context, const graze_targets *targets, const graze_rays *rays,
                                        graze_target_hit *hits);

/* All triangles that each line meets: hits[first[i]] to hits[first[i + 1] - 1] are those of line i, by parameter, then
 * by object, then by triangle. */
typedef struct graze_ray_hits {
  uint64_t count;
  graze_target_hit *hits;
  uint64_t *first; /* [lines + 1] */
} graze_ray_hits;

/* Errors: as graze_rays_first; then `hits` is empty. Release it with graze_ray_hits_free. */
GRAZE_API graze_status graze_rays_all(graze_context *context, const graze_targets *targets, const graze_rays *rays,
                                      graze_ray_hits *hits);
GRAZE_API void graze_ray_hits_free(graze_ray_hits *hits);

#ifdef __cplusplus
}
#endif

#endif
