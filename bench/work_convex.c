/* bench/work_convex.c: hulls of points, and pairs of convex sets: fragments of 32 vertices near and in one another,
 * boxes that lie on boxes, balls and capsules, cylinders and cones. Pairs run beside the search in integers alone,
 * which says what is right, but for the last, which have none.
 */
#include <math.h>
#include <stdlib.h>

#include "contest.h"
#include "graze/graze.h"
#ifdef BENCH_PRIVATE
#include "convex/pair.h"
#endif

enum { SHAPES = 64, CORNERS = 32 };

typedef enum shape_kind { FRAGMENTS, BOXES, CAPSULES, CYLINDERS } shape_kind;

typedef struct convex_job {
  graze_context *context;
  graze_hull *hulls[SHAPES];
  graze_convex sets[SHAPES];
  graze_pose *poses;
  graze_convex_pair *pairs;
  graze_convex_result *results;
  graze_convex_ask ask;
  uint32_t count;
} convex_job;

static void on_ball(uint64_t *state, double p[3]) {
  double square;
  do {
    square = 0;
    for (int k = 0; k < 3; k++) {
      p[k] = draw_signed(state);
      square += p[k] * p[k];
    }
  } while (!(square > 0.01 && square < 1));
  for (int k = 0; k < 3; k++) p[k] /= sqrt(square);
}

/* ---- pairs ------------------------------------------------------------------------------------------------------ */

static void make_shapes(convex_job *j, shape_kind kind) {
  uint64_t state = 3;
  for (int s = 0; s < SHAPES; s++) {
    double points[CORNERS][3];
    for (int i = 0; i < CORNERS; i++) {
      on_ball(&state, points[i]);
      for (int k = 0; kind == BOXES && k < 3; k++) points[i][k] = i >> k & 1 ? 0.5 : -0.5;
    }
    if (graze_hull_create(j->context, CORNERS, points[0], &j->hulls[s]) != GRAZE_OK)
      fail("%s", graze_last_error(j->context)->message);
    j->sets[s] = graze_convex_of_hull(j->hulls[s], 0);
    if (kind == CAPSULES)
      j->sets[s] = (graze_convex){.points = j->hulls[s]->points, .count = s % 2 == 0 ? 1 : 2, .radius = 0.5};
    /* every third a cone */
    if (kind == CYLINDERS)
      j->sets[s] = (graze_convex){.points = j->hulls[s]->points, .count = 2, .discs = {0.5, s % 3 == 0 ? 0 : 0.5}};
  }
}

static graze_pose turned(uint64_t *state, const double at[3]) {
  const double quaternion[4] = {draw_signed(state), draw_signed(state), draw_signed(state), draw_signed(state)};
  return graze_pose_from_quaternion(quaternion, at);
}

/* `far` is how far centers are from each other at most. Boxes are not turned: one lies on the other. */
static void make_pairs(convex_job *j, double far, shape_kind kind) {
  uint64_t state = 5;
  make_shapes(j, kind);
  j->poses = must_alloc(2 * (size_t)j->count, sizeof *j->poses);
  j->pairs = must_alloc(j->count, sizeof *j->pairs);
  j->results = must_alloc(j->count, sizeof *j->results);
  for (uint32_t i = 0; i < j->count; i++) {
    double at[3], reach = far * (draw_signed(&state) + 1) / 2;
    on_ball(&state, at);
    const double origin[3] = {0, 0, 0}, way[3] = {reach * at[0], reach * at[1], reach * at[2]};
    j->poses[2 * i] = turned(&state, origin);
    j->poses[2 * i + 1] = turned(&state, way);
    if (kind == BOXES) j->poses[2 * i] = (graze_pose){{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    if (kind == BOXES) j->poses[2 * i + 1] = (graze_pose){{1, 0, 0, way[0], 0, 1, 0, way[1], 0, 0, 1, 1}};
    const graze_convex *a = &j->sets[splitmix64(i) % SHAPES], *b = &j->sets[splitmix64(~i) % SHAPES];
    j->pairs[i] = (graze_convex_pair){a, b, &j->poses[2 * i], &j->poses[2 * i + 1]};
  }
}

static void free_pairs(convex_job *j) {
  for (int s = 0; s < SHAPES; s++) graze_hull_destroy(j->hulls[s]);
  free(j->poses);
  free(j->pairs);
  free(j->results);
}

static void tell(const convex_job *j, sample *out) {
  for (uint32_t i = 0; i < j->count; i++) {
    out->count += j->results[i].hit;
    out->hash += j->results[i].hit ? splitmix64(i) : 0;
  }
}

static void run_batch(void *argument, bool check, sample *out) {
  convex_job *j = argument;
  (void)check;
  double start = seconds_now();
  if (graze_convex_batch(j->context, j->count, j->pairs, GRAZE_T1, j->ask, j->results) != GRAZE_OK)
    fail("%s", graze_last_error(j->context)->message);
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  tell(j, out);
}

/* Each pair by a call of its own. */
static void run_single(void *argument, bool check, sample *out) {
  convex_job *j = argument;
  (void)check;
  double start = seconds_now();
  for (uint32_t i = 0; i < j->count; i++) {
    if (graze_convex_batch(j->context, 1, &j->pairs[i], GRAZE_T1, j->ask, &j->results[i]) != GRAZE_OK)
      fail("%s", graze_last_error(j->context)->message);
  }
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  tell(j, out);
}

#ifdef BENCH_PRIVATE
static void run_integers(void *argument, bool check, sample *out) {
  convex_job *j = argument;
  convex_pair pair = {.context = j->context};
  (void)check;
  double start = seconds_now();
  for (uint32_t i = 0; i < j->count; i++) {
    const graze_convex_pair *p = &j->pairs[i];
    pair.side[0] = (convex_side){.points = p->a->points, .count = p->a->count, .pose = p->pose_a};
    pair.side[1] = (convex_side){.points = p->b->points, .count = p->b->count, .pose = p->pose_b};
    pair.radius[0] = p->a->radius;
    pair.radius[1] = p->b->radius;
    convex_bracket distance;
    double normal[3];
    int side, beyond;
    if (gz_pair_load(&pair, &side) != GRAZE_OK) fail("a pair cannot be loaded");
    convex_simplex simplex = {.p = {gz_pair_point(&pair, 0, 0)}, .count = 1};
    j->results[i].hit = gz_gjk_exact(&pair, &simplex, &distance, normal, &beyond) == CONVEX_HIT || beyond <= 0;
  }
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  gz_pair_release(&pair);
  tell(j, out);
}
#endif

static void one_batch(bench *b, const char *name, graze_convex_ask ask, double far, shape_kind kind) {
  if (!bench_wants(b, "convex/%s", name)) return;
  convex_job j = {.context = b->context, .count = b->list ? 1 : b->quick ? 100 : 10000, .ask = ask};
  make_pairs(&j, far, kind);
  contest c;
  contest_begin(&c, b, "pair", j.count, j.count, "convex/%s", name);
#ifdef BENCH_PRIVATE
  sample truth = {0};
  if (kind != CYLINDERS) { /* for which there are no integers */
    run_integers(&j, true, &truth);
    contest_expect(&c, truth.count, truth.hash);
    if (ask == GRAZE_CONVEX_MEET) contest_ours(&c, "cpu/integers", run_integers, &j)->alternative = true;
  }
#endif
  contest_ours(&c, "cpu", run_batch, &j);
  if (ask == GRAZE_CONVEX_MEET) contest_ours(&c, "cpu/single", run_single, &j)->alternative = true;
  contest_end(&c);
  free_pairs(&j);
}

/* ---- hulls ------------------------------------------------------------------------------------------------------ */

typedef struct hull_job {
  graze_context *context;
  double *points;
  uint32_t count;
} hull_job;

static void run_hull(void *argument, bool check, sample *out) {
  hull_job *j = argument;
  graze_hull *hull;
  (void)check;
  double start = seconds_now();
  if (graze_hull_create(j->context, j->count, j->points, &hull) != GRAZE_OK)
    fail("%s", graze_last_error(j->context)->message);
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  out->count = hull->triangle_count;
  for (uint32_t v = 0; v < hull->vertex_count; v++) out->hash += splitmix64(hull->vertices[v]);
  graze_hull_destroy(hull);
}

static void one_hull(bench *b, const char *name, bool on_sphere) {
  if (!bench_wants(b, "convex/%s", name)) return;
  hull_job j = {.context = b->context, .count = b->list ? 4 : b->quick ? 1000 : on_sphere ? 100000 : 1000000};
  j.points = must_alloc(3 * (size_t)j.count, sizeof *j.points);
  uint64_t state = 9;
  for (size_t i = 0; i < 3 * (size_t)j.count; i += 3) {
    for (size_t k = 0; k < 3; k++) j.points[i + k] = draw_signed(&state);
    if (on_sphere) on_ball(&state, j.points + i);
  }
  contest c;
  contest_begin(&c, b, "point", j.count, j.count, "convex/%s", name);
  contest_ours(&c, "cpu", run_hull, &j);
  contest_end(&c);
  free(j.points);
}

void work_convex(bench *b) {
  one_batch(b, "meet", GRAZE_CONVEX_MEET, 3, FRAGMENTS);
  one_batch(b, "distance", GRAZE_CONVEX_MEASURE, 3, FRAGMENTS);
  one_batch(b, "depth", GRAZE_CONVEX_MEASURE, 1, FRAGMENTS);
  one_batch(b, "boxes", GRAZE_CONVEX_MEET, 0.5, BOXES);
  one_batch(b, "capsules", GRAZE_CONVEX_MEET, 3, CAPSULES);
  one_batch(b, "cylinders", GRAZE_CONVEX_MEET, 3, CYLINDERS);
  one_batch(b, "cylinders-measured", GRAZE_CONVEX_MEASURE, 3, CYLINDERS);
  one_hull(b, "hull", false);
  one_hull(b, "hull-sphere", true);
}
