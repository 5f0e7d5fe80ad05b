/* Many points and balls that move straight past meshes that stand still. Points are lines (exact/pierce.h); balls are
 * searched for in the same way, as thick lines.
 *
 * A bracket of a ball's time tells its first contact with one triangle. Of several the first to be surely over is
 * taken, and the bracket opens with the first that may be under way. Boxes are left out by margins far larger than what
 * these brackets are in doubt by, so that the order of the search has no say in the answer. */
#include <inttypes.h>
#include <math.h>

#include "base/context.h"
#include "base/extremes.h"
#include "base/parallel.h"
#include "graze/motion.h"
#include "motion/flight.h"
#include "narrow/targets.h"

typedef struct particle_batch {
  const graze_particles *particles;
  graze_target_hit *hits;
} particle_batch;

/* ---- balls ---------------------------------------------------------------------------------------------------- */

typedef struct ball_search {
  flight flight;
  graze_target_hit best;
  double earliest, limit;
} ball_search;

static double visit_ball(void *user, uint32_t object, uint32_t triangle, const double corners[9]) {
  ball_search *b = user;
  double time[2];
  if (!gz_flight_meets(&b->flight, corners, b->limit, time)) return b->limit;
  const graze_target_hit hit = {time[1], time[1], object, triangle};
  b->earliest = smaller(b->earliest, time[0]);
  if (b->best.object == GRAZE_NO_TARGET || gz_target_before(&hit, &b->best)) {
    b->best = hit;
    b->limit = smaller(b->limit, time[1]);
  }
  return b->limit;
}

static graze_target_hit fly(target_search *search, const double from[3], const double to[3], double radius) {
  ball_search b = {.flight = {.radius = radius}, .best = target_missed(), .earliest = 1, .limit = 1};
  double way[3];
  for (int k = 0; k < 3; k++) {
    b.flight.from[k] = from[k];
    b.flight.to[k] = to[k];
    way[k] = to[k] - from[k];
  }
  search->ordered = true;
  search->visit = visit_ball;
  search->user = &b;
  gz_targets_search(search, from, way, 1, radius);
  if (b.best.object != GRAZE_NO_TARGET) b.best.earliest = b.earliest;
  return b.best;
}

/* ---- all of them ---------------------------------------------------------------------------------------------- */

static void ask(void *user, target_search *search, uint32_t i) {
  particle_batch *b = user;
  const graze_particles *p = b->particles;
  const double *from = p->start + 3 * (size_t)i, *to = p->end != NULL ? p->end + 3 * (size_t)i : from;
  if (p->radius != NULL && p->radius[i] > 0) {
    b->hits[i] = fly(search, from, to, p->radius[i]);
    return;
  }
  pierce_line line;
  gz_pierce_start(&line, from, to, false, 1);
  b->hits[i] = gz_targets_first(search, &line);
}

static graze_status check_particles(const graze_context *context, const graze_particles *p, double *magnitude) {
  *magnitude = 0;
  for (uint64_t i = 0; i < p->count; i++) {
    for (int k = 0; k < 3; k++) {
      const double from = p->start[3 * i + (uint64_t)k], to = p->end != NULL ? p->end[3 * i + (uint64_t)k] : from;
      if (!isfinite(from) || !isfinite(to)) {
        return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "particle %" PRIu64 ": a coordinate is not finite", i);
      }
      *magnitude = larger(*magnitude, larger(fabs(from), fabs(to)));
    }
    if (p->radius == NULL || (p->radius[i] >= 0 && isfinite(p->radius[i]))) continue;
    return gz_fail(context, GRAZE_ERROR_ARGUMENT,
                   "particle %" PRIu64 ": its radius is not a finite number of 0 or more", i);
  }
  return GRAZE_OK;
}

graze_status graze_motion_particles(graze_context *context, const graze_targets *targets,
                                    const graze_particles *particles, graze_target_hit *hits) {
  if (context == NULL || targets == NULL || particles == NULL) return gz_fail_null(context);
  if (particles->count > 0 && (particles->start == NULL || hits == NULL)) return gz_fail_null(context);
  if (particles->count > UINT32_MAX - 256) {
    return gz_fail(context, GRAZE_ERROR_LIMIT, "more particles than one call takes");
  }
  particle_batch b = {particles, hits};
  double magnitude;
  graze_status status = check_particles(context, particles, &magnitude);
  if (status != GRAZE_OK || particles->count == 0) return status;
  const unsigned saved = gz_fp_enter();
  status = gz_targets_run(context, targets, magnitude, particles->start, particles->end, (uint32_t)particles->count,
                          ask, &b);
  gz_fp_leave(saved);
  return status;
}
