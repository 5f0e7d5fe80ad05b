/* Exact checks of worlds: which bodies overlap by more than is forgiven.
 *
 * The broad phase finds bodies whose boxes meet; the exact decision of convex sets measures each pair, sharply or with
 * finer prisms where the bracket of its depth holds what is forgiven. Pairs with a mesh are measured one by one. If the
 * bracket holds what is forgiven even then, the pair is unknown. */
#include "rigid/check.h"

#include <math.h>
#include <string.h>

#include "base/owned.h"
#include "base/parallel.h"
#include "rigid/vector.h"

/* Of what the thinnest body measures across: forgiven by default. */
static const double forgiven = 0.02;

/* Of its reach: a mesh is posed about an origin of its own, and lies elsewhere by less. */
static const double rounding = 0x1p-40;

typedef struct rigid_checker {
  gz_array forms;     /* check_form, of each body */
  gz_array poses;     /* graze_pose */
  gz_array boxes;     /* graze_box */
  gz_array pairs;     /* graze_box_pair */
  gz_array depths;    /* check_depth, of each pair */
  gz_array questions; /* graze_convex_pair: of inner sets, then of outer sets */
  gz_array answers;   /* graze_convex_result */
  gz_array overlaps;  /* graze_rigid_overlap */
  graze_query *query; /* for meshes; NULL until there are any */
  double slop;
} rigid_checker;

static const check_form *form_of(const rigid_checker *c, uint32_t body) {
  return RIGID_AT(c->forms, check_form, body);
}

static const graze_pose *pose_of(const rigid_checker *c, uint32_t body) {
  return RIGID_AT(c->poses, graze_pose, body);
}

void gz_rigid_free_checker(graze_rigid *world) {
  rigid_checker *c = world->checker;
  if (c == NULL) return;
  for (size_t i = 0; i < c->forms.count; i++) gz_check_free_form(RIGID_AT(c->forms, check_form, i));
  const gz_array *const arrays[] = {&c->forms,  &c->poses,     &c->boxes,   &c->pairs,
                                    &c->depths, &c->questions, &c->answers, &c->overlaps};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) gz_free(arrays[i]->data);
  graze_query_destroy(c->query);
  gz_free(c);
  world->checker = NULL;
}

static graze_status reserve(const graze_rigid *world, gz_array *array, size_t count, size_t size) {
  array->count = 0;
  return array_reserve(world->context, array, count + 1, size) ? GRAZE_OK
                                                               : gz_fail_memory(world->context, count * size);
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

static double find_slop(const graze_rigid *world) {
  double least = (double)INFINITY;
  for (uint32_t i = 0; i < world->bodies.count; i++) {
    const rigid_body *b = rigid_body_at(world, i);
    if (b->type != GRAZE_BODY_STATIC && !b->is_sensor) least = fmin(least, 2 * b->least);
  }
  return isfinite(least) ? forgiven * least : 0;
}

static graze_status place_bodies(graze_rigid *world) {
  rigid_checker *c = world->checker;
  const size_t count = world->bodies.count;
  graze_status status = GRAZE_OK;
  if (!array_reserve(world->context, &c->forms, count - c->forms.count + 1, sizeof(check_form)))
    return gz_fail_memory(world->context, count * sizeof(check_form));
  for (; c->forms.count < count; c->forms.count++) {
    check_form *form = RIGID_AT(c->forms, check_form, c->forms.count);
    if (!gz_check_make_form(world->context, rigid_body_at(world, (uint32_t)c->forms.count), CHECK_COARSE, form))
      return gz_fail_memory(world->context, sizeof(check_form));
  }
  status = reserve(world, &c->poses, count, sizeof(graze_pose));
  if (status == GRAZE_OK) status = reserve(world, &c->boxes, count, sizeof(graze_box));
  for (uint32_t i = 0; status == GRAZE_OK && i < count; i++) {
    const rigid_body *b = rigid_body_at(world, i);
    graze_pose *pose = RIGID_AT(c->poses, graze_pose, i);
    *pose = graze_pose_from_quaternion(b->orientation, b->position);
    gz_check_find_box(&form_of(c, i)->outer, pose, b->surface != NULL || b->part_count > 0 ? rounding * b->reach : 0,
                      RIGID_AT(c->boxes, graze_box, i));
  }
  return status;
}

/* ---- pairs of bodies --------------------------------------------------------------------------------------------- */

static bool are_static(const graze_rigid *world, uint32_t a, uint32_t b) {
  return rigid_body_at(world, a)->type == GRAZE_BODY_STATIC && rigid_body_at(world, b)->type == GRAZE_BODY_STATIC;
}

static graze_status find_pairs(graze_rigid *world) {
  rigid_checker *c = world->checker;
  const graze_box_array boxes = {c->boxes.data, sizeof(graze_box), GRAZE_DOUBLE};
  const graze_box_pair *found;
  uint64_t count;
  graze_status status =
      graze_broadphase_find(world->broadphase, &boxes, (uint32_t)world->bodies.count, false, &found, &count);
  if (status == GRAZE_OK) status = reserve(world, &c->pairs, count, sizeof *found);
  for (uint64_t i = 0; status == GRAZE_OK && i < count; i++) {
    if (rigid_body_at(world, found[i].a)->is_sensor || rigid_body_at(world, found[i].b)->is_sensor) continue;
    if (are_static(world, found[i].a, found[i].b) || gz_rigid_are_joined(world, found[i].a, found[i].b)) continue;
    *RIGID_AT(c->pairs, graze_box_pair, c->pairs.count++) = found[i];
  }
  return status;
}

static bool is_bracketed(const rigid_checker *c, const graze_box_pair *pair) {
  return check_is_bracketed(form_of(c, pair->a)) || check_is_bracketed(form_of(c, pair->b));
}

static void put_question(rigid_checker *c, const graze_box_pair *pair, const graze_convex *a, const graze_convex *b) {
  *RIGID_AT(c->questions, graze_convex_pair, c->questions.count++) =
      (graze_convex_pair){a, b, pose_of(c, pair->a), pose_of(c, pair->b)};
}

/* A set within another is no deeper than that. */
static check_depth join(const rigid_checker *c, const graze_convex_result *inner, const graze_convex_result *outer) {
  const double lower = fmax(0, -inner->upper), upper = fmax(0, -outer->lower);
  return (check_depth){lower, upper, lower > c->slop ? CHECK_OVER : upper > c->slop ? CHECK_OPEN : CHECK_FORGIVEN};
}

static bool has(const graze_rigid *world, const graze_box_pair *pair, graze_rigid_shape shape) {
  return rigid_body_at(world, pair->a)->shape == shape || rigid_body_at(world, pair->b)->shape == shape;
}

static bool is_single(const graze_rigid *world, const graze_box_pair *pair) {
  return has(world, pair, GRAZE_RIGID_MESH) || has(world, pair, GRAZE_RIGID_COMPOUND);
}

/* Pairs of meshes and compounds, one by one. */
static graze_status measure_singles(graze_rigid *world) {
  rigid_checker *c = world->checker;
  const double *g = world->def.gravity, length = length3(g);
  const double up[3] = {length > 0 ? -g[0] / length : 0, length > 0 ? -g[1] / length : 0,
                        length > 0 ? -g[2] / length : 0};
  graze_status status = GRAZE_OK;
  for (size_t i = 0; status == GRAZE_OK && i < c->pairs.count; i++) {
    const graze_box_pair *pair = RIGID_AT(c->pairs, graze_box_pair, i);
    if (!is_single(world, pair)) continue;
    const bool in_parts = has(world, pair, GRAZE_RIGID_COMPOUND);
    check_depth *depth = RIGID_AT(c->depths, check_depth, i);
    if (c->query == NULL && !in_parts) status = graze_query_create(world->context, &c->query);
    const check_side sides[2] = {
        {rigid_body_at(world, pair->a), RIGID_AT(c->forms, check_form, pair->a), pose_of(c, pair->a)},
        {rigid_body_at(world, pair->b), RIGID_AT(c->forms, check_form, pair->b), pose_of(c, pair->b)}};
    if (status == GRAZE_OK)
      status = in_parts ? gz_check_parts(world, &c->query, sides, up, c->slop, depth)
                        : gz_check_meshes(world->context, c->query, sides, up, c->slop, depth);
  }
  return status;
}

/* All others at first, outer sets where they differ. */
static graze_status measure_pairs(graze_rigid *world) {
  rigid_checker *c = world->checker;
  const graze_box_pair *pairs = c->pairs.data;
  const size_t count = c->pairs.count;
  graze_status status = reserve(world, &c->questions, 2 * count, sizeof(graze_convex_pair));
  if (status == GRAZE_OK) status = reserve(world, &c->answers, 2 * count, sizeof(graze_convex_result));
  if (status == GRAZE_OK) status = reserve(world, &c->depths, count, sizeof(check_depth));
  if (status != GRAZE_OK) return status;
  for (size_t i = 0; i < count; i++) {
    if (!is_single(world, &pairs[i]))
      put_question(c, &pairs[i], &form_of(c, pairs[i].a)->inner, &form_of(c, pairs[i].b)->inner);
  }
  const size_t inner_count = c->questions.count;
  for (size_t i = 0; i < count; i++) {
    if (!is_single(world, &pairs[i]) && is_bracketed(c, &pairs[i]))
      put_question(c, &pairs[i], &form_of(c, pairs[i].a)->outer, &form_of(c, pairs[i].b)->outer);
  }
  status = graze_convex_batch(world->context, c->questions.count, c->questions.data, GRAZE_T1, GRAZE_CONVEX_MEASURE,
                              c->answers.data);
  const graze_convex_result *inner = c->answers.data, *outer = inner + inner_count;
  for (size_t i = 0; status == GRAZE_OK && i < count; i++) {
    if (is_single(world, &pairs[i])) continue;
    *RIGID_AT(c->depths, check_depth, i) = join(c, inner, is_bracketed(c, &pairs[i]) ? outer++ : inner);
    inner++;
  }
  return status;
}

/* A pair whose bracket holds the slop: by integers, or with prisms of fine sides. */
static graze_status sharpen(const graze_rigid *world, const graze_box_pair *pair, check_depth *depth) {
  const rigid_checker *c = world->checker;
  const uint32_t bodies[2] = {pair->a, pair->b};
  const graze_pose *poses[2] = {pose_of(c, pair->a), pose_of(c, pair->b)};
  const bool bracketed = is_bracketed(c, pair);
  check_form forms[2] = {{.prisms = NULL}, {.prisms = NULL}};
  graze_convex_result results[2];
  bool good = true;
  for (int i = 0; good && i < 2; i++)
    good = gz_check_make_form(world->context, rigid_body_at(world, bodies[i]), CHECK_FINE, &forms[i]);
  const graze_convex_pair questions[2] = {{&forms[0].inner, &forms[1].inner, poses[0], poses[1]},
                                          {&forms[0].outer, &forms[1].outer, poses[0], poses[1]}};
  graze_status status = good ? graze_convex_batch(world->context, bracketed ? 2 : 1, questions, GRAZE_T1,
                                                  bracketed ? GRAZE_CONVEX_MEASURE : GRAZE_CONVEX_SHARP, results)
                             : gz_fail_memory(world->context, sizeof forms);
  if (status == GRAZE_OK) *depth = join(c, &results[0], &results[bracketed ? 1 : 0]);
  for (int i = 0; i < 2; i++) gz_check_free_form(&forms[i]);
  return status;
}

static graze_status sharpen_pairs(const graze_rigid *world) {
  const rigid_checker *c = world->checker;
  graze_status status = GRAZE_OK;
  for (size_t i = 0; status == GRAZE_OK && i < c->pairs.count; i++) {
    check_depth *depth = RIGID_AT(c->depths, check_depth, i);
    const graze_box_pair *pair = RIGID_AT(c->pairs, graze_box_pair, i);
    if (depth->answer == CHECK_OPEN && !is_single(world, pair)) status = sharpen(world, pair, depth);
  }
  return status;
}

static uint64_t count_joined(const graze_rigid *world) {
  const uint64_t *joined = world->joined.data;
  uint64_t count = 0;
  for (size_t i = 0; i < world->joined.count; i++) count += i == 0 || joined[i] != joined[i - 1];
  return count;
}

/* ---- walls ------------------------------------------------------------------------------------------------------- */

static check_depth measure_set(const check_form *form, const graze_pose *pose, const rigid_body *wall, double slop) {
  const check_depth inner = gz_check_wall(&form->inner, pose, wall, slop);
  if (!check_is_bracketed(form)) return inner;
  const check_depth outer = gz_check_wall(&form->outer, pose, wall, slop);
  return (check_depth){inner.lower, outer.upper, inner.answer == outer.answer ? inner.answer : CHECK_OPEN};
}

/* Of a compound the deepest part. */
static check_depth measure_form(const graze_rigid *world, const check_form *form, uint32_t body, uint32_t wall) {
  const rigid_checker *c = world->checker;
  const rigid_body *w = RIGID_AT(world->walls, rigid_body, wall);
  if (form->part_count == 0) return measure_set(form, pose_of(c, body), w, c->slop);
  check_depth deepest = {0, 0, CHECK_FORGIVEN};
  for (uint32_t i = 0; i < form->part_count; i++) {
    const graze_pose pose = gz_check_pose_part(rigid_body_at(world, body), i);
    const check_depth depth = measure_set(&form->parts[i], &pose, w, c->slop);
    deepest.lower = fmax(deepest.lower, depth.lower);
    deepest.upper = fmax(deepest.upper, depth.upper);
    if (depth.answer == CHECK_OVER || deepest.answer == CHECK_FORGIVEN) deepest.answer = depth.answer;
  }
  return deepest;
}

static graze_status measure_wall(const graze_rigid *world, uint32_t body, uint32_t wall, check_depth *depth) {
  check_form fine;
  *depth = measure_form(world, form_of(world->checker, body), body, wall);
  if (depth->answer != CHECK_OPEN) return GRAZE_OK;
  if (!gz_check_make_form(world->context, rigid_body_at(world, body), CHECK_FINE, &fine))
    return gz_fail_memory(world->context, sizeof fine);
  *depth = measure_form(world, &fine, body, wall);
  gz_check_free_form(&fine);
  return GRAZE_OK;
}

/* ---- the result -------------------------------------------------------------------------------------------------- */

static graze_status tell(graze_rigid *world, const graze_member *a, const graze_member *b, const check_depth *depth,
                         graze_rigid_check_result *result) {
  rigid_checker *c = world->checker;
  const graze_rigid_overlap overlap = {*a, *b, depth->lower, depth->upper, depth->answer == CHECK_OPEN};
  const graze_rigid_overlap *most = &result->deepest;
  if (depth->lower > most->lower || (depth->lower == most->lower && depth->upper > most->upper))
    result->deepest = overlap;
  if (depth->answer == CHECK_FORGIVEN) return GRAZE_OK;
  if (!array_reserve(world->context, &c->overlaps, 1, sizeof overlap))
    return gz_fail_memory(world->context, sizeof overlap);
  *RIGID_AT(c->overlaps, graze_rigid_overlap, c->overlaps.count++) = overlap;
  return GRAZE_OK;
}

/* Body by body: first others, then walls. */
static graze_status tell_all(graze_rigid *world, graze_rigid_check_result *result) {
  rigid_checker *c = world->checker;
  graze_status status = GRAZE_OK;
  size_t next = 0;
  c->overlaps.count = 0;
  for (uint32_t a = 0; status == GRAZE_OK && a < world->bodies.count; a++) {
    const graze_member body = {GRAZE_MEMBER_BODY, 0, a};
    for (; status == GRAZE_OK && next < c->pairs.count; next++) {
      const graze_box_pair *pair = RIGID_AT(c->pairs, graze_box_pair, next);
      if (pair->a != a) break;
      const graze_member other = {GRAZE_MEMBER_BODY, 0, pair->b};
      status = tell(world, &body, &other, RIGID_AT(c->depths, check_depth, next), result);
    }
    if (rigid_body_at(world, a)->type == GRAZE_BODY_STATIC || rigid_body_at(world, a)->is_sensor) continue;
    for (uint32_t w = 0; status == GRAZE_OK && w < world->walls.count; w++) {
      const graze_member wall = {GRAZE_MEMBER_WALL, 0, w};
      check_depth depth;
      status = measure_wall(world, a, w, &depth);
      if (status == GRAZE_OK) status = tell(world, &body, &wall, &depth, result);
      result->pairs++;
    }
  }
  result->pairs += c->pairs.count;
  result->overlaps = c->overlaps.data;
  result->count = c->overlaps.count;
  return status;
}

static graze_status check(graze_rigid *world, graze_rigid_check_result *result) {
  graze_status status = place_bodies(world);
  if (status == GRAZE_OK) status = find_pairs(world);
  if (status == GRAZE_OK) status = measure_pairs(world);
  if (status == GRAZE_OK) status = sharpen_pairs(world);
  if (status == GRAZE_OK) status = measure_singles(world);
  return status == GRAZE_OK ? tell_all(world, result) : status;
}

graze_status graze_rigid_check(graze_rigid *world, double slop, graze_rigid_check_result *result) {
  if (world == NULL || result == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  const graze_context *context = world->context;
  if (slop < 0 || isinf(slop))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "slop is %.17g: it must be finite and at least 0", slop);
  if (world->is_broken) return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "the world is broken: a step has failed");
  if (world->checker == NULL) world->checker = gz_new_zeroed(context, 1, sizeof *world->checker);
  if (world->checker == NULL) return gz_fail_memory(context, sizeof *world->checker);
  world->checker->slop = isnan(slop) ? find_slop(world) : slop;
  *result = (graze_rigid_check_result){.slop = world->checker->slop, .joined = count_joined(world)};
  const unsigned saved = gz_fp_enter();
  graze_status status = check(world, result);
  gz_fp_leave(saved);
  return status;
}
