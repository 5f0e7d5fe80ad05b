/* bench/work_gpu_triangles.c: every triangle of a model with every one of another, on devices: ours, the processor with
 * its hierarchies, and the kernel of the tutorial (tutorial.h), whose answers are held to the exact ones pair by pair.
 * Models stay on the device; a run is a question, from the pose that is sent to the answer that comes back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contest.h"
#include "poses.h"
#include "reference.h"
#include "tutorial.h"
#include "work_gpu.h"

/* What is expected to take longer is left out. */
#define MOST_SECONDS 3.0

static const double in_place[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

/* ---- models ------------------------------------------------------------------------------------------------------ */

static float random_float(uint64_t *state) {
  *state += 1;
  return (float)(splitmix64(*state) >> 40) * 0x1p-24f;
}

/* Triangles of a size at which each meets a few of the others', evenly in the unit cube. */
static model soup(uint32_t count, uint64_t seed) {
  model m = {.vertex_count = 3 * count, .triangle_count = count};
  uint64_t state = splitmix64(seed);
  float edge = 1;
  while (edge * edge * edge * (float)count > 4) edge *= 0.9f;
  m.vertices = must_alloc(9 * (size_t)count, sizeof *m.vertices);
  m.indices = must_alloc(3 * (size_t)count, sizeof *m.indices);
  for (size_t i = 0; i < 3 * (size_t)count; i++) m.indices[i] = (uint32_t)i;
  for (size_t i = 0; i < count; i++) {
    const float middle[3] = {random_float(&state), random_float(&state), random_float(&state)};
    for (size_t k = 0; k < 9; k++) m.vertices[9 * i + k] = middle[k % 3] + edge * (random_float(&state) - 0.5f);
  }
  return m;
}

/* ---- a question -------------------------------------------------------------------------------------------------- */

/* The two models in all their forms. */
typedef struct couple {
  model models[2];
  graze_mesh *meshes[2];
  tutorial_model rival[2];
  uint64_t pairs;
  pose_list poses; /* of the second one */
} couple;

/* Pairs a second, by one small run each. */
typedef struct rates {
  double ours, collide, judge;
} rates;

typedef struct setting {
  bench *b;
  graze_gpu *gpu;
  bool ready; /* what follows is there */
  graze_query *query, *on_device;
  tutorial rival;
  rates rates;
} setting;

/* Meshes of the device's context: the processor can be asked about them from another one. */
static void couple_prepare(setting *s, couple *c) {
  bench on_device = *s->b;
  on_device.context = s->gpu->context;
  for (int k = 0; k < 2; k++) {
    snprintf(c->models[k].name, sizeof c->models[k].name, "model %d", k);
    c->meshes[k] = model_bake(&on_device, &c->models[k], GRAZE_VOLUMES_ORIENTED, true);
    tutorial_load(&s->rival, &c->rival[k], &c->models[k]);
  }
  c->pairs = (uint64_t)c->models[0].triangle_count * c->models[1].triangle_count;
  if (c->poses.count > 0) return;
  c->poses.count = 1;
  memcpy(c->poses.matrices[0], in_place, sizeof in_place);
}

static void couple_free(setting *s, couple *c) {
  for (int k = 0; k < 2; k++) {
    tutorial_unload(&s->rival, &c->rival[k]);
    graze_mesh_destroy(c->meshes[k]);
    model_free(&c->models[k]);
  }
}

typedef enum asked {
  ASKED_EACH, /* ours, each with each */
  ASKED_TREE, /* ours, with hierarchies */
  ASKED_POSES,
  ASKED_PROCESSOR,
  ASKED_TUTORIAL,
  ASKED_TUTORIAL_ALL
} asked;

typedef struct triangles_job {
  setting *s;
  couple *c;
  asked who;
  graze_find find;
  uint64_t missed, invented; /* by the tutorial: pairs, or answers where it is asked for no more than one */
  uint64_t met;              /* what there was to find */
} triangles_job;

static graze_collide_result ask_exact(const triangles_job *j, bool processor, graze_find find, uint32_t which) {
  const couple *c = j->c;
  graze_collide_options options = graze_default_collide_options();
  graze_collide_result result;
  graze_pose pose;
  options.find = find;
  memcpy(pose.m, c->poses.matrices[which], sizeof pose.m);
  graze_query *query = processor ? j->s->query : j->s->on_device;
  must(graze_collide_meshes(query, c->meshes[0], NULL, c->meshes[1], &pose, &options, &result), "collide");
  return result;
}

/* Holds the tutorial's verdicts to the exact pairs, a row of b at a time. */
static void judge_verdicts(triangles_job *j, uint32_t which) {
  uint32_t n = j->c->rival[0].count, m = j->c->rival[1].count;
  graze_collide_result exact = ask_exact(j, true, GRAZE_FIND_ALL, which);
  unsigned char *verdicts = must_alloc(j->c->pairs, 1);
  must(gz_gpu_read(j->s->gpu, verdicts, &j->s->rival.verdicts, 0, j->c->pairs), "gz_gpu_read");
  uint64_t said = 0, agreed = 0;
  for (size_t i = 0; i < j->c->pairs; i++) said += verdicts[i];
  for (uint64_t i = 0; i < exact.counts.triangle_pairs; i++) {
    if (exact.pairs[i].a >= n || exact.pairs[i].b >= m) fail("a pair that there is not");
    agreed += verdicts[(size_t)exact.pairs[i].b * n + exact.pairs[i].a];
  }
  free(verdicts);
  j->met += exact.counts.triangle_pairs;
  j->missed += exact.counts.triangle_pairs - agreed;
  j->invented += said - agreed;
}

static void judge_answer(triangles_job *j, uint32_t which, bool said) {
  bool hit = ask_exact(j, true, GRAZE_FIND_ANY, which).hit;
  j->met += hit;
  j->missed += hit && !said;
  j->invented += said && !hit;
}

static void ask_tutorial(triangles_job *j, uint32_t which, bool check, sample *out) {
  couple *c = j->c;
  const double *pose = c->poses.matrices[which];
  double start = seconds_now();
  uint64_t said = j->who == ASKED_TUTORIAL ? tutorial_collide(&j->s->rival, &c->rival[0], &c->rival[1], pose)
                                           : tutorial_judge(&j->s->rival, &c->rival[0], &c->rival[1], pose);
  out->seconds[which] = seconds_now() - start;
  out->count += said;
  if (!check) return;
  if (j->who == ASKED_TUTORIAL)
    judge_answer(j, which, said > 0);
  else
    judge_verdicts(j, which);
}

static void check_report(const triangles_job *j, sample *out) {
  const graze_gpu_report report = graze_gpu_get_report(j->s->gpu);
  if (!report.on_device) snprintf(out->gave_up, sizeof out->gave_up, "%.60s", report.reason);
}

static void ask_ours(triangles_job *j, uint32_t which, sample *out) {
  double start = seconds_now();
  graze_collide_result r = ask_exact(j, j->who == ASKED_PROCESSOR, j->find, which);
  out->seconds[which] = seconds_now() - start;
  out->count += j->find == GRAZE_FIND_ANY ? r.hit : r.counts.triangle_pairs;
  out->hash += j->find == GRAZE_FIND_ANY ? (uint64_t)r.hit << which : r.counts.hash;
  if (j->who != ASKED_PROCESSOR) check_report(j, out);
}

/* All poses in one call; each has its part of the time. */
static void ask_poses(const triangles_job *j, sample *out) {
  const couple *c = j->c;
  graze_pose poses[BENCH_ITEMS_MAX];
  graze_collide_result results[BENCH_ITEMS_MAX];
  graze_collide_options options = graze_default_collide_options();
  options.find = GRAZE_FIND_COUNT;
  for (uint32_t i = 0; i < c->poses.count; i++) memcpy(poses[i].m, c->poses.matrices[i], sizeof poses[i].m);
  double start = seconds_now();
  must(graze_collide_poses(j->s->on_device, c->meshes[0], NULL, c->meshes[1], poses, c->poses.count, &options, results),
       "graze_collide_poses");
  double each = (seconds_now() - start) / c->poses.count;
  for (uint32_t i = 0; i < c->poses.count; i++) {
    out->seconds[i] = each;
    out->count += results[i].counts.triangle_pairs;
    out->hash += results[i].counts.hash;
  }
  check_report(j, out);
}

static void run_triangles(void *argument, bool check, sample *out) {
  triangles_job *j = argument;
  j->s->gpu->search = j->who == ASKED_TREE ? GPU_SEARCH_TREE : GPU_SEARCH_EACH;
  if (j->who == ASKED_POSES) ask_poses(j, out);
  for (uint32_t i = 0; i < j->c->poses.count && j->who != ASKED_POSES; i++) {
    if (j->who == ASKED_TUTORIAL || j->who == ASKED_TUTORIAL_ALL)
      ask_tutorial(j, i, check, out);
    else
      ask_ours(j, i, out);
  }
  out->timed = j->c->poses.count;
}

/* ---- what has to come out ---------------------------------------------------------------------------------------- */

typedef struct expectation {
  reference all; /* pairs */
  reference any; /* poses with at least one, a bit each */
} expectation;

static expectation expect(const couple *c) {
  expectation e = {{0, 0}, {0, 0}};
  for (uint32_t i = 0; i < c->poses.count; i++) {
    reference r = reference_pairs(&c->models[0], &c->models[1], c->poses.matrices[i]);
    e.all.count += r.count;
    e.all.hash += r.hash;
    e.any.count += r.count > 0;
    e.any.hash += (uint64_t)(r.count > 0) << i;
  }
  return e;
}

static void judge_triangles(contest *c, entry *e) {
  const expectation *expected = c->judge_argument;
  const triangles_job *j = e->argument;
  const reference *r = j->find == GRAZE_FIND_ANY ? &expected->any : &expected->all;
  if (e->ours) {
    e->right = e->checked.count == r->count && e->checked.hash == r->hash;
    e->wrong = e->checked.count > r->count ? e->checked.count - r->count : r->count - e->checked.count;
    return;
  }
  e->wrong = j->missed + j->invented;
  e->right = e->wrong == 0 && j->met == r->count;
  if (!e->right)
    snprintf(e->note, sizeof e->note, "missed %lu of %lu %s; invented %lu", j->missed, j->met,
             j->who == ASKED_TUTORIAL ? "collisions" : "pairs", j->invented);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static double rate_of(setting *s, couple *c, asked who, graze_find find) {
  triangles_job j = {.s = s, .c = c, .who = who, .find = find};
  sample out = {0};
  run_triangles(&j, false, &out); /* kernels are compiled */
  run_triangles(&j, false, &out);
  return (double)c->pairs / out.seconds[0];
}

/* Of two waves of so many squares a side. */
static void learn_rates(setting *s, uint32_t size) {
  couple c = {0};
  models_of_scene("wave", size, 1, c.models);
  couple_prepare(s, &c);
  s->rates.ours = rate_of(s, &c, ASKED_EACH, GRAZE_FIND_ALL);
  s->rates.collide = rate_of(s, &c, ASKED_TUTORIAL, GRAZE_FIND_ANY);
  s->rates.judge = rate_of(s, &c, ASKED_TUTORIAL_ALL, GRAZE_FIND_ALL);
  couple_free(s, &c);
}

/* Before the first row. The rates are those of a small question or, where that is soon answered, of a larger one: a
 * question yet larger has no lower rate. */
static void get_ready(setting *s) {
  enum { SMALL = 22, LARGER = 45 };
  static const double quick = 1e8;
  if (s->ready) return;
  s->ready = true;
  must(graze_query_create(s->b->context, &s->query), "graze_query_create");
  must(graze_query_create(s->gpu->context, &s->on_device), "graze_query_create");
  tutorial_begin(&s->rival, s->gpu);
  learn_rates(s, SMALL);
  if (s->rates.collide > quick && s->rates.ours > quick) learn_rates(s, LARGER);
}

static const struct {
  const char *before, *after; /* what stands around the device; `before` "": there is none */
  asked who;
  graze_find find;
} entrants[] = {{"gpu/", "", ASKED_EACH, GRAZE_FIND_ALL},
                {"gpu/", "_count", ASKED_EACH, GRAZE_FIND_COUNT},
                {"gpu/", "_tree", ASKED_TREE, GRAZE_FIND_ALL},
                {"gpu/", "_poses", ASKED_POSES, GRAZE_FIND_COUNT},
                {"", "cpu", ASKED_PROCESSOR, GRAZE_FIND_ALL},
                {"", "cpu/any", ASKED_PROCESSOR, GRAZE_FIND_ANY},
                {"", "tutorial/collide", ASKED_TUTORIAL, GRAZE_FIND_ANY},
                {"", "tutorial/judge", ASKED_TUTORIAL_ALL, GRAZE_FIND_ALL}};

static double expected_seconds(const triangles_job *j) {
  const rates *r = &j->s->rates;
  const double pairs = (double)j->c->pairs * j->c->poses.count;
  switch (j->who) {
    case ASKED_TREE:
    case ASKED_PROCESSOR:
      return 0; /* they have hierarchies */
    case ASKED_TUTORIAL:
      return pairs / r->collide;
    case ASKED_TUTORIAL_ALL:
      return pairs / r->judge;
    default:
      return pairs / r->ours;
  }
}

static void enter(contest *c, const char *name, triangles_job *j) {
  double seconds = expected_seconds(j);
  if (seconds > MOST_SECONDS) {
    contest_left_out(c, name, "left out: would take %.0f s", seconds);
  } else if (j->who == ASKED_TUTORIAL_ALL && !tutorial_can_judge(&j->s->rival, j->c->pairs)) {
    contest_left_out(c, name, "left out: no room for %lu verdicts", j->c->pairs);
  } else if (j->who == ASKED_TUTORIAL || j->who == ASKED_TUTORIAL_ALL) {
    contest_rival(c, name, run_triangles, j);
  } else {
    entry *e = contest_ours(c, name, run_triangles, j);
    if (j->who != ASKED_PROCESSOR) note_device(e, j->s->gpu);
  }
}

/* All answer; the first one, ours on the device, is the base of the ratios. */
static void hold_contest(setting *s, couple *c, contest *row) {
  const char *id = graze_gpu_get_info(s->gpu)->id;
  triangles_job jobs[COUNT_OF(entrants)] = {{0}};
  couple_prepare(s, c);
  expectation expected = expect(c);
  for (size_t i = 0; i < COUNT_OF(entrants); i++) {
    char *name = text_of("%s%s%s", entrants[i].before, entrants[i].before[0] ? id : "", entrants[i].after);
    jobs[i] = (triangles_job){.s = s, .c = c, .who = entrants[i].who, .find = entrants[i].find};
    if (jobs[i].who != ASKED_POSES || c->poses.count > 1) enter(row, name, &jobs[i]);
    free(name);
  }
  row->budget = 2;
  row->judge = judge_triangles;
  row->judge_argument = &expected;
  contest_end(row);
  couple_free(s, c);
}

/* Spheres with bumps, divided so often. */
static model blob(uint32_t level, uint64_t seed) {
  (void)seed;
  return shape_blob((int)level);
}

/* Two models of a scene, or two that are made, the second with another seed, and turned. */
typedef struct triangles_row {
  const char *name, *scene;
  model (*make)(uint32_t size, uint64_t seed); /* where `scene` is NULL */
  uint32_t size;
  enum { ROW_QUICK, ROW_USUAL, ROW_LARGE } when;
} triangles_row;

static const triangles_row rows[] = {
    {"waves", "wave", NULL, 22, ROW_QUICK},     {"waves", "wave", NULL, 45, ROW_USUAL},
    {"waves", "wave", NULL, 90, ROW_LARGE},     {"waves", "wave", NULL, 224, ROW_LARGE},
    {"forks", "forklifts", NULL, 1, ROW_USUAL}, {"forks", "forklifts", NULL, 5, ROW_LARGE},
    {"walls", "walls", NULL, 3, ROW_QUICK},     {"walls", "walls", NULL, 5, ROW_USUAL},
    {"walls", "walls", NULL, 10, ROW_LARGE},    {"soup", NULL, soup, 1000, ROW_QUICK},
    {"soup", NULL, soup, 4000, ROW_USUAL},      {"soup", NULL, soup, 16000, ROW_LARGE},
    {"blobs", NULL, blob, 3, ROW_QUICK},        {"blobs", NULL, blob, 6, ROW_USUAL},
    {"blobs", NULL, blob, 8, ROW_LARGE},
};

static void one_row(setting *s, const triangles_row *row) {
  const char *id = graze_gpu_get_info(s->gpu)->id;
  couple c = {0};
  contest turns;
  if (!bench_wants(s->b, "gpu_triangles/%s/%s/%u", row->name, id, row->size)) return;
  get_ready(s);
  if (row->scene != NULL) {
    models_of_scene(row->scene, row->size, 1, c.models);
  } else {
    c.models[0] = row->make(row->size, 1);
    c.models[1] = row->make(row->size, 2);
    c.poses = poses_concentric(1, 3);
  }
  uint64_t pairs = (uint64_t)c.models[0].triangle_count * c.models[1].triangle_count;
  contest_begin(&turns, s->b, "pair", c.models[0].triangle_count, pairs, "gpu_triangles/%s/%s/%u", row->name, id,
                row->size);
  hold_contest(s, &c, &turns);
}

/* Two small models, asked about at many poses. */
static void repeated(setting *s) {
  const char *id = graze_gpu_get_info(s->gpu)->id;
  couple c = {0};
  contest row;
  if (!bench_wants(s->b, "gpu_triangles/repeated/%s/1000", id)) return;
  get_ready(s);
  for (int k = 0; k < 2; k++) c.models[k] = shape_knot(10, 50);
  c.poses = poses_concentric(16, 4);
  for (uint32_t i = 0; i < c.poses.count; i++) c.poses.matrices[i][3] = i / 16.0;
  contest_begin(&row, s->b, "pose", c.models[0].triangle_count, c.poses.count, "gpu_triangles/repeated/%s/1000", id);
  hold_contest(s, &c, &row);
}

void work_gpu_triangles(bench *b, graze_gpu *gpu) {
  setting s = {.b = b, .gpu = gpu};
  if (!graze_gpu_get_info(gpu)->exact) return;
  repeated(&s);
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    if (rows[i].when <= (b->quick ? ROW_QUICK : b->large ? ROW_LARGE : ROW_USUAL)) one_row(&s, &rows[i]);
  }
  if (!s.ready) return;
  tutorial_end(&s.rival);
  graze_query_destroy(s.query);
  graze_query_destroy(s.on_device);
}
