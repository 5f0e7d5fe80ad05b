/* When do two convex sets on their ways first meet?
 *
 * Conservative advancement along directions. At time t, let n be a unit vector along which the sets are apart by g. A
 * point x of a has the velocity v + w x (x - o) with o the hub, and with m = n x w its part along n is n . v + m . (x -
 * o): the largest is that of the point farthest along m. In time h the part of a point changes by at most |m| |w| r h,
 * with r its distance from the hub, so with c the sum of the largest parts of a and of -b, and q that of what they
 * change by, g is above 0 while g > c h + q h^2 / 2. Where sets are only shifted, or their points move straight, c is
 * the speed along n and q is 0: then it is as a search along a ray (van den Bergen, 2004), which takes a step for each
 * feature on the way. What rounded poses leave in doubt, of places and of speeds, is in the bounds of motion/path.h.
 *
 * Where that ends, the sets are about to meet: the rounded poses of some later times are tested. If none of them meets,
 * the piece is left in doubt and the search goes on behind it, by pieces that double.
 */
#include "graze/sweep.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/context.h"
#include "base/extremes.h"
#include "base/owned.h"
#include "base/parallel.h"
#include "base/vector3.h"
#include "convex/answer.h"
#include "convex/discs.h"
#include "motion/path.h"

enum { MOST_STEPS = 1000 };

static const double INFINITE = (double)INFINITY, OUTWARD = 1 + 0x1p-40, INWARD = 1 - 0x1p-40;
static const double SHORTEST = 0x1p-42, LONGEST_TRY = 0x1p-30, NEAR = 0x1p-14;

typedef struct sweep {
  convex_pair *pair;
  graze_convex_pair sets; /* their poses are: */
  graze_pose poses[2];
  motion_path path[2];
  double sum;       /* of the radii, rounded up */
  double doubt;     /* by how much posed places may be beside their ways, of both sets together */
  double at;        /* free until then, but for what is in doubt */
  bool is_doubtful; /* from doubtful[0] to doubtful[1] nothing is known */
  double doubtful[2];
  double way[3]; /* along which the gap was largest last */
  bool refused;  /* memory */
  bool is_done;
  graze_convex_sweep_result result;
} sweep;

static void finish(sweep *s, graze_motion_verdict verdict, double earliest, double latest) {
  s->is_done = true;
  s->result.verdict = verdict;
  s->result.earliest = earliest;
  s->result.latest = latest;
}

static void finish_hit(sweep *s, double earliest, double latest) {
  finish(s, GRAZE_MOTION_HIT, s->is_doubtful ? s->doubtful[0] : earliest, latest);
}

static void finish_free(sweep *s) {
  if (s->is_doubtful) {
    finish(s, GRAZE_MOTION_UNKNOWN, s->doubtful[0], s->doubtful[1]);
  } else {
    finish(s, GRAZE_MOTION_FREE, 0, 0);
  }
}

/* ---- a moment --------------------------------------------------------------------------------------------------- */

/* False: it is past telling, as memory was refused or coordinates overflow. */
static bool load_at(sweep *s, double t) {
  int side;
  for (int i = 0; i < 2; i++) s->poses[i] = gz_path_pose(&s->path[i], t);
  const graze_status status = gz_convex_load(s->pair, &s->sets, false, &side);
  if (status == GRAZE_ERROR_MEMORY) s->refused = true;
  if (status != GRAZE_OK) finish(s, GRAZE_MOTION_UNKNOWN, s->is_doubtful ? s->doubtful[0] : s->at, 1);
  return status == GRAZE_OK;
}

/* The rounded poses. */
static bool do_meet(sweep *s, double t) {
  graze_convex_result result;
  if (!load_at(s, t)) return false;
  if (!gz_convex_answer(s->pair, &s->sets, GRAZE_CONVEX_MEET, &result)) s->refused = s->is_done = true;
  return !s->is_done && result.hit == GRAZE_CONVEX_HIT;
}

/* What the sets are apart at least along the way, which is found. The nearer their cores are, the less their nearest
 * places tell of the direction. */
static double find_gap(sweep *s, const disc_pair *discs) {
  const double sum = s->sum * s->pair->scale * OUTWARD;
  disc_gap gap;
  gz_discs_gap(discs, s->way, INFINITE, sum, &gap);
  if (!(gap.lower > -INFINITE)) return -INFINITE;
  disc_best best = {gap.lower, {gap.way[0], gap.way[1], gap.way[2]}};
  if (gap.lower < NEAR * discs->size && gap.upper > sum) gz_discs_climb(discs, gap.way, &best);
  memcpy(s->way, best.way, sizeof s->way);
  return ldexp(best.lower, s->pair->power) * (best.lower > 0 ? INWARD : OUTWARD) - s->sum - s->doubt - 0x1p-1060;
}

/* ---- speeds ----------------------------------------------------------------------------------------------------- */

/* How far a side's points are from its hub along m at most, `sign` times, and what that may be off. */
static double farthest_from_hub(const sweep *s, const disc_pair *discs, int side, const double m[3], double sign) {
  const motion_path *path = &s->path[side];
  const double length = length3(m);
  double unit[3], hub[3], sum = 0;
  if (!(length > 0)) return 0;
  for (int k = 0; k < 3; k++) unit[k] = m[k] / length;
  disc_support at;
  gz_discs_support(discs, unit, &at);
  gz_path_hub(path, s->at, hub);
  for (int k = 0; k < 3; k++) sum += m[k] * (ldexp(at.points[side][k] + s->pair->center[k], s->pair->power) - hub[k]);
  return sign * sum + length * (2 * ldexp(discs->off, s->pair->power) + path->slack);
}

/* Closing speeds along the way at this moment, and how fast they change at most. */
typedef struct closing {
  double speed, change;
} closing;

static closing turning(const sweep *s, const disc_pair *discs) {
  double turn = 1 + s->path[0].turn + s->path[1].turn;
  closing c = {turn * s->doubt, 0};
  for (int i = 0; i < 2; i++) {
    const double sign = i == 0 ? 1 : -1;
    double v[3], w[3], m[3];
    gz_path_rates(&s->path[i], v, w);
    cross3(s->way, w, m);
    /* b's points count against the way: its support is looked for along the other end of m. */
    c.speed += sign * dot3(s->way, v) + farthest_from_hub(s, discs, i, m, sign);
    c.speed += 0x1p-48 * (fabs(s->way[0] * v[0]) + fabs(s->way[1] * v[1]) + fabs(s->way[2] * v[2]));
    c.change += length3(m) * s->path[i].turn * s->path[i].reach * OUTWARD;
  }
  return c;
}

/* What the ends of straight ways are moved by. */
static closing straight(const sweep *s) {
  closing c = {s->doubt, 0};
  for (int k = 0; k < 3; k++) {
    const double n = s->way[k];
    for (int i = 0; i < 2; i++) {
      const graze_box *shift = &s->path[i].shift;
      const double low = n * shift->min[k], high = n * shift->max[k];
      c.speed += i == 0 ? larger(low, high) : -smaller(low, high);
      c.speed += 0x1p-48 * larger(fabs(low), fabs(high));
    }
  }
  return c;
}

/* For how long a gap stays above 0. */
static double time_of(double gap, closing c) {
  if (c.change > 0) {
    const double root = sqrt(c.speed * c.speed + 2 * c.change * gap);
    return c.speed > 0 ? 2 * gap / (c.speed + root) : (root - c.speed) / c.change;
  }
  return c.speed > 0 ? gap / c.speed : INFINITE;
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

/* They may be about to meet. *end: they do then, or the last time that was tried. */
static bool try_ahead(sweep *s, double *end) {
  double more = SHORTEST;
  while (!s->is_done) {
    *end = smaller(s->at + more, 1);
    if (do_meet(s, *end)) return true;
    if (*end >= 1 || more > LONGEST_TRY) return false;
    more *= 4;
  }
  return false;
}

/* Nothing can be proved from here on for a while. */
static void leave_in_doubt(sweep *s, double end) {
  if (!s->is_doubtful) s->doubtful[0] = s->at;
  if (s->is_doubtful) end = larger(end, smaller(s->at + (s->doubtful[1] - s->doubtful[0]), 1));
  s->is_doubtful = true;
  s->doubtful[1] = s->at = end;
  if (do_meet(s, end)) {
    finish_hit(s, end, end);
  } else if (!s->is_done && end >= 1) {
    finish_free(s);
  }
}

static void step(sweep *s) {
  if (!load_at(s, s->at)) return;
  disc_pair discs;
  double end = 0, ahead = 0;
  gz_discs_open(&discs, s->pair, (const graze_convex *const[2]){s->sets.a, s->sets.b});
  const double gap = find_gap(s, &discs);
  if (gap > 0) {
    memcpy(s->result.normal, s->way, sizeof s->way);
    const bool turns = s->path[0].turns || s->path[1].turns;
    ahead = time_of(gap, turns ? turning(s, &discs) : straight(s)) * INWARD;
  }
  if (ahead >= 1 - s->at) {
    finish_free(s);
  } else if (ahead > SHORTEST) {
    s->at += ahead;
  } else if (try_ahead(s, &end)) {
    finish_hit(s, s->at, end);
  } else if (!s->is_done) {
    leave_in_doubt(s, end);
  }
}

static void run(sweep *s) {
  if (do_meet(s, 0)) finish_hit(s, 0, 0);
  for (int i = 0; i < MOST_STEPS && !s->is_done; i++) step(s);
  if (!s->is_done) finish(s, GRAZE_MOTION_UNKNOWN, s->is_doubtful ? s->doubtful[0] : s->at, 1);
}

/* ---- the beginning ---------------------------------------------------------------------------------------------- */

/* Of the set before the pose; discs reach as far in all directions. */
static graze_box box_of(const graze_convex *set) {
  graze_box box;
  const double out = 1.0001 * larger(set->discs[0], set->discs[1]);
  for (int k = 0; k < 3; k++) {
    box.min[k] = box.max[k] = set->points[k];
    for (uint32_t i = 1; i < set->count; i++) {
      box.min[k] = smaller(box.min[k], set->points[3 * (size_t)i + (size_t)k]);
      box.max[k] = larger(box.max[k], set->points[3 * (size_t)i + (size_t)k]);
    }
    box.min[k] -= out;
    box.max[k] += out;
  }
  return box;
}

static bool open_path(const graze_moving_convex *m, graze_motion_model model, motion_path *path, const char **fault) {
  const graze_box box = box_of(m->set);
  const path_fault found = gz_path_open(path, &box, &m->start, &m->end, model, m->center);
  *fault = gz_path_fault_string(found);
  if (found != PATH_FINE) return false;
  *fault = "it has discs, and moves straight between poses that do more than shift it";
  return model == GRAZE_MOTION_RIGID || !path->bends || !has_discs(m->set);
}

/* A rounded axis is tilted, the more the shorter its pose makes it, and takes the discs with it. */
static double tilt_of(const graze_convex *set, const motion_path *path) {
  if (!has_discs(set)) return 0;
  double axis[3];
  sub3(set->points + 3, set->points, axis);
  return 3 * path->slack / (length3(axis) * path->least) * larger(set->discs[0], set->discs[1]);
}

static void set_out(sweep *s, const graze_convex_sweep *from, graze_motion_model model, convex_pair *pair) {
  const graze_moving_convex *const sides[2] = {&from->a, &from->b};
  const char *fault;
  *s = (sweep){.pair = pair};
  s->sets = (graze_convex_pair){from->a.set, from->b.set, &s->poses[0], &s->poses[1]};
  for (int i = 0; i < 2; i++) {
    open_path(sides[i], model, &s->path[i], &fault);
    s->doubt += s->path[i].slack + s->path[i].strain + tilt_of(sides[i]->set, &s->path[i]);
  }
  s->sum = (from->a.set->radius + from->b.set->radius) * OUTWARD;
  s->way[2] = 1;
}

/* ---- many ------------------------------------------------------------------------------------------------------- */

typedef struct sweeping {
  const graze_context *context;
  const graze_convex_sweep *sweeps;
  graze_motion_model model;
  graze_convex_sweep_result *results;
  convex_pair *work; /* of each worker */
  _Atomic bool refused;
} sweeping;

static void sweep_range(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  sweeping *w = argument;
  for (uint32_t i = begin; i < end; i++) {
    sweep s;
    set_out(&s, &w->sweeps[i], w->model, &w->work[worker]);
    run(&s);
    w->results[i] = s.result;
    if (s.refused) atomic_store(&w->refused, true);
  }
}

static graze_status sweep_all(sweeping *w, uint32_t count) {
  const uint32_t workers = gz_workers(w->context);
  w->work = gz_new_zeroed(w->context, workers, sizeof *w->work);
  if (w->work == NULL) return gz_fail_memory(w->context, workers * sizeof *w->work);
  for (uint32_t i = 0; i < workers; i++) w->work[i].context = w->context;
  gz_parallel_for(w->context, count, 16, sweep_range, w);
  for (uint32_t i = 0; i < workers; i++) gz_pair_release(&w->work[i]);
  gz_free(w->work);
  return atomic_load(&w->refused) ? gz_fail_memory(w->context, sizeof(convex_pair)) : GRAZE_OK;
}

/* Whether a set can be posed at both ends of its way. */
static graze_status check_ends(convex_pair *pair, uint64_t number, char name, const graze_moving_convex *m) {
  const graze_context *context = pair->context;
  const graze_pose *const ends[2] = {&m->start, &m->end};
  graze_status status = GRAZE_OK;
  for (int e = 0; e < 2 && status == GRAZE_OK; e++) {
    const graze_convex_pair both = {m->set, m->set, ends[e], ends[e]};
    int side;
    status = gz_convex_load(pair, &both, false, &side);
  }
  if (status == GRAZE_ERROR_NOT_FINITE)
    return gz_fail(context, status, "sweep %llu, %c: a coordinate is not finite, or not once it is posed",
                   (unsigned long long)number, name);
  if (status == GRAZE_ERROR_POSE)
    return gz_fail(context, status, "sweep %llu, %c: posed, the ends of its axis are the same",
                   (unsigned long long)number, name);
  return status == GRAZE_OK ? GRAZE_OK : gz_fail_memory(context, sizeof *pair);
}

static graze_status check_side(convex_pair *pair, uint64_t number, char name, const graze_moving_convex *m,
                               graze_motion_model model) {
  const graze_context *context = pair->context;
  if (m->set == NULL) return gz_fail_null(context);
  const char *wrong = gz_convex_wrong(m->set, &m->start);
  if (wrong == NULL) wrong = gz_convex_wrong(m->set, &m->end);
  if (wrong != NULL) {
    const bool is_pose = gz_convex_wrong(m->set, NULL) == NULL;
    return gz_fail(context, is_pose ? GRAZE_ERROR_NOT_FINITE : GRAZE_ERROR_ARGUMENT, "sweep %llu, %c: %s",
                   (unsigned long long)number, name, wrong);
  }
  for (int k = 0; k < 3; k++) {
    if (!isfinite(m->center[k]))
      return gz_fail(context, GRAZE_ERROR_ARGUMENT, "sweep %llu, %c: its center is not finite",
                     (unsigned long long)number, name);
  }
  graze_status status = check_ends(pair, number, name, m);
  motion_path path;
  if (status != GRAZE_OK || open_path(m, model, &path, &wrong)) return status;
  return gz_fail(context, GRAZE_ERROR_POSE, "sweep %llu, %c: %s", (unsigned long long)number, name, wrong);
}

static graze_status check_all(const sweeping *w, uint64_t count) {
  convex_pair pair = {.context = w->context};
  graze_status status = GRAZE_OK;
  for (uint64_t i = 0; i < count && status == GRAZE_OK; i++) {
    status = check_side(&pair, i, 'a', &w->sweeps[i].a, w->model);
    if (status == GRAZE_OK) status = check_side(&pair, i, 'b', &w->sweeps[i].b, w->model);
  }
  gz_pair_release(&pair);
  return status;
}

graze_status graze_convex_sweeps(graze_context *context, uint64_t count, const graze_convex_sweep *sweeps,
                                 graze_motion_model model, graze_convex_sweep_result *results) {
  if (context == NULL || (count > 0 && (sweeps == NULL || results == NULL))) return gz_fail_null(context);
  if (count > UINT32_MAX) return gz_fail(context, GRAZE_ERROR_LIMIT, "too many sweeps");
  if (model != GRAZE_MOTION_LINEAR && model != GRAZE_MOTION_RIGID)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "the model of motion, %d, is none", model);
  sweeping w = {.context = context, .sweeps = sweeps, .model = model, .results = results};
  atomic_init(&w.refused, false);
  const unsigned saved = gz_fp_enter();
  const graze_status status = check_all(&w, count);
  gz_fp_leave(saved);
  return status == GRAZE_OK ? sweep_all(&w, (uint32_t)count) : status;
}
