/* graze-mpi predict: what a search takes on many ranks. Their own code runs in this process, one rank after another; a
 * network that a file describes carries the messages (graze_mpi_predict). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "diagnostics.h"
#include "mpi/boxes.h"
#include "mpi/commands.h"
#include "mpi/facts.h"
#include "mpi/making.h"
#include "mpi/network.h"
#include "mpi/patches.h"
#include "mpi/run.h"
#include "options.h"
#include "output.h"

enum { MOST_RANKS = 1 << 16 };

typedef struct predict_options {
  common_options common;
  rank_options how;
  making_options make;
  file_list files;
  const char *network;
  uint32_t ranks;
  double noise; /* percent */
  bool calibrate, weak, steady;
  patch_deal deal;
} predict_options;

typedef struct predict_run {
  const predict_options *asked;
  job *job;
  rank_run ranks;
  rank_boxes boxes;     /* all */
  uint64_t *ends;       /* of each rank's among them */
  wave_patches patches; /* or those that are made when a rank's turn comes */
  rank_boxes baseline;  /* those of one rank, if these are not all */
  network network;
  double scale;
  char machine[256];
  graze_mpi_prediction alone, found;
  struct {
    uint32_t ranks;
    double mean, most; /* seconds */
  } parts;             /* some ranks, each alone with its own boxes */
} predict_run;

/* ---- options ---- */

enum { key_ranks = 1, key_network, key_noise, key_calibrate, key_weak, key_deal, key_steady };

static const struct argp_option options[] = {
    {"ranks", key_ranks, "P", 0, "how many ranks there would be", 0},
    {"network", key_network, "FILE", 0, "latency, overhead, gap and gap_per_byte of a network (default: Red Storm)", 0},
    {"noise", key_noise, "PERCENT", 0, "standard deviation of what the work of a rank takes (default 0)", 0},
    {"calibrate", key_calibrate, NULL, 0, "time a step of one rank by the wall clock, and let clocks run like it", 0},
    {"weak", key_weak, NULL, 0, "efficiency against one rank with N / P boxes of --make, not with all", 0},
    {"deal", key_deal, "HOW", 0,
     "of boxes to ranks: order (default), as they are numbered; or place, to each what lies together", 0},
    {"steady", key_steady, NULL, 0, "leave out what disturbs this processor: work takes the least of several steps", 0},
    {0}};

static void finish(const predict_options *o, struct argp_state *state) {
  if (o->ranks == 0) argp_error(state, "--ranks is needed");
  if (!o->make.kind_text && o->files.count == 0) argp_error(state, "a file of boxes or --make is needed");
  if (o->make.kind_text && o->files.count > 0) argp_error(state, "--make takes the place of files");
  if (o->weak && !o->make.kind_text) argp_error(state, "--weak is of --make");
  if (o->how.patience > 0) argp_error(state, "--patience: ranks that are simulated are not silent");
  if (o->common.format == format_csv) argp_error(state, "--format: a prediction has no list");
}

static const char *const deals[] = {"order", "place", NULL};

static double parse_noise(struct argp_state *state, const char *text) {
  const double noise = options_decimal(state, "noise", text);
  if (!(noise >= 0 && noise <= 100)) argp_error(state, "--noise: %s is not from 0 to 100", text);
  return noise;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  predict_options *o = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &o->common;
      state->child_inputs[1] = &o->how;
      state->child_inputs[2] = &o->make;
      break;
    case key_ranks:
      o->ranks = (uint32_t)options_number(state, "ranks", argument, 1, MOST_RANKS);
      break;
    case key_network:
      o->network = argument;
      break;
    case key_noise:
      o->noise = parse_noise(state, argument);
      break;
    case key_calibrate:
      o->calibrate = true;
      break;
    case key_weak:
      o->weak = true;
      break;
    case key_deal:
      o->deal = (patch_deal)options_choice(state, "deal", argument, deals);
      break;
    case key_steady:
      o->steady = true;
      break;
    case ARGP_KEY_ARGS:
      o->files = options_files(state, 1, 1);
      break;
    case ARGP_KEY_END:
      finish(o, state);
      break;
    default:
      return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

static const struct argp_child children[] = {
    {&common_argp, 0, NULL, 0}, {&rank_argp, 0, NULL, 0}, {&making_argp, 0, NULL, 0}, {0}};

static const struct argp predict_argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "BOXES\n--make KIND:N",
    .doc =
        "Predicts what `graze-mpi pairs' would take with P ranks: the code of every rank runs in this process, one "
        "after another, with a clock of its own, and messages take what a LogGP model of a network says. Pairs and "
        "hash are those of the search. Efficiency is the time for a box on one rank with all boxes (--weak: with N / "
        "P), divided by the time of P ranks for a box each. What is told is simulated."
        "\vExit: 0 no boxes meet, 1 some do, 2 usage error, 3 bad input."};

/* ---- the machine ---- */

static void name_machine(char name[128]) {
  char line[256];
  FILE *file = fopen("/proc/cpuinfo", "r");
  snprintf(name, 128, "an unknown processor");
  while (file && fgets(line, sizeof line, file)) {
    const char *colon = strchr(line, ':');
    if (!colon || strncmp(line, "model name", 10) != 0) continue;
    snprintf(name, 128, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    break;
  }
  if (file) fclose(file);
}

/* ---- running ---- */

static bool makes_patches(const predict_options *o) {
  return o->make.kind_text && o->make.kind == SCENES_BOXES_WAVE && o->deal == DEAL_PLACE;
}

static graze_mpi_predict_def define(const predict_run *run, uint32_t ranks) {
  graze_mpi_predict_def def = graze_mpi_default_predict_def();
  def.world = run->asked->how.world;
  def.network = run->network.times;
  def.ranks = ranks;
  def.steps = run->asked->how.repeat;
  def.noise = ranks > 1 ? run->asked->noise / 100 : 0;
  def.scale = run->scale;
  def.seed = run->asked->make.seed;
  def.steady = run->asked->steady;
  return def;
}

static graze_mpi_boxes boxes_of(void *user, uint32_t rank) {
  predict_run *run = user;
  if (makes_patches(run->asked)) return wave_patch(&run->patches, rank);
  graze_mpi_boxes boxes = run->boxes.boxes;
  const size_t size = 6 * (boxes.boxes.precision == GRAZE_DOUBLE ? sizeof(double) : sizeof(float));
  const uint64_t first = rank > 0 ? run->ends[rank - 1] : 0;
  boxes.count = (uint32_t)(run->ends[rank] - first);
  boxes.ids += first;
  boxes.boxes.data = (const char *)boxes.boxes.data + first * size;
  return boxes;
}

static graze_mpi_prediction predict(predict_run *run) {
  graze_mpi_predict_def def = define(run, run->asked->ranks);
  graze_mpi_prediction found;
  if (run->asked->how.trace) def.world = rank_run_world(&run->ranks);
  def.boxes = boxes_of;
  def.boxes_user = run;
  job_must(run->job, graze_mpi_predict(run->job->context, &def, NULL, &found));
  return found;
}

static const rank_boxes *baseline_of(const predict_run *run) {
  return run->baseline.total > 0 ? &run->baseline : &run->boxes;
}

static graze_mpi_prediction predict_alone(predict_run *run, const graze_mpi_boxes *boxes) {
  const graze_mpi_predict_def def = define(run, 1);
  graze_mpi_prediction found;
  job_must(run->job, graze_mpi_predict(run->job->context, &def, boxes, &found));
  return found;
}

/* What ranks, evenly chosen, take alone: the work that there would be without others. */
static void time_parts(predict_run *run) {
  enum { PARTS = 16 };
  const uint32_t ranks = run->asked->ranks, parts = ranks < PARTS ? ranks : PARTS;
  run->parts.ranks = parts;
  for (uint32_t k = 0; k < parts; k++) {
    const graze_mpi_boxes boxes = boxes_of(run, (uint32_t)((2 * k + 1) * (uint64_t)ranks / (2 * parts)));
    const double seconds = predict_alone(run, &boxes).seconds;
    run->parts.mean += seconds / parts;
    run->parts.most = fmax(run->parts.most, seconds);
  }
}

static int compare(const void *x, const void *y) {
  const double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

/* The wall clock for steps of one rank. */
static double time_alone(predict_run *run) {
  enum { STEPS = 5 };
  double seconds[STEPS];
  graze_mpi_world_def def = run->asked->how.world;
  graze_mpi_world *world = NULL;
  job_must(run->job, graze_mpi_world_create(run->job->context, MPI_COMM_SELF, &def, &world));
  for (int k = 0; k < STEPS; k++) {
    const double start = clock_now();
    graze_status status = graze_mpi_contribute(world, &baseline_of(run)->boxes);
    if (status == GRAZE_OK) status = graze_mpi_begin(world, 0);
    if (status == GRAZE_OK) status = graze_mpi_wait(world);
    job_must(run->job, status);
    seconds[k] = clock_now() - start;
  }
  graze_mpi_world_destroy(world);
  qsort(seconds + 1, STEPS - 1, sizeof *seconds, compare);
  return seconds[1 + (STEPS - 1) / 2];
}

static void calibrate(predict_run *run) {
  char name[128];
  name_machine(name);
  run->scale = 1;
  snprintf(run->machine, sizeof run->machine, "%s", name);
  run->alone = predict_alone(run, &baseline_of(run)->boxes);
  if (!run->asked->calibrate) return;
  run->scale = time_alone(run) / run->alone.seconds;
  snprintf(run->machine, sizeof run->machine, "%s, wall clock %.3f of its processor clock", name, run->scale);
  run->alone = predict_alone(run, &baseline_of(run)->boxes);
}

/* ---- what was found ---- */

static double efficiency(const predict_run *run) {
  const double a_box = run->alone.seconds / (double)baseline_of(run)->total;
  return a_box * (double)run->found.result.objects / (run->asked->ranks * run->found.seconds);
}

/* Whole nanoseconds print short. */
static void put_seconds(gz_json *json, const char *key, double seconds) {
  gz_json_double(json, key, round(seconds * 1e9) / 1e9);
}

static void write_parts(const predict_run *run, gz_json *json) {
  gz_json_open(json, "parts", '{');
  gz_json_integer(json, "ranks", run->parts.ranks);
  put_seconds(json, "mean_seconds", run->parts.mean);
  put_seconds(json, "most_seconds", run->parts.most);
  gz_json_double(json, "efficiency", run->parts.mean / run->found.seconds);
  gz_json_close(json);
}

static void write_json(const predict_run *run, output *out) {
  const graze_mpi_prediction *f = &run->found;
  gz_json json = gz_json_begin_result(out);
  gz_json_text(&json, "engine", "mpi");
  gz_json_text(&json, "status", "simulated");
  gz_json_integer(&json, "n", f->result.objects);
  if (f->result.searched) gz_json_integer(&json, "pairs", f->result.pairs);
  if (f->result.searched) gz_json_hash(&json, "hash", f->result.hash);
  gz_json_integer(&json, "ranks", run->asked->ranks);
  gz_json_text(&json, "placement", placement_name(run->asked->how.world.placement));
  gz_json_text(&json, "deal", deals[run->asked->deal]);
  gz_json_open(&json, "step_seconds", '{');
  put_seconds(&json, "min", f->least_seconds);
  put_seconds(&json, "median", f->seconds);
  gz_json_close(&json);
  gz_json_double(&json, "efficiency", efficiency(run));
  gz_json_open(&json, "critical_path", '{');
  for (uint32_t i = 0; i < f->phase_count; i++) put_seconds(&json, f->phases[i].name, f->phases[i].seconds);
  gz_json_close(&json);
  put_integers(&json, (const char *const[]){"sent_objects", "messages", "bytes_sent"},
               (const uint64_t[]){f->result.sent_objects, f->result.messages, f->result.bytes_sent}, 3);
  put_spreads(&json, &f->result);
  gz_json_text(&json, "network", run->network.name);
  gz_json_double(&json, "noise", run->asked->noise);
  gz_json_bool(&json, "steady", run->asked->steady);
  gz_json_text(&json, "calibrated_on", run->machine);
  gz_json_integer(&json, "baseline_ranks", 1);
  gz_json_integer(&json, "baseline_n", baseline_of(run)->total);
  put_seconds(&json, "baseline_seconds", run->alone.seconds);
  if (run->asked->weak) write_parts(run, &json);
  gz_json_integer(&json, "sampled_ranks", run->asked->ranks);
  gz_json_end(&json);
}

static void write_text(const predict_run *run, output *out) {
  const graze_mpi_prediction *f = &run->found;
  output_print(out, "simulated: %" PRIu32 " rank%s, %.6f s a step, %sefficiency %.1f %%\n", run->asked->ranks,
               plural(run->asked->ranks), f->seconds, run->asked->weak ? "weak " : "", 100 * efficiency(run));
  if (run->asked->weak)
    output_print(out, "  of what a rank takes alone with its boxes, %.6f s in the mean: %.1f %%\n", run->parts.mean,
                 100 * run->parts.mean / f->seconds);
  for (uint32_t i = 0; i < f->phase_count; i++)
    output_print(out, "  %-8s %.6f s\n", f->phases[i].name, f->phases[i].seconds);
  output_print(out, "%" PRIu64 " boxes, %" PRIu64 " pairs, hash %016" PRIx64 "; network %s, noise %g %%, on %s\n",
               f->result.objects, f->result.pairs, f->result.hash, run->network.name, run->asked->noise, run->machine);
}

/* In the order of a file, rank r of P has boxes n r / P to n (r + 1) / P. */
static void deal(predict_run *run) {
  const uint32_t ranks = run->asked->ranks;
  const job parts = {.ranks = (int)ranks};
  run->ends = job_alloc(ranks, sizeof *run->ends);
  if (run->asked->deal == DEAL_PLACE) {
    patches_order(&run->boxes, ranks, run->ends);
    return;
  }
  for (uint32_t r = 0; r < ranks; r++) run->ends[r] = job_part(run->boxes.boxes.count, &parts, (int)r + 1);
}

/* Of the wave by place only what one rank needs is in memory, unless all boxes are the baseline. */
static void load(predict_run *run) {
  const predict_options *o = run->asked;
  const double start = clock_now();
  if (!o->make.kind_text)
    read_rank_boxes(run->job, o->files.names[0], &run->boxes);
  else if (!makes_patches(o) || !o->weak)
    make_rank_boxes(run->job, o->make.kind, o->make.size, o->make.seed, &run->boxes);
  if (o->weak)
    make_rank_boxes(run->job, o->make.kind, o->make.size / o->ranks > 0 ? o->make.size / o->ranks : 1, o->make.seed,
                    &run->baseline);
  if (makes_patches(o))
    run->patches = wave_patches_open(o->make.size, o->ranks);
  else
    deal(run);
  rank_run_loaded(&run->ranks, start);
}

static int predict_all(predict_run *run) {
  run->network = network_read(run->asked->network);
  load(run);
  calibrate(run);
  run->found = predict(run);
  if (run->asked->steady)
    run->alone.seconds = fmin(run->alone.seconds, predict_alone(run, &baseline_of(run)->boxes).seconds);
  if (run->asked->weak) time_parts(run);
  output *out = output_open(run->asked->common.output);
  if (run->asked->common.format == format_json)
    write_json(run, out);
  else
    write_text(run, out);
  output_close(out);
  rank_run_trace(&run->ranks);
  rank_boxes_free(&run->boxes);
  rank_boxes_free(&run->baseline);
  wave_patches_close(&run->patches);
  free(run->ends);
  return !run->found.result.searched ? exit_incomplete : run->found.result.pairs > 0 ? exit_found : exit_clear;
}

int command_mpi_predict(job *j, int argc, char **argv) {
  predict_options asked = {.common = {.threads = 1, .is_mpi = true}, .how = rank_options_begin(), .make = {.seed = 1}};
  options_parse(&predict_argp, argc, argv, &asked, &asked.common);
  job_speak(j);
  predict_run run = {.asked = &asked, .job = j};
  job_agree(j, j->ranks > 1 ? "a prediction runs in one process, without mpiexec" : NULL, false);
  rank_run_begin(&run.ranks, j, asked.common.threads, &asked.how, 1);
  int code = predict_all(&run);
  rank_run_end(&run.ranks);
  return code;
}
