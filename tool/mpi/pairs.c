/* graze-mpi pairs: which boxes of a file meet, with as many ranks as mpiexec starts. */
#include "mpi/pairs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "diagnostics.h"
#include "mpi/boxes.h"
#include "mpi/facts.h"
#include "mpi/list.h"
#include "mpi/patience.h"
#include "mpi/trace.h"
#include "options.h"
#include "output.h"

enum { MOST_STEPS = 1 << 20, MOST_MADE = 100000000 };

typedef struct pairs_options {
  common_options common;
  file_list files; /* none: boxes are made */
  const char *make, *groups, *seed_text, *trace;
  double patience;
  scenes_box_kind kind;
  uint32_t size;
  uint64_t seed;
  graze_mpi_delivery delivery;
  graze_mpi_search search;
  double voxel;
  uint32_t repeat;
  bool list_pairs;
} pairs_options;

typedef struct pairs_run {
  const pairs_options *asked;
  job *job;
  patience patience;
  trace trace;
  graze_mpi_world *world;
  graze_mpi_result result; /* of the last step */
  graze_mpi_result *steps; /* one a file */
  double *seconds;         /* of each search */
  uint32_t step_count, search_count;
  double load_seconds, query_seconds;
  bool found;
} pairs_run;

/* ---- options ---- */

enum {
  key_pairs = 1,
  key_make,
  key_seed,
  key_groups,
  key_deliver,
  key_placement,
  key_search,
  key_voxel,
  key_repeat,
  key_trace,
  key_patience
};

static const struct argp_option options[] = {
    {"pairs", key_pairs, NULL, 0, "list the pairs by id; CSV always does", 0},
    {"make", key_make, "KIND:N", 0, "instead of a file: the boxes of `graze make boxes --kind KIND --size N'", 0},
    {"seed", key_seed, "S", 0, "of --make (default 1)", 0},
    {"groups", key_groups, "FILE", 0, "a uint32 for each box, little-endian; boxes of one group do not meet", 0},
    {"deliver", key_deliver, "WHERE", 0, "bring the pairs to finder or owners, not only their number", 0},
    {"placement", key_placement, "HOW", 0, "of space on ranks: curve (default), the leaves of a k-d tree cut by work",
     0},
    {"search", key_search, "HOW", 0,
     "of a rank: auto (default); bisection, down to small blocks; or none, for timing: no pairs, exit 3", 0},
    {"voxel", key_voxel, "SIZE", 0, "edge of a voxel, rounded up to a power of two, or auto (default)", 0},
    {"trace", key_trace, "FILE", 0, "write a line for each message to FILE: round,from,to,bytes", 0},
    {"patience", key_patience, "S", 0, "name a rank that is silent for S seconds, and end with 3 (default: wait)", 0},
    {"repeat", key_repeat, "N", 0, "search N times; the answer is that of the last time", 0},
    {0}};

static void parse_make(pairs_options *o, struct argp_state *state) {
  char kind[32];
  const char *colon = strchr(o->make, ':');
  size_t length = colon ? (size_t)(colon - o->make) : 0;
  if (!colon || length >= sizeof kind) argp_error(state, "--make: '%s' is not KIND:N", o->make);
  memcpy(kind, o->make, length);
  kind[length] = 0;
  if (!scenes_box_kind_named(kind, &o->kind)) argp_error(state, "--make: no boxes of the kind '%s'", kind);
  o->size = (uint32_t)options_number(state, "make", colon + 1, 1, MOST_MADE);
}

static double parse_voxel(struct argp_state *state, const char *text) {
  if (strcmp(text, "auto") == 0) return 0;
  double voxel = options_decimal(state, "voxel", text);
  if (!(voxel > 0 && isfinite(voxel))) argp_error(state, "--voxel: %s is not a length", text);
  return voxel;
}

static void finish(pairs_options *o, struct argp_state *state) {
  if (o->make) parse_make(o, state);
  if (o->seed_text && !o->make) argp_error(state, "--seed is of --make");
  if (o->make && o->files.count > 0) argp_error(state, "--make takes the place of files");
  if (!o->make && o->files.count == 0) argp_error(state, "a file of boxes is needed");
  if (o->repeat > 1 && o->files.count > 1) argp_error(state, "--repeat is for one file");
  const bool lists = o->list_pairs || o->common.format == format_csv;
  if (lists && o->search == GRAZE_MPI_NO_SEARCH) argp_error(state, "--search none has no pairs to list");
  if (lists) o->delivery = GRAZE_MPI_SORTED;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  static const char *const places[] = {"finder", "owners", NULL}, *const placements[] = {"curve", NULL},
                           *const searches[] = {"auto", "bisection", "none", NULL};
  pairs_options *o = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &o->common;
      break;
    case key_pairs:
      o->list_pairs = true;
      break;
    case key_make:
      o->make = argument;
      break;
    case key_seed:
      o->seed_text = argument;
      o->seed = options_number(state, "seed", argument, 0, UINT64_MAX);
      break;
    case key_groups:
      o->groups = argument;
      break;
    case key_deliver:
      o->delivery = options_choice(state, "deliver", argument, places) == 0 ? GRAZE_MPI_FINDER : GRAZE_MPI_OWNERS;
      break;
    case key_placement:
      options_choice(state, "placement", argument, placements);
      break;
    case key_search:
      o->search = (graze_mpi_search)options_choice(state, "search", argument, searches);
      break;
    case key_voxel:
      o->voxel = parse_voxel(state, argument);
      break;
    case key_repeat:
      o->repeat = (uint32_t)options_number(state, "repeat", argument, 1, MOST_STEPS);
      break;
    case key_trace:
      o->trace = argument;
      break;
    case key_patience:
      o->patience = options_decimal(state, "patience", argument);
      if (!(o->patience > 0 && o->patience <= 1e9)) argp_error(state, "--patience: %s is out of range", argument);
      break;
    case ARGP_KEY_ARGS:
      o->files = options_files(state, 1, MOST_STEPS);
      break;
    case ARGP_KEY_END:
      finish(o, state);
      break;
    default:
      return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};

static const struct argp pairs_argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "BOXES...\n--make KIND:N",
    .doc =
        "Finds which boxes meet, with the answer of `graze pairs'; sharing a single point counts. Ranks read their "
        "parts "
        "of a binary file (.gzb), rank 0 reads text. Several files are steps of one world: which pairs began, persist "
        "and ended. --threads is of a rank, default 1."
        "\vExit: 0 no boxes meet, 1 some do, 2 usage error, 3 bad input. Only rank 0 writes. Open MPI calls exit 1 a "
        "failure in several lines: mpiexec --quiet leaves them out."};

/* ---- searching ---- */

static void open_world(pairs_run *run) {
  const pairs_options *o = run->asked;
  graze_context_def context = graze_default_context_def();
  context.threads = o->common.threads;
  graze_status status = graze_context_create(&context, &run->job->context);
  if (status != GRAZE_OK) fail("rank %d: %s", run->job->rank, graze_status_string(status));
  graze_mpi_world_def def = graze_mpi_default_world_def();
  def.delivery = o->delivery;
  def.search = o->search;
  def.events = o->files.count > 1;
  def.voxel = o->voxel;
  if (o->trace) def.trace = trace_message;
  def.trace_user = &run->trace;
  job_must(run->job, graze_mpi_world_create(run->job->context, MPI_COMM_WORLD, &def, &run->world));
}

static void load(pairs_run *run, uint32_t step, rank_boxes *boxes) {
  const pairs_options *o = run->asked;
  double start = clock_now();
  if (o->make)
    make_rank_boxes(run->job, o->kind, o->size, o->seed, boxes);
  else
    read_rank_boxes(run->job, o->files.names[step], boxes);
  if (o->groups) read_rank_groups(run->job, o->groups, boxes);
  run->load_seconds += clock_now() - start;
}

typedef struct waiting {
  pairs_run *run;
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
  w->status = graze_mpi_test(w->run->world, &done);
  return done || w->status != GRAZE_OK;
}

/* A failure is one of all ranks, and names its rank. */
static void search_must(const pairs_run *run, graze_status status) {
  if (status == GRAZE_OK) return;
  if (status == GRAZE_ERROR_RANK) fail("%s", graze_last_error(run->job->context)->message);
  job_agree(run->job, graze_last_error(run->job->context)->message, false);
}

static void search(pairs_run *run, const rank_boxes *boxes) {
  waiting w = {.run = run};
  if (graze_mpi_contribute(run->world, &boxes->boxes) != GRAZE_OK)
    fail("rank %d: %s", run->job->rank, graze_last_error(run->job->context)->message);
  MPI_Ibarrier(MPI_COMM_WORLD, &w.all_here); /* what follows is timed */
  patience_wait(&run->patience, are_all_here, &w);
  double start = clock_now();
  w.status = graze_mpi_begin(run->world, 0);
  if (w.status == GRAZE_OK) patience_wait(&run->patience, has_ended, &w);
  search_must(run, w.status);
  double took = round((clock_now() - start) * 1e9) / 1e9;
  run->seconds[run->search_count++] = took;
  run->query_seconds += took;
  run->result = graze_mpi_get_result(run->world);
}

static void search_all(pairs_run *run) {
  const pairs_options *o = run->asked;
  const uint32_t files = o->files.count > 0 ? o->files.count : 1;
  run->steps = job_alloc(files, sizeof *run->steps);
  run->seconds = job_alloc((size_t)files * o->repeat, sizeof *run->seconds);
  rank_boxes boxes = {0};
  for (uint32_t step = 0; step < files; step++) {
    rank_boxes_free(&boxes);
    load(run, step, &boxes);
    for (uint32_t k = 0; k < o->repeat; k++) search(run, &boxes);
    run->steps[run->step_count++] = run->result;
    run->found |= run->result.pairs > 0;
  }
  rank_boxes_free(&boxes);
}

/* ---- what was found ---- */

static void put_found(gz_json *json, const graze_mpi_result *r) {
  gz_json_integer(json, "pairs", r->pairs);
  gz_json_hash(json, "hash", r->hash);
}

static void put_steps(gz_json *json, const pairs_run *run) {
  gz_json_open(json, "steps", '[');
  for (uint32_t i = 0; i < run->step_count; i++) {
    const graze_mpi_result *r = &run->steps[i];
    gz_json_open(json, NULL, '{');
    gz_json_integer(json, "n", r->objects);
    if (r->searched) {
      put_found(json, r);
      put_integers(json, (const char *const[]){"began", "persist", "ended"},
                   (const uint64_t[]){r->began, r->persist, r->ended}, 3);
    }
    gz_json_close(json);
  }
  gz_json_close(json);
}

static void put_json_pair(void *user, uint64_t a, uint64_t b) {
  gz_json_pair(user, a, b);
}

/* Ranks but the first only hand over their pairs: `out` is NULL there. */
static void write_json(const pairs_run *run, output *out) {
  const graze_mpi_result *r = &run->result;
  gz_json json = {0};
  if (out) {
    json = gz_json_begin_result(out);
    put_engine(&json, run->job);
    gz_json_text(&json, "status", r->searched ? "complete" : "not searched");
    gz_json_text(&json, "method", "auto");
    gz_json_integer(&json, "n", r->objects);
    if (r->searched) put_found(&json, r);
  }
  if (run->asked->list_pairs) {
    if (out) gz_json_open(&json, "ids", '[');
    list_pairs(run->job, r, put_json_pair, &json);
    if (out) gz_json_close(&json);
  }
  if (!out) return;
  if (run->step_count > 1) put_steps(&json, run);
  gz_json_open(&json, "seconds", '{');
  gz_json_double(&json, "load", round(run->load_seconds * 1e9) / 1e9);
  gz_json_double(&json, "query", round(run->query_seconds * 1e9) / 1e9);
  gz_json_close(&json);
  put_mpi_facts(&json, r, run->seconds, run->search_count);
  gz_json_end(&json);
}

typedef struct line_writer {
  output *out;
  const char *between;
} line_writer;

static void put_line(void *user, uint64_t a, uint64_t b) {
  line_writer *w = user;
  gz_put_integer(w->out, a);
  gz_put_text(w->out, w->between);
  gz_put_integer(w->out, b);
  gz_put_text(w->out, "\n");
}

static void write_step(output *out, const pairs_run *run, uint32_t i) {
  const graze_mpi_result *r = &run->steps[i];
  if (!r->searched) {
    output_print(out, "%" PRIu64 " boxes were not searched", r->objects);
  } else {
    output_print(out, "%" PRIu64 " pair%s of %" PRIu64 " boxes meet, hash %016" PRIx64, r->pairs, plural(r->pairs),
                 r->objects, r->hash);
  }
  if (run->step_count > 1)
    output_print(out, "; %" PRIu64 " began, %" PRIu64 " persist, %" PRIu64 " ended\n", r->began, r->persist, r->ended);
}

static void write_text(const pairs_run *run, output *out) {
  const graze_mpi_result *r = &run->result;
  line_writer lines = {out, " "};
  if (run->asked->list_pairs) list_pairs(run->job, r, put_line, &lines);
  if (!out) return;
  if (run->asked->list_pairs && r->pairs > 0) gz_put_text(out, "\n");
  for (uint32_t i = 0; i < run->step_count; i++) write_step(out, run, i);
  output_print(out, "%s(%d rank%s, voxels of %g; %.3f s)\n", run->step_count > 1 ? "" : " ", run->job->ranks,
               plural((uint64_t)run->job->ranks), r->voxel, run->load_seconds + run->query_seconds);
}

static void write_csv(const pairs_run *run, output *out) {
  line_writer lines = {out, ","};
  if (out) gz_put_text(out, "a,b\n");
  list_pairs(run->job, &run->result, put_line, &lines);
}

static void write_results(pairs_run *run) {
  output *out = run->job->rank == 0 ? output_open(run->asked->common.output) : NULL;
  switch (run->asked->common.format) {
    case format_text:
      write_text(run, out);
      break;
    case format_json:
      write_json(run, out);
      break;
    case format_csv:
      write_csv(run, out);
      break;
  }
  if (out) output_close(out);
  if (run->asked->trace) trace_write(run->job, &run->trace, run->asked->trace);
}

static void close_run(pairs_run *run) {
  patience_end(&run->patience);
  trace_free(&run->trace);
  free(run->steps);
  free(run->seconds);
  graze_mpi_world_destroy(run->world);
  graze_context_destroy(run->job->context);
}

int command_mpi_pairs(job *j, int argc, char **argv) {
  pairs_options asked = {.common = {.threads = 1, .is_mpi = true}, .repeat = 1, .seed = 1};
  options_parse(&pairs_argp, argc, argv, &asked, &asked.common);
  job_speak(j);
  pairs_run run = {.asked = &asked, .job = j};
  patience_begin(&run.patience, j, asked.patience);
  open_world(&run);
  search_all(&run);
  write_results(&run);
  const bool searched = run.result.searched, found = run.found;
  close_run(&run);
  return !searched ? exit_incomplete : found ? exit_found : exit_clear;
}
