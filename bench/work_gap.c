/* bench/work_gap.c: the distance of two meshes at a pose. Everyone's answers are compared with the exact ones, and one
 * of these with what every pair of triangles near enough says. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "distances.h"
#include "graze/graze.h"
#include "peer_inputs.h"

#define MOVED 0x1p-10 /* how far the second mesh moves between two questions, of models with a diagonal of 1 */

typedef struct gap_job {
  graze_query *query;
  graze_mesh *a, *b, *speck; /* one triangle, for questions that have nothing to do with the others */
  const pose_list *poses;
  distances found;
  char work[96]; /* what a question takes, on average over the poses */
  double overhead;
} gap_job;

static graze_distance_result ask(const gap_job *j, const graze_mesh *a, const graze_mesh *b, const graze_pose *pose) {
  graze_distance_result result;
  must(graze_mesh_distance(j->query, a, NULL, b, pose, NULL, &result), "graze_mesh_distance");
  return result;
}

static graze_pose pose_of(const gap_job *j, uint32_t i) {
  graze_pose pose;
  memcpy(pose.m, j->poses->matrices[i], sizeof pose.m);
  return pose;
}

/* Asks at every pose, with the time and the work of each question; `before` tells what is asked first. */
static void ask_all(gap_job *j, void (*before)(const gap_job *, graze_pose), sample *out) {
  uint64_t nodes = 0, triangles = 0;
  out->count = out->timed = j->poses->count;
  for (uint32_t i = 0; i < j->poses->count; i++) {
    const graze_pose pose = pose_of(j, i);
    before(j, pose);
    double start = seconds_now();
    const graze_distance_result r = ask(j, j->a, j->b, &pose);
    out->seconds[i] = seconds_now() - start - j->overhead;
    j->found.answers[i] = r.nearest.distance;
    nodes += r.work.node_pairs;
    triangles += r.work.triangle_tests;
  }
  snprintf(j->work, sizeof j->work, "%lu pairs of nodes and %lu of triangles a pose", nodes / j->poses->count,
           triangles / j->poses->count);
}

/* Nothing is known of the meshes when the question is asked: the search has no bound to begin with. */
static void ask_of_others(const gap_job *j, graze_pose pose) {
  (void)pose;
  ask(j, j->speck, j->speck, NULL);
}

static void run_cold(void *argument, bool check, sample *out) {
  (void)check;
  ask_all(argument, ask_of_others, out);
}

/* The mesh was nearly there when the last question was asked. */
static void ask_nearby(const gap_job *j, graze_pose pose) {
  pose.m[3] += MOVED;
  ask(j, j->a, j->b, &pose);
}

static void run_moved(void *argument, bool check, sample *out) {
  (void)check;
  ask_all(argument, ask_nearby, out);
}

/* Whether the gap is below a share of what it is: with nothing known, and nothing but that asked. */
static void decide_all(gap_job *j, double share, sample *out) {
  graze_distance_options options = graze_default_distance_options();
  out->count = out->timed = j->poses->count;
  for (uint32_t i = 0; i < j->poses->count; i++) {
    const graze_pose pose = pose_of(j, i);
    graze_distance_result r;
    options.limit = options.error = share * j->found.expected[i];
    ask_of_others(j, pose);
    double start = seconds_now();
    must(graze_mesh_distance(j->query, j->a, NULL, j->b, &pose, &options, &r), "graze_mesh_distance");
    out->seconds[i] = seconds_now() - start - j->overhead;
    if (r.found != (share > 1)) fail("whether the meshes are near at pose %u is wrong", i);
    j->found.answers[i] = j->found.expected[i];
  }
  snprintf(j->work, sizeof j->work, "limits of %g times the distance", share);
}

static void run_below(void *argument, bool check, sample *out) {
  (void)check;
  decide_all(argument, 0.9, out);
}

static void run_above(void *argument, bool check, sample *out) {
  (void)check;
  decide_all(argument, 1.1, out);
}

/* ---- what is right --------------------------------------------------------------------------------------------- */

/* The corners of a triangle at a pose, tier T1, and the box around them. */
typedef struct posed_triangle {
  double corners[9], low[3], high[3];
} posed_triangle;

static posed_triangle pose_triangle(const model *m, uint32_t triangle, const double pose[12]) {
  posed_triangle t;
  for (int k = 0; k < 3; k++) t.low[k] = (double)INFINITY, t.high[k] = -(double)INFINITY;
  for (int c = 0; c < 3; c++) {
    const float *p = m->vertices + 3 * (size_t)m->indices[3 * (size_t)triangle + (size_t)c];
    for (int k = 0; k < 3; k++) {
      double x = p[k];
      if (pose != NULL) x = ((pose[4 * k] * p[0] + pose[4 * k + 1] * p[1]) + pose[4 * k + 2] * p[2]) + pose[4 * k + 3];
      t.corners[3 * c + k] = x;
      t.low[k] = fmin(t.low[k], x);
      t.high[k] = fmax(t.high[k], x);
    }
  }
  return t;
}

static int left_order(const void *p, const void *q) {
  const double x = ((const posed_triangle *)p)->low[0], y = ((const posed_triangle *)q)->low[0];
  return (x > y) - (x < y);
}

static bool boxes_nearer(const posed_triangle *a, const posed_triangle *b, double distance) {
  for (int k = 0; k < 3; k++)
    if (a->low[k] - b->high[k] > distance || b->low[k] - a->high[k] > distance) return false;
  return true;
}

/* No triangle of x is nearer to one of y at the pose than the double below `distance`, which is rounded:
 * a sweep, and the scalar test of two triangles. */
static bool nothing_nearer(const model *x, const model *y, const double pose[12], double distance) {
  posed_triangle *other = must_alloc(y->triangle_count, sizeof *other);
  const double below = nextafter(distance, 0);
  bool nearer = false;
  for (uint32_t i = 0; i < y->triangle_count; i++) other[i] = pose_triangle(y, i, pose);
  qsort(other, y->triangle_count, sizeof *other, left_order);
  for (uint32_t i = 0; i < x->triangle_count && !nearer; i++) {
    const posed_triangle t = pose_triangle(x, i, NULL);
    for (uint32_t k = 0; k < y->triangle_count && other[k].low[0] <= t.high[0] + distance && !nearer; k++)
      if (boxes_nearer(&t, &other[k], distance))
        must(graze_tritri_nearer(t.corners, other[k].corners, below, &nearer), "graze_tritri_nearer");
  }
  free(other);
  return !nearer;
}

/* The distances, of which each must be that of the triangles that are told, and the first that of the meshes. */
static void expect(gap_job *j, const model *x, const model *y) {
  for (uint32_t i = 0; i < j->poses->count; i++) {
    const graze_pose pose = pose_of(j, i);
    const graze_distance_result r = ask(j, j->a, j->b, &pose);
    const posed_triangle a = pose_triangle(x, r.triangles.a, NULL), b = pose_triangle(y, r.triangles.b, pose.m);
    graze_nearest own;
    j->found.expected[i] = r.nearest.distance;
    must(graze_tritri_distance(a.corners, b.corners, &own), "graze_tritri_distance");
    if (own.distance != r.nearest.distance || (i == 0 && !nothing_nearer(x, y, pose.m, r.nearest.distance)))
      fail("the distance at pose %u is wrong", i);
  }
}

/* ---- workloads -------------------------------------------------------------------------------------------------- */

static void gap_case(bench *b, const char *name, const model *x, const model *y, const pose_list *poses) {
  gap_job j = {.poses = poses, .overhead = clock_overhead()};
  float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  uint32_t triangle[3] = {0, 1, 2};
  const model speck = {
      .name = "speck", .vertices = corners, .indices = triangle, .vertex_count = 3, .triangle_count = 1};
  contest c;
  peer_inputs in = peer_inputs_write(b, x, y, poses);
  must(graze_query_create(b->context, &j.query), "graze_query_create");
  j.a = model_bake(b, x, GRAZE_VOLUMES_ORIENTED, true);
  j.b = model_bake(b, y, GRAZE_VOLUMES_ORIENTED, true);
  j.speck = model_bake(b, &speck, GRAZE_VOLUMES_ORIENTED, true);
  j.found = distances_make(b, poses->count);
  j.found.work = j.work;
  expect(&j, x, y);
  contest_begin(&c, b, "pose", x->triangle_count, poses->count, "distance/%s", name);
  distances_join(&c, &j.found);
  contest_ours(&c, "cpu", run_cold, &j);
  contest_ours(&c, "cpu/moved", run_moved, &j);
  contest_ours(&c, "cpu/limit_0.9", run_below, &j);
  contest_ours(&c, "cpu/limit_1.1", run_above, &j);
  peer_inputs_join(&c, "distance", true, &in);
  contest_end(&c);
  distances_free(&j.found);
  graze_mesh_destroy(j.a);
  graze_mesh_destroy(j.b);
  graze_mesh_destroy(j.speck);
  graze_query_destroy(j.query);
  peer_inputs_remove(&in);
}

static void copies(bench *b) {
  static const char *const meshes[] = {"bunny", "armadillo346k", "dragon200k", "blob", "knot"};
  static const char *const kinds[] = {"near", "far"};
  for (size_t i = 0; i < COUNT_OF(meshes); i++)
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
      char name[64];
      model m;
      snprintf(name, sizeof name, "%s/%s", meshes[i], kinds[k]);
      if (!bench_wants(b, "distance/%s", name) || !model_get(b, meshes[i], &m)) continue;
      pose_list p = poses_get(b, &m, kinds[k], b->quick ? 5 : 50);
      gap_case(b, name, &m, &m, &p);
      model_free(&m);
    }
}

/* The second part moved by a quarter of the gap at most along each axis, and turned about z by as much of what lies at
 * a distance of 1. */
static pose_list poses_within(double gap, uint32_t count) {
  pose_list p = {.count = count};
  uint64_t state = 1;
  for (uint32_t i = 0; i < count; i++) {
    const double turn = 0.25 * gap * draw_signed(&state), c = cos(turn), s = sin(turn);
    const double pose[12] = {c, -s, 0, 0.25 * gap * draw_signed(&state), s, c, 0, 0.25 * gap * draw_signed(&state),
                             0, 0,  1, 0.25 * gap * draw_signed(&state)};
    memcpy(p.matrices[i], pose, sizeof pose);
  }
  return p;
}

/* Parts that fit into each other, scaled to a diagonal of about 1: everything is near everything. */
static void fits(bench *b) {
  static const struct {
    const char *kind;
    double scale, gap;
  } rows[] = {{"peg", 10, 0x1p-12}, {"gears", 6, 0x1p-12}, {"bolt", 24, 0x1p-13}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    char name[64];
    model both[2] = {{.name = "first"}, {.name = "second"}};
    snprintf(name, sizeof name, "fit/%s", rows[i].kind);
    if (!bench_wants(b, "distance/%s", name)) continue;
    models_of_scene(rows[i].kind, 0, rows[i].scale, both);
    const pose_list p = poses_within(rows[i].gap * rows[i].scale, b->quick ? 5 : 50);
    gap_case(b, name, &both[0], &both[1], &p);
    model_free(&both[0]);
    model_free(&both[1]);
  }
}

void work_gap(bench *b) {
  copies(b);
  fits(b);
}
