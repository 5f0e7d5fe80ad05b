/* What shapes meet first that move straight through a world of rigid bodies.
 *
 * Every part of a body, and every triangle of a mesh, whose box the motion meets is a candidate. A plane across n keeps
 * two convex sets apart as long as the gap of their supports along n, which falls at the rate way . n, is above the
 * bound of its rounding: so a plane found at one time is a proof for an interval of times. From its end on, the nearest
 * points there (graze_convex_batch) give the next plane (conservative advancement: Mirtich 1996; Zhang, Lee and Kim
 * 2006, with planes in place of speeds). Where planes end, a little later is tried until the exact test says that the
 * two meet. All candidates of all casts are asked in one batch, round by round. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rigid/check.h"
#include "rigid/vector.h"

/* Of coordinates and ways, more than what sums of products of three round by. */
static const double rounding = 0x1p-47;

/* How far ahead it is tried first whether two meet, and how far at most before they are sought anew. */
static const double first_try = 0x1p-44, last_try = 0x1p-20;

enum { MOST_ROUNDS = 400, BOX_CORNERS = 8 };

/* SEEK: a plane at `time`. STRIKE: whether they meet at `time` + `ahead`. */
typedef enum sweep_state { SWEEP_SEEK, SWEEP_STRIKE, SWEEP_DONE } sweep_state;

/* A shape that is cast, where it begins. */
typedef struct caster {
  graze_convex set;
  graze_pose pose;
  double corners[BOX_CORNERS][3], way[3];
  graze_box start, box; /* where it begins; of the whole motion */
  double largest;       /* coordinate of it and of the way */
  double best;          /* the least time at which something is met, proved */
} caster;

typedef struct candidate {
  uint32_t cast, body, part, triangle;
  graze_convex inner, outer; /* within and around what may be met: the same, unless it is a cylinder */
  graze_pose pose;
  double corners[9]; /* of a triangle */
  double largest;    /* coordinate of the outer set at its pose */
  sweep_state state;
  double time, ahead, lower, upper, point[3], normal[3];
} candidate;

typedef struct sweeping {
  graze_rigid *world;
  const graze_rigid_shape_cast *casts;
  uint64_t count;
  caster *casters;
  graze_box *boxes;                       /* of each body */
  check_form *forms;                      /* likewise; zero: none was needed yet */
  gz_array candidates;                    /* candidate */
  gz_array pairs, poses, results, active; /* graze_convex_pair, graze_pose, graze_convex_result, uint32_t */
} sweeping;

/* ---- shapes that are cast ---------------------------------------------------------------------------------------- */

static graze_status check_cast(graze_context *context, uint64_t number, const graze_rigid_shape_cast *cast) {
  char who[32];
  snprintf(who, sizeof who, "cast %llu", (unsigned long long)number);
  const graze_rigid_part *p = &cast->shape;
  graze_rigid_body_def def = graze_default_rigid_body_def();
  for (int k = 0; k < 3; k++) {
    if (!isfinite(cast->way[k]))
      return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "%s: way %c is %g", who, "xyz"[k], cast -> way[k]);
  }
  if (p->shape == GRAZE_RIGID_CYLINDER)
    return gz_fail(context, GRAZE_ERROR_UNSUPPORTED, "%s: a cylinder cannot be cast", who);
  def.parts = p;
  def.part_count = 1;
  def.shape = GRAZE_RIGID_COMPOUND;
  def.density = 1;
  return gz_rigid_check_parts(context, who, &def);
}

static double largest_of(const graze_box *box) {
  double most = 0;
  for (int k = 0; k < 3; k++) most = fmax(most, fmax(fabs(box->min[k]), fabs(box->max[k])));
  return most;
}

static void make_caster(const graze_rigid_shape_cast *cast, caster *c) {
  const graze_rigid_part *p = &cast->shape;
  double q[4], length = 0;
  *c = (caster){.best = (double)INFINITY};
  for (int k = 0; k < 4; k++) length += p->orientation[k] * p->orientation[k];
  for (int k = 0; k < 4; k++) q[k] = p->orientation[k] / sqrt(length);
  c->pose = graze_pose_from_quaternion(q, p->place);
  memcpy(c->way, cast->way, sizeof c->way);
  c->set = (graze_convex){.points = c->corners[0], .count = 1};
  if (p->shape == GRAZE_RIGID_SPHERE || p->shape == GRAZE_RIGID_CAPSULE) c->set.radius = p->radius;
  if (p->shape == GRAZE_RIGID_CAPSULE) {
    c->set.count = 2;
    c->corners[0][2] = -0.5 * p->length;
    c->corners[1][2] = 0.5 * p->length;
  }
  if (p->shape == GRAZE_RIGID_BOX) {
    c->set.count = BOX_CORNERS;
    for (int i = 0; i < 3 * BOX_CORNERS; i++)
      c->corners[i / 3][i % 3] = (i / 3 >> i % 3 & 1 ? 0.5 : -0.5) * p->edges[i % 3];
  }
  if (p->shape == GRAZE_RIGID_HULL) c->set = (graze_convex){.points = p->points, .count = p->point_count};
  gz_check_find_box(&c->set, &c->pose, 0, &c->start);
  c->box = c->start;
  for (int k = 0; k < 3; k++) {
    c->box.min[k] += fmin(c->way[k], 0);
    c->box.max[k] += fmax(c->way[k], 0);
  }
  c->largest = largest_of(&c->box) + length3(c->way);
}

/* Where it is after a part of the way. */
static graze_pose pose_at(const caster *c, double time) {
  graze_pose pose = c->pose;
  for (int k = 0; k < 3; k++) pose.m[4 * k + 3] += time * c->way[k];
  return pose;
}

/* ---- planes ------------------------------------------------------------------------------------------------------ */

/* The most of sign n . x over the posed points. */
static double find_support(const graze_convex *set, const graze_pose *pose, const double n[3], double sign) {
  double most = -(double)INFINITY;
  for (uint32_t i = 0; i < set->count; i++) {
    double at[3];
    graze_pose_apply(pose, set->points + 3 * (size_t)i, at);
    most = fmax(most, sign * dot3(n, at));
  }
  return most + set->radius * length3(n) * (1 + rounding);
}

/* The times, from low to high, for which a plane across n is between the two: proved. False: for none. */
static bool find_free(const caster *c, const candidate *x, const double n[3], double *low, double *high) {
  const double error = rounding * (c->largest + x->largest);
  const double gap = -find_support(&x->outer, &x->pose, n, -1) - find_support(&c->set, &c->pose, n, 1) - error;
  const double rate = dot3(c->way, n);
  *low = 0;
  *high = (double)INFINITY;
  if (rate == 0) return gap > 0;
  const double root = gap / rate;
  if (rate > 0)
    *high = root - 0x1p-50 * fabs(root);
  else
    *low = root + 0x1p-50 * fabs(root);
  return *low < *high;
}

/* ---- candidates -------------------------------------------------------------------------------------------------- */

/* Whether the box that moves may meet another: the times at which they do on each axis have one in common. */
static bool may_meet(const caster *c, const graze_box *box) {
  const double more = rounding * (c->largest + largest_of(box));
  double low = 0, high = 1;
  for (int k = 0; k < 3; k++) {
    const double first = box->min[k] - c->start.max[k] - more, last = box->max[k] - c->start.min[k] + more;
    if (c->way[k] == 0 && (first > 0 || last < 0)) return false;
    if (c->way[k] == 0) continue;
    const double t = first / c->way[k], u = last / c->way[k];
    low = fmax(low, fmin(t, u) * (1 - rounding));
    high = fmin(high, fmax(t, u) * (1 + rounding));
  }
  return low <= high;
}

static bool add_candidate(sweeping *s, candidate *x) {
  const caster *c = &s->casters[x->cast];
  graze_box box;
  gz_check_find_box(&x->outer, &x->pose, 0, &box);
  if (!graze_boxes_meet(&box, &c->box) || !may_meet(c, &box)) return true;
  if (!array_reserve(s->world->context, &s->candidates, 1, sizeof *x)) return false;
  x->largest = largest_of(&box);
  *RIGID_AT(s->candidates, candidate, s->candidates.count++) = *x;
  return true;
}

static bool add_mesh(sweeping *s, candidate *x, const rigid_body *b) {
  for (uint32_t t = 0; t < b->surface->face_count; t++) {
    const caster *c = &s->casters[x->cast];
    graze_box box = graze_box_empty();
    for (int i = 0; i < 3; i++) {
      double at[3];
      memcpy(x->corners + 3 * i, b->surface->corners[b->surface->faces[t].corners[i]], sizeof at);
      graze_pose_apply(&x->pose, x->corners + 3 * i, at);
      graze_box_add_point(&box, at);
    }
    x->triangle = t;
    x->inner = x->outer = (graze_convex){.points = x->corners, .count = 3};
    if (graze_boxes_meet(&box, &c->box) && !add_candidate(s, x)) return false;
  }
  return true;
}

static bool add_body(sweeping *s, uint32_t cast, uint32_t number) {
  const rigid_body *b = rigid_body_at(s->world, number);
  check_form *form = &s->forms[number];
  candidate x = {.cast = cast, .body = number, .upper = (double)INFINITY};
  x.pose = graze_pose_from_quaternion(b->orientation, b->position);
  if (b->shape == GRAZE_RIGID_MESH) return add_mesh(s, &x, b);
  if (form->outer.count == 0 && !gz_check_make_form(s->world->context, b, CHECK_COARSE, form)) return false;
  for (uint32_t i = 0; i < form->part_count; i++) {
    x.part = i;
    x.inner = form->parts[i].inner;
    x.outer = form->parts[i].outer;
    x.pose = gz_check_pose_part(b, i);
    if (!add_candidate(s, &x)) return false;
  }
  x.inner = form->inner;
  x.outer = form->outer;
  return form->part_count > 0 || add_candidate(s, &x);
}

/* A cylinder is more than the prism that contacts take it for. */
static void find_body_box(const rigid_body *b, graze_box *box) {
  gz_rigid_find_box(b, box);
  const double more = 0.02 * b->reach + rounding * largest_of(box);
  for (int k = 0; k < 3; k++) {
    box->min[k] -= more;
    box->max[k] += more;
  }
}

static bool list_candidates(sweeping *s) {
  const uint32_t bodies = (uint32_t)s->world->bodies.count;
  for (uint32_t k = 0; k < bodies; k++) find_body_box(rigid_body_at(s->world, k), &s->boxes[k]);
  for (uint32_t i = 0; i < s->count; i++) {
    for (uint32_t k = 0; k < bodies; k++) {
      if (!graze_boxes_meet(&s->boxes[k], &s->casters[i].box) || rigid_body_at(s->world, k)->is_sensor) continue;
      if (!add_body(s, i, k)) return false;
    }
  }
  return true;
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

static bool is_bracketed(const candidate *x) {
  return x->inner.points != x->outer.points;
}

static void strike(candidate *x, double ahead) {
  x->state = SWEEP_STRIKE;
  x->ahead = ahead;
}

/* They are apart at `time`: until when, by the plane across their shortest connection. */
static void take_gap(const caster *c, candidate *x, const graze_convex_result *r) {
  double low, high;
  const bool free = find_free(c, x, r->normal, &low, &high) && low <= x->time && high > x->time;
  if (!free || high <= x->time + first_try) {
    strike(x, first_try);
    return;
  }
  if (x->lower == x->time) x->lower = fmin(high, 1); /* else what was before is not known */
  x->time = fmin(high, 1);
  if (x->time >= 1) x->state = SWEEP_DONE;
}

static void take_strike(caster *c, candidate *x, const graze_convex_result *r) {
  const double at = fmin(x->time + x->ahead, 1);
  if (r->hit) {
    x->upper = at;
    for (int k = 0; k < 3; k++) {
      x->point[k] = r->points[1][k];
      x->normal[k] = 0 - r->normal[k];
    }
    c->best = fmin(c->best, at);
    x->state = SWEEP_DONE;
    return;
  }
  double low, high;
  if (!is_bracketed(x) && find_free(c, x, r->normal, &low, &high) && low <= x->time && high > at) {
    if (x->lower == x->time) x->lower = fmin(high, 1); /* they did not meet between the two */
    x->time = fmin(high, 1);
    x->state = x->time >= 1 ? SWEEP_DONE : SWEEP_SEEK;
  } else if (at >= 1) {
    x->state = SWEEP_DONE;
  } else if (is_bracketed(x)) {
    x->ahead *= 2;
  } else if (x->ahead < last_try) {
    x->ahead *= 4;
  } else { /* what is between is not known, and `lower` stays */
    x->time = at;
    x->state = SWEEP_SEEK;
  }
}

static void take_result(sweeping *s, candidate *x, const graze_convex_result *r) {
  caster *c = &s->casters[x->cast];
  if (x->state == SWEEP_STRIKE)
    take_strike(c, x, r);
  else if (r->hit)
    strike(x, x->time > 0 ? first_try : 0);
  else
    take_gap(c, x, r);
}

static bool reserve(sweeping *s) {
  const size_t count = s->candidates.count;
  const graze_context *context = s->world->context;
  return array_reserve(context, &s->pairs, count, sizeof(graze_convex_pair)) &&
         array_reserve(context, &s->poses, count, sizeof(graze_pose)) &&
         array_reserve(context, &s->results, count, sizeof(graze_convex_result)) &&
         array_reserve(context, &s->active, count, sizeof(uint32_t));
}

/* Those that may still come first. */
static uint64_t list_pairs(const sweeping *s) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < s->candidates.count; i++) {
    candidate *x = RIGID_AT(s->candidates, candidate, i);
    const caster *c = &s->casters[x->cast];
    if (x->state == SWEEP_DONE || x->lower > c->best) continue;
    if (x->outer.count == 3 && rigid_body_at(s->world, x->body)->shape == GRAZE_RIGID_MESH)
      x->inner.points = x->outer.points = x->corners; /* the list may have moved */
    graze_pose *pose = RIGID_AT(s->poses, graze_pose, count);
    const bool strikes = x->state == SWEEP_STRIKE;
    *pose = pose_at(c, strikes ? fmin(x->time + x->ahead, 1) : x->time);
    *RIGID_AT(s->pairs, graze_convex_pair, count) =
        (graze_convex_pair){&c->set, strikes ? &x->inner : &x->outer, pose, &x->pose};
    *RIGID_AT(s->active, uint32_t, count++) = i;
  }
  return count;
}

static graze_status run_rounds(sweeping *s) {
  if (!reserve(s)) return gz_fail_memory(s->world->context, s->candidates.count * sizeof(graze_convex_pair));
  for (int round = 0; round < MOST_ROUNDS; round++) {
    const uint64_t count = list_pairs(s);
    if (count == 0) break;
    const graze_status status =
        graze_convex_batch(s->world->context, count, s->pairs.data, GRAZE_T1, GRAZE_CONVEX_MEASURE, s->results.data);
    if (status != GRAZE_OK) return status;
    for (uint64_t i = 0; i < count; i++)
      take_result(s, RIGID_AT(s->candidates, candidate, *RIGID_AT(s->active, uint32_t, i)),
                  RIGID_AT(s->results, graze_convex_result, i));
  }
  return GRAZE_OK;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* What is found of one that may be met; the first of several at one time stays. */
static void keep(graze_rigid_shape_hit *hit, double lower, double upper, graze_member member, uint32_t part,
                 uint32_t triangle, const double point[3], const double normal[3]) {
  hit->lower = fmin(hit->lower, lower);
  if (!(upper < hit->upper)) return;
  hit->hit = true;
  hit->upper = upper;
  hit->member = member;
  hit->part = part;
  hit->triangle = triangle;
  for (int k = 0; k < 3; k++) {
    hit->point[k] = point[k] + 0.0; /* -0 as 0 */
    hit->normal[k] = normal[k] + 0.0;
  }
}

static void keep_wall(const caster *c, const rigid_body *wall, uint32_t number, graze_rigid_shape_hit *hit) {
  const double *n = wall->rotation, rate = -dot3(c->way, n);
  const double error = rounding * (c->largest + length3(wall->position));
  const double gap = -find_support(&c->set, &c->pose, n, -1) - dot3(n, wall->position);
  double point[3] = {0, 0, 0}, most = (double)INFINITY;
  if (gap > error && (rate <= 0 || (gap - error) / rate > 1)) return;
  for (uint32_t i = 0; i < c->set.count; i++) {
    double at[3];
    graze_pose_apply(&c->pose, c->set.points + 3 * (size_t)i, at);
    if (dot3(n, at) < most) memcpy(point, at, sizeof point);
    most = fmin(most, dot3(n, at));
  }
  const double lower = gap > error ? (gap - error) / rate * (1 - 0x1p-50) : 0;
  double upper = gap < -error ? 0 : rate > 0 ? (gap + error) / rate * (1 + 0x1p-50) : (double)INFINITY;
  if (upper > 1) upper = (double)INFINITY;
  for (int k = 0; k < 3; k++) point[k] += (isfinite(upper) ? upper : 0) * c->way[k] - c->set.radius * n[k];
  keep(hit, lower, upper, (graze_member){GRAZE_MEMBER_WALL, 0, number}, 0, 0, point, n);
}

static void write_hits(const sweeping *s, graze_rigid_shape_hit *hits) {
  for (uint64_t i = 0; i < s->count; i++) hits[i] = (graze_rigid_shape_hit){.lower = 1, .upper = (double)INFINITY};
  for (uint32_t i = 0; i < s->candidates.count; i++) {
    const candidate *x = RIGID_AT(s->candidates, candidate, i);
    keep(&hits[x->cast], x->lower, x->upper, (graze_member){GRAZE_MEMBER_BODY, 0, x->body}, x->part, x->triangle,
         x->point, x->normal);
  }
  for (uint64_t i = 0; i < s->count; i++) {
    for (uint32_t w = 0; w < s->world->walls.count; w++)
      keep_wall(&s->casters[i], RIGID_AT(s->world->walls, rigid_body, w), w, &hits[i]);
  }
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static graze_status sweep(sweeping *s, graze_rigid_shape_hit *hits) {
  const graze_context *context = s->world->context;
  const uint32_t bodies = (uint32_t)s->world->bodies.count;
  s->casters = gz_new(context, s->count + 1, sizeof *s->casters);
  s->forms = gz_new_zeroed(context, bodies + (size_t)1, sizeof *s->forms);
  s->boxes = gz_new(context, bodies + (size_t)1, sizeof *s->boxes);
  if (s->casters == NULL || s->forms == NULL || s->boxes == NULL)
    return gz_fail_memory(context, s->count * sizeof *s->casters);
  for (uint64_t i = 0; i < s->count; i++) make_caster(&s->casts[i], &s->casters[i]);
  if (!list_candidates(s)) return gz_fail_memory(context, s->candidates.count * sizeof(candidate));
  const graze_status status = run_rounds(s);
  if (status == GRAZE_OK) write_hits(s, hits);
  return status;
}

graze_status graze_rigid_cast_shapes(graze_rigid *world, uint64_t count, const graze_rigid_shape_cast *casts,
                                     graze_rigid_shape_hit *hits) {
  if (world == NULL || (count > 0 && (casts == NULL || hits == NULL)))
    return gz_fail_null(world != NULL ? world->context : NULL);
  if (world->is_broken)
    return gz_fail(world->context, GRAZE_ERROR_NOT_FINITE, "the world is broken: a step has failed");
  if (count >= UINT32_MAX) return gz_fail(world->context, GRAZE_ERROR_LIMIT, "2^32 - 1 casts or more");
  sweeping s = {.world = world, .casts = casts, .count = count};
  const unsigned saved = gz_fp_enter();
  graze_status status = GRAZE_OK;
  for (uint64_t i = 0; i < count && status == GRAZE_OK; i++) status = check_cast(world->context, i, &casts[i]);
  if (status == GRAZE_OK) status = sweep(&s, hits);
  gz_fp_leave(saved);
  for (uint32_t i = 0; s.forms != NULL && i < world->bodies.count; i++) gz_check_free_form(&s.forms[i]);
  gz_free(s.forms);
  gz_free(s.boxes);
  gz_free(s.casters);
  gz_free(s.candidates.data);
  gz_free(s.pairs.data);
  gz_free(s.poses.data);
  gz_free(s.results.data);
  gz_free(s.active.data);
  return status;
}
