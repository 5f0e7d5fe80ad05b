/* bench/work_broad.c: which of many boxes meet, by every broad phase: from nothing, of boxes that move, and of boxes of
 * which a hundredth moves. Inputs are those of scenes/boxes.c, floats; the peers make the same ones. Expected pairs
 * come from reference.c. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contest.h"
#include "reference.h"
#include "scenes.h"

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

typedef struct input {
  scenes_boxes made;
  uint32_t count, steps, every;
  double speed;
  float *first, *boxes; /* of step 0; of the step that it stands at */
} input;

static input input_make(scenes_box_kind kind, uint32_t count, double speed, uint32_t steps, uint32_t every) {
  input in = {.steps = steps, .every = every, .speed = speed};
  if (!scenes_boxes_make(kind, count, 1, &in.made)) fail("out of memory");
  in.count = in.made.count;
  in.first = must_alloc(6 * (size_t)in.count, sizeof *in.first);
  in.boxes = must_alloc(6 * (size_t)in.count, sizeof *in.boxes);
  scenes_boxes_at(&in.made, speed, 0, in.first);
  memcpy(in.boxes, in.first, 6 * (size_t)in.count * sizeof *in.boxes);
  return in;
}

static void input_free(input *in) {
  scenes_boxes_free(&in->made);
  free(in->first);
  free(in->boxes);
}

static void input_go_to(input *in, uint32_t step) {
  scenes_boxes_at(&in->made, in->speed, step, in->boxes);
  if (in->every > 1) broad_hold(in->first, in->count, in->every, in->boxes);
}

/* ---- ours -------------------------------------------------------------------------------------------------------- */

typedef struct job {
  input *in;
  graze_context *context;
  graze_broad_method method;
  graze_broadphase *broadphase; /* kept from run to run; NULL: made and destroyed in every run, and that time counts */
  bool sorted;
  int threads;
  double quiet, usual;       /* of boxes that move: the least step of a run, and the median one, in seconds */
  graze_broad_report report; /* the reason without what means something in CSV */
} job;

static graze_broadphase *broadphase_make(graze_context *context, graze_broad_method method) {
  graze_broadphase *broadphase;
  graze_broadphase_def def = graze_default_broadphase_def();
  def.method = method;
  must(graze_broadphase_create(context, &def, &broadphase), "graze_broadphase_create");
  return broadphase;
}

/* One-thread runs are pinned to a core, which the threads of a run with more would be as well. */
typedef struct cores {
  cpu_set_t before;
  bool changed;
} cores;

static void cores_allow_all(cores *c, int threads) {
  cpu_set_t all;
  c->changed = false;
  if (threads < 2 || sched_getaffinity(0, sizeof c->before, &c->before)) return;
  CPU_ZERO(&all);
  for (int i = 0; i < CPU_SETSIZE; i++) CPU_SET(i, &all);
  c->changed = sched_setaffinity(0, sizeof all, &all) == 0;
}

static void cores_restore(const cores *c) {
  if (c->changed) sched_setaffinity(0, sizeof c->before, &c->before);
}

static uint64_t hash_of_pairs(const graze_box_pair *pairs, uint64_t count) {
  uint64_t hash = 0;
  for (uint64_t i = 0; i < count; i++) hash += hash_of_pair(pairs[i].a, pairs[i].b);
  return hash;
}

static void keep_report(job *j, const graze_broadphase *broadphase, sample *out) {
  j->report = graze_broadphase_report(broadphase);
  for (char *c = j->report.reason; *c; c++) *c = *c == ',' || *c == '"' ? ';' : *c;
  out->bytes = j->report.bytes;
}

static void run_static(void *argument, bool check, sample *out) {
  job *j = argument;
  const graze_box_array boxes = {.data = j->in->boxes, .precision = GRAZE_FLOAT};
  const graze_box_pair *pairs;
  cores c;
  cores_allow_all(&c, j->threads);
  double start = seconds_now();
  graze_broadphase *broadphase = j->broadphase ? j->broadphase : broadphase_make(j->context, j->method);
  must(graze_broadphase_find(broadphase, &boxes, j->in->count, !j->sorted, &pairs, &out->count),
       "graze_broadphase_find");
  out->seconds[0] = seconds_now() - start;
  out->timed = 1;
  cores_restore(&c);
  if (check) out->hash = hash_of_pairs(pairs, out->count);
  keep_report(j, broadphase, out);
  if (j->broadphase) return;
  start = seconds_now();
  graze_broadphase_destroy(broadphase);
  out->seconds[0] += seconds_now() - start;
}

/* Proxies of which some move. */
typedef struct movers {
  graze_proxy_id *ids; /* of those that move, which are every `every`-th */
  uint32_t count;
} movers;

static movers add_proxies(graze_broadphase *broadphase, const input *in) {
  const graze_box_array boxes = {.data = in->boxes, .precision = GRAZE_FLOAT};
  movers m = {.ids = must_alloc(in->count, sizeof *m.ids)};
  must(graze_broadphase_add(broadphase, &boxes, in->count, NULL, NULL, m.ids), "graze_broadphase_add");
  for (uint32_t i = 0; i < in->count; i += in->every) m.ids[m.count++] = m.ids[i];
  return m;
}

/* From the new boxes to the events. */
static double step_seconds(graze_broadphase *broadphase, const input *in, const movers *m, graze_broad_events *events) {
  graze_box_array boxes = {.data = in->boxes, .precision = GRAZE_FLOAT};
  double start = seconds_now();
  if (m->count == in->count) {
    must(graze_broadphase_move_all(broadphase, &boxes, in->count), "graze_broadphase_move_all");
  } else {
    boxes.stride = in->every * 6 * sizeof(float);
    must(graze_broadphase_move(broadphase, m->ids, &boxes, m->count), "graze_broadphase_move");
  }
  must(graze_broadphase_update(broadphase, events), "graze_broadphase_update");
  return seconds_now() - start;
}

static void run_moving(void *argument, bool check, sample *out) {
  job *j = argument;
  graze_broad_events events;
  cores c;
  cores_allow_all(&c, j->threads);
  graze_broadphase *broadphase = broadphase_make(j->context, j->method);
  input_go_to(j->in, 0);
  movers m = add_proxies(broadphase, j->in);
  must(graze_broadphase_update(broadphase, &events), "graze_broadphase_update");
  double total = 0, spent = 0, *timed = must_alloc(j->in->steps, sizeof *timed);
  uint32_t done = 0;
  for (uint32_t step = 1; step <= BROAD_WARM_STEPS + j->in->steps; step++) {
    input_go_to(j->in, step);
    double seconds = step_seconds(broadphase, j->in, &m, &events);
    if (step > BROAD_WARM_STEPS) total += timed[done++] = seconds;
    spent += seconds;
    if (spent <= BROAD_STEPS_SECONDS) continue;
    snprintf(out->gave_up, sizeof out->gave_up, "left out: %u steps take %.0f s", step, spent);
    break;
  }
  j->quiet = least_of(timed, done);
  j->usual = median_of(timed, done);
  free(timed);
  out->seconds[0] = total / j->in->steps;
  out->timed = 1;
  out->count = events.began_count + events.persist_count;
  if (check)
    out->hash = hash_of_pairs(events.began, events.began_count) + hash_of_pairs(events.persist, events.persist_count);
  keep_report(j, broadphase, out);
  graze_broadphase_destroy(broadphase);
  free(m.ids);
  cores_restore(&c);
}

/* ---- which methods are worth waiting for ------------------------------------------------------------------------- */

/* The least of some runs: one that was interrupted must not put a method out. */
static double static_seconds(graze_context *context, graze_broad_method method, scenes_box_kind kind, uint32_t count) {
  input in = input_make(kind, count, 0, 0, 1);
  job j = {.in = &in, .context = context, .method = method};
  double seconds[BROAD_TRIALS];
  for (int k = 0; k < BROAD_TRIALS; k++) {
    sample out = {0};
    run_static(&j, false, &out);
    seconds[k] = out.seconds[0];
  }
  input_free(&in);
  return least_of(seconds, BROAD_TRIALS);
}

/* Of find() with this method; 0 when it is surely short. */
static double expected_seconds(graze_context *context, graze_broad_method method, scenes_box_kind kind,
                               uint32_t count) {
  if (count < 10000) return 0;
  double hundredth = static_seconds(context, method, kind, count / 100);
  bool hopeless = broad_expected(0, hundredth) > BROAD_BUILD_SECONDS;
  return broad_expected(hopeless ? 0 : static_seconds(context, method, kind, count / 10), hundredth);
}

/* ---- contests ---------------------------------------------------------------------------------------------------- */

/* Peers may take boxes as open: then the pairs that only touch are missing, all of them. */
static void judge_broad(contest *c, entry *e) {
  const reference_touching *r = c->judge_argument;
  const sample *s = &e->checked;
  e->right = s->count == r->closed.count && s->hash == r->closed.hash;
  e->wrong = s->count > r->closed.count ? s->count - r->closed.count : r->closed.count - s->count;
  if (e->ours) {
    const job *j = e->argument;
    const double scale = 1e9 / (double)c->size;
    int n = snprintf(e->note, sizeof e->note, "%.0f bytes a box", (double)s->bytes / (double)c->size);
    if (j->usual > 0)
      n += snprintf(e->note + n, sizeof e->note - (size_t)n,
                    "; of the last run's steps the least %.1f and the median %.1f ns a box", scale * j->quiet,
                    scale * j->usual);
    if (j->method == GRAZE_BROAD_AUTO)
      snprintf(e->note + n, sizeof e->note - (size_t)n, "; %s: %.128s",
               graze_broad_method_describe(j->report.method)->name, j->report.reason);
  } else if (!e->right && s->count == r->open.count && s->hash == r->open.hash) {
    e->right = true;
    snprintf(e->note, sizeof e->note, "open boxes: without the %lu pairs that only touch", e->wrong);
  }
}

/* What a contest needs besides its entries. */
typedef struct setting {
  bench *b;
  scenes_box_kind kind;
  input in;
  reference_touching expected;
  graze_context *two_threads;
  char *order; /* for the peers */
  job jobs[GRAZE_BROAD_METHODS + 3];
  size_t job_count;
} setting;

static setting setting_make(bench *b, scenes_box_kind kind, input in, uint32_t judged_step) {
  setting s = {.b = b, .kind = kind, .in = in};
  input_go_to(&s.in, judged_step);
  s.expected = reference_float_boxes(s.in.boxes, s.in.count);
  input_go_to(&s.in, 0);
  s.order = text_of("boxes %s %u %.17g %u %u", scenes_box_kind_name(kind), in.count, in.speed, in.steps, in.every);
  if (b->threads == 1) {
    graze_context_def def = graze_default_context_def();
    def.threads = 2;
    must(graze_context_create(&def, &s.two_threads), "graze_context_create");
  }
  return s;
}

static void setting_free(setting *s) {
  for (size_t i = 0; i < s->job_count; i++) graze_broadphase_destroy(s->jobs[i].broadphase);
  graze_context_destroy(s->two_threads);
  free(s->order);
  input_free(&s->in);
}

static job *add_job(setting *s, graze_context *context, graze_broad_method method, bool kept) {
  job *j = &s->jobs[s->job_count++];
  *j = (job){.in = &s->in, .context = context, .method = method};
  if (kept) j->broadphase = broadphase_make(context, method);
  return j;
}

/* An entry of ours, run or left out. */
static entry *enter(contest *c, const setting *s, const char *name, run_function run, job *j) {
  double seconds = expected_seconds(s->b->context, j->method, s->kind, s->in.count);
  if (seconds < BROAD_BUILD_SECONDS) return contest_ours(c, name, run, j);
  return contest_left_out(c, name, "left out: would take %.0f s or more", seconds);
}

/* Each method of the table as an alternative to auto. */
static void add_methods(contest *c, setting *s, run_function run, bool kept) {
  for (int m = GRAZE_BROAD_AUTO + 1; m < GRAZE_BROAD_METHODS; m++) {
    const graze_broad_method_info *info = graze_broad_method_describe((graze_broad_method)m);
    if (!info) continue;
    char name[48];
    snprintf(name, sizeof name, "cpu/%s", info->name);
    enter(c, s, name, run, add_job(s, s->b->context, (graze_broad_method)m, kept))->alternative = true;
  }
}

static void add_two_threads(contest *c, setting *s, run_function run, bool kept) {
  if (!s->two_threads) return;
  job *j = add_job(s, s->two_threads, GRAZE_BROAD_AUTO, kept);
  j->threads = 2;
  enter(c, s, "cpu/auto_2_threads", run, j)->threads = 2;
}

static void finish(contest *c, setting *s, const char *task) {
  const char *const lines[] = {s->order, NULL};
  c->budget = 2; /* there are many entries */
  c->judge = judge_broad;
  c->judge_argument = &s->expected;
  contest_peers(c, task, false, lines);
  contest_end(c);
  setting_free(s);
}

/* Boxes twice as large about their middles: they meet eight times as many others. */
static void enlarge(input *in) {
  for (size_t i = 0; i < in->count; i++) {
    float *box = in->first + 6 * i;
    for (int k = 0; k < 3; k++) {
      const float half = (box[3 + k] - box[k]) / 2;
      box[k] -= half;
      box[3 + k] += half;
    }
  }
  memcpy(in->boxes, in->first, 6 * (size_t)in->count * sizeof *in->boxes);
}

/* As a static heap is: every box meets 34 others. No peer makes these boxes. */
static void one_dense(bench *b, uint32_t count) {
  if (!bench_wants(b, "broad_dense/uniform/%u", count)) return;
  setting s = {.b = b, .kind = SCENES_BOXES_UNIFORM, .in = input_make(SCENES_BOXES_UNIFORM, count, 0, 0, 1)};
  contest c;
  enlarge(&s.in);
  s.expected = reference_float_boxes(s.in.boxes, s.in.count);
  contest_begin(&c, b, "box", s.in.count, s.in.count, "broad_dense/uniform/%u", count);
  c.judge = judge_broad;
  c.judge_argument = &s.expected;
  contest_ours(&c, "cpu/auto", run_static, add_job(&s, b->context, GRAZE_BROAD_AUTO, true));
  add_methods(&c, &s, run_static, true);
  contest_end(&c);
  setting_free(&s);
}

static void one_static(bench *b, scenes_box_kind kind, uint32_t count) {
  const char *name = scenes_box_kind_name(kind);
  if (!bench_wants(b, "broad/%s/%u", name, count)) return;
  setting s = setting_make(b, kind, input_make(kind, count, 0, 0, 1), 0);
  contest c;
  contest_begin(&c, b, "box", s.in.count, s.in.count, "broad/%s/%u", name, count);
  enter(&c, &s, "cpu/auto", run_static, add_job(&s, b->context, GRAZE_BROAD_AUTO, true));
  job *sorted = add_job(&s, b->context, GRAZE_BROAD_AUTO, true);
  sorted->sorted = true;
  enter(&c, &s, "cpu/auto_sorted", run_static, sorted);
  enter(&c, &s, "cpu/auto_fresh", run_static, add_job(&s, b->context, GRAZE_BROAD_AUTO, false));
  add_two_threads(&c, &s, run_static, true);
  add_methods(&c, &s, run_static, true);
  finish(&c, &s, "broad");
}

static uint32_t steps_of(uint32_t count) {
  return count <= 10000 ? 32 : count <= 100000 ? 16 : 4;
}

/* `every`: 1 for all boxes. */
static void one_moving(bench *b, scenes_box_kind kind, double speed, uint32_t count, uint32_t every) {
  const char *name = scenes_box_kind_name(kind), *family = every > 1 ? "broad_resting" : "broad_moving";
  if (!bench_wants(b, "%s/%s/%g/%u", family, name, speed, count)) return;
  uint32_t steps = steps_of(count);
  setting s = setting_make(b, kind, input_make(kind, count, speed, steps, every), BROAD_WARM_STEPS + steps);
  contest c;
  contest_begin(&c, b, "box", s.in.count, s.in.count, "%s/%s/%g/%u", family, name, speed, count);
  enter(&c, &s, "cpu/auto", run_moving, add_job(&s, b->context, GRAZE_BROAD_AUTO, false));
  add_two_threads(&c, &s, run_moving, false);
  add_methods(&c, &s, run_moving, false);
  finish(&c, &s, "moving");
}

/* 1000, 10000 and so on; a million only when it is asked for. */
static uint32_t most_boxes(const bench *b) {
  return b->quick ? 10000 : b->large || b->list ? 1000000 : 100000;
}

void work_broad(bench *b) {
  static const double speeds[] = {0.01, 0.5};
  for (int kind = 0; kind < SCENES_BOX_KINDS; kind++)
    for (uint32_t n = 1000; n <= most_boxes(b); n *= 10) one_static(b, (scenes_box_kind)kind, n);
  one_dense(b, 10000);
  for (int kind = 0; kind < SCENES_BOXES_WAVE; kind++) {
    /* a million that move: of one kind, as such a run takes its time */
    uint32_t most = kind == SCENES_BOXES_UNIFORM || most_boxes(b) < 100000 ? most_boxes(b) : 100000;
    for (size_t k = 0; k < COUNT_OF(speeds); k++) {
      for (uint32_t n = 1000; n <= most; n *= 10) one_moving(b, (scenes_box_kind)kind, speeds[k], n, 1);
      one_moving(b, (scenes_box_kind)kind, speeds[k], 10000, 100);
    }
  }
}
