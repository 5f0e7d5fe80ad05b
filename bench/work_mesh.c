/* bench/work_mesh.c: whole meshes: building, any contact at a pose, all meeting pairs. Peers get the same float
 * coordinates and the same matrices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contest.h"
#include "peer_inputs.h"
#include "reference.h"

/* ---- build ------------------------------------------------------------------------------------------------------ */

typedef struct build_job {
  bench *b;
  const model *model;
  graze_volumes volumes;
  bool no_adjacency;
  graze_mesh *mesh;    /* refit: made beforehand */
  float *positions[2]; /* refit: two sets, in turn */
  int turn;
} build_job;

static void run_build(void *argument, bool check, sample *out) {
  build_job *j = argument;
  graze_mesh_facts facts;
  (void)check;
  double start = seconds_now();
  graze_mesh *mesh = model_bake(j->b, j->model, j->volumes, j->no_adjacency);
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  graze_mesh_get_facts(mesh, &facts);
  out->count = facts.triangles;
  out->bytes = facts.bytes;
  graze_mesh_destroy(mesh);
}

static void run_refit(void *argument, bool check, sample *out) {
  build_job *j = argument;
  (void)check;
  j->turn = !j->turn;
  double start = seconds_now();
  must(graze_mesh_refit(j->mesh, j->positions[j->turn], 0), "graze_mesh_refit");
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  out->count = graze_mesh_triangle_count(j->mesh);
}

/* The block must be at most 120 bytes a triangle. */
static void judge_build(contest *c, entry *e) {
  e->no_hash = true;
  e->right = e->checked.count == c->size;
  if (!e->checked.bytes) return;
  double each = (double)e->checked.bytes / (double)c->size;
  snprintf(e->note, sizeof e->note, "%.1f bytes a triangle", each);
  if (e->ours && each > 120) e->right = false;
}

static void refit_begin(build_job *j) {
  size_t n = 3 * (size_t)j->model->vertex_count;
  j->mesh = model_bake(j->b, j->model, j->volumes, j->no_adjacency);
  for (int k = 0; k < 2; k++) {
    j->positions[k] = must_alloc(n, sizeof(float));
    for (size_t i = 0; i < n; i++) j->positions[k][i] = j->model->vertices[i] * (k ? 1.0f : 1.0009765625f);
  }
}

static void refit_end(build_job *j) {
  graze_mesh_destroy(j->mesh);
  free(j->positions[0]);
  free(j->positions[1]);
}

static void one_build(bench *b, const char *name) {
  model m;
  if (!bench_wants(b, "build/%s", name) || !model_get(b, name, &m)) return;
  build_job jobs[] = {{b, &m, GRAZE_VOLUMES_ORIENTED, false, NULL, {0}, 0},
                      {b, &m, GRAZE_VOLUMES_ORIENTED, true, NULL, {0}, 0},
                      {b, &m, GRAZE_VOLUMES_ALIGNED, true, NULL, {0}, 0},
                      {b, &m, GRAZE_VOLUMES_ALIGNED, false, NULL, {0}, 0}};
  build_job refits[] = {jobs[1], jobs[2]};
  peer_inputs in = peer_inputs_write(b, &m, NULL, NULL);
  contest c;
  contest_begin(&c, b, "triangle", m.triangle_count, m.triangle_count, "build/%s", name);
  c.judge = judge_build;
  contest_ours(&c, "cpu/oriented_full", run_build, &jobs[0]); /* the default, so the base */
  contest_ours(&c, "cpu/oriented", run_build, &jobs[1]);
  contest_ours(&c, "cpu/aligned", run_build, &jobs[2]);
  contest_ours(&c, "cpu/aligned_full", run_build, &jobs[3]);
  for (int k = 0; k < 2; k++) {
    refit_begin(&refits[k]);
    contest_ours(&c, k ? "cpu/refit_aligned" : "cpu/refit_oriented", run_refit, &refits[k]);
  }
  peer_inputs_join(&c, "build", true, &in);
  contest_end(&c);
  for (int k = 0; k < 2; k++) refit_end(&refits[k]);
  peer_inputs_remove(&in);
  model_free(&m);
}

/* The part of wave/N that is the bake. */
static void wave_build(bench *b, uint32_t side) {
  const uint32_t triangles = 2 * side * side;
  char name[32];
  snprintf(name, sizeof name, "plane%u", side);
  model m;
  if (!bench_wants(b, "wave_build/%u", triangles) || !model_get(b, name, &m)) return;
  build_job without = {.b = b, .model = &m, .volumes = GRAZE_VOLUMES_ALIGNED, .no_adjacency = true}, full = without;
  full.no_adjacency = false;
  contest c;
  contest_begin(&c, b, "triangle", triangles, triangles, "wave_build/%u", triangles);
  c.judge = judge_build;
  contest_ours(&c, "cpu", run_build, &without);
  contest_ours(&c, "cpu/full", run_build, &full);
  contest_end(&c);
  model_free(&m);
}

static const char *const whole_meshes[] = {"bunny", "armadillo346k", "dragon", "blob", "knot"};

void work_build(bench *b) {
  const uint32_t *sides;
  const size_t n = model_wave_sides(b, &sides);
  for (size_t i = 0; i < COUNT_OF(whole_meshes); i++) one_build(b, whole_meshes[i]);
  one_build(b, "plane724");
  one_build(b, "plane23"); /* as most parts of an assembly are: what a bake costs before its first triangle counts */
  for (size_t i = 0; i < n; i++) wave_build(b, sides[i]);
}

/* ---- any contact at a pose -------------------------------------------------------------------------------------- */

typedef struct boolean_job {
  graze_query *query;
  graze_mesh *a, *b;
  const pose_list *poses;
  double overhead;
} boolean_job;

static bool any_contact(const boolean_job *j, const double matrix[12]) {
  graze_pose pose;
  graze_collide_result result;
  graze_collide_options options = graze_default_collide_options();
  options.find = GRAZE_FIND_ANY;
  memcpy(pose.m, matrix, sizeof pose.m);
  must(graze_collide_meshes(j->query, j->a, NULL, j->b, &pose, &options, &result), "graze_collide_meshes");
  return result.hit;
}

/* As the peers do it: a pass to warm up, then each pose once. */
static void run_boolean(void *argument, bool check, sample *out) {
  boolean_job *j = argument;
  (void)check;
  out->timed = j->poses->count;
  for (uint32_t i = 0; i < j->poses->count; i++) {
    if (!any_contact(j, j->poses->matrices[i])) continue;
    out->count++;
    out->hash += splitmix64(i);
  }
  for (uint32_t i = 0; i < j->poses->count; i++) {
    double start = seconds_now();
    any_contact(j, j->poses->matrices[i]);
    out->seconds[i] = seconds_now() - start - j->overhead;
  }
}

/* A peer may stop after fewer poses: it is judged on those. */
static void judge_boolean(contest *c, entry *e) {
  const pose_list *p = c->judge_argument;
  uint64_t count = 0, hash = 0;
  for (uint32_t i = 0; i < p->count && i < e->checked.timed; i++) {
    count += p->hits[i];
    hash += p->hits[i] ? splitmix64(i) : 0;
  }
  e->right = e->checked.count == count && e->checked.hash == hash;
  e->wrong = e->checked.count > count ? e->checked.count - count : count - e->checked.count;
  if (e->checked.timed < p->count) snprintf(e->note, sizeof e->note, "%u of %u poses", e->checked.timed, p->count);
}

static void boolean_case(bench *b, const model *x, const model *y, const char *kind, pose_list *poses) {
  boolean_job j = {.poses = poses, .overhead = clock_overhead()};
  contest c;
  peer_inputs in = peer_inputs_write(b, x, y, poses);
  must(graze_query_create(b->context, &j.query), "graze_query_create");
  j.a = model_bake(b, x, GRAZE_VOLUMES_ORIENTED, true);
  j.b = model_bake(b, y, GRAZE_VOLUMES_ORIENTED, true);
  contest_begin(&c, b, "pose", x->triangle_count, poses->count, "boolean/%s/%s", x->name, kind);
  c.judge = judge_boolean;
  c.judge_argument = poses;
  contest_ours(&c, "cpu", run_boolean, &j);
  peer_inputs_join(&c, "boolean", false, &in);
  contest_end(&c);
  graze_mesh_destroy(j.a);
  graze_mesh_destroy(j.b);
  graze_query_destroy(j.query);
  peer_inputs_remove(&in);
}

/* Answers that this program found with the library are checked by the reference before they count as expected. */
static void settle(pose_list *p, const model *x, const model *y) {
  for (uint32_t i = 0; i < p->count && !p->given; i++) p->hits[i] = reference_pairs(x, y, p->matrices[i]).count > 0;
}

static void boolean_nested(bench *b) {
  model outer, inner;
  if (!bench_wants(b, "boolean/sphere_out/nested")) return;
  if (!model_get(b, "sphere_out", &outer) || !model_get(b, "sphere_in", &inner)) return;
  pose_list p = poses_concentric(b->quick ? 2 : 5, 77);
  settle(&p, &outer, &inner);
  boolean_case(b, &outer, &inner, "nested", &p);
  model_free(&outer);
  model_free(&inner);
}

void work_boolean(bench *b) {
  static const char *const kinds[] = {"deep", "near", "far"};
  for (size_t i = 0; i < COUNT_OF(whole_meshes); i++)
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
      model m;
      if (!bench_wants(b, "boolean/%s/%s", whole_meshes[i], kinds[k]) || !model_get(b, whole_meshes[i], &m)) continue;
      pose_list p = poses_get(b, &m, kinds[k], b->quick ? 10 : 50);
      settle(&p, &m, &m);
      boolean_case(b, &m, &m, kinds[k], &p);
      model_free(&m);
    }
  boolean_nested(b);
}

/* ---- all meeting pairs ------------------------------------------------------------------------------------------ */

typedef struct pairs_job {
  graze_query *query;
  graze_mesh *a, *b;
  graze_find find;
} pairs_job;

static void run_pairs(void *argument, bool check, sample *out) {
  pairs_job *j = argument;
  graze_collide_result result;
  graze_collide_options options = graze_default_collide_options();
  options.find = j->find;
  (void)check;
  double start = seconds_now();
  must(graze_collide_meshes(j->query, j->a, NULL, j->b, NULL, &options, &result), "graze_collide_meshes");
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  out->count = result.counts.triangle_pairs;
  out->hash = result.counts.hash;
}

/* Mesh b moved to the pose and rounded to float, so that every engine has the same bits. */
static void one_pairs(bench *b, const char *name, uint32_t pose) {
  model x;
  if (!bench_wants(b, "pairs/%s/%u", name, pose) || !model_get(b, name, &x)) return;
  pose_list p = poses_get(b, &x, "deep", pose + 1);
  if (p.count <= pose) fail("no deep pose %u of %s", pose, name);
  model y = model_posed(&x, p.matrices[pose]);
  peer_inputs in = peer_inputs_write(b, &x, &y, NULL);
  reference expected = reference_pairs(&x, &y, NULL);
  pairs_job list = {.find = GRAZE_FIND_ALL}, count = {.find = GRAZE_FIND_COUNT};
  must(graze_query_create(b->context, &list.query), "graze_query_create");
  list.a = count.a = model_bake(b, &x, GRAZE_VOLUMES_ORIENTED, true);
  list.b = count.b = model_bake(b, &y, GRAZE_VOLUMES_ORIENTED, true);
  count.query = list.query;
  contest c;
  contest_begin(&c, b, "query", x.triangle_count, 1, "pairs/%s/%u", name, pose);
  contest_expect(&c, expected.count, expected.hash);
  contest_ours(&c, "cpu", run_pairs, &list);
  contest_ours(&c, "cpu/count_only", run_pairs, &count);
  peer_inputs_join(&c, "pairs", false, &in);
  contest_end(&c);
  graze_mesh_destroy(list.a);
  graze_mesh_destroy(list.b);
  graze_query_destroy(list.query);
  peer_inputs_remove(&in);
  model_free(&x);
  model_free(&y);
}

void work_pairs(bench *b) {
  for (size_t i = 0; i < COUNT_OF(whole_meshes); i++)
    for (uint32_t pose = 0; pose < (b->quick ? 1 : 3); pose++) one_pairs(b, whole_meshes[i], pose);
}
