/* Searches over ranks; see run.h. */
#include "mpi/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "diagnostics.h"

enum { MOST_REPEATS = 1 << 20 };

/* ---- options ---- */

enum { key_placement = 0x1000, key_search, key_voxel, key_repeat, key_trace, key_patience };

static const struct argp_option options[] = {
    {"placement", key_placement, "HOW", 0,
     "of space on ranks: curve (default), the leaves of a k-d tree cut by work; or directory, voxels that a home knows",
     0},
    {"search", key_search, "HOW", 0,
     "of a rank: auto (default); bisection, down to small blocks; or none, for timing: no pairs, exit 3", 0},
    {"voxel", key_voxel, "SIZE", 0, "edge of a voxel, rounded up to a power of two, or auto (default)", 0},
    {"repeat", key_repeat, "N", 0, "search N times; the answer is that of the last time", 0},
    {"trace", key_trace, "FILE", 0, "write a line for each message to FILE: round,from,to,bytes", 0},
    {"patience", key_patience, "S", 0, "name a rank that is silent for S seconds, and end with 3 (default: wait)", 0},
    {0}};

static double parse_voxel(struct argp_state *state, const char *text) {
  if (strcmp(text, "auto") == 0) return 0;
  double voxel = options_decimal(state, "voxel", text);
  if (!(voxel > 0 && isfinite(voxel))) argp_error(state, "--voxel: %s is not a length", text);
  return voxel;
}

static void parse_search(rank_options *o, struct argp_state *state, const char *text) {
  static const char *const all[] = {"auto", "bisection", "none", NULL}, *const searching[] = {"auto", "bisection",
                                                                                              NULL};
  o->world.search = (graze_mpi_search)options_choice(state, "search", text, o->must_search ? searching : all);
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  static const char *const placements[] = {"curve", "directory", NULL};
  rank_options *o = state->input;
  switch (key) {
    case key_placement:
      o->world.placement = (graze_mpi_placement)options_choice(state, "placement", argument, placements);
      break;
    case key_search:
      parse_search(o, state, argument);
      break;
    case key_voxel:
      o->world.voxel = parse_voxel(state, argument);
      break;
    case key_repeat:
      o->repeat = (uint32_t)options_number(state, "repeat", argument, 1, MOST_REPEATS);
      break;
    case key_trace:
      o->trace = argument;
      break;
    case key_patience:
      o->patience = options_decimal(state, "patience", argument);
      if (!(o->patience > 0 && o->patience <= 1e9)) argp_error(state, "--patience: %s is out of range", argument);
      break;
    default:
      return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

const struct argp rank_argp = {.options = options, .parser = parse};

rank_options rank_options_begin(void) {
  return (rank_options){.world = graze_mpi_default_world_def(), .repeat = 1};
}

/* ---- a run ---- */

/* Errors are asked for, and progress is not shown. */
static void show_message(void *user, graze_log_level level, const char *message) {
  (void)user;
  if (level == GRAZE_LOG_WARNING || level == GRAZE_LOG_INFO) note("%s", message);
}

void rank_run_begin(rank_run *run, job *j, int threads, const rank_options *how, uint32_t searches) {
  *run = (rank_run){.job = j, .how = how, .capacity = searches};
  graze_context_def context = graze_default_context_def();
  context.threads = threads;
  if (j->rank == 0) context.log = show_message;
  patience_begin(&run->patience, j, how->patience);
  graze_status status = graze_context_create(&context, &j->context);
  if (status != GRAZE_OK) fail("rank %d: %s", j->rank, graze_status_string(status));
  run->seconds = job_alloc(searches, sizeof *run->seconds);
}

void rank_run_end(rank_run *run) {
  patience_end(&run->patience);
  trace_free(&run->trace);
  free(run->seconds);
  graze_context_destroy(run->job->context);
}

graze_mpi_world_def rank_run_world(rank_run *run) {
  graze_mpi_world_def def = run->how->world;
  if (run->how->trace) def.trace = trace_message;
  def.trace_user = &run->trace;
  return def;
}

/* ---- searching ---- */

typedef struct waiting {
  const rank_search *search;
  MPI_Request all_here;
  graze_status status;
} waiting;

static bool are_all_here(void *user) {
  int there = 0;
  MPI_Test(&((waiting *)user)->all_here, &there, MPI_STATUS_IGNORE);
  return there != 0;
}

static bool has_ended(void *user) {
  waiting *w = user;
  bool done = false;
  w->status = w->search->test(w->search->user, &done);
  return done || w->status != GRAZE_OK;
}

static void search_must(const rank_run *run, graze_status status) {
  if (status == GRAZE_OK) return;
  if (status == GRAZE_ERROR_RANK) fail("%s", graze_last_error(run->job->context)->message);
  job_agree(run->job, graze_last_error(run->job->context)->message, false);
}

/* Whole nanoseconds print short. */
static double since(double start) {
  return round((clock_now() - start) * 1e9) / 1e9;
}

static void add_seconds(double *total, double seconds) {
  *total = round((*total + seconds) * 1e9) / 1e9;
}

void rank_run_search(rank_run *run, const rank_search *search) {
  waiting w = {.search = search};
  MPI_Ibarrier(MPI_COMM_WORLD, &w.all_here);
  patience_wait(&run->patience, are_all_here, &w);
  double start = clock_now();
  w.status = search->begin(search->user);
  if (w.status == GRAZE_OK) patience_wait(&run->patience, has_ended, &w);
  search_must(run, w.status);
  const double took = since(start);
  if (run->count < run->capacity) run->seconds[run->count++] = took;
  add_seconds(&run->query_seconds, took);
}

void rank_run_loaded(rank_run *run, double start) {
  add_seconds(&run->load_seconds, since(start));
}

void rank_run_trace(rank_run *run) {
  if (run->how->trace) trace_write(run->job, &run->trace, run->how->trace);
}
