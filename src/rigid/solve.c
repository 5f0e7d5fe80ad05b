/* The velocities that obey all rows of an island at once.
 *
 * Written with impulses that are functions of velocities, the step is the problem of finding the least of
 *   1/2 (v - free)^T M (v - free) + the sum of a convex cost of each row's u,
 * whose gradient is M (v - free) less all impulses (A. Castro, F. Permenter and X. Han, "An unconstrained convex
 * formulation of compliant contact", 2022). It is strictly convex as long as the bounds of friction stand still.
 * Newton's method with a search along each step finds it in a few rounds, whatever the ratios of masses and however
 * long the chain of contacts; then the bounds follow the normal impulses, until neither moves. */
#include <string.h>

#include "rigid/factor.h"
#include "rigid/rows.h"
#include "rigid/solver.h"
#include "rigid/vector.h"

enum { MOST_ROUNDS = 24, MOST_BOUNDS = 12, FULL_BOUNDS = 4, MOST_SEARCHES = 30, MOST_CONJUGATE = 300 };

/* Of the kinetic energy, and of that of a fall of a sub-step: what may be left. */
static const double enough = 1e-13;

/* Of what there was when bounds were set. */
static const double inner = 1e-3;

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static double row_speed(const rigid_row *r, const double *v) {
  double u = 0;
  if (r->bodies[0] != ROW_NOBODY) {
    const double *x = v + (size_t)6 * r->bodies[0];
    u += dot3(r->first, x) + dot3(r->first + 3, x + 3);
  }
  if (r->bodies[1] != ROW_NOBODY) {
    const double *x = v + (size_t)6 * r->bodies[1];
    u += dot3(r->second, x) + dot3(r->second + 3, x + 3);
  }
  return u;
}

static double push(const rigid_row *r, double u) {
  const double impulse = r->strength * (r->target - u);
  return impulse > r->least ? fmin(impulse, r->most) : r->least;
}

/* The impulses of a drag at the speeds; its bound stands. */
static void drag(const rigid_row *r, double bound, const double u[2], double impulses[2]) {
  const double speed = r->width == 2 ? sqrt(u[0] * u[0] + u[1] * u[1]) : fabs(u[0]);
  const double factor = r->strength * speed <= bound ? r->strength : bound / speed;
  for (uint32_t i = 0; i < r->width; i++) impulses[i] = -factor * u[i];
}

static void evaluate(const rigid_system *s, const double *v) {
  for (uint32_t i = 0; i < s->row_count; i++) {
    rigid_row *r = &s->rows[i];
    r->speed = r->offset + row_speed(r, v);
    if (r->law == ROW_PUSH) r->impulse = push(r, r->speed);
  }
  for (uint32_t i = 0; i < s->row_count; i++) {
    rigid_row *r = &s->rows[i];
    if (r->law != ROW_DRAG || r->width == 0) continue;
    const double u[2] = {r->speed, r->width == 2 ? r[1].speed : 0};
    double impulses[2] = {0, 0};
    if (r->strength > 0) drag(r, r->bound, u, impulses);
    r->impulse = impulses[0];
    if (r->width == 2) r[1].impulse = impulses[1];
  }
}

/* ---- mass ------------------------------------------------------------------------------------------------------ */

/* y = M x */
static void times_mass(const rigid_system *s, const double *x, double *y) {
  for (uint32_t i = 0; i < s->body_count; i++) {
    const rigid_body *b = s->bodies[i];
    for (int k = 0; k < 3; k++) y[6 * i + (uint32_t)k] = b->mass * x[6 * i + (uint32_t)k];
    turn3(b->world_inertia, x + 6 * (size_t)i + 3, y + 6 * (size_t)i + 3);
  }
}

/* x^T M^-1 x */
static double weigh(const rigid_system *s, const double *x) {
  double sum = 0;
  for (uint32_t i = 0; i < s->body_count; i++) {
    const rigid_body *b = s->bodies[i];
    const double *p = x + (size_t)6 * i;
    double turned[3];
    turn3(b->inverse_inertia, p + 3, turned);
    sum += b->inverse_mass * dot3(p, p) + dot3(p + 3, turned);
  }
  return sum;
}

static double multiply(const double *a, const double *b, uint32_t count) {
  double sum = 0;
  for (uint32_t i = 0; i < count; i++) sum += a[i] * b[i];
  return sum;
}

static void add_impulse(const rigid_row *r, double impulse, double *out) {
  for (int side = 0; side < 2; side++) {
    if (r->bodies[side] == ROW_NOBODY) continue;
    const double *half = side == 0 ? r->first : r->second;
    double *x = out + (size_t)6 * r->bodies[side];
    for (int k = 0; k < 6; k++) x[k] += impulse * half[k];
  }
}

/* M (v - free) less the impulses. */
static void find_gradient(const rigid_system *s, const double *free, const double *v, double *room, double *gradient) {
  for (uint32_t i = 0; i < 6 * s->body_count; i++) room[i] = v[i] - free[i];
  times_mass(s, room, gradient);
  for (uint32_t i = 0; i < s->row_count; i++) {
    if (s->rows[i].impulse != 0) add_impulse(&s->rows[i], -s->rows[i].impulse, gradient);
  }
}

/* ---- the matrix ------------------------------------------------------------------------------------------------ */

/* to += slope a b^T */
static void add_outer(double *to, double slope, const double *a, const double *b) {
  for (int i = 0; i < 6; i++) {
    const double x = slope * a[i];
    for (int j = 0; j < 6; j++) to[6 * i + j] += x * b[j];
  }
}

/* slope y y^T, where y has the halves `first` and `second`, of the bodies of the row. */
static void add_product(const rigid_solver *solver, const rigid_row *r, const double *first, const double *second,
                        double slope) {
  const factor_pattern *p = &solver->pattern;
  const bool has_a = r->bodies[0] != ROW_NOBODY, has_b = r->bodies[1] != ROW_NOBODY;
  const uint32_t a = has_a ? p->place[r->bodies[0]] : 0, b = has_b ? p->place[r->bodies[1]] : 0;
  if (has_a) add_outer(solver->diagonal[a], slope, first, first);
  if (has_b) add_outer(solver->diagonal[b], slope, second, second);
  if (!has_a || !has_b) return;
  if (a > b)
    add_outer(solver->entries[gz_factor_find(p, a, b)], slope, first, second);
  else
    add_outer(solver->entries[gz_factor_find(p, b, a)], slope, second, first);
}

static void add_drag(const rigid_solver *solver, const rigid_row *r) {
  const double bound = r->bound;
  const double u[2] = {r->speed, r->width == 2 ? r[1].speed : 0}, speed = sqrt(u[0] * u[0] + u[1] * u[1]);
  if (r->strength == 0 || bound <= 0) return;
  if (r->strength * speed <= bound) {
    for (uint32_t i = 0; i < r->width; i++) add_product(solver, r, r[i].first, r[i].second, r->strength);
    return;
  }
  if (r->width < 2) return;
  /* What slides is stiff across its way only. */
  double first[6], second[6];
  for (int k = 0; k < 6; k++) {
    first[k] = (u[1] * r[0].first[k] - u[0] * r[1].first[k]) / speed;
    second[k] = (u[1] * r[0].second[k] - u[0] * r[1].second[k]) / speed;
  }
  add_product(solver, r, first, second, bound / speed);
}

static void fill_matrix(const rigid_system *s, const rigid_solver *solver) {
  memset(solver->diagonal, 0, s->body_count * sizeof *solver->diagonal);
  memset(solver->entries, 0, solver->pattern.entries * sizeof *solver->entries);
  for (uint32_t i = 0; i < s->body_count; i++) {
    const rigid_body *b = s->bodies[i];
    double *m = solver->diagonal[solver->pattern.place[i]];
    for (int k = 0; k < 3; k++) {
      m[7 * k] = b->mass;
      for (int l = 0; l < 3; l++) m[6 * (3 + k) + 3 + l] = b->world_inertia[3 * k + l];
    }
  }
  for (uint32_t i = 0; i < s->row_count; i++) {
    const rigid_row *r = &s->rows[i];
    if (r->law == ROW_PUSH && r->impulse > r->least && r->impulse < r->most)
      add_product(solver, r, r->first, r->second, r->strength);
    if (r->law == ROW_DRAG && r->width > 0) add_drag(solver, r);
  }
}

/* The factor, of the matrix with a little more on its diagonal as long as that is needed. */
static bool make_factor(const rigid_system *s, const rigid_solver *solver) {
  static const double more[] = {0, 1e-6, 1e-4, 1e-2, 1};
  for (size_t t = 0; t < sizeof more / sizeof more[0]; t++) {
    memcpy(solver->factor_diagonal, solver->diagonal, s->body_count * sizeof *solver->diagonal);
    memcpy(solver->factor_entries, solver->entries, solver->pattern.entries * sizeof *solver->entries);
    for (uint32_t i = 0; i < s->body_count && more[t] > 0; i++) {
      for (int k = 0; k < 6; k++) solver->factor_diagonal[i][7 * k] *= 1 + more[t];
    }
    if (gz_factor_make(&solver->pattern, solver->factor_diagonal, solver->factor_entries)) return true;
  }
  return false;
}

/* ---- a step of Newton's ---------------------------------------------------------------------------------------- */

/* From bodies to the order of elimination, and back. */
static void permute(const rigid_system *s, const rigid_solver *solver, const double *x, double *y, bool back) {
  for (uint32_t i = 0; i < s->body_count; i++) {
    const size_t a = (size_t)6 * i, b = (size_t)6 * solver->pattern.place[i];
    memcpy(y + (back ? a : b), x + (back ? b : a), 6 * sizeof *y);
  }
}

/* Conjugate gradients, in the order of elimination: H x = b, with the factor as preconditioner. */
static void conjugate(const rigid_system *s, const rigid_solver *solver, double *x, double *residual) {
  const uint32_t count = 6 * s->body_count;
  double *z = solver->conjugate[0], *direction = solver->conjugate[1], *image = solver->conjugate[2];
  memset(x, 0, count * sizeof *x);
  memcpy(z, residual, count * sizeof *z);
  gz_factor_solve(&solver->pattern, solver->factor_diagonal, solver->factor_entries, z);
  memcpy(direction, z, count * sizeof *z);
  double now = multiply(residual, z, count);
  const double first = now;
  for (int i = 0; i < MOST_CONJUGATE && now > 1e-8 * first; i++) {
    gz_factor_multiply(&solver->pattern, solver->diagonal, solver->entries, direction, image);
    const double length = now / multiply(direction, image, count);
    for (uint32_t k = 0; k < count; k++) {
      x[k] += length * direction[k];
      residual[k] -= length * image[k];
    }
    memcpy(z, residual, count * sizeof *z);
    gz_factor_solve(&solver->pattern, solver->factor_diagonal, solver->factor_entries, z);
    const double next = multiply(residual, z, count);
    for (uint32_t k = 0; k < count; k++) direction[k] = z[k] + next / now * direction[k];
    now = next;
  }
}

/* step = -H^-1 gradient */
static bool find_step(const rigid_system *s, const rigid_solver *solver, const double *gradient, double *step) {
  const uint32_t count = 6 * s->body_count;
  fill_matrix(s, solver);
  if (!make_factor(s, solver)) return false;
  permute(s, solver, gradient, solver->permuted[0], false);
  double *x = solver->permuted[0];
  if (solver->pattern.whole) {
    gz_factor_solve(&solver->pattern, solver->factor_diagonal, solver->factor_entries, x);
  } else {
    conjugate(s, solver, solver->permuted[1], x);
    x = solver->permuted[1];
  }
  permute(s, solver, x, step, true);
  for (uint32_t i = 0; i < count; i++) step[i] = -step[i];
  return true;
}

/* ---- how far along it ------------------------------------------------------------------------------------------ */

typedef struct line {
  double constant, slope; /* of the momentum's part */
  const double *speeds;   /* of each row along the step */
} line;

/* The derivative of the cost at a part of the step. */
static double derive(const rigid_system *s, const line *l, double part) {
  double sum = l->constant + part * l->slope;
  for (uint32_t i = 0; i < s->row_count; i++) {
    const rigid_row *r = &s->rows[i];
    if (r->law == ROW_PUSH) {
      sum -= push(r, r->speed + part * l->speeds[i]) * l->speeds[i];
    } else if (r->width > 0 && r->strength > 0) {
      const double along[2] = {l->speeds[i], r->width == 2 ? l->speeds[i + 1] : 0};
      const double u[2] = {r->speed + part * along[0], r->width == 2 ? r[1].speed + part * along[1] : 0};
      double impulses[2] = {0, 0};
      drag(r, r->bound, u, impulses);
      sum -= impulses[0] * along[0] + impulses[1] * along[1];
    }
  }
  return sum;
}

/* Where the derivative, which rises, is about 0. */
static double search(const rigid_system *s, const line *l, double at_start) {
  double low = 0, high = 1, at_low = at_start, at_high = derive(s, l, 1);
  if (at_high <= -0.1 * at_start) return 1;
  for (int i = 0; i < MOST_SEARCHES; i++) {
    double part = low + (high - low) * (at_low / (at_low - at_high));
    if (i % 3 == 2) part = 0.5 * (low + high);
    const double here = derive(s, l, part);
    if (fabs(here) <= -1e-3 * at_start) return part;
    if (here < 0) {
      low = part;
      at_low = here;
    } else {
      high = part;
      at_high = here;
    }
  }
  return low > 0 ? low : high;
}

static double find_part(const rigid_system *s, const rigid_solver *solver, const double *free, const double *v,
                        const double *step, double at_start) {
  const uint32_t count = 6 * s->body_count;
  line l = {.speeds = solver->row_speeds};
  for (uint32_t i = 0; i < s->row_count; i++) solver->row_speeds[i] = row_speed(&s->rows[i], step);
  times_mass(s, step, solver->room);
  l.slope = multiply(step, solver->room, count);
  l.constant = multiply(v, solver->room, count) - multiply(free, solver->room, count);
  return search(s, &l, at_start);
}

/* ---- the rounds ------------------------------------------------------------------------------------------------ */

/* What is little: energies of the free motion, and of what it is from the start. */
static double find_scale(const rigid_system *s, const double *free, const double *v, double *room, double *image) {
  double sum = 0;
  times_mass(s, free, image);
  sum += multiply(free, image, 6 * s->body_count);
  for (uint32_t i = 0; i < 6 * s->body_count; i++) room[i] = free[i] - v[i];
  times_mass(s, room, image);
  return sum + multiply(room, image, 6 * s->body_count);
}

/* Bounds of friction from the normal impulses. `part` of the way to them. */
static void set_bounds(const rigid_system *s, double part) {
  for (uint32_t i = 0; i < s->row_count; i++) {
    rigid_row *r = &s->rows[i];
    if (r->law != ROW_DRAG || r->width == 0) continue;
    r->bound += part * (r->limit * s->rows[r->ruler].impulse - r->bound);
  }
}

static double measure(const rigid_system *s, const double *free, const double *v, const rigid_solver *solver) {
  evaluate(s, v);
  find_gradient(s, free, v, solver->room, solver->gradient);
  return weigh(s, solver->gradient);
}

/* One round at the gradient that was measured. False: there is no better place. */
static bool improve(const rigid_system *s, const double *free, double *v, const rigid_solver *solver) {
  const uint32_t count = 6 * s->body_count;
  if (!find_step(s, solver, solver->gradient, solver->step)) return false;
  const double at_start = multiply(solver->gradient, solver->step, count);
  if (!(at_start < 0)) return false;
  const double part = find_part(s, solver, free, v, solver->step, at_start);
  for (uint32_t i = 0; i < count; i++) v[i] += part * solver->step[i];
  return true;
}

/* Rounds as long as the bounds stand, until little is left of what there was, and then with new bounds. */
static void find_least(const rigid_system *s, const double *free, double *v, const rigid_solver *solver) {
  const double little = enough * find_scale(s, free, v, solver->room, solver->gradient);
  double left = measure(s, free, v, solver), first = left;
  int bounds = 0;
  for (int round = 0; round < MOST_ROUNDS; round++) {
    if (left <= little || left <= inner * first) {
      if (bounds++ == MOST_BOUNDS) return;
      set_bounds(s, bounds <= FULL_BOUNDS ? 1 : 0.5);
      first = left = measure(s, free, v, solver);
      if (left <= little) return;
    }
    if (!improve(s, free, v, solver)) return;
    left = measure(s, free, v, solver);
  }
}

/* The velocities that the impulses make of the free ones, so that momentum is kept to the last bit or two. */
static void apply_impulses(const rigid_system *s, const double *free, double *v, double *room) {
  memset(room, 0, 6 * s->body_count * sizeof *room);
  for (uint32_t i = 0; i < s->row_count; i++) {
    if (s->rows[i].impulse != 0) add_impulse(&s->rows[i], s->rows[i].impulse, room);
  }
  for (uint32_t i = 0; i < s->body_count; i++) {
    const rigid_body *b = s->bodies[i];
    const double *x = room + (size_t)6 * i;
    double turned[3];
    turn3(b->inverse_inertia, x + 3, turned);
    for (uint32_t k = 0; k < 3; k++) {
      v[6 * i + k] = free[6 * i + k] + b->inverse_mass * x[k];
      v[6 * i + 3 + k] = free[6 * i + 3 + k] + turned[k];
    }
  }
}

/* Whether something that no force moves takes momentum: then nothing has to be kept. */
static bool is_held(const rigid_system *s) {
  for (uint32_t i = 0; i < s->row_count; i++) {
    if (s->rows[i].bodies[0] == ROW_NOBODY || s->rows[i].bodies[1] == ROW_NOBODY) return true;
  }
  return false;
}

void gz_rigid_solve(rigid_system *s, const double *free, double *v, const rigid_solver *solver) {
  set_bounds(s, 1);
  find_least(s, free, v, solver);
  if (!is_held(s)) apply_impulses(s, free, v, solver->room);
}
