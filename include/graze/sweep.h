/* graze/sweep.h: convex sets that move from pose to pose: whether they meet on the way, and when first.
 *
 * Sets are those of graze/convex.h: hulls, balls, capsules, cylinders and cones, which are solid, so that what is
 * inside of another meets it. They are closed, so touching counts, also at t = 0 and t = 1. That nothing meets is
 * proved by bounds on distances and speeds; that something meets by the test of graze_convex_batch at the rounded poses
 * of the bracket's end. What neither proves is told as unknown.
 */
#ifndef GRAZE_SWEEP_H
#define GRAZE_SWEEP_H

#include "graze/base.h"
#include "graze/convex.h"
#include "graze/math.h"
#include "graze/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A set and where it is at t = 0 and at t = 1. */
typedef struct graze_moving_convex {
  const graze_convex *set;
  graze_pose start, end;
  double center[3]; /* GRAZE_MOTION_RIGID: the point, in coordinates of the set, that moves straight; 0, 0, 0: the
                     * origin of its frame */
} graze_moving_convex;

typedef struct graze_convex_sweep {
  graze_moving_convex a, b;
} graze_convex_sweep;

/* HIT: the first time is of [earliest, latest]; the bracket is about 2^-40 wide, or more where the sets come near each
 * other slowly or graze. UNKNOWN: before the earliest time and after the latest nothing meets; between them something
 * may. FREE: 0 and 0. */
typedef struct graze_convex_sweep_result {
  graze_motion_verdict verdict; /* GRAZE_MOTION_UNKNOWN is to be taken for a hit */
  double earliest, latest;
  double normal[3]; /* a unit vector from a to b, along which they were apart last; 0: they never were for
                     * certain, as where they meet at t = 0 */
} graze_convex_sweep_result;

/* Decides `count` sweeps; results[i] is that of sweeps[i], the same bytes for any number of threads and any instruction
 * set. The model is one of graze/motion.h:
 *
 * GRAZE_MOTION_LINEAR: posed points move straight at constant speed. Of a set with discs the 3x3 parts of both poses
 * have to be the same, so that it is shifted; points of others may move by any two matrices.
 * GRAZE_MOTION_RIGID: the center moves straight and the frame turns about an axis that stays, by the least angle.
 *
 * Conservative advancement along directions: with g the gap along one at a time and c a bound of how fast points come
 * nearer along it, which for shifts is the speed itself, nothing meets for g / c. O(points) a step; a plain meeting
 * takes some ten steps, and the search ends after 1,000. Errors: as graze_convex_batch; ARGUMENT for a model that is
 * none and a center that is not finite; POSE (rigid: poses that are not, or mirror images; linear: a set with discs
 * that turns); LIMIT (2^32 sweeps or more). The message names sweep and side. No result is then valid.
 *
 * B. Mirtich, "Impulse-based dynamic simulation of rigid body systems", 1996; G. van den Bergen, "Ray casting against
 * general convex objects with application to continuous collision detection", 2004. */
GRAZE_API graze_status graze_convex_sweeps(graze_context *context, uint64_t count, const graze_convex_sweep *sweeps,
                                           graze_motion_model model, graze_convex_sweep_result *results);

#ifdef __cplusplus
}
#endif

#endif
