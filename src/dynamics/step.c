/* Steps: pass after pass, each from one set of arrays into the other.
 *
 * With the leapfrog the two half kicks between two drifts are one pass, added one after the other so that a run may be
 * split anywhere: at its end there is one half kick, and the accelerations wait in the other arrays for the next run.
 */
#include <math.h>
#include <string.h>

#include "dynamics/pass.h"
#include "dynamics/record.h"

static void run_blocks(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  const pass *p = argument;
  for (uint32_t block = begin; block < end; block++) CPU_KERNEL(gz_dynamics_pass)(p, block, &p->world->workers[index]);
}

static bool row_is_finite(const row x) {
  return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

/* Names the ball of the lowest number. */
static graze_status fail_not_finite(const graze_world *world) {
  for (uint32_t n = 0; n < world->count; n++) {
    uint32_t p = world->place[n];
    const bool good = row_is_finite(world->now[p].position) && row_is_finite(world->now[p].velocity) &&
                      row_is_finite(world->now[p].spin) && row_is_finite(world->next[p].velocity) &&
                      row_is_finite(world->next[p].spin);
    if (good) continue;
    return gz_fail(world->context, GRAZE_ERROR_NOT_FINITE, "%s: a number is no longer finite in step %llu",
                   gz_world_ball_name(world, n).text, (unsigned long long)world->step + 1);
  }
  return gz_fail(world->context, GRAZE_ERROR_NOT_FINITE, "a number is no longer finite in step %llu",
                 (unsigned long long)world->step + 1);
}

static void swap_balls(graze_world *world) {
  ball_rows *rows = world->now;
  const buffer memory = world->now_memory;
  world->now = world->next;
  world->now_memory = world->next_memory;
  world->next = rows;
  world->next_memory = memory;
}

/* What all workers found; the events of all are the first one's. */
static pass_result gather(graze_world *world) {
  pass_result all = {.finite = true};
  gz_array *events = &world->workers[0].result.events;
  for (uint32_t i = 0; i < world->worker_count; i++) {
    worker *w = &world->workers[i];
    pass_result *r = &w->result;
    all.speed2 = fmax(all.speed2, r->speed2);
    all.farthest = fmax(all.farthest, r->farthest);
    all.finite &= r->finite;
    all.no_memory |= r->no_memory || w->no_memory;
    if (i == 0 || r->events.count == 0) continue;
    if (array_reserve(world->context, events, r->events.count, sizeof(pass_event))) {
      memcpy(WORLD_AT(*events, pass_event, events->count), r->events.data, r->events.count * sizeof(pass_event));
      events->count += r->events.count;
    } else {
      all.no_memory = true;
    }
    r->events.count = 0;
  }
  return all;
}

/* The farthest that somebody may have gone in a drift: a place is rounded by half a unit in the last of its 24 bits on
 * each axis. */
static void add_way(graze_world *world, double speed2, double farthest, double dt) {
  const double rounded = world->def.precision == GRAZE_FLOAT ? farthest * 0x1p-23 + 0x1p-125 : 0;
  world->close.way += (sqrt(speed2) * dt + rounded) * (1 + 1e-9);
}

/* Runs a pass of all balls; after a PASS_STEP or PASS_EULER `now` is the next state. */
static graze_status run_pass(graze_world *world, pass *p, pass_mode mode) {
  p->mode = mode;
  for (uint32_t i = 0; i < world->worker_count; i++) {
    worker *w = &world->workers[i];
    w->result = (pass_result){.finite = true, .events = w->result.events};
    w->no_memory = false;
  }
  gz_parallel_for(world->context, world_blocks(world), 1, run_blocks, p);
  const pass_result all = gather(world);
  if (all.no_memory) return gz_fail_memory(world->context, sizeof(graze_contact_event));
  if (world->def.events && mode != PASS_LOOK && world->worker_count > 0 &&
      !gz_events_add(world, p, &world->workers[0].result.events))
    return gz_fail_memory(world->context, sizeof(graze_contact_event));
  if (mode == PASS_STEP || mode == PASS_EULER) {
    swap_balls(world);
    add_way(world, all.speed2, all.farthest, p->dt);
  }
  return all.finite ? GRAZE_OK : fail_not_finite(world);
}

/* ---- between passes -------------------------------------------------------------------------------------------- */

/* (1, w dt/2) q, made a unit quaternion again. */
static void turn(double q[4], const double spin[3], double dt) {
  double h = 0.5 * dt, x = h * spin[0], y = h * spin[1], z = h * spin[2];
  double t[4] = {q[0] - (x * q[1] + y * q[2] + z * q[3]), q[1] + (x * q[0] + (y * q[3] - z * q[2])),
                 q[2] + (y * q[0] + (z * q[1] - x * q[3])), q[3] + (z * q[0] + (x * q[2] - y * q[1]))};
  double length = sqrt(t[0] * t[0] + t[1] * t[1] + (t[2] * t[2] + t[3] * t[3]));
  for (int k = 0; k < 4; k++) q[k] = t[k] / length;
}

/* Bodies turn with the spin that they drift with. */
static void turn_bodies(graze_world *world, double dt) {
  for (size_t i = 0; i < world->bodies.count; i++) {
    dem_body *b = WORLD_AT(world->bodies, dem_body, i);
    if (b->type == GRAZE_BODY_STATIC) continue;
    const bool is_ball = b->surface == NO_SURFACE;
    turn(b->orientation,
         is_ball ? world->now[world->place[b->number]].spin : WORLD_AT(world->surfaces, dem_surface, b->surface)->spin,
         dt);
  }
  gz_surfaces_move(world, dt);
}

/* The first half kick and the drift, after which accelerations are no more. */
static graze_status begin_leapfrog(graze_world *world, const pass *p) {
  bool finite = true;
  double h = 0.5 * p->dt, speed2 = 0, farthest = 0;
  for (uint32_t i = 0; i < world->count; i++) {
    double *at = world->now[i].position, *v = world->now[i].velocity, *w = world->now[i].spin;
    for (int k = 0; k < 3; k++) {
      double period = p->period[k];
      v[k] = stored(world, v[k] + h * world->next[i].velocity[k]);
      w[k] = stored(world, w[k] + h * world->next[i].spin[k]);
      double x = at[k] + p->dt * v[k];
      if (period != 0) x = x < world->def.bounds.min[k] ? x + period : x >= world->def.bounds.max[k] ? x - period : x;
      at[k] = stored(world, x);
      farthest = fmax(farthest, fabs(x));
      finite &= isfinite(at[k]) && isfinite(w[k]);
    }
    speed2 = fmax(speed2, (v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]);
  }
  world->is_accelerated = false;
  add_way(world, speed2, farthest, p->dt);
  turn_bodies(world, p->dt);
  return finite ? GRAZE_OK : fail_not_finite(world);
}

/* The last half kick. */
static void end_leapfrog(graze_world *world, double dt) {
  double h = 0.5 * dt;
  for (uint32_t i = 0; i < world->count; i++) {
    for (int k = 0; k < 3; k++) {
      double *v = world->now[i].velocity, *w = world->now[i].spin;
      v[k] = stored(world, v[k] + h * world->next[i].velocity[k]);
      w[k] = stored(world, w[k] + h * world->next[i].spin[k]);
    }
  }
}

/* ---- runs ------------------------------------------------------------------------------------------------------ */

static graze_status step_euler(graze_world *world, pass *p) {
  graze_status status = gz_list_update(world);
  if (status == GRAZE_OK) status = run_pass(world, p, PASS_EULER);
  if (status != GRAZE_OK) return status;
  turn_bodies(world, p->dt);
  gz_bounds_mark(world);
  return GRAZE_OK;
}

/* Accelerations at the present state, as the run before would have left them. */
static graze_status look_first(graze_world *world, pass *p) {
  if (world->is_accelerated) return GRAZE_OK;
  graze_status status = gz_list_update(world);
  if (status == GRAZE_OK) status = run_pass(world, p, PASS_LOOK);
  world->is_accelerated = status == GRAZE_OK;
  return status;
}

/* Forces after a drift; then the next drift, or the end. */
static graze_status step_leapfrog(graze_world *world, pass *p, bool last) {
  graze_status status = gz_list_update(world);
  gz_bounds_mark(world); /* before the pass drifts on */
  if (status == GRAZE_OK) status = run_pass(world, p, last ? PASS_LAST : PASS_STEP);
  if (status != GRAZE_OK) return status;
  world->is_accelerated = last;
  if (last)
    end_leapfrog(world, p->dt);
  else
    turn_bodies(world, p->dt);
  return GRAZE_OK;
}

static graze_status run(graze_world *world, pass *p, uint64_t count, graze_progress_function progress, void *user) {
  const bool leapfrog = world->def.integrator == GRAZE_LEAPFROG;
  uint64_t begun = 0;
  if (progress != NULL && !progress(user, 0, count)) return GRAZE_CANCELLED;
  gz_bounds_mark(world);
  graze_status status = gz_world_step_engine(world, p->dt, count, progress, user, &begun);
  if (begun == count) return status;
  world->engine_run = 0;
  if (status == GRAZE_OK && leapfrog) status = look_first(world, p);
  if (status == GRAZE_OK && leapfrog) status = begin_leapfrog(world, p);
  for (uint64_t i = begun; status == GRAZE_OK && i < count; i++) {
    bool go_on = progress == NULL || i == begun || progress(user, i, count), last = i + 1 == count || !go_on;
    if (!leapfrog && !go_on) return GRAZE_CANCELLED;
    p->step = world->step + leapfrog;
    status = leapfrog ? step_leapfrog(world, p, last) : step_euler(world, p);
    if (status != GRAZE_OK) break;
    world->step++;
    if (!go_on) return GRAZE_CANCELLED;
  }
  return status;
}

/* Step by step, since the record wants the state after each. */
static graze_status run_recorded(graze_world *world, pass *p, uint64_t count, graze_progress_function progress,
                                 void *user) {
  graze_status status = GRAZE_OK;
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) {
    if (progress != NULL && !progress(user, i, count)) status = GRAZE_CANCELLED;
    if (status == GRAZE_OK) status = run(world, p, 1, NULL, NULL);
    if (status == GRAZE_OK) gz_record_step(world);
  }
  gz_record_flush(world);
  return status;
}

static graze_status check_step(graze_world *world, double dt) {
  graze_step_limits limits;
  if (world->is_broken)
    return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "an earlier run failed: the world must be restored");
  if (!(isfinite(dt) && dt > 0))
    return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "dt is %.17g: it must be finite and above 0", dt);
  graze_status status = graze_world_get_limits(world, &limits);
  if (status == GRAZE_OK) status = gz_list_check(world);
  if (status == GRAZE_OK) status = gz_surfaces_check(world);
  if (status != GRAZE_OK || dt <= limits.longest) return status;
  return gz_fail(world->context, GRAZE_ERROR_ARGUMENT,
                 "dt is %.9g: the stiffest contact allows at most %.9g, and asks for a tenth of it or less", dt,
                 limits.longest);
}

graze_status graze_world_step(graze_world *world, double dt, uint64_t count, graze_progress_function progress,
                              void *user) {
  if (world == NULL) return gz_fail_null(NULL);
  graze_status status = check_step(world, dt);
  if (status != GRAZE_OK) return status;
  world->events.count = 0;
  if (count == 0) return GRAZE_OK;
  pass p = {.world = world, .dt = dt};
  for (int k = 0; k < 3; k++) p.period[k] = world_period(world, k);
  if (dt != world->dt) { /* so that time is not a sum of as many roundings as there are steps */
    world->start_time = graze_world_get_time(world);
    world->start_step = world->step;
    world->dt = dt;
  }
  unsigned saved = gz_fp_enter();
  status = (world->recorder != NULL ? run_recorded : run)(world, &p, count, progress, user);
  gz_fp_leave(saved);
  world->is_broken = status != GRAZE_OK && status != GRAZE_CANCELLED;
  return status;
}
