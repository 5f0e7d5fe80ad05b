/* bench/work_self.c: a mesh against itself, and the candidate boxes of the wavy plane: with the bake, whose peers build
 * as well, and baked before, whose peers have built before. */
#include <stdio.h>
#include <string.h>

#include "contest.h"
#include "peer_inputs.h"
#include "reference.h"

/* ---- one mesh against itself ------------------------------------------------------------------------------------- */

typedef struct self_job {
  bench *b;
  const model *model;
  graze_query *query; /* NULL: made anew in every run, and that time counts; so it is with the mesh */
  graze_mesh *mesh;
  graze_volumes volumes;
  bool no_adjacency;
  bool boxes; /* candidate boxes instead of intersections */
} self_job;

static void ask_self(const self_job *j, graze_query *query, const graze_mesh *mesh, sample *out) {
  graze_collide_options options = graze_default_collide_options();
  options.find = j->boxes ? GRAZE_FIND_COUNT : GRAZE_FIND_ALL;
  if (j->boxes) {
    graze_collide_result result;
    must(graze_collide_self_boxes(query, mesh, &options, &result), "graze_collide_self_boxes");
    out->count = result.counts.triangle_pairs;
    out->hash = result.counts.hash;
  } else {
    graze_self_result result;
    must(graze_collide_self(query, mesh, &options, &result), "graze_collide_self");
    out->count = result.self_pairs;
    out->hash = result.hash;
  }
}

static void run_self(void *argument, bool check, sample *out) {
  self_job *j = argument;
  (void)check;
  double start = seconds_now();
  graze_mesh *mesh = j->mesh ? j->mesh : model_bake(j->b, j->model, j->volumes, j->no_adjacency);
  graze_query *query = j->query;
  if (!query) must(graze_query_create(j->b->context, &query), "graze_query_create");
  ask_self(j, query, mesh, out);
  if (!j->query) graze_query_destroy(query);
  if (!j->mesh) graze_mesh_destroy(mesh);
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
}

/* Some peers look only at pairs without a common vertex (variants disjoint_*): they are compared with those. */
static void judge_self(contest *c, entry *e) {
  const reference_self *r = c->judge_argument;
  bool only = strstr(e->command, " disjoint_") != NULL;
  const reference *expected = only ? &r->disjoint : &r->all;
  uint64_t count = e->checked.count;
  e->right = count == expected->count && e->checked.hash == expected->hash;
  e->wrong = count > expected->count ? count - expected->count : expected->count - count;
  if (only) snprintf(e->note, sizeof e->note, "pairs without a common vertex only");
}

/* What contests about one mesh share. */
typedef struct self_setting {
  bench *b;
  model model;
  graze_query *query; /* kept */
  reference_self expected;
  peer_inputs in;
} self_setting;

static self_job self_job_make(const self_setting *s, graze_volumes volumes, bool no_adjacency) {
  return (self_job){.b = s->b, .model = &s->model, .query = s->query, .volumes = volumes, .no_adjacency = no_adjacency};
}

/* Each with its bake; `fresh` also with a query of its own. */
static void self_with_bake(self_setting *s) {
  self_job jobs[4] = {self_job_make(s, GRAZE_VOLUMES_ORIENTED, false), self_job_make(s, GRAZE_VOLUMES_ORIENTED, false),
                      self_job_make(s, GRAZE_VOLUMES_ORIENTED, true), self_job_make(s, GRAZE_VOLUMES_ALIGNED, true)};
  contest c;
  jobs[1].query = NULL;
  contest_begin(&c, s->b, "triangle", s->model.triangle_count, s->model.triangle_count, "self/%s", s->model.name);
  c.judge = judge_self;
  c.judge_argument = &s->expected;
  contest_ours(&c, "cpu/oriented_full", run_self, &jobs[0]); /* the default, so the base */
  contest_ours(&c, "cpu/oriented_full_fresh", run_self, &jobs[1]);
  contest_ours(&c, "cpu/oriented", run_self, &jobs[2]);
  contest_ours(&c, "cpu", run_self, &jobs[3]);
  peer_inputs_join(&c, "self", false, &s->in);
  contest_end(&c);
}

/* Baked before. */
static void self_query(self_setting *s) {
  self_job jobs[2] = {self_job_make(s, GRAZE_VOLUMES_ORIENTED, false), self_job_make(s, GRAZE_VOLUMES_ALIGNED, false)};
  contest c;
  for (int k = 0; k < 2; k++) jobs[k].mesh = model_bake(s->b, &s->model, jobs[k].volumes, false);
  contest_begin(&c, s->b, "triangle", s->model.triangle_count, s->model.triangle_count, "self_query/%s", s->model.name);
  c.judge = judge_self;
  c.judge_argument = &s->expected;
  contest_ours(&c, "cpu/oriented_query", run_self, &jobs[0]);
  contest_ours(&c, "cpu/query_only", run_self, &jobs[1]);
  peer_inputs_join(&c, "self_query", false, &s->in);
  contest_end(&c);
  for (int k = 0; k < 2; k++) graze_mesh_destroy(jobs[k].mesh);
}

static void one_self(bench *b, const char *name) {
  self_setting s = {.b = b};
  bool whole = bench_wants(b, "self/%s", name), query = bench_wants(b, "self_query/%s", name);
  if ((!whole && !query) || !model_get(b, name, &s.model)) return;
  s.expected = reference_self_pairs(&s.model);
  s.in = peer_inputs_write(b, &s.model, NULL, NULL);
  must(graze_query_create(b->context, &s.query), "graze_query_create");
  if (whole) self_with_bake(&s);
  if (query) self_query(&s);
  graze_query_destroy(s.query);
  peer_inputs_remove(&s.in);
  model_free(&s.model);
}

void work_self(bench *b) {
  static const char *const names[] = {"bunny", "dragon200k", "armadillo346k", "dragon", "bunny2x", "dragon2x",
                                      "blob",  "knot",       "knot2x",        "discs",  "cog"};
  for (size_t i = 0; i < COUNT_OF(names); i++) one_self(b, names[i]);
}

/* ---- the wavy plane ---------------------------------------------------------------------------------------------- */

static void wave_begin(contest *c, const self_setting *s, const reference *expected, const char *family) {
  const uint64_t n = s->model.triangle_count;
  contest_begin(c, s->b, "triangle", n, n, "%s/%lu", family, (unsigned long)n);
  contest_expect(c, expected->count, expected->hash);
}

static void wave_with_bake(const self_setting *s, const reference *expected) {
  self_job jobs[3] = {self_job_make(s, GRAZE_VOLUMES_ALIGNED, true), self_job_make(s, GRAZE_VOLUMES_ALIGNED, false),
                      self_job_make(s, GRAZE_VOLUMES_ALIGNED, true)};
  contest c;
  for (int k = 0; k < 3; k++) jobs[k].boxes = true;
  jobs[2].query = NULL;
  wave_begin(&c, s, expected, "wave");
  contest_ours(&c, "cpu", run_self, &jobs[0]);
  contest_ours(&c, "cpu/full", run_self, &jobs[1]);
  contest_ours(&c, "cpu/fresh", run_self, &jobs[2]);
  peer_inputs_join(&c, "wave", false, &s->in);
  contest_end(&c);
}

static void wave_query(const self_setting *s, const reference *expected) {
  self_job job = self_job_make(s, GRAZE_VOLUMES_ALIGNED, true);
  contest c;
  job.boxes = true;
  job.mesh = model_bake(s->b, &s->model, GRAZE_VOLUMES_ALIGNED, true);
  wave_begin(&c, s, expected, "wave_query");
  contest_ours(&c, "cpu/query_only", run_self, &job);
  peer_inputs_join(&c, "wave_query", false, &s->in);
  contest_end(&c);
  graze_mesh_destroy(job.mesh);
}

static void one_wave(bench *b, uint32_t n) {
  self_setting s = {.b = b};
  char name[32];
  snprintf(name, sizeof name, "plane%u", n);
  const bool whole = bench_wants(b, "wave/%u", 2 * n * n), query = bench_wants(b, "wave_query/%u", 2 * n * n);
  if ((!whole && !query) || !model_get(b, name, &s.model)) return;
  reference expected = reference_boxes(&s.model);
  s.in = peer_inputs_write(b, &s.model, NULL, NULL);
  must(graze_query_create(b->context, &s.query), "graze_query_create");
  if (whole) wave_with_bake(&s, &expected);
  if (query) wave_query(&s, &expected);
  graze_query_destroy(s.query);
  peer_inputs_remove(&s.in);
  model_free(&s.model);
}

void work_wave(bench *b) {
  const uint32_t *sides;
  const size_t n = model_wave_sides(b, &sides);
  for (size_t i = 0; i < n; i++) one_wave(b, sides[i]);
}
