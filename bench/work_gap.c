/* bench/work_gap.c: the distance of two meshes at a pose. Everyone's answers are compared with the exact ones, and one
 * of these with what every pair of triangles near enough says. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graze/graze.h"
#include "peer_inputs.h"

/* Of models whose boxes have a diagonal of 1. */
#define MOVED     0x1p-10 /* how far the second mesh moves between two questions */
#define ALLOWANCE 1e-9    /* what the answers of others may be off by */

typedef struct gap_job {
  graze_query *query;
  graze_mesh *a, *b, *speck; /* one triangle, for questions that have nothing to do with the others */
  const pose_list *poses;
  double *expected, *answers;
  uint64_t node_pairs, triangle_pairs; /* that a question takes, on average over the poses */
  char *answer_path;
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
    j->answers[i] = r.nearest.distance;
    nodes += r.work.node_pairs;
    triangles += r.work.triangle_tests;
  }
  j->node_pairs = nodes / j->poses->count;
  j->triangle_pairs = triangles / j->poses->count;
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

/* No triangle of the mesh is nearer to one of its copy at the pose than the double below `distance`, which is rounded:
 * a sweep, and the scalar test of two triangles. */
static bool nothing_nearer(const model *m, const double pose[12], double distance) {
  posed_triangle *other = must_alloc(m->triangle_count, sizeof *other);
  const double below = nextafter(distance, 0);
  bool nearer = false;
  for (uint32_t i = 0; i < m->triangle_count; i++) other[i] = pose_triangle(m, i, pose);
  qsort(other, m->triangle_count, sizeof *other, left_order);
  for (uint32_t i = 0; i < m->triangle_count && !nearer; i++) {
    const posed_triangle t = pose_triangle(m, i, NULL);
    for (uint32_t k = 0; k < m->triangle_count && other[k].low[0] <= t.high[0] + distance && !nearer; k++)
      if (boxes_nearer(&t, &other[k], distance))
        must(graze_tritri_nearer(t.corners, other[k].corners, below, &nearer), "graze_tritri_nearer");
  }
  free(other);
  return !nearer;
}

/* The distances, of which each must be that of the triangles that are told, and the first that of the meshes. */
static void expect(gap_job *j, const model *m) {
  for (uint32_t i = 0; i < j->poses->count; i++) {
    const graze_pose pose = pose_of(j, i);
    const graze_distance_result r = ask(j, j->a, j->b, &pose);
    const posed_triangle a = pose_triangle(m, r.triangles.a, NULL), b = pose_triangle(m, r.triangles.b, pose.m);
    graze_nearest own;
    j->expected[i] = r.nearest.distance;
    must(graze_tritri_distance(a.corners, b.corners, &own), "graze_tritri_distance");
    if (own.distance != r.nearest.distance || (i == 0 && !nothing_nearer(m, pose.m, r.nearest.distance)))
      fail("the distance at pose %u is wrong", i);
  }
}

static bool read_answers(const gap_job *j, uint32_t count) {
  FILE *f = fopen(j->answer_path, "rb");
  if (!f) return false;
  bool good = fread(j->answers, sizeof(double), count, f) == count;
  fclose(f);
  return good;
}

/* Ours must be the same numbers. */
static void judge(contest *c, entry *e) {
  gap_job *j = c->judge_argument;
  double worst = 0;
  e->no_hash = true;
  if (e->program && !read_answers(j, e->checked.timed)) {
    e->failed = true;
    snprintf(e->note, sizeof e->note, "left no answers");
    return;
  }
  for (uint32_t i = 0; i < e->checked.timed; i++) {
    double off = fabs(j->answers[i] - j->expected[i]);
    e->wrong += !(off <= (e->ours ? 0 : ALLOWANCE));
    worst = fmax(worst, off);
  }
  e->right = e->wrong == 0;
  if (e->program)
    snprintf(e->note, sizeof e->note, "off by %.1e at most", worst);
  else
    snprintf(e->note, sizeof e->note, "%lu pairs of nodes and %lu of triangles a pose", j->node_pairs,
             j->triangle_pairs);
}

/* ---- workloads -------------------------------------------------------------------------------------------------- */

static void gap_case(bench *b, const model *m, const char *kind, pose_list *poses) {
  gap_job j = {.poses = poses, .overhead = clock_overhead()};
  float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  uint32_t triangle[3] = {0, 1, 2};
  const model speck = {
      .name = "speck", .vertices = corners, .indices = triangle, .vertex_count = 3, .triangle_count = 1};
  contest c;
  peer_inputs in = peer_inputs_write(b, m, m, poses);
  must(graze_query_create(b->context, &j.query), "graze_query_create");
  j.a = model_bake(b, m, GRAZE_VOLUMES_ORIENTED, true);
  j.b = model_bake(b, m, GRAZE_VOLUMES_ORIENTED, true);
  j.speck = model_bake(b, &speck, GRAZE_VOLUMES_ORIENTED, true);
  j.expected = must_alloc(poses->count, sizeof *j.expected);
  j.answers = must_alloc(poses->count, sizeof *j.answers);
  j.answer_path = text_of("%s/distances.bin", b->work_folder);
  expect(&j, m);
  contest_begin(&c, b, "pose", m->triangle_count, poses->count, "distance/%s/%s", m->name, kind);
  c.judge = judge;
  c.judge_argument = &j;
  c.answers = j.answer_path;
  contest_ours(&c, "cpu", run_cold, &j);
  contest_ours(&c, "cpu/moved", run_moved, &j);
  peer_inputs_join(&c, "distance", true, &in);
  contest_end(&c);
  remove(j.answer_path);
  free(j.answer_path);
  free(j.expected);
  free(j.answers);
  graze_mesh_destroy(j.a);
  graze_mesh_destroy(j.b);
  graze_mesh_destroy(j.speck);
  graze_query_destroy(j.query);
  peer_inputs_remove(&in);
}

void work_gap(bench *b) {
  static const char *const meshes[] = {"bunny", "armadillo346k", "dragon200k", "blob", "knot"};
  static const char *const kinds[] = {"near", "far"};
  for (size_t i = 0; i < COUNT_OF(meshes); i++)
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
      model m;
      if (!bench_wants(b, "distance/%s/%s", meshes[i], kinds[k]) || !model_get(b, meshes[i], &m)) continue;
      pose_list p = poses_get(b, &m, kinds[k], b->quick ? 5 : 50);
      gap_case(b, &m, kinds[k], &p);
      model_free(&m);
    }
}
