/* bench/work_distance.c: distances of points from meshes, some of them held against what every triangle says where that
 * can be reached; and bounds of a million points. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distances.h"
#include "graze/graze.h"
#include "models.h"
#include "peer_inputs.h"
#ifdef BENCH_PRIVATE
#include "exact/near.h"
#include "exact/near_point.h"
#endif

static uint64_t hash_of(uint64_t number, double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return splitmix64(number ^ bits);
}

static void must_work(const graze_context *context, graze_status status) {
  if (status != GRAZE_OK) fail("%s", graze_last_error(context)->message);
}

/* ---- points ---------------------------------------------------------------------------------------------------- */

typedef struct point_job {
  graze_context *context;
  graze_query *query;
  graze_mesh *mesh;
  double *points;
  graze_point_distance *results;
  uint32_t count;
  distances found;
} point_job;

static void run_points(void *argument, bool check, sample *out) {
  point_job *j = argument;
  (void)check;
  double start = seconds_now();
  must_work(j->context, graze_mesh_point_distances(j->query, j->mesh, NULL, j->points, 0, j->count, NULL, j->results));
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  out->count = j->count;
  for (uint32_t i = 0; i < j->count; i++) j->found.answers[i] = j->results[i].distance;
}

#ifdef BENCH_PRIVATE
/* The least of the rounded distances from all triangles, and the first triangle that has it. */
static void ask_every(const point_job *j, const double *p, graze_point_distance *r) {
  const uint32_t triangles = graze_mesh_triangle_count(j->mesh);
  near_point_function *bounds = gz_near_point_best();
  double corners[9][8], c[9], lower[8], upper[8];
  *r = (graze_point_distance){.distance = (double)INFINITY};
  for (uint32_t t = 0; t < triangles; t += 8) {
    for (uint32_t i = 0; i < 8; i++) {
      graze_mesh_get_triangle(j->mesh, t + i < triangles ? t + i : t, c);
      for (int k = 0; k < 9; k++) corners[k][i] = c[k];
    }
    bounds(p, corners[0], lower, upper);
    for (uint32_t i = 0; i < 8 && t + i < triangles; i++) {
      if (lower[i] > r->distance) continue;
      for (int k = 0; k < 9; k++) c[k] = corners[k][i];
      double d = gz_point_distance(p, c, lower[i], upper[i], gz_point_feature(p, c)).distance;
      if (!(d < r->distance)) continue;
      r->distance = d;
      r->triangle = t + i;
    }
  }
}

/* Some of the results against that. */
static void check_points(const point_job *j) {
  graze_point_distance want;
  for (uint32_t i = 0; i < j->count; i += j->count / 50 + 1) {
    ask_every(j, j->points + 3 * (size_t)i, &want);
    if (want.distance != j->results[i].distance || want.triangle != j->results[i].triangle)
      fail("the distance of point %u is wrong", i);
  }
}
#endif

/* Anywhere in the box around the mesh, half as large again. */
static void points_of(bench *b, const char *name, const char *mesh) {
  model m;
  if (!bench_wants(b, "distance/%s", name) || !model_get(b, mesh, &m)) return;
  point_job j = {.context = b->context, .count = b->list ? 1 : b->quick ? 200 : 10000};
  graze_mesh_facts facts;
  uint64_t state = 1;
  j.mesh = model_bake(b, &m, GRAZE_VOLUMES_ORIENTED, false);
  j.points = must_alloc(3 * (size_t)j.count, sizeof *j.points);
  j.results = must_alloc(j.count, sizeof *j.results);
  must_work(b->context, graze_query_create(b->context, &j.query));
  graze_mesh_get_facts(j.mesh, &facts);
  for (uint32_t i = 0; i < 3 * j.count; i++) {
    const double low = facts.box.min[i % 3], high = facts.box.max[i % 3];
    j.points[i] = 0.5 * (low + high) + 0.75 * (high - low) * draw_signed(&state);
  }
  j.found = distances_make(b, j.count);
  sample first = {0};
  run_points(&j, true, &first);
  memcpy(j.found.expected, j.found.answers, j.count * sizeof *j.found.expected);
#ifdef BENCH_PRIVATE
  check_points(&j);
#endif
  contest c;
  peer_inputs in = peer_inputs_write(b, &m, NULL, NULL);
  peer_inputs_points(&in, b, j.points, j.count);
  contest_begin(&c, b, "point", facts.triangles, j.count, "distance/%s", name);
  distances_join(&c, &j.found);
  contest_ours(&c, "cpu", run_points, &j);
  peer_inputs_join(&c, "points", true, &in);
  contest_end(&c);
  distances_free(&j.found);
  peer_inputs_remove(&in);
  graze_query_destroy(j.query);
  graze_mesh_destroy(j.mesh);
  free(j.points);
  free(j.results);
  model_free(&m);
}

/* ---- triangles ------------------------------------------------------------------------------------------------- */

#ifdef BENCH_PRIVATE

/* As many as stay in the cache, as the blocks of a query do; asked again and again. */
enum { PAIRS = 1 << 12, PASSES = 16 };

typedef struct pair_job {
  tritri_block *blocks;
  double limit;
} pair_job;

static bool nearer_exactly(const tritri_block *block, unsigned i, double limit) {
  double a[9], b[9];
  bool nearer;
  for (int k = 0; k < 9; k++) a[k] = block->a[k][i], b[k] = block->b[k][i];
  if (graze_tritri_nearer(a, b, limit, &nearer) != GRAZE_OK) fail("graze_tritri_nearer");
  return nearer;
}

/* Bounds decide, and where they do not, the exact test. */
static void run_pairs(void *argument, bool check, sample *out) {
  const pair_job *j = argument;
  (void)check;
  double start = seconds_now();
  for (unsigned k = 0; k < PASSES * (PAIRS / TRITRI_BLOCK); k++) {
    const tritri_block *block = &j->blocks[k % (PAIRS / TRITRI_BLOCK)];
    double lower[TRITRI_BLOCK], upper[TRITRI_BLOCK];
    gz_near_block_outside(block, TRITRI_BLOCK, j->limit, j->limit, lower, upper);
    for (unsigned i = 0; i < TRITRI_BLOCK; i++) {
      if (upper[i] < j->limit)
        out->count++;
      else if (lower[i] < j->limit)
        out->count += nearer_exactly(block, i, j->limit);
    }
  }
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
}

/* Triangles in the unit cube, a tenth of it large: about a third of the pairs are nearer than the limit. */
static void pairs_of(bench *b) {
  if (!bench_wants(b, "distance/pairs/generic")) return;
  pair_job j = {.limit = 0.5};
  uint64_t state = 4, count = 0;
  j.blocks = aligned_alloc(_Alignof(tritri_block), PAIRS / TRITRI_BLOCK * sizeof *j.blocks);
  if (!j.blocks) fail("no memory for %d pairs", PAIRS);
  for (unsigned i = 0; i < PAIRS; i++) {
    tritri_block *block = &j.blocks[i / TRITRI_BLOCK];
    double middle[6];
    for (int k = 0; k < 6; k++) middle[k] = 0.5 * draw_signed(&state);
    for (int k = 0; k < 9; k++) {
      block->a[k][i % TRITRI_BLOCK] = middle[k % 3] + 0.05 * draw_signed(&state);
      block->b[k][i % TRITRI_BLOCK] = middle[3 + k % 3] + 0.05 * draw_signed(&state);
    }
    count += nearer_exactly(block, i % TRITRI_BLOCK, j.limit);
  }
  contest c;
  contest_begin(&c, b, "pair", PAIRS, (uint64_t)PASSES * PAIRS, "distance/pairs/generic");
  contest_expect(&c, PASSES * count, 0);
  contest_ours(&c, "cpu", run_pairs, &j);
  contest_end(&c);
  free(j.blocks);
}

#endif

/* ---- bounds ---------------------------------------------------------------------------------------------------- */

typedef struct bound_job {
  graze_context *context;
  graze_points points;
} bound_job;

static void run_slabs(void *argument, bool check, sample *out) {
  bound_job *j = argument;
  graze_kdop kdop;
  double start = seconds_now();
  must_work(j->context, graze_bound_slabs(j->context, &j->points, 26, &kdop));
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  for (uint32_t i = 0; i < GRAZE_SLABS && check; i++)
    out->hash += hash_of(i, kdop.min[i]) + hash_of(100 + i, kdop.max[i]);
}

static void run_sphere(void *argument, bool check, sample *out) {
  bound_job *j = argument;
  graze_sphere sphere;
  uint64_t support[4];
  uint32_t count;
  double start = seconds_now();
  must_work(j->context, graze_bound_smallest_sphere(j->context, &j->points, &sphere, support, &count));
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  out->count = count;
  if (check) out->hash = hash_of(0, sphere.radius);
}

static void bounds_of(bench *b, const char *name, run_function run) {
  if (!bench_wants(b, "bounds/%s", name)) return;
  bound_job j = {.context = b->context};
  j.points = (graze_points){.count = b->list ? 1 : b->quick ? 10000 : 1000000, .precision = GRAZE_FLOAT};
  float *p = must_alloc(3 * j.points.count, sizeof *p);
  uint64_t state = 3;
  for (uint64_t i = 0; i < 3 * j.points.count; i++) p[i] = (float)draw_signed(&state);
  j.points.first = p;
  contest c;
  contest_begin(&c, b, "point", j.points.count, j.points.count, "bounds/%s", name);
  contest_ours(&c, "cpu", run, &j);
  contest_end(&c);
  free(p);
}

void work_distance(bench *b) {
  points_of(b, "points/blob", "blob");
  points_of(b, "points/knot", "knot");
#ifdef BENCH_PRIVATE
  pairs_of(b);
#endif
  bounds_of(b, "slabs_26", run_slabs);
  bounds_of(b, "smallest_sphere", run_sphere);
}
