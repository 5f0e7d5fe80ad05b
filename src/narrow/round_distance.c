/* How far round objects are from others, and where they meet.
 *
 * Outside of each other the surfaces are as far apart as the cores less the radii; within a round object a corner is as
 * far from its surface as the radius is more than its distance from the core, and the least of these is that of the
 * whole, for the object is convex. All of these are rounded one by one: rounding is monotone, so the least of the
 * rounded is the rounded least.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/parallel.h"
#include "narrow/gap.h"
#include "narrow/locate.h"
#include "narrow/round.h"

enum { DISTANCE_COOKIE = 0x67726F32 };

/* The least difference so far. */
typedef struct least_gap {
  double value; /* infinite: none */
  int sign;     /* of the exact number less that */
  graze_triangle_pair triangles;
  graze_nearest nearest; /* of the cores: points and features, or of a core and a corner */
} least_gap;

static void take_gap(least_gap *least, near_pair *pair, const near_sum *sum, bool turned, graze_triangle_pair at) {
  int sign;
  const double value = gz_near_difference(pair, sum, turned, &sign);
  if (value > least->value) return;
  if (value == least->value) {
    least->sign = sign < least->sign ? sign : least->sign;
    return;
  }
  least->value = value;
  least->sign = sign;
  least->triangles = at;
  gz_near_witness(pair, &least->nearest);
}

/* ---- places ---- */

/* From a point of the core over another to the surface: x = core + r (other - core) / |other - core|. */
static void put_on_surface(const double core[3], const double other[3], double radius, double out[3]) {
  double way[3], size = 0, square = 0;
  for (int k = 0; k < 3; k++) {
    way[k] = other[k] - core[k];
    size = fmax(size, fabs(way[k]));
  }
  for (int k = 0; k < 3; k++) {
    way[k] = size > 0 ? way[k] / size : k == 2; /* at the core all ways are alike */
    square += way[k] * way[k];
  }
  for (int k = 0; k < 3; k++) out[k] = core[k] + radius * (way[k] / sqrt(square));
}

/* What is told of the least gap. */
static void tell(const least_gap *least, double limit, graze_distance_result *r) {
  const double d = least->value;
  r->lower = limit;
  r->upper = r->nearest.distance = (double)INFINITY;
  r->found = d < limit || (d == limit && least->sign < 0);
  if (!r->found) return;
  r->nearest = least->nearest;
  r->nearest.distance = d;
  r->triangles = least->triangles;
  r->lower = least->sign < 0 ? nextafter(d, 0) : d;
  r->upper = least->sign > 0 ? nextafter(d, (double)INFINITY) : d;
}

/* Of surfaces that meet: 0, at the points of the cores' pair moved onto the surfaces. */
static void take_meeting(const round_pair *p, graze_triangle_pair at, least_gap *least) {
  double corners[18];
  near_pair pair;
  gz_round_start(p, at, corners, &pair);
  gz_near_witness(&pair, &least->nearest);
  least->value = 0;
  least->sign = 0;
  least->triangles = at;
}

/* ---- two round objects ---- */

/* Of the ends of one core to the surface around the other; false: they are not within. */
static bool take_inner(const round_pair *p, int which, least_gap *least) {
  const double terms[2] = {p->radius[1 - which], -p->radius[which]};
  double own[9], corners[18];
  near_sum room;
  near_pair pair;
  gz_near_sum(&room, terms, 2);
  const graze_pose *pose = gz_round_corners(p, which, 0, own);
  for (int i = 0; i < 4; i++) {
    gz_round_start_point(p, 1 - which, own + 3 * (i % 2), pose, corners, &pair);
    if (i >= 2)
      take_gap(least, &pair, &room, true, (graze_triangle_pair){0, 0});
    else if (gz_near_compare_sum(&pair, &room) > 0)
      return false;
  }
  return true;
}

/* Points and features come with the end first. */
static void turn(least_gap *least) {
  graze_nearest *n = &least->nearest, was = *n;
  for (int k = 0; k < 2; k++) {
    memcpy(n->points[k], was.points[1 - k], sizeof n->points[k]);
    n->features[k] = was.features[1 - k];
  }
}

/* A point between the cores that both objects have. */
static void put_between(const round_pair *p, const double at[2][3], double distance, double on[2][3]) {
  const double by = fmin(fmax(0.5 * (distance + p->radius[0] - p->radius[1]), 0), distance);
  put_on_surface(at[0], at[1], by, on[0]);
  memcpy(on[1], on[0], sizeof on[0]);
}

/* Within each other, both surfaces lie beyond the inner core, seen from the outer. */
static void put_beyond(const round_pair *p, const double at[2][3], int inner, double on[2][3]) {
  double beyond[3];
  for (int k = 0; k < 3; k++) beyond[k] = 2 * at[inner][k] - at[1 - inner][k];
  put_on_surface(at[inner], beyond, p->radius[inner], on[inner]);
  put_on_surface(at[1 - inner], at[inner], p->radius[1 - inner], on[1 - inner]);
}

static void measure_rounds(const round_pair *p, least_gap *least) {
  double corners[18], on[2][3];
  near_pair pair;
  const double(*at)[3] = least->nearest.points;
  gz_round_start(p, (graze_triangle_pair){0, 0}, corners, &pair);
  if (gz_near_compare_sum(&pair, &p->reach) >= 0) {
    take_gap(least, &pair, &p->reach, false, (graze_triangle_pair){0, 0});
    for (int k = 0; k < 2; k++) put_on_surface(at[k], at[1 - k], p->radius[k], on[k]);
  } else if (take_inner(p, 0, least)) {
    put_beyond(p, at, 0, on);
  } else if (take_inner(p, 1, least)) {
    turn(least);
    put_beyond(p, at, 1, on);
  } else {
    take_meeting(p, (graze_triangle_pair){0, 0}, least);
    put_between(p, at, least->nearest.distance, on);
  }
  memcpy(least->nearest.points, on, sizeof on);
  for (int k = 0; k < 2; k++) least->nearest.features[k] = GRAZE_FEATURE_FACE;
}

/* ---- a round object and a mesh ---- */

/* Of all corners of the mesh to the surface around them; false: they are not all within. */
static bool take_corners(const round_pair *p, const near_sum *radius, least_gap *least) {
  const int round = round_which(p), other = 1 - round;
  const graze_mesh *mesh = p->of[other]->place.mesh;
  for (uint32_t t = 0; t < mesh->triangle_count; t++) {
    double c[9], corners[18];
    const graze_pose *pose = gz_round_corners(p, other, t, c);
    for (int i = 0; i < 9; i += 3) {
      near_pair pair;
      gz_round_start_point(p, round, c + i, pose, corners, &pair);
      if (gz_near_compare_sum(&pair, radius) > 0) return false;
      if (radius->low - pair.upper > least->value * (1 + 0x1p-50)) continue;
      take_gap(least, &pair, radius, true, other == 0 ? (graze_triangle_pair){t, 0} : (graze_triangle_pair){0, t});
    }
  }
  return true;
}

/* The pairs that may be the nearest, of which one is known to be: their least difference. */
static graze_status take_nearest(const round_pair *p, const graze_distance_result *known, least_gap *least,
                                 graze_work *work) {
  graze_triangle_pair *pairs;
  uint64_t count;
  const double most = nextafter(nextafter(known->upper, (double)INFINITY), (double)INFINITY);
  graze_status status = gz_query_near(p->query, &p->of[0]->place, &p->of[1]->place, fmin(most, DBL_MAX), p->exactness,
                                      &pairs, &count, work);
  for (uint64_t i = 0; i < count && status == GRAZE_OK; i++) {
    double corners[18];
    near_pair pair;
    gz_round_start(p, pairs[i], corners, &pair);
    if (gz_near_compare_sum(&pair, &p->reach) > 0) {
      take_gap(least, &pair, &p->reach, false, pairs[i]);
    } else {
      take_meeting(p, pairs[i], least);
      break;
    }
  }
  return status;
}

static graze_status measure_mesh(const round_pair *p, double limit, least_gap *least, graze_work *work) {
  const int round = round_which(p), other = 1 - round;
  const double terms[3] = {p->radius[0], p->radius[1], limit};
  near_sum most;
  graze_distance_result known;
  gz_near_sum(&most, terms, isfinite(limit) ? 3 : 2);
  const double reach = isfinite(limit) ? nextafter(most.high, (double)INFINITY) : limit;
  graze_status status = gz_query_nearest(p->query, &p->of[0]->place, &p->of[1]->place, reach, p->exactness, &known);
  work_add(work, &known.work);
  if (status != GRAZE_OK || !known.found) return status;
  status = take_nearest(p, &known, least, work);
  if (status != GRAZE_OK) return status;
  bool inner = false;
  if (least->value == 0) {
    least_gap within = {.value = (double)INFINITY};
    inner = take_corners(p, &p->reach, &within);
    if (inner) *least = within;
    if (inner && other == 1) turn(least); /* the corner came first */
  }
  graze_nearest *n = &least->nearest;
  double on[3];
  put_on_surface(n->points[round], n->points[other], p->radius[round], on);
  memcpy(n->points[round], least->value == 0 ? n->points[other] : on, sizeof on);
  n->features[round] = GRAZE_FEATURE_FACE;
  return GRAZE_OK;
}

/* Triangles nearer than the limit. */
static graze_status count_near(const round_pair *p, double limit, graze_find find, graze_distance_result *r) {
  const double terms[3] = {p->radius[0], p->radius[1], limit};
  near_sum most;
  graze_triangle_pair *pairs;
  uint64_t count, kept = 0;
  gz_near_sum(&most, terms, 3);
  graze_status status = gz_round_list(p, &most, &pairs, &count, &r->work);
  for (uint64_t i = 0; i < count && status == GRAZE_OK; i++) {
    double corners[18];
    near_pair pair;
    gz_round_start(p, pairs[i], corners, &pair);
    if (gz_near_compare_sum(&pair, &most) >= 0) continue;
    r->near_hash += graze_pair_hash(pairs[i].a, pairs[i].b);
    pairs[kept++] = pairs[i];
  }
  r->near_pairs = kept;
  r->pairs = find == GRAZE_FIND_ALL && kept > 0 ? pairs : NULL;
  return status;
}

graze_status gz_query_distance_round(const round_pair *p, double limit, graze_find near_pairs,
                                     graze_distance_result *result) {
  least_gap least = {.value = (double)INFINITY};
  graze_distance_result r = {.found = false};
  graze_status status = GRAZE_OK;
  if (round_both(p))
    measure_rounds(p, &least);
  else if (p->of[1 - round_which(p)]->place.mesh->triangle_count > 0)
    status = measure_mesh(p, limit, &least, &r.work);
  tell(&least, limit, &r);
  if (status == GRAZE_OK && near_pairs != GRAZE_FIND_ANY && r.found) status = count_near(p, limit, near_pairs, &r);
  if (status == GRAZE_OK) *result = r;
  return status;
}

/* ---- the public call ---- */

static graze_status check_options(const graze_query *q, const graze_distance_options *o) {
  if (o->cookie != DISTANCE_COOKIE || (unsigned)o->near_pairs > GRAZE_FIND_ANY || (unsigned)o->exactness > GRAZE_T2)
    return gz_fail(q->context, GRAZE_ERROR_ARGUMENT, "distance options: not initialised, or a value is unknown");
  if (!(o->limit >= 0)) return gz_fail(q->context, GRAZE_ERROR_ARGUMENT, "distance options: limit must be at least 0");
  if (o->near_pairs != GRAZE_FIND_ANY && isinf(o->limit))
    return gz_fail(q->context, GRAZE_ERROR_ARGUMENT, "distance options: near pairs need a finite limit");
  return GRAZE_OK;
}

graze_status graze_round_distance(graze_query *query, const graze_round_side *a, const graze_round_side *b,
                                  const graze_distance_options *options, graze_distance_result *result) {
  if (query == NULL || a == NULL || b == NULL || a->mesh == NULL || b->mesh == NULL || result == NULL)
    return gz_fail_null(query != NULL ? query->context : NULL);
  const graze_distance_options o = options != NULL ? *options : graze_default_distance_options();
  graze_status status = check_options(query, &o);
  if (status == GRAZE_OK) status = gz_round_check(query->context, a->mesh, a->radius, a->flat, "a");
  if (status == GRAZE_OK) status = gz_round_check(query->context, b->mesh, b->radius, b->flat, "b");
  if (status == GRAZE_OK && (a->flat || b->flat))
    status = gz_fail(query->context, GRAZE_ERROR_UNSUPPORTED, "%s: the distance of a cylinder", a->flat ? "a" : "b");
  if (status != GRAZE_OK) return status;
  if (a->radius == 0 && b->radius == 0)
    return graze_mesh_distance(query, a->mesh, a->pose, b->mesh, b->pose, &o, result);
  relate_side sides[2] = {{.slot = NULL}, {.slot = NULL}};
  round_pair p;
  unsigned saved = gz_fp_enter();
  status = gz_query_side(query, a->mesh, a->pose, o.exactness, "a", &sides[0].place);
  if (status == GRAZE_OK) status = gz_query_side(query, b->mesh, b->pose, o.exactness, "b", &sides[1].place);
  if (status == GRAZE_OK) {
    gz_round_open(&p, query, (round_side){&sides[0], a->radius, false}, (round_side){&sides[1], b->radius, false},
                  o.exactness);
    status = gz_query_distance_round(&p, o.limit, o.near_pairs, result);
  }
  gz_fp_leave(saved);
  return status;
}
