/* Steps: pass after pass, each from one set of arrays into the other.
 *
 * With the leapfrog the two half kicks between two drifts are one pass, added one after the other so that a run may be
 * split anywhere: at its end there is one half kick, and the accelerations wait in the other arrays for the next run.
 */
#include <math.h>
#include <string.h>

#include "dynamics/pass.h"
#include "dynamics/record.h"

typedef struct loop {
  pass p;
  pieces pieces;
  pass_result results[PARALLEL_PIECES];
} loop;

static void run_piece(void *argument, uint32_t index) {
  loop *l = argument;
  pass_result *result = &l->results[index];
  result->moved2 = result->speed2 = 0;
  result->finite = true;
  CPU_KERNEL(gz_dynamics_pass)
  (&l->p, (uint32_t)pieces_begin(&l->pieces, index), (uint32_t)pieces_end(&l->pieces, index), result);
}

static bool row_is_finite(const row x) {
  return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

/* Names the ball of the lowest number. */
static graze_status fail_not_finite(const graze_world *world) {
  for (uint32_t n = 0; n < world->count; n++) {
    uint32_t p = world->place[n];
    const bool good = row_is_finite(world->now.position[p]) && row_is_finite(world->now.velocity[p]) &&
                      row_is_finite(world->now.spin[p]) && row_is_finite(world->next.velocity[p]) &&
                      row_is_finite(world->next.spin[p]);
    if (good) continue;
    return gz_fail(world->context, GRAZE_ERROR_NOT_FINITE, "%s: a number is no longer finite in step %llu",
                   gz_world_ball_name(world, n).text, (unsigned long long)world->step + 1);
  }
  return gz_fail(world->context, GRAZE_ERROR_NOT_FINITE, "a number is no longer finite in step %llu",
                 (unsigned long long)world->step + 1);
}

static void swap_rows(row **a, row **b) {
  row *t = *a;
  *a = *b;
  *b = t;
}

/* Kept for about eight passes, as fast as balls are now: the farther it reaches, the more neighbours are looked at that
 * do not touch. */
static closeness closeness_now(graze_world *world, pass_mode mode) {
  if (world->remembers || mode == PASS_LOOK) return CLOSE_NOT_KEPT;
  if (world->is_close && world->close_way <= 0.49 * world->close_reach) return CLOSE_KEPT;
  world->is_close = true;
  world->close_way = 0;
  world->close_reach = fmin(fmax(16 * world->fastest_way, 0.1 * world->skin), 0.6 * world->skin);
  return CLOSE_TO_BE_MADE;
}

/* Runs a pass of all balls; after a PASS_STEP or PASS_EULER `now` is the next state. */
static graze_status run_pass(graze_world *world, loop *l, pass_mode mode) {
  double moved2 = 0, speed2 = 0;
  bool finite = true;
  l->p.mode = mode;
  l->p.close = closeness_now(world, mode);
  l->pieces = pieces_of(world->count, 512);
  const size_t most = world->list.most_facets, bytes = l->pieces.number * most * sizeof(facet_contact);
  if (!gz_buffer_reserve(world->context, &world->scratch[5], bytes, 0)) return gz_fail_memory(world->context, bytes);
  for (uint32_t i = 0; i < l->pieces.number; i++)
    l->results[i].found = most > 0 ? (facet_contact *)world->scratch[5].data + i * most : NULL;
  gz_parallel_each(world->context, l->pieces.number, run_piece, l);
  for (uint32_t i = 0; i < l->pieces.number; i++) {
    moved2 = fmax(moved2, l->results[i].moved2);
    speed2 = fmax(speed2, l->results[i].speed2);
    finite &= l->results[i].finite;
  }
  if (world->def.events && mode != PASS_LOOK && !gz_events_add(world, &l->p, l->results, l->pieces.number))
    return gz_fail_memory(world->context, sizeof(graze_contact_event));
  if (mode == PASS_STEP || mode == PASS_EULER) {
    swap_rows(&world->now.position, &world->next.position);
    swap_rows(&world->now.velocity, &world->next.velocity);
    swap_rows(&world->now.spin, &world->next.spin);
    world->moved2 = moved2;
    world->fastest_way = sqrt(speed2) * l->p.dt * (1 + 1e-9);
    world->close_way += world->fastest_way;
  }
  return finite ? GRAZE_OK : fail_not_finite(world);
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
         is_ball ? world->now.spin[world->place[b->number]] : WORLD_AT(world->surfaces, dem_surface, b->surface)->spin,
         dt);
  }
  gz_surfaces_move(world, dt);
}

/* The first half kick and the drift. */
static graze_status begin_leapfrog(graze_world *world, const pass *p) {
  bool finite = true;
  world->is_close = false;
  double h = 0.5 * p->dt, moved2 = 0;
  for (uint32_t i = 0; i < world->count; i++) {
    double way2 = 0, *at = world->now.position[i], *v = world->now.velocity[i], *w = world->now.spin[i];
    for (int k = 0; k < 3; k++) {
      double period = p->period[k];
      v[k] += h * world->next.velocity[i][k];
      w[k] += h * world->next.spin[i][k];
      double x = at[k] + p->dt * v[k];
      if (period != 0) x = x < world->def.bounds.min[k] ? x + period : x >= world->def.bounds.max[k] ? x - period : x;
      double way = nearest_image(x - world->origin[i][k], period);
      way2 += way * way;
      at[k] = x;
      finite &= isfinite(x) && isfinite(w[k]);
    }
    moved2 = fmax(moved2, way2);
  }
  world->moved2 = moved2;
  turn_bodies(world, p->dt);
  return finite ? GRAZE_OK : fail_not_finite(world);
}

/* The last half kick. */
static void end_leapfrog(graze_world *world, double dt) {
  double h = 0.5 * dt;
  for (uint32_t i = 0; i < world->count; i++) {
    for (int k = 0; k < 3; k++) {
      world->now.velocity[i][k] += h * world->next.velocity[i][k];
      world->now.spin[i][k] += h * world->next.spin[i][k];
    }
  }
}

/* ---- runs ------------------------------------------------------------------------------------------------------ */

static graze_status step_euler(graze_world *world, loop *l) {
  graze_status status = gz_list_update(world);
  if (status == GRAZE_OK) status = run_pass(world, l, PASS_EULER);
  if (status != GRAZE_OK) return status;
  turn_bodies(world, l->p.dt);
  gz_bounds_mark(world);
  return GRAZE_OK;
}

/* Accelerations at the present state, as the run before would have left them. */
static graze_status look_first(graze_world *world, loop *l) {
  if (world->is_accelerated) return GRAZE_OK;
  graze_status status = gz_list_update(world);
  if (status == GRAZE_OK) status = run_pass(world, l, PASS_LOOK);
  world->is_accelerated = status == GRAZE_OK;
  return status;
}

/* Forces after a drift; then the next drift, or the end. */
static graze_status step_leapfrog(graze_world *world, loop *l, bool last) {
  graze_status status = gz_list_update(world);
  gz_bounds_mark(world); /* before the pass drifts on */
  if (status == GRAZE_OK) status = run_pass(world, l, last ? PASS_LAST : PASS_STEP);
  if (status != GRAZE_OK) return status;
  if (last)
    end_leapfrog(world, l->p.dt);
  else
    turn_bodies(world, l->p.dt);
  return GRAZE_OK;
}

static graze_status run(graze_world *world, loop *l, uint64_t count, graze_progress_function progress, void *user) {
  const bool leapfrog = world->def.integrator == GRAZE_LEAPFROG;
  uint64_t begun = 0;
  if (progress != NULL && !progress(user, 0, count)) return GRAZE_CANCELLED;
  gz_bounds_mark(world);
  graze_status status = gz_world_step_engine(world, l->p.dt, count, progress, user, &begun);
  if (begun == count) return status;
  world->engine_run = 0;
  if (status == GRAZE_OK && leapfrog) status = look_first(world, l);
  if (status == GRAZE_OK && leapfrog) status = begin_leapfrog(world, &l->p);
  for (uint64_t i = begun; status == GRAZE_OK && i < count; i++) {
    bool go_on = progress == NULL || i == begun || progress(user, i, count), last = i + 1 == count || !go_on;
    if (!leapfrog && !go_on) return GRAZE_CANCELLED;
    l->p.step = world->step + leapfrog;
    status = leapfrog ? step_leapfrog(world, l, last) : step_euler(world, l);
    if (status != GRAZE_OK) break;
    world->step++;
    if (!go_on) return GRAZE_CANCELLED;
  }
  return status;
}

/* Step by step, since the record wants the state after each. */
static graze_status run_recorded(graze_world *world, loop *l, uint64_t count, graze_progress_function progress,
                                 void *user) {
  graze_status status = GRAZE_OK;
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) {
    if (progress != NULL && !progress(user, i, count)) status = GRAZE_CANCELLED;
    if (status == GRAZE_OK) status = run(world, l, 1, NULL, NULL);
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
  if (!gz_buffer_reserve(world->context, &world->scratch[3], sizeof(loop), 0))
    return gz_fail_memory(world->context, sizeof(loop));
  loop *l = world->scratch[3].data;
  memset(l, 0, sizeof *l);
  l->p = (pass){.world = world, .dt = dt};
  for (int k = 0; k < 3; k++) l->p.period[k] = world_period(world, k);
  if (dt != world->dt) { /* so that time is not a sum of as many roundings as there are steps */
    world->start_time = graze_world_get_time(world);
    world->start_step = world->step;
    world->dt = dt;
  }
  unsigned saved = gz_fp_enter();
  status = (world->recorder != NULL ? run_recorded : run)(world, l, count, progress, user);
  gz_fp_leave(saved);
  world->is_broken = status != GRAZE_OK && status != GRAZE_CANCELLED;
  return status;
}
